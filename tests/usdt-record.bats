#!/usr/bin/env bats
# What usdt-record records of tests/usdt-target.c, where the kernel lets it.
# bats file_tags=slow,sanitizers

load helpers

setup_file() {
    needs_usdt_target
}

teardown() {
    kill_left recorder started
}

# Records all that the target does when it is told to go on, after recording has begun: TARGET ACT... -- OPTION...
record_running() {
    local target=$1 acts=()
    shift
    while [ "$1" != -- ]; do
        acts+=("$1")
        shift
    done
    shift
    start "$target" wait "${acts[@]}"
    begin recording usdt-record -p "$started" "$@"
    echo >&"$go"
    status=0
    wait "$recorder" || status=$?
    wait "$started" || true
    [ "$status" = 0 ] || cat log
    return "$status"
}

# Whether so many lines are recorded.
has_lines() { # N
    [ "$(grep -vc '^clock: ' lines)" = "$1" ]
}

# The lines of "usdt-target qpairs", as spdk-trace-lines(7) has them.
qpair_lines() {
    local i=0 longest name
    longest=nqn.2026-11.bench:$(printf 'x%.0s' $(seq 205))
    for name in nqn.2026-11.bench:host-a "$longest" "a,b=c\\', d=\\'e" 'back\\slash\n\x1b[31mred\x9b\xffä' ''; do
        i=$((i + 1))
        printf 'nvmf_poll_group_add_qpair: tsc=0x%x, qpair=0x%d000, thread=0x2\n' $((100 * i)) $i
        printf 'nvmf_ctrlr_add_qpair: tsc=0x%x, qpair=0x%d000, qid=0x%x' $((100 * i + 1)) $i $((i - 1))
        printf ", subnqn='nqn.2016-06.io.spdk:cnode1', hostnqn='%s'\n" "$name"
        printf 'nvmf_poll_group_remove_qpair: tsc=0x%x, qpair=0x%d000, thread=0x2\n' $((100 * i + 2)) $i
    done
}

@test "the qpair probes of a command, whatever hosts call themselves" {
    for target in usdt-target usdt-target-static; do
        status_is 0 usdt-record -- "$target" qpairs
        equal "$(events <<<"$output")" "$(qpair_lines)"
        [[ $(notes <<<"$stderr" | head -n 1) =~ ^usdt-record:\ recording\ 3\ probes\ of\ .*/$target\ \([0-9]+\)\ until\ it\ ends\ or\ Ctrl-C$ ]]
    done
}

@test "the qpair probes of a running process, and lifetimes of them" {
    for target in usdt-target usdt-target-static; do
        record_running "$target" qpairs --
        qpair_lines | diff - <(events lines)
        equal "$(notes log)" "usdt-record: no trace of process $started so far: its owners are followed once there is one
usdt-record: recording 3 probes of $target ($started) until it ends or Ctrl-C
usdt-record: process $started has ended"
    done
    qpair-lifetimes lines >lifetimes
    equal "$(wc -l <lifetimes)" 5
    # shellcheck disable=SC1003 # it is a backslash
    grep -qF "begin=300, end=302, ptr=0x3000, thread=2, qid=2, subnqn='nqn.2016-06.io.spdk:cnode1', hostnqn='a,b=c\\', d=\\'e'" lifetimes
}

@test "arguments of every size and sign" {
    for target in usdt-target usdt-target-static; do
        status_is 0 usdt-record -q -e 'sizes(s8,u8,s16,u16,s32,u32,s64,u64,zero,minus,min,last:str)' -- "$target" sizes
        equal "$(events <<<"$output")" "sizes: s8=0xfffffffffffffff8, u8=0xf8, s16=0xfffffffffffffff0, u16=0xfff0, s32=0xffffffffffffffe0, u32=0xffffffe0, s64=0xffffffffffffffc0, u64=0xffffffffffffffc0, zero=0x0, minus=0xffffffffffffffff, min=0x8000000000000000, last='twelfth'"
    done
}

@test "an operand in memory with a scaled index" {
    for target in usdt-target usdt-target-static; do
        readelf -n "$BIN/$target" | grep -A 2 'Name: in_memory' | grep -e '@(%r.*,8)' -e '@\[x.*, x.*, lsl 3\]' >/dev/null # on x86-64, on arm64
        status_is 0 usdt-record -e 'in_memory(element)' -- "$target" memory=0 memory=3
        equal "$(events <<<"$output")" 'in_memory: element=0x28
in_memory: element=0x2b'
    done
}

@test "a probe that was inlined at several sites" {
    status_is 0 usdt-record -q -e 'inlined(where)' -- usdt-target sites=9
    equal "$(events <<<"$output")" 'inlined: where=0x1
inlined: where=0xa
inlined: where=0x3'
}

@test "a library, from its constructor on, behind a semaphore" {
    for target in usdt-target usdt-target-static; do
        status_is 0 usdt-record -o lines -q -e 'guarded(n,where:str)' -- "$target" library
        equal "$output" '2 listen'
        equal "$(events lines)" "guarded: n=0x6, where='constructor'
guarded: n=0x7, where='library'"
    done
    record_running usdt-target library -- -e 'guarded(n)'
    equal "$(events lines)" 'guarded: n=0x7'
    equal "$(sed -n 2p out)" '2 listen'
    # nobody listens afterwards
    equal "$(usdt-target library)" '0 listen'
}

@test "with few descriptors all probes are attached, or it is said why not" {
    local n all=() few=(usdt-record -q -o lines -x "$BIN/usdt-target" -x "$BIN/libusdt-target.so" -e 'inlined(where)' -e 'guarded(n)')
    for AS_LINUX in '' 6.1; do
        export AS_LINUX
        "${few[@]}" -- usdt-target sites library >out
        mapfile -t all < <(events lines)
        equal "$(printf '%s\n' "${all[@]%%:*}" | sort -u | tr '\n' ' ')" 'guarded inlined '
        for ((n = 16;; n++)); do
            if (ulimit -n "$n"; "${few[@]}" -- usdt-target sites library) >out 2>err; then
                equal "$(events lines)" "$(printf '%s\n' "${all[@]}")"
                break
            fi
            grep -q -e 'Too many open files' -e 'too many open files' err
        done
    done
}

@test "strings in pages that are not resident" {
    usdt-record -q -o lines -e 'cold(number,text:str)' -- usdt-target cold=73 >want
    events lines | diff want -
    equal "$(events lines | wc -l)" 73
}

@test "strings that are none, and those around the longest" {
    status_is 0 usdt-record -e 'odd(text:str)' -- usdt-target odd=1024
    y=$(printf 'y%.0s' $(seq 1024))
    equal "$(events <<<"$output")" "odd: text=0x0
odd: text=0x10
odd: text='$y'
odd: text='$y'"
    says 'usdt-record: cut 1 string that is longer than 1024 bytes'
    says 'usdt-record: 2 arguments could not be read'
}

# bats test_tags=plain
@test "as on kernels that let no program at a probe sleep" {
    ! has_sanitizers || not_for_this_build 'a tool with sanitizers takes no preloaded library'
    # one of the first calls asks for such a program
    for n in $(seq 6); do
        status=0
        LD_PRELOAD=$FAULTS FAULT_CALL=bpf FAULT_NTH=$n FAULT=22 usdt-record -o lines -e 'cold(number,text:str)' \
            -e 'odd(text:str)' -- usdt-target cold=9 odd=7 >want 2>log || status=$?
        ! grep -q 'cold: .*number=0x1, text=0x' lines || break
    done
    equal "$status" 0
    # what is in memory is read, what is not is counted
    equal "$(grep -c 'cold: .*number=0x[0-9a-f]*, text=0x[0-9a-f]*$' lines)" 9
    equal "$(events lines | sed -n '/^odd/p')" "odd: text=0x0
odd: text=0x10
odd: text='yyyyyyy'
odd: text='yyyyyyyy'"
    grep -q 'usdt-record: 11 arguments could not be read' log
}

@test "as many strings as there is room for" {
    z=$(printf 'z%.0s' $(seq 1024))
    status_is 0 usdt-record -q -e 'strings(a:str,b:str,c:str,d:str,e:str,f:str)' -- usdt-target strings=1024
    equal "$(events <<<"$output")" "strings: a='$z', b='$z', c='$z', d='$z', e='$z', f='$z'"
    status_is 1 usdt-record -e 'strings(a:str,b:str,c:str,d:str,e:str,f:str,g:str)' -- usdt-target strings
    equal "$stderr" 'usdt-record: probe strings: 7 strings are too many, 6 can be recorded at a time; omit :str to record an address'
    status_is 0 usdt-record -q -e 'strings(a:str,b:str,c:str,d:str,e:str,f:str,g)' -- usdt-target strings
    [[ $(events <<<"$output") =~ ^"strings: a='', b='', c='', d='', e='', f='', g=0x"[0-9a-f]+$ ]]
}

# bats test_tags=any-kernel
@test "several specs, skipped arguments and no arguments, in the order of the events" {
    local stamp
    stamp=$(has_ticks && echo stamp) || true
    status_is 0 usdt-record -q -e 'nvmf_ctrlr_add_qpair(_,_,qid)' -e 'spdk:nvmf_poll_group_add_qpair()' \
        -e 'nvmf_ctrlr_add_qpair(tsc)' -- usdt-target qpairs
    events <<<"$output" >lines
    equal "$(sed 's/tsc=0x[0-9a-f]\{5,\}/stamp/' lines | head -n 3 | sort)" "nvmf_ctrlr_add_qpair: $stamp${stamp:+, }qid=0x0
nvmf_ctrlr_add_qpair: tsc=0x65
nvmf_poll_group_add_qpair: $stamp"
    grep -q '^nvmf_poll_group_add_qpair: ' <(head -n 1 lines)
    equal "$(events <<<"$output" | wc -l)" 15
}

@test "a line has the time, unless an argument of the spec has its name" {
    has_ticks || skip "the clock source is not the processor's counter"
    status_is 0 usdt-record -q -e 'nvmf_poll_group_add_qpair(tsc,qpair)' -e 'nvmf_poll_group_remove_qpair(_,tsc)' \
        -e 'nvmf_ctrlr_add_qpair(time,_,qid)' -e 'inlined()' -- usdt-target sites qpairs
    sed '/^clock/d; s/=0x[0-9a-f]\{8,\}/=now/' <<<"$output" | head -n 6 >got
    diff - got <<'END'
inlined: tsc=now
inlined: tsc=now
inlined: tsc=now
nvmf_poll_group_add_qpair: tsc=0x64, qpair=0x1000
nvmf_ctrlr_add_qpair: tsc=now, time=0x65, qid=0x0
nvmf_poll_group_remove_qpair: tsc=0x1000
END
}

# Writes by how many ticks each stamp is later than what the target passed, and how much later the target read the counter
# again, to the files late and early.
compare_stamps() {
    local stamp before after previous=
    sed -n 's/^stamped: tsc=\([^,]*\), before=\([^,]*\), after=\(.*\)/\1 \2 \3/p' lines |
        while read -r stamp before after; do
            echo $((stamp - before)) >&3
            [ -z "$previous" ] || echo $((after - previous))
            previous=$stamp
        done 3>late >early
}

@test "a stamp is the processor's counter when the probe was hit" {
    has_ticks || skip "the clock source is not the processor's counter"
    local hits=20000 clocks bound
    usdt-record -q -o lines -e 'stamped(before,after)' -- usdt-target stamped=$hits
    equal "$(events lines | wc -l)" $hits
    compare_stamps
    equal "$(sort -n late | head -n 1 | grep -c '^[1-9]')" 1
    equal "$(sort -n early | head -n 1 | grep -c '^[1-9]')" 1
    # 2 microseconds, or on a slow machine four times what it usually takes; but where the target was interrupted
    read -r -a clocks <<<"$(sed -n 's/^clock: tsc=\([^,]*\), ns=\([^,]*\),.*/\1 \2/p' lines | tr '\n' ' ')"
    bound=$((2000 * (clocks[2] - clocks[0]) / (clocks[3] - clocks[1])))
    sort -n late | awk -v bound="$bound" -v hits="$hits" '{ late[NR] = $1 } END {
        usual = late[hits / 2]; most = late[hits * 99 / 100]
        print "99 % are up to " most " ticks late, half of them " usual "; 2 microseconds are " bound
        exit most > bound && most > 4 * usual
    }'
}

@test "clock lines say what time it was at the beginning and at the end" {
    has_ticks || skip "the clock source is not the processor's counter"
    local before after first last
    before=$(date +%s%N)
    usdt-record -q -o lines -e 'inlined(where)' -- usdt-target sites
    after=$(date +%s%N)
    equal "$(grep -n '^clock: ' lines | cut -d: -f1 | tr '\n' ' ')" "1 5 "
    first=$(head -n 1 lines) last=$(grep '^clock: ' lines | tail -n 1)
    # in the order of the clocks, and the events between
    sed -n 's/.*time=.\(.*\).$/\1/p' lines | date -u -f - +%s%N >moments
    equal "$({ echo "$before"; cat moments; echo "$after"; } | sort -c 2>&1)" ''
    equal "$(sed -n 's/.*tsc=0x\([0-9a-f]*\).*/\1/p' lines | sort -c 2>&1)" ''
    # as long a time by both clocks
    ns() { awk -F '[=,]' '{ print $4 }' <<<"$1"; }
    [ $(($(tail -n 1 moments) - $(head -n 1 moments) - ($(ns "$last") - $(ns "$first")))) -le 1000 ]
    # with -n, and by a signal, too; they are no events
    usdt-record -q -n 2 -o lines -e 'inlined(where)' -- usdt-target sites
    equal "$(events lines)" "$(printf 'inlined: where=0x%x\n' 1 1)"
    start usdt-target wait sites wait
    begin recording usdt-record -p "$started"
    end
    equal "$(events lines)" ''
}

@test "where the clock is not made from the counter, lines have no stamps" {
    has_ticks && [ "$(id -u)" = 0 ] || skip 'needs another clock source, or root'
    echo hpet >source
    unshare --mount bash -c 'mount --bind source /sys/devices/system/clocksource/clocksource0/current_clocksource
        usdt-record -e "inlined(where)" -e "nvmf_poll_group_add_qpair(tsc)" -o lines -- usdt-target sites qpairs 2>log'
    equal "$(head -n 4 lines)" "$(printf 'inlined: where=0x%x\n' 1 1 3)
nvmf_poll_group_add_qpair: tsc=0x64"
    equal "$(wc -l <lines)" 9
    equal "$(grep -c "usdt-record: no clock lines, .*: the kernel's clock source is not the processor's counter" log)" 1
}

@test "all threads of a process" {
    record_running usdt-target threads=7 -- -e 'thread(n)'
    equal "$(events lines)" "$(printf 'thread: n=0x%x\n' 0 1 2 3 4 5 6)"
}

@test "forks are followed when asked for" {
    status_is 0 usdt-record -q -e 'forked(n)' -- usdt-target forks=3
    equal "$(events <<<"$output")" ''
    status_is 0 usdt-record -q -F -e 'forked(n)' -- usdt-target forks=3
    equal "$(events <<<"$output")" "$(printf 'forked: n=0x%x\n' 0 100 1 101 2 102)"
    record_running usdt-target forks=3 -- -F -e 'forked(n)'
    equal "$(events lines)" "$(printf 'forked: n=0x%x\n' 0 100 1 101 2 102)"
    # the last one, which outlives what started it
    status_is 0 usdt-record -q -F -x "$BIN/usdt-target" -e 'forked(n)' -- bash -c '(while kill -0 $$; do sleep 0.01; done 2>/dev/null; usdt-target forks=1) & :'
    equal "$(events <<<"$output")" "$(printf 'forked: n=0x%x\n' 0 100)"
}

@test "only the process that is meant is recorded" {
    start usdt-target wait threads=1
    begin recording usdt-record -p "$started" -e 'inlined(n)' -e 'thread(n)'
    usdt-target sites threads=2
    echo >&"$go"
    wait
    equal "$(events lines)" 'thread: n=0x0'
}

@test "every process that runs a file" {
    # a file of its own, that no other test runs meanwhile
    cp "$BIN/usdt-target-static" target
    begin recording usdt-record -x target -e 'inlined(where)'
    equal "$(notes log)" 'usdt-record: recording 1 probe of target until Ctrl-C'
    ./target sites
    (./target sites=4)
    end
    equal "$(events lines)" "$(printf 'inlined: where=0x%x\n' 1 1 3 1 5 3)"
}

@test "in another mount namespace, and when the file is deleted" {
    unshare -m true 2>/dev/null || skip 'no mount namespaces here'
    start unshare -m --propagation private bash -c '
        mkdir root; mount -t tmpfs none root; cp "$0" root/hidden
        exec root/hidden wait qpairs' "$BIN/usdt-target-static"
    [ ! -e root/hidden ]
    begin recording usdt-record -p "$started"
    echo >&"$go"
    wait
    qpair_lines | diff - <(events lines)

    cp "$BIN/usdt-target-static" gone
    start ./gone wait qpairs
    rm gone
    begin recording usdt-record -p "$started"
    echo >&"$go"
    wait
    qpair_lines | diff - <(events lines)
}

@test "a file that an overlay has copied up" {
    unshare -m true 2>/dev/null || skip 'no mount namespaces here'
    mkdir lower changes merged
    cp "$BIN/usdt-target-static" lower/target
    start unshare -m --propagation private bash -c 'mount -t tmpfs tmpfs changes && mkdir changes/upper changes/work &&
        mount -t overlay -o lowerdir=lower,upperdir=changes/upper,workdir=changes/work overlay merged || { echo ready; exit; }
        touch merged/target
        exec merged/target wait sites=9'
    [ -e "/proc/$started/root$PWD/merged/target" ] || skip 'no overlays here'
    begin recording usdt-record -p "$started" -e 'inlined(where)'
    echo >&"$go"
    wait "$recorder"
    equal "$(events lines)" 'inlined: where=0x1
inlined: where=0xa
inlined: where=0x3'
}

@test "inside a PID namespace, and one from outside, following forks" {
    unshare -pf --mount-proc true 2>/dev/null || skip 'no PID namespaces here'
    status_is 0 unshare -pf --mount-proc bash -c 'usdt-record -q -F -e "forked(n)" -- usdt-target forks=2'
    equal "$(events <<<"$output")" "$(printf 'forked: n=0x%x\n' 0 100 1 101)"
    # and from outside of one
    start unshare -pf --mount-proc "$BIN/usdt-target" wait forks=2
    child=$(tr -d " " <"/proc/$started/task/$started/children")
    begin recording usdt-record -F -p "$child" -e 'forked(n)'
    echo >&"$go"
    wait
    equal "$(events lines)" "$(printf 'forked: n=0x%x\n' 0 100 1 101)"
}

@test "nothing is lost at full speed, or it is counted exactly" {
    local status hits=${HITS:-1000000}
    for size in 64M 4K; do
        status=0
        usdt-record --buffer $size -o lines -e 'flood(i,name:str,n,again)' -- usdt-target "flood=$hits" 2>log || status=$?
        lost=$(sed -n 's/^usdt-record: lost \([0-9]*\) events.*/\1/p' log)
        events lines >flood
        equal $((${lost:-0} + $(wc -l <flood))) "$hits"
        equal "$(tail -n 1 lines)" "losses: lost=$(printf 0x%x "${lost:-0}"), missed=0x0, skipped=0x0, partial=0x0"
        equal "$status" "$([ -n "$lost" ] && echo 1 || echo 0)"
        equal "$(grep -vc "^flood: i=0x[0-9a-f]*, name='nqn.2026-11.bench:host-a', n=$(printf '0x%x' "$hits"), again=0x[0-9a-f]*$" flood)" 0
    done
    [ "$lost" -gt 0 ]
}

@test "one by one, as on older kernels" {
    export AS_LINUX=6.1
    usdt-record -q -o lines -e 'inlined(where)' -e 'guarded(n)' -- usdt-target sites library
    equal "$(events lines)" 'guarded: n=0x6
inlined: where=0x1
inlined: where=0x1
inlined: where=0x3
guarded: n=0x7'
    record_running usdt-target qpairs --
    qpair_lines | diff - <(events lines)
    status_is 0 usdt-record -q -F -e 'forked(n)' -- usdt-target forks=1
    equal "$(events <<<"$output")" "$(printf 'forked: n=0x%x\n' 0 100)"
}

# bats test_tags=any-kernel
@test "it ends after a number of events and after a time" {
    status_is 0 usdt-record -q -n 3 -e 'flood(i)' -- usdt-target flood=100000
    equal "$(events <<<"$output")" "$(printf 'flood: i=0x%x\n' 0 1 2)"
    start usdt-target wait sites
    status_is 0 timeout 60 usdt-record -D 1 -p "$started" -e 'inlined(where)'
    equal "$(events <<<"$output")" ''
    echo >&"$go"
    wait "$started"
}

# bats test_tags=any-kernel
@test "a signal ends it, and what was recorded is written" {
    for signal in INT TERM HUP; do
        start usdt-target wait sites wait
        # not to take an earlier one for it
        rm -f log lines
        # a background process of bash ignores SIGINT unless it is told otherwise
        env --default-signal=INT usdt-record -o lines -p "$started" -e 'inlined(where)' 2>log &
        recorder=$!
        wait_for_text recording log
        echo >&"$go"
        wait_for has_lines 3
        kill -s $signal "$recorder"
        wait "$recorder"
        kill "$started"
        wait "$started" || true
    done
}

# bats test_tags=any-kernel
@test "a signal is passed on to the command when recording is over" {
    usdt-record -q -D 0.3 -o lines -x "$BIN/usdt-target" -e 'inlined(where)' -- sleep 60 &
    recorder=$!
    # it ends with the second of the clock lines, where there are any
    ! has_ticks || wait_for sh "[ \$(grep -c ^clock lines) = 2 ]"
    kill "$recorder"
    status=0
    wait "$recorder" || status=$?
    equal "$status" 143
}

# bats test_tags=any-kernel
@test "a signal ends it when the command has ended and its children have not" {
    usdt-record -q -F -o lines -x "$BIN/usdt-target" -e 'inlined(where)' -- bash -c 'usdt-target sites; sleep 60 & echo $! >child' &
    recorder=$!
    wait_for test -s child
    wait_for has_lines 3
    kill "$recorder"
    wait "$recorder"
    kill "$(cat child)"
    equal "$(events lines | wc -l)" 3
}

# Starts a recorder that waits in a write to a pipe that is full, to standard output.
start_full_recorder() {
    start usdt-target wait flood=100000 wait
    usdt-record -p "$started" -e 'flood(i)' >full 2>log &
    recorder=$!
    wait_for_text recording log
    echo >&"$go"
    wait_for waits_in_call_on 0x1 "$recorder"
}

# It measures time, as what is tested is a duration: signals within half a second count as one.
# bats test_tags=any-kernel,timed
@test "a later signal kills it when nobody reads, but not two at once" {
    mkfifo full
    # shellcheck disable=SC2034 # it only keeps the pipe open
    exec {full}<>full
    start_full_recorder
    kill "$recorder"
    sleep 0.1
    # as timeout(1) does
    kill "$recorder"
    # it goes on to wait
    sleep 0.2
    kill -0 "$recorder"
    kill "$recorder"
    ends_itself 143 "$recorder"
    start_full_recorder
    kill "$recorder"
    # longer than two signals count as one
    sleep 0.6
    kill -0 "$recorder"
    kill "$recorder"
    ends_itself 143 "$recorder"
}

# bats test_tags=any-kernel
@test "signals that are ignored stay so" {
    start usdt-target wait sites
    env --ignore-signal=HUP usdt-record -o lines -p "$started" -e 'inlined(where)' 2>log &
    recorder=$!
    wait_for_text recording log
    kill -HUP "$recorder"
    # nothing happens
    sleep 0.2
    echo >&"$go"
    wait
    equal "$(events lines | wc -l)" 3
}

# bats test_tags=any-kernel
@test "a reader that goes away ends it" {
    start usdt-target wait sites
    status_is 0 sh "timeout 60 usdt-record -p $started -e 'inlined(where)' | true; [ \${PIPESTATUS[0]} = 1 ]"
    equal "$(notes <<<"$stderr")" "usdt-record: recording 1 probe of usdt-target ($started) until it ends or Ctrl-C"
    echo >&"$go"
    wait "$started"
    # a command is waited for, and its status is what counts
    for end in 0 4; do
        status_is 0 sh "{ usdt-record -q -e 'flood(i)' -- usdt-target flood=300000 exit=$end; echo \$? >status; } | grep -m 1 flood"
        [[ $output =~ ^flood:\ (tsc=0x[0-9a-f]+, )?i=0x0$ ]]
        equal "$(cat status)" $((end ? end : 1))
    done
}

# bats test_tags=any-kernel
@test "the exit status is the command's" {
    status_is 7 usdt-record -q -e 'inlined(where)' -- usdt-target exit=7
    status_is 143 usdt-record -q -e 'inlined(where)' -- usdt-target kill=15
    for missing in missing ./missing; do
        status=0
        usdt-record -e 'inlined(where)' -- $missing 2>log || status=$?
        equal "$status" 127
        equal "$(cat log)" "usdt-record: $missing: No such file or directory"
    done
    printf '#!/bin/sh\nusdt-target sites\n' >script
    status_is 126 usdt-record -q -x "$BIN/usdt-target" -e 'inlined(where)' -- ./script
    chmod +x script
    status_is 1 usdt-record -e 'inlined(where)' -- ./script
    says 'usdt-record: ./script: not an ELF file'
    says 'name that one with -x, and follow forks with -F'
    status_is 0 usdt-record -q -F -x "$BIN/usdt-target" -e 'inlined(where)' -- ./script
    equal "$(events <<<"$output" | wc -l)" 3
    # SIGTERM is passed on to the command
    usdt-record -x "$BIN/usdt-target" -e 'inlined(where)' -- sleep 60 2>log &
    started=$!
    wait_for_text recording log
    kill "$started"
    status=0
    wait "$started" || status=$?
    equal "$status" 143
}

# bats test_tags=any-kernel
@test "what cannot be recorded is said before anything starts" {
    status_is 1 usdt-record -e 'missing(x)' -- usdt-target sites=1
    says 'there is no probe missing; usdt-gen -l lists those that are there'
    status_is 1 usdt-record -e 'with_float(n,load)' -- usdt-target float
    says 'has a floating-point number'
    status_is 1 usdt-record -p 2147483647
    equal "$stderr" 'usdt-record: process 2147483647: does not exist'
    status_is 1 usdt-record -o missing/file -e 'inlined(where)' -- usdt-target
    equal "$stderr" 'usdt-record: missing/file: No such file or directory'
}

# bats test_tags=any-kernel
@test "a full disk is an error" {
    status_is 1 sh "usdt-record -q -e 'inlined(where)' -- usdt-target sites >/dev/full"
    equal "$stderr" 'usdt-record: <stdout>: No space left on device'
    status_is 1 usdt-record -q -o /dev/full -e 'inlined(where)' -- usdt-target sites
    equal "$stderr" 'usdt-record: /dev/full: No space left on device'
}

# bats test_tags=any-kernel
@test "root follows no link to an output file" {
    [ "$(id -u)" = 0 ] || skip 'only root does not'
    echo precious >file
    ln -s file link
    status_is 1 usdt-record -q -o link -e 'inlined(where)' -- usdt-target sites
    says 'usdt-record: link: a symbolic link, which root does not follow here'
    equal "$(cat file)" precious
    ln -s /nowhere/at/all dangling
    status_is 1 usdt-record -q -o dangling -e 'inlined(where)' -- usdt-target sites
    equal "$stderr" 'usdt-record: dangling: a symbolic link, which root does not follow here: name the file itself'
}

@test "capabilities are given up, and a command has the caller's own" {
    start usdt-target wait sites
    usdt-record -p "$started" -e 'inlined(where)' >/dev/null 2>log &
    recorder=$!
    wait_for_text recording log
    has_given_up $recorder
    echo >&"$go"
    wait
    status_is 0 usdt-record -q -x "$BIN/usdt-target" -e 'inlined(where)' -- grep -e Cap -e Uid /proc/self/status
    equal "$(grep -v -e '^clock: ' -e '^losses: ' <<<"$output")" "$(grep -e Cap -e Uid /proc/self/status)"
}

@test "without privileges it says which are missing" {
    command -v setpriv >/dev/null || skip 'setpriv is not here'
    status_is 1 setpriv --bounding-set -all usdt-record -x "$BIN/usdt-target"
    equal "$stderr" 'usdt-record: CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE are missing: run it as root, or with these capabilities'
    status_is 1 setpriv --bounding-set -all,+bpf usdt-record -x "$BIN/usdt-target"
    equal "$stderr" 'usdt-record: CAP_PERFMON and CAP_SYS_PTRACE are missing: run it as root, or with these capabilities'
    status_is 1 setpriv --bounding-set -all,+sys_admin usdt-record -x "$BIN/usdt-target"
    equal "$stderr" 'usdt-record: CAP_SYS_PTRACE is missing: run it as root, or with these capabilities'
    # these three are not enough before 6.6
    local three=(setpriv --bounding-set "-all,+bpf,+perfmon,+sys_ptrace")
    status_is 1 env AS_LINUX=6.1 "${three[@]}" usdt-record -e 'inlined(where)' -- usdt-target sites
    says 'usdt-target: cannot attach to probe inlined, for which kernels before 6.6 want CAP_SYS_ADMIN, too: '
    is_since 6.6 || return 0
    status_is 0 "${three[@]}" usdt-record -q -e 'inlined(where)' -- usdt-target sites
    equal "$(events <<<"$output" | wc -l)" 3
}

@test "CAP_BPF and CAP_PERFMON alone show no process, not even one's own" {
    command -v setpriv >/dev/null || skip 'setpriv is not here'
    # as with file capabilities
    local as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    local two=("${as_user[@]}" "--inh-caps=+bpf,+perfmon" "--ambient-caps=+bpf,+perfmon")
    local three=("${as_user[@]}" "--inh-caps=+bpf,+perfmon,+sys_ptrace" "--ambient-caps=+bpf,+perfmon,+sys_ptrace")
    cp "$BIN/usdt-target-static" usdt-target
    cp "$BIN/usdt-record" .
    chmod 755 . ./*
    start ./usdt-target wait sites
    for what in "-p $started" '-x ./usdt-target' '-x ./usdt-target -- ./usdt-target sites'; do
        # shellcheck disable=SC2086
        status_is 1 "${two[@]}" ./usdt-record -e 'inlined(where)' $what
        equal "$output" ''
        equal "$stderr" 'usdt-record: CAP_SYS_PTRACE is missing: run it as root, or with these capabilities'
    done
    # root with the two in a container, for instance
    status_is 1 setpriv --bounding-set -all,+bpf,+perfmon ./usdt-record -p "$started"
    says 'usdt-record: CAP_SYS_PTRACE is missing: '
    echo >&"$go"
    is_since 6.6 || skip 'before 6.6, other users cannot attach'
    # "sites" hits the probe three times: root's and the user's own
    "${three[@]}" ./usdt-record -D 60 -x ./usdt-target -e 'inlined(where)' >lines 2>log &
    recorder=$!
    wait_for_text recording log
    ./usdt-target sites
    "${as_user[@]}" ./usdt-target sites
    kill "$recorder"
    wait "$recorder"
    equal "$(events lines | wc -l)" 6
}
