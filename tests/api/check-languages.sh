#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds and runs the examples in other languages with the installed library, in an empty folder.
# They read what the C example reads, and report what cannot be read. Called by `make installcheck`.
set -eu
passed=0 failed=0 skipped=0
examples=$top_srcdir/doc/examples
export PKG_CONFIG PKG_CONFIG_PATH="$DESTDIR$pkgconfigdir${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
export PKG_CONFIG_SYSROOT_DIR="$DESTDIR"
export LD_LIBRARY_PATH="$DESTDIR$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# The commands of functions are chained, because -e has no effect in a function that `if` calls.

# shellcheck disable=SC2046,SC2086 # flags are words
make_data() {
    $CC $CFLAGS "$examples/loader.c" $LDFLAGS $("$PKG_CONFIG" --cflags --libs loaderx) -o loader &&
        ./loader | tail -n 1 >in-c && printf '%s\n' first '' 'the last of three' >lines &&
        "$DESTDIR$bindir/loaderx" import texts --format lines lines
}

# run_examples COMMAND...: with the name of the example and its dataset.
run_examples() {
    "$@" train vectors >output-train && tail -n 1 output-train | diff in-c - &&
        "$@" texts texts | diff lines - && ! "$@" train missing 2>errors &&
        echo 'train: missing: file or directory not found' | diff - errors
}

run_lua() {
    luajit "$examples/lua/$1.lua" "$2"
}

check_lua() {
    run_examples run_lua
}

run_rust() {
    "target/debug/examples/$1" "$2"
}

# In a copy of the sources, in which cargo writes Cargo.lock.
check_rust() {
    cp -R "$examples/rust" rust && chmod -R u+w rust &&
        cargo build --quiet --offline --examples --manifest-path rust/Cargo.toml \
            --target-dir target && run_examples run_rust
}

# check LANGUAGE PROGRAM: runs the check of the language, and shows its output if it fails.
check() {
    if ! command -v "$2" >/dev/null; then
        skipped=$((skipped + 1))
        echo "SKIP: the examples in $1: $2 is not installed"
    elif "check_$1" >output 2>&1; then
        passed=$((passed + 1))
        echo "PASS: the examples in $1"
    else
        failed=$((failed + 1))
        cat output
        echo "FAIL: the examples in $1"
    fi
}

if [ -n "$SANITIZED" ]; then
    echo "SKIP: other languages: their programs lack the sanitizer's run time"
elif ! [ -e "$DESTDIR$libdir/libloaderx.so" ] || ! [ -e "$DESTDIR$bindir/loaderx" ]; then
    echo "SKIP: other languages: the shared libraries or the command are not installed"
else
    mkdir languages
    cd languages
    make_data >/dev/null
    check lua luajit
    check rust cargo
fi
echo "# other languages: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
