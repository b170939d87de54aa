#!/usr/bin/env bats
# Any fault: what ipcsnoop prints is complete, or the exit status says that it is not.
# bats file_tags=waits,plain,long
# shellcheck disable=SC2153 # FAULTS is of the helpers

load helpers
load faults

setup_file() {
    needs_to_run ipcsnoop -q -o probed -- true
}

# Whether the same reads and writes are there, and counts; some calls depend on who is first.
same_calls() {
    diff <(awk '$6 ~ /^[0-9]+$/ { print $2, $4, $7 } /@syscalls.(execve|write|read)]/' "$1" | sort) \
        <(awk '$6 ~ /^[0-9]+$/ { print $2, $4, $7 } /@syscalls.(execve|write|read)]/' "$2" | sort) >/dev/null
}

@test "ipcsnoop prints as many calls as there are, or says what is wrong" {
    for fault in $BEGINNING; do
        CMP=same_calls STATUSES='126 127' NEVER=poll each_fault any "$fault" "ipcsnoop -q -- sh -c 'echo 1 | cat'"
    done
    for fault in malloc@@:$ENOMEM write:$EIO; do
        CMP=same_number STATUSES='126 127' each_fault any "$fault" "ipcsnoop -q -j -e -- sh -c 'echo 1 | cat'"
    done
}

@test "processes whose exit the kernel has skipped are followed no longer" {
    export FAULT_IN=ipcsnoop FAULT_CALL=bpf FAULT=skip FAULT_NTH=1 FAULT_PROGRAM=on_exit FAULT_MARK=skipped
    status=0
    LD_PRELOAD=$FAULTS timeout 60 ipcsnoop -s -o lines -- sh -c 'for i in 1 2 3; do (:); done; (sleep 0.5) & :' 2>log || status=$?
    [ -e skipped ]
    [ "$status" = 0 ] || { echo "exit $status"; cat log; return 1; }
    # that nothing is missing is not said to be a loss
    equal "$(grep -v ': started sh\|: sh ended with status 0' log)" ''
    # the last of them was waited for
    equal "$(sed -n 's/^@syscalls\[exit_group\]: *//p' lines)" 5
}

@test "as before Linux 5.19, where BPF maps cannot be read without CAP_BPF" {
    export FAULT_IN=ipcsnoop FAULT_CALL=bpf FAULT=privileged FAULT_NTH=1 FAULT_MARK=refused
    status=0
    LD_PRELOAD=$FAULTS timeout 60 ipcsnoop -e -j -o lines -- pipe-target plain=97 2>log || status=$?
    take_lost
    [ -e refused ]
    equal "$status $(grep -v ': started\|ended with status 0' log)" '0 '
    equal "$(jq -s 'map(select(.args.pipe)) | length' lines)" 194
    # only that one is kept, and only there
    for preload in "$FAULTS" ''; do
        LD_PRELOAD=$preload ipcsnoop -s -p $$ -o lines 2>log &
        started=$!
        wait_for_text tracing log
        sed -n 's/^Cap\(Prm\|Eff\):[[:space:]]*//p' "/proc/$started/status"
        kill "$started"
        wait "$started"
    done >kept
    equal "$(xargs <kept)" '0000008000000000 0000008000000000 0000000000000000 0000000000000000'
}

@test "what is unknown of skipped programs is a loss" {
    export FAULT_IN=biosnoop FAULT_CALL=bpf FAULT=privileged FAULT_NTH=1 FAULT_MARK=refused
    status=0
    # one that has no CAP_BPF to keep
    LD_PRELOAD=$FAULTS timeout 60 setpriv --bounding-set -bpf biosnoop -q -o lines 0.1 2>log || status=$?
    equal "$status $(cat log)" '1 biosnoop: it is unknown how often the kernel skipped the BPF program: Operation not permitted'
}

# Runs ipcsnoop, with what the variables say, as on Linux 7.2, where tracefs is mounted or not.
snoop_on_7() { # tracefs|tmpfs ARGUMENT...
    status=0
    FAULT_KERNEL=7.2.0-1 unshare --mount bash -c '
        mount -t tmpfs none /sys/kernel/debug
        mount -t "$0" none /sys/kernel/tracing || exit 99
        LD_PRELOAD=$FAULTS timeout 60 "$@"' "$1" ipcsnoop -o lines "${@:2}" >out 2>log || status=$?
    [ $status != 99 ] || lacks "no $1 here: $(cat log)"
    take_lost
}

# Whether lines has all that pipe-target does with these arguments: call=103 plain=97
has_all() {
    equal "$(jq -r '.args | select(.pipe) | [.call, .asked, .moved, .queued] | join(" ")' lines)" "$(
        for i in $(seq 97); do echo "write $i $i $((i * (i - 1) / 2))"; done
        for i in $(seq 97); do echo "read $i $i $((97 * 98 / 2 - i * (i - 1) / 2))"; done)"
    equal "$(jq -r 'select(.syscall == "getppid").calls' lines)" 103
}

@test "what the kernel skips is done by copies of a program, once" {
    export FAULTS FAULT_IN=ipcsnoop FAULT_CALL=bpf FAULT=skip FAULT_NTH=1000
    for FAULT_PROGRAM in nothing on_call on_return on_call_1 on_return_3; do
        export FAULT_PROGRAM FAULT_MARK=skipped.$FAULT_PROGRAM
        snoop_on_7 tmpfs -j -- pipe-target call=103 plain=97
        equal "$FAULT_PROGRAM $status $(grep -c missed log)" "$FAULT_PROGRAM 0 0"
        [ $FAULT_PROGRAM = nothing ] || [ -e "skipped.$FAULT_PROGRAM" ]
        has_all
    done
}

@test "requests of io_uring whose completion the kernel has skipped are a loss" {
    pipe-target uring=1 >/dev/null 2>&1 || skip 'no io_uring'
    export FAULTS FAULT_IN=ipcsnoop FAULT_CALL=bpf FAULT=skip FAULT_NTH=1000 FAULT_MARK=skipped
    FAULT_PROGRAM='on_complete*' snoop_on_7 tmpfs -q -e -j -- pipe-target uring=3
    unfinished=$(jq -s 'map(select(.args.unfinished)) | length' lines)
    [ "$unfinished" -gt 0 ]
    grep -x "ipcsnoop: missed $unfinished steps of system calls: lines may be missing, and counts too low" log
    equal "$status" 1
    FAULT_PROGRAM='on_poll_arm*' snoop_on_7 tmpfs -q -e -j -- pipe-target uring=3
    equal "$status $(cat log)" '1 ipcsnoop: missed 1000 steps of system calls: lines may be missing, and counts too low'
    # it does not matter which copies have run
    for FAULT_PROGRAM in nothing on_submit on_submit_[123]; do
        export FAULT_PROGRAM
        snoop_on_7 tmpfs -q -e -j -- pipe-target uringsilent=5
        grep -x 'ipcsnoop: 5 requests of io_uring asked for no completion: lines may be missing' log
        equal "$FAULT_PROGRAM $status" "$FAULT_PROGRAM 1"
    done
}

@test "system calls as perf events, where the kernel skips programs" {
    export FAULTS FAULT_IN=ipcsnoop FAULT_CALL=bpf FAULT=skip FAULT_NTH=1000
    for FAULT_PROGRAM in on_call on_return on_call_1; do
        export FAULT_PROGRAM FAULT_MARK=skipped
        snoop_on_7 tracefs -j -- pipe-target call=103 plain=97
        equal "$FAULT_PROGRAM $status $(grep -c missed log)" "$FAULT_PROGRAM 0 0"
        [ ! -e skipped ]
        has_all
    done
    FAULT_PROGRAM=on_call_event
    snoop_on_7 tracefs -q -s -- true
    equal "$status $(cat log)" '1 ipcsnoop: missed 1000 steps of system calls: lines may be missing, and counts too low'
}

@test "calls whose return the kernel has skipped are counted" {
    export FAULT_IN=ipcsnoop FAULT_CALL=bpf FAULT=skip FAULT_NTH=1000 FAULT_PROGRAM=on_return FAULT_MARK=skipped
    status=0
    LD_PRELOAD=$FAULTS timeout 60 ipcsnoop -q -s -o lines -- pipe-target call=103 2>log || status=$?
    [ -e skipped ]
    # but for the last one, which does not return
    calls=$(awk '/^@syscalls/ { n += $2 } END { print n - 1 }' lines)
    [ "$calls" -gt 103 ]
    equal "$status $(cat log)" "1 ipcsnoop: missed $calls steps of system calls: lines may be missing, and counts too low"
}
