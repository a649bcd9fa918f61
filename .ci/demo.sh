# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# ./bootstrap demo: builds, installs into build/demo/usr, and runs doc/demo/run.sh as a user of that
# installation, in the empty folder build/demo/work. Its output goes to the terminal.

demo() {
    start_job demo
    set_up demo
    need build demo_build
    need install demo_install
    echo
    demo_show
}

# run_demo: everything after the set-up, for a step of another job.
run_demo() {
    demo_build
    demo_install
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

demo_build() {
    configured build/demo/tree --prefix="$top/build/demo/usr" --libdir="$top/build/demo/usr/lib" \
        --disable-static
    make --no-print-directory -C build/demo/tree -j"$jobs"
}

demo_install() {
    make --no-print-directory -C build/demo/tree install
    make --no-print-directory -C build/demo/tree python-package python_package="$top/build/demo/usr/python"
}
