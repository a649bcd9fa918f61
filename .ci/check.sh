# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# ./bootstrap check: runs every test of the project, in the steps of check_steps.
#
# The build trees also differ in their configure options, so that each option is tested: gcc builds
# only shared libraries, clang does so with zlib for Deflate and without zstd, the sanitizers build
# only static libraries, and dist builds both.

check_steps='gcc clang asan tsan doxygen python dist model demo'

# check STEP...: runs these steps (default: all), continues after a failure, and prints the totals.
check() {
    start_job check
    trap 'closing_line' EXIT
    for name in "$@"; do
        case " $check_steps " in
        *" $name "*) ;;
        *)
            echo "unknown step $name; the steps are: $check_steps" >&2
            return 2
            ;;
        esac
    done
    # shellcheck disable=SC2086 # names of steps are words
    [ $# -gt 0 ] || set -- $check_steps
    set_up check
    for name in "$@"; do
        step "$name" "check_$name"
    done
    [ -z "$failed_steps" ]
}

# Always prints the last lines: the libraries of others that judged the tests, and those that are not
# here; the steps that failed; and the totals.
closing_line() {
    status=$?
    trap - EXIT
    if [ $status -ne 0 ] && [ "$total_failed" -eq 0 ]; then
        total_failed=1
    fi
    "${PYTHON:-python3}" tests/peers/peers.py || echo "peers: unknown"
    [ -z "$failed_steps" ] || echo "failed:$failed_steps"
    echo "$total_passed passed, $total_failed failed, $total_skipped skipped"
    exit $status
}

check_gcc() {
    gcc_tree
    build_and_test "$tree"
    grep -rqE --include='test_*.log' '^[1-9][0-9]* passed' "$tree/tests" || {
        echo "no test in Python ran: configure found no pytest"
        return 1
    }
    make --no-print-directory -C "$tree" check-packages
    counted 1 0 0
}

gcc_tree() {
    configured_for_demo build/check/gcc --enable-werror --enable-site CC=gcc CXX=g++
}

check_clang() {
    configured build/check/clang --enable-werror --enable-short-tests --disable-static \
        --without-libdeflate --without-zstd --without-systemtap --without-images --without-curl \
        CC=clang CXX=clang++
    build_and_test "$tree"
}

check_asan() {
    ASAN_OPTIONS=detect_leaks=1:allow_addr2line=1:allocator_may_return_null=1:${ASAN_OPTIONS:-}
    UBSAN_OPTIONS=print_stacktrace=1:allow_addr2line=1:${UBSAN_OPTIONS:-}
    export ASAN_OPTIONS UBSAN_OPTIONS
    sanitized build/check/asan address,undefined
}

check_tsan() {
    TSAN_OPTIONS=allow_addr2line=1:allocator_may_return_null=1:${TSAN_OPTIONS:-}
    export TSAN_OPTIONS
    sanitized build/check/tsan thread
}

# sanitized TREE LIST: runs without address randomization, because the sanitizers of clang 14 have
# no space for their shadow memory if the kernel uses 32 random bits.
sanitized() {
    configured "$1" --enable-werror --enable-sanitizers="$2" --disable-shared \
        CC=clang CXX=clang++ CFLAGS='-g -O1'
    if setarch -R true 2>/dev/null; then
        build_and_test "$1" setarch -R
    else
        build_and_test "$1"
    fi
}

# Builds the reference and the site, without warnings and broken links.
check_doxygen() {
    gcc_tree
    make --no-print-directory -C "$tree" site SPHINXOPTS='-W --keep-going'
    counted 1 0 0
}

# Installs, and tests the Python package against the installation: a step of its own, so that no
# failure of another test hides these.
check_python() {
    gcc_tree
    make --no-print-directory -C "$tree" -j"$jobs"
    status=0
    demo_install "$tree" check-python || status=$?
    # shellcheck disable=SC2046 # three words are meant
    counted $(awk -f .ci/count.awk "$step_log")
    [ $status -eq 0 ]
    touch "$log_dir/installed"
    grep -qE '(^|[ =])[1-9][0-9]* passed.* in [0-9.]+s' "$step_log" || {
        echo "no test of the Python package ran"
        return 1
    }
}

# Checks that the tarball has every file of the commit, is reproducible, and is complete: it is
# built, tested, installed, tested after installation and uninstalled from a read-only source tree.
# The Python package is only built: check_python tests it.
check_dist() {
    gcc_tree
    XZ_OPT=-1 # by default, xz -e takes a minute
    export XZ_OPT
    rm -f "$tree"/libloaderx-*.tar.xz # of another version
    make --no-print-directory -C "$tree" -j"$jobs" dist
    tarball=$(ls "$tree"/libloaderx-*.tar.xz)
    sum=$(cksum <"$tarball")
    tarball_is_whole "$tarball"
    status=0
    make --no-print-directory -C "$tree" -j"$tests_at_once" distcheck \
        installcheck_python=python-package || status=$?
    # shellcheck disable=SC2046 # three words are meant
    counted $(awk -f .ci/count.awk "$step_log")
    [ $status -eq 0 ]
    test "$sum" = "$(cksum <"$tarball")" || {
        echo "two runs of make dist gave different tarballs"
        return 1
    }
    grep -qE '^# installed libraries: [1-9]' "$step_log" || {
        echo "no installed library was tested"
        return 1
    }
    for name in lua meson rust; do
        grep -qx "PASS: a project of $name" "$step_log" || {
            echo "no example project of $name was built"
            return 1
        }
    done
}

# tarball_is_whole TARBALL: checks that it has the files in git, and otherwise only the files that
# configure needs and the pages of section 3.
tarball_is_whole() {
    if ! command -v git >/dev/null || ! git ls-files >"$log_dir/tracked" 2>/dev/null; then
        echo "git cannot list the files of the commit: cannot check that the tarball is complete"
        return 0
    fi
    sort -o "$log_dir/tracked" "$log_dir/tracked"
    tar -tf "$1" | sed -n 's|^[^/]*/\(.*[^/]\)$|\1|p' | sort >"$log_dir/packed"
    generated='configure|config\.h\.in|aclocal\.m4|Makefile\.in|build-aux/.*|m4/(libtool|lt.*)\.m4'
    generated="$generated|doc/man/3/(list|lx_[a-z0-9_]*\\.3)"
    {
        comm -23 "$log_dir/tracked" "$log_dir/packed" | sed 's/^/the tarball lacks /'
        comm -13 "$log_dir/tracked" "$log_dir/packed" | grep -vxE "$generated" |
            sed 's/^/the tarball holds, and git does not: /'
    } >"$log_dir/differences"
    cat "$log_dir/differences"
    test ! -s "$log_dir/differences"
}

# The crash model of the commit, in its short form. Each planted fault that it finds counts as a
# test; it fails if it misses one, or if the protocol fails.
check_model() {
    (cd tests && "$PYTHON" -m model --jobs "$jobs")
    faults=$(grep -c '^fault ' "$step_log")
    counted "$faults" 0 0
}

# The demo, which checks the accuracy and the resumed runs.
check_demo() {
    gcc_tree
    make --no-print-directory -C "$tree" -j"$jobs"
    [ -f "$log_dir/installed" ] || demo_install "$tree"
    demo_show
    grep -q 'they are the same, to the bit' "$step_log"
    grep -q 'complete, without repeats, and the same in each step' "$step_log"
    counted 1 0 0
}

# Some tests wait most of the time.
tests_at_once=$((2 * jobs))

# build_and_test TREE [WRAPPER...]: builds the tree, and runs and counts its tests.
build_and_test() {
    tree=$1
    shift
    make --no-print-directory -C "$tree" -j"$jobs"
    find "$tree" -name '*.trs' -delete
    status=0
    "$@" make --no-print-directory -C "$tree" -j"$tests_at_once" check || status=$?
    find "$tree" -name '*.trs' | while read -r result; do
        # shellcheck disable=SC2046 # three words are meant
        counted $(awk -f .ci/count.awk "${result%.trs}.log" "$result")
    done
    if [ $status -ne 0 ]; then
        show_failures "$tree"
        return 1
    fi
    grep -rqE --include='*.log' 'Checks: [1-9]' "$tree/tests/unit" || {
        echo "no unit test ran: configure found no Check"
        return 1
    }
}

# show_failures TREE: prints the logs of the failed tests, at the end of the output.
show_failures() {
    grep -rlE --include='*.trs' '^:test-result: (FAIL|ERROR|XPASS)' "$1" | while read -r result; do
        echo "==== ${result%.trs}.log"
        grep -vE '^[0-9]*%: .*Failures: 0, Errors: 0$|:P:' "${result%.trs}.log" | tail -n 25
    done
}
