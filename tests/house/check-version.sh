#!/bin/sh
# SPDX-License-Identifier: MIT
# Files that repeat the version of configure.ac repeat it, each in its form (RELEASING.md).
set -eu
cd "$top_srcdir"
failed=0
version=$(sed -nE 's/^AC_INIT\(\[[^]]*\], \[([^]]*)\]\)$/\1/p' configure.ac)

# same FILE EXPECTED FOUND
same() {
    if [ "$2" != "$3" ]; then
        echo "$1 has the version '$3'; it should be '$2'"
        failed=1
    fi
}

if ! echo "$version" | grep -qxE '[0-9]+\.[0-9]+\.[0-9]+(-rc[0-9]+)?'; then
    echo "the version '$version' in configure.ac is neither like 1.2.3 nor like 1.2.3-rc1"
    failed=1
fi
same NEWS "$version" "$(sed -n '1s/^libloaderx //p' NEWS)"
python=bindings/python/loaderx/_version.py
same $python "$(echo "$version" | tr -d -)" "$(sed -n "s/^__version__ = '\(.*\)'/\1/p" $python)"
changelog=packaging/debian/changelog
same $changelog "$(echo "$version" | tr - '~')" \
    "$(sed -nE '1s/^libloaderx \((.*)-[^-]*\).*/\1/p' $changelog)"
spec=packaging/rpm/loaderx.spec
same $spec "$(echo "$version" | tr - '~')" "$(sed -nE 's/^Version: *//p' $spec)"
same "%changelog in $spec" "$(echo "$version" | tr - '~')" \
    "$(sed -nE '/^%changelog/,/^-/s/^\*.* (.*)-[^-]*$/\1/p' $spec)"
recipe=packaging/spack/package.py
same $recipe "$version" "$(sed -nE 's/^ *version\("(.*)"\)$/\1/p' $recipe)"
exit $failed
