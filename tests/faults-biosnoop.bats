#!/usr/bin/env bats
# Any fault: what biosnoop prints is complete, or the exit status says that it is not.
# bats file_tags=waits,plain

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
