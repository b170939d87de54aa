#!/usr/bin/env bats
# The manual pages: their order, and what they show.
# bats file_tags=plain

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

@test "every page names its exit statuses in the same form" {
    for page in "$PAGES"/*.1; do
        awk '/^\.Sh / { inside = $2 == "EXIT" } inside && /^\.It [0-9]/ { getline text; print $2, text }' "$page" >statuses
        sed -n '1s/^0 Success.*/0/p; 2s/^1 .*/1/p; 3s/^2 Wrong usage.*/2/p' statuses | tr '\n' ' ' | grep -qx '0 1 2 '
    done
}

@test "SEE ALSO has all pages of ours that a page refers to, in order" {
    for page in "$PAGES"/*.[17]; do
        awk '/^\.Sh / { also = $2 == "SEE" } also && /^\.Xr / { print $3, $2 }' "$page" >also
        LC_ALL=C sort -u also | diff also -
        sed 's/.*\<Xr \([^ ]*\) \([0-9]\).*/Xr \2 \1/' "$page" | sed -n 's/^Xr //p' | sort -u | while read -r section name; do
            [ -e "$PAGES/$name.$section" ] || continue
            [ "$page" -ef "$PAGES/$name.$section" ] || grep -qx "$section $name" also || { echo "$page: $name"; return 1; }
        done
        # no reference leads to a page of ours that is not there
        sed -n 's/.*\<Xr \(\(trace\|usdt\|spdk\|qpair\)-[^ ]*\) \([0-9]\).*/\1.\3/p' "$page" | while read -r name; do
            [ -e "$PAGES/$name" ] || { echo "$page: $name"; return 1; }
        done
    done
}

# As a terminal of 80 columns shows a page.
rendered() { # PROGRAM PAGE
    case $1 in
    mandoc) mandoc -T ascii -O width=78 "$2" ;;
    # as man-db calls it
    groff) groff -m mandoc -T ascii -P -cbou -r LL=78n -r LT=78n "$2" ;;
    esac | col -bx
}

@test "pages fit 80 columns, with a line for each row of the table of tools" {
    local program page rows any=''
    rows=$(sed -n 's/^\.It Xr \([^ ]*\) \([0-9]\) Ta \(.*\) Ta /\1(\2) \3 /p' "$PAGES/spdk-trace-tools.7")
    equal "$(wc -l <<<"$rows")" "$(find "$ROOT/cmd" -mindepth 1 -maxdepth 1 | wc -l)"
    for program in mandoc groff; do
        command -v $program >/dev/null || continue
        any=1
        for page in "$PAGES"/*.[17]; do
            rendered $program "$page" >shown
            # an address is never broken; groff 1.23 indents everything by two more
            equal "$program $page: $(awk 'length > 78 && !/https:/' shown)" "$program $page: "
        done
        rendered $program "$PAGES/spdk-trace-tools.7" | sed 's/^ *//; s/  */ /g' >squeezed
        while read -r row; do grep -qxF "$row" squeezed || { echo "$program: $row"; return 1; }; done <<<"$rows"
    done
    [ -n "$any" ] || lacks 'mandoc is not here'
}

@test "every page says in a few words what to do with it" {
    equal "$(sed -nE '/^\.Nd ([^a-z]|(a|an|the|how|why|which|when|from|small|trace|lines?) )/p' "$PAGES"/*.[17])" ''
    # whatis shows a line of it
    for page in "$PAGES"/*.[17]; do
        equal "$page: $(awk '/^\.N[md] / { n += length($0) - 3 } /^\.Nd/ { exit } END { print (n > 100) }' "$page")" "$page: 0"
    done
}

# Writes what a page shows in literal blocks to block.01 and so on, as mandoc would show it; in Markdown these are lines
# indented by four blanks. The first block after a heading has a name that ends in +.
blocks_of() { # PAGE [SECTION]
    rm -f block.*
    awk -v section="${2:-}" -v markdown="$([[ $1 != *.md ]] || echo 1)" '
        function start() { open = 1; file = sprintf("block.%02d%s", ++number, heading ? "+" : ""); heading = 0 }
        markdown && /^```/ { fenced = !fenced }
        markdown && /^#/ && !fenced { heading = 1 }
        markdown && (!/^    / || fenced) { open = open && !NF; next }
        markdown && !open { start() }
        markdown { print substr($0, 5) >file; next }
        /^\.S[hs] / { heading = 1 }
        /^\.Sh / { wanted = section == "" || $2 == section }
        /^\.Ed/ { open = 0 }
        open { print >file }
        /^\.Bd -literal/ && wanted { start() }
    ' "$PAGES/$1"
    [[ $1 == *.md ]] || sed -i 's/\\-/-/g; s/\\(aq/'\''/g; s/\\(dq/"/g; s/\\e/\\/g' block.*
}

# Whether the words of a block are in a file in this order: pages break lines, and leave out columns.
shows() { # FILE
    awk -v file="$1" '
        BEGIN { while ((getline line <file) > 0) { gsub(/[ \t]/, "", line); rest = rest line "\n" } }
        { gsub(/<TAB>/, ""); sub(/….*/, "") }
        { for (i = 1; i <= NF; i++) {
            if (!(at = index(rest, $i))) { print "not printed: " $i; exit 1 }
            rest = substr(rest, at + length($i))
        } }'
}

# Makes the folder "there" for commands that need what is not here, such as a running target: with a stand-in for each tool
# that checks its command line and prints nothing, and with stand-ins for other programs.
there() {
    mkdir -p there/stand-ins there/build/bin there/scripts there/spdk
    cat >there/stand-ins/any <<'S'
#!/usr/bin/env bash
set -e
name=${0##*/}
[ -x "$BIN/$name" ] || exit 0
options=$("$BIN/$name" --help | sed -n 's/^  *\(-\([a-zA-Z]\), \)\{0,1\}--\([a-z-]*\)\( [^ ]\)\{0,1\}.*/\2,\3,\4/p')
letters=$(awk -F , '$1 { printf "%s%s", $1, $3 ? ":" : "" }' <<<"$options")
names=$(awk -F , '{ printf "%s%s,", $2, $3 ? ":" : "" }' <<<"$options")
line=$(getopt -n "$name" -o "+$letters" -l "$names" -- "$@")
eval set -- "$line"
given=()
while [ "$1" != -- ]; do
    [ "$1" != -o ] || : >"$2"
    given+=("$1")
    shift
done
# the tool looks at their arguments before it prints its help
"$BIN/$name" "${given[@]}" --help >/dev/null
[ "$name" != usdt-record ] || echo 'usdt-record: recording' >&2
S
    printf '#!/bin/sh\n' >there/scripts/rpc.py
    cp "$(type -P true)" there/build/bin/nvmf_tgt
    chmod +x there/stand-ins/any there/scripts/rpc.py
    for tool in "$ROOT"/cmd/*; do ln -s any "there/stand-ins/${tool##*/}"; done
    cat >there/prelude <<'S'
PATH=$PWD/stand-ins:$PATH HOME=$PWD
for name in bpftrace connect_hosts cp flamegraph.pl kill promtool setcap spdk_trace taskset xz; do
    eval "$name() { :; }"
done
pidof() { echo $$; }
sleep() { ((++slept < 600)) && command sleep 0.05 || { echo 'waits in vain' >&2; exit; }; }
pid=$$
S
    export BIN
}

# Runs commands there: nothing may complain. Some find nothing, as grep, which is no mistake.
accepted() { # FILE
    (cd there && BASH_ENV=prelude bash "../$1" </dev/null >/dev/null 2>../log) || true
    sed -i '/^usdt-record: recording$/d' log
    [ ! -s log ] || { cat log; return 1; }
}

# Runs all commands of a page, and looks for what else it shows, up to the next heading, in what they printed. Those about
# what is not here are only accepted.
run_examples() { # PAGE
    # pages show the tables of a terminal
    printf '%s() { command %s --human "$@"; }\n' trace-spans trace-spans trace-latency trace-latency >terminal
    local block first printed=''
    blocks_of "$1"
    for block in block.*; do
        read -r first _ <"$block"
        [[ $block != *+ ]] || printed=''
        if [ "$first" = xz ] && ! type -P xz >/dev/null; then
            continue
        elif ! type -P "$first" >/dev/null && [[ ! $first =~ ^([A-Za-z]+=.*|for|make)$ ]]; then
            [ -z "$printed" ] || shows printed <"$block"
            continue
        fi
        echo "$1:" && cat "$block"
        if grep -qE 'pidof|nvmf_tgt|trace-record|bdevperf|/dev/shm|merged|snoop|offwaketime|usdt-|setcap|promtool' "$block"; then
            printed=''
            accepted "$block"
        else
            printed=1
            touch started
            # times of files are in steps of some milliseconds
            sleep 0.02
            # the file that some of them are about
            BASH_ENV=terminal bash -e -o pipefail "$block" good.trace </dev/null >printed
            # and what they wrote to files
            find . -maxdepth 1 -type f -newer started ! -name printed -exec cat {} + >there/written
            cat there/written >>printed
            [ -s printed ]
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

# Makes the files that examples are about.
sample() {
    there
    # the first commands of spdk-trace-tools(7) make the sample, in the source tree when it is built
    ln -s "$BATS_TEST_DIRNAME" tests
    ln -s "$BIN" build
    make() { :; }
    export -f make
    run_examples spdk-trace-tools.7
    for target in good new; do
        # with enough requests for a percentile
        gzip -dc "$DATA/slow-host.trace.gz" >$target.trace
        qpair-lifetimes "$DATA/slow-host-probes.txt" >$target.trace.lifetimes
    done
    gzip -dc "$DATA/initiator.trace.gz" >host.bin
    gzip -dc "$DATA/initiator-target.trace.gz" >target.bin
    cp "$DATA/sql/offcpu.jsonl" .
    sed -n '1s/"tpoint".*/"tpoint":"BLOCK_IO","args":{"disk":"nvme0n1","sector":8,"bytes":4096,"latency":1.000}}/p' \
        offcpu.jsonl >disks.jsonl
}

@test "the examples of all pages do what they say" {
    sample
    for page in "$PAGES"/*.[17] "$PAGES"/{trace-files,performance}.md; do
        run_examples "${page##*/}"
    done
}

@test "the examples of --help are accepted" {
    there
    for tool in $(tools); do
        "$tool" --help | sed -n '/^Examples:/,$s/^  //p' >examples
        [ -s examples ]
        accepted examples
    done
}

@test "a stand-in finds mistakes in examples" {
    there
    for mistake in 'trace-dump -Z' 'trace-join -l' 'usdt-record --nonsense' 'biosnoop -n x' 'trace-spans -m 5 | jq .('; do
        echo "$mistake" >example
        status_is 1 accepted example
    done
}

@test "the examples of a unit and a DaemonSet have options of today" {
    grep -ho 'trace-record,\? --.*' "$PAGES"/trace-record.{service,yaml} | tr -d '",]' >commands
    equal "$(wc -l <commands)" 2
    while read -r command; do
        status_is 0 eval "$command -h"
    done <commands
    command -v systemd-analyze >/dev/null || skip 'no systemd-analyze'
    sed "s|/usr/bin/trace-record|$(command -v trace-record)|" "$PAGES/trace-record.service" >trace-record.service
    systemd-analyze verify "$PWD/trace-record.service"
}
