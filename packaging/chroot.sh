# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2016,SC2154 # the shell in the tree and the scripts have variables
# What build-deb and build-rpm share: steps with logs, and bare Debians in folders, called trees,
# where commands run by chroot.

# fail MESSAGE: stops the script.
fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# prepare NAME PATTERN: makes the folders and the tarball, and removes the logs and packages of an
# earlier run, after the script has set $suite, and $tarball, $cache and $out from its arguments or
# to ''. Mounts are made in namespaces of their own (see in_tree), so they are gone when a command
# ends, and removing the folder cannot reach through them.
prepare() {
    [ "$(id -u)" -eq 0 ] || fail "run it as root, which chroot requires"
    command -v debootstrap >/dev/null || fail "debootstrap not found; Debian has it in debootstrap"
    top=$(cd "$(dirname "$0")/.." && pwd)
    work=$(mktemp -d "${TMPDIR:-/tmp}/${0##*/}.XXXXXX")
    unset TMPDIR # which the trees do not have
    trap 'rm -rf --one-file-system "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    job=$1
    cache=${cache:-$work/cache}
    out=${out:-$top/build/$job}
    mkdir -p "$cache" "$out"
    [ -n "$(find "$cache" -maxdepth 0 -user root ! -perm /022)" ] ||
        fail "--cache $cache: root runs what it contains, so only root may write there"
    mkdir -p "$cache/$suite-archives/partial"
    # shellcheck disable=SC2086 # a pattern
    rm -f "$out/$job"-*.log "$out"/$2
    [ -n "$tarball" ] || {
        step tarball make_tarball
        tarball=$(ls "$work"/libloaderx-*.tar.xz)
    }
    version=$(basename "$tarball" .tar.xz)
    version=${version#libloaderx-}
}

# step NAME FUNCTION...: runs it with its output in a log, and prints the time that it took.
# Functions run in a shell of their own with -e, so that a step may not be called as a condition.
step() {
    log=$out/$job-$1.log
    printf '%-10s ' "$1"
    shift
    start=$(date +%s)
    set +e
    (
        set -e
        "$@"
    ) >"$log" 2>&1 </dev/null
    status=$?
    set -e
    printf '%4d s  ' $(($(date +%s) - start))
    if [ $status -ne 0 ]; then
        echo "FAILED; the end of $log:"
        tail -n 30 "$log"
        exit 1
    fi
    sed -n 's/^result: //p' "$log" | tr '\n' ' '
    echo
}

# in_tree TREE COMMAND...: runs a command as root in a tree, with its own /proc, /dev/shm and
# terminals.
in_tree() {
    ARCHIVES=$cache/$suite-archives DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
        unshare --mount --pid --fork --kill-child sh -euc '
            mount -t proc proc "$1/proc"
            mount -t tmpfs tmpfs "$1/dev/shm"
            mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
            mount --bind "$ARCHIVES" "$1/var/cache/apt/archives"
            exec chroot "$@"' sh "$@"
}

# as_builder COMMAND: runs a command line as the user builder of the tree for building.
as_builder() {
    in_tree "$work/build" su --login --command "$1" builder
}

# bare TREE: makes a bare Debian, whose dpkg does not sync, since the tree is not kept.
bare() {
    if [ ! -f "$cache/$suite.tar" ]; then
        debootstrap --variant=minbase "$suite" "$work/$suite"
        tar -C "$work/$suite" -cf "$cache/$suite.tar.new" .
        mv "$cache/$suite.tar.new" "$cache/$suite.tar"
        rm -rf "${work:?}/$suite"
    fi
    mkdir "$1"
    tar -C "$1" -xpf "$cache/$suite.tar"
    cp -L /etc/resolv.conf "$1/etc/resolv.conf"
    echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/${0##*/}"
    in_tree "$1" apt-get update -q
}

# list_files TREE: prints the files that belong to no run of a program. The package netbase of
# Debian 13 leaves /etc/hosts.
list_files() {
    (cd "$1" && find . \( -path ./proc -o -path ./dev -o -path ./tmp -o -path ./var/cache \
        -o -path ./var/log -o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./etc/hosts \) \
        -prune -o -print) | sort
}

# Makes the tarball from a clone, whose files are those of the commit.
make_tarball() {
    git clone -q "$top" "$work/clone"
    cd "$work/clone"
    ./bootstrap --no-install
    mkdir build
    cd build
    ../configure -q
    make -s -j"$(nproc)" dist
    mv libloaderx-*.tar.xz "$work/"
}
