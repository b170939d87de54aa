#!/usr/bin/env bats
# shellcheck disable=SC2086 # options are words
# bats file_tags=slow,sanitizers

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
    equal "$stderr" 'qpair-lifetimes: usdt.txt: no owner lines: traces of v24.05 and later name TCP qpairs by owner; record with usdt-record -p PID, or add them with -O'
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
    says 'left out 3 qpairs that were added before the recording started'
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
    says 'left out 1 qpair that was added before the recording started'
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
    status_is 0 qpair-lifetimes -q usdt.txt
    equal "$output" 'qpair: begin=1, ptr=0x10, thread=1'
    equal "$stderr" ''
}

@test "clock lines are skipped" {
    local clock="clock: tsc=0x1, ns=0x2, time='2026-11-21T13:14:15.123456789Z'" option
    { add 100 4096 2; connect 150 4096 1 sub host; remove 200 4096; } >plain
    { echo "$clock"; cat plain; echo "$clock"; echo 'clock: tsc=?'; } >usdt.txt
    for option in -q -qF; do
        # a pipe, after which -F ends
        sh "cat usdt.txt | qpair-lifetimes $option" 2>notes >lifetimes
        sh "cat plain | qpair-lifetimes $option" | diff - lifetimes
        equal "$(cat notes)" ''
    done
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
        echo "nvmf_ctrlr_add_qpair: tsc=0x2, qpair=0x10, qid=0x1, subnqn='a', hostnqn=0x7f00"
        remove 5 16
    } >usdt.txt
    status_is 1 qpair-lifetimes -q usdt.txt
    equal "$output" 'qpair: begin=1, end=5, ptr=0x10, thread=1'
    equal "$stderr" 'qpair-lifetimes: usdt.txt:2: qpair: a hexadecimal number is expected
qpair-lifetimes: usdt.txt:3: thread is missing
qpair-lifetimes: usdt.txt:4: a string without its closing quote
qpair-lifetimes: usdt.txt:5: a comma without a field after it
qpair-lifetimes: usdt.txt:6: tsc: a hexadecimal number is expected
qpair-lifetimes: usdt.txt:7: a field KEY=VALUE is expected
qpair-lifetimes: usdt.txt:8: hostnqn: a string is expected; it could not be read when it was recorded'
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
}

owner() { # ID TSC DESCRIPTION [MEMBERS]
    printf '{"id":%d,"poller":"t%d","tsc":%d,"description":"%s"%s}\n' "$1" "$1" "$2" "$3" "${4:-}"
}

# The owner of each lifetime, or -.
found() {
    qpair-lifetimes -q -O owners usdt.txt | sed 's/.*owner=\(t[0-9]*\).*/\1/; t; s/.*/-/' | tr '\n' ' '
}

@test "-O writes a lifetime's owner behind its end" {
    { add 100 16 2; connect 150 16 1 sub host; remove 200 16; add 300 32 2; connect 350 32 2 sub host; } >usdt.txt
    { owner 256 1 app_thread; owner 257 90 '10.0.0.1:1 sub'; owner 258 290 '10.0.0.1:2 sub 10.0.0.9:4420 qid:2'; } >owners
    status_is 0 qpair-lifetimes -O owners usdt.txt
    equal "$output" "qpair: begin=100, end=200, owner=t257, ptr=0x10, thread=2, qid=1, subnqn='sub', hostnqn='host'
qpair: begin=300, owner=t258, ptr=0x20, thread=2, qid=2, subnqn='sub', hostnqn='host'"
    equal "$stderr" ''
    equal "$(qpair-lifetimes -O - usdt.txt <owners)" "$output"
}

@test "the owner is the last one that was owner before, of this subsystem and qid" {
    { add 100 16 2; connect 150 16 1 sub a; add 200 32 3; connect 250 32 2 sub b; add 300 48 4; connect 350 48 1 other c; } >usdt.txt
    { owner 256 80 '10.0.0.1:1 sub'; owner 257 190 '10.0.0.1:2 sub'; owner 258 290 '10.0.0.1:3 other'; } >owners
    equal "$(found)" 't256 t257 t258 '
    # owner by two threads at a time: what tells them apart is the qid, or the subsystem, or nothing
    { add 100 16 2; connect 150 16 1 sub a; add 101 32 3; connect 151 32 2 sub b; } >usdt.txt
    { owner 256 80 '10.0.0.1:1 sub 10.0.0.9:4420 qid:2'; owner 257 81 '10.0.0.1:2 sub 10.0.0.9:4420 qid:1'; } >owners
    equal "$(found)" 't257 t256 '
    { owner 256 80 '10.0.0.1:1 sub qid:2'; owner 257 81 '[fd00::1]:2 sub qid:1'; } >owners
    equal "$(found)" 't257 t256 '
    { owner 256 80 '10.0.0.1:1 sub'; owner 257 80 '10.0.0.1:2 sub'; } >owners
    equal "$(found)" '- - '
    status_is 0 qpair-lifetimes -O owners usdt.txt
    says 'qpair-lifetimes: owners: no owner for 2 qpairs: several candidates remain'
    { owner 256 80 '10.0.0.1:1 sub2'; owner 257 80 '10.0.0.1:2 sub'; } >owners
    { add 100 16 2; connect 150 16 1 sub a; add 101 32 3; connect 151 32 2 sub2 b; } >usdt.txt
    equal "$(found)" 't257 t256 '
}

@test "the lcore of an owner's entries tells its thread" {
    {
        add 100 16 2; connect 110 16 0 sub a
        add 200 32 3; connect 210 32 0 sub b
        add 300 48 2; connect 350 48 1 sub a
        add 301 64 3; connect 351 64 1 sub b
    } >usdt.txt
    {
        owner 256 90 '10.0.0.1:1 sub' ',"lcores":[7]'
        owner 257 190 '10.0.0.1:2 sub' ',"lcores":[5]'
        owner 258 290 '10.0.0.1:3 sub'
        owner 259 291 '10.0.0.1:4 sub'
    } >owners
    equal "$(found)" 't256 t257 - - '
    sed -i 's/3 sub"/&,"lcores":[5]/' owners
    equal "$(found)" 't256 t257 t259 t258 '
    # not where threads change their lcores
    sed -i 's/4 sub"/&,"lcores":[5,7]/' owners
    equal "$(found)" 't256 t257 - - '
}

@test "a lost line leaves a name out, and shifts none" {
    for i in $(seq 1 9); do
        owner $((255 + i)) $((i * 1000)) "10.0.0.1:$i sub"
    done >owners
    for i in 1 2 3 5 6 8 9; do
        add $((i * 1000 + 50)) $((i * 16)) 2
        connect $((i * 1000 + 90)) $((i * 16)) 1 sub "host$i"
    done >usdt.txt
    equal "$(found)" 't256 t257 t258 - t261 - t264 '
    # with one poll group it is certain
    owner 2 1 nvmf_tgt_poll_group_000 >>owners
    equal "$(found)" 't256 t257 t258 t260 t261 t263 t264 '
}

@test "lines that may be those of two qpairs name no owner" {
    for i in 1 2 3; do owner $((255 + i)) $((i * 1000 - 10)) "10.0.0.1:$i sub"; done >owners
    # a removal is missing, or an addition
    { add 1000 16 2; connect 1100 16 1 sub a; add 2000 16 2; connect 2100 16 1 sub b; add 3000 32 2; connect 3100 32 2 sub c; } >usdt.txt
    equal "$(found)" '- t257 t258 '
    status_is 0 qpair-lifetimes -O owners usdt.txt
    says 'no owner for 1 qpair: some of its probe lines are missing'
    { add 1000 16 2; connect 1100 16 1 sub a; connect 2100 16 1 sub b; add 3000 32 2; connect 3100 32 2 sub c; } >usdt.txt
    equal "$(found | cut -c1)" '-'
    # the owner had ended before the host connected
    { add 1000 16 2; connect 2100 16 1 sub b; } >usdt.txt
    owner 256 990 '10.0.0.1:1 sub' ',"end":2000' >owners
    equal "$(found)" '- '
    status_is 0 qpair-lifetimes -O owners usdt.txt
    says 'no owner for 1 qpair: its probe lines may be those of two qpairs, with lines missing'
    owner 256 990 '10.0.0.1:1 sub' ',"end":2200' >owners
    equal "$(found)" 't256 '
}

@test "once lines are known to be missing, a late connect may be that of another host" {
    for i in $(seq 1 9); do owner $((255 + i)) $((i * 10000)) "10.0.0.1:$i sub"; done >owners
    for i in $(seq 1 9); do
        add $((i * 10000 + 50)) $((i * 16)) 2
        connect $((i * 10000 + 150)) $((i * 16)) 1 sub "host$i"
    done >usdt.txt
    # of two more at one address, the connect and removal of the first and the addition of the second are missing
    { owner 270 100000 '10.0.0.1:10 sub'; owner 271 100350 '10.0.0.1:11 sub'; } >>owners
    { add 100050 160 2; connect 100450 160 1 sub host11; connect 50 512 1 sub lost; } >>usdt.txt
    equal "$(found)" 't256 t257 t258 t259 t260 t261 t262 t263 t264 - '
}

@test "owner ids that were used again do not make up for owners that are gone" {
    for i in $(seq 0 9); do owner $((300 - i)) $((i * 1000)) "10.0.0.1:$i sub"; done >owners
    for i in $(seq 0 9); do add $((i * 1000 + 10)) $((i * 16)) 2; connect $((i * 1000 + 20)) $((i * 16)) 1 sub "host$i"; done >usdt.txt
    # the newer half is whole
    equal "$(found)" '- - - - - t295 t294 t293 t292 t291 '
}

@test "qpairs of other transports get no owner, and nobody does when lines were lost then" {
    { add 100 16 2; connect 110 16 1 sub a; add 200 32 2; connect 210 32 1 sub rdma; add 300 48 2; connect 310 48 1 sub b; } >usdt.txt
    { owner 256 90 '10.0.0.1:1 sub'; owner 257 290 '10.0.0.1:2 sub'; } >owners
    equal "$(found)" 't256 - t257 '
    connect 50 64 1 sub c >>usdt.txt
    equal "$(found)" '- - - '
}

@test "where connections have no owners, none is missing" {
    owner_line 256 10 app_thread >table.txt
    { add 100 16 2; connect 110 16 1 sub a; } >qpair.txt
    # nothing was owner for the connection
    cat table.txt qpair.txt >usdt.txt
    status_is 0 qpair-lifetimes usdt.txt
    equal "$output" "qpair: begin=100, ptr=0x10, thread=2, qid=1, subnqn='sub', hostnqn='a'"
    equal "$stderr" ''
    succeeds sh 'cat usdt.txt | qpair-lifetimes -F'
    # it was added before the owners were followed: its owner may have been gone
    cat qpair.txt table.txt >usdt.txt
    status_is 0 qpair-lifetimes usdt.txt
    says 'no owner for 1 qpair: no candidate was registered'
    # a table may be older than the connection
    owner 256 10 app_thread >owners
    status_is 0 qpair-lifetimes -O owners qpair.txt
    says 'no owner for 1 qpair: no candidate was registered'
    # another connection has one
    { cat table.txt; add 100 16 2; connect 110 16 1 sub a; owner_line 257 290 '10.0.0.1:2 sub'; add 300 48 3; connect 310 48 1 sub b; } >usdt.txt
    status_is 0 qpair-lifetimes usdt.txt
    equal "$(grep -c owner=t257 <<<"$output")" 1
    says 'no owner for 1 qpair: no candidate was registered'
}

@test "names that were cut off are compared as far as they go" {
    long=nqn.2016-06.io.spdk:$(printf '%080d' 7)
    { add 100 16 2; connect 150 16 1 "${long:0:63}" a; add 200 32 2; connect 250 32 2 "${long}8" b; } >usdt.txt
    { owner 256 90 "10.0.0.1:1 $long"; owner 257 190 "$(printf '10.0.0.1:2 %s' "$long$(printf '%0100d' 0)" | cut -c1-118)"; } >owners
    equal "$(found)" 't256 - '
    { owner 256 90 "10.0.0.1:1 $long"; owner 257 190 "$(printf '10.0.0.1:2 %s' "${long}8$(printf '%0100d' 0)" | cut -c1-118)"; } >owners
    { add 100 16 2; connect 150 16 1 "${long:0:63}" a; add 200 32 2; connect 250 32 2 "${long}8$(printf '%0120d' 0)" b; } >usdt.txt
    equal "$(found)" 't256 t257 '
}

@test "malformed owners are reported, other lines of trace-dump are skipped" {
    { add 100 16 2; connect 150 16 1 sub host; } >usdt.txt
    {
        echo '{"layout":"G6","releases":"any","tsc_rate":1000000}'
        owner 256 90 '10.0.0.1:1 sub'
        echo '{"id":257,"description":"10.0.0.1:1 sub"}'
        echo '{"id":65536,"poller":"t65536","tsc":1,"description":"x"}'
        echo '{"poller":"t256","tsc":91,"description":"10.0.0.1:1 sub"}'
        echo 'x'
    } >owners
    status_is 1 qpair-lifetimes -O owners usdt.txt
    equal "$output" "qpair: begin=100, owner=t256, ptr=0x10, thread=2, qid=1, subnqn='sub', hostnqn='host'"
    equal "$(cut -d: -f3 <<<"$stderr" | tr '\n' ' ')" '3 4 5 6 '
    says 'qpair-lifetimes: owners:3: an owner without tsc'
    fails 'qpair-lifetimes: missing: No such file or directory' qpair-lifetimes -O missing usdt.txt
}

owner_line() { # ID TSC DESCRIPTION
    printf "owner: tsc=%#x, id=%#x, poller='t%d', description='%s'\n" "$2" "$1" "$1" "$3"
}

@test "owner lines name owners, by their newest descriptions, also those that have had the same number" {
    {
        owner_line 256 1 app_thread
        owner_line 257 90 '10.0.0.1:1'; owner_line 258 95 '10.0.0.1:2'
        add 100 16 2; add 101 32 3
        owner_line 257 90 '10.0.0.1:1 sub 10.0.0.9:4420 qid:2'; owner_line 258 95 '10.0.0.1:2 sub 10.0.0.9:4420 qid:1'
        connect 150 16 1 sub a; connect 151 32 2 sub b
        remove 200 16
        owner_line 258 290 '10.0.0.1:3'
        add 300 16 2; connect 350 16 1 sub c
        owner_line 258 290 '10.0.0.1:3 sub 10.0.0.9:4420 qid:1'
        # 257 was not removed, but is another one now
        owner_line 257 490 '10.0.0.1:4 sub'
        add 500 48 3; connect 550 48 1 sub d; remove 600 48
    } >usdt.txt
    status_is 0 qpair-lifetimes usdt.txt
    equal "$output" "qpair: begin=100, end=200, owner=t258, ptr=0x10, thread=2, qid=1, subnqn='sub', hostnqn='a'
qpair: begin=101, end=489, owner=t257, ptr=0x20, thread=3, qid=2, subnqn='sub', hostnqn='b'
qpair: begin=300, owner=t258, ptr=0x10, thread=2, qid=1, subnqn='sub', hostnqn='c'
qpair: begin=500, end=600, owner=t257, ptr=0x30, thread=3, qid=1, subnqn='sub', hostnqn='d'"
    equal "$stderr" ''
}

@test "a target that was preempted between a registration and the addition is like any other" {
    {
        for i in $(seq 1 20); do owner_line $((256 + i)) $((i * 4000000000)) "10.0.0.1:$i sub"; done
        for i in $(seq 1 20); do
            # one in four by a fifth of a second, and one in five by almost a second
            tsc=$((i * 4000000000 + (i % 4 ? 50000 : 600000000) + (i % 5 ? 0 : 2000000000)))
            add $tsc $((16 * i)) 2; connect $((tsc + 90000)) $((16 * i)) 1 sub "host$i"
        done
    } >usdt.txt
    status_is 0 qpair-lifetimes usdt.txt
    equal "$(grep -c owner= <<<"$output")" 20
    equal "$stderr" ''
}

@test "owner lines and -O are put together" {
    {
        owner_line 257 90 '10.0.0.1:1 sub'; add 100 16 2; connect 110 16 0 sub a
        owner_line 258 190 '10.0.0.1:2 sub'; add 200 32 3; connect 210 32 0 sub b
        owner_line 259 290 '10.0.0.1:3'; owner_line 260 291 '10.0.0.1:4 sub'
        add 300 48 2; add 301 64 3; connect 350 48 1 sub a; connect 351 64 1 sub b
    } >usdt.txt
    equal "$(qpair-lifetimes usdt.txt 2>/dev/null | grep -c owner=)" 2
    {
        owner 257 90 '10.0.0.1:1 sub' ',"lcores":[7]'; owner 258 190 '10.0.0.1:2 sub' ',"lcores":[5]'
        owner 259 290 '10.0.0.1:3 sub' ',"lcores":[5],"end":400'; owner 260 291 '10.0.0.1:4 sub'
    } >owners
    equal "$(found)" 't257 t258 t260 t259 '
    # the later one in time knows more, whichever file it is in
    owner 259 290 '10.0.0.1:3 sub 10.0.0.9:4420 qid:1' >owners
    sed -i 's/qid=0x1, \(.*host.*b\)/qid=0x2, \1/' usdt.txt
    equal "$(found)" 't257 t258 t259 t260 '
    # what -O had said earlier is another owner's
    owner 259 30 '10.0.0.1:7 sub 10.0.0.9:4420 qid:1' >>owners
    equal "$(found)" 't257 t258 t259 t260 '
}

@test "malformed owner lines are reported, the rest goes on" {
    {
        owner_line 257 90 '10.0.0.1:1 sub'
        echo "owner: id=0x101, poller='t257', description='x'"
        echo "owner: tsc=0x1, id=0x10000, poller='t65536', description='x'"
        echo "owner: tsc=0x1, id=0x101, description=0x7f"
        echo "owner: tsc=0x1, id=0x101, description='x"
        echo "owner: tsc='1', id=0x101, description='x'"
        # without a type it is just not a connection
        echo "owner: tsc=0x5b, id=0x102, poller='', description='10.0.0.1:1 sub', new='x'"
        add 100 16 2; connect 150 16 1 sub host
    } >usdt.txt
    status_is 1 qpair-lifetimes usdt.txt
    equal "$output" "qpair: begin=100, owner=t257, ptr=0x10, thread=2, qid=1, subnqn='sub', hostnqn='host'"
    equal "$(cut -d: -f3 <<<"$stderr" | tr '\n' ' ')" '2 3 4 5 6 '
}

# A table in which all numbers have been used: those of the connections 0 to 9, the oldest of which are gone.
used_table() { # PRINT
    owner 256 1 app_thread
    for i in $(seq 9 -1 5); do "$1" $((300 - i)) $((i * 1000)) "10.0.0.1:$i sub"; done
}

# The qpairs of these connections.
used_qpairs() { # FROM TO
    for i in $(seq "$1" "$2"); do add $((i * 1000 + 10)) $((i * 16)) 2; connect $((i * 1000 + 20)) $((i * 16)) 1 sub "host$i"; done
}

@test "followed owners make up for those that are gone, from when they are followed" {
    # lines: whatever is added behind the first one
    { used_table owner_line | grep ^owner; for i in 10 11 12; do owner_line $((300 - i + 5)) $((i * 1000)) "10.0.0.1:$i sub"; done; used_qpairs 5 12; } >usdt.txt
    equal "$(qpair-lifetimes usdt.txt | sed 's/.*owner=\(t[0-9]*\).*/\1/' | tr '\n' ' ')" 't295 t294 t293 t292 t291 t295 t294 t293 '
    { used_qpairs 3 6; used_table owner_line | grep ^owner; used_qpairs 7 9; } >usdt.txt
    equal "$(qpair-lifetimes -q usdt.txt | grep -o 'owner=t[0-9]*' | tr '\n' ' ')" 'owner=t293 owner=t292 owner=t291 '
    status_is 0 qpair-lifetimes usdt.txt
    says 'usdt.txt: no owner for 4 qpairs: their owners may be gone'
    # -O: behind the table that is first
    used_qpairs 5 12 >usdt.txt
    { used_table owner; for i in 10 11 12; do owner $((300 - i + 5)) $((i * 1000)) "10.0.0.1:$i sub"; done; } >owners
    equal "$(found)" '- - t293 t292 t291 t295 t294 t293 '
    # which is known again when it was begun again
    used_table owner >>owners
    for i in 13 14; do owner $((300 - i + 5)) $((i * 1000)) "10.0.0.1:$i sub"; done >>owners
    used_qpairs 5 14 >usdt.txt
    equal "$(found)" '- - t293 t292 t291 t295 t294 t293 t292 t291 '
}

# Writes the probe lines and owners of hosts that all connect at once, twice, as a target makes them: each thread
# registers an owner, adds the qpair, and continues; the hosts' names are the owners' numbers. Every DROPth probe line is
# lost; of the owners every LCORESth has an lcore. IDS: there are no more numbers than these. The files timed and
# timed_owners have the probe lines and owner lines, each after its time.
storm() { # HOSTS THREADS DROP LCORES QID
    awk -v hosts="$1" -v threads="$2" 'BEGIN {
        seed = 7
        for (i = 0; i < hosts; i++) {
            t = int(rnd() * threads)
            if (i % (hosts / 2) == 0) for (k = 0; k < threads; k++) clock[k] = 1000000 + (i > 0) * 90000000
            clock[t] += int(rnd() * 300)
            reg = clock[t]
            clock[t] += 60 + int(rnd() * rnd() * 900)
            print reg, "reg", t, i; print clock[t], "add", t, i, clock[t] + 1000 + int(rnd() * 3000), 50000000 + int(rnd() * 9000000)
        }
    }
    function rnd() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }' | sort -n -s |
        awk -v drop="$3" -v lcores="$4" -v qids="$5" -v ids="${IDS:-16128}" '
        function probe(tsc, line) { if (!drop || ++probes % drop) { print line >"usdt.txt"; print tsc, line >"timed" } }
        function owner(time, tsc, id, description) {
            printf "%d owner: tsc=%#x, id=%#x, poller=\047t%d\047, description=\047%s\047\n", time, tsc, id, id, description >"timed_owners"
        }
        $2 == "reg" {
            id[$4] = 256 + n++ % ids
            client = "10.0.0.1:" $4
            whole = client " sub" (qids ? " 10.0.0.9:4420 qid:" $4 % 4 : "")
            printf "{\"id\":%d,\"poller\":\"t%d\",\"tsc\":%d,\"description\":\"%s\"%s}\n", id[$4], id[$4], $1, whole,
                lcores && n % lcores == 0 ? ",\"lcores\":[" 20 - $3 "]" : "" >"owners"
            # the second time when the host has connected
            owner($1, $1, id[$4], client)
            owner($1 + 6000, $1, id[$4], whole)
        }
        $2 == "add" {
            q = sprintf("qpair=%#x", 16 * ($4 % 257 + 1))
            probe($1, sprintf("nvmf_poll_group_add_qpair: tsc=%#x, %s, thread=%#x", $1, q, 2 + $3))
            probe($5, sprintf("nvmf_ctrlr_add_qpair: tsc=%#x, %s, qid=%#x, subnqn=\047sub\047, hostnqn=\047t%d\047", $5, q, $4 % 4, id[$4]))
            probe($1 + $6, sprintf("nvmf_poll_group_remove_qpair: tsc=%#x, %s, thread=%#x", $1 + $6, q, 2 + $3))
        }'
    qpair-lifetimes -q -O owners usdt.txt >lifetimes.txt
}

# How many lifetimes have an owner, and that none of them is another's.
named() {
    awk '/owner=/ && /hostnqn=/ {
            owner = host = $0; sub(/.*owner=/, "", owner); sub(/,.*/, "", owner); sub(/.*hostnqn=./, "", host); sub(/.$/, "", host)
            if (owner != host) { print "wrong: " $0; exit }
            n++
        }
        END { print n + 0 }' lifetimes.txt
}

@test "500 hosts at once: no name is wrong, whatever is lost" {
    for case in '1 0 0 0' '1 7 0 0' '4 0 1 0' '4 9 2 0' '4 0 0 1' '4 11 3 1'; do
        storm 500 $case
        echo "$case: $(named)"
    done >counts
    diff - counts <<'L'
1 0 0 0: 500
1 7 0 0: 252
4 0 1 0: 500
4 9 2 0: 250
4 0 0 1: 349
4 11 3 1: 314
L
}

# Names by owner lines before the probe lines.
follow_owners() {
    { sed -n 'n; s/^[0-9]* //p' timed_owners; cat usdt.txt; } | qpair-lifetimes -q >lifetimes.txt
}

@test "500 hosts at once, by owner lines: no name is wrong, and what is lost and used again does not matter" {
    for case in '1 0 0 0' '1 7 0 0' '4 0 0 0' '4 0 0 1' '4 11 0 1'; do
        IDS=250 storm 500 $case
        follow_owners
        echo "$case: $(named), with the owners of the end $(
            tac owners | awk -F '[:,]' '!seen[$2]++' >last
            qpair-lifetimes -q -O last usdt.txt >lifetimes.txt
            named)"
    done >counts
    diff - counts <<'L'
1 0 0 0: 500, with the owners of the end 250
1 7 0 0: 252, with the owners of the end 0
4 0 0 0: 77, with the owners of the end 12
4 0 0 1: 349, with the owners of the end 102
4 11 0 1: 239, with the owners of the end 0
L
}

# Starts qpair-lifetimes -F on probe lines that come by descriptor 7.
start_follow() {
    mkfifo in
    qpair-lifetimes -F in >out 2>log &
    follower=$!
    exec 7>in
}

# Ends the probe lines, and checks the exit status.
follow_ends() { # STATUS
    exec 7>&-
    ends_itself "$1" "$follower"
}

# Keeps of lifetimes what was said of each last.
last_said() {
    tac | awk '{ ptr = $0; sub(/.*ptr=/, "", ptr); sub(/,.*/, "", ptr) } !seen[$2, ptr]++' | sort -t= -k2n
}

@test "-F prints a lifetime when it begins, gets its names and its owner, and ends" {
    start_follow
    owner_line 257 90 '10.0.0.1:1' >&7
    add 100 16 2 >&7
    wait_for_text '^qpair: begin=100, ptr=0x10, thread=2$' out
    connect 150 16 1 sub host >&7
    wait_for_text "^qpair: begin=100, ptr=0x10, thread=2, qid=1, subnqn='sub', hostnqn='host'$" out
    # whose owner is whose is clear when the owner has connected, too
    owner_line 257 90 '10.0.0.1:1 sub' >&7
    wait_for_text "^qpair: begin=100, owner=t257, ptr=0x10, thread=2, qid=1, subnqn='sub', hostnqn='host'$" out
    remove 200 16 >&7
    wait_for_text "^qpair: begin=100, end=200, owner=t257, ptr=0x10, thread=2, qid=1, subnqn='sub', hostnqn='host'$" out
    # the same number and the same address
    owner_line 257 290 '10.0.0.1:2' >&7
    add 300 16 2 >&7
    connect 350 16 2 sub other >&7
    owner_line 257 290 '10.0.0.1:2 sub' >&7
    wait_for_text "^qpair: begin=300, owner=t257, .*'other'$" out
    follow_ends 0
    equal "$(cat log)" ''
    equal "$(last_said <out)" "qpair: begin=100, end=200, owner=t257, ptr=0x10, thread=2, qid=1, subnqn='sub', hostnqn='host'
qpair: begin=300, owner=t257, ptr=0x10, thread=2, qid=2, subnqn='sub', hostnqn='other'"
}

@test "-F sorts what comes together" {
    { remove 200 16; connect 150 16 1 s h; add 200 16 3; add 100 16 2; remove 200 16; } >usdt.txt
    status_is 0 sh 'cat usdt.txt | qpair-lifetimes -F'
    equal "$(last_said <<<"$output")" "$(qpair-lifetimes usdt.txt)"
}

@test "-F ends a lifetime where another one begins at its address, or with its owner's number" {
    {
        add 100 16 1; connect 110 16 1 s a
        # the removal is missing; then it and the next addition; then a line comes late
        add 200 16 1; connect 210 16 1 s b; connect 220 16 1 s b
        connect 300 16 1 s c
        add 400 16 1; remove 350 16; connect 360 16 2 s d
    } >usdt.txt
    status_is 0 sh 'sed -u "" usdt.txt | qpair-lifetimes -F'
    equal "$(last_said <<<"$output")" "qpair: begin=100, end=199, ptr=0x10, thread=1, qid=1, subnqn='s', hostnqn='a'
qpair: begin=200, end=299, ptr=0x10, thread=1, qid=1, subnqn='s', hostnqn='b'
qpair: begin=400, ptr=0x10, thread=1"
    says 'left out 2 qpairs that were added before the recording started'
    {
        owner_line 257 90 '10.0.0.1:1 s'; add 100 16 1; connect 110 16 1 s a
        owner_line 257 190 '10.0.0.1:2 s'; add 200 32 1; connect 210 32 1 s b
    } >usdt.txt
    status_is 0 sh 'cat usdt.txt | qpair-lifetimes -F'
    equal "$(last_said <<<"$output")" "qpair: begin=100, end=189, owner=t257, ptr=0x10, thread=1, qid=1, subnqn='s', hostnqn='a'
qpair: begin=200, owner=t257, ptr=0x20, thread=1, qid=1, subnqn='s', hostnqn='b'"
}

@test "-F uses the description of an owner that comes after its number was reused" {
    {
        owner_line 257 90 '10.0.0.1:1'; add 100 16 1; connect 110 16 1 s a; remove 150 16
        owner_line 257 190 '10.0.0.1:2 s'; add 200 32 1; connect 210 32 1 s b
        owner_line 257 90 '10.0.0.1:1 s'
    } >usdt.txt
    status_is 0 sh 'cat usdt.txt | qpair-lifetimes -F'
    equal "$(last_said <<<"$output")" "qpair: begin=100, end=150, owner=t257, ptr=0x10, thread=1, qid=1, subnqn='s', hostnqn='a'
qpair: begin=200, owner=t257, ptr=0x20, thread=1, qid=1, subnqn='s', hostnqn='b'"
}

@test "-F gives no owner where several candidates remain, and says how often" {
    {
        owner_line 256 80 '10.0.0.1:1 sub'; owner_line 257 80 '10.0.0.1:2 sub'
        add 100 16 2; add 101 32 3; connect 150 16 1 sub a; connect 151 32 2 sub b
    } >usdt.txt
    status_is 0 sh 'cat usdt.txt | qpair-lifetimes -F'
    equal "$(grep -c owner= <<<"$output")" 0
    says 'qpair-lifetimes: <stdin>: no owner for 2 of 2 qpairs: several candidates remain, or probe lines are missing'
    succeeds sh 'cat usdt.txt | qpair-lifetimes -qF'
}

# Sends the lines of three hosts and, in pieces, those of a fourth. How many milliseconds at most lie between its first
# line and its last one is $took.
send_pieces() {
    local begin
    start_follow
    for i in 1 2 3; do
        owner_line $((256 + i)) $((i * 1000)) "10.0.0.1:$i sub" >&7
        add $((i * 1000 + 10)) $((i * 16)) 2 >&7
    done
    for i in 1 2; do connect $((i * 1000 + 60)) $((i * 16)) 1 sub "host$i" >&7; done
    wait_for_text "owner=t258, .*'host2'" out
    # the host of the third one, its removal and another addition at its address are missing
    begin=$(uptime_ms)
    owner_line 260 9000 "10.0.0.1:4" >&7
    connect 9100 48 1 sub host4 >&7
    # more than it needs for others
    sleep 0.06
    owner_line 260 9000 "10.0.0.1:4 sub" >&7
    took=$(($(uptime_ms) - begin + 10))
    follow_ends 0
}

@test "-F names no qpair before the description of another owner that its host may have connected by" {
    for _ in $(seq 50); do
        rm -f in out
        send_pieces
        # it waits for 200 ms: what the machine has delayed for longer says nothing
        [ "$took" -ge 200 ] || break
    done
    [ "$took" -lt 200 ] || skip 'this machine is too busy to send lines within 200 ms'
    grep "'host4'" out
    equal "$(grep -c 'owner=.*host4' out)" 0
}

@test "-F reports malformed lines when they come" {
    start_follow
    echo 'nvmf_poll_group_add_qpair: tsc=0x2' >&7
    wait_for_text 'qpair-lifetimes: in:1: qpair is missing' log
    echo 'owner: tsc=0x2' >&7
    wait_for_text 'qpair-lifetimes: in:2: ' log
    add 100 16 2 >&7
    wait_for_text 'begin=100' out
    follow_ends 1
}

@test "-F reads what is added to a file" {
    add 100 16 2 >usdt.txt
    qpair-lifetimes -F usdt.txt >out 2>log &
    follower=$!
    wait_for_text 'begin=100, ptr=0x10' out
    remove 200 16 >>usdt.txt
    wait_for_text 'begin=100, end=200' out
    : >usdt.txt
    exec 7>/dev/null
    follow_ends 1
    grep -q 'qpair-lifetimes: usdt.txt: was truncated or replaced' log
}

@test "-F ends when nobody reads its lines any more, also while there are none" {
    mkfifo in
    exec 7<>in
    add 100 16 2 >&7
    succeeds sh "timeout 60 qpair-lifetimes -F in | head -n 1; [ \${PIPESTATUS[0]} != 124 ]"
    equal "$output" 'qpair: begin=100, ptr=0x10, thread=2'
}

@test "500 hosts at once, as they come: no name is wrong, whatever is lost and used again" {
    for case in '1 0 0 0' '1 7 0 0' '4 0 0 0' '4 0 0 1' '4 11 0 1'; do
        IDS=250 storm 500 $case
        # in the order in which usdt-record writes them
        sort -n -s -k 1,1 timed_owners timed | cut -d ' ' -f 2- >lines
        qpair-lifetimes -q lines >lifetimes.txt
        whole=$(named)
        # all at once, and with a break now and then
        qpair-lifetimes -q -F <(cat lines) | last_said >lifetimes.txt
        once=$(named)
        awk '{ print } NR % 160 == 0 { fflush(); system("sleep 0.03") }' lines | qpair-lifetimes -q -F >live.txt
        last_said <live.txt >lifetimes.txt
        echo "$case: $whole, as they come $once and $(named)"
        [ "$whole" -gt 50 ]
        [ "$once" -ge "$whole" ]
        [ "$(named)" -ge "$whole" ]
        # what was said of owner and host was said for good
        awk '{ ptr = $0; sub(/.*ptr=/, "", ptr); sub(/,.*/, "", ptr) }
            { for (i = 3; i <= NF; i++) if ($i ~ /^(owner|hostnqn)=/) {
                split($i, kv, "="); sub(/,$/, "", kv[2])
                if ((($2, ptr, kv[1]) in was) && was[$2, ptr, kv[1]] != kv[2]) { print "changed: " $0; exit 1 }
                was[$2, ptr, kv[1]] = kv[2] } }' live.txt
    done
}

# What a target answers to nvmf_subsystem_get_qpairs, as trace-record writes it. A qpair is CNTLID QID HOSTNQN PEER
# [TRTYPE], with - for what is missing.
answer() { # BEGIN END SUBNQN [QPAIR...]
    jq -nc '$ARGS.positional as [$begin, $until, $nqn] | {method: "nvmf_subsystem_get_qpairs", begin: ($begin | tonumber),
        end: ($until | tonumber), params: {nqn: $nqn}, result: [$ARGS.positional[3:][] | split(" ") |
        {cntlid: .[0] | tonumber, qid: .[1] | tonumber, state: "enabled"} +
        if .[2] == "-" then {} else {hostnqn: .[2]} end +
        if .[3] == "-" then {} else {peer_address: {trtype: (.[4] // "TCP"), adrfam: "IPv4",
            traddr: (.[3] | sub(":[0-9]*$"; "")), trsvcid: (.[3] | sub(".*:"; ""))}} end]}' --args "$@"
}

@test "--rpc names connections that are older than the recording" {
    {
        owner 300 1000 '10.0.0.1:5000 sub:1'
        owner 301 1100 '10.0.0.1:5001 sub:1 10.0.0.9:4420 qid:1'
        owner 302 1200 'fe80::1:6000 sub:2' ',"end":9000'
        owner 303 1300 'nvmf_tgt_poll_group_000'
    } >owners
    {
        echo '{"method":"spdk_get_version","begin":1,"end":2,"result":{"version":"SPDK v26.05"}}'
        answer 5000 5010 sub:1 '1 0 host:1 10.0.0.1:5000' '1 1 host:1 10.0.0.1:5001'
        answer 5020 5030 sub:2 $'7 3 it\'s\\x41\nü fe80::1:6000'
        answer 8000 8010 sub:1 '1 0 host:1 10.0.0.1:5000' '1 1 host:1 10.0.0.1:5001'
    } >rpc.jsonl
    succeeds qpair-lifetimes --rpc rpc.jsonl -O owners
    equal "$output" "qpair: begin=1000, owner=t300, qid=0, subnqn='sub:1', hostnqn='host:1'
qpair: begin=1100, owner=t301, qid=1, subnqn='sub:1', hostnqn='host:1'
qpair: begin=1200, end=9000, owner=t302, qid=3, subnqn='sub:2', hostnqn='it\\'s\\\\x41\\nü'"
    # with the owners among probe lines
    {
        echo "owner: tsc=0x3e8, id=0x12c, poller='t300', description='10.0.0.1:5000 sub:1'"
        echo "owner: tsc=0x44c, id=0x12d, poller='t301', description='10.0.0.1:5001 sub:1 10.0.0.9:4420 qid:1'"
    } >usdt.txt
    status_is 0 qpair-lifetimes --rpc rpc.jsonl usdt.txt
    equal "$output" "qpair: begin=1000, owner=t300, qid=0, subnqn='sub:1', hostnqn='host:1'
qpair: begin=1100, owner=t301, qid=1, subnqn='sub:1', hostnqn='host:1'"
    equal "$stderr" 'qpair-lifetimes: rpc.jsonl: no name for 1 connection: no owner has its address and port'
    succeeds qpair-lifetimes -q --rpc rpc.jsonl usdt.txt
    status_is 0 sh 'cat rpc.jsonl | qpair-lifetimes -q --rpc - usdt.txt'
    equal "$(wc -l <<<"$output")" 2
    # without owners nothing is named
    add 100 16 1 >usdt.txt
    status_is 0 qpair-lifetimes --rpc rpc.jsonl usdt.txt
    equal "$output" 'qpair: begin=100, ptr=0x10, thread=1'
    says 'qpair-lifetimes: usdt.txt: no owner lines: '
}

# What qpair-lifetimes prints of the only owner 300 and others, with what is on standard input as answers.
named_by() { # OWNERS
    qpair-lifetimes --rpc /dev/stdin -O <(printf '%s\n' "$1") 2>said | sed 's/^qpair: begin=//; s/, qid.*hostnqn=/ /'
    sed 's/^qpair-lifetimes: \/dev\/stdin: //' said
}

@test "--rpc names a connection only by address, port and time" {
    local one two
    one=$(owner 300 1000 '10.0.0.1:5000 sub:1')
    # another port, or address
    equal "$(answer 5000 5010 sub:1 '1 1 h 10.0.0.1:500' '1 2 h 10.0.0.10:5000' | named_by "$one")" \
        'no name for 2 connections: no owner has their address and port'
    # owner later, or gone before
    equal "$(answer 500 999 sub:1 '1 1 h 10.0.0.1:5000' | named_by "$one")" 'no name for 1 connection: no owner has its address and port'
    equal "$(answer 500 1000 sub:1 '1 1 h 10.0.0.1:5000' | named_by "$one")" "1000, owner=t300 'h'"
    two=$(owner 300 1000 '10.0.0.1:5000 sub:1' ',"end":2000')
    equal "$(answer 2001 2002 sub:1 '1 1 h 10.0.0.1:5000' | named_by "$two")" 'no name for 1 connection: no owner has its address and port'
    equal "$(answer 2000 2002 sub:1 '1 1 h 10.0.0.1:5000' | named_by "$two")" "1000, end=2000, owner=t300 'h'"
    # its number is used again
    two=$one$'\n'$(owner 300 3000 '10.0.0.2:1 sub:1')
    equal "$(answer 5000 5010 sub:1 '1 1 h 10.0.0.1:5000' | named_by "$two")" 'no name for 1 connection: no owner has its address and port'
    equal "$(answer 2000 2010 sub:1 '1 1 h 10.0.0.1:5000' | named_by "$two")" "1000, end=2999, owner=t300 'h'"
    # an address that was used again: whether the first connection is gone is not known, unless it is another subsystem's or queue's
    two=$one$'\n'$(owner 301 3000 '10.0.0.1:5000 sub:1')
    equal "$(answer 5000 5010 sub:1 '1 1 h 10.0.0.1:5000' | named_by "$two")" \
        'no name for 1 connection: several owners have its address and port'
    equal "$(answer 2000 2010 sub:1 '1 1 h 10.0.0.1:5000' | named_by "$two")" "1000, owner=t300 'h'"
    equal "$(answer 5000 5010 sub:2 '1 1 h 10.0.0.1:5000' | named_by "$one"$'\n'"$(owner 301 3000 '10.0.0.1:5000 sub:2')")" \
        "3000, owner=t301 'h'"
    equal "$(answer 5000 5010 sub:1 '1 2 h 10.0.0.1:5000' | named_by "$(owner 300 1000 '10.0.0.1:5000 sub:1 a:1 qid:1')
$(owner 301 3000 '10.0.0.1:5000 sub:1 a:2 qid:2')")" "3000, owner=t301 'h'"
    # one whose host had not connected when its description was read may be it
    equal "$(answer 5000 5010 sub:1 '1 1 h 10.0.0.1:5000' | named_by "$one"$'\n'"$(owner 301 3000 '10.0.0.1:5000')")" \
        'no name for 1 connection: several owners have its address and port'
    # a description that is cut off
    two=$(owner 300 1000 "10.0.0.1:5000 $(printf 'x%.0s' {1..104})")
    equal "$(answer 5000 5010 "$(printf 'x%.0s' {1..150})" '1 1 h 10.0.0.1:5000' | named_by "$two")" "1000, owner=t300 'h'"
    equal "$(answer 5000 5010 "$(printf 'x%.0s' {1..90})" '1 1 h 10.0.0.1:5000' | named_by "$two")" \
        'no name for 1 connection: no owner has its address and port'
    two=$(owner 300 1000 "10.0.0.1:5000 $(printf 'x%.0s' {1..90}) 10.0.0.9:4420")
    equal "$(answer 5000 5010 "$(printf 'x%.0s' {1..90})" '1 1 h 10.0.0.1:5000' | named_by "$two")" "1000, owner=t300 'h'"
}

@test "--rpc says why connections have no names" {
    local one all
    one=$(owner 300 1000 '10.0.0.1:5000 sub:1')
    # a connection that two answers list counts once
    equal "$({ answer 5000 5010 sub:1 '1 1 h 10.0.0.1:9'; answer 8000 8010 sub:1 '1 1 h 10.0.0.1:9'; } | named_by "$one")" \
        'no name for 1 connection: no owner has its address and port'
    # one answer is enough
    equal "$({ answer 500 510 sub:1 '1 1 h 10.0.0.1:5000'; answer 8000 8010 sub:1 '1 1 h 10.0.0.1:5000'; } | named_by "$one")" \
        "1000, owner=t300 'h'"
    equal "$({ answer 5000 5010 sub:1 '1 1 h 10.0.0.1:5000'; answer 8000 8010 sub:1 '1 1 i 10.0.0.1:5000'; } | named_by "$one")" \
        'no name for 2 connections: answers contradict each other'
    equal "$(answer 5000 5010 sub:1 '1 1 h -' '1 2 h - TCP' | named_by "$one")" \
        'no name for 2 connections: the address of their hosts is missing, as before v24.05'
    equal "$(answer 5000 5010 sub:1 '1 1 - 10.0.0.1:5000' | named_by "$one")" \
        'no name for 1 connection: the name of its host is missing'
    equal "$(answer 5000 5010 sub:1 '1 1 h 10.0.0.1:5000 RDMA' | named_by "$one")" \
        'no name for 1 connection: only connections of TCP have owners'
    equal "$(answer 5000 5010 sub:1 '1 1 h 10.0.0.1:5000' | sed 's/"end":5010,//' | named_by "$one")" \
        'no name for 1 connection: when it existed is not known: begin and end are missing'
    # after all numbers have been used, an owner of that time may be gone
    all=$(owner 16383 900 a; for i in {1..9}; do owner $((300 + i)) $((1000 * i)) "10.0.0.1:$i sub:1"; done)
    equal "$(answer 5500 5510 sub:1 '1 1 h 10.0.0.1:5' | named_by "$all")" "5000, owner=t305 'h'"
    equal "$(answer 2500 2510 sub:1 '1 1 h 10.0.0.1:2' | named_by "$all")" 'no name for 1 connection: its owner may be gone'
}

@test "--rpc: v24.05 names the hosts of controllers only" {
    local one
    one=$(owner 300 1000 '10.0.0.1:5000 sub:1')
    controllers() { # SUBNQN
        echo '{"method":"nvmf_subsystem_get_controllers","params":{"nqn":"'"$1"'"},"result":[{"cntlid":2,"hostnqn":"other"},{"cntlid":1,"hostnqn":"h"},{"cntlid":"x"},7]}'
    }
    equal "$({ answer 5000 5010 sub:1 '1 1 - 10.0.0.1:5000'; controllers sub:1; } | named_by "$one")" \
        "1000, owner=t300 'h'
left out 2 qpairs and controllers of another form"
    # only the answer after it is of the same moment
    equal "$({ answer 5000 5010 sub:1 '1 1 - 10.0.0.1:5000'; controllers sub:1 | sed 's/"cntlid":1/"cntlid":3/'; controllers sub:1; } | named_by "$one" | head -n 1)" \
        'no name for 1 connection: the name of its host is missing'
    # those of another subsystem, or of an answer before that
    equal "$({ answer 5000 5010 sub:1 '1 1 - 10.0.0.1:5000'; controllers sub:2; } | named_by "$one")" \
        'no name for 1 connection: the name of its host is missing'
    equal "$({ answer 5000 5010 sub:1 '1 1 - 10.0.0.1:5000'; answer 6000 6010 sub:1; controllers sub:1; } | named_by "$one" | head -n 1)" \
        'no name for 1 connection: the name of its host is missing'
}

@test "--rpc adds names to qpairs whose probes name none, and leaves those that are named" {
    {
        echo "owner: tsc=0x3e8, id=0x12c, poller='t300', description='10.0.0.1:5000 sub:1'"
        add 1010 16 1
        echo "owner: tsc=0x7d0, id=0x12d, poller='t301', description='10.0.0.1:5001 sub:1'"
        add 2010 32 1
        connect 2020 32 1 sub:1 probed
    } >usdt.txt
    answer 5000 5010 sub:1 '1 1 answered 10.0.0.1:5000' '1 1 another 10.0.0.1:5001' >rpc.jsonl
    status_is 0 qpair-lifetimes -q --rpc rpc.jsonl usdt.txt
    equal "$output" "qpair: begin=1010, owner=t300, ptr=0x10, thread=1, qid=1, subnqn='sub:1', hostnqn='answered'
qpair: begin=2010, owner=t301, ptr=0x20, thread=1, qid=1, subnqn='sub:1', hostnqn='probed'"
}

@test "--rpc reads any answers" {
    local one
    one=$(owner 300 1000 '10.0.0.1:5000 sub:1')
    {
        echo '{"method":"nvmf_subsystem_get_qpairs","params":{"nqn":"s"},"error":{"code":-1}}'
        echo '{"method":"nvmf_subsystem_get_qpairs","begin":1,"end":2,"params":{},"result":[]}'
        echo '{"method":"nvmf_subsystem_get_qpairs","begin":1,"end":2,"params":{"nqn":"s"},"result":{"a":1}}'
        echo '{"method":"nvmf_subsystem_get_qpairs","begin":1,"end":2,"params":{"nqn":"s"},"result":[1,{"cntlid":-1,"qid":2},[],{"cntlid":1,"qid":2,"hostnqn":7,"peer_address":"x"}]}'
        echo '{"method":'
        answer 5000 5010 sub:1 '1 1 h 10.0.0.1:5000'
    } >rpc.jsonl
    status_is 1 qpair-lifetimes --rpc rpc.jsonl -O <(echo "$one")
    equal "$output" "qpair: begin=1000, owner=t300, qid=1, subnqn='sub:1', hostnqn='h'"
    says 'qpair-lifetimes: rpc.jsonl:2: params.nqn, the name of a subsystem, is missing'
    says 'qpair-lifetimes: rpc.jsonl:3: an array is expected'
    says 'qpair-lifetimes: rpc.jsonl:5: '
    says 'qpair-lifetimes: rpc.jsonl: no name for 1 connection: the address of its host is missing, as before v24.05'
    says 'qpair-lifetimes: rpc.jsonl: left out 3 qpairs and controllers of another form'
    # names that are too long, and numbers
    printf -v long '%0224d' 0
    equal "$(answer 5000 5010 sub:1 "1 1 $long 10.0.0.1:5000" | named_by "$one")" 'no name for 1 connection: the name of its host is missing'
    echo '{"method":"spdk_get_version"}' >none
    status_is 1 qpair-lifetimes --rpc none -O <(echo "$one")
    says 'qpair-lifetimes: none: no answer of nvmf_subsystem_get_qpairs, which --rpc needs: trace-record asks for it'
    fails 'qpair-lifetimes: missing: No such file or directory' qpair-lifetimes --rpc missing -O <(echo "$one")
}
