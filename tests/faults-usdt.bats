#!/usr/bin/env bats
# Any fault: what usdt-record and usdt-gen print is complete, or the exit status says that it is not.
# bats file_tags=waits,plain,long
# shellcheck disable=SC2153 # FAULTS is of the helpers

load helpers
load faults

teardown() {
    [ -z "${started:-}" ] || kill "$started" 2>/dev/null || true
}

# What recording does besides, and how it can fail.
RECORDING="bpf:$ENOMEM bpf:$EPERM bpf:$EAGAIN bpf:$EINTR pidfd_open:$EMFILE capset:$EPERM
    prctl:$EPERM poll:$EINTR poll:$ENOMEM epoll_create1:$EMFILE epoll_ctl:$ENOMEM fcntl:$EIO pipe2:$EMFILE fork:$EAGAIN
    socketpair:$EMFILE recvmsg:$EIO recvmsg:$EINTR waitpid:$EINTR waitpid:$ECHILD open:$EMFILE read:$EINTR read:$EIO
    write:$EINTR write:$EAGAIN write:$EIO write:$ENOSPC mmap:$ENOMEM malloc@@:$ENOMEM close:$EIO"

# Whether the same events are there, with all that the clocks put there.
same_events() {
    equal "$(events "$2")" "$(events "$1")"
}

@test "recording prints all that happens, or says what is wrong" {
    command -v usdt-record >/dev/null && command -v usdt-target >/dev/null || lacks 'usdt-record or usdt-target was not built'
    runs_here usdt-record -q -o probed -- usdt-target qpairs || lacks "no BPF here: $(cat err)"
    for fault in $RECORDING; do
        # where the command cannot be run it has the statuses of a shell
        CMP=same_events STATUSES='126 127' NEVER='epoll_create1 epoll_ctl prctl pidfd_open' each_fault any "$fault" 'usdt-record -q -- usdt-target qpairs'
    done
    export AS_LINUX=6.1
    CMP=same_events STATUSES='126 127' each_fault any "bpf:$EPERM" 'usdt-record -q -F -- usdt-target qpairs'
    # in the process that attaches
    for fault in bpf:$EPERM perf_event_open:$EPERM ioctl:$EIO sendmsg:$EIO prctl:$EPERM; do
        FAULT_CHILD=1 CMP=same_events STATUSES='126 127' each_fault any "$fault" 'usdt-record -q -F -- usdt-target qpairs'
    done
}

@test "forks that the kernel has skipped are lost events, exits are not" {
    command -v usdt-record >/dev/null && command -v usdt-target >/dev/null || lacks 'usdt-record or usdt-target was not built'
    runs_here usdt-record -q -o probed -- usdt-target qpairs || lacks "no BPF here: $(cat err)"
    export FAULT_IN=usdt-record FAULT_CALL=bpf FAULT=skip FAULT_NTH=1 FAULT_MARK=skipped
    for FAULT_PROGRAM in on_fork on_exit; do
        export FAULT_PROGRAM
        rm -f skipped
        status=0
        LD_PRELOAD=$FAULTS timeout 60 usdt-record -q -F -e 'forked(n)' -o lines -- usdt-target forks=3 2>log || status=$?
        [ -e skipped ]
        equal "$FAULT_PROGRAM $status $(events lines | wc -l) $(cat log)" "$(
            if [ $FAULT_PROGRAM = on_fork ]; then
                echo 'on_fork 1 0 usdt-record: missed 1 fork: events of new processes may be lost'
            else
                echo 'on_exit 0 6 '
            fi)"
    done
}

@test "recording a process prints as many events as it is to, or says what is wrong" {
    command -v usdt-record >/dev/null && command -v usdt-target >/dev/null || lacks 'usdt-record or usdt-target was not built'
    # for minutes
    # shellcheck disable=SC2046 # they are words
    usdt-target $(printf 'flood=4000000000 %.0s' $(seq 100)) 3>&- &
    started=$!
    wait_for grep -q libusdt "/proc/$started/maps"
    runs_here usdt-record -q -n 3 -e 'flood(i)' -o probed -p "$started" || lacks "no BPF here: $(cat err)"
    for fault in readlinkat:$EPERM fcntl:$EIO recvmsg:$EIO; do
        CMP=same_number each_fault any "$fault" "usdt-record -q -n 3 -e 'flood(i)' -p $started"
    done
    # in the processes that open its files, and attach
    for fault in openat2:$EPERM open:$EIO sendmsg:$EIO pread:$EIO; do
        FAULT_CHILD=1 CMP=same_number each_fault any "$fault" "usdt-record -q -n 3 -e 'flood(i)' -p $started"
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
    for fault in malloc:$ENOMEM readlinkat:$EPERM write:$EIO write:$EINTR close:$EIO \
        socketpair:$EMFILE recvmsg:$EIO recvmsg:$EINTR fork:$EAGAIN poll:$EINTR poll:$ENOMEM read:$EIO read:$EINTR; do
        each_fault any "$fault" "usdt-gen -l -p $started"
    done
    # in the process that opens the files, and reads them
    for fault in openat2:$EPERM fstat:$EIO pread:$EIO pread:$EINTR malloc:$ENOMEM mmap:$ENOMEM write:$EIO write:$EINTR prctl:$EPERM \
        capset:$EPERM; do
        NEVER=mmap FAULT_CHILD=1 each_fault any "$fault" "usdt-gen -l -p $started"
    done
}
