#!/usr/bin/env bats
# What "make plants" consists of, as far as it needs no target.
# bats file_tags=plain

load helpers

PLANTS=$ROOT/tests/plants

# The verdict about two halves: what the host db has waited in each, with as many commands, and what the page says.
judge() { # KIND BEFORE_US AFTER_US SAID ALSO [MS_WITHOUT_CPU [SAID_WITHOUT DEVICE_US]]
    jq -n "{host: \"db\", type: \"read\", n: 100, us: $2, sent: $2}" >before
    jq -n "{host: \"db\", type: \"read\", n: 100, us: $3, sent: ($3 - 1000)}" >after
    jq -n "{line: \"\", said: ${7:-null}, hosts: [], also: []}" >healthy
    jq -n "{line: \"words\", said: $4, hosts: [], also: $5}" >planted
    jq -rn --arg kind "$1" --arg seed 1 --arg victims db --arg causes 'bdev|drive' --arg culprits Db --arg partly below \
        --slurpfile before before --slurpfile after "${AFTER:-after}" --slurpfile healthy healthy --slurpfile planted planted \
        --argjson cpu0 0 --argjson cpu "${6:-0}" --argjson device "${8:-0}" -f "$PLANTS/judge.jq" | cut -f 3-7
}

right='{"cause": "bdev", "who": "Db", "victim": "nqn.2026-11.test:db", "us": 190000}'
other='{"cause": "irq", "who": "NET_RX", "victim": "db/1", "us": 5000}'
part='{"cause": "below", "who": "", "victim": "db/1", "us": 7000}'

@test "a verdict is that of the first cause" {
    equal "$(judge slow_bdev 10000 210000 "$right" '[]')" $'named\tright\t200\t199\t190'
    equal "$(judge slow_bdev 10000 210000 "$other" "[$right]")" $'misleads\tright\t200\t199\t190'
    equal "$(judge slow_bdev 10000 210000 "$part" '[]')" $'points\tright\t200\t199\t0'
    equal "$(judge slow_bdev 10000 210000 null "[$other, $right]")" $'points\tright\t200\t199\t190'
    equal "$(judge slow_bdev 10000 210000 null "[$other]")" $'silent\tright\t200\t199\t0'
}

@test "a cause with another culprit is another cause, with another victim a part of it" {
    equal "$(judge slow_bdev 10000 210000 "${right/Db/Web}" '[]' | cut -f 1)" misleads
    equal "$(judge slow_bdev 10000 210000 "${right/:db/:web}" '[]' | cut -f 1)" points
}

@test "a bdev that is slow by itself is no invention" {
    equal "$(judge slow_bdev 10000 210000 "$right" '[]' 0 "$right" 80 | cut -f 2)" invented
    equal "$(judge slow_bdev 10000 210000 "$right" '[]' 0 "$right" 8000 | cut -f 2)" right
    equal "$(judge slow_bdev 10000 210000 "$right" '[]' 0 "$other" 8000 | cut -f 2)" invented
}

@test "a host that was late by its own measure is no invention" {
    host='{"cause": "host", "who": "db", "victim": "db/1", "us": 5000}'
    jq -n '{host: "db", type: "read", n: 100, us: 10000, sent: 10000, late: 5000}' >late
    equal "$(judge nothing 10000 10000 "$host" '[]' | cut -f 1)" invented
    equal "$(AFTER=late judge nothing 10000 10000 "$host" '[]' | cut -f 1)" right
    jq -n '{host: "db", type: "read", n: 100, us: 10000, sent: 10000, late: 4000}' >late
    equal "$(AFTER=late judge nothing 10000 10000 "$host" '[]' | cut -f 1)" invented
}

@test "what did not hurt, and what was disturbed, is not judged" {
    equal "$(judge slow_bdev 10000 10500 "$other" '[]' | cut -f 1)" harmless
    equal "$(judge slow_bdev 10000 210000 "$other" '[]' 12 | cut -f 1)" disturbed
}

@test "without a plant any cause is invented" {
    equal "$(judge nothing 10000 10000 null '[]' | cut -f 1)" right
    equal "$(judge nothing 10000 10000 "$other" '[]' | cut -f 1)" invented
}

@test "the table counts verdicts, and times within a quarter" {
    printf '%s\n' $'1\tquota\tnamed\tright\t900\t100\t80' \
        $'2\tquota\tmisleads\tinvented\t130\t100\t130' $'3\tnothing\tright\tright\t0\t0\t0' |
        awk -F '\t' -f "$PLANTS/table.awk" >table
    grep -qxF '| quota | 1 |  |  | 1 |  |  |  |  | 1 |' table
    grep -qx '1 of 2 plants that hurt are named, 1 mislead; the time of 1 is right' table
    grep -qx 'halves without a plant: 2 right, 1 invented, 0 disturbed' table
}

@test "each kind has a plant and a row" {
    . "$PLANTS/target.bash"
    . "$PLANTS/kinds.bash"
    declare -F | sed -n 's/^declare -f plant_//p' | sort >functions
    # shellcheck disable=SC2154 # of kinds.bash
    awk 'NF { print $1 } NF && NF != 5 { exit 1 }' <<<"$expectations" | sort | diff - functions
}

@test "calls are written as JSON" {
    . "$PLANTS/target.bash"
    equal "$(call method)" method
    equal "$(call method name=Db n=-1 all=true list='["a"]' port='"44"')" \
        'method {"name":"Db","n":-1,"all":true,"list":["a"],"port":"44"}'
}

@test "programs say what they cannot do" {
    run -1 plants-host -p 1
    [[ $output == *'port 1: Connection refused' ]]
    run -2 plants-host --reads 60 --zeroes 50
    run -2 plants-wire -p 4000
    run -1 plants-rpc nowhere.sock
    equal "$output" 'plants-rpc: nowhere.sock: No such file or directory'
}
