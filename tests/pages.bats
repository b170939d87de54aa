#!/usr/bin/env bats
# The manual pages: their order, and what they show.

load helpers

PAGES=$BATS_TEST_DIRNAME/../docs

@test "pages have the same sections in the same order" {
    local order='^NAME;SYNOPSIS;DESCRIPTION;(OUTPUT;EXIT STATUS;EXAMPLES;(PERFORMANCE;)?)?SEE ALSO;CAVEATS;$'
    for page in "$PAGES"/*.[17]; do
        sections=$(sed -n 's/^\.Sh //p' "$page" | tr '\n' ';')
        [[ $sections =~ $order ]] || { echo "$page: $sections"; return 1; }
        [[ $page == *.7 || $sections == *PERFORMANCE* ]]
    done
}

# Writes the literal blocks of a section of a page to block.01 and so on, as mandoc would show them.
blocks_of() { # PAGE SECTION
    rm -f block.*
    awk -v section="$2" '
        /^\.Sh / { examples = $2 == section }
        /^\.Ed/ { block = 0 }
        block { print >file }
        /^\.Bd -literal/ && examples { block = 1; file = sprintf("block.%02d", ++number) }
    ' "$PAGES/$1"
    sed -i 's/\\-/-/g; s/\\(aq/'\''/g; s/\\(dq/"/g; s/\\e/\\/g' block.*
}

# Whether the words of a block are in a file in this order: pages break lines, and leave out columns.
shows() { # FILE
    awk -v file="$1" '
        BEGIN { while ((getline line <file) > 0) { gsub(/[ \t]/, "", line); rest = rest line "\n" } }
        { for (i = 1; i <= NF; i++) {
            if (!(at = index(rest, $i))) { print "not printed: " $i; exit 1 }
            rest = substr(rest, at + length($i))
        } }'
}

# Runs the commands in a section of a page, and looks for what else is there in what they printed.
run_examples() { # PAGE [SECTION]
    blocks_of "$1" "${2:-EXAMPLES}"
    for block in block.*; do
        read -r first _ <"$block"
        if grep -q -e pidof -e nvmf_tgt -e rpc.py -e /dev/shm "$block" || { [ "$first" = xz ] && ! command -v xz >/dev/null; }; then
            continue # about a running target, or needs xz
        elif command -v "$first" >/dev/null; then
            echo "$1:" && cat "$block"
            bash -e -o pipefail "$block" >printed
            # what was written to a file instead
            [ -s printed ] || cp "$(sed -n 's/.* > \([^ ]*\)$/\1/p' "$block" | tail -n 1)" printed
            [ -s printed ]
        else
            shows printed <"$block"
        fi
    done
}

@test "the lines that spdk-trace-lines(7) shows are those of the sample" {
    mktrace "$DATA/sample.jsonl" >trace
    trace-dump trace >lines
    qpair-lifetimes "$DATA/sample-probes.txt" >lifetimes
    trace-join -l lifetimes lines >text
    trace-join -s -l lifetimes lines >short
    # the page has them in another order
    cat lines text short "$DATA/sample-probes.txt" "$DATA/sample-probes.txt" lifetimes >printed
    blocks_of spdk-trace-lines.7 EXAMPLES
    [ -e block.04 ]
    for block in block.*; do shows printed <"$block"; done
}

@test "the examples of the filters' pages do what they say" {
    # the first ones make the sample, in the source tree when it is built
    ln -s "$BATS_TEST_DIRNAME" tests
    ln -s "$BIN" build
    make() { :; }
    export -f make
    run_examples spdk-trace-tools.7
    cp nvmf_trace.pid1234 good.trace
    cp nvmf_trace.pid1234 new.trace
    run_examples spdk-trace-session.7 DESCRIPTION
    for page in trace-dump.1 qpair-lifetimes.1 trace-join.1 trace-latency.1 trace-chrome.1 trace-perfetto.1 trace-spans.1 trace-merge.1; do
        run_examples "$page"
    done
}
