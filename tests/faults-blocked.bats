#!/usr/bin/env bats
# Any fault: what offwaketime and offcpusnoop print is complete, or the exit status says that it is not.
# shellcheck disable=SC2030,SC2031 # a test is a process of its own
# bats file_tags=waits

load helpers
load faults

teardown() {
    [ -z "${started:-}" ] || kill "$started" 2>/dev/null || true
}

# A thread that is blocked while offwaketime runs, however long that takes to begin.
block() {
    [ -z "${started:-}" ] || kill "$started"
    blocked-target sleeps=100000 </dev/null >/dev/null 2>&1 3>&- &
    started=$!
    disown
}

# Whether its time is there. The kernel's stacks differ each time, and functions are unknown where no symbols could be read.
same_sleep() {
    grep -q '^sleeper;.*\(sleep_here\|\[unknown\]\).* [0-9]*$' "$2"
}

@test "offwaketime prints what is blocked, or says what is wrong" {
    command -v offwaketime >/dev/null || lacks 'offwaketime was not built'
    block
    status_is 0 offwaketime -q -f -p "$started" -o probed 1 || lacks "no BPF here: $stderr"
    for fault in $BEGINNING; do
        # shellcheck disable=SC2016 # it is evaluated where it runs
        BEFORE=block CMP=same_sleep NEVER='fork waitpid poll' each_fault any "$fault" 'offwaketime -q -f -p $started 1'
    done
}

# A thread that sleeps until that is printed.
sleep_until_printed() {
    block
    { until grep -q 'blocked in nanosleep$' /proc/self/fd/1 || ! kill -0 "$started"; do sleep 0.02; done
        kill "$started"; } 2>/dev/null 3>&- &
}

# Whether its sleeps are there.
same_sleeps() {
    grep -q ' sleeper .* blocked in nanosleep$' "$2"
}

@test "offcpusnoop prints when a thread does not run, or says what is wrong" {
    command -v offcpusnoop >/dev/null || lacks 'offcpusnoop was not built'
    block
    status_is 0 offcpusnoop -q -p "$started" -o probed 1 || lacks "no BPF here: $stderr"
    for fault in $BEGINNING; do
        # shellcheck disable=SC2016 # it is evaluated where it runs
        BEFORE=sleep_until_printed CMP=same_sleeps NEVER='fork waitpid poll' each_fault any "$fault" 'offcpusnoop -q -p $started'
    done
}
