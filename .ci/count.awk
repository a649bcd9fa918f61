# SPDX-License-Identifier: MIT
# Counts the tests that a log reports, and prints "PASSED FAILED SKIPPED". It recognizes
#   Check      100%: Checks: 7, Failures: 0, Errors: 0
#   pytest     11 passed, 1 skipped in 0.34s
#   ours       # installed libraries: 15 passed, 0 failed, 0 skipped
#   Automake   # PASS:  14, and :test-result: FAIL at the end of one test's log and .trs. That test
#              counts as one only if its log reports no test, or no failure although it failed.

function words(    i) {
    for (i = 2; i <= NF; i++) {
        if ($i ~ /^(passed|xfailed)/) passed += $(i - 1)
        if ($i ~ /^(failed|errors?|xpassed)/) failed += $(i - 1)
        if ($i ~ /^skipped/) skipped += $(i - 1)
    }
}

/Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+/ {
    gsub(/[^0-9 ]/, "")
    passed += $2 - $3 - $4
    failed += $3 + $4
}
/^=* ?[0-9]+ [a-z]+.* in [0-9.]+s/ { words() }
/^# .*: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { words() }
/^# (PASS|XFAIL): / { passed += $3 }
/^# (FAIL|XPASS|ERROR): / { failed += $3 }
/^# SKIP: / { skipped += $3 }
/^:test-result: / { result = $2 }

END {
    if (result ~ /^(FAIL|XPASS|ERROR)/ && !failed) failed = 1
    if (result ~ /^(PASS|XFAIL)/ && !(passed + skipped)) passed = 1
    if (result ~ /^SKIP/ && !(passed + skipped)) skipped = 1
    print passed + 0, failed + 0, skipped + 0
}
