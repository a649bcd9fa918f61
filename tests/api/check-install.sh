#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds and runs a client of each installed library as a user would: in an empty folder, with the
# installed headers and the flags of pkg-config; and the projects of doc/examples for CMake, Meson,
# Lua and Rust. Called by `make installcheck`.
set -eu
passed=0 failed=0 skipped=0
examples=$top_srcdir/doc/examples
warnings='-Wall -Wextra -Wpedantic -Werror'

# This installation has precedence over others; its .pc files do not know DESTDIR.
mkdir pkgconfig
for file in "$DESTDIR$pkgconfigdir"/loaderx*.pc; do
    sed "s|=/|=$DESTDIR/|" "$file" >"pkgconfig/${file##*/}"
done
PKG_CONFIG_PATH=$PWD/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
LD_LIBRARY_PATH=$DESTDIR$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PKG_CONFIG_PATH LD_LIBRARY_PATH

# try WHAT COMMAND...: runs one test, and shows its output if it fails.
try() {
    what=$1
    shift
    if "$@" >output 2>&1; then
        passed=$((passed + 1))
        echo "PASS: $what"
    else
        failed=$((failed + 1))
        cat output
        echo "FAIL: $what"
    fi
}

skip() {
    skipped=$((skipped + 1))
    echo "SKIP: $1"
}

version_is_ours() {
    test "$("$PKG_CONFIG" --modversion "$1")" = "$VERSION"
}

# header NAME LANGUAGE COMPILER: the header compiles by itself.
# shellcheck disable=SC2086 # flags are words
header() {
    printf "#include <loaderx/%s>\nextern int alone;\n" "$1" >alone.c
    $3 -x $2 $CFLAGS -I"$DESTDIR$includedir" $warnings -c alone.c -o alone.o
}

# client NAME LANGUAGE COMPILER [static]: builds and runs the client. (The commands are chained,
# because -e has no effect in a function that `if` calls.)
# shellcheck disable=SC2086 # flags are words
client() {
    flags=$("$PKG_CONFIG" ${4:+--static} --cflags "$1") &&
        libs=$("$PKG_CONFIG" ${4:+--static} --libs "$1") &&
        $3 -x $2 $CFLAGS $flags $warnings "$(source_of "$1")" \
            -x none ${4:+-static} $LDFLAGS $libs -o client &&
        ./client
}

# has_archives NAME: whether the system has static versions of all libraries of others that the
# module needs. Debian has none of some that libcurl needs.
# shellcheck disable=SC2046,SC2086 # flags are words
has_archives() {
    echo 'int main(void) { return 0; }' >empty.c
    $CC $CFLAGS empty.c -static $LDFLAGS \
        $("$PKG_CONFIG" --static --libs "$1" | tr ' ' '\n' | grep -v '^-lloaderx') -o empty 2>/dev/null
}

source_of() {
    case $1 in
    loaderx) echo "$top_srcdir/tests/api/client-loader.c" ;;
    *) echo "$top_srcdir/tests/api/client-${1#loaderx-}.c" ;;
    esac
}

# every LANGUAGE NAME COMPILER: runs all tests in one language.
every() {
    for name in $HEADERS $FOLDER_HEADERS; do
        try "<loaderx/$name> alone, $2" header "$name" "$1" "$3"
    done
    for name in $MODULES; do
        if [ -e "$DESTDIR$libdir/lib$name.so" ]; then
            try "$name, $2, shared" client "$name" "$1" "$3"
        else
            skip "$name, $2, shared: only the static library is installed"
        fi
        if [ -n "$SANITIZED" ]; then
            skip "$name, $2, static: a sanitizer's program cannot be linked so"
        elif ! has_archives "$name"; then
            skip "$name, $2, static: the system lacks a static library that it needs"
        elif [ -e "$DESTDIR$libdir/lib$name.a" ]; then
            try "$name, $2, static" client "$name" "$1" "$3" static
        else
            skip "$name, $2, static: only the shared library is installed"
        fi
    done
}

cmake_project() {
    cmake -S "$examples/cmake" -B cmake && cmake --build cmake && run_project cmake
}

meson_project() {
    meson setup meson "$examples/meson" && meson compile -C meson &&
        run_project meson
}

# run_project FOLDER: runs its program, which needs an empty folder.
run_project() {
    mkdir "$1-data" && (cd "$1-data" && "../$1/loader")
}

# run_examples COMMAND...: with the name of an example and its dataset. They read what the example
# in C reads, and report what cannot be read.
# shellcheck disable=SC2046,SC2086 # flags are words
run_examples() (
    mkdir "$name-data" && cd "$name-data" &&
        $CC $CFLAGS "$examples/loader.c" $LDFLAGS $("$PKG_CONFIG" --cflags --libs loaderx) \
            -o loader &&
        ./loader | tail -n 1 >in-c && printf '%s\n' first '' 'the last of three' >lines &&
        "$DESTDIR$bindir/loaderx" import texts --format lines lines &&
        "$@" train vectors >output-train && tail -n 1 output-train | diff in-c - &&
        "$@" texts texts | diff lines - && ! "$@" train missing 2>errors &&
        echo 'train: missing: file or directory not found' | diff - errors
)

run_lua() {
    luajit "$examples/lua/$1.lua" "$2"
}

lua_project() {
    run_examples run_lua
}

run_rust() {
    "../target/debug/examples/$1" "$2"
}

# In a copy of the sources, in which cargo writes Cargo.lock.
rust_project() {
    cp -R "$examples/rust" rust && chmod -R u+w rust &&
        cargo build --quiet --offline --examples --manifest-path rust/Cargo.toml \
            --target-dir target && run_examples run_rust
}

# project NAME COMMAND...: runs NAME_project if all these commands run.
project() {
    name=$1
    shift
    if [ ! -e "$DESTDIR$libdir/libloaderx.so" ] || [ -n "$SANITIZED" ]; then
        skip "a project of $name: only static or sanitized libraries are installed"
        return
    fi
    for command in "$@"; do
        $command >output 2>&1 || {
            skip "a project of $name: ${command% *} not found"
            return
        }
    done
    try "a project of $name" "${name}_project"
}

for name in $MODULES; do
    try "$name.pc has the package's version" version_is_ours "$name"
    try "$name has a client in tests/api" test -f "$(source_of "$name")"
done
every c C "$CC -std=c11"
if [ -n "$CXX" ]; then
    every c++ C++ "$CXX -std=c++17"
else
    skip "C++: configure found no compiler for it"
fi
project cmake 'cmake --version' 'make --version'
project meson 'meson --version' 'ninja --version'
project lua 'luajit -v'
project rust 'cargo --version'

echo "# installed libraries: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
