#!/usr/bin/env bats
# bats file_tags=sanitizers

load helpers

# Writes the file trace from the lines on standard input, with two tracepoints defined.
trace() {
    {
        echo '{"layout":"any","tsc_rate":1000000000}'
        echo '{"tpoint":"NEW","id":64,"owner_type":"t","object_type":"r","new_object":true}'
        echo '{"tpoint":"USE","id":65,"owner_type":"t","object_type":"r","args":[{"name":"i","type":"int","size":8}]}'
        echo '{"tpoint":"TEXT","id":66,"args":[{"name":"i","type":"int","size":8},{"name":"s","type":"str","size":40},{"name":"j","type":"int","size":8}]}'
        cat
    } >lines
    mktrace "$@" lines >trace
}

new() { # TSC LCORE VALUE
    printf '{"tsc":%d,"lcore":%d,"tpoint":"NEW","poller":"t05","object":{"value":"%#x"}}\n' "$@"
}

use() { # TSC LCORE VALUE ARG
    printf '{"tsc":%u,"lcore":%d,"tpoint":"USE","poller":"t05","object":{"value":"%#x"},"args":{"i":%d}}\n' "$@"
}

text() { # TSC LCORE NUMBER
    printf '{"tsc":%d,"lcore":%d,"tpoint":"TEXT","args":{"i":%d,"s":"a text of some length","j":9}%s}\n' "$1" "$2" "$3" "${4:-}"
}

@test "entries are in the order of ticks, then of lcores, then of the ring" {
    for layout in $LAYOUTS; do
        {
            use 500 3 1 1
            use 100 7 1 2
            use 100 2 1 3
            use 100 2 1 4
            use 90 2 1 5 # late: its ticks are older than those of the slot before
            use 100 2 1 6
            use 600 2 1 7
        } | trace -l "$layout"
        equal "$(trace-dump trace | jq -r .args.i | tr '\n' ' ')" '5 3 4 6 2 1 7 '
    done
}

@test "equal ticks of one lcore are all printed" {
    for i in $(seq 1 100); do
        text 77 0 "$i"
    done | trace
    equal "$(trace-dump trace | jq .args.i | tr '\n' ' ')" "$(seq -s ' ' 1 100) "
}

@test "a wrapped ring keeps its newest entries, and the oldest torn one is left out" {
    # records of 4 slots in rings of 32: the last 8 are whole; a ring for each number of entries
    local numbers=(8 9 20 40)
    for layout in $LAYOUTS; do
        for lcore in 0 1 2 3; do
            for i in $(seq 1 "${numbers[lcore]}"); do
                text $((1000 + i)) $lcore "$i"
            done
        done | trace -l "$layout" -n 32
        # all of them, however far back the other rings reach
        trace-dump -a trace | jq -r '"\(.lcore) \(.args.i)"' | sort -s -n -k 1,1 >got
        for lcore in 0 1 2 3; do
            seq -f "$lcore %.0f" $((numbers[lcore] - 7)) "${numbers[lcore]}"
        done | diff - got
    done
}

@test "what was overwritten while a copy was taken is marked torn, and keeps what is intact" {
    for layout in $LAYOUTS; do
        { text 10 0 1; text 20 0 2 ',"torn":true'; text 30 0 3; } | trace -l "$layout"
        status_is 0 trace-dump trace
        equal "$(sed -n 2p <<<"$output")" '{"tsc":20,"us":0.010,"lcore":0,"tpoint":"TEXT","args":{"i":2},"torn":true}'
        equal "$(wc -l <<<"$output")" 3
        says 'trace-dump: trace: 1 entry is torn'
        succeeds trace-dump -q trace
    done
}

# A ring of 256 slots as it was copied: from each number to the next one, which are ticks as well. Each 10th but those at
# the ends has ticks that were read before the entries before it were written.
copied() { # LCORE FROM-TO...
    local lcore=$1
    shift
    for range in "$@"; do
        for i in $(seq "${range%-*}" "${range#*-}"); do
            use "$((i % 10 || i == ${range%-*} || i == ${range#*-} ? i : i - 4))" "$lcore" 1 "$i"
        done
    done
}

# Of lines on standard input, the ticks of those of each lcore before which entries are missing.
lost() {
    jq -r 'select(.lost) | "\(.lcore) \(.tsc)"' | sort -s -n -k 1,1 |
        awk 'NR == 1 || $1 != lcore { lcore = $1; printf "%s%s:", (NR > 1 ? "; " : ""), lcore } { printf " %s", $2 }'
}

@test "what the application wrote faster than it was copied is reported" {
    # at slot 100 the copying met the application, which was at slot 150 soon after, and then fell behind
    copied 0 512-611 356-405 662-711 456-511 >behind
    {
        # it was ahead until the end of the ring
        copied 0 512-611 356-405 662-767
        # it went round the ring meanwhile
        copied 1 512-611 356-385 898-977 722-767
        # twice
        copied 2 512-611 356-405 662-731 476-485 742-767
        # the first round
        copied 3 1-100
        for i in $(seq 150); do use 0 3 1 0; done
        use 251 3 1 251
    } >others
    for layout in $LAYOUTS; do
        trace -l "$layout" -n 256 <behind
        status_is 0 trace-dump trace
        equal "$(jq .args.i <<<"$output" | sort -n | tr '\n' ' ')" "$(seq -s ' ' 356 405) $(seq -s ' ' 456 611) $(seq -s ' ' 662 711) "
        equal "$(lost <<<"$output")" '0: 456 662'
        equal "$(grep -c '"i":456},"lost":true}$' <<<"$output")" 1
        says 'trace-dump: trace: lcore 0: entries are missing between 0.049 and 0.100 us: the application wrote faster than the file was copied; try: trace-dump -p PID
trace-dump: trace: lcore 0: entries are missing between 0.255 and 0.306 us'
        equal "$(trace-dump -q -i trace |
            jq -r '(.lcores[0].gaps, .damage | tojson), .gaps, (.missing[] | select(.what == "lost") | .text, .try)')" \
            '[{"from":405,"to":456},{"from":611,"to":662}]
[]
2
entries are missing in 2 places: written faster than copied
trace-dump -p PID, or -F --record'
        trace -l "$layout" -n 256 <others
        status_is 0 trace-dump -a trace
        equal "$(lost <<<"$output")" '0: 512 662; 1: 512 722 898; 2: 476 512 662 742; 3: 251'
        says 'lcore 3: entries are missing between 0.099 and 0.250 us'
    done
}

@test "the first line after missing entries says so, whichever are printed" {
    copied 0 512-611 356-405 662-711 456-511 | trace -l G5 -n 256
    status_is 0 trace-dump -q --since 0.102 trace
    equal "$(lost <<<"$output")" '0: 458 662'
    equal "$(trace-dump -q --until 0.306 trace | tail -n 1 | jq .lost)" true
    { cat lines; new 300 1 1; new 663 1 1; } >all
    mktrace -n 256 all >trace
    status_is 0 trace-dump -q -t USE trace
    equal "$(lost <<<"$output")" '0: 456 662'
}

@test "nothing is missing in other rings" {
    {
        lcore=0
        for range in 1-100 1-255 1-256 1-257 1-356 1-700; do
            copied $((lcore++)) $range
        done
        copied $lcore 512-611 356-511
    } >entries
    for layout in $LAYOUTS; do
        trace -l "$layout" -n 256 <entries
        status_is 0 trace-dump -a trace
        equal "$(grep -c lost <<<"$output")" 0
        equal "$stderr" ''
        equal "$(trace-dump -i trace | jq -c '[.gaps, .lcores[].gaps]')" '[0,null,null,null,null,null,null,null]'
    done
    # each round has older ticks than the one before
    mktrace -R 200 "$DATA/common.jsonl" >trace
    succeeds trace-dump -i trace
    equal "$(jq -c '[.gaps, .lcores[].gaps] | unique' <<<"$output")" '[null,0]'
}

@test "entries from before the time that all full rings reach back to are left out and counted" {
    for layout in $LAYOUTS; do
        {
            for i in $(seq 1 40); do use $((1000 + i)) 0 1 "$i"; done
            new 900 1 2
            use 950 1 2 100
            use 1033 1 2 101
        } | trace -l "$layout" -n 16
        status_is 0 trace-dump trace
        # lcore 0 has lost all before 1025; the object of lcore 1 is known all the same
        equal "$(jq .tsc <<<"$output" | tr '\n' ' ')" "$(seq -s ' ' 1025 1033) $(seq -s ' ' 1033 1040) "
        equal "$(grep '"i":101' <<<"$output")" '{"tsc":1033,"us":0.008,"lcore":1,"tpoint":"USE","poller":"t05","object":{"id":"r0","us":0.133,"value":"0x2"},"args":{"i":101}}'
        says 'trace-dump: trace: left out 2 entries from before the time'
        equal "$(trace-dump -a trace | wc -l)" 19
        equal "$(trace-dump -a trace | head -n 1 | plain | jq -c '[.tsc, .us]')" '[900,0]'
    done
}

@test "nothing is left out where no ring is full" {
    { use 10 0 1 1; use 5000 1 1 2; } | trace
    equal "$(trace-dump trace 2>&1 | wc -l)" 2
}

@test "entries from before trace_clear are left out, and do not count as objects" {
    { new 100 0 1; new 200 0 2; use 300 0 1 0; } | trace -c 150
    status_is 0 trace-dump trace
    equal "$(jq -r .object.id <<<"$output" | tr '\n' ' ')" 'r0 n/a '
    says 'left out 1 entry from before the trace was cleared'
    equal "$(trace-dump -a trace | jq -r .object.id | tr '\n' ' ')" 'r0 r1 r0 '
}

@test "times are exact for every number of ticks" {
    # rate, ticks, and what Python prints for '%.3f' % (ticks * 10**6 / rate); exact halves go to the even digit
    cut -d ' ' -f 1 "$DATA/times.txt" | sort -u >rates
    while read -r rate; do
        grep "^$rate " "$DATA/times.txt" | sort -n -k 2,2 >cases
        { use 1 0 1 1; while read -r _ ticks _; do use $((1 + ticks)) 0 1 2; done <cases; } | trace -r "$rate"
        trace-dump trace | sed -n '2,$s/.*"us":\([0-9.]*\),"lcore.*/\1/p' | diff <(cut -d ' ' -f 3 cases) -
    done <rates
    [ -s rates ]
}

@test "64-bit values are exact" {
    printf '%s\n' '{"tsc":18446744073709551614,"lcore":0,"tpoint":"USE","object":{"value":"0xffffffffffffffff"},"args":{"i":18446744073709551615}}' | trace
    equal "$(trace-dump trace)" '{"tsc":18446744073709551614,"us":0.000,"lcore":0,"tpoint":"USE","object":{"id":"n/a","value":"0xffffffffffffffff"},"args":{"i":18446744073709551615}}'
}

@test "an entry without a definition is printed by its number" {
    printf '%s\n' '{"tsc":5,"lcore":0,"tpoint":"#100","args":{}}' '{"tsc":6,"lcore":0,"tpoint":"#9999","args":{}}' | trace
    status_is 0 trace-dump trace
    equal "$(jq -r .tpoint <<<"$output" | tr '\n' ' ')" '#100 #9999 '
    says '2 entries are of tracepoints without a definition'
    equal "$(trace-dump -q -t '#99*' trace | jq -r .tpoint)" '#9999'
}

@test "-t chooses lines and changes none" {
    mktrace "$DATA/common.jsonl" >trace
    trace-dump trace >all
    trace-dump -t 'REQ_*' trace >got
    grep '"tpoint":"REQ_' all | diff - got
    trace-dump --tpoint REQ_DONE -t LAST trace >got
    grep -e REQ_DONE -e LAST all | diff - got
}

@test "what -t does not find is said" {
    mktrace "$DATA/common.jsonl" >trace
    status_is 1 trace-dump -t 'TCP_*' trace
    equal "$output" ''
    says "trace-dump: trace: no tracepoint matches 'TCP_*'"
    says 'trace-dump: trace: none of 11 entries, from 0.000 to '
    # with a part of it, there is something to print
    status_is 0 trace-dump -t 'TCP_*' -t 'REQ_*' trace
    says "trace-dump: trace: no tracepoint matches 'TCP_*'"
}

@test "-i describes the trace" {
    { for i in $(seq 1 40); do use $((1000 + i)) 0 1 "$i"; done; use 950 1 2 100; } | trace -l G5 -n 16
    equal "$(trace-dump -q -i trace)" '{"layout":"G5","releases":"v24.09 to v26.01","tsc_rate":1000000000,"us":0.015,"window_start":1025,"window_lcore":0,"entries":17,"before_window":1,"cleared":0,"torn":0,"undefined":0,"tpoints":{"USE":16},"lcores":[{"lcore":0,"entries":16,"slots":16,"used":16,"wrapped":true,"back_us":0.015},{"lcore":1,"entries":1,"slots":16,"used":1,"wrapped":false,"back_us":0.090}],"damage":[],"gaps":0,"lost":0,"groups":[{"id":1,"group":"NEW","entries":16,"tpoints":3,"off":0}],"missing":[{"what":"window","text":"the ring of lcore 0 is full: it reaches back 15 ns, others 90 ns","try":"--num-trace-entries 128, or trace-dump -F --record"},{"what":"time","text":"no time of day: entries have ticks","try":"-T while the target runs, or --clock with what usdt-record recorded"}]}'
}

# Definitions as SPDK has them, and lines of 20 requests on lcore 1 after one bdev I/O on lcore 0.
target() { # OFF...
    local tpoint
    {
        echo '{"layout":"any","tsc_rate":1000000000}'
        for tpoint in TCP_REQ_NEW:320 TCP_REQ_EXECUTING:327 TCP_REQ_TRANSFER_C2H:331 TCP_READ_DONE:335 \
            BDEV_IO_START:192 SOCK_REQ_PEND:961 SPECIAL_THING:0; do
            printf '{"tpoint":"%s","id":%d,"object_type":"r"%s}\n' "${tpoint%:*}" "${tpoint#*:}" \
                "$([[ " $* " != *" ${tpoint%:*} "* ]] || echo ',"off":true')"
        done
        cat
    }
}

requests() {
    local i
    for i in $(seq 1 20); do
        printf '{"tsc":%d,"lcore":1,"tpoint":"%s"}\n' $((2000000 + 1000 * i)) TCP_REQ_NEW \
            $((2000300 + 1000 * i)) TCP_REQ_EXECUTING $((2000600 + 1000 * i)) TCP_REQ_TRANSFER_C2H
    done
}

# The words for what is missing, without what is missing everywhere.
missing() {
    mktrace "$@" lines >trace
    trace-dump -q -i trace | jq -r '.missing[] | select(.what != "time" and .what != "names") | "\(.what): \(.try)"'
}

@test "-i says what is missing, as far as the file shows it" {
    enable='rpc.py trace_enable_tpoint_group'
    for layout in $LAYOUTS; do
        requests | target >lines
        # a group that is on and has no entries is not missing
        equal "$(missing -l "$layout")" ''
        requests | target BDEV_IO_START >lines
        equal "$(missing -l "$layout")" "bdev: $enable bdev"
        requests | target BDEV_IO_START SOCK_REQ_PEND >lines
        equal "$(missing -l "$layout")" "bdev: $enable bdev
sock: $enable sock"
        # the rest does not depend on where the masks are
        [[ $layout = G[16] ]] || continue
        # before the first request, too
        target BDEV_IO_START SOCK_REQ_PEND </dev/null >lines
        equal "$(missing -l "$layout" -L 0)" "bdev: $enable bdev
sock: $enable sock"
        # it has been on
        { printf '{"tsc":1,"lcore":0,"tpoint":"%s"}\n' BDEV_IO_START SOCK_REQ_PEND; requests; } |
            target BDEV_IO_START SOCK_REQ_PEND >lines
        equal "$(missing -l "$layout")" ''
        echo '{"tsc":1000,"lcore":0,"tpoint":"BDEV_IO_START"}' |
            target TCP_REQ_NEW TCP_REQ_EXECUTING TCP_REQ_TRANSFER_C2H >lines
        equal "$(missing -l "$layout")" "requests: $enable nvmf_tcp"
        target TCP_REQ_NEW TCP_REQ_EXECUTING TCP_REQ_TRANSFER_C2H </dev/null >lines
        equal "$(missing -l "$layout" -L 0)" "requests: $enable nvmf_tcp"
        # one that has no requests of hosts
        target BDEV_IO_START SOCK_REQ_PEND SPECIAL_THING TCP_READ_DONE </dev/null | grep -v TCP_ >lines
        equal "$(missing -l "$layout" -L 0)" "entries: $enable NAME"
        # a ring with room has lost nothing, but another one has
        { printf '{"tsc":%d,"lcore":2,"tpoint":"BDEV_IO_START"}\n' 2020000; requests; } | target >lines
        equal "$(missing -l "$layout" -n 32)" 'window: trace-dump -a, which prints the older entries of the others'
        # nor did any of a recording, whose rings are as large as they have to be
        [ "$layout" = G1 ] || equal "$(missing -l "$layout" -k record)" 'window: trace-dump -a, which prints the older entries of the others'
    done
    # names are for hosts
    echo '{"tsc":1000,"lcore":0,"tpoint":"BDEV_IO_START"}' | target | grep -v TCP_ >lines
    mktrace lines >trace
    equal "$(trace-dump -i trace | jq -r '.missing[].what')" time
    requests | target >lines
    mktrace lines >trace
    equal "$(trace-dump -i trace | jq -r '.missing[].what' | paste -sd ' ')" 'names time'
    # JSON shows what has entries only
    echo '{"tsc_rate":1000000000,"tpoints":[{"name":"TCP_REQ_NEW","id":320},{"name":"BDEV_IO_START","id":192}],"entries":[{"lcore":0,"tpoint":192,"tsc":5}]}' >json
    equal "$(trace-dump -i json | jq -r '.missing[0].text, .missing[0].try')" 'no requests of hosts
rpc.py trace_enable_tpoint_group nvmf_tcp'
    echo '{"tsc_rate":1000000000,"tpoints":[{"name":"BDEV_IO_START","id":192}],"entries":[]}' >json
    equal "$(trace-dump -i json | jq -c .missing)" '[]'
    trace-dump -i "$DATA/spdk-trace.json" | jq -e '.groups | all(has("off") | not)' >/dev/null
}

teardown() {
    rm -f /dev/shm/mktrace_trace.pid$$
}

@test "-p finds the trace of a process" {
    mktrace "$DATA/common.jsonl" >/dev/shm/mktrace_trace.pid$$
    status_is 0 trace-dump -p $$
    equal "$(wc -l <<<"$output")" 11
    status_is 2 trace-dump -p $$ trace
    rm /dev/shm/mktrace_trace.pid$$
    fails "no trace of process $$" trace-dump -p $$
    status_is 2 trace-dump -p $$ trace
}

@test "a file in shared memory is read like any other" {
    for layout in $LAYOUTS; do
        mktrace -l "$layout" "$DATA/common.jsonl" >trace
        cp trace /dev/shm/mktrace_trace.pid$$
        same_lines "trace-dump -p $$" 'trace-dump trace'
    done
}

@test "a file that becomes shorter while it is read is no crash" {
    mktrace -R 3000 "$DATA/common.jsonl" >trace
    status_is 1 sh 'trace-dump trace | { read -r _; truncate -s 2400000 trace; wc -l; }'
    says 'trace-dump: trace: was truncated while it was read'
    [ "$output" -gt 1000 ] && [ "$output" -lt 32999 ]
}

@test "a file that is cut off gives the entries that are there, and exit 1" {
    for layout in $LAYOUTS; do
        for kind in shm record; do
            mktrace -l "$layout" -k "$kind" "$DATA/common.jsonl" >whole
            trace-dump -q -a whole | sort >all.sorted
            size=$(wc -c <whole)
            # owners are behind the histories in G4 and G5: what is cut off there first loses no entry
            for cut in 1 100 $((size - 1)); do
                head -c $((size - cut)) whole >trace
                status_is 1 trace-dump -q -a trace
                # those that are whole are the file's
                [ -z "$output" ] || equal "$(grep -v '"torn":true' <<<"$output" | sort | comm -13 all.sorted -)" ''
                says 'trace-dump: trace: '
            done
        done
    done
    # a ring that is cut off says nothing about the time of the others: nothing is left out
    { use 10 0 1 1; use 5000 1 1 2; for i in $(seq 1 40); do use $((4000 + i)) 2 1 "$i"; done; } | trace -l G5
    eval "$(mktrace --places -l G5 lines)"
    head -c $((history_2 + history_size + 32 * 20)) trace >half
    status_is 1 trace-dump half
    equal "$(jq .tsc <<<"$output" | tr '\n' ' ')" "10 $(seq -s ' ' 4001 4020) 5000 "
    # lcore 0's ring is whole, lcore 3's is missing
    mktrace -l G3 "$DATA/common.jsonl" >whole
    eval "$(mktrace --places -l G3 "$DATA/common.jsonl")"
    head -c $((history_1 + 1024)) whole >trace
    status_is 1 trace-dump -q -a trace
    jq -c '[.tsc,.tpoint]' <<<"$output" >got
    grep '"lcore":0,' "$DATA/common.jsonl" | jq -c '[.tsc,.tpoint]' | diff - got
    says 'is cut off'
}

@test "an lcore whose number is damaged is read where it must be" {
    for layout in G3 G4 G5 G6; do
        mktrace -l "$layout" "$DATA/common.jsonl" >whole
        trace-dump whole >all
        eval "$(mktrace --places -l "$layout" "$DATA/common.jsonl")"
        cp whole trace
        printf '\377' | dd of=trace bs=1 seek="$history_1" conv=notrunc status=none
        fails 'the history of lcore 1 is damaged' trace-dump -q -a trace
        equal "$output" "$(cat all)"
    done
}

@test "a damaged number of slots is mended by where the next lcore begins" {
    for layout in G3 G4 G5 G6; do
        mktrace -l "$layout" "$DATA/common.jsonl" >trace
        trace-dump trace >all
        eval "$(mktrace --places -l "$layout" "$DATA/common.jsonl")"
        printf '\377\377\377' | dd of=trace bs=1 seek=$((history_0 + num_entries)) conv=notrunc status=none
        fails 'the history of lcore 1 is damaged' trace-dump trace
        equal "$output" "$(cat all)"
    done
}

@test "a damaged definition leaves the others" {
    for layout in $LAYOUTS; do
        mktrace -l "$layout" "$DATA/common.jsonl" >trace
        # a byte of the name of LAST
        at=$(grep -abo 'LAST' trace | head -n 1 | cut -d: -f1)
        printf '\001' | dd of=trace bs=1 seek="$at" conv=notrunc status=none
        fails 'the definition of tracepoint 1023 is damaged' trace-dump trace
        equal "$(jq -r .tpoint <<<"$output" | sort | uniq -c | tr -s ' ' | tr '\n' ,)" ' 2 #1023, 1 A_NAME_OF_23_CHARACTERS, 3 REQ_DONE, 3 REQ_NEW, 2 REQ_TEXT,'
    done
}

@test "the JSON of spdk_trace -j gives the same lines" {
    trace-dump "$DATA/spdk-trace.json" >dumped
    diff "$DATA/spdk-trace.jsonl" dumped
    trace-dump < <(cat "$DATA/spdk-trace.json") | cmp - dumped
}

@test "stray lines before and after the JSON are skipped" {
    { printf 'Trace Size of lcore (0): 32768\nTrace Size of lco'; cat "$DATA/spdk-trace.json"; printf 're (1): 32768\n{'; } >stray.json
    status_is 0 trace-dump stray.json
    equal "$output" "$(cat "$DATA/spdk-trace.jsonl")"
}

@test "JSON that is cut off gives the entries that are there, and exit 1" {
    head -c 1150 "$DATA/spdk-trace.json" >cut.json
    for input in cut.json '<(cat cut.json)'; do
        fails 'the document is cut off' sh "trace-dump $input"
        [ -n "$output" ]
        equal "$output" "$(head -n "$(wc -l <<<"$output")" "$DATA/spdk-trace.jsonl")"
    done
}

@test "the place of an entry that is too long is right in a pipe as well" {
    printf '{"tsc_rate":1000000,"tpoints":[{"name":"A","id":1,"args":[{"name":"s","type":2,"size":8}]}],"entries":[{"lcore":0,"tpoint":1,"tsc":1}' >start
    status_is 1 sh "{ cat start; printf ',{\"args\":[\"'; head -c 300M /dev/zero | tr '\\0' a; } | trace-dump"
    equal "$stderr" "trace-dump: <stdin>: byte $(wc -c <start), after 1 entry: an entry of more than 64 MiB"
}

@test "a second document is reported" {
    cat "$DATA/spdk-trace.json" "$DATA/spdk-trace.json" >two.json
    for input in two.json '<(cat two.json)'; do
        fails 'another document follows, which was not read: give each by itself' sh "trace-dump $input"
        equal "$output" "$(cat "$DATA/spdk-trace.jsonl")"
    done
}

@test "JSON that defines tracepoints after the entries is refused there" {
    for entry in '{"lcore":0,"tpoint":1,"tsc":5}' ''; do
        echo '{"tsc_rate":1000000,"tpoints":[{"name":"A","id":1}],"entries":['"$entry"'],"tpoints":[{"name":"B","id":60000}]}' >late.json
        status_is 1 trace-dump late.json
        equal "$(jq .tsc <<<"$output")" "${entry:+5}"
        says 'tracepoints after the entries'
    done
}

@test "a long JSON document goes through a pipe piece by piece" {
    local entry='{"lcore":0,"tpoint":64,"tsc":1,"args":[7]}'
    { printf '{"tsc_rate":1000000000,"tpoints":[{"name":"A","id":64,"new_object":false,"args":[{"name":"i","type":0,"size":8}]}],"entries":[%s' "$entry"
      awk -v entry="$entry" 'BEGIN { for (; n < 20000; n++) printf ",%s", entry }'
      printf ']}'; } >long.json
    equal "$(sh 'cat long.json | trace-dump | sort -u')" '{"tsc":1,"us":0.000,"lcore":0,"tpoint":"A","args":{"i":7}}'
    equal "$(sh 'cat long.json | trace-dump | wc -l')" 20001
    same_lines 'cat long.json | dd obs=777 status=none | trace-dump' 'trace-dump long.json'
}

@test "what is no trace is refused, with what to do" {
    head -c 300000 /dev/urandom >random
    gzip -c random >random.gz
    fails 'random.gz: not an SPDK trace file' trace-dump random.gz
    fails 'not an SPDK trace file' trace-dump random
    head -c 3000000 /dev/zero >zero
    fails 'not an SPDK trace file' trace-dump zero
    printf '{"tsc_rate":1,"tpoints":[{"name":"A","id":1}],"entries":[{"lcore":0,"tpoint":1,"tsc":1},{"lcore":0,]}' >bad.json
    fails 'trace-dump: bad.json: byte ' trace-dump bad.json
    equal "$output" '{"tsc":1,"us":0.000,"lcore":0,"tpoint":"A"}'
}

@test "an endless input that is no trace ends" {
    status_is 1 timeout 60 bash -c 'cat /dev/zero | trace-dump'
    status_is 1 timeout 60 bash -c 'cat /dev/urandom | trace-dump'
    status_is 1 timeout 60 bash -c "yes '{' | trace-dump"
}

@test "-O tells where a TCP connection has entries, and when it ended" {
    {
        echo '{"tpoint":"TCP_QP_CREATE","id":337,"owner_type":"t"}'
        echo '{"tpoint":"TCP_QP_DESTROY","id":341,"owner_type":"t"}'
        echo '{"tpoint":"OTHER","id":400,"owner_type":"t"}'
        for id in 256 257 258 259; do
            echo "{\"id\":$id,\"poller\":\"t$id\",\"tsc\":1000,\"description\":\"o\"}"
        done
        echo '{"tsc":900,"lcore":3,"tpoint":"TCP_QP_DESTROY","poller":"t256"}'
        echo '{"tsc":1001,"lcore":3,"tpoint":"TCP_QP_CREATE","poller":"t257"}'
        echo '{"tsc":1002,"lcore":1,"tpoint":"TCP_QP_CREATE","poller":"t256"}'
        echo '{"tsc":1003,"lcore":2,"tpoint":"OTHER","poller":"t258"}'
        echo '{"tsc":1004,"lcore":1,"tpoint":"TCP_QP_DESTROY","poller":"t257"}'
    } >lines
    for layout in G4 G5 G6; do
        mktrace -l "$layout" lines >trace
        trace-dump -O trace | sed 's/.*"description":"o"//' | diff - <(
            printf '%s\n' ',"lcores":[1]}' ',"lcores":[1,3],"end":1004}' '}' '}'
        )
    done
}

@test "a number that is of no owner of the tracepoint's type has no description" {
    # as of NVMe: the queue pair has number 300, and so has a TCP connection
    cat >lines <<'L'
{"tpoint":"TCP_NEW","id":64,"owner_type":"t"}
{"tpoint":"PCIE_SUBMIT","id":65,"owner_type":"q"}
{"id":300,"poller":"t300","tsc":90,"description":"10.0.0.1:1"}
{"tsc":100,"lcore":0,"tpoint":"TCP_NEW","poller":"t300"}
{"tsc":200,"lcore":0,"tpoint":"PCIE_SUBMIT","poller":"q300"}
L
    mktrace lines >trace
    equal "$(trace-dump trace | jq -c '[.poller, .owner]')" '["t300","10.0.0.1:1"]
["q300",null]'
}

@test "--since and --until choose the times that are printed, both included" {
    for rate in 2600000000 999999937 3000000 18446744073709551615; do
        mktrace -r $rate "$DATA/common.jsonl" >trace
        trace-dump trace >all
        sed 's/.*"us":\([0-9.]*\),"lcore.*/\1/' all | sort -u | sed -n '1p; 4p; $p' >moments
        while read -r us; do
            trace-dump --since "$us" trace >got
            awk -F '[:,]' -v us="$us" '$4 + 0 >= us + 0' all | cmp - got
            trace-dump --until "$us" trace >got
            awk -F '[:,]' -v us="$us" '$4 + 0 <= us + 0' all | cmp - got
        done <moments
        [ -s moments ]
    done
    mktrace "$DATA/common.jsonl" >trace
    trace-dump trace >all
    trace-dump --since 0 --until 18446744073709551615 trace | cmp - all
    equal "$(trace-dump --since 18446744073709551.615 trace)" ''
    trace-dump --since 0.01 --until 0.2 trace >got
    awk -F '[:,]' '$4 >= 0.01 && $4 <= 0.2' all | cmp - got
    for bad in '' x -1 1.2345 1. .5 1e3 '1 '; do
        status_is 2 trace-dump --since "$bad" trace
        says "trace-dump: --since '$bad': microseconds like 27.290 are expected"
        status_is 2 trace-dump --until "$bad" trace
    done
}

@test "a string of a JSON document that is longer than its argument is refused" {
    document() { # CHARACTERS
        printf '{"tsc_rate":9,"tpoints":[{"name":"A","id":1,"args":[{"name":"s","type":2,"size":8}]}],"entries":[{"lcore":0,"tpoint":1,"tsc":1,"args":["%0*d"]}]}' "$1" 7
    }
    document 8 | trace-dump | grep '"s":"00000007"' >/dev/null
    for n in 9 600 200000; do
        document $n >long.json
        fails 'a string longer than its argument' trace-dump long.json
        equal "$output" ''
    done
}

@test "--rate counts times with other ticks per second" {
    mktrace "$DATA/common.jsonl" >trace
    mktrace -r 1300000000 "$DATA/common.jsonl" >slow
    same_lines 'trace-dump --rate 1300000000 trace' 'trace-dump slow'
    same_lines 'trace-dump --rate 1300000000 --since 0.1 trace' 'trace-dump --since 0.1 slow'
    for bad in '' 0 -1 2.6e9 18446744073709551616; do
        status_is 2 trace-dump --rate "$bad" trace
        says "trace-dump: --rate '$bad': ticks per second are expected"
    done
}

# A clock line of seconds since boot, at so many ticks a second, and of seconds since the first one.
clock_line() { # TICKS SECONDS TIME
    printf "clock: tsc=0x%x, ns=0x%x, time='%s'\n" "$1" $(($2 * 1000000000)) "$3"
}

@test "--clock tells the time of day of a copy, and the rate of its ticks" {
    echo '{"tpoint":"A","id":1,"args":[]}' >lines
    for tsc in 500000 1000000 1500000 2000000 2000001 4000000; do
        echo "{\"tsc\":$tsc,\"lcore\":0,\"tpoint\":\"A\"}"
    done >>lines
    mktrace -r 1000000 lines >trace
    of_day() { # OPTION...
        trace-dump -q "$@" trace | sed 's/.*"us":\([0-9.]*\),"time":"\([^"]*\)".*/\1 \2/'
    }
    clock_line 1000000 10 2026-11-21T23:59:59.900000000Z >one
    { cat one; echo 'probe: tsc=0x1'; clock_line 2000000 11 2026-11-22T00:00:00.900000000Z; } >two
    # one line tells no rate
    equal "$(of_day --wall --clock one | tr '\n' ' ')" "0.000 2026-11-21T23:59:59.400000000Z 500000.000 2026-11-21T23:59:59.900000000Z \
1000000.000 2026-11-22T00:00:00.400000000Z 1500000.000 2026-11-22T00:00:00.900000000Z 1500001.000 2026-11-22T00:00:00.900001000Z \
3500000.000 2026-11-22T00:00:02.900000000Z "
    same_lines 'trace-dump --wall --clock one trace' 'trace-dump -T --clock two trace'
    same_lines 'trace-dump --wall --clock one trace' 'cat two two | trace-dump --wall --clock - trace'
    # a second takes 1,001,000 ticks
    { cat one; clock_line 2001000 11 2026-11-22T00:00:00.900000000Z; } >other
    equal "$(of_day --wall --clock other | sed -n '3p;6p' | tr '\n' ' ')" \
        '999000.999 2026-11-22T00:00:00.399500499Z 3496503.497 2026-11-22T00:00:02.897002997Z '
    same_lines 'trace-dump --rate 1001000 trace' 'trace-dump --clock other trace'
    equal "$(trace-dump -i --clock other trace | jq -c '[.tsc_rate, .clock_rate, .first, .last]')" \
        '[1000000,1001000,"2026-11-21T23:59:59.400499501Z","2026-11-22T00:00:02.897002997Z"]'
    # others come between; where the clock was set, each time has that of the nearer line
    { tac two; clock_line 4000000 13 2026-11-22T01:00:00.900000000Z; } >stepped
    equal "$(of_day --wall --clock stepped | sed -n '5,6p' | tr '\n' ' ')" \
        '1500001.000 2026-11-22T00:00:00.900001000Z 3500000.000 2026-11-22T01:00:00.900000000Z '
    status_is 0 trace-dump --clock stepped trace
    says 'trace-dump: trace: the clock was set by +3598.000 s at some time between two clock lines'
}

@test "clock lines that cannot be those of the trace" {
    mktrace -r 1000000 "$DATA/common.jsonl" >trace
    refused() { # MESSAGE, lines on standard input
        cat >clock
        fails "$1" trace-dump --wall --clock clock trace
        equal "$output" ''
    }
    echo 'probe: tsc=0x1' | refused 'trace-dump: clock: no clock lines, which usdt-record writes when it starts and ends'
    refused 'trace-dump: clock: no clock lines' </dev/null
    echo 'clock: tsc=0x1, ns=0x1' | refused 'trace-dump: clock:1: tsc, ns and time are expected in a clock line'
    echo "clock: tsc=0x1, ns=0x1, time='yesterday'" | refused 'clock:1: tsc, ns and time are expected'
    echo "clock: tsc=0xffffffffffffffff, ns=0x1, time='2026-11-21T23:59:59.9Z'" | refused 'clock:1: tsc, ns and time are expected'
    echo 'clock: tsc' | refused 'trace-dump: clock:1: a field KEY=VALUE is expected'
    { clock_line 1000000 10 2026-11-21T23:59:59Z; clock_line 2000000 9 2026-11-21T23:59:58Z; } |
        refused 'trace-dump: clock: its clock lines are of several machines, or from before and after a restart'
    { clock_line 1000000 10 2026-11-21T23:59:59Z; clock_line 1000000 11 2026-11-21T23:59:58Z; } |
        refused 'its clock lines are of several machines'
    { clock_line 1000000 10 2026-11-21T23:59:59Z; clock_line 1900000 11 2026-11-22T00:00:00Z; } |
        refused 'trace-dump: trace: its clock has 1000000 ticks a second, that of the clock lines 900000: it is from another machine'
    fails 'trace-dump: none: No such file or directory' trace-dump --wall --clock none trace
    fails 'trace-dump: trace: a binary trace, not probe lines' trace-dump --wall --clock trace trace
    # may be right
    printf '%s\n' '{"tpoint":"A","id":1,"args":[]}' '{"tsc":5,"lcore":0,"tpoint":"A"}' | mktrace -r 1000000 >trace
    clock_line 4000000000000 10 2026-11-21T23:59:59Z >clock
    status_is 0 trace-dump --wall --clock clock trace
    says 'trace-dump: trace: the trace is 4000000 s before the first clock line: is it from the same machine, since its last start?'
}

@test "--wall tells the time of day of a live trace only" {
    mktrace "$DATA/common.jsonl" >trace
    for copy in trace - ; do
        status_is 1 trace-dump --wall $copy <trace
        says '--wall alone is for traces in /dev/shm; for a copy, add what usdt-record recorded with it: --clock RECORDING'
    done
    status_is 2 trace-dump --clock trace --rate 5 trace
    says 'trace-dump: give --rate or --clock, not both: each has the rate of the ticks'
    status_is 2 trace-dump --clock - <trace
    says 'trace-dump: standard input can only be one of the files'
}

@test "--requests selects what starts or ends an object that nothing has started" {
    local tsc=10 tpoint ctx poller args
    {
        echo '{"layout":"any","tsc_rate":1000000000}'
        echo '{"id":1,"poller":"t01","tsc":1,"description":"10.0.0.1:1 nqn.a 10.0.0.2:2 qid:1"}'
        echo '{"tpoint":"BDEV_IO_START","id":192,"owner_type":"b","object_type":"i","new_object":true,"args":[{"name":"ctx","type":"ptr","size":8}],"related":[{"arg":"ctx","object_type":"r"}]}'
        echo '{"tpoint":"BDEV_IO_DONE","id":193,"owner_type":"b","object_type":"i","new_object":false,"args":[{"name":"ctx","type":"ptr","size":8}],"related":[{"arg":"ctx","object_type":"r"}]}'
        echo '{"tpoint":"TCP_REQ_NEW","id":320,"owner_type":"t","object_type":"r","new_object":true}'
        echo '{"tpoint":"TCP_REQ_EXECUTING","id":327,"owner_type":"t","object_type":"r"}'
        echo '{"tpoint":"TCP_REQ_COMPLETED","id":333,"owner_type":"t","object_type":"r"}'
        echo '{"tpoint":"TCP_QP_DISCONNECT","id":340,"owner_type":"t"}'
        echo '{"tpoint":"FC_READ_RSP","id":400,"object_type":"f","new_object":true}'
        echo '{"tpoint":"FC_SUCCESS","id":401,"object_type":"f"}'
        for tpoint in TCP_REQ_NEW TCP_REQ_EXECUTING BDEV_IO_START BDEV_IO_DONE TCP_REQ_COMPLETED TCP_QP_DISCONNECT BDEV_IO_START BDEV_IO_DONE FC_READ_RSP FC_SUCCESS; do
            ctx=0x1 poller=
            [[ $tpoint = TCP* ]] && poller='"poller":"t01",'
            [ "$tsc" -lt 15 ] || ctx=0x7
            [[ $tpoint = BDEV* ]] && args=",\"args\":{\"ctx\":\"$ctx\"}" || args=
            echo "{\"tsc\":$((tsc++)),\"lcore\":0,\"tpoint\":\"$tpoint\",$poller\"object\":{\"value\":\"0x1\"}$args}"
        done
    } >lines
    mktrace -l G6 lines >trace
    requests() { trace-dump -q --requests trace | jq -r .tpoint | tr '\n' ' '; }
    roots='BDEV_IO_START BDEV_IO_DONE FC_READ_RSP FC_SUCCESS '
    equal "$(requests)" "TCP_REQ_NEW TCP_REQ_COMPLETED $roots"
    # an object whose creator is known only later ends as it has started
    {
        sed -n '1,/FC_SUCCESS/p' lines
        for tpoint in BDEV_IO_START TCP_REQ_NEW BDEV_IO_DONE TCP_REQ_COMPLETED; do
            poller=
            [[ $tpoint = TCP* ]] && poller='"poller":"t01",'
            [[ $tpoint = BDEV* ]] && args=',"args":{"ctx":"0x1"}' || args=
            echo "{\"tsc\":$((tsc++)),\"lcore\":0,\"tpoint\":\"$tpoint\",$poller\"object\":{\"value\":\"0x1\"}$args}"
        done
    } | mktrace -l G6 >trace
    equal "$(requests)" 'BDEV_IO_START TCP_REQ_NEW BDEV_IO_DONE TCP_REQ_COMPLETED '
    # a connection without a description
    grep -v description lines | mktrace -l G3 >trace
    equal "$(requests)" "TCP_REQ_NEW TCP_REQ_EXECUTING BDEV_IO_START TCP_REQ_COMPLETED TCP_QP_DISCONNECT $roots"
}
