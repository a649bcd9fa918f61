#!/bin/sh
# SPDX-License-Identifier: MIT
# The headers, the maps and the libraries must have the same list of functions.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

ls "$top_builddir"/.libs/libloaderx*.so >/dev/null 2>&1 || {
    echo "no shared libraries were built"
    exit 77
}

# declared FILE...: names of functions that are declared LX_API.
declared() {
    cat "$@" | tr '\n' ' ' | sed 's/;/;\n/g' |
        sed -nE 's/.*LX_API[^(]*[ *](lx_[a-z0-9_]+)\(.*/\1/p' | sort -u
}

compare() {
    if ! diff -u "$2" "$3"; then
        echo "^ $1" >&2
        failed=1
    fi
}

# The optional library counts only if it was built.
headers=$(ls "$top_srcdir"/include/loaderx/*.h "$top_srcdir"/include/loaderx/*/*.h)
maps=$(ls "$top_srcdir"/lib/*/*.map)
if [ ! -e "$top_builddir/.libs/libloaderx-image.so" ]; then
    headers=$(echo "$headers" | grep -v /image)
    maps=$(echo "$maps" | grep -v /image/)
fi

# shellcheck disable=SC2086 # file names without spaces
declared $headers "$top_builddir"/include/loaderx/version.h >"$work/headers"
# shellcheck disable=SC2086
sed -nE 's/^[[:space:]]*(lx_[a-z0-9][a-z0-9_]*);/\1/p' $maps |
    sort -u >"$work/maps"
for library in "$top_builddir"/.libs/libloaderx*.so; do
    ${NM:-nm} -D --defined-only "$library" | awk '$2 ~ /[TDBRVW]/ { print $3 }'
done | sed 's/@.*//' | sort -u >"$work/all"
grep -v '^lx__' "$work/all" | grep -E '^lx_' >"$work/exported"

compare "headers (-) and maps (+) differ" "$work/headers" "$work/maps"
compare "maps (-) and libraries (+) differ" "$work/maps" "$work/exported"

find "$top_srcdir"/lib -name '*.h' -exec cat {} + >"$work/private-text"
declared "$work/private-text" | grep '^lx__' >"$work/private-headers"
grep '^lx__' "$work/all" >"$work/private" || true
compare "private headers (-) and libraries (+) differ" "$work/private-headers" "$work/private"

if grep -v '^lx_' "$work/all" | grep -v '^LOADERX_'; then
    echo "^ exported without the prefix lx_" >&2
    failed=1
fi
[ -s "$work/exported" ] || failed=1
exit $failed
