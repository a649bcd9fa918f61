# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# What a job needs before its own work: packages, configure, a configured tree.

jobs=$(nproc 2>/dev/null || echo 1)

# set_up JOB: the two steps that every job begins with.
set_up() {
    if [ -f config.status ]; then
        echo "bootstrap: the source folder was configured itself; run make distclean first" >&2
        exit 1
    fi
    if [ "$install" = yes ]; then
        need packages install_packages "$1"
    fi
    # A version manager's python3 does not see Debian's NumPy: Debian's own is meant.
    if [ -z "${PYTHON:-}" ]; then
        PYTHON=python3
        [ ! -x /usr/bin/python3 ] || PYTHON=/usr/bin/python3
    fi
    need configure refresh_configure
}

# wanted JOB: the packages of a job; those that wait for clang only once it is there.
wanted() {
    clang=$(clang -dumpversion 2>/dev/null | cut -d. -f1)
    awk -v job="$1" -v clang="$clang" '
        /^#/ || $2 !~ "(^|,)" job "(,|$)" { next }
        $1 ~ /@clang@/ && clang == "" { next }
        { sub(/@clang@/, clang, $1); print $1 }' .ci/packages
}

# missing JOB: those of them that are not installed.
missing() {
    for package in $(wanted "$1"); do
        dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
            echo "$package"
    done
}

# install_packages JOB: installs what is missing, and does not ask apt when nothing is.
install_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "This is no Debian. Install what these packages of Debian hold, then add --no-install:"
        awk -v job="$1" '!/^#/ && $2 ~ job' .ci/packages
        return 1
    fi
    # Twice, because only an installed clang knows the name of its run time.
    # shellcheck disable=SC2034 # counts only
    for round in first second; do
        packages=$(missing "$1")
        [ -n "$packages" ] || return 0
        # shellcheck disable=SC2086 # names of packages are words
        apt_install $packages
    done
}

# apt_install PACKAGE...: package lists are fetched only when apt fails with those that are there.
apt_install() {
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        as_root=sudo
        command -v sudo || {
            echo "Packages are missing, and there is no sudo. As root: apt-get install $*"
            return 1
        }
    fi
    set -- env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
    $as_root "$@" || {
        $as_root apt-get update
        $as_root "$@"
    }
}

# make_configure: autoreconf, once all it takes is there.
make_configure() {
    for tool in autoreconf automake libtoolize pkg-config; do
        command -v $tool >/dev/null || {
            echo "bootstrap: $tool is missing; Debian has it in autoconf automake libtool pkgconf" >&2
            return 1
        }
    done
    autoreconf --install --force
}

# refresh_configure: the same, unless configure is newer than all that it is made of.
refresh_configure() {
    if [ -f configure ] && [ -f Makefile.in ] && [ -f config.h.in ] &&
        [ -z "$(find configure.ac Makefile.am m4 include lib tools bindings tests doc \
            -type f \( -name '*.am' -o -name '*.ac' -o -name '*.m4' \) -newer configure \
            2>/dev/null)" ]; then
        echo "configure is newer than all that it is made of"
        return 0
    fi
    make_configure
}

# configured TREE OPTION...: configures there, unless that was done with these very options. What
# configure itself is made of is make's care.
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
