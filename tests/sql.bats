#!/usr/bin/env bats
# docs/sql.md: its queries are taken from the page, and what they find is computed again with jq from span lines.
# bats file_tags=plain

load helpers

PAGE=$BATS_TEST_DIRNAME/../docs/sql.md

# Prints a block of a section of the page: sql, the first or second one, or what they print.
block() { # TITLE KIND NUMBER [PAGE]
    awk -v title="## $1" -v fence="\`\`\`$2" -v number="$3" '
        /^## / { inside = substr($0, 1, length(title)) == title }
        $0 == "```" && inside && block { block = 0; next }
        block == number && block { print }
        /^```/ && inside { block = $0 == fence ? ++n : -1 }
    ' "${4:-$PAGE}"
}

# The commands of the page's first section, in the folder of its files.
files_of_page() {
    cp "$DATA"/sql/* .
    sed -n '/^## /q; s/^    //p' "$PAGE" >commands
    [ "$(wc -l <commands)" = 4 ]
    bash -e -o pipefail commands
}

# Makes both files of trace lines; they have no target but the one.
files_of() { # LINES
    trace-perfetto -q "$1" >trace.pftrace
    trace-spans -q -a -j "$1" >spans.jsonl
}

# CSV as words, without quotes; a dash for nothing.
csv() {
    sed '/^$/d; s/"//g; s/\[NULL\]//g; :a; s/,,/,-,/; ta; s/^,/-,/; s/,$/,-/; s/,/ /g'
}

# Compares tables whose numbers are rounded, to three decimals or more.
alike() { # FILE FILE
    awk -v other="$2" '
        function differ(a, b) {
            return a ~ /^[0-9.]+$/ && b ~ /^[0-9.]+$/ ? a - b > 0.0006 || b - a > 0.0006 : a != b
        }
        { if ((getline line <other) <= 0) line = ""
          bad = split(line, words) != NF
          for (i = 1; i <= NF; i++) bad = bad || differ($i, words[i])
          if (bad) { print "is:        " $0 "\nshould be: " line; failed = 1 } }
        END { if ((getline line <other) > 0) { print "missing:   " line; failed = 1 }; exit failed || !NR }' "$1"
}

needs_trace_processor() {
    [ -n "${TRACE_PROCESSOR:-}" ] || skip 'TRACE_PROCESSOR does not name trace_processor_shell'
}

# Runs the query of a question, or of another one with the same tables.
trace_processor() { # [TITLE]
    block 'For trace_processor' sql 1 >query.sql
    if [ $# = 0 ]; then cat; else block "$1" sql 1; fi >>query.sql
    "$TRACE_PROCESSOR" -q query.sql trace.pftrace 2>said | csv || { cat said; return 1; }
}

duck() { # TITLE
    { block 'For DuckDB' sql 1; block "$1" sql 2; } | duckdb -csv -nullvalue - | csv
}

# The same from span lines.
answer() { # NUMBER [ENGINE]
    jq -r -s --argjson number "$1" --arg engine "${2:-trace_processor}" \
        -f "$BATS_TEST_DIRNAME/sql.jq" spans.jsonl | csv
}

titles() {
    sed -n 's/^## \([0-9]*\. .*\)/\1/p' "$PAGE"
}

@test "the tables of the page are what span lines say" {
    files_of_page
    equal "$(titles | wc -l)" 6
    titles | while read -r title; do
        alike <(block "$title" '' 1) <(answer "${title%%.*}") || { echo "$title"; return 1; }
    done
}

@test "the queries ask for no source, which one trace alone does not have" {
    run ! grep -n "source = '" "$PAGE"
    for name in sample sample-g3 slow-host; do
        sample $name | trace-spans -q -a -j >spans.jsonl
        [ "$(answer 1 | grep -c ^SPDK)" = 10 ]
        equal "$(answer 6)" 'id type lba us store_id store_us'
    done
}

@test "DuckDB finds the same in span lines" {
    command -v duckdb >/dev/null || skip 'duckdb is not here'
    files_of_page
    titles | while read -r title; do
        alike <(duck "$title") <(answer "${title%%.*}" duck) || { echo "$title"; return 1; }
    done
}

@test "trace_processor finds the same in the picture" {
    needs_trace_processor
    files_of_page
    titles | while read -r title; do
        alike <(trace_processor "$title") <(answer "${title%%.*}" trace_processor) || { echo "$title"; return 1; }
    done
}

# Lines of a sample, with names of hosts.
sample() { # NAME
    if [ -e "$DATA/$1.trace.gz" ]; then gzip -dc "$DATA/$1.trace.gz"; else mktrace "$DATA/$1.jsonl"; fi >trace
    qpair-lifetimes -q "$DATA/$1-probes.txt" >lifetimes
    trace-dump -q trace | trace-join -q -j -l lifetimes
}

@test "both engines find the same in other traces" {
    local engine engines=''
    ! command -v duckdb >/dev/null || engines=duck
    [ -z "${TRACE_PROCESSOR:-}" ] || engines="$engines trace_processor"
    [ -n "$engines" ] || skip 'duckdb is not here, and TRACE_PROCESSOR does not name trace_processor_shell'
    for name in sample sample-g3 slow-host; do
        sample $name >lines
        files_of lines
        titles | while read -r title; do
            for engine in $engines; do
                alike <($engine "$title") <(answer "${title%%.*}" "$engine") || { echo "$name: $title"; return 1; }
            done
        done
    done
}

# What trace_processor says of its input: problems of these are mistakes of the trace.
problems() {
    trace_processor <<<"SELECT name, idx, value FROM stats WHERE value > 0 AND severity IN ('error', 'data_loss')"
}

# Compares a trace of Perfetto with the spans of the same lines: objects and their states, with their times, arrows,
# arguments, and how many requests the counters count.
same_as_spans() { # LINES
    files_of "$1"
    equal "$(problems)" 'name idx value'
    jq -r 'def ns: . * 1000 | round;
        "\(.source // "SPDK") \(.id) \(.value)" as $object | .open as $open | (.us | ns) as $start | .states as $states |
        "\($object) - \($start) \(if $open then -1 else .life | ns end)",
        ($states | to_entries[] | "\($object) \(.value[0]) \($start + ([$states[:.key][][1] | ns] | add // 0)) \(
            if .key + 1 < ($states | length) then .value[1] | ns elif $open then -1 else 0 end)")' spans.jsonl | sort >want
    [ -s want ]
    trace_processor <<'S' | tail -n +2 | sort | diff want -
WITH keys AS (
    SELECT slice.*, source || ' ' || object || printf(' 0x%x', extract_arg(arg_set_id, 'debug.value')) AS key
    FROM objects JOIN slice ON slice.id = objects.slice
)
SELECT key, NULL, ts, dur FROM keys
UNION ALL
SELECT key, state.name, state.ts, state.dur FROM keys JOIN slice state ON state.parent_id = keys.id
S
    # besides objects and states there are instants and times of reactors: nothing is deeper
    equal "$(trace_processor <<<'SELECT max(depth) AS d FROM slice' | tail -n 1)" 1
    jq -r 'select(.children) | .id as $id | .children[] | "\($id) \(.)"' spans.jsonl | sort >want
    trace_processor <<'S' | tail -n +2 | sort | diff want -
SELECT above.object, below.object
FROM flow
LEFT JOIN objects above ON above.slice = slice_out
LEFT JOIN objects below ON below.slice = slice_in
S
    jq -r '"\(.id) \(.us * 1000 | round)" as $object | .args // {} | paths(scalars) as $path |
        "\($object) debug.args.\($path | map(tostring) | join(".")) \(getpath($path))"' spans.jsonl | sort >want
    trace_processor <<'S' | tail -n +2 | sort | diff want -
SELECT object, ts, key, display_value
FROM objects JOIN slice USING (ts) JOIN args USING (arg_set_id)
WHERE slice.id = objects.slice AND key GLOB 'debug.args.*'
S
    # one that has final states only is never in flight; one whose end is missing is, until its address is used again
    jq -r -s 'map(select((.parent | not) and any(.states[][0]; test("(COMPLETED?|DONE)$") | not))) | group_by(.source)[] |
        "\(.[0].source // "SPDK") \((length * 2) - (map(select(.open)) | length)) \(map(select(.open)) | length)"' spans.jsonl >want
    trace_processor <<'S' | tail -n +2 | diff want -
SELECT source, steps, CAST(value AS INT)
FROM (
    SELECT process.name AS source, count(*) AS steps, value, max(counter.id)
    FROM counter JOIN track ON track.id = counter.track_id JOIN track process ON process.id = track.parent_id
    WHERE track.name = 'requests in flight' AND process.parent_id IS NULL
    GROUP BY source
    ORDER BY source
)
S
}

@test "every span is a slice for trace_processor, with its times, arrows and arguments" {
    needs_trace_processor
    for name in sample sample-g3 slow-host; do
        sample $name >in
        same_as_spans in
    done
    # the end of a request is missing, and another one has its address
    sample slow-host | grep -v '"id":"r0","us"' >in
    same_as_spans in
    equal "$(jq -c 'select(.id == "r0") | [.open, (.states | length)]' spans.jsonl)" '[null,1]'
    # two targets, and what held the reactors of one
    files_of_page
    same_as_spans lines.jsonl
    equal "$(trace_processor <<<"SELECT count(*) FROM slice WHERE dur > 0 AND arg_set_id IN (SELECT arg_set_id FROM args
        WHERE key = 'debug.args.why')" | tail -n 1)" "$(grep -c OFF_CPU offcpu.jsonl)"
}

@test "trace_processor knows the time of day of everything, from lines that have one" {
    needs_trace_processor
    sample sample | sed 's/"us":[0-9.]*/&,"time":"2026-11-21T13:14:15.123456789Z"/' >in
    files_of in
    equal "$(problems)" 'name idx value'
    equal "$(trace_processor <<<'SELECT DISTINCT to_realtime(ts) - ts AS t FROM slice')" "t
$((1795266855123456789 - $(head -n 1 in | jq '.us * 1000 | round')))"
}
