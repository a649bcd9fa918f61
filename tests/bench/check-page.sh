#!/bin/sh
# SPDX-License-Identifier: MIT
# doc/performance.md and its plots are what bench-page.py makes of the measurements in doc.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$top_srcdir"/doc/performance-*.json "$work"
"${PYTHON:-python3}" "$top_srcdir/tests/bench/bench-page.py" "$work"
for made in "$work"/*.md "$work"/*.svg; do
    cmp "$made" "$top_srcdir/doc/$(basename "$made")"
done
