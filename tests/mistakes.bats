#!/usr/bin/env bats
# Wrong usages: none of them ends in silence and 0. A line for each: the exit status, a piece of the message, the command;
# % is between them.
# bats file_tags=sanitizers

load helpers

# What users have lying around, each under the name of what it is.
setup() {
    enter
    cp "$DATA/sample-g3-probes.txt" probes
    cp "$DATA/spdk-trace.json" spdk.json
    mktrace -l G3 "$DATA/sample-g3.jsonl" >trace
    mktrace -l G6 "$DATA/modern.jsonl" >modern
    trace-dump trace >lines
    trace-dump -q modern >modern.lines
    trace-dump -O modern >owners
    trace-dump -d trace >definitions
    trace-dump -i trace >info
    qpair-lifetimes probes >lifetimes
    trace-latency -eq lines >encoded
    trace-latency -q lines >table
    trace-spans -q -j lines >spans
    trace-spans -q -s lines >spans.text
    trace-spans -q --open lines >open.text
    trace-perfetto lines >drawn.pftrace
    trace-join lines >joined
    trace-join -s lines >short
    printf '%s\n' 'TIME            TIME(s)     COMM            PID' '13:39:58.644960 0.000000    cc              2325' >recorded
    : >empty
    : >empty2
    mkdir dir
    echo 'hello, world' >text
    echo '{"a":1}' >other.json
    echo '{"method":"bdev_get_bdevs","time":"2026-11-21T13:14:15Z","begin":1,"end":2,"result":[]}' >answers
    head -c 3000 /dev/zero >zeros
    iconv -f UTF-8 -t UTF-16 lines >utf16
    printf 'TSC Rate: 2600000000\nTrace Size of lcore (0): 32768\n' >spdk.txt
    # only the first bytes count, and not every machine can compress in all of these ways
    for packed in 'xz:\xfd7zXZ\x00' 'gzip:\x1f\x8b\x08' 'zstd:\x28\xb5\x2f\xfd' 'bzip2:BZh9' 'lz4:\x04\x22\x4d\x18'; do
        { printf '%b' "${packed#*:}"; head -c 300 /dev/zero | tr '\0' '\377'; } >"packed.${packed%%:*}"
    done
    # of another run, before and after; of other addresses; without and with owners
    sed 's/begin=[0-9]*, end=[0-9]*/begin=1, end=2/' lifetimes >before
    sed 's/begin=[0-9]*, end=[0-9]*/begin=99999999999999999/' lifetimes >after
    sed 's/begin=[0-9]*, end=[0-9]*/begin=1/; s/ptr=0x/ptr=0xf/' lifetimes >elsewhere
    echo "qpair: begin=1, ptr=0x10, hostnqn='h'" >unowned
    echo "qpair: begin=1, owner=t999, ptr=0x10, hostnqn='h'" >owned
    cat >tcp <<'L'
{"tsc":5,"us":0.000,"lcore":0,"tpoint":"TCP_REQ_NEW","poller":"t288","owner":"127.0.0.1:4420 nqn","object":{"id":"r1","value":"0x10"}}
L
    grep -h -v 'qpair' lines >unrelated
    echo '{"tsc":5,"us":0.000,"lcore":0,"tpoint":"IO","poller":"t1","owner":"app_thread"}' >>unrelated
}

# Runs the commands of a table on standard input, and says which of them ended otherwise.
try_all() {
    local want piece command tried=0 wrong=0 code
    while IFS=% read -r want piece command; do
        [ -n "$want" ] || continue
        want=${want// /} piece=${piece# } piece=${piece% } code=0
        bash -o pipefail -c "${command# }" >out 2>err </dev/null || code=$?
        tried=$((tried + 1))
        if [ "$code" != "$want" ] || ! grep -qF -- "$piece" err; then
            wrong=$((wrong + 1))
            printf '%s\nexit %s, not %s; said:\n%s\nnot: %s\n' "$command" "$code" "$want" "$(cat err)" "$piece"
        fi
    done
    echo "$tried tried"
    [ "$wrong" = 0 ] && [ "$tried" -gt 0 ]
}

# Prints what a tool reads, which it says of a directory.
reads() { # TOOL
    { "$1" dir 2>&1 || true; } | sed -n 's/.*: a directory, not \([^;]*\).*/\1/p'
}

@test "another kind of input is named by every filter, with what makes trace lines of it" {
    local tool reads file what try
    for tool in $(filters); do
        reads=$(reads "$tool")
        while IFS='|' read -r file what try; do
            [ "$what" != "$reads" ] && [[ $tool != trace-dump || ! $file =~ ^(trace|spdk.json|packed.xz|packed.gzip)$ ]] || continue
            [[ $tool != trace-causes || $what != 'span lines' ]] || continue
            [[ $reads != 'trace lines' || ! $file =~ ^(trace|spdk.json|packed.xz|packed.gzip)$ ]] || continue
            status_is 1 "$tool" "$file"
            says "$tool: $file: $what, not $reads"
            equal "$(wc -l <<<"$stderr")" 1
            [ "$reads" != 'trace lines' ] || says "; try: ${try//TOOL/$tool}"
        done <<'K'
trace|a binary trace|
spdk.json|the JSON of spdk_trace|
spdk.txt|the text of spdk_trace|spdk_trace -j -f TRACE | trace-dump
lines|trace lines|
joined|the text of trace-join|trace-join -j
short|the text of trace-join|trace-join -j
spans.text|the text of trace-spans|the trace lines that trace-spans read
open.text|the text of trace-spans|the trace lines that trace-spans read
recorded|the text of a tool that records|its option -j, which prints lines for other tools
probes|probe lines|qpair-lifetimes probes | trace-join -l - TRACE-LINES
lifetimes|lifetime lines|trace-join -l lifetimes TRACE-LINES
owners|the owners of a trace|qpair-lifetimes -O owners PROBES
answers|answers to JSON-RPC|qpair-lifetimes --rpc answers PROBES
definitions|what trace-dump -d or -i prints|trace-dump without -d and -i
info|what trace-dump -d or -i prints|trace-dump without -d and -i
encoded|encoded lines of trace-latency|trace-latency --merge encoded
spans|span lines|the trace lines that trace-spans read
drawn.pftrace|a trace for Perfetto|open it in ui.perfetto.dev
utf16|text in UTF-16|iconv -f UTF-16 -t UTF-8 utf16 | TOOL
packed.xz|compressed by xz|
packed.gzip|compressed by gzip|
packed.zstd|compressed by zstd|zstd -dc packed.zstd | TOOL
packed.bzip2|compressed by bzip2|bzip2 -dc packed.bzip2 | TOOL
packed.lz4|compressed by lz4|lz4 -dc packed.lz4 | TOOL
K
    done
}

@test "another kind of input for an option, from a pipe, or in part" {
    try_all <<'T'
1 % qpair-lifetimes: trace: a binary trace, not probe lines; try: usdt-record -p PID % qpair-lifetimes trace
1 % trace-join: trace: a binary trace, not trace lines; try: trace-dump trace | trace-join % trace-join -F -l lifetimes trace
1 % trace: a binary trace, not lifetime lines; try: qpair-lifetimes PROBES > LIFETIMES % trace-join -l trace lines
1 % trace: a binary trace, not the owners that trace-dump -O prints; try: trace-dump -O trace | qpair-lifetimes -O - PROBES % qpair-lifetimes -O trace probes
1 % try: trace-latency -e trace | trace-latency --merge % trace-latency --merge trace
1 % try: trace-latency -e trace | trace-latency --against - % trace-latency --against trace lines
1 % the JSON of spdk_trace, not the owners that trace-dump -O prints; try: trace-dump -O TRACE | qpair-lifetimes -O - PROBES % qpair-lifetimes -O spdk.json probes
1 % trace-dump: lines: trace lines, not an SPDK trace file; try: trace-join lines % trace-dump lines
1 % trace-dump: <stdin>: trace lines, not an SPDK trace file; try: trace-join - % trace-dump <lines
1 % lines: trace lines, not lifetime lines; try: qpair-lifetimes PROBES > LIFETIMES % trace-join -l lines lines
1 % lines: trace lines, not probe lines; try: usdt-record -p PID % qpair-lifetimes lines
1 % lines: trace lines, not the owners that trace-dump -O prints; try: trace-dump -O TRACE | qpair-lifetimes -O - PROBES % qpair-lifetimes -O lines probes
1 % lines: trace lines, not what trace-latency -e prints; try: trace-latency -e lines | trace-latency --merge % trace-latency --merge lines
1 % trace-latency -e lines | trace-latency --against - % trace-latency --against lines lines
1 % probes: probe lines, not lifetime lines; try: qpair-lifetimes probes | trace-join -l - TRACE-LINES % trace-join -l probes lines
1 % probes: probe lines, not an SPDK trace file; try: qpair-lifetimes probes | % trace-dump probes
1 % probes: probe lines, not the owners % qpair-lifetimes -O probes probes
1 % lifetimes: lifetime lines, not probe lines; try: trace-join -l lifetimes TRACE-LINES % qpair-lifetimes lifetimes
1 % lifetimes: lifetime lines, not the owners % qpair-lifetimes -O lifetimes probes
1 % lifetimes: lifetime lines, not rpc.jsonl of trace-record; try: trace-join -l % qpair-lifetimes --rpc lifetimes probes
1 % answers: answers to JSON-RPC, not lifetime lines; try: qpair-lifetimes --rpc answers PROBES | % trace-join -l answers lines
1 % owners: the owners of a trace, not lifetime lines; try: qpair-lifetimes -O owners PROBES % trace-join -l owners lines
1 % owners: the owners of a trace, not probe lines; try: qpair-lifetimes -O owners PROBES % qpair-lifetimes owners
1 % <stdin>: the text of trace-join, not trace lines; try: trace-join -j % trace-join -l lifetimes lines | trace-latency -g args.qpair.hostnqn
1 % spdk.txt: the text of spdk_trace, not an SPDK trace file; try: spdk_trace -j -f TRACE | trace-dump % trace-dump spdk.txt
1 % /sh: a program or library, not trace lines % trace-join "$(command -v sh)"
1 % /sh: a program or library, not an SPDK trace file % trace-dump "$(command -v sh)"
1 % trace-join: zeros: not an SPDK trace file % trace-join zeros
1 % trace-dump: zeros: not an SPDK trace file % trace-dump zeros
1 % trace-dump: text: neither an SPDK trace file nor the JSON of spdk_trace -j % trace-dump text
1 % no entries in this JSON: it is not what spdk_trace -j prints % trace-dump other.json
1 % dir: a directory, not an SPDK trace file; try: trace-dump -p PID % trace-dump dir
1 % dir: a directory, not trace lines; try: trace-report dir, or a file in it % trace-join dir
1 % dir: a directory, not lifetime lines % trace-join -l dir lines
1 % dir: a directory, not probe lines % qpair-lifetimes dir
1 % table:1: not a trace line % trace-latency table
1 % text:1: not a trace line % trace-join text
1 % text:1: not a line of trace-latency -e: it has no tab % trace-latency --merge text
0 % text: no line of the probe nvmf_poll_group_add_qpair: hosts must connect while usdt-record runs; --rpc % qpair-lifetimes text
1 % text: no lifetime lines, which qpair-lifetimes prints: nothing can be named % trace-join -l text lines
1 % other.json: no owners, which trace-dump -O prints % qpair-lifetimes -O other.json probes
T
}

@test "compressed input for an option, or from a pipe" {
    local kind
    for kind in xz gzip zstd bzip2 lz4; do
        sed "s/KIND/$kind/g" <<'T'
1 % trace-dump: <stdin>: compressed by KIND, not an SPDK trace file; try: KIND -dc - | trace-dump % cat packed.KIND | trace-dump
1 % compressed by KIND, not lifetime lines; try: KIND -dc packed.KIND | trace-join -l - TRACE-LINES % trace-join -l packed.KIND lines
1 % not the owners that trace-dump -O prints; try: KIND -dc packed.KIND | qpair-lifetimes -O - PROBES % qpair-lifetimes -O packed.KIND probes
1 % not what trace-latency -e prints; try: KIND -dc packed.KIND | trace-latency --merge % trace-latency --merge packed.KIND
1 % not what trace-latency -e prints; try: KIND -dc packed.KIND | trace-latency --against - % trace-latency --against packed.KIND lines
T
    done | try_all
}

@test "nothing is printed of what is refused" {
    for file in probes packed.zstd utf16 owners encoded joined; do
        status_is 1 trace-join $file
        equal "$output" ''
        status_is 1 trace-join -l $file lines
        equal "$output" ''
        status_is 1 trace-latency -j $file || [ $file = encoded ]
        equal "$output" ''
        status_is 1 trace-causes $file
        equal "$output" ''
    done
    status_is 1 trace-merge lines lifetimes
    equal "$stderr" 'trace-merge: lifetimes: lifetime lines, not trace lines; try: trace-join -l lifetimes TRACE-LINES'
    equal "$output" "$(trace-merge lines)"
    status_is 1 trace-causes text
    equal "$output" ''
    # lines of the right kind may come after others
    { cat probes; cat lines; } >mixed
    status_is 1 trace-join mixed
    equal "$(tail -n 1 <<<"$output")" "$(trace-join lines | tail -n 1)"
}

@test "nothing to work on" {
    try_all <<'T'
1 % trace-dump: empty: empty, not an SPDK trace file % trace-dump empty
1 % trace-join: empty: empty: there are no trace lines % trace-join empty
1 % trace-join: empty: empty: there are no trace lines % trace-join -q -l lifetimes empty
1 % trace-latency: empty: empty: there are no trace lines % trace-latency empty
0 % trace-latency: empty: empty: there are no trace lines % trace-latency -e empty
1 % trace-latency: empty: empty: there are no encoded lines % trace-latency --merge empty
1 % trace-latency: empty: empty: there are no encoded lines % trace-latency --against empty lines
1 % trace-spans: empty: empty: there are no trace lines % trace-spans empty
0 % trace-spans: <stdin>: no line belongs to a request or I/O % grep READ_DONE lines | trace-spans
1 % trace-perfetto: empty: empty: there are no trace lines % trace-perfetto empty
1 % qpair-lifetimes: empty: empty: there are no probe lines % qpair-lifetimes -q empty
1 % qpair-lifetimes: empty: no owners, which trace-dump -O prints % qpair-lifetimes -O empty probes
0 % trace-join: empty: no lifetime lines: nothing can be named % trace-join -l empty lines
1 % trace-latency: <stdin>: no object was seen in two states: nothing to measure % grep TCP_REQ_NEW lines | trace-latency
0 % left out 1 qpair that was added before the recording started % grep -m 1 nvmf_ctrlr_add_qpair probes | qpair-lifetimes
1 % missing: No such file or directory % trace-join -l missing lines
1 % missing: No such file or directory % qpair-lifetimes -O missing probes
1 % missing: No such file or directory % trace-latency --against missing lines
1 % <stdin>: no owners, which trace-dump -O prints % trace-dump -O trace | qpair-lifetimes -O - probes
T
}

@test "a file that cannot be read is not called empty" {
    local tool
    for tool in $(filters) 'trace-latency --merge' 'trace-join -l lifetimes'; do
        # its first page is never mapped
        # shellcheck disable=SC2086 # they are words
        status_is 1 $tool /proc/self/mem
        equal "$stderr" "${tool%% *}: /proc/self/mem: Input/output error"
    done
    status_is 1 trace-join -l /proc/self/mem lines
    equal "$stderr" 'trace-join: /proc/self/mem: Input/output error'
}

@test "lifetimes that name nothing" {
    try_all <<'T'
1 % before: named 0 of 150 entries of lines: all their ticks are before those of the entries: they are from another run % trace-join -l before lines
1 % after: named 0 of 150 entries of lines: all their ticks are after those of the entries: they are from another run % trace-join -j -l after lines
1 % elsewhere: named 0 of 150 entries of lines: the entries have other addresses and owners % trace-join -q -l elsewhere lines
0 % unowned: named 0 of 1 entries of tcp: the entries have owners, the lifetimes have none: record the owners with usdt-record, or try: trace-dump -O TRACE | qpair-lifetimes -O - PROBES % trace-join -l unowned tcp
1 % owned: named 0 of 1 entries of tcp: the entries have other addresses and owners % trace-join -l owned tcp
1 % before: named 0 of 1 entries of tcp: all their ticks are before % trace-join -l before tcp
1 % before: named 0 of 150 entries of <stdin>: the entries have other addresses and owners % trace-dump trace | trace-join -l before -l elsewhere
T
    # where a piece has nothing to name, nothing is wrong; nor where one entry is named
    for file in lifetimes unowned owned; do
        status_is 0 trace-join -l $file unrelated
        equal "$stderr" ''
    done
    status_is 0 trace-join -l before -l lifetimes lines
    equal "$stderr" ''
    # what was joined before has its names
    trace-join -j -l lifetimes lines >again
    grep hostnqn again >named
    status_is 0 trace-join -l before named
    equal "$stderr" ''
}

@test "options that choose nothing, or are not for this" {
    try_all <<'T'
1 % trace: no tracepoint matches 'NONE'; -d lists them % trace-dump -t NONE trace
1 % trace: none of 240 entries, from 0.000 to 91.328 us, matches the options % trace-dump -q -t NONE trace
0 % trace: no tracepoint matches 'NONE'; -d lists them % trace-dump -t NONE -t 'TCP_*' trace
1 % trace: none of 240 entries % trace-dump -t tcp_req_new trace
1 % trace: none of 240 entries, from 0.000 to 91.328 us % trace-dump --since 92 trace
1 % trace: none of 240 entries % trace-dump --since 0.001 --until 0.002 trace
2 % --since is after --until % trace-dump --since 30 --until 20 trace
2 % --since 'now': microseconds like 27.290 are expected % trace-dump --since now trace
2 % --until '-1': microseconds like 27.290 are expected % trace-dump --until -1 trace
1 % layout G3 (v22.09 to v24.01) has no owners; its entries have addresses, for which qpair-lifetimes needs no -O % trace-dump -O trace
1 % no owners in this JSON % sed 's/"owners":{[^}]*},//' spdk.json >old.json; trace-dump -O old.json
1 % has no owners % trace-dump -F -O trace
2 % -F prints entries or owners % trace-dump -F -i trace
1 % spdk.json: not a trace file, which -F needs % trace-dump -F spdk.json
1 % lines: trace lines, not an SPDK trace file % trace-dump -F lines
1 % not a trace file, which -F needs % cat trace | trace-dump -F
0 % copy: followed until Ctrl-C % cp trace copy; env --default-signal=INT trace-dump -F copy & until grep -qs followed err; do sleep 0.01; done; kill -INT $!; wait $!
0 % copy.pid2147483647: process 2147483647 has ended, so nothing is added to its trace % cp trace copy.pid2147483647; trace-dump -F copy.pid2147483647
2 % seconds % trace-record now
1 % process 2147483647: does not exist % trace-record -p 2147483647
1 % has mapped no SPDK trace: it is no target % trace-record -p $$ 1
2 % --max-size '0': a size like % trace-record --max-size 0
2 % --record is for -F % trace-dump --record file trace
2 % --max-size is for --record % trace-dump --max-size 1M trace
2 % besides -F it takes -p, -q, --keep and --max-size only % trace-dump -F -t X --record file trace
2 % besides -F it takes -p, -q, --keep and --max-size only % trace-dump -F --requests --record file trace
2 % --keep is for --record % trace-dump -F --keep 1 trace
2 % --max-size '2048G': a size like 65536, 512K or 16M is expected, below 2T % trace-dump -F --record file --max-size 2048G trace
1 % --max-size: the definitions of this trace alone take % trace-dump -F --record file --max-size 1K trace
1 % lines: File exists % trace-dump -F --record lines trace
2 % --max-size: at least 8M is expected % trace-record --max-size 1M
2 % --keep is for --trigger-us % trace-record --keep 3
2 % --folders is for --trigger-us % trace-record --folders 3
2 % --keep: 2 to 600 seconds are expected % trace-record --trigger-us 5000 --keep 1
2 % --trigger-us: at most half of --keep is expected % trace-record --trigger-us 3000000
1 % no trace of process 2147483647 % trace-dump -p 2147483647
2 % -p 'nvmf_tgt': a process id is expected % trace-dump -p nvmf_tgt
2 % -p '99999999999': a process id is expected % trace-dump -p 99999999999
2 % option '--tpoint' requires an argument % trace-dump --tpoint
2 % -p '': no process id: is the process running? % trace-dump -p ""
2 % give -p or a file, not both % trace-dump -p 1 trace
2 % one trace file, or a process with -p is expected, not 2 % trace-dump trace modern
1 % trace-latency: --layers: No such file or directory % trace-latency -- lines --layers
2 % standard input can only be one of the files % trace-merge - lines -
2 % standard input can only be one of the files % trace-join -l - -
2 % standard input can only be one of the files % trace-join -l -
2 % -s and -j exclude each other % trace-join -s -j lines
2 % -F follows the files of -l: one is expected % trace-join -F lines
2 % standard input can only be one of the files % qpair-lifetimes -O - -
2 % standard input can only be one of the files % qpair-lifetimes -O -
2 % standard input can only be one of the files % qpair-lifetimes --rpc - -O - probes
2 % standard input can only be one of the files % qpair-lifetimes --rpc - -O owners -
2 % standard input can only be one of the files % qpair-lifetimes --rpc -
2 % -F and -O cannot be combined: -F reads the owners from the probe lines % qpair-lifetimes -F -O owners probes
2 % qpair-lifetimes: % qpair-lifetimes -F --rpc answers probes
2 % standard input can only be one of the files % trace-latency - -
2 % standard input can only be one of the files % trace-latency --against - lines -
2 % standard input can only be one of the files % trace-latency --against - -
2 % -g 'nosuchkey': no such key; there are host, % trace-latency -g nosuchkey lines
1 % -g args.nosuchkey: no object has this key % trace-latency -q -g lcore -g args.nosuchkey -j lines
1 % -g args.qpair.hostnqn: no object has this key % trace-latency -g args.qpair.hostnqn lines
2 % -g 'qpair.hostnqn': no such key % trace-join -j -l lifetimes lines | trace-latency -g qpair.hostnqn
1 % -g args.nosuchkey: no object % trace-latency -e -g args.nosuchkey lines
2 % seconds above 0 are expected % trace-latency -i 0 lines
2 % seconds above 0 are expected % trace-latency -i 1ms lines
2 % -e and -j exclude each other % trace-latency -e -j lines
2 % -H is for a table or -j % trace-latency -H -e lines
2 % one trace or file of trace lines (-l is for lifetimes) is expected, not 2 % trace-spans trace lifetimes
2 % one trace or file of trace lines (-l is for lifetimes) is expected, not 2 % trace-causes trace lifetimes
2 % -H is for a table or -j % trace-latency -H --openmetrics lines
2 % --admin, -g, -i, -l and -r apply when trace lines are encoded % trace-latency --merge -g lcore encoded
2 % --admin, -g, -i, -l and -r apply when trace lines are encoded % trace-latency --merge -r encoded
2 % --admin, -g, -i, -l and -r apply when trace lines are encoded % trace-latency --merge -i 1 encoded
2 % --layers and --rates are for trace lines % trace-latency --merge --layers encoded
2 % --layers and --rates are for trace lines % trace-latency --merge --rates encoded
2 % --layers and --rates exclude each other % trace-latency --layers --rates lines
2 % --layers and --rates cannot be combined with -e, % trace-latency --rates -e lines
2 % --layers and --rates cannot be combined with -e, % trace-latency --rates -r lines
2 % --layers and --rates cannot be combined with -e, % trace-latency --layers -e lines
2 % --layers and --rates cannot be combined with -e, % trace-latency --layers -H lines
2 % --layers and --rates cannot be combined with -e, % trace-latency --layers -r lines
2 % --layers and --rates cannot be combined with -e, % trace-latency --layers --against encoded lines
2 % --against is for a table or -j % trace-latency -e --against encoded lines
2 % --against is for a table or -j % trace-latency -H --against encoded lines
2 % --against is for a table or -j % trace-latency -H -j --against encoded lines
2 % -i cannot be combined with -e, or with --openmetrics unless -o names a file % trace-latency -i 1 -e lines
2 % -i cannot be combined with -e, or with --openmetrics unless -o names a file % trace-latency -i 1 --openmetrics lines
2 % -i cannot be combined with --against % trace-latency -i 1 --against encoded lines
2 % trace-latency: % trace-latency -i 1 lines modern.lines
2 % -o is for --openmetrics % trace-latency -o x lines
2 % --screen needs -i, and is for a table % trace-latency --screen lines
2 % --screen needs -i, and is for a table % trace-latency --screen -i 1 -j lines
1 % trace-merge: no source has trace lines % trace-merge empty empty2
2 % two sources are called 'lines' % trace-merge lines ./lines
2 % two sources are called 'lines' % trace-match lines ./lines
1 % trace-match: no command matches: are these traces of the same time % trace-match lines
1 % trace-match: spans: span lines, not trace lines % trace-match spans
2 % -s is now an operand: NAME=FILE % trace-merge -s x=lines
2 % -r '2.6': ticks per second are expected, such as 2600000000 % trace-merge -r 2.6 lines
2 % -r '0': ticks per second are expected % trace-merge -r 0 lines
2 % milliseconds above 0 are expected % trace-merge --lag 0 lines
2 % -j and -s exclude each other % trace-spans -j -s lines
2 % -k 'write': KEY=GLOB is expected, such as host=db-1 % trace-spans -k write lines
2 % -k '=write': KEY=GLOB is expected % trace-spans -k =write lines
2 % microseconds above 0 are expected % trace-spans -m 0 lines
2 % microseconds above 0 are expected % trace-spans --stuck 1s lines
2 % a whole number above 0 is expected % trace-spans -n 0 lines
2 % --stuck prints while the trace is read, --open and -n print at its end: one of them is expected % trace-spans --stuck 5 --open lines
2 % --stuck prints while the trace is read, --open and -n print at its end: one of them is expected % trace-spans --stuck 5 -n 5 lines
1 % trace-spans: lines: -k args.qpair.hostnqn=*: no span has this key % trace-spans -k 'args.qpair.hostnqn=*' lines
2 % -k 'db-1': KEY=GLOB is expected, such as host=db-1 % trace-causes -k db-1 spans
2 % -k 'qpair.hostnqn=*': no such key; there are host, queue, connection, % trace-causes -k 'qpair.hostnqn=*' spans
2 % those of arguments, such as args.NAME, % trace-spans -k hots=db-1 lines
2 % -g 'hots': no such key; there are host, % trace-causes -g hots lines
1 % trace-causes: spans: -g args.nothing: no request has this key % trace-causes -g args.nothing spans
2 % microseconds above 0 are expected % trace-causes -m 0 spans
2 % a folder, a trace file, trace lines, or a process with -p is expected % trace-report
2 % standard input is no probe lines: name a file % trace-report lines -
2 % 'c': more than a folder, or a trace and what usdt-record recorded with it % trace-report a b c
2 % 'b': more than a folder % trace-report . b
2 % -p '': an id is missing: is the process running? % trace-report -p ''
2 % 'x': of several processes, only the traces are read % trace-report -p 1 -p 2 x
2 % --html '-': give the name of a file % trace-report --html - trace
1 % trace-report: .: no trace.bin, as is in a folder of trace-record % trace-report .
1 % trace-report: spans: span lines, not trace lines; try: the trace lines that trace-spans read % trace-report spans
1 % trace-report: lifetimes: lifetime lines, not probe lines % trace-report trace lifetimes
2 % --ledger has all requests: it cannot be combined with --against, --budget, -g, -m or --open % trace-causes --ledger --open spans
2 % --against compares all requests: it cannot be combined with --budget, -m or --open % trace-causes --against spans -m 5 spans
2 % standard input can only be one of the files % trace-causes --against - <spans
1 % trace-causes: missing: No such file % trace-causes --against missing spans
1 % lifetimes: lifetime lines, not trace lines; try: trace-join -l lifetimes TRACE-LINES % trace-causes --against lifetimes spans
1 % trace-causes: spans: -k args.qpair.hostnqn=*: no request has this key % trace-causes -k 'args.qpair.hostnqn=*' spans
1 % matches -k % trace-causes -k 'id=x*' spans
1 % trace-causes: empty: empty: there are neither trace lines nor span lines % trace-causes empty
2 % option requires an argument % trace-join -l
T
}

# Those that may not have been built.
@test "what is not there to be recorded" {
    command -v usdt-record >/dev/null || lacks 'usdt-record was not built: clang, bpftool or libbpf is missing'
    try_all <<'T'
2 % -p 'nvmf_tgt': a process id is expected % biosnoop -p nvmf_tgt
2 % -p '1,': an id is missing: is the process running? % offwaketime -p 1,
2 % -p 'nvmf_tgt': a process or thread id is expected % offcpusnoop -p nvmf_tgt
2 % -p '': an id is missing: is the process running? % offcpusnoop -p ""
1 % biosnoop: nosuchdisk: not a disk; lsblk lists the disks % biosnoop -d nosuchdisk
1 % biosnoop: /dev/null: not a disk % biosnoop -d /dev/null
1 % biosnoop: /dev: not a cgroup of version 2; findmnt -t cgroup2 lists the mount points % biosnoop -c /dev
1 % biosnoop: ../../proc: not a disk % biosnoop -d ../../proc
1 % biosnoop: missing: No such file or directory % biosnoop -c missing
2 % -P, -Q and --wall are for lines, which -s does not print % biosnoop -s -P
2 % -P, -Q and --wall are for lines, which -s does not print % biosnoop -s -Q
2 % -P, -Q and --wall are for lines, which -s does not print % biosnoop -s --wall
2 % -p '0': a process id is expected % biosnoop -p 0
2 % -n '0': a whole number above 0 is expected % biosnoop -n 0
2 % --buffer '0': a size like 65536, 512K or 16M is expected, below 2G % biosnoop --buffer 0
2 % SECONDS '1s': seconds above 0 are expected, such as 10 or 0.5 % biosnoop 1s
2 % a number of seconds is expected, not 2 operands % biosnoop 10 20 -Q
2 % SECONDS '0.0': seconds above 0 are expected, such as 10 or 0.5 % biosnoop 0.0
2 % a number of seconds is expected, not 2 operands % offwaketime 10 20
2 % SECONDS 'x': seconds above 0 are expected % offwaketime x
2 % -p '0': a process or thread id is expected % offwaketime -p 0
2 % -p '1,,2': an id is missing % offwaketime -p 1,,2
2 % -t 'x': a process or thread id is expected % offwaketime -t x
2 % -p: at most 16 are possible % offwaketime -p 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17
2 % -M is less than -m % offwaketime -m 10 -M 5
2 % -j and -f are two forms of output % offwaketime -j -f
2 % --stack-storage-size '0': a whole number above 0 is expected % offwaketime --stack-storage-size 0
2 % --buffer 'x': a size like 65536, 512K or 16M is expected % offwaketime --buffer x
2 % a process (-p), a cgroup (-c) or a command is expected % offcpusnoop 10
2 % a number of seconds is expected, not 2 operands % offcpusnoop -p $$ 10 -j
2 % a process (-p), a cgroup (-c) or a command is expected % offcpusnoop
2 % SECONDS 'x': seconds above 0 are expected % offcpusnoop -p $$ x
2 % SECONDS '0': seconds above 0 are expected % offcpusnoop -p $$ 0
2 % -p '0': a process or thread id is expected % offcpusnoop -p 0
2 % -p '1,': an id is missing % offcpusnoop -p 1,
2 % -p '1,,2': an id is missing % offcpusnoop -p 1,,2
2 % -p: at most 16 are possible % offcpusnoop -p 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17
2 % microseconds above 0 are expected % offcpusnoop -m 1ms -p $$
2 % microseconds above 0 are expected % offcpusnoop -m 0 -p $$
2 % --buffer 'x': a size like 65536, 512K or 16M is expected % offcpusnoop --buffer x -p $$
2 % a process (-p), a file (-x) or a command is expected % usdt-record
127 % nosuchcommand: No such file or directory % usdt-record nosuchcommand
127 % usdt-record: 1234: No such file or directory; -p is for a process id % usdt-record 1234
126 % Permission denied % usdt-record ./text
1 % text: % usdt-record -x text
1 % missing: No such file or directory % usdt-record -x missing
2 % -F follows the forks of a process % usdt-record -F -x "$(command -v sh)"
2 % a process (-p), a file (-x) or a command is expected % usdt-record -F
2 % 'true': give -p or a command, not both % usdt-record -p 1 true
2 % -p '0': a process id is expected % usdt-record -p 0
2 % -n '0': a whole number above 0 is expected % usdt-record -n 0 true
2 % -D 'x': seconds above 0 are expected % usdt-record -D x true
2 % --buffer '0': a size like 65536, 512K or 16M is expected % usdt-record --buffer 0 true
2 % --buffer '4X': a size like 65536, 512K or 16M is expected % usdt-record --buffer 4X true
2 % --buffer '2G': a size like 65536, 512K or 16M is expected, below 2G % usdt-record --buffer 2G true
2 % -e 'a': a list of arguments is expected % usdt-record -e a
127 % nosuchcommand: No such file or directory % ipcsnoop nosuchcommand
127 % ipcsnoop: 1234: No such file or directory; -p is for a process id % ipcsnoop 1234
2 % a command or a process (-p, --name) is expected % ipcsnoop
2 % a command or a process (-p, --name) is expected, not both % ipcsnoop -p 1 true
2 % a command or a process (-p, --name) is expected, not both % ipcsnoop --name a true
2 % a command or a process (-p, --name) is expected, not both % ipcsnoop --name a -p 1
2 % -p '0': a process id is expected % ipcsnoop -p 0
2 % -s prints counts only, -e events only: one of them is expected % ipcsnoop -s -e true
2 % -D '0': seconds above 0 are expected % ipcsnoop -D 0 true
2 % --buffer '0': a size like 65536, 512K or 16M is expected % ipcsnoop --buffer 0 true
2 % -P and -w are about reads and writes, which -s does not print % ipcsnoop -s -w true
2 % -P and -w are about reads and writes, which -s does not print % ipcsnoop -s -P true
2 % --name 'more_than_15_bytes': the kernel keeps 15 bytes of a name % ipcsnoop --name more_than_15_bytes
1 % process 2147483647: does not exist % usdt-gen -p 2147483647
1 % text: % usdt-gen -x text
2 % 'operand': no operand is expected; -x names a file % usdt-gen operand
2 % -l lists the probes of a place: -x or -p is expected % usdt-gen -l
2 % only one of -x and -p is expected % usdt-gen -p $$ -x "$(command -v sh)"
2 % -p '0': a process id is expected % usdt-gen -p 0
2 % -p '1x': a process id is expected % usdt-gen -p 1x
T
}

@test "processes, threads and files that are not there, and a full disk" {
    command -v usdt-record >/dev/null || lacks 'usdt-record was not built: clang, bpftool or libbpf is missing'
    runs_here biosnoop 0.01 || lacks "no BPF here: $(cat err)"
    try_all <<'T'
1 % <stdin>: the text of a tool that records % biosnoop -q 0.01 | trace-spans
1 % <stdin>: the text of a tool that records % offcpusnoop -q -p $$ 0.01 | trace-merge
1 % <stdin>: the text of a tool that records % ipcsnoop -q -- sh -c 'echo | cat >&2' | trace-join
1 % biosnoop: process 2147483647: does not exist % biosnoop -p 2147483647
1 % offwaketime: process 2147483647: does not exist % offwaketime -p 2147483647 1
1 % offwaketime: process 2147483647: does not exist % offwaketime -p $$,2147483647 1
1 % offwaketime: thread 2147483647: does not exist % offwaketime -t 2147483647 1
1 % offcpusnoop: process 2147483647: does not exist % offcpusnoop -p 2147483647
1 % offcpusnoop: process 2147483647: does not exist % offcpusnoop -p "$$ 2147483647" 0.1
1 % process 2147483647: does not exist % usdt-record -p 2147483647
1 % ipcsnoop: process 2147483647: does not exist % ipcsnoop -p 2147483647
1 % biosnoop: missing/file: No such file or directory % biosnoop -o missing/file
1 % ipcsnoop: missing/file: No such file or directory % ipcsnoop -o missing/file -- true
1 % biosnoop: /dev/full: No space left on device % biosnoop -q -o /dev/full 1
1 % ipcsnoop: /dev/full: No space left on device % ipcsnoop -q -o /dev/full -- true
1 % offcpusnoop: /dev/full: No space left on device % offcpusnoop -q -o /dev/full -p $$ 1
1 % offwaketime: /dev/full: No space left on device % offwaketime -q -f -o /dev/full 1
T
}
