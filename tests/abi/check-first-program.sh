#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs first-program in an empty folder.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
timeout 60 "$top_builddir/tests/abi/first-program"
