#!/usr/bin/env bats
# The owners of a trace that a process writes, as usdt-record finds them.
# bats file_tags=sanitizers

load helpers

TRACE=/dev/shm/usdt-target_trace.$$

setup_file() {
    [ -x "$BIN/usdt-target" ] || export LACKING='usdt-target was not built: sys/sdt.h is missing'
    needs_to_run usdt-record -o probed -e 'inlined(where)' -- usdt-target sites
}

teardown() {
    rm -f "$TRACE"
    kill_left recorder started changing
}

# Makes a trace with two owners.
make_trace() { # LAYOUT
    {
        echo '{"tpoint":"REQ","id":320,"owner_type":"t"}'
        echo '{"id":256,"poller":"t256","tsc":16,"description":"app_thread"}'
        echo '{"id":300,"poller":"t300","tsc":32,"description":"10.0.0.1:1"}'
        echo '{"tsc":1000,"lcore":0,"tpoint":"REQ","poller":"t300"}'
    } >lines.of.trace
    mktrace -l "$1" -n 8 -o "$TRACE" lines.of.trace
    eval "$(mktrace --places -l "$1" -n 8 lines.of.trace)"
}

# Whether so many events are recorded.
has_events() { # N
    [ "$(grep -c ^nvmf lines)" -ge "$1" ]
}

# Starts to record the three probes of SPDK.
record() {
    begin 'recording 3' usdt-record "$@"
}

@test "owners that are there, that are registered and that change, in each layout that has them" {
    for layout in G4 G5 G6; do
        make_trace $layout
        start usdt-target trace=$$ wait qpairs wait qpairs wait
        record -p "$started"
        equal "$(notes log | head -n 1)" "usdt-record: following the owners of $TRACE"
        wait_for_text app_thread lines
        register 301 48 '10.0.0.1:2'
        echo >&"$go"
        wait_for_text t301 lines
        wait_for has_events 15
        register 301 48 '10.0.0.1:2 sub qid:1'
        echo >&"$go"
        wait_for_text 'qid:1' lines
        # an owner of the same number, and also without any probe
        register 301 64 '10.0.0.1:3'
        wait_for_text '10.0.0.1:3' lines
        # what is behind the NUL says nothing
        register 300 32 '10.0.0.1:1'
        # between two looks, and after the last event
        register 302 80 last
        kill "$recorder"
        wait "$recorder"
        grep ^owner lines | diff - <(cat <<'L'
owner: tsc=0x10, id=0x100, poller='t256', description='app_thread'
owner: tsc=0x20, id=0x12c, poller='t300', description='10.0.0.1:1'
owner: tsc=0x30, id=0x12d, poller='t301', description='10.0.0.1:2'
owner: tsc=0x30, id=0x12d, poller='t301', description='10.0.0.1:2 sub qid:1'
owner: tsc=0x40, id=0x12d, poller='t301', description='10.0.0.1:3'
owner: tsc=0x50, id=0x12e, poller='t302', description='last'
L
)
        # an owner line comes before the qpairs of its time
        events lines >all
        equal "$(grep -n -m 1 ^nvmf all | cut -d: -f1) $(grep -n t301 all | head -n 2 | cut -d: -f1 | paste -sd ' ')" '4 3 19'
        equal "$(grep -vc ^owner all)" 30
        kill "$started"
        wait "$started" || true
    done
}

@test "up to G3 there are none, and none are needed" {
    for layout in G1 G2 G3; do
        make_trace $layout
        start usdt-target trace=$$ wait qpairs
        record -p "$started"
        equal "$(notes log | head -n 1)" "usdt-record: $TRACE: no owners to follow: traces of layout $layout name qpairs by address"
        echo >&"$go"
        wait "$recorder"
        equal "$(grep -c ^owner lines)" 0
        wait "$started"
    done
}

@test "the trace of a command, and of a process that it begins" {
    make_trace G6
    start usdt-record -o lines -- usdt-target trace=$$ qpairs wait
    wait_for_text app_thread lines
    echo >&"$go"
    wait "$started"
    equal "$(grep -c ^owner lines)" 2
    # what has ended before anybody could look
    status_is 0 usdt-record -o lines -- usdt-target qpairs
    says 'usdt-record: no owners: process'
    start usdt-record -o lines -F -x "$BIN/usdt-target" -- bash -c 'sleep 0.1; usdt-target trace=$0 qpairs wait; :' $$
    wait_for_text app_thread lines
    echo >&"$go"
    wait "$started"
    equal "$(grep -c ^owner lines)" 2
}

@test "a trace that is there later, for which privileges to look are kept" {
    make_trace G6
    start usdt-target wait trace=$$ qpairs wait
    record -p "$started"
    equal "$(notes log | head -n 1)" "usdt-record: no trace of process $started so far: its owners are followed once there is one"
    # CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE and CAP_CHECKPOINT_RESTORE, as far as they were there
    kept=$(printf '%016x' $((0x$(awk '/^CapEff/ { print $2 }' /proc/self/status) & 0x10000080004)))
    equal "$(awk '/^CapPrm/ { print $2 }' "/proc/$recorder/status")" "$kept"
    echo >&"$go"
    wait_for_text app_thread lines
    says_log "following the owners of $TRACE"
    equal "$(awk '/^CapPrm/ { print $2 }' "/proc/$recorder/status")" 0000000000000000
    is_stranger "$recorder"
    ends 0 "$recorder"
}

says_log() {
    grep -qF "$1" log || { cat log; return 1; }
}

@test "owners are left out when nothing needs them" {
    make_trace G6
    start usdt-target trace=$$ wait qpairs
    begin recording usdt-record -e 'nvmf_ctrlr_add_qpair(tsc)' -p "$started"
    echo >&"$go"
    wait "$recorder"
    equal "$(grep -c owner lines log)" 'lines:0
log:0'
    begin recording usdt-record -x "$BIN/usdt-target"
    says_log 'usdt-record: owners are not followed: -x names no process; use -p or a command'
    ends 0 "$recorder"
    # they are no events, and -q says nothing of them
    start usdt-target trace=$$ wait qpairs wait
    usdt-record -o lines -q -n 4 -p "$started" 2>log &
    recorder=$!
    wait_for_text app_thread lines
    echo >&"$go"
    wait "$recorder"
    equal "$(grep -c ^nvmf lines) $(grep -c ^owner lines) $(wc -c <log)" '4 2 0'
}

@test "descriptions can forge no line and drive no terminal" {
    make_trace G6
    start usdt-target trace=$$ wait
    register 301 48 $'a\', b=\'c\nowner: \e[31m\x9b \\'
    record -p "$started"
    wait_for_text t301 lines
    equal "$(grep -v ^clock lines | sed -n 3p)" "owner: tsc=0x30, id=0x12d, poller='t301', description='a\\', b=\\'c\\nowner: \\x1b[31m\\x9b \\\\'"
    # all of its field, without a NUL
    register 302 64 "$(printf 'x%.0s' $(seq 118))"
    printf y | dd of="$TRACE" bs=1 seek=$((owners + owner_size * 302 + description + 118)) conv=notrunc status=none
    wait_for_text 'xy' lines
    equal "$(tail -n 1 lines)" "owner: tsc=0x40, id=0x12e, poller='t302', description='$(printf 'x%.0s' $(seq 118))y'"
    ends 0 "$recorder"
}

@test "a trace that is damaged, cut off or another user's is not followed" {
    # not a trace
    for what in zeros noise short; do
        make_trace G6
        case $what in
        zeros) head -c 3000000 /dev/zero >"$TRACE" ;;
        noise) head -c 3000000 /dev/urandom >"$TRACE" ;;
        short) truncate -s 200000 "$TRACE" ;;
        esac
        start usdt-target trace=$$ wait qpairs
        record -p "$started"
        says_log 'no trace of process'
        echo >&"$go"
        wait "$recorder"
        equal "$(grep -c ^owner lines)" 0
        wait "$started"
    done
    # a table of 65535 records of 65544 bytes
    make_trace G6
    printf '\377\377\377\377' | dd of="$TRACE" bs=1 seek="$owner_area" conv=notrunc status=none
    start usdt-target trace=$$ wait
    record -p "$started"
    says_log "usdt-record: $TRACE: its owners are not followed: File too large"
    ends 1 "$recorder"
    kill "$started"
    [ "$(id -u)" = 0 ] || return 0
    make_trace G6
    start usdt-target trace=$$ wait
    chown nobody "$TRACE"
    record -p "$started"
    says_log "usdt-record: $TRACE: the trace of process $started belongs to another user: its owners are not followed"
    ends 1 "$recorder"
}

@test "a trace that becomes shorter ends the following, and nothing else" {
    make_trace G6
    start usdt-target trace=$$ wait qpairs
    record -p "$started"
    wait_for_text app_thread lines
    truncate -s 1000 "$TRACE"
    wait_for_text "$TRACE: owners are not followed any more: it was truncated" log
    echo >&"$go"
    status=0
    wait "$recorder" || status=$?
    equal "$status" 1
    equal "$(grep -c ^nvmf lines)" 15
}

# Makes a trace of 10000 owners, which have this time.
make_crowd() { # TSC FILE
    {
        echo '{"tpoint":"REQ","id":320,"owner_type":"t"}'
        seq 256 10255 | sed 's/.*/{"id":&,"poller":"t&","tsc":'"$1"',"description":"10.0.0.1:&"}/'
        echo '{"tsc":1000,"lcore":0,"tpoint":"REQ","poller":"t300"}'
    } >crowd
    mktrace -n 8 -o "$2" crowd
}

has_passed() { # MS SINCE
    [ $(($(uptime_ms) - $2)) -gt "$1" ]
}

@test "owners that change all the time do not fill the disk" {
    make_crowd 16 "$TRACE"
    make_crowd 32 other
    start usdt-target trace=$$ wait
    before=$(uptime_ms)
    record -p "$started"
    cp "$TRACE" same
    while :; do
        for from in other same; do
            dd if=$from of="$TRACE" bs=1M conv=notrunc status=none
        done
    done &
    changing=$!
    wait_for_text 'more than 4096 owners change in a second' log
    # the recorder reads the owners now and then
    wait_for has_passed 5000 "$before"
    kill "$changing"
    wait "$changing" || true
    ends 1 "$recorder"
    # all at the start and at the end; a pass more may be under way each time
    most=$((2 * 16384 + 4096 * (2 + ($(uptime_ms) - before) / 1000)))
    equal "$(grep -c 'more than 4096' log) $(($(grep -c ^owner lines) < most))" '1 1'
}

@test "what has taken the trace's name is not opened" {
    [ "$(id -u)" = 0 ] || skip 'the mapping itself needs more privileges'
    make_trace G6
    cp "$TRACE" other
    for what in fifo link file; do
        make_trace G6
        start usdt-target trace=$$ wait
        rm "$TRACE"
        case $what in
        fifo) mkfifo "$TRACE" ;;
        link) ln -s "$PWD/other" "$TRACE" ;;
        file) cp other "$TRACE" ;;
        esac
        record -p "$started"
        says_log "following the owners of $TRACE (deleted)"
        wait_for_text app_thread lines
        [ "$what" = fifo ] || register 301 48 other
        ends 0 "$recorder"
        equal "$(grep -c ^owner lines)" 2
        kill "$started"
        rm "$TRACE"
    done
}

@test "in another mount namespace" {
    unshare -m true 2>/dev/null || skip 'no mount namespaces here'
    make_trace G6
    start unshare -m --propagation private bash -c '
        mv "$1" hidden; mount -t tmpfs none /dev/shm; mv hidden "$1"
        exec usdt-target trace=$0 wait' $$ "$TRACE"
    [ ! -e "$TRACE" ]
    record -p "$started"
    # if this test runs in a chroot itself, the folder of that comes first
    grep -qE "following the owners of (/.*)?$TRACE\$" log
    wait_for_text app_thread lines
    ends 0 "$recorder"
}

@test "in a chroot" {
    unshare -m true 2>/dev/null || skip 'no mount namespaces here'
    make_trace G6
    start unshare -m --propagation private bash -c '
        mkdir below; mount --rbind / below
        exec chroot below usdt-target trace=$0 wait' $$
    record -p "$started"
    grep -qE "following the owners of /.*/below$TRACE\$" log
    wait_for_text app_thread lines
    ends 0 "$recorder"
}

@test "only what the process writes from /dev/shm under SPDK's name counts" {
    make_trace G6
    mv "$TRACE" "/dev/shm/usdt-target_other.$$"
    ln -s "usdt-target_other.$$" "$TRACE"
    start usdt-target trace=$$ wait
    record -p "$started"
    says_log 'no trace of process'
    ends 0 "$recorder"
    rm "/dev/shm/usdt-target_other.$$"
}
