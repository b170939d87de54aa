#!/usr/bin/env bats
# Any fault: what a tool prints is complete, or its exit status says that it is not.
# shellcheck disable=SC2030,SC2031 # a test is a process of its own
# bats file_tags=slow

load helpers

EPERM=1 EINTR=4 EIO=5 ECHILD=10 EAGAIN=11 ENOMEM=12 EMFILE=24 ENOSPC=28

setup() {
    enter
    # they have an allocator of their own, and want to be the first library
    ! has_sanitizers || skip 'a tool with sanitizers takes no preloaded library'
}

# Runs a tool with the fault at its first call of a function, at its second, and so on, until it does not happen any
# more. Checks each time that the tool has either printed all or says what is wrong; with `same`, that it has printed all.
# The fault must happen at least once, but in the functions that are named in $NEVER.
each_fault() { # same|any CALL:FAULT COMMAND
    local mode=$1 call=${2%:*} fault=${2#*:} command=$3 n status skipped=0
    [ -z "${FILE:-}" ] || cp "$FILE" pristine
    # some virtual machines skip events, which the tool says
    until feed "$command" >want 2>err; do
        if [ $((++skipped)) = 5 ] || ! grep -q 'the kernel has skipped' err; then
            cat err
            return 1
        fi
    done
    rm -f happened.*
    export FAULT_IN=${command%% *} FAULT_CALL=$call FAULT=$fault FAULT_FILE=${FILE:-}
    for n in $(seq 1 "${LAST:-1000}"); do
        status=0
        export FAULT_NTH=$n FAULT_MARK=happened.$n
        PRELOAD=${FAULTS-$BIN/faults.so} feed "$command" >got 2>err || status=$?
        [ -z "${FILE:-}" ] || cp pristine "$FILE"
        [ -e "happened.$n" ] || break
        if [ $status = 0 ]; then
            ${CMP:-cmp} want got || { echo "$command: $call $n, $fault: exit 0, but output is missing"; cat err; return 1; }
        elif [[ " 1 ${STATUSES:-} " != *" $status "* ]] || [ "$mode" = same ] || [[ $'\n'$(<err) != *$'\n'"$FAULT_IN: "* ]]; then
            echo "$command: $call $n, $fault: exit $status"
            cat err
            return 1
        fi
    done
    [ "$n" -lt "${LAST:-1000}" ] || [ -n "${LAST:-}" ]
    [ -e happened.1 ] || [[ " ${NEVER:-} " = *" $call "* ]] || { echo "$command: never calls $call"; return 1; }
}

# Runs a command, whose standard input is what the command $FEED prints, or nothing.
feed() { # COMMAND
    ${BEFORE:-:}
    if [ -n "${FEED:-}" ]; then
        $FEED | LD_PRELOAD=${PRELOAD:-} eval "$1"
    else
        LD_PRELOAD=${PRELOAD:-} eval "$1" </dev/null
    fi
}

teardown() {
    rm -f "${SHM:-}"
    [ -z "${started:-}" ] || kill "$started" 2>/dev/null || true
    [ -z "${loop:-}" ] || losetup -d "$loop"
}

# Writes what the tools read.
inputs() {
    export SHM
    SHM=$(mktemp -p /dev/shm)
    mktrace -l G5 "$DATA/modern.jsonl" >trace
    cp trace "$SHM"
    mktrace -l G3 "$DATA/sample-g3.jsonl" >sample
    trace-dump sample >lines
    trace-dump -O trace >owners
    cp "$DATA/sample-g3-probes.txt" probes
    {
        echo "owner: tsc=0x1, id=0x12c, poller='t300', description='10.0.0.1:1'"
        cat probes
        echo "owner: tsc=0x1, id=0x12c, poller='t300', description='10.0.0.1:1 sub'"
    } >owned
    qpair-lifetimes -q probes >lifetimes
    trace-latency -qe lines >encoded
    trace-join -j -l lifetimes lines >joined
    printf 'p(a, b:str)\nq()\n' >specs
}

# The functions that a command never calls, or not with this input, and the command.
# shellcheck disable=SC2016 # it is evaluated where it runs
COMMANDS=(
    'read pread|trace-dump -q trace'
    'read|trace-dump -q $SHM'
    'read pread open close|trace-dump -q -i -d -O - <trace'
    "read pread|trace-dump -q $DATA/spdk-trace.json"
    'pread lseek mmap|qpair-lifetimes -q -O owners probes'
    'pread lseek mmap|qpair-lifetimes -q owned'
    'pread lseek mmap|trace-join -l lifetimes lines'
    'pread lseek mmap|trace-join -j -l lifetimes lines'
    'pread lseek mmap|trace-join -s -l lifetimes lines'
    'pread lseek mmap|trace-join -F -l lifetimes lines'
    'pread lseek mmap|trace-latency -q -r -g args.qpair lines'
    'pread lseek mmap|trace-latency -q --layers -g type lines'
    'pread lseek mmap|trace-latency -q --merge --against encoded encoded'
    'pread lseek mmap|trace-chrome lines'
    'lseek mmap|trace-merge -q lines joined'
    'pread lseek mmap|trace-spans -q -s -n 3 lines'
    'pread lseek mmap|trace-spans -q -j -a -k id=* lines'
)
if command -v usdt-gen >/dev/null && [ -e "$BIN/libusdt-target.so" ]; then
    COMMANDS+=("read lseek mmap|usdt-gen -l -x $BIN/libusdt-target.so" 'pread lseek mmap|usdt-gen -f specs')
fi

@test "a failed system call or allocation is said, or does no harm" {
    inputs
    for command in "${COMMANDS[@]}"; do
        for fault in read:$EIO pread:$EIO write:$EIO write:$ENOSPC open:$EIO close:$EIO fstat:$EIO lseek:$EIO mmap:$ENOMEM malloc:$ENOMEM; do
            NEVER=${command%%|*} each_fault any "$fault" "${command#*|}"
        done
    done
}

@test "an interrupted call, one that would wait, and short ones change nothing" {
    inputs
    for command in "${COMMANDS[@]}"; do
        for fault in read:$EINTR read:$EAGAIN write:$EINTR write:$EAGAIN pread:$EINTR; do
            NEVER=${command%%|*} each_fault same "$fault" "${command#*|}"
        done
        for call in read write pread; do
            NEVER=${command%%|*} LAST=1 each_fault same "$call":short "${command#*|}"
        done
    done
}

@test "faults that do not happen are noticed" {
    inputs
    FAULTS='' run each_fault any write:$EIO 'trace-dump -q trace'
    equal "$status $output" '1 trace-dump -q trace: never calls write'
}

@test "lines that are followed fail like any others" {
    inputs
    for fault in read:$EIO write:$EIO write:$ENOSPC fstat:$EIO mmap:$ENOMEM malloc:$ENOMEM; do
        FEED='cat probes' NEVER=mmap each_fault any "$fault" 'qpair-lifetimes -q -F'
    done
    for fault in read:$EINTR read:$EAGAIN write:$EINTR write:$EAGAIN; do
        FEED='cat probes' each_fault same "$fault" 'qpair-lifetimes -q -F'
    done
}

@test "a pipe that is read ahead fails like any other" {
    for _ in $(seq 1 20); do cat "$DATA/sample.jsonl"; done | grep '"us":' >few
    for _ in $(seq 1 10); do cat few; done >many
    for fault in read:$EIO read:$EINTR pthread_create:$EAGAIN malloc:$ENOMEM mmap:$ENOMEM; do
        FEED='cat many' LAST=40 each_fault any "$fault" 'trace-join -j'
    done
}

@test "a pipe that is given up takes nothing from the file that is opened next" {
    inputs
    qpair-lifetimes probes >lifetimes
    trace-join -l lifetimes lines >want
    mkfifo pipe next
    { head -c 70000000 /dev/zero | tr '\0' x >pipe || true; } 2>/dev/null 3>&- &
    # what comes second goes to whoever has waited longer
    { sleep 0.2; echo; sleep 0.2; cat lifetimes; } >next 3>&- &
    FAULT_CALL=read FAULT_NTH=1 FAULT=late status_is 1 env LD_PRELOAD="$BIN/faults.so" \
        trace-join -l pipe -l next lines
    says 'pipe:1: a line of more than 64 MiB'
    cmp want - <<<"$output"
}

@test "a trace that becomes shorter at any moment is no crash, and is said" {
    inputs
    for file in trace "$SHM"; do
        for call in fstat mmap pread lseek write malloc; do
            NEVER=pread FILE=$file each_fault any "$call":shrink "trace-dump -q $file"
        done
    done
}

# What recording does besides, and how it can fail.
RECORDING="bpf:$ENOMEM bpf:$EPERM bpf:$EAGAIN bpf:$EINTR pidfd_open:$EMFILE capset:$EPERM
    prctl:$EPERM poll:$EINTR poll:$ENOMEM epoll_create1:$EMFILE epoll_ctl:$ENOMEM fcntl:$EIO pipe2:$EMFILE fork:$EAGAIN
    waitpid:$EINTR waitpid:$ECHILD open:$EMFILE read:$EINTR read:$EIO pread:$EIO pread:$EINTR fstat:$EIO
    write:$EINTR write:$EAGAIN write:$EIO write:$ENOSPC mmap:$ENOMEM malloc:$ENOMEM close:$EIO"
# The part of it that each tool does in its own way.
BEGINNING="bpf:$ENOMEM bpf:$EPERM mmap:$ENOMEM malloc:$ENOMEM fork:$EAGAIN waitpid:$EINTR poll:$EINTR fcntl:$EIO write:$EIO"

# Whether the same events are there, with all that the clocks put there.
same_events() {
    equal "$(events "$2")" "$(events "$1")"
}

@test "recording prints all that happens, or says what is wrong" {
    command -v usdt-record >/dev/null && command -v usdt-target >/dev/null || lacks 'usdt-record or usdt-target was not built'
    status_is 0 usdt-record -q -o probed -- usdt-target qpairs || lacks "no BPF here: $stderr"
    for fault in $RECORDING; do
        # where the command cannot be run it has the statuses of a shell
        CMP=same_events STATUSES='126 127' NEVER='poll epoll_create1 epoll_ctl prctl pidfd_open' each_fault any "$fault" 'usdt-record -q -- usdt-target qpairs'
    done
    for fault in bpf:$EPERM perf_event_open:$EPERM ioctl:$EIO; do
        CMP=same_events STATUSES='126 127' each_fault any "$fault" 'usdt-record -q --perf-events -F -- usdt-target qpairs'
    done
}

# Whether as many lines are there.
same_number() {
    [ "$(wc -l <"$1")" = "$(wc -l <"$2")" ]
}

@test "recording a process prints as many events as it is to, or says what is wrong" {
    command -v usdt-record >/dev/null && command -v usdt-target >/dev/null || lacks 'usdt-record or usdt-target was not built'
    # for minutes
    # shellcheck disable=SC2046 # they are words
    usdt-target $(printf 'flood=4000000000 %.0s' $(seq 100)) 3>&- &
    started=$!
    wait_for grep -q libusdt "/proc/$started/maps"
    status_is 0 usdt-record -q -n 3 -e 'flood(i)' -o probed -p "$started" || lacks "no BPF here: $stderr"
    for fault in openat2:$EPERM readlinkat:$EPERM fcntl:$EIO; do
        CMP=same_number each_fault any "$fault" "usdt-record -q -n 3 -e 'flood(i)' -p $started"
    done
}

@test "the probes of a process are all listed, or it is said what is wrong" {
    command -v usdt-gen >/dev/null && command -v usdt-target >/dev/null || lacks 'usdt-gen or usdt-target was not built'
    mkfifo go
    usdt-target wait <go >out &
    started=$!
    # shellcheck disable=SC2034 # it is open: that is all
    exec {go}>go
    wait_for_text ready out
    for fault in pread:$EIO pread:$EINTR malloc:$ENOMEM readlinkat:$EPERM openat2:$EPERM mmap:$ENOMEM write:$EIO write:$EINTR close:$EIO; do
        NEVER=mmap each_fault any "$fault" "usdt-gen -l -p $started"
    done
}

@test "biosnoop prints as many requests as it is to, or says what is wrong" {
    command -v biosnoop >/dev/null || lacks 'biosnoop was not built'
    truncate -s 1M image
    loop=$(losetup --find --show --direct-io=on image 2>why) || lacks "no loop devices here: $(cat why)"
    # not more than it takes: some virtual machines lose one of some hundreds
    while dd "if=$loop" of=/dev/null bs=4k count=1 iflag=direct status=none; do sleep 0.01; done 2>/dev/null &
    started=$!
    status_is 0 timeout 10 biosnoop -q -n 3 -d "$loop" -o probed || lacks "no BPF here: $stderr"
    for fault in $BEGINNING; do
        CMP=same_number NEVER='fork waitpid poll' each_fault any "$fault" "biosnoop -q -n 3 -d $loop"
    done
}

# Whether the same reads and writes are there, and counts; some calls depend on who is first.
same_calls() {
    diff <(awk '$6 ~ /^[0-9]+$/ { print $2, $4, $7 } /@syscalls.(execve|write|read)]/' "$1" | sort) \
        <(awk '$6 ~ /^[0-9]+$/ { print $2, $4, $7 } /@syscalls.(execve|write|read)]/' "$2" | sort) >/dev/null
}

@test "ipcsnoop prints as many calls as there are, or says what is wrong" {
    command -v ipcsnoop >/dev/null || lacks 'ipcsnoop was not built'
    status_is 0 ipcsnoop -q -o probed -- true || lacks "no BPF here: $stderr"
    for fault in $BEGINNING; do
        CMP=same_calls STATUSES='126 127' NEVER=poll each_fault any "$fault" "ipcsnoop -q -- sh -c 'echo 1 | cat'"
    done
}

# A thread that is blocked while offwaketime runs, however long that takes to begin.
block() {
    [ -z "${started:-}" ] || kill "$started"
    blocked-target sleeps=100000 </dev/null >/dev/null 2>&1 3>&- &
    started=$!
    disown
}

# Whether its time is there. The kernel's stacks differ each time, and functions are unknown where no symbols could be read.
same_sleep() {
    grep -q '^sleeper;.*\(sleep_here\|\[unknown\]\).* [0-9]*$' "$2"
}

@test "offwaketime prints what is blocked, or says what is wrong" {
    command -v offwaketime >/dev/null || lacks 'offwaketime was not built'
    block
    status_is 0 offwaketime -q -f -p "$started" -o probed 1 || lacks "no BPF here: $stderr"
    for fault in $BEGINNING; do
        # shellcheck disable=SC2016 # it is evaluated where it runs
        BEFORE=block CMP=same_sleep NEVER='fork waitpid poll' each_fault any "$fault" 'offwaketime -q -f -p $started 1'
    done
}
