# For run: what the project says about a recording. Nothing else depends on the output of the tools.

# Writes FOLDER/page, and prints one object:
#   line   the cause, in the words of the page
#   said   the same with its cause, who, victim, and the us of all requests together
#   also   such objects of all others that the page names somewhere, and of what has a quarter of the time
#   hosts  the causes of single hosts, in the words of the page
# Of several processes, the page has one cause, whose words after the first one are its culprit.
answer() { # FOLDER
    COLUMNS=1000 trace-report "$1" >"$1/page" 2>"$1/page.err"
    if [ ! -e "$1/trace.bin" ]; then
        jq -Rn 'input | sub("^cause: "; "") as $line | (if . == $line then null else $line end) as $cause |
            {line: ($cause // ""), hosts: [], also: [],
                said: ($cause | if . then {cause: sub(" .*"; ""), who: ., victim: "", us: 0} else . end)}' "$1/page"
        return
    fi
    trace-report -j "$1" >"$1/causes" 2>/dev/null
    jq -n --rawfile page "$1/page" --slurpfile found "$1/causes" '
        def finding:
            select(.cause != "none") | {cause, who: (.text // .who // "" | split("\n")[0]), victim: (.victim // ""), us: ((.excess_us // 0) * (.slow // 0))};
        def row: {cause, who: (.who // .of // ""), victim: (.host // ""), us};
        def most: group_by([.resource, .host]) as $rows | ($rows | map(map(.us) | add)) as $us |
            range($rows | length) | select($us[.] >= ($us | add) / 4) as $i | $rows[$i] | max_by(.us) + {us: $us[$i]};
        [$found[] | select(.group)] as $hosts | [$found[] | select(.group | not)] as $all |
        [$all[].rows // [] | most | row] as $rows |
        [$all[] | finding] as $all |
        # a hang is in the first lines of the page
        ($found[0].text // "" | split("\n")) as $hang |
        (if $hang != [] then $hang[0] as $first | [$page | split("\n")[:12][] | select(. == $first)]
            else [$page | scan("(?m)^cause: (.*)")[]] end)[0] as $line |
        {line: ($line // ""), said: (if $line then $all[0] else null end),
            hosts: ([$page | scan("(?m)^    cause: (.*)")[]]),
            also: (if $line then $all[1:] else $all end + $rows +
                [$hosts[] | select($page | test("(?m)^    cause: ")) | finding])}'
}

# The ticks of the first and the last entry.
window() { # FOLDER
    trace-dump -q "$1${names:+/${names[0]}}/trace.bin" | sed -n '1p;$p' | jq .tsc
}
