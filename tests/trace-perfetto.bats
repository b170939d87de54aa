#!/usr/bin/env bats
# bats file_tags=sanitizers

load helpers

# The tests' own reader, whose numbers jq prints in their shortest form.
draw() { # FILE [ARGUMENT]...
    trace-perfetto -q "${@:2}" "$1" >drawn.pftrace
    perfetto <drawn.pftrace >drawn
}

# Objects of a request with a split I/O, and entries about none; two lcores, a request that is in flight at the end,
# and an object whose creation is not in the trace.
requests() {
    echo '{"tsc":7,"us":0.500,"lcore":0,"thread":"app","tpoint":"READ","poller":"t02","size":8}'
    entry 1.000 TCP_REQ_NEW r0 - 0x10 '"args":{"qpair":{"ptr":"0x1","qid":1,"subnqn":"s","hostnqn":"h \"a\""},"qd":1}' | sed 's/"object"/"poller":"t02",&/'
    entry 1.100 BDEV_IO_START i0 - 0x20 '"related":"r0"' '"args":{"type":2,"ctx":"0x10","offset":98264}' | sed 's/"object"/"owner":"bdev_Null0","size":8,&/'
    entry 1.200 TCP_REQ_EXECUTING r0 0.2 0x10 '"args":{"qpair":{"ptr":"0x1","qid":1,"subnqn":"s","hostnqn":"h \"a\""}}' | sed 's/"lcore":0/"lcore":1/'
    entry 1.250 TCP_REQ_NEW r1 - 0x30
    entry 1.300 DONE n/a - 0x40
    entry 1.400 BDEV_IO_DONE i0 0.3 0x20 '"related":"r0"' '"args":{"ctx":"0x10"}'
    entry 1.500 TCP_REQ_EXECUTED r0 0.5 0x10
    entry 1.700 TCP_REQ_COMPLETED r0 0.7 0x10
    entry 1.800 TCP_REQ_EXECUTING r1 0.55 0x30
}

# A slice of the drawn ones by the id of its object.
slice() { # ID FILTER
    jq -c --arg id "$1" "select(.args.id == \$id and .instant == null) | $2" drawn
}

# What trace-spans says of each span, and what was drawn: its id, address, start and life, and those of its states.
spans_of() { # FILE [ARGUMENT]...
    trace-spans -q -a -j "$1" | jq -c '
        def ns: . * 1000 | round;
        # the picture has nothing of the time before the first entry
        .life -= ([.states[] | select(.[0] == null)[1]] | add // 0) | .states |= map(select(.[0])) |
        . as $s | [.id, .value, (.us | ns), (if .open then null else .life | ns end), (.states | to_entries | map(
            [.value[0], ($s.us | ns) + ([$s.states[:.key][][1] | ns] | add // 0),
             if $s.open and .key + 1 == ($s.states | length) then null else .value[1] | ns end]))]' | sort >spans
    draw "$@"
    jq -c 'select(.slices) | [.args.id, .args.value, .ts, .dur,
        (.slices | map([.name, .ts, if .instant then 0 else .dur end]))]' drawn | sort >slices
    [ -s spans ]
    diff spans slices
}

@test "a request is a slice that says what it is, with one for each state" {
    requests >in
    draw in
    equal "$(slice r0 'del(.slices, .flows, .row)')" '{"track":["SPDK","h \"a\"","h\\x20\"a\"/1","r TCP"],"name":"write 8 @98264 Null0","ts":1000,"args":{"id":"r0","value":"0x10","lcore":0,"tsc":1,"poller":"t02","io":{"type":"write","blocks":8,"lba":98264,"bdev":"Null0","qpair_qd":1},"args":{"qpair":{"ptr":"0x1","qid":1,"subnqn":"s","hostnqn":"h \"a\""},"qd":1}},"ends":[],"dur":700}'
    # of a state what its span does not have
    equal "$(slice r0 '.slices[] | [.name, .ts, .dur, .instant, .args]')" '["TCP_REQ_NEW",1000,200,null,{}]
["TCP_REQ_EXECUTING",1200,300,null,{"lcore":1}]
["TCP_REQ_EXECUTED",1500,200,null,{}]
["TCP_REQ_COMPLETED",1700,null,true,{}]'
    equal "$(slice i0 '[.track[2:], .name, .ts, .dur, .args]')" '[["h\\x20\"a\"/1","i"],"write 8 @98264 Null0",1100,300,{"id":"i0","value":"0x20","lcore":0,"related":"r0","owner":"bdev_Null0","size":8,"args":{"type":2,"ctx":"0x10","offset":98264}}]'
}

@test "a state has the arguments that its span does not have, whatever their order" {
    local many
    many=$(seq -s ' ' 0 69 | sed -E 's/[0-9]+/"a&":&/g; s/ /,/g')
    {
        entry 1.000 NEW r0 - 0x10 '"args":{"a":1,"b":2,"q":{"x":5},"x":6}'
        entry 2.000 SAME r0 1.000 0x10 '"args":{"b":2,"a":1}'
        entry 3.000 OTHERS r0 2.000 0x10 '"args":{"b":22,"c":3,"a":1}'
        # the member of an object, and one that is the end of another one
        entry 4.000 INNER r0 3.000 0x10 '"args":{"x":5,"a":1}'
        entry 5.000 NEW r1 - 0x20 '"args":{"aa":11}'
        entry 6.000 PART r1 1.000 0x20 '"args":{"a":1}'
        entry 7.000 NEW r2 - 0x30 "\"args\":{$many}"
        # which are the same is known of the first 64
        entry 8.000 MANY r2 1.000 0x30 "\"args\":{$many}"
    } >in
    draw in
    equal "$(jq -c 'select(.slices) | .slices[1:][] | [.name, .args]' drawn | tr '\n' ' ')" \
        '["SAME",{}] ["OTHERS",{"args":{"b":22,"c":3}}] ["INNER",{"args":{"x":5}}] ["PART",{"args":{"a":1}}] ["MANY",{"args":{"a64":64,"a65":65,"a66":66,"a67":67,"a68":68,"a69":69}}] '
}

@test "types that share a letter have rows of their own" {
    {
        entry 1.000 ISCSI_READ_PDU p0 - 0x10
        entry 1.500 NVME_TCP_SUBMIT p0 - 0x20 '"args":{"opc":1}' | sed 's/"object"/"poller":"q01",&/'
        entry 2.000 ISCSI_PDU_COMPLETED p0 1 0x10
        entry 3.000 NVME_TCP_COMPLETE p0 1.5 0x20
    } >in
    draw in
    equal "$(jq -c 'select(.slices) | [.track[-1], .name, .ts, .dur]' drawn | tr '\n' ' ')" '["p ISCSI","p0",1000,1000] ["p NVME_TCP","write",1500,1500] '
}

@test "an object in flight has no end, and one whose creation is missing says so" {
    requests >in
    spans_of in
    equal "$(slice r1 '[.track, .name, .dur, .args.open, (.slices[-1] | [.name, .dur, .instant])]')" '[["SPDK","objects","r TCP"],"r1",null,true,["TCP_REQ_EXECUTING",null,null]]'
    sed 1,2d in >uncreated
    spans_of uncreated
    equal "$(slice r0 '[.args.cut, .ts]')" '[true,1200]'
    sed '$s/}$/,"torn":true}/' in >torn
    spans_of torn
    equal "$(slice r1 .args.torn)" true
}

@test "an arrow leads from a command to the request that it is, which is in the row of its connection" {
    awk -v n=20 -f "$ROOT/tests/crossing.awk" >lines
    draw lines
    equal "$(slice r7 .ends)" "$(slice p7 .flows)"
    equal "$(slice r7 '.track[2]')" '"10.0.0.2:4000/1"'
}

@test "an arrow leads from each object to those that it caused" {
    requests >in
    draw in
    equal "$(slice r0 '.flows | length')" 1
    equal "$(slice r0 .flows)" "$(slice i0 .ends)"
    mktrace "$DATA/sample.jsonl" | trace-dump -q >sample
    draw sample
    trace-spans -q -a -j sample | jq -r 'select(.children) | .id as $id | .children[] | "\($id) \(.)"' | sort >want
    [ -s want ]
    jq -r -s 'map(select(.slices)) | (map(.args.id as $id | .flows[] | {key: "\(.)", value: $id}) | from_entries) as $from |
        .[] | .args.id as $id | .ends[] | "\($from["\(.)"]) \($id)"' drawn | sort | diff want -
}

@test "entries that are no state of an object are on the track of their lcore" {
    requests >in
    draw in
    equal "$(jq -c 'select(.instant) | del(.row)' drawn)" '{"track":["SPDK","lcore 0 app"],"name":"READ","ts":500,"args":{"poller":"t02","size":8},"flows":[],"ends":[],"instant":true}'
    # with -e the others as well
    draw in -e
    equal "$(jq -c 'select(.instant) | [.track[1], .name, .args.id]' drawn | tr '\n' ' ')" '["lcore 0 app","READ",null] ["lcore 0 app","TCP_REQ_NEW","r0"] ["lcore 0 app","BDEV_IO_START","i0"] ["lcore 1","TCP_REQ_EXECUTING","r0"] ["lcore 0 app","TCP_REQ_NEW","r1"] ["lcore 0 app","DONE","n/a"] ["lcore 0 app","BDEV_IO_DONE","i0"] ["lcore 0 app","TCP_REQ_EXECUTED","r0"] ["lcore 0 app","TCP_REQ_COMPLETED","r0"] ["lcore 0 app","TCP_REQ_EXECUTING","r1"] '
    # the first one of each object has an arrow to the object
    jq -c 'select(.instant and .args.id) | .args.id as $id | .flows[] | [$id, .]' drawn | sort >arrows
    equal "$(wc -l <arrows)" 4
    jq -c 'select(.slices) | .args.id as $id | .flows[] | select(. > 9e18) | [$id, .]' drawn | sort | diff arrows -
    # jq rounds their numbers
    equal "$(grep -o '\<9223372[0-9]*' drawn | sort | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" '2 2 2 2 '
    # one that is too late for its object is not lost
    { cat in; entry 0.900 TCP_REQ_LATE r0 0.1 0x10; } >late
    status_is 0 trace-perfetto late
    says 'late: 1 entry is on the track of its lcore only: it is earlier than the previous one of its object'
    draw late
    equal "$(jq -c 'select(.name == "TCP_REQ_LATE") | [.track[1], .ts, .args.id]' drawn)" '["lcore 0 app",900,"r0"]'
}

# The values of a counter in the order of time.
values() { # NAME FILTER
    jq -c -s --arg name "$1" "map(select(has(\"value\") and .track[-1] == \$name)) | sort_by(.ts)[] | $2" drawn | tr '\n' ' '
}

@test "counters show the requests in flight of each connection, and of all" {
    requests >in
    draw in
    equal "$(values 'requests in flight' '[.track[1:-1], .ts, .value]')" '[[],1000,1] [["h \"a\"","h\\x20\"a\"/1"],1000,1] [[],1250,2] [["objects"],1250,1] [[],1700,1] [["h \"a\"","h\\x20\"a\"/1"],1700,0] '
    # a life that another one ends at its address is not in flight any more; its state is a final one from then on
    { entry 1.000 NEW r0 - 0x10; entry 2.000 NEW r1 - 0x10; entry 3.000 NEW r2 - 0x10; } >in
    draw in
    equal "$(values 'requests in flight' 'select(.track[1] == "requests in flight") | [.ts, .value]')" '[1000,1] [2000,0] '
}

@test "at the end as many requests are in flight as trace-spans says" {
    for name in sample sample-g3; do
        mktrace "$DATA/$name.jsonl" >trace
        trace-dump -q trace >whole
        # cut off, more are in flight
        for lines in 100 150 10000; do
            head -n $lines whole >in
            draw in
            values 'requests in flight' 'select(.track[1] == "requests in flight") | .value' >all
            equal "$(awk '{ print $NF }' all)" "$(trace-spans -q -a -j in | jq -s 'map(select(.open and (.parent | not))) | length')"
        done
    done
}

@test "a request that goes on after its final state is in flight again" {
    {
        entry 1.000 TCP_REQ_NEW r0 - 0x10
        entry 2.000 TCP_REQ_COMPLETED r0 1.000 0x10
        entry 3.000 TCP_REQ_NEW r1 - 0x20
        # it has ended as completed: so the state stays a final one
        entry 4.000 TCP_REQ_NEW r2 - 0x10
        entry 5.000 TCP_REQ_COMPLETED r2 1.000 0x10
        entry 6.000 TCP_REQ_EXECUTING r2 2.000 0x10
        entry 7.000 TCP_REQ_COMPLETED r2 3.000 0x10
        entry 8.000 ALSO_DONE r2 4.000 0x10
    } >in
    draw in
    equal "$(values 'requests in flight' 'select(.track[1] == "requests in flight") | [.ts, .value]')" '[1000,1] [2000,0] [3000,1] [4000,2] [5000,1] [6000,2] [7000,1] '
}

@test "a counter that is younger than a row is drawn as well" {
    {
        # its request is not in the trace, so it is none that is counted
        entry 1.000 BDEV_IO_START i0 - 0x20 '"related":"r0"' '"args":{"ctx":"0x10"}'
        entry 2.000 BDEV_IO_DONE i0 1.000 0x20
        entry 20000.000 BDEV_IO_START i1 - 0x20
        entry 20001.000 BDEV_IO_DONE i1 1.000 0x20
        # the row has started again, with the counter
        entry 11000000.000 BDEV_IO_START i2 - 0x20
    } >in
    draw in
    equal "$(jq -s 'map(select(.slices) | .row) | unique | length' drawn)" 1
    equal "$(values 'requests in flight' 'select(.track[1] != "requests in flight") | [.track[1], .ts, .value]')" '["objects",20000000,1] ["objects",20001000,0] ["objects",11000000000,1] '
}

@test "counters show what waits for a buffer" {
    {
        entry 1.000 TCP_REQ_NEW r0 - 0x10
        entry 2.000 TCP_REQ_NEED_BUFFER r0 1.000 0x10
        entry 3.000 RDMA_REQ_NEED_BUFFER r1 - 0x20 '"args":{"qpair":"0x5"}'
        entry 4.000 TCP_REQ_HAVE_BUFFER r0 3.000 0x10
        # r1 is never seen again
        entry 5.000 RDMA_REQ_NEW r2 - 0x20 '"args":{"qpair":"0x5"}'
    } >in
    draw in
    equal "$(jq -c 'select(.track[-1] == "waiting for a buffer") | [.track[1:-1], .ts, .value]' drawn | tr '\n' ' ')" '[[],2000,1] [[],3000,2] [[],4000,1] [[],5000,0] '
}

# Requests of two hosts and one of a connection that is not known, which get buffers and return them.
holders() {
    host() { # US TPOINT NUMBER HOST [AGE]
        entry "$1" "$2" "r$3" "${5:--}" "0x${3}0" '"args":{"qpair":{"ptr":"0x'"$4"'","qid":1,"subnqn":"s","hostnqn":"h'"$4"'"}}'
    }
    host 1.000 TCP_REQ_NEED_BUFFER 1 5
    host 3.000 TCP_REQ_HAVE_BUFFER 1 5 2
    host 4.000 TCP_REQ_NEED_BUFFER 2 5
    host 4.100 TCP_REQ_HAVE_BUFFER 2 5 0.1
    host 6.000 RDMA_REQ_NEED_BUFFER 3 6
    host 8.000 RDMA_REQ_EXECUTING 3 6 2
    host 10.000 TCP_REQ_COMPLETED 1 5 9
    # it has none
    host 11.000 TCP_REQ_NEW 4 6
    host 12.000 TCP_REQ_COMPLETED 4 6 1
    # the end of another one is never seen
    host 14.000 TCP_REQ_NEW 5 5 | sed 's/"0x50"/"0x20"/'
    host 16.000 RDMA_REQ_COMPLETED 3 6 10
    entry 18.000 TCP_REQ_NEED_BUFFER r6 - 0x60
    entry 20.000 TCP_REQ_HAVE_BUFFER r6 2 0x60
}

@test "counters show which host holds the buffers" {
    holders >in
    draw in
    equal "$(values 'holding a buffer' '[.track[1:-1], .ts, .value]')" \
        '[["h5"],3000,1] [["h5"],4100,2] [["h6"],8000,1] [["h5"],10000,1] [["h5"],14000,0] [["h6"],16000,0] [["objects"],20000,1] '
}

@test "what changes within a microsecond is not drawn of a counter of buffers, and what lasts is" {
    {
        # the end of the first wait comes in time, that of the second too late
        entry 1.000 TCP_REQ_NEED_BUFFER r0 - 0x10
        entry 1.999 TCP_REQ_HAVE_BUFFER r0 0.999 0x10
        entry 5.000 TCP_REQ_NEED_BUFFER r1 - 0x20
        entry 6.000 TCP_REQ_HAVE_BUFFER r1 1.000 0x20
        # many short ones, of which one is waiting at any time
        for i in 2 3 4 5; do
            entry "$((8 + i)).000" TCP_REQ_NEED_BUFFER "r$i" - "0x${i}00"
            entry "$((9 + i)).100" TCP_REQ_HAVE_BUFFER "r$i" 1.100 "0x${i}00"
        done
    } | sort -s -t : -k 3 -g >in
    draw in
    equal "$(jq -c 'select(.track[-1] == "waiting for a buffer") | [.ts, .value]' drawn | tr '\n' ' ')" '[5000,1] [6000,0] [10000,1] [14100,0] '
}

@test "a counter shows how many requests ended in each millisecond" {
    # 5 in the second one, 2 in the third one, of which the first goes on, and one in the ninth
    {
        for i in 1 2 3 4 5 6 7 8; do
            entry "$((10 * i)).000" NEW "r$i" - "0x${i}0"
        done
        for i in 1 2 3 4 5; do
            entry "1$((100 * i)).000" COMPLETED "r$i" 1.000 "0x${i}0"
        done
        entry 2000.000 COMPLETED r6 1.000 0x60
        # a life that ended as completed: so the state stays a final one when r6 leaves it
        entry 2100.000 NEW r9 - 0x10
        entry 2500.000 AGAIN r6 1.000 0x60
        entry 2999.999 COMPLETED r7 1.000 0x70
        entry 8000.000 COMPLETED r6 1.000 0x60
        entry 8500.000 COMPLETED r8 1.000 0x80
    } >in
    draw in
    equal "$(jq -c 'select(.track[1] == "IOPS") | [.ts, .value]' drawn | tr '\n' ' ')" '[1000000,5000] [2000000,2000] [3000000,0] [8000000,1000] [9000000,0] '
}

@test "a counter shows how many blocks requests moved in each millisecond" {
    io() { # US NUMBER BLOCKS
        entry "$1.000" TCP_REQ_NEW "r$2" - "0x${2}0"
        entry "$1.100" BDEV_IO_START "i$2" - "0x${2}1" '"related":"r'"$2"'"' '"args":{"type":1,"ctx":"0x'"$2"'0"}' | sed "s/\"object\"/\"size\":$3,&/"
        entry "$1.200" BDEV_IO_DONE "i$2" 0.100 "0x${2}1"
        entry "$1.300" TCP_REQ_COMPLETED "r$2" 0.300 "0x${2}0"
    }
    { io 10 1 8; io 20 2 56; io 1000 3 1; entry 2000.000 TCP_REQ_NEW r4 - 0x40; entry 2001.000 TCP_REQ_COMPLETED r4 1.000 0x40; } >in
    draw in
    # the last one moved none
    equal "$(jq -c 'select(.track[1] == "blocks per second") | [.ts, .value]' drawn | tr '\n' ' ')" '[0,64000] [1000000,1000] [2000000,0] '
    equal "$(jq -c 'select(.track[1] == "IOPS") | [.ts, .value]' drawn | tr '\n' ' ')" '[0,2000] [1000000,1000] [2000000,1000] [3000000,0] '
}

@test "counters show the queue depths that tracepoints have" {
    {
        entry 1.000 TCP_REQ_NEW r0 - 0x10 '"args":{"qd":5}' | sed 's/"object"/"poller":"t02","owner":"1.2.3.4:5 s",&/'
        entry 2.000 BDEV_IO_START i0 - 0x20 '"related":"r0"' '"args":{"ctx":"0x10","qd":1}' | sed 's/"object"/"poller":"b01","owner":"bdev_Null0",&/; s/"lcore":0/"lcore":3/'
        entry 3.000 BDEV_IO_START i1 - 0x30 '"related":"r0"' '"args":{"ctx":"0x10","qd":2}' | sed 's/"object"/"poller":"b01","owner":"bdev_Null0",&/; s/"lcore":0/"lcore":3/'
        # the same depth once more, another channel, and one that is not known
        entry 4.000 BDEV_IO_START i2 - 0x40 '"related":"r0"' '"args":{"ctx":"0x10","qd":2}' | sed 's/"object"/"poller":"b01","owner":"bdev_Null0",&/; s/"lcore":0/"lcore":3/'
        entry 5.000 NVME_TCP_SUBMIT p0 - 0x50 '"related":"i0"' '"args":{"ctx":"0x20","qd":0}' | sed 's/"object"/"poller":"q07",&/'
        entry 6.000 NVME_TCP_COMPLETE n/a - 0x60 '"args":{"qd":9}' | sed 's/"object"/"poller":"q07",&/'
        entry 7.000 TCP_REQ_COMPLETED r0 6.000 0x10 '"args":{"qd":4}' | sed 's/"object"/"poller":"t02","owner":"1.2.3.4:5 s",&/'
    } >in
    draw in
    equal "$(jq -c 'select(.value) | select(.track[-1] | startswith("queue depth")) | [.track[1:], .ts, .value]' drawn | tr '\n' ' ')" \
        '[["1.2.3.4","1.2.3.4:5","queue depth"],1000,5] [["lcore 3","queue depth bdev_Null0 b01"],2000,1] [["lcore 3","queue depth bdev_Null0 b01"],3000,2] [["lcore 0","queue depth q07"],5000,0] [["1.2.3.4","1.2.3.4:5","queue depth"],7000,4] '
}

@test "slices of a row do not overlap, and there are no more rows than needed" {
    # at most three at a time, in any order of their ends
    for i in $(seq 0 19); do
        entry $((10 * i)).000 NEW "r$i" - "0x$((i + 1))0"
        entry $((10 * i + 21 + i * 7 % 8)).000 COMPLETED "r$i" 1.000 "0x$((i + 1))0"
    done | awk '{ match($0, /"us":[0-9]+/); print substr($0, RSTART + 5, RLENGTH - 5) "\t" $0 }' | sort -s -n -k 1,1 | cut -f 2- >in
    spans_of in
    # the reader fails where slices of a row overlap
    equal "$(jq 'select(.slices) | .row' drawn | sort -u | wc -l)" 3
    # those of the sample: as many as are at work at a time
    mktrace -R 20 "$DATA/sample.jsonl" | trace-dump -q >in
    draw in
    jq -c -s 'map(select(.slices)) | group_by(.track)[] | [(map(.row) | unique | length), . as $all |
        (map(.ts as $ts | $all | map(select(.ts <= $ts and ((.dur // infinite) + .ts > $ts or (.ts == $ts)))) | length) | max)]' drawn >rows
    [ "$(jq -s 'length' rows)" -gt 3 ]
    jq -e '.[0] <= .[1]' rows
}

@test "every span of trace-spans is there, with its times" {
    for name in sample sample-g3 modern common; do
        for layout in G4 G6; do
            mktrace -l $layout "$DATA/$name.jsonl" >trace 2>err || continue
            trace-dump -q trace >in
            spans_of in
        done
    done
    mktrace -R 40 "$DATA/sample.jsonl" | trace-dump -q >in
    spans_of in
    spans_of in -e
    # all spans in flight, and lines in no order
    mktrace "$DATA/sample.jsonl" | trace-dump -q | head -n 60 >in
    spans_of in
    mktrace -R 3 "$DATA/sample.jsonl" | trace-dump -q | sort -t '"' -k 9 >unordered
    trace-perfetto -q unordered | perfetto >drawn
}

@test "merged lines have a process for each source" {
    # ticks are nanoseconds
    requests | sed -E 's/"tsc":[0-9]+,"us":([0-9]+)\.([0-9]+)/"tsc":\1\2,"us":\1.\2/; s/"tsc":0/"tsc":/' >a
    cp a b
    trace-merge -q -r 1000000000 a b >in
    spans_of in
    equal "$(jq -r 'select(.slices) | "\(.track[0]) \(.args.id)"' drawn | sort | tr '\n' ' ')" 'a i0 a n/a a r0 a r1 b i0 b n/a b r0 b r1 '
    equal "$(jq -c 'select(.instant) | .track' drawn | tr '\n' ' ')" '["a","lcore 0 app"] ["b","lcore 0 app"] '
}

@test "times off CPU and interrupts are slices of their lcore" {
    cat >held <<'L'
{"tsc":10000,"us":10.000,"lcore":3,"tpoint":"OFF_CPU","args":{"comm":"reactor_0","tid":12,"pid":12,"begin":6000,"duration":4.000,"why":"preempted","by":"stress-ng","by_pid":77,"queued":4.000}}
{"tsc":11000,"us":11.000,"lcore":3,"tpoint":"IRQ","args":{"comm":"reactor_0","tid":12,"pid":12,"begin":8500,"duration":2.500,"kind":"irq","name":"nvme0q1"}}
{"tsc":20000,"us":20.000,"lcore":3,"tpoint":"OFF_CPU","args":{"comm":"app","tid":13,"pid":12,"begin":15000,"duration":5.000,"why":"blocked","syscall":"epoll_wait","queued":0.000}}
{"tsc":21000,"us":21.000,"lcore":0,"tpoint":"OFF_CPU","args":{"comm":"app","tid":14,"pid":12,"begin":1,"duration":50.000,"why":"yielded"}}
{"tsc":21500,"us":21.500,"lcore":1,"tpoint":"OFF_CPU","args":{"comm":"reactor_0","tid":99,"pid":99,"begin":21000,"duration":0.500,"why":"yielded"}}
{"tsc":22000,"us":22.000,"lcore":0,"tpoint":"OFF_CPU","args":{"why":"yielded"}}
L
    draw held -e
    equal "$(jq -c 'select(.track) | [.track[1:], .name, .ts, .dur, .args.args.why]' drawn | tr '\n' ' ')" '[["lcore 0","off CPU"],"preempted by stress-ng (77)",6000,4000,"preempted"] [["lcore 0","interrupts"],"interrupt nvme0q1",8500,2500,null] [["app 13","off CPU"],"blocked in epoll_wait",15000,5000,"blocked"] [["app 14","off CPU"],"yielded",0,21000,"yielded"] [["reactor_0 99","off CPU"],"yielded",21000,500,"yielded"] [["lcore 0"],"OFF_CPU",22000,null,"yielded"] '
    # merged: on the lcores of the target
    requests | sed -E 's/"tsc":[0-9]+,"us":([0-9]+)\.([0-9]+)/"tsc":\1\2,"us":\1.\2/; s/"tsc":0/"tsc":/' >target
    trace-merge -q -r 1000000000 target held >in
    spans_of in
    equal "$(jq -c 'select(.track[2:] == ["off CPU"] or .track[2:] == ["interrupts"]) | [.track[:2], .ts]' drawn | tr '\n' ' ')" '[["target","lcore 0 app"],5500] [["target","lcore 0 app"],8000] [["held","app 13"],14500] [["held","app 14"],0] [["held","reactor_0 99"],20500] '
}

@test "a snapshot ties the clock of the trace to the time of day" {
    requests | sed 's/"us":\([0-9.]*\)/&,"time":"2026-11-21T13:14:15.123456789Z"/' >in
    draw in
    equal "$(grep clocks drawn)" '{"clocks":[[6,500],[1,1795266855123456789]]}'
    requests >in
    draw in
    run -1 grep clocks drawn
}

# A request each half second.
seconds() {
    seq 0 999 | awk '{
        printf "{\"tsc\":%d,\"us\":%d.000,\"time\":\"2026-11-21T13:%02d:%02d.500000000Z\",\"lcore\":0,\"tpoint\":\"NEW\",\"object\":{\"id\":\"r%d\",\"value\":\"0x%x\"},\"args\":{\"n\":\"%d\"}}\n", $1, $1 * 500000, $1 / 120, $1 / 2 % 60, $1, $1 + 1, $1 % 5
        printf "{\"tsc\":%d,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"COMPLETED\",\"object\":{\"id\":\"r%d\",\"us\":1,\"value\":\"0x%x\"}}\n", $1, $1 * 500000 + 1, $1, $1 + 1
    }'
}

@test "a stream can be read from any packet on" {
    seconds >in
    spans_of in
    local packets lost
    packets=$(tail -n 1 drawn | jq .packets)
    for lost in 1 3 17 100 500 1000 $((packets - 400)); do
        perfetto "$lost" <drawn.pftrace >rest
        grep slices rest >later
        # they start again after ten seconds: all that comes later is the same
        tail -n "$(wc -l <later)" <(grep slices drawn) | cmp - later
        [ "$(head -n 1 later | jq "[.ts, ($lost / $packets * 500000000000)] | .[0] - .[1] | floor")" -lt 22000000000 ]
        grep -q clocks rest
    done
    # the same after 8 MiB
    mktrace -R 900 "$DATA/sample.jsonl" | trace-dump -q >in
    draw in
    [ "$(stat -c %s drawn.pftrace)" -gt $((9 << 20)) ]
    packets=$(tail -n 1 drawn | jq .packets)
    perfetto 1000 <drawn.pftrace | tail -n 1 >rest
    jq -e ".skipped > $packets / 3 and .skipped < $packets" rest
}

@test "a request is drawn soon after it has ended, from a pipe that goes on" {
    mkfifo pipe
    trace-perfetto <pipe >live &
    local reader=$!
    exec {to}>pipe
    requests >&"$to"
    drawn_live() { perfetto <live 2>/dev/null | grep -q '"id":"r0"'; }
    wait_for drawn_live
    exec {to}>&-
    wait $reader
    requests | trace-perfetto >whole
    cmp <(perfetto <live | jq -c 'select(.args.id == "r0")') <(perfetto <whole | jq -c 'select(.args.id == "r0")')
}

@test "more names than are interned, long ones, and values of any kind are all there" {
    seq 0 1500 | awk '{ printf "{\"tsc\":1,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"T%d\",\"owner\":\"o%d\",\"args\":{\"a%d\":%d}}\n", $1, $1, $1, $1, $1 }' >in
    draw in
    equal "$(jq -c 'select(.instant) | [.name, .args]' drawn | sha256sum)" "$(seq 0 1500 | awk '{ printf "[\"T%d\",{\"owner\":\"o%d\",\"args\":{\"a%d\":%d}}]\n", $1, $1, $1, $1 }' | sha256sum)"
    long=$(printf 'x%.0s' $(seq 1 3000))
    printf '%s\n' '{"tsc":1,"us":1,"lcore":0,"tpoint":"A\u001b\"\\\ud83d\ude00'$'\xff\xc3\xa9''","args":{"n":-1.5,"t":true,"f":false,"z":null,"a":[1,"\u0041"],"big":18446744073709551615,"o":{"p":{"q":1}},"s":"'"$long"'"}}' >in
    fails_only 'trace-perfetto: in:1: not UTF-8: U+FFFD replaces what is invalid' sh 'trace-perfetto -q in >drawn.pftrace'
    perfetto <drawn.pftrace >drawn
    equal "$(jq -c 'select(.instant) | [.name, .args.args]' drawn | sed 's/1844674407370955[0-9]*/BIG/')" "[\"A\u001b\\\"\\\\😀�é\",{\"n\":-1.5,\"t\":true,\"f\":false,\"z\":\"null\",\"a\":\"[1,\\\"A\\\"]\",\"big\":BIG,\"o\":{\"p\":\"{\\\"q\\\":1}\"},\"s\":\"$long\"}]"
    grep -q 18446744073709551615 drawn
}

@test "Perfetto's own schema knows every field" {
    [ -n "${PERFETTO_PROTOS:-}" ] || skip 'PERFETTO_PROTOS does not name a folder with protos/perfetto'
    command -v protoc >/dev/null || skip 'protoc is not here'
    { requests; seconds; } >in
    mktrace -R 2 "$DATA/sample.jsonl" | trace-dump -q >>in
    draw in -e
    protoc --decode=perfetto.protos.Trace -I "$PERFETTO_PROTOS" protos/perfetto/trace/trace.proto <drawn.pftrace >decoded
    # an unknown one has its number instead of a name
    run -1 grep -E '^ *[0-9]+(:| \{)' decoded
    equal "$(grep -c '^packet {' decoded)" "$(tail -n 1 drawn | jq .packets)"
    # protoc has the same slices, by their names
    grep -o 'type: TYPE_[A-Z_]*' decoded | sort | uniq -c | awk '{ print $3, $1 }' >types
    equal "$(grep -c ' counter_value: ' decoded)" "$(grep -c '"value":[0-9]*}$' drawn)"
    equal "$(sed -n 's/TYPE_SLICE_BEGIN //p' types)" "$(jq -s '[.. | objects | select(has("name") and .instant == null)] | length' drawn)"
}

@test "a terminal is not written to" {
    needs_terminal
    requests >in
    script -qec 'trace-perfetto in' /dev/null >said || [ $? = 2 ]
    grep -q 'the output is binary, not for a terminal: redirect it to a file' said
}
