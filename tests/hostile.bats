#!/usr/bin/env bats
# Content that somebody chose in order to harm: all of it comes from other machines.
# shellcheck disable=SC2086 # options are words
# bats file_tags=sanitizers

load helpers

# Prints a trace line for a trace and the lifetime of address 0x10, both of which name NAME.
line_of() { # NAME, as in JSON
    printf '{"tsc":5,"us":0.000,"lcore":0,"thread":"%s","tpoint":"%s","poller":"%s","owner":"%s","object":{"id":"%s","value":"0x10"},"related":"%s","args":{"%s":"%s","qpair":"0x10"}}\n' \
        "$1" "$1" "$1" "$1" "$1" "$1" "$1" "$1"
}

# Fails when standard input has a control character other than newlines: C0, DEL, or C1 as UTF-8 or as a byte.
no_controls() {
    ! LC_ALL=C grep -a -n -P '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|(?<![\x80-\xbf\xc2-\xf4])[\x80-\x9f]'
}

# Runs a tool on what it may find faulty.
may_fail() { # COMMAND...
    "$@" || [ $? = 1 ]
}

@test "no control character of any name comes out as text" {
    for c in '\u0000' '\u0007' '\u0008' '\u000d' '\u001b[2J' '\u001b]0;x\u0007' '\u007f' '\u0085' '\u009b31m' '\n' '\t' \
        $'\x7f' $'\xc2\x9b' $'\x9b' $'\xff' $'\xc0\x8a' $'\xed\xa0\x80'; do
        line_of "a${c}b" >lines
        may_fail trace-join lines | no_controls
        may_fail trace-join -s lines | no_controls
        may_fail trace-latency -q -g owner -g args.a lines | no_controls
        may_fail trace-spans -q -a -s lines | no_controls
        may_fail trace-spans -q --open lines | no_controls
        { line_of "a${c}b"; line_of "a${c}b" | sed 's/"tsc":5,"us":0/"tsc":6,"us":1/'; } |
            sed 's/"object":{[^}]*}/"object":{"id":"r0","value":"0x7"}/' >two
        may_fail trace-latency -q two | no_controls
        may_fail trace-latency -q -H two | no_controls
    done
    printf '%s\n' "qpair: begin=1, ptr=0x10, hostnqn='\\x1b[2J\\x9b\\x7f\\n\\xc2\\x9b'" $'qpair: begin=1, ptr=0x10, hostnqn=\'\e[2J\x7f\xc2\x9b\'' >lifetimes
    for i in 1 2; do
        sed -n ${i}p lifetimes >lifetime
        line_of a | trace-join -l lifetime | no_controls
        line_of a | trace-join -s -l lifetime | no_controls
        line_of a | trace-join -j -l lifetime | no_controls
    done
}

@test "no control character of a trace file comes out as JSON" {
    for layout in G4 G5 G6; do
        mktrace -l $layout "$DATA/modern.jsonl" >trace
        # the description of an owner, whatever it is, and the name of a thread
        at=$(grep -a -b -o -m 1 '127.0.0.1' trace | head -n 1 | cut -d: -f1)
        [ "$at" -gt 0 ]
        printf '\033[2J\302\233\177\b\377\r\n' | dd of=trace bs=1 seek="$at" conv=notrunc status=none
        trace-dump -q -a trace >lines
        trace-dump -O trace >>lines
        grep -q 'u001b\[2J\\u009b\\u007f\\b�\\r\\n' lines
        no_controls <lines
        grep '"us":' lines | trace-join | no_controls
    done
}

@test "no message has a control character of an input" {
    printf '\033[2J\001: x\n{"tsc":\033[2J\n' >in
    for tool in $(filters); do
        may_fail "$tool" in 2>&1 >/dev/null | no_controls
    done
    may_fail trace-join -l in in 2>&1 >/dev/null | no_controls
    may_fail qpair-lifetimes -O in in 2>&1 >/dev/null | no_controls
    may_fail trace-latency --merge in 2>&1 >/dev/null | no_controls
}

@test "no message has a control character of a file's name" {
    local odd=$'a\e[2J\n\xe2\x80\xae'
    printf 'x\n{"tsc":\n' >"$odd"
    mkdir "$odd.d"
    for tool in $(filters); do
        for file in "$odd" "$odd.d" "$odd.none"; do
            run "$tool" "$file"
            no_controls <<<"$output"
            [[ $status = 0 || $output == *'a\x1b[2J\x0a\xe2\x80\xae'* ]]
        done
    done
}

@test "characters that hide or reorder text are seen" {
    for c in 00ad 061c 200b 200f 2028 202e 2066 feff; do
        line_of "a\\u${c}b" >lines
        for tool in trace-join 'trace-join -s' 'trace-spans -q -a -s' 'trace-latency -q -g owner'; do
            may_fail $tool lines | LC_ALL=C grep -a -P "$(printf '%b' "\\u$c" | od -An -tx1 | sed 's/ /\\x/g')" && return 1
        done
    done
    trace-join lines | grep -qF 'a\xef\xbb\xbfb'
}

# Fails when standard input is not UTF-8, or does not have U+FFFD.
is_repaired() {
    iconv -f UTF-8 -t UTF-8 >repaired
    grep -q '�' repaired
}

@test "JSON lines are UTF-8, whatever the bytes of a trace line" {
    local line message
    for c in $'\xff' $'\x80' $'\xc3' $'\xc0\x8a' $'\xe2\x82' $'\xed\xa0\x80' $'\xf4\x90\x80\x80'; do
        line=$(line_of "a${c}ä" | sed 's/"object":{[^}]*}/"object":{"id":"r0","value":"0x7"}/')
        { echo "$line"; sed 's/"tsc":5,"us":0/"tsc":6,"us":1/; s/"id":"r0"/&,"us":1.000/' <<<"$line"; } >lines
        for tool in 'trace-join -j' 'trace-spans -q -a -j' 'trace-latency -q -j' 'trace-latency -q -e' trace-merge; do
            status_is 1 $tool lines
            is_repaired <<<"$output"
            message="${tool%% *}: lines:1: not UTF-8: U+FFFD replaces what is invalid
${tool%% *}: lines:2: not UTF-8: U+FFFD replaces what is invalid"
            equal "$stderr" "$message"
        done
    done
    # a line of another form is passed on, and is text as well
    status_is 1 trace-join -j <<<$'{"a":"\xff"}'
    equal "$output" '{"a":"�"}'
    line_of X | sed 's/"object":{[^}]*}/"object":{"id":"r0","us":1.000,"value":"0x7"}/' >line
    { sed 's/"us":1.000,//' line; sed 's/"tsc":5,"us":0/"tsc":6,"us":1/' line; } | trace-latency -q -e | sed $'s/X/\xff/g' >encoded
    status_is 1 trace-latency -q --merge -e encoded
    is_repaired <<<"$output"
    says 'trace-latency: encoded:1: not UTF-8'
}

@test "a byte that is not UTF-8 is found anywhere in a long input, and UTF-8 is kept" {
    local n line='{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"a":"'
    seq 30000 | awk -v line="$line" '{ printf "%s%0*d\"}}\n", line, $1 % 99, 0 }' >lines
    sed -i $'777s/X/\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80/' lines
    trace-join -j lines | cmp - lines
    for ((n = 1; n <= 30000; n += 4999)); do
        sed "${n}s/X/"$'\xff/' lines >bad
        sed "${n}s/X/�/" lines >good
        for input in bad -; do
            status_is 1 sh "cat bad | trace-join -j $input >out"
            equal "$stderr" "trace-join: ${input/-/<stdin>}:$n: not UTF-8: U+FFFD replaces what is invalid"
            cmp out good
        done
    done
}

@test "a host NQN that imitates probe lines, lifetime lines and fields is a name" {
    add='nvmf_poll_group_add_qpair: tsc=0x1, qpair=0x10, thread=0x1'
    for name in "x', tsc=0x9, qpair=0x99, subnqn='y" "x\\n$add" "x\\', hostnqn=\\'y" "', begin=0, ptr=0x99, a='" '"}' "x\\\\"; do
        escaped=${name//\', /\\\', }
        escaped=${escaped//=\'/=\\\'}
        [ "$name" != "x\\', hostnqn=\\'y" ] || escaped=$name
        printf '%s\n' "$add" "nvmf_ctrlr_add_qpair: tsc=0x2, qpair=0x10, qid=0x1, subnqn='s', hostnqn='$escaped'" >probes
        status_is 0 qpair-lifetimes probes
        echo "$output" >lifetimes
        equal "$(wc -l <lifetimes)" 1
        [[ $output == "qpair: begin=1, ptr=0x10, thread=1, qid=1, subnqn='s', hostnqn='"* ]]
        # as one string, and nothing behind it
        equal "$(echo '{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"qpair":"0x10"}}' | trace-join -j -l lifetimes |
            jq -c '[.args.qpair | keys_unsorted, .thread]')" '[["ptr","thread","qid","subnqn","hostnqn"],1]'
        equal "$(echo '{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"qpair":"0x10"}}' | trace-join -l lifetimes | wc -l)" 1
    done
}

@test "a host NQN cannot imitate another connection, field or argument in text" {
    local line='{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"qpair":"0x10","s":"a, n: 2","q":"a\" b=\"c"}}' nqn long short
    while IFS='|' read -r nqn long short; do
        echo "qpair: begin=1, ptr=0x10, qid=1, hostnqn='nqn.x:$nqn'" >lifetimes
        echo "qpair: begin=1, ptr=0x11, qid=1, hostnqn='nqn.x:other'" >>lifetimes
        status_is 0 trace-join -l lifetimes <<<"$line"
        equal "${output#* qpair}" "(ptr=0x10, qid=1, hostnqn=nqn.x:$long), s: a\\x2c n: 2, q: a\" b=\"c"
        status_is 0 trace-join -s -l lifetimes <<<"$line"
        equal "$(awk '{ print $3 }' <<<"$output")" "$short/1"
        equal "${output##* s=}" '"a, n: 2" q="a\x22 b=\x22c"'
    done <<'E'
db-1/1|db-1/1|db-1\x2f1
db-1@sub|db-1@sub|db-1\x40sub
db-1(t288)|db-1\x28t288\x29|db-1\x28t288\x29
x, qpair(ptr=0x1, hostnqn=root)|x\x2c qpair\x28ptr=0x1\x2c hostnqn=root\x29|x,\x20qpair\x28ptr=0x1,\x20hostnqn=root\x29
E
    # an annotation without a host
    echo "qpair: begin=1, ptr=0x10, name='x, hostnqn=root), s=(1'" >lifetimes
    trace-join -s -l lifetimes <<<"$line" | grep -qF 'qpair(ptr=0x10, name=x\x2c hostnqn=root\x29\x2c s=\x281) s='
    # one that is in the line is JSON
    jq -c '.args.qpair = {a: "\",\"b\":1"}' <<<"$line" | trace-join | grep -qF 'qpair: {"a":"\",\"b\":1"}, s: '
}

@test "numbers of 64 bits go through every tool" {
    local max=18446744073709551615 hex=ffffffffffffffff
    printf '%s\n' "nvmf_poll_group_add_qpair: tsc=0, qpair=0x$hex, thread=0x$hex" \
        "nvmf_ctrlr_add_qpair: tsc=$hex, qpair=$hex, qid=$hex, subnqn='s', hostnqn='h'" \
        "nvmf_poll_group_remove_qpair: tsc=0x$hex, qpair=$hex" >probes
    status_is 0 qpair-lifetimes probes
    equal "$output" "qpair: begin=0, end=$max, ptr=0x$hex, thread=$max, qid=$max, subnqn='s', hostnqn='h'"
    echo "$output" >lifetimes
    line="{\"tsc\":$max,\"us\":18446744073709551.615,\"lcore\":$max,\"tpoint\":\"X\",\"size\":$max,\"object\":{\"id\":\"r$max\",\"us\":1e308,\"value\":\"0x$hex\"},\"args\":{\"qpair\":\"0x$hex\",\"n\":$max}}"
    echo "$line" | trace-join -l lifetimes >text
    grep -q "id: r$max .* qpair(ptr=0x$hex, thread=$max, qid=$max, subnqn=s, hostnqn=h), n: $max$" text
    equal "$(echo "$line" | trace-join -j)" "$line"
    line=${line/1e308/18446744073709551.615} line=${line/\"lcore\":$max/\"lcore\":1}
    echo "$line" | trace-latency -q
    # one more does not fit into 64 bits
    status_is 1 trace-join <<<"${line/\"tsc\":$max/\"tsc\":18446744073709551616}"
    status_is 1 qpair-lifetimes <<<"nvmf_poll_group_add_qpair: tsc=1$hex, qpair=1, thread=1"
}

# To 256 MiB, but not that of sanitizers, which reserve terabytes.
limit_memory() {
    has_sanitizers || ulimit -v 262144
}

@test "a line of deep or huge JSON is refused or read, in bounded memory" {
    local begin='{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"a":'
    { printf %s "$begin"; printf '[%.0s' $(seq 1 400); printf ']%.0s' $(seq 1 400); echo '}}'; } >deep
    { printf %s "$begin"; head -c 1000000 /dev/zero | tr '\0' '['; echo '}}'; } >deeper
    { printf '%s"' "$begin"; head -c 150000 /dev/zero | tr '\0' '\033' | sed 's/\x1b/\\u001b/g'; echo '"}}'; } >huge
    for tool in trace-join 'trace-join -j' 'trace-latency -qe' trace-perfetto 'trace-spans -qas' 'trace-spans -qj'; do
        (limit_memory; status_is 0 timeout 60 $tool deep)
        (limit_memory; status_is 1 timeout 60 $tool deeper)
        (limit_memory; timeout 60 $tool huge >out)
    done
}

@test "a long name is not cut inside an escape" {
    local letters
    letters=$(printf 'a%.0s' $(seq 1200))
    for escape in \\\\\\\\ '\u0001' '\ud83d\ude00'; do
        for n in $(seq 1010 1024); do
            printf '{"tsc":%d,"us":%d.000,"source":"%s","lcore":0,"tpoint":"X"}\n' 1 0 "${letters:0:n}$escape$letters"
        done >lines
        trace-perfetto -q lines >out
    done
}

@test "a long lifetime line is not printed with each entry" {
    local name
    name=$(printf 'h%.0s' $(seq 4000))
    echo "qpair: begin=1, ptr=0x10, hostnqn='$name'" >lifetimes
    line_of a | trace-join -l lifetimes | grep -qF "qpair(ptr=0x10, hostnqn=$name)"
    echo "qpair: begin=1, ptr=0x10, hostnqn='${name}h${name:0:100}'" >lifetimes
    for form in '' -s -j; do
        status_is 1 trace-join ${form:+"$form"} -l lifetimes <<<"$(line_of a)"
        equal "$(grep -c hhh <<<"$output")" 0
        says 'trace-join: lifetimes:1: a lifetime line of more than 4096 bytes'
    done
}

# bats test_tags=plain
@test "no tool can start a shell, search for a program or make a temporary file" {
    ! has_sanitizers || not_for_this_build 'sanitizers have such functions in themselves'
    command -v nm >/dev/null || skip 'nm is not here'
    local ran=0
    for tool in $(tools); do
        nm -D --undefined-only "$BIN/$tool" >symbols
        grep -q ' write' symbols
        run -1 grep -E ' (system|popen|posix_spawnp?|exec[lv]pe?|wordexp|mkstemp|mkostemp|mkdtemp|mktemp|tmpfile|tmpnam|tempnam)(64)?(@|$)' symbols
        ran=$((ran + 1))
    done
    [ $ran -ge 5 ]
}

@test "a pipe that pretends to be the trace of a process is not waited for" {
    local pid=$((2 ** 22 + $$)) # no process has it
    mkfifo "/dev/shm/hostile_trace.pid$pid"
    run timeout 60 trace-dump -p "$pid"
    rm "/dev/shm/hostile_trace.pid$pid"
    equal "$status $output" "1 trace-dump: /dev/shm/hostile_trace.pid$pid: not a regular file, as a trace is"
}

@test "files that other users name like the trace of a process are not taken for it" {
    [ "$(id -u)" = 0 ] || skip 'only root can give files to others'
    local pid=$((2 ** 22 + $$)) forged=/dev/shm/aaa_trace.pid own=/dev/shm/hostile_trace.pid
    forged+=$pid own+=$pid
    mktrace "$DATA/common.jsonl" >"$forged"
    chown nobody "$forged"
    run trace-dump -p "$pid"
    equal "$status ${output%%,*}" "1 trace-dump: $forged: belongs to another user"
    mktrace "$DATA/modern.jsonl" >"$own"
    trace-dump "$own" >expected
    run -0 --separate-stderr trace-dump -p "$pid"
    printf '%s\n' "$output" | cmp - expected
    truncate -s 1T "$own"
    run trace-dump -p "$pid"
    rm "$forged" "$own"
    equal "$status $output" "1 trace-dump: $own: is larger than the memory of this machine"
}
