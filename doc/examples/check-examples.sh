#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs every example in $EXAMPLES, each in an empty folder of its own.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
for example in $EXAMPLES; do
    name=$(basename "$example")
    mkdir "$work/$name"
    if (cd "$work/$name" && timeout 60 "$top_builddir/$example"); then
        echo "ran $example"
    else
        echo "^ $example failed" >&2
        failed=1
    fi
done
exit $failed
