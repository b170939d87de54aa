#!/usr/bin/env bats
# What requests in flight wait for, and who has that.
# bats file_tags=sanitizers
load helpers

# An entry, 1 us after the one before it.
entry() { # TPOINT ID VALUE POLLER [RELATED [ARGUMENTS]]
    echo "$*" >>entries
}

# Trace lines of these; an id that is not new has its age.
lines() {
    awk '{
        owner = $4 ~ /^t/ ? sprintf("10.0.0.%d:5000 nqn.%s qid:1", substr($4, 2), $4 == "t3" ? "far 10.0.0.3:4420" : "s 10.0.0.9:4420") : $4
        printf "{\"tsc\":%d,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"%s\",", NR, NR, $1
        printf "\"poller\":\"%s\",\"owner\":\"%s\",", $4 ~ /^t/ ? $4 : "b1", owner
        printf "\"object\":{\"id\":\"%s\",%s\"value\":\"0x%s\"}", $2, $2 in start ? "\"us\":" NR - start[$2] ".000," : "", $3
        if (!($2 in start)) start[$2] = NR
        if ($5 && $5 != "-") printf ",\"related\":\"%s\"", $5
        if ($6) printf ",\"args\":{%s}", $6
        print "}"
    }' entries
    # the trace goes on
    echo '{"tsc":9000000,"us":9000000.000,"lcore":0,"tpoint":"TCP_READ_DONE"}'
}

request() { # NUMBER POLLER
    entry TCP_REQ_NEW "r$1" "1$1" "$2"
    entry TCP_REQ_NEED_BUFFER "r$1" "1$1" "$2"
}

executes() { # NUMBER POLLER [BDEV LBA [QD]]
    entry TCP_REQ_HAVE_BUFFER "r$1" "1$1" "$2"
    entry TCP_REQ_EXECUTING "r$1" "1$1" "$2"
    [ -z "${3:-}" ] || bdev_io "$1" "$3" "r$1" "$4" "${5:-1}"
}

bdev_io() { # NUMBER BDEV PARENT LBA [QD]
    local above=${3#[ri]}
    [[ $3 != r* ]] || above=1$above
    [[ $3 != i* ]] || above=2$above
    entry BDEV_IO_START "i$1" "2$1" "bdev_$2" "$3" "\"type\":2,\"ctx\":\"0x${above/#-/f}\",\"offset\":$4,\"len\":8,\"qd\":${5:-1}"
}

bdev_done() { # NUMBER BDEV PARENT
    entry BDEV_IO_DONE "i$1" "2$1" "bdev_$2" "$3"
}

sends() { # NUMBER LBA
    entry BDEV_NVME_IO_START "N$1" "3$1" - "i$1" "\"ctx\":\"0x2$1\""
    entry NVME_TCP_SUBMIT "p$1" "$(printf %x $((1048576 + 1088 * $1)))" - "N$1" \
        "\"ctx\":\"0x3$1\",\"cid\":$1,\"opc\":1,$(printf '"dw10":"0x%x"' "$2")"',"dw11":"0x0","dw12":"0x7"'
}

# A request of t1 to Farn1 that has become one of t3, and both have ended.
pass() { # NUMBER LBA [COMMAND]
    request "$1" t1; executes "$1" t1 Farn1 "$2"; ${3:-true} "$@"
    request "9$1" t3; executes "9$1" t3 Base "$2"; bdev_done "9$1" Base "r9$1"; ends "9$1" t3
    bdev_done "$1" Farn1 "r$1"; ends "$1" t1
}

ends() { # NUMBER POLLER
    entry TCP_REQ_COMPLETED "r$1" "1$1" "$2"
}

behind() {
    lines | trace-spans -jq --open | jq -r '.id + " " + .behind' | sort
}

@test "the bdev that is innermost, the data of a host, or one that does not read" {
    request 1 t1; executes 1 t1 Db 0; bdev_io 11 Leg0 i1 0; bdev_done 11 Leg0 i1; bdev_io 12 Leg1 i1 0
    request 2 t2; entry TCP_REQ_HAVE_BUFFER r2 12 t2; entry TCP_REQ_TX_H_TO_C r2 12 t2
    request 3 t2; executes 3 t2 Db 8; bdev_done 3 Db r3; entry TCP_REQ_TRANSFER_C2H r3 13 t2
    request 4 t2; executes 4 t2 Farn1 8; sends 4 8
    equal "$(behind)" 'r1 bdev Leg1
r2 data of host 10.0.0.2:5000
r3 host 10.0.0.2:5000 to read
r4 remote of Farn1'
    equal "$(lines | trace-spans -q --open | cut -f 3,28 | head -n 2)" $'ID\tBEHIND\nr1\tbdev Leg1'
    equal "$(lines | trace-spans -q --open -k 'behind=bdev*' | cut -f 3 | tail -n 1)" r1
    equal "$(lines | trace-spans -qj --stuck 1000000 | jq -r 'select(.id == "r1").behind')" 'bdev Leg1'
}

@test "who waits for a buffer waits for the host that has most of them" {
    local i
    for i in 1 2 3; do request $i t1; executes $i t1 Db $((8 * i)) "$i"; done
    request 4 t2; entry TCP_REQ_HAVE_BUFFER r4 14 t2; entry TCP_REQ_TX_H_TO_C r4 14 t2
    request 5 t2
    equal "$(behind | tail -n 2)" 'r4 data of host 10.0.0.2:5000
r5 buffer of 10.0.0.1:5000 > bdev Db'
    # a request that ends gives its buffer back
    for i in 1 2 3; do bdev_done $i Db r$i; ends $i t1; done
    equal "$(behind | tail -n 1)" 'r5 buffer of 10.0.0.2:5000 > data of host 10.0.0.2:5000'
}

@test "requests that hold all buffers, and wait for requests of the same process that wait for one, are a deadlock" {
    hold() { # REMOTE
        local i
        rm -f entries
        for i in 11 12 13 14; do pass $i $((8 * i)) sends; done
        for i in 1 2; do request $i t1; executes $i t1 Farn1 $((8 * i)) $i; sends $i $((8 * i)); done
        request 3 t1
        for i in $1; do request "$i" t3; done
    }
    hold '4 5'
    equal "$(behind)" 'r1 requests of 10.0.0.3:5000 > buffer > deadlock
r2 requests of 10.0.0.3:5000 > buffer > deadlock
r3 buffer > deadlock'
    # a command has not come
    hold 4
    equal "$(behind)" 'r1 requests of 10.0.0.3:5000 > buffer of 10.0.0.1:5000 > remote of Farn1
r2 remote of Farn1
r3 buffer of 10.0.0.1:5000 > remote of Farn1'
    # one has a buffer and may go on
    hold '4 5'
    request 7 t2; executes 7 t2 Web 0
    equal "$(behind | sed -n 3p)" 'r3 buffer of 10.0.0.2:5000 > bdev Web'
}

@test "without commands, I/O whose like has always come back as a request is that" {
    local i
    for ((i = 100; i < 110; i++)); do pass "$i" $((8 * i)); done
    cp entries before
    equal "$(lines | trace-spans -qj | jq -r '"\(.id) \(.remote[])"')" "$(for ((i = 100; i < 110; i++)); do echo "r$i r9$i"; done)"
    request 1 t1; executes 1 t1 Farn1 0; request 2 t3
    equal "$(behind)" 'r1 requests of 10.0.0.3:5000 > buffer > deadlock'
    # not where others of this bdev did not
    cp before entries
    for ((i = 300; i < 310; i++)); do request "$i" t1; executes "$i" t1 Farn1 $((8 * i)); bdev_done "$i" Farn1 "r$i"; ends "$i" t1; done
    request 1 t1; executes 1 t1 Farn1 0; request 2 t3
    behind | grep '^r2 buffer of 10.0.0.1:5000 > bdev Farn1$'
}

@test "what is not executed waits for I/O of its subsystem, and I/O of a volume for that of the target itself" {
    request 1 t1; executes 1 t1 Db 0
    request 2 t2; executes 2 t2
    request 3 t3; executes 3 t3
    equal "$(behind)" 'r1 bdev Db
r2 execution > bdev Db
r3 execution'
    rm entries
    bdev_io 9 Store - 0
    request 1 t1; executes 1 t1 Db 0
    request 2 t2; executes 2 t2 Db 8 2; bdev_io 22 Store i2 8 2
    equal "$(behind)" 'i9 bdev Store
r1 bdev Db > bdev Store
r2 bdev Store'
}

@test "I/O that started before the trace is known by the queue depth" {
    local i
    for i in 1 2 3; do request $i t1; executes $i t1 Db $((8 * i)) 2; bdev_io 1$i Base i$i 0 2; bdev_done 1$i Base i$i; bdev_done $i Db r$i; ends $i t1; done
    lines | trace-causes -q --open >text
    equal "$(head -n 1 text)" 'hang: 1 I/O of bdev Base has been in flight since before the trace, for more than 9.00 s'
    equal "$(lines | trace-causes -qj --open | head -n 1 | plain)" '{"cause":"hang","who":"Base","n":0,"in_flight":0,"oldest_us":0}'
    # not where its start may be missing
    lines | sed 's/"tsc":7,/&"lost":true,/' | trace-causes -q --open >text
    if grep hang text; then false; fi
    # nor where all are seen
    sed -i 's/"qd":2/"qd":1/' entries
    lines | trace-causes -q --open >text
    if grep hang text; then false; fi
}
