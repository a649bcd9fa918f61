# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Steps of a job: each prints one line with its time on the terminal, and everything else to a log.
#
# A step is a function that runs in its own shell, with -e, its output in
# build/log/<job>/<step>.log. It reports the number of its tests with counted.

# start_job NAME: creates the folder of the logs, and resets the counts.
start_job() {
    log_dir=build/log/$1
    rm -rf "$log_dir"
    mkdir -p "$log_dir"
    counts=$log_dir/counts
    total_passed=0 total_failed=0 total_skipped=0
    failed_steps=
}

# step NAME COMMAND...: runs it, prints the result, and sets step_status. Neither it nor its caller
# may be called as a condition (if, &&, ||), where the shell ignores -e.
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
    echo "---- the end of $step_log:"
    tail -n 40 "$step_log"
    echo "----"
}

# need NAME COMMAND...: a step that the later steps depend on; its failure ends the job.
need() {
    step "$@"
    [ $step_status -eq 0 ] || exit 1
}

# counted PASSED FAILED SKIPPED: adds to the counts; a step may call it any number of times.
counted() {
    echo "$1 $2 $3" >>"$counts"
}

# add_counts STATUS: adds the counts of the step, with at least one failure if it failed, to the
# totals, and writes them to step_counts as text.
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
