#!/bin/sh
# SPDX-License-Identifier: MIT
# Manual pages are clean, and every public function has one.
set -eu
[ -n "${MANDOC:-}" ] || {
    echo "mandoc is not there"
    exit 77
}
cd "$top_srcdir/doc/man"
failed=0
for page in */*.[1357]; do
    case $(head -n 1 "$page") in .so*) continue ;; esac
    "$MANDOC" -Tlint -W warning "$page" || failed=1
done
for name in $(cat "$top_srcdir"/include/loaderx/*.h "$top_srcdir"/include/loaderx/*.h.in |
    tr '\n' ' ' | sed 's/;/;\n/g' |
    sed -nE 's/.*LX_API[^(]*[ *](lx_[a-z0-9_]+)\(.*/\1/p' | sort -u); do
    # The page of that name, or the one its .so leads to, must document it.
    page=$(sed -nE 's|^\.so man3/(.*)|3/\1|p' "3/$name.3" 2>/dev/null)
    grep -qwE "(Nm|Fn|Fo) $name" "${page:-3/$name.3}" || {
        echo "man 3 $name finds nothing of it"
        failed=1
    }
done
exit $failed
