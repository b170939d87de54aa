#!/usr/bin/env bats
# Any fault: what offwaketime prints is complete, or its exit status says that it is not.
# shellcheck disable=SC2030,SC2031 # a test is a process of its own
# bats file_tags=waits,plain,long

load helpers
load faults

teardown() {
    [ -z "${started:-}" ] || kill "$started" 2>/dev/null || true
}

# Whether its time is there. The kernel's stacks differ each time, and functions are unknown where no symbols could be read.
same_sleep() {
    grep -q '^sleeper;.*\(sleep_here\|\[unknown\]\).* [0-9]*$' "$2"
}

@test "offwaketime prints what is blocked, or says what is wrong" {
    command -v offwaketime >/dev/null || lacks 'offwaketime was not built'
    block
    runs_here offwaketime -q -f -p "$started" -o probed 1 || lacks "no BPF here: $(cat err)"
    for fault in $BEGINNING; do
        # shellcheck disable=SC2016 # it is evaluated where it runs
        BEFORE=block CMP=same_sleep NEVER='fork waitpid poll' each_fault any "$fault" 'offwaketime -q -f -p $started 0.3'
    done
}
