#!/usr/bin/env bats
# Any fault: what biosnoop, ipcsnoop and offcpusnoop print is complete, or the exit status says that it is not.
# shellcheck disable=SC2030,SC2031 # a test is a process of its own
# bats file_tags=waits

load helpers
load faults

teardown() {
    [ -z "${started:-}" ] || kill "$started" 2>/dev/null || true
    [ -z "${loop:-}" ] || losetup -d "$loop"
}

@test "biosnoop prints as many requests as it is to, or says what is wrong" {
    command -v biosnoop >/dev/null || lacks 'biosnoop was not built'
    truncate -s 1M image
    loop=$(losetup --find --show --direct-io=on image 2>why) || lacks "no loop devices here: $(cat why)"
    # not more than it takes: some virtual machines lose one of some hundreds
    while dd "if=$loop" of=/dev/null bs=4k count=1 iflag=direct status=none; do sleep 0.01; done 2>/dev/null &
    started=$!
    runs_here timeout 10 biosnoop -q -n 3 -d "$loop" -o probed || lacks "no BPF here: $(cat err)"
    for fault in $BEGINNING; do
        CMP=same_number NEVER='fork waitpid poll' each_fault any "$fault" "biosnoop -q -n 3 -d $loop"
    done
    # what the summary does in its own way
    for fault in malloc:$ENOMEM write:$EIO; do
        CMP=same_number each_fault any "$fault" "biosnoop -q -e -n 3 -d $loop"
    done
}

# Whether the same reads and writes are there, and counts; some calls depend on who is first.
same_calls() {
    diff <(awk '$6 ~ /^[0-9]+$/ { print $2, $4, $7 } /@syscalls.(execve|write|read)]/' "$1" | sort) \
        <(awk '$6 ~ /^[0-9]+$/ { print $2, $4, $7 } /@syscalls.(execve|write|read)]/' "$2" | sort) >/dev/null
}

@test "ipcsnoop prints as many calls as there are, or says what is wrong" {
    command -v ipcsnoop >/dev/null || lacks 'ipcsnoop was not built'
    runs_here ipcsnoop -q -o probed -- true || lacks "no BPF here: $(cat err)"
    for fault in $BEGINNING; do
        CMP=same_calls STATUSES='126 127' NEVER=poll each_fault any "$fault" "ipcsnoop -q -- sh -c 'echo 1 | cat'"
    done
    for fault in malloc:$ENOMEM write:$EIO; do
        CMP=same_number STATUSES='126 127' each_fault any "$fault" "ipcsnoop -q -i 60 -j -e -- sh -c 'echo 1 | cat'"
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
    runs_here offcpusnoop -q -p "$started" -o probed 1 || lacks "no BPF here: $(cat err)"
    for fault in $BEGINNING; do
        # shellcheck disable=SC2016 # it is evaluated where it runs
        BEFORE=sleep_until_printed CMP=same_sleeps NEVER='fork waitpid poll' each_fault any "$fault" 'offcpusnoop -q -p $started'
    done
}
