#!/usr/bin/env bats

load helpers

# A trace line with a qpair at these ticks.
line() { # TSC QPAIR
    printf '{"tsc":%d,"us":0.000,"lcore":0,"tpoint":"REQ_NEW","args":{"qpair":"%#x","n":1}}\n' "$@"
}

# The host that trace-join finds for each line on standard input.
hosts() {
    trace-join -j -l lifetimes.txt | jq -r '.args.qpair? | if type == "object" then .host else "-" end' | tr '\n' ' '
}

lifetime() { # BEGIN END QPAIR HOST
    printf "qpair: begin=%d, %sptr=%#x, host='%s'\n" "$1" "${2:+end=$2, }" "$3" "$4"
}

@test "an argument is annotated within the lifetime, both ends included" {
    lifetime 100 200 16 a >lifetimes.txt
    equal "$(for t in 99 100 150 200 201; do line $t 16; done | hosts)" '- a a a - '
    equal "$(line 150 17 | hosts)" '- '
}

@test "a lifetime without an end lasts" {
    lifetime 100 '' 16 a >lifetimes.txt
    equal "$(for t in 99 100 9223372036854775807; do line $t 16; done | hosts)" '- a a '
}

@test "where lifetimes overlap the first line counts, whatever the order of the trace" {
    { lifetime 100 300 16 a; lifetime 50 150 16 b; lifetime 200 '' 16 c; lifetime 10 20 16 d; } >lifetimes.txt
    equal "$(for t in 15 25 60 120 250 301 5 100 99 301 300 20 21; do line $t 16; done | hosts)" \
        'd - b a a c - a b c a d - '
}

@test "every lifetime of many at one address is found" {
    for i in $(seq 1 500); do lifetime $((i * 10)) $((i * 10 + 5)) 16 "h$i"; done | sort -R >lifetimes.txt
    equal "$(for i in $(seq 500 -1 1); do line $((i * 10 + 5)) 16; done | hosts)" "$(seq -f h%g -s ' ' 500 -1 1) "
    equal "$(for i in $(seq 1 500); do line $((i * 10 + 6)) 16; done | hosts | tr -d ' -')" ''
}

@test "-j keeps every other byte, also of keys that nobody knows" {
    lifetime 1 9 16 'a "b"' >lifetimes.txt
    cat >in <<'L'
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"qpair":"0x10"}}
 { "extra" : [ 1.10 , {"qpair":"0x10"} ] , "args" : { "a":1 , "qpair" : "0x10" , "z":"\u0041\/" } , "tpoint":"X" , "lcore":0 , "us":0.0400 , "tsc":5 } 
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"qpair":16,"q":18446744073709551615}}
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"qpair":{"ptr":"0x10"}}}
L
    cat >want <<'L'
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"qpair":{"ptr":"0x10","host":"a \"b\""}}}
 { "extra" : [ 1.10 , {"qpair":"0x10"} ] , "args" : { "a":1 , "qpair" : {"ptr":"0x10","host":"a \"b\""} , "z":"\u0041\/" } , "tpoint":"X" , "lcore":0 , "us":0.0400 , "tsc":5 } 
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"qpair":{"ptr":"0x10","host":"a \"b\""},"q":18446744073709551615}}
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"qpair":{"ptr":"0x10"}}}
L
    trace-join -j -l lifetimes.txt in | diff want -
}

@test "annotations are numbers, addresses and strings in JSON, bare in text" {
    echo "qpair: begin=1, ptr=0x10, thread=2, big=18446744073709551615, odd=007, name='a, b=\\'c\\\\'" >lifetimes.txt
    equal "$(line 5 16 | trace-join -j -l lifetimes.txt | sed 's/.*"args"://')" \
        '{"qpair":{"ptr":"0x10","thread":2,"big":18446744073709551615,"odd":"007","name":"a, b='"'"'c\\"},"n":1}}'
    equal "$(line 5 16 | trace-join -l lifetimes.txt | sed 's/.*qpair/qpair/')" \
        "qpair(ptr=0x10, thread=2, big=18446744073709551615, odd=007, name=a, b='c\\), n: 1"
}

@test "kinds of objects are told apart by name" {
    { lifetime 1 9 16 a; echo 'bdev: begin=1, ptr=0x10, name=Malloc0'; } >lifetimes.txt
    equal "$(echo '{"tsc":5,"us":0,"lcore":0,"tpoint":"X","args":{"bdev":"0x10","qpair":"0x10","other":"0x10"}}' | trace-join -j -l lifetimes.txt | jq -c .args)" \
        '{"bdev":{"ptr":"0x10","name":"Malloc0"},"qpair":{"ptr":"0x10","host":"a"},"other":"0x10"}'
}

@test "an entry is annotated by its owner, both ends of the lifetime included" {
    echo "qpair: begin=10, end=20, owner=t288, ptr=0x10, host='a'" >lifetimes.txt
    for t in 9 10 20 21; do
        printf '{"tsc":%d,"us":0.000,"lcore":0,"tpoint":"REQ","poller":"t288","owner":"o"}\n' $t
        printf '{"tsc":%d,"us":0.000,"lcore":0,"tpoint":"REQ","poller":"b288","args":{"n":1}}\n' $t
        printf '{"tsc":%d,"us":0.000,"lcore":0,"tpoint":"REQ","poller":"t288","args":{"n":1}}\n' $t
    done >in
    status_is 0 trace-join -l lifetimes.txt in
    equal "$(grep -c 'qpair(' <<<"$output")" 4
    equal "$(sed -n 4p <<<"$output")" '  0            0.000 o   REQ                                  qpair(owner=t288, ptr=0x10, host=a)'
    equal "$(sed -n 9p <<<"$output")" '  0            0.000 t288 REQ                                  n: 1, qpair(owner=t288, ptr=0x10, host=a)'
    trace-join -j -l lifetimes.txt in >joined
    diff <(sed -n '4p;6p;7p;9p' joined) - <<'L'
{"tsc":10,"us":0.000,"lcore":0,"tpoint":"REQ","poller":"t288","owner":"o","args":{"qpair":{"owner":"t288","ptr":"0x10","host":"a"}}}
{"tsc":10,"us":0.000,"lcore":0,"tpoint":"REQ","poller":"t288","args":{"n":1,"qpair":{"owner":"t288","ptr":"0x10","host":"a"}}}
{"tsc":20,"us":0.000,"lcore":0,"tpoint":"REQ","poller":"t288","owner":"o","args":{"qpair":{"owner":"t288","ptr":"0x10","host":"a"}}}
{"tsc":20,"us":0.000,"lcore":0,"tpoint":"REQ","poller":"t288","args":{"n":1,"qpair":{"owner":"t288","ptr":"0x10","host":"a"}}}
L
    diff <(sed '4d;6d;7d;9d' joined) <(sed '4d;6d;7d;9d' in)
    # joined lines stay as they are
    trace-join -j -l lifetimes.txt joined | cmp - joined
}

@test "the annotation by owner finds its place in JSON of any form" {
    echo "qpair: begin=1, owner=t03, ptr=0x10" >lifetimes.txt
    cat >in <<'L'
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","poller":"t03","torn":true}
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","poller":"t03","args":{"a":1},"torn":true}
{ "torn" : true, "poller" : "t3", "tsc" : 5 , "us" : 0.0 , "lcore" : 0 , "tpoint" : "X" } 
{"args":{ },"poller":"t03","tsc":5,"us":0.000,"lcore":0,"tpoint":"X"}
{"args": {"a" : 1 } ,"poller":"t03","tsc":5,"us":0.000,"lcore":0,"tpoint":"X"}
L
    cat >want <<'L'
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","poller":"t03","args":{"qpair":{"owner":"t03","ptr":"0x10"}},"torn":true}
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","poller":"t03","args":{"a":1,"qpair":{"owner":"t03","ptr":"0x10"}},"torn":true}
{ "torn" : true, "poller" : "t3", "tsc" : 5 , "us" : 0.0 , "lcore" : 0 , "tpoint" : "X","args":{"qpair":{"owner":"t03","ptr":"0x10"}} } 
{"args":{ "qpair":{"owner":"t03","ptr":"0x10"}},"poller":"t03","tsc":5,"us":0.000,"lcore":0,"tpoint":"X"}
{"args": {"a" : 1 ,"qpair":{"owner":"t03","ptr":"0x10"}} ,"poller":"t03","tsc":5,"us":0.000,"lcore":0,"tpoint":"X"}
L
    trace-join -j -l lifetimes.txt in | diff want -
}

@test "an argument of the lifetime's name stands before the owner" {
    { lifetime 1 9 16 a; echo "qpair: begin=1, owner=t288, ptr=0x11, host='b'"; echo "conn: begin=1, owner=t288, note='c'"; } >lifetimes.txt
    equal "$(for qpair in 0x10 0x11 0x12; do
        echo '{"tsc":5,"us":0,"lcore":0,"tpoint":"X","poller":"t288","args":{"qpair":"'$qpair'"}}'
    done | trace-join -j -l lifetimes.txt | jq -c .args)" \
        '{"qpair":{"ptr":"0x10","host":"a"},"conn":{"owner":"t288","note":"c"}}
{"qpair":{"owner":"t288","ptr":"0x11","host":"b"},"conn":{"owner":"t288","note":"c"}}
{"qpair":"0x12","conn":{"owner":"t288","note":"c"}}'
    equal "$(echo '{"tsc":5,"us":0,"lcore":0,"tpoint":"X","poller":"t288"}' | trace-join -l lifetimes.txt -t 'Y*')" \
        '  0            0.000 t288 X'
}

@test "of several lifetimes of an owner the first that fits counts" {
    {
        echo "qpair: begin=10, end=30, owner=t288, ptr=0x10, host='a'"
        echo "qpair: begin=20, owner=t288, ptr=0x11, host='b'"
        echo "qpair: begin=1, owner=t0000288, ptr=0x12, host='c'"
        echo "qpair: begin=1, owner=288, ptr=0x13, host='none'"
    } >lifetimes.txt
    equal "$(for t in 5 10 30 31 0; do
        echo "{\"tsc\":$t,\"us\":0,\"lcore\":0,\"tpoint\":\"X\",\"poller\":\"t288\"}"
    done | hosts)" 'c a a b - '
}

@test "-l may be repeated, -t restricts the tracepoints" {
    lifetime 1 9 16 a >lifetimes.txt
    lifetime 1 9 17 b >more.txt
    equal "$({ line 5 16; line 5 17; } | trace-join -j -l lifetimes.txt -l more.txt | jq -r .args.qpair.host | tr '\n' ' ')" 'a b '
    equal "$(line 5 16 | trace-join -j -l lifetimes.txt -t 'REQ_*' | jq -r .args.qpair.host)" a
    equal "$(line 5 16 | trace-join -j -l lifetimes.txt -t 'BDEV*' -t NONE)" "$(line 5 16)"
}

@test "text has the columns of trace.py" {
    cat >in <<'L'
{"tsc":1,"us":0.000,"lcore":0,"tpoint":"REQ_NEW","poller":"t01","object":{"id":"r3","value":"0x10"},"args":{"qpair":"0x10"}}
{"tsc":2,"us":1234567890.123,"lcore":12,"tpoint":"A_NAME_OF_23_CHARACTERS","poller":"t01","owner":"127.0.0.1:4420 sub","size":4096,"object":{"id":"r3","us":0.039,"value":"0x10"},"related":"i12","args":{"a":1,"b":"text"}}
{"tsc":3,"us":0.040,"lcore":1000,"tpoint":"X","size":4294967295,"object":{"value":"0x564cd29b70c0"},"args":{"state":3}}
{"tsc":4,"us":0.040,"lcore":1,"tpoint":"X","object":{"id":"n/a","value":"0x1"}}
{"tsc":5,"us":0.040,"lcore":1,"tpoint":"X","size":1,"object":{"value":"0x0"},"related":"i1"}
{"tsc":6,"us":12345678901234567.000,"lcore":1,"thread":"no column","tpoint":"ÄÖÜ","torn":true}
L
    cat >want <<'L'
  0            0.000 t01 REQ_NEW                              id: r3           qpair: 0x10
 12   1234567890.123 127.0.0.1:4420 sub A_NAME_OF_23_CHARACTERS  size: 4096  id: r3 (i12)     time: 0.039    a: 1, b: text
1000            0.040     X                        size: 4294967295id: 564cd29b70c0 state: 3
  1            0.040     X                                    id: n/a
  1            0.040     X                        size: 1
  1 12345678901234567.000     ÄÖÜ
L
    trace-join in | diff want -
    # the reader for other forms of JSON says the same
    sed 's/,"/ , "/g; s/":/" : /g' in | trace-join | diff want -
}

@test "times that another tool has rewritten get their three decimals back" {
    for us in 0.04 4e-2 0.0400 40.0e-3; do
        equal "$(echo "{\"tsc\":1,\"us\":$us,\"lcore\":0,\"tpoint\":\"X\"}" | trace-join)" '  0            0.040     X'
    done
}

@test "text shows control characters of names instead of passing them to the terminal" {
    lifetime 1 9 16 '\x1b[31mred\n\xff' >lifetimes.txt
    equal "$(echo '{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X\u001b]","owner":"a\u009b\u007f\tä\ud83d\ude00\ud800","args":{"qpair":"0x10"}}' | trace-join -l lifetimes.txt)" \
        '  0            0.000 a\xc2\x9b\x7f\x09ä😀� X\x1b]                               qpair(ptr=0x10, host=\x1b[31mred\x0a\xff)'
}

@test "what is no trace line is passed on, reported, and makes the exit status 1" {
    lifetime 1 9 16 a >lifetimes.txt
    {
        echo 'Trace Size of lcore (0): 32768'
        line 5 16
        echo '{"tsc":5,"us":0.000,"lcore":0}'
        echo '{"tsc":-5,"us":0.000,"lcore":0,"tpoint":"X"}'
        echo '{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"qpair":"0x10"}'
        echo '{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"qpair":"0x10",}}'
        echo '{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X"} x'
        echo '[]'
        echo
        line 6 16
    } >in
    for options in '' -j; do
        # shellcheck disable=SC2086 # nothing or an option
        status_is 1 trace-join $options -l lifetimes.txt in
        diff <(sed -n '1p;3,9p' in) <(sed -n '1p;3,9p' <<<"$output")
        equal "$(wc -l <<<"$output")" 10
        equal "$(grep -c 'host' <<<"$output")" 2
        equal "$(cut -d: -f3 <<<"$stderr" | tr '\n' ' ')" '1 3 4 5 6 7 8 9 '
        says 'trace-join: in:3: not a trace line, passed on: tsc, us, lcore or tpoint is missing'
    done
}

@test "what is no trace line is passed on to a terminal without control characters, and untouched with -j" {
    printf 'a\033[31m\t\302\233\377\\ä\n' >in
    status_is 1 trace-join in
    equal "$output" 'a\x1b[31m\x09\xc2\x9b\xff\ä'
    status_is 1 sh 'trace-join -j in >out'
    cmp out in
}

@test "the fast reader and the full one agree on what is a trace line" {
    local good='{"tsc":5,"us":0.000,"lcore":0,"thread":"t","tpoint":"X","poller":"t01","owner":"o","size":8,"object":{"id":"r1","us":0.001,"value":"0x10"},"related":"i1","args":{"qpair":"0x10","n":1,"s":"x","o":{"ptr":"0x1","n":2}},"torn":true}'
    lifetime 1 9 16 a >lifetimes.txt
    # every line with one byte taken out or made another, with a blank put where it does not matter, so
    # that the fast reader takes none of the second file
    {
        for i in $(seq 0 $((${#good} - 1))); do
            echo "${good:0:i}${good:i+1}"
            for c in 0 ',' '"' '}' "\\" x; do echo "${good:0:i}$c${good:i+1}"; done
        done
    } >fast
    sed 's/^{/{ /' fast >full
    trace-join -j -l lifetimes.txt fast >fast.out 2>fast.err || true
    trace-join -j -l lifetimes.txt full 2>full.err | sed 's/^{ /{/' >full.out || true
    diff fast.out full.out
    trace-join -l lifetimes.txt fast 2>/dev/null | grep -v '^{' >fast.txt || true
    trace-join -l lifetimes.txt full 2>/dev/null | grep -v '^{' | diff fast.txt -
    diff <(sed 's/.*and \([0-9]*\) more.*/\1/;t;d' fast.err) <(sed 's/.*and \([0-9]*\) more.*/\1/;t;d' full.err)
    [ "$(wc -l <fast.txt)" -gt 100 ]
}

@test "CRLF, a missing last newline, NUL bytes and a line of 10 MB are handled" {
    lifetime 1 9 16 a | sed 's/$/\r/' >lifetimes.txt
    line 5 16 | sed 's/$/\r/' | head -c -1 >in
    status_is 0 trace-join -l lifetimes.txt in
    equal "${output##* }" '1'
    equal "$(grep -c 'host=a)' <<<"$output")" 1
    printf '{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X\0"}\n' >in
    status_is 1 sh 'trace-join in | cmp - in'
    says 'trace-join: in:1: '
    printf '{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"s":"%010000000d"}}\n' 7 >in
    status_is 0 sh 'trace-join -j in | cmp - in'
    status_is 0 sh 'trace-join in | wc -c'
    [ "$output" -gt 10000000 ]
}

@test "a long input through a pipe gives what the file gives, whatever the length of its lines" {
    {
        for _ in $(seq 1 8000); do line 5 16; done | sed '300~1000s/"n":1/"n":1,"s":"'"$(printf '%0100000d' 0)"'"/'
        printf '{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"s":"%010000000d"}}\n' 7
        for _ in $(seq 1 20000); do line 6 16; done
        printf '%s' "$(line 7 16)"
    } >in
    [ "$(wc -c <in)" -gt 12000000 ]
    trace-join -j in >want
    equal "$(wc -l <want)" 28002
    sh 'cat in | trace-join -j | cmp - want'
    sh 'dd if=in obs=3001 status=none | trace-join -j | cmp - want'
}

@test "a line without end is refused, not kept" {
    status_is 1 sh 'head -c 100000000 /dev/zero | tr "\0" x | trace-join | wc -c'
    says 'trace-join: <stdin>:1: a line of more than 64 MiB'
    head -c 100000000 /dev/zero | tr '\0' x >zeros
    status_is 1 trace-join zeros
    says 'trace-join: zeros:1: a line of more than 64 MiB'
}

@test "malformed lifetime lines are reported, the others count" {
    {
        echo 'qpair: begin=0x1, ptr=0x10'
        lifetime 1 9 16 a
        echo 'qpair: ptr=0x10'
        echo 'nvmf_poll_group_add_qpair: tsc=0x1, qpair=0x10, thread=0x1'
        echo 'qpair: begin=9, end=8, ptr=0x10'
        echo "qpair: begin=1, ptr=0x10, host='a"
        echo 'Attaching 5 probes...'
    } >lifetimes.txt
    line 5 16 >in
    status_is 1 trace-join -j -l lifetimes.txt in
    equal "$(jq -r .args.qpair.host <<<"$output")" a
    equal "$(cut -d: -f3 <<<"$stderr" | tr '\n' ' ')" '1 3 4 5 6 '
    says 'trace-join: lifetimes.txt:4: begin or ptr is missing: not a lifetime line, which qpair-lifetimes prints'
}

@test "a missing lifetimes file is named" {
    status_is 1 trace-join -l missing /dev/null
    says 'trace-join: missing: No such file or directory'
    status_is 1 trace-join -l . /dev/null
    says 'trace-join: .: a directory, not lifetime lines'
}

@test "standard input can be the lifetimes" {
    line 5 16 >in
    equal "$(lifetime 1 9 16 a | trace-join -j -l - in | jq -r .args.qpair.host)" a
    status_is 2 trace-join -l - - </dev/null
    status_is 2 trace-join -l - </dev/null
}

@test "lines come through as they are written" {
    mkfifo in
    trace-join in >out &
    exec 7>in
    line 5 16 >&7
    for _ in $(seq 1 100); do
        [ -s out ] && break
        sleep 0.05
    done
    # while the input is still open
    [ -s out ]
    exec 7>&-
    wait
}
