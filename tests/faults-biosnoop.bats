#!/usr/bin/env bats
# Any fault: what biosnoop prints is complete, or the exit status says that it is not.
# bats file_tags=waits,plain,long
# shellcheck disable=SC2153 # FAULTS is of the helpers

load helpers
load faults

teardown() {
    [ -z "${started:-}" ] || kill "$started" 2>/dev/null || true
    # the next one that is set up in its place keeps what is not set back
    [ -z "${scheduler:-}" ] || echo "$scheduler" >"$disk/scheduler"
    [ -z "${loop:-}" ] || losetup -d "$loop"
}

setup_file() {
    # of all processes it may lose something
    needs_to_run biosnoop -q -p $$ -o probed 1
}

# Makes a disk of a file, which is $loop.
make_loop() {
    truncate -s 1M image
    loop=$(losetup --find --show --direct-io=on image 2>why) || lacks "no loop devices here: $(cat why)"
}

# Whether summaries have as many requests: of how many processes depends on who else reads the disk.
same_requests() {
    equal "$(jq -s 'map(.count) | add' "$2")" "$(jq -s 'map(.count) | add' "$1")"
}

@test "biosnoop prints as many requests as it is to, or says what is wrong" {
    make_loop
    # not more than it takes: some virtual machines lose one of some hundreds
    while dd "if=$loop" of=/dev/null bs=4k count=1 iflag=direct status=none; do sleep 0.01; done 2>/dev/null &
    started=$!
    # also within libbpf
    for fault in ${BEGINNING//@@/@}; do
        CMP=same_number NEVER='fork waitpid poll' each_fault any "$fault" "biosnoop -q -n 3 -d $loop"
    done
    # what the summary does in its own way
    for fault in malloc@@:$ENOMEM write:$EIO; do
        CMP=same_requests each_fault any "$fault" "biosnoop -q -s -j -n 3 -d $loop"
    done
}

# Writes 50 blocks to the disk, recorded by biosnoop with the faults that the variables say; its exit status is $status.
record_writes() {
    LD_PRELOAD=$FAULTS begin tracing biosnoop -d "$loop"
    dd if=/dev/zero "of=$loop" bs=4k count=50 oflag=direct ${conv:+"conv=$conv"} status=none
    status=0
    kill "$recorder"
    wait "$recorder" || status=$?
}

@test "requests for which there is no room have one line each, and are counted once" {
    make_loop
    export FAULT_IN=biosnoop FAULT_FULL=requests
    for FAULT_KERNEL in "$(uname -r)" 7.2.0-1; do
        export FAULT_KERNEL
        for AS_LINUX in '' 6.1; do
            export AS_LINUX
            for _ in {1..20}; do
                record_writes
                [ "$(grep -c WS lines)" != 50 ] || break
            done
            equal "$status $(grep -c WS lines) $(tail -n +2 log)" \
                '1 50 biosnoop: 50 requests have no process and latency: too many were in flight'
        done
    done
}

@test "what all copies of a program have skipped is counted, as far as it matters" {
    make_loop
    disk=/sys/block/${loop#/dev/}/queue
    grep -q mq-deadline "$disk/scheduler" || skip 'the scheduler mq-deadline is not here'
    grep -q back "$disk/write_cache" || skip 'the loop device has no cache'
    scheduler=$(sed 's/.*\[\(.*\)\].*/\1/' "$disk/scheduler")
    echo mq-deadline >"$disk/scheduler"
    export FAULT_IN=biosnoop FAULT_CALL=bpf FAULT=skip FAULT_NTH=1000 FAULT_KERNEL=7.2.0-1 FAULT_MARK=skipped
    while IFS=, read -r FAULT_PROGRAM AS_LINUX missed; do
        # Linux 6.5 is the first that has it
        [ "$FAULT_PROGRAM" != 'on_start*' ] || grep -q ' __traceiter_block_io_start$' /proc/kallsyms || continue
        export FAULT_PROGRAM AS_LINUX
        for _ in {1..20}; do
            conv=fsync record_writes
            grep -q 'did not run' log || break
        done
        equal "$FAULT_PROGRAM $(sed -n 's/^biosnoop: missed \([0-9]* steps*\) of.*/\1/p' log)" "$FAULT_PROGRAM $missed"
    done <<END
on_start*,,51 steps
on_insert*,6.1,50 steps
on_insert*,,
on_getrq*,6.1,1 step
END
}

@test "what the kernel skips is done by copies of a program, once" {
    local all
    all=$(for i in $(seq 0 8 392); do echo "dd $i 4096"; done)
    # those that are known from their start to their end
    whole() { awk '$5 ~ /^W/ && $8 > 0 { print $2, $6, $7 }' lines; }
    make_loop
    export FAULT_IN=biosnoop FAULT_CALL=bpf FAULT=skip FAULT_NTH=1000 FAULT_KERNEL=7.2.0-1
    for FAULT_PROGRAM in nothing on_start on_issue on_complete on_complete_1 on_complete_3; do
        export FAULT_PROGRAM FAULT_MARK=skipped.$FAULT_PROGRAM
        # again where events were hidden from all copies, as some virtual machines do
        for _ in {1..20}; do
            record_writes
            grep -q 'did not run' log || [ "$(whole)" != "$all" ] || break
        done
        equal "$FAULT_PROGRAM $status $(grep -c missed log)" "$FAULT_PROGRAM 0 0"
        # the first is not loaded before Linux 6.5
        [[ "nothing on_start" = *$FAULT_PROGRAM* ]] || [ -e "skipped.$FAULT_PROGRAM" ]
        equal "$(whole)" "$all"
    done
}
