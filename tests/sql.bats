#!/usr/bin/env bats
# docs/sql.md: its queries are taken from the page, and what they find is computed again with jq from span lines.

load helpers

PAGE=$BATS_TEST_DIRNAME/../docs/sql.md

# Prints a block of a section of the page: sql, the first or second one, or what they print.
block() { # TITLE KIND NUMBER
    awk -v title="## $1" -v fence="\`\`\`$2" -v number="$3" '
        /^## / { inside = substr($0, 1, length(title)) == title }
        $0 == "```" && inside && block { block = 0; next }
        block == number && block { print }
        /^```/ && inside { block = $0 == fence ? ++n : -1 }
    ' "$PAGE"
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
    sed 's/"//g; s/\[NULL\]//g; :a; s/,,/,-,/; ta; s/^,/-,/; s/,$/,-/; s/,/ /g'
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

# Runs the query of a question.
trace_processor() { # TITLE
    { block 'For trace_processor' sql 1; block "$1" sql 1; } >query.sql
    "$TRACE_PROCESSOR" -q query.sql trace.pftrace 2>said | csv || { cat said; return 1; }
}

duck() { # TITLE
    { block 'For DuckDB' sql 1; block "$1" sql 2; } | duckdb -csv -nullvalue - | csv
}

# The same from span lines.
answer() { # NUMBER [ENGINE]
    jq -r -s --argjson number "$1" --arg main target --arg engine "${2:-trace_processor}" \
        -f "$BATS_TEST_DIRNAME/sql.jq" spans.jsonl | csv
}

titles() {
    sed -n 's/^## \([0-9]*\. .*\)/\1/p' "$PAGE"
}

@test "the tables of the page are what span lines say" {
    files_of_page
    equal "$(titles | wc -l)" 10
    titles | while read -r title; do
        alike <(block "$title" '' 1) <(answer "${title%%.*}") || { echo "$title"; return 1; }
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
        sample $name >target
        trace-merge -q -s target=target >lines
        files_of lines
        titles | while read -r title; do
            for engine in $engines; do
                alike <($engine "$title") <(answer "${title%%.*}" "$engine") || { echo "$name: $title"; return 1; }
            done
        done
    done
}
