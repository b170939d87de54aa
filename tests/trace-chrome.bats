#!/usr/bin/env bats
# bats file_tags=sanitizers

load helpers

# Two requests, of which the first one starts an I/O, one that is in flight at the end, and one whose creation is not in
# the trace.
requests() {
    echo '{"tsc":1,"us":0.500,"lcore":0,"thread":"app","tpoint":"READ","poller":"t02","size":8}'
    entry 1.000 TCP_REQ_NEW r0 - 0x10 '"args":{"q":{"ptr":"0x1","qid":1,"subnqn":"s","hostnqn":"h \"a\""},"qd":1}' | sed 's/"object"/"poller":"t02",&/'
    entry 1.100 BDEV_IO_START i0 - 0x20 '"related":"r0"' '"args":{"type":2,"ctx":"0x10","offset":98264}' | sed 's/"object"/"owner":"bdev_Null0","size":8,&/'
    entry 1.200 TCP_REQ_NEW r1 - 0x30
    entry 1.300 DONE n/a - 0x40
    entry 1.400 BDEV_IO_DONE i0 0.3 0x20 '"related":"r0"' '"args":{"ctx":"0x10"}'
    entry 1.500 TCP_REQ_READY r0 0.5 0x10 | sed 's/"lcore":0/"lcore":17/'
    entry 1.700 TCP_REQ_COMPLETED r0 0.7 0x10
    entry 9.000 TCP_REQ_NEW r2 - 0x10
}

# Events on standard input, where begin and end of a slice become one event X, with a duration in whole ns.
slices() {
    # shellcheck disable=SC2016 # jq's
    plain | jq '.traceEvents |= (reduce (to_entries[] | [.key, .value]) as [$i, $e] ({all: ., open: {}}; "\($e.tid)" as $tid |
        if $e.ph == "B" then .open[$tid] += [$i]
        elif $e.ph == "E" then .open[$tid][-1] as $begin | .open[$tid] |= .[:-1] |
            .all[$begin] += {ph: "X", dur: (($e.ts - .all[$begin].ts) * 1000 | round / 1000)}
        else . end) | .all | map(select(.ph != "E")))'
}

# Events of these phases, with X for slices, on standard input, by FILTER of jq.
events() { # PHASES FILTER
    slices | jq -c --arg phases "$1" ".traceEvents[] | select(.ph | inside(\$phases)) | $2" | tr '\n' ' '
}

# Checks an output against what the Trace Event Format demands of each phase of events.
check_format() {
    jq -e '
        def place: (.pid | type == "number" and . >= 1) and (.tid | type == "number" and . >= 1);
        def event: place and (.ts | type == "number" and . >= 0) and (.name | type == "string");
        (.traceEvents | map(
            (.args == null or (.args | type == "object")) and
            if .ph == "M" then .pid >= 1 and (.name | inside("process_name process_sort_index thread_name thread_sort_index"))
            elif .ph == "i" then event and .s == "t"
            elif .ph == "B" or .ph == "E" then event
            elif .ph == "s" then event and (.id | type == "number") and .cat == "caused"
            elif .ph == "f" then event and (.id | type == "number") and .cat == "caused" and .bp == "e"
            elif .ph == "C" then event and (.args.value | type == "number" and . >= 0)
            else false end) | all)' "$1" >/dev/null || return
    # threads and processes have one name each, before their first event
    jq -r '.traceEvents[] | [.ph, .pid, .tid // 0, .name] | @tsv' "$1" | awk -F '\t' '
        $1 == "M" && $4 == "process_name" { bad += named[$2]++; next }
        $1 == "M" && $4 == "thread_name" { bad += !named[$2] + thread[$3]++; next }
        $1 == "C" { bad += !named[$2] }
        $1 ~ /[iBE]/ { bad += !thread[$3] }
        END { exit bad > 0 }' || return
    # those of each thread are in the order of their times; slices are nested, or one after the
    # other, and are not empty; both events of one have its name and arguments
    jq -r '.traceEvents[] | select(.ph | inside("BE")) | [.ph, .tid, .ts * 1000, "\(.name) \(.args)"] | @tsv' "$1" | awk -F '\t' '
        $3 < last[$2] { print "goes back: " $0; bad = 1 }
        { last[$2] = $3 }
        $1 == "B" { n = ++depth[$2]; start[$2, n] = $3; name[$2, n] = $4 }
        $1 == "E" { n = depth[$2]-- }
        $1 == "E" && (!n || start[$2, n] >= $3 || name[$2, n] != $4) { print "ends no slice: " $0; bad = 1 }
        END { for (thread in depth) bad += depth[thread]; exit bad }' || return
    # an arrow begins once and ends at most once, later, each time where a slice is
    jq -e '.traceEvents | (map(select(.ph == "B" or .ph == "i") | {key: "\(.tid) \(.ts)", value: true}) | from_entries) as $slices |
        map(select(.ph | inside("sf"))) | all($slices["\(.tid) \(.ts)"]) and
        (group_by(.id) | all(sort_by(.ph) | reverse | (map(.ph) | . == ["s"] or . == ["f"] or . == ["s", "f"]) and
            (length == 1 or .[0].ts < .[1].ts)))' "$1" >/dev/null
}

# What this tool and trace-perfetto draw of a file, in one form: slices and entries with their tracks, values of counters,
# and arrows that take time.
pictures() { # FILE [OPTION]...
    trace-chrome -q "${@:2}" "$1" >drawn.json
    # a slice without a duration is an instant here
    # shellcheck disable=SC2016 # jq's
    slices <drawn.json | jq -c '
        def ns: . * 1000 | round;
        .traceEvents | (map(select(.ph == "M" and (.name | endswith("_name"))) |
            {key: "\(.pid) \(.tid)", value: .args.name}) | from_entries) as $names |
        (.[] | ("\($names["\(.pid) null"]) " | ltrimstr("SPDK ")) as $process | $names["\(.pid) \(.tid)"] as $thread |
            if .ph == "X" then ["\($process)\($thread)", .name, (.ts | ns), (.dur | ns), .args // {}]
            elif .ph == "i" then ["\($process)\($thread)", .name, (.ts | ns), null, .args // {}]
            elif .ph == "C" then ["\($process)\(.name)", (.ts | ns), .args.value] else empty end),
        (map(select(.ph == "s" or .ph == "f")) | group_by(.id)[] | sort_by(.ts) | map([.ph, (.ts | ns)]))' | sort >chrome
    # here the end of what is still open is that of the trace
    # shellcheck disable=SC2016 # jq's
    trace-perfetto -q "${@:2}" "$1" | perfetto | jq -c -s --argjson last "$(jq -s 'map(.us * 1000 | round) | max' "$1")" '
        def name: join(" ") | ltrimstr("SPDK ");
        map(select(.track)) | (.[] | .track |= name | if has("value") then [.track, .ts, .value] else .track as $track | ., (.slices // [])[] |
                [$track, .name, .ts, if .instant then null else .dur // ($last - .ts) | if . == 0 then null else . end end, .args] end),
        (map(.ts as $ts | ((.flows // [])[] | [., "s", $ts]), ((.ends // [])[] | [., "f", $ts])) | group_by(.[0])[] |
            sort_by(.[2]) | select(map(.[1]) | unique | length == 2 or . == ["f"]) | map(.[1:]))' | sort >want
}

@test "entries that are no state of an object are on the track of their lcore" {
    requests >in
    status_is 0 trace-chrome in
    equal "$stderr" ''
    equal "$(sed -n 1,6p <<<"$output")" '{"traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"SPDK"}},
{"ph":"M","pid":1,"name":"process_sort_index","args":{"sort_index":0}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"lcore 0 app"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_sort_index","args":{"sort_index":1}},
{"ph":"i","pid":1,"tid":2,"ts":0.500,"name":"READ","s":"t","args":{"poller":"t02","size":8}},'
    # with -e the others as well
    equal "$(trace-chrome -e in | events i 'select(.pid == 1) | [.tid, .name]')" \
        '[2,"READ"] [2,"TCP_REQ_NEW"] [2,"BDEV_IO_START"] [2,"TCP_REQ_NEW"] [2,"DONE"] [2,"BDEV_IO_DONE"] [10,"TCP_REQ_READY"] [2,"TCP_REQ_COMPLETED"] [2,"TCP_REQ_NEW"] '
    equal "$(trace-chrome -e in | events M 'select(.name | startswith("thread_")) | select(.tid == 10) | .args')" '{"name":"lcore 17"} {"sort_index":18} '
}

@test "a request is a slice that says what it is, with one for each state" {
    requests >in
    trace-chrome in >out
    check_format out
    grep -e '"pid":3,' -e '"cat"' out >request
    diff - request <<'L'
{"ph":"M","pid":3,"name":"process_name","args":{"name":"h \"a\""}},
{"ph":"M","pid":3,"name":"process_sort_index","args":{"sort_index":2}},
{"ph":"C","pid":3,"tid":3,"ts":1.000,"name":"h\\x20\"a\"/1 queue depth","args":{"value":1}},
{"ph":"M","pid":3,"tid":12,"name":"thread_name","args":{"name":"h\\x20\"a\"/1 i"}},
{"ph":"M","pid":3,"tid":12,"name":"thread_sort_index","args":{"sort_index":1538}},
{"ph":"B","pid":3,"tid":12,"ts":1.100,"name":"write 8 @98264 Null0","args":{"id":"i0","value":"0x20","lcore":0,"related":"r0","owner":"bdev_Null0","size":8,"args":{"type":2,"ctx":"0x10","offset":98264}}},
{"ph":"f","pid":3,"tid":12,"ts":1.100,"name":"caused","cat":"caused","id":2,"bp":"e"},
{"ph":"B","pid":3,"tid":12,"ts":1.100,"name":"BDEV_IO_START"},
{"ph":"E","pid":3,"tid":12,"ts":1.400,"name":"BDEV_IO_START"},
{"ph":"i","pid":3,"tid":12,"ts":1.400,"name":"BDEV_IO_DONE","s":"t"},
{"ph":"E","pid":3,"tid":12,"ts":1.400,"name":"write 8 @98264 Null0","args":{"id":"i0","value":"0x20","lcore":0,"related":"r0","owner":"bdev_Null0","size":8,"args":{"type":2,"ctx":"0x10","offset":98264}}},
{"ph":"M","pid":3,"tid":13,"name":"thread_name","args":{"name":"h\\x20\"a\"/1 r TCP"}},
{"ph":"M","pid":3,"tid":13,"name":"thread_sort_index","args":{"sort_index":1537}},
{"ph":"C","pid":3,"tid":3,"ts":1.000,"name":"h\\x20\"a\"/1 requests in flight","args":{"value":1}},
{"ph":"B","pid":3,"tid":13,"ts":1.000,"name":"write 8 @98264 Null0","args":{"id":"r0","value":"0x10","lcore":0,"tsc":1,"poller":"t02","io":{"type":"write","blocks":8,"lba":98264,"bdev":"Null0","qpair_qd":1},"args":{"q":{"ptr":"0x1","qid":1,"subnqn":"s","hostnqn":"h \"a\""},"qd":1}}},
{"ph":"s","pid":3,"tid":13,"ts":1.000,"name":"caused","cat":"caused","id":2},
{"ph":"B","pid":3,"tid":13,"ts":1.000,"name":"TCP_REQ_NEW"},
{"ph":"E","pid":3,"tid":13,"ts":1.500,"name":"TCP_REQ_NEW"},
{"ph":"B","pid":3,"tid":13,"ts":1.500,"name":"TCP_REQ_READY","args":{"lcore":17}},
{"ph":"E","pid":3,"tid":13,"ts":1.700,"name":"TCP_REQ_READY","args":{"lcore":17}},
{"ph":"i","pid":3,"tid":13,"ts":1.700,"name":"TCP_REQ_COMPLETED","s":"t"},
{"ph":"E","pid":3,"tid":13,"ts":1.700,"name":"write 8 @98264 Null0","args":{"id":"r0","value":"0x10","lcore":0,"tsc":1,"poller":"t02","io":{"type":"write","blocks":8,"lba":98264,"bdev":"Null0","qpair_qd":1},"args":{"q":{"ptr":"0x1","qid":1,"subnqn":"s","hostnqn":"h \"a\""},"qd":1}}},
{"ph":"C","pid":3,"tid":3,"ts":1.700,"name":"h\\x20\"a\"/1 requests in flight","args":{"value":0}},
L
}

@test "what is still open ends with the trace" {
    requests >in
    equal "$(trace-chrome in | events X 'select(.ts == 1.2) | [.name, .dur, .args.open]')" '["r1",7.8,true] ["TCP_REQ_NEW",7.8,null] '
}

@test "what has no duration has no end that viewers could take for that of another slice" {
    {
        entry 1.000 NEW r0 - 0x10 '"args":{"a":1}'
        entry 1.000 NEXT r0 0.000 0x10
        entry 2.000 LAST r0 1.000 0x10
        entry 3.000 NEW r1 - 0x10
        entry 4.000 READ r2 - 0x10
    } >in
    trace-chrome in >out
    check_format out
    equal "$(jq -c '.traceEvents[] | select(.ph | inside("BEi")) | [.ph, .ts, .name]' out | plain | tr '\n' ' ')" \
        '["B",1,"r0"] ["i",1,"NEW"] ["B",1,"NEXT"] ["E",2,"NEXT"] ["i",2,"LAST"] ["E",2,"r0"] ["i",3,"r1"] ["i",3,"NEW"] ["i",4,"r2"] ["i",4,"READ"] '
}

@test "an arrow has two ends, at two times" {
    {
        entry 1.000 NEW r0 - 0x10
        entry 1.000 BDEV_IO_START i0 - 0x20 '"related":"r0"' '"args":{"ctx":"0x10"}'
        entry 2.000 BDEV_IO_START i1 - 0x30 '"related":"r0"' '"args":{"ctx":"0x10"}'
        entry 3.000 BDEV_IO_START i2 - 0x40 '"related":"r7"' '"args":{"ctx":"0x70"}'
    } >in
    equal "$(trace-chrome in | events sf '[.ph, .ts]')" '["s",1] ["f",2] '
}

@test "times off CPU and interrupts are slices of their lcore" {
    held() { # US TPOINT DURATION COMM MEMBERS
        printf '{"tsc":%d000,"us":%s.000,"source":"off","lcore":7,"tpoint":"%s","args":{"comm":"%s","tid":12,"pid":12,"begin":%d000,"duration":%s.000%s}}\n' \
            "$1" "$1" "$2" "$4" $(($1 - $3)) "$3" "$5"
    }
    {
        requests | sed 's/"lcore"/"source":"target",&/'
        held 90 OFF_CPU 70 reactor_0 ',"why":"preempted","by":"a\"b","by_pid":77'
        held 95 IRQ 2 reactor_0 ',"kind":"irq","name":"nvme0q1"'
        held 96 OFF_CPU 2 app_thread ',"why":"yielded"'
    } >in
    status_is 0 trace-chrome in
    equal "$stderr" ''
    # shellcheck disable=SC2016 # jq's
    equal "$(slices <<<"$output" | jq -c '.traceEvents | (map(select(.name == "thread_name") | {key: "\(.tid)", value: .args.name}) | from_entries) as $threads |
        .[] | select(.ph == "X" and .ts >= 20) | [.pid, $threads["\(.tid)"], .name, .ts, .dur]' | tr '\n' ' ')" \
        '[1,"lcore 0 app off CPU","preempted by a\"b (77)",20,70] [1,"lcore 0 app interrupts","interrupt nvme0q1",93,2] [12,"app_thread 12 off CPU","yielded",94,2] '
}

@test "the picture is that of trace-perfetto" {
    requests >in
    mktrace "$DATA/sample.jsonl" | trace-dump -q >owners
    qpair-lifetimes "$DATA/sample-probes.txt" >lifetimes.txt
    trace-join -j -l lifetimes.txt owners >hosts
    mktrace -R 5 "$DATA/sample-g3.jsonl" | trace-dump -q >addresses
    cp in a
    cp owners b
    trace-merge -q a b >merged
    for file in in owners hosts addresses merged; do
        for entries in '' -e; do
            # shellcheck disable=SC2086 # no argument, or one
            pictures $file $entries
            [ "$(wc -l <want)" -gt 10 ]
            diff want chrome
            check_format drawn.json
        done
    done
}

# An entry of a connection from 10.0.0.1, and a whole request of it.
of() { # US TPOINT OWNER QUEUE [OBJECT]
    local object='' age=''
    [ "$2" = TCP_REQ_NEW ] || age='"us":0.5,'
    [ $# -lt 5 ] || object=",\"object\":{\"id\":\"$5\",$age\"value\":\"0x${5#r}0\"}"
    printf '{"tsc":%d,"us":%s,"lcore":0,"tpoint":"%s","poller":"%s","owner":"10.0.0.1:4%s nqn.a 10.0.0.2:4420 qid:%s"%s}\n' \
        "${1%.*}" "$1" "$2" "$3" "${3#t}" "$4" "$object"
}
request() { # US OWNER QUEUE OBJECT
    of "$1.0" TCP_REQ_NEW "$2" "$3" "$4"
    of "$1.5" TCP_REQ_COMPLETED "$2" "$3" "$4"
}

# The rows of requests, in the order of their names.
rows_of_requests() { # FILE
    trace-chrome "$1" | jq -r '.traceEvents | (map(select(.name == "thread_name") | {key: "\(.tid)", value: .args.name}) |
        from_entries) as $rows | map(select(.args.id and (.ph == "B")))[] | "\(.args.id) \($rows["\(.tid)"])"' | sort -V
}

@test "a connection has the row of one that had ended when it was created" {
    {
        of 1.0 TCP_QP_CREATE t1 1
        request 2 t1 1 r1
        of 3.0 TCP_QP_SOCK_INIT t2 1
        of 4.0 TCP_QP_DESTROY t1 1
        # it existed at the same time, although not its requests
        of 5.0 TCP_QP_CREATE t2 1
        request 6 t2 1 r2
        of 7.0 TCP_QP_CREATE t3 1
        request 8 t3 1 r3
        of 9.0 TCP_QP_DESTROY t3 1
        # when it was created, and another queue
        request 10 t4 1 r4
        of 11.0 TCP_QP_CREATE t5 2
        request 12 t5 2 r5
        # a request is in flight when it ends
        of 13.0 TCP_QP_CREATE t6 1
        of 14.0 TCP_REQ_NEW t6 1 r6
        of 15.0 TCP_QP_DESTROY t6 1
        of 16.0 TCP_QP_CREATE t7 1
        request 17 t7 1 r7
        # the first one is back, while another has its row
        of 18.0 TCP_QP_CREATE t1 1
        request 19 t1 1 r8
    } >in
    equal "$(rows_of_requests in | tr '\n' ' ')" \
        'r1 10.0.0.1:41/1 r TCP r2 10.0.0.1:42/1 r TCP r3 10.0.0.1:41/1 r TCP r4 10.0.0.1:44/1 r TCP r5 10.0.0.1:45/2 r TCP r6 10.0.0.1:41/1 r TCP r7 10.0.0.1:47/1 r TCP r8 10.0.0.1:41/1(2) r TCP '
    equal "$(trace-chrome in | jq -r '.traceEvents[] | select(.name == "process_name") | .args.name' | tr '\n' ' ')" 'SPDK 10.0.0.1 '
    pictures in
    diff want chrome
}

@test "a host that reconnects has the rows of one connection" {
    for i in {10..400..10}; do
        of "$i.0" TCP_QP_CREATE "t$i" 1
        of "$i.1" TCP_REQ_NEW "t$i" 1 "r$i" | sed 's/}$/,"args":{"qd":1}}/'
        of "$i.2" TCP_REQ_COMPLETED "t$i" 1 "r$i"
        of "$i.3" TCP_QP_DESTROY "t$i" 1
    done >in
    trace-chrome in >out
    check_format out
    equal "$(jq -r '.traceEvents[] | select(.name | endswith("_name")) | .args.name' out | tr '\n' ' ')" 'SPDK lcore 0 10.0.0.1 10.0.0.1:410/1 r TCP '
    equal "$(jq -r '.traceEvents[] | select(.ph == "C") | .name' out | sort -u | tr '\n' ' ')" '10.0.0.1:410/1 queue depth 10.0.0.1:410/1 requests in flight IOPS requests in flight '
}

@test "times keep their nanoseconds" {
    entry 9007199254740.993 NEW r0 - 0x10 >in
    equal "$(trace-chrome in | grep -c '"ts":9007199254740.993,')" 4
    equal "$(trace-chrome in | grep -c '"ts":')" 4
}

@test "real traces, whole and cut off anywhere, make valid output" {
    mktrace "$DATA/sample.jsonl" >trace
    qpair-lifetimes "$DATA/sample-probes.txt" >lifetimes.txt
    sh 'trace-dump trace | trace-join -j -l lifetimes.txt >in'
    for lines in 0 1 13 14 60 239; do
        head -n "$lines" in >short
        status_is "$((lines == 0))" trace-chrome -q short
        echo "$output" >out
        check_format out
    done
    # an empty trace is still one for viewers
    status_is 1 trace-chrome /dev/null
    equal "$stderr" 'trace-chrome: /dev/null: empty: there are no trace lines'
    jq -e '.traceEvents == []' <<<"$output"
    for bytes in 1 100 5000 20001; do
        head -c "$bytes" in >short
        status_is 1 trace-chrome short
        says "trace-chrome: short:$(($(wc -l <short) + 1)): not a trace line, left out: the text ends too early"
        echo "$output" >out
        check_format out
    done
    sh 'trace-dump trace | shuf | trace-chrome -q | jq -e . >/dev/null'
}

@test "a request is drawn soon after it has ended, from a pipe that goes on" {
    mkfifo pipe
    trace-chrome pipe >out &
    exec 7>pipe
    requests >&7
    wait_for_text '"id":"r0"' out
    run -1 grep -F ']}' <(tail -n 1 out)
    exec 7>&-
    wait
    check_format out
}

@test "what is no trace line is reported and left out" {
    {
        requests
        echo 'TSC Rate: 2600000000'
        entry -1.000 NEW r7 - 0x70
        entry 1.000 NEW rx - 0x70
        entry 1.000 NEW n/a - 0x70 | sed 's/"object".*/"size":1}/; s/"lcore":0/"lcore":-1/'
    } >in
    status_is 1 trace-chrome in
    equal "$(grep -o 'in:[0-9]*:' <<<"$stderr" | tr '\n' ' ')" 'in:10: in:11: in:12: in:13: '
    equal "$output" "$(requests | trace-chrome)"
    # an entry that is too late for its object is not lost
    { requests; entry 0.900 TCP_REQ_LATE r0 0.1 0x10; } >late
    status_is 0 trace-chrome late
    says 'late: 1 entry is on the track of its lcore only: it is earlier than the previous one of its object'
    equal "$(events i 'select(.name == "TCP_REQ_LATE") | [.pid, .ts]' <<<"$output")" '[1,0.9] '
    status_is 0 trace-chrome -q late
    equal "$stderr" ''
}

@test "names are valid UTF-8 and escaped" {
    printf '{"tsc":1,"us":1,"lcore":0,"tpoint":"A\\u0001\\"\377\303","object":{"id":"\\u0002 7","value":"0x1"},"args":{"s\200":"\\n"}}\n' |
        sed 's/ 7/7/' >in
    status_is 1 trace-chrome in
    says 'trace-chrome: in:1: not UTF-8'
    cat <<<"$output" >out
    iconv -f UTF-8 -t UTF-8 out | cmp - out
    equal "$(jq -c '.traceEvents[] | select(.ph == "i") | [.name, .args]' out | plain)" '["\u00027",{"id":"\u00027","value":"0x1","lcore":0,"tsc":1,"open":true,"args":{"s�":"\n"}}]
["A\u0001\"��",null]'
}
