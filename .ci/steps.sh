# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Steps of a job: one line each on the terminal with its time, everything else in a log.
#
# A step is a function that is run by itself, with -e, its output in build/log/<job>/<step>.log. It
# counts the tests that it runs (counted).

# start_job NAME: where the logs go, and nothing counted so far.
start_job() {
    log_dir=build/log/$1
    rm -rf "$log_dir"
    mkdir -p "$log_dir"
    counts=$log_dir/counts
    total_passed=0 total_failed=0 total_skipped=0
    failed_steps=
}

# step NAME COMMAND...: runs it and says how it went, in step_status too. It must not be called as a
# condition (if, &&, ||), nor what calls it: there the shell knows no -e.
step() {
    step_name=$1
    shift
    step_log=$log_dir/$step_name.log
    step_start=$(date +%s)
    : >"$counts"
    printf '%-12s ' "$step_name"
    (
        set -e
        "$@"
    ) >"$step_log" 2>&1 </dev/null
    step_status=$?
    step_time=$(($(date +%s) - step_start))
    add_counts $step_status
    if [ $step_status -eq 0 ]; then
        printf 'ok     %4d s  %s\n' "$step_time" "$step_counts"
        return
    fi
    printf 'FAILED %4d s  %s\n' "$step_time" "$step_counts"
    failed_steps="$failed_steps $step_name"
    echo "---- the end of $step_log, where all of it is:"
    tail -n 40 "$step_log"
    echo "----"
}

# need NAME COMMAND...: a step without which the others are of no use.
need() {
    step "$@"
    [ $step_status -eq 0 ] || exit 1
}

# counted PASSED FAILED SKIPPED: called within a step, any number of times.
counted() {
    echo "$1 $2 $3" >>"$counts"
}

# add_counts STATUS: what the step counted, and one failure at least if it failed, goes to the
# totals and, in words, to step_counts.
add_counts() {
    # shellcheck disable=SC2046 # three words are meant
    set -- "$1" $(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$counts")
    if [ "$1" -ne 0 ] && [ "$3" -eq 0 ]; then
        set -- "$1" "$2" 1 "$4" # the step itself
    fi
    step_counts=
    [ "$2$3$4" = 000 ] || step_counts="$2 passed, $3 failed, $4 skipped"
    total_passed=$((total_passed + $2))
    total_failed=$((total_failed + $3))
    total_skipped=$((total_skipped + $4))
}
