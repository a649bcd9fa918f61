#!/bin/sh
# SPDX-License-Identifier: MIT
# Each kind of order and of source has a saved state in tests/data/states, which every later version
# must read. The states equal those of a second implementation, written from doc/orders.md.
set -eu
lib=$top_srcdir/lib
states=$top_srcdir/tests/data/states
failed=0

# kinds FOLDER CLASS: prints the names, as in states, of the classes defined there, in lib/parity or
# in lib/recordio.
kinds() {
    find "$lib/$1" "$lib/parity" "$lib/recordio" -name '*.c' | sort | while read -r file; do
        grep -qE "lx__$2_class [a-z_]*(\[\])? = " "$file" || continue
        grep -oE '\.kind = "[^"]*"' "$file" | cut -d'"' -f2 | grep . ||
            echo "no-name-in-$file"
    done
}

# kept WHAT KIND FOLDER: checks that it has its own state, not only states of combinations.
kept() {
    grep -qF "\"$1\": {\"kind\": \"$2\"" "$states/$3.json" || {
        echo "no state of the $1 kind \"$2\" is kept: add a case to" \
            "tests/golden/state_cases.py (and to tests/unit, what makes such a thing of it), then" \
            "run tests/golden/states.py --write tests/data/states"
        return 1
    }
}

count=0
# A name may have a space.
IFS='
'
for kind in $(kinds sampler order); do
    kept order "$kind" samplers || failed=1
    count=$((count + 1))
done
for kind in $(kinds loader source); do
    # In states, a source without data has the kind that it replaces.
    [ "$kind" = null ] || kept source "$kind" loaders || failed=1
    count=$((count + 1))
done
echo "$count kinds of orders and sources"
[ "$count" -ge 28 ] || {
    echo "these are too few: how classes are defined has changed, and this test does not see them"
    failed=1
}
[ "$failed" -eq 0 ] || exit 1

[ "${PYTHON:-:}" != : ] || {
    echo "Python not found"
    exit 77
}
exec "$PYTHON" -B "$top_srcdir/tests/golden/states.py" "$states"
