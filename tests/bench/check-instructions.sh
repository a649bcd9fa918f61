#!/bin/sh
# SPDX-License-Identifier: MIT
# Hot paths take as many instructions a record as recorded in the file instructions, give or take
# the margin. Valgrind counts those of a run, and of one with twice as many records; the difference
# does not contain the start. It emulates the same processor everywhere, one with AVX2.
set -eu
records=16384
margin=15 # percent; compilers and C libraries of other versions differ by less

skip() {
    echo "$1"
    exit 77
}

command -v valgrind >/dev/null || skip "valgrind not found"
program=$top_builddir/tests/bench/hot-paths
build=$("$program")
[ "$build" != other ] || skip "nothing is recorded for sanitizers and unoptimized builds"
case $build in
x86_64-*) grep -qw avx2 /proc/cpuinfo || skip "the records are of processors with AVX2" ;;
esac
file=$top_srcdir/tests/bench/instructions
grep -q "^$build " "$file" || skip "nothing is recorded for $build"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
strip -o stripped "$program" # Valgrind does not know all debugging information of clang

# count PATH RECORDS: prints the instructions of a run.
count() {
    valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --log-file=log \
        ./stripped "$1" "$2" >&2 || {
        cat log >&2
        return 1
    }
    sed -n 's/,//g; s/^==[0-9]*== I *refs: *//p' log
    rm -rf hot-paths
}

failed=0
while read -r name path recorded; do
    [ "$name" = "$build" ] || continue
    once=$(count "$path" $records)
    twice=$(count "$path" $((2 * records)))
    found=$(((twice - once) / records))
    echo "$build $path $found"
    off=$((100 * (found - recorded) / recorded))
    if [ $off -gt $margin ] || [ $off -lt -$margin ]; then
        echo "FAIL: $path: $found instructions a record instead of $recorded; if that is right," \
            "change tests/bench/instructions"
        failed=1
    fi
done <"$file"
exit $failed
