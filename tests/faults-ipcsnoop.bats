#!/usr/bin/env bats
# Any fault: what ipcsnoop prints is complete, or the exit status says that it is not.
# bats file_tags=waits,plain

load helpers
load faults

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

@test "processes whose exit the kernel has skipped are followed no longer" {
    export FAULT_IN=ipcsnoop FAULT_CALL=bpf FAULT=skip FAULT_NTH=1 FAULT_PROGRAM=on_exit FAULT_MARK=skipped
    status=0
    # shellcheck disable=SC2153 # of the helpers
    LD_PRELOAD=$FAULTS timeout 20 ipcsnoop -s -o lines -- sh -c 'for i in 1 2 3; do (:); done; (sleep 0.5) & :' 2>log || status=$?
    [ -e skipped ]
    [ "$status" = 0 ] || { echo "exit $status"; cat log; return 1; }
    # that nothing is missing is not said to be a loss
    equal "$(grep -v ': started sh\|: sh ended with status 0' log)" ''
    # the last of them was waited for
    equal "$(sed -n 's/^@syscalls\[exit_group\]: *//p' lines)" 5
}
