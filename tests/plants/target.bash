# shellcheck disable=SC2119,SC2120 # kinds.bash names other sockets
# For run and kinds.bash: a target, its hosts and its recording, all in the working directory, the folder of a draw.
# The target's reactors have the first CPUs, the hosts and the recording the last one.

NQN=nqn.2016-06.io.spdk:cnode
HOST_CPU=$(($(nproc) - 1))

declare -A subsystems=([db]=1 [web]=2 [bulk]=3) # of a host that has this name
declare -A loads=()                            # options of a host that runs
declare -A pids=()                             # of the hosts
acts=()                                        # processes of a plant
targets=()                                     # of which the first one is recorded, or the first ones, which
names=()                                       # these are called

say() {
    echo "plants: $*" >&2
}

# A line for rpc: numbers, true, false, and what starts like JSON are as they are, other values are strings.
call() { # METHOD NAME=VALUE...
    local method=$1 parameters='' pair value
    shift
    for pair in "$@"; do
        value=${pair#*=}
        [[ $value =~ ^(-?[0-9]+|true|false|[[{\"].*)$ ]] || value="\"$value\""
        parameters+=",\"${pair%%=*}\":$value"
    done
    echo "$method${parameters:+ {${parameters#,}\}}"
}

# Makes the calls of standard input.
rpc() { # [SOCKET]
    plants-rpc "${1:-target.sock}" >>calls.log 2>&1 || { say "a call failed: $(grep . calls.log | tail -n 1)"; return 1; }
}

# A bdev in memory, which may take some time, so that it is like a drive.
bdev() { # NAME [US [MIB]]
    local name=$1 us=${2:-0} base=
    [ "$us" = 0 ] || base=Base
    call bdev_malloc_create name="$name$base" num_blocks=$((${3:-64} * 2048)) block_size=512
    [ "$us" = 0 ] || delay "$name" "$name$base" "$us"
}

delay() { # NAME BASE US
    call bdev_delay_create name="$1" base_bdev_name="$2" avg_read_latency="$3" p99_read_latency="$3" \
        avg_write_latency="$3" p99_write_latency="$3"
}

# Changes the time of a bdev that has some: of all I/O, or of one percent of it.
slow_down() { # NAME US [p99]
    local type kinds=(avg_read p99_read avg_write p99_write)
    [ -z "${3:-}" ] || kinds=(p99_read p99_write)
    for type in "${kinds[@]}"; do
        call bdev_delay_update_latency delay_bdev_name="$1" latency_type="$type" latency_us="$2"
    done
}

subsystem() { # NUMBER BDEV [PORT [UUID]]
    call nvmf_create_subsystem nqn="$NQN$1" allow_any_host=true serial_number="SPDK$1" ana_reporting=true
    call nvmf_subsystem_add_ns nqn="$NQN$1" namespace="{\"bdev_name\":\"$2\"${4:+,\"uuid\":\"$4\",\"nguid\":\"${4//-/}\"}}"
    call nvmf_subsystem_add_listener nqn="$NQN$1" \
        listen_address="{\"trtype\":\"TCP\",\"adrfam\":\"IPv4\",\"traddr\":\"127.0.0.1\",\"trsvcid\":\"${3:-$PORT}\"}"
}

# A control group of processors, of either version. Its processes get nearly all of a CPU that others want as well.
open_group() {
    local weight=cpu.weight
    group=/sys/fs/cgroup/plants.$$
    [ ! -d /sys/fs/cgroup/cpu ] || { group=/sys/fs/cgroup/cpu/plants.$$ weight=cpu.shares; }
    mkdir -p "$group"
    [ $weight = cpu.shares ] && echo 262144 >"$group/$weight" || echo 10000 >"$group/$weight"
}

close_group() {
    local i
    for ((i = 0; i < 20; i++)); do
        rmdir "$group" && return
        # shellcheck disable=SC2046 # ids
        kill -KILL $(<"$group/cgroup.procs")
        sleep 0.1
    done
} 2>/dev/null

# The percentage of a CPU that the group may use.
set_quota() { # PERCENT
    if [ -e "$group/cpu.max" ]; then
        echo "$(($1 * 1000)) 100000" >"$group/cpu.max"
    else
        echo 100000 >"$group/cpu.cfs_period_us"
        echo $(($1 * 1000)) >"$group/cpu.cfs_quota_us"
    fi
}

# Runs a command in the group, in place of the shell.
in_group() {
    echo $BASHPID >"$group/cgroup.procs"
    exec "$@"
}

# Its log goes to a pipe if there is one.
start_target() { # MASK SOCKET [OPTION...]
    local log=${2%.sock}.log i
    [ ! -p log ] || log=log
    (
        ulimit -l unlimited 2>/dev/null || true
        in_group "$SPDK/build/bin/nvmf_tgt" --no-huge -s 1024 -m "$1" -r "$PWD/$2" --num-trace-entries 131072 \
            --no-pci --iova-mode va --disable-cpumask-locks --wait-for-rpc "${@:3}"
    ) >"$log" 2>&1 &
    targets+=($!)
    for ((i = 0; i < 100; i++)); do
        sleep 0.1
        plants-rpc "$2" <<<'spdk_get_version' >>calls.log 2>&1 && return
    done
    say "the target does not start: see $PWD/$log"
    return 1
}

# Those that measure do not wait for a CPU that others want. The culprit shares it with what records.
start_hosts() { # HALF
    local name i run
    for name in "${!loads[@]}"; do
        run=(exec chrt -f 10)
        [ "$name" != bulk ] || run=(exec nice -n -20)
        # shellcheck disable=SC2086 # options
        "${run[@]}" taskset -c "$HOST_CPU" plants-host -p "$PORT" -s "$NQN${subsystems[$name]}" -n "nqn.2026-11.test:$name" --seed "$SEED" \
            --log "$1/$name.log" ${loads[$name]} >"$1/$name.json" 2>"$1/$name.err" &
        pids[$name]=$!
    done
    for name in "${!loads[@]}"; do
        for ((i = 0; i < 100 && $(kill -0 "${pids[$name]}" 2>/dev/null; echo $?) == 0; i++)); do
            [ ! -e "$1/$name.log" ] || continue 2
            sleep 0.05
        done
        say "host $name: $(cat "$1/$name.err")"
        return 1
    done
}

stop_hosts() {
    local status=0 name
    kill "${pids[@]}" 2>/dev/null
    # a plant may have stopped one: it would go on
    for name in "${pids[@]}"; do [[ $(<"/proc/$name/stat") != *') T '* ]] || kill -KILL "$name"; done 2>/dev/null
    for name in "${!pids[@]}"; do wait "${pids[$name]}" || status=1; done
    pids=()
    return $status
}

# One of them may have stopped others.
stop_acts() {
    [ ${#acts[@]} = 0 ] || { kill "${acts[@]}"; wait "${acts[@]}"; kill -CONT "${targets[@]}" ${reader:+"$reader"}; } 2>/dev/null
    acts=()
}

stop_targets() {
    local pid
    for pid in "${targets[@]}"; do
        kill -CONT "$pid"
        kill -KILL "$pid"
        wait "$pid"
        rm -f /dev/shm/*_trace.pid"$pid"
    done 2>/dev/null
    targets=()
    rm -f -- *.sock
}

# The milliseconds so far that the reactors which are recorded, and the wire between them, have waited for their CPUs, and
# that a hypervisor had these.
lost_cpu() {
    local pid task ns=0 waited recorded=("${targets[0]}") cpus=$REACTORS
    [ ${#names[@]} = 0 ] || { recorded=("${targets[@]}"); cpus=$(nproc); }
    for pid in "${recorded[@]}"; do
        for task in "/proc/$pid"/task/*; do
            [[ $(<"$task/comm") != @(reactor_*|plants-wire) ]] || { read -r _ waited _ <"$task/schedstat"; ns=$((ns + waited)); }
        done
    done
    awk -v ms=$((ns / 1000000)) -v cpus="$cpus" -v hz="$(getconf CLK_TCK)" '
        /^cpu[0-9]/ && substr($1, 4) < cpus { ms += $9 * 1000 / hz } END { print int(ms) }' /proc/stat
}

# Runs the hosts, with the plant if there is one, and records the target. The rings are emptied first, so that they have
# this load only. lost-cpu has the milliseconds of lost_cpu in a second. A hang is planted under load.
half() { # NAME SECONDS [PLANT]
    local before begin hang='' socket i processes=(-p "${targets[0]}")
    [[ ${3:-} != plant_hang_* ]] || hang=$3
    mkdir "$1"
    [ -n "$hang" ] || "${3:-:}" || return
    start_hosts "$1" || return
    sleep 0.3
    for socket in *.sock; do rpc "$socket" <<<'trace_clear' || return; done
    [ -z "$hang" ] || { sleep 0.5 && "$hang" && sleep 2; } || return
    before=$(lost_cpu) begin=${EPOCHREALTIME/[.,]/}
    for ((i = 1; i < ${#names[@]}; i++)); do processes+=(-p "${targets[i]}"); done
    trace-record -q "${processes[@]}" -o "$1/recording" "$2" >"$1/record.log" 2>&1 || true
    for i in "${!names[@]}"; do mv "$1/recording/nvmf_tgt.${targets[i]}" "$1/recording/${names[i]}"; done
    echo $((($(lost_cpu) - before) * 1000000 / (${EPOCHREALTIME/[.,]/} - begin))) >"$1/lost-cpu"
    # a wire is an act
    if [ -n "$hang" ]; then
        stop_hosts
        [ "$(jq .open "$1/db.json")" != 0 ] || { say 'no request of db hangs'; return 1; }
    else
        stop_hosts || { say "a host failed: $(cat "$1"/*.err)"; return 1; }
        [ "$(jq .errors "$1/db.json")" = 0 ] || { say 'requests of db have failed'; return 1; }
    fi
    stop_acts
    [ -s "$1/recording${names:+/${names[0]}}/trace.bin" ] || { say "nothing was recorded: $(cat "$1/record.log")"; return 1; }
}
