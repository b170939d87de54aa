#!/usr/bin/env bats
# shellcheck disable=SC2086 # options are words
# bats file_tags=sanitizers

load helpers

# Its table as on a terminal; "command trace-spans" prints that of a pipe.
trace-spans() {
    command trace-spans --human "$@"
}
export -f trace-spans

# A request with a bdev I/O on an NVMe bdev over TCP, and its reply.
deep() {
    {
        object r0 0x10 '"args":{"qd":3}' 100.000 TCP_REQ_NEW | sed 's/"object"/"poller":"t288","owner":"10.0.0.1:5 nqn.a 10.0.0.2:4420 qid:2",&/'
        object r0 0x10 '' 100.000 TCP_REQ_NEW 100.002 TCP_REQ_NEED_BUFFER 100.005 TCP_REQ_HAVE_BUFFER 100.012 TCP_REQ_RDY_TO_EXECUTE 100.043 TCP_REQ_EXECUTING \
            109.000 TCP_REQ_EXECUTED 109.100 TCP_REQ_TRANSFER_C2H 111.500 TCP_REQ_COMPLETED | sed 1d
        object i7 0x20 '"related":"r0","args":{"type":1,"ctx":"0x10","offset":64,"qd":5}' 100.031 BDEV_IO_START | sed 's/"object"/"poller":"b260","owner":"bdev_Nvme0n1","size":8,&/'
        object i7 0x20 '"related":"r0","args":{"ctx":"0x10","qd":4}' 100.031 BDEV_IO_START 108.000 BDEV_IO_DONE | sed 1d
        object N7 0x30 '"related":"i7","args":{"ctx":"0x20"}' 100.101 BDEV_NVME_IO_START 107.101 BDEV_NVME_IO_DONE
        object p9 0x40 '"related":"N7","args":{"ctx":"0x30","cid":17,"opc":2,"dw10":"0x40","dw11":"0x0","dw12":"0x7","qd":1}' 100.212 NVME_TCP_SUBMIT | sed 's/"object"/"poller":"q01",&/'
        object p9 0x40 '"related":"N7","args":{"ctx":"0x30","cid":17,"cpl":"0x502","qd":0}' 100.212 NVME_TCP_SUBMIT 106.213 NVME_TCP_COMPLETE | sed 1d
        object s3 0x50 '"related":"p9","args":{"ctx":"0x40"}' 100.229 SOCK_REQ_QUEUE | sed 's/"object"/"size":72,&/'
        object s3 0x50 '"related":"p9","args":{"ctx":"0x40"}' 100.229 SOCK_REQ_QUEUE 101.230 SOCK_REQ_PEND 101.239 SOCK_REQ_COMPLETE | sed 1d
        object s4 0x60 '"related":"r0","args":{"ctx":"0x10"}' 109.097 SOCK_REQ_QUEUE | sed 's/"object"/"size":4120,&/'
        object s4 0x60 '"related":"r0","args":{"ctx":"0x10"}' 109.097 SOCK_REQ_QUEUE 111.400 SOCK_REQ_PEND 111.411 SOCK_REQ_COMPLETE | sed 1d
    } | merged
}

@test "self has the letter of objects whose creation is missing" {
    {
        entry 0.000 TCP_REQ_EXECUTING n/a - 0x1
        entry 1.000 BDEV_IO_START i0 - 0x2 '"related":"n/a"' '"args":{"ctx":"0x1"}'
        entry 3.000 BDEV_IO_DONE i0 2.000 0x2
        entry 4.000 TCP_REQ_COMPLETED n/a - 0x1
        entry 5.000 BDEV_IO_DONE n/a - 0x3
        entry 6.000 NVME_PCIE_COMPLETE n/a - 0x4
        entry 7.000 MY_OWN_DONE n/a - 0x5
        entry 8.000 TCP_REQ_NEW r0 - 0x6
        entry 9.000 SOCK_REQ_QUEUE n/a - 0x7 '"related":"r0"' '"args":{"ctx":"0x6"}'
        entry 10.000 TCP_REQ_COMPLETED r0 2.000 0x6
    } >in
    trace-spans -q -a -j in >spans
    equal "$(jq -c 'select(.id == "n/a") | [.states[-1][0], (.self | keys)]' spans | sort)" '["BDEV_IO_DONE",["i"]]
["MY_OWN_DONE",["n/a"]]
["NVME_PCIE_COMPLETE",["p"]]
["SOCK_REQ_QUEUE",["s"]]
["TCP_REQ_COMPLETED",["r"]]'
    jq -e -s 'all(.[]; ([.self[]] | add) - .life | fabs < 0.0005)' spans
}

@test "a span line says what a request was and where its time went" {
    deep >in
    cat >want <<'L'
{"tsc":1,"us":100.000,"life":11.500,"to_reply":9.100,"lcore":0,"id":"r0","value":"0x10","children":["i7","s4"],"owner":"10.0.0.1:5 nqn.a 10.0.0.2:4420 qid:2","poller":"t288","connection":"10.0.0.1:5/2","host":"10.0.0.1:5","queue":2,"io":{"type":"read","blocks":8,"lba":64,"bdev":"Nvme0n1","qd":5,"qpair_qd":3,"bytes":4120,"cid":17,"opc":2,"status":"unrecovered read error"},"states":[["TCP_REQ_NEW",0.002],["TCP_REQ_NEED_BUFFER",0.003],["TCP_REQ_HAVE_BUFFER",0.007],["TCP_REQ_RDY_TO_EXECUTE",0.031],["TCP_REQ_EXECUTING",8.957],["TCP_REQ_EXECUTED",0.100],["TCP_REQ_TRANSFER_C2H",2.400],["TCP_REQ_COMPLETED",0.000]],"self":{"r":1.217,"i":0.969,"N":0.999,"p":4.991,"s":3.324},"layers":{"network":1.013,"buffer":0.003,"host":0.000,"target":1.125,"below":0.000,"bdev":1.968,"drive":4.991,"reply":2.400,"unknown":0.000},"silent":4.974,"waits":[{"us":4.974,"at":1.239,"state":"NVME_TCP_SUBMIT","layer":"drive","lcore":0,"entries":0,"silent":4.974,"active":4.974},{"us":2.300,"at":9.100,"state":"SOCK_REQ_QUEUE","layer":"network","lcore":0,"entries":0,"silent":2.300,"active":2.300,"queued":0}],"args":{"qd":3}}
L
    status_is 0 trace-spans -j in
    diff want - <<<"$output"
    equal "$stderr" ''
}

@test "-a prints the spans below it as well, by their ends" {
    deep >in
    status_is 0 sh "trace-spans -j -a in | jq -c '[.id, .parent, .children]'"
    diff - <(echo "$output") <<'L'
["s3","p9",null]
["p9","N7",["s3"]]
["N7","i7",["p9"]]
["i7","r0",["N7"]]
["s4","r0",null]
["r0",null,["i7","s4"]]
L
    # a command says what it is, where no bdev I/O does
    status_is 0 sh "trace-spans -j -a in | jq -c 'select(.id == \"p9\") | .io'"
    equal "$output" '{"type":"read","blocks":8,"lba":64,"qd":1,"bytes":72,"cid":17,"opc":2,"status":"unrecovered read error"}'
}

@test "text has a line for each span, and the largest shares" {
    deep >in
    status_is 0 trace-spans in
    diff - <(echo "$output") <<'L'
         US     LIFE ID      TYPE   BLOCKS BDEV       CONNECTION   SHARES
    100.000  11.5 us r0      read        8 Nvme0n1    10.0.0.1:5/2 drive 43% reply 21% bdev 17%
L
    sed 's/"args":{"qd":3}/"args":{"qpair":{"ptr":"0x1","qid":7,"hostnqn":"nqn.2026-11.fleet:host-3"}}/' in >joined
    status_is 0 sh 'COLUMNS=1000 trace-spans  joined | tail -n 1 | tr -s " "'
    equal "$output" ' 100.000 11.5 us r0 read 8 Nvme0n1 64 host-3/7 0 9.10 us drive 43% reply 21% bdev 17%'
}

# Spans, parents, children and self times once more, from the trace lines alone.
recompute() {
    jq -n -c '
        def ns: . * 1000 | round;
        reduce inputs as $l ({order: [], all: {}, live: {}};
            $l.object.id as $id
            | .end = ([.end, ($l.us | ns)] | max)
            | if ($id // "n/a") == "n/a" then . else
              if .all[$id] then . else
                (if $l.related then $l.related
                 elif $l.tpoint == "BDEV_IO_START" and $l.args.ctx then .live[$l.args.ctx]
                 else null end) as $parent
                | .order += [$id]
                | .all[$id] = {id: $id, parent: $parent, children: [], states: [], at: []}
                | if $parent and .all[$parent] then .all[$parent].children += [$id] else . end
              end
            | .all[$id].states += [$l.tpoint]
            | .all[$id].at += [$l.us | ns]
            | if $l.tpoint == "BDEV_IO_START" then .live[$l.object.value] = $id
              elif $l.tpoint == "BDEV_IO_DONE" then .live |= del(.[$l.object.value])
              else . end
              end)
        | .end as $fin | .all as $all
        # those in flight last until the end, if all above them do
        | def open($id): $all[$id] | (.states[-1] | test("(DONE|COMPLETED)$") | not) and
            (.parent as $parent | if $parent and $all[$parent] then open($parent) else true end);
        ($all | with_entries(.key as $id | if open($id) then .value.at += [$fin] else . end)) as $all
        # $over: when it ends at the latest
        | def self($id; $from; $to; $over):
            [$all[$id].children[] | $all[.] | .end = ([.at[-1], $over] | min) | select(.at[0] < .end)] as $children
            | def chain($until): [$children[] | select(.end <= $until)] | sort_by(-.end)[0] // empty | ., chain(.at[0]);
            ([chain($over) | .id]) as $chain
            | ([$from, $to] + [$children[] | .at[0], .end | select(. > $from and . < $to)] | unique) as $cuts
            | range(1; $cuts | length) as $i
            | [$children[] | select(.at[0] <= $cuts[$i - 1] and .end >= $cuts[$i])] as $work
            | if $work == [] then {key: $id[:1], value: ($cuts[$i] - $cuts[$i - 1])}
              else (([$work[] | select(.id | IN($chain[]))] + ($work | sort_by(-.end)))[0]
                    | self(.id; $cuts[$i - 1]; $cuts[$i]; .end)) end;
        .order[] | $all[.]
        | [.id, .parent, .children, .at[-1] - .at[0], .states,
           (reduce self(.id; .at[0]; .at[-1]; .at[-1]) as $s ({}; .[$s.key] += $s.value) | to_entries | sort_by(.key))]' "$@"
}

# The same from span lines, in the order of their starts.
measured() {
    jq -s -c '
        def ns: . * 1000 | round;
        sort_by(.us)[] | select(.id != "n/a") | [.id, .parent, .children // [], (.life | ns), [.states[][0]],
               (.self | to_entries | map({key, value: (.value | ns)} | select(.value > 0)) | sort_by(.key))]' "$@"
}

@test "spans of real traces are what their lines say" {
    for sample in G2:sample-g3 G3:sample-g3 G4:sample G5:sample G6:sample; do
        mktrace -l "${sample%:*}" -o trace "$DATA/${sample#*:}.jsonl"
        trace-dump -q trace >lines
        recompute lines | sort >want
        trace-spans -q -j -a lines >spans
        measured spans | sort | diff want -
        [ "$(wc -l <want)" -gt 20 ]
        # to the nanosecond
        jq -e -s 'all(((.self | add) * 1000 | round) == (.life * 1000 | round) and ((.layers | add) * 1000 | round) == (.life * 1000 | round))' spans
    done
}

@test "parts of a split I/O are its children: their address is all that says so" {
    {
        object i0 0x10 '"args":{"type":2,"ctx":"0x99","offset":1000,"qd":1}' 10.000 BDEV_IO_START | sed 's/"object"/"owner":"bdev_R0","poller":"b261","size":24,&/'
        object i0 0x10 '"args":{"ctx":"0x10","qd":0}' 10.000 BDEV_IO_START 10.999 BDEV_IO_DONE | sed 1d
        object i1 0x20 '"args":{"type":2,"ctx":"0x10","offset":1000,"qd":2}' 10.101 BDEV_IO_START | sed 's/"object"/"size":16,&/'
        object i1 0x20 '' 10.101 BDEV_IO_START 10.503 BDEV_IO_DONE | sed 1d
        object i2 0x30 '"args":{"type":2,"ctx":"0x10","offset":1016,"qd":3}' 10.202 BDEV_IO_START | sed 's/"object"/"size":8,&/'
        object i2 0x30 '' 10.202 BDEV_IO_START 10.907 BDEV_IO_DONE | sed 1d
        # the one above has ended: this one only has its address
        object i3 0x40 '"args":{"type":1,"ctx":"0x10"}' 11.000 BDEV_IO_START
    } | merged >in
    recompute in | sed '/"i3"/d' >want
    trace-spans -j -a in | measured | sed '/"i3"/d' | diff want -
    status_is 0 sh "trace-spans -q -j in | jq -c '[.id, .children, .io]'"
    diff - <(echo "$output") <<'L'
["i0",["i1","i2"],{"type":"write","blocks":24,"lba":1000,"bdev":"R0","qd":1}]
["i3",null,{"type":"read"}]
L
}

@test "blocks of several bdev I/Os are added up, and all bdevs are named" {
    {
        object r0 0x10 '' 1.000 RDMA_REQ_NEW 9.000 RDMA_REQ_COMPLETED
        object i0 0x20 '"related":"r0","args":{"type":3,"ctx":"0x10","offset":7,"len":13,"name":"A"}' 2.000 BDEV_IO_START
        object i1 0x30 '"related":"r0","args":{"type":3,"ctx":"0x10","offset":2,"len":17,"name":"B"}' 2.500 BDEV_IO_START
        object i2 0x40 '"related":"r0","args":{"type":3,"ctx":"0x10","offset":1,"len":19,"name":"A"}' 3.000 BDEV_IO_START
    } | merged >in
    status_is 0 sh "trace-spans -q -j in | jq -c .io"
    equal "$output" '{"type":"unmap","blocks":49,"lba":7,"bdev":"A,B"}'
}

# The self times of the first span of in, as counted by hand and by recompute().
self_is() { # OBJECT
    recompute in | sort >want
    trace-spans -q -j -a in | measured | sort | diff want -
    equal "$(trace-spans -j in | jq -c .self | plain)" "$1"
}

@test "where children are at work at once, time is of the one that the parent waits for" {
    {
        object r0 0x10 '' 1.000 A 2.000 B 102.000 C_DONE
        object x0 0x20 '"related":"r0","args":{"ctx":"0x10"}' 3.000 D 50.000 E_DONE
        object y0 0x30 '"related":"r0","args":{"ctx":"0x10"}' 20.000 D 31.000 E_DONE
        object z0 0x40 '"related":"y0","args":{"ctx":"0x30"}' 23.000 D 90.000 E_DONE
        # to the end of the one above it, and no longer
        object v0 0x50 '"related":"r0","args":{"ctx":"0x10"}' 97.000 D 300.000 E_DONE
    } | merged >in
    self_is '{"r":49,"x":47,"y":0,"z":0,"v":5}'
    # read, modify, write: two reads, of which b ends last, then two writes, of which c does
    {
        object r0 0x10 '' 1.000 A 101.000 C_DONE
        object a0 0x20 '"related":"r0","args":{"ctx":"0x10"}' 11.000 D 31.000 E_DONE
        object b0 0x30 '"related":"r0","args":{"ctx":"0x10"}' 13.000 D 41.000 E_DONE
        object c0 0x40 '"related":"r0","args":{"ctx":"0x10"}' 42.000 D 71.000 E_DONE
        object d0 0x50 '"related":"r0","args":{"ctx":"0x10"}' 43.000 D 61.000 E_DONE
    } | merged >in
    self_is '{"r":41,"a":2,"b":28,"c":29,"d":0}'
}

@test "a child that the parent does not wait for has only times in which no other is at work" {
    {
        object r0 0x10 '' 1.000 A 101.000 C_DONE
        object e0 0x20 '"related":"r0","args":{"ctx":"0x10"}' 11.000 D 91.000 E_DONE
        object n0 0x30 '"related":"e0","args":{"ctx":"0x20"}' 16.000 D 86.000 E_DONE
        object g0 0x40 '"related":"r0","args":{"ctx":"0x10"}' 21.000 D 41.000 E_DONE
        object f0 0x50 '"related":"r0","args":{"ctx":"0x10"}' 81.000 D 96.000 E_DONE
    } | merged >in
    self_is '{"r":15,"e":5,"n":45,"g":20,"f":15}'
    # of those that end at once, the first one
    {
        object r0 0x10 '' 1.000 A 61.000 C_DONE
        object h0 0x20 '"related":"r0","args":{"ctx":"0x10"}' 11.000 D 51.000 E_DONE
        object j0 0x30 '"related":"r0","args":{"ctx":"0x10"}' 31.000 D 51.000 E_DONE
        object k0 0x40 '"related":"r0","args":{"ctx":"0x10"}' 51.000 D_DONE
    } | merged >in
    self_is '{"r":20,"h":40,"j":0,"k":0}'
}

# Writes to a RAID of Fast and Slow, which is a module above Base: one waits for Slow, one for Fast, one for the RAID.
raid_write() { # N START END_FAST END_SLOW END
    local n=$1 t=$2
    object "r$n" "0x1$n" '' "$t.000" TCP_REQ_NEW "$5.000" TCP_REQ_COMPLETED
    leg_io "i${n}0" "0x2$n" "r$n" "0x1$n" Raid1 "$t.001" "$5.000"
    object "R$n" "0x3$n" "\"related\":\"i${n}0\",\"args\":{\"ctx\":\"0x2$n\"}" "$t.002" BDEV_RAID_IO_START "$(($5 - 1)).500" BDEV_RAID_IO_DONE
    leg_io "i${n}1" "0x4$n" "R$n" "0x3$n" Fast "$t.003" "$3.000"
    leg_io "i${n}2" "0x5$n" "R$n" "0x3$n" Slow "$t.004" "$4.000"
    leg_io "i${n}3" "0x6$n" "i${n}2" "0x5$n" Base "$t.005" "$t.900"
}

leg_io() { # ID VALUE PARENT ADDRESS BDEV START END
    object "$1" "$2" "\"related\":\"$3\",\"args\":{\"type\":2,\"ctx\":\"$4\",\"offset\":8,\"qd\":1}" "$6" BDEV_IO_START "$7" BDEV_IO_DONE |
        sed "s/\"object\"/\"owner\":\"bdev_$5\",&/"
}

@test "of a bdev that consists of others, the one that takes most of the time is its leg" {
    {
        raid_write 1 100 111 311 313
        raid_write 2 400 451 441 453
        raid_write 3 500 503 502 590
    } | merged >in
    status_is 0 sh "trace-spans -j in | jq -c '[.id, .io.bdev, .io.leg]'"
    diff - <(echo "$output") <<'L'
["r1","Raid1","Slow"]
["r2","Raid1","Fast"]
["r3","Raid1",null]
L
    # only those with another bdev below them have one
    status_is 0 sh "trace-spans -a -j in | jq -c 'select(.io.leg) | .id' | tr '\n' ' '"
    equal "$output" '"R1" "r1" "i10" "R2" "r2" "i20" "R3" '
    # in text, if it has a tenth of the life
    status_is 0 sh "trace-spans in | awk 'NR > 1 { print \$7 }' | tr '\n' ' '"
    equal "$output" 'Raid1>Slow Raid1>Fast Raid1 '
    sed 's/"us":[0-9]*\(.*TCP_REQ_COMPLETED\)/"us":9999\1/' in >waits
    status_is 0 sh "trace-spans waits | awk 'NR > 1 { print \$7 }' | tr '\n' ' '"
    equal "$output" 'Raid1 Raid1 Raid1 '
    status_is 0 sh "trace-spans -k leg=Slow -j in | jq -r .id"
    equal "$output" r1
    status_is 0 sh "trace-spans -k io.leg=F* -j in | jq -r .id"
    equal "$output" r2
}

@test "a story says which leg ended last" {
    {
        raid_write 1 100 111 311 313
        raid_write 2 400 451 441 453
        raid_write 3 500 503 502 590
    } | merged >in
    status_is 0 sh "trace-spans -s in | grep -o -E 'DONE +i[0-9]+|[A-Z][a-z]+ ended last.*' | grep -B 1 ended | tr -s ' '"
    diff - <(echo "$output") <<'L'
DONE i12
Slow ended last: 200 us after Fast
--
DONE i21
Fast ended last: 10.0 us after Slow
L
    # none has while one is in flight
    {
        raid_write 1 100 111 311 313 | grep -v 'DONE.*"r1"\|TCP_REQ_COMPLETED\|DONE.*i1[03]\|RAID_IO_DONE'
        leg_io i14 0x99 R1 0x31 Third 100.007 150.000
    } | merged >in
    equal "$(trace-spans -s in | grep -c 'Slow ended last: 161 us after Third')" 1
    grep -v 'DONE.*i14' in >open
    equal "$(trace-spans -s open | grep -c 'ended last')" 0
}

@test "an id names several objects; address and creation tell them apart" {
    {
        # TCP's and RDMA's requests share a letter
        object r0 0x10 '' 1.000 TCP_REQ_NEW 4.000 TCP_REQ_COMPLETED
        object r0 0x20 '' 2.000 RDMA_REQ_NEW 7.000 RDMA_REQ_COMPLETED
        # and so do those of a trace that has started again
        object r0 0x10 '' 11.000 TCP_REQ_NEW 24.000 TCP_REQ_COMPLETED
    } | merged >in
    status_is 0 sh "trace-spans -j in | jq -c '[.id, .value, (.life * 1000 | round)]'"
    diff - <(echo "$output") <<'L'
["r0","0x10",3000]
["r0","0x20",5000]
["r0","0x10",13000]
L
}

# What lib/nvmf/rdma.c and fc.c of v26.05 record of a read and of a write each: both transports have the letter r, and
# of FC no relation is recorded, and no final state.
rdma_and_fc() {
    {
        object r0 0x10 '"args":{"qpair":"0x1","qd":1}' 100.000 RDMA_REQ_NEW 100.100 RDMA_REQ_NEED_BUFFER 101.100 RDMA_REQ_HAVE_BUFFER \
            101.200 RDMA_REQ_RDY_TO_EXECUTE 101.300 RDMA_REQ_EXECUTING 105.300 RDMA_REQ_EXECUTED 105.400 RDMA_REQ_TX_PENDING_C2H \
            105.600 RDMA_REQ_RDY_TO_COMPL 105.700 RDMA_REQ_COMPLETING_C2H 107.700 RDMA_REQ_COMPLETED
        object i0 0x20 '"related":"r0","args":{"type":1,"ctx":"0x10","offset":8,"qd":1}' 101.250 BDEV_IO_START 105.250 BDEV_IO_DONE
        object r1 0x10 '"args":{"qpair":"0x1","qd":1}' 200.000 RDMA_REQ_NEW 200.100 RDMA_REQ_NEED_DATA_WR 200.600 RDMA_REQ_NEED_BUFFER \
            200.700 RDMA_REQ_HAVE_BUFFER 200.800 RDMA_REQ_TX_PENDING_H2C 201.000 RDMA_REQ_TX_H2C 204.000 RDMA_REQ_RDY_TO_EXECUTE \
            204.100 RDMA_REQ_EXECUTING 206.100 RDMA_REQ_EXECUTED 206.200 RDMA_REQ_RDY2COMPL_PEND 206.500 RDMA_REQ_RDY_TO_COMPL \
            206.600 RDMA_REQ_COMPLETING 207.600 RDMA_REQ_COMPLETED
        object i1 0x20 '"related":"r1","args":{"type":2,"ctx":"0x10","offset":16,"qd":1}' 204.050 BDEV_IO_START 206.050 BDEV_IO_DONE
        object r0 0x30 '' 300.000 FC_NEW 300.200 FC_READ_SBMT_TO_BDEV 302.500 FC_READ_XFER_DATA 304.500 FC_READ_RSP
        object i2 0x20 '"args":{"type":1,"ctx":"0x30","offset":24,"qd":1}' 300.300 BDEV_IO_START 302.300 BDEV_IO_DONE
        echo '{"tsc":1,"us":305.000,"lcore":0,"tpoint":"FC_SUCCESS","object":{"value":"0x30"}}'
        object r1 0x30 '' 310.000 FC_NEW 310.100 FC_WRITE_NEED_BUFFER 311.100 FC_WRITE_XFER_DATA 313.100 FC_WRITE_SBMT_TO_BDEV 315.100 FC_WRITE_RSP
        object r2 0x30 '' 320.000 FC_NEW 320.100 FC_NONE_SBMT_TO_BDEV
    } | merged
}

@test "requests over RDMA and FC are spans" {
    rdma_and_fc >in
    status_is 0 sh "trace-spans -j in | jq -c '[.id, .value, .us, .life, .children, .io.type, .io.lba, (.layers | map(.)), .open]'"
    plain <<<"$output" | diff - <(cat <<'L'
["r0","0x30",300,4.5,["i2"],"read",24,[2,0,0,0.2,0,2.3,0,0,0],null]
["r1","0x30",310,5.1,null,null,null,[0,1,2,0.1,0,2,0,0,0],null]
["r0","0x10",100,7.7,["i0"],"read",8,[2.2,1,0,0.5,0,4,0,0,0],null]
["r1","0x10",200,7.6,["i1"],"write",16,[1.5,0.6,3,0.5,0,2,0,0,0],null]
["r2","0x30",320,0.1,null,null,null,[0,0,0,0.1,0,0,0,0,0],true]
L
    )
}

@test "the time of types that share a letter is added up" {
    {
        object p0 0x10 '' 1.000 ISCSI_READ_PDU 9.000 ISCSI_PDU_COMPLETED
        object t0 0x20 '"args":{"pdu":"0x10"}' 2.000 ISCSI_TASK_QUEUE 8.000 ISCSI_TASK_DONE
        object i0 0x30 '"args":{"type":1,"ctx":"0x20"}' 3.000 BDEV_IO_START 7.000 BDEV_IO_DONE
        object p0 0x40 '"related":"i0","args":{"ctx":"0x30","opc":2}' 4.000 NVME_TCP_SUBMIT 6.000 NVME_TCP_COMPLETE
    } | merged >in
    status_is 0 sh "trace-spans -j in | jq -c '[.id, .value, .children, .self]'"
    equal "$(plain <<<"$output")" '["p0","0x10",["t0"],{"p":4,"t":2,"i":2}]'
}

# SPDK knows the parent only by its address, which another object may use that the trace does not have.
@test "an object that has ended starts nothing" {
    {
        object p0 0x10 '' 1.000 ISCSI_READ_PDU 4.000 ISCSI_PDU_COMPLETED
        object t0 0x20 '"size":4096,"args":{"pdu":"0x10"}' 2.000 ISCSI_TASK_QUEUE 3.000 ISCSI_TASK_DONE
        object s0 0x30 '"size":48,"related":"p0","args":{"ctx":"0x10"}' 3.500 SOCK_REQ_QUEUE 3.600 SOCK_REQ_COMPLETE
        object s1 0x40 '"size":24,"related":"p0","args":{"ctx":"0x10"}' 5.000 SOCK_REQ_QUEUE 6.000 SOCK_REQ_COMPLETE
    } | merged >in
    status_is 0 sh "trace-spans -j in | jq -c '[.id, .children, .io.bytes]'"
    equal "$(plain <<<"$output" | tr '\n' ' ')" '["p0",["t0","s0"],4096] ["s1",null,24] '
    status_is 0 sh "trace-spans -a -j in | jq -c 'select(.id == \"s1\") | .parent'"
    equal "$output" null
    # without the entries of later states, lives end in those in which objects work
    grep -v COMPLETED in >no-ends
    status_is 0 sh "trace-spans -j no-ends | jq -c '[.id, .children]'"
    equal "$(plain <<<"$output")" '["p0",["t0","s0","s1"]]'
}

@test "commands to a fabric have a type of their own on all queues" {
    {
        object p0 0x10 '"args":{"cid":0,"opc":127}' 1.000 NVME_TCP_SUBMIT 2.000 NVME_TCP_COMPLETE
        object p1 0x20 '"args":{"cid":0,"opc":6}' 3.000 NVME_TCP_SUBMIT 4.000 NVME_TCP_COMPLETE
        object p2 0x30 '"poller":"q01","args":{"cid":0,"opc":127}' 5.000 NVME_TCP_SUBMIT 6.000 NVME_TCP_COMPLETE
    } >in
    status_is 0 sh "trace-spans -j in | jq -r .io.type"
    equal "$(tr '\n' , <<<"$output")" 'fabrics,nvme admin,fabrics,'
}

@test "a span that is not whole says so, and is ranked by what it took at least" {
    {
        # its creation is before the first line; another's was overwritten
        entry 5.000 TCP_REQ_EXECUTING r1 3.000 0x10
        entry 9.000 TCP_REQ_COMPLETED r1 7.000 0x10
        printf '{"tsc":1,"us":6.000,"lcore":0,"tpoint":"TCP_REQ_EXECUTED","object":{"id":"n/a","value":"0x20"}}\n'
        printf '{"tsc":1,"us":8.000,"lcore":0,"tpoint":"TCP_REQ_COMPLETED","object":{"id":"n/a","value":"0x20"}}\n'
        object r2 0x20 '' 10.000 TCP_REQ_NEW 17.000 TCP_REQ_EXECUTING
        object r3 0x30 '"torn":true' 11.000 TCP_REQ_NEW
        entry 14.000 TCP_REQ_COMPLETED r3 3.000 0x30
    } | merged >in
    status_is 0 sh "trace-spans -j in | plain | jq -c '[.id, .us, .life, .cut, .open, .torn]'"
    diff <(plain <<'L'
["n/a",6,2,true,null,null]
["r1",5,7,true,null,null]
["r3",11,3,null,null,true]
["r2",10,7,null,true,null]
L
) <(plain <<<"$output")
    status_is 0 sh "trace-spans -jq -n 9 in | jq -r .id"
    equal "$(tr '\n' ' ' <<<"$output")" 'r1 r2 r3 n/a '
    equal "$stderr" ''
    status_is 0 sh "trace-spans -n 9 in | awk 'NR > 1 { print \$4, \$2, \$3 }' | tr '\n' ' '"
    equal "$output" 'r1 7.00 us r2 >7.00 us r3 3.00 us n/a >2.00 us '
    # the time before its first entry has no state, and a layer of its own
    status_is 0 sh "trace-spans -j -k id=r1 in | plain | jq -c '[.states, .self, .layers.unknown]'"
    equal "$output" '[[[null,3],["TCP_REQ_EXECUTING",4],["TCP_REQ_COMPLETED",0]],{"r":7},3]'
    status_is 0 sh "trace-spans in | tail -n 4 | awk '{ print \$NF }' | tr '\n' ' '"
    equal "$output" 'cut cut torn open '
}

@test "where entries are missing, nothing is known to be in flight, and no lcore to be silent" {
    {
        object r0 0x10 '' 1.000 TCP_REQ_NEW 2.000 TCP_REQ_EXECUTING
        object r1 0x20 '' 3.000 TCP_REQ_NEW 4.000 TCP_REQ_EXECUTING 120.000 TCP_REQ_COMPLETED
        object r2 0x30 '' 5.000 TCP_REQ_NEW 6.000 TCP_REQ_COMPLETED
        # its I/O has an entry after it
        object r3 0x40 '' 7.000 TCP_REQ_NEW 8.000 TCP_REQ_EXECUTING
        object i3 0x50 '"related":"r3","args":{"ctx":"0x40"}' 9.000 BDEV_IO_START 130.000 BDEV_IO_DONE
        # its address is used again
        object r4 0x60 '' 10.000 TCP_REQ_NEW 10.500 TCP_REQ_EXECUTING
        object r5 0x60 '' 140.000 TCP_REQ_NEW
        object r6 0x70 '' 11.000 TCP_REQ_NEW | sed 's/"lcore":0/"lcore":1/'
        echo '{"tsc":1,"us":110.000,"lcore":0,"tpoint":"X","lost":true}'
        object r7 0x80 '' 150.000 TCP_REQ_NEW
    } | merged >in
    status_is 0 trace-spans --open in
    equal "$(awk 'NR > 1 { print $4 }' <<<"$output" | tr '\n' ' ')" 'r3 r6 r5 r7 '
    says 'trace-spans: in: 2 spans were in flight where entries are missing: whether they ended is not known'
    status_is 0 trace-spans -q --stuck 20 in
    equal "$(awk 'NR > 1 { print $4 }' <<<"$output" | grep -c 'r[04]')" 2
    status_is 0 trace-spans -jq in
    equal "$(jq -c '[.id, .life, .open, .lost]' <<<"$output" | sort | plain | tr '\n' ' ')" \
        '["r0",1,null,true] ["r1",117,null,true] ["r2",1,null,null] ["r3",143,true,null] ["r4",0.5,null,true] ["r5",10,true,null] ["r6",139,true,null] ["r7",0,true,null] '
    equal "$(trace-spans -qn 9 in | awk '$4 ~ /r[04]/ { print $2, $3, $NF }')" '>1.00 us lost
>500 ns lost'
    # from 11 to 110 us lcore 0 may have written anything
    equal "$(jq -c 'select(.id == "r1") | [.silent, (.waits[0] | [.us, .entries, .silent, .lost])]' <<<"$output" | plain)" '[10,[116,8,10,true]]'
    status_is 0 trace-spans -qs in
    [[ $output == *'          entries of lcore 0 are missing here
          lcore 0 wrote 8 entries meanwhile: '* ]]
    equal "$(grep -c '^          entries of its lcore are missing after its last one: its end may be among them$' <<<"$output")" 2
    # without them, it was silent
    equal "$(sed 's/,"lost":true//' in | trace-spans -jq | jq -c 'select(.id == "r1") | [.silent, .lost]' | plain)" '[99.5,null]'
    equal "$(sed 's/,"lost":true//' in | trace-spans -q --open | awk 'NR > 1 { print $4 }' | tr '\n' ' ')" 'r3 r6 r5 r0 r7 '
}

@test "a request whose end is missing has lived until the last entry below it, and no wait is after its end" {
    {
        # its I/O ends after the gap, then its address is used again
        object r0 0x10 '' 1.000 TCP_REQ_NEW 2.000 TCP_REQ_EXECUTING
        object i0 0x20 '"related":"r0","args":{"ctx":"0x10"}' 3.000 BDEV_IO_START 130.000 BDEV_IO_DONE
        object r1 0x10 '' 150.000 TCP_REQ_NEW 151.000 TCP_REQ_COMPLETED
        # its I/O has the last entry before the gap
        object r2 0x30 '' 4.000 TCP_REQ_NEW 5.000 TCP_REQ_EXECUTING
        object i2 0x40 '"related":"r2","args":{"ctx":"0x30"}' 6.000 BDEV_IO_START 20.000 BDEV_IO_DONE
        # its I/O goes on after its end
        object r3 0x50 '' 30.000 TCP_REQ_NEW 31.000 TCP_REQ_EXECUTING 40.000 TCP_REQ_COMPLETED
        object i3 0x60 '"related":"r3","args":{"ctx":"0x50"}' 32.000 BDEV_IO_START 90.000 BDEV_IO_DONE
        echo '{"tsc":1,"us":110.000,"lcore":0,"tpoint":"X","lost":true}'
        echo '{"tsc":1,"us":160.000,"lcore":0,"tpoint":"X"}'
    } | merged >in
    status_is 0 trace-spans -jq in
    equal "$(jq -c 'select(.id | test("r[023]")) | [.id, .life, .open, .lost, (.layers | add), (.waits | map([.at, .us]))]' <<<"$output" |
        sort | plain)" '["r0",129,null,true,129,[[2,127]]]
["r2",16,null,true,16,[[2,14]]]
["r3",10,null,null,10,[[0,1],[1,1],[2,8]]]'
    status_is 0 trace-spans in
    says 'trace-spans: in: 2 spans were in flight where entries are missing: whether they ended is not known'
}

# Requests of 1, 2, 3, 5, 7, 11 and 13 microseconds, every second one a write, of two hosts.
primes() {
    local i=0 us
    for us in 1 2 3 5 7 11 13; do
        {
            object r$i 0x1$i "\"owner\":\"host-$((i % 2)) x qid:$i\",\"args\":{\"qpair\":{\"hostnqn\":\"nqn:h$((i % 3))\"}}" $((i * 100)).000 TCP_REQ_NEW $((i * 100 + us)).000 TCP_REQ_COMPLETED
            object i$i 0x2$i "\"related\":\"r$i\",\"args\":{\"type\":$((i % 2 + 1)),\"ctx\":\"0x1$i\"}" $((i * 100)).500 BDEV_IO_START
        }
        i=$((i + 1))
    done
}

@test "-n prints the slowest, -m those that took long enough" {
    primes >in
    ids() { trace-spans -q -j "$@" in | jq -r .id | tr '\n' ' '; }
    equal "$(ids -n 3)" 'r6 r5 r4 '
    equal "$(ids -n 1)" 'r6 '
    equal "$(ids -m 5)" 'r3 r4 r5 r6 '
    equal "$(ids -m 5.001)" 'r4 r5 r6 '
    equal "$(ids -m 5 -n 9)" 'r6 r5 r4 r3 '
    # of the same length, the first one
    equal "$({ primes; primes; } | trace-spans -q -j -n 2 | jq -r .us | tr '\n' ' ' | plain)" '600
600'
}

# An NVMe/TCP request: the states that follow TCP_REQ_EXECUTING.
request_at() { # NUMBER US [US TPOINT]...
    local r=$1 us=$2
    shift 2
    object "r$r" "0x$r" '' "$us.000" TCP_REQ_NEW "$us.100" TCP_REQ_EXECUTING "$@"
}

# A write to the socket for it, from the queue to the end.
written() { # NUMBER REQUEST US US US
    object "s$1" "0x9$1" "\"related\":\"r$2\",\"args\":{\"ctx\":\"0x$2\"}" "$3" SOCK_REQ_QUEUE "$4" SOCK_REQ_PEND "$5" SOCK_REQ_COMPLETE
}

@test "the time after the reply was passed to the socket is a layer of its own" {
    {
        # before v24.05: from TCP_REQ_TRANSFER_C2H on
        request_at 1 100 103.000 TCP_REQ_TRANSFER_C2H 108.000 TCP_REQ_COMPLETED
        # data in two parts, and the status: from the start of the last write on. That of an R2T is not the reply.
        request_at 2 200 201.000 TCP_REQ_AWAIT_R2T_ACK 203.000 TCP_REQ_TRANSFER_C2H 218.000 TCP_REQ_COMPLETED
        written 1 2 200.900 201.200 201.500
        written 2 2 202.900 205.000 205.000
        written 3 2 205.000 210.000 210.000
        written 4 2 211.000 212.000 217.000
        # without a reply; over RDMA, where a state ends when it has been sent
        request_at 5 500 507.000 TCP_REQ_COMPLETED
        object r6 0x66 '' 600.000 RDMA_REQ_NEW 601.000 RDMA_REQ_COMPLETING_C2H 604.000 RDMA_REQ_COMPLETED
    } | merged >in
    status_is 0 sh "trace-spans -j in | jq -c 'select(.id[:1] == \"r\") | [.id, .life, .to_reply, .layers.reply, .layers.network, .layers.host]' | sort"
    plain <<<"$output" | diff - <(cat <<'L'
["r1",8,3,5,0,0]
["r2",18,11,7,8.7,1.4]
["r5",7,7,0,0,0]
["r6",4,4,0,3,0]
L
    )
    # whichever object is at work
    status_is 0 sh "trace-spans -j -k id=r2 in | jq -c .self"
    plain <<<"$output" | diff - <(echo '{"r":4.3,"s":13.7}')
    # the slowest are those with the longest life, replies and all
    ids() { trace-spans -q -j -k id='r*' "$@" in | jq -r .id | tr '\n' ' '; }
    equal "$(ids -n 3)" 'r2 r1 r5 '
    equal "$(ids -m 5)" 'r1 r2 r5 '
    # after the reply, zero copy releases its buffer
    request_at 3 300 303.000 TCP_REQ_TRANSFER_C2H 304.000 TCP_REQ_COMPLETED 304.100 TCP_REQ_AWAIT_ZCPY_RLS 305.000 TCP_REQ_COMPLETED >in
    status_is 0 sh "trace-spans -j in | jq -c '[.id, .life, .to_reply, .layers.reply]'"
    equal "$(plain <<<"$output")" '["r3",5,3,2]'
}

@test "a write that is still queued in the target is no reply yet" {
    read_at() { echo "{\"tsc\":1,\"us\":$1,\"lcore\":$2,\"tpoint\":\"TCP_READ_DONE\",\"size\":8}"; }
    {
        request_at 1 100 103.000 TCP_REQ_TRANSFER_C2H 140.000 TCP_REQ_COMPLETED
        written 1 1 103.500 130.000 139.000
        # the lcore sent what was queued, then read: only the last read before the write was sent counts
        read_at 103.400 0; read_at 110.000 0; read_at 120.000 0
        # on another lcore, and after it
        read_at 125.000 1; read_at 135.000 0
        # at the end of the trace
        object r2 0x52 '' 200.000 TCP_REQ_NEW 203.000 TCP_REQ_TRANSFER_C2H
        object s2 0x92 '"related":"r2","args":{"ctx":"0x52"}' 204.000 SOCK_REQ_QUEUE
        read_at 260.000 0; read_at 264.000 0
        # without such lines, and of another source
        request_at 3 300 303.000 TCP_REQ_TRANSFER_C2H 340.000 TCP_REQ_COMPLETED
        written 3 3 303.500 330.000 339.000
        read_at 310.000 0 | sed 's/"lcore"/"source":"b","lcore"/'
    } | merged >in
    status_is 0 sh "trace-spans -q -j -k 'id=r*' in | jq -c '[.id, .life, .to_reply]' | sort"
    equal "$(plain <<<"$output" | tr '\n' ' ')" '["r1",40,20] ["r2",140,64] ["r3",40,3.5] '
}

@test "a set of a blobstore that has started nothing may have ended long ago" {
    {
        object a1 0x10 '' 1.000 BLOB_REQ_SET_START
        object a2 0x20 '' 2.000 BLOB_REQ_SET_START
        object i2 0x30 '"related":"a2","args":{"ctx":"0x20","type":2}' 3.000 BDEV_IO_START
        object a3 0x40 '' 4.000 BLOB_REQ_SET_START 500.000 BLOB_REQ_SET_COMPLETE
    } | merged >in
    status_is 0 sh "trace-spans -q -j in | jq -c '[.id, .life, .open]' | sort"
    equal "$(plain <<<"$output" | tr '\n' ' ')" '["a1",0,null] ["a2",498,true] ["a3",496,null] '
}

# The layers of each request that are not 0.
layers() {
    trace-spans -q -j "$@" | jq -c '[.source, .id] + (.layers | to_entries | map(select(.value > 0) | .key, .value)) | map(select(. != null))' | plain
}

@test "without bdev I/O, a request that executes waits for what is below" {
    {
        object r0 0x10 '' 100.000 TCP_REQ_NEW 101.000 TCP_REQ_RDY_TO_EXECUTE 103.000 TCP_REQ_EXECUTING 106.000 TCP_REQ_EXECUTED 107.000 TCP_REQ_COMPLETED
        object r1 0x20 '' 200.000 RDMA_REQ_NEW 201.000 RDMA_REQ_EXECUTING 206.000 RDMA_REQ_COMPLETED
        object r2 0x30 '' 300.000 FC_NEW 301.000 FC_WRITE_SBMT_TO_BDEV 306.000 FC_WRITE_RSP
        object t0 0x40 '' 400.000 ISCSI_TASK_QUEUE 401.000 SCSI_TASK_START 406.000 SCSI_TASK_DONE
        # a command of SPDK's driver is at work itself, as far as it can be attributed
        object p0 0x50 '"related":"r3","args":{"ctx":"0x60"}' 502.000 NVME_TCP_SUBMIT 505.000 NVME_TCP_COMPLETE
        object r3 0x60 '' 500.000 TCP_REQ_NEW 501.000 TCP_REQ_EXECUTING 506.000 TCP_REQ_COMPLETED
        object r4 0x70 '' 600.000 TCP_REQ_NEW 601.000 TCP_REQ_EXECUTING
    } | merged >in
    cat >want <<'L'
["r0","target",2,"below",5]
["r1","target",1,"below",5]
["r2","network",295,"target",1,"below",5]
["t0","below",6]
["r3","target",1,"below",2,"drive",3]
["r4","target",1]
L
    layers in | diff want -
    note='trace-spans: in: no bdev I/O in the lines: requests execute in the layer below; try: rpc.py trace_enable_tpoint_group bdev'
    status_is 0 trace-spans in
    equal "$stderr" "$note"
    [[ $output == *' below 71% target 29%'* ]]
    status_is 0 trace-spans --open in
    equal "$stderr" "$note"
    [[ $output == *' below: TCP_REQ_EXECUTING' ]]
    # an opened channel shows that they would be there
    { echo '{"tsc":1,"us":1.000,"lcore":0,"tpoint":"BDEV_IOCH_CREATE","object":{"value":"0x0"},"args":{"name":"Null0"}}'; cat in; } >channel
    layers channel | diff - <(cat <<'L'
["r0","target",7]
["r1","target",6]
["r2","network",295,"target",1,"bdev",5]
["t0","target",1,"bdev",5]
["r3","target",3,"drive",3]
["r4","target",1]
L
    )
    succeeds trace-spans channel
    # each source has its own
    { sed 's/"lcore"/"source":"a",&/' channel; sed 's/"lcore"/"source":"b",&/' in; } | merged >both
    layers -k 'id=r[01]' both | sort | diff - <(cat <<'L'
["a","r0","target",7]
["a","r1","target",6]
["b","r0","target",2,"below",5]
["b","r1","target",1,"below",5]
L
    )
    # before v21.10 nothing relates a bdev I/O to its request
    { cat in; object i0 0x90 '"args":{"type":1}' 700.000 BDEV_IO_START 701.000 BDEV_IO_DONE; } >unrelated
    layers unrelated | head -n 5 | diff - <(sed 's/295/395/; 5q' want)
    status_is 0 trace-spans unrelated
    equal "$stderr" 'trace-spans: unrelated: 2 requests may be asynchronous event requests: no lifetimes or owners in the lines tell their queue
trace-spans: unrelated: no line says which request started a bdev I/O, as before SPDK v21.10: requests execute in the layer below'
    # after the first one that is related
    {
        object r8 0x10 '' 1.000 TCP_REQ_NEW 2.000 TCP_REQ_COMPLETED
        object i8 0x80 '"related":"r8","args":{"ctx":"0x10"}' 1.200 BDEV_IO_START 1.800 BDEV_IO_DONE
    } | merged >first
    { cat first in; } | layers -k id=r0 | diff - <(echo '["r0","target",7]')
}

@test "there is no heading above what is refused" {
    status_is 1 trace-spans /dev/null
    equal "$output" ''
    echo 'no line' >in
    status_is 1 trace-spans in
    equal "$output" ''
}

@test "-k chooses spans" {
    primes >in
    ids() { trace-spans -q -j "$@" in | jq -r .id | tr '\n' ' '; }
    equal "$(ids -k type=write)" 'r1 r3 r5 '
    equal "$(ids -k io.type=read -k args.qpair.hostnqn='*h0')" 'r0 r6 '
    equal "$(ids -k id='r[23]')" 'r2 r3 '
    # an object as it is written
    equal "$(ids -k 'io={"type":"write"*' -m 11)" 'r5 '
    equal "$(ids -k 'owner=host-1 *')" 'r1 r3 r5 '
    equal "$(ids -k 'owner=*qid:[14]')" 'r1 r4 '
    equal "$(ids -k host=h0)" 'r0 r3 r6 '
    equal "$(deep | trace-spans -q -j -k connection='10.0.0.1:?/2' -k queue=2 -k host=10.0.0.1:5 | jq -r .id)" r0
    # also of text
    equal "$(trace-spans -q -k host=h0 in | sed -n 's/.* \(r[0-9]\) .*/\1/p' | paste -sd ' ')" 'r0 r3 r6'
    fails 'trace-spans: in: -k args.nothing=1: no span has this key' trace-spans -k args.nothing=1 in
    equal "$(wc -l <<<"$stderr")" 1
    fails 'trace-spans: in: none of 7 spans matches -k' trace-spans -k type=nothing in
    fails 'trace-spans: in: none of 7 spans matches -k' trace-spans -q --open -k owner=nobody in
    fails 'trace-spans: in: none of 14 spans matches -k' trace-spans -q -a -n 3 -k owner=nobody in
    # what the other options leave out is no mistake
    status_is 0 trace-spans -m 1000 -k 'owner=*' in
    status_is 0 trace-spans --open -k type=write in
    succeeds trace-spans -k 'owner=host-1 *' --admin in
    # of a live trace, it may come later
    succeeds trace-spans -q --stuck 1000000 -k owner=nobody in
    # those that were stuck come twice, and count once
    status_is 0 trace-spans --stuck 1 -k owner=nobody in
    says "trace-spans: in: none of $(trace-spans -q -j in | grep -c .) spans matches -k"
    grep -v COMPLETED in >open
    status_is 1 trace-spans -q --open -k owner=nobody open
    says "trace-spans: open: none of $(trace-spans -q -j open | grep -c .) spans matches -k"
}

# Requests of queue 0 and others: asynchronous event requests, of which the second one is in flight, and commands of
# SPDK's own NVMe driver.
queues() {
    local admin='"args":{"qpair":{"owner":"t1","ptr":"0xa0","qid":0,"hostnqn":"nqn.a:db-1"}}'
    {
        object r0 0x10 "$admin" 1.000 TCP_REQ_NEW 2.000 TCP_REQ_EXECUTING 900.000 TCP_REQ_COMPLETED
        object s0 0x11 '"related":"r0","args":{"ctx":"0x10"}' 500.000 SOCK_REQ_QUEUE 501.000 SOCK_REQ_COMPLETE
        object r1 0x20 '' 3.000 TCP_REQ_NEW 4.000 TCP_REQ_EXECUTING |
            sed 's/"object"/"poller":"t2","owner":"10.0.0.1:5 nqn.a 10.0.0.2:4420 qid:0",&/'
        object r2 0x30 "${admin/\"qid\":0/\"qid\":10}" 10.000 TCP_REQ_NEW 11.000 TCP_REQ_EXECUTING 19.000 TCP_REQ_COMPLETED
        object i0 0x31 '"related":"r2","args":{"type":1,"ctx":"0x30"}' 12.000 BDEV_IO_START 18.000 BDEV_IO_DONE
        # an I/O queue is connected
        object r3 0x40 '' 20.000 TCP_REQ_NEW 21.000 TCP_REQ_EXECUTING 22.000 TCP_REQ_EXECUTED 23.000 TCP_REQ_COMPLETED |
            sed 's/"object"/"poller":"t3","owner":"10.0.0.1:6 nqn.a 10.0.0.2:4420 qid:1",&/'
        object p0 0x50 '"args":{"opc":12,"cid":1}' 5.000 NVME_TCP_SUBMIT 800.000 NVME_TCP_COMPLETE
        object p1 0x60 '"args":{"opc":127,"cid":1}' 6.000 NVME_TCP_SUBMIT 8.000 NVME_TCP_COMPLETE | sed 's/"object"/"poller":"q01",&/'
        # its host is not known
        object r4 0x70 '' 30.000 TCP_REQ_NEW 31.000 TCP_REQ_NEED_BUFFER
    } | merged
}

@test "admin requests are left out of text, -n, --open and --stuck, unless --admin is given" {
    queues >in
    ids() { trace-spans -j "$@" in 2>said | jq -r .id | tr '\n' ' '; }
    text() { trace-spans "$@" in 2>said | awk '$4 ~ /^[a-z][0-9]/ { print $4 }' | tr '\n' ' '; }
    equal "$(ids -n 9)" 'r4 r2 r3 p1 '
    equal "$(cat said)" 'trace-spans: in: 3 admin requests left out: --admin shows them'
    equal "$(ids -n 9 --admin)" 'r0 r1 r4 p0 r2 r3 p1 '
    equal "$(ids --open)" 'r4 '
    equal "$(ids --open --admin)" 'r1 r4 '
    equal "$(text)" 'p1 r2 r3 r4 '
    equal "$(text -a)" 'p1 i0 r2 r3 r4 '
    equal "$(text -a --admin)" 'r1 p1 i0 r2 r3 r4 s0 p0 r0 '
    equal "$(text --stuck 100)" 'r4 p1 r2 r3 '
    grep -q '3 admin requests left out' said
    equal "$(text --stuck 100 --admin | xargs -n 1 | sort | tr '\n' ' ')" 'p0 p0 p1 r0 r0 r1 r2 r3 r4 '
    trace-spans -q -n 2 in >/dev/null 2>said
    equal "$(cat said)" ''
    # only those that match the other options are counted
    ids -n 9 -m 899 >/dev/null
    grep -q '1 admin request left out' said
    # span lines have them, marked
    trace-spans -j -a in 2>said | jq -c '[.id, .admin]' >out
    equal "$(sort out | tr '\n' ' ')" '["i0",null] ["p0",true] ["p1",null] ["r0",true] ["r1",true] ["r2",null] ["r3",null] ["r4",null] ["s0",null] '
    equal "$(cat said)" ''
    equal "$(ids -k admin=true -n 9)" 'r0 r1 p0 '
    trace-spans -k admin=true in >out
    equal "$(awk 'NR > 1 { print $4 }' out | tr '\n' ' ')" 'r1 p0 r0 '
}

# Requests of a connection whose queue no line tells; of another one is a bdev I/O.
freed() { # NUMBER [SED]
    local i
    {
        for i in $(seq "$1"); do
            object "r$i" "0x1$i" '"args":{"qpair":"0xa0"}' "$i.000" TCP_REQ_NEW "$i.100" TCP_REQ_RDY_TO_EXECUTE \
                "$i.200" TCP_REQ_EXECUTING "900.00$i" TCP_REQ_COMPLETED
        done
        object r0 0x10 '"args":{"qpair":"0xb0"}' 10.000 TCP_REQ_NEW 11.000 TCP_REQ_EXECUTING 19.000 TCP_REQ_EXECUTED 20.000 TCP_REQ_COMPLETED
        object i0 0x20 '"related":"r0","args":{"type":1,"ctx":"0x10"}' 12.000 BDEV_IO_START 18.000 BDEV_IO_DONE
        echo '{"tsc":1,"us":900.000,"lcore":0,"tpoint":"TCP_QP_DISCONNECT","object":{"value":"0xa0"}}'
    } | merged | sed "${2:-}"
}

@test "a request that is freed when its connection ends is an admin request" {
    admin() { trace-spans -j 2>said | jq -r 'select(.admin).id' | tr '\n' ' '; }
    equal "$(freed 2 | admin)" 'r1 r2 '
    equal "$(cat said)" ''
    # from v24.05 on, by its owner
    equal "$(freed 2 | sed 's/"object":{"value":"0xa0"}/"args":{"qpair":"0xa0"}/; s/"args":{"qpair":"0x\(.\)0"}/"poller":"t2\1","owner":"10.0.0.1:5 nqn.\1"/; s/t2a/t21/; s/t2b/t22/' | admin)" 'r1 r2 '
    # over RDMA it has no entry then
    equal "$(freed 2 '/COMPLETED.*r[12]"/d; s/"TCP_/"RDMA_/' | admin)" 'r1 r2 '
    # a connection has four at most
    equal "$(freed 6 | admin)" 'r1 r2 r3 r4 '
    # where its end is not known, and where it had I/O, it may be I/O
    for unsure in '/DISCONNECT/d' 's/0xb0/0xa0/' 's/"args":{"qpair":"0xa0"}/"args":{"qd":1}/'; do
        equal "$(freed 2 "$unsure" | admin)" ''
        equal "$(cat said)" 'trace-spans: <stdin>: 2 requests may be asynchronous event requests: no lifetimes or owners in the lines tell their queue'
        freed 2 "$unsure" | trace-spans -n 9 >out 2>/dev/null
        equal "$(awk '/admin[?]$/ { print $4 }' out | sort | tr '\n' ' ')" 'r1 r2 '
    done
    # that no I/O follows says nothing if none is in the lines
    equal "$(freed 2 /BDEV/d | admin)" ''
    [[ $(cat said) != *asynchronous* ]]
    # what had waited for a buffer, or has been executed, is I/O
    for not in 's/RDY_TO_EXECUTE/NEED_BUFFER/' '/EXECUTING.*r[12]"/d' 's/COMPLETED\(.*r[12]"\)/EXECUTED\1/'; do
        equal "$(freed 2 "$not" | admin)" ''
        equal "$(cat said)" ''
    done
    # another connection at the same address
    equal "$({ freed 2; freed 1 '/DISCONNECT/d; /i0/d; /r0/d; s/r1/r9/; s/"us":\([19]\)/"us":1000\1/'; } | admin)" 'r1 r2 '
}

@test "--open prints last what may be an asynchronous event request" {
    {
        object r0 0x10 '' 1.000 TCP_REQ_NEW 2.000 TCP_REQ_EXECUTING
        object r1 0x20 '' 3.000 TCP_REQ_NEW 4.000 TCP_REQ_NEED_BUFFER
        object r2 0x30 '' 5.000 TCP_REQ_NEW 8.000 TCP_REQ_COMPLETED
        object i0 0x40 '"related":"r2","args":{"type":1,"ctx":"0x30"}' 6.000 BDEV_IO_START 7.000 BDEV_IO_DONE
    } | merged >in
    trace-spans -q --open in >out
    equal "$(awk 'NR > 1 { print $4, $NF }' out)" 'r1 TCP_REQ_NEED_BUFFER
r0 admin?'
    equal "$(trace-spans -j in | jq -r 'select(.maybe_admin) | .id')" r0
}

@test "--open prints what is in flight, the oldest first, and what it waits for" {
    export LC_ALL=C.UTF-8
    {
        object r0 0x10 '' 1.000 TCP_REQ_NEW 2.000 TCP_REQ_NEED_BUFFER
        object r1 0x20 '' 0.500 TCP_REQ_NEW 3.000 TCP_REQ_EXECUTING
        object i1 0x30 '"related":"r1","args":{"type":1,"ctx":"0x20"}' 2.500 BDEV_IO_START
        object r2 0x40 '' 0.100 TCP_REQ_NEW 4.000 TCP_REQ_COMPLETED
        entry 20.000 TCP_QP_DISCONNECT r9 - 0x90 | sed 's/"object":{[^}]*},*//; s/,}/}/'
    } | merged >in
    status_is 0 trace-spans --open in
    diff - <(echo "$output") <<'L'
         US      AGE ID      TYPE   BDEV       CONNECTION     WAITS FOR
      0.500  19.5 us r1      read   -          -            17.5 us bdev: TCP_RE…ING > BDEV_IO_START
      1.000  19.0 us r0      -      -          -            18.0 us buffer: TCP_REQ_NEED_BUFFER
L
    status_is 0 sh "trace-spans --open -n 1 -j in | jq -r .id"
    equal "$output" r1
}

@test "-s tells the story, and what held the request" {
    {
        object r9 0x90 '"poller":"t300","owner":"x"' 0.000 TCP_REQ_NEW 0.100 TCP_REQ_NEED_BUFFER
        # these have buffers when r0 gets one; not r4, which has ended, nor r3, which gets one later
        object r6 0x60 '"poller":"t301","owner":"10.0.0.1:9 qid:2"' 0.200 TCP_REQ_NEW 0.210 TCP_REQ_NEED_BUFFER 0.300 TCP_REQ_EXECUTING
        object r5 0x50 '"poller":"t301","owner":"10.0.0.1:9 qid:2"' 0.220 TCP_REQ_NEW 0.230 TCP_REQ_NEED_BUFFER 0.310 TCP_REQ_EXECUTING
        object r4 0x40 '"poller":"t300","owner":"x"' 0.240 TCP_REQ_NEW 0.250 TCP_REQ_NEED_BUFFER 0.320 TCP_REQ_EXECUTING 0.500 TCP_REQ_COMPLETED
        object r3 0x30 '"poller":"t300","owner":"x"' 0.330 TCP_REQ_NEW 0.340 TCP_REQ_NEED_BUFFER 30.000 TCP_REQ_EXECUTING
        object r2 0x25 '"poller":"t302","owner":"y"' 0.350 TCP_REQ_NEW 0.360 TCP_REQ_NEED_BUFFER 0.370 TCP_REQ_EXECUTING
        object s8 0x80 '"related":"r9","args":{"ctx":"0x90"}' 1.500 SOCK_REQ_QUEUE 70.000 SOCK_REQ_PEND
        object r0 0x10 '"poller":"t300","owner":"x"' 1.000 TCP_REQ_NEW 1.100 TCP_REQ_NEED_BUFFER 21.100 TCP_REQ_TX_H_TO_C 41.100 TCP_REQ_EXECUTED
        object s0 0x20 '"related":"r0","args":{"ctx":"0x10"}' 41.200 SOCK_REQ_QUEUE 71.000 SOCK_REQ_PEND 71.100 SOCK_REQ_COMPLETE
        entry 71.200 TCP_REQ_COMPLETED r0 70.200 0x10 '"poller":"t300","owner":"x"'
        for us in 22 23 24 25; do
            printf '{"tsc":1,"us":%s.000,"lcore":1,"tpoint":"TCP_QP_RCV_STATE_CHANGE","poller":"t300","owner":"x","args":{"state":2}}\n' $us
        done
    } | merged >in
    status_is 0 trace-spans -q -s -k id=r0 in
    diff - <(echo "$output") <<'L'
         US     LIFE ID      TYPE   BLOCKS BDEV       CONNECTION   SHARES
      1.000  70.2 us r0      -           - -          x            network 43% buffer 28% host 28%
     WAIT          US WHO          TPOINT                  OBJECT          SIZE ARGS
     0 ns       1.000 x            TCP_REQ_NEW             r0                 -
   100 ns       1.100 x            TCP_REQ_NEED_BUFFER     r0                 -
* 20.0 us      21.100 x            TCP_REQ_TX_H_TO_C       r0                 -
          waited for a buffer while 2 others did
          3 requests had a buffer, 2 of them of 10.0.0.1:9/2
          lcore 0 wrote nothing for 19.6 us, else 1 entry: 1 of x
* 20.0 us      41.100 x            TCP_REQ_EXECUTED        r0                 -
          lcore 0 wrote nothing for 11.1 us, else 1 entry: 1 of x
   100 ns      41.200 -            SOCK_REQ_QUEUE          s0(r0)             - ctx=0x10
* 29.8 us      71.000 -            SOCK_REQ_PEND           s0(r0)             - ctx=0x10
          queued after 1 other on the socket
          lcore 0 wrote nothing for 28.8 us, else 1 entry: 1 of x
   100 ns      71.100 -            SOCK_REQ_COMPLETE       s0(r0)             - ctx=0x10
   100 ns      71.200 x            TCP_REQ_COMPLETED       r0                 -
L
}

# The waits of a span, one to a line.
waits() { # ID FILE
    trace-spans -q -j -k id="$1" "$2" | sed 's/.*"waits":\[//; s/\],"args.*//; s/},{/}\n{/g; s/\]}$//; s/\],"open":true}//'
}

@test "a wait says what its lcore wrote meanwhile, and for whom" {
    {
        object r0 0x10 '"poller":"t300","owner":"10.0.0.1:5 qid:1"' 100.000 TCP_REQ_NEW 110.000 TCP_REQ_RDY_TO_EXECUTE 500.000 TCP_REQ_EXECUTED 510.000 TCP_REQ_COMPLETED
        # what a request starts is for its connection, whatever its owner
        object r1 0x20 '"poller":"t301","owner":"10.0.0.2:6 qid:2"' 120.000 TCP_REQ_NEW 130.000 TCP_REQ_EXECUTING 150.000 TCP_REQ_EXECUTED
        object i1 0x30 '"related":"r1","args":{"ctx":"0x20"},"poller":"b260","owner":"bdev_Null0"' 135.000 BDEV_IO_START 140.000 BDEV_IO_DONE
        object i2 0x40 '"poller":"b261","owner":"bdev_Null1"' 160.000 BDEV_IO_START 165.000 BDEV_IO_DONE
        echo '{"tsc":1,"us":166.000,"lcore":0,"tpoint":"SOME_EVENT"}'
        poller 0 170 170 1
        poller 0 480 480 1
        # another lcore, and another tool
        poller 1 105 500 5
        off 400.000 0 200.000
    } | merged >in
    equal "$(waits r0 in)" '{"us":390.000,"at":10.000,"state":"TCP_REQ_RDY_TO_EXECUTE","layer":"target","lcore":0,"entries":10,"silent":310.000,"active":80.000,"of":{"10.0.0.2:6/2":[5,40.000],"bdev_Null1":[2,15.000],"t9":[2,4.000],"SOME":[1,1.000]}}'
    equal "$(COLUMNS=1000 trace-spans -q -s -k id=r0 in | grep wrote)" \
        '          lcore 0 wrote nothing for 310 us, else 10 entries: 5 of 10.0.0.2:6/2, 2 of bdev_Null1, 2 of t9, 1 of others'
    # without the silence; none of its own is among them
    grep -v -e '"us":480.000,"lcore":0' -e OFF_CPU in | sed 's/"us":500.000,"lcore":0/"us":180.000,"lcore":0/' | merged >busy
    equal "$(COLUMNS=1000 trace-spans -q -s -k id=r0 busy | grep -A 1 '^\* 70.0 us ' | tail -n 1)" \
        '          lcore 0 wrote 9 entries meanwhile: 5 of 10.0.0.2:6/2, 2 of bdev_Null1, 1 of t9, 1 of others'
    # only children of requests have no waits: they are in those of the root
    equal "$(trace-spans -q -a -j in | jq -r 'select(.parent and .waits) | .id')" ''
    equal "$(trace-spans -q -j in | jq -r 'select(.waits) | .id' | tr '\n' ' ')" 'r1 i2 r0 '
    # cut: from its creation, and nobody knows who wrote then
    entry 700.000 TCP_REQ_COMPLETED r9 350.000 0x90 >earlier
    equal "$(trace-spans -q -j earlier | plain | jq -c .waits)" '[{"us":350,"layer":"unknown"}]'
    # in flight: until the end
    { cat in; poller 0 600 600 1; } >longer
    equal "$(waits r1 longer | tail -n 1)" '{"us":450.000,"at":30.000,"state":"TCP_REQ_EXECUTED","layer":"target","lcore":0,"entries":8,"silent":310.000,"active":140.000,"of":{"t9":[3,94.000],"10.0.0.1:5/1":[2,30.000],"bdev_Null1":[2,15.000],"SOME":[1,1.000]}}'
}

@test "an lcore works until the call that passes a request on has returned" {
    {
        object r0 0x10 '"poller":"t300","owner":"10.0.0.1:5 qid:1"' 1.000 TCP_REQ_NEW 2.000 TCP_REQ_EXECUTING
        object i0 0x30 '"related":"r0","args":{"ctx":"0x10"}' 1.500 BDEV_IO_START 5000.000 BDEV_IO_DONE
        # as an unmap, whose bdev I/O is not the request's
        object r1 0x20 '"poller":"t301","owner":"10.0.0.2:6 qid:2"' 8.000 TCP_REQ_NEW 9.000 TCP_REQ_RDY_TO_EXECUTE 4010.000 TCP_REQ_EXECUTING
        object i1 0x40 '"args":{"ctx":"0x99"}' 10.000 BDEV_IO_START
    } | merged >in
    equal "$(waits r0 in | plain | jq -c '[.us, .silent, .active, .of["10.0.0.2:6/2"]]')" '[4998,990,4008,[3,4007]]'
    # its own time is no silence, either
    equal "$(trace-spans -q -j -k id=r1 in | plain | jq -c '.waits[] | select(.us == 4001) | [.state, .silent, .active]')" '["TCP_REQ_RDY_TO_EXECUTE",0,4001]'
    # where it has not returned, another request says so
    sed -i '/"us":4010.000/s/r1/r7/; /"us":4010.000/s/0x20/0x70/' in
    equal "$(waits r0 in | plain | jq -c .silent)" 4000
}

# Requests of a host, a line for each: the number of the request, and when it starts.
timed() {
    while read -r id at; do
        object "r$id" "0x$id" '"poller":"t300","owner":"10.0.0.1:5 qid:1"' "$at" TCP_REQ_NEW "$(awk -v at="$at" 'BEGIN { printf "%.3f", at + 50 }')" TCP_REQ_TRANSFER_C2H
    done
}

# The estimates for requests that waited before their reactor read them.
unread() {
    merged >in
    trace-spans -q -j in | plain | jq -r 'select(.unread) | [.id, .unread, .unread_by // .unread_for] | @tsv'
}

@test "requests that were in the socket while the reactor was away have waited, it is estimated" {
    # one a millisecond, until another process has the CPU for 10 ms; then the four that the host had sent are read at once
    usual() { seq 10 | awk '{ print $1, $1 * 1000 ".000" }'; }
    away() { off 20050.000 0 "${1:-10000.000}"; }
    { { usual; printf '%s\n' '11 20100.000' '12 20110.000' '13 20120.000' '14 20130.000'; } | timed; away; } | unread >got
    # their time since 10.55, 11.55, ... ms
    diff - got <<'L'
r11	9550	stress-ng
r12	8560	stress-ng
r13	7570	stress-ng
r14	6580	stress-ng
L
    # what begins after the reply to one of them was sent later
    { { usual; printf '%s\n' '11 20100.000' '12 20160.000'; } | timed; away; } | unread >got
    equal "$(cut -f 1 got)" r11
    # so was what does not come faster than usually
    { { usual; printf '%s\n' '11 20700.000' '12 21700.000'; } | timed; away; } | unread >got
    equal "$(cat got)" ''
    # less than a millisecond is no absence, and of a host that has just come no rate is known
    { { usual; echo '11 20100.000'; } | timed; away 999.000; } | unread >got
    equal "$(cat got)" ''
    { { usual | tail -n 5; echo '11 20100.000'; } | timed; away; } | unread >got
    equal "$(cat got)" ''
    # the same where the lcore was in the call of another host's request instead
    call() { # UNTIL
        object r90 0x90 '"poller":"t301","owner":"10.0.0.2:6 qid:2"' 10051.000 TCP_REQ_NEW 10052.000 TCP_REQ_RDY_TO_EXECUTE "$1" TCP_REQ_EXECUTING
    }
    { { usual; printf '%s\n' '11 20100.000' '12 20110.000'; } | timed; call 20050.000; } | unread >got
    diff - got <<'L'
r11	9548	10.0.0.2:6/2
r12	8558	10.0.0.2:6/2
L
    # -m counts it, and the story has it
    equal "$(trace-spans -q -j -m 9500 in | jq -r 'select(.life < 9500) | .id')" r11
    trace-spans -q -s -k id=r11 in | grep -qx ' *was in its socket for another ~9.55 ms while the lcore worked for 10.0.0.2:6/2'
    { { usual; echo '11 11090.000'; } | timed; call 11051.000; } | unread >got
    equal "$(cat got)" ''
    # if that was one of a queue of one, and its reply came first, the host sent its next one then
    {
        { usual; echo '11 20100.000'; } | timed
        object r80 0x80 '"poller":"t300","owner":"10.0.0.1:5 qid:1"' 10060.000 TCP_REQ_NEW 20060.000 TCP_REQ_TRANSFER_C2H
        call 20050.000
    } | unread >got
    equal "$(cat got)" ''
}

@test "a wait says how long its lcore was active if that is less than a quarter" {
    busy() { # EVERY: us
        {
            object r0 0x10 '"poller":"t300","owner":"10.0.0.1:5 qid:1"' 1000.000 TCP_REQ_NEW 2010.000 TCP_REQ_COMPLETED
            for burst in {1..5}; do
                poller 0 $((800 + burst * 200)) $((840 + burst * 200)) "$1"
            done
        } | merged
    }
    # bursts of 40 us and silences of 160 us, but the first is after r0's entry, and the last 170 us before its next one
    busy 10 >in
    equal "$(waits r0 in | sed 's/"of".*//')" '{"us":1010.000,"at":0.000,"state":"TCP_REQ_NEW","layer":"target","lcore":0,"entries":25,"silent":170.000,"active":200.000,'
    equal "$(COLUMNS=1000 trace-spans -q -s -k id=r0 in | grep wrote)" \
        '          lcore 0 wrote 25 entries meanwhile, active for 20% of it: 25 of t9'
    # and silences of 90 us
    { cat in; for us in 1110 1310 1510 1710 1910; do poller 0 $us $us 1; done; } | merged >most
    equal "$(trace-spans -q -s -k id=r0 most | grep wrote)" '          lcore 0 wrote 30 entries meanwhile: 30 of t9'
    equal "$(trace-spans -q -j -k id=r0 most | plain | jq '.waits[0].active')" 1010
}

@test "connections of one host that wrote during a wait are counted together" {
    {
        object r0 0x10 '"poller":"t300","owner":"10.0.0.1:5 qid:1"' 100.000 TCP_REQ_NEW 500.000 TCP_REQ_COMPLETED
        for n in 1 2 3 4; do
            object "r$n" "0x2$n" "\"args\":{\"qpair\":{\"ptr\":\"0x$n\",\"qid\":$n,\"hostnqn\":\"nqn.a:storm\"}}" 1${n}0.000 TCP_REQ_NEW 3${n}0.000 TCP_REQ_COMPLETED
        done
        object r5 0x30 '"args":{"qpair":{"ptr":"0x5","qid":1,"hostnqn":"nqn.a:db-1"}}' 180.000 TCP_REQ_NEW 190.000 TCP_REQ_EXECUTING 290.000 TCP_REQ_COMPLETED
        object i2 0x40 '"poller":"b261","owner":"bdev_Null1"' 160.000 BDEV_IO_START 165.000 BDEV_IO_DONE
        poller 0 170 170 1
    } | merged >in
    equal "$(COLUMNS=1000 trace-spans -q -s -k id=r0 in | tail -n 1)" \
        '          lcore 0 wrote 14 entries meanwhile: 8 of storm (4 connections), 3 of db-1/1, 2 of bdev_Null1, 1 of others'
    equal "$(trace-spans -q -j -k id=r0 in | jq -c '.waits[0].hosts | map_values([.[0], .[2]])')" '{"storm":[8,4]}'
}

@test "of a wait with very many entries, the latest are told apart, and the others counted" {
    long() { # CONNECTIONS
        entry 1.000 A r0 - 0x10
        # a silence, and 80000 entries after it
        awk -v n="$1" 'BEGIN { for (i = 0; i < 80000; i++)
            printf "{\"tsc\":1,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"POLL\",\"poller\":\"t%d\"}\n", 50000 + i, i < 79000 ? i % 4 : 10 + i % n }'
        entry 130000.000 B_DONE r0 129999.000 0x10
    }
    long 100 >in
    equal "$(waits r0 in)" '{"us":129999.000,"at":0.000,"state":"A","layer":"target","lcore":0,"entries":80000,"kept":65534,"silent":49999.000,"rare":true,"of":{"t2":[16134,16134.000],"t3":[16134,16134.000],"t0":[16133,16133.000],"t1":[16133,16133.000]}}'
    equal "$(COLUMNS=1000 trace-spans -s in | tail -n 1)" \
        '          lcore 0 wrote 80000 entries meanwhile, of the latest 65534: 16134 of t2, 16134 of t3, 16133 of t0, 17133 of others'
    # of more than an lcore has sums for, some are others
    long 500 >in
    COLUMNS=1000 trace-spans -s in | tail -n 1 | grep -qE '80000 entries meanwhile, of the latest 65534: .*, [0-9]{5} of others$'
}

@test "the entries of stories are lines of trace-join -s" {
    mktrace -o trace "$DATA/sample.jsonl"
    trace-dump -q trace >lines
    qpair-lifetimes "$DATA/sample-probes.txt" >lifetimes
    # columns get wider later in one of them
    trace-join -s -l lifetimes lines | tr -s ' ' >text
    # after the time before it and the mark
    trace-join -j -l lifetimes lines | COLUMNS=1000 trace-spans -q -s | grep -E '^[ *] [ 0-9.]{4} .s ' | grep -v 'no entry since$' | cut -c 11- | tr -s ' ' >entries
    run -1 grep -vxFf text entries
    # every entry of a request, and none twice
    equal "$(grep -c ' r[0-9]' entries)" "$(grep -c '"id":"r' lines)"
    equal "$(sort -u entries | wc -l)" "$(wc -l <entries)"
}

@test "a span is printed when it has ended, and a stuck one once" {
    mkfifo in
    trace-spans -q --stuck 50000 <in >out &
    pid=$!
    exec 7>in
    # in one write: while they are made, time passes
    {
        entry 1.000 TCP_REQ_NEW r0 - 0x10
        object r1 0x20 '' 2.000 TCP_REQ_NEW 5.000 TCP_REQ_COMPLETED
        entry 20000.000 TCP_REQ_NEW r2 - 0x30
    } >lines
    cat lines >&7
    wait_for_text 'r1 ' out
    # time passes while the target writes nothing
    wait_for_text 'r2 ' out
    entry 200000.000 TCP_REQ_COMPLETED r0 199999.000 0x10 >&7
    exec 7>&-
    wait "$pid"
    equal "$(awk '{ print $1 == "US" ? $2 : $4 }' out | tr '\n' ' ')" 'LIFE r1 AGE r0 r2 LIFE r0 '
}

@test "with --stuck, lines that come late are not taken for spans that take long" {
    mkfifo in
    trace-spans -q --stuck 150000 <in >out &
    pid=$!
    exec 7>in
    object r0 0x10 '' 1.000 TCP_REQ_NEW 5.000 TCP_REQ_COMPLETED >first
    for i in 1 2 3; do
        object "r$i" 0x20 '' "${i}0000.000" TCP_REQ_NEW "${i}5000.000" TCP_REQ_COMPLETED
    done >late
    cat first >&7
    # time seems to pass meanwhile
    sleep 1
    cat late >&7
    exec 7>&-
    wait "$pid"
    equal "$(awk 'NR > 1 { print $4 }' out | tr '\n' ' ')" 'r0 r1 r2 r3 '
}

@test "with --stuck, a span that waits for lines of other tools is printed when the input pauses" {
    mkfifo in
    trace-spans -q --stuck 10000000 <in >out &
    pid=$!
    exec 7>in
    # it may be followed by a line about its time for a second
    { off 100.000 0 50.000; object r1 0x20 '' 200.000 TCP_REQ_NEW 205.000 TCP_REQ_COMPLETED; } >lines
    cat lines >&7
    wait_for_text 'r1 ' out
    exec 7>&-
    wait "$pid"
}

@test "a span that has ended is printed when the input pauses" {
    mkfifo in
    trace-spans -q <in >out &
    pid=$!
    exec 7>in
    entry 1.000 TCP_REQ_NEW r0 - 0x10 >&7
    object r1 0x20 '' 2.000 TCP_REQ_NEW 5.000 TCP_REQ_COMPLETED >&7
    wait_for_text 'r1 ' out
    # also of much input, which a thread reads; the trace's time does not pass meanwhile
    awk 'BEGIN {
        for (i = 2; i <= 3000; i++) {
            printf "{\"tsc\":1,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"TCP_REQ_NEW\",\"object\":{\"id\":\"r%d\",\"value\":\"0x20\"}}\n", i * 10, i
            printf "{\"tsc\":1,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"TCP_REQ_COMPLETED\",\"object\":{\"id\":\"r%d\",\"us\":3.000,\"value\":\"0x20\"}}\n", i * 10 + 3, i
        }
    }' >many
    cat many >&7
    wait_for_text 'r3000 ' out
    exec 7>&-
    wait "$pid"
    equal "$(awk 'NR > 1 { print $4 }' out | tr '\n' ' ')" "$(seq -f 'r%g' 1 3000 | tr '\n' ' ')r0 "
    equal "$(tail -n 1 out | awk '{ print $2, $3 }')" '>30.0 ms'
}

@test "lines that are no trace lines are reported, and the rest is used" {
    deep >in
    echo '{"tsc":' >>in
    fails 'trace-spans: in:21: not a trace line, left out: ' trace-spans in
    equal "$(wc -l <<<"$output")" 2
    : >empty
    fails_only 'trace-spans: empty: empty: there are no trace lines' trace-spans empty
}

@test "a story marks gaps of a tenth of the span" {
    object r0 0x10 '' 100.000 A 101.000 B 101.999 C 110.000 D_DONE >in
    status_is 0 sh "trace-spans -s in | sed -n 's/^[*] \([^A-Z]*s\) .*/\1/p'"
    equal "$output" $'1.00 us\n8.00 us'
}

# Lines of offcpusnoop about the reactor of an lcore, and of biosnoop: each at its end.
held() { # US LCORE DURATION TPOINT MEMBERS [PID]
    awk -v us="$1" -v lcore="$2" -v duration="$3" -v tpoint="$4" -v members="$5" -v pid="${6:-12}" 'BEGIN {
        printf "{\"tsc\":%d,\"us\":%.3f,\"source\":\"off\",\"lcore\":7,\"tpoint\":\"%s\",", us * 1000 + 5000, us, tpoint
        printf "\"args\":{\"comm\":\"reactor_%d\",\"tid\":%d,\"pid\":%d,\"begin\":%d,", lcore, pid, pid, (us - duration) * 1000 + 5000
        printf "\"duration\":%.3f,%s}}\n", duration, members }'
}
off() { # US LCORE DURATION [PID]
    held "$1" "$2" "$3" OFF_CPU '"why":"preempted","by":"stress-ng","by_pid":77,"queued":1.000' "${4:-12}"
}
irq() { # US LCORE DURATION
    held "$1" "$2" "$3" IRQ '"kind":"irq","name":"nvme0q1"'
}
block() { # US TYPE SECTOR BYTES LATENCY [DISK]
    printf '{"tsc":9,"us":%s,"source":"bio","lcore":7,"tpoint":"BLOCK_IO","args":{"comm":"reactor_0","pid":12,"disk":"%s","type":"%s","sector":%s,"bytes":%s,"latency":%s}}\n' \
        "$1" "${6:-sda}" "$2" "$3" "$4" "$5"
}
bdev_io() { # ID VALUE TYPE LBA BLOCKS START END [MEMBER]
    object "$1" "$2" "\"args\":{\"type\":$3,\"ctx\":\"0x99\",\"offset\":$4,\"len\":$5}" "$6" BDEV_IO_START
    object "$1" "$2" '' "$6" BDEV_IO_START "$7" BDEV_IO_DONE | sed 1d
}

# ID, off_cpu, irq and disk of each span, without zeros after the point.
parts() {
    trace-spans "$@" | jq -c '[.id, .off_cpu, .irq, .disk]' | plain
}

@test "lines of offcpusnoop and biosnoop say what held a request" {
    export LC_ALL=C.UTF-8
    {
        object r0 0x10 '' 100.000 TCP_REQ_NEW 102.000 TCP_REQ_EXECUTING 330.000 TCP_REQ_COMPLETED
        object i0 0x20 '"related":"r0","args":{"type":1,"ctx":"0x10","offset":64}' 101.000 BDEV_IO_START | sed 's/"object"/"size":8,&/'
        object i0 0x20 '' 101.000 BDEV_IO_START 320.000 BDEV_IO_DONE | sed 1d
        # before it
        off 99.000 0 50.000
        irq 110.000 0 6.000
        off 300.000 0 180.000
        block 310.000 RA 64 4096 200.000 nvme0n1
        # of another lcore, and after it
        off 311.000 1 9.000
        off 340.000 0 1.000
    } | merged >in
    succeeds trace-spans -s in
    diff - <(echo "$output") <<'L'
         US     LIFE ID      TYPE   BLOCKS BDEV       CONNECTION   SHARES
    100.000   230 us r0      read        8 -          -            bdev 95% (off_cpu 78% disk >87%)
     WAIT          US WHO          TPOINT                  OBJECT          SIZE ARGS
     0 ns     100.000 -            TCP_REQ_NEW             r0                 -
  1.00 us     101.000 -            BDEV_IO_START           i0(r0)             8 type=1 ctx=0x10 off…
  1.00 us     102.000 -            TCP_REQ_EXECUTING       r0                 -
              110.000 interrupt nvme0q1 for 6.00 us
              300.000 preempted by stress-ng (77) for 180 us
              310.000 disk nvme0n1 for 200 us
*  218 us     320.000 -            BDEV_IO_DONE            i0                 -
          lcore 0 wrote nothing meanwhile
  10.0 us     330.000 -            TCP_REQ_COMPLETED       r0                 -
L
    # beside the layers, which add up to the life without them
    status_is 0 trace-spans -j in
    [[ $output == *'"target":11.000,"below":0.000,"bdev":219.000,"drive":0.000,"reply":0.000,"unknown":0.000},"off_cpu":180.000,"irq":6.000,"off_cpu_by":{"stress-ng":180.000},"irq_by":{"nvme0q1":6.000},"disk":200.000,"covered":["off_cpu"],"silent":218.000,"waits":['* ]]
    equal "$(trace-spans -j -k off_cpu='1*' in | jq -r .id)" r0
    # without the lines: nothing of it
    grep -v -e OFF_CPU -e IRQ -e BLOCK_IO in >without
    equal "$(trace-spans -j without)" "${output%%,\"off_cpu*},\"silent${output#*,\"silent}"
}

# Entries without an object, every US microseconds from FROM to TO.
poller() { # LCORE FROM TO US
    awk -v lcore="$1" -v from="$2" -v to="$3" -v step="$4" 'BEGIN {
        for (us = from; us <= to; us += step)
            printf "{\"tsc\":%d,\"us\":%.3f,\"lcore\":%d,\"tpoint\":\"POLL\",\"poller\":\"t9\"}\n", us * 1000, us, lcore }'
}

# Requests of a host with a long name, on a bdev with another one, and with long arguments.
wide() {
    local host='nqn.2026-11.io.example:a-very-long-name-of-a-höst' bdev='a bdev with a name \\u001b[31m that hides'
    {
        object r1 0x10 "\"args\":{\"qpair\":{\"ptr\":\"0x1\",\"qid\":7,\"hostnqn\":\"$host\"}}" 100.000 TCP_REQ_NEW 101.000 TCP_REQ_EXECUTING
        object i1 0x20 "\"related\":\"r1\",\"poller\":\"b26\",\"owner\":\"bdev_$bdev\",\"args\":{\"type\":1,\"ctx\":\"0x10\",\"offset\":64,\"text\":\"$bdev\"}" \
            102.000 BDEV_IO_START 900.000 BDEV_IO_DONE
        entry 1000.000 TCP_REQ_COMPLETED r1 900.000 0x10
        object i9 0x90 '' 500.000 BDEV_IO_START 500.500 BDEV_IO_DONE
        object r2 0x30 "\"args\":{\"qpair\":{\"ptr\":\"0x1\",\"qid\":7,\"hostnqn\":\"$host\"}}" 1000.000 TCP_REQ_NEW 1100.000 TCP_REQ_READY_TO_EXECUTE_AND_WAITING
        off 700.000 0 180.000
    } | merged
}

@test "a story has the exact time of what held the reactor" {
    {
        entry 12345678900100.001 TCP_REQ_NEW r1 - 0x10
        printf '{"tsc":700,"us":12345678900700.001,"source":"off","lcore":7,"tpoint":"OFF_CPU","args":{"comm":"reactor_0","tid":12,"pid":12,"begin":600,"duration":100.000,"why":"preempted","by":"xz","by_pid":77}}\n'
        entry 12345678901000.001 TCP_REQ_COMPLETED r1 900.000 0x10
    } >in
    trace-spans -q -s in | grep -q '^ *12345678900700.001 preempted by xz (77) for 100 us$'
}

@test "text fits the terminal, and COLUMNS=1000 prints all of it" {
    export LC_ALL=C.UTF-8
    wide >in
    for columns in '' 1 60 80 99 100 110 130 159 160 200; do
        width=$((columns < 60 ? columns ? 60 : 100 : columns))
        for options in '' -a -s --open '-s --open' '-s -a' '--stuck 1'; do
            COLUMNS=$columns CLICOLOR_FORCE=1 trace-spans -q $options in | sed 's/\x1b\[[0-9;]*m//g' >text
            [ -s text ]
            # in characters
            [ "$(wc -L <text)" -le "$width" ] ||
                { echo "$columns columns, $options"; cat text; return 1; }
            equal "$(grep -c ' $' text)" 0
        done
    done
    COLUMNS=80 trace-spans -q in | grep ' a_…t_hides a-v…a-höst/7 bdev 89%'
    # a line that has no room for its flags is clipped
    {
        wide
        entry 99999999.000 TCP_REQ_READY_TO_EXECUTE_AND_WAITING r9 98999999.000 0x90
        entry 99999999.100 TCP_REQ_EXECUTING r9 98999999.100 0x90
    } >late
    for options in '' --open; do
        COLUMNS=60 trace-spans -q $options late >text
        [ "$(wc -L <text)" = 60 ] || { cat text; return 1; }
        grep -q 'r9 .*…$' text
    done
    # nothing is shortened, and nothing is lost in the other lines
    for options in '' -s --open; do
        COLUMNS=1000 trace-spans -q $options in >text
        equal "$(grep -c … text)" 0
        grep -q 'a-very-long-name-of-a-höst/7 ' text
    done
    sentences() { trace-spans -q -s -k id=r1 in | sed -n "s/^ \\{10,12\\}\\([0-9a-z]\\)/\\1/p" | grep -v " US " | paste -sd ' '; }
    equal "$(COLUMNS=60 sentences)" "$(COLUMNS=1000 sentences)"
}

@test "the table in a pipe has tabs, microseconds and all columns, as JSON has them" {
    gzip -dc "$DATA/slow-host.trace.gz" >trace
    qpair-lifetimes "$DATA/slow-host-probes.txt" >lifetimes
    chosen() { # COLUMN...
        awk -F '\t' -v OFS='\t' -v names="$*" '
            NR == 1 { n = split(names, wanted, " "); for (i = 1; i <= NF; i++) at[$i] = i; columns = NF; next }
            NF != columns { print "columns: " NF }
            { line = $at[wanted[1]]; for (i = 2; i <= n; i++) line = line OFS $at[wanted[i]]; print line }'
    }
    command trace-spans -q -l lifetimes trace >plain
    trace-spans -q -j -l lifetimes trace >lines
    chosen US LIFE ID TYPE BLOCKS CONNECTION LCORE TO_REPLY buffer bdev FLAGS <plain >have
    jq -c '[.us, .life, .id, .io.type // "-", .io.blocks // "-", .connection // "-", .lcore, .to_reply // .life, .layers.buffer, .layers.bdev,
        ([if .open then "open" else empty end, if .cut then "cut" else empty end] | join(" ") | if . == "" then "-" else . end)]' lines | plain >want
    jq -R -c 'split("\t") | map(tonumber? // .)' have | plain | diff want -
    equal "$(sed 1d plain | sort -t $'\t' -rgk 2 | head -n 1 | cut -f 1,2)" $'184.183\t9080.272'
    equal "$(chosen BDEV <plain | sort | uniq -c | awk '$2 != "-" { print $2 }' | paste -sd ' ')" 'Archive Data1 Data1>Malloc1 Data2'
    command trace-spans -q -l lifetimes --open trace | chosen ID WAITS FOR | head -n 1 | diff - <(printf 'r239\t4807.753\tTCP_REQ_EXECUTING > BDEV_IO_START\n')
    # stories are for people
    command trace-spans -q -s -n 1 trace | diff - <(trace-spans -q -s -n 1 trace)
    command trace-spans -q trace | { trace-spans 2>&1 >/dev/null || true; } | grep -q 'the text of trace-spans, not trace lines'
}

@test "on a terminal text has colours, the same for a layer everywhere" {
    deep >in
    for options in '' -s; do
        trace-spans -q $options in >plain
        equal "$(grep -c $'\e' plain)" 0
        CLICOLOR_FORCE=1 trace-spans -q $options in >coloured
        sed 's/\x1b\[[0-9;]*m//g' coloured | diff plain -
        grep -q $'\e\\[38;5;29mdrive 43%\e' coloured
    done
    grep -q $'^\e\\[1m\e\\[38;5;29m\\* 4[.]97 us\e\\[0m' coloured
    needs_terminal
    TERM=xterm script -qec 'trace-spans -q in' /dev/null >typescript
    grep -q $'\e\\[38;5;29mdrive 43%' typescript
    for without in NO_COLOR=1 TERM=dumb; do
        env TERM=xterm "$without" script -qec 'trace-spans -q in' /dev/null >typescript
        grep -q 'drive 43%' typescript
        equal "$(grep -c $'\e' typescript)" 0
    done
}

# ID and silence of each span, without zeros after the point.
silences() {
    trace-spans -q -j "$@" | jq -r '"\(.id) \(.silent + 0)"' | tr '\n' ' '
}

@test "silent is the longest silence of the lcore while the span waits" {
    {
        # all of them complete in one poll, after a silence
        object r0 0x10 '' 100.000 A 101.000 B 401.000 C_DONE
        object r1 0x20 '' 102.000 A 402.000 C_DONE
        object r2 0x30 '' 110.000 A 403.000 C_DONE
        # between two of its own entries only: not from 104 to 110
        object r3 0x40 '' 103.000 A 104.000 B 104.500 C_DONE
        # another lcore
        object r4 0x50 '' 105.000 A 404.000 C_DONE | sed 's/"lcore":0/"lcore":1/'
        poller 1 120 400 20
        # moves to another lcore: the time until it moves
        object r5 0x60 '' 405.000 A
        object r5 0x60 '' 405.000 A 425.000 C_DONE | sed '1d; s/"lcore":0/"lcore":2/'
        # open
        object r6 0x70 '' 430.000 A 431.000 B
        poller 0 440 440 1
        poller 1 460 460 1
    } | merged >in
    equal "$(silences in)" 'r3 1 r0 291 r1 291 r2 291 r4 20 r5 20 r6 20 '
    equal "$(silences --open in)" 'r6 20 '
    # each source has lcores of its own, and lines of other tools are none of them
    {
        sed 's/^{/{"source":"a",/' in
        sed 's/^{/{"source":"b",/; s/"us":/&1/' in
        off 350.000 0 1.000
    } | merged >both
    for source in a b; do
        equal "$(trace-spans -q -j both | grep "\"source\":\"$source\"" | jq -r '"\(.id) \(.silent + 0)"' | tr '\n' ' ')" "$(silences in)"
    done
}

@test "a share of silence is shown if the lcore is seldom silent for so long" {
    shares() { trace-spans -q "$1" | awk 'NR > 1 { print $4, substr($0, index($0, "target")) }'; }
    {
        poller 0 1 500 1
        object r0 0x10 '' 500.100 A 1500.100 B_DONE
    } >in
    # most of its time
    equal "$(shares in)" 'r0 target 100%'
    {
        poller 0 1503 3000 1
        # half of the life, and less
        object r1 0x20 '' 3000.100 A 4000.100 B 4998.100 C_DONE
        poller 0 4001 6999 1
        object r2 0x30 '' 7000.000 A 8000.000 B 9200.000 C_DONE
        poller 0 8001 9199 1
    } | merged >>in
    equal "$(shares in)" 'r0 target 100% (silent 100%)
r1 target 100% (silent 50%)
r2 target 100%'
    # of more than a hundredth of all entries
    {
        for i in {1..90}; do
            object "r$((9 + i))" 0x50 '' "$((10000 + 700 * i)).000" A "$((10600 + 700 * i)).000" B_DONE
        done
        poller 0 80000 81000 1
        poller 0 81000 180000 100
    } >>in
    equal "$(shares in | grep -c 'r[0-9][0-9].*silent')" 0
}

@test "stories say why a reactor did not run" {
    {
        object r0 0x10 '' 100.000 A 900.000 B_DONE
        # in interrupt mode
        held 140.000 0 9.000 OFF_CPU '"why":"blocked","syscall":"epoll_wait"'
        held 150.000 0 9.000 OFF_CPU '"why":"blocked","syscall":"epoll_wait","queued":1.000'
        held 160.000 0 2.000 OFF_CPU '"why":"yielded","by":"reactor 1","by_pid":5'
        held 170.000 0 3.000 OFF_CPU '"why":"migrated"'
        held 180.000 0 4.000 OFF_CPU '"stack":"a;b"'
        held 190.000 0 5.000 IRQ '"kind":"softirq","name":"net_rx"'
        held 200.000 0 6.000 IRQ '"kind":"irq"'
        # awk reads backslashes
        held 210.000 0 7.000 OFF_CPU '"why":"preempted","by":"a\\u001b[31m\\\"b","by_pid":{"x":[1]}'
        held 220.000 0 8.000 OFF_CPU "\"why\":\"preempted\",\"by\":\"$(printf 'é%.0s' {1..200})\""
    } | merged >in
    status_is 0 sh "COLUMNS=1000 trace-spans -s in | grep -A 8 ' A ' | sed 1d | cut -c 32-"
    diff - <(echo "$output") <<L
woken, without a CPU for 1.00 us
yielded to reactor 1 (5) for 2.00 us
migrated for 3.00 us
off CPU for 4.00 us
soft interrupt net_rx for 5.00 us
interrupt for 6.00 us
preempted by a\\u001b[31m\\"b for 7.00 us
preempted by $(printf 'é%.0s' {1..41}) for 8.00 us
L
}

@test "of a reactor that is held very often a story has the longest times" {
    {
        object r0 0x10 '' 100.000 A 900.000 B_DONE
        object x0 0x20 '"related":"r0","args":{"ctx":"0x10"}' 101.000 C 890.000 D_DONE
        for i in {1..100}; do
            off $((200 + i)).000 0 0.5$((i % 10))0
        done
    } | merged >in
    status_is 0 trace-spans -s in
    equal "$(grep -c preempted <<<"$output")" 64
    grep -q '^ *its reactor was held 100 times: these are the longest 64$' <<<"$output"
    for tenth in 0 1 2; do
        equal "$(grep -c "for 5${tenth}0 ns" <<<"$output")" 0
    done
    equal "$(grep -c "for 5[4-9]0 ns" <<<"$output")" 60
    equal "$(parts -j in)" '["r0",54.5,null,null]'
    # very long ago
    {
        object r0 0x10 '' 100.000 A 90000.000 B_DONE
        off 150.000 0 40.000
        awk 'BEGIN { for (i = 200; i < 2300; i++) printf "{\"tsc\":%d000,\"us\":%d.000,\"lcore\":7,\"tpoint\":\"OFF_CPU\",\"args\":{\"comm\":\"reactor_0\",\"pid\":12,\"begin\":%d900,\"duration\":0.100}}\n", i, i, i - 1 }'
        # another one that was not held
        object r1 0x20 '' 80000.000 A 90001.000 B_DONE
    } | merged >in
    status_is 0 trace-spans -s in
    equal "$(grep -c 'its reactor was held 2101 times' <<<"$output")" 1
    grep -q 'preempted.* for 40.0 us$' <<<"$output"
}

@test "a request that is in flight has in its story what held it until now" {
    {
        entry 100.000 TCP_REQ_NEW r0 - 0x10
        off 300.000 0 180.000
        entry 400.000 TCP_REQ_NEW r1 - 0x20
    } >in
    status_is 0 sh "trace-spans -q -s --open -n 1 in | tail -n 3"
    diff - <(echo "$output") <<'L'
              300.000 preempted by stress-ng (77) for 180 us
*  300 us no entry since
          lcore 0 wrote nothing for 300 us, else 1 entry: 1 of TCP
L
    equal "$(parts -q -j -k id=r0 in)" '["r0",180,null,null]'
    # the trace ends with its latest entry, unless the reactor has not run since
    { entry 100.000 TCP_REQ_NEW r0 - 0x10; off 300.000 0 180.000; } >late
    status_is 0 sh "trace-spans -j late | plain | jq -c '[.life, .off_cpu]'"
    equal "$output" '[0,null]'
    sed 's/"why"/"unfinished":true,&/' late >unfinished
    status_is 0 sh "trace-spans -j unfinished | plain | jq -c '[.life, .off_cpu]'"
    equal "$output" '[0,null]'
    { entry 100.000 TCP_REQ_NEW r0 - 0x10; off 300.000 0 190.000; } | sed 's/"why"/"unfinished":true,&/' >unfinished
    status_is 0 sh "trace-spans -j unfinished | plain | jq -c '[.life, .off_cpu]'"
    equal "$output" '[200,190]'
    status_is 0 sh "trace-spans -s --open unfinished | tail -n 3"
    diff - <(echo "$output") <<'L'
              300.000 preempted by stress-ng (77) for 190 us
*  200 us no entry since
          lcore 0 wrote nothing meanwhile
L
    # gaps are compared with the age, from a creation before the first line until the end
    { entry 100.000 TCP_REQ_NEED_BUFFER r0 30.000 0x10; entry 110.000 TCP_REQ_HAVE_BUFFER r0 40.000 0x10; entry 500.000 A x0 - 0x20; } >age
    status_is 0 sh "trace-spans -s --open age | cut -c 1-72 | sed 's/ *\$//'"
    diff - <(echo "$output") <<'L'
         US      AGE ID      TYPE   BDEV       CONNECTION     WAITS FOR
    100.000   430 us r0      -      -          -             390 us targ
     WAIT          US WHO          TPOINT                  OBJECT
  30.0 us     100.000 -            TCP_REQ_NEED_BUFFER     r0
  10.0 us     110.000 -            TCP_REQ_HAVE_BUFFER     r0
*  390 us no entry since
          lcore 0 wrote nothing for 390 us, else 1 entry: 1 of A

         US      AGE ID      TYPE   BDEV       CONNECTION     WAITS FOR
    500.000     0 ns x0      -      -          -               0 ns targ
     WAIT          US WHO          TPOINT                  OBJECT
     0 ns     500.000 -            A                       x0
L
    sed 's/500.000/120.000/' age >age2
    status_is 0 sh "trace-spans -s --open -n 1 age2 | sed -n 5,6p | cut -c 1-66 | sed 's/ *\$//; s/ *r0\$//'"
    diff - <(echo "$output") <<'L'
          its entries before this one are not among the lines
* 10.0 us     110.000 -            TCP_REQ_HAVE_BUFFER
L
    entry 500000.000 A x0 - 0x30 >>in
    status_is 0 sh "trace-spans -q -s --stuck 1000 in | grep -c preempted"
    equal "$output" 1
}

@test "no time is counted twice, and none beyond the life" {
    {
        object r0 0x10 '' 100.000 A 200.000 B_DONE
        # interrupts within each other and within a time off the CPU, and one that ends in it
        irq 104.000 0 2.000
        irq 105.000 0 4.000
        irq 112.000 0 1.000
        irq 114.000 0 1.500
        off 120.000 0 10.000
        irq 122.000 0 3.000
    } | merged >in
    equal "$(parts -j in)" '["r0",10,6,null]'
    {
        object r0 0x10 '' 100.000 A 200.000 B_DONE
        irq 110.000 0 40.000
        off 190.000 0 150.000
    } | merged >in
    equal "$(parts -j in)" '["r0",90,null,null]'
    # many, of which the first are not known any more when the last one comes
    {
        object r0 0x10 '' 100.000 A 300.000 B_DONE
        awk 'BEGIN { for (i = 0; i < 200; i++) print 100 + i / 4 }' | while read -r us; do
            held "$us" 0 0.125 IRQ '"kind":"irq"'
        done
        held 299.000 0 199.000 IRQ '"kind":"softirq"'
    } | merged >in
    # of 200 of them, 64 are known; the first one ended when the object was created
    equal "$(parts -j in)" "$(plain <<<"[\"r0\",null,$(awk 'BEGIN { print 135 * 0.125 + 299 - (100 + 136 / 4 - 0.125) }'),null]")"
}

@test "names that are empty are JSON strings" {
    {
        entry 1.000 '' r1 - 0x10
        entry 2.000 BDEV_IO_START i1 - 0x20 '"related":"r1","args":{"name":"","ctx":"0x10"}'
        echo '{"tsc":1,"us":300.000,"lcore":0,"tpoint":"","args":{"":1}}'
        entry 501.000 BDEV_IO_DONE i1 499.000 0x20
        entry 901.000 '' r1 900.000 0x10
        entry 902.000 B r1 901.000 0x10
    } >in
    status_is 0 trace-spans -jq in
    equal "$(jq -c 'select(.id == "r1").waits | map([.state, .of])' <<<"$output" | plain)" \
        '[["BDEV_IO_START",{"":[1,0]}],["",null]]'
}

@test "intervals count once whatever the order of their lines, and irq_by adds up to irq" {
    local lines line order
    mapfile -t lines < <(
        irq 120.000 0 10.000
        held 147.000 0 17.000 IRQ '"kind":"softirq","name":"net_rx"'
        # the softirq goes on around it
        irq 140.000 0 4.000
        off 170.000 0 20.000
        # in a time off the CPU, and before it
        held 155.000 0 7.000 IRQ '"kind":"irq","name":"timer"'
    )
    for order in '0 1 2 3 4' '4 3 2 1 0' '1 0 3 2 4' '2 4 1 0 3'; do
        {
            entry 100.000 A r0 - 0x10
            for line in $order; do
                echo "${lines[line]}"
            done
            entry 200.000 B_DONE r0 100.000 0x10
        } >in
        equal "$order: $(parts -jq in)" "$order: "'["r0",20,29,null]'
        equal "$(trace-spans -jq in | jq '.irq_by | add')" 29
    done
    # the inner interrupt has its time, and the outer one the rest
    {
        entry 100.000 A r0 - 0x10
        printf '%s\n' "${lines[@]:0:1}" "${lines[@]:2:1}" "${lines[@]:1:1}" "${lines[@]:4}" "${lines[@]:3:1}"
        entry 200.000 B_DONE r0 100.000 0x10
    } >in
    equal "$(trace-spans -jq in | jq -c '.irq_by' | plain)" '{"nvme0q1":14,"net_rx":13,"timer":2}'
}

@test "a span is covered by a recording that lasts from before it until after it" {
    {
        object r0 0x10 '' 100.000 A 110.000 B_DONE
        off 130.000 0 10.000
        object r1 0x20 '' 131.000 A 140.000 B_DONE
        object r2 0x30 '' 150.000 A 190.000 B_DONE
        # what is known of the next two is not all
        object r3 0x40 '' 195.000 A 199.000 C 300.000 B_DONE
        off 198.000 0 2.000
        object r4 0x50 '' 115.000 A 132.000 B_DONE
        object r5 0x60 '' 500.000 A 600.000 B_DONE
        object r6 0x70 '' 590.000 A
    } | merged >in
    status_is 0 sh "trace-spans -j in | plain | jq -c '[.id, .off_cpu, .covered]'"
    diff - <(echo "$output") <<'L'
["r0",null,null]
["r4",10,null]
["r1",null,["off_cpu"]]
["r2",null,["off_cpu"]]
["r3",2,null]
["r6",null,null]
["r5",null,null]
L
    status_is 0 sh "trace-spans in | sed 's/.*100%//'"
    diff - <(echo "$output") <<'L'
         US     LIFE ID      TYPE   BLOCKS BDEV       CONNECTION   SHARES
 (off_cpu ?)
 (off_cpu >59%)


 (off_cpu >2%)
 (off_cpu ?) open
 (off_cpu ?)
L
}

@test "writes for a request that the trace does not have are its children" {
    {
        # of another one at the same address
        object s0 0x90 '"size":8,"args":{"ctx":"0x10"}' 1.000 SOCK_REQ_QUEUE 2.000 SOCK_REQ_COMPLETE
        object s1 0xa0 '"size":16,"args":{"ctx":"0x10"}' 20000.000 SOCK_REQ_QUEUE 30000.000 SOCK_REQ_COMPLETE
        object s2 0xb0 '"size":24,"args":{"ctx":"0x10"}' 25000.000 SOCK_REQ_QUEUE 31000.000 SOCK_REQ_COMPLETE
        object s3 0xc0 '"size":24,"args":{"ctx":"0x20"}' 25000.000 SOCK_REQ_QUEUE 31500.000 SOCK_REQ_COMPLETE
        printf '{"tsc":7,"us":32000.000,"lcore":0,"tpoint":"TCP_REQ_COMPLETED","poller":"t07","object":{"id":"n/a","value":"0x10"}}\n'
    } | merged >in
    status_is 0 sh "trace-spans -j in | plain | jq -c '[.id, .us, .life, .children, .io.bytes, .states, .layers.network, .layers.unknown]'"
    diff - <(echo "$output") <<'L'
["s0",1,1,null,8,[["SOCK_REQ_QUEUE",1],["SOCK_REQ_COMPLETE",0]],1,0]
["s3",25000,6500,null,24,[["SOCK_REQ_QUEUE",6500],["SOCK_REQ_COMPLETE",0]],6500,0]
["n/a",20000,12000,["s1","s2"],40,[[null,12000],["TCP_REQ_COMPLETED",0]],11000,1000]
L
    status_is 0 sh "trace-spans -a -j in | plain | jq -c '[.id, .parent]'"
    equal "$(tr '\n' ' ' <<<"$output")" '["s0",null] ["s1","n/a"] ["s2","n/a"] ["s3",null] ["n/a",null] '
    status_is 0 sh "trace-spans -n 1 in | awk 'NR == 2 { print \$2, \$3, \$4, \$8 }'"
    equal "$output" '>12.0 ms n/a t07'
}

@test "a request is no child of an object without an id, for which a write came before it" {
    {
        object s0 0x90 '"size":8,"args":{"ctx":"0x10"}' 1.000 SOCK_REQ_QUEUE 2.000 SOCK_REQ_COMPLETE
        # has the memory of the write, which is printed by then
        object r5 0x50 '' 30000.000 TCP_REQ_NEW 40000.000 TCP_REQ_COMPLETED
        printf '{"tsc":7,"us":31000.000,"lcore":0,"tpoint":"TCP_REQ_COMPLETED","poller":"t07","object":{"id":"n/a","value":"0x10"}}\n'
    } | merged >in
    status_is 0 sh "trace-spans -a -j in | plain | jq -c '[.id, .us, .life, .parent, .children]'"
    diff - <(echo "$output") <<'L'
["s0",1,1,null,null]
["n/a",31000,0,null,null]
["r5",30000,10000,null,null]
L
}

@test "-n chooses by the life, whatever other tools have recorded" {
    {
        object r0 0x10 '' 100.000 A 900.000 B_DONE
        off 1000.000 0 10.000
        object r1 0x20 '' 1010.000 A 1020.000 B_DONE
        off 1040.000 0 2.000
        object r3 0x40 '' 1050.000 A 1350.000 B_DONE
    } | merged >in
    status_is 0 sh "trace-spans -n 2 -j in | jq -r .id | tr '\n' ' '"
    equal "$output" 'r0 r3 '
    equal "$stderr" ''
}

@test "a span waits for a line of another tool, but not for long" {
    awk 'BEGIN {
        printf "{\"tsc\":1,\"us\":1.000,\"lcore\":7,\"tpoint\":\"IRQ\",\"args\":{\"comm\":\"reactor_0\",\"pid\":12,\"begin\":1,\"duration\":0.000}}\n"
        for (i = 0; i < 20000; i++) {
            printf "{\"tsc\":2,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"A\",\"object\":{\"id\":\"r%d\",\"value\":\"0x10\"}}\n", i * 10 + 2, i
            printf "{\"tsc\":2,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"B_DONE\",\"object\":{\"id\":\"r%d\",\"us\":5.000,\"value\":\"0x10\"}}\n", i * 10 + 7, i
        }
        printf "{\"tsc\":3,\"us\":%d.000,\"lcore\":7,\"tpoint\":\"IRQ\",\"args\":{\"comm\":\"reactor_0\",\"pid\":12,\"begin\":3,\"duration\":0.000}}\n", i * 10 + 2
    }' >in
    # those of the last 10 ms, and 16384 that wait
    trace-spans -q -j in | sed -n '/"covered":\["off_cpu"]/s/.*"us":\([0-9]*\)[.0]*,"life".*/\1/p' >got
    equal "$(wc -l <got) $(sort -n got | head -n 1)" '17384 26162'
}

@test "the time of a request that moves is that of the lcore of its latest entry" {
    {
        object r0 0x10 '' 100.000 A 200.000 B 300.000 C_DONE | sed '2s/"lcore":0/"lcore":1/'
        off 150.000 0 10.000
        off 160.000 1 20.000
        off 250.000 0 30.000
        off 260.000 1 40.000
        irq 270.000 1 5.000
    } | merged >in
    equal "$(parts -j in)" '["r0",50,5,null]'
}

# Spans on three lcores, between which some move, and times off the CPU, in which their lcores write nothing. With each
# span: the sum of what ends between its entries on the lcore of the earlier one.
@test "many spans have what their lines say" {
    awk -v q='"' '
    # The object i is on the lcore l until its next entry.
    function move(i, l, t) {
        if (i in at) {
            on[id[i], ++stays[id[i]]] = at[i]
            since[id[i], stays[id[i]]] = moved[i]
            until[id[i], stays[id[i]]] = t
        }
        at[i] = l
        moved[i] = t
    }
    BEGIN {
        srand(7)
        for (t = 1; t < 4000; t++) {
            l = int(3 * rand())
            if (rand() < 0.3) {
                d = t - last[l]
                d = int(d * rand()) + 1
                if (last[l] && d < t - last[l]) {
                    printf "{\"tsc\":%d,\"us\":%d.000,\"lcore\":9,\"tpoint\":\"OFF_CPU\",\"args\":{\"comm\":\"reactor_%d\",\"pid\":5,\"begin\":%d,\"duration\":%d.000,\"why\":\"yielded\"}}\n", t * 1000, t, l, (t - d) * 1000, d
                    from[l, ++times[l]] = t - d
                    to[l, times[l]] = last[l] = t
                }
                continue
            }
            i = int(40 * rand())
            last[l] = t
            if (!(i in at)) {
                printf "{\"tsc\":%d,\"us\":%d.000,\"lcore\":%d,\"tpoint\":\"A\",\"object\":{\"id\":\"r%d\",\"value\":\"0x%x\"}}\n", t * 1000, t, l, n, i + 16
                id[i] = n++; first[i] = t; move(i, l, t)
            } else {
                done = rand() < 0.3
                printf "{\"tsc\":%d,\"us\":%d.000,\"lcore\":%d,\"tpoint\":\"%s\",\"object\":{\"id\":\"r%d\",\"us\":%d.000,\"value\":\"0x%x\"}}\n", t * 1000, t, l, done ? "C_DONE" : "B", id[i], t - first[i], i + 16
                move(i, l, t)
                if (done)
                    delete at[i]
            }
            # those in flight last until the latest entry
            latest = t
        }
        for (i in at)
            move(i, 0, latest)
        for (i = 0; i < n; i++) {
            sum = 0
            for (k = 1; k <= stays[i]; k++) {
                l = on[i, k]
                for (j = 1; j <= times[l]; j++) {
                    d = (to[l, j] < until[i, k] ? to[l, j] : until[i, k]) - (from[l, j] > since[i, k] ? from[l, j] : since[i, k])
                    sum += d > 0 ? d : 0
                }
            }
            printf "r%d %d\n", i, sum >"want"
        }
    }' >in
    trace-spans -q -j in | jq -r '"\(.id) \(.off_cpu // 0 | floor)"' | sort >got
    [ "$(grep -vc ' 0$' got)" -gt 100 ]
    sort want | diff - got
}

@test "the first process with a reactor of an lcore counts, and the first source" {
    {
        object r0 0x10 '' 100.000 A 200.000 B_DONE | sed 's/"lcore"/"source":"one",&/'
        object r0 0x10 '' 110.000 A 210.000 B_DONE | sed 's/"lcore"/"source":"two",&/'
        off 150.000 0 10.000
        off 160.000 0 5.000 34
        off 170.000 1 5.000 34
    } | merged >in
    status_is 0 parts -j in
    diff - <(echo "$output") <<'L'
["r0",10,null,null]
["r0",null,null,null]
L
    status_is 0 trace-spans -j in
    says 'in: 1 entry has no off_cpu and irq: the reactor of its lcore counts for another source'
    says 'in: 1 line left out: another process, which came first, has reactors on its lcore'
    # threads that are no reactors
    sed 's/reactor_0/app_thread/' in | grep -v reactor_1 >others
    status_is 0 trace-spans -j others
    says 'others: 2 lines left out: their threads are not reactors'
}

@test "the I/O of a disk is that of the bdev I/O with the same blocks" {
    {
        bdev_io i0 0x10 1 100 8 100.000 200.000
        # blocks of 4096 bytes, and other types
        bdev_io i1 0x20 2 7 2 110.000 210.000
        bdev_io i2 0x30 3 300 16 120.000 220.000
        bdev_io i3 0x40 9 400 16 130.000 230.000
        block 180.000 R 100 4096 60.000
        block 181.000 FWFS 56 8192 61.000
        block 182.000 D 300 8192 60.500
        block 183.000 WZ 400 8192 50.000
    } | merged >in
    status_is 0 parts -j in
    diff - <(echo "$output") <<'L'
["i0",null,null,60]
["i1",null,null,61]
["i2",null,null,60.5]
["i3",null,null,50]
L
    # in any order of sources, each line belongs to what was in flight; nothing else fits
    for wrong in 's/"sector":100/"sector":101/' 's/"bytes":4096/"bytes":8192/' 's/"type":"R"/"type":"W"/' 's/"latency":60.000/"latency":81.000/' \
        's/,"latency":60.000//' 's/"us":180.000/"us":200.500/'; do
        sed "$wrong" in | merged >other
        ! cmp -s in other || { echo "$wrong changes nothing"; return 1; }
        equal "$(parts -q -j -k id=i0 other)" '["i0",null,null,null]'
    done
    # SPDK rounds the rate of its ticks
    sed 's/"latency":60.000/"latency":80.300/' in >other
    equal "$(parts -j -k id=i0 other)" '["i0",null,null,80]'
}

@test "where the I/O of a disk may be that of several bdev I/Os, it is of none" {
    none() {
        merged >in
        equal "$(parts -q -j in | jq -c '.[3]' | sort -u)" null
    }
    # two with the same blocks
    {
        bdev_io i0 0x10 1 100 8 100.000 200.000
        bdev_io i1 0x20 1 100 8 110.000 210.000
        block 180.000 R 100 4096 20.000 sda
        block 205.000 R 100 4096 20.000 sdb
    } | none
    # the last of them while an earlier one is in flight
    {
        bdev_io i0 0x10 1 100 8 100.000 200.000
        bdev_io i1 0x20 1 100 8 110.000 120.000
        bdev_io i2 0x30 1 100 8 130.000 210.000
        block 180.000 R 100 4096 20.000
    } | none
    # blocks of two sizes
    {
        bdev_io i0 0x10 1 64 16 100.000 200.000
        bdev_io i1 0x20 1 8 2 110.000 210.000
        block 180.000 R 64 8192 20.000
    } | none
    # two disks
    {
        bdev_io i0 0x10 1 100 8 100.000 200.000
        block 180.000 R 100 4096 20.000 sda
        block 185.000 R 100 4096 20.000 sdb
    } | none
    # one after the other is clear
    {
        bdev_io i0 0x10 1 100 8 100.000 200.000
        block 180.000 R 100 4096 20.000
        bdev_io i1 0x10 1 100 8 300.000 400.000
        block 380.000 R 100 4096 30.000
    } | merged >in
    equal "$(parts -j in | jq -c '.[3]' | tr '\n' ' ')" '20 30 '
}

@test "the I/O of a disk is below the innermost bdev I/O, and that of several is one time" {
    {
        object r0 0x10 '' 100.000 TCP_REQ_NEW 400.000 TCP_REQ_COMPLETED
        object i0 0x20 '"related":"r0","args":{"type":1,"ctx":"0x10","offset":0,"len":16}' 110.000 BDEV_IO_START 390.000 BDEV_IO_DONE
        # the first part of a split I/O has its first block, another one is passed on as it is
        object i1 0x30 '"args":{"type":1,"ctx":"0x20","offset":0,"len":8}' 120.000 BDEV_IO_START 250.000 BDEV_IO_DONE
        object i2 0x40 '"args":{"type":1,"ctx":"0x20","offset":8,"len":8}' 121.000 BDEV_IO_START 380.000 BDEV_IO_DONE
        object i3 0x50 '"args":{"type":1,"ctx":"0x40","offset":8,"len":8}' 122.000 BDEV_IO_START 370.000 BDEV_IO_DONE
        block 230.000 R 0 4096 100.000
        block 260.000 R 8 4096 60.000 sdb
    } | merged >in
    status_is 0 parts -a -j in
    diff - <(echo "$output") <<'L'
["i1",null,null,100]
["i3",null,null,60]
["i2",null,null,60]
["i0",null,null,130]
["r0",null,null,130]
L
}

@test "lines of offcpusnoop and biosnoop that lack something are reported" {
    {
        object r0 0x10 '' 100.000 A 200.000 B_DONE
        off 150.000 0 10.000 | sed 's/"begin":[0-9]*,//'
        off 151.000 0 10.000 | sed 's/"duration":10/"duration":"10"/'
        off 152.000 0 10.000 | sed 's/"begin":[0-9]*/"begin":999999/'
        block 153.000 R 100 4096 20.000 | sed 's/"sector":100,//'
        block 154.000 R 100 4096 20.000 | sed 's/"latency":20.000/"latency":-1/'
    } | merged >in
    fails 'in:2: not a trace line, left out: pid, begin or duration is missing' trace-spans -j in
    says 'in:4: not a trace line, left out: pid, begin or duration is missing'
    says 'in:5: not a trace line, left out: sector or bytes is missing'
    says 'in:6: not a trace line, left out: latency is not a number of microseconds'
    equal "$(jq -r .id <<<"$output")" r0
}

# Whether each line is an ExportTraceServiceRequest: its fields, their types, ids and parents. OTLP's JSON differs from
# protobuf's in that ids are hexadecimal, and enums are numbers.
is_otlp() { # FILE
    jq -e '
        def only($keys): type == "object" and (keys - $keys == []);
        def any_value: only(["stringValue", "boolValue", "intValue", "doubleValue", "arrayValue", "kvlistValue"])
            and length <= 1 and all(to_entries[];
                if .key == "stringValue" then .value | type == "string"
                elif .key == "boolValue" then .value | type == "boolean"
                elif .key == "intValue" then .value | test("^-?[0-9]{1,19}$")
                elif .key == "doubleValue" then .value | type == "number"
                elif .key == "arrayValue" then .value | only(["values"]) and all(.values[]; any_value)
                else .value | only(["values"]) and all(.values[]; only(["key", "value"]) and (.value | any_value)) end);
        def attributes: all(.[]; only(["key", "value"]) and (.key | test(".")) and (.value | any_value))
            and (map(.key) | length == (unique | length));
        def ns: test("^[0-9]{1,19}$");
        def span: only(["traceId", "spanId", "parentSpanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano",
                "attributes", "events", "status"])
            and (.traceId | test("^[0-9a-f]{32}$") and test("[1-9a-f]"))
            and (.spanId | test("^[0-9a-f]{16}$") and test("[1-9a-f]"))
            and (.name | test(".")) and (.kind | . >= 1 and . <= 3) and (.startTimeUnixNano | ns) and (.endTimeUnixNano | ns)
            and (.attributes | attributes) and (.status | . == {} or . == {"code": 2})
            and all(.events[]; only(["timeUnixNano", "name"]) and (.timeUnixNano | ns) and (.name | test(".")));
        def tree: (map(.traceId) | unique | length == 1) and (map(.spanId) | length == (unique | length))
            and (map(select(has("parentSpanId") | not)) | length == 1)
            and (map(.spanId) as $ids | all(.[].parentSpanId | values; . as $id | $ids | index([$id])));
        only(["resourceSpans"]) and (.resourceSpans | length == 1) and (.resourceSpans[0]
            | only(["resource", "scopeSpans"]) and (.resource | only(["attributes"]) and (.attributes | attributes))
            and (.scopeSpans | length == 1) and (.scopeSpans[0] | only(["scope", "spans"])
                and (.scope | only(["name", "version"]) and all(.[]; type == "string"))
                and all(.spans[]; span) and (.spans | tree)))' "$1" >checked || { grep -n false checked | head -n 3; return 1; }
    [ -s "$1" ]
    equal "$(grep -c true checked)" "$(wc -l <"$1")"
}

# Of span lines, with docs/otlp.jq.
otlp_of() { # FILE [OPTION]...
    jq -c -s "${@:2}" -f "$BATS_TEST_DIRNAME/../docs/otlp.jq" "$1" >otlp
    is_otlp otlp
}

@test "docs/otlp.jq makes requests of OpenTelemetry's schema" {
    # a part of it is enough
    gzip -dc "$DATA/slow-host.trace.gz" | trace-dump -q | sed -n 1,900p | trace-spans -q -a -j - >spans
    otlp_of spans
    equal "$(wc -l <otlp)" "$(grep -vc '"parent"' spans)"
    otlp_of spans --argjson min_us 5000
    equal "$(wc -l <otlp)" "$(jq 'select(.life >= 5000 and (.parent | not)).id' spans | wc -l)"
    cp "$DATA"/sql/*.jsonl .
    trace-merge -q target=target.jsonl store=store.jsonl offcpu.jsonl | trace-spans -q -a -j - >spans
    otlp_of spans
    equal "$(jq -r '.resourceSpans[].resource.attributes[].value.stringValue' otlp | sort -u | tr '\n' ' ')" 'store target '
    # each span once
    jq -r '.resourceSpans[].scopeSpans[].spans[] | (.attributes | map({key, value: .value[]}) | from_entries) as $all |
        [$all["spdk.tsc"], $all["spdk.id"], $all["spdk.value"], (.endTimeUnixNano | tonumber) - (.startTimeUnixNano | tonumber),
            .parentSpanId != null, (.events | map(.name) | join(","))] | @tsv' otlp | sort >found
    jq -r '[.tsc, .id, .value, (.life * 1000 | round), .parent != null, ([.states[][0] | select(.)] | join(","))] | @tsv' \
        spans | sort | diff - found
    # parents by the ids of their objects
    jq -r '.resourceSpans[].scopeSpans[].spans | (map({key: .spanId, value: (.attributes[] |
        select(.key == "spdk.id").value.stringValue)}) | from_entries) as $ids |
        .[] | select(.parentSpanId) | $ids[.spanId] + " " + $ids[.parentSpanId]' otlp | sort >found
    jq -r 'select(.parent) | .id + " " + .parent' spans | sort | diff - found
    [ -s found ]
}

@test "docs/otlp.jq: times of day, errors and nested values" {
    {
        entry 5.000 NVME_PCIE_SUBMIT p0 - 0x10 '"poller":"q1"' \
            '"args":{"cid":1,"opc":2,"a":{"b":[1,null,true,{"c":1.5}]},"n":18446744073709551615}'
        entry 7.500 NVME_PCIE_COMPLETE p0 2.500 0x10 '"poller":"q1"' '"args":{"cid":1,"cpl":4}'
    } >lines
    trace-spans -q -a -j lines >spans
    otlp_of spans --arg time 2026-11-21T13:14:15.999997789Z
    span() { jq -c ".resourceSpans[0].scopeSpans[0].spans[0] | $1" otlp; }
    span '.kind, .startTimeUnixNano, .endTimeUnixNano, .status, (.attributes[] | select(.key | test("args|status")))' >found
    cat >expected <<'E'
3
"1795266856000002789"
"1795266856000005289"
{"code":2}
{"key":"spdk.io.status","value":{"stringValue":"invalid field"}}
{"key":"spdk.args.cid","value":{"intValue":"1"}}
{"key":"spdk.args.opc","value":{"intValue":"2"}}
{"key":"spdk.args.a.b","value":{"arrayValue":{"values":[{"intValue":"1"},{},{"boolValue":true},{"kvlistValue":{"values":[{"key":"c","value":{"doubleValue":1.5}}]}}]}}}
{"key":"spdk.args.n","value":{"doubleValue":18446744073709552000}}
E
    diff found expected
    # ids are those of the object, whatever else is in the trace
    span '.traceId, .spanId' >expected
    { entry 1.000 NVME_PCIE_SUBMIT p7 - 0x20; entry 2.000 NVME_PCIE_COMPLETE p7 1.000 0x20; cat lines; } >both
    trace-spans -q -a -j -k id=p0 both >spans
    otlp_of spans
    span '.traceId, .spanId' | diff - expected
    equal "$(span .startTimeUnixNano)" '"5000"'
}
