#!/usr/bin/env bats
# bats file_tags=sanitizers

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

# As many at one address, one after the other.
lifetimes() { # N
    for i in $(seq "$1"); do lifetime "$i" "$i" 16 "h$i"; done
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

@test "a later line about the same object replaces the first one, in its place" {
    { lifetime 100 '' 16 open; lifetime 200 300 16 b; lifetime 100 '' 17 other; lifetime 100 250 16 a; lifetime 101 102 16 c; } >lifetimes.txt
    equal "$(for t in 99 100 101 200 250 251 300 301; do line $t 16; done | hosts)" '- a a a a b b - '
    # another file goes on with the same objects
    { lifetime 100 120 16 d; lifetime 200 '' 16 e; } >more.txt
    equal "$(for t in 100 120 121 200 301; do line $t 16; done | trace-join -j -l lifetimes.txt -l more.txt | jq -r '.args.qpair.host? // "-"' | tr '\n' ' ')" \
        'd d - e e '
}

@test "a line that replaces another gives the object its owner, or takes it" {
    by() { for owner in t1 t2; do echo '{"tsc":5,"us":0,"lcore":0,"tpoint":"X","poller":"'$owner'"}'; done | hosts; }
    lifetime 1 '' 16 a >lifetimes.txt
    equal "$(by)" '- - '
    echo "qpair: begin=1, owner=t1, ptr=0x10, host='b'" >>lifetimes.txt
    equal "$(by)" 'b - '
    echo "qpair: begin=1, owner=t2, ptr=0x10, host='c'" >>lifetimes.txt
    equal "$(by)" '- c '
    echo "qpair: begin=1, owner=t1, ptr=0x10, host='d'" >>lifetimes.txt
    equal "$(by)" 'd - '
    # one without an address is another object
    echo "qpair: begin=1, owner=t2, host='e'" >>lifetimes.txt
    echo "qpair: begin=1, owner=t2, host='f'" >>lifetimes.txt
    equal "$(by)" 'd f '
    equal "$(line 5 16 | hosts)" 'd '
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
{"tsc":5,"us":0.000,"source":"o","lcore":3,"tpoint":"OFF_CPU","args":{"comm":"reactor_0","tid":12,"pid":12,"begin":4,"duration":1.500,"why":"preempted","by":"x","by_pid":77,"queued":0.250}}
{"tsc":5,"us":0.000,"source":"o","lcore":3,"tpoint":"IRQ","args":{"comm":"reactor_0","tid":12,"pid":12,"begin":4,"duration":1.500,"kind":"irq","name":"nvme0q1"}}
L
    cat >want <<'L'
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"qpair":{"ptr":"0x10","host":"a \"b\""}}}
 { "extra" : [ 1.10 , {"qpair":"0x10"} ] , "args" : { "a":1 , "qpair" : {"ptr":"0x10","host":"a \"b\""} , "z":"\u0041\/" } , "tpoint":"X" , "lcore":0 , "us":0.0400 , "tsc":5 } 
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"qpair":{"ptr":"0x10","host":"a \"b\""},"q":18446744073709551615}}
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"qpair":{"ptr":"0x10"}}}
{"tsc":5,"us":0.000,"source":"o","lcore":3,"tpoint":"OFF_CPU","args":{"comm":"reactor_0","tid":12,"pid":12,"begin":4,"duration":1.500,"why":"preempted","by":"x","by_pid":77,"queued":0.250}}
{"tsc":5,"us":0.000,"source":"o","lcore":3,"tpoint":"IRQ","args":{"comm":"reactor_0","tid":12,"pid":12,"begin":4,"duration":1.500,"kind":"irq","name":"nvme0q1"}}
L
    trace-join -j -l lifetimes.txt in | diff want -
}

@test "annotations are numbers, addresses and strings in JSON, bare in text" {
    echo "qpair: begin=1, ptr=0x10, thread=2, big=18446744073709551615, odd=007, name='a, b=\\'c\\\\'" >lifetimes.txt
    equal "$(line 5 16 | trace-join -j -l lifetimes.txt | sed 's/.*"args"://')" \
        '{"qpair":{"ptr":"0x10","thread":2,"big":18446744073709551615,"odd":"007","name":"a, b='"'"'c\\"},"n":1}}'
    equal "$(line 5 16 | trace-join -l lifetimes.txt | sed 's/.*qpair/qpair/')" \
        "qpair(ptr=0x10, thread=2, big=18446744073709551615, odd=007, name=a\\x2c b='c\\), n: 1"
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
    sed -n '4p;6p;7p;9p' joined >annotated
    diff annotated - <<'L'
{"tsc":10,"us":0.000,"lcore":0,"tpoint":"REQ","poller":"t288","owner":"o","args":{"qpair":{"owner":"t288","ptr":"0x10","host":"a"}}}
{"tsc":10,"us":0.000,"lcore":0,"tpoint":"REQ","poller":"t288","args":{"n":1,"qpair":{"owner":"t288","ptr":"0x10","host":"a"}}}
{"tsc":20,"us":0.000,"lcore":0,"tpoint":"REQ","poller":"t288","owner":"o","args":{"qpair":{"owner":"t288","ptr":"0x10","host":"a"}}}
{"tsc":20,"us":0.000,"lcore":0,"tpoint":"REQ","poller":"t288","args":{"n":1,"qpair":{"owner":"t288","ptr":"0x10","host":"a"}}}
L
    same_lines "sed '4d;6d;7d;9d' joined" "sed '4d;6d;7d;9d' in"
    # joined lines stay as they are
    trace-join -j -l lifetimes.txt joined | cmp - joined
}

@test "the annotation by owner finds its place in JSON of any form" {
    echo "qpair: begin=1, owner=t03, ptr=0x10" >lifetimes.txt
    cat >in <<'L'
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","poller":"t03","torn":true}
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","poller":"t03","args":{"a":1},"torn":true}
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","poller":"t03","lost":true}
{ "tsc":5,"us":0.000,"lcore":0,"tpoint":"X","poller":"t03","torn":true,"lost":true}
{ "torn" : true, "poller" : "t3", "tsc" : 5 , "us" : 0.0 , "lcore" : 0 , "tpoint" : "X" } 
{"args":{ },"poller":"t03","tsc":5,"us":0.000,"lcore":0,"tpoint":"X"}
{"args": {"a" : 1 } ,"poller":"t03","tsc":5,"us":0.000,"lcore":0,"tpoint":"X"}
L
    cat >want <<'L'
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","poller":"t03","args":{"qpair":{"owner":"t03","ptr":"0x10"}},"torn":true}
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","poller":"t03","args":{"a":1,"qpair":{"owner":"t03","ptr":"0x10"}},"torn":true}
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","poller":"t03","args":{"qpair":{"owner":"t03","ptr":"0x10"}},"lost":true}
{ "tsc":5,"us":0.000,"lcore":0,"tpoint":"X","poller":"t03","args":{"qpair":{"owner":"t03","ptr":"0x10"}},"torn":true,"lost":true}
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

@test "-l may be repeated" {
    lifetime 1 9 16 a >lifetimes.txt
    lifetime 1 9 17 b >more.txt
    equal "$({ line 5 16; line 5 17; } | trace-join -j -l lifetimes.txt -l more.txt | jq -r .args.qpair.host | tr '\n' ' ')" 'a b '
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

# A lifetime line of a qpair.
qpair() { # BEGIN END OWNER QID HOSTNQN [SUBNQN]
    printf "qpair: begin=%d, %sowner=%s, ptr=0x10%s, thread=2, qid=%s, subnqn='%s', hostnqn='%s'\n" \
        "$1" "${2:+end=$2, }" "$3" "${3#t}" "$4" "${6:-nqn.x:s}" "$5"
}

# Who trace-join -s says each owner is, at a tick.
who() { # TSC OWNER...
    local tsc=$1 owner
    shift
    for owner in "$@"; do
        echo "{\"tsc\":$tsc,\"us\":0.000,\"lcore\":0,\"tpoint\":\"X\",\"poller\":\"$owner\"}"
    done | trace-join -s -l lifetimes.txt | awk '{ print $3 }' | tr '\n' ' '
}

@test "text has the time of day of lines that have it" {
    line='{"tsc":1,"us":1.000,"time":"2026-11-21T13:14:15.000025130Z","lcore":0,"tpoint":"A"}'
    equal "$(trace-join <<<"$line")" '  0            1.000 2026-11-21T13:14:15.000025130Z     A'
    without='{"tsc":1,"us":1.000,"lcore":0,"tpoint":"A"}'
    equal "$(printf '%s\n' "$without" "$line" "$without" | trace-join -s | tr -s ' ')" ' 0 1.000 - A - - -
 0 1.000 2026-11-21T13:14:15.000025130Z - A - - -
 0 1.000 - - A - - -'
    equal "$(trace-join -j <<<"$line")" "$line"
    equal "$(trace-join -s <<<"${line/T13/\\u001b}" | tr -s ' ')" ' 0 1.000 2026-11-21\x1b:14:15.000025130Z - A - - -'
    # the same, when another tool has written the line
    trace-join <<<"$line" >plain
    jq . <<<"$line" | tr -d '\n' | trace-join | cmp - plain
}

@test "-s names the queue in short lines, whose columns line up" {
    qpair 1 9 t295 1 nqn.2026-11.fleet:host-6 >lifetimes.txt
    echo "qpair: begin=1, ptr=0x564cd29b70c0, qid=2, hostnqn='nqn.2026-11.fleet:host-7'" >>lifetimes.txt
    echo "ctx: begin=1, ptr=0x20, note='mine'" >>lifetimes.txt
    cat >in <<'L'
{"tsc":1,"us":0.000,"lcore":0,"thread":"no column","tpoint":"REQ_NEW","poller":"t295","owner":"127.0.0.1:41670 nqn.x:s 127.0.0.1:4420 qid:1","object":{"id":"r3","value":"0x10"},"args":{"qd":1}}
{"tsc":2,"us":0.293,"lcore":0,"tpoint":"BDEV_IO_START","poller":"b260","owner":"bdev_Malloc0","size":8,"object":{"id":"i12","value":"0x11"},"related":"r3","args":{"type":1,"ctx":"0x20","what":"two words","none":"","one":"word"}}
{"tsc":2,"us":1.000,"lcore":0,"tpoint":"SOCK_REQ_QUEUE","size":24,"object":{"id":"n/a","value":"0x11"}}
{"tsc":3,"us":3.000,"lcore":0,"tpoint":"REQ_STATE","poller":"t01","object":{"value":"0x564cd29b70c0"},"args":{"qpair":"0x564cd29b70c0","state":3}}
{"tsc":4,"us":123456789.123,"lcore":12,"tpoint":"A_NAME_OF_23_CHARACTERS","poller":"t296","owner":"10.1.22.133:41670 nqn.x:s","size":1048576,"object":{"id":"r3","us":12345.678,"value":"0x10"},"torn":true}
{"tsc":5,"us":123456790,"lcore":0,"tpoint":"REQ_DONE","poller":"t295","owner":"127.0.0.1:41670 nqn.x:s 127.0.0.1:4420 qid:1","object":{"id":"r3","us":9.5,"value":"0x10"},"args":{"cid":7}}
{"tsc":9,"us":123456791.000,"lcore":0,"tpoint":"ÄÖÜ","poller":"t297","owner":"ä","args":{"a":18446744073709551615}}
L
    # a column grows with its values, and keeps its width
    cat >want <<'L'
  0       0.000 host-6/1     REQ_NEW                  r3                  -     - qd=1
  0       0.293 bdev_Malloc0 BDEV_IO_START            i12(r3)             -     8 type=1 ctx(ptr=0x20, note=mine) what="two words" none="" one=word
  0       1.000 -            SOCK_REQ_QUEUE           n/a                 -    24
  0       3.000 host-7/2     REQ_STATE                0x564cd29b70c0        -     - state=3
 12 123456789.123 10.1.22.133:41670 A_NAME_OF_23_CHARACTERS  r3             12345.678 1048576
  0 123456790.000 host-6/1          REQ_DONE                 r3                 9.500       - cid=7
  0 123456791.000 ä                 ÄÖÜ                      -                      -       - a=18446744073709551615
L
    trace-join -s -l lifetimes.txt in | diff want -
    sed 's/,"/ , "/g; s/":/" : /g' in | trace-join -s -l lifetimes.txt | diff want -
    # where no host is known: an address, the first word of an owner, or the qpair's address
    equal "$(trace-join -s in | awk '{ print $3 }' | tr '\n' ' ')" \
        '127.0.0.1:41670/1 bdev_Malloc0 - qpair=0x564cd29b70c0 10.1.22.133:41670 127.0.0.1:41670/1 ä '
}

@test "-s names a host by the end of its NQN that no other has" {
    {
        qpair 1 9 t1 0 nqn.2026-11.fleet:host-1
        qpair 1 9 t2 1 nqn.2026-11.fleet:host-2.example.com
        qpair 1 9 t3 1 nqn.2026-11.fleet:rack1:db
        qpair 1 9 t4 1 nqn.2026-11.fleet:rack2:db
        # one is the end of others
        qpair 1 9 t5 1 db
        qpair 1 9 t6 1 nqn.2026-11.other:
        qpair 1 9 t7 1 nqn.2026-11.bench.web
        qpair 1 9 t8 1 host.example.com
    } >lifetimes.txt
    equal "$(who 5 t1 t2 t3 t4 t5 t6 t7 t8)" \
        'host-1/0 host-2.example.com/1 rack1:db/1 rack2:db/1 db/1 nqn.2026-11.other:/1 web/1 host.example.com/1 '
    # of a UUID the first groups may do; UUIDs of one maker begin alike
    uuid=nqn.2014-08.org.nvmexpress:uuid:4c4c4544
    {
        qpair 1 9 t1 0 $uuid-0051-3510-8056-b4c04f4d3132
        qpair 1 9 t2 0 $uuid-0052-3510-8056-b4c04f4d3132
        qpair 1 9 t3 0 ${uuid/4c4c4544/0123abcd}-0052-3510-8056-b4c04f4d3132
        qpair 1 9 t4 0 ${uuid/4c4c4544/0123abce}
    } >lifetimes.txt
    equal "$(who 5 t1 t2 t3 t4)" '4c4c4544-0051/0 4c4c4544-0052/0 0123abcd/0 0123abce/0 '
    qpair 1 9 t1 0 nqn.2026-11.fleet:alone >lifetimes.txt
    equal "$(who 5 t1)" 'alone/0 '
}

@test "-s gives no two connections one name" {
    # hosts with two paths; the first that the trace shows has the shorter name
    {
        qpair 100 200 t3 1 nqn.x:a
        qpair 30 '' t5 1 nqn.x:b
        qpair 1 50 t1 1 nqn.x:a
        qpair 40 90 t2 1 nqn.x:a
        qpair 60 '' t4 1 nqn.x:b
        qpair 70 80 t6 2 nqn.x:b
    } >lifetimes.txt
    equal "$(who 45 t1 t2 t5; who 75 t2 t4 t5 t6; who 150 t3)" 'a/1 a/1(t2) b/1 a/1 b/1 b/1(t5) b/2 a/1 '
    # the subsystem, too, when a host uses several
    {
        qpair 1 9 t1 1 nqn.x:a nqn.x:one
        qpair 1 9 t2 1 nqn.x:a nqn.y:two
        qpair 1 9 t3 1 nqn.x:b nqn.y:two
    } >lifetimes.txt
    equal "$(who 5 t1 t2 t3)" 'a/1@one a/1@two b/1 '
    # names that imitate others
    {
        qpair 1 9 t1 1 'nqn.x:a b'
        qpair 1 9 t2 1 'nqn.x:a\\x20b'
        qpair 1 9 t3 1 'nqn.x:a/1'
        qpair 1 9 t4 1 'nqn.x:a\n'
    } >lifetimes.txt
    equal "$(who 5 t1 t2 t3 t4)" 'a\x20b/1 a\x5cx20b/1 a\x2f1/1 a\x0a/1 '
}

@test "-s tells a host's connections of one name apart by their owners" {
    line() { echo "{\"tsc\":$1,\"us\":0.000,\"lcore\":0,\"tpoint\":\"X\",\"poller\":\"$2\"}"; }
    # the same owner at the same address again, and another owner
    { qpair 1 9 t1 1 nqn.x:a; qpair 20 29 t1 1 nqn.x:a; qpair 30 '' t2 1 nqn.x:a; } >lifetimes.txt
    equal "$({ line 5 t1; line 25 t1; line 35 t2; } | trace-join -s -l lifetimes.txt | awk '{ print $3 }' | tr '\n' ' ')" 'a/1 a/1 a/1(t2) '
    # a name that imitates another
    qpair 1 9 t3 '1(t2)' nqn.x:a >>lifetimes.txt
    equal "$({ line 5 t1; line 5 t3; line 35 t2; } | trace-join -s -l lifetimes.txt | awk '{ print $3 }' | tr '\n' ' ')" 'a/1 a/1\x28t2\x29 a/1(t2) '
}

@test "-s names the connection of an owner once an entry has shown its host" {
    owner='"poller":"t1","owner":"10.0.0.1:5 nqn.x:s 10.0.0.2:4420 qid:1"'
    qpair 5 8 t1 1 nqn.x:a >lifetimes.txt
    for tsc in 1 6 9; do
        echo "{\"tsc\":$tsc,\"us\":0.000,\"lcore\":0,\"tpoint\":\"X\",$owner}"
    done >in
    # of another connection that has the number now
    echo "{\"tsc\":10,\"us\":0.000,\"lcore\":0,\"tpoint\":\"X\",${owner/:5/:6}}" >>in
    equal "$(trace-join -s -l lifetimes.txt in | awk '{ print $3 }' | tr '\n' ' ')" '10.0.0.1:5/1 a/1 a/1 10.0.0.1:6/1 '
    trace-join -s -l lifetimes.txt in >short
    trace-join -j -l lifetimes.txt in | trace-join -s | diff short -
}

@test "-s tells owners of like descriptions apart" {
    for owner in 't1 10.0.0.1:5' 't1 10.0.0.1:5 a qid:1' 't2 10.0.0.1:5 b qid:1' 't1 10.0.0.1:5 a qid:1' 'b3 disk' 'b4 disk' 'b5  ' 'b6 a\u0020b' 'b7 a\\b'; do
        echo "{\"tsc\":1,\"us\":0.000,\"lcore\":0,\"tpoint\":\"X\",\"poller\":\"${owner%% *}\",\"owner\":\"${owner#* }\"}"
    done >in
    # the description of t1 has grown; the same description is the same device, registered again
    equal "$(trace-join -s in | awk '{ print $3 }' | tr '\n' ' ')" '10.0.0.1:5 10.0.0.1:5/1 10.0.0.1:5/1(t2) 10.0.0.1:5/1 disk disk b5 a a\x5cb '
}

@test "-s shows what has no name as it is" {
    {
        echo "qpair: begin=1, end=5, owner=t288, ptr=0x10, thread=2"
        echo "qpair: begin=6, owner=t288, ptr=0x10, hostnqn=''"
        qpair 1 '' t289 1 nqn.x:a | sed 's/ qid=1,//'
    } >lifetimes.txt
    for t in 4 7; do
        echo "{\"tsc\":$t,\"us\":0.000,\"lcore\":0,\"tpoint\":\"X\",\"poller\":\"t288\",\"owner\":\"10.0.0.1:5 s\"}"
    done | trace-join -s -l lifetimes.txt | awk '{ $4 = $5 = $6 = $7 = ""; print }' >out
    diff out - <<'L'
0 0.000 10.0.0.1:5     qpair(owner=t288, ptr=0x10, thread=2)
0 0.000 10.0.0.1:5     qpair(owner=t288, ptr=0x10, hostnqn=)
L
    equal "$(who 1 t289)" 'a '
    # two kinds of objects that are a host's: the first stands for the line
    { qpair 1 '' t1 1 nqn.x:a; qpair 1 '' t2 2 nqn.x:b | sed 's/qpair/peer/'; } >lifetimes.txt
    equal "$(echo '{"tsc":5,"us":0,"lcore":0,"tpoint":"X","args":{"peer":"0x102","qpair":"0x101"}}' | trace-join -s -l lifetimes.txt | tr -s ' ')" \
        ' 0 0.000 b/2 X - - - qpair=a/1'
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
        echo "$output" >joined
        same_lines "sed -n '1p;3,9p' in" "sed -n '1p;3,9p' joined"
        equal "$(wc -l <<<"$output")" 10
        equal "$(grep -c 'host' <<<"$output")" 2
        equal "$(cut -d: -f3 <<<"$stderr" | tr '\n' ' ')" '1 3 4 5 6 7 8 9 '
        says 'trace-join: in:3: not a trace line, passed on: tsc, us, lcore or tpoint is missing'
    done
}

@test "what is no trace line is passed on to a terminal without control characters, and as UTF-8 with -j" {
    printf 'a\033[31m\t\302\233\377\\ä\n' >in
    status_is 1 trace-join in
    equal "$output" 'a\x1b[31m\x09\xc2\x9b\xff\ä'
    status_is 1 sh 'trace-join -j in >out'
    sed $'s/\xff/�/' in | cmp out -
}

@test "the fast reader and the full one agree on what is a trace line" {
    local good='{"tsc":5,"us":0.000,"lcore":0,"thread":"t","tpoint":"X","poller":"t01","owner":"o","size":8,"object":{"id":"r1","us":0.001,"value":"0x10"},"related":"i1","args":{"qpair":"0x10","n":1,"s":"x","o":{"ptr":"0x1","n":2}},"torn":true,"lost":true}'
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
    trace-join -l lifetimes.txt full 2>/dev/null | grep -v '^{' >full.txt || true
    diff fast.txt full.txt
    same_lines "sed 's/.*and \([0-9]*\) more.*/\1/;t;d' fast.err" "sed 's/.*and \([0-9]*\) more.*/\1/;t;d' full.err"
    [ "$(wc -l <fast.txt)" -gt 100 ]
}

@test "CRLF, a missing last newline, NUL bytes and a line of 10 MB are handled" {
    lifetime 1 9 16 a | sed 's/$/\r/' >lifetimes.txt
    line 5 16 | sed 's/$/\r/' | head -c -1 >in
    status_is 0 trace-join -l lifetimes.txt in
    equal "${output##* }" '1'
    equal "$(grep -c 'host=a)' <<<"$output")" 1
    printf '{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X\0"}\n' >in
    fails 'trace-join: in:1: ' sh 'trace-join in | cmp - in'
    printf '{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"s":"%010000000d"}}\n' 7 >in
    status_is 0 sh 'trace-join -j in | cmp - in'
    status_is 0 sh 'trace-join in | wc -c'
    [ "$output" -gt 10000000 ]
}

# Prints a line N times.
repeat() { # LINE N
    LINE=$1 awk -v n="$2" 'BEGIN { for (; n > 0; n--) print ENVIRON["LINE"] }'
}

@test "a long input through a pipe gives what the file gives, whatever the length of its lines" {
    {
        repeat "$(line 5 16)" 8000 | sed '300~1000s/"n":1/"n":1,"s":"'"$(printf '%0100000d' 0)"'"/'
        printf '{"tsc":5,"us":0.000,"lcore":0,"tpoint":"X","args":{"s":"%010000000d"}}\n' 7
        repeat "$(line 6 16)" 20000
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
    fails 'trace-join: zeros:1: a line of more than 64 MiB' trace-join zeros
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

@test "standard input can be the lifetimes" {
    line 5 16 >in
    equal "$(lifetime 1 9 16 a | trace-join -j -l - in | jq -r .args.qpair.host)" a
}

@test "lines come through as they are written" {
    mkfifo in
    trace-join in >out &
    exec 7>in
    line 5 16 >&7
    # while the input is still open
    wait_for test -s out
    exec 7>&-
    wait
}

# Starts trace-join -F with these options, on trace lines that come by descriptor 7; as a lifetimes file, the fifo
# `pipe` gets what is written to descriptor 8.
start_follow() {
    mkfifo in pipe
    trace-join -F "${FORMAT:--j}" "$@" in >out 2>log &
    joiner=$!
    # opens as soon as trace-join does, which has nothing to wait for then
    exec 8<>pipe 7>in
}

# Sends lines at these ticks and waits until the last of them is joined.
send() { # TSC...
    local tsc n=0
    [ ! -e out ] || n=$(wc -l <out)
    for tsc in "$@"; do line "$tsc" 16; done >&7
    # more often than wait_for does, as there are many
    for _ in $(seq 1500); do
        [ "$(wc -l <out)" -lt $((n + $#)) ] || return 0
        sleep 0.02
    done
    cat out log
    return 1
}

# Sends lines at these ticks until the host of one is this: a file is looked at again after a while.
until_named() { # TSC HOST
    for _ in $(seq 200); do
        send "$1"
        [ "$(named | tail -n 1)" != "$2" ] || return 0
    done
    echo "$2 has not come"
    cat out log
    return 1
}

# The host of each line that has been joined so far.
named() {
    jq -r '.args.qpair | if type == "object" then .host else "-" end' out
}

# Ends the trace lines, and checks the exit status of trace-join.
ends_with() { # STATUS
    exec 7>&-
    ends_itself "$1" "$joiner"
}

@test "-F takes in the lifetimes of a pipe as they come" {
    start_follow -l pipe
    send 5
    lifetime 1 '' 16 a >&8
    send 5
    lifetime 1 9 16 b >&8
    send 9 10
    # half a line does not count yet
    printf 'qpair: begin=10, ptr=0x10, ' >&8
    send 10
    printf "host='c'\n" >&8
    send 10 9
    ends_with 0
    equal "$(named | tr '\n' ' ')" '- a b - - c b '
    equal "$(cat log)" ''
}

@test "-F gives -s names that come later, and longer ones where they are needed" {
    FORMAT=-s start_follow -l pipe
    echo "qpair: begin=1, end=10, ptr=0x10, qid=1, hostnqn='nqn.x:rack1:a'" >&8
    send 5
    echo "qpair: begin=11, ptr=0x10" >&8
    send 12
    echo "qpair: begin=11, ptr=0x10, qid=2, hostnqn='nqn.x:rack2:a'" >&8
    send 12 5
    # an end changes no name
    echo "qpair: begin=11, end=20, ptr=0x10, qid=2, hostnqn='nqn.x:rack2:a'" >&8
    send 12 21
    # it connects again
    echo "qpair: begin=30, ptr=0x10, qid=2, hostnqn='nqn.x:rack2:a'" >&8
    send 30
    ends_with 0
    equal "$(awk '{ print $3 }' out | tr '\n' ' ')" 'a/1 qpair=0x10 rack2:a/2 rack1:a/1 rack2:a/2 qpair=0x10 rack2:a/2 '
    equal "$(cat log)" ''
}

@test "-F takes in what a file has, and what is added to it" {
    lifetime 1 '' 16 a >growing
    lifetime 1 '' 17 x >other
    start_follow -l growing -l other
    send 5
    equal "$(named)" a
    lifetime 1 6 16 b >>growing
    until_named 5 b
    printf 'qpair: begin=7, ptr=0x10, ' >>growing
    printf "host='c'\n" >>growing
    until_named 7 c
    lifetime 8 8 16 never >>other
    lifetime 7 7 16 d >>growing
    until_named 8 never
    ends_with 0
    equal "$(cat log)" ''
}

@test "-F wakes for lifetimes while no trace lines come" {
    start_follow -l pipe
    send 5
    # far more than a pipe holds: it is read, or this would block
    lifetimes 5000 >&8
    lifetime 6000 '' 16 last >&8
    send 4321 6001
    ends_with 0
    equal "$(named | tr '\n' ' ')" '- h4321 last '
}

@test "-F goes on when a lifetimes pipe ends, and without its last newline" {
    lifetime 1 '' 16 a | head -c -1 >file
    start_follow -l <(cat file) -l pipe
    until_named 5 a
    lifetime 9 '' 17 b >&8
    send 5
    ends_with 0
    equal "$(cat log)" ''
}

@test "-F ends with the trace, whatever the lifetimes do" {
    start_follow -l pipe
    send 1 2 3
    ends_with 0
    # nobody writes to this one, and the other has nothing
    line 5 16 >file
    status_is 0 timeout 60 trace-join -F -j -l pipe -l /dev/null file
    equal "$output" "$(line 5 16)"
    equal "$(lifetime 1 '' 16 a | trace-join -F -j -l - file | wc -l)" 1
}

@test "-F reports malformed lifetime lines when they come" {
    start_follow -l pipe
    echo 'qpair: begin=x, ptr=0x10' >&8
    lifetime 1 '' 16 a >&8
    send 5
    grep -q "trace-join: pipe:1: begin and end are decimal numbers" log
    echo 'qpair: begin=1' >&8
    send 5
    ends_with 1
    grep -q "trace-join: pipe:3: begin or ptr is missing" log
    equal "$(named | tr '\n' ' ')" 'a a '
}

@test "-F says when a growing file shrinks or is replaced" {
    lifetime 1 '' 16 a | tee one >two
    start_follow -l one -l two
    send 5
    : >one
    wait_for_text 'trace-join: one: was truncated or replaced' log
    mv two three
    lifetime 2 '' 16 b >two
    wait_for_text 'trace-join: two: was truncated or replaced' log
    send 5
    ends_with 1
    equal "$(named | tr '\n' ' ')" 'a a '
    equal "$(wc -l <log)" 2
}

@test "-F ends when nobody reads its lines any more, also while there are none" {
    mkfifo in pipe
    exec 7<>in 8<>pipe
    line 5 16 >&7
    succeeds sh "timeout 60 trace-join -F -l pipe in | head -n 1; [ \${PIPESTATUS[0]} != 124 ]"
    equal "$(wc -l <<<"$output")" 1
}

@test "-F gives in the end what the saved lifetimes give" {
    # the state of 40 objects at 3 addresses, written down again and again in any order
    awk 'BEGIN {
        srand(3)
        for (i = 0; i < 3000; i++) {
            o = int(rand() * 40); begin = 10 * int(o / 3); end = rand() < 0.4 ? "" : ", end=" begin + int(rand() * 30)
            printf "qpair: begin=%d%s%s, ptr=0x%x, host=%d\n", begin, end, rand() < 0.5 ? "" : ", owner=t" int(rand() * 4), 16 + o % 3, i
        }
    }' >lifetimes.txt
    for t in $(seq 0 3 170); do
        for q in 16 17 18; do line "$t" $q; done
        echo "{\"tsc\":$t,\"us\":0,\"lcore\":0,\"tpoint\":\"X\",\"poller\":\"t$((t % 4))\"}"
    done >lines
    : >growing
    mkfifo in
    trace-join -F -j -l growing in >out &
    exec 7>in
    for i in $(seq 1 100 3000); do
        sed -n "$i,$((i + 99))p" lifetimes.txt >>growing
        cat lines >&7
    done
    exec 7>&-
    wait $!
    same_lines 'trace-join -j -l lifetimes.txt lines' "tail -n $(wc -l <lines) out"
    [ "$(sort -u out | wc -l)" -gt 2000 ]
}

