#!/bin/sh
# SPDX-License-Identifier: MIT
# Every public function that can fail is called while something fails: it is a step, or a part, of a
# scenario in tests/faults/failing/*.c.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Functions of the headers that return a status.
cat "$top_srcdir"/include/loaderx/*.h | tr '\n' ' ' | sed 's/;/;\n/g' |
    sed -nE 's/.*LX_API[[:space:]]+lx_status[[:space:]]+(lx_[a-z0-9_]+)\(.*/\1/p' | sort -u >"$work/public"
[ -s "$work/public" ]
cat "$top_srcdir"/tests/faults/failing/*.c "$top_srcdir"/tests/faults/plain.c |
    grep -oE 'lx_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u >"$work/called"

# Options that only note a number, and what needs no dataset to fail: they take nothing.
cat >"$work/harmless" <<'END'
lx_dtype_parse
lx_loader_next_timed
lx_loader_options_set_drop_last
lx_loader_options_set_executor
lx_loader_options_set_order
lx_loader_options_set_prefetch_bytes
lx_loader_options_set_rank
lx_npy_parse_header
lx_set_allocator
lx_ticket_wait_timed
END
sort -u "$work/called" "$work/harmless" -o "$work/known"
if comm -23 "$work/public" "$work/known" | grep .; then
    echo "^ called in no scenario of tests/faults: add a step to a table there" >&2
    exit 1
fi
