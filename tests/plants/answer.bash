# For run: what the project says about a recording. Nothing else depends on the output of the tools.

# Writes FOLDER/page, and prints one object:
#   line   the cause, in the words of the page
#   said   the same with its cause, who, victim, and the us of all requests together
#   also   such objects of all others that the page names somewhere, and of what a quarter of the time was waited for
#   hosts  the causes of single hosts, in the words of the page
answer() { # FOLDER
    local more=() file
    trace-report --color never --wide "$1" >"$1/page" 2>"$1/page.err"
    qpair-lifetimes -q --rpc "$1/rpc.jsonl" "$1/usdt.txt" >"$1/lifetimes" 2>/dev/null
    for file in "$1/offcpu.jsonl" "$1/bio.jsonl"; do [ ! -s "$file" ] || more+=("$file"); done
    trace-dump -q "$1/trace.bin" | trace-join -q -j -l "$1/lifetimes" - | trace-merge -q - "${more[@]}" |
        trace-spans -q -j >"$1/spans" 2>/dev/null
    trace-causes -q -j "$1/spans" >"$1/causes"
    trace-causes -q -j -g host "$1/spans" >"$1/causes-by-host"
    jq -n --rawfile page "$1/page" --slurpfile all "$1/causes" --slurpfile hosts "$1/causes-by-host" '
        # the page knows the limits of the target, span lines do not
        def limited: "a rate limit of bdev \(.who) (" as $limit |
            if .cause == "bdev" and ($page | contains($limit)) then .cause = "rate_limit" else . end;
        def finding:
            select(.cause != "none") | limited | {cause, who: (.who // ""), victim: (.victim // ""), us: (.excess_us * .slow)};
        def wait: {cause: .for, who: (.bdev // .leg // .who // ""), victim: (.victim // ""), us};
        def most: group_by([.for, .victim]) as $rows | ($rows | map(map(.us) | add)) as $us |
            range($rows | length) | select($us[.] >= ($us | add) / 4) as $i | $rows[$i] | max_by(.us) + {us: $us[$i]};
        [$all[].waits // [] | most | wait] as $waits |
        [$all[] | finding] as $all |
        [$page | scan("(?m)^cause: (.*)")[]][0] as $line |
        {line: ($line // ""), said: (if $line then $all[0] else null end),
            hosts: ([$page | scan("(?m)^    cause: (.*)")[]]),
            also: (if $line then $all[1:] else $all end + $waits +
                [$hosts[] | select($page | test("(?m)^    cause: ")) | finding])}'
}

# The ticks of the first and the last entry.
window() { # FOLDER
    trace-dump -q "$1/trace.bin" | sed -n '1p;$p' | jq .tsc
}
