#!/usr/bin/env bats
# The manners that all tools share.
# bats file_tags=sanitizers

load helpers

# Filters that print much of much input. What trace-causes prints is a page.
talkative() {
    filters | grep -vx trace-causes
}

@test "-h prints the usage on standard output" {
    for tool in $(tools); do
        for option in -h --help; do
            succeeds "$tool" "$option"
            [[ $output == "Usage: $tool [OPTION]..."* ]]
        done
    done
}

@test "-V prints name and version" {
    for tool in $(tools); do
        for option in -V --version; do
            status_is 0 "$tool" "$option"
            # of a checkout, with its commit
            [[ $output =~ ^$tool\ \(spdk-trace-tools\)\ [0-9]+\.[0-9]+\.[0-9]+(\ \(commit\ [0-9a-f]{12}\))?$ ]]
        done
    done
}

@test "an unknown option and too many operands are usage errors" {
    for tool in $(filters); do
        local wrong=(-Z --nonsense 'a b' '-- a b')
        # these read any number of files
        [[ $tool != trace-merge && $tool != trace-latency ]] || wrong=(-Z --nonsense)
        for arguments in "${wrong[@]}"; do
            # shellcheck disable=SC2086 # they are words
            status_is 2 "$tool" $arguments
            says "$tool: "
            says "Try '$tool --help'"
            equal "$output" ''
        done
    done
}

@test "-- ends the options" {
    for tool in $(filters); do
        fails "$tool: -missing: No such file or directory" "$tool" -- -missing
    done
}

@test "options may be after operands, but not after a command" {
    gzip -dc "$DATA/slow-host.trace.gz" >trace
    cp "$DATA/slow-host-probes.txt" probes
    trace-dump -q trace >lines
    diff lines <(trace-dump trace -q)
    diff <(qpair-lifetimes -q probes) <(qpair-lifetimes probes -q)
    diff <(trace-latency --layers -j lines) <(trace-latency lines --layers -j)
    diff <(trace-spans -j -n 2 lines) <(trace-spans lines -n 2 -j)
    diff <(trace-report -q trace probes) <(trace-report trace -q probes)
    fails 'trace-latency: --layers: No such file or directory' trace-latency -- lines --layers
    command -v usdt-record >/dev/null || return 0
    # the options of the command
    status_is 127 usdt-record nosuchcommand -q --nothing
    # a folder that may not be searched has none
    mkdir -m 0 locked
    PATH=$PWD/locked:$PATH status_is 127 usdt-record nosuchcommand
    status_is 2 offcpusnoop -p $$ 10 -j
    status_is 2 biosnoop 10 -n x
    says "biosnoop: -n 'x': a whole number above 0 is expected"
}

@test "colours can be read on white and on black" {
    grep -o '38;5;[0-9]*' "$ROOT/common/model/palette.h" | cut -d ';' -f 3 | sort -u >colours
    [ "$(wc -l <colours)" -ge 8 ]
    # as WCAG computes it; the last 24 of the 256 colours are grey, those before them a cube with six steps
    awk 'function linear(c) { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ^ 2.4 }
        function step(i) { return i ? 55 + 40 * i : 0 }
        function light(n) {
            if (n >= 232) return linear(8 + 10 * (n - 232))
            n -= 16
            return 0.2126 * linear(step(int(n / 36))) + 0.7152 * linear(step(int(n / 6) % 6)) + 0.0722 * linear(step(n % 6))
        }
        { y = light($1); if (1.05 / (y + 0.05) < 4.45 || (y + 0.05) / 0.05 < 4.45) { print $1, y; bad = 1 } }
        END { exit bad }' colours
}

@test "no operand and - are standard input" {
    for tool in $(filters); do
        input_of "$tool"
        # trace-merge writes the name of the file
        "$tool" input | sed 's/"source":"input"/"source":"stdin"/' >want
        "$tool" <input | cmp - want
        "$tool" - <input | cmp - want
        sh "cat input | $tool | cmp - want"
    done
}

@test "a page has the options of --help, in the same order" {
    for tool in $(tools); do
        "$tool" --help | sed -n 's/^  *\(-\([a-zA-Z]\), \)\{0,1\}--\([a-z-]*\).*/\2 \3/p' >help
        sed -n 's/^\.It \(Fl \([a-zA-Z]\)\( Ar [a-z]*\)\{0,1\} , \)\{0,1\}Fl -\([a-z-]*\).*/\2 \4/p' "$ROOT/docs/$tool.1" >page
        [ -s help ]
        diff help page
    done
}

# Prints "TOOL LETTER NAME ARGUMENT" for all options of all tools; "-": no letter, or no argument.
options() {
    local tool
    for tool in $(tools); do
        "$tool" --help | sed -nE "
            s/^ +-(.), --([a-z-]+)( ([A-Z][^ ]*))?( .*)?\$/$tool \1 \2 \4/p
            s/^ +--([a-z-]+)( ([A-Z][^ ]*))?( .*)?\$/$tool - \1 \3/p" | sed 's/ $/ -/'
    done
}

@test "letters mean what the tables in CONTRIBUTING.md say" {
    options >listed
    [ "$(wc -l <listed)" -gt 100 ]
    # without BPF, some tools are not built
    equal "$(awk -F '|' -v built="$(tools | wc -l)" -v all="$(find "$ROOT/cmd" -mindepth 1 -maxdepth 1 | wc -l)" '
        { gsub(/[`,]/, "") }
        # | -m US | --min-us --min-block-time | meaning |
        NF == 5 && $2 ~ /^ -/ {
            split($2, word, " ")
            argument[word[1]] = word[2] ? word[2] : "-"
            n = split($3, names, " ")
            for (i = 1; i <= n; i++) letter_of[names[i]] = word[1]
        }
        # | biosnoop | -d -P -Q |
        NF == 4 && $3 ~ /^ -/ {
            n = split($3, letters, " ")
            for (i = 1; i <= n; i++) own[$2 letters[i]] = 1
        }
        FILENAME == "listed" {
            split($0, word, " ")
            letter = "-" word[2]
            name = "--" word[3]
            if (" " word[1] " " letter in own) {
                delete own[" " word[1] " " letter]
            } else if (name in letter_of) {
                used[name] = 1
                num_tools[letter]++
                if (letter != letter_of[name] || word[4] != argument[letter]) print "not as in the table: " $0
            } else if (letter in argument) {
                print "another meaning: " $0
            }
        }
        END {
            if (built < all) exit
            for (name in letter_of) if (!(name in used)) print "no tool has " name
            for (letter in argument) if (num_tools[letter] < 2) print "not in several tools: " letter
            for (option in own) print "no such option:" option
        }' "$ROOT/docs/CONTRIBUTING.md" listed)" ''
}

# Options of 0.2.0 that are refused: "TOOL OPTION[,OPTION] MESSAGE".
former() {
    cat <<'F'
biosnoop -D,--duration is gone: the operand SECONDS says it
offcpusnoop -D,--duration is gone: -p PID SECONDS says it
offwaketime -D,--duration is gone: the operand SECONDS says it
trace-record -D,--duration is gone: the operand SECONDS says it
biosnoop -m is now --min-ms
ipcsnoop -d is now -D
ipcsnoop -i,--interval is gone: -j has each read and write
ipcsnoop -n is now --name
usdt-gen -s,--source is gone: -x lists the probes of a binary
usdt-record -d is now -D
usdt-record -m is now --buffer
biosnoop --no-start is gone
biosnoop -e,--encode is gone: -j has each request's latency
offwaketime -d,--delimited is gone: -j has the stacks of kernel and process apart
offwaketime -K is gone: -j has the stacks of kernel and process apart
offwaketime -k is gone: -t chooses threads of the kernel by their ids
offwaketime --no-demangle is gone
offwaketime --state is gone; offcpusnoop prints which threads were preempted
biosnoop -v,--verbose is gone: the kernel's log is printed when it refuses the BPF program
offcpusnoop -v,--verbose is gone: the kernel's log is printed when it refuses the BPF program
trace-dump -c,--lcore is gone: grep '"lcore":3,' chooses by lcore
trace-dump --lag is gone: an entry waits for earlier ones for at most 100 ms
trace-dump -w,--owner is gone: grep '"owner":"bdev_' chooses by owner
usdt-gen -f,--file is gone: sed 's/^/-e\n/' FILE | xargs -d '\n' gives each line as -e
usdt-record -f,--file is gone: sed 's/^/-e\n/' FILE | xargs -d '\n' gives each line as -e
trace-join -t,--tpoint is gone: trace-dump -t chooses entries
trace-spans -t,--tpoint is gone: -j | grep '"BDEV_IO_DONE"' chooses by state
trace-spans -w,--owner is gone: -k owner=GLOB chooses by owner
trace-spans --wide is now --plain
trace-latency --wide is now --plain
trace-latency --fail-over is gone: --against FILE -j has .change.p99, for jq -e
trace-merge -s,--source is now an operand: NAME=FILE
trace-causes --color is gone: NO_COLOR=1 or CLICOLOR_FORCE=1 in the environment says it
trace-latency --color is gone: NO_COLOR=1 or CLICOLOR_FORCE=1 in the environment says it
trace-report --color is gone: NO_COLOR=1 or CLICOLOR_FORCE=1 in the environment says it
trace-spans --color is gone: NO_COLOR=1 or CLICOLOR_FORCE=1 in the environment says it
trace-causes --percent is gone: -m US, such as a p99 of trace-latency, says it
usdt-gen -j,--json is gone: each line of -l has the same fields
usdt-record --no-owners is gone; grep -v '^owner: ' leaves these lines out
usdt-record --perf-events is gone
F
}

@test "options of earlier releases are refused, with what replaced them" {
    local tool options option message now equals=([2]='') n=0 forms
    while read -r tool options message; do
        [ -x "$BIN/$tool" ] || continue
        for option in ${options/,/ }; do
            # in one of its forms each; an argument follows a long name after an equals sign
            forms=("$option" "$option 10" "$option${equals[${#option}]-=}10")
            # shellcheck disable=SC2086 # they are words
            status_is 2 timeout 60 "$tool" ${forms[n++ % 3]}
            says "$tool: $option $message"
            equal "$output" ''
        done
        now=${message#is now }
        [[ $now == -* ]] || continue
        "$tool" --help | grep -qE -e "^  *(-[a-zA-Z], )?${now%%,*} |^  *${now%%,*}, "
    done < <(former)
}

@test "-m US is at least so many microseconds in all tools that have it" {
    local found=0
    for tool in $(tools); do
        "$tool" --help | grep -A 1 '^  -m, ' >help || continue
        echo "$tool"
        grep -qE '^  -m, --[a-z-]+ US( |$)' help
        grep -q 'at least US microseconds' help
        grep -A 1 '^\.It Fl m .*Ar us$' "$ROOT/docs/$tool.1" >page
        grep -q 'at least this many microseconds' page
        found=$((found + 1))
    done
    [ "$found" -ge 2 ]
}

@test "each tool has a page, all kinds of tests, and a row in README and in spdk-trace-tools(7)" {
    for tool in "$ROOT"/cmd/*; do
        tool=${tool##*/}
        echo "$tool"
        [ -s "$ROOT/docs/$tool.1" ]
        [ -s "$ROOT/tests/$tool.bats" ]
        grep -q "^| \`$tool\` | .* | \[$tool(1)\](docs/$tool.1) |$" "$ROOT/README.md"
        grep -q "^\.It Xr $tool 1 Ta" "$ROOT/docs/spdk-trace-tools.7"
        # STATUS % MESSAGE % COMMAND
        grep -qE "^[12] %.*%(.*[ |;])?$tool( |$)" "$ROOT/tests/mistakes.bats"
    done
    for tool in $(filters); do
        echo "$tool"
        grep -q "READER(\"$tool\", " "$ROOT/tests/fuzz.c"
        grep -qE "^    ['\"][^|]*\|$tool " "$ROOT/tests/faults.bats"
        grep -qE "^    ['\"]$tool [^|]*\|" "$ROOT/tests/growth.bats"
    done
    for tool in "$ROOT"/bpf/*.bpf.c; do
        tool=$(basename "$tool" .bpf.c)
        [ ! -e "$ROOT/cmd/$tool" ] || grep -q "\<$tool\>" "$ROOT"/tests/faults-*.bats
    done
    # and each page is a tool's
    (cd "$ROOT" && ls cmd) | diff - <(cd "$ROOT/docs" && printf '%s\n' *.1 | sed 's/\.1$//')
}

@test "the tools are built hardened" {
    command -v readelf >/dev/null || skip 'readelf is not here'
    local landing=''
    # main is called through a pointer: the C library's
    case $(readelf -hW "$BIN/trace-dump") in
    *X86-64*) landing=endbr64 ;;
    *AArch64*) landing='paciasp\|bti' ;;
    esac
    grep -q -w -e -fstack-clash-protection "$BIN/flags"
    for tool in $(tools); do
        path=$(command -v "$tool")
        readelf -hlW "$path" >elf
        readelf -dW "$path" >>elf
        grep -q 'Type: *DYN' elf
        grep -q 'GNU_RELRO' elf
        grep -q 'BIND_NOW' elf
        grep -q 'GNU_STACK.* RW ' elf
        readelf --dyn-syms -W "$path" >symbols
        grep -q '__stack_chk_fail' symbols
        # sanitizers have no functions that check, nor has code that is not optimized
        has_sanitizers || grep -q '__[a-z]*_chk@' symbols || grep -q -w -e '-O0' "$BIN/flags"
        objdump -d --disassemble=main "$path" | grep -A1 '<main>:' | grep -q "$landing"
    done
}

@test "a missing file and a directory are named" {
    for tool in $(filters); do
        fails_only "$tool: missing: No such file or directory" "$tool" missing
        status_is 1 "$tool" .
        [[ $stderr == "$tool: .: a directory, not "* ]]
    done
}

@test "a terminal is no input" {
    needs_terminal
    for tool in $(filters); do
        run script -qec "$tool" /dev/null </dev/null
        equal "$status" 2
        [[ $output == *"$tool: standard input is a terminal"* ]]
    done
}

@test "a full disk is an error" {
    for tool in $(filters); do
        input_of "$tool"
        fails "$tool: <stdout>: No space left on device" sh "$tool input >/dev/full"
        status_is 1 sh "$tool -h >/dev/full"
        status_is 1 sh "$tool -V >/dev/full"
    done
}

@test "a closed standard output is an error" {
    for tool in $(filters); do
        input_of "$tool"
        fails "$tool: <stdout>: Bad file descriptor" sh "$tool input >&-"
    done
}

@test "a file that may not grow is an error" {
    for tool in $(talkative); do
        input_of "$tool"
        # in blocks of 1024 bytes, beyond which the kernel sends SIGXFSZ
        fails "$tool: <stdout>: File too large" sh "ulimit -f 1; $tool input >lines"
        equal "$(stat -c %s lines)" 1024
    done
}

@test "a reader that goes away ends a tool quietly" {
    # it has gone when the tool starts: a pipe may have room for all that a tool prints
    mkfifo gone
    local reader='{ exec <&-; echo >gone; }'
    for tool in $(talkative); do
        input_of "$tool"
        # probes without owners, and a life without an end, are notes
        [[ $tool != @(qpair-lifetimes|trace-latency) ]] || tool+=' -q'
        # 141: killed by SIGPIPE
        status_is 0 sh "{ read -r _ <gone; exec $tool input; } | $reader; echo \${PIPESTATUS[0]} >status"
        equal "$tool: $(<status) $stderr" "$tool: 141 "
        # where the parent ignores SIGPIPE the exit status tells
        status_is 0 sh "trap '' PIPE; { read -r _ <gone; $tool input; echo \$? >status; } | $reader"
        equal "$tool: $(<status) $stderr" "$tool: 1 "
    done
}

@test "a non-blocking pipe loses nothing" {
    command -v python3 >/dev/null || skip 'python3 is not here'
    for tool in $(filters); do
        input_of "$tool"
        "$tool" input >want
        python3 - "$tool" >got <<'P'
import fcntl, os, subprocess, sys, time
r, w = os.pipe()
fcntl.fcntl(w, fcntl.F_SETFL, os.O_NONBLOCK)
p = subprocess.Popen([sys.argv[1], 'input'], stdout=w)
os.close(w)
time.sleep(0.1) # until the pipe is full
while data := os.read(r, 5000):
    os.write(1, data)
sys.exit(p.wait())
P
        cmp want got
    done
}

@test "long work shows its progress to a person who is not looking at the data" {
    needs_terminal
    input_of trace-join
    # the same lines again and again, until the progress is shown
    local slow='{ until grep -qs "[0-9] MB" "$shown"; do head -n 10 input; sleep 0.1; done; cat input; }'
    shown=shown run script -qfec "$slow | trace-join >out" shown
    [[ $(<shown) =~ $'\rtrace-join: '[0-9]+'.'[0-9]' MB'$'\e[K' ]]
    # of a file it is known how much is left
    for _ in 1 2 3; do cat input; done >long
    shown=again run script -qfec "$slow | trace-merge -q slow=- file=long >out" again
    [[ $(<again) =~ $'\rtrace-merge: '[0-9]+' % of '[0-9.]+' MB'$'\e[K' ]]
    run script -qec '{ cat input; sleep 1.2; cat input; } | trace-join 2>err >out' /dev/null
    equal "$output" ''
    [ ! -s err ]
}
