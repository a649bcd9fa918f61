#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs fuzzers built by `make fuzz` or `make fuzz-afl` one after another, in the folder of the
# build, and prints a summary of each.
#
#   run.sh libfuzzer|afl SECONDS NAME...
#
# The inputs that an engine generates are kept in found/NAME, and its findings in found/NAME.bad:
# add these to the corpus with make_corpus.py, under a name that describes the bug. AFL++ keeps both
# in found/NAME. The corpus is unpacked in found/NAME.corpus. Allocation stacks, which take a third
# of the time, are disabled: run a finding again to see them. The quarantine is small, since it
# would hold the memory that a thousand executions free.
set -u
top=${top_srcdir:?"the top folder of the sources"}
export ASAN_OPTIONS=allocator_may_return_null=1:malloc_context_size=0:quarantine_size_mb=16
export AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_AFFINITY=1 AFL_NO_UI=1 \
    AFL_AUTORESUME=1
engine=$1
seconds=$2
shift 2
bad=0

# Longer inputs take longer and find nothing new.
longest() {
    case $1 in
        state) echo 128 ;;
        python) echo 512 ;;
        entry | order | tokens) echo 1024 ;;
        meta | restore) echo 2048 ;;
        *) echo 4096 ;;
    esac
}

# Entropic scheduling takes a quarter of the time if an execution has thousands of features.
entropic() {
    case $1 in
        python | state) echo 0 ;;
        *) echo 1 ;;
    esac
}

# unpack NAME: unpacks the corpus of that fuzzer; some use the inputs of another one.
unpack() {
    case $1 in
        encode) inputs=image ;;
        entry) inputs=table ;;
        replay) inputs=log ;;
        *) inputs=$1 ;;
    esac
    rm -rf "found/$1.corpus"
    mkdir -p "found/$1.corpus"
    tar -xf "$top/tests/fuzz/corpus/$inputs.tar" -C "found/$1.corpus"
}

run_libfuzzer() {
    mkdir -p "found/$1" "found/$1.bad"
    "tests/fuzz/fuzz-$1" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 \
        -max_len="$(longest "$1")" -entropic="$(entropic "$1")" -print_final_stats=1 \
        -artifact_prefix="found/$1.bad/" \
        "found/$1" "found/$1.corpus" > "found/$1.log" 2>&1
    count=$(sed -n 's/^stat::number_of_executed_units: *//p' "found/$1.log")
    findings=$(find "found/$1.bad" -type f | wc -l)
    [ "${count:-0}" -gt 0 ] && [ "$findings" -eq 0 ]
}

run_afl() {
    ASAN_OPTIONS=$ASAN_OPTIONS:abort_on_error=1:symbolize=0 afl-fuzz -m none -t 20000 \
        -V "$seconds" -i "found/$1.corpus" -o "found/$1" -- \
        "tests/fuzz/fuzz-$1" > "found/$1.log" 2>&1
    stats=found/$1/default/fuzzer_stats
    count=$(sed -n 's/^execs_done *: *//p' "$stats")
    findings=$(sed -n 's/^saved_\(crashes\|hangs\) *: *//p' "$stats" |
        awk '{ sum += $1 } END { print sum + 0 }')
    [ "${count:-0}" -gt 0 ] && [ "${findings:-0}" -eq 0 ]
}

printf '%-10s %12s %9s %8s %9s\n' fuzzer executions seconds rate findings
for name in "$@"; do
    begin=$(date +%s)
    unpack "$name"
    "run_$engine" "$name" || bad=1
    took=$(($(date +%s) - begin))
    printf '%-10s %12d %9d %8d %9d\n' "$name" "${count:-0}" "$took" \
        $((${count:-0} / (took + (took == 0)))) "${findings:-0}"
done
exit $bad
