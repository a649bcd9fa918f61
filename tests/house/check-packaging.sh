#!/bin/sh
# SPDX-License-Identifier: MIT
# The scripts that make packages and wheels, without a network: they and some scripts of the tests
# are sound, and what they check in a finished wheel, they find. Running them takes much longer.
set -eu
packaging=$top_srcdir/packaging
for tool in readelf python3; do
    command -v $tool >/dev/null || { echo "$tool not found"; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cd "$top_srcdir"
# shellcheck disable=SC2046 # names of files are words
set -- packaging/build-* packaging/chroot.sh packaging/try-wheel packaging/wheel/check-wheels \
    $(sed -n 's|^Tests: |packaging/debian/tests/|p' packaging/debian/tests/control) \
    tests/peers/run-peers tests/ports/build-ports tests/ports/in-tree tests/abi/*.sh tests/api/*.sh tests/house/*.sh
for script in "$@"; do
    sh -n "$script"
done
# make sets variables, and functions are called by names in variables.
! command -v shellcheck >/dev/null || shellcheck -x -P SCRIPTDIR -e SC2154,SC2317 "$@"

# build-wheel names the tools that are missing, before it works.
mkdir "$folder/bin"
for tool in sh dirname nproc awk sed make; do
    ln -s "$(command -v $tool)" "$folder/bin/"
done
! PATH=$folder/bin "$packaging/build-wheel" "$folder/bin/sh" 2>"$folder/said" >&2 || exit 1
grep -q 'missing here: autoconf automake .* nasm pkgconf python3-venv$' "$folder/said"
! grep -q ' make' "$folder/said" || exit 1

# A program of this machine needs a newer glibc than 2.1, and is not made for a wheel.
mkdir "$folder/x"
cp "$(command -v readelf)" "$folder/x/"
(cd "$folder" && python3 -m zipfile -c x.whl x)
! "$packaging/wheel/check-wheels" 2.1 "$folder/x.whl" 2>"$folder/said" >&2 || exit 1
for complaint in 'is for' 'needs GLIBC_' 'needs lib' 'others may export' 'has no DT_RPATH' \
    'has no licence of zlib'; do
    grep -q "$complaint" "$folder/said"
done
