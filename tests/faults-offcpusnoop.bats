#!/usr/bin/env bats
# Any fault: what offcpusnoop prints is complete, or the exit status says that it is not.
# bats file_tags=waits,plain

load helpers
load faults

teardown() {
    [ -z "${started:-}" ] || kill "$started" 2>/dev/null || true
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
