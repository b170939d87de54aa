#!/usr/bin/env bats
# What offwaketime tells of tests/blocked-target.c, where the kernel lets it.
# shellcheck disable=SC2086 # options are words
# bats file_tags=alone,plain

load helpers

setup_file() {
    needs_to_run offwaketime -q -p $$ -o probed 1
}

setup() {
    enter
    # a process that does nothing
    sleep 1000 3>&- &
    idle=$!
    disown
    mkfifo go
    target=(blocked-target)
}

teardown() {
    kill_left recorder blocked idle started
    remove_cgroup
}

# Starts to add up.
add() { # OPTION...
    begin adding offwaketime "$@"
}

# Ends it: with 1 where the kernel has skipped switches, otherwise with 0.
end_anyhow() {
    local status=0
    # it may have ended with its process
    kill "$recorder" 2>/dev/null || true
    wait "$recorder" || status=$?
    take_lost
    recorder=
    equal "$status" "$(grep -q 'has skipped' log && echo 1 || echo 0)"
}

# Whether a thread of the process sleeps under this name.
sleeps_as() { # NAME PID
    grep -q "($1) S" "/proc/$2/task/"*/stat
}

# Records the command $target WORK, which is held until all is ready; again where the kernel has skipped switches of
# it, which some virtual machines do now and then.
record() { # WORK OPTION...
    local work=$1
    shift
    for _ in 1 2 3 4 5; do
        "${target[@]}" "$work" <go >measured &
        blocked=$!
        exec 4>go
        add -p $blocked "$@"
        [ -z "${deleted:-}" ] || rm "$deleted"
        echo >&4
        wait $blocked
        exec 4>&-
        blocked=
        # it may have ended with the process
        kill "$recorder" 2>/dev/null || true
        status=0
        wait "$recorder" || status=$?
        take_lost
        grep -q 'has skipped' log || break
    done
    recorder=
    case ${want:-0} in
    any | "$status") ;;
    *)
        echo "exit $status"
        cat log
        return 1
        ;;
    esac
}

# Checks the sum of folded lines against what their thread has measured itself, less 1 % for what it costs to measure, and
# less what is left out.
agrees() { # THREAD PATTERN [US]
    local least most sum
    read -r least most _ <<<"$(sed -n "s/^$1 //p" measured)"
    sum=$(grep "^$1;.*$2" lines | awk '{ sum += $NF } END { printf "%d", sum }')
    echo "$1: $sum of $least to $most"
    if [ "$sum" -gt $((most + 1)) ] || [ "$sum" -lt $((least * 99 / 100 - ${3:-0})) ]; then
        cat lines log
        return 1
    fi
}

# How often a thread was blocked.
times_of() { # THREAD
    sed -n "s/^$1 [0-9]* [0-9]* \([0-9]*\) .*/\1/p" measured
}

# How often a process has given up the processor so far.
gave_up() { # PID
    sed -n 's/^voluntary_ctxt_switches:\t//p' "/proc/$1/status"
}

has_given_up() { # TIMES PID
    [ "$(gave_up "$2")" -ge "$1" ]
}

@test "sleeps, as long as they were" {
    record sleeps=13 -f
    agrees sleeper sleep_here
    # woken by the timer, whatever it has interrupted; where the kernel has left that out, by nobody who is known
    grep '^sleeper;.*sleep_here' lines >slept
    grep -q '^sleeper;.*main;sleep_here;.*nanosleep.*;--;.*hrtimer_wakeup;.*;\[irq\] [0-9]*$' slept
    equal "$(grep -v 'main;sleep_here;.*nanosleep.*;--;\(.*hrtimer_wakeup;.*;\[irq\]\|\[unknown\]\) [0-9]*$' slept)" ''
    # the program is not in its own stacks
    equal "$(grep -c 'schedule;[_a-z]*bpf_\|--;[_a-z]*bpf_\|traceiter' lines)" 0
}

@test "a stack ends before a caller at which no code is mapped" {
    record garbage=9 -f
    agrees sleeper garbage_here
    # its only function that there is; all nine are alike
    equal "$(grep garbage_here lines | grep -vc '^sleeper;garbage_here;.*nanosleep')" 0
    equal "$(grep -c 'garbage_here.*\[irq\]' lines)" 1
}

@test "who wakes whom, by whole stacks" {
    record waits=11 -f
    agrees waiter,one wait_here
    agrees sleeper sleep_here
    # both sides of it: from the outermost function of one to the innermost, and back in the other
    waits=$(grep '^waiter,one;.*waiter;wait_here;.*futex_wait.*;--;try_to_wake_up;.*futex_wake.*;wake_here;main;.*;sleeper [0-9]*$' lines)
    # all but one of them, which may be the longest: an interrupt makes another stack of it
    read -r least _ _ longest <<<"$(sed -n 's/^waiter,one //p' measured)"
    sum=$(awk '{ sum += $NF } END { print sum }' <<<"$waits")
    echo "$sum of $least, of which the longest takes $longest"
    [ "$sum" -ge $((least * 99 / 100 - longest)) ]
}

@test "JSON lines, exactly as often as it was" {
    record waits=7 -j
    # an interrupt makes another stack of one of them; one that was woken at once has no waker
    equal "$(jq -s 'map(select(.target.user[0] == "wait_here")) |
        [(map(.count) | add), all(.target.comm == "waiter;one" and .target.tid > .target.pid)]' lines | tr -d ' \n')" \
        "[$(times_of waiter,one),true]"
    equal "$(jq -s 'map(select(.target.user[0] == "wait_here" and .waker)) | length > 0 and
        all(.waker.user[0:2] == ["wake_here", "main"] and .waker.comm == "sleeper" and
            .waker.pid == .target.pid and .waker.tid == .target.pid)' lines)" true
    equal "$(jq -s 'map(select(.target.user[0] == "sleep_here").count) | add' lines)" "$(times_of sleeper)"
    # the longest wait of each pair, and of the thread
    equal "$(jq -s 'all(.max <= .blocked and .blocked <= .count * .max + 0.01)' lines)" true
    read -r _ _ times longest <<<"$(sed -n 's/^waiter,one //p' measured)"
    equal "$(jq -s --argjson longest "$longest" 'map(select(.target.user[0] == "wait_here").max) | max |
        . > 45000 and . <= $longest + 1' lines)" true
}

@test "text" {
    # the kernel's outermost function in a system call: of x86-64, and of arm64
    local entry='\(entry_SYSCALL\|el0t_64_sync\)'
    record waits=7
    # the waker from its outermost function on, the other one from its innermost
    grep '^    [A-Za-z_0-9]*$' lines | tr -d '\n' | grep "main    wake_here    $entry.*futex_wake.*try_to_wake_up    __schedule    schedule.*futex_wait.*${entry}[^ ]*    wait_here    waiter" >/dev/null
    grep -q '^    waker:           sleeper [0-9]*$' lines
    grep -q '^    target:          waiter,one [0-9]*$' lines
    grep -q '^    --               --$' lines
    # the most time is at the end
    sed -n 's/^        \([0-9]* (count [0-9]*, max [0-9]*)\)$/\1/p' lines | tr -dc '0-9 \n' >sums
    [ -s sums ]
    equal "$(cut -d ' ' -f 1 sums)" "$(cut -d ' ' -f 1 sums | sort -n)"
    equal "$(awk '$3 > $1 || $1 > $2 * $3 + $2' sums)" ''
}

@test "with -i, each wait is in one interval" {
    # on a slow machine an interval is longer
    for times in 13 52 208; do
        record sleeps=$times -j -i 0.2
        equal "$(jq -s 'map(select(.target.user[0] == "sleep_here").count) | add' lines)" "$(times_of sleeper)"
        jq -sc 'map([.begin, .end]) | unique' lines >intervals
        [ "$(jq length intervals)" -lt 3 ] || break
    done
    # they are as long as they should be, and follow each other
    jq -e 'length >= 3 and .[0][0] == 0 and
        ([.[:-1], .[1:]] | transpose | all(.[0][1] == .[1][0] and .[0][1] - .[0][0] >= 200000))' intervals
    equal "$(jq -s 'all(.max <= .blocked)' lines)" true
    record sleeps=2 -i 10 -U -m 40000
    [[ $(head -n 1 lines) =~ ^0.000\ s\ to\ [0-9.]*\ s$ ]]
    equal "$(grep -c ' s to ' lines)" 1
    status_is 2 offwaketime -f -i 1 1
    says '-f is for one picture, -i prints several: use -j'
}

@test "equal lines of several threads are one, also when they have ended" {
    local times=0
    for options in -f '-j --stack-storage-size 64'; do
        add -u -m 45000 -M 60000 $options
        # most end before the first wait has its names; every tenth waits once more
        for i in $(seq 80); do blocked-target sleeps=$((1 + (i % 10 == 0))) </dev/null >measured; done
        end_anyhow
        if [ "$options" = -f ]; then
            equal "$(sed 's/ [0-9]*$//' lines | sort | uniq -d)" ''
            grep -q '^sleeper;.*sleep_here;' lines
        else
            # more threads than pairs that are kept
            times=$(jq -s 'map(select(.target.comm == "sleeper" and .target.tid == 0).count) | add // 0' lines)
            [ "$times" -gt 0 ]
        fi
    done
}

# bats test_tags=any-kernel
@test "folded lines are what flamegraph.pl reads" {
    record waits=7 -f
    equal "$(grep -cvE '^[^; ][^;]*(;[^;]+)*;--(;[^;]+)* [0-9]+$' lines)" 0
    command -v flamegraph.pl >/dev/null || skip 'flamegraph.pl is not here'
    flamegraph.pl --countname=us lines | grep wait_here >/dev/null
}

@test "a waker whose name ends with a number does not count" {
    cp "$(command -v bash)" 'writer 7'
    target=(bash -c 'read -r; exec cat < <("./writer 7" -c "for _ in 1 2 3 4 5; do sleep 0.05; echo; done")')
    record '' -f
    grep -q '^cat;.*;writer_7 [0-9]*$' lines
    equal "$(grep -c ' [0-9.]* [0-9]*$' lines)" 0
    record '' -j
    equal "$(jq -r 'select(.target.comm == "cat") | .waker.comm // empty' lines | grep writer | sort -u)" 'writer 7'
}

@test "a file that was deleted and a process that has ended" {
    target=(bash -c 'cp "$0" gone; exec ./gone "$@"' "$(command -v blocked-target)")
    deleted=gone
    record sleeps=3 -j
    equal "$(jq -r 'select(.target.comm == "sleeper" and .blocked > 40000) | .target.user[0]' lines | sort -u)" sleep_here
}

has_said_ready() { # TIMES
    [ "$(grep -c ready out)" = "$1" ]
}

# Records threads that wait before it starts or when it ends; again where the kernel has skipped switches of them.
record_open() { # OPTION...
    for _ in 1 2 3 4 5; do
        start blocked-target open=20
        wait_for sleeps_as early "$started"
        wait_for sleeps_as whole "$started"
        add -p "$started" "$@"
        echo >&"$go"
        wait_for has_said_ready 2
        end_anyhow
        echo >&"$go"
        wait "$started"
        exec {go}>&-
        started=
        mv out measured
        grep -q 'has skipped' log || break
    done
}

@test "threads that wait before it starts or when it ends, for the time between" {
    record_open -f
    # woken while it records; the scheduler's functions are unknown, as it was not seen how the thread began to wait
    agrees early 'opened;wait_here;.*futex_wait.*;--;.*futex_wake.*;wake_here;end;stay_open;main;.*;sleeper [0-9]*$'
    agrees whole 'opened;wait_here;.*futex_wait.*;--;\[none\] [0-9]*$'
    agrees late 'opened;wait_here;.*futex_wait.*;__schedule;--;\[none\] [0-9]*$'
    # of main, which waits for a line
    equal "$(grep -c '^sleeper;.*read;.*--;\[none\] [0-9]*$' lines)" 1

    record_open -j
    equal "$(jq -c 'select(.target.user[0] == "wait_here") |
        [.target.comm, .count, .open, .waker.comm, .waker.pid > 0, .waker.user[0]]' lines | sort)" \
        '["early",1,1,"sleeper",true,"wake_here"]
["late",1,1,"[none]",false,null]
["whole",1,1,"[none]",false,null]'
    equal "$(jq -c 'select(.target.user[0] == "sleep_here" and .open)' lines)" ''
    jq -r 'select(.target.user[0] == "wait_here") | "\(.target.comm); \(.blocked | floor)"' lines >sums
    mv sums lines
    for thread in early whole late; do agrees $thread; done

    record_open
    equal "$(grep -A 3 '^    waker:           \[none\] 0$' lines | grep -c '^    --               --$')" 3
}

@test "which of these threads" {
    record_open -f --no-open
    equal "$(grep -c 'wait_here\|\[none\]' lines)" 0
    grep -q '^sleeper;.*sleep_here' lines
    # a thread may also be preempted in wait_here, but not for long
    for options in '-M 900000' '-m 60000000'; do
        record_open -f $options
        equal "$options: $(grep -c 'wait_here' lines)" "$options: 0"
    done
    record_open -f -U
    agrees whole 'opened;wait_here;--;\[none\] [0-9]*$'
    # one thread
    start blocked-target open=1
    wait_for sleeps_as early "$started"
    tid=$(grep -l '(early)' "/proc/$started/task/"*/stat | sed 's|.*task/||; s|/.*||')
    add -f -t "$tid"
    end_anyhow
    equal "$(sed 's/ [0-9]*$//; s/;.*;/ /' lines)" 'early [none]'
}

has_waited() { # TIMES PID
    [ "$(sed -n 's/^voluntary_ctxt_switches:\t//p' "/proc/$2/status")" -ge "$1" ]
}

@test "only a cgroup and those below it" {
    make_cgroup
    mkdir "$cgroup/below"
    for directory in "$cgroup" "$cgroup/below"; do
        add -j -c "$cgroup"
        (in_cgroup "$directory" blocked-target sleeps=5) </dev/null >measured
        blocked-target sleeps=100000 </dev/null >/dev/null &
        blocked=$!
        wait_for has_waited 3 $blocked
        kill $blocked
        end_anyhow
        equal "$(jq -r 'select(.target.user[0] == "sleep_here") | .target.comm' lines | sort -u)" sleeper
        equal "$(jq -s 'map(select(.target.user[0] == "sleep_here").count) | add' lines)" "$(times_of sleeper)"
    done
    # also of those that wait already
    in_cgroup "$cgroup/below" sleep 1000 3>&- &
    blocked=$!
    disown
    wait_for sleeps_in sleep $blocked
    add -j --cgroup "$cgroup"
    end_anyhow
    equal "$(jq -c '[.target.pid, .waker.comm]' lines)" "[$blocked,\"[none]\"]"
    kill $blocked
    wait_for rmdir "$cgroup/below"
}

# about 10 seconds; make soak does it for ten minutes. A machine that is too slow loses waits.
# bats test_tags=timed
@test "short-lived processes are attributed, in bounded memory" {
    ! has_sanitizers || not_for_this_build 'sanitizers take memory themselves'
    status_is 0 "$BATS_TEST_DIRNAME/churn" 10
    echo "$output"
}

# It measures time, as what is tested is a duration: 2 seconds for reading mappings after Ctrl-C.
# bats test_tags=any-kernel,timed
@test "processes that have mapped very much do not keep it from ending" {
    [ "$(cat /proc/sys/vm/max_map_count)" -ge 65530 ] || skip 'a process may not have that many mappings here'
    cp "$(command -v mapping-target)" code
    start mapping-target 40 60000 code
    add
    # their stacks come all the time
    sleep 1
    before=$(uptime_ms)
    kill -INT "$recorder"
    end_anyhow
    took=$(($(uptime_ms) - before))
    exec {go}>&-
    # on a slow machine there is no time for some of the 40
    grep -q '^offwaketime: [0-9]* processes have more than 4096 mappings of code: functions in the others have no names$' log
    grep -q 'mapping-target' lines
    echo "$took ms"
    [ "$took" -lt 6000 ]
}

@test "only processes, threads, stacks, times and states" {
    # until it is killed
    blocked-target sleeps=100000 </dev/null >measured &
    blocked=$!
    for options in "-p $blocked" "-t $blocked" "-p 1,$blocked -t 2,$blocked"; do
        add -j $options
        # then one has ended that began while they were traced
        wait_for has_given_up $(($(gave_up $blocked) + 2)) $blocked
        end_anyhow
        equal "$(jq -r 'select(.target.pid != 1) | .target.comm' lines | sort -u)" sleeper
    done
    kill $blocked

    add -j -u
    blocked-target sleeps=3 </dev/null >measured
    end_anyhow
    equal "$(jq -r 'select(.target.comm | test("^(rcu_|kworker|ksoftirqd)")) | .target.comm' lines)" ''
    equal "$(jq -r 'select(.target.comm == "sleeper") | .target.comm' lines | sort -u)" sleeper

    record sleeps=3 -f -U
    equal "$(grep -c 'nanosleep\|schedule' lines)" 0
    agrees sleeper 'main;sleep_here;--;'

    for options in '-m 60000000' '-M 40000'; do
        record sleeps=3 -f $options
        equal "$(grep -c '^sleeper;.*sleep_here' lines)" 0
    done
    for options in '-m 40000' '-M 60000000'; do
        record sleeps=3 -f $options
        # a time may be two where the thread is woken too early, one of which is too short
        times=$(times_of sleeper)
        agrees sleeper sleep_here $((times > 3 ? (times - 3) * 40000 : 0))
    done
}

@test "a thread that is pushed off was not blocked" {
    command -v taskset >/dev/null || skip 'taskset is not here'
    target=(taskset -c 0 bash -c 'read -r; SECONDS=0; for _ in 1 2; do (while ((SECONDS < 2)); do :; done) & done; while ((SECONDS < 2)); do :; done')
    want=any record x -j
    equal "$(jq -r .args.tool lost)" offwaketime
    equal "$(jq -s 'map(select(.target.kernel | any(test("sysvec|exit_to_user|el0t_64_irq"))).blocked) | add' lines)" null
}

@test "what is not attributed is counted" {
    want=1 record waits=5 -f --stack-storage-size 1
    equal "$(wc -l <lines)" 1
    grep -q '^offwaketime: [0-9.]* ms of [0-9]* times are not attributed: there were more than 1 stacks' log
    add -f -u --buffer 4K
    kill -STOP "$recorder"
    blocked-target waits=29 </dev/null >measured
    kill -CONT "$recorder"
    end 1
    grep -q '^offwaketime: lost [0-9]* times of [0-9.]* ms in all' log
}

@test "a time, and from inside a PID namespace" {
    lasts_a_second add -p "$idle" 1
    add -p "$idle" 0.5
    ends_itself 0 "$recorder"
    recorder=
    unshare -pf --mount-proc true 2>/dev/null || skip 'no PID namespaces here'
    unshare -pf --mount-proc bash -c 'blocked-target sleeps=100000 </dev/null & echo $! >blocked
        offwaketime -q -j -p $! -o lines 1; true'
    take_lost
    equal "$(jq -r 'select(.target.user[0] == "sleep_here") | [.target.pid, .target.tid] | @csv' lines | sort -u)" "$(cat blocked),$(cat blocked)"
    [ "$(cat blocked)" -lt 100 ]
}

@test "it ends with the last of its processes" {
    # they do not end before it has begun
    sleep 1000 3>&- &
    local last=$!
    disown
    add -f -p "$idle",$last 600
    kill "$idle"
    # nothing happens
    sleep 0.3
    kill -0 "$recorder"
    kill $last
    wait_for test ! -e "/proc/$recorder"
    end_anyhow
    grep -q 'offwaketime: the processes have ended' log
}

@test "capabilities are given up but for reading, and are named when they lack" {
    command -v setpriv >/dev/null || skip 'setpriv is not here'
    add -p "$idle"
    # CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE and CAP_CHECKPOINT_RESTORE
    equal "$(sed -n 's/^Cap\(Prm\|Eff\):[[:space:]]*//p' "/proc/$recorder/status" | sort -u)" 0000010000080004
    is_stranger "$recorder"
    equal "$(sed -n 's/^Cap\(Inh\|Amb\):[[:space:]]*//p' "/proc/$recorder/status" | sort -u)" 0000000000000000
    end
    status_is 1 setpriv --bounding-set -all offwaketime
    equal "$stderr" 'offwaketime: CAP_BPF and CAP_PERFMON are missing: run it as root, or with these capabilities'
    status_is 0 setpriv --bounding-set -all,+bpf,+perfmon,+syslog offwaketime -q -p "$idle" 1
}

@test "too few descriptors are named as what is lacking" {
    # libbpf itself fails for various reasons
    for limit in 7 8 9 12; do
        status_is 1 bash -c "ulimit -n $limit; exec offwaketime 1"
        equal "$stderr" "offwaketime: too many open files for a BPF program: $limit may be open; raise that with ulimit -n"
    done
}
