#!/usr/bin/env bats
# The pipelines of the README, on the bundled sample.

load helpers

@test "the main job: every qpair of the sample is named" {
    mktrace -l G3 "$DATA/sample.jsonl" >trace
    qpair-lifetimes "$DATA/sample-probes.txt" >lifetimes.txt
    equal "$(wc -l <lifetimes.txt)" 12
    sh 'trace-dump trace | trace-join -l lifetimes.txt >text'
    equal "$(wc -l <text)" 240
    equal "$(grep -c 'qpair(ptr=0x' text)" 150
    equal "$(grep -c 'qpair: ' text)" 0
    equal "$(grep -c 'hostnqn=nqn.2026-11.bench:host-a)' text)" 93
}

@test "grep and awk fit between the tools" {
    mktrace -l G3 "$DATA/sample.jsonl" >trace
    qpair-lifetimes "$DATA/sample-probes.txt" >lifetimes.txt
    sh 'trace-dump trace | grep TCP_REQ_COMPLETED | trace-join -l lifetimes.txt >one'
    sh 'trace-dump trace | trace-join -l lifetimes.txt | grep TCP_REQ_COMPLETED | cmp - one'
    # lifetimes that have ended before the trace begins are not needed
    first=$(trace-dump trace | sed -n '1s/{"tsc":\([0-9]*\),.*/\1/p')
    awk -v first="$first" '{ end = $0; sub(/.*end=/, "", end); if (end + 0 >= first) print }' lifetimes.txt >some.txt
    equal "$(wc -l <some.txt)" 6
    sh 'trace-dump trace | trace-join -l some.txt >a; trace-dump trace | trace-join -l lifetimes.txt | cmp - a'
}

@test "text and JSON name the same objects" {
    mktrace -l G3 "$DATA/sample.jsonl" >trace
    qpair-lifetimes "$DATA/sample-probes.txt" >lifetimes.txt
    sh 'trace-dump trace | trace-join -j -l lifetimes.txt >joined'
    diff <(jq -r '.args.qpair | objects | .hostnqn' joined) \
        <(trace-dump trace | trace-join -l lifetimes.txt | sed -n 's/.*hostnqn=\(.*\))$/\1/p')
    # joined lines can be joined again, and shown as text
    sh 'trace-join -j -l lifetimes.txt joined | cmp - joined'
}

@test "make demo shows an annotated trace" {
    status_is 0 "$BATS_TEST_DIRNAME/demo"
    [[ $output == *'TCP_REQ_NEW '*'qpair(ptr=0x564cd29b70c0, thread=2, qid=1, subnqn=nqn.2016-06.io.spdk:cnode1, hostnqn=nqn.2026-11.bench:host-a)'* ]]
}

@test "README shows what the tools print" {
    local readme=$BATS_TEST_DIRNAME/../README.md
    mktrace -l G3 "$DATA/sample.jsonl" >nvmf_trace.pid1234
    cp "$DATA/sample-probes.txt" usdt.txt
    # each command of the README's examples, and what it shows behind it
    sed -n "/^## The main job/,/^## What SPDK's/s/^    //p" "$readme" >shown
    sed -n 's/^\$ //p' shown >commands
    equal "$(wc -l <commands)" 4
    while read -r command; do
        echo "\$ $command"
        bash -o pipefail -c "$command"
    done <commands | diff shown -
}
