#!/usr/bin/env bats

load helpers

# Two requests, of which the first one starts an I/O, and one whose creation is not in the trace.
requests() {
    echo '{"tsc":1,"us":0.500,"lcore":0,"thread":"app","tpoint":"READ","poller":"t02","size":8}'
    entry 1.000 NEW r0 - 0x10 '"args":{"q":{"ptr":"0x1","qid":1,"hostnqn":"h \"a\""}}'
    entry 1.100 START i0 - 0x20 '"related":"r0"' '"args":{"ctx":"0x10"}'
    entry 1.200 NEW r1 - 0x30
    entry 1.300 DONE n/a - 0x40
    entry 1.400 DONE i0 0.3 0x20 '"related":"r0"' '"args":{"ctx":"0x10"}'
    entry 1.500 READY r0 0.5 0x10
    entry 1.700 COMPLETED r0 0.7 0x10
    entry 9.000 NEW r2 - 0x10
}

# Events of these phases on standard input, by FILTER of jq.
events() { # PHASES FILTER
    plain | jq -c --arg phases "$1" ".traceEvents[] | select(.ph | inside(\$phases)) | $2" | tr '\n' ' '
}

# Checks an output against what the Trace Event Format demands of each phase of events.
check_format() {
    jq -e '
        def time: (.ts | type == "number" and . >= 0) and .pid == 1;
        def place: time and (.tid | type == "number" and . >= 1);
        .displayTimeUnit == "ns" and (.traceEvents | map(
            (.args == null or (.args | type == "object")) and
            if .ph == "M" then .pid == 1 and (.name | inside("process_name thread_name thread_sort_index"))
            elif .ph == "i" then place and .s == "t" and (.name | type == "string")
            elif .ph == "X" then place and .dur == 0.001 and (.name | type == "string")
            elif .ph == "b" or .ph == "e" then place and ([.cat, .id, .name] | map(type == "string") | all)
            elif .ph == "s" then place and (.id | type == "number") and .cat == "related"
            elif .ph == "f" then place and (.id | type == "number") and .cat == "related" and .bp == "e"
            elif .ph == "C" then time and (.args.objects | type == "number" and . >= 0)
            else false end) | all)' "$1" >/dev/null || return
    # the slices of each object are nested: each end is that of the slice begun last, and nothing stays open
    jq -r '.traceEvents | to_entries | map(select(.value.ph | inside("be"))) | sort_by(.value.ts, .key) |
        .[].value | [.id, .ph, .name] | @tsv' "$1" | awk -F '\t' '
        $2 == "b" { stack[$1, ++depth[$1]] = $3; next }
        depth[$1] == 0 || stack[$1, depth[$1]--] != $3 { print "not nested: " $0; bad = 1 }
        END { for (id in depth) if (depth[id]) { print "not ended: " id; bad = 1 }; exit bad }' || return
    # an arrow begins once and ends at most once, not before its begin, each time in a slice
    jq -e '.traceEvents as $all | ($all | map(select(.ph == "X")) | map({key: "\(.tid) \(.ts)", value: true}) | from_entries) as $slices |
        [$all[] | select(.ph | inside("sf"))] | all($slices["\(.tid) \(.ts)"]) and
        (group_by(.id) | all(sort_by(.ph) | reverse | (map(.ph) | . == ["s"] or . == ["s", "f"]) and .[0].ts <= .[-1].ts))' "$1" >/dev/null
}

@test "each lcore has a track with its entries" {
    requests >in
    status_is 0 trace-chrome in
    equal "$stderr" ''
    equal "$(sed -n 1,5p <<<"$output")" '{"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"SPDK"}},
{"ph":"M","pid":1,"name":"thread_name","tid":1,"args":{"name":"lcore 0 app"}},
{"ph":"M","pid":1,"name":"thread_sort_index","tid":1,"args":{"sort_index":0}},
{"ph":"i","pid":1,"ts":0.500,"tid":1,"s":"t","name":"READ","args":{"poller":"t02","size":8}},'
    equal "$(events iX '[.ph, .name, .ts]' <<<"$output")" \
        '["i","READ",0.5] ["X","NEW",1] ["X","START",1.1] ["X","NEW",1.2] ["i","DONE",1.3] ["X","DONE",1.4] ["X","READY",1.5] ["X","COMPLETED",1.7] ["X","NEW",9] '
    equal "$({ cat in; sed 's/"lcore":0/"lcore":17/' in; } | trace-chrome | events M '[.tid, .args.name // .args.sort_index]')" \
        '[null,"SPDK"] [1,"lcore 0 app"] [1,0] [18,"lcore 17 app"] [18,17] '
}

@test "a reactor that did not run has slices on the track of its lcore" {
    held() { # US TPOINT DURATION COMM MEMBERS
        printf '{"tsc":%d000,"us":%s.000,"source":"off","lcore":7,"tpoint":"%s","args":{"comm":"%s","pid":12,"begin":%d000,"duration":%s.000%s}}\n' \
            "$1" "$1" "$2" "$4" $(($1 - $3)) "$3" "$5"
    }
    {
        # nothing has been written by that lcore
        held 50 OFF_CPU 3 reactor_0 ''
        requests | sed 's/"lcore"/"source":"target",&/'
        held 90 OFF_CPU 70 reactor_0 ',"why":"preempted","by":"a\"b","by_pid":77'
        held 95 IRQ 2 reactor_0 ',"kind":"irq","name":"nvme0q1"'
        held 96 OFF_CPU 2 app_thread ''
        held 97 OFF_CPU 2 reactor_1 ''
        held 98 OFF_CPU 2 reactor_0 ',"pid":99' | sed 's/"pid":12,//'
    } >in
    status_is 0 trace-chrome in
    equal "$stderr" ''
    equal "$(events X 'select(.dur > 0.001) | [.name, .pid, .tid, .ts, .dur]' <<<"$output")" \
        '["off CPU: preempted by a\"b (77)",3,1,20,70] ["interrupt nvme0q1",3,1,93,2] '
    equal "$(events X 'select(.dur == 2) | .args' <<<"$output")" \
        '{"comm":"reactor_0","pid":12,"begin":93000,"duration":2,"kind":"irq","name":"nvme0q1"} '
    # the others are points, on the track of the processor
    equal "$(events i 'select(.name == "OFF_CPU") | [.pid, .tid, .ts]' <<<"$output")" '[2,8,50] [2,8,96] [2,8,97] [2,8,98] '
    # one that lacks something is reported
    held 90 OFF_CPU 70 reactor_0 '' | sed 's/"begin":[0-9]*,//' >in
    status_is 1 trace-chrome in
    says 'in:1: not a trace line, left out: pid, begin or duration is missing'
}

@test "each object has a slice for its life and in it one for each state" {
    requests >in
    trace-chrome in >out
    check_format out
    equal "$(events be '[.ph, .id, .name, .ts] | select(.[1] == "r0")' <out)" \
        '["b","r0","h \"a\" qid 1 0x1",1] ["b","r0","NEW",1] ["e","r0","NEW",1.5] ["b","r0","READY",1.5] ["e","r0","READY",1.7] ["b","r0","COMPLETED",1.7] ["e","r0","COMPLETED",1.7] ["e","r0","h \"a\" qid 1 0x1",1.7] '
    # what is still in work ends where it was seen last
    equal "$(events be '[.ph, .name, .ts, .cat] | select(.[3] == "r" and .[2] == 9)' <out)" \
        '["b","objects",9,"r"] ["b","NEW",9,"r"] ["e","NEW",9,"r"] ["e","objects",9,"r"] '
    # and the arguments are told
    equal "$(events b 'select(.name == "START") | .args' <out)" '{"object":"i0","related":"r0","ctx":"0x10"} '
}

@test "a life is called after the annotation, the related object, the owner or the poller" {
    requests >in
    equal "$(trace-chrome in | events b 'select(.args == null) | [.id, .name]')" \
        '["r0","h \"a\" qid 1 0x1"] ["i0","h \"a\" qid 1 0x1"] ["r1","objects"] ["r2","objects"] '
    equal "$(entry 1 NEW r0 - 0x10 '"poller":"t01"' '"owner":"someone"' | trace-chrome | events b 'select(.args == null) | .name')" '"someone" '
    equal "$(entry 1 NEW r0 - 0x10 '"poller":"t01"' | trace-chrome | events b 'select(.args == null) | .name')" '"t01" '
}

@test "connections have the names that they have in the picture of trace-perfetto" {
    mktrace "$DATA/sample.jsonl" | trace-dump -q >owners
    qpair-lifetimes "$DATA/sample-probes.txt" >lifetimes.txt
    trace-join -j -l lifetimes.txt owners >hosts
    mktrace "$DATA/sample-g3.jsonl" | trace-dump -q >addresses
    for file in hosts owners addresses; do
        trace-chrome $file | jq -r '.traceEvents[] | select(.ph == "b" and .args == null) | .name' | sort -u >names
        [ "$(wc -l <names)" -gt 1 ]
        # shellcheck disable=SC2016 # jq's
        trace-perfetto -q $file | perfetto | jq -r 'select(.slices and .args.id != "n/a") | .track[1:-1] | .[0] as $host |
            if length > 1 and (.[1] | startswith($host)) then .[1] else join(" ") end' | sort -u | diff - names
    done
}

# A request that starts a write, and this a command; one that starts nothing; and one whose two reads are split.
io() {
    entry 1.000 NEW r0 - 0x10
    entry 1.000 READY r0 0.000 0x10
    entry 1.000 NEW r1 - 0x11
    entry 1.100 BDEV_IO_START i0 - 0x20 '"related":"r0"' '"args":{"type":2,"ctx":"0x10","offset":98264}' |
        sed 's/"object"/"owner":"bdev_Null0","size":8,&/'
    entry 1.150 NVME_TCP_SUBMIT p0 - 0x40 '"related":"i0"' '"args":{"ctx":"0x20","opc":1}' | sed 's/"object"/"poller":"q01",&/'
    entry 1.200 NVME_TCP_COMPLETE p0 0.05 0x40 '"related":"i0"' '"args":{"ctx":"0x20"}'
    entry 1.300 BDEV_IO_DONE i0 0.2 0x20 '"related":"r0"' '"args":{"ctx":"0x10"}'
    entry 1.400 COMPLETED r0 0.4 0x10
    entry 1.500 COMPLETED r1 0.5 0x11
    # the names that v23.01 to v24.01 have, of bdevs and of blocks
    entry 2.000 NEW r2 - 0x10
    entry 2.100 BDEV_IO_START i1 - 0x20 '"related":"r2"' '"args":{"type":1,"ctx":"0x10","offset":0,"len":64,"name":"raid\"0"}'
    entry 2.200 BDEV_IO_START i2 - 0x30 '"args":{"type":1,"ctx":"0x20","offset":4,"len":32,"name":"base0"}'
}

@test "an object has a slice that says what it is, around those for its states" {
    io >in
    trace-chrome in >out
    check_format out
    cat >want <<'L'
i0 1.1 objects
i0 1.1 write 8 @98264 Null0
i0 1.1 BDEV_IO_START
i0 1.3 BDEV_IO_DONE
i1 2.1 objects
i1 2.1 read 64 @0 raid"0
i1 2.1 BDEV_IO_START
i2 2.2 objects
i2 2.2 read 32 @4 base0
i2 2.2 BDEV_IO_START
p0 1.15 objects
p0 1.15 write 8 @98264 Null0
p0 1.15 NVME_TCP_SUBMIT
p0 1.2 NVME_TCP_COMPLETE
r0 1 objects
r0 1 write 8 @98264 Null0
r0 1 NEW
r0 1 READY
r0 1.4 COMPLETED
r1 1 objects
r1 1 NEW
r1 1.5 COMPLETED
r2 2 objects
r2 2 read 64 @0 raid"0
r2 2 NEW
L
    plain out | jq -r '[.traceEvents[] | select(.ph == "b")] | group_by(.id) | map(sort_by(.ts)[]) | .[] | "\(.id) \(.ts) \(.name)"' | diff want -
    equal "$(jq -c '.traceEvents[] | select(.ph == "b" and .id == "r0" and (.args | has("lba")?)) | .args' out)" \
        '{"type":"write","blocks":8,"lba":98264,"bdev":"Null0"}'
    # a command says it itself where no I/O does
    equal "$(grep -v BDEV_IO in | trace-chrome | jq -r '.traceEvents[] | select(.ph == "b" and .id == "p0") | .name' | tr '\n' ' ')" \
        'q01 write NVME_TCP_SUBMIT NVME_TCP_COMPLETE '
}

@test "what is held back until it has a name is bounded, and written when it ends" {
    # a request that never starts anything, and many entries of it
    { entry 0.000 NEW r0 - 0x10; for i in $(seq 1 200); do entry "$i.000" "S$((i % 2))" r0 "$i.000" 0x10; done; } >in
    trace-chrome in >out
    check_format out
    equal "$(jq '[.traceEvents[] | select(.ph == "b")] | length' out)" 202
    # while the input goes on, it is not all held back
    mkfifo pipe
    rm out
    trace-chrome pipe >out &
    exec 7>pipe
    cat in >&7
    wait_for_text '"name":"S1"' out
    exec 7>&-
    wait
}

@test "arrows lead from a request to what it started, and back to it" {
    requests >in
    equal "$(trace-chrome in | events sf '[.ph, .id, .ts]')" '["s",1,1] ["f",1,1.1] ["s",2,1.4] ["f",2,1.5] '
    # without the request there are none
    equal "$(grep -v '"id":"r0"' in | trace-chrome | events sf .)" ''
}

@test "counters tell how many objects are in work" {
    requests >in
    equal "$(trace-chrome in | events C '[.name, .ts, .args.objects]')" \
        '["r in work",1,1] ["i in work",1.1,1] ["r in work",1.2,2] ["i in work",1.4,0] ["r in work",1.7,1] ["r in work",9,2] '
    # a final state without a telling name is known by the first object that ends there
    for i in 1 2 3; do
        entry "$i.000" NEW "r$i" - 0x10
        entry "$i.100" GONE "r$i" 0.1 0x10
    done >in
    equal "$(trace-chrome in | events C '[.ts, .args.objects]')" '[1,1] [2.1,0] [3,1] [3.1,0] '
}

@test "at the end as many objects are in work as trace-latency says" {
    requests >in
    entry 9.100 COMPLETED r1 7.9 0x30 >>in
    # an I/O that its request started, and that has not ended
    entry 9.200 START i1 - 0x50 '"related":"r2"' '"args":{"ctx":"0x10"}' >>in
    for name in sample sample-g3; do
        mktrace "$DATA/$name.jsonl" >trace
        trace-dump -q trace >"$name"
    done
    for file in in:2 sample:1 sample-g3:2; do
        trace-chrome "${file%:*}" | jq -s 'map(.traceEvents[] | select(.ph == "C") | {(.name): .args.objects}) | add | add' >chrome
        trace-latency "${file%:*}" 2>&1 >/dev/null |
            sed -n 's/.*: \([0-9]*\) objects have no whole life: they were in progress.*/\1/p' >latency
        equal "$(cat chrome latency)" "${file#*:}"$'\n'"${file#*:}"
    done
}

@test "objects of one id and of several types have slices of their own" {
    {
        entry 1.000 ISCSI_READ_PDU p0 - 0x10
        entry 1.500 NVME_TCP_SUBMIT p0 - 0x20
        entry 2.000 ISCSI_PDU_COMPLETED p0 1 0x10
        entry 3.000 NVME_TCP_COMPLETE p0 1.5 0x20
    } >in
    status_is 0 trace-chrome in
    echo "$output" >out
    check_format out
    # in the order of viewers: by time, and then by that of the output
    equal "$(jq -c '[.traceEvents[] | select(.ph == "b" or .ph == "e")] | group_by(.id) | map(sort_by(.ts)[]) | .[] | [.ph, .id, .name]' out | tr '\n' ' ')" \
        '["b","p0","objects"] ["b","p0","ISCSI_READ_PDU"] ["e","p0","ISCSI_READ_PDU"] ["b","p0","ISCSI_PDU_COMPLETED"] ["e","p0","ISCSI_PDU_COMPLETED"] ["e","p0","objects"] ["b","p0 NVME_TCP","objects"] ["b","p0 NVME_TCP","nvme admin"] ["b","p0 NVME_TCP","NVME_TCP_SUBMIT"] ["e","p0 NVME_TCP","NVME_TCP_SUBMIT"] ["b","p0 NVME_TCP","NVME_TCP_COMPLETE"] ["e","p0 NVME_TCP","NVME_TCP_COMPLETE"] ["e","p0 NVME_TCP","nvme admin"] ["e","p0 NVME_TCP","objects"] '
    equal "$(events C '[.name, .ts, .args.objects]' <out)" \
        '["p in work",1,1] ["p NVME_TCP in work",1.5,1] ["p in work",2,0] ["p NVME_TCP in work",3,0] '
}

@test "times keep their nanoseconds" {
    entry 9007199254740.993 NEW r0 - 0x10 >in
    equal "$(trace-chrome in | grep -c '"ts":9007199254740.993,')" 6
    equal "$(trace-chrome in | grep -c '"ts":')" 6
}

@test "real traces, whole and cut off anywhere, make valid output" {
    mktrace "$DATA/sample.jsonl" >trace
    qpair-lifetimes "$DATA/sample-probes.txt" >lifetimes.txt
    sh 'trace-dump trace | trace-join -j -l lifetimes.txt >in'
    trace-chrome in >out
    check_format out
    equal "$(jq '[.traceEvents[] | select(.ph | inside("iX"))] | length' out)" 258
    # 14 requests and 15 I/Os were created
    equal "$(jq '[.traceEvents[] | select(.ph == "b" and .args == null)] | length' out)" 29
    for lines in 0 1 13 14 60 239; do
        head -n "$lines" in >short
        status_is "$((lines == 0))" trace-chrome short
        check_format <(cat <<<"$output")
    done
    # an empty trace is still a trace for Perfetto
    status_is 1 trace-chrome /dev/null
    equal "$stderr" 'trace-chrome: /dev/null: empty: there are no trace lines'
    jq -e '.traceEvents | length <= 2' <<<"$output"
    for bytes in 1 100 5000 20001; do
        head -c "$bytes" in >short
        status_is 1 trace-chrome short
        says "trace-chrome: short:$(($(wc -l <short) + 1)): not a trace line, left out: the text ends too early"
        echo "$output" >out
        check_format out
    done
    sh 'trace-dump trace | shuf | trace-chrome | jq -e . >/dev/null'
}

@test "what is no trace line is reported and left out" {
    {
        requests
        echo 'TSC Rate: 2600000000'
        entry -1.000 NEW r7 - 0x70
        entry 1.000 NEW rx - 0x70
        entry 1.000 NEW r8 - 0x70 | sed 's/"lcore":0/"lcore":2147483647/'
        entry 1.000 NEW r8 - 0x70 | sed 's/"lcore":0/"lcore":-1/'
    } >in
    status_is 1 trace-chrome in
    equal "$(grep -o 'in:[0-9]*:' <<<"$stderr" | tr '\n' ' ')" 'in:10: in:11: in:12: in:13: in:14: '
    equal "$output" "$(requests | trace-chrome)"
}

@test "names are valid UTF-8 and escaped" {
    printf '{"tsc":1,"us":1,"lcore":0,"tpoint":"A\\u0001\\"\377\303","object":{"id":"\\u0002 7","value":"0x1"},"args":{"s\200":"\\n"}}\n' |
        sed 's/ 7/7/' >in
    status_is 0 trace-chrome in
    cat <<<"$output" >out
    iconv -f UTF-8 -t UTF-8 out | cmp - out
    equal "$(jq -c '.traceEvents[] | select(.ph == "X") | [.name, .args]' out)" '["A\u0001\"��",{"object":"\u00027","s�":"\n"}]'
}
