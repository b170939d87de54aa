#!/usr/bin/env bats
# The pipelines of the README and the tutorial, on the bundled samples.
# bats file_tags=plain

load helpers

# Makes the sample as the pages have it.
sample() {
    mktrace "$DATA/sample.jsonl" >nvmf_trace.pid1234
    cp "$DATA/sample-probes.txt" usdt.txt
}

@test "the main job: every qpair of the sample is named" {
    sample
    status_is 0 sh 'qpair-lifetimes usdt.txt >lifetimes.txt'
    equal "$stderr" ''
    equal "$(grep -c ' owner=t' lifetimes.txt)" 6
    sh 'trace-dump nvmf_trace.pid1234 | trace-join -l lifetimes.txt >text'
    equal "$(wc -l <text)" 258
    equal "$(grep -c 'qpair(owner=t' text)" 228
    equal "$(grep -c 'hostnqn=nqn.2026-11.fleet:host-1)' text)" 104
    # all but what the bdev layer did
    equal "$(grep -v 'qpair(' text | grep -vc ' BDEV_IO_')" 0
}

@test "the main job, with a trace of v22.09: names without owners" {
    mktrace -l G3 "$DATA/sample-g3.jsonl" >trace
    qpair-lifetimes "$DATA/sample-g3-probes.txt" >lifetimes.txt
    equal "$(wc -l <lifetimes.txt)" 12
    sh 'trace-dump trace | trace-join -l lifetimes.txt >text'
    equal "$(wc -l <text)" 240
    equal "$(grep -c 'qpair(ptr=0x' text)" 150
    equal "$(grep -c 'qpair: ' text)" 0
    equal "$(grep -c 'hostnqn=nqn.2026-11.bench:host-a)' text)" 93
}

@test "the main job, over RDMA: names by address, and nothing is said of owners" {
    mktrace "$DATA/sample-rdma.jsonl" >trace
    cp "$DATA/sample-rdma-probes.txt" usdt.txt
    status_is 0 sh 'qpair-lifetimes usdt.txt >lifetimes.txt'
    equal "$stderr" ''
    equal "$(wc -l <lifetimes.txt)" 6
    equal "$(grep -c owner= lifetimes.txt)" 0
    status_is 0 sh 'cat usdt.txt | qpair-lifetimes -F >followed.txt'
    equal "$stderr" ''
    sh 'trace-dump trace | trace-join -s -l lifetimes.txt >text'
    equal "$(wc -l <text)" 182
    equal "$(awk '{ print $3 }' text | sort -u | tr '\n' ' ')" 'bdev_M0 bdev_M1 bdev_Slow host1/1 host2/1 host3/1 '
    equal "$(awk '$4 ~ /^RDMA_REQ/ && $3 !~ /^host/' text | wc -l)" 0
}

@test "short lines of a modern trace fit 120 columns" {
    sample
    qpair-lifetimes usdt.txt >lifetimes.txt
    sh 'trace-dump nvmf_trace.pid1234 | trace-join -s -l lifetimes.txt >text'
    equal "$(wc -l <text)" 258
    # all but the 15 that have four arguments
    equal "$(awk 'length > 120' text | grep -c BDEV_IO_START)" 15
    equal "$(awk 'length > 120' text | wc -l)" 15
    equal "$(awk '{ print length }' text | sort -n | sed -n 129p)" 81
    # the same lines in other words: columns have no blanks
    trace-dump nvmf_trace.pid1234 | jq -r '"\(.lcore) \(.us) \(.tpoint)"' | awk '{ $2 = sprintf("%.3f", $2) } 1' >want
    awk '{ print $1, $2, $4 }' text | diff want -
    equal "$(awk '$3 == "host-1/1"' text | wc -l)" 104
    equal "$(awk '{ print $3 }' text | sort -u | tr '\n' ' ')" 'bdev_Malloc0 bdev_Malloc1 bdev_Slow1 host-1/1 host-2/1 host-3/1 '
}

@test "grep and awk fit between the tools" {
    sample
    qpair-lifetimes usdt.txt >lifetimes.txt
    sh 'trace-dump nvmf_trace.pid1234 | grep TCP_REQ_COMPLETED | trace-join -l lifetimes.txt >one'
    sh 'trace-dump nvmf_trace.pid1234 | trace-join -l lifetimes.txt | grep TCP_REQ_COMPLETED | cmp - one'
    # lifetimes that have ended before the trace begins are not needed
    mktrace -l G3 "$DATA/sample-g3.jsonl" >trace
    qpair-lifetimes "$DATA/sample-g3-probes.txt" >lifetimes.txt
    first=$(trace-dump trace | sed -n '1s/{"tsc":\([0-9]*\),.*/\1/p')
    awk -v first="$first" '{ end = $0; sub(/.*end=/, "", end); if (end + 0 >= first) print }' lifetimes.txt >some.txt
    equal "$(wc -l <some.txt)" 6
    sh 'trace-dump trace | trace-join -l some.txt >a; trace-dump trace | trace-join -l lifetimes.txt | cmp - a'
}

@test "text and JSON name the same objects" {
    sample
    qpair-lifetimes usdt.txt >lifetimes.txt
    sh 'trace-dump nvmf_trace.pid1234 | trace-join -j -l lifetimes.txt >joined'
    same_lines "jq -r '.args.qpair | objects | .hostnqn' joined" \
        "trace-dump nvmf_trace.pid1234 | trace-join -l lifetimes.txt | sed -n 's/.*hostnqn=\(.*\))$/\1/p'"
    # joined lines can be joined again, and shown as text
    sh 'trace-join -j -l lifetimes.txt joined | cmp - joined'
}

@test "all tools call a connection the same" {
    sample
    qpair-lifetimes usdt.txt >lifetimes.txt
    trace-dump nvmf_trace.pid1234 >owners
    trace-join -q -j -l lifetimes.txt owners >hosts
    mktrace -R 5 "$DATA/sample-g3.jsonl" | trace-dump -q >addresses
    for file in owners hosts addresses; do
        trace-join -q -s $file | awk '$5 ~ /^r/ && $4 == "TCP_REQ_NEW" { print $5, $3 }' | sort >want
        [ "$(wc -l <want)" -gt 3 ]
        trace-spans -q $file | awk -F '\t' '$3 ~ /^r/ { print $3, $8 }' | sort | diff want -
        trace-perfetto -q $file | perfetto | jq -r 'select(.args.tsc) | "\(.args.id) \(.track[-2])"' | grep ^r | sort | diff want -
        COLUMNS=1000 trace-spans -q -s $file | awk '$7 == "r0" && $6 == "TCP_REQ_NEW" { print $7, $5 }' | diff <(grep '^r0 ' want) -
    done
}

@test "make demo shows why a request was slow" {
    status_is 0 "$BATS_TEST_DIRNAME/demo"
    [[ $output == *'cause: buffers, held by backup-1'* ]]
    [[ $output == *'22 of them of backup-1/1'* ]]
}

# Runs the commands of examples, "    $ COMMAND", as on a terminal, and compares what they print with what the page shows
# after each.
runs_as_shown() { # PAGE FROM TO COMMANDS
    sed -n "/^$2/,/^$3/s/^    //p" "$BATS_TEST_DIRNAME/../$1" >shown
    sed -n 's/^\$ //p' shown >commands
    equal "$(wc -l <commands)" "$4"
    while read -r command; do
        echo "\$ $command"
        COLUMNS=100 NO_COLOR=1 LC_ALL=C.UTF-8 SHELL=/bin/bash script -qec "set -o pipefail; { $command; } 2>/dev/null" /dev/null </dev/null
    done <commands | sed 's/\r$//; s/\x1b\[[0-9;]*m//g' | diff shown -
}

@test "README shows what the tools print" {
    slow_host nvmf_trace.pid1234 usdt.txt
    runs_as_shown README.md 'This is the page' '## What is supported' 1
}

@test "the commands of docs/questions.md print something" {
    slow_host nvmf_trace.pid1234 usdt.txt
    cp "$BATS_TEST_DIRNAME/../docs/otlp.jq" .
    sed -n '/^## Commands/,/^## Was/s/^    //p' "$BATS_TEST_DIRNAME/../docs/questions.md" | grep -v -e pidof -e trace-record -e io.status >commands
    equal "$(wc -l <commands)" 31
    # of another day
    trace-spans -q -l <(qpair-lifetimes usdt.txt) -j nvmf_trace.pid1234 >yesterday.jsonl
    while read -r command; do
        echo "\$ $command"
        sh "{ $command; } >printed"
        [[ ! $command =~ ' > '([a-z.]+)$ ]] || cp "${BASH_REMATCH[1]}" printed
        [ -s printed ]
    done <commands
    # each span begins and ends
    jq -c '.traceEvents | map(.ph) | group_by(.) | map([.[0], length])' picture.json >events
    equal "$(cat events)" "[[\"b\",$(trace-spans -qaj lines.jsonl | wc -l)],[\"e\",$(trace-spans -qaj lines.jsonl | wc -l)]]"
}

@test "docs/questions.md shows what its commands print" {
    # a piece of a real recording: another process was given the CPU of the reactor
    gzip -dc "$DATA/preempted.trace.gz" >nvmf_trace.pid1234
    gzip -dc "$DATA/preempted-offcpu.jsonl.gz" >offcpu.jsonl
    sed -n '/^## Was it the reactor/,/^## Is the/s/^    //p' "$BATS_TEST_DIRNAME/../docs/questions.md" >shown
    sed -n '/^\$ .*pidof/d; s/^\$ //p' shown >commands
    equal "$(wc -l <commands)" 1
    bash -e -o pipefail commands >printed
    [ -s printed ]
    grep -v '^\$ ' shown | diff - printed
    ln -s "$BATS_TEST_DIRNAME" tests
    runs_as_shown docs/questions.md '## Is the time' '## How do I' 3
}

@test "the recording of make demo is what the tools print" {
    "$BATS_TEST_DIRNAME/recording" >session.svg
    diff "$BATS_TEST_DIRNAME/../docs/session.svg" session.svg
    # some viewers merge blanks, so no column depends on them
    equal "$(grep '^<text' session.svg | grep -c '>[^<]*  ')" 0
    equal "$(grep -c 'TPOINT</tspan><tspan x="[0-9.]*">OBJECT' session.svg)" 1
}

@test "the tutorial shows what the tools print" {
    slow_host nvmf_trace.pid1234 usdt.txt
    runs_as_shown docs/tutorial.md '## Whose requests are slow' '## What to do' 8
}
