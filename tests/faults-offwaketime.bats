#!/usr/bin/env bats
# Any fault: what offwaketime prints is complete, or its exit status says that it is not.
# shellcheck disable=SC2153 # FAULTS is of the helpers
# bats file_tags=waits,plain,long

load helpers
load faults

setup_file() {
    needs_to_run offwaketime -q -p $$ -o probed 1
}

teardown() {
    [ -z "${started:-}" ] || kill "$started" 2>/dev/null || true
}

# How often the thread has been blocked so far.
times_blocked() {
    sed -n 's/^voluntary_ctxt_switches:\t//p' "/proc/$started/status"
}

# A thread that sleeps twice after recording has started, as the tool says, and then ends: the tool ends with it.
sleep_twice() {
    local said
    said=$(readlink /proc/self/fd/2)
    block
    {
        until grep -q ': adding up ' "$said" || ! kill -0 "$started"; do sleep 0.02; done
        enough=$(($(times_blocked) + 2))
        until [ "$(times_blocked)" -ge $enough ] || ! kill -0 "$started"; do sleep 0.02; done
        kill "$started"
    } 2>/dev/null 3>&- &
}

# Whether its time is there. The kernel's stacks differ each time, and functions are unknown where no symbols could be read.
same_sleep() {
    grep -A 1 '^    target: *sleeper [0-9]*$' "$2" | grep -q ' (count [1-9]'
}

@test "offwaketime prints what is blocked, or says what is wrong" {
    block
    for fault in $BEGINNING; do
        BEFORE=sleep_twice CMP=same_sleep NEVER='fork waitpid poll' each_fault any "$fault" 'offwaketime -p $started'
    done
}

@test "what libbpf and the kernel say of a BPF program that is refused is printed" {
    # which call loads a program depends on libbpf
    for FAULT_NTH in $(seq 60); do
        (export FAULT_IN=offwaketime FAULT_CALL=bpf FAULT=$EPERM FAULT_NTH LD_PRELOAD=$FAULTS
            ! offwaketime -q -o lines 0.01 2>log) || continue
        ! sed -n '1s/^offwaketime: the kernel refuses the BPF program: //p' log | grep . >/dev/null ||
            ! grep '^libbpf: failed to load' log >/dev/null || return 0
    done
    return 1
}
