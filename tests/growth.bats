#!/usr/bin/env bats
# What input that was chosen to be expensive costs: time in proportion to it, and bounded memory.
# bats file_tags=slow

load helpers

setup() {
    enter
    ! has_sanitizers || skip 'sanitizers have costs of their own'
}

# For awk: a trace line up to its arguments; all of it; a probe line. An age of - is that of a creation.
AWK='function head(tsc, tpoint, id, age, address, more) {
    printf "{\"tsc\":%d,\"us\":%d.000,\"lcore\":%d,\"tpoint\":\"%s\",\"object\":{\"id\":\"%s\",%s\"value\":\"0x%x\"}%s,\"args\":{",
        tsc, tsc, lcore, tpoint, id, age == "-" ? "" : "\"us\":" age ".000,", address, more
}
function line(tsc, tpoint, id, age, address, more, args) {
    head(tsc, tpoint, id, age, address, more)
    print args "}}"
}
function probe(name, tsc, qpair, more) { printf "nvmf_%s_qpair: tsc=%x, qpair=%x, %s\n", name, tsc, qpair, more }
function reactor(tsc, tpoint, duration) {
    printf "{\"tsc\":%d,\"us\":%d.000,\"lcore\":1,\"tpoint\":\"%s\",\"args\":{\"comm\":\"reactor_%d\",\"pid\":1,\"begin\":%d,\"duration\":%d.000,\"by\":\"x\"}}\n",
        tsc, tsc, tpoint, lcore, (tsc > duration) * (tsc - duration), duration
}
function block(tsc, sector) {
    printf "{\"tsc\":%d,\"us\":%d.000,\"lcore\":1,\"tpoint\":\"BLOCK_IO\",\"args\":{\"type\":\"R\",\"sector\":%d,\"bytes\":4096,\"latency\":1.000}}\n", tsc, tsc, sector
}
function repeat(text, n) { while (n-- > 0) printf "%s", text }
BEGIN { q = sprintf("%c", 39) }
'

# Kinds of input: a name, and how awk prints n items of it.
INPUTS=(
    'adds|for (; i < n; i++) probe("poll_group_add", i + 1, i, "thread=1")'
    'adds-here|for (; i < n; i++) probe("poll_group_add", i + 1, 7, "thread=1")'
    'names-here|for (; i < n; i++) probe("ctrlr_add", i + 1, 7, "qid=1, subnqn='\''s'\'', hostnqn='\''" i "'\''")'
    'owned|for (; i < n; i++) { printf "owner: tsc=%x, id=%x, poller='\''t%d'\'', description='\''a:1 s'\''\n", int(i / 100), i % 500, i % 500; probe("poll_group_add", int(i / 100), i % 900, "thread=" i % 300); probe("ctrlr_add", 1 + int(i / 100), i % 900, "qid=1, subnqn='\''s'\'', hostnqn='\''h'\''") }'
    'reverse|for (i = n; i; i--) { probe("poll_group_add", i, i % 9, "thread=1"); probe("poll_group_remove", i, i % 7, "thread=1") }'
    'owner-lines|for (; i < n; i++) printf "owner: tsc=%x, id=%x, poller='\''t'\'', description='\''10.0.0.1:1 s 10.0.0.2:1 qid:7'\''\n", i + 1, i % 16128 + 256; for (i = 0; i < n; i++) { probe("poll_group_add", n + i + 1, i, sprintf("thread=%x", i)); probe("ctrlr_add", n + i + 2, i, "qid=1, subnqn='\''s'\'', hostnqn='\''h'\''") }'
    'descriptions|for (; i < n; i++) printf "owner: tsc=1, id=100, poller='\''t'\'', description='\''%d'\''\n", i; print "owner: tsc=x"'
    'fields|printf "nvmf_poll_group_add_qpair: tsc=1"; for (; i < n; i++) printf ", a%d=1", i; print ""'
    'alive|for (; i < n; i++) print "qpair: begin=1, ptr=0x10, name=" i'
    'nested|for (; i < n; i++) printf "qpair: begin=%d, end=%d, ptr=0x10, name=%d\n", i + 1, 9 * n - i, i'
    'replaced|for (; i < n; i++) printf "qpair: begin=%d, owner=t%d, ptr=0x%x\n", 1000 - i % 1000, i, 16 + i % 2'
    'backwards|for (; i < n; i++) printf "qpair: begin=%d, ptr=0x10, name=%d\n", n - i, i'
    'kinds|for (; i < n; i++) printf "q%d: begin=1, ptr=0x10, name=1\n", i'
    'by-owner|for (; i < n; i++) printf "qpair: begin=%d, owner=t%d, ptr=0x%x\n", i + 1, i % 7, i % 5'
    'hosts|for (; i < n; i++) printf "qpair: begin=1, ptr=0x%x, qid=1, subnqn=%sa:%d%s, hostnqn=%sa:b:c:%d%s\n", i % 999, q, i, q, q, i, q'
    'connections|for (; i < n; i++) print "qpair: begin=" i + 1 ", ptr=0x10, qid=1, hostnqn=" q "a:b" q'
    'parts|printf "qpair: begin=1, ptr=0x10, hostnqn=%s", q; repeat(": ", n); print q'
    'objects|for (; i < n; i++) line(i, "X", "r" i, "-", i, "", "\"qpair\":\"0x10\"")'
    'objects-here|for (; i < n; i++) line(i, "X", "r" i, "-", 7, "", "\"qpair\":\"0x10\"")'
    'late|for (; i < n; i++) line(9 * n - i, "X", "n/a", "-", i, "", "\"qpair\":\"0x10\"")'
    'states|for (; i < n; i++) line(i, "T" i, "r0", i ? i : "-", 7, "", "")'
    'types|for (; i < n; i++) line(i, "X", sprintf("\\u%04x%d", 19968 + i % 20000, i), "-", i, "", "")'
    'held|for (; i < n; i++) line(i, "BDEV_IO_START", "i" i, "-", i, "", sprintf("\"type\":1,\"offset\":8,\"len\":%d", i % 2 ? 8 : i)); for (i = 0; i < n; i++) { reactor(n + i, "OFF_CPU", 2 * i); reactor(n + i, "IRQ", i); block(n + i, 8) }'
    'held-ended|for (; i < n; i++) { line(4 * i, "BDEV_IO_START", "i" i, "-", i, "", sprintf("\"type\":1,\"offset\":%d,\"len\":8", i)); reactor(4 * i + 1, "OFF_CPU", 3); block(4 * i + 2, i); line(4 * i + 3, "BDEV_IO_DONE", "i" i, 3, i, "", "") }'
    'buffers|for (; i < n; i++) for (s = 0; s < 3; s++) line(3 * i + s, s > 1 ? "TCP_REQ_EXECUTING" : s ? "TCP_REQ_NEED_BUFFER" : "TCP_REQ_NEW", "r" i, s ? s : "-", i, ",\"poller\":\"t" i "\",\"owner\":\"o\"", ""); for (i = 0; i < n; i++) line(3 * n + i, "TCP_REQ_COMPLETED", "r" i, 3 * n - 2 * i, i, ",\"poller\":\"t" i "\",\"owner\":\"o\"", "")'
    'groups|for (; i < n; i++) { line(2 * i, "X", "r" i, "-", i, "", "\"g\":" i); line(2 * i + 1, "Y", "r" i, 1, i, "", "\"g\":" i) }'
    'owners|for (; i < n; i++) { lcore = i % 9000; line(i, "X", "r" i, "-", i, ",\"poller\":\"t" i "\",\"owner\":\"o" i "\",\"thread\":\"" i "\"", "") }'
    'related|for (; i < n; i++) line(i, "X", "r" i, "-", i, ",\"related\":\"r" i - 1 "\"", sprintf("\"p\":\"0x%x\"", i - 1))'
    'arguments|head(5, "X", "r1", "-", 7, ""); repeat("\"qpair\":\"0x10\",", n); print "\"a\":1}}"'
    'members|head(5, "X", "r1", "-", 7, ""); printf "}"; for (; i < n; i++) printf ",\"m%d\":1", i; print "}"'
    'escapes|head(5, "X", "r1", "-", 7, ""); printf "\"a\":\""; repeat("\\u001b", n); print "\"}}"'
    'deep|head(5, "X", "r1", "-", 7, ""); printf "\"a\":"; repeat("[", n); repeat("]", n); print "}}"'
    'rows|for (; i < n; i++) printf "{\"object\":\"r%d\",\"life\":true}\t{\"unit\":\"ns\",\"count\":1,\"sum\":7,\"max\":7,\"counts\":[[7,1]]}\n", i'
    'row|for (; i < n; i++) printf "{\"object\":\"r\",\"life\":true}\t{\"unit\":\"ns\",\"count\":1,\"sum\":7,\"max\":7,\"counts\":[[7,1]]}\n"'
    'tpoints|printf "{\"tsc_rate\":9,\"tpoints\":["; for (; i < n; i++) printf "%s{\"name\":\"A\",\"id\":%d}", i ? "," : "", i % 65536; print "],\"entries\":[]}"'
    'entries|printf "{\"tsc_rate\":9,\"tpoints\":[{\"name\":\"A\",\"id\":1}],\"entries\":["; for (; i < n; i++) printf "%s{\"lcore\":%d,\"tpoint\":%d,\"tsc\":%d,\"owner\":\"o%d\"}", i ? "," : "", i % 8000, i % 60000, i, i; print "]}"'
    'string|printf "{\"tsc_rate\":9,\"tpoints\":[{\"name\":\"A\",\"id\":1,\"args\":[{\"name\":\"s\",\"type\":2,\"size\":8}]}],\"entries\":[{\"lcore\":0,\"tpoint\":1,\"tsc\":1,\"args\":[\""; repeat("7", n); print "\"]}]}"'
    'strings|printf "{\"tsc_rate\":9,\"tpoints\":[{\"name\":\"A\",\"id\":1,\"args\":[{\"name\":\"s\",\"type\":2,\"size\":255}]}],\"entries\":["; for (; i < n / 256; i++) { printf "%s{\"lcore\":0,\"tpoint\":1,\"tsc\":1,\"args\":[\"", i ? "," : ""; repeat("\\u0007", 255); printf "\"]}" } print "]}"'
    'owner|printf "{\"tsc_rate\":9,\"tpoints\":[{\"name\":\"A\",\"id\":1}],\"entries\":[{\"lcore\":0,\"tpoint\":1,\"tsc\":1,\"owner\":\""; repeat("\\u0007", n); print "\"}]}"'
    'names|printf "{\"tsc_rate\":9,\"tpoints\":[{\"name\":\""; repeat("n", n); printf "\",\"id\":1}],\"entries\":[{\"lcore\":0,\"tpoint\":1,\"tsc\":1,\"poller\":\""; repeat("p", n); print "\"}]}"'
    'ring|print "{\"tpoint\":\"TCP_QP_X\",\"id\":320,\"owner_type\":\"t\"}"
        for (i = 1; i < n / 4; i++) printf "{\"id\":%d,\"poller\":\"t%d\",\"tsc\":1,\"description\":\"x\"}\n", i, i
        for (i = 1; i < n; i++) printf "{\"tsc\":%d,\"lcore\":%d,\"tpoint\":\"TCP_QP_X\",\"poller\":\"t%d\"}\n", 9 + i, i % int(n / 64 + 1), i % int(n / 4)'
    'specs|for (; i < n; i++) print "p(a" i ",b:str)"'
)

# What reads them: a command, and kinds of input.
COMMANDS=(
    'qpair-lifetimes -q FILE|adds adds-here names-here reverse fields owner-lines descriptions'
    'trace-join -l lifetimes FILE|objects late states arguments members escapes deep'
    'trace-join -j -l lifetimes FILE|objects arguments members'
    'trace-join -l FILE lines|alive nested replaced backwards kinds by-owner fields'
    'trace-join -s FILE|owners arguments escapes'
    'trace-join -s -l FILE lines|nested by-owner hosts connections parts'
    'trace-latency -q FILE|objects objects-here late states types groups owners related members'
    'trace-latency -q -r -H -g args.g FILE|groups related'
    'trace-latency -q -i 1 -g owner FILE|groups owners'
    'trace-latency -q -r -g type -g args.g FILE|objects-here states types groups related members'
    'trace-latency -q --layers -g args.g FILE|objects types groups held-ended'
    'trace-latency -q -e FILE|states types'
    'trace-latency -q --merge --against FILE FILE|rows row'
    'trace-spans -q FILE|objects objects-here late states types owners related members deep held held-ended'
    'trace-spans -q -a -s --stuck 1 FILE|objects-here states related held held-ended'
    'trace-spans -q -s FILE|buffers'
    'trace-perfetto -q FILE|objects objects-here late states types owners related members escapes deep held held-ended'
    'trace-perfetto -q -e FILE|objects states owners'
    'trace-chrome -q FILE|objects objects-here late states types owners related members escapes deep held held-ended'
    'trace-chrome -q -e FILE|objects states owners'
    'trace-merge -q -r 9 FILE|objects escapes deep'
    'trace-dump -q -a FILE|ring tpoints entries string strings owner names'
    'trace-dump -i -O FILE|ring'
    "trace-dump -q -w 'o1*' -t 'A*' FILE|entries"
    'trace-dump -i -d FILE|tpoints entries'
    'usdt-gen -f FILE|specs'
    'usdt-gen -l -x FILE|notes'
)

# Makes n items of a kind of input.
make_input() { # KIND N
    local input
    if [ "$1" = notes ]; then
        # an ELF file whose notes tell of as many probes
        printf '%s\n' 'f: nop' '.section .note.stapsdt,"","note"' ".rept $2" '.balign 4' '.4byte 2f-1f,4f-3f,3' '1: .asciz "stapsdt"' \
            '2: .balign 4' '3: .8byte f,0,0' '.asciz "p"' '.asciz "q"' '.asciz "8@%rax"' '4: .balign 4' '.endr' |
            "${CC:-cc}" -x assembler -shared -nostdlib -o input -
    fi
    for input in "${INPUTS[@]}"; do
        [ "${input%%|*}" != "$1" ] || awk "$AWK BEGIN { n = $2; i = 0; ${input#*|} }" >input
    done
    if [ "$1" = ring ]; then
        # a trace file of these entries, on many lcores
        mktrace -l G4 -n 128 input >ring
        mv ring input
    fi
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
    local n=16000 few many runs
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
