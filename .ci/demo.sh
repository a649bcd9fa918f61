# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# ./bootstrap demo: builds, installs into build/demo/usr, and runs doc/demo/run.sh as a user of that
# installation, in the empty folder build/demo/work. Its output goes to the terminal.

demo() {
    start_job demo
    set_up demo
    need build demo_build
    need install demo_install build/demo/tree
    echo
    demo_show
}

demo_show() {
    usr=$top/build/demo/usr
    work=$top/build/demo/work
    rm -rf "$work"
    mkdir -p "$work"
    (
        cd "$work" || exit 1
        PATH=$usr/bin:$PATH
        LD_LIBRARY_PATH=$usr/lib
        PYTHONPATH=$usr/python
        MANPATH=$usr/share/man:
        export PATH LD_LIBRARY_PATH PYTHONPATH MANPATH PYTHON
        sh "$top/doc/demo/run.sh"
    )
}

# configured_for_demo TREE OPTION...: configures a tree that demo_install can install.
configured_for_demo() {
    configured "$@" --prefix="$top/build/demo/usr" --libdir="$top/build/demo/usr/lib" \
        --disable-static
}

demo_build() {
    configured_for_demo build/demo/tree
    make --no-print-directory -C build/demo/tree -j"$jobs"
}

# demo_install TREE [check-python]: installs; with check-python, tests the Python package, too.
demo_install() {
    make --no-print-directory -C "$1" install &&
        make --no-print-directory -C "$1" "${2:-python-package}" \
            python_package="$top/build/demo/usr/python"
}
