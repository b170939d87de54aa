#!/usr/bin/env bats

load helpers

add() { # TSC QPAIR THREAD
    printf 'nvmf_poll_group_add_qpair: tsc=%#x, qpair=%#x, thread=%#x\n' "$@"
}

remove() { # TSC QPAIR
    printf 'nvmf_poll_group_remove_qpair: tsc=%#x, qpair=%#x, thread=0x1\n' "$@"
}

connect() { # TSC QPAIR QID SUBNQN HOSTNQN
    printf "nvmf_ctrlr_add_qpair: tsc=%#x, qpair=%#x, qid=%#x, subnqn='%s', hostnqn='%s'\n" "$@"
}

@test "a qpair lives from its add to its remove, with the names of its connect" {
    { add 100 4096 2; connect 150 4096 1 sub host; remove 200 4096; } >usdt.txt
    status_is 0 qpair-lifetimes usdt.txt
    equal "$output" "qpair: begin=100, end=200, ptr=0x1000, thread=2, qid=1, subnqn='sub', hostnqn='host'"
    equal "$stderr" ''
}

@test "a qpair that is not removed has no end, one that did not connect no names" {
    { add 100 16 2; add 120 32 10; connect 150 16 17 sub host; } >usdt.txt
    status_is 0 qpair-lifetimes usdt.txt
    equal "$output" "qpair: begin=100, ptr=0x10, thread=2, qid=17, subnqn='sub', hostnqn='host'
qpair: begin=120, ptr=0x20, thread=10"
}

@test "qpairs of which only the connect was recorded are counted" {
    { connect 1 16 1 s a; remove 2 16; connect 3 16 1 s b; add 4 16 1; connect 5 16 1 s c; connect 6 32 1 s d; } >usdt.txt
    status_is 0 qpair-lifetimes usdt.txt
    equal "$output" "qpair: begin=4, ptr=0x10, thread=1, qid=1, subnqn='s', hostnqn='c'"
    says 'left out 3 qpairs that were added before the recording began'
}

@test "an address that is used again is another lifetime" {
    { add 1 16 1; connect 2 16 1 s a; remove 3 16; add 4 16 1; connect 5 16 2 s b; remove 6 16; } >usdt.txt
    status_is 0 qpair-lifetimes usdt.txt
    equal "$output" "qpair: begin=1, end=3, ptr=0x10, thread=1, qid=1, subnqn='s', hostnqn='a'
qpair: begin=4, end=6, ptr=0x10, thread=1, qid=2, subnqn='s', hostnqn='b'"
}

@test "without the removal lifetimes overlap, and the last connect before it counts for all" {
    { add 1 16 1; connect 2 16 1 s a; add 4 16 1; connect 5 16 2 s b; connect 6 16 3 s c; remove 9 16; connect 10 16 4 s d; } >usdt.txt
    status_is 0 qpair-lifetimes usdt.txt
    equal "$output" "qpair: begin=1, end=9, ptr=0x10, thread=1, qid=3, subnqn='s', hostnqn='c'
qpair: begin=4, end=9, ptr=0x10, thread=1, qid=3, subnqn='s', hostnqn='c'"
    says 'left out 1 qpairs that were added before the recording began'
}

@test "events are put in the order of time; those with equal ticks keep theirs" {
    { remove 200 16; connect 150 16 1 s h; add 200 16 3; add 100 16 2; remove 200 16; } >usdt.txt
    status_is 0 qpair-lifetimes usdt.txt
    equal "$output" "qpair: begin=100, end=200, ptr=0x10, thread=2, qid=1, subnqn='s', hostnqn='h'
qpair: begin=200, end=200, ptr=0x10, thread=3"
}

@test "numbers are hexadecimal, with or without 0x" {
    printf 'nvmf_poll_group_add_qpair: tsc=ff, qpair=0xABCDEF0123456789, thread=10\n' >usdt.txt
    equal "$(qpair-lifetimes usdt.txt)" 'qpair: begin=255, ptr=0xabcdef0123456789, thread=16'
}

@test "names may hold commas, equals signs and quotes" {
    { add 1 16 1; connect 2 16 1 "a, b=c" "it's, 'quoted', here"; } >usdt.txt
    equal "$(qpair-lifetimes usdt.txt)" \
        "qpair: begin=1, ptr=0x10, thread=1, qid=1, subnqn='a, b=c', hostnqn='it\\'s, \\'quoted\\', here'"
}

@test "escaped names stay as they are, and cannot forge a field" {
    { add 1 16 1; connect 2 16 1 'x\\y\n\x1b\xff' "h\\', qid=0x7"; } >usdt.txt
    equal "$(qpair-lifetimes usdt.txt)" \
        "qpair: begin=1, ptr=0x10, thread=1, qid=1, subnqn='x\\\\y\\n\\x1b\\xff', hostnqn='h\\', qid=0x7'"
}

@test "control characters and invalid UTF-8 are escaped" {
    { add 1 16 1; connect 2 16 1 $'\e[31mred' $'\xff\xc2\x9b ü'; } >usdt.txt
    equal "$(qpair-lifetimes usdt.txt)" \
        "qpair: begin=1, ptr=0x10, thread=1, qid=1, subnqn='\\x1b[31mred', hostnqn='\\xff\\xc2\\x9b ü'"
}

@test "other lines are skipped" {
    { echo 'Attaching 5 probes...'; echo; add 1 16 1; echo 'other_probe: a=1, b'; echo ':'; } >usdt.txt
    status_is 0 qpair-lifetimes usdt.txt
    equal "$output" 'qpair: begin=1, ptr=0x10, thread=1'
    equal "$stderr" ''
}

@test "malformed lines of the probes are reported, the rest goes on" {
    {
        add 1 16 1
        echo 'nvmf_poll_group_add_qpair: tsc=0x2, qpair=16x, thread=0x1'
        echo 'nvmf_poll_group_add_qpair: tsc=0x2, qpair=0x10'
        echo "nvmf_ctrlr_add_qpair: tsc=0x2, qpair=0x10, qid=0x1, subnqn='a', hostnqn='b"
        echo 'nvmf_poll_group_remove_qpair: tsc=0x2, qpair=0x10,'
        echo 'nvmf_poll_group_remove_qpair: tsc=0x11111111111111111, qpair=0x10'
        echo 'nvmf_poll_group_remove_qpair: something'
        remove 5 16
    } >usdt.txt
    status_is 1 qpair-lifetimes usdt.txt
    equal "$output" 'qpair: begin=1, end=5, ptr=0x10, thread=1'
    equal "$stderr" 'qpair-lifetimes: usdt.txt:2: qpair: a hexadecimal number is expected
qpair-lifetimes: usdt.txt:3: thread is missing
qpair-lifetimes: usdt.txt:4: a string without its closing quote
qpair-lifetimes: usdt.txt:5: a comma without a field behind it
qpair-lifetimes: usdt.txt:6: tsc: a hexadecimal number is expected
qpair-lifetimes: usdt.txt:7: a field KEY=VALUE is expected'
}

@test "of many malformed lines the first are shown, the others counted" {
    for _ in $(seq 1 25); do echo 'nvmf_poll_group_add_qpair: x'; done >usdt.txt
    status_is 1 qpair-lifetimes usdt.txt
    equal "$(grep -c 'KEY=VALUE' <<<"$stderr")" 10
    says 'qpair-lifetimes: usdt.txt: and 15 more such lines'
}

@test "CRLF, a missing last newline, NUL bytes and a line of 10 MB are read" {
    { add 1 16 1; connect 2 16 1 s h; } | sed 's/$/\r/' | head -c -2 >usdt.txt
    equal "$(qpair-lifetimes usdt.txt)" "qpair: begin=1, ptr=0x10, thread=1, qid=1, subnqn='s', hostnqn='h'"
    { add 1 16 1; printf 'a\0b: c\n'; printf "nvmf_ctrlr_add_qpair: tsc=0x2, qpair=0x10, qid=0x1, subnqn='a\0b', hostnqn='h'"; } >usdt.txt
    equal "$(qpair-lifetimes usdt.txt)" "qpair: begin=1, ptr=0x10, thread=1, qid=1, subnqn='a\\x00b', hostnqn='h'"
    { add 1 16 1; printf "nvmf_ctrlr_add_qpair: tsc=0x2, qpair=0x10, qid=0x1, subnqn='s', hostnqn='%010000000d'\n" 7; remove 3 16; } >usdt.txt
    status_is 0 sh 'qpair-lifetimes usdt.txt | wc -c'
    [ "$output" -gt 10000000 ]
}

@test "nothing to name is said" {
    echo 'Attaching 5 probes...' >usdt.txt
    status_is 0 qpair-lifetimes usdt.txt
    equal "$output" ''
    says 'no line of the probe nvmf_poll_group_add_qpair'
    status_is 0 qpair-lifetimes -q usdt.txt
    equal "$stderr" ''
}
