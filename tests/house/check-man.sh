#!/bin/sh
# SPDX-License-Identifier: MIT
# Manual pages pass mandoc's lint, and every public function has one. The pages of section 3 are in
# the build tree, or in the source tree of a tarball; a checkout configured without Doxygen has
# none.
set -eu
[ -n "${MANDOC:-}" ] || {
    echo "mandoc not found"
    exit 77
}
failed=0
functions=$top_builddir/doc/man/3
[ -f "$functions/list" ] || functions=$top_srcdir/doc/man/3
for page in "$top_srcdir"/doc/man/[157]/*.[157] "$functions"/*.3; do
    [ -f "$page" ] || continue
    case $(head -n 1 "$page") in .so*) continue ;; esac
    "$MANDOC" -Tlint -W warning "$page" || failed=1
    # Examples, which are not filled, must fit a terminal.
    "$MANDOC" -Tascii -Owidth=80 "$page" 2>/dev/null | sed 's/.\x08//g' |
        awk -v page="${page##*/}" 'length > 80 {print page ": a wide line: " $0; wide = 1}
                                   END {exit wide}' || failed=1
done
if [ ! -f "$functions/list" ]; then
    echo "section 3 was not built: doxygen not found"
    [ $failed -ne 0 ] || exit 77
    exit 1
fi
for name in $(cat "$top_srcdir"/include/loaderx/*.h "$top_srcdir"/include/loaderx/*/*.h \
    "$top_srcdir"/include/loaderx/*.h.in |
    tr '\n' ' ' | sed 's/;/;\n/g' |
    sed -nE 's/.*LX_API[^(]*[ *](lx_[a-z0-9_]+)\(.*/\1/p' | sort -u); do
    # The page of that name, or the page that its .so request names, must document it.
    page=$(sed -nE 's|^\.so man3/(.*)|\1|p' "$functions/$name.3" 2>/dev/null)
    grep -qwE "(Nm|Fn|Fo) $name" "$functions/${page:-$name.3}" || {
        echo "man 3 $name finds nothing of it"
        failed=1
    }
done
exit $failed
