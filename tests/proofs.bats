#!/usr/bin/env bats
# bats file_tags=sanitizers

# Causes that trace-spans finds in what objects do over time.

load helpers

# A number below N that does not depend on awk's rand().
random='function random(n) { seed = (seed * 1103515245 + 12345) % 2147483648; return int(seed / 65536) % n }'

# An I/O of BLOCKS of the bdev Disk from FROM to TO, in us. Its number is n.
io='function io(from, to, blocks, type) {
    what = sprintf("\"poller\":\"b1\",\"owner\":\"bdev_Disk\",\"object\":{\"id\":\"i%d\"", n)
    printf "%.3f\t{\"tsc\":1,\"us\":%.3f,\"lcore\":0,\"tpoint\":\"BDEV_IO_START\",\"size\":%d,%s,\"value\":\"0x%x\"},\"args\":{\"type\":%d}}\n", from, from, blocks, what, n + 16, type
    printf "%.3f\t{\"tsc\":1,\"us\":%.3f,\"lcore\":0,\"tpoint\":\"BDEV_IO_DONE\",%s,\"us\":%.3f,\"value\":\"0x%x\"}}\n", to, to, what, to - from, n + 16
    n++
}'

in_order() {
    sort -s -n -k 1,1 | cut -f 2-
}

# 100 ms of a bdev that lets IOS go in each timeslice, or BLOCKS if that is not 0; the host has DEPTH I/Os of SIZE blocks.
limited() { # IOS BLOCKS DEPTH SIZE
    awk -v ios="$1" -v blocks="$2" -v depth="$3" -v size="$4" "$random $io"'
        function next_one(i, first) {
            first = 0
            for (i = 1; i < depth; i++)
                if (start[i] < start[first]) first = i
            return first
        }
        BEGIN {
            for (i = 0; i < depth; i++) start[i] = 100 + random(300)
            left = 0
            for (slice = 1; slice < 100; slice++) {
                tick = slice * 1000 + random(40) / 10
                left = (left < 0 ? left : 0) + (blocks ? blocks : ios)
                for (now = tick; left > 0; now += 0.5) {
                    i = next_one()
                    if (start[i] > now) now = start[i]
                    if (now >= (slice + 1) * 1000) break
                    io(start[i], now, size, 1)
                    start[i] = now + 20 + random(40)
                    left -= blocks ? size : 1
                }
            }
        }' | in_order
}

# A host with DEPTH I/Os, each of which takes FIXED us and up to VARIES more, and is seen every POLL us if that is not 0.
fixed() { # FIXED VARIES POLL DEPTH
    awk -v fixed="$1" -v varies="$2" -v poll="$3" -v depth="$4" "$random $io"'
        BEGIN {
            for (i = 0; i < depth; i++) start[i] = random(3000)
            for (k = 0; k < 200; k++)
                for (i = 0; i < depth; i++) {
                    done = start[i] + fixed + random(varies + 1)
                    if (poll) done = (int(done / poll) + 1) * poll + random(3)
                    io(start[i], done, 8, 1)
                    start[i] = done + 20 + random(40)
                }
        }' | in_order
}

# A host that sends AT_ONCE I/Os each ms, whatever is done, each of which takes FIXED us.
timed() { # AT_ONCE FIXED
    awk -v n_at="$1" -v fixed="$2" "$random $io"'
        BEGIN {
            for (ms = 0; ms < 200; ms++)
                for (i = 0; i < n_at; i++) {
                    from = ms * 1000 + random(30)
                    io(from, from + fixed + random(3), 8, 1)
                }
        }' | in_order
}

# Whether at least half of the I/Os waited for a limit, or some, or none; and the last sentence about it.
limits() {
    "$@" >in
    trace-spans -q -j in | awk '{ n += /"rate_limit":/ } END { printf "%s", (n >= NR / 2 ? "most" : n ? "some" : "none") }'
    trace-spans -q -s in | grep evenly | tail -n 1 | sed 's/^ */ /'
}

@test "I/Os that go evenly while others wait show a rate limit" {
    equal "$(limits limited 2 0 16 8)" 'most Disk ends 2.0 I/Os per ms, evenly: a rate limit?'
    equal "$(limits limited 2 0 3 8)" 'most Disk ends 2.0 I/Os per ms, evenly: a rate limit?'
    # all I/Os of the host go several times in each timeslice, most of them at once
    equal "$(limits limited 20 0 4 8)" 'some Disk ends 20.0 I/Os per ms, evenly: a rate limit?'
    equal "$(limits limited 20 0 64 8)" 'most Disk ends 20.0 I/Os per ms, evenly: a rate limit?'
    # 10 MiB per second, of small I/Os, and of large ones, which take several timeslices each
    equal "$(limits limited 0 20 8 8)" 'most Disk ends 2.5 I/Os per ms, evenly: a rate limit?'
    equal "$(limits limited 0 20 4 64)" 'some Disk ends 0.31 I/Os per ms, evenly: a rate limit?'
}

@test "a rate limit of reads does not hold up writes" {
    {
        limited 2 0 8 8
        limited 7 0 3 8 | sed 's/"us":[0-9]*/&7/; s/"type":1/"type":2/; s/"id":"i/&9/; s/"value":"0x/&9/'
    } >both
    awk '{ match($0, /"us":[0-9.]+/); print substr($0, RSTART + 5, RLENGTH - 5) "\t" $0 }' both | in_order >in
    equal "$(trace-spans -q -k 'rate_limit=*' -j in | jq -r .io.type | sort | uniq)" read
}

@test "what is only slow, or only even, is no rate limit" {
    local depth

    for depth in 1 2 4 16; do
        # a drive, a bdev_delay of one and two ms, and completions that a poller sees once per ms
        equal "$(limits fixed 80 20 0 $depth)" none
        equal "$(limits fixed 4000 3000 0 $depth)" none
        equal "$(limits fixed 1000 0 0 $depth)" none
        equal "$(limits fixed 2000 0 0 $depth)" none
        equal "$(limits fixed 100 200 1000 $depth)" none
        # a host with a timer
        equal "$(limits timed $depth 50)" none
        equal "$(limits timed $depth 900)" none
        equal "$(limits timed $depth 2300)" none
    done
}

# What SHARES of the request or I/O ID has in parentheses.
shares() { # ID FILE
    trace-spans -q --human -k id="$1" "$2" | sed -n 's/.*\((.*)\).*/\1/p'
}

# The names of the last columns of --layers, and what the first row has there.
columns() { # N FILE
    trace-latency -q --human --layers "$2" | awk -v n="$1" 'NR <= 2 { for (i = NF - n + 1; i <= NF; i++) printf "%s ", $i }'
}

@test "a rate limit is in the text and in the table of layers" {
    local waited all

    limited 2 0 16 8 >in
    equal "$(shares i150 in)" '(rate_limit 100%)'
    equal "$(columns 1 in | cut -d ' ' -f 1)" rate_limit%
    read -r waited all < <(trace-spans -q -j in | jq -s -r '"\(map(select(.rate_limit)) | length) \(length)"')
    # those that ended before it was proven
    [ "$waited" -gt 100 ] && [ "$waited" -lt "$all" ]
    # the share is that of the life of all
    trace-spans -q -j in | jq -s '((map(.rate_limit // 0) | add) / (map(.life) | add) * 1e4 | round) / 1e4' >is
    equal "$(trace-latency -q -j --layers in | plain | jq .rate_limit)" "$(cat is)"
    # no column without any
    fixed 1000 0 0 4 >in
    equal "$(columns 1 in | cut -d ' ' -f 1)" reply%
}

@test "the name of a bdev is printed as it is" {
    limited 2 0 16 8 | sed 's/bdev_Disk/bdev_a\\"\\\\b/' >in
    equal "$(trace-spans -q -s -n 1 in | grep -o '[^ ]* ends')" 'a"\b ends'
}

@test "what waits for a rate limit at the end waits for it" {
    limited 2 0 16 8 | head -n -3 >in
    equal "$(trace-spans -q -j in | jq -c 'select(.open) | has("rate_limit")' | sort | uniq)" true
    status_is 0 sh "trace-spans --open -s in | grep -c 'Disk ends 2.0 I/Os per ms, evenly'"
}

# Writes r0 and r1 to a cluster that is not allocated: r0 starts the copy of 2048 blocks, r1 comes 500 us later.
first_writes() {
    {
        object r0 0x10 '' 1000 TCP_REQ_NEW 1001.8 TCP_REQ_EXECUTING 4300 TCP_REQ_EXECUTED 4400 TCP_REQ_COMPLETED
        object i0 0x20 '"owner":"bdev_thin","size":8,"related":"r0","args":{"type":2,"ctx":"0x10"}' 1001 BDEV_IO_START 4200 BDEV_IO_DONE
        object a0 0x30 '"related":"i0","args":{"ctx":"0x20"}' 1001.1 BLOB_REQ_SET_START
        # the allocation; the set that reads the snapshot has its address as ctx
        object a1 0x40 '"args":{"ctx":"0x99"}' 1001.2 BLOB_REQ_SET_START 4001 BLOB_REQ_SET_COMPLETE
        object a2 0x50 '"args":{"ctx":"0x40"}' 1001.3 BLOB_REQ_SET_START 2001 BLOB_REQ_SET_COMPLETE
        object i1 0x60 '"owner":"bdev_Disk","size":2048,"related":"a2","args":{"type":1,"ctx":"0x50"}' 1001.4 BDEV_IO_START 2000 BDEV_IO_DONE
        object i2 0x70 '"owner":"bdev_Disk","size":2048,"related":"a1","args":{"type":2,"ctx":"0x40"}' 2001.5 BDEV_IO_START 4000 BDEV_IO_DONE
        # the next write only queues
        object r1 0x80 '' 1500 TCP_REQ_NEW 1501.8 TCP_REQ_EXECUTING 4250 TCP_REQ_EXECUTED 4450 TCP_REQ_COMPLETED
        object i3 0x90 '"owner":"bdev_thin","size":8,"related":"r1","args":{"type":2,"ctx":"0x80"}' 1501 BDEV_IO_START 4220 BDEV_IO_DONE
        object a3 0xa0 '"related":"i3","args":{"ctx":"0x90"}' 1501.1 BLOB_REQ_SET_START
        # both are written, in one call
        object a4 0xb0 '"related":"i0","args":{"ctx":"0x20"}' 4001.1 BLOB_REQ_SET_START 4190 BLOB_REQ_SET_COMPLETE
        object i4 0xc0 '"owner":"bdev_Disk","size":8,"related":"a4","args":{"type":2,"ctx":"0xb0"}' 4001.2 BDEV_IO_START 4180 BDEV_IO_DONE
        object a5 0xd0 '"related":"i3","args":{"ctx":"0x90"}' 4001.3 BLOB_REQ_SET_START 4210 BLOB_REQ_SET_COMPLETE
        object i5 0xe0 '"owner":"bdev_Disk","size":8,"related":"a5","args":{"type":2,"ctx":"0xd0"}' 4001.4 BDEV_IO_START 4200 BDEV_IO_DONE
    } | merged
}

@test "the copy for a first write to a cluster is tied to the writes that wait for it" {
    first_writes >in
    status_is 0 sh "trace-spans -q -j in | jq -c 'select(.id != \"a1\") | [.id, .copy]'"
    equal "$(plain <<<"$output" | tr '\n' ' ')" '["r0",2999.8] ["r1",2499.9] '
    equal "$(shares r0 in) $(shares r1 in)" '(copy 88%) (copy 85%)'
    equal "$(columns 1 in | cut -d ' ' -f 1)" copy%
    # the set that reads the snapshot belongs to the allocation
    status_is 0 sh "trace-spans -q -j -k id=a1 in | jq -c .children"
    equal "$output" '["a2","i2"]'
    status_is 0 sh "trace-spans -q -s -n 3 in | grep -A 3 'BLOB_REQ_SET_START.*a[45]' | grep -o 'waited.*'"
    equal "$output" $'waited for a copy of 2048 blocks: the first write to a cluster\nwaited for a copy of 2048 blocks: the first write to a cluster'
    # a set that another entry of the lcore comes before was not started by the write
    { cat in && object x0 0xf0 '' 1001.15 READ; } | merged >other
    status_is 0 sh "trace-spans -q -j other | jq -c 'select(.copy) | .id'"
    equal "$output" ''
    # while it runs
    awk '/"us":4000/ { exit } { print }' in >open
    status_is 0 sh "trace-spans -q -j open | jq -c 'select(.copy) | [.id, .copy]'"
    equal "$(plain <<<"$output")" '["r0",1000.3]'
    status_is 0 sh "trace-spans -q -s --open open | grep -o 'waited.*'"
    equal "$output" 'waited for a copy of 2048 blocks: the first write to a cluster'
}

@test "an allocation without a copy says so" {
    first_writes | grep -v '"i[12]"\|"a2"' >in
    status_is 0 sh "trace-spans -q -s -n 1 in | grep -o 'waited.*'"
    equal "$output" 'waited for the allocation of a cluster: the first write to it'
}

# r0 waits 800 us for a bdev I/O, r1 for ever, and r2 for an I/O below that of its bdev, whose other I/Os had one.
without_io() {
    {
        object r0 0x10 '' 0 TCP_REQ_NEW 0.5 TCP_REQ_EXECUTING 900 TCP_REQ_EXECUTED 901 TCP_REQ_COMPLETED
        object i0 0x20 '"owner":"bdev_Split","size":8,"related":"r0","args":{"type":1,"ctx":"0x10"}' 800.5 BDEV_IO_START 899 BDEV_IO_DONE
        object i1 0x30 '"owner":"bdev_Base","size":8,"args":{"type":1,"ctx":"0x20"}' 801 BDEV_IO_START 898 BDEV_IO_DONE
        # the lcore is at work
        object s0 0x40 '' 400 SOCK_REQ_QUEUE 401 SOCK_REQ_COMPLETE
        object s1 0x40 '' 600 SOCK_REQ_QUEUE 1900 SOCK_REQ_COMPLETE
        object r1 0x50 '' 950 TCP_REQ_NEW 951 TCP_REQ_EXECUTING
        object r2 0x60 '' 1000 TCP_REQ_NEW 1002 TCP_REQ_EXECUTING
        object i2 0x70 '"owner":"bdev_Split","size":8,"related":"r2","args":{"type":1,"ctx":"0x60"}' 1001 BDEV_IO_START
        # an asynchronous event request
        object r3 0x80 '"poller":"t1","owner":"10.0.0.1:5 nqn.a 10.0.0.2:4420 qid:0"' 10 TCP_REQ_NEW 11 TCP_REQ_EXECUTING
    } | merged
}

@test "what is passed on without an I/O below it says so" {
    without_io >in
    status_is 0 sh "trace-spans -q -j in | jq -c 'select(.id | test(\"r\")) | [.id, .no_io]' | sort"
    equal "$(plain <<<"$output" | tr '\n' ' ')" '["r0",800] ["r1",949] ["r2",898] ["r3",null] '
    status_is 0 sh "trace-spans -q -s -k id='r*' in | grep 'it waits\|passed' | sed 's/^ *//'"
    diff - <(echo "$output") <<'L'
no bdev I/O was started meanwhile: it waits for a bdev_io, a paused subsystem or a queue
no bdev I/O was started since: it waits for a bdev_io, a paused subsystem or a queue
Split has passed nothing on since
L
    # its I/O starts before the request is passed on
    sed 's/"us":800.5/"us":0.3/; s/"us":898.5/"us":1/' in | merged >held
    equal "$(trace-spans -q -s -k id=r0 held | grep passed | sed 's/^ *//')" 'Split passed nothing on meanwhile'
    equal "$(shares r0 in)" '(no_io 89%)'
    grep -v '"r[123]"\|"i2"' in >one
    equal "$(columns 1 one)" 'no_io% 88.8 '
    # it ended while its I/O still waited
    {
        object r0 0x10 '' 0 TCP_REQ_NEW 0.5 TCP_REQ_EXECUTING 201 TCP_REQ_COMPLETED
        object i0 0x20 '"owner":"bdev_Split","size":8,"related":"r0","args":{"type":1,"ctx":"0x10"}' 0.2 BDEV_IO_START 899 BDEV_IO_DONE
        object i1 0x30 '"owner":"bdev_Base","size":8,"args":{"type":1,"ctx":"0x20"}' 801 BDEV_IO_START 898 BDEV_IO_DONE
    } | merged >outlived
    equal "$(trace-spans -q -j -k id=r0 outlived | plain | jq -c '[.life, .no_io]')" '[201,201]'
    equal "$(columns 1 outlived)" 'no_io% 100.0 '
    # bdevs that keep some of their I/Os
    { cat in && object i3 0x90 '"owner":"bdev_Split","size":8,"args":{"type":1,"ctx":"0x1"}' 1100 BDEV_IO_START 1200 BDEV_IO_DONE; } | merged >keeps
    equal "$(trace-spans -q -j -k id=r2 keeps | jq .no_io)" null
    # without entries of bdev I/Os, nothing is known about them
    grep -v BDEV in >without
    equal "$(trace-spans -q -j without | jq -c 'select(.no_io) | .id')" ''
}

# An attempt of an NVMe bdev's I/O: at US, its command until THEN, if there is one; MORE: its end.
attempt() { # N US [THEN [MORE]]
    local n=$1 us=$2 then=$3
    object "N$n" 0x30 '"related":"i0","args":{"ctx":"0x20"}' "$us" BDEV_NVME_IO_START ${4:+$4 BDEV_NVME_IO_DONE}
    [ -z "$then" ] || object "p$n" 0x40 "\"poller\":\"q01\",\"related\":\"N$n\",\"args\":{\"ctx\":\"0x30\",\"cid\":1}" "$us.1" NVME_TCP_SUBMIT "$then" NVME_TCP_COMPLETE
}

# An I/O whose path fails after 100 us, and is back after 1000.
retried() {
    {
        object r0 0x10 '' 0 TCP_REQ_NEW 0.4 TCP_REQ_EXECUTING 1100 TCP_REQ_EXECUTED 1200 TCP_REQ_COMPLETED
        object i0 0x20 '"owner":"bdev_Nvme0n1","size":8,"related":"r0","args":{"type":1,"ctx":"0x10"}' 0.2 BDEV_IO_START 1099 BDEV_IO_DONE
        attempt 0 1 100
        attempt 1 101
        attempt 2 1001 1097 1098
    } | merged
}

@test "an I/O that starts again on an NVMe bdev was retried" {
    local last

    retried >in
    status_is 0 sh "trace-spans -q -j in | plain | jq -c '[.id, .retry, .retries]' | grep r0"
    equal "$(plain <<<"$output")" '["r0",1000,2]'
    equal "$(shares r0 in)" '(retry 83%)'
    equal "$(columns 1 in)" 'retry% 83.3 '
    status_is 0 sh "trace-spans -q -s -k id=r0 in | grep 'again' | sed 's/^ *//'"
    equal "$output" 'Nvme0n1 started it again, retry 2 of 2: its path failed'
    # until the end, while there is no path: the last attempt has no command
    {
        awk '/"us":1001/ { exit } { print }' in
        # most I/Os go on
        for last in 200 400 900; do
            object "i$last" 0x80 '' $((last - 60)) BDEV_IO_START "$last" BDEV_IO_DONE
            object "N$last" 0x90 '' $((last - 50)) BDEV_NVME_IO_START "$last" BDEV_NVME_IO_DONE
        done
    } | merged >open
    equal "$(trace-spans -q -j -k id=r0 open | plain | jq -c '[.retry, .retries]')" '[899,1]'
    status_is 0 sh "trace-spans -q -s --open open | tail -n 1 | sed 's/^ *//'"
    equal "$output" 'Nvme0n1 started it again, retry 1 of 1: its path failed'
    # commands are not traced: it may be at work
    grep -v NVME_TCP open >unknown
    equal "$(trace-spans -q -j -k id=r0 unknown | plain | jq -c '[.retry, .retries]')" '[100,1]'
    # the bdev layer submits an I/O that was done for want of memory
    last=$(grep -n '"N1"' in | cut -d : -f 1)
    { head -n $((last - 1)) in && entry 100.5 BDEV_NVME_IO_DONE N0 100.200 0x30 && tail -n +"$last" in; } >again
    equal "$(trace-spans -q -j -k id=r0 again | plain | jq -c '[.retry, .retries]')" '[900,1]'
    # other objects
    sed '/"N1"/s/0x30/0x31/' in >other
    equal "$(trace-spans -q -j -k id=r0 other | plain | jq -c '[.retry, .retries]')" '[null,null]'
}

# Requests one after another, each with one more in flight than the last, up to DEPTH, and then always so many.
queue() { # DEPTH
    awk -v depth="$1" 'BEGIN {
        for (n = 0; n < 200; n++) {
            owner = "\"owner\":\"10.0.0.1:5 nqn.a 10.0.0.2:4420 qid:1\",\"poller\":\"t288\""
            what = sprintf("\"id\":\"r%d\",\"value\":\"0x%x\"", n, n + 1)
            printf "%d\t{\"tsc\":1,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"TCP_REQ_NEW\",%s,\"object\":{%s},\"args\":{\"qd\":%d}}\n",
                n * 10, n * 10, owner, what, n < depth ? n + 1 : depth
            printf "%d\t{\"tsc\":1,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"TCP_REQ_COMPLETED\",%s,\"object\":{%s,\"us\":%d.000},\"args\":{\"qd\":1}}\n",
                (n + depth) * 10 - 1, (n + depth) * 10 - 1, owner, what, depth * 10 - 1
        }
    }' | in_order
}

@test "a connection that is always as deep as a queue may be full" {
    queue 15 >in
    status_is 0 sh "trace-spans -q -j in | plain | jq -c '[.io.qpair_qd, .full_queue]' | uniq -c | awk '{ print \$1, \$2 }' | tail -n 2"
    equal "$output" $'1 [14,null]\n186 [15,16]'
    status_is 0 sh "trace-spans -q -s -k id=r199 in | sed -n 5p | sed 's/^ *//'"
    equal "$output" 'qd 15 of 16: the host may queue'
    equal "$(shares r199 in)" '(qd 15 of 16)'
    # 186 of 200 requests that take equally long
    equal "$(columns 2 in)" 'reply% queue% 0 93.0 '
    equal "$(trace-latency -q -j --layers in | plain | jq .queue)" 0.93
    # a depth that no queue has, and one that is reached once
    equal "$(queue 16 | trace-spans -q -j | grep -c '"full_queue"')" 0
    { queue 15 | head -n 30 && queue 14; } >once
    equal "$(trace-spans -q -j once | grep -c '"full_queue"')" 0
}
