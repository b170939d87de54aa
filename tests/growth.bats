#!/usr/bin/env bats
# What input that was chosen to be expensive costs: time in proportion to it, and bounded memory.
# bats file_tags=slow,plain,long

load helpers

setup() {
    enter
    ! has_sanitizers || not_for_this_build 'sanitizers have costs of their own'
}

# What reads them: a command, and kinds of input.
COMMANDS=(
    'qpair-lifetimes -q FILE|adds adds_here names_here reverse fields owner_lines descriptions'
    # alike in all low, or all high, bits
    'qpair-lifetimes -q FILE | trace-join -l - lines|address:%x00000000000 address:%x00000000 address:%x000 address:8%06x00000 address:ffffffff%08x'
    'qpair-lifetimes -q --rpc FILE -O FILE|answers controllers'
    'trace-join -l lifetimes FILE|objects late states arguments members escapes deep'
    'trace-join -j -l lifetimes FILE|objects arguments members'
    'cat FILE | trace-join|line'
    'trace-join -l FILE lines|alive nested replaced backwards kinds by_owner fields'
    'trace-join -s FILE|owners reconnects arguments escapes'
    'trace-join -s -l FILE lines|nested by_owner hosts connections parts'
    'trace-latency -q FILE|objects objects_here late states types groups owners related members'
    'trace-latency -q -r -H -g args.g FILE|groups related'
    'trace-latency -q -i 1 -g owner FILE|groups owners'
    'trace-latency -q -i 0.000001 -g type -g args.g FILE|objects_here groups below late'
    'trace-latency -q -i 0.000001 -r FILE|related below'
    'trace-latency -q -i 0.000001 --layers FILE|objects below held_ended'
    'trace-latency -q -r -g type -g args.g FILE|objects_here states types groups related members'
    'trace-latency -q --layers -g args.g FILE|objects types groups held_ended'
    'trace-latency -q -e FILE|states types'
    'trace-latency -q --merge --against FILE FILE|rows row'
    'trace-spans -q FILE|objects objects_here late states types owners reconnects related members deep held held_ended'
    'trace-spans -q -a -s --stuck 1 FILE|objects_here states related held held_ended'
    'trace-spans -q -j FILE|holders'
    'trace-spans -q -s FILE|buffers reconnects'
    'trace-causes -q FILE|spans spans_here'
    'trace-causes -q -j -m 5 FILE|spans spans_here'
    'trace-causes -q -g id FILE|spans'
    'trace-perfetto -q FILE|objects objects_here late states types owners reconnects related members escapes deep held held_ended falling absent'
    'trace-perfetto -q -e FILE|objects states owners'
    'trace-merge -q -r 9 FILE|objects escapes deep'
    'trace-match -q FILE|objects late owners reconnects commands commands_alike'
    'trace-dump -q -a FILE|ring tpoints entries string strings owner names'
    'trace-dump -i -O FILE|ring'
    'trace-dump -q FILE|interleaved'
    "trace-dump -q -t 'A*' FILE|entries"
    'trace-dump -i -d FILE|ring tpoints entries'
    'usdt-gen -l -x FILE|notes'
)

# Makes the file input, n items of a kind of input, as tests/inputs.c prints them; each only once.
make_input() { # KIND N
    local made=$1.$2
    [ -e "$made" ] || case $1 in
    notes) inputs notes "$2" | "${CC:-cc}" -x assembler -shared -nostdlib -o "$made" - ;;
    ring)
        inputs ring "$2" >entries
        mktrace -l G4 -n 128 entries >"$made"
        ;;
    interleaved)
        inputs interleaved "$2" >entries
        mktrace -l G4 -n "$2" entries >"$made"
        ;;
    line) head -c "${2}000" /dev/zero | tr '\0' x >"$made" ;;
    address:*) inputs adds "$2" | awk -F '[=,]' -v form="${1#*:}" '{ printf "%s=%s, qpair=" form ", thread=1\n", $1, $2, NR }' >"$made" ;;
    # that a process sends to itself
    commands) awk -v n="$2" -f "$ROOT/tests/crossing.awk" >"$made" ;;
    commands_alike) awk -v n="$2" -v alike=1 -v depth=128 -f "$ROOT/tests/crossing.awk" >"$made" ;;
    *) inputs "$1" "$2" >"$made" ;;
    esac
    ln -sf "$made" input
}

# For every tool and each kind of input that it reads: FUNCTION COMMAND KIND.
each_input() {
    local command kind
    make_input nested 4000
    mv input lifetimes
    make_input objects 1000
    mv input lines
    for command in "${COMMANDS[@]}"; do
        # those that need libraries may have been left out
        command -v "${command%% *}" >/dev/null || continue
        for kind in ${command##*|}; do
            "$1" "${command%|*}" "$kind"
        done
    done
}

# CPU milliseconds of the quickest of these runs.
milliseconds() { # RUNS COMMAND
    measure "$1" "$2 2>/dev/null; true" | awk '{ print int(1000 * $1) }'
}

grows_in_proportion() { # COMMAND KIND
    local n=8000 few many runs
    make_input "$2" $n
    mv input few
    make_input "$2" $((4 * n))
    # a run may be disturbed, for as long as the other processor works hard: several then
    for runs in 1 5 15; do
        few=$(milliseconds $runs "${1//FILE/./few}")
        many=$(milliseconds $runs "${1//FILE/./input}")
        # 4 in proportion, 16 as its square; what is as quick as a process starts says nothing
        [ "$many" -gt $((8 * (few > 4 ? few : 4))) ] || return 0
    done
    echo "$1, $2: $few ms, and $many ms for four times as much"
    return 1
}

@test "time grows in proportion to the input, whatever it is" {
    each_input grows_in_proportion
}

same_in_256_mib() { # COMMAND KIND
    local status=0 limited=0
    make_input "$2" 16000
    truncate -s '<1048575' input
    bash -c "${1//FILE/./input}" >want 2>want.err || status=$?
    (ulimit -v 262144; exec bash -c "${1//FILE/./input}") >got 2>got.err || limited=$?
    echo "$1, $2: exit $limited"
    cat got.err
    [ $status -le 2 ]
    equal $limited $status
    cmp want got
    cmp want.err got.err
}

@test "an input below 1 MiB needs less than 256 MiB" {
    each_input same_in_256_mib
}

@test "trace-report: memory does not grow with lines" {
    slow_host
    trace-dump -q -d -O -i trace >entries
    trace-dump -q trace >>entries
    mktrace -R 100 entries >long
    # each request has a record of 400 bytes
    [ "$(measure 1 'trace-report long probes' | cut -d ' ' -f 3)" -lt 131072 ]
    [ "$(trace-dump -q long | wc -c)" -gt 50000000 ]
}
