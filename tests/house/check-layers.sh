#!/bin/sh
# SPDX-License-Identifier: MIT
# An include may only point down the list of layers, and nothing below the loader's users reaches
# past the public headers. See doc/architecture.md.
set -eu
cd "$top_srcdir"
failed=0

# public LAYER: its headers in include/loaderx.
public() {
    [ ! -f "lib/$1/Makemodule.am" ] ||
        sed -n "s,.*\(include/loaderx/[a-z]*\.h\).*,\1,p" "lib/$1/Makemodule.am"
}

# points_up LAYER HEADER-PATTERN: no source or header of LAYER may include such a header.
points_up() {
    if grep -rnE --include='*.[ch]' "#include [\"<](loaderx/)?($2)[./-]" "lib/$1" \
        $(public "$1"); then
        echo "^ lib/$1 includes a layer above it or beside it" >&2
        failed=1
    fi
}
zrecord='zrecord|schema|writer|dataset|upkeep' # its public headers are several
sampler='sampler|order|budgeted|mixture|nanoset|weighted|grouped|torch|random'
points_up base "$sampler|executor|$zrecord|loader"
points_up sampler "executor|$zrecord|loader"
points_up executor "$sampler|$zrecord|loader"
points_up zrecord "$sampler|loader"

# The rooms of zrecord and of sampler are layers, too.
rooms_above() {
    points_up "$1/$2" "$1/($3)"
}
rooms_above zrecord format 'store|reader|staging|writer|upkeep'
rooms_above zrecord store 'reader|staging|writer|upkeep'
rooms_above zrecord reader 'staging|writer|upkeep'
rooms_above zrecord staging 'reader|writer|upkeep'
rooms_above zrecord writer upkeep
rooms_above sampler numbers 'order|kinds|groups|mixtures|peers|weights|walk'
rooms_above sampler order 'kinds|groups|mixtures|peers|weights|walk'
for room in kinds groups mixtures peers weights walk; do
    others=$(printf '%s\n' kinds groups mixtures peers weights walk | grep -vx $room | paste -sd '|')
    rooms_above sampler $room "$others"
done

# The command and the bindings are clients: public headers alone.
for folder in tools bindings doc/examples; do
    [ -d "$folder" ] || continue
    if grep -rnE --include='*.[ch]' \
        '#include "(base|sampler|executor|zrecord|loader)/' "$folder"; then
        echo "^ $folder reaches past the public headers" >&2
        failed=1
    fi
done
exit $failed
