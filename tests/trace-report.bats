#!/usr/bin/env bats
# bats file_tags=sanitizers

# The page of trace-report: what it says of recordings, and what it does with bad ones.

load helpers

# A folder of it, as trace-record writes them.
recording() {
    slow_host
    mkdir -p folder
    mv trace folder/trace.bin
    mv probes folder/usdt.txt
}

# A section of the page in the file page: the lines from this one to the next empty line.
section() { # START
    awk -v start="$1" 'index($0, start) == 1 { inside = 1 } !NF { inside = 0 } inside' page
}

# What a trace of N connections defines; their requests have two states.
connections() { # N
    echo '{"layout":"any","tsc_rate":1000000000}'
    local i
    for ((i = 1; i <= $1; i++)); do
        echo "{\"id\":$i,\"poller\":\"t0$i\",\"tsc\":1,\"description\":\"10.0.0.$i:5000 nqn.s 10.0.0.9:4420 qid:1\"}"
    done
    echo '{"tpoint":"TCP_REQ_NEW","id":80,"owner_type":"t","object_type":"r","new_object":true}'
    echo '{"tpoint":"TCP_REQ_COMPLETED","id":87,"owner_type":"t","object_type":"r","new_object":false}'
}

@test "the cause is near the top, with a command that works" {
    slow_host
    trace-report trace probes >page
    equal "$(sed -n 1p page)" 'trace: 37.3 ms, 3950 entries of 1 lcore, SPDK v26.05 and later'
    grep -n '^cause: buffers, held by backup-1 (27 % of the time)$' page | grep '^3:'
    # it has more time, but less weight
    grep -qx 'also: bdev Archive takes longer (60 %); that may be normal for it' page
    section more | sed 1d | grep -v perfetto >commands
    bash -e commands >printed
    grep -q 'backup-1/1.*TCP_REQ_COMPLETED' printed
    # as a user would type it
    grep '^  see: ' page | sed 's/^  see: *//' >see
    equal "$(cat see)" 'trace-report trace probes --story us=5601.223'
    bash -e see >story
    grep -qx '  8.76 ms, us=5601.223: r40 of backup-1/1, write, Archive, 256 blocks' story
    # but for its first lines, it is that of trace-spans
    trace-spans -l lifetimes.txt -s -k us=5601.223 trace | sed 1,2d | diff - <(sed '1,3d; /^$/,$d' story)
    # and whom it waited for
    sed '1,/^$/d' story | tr -s ' ' >rows
    equal "$(sed -n '2,3p' rows)" ' backup-1 waited for bdev Archive 5.01 ms 100 % at work
 backup-1 waited for buffers 3.64 ms 96 % held by backup-1'
}

@test "the page is what the tools print" {
    slow_host
    trace-report trace probes >page
    qpair-lifetimes probes >lifetimes
    trace-dump trace | trace-join -j -l lifetimes >lines
    # all of the page of trace-causes, in another order
    trace-spans -j lines >spans.here
    trace-causes -q spans.here >causes
    sed '1,2d; s/trace-report trace probes --story/trace-spans -s -k/; /^host /,$d; /^$/d' page | sort | diff - <(sed '/^$/d' causes | sort)
    # hosts with most time first
    section host >hosts
    trace-latency -jq -g host lines | plain |
        jq -r 'select(.life and .object == "r" and .group[]) | "\(.group[]) \(.count) \(.mean * .count)"' |
        sort -rnk3 | cut -d ' ' -f 1,2 >want
    awk '/^  [a-z]+-[0-9]/ { print $1, $2 }' hosts | diff want -
    # what two others are known to have taken is more than what half of these did
    grep -q '^  db-1  *97 >1[.]46 ms >3[.]93 ms >3[.]93 ms  buffer 86% bdev 8%$' hosts
    grep -q '^  db-2  *36   762 us  1[.]06 ms  1[.]06 ms ' hosts
    grep -qx '  > with 6 that did not start and end in the trace, and took at least so long' hosts
    grep -qx '  without 74 others that did not start and end in the trace' hosts
    # each host has its own cause
    trace-causes -qj -g host spans.here | jq -rs 'map(select(.group.host == "db-1"))[0] | "\(.cause), \(.who) (\(.share * 100 | round) % of the time)"' >cause
    grep -A1 '^  db-1 ' hosts | tail -n 1 | grep -qxF "    cause: $(cat cause)"
    equal "$(cat cause)" 'buffer, backup-1 (81 % of the time)'
    section lcore | grep -q '^  0 *3950  *59.0  *7220.3   603 us  backup-1/1, db-1/1, db-2/1$'
    section 'the slowest' >slowest
    equal "$(grep -c ' ms, us=' slowest)" 3
    grep -q '^  8.76 ms, us=5601.223: r40 of backup-1/1, write, Archive, 256 blocks$' slowest
    grep -q '^    bdev 57% buffer 42% host 1%$' slowest
    grep -q '^    waited 3.64 ms in TCP_REQ_NEED_BUFFER; backup-1/1 had 22 of 23 buffers' slowest
    grep -qx "in flight at the end: $(trace-spans -q --open lines | sed 1d | grep -c .), the oldest for 6.53 ms" page
    grep -qx '  trace      3950 entries: nvmf_tcp 2783, bdev 1167' page
    grep -qx '  names      of 3 hosts, by their probes' page
}

@test "-k, --since and --until choose requests, -n how many are listed, and -q a short page" {
    slow_host
    qpair-lifetimes probes >lifetimes
    trace-report trace probes -k host=db-1 -k type=write -n 5 -q >page
    equal "$(sed -n 2p page)" 'only requests with host=db-1 and type=write'
    equal "$(awk '$1 == "db-1" && $2 ~ /^[0-9]*$/ { print $2 }' page)" \
        "$(trace-spans -qj -l lifetimes -k host=db-1 -k type=write trace | jq 'select((.cut or .open) | not)' | jq -s length)"
    equal "$(grep -c '^  db-1 ' <(section host))" 1
    equal "$(grep -c ', us=' page)" 5
    trace-causes -q -l lifetimes -k host=db-1 -k type=write trace | grep '^cause: ' | grep -xFf - page
    equal "$(grep -cx -e recorded -e more page)" 0
    # those that lived in this time, of which half began before it
    trace-report trace probes --since 10000 --until 20000.5 >page
    equal "$(sed -n 2p page)" 'only requests from 10000.000 to 20000.500 us'
    equal "$(sed -n 's/ requests, mean .*//p' page)" \
        "$(trace-spans -qj -l lifetimes trace | jq -s 'map(select(.us <= 20000.5 and .us + .life >= 10000 and (.open or .cut | not))) | length')"
    section lcore | grep -q "^  0 *$(trace-dump --since 10000 --until 20000.5 trace | wc -l) "
    fails_only 'trace-report: trace: the options choose none of 349 requests' trace-report trace probes -k host=db-9
    fails_only 'trace-report: trace: -k args.foo=1: no request has this key' trace-report trace probes -k args.foo=1
    status_is 1 trace-report trace --since 900000
    grep -qx 'No such requests.' <<<"$output"
    # stories, and their span lines
    trace-report trace probes --story host=db-2 -n 2 >stories
    equal "$(grep -c ', us=.* of db-2/1' stories)" 2
    trace-report -j trace probes --story host=db-2 -n 2 | jq -r .us | sed 's/^/us=/' | diff - <(grep -o 'us=[0-9.]*' stories)
}

@test "a host with few of all requests has a cause of its own" {
    awk 'function entry(us, tpoint, host, id) {
            printf "{\"tsc\":%d,\"us\":%.3f,\"lcore\":0,\"tpoint\":\"TCP_REQ_%s\",", us * 1000 + 1, us, tpoint
            printf "\"owner\":\"10.0.0.%d:5 nqn.a 10.0.0.9:4420 qid:1\",\"poller\":\"t%d\",", host, host
            printf "\"object\":{\"id\":\"r%d\",\"value\":\"0x%x\"%s},\"args\":{}}\n", id, host, tpoint == "NEW" ? "" : ",\"us\":1.000"
        }
        BEGIN {
            for (i = 0; i < 3000; i++) {
                at = i * 1000
                entry(at, "NEW", 1, 2 * i); entry(at + 0.1, "NEED_BUFFER", 1, 2 * i); entry(at + 0.2, "HAVE_BUFFER", 1, 2 * i)
                entry(at + 0.3, "EXECUTING", 1, 2 * i)
                if (i % 100 == 0) {
                    entry(at + 50, "NEW", 2, 2 * i + 1); entry(at + 50.1, "NEED_BUFFER", 2, 2 * i + 1)
                    entry(at + 350, "HAVE_BUFFER", 2, 2 * i + 1); entry(at + 350.1, "EXECUTING", 2, 2 * i + 1)
                    entry(at + 380, "COMPLETED", 2, 2 * i + 1)
                }
                entry(at + 400, "COMPLETED", 1, 2 * i)
            }
        }' >lines
    trace-report lines >page
    equal "$(sed -n '3,4p' page)" $'= host=10.0.0.2:5\ncause: buffers, held by 10.0.0.1:5 (91 % of the time)'
    grep -qx '30 requests, mean 330 us; no group stands out' page
    equal "$(trace-report -j lines | jq -r '"\(.cause) \(.group.host // "-")"' | head -n 2 | paste -sd ,)" 'buffer -,none 10.0.0.1:5'
    status_is 3 trace-report --fail lines
    trace-causes -q lines | grep -q '^nothing stands out: '
}

@test "a histogram of the host that the cause hits" {
    slow_host
    trace-report trace probes >page
    section '     from' >bars
    equal "$(head -n 1 bars)" '     from    below  requests of db-1'
    # as trace-latency has it, with the two that did not start and end in the trace, and took longer than half of these
    qpair-lifetimes probes >lifetimes
    trace-dump trace | trace-join -j -l lifetimes | trace-latency -q -H --human -g host |
        sed -n '/db-1: r whole life/,/^$/p' | awk '$5 ~ /[0-9]/ { print $1, $2, $3, $4, $5 + ($1 >= 1 && $1 < 3 && $2 == "ms") }' >want
    sed 1d bars | awk '{ print $1, $2, $3, $4, $5 }' | diff want -
    equal "$(grep -c '[0-9] #\{32\}$' bars)" 2
    # ten rows at most: these are eleven powers of two
    some_slow 3 1
    trace-report trace >page
    equal "$(section '     from')" '     from    below  requests of 10.0.0.1:5000
  4.10 us  16.4 us      1000 ################################
  16.4 us  65.5 us         0
  65.5 us   262 us         0
   262 us  1.05 ms         0
  1.05 ms  4.19 ms         0
  4.19 ms  16.8 ms         3 #'
}

# Whether lines have at most so many characters, except for commands.
fits() { # COLUMNS FILE
    [ "$(sed 's/\x1b\[[0-9;]*m//g; /^more$/,$d; /^ *\(see\|cure\|try\): /d' "$2" | wc -L)" -le "$1" ] ||
        { echo "$1 columns"; cat "$2"; return 1; }
}

@test "a page fits the terminal" {
    export LC_ALL=C.UTF-8
    for layout in $LAYOUTS; do
        mktrace -l "$layout" "$DATA/common.jsonl" >trace
        COLUMNS=80 status_is 0 trace-report trace
        equal "$stderr" ''
        grep -qx recorded <<<"$output"
        fits 80 <(echo "$output")
    done
    slow_host
    sed "s/nqn.2026-11.fleet:\(...\)/nqn.2026-11.fleet:a-host-with-a-name-that-is-longer-than-any-column-höst-\1/" probes >long
    for columns in 60 80 100 200; do
        for color in '' 1; do
            COLUMNS=$columns CLICOLOR_FORCE=$color trace-report trace long >page
            fits $columns page
        done
    done
    trace-report trace long >page
    fits 100 page
    grep -q '^  a-ho…' page
    grep -q '^cause: buffers, held by .*…' page
    COLUMNS=1000 trace-report trace long >page
    equal "$(grep -c … page)" 0
    grep -q '^cause: buffers, held by a-host-with-a-name-that-is-longer-than-any-column-höst-backup-1 (27 % of the time)$' page
}

@test "a page on a terminal has colours, and its HTML none of these" {
    slow_host
    trace-report --html plain.html trace probes >plain
    CLICOLOR_FORCE=1 trace-report --html coloured.html trace probes >coloured
    sed 's/\x1b\[[0-9;]*m//g' coloured | diff plain -
    grep -qx $'\e\\[1mcause: buffers, held by backup-1 (27 % of the time)\e\\[0m' coloured
    grep -q $'^  db-1 .* \e\\[38;5;130mbuffer 86%\e\\[0m ' coloured
    grep -q $'^  \e\\[38;5;130mbuffer\e\\[0m ' coloured
    # names of columns are underlined
    equal "$(grep -c $'\e\\[4m' coloured)" 5
    cmp plain.html coloured.html
    head -c $(($(stat -c %s trace) - 65536)) trace >damaged
    CLICOLOR_FORCE=1 trace-report damaged probes >page 2>said || true
    grep -q $'^\e\\[31mdamaged: ' page
}

@test "without probes, hosts are addresses" {
    slow_host
    succeeds trace-report trace
    [[ $output == *'cause: buffers, held by 127.0.0.1:43702 (27 % of the time)'* ]]
    grep -q '^  names      none, but addresses' <<<"$output"
    grep -q '^  trace-dump trace >lines.jsonl$' <<<"$output"
    # those of another run name nothing
    { sed 's/tsc=0x/tsc=0xf/' probes; } >others
    status_is 1 trace-report trace others
    says 'trace-report: others: named 0 of 2783 entries of trace: all their ticks are after those of the entries'
    grep -q '^  names      none: the probe lines name no connection of this trace$' <<<"$output"
}

@test "the owners of the trace name hosts where probe lines have none" {
    slow_host
    # as bpftrace records them
    grep -v '^owner:' probes >bare
    succeeds trace-report trace bare
    grep -qx '  names      of 3 hosts, by their probes' <<<"$output"
    grep -qx '  trace-dump -O trace | qpair-lifetimes -O - bare >lifetimes.txt' <<<"$output"
    trace-report trace probes | sed '/^more/,$d' | diff - <(sed '/^more/,$d; s/ bare / probes /' <<<"$output")
}

# What the target of the sample would have answered to trace-record, of its hosts.
answers() {
    qpair-lifetimes -q folder/usdt.txt | sed "s/.*owner=t\([0-9]*\), .*qid=\([0-9]*\), subnqn='\(.*\)', hostnqn='\(.*\)'/\1 \2 \3 \4/" |
        while read -r owner qid subnqn hostnqn; do
            peer=$(sed -n "s/^owner: .*poller='t$owner', description='\([^ ]*\) .*/\1/p" folder/usdt.txt | tail -n 1)
            jq -nc '$ARGS.positional as [$qid, $subnqn, $hostnqn, $peer] | {method: "nvmf_subsystem_get_qpairs", begin: 111768000000000,
                end: 111768000000100, params: {nqn: $subnqn}, result: [{cntlid: 1, qid: ($qid | tonumber), hostnqn: $hostnqn,
                peer_address: {trtype: "TCP", traddr: "127.0.0.1", trsvcid: ($peer | sub(".*:"; ""))}}]}' --args "$qid" "$subnqn" "$hostnqn" "$peer"
        done
}

@test "a member of a RAID that is slower than another, by the counts of the target, has the time" {
    recording
    members() { # TICKS of the second one for each I/O
        jq -nc '{method: "bdev_get_bdevs", result: [{name: "Archive", block_size: 512, driver_specific:
            {raid: {base_bdevs_list: [{name: "Leg0"}, {name: "Leg1"}, {name: null}]}}}]}' >folder/rpc.jsonl
        for ops in 100 200; do
            jq -nc --argjson ops $ops --argjson ticks "$1" '{method: "bdev_get_iostat", result: {tick_rate: 1000000000, bdevs: [
                {name: "Leg0", num_write_ops: $ops, write_latency_ticks: ($ops * 100000), num_read_ops: 0, read_latency_ticks: 0},
                {name: "Leg1", num_write_ops: 0, write_latency_ticks: 0, num_read_ops: $ops, read_latency_ticks: ($ops * $ticks)}]}}'
        done >>folder/rpc.jsonl
        trace-report -j folder | jq -r 'select(.rows) | .rows[] | select(.host == "backup-1" and (.resource | test("bdev|leg"))) | .resource + " " + .of' | sort -u
    }
    equal "$(members 2000000)" 'leg Leg1'
    # that is within what may be as it should
    equal "$(members 300000)" 'bdev Archive'
    equal "$(members 500000)" 'bdev Archive'
}

@test "what is near a rate limit that the target has waits for that" {
    recording
    # 158 writes of 128 KiB in 37.3 ms: 4,200 and 530 MiB a second
    limited() {
        jq -nc --arg key "$1" --argjson limit "$2" '{method: "bdev_get_bdevs", result: [{name: "Data1", block_size: 512, assigned_rate_limits: {rw_ios_per_sec: 0}},
            {name: "Archive", block_size: 512, assigned_rate_limits: {($key): $limit}}]}' >folder/rpc.jsonl
        status_is 0 trace-report folder
        cause=$(grep -m 1 '^cause: ' <<<"$output")
    }
    limited rw_ios_per_sec 5000
    equal "${cause% (*}" 'cause: a rate limit of bdev Archive'
    limited rw_ios_per_sec 6000
    equal "${cause% (*}" 'cause: buffers, held by backup-1'
    limited w_mbytes_per_sec 600
    equal "${cause% (*}" 'cause: a rate limit of bdev Archive'
    limited r_mbytes_per_sec 600
    equal "${cause% (*}" 'cause: buffers, held by backup-1'
}

@test "a bdev whose name is its UUID has its alias instead, if the target says it" {
    recording
    bdev() { jq -nc --arg uuid "$1" --argjson aliases "$2" '{name: "Archive", uuid: $uuid, aliases: $aliases, block_size: 512, assigned_rate_limits: {rw_ios_per_sec: 5000}}'; }
    answer() { jq -sc '{method: "bdev_get_bdevs", result: .}' >folder/rpc.jsonl; }
    { bdev Archive '["lvs/archive", "other"]'; echo '{"aliases":["nameless"]}'; } | answer
    trace-report --html html folder >page
    grep -q '^cause: a rate limit of bdev lvs/archive (' page
    grep -q '^  .* of backup-1/1, write, lvs/archive, 256 blocks$' page
    equal "$(cat page html | grep -c Archive)" 0
    trace-report -j folder >found
    equal "$(jq -r .who found | head -n 1)" lvs/archive
    equal "$(jq -r '.rows // empty | .[] | select(.host == "backup-1" and .resource == "bdev").of' found | sort -u)" lvs/archive
    # of any other bdev, the alias is the UUID
    for other in '32bf5dfa-7d38-4e8b-9a5c-3a0c84bbb7d9 ["32bf5dfa-7d38-4e8b-9a5c-3a0c84bbb7d9"]' 'Archive []' 'Archive [""]' 'Archive null'; do
        bdev "${other%% *}" "${other#* }" | answer
        trace-report folder | grep -q '^cause: a rate limit of bdev Archive ('
    done
}

@test "-j prints the findings of the page, and those of each host; --fail exits with 3 if there is one" {
    recording
    status_is 3 trace-report -j --fail folder
    echo "$output" >found
    equal "$(jq -r 'select(.group | not) | "\(.cause) \(.who)"' found | head -n 1)" 'buffer backup-1'
    trace-report folder | sed -n 's/^cause: //p' | grep '^buffers, held by backup-1 '
    jq -r 'select(.group) | .group.host' found | sort -u >hosts
    [ "$(wc -l <hosts)" -gt 1 ]
    # each host's finding is that of its row
    jq -r 'select(.group and .cause == "buffer") | .group.host' found | grep -v backup-1
    trace-report folder | grep '    cause: buffer, backup-1'
    status_is 2 trace-report -j --html page.html folder
    says 'trace-report: -j and --html exclude each other'
    [ ! -e page.html ]
    # without its last entry, which is of another century
    sed '$d' "$DATA/common.jsonl" | mktrace >healthy
    status_is 0 trace-report --fail -j healthy
    equal "$(jq -r .cause <<<"$output" | sort -u)" none
}

@test "a host whose name gets longer when another one comes has one row, with its cause" {
    slow_host
    sed -i "s/fleet:backup-1'/fleet:a:backup-1'/; s/fleet:db-2'/fleet:b:backup-1'/" probes
    # db-2 comes when requests of backup-1 have ended
    {
        trace-dump -q -d -O -i trace
        trace-dump -q trace | awk -F '"us":' '!/"poller":"t272"/ || $2 + 0 >= 30000'
    } | mktrace >late
    trace-report late probes >page
    section host >hosts
    equal "$(awk '/^  [a-z:]+-[0-9]/ { print $1, $2 }' hosts | tr '\n' ' ')" 'a:backup-1 125 db-1 97 b:backup-1 6 '
    grep -A 1 '^  a:backup-1 ' hosts | tail -n 1 | grep -q '^    cause: bdev, Archive '
    equal "$(trace-report -j late probes | jq -r 'select(.group) | .group.host' | sort -u | tr '\n' ' ')" 'a:backup-1 b:backup-1 db-1 '
    trace-report --html page.html late probes >page
    equal "$(grep -c '>a:backup-1</text>' page.html)" 1
    equal "$(grep -c '>backup-1</text>' page.html)" 0
}

# The counts of a connection: WHEN TSC ADDRESS MICROSECONDS-OF-A-FULL-WINDOW RETRANSMITTED LEAST-ROUND-TRIP
connection() {
    printf '{"when":"%s","tsc":%s,"connection":"%s","local":"10.0.0.1:4420","rtt":90,"min_rtt":%s,"retransmitted":%s,"sending":900000,"window_full":%s}\n' \
        "$1" "$2" "$3" "$6" "$5" "$4"
}

@test "a host that does not read is named by the kernel's counts, and what else the network did" {
    export LC_ALL=C.UTF-8
    local rate
    mkdir folder
    some_slow 0
    mv trace folder/trace.bin
    rate=$(trace-dump -i folder/trace.bin | jq .tsc_rate)
    jq -nc '{method: "nvmf_subsystem_get_qpairs", begin: 1, end: 2, params: {nqn: "nqn.2026-11.fleet:sub"},
        result: [{cntlid: 1, qid: 1, hostnqn: "nqn.2026-11.fleet:db-1",
            peer_address: {trtype: "TCP", traddr: "10.0.0.2", trsvcid: "40001"}}]}' >folder/rpc.jsonl
    { # a second; counts are those since the connection exists
        connection start "$rate" 10.0.0.2:40001 5000000 7 20
        connection start "$rate" 10.0.0.3:40002 0 0 20
        connection start "$rate" 10.0.0.4:40003 0 3 4000
        connection end $((2 * rate)) 10.0.0.2:40001 5560000 7 20
        connection end $((2 * rate)) 10.0.0.3:40002 5000 0 20
        connection end $((2 * rate)) 10.0.0.4:40003 0 5 4000
        echo '{"when":"end","tsc":1,"tid":4,"name":"reactor_0"}'
    } >folder/kernel.jsonl
    COLUMNS=1000 status_is 0 trace-report folder
    equal "$(grep '^cause: ' <<<"$output")" \
        'cause: host nqn.2026-11.fleet:db-1 does not read its replies: its window was full for 56 % of the time'
    equal "$(grep -c '^nothing stands out' <<<"$output")" 0
    equal "$(grep -A 9 '^the network, by the kernel ' <<<"$output" | sed '/^$/,$d' | tail -n +2 | tr -s ' ' | cut -c 2-)" \
        'nqn.2026-11.fleet:db-1 10.0.0.2:40001 20.0 us 56 % 0
10.0.0.4:40003 10.0.0.4:40003 4.00 ms 0 % 2'
    status_is 3 trace-report -j --fail folder
    equal "$(head -n 1 <<<"$output" | jq -c '[.cause, .who, .kind, .window_full == 0.56]')" \
        '["reply","nqn.2026-11.fleet:db-1","network",true]'
    # what no address is names nobody
    jq -nc '{method: "nvmf_subsystem_get_qpairs", begin: 1, end: 2, params: {nqn: "n"},
        result: [{qid: 1, hostnqn: "n", peer_address: {traddr: ("x" * 5000), trsvcid: "1"}}]}' >>folder/rpc.jsonl
    trace-report folder 2>&1 | grep -q '^the network, by the kernel '
    # what is damaged is said
    echo '{"when":' >>folder/kernel.jsonl
    status_is 1 trace-report folder
    grep 'unreadable: kernel.jsonl:8: not a JSON object' <<<"$output"
}

# A trace of two hosts, whose bdevs take 5 ms and 5 us.
two_bdevs() {
    awk 'function entry(us, tpoint, poller, id, value, age, more) {
            printf "{\"tsc\":%d,\"lcore\":0,\"tpoint\":\"%s\",\"poller\":\"%s\",\"object\":{\"id\":\"%s\",%s\"value\":\"0x%x\"}%s}\n",
                us * 1000, tpoint, poller, id, age ? "\"us\":" age ".000," : "", value, more
        }
        BEGIN {
            for (i = 0; i < 100; i++) for (host = 1; host <= 2; host++) {
                at = 6000 * i + host * 500; life = host == 1 ? 5000 : 5; n = 2 * i + host
                entry(at, "TCP_REQ_NEW", "t" host, "r" n, 4096 + n, 0, "")
                entry(at + 1, "BDEV_IO_START", "b" host, "i" n, 8192 + n, 0,
                    sprintf(",\"size\":8,\"related\":\"r%d\",\"args\":{\"type\":1,\"ctx\":\"0x%x\",\"offset\":0,\"qd\":1}", n, 4096 + n))
                entry(at + life, "BDEV_IO_DONE", "b" host, "i" n, 8192 + n, life - 1, "")
                entry(at + life + 1, "TCP_REQ_COMPLETED", "t" host, "r" n, 4096 + n, life + 1, "")
            }
        }' | sort -t : -n -k 2 >entries
    {
        connections 2
        printf '%s\n' '{"id":3,"poller":"b03","tsc":1,"description":"bdev_Slow"}' '{"id":4,"poller":"b04","tsc":1,"description":"bdev_Fast"}' \
            '{"tpoint":"BDEV_IO_START","id":100,"owner_type":"b","object_type":"i","new_object":true,"args":[{"name":"type","type":"int","size":8},{"name":"ctx","type":"ptr","size":8},{"name":"offset","type":"int","size":8},{"name":"qd","type":"int","size":4}]}' \
            '{"tpoint":"BDEV_IO_DONE","id":101,"owner_type":"b","object_type":"i","new_object":false}'
        sed 's/"b1"/"b3"/; s/"b2"/"b4"/' entries
    } | mktrace >trace
}

@test "a host that does not read comes before a bdev that may be meant to be slow" {
    local rate
    mkdir folder
    two_bdevs
    mv trace folder/trace.bin
    status_is 0 trace-report folder
    grep -q '^cause: bdev Slow takes longer (' <<<"$output"
    rate=$(trace-dump -i folder/trace.bin | jq .tsc_rate)
    {
        connection start "$rate" 10.0.0.1:5000 0 0 20
        connection end $((2 * rate)) 10.0.0.1:5000 990000 0 20
    } >folder/kernel.jsonl
    status_is 0 trace-report folder
    equal "$(grep -e '^cause: ' -e '^also: ' <<<"$output")" \
        'cause: host 10.0.0.1:5000 does not read its replies: its window was full for 99 % of the time
also: bdev Slow takes longer (100 % of the extra time)'
    equal "$(trace-report -j folder | jq -r .cause | head -n 2)" $'reply\nbdev'
}

@test "a CPU quota that was used up" {
    mkdir folder
    some_slow 0
    mv trace folder/trace.bin
    {
        echo '{"when":"start","tsc":1,"cgroup":"/pods/a","quota":80000,"period":100000,"periods":100,"throttled":7,"throttled_us":1000}'
        echo '{"when":"start","tsc":1,"cgroup":"/","quota":200000,"period":100000,"periods":100,"throttled":3,"throttled_us":50}'
        echo '{"when":"end","tsc":2,"cgroup":"/","quota":200000,"period":100000,"periods":120,"throttled":3,"throttled_us":50}'
        echo '{"when":"end","tsc":2,"cgroup":"/pods/a","quota":80000,"period":100000,"periods":120,"throttled":19,"throttled_us":341500}'
        echo '{"when":"end","tsc":2,"cgroup":"/new","quota":1000,"period":100000,"periods":9,"throttled":9,"throttled_us":900000}'
    } >folder/kernel.jsonl
    status_is 0 trace-report folder
    equal "$(grep 'CPU quota' <<<"$output")" \
        'CPU quota of cgroup /pods/a: 0.80 CPUs, used up in 12 of 20 periods, off its CPUs for 341 ms'
}

@test "hosts are named by what the target answers where no probe names them" {
    recording
    trace-report folder | sed '/^recorded/,$d' >probed
    # after the answers of a target with many subsystems
    { jq -nc '{method: "nvmf_get_subsystems", result: [range(20000) | {nqn: "nqn.2016-06.io.spdk:cnode-\(.)", serial_number: "12345678901234567890"}]}'; answers; } >folder/rpc.jsonl
    # there are probes of one host; the others connected before them
    grep "db-1'" folder/usdt.txt | grep -o 'qpair=0x[0-9a-f]*' >addresses
    { grep -v ^nvmf_ folder/usdt.txt; grep -Ff addresses folder/usdt.txt; } >some
    mv some folder/usdt.txt
    succeeds trace-report folder
    grep -qx '  names      of 3 hosts, 1 by their probes, 2 by JSON-RPC' <<<"$output"
    grep -qx '  qpair-lifetimes --rpc rpc.jsonl usdt.txt >lifetimes.txt' <<<"$output"
    sed '/^recorded/,$d' <<<"$output" | diff probed -
    # a target without probes
    rm folder/usdt.txt
    succeeds trace-report folder
    grep -qx '  names      of 3 hosts, by JSON-RPC' <<<"$output"
    sed '/^recorded/,$d' <<<"$output" | diff probed -
    # the commands on the page name hosts, too
    sed '1,/^more$/d' <<<"$output" | grep -v perfetto >commands
    bash -e commands >printed
    grep -q db-1 printed
    # answers that name none
    sed -i 's/"trsvcid":"/&9/' folder/rpc.jsonl
    status_is 0 trace-report folder
    grep -qx '  names      none: JSON-RPC names no connection of this trace' <<<"$output"
    # an error, and a target that says no addresses
    sed -i 1s/.//  folder/rpc.jsonl
    fails 'trace-report: folder/rpc.jsonl:1: ' trace-report folder
    echo '{"method":"nvmf_subsystem_get_qpairs","params":{"nqn":"s"},"result":[{"cntlid":1,"qid":0}]}' >folder/rpc.jsonl
    status_is 0 trace-report folder
    grep -q '^  names      none, but addresses' <<<"$output"
}

@test "a folder has parts, and says which are missing" {
    recording
    {
        echo '{"part":"target","pid":1234,"name":"nvmf_tgt","started":"2026-11-23T16:30:00Z","ended":"2026-11-23T16:30:10Z"}'
        echo '{"part":"trace","file":"trace.bin","status":"done","lost":12}'
        echo '{"part":"offcpu","status":"missing","why":"needs CAP_BPF"}'
        echo '{"part":"trigger","status":"done","file":"trigger.jsonl","requests":3,"min_us":5000.000,"slowest":30123.456}'
        echo '{"part":"bio\u001b[2J","status":"failed","why":"a\nb"}'
    } >folder/parts.jsonl
    {
        echo '{"method":"spdk_get_version","result":{"version":"SPDK v26.05"}}'
        echo '{"method":"trace_get_tpoint_group_mask","result":{"tpoint_group_mask":"0x10","bdev":{"enabled":true,"mask":"0x8"},"blob":{"enabled":false}}}'
    } >folder/rpc.jsonl
    succeeds trace-report folder
    equal "$(sed -n 2p <<<"$output")" 'recorded for 3 requests of 5.00 ms or more, the slowest 30.1 ms'
    head -n 3 <<<"$output" | grep -qx '12 slots of the rings were lost while they were recorded'
    grep -qx '  offcpu     missing: needs CAP_BPF' <<<"$output"
    grep -qx '  bio\\x1b\[2J failed: a\\x0ab' <<<"$output"
    grep -qx '  version    SPDK v26.05' <<<"$output"
    grep -qx '  target     nvmf_tgt (1234), from 2026-11-23T16:30:00Z to 2026-11-23T16:30:10Z' <<<"$output"
    grep -qx '  groups     on: bdev' <<<"$output"
    grep -qx '  cd folder' <<<"$output"
    grep -qx '  qpair-lifetimes usdt.txt >lifetimes.txt' <<<"$output"
    rm folder/trace.bin
    fails 'trace-report: folder: no trace.bin, as is in a folder of trace-record' trace-report folder
    grep -qx 'folder: no trace' <<<"$output"
    grep -qx '  offcpu     missing: needs CAP_BPF' <<<"$output"
    rm folder/parts.jsonl
    status_is 1 trace-report folder
    equal "$output" ''
}

# Checks that trace-report says this of a file of the folder, on the page as well, and uses the others.
unreadable() { # FILE WHY [COMMAND]...
    fails_only "trace-report: folder/$1: $2" "${@:3}" trace-report folder
    grep -qxF "unreadable: $1: $2" <<<"$output"
    grep -q '^cause: buffers, held by ' <<<"$output"
    grep -q '^the slowest requests' <<<"$output"
    local known='12 slots of the rings were lost while they were recorded'
    [[ $1 != parts.jsonl* ]] || known='what was lost, and what was not recorded, is not known'
    grep -qx "$known" <<<"$output"
    rm -f folder/parts.jsonl
    cp parts folder/parts.jsonl
}

@test "what is there and cannot be read is an error, and on the page" {
    recording
    {
        echo '{"part":"target","pid":1234,"name":"nvmf_tgt","started":"2026-11-23T16:30:00Z","ended":"2026-11-23T16:30:10Z"}'
        echo '{"part":"trace","file":"trace.bin","status":"done","lost":12}'
    } >parts
    local file us unended='there is no object of the trace: the file was not written to its end'
    # cut off between two lines, or empty as before trace-record ends
    head -n 1 parts >folder/parts.jsonl
    unreadable parts.jsonl "$unended"
    : >folder/parts.jsonl
    unreadable parts.jsonl "$unended"
    # cut off in a line
    { cat parts; echo -n '{"part":"bio","sta'; } >folder/parts.jsonl
    unreadable parts.jsonl:3 'not a JSON object: the file is damaged, or was not written to its end'
    for us in 1e999 -1 '"5"' 0 null 5.00000; do
        { cat parts; echo "{\"part\":\"trigger\",\"status\":\"done\",\"requests\":3,\"min_us\":$us,\"slowest\":5.000}"; } >folder/parts.jsonl
        unreadable parts.jsonl '"min_us" is no time above 0: what was slow is not known'
        ! grep '^recorded for' <<<"$output" || return 1
    done
    echo '{"method":' >folder/rpc.jsonl
    unreadable rpc.jsonl:1 'not a JSON object: the file is damaged, or was not written to its end'
    rm folder/rpc.jsonl
    for file in parts rpc offcpu bio; do
        file=folder/$file.jsonl
        rm -f "$file"
        # nobody writes to the pipe
        mkfifo "$file"
        unreadable "${file#*/}" 'not a regular file' timeout 60
        rm -f "$file"
        ln -s "${file#*/}" "$file"
        unreadable "${file#*/}" 'Too many levels of symbolic links'
        rm -f "$file"
        cp parts folder/parts.jsonl
    done
    rm folder/usdt.txt
    mkfifo folder/usdt.txt
    fails_only 'trace-report: folder/usdt.txt: not a regular file' timeout 60 trace-report folder
    grep -qx 'unreadable: usdt.txt: not a regular file' <<<"$output"
    grep -qx '  names      none, but addresses: what has those of hosts could not be read' <<<"$output"
    rm folder/trace.bin
    mkdir folder/trace.bin
    fails 'trace-report: folder/trace.bin: not a regular file' trace-report folder
    head -n 2 <<<"$output" | grep -qx 'unreadable: trace.bin: not a regular file'
}

@test "lines of other tools are merged" {
    recording
    # another process has the CPU for 4 ms of the life of r40, and all of the trace is covered
    trace-dump -q folder/trace.bin | sed -n 's/^{"tsc":\([0-9]*\),"us":\([0-9.]*\),.*/\1 \2/p' >moments
    awk '
        function held(begin, us, more) {
            printf "{\"tsc\":%s,\"us\":%s,\"lcore\":0,\"tpoint\":\"OFF_CPU\",\"args\":{\"comm\":\"reactor_0\",\"tid\":7,\"pid\":7,", tsc, us
            printf "\"begin\":%s,\"duration\":%s}}\n", begin, more
        }
        { tsc = $1; us = $2 }
        NR == 1 { held(tsc, us, "0.000,\"why\":\"yielded\"") }
        us > 7000 && !begin { begin = tsc; from = us }
        us > 11000 && !done { held(begin, us, us - from ",\"why\":\"preempted\",\"by\":\"burner\",\"by_pid\":9"); done = 1 }
        END { held(tsc, us, "0.000,\"why\":\"yielded\"") }' moments >folder/offcpu.jsonl
    trace-report folder >want
    # its last line is about no time
    tail -n 1 moments | sed 's/\(.*\) \(.*\)/{"tsc":\1,"us":\2,"lcore":77,"tpoint":"LOSSES","args":{"tool":"offcpusnoop","lost":0,"missed":0,"skipped":0,"partial":0}}/' >>folder/offcpu.jsonl
    succeeds trace-report folder
    diff want - <<<"$output"
    # as lines that were merged before, where reactors have the source of their tool
    qpair-lifetimes folder/usdt.txt | trace-join -j -l - <(trace-dump -q folder/trace.bin) | trace-merge - folder/offcpu.jsonl >merged
    trace-report - <merged | grep -q '% (burner)'
    [[ $output == *' off_cpu '*'% (burner)'* ]]
    grep -q '^  offcpu     covers [1-9][0-9]* of [0-9]* requests$' <<<"$output"
    grep -q '^      trace-merge - offcpu.jsonl >lines.jsonl$' <<<"$output"
    trace-report folder --story us=5601.223 | grep -q ' 11000.165 preempted by burner (9) for 3.99 ms$'
    # a folder's name is no name of a source
    cp -r folder trace=x
    trace-report trace=x | grep -q '^  offcpu     covers [1-9]'
    # what is wrong with one is said
    echo '{"tsc":' >folder/bio.jsonl
    fails 'trace-report: folder/bio.jsonl:1: not a trace line, left out: ' trace-report folder
    [[ $output == *'recorded'* ]]
    rm folder/bio.jsonl
    : >folder/offcpu.jsonl
    status_is 0 trace-report folder
    ! grep -q '^  offcpu' <<<"$output" || return 1
}

@test "lines whose ticks are of another clock are left out" {
    recording
    trace-report folder >without
    # as where the kernel's clock source is not the processor's counter
    for file in offcpu bio; do
        seq 0 1000 30000 | awk '{ printf "{\"tsc\":%d,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"OFF_CPU\",\"args\":{\"comm\":\"reactor_0\",\"tid\":7,\"pid\":7,\"begin\":%d,\"duration\":10.000,\"why\":\"yielded\"}}\n",
            76417000000 + $1 * 1000, $1, 76417000000 + $1 * 1000 - 10 }' >folder/$file.jsonl
    done
    succeeds trace-report folder
    diff without - <<<"$output" | grep '^[<>]' >changed || true
    equal "$(cat changed)" ">   offcpu     left out: its times are of another clock than the trace's
>   bio        left out: its times are of another clock than the trace's"
    # what cannot be known is merged
    head -n 1 folder/offcpu.jsonl >one
    mv one folder/offcpu.jsonl
    trace-report folder >page
    grep -q '^  offcpu     covers 0 of' page
    # the slowest requests are the same
    diff <(sed -n 's/.* us=[0-9.]*: //p' without) <(sed -n 's/.* us=[0-9.]*: //p' page)
    equal "$(section 'the slowest' | grep -c ' off_cpu ?$')" 3
}

@test "requests that are stuck come first" {
    slow_host
    trace-report trace probes | grep -n 'in flight' | grep -v '^[1-9]:'
    # of one request nothing but its start is in the trace
    trace-dump -q -d -O -i trace >entries
    trace-dump -q trace | sed '/"id":"r3"}*,"value"/{ s/"0x55adf33eb988"/"0x999"/; }; /"id":"r3","us"/d' >>entries
    mktrace entries >stuck
    trace-report stuck probes >page
    sed -n 3p page | grep -qx 'in flight at the end: [0-9]*, the oldest for 34[.][0-9] ms'
    sed -n 4p page | grep -qx '  34[.][0-9] ms: 1 of backup-1: in target, behind target'
    equal "$(grep -c '^in flight' page)" 1
    CLICOLOR_FORCE=1 trace-report stuck probes | sed 's/\x1b\[[0-9;]*m//g' | diff page -
}

@test "a reactor that stands still comes first, and why it does" {
    recording
    local last rate lcore
    last=$(trace-dump -q folder/trace.bin | tail -n 1 | jq .tsc)
    rate=$(trace-dump -q -i folder/trace.bin | jq .tsc_rate)
    lcore=$(trace-report folder | awk '/^lcore/ { getline; print $1 }')
    # one second after the last entry the recording starts, and goes on for two
    look() { # START END: members of lines
        printf '{"when":"%s","tsc":%d,"tid":1,"name":"reactor_%d",%s}\n' start $((last + rate)) "$lcore" "$1" \
            end $((last + 3 * rate)) "$lcore" "$2" >folder/kernel.jsonl
        trace-report folder >page
        sed -n 3p page
    }
    local since="reactor_$lcore has not run since 1.00 s before the recording:" ran='"ran":9.000,"voluntary":3,"involuntary":4'
    equal "$(look '"state":"R"' '"state":"T"')" "$since stopped by a signal"
    equal "$(sed -n 4p page)" '  what follows is of requests before that'
    equal "$(grep -c '^cause: \|^    cause: ' page)" 0
    equal "$(look '"state":"R"' '"state":"t","tracer":812,"tracer_name":"g\u001bdb"')" "$since traced and stopped by g\\x1bdb (pid 812)"
    local blocked='"state":"S","syscall":"openat","file":"/srv/disk",'
    equal "$(look "$blocked$ran" "$blocked$ran")" "$since blocked in openat() of /srv/disk"
    # it sleeps in interrupt mode, or it has run
    local call busy="\"state\":\"R\",$ran"
    for call in epoll_wait ppoll; do
        look "\"state\":\"S\",\"syscall\":\"$call\",$ran" "\"state\":\"S\",\"syscall\":\"$call\",$ran" | grep -q '^hang: [0-9]* of 37 requests wait for .*, for 3.0[01] s$'
    done
    look "$blocked$ran" "$blocked${ran/9/900000}" | grep -q '^hang: '
    # a subsystem that does not answer, though the target does
    echo '{"method":"nvmf_subsystem_get_qpairs","params":{"nqn":"nqn.s:\u001bdb"},"error":{"message":"no reply within 2 seconds"}}' >folder/rpc.jsonl
    look "$busy" "${busy/9/1999999}" | grep -q '^hang: '
    echo '{"method":"thread_get_stats","result":{}}' >>folder/rpc.jsonl
    local paused='subsystem nqn.s:\x1bdb is paused or being paused: no reply'
    equal "$(look "$busy" "${busy/9/1999999}")" "$paused"
    # also where nothing in the trace is old
    rm folder/kernel.jsonl
    equal "$(trace-report folder | sed -n 3p)" "$paused"
    equal "$(trace-report -j folder | head -n 1 | jq -r .text)" "$paused"
    rm folder/rpc.jsonl
    look "$busy" "${busy/9/1999999}" | grep -q '^hang: '
    echo '{"part":"trace","status":"done"}
{"part":"rpc","status":"missing","why":"no reply within 2 seconds"}' >folder/parts.jsonl
    equal "$(look "$busy" "${busy/9/1999999}")" "reactor_$lcore has polled nothing since 1.00 s before the recording: it runs for 100 % of the time"
    # without these lines, offcpusnoop has seen it
    rm folder/kernel.jsonl folder/parts.jsonl
    off_cpu() { # US
        printf '{"tsc":%d,"us":0.000,"lcore":0,"tpoint":"OFF_CPU","args":{"comm":"reactor_%d","tid":1,"pid":1,"begin":%d,"duration":%d.000,"why":"blocked","syscall":"stop","late":true,"unfinished":true}}\n' \
            $((last + 3 * rate)) "$lcore" $((last + rate)) "$1" >folder/offcpu.jsonl
        trace-report folder | sed -n 3p
    }
    equal "$(off_cpu 2000000)" "$since stopped by a signal"
    if off_cpu 2000 | grep 'has not run'; then false; fi
}

# A trace of two hosts: 1,000 requests of 10 us each, and of the first one some of 5 ms, in which its reactor is off its CPU.
some_slow() { # SLOW [HOSTS]
    awk -v slow="$1" -v hosts="${2:-2}" '
        function request(n, us, life, owner) {
            printf "%d 0 {\"tsc\":%d,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"TCP_REQ_NEW\",\"poller\":\"t%d\",\"object\":{\"id\":\"r%d\",\"value\":\"0x%x\"}}\n", us,
                us * 1000, us, owner, n, 4096 + n
            printf "%d 1 {\"tsc\":%d,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"TCP_REQ_COMPLETED\",\"poller\":\"t%d\",\"object\":{\"id\":\"r%d\",\"us\":%d.000,\"value\":\"0x%x\"}}\n",
                us + life, (us + life) * 1000, us + life, owner, n, life, 4096 + n
        }
        BEGIN {
            for (i = 1; i <= 1000; i++) for (host = 1; host <= hosts; host++) request(2 * i + host, 20 * i + 10 * host, 5, host)
            for (i = 0; i < slow; i++) request(3000 + i, 30000 + 6000 * i, 5000, 1)
        }' >requests
    {
        connections 2
        sort -n -k 1 -k 2 requests | cut -d ' ' -f 3-
    } | mktrace >trace
}

# A trace of a host with a request every 100 us, of 5 us each, that is not read for 10 ms, when its reactor is off its CPU.
not_read() {
    mkdir -p folder
    awk 'function line(n, us, tpoint, age) {
            printf "{\"tsc\":%d,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"%s\",\"poller\":\"t01\",\"object\":{\"id\":\"r%d\",%s\"value\":\"0x%x\"}}\n",
                us * 1000, us, tpoint, n, age ? sprintf("\"us\":%d.000,", age) : "", 4096 + n
        }
        BEGIN {
            for (i = 1; i <= 100; i++) { line(i, 100 * i, "TCP_REQ_NEW"); line(i, 100 * i + 5, "TCP_REQ_COMPLETED", 5) }
            for (i = 0; i < 8; i++) line(101 + i, 20001 + i, "TCP_REQ_NEW")
            for (i = 0; i < 8; i++) line(101 + i, 20009 + i, "TCP_REQ_COMPLETED", 8)
            for (i = 210; i <= 400; i++) { line(i, 100 * i, "TCP_REQ_NEW"); line(i, 100 * i + 5, "TCP_REQ_COMPLETED", 5) }
        }' >lines
    {
        connections 1
        cat lines
    } | mktrace >folder/trace.bin
    local end
    for end in 50 20000 41000; do
        echo "{\"tsc\":${end}000,\"us\":$end.000,\"lcore\":0,\"tpoint\":\"OFF_CPU\",\"args\":{\"comm\":\"reactor_0\",\"tid\":2,\"pid\":2,\"begin\":$((end == 20000 ? 10010000 : end * 1000 - 1000)),\"duration\":$((end == 20000 ? 9990 : 1)).000,\"why\":\"preempted\",\"by\":\"burner\",\"by_pid\":7}}"
    done >folder/offcpu.jsonl
}

@test "what waited to be read is among the slowest, and its story can be had" {
    not_read
    trace-report folder >page
    grep -qx 'cause: the reactor was off its CPU: burner (.*' page
    section 'the slowest' >slowest
    equal "$(sed -n '2p; $p' slowest)" '  9.95 ms, us=19951.000: r100 of 10.0.0.1:5000/1
    waited 9.74 ms to be read; the reactor was off its CPU: burner'
    # the command of the page finds the request
    sed -n 's/^  see: *//p' page >see
    bash -e see >story
    grep -q '^    waited .* to be read; the reactor was off its CPU: burner$' story
    grep -q ' TCP_REQ_NEW ' story
}

@test "the slowest are those that took longest, also in their replies" {
    # of the second host a slow one, and one whose reply takes longer; and an I/O of the target itself
    {
        connections 2
        printf '%s\n' '{"tpoint":"TCP_REQ_TRANSFER_C2H","id":86,"owner_type":"t","object_type":"r","new_object":false}' \
            '{"id":3,"poller":"b03","tsc":1,"description":"bdev_Own"}' \
            '{"tpoint":"BDEV_IO_START","id":100,"owner_type":"b","object_type":"i","new_object":true}' \
            '{"tpoint":"BDEV_IO_DONE","id":101,"owner_type":"b","object_type":"i","new_object":false}' \
            '{"tsc":50000,"us":50.000,"lcore":0,"tpoint":"BDEV_IO_START","poller":"b03","object":{"id":"i1","value":"0x99"}}'
        awk 'function line(us, name, owner, n, age) {
                printf "%d {\"tsc\":%d,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"TCP_REQ_%s\",\"poller\":\"t0%d\",\"object\":{\"id\":\"r%d\",%s\"value\":\"0x%x\"}}\n",
                    us, us * 1000, us, name, owner, n, age ? sprintf("\"us\":%d.000,", age) : "", 4096 + n
            }
            function request(us, owner, n, reply, life) {
                line(us, "NEW", owner, n); line(us + reply, "TRANSFER_C2H", owner, n, reply); line(us + life, "COMPLETED", owner, n, life)
            }
            BEGIN {
                for (i = 1; i <= 50; i++) request(100 * i, 1, i, 5, 6)
                request(6000, 2, 60, 900, 1000); request(8000, 2, 61, 100, 5000)
            }' | sort -s -n -k 1,1 | cut -d ' ' -f 2-
        echo '{"tsc":20000000,"us":20000.000,"lcore":0,"tpoint":"BDEV_IO_DONE","poller":"b03","object":{"id":"i1","us":19950.000,"value":"0x99"}}'
    } | mktrace >trace
    trace-report trace >page
    equal "$(section 'the slowest' | grep -o '^  [0-9.]* [mu]s, us=[0-9.]*' | head -n 2)" '  5.00 ms, us=7950.000
  1.00 ms, us=5950.000'
}

# A trace of N reads that come at once and of 10 us each, of which two at a time have a buffer.
few_buffers() { # N BLOCKS
    awk -v n="$1" -v blocks="$2" '
        function line(us, tpoint, owner, object, rest) {
            printf "%d {\"tsc\":%d,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"%s\",\"poller\":\"%s\",\"object\":%s%s}\n",
                us, us * 1000, us, tpoint, owner, object, rest
        }
        function request(us, tpoint, i) {
            line(us, tpoint, "t01", sprintf("{\"id\":\"r%d\",%s\"value\":\"0x%x\"}", i, us == i ? "" : sprintf("\"us\":%d.000,", us - i), 4096 + i), "")
        }
        BEGIN {
            for (i = 1; i <= n; i++) {
                got = 100 + 10 * int((i - 1) / 2)
                request(i, "TCP_REQ_NEW", i); request(i, "TCP_REQ_NEED_BUFFER", i); request(got, "TCP_REQ_HAVE_BUFFER", i)
                request(got + 1, "TCP_REQ_EXECUTING", i)
                line(got + 1, "BDEV_IO_START", "b02", sprintf("{\"id\":\"i%d\",\"value\":\"0x%x\"}", i, 8192 + i),
                    sprintf(",\"size\":%d,\"related\":\"r%d\",\"args\":{\"type\":1,\"ctx\":\"0x%x\",\"offset\":0,\"qd\":1}", blocks, i, 4096 + i))
                line(got + 8, "BDEV_IO_DONE", "b02", sprintf("{\"id\":\"i%d\",\"us\":7.000,\"value\":\"0x%x\"}", i, 8192 + i), "")
                request(got + 9, "TCP_REQ_COMPLETED", i)
            }
        }' >requests
    mkdir -p folder
    {
        printf '%s\n' '{"layout":"any","tsc_rate":1000000000}' \
            '{"id":1,"poller":"t01","tsc":1,"description":"10.0.0.1:5000 nqn.s 10.0.0.9:4420 qid:1"}' \
            '{"id":2,"poller":"b02","tsc":1,"description":"bdev_Db"}'
        local id=80 tpoint
        for tpoint in NEW NEED_BUFFER HAVE_BUFFER EXECUTING COMPLETED; do
            echo "{\"tpoint\":\"TCP_REQ_$tpoint\",\"id\":$((id++)),\"owner_type\":\"t\",\"object_type\":\"r\",\"new_object\":$([ $tpoint = NEW ] && echo true || echo false)}"
        done
        echo '{"tpoint":"BDEV_IO_START","id":100,"owner_type":"b","object_type":"i","new_object":true,"args":[{"name":"type","type":"int","size":8},{"name":"ctx","type":"ptr","size":8},{"name":"offset","type":"int","size":8},{"name":"qd","type":"int","size":4}],"related":[{"arg":"ctx","object_type":"r"}]}'
        echo '{"tpoint":"BDEV_IO_DONE","id":101,"owner_type":"b","object_type":"i"}'
        sort -s -n -k 1 requests | cut -d ' ' -f 2-
    } >entries
    mktrace entries >folder/trace.bin
}

@test "the size of a pool of buffers that would have been enough" {
    few_buffers 12 256
    trace-report folder >page
    grep -x 'large buffers: 12 wanted at once at us=11.000, 2 there; some were waited for, in .* in all' page
    if grep pool_count page; then false; fi
    echo '{"method":"framework_get_config","params":{"name":"iobuf"},"result":[{"method":"iobuf_set_options","params":{"small_pool_count":64,"large_pool_count":18,"small_bufsize":8192,"large_bufsize":135168}}]}' >folder/rpc.jsonl
    equal "$(trace-report folder | grep -A 1 '^large buffers')" "$(grep '^large buffers' page)
  try: iobuf_set_options large_pool_count=28 (it is 18)"
    # small ones; and a pool that was never empty, as the target says
    few_buffers 12 8
    trace-report folder | grep -A 1 '^small buffers: 12 wanted' | grep 'small_pool_count=74 (it is 64)'
    echo '{"method":"iobuf_get_stats","result":[{"module":"nvmf_TCP","small_pool":{"retry":0},"large_pool":{"retry":3}}]}' >>folder/rpc.jsonl
    trace-report folder >page
    if grep buffers: page; then false; fi
}

@test "a request that does not end for a second hangs, and the others are explained" {
    some_slow 0
    trace-dump -q -d -O -i trace | sed 's/"tsc_rate":1000000000/"tsc_rate":10000000/' >entries
    # the second host has one request after half a second, which does not end
    trace-dump -q trace | awk '!/"t02"/ || substr($0, 8) + 0 < 5000000 || !n++' >>entries
    mktrace entries >stuck
    equal "$(trace-report -j stuck | head -n 1 | jq -c '[.cause, (.text | split("\n")[0])]')" \
        '["hang","hang: 1 of 1 requests of 10.0.0.2:5000 waits for target, for 1.50 s"]'
    trace-report stuck >page
    equal "$(sed -n 6p page)" ''
    grep -q '^nothing stands out' page
}

@test "the cause of a host says how many of its requests are slow, and their mean" {
    some_slow 2
    trace-report trace | grep -q ' of the extra time); 2 slow, mean 5.00 ms$'
}

@test "what is the same of several requests or rows is said once" {
    some_slow 3
    trace-report trace >page
    equal "$(section 'the slowest' | sed 's/^ *//; s/,.*//')" 'the slowest requests
5.00 ms
5.00 ms
5.00 ms
target 100%
waited 5.00 ms in TCP_REQ_NEW; lcore 0 silent for 5.00 ms'
    # all requests are those of one host
    some_slow 0 1
    trace-report trace >page
    grep -qx '1000 requests, mean 5.00 us' page
    grep -q '^  target  *5.00 us  *100 %$' page
    section host | grep -x '  10.0.0.1:5000  *1000  5.00 us  5.00 us  5.00 us'
}

@test "traces without anything to measure" {
    grep -v '"us":' "$DATA/common.jsonl" | mktrace -L 0 >none
    status_is 0 trace-report none
    grep -q '^The trace has no entries: was tracing enabled' <<<"$output"
    ! grep -q '^more' <<<"$output" || return 1
}

@test "what is missing in the trace is in the words of trace-dump" {
    slow_host
    { trace-dump -q -d -O -i trace | sed '/"tpoint":"BDEV_/s/}$/,"off":true}/'
        trace-dump -q trace | grep -v '"tpoint":"BDEV_'; } >entries
    mktrace entries >off
    trace-report off probes | grep -A 1 '^  missing' >page
    trace-dump -i off | jq -r '.missing[] | select(.what == "bdev") | .text, "try: \(.try)"' >want
    sed 's/^  missing *//; s/^ *//' page | diff want -
    [ -s want ]
    # it names hosts itself
    equal "$(trace-report trace probes | grep -c '^  missing')" 0
}

@test "trace lines have the page of the trace, also from standard input" {
    slow_host
    trace-dump -q trace >lines
    # what only a trace says of itself, and commands that read it
    without() {
        sed -e '1s/, SPDK .*//' -e "1s/^[^:]*:/$1:/" -e 's/trace-report [^ ]*/trace-report trace/' -e '/^more$/,$d' \
            -e 's/^\(  trace  *[0-9]* entries\).*/\1/' -e '/^  missing/,/try: /d'
    }
    trace-report trace | without x >want
    trace-report lines | without x | diff want -
    status_is 0 sh 'trace-dump -q trace | trace-report -'
    without x <<<"$output" | diff want -
    equal "$(head -n 1 <<<"$output" | cut -d : -f 1)" 'standard input'
    trace-report - <trace | without x | diff want -
    # hosts are named by the lines, or by probes
    trace-report trace probes | without x | grep -v '^  names' >want
    trace-report lines probes | without x | grep -v '^  names' | diff want -
    qpair-lifetimes probes | trace-join -j -l - lines >joined
    trace-report joined | without x | sed 's/ probes / /' | grep -v '^  names' | diff <(sed 's/ probes / /' want) -
    diff <(trace-report -j trace probes) <(trace-report -j joined)
    # commands work
    for arguments in 'lines probes' joined; do
        # shellcheck disable=SC2086 # they are words
        trace-report $arguments | sed '1,/^more$/d' | grep -v perfetto >commands
        bash -e commands >printed
        grep -q 'backup-1/1.*TCP_REQ_COMPLETED' printed
    done
    # pictures over time, too
    trace-report --html of-trace.html trace probes >page
    trace-report --html of-lines.html joined >page
    equal "$(grep -c '<svg' of-lines.html)" "$(grep -c '<svg' of-trace.html)"
    # not in a folder
    mkdir folder
    cp lines folder/trace.bin
    fails_only 'trace-report: folder/trace.bin: trace lines, not an SPDK trace file' trace-report folder
    # some are malformed
    sed '7s/,"us"/"us"/' lines >damaged
    fails 'trace-report: damaged:7: not a trace line, left out: ' trace-report damaged
    grep -q '^recorded$' <<<"$output"
}

@test "what is no trace has a message, and no page" {
    : >empty
    head -c 100000 /dev/urandom >garbage
    for file in empty garbage missing /bin/ls; do
        status_is 1 trace-report "$file"
        [[ $stderr == "trace-report: $file: "* ]]
        equal "$output" ''
        equal "$(wc -l <<<"$stderr")" 1
    done
}

@test "operands that are something else" {
    slow_host
    gzip -k trace probes
    # what it says can be typed
    fails_only 'trace-report: probes: probe lines, not a trace; try: trace-report trace probes' trace-report probes trace
    fails 'probe lines, not a trace; try: trace-report TRACE probes' trace-report probes
    diff <(trace-report trace probes) <(trace-report trace.gz probes | sed 's/trace\.gz/trace/')
    { printf BZh9; cat trace; } >trace.bz2
    status_is 1 trace-report trace.bz2
    equal "$stderr" 'trace-report: trace.bz2: compressed by bzip2, not an SPDK trace file; try: bzip2 -dc trace.bz2 >trace; trace-report trace'
    status_is 1 trace-report trace probes.gz
    equal "$stderr" 'trace-report: probes.gz: compressed by gzip, not probe lines; try: gzip -dc probes.gz >probes; trace-report TRACE probes'
    status_is 1 trace-report trace /etc/passwd
    equal "$stderr" 'trace-report: /etc/passwd: no probe lines, as usdt-record writes them; try: trace-report TRACE'
    equal "$output" ''
    fails_only 'trace-report: .: a directory, not probe lines' trace-report trace .
    trace-report --html page.html trace >page
    status_is 1 trace-report page.html
    equal "$stderr" 'trace-report: page.html: a page for a browser, not trace lines; try: the recording that it is about'
    # one that is not there is an error, and the trace has its page
    fails_only 'trace-report: nowhere: No such file or directory' trace-report trace nowhere
    sed '/^unreadable: nowhere: /d; s/^  names .*/  names      none, but addresses: usdt-record(1) records those of hosts/' <<<"$output" | diff page -
}

@test "probe lines of a folder that are none are said" {
    recording
    cp /etc/passwd folder/usdt.txt
    fails_only 'trace-report: folder/usdt.txt: no probe lines, as usdt-record writes them' trace-report folder
    grep -qx 'unreadable: usdt.txt: no probe lines, as usdt-record writes them' <<<"$output"
    grep -qx '  names      none, but addresses: what has those of hosts could not be read' <<<"$output"
    # those of a target that did nothing are some
    grep ^clock: "$DATA/slow-host-probes.txt" >folder/usdt.txt
    status_is 0 trace-report folder
}

@test "a pipe is refused, since the commands on the page read the trace again" {
    slow_host
    mkfifo pipe
    status_is 1 timeout 60 trace-report pipe
    says 'trace-report: pipe: not a regular file: the commands on the page read it again; save it to a file first, or try: trace-report - <FILE'
    # probes are read once, also by the name of a pipe, whose writer must not lose its reader
    mkfifo named
    cat probes >named &
    status_is 0 timeout 60 trace-report trace named
    wait $!
    [[ $output == *'held by backup-1'* ]]
    status_is 0 sh 'trace-report trace <(cat probes)'
    [[ $output == *'held by backup-1'* ]]
}

@test "a terminal shows the progress of one tool" {
    needs_terminal
    slow_host
    trace-dump -q -d -O -i trace >entries
    trace-dump -q trace | sed 's/"args":/"size":7,&/' >>entries
    mktrace -R 100 entries >long
    script -qec 'trace-report long probes' /dev/null </dev/null >said
    grep -q '^recorded' said
    ! grep -aE 'trace-(join|spans|causes|latency): ' said || return 1
}

@test "of a wait with very many entries, it says of how many whom they were for is known" {
    {
        connections 0
        printf '%s\n' '{"tpoint":"POLL","id":90,"owner_type":"t","new_object":false}' \
            '{"tsc":1000,"us":0.000,"lcore":0,"tpoint":"TCP_REQ_NEW","poller":"t1","object":{"id":"r0","value":"0x10"}}'
        awk 'BEGIN { for (i = 1; i <= 80000; i++)
            printf "{\"tsc\":%d,\"us\":%d.000,\"lcore\":0,\"tpoint\":\"POLL\",\"poller\":\"t2\"}\n", 1000 + i * 1000, i }'
        echo '{"tsc":80002000,"us":80001.000,"lcore":0,"tpoint":"TCP_REQ_COMPLETED","poller":"t1","object":{"id":"r0","us":80001.000,"value":"0x10"}}'
    } >lines
    mktrace lines >trace
    trace-report trace >page
    grep -q 'lcore 0: 65534 of the latest 65534 entries of t02$' page
}

@test "one tracepoint that has overwritten the others is said" {
    slow_host
    if trace-report trace | grep overwritten; then false; fi
    trace-dump -q -d -O -i trace >entries
    trace-dump -q trace >>entries
    local last
    last=$(tail -n 1 entries | jq .tsc)
    for i in $(seq 4000); do
        echo "{\"tsc\":$((last + 100 * i)),\"lcore\":0,\"tpoint\":\"TCP_QP_STATE_CHANGE\",\"args\":{\"state\":1}}"
    done >>entries
    mktrace -n 4200 entries >flood
    local mask
    mask=$(printf '0x%x' $((1 << $(jq 'select(.tpoint == "TCP_QP_STATE_CHANGE" and has("id")).id' entries) % 64)))
    equal "$(trace-report flood | sed -n 2,3p)" "96 % of the entries are TCP_QP_STATE_CHANGE: they have overwritten what was before
  try: rpc.py trace_clear_tpoint_mask nvmf_tcp $mask"
    trace-dump -i flood | jq -r '.missing[].try' | grep -x "rpc.py trace_clear_tpoint_mask nvmf_tcp $mask"
}

@test "a damaged trace has its page, and what is wrong" {
    slow_host
    head -c -60000 trace >damaged
    fails 'trace-report: damaged: is cut off' trace-report damaged
    equal "$(grep -c 'is cut off' <<<"$stderr")" 1
    sed -n 2p <<<"$output" | grep -qx 'damaged: cut off'
    grep -q '^recorded$' <<<"$output"
}

@test "an output that cannot be written" {
    slow_host
    fails 'trace-report: <stdout>: No space left on device' sh 'trace-report trace probes >/dev/full'
    # a reader that has seen enough
    sh 'trace-report trace probes | head -n 1 >first; exit "${PIPESTATUS[1]}"'
    [ -s first ]
}

@test "paths and names cannot imitate anything" {
    slow_host
    local folder="a; rm \$(x)"
    mkdir "$folder"
    cp trace "$folder/trace.bin"
    sed 's/backup-1/b\\n\\x1b[2J/' probes >"$folder/usdt.txt"
    status_is 0 trace-report "$folder"
    grep -qx "  cd '$folder'" <<<"$output"
    ! grep -q $'\x1b' <<<"$output" || return 1
    grep -q 'held by b\\x0a\\x1b\[2J (27 % of the time)' <<<"$output"
}

@test "commands on the page work with any path" {
    slow_host
    local path
    for path in "it's" 'two  words' $'line\nfeed' $'\'"$x\\x41\x1b\xff' '~' -- -v; do
        mkdir "./$path"
        cp trace "./$path/trace.bin"
        cp probes "./$path/usdt.txt"
        status_is 0 trace-report -- "$path"
        ! grep -q $'\x1b' <<<"$output" || return 1
        # of the slowest request
        sed '1,/^more$/d' <<<"$output" | grep -v perfetto >commands
        bash -e commands >printed
        grep -q 'backup-1/1.*TCP_REQ_COMPLETED' printed
        # a trace and probe lines by their paths, which are quoted alike
        [[ $path = [-\'\~]* ]] || continue
        cp trace "./$path.trace"
        cp probes "./$path.probes"
        trace-report -- "$path.trace" "$path.probes" | sed '1,/^more$/d' | grep -v perfetto >commands
        bash -e commands >printed
        grep -q 'backup-1/1.*TCP_REQ_COMPLETED' printed
    done
}

@test "--html writes the page with pictures" {
    slow_host
    status_is 0 trace-report --html page.html trace probes
    trace-report trace probes | diff - <(printf '%s\n' "$output")
    # the text is that of the page
    sed -n '/^<pre>$/,/^<\/pre>/{ //d; p; }' page.html | sed 's/&lt;/</g; s/&gt;/>/g; s/&#39;/'"'"'/g; s/&quot;/"/g; s/&amp;/\&/g' |
        diff - <(trace-report trace probes)
    # it needs nothing else
    ! grep -E '<(script|link|img|iframe|object)|(href|src| on[a-z]*)=|url\(|@import' page.html || return 1
    # all requests that started and ended in the trace are in the heat map, with their lives
    qpair-lifetimes probes >lifetimes
    trace-dump trace | trace-join -j -l lifetimes | trace-spans -j >spans
    equal "$(sed -n 's/.*class="heat".*<title>.* to .*: \([0-9]*\)<.*/\1/p' page.html | awk '{ n += $1 } END { print n }')" \
        "$(grep -v -e '"open"' -e '"cut"' spans | grep -vc '"admin":true')"
    # each host has a strip; a third of its bars are of the layer with most of the time
    for host in backup-1 db-1 db-2; do grep -q "<text x=\"64\" y=\"11\">$host</text>" page.html; done
    grep -q ': count [0-9]*, mean [0-9.]* [um]s, [0-9]*% buffer</title>' page.html
    grep -q '<title>backup-1/1: [0-9]* of [0-9]*</title>' page.html
    # pictures without requests are left out
    grep -v '"us":' "$DATA/common.jsonl" | mktrace -L 0 >none
    status_is 0 trace-report --html none.html none
    # a page is written over a page only, never over a recording
    status_is 0 trace-report --html none.html none
    cp trace before
    for file in trace probes; do
        status_is 2 trace-report --html $file trace probes
        says "trace-report: --html '$file': this file is there and is not a page; give another name, or remove it"
    done
    ln -s trace link
    status_is 2 trace-report --html link trace
    cmp trace before
    equal "$(grep -c '<svg' none.html)" 0
    fails 'trace-report: missing/page.html: No such file or directory' trace-report --html missing/page.html trace
    grep -q '^recorded$' <<<"$output"
    fails 'trace-report: /dev/full: No space left on device' trace-report --html /dev/full trace
}

@test "a trace whose entries are of one moment has its page and pictures" {
    slow_host
    { trace-dump -q -d -O -i trace; trace-dump -q trace | sed 's/"tsc":[0-9]*/"tsc":111771768876483/'; } | mktrace -o moment -
    status_is 0 trace-report --html page.html moment
    grep -q '^  >*0 ns, us=0.000: ' <<<"$output"
    grep -q '<svg' page.html
    ! grep -o '="-*\(nan\|inf\)' page.html || return 1
}

@test "names are text in HTML" {
    slow_host
    sed "s/backup-1/<script>document.title='bad'<\/script>\&amp;/" probes >others
    mkdir '<b>bold'
    mv trace '<b>bold/trace.bin'
    mv others '<b>bold/usdt.txt'
    trace-report --html page.html '<b>bold' >text
    grep -qF "held by <script>document.title=" text
    ! grep -i -e '<script' -e '<b>' page.html || return 1
    grep -qF '<title>&lt;b&gt;bold</title>' page.html
    grep -qF '&lt;script&gt;document.title=&#39;bad&#39;' page.html
    grep -qF '&amp;amp;' page.html
}

# bats test_tags=any-kernel
@test "a browser shows the pictures" {
    slow_host
    local browser
    browser=$(command -v chromium) || skip 'chromium is not here'
    sed "s/backup-1/<script>document.title='bad'<\/script>/" probes >others
    trace-report --html page.html trace others >text
    browse() {
        timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --virtual-time-budget=1000 "$@" \
            "file://$PWD/page.html" 2>said
    }
    browse --dump-dom >dom || skip "chromium does not run here: $(tail -n 1 said)"
    grep -q '<title>trace</title>' dom
    equal "$(grep -c '<svg' dom)" "$(grep -c '<svg' page.html)"
    ! grep -i '<script' dom || return 1
    browse --screenshot=shot.png
    [ "$(stat -c %s shot.png)" -gt 20000 ]
}

# bats test_tags=plain
@test "root reads as nobody else, without capabilities" {
    [ "$(id -u)" = 0 ] || skip 'only for root'
    ! has_sanitizers || not_for_this_build 'a checker of leaks needs more system calls'
    slow_host
    chmod 600 trace
    mkfifo named
    # the page of HTML is root's, and what it replaces, too
    umask 077
    echo '<!DOCTYPE html>' >page.html
    trace-report --html page.html trace named >page &
    exec 9>named
    wait_for grep -q '^Seccomp:.*2$' "/proc/$!/status"
    awk -v first=$((0x7f800000)) '/^[UG]id:/ { bad += $2 < first || $3 != $2 || $4 != $2 } /^Cap(Prm|Eff):/ { bad += $2 !~ /^0*$/ }
        /^NoNewPrivs:/ { bad += $2 != 1 } END { exit bad }' "/proc/$!/status"
    cat probes >&9
    exec 9>&-
    wait $!
    grep -q 'held by backup-1' page
    head -n 1 page.html | grep -x '<!DOCTYPE html>'
    equal "$(stat -c '%u %a' page.html)" '0 600'
}

@test "the trace of a process" {
    slow_host
    cp trace "$BATS_TEST_TMPDIR/nvmf_trace.pid1"
    local name
    sleep 30 &
    name=/dev/shm/nvmf_trace.pid$!
    kill $!
    wait $! || true
    [ -w /dev/shm ] || lacks 'no /dev/shm to write to'
    cp trace "$name"
    status_is 0 trace-report -p "${name##*pid}" probes
    rm "$name"
    [[ $output == "process ${name##*pid}: 37.3 ms, 3950 entries"*'held by backup-1'*"trace-dump -p ${name##*pid} | "* ]]
    status_is 1 trace-report -p "${name##*pid}"
    says "trace-report: no trace of process ${name##*pid}: it is not running, and there is no /dev/shm/"
}

@test "the traces of several processes" {
    local pid pids=()
    [ -w /dev/shm ] || lacks 'no /dev/shm to write to'
    for side in initiator initiator-target; do
        sleep 30 &
        pid=$!
        kill $pid
        wait $pid || true
        gzip -dc "$DATA/$side.trace.gz" >"/dev/shm/${side}_trace.pid$pid"
        pids+=("$pid")
    done
    status_is 0 trace-report -p "${pids[0]}" -p "${pids[1]}"
    rm /dev/shm/initiator_trace.pid"${pids[0]}" /dev/shm/initiator-target_trace.pid"${pids[1]}"
    grep -q "^cause: bdev Slow of initiator-target.${pids[1]}, leg Nvme0n1 of initiator.${pids[0]}, " <<<"$output"
    grep -qx "see: trace-report -p ${pids[1]}" <<<"$output"
    status_is 1 trace-report -p "${pids[0]}" -p "${pids[1]}"
    says "trace-report: no trace of process ${pids[0]}: it is not running, and there is no /dev/shm/"
}

@test "folders of several processes: side, hop and leg are named first" {
    for side in initiator initiator-target; do
        mkdir $side
        gzip -dc "$DATA/$side.trace.gz" >$side/trace.bin
    done
    status_is 0 trace-report host=initiator target=initiator-target
    equal "$(head -n 1 <<<"$output" | sed 's/ [0-9]* %/ N %/')" \
        'cause: bdev Slow of target, leg Nvme0n1 of host, N % of what the slow requests take longer'
    grep -q '^37 of 37 NVMe/TCP commands of these processes are known as requests' <<<"$output"
    grep -qx 'see: trace-report initiator-target' <<<"$output"
    # as trace-record makes them, in one folder
    mkdir both
    mv initiator both/host.12
    mv initiator-target both/target.34
    status_is 3 trace-report --fail both
    grep -q '^cause: bdev Slow of target.34, leg Nvme0n1 of host.12' <<<"$output"
    # the reactor of the target was off its CPU when a late I/O completed
    trace-dump -q both/target.34/trace.bin | jq -c 'select(.tpoint == "BDEV_IO_DONE" and .object.us > 500) | {tsc: (.tsc - 100), us, lcore,
        tpoint: "OFF_CPU", args: {comm: "reactor_\(.lcore)", tid: 7, pid: 7, begin: (.tsc - 2000000), duration: 1.0, why: "preempted"}}' \
        >both/target.34/offcpu.jsonl
    status_is 0 trace-report both
    grep -q ' reactor of target.34: preempted, leg Nvme0n1 of host.12$' <<<"$output"
    # one in interrupt mode slept, and had a CPU at once
    sed -i 's/"why":"preempted"/"why":"blocked","syscall":"epoll_wait","queued":0.000/' both/target.34/offcpu.jsonl
    status_is 0 trace-report both
    if grep ' reactor of target.34' <<<"$output"; then false; fi
    status_is 2 trace-report -j both
    says 'trace-report: of several processes, only the page is printed; give one of them'
    status_is 2 trace-report x=both/host.12 x=both/target.34
    says "trace-report: two processes are called 'x': NAME=FOLDER gives another name"
    # the first equals sign of a path is no name's
    mkdir x=y
    cp -r both/* x=y
    status_is 0 trace-report x=y
    grep -q '^cause: bdev Slow of target.34, leg Nvme0n1 of host.12' <<<"$output"
    mkdir one
    mv both/host.12 one
    status_is 1 trace-report one
    # a target that waits for data waits for the process that sent the command, and for the wire
    mkdir i t
    awk -v n=300 -v side=i -f "$ROOT/tests/crossing.awk" >i/trace.bin
    awk -v n=300 -v side=t -f "$ROOT/tests/crossing.awk" | jq -c 'if .tpoint == "TCP_REQ_NEW" then
            ., (.tpoint = "TCP_REQ_TX_H_TO_C" | .object.us = 0.1 | .us += 0.1 | .tsc += 100)
        elif .tpoint == "BDEV_IO_START" then .us += 40 | .tsc += 40000 else . end' | jq -s -c 'sort_by(.us)[]' >t/trace.bin
    status_is 0 trace-report i t
    equal "$(head -n 1 <<<"$output" | sed 's/ [0-9]* %/ N %/')" \
        'nothing stands out: most is in network between i and t, N % of the time of all requests'
}

@test "what lcores did, and what the one with the longest silence waited for" {
    mkdir folder
    connections 2 >lines
    while read -r us lcore tpoint owner value; do
        echo "{\"tsc\":${us}000,\"lcore\":$lcore,\"tpoint\":\"$tpoint\",\"poller\":\"$owner\",\"object\":{\"value\":\"$value\"}}"
    done >>lines <<'L'
1000 0 TCP_REQ_NEW t1 0x10
1001 1 TCP_REQ_NEW t2 0x20
1002 1 TCP_REQ_COMPLETED t2 0x20
1050 0 TCP_REQ_COMPLETED t1 0x10
1095 0 TCP_REQ_NEW t1 0x10
1895 0 TCP_REQ_COMPLETED t1 0x10
2000 0 TCP_REQ_NEW t1 0x10
L
    mktrace lines >folder/trace.bin
    while read -r end reactor duration more; do
        echo "{\"tsc\":${end}000,\"us\":0.000,\"lcore\":3,\"tpoint\":\"OFF_CPU\",\"args\":{\"comm\":\"reactor_$reactor\",\"tid\":7,\"pid\":7,\"begin\":$((end - duration))000,\"duration\":$duration.000,$more}}"
    done >folder/offcpu.jsonl <<'L'
1890 0 770 "why":"preempted","by":"xz","by_pid":77
1900 7 1 "why":"blocked"
L
    # 95 of 1000 us of lcore 0 are between entries that are at most 100 us apart
    trace-report -q folder | sed -n '/^lcore/,/^$/p' | diff - <(cat <<'L'
lcore     entries active%      iops  silence  connections
  0             5     9.5    2000.0   800 us  10.0.0.1:5000/1
        longest silence: preempted by xz (77), 96% of it
  1             2     0.2    1000.0   998 us  10.0.0.2:5000/1
  7             0     0.0       0.0  1.00 ms

L
    )
}

@test "what an lcore does for another thread of SPDK is found by the time that the target says of it" {
    mkdir folder
    # a request each millisecond, which takes 10 us; then none for 20 ms, and the 20 of that time at once
    awk 'BEGIN {
        n = split("TCP_REQ_NEW TCP_REQ_RDY_TO_EXECUTE TCP_REQ_EXECUTING TCP_REQ_EXECUTED TCP_REQ_TRANSFER_C2H TCP_REQ_COMPLETED", states, " ")
        printf "{\"layout\":\"any\",\"tsc_rate\":1000000000}\n"
        for (k = 1; k <= n; k++)
            printf "{\"tpoint\":\"%s\",\"id\":%d,\"owner_type\":\"t\",\"object_type\":\"r\",\"new_object\":%s}\n",
                states[k], 15 + k, k == 1 ? "true" : "false"
        for (i = 0; i < 60; i++) {
            at = i < 40 ? 1000 * i : 60000 + 0.4 * (i - 40)
            for (k = 1; k <= n; k++)
                printf "{\"tsc\":%d,\"us\":0.000,\"lcore\":0,\"tpoint\":\"%s\",\"poller\":\"t256\",\"object\":{\"id\":\"r%d\",\"value\":\"0x%x\"}}\n",
                    (at + 2 * k) * 1000, states[k], i, i + 1
        }
    }' | awk '{ tsc = /^{"tsc"/ ? substr($0, 8) + 0 : 0; print tsc "\t" $0 }' | sort -s -n -k 1,1 | cut -f 2- >lines
    mktrace -l G6 -n 1024 lines >folder/trace.bin
    said() { # BUSY_MS [THREAD_OF_THE_CONNECTION]
        jq -nc '{method: "nvmf_subsystem_get_qpairs", result: [{qid: 1, thread: "'"${2:-group_0}"'"}]},
            {method: "framework_get_reactors", result: {reactors: [{lcore: 0, lw_threads: [{name: "app_thread"}, {name: "group_0"}]}]}},
            ((0, 1) | {method: "thread_get_stats", begin: (. * 1e8), result: {tick_rate: 1000000000, threads:
                [{name: "app_thread", busy: (. * '"$1"' * 1e6)}, {name: "group_0", busy: (. * 2e6)}]}})' >folder/rpc.jsonl
        trace-report folder >page
        sed -n '3s/ ([0-9]* %.*//p' page
    }
    equal "$(said 21)" 'cause: the lcore was busy with app_thread'
    grep -q 'waited .* to be read; the lcore worked for app_thread' page
    # that was busy for less than the silence, or serves a connection itself
    [[ $(said 19) != *app_thread* ]]
    [[ $(said 21 app_thread) != *app_thread* ]]
    # without the burst, hosts had nothing to ask
    grep -v '"r5[0-9]"\|"r4[1-9]"' lines >few
    mktrace -l G6 -n 1024 few >folder/trace.bin
    [[ $(said 21) != *app_thread* ]]
}

@test "an lcore is as busy as the target counts, and a full one is a cause" {
    recording
    local lcore us
    lcore=$(trace-report folder | awk '/^lcore/ { getline; print $1 }')
    counted() { # BUSY_PERCENT
        jq -nc '(0, 1) | {method: "framework_get_reactors",
            result: {reactors: [{lcore: '"$lcore"', busy: (1000 + . * '"$1"'), idle: (1000 + . * (100 - '"$1"'))}]}}' >folder/rpc.jsonl
        trace-report folder >page
        awk '/^lcore/ { getline; print $3 }' page
    }
    equal "$(counted 89)" 89.0
    [ "$(grep -c 'is full' page)" = 0 ]
    equal "$(counted 91)" 91.0
    grep -q "^also: lcore $lcore is full, mostly by .*: it was busy for 91 % of the time$" page
    trace-report -j folder | jq -se 'map(select(.cause == "lcore")) | length == 1 and .[0].busy == 0.91'
    # and a cause where no other one is found
    us=$(trace-spans -q -j folder/trace.bin | jq -r 'select(.layers.bdev > 0.95 * .life and (.open | not)).us' | head -n 1)
    trace-report -k "us=$us" folder | grep -q "^cause: lcore $lcore is full, mostly by "
    equal "$(trace-report -j -k "us=$us" folder | head -n 1 | jq -r .cause)" lcore
}
