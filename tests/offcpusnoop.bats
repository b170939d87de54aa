#!/usr/bin/env bats
# What offcpusnoop prints of tests/offcpu-target.c, where the kernel lets it.
# shellcheck disable=SC2086 # options are words
# bats file_tags=alone,plain

load helpers

setup_file() {
    needs_to_run offcpusnoop -q -p $$ -o probed 1
}

setup() {
    enter
    # a process that does nothing
    sleep 1000 3>&- &
    idle=$!
    disown
}

teardown() {
    kill_left recorder started rival idle
    # the mount of a cgroup of version 1 lasts as long as that
    [ "${quota:-}" = "${cgroup:-}" ] || { wait_for rmdir "$quota"; umount version1; }
    remove_cgroup
}

trace() { # OPTION...
    begin tracing offcpusnoop "$@"
}

# Records acts of the target, of which the file measured has what it knows itself; again, on the next CPU, where the
# kernel has skipped switches of it: some virtual machines do when certain processes of theirs run. $target is its process.
record() { # 'ACT...' OPTION...
    local acts=$1 status try
    shift
    has_ticks || acts="clock $acts"
    for try in {0..19}; do
        start taskset -c $((try % $(nproc))) "${program:-offcpu-target}" $acts
        target=$started
        trace -p "$target" "$@"
        echo >&"$go"
        wait "$started" || { echo "the target: exit $?"; return 1; }
        status=0
        wait "$recorder" || status=$?
        recorder=
        take_lost
        mv out measured
        grep -q 'has skipped' log || break
    done
    equal "$status" "${want:-0}" || { cat log; return 1; }
}

# The intervals of the target's first thread: "WHAT BEGIN END", in ticks, of the lines that jq selects.
intervals() { # FILTER WHAT
    jq -r --argjson target "$target" --arg what "$2" "select(.args.tid == \$target) | select($1) | [\$what, .args.begin, .tsc] | join(\" \")" lines
}

# Compares what the target has measured with lines "WHAT BEGIN END" on standard input: each of its intervals has exactly
# one of these in it, and with "in" one of these is around it. Of three quarters of them begin and end are no further
# apart than BOUND microseconds, by as much more as the machine is slow to enter the kernel; "-": no matter how far.
agree() { # WHAT [in] BEGIN-BOUND END-BOUND
    local around=0
    [ "$2" != in ] || { around=1; set -- "$1" "$3" "$4"; }
    awk -v what="$1" -v begin_bound="$2" -v end_bound="$3" -v around=$around '
        # an emulated processor pays more for the BPF program than for the way into the kernel
        function slowness(ns) { return ns > 300 ? ns * ns / 10000 : ns > 100 ? ns / 100 : 1 }
        function check(name, far, n, bound,   i, near) {
            for (i = 1; i <= n; i++)
                near += far[i] <= bound * slow
            if (bound != "-" && near < n * 3 / 4) {
                printf "%s: %d of %d are within %.1f us of the %s\n", what, near, n, bound * slow, name
                failed = 1
            }
        }
        FNR == NR { if ($1 == "entry") { slow = slowness($2); us = $3 / 1000 }; next }
        pass == 1 && $1 == what { n++; begin[n] = $2; end[n] = $3 }
        pass == 2 && $1 == what { lines++; from[lines] = $2; to[lines] = $3 }
        END {
            # the counter is converted to within a microsecond, where the machine is as fast as that
            for (i = 1; i <= n; i++) {
                found = 0
                for (l = 1; l <= lines; l++) {
                    b = (from[l] - begin[i]) / us; e = (end[i] - to[l]) / us
                    if (around) { b = -b; e = -e }
                    if (b > -slow && e > -slow) { found++; far_begin[i] = b; far_end[i] = e }
                }
                if (found != 1) {
                    printf "%s: %d lines, not one, for that from %s to %s\n", what, found, begin[i], end[i]
                    failed = 1
                }
            }
            if (!n) { print what ": nothing was measured"; failed = 1 }
            check("begin", far_begin, n, begin_bound)
            check("end", far_end, n, end_bound)
            exit failed
        }' measured pass=1 measured pass=2 - || { cat log; return 1; }
}

# The share of a column in the table, of the first thread, in milliseconds.
table_ms() { # COLUMN
    awk -v tid="$target" -v column="$1" '
        / CPU% / { for (i = 1; i <= NF; i++) if ($i == column) at = i; rows = 1; next }
        rows && $2 == tid { printf "%.3f\n", $at * $3 * 10 }' log
}

@test "every wait, in which system call, from when to when" {
    record 'sleep=41 epoll=43 read=47 fault=53' -j
    for call in clock_nanosleep epoll_pwait read fault; do
        # to arm a timer takes a virtual machine long, and what it wakes finds cold caches
        case $call in read | fault) bounds='5 5' ;; *) bounds='- 10' ;; esac
        intervals ".args.why == \"blocked\" and .args.syscall == \"$call\" and (.args.late | not)" $call | agree $call $bounds
    done
    # a thread of its own wakes it, and the timer; a wakeup that comes before it sleeps has no waker
    wakers() { # CALL
        jq -r --argjson target "$target" --arg call "$1" '.args | select(.tid == $target and .syscall == $call and
            (.late | not)) | "\(.waker_comm) \(.waker_pid == .pid)"' lines | grep -v '^null ' | sort | uniq -c | tr -s ' '
    }
    [[ $(wakers read) =~ ^' '(4[0-7]|3[5-9])' offcpu-target true'$ ]]
    [[ $(wakers clock_nanosleep) =~ ^' '(4[01]|3[0-9])' [irq] false'$ ]]
    equal "$(jq -s 'all(.[].args; .waker_comm == null or .why == "blocked")' lines)" true
    equal "$(jq -s 'all(.[]; .args.duration >= 0 and .args.begin <= .tsc)' lines)" true
    equal "$(jq -r 'select(.tpoint == "OFF_CPU") | .args.why' lines | grep -cv -e blocked -e preempted)" 0
}

@test "who took the CPU, from when to when" {
    record 'preempt=101' -j
    # each time that the other process knows it ran is in an interval, and that is in one in which this one did not
    intervals '.args.by == "taker" and .args.why == "preempted" and .args.by_pid > .args.pid and .args.queued == .args.duration' taken |
        agree taken in 10 -
    intervals '.args.by == "taker"' preempted >taken
    # it may also be the machine that does not run
    awk 'FNR == NR { n++; from[n] = $2; to[n] = $3; next }
        $1 != "preempted" { print; next }
        { for (i = 1; i <= n; i++) if (from[i] < $3 && to[i] > $2) { print; break } }' taken measured >of_them
    mv of_them measured
    agree preempted - 10 <taken
}

@test "yielded to whom" {
    record 'yield=1009' -j
    jq -r '[.args | select(.why == "yielded" and .tid == .pid) | .by] | .[]' lines | sort | uniq -c | sort -n | tail -n 1 | grep ' rival$'
    # a line needs a call that was made, but not every call gives the CPU away; the next call is made at once
    intervals '.args.why == "yielded"' yielded >lines_of
    n=$(wc -l <lines_of)
    [ "$n" -gt 0 ]
    awk 'FNR == NR { if ($1 == "yielded") { n++; begin[n] = $2; end[n] = $3 }; next }
        { for (i = 1; i <= n; i++) if (begin[i] <= ($2 + $3) / 2 && end[i] >= ($2 + $3) / 2) good += begin[i] <= $2 + 3000 && end[i] >= $3 - 3000 }
        END { exit good != FNR }' measured lines_of
}

@test "sums: the table and the lines have the time that the thread and the kernel have measured" {
    local cpu rivals=()
    # at the same time, something else wants the CPU
    for ((cpu = 0; cpu < $(nproc); cpu++)); do
        taskset -c $cpu bash -c 'while :; do for ((i = 0; i < 3000; i++)); do :; done; sleep 0.001; done' 3>&- &
        rivals+=($!)
        disown
    done
    # shellcheck disable=SC2034 # teardown ends them
    rival=${rivals[*]}
    record 'sleep=97 spin=700 yield=500 preempt=50' -j
    read -r _ wall used queued from to <<<"$(grep '^times' measured)"
    on=$(table_ms CPU%) irq=$(table_ms IRQ%)
    lines_queued=$(jq -s --argjson target "$target" --argjson from "$from" --argjson to "$to" \
        'map(select(.args.tid == $target and .args.queued and .args.begin >= $from and .tsc <= $to) | .args.queued) | add' lines)
    echo "of $wall ns: on the CPU $used, by the table $on and $irq ms; queued $queued, by the lines $lines_queued us"
    # without the processor's counter, the kernel's own clock of the scheduler may be wrong by a tick each time
    has_ticks || queued=$(awk -v lines="$lines_queued" 'BEGIN { printf "%.0f", lines * 1000 }')
    # some kernels count interrupts as time of the thread; an emulated machine takes long from one of its clocks to the other
    awk -v wall="$wall" -v used="$used" -v queued="$queued" -v on="$on" -v irq="$irq" -v lines="$lines_queued" '
        $1 == "entry" { part = wall / 100 * ($2 > 1000 ? $2 / 1000 : 1) }
        END { exit !(used > on * 1e6 - part && used < (on + irq) * 1e6 + part &&
                     lines * 1e3 - queued < part && queued - lines * 1e3 < part) }' measured
    # what is on the CPU, off it or in interrupts is all of the time
    awk -v tid="$target" '$2 == tid && NF == 10 { found++; sum = $4 + $5 + $6 + $7 + $8 + $9 + $10; exit !(sum > 99.9 && sum < 100.1) }
        END { if (!found) exit 1 }' log
    # and the lines of each reason add up to what the table has
    for column in PREEMPT% BLOCK%; do
        [ $column = BLOCK% ] && why=blocked || why=preempted
        sum=$(jq -s --arg why "$why" --argjson target "$target" 'map(select(.args.tid == $target and .args.why == $why) | .args.duration) | add / 1000' lines)
        echo "$why: lines $sum ms, table $(table_ms $column) ms"
        awk -v a="$sum" -v b="$(table_ms $column)" -v wall="$wall" 'BEGIN { exit !(a - b < wall / 1e9 && b - a < wall / 1e9) }'
    done
}

@test "interrupts: while the thread did not run, by name, and once in the sums" {
    record 'hold=500' -j
    equal "$(jq -s 'map(select(.tpoint == "IRQ")) | length > 10 and
        all(.args.kind == "irq" or (.args.kind == "softirq" and (.args.name | test("^[A-Z_]+$"))))' lines)" true
    # of a machine without tickless idle, or with it: a thread that runs has a tick
    jq -r 'select(.args.kind == "irq").args.name' lines | sort | uniq -c | sort -n | tail -n 1 | grep -E ' (local_timer|arch_timer|.*timer.*)$'
    # nearly all of the longest are seen as gaps; a shorter one may be between two looks
    intervals '.tpoint == "IRQ"' gap >all_irqs
    awk '{ print $3 - $2, $0 }' all_irqs | sort -rn | head -n $(($(wc -l <all_irqs) / 10 + 1)) | cut -d ' ' -f 2- >of_irqs
    awk 'FNR == NR { if ($1 == "gap") { n++; begin[n] = $2; end[n] = $3 }; if ($1 == "entry") us = $3 / 1000; next }
        FNR == 1 { first = begin[1]; last = end[n] }
        $2 > first && $3 < last { all++; for (i = 1; i <= n; i++) if (begin[i] - us <= $2 && end[i] + us >= $3) { good++; break } }
        END { print good " of " all; exit !(all && good >= all * 0.95) }' measured of_irqs
    # a softirq and what interrupts it are counted once, whatever the lines have
    lines_us=$(jq -s --argjson target "$target" 'map(select(.args.tid == $target and .tpoint == "IRQ") | .args) | sort_by(.begin) |
        reduce .[] as $i ({sum: 0, end: 0}; ($i.begin) as $b | if $i.kind == "softirq" then .sum += $i.duration else .irqs += $i.duration end) |
        .sum + (.irqs // 0)' lines)
    awk -v table="$(table_ms IRQ%)" -v lines="$lines_us" 'BEGIN { print table, lines / 1000; exit !(table <= lines / 1000 + 0.2 && table > lines / 2000) }'
}

@test "-m prints no shorter intervals, the table has all of them" {
    record 'sleep=31 spin=300' -j -m 2500.5
    equal "$(jq -s 'length > 30 and all(.args.duration >= 2500.5)' lines)" true
    equal "$(jq -s 'map(select(.args.syscall == "clock_nanosleep" and .args.tid == .args.pid)) | length' lines)" 31
    [ "$(table_ms IRQ% | cut -d. -f1)" -ge 0 ]
    equal "$(table_ms IRQ%)" "$(table_ms IRQ% | grep -v '^0.000$')"
}

@test "threads that are created later" {
    record 'threads=23' -j
    equal "$(jq -r 'select(.args.comm == "sleeper" and .args.syscall == "clock_nanosleep").args.tid' lines | sort -u | wc -l)" 23
    equal "$(grep -c '^sleeper  *[0-9]' log)" 23
}

@test "columns are what JSON has, each with its reason" {
    record 'yield=2000 sleep=5'
    tr '\t' '|' <lines >bars
    equal "$(head -n 1 bars)" 'us|comm|tid|cpu|duration|queued|why'
    equal "$(sed 1d bars | grep -cvE '^-?[0-9]+\.[0-9]{3}\|[^|]+\|[0-9]+\|[0-9]+\|[0-9]+\.[0-9]{3}\|([0-9]+\.[0-9]{3}|-)\|(blocked|preempted|yielded|migrated|irq|softirq)')" 0
    grep -Eq 'offcpu-target\|[0-9]+\|0\|[0-9.]+\|[0-9.]+\|blocked in clock_nanosleep, woken by \[irq\]$' bars
    grep -Eq '\|yielded to rival \([0-9]+\)$' bars
    grep -Eq '\|blocked in read, woken by bash \([0-9]+\), since before$' bars
}

has_run() { # PID
    [ "$(cut -d ' ' -f 14 "/proc/$1/stat")" -gt 0 ]
}

is_running() { # PID
    grep -q '^State:.R' "/proc/$1/status"
}

is_stopped() { # PID
    grep -q '^State:.T (stopped)$' "/proc/$1/status"
}

# Records a thread that spins while it is stopped for 0.3 seconds, and moved nine times; and a process that does nothing.
record_moves() {
    offcpu-target spin=100000 </dev/null >/dev/null &
    started=$!
    wait_for has_run $started
    trace -j -p "$started,$idle"
    kill -STOP $started
    # where others want the CPU, it takes a while until it has it and stops
    wait_for is_stopped $started
    sleep 0.3
    kill -CONT $started
    wait_for is_running $started
    # it runs when it is moved, whoever else wants to: who moves it does so from the other CPU, and waits for no one
    chrt -f -p 1 $started
    chrt -f 2 bash -ec 'for cpu in 0 1 0 1 0 1 0 1 0 1; do
        taskset -p -c $cpu $$
        taskset -p -c $cpu "$1"
        # it runs there for a while
        sleep 0.05
    done' moves $started >/dev/null
    kill "$recorder"
    status=0
    wait "$recorder" || status=$?
    take_lost
    recorder=
    kill -9 $started
}

@test "stopped, moved, and what began before or goes on" {
    # again where the kernel has skipped switches
    for _ in 1 2 3 4 5; do
        record_moves
        grep -q 'has skipped' log || break
    done
    equal "$status" 0
    equal "$(jq -c 'select(.args.syscall == "stop" and .args.duration > 250000) | [.args.why, .args.pid]' lines)" "[\"blocked\",$started]"
    [ "$(jq -s 'map(select(.args.why == "migrated" and .args.to == 1 - .lcore and (.args.by | test("^migration/")))) | length' lines)" -ge 9 ]
    # a process that does nothing: from the begin of the recording to its end
    equal "$(jq -c "select(.args.pid == $idle) | [.args.why, .args.syscall, .args.late, .args.unfinished, .args.duration > 700000, .tsc > .args.begin]" lines)" \
        '["blocked","clock_nanosleep",true,true,true,true]'
    grep -Eq "^sleep  *$idle .* 100.00  " log
}

@test "stacks of the kernel, from the outermost function on" {
    record 'sleep=7' -j -k
    stacks=$(jq -r 'select(.args.syscall == "clock_nanosleep" and (.args.late | not)).args.stack' lines)
    equal "$(grep -cE '^[^;]*(entry_SYSCALL|el0t|ret_from_fork)[^;]*;.*nanosleep.*;schedule(;__schedule)?$' <<<"$stacks")" "$(wc -l <<<"$stacks")"
    equal "$(jq -r 'select(.args.why != "blocked").args.stack' lines | sort -u)" null
    record 'sleep=7' -k
    grep -q 'blocked in clock_nanosleep, woken by \[irq\]: .*;.*nanosleep.*;schedule' lines
}

@test "its lines are those of a trace, in ticks" {
    has_ticks || skip 'the clock is not made from the counter here'
    record 'sleep=11' -j
    equal "$(jq -r 'select(.args.syscall == "clock_nanosleep" and .args.tid == .args.pid) | [keys_unsorted, (.args | keys_unsorted)] | flatten | join(" ")' lines | sort -u)" \
        'tsc us lcore tpoint args comm tid pid begin duration why syscall waker_comm queued'
    equal "$(jq -r 'select(.tpoint == "IRQ") | .args | keys_unsorted | join(" ")' lines | sort -u | grep -v '^comm tid pid begin duration kind name$')" ''
    # ticks are what the counter has, microseconds what the clock has
    awk '$1 == "entry" { print $3 }' measured >rate
    equal "$(jq -s --slurpfile rate rate 'map(select(.args.duration > 1000) | (.tsc - .args.begin) / .args.duration / $rate[0] * 1000 | . > 0.998 and . < 1.002) | all' lines)" true
    trace-merge lines >merged
    equal "$(wc -l <merged)" "$(wc -l <lines)"
}

@test "trace-spans finds in its lines what held a request" {
    ln -s "$(command -v offcpu-target)" reactor_0
    program=./reactor_0 record 'sleep=5 preempt=5 hold=100' -j
    last=$(jq -rs '"\(map(.us) | max | ceil).000"' lines)
    { entry 0.000 TCP_REQ_NEW r0 - 0x10; cat lines; entry "$last" TCP_REQ_COMPLETED r0 "$last" 0x10; } >in
    status_is 0 trace-spans -j in
    equal "$stderr" ''
    jq -e '.off_cpu > 15000 and .irq > 0 and .off_cpu + .irq <= .life' <<<"$output"
    trace-spans -s in >story
    [ "$(grep -cE ' blocked in clock_nanosleep for [0-9.]+ [mu]?s$' story)" -ge 5 ]
    grep -qE ' preempted by taker \([0-9]+\) for [0-9.]+ [mu]?s$' story
    grep -qE ' interrupt [^ ]*timer[^ ]* for [0-9.]+ [mu]?s$' story
    # only softirqs have names in capitals
    equal "$(grep -E ' interrupt [A-Z_]+ for ' story | grep -vc ' soft interrupt ')" 0
}

@test "the time of day of an interval's end" {
    local before
    before=$(date +%s%N)
    record 'sleep=5' -j --wall
    jq -r .time lines | date -u -f - +%s%N | sort >moments
    equal "$({ echo "$before"; cat moments; date +%s%N; } | sort -c 2>&1)" ''
    [ "$(wc -l <moments)" -ge 5 ]
    record 'sleep=5' --wall
    equal "$(head -n 1 lines | cut -f 1-3 | tr '\t' ' ')" 'time us comm'
    tr '\t' '|' <lines | grep -q '^[0-9:]\{8\}[.][0-9]\{6\}|-*[0-9.]*|offcpu-target|.*|blocked in '
}

@test "what is lost is counted, the table has it" {
    # as a real-time thread, for which others do not make it wait
    start offcpu-target sleep=200
    trace -j -p "$started" --buffer 4K
    kill -STOP "$recorder"
    echo >&"$go"
    wait_for grep -q times out
    kill -CONT "$recorder"
    end 1
    grep -q "^offcpusnoop: lost $(jq -r 'select(.args.tool == "offcpusnoop").args.lost' lost) intervals: the buffer was full" log
}

@test "a time, and from inside a PID namespace" {
    lasts_a_second trace -p "$idle" 1
    unshare -pf --mount-proc true 2>/dev/null || skip 'no PID namespaces here'
    unshare -pf --mount-proc bash -c 'sleep 100 & echo $! >pid; offcpusnoop -q -j -p $! -o lines 1; true'
    take_lost
    equal "$(jq -r '[.args.pid, .args.tid] | @csv' lines | sort -u)" "$(cat pid),$(cat pid)"
    [ "$(cat pid)" -lt 100 ]
}

# Two processes that do nothing.
start_rivals() {
    sleep 1000 3>&- &
    rival=$!
    disown
    sleep 1000 3>&- &
    rival+=" $!"
    disown
}

# Ends them, and waits for the recorder, which ends with them.
end_rivals() {
    kill $rival
    wait_for test ! -e "/proc/$recorder"
    ends_itself "$(grep -q 'has skipped' log && echo 1 || echo 0)" "$recorder"
    recorder=
}

@test "it ends with the last of its processes" {
    start_rivals
    trace -p "${rival/ /,}" 60
    end_rivals
    grep -q 'offcpusnoop: the processes have ended' log
    # each has a row
    equal "$(grep -c '^sleep ' log)" 2
    # as two lists
    start_rivals
    trace -p "${rival%% *}" -p "${rival##* }" 60
    end_rivals
    grep -q 'offcpusnoop: the processes have ended' log
    equal "$(grep -c '^sleep ' log)" 2
}

@test "a command, with all that it starts, from its first instruction on" {
    begin tracing offcpusnoop -j -- sh -c 'sleep 0.1; sleep 0.3; exit 7'
    status=0
    wait "$recorder" || status=$?
    take_lost
    recorder=
    equal "$status" 7
    grep -q '^offcpusnoop: tracing sh, pid [0-9]*$' log
    # not the wait for the tool, in read
    equal "$(jq -r '.args | select(.why == "blocked") | select(.late or .syscall == "read")' lines)" ''
    # the timer starts a little before the thread is off its CPU
    equal "$(jq -r '.args | select(.syscall == "clock_nanosleep") | "\(.comm) \(.duration > 80000) \(.duration > 280000)"' lines)" \
        'sleep true false
sleep true true'
    equal "$(jq -r '.args | select(.comm == "sh" and .syscall == "wait4") | .waker_comm' lines | uniq)" sleep
    equal "$(grep -c '^\(sh\|sleep\) *[0-9]' log)" 3
    status_is 127 offcpusnoop no-such-command
    says 'offcpusnoop: no-such-command: No such file or directory'
}

# Makes a cgroup with a CPU quota of half a processor, whose path is $quota: skips where there is none.
make_quota() {
    make_cgroup
    if echo +cpu >cgroups/cgroup.subtree_control 2>/dev/null; then
        quota=$cgroup
        echo '5000 100000' >"$quota/cpu.max"
        return
    fi
    mkdir version1
    mount -t cgroup -o cpu none version1 2>why || skip "no cgroups with a CPU quota here: $(cat why)"
    quota=$PWD/version1/spdk-trace-tools-test.$$
    mkdir "$quota"
    echo 100000 >"$quota/cpu.cfs_period_us"
    echo 5000 >"$quota/cpu.cfs_quota_us"
}

@test "a thread whose cgroup has used up its CPU quota is throttled" {
    make_quota
    (in_cgroup "$quota" bash -c 'while :; do :; done') 3>&- &
    started=$!
    wait_for grep -q "^$started$" "$quota/cgroup.procs"
    trace -j -m 1000 -p $started
    # a busy machine takes longer to give it its twentieth
    wait_for awk '/throttled/ { n++ } END { exit n < 5 }' lines
    kill "$recorder"
    # some virtual machines skip switches
    wait "$recorder" || grep 'has skipped' log
    recorder=
    take_lost
    throttled=$(sed -n 's/^nr_throttled //p' "$quota/cpu.stat")
    kill $started
    wait $started || true
    equal "$(jq -r '.args | select(.why == "throttled") | .by' lines | sort -u)" null
    # the kernel counts one when its period ends
    equal "$(jq -s --argjson most "$throttled" 'map(.args | select(.why == "throttled")) | length <= $most + 1 and all(.duration < 1e6)' lines)" true
}

@test "the threads of a cgroup, also those that start later" {
    make_cgroup
    mkdir "$cgroup/below"
    (in_cgroup "$cgroup/below" sleep 1000) 3>&- &
    started=$!
    disown
    wait_for grep -q "^$started$" "$cgroup/below/cgroup.procs"
    trace -j -c "$cgroup"
    (in_cgroup "$cgroup" bash -c 'sleep 0.05; exec sleep 0.06') 3>&-
    end
    equal "$(jq -r '.args | select(.syscall == "clock_nanosleep" and .late) | "\(.comm) \(.pid)"' lines)" "sleep $started"
    equal "$(jq -r '.args | select(.syscall == "clock_nanosleep" and (.late | not)) | .duration > 50000' lines | tr '\n' ' ')" 'true true '
    status_is 2 offcpusnoop -c "$cgroup" -p "$idle"
    says 'a process (-p) or a cgroup (-c) is expected, not both'
    status_is 1 offcpusnoop -c /tmp 1
    says '/tmp: not a cgroup of version 2'
    kill $started
    wait_for rmdir "$cgroup/below"
}

# bats test_tags=any-kernel
@test "a note says which process is traced and for how long; threads of the kernel are refused" {
    trace -p "$idle" 60
    equal "$(notes log)" "offcpusnoop: tracing $(cat "/proc/$idle/comm") ($idle) for 60 s"
    end
    trace -p "$idle,$$"
    equal "$(notes log)" "offcpusnoop: tracing $(cat "/proc/$idle/comm") ($idle) and 1 other until they end or Ctrl-C"
    end
    kernels=$(awk '$1 == "PPid:" && $2 == 2 { split(FILENAME, path, "/"); print path[3]; exit }' /proc/[0-9]*/status)
    [ "$kernels" ] || skip 'no threads of the kernel are seen here'
    for tool in offcpusnoop ipcsnoop; do
        status_is 1 $tool -p "$kernels"
        says "$tool: process $kernels ($(cat "/proc/$kernels/comm")): a thread of the kernel: is the id of the process missing?"
    done
}

@test "capabilities are given up, and are named when they lack" {
    command -v setpriv >/dev/null || skip 'setpriv is not here'
    trace -p "$idle"
    has_given_up "$recorder"
    end
    status_is 1 setpriv --bounding-set -all offcpusnoop -p "$idle"
    equal "$stderr" 'offcpusnoop: CAP_BPF and CAP_PERFMON are missing: run it as root, or with these capabilities'
    status_is 0 setpriv --bounding-set -all,+bpf,+perfmon offcpusnoop -q -p "$idle" 1
    # -q: no table
    equal "$stderr" ''
}
