#!/usr/bin/env bats
# Any fault: what offcpusnoop prints is complete, or the exit status says that it is not.
# bats file_tags=waits,plain,long
# shellcheck disable=SC2153 # FAULTS is of the helpers

load helpers
load faults

setup_file() {
    needs_to_run offcpusnoop -q -p $$ -o probed 1
}

teardown() {
    [ -z "${started:-}" ] || kill "$started" 2>/dev/null || true
}

# A thread that sleeps until that is printed.
sleep_until_printed() {
    block
    { until grep -q 'blocked in nanosleep, woken by ' /proc/self/fd/1 || ! kill -0 "$started"; do sleep 0.02; done
        kill "$started"; } 2>/dev/null 3>&- &
}

# Whether its sleeps are there.
same_sleeps() {
    grep -q $'\tsleeper\t.*\tblocked in nanosleep, woken by ' "$2"
}

@test "offcpusnoop prints when a thread does not run, or says what is wrong" {
    block
    for fault in $BEGINNING; do
        BEFORE=sleep_until_printed CMP=same_sleeps NEVER='fork waitpid poll' each_fault any "$fault" 'offcpusnoop -q -p $started'
    done
}

@test "a process of which nothing can be known has not ended" {
    # its child ends after bash has become another program, which does not wait for it
    bash -c 'sleep 1 & exec sleep 1000' 3>&- &
    started=$!
    wait_for grep -q . "/proc/$started/task/$started/children"
    child=$(tr -d ' ' <"/proc/$started/task/$started/children")
    wait_for grep -q '^State:.Z' "/proc/$child/status"
    status_is 0 offcpusnoop -q -p "$child" 10
    export FAULT_IN=offcpusnoop FAULT_CALL=pidfd_open FAULT=$EMFILE FAULT_NTH=2 FAULT_MARK=happened LD_PRELOAD=$FAULTS
    status_is 1 offcpusnoop -q -p "$child" 10
    equal "$stderr" "offcpusnoop: process $child: the kernel shows none of its threads"
    [ -e happened ]
}

@test "threads whose exit the kernel has skipped are in the table" {
    start offcpu-target threads=3
    export FAULT_IN=offcpusnoop FAULT_CALL=bpf FAULT=skip FAULT_NTH=1 FAULT_PROGRAM=on_exit FAULT_MARK=skipped
    LD_PRELOAD=$FAULTS begin tracing offcpusnoop -p "$started"
    echo >&"$go"
    wait "$started"
    status=0
    wait "$recorder" || status=$?
    [ -e skipped ]
    equal "$status" "$(grep -q 'has skipped' log && echo 1 || echo 0)"
    equal "$(awk '/^COMM / { table = 1 } table && NF == 10 { print $1 }' log | tail -n +2 | sort | uniq -c | awk '{ print $1, $2 }')" '1 offcpu-target
3 sleeper'
}
