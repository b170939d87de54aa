#!/usr/bin/env bats
# bats file_tags=sanitizers

load helpers

# Trace lines at these ticks, of which there are 2.6 in a nanosecond, counted from the first.
lines_at() { # TICKS...
    printf '%s\n' "$@" | awk 'NR == 1 { first = $1 }
        { printf "{\"tsc\":%.0f,\"us\":%.3f,\"lcore\":0,\"tpoint\":\"T%d\"}\n", $1, ($1 - first) / 2600, NR }'
}

# What a line has but for its time and source.
rest() {
    sed -E 's/"us":[-0-9.]+,("source":"[^"]*",)?//' "$@"
}

@test "all lines come in the order of their ticks, and nothing else of them changes" {
    mktrace -l G6 -R 40 -o t "$DATA/sample-g3.jsonl"
    trace-dump -q t >all
    awk 'NR % 3' all >a
    awk 'NR % 5 == 0' all >b
    awk 'NR % 7 == 0' all >c
    trace-merge a b c >merged
    cat a b c | sed -E 's/^\{"tsc":([0-9]+)/\1 &/' | sort -s -n -k 1,1 | cut -d' ' -f 2- >want
    cmp <(rest merged) <(rest want)
    # and each source is what it was
    for source in a b c; do
        cmp <(grep -F "\"source\":\"$source\"" merged | rest) <(rest $source)
    done
}

@test "times are counted from the first line, at one rate" {
    mktrace -l G6 -o t "$DATA/sample-g3.jsonl"
    trace-dump -q t >all
    tail -n +100 all | awk 'NR % 2' >a
    tail -n +100 all | awk 'NR % 2 == 0' >b
    # of other times, as of another trace: they have another start
    first=$(head -n 1 b | jq .us)
    jq -c --argjson first "$first" '.us -= $first' b | sed -E 's/"us":([0-9]+),/"us":\1.000,/' >c
    trace-merge a c | jq -r .us >is
    tail -n +100 all | jq -r --argjson first "$(sed -n 100p all | jq .us)" '.us - $first' >want
    paste is want | awk '{ d = $1 - $2; if (d > 0.0011 || d < -0.0011) { print; exit 1 } }'
}

@test "the rate is that of the first source, of a file and of a pipe" {
    lines_at 2600 26002600 >a
    lines_at 5200 >b
    status_is 0 trace-merge a b
    equal "$(jq -c '[.us, .source]' <<<"$output" | plain)" '[0,"a"]
[1,"b"]
[10000,"a"]'
    status_is 0 trace-merge <(cat a) b
    equal "$(jq -c .us <<<"$output" | plain)" '0
1
10000'
    # the source that has one line says nothing of it
    status_is 0 trace-merge b a
    equal "$(jq -c .us <<<"$output" | plain)" '0
1
10000'
    status_is 0 trace-merge -r 1300000000 a b
    equal "$(jq -c .us <<<"$output" | plain)" '0
2
20000'
    says 'a: its times are of 2600000000 ticks per second, not of 1300000000: see --rate'
    # the rate of the same clock, once measured and once rounded by DPDK
    succeeds trace-merge -r 2596118113 a b
    status_is 0 trace-merge -r 2594000000 a b
    says 'a: its times are of 2600000000 ticks per second, not of 2594000000: see --rate'
    fails 'no source has two lines with different times, which give the rate of the ticks: use --rate' trace-merge b
}

@test "lost entries stay so" {
    lines_at 2600 26002600 | sed '$s/}$/,"lost":true}/' >a
    equal "$(trace-merge a | jq -c .lost)" 'null
true'
}

@test "a source may be a trace, compressed or not, a file or a pipe" {
    mktrace -l G6 "$DATA/common.jsonl" >trace
    trace-dump trace >lines
    trace-merge lines other=lines >want
    trace-merge lines=trace other=trace | cmp want -
    gzip -k trace
    trace-merge lines=trace.gz other=- <trace | cmp want -
    head -c 3000 trace >"cut"
    status_is 1 trace-merge lines cut
    equal "$output" "$(trace-merge lines)"
    says 'trace-merge: cut: trace-dump: exit status 1'
}

@test "sources have the names of their files, or those before them" {
    lines_at 2600 26002600 >a
    lines_at 5200 >'a "b"'
    status_is 0 trace-merge 'x y=a' "$PWD/a \"b\"" - <a
    equal "$(jq -r .source <<<"$output")" 'x y
stdin
a "b"
x y
stdin'
    # merged lines keep their names
    status_is 0 sh 'trace-merge x=a "y=a \"b\"" | trace-merge z=a -'
    equal "$(jq -r .source <<<"$output")" 'z
x
y
z
x'
    status_is 2 trace-merge a "$PWD/a"
    says "two sources are called 'a': NAME=FILE gives another name"
}

@test "lines of any form are merged, and what is no trace line is left out" {
    printf '%s\n' '{"us":1e3,"source":"own","lcore":0,"tpoint":"A","tsc":7}' 'no' \
        ' { "lcore" : 1, "tsc": 9 , "us": -0.5, "tpoint": "B" } ' '{"tsc":8,"us":1.000,"lcore":0' >a
    status_is 1 trace-merge -r 1000000 a
    equal "$output" '{"us":0.000,"source":"own","lcore":0,"tpoint":"A","tsc":7}
 { "lcore" : 1, "tsc": 9 , "us": 2.000,"source":"a", "tpoint": "B" } '
    says 'trace-merge: a:2: not a trace line, left out: an object is expected'
    says 'trace-merge: a:4: not a trace line, left out: '
}

@test "what is strange about the sources is said" {
    lines_at 2600 26002600 >a
    lines_at 2600 52000 26000 >b
    status_is 0 trace-merge a b
    says 'b: 1 line is earlier than a previous one, and was not sorted'
    lines_at 7826002600 8000000000 >c
    status_is 0 trace-merge a c
    says 'c: all of it is later than the sources named before it, by 3.000 s: is it from the same machine?'
    status_is 0 trace-merge c a
    says 'a: all of it is earlier than the sources named before it, by 3.000 s'
    succeeds trace-merge -q c a
    : >empty
    status_is 0 trace-merge a empty
    says 'empty: empty: there are no trace lines'
}

@test "without --lag a silent source holds up the others, with it it does not" {
    lines_at 2600 26002600 >a
    mkfifo pipe silent
    trace-merge silent pipe >out &
    local merge=$!
    exec 7>silent 8>pipe
    lines_at 2600 7800000 >&7
    lines_at 7900000 26002600 >&8
    # what comes first is there, as the pipe shows that it is
    wait_for_text '"tsc":7800000' out
    lines_at 26000000 >&7
    wait_for_text '"tsc":26000000' out
    equal "$(wc -l <out)" 4
    exec 7>&- 8>&-
    wait "$merge"
    equal "$(wc -l <out)" 5

    # both have lines when it begins: between two of them the machine may be busy for longer than --lag
    exec 7<>silent 8<>pipe
    lines_at 2600 26002600 >&7
    lines_at 5200 36000000 >&8
    trace-merge --lag 50 silent pipe >out 2>err 7>&- 8>&- &
    merge=$!
    wait_for_text '"tsc":36000000' out
    # too late
    lines_at 30000000 >&7
    wait_for_text '"tsc":30000000' out
    exec 7>&- 8>&-
    wait "$merge"
    grep -F 'trace-merge: 1 line came too late and follows later ones: see --lag' err
    equal "$(jq .tsc out)" '2600
5200
26002600
36000000
30000000'
}

@test "with --lag, what comes while a line waits is read and kept" {
    mktrace -l G6 -R 400 -o t "$DATA/sample-g3.jsonl"
    trace-dump -q t >all
    mkfifo pipe silent
    # longer than it takes to write and to look
    trace-merge --lag 30000 a=pipe silent >out &
    local merge=$!
    exec 8>pipe 7>silent
    # more than a pipe holds; the writer does not wait for --lag
    timeout 60 cat all >&8
    exec 8>&-
    equal "$(wc -c <out)" 0
    exec 7>&-
    wait "$merge"
    cmp <(rest out) <(rest all)
}

@test "objects of two sources are different ones, in all that reads merged lines" {
    mktrace -o t "$DATA/sample.jsonl"
    trace-dump -q t >all
    # the same objects in both, a microsecond apart
    rate=$(trace-dump -i t | sed -n 's/.*"tsc_rate":\([0-9]*\).*/\1/p')
    jq -c --argjson ticks $((rate / 1000000)) '.tsc += $ticks' all | sed -E 's/"us":([0-9]+)([,}])/"us":\1.000\2/g' >later
    trace-merge -q a=all b=later >merged
    trace-spans -q -j -a merged | jq -c 'del(.us, .source)' | sort >is
    { trace-spans -q -j -a all; trace-spans -q -j -a later; } | jq -c 'del(.us)' | sort >want
    [ -s want ]
    diff want is
    equal "$(trace-spans -q -j -k source=a merged | jq -r .source | sort -u)" a
    trace-latency -q merged >is
    trace-latency -q --merge <(trace-latency -qe all) <(trace-latency -qe later) >want
    diff want is
}
