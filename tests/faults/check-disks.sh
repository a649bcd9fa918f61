#!/bin/sh
# SPDX-License-Identifier: MIT
# Full disks, read-only file systems and power losses, on file systems that this script creates:
# tmpfs in a namespace, if permitted; ext4, xfs and btrfs in image files, which only root may mount.
# The mounts disappear with the namespace.
set -u
disks=$top_builddir/tests/faults/disks
rounds=${DISKS_ROUNDS:-4}

if [ "${DISKS_INSIDE:-}" = "" ]; then
    reason=$(unshare -m true 2>&1) && DISKS_INSIDE=root exec unshare -m "$0"
    reason=$(unshare -Urm true 2>&1) && DISKS_INSIDE=user exec unshare -Urm "$0"
    echo "skipped: cannot mount file systems: $reason"
    echo "# disks: 0 passed, 0 failed, 1 skipped"
    exit 77
fi
mount --make-rprivate / 2>/dev/null

base=/dev/shm
[ -w "$base" ] || base=${TMPDIR:-/tmp}
work=$(mktemp -d "$base/loaderx-disks-XXXXXX")
passed=0 failed=0 skipped=0

leave() {
    [ -z "${writer:-}" ] || kill -9 "$writer" 2>/dev/null
    for place in "$work"/*/; do
        while umount -l "$place" 2>/dev/null; do :; done
    done
    rm -rf "$work"
}
trap leave EXIT
trap 'exit 1' HUP INT TERM

result() {
    printf '%-34s %s\n' "$1" "$2"
}

# try NAME COMMAND...
try() {
    name=$1
    shift
    if "$@" >"$work/said" 2>&1; then
        passed=$((passed + 1))
        result "$name" "ok $(tail -n 1 "$work/said")"
    else
        failed=$((failed + 1))
        result "$name" FAILED
        cat "$work/said"
    fi
}

skip() {
    skipped=$((skipped + 1))
    result "$1" "skipped: $2"
}

# attach KIND PLACE MEGABYTES: mounts a new file system, or prints the reason why it cannot.
attach() {
    mkdir -p "$2"
    if [ "$1" = tmpfs ]; then
        mount -t tmpfs -o size="$3"m none "$2" 2>&1
        return
    fi
    [ "$DISKS_INSIDE" = root ] || { echo "only root mounts files"; return 1; }
    PATH=$PATH:/usr/sbin:/sbin command -v "mkfs.$1" >/dev/null ||
        { echo "mkfs.$1 not found"; return 1; }
    truncate -s "$3"M "$work/$1.img" &&
        PATH=$PATH:/usr/sbin:/sbin "mkfs.$1" -q "$work/$1.img" >"$work/said" 2>&1 &&
        mount -o loop "$work/$1.img" "$2" 2>&1
}

detach() {
    umount "$1" && rm -f "$work/$2.img"
}

# read_only PLACE: reads a dataset that a kill left on a read-only file system; nothing is written.
read_only() {
    "$disks" leave "$1" || return 1
    before=$(cd "$1/data" && find . -type f -exec cksum {} + | sort)
    mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || return 1
    "$disks" read "$1" 100
    status=$?
    umount "$1"
    after=$(cd "$1/data" && find . -type f -exec cksum {} + | sort)
    [ $status -eq 0 ] && [ "$before" = "$after" ]
}

for kind in tmpfs ext4 xfs btrfs; do
    size=32
    [ $kind != xfs ] || size=320
    [ $kind != btrfs ] || size=160
    if ! why=$(attach $kind "$work/$kind" $size); then
        skip "$kind" "$why"
        continue
    fi
    try "$kind, full" "$disks" fill "$work/$kind"
    rm -rf "$work/$kind"/*
    try "$kind, read-only" read_only "$work/$kind"
    detach "$work/$kind" $kind
done

# A power loss: clones the image file of a disk while a writer runs, and checks the clone in another
# boot.
new_boot() {
    tr '0-9a-f' '1-9a-f0' </proc/sys/kernel/random/boot_id >"$work/boot_id"
    mount --bind "$work/boot_id" /proc/sys/kernel/random/boot_id
}

power_loss() {
    rm -rf "$work/disk/data" "$work/commits"
    "$disks" write "$work/disk" "$1" >"$work/commits" 2>&1 &
    writer=$!
    while ! [ -s "$work/commits" ] && kill -0 $writer 2>/dev/null; do sleep 0.01; done
    sleep "0.$(($1 * 37 % 90 + 10))"
    durable=$(tail -n 1 "$work/commits")
    cp --reflink=always "$work/below/disk.img" "$work/below/lost.img"
    status=$?
    kill -9 $writer
    wait $writer 2>/dev/null
    writer=
    [ $status -eq 0 ] || return 1
    mkdir -p "$work/lost"
    mount -o loop "$work/below/lost.img" "$work/lost" || return 1
    "$disks" check "$work/lost" "$durable"
    status=$?
    umount "$work/lost"
    rm "$work/below/lost.img"
    return $status
}

clone_under() {
    mkdir -p "$work/below" "$work/disk"
    why=$(attach xfs "$work/below" 600) || { skip "losses of power" "xfs: $why"; return; }
    truncate -s 200M "$work/below/disk.img"
    PATH=$PATH:/usr/sbin:/sbin mkfs.ext4 -q "$work/below/disk.img" >"$work/said" 2>&1 &&
        mount -o loop "$work/below/disk.img" "$work/disk" ||
        { skip "losses of power" "no ext4 within xfs: $(tail -n 1 "$work/said")"; return; }
    cp --reflink=always "$work/below/disk.img" "$work/below/lost.img" 2>"$work/said" ||
        { skip "losses of power" "$(cat "$work/said")"; return; }
    new_boot || { skip "losses of power" "the boot's id cannot be another"; return; }
    for round in $(seq "$rounds"); do
        try "loss of power $round" power_loss "$round"
    done
    umount "$work/disk" "$work/below"
}
if [ "$DISKS_INSIDE" = root ]; then
    clone_under
else
    skip "losses of power" "only root mounts files"
fi

echo "# disks: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] || exit 1
[ $passed -ne 0 ] || exit 77
