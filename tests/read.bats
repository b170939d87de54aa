#!/usr/bin/env bats
# The filters over trace files: what they print is what they print over the lines of trace-dump.

load helpers

# The filters with options that read all that a line has.
VARIANTS='trace-join
trace-join -s
trace-join -j
trace-spans -a
trace-spans -j
trace-spans -s -n 3
trace-causes -j --percent 10
trace-latency -r
trace-latency --layers
trace-latency --reactors
trace-latency -g lcore -g args.state
trace-perfetto
trace-perfetto -e'

# Runs a command; its output is in the file got, its exit status in $code.
run_to() { # FILE COMMAND...
    local to=$1
    shift
    code=0
    "$@" >"$to" 2>err || code=$?
}

# Whether the latest command printed what is in the file want, with the status $want.
is_wanted() { # WHAT
    [ "$code" != "$want" ] || ! cmp want got || return 0
    echo "$1: exit $code, not $want"
    cat err
    return 1
}

# Compares filters over a file, by its name and from a pipe, with the same over its lines.
compare() { # FILE [COMMANDS]
    local command want code
    while read -r command; do
        run_to want bash -o pipefail -c "trace-dump '$1' | $command"
        want=$code
        # shellcheck disable=SC2086 # it has options
        run_to got $command "$1"
        is_wanted "$command $1"
        # shellcheck disable=SC2086
        run_to got $command < <(cat "$1")
        is_wanted "$command <$1"
    done <<<"${2:-$VARIANTS}"
}

@test "each layout" {
    local layout
    for layout in $LAYOUTS; do
        mktrace -l "$layout" "$DATA/common.jsonl" >trace
        compare trace
    done
    for layout in G4 G5 G6; do
        mktrace -l "$layout" "$DATA/modern.jsonl" >trace
        compare trace 'trace-join -j'
    done
}

@test "the samples, and what spdk_trace -j prints" {
    local sample
    mktrace "$DATA/sample.jsonl" >sample
    mktrace "$DATA/sample-rdma.jsonl" >rdma
    mktrace -l G3 "$DATA/sample-g3.jsonl" >g3
    gzip -dc "$DATA/preempted.trace.gz" >preempted
    cp "$DATA/spdk-trace.json" json
    for sample in sample rdma g3 preempted json; do
        compare $sample
    done
}

@test "a trace that comes in small pieces" {
    mktrace "$DATA/sample.jsonl" >trace
    trace-join trace >want
    { head -c 3 trace; sleep 0.2; tail -c +4 trace; } | trace-join | cmp - want
}

@test "damage, what is cut off, and what is no trace" {
    local n
    mktrace -l G5 -n 64 "$DATA/common.jsonl" >trace
    for n in 64 4096 200000 $(($(stat -c %s trace) - 700)); do
        head -c "$n" trace >part
        compare part 'trace-spans -a'
    done
    printf '\377\377\377\377\377\377\377\377' | dd of=trace bs=1 seek=64 conv=notrunc status=none
    compare trace 'trace-spans -a'
    head -c 2000 "$DATA/spdk-trace.json" >cut.json
    compare cut.json 'trace-join -j'
    head -c 70000 /dev/zero >zeros
    compare zeros 'trace-join'
    : >empty
    compare empty 'trace-join'
}

@test "damage is said as trace-dump says it" {
    mktrace -l G5 "$DATA/common.jsonl" | head -c -700 >trace
    status_is 1 sh 'trace-dump trace >out'
    said=${stderr//trace-dump: trace/trace-join: trace}
    status_is 1 sh 'trace-join trace >out'
    equal "$stderr" "$said"
}

@test "what was left out is said, unless quiet" {
    mktrace "$DATA/modern.jsonl" >trace
    status_is 0 sh 'trace-join trace >out'
    says 'trace-join: trace: left out'
    says '; trace-dump -a prints them'
    status_is 0 sh 'trace-join -q trace >out'
    equal "$stderr" ''
    status_is 0 sh 'trace-perfetto -q trace >out'
    equal "$stderr" ''
}

@test "a trace without entries" {
    echo '{"tpoint":"ENTRY","id":100}' | mktrace -L 0 >trace
    compare trace 'trace-spans'
    status_is 1 trace-spans trace
    says 'trace-spans: trace: empty'
}

@test "xz and gzip unpack traces and lines, from files and pipes" {
    local file packed
    mktrace "$DATA/sample.jsonl" >trace
    trace-dump trace >lines
    trace-join -j trace >want
    xz -k trace lines
    gzip -k trace lines
    for file in trace lines; do
        for packed in xz gz; do
            trace-join -j $file.$packed | cmp - want
            trace-join -j <$file.$packed | cmp - want
            cat $file.$packed | trace-join -j | cmp - want
        done
    done
}

@test "trace-causes reads packed span lines, too" {
    mktrace "$DATA/sample.jsonl" | trace-spans -q -j >spans
    gzip -k spans
    trace-causes -j --percent 10 spans >want
    trace-causes -j --percent 10 spans.gz | cmp - want
}

@test "a packed file that is damaged, or has something else" {
    mktrace -R 20 "$DATA/sample.jsonl" >trace
    trace-dump trace | xz >lines.xz
    head -c 9000 lines.xz >cut.xz
    status_is 1 sh 'trace-join -j cut.xz >out'
    says 'xz: '
    says 'trace-join: cut.xz: xz: exit status 1'
    [ -s out ]
    gzip -c "$(command -v bash)" >program.gz
    status_is 1 trace-join program.gz
    equal "$stderr" 'trace-join: program.gz: a program or library, not trace lines'
    gzip -c trace | gzip -c >twice.gz
    status_is 1 trace-join twice.gz
    equal "$stderr" 'trace-join: twice.gz: compressed by gzip, not trace lines; try: gzip -dc twice.gz | trace-join'
}

@test "a program that is not here is named" {
    echo | xz -c >packed.xz
    status_is 1 env PATH=/nonexistent "$BIN/trace-join" packed.xz
    equal "$stderr" 'trace-join: packed.xz: compressed by xz, not trace lines; try: xz -dc packed.xz | trace-join'
}

@test "a reader that ends early ends what unpacks" {
    mktrace -R 200 "$DATA/sample.jsonl" | xz -0 >trace.xz
    (trap '' PIPE; timeout 20 trace-join -q -j trace.xz || true) | head -1 >out
    equal "$(wc -l <out)" 1
}
