#!/usr/bin/env bats
# Any fault: what a live tool records is complete, or its exit status says that it is not.
# shellcheck disable=SC2030,SC2031 # a test is a process of its own
# bats file_tags=slow

load helpers
load faults

teardown() {
    [ -z "${started:-}" ] || kill "$started" 2>/dev/null || true
    [ -z "${loop:-}" ] || losetup -d "$loop"
}

# What recording does besides, and how it can fail.
RECORDING="bpf:$ENOMEM bpf:$EPERM bpf:$EAGAIN bpf:$EINTR pidfd_open:$EMFILE capset:$EPERM
    prctl:$EPERM poll:$EINTR poll:$ENOMEM epoll_create1:$EMFILE epoll_ctl:$ENOMEM fcntl:$EIO pipe2:$EMFILE fork:$EAGAIN
    waitpid:$EINTR waitpid:$ECHILD open:$EMFILE read:$EINTR read:$EIO pread:$EIO pread:$EINTR fstat:$EIO
    write:$EINTR write:$EAGAIN write:$EIO write:$ENOSPC mmap:$ENOMEM malloc:$ENOMEM close:$EIO"
# The part of it that each tool does in its own way.
BEGINNING="bpf:$ENOMEM bpf:$EPERM mmap:$ENOMEM malloc:$ENOMEM fork:$EAGAIN waitpid:$EINTR poll:$EINTR fcntl:$EIO write:$EIO"

# Whether the same events are there, with all that the clocks put there.
same_events() {
    equal "$(events "$2")" "$(events "$1")"
}

@test "recording prints all that happens, or says what is wrong" {
    command -v usdt-record >/dev/null && command -v usdt-target >/dev/null || lacks 'usdt-record or usdt-target was not built'
    status_is 0 usdt-record -q -o probed -- usdt-target qpairs || lacks "no BPF here: $stderr"
    for fault in $RECORDING; do
        # where the command cannot be run it has the statuses of a shell
        CMP=same_events STATUSES='126 127' NEVER='poll epoll_create1 epoll_ctl prctl pidfd_open' each_fault any "$fault" 'usdt-record -q -- usdt-target qpairs'
    done
    for fault in bpf:$EPERM perf_event_open:$EPERM ioctl:$EIO; do
        CMP=same_events STATUSES='126 127' each_fault any "$fault" 'usdt-record -q --perf-events -F -- usdt-target qpairs'
    done
}

# Whether as many lines are there.
same_number() {
    [ "$(wc -l <"$1")" = "$(wc -l <"$2")" ]
}

@test "recording a process prints as many events as it is to, or says what is wrong" {
    command -v usdt-record >/dev/null && command -v usdt-target >/dev/null || lacks 'usdt-record or usdt-target was not built'
    # for minutes
    # shellcheck disable=SC2046 # they are words
    usdt-target $(printf 'flood=4000000000 %.0s' $(seq 100)) 3>&- &
    started=$!
    wait_for grep -q libusdt "/proc/$started/maps"
    status_is 0 usdt-record -q -n 3 -e 'flood(i)' -o probed -p "$started" || lacks "no BPF here: $stderr"
    for fault in openat2:$EPERM readlinkat:$EPERM fcntl:$EIO; do
        CMP=same_number each_fault any "$fault" "usdt-record -q -n 3 -e 'flood(i)' -p $started"
    done
}

@test "the probes of a process are all listed, or it is said what is wrong" {
    command -v usdt-gen >/dev/null && command -v usdt-target >/dev/null || lacks 'usdt-gen or usdt-target was not built'
    mkfifo go
    usdt-target wait <go >out &
    started=$!
    # shellcheck disable=SC2034 # it is open: that is all
    exec {go}>go
    wait_for_text ready out
    for fault in pread:$EIO pread:$EINTR malloc:$ENOMEM readlinkat:$EPERM openat2:$EPERM mmap:$ENOMEM write:$EIO write:$EINTR close:$EIO; do
        NEVER=mmap each_fault any "$fault" "usdt-gen -l -p $started"
    done
}

@test "biosnoop prints as many requests as it is to, or says what is wrong" {
    command -v biosnoop >/dev/null || lacks 'biosnoop was not built'
    truncate -s 1M image
    loop=$(losetup --find --show --direct-io=on image 2>why) || lacks "no loop devices here: $(cat why)"
    # not more than it takes: some virtual machines lose one of some hundreds
    while dd "if=$loop" of=/dev/null bs=4k count=1 iflag=direct status=none; do sleep 0.01; done 2>/dev/null &
    started=$!
    status_is 0 timeout 10 biosnoop -q -n 3 -d "$loop" -o probed || lacks "no BPF here: $stderr"
    for fault in $BEGINNING; do
        CMP=same_number NEVER='fork waitpid poll' each_fault any "$fault" "biosnoop -q -n 3 -d $loop"
    done
}

# Whether the same reads and writes are there, and counts; some calls depend on who is first.
same_calls() {
    diff <(awk '$6 ~ /^[0-9]+$/ { print $2, $4, $7 } /@syscalls.(execve|write|read)]/' "$1" | sort) \
        <(awk '$6 ~ /^[0-9]+$/ { print $2, $4, $7 } /@syscalls.(execve|write|read)]/' "$2" | sort) >/dev/null
}

@test "ipcsnoop prints as many calls as there are, or says what is wrong" {
    command -v ipcsnoop >/dev/null || lacks 'ipcsnoop was not built'
    status_is 0 ipcsnoop -q -o probed -- true || lacks "no BPF here: $stderr"
    for fault in $BEGINNING; do
        CMP=same_calls STATUSES='126 127' NEVER=poll each_fault any "$fault" "ipcsnoop -q -- sh -c 'echo 1 | cat'"
    done
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
