#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the Python package that was just built against the installed library: its own tests and
# those of many hosts, or those in $tests, the examples of doc/examples, and the code in README.md and
# in the guide. Called by make, in a folder that it may write to.
set -eu

# Each processor tests six files at a time, and prints the result when it has it. Status 5: libraries
# of others are missing for all tests of these files. A failure does not hide what follows.
status=0
printf '%s\0' ${tests:-python-source/tests/test_*.py "$top_srcdir/tests/remote/test_hosts.py"} |
    xargs -0 -n 6 -P "$(nproc 2>/dev/null || echo 1)" sh -c '
        status=0
        printed=$("$PYTHON" -m pytest -q -rfEs --tb=short -p no:cacheprovider "$@" 2>&1) || status=$?
        printf "%s\n" "$printed"
        [ $status -eq 0 ] || [ $status -eq 5 ]' sh || status=1

# run_each WHAT COMMAND FILE...: runs the command, whose words have no spaces, with each file in an
# empty folder. Status 77: a library of others is missing.
run_each() {
    what=$1 command=$2 passed=0 failed=0 skipped=0
    shift 2
    for file in "$@"; do
        work=$(mktemp -d)
        result=0
        # shellcheck disable=SC2086 # words are meant
        (cd "$work" && timeout 300 $command "$file") || result=$?
        rm -rf "$work"
        case $result in
        0) passed=$((passed + 1)) ;;
        77) skipped=$((skipped + 1)) ;;
        *)
            failed=$((failed + 1))
            echo "FAIL: $file"
            ;;
        esac
    done
    echo "# $what: $passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] || status=1
}

run_each 'Python examples' "$PYTHON" "$top_srcdir"/doc/examples/*.py
run_each 'pages of the guide' "$PYTHON -B $top_srcdir/tests/guide/run_page.py" \
    "$top_srcdir/README.md" "$top_srcdir"/doc/guide/*.md
exit $status
