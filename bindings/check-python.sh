#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the Python package that was just built against the installed library: its own tests and
# those of many hosts, or those in $tests, and the examples of doc/examples. Called by make, in a
# folder that it may write to.
set -eu

# Each processor tests six files at a time, and prints the result when it has it. Status 5: libraries
# of others are missing for all tests of these files.
printf '%s\0' ${tests:-python-source/tests/test_*.py "$top_srcdir/tests/remote/test_hosts.py"} |
    xargs -0 -n 6 -P "$(nproc 2>/dev/null || echo 1)" sh -c '
        status=0
        printed=$("$PYTHON" -m pytest -q -rfEs --tb=short -p no:cacheprovider "$@" 2>&1) || status=$?
        printf "%s\n" "$printed"
        [ $status -eq 0 ] || [ $status -eq 5 ]' sh

passed=0 failed=0 skipped=0
for example in "$top_srcdir"/doc/examples/*.py; do
    [ -f "$example" ] || continue
    work=$(mktemp -d)
    status=0
    (cd "$work" && timeout 300 "$PYTHON" "$example") || status=$?
    case $status in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *)
        failed=$((failed + 1))
        echo "FAIL: doc/examples/$(basename "$example")"
        ;;
    esac
    rm -rf "$work"
done
echo "# Python examples: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
