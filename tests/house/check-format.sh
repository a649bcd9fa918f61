#!/bin/sh
# SPDX-License-Identifier: MIT
# check-format.sh [--fix]: checks that every Python file parses and that the C sources follow
# .clang-format, or formats them. Only clang-format 14 (Debian 12) is used: other versions differ in
# details.
set -eu
cd "$top_srcdir"
find bindings doc tests tools -name '*.py' ! -path '*/build/*' -print0 |
    xargs -0 "${PYTHON:-python3}" -c '
import ast, sys
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        ast.parse(file.read(), path)'
for tool in clang-format-14 clang-format ''; do
    [ -n "$tool" ] || {
        echo "clang-format 14 is not installed: the format is not checked"
        exit 77
    }
    ! "$tool" --version 2>/dev/null | grep -q 'version 14\.' || break
done
find include lib tools bindings tests doc -name '*.[ch]' ! -path '*/build/*' -print0 |
    if [ "${1:-}" = --fix ]; then
        xargs -0 "$tool" -i
    else
        xargs -0 "$tool" --dry-run -Werror
    fi
