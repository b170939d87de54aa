#!/usr/bin/env bats
# docs/clusters.md: its job with the engines that take seconds. "make cluster" also runs Slurm.
# bats file_tags=plain

load helpers

# Runs the job, or skips the test with the reason why an engine cannot run here.
engine() { # NAME
    local last
    BIN=$BIN ENGINES=$1 "$ROOT/tests/cluster" >log 2>&1 || { cat log; return 1; }
    last=$(tail -n 1 log)
    [[ $last != *skipped* ]] || skip "${last#*skipped: }"
    [[ $last = "$1: ok: "* ]]
}

@test "xargs: a killed task and a damaged trace change nothing in the sum of the others" {
    engine xargs
}

@test "GNU parallel does the same" {
    engine parallel
}

@test "Gearman does the same" {
    engine gearman
}

# Prints the block of the page that has this line.
block() { # LINE
    awk -v line="$1" '
        /^[^ ]/ { if (found) exit; text = "" }
        /^    / { text = text substr($0, 5) "\n"; found = found || index($0, line) }
        END { printf "%s", text }' "$ROOT/docs/clusters.md"
}

@test "the job by hosts adds up to what one machine finds" {
    block '# map.sh' | sed '/^trace-dump/d; /^trap /r'<(block 'joined() {') >map.sh
    block '# merge.sh' >merge.sh
    chmod +x map.sh merge.sh
    for name in one two; do
        gzip -dc "$DATA/slow-host.trace.gz" >$name.trace
        qpair-lifetimes "$DATA/slow-host-probes.txt" >$name.trace.lifetimes
        echo $name.trace
    done >traces.txt
    xargs -d '\n' -n 1 ./map.sh <traces.txt
    status_is 0 ./merge.sh -e
    says 'merge.sh: 2 of 2 traces'
    trace-dump one.trace | trace-join -q -j -l one.trace.lifetimes >lines
    trace-latency -q -e -g host lines lines >expected
    grep -q db-1 expected
    grep counts <<<"$output" | diff - expected
}

@test "what make cluster starts ends with it" {
    [ "$(id -u)" = 0 ] || skip 'needs root, for namespaces'
    mkdir work
    for signal in INT TERM KILL; do
        TMPDIR=$PWD/work BIN=$BIN ENGINES=xargs setsid "$ROOT/tests/cluster" >log 2>&1 3>&- &
        started=$!
        wait_for has_traces work
        kill -$signal $started
        wait $started || true
        [ $signal = KILL ] || equal "$(ls work)" ''
        wait_for gone work
    done
}

has_traces() { # FOLDER
    [ -e "$(echo "$1"/*/traces.txt)" ]
}

# Whether no process has a folder below this one as its own.
gone() { # FOLDER
    ! readlink /proc/[0-9]*/cwd | grep -F "$PWD/$1/"
}
