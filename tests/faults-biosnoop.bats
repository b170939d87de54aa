#!/usr/bin/env bats
# Any fault: what biosnoop prints is complete, or the exit status says that it is not.
# bats file_tags=waits,plain
# shellcheck disable=SC2030,SC2031,SC2153 # a test is a process of its own, and FAULTS is of the helpers

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

@test "what the kernel skips is done by copies of a program, once" {
    command -v biosnoop >/dev/null || lacks 'biosnoop was not built'
    local all
    all=$(for i in $(seq 0 8 392); do echo "dd $i 4096"; done)
    # those that are known from their start to their end
    whole() { awk '$5 ~ /^W/ && $8 > 0 { print $2, $6, $7 }' lines; }
    truncate -s 1M image
    loop=$(losetup --find --show --direct-io=on image 2>why) || lacks "no loop devices here: $(cat why)"
    runs_here timeout 10 biosnoop -q -d "$loop" -o probed 0.1 || lacks "no BPF here: $(cat err)"
    export FAULT_IN=biosnoop FAULT_CALL=bpf FAULT=skip FAULT_NTH=1000 FAULT_KERNEL=7.2.0-1
    for FAULT_PROGRAM in nothing on_start on_issue on_complete on_complete_1 on_complete_3; do
        export FAULT_PROGRAM FAULT_MARK=skipped.$FAULT_PROGRAM
        # again where events were hidden from all copies, as some virtual machines do
        for _ in {1..20}; do
            LD_PRELOAD=$FAULTS begin tracing biosnoop -d "$loop"
            dd if=/dev/zero "of=$loop" bs=4k count=50 oflag=direct status=none
            status=0
            kill "$recorder"
            wait "$recorder" || status=$?
            grep -q 'did not run' log || [ "$(whole)" != "$all" ] || break
        done
        equal "$FAULT_PROGRAM $status $(grep -c missed log)" "$FAULT_PROGRAM 0 0"
        # the first is not loaded before Linux 6.5
        [[ "nothing on_start" = *$FAULT_PROGRAM* ]] || [ -e "skipped.$FAULT_PROGRAM" ]
        equal "$(whole)" "$all"
    done
}
