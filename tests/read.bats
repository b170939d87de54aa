#!/usr/bin/env bats
# The filters over trace files: what they print is what they print over the lines of trace-dump.
# shellcheck disable=SC2086 # options are words
# bats file_tags=sanitizers

load helpers

# The filters with options that read all that a line has.
VARIANTS='trace-join
trace-join -s
trace-join -j
trace-spans -a
trace-spans -j
trace-spans -s -n 3
trace-causes -j -m 10
trace-latency -r
trace-latency --layers
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

# Compares filters over a file with the same over its lines, and each filter once over a pipe.
compare() { # FILE [COMMANDS]
    local command want code dumped tool=
    run_to dumped trace-dump "$1"
    dumped=$code
    while read -r command; do
        run_to want $command <dumped
        want=$((code ? code : dumped))
        run_to got $command "$1"
        is_wanted "$command $1"
        [ "${command%% *}" != "$tool" ] || continue
        tool=${command%% *}
        run_to got $command < <(cat "$1")
        is_wanted "$command <$1"
    done <<<"${2:-$VARIANTS}"
}

@test "each layout" {
    local layout
    for layout in $LAYOUTS; do
        mktrace -l "$layout" "$DATA/common.jsonl" >trace
        # all filters have the same reader
        compare trace $'trace-join -j\ntrace-spans -a'
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

# The filters that name objects themselves.
NAMING='trace-spans
trace-spans -a -j
trace-spans -s -n 5
trace-causes -m 10
trace-causes -j -m 10
trace-latency --layers -g host
trace-latency -j -g args.qpair.hostnqn -g owner
trace-perfetto -e'

# Compares filters with -l with the same after trace-join -j -l: over a trace, its lines, and what xz packed.
compare_named() { # TRACE PROBES
    local command input want code joined
    qpair-lifetimes -q "$2" >lifetimes
    trace-dump -q "$1" >lines
    run_to joined trace-join -q -j -l lifetimes lines
    joined=$code
    xz -k -f "$1"
    while read -r command; do
        run_to want $command <joined
        want=$((code ? code : joined))
        for input in "$1" lines "$1.xz"; do
            run_to got $command -l lifetimes "$input"
            is_wanted "$command -l lifetimes $input"
        done
    done <<<"$NAMING"
    # the names are there
    trace-spans -q -j -l lifetimes "$1" | grep hostnqn >/dev/null
}

@test "-l names what trace-join names" {
    mktrace -l G3 "$DATA/sample-g3.jsonl" >trace
    compare_named trace "$DATA/sample-g3-probes.txt"
    mktrace -l G6 "$DATA/sample.jsonl" >trace
    compare_named trace "$DATA/sample-probes.txt"
    mktrace "$DATA/sample-rdma.jsonl" >trace
    compare_named trace "$DATA/sample-rdma-probes.txt"
    gzip -dc "$DATA/slow-host.trace.gz" >trace
    compare_named trace "$DATA/slow-host-probes.txt"
}

@test "-l over any arguments, keys and bytes" {
    local from command layout
    printf '%s\n' "ctx: begin=0, ptr=0x55f1c0fc9f18, note='a \"b\"\\\\ \xff', n=1.5" 'qd: begin=0, ptr=0x1' 'thing: begin=0, owner=t267, ptr=0x7' >named
    mktrace "$DATA/sample.jsonl" >trace
    trace-dump trace >lines
    { sed 's/"ctx"/"c\u0074x"/; s/"qd":1/"qd": 1 /' lines; echo nothing; printf '%s\n' '{"lcore":0,"us":5,"tpoint":"TCP_REQ_NEW","tsc":7,"poller":"t267"}'; } >others
    for from in trace lines others; do
        for command in 'trace-spans -a -j' 'trace-spans -s' 'trace-latency -j -g args.ctx.note'; do
            run_to want bash -c "cat $from | trace-join -q -j -l named | $command"
            run_to got $command -l named $from
            cmp want got
        done
    done
    trace-spans -a -j -l named trace | grep -F '"note":"a ' >/dev/null
}

@test "-l of other lifetimes, or none, is said" {
    mktrace "$DATA/sample.jsonl" >trace
    qpair-lifetimes -q "$DATA/sample-probes.txt" >lifetimes
    sed 's/begin=[0-9]*/begin=1/; s/, end=[0-9]*//; s/$/, end=2/' lifetimes >old
    fails 'trace-spans: old: named 0 of ' sh 'trace-spans -j -l old trace >out'
    says ' entries of trace: all their ticks are before those of the entries: they are from another run'
    [ -s out ]
    { cat lifetimes; echo 'qpair: begin=1'; } >bad
    status_is 1 sh 'trace-latency -l bad trace >out'
    says "trace-latency: bad:$(wc -l <bad): begin or ptr is missing"
    [ -s out ]
    fails_only 'trace-spans: missing: No such file or directory' trace-spans -l missing trace
    fails 'trace-perfetto: trace: a binary trace, not lifetime lines' trace-perfetto -l trace trace
    trace-spans -j trace >spans
    fails 'trace-causes: spans: span lines, not trace lines' trace-causes -l lifetimes spans
    status_is 2 trace-causes -l - -l - trace
    says 'standard input can only be one of the files'
    status_is 0 sh 'trace-spans -j -l - trace <lifetimes | cmp - <(trace-spans -j -l lifetimes trace)'
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
    fails_only "$said" sh 'trace-join trace >out'
}

@test "what was left out is said, unless quiet" {
    mktrace "$DATA/modern.jsonl" >trace
    status_is 0 sh 'trace-join trace >out'
    says 'trace-join: trace: left out'
    says '; trace-dump -a prints them'
    succeeds sh 'trace-join -q trace >out'
    succeeds sh 'trace-perfetto -q trace >out'
}

@test "a trace without entries" {
    echo '{"tpoint":"ENTRY","id":100}' | mktrace -L 0 >trace
    compare trace 'trace-spans'
    fails 'trace-spans: trace: empty' trace-spans trace
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
            [ $file != trace ] || trace-dump $file.$packed | cmp - lines
            trace-join -j $file.$packed | cmp - want
            trace-join -j <$file.$packed | cmp - want
            cat $file.$packed | trace-join -j | cmp - want
        done
    done
}

@test "trace-causes reads packed span lines, too" {
    mktrace "$DATA/sample.jsonl" | trace-spans -q -j >spans
    gzip -k spans
    trace-causes -j -m 10 spans >want
    trace-causes -j -m 10 spans.gz | cmp - want
}

@test "a packed file that is damaged, or has something else" {
    mktrace -R 20 "$DATA/sample.jsonl" >trace
    trace-dump trace | xz >lines.xz
    head -c 9000 lines.xz >cut.xz
    fails 'xz: ' sh 'trace-join -j cut.xz >out'
    says 'trace-join: cut.xz: xz: exit status 1'
    [ -s out ]
    gzip -c "$(command -v bash)" >program.gz
    fails_only 'trace-join: program.gz: a program or library, not trace lines' trace-join program.gz
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
    (trap '' PIPE; timeout 60 trace-join -q -j trace.xz || true) | head -1 >out
    equal "$(wc -l <out)" 1
}
