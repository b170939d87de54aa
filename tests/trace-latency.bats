#!/usr/bin/env bats
# shellcheck disable=SC2086 # options are words
# bats file_tags=sanitizers

load helpers

# Its tables as on a terminal; "command trace-latency" prints those of a pipe.
trace-latency() {
    command trace-latency --human "$@"
}
export -f trace-latency

# N objects at different addresses, the i-th of which goes from A to DONE in i nanoseconds.
ramp() { # N
    awk -v n="$1" 'BEGIN {
        for (i = 1; i <= n; i++) {
            printf "{\"tsc\":1,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"A\",\"object\":{\"id\":\"r%d\",\"value\":\"0x%x\"}}\n", i * 1000, i, i
            printf "{\"tsc\":1,\"us\":%d.%03d,\"lcore\":0,\"tpoint\":\"DONE\",\"object\":{\"id\":\"r%d\",\"us\":%d.%03d,\"value\":\"0x%x\"}}\n",
                i * 1000 + int(i / 1000), i % 1000, i, int(i / 1000), i % 1000, i
        }
    }'
}

# Nanoseconds, taken as unsigned, with a point before the last three digits.
microseconds() {
    local ns
    ns=$(printf '%04u' "$1")
    echo "${ns:0:-3}.${ns: -3}"
}

# FROM>TO:COUNT:MEAN for each row, of JSON lines on standard input.
rows() {
    plain | jq -r '"\(if .life then "life" elif .to_reply then "to_reply" else .from + ">" + .to end):\(.count):\(.mean)"' | tr '\n' ' '
}

# Two requests at one address, one at another; the last one is in work at the end.
three() {
    entry 1.000 NEW r0 - 0x10
    entry 1.010 READY r0 0.010 0x10
    entry 2.000 NEW r1 - 0x20
    entry 2.030 READY r1 0.030 0x20
    entry 3.010 DONE r0 2.010 0x10
    entry 3.030 DONE r1 1.030 0x20
    entry 9.000 NEW r2 - 0x10
    entry 9.050 READY r2 0.050 0x10
}

@test "every transition and the whole life have a row, the longest first" {
    three >in
    cat >want <<'L'
obj from       to    count    mean     p50     p99     max share%
r   whole life           2 1.52 us 1.03 us 2.01 us 2.01 us   98.4
r   READY      DONE      2 1.50 us 1.00 us 2.00 us 2.00 us   97.1 *******************
r   NEW        READY     3   30 ns   30 ns   50 ns   50 ns    2.9 *
L
    status_is 0 trace-latency in
    diff want - <<<"$output"
    equal "$stderr" 'trace-latency: in: 1 object was in progress at the end, and has no whole life'
    succeeds trace-latency -q in
}

@test "requests that hang in a state that none has left are in progress" {
    {
        for i in 1 2 3; do
            entry $i.000 NEW "r$i" - "0x$i"
            entry $i.100 READY "r$i" 0.100 "0x$i"
        done
    } >in
    status_is 0 trace-latency -j in
    equal "$(rows <<<"$output")" 'NEW>READY:3:0.1 '
    says 'trace-latency: in: 3 objects were in progress at the end, and have no whole life'
    equal "$(trace-spans -jq --open in | wc -l)" 3
    equal "$(trace-latency -jq --rates in)" ''
}

@test "-j prints JSON lines" {
    three >in
    cat >want <<'L'
{"object":"r","life":true,"count":2,"mean":1.520,"p50":1.030,"p90":2.010,"p99":2.010,"p999":2.010,"max":2.010,"share":0.9838}
{"object":"r","from":"READY","to":"DONE","count":2,"mean":1.500,"p50":1.000,"p90":2.000,"p99":2.000,"p999":2.000,"max":2.000,"share":0.9709}
{"object":"r","from":"NEW","to":"READY","count":3,"mean":0.030,"p50":0.030,"p90":0.050,"p99":0.050,"p999":0.050,"max":0.050,"share":0.0291}
L
    trace-latency -jq in | diff want -
}

@test "percentiles are those of HdrHistogram, the largest value and the mean are exact" {
    # below 2048 ns every value is its own bucket
    equal "$(ramp 1000 | trace-latency -jq | sed -n 1p)" \
        '{"object":"r","life":true,"count":1000,"mean":0.501,"p50":0.500,"p90":0.900,"p99":0.990,"p999":0.999,"max":1.000,"share":1.0000}'
    # 4096 to 8191 in buckets of 4, whose highest value counts
    equal "$(ramp 8000 | trace-latency -jq | sed -n 1p)" \
        '{"object":"r","life":true,"count":8000,"mean":4.001,"p50":4.001,"p90":7.203,"p99":7.923,"p999":7.995,"max":8.000,"share":1.0000}'
    # the first bucket of every power of two: its lowest value and its highest, in unsigned 64 bits; alone, where no
    # percentile is above the largest value, and below a longer one
    local longest=18446744073709551.615 n=0 power low high value
    for power in $(seq 11 63); do
        low=$((1 << power)) high=$(microseconds $((low + (1 << (power - 10)) - 1)))
        low=$(microseconds $low)
        for value in "$low" "$high"; do
            n=$((n + 2))
            entry 0 A r$n - 0x$n "\"args\":{\"n\":$n}"
            entry 0 A r$((n + 1)) - 0x$((n + 1)) "\"args\":{\"n\":$((n + 1))}"
            entry 0 A r$((n + 1000)) - 0x$((n + 1000)) "\"args\":{\"n\":$((n + 1))}"
            entry "$value" DONE r$n 0 0x$n >&3
            entry "$value" DONE r$((n + 1)) 0 0x$((n + 1)) >&3
            entry $longest DONE r$((n + 1000)) 0 0x$((n + 1000)) >&4
            printf '%s\n' "$n $value $value" "$((n + 1)) $high $longest" >&5
        done
    done >in 3>ends 4>last 5>want
    cat ends last >>in
    trace-latency -j -g args.n in | sed -n 's/.*"args.n":\([0-9]*\)}.*"life":true.*"p50":\([0-9.]*\),.*"max":\([0-9.]*\),.*/\1 \2 \3/p' |
        sort -n | diff want -
    { entry 0.000 A r0 - 0x1; entry 18446744073709551.615 DONE r0 0 0x1; } >in
    equal "$(trace-latency -j in | sed -n 's/,"share.*//; s/.*"mean"/"mean"/; 1p')" \
        '"mean":18446744073709551.615,"p50":18446744073709551.615,"p90":18446744073709551.615,"p99":18446744073709551.615,"p999":18446744073709551.615,"max":18446744073709551.615'
}

@test "sums of more than 64 bits are exact" {
    for i in 1 2 3; do
        entry 0.000 A "r$i" - "0x$i"
        entry 18446744073709551.615 DONE "r$i" 0 "0x$i"
    done >in
    equal "$(trace-latency -e in | grep -o '"sum":[0-9]*' | sort -u)" '"sum":55340232221128654845'
    equal "$(trace-latency -e in | trace-latency --merge -j | grep -o '"mean":[0-9.]*' | sort -u)" '"mean":18446744073709551.615'
}

@test "objects whose creation is not in the trace are counted apart" {
    {
        three
        entry 10.000 READY n/a - 0x30
        entry 10.500 DONE n/a - 0x30
        entry 10.500 DONE n/a - 0x40
        entry 11.000 NEW r3 - 0x30
        entry 11.100 READY r3 0.1 0x30
        entry 12.000 DONE n/a - 0x30
    } >in
    status_is 0 trace-latency -j in
    says 'trace-latency: in: 3 objects left out: their creation is not in the trace'
    says 'trace-latency: in: 2 objects were in progress at the end, and have no whole life'
    equal "$(rows <<<"$output")" 'life:2:1.52 READY>DONE:2:1.5 NEW>READY:4:0.048 '
}

@test "lines that grep left out join the states around them, and lives stay as long" {
    three >in
    status_is 0 sh 'grep -v READY in | trace-latency -jq'
    equal "$(rows <<<"$output")" 'life:2:1.52 NEW>DONE:2:1.52 '
    status_is 0 sh 'grep -v NEW in | trace-latency -jq'
    equal "$(rows <<<"$output")" 'life:2:1.52 READY>DONE:2:1.5 '
    status_is 0 sh 'grep DONE in | trace-latency -jq'
    equal "$(rows <<<"$output")" 'life:2:1.52 '
    status_is 1 sh 'grep NEW in | trace-latency'
    equal "$output" ''
    says 'trace-latency: <stdin>: 3 objects have one entry, and no whole life'
    says 'trace-latency: <stdin>: no object was seen in two states: nothing to measure'
}

@test "entries out of order are left out and counted" {
    {
        entry 1.000 NEW r0 - 0x10
        entry 1.500 DONE r0 0.5 0x10
        entry 1.200 READY r0 0.2 0x10
        entry 2.000 NEW r1 - 0x10
        entry 1.400 READY r0 0.4 0x10
        entry 2.300 DONE r1 0.3 0x10
    } >in
    status_is 0 trace-latency -j in
    equal "$stderr" 'trace-latency: in: 2 entries left out: each is earlier than the previous one of its object'
    equal "$(rows <<<"$output")" 'life:2:0.4 NEW>DONE:2:0.4 '
}

@test "several traces may follow each other, with the same ids and addresses" {
    three | grep -v r2 >in
    cat in in in >thrice
    status_is 0 trace-latency -j thrice
    equal "$(rows <<<"$output")" 'life:6:1.52 READY>DONE:6:1.5 NEW>READY:6:0.02 '
    equal "$stderr" 'trace-latency: thrice: 4 objects are created before the last entry at their address: the lines come from several traces, or are not in order'
    # other applications have other addresses
    { cat in; sed 's/0x/0xf/' in; } >two
    status_is 0 trace-latency -j two
    equal "$(rows <<<"$output")" 'life:4:1.52 READY>DONE:4:1.5 NEW>READY:4:0.02 '
    equal "$stderr" ''
}

@test "types of objects are told apart, also at one address" {
    {
        entry 1.000 A r0 - 0x10
        entry 1.001 A i0 - 0x10
        entry 1.003 DONE i0 0.002 0x10
        entry 1.010 DONE r0 0.010 0x10
    } >in
    equal "$(trace-latency -j in | plain | jq -r '"\(.object)\(.life // .from):\(.mean)"' | tr '\n' ' ')" 'itrue:0.002 iA:0.002 rtrue:0.01 rA:0.01 '
}

# A PDU of iSCSI and a request to a remote drive, of one id.
same_id() {
    entry 1.000 ISCSI_READ_PDU p0 - 0x10
    entry 1.000 NVME_TCP_SUBMIT p0 - 0x20
    entry 2.000 ISCSI_PDU_COMPLETED p0 1 0x10
    entry 3.000 NVME_TCP_COMPLETE p0 2 0x20
}

@test "types that share a letter have rows of their own" {
    same_id >in
    status_is 0 trace-latency -j in
    equal "$(jq -c '[.object, .family, .from, .count, .mean, .share]' <<<"$output" | plain | tr '\n' ' ')" \
        '["p","ISCSI",null,1,1,1] ["p","ISCSI","ISCSI_READ_PDU",1,1,1] ["p","NVME_TCP",null,1,2,1] ["p","NVME_TCP","NVME_TCP_SUBMIT",1,2,1] '
    equal "$(trace-latency in | sed -n 's/ *whole life.*//p')" $'p   ISCSI\np   NVME_TCP'
    # for people, a letter that has one type in the trace needs no more
    grep -v ISCSI in >nvme
    equal "$(trace-latency -j nvme | jq -c '[.object, .family]' | uniq)" '["p","NVME_TCP"]'
    equal "$(trace-latency nvme | grep -c NVME_TCP\ whole)" 0
    # encoded lines keep them apart, in order, and merge with those of other runs
    trace-latency -e in >code
    LC_ALL=C sort -c code
    same_lines 'trace-latency -j in' 'trace-latency --merge -j code'
    same_lines 'trace-latency -e in' 'grep NVME code | trace-latency --merge -e >part; grep -v NVME code | cat - part | trace-latency --merge -e'
    equal "$(trace-latency -j --against code in | jq -c '[.against.count, .change.mean]' | plain | uniq)" '[1,0]'
    # entries of an object whose creation is not among the lines are of the type of the others
    grep -v 'READ\|SUBMIT' in >cut-off
    equal "$(trace-latency -j cut-off | jq -c '[.family, .mean]' | plain | tr '\n' ' ')" '["ISCSI",1] ["NVME_TCP",2] '
}

@test "rows of a type are the same in traces with and without another type of its letter" {
    same_id >both
    grep -v ISCSI both >nvme
    trace-latency -e both >both.code
    trace-latency -e nvme >nvme.code
    equal "$(trace-latency --merge -j both.code nvme.code | jq -c '[.family, .life, .count]' | tr '\n' ' ')" \
        '["ISCSI",true,1] ["ISCSI",null,1] ["NVME_TCP",true,2] ["NVME_TCP",null,2] '
    equal "$(trace-latency -j --against nvme.code both | jq -c '[.family, .against.count]' | tr '\n' ' ')" \
        '["ISCSI",null] ["ISCSI",null] ["NVME_TCP",1] ["NVME_TCP",1] '
    status_is 0 trace-latency -j --against both.code nvme
    equal "$(jq -c '[.family, .against.count]' <<<"$output" | tr '\n' ' ')" '["NVME_TCP",1] ["NVME_TCP",1] '
    equal "$stderr" "trace-latency: both.code: 2 rows are not in this run"
}

@test "names are the same however they are escaped" {
    three >in
    sed 's/READY/\\u0052E\\u0041DY/; s/"us"/"u\\u0073"/; s/"args"/"\\u0061rgs"/; s/"id":"r/"id":"\\u0072/; s/"lcore":0/"lcore":0,"owner":"a\\\/\\u00e9\\ud83d\\ude00\\u0022\\u000a"/' in >escaped
    sed 's/"lcore":0/"lcore":0,"owner":"a\/é😀\\"\\n"/' in >plain
    equal "$(grep -c u0052 escaped) $(grep -c 😀 plain)" "$(grep -c READY in) $(wc -l <in)"
    same_lines 'trace-latency -e -g owner plain' 'trace-latency -e -g owner escaped'
    same_lines 'trace-join plain' 'trace-join escaped'
}

@test "entries without an object, and torn ones, do no harm" {
    three >in
    {
        echo '{"tsc":1,"us":0.000,"lcore":0,"tpoint":"READ","size":8}'
        echo '{"tsc":1,"us":0.000,"lcore":0,"tpoint":"STATE","object":{"value":"0x10"},"args":{"state":1}}'
        sed 's/}$/,"args":{},"torn":true}/' in
    } >torn
    same_lines 'trace-latency -q in' 'trace-latency -q torn'
}

@test "what is no trace line is reported and left out" {
    {
        three
        echo 'TSC Rate: 2600000000'
        echo '{"tsc":1,"us":0.000,"lcore":0}'
        entry -1.000 NEW r7 - 0x70
        entry 1e300 NEW r7 - 0x70
        entry 1.000 NEW rx - 0x70
        entry 1.000 NEW '' - 0x70
        entry 1.000 READY r8 -3 0x70
        entry 1.000 NEW r8 - zzz
        echo
    } >in
    status_is 1 trace-latency in
    equal "$output" "$(three | trace-latency -q)"
    equal "$(grep -o 'in:[0-9]*:' <<<"$stderr" | tr '\n' ' ')" 'in:9: in:10: in:11: in:12: in:13: in:14: in:15: in:16: in:17: '
    says 'trace-latency: in:13: not a trace line, left out: an object'"'"'s id is a letter and a number, or n/a'
    says 'trace-latency: in:11: not a trace line, left out: a time is negative or longer than 584 years'
}

# A request on host A with two I/Os of the bdev layer, of which one ends late.
related() {
    entry 1.000 NEW r0 - 0x10 '"args":{"qpair":{"ptr":"0x1","hostnqn":"host-a"}}'
    entry 1.100 START i0 - 0x20 '"related":"r0"' '"args":{"type":1,"ctx":"0x10"}'
    entry 1.200 EXECUTING r0 0.2 0x10 '"args":{"qpair":{"ptr":"0x1","hostnqn":"host-a"}}'
    entry 1.250 START i1 - 0x30 '"related":"r0"' '"args":{"type":1,"ctx":{"ptr":"0x10","note":"x"}}'
    entry 1.700 DONE i0 0.6 0x20 '"related":"r0"' '"args":{"ctx":"0x10"}'
    entry 2.000 DONE n/a - 0x40 '"related":"r0"' '"args":{"ctx":"0x10"}'
    entry 2.500 COMPLETED r0 1.5 0x10 '"args":{"qpair":{"ptr":"0x1","hostnqn":"host-a"}}'
    entry 2.600 DONE i1 1.35 0x30 '"related":"r9"' '"args":{"ctx":"0x10"}'
}

@test "-r splits the time of a request by what its related objects do" {
    related >in
    equal "$(trace-latency -jq in | jq -c 'select(.object == "r")' | rows)" 'life:1:1.5 EXECUTING>COMPLETED:1:1.3 NEW>EXECUTING:1:0.2 '
    equal "$(trace-latency -jqr in | jq -c 'select(.object == "r")' | rows)" \
        'life:1:1.6 DONE>COMPLETED:1:0.5 START>DONE:1:0.45 DONE>DONE:1:0.3 COMPLETED>DONE:1:0.1 NEW>START:1:0.1 START>EXECUTING:1:0.1 EXECUTING>START:1:0.05 '
    # their own rows stay as they are
    same_lines "trace-latency -jqr in | grep '\"object\":\"i\"'" "trace-latency -jq in | grep '\"object\":\"i\"'"
}

# A write of 8 blocks to Nvme0n1, down to the drive; and a read without an NVMe drive, of host B.
deep() {
    entry 1.000 TCP_REQ_NEW r0 - 0x10 '"args":{"qpair":{"ptr":"0x1","hostnqn":"host-a"}}'
    entry 1.100 BDEV_IO_START i0 - 0x20 '"related":"r0"' '"args":{"type":2,"ctx":"0x10","offset":64,"qd":1}' |
        sed 's/"object"/"owner":"bdev_Nvme0n1","size":8,&/'
    entry 1.200 BDEV_NVME_IO_START N0 - 0x30 '"related":"i0"' '"args":{"ctx":"0x20"}'
    entry 1.400 NVME_TCP_SUBMIT p0 - 0x40 '"related":"N0"' '"args":{"ctx":"0x30","cid":7,"opc":1}' | sed 's/"object"/"poller":"q01",&/'
    entry 2.400 NVME_TCP_COMPLETE p0 1.000 0x40 '"related":"N0"' '"args":{"ctx":"0x30","cpl":"0x0"}'
    entry 2.500 BDEV_NVME_IO_DONE N0 1.300 0x30 '"related":"i0"' '"args":{"ctx":"0x20"}'
    entry 2.600 BDEV_IO_DONE i0 1.500 0x20 '"related":"r0"' '"args":{"ctx":"0x10"}'
    entry 2.700 TCP_REQ_TRANSFER_C2H r0 1.700 0x10
    entry 3.000 TCP_REQ_COMPLETED r0 2.000 0x10
    entry 4.000 TCP_REQ_NEW r1 - 0x10 '"args":{"qpair":{"ptr":"0x2","hostnqn":"host-b"}}'
    entry 4.100 BDEV_IO_START i1 - 0x20 '"related":"r1"' '"args":{"type":1,"ctx":"0x10","offset":0,"qd":1}' |
        sed 's/"object"/"owner":"bdev_Null0","size":1,&/'
    entry 4.200 BDEV_IO_DONE i1 0.100 0x20 '"related":"r1"' '"args":{"ctx":"0x10"}'
    entry 5.000 TCP_REQ_COMPLETED r1 1.000 0x10
}

@test "-r goes through the whole chain of related objects" {
    deep >in
    equal "$(trace-latency -jr in | jq -c 'select(.object == "r")' | rows)" \
        'life:2:1.5 to_reply:1:1.7 NVME_TCP_SUBMIT>NVME_TCP_COMPLETE:1:1 BDEV_IO_DONE>TCP_REQ_COMPLETED:1:0.8 TCP_REQ_TRANSFER_C2H>TCP_REQ_COMPLETED:1:0.3 BDEV_NVME_IO_START>NVME_TCP_SUBMIT:1:0.2 TCP_REQ_NEW>BDEV_IO_START:2:0.1 BDEV_IO_DONE>TCP_REQ_TRANSFER_C2H:1:0.1 BDEV_IO_START>BDEV_IO_DONE:1:0.1 BDEV_IO_START>BDEV_NVME_IO_START:1:0.1 BDEV_NVME_IO_DONE>BDEV_IO_DONE:1:0.1 NVME_TCP_COMPLETE>BDEV_NVME_IO_DONE:1:0.1 '
    equal "$(trace-latency -jr in | jq -c 'select(.object == "N")' | rows)" \
        'life:1:1.3 NVME_TCP_SUBMIT>NVME_TCP_COMPLETE:1:1 BDEV_NVME_IO_START>NVME_TCP_SUBMIT:1:0.2 NVME_TCP_COMPLETE>BDEV_NVME_IO_DONE:1:0.1 '
    # a part of a split I/O names what it is a part of by address only
    {
        entry 1.000 NEW r0 - 0x10
        entry 1.100 BDEV_IO_START i0 - 0x20 '"related":"r0"' '"args":{"ctx":"0x10"}'
        entry 1.200 BDEV_IO_START i1 - 0x30 '"args":{"ctx":"0x20"}'
        entry 1.500 BDEV_IO_DONE i1 0.3 0x30 '"args":{"ctx":"0x20"}'
        entry 1.600 COMPLETED r0 0.6 0x10
    } >parts
    equal "$(trace-latency -jqr parts | jq -c 'select(.object == "r")' | rows)" \
        'life:1:0.6 BDEV_IO_START>BDEV_IO_DONE:1:0.3 BDEV_IO_DONE>COMPLETED:1:0.1 BDEV_IO_START>BDEV_IO_START:1:0.1 NEW>BDEV_IO_START:1:0.1 '
}

@test "-g groups by what requests were" {
    deep >in
    equal "$(trace-latency -j -g type -g blocks -g bdev in | jq -c 'select(.life) | [.group[], .object, .mean]' | plain | tr '\n' ' ')" \
        '["read",1,"Null0","i",0.1] ["read",1,"Null0","r",1] ["write",8,"Nvme0n1","N",1.3] ["write",8,"Nvme0n1","i",1.5] ["write",8,"Nvme0n1","p",1] ["write",8,"Nvme0n1","r",2] '
    # along with keys of the lines, which all objects of a request inherit; io.type is the same as type
    equal "$(trace-latency -j -g args.qpair.hostnqn -g io.type -g status in | jq -c 'select(.life) | [.group[], .object]' | tr '\n' ' ')" \
        '["host-a","write","success","N"] ["host-a","write","success","i"] ["host-a","write","success","p"] ["host-a","write","success","r"] ["host-b","read",null,"i"] ["host-b","read",null,"r"] '
    # the host: its name, with its NQN as well in -e, or null
    { cat in; entry 90.000 NEW r9 - 0x90 '"poller":"t9","owner":"10.0.0.1:5 nqn.a 10.0.0.2:4420 qid:2"'
      entry 91.000 COMPLETED r9 1.0 0x90; entry 92.000 NEW r8 - 0x80; entry 93.000 COMPLETED r8 1.0 0x80; } >hosts
    equal "$(trace-latency -jq -g host hosts | jq -c 'select(.life and .object == "r") | .group.host' | tr '\n' ' ')" \
        '"10.0.0.1:5" "host-a" "host-b" null '
    equal "$(sed 's/"host-\(.\)"/"nqn.x:h\1"/' hosts | trace-latency -jq -g host | jq -c 'select(.life and .object == "r") | .group.host' | tr '\n' ' ')" \
        '"10.0.0.1:5" "ha" "hb" null '
    sed 's/"host-\(.\)"/"nqn.x:h\1"/' hosts | trace-latency -eq -g host >named
    equal "$(grep -o 'nqn.x:h[ab]' named | sort -u | paste -sd ' ')" 'nqn.x:ha nqn.x:hb'
    equal "$(trace-latency --merge -jq named | jq -c 'select(.life and .object == "r") | .group.host' | tr '\n' ' ')" '"10.0.0.1:5" "ha" "hb" null '
    equal "$(trace-latency -jq -g host in | jq -c 'select(.life and .object == "i") | .group.host' | tr '\n' ' ')" '"host-a" "host-b" '
    fails 'trace-latency: <stdin>: -g bdev: no object has this key' sh 'grep -v BDEV in | trace-latency -q -g bdev'
    long=$(printf '%04090d' 0)
    sed "s/host-a/$long/" in >too-long
    status_is 1 trace-latency -jq -g type -g args.qpair.hostnqn too-long
    says 'trace-latency: too-long: 1 object left out: a group has more than 4 KiB'
    equal "$(jq -r 'select(.object == "r") | .group.type' <<<"$output" | sort -u)" read
}

@test "-g leg groups by the bdev below a request's that has most of its time" {
    {
        entry 1.000 TCP_REQ_NEW r0 - 0x10
        entry 1.100 BDEV_IO_START i0 - 0x20 '"owner":"bdev_Raid1","related":"r0","args":{"type":2,"ctx":"0x10"}'
        entry 1.200 BDEV_IO_START i1 - 0x30 '"owner":"bdev_Leg0","args":{"type":2,"ctx":"0x20"}'
        entry 1.300 BDEV_IO_START i2 - 0x40 '"owner":"bdev_Leg1","args":{"type":2,"ctx":"0x20"}'
        entry 4.300 BDEV_IO_DONE i2 3.000 0x40
        entry 7.200 BDEV_IO_DONE i1 6.000 0x30
        entry 7.300 BDEV_IO_DONE i0 6.200 0x20
        entry 7.400 TCP_REQ_COMPLETED r0 6.400 0x10
        # its bdev has no others
        entry 8.000 TCP_REQ_NEW r1 - 0x10
        entry 8.100 BDEV_IO_START i3 - 0x20 '"owner":"bdev_Leg1","related":"r1","args":{"type":2,"ctx":"0x10"}'
        entry 8.300 BDEV_IO_DONE i3 0.200 0x20
        entry 8.400 TCP_REQ_COMPLETED r1 0.400 0x10
    } >in
    for key in leg io.leg; do
        equal "$(trace-latency -j -g bdev -g $key in | jq -c 'select(.life) | [.group[], .object, .count]' | sort | tr '\n' ' ')" \
            '["Leg0","Leg0","i",1] ["Leg1","Leg0","i",1] ["Leg1",null,"i",1] ["Leg1",null,"r",1] ["Raid1","Leg0","i",1] ["Raid1","Leg0","r",1] '
    done
    fails 'trace-latency: <stdin>: -g leg: no object has this key' sh 'tail -n 4 in | trace-latency -q -g leg'
}

@test "groups by what requests were have the rows of all of them" {
    mktrace -R 5 "$DATA/sample.jsonl" >trace
    trace-dump -q trace >in
    for options in '' -r; do
        {
            trace-latency -eq $options in >want
            trace-latency -eq $options -g type -g blocks -g bdev in | sed 's/"group":{[^}]*},//' | trace-latency --merge -e | diff want -
        }
    done
}

@test "--layers prints the share of each layer" {
    deep >in
    cat >want <<'L'
type  bdev    object count    mean network% buffer% host% target% bdev% drive% reply%
read  Null0   r          1 1.00 us        0       0     0    90.0  10.0      0      0
write Nvme0n1 r          1 2.00 us        0       0     0    10.0  25.0   50.0   15.0
L
    status_is 0 trace-latency --layers -g type -g bdev in
    diff want - <<<"$output"
    equal "$(trace-latency --layers -j in)" \
        '{"object":"r","family":"TCP","count":2,"mean":1.500,"layers":{"network":0.0000,"buffer":0.0000,"host":0.0000,"target":0.3667,"below":0.0000,"bdev":0.2000,"drive":0.3333,"reply":0.1000,"unknown":0.0000},"silent":0.6000,"no_io":0.0000,"rate_limit":0.0000,"copy":0.0000,"retry":0.0000,"queue":0.0000}'
    # with lines of offcpusnoop and biosnoop also what held the requests: no layers, which add up to 100 %
    held='"args":{"comm":"reactor_0","pid":12,"begin":0,"duration"'
    {
        lines() { echo '{"tsc":9,"us":'"$1"',"source":"off","lcore":3,"tpoint":"IRQ",'"${held/_0/_9}"':0.000}}'; echo '{"tsc":9,"us":'"$1"',"source":"bio","lcore":3,"tpoint":"BLOCK_IO","args":{"type":"F","sector":0,"bytes":0,"latency":0.000}}'; }
        lines 0.500
        sed -n 1,6p in
        echo '{"tsc":9,"us":2.510,"source":"off","lcore":3,"tpoint":"OFF_CPU",'"$held"':0.500}}'
        echo '{"tsc":9,"us":2.530,"source":"off","lcore":3,"tpoint":"IRQ",'"$held"':0.010}}'
        sed -n 7,11p in
        echo '{"tsc":9,"us":4.150,"source":"off","lcore":3,"tpoint":"OFF_CPU",'"$held"':0.050}}'
        echo '{"tsc":9,"us":4.190,"source":"bio","lcore":3,"tpoint":"BLOCK_IO","args":{"type":"R","sector":0,"bytes":512,"latency":0.070}}'
        sed -n 12,13p in
        lines 9.000
    } >merged
    COLUMNS=200 trace-latency --layers -g type -g bdev merged >have
    diff <(cut -c 1-85 have) want
    diff <(cut -c 86- have) - <<'L'
 off_cpu% irq% disk%
      5.0    0   7.0
     25.0  0.5     0
L
    trace-latency --layers -j in | sed 's/},/&"off_cpu":0.1833,"irq":0.0033,"disk":0.0233,"covered":{"off_cpu":2,"disk":2},/' | diff - <(trace-latency --layers -j merged)
    # shares are those of the requests that a recording covers
    sed '/"us":9.000,"source":"bio"/d' merged >partly
    status_is 0 trace-latency --layers -j -g type partly
    diff - <(plain <<<"$output" | jq -c '[.off_cpu, .irq, .disk, .covered]') <<'L'
[0.05,0,null,{"off_cpu":1,"disk":0}]
[0.25,0.005,0,{"off_cpu":1,"disk":1}]
L
    equal "$stderr" 'trace-latency: partly: 1 request is not within the recording of biosnoop: disk is that of the others'
    # those that are not whole are not among them
    { grep -v 'NEW.*host-b' in; entry 9.000 TCP_REQ_NEW r2 - 0x50; } >cut-off
    status_is 0 trace-latency --layers -j cut-off
    equal "$(jq -c .count <<<"$output")" 2
    says 'trace-latency: cut-off: 1 request left out: cut by the start or end of the trace, after more than 0 ns; see trace-spans -n'
    { cat cut-off; entry 9000.000 TCP_REQ_NEW r3 - 0x60; entry 9001.000 TCP_REQ_COMPLETED r3 1.000 0x60; } >slow
    succeeds trace-latency --layers -q slow
    status_is 0 trace-latency --layers slow
    says 'trace-latency: slow: 1 request left out: cut by the start or end of the trace, after more than 8.99 ms; see trace-spans -n'
    status_is 0 trace-latency slow
    says 'trace-latency: slow: 1 request has no whole life: cut by the start or end of the trace, after more than 8.99 ms; see trace-spans -n'
    # a known creation before the first line: the time until then has a layer of its own
    printf '%s\n' '{"tsc":1,"us":4.000,"lcore":0,"tpoint":"TCP_REQ_EXECUTING","object":{"id":"r1","us":3.000,"value":"0x10"}}' \
        '{"tsc":1,"us":5.000,"lcore":0,"tpoint":"TCP_REQ_COMPLETED","object":{"id":"r1","us":4.000,"value":"0x10"}}' >before
    status_is 0 trace-latency --layers -j before
    equal "$(plain <<<"$output" | jq -c '[.mean, .layers.below, .layers.unknown]')" '[4,0.25,0.75]'
    equal "$(trace-latency -j before | plain | jq -s 'map(select(.life))[0].mean')" 4
    # they are the sums of what trace-spans says
    mktrace "$DATA/sample.jsonl" >trace
    trace-dump -q trace >in
    trace-spans -jq in | plain | jq -s -c 'map(select(.open | not)) | group_by(.io.type) | map([.[0].io.type, length,
        ((map(.layers.bdev) | add) / (map(.life) | add) * 1e4 | round)])[]' >want
    trace-latency --layers -jq -g type in | plain | jq -c '[.group.type, .count, (.layers.bdev * 1e4 | round)]' | sort >have
    sort want | diff - have
}

@test "--layers has a column for what is below, where bdev I/O is missing" {
    deep | grep -v -e BDEV -e NVME >in
    sed 's/TCP_REQ_NEW/TCP_REQ_EXECUTING/' in >executing
    status_is 0 trace-latency --layers executing
    diff - <(echo "$output") <<'L'
object count    mean network% buffer% host% target% below% bdev% drive% reply%
r          2 1.50 us        0       0     0       0   90.0     0      0   10.0
L
    equal "$stderr" 'trace-latency: executing: no bdev I/O in the lines: requests execute in the layer below; try: rpc.py trace_enable_tpoint_group bdev'
    succeeds trace-latency --layers -q executing
    succeeds trace-latency executing
}

# A line of offcpusnoop: time, lcore, duration, tracepoint, other arguments.
held() {
    echo "{\"tsc\":9,\"us\":$1,\"source\":\"off\",\"lcore\":3,\"tpoint\":\"$4\",\"args\":{\"comm\":\"reactor_$2\",\"pid\":12,\"begin\":0,\"duration\":$3,$5}}"
}

@test "where entries are missing, no life ends" {
    {
        entry 10.000 TCP_REQ_NEW r0 - 0x10
        entry 11.000 TCP_REQ_NEW r1 - 0x20
        entry 12.000 TCP_REQ_EXECUTING r1 1.000 0x20 # its end is missing
        entry 13.000 TCP_REQ_EXECUTING r0 3.000 0x10
        entry 30.000 TCP_REQ_COMPLETED r0 20.000 0x10
        echo '{"tsc":1,"us":80.000,"lcore":0,"tpoint":"X","lost":true}'
        entry 81.000 TCP_REQ_NEW r2 - 0x20
        entry 90.000 TCP_REQ_COMPLETED r2 9.000 0x20
    } >in
    status_is 0 trace-latency -j in
    says 'trace-latency: in: 1 object was in flight where entries are missing, and has no whole life'
    equal "$(jq -c 'select(.life) | [.count, .mean]' <<<"$output" | plain)" '[2,14.5]'
    status_is 0 trace-latency --layers -j in
    says '1 request left out: '
    equal "$(jq .count <<<"$output")" 2
}

# 40 writes of 8 blocks in 20 ms, of which 30 end in the second half, and another request.
rates() {
    for i in {0..39}; do
        us=$((i < 10 ? 100000 + i * 1000 : 107000 + i * 300))
        entry $us.000 TCP_REQ_NEW "r$i" - 0x10
        entry $us.001 BDEV_IO_START "i$i" - 0x20 | sed "s/\"object\"/\"size\":8,\"object\"/; s/}\$/,\"related\":\"r$i\",\"args\":{\"ctx\":\"0x10\",\"type\":2}}/"
        entry $us.100 TCP_REQ_COMPLETED "r$i" 0.100 0x10
    done
    entry 119999.000 TCP_REQ_NEW r99 - 0x10
    entry 120000.000 TCP_REQ_COMPLETED r99 1.000 0x10
}

@test "--rates prints requests and blocks per second, and the most in 10 ms" {
    rates >in
    status_is 0 trace-latency -q --rates -g type in
    diff - <(cat <<'L'
type  object count    mean   iops peak_iops blocks/s peak_blocks/s
write r         40  100 ns 2000.0    3000.0  16000.0       24000.0
-     r          1 1.00 us   50.0     100.0        -             -
L
    ) <<<"$output"
    status_is 0 trace-latency -jq --rates -g type -i 0.01 in
    equal "$(jq -c '[.group.type, .begin, .count, .iops.mean, .iops.peak, .blocks.mean]' <<<"$output" | plain | tr '\n' ' ')" \
        '["write",100000,10,1000,1000,8000] ["write",110000,30,3000,3000,24000] [null,120000,1,0,100,null] '
    # the peak of an interval shorter than 10 ms is the mean
    equal "$(trace-latency -jq --rates -i 0.001 in | jq -c '[.begin, .iops.mean, .iops.peak]' | plain | sed -n 12p)" '[111000,3000,3000]'
    # the times of several files add up
    equal "$(trace-latency -jq --rates -g type in in | jq -c '[.count, .iops.mean, .iops.peak]' | plain | sed -n 1p)" '[80,2000,3000]'
    # what offcpusnoop recorded before the trace and after it is none of its time
    { held 50000.000 0 1.000 OFF_CPU '"why":"blocked"'; cat in; held 150000.000 0 1.000 OFF_CPU '"why":"blocked"'; } >merged
    same_lines 'trace-latency -jq --rates -g type in' 'trace-latency -jq --rates -g type merged'
}

@test "admin requests and what is below them are left out, unless --admin is given" {
    {
        entry 1.000 TCP_REQ_NEW r0 - 0x10 '"args":{"qpair":{"ptr":"0xa0","qid":0,"hostnqn":"nqn.a:db-1"}}'
        entry 2.000 SOCK_REQ_QUEUE s0 - 0x11 '"related":"r0","args":{"ctx":"0x10"}'
        entry 3.000 SOCK_REQ_COMPLETE s0 1.000 0x11 '"related":"r0","args":{"ctx":"0x10"}'
        entry 10.000 TCP_REQ_NEW r1 - 0x20 '"args":{"qpair":{"ptr":"0xb0","qid":1,"hostnqn":"nqn.a:db-1"}}'
        entry 12.000 TCP_REQ_COMPLETED r1 2.000 0x20
        entry 901.000 TCP_REQ_COMPLETED r0 900.000 0x10
    } >in
    lives() { trace-latency -j "$@" in 2>said | plain | jq -r 'select(.life or .layers) | [.object, .count, .mean] | join(" ")' | tr '\n' ' '; }
    for options in '' '-r' '-i 1' '-g lcore'; do
        equal "$(lives $options)" 'r 1 2 '
        equal "$(cat said)" 'trace-latency: in: 1 admin request left out: --admin shows it'
    done
    equal "$(lives --layers)" 'r 1 2 '
    equal "$(trace-latency -q -e in | trace-latency --merge -j | jq -r .object | sort -u)" r
    equal "$(lives --admin)" 'r 2 451 s 1 1 '
    equal "$(lives --admin --layers)" 'r 2 451 '
    equal "$(cat said)" ''
    grep -v r1 in >alone
    fails 'trace-latency: alone: there are only admin requests: --admin measures them' trace-latency alone
    status_is 0 trace-latency -q -e alone
    status_is 0 trace-latency --admin alone
}

@test "several files are measured one after the other, and each is a trace of its own" {
    three | grep -v r2 >a
    # the same ids and addresses at other times
    sed 's/NEW/FRESH/' a >b
    { trace-latency -e a; trace-latency -e b; } | trace-latency --merge -e >want
    for options in '' '-g lcore -g type'; do
        status_is "$((${#options} > 0))" trace-latency -e $options a b
        equal "${output//'"group":{"lcore":0,"type":null},'/}" "$(cat want)"
    done
    succeeds sh 'trace-latency a - <b'
    same_lines 'trace-latency a b' 'trace-latency --merge want'
    trace-latency -e a >a.code
    trace-latency -e b >b.code
    same_lines 'trace-latency --merge -e a.code b.code a.code' 'cat a.code b.code a.code | trace-latency --merge -e'
    # what is wrong with one is said of it
    : >empty
    fails 'trace-latency: missing: No such file or directory' trace-latency -e a empty missing
    status_is 1 trace-latency a empty b
    equal "$output" "$(trace-latency a b)"
    equal "$stderr" 'trace-latency: empty: empty: there are no trace lines'
    fails_only 'trace-latency: empty: empty: there are no encoded lines' trace-latency --merge a.code empty
}

@test "-g groups by keys, which related objects inherit" {
    related >in
    equal "$(trace-latency -jq -g args.qpair.hostnqn in | jq -c '[.group["args.qpair.hostnqn"], .object, .count]' | sort -u | tr '\n' ' ')" \
        '["host-a","i",2] ["host-a","r",1] '
    equal "$(trace-latency -q -g lcore --group=args.qpair.hostnqn -g args.nothing in | sed -n 1p)" \
        'lcore=0, args.qpair.hostnqn=host-a, args.nothing=-'
    equal "$(trace-latency -jq -g lcore -g args.x in | jq -c .group | uniq)" '{"lcore":0,"args.x":null}'
    # a key in the line itself goes before what is inherited
    sed 's/"lcore":0\(.*START\)/"lcore":7\1/' in >other
    equal "$(trace-latency -jq -g lcore other | jq -c '[.group.lcore, .object]' | uniq | tr '\n' ' ')" '[0,"r"] [7,"i"] '
}

@test "-g assigns the same objects to a host with other keys and without" {
    # a part of a split I/O names what it is a part of by address only
    {
        related
        entry 2.610 BDEV_IO_START i2 - 0x50 '"args":{"ctx":"0x30"}'
        entry 2.620 BDEV_IO_DONE i2 0.010 0x50 '"args":{"ctx":"0x30"}'
    } | sed '/"i1"/s/"START"/"BDEV_IO_START"/' >in
    deep >other
    mktrace "$DATA/sample.jsonl" >trace
    qpair-lifetimes "$DATA/sample-probes.txt" >lifetimes.txt
    trace-dump -q trace | trace-join -j -l lifetimes.txt >sample
    for file in in other sample; do
        for options in '' -r '-i 0.000001'; do
            {
                trace-latency -jq $options -g args.qpair.hostnqn $file | jq -c '[.begin, .group["args.qpair.hostnqn"], .object, .from, .to, .count]' >all
                trace-latency -jq $options -g args.qpair.hostnqn -g type $file |
                    jq -c '[.begin, .group["args.qpair.hostnqn"], .object, .from, .to, .count]' >by-type
            }
            # the rows of a host's types add up to those of the host
            jq -s -c 'group_by(.[:5])[] | .[0][:5] + [map(.[5]) | add]' all >want
            jq -s -c 'group_by(.[:5])[] | .[0][:5] + [map(.[5]) | add]' by-type | diff want -
        done
    done
    equal "$(trace-latency -jq -g args.qpair.hostnqn sample | jq -c 'select(.group["args.qpair.hostnqn"] == null)')" ''
}

@test "a group that is too long to be inherited by every related object is refused" {
    long=$(printf '%04097d' 0)
    { entry 1.000 NEW r0 - 0x10 "\"args\":{\"a\":\"${long:2}\"}"; entry 2.000 DONE r0 1 0x10; } >in
    status_is 1 trace-latency -q -g args.a in
    says 'trace-latency: in: 1 object left out: a group has more than 4 KiB, or there are more than 16777216: group by something else'
    # with its key, quotes and braces it has 4096 bytes
    { entry 1.000 NEW r0 - 0x10 "\"args\":{\"a\":\"${long:14}\"}"; entry 2.000 DONE r0 1 0x10; } >in
    status_is 0 trace-latency -q -g args.a in
}

# bats test_tags=plain
@test "a group of few samples takes little memory" {
    ramp 50000 | awk '{ sub(/"lcore":0/, "\"lcore\":" int((NR - 1) / 2)); print }' >in
    # 72 MiB, of which 50,000 groups have half; sanitizers reserve terabytes
    (has_sanitizers || ulimit -v 73728; trace-latency -eqg lcore in >code)
    equal "$(wc -l <code)" 100000
    same_lines 'trace-latency --merge -e code' 'cat code'
}

@test "few different times and many are counted alike" {
    for n in 15 16 17 18 40; do
        # each time up to n nanoseconds, and the lower half of them once more, the longest first
        {
            ramp "$n"
            for i in $(seq $((n / 2)) -1 1); do
                entry "$((5000 - i)).000" A "r9$i" - "0x9$i"
                entry "$((5000 - i)).$(printf %03d "$i")" DONE "r9$i" "0.$(printf %03d "$i")" "0x9$i"
            done
        } >in
        trace-latency -eq in | grep life | cut -f 2 >have
        jq -n -c --argjson n "$n" '[range(1; $n + 1) | [., 1 + (if . <= ($n / 2 | floor) then 1 else 0 end)]] | {count: map(.[1]) | add, counts: .}' >want
        jq -c '{count, counts}' have | diff want -
    done
}

@test "groups come in the order of the numbers in them" {
    for i in 10 9 100; do ramp 2 | sed "s/0x/0x$i/; s/\"lcore\":0/\"lcore\":$i/"; done >in
    equal "$(trace-latency -g lcore in | grep lcore | tr '\n' ' ')" 'lcore=9 lcore=10 lcore=100 '
}

@test "names cannot drive the terminal" {
    three | sed 's/READY/\\u001b[31m\\u009b/; s/"lcore":0/"lcore":0,"owner":"a\\nb\\u007f"/' >in
    status_is 0 trace-latency -q -g owner in
    equal "$(sed -n 1p <<<"$output")" 'owner=a\x0ab\x7f'
    equal "$(grep -c 'NEW  *\\x1b\[31m\\xc2\\x9b' <<<"$output")" 1
    trace-latency -jq -g owner in | jq -e '.group.owner == "a\nb\u007f"' >all
    equal "$(sort -u all)" true
}

@test "-i prints a table for each stretch of time in which something ended" {
    { three; entry 3000000.000 DONE r2 2999991 0x10; } >in
    equal "$(trace-latency -jqi 0.000003 in | plain | jq -c '[.begin, .end, (.life // .from), .count]' | tr '\n' ' ')" \
        '[3,6,true,2] [3,6,"READY",2] [3,6,"NEW",2] [3000000,3000003,true,1] [3000000,3000003,"READY",1] [3000000,3000003,"NEW",1] '
    equal "$(trace-latency -qi 1 in | grep ' s to ' | tr '\n' ' ')" '0.000000000 s to 1.000000000 s 3.000000000 s to 4.000000000 s '
    for i in 0 -1 x 1.0000000001 99999999999999; do
        status_is 2 trace-latency -i "$i" in
    done
}

@test "-i prints a table of layers for each stretch of time, and groups by what requests were" {
    deep >in
    cat >want <<'L'
0.000000000 s to 0.000004000 s
type  object count    mean network% buffer% host% target% bdev% drive% reply%
write r          1 2.00 us        0       0     0    10.0  25.0   50.0   15.0

0.000004000 s to 0.000008000 s
type object count    mean network% buffer% host% target% bdev% drive% reply%
read r          1 1.00 us        0       0     0    90.0  10.0      0      0

L
    status_is 0 trace-latency --layers -i 0.000004 -g type in
    diff want - <<<"$output
"
    equal "$(trace-latency --layers -j -i 0.000004 in | jq -c '[.begin, .end, .count, .mean]' | plain | tr '\n' ' ')" '[0,4,1,2] [4,8,1,1] '
    # transitions belong to the interval in which the request ends, and to the group that is known then
    equal "$(trace-latency -jq -i 0.0000011 -g type -g status in | jq -c 'select(.object == "r") | [.begin, .group[], (.life // .from), .count, .to_reply // empty]' | plain | tr '\n' ' ')" \
        '[2.2,"write","success",true,1] [2.2,"write","success",null,1,true] [2.2,"write","success","TCP_REQ_NEW",1] [2.2,"write","success","TCP_REQ_TRANSFER_C2H",1] [4.4,"read",null,true,1] [4.4,"read",null,"TCP_REQ_NEW",1] '
    {
        entry 1.000 NEW r0 - 0x10
        entry 1.200 READY r0 0.200 0x10
        entry 2.100 BDEV_IO_START i0 - 0x20 '"related":"r0"' '"args":{"type":2,"ctx":"0x10"}'
        entry 2.200 COMPLETED r0 1.200 0x10
    } >late
    equal "$(trace-latency -jq -i 0.000001 -g type late | jq -c '[.begin, .group.type, (.life // .from), .count]' | plain | tr '\n' ' ')" \
        '[2,"write",true,1] [2,"write","READY",1] [2,"write","NEW",1] '
}

# Sums of the shares of transitions, for each interval, group and type.
sums() {
    jq -s -c 'map(select(.from)) | group_by([.begin, .group, .object])[] | map(.share * 10000) | add | round / 100' | sort | uniq -c | awk '{ print $2 }'
}

@test "the shares of transitions add up to 100 %" {
    mktrace -R 3 "$DATA/sample.jsonl" >trace
    trace-dump -q trace >whole
    # without the first entries of objects, and without the last ones
    sed 1,40d whole >cut-off
    head -n 200 whole >open
    for file in whole cut-off open; do
        for options in '' '-g lcore' '-g type -g blocks' '-i 0.00002' '-i 0.00001 -r' '-i 0.00002 -g type'; do
            trace-latency -jq $options $file >rows
            jq -c 'select(.share < 0 or .share > 1)' rows >wrong
            [ ! -s wrong ]
            # each is rounded to a hundredth of a percent
            sums <rows | awk '$1 < 99.9 || $1 > 100.1' >wrong
            [ ! -s wrong ]
        done
    done
    # a whole life also has the time before the first entry, or before the interval
    equal "$(three | grep -v NEW | trace-latency -jq | plain | jq -c '[.life // .from, .share]' | tr '\n' ' ')" '[true,1] ["READY",1] '
}

@test "an entry long after a final state is of another object" {
    {
        entry 1.000 NEW r0 - 0x10
        entry 2.000 COMPLETED r0 1.000 0x10
        entry 10002.000 READY r0 10001.000 0x10
        entry 10003.000 COMPLETED r0 10002.000 0x10
    } >in
    status_is 0 trace-latency -j in
    equal "$(rows <<<"$output")" 'life:1:1 NEW>COMPLETED:1:1 '
    equal "$stderr" 'trace-latency: in: 2 entries left out: their objects had ended'
}

# LIFE-COUNT of each interval that has whole lives, and their sum.
lives() {
    jq -s -r 'map(select(.life)) | (map("\(.begin + 0)-\(.count)") | join(" ")) + " = \(map(.count) | add // 0)"'
}

@test "-i puts a whole life where its last entry is" {
    # one request in every interval, at one address, and one that stays in work
    {
        entry 0.000 NEW r99 - 0x99
        entry 0.100 READY r99 0.1 0x99
        for i in $(seq 0 5); do
            entry "$i.200" NEW "r$i" - 0x10
            entry "$i.300" READY "r$i" 0.1 0x10
            entry "$i.900" DONE "r$i" 0.7 0x10
        done
    } >in
    equal "$(trace-latency -jqi 0.000001 in | lives)" '0-1 1-1 2-1 3-1 4-1 5-1 = 6'
    # a state whose name tells nothing is known to be final once an object has ended there, and that at its address
    sed 's/DONE/LAST/' in >unknown
    equal "$(trace-latency -jqi 0.000001 unknown | lives)" '0-1 1-1 2-1 3-1 4-1 5-1 = 6'
    # one whose end is known when that interval is over counts in the next one
    {
        entry 0.000 NEW r99 - 0x99
        entry 0.100 READY r99 0.1 0x99
        entry 1.000 NEW r0 - 0x10
        entry 1.100 DONE r0 0.1 0x10
        entry 20000.000 NEW r1 - 0x10
        entry 20000.100 DONE r1 0.1 0x10
        entry 40000.000 NEW r2 - 0x99
        entry 40000.100 DONE r2 0.1 0x99
    } >late
    equal "$(trace-latency -jqi 0.000001 late | lives)" '1-1 20000-2 40000-1 = 4'
}

@test "-i has every life of the trace once" {
    mktrace -R 20 "$DATA/sample.jsonl" >trace
    trace-dump trace >in
    for options in '' -r '-g lcore'; do
        trace-latency -jq $options in | lives | sed 's/.*= //' >whole
        for i in 0.000001 0.0001 1; do
            trace-latency -jqi $i $options in | lives | sed 's/.*= //' | diff whole -
        done
    done
}

@test "-H draws histograms of powers of two" {
    ramp 5 >in
    cat >want <<'L'
r whole life
   from   below count
   0 ns    2 ns     1 ********************
   2 ns    4 ns     2 ****************************************
   4 ns    8 ns     2 ****************************************

r A -> DONE
   from   below count
   0 ns    2 ns     1 ********************
   2 ns    4 ns     2 ****************************************
   4 ns    8 ns     2 ****************************************
L
    trace-latency -H in | diff want -
    trace-latency -H -j in >lines
    equal "$(plain <lines | jq -c '[.life // .from, .count, (.buckets[] | [.from, .below, .count])]' | tr '\n' ' ')" \
        '[true,5,[0,0.002,1],[0.002,0.004,2],[0.004,0.008,2]] ["A",5,[0,0.002,1],[0.002,0.004,2],[0.004,0.008,2]] '
    { entry 0.000 A r0 - 0x1; entry 18446744073709551.615 DONE r0 0 0x1; } >in
    equal "$(trace-latency -H in | tail -n 1)" "9223372037 s 18446744074 s     1 ****************************************"
}

@test "the time to the reply has a row, where requests have one" {
    {
        for i in 0 1 2; do
            entry $i.000 TCP_REQ_NEW r$i - 0x10
            # the last one is aborted
            [ "$i" = 2 ] || entry "$i.20$i" TCP_REQ_TRANSFER_C2H r$i 0.20$i 0x10
            entry $i.900 TCP_REQ_COMPLETED r$i 0.900 0x10
        done
        entry 3.000 RDMA_REQ_NEW r0 - 0x20
        entry 3.500 RDMA_REQ_COMPLETED r0 0.500 0x20
    } >in
    COLUMNS=101 status_is 0 trace-latency in
    diff - <(cat <<'L'
obj from                 to                   count    mean     p50     p99     max share%
r   RDMA whole life                               1  500 ns  500 ns  500 ns  500 ns  100.0
r   RDMA_REQ_NEW         RDMA_REQ_COMPLETED       1  500 ns  500 ns  500 ns  500 ns  100.0 **********
r   TCP whole life                                3  900 ns  900 ns  900 ns  900 ns  100.0
r   TCP to reply                                  2  201 ns  200 ns  201 ns  201 ns   14.9
r   TCP_REQ_TRANSFER_C2H TCP_REQ_COMPLETED        2  700 ns  699 ns  700 ns  700 ns   51.8 *****
r   TCP_REQ_NEW          TCP_REQ_COMPLETED        1  900 ns  900 ns  900 ns  900 ns   33.3 ***
r   TCP_REQ_NEW          TCP_REQ_TRANSFER_C2H     2  201 ns  200 ns  201 ns  201 ns   14.9 *
L
    ) <<<"$output"
    status_is 0 sh 'trace-latency -j in | grep to_reply'
    equal "$output" '{"object":"r","to_reply":true,"family":"TCP","count":2,"mean":0.201,"p50":0.200,"p90":0.201,"p99":0.201,"p999":0.201,"max":0.201,"share":0.1485}'
    equal "$(trace-latency -H in | grep reply)" 'r TCP to reply'
    # encoded lines add up, and are compared
    trace-latency -e in >code
    LC_ALL=C sort -c code
    equal "$(grep -c '^{"object":"r","to_reply":true,"family":"TCP"}' code)" 1
    trace-latency --merge -e code | diff - code
    equal "$(trace-latency --merge -j code code | jq -c 'select(.to_reply) | [.count, .mean]' | plain)" '[4,0.201]'
    sed 's/"us":1.201/"us":1.211/' in | trace-latency -j --against code | jq -c 'select(.to_reply) | .change.max' | diff - <(echo 0.0498)
    sed s/to_reply/reply/ code >bad
    fails 'trace-latency: bad:7: an unknown key before the tab' trace-latency --merge bad
}

@test "encoded lines say the same" {
    three >in
    printf '{"object":"r","from":"NEW","to":"READY"}\t{"unit":"ns","count":3,"sum":90,"max":50,"counts":[[10,1],[30,1],[50,1]]}\n' >want
    printf '{"object":"r","from":"READY","to":"DONE"}\t{"unit":"ns","count":2,"sum":3000,"max":2000,"counts":[[1000,1],[2000,1]]}\n' >>want
    printf '{"object":"r","life":true}\t{"unit":"ns","count":2,"sum":3040,"max":2010,"counts":[[1030,1],[2010,1]]}\n' >>want
    trace-latency -eq in | diff want -
    mktrace "$DATA/sample.jsonl" >trace
    trace-dump trace >in
    for options in '' -r '-g lcore -g poller'; do
        {
            trace-latency -eq $options in >code
            LC_ALL=C sort -c code
            same_lines "trace-latency -q $options in" 'trace-latency --merge code'
            same_lines "trace-latency -qH $options in" 'trace-latency --merge -H code'
            trace-latency --merge -e code | cmp - code
        }
    done
}

@test "merging is associative and commutative" {
    mktrace "$DATA/sample.jsonl" >trace
    trace-dump trace >in
    # sixteen runs with different times, groups and states
    for i in $(seq 16); do
        ramp $((i * 37)) | sed "s/\"A\"/\"A$((i % 3))\"/; s/\"lcore\":0/\"lcore\":$((i % 4))/"
        awk -v n="$i" 'NR % n != 1' in
    done | split -l 700 - run.
    for run in run.*; do trace-latency -eqg lcore "$run" >"code.$run"; done
    cat code.* | trace-latency --merge -e >want
    [ "$(wc -l <want)" -gt 20 ]
    for _ in 1 2 3; do
        # any order of lines, any brackets: of parts that are merged first, and of parts of those
        rm -f part.*
        cat code.* | shuf | split -n r/$((RANDOM % 7 + 2)) - part.
        for part in part.*; do
            shuf "$part" | split -l 9 - "part.$part."
            for p in "part.$part."*; do trace-latency --merge -e "$p"; done | shuf | trace-latency --merge -e >"done.$part"
        done
        cat done.* | shuf | trace-latency --merge -e | cmp - want
        rm -f done.*
    done
    # an empty one changes nothing
    cat want /dev/null | trace-latency --merge -e | cmp - want
    equal "$(trace-latency --merge -e /dev/null)" ''
}

@test "map and reduce: mappers on all processors, a sorted merge, reducers for parts of the keys" {
    for i in 1 2 3 4; do
        mktrace -l G6 -R "$i" "$DATA/sample.jsonl" >"$i.trace"
    done
    printf '%s\n' ./*.trace | xargs -P 4 -I '{}' sh -c 'trace-dump -q "{}" | trace-latency -qe >"{}.code"'
    LC_ALL=C sort -m ./*.code >sorted
    LC_ALL=C sort -c sorted
    grep '"object":"r"' sorted | trace-latency --merge -e >r
    grep -v '"object":"r"' sorted | trace-latency --merge -e >others
    LC_ALL=C sort -m r others >reduced
    # the same in one process
    for i in 1 2 3 4; do trace-dump -q "$i.trace" | trace-latency -qe; done | trace-latency --merge -e | cmp - reduced
    # 4 traces with 1 + 2 + 3 + 4 rounds of 14 new requests
    equal "$(trace-latency --merge -j reduced | jq 'select(.from == "TCP_REQ_NEW") | .count')" 130
}

@test "malformed encoded lines are reported, the others count" {
    three | trace-latency -eq >good
    {
        cat good
        echo
        echo '{"object":"r","life":true}'
        for change in s/object/objekt/ s/true/false/ 's/"life":true/"from":"A"/' 's/"r","life":true/"r"/' 's/"r",/"r","from":"A",/' \
            's/ns/us/' 's/"count":2/"count":3/' 's/"sum":3040/"sum":3039/' 's/"sum":3040/"sum":-1/' 's/"max":2010/"max":2011/' \
            's/,\[2010,1\]//' 's/2010,1/2010,0/' 's/2010,1/2010/' 's/2010,1/2010,1,1/' 's/"counts"/"extra"/' 's/.$//' 's/.$/}}/' \
            's/2010/5001/g' 's/2,"sum"/18446744073709551616,"sum"/' 's/3040/340282366920938463463374607431768211456/'; do
            sed -n "/life/$change p" good
        done
    } >in
    status_is 1 trace-latency --merge -e in
    diff good - <<<"$output"
    equal "$(grep -o 'in:[0-9]*:' <<<"$stderr" | tr '\n' ' ')" 'in:4: in:5: in:6: in:7: in:8: in:9: in:10: in:11: in:12: in:13: '
    says 'trace-latency: in: and 12 more such lines'
    says 'trace-latency: in:5: not a line of trace-latency -e: it has no tab'
    # counts that do not fit together
    printf '{"object":"r","life":true}\t{"unit":"ns","count":18446744073709551615,"sum":18446744073709551615,"max":1,"counts":[[1,18446744073709551615]]}\n' >big
    fails 'a count that does not fit 64 bits' sh 'cat big big | trace-latency --merge -e | cmp - big'
}

@test "--against shows the change of each row" {
    ramp 1000 | trace-latency -e >base
    ramp 1000 | sed 's/"DONE"/"C_DONE"/' | trace-latency -e | sed 's/"C_DONE"/"DONE"/; s/"object":"r"/"object":"q"/' >>base
    # each of them takes twice as long
    ramp 2000 | grep -v '"r[0-9]*[13579]"' >in
    status_is 0 trace-latency --against base in
    trace-latency -q --against base in | sed 's/ \**$//' | diff - <(cat <<'L'
obj from       to   count    mean     p50     p99     max mean%   p99% share%
r   whole life       1000 1.00 us 1.00 us 1.98 us 2.00 us +99.8 +100.0  100.0
r   A          DONE  1000 1.00 us 1.00 us 1.98 us 2.00 us +99.8 +100.0  100.0
L
    )
    equal "$(command trace-latency -q --against base in | awk 'NR < 3 { for (i = NF - 6; i < NF; i++) printf "%s ", $i }')" \
        'mean% p50% p90% p99% p999% max% +99.8 +100.0 +100.0 +100.0 +100.0 +100.0 '
    equal "$stderr" 'trace-latency: base: 2 rows are not in this run'
    equal "$(trace-latency -jq --against base in | plain | jq -c 'select(.life) | [.against.count, .against.mean, .change.p99]')" '[1000,0.501,1]'
    ramp 1000 | sed 's/"A"/"Z"/' >in
    equal "$(trace-latency -q --against base in | sed -n 3p | awk '{ print $(NF - 3), $(NF - 2) }')" 'new new'
    equal "$(trace-latency -jq --against base in | jq -c 'select(.from == "Z") | .change')" null
}

@test "a time that is ten times as long as before is shown as a factor" {
    { entry 0.000 A r0 - 0x1; entry 1.000 DONE r0 1.000 0x1; } | trace-latency -e >base
    for us in 9.990 10.000 2533.600; do
        { entry 0.000 A r0 - 0x1; entry $us DONE r0 $us 0x1; } | trace-latency --against base | awk 'NR == 2 { print $13, $14 }'
    done >is
    diff - is <<<$'+899.0 +899.0\nx10 x10\nx2534 x2534'
    { entry 0.000 A r0 - 0x1; entry 0.000 DONE r0 0.000 0x1; } | trace-latency -e >base
    { entry 0.000 A r0 - 0x1; entry 1.000 DONE r0 1.000 0x1; } | trace-latency --against base | awk 'NR == 2 { print $13, $14 }' >is
    diff - is <<<'- -'
}

@test "the bundled sample: the time of the hosts' requests" {
    mktrace "$DATA/sample.jsonl" >trace
    qpair-lifetimes "$DATA/sample-probes.txt" >lifetimes.txt
    sh 'trace-dump trace | trace-join -j -l lifetimes.txt | trace-latency -jq -g args.qpair.hostnqn >out'
    # 13 requests were completed, the 14th has only begun; the bdev layer's I/Os are the hosts', too, also
    # those that the device Slow1 made of them for the one below it
    equal "$(jq -c 'select(.life) | [.group["args.qpair.hostnqn"], .object, .count]' out | sed 's/nqn.*fleet://' | tr '\n' ' ')" \
        '["host-1","i",6] ["host-1","r",6] ["host-2","i",5] ["host-2","r",5] ["host-3","i",4] ["host-3","r",2] '
    equal "$(jq -s 'map(select(.from == "TCP_REQ_NEW") | .count) | add' out)" 13
}

# Prints the cumulative counts of a family, bound by bound.
buckets() { # FAMILY
    sed -n "s/^$1_bucket{.*le=\"\(.*\)\"} \([0-9]*\)$/\1 \2/p"
}

@test "--openmetrics counts exactly what is up to each bound" {
    # the last nanosecond of each bucket, and the first one of the next
    awk 'BEGIN { for (power = 2^7; power <= 2^33; power *= 2) for (half = 2; half < 4 && power * half <= 2^34; half++)
        for (ns = power * half - 1; ns <= power * half; ns++) printf "%d\n", ns }' >values
    i=0
    while read -r ns; do
        i=$((i + 1))
        printf '{"tsc":1,"us":%s,"lcore":0,"tpoint":"A_NEW","object":{"id":"x%s","value":"0x%x"}}\n' 0.000 $i $i
        printf '{"tsc":1,"us":%s,"lcore":0,"tpoint":"A_DONE","object":{"id":"x%s","us":%s,"value":"0x%x"}}\n' \
            "$((ns / 1000)).$(printf %03d $((ns % 1000)))" $i "$((ns / 1000)).$(printf %03d $((ns % 1000)))" $i
    done <values >lines
    trace-latency -q --openmetrics lines >metrics
    [ "$(buckets trace_latency_life_seconds <metrics | wc -l)" = 54 ]
    buckets trace_latency_life_seconds <metrics | awk '$1 != "+Inf" && $2 != 2 * NR - 1 { print; exit 1 } END { exit $2 != 106 }'
    equal "$(tail -n 1 metrics)" '# EOF'
    sum=$(awk '{ sum += $1 } END { printf "%.0f", sum }' values)
    grep -qxF "trace_latency_life_seconds_sum{object=\"x\"} $((sum / 1000000000)).$(printf %09d $((sum % 1000000000)))" metrics
}

@test "--openmetrics has the rows of -e, with each bucket's count" {
    gzip -dc "$DATA/slow-host.trace.gz" | trace-dump -q >lines
    trace-latency -q -e -r -g owner lines >encoded
    trace-latency -q -r -g owner --openmetrics lines >metrics
    trace-latency --merge --openmetrics encoded | diff - metrics
    grep -c '_count{' metrics | diff - <(grep -c . encoded)
    for family in 'life .life' 'reply .to_reply' 'state .from'; do
        read -r name key <<<"$family"
        sed 's/}\t{/,/' encoded | jq -r "select($key) | .counts as \$all | range(16; 69) |
            (pow(2; (. / 2 | floor) - 1) * (2 + . % 2)) as \$bound | [\$all[] | select(.[0] < \$bound) | .[1]] | add // 0" |
            sort -n >expected
        buckets "trace_latency_${name}_seconds" <metrics | sed '/^+Inf/d; s/.* //' | sort -n | diff - expected
    done
}

@test "labels of --openmetrics are escaped, and unlike each other" {
    object x1 0x1 '"owner":"a\"b\\c\nd","args":{"a":"}","b":{"c":true},"b_c":8}' 0.000 A_NEW 1.000 A_DONE >lines
    trace-latency -q -e -g owner -g args.a -g args.b.c -g args.b_c lines | sed 's/args.a/le/' >encoded
    trace-latency --merge --openmetrics encoded >metrics
    grep -qxF 'trace_latency_life_seconds_count{owner="a\"b\\c\\x0ad",le_="}",args_b_c="true",args_b_c_="8",object="x"} 1' metrics
}

@test "rows whose labels look the same are told apart in --openmetrics" {
    histogram='{"unit":"ns","count":1,"sum":7,"max":7,"counts":[[7,1]]}'
    for group in '"h":"a\u001b"' '"h":"a\\x1b"' '"h":"b"' '"h":1' '"h":"1"'; do
        printf '{"group":{%s},"object":"r","life":true}\t%s\n' "$group" "$histogram"
    done >encoded
    trace-latency --merge --openmetrics encoded >metrics
    equal "$(grep _count metrics | sort | cut -d'{' -f2)" 'h="1",object="r",again="1"} 1
h="1",object="r"} 1
h="a\\x1b",object="r",again="1"} 1
h="a\\x1b",object="r"} 1
h="b",object="r"} 1'
    equal "$(cut -d' ' -f1 metrics | grep -v '#' | sort | uniq -d)" ''
    # many keys that become the same label, too, and in no time
    awk -v h="$histogram" 'BEGIN { printf "{\"group\":{"; for (i = 0; i < 20000; i++) { key = ""
        for (k = i + 65536; k > 1; k = int(k / 2)) key = key (k % 2 ? "." : "-"); printf "%s\"%s\":1", i ? "," : "", key }
        print "},\"object\":\"r\",\"life\":true}\t" h }' >encoded
    timeout 60 trace-latency --merge --openmetrics encoded >metrics
    grep _count metrics | grep -o '[{,]_*[0-9]*="1"' | sort | uniq | wc -l >names
    equal "$(cat names)" 20000
}

@test "-o replaces a file for node_exporter with the sums so far, as a whole" {
    gzip -dc "$DATA/slow-host.trace.gz" | trace-dump -q >lines
    qpair-lifetimes "$DATA/slow-host-probes.txt" >lifetimes
    mkdir folder
    echo '# TYPE old' >folder/x.prom
    exec 5<folder/x.prom
    # as of a live trace, which waits in the middle
    {
        head -n 2500 lines
        wait_for grep -q 'trace_latency_life_seconds_count.*object="r"' folder/x.prom
        cp folder/x.prom before
        tail -n +2501 lines
    } | trace-latency -q -l lifetimes -g host --openmetrics -i 0.005 -o folder/x.prom
    equal "$(ls folder)" x.prom
    # who had it open has all of it
    equal "$(cat <&5)" '# TYPE old'
    trace-latency -q -l lifetimes -g host --openmetrics lines | diff - folder/x.prom
    count() { sed -n 's/^trace_latency_life_seconds_count{.*db-1.*object="r".*} //p' "$1"; }
    [ "$(count before)" -lt "$(count folder/x.prom)" ]
    ! command -v promtool >/dev/null || promtool check metrics <folder/x.prom
    # what the dashboard asks for is there
    jq -r '.panels[].targets[].expr, .templating.list[1].query' "$ROOT/docs/grafana.json" | grep -o 'trace_latency_[a-z_]*' | sort -u >asked
    [ "$(wc -l <asked)" -gt 4 ]
    while read -r name; do grep -q "^$name{host=" folder/x.prom; done <asked
    status_is 1 trace-latency -q --openmetrics -o missing/x.prom lines
    equal "$stderr" 'trace-latency: missing/x.prom: No such file or directory'
    # a file of the input is not metrics
    status_is 2 trace-latency -q --openmetrics -o lines lines
    says "trace-latency: -o 'lines': this file is there and has no metrics"
    trace-latency -q lines >/dev/null
}

@test "--screen draws the latest interval, and what is in flight, in one place" {
    gzip -dc "$DATA/slow-host.trace.gz" | trace-dump -q >lines
    qpair-lifetimes "$DATA/slow-host-probes.txt" >lifetimes
    mkfifo live
    script -qec "stty rows 12 cols 100; NO_COLOR=1 trace-latency -q -l lifetimes -g host --layers -i 0.01 --screen live" screens </dev/null >/dev/null &
    {
        head -n 3000 lines
        # the target hangs: ages grow
        sleep 1.5
    } >live
    wait $!
    tr -d '\r' <screens | sed 's/\x1b\[K//g' | awk -v RS='\033\\[H' 'NR > 1 { print > "screen." NR }'
    [ -e screen.7 ]
    grep -q '^db-1 *r  *[0-9]' screen.3
    for screen in screen.*; do [ "$(wc -l <"$screen")" -le 12 ]; done
    age() { sed -n '/^in flight: [1-9][0-9]*, the oldest/{n;p}' "$1"; }
    equal "$(age screen.4 | grep -c ' of .*: TCP_REQ_[A-Z0-9_]*')" 1
    cat screen.* >all
    grep -qE '^ *[1-9][0-9.]* s   *r[0-9]+ of ' all
}

@test "promtool reads --openmetrics" {
    export LC_ALL=C.UTF-8
    command -v promtool >/dev/null || skip 'promtool is not here: apt-get install prometheus'
    gzip -dc "$DATA/slow-host.trace.gz" | trace-dump -q |
        sed 's/"us":[0-9.]*,/&"time":"2026-11-21T13:14:15.123456789Z",/' >lines
    trace-latency -q -g owner -r --openmetrics lines >metrics
    promtool tsdb create-blocks-from openmetrics metrics blocks >said 2>&1 || { cat said; return 1; }
    mkdir blocks/wal
    promtool tsdb dump blocks >dumped
    equal "$(wc -l <dumped)" "$(grep -vc '^#' metrics)"
    grep -q ' 1795266855123$' dumped
}

# Lines with names that are hostile, and longer than a line of a terminal.
long_names() {
    local long
    long=$(printf 'é%.0s' {1..200})
    three | sed "s/READY/READY_$long/; s/NEW/\\\\u001b[31m$long/; s/\"lcore\":0/\"lcore\":0,\"owner\":\"$long\\\\n\"/"
}

# The greatest number of characters of a line; an ellipsis and é are one.
widest() {
    sed 's/…/./g; s/é/./g' | awk 'length > most { most = length } END { print most }'
}

@test "tables are as wide as the terminal permits, and no wider" {
    export LC_ALL=C.UTF-8
    gzip -dc "$DATA/slow-host.trace.gz" | trace-dump -q >lines
    { held 100.000 0 1.000 OFF_CPU '"why":"preempted","by":"xz","by_pid":77'; cat lines; } >merged
    trace-latency -q -e lines >base
    long_names >names
    for width in 60 80 100 200; do
        for command in 'lines' '-g owner lines' '-r lines' '--against base lines' '--layers -g type -g owner lines' '--layers merged' \
            '--rates -g owner lines' '-i 0.01 lines' '-H lines' '-g owner -g id names' '--layers -g owner names' '-H names'; do
            is=$(COLUMNS=$width trace-latency -q $command | widest)
            [ "$is" -le $width ] || { echo "$width: $command: $is"; return 1; }
        done
    done
    # a narrower one breaks lines itself
    equal "$(COLUMNS=20 trace-latency -q lines)" "$(COLUMNS=60 trace-latency -q lines)"
    # what is no width is none
    for width in '' 0 x -1; do equal "$(COLUMNS=$width trace-latency -q lines)" "$(trace-latency -q lines)"; done
    # the bar is dropped for names in full, then names are shortened, then columns are dropped
    heads() { COLUMNS=$1 trace-latency -q lines | sed -n 1p | tr -s ' '; }
    equal "$(COLUMNS=107 trace-latency -q lines | grep -o '\*\**$' | head -n 1)" '**********'
    COLUMNS=106 trace-latency -q lines >narrower
    [[ $(<narrower) != *'*'* ]]
    COLUMNS=100 trace-latency -q lines | diff narrower -
    grep -q ' TCP_REQ_RDY_TO_COMPLETE ' narrower
    equal "$(heads 80)" 'obj from to count mean p50 p99 max share%'
    equal "$(heads 60)" 'obj from to count mean p99 max'
    COLUMNS=80 trace-latency -q lines | grep -q 'TCP…NEED_BUFFER TCP…HAVE_BUFFER '
    # the layers with the smallest shares go first
    equal "$(COLUMNS=60 trace-latency -q --layers -g owner lines | grep -o '[a-z]*%' | tr '\n' ' ')" 'buffer% host% bdev% reply% '
    # all columns, and names in full
    equal "$(command trace-latency -q lines | sed -n 1p | tr '\t' ' ')" 'object from to count mean p50 p90 p99 p999 max share%'
    command trace-latency -q -g owner names | grep -q "^$(printf 'é%.0s' {1..200})"
}

# Each cell of a plain table as KEY=VALUE, a row in a line.
cells() {
    awk -F '\t' 'NR == 1 { n = split($0, names); next } NF != n { print "columns: " NF; exit } { for (i = 1; i <= n; i++) printf "%s=%s%s", names[i], $i, i < n ? " " : "\n" }'
}

@test "tables in a pipe have tabs, microseconds and all columns, so that sort and awk work" {
    gzip -dc "$DATA/slow-host.trace.gz" >trace
    qpair-lifetimes "$DATA/slow-host-probes.txt" >lifetimes
    pipe() {
        command trace-latency -q -l lifetimes "$@" trace | cells
    }
    pipe -g host | grep '^host=db-1 object=r from=life to=- ' | cut -d ' ' -f 5- | grep -qxE 'count=97 mean=1781.833 p50=[0-9.]* p90=[0-9.]* p99=[0-9.]* p999=[0-9.]* max=[0-9.]*[.][0-9]{3} share%=99.1'
    # what JSON has
    for options in '-g host' '-r' '-i 0.01' '--layers -g type -i 0.01' '--rates -g host' '-H'; do
        pipe $options >plain
        trace-latency -q -j -l lifetimes $options trace >lines
        if [ "$options" = -H ]; then
            jq -c '.buckets[].count' lines | diff - <(sed 's/.* count=//' plain)
        else
            jq -r '"count=\(.count)"' lines | diff - <(grep -o ' count=[0-9]*' plain | tr -d ' ')
            plain lines | jq -c .mean | diff - <(grep -o ' mean=[0-9.]*' plain | cut -d = -f 2 | plain)
        fi
    done
    # one heading for all intervals
    equal "$(command trace-latency -q --rates -i 0.01 trace | cut -f 1-4 | sed -n '1p; 2p; $p' | tr '\t' ,)" $'object,begin,end,count\ni,0.000,10000.000,11\nr,30000.000,40000.000,58'
    equal "$(command trace-latency -q -l lifetimes -g host trace | awk -F '\t' '$2 == "r" && $3 == "life"' | sort -t $'\t' -rnk6 | cut -f 1 | paste -sd ' ')" 'backup-1 db-1 db-2'
    # a terminal has the other table, and each of the two can be had anywhere
    COLUMNS=100 script -qec "NO_COLOR=1 trace-latency -q trace" /dev/null </dev/null | tr -d '\r' >terminal
    COLUMNS=100 trace-latency -q trace | diff - terminal
    script -qec "trace-latency -q --plain trace" /dev/null </dev/null | tr -d '\r' | diff - <(command trace-latency -q trace)
}

@test "colours are those of layers, on a terminal only, or as the environment says" {
    local escape=$'\e' layers
    three | sed 's/NEW/TCP_REQ_NEW/; s/READY/TCP_REQ_NEED_BUFFER/; s/DONE/TCP_REQ_COMPLETED/' >in
    trace-latency -q in >plain
    [[ $(<plain) != *$escape* ]]
    CLICOLOR_FORCE=1 trace-latency -q in >coloured
    # the colour of the layer buffer, in 256 colours
    grep -q "${escape}\[38;5;130mTCP_REQ_NEED_BUFFER$escape" coloured
    # where a request waits for what is below it, the time is not the target's
    sed 's/TCP_REQ_NEED_BUFFER/TCP_REQ_EXECUTING/' in | CLICOLOR_FORCE=1 trace-latency -q |
        grep 'TCP_REQ_EXECUTING.*TCP_REQ_COMPLETED' >executing
    equal "$(grep -c "38;5" executing || true)" 0
    # names of columns are underlined, and the row with most time is bold
    sed -n 1p coloured | grep -qF "${escape}[4mcount${escape}[0m"
    equal "$(grep -c "${escape}\[1m.*TCP_REQ_NEED_BUFFER" coloured)" 1
    # nothing else differs
    sed "s/$escape\[[0-9;]*m//g" coloured | diff plain -
    for layers in --layers '--layers -g lcore' --rates -H '-i 1'; do
        CLICOLOR_FORCE=1 trace-latency -q $layers in | sed "s/$escape\[[0-9;]*m//g" | diff - <(trace-latency -q $layers in)
    done
    NO_COLOR=1 CLICOLOR_FORCE=1 trace-latency -q in | diff plain -
    needs_terminal
    on_terminal() { env "$1" script -qec "stty cols 80; command trace-latency -q $2 in" /dev/null </dev/null | tr -d '\r'; }
    [[ $(on_terminal TERM=xterm '') = *$escape* ]]
    for is in TERM=dumb NO_COLOR=1; do
        [[ $(on_terminal "$is" '') != *$escape* ]]
    done
    on_terminal NO_COLOR=1 '' | diff - <(COLUMNS=80 trace-latency -q in)
}
