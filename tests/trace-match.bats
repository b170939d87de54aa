#!/usr/bin/env bats
# shellcheck disable=SC2086 # options are words
# bats file_tags=sanitizers

load helpers

# Lines of n commands, by crossing.awk.
crossing() { # N [NAME=VALUE]...
    local n=$1 variables=() pair
    shift
    for pair in "$@"; do variables+=(-v "$pair"); done
    awk -v n="$n" "${variables[@]}" -f "$ROOT/tests/crossing.awk"
}

# The numbers of requests and of their commands, from standard input: in crossing.awk both are the same.
pairs() {
    jq -r 'select(.args.command) | "\(.object.id[1:]) \(.args.command.id[1:])"'
}

# How many pairs there are, and how many of them are wrong.
count_pairs() {
    pairs | awk '$1 != $2 { wrong++ } END { print NR, wrong + 0 }'
}

# A recorded initiator and its target, which count the same ticks.
recorded() {
    for side in initiator initiator-target; do
        gzip -dc "$DATA/$side.trace.gz" >$side
        trace-dump -q $side >$side.jsonl
    done
}

@test "commands and requests of two recorded processes match, and their ticks agree" {
    recorded
    status_is 0 trace-match host=initiator target=initiator-target
    echo "$output" >merged
    says 'trace-match: 37 of 37 NVMe/TCP commands matched'
    # by the ticks: a request starts after its command was submitted, and replies before that completes
    {
        jq -r 'select(.tpoint == "NVME_TCP_SUBMIT") | [.object.id, "submit", .tsc] | @tsv' initiator.jsonl
        jq -r 'select(.tpoint == "NVME_TCP_COMPLETE") | [.object.id, "complete", .tsc] | @tsv' initiator.jsonl
        jq -r 'select(.tpoint == "TCP_REQ_NEW") | [.object.id, "new", .tsc] | @tsv' initiator-target.jsonl
        jq -r 'select(.tpoint == "TCP_REQ_TRANSFER_C2H") | [.object.id, "reply", .tsc] | @tsv' initiator-target.jsonl
    } >sides
    pairs <merged >numbers
    awk 'NR == FNR { if (!(($1, $2) in at)) at[$1, $2] = $3; next }
        { n++; p = "p" $2; r = "r" $1 }
        at[p, "submit"] >= at[r, "new"] || (p, "complete") in at && at[r, "reply"] >= at[p, "complete"] { print; exit 1 }
        END { exit n != 37 }' sides numbers
    # the read that both traces have is one tree
    trace-spans -q -j -a merged | jq -r 'select(.io.lba == 22192) | "\(.source) \(.parent // "-" | .[:1])\(.id[:1])"' >tree
    equal "$(sort <tree)" 'host -i
host Np
host iN
target ii
target pr
target ri'
}

@test "the time of a command is its request's with its layers, and the rest is network" {
    recorded
    trace-match -q host=initiator target=initiator-target >merged
    trace-spans -q -j -n 1 merged >slowest
    trace-spans -q -j -n 1 initiator-target | jq '.to_reply, .layers.bdev' >request
    # less what the wire and the socket had
    jq -r --argjson reply "$(head -n 1 request)" --argjson bdev "$(tail -n 1 request)" '
        .layers | [.drive == 0, .reply == 0, .bdev >= $bdev, .bdev < $bdev + 1, .network > 5, .network < 20] | all' slowest >is
    equal "$(<is)" true
    equal "$(jq -r .io.leg slowest)" Slow@target
    trace-causes -q merged >page
    grep -q 'waited for leg Slow@target' page
    # without the trace of the target, it is the drive
    equal "$(trace-spans -q -j -n 1 initiator | jq '.layers.drive > 2000')" true
    # what starts before the initiator's trace is no request of its own
    equal "$(trace-spans -q -j merged | jq -r 'select(.id[:1] == "r") | .source' | sort -u)" ''
}

# Microseconds from a message such as "the error is at most 1.20 ms".
bound() {
    sed -n 's/.*the error is at most \([0-9.]*\) \([mun]\?s\).*/\1 \2/p' err |
        awk '{ print $1 * ($2 == "ms" ? 1000 : $2 == "s" ? 1000000 : $2 == "ns" ? 0.001 : 1) }'
}

@test "the same commands match with clocks that differ, drift and are slewed, and the true offset is within the error" {
    recorded
    trace-match -q host=initiator.jsonl target=initiator-target.jsonl | pairs >want
    for clock in '0 200 200' '14400000000 -200 -200' '3600000000 200 -300' '7200000000 -100 400'; do
        read -r ahead before after <<<"$clock"
        clocked() { awk -v ahead="$ahead" -v before="$before" -v after="$after" "$@" -f "$ROOT/tests/clocked.awk" initiator.jsonl; }
        clocked >host
        trace-match host=host target=initiator-target.jsonl >merged 2>err
        pairs <merged | cmp - want
        # times of merged lines are from the first one
        first=$(jq -r 'select(.source == "host") | .us' merged | head -n 1)
        jq -r 'select(.args.command) | "\(.tsc) \(.us)"' merged >requests.us
        clocked -v true=requests.us | awk -v first="$first" -v bound="$(bound)" '
            { away = $2 - first - $1; away = away < 0 ? -away : away; worst = away > worst ? away : worst }
            END { if (NR != 37 || worst > bound + 0.01) { print worst, bound; exit 1 } }'
    done
}

@test "a process that sends commands to itself" {
    for kind in '' alike=1 period=50 depth=1 'depth=32 period=700'; do
        crossing 1000 $kind >lines
        status_is 0 trace-match lines
        equal "$(count_pairs <<<"$output")" '1000 0'
        equal "$stderr" 'trace-match: 1000 of 1000 NVMe/TCP commands matched'
    done
    # all lines, in their order, with what they had
    trace-match -q lines | jq -c 'del(.source, .related, .args.command) | if .args == {} then del(.args) else . end' >is
    jq -c 'del(.related)' lines | cmp - is
}

# How many requests have a command, how many of these another one's, and how many none, without trace-match.
count_children() {
    trace-spans -aj "$@" 2>err | jq -r 'select(.id[:1] == "r") | "\(.id[1:]) \(.parent // "p" | .[1:])"' |
        awk '{ n[$2 == "" ? "none" : $1 == $2 ? "right" : "wrong"]++ } END { print n["right"] + 0, n["wrong"] + 0, n["none"] + 0 }'
}

@test "the requests of a process to itself are below its commands in any tool" {
    for kind in '' alike=1 period=50 depth=1 'depth=32 period=700' 'depth=32 alike=1'; do
        crossing 1000 $kind >lines
        equal "$(count_children lines)" '1000 0 0'
        equal "$(<err)" ''
    done
    crossing 20 >lines
    equal "$(trace-spans -qj lines | jq -c 'select(.id == "p7") | [.remote, (.self | keys)]')" '[["r7"],["i","p","r"]]'
    trace-spans -qs --human lines | grep ' r7(p7) '
    equal "$(trace-spans -qj lines | jq -r .id | cut -c 1 | sort -u)" p
    # of an I/O of a bdev, where the trace has no commands
    crossing 1000 | grep -v NVME_TCP >lines
    equal "$(count_children lines)" '0 0 1000'
    # another host has the same I/O, as that of a mirror
    crossing 1000 | sed 's/10.0.0.2:4000/10.0.0.1:4000/' >lines
    equal "$(count_children lines)" '0 0 1000'
    # where the first commands are alike, those that cannot be told apart
    crossing 1000 depth=8 alike=1 | sed 's/"opc":2/"opc":1/; s/"type":1/"type":2/' | tail -n +100 >lines
    equal "$(count_children lines | cut -d ' ' -f 2)" 0
    grep 'requests may be commands of the process itself: several commands fit$' err
}

@test "a request that is missing leaves no other one below a wrong command" {
    for kind in '' depth=32 'depth=32 period=20' depth=1; do
        crossing 1000 without=500 $kind >lines
        count_children lines >counts
        [ "$(cut -d ' ' -f 1 counts)" -ge 960 ]
        equal "$(cut -d ' ' -f 2 counts)" 0
        grep -E '^trace-spans: lines: [0-9]+ commands? of the process to itself (is|are) without a request: which one is not known$' err
        # the same, where the trace says that entries are missing
        sed -i '/TCP_REQ_NEW.*"r500"/s/"tsc"/"lost":true,&/' lines
        equal "$(count_children lines | cut -d ' ' -f 2)" 0
    done
}

@test "what is ambiguous is not matched, and counted" {
    # one request is missing: its command has none
    crossing 1000 side=i >i
    crossing 1000 side=t without=500 ahead=5000000 >t
    status_is 0 trace-match i t
    equal "$(count_pairs <<<"$output")" '999 0'
    says 'trace-match: 999 of 1000 NVMe/TCP commands matched; 1 between matched ones, but ambiguous, as entries are missing'
    # the requests of the known queue are not roots
    equal "$(trace-spans -q -j <<<"$output" | jq -r .source | sort -u)" i
    # commands that are all alike, or repeat: only a common clock tells them apart
    for kind in alike=1 period=50; do
        crossing 1000 side=i $kind >i
        crossing 1000 side=t $kind >t
        fails 'trace-match: 0 of 1000 NVMe/TCP commands matched; 1000 of queues that are found in no target' trace-match i t
        says 'trace-match: 1 source left out: nothing ties its clock to that of the first one; see --same-clock'
        status_is 0 trace-match --same-clock i t
        equal "$(count_pairs <<<"$output")" '1000 0'
    done
    # sequential commands pass again and again over the same disk
    awk 'BEGIN { for (k = 0; k < 300; k++) print 8 * (k % 100) }' >addresses
    for side in i t; do
        crossing 300 side=$side | awk 'NR == FNR { lba[NR - 1] = $1; next }
            match($0, /"(p|i)[0-9]+"/) { k = substr($0, RSTART + 2, RLENGTH - 3) }
            { sub(/"dw10":"[^"]*"/, sprintf("\"dw10\":\"0x%x\"", lba[k])); sub(/"offset":[0-9]+/, "\"offset\":" lba[k])
              sub(/"opc":1/, "\"opc\":2"); sub(/"type":2/, "\"type\":1"); print }' addresses - >$side
    done
    fails 'trace-match: 0 of 300 NVMe/TCP commands matched' trace-match i t
    status_is 0 trace-match --same-clock i t
    equal "$(count_pairs <<<"$output")" '300 0'
    # what only one side has
    crossing 1000 side=i | awk 'NR <= 1000' >i
    crossing 1000 side=t ahead=1000 | awk 'NR >= 2000' >t
    status_is 0 trace-match i t
    equal "$(count_pairs <<<"$output" | cut -d' ' -f 2)" 0
    says 'before or after what the target'"'"'s trace has'
}

# Lines of another initiator, as spdk-trace-lines(7) has them, from the span lines of its commands.
of_another() { # OWNER
    jq -c --arg owner "$1" '
        def line($us; $tpoint; $object; $args): {tsc: ($us * 1000 | floor), us: ($us * 1000 | round / 1000), lcore,
            tpoint: $tpoint, poller, owner: $owner, object: ({id, value} + $object), args: $args};
        select(.id[:1] == "p") |
            line(.us; "NVME_TCP_SUBMIT"; {}; .io | {opc, cid, dw10: .lba, dw11: 0, dw12: (.blocks - 1)}),
            if .open then empty else line(.us + .life; "NVME_TCP_COMPLETE"; {us: .life}; {cpl: 0}) end' |
        jq -s -c 'sort_by(.us)[]'
}

@test "lines that something else has recorded of its commands" {
    recorded
    trace-match -q host=initiator target=initiator-target | pairs >want
    trace-spans -q -j -a initiator | of_another 'nvme0 qid:1' >host
    status_is 0 sh 'trace-match host=host target=initiator-target >merged'
    says 'trace-match: 37 of 37 NVMe/TCP commands matched'
    pairs <merged | cmp - want
    equal "$(trace-spans -q -j -a merged | jq -r 'select(.io.lba == 22192) | "\(.source) \(.parent // "-" | .[:1])\(.id[:1])"' | sort)" \
        'host -p
target ii
target pr
target ri'
    # without addresses of PDUs, an owner tells two queues of one number apart
    crossing 1000 side=t | sed -E '/"r[0-9]*[13579]"/s/"t260"/"t261"/' >target
    crossing 1000 side=i | trace-spans -q -j -a - | jq -c '.value = "0x\(.io.cid)"' >spans
    jq -c 'select(.id | test("[02468]$"))' spans | of_another 'nvme0 qid:1' >host
    jq -c 'select(.id | test("[13579]$"))' spans | of_another 'nvme1 qid:1' | cat - host | jq -s -c 'sort_by(.us)[]' >both
    status_is 0 trace-match host=both target
    equal "$(count_pairs <<<"$output")" '1000 0'
}

@test "a chain: the engine is between the host and the replica, which have the same commands" {
    crossing 1000 side=i >host
    # its requests, and from 0.6 us later on their commands to the replica, which is quicker
    { crossing 1000 side=t ahead=5000000; crossing 1000 side=i | jq -c '.us += 5000004.6'; } |
        jq -c 'if .tpoint == "NVME_TCP_COMPLETE" then .us -= 7.2 else . end' | jq -s -c 'sort_by(.us)[]' >engine
    crossing 1000 side=t ahead=90000000 |
        jq -c 'if .object.us then .us -= 5 else . end' | jq -s -c 'sort_by(.us)[]' >replica
    status_is 0 sh "trace-match host engine replica >merged"
    says 'trace-match: 2000 of 2000 NVMe/TCP commands matched'
    equal "$(count_pairs <merged)" '2000 0'
    equal "$(jq -r 'select(.args.command) | "\(.source) \(.args.command.source)"' merged | sort | uniq -c | tr -s ' ')" \
        ' 1000 engine host
 1000 replica engine'
}

@test "files of any kind, and pipes" {
    recorded
    trace-match -q host=initiator target=initiator-target >want
    gzip -c initiator >packed
    trace-match -q host=packed target=<(cat initiator-target.jsonl) | cmp - want
    trace-match -q host=- target=initiator-target.jsonl <initiator | cmp - want
    trace-dump -q initiator | trace-match -q host=- target=initiator-target | cmp - want
    equal "$(trace-match -q "$PWD/initiator" x=initiator-target | jq -r .source | sort -u)" 'initiator
x'
    # what is malformed is said once
    { head -n 50 initiator.jsonl; echo '{"tsc":'; tail -n +51 initiator.jsonl; } >bad
    status_is 1 trace-match host=bad target=initiator-target
    equal "$(grep -c 'bad:51: not a trace line' <<<"$stderr")" 1
    equal "$output" "$(<want)"
    status_is 1 trace-match initiator
    equal "$(wc -l <<<"$output")" "$(wc -l <initiator.jsonl)"
    says 'trace-match: no command matches: are these traces of the same time'
}

@test "what is no trace is named once" {
    mkdir a b
    status_is 1 trace-match a b
    equal "$stderr" 'trace-match: a: a directory, not trace lines; try: trace-report a, or a file in it
trace-match: b: a directory, not trace lines; try: trace-report b, or a file in it'
}
