# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# The set-up of a job: packages, configure, a configured tree.

jobs=$(nproc 2>/dev/null || echo 1)

# configure prefers bash, with which libtool takes twice as long.
CONFIG_SHELL=/bin/sh
export CONFIG_SHELL

# set_up JOB: the first two steps of every job.
set_up() {
    if [ -f config.status ]; then
        echo "bootstrap: the source folder was configured itself; run make distclean first" >&2
        exit 1
    fi
    if [ "$install" = yes ]; then
        need packages install_packages "$1"
    fi
    # Prefer Debian's python3: that of a version manager does not find Debian's NumPy.
    if [ -z "${PYTHON:-}" ]; then
        PYTHON=python3
        [ ! -x /usr/bin/python3 ] || PYTHON=/usr/bin/python3
    fi
    need configure refresh_configure
}

# wanted JOB: prints the packages of a job; those that depend on clang only if it is installed.
wanted() {
    clang=$(clang -dumpversion 2>/dev/null | cut -d. -f1)
    awk -v job="$1" -v clang="$clang" '
        /^#/ || $2 !~ "(^|,)" job "(,|$)" { next }
        $1 ~ /@clang@/ && clang == "" { next }
        { sub(/@clang@/, clang, $1); print $1 }' .ci/packages
}

# missing JOB: prints those packages that are not installed.
missing() {
    for package in $(wanted "$1"); do
        dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
            echo "$package"
    done
}

# install_packages JOB: installs missing packages; does not call apt if none is missing.
install_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "This is not Debian. Install the equivalents of these packages, then add --no-install:"
        awk -v job="$1" '!/^#/ && $2 ~ job' .ci/packages
        return 1
    fi
    # Twice, because the name of clang's run time is only known after clang is installed.
    # shellcheck disable=SC2034 # only counts
    for round in first second; do
        packages=$(missing "$1")
        [ -n "$packages" ] || return 0
        # shellcheck disable=SC2086 # names of packages are words
        apt_install $packages
    done
}

# apt_install PACKAGE...: updates the package lists only if apt fails with the present ones.
apt_install() {
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        as_root=sudo
        command -v sudo || {
            echo "Packages are missing, and sudo is not installed. As root: apt-get install $*"
            return 1
        }
    fi
    set -- env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
    $as_root "$@" || {
        $as_root apt-get update
        $as_root "$@"
    }
}

# make_configure: runs autoreconf, if its tools are installed.
make_configure() {
    for tool in autoreconf automake libtoolize pkg-config; do
        command -v $tool >/dev/null || {
            echo "bootstrap: $tool is missing; Debian has it in autoconf automake libtool pkgconf" >&2
            return 1
        }
    done
    autoreconf --install --force
}

# refresh_configure: the same, unless configure is newer than its sources.
refresh_configure() {
    if [ -f configure ] && [ -f Makefile.in ] && [ -f config.h.in ] &&
        [ -z "$(find configure.ac Makefile.am m4 include lib tools bindings tests doc packaging \
            -type f \( -name '*.am' -o -name '*.ac' -o -name '*.m4' \) -newer configure \
            2>/dev/null)" ]; then
        echo "configure is newer than its sources"
        return 0
    fi
    make_configure
}

# configured TREE OPTION...: configures the tree, unless it was configured with the same options.
# make reruns configure after a change of its sources.
configured() {
    tree=$1
    shift
    if [ -f "$tree/config.status" ] && [ "$(cat "$tree/options" 2>/dev/null)" = "$*" ]; then
        return 0
    fi
    mkdir -p "$tree"
    chmod -R u+w "$tree"
    find "$tree" -mindepth 1 -delete
    (cd "$tree" && "$top/configure" "PYTHON=$PYTHON" "$@")
    echo "$*" >"$tree/options"
}
