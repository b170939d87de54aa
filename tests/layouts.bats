#!/usr/bin/env bats
# trace-dump prints what mktrace wrote: every layout, as shared memory and as recorded.
# bats file_tags=plain

load helpers

# The trace lines of a fixture.
entries() {
    grep '"us":' "$1"
}

# Whether trace-dump -a prints the entries of a fixture that was written with these options.
round_trip() {
    local fixture=$1
    shift
    mktrace "$@" "$fixture" >trace
    trace-dump -q -a trace >dumped
    entries "$fixture" | diff - dumped
}

@test "what all layouts can hold comes back, from shared memory and from recordings" {
    for layout in $LAYOUTS; do
        for kind in shm record; do
            round_trip "$DATA/common.jsonl" -l "$layout" -k "$kind"
        done
    done
}

@test "a ring that begins anywhere comes back" {
    for layout in $LAYOUTS; do
        for start in 1 7 31 12345; do
            round_trip "$DATA/common.jsonl" -l "$layout" -s "$start"
        done
    done
}

@test "owners, threads, relations, 8 arguments and 4-byte integers come back from v24.05 on" {
    for layout in G4 G5 G6; do
        for kind in shm record; do
            round_trip "$DATA/modern.jsonl" -l "$layout" -k "$kind" -L 5,1000
        done
    done
}

@test "relations come back from v21.10 on" {
    for layout in G2 G3; do
        round_trip "$DATA/sample-g3.jsonl" -l "$layout"
    done
    round_trip "$DATA/sample.jsonl"
    round_trip "$DATA/sample-rdma.jsonl"
}

@test "a recording of v26.05 whose silent lcores are cut short is read like a whole one" {
    mktrace -k short -L 1,5,1001 "$DATA/modern.jsonl" >trace
    mktrace -k record -L 1,5,1001 "$DATA/modern.jsonl" >whole
    [ "$(wc -c <trace)" = $(($(wc -c <whole) - 3 * 10240)) ]
    trace-dump -q -a trace >dumped
    entries "$DATA/modern.jsonl" | diff - dumped
    status_is 0 trace-dump trace
    says '3 lcores without entries are truncated'
}

@test "the layout is recognised and named" {
    for layout in $LAYOUTS; do
        mktrace -l "$layout" "$DATA/common.jsonl" >trace
        equal "$(trace-dump -i trace | jq -r .layout)" "$layout"
    done
}

@test "definitions and owners come back" {
    mktrace "$DATA/modern.jsonl" >trace
    (trace-dump -d trace; trace-dump -O trace) >dumped
    grep -v -e '"us":' -e '"layout":' "$DATA/modern.jsonl" |
        sed 's/"new_object":true}$/"new_object":true,"args":[]}/' | diff - dumped
}

@test "tracepoints that were not enabled come back" {
    sed '/"id":\(64\|1023\),/s/}$/,"off":true}/' "$DATA/common.jsonl" >lines
    for layout in $LAYOUTS; do
        mktrace -l "$layout" lines >trace
        equal "$(trace-dump -d trace | jq -r 'select(.off).tpoint' | paste -sd ' ')" 'REQ_NEW LAST'
    done
    # this does not say it
    equal "$(trace-dump -d "$DATA/spdk-trace.json" | grep -c '"off"')" 0
}

@test "a trace made from what -i -j, -d, -O and -a print is the same trace" {
    mktrace "$DATA/modern.jsonl" >trace
    for layout in G4 G5 G6; do
        (trace-dump -i -d -O trace; trace-dump -a trace) | mktrace -l "$layout" >copy
        same_lines 'trace-dump -d -O trace' 'trace-dump -d -O copy'
        same_lines 'trace-dump -a trace' 'trace-dump -a copy'
    done
}

@test "a pipe is read like a file" {
    for layout in $LAYOUTS; do
        mktrace -l "$layout" "$DATA/common.jsonl" >trace
        same_lines 'cat trace | trace-dump' 'trace-dump trace'
        same_lines 'cat trace | trace-dump -' 'trace-dump trace'
    done
}

@test "bytes after the end are reported, and all entries printed" {
    for layout in $LAYOUTS; do
        mktrace -l "$layout" "$DATA/common.jsonl" >trace
        trace-dump trace >dumped
        head -c 5000 /dev/urandom >>trace
        status_is 1 trace-dump trace
        equal "$output" "$(cat dumped)"
        says 'trace-dump: trace: has more than a trace of '
        # two traces are not one, also from a pipe
        status_is 1 sh 'cat trace trace | trace-dump'
        equal "$output" "$(cat dumped)"
    done
}

# What a row of the tables in docs/trace-files.md says of this layout, one of G1 to G5.
documented() { # ROW LAYOUT
    awk -F ' *[|] *' -v row="$1" -v column="${2#G}" '$2 == row { print $(column + 2); exit }' \
        "$BATS_TEST_DIRNAME/../docs/trace-files.md"
}

# A number of 8 bytes in the file.
number_at() { # POSITION
    od -An -t u8 -j "$1" -N 8 trace | tr -d ' '
}

@test "things are where docs/trace-files.md says" {
    local size=([1]=110 142 190 190 190)
    for layout in G1 G2 G3 G4 G5; do
        mktrace -l "$layout" "$DATA/common.jsonl" >trace
        end=$(documented 'size of the file' "$layout")
        [ -n "$end" ] || end=$(documented 'end of the file' "$layout")
        equal "$(number_at "$(documented 'ticks a second' "$layout")")" 2400000000
        equal "$(number_at "$(documented 'positions of histories, 8 each' "$layout")")" \
            "$(documented 'first history' "$layout")"
        name=$(($(documented tracepoints "$layout") + 64 * ${size[${layout#G}]}))
        equal "$(tail -c "+$((name + 1))" trace | head -c 7)" REQ_NEW
        equal "$(number_at "$end")" "$(wc -c <trace)"
    done
}
