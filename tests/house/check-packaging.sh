#!/bin/sh
# SPDX-License-Identifier: MIT
# The scripts that make packages and wheels, without a network: they are sound, and what they check in
# a finished wheel, they find. Running them takes much longer.
set -eu
packaging=$top_srcdir/packaging
for tool in readelf python3; do
    command -v $tool >/dev/null || { echo "$tool not found"; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if command -v shellcheck >/dev/null; then
    (cd "$packaging" && shellcheck -x build-deb build-rpm build-wheel chroot.sh try-wheel wheel/check-wheels)
fi
for script in build-deb build-rpm build-wheel chroot.sh try-wheel wheel/check-wheels; do
    sh -n "$packaging/$script"
done

# A program of this machine needs a newer glibc than 2.1, and is not made for a wheel.
mkdir "$folder/x"
cp "$(command -v readelf)" "$folder/x/"
(cd "$folder" && python3 -m zipfile -c x.whl x)
! "$packaging/wheel/check-wheels" 2.1 "$folder/x.whl" 2>"$folder/said" >&2 || exit 1
for complaint in 'is for' 'needs GLIBC_' 'needs lib' 'has no DT_RPATH' 'has no licences'; do
    grep -q "$complaint" "$folder/said"
done
