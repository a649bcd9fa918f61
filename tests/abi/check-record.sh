#!/bin/sh
# SPDX-License-Identifier: MIT
# The libraries still have what the records in this folder say that programs use of them. The rest
# tries the comparison: what it must find, and what it must allow.
set -eu
abi=$top_srcdir/tests/abi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "$PYTHON" = : ]; then
    echo "skipped: configure found no Python"
    exit 77
fi
mkdir "$work/built" "$work/tried"
"$PYTHON" "$abi/abi.py" record "$work/built"
"$PYTHON" "$abi/abi.py" compare "$abi" "$work/built"

# try EXPECTED SCRIPT: compares the build with what the sed script makes of the records.
try() {
    for record in "$abi"/*.abi; do
        sed -E "$2" "$record" >"$work/tried/${record##*/}"
    done
    status=0
    "$PYTHON" "$abi/abi.py" compare "$work/tried" "$work/built" >"$work/said" || status=$?
    if [ "$status" -ne "$1" ] || ! grep -q '^libloaderx-base: ' "$work/said"; then
        echo "^ status $status instead of $1, after $2"
        cat "$work/said"
        exit 1
    fi
}

try 0 '/^symbol lx_fail:/d; /^enum lx_status LX_ERR_LIMIT:/d; /^struct lx_allocator/d' # were added
try 1 '/^symbol lx_fail:/{p; s/lx_fail/lx_failed/}' # was removed
try 1 '/^symbol lx_fail:/s/, \.\.\.\)/)/' # another parameter
try 1 '/^symbol lx_fail:/s/BASE_/RACE_/' # another version node
try 1 '/^enum lx_status LX_END:/s/1$/2/'
try 1 '/^constant LX_NONE:/s/: .*/: 0/'
try 1 '/^soname:/s/$/0/'
try 1 '/^struct lx_error:/s/: .*/: 8 bytes/'
try 1 '/^struct lx_error path:/s/at [0-9]+/at 4/'
# A member that took a reserved place, and one that took none.
reserved='/^struct lx_error reserved:/s/: .*/: at 16, uint64_t [5]/'
try 0 "$reserved; /^struct lx_error offset:/d"
try 1 "$reserved; /^struct lx_error record:/d"
