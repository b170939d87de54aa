#!/usr/bin/env bats
# trace-record records a running target, with all that can be had, into a folder.
# bats file_tags=slow,sanitizers

load helpers

TRACE=/dev/shm/mktrace_trace.$$

teardown() {
    kill_left recorder server files writer started
    rm -f "$TRACE"
    [ -z "${group:-}" ] || wait_for rmdir "$group"
    umount -l mounted 2>/dev/null || true
}

# Starts a process that writes 5000 entries a second to its trace, whose rings hold those of 6 seconds, since the tools
# may have to wait for a busy machine; its id is $writer.
start_target() { # [OPTION...]
    {
        echo '{"tpoint":"ENTRY","id":100,"args":[{"name":"i","type":"int","size":8}]}'
        for i in $(seq 50); do
            echo "{\"tsc\":$((1000 * i)),\"lcore\":$((i % 2)),\"tpoint\":\"ENTRY\",\"args\":{\"i\":$i}}"
        done
    } >lines
    mktrace -w 600 -l G6 -n 16384 -p 10000 -o "$TRACE" "$@" lines 3>&- &
    writer=$!
    wait_for grep -q "$TRACE" "/proc/$writer/maps"
}

# Makes a folder with trace-record, trace-dump and others in the place of the tools with BPF programs, so that the tests
# run where BPF is not permitted, too.
make_tools() {
    mkdir -p tools
    cp "$BIN/trace-record" "$BIN/trace-dump" tools
    for tool in usdt-record offcpusnoop biosnoop; do
        make_tool "$tool" 'while :; do sleep 0.02; done'
    done
    PATH=$PWD/tools:$PATH
}

# One that says that it has attached its program, writes a line and then does this.
make_tool() { # NAME COMMANDS
    cat >"tools/$1" <<T
#!/bin/sh
trap 'exit 0' TERM
echo "$1: tracing a target" >&2
echo '{"from":"$1"}'
$2
T
    chmod +x "tools/$1"
}

# Starts trace-record, and waits until all parts record.
begin_recording() { # ARGUMENT...
    rm -f err out
    trace-record "$@" >out 2>err &
    recorder=$!
    wait_for_text '^trace-record: recording ' err
}

end_recording() { # STATUS
    local status=0
    wait "$recorder" || status=$?
    recorder=
    # on a busy machine entries may be overwritten before they are read, which is said
    [ "$1.$status" != 0.1 ] || ! grep -q -e ': trace: .*lost' -e ' which were overwritten' err || return 0
    [ "$status" = "$1" ] || { echo "exit $status, not $1"; cat err; return 1; }
}

# The tools, and a target.
set_up() { # [OPTION...]
    make_tools
    start_target "$@"
}

stop_recording() { # STATUS
    kill "$recorder"
    end_recording "$1"
}

# The last entries of a trace, without the times that depend on where it begins.
newest() { # N FILE
    trace-dump -q "$2" | sed 's/"us":[^,]*,//' | tail -n "$1"
}

# Whether so many entries have been recorded.
has_entries() { # N FILE
    equal "$(newest "$1" "$2" 2>/dev/null | wc -l)" "$1" >/dev/null
}

# Kills it, and waits for the end of its N parts.
kill_with_parts() { # N
    local parts id
    parts=$(children "$recorder" .)
    equal "$(wc -w <<<"$parts")" "$1"
    kill -KILL "$recorder"
    end_recording 137
    for id in $parts; do
        wait_for sh "! kill -0 $id"
    done
}

# What parts.jsonl says of a part.
part() { # NAME KEY
    jq -r --arg part "$1" --arg key "$2" 'select(.part == $part) | .[$key]' "${folder:-rec}/parts.jsonl"
}

@test "all parts are recorded side by side, into a folder of the user's own" {
    set_up
    status_is 0 trace-record -p "$writer" -o rec 0.5
    equal "$output" rec
    says "trace-record: recording mktrace ($writer) for 0.5 s into rec; Ctrl-C ends it"
    equal "$(stat -c %a rec)" 700
    equal "$(stat -c %a rec/* | sort -u)" 600
    equal "$(jq -r '[.part, .status] | join(" ")' rec/parts.jsonl | grep -v -e dmesg -e rpc -e kernel)" \
        $'target \ntrace done\nusdt done\noffcpu done\nbio done'
    equal "$(cat rec/usdt.txt rec/offcpu.jsonl rec/bio.jsonl)" \
        $'{"from":"usdt-record"}\n{"from":"offcpusnoop"}\n{"from":"biosnoop"}'
    equal "$(part target pid) $(part target name) $(part target trace)" "$writer mktrace $TRACE"
    # these tools do not say what they have lost
    equal "$(part trace lost) $(part trace file) $(part bio lost)" '0 trace.bin null'
    equal "$(head -n 1 rec/README)" "recorded-by: trace-record $(trace-record -V | sed 's/.*tools) //; s/ .*//')"
    for file in rec/*; do
        grep -q "^${file#rec/} " rec/README || [ "$file" = rec/README ]
    done
    # what was written in that time
    has_entries 100 rec/trace.bin
    jq -e '.started < .ended' >/dev/null <<<"$(head -n 1 rec/parts.jsonl)"
    equal "$(jq -r 'select(.tid == .pid) | "\(.when) \(.pid) \(.name)"' rec/kernel.jsonl)" "start $writer mktrace
end $writer mktrace"
    jq -se 'map(select(.tid)) | all(.tsc > 0 and .time and .state and .ran > 0 and .voluntary > 0) and .[0].tsc < .[1].tsc' rec/kernel.jsonl
    # by default it names the folder
    status_is 0 trace-record -q -p "$writer" 0.1
    [[ $output =~ ^trace-record\.$writer\.20[0-9]{6}-[0-9]{6}$ ]]
    [ -s "$output/README" ]
}

@test "several processes are recorded side by side, each into a folder of its own" {
    set_up
    started=$writer
    TRACE=$TRACE.b start_target
    status_is 0 trace-record -p "$started" -p "$writer" -o both 0.5
    equal "$output" both
    equal "$(stat -c '%a %n' both both/*)" "$(printf '700 %s\n' both "both/mktrace.$started" "both/mktrace.$writer" | sort -k 2)"
    for folder in both/*; do
        equal "$(part target pid)" "${folder##*.}"
        equal "$(part trace status)" 'done'
        has_entries 100 "$folder/trace.bin"
    done
    # it ends with all of them, at a signal
    begin_recording -p "$started,$writer" -o again 60
    wait_for sh '[ $(grep -c "recording mktrace" err) = 2 ]'
    kill -TERM $recorder
    end_recording 0
    rm "$TRACE.b"
    equal "$(cat again/*/parts.jsonl | jq -r 'select(.part == "trace").status')" $'done\ndone'
    status_is 2 trace-record -p "$started" -p "$writer" --trigger-us 5
    says 'trace-record: --trigger-us is for one process: each of several would have other requests'
    folder=
}

@test "what the network did to connections of a target" {
    make_tools
    mkfifo go
    pipe-target filltcp <go >ports 3>&- &
    started=$!
    exec {go}>go
    wait_for_text ready ports
    touch "/dev/shm/sending_trace.pid$started"
    run trace-record -q -p "$started" -o sending 0.5 # it has no trace that trace-dump knows
    rm "/dev/shm/sending_trace.pid$started"
    echo >&"$go"
    wait "$started"
    { read -r listener; read -r port; } <ports
    jq -c "select(.connection == \"127.0.0.1:$listener\" and .local == \"127.0.0.1:$port\")" sending/kernel.jsonl >of_sender
    jq -c "select(.connection == \"127.0.0.1:$port\")" sending/kernel.jsonl >of_reader
    equal "$(jq -r .when of_sender | xargs) $(jq -r .when of_reader | xargs)" 'start end start end'
    # nobody read, all the time; a jiffy is at most 10 ms
    jq -se '.[1].window_full - .[0].window_full > 400000 and all(.unsent > 0 and .sending >= .window_full)' of_sender
    jq -se 'all(.unread > 0 and .unsent == 0 and .window_full == 0)' of_reader
}

@test "what a target that stands still is in" {
    set_up
    kill -STOP "$writer"
    status_is 0 trace-record -q -p "$writer" -o stopped 0.2
    kill -CONT "$writer"
    equal "$(jq -r .state stopped/kernel.jsonl | sort -u)" T
    # its path is in the memory of the process
    mkfifo fifo
    (read -r <fifo) 3>&- &
    started=$!
    touch "/dev/shm/blocked_trace.pid$started"
    wait_for_text '[)] S' "/proc/$started/stat"
    run trace-record -q -p "$started" -o blocked 0.2 # it has no trace that trace-dump knows
    rm "/dev/shm/blocked_trace.pid$started"
    equal "$(jq -r 'select(.when == "end") | [.state, .syscall, .file] | join(" ")' blocked/kernel.jsonl)" 'S openat fifo'
    echo >fifo
    wait "$started"
}

# A control group, of either version, that may use 5 of 100 milliseconds; it is $group.
make_quota() {
    local root
    for root in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
        group=$root/spdk-trace-tools-test.$$
        mkdir "$group" || continue
        echo '5000 100000' >"$group/cpu.max" && return
        echo 100000 >"$group/cpu.cfs_period_us" && echo 5000 >"$group/cpu.cfs_quota_us" && return
        rmdir "$group"
    done 2>/dev/null
    group=
    skip 'no control group with a CPU quota can be made here'
}

@test "the CPU quota of a target, and how often it was used up" {
    local group
    make_tools
    make_quota
    start_target
    echo "$writer" >"$group/cgroup.procs"
    (
        echo "$BASHPID" >"$group/cgroup.procs"
        while :; do :; done
    ) 3>&- &
    started=$!
    status_is 0 trace-record -q -p "$writer" -o limited 1
    jq -c 'select(.cgroup)' limited/kernel.jsonl >quotas
    equal "$(jq -r '[.when, .cgroup, .quota, .period] | join(" ")' quotas | grep "${group##*/}")" \
        "start /${group##*/} 5000 100000
end /${group##*/} 5000 100000"
    jq -se 'map(select(.cgroup | endswith("'"${group##*/}"'"))) | .[1].throttled > .[0].throttled and
        .[1].throttled_us > .[0].throttled_us and .[1].periods > .[0].periods and .[1].tsc > .[0].tsc' quotas
    kill -KILL "$started" "$writer"
}

@test "a recording needs a folder of its own" {
    set_up
    mkdir there
    ln -s there link
    ln -s nowhere dangling
    echo >file
    for name in there link dangling file; do
        status_is 1 trace-record -p "$writer" -o "$name" 0.1
        says "trace-record: $name: exists; a recording needs a folder of its own"
    done
    equal "$(ls there)" ''
    status_is 1 trace-record -p "$writer" -o no/folder 0.1
    says 'trace-record: no/folder: No such file or directory'
    [ "$(id -u)" = 0 ] || { mkdir shut && chmod 555 shut && status_is 1 trace-record -p "$writer" -o shut/folder 0.1 &&
        says 'trace-record: shut/folder: Permission denied'; }
}

@test "the name of a folder that was replaced while recording is not printed" {
    set_up
    begin_recording -p "$writer" -o rec 100
    mv rec moved
    mkdir rec
    ln -s /etc/hostname rec/trace.bin
    stop_recording 1
    equal "$(cat out)" ''
    grep -qx "trace-record: rec: was moved, replaced or removed: the recording is in $PWD/moved" err
    folder=moved
    equal "$(part trace status)" 'done'
    rm -r rec moved
    begin_recording -p "$writer" -o rec 100
    rm -r rec
    stop_recording 1
    grep -qx "trace-record: rec: was moved, replaced or removed: the recording is in $PWD/rec (deleted)" err
    begin_flight --trigger-us 5000
    mv rec moved
    ln -s moved rec
    span_line 7000.000 | see_slow
    wait_for_text ": the recording is in $PWD/moved$" err
    stop_recording 1
    equal "$(cat out)" ''
}

# The processes that a process has started, whose command line matches.
children() { # PID PATTERN
    local id
    for id in $(<"/proc/$1/task/$1/children"); do
        ! grep -aqs "$2" "/proc/$id/cmdline" || echo "$id"
    done
}

@test "a part that dies is said, and the others go on" {
    set_up
    begin_recording -p "$writer" -o rec 600
    wait_for has_entries 100 rec/trace.bin
    kill -KILL "$(children "$recorder" offcpusnoop)"
    wait_for_text 'offcpu: ended early: killed by signal 9 (Killed); offcpu.jsonl has what came before' err
    kill -KILL "$(children "$recorder" trace-dump)"
    wait_for_text 'trace: ended early: killed by signal 9 (Killed); trace.bin has what came before' err
    stop_recording 1
    equal "$(part offcpu status) $(part trace status) $(part usdt status) $(part bio status)" 'failed failed done done'
    grep -q 'ended early: killed by signal 9' rec/README
    has_entries 100 rec/trace.bin
    # one that cannot start, one that loses something, and one that ends with an error
    make_tool usdt-record 'exit 0'
    printf '#!/bin/sh\necho "offcpusnoop: needs root" >&2; exit 1\n' >tools/offcpusnoop
    cat >losses <<'L'
{"tsc":1,"us":0.000,"lcore":0,"tpoint":"LOSSES","args":{"tool":"biosnoop","lost":2,"missed":0,"skipped":1,"partial":5}}
L
    make_tool biosnoop "trap 'echo biosnoop: lost 2 events >&2; cat ../losses; exit 1' TERM; while :; do sleep 0.02; done"
    folder=again
    status_is 1 trace-record -q -p "$writer" -o again 0.5
    says 'trace-record: offcpu: not recorded: needs root'
    says 'trace-record: bio: lost 2 events'
    equal "$(part offcpu status) $(part bio status) $(part bio lost) $(part offcpu why)" 'missing done 3 needs root'
    grep -q '^ *lost: 3$' again/README
    [ ! -e again/offcpu.jsonl ]
    # one that is killed while it writes how much it has lost, and one that writes it into probe lines
    make_tool biosnoop 'printf %s "$(cat ../losses)"; while :; do sleep 0.02; done'
    make_tool usdt-record "trap 'echo losses: lost=0x10, missed=0x0, skipped=0x0, partial=0x0; exit 1' TERM; while :; do sleep 0.02; done"
    folder='cut'
    begin_recording -p "$writer" -o cut 600
    kill -KILL "$(children "$recorder" biosnoop)"
    wait_for_text 'bio: ended early: killed by signal 9' err
    stop_recording 1
    equal "$(part bio status) $(part bio lost) $(part usdt status) $(part usdt lost)" 'failed null done 16'
    grep -q '^ *lost: unknown: biosnoop ended without a count$' cut/README
    # what is missing is no failure
    make_tool biosnoop 'while :; do sleep 0.02; done'
    rm tools/usdt-record
    PATH=$PWD/tools:/usr/bin:/bin
    folder=third
    status_is 0 trace-record -q -p "$writer" -o third 0.2
    says 'trace-record: usdt: not recorded: usdt-record is neither in the folder of trace-record nor in $PATH'
}

@test "the parts leave the CPUs to which the target is bound to it" {
    local first=$(($(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')))
    [ "$(nproc)" -gt 1 ] || skip 'one CPU'
    make_tools
    make_tool biosnoop 'sed -n "s/^Cpus_allowed_list:.//p" /proc/$$/status; while :; do sleep 0.02; done'
    make_tool offcpusnoop 'cat /proc/self/autogroup; while :; do sleep 0.02; done'
    start_target
    taskset -cp "$first" "$writer"
    status_is 0 trace-record -q -p "$writer" -o rec 0.1
    tail -n 1 rec/bio.jsonl >cpus
    [[ ! $(cat cpus) =~ ^$first([-,]|$) ]]
    # with a higher priority, also among sessions where the kernel looks at these first
    if [ "$(id -u)" = 0 ] && [ -e /proc/self/autogroup ] && [ "$(</proc/sys/kernel/sched_autogroup_enabled)" = 1 ]; then
        grep -q '^/autogroup-[0-9]* nice -10$' rec/offcpu.jsonl
        run ! grep -qxf rec/offcpu.jsonl /proc/self/autogroup
    fi
    # none is left
    taskset -c "$first" trace-record -q -p "$writer" -o again 0.1
    equal "$(tail -n 1 again/bio.jsonl)" "$first"
}

@test "a process without a trace is refused, and why there is no trace is said" {
    make_tools
    sleep 1000 3>&- &
    started=$!
    wait_for grep -qx sleep "/proc/$started/comm"
    status_is 1 trace-record -p "$started" -o rec 100
    equal "$output" ''
    says "trace-record: process $started (sleep): has mapped no SPDK trace: it is no target"
    [ ! -e rec ]
    start_target
    # and not the line after it
    make_tool biosnoop 'printf "%s\n" "biosnoop: why" "Try this." >&2; exit 2'
    status_is 1 trace-record -q -p "$writer" -o rec 0.1
    says 'trace-record: bio: ended early: why; bio.jsonl has what came before'
    equal "$(part bio why)" why
}

@test "messages of the kernel from the time of the recording are kept" {
    set_up
    { echo "<6>trace-record: before $$" >/dev/kmsg; } 2>/dev/null || skip 'no message can be written here'
    begin_recording -p "$writer" -o rec 600
    printf '<6>trace-record: test %s \001\n' "$$" >/dev/kmsg
    stop_recording 0
    [[ $(grep test rec/dmesg.txt) =~ ^\[\ *[0-9]+\.[0-9]{6}\]\ trace-record:\ test\ $$\  ]]
    run ! grep -q "before $$" rec/dmesg.txt
}

@test "packages put spdk- before a name that others have" {
    set_up
    mv tools/biosnoop tools/spdk-biosnoop
    make_tool biosnoop 'exit 3'
    status_is 0 trace-record -q -p "$writer" -o rec 0.2
    equal "$(part bio status)" 'done'
}

@test "signals end it, and what was recorded is kept" {
    set_up
    for signal in INT TERM HUP; do
        folder=$signal
        begin_recording -p "$writer" -o "$signal" 600
        wait_for has_entries 10 "$signal/trace.bin"
        # a background job of a script ignores SIGINT
        [ "$signal" = INT ] && kill -TERM "$recorder" || kill -"$signal" "$recorder"
        end_recording 0
        equal "$(part trace status) $(part bio status)" 'done done'
        has_entries 10 "$signal/trace.bin"
    done
    # two at once, as timeout passes them on: one to the tool and one to its process group
    folder=two
    rm err
    timeout 600 trace-record -p "$writer" -o two 600 >out 2>err &
    recorder=$!
    wait_for_text '^trace-record: recording ' err
    stop_recording 0
    equal "$(part trace status) $(part bio status)" 'done done'
    # Ctrl-C reaches the tool alone
    folder=terminal
    rm err
    setsid --wait env --default-signal=INT bash -c '(until grep -q "^trace-record: recording " err; do sleep 0.05; done; kill -INT 0) &
        trace-record -p "$1" -o terminal 600 2>err' - "$writer" || true
    wait_for test -s terminal/parts.jsonl
    equal "$(part trace status) $(part bio status)" 'done done'
}

@test "a part that does not end is said after a moment, and Ctrl-C ends without it" {
    set_up
    for seconds in 0.5 5 50; do
        begin_recording -p "$writer" -o rec $seconds
        id=$(children "$recorder" trace-dump)
        ! kill -STOP "$id" 2>/dev/null || break
        # it has ended already: the machine is slow
        end_recording 0
        rm -r rec
    done
    wait_for_text "^trace-record: waits for trace-dump, process $id, which is stopped; Ctrl-C ends without it$" err
    # any of the signals that end it, as a background job of a script ignores SIGINT
    kill -TERM "$recorder"
    end_recording 1
    equal "$(part trace status) $(part usdt status) $(part bio status)" 'failed done done'
    grep -q '^ended: ' rec/README
    # the same after a first Ctrl-C, of all that are stopped
    folder=again
    begin_recording -p "$writer" -o again 100
    for id in $(children "$recorder" .); do
        kill -STOP "$id"
    done
    kill -TERM "$recorder"
    wait_for_text ': waits for trace-dump' err
    kill -HUP "$recorder"
    end_recording 1
    equal "$(part trace status) $(part offcpu status) $(part bio status)" 'failed failed failed'
    # one that is slow is waited for
    make_slow_recorder
    sed -i 's/--keep/--record/' tools/trace-dump
    folder=slow
    begin_recording -p "$writer" -o slow 0.5
    wait_for_text ': waits for trace-dump, process [0-9]*, to end; Ctrl-C ends without it$' err
    : >complete
    end_recording 0
    equal "$(part trace status)" 'done'
}

@test "it ends where the end of children is ignored" {
    set_up
    status_is 0 timeout 60 env --ignore-signal=CHLD trace-record -q -p "$writer" -o rec 0.2
    equal "$(part trace status)" 'done'
}

@test "no part outlives it" {
    set_up
    begin_recording -p "$writer" -o rec 100
    wait_for has_entries 10 rec/trace.bin
    kill_with_parts 4
    has_entries 10 rec/trace.bin
    grep -q 'not ended: it goes on, or trace-record was killed' rec/README
}

@test "it ends with the target, and keeps all until then" {
    set_up
    begin_recording -p "$writer" -o rec 600
    wait_for has_entries 1000 rec/trace.bin
    kill -KILL "$writer"
    end_recording 0
    writer=
    grep -q "trace-record: process $(part target pid) has ended" err
    grep -q '^ended: .*, with the target$' rec/README
    # up to the last entry
    cmp <(newest 1000 rec/trace.bin) <(newest 1000 "$TRACE")
}

@test "--max-size bounds all files" {
    make_tools
    make_tool biosnoop 'exec yes "{\"a\":1}"'
    start_target
    # the definitions of the trace take 2.4 MB
    begin_recording -p "$writer" -o rec --max-size 8M 600
    wait_for_text 'bio: ended early: killed by signal 25 (File size limit exceeded); bio.jsonl has what came before' err
    wait_for has_entries 100 rec/trace.bin
    stop_recording 1
    equal "$(stat -c %s rec/bio.jsonl)" $((3 << 19))
    [ "$(cat rec/* | wc -c)" -le $((8 << 20)) ]
    has_entries 100 rec/trace.bin
}

@test "a full disk is said, and what was written can be read" {
    unshare -m --propagation private true 2>/dev/null || skip 'no namespaces here'
    set_up -p 100
    make_tool biosnoop 'until [ "$(trace-dump -q trace.bin 2>/dev/null | head -n 200 | wc -l)" = 200 ]; do sleep 0.02; done
exec yes "{\"a\":1}"'
    unshare -m --propagation private bash -c 'mkdir disk && mount -t tmpfs -o size=6M none disk 2>/dev/null || exit 77
        trace-record -q -p "$1" -o disk/rec 600 2>err >named &
        until grep -q "trace: ended early" err || ! kill -0 $!; do sleep 0.05; done
        kill $!
        wait $! || echo $?
        trace-dump -q disk/rec/trace.bin | wc -l; cat disk/rec/parts.jsonl >parts.jsonl; head -n 1 disk/rec/README' - "$writer" >out ||
        [ $? != 77 ] || skip 'no tmpfs can be mounted'
    cat out err
    equal "$(sed -n 1p out)" 1
    [ "$(sed -n 2p out)" -gt 100 ]
    grep -q '^recorded-by: trace-record' out
    grep -q 'trace-record: trace: ended early: .*No space left on device' err
    folder=.
    equal "$(part trace status) $(part usdt status)" 'failed done'
}

@test "the process is found by its trace, and several are listed" {
    set_up
    # in a namespace of its own no other process has one
    unshare -pf --mount-proc --propagation private true 2>/dev/null || skip 'no namespaces here'
    cat >alone <<'T'
status=0
trace-record -q -o none 0.1 2>none.err || status=$?
echo "none $status" >statuses
mktrace -w 600 -l G6 -n 16384 -p 2000 -o "$1" lines & one=$!
until grep -q "$1$" /proc/$one/maps; do sleep 0.05; done
trace-record -q -o rec 0.1 2>one.err; echo "one $?" >>statuses
mktrace -w 600 -l G6 -n 16384 -p 2000 -o "$1.b" lines & two=$!
until grep -q "$1.b" /proc/$two/maps; do sleep 0.05; done
trace-record -q -o several 0.1 2>several.err || status=$?
echo "several $status $one $two" >>statuses
trace-record -q -p $two -o chosen 0.1 2>/dev/null; echo "chosen $?" >>statuses
kill $two
wait $two
chmod 644 lines
# one of another user that looks like a target
setpriv --reuid=65534 --regid=65534 --clear-groups mktrace -w 600 -l G6 -n 16384 -p 2000 -o "$1.c" lines & two=$!
until grep -q "$1.c" /proc/$two/maps; do sleep 0.05; done
trace-record -q -o own 0.1 2>own.err; echo "own $? $one" >>statuses
kill $one $two; rm -f "$1" "$1.b" "$1.c"
T
    kill "$writer"
    wait "$writer"
    writer=
    unshare -pf --mount-proc --propagation private bash alone "$TRACE"
    read -r _ _ one two <<<"$(grep several statuses)"
    cat one.err
    equal "$(cut -d ' ' -f 1,2 statuses)" $'none 1\none 0\nseveral 2\nchosen 0\nown 0'
    equal "$(jq -r 'select(.part == "target") | .pid' own/parts.jsonl)" "$one"
    grep -q "^trace-record: process $one (mktrace): 1 other with a trace is another user's: -p chooses it$" own.err
    grep -q 'trace-record: no process has mapped an SPDK trace' none.err
    grep -q '^trace-record: 2 processes have a trace: choose one with -p$' several.err
    grep -qE "^ *$one  mktrace +user $(id -u) +0:0[0-9]:[0-9][0-9]  $TRACE$" several.err
    grep -qE "^ *$two  mktrace +user $(id -u) +0:0[0-9]:[0-9][0-9]  $TRACE.b$" several.err
    equal "$(part target trace)" "$TRACE"
    [ ! -e several ] && [ ! -e none ]
}

# Starts a server of JSON-RPC at the socket $1, which answers in this way.
serve() { # SOCKET HOW
    command -v python3 >/dev/null || skip 'python3 is not here'
    rm -f "$1"
    python3 - "$1" "$2" 3>&- <<'P' &
import json, os, socket, sys, time
how = sys.argv[2]
results = {
    'spdk_get_version': {'version': 'SPDK v26.05'},
    'trace_get_tpoint_group_mask': {'tpoint_group_mask': '0x20', 'nvmf_tcp': {'enabled': True, 'mask': '0x20'},
                                    'sock': {'enabled': False, 'mask': '0x8000'}, 'th\x1bread': {'enabled': False}},
    'nvmf_get_subsystems': [{'nqn': 'nqn.a'}, {'nqn': 'n"b\\'}, {'no': 1}, 7],
}
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen(5)
late = b''
while True:
    c, _ = s.accept()
    try:
        while data := c.recv(65536):
            q = json.loads(data)
            if q['method'] == 'nvmf_subsystem_get_qpairs':
                r = {'result': [{'of': q['params']['nqn'], **({} if how == 'hosts' else {'hostnqn': 'h'})}]}
            elif q['method'] == 'nvmf_subsystem_get_controllers' and how == 'hosts':
                r = {'result': [{'cntlid': 1, 'hostnqn': 'h'}]}
            elif q['method'] in results:
                r = {'result': results[q['method']]}
            else:
                r = {'error': {'code': -32601, 'message': 'Method not found'}}
            text = json.dumps({'jsonrpc': '2.0', 'id': q['id'], **r}).encode()
            if how == 'lines':
                text = json.dumps({'jsonrpc': '2.0', 'id': q['id'], **r}, indent=1).encode().replace(b'SPDK', b'\xff')
            elif how == 'long':
                text = json.dumps({'jsonrpc': '2.0', 'id': q['id'], 'result': 'x' * 30000}).encode()
            elif how == 'garbage':
                text = b'no json {}'
            elif how == 'silent' or how == 'paused' and 'qpairs' in q['method']:
                late = text
                continue
            elif how == 'paused' and late:
                text, late = late + text, b''
            elif how == 'close':
                break
            elif how == 'other':
                text = b'{"jsonrpc":"2.0","id":77,"result":1}'
            elif how == 'large':
                text = b'{"id":1,"result":"' + b'x' * (9 << 20) + b'"}'
            elif how == 'deep':
                text = b'{"id":1,"result":' + b'[' * 4000000
            elif how == 'slow':
                text = text[:20]
            elif how == 'late':
                time.sleep(1)
            c.sendall(text)
    except (OSError, ValueError):
        pass
    c.close()
P
    server=$!
    wait_for test -S "$1"
}

@test "what the target says of itself by JSON-RPC is stored, and which groups are off is said" {
    set_up
    for how in good lines; do
        serve socket $how
        status_is 0 trace-record -p "$writer" -o "rec.$how" --rpc-socket socket 0.2
        says 'trace-record: tracepoint groups that are off: sock, th\u001bread; rpc.py trace_enable_tpoint_group NAME enables one'
        folder=rec.$how
        equal "$(part rpc status)" 'done'
        # a line for each call: at the start, and at the end of what changes
        equal "$(jq -c 'select(.method == "nvmf_subsystem_get_qpairs") | [.params.nqn, .result]' "$folder/rpc.jsonl")" \
            '["nqn.a",[{"of":"nqn.a","hostnqn":"h"}]]
["n\"b\\",[{"of":"n\"b\\","hostnqn":"h"}]]
["nqn.a",[{"of":"nqn.a","hostnqn":"h"}]]
["n\"b\\",[{"of":"n\"b\\","hostnqn":"h"}]]'
        equal "$(jq -r 'select(.method == "iobuf_get_stats") | .error.message' "$folder/rpc.jsonl")" $'Method not found\nMethod not found'
        equal "$(jq -r 'select(.method == "spdk_get_version") | .result.version' "$folder/rpc.jsonl" | wc -l)" 1
        # each was made between the ticks of its line
        jq -se 'all(.begin < .end) and (map(.begin) | . == sort) and all(.method != "nvmf_subsystem_get_controllers")' "$folder/rpc.jsonl" >/dev/null
        kill_left server
    done
}

@test "controllers are asked for where qpairs lack the names of hosts, and before the trace ends" {
    set_up
    serve socket hosts
    status_is 0 trace-record -q -p "$writer" -o rec --rpc-socket socket 0.2
    equal "$(jq -r 'select(.method | startswith("nvmf_sub")) | "\(.method) \(.params.nqn)"' rec/rpc.jsonl | sed 4q; echo end)" \
        'nvmf_subsystem_get_qpairs nqn.a
nvmf_subsystem_get_controllers nqn.a
nvmf_subsystem_get_qpairs n"b\
nvmf_subsystem_get_controllers n"b\
end'
    # while the target still wrote to its rings
    [ ! rec/rpc.jsonl -nt rec/trace.bin ]
}

@test "what a server of JSON-RPC may answer is bounded and checked" {
    set_up
    local how message servers='' recorders=''
    cat >answers <<'T'
garbage a reply that is not JSON
silent no reply within 2 seconds
slow no reply within 2 seconds
close it closed the connection
other a reply to another request
large a reply of more than 8 MB
T
    # side by side, as they are waited for
    for how in $(cut -d ' ' -f 1 answers) late paused; do
        serve "$how.socket" "$how"
        servers+=" $server"
        trace-record -q -p "$writer" -o "$how" --rpc-socket "$how.socket" 0.1 2>"$how.err" 3>&- &
        recorders+=" $!"
    done
    server=$servers
    for recorder in $recorders; do
        wait "$recorder"
    done
    while read -r how message; do
        grep -qF "trace-record: rpc: not recorded: $message" "$how.err"
        [ ! -e "$how/rpc.jsonl" ]
        folder=$how
        equal "$(part trace status)" 'done'
    done <answers
    # a method that has to wait for a paused subsystem, and that is answered after others were asked
    grep -qF 'trace-record: rpc: ended early: nvmf_subsystem_get_qpairs: no reply within 2 seconds; rpc.jsonl has' paused.err
    equal "$(jq -c 'select(.method == "nvmf_subsystem_get_qpairs") | .error.message' paused/rpc.jsonl | sort -u)" '"no reply within 2 seconds"'
    equal "$(jq -r 'select(.method == "spdk_get_version") | .result.version' paused/rpc.jsonl | wc -l)" 1
    equal "$(jq -r 'select(.method == "iobuf_get_stats") | .error.message' paused/rpc.jsonl)" 'Method not found'
    # each reply in time, but not all of them; on a machine that is busy for a second not even each
    grep -qE 'trace-record: rpc: ended early: (its replies took more than 5|[a-z_]*: no reply within 2) seconds; rpc.jsonl has' late.err
    [ "$(wc -l <late/rpc.jsonl)" -lt 6 ]
    kill_left server
    # of the size of all files, a 64th
    serve socket long
    status_is 0 trace-record -q -p "$writer" -o long --max-size 8M --rpc-socket socket 0.1
    says 'trace-record: rpc: ended early: its replies are longer than 64 MB, or than a 64th of --max-size; rpc.jsonl has what came before'
    equal "$(wc -l <long/rpc.jsonl)" 4
    kill_left server
    status_is 0 trace-record -q -p "$writer" -o none --rpc-socket nowhere 0.1
    says 'trace-record: rpc: not recorded: nowhere: No such file or directory; --rpc-socket names another one'
    # a socket that the target's command line names may be another process's by now; mktrace -r is a rate
    kill "$writer"
    wait "$writer"
    rm "$TRACE"
    start_target -r 2600000000
    serve 2600000000 good
    status_is 0 trace-record -q -p "$writer" -o anothers 0.1
    says "trace-record: rpc: not recorded: 2600000000: belongs to process $server; --rpc-socket uses it"
}

# The process in which a recorder reads what the target answers, once it is confined.
reader_of_answers() {
    local id
    for id in $(children "$recorder" .); do
        ! grep -qx $'Seccomp:\t2' "/proc/$id/status" || echo "$id"
    done
}

@test "what the target answers is read by a process without privileges" {
    set_up
    serve socket late
    trace-record -p "$writer" -o rec --rpc-socket socket 0.1 >out 2>err 3>&- &
    recorder=$!
    wait_for eval '[ -n "$(reader_of_answers)" ]'
    id=$(reader_of_answers)
    is_stranger "$id"
    equal "$(sed -n 's/^Cap[EP][a-z]*:.//p' "/proc/$id/status" | sort -u)" 0000000000000000
    equal "$(cat "/proc/$id/comm")" read-answers
    # one that dies is said
    kill -KILL "$id"
    end_recording 0
    grep -qx 'trace-record: rpc: not recorded: killed by signal 9 (Killed)' err
}

# bats test_tags=plain
@test "root's trace-dump reads the trace without privileges" {
    [ "$(id -u)" = 0 ] || skip 'it has none'
    set_up
    begin_flight --trigger-us 5000
    for id in $(children "$recorder" trace-dump); do
        is_stranger "$id"
        equal "$(sed -n 's/^Cap[EP][a-z]*:.//p' "/proc/$id/status" | sort -u)" 0000000000000000
        equal "$(sed -n 's/^Seccomp:.//p' "/proc/$id/status")" 2
    done
    stop_recording 0
    # it still ends with trace-record, and when it is asked twice
    begin_recording -p "$writer" -o again 100
    kill_with_parts 4
    [ "$(trace-dump -q again/trace.bin | wc -l)" -gt 10 ]
    # the file that root has created is removed if it gets nothing
    echo 'no trace' >bad
    status_is 1 trace-dump -F --record file bad
    [ ! -e file ]
}

@test "a socket on a file system that does not answer delays it by seconds only" {
    if [ "$(id -u)" != 0 ] || [ ! -c /dev/fuse ]; then
        skip 'FUSE needs root, and /dev/fuse'
    fi
    make_tools
    mkdir mounted
    hanging-files mounted "$BIN/mktrace" >said 2>&1 3>&- &
    files=$!
    wait_for grep -q . said
    grep -q ready said || skip "no file system of FUSE here: $(cat said)"
    bash -c 'sleep 1000; :' - "--rpc-socket=$PWD/mounted/file" 3>&- &
    started=$!
    kill -USR1 "$files"
    # that it has one fails only later
    : >"/dev/shm/none_trace.pid$started"
    status_is 1 timeout 60 trace-record -q -p "$started" -o rec 0.1
    says "trace-record: rpc: not recorded: $PWD/mounted/file: Connection timed out"
    equal "$(part bio status)" 'done'
    rm "/dev/shm/none_trace.pid$started"
    kill -KILL "$(children "$started" sleep)"
}

@test "the tools themselves record a target with probes and a trace" {
    [ -x "$BIN/usdt-target" ] || lacks 'usdt-target was not built: sys/sdt.h is missing'
    sleep 1000 3>&- &
    started=$!
    runs_here usdt-record -o probed -e 'inlined(where)' -- usdt-target sites || lacks "no BPF here: $(cat err)"
    kill_left started
    echo '{"tpoint":"ENTRY","id":100}' >lines
    mktrace -l G6 -n 64 -L 0 -o "/dev/shm/usdt-target_trace.$$" lines
    start usdt-target trace=$$ wait qpairs wait
    trace-record -p "$started" -o rec 600 >named 2>err &
    recorder=$!
    wait_for_text '^trace-record: recording usdt-target' err
    echo >&"$go"
    # it waits again after the probes
    wait_for sh '[ "$(grep -c ready out)" = 2 ]'
    status=0
    kill "$recorder"
    wait "$recorder" || status=$?
    recorder=
    rm -f "/dev/shm/usdt-target_trace.$$"
    # a kernel may skip events
    [ "$status" = 0 ] || grep -qE 'skipped|did not run' err || { cat err; return 1; }
    equal "$(part usdt status) $(part offcpu status) $(part bio status)" 'done done done'
    equal "$(grep -c '^nvmf_ctrlr_add_qpair: ' rec/usdt.txt)" 5
    ! has_ticks || grep -q '^clock: ' rec/usdt.txt
    grep -q '"OFF_CPU"' rec/offcpu.jsonl
}

# Starts a flight recorder whose slow requests are those in the file slow, once it is there.
begin_flight() { # OPTION...
    cat >tools/trace-spans <<T
#!/bin/sh
exec 3<&0
cat <&3 >/dev/null &
while kill -0 \$! 2>/dev/null; do
    # opened again, so that it waits where the pipe is full
    [ ! -e '$PWD/slow' ] || { cat '$PWD/slow' >/proc/self/fd/1; rm '$PWD/slow'; }
    sleep 0.02
done
T
    chmod +x tools/trace-spans
    rm -f err out
    trace-record -p "$writer" -o rec --keep 2 "$@" >out 2>err 3>&- &
    recorder=$!
    wait_for_text '^trace-record: recording .* into rec when a request takes' err
}

span_line() { # LIFE [MEMBERS]
    echo "{\"tsc\":1,\"life\":$1,\"id\":\"r1\"${2:-}}"
}

# Passes lines on at once.
see_slow() {
    cat >slow.new
    mv slow.new slow
    wait_for test ! -e slow
}

@test "--trigger-us keeps what is around slow requests, in a folder for each time" {
    make_tools
    make_tool biosnoop 'i=0
while read -r up _ </proc/uptime; do echo "{\"line\":$((i += 1)),\"up\":$up}"; sleep 0.01; done'
    start_target
    begin_flight --trigger-us 5000
    # until the first lines are dropped
    wait_for test -s rec/ring/bio.jsonl
    wait_for sh '[ "$(head -c 1 rec/ring/bio.jsonl | tr -d "\0")" = "" ]'
    # an asynchronous event request is not slow, and where entries were lost nothing is known
    { span_line 99999.000 ',"admin":true'; span_line 99999.000 ',"maybe_admin":true'; span_line 99999.000 ',"lost":true'; } | see_slow
    sleep 0.5
    equal "$(ls rec)" $'README\nring'
    { span_line 5000.000; span_line 30123.456; } | see_slow
    wait_for test -s out
    folder=$(cat out)
    [[ $folder =~ ^rec/0001-20[0-9]{6}-[0-9]{6}-30123us$ ]]
    equal "$(find "$folder" -type f ! -name rpc.jsonl ! -name dmesg.txt -printf '%f\n' | sort | xargs)" 'README bio.jsonl kernel.jsonl offcpu.jsonl parts.jsonl trace.bin trigger.jsonl usdt.txt'
    equal "$(stat -c %a "$folder")" 700
    grep -q '^trigger: 2 requests of 5000.000 us or more, the slowest 30123.456 us, first seen 20' "$folder/README"
    equal "$(part trigger requests) $(part trigger slowest) $(part trace status) $(part usdt status)" '2 30123.456 done done'
    equal "$(jq '.life + 0' "$folder/trigger.jsonl" | xargs)" '5000 30123.456'
    equal "$(cat "$folder/usdt.txt")" '{"from":"usdt-record"}'
    # the last two seconds, in which a busy machine may pause: whole lines, and not the first ones
    equal "$(jq -s '.[-1].up - .[0].up > 1 and .[0].line > 1 and .[-1].line - .[0].line == length - 1' "$folder/bio.jsonl")" true
    has_entries 1000 "$folder/trace.bin"
    # the next one
    span_line 6000.000 | see_slow
    wait_for grep -q /0002- out
    folder=$(sed -n 2p out)
    [[ $folder == rec/0002-*-6000us ]]
    stop_recording 0
    equal "$(find rec -mindepth 1 -maxdepth 1 | wc -l)" 3
    grep -q '^trace-record: 3 slow requests in 2 folders; watched all requests$' err
    grep -q '^3 slow requests in 2 folders; watched all requests$' rec/README
}

@test "slow requests that follow each other are in one folder" {
    set_up
    begin_flight --trigger-us 5000
    local since=$SECONDS
    for _ in $(seq 50); do
        span_line 5001.000 | see_slow
        sleep 0.05
    done
    # one that is in flight is waited for, and is one request
    { span_line 1000000.000 ',"open":true'; span_line 1500000.000; } | see_slow
    stop_recording 0
    # one in two seconds, and one at the end
    [ "$(wc -l <out)" -le $(((SECONDS - since) / 2 + 2)) ]
    equal "$(for f in rec/0*; do folder=$f; part trigger requests; done | awk '{ n += $1 } END { print n }')" 51
    equal "$(wc -l <out)" "$(find rec -name '0*' | wc -l)"
}

@test "--trigger-us finds slow requests itself, and the page names them" {
    make_tools
    {
        echo '{"layout":"any","tsc_rate":1000000000}'
        echo '{"tpoint":"TCP_REQ_NEW","id":320,"owner_type":"t","object_type":"r","new_object":true}'
        echo '{"tpoint":"TCP_REQ_EXECUTING","id":327,"owner_type":"t","object_type":"r"}'
        echo '{"tpoint":"TCP_REQ_COMPLETED","id":333,"owner_type":"t","object_type":"r"}'
        echo '{"id":1,"poller":"t01","tsc":1,"description":"10.0.0.1:1 nqn.a 10.0.0.2:2 qid:1"}'
        for i in $(seq 20); do
            # one of 6 ms
            for at in "0 NEW" "1000 EXECUTING" "$((i == 10 ? 6000000 : 2000)) COMPLETED"; do
                echo "{\"tsc\":$((10000000 * i + ${at% *})),\"lcore\":0,\"tpoint\":\"TCP_REQ_${at#* }\",\"poller\":\"t01\",\"object\":{\"value\":\"0x$i\"}}"
            done
        done
    } >lines
    cp "$BIN/trace-spans" tools
    mktrace -w 600 -l G6 -n 16384 -p 200000 -o "$TRACE" lines 3>&- &
    writer=$!
    wait_for grep -q "$TRACE" "/proc/$writer/maps"
    status_is 0 trace-record -p "$writer" -o rec --keep 2 --trigger-us 7000 3
    grep -q 'watched all requests' rec/README
    equal "$(ls rec)" README
    status_is 0 trace-record -q -p "$writer" -o slow --keep 2 --trigger-us 5000 --folders 1
    [[ $output == slow/0001-*-6000us ]]
    rm "$output/offcpu.jsonl" "$output/bio.jsonl" "$output/usdt.txt"
    trace-report "$output" >page
    grep -q '^recorded for [0-9]* requests\? of 5.00 ms or more, the slowest 6.00 ms$' page
    grep -q '6.00 ms, us=.*10.0.0.1:1/1' page
}

@test "the flight recorder ends with the target, and keeps its last seconds" {
    set_up
    begin_flight --trigger-us 5000
    wait_for has_entries 1000 rec/ring/trace-1.bin
    kill -KILL "$writer"
    end_recording 0
    writer=
    equal "$(ls rec)" $'README\nlast'
    equal "$(cat out)" rec/last
    grep -q '^ended: .*, with the target$' rec/last/README
    cmp <(newest 1000 rec/last/trace.bin) <(newest 1000 "$TRACE")
    # with slow requests, it is a folder of these
    rm -r rec "$TRACE"
    start_target
    begin_flight --trigger-us 5000
    span_line 5000.000 | see_slow
    kill -KILL "$writer"
    end_recording 0
    writer=
    folder=$(cat out)
    [[ $folder =~ ^rec/0001-.*-5000us$ ]]
    equal "$(find rec -mindepth 1 -maxdepth 1 | wc -l)" 2
    equal "$(part trace status) $(part rpc status)" 'done missing'
}

has_killed() { # NUMBER
    [ "$(grep -c 'ended early: killed by signal 9' err)" = "$1" ]
}

# Whether so many tools run for it.
has_parts() { # NUMBER
    [ "$(children "$recorder" . | wc -w)" = "$1" ]
}

# Kills what finds slow requests, if it runs. Whether it is not started again.
kill_watcher() {
    local id
    for id in $(children "$recorder" trace-spans); do
        kill -KILL "$id" || true
    done
    grep -q 'not started again' err
}

@test "parts of the flight recorder that die are said, and started again" {
    set_up
    begin_flight --trigger-us 5000
    # what is killed time and again in its first seconds is not
    wait_for kill_watcher
    end_recording 1
    # more often where the machine is so slow that it has run for longer
    [ "$(grep -c 'trace-record: watcher: ended early: killed by signal 9 (Killed); it is started again$' err)" -ge 3 ]
    grep -q 'trace-record: watcher: ended early: killed by signal 9 (Killed); not started again, as it has run for less than 5 seconds, like those before it' err
    grep -q 'trace-record: slow requests cannot be watched' err
    equal "$(ls rec)" README
    grep -q '^0 slow requests in 0 folders; watched not all: trace-spans: killed by signal 9 (Killed)$' rec/README
    rm -r rec
    begin_flight --trigger-us 5000
    # what has run for less is not started again
    sleep 5.2
    for part in offcpusnoop biosnoop '[-]-requests' '[-]-keep'; do
        kill -KILL "$(children "$recorder" "$part")"
    done
    wait_for has_killed 4
    wait_for has_parts 6
    span_line 7000.000 | see_slow
    wait_for test -s out
    folder=$(cat out)
    equal "$(part trace status) $(part offcpu status) $(part bio status)" 'done done done'
    has_entries 1000 "$folder/trace.bin"
    # what it has lost is not known
    stop_recording 1
    grep -q 'watched not all: trace-dump: killed by signal 9 (Killed)' err
}

@test "parts of the flight recorder that are killed at once or stopped are started again" {
    set_up
    begin_flight --trigger-us 5000
    # before there is a line
    kill -KILL "$(children "$recorder" biosnoop)"
    wait_for_text '^trace-record: bio: ended early: killed by signal 9 (Killed); it is started again in 5 seconds$' err
    equal "$(children "$recorder" biosnoop)" ''
    kill -STOP "$(children "$recorder" offcpusnoop)"
    wait_for_text '^trace-record: offcpu: offcpusnoop, process [0-9]*, is stopped by a signal: it is killed$' err
    kill -STOP "$(children "$recorder" '[-]-keep')"
    wait_for_text '^trace-record: trace: trace-dump, process [0-9]*, is stopped by a signal: it is killed$' err
    wait_for eval '[ "$(children "$recorder" . | wc -w)" = 6 ]'
    span_line 7000.000 | see_slow
    wait_for test -s out
    folder=$(cat out)
    equal "$(part trace status) $(part offcpu status) $(part bio status)" 'done done done'
    equal "$(part trace lost) $(part offcpu lost) $(grep -c '^ *lost: unknown: [a-z-]* is still recording$' "$folder/README")" '0 null 3'
    stop_recording 1
}

@test "a flight recorder that is killed leaves its ring, and no part" {
    set_up
    begin_flight --trigger-us 5000
    wait_for has_entries 10 rec/ring/trace-1.bin
    kill_with_parts 6
    has_entries 10 rec/ring/trace-1.bin
    grep -q 'not ended: it goes on, or trace-record was killed; ring has the latest files' rec/README
    # while it is recorded, it may be copied as README says
    rm -r rec
    begin_flight --trigger-us 5000
    wait_for test -s rec/ring/trace-1.bin
    grep -qx 'the trace is mostly holes until then, .*: copy it with cp or tar -S' rec/README
    cp -r rec copy
    # it says that files change
    tar -cSf copy.tar rec || [ $? = 1 ]
    [ "$(du -m copy | tail -n 1 | cut -f 1)" -lt 100 ]
    [ "$(stat -c %s copy.tar)" -lt 100000000 ]
    [ "$(trace-dump -q copy/ring/trace-1.bin | wc -l)" -gt 10 ]
    stop_recording 0
    run ! grep -q holes rec/README
}

@test "--max-size bounds the folders of a flight recorder, too" {
    make_tools
    make_tool biosnoop 'while :; do head -c 200000 /dev/zero | tr "\0" "\n"; sleep 0.01; done'
    start_target -p 200
    begin_flight --trigger-us 5000 --max-size 60M
    while kill -0 "$recorder" 2>/dev/null; do
        span_line 5000.000 >slow
        [ "$(du -sm rec | cut -f 1)" -le 60 ]
        sleep 0.5
    done
    end_recording 0
    grep -q 'trace-record: rec: --max-size has no room for another folder' err
    [ "$(du -sm rec | cut -f 1)" -le 60 ]
    [ "$(wc -l <out)" -ge 1 ]
    status_is 1 trace-record -q -p "$writer" -o small --trigger-us 5000 --max-size 20M
    says "trace-record: trace: not recorded: --max-size: with --keep it has to be at least twice the rings' size"
    says 'trace-record: of --max-size, the trace has an eighth: a quarter is for the ring'
}

# Prints the probe lines of a connection from its addition to its end, which is left out without the third argument.
probe_lines() { # NUMBER NAME [END]
    printf 'nvmf_poll_group_add_qpair: tsc=0x%x, qpair=0x%x, thread=0x2\n' "$1" "$1"
    printf "nvmf_ctrlr_add_qpair: tsc=0x%x, qpair=0x%x, qid=0x1, subnqn='s', hostnqn='%s'\n" "$1" "$1" "$2"
    [ -z "${3:-}" ] || printf 'nvmf_poll_group_remove_qpair: tsc=0x%x, qpair=0x%x, thread=0x2\n' "$1" "$1"
}

@test "a flight recorder keeps the probes of living connections when many others come and go" {
    make_tools
    {
        probe_lines 1 living
        probe_lines 2 ended end
        printf "owner: tsc=0x1, id=0x%x, poller='t1', description='%s'\n" 256 'app_thread' 257 'first' 257 'first, described'
        printf "owner: tsc=0x5, id=0x101, poller='t1', description='second'\n"
    } >first
    for i in $(seq 100); do
        probe_lines $((i << 40)) "host$i" end
    done >many
    probe_lines $((1 << 50)) latest >last
    # 2.5 MB, of which 900 KB may be there
    make_tool usdt-record "cat '$PWD/first'; i=0; while [ \$((i += 1)) -le 100 ]; do cat '$PWD/many'; sleep 0.02; done
        cat '$PWD/last'; echo stormed >&2; while :; do sleep 0.02; done"
    start_target
    begin_flight --trigger-us 5000 --max-size 60M --folders 1
    wait_for grep -aq "hostnqn='latest'" rec/ring/usdt.txt
    wait_for eval '[ "$(du -k rec/ring/usdt.txt | cut -f 1)" -lt 500 ]'
    span_line 7000.000 | see_slow
    end_recording 0
    folder=$(cat out)
    equal "$(part usdt status) $(part usdt why)" 'done null'
    [[ $(part usdt since) < $(part target started) ]]
    grep -q "^ *recorded since: $(part usdt since)$" "$folder/README"
    [ "$(stat -c %s "$folder/usdt.txt")" -lt 900000 ]
    equal "$(grep -c "hostnqn='living'" "$folder/usdt.txt") $(grep -c "hostnqn='latest'" "$folder/usdt.txt")" '1 1'
    # the others are the latest
    [ "$(grep -c "hostnqn='host" "$folder/usdt.txt")" -lt 3000 ]
    equal "$(grep ^owner: "$folder/usdt.txt")" "$(grep -e app_thread -e second first)"
    equal "$(qpair-lifetimes -q "$folder/usdt.txt" | grep -v end= | sed "s/.*hostnqn='//" | sort)" $'latest\'\nliving\''
    run ! grep -q "hostnqn='ended'" "$folder/usdt.txt"
}

# Whether the tool runs again, as another process.
has_again() { # TOOL PID
    local now
    now=$(children "$recorder" "$1")
    [ -n "$now" ] && [ "$now" != "$2" ]
}

@test "a folder says which lines are missing because a part was started again" {
    set_up
    begin_flight --trigger-us 5000 --folders 1
    local usdt bio
    usdt=$(children "$recorder" usdt-record)
    bio=$(children "$recorder" biosnoop)
    kill -KILL "$usdt" "$bio"
    wait_for has_again usdt-record "$usdt"
    wait_for has_again biosnoop "$bio"
    # biosnoop's are not, but those of --keep
    sleep 2.5
    span_line 7000.000 | see_slow
    end_recording 1
    folder=$(cat out)
    equal "$(part usdt why)" "lines from before $(part usdt since) are missing"
    equal "$(part bio why)" null
    grep -q "^ *lines from before $(part usdt since) are missing$" "$folder/README"
    # not what the tool here writes
    echo "clock: tsc=0x1, ns=0x1, time='2026-01-01T00:00:00.000000000Z'" >"$folder/usdt.txt"
    trace-report "$folder" | grep -q "^  usdt *done: lines from before $(part usdt since) are missing$"
}

@test "a full disk ends a flight recorder, and its folders stay" {
    unshare -m --propagation private true 2>/dev/null || skip 'no namespaces here'
    set_up -p 100
    unshare -m --propagation private bash -c 'mkdir disk && mount -t tmpfs -o size=12M none disk 2>/dev/null || exit 77
        trace-record -q -p "$1" -o disk/rec --trigger-us 5000 600 2>err >named; echo $?
        ls disk/rec; cat disk/rec/README' - "$writer" >out || [ $? != 77 ] || skip 'no tmpfs can be mounted'
    cat out err
    equal "$(sed -n 1p out)" 1
    grep -q '^recorded-by: trace-record' out
    grep -q 'trace-record: trace: ended early: .*No space left on device' err
}

# Makes the recorder of a folder complete its file when the file complete is there.
make_slow_recorder() {
    export BIN
    COMPLETE=$PWD/complete
    export COMPLETE
    cat >tools/trace-dump <<'T'
#!/bin/sh
case "$*" in
*--keep*)
    trap 'kill $!' TERM
    "$BIN/trace-dump" "$@" &
    wait $!
    wait $!
    until [ -e "$COMPLETE" ]; do sleep 0.02; done
    ;;
*) exec "$BIN/trace-dump" "$@" ;;
esac
T
}

@test "what a tool says while a folder is made is not of that folder" {
    make_tools
    make_slow_recorder
    make_tool biosnoop 'echo "this is $$" >&2; while :; do sleep 0.02; done'
    start_target
    begin_flight --trigger-us 5000
    sleep 5.2
    id=$(children "$recorder" biosnoop)
    span_line 7000.000 | see_slow
    wait_for eval 'ls rec/0001-*/bio.jsonl'
    kill -KILL "$id"
    wait_for has_killed 1
    touch complete
    wait_for test -s out
    folder=$(cat out)
    equal "$(part bio notes | jq -r '.[1]')" "this is $id"
    grep -q 'trace-record: bio: ended early: killed by signal 9 (Killed); it is started again$' err
    stop_recording 1
}

@test "--folders is the number of folders, also where requests are slow while the last one is made" {
    make_tools
    make_slow_recorder
    start_target
    local since
    since=$(date -u +%s)
    begin_flight --trigger-us 5000 --folders 1
    span_line 7000.000 | see_slow
    wait_for eval 'ls rec/0001-*/bio.jsonl'
    # its trace has ended: what comes more than 0.2 seconds later is not in it
    sleep 0.3
    span_line 8000.000 | see_slow
    touch complete
    end_recording 0
    equal "$(cat out)" "$(ls -d rec/0*)"
    grep -q '^1 slow request in 1 folder, and 1 after them; watched all requests$' rec/README
    # it is shorter than --keep, as the recording had just started
    folder=$(cat out)
    [ "$(date -d "$(part target started)" +%s)" -ge "$since" ]
}

@test "a flight recorder says that nobody reads the names of its folders" {
    set_up
    begin_flight --trigger-us 5000 --folders 1
    stop_recording 0
    rm -r rec
    trace-record -q -p "$writer" -o rec --keep 2 --trigger-us 5000 --folders 1 2>err 3>&- >/dev/full &
    recorder=$!
    wait_for test -e rec/ring/bio.jsonl
    span_line 7000.000 | see_slow
    end_recording 1
    grep -q '^trace-record: standard output: rec/0001-.* is complete, but could not be named: No space left on device$' err
}

@test "slow requests are counted, also those that trigger.jsonl has no room for" {
    set_up
    begin_flight --trigger-us 5000 --folders 1 --keep 600
    # the folder ends after the one that is in flight, which is one request
    {
        span_line 1000000.000 ',"open":true'
        jq -nc 'range(480) | {tsc: 1, life: 7000, id: "r\(.)", text: ("x" * 10000)}'
        span_line 1500000.000
    } | see_slow
    end_recording 0
    folder=$(cat out)
    equal "$(part trigger requests)" 481
    # besides it, its line while it was in flight
    equal "$(($(wc -l <"$folder/trigger.jsonl") + $(part trigger lost)))" 482
    [ "$(wc -c <"$folder/trigger.jsonl")" -lt $((4 << 20)) ]
    grep -q '^ *lost: [0-9]*, for which it has no room$' "$folder/README"
    equal "$(jq -s length "$folder/trigger.jsonl")" "$(wc -l <"$folder/trigger.jsonl")"
}
