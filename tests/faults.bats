#!/usr/bin/env bats
# Any fault: what a tool prints is complete, or its exit status says that it is not.

load helpers

EPERM=1 EINTR=4 EIO=5 ECHILD=10 EAGAIN=11 ENOMEM=12 EMFILE=24 ENOSPC=28

setup() {
    cd "$BATS_TEST_TMPDIR" || exit
    # they have an allocator of their own, and want to be the first library
    ! ldd "$(command -v trace-dump)" | grep -q libasan || skip 'a tool with sanitizers takes no preloaded library'
}

# Runs a tool with the fault at its first call of a function, at its second, and so on, until it does not happen any
# more. Checks each time that the tool has either printed all or says what is wrong; with `same`, that it has.
each_fault() { # same|any CALL FAULT COMMAND
    local mode=$1 call=$2 fault=$3 n rc
    shift 3
    [ -z "${FILE:-}" ] || cp "$FILE" pristine
    ${FEED:-true} | eval "$*" >want
    for n in $(seq 1 "${LAST:-1000}"); do
        rm -f mark
        rc=0
        ${FEED:-true} | FAULT_CALL=$call FAULT_NTH=$n FAULT=$fault FAULT_MARK=mark FAULT_FILE=${FILE:-} \
            timeout 10 bash -c "export LD_PRELOAD=$BIN/faults.so; exec $*" >got 2>err || rc=$?
        [ -z "${FILE:-}" ] || cp pristine "$FILE"
        [ -e mark ] || break
        if [ $rc = 0 ]; then
            ${CMP:-cmp} want got || { echo "$*: $call $n, $fault: exit 0, but output is missing"; cat err; return 1; }
        elif [[ " 1 ${STATUSES:-} " != *" $rc "* ]] || [ "$mode" = same ] || ! grep -q "^${1%% *}: ." err; then
            echo "$*: $call $n, $fault: exit $rc"
            cat err
            return 1
        fi
    done
    [ "$n" -lt "${LAST:-1000}" ] || [ -n "${LAST:-}" ]
    # it happened, where it can
    [ "$n" -gt 1 ] || [ "${MAYBE:-}" ] || { echo "$*: never calls $call"; return 1; }
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
    printf 'p(a, b:str)\nq()\n' >specs
}

# shellcheck disable=SC2016 # it is evaluated where it runs
COMMANDS=(
    'trace-dump -q trace'
    'trace-dump -q $SHM'
    'trace-dump -q -i -d -O - <trace'
    "trace-dump -q $DATA/spdk-trace.json"
    'qpair-lifetimes -q -O owners probes'
    'qpair-lifetimes -q owned'
    'trace-join -l lifetimes lines'
    'trace-join -j -l lifetimes lines'
    'trace-join -s -l lifetimes lines'
    'trace-join -F -l lifetimes lines'
    'trace-latency -q -r -g args.qpair lines'
    'trace-latency -q --merge --against encoded encoded'
    'trace-chrome lines'
)
if command -v usdt-gen >/dev/null && [ -e "$BIN/libusdt-target.so" ]; then
    COMMANDS+=("usdt-gen -l -x $BIN/libusdt-target.so" 'usdt-gen -f specs')
fi

@test "a failed system call or allocation is said, or does no harm" {
    inputs
    for command in "${COMMANDS[@]}"; do
        for fault in read:$EIO pread:$EIO write:$EIO write:$ENOSPC open:$EIO close:$EIO fstat:$EIO lseek:$EIO mmap:$ENOMEM malloc:$ENOMEM; do
            MAYBE=1 each_fault any "${fault%:*}" "${fault#*:}" "$command"
        done
    done
}

@test "an interrupted call, one that would wait, and short ones change nothing" {
    inputs
    for command in "${COMMANDS[@]}"; do
        for fault in read:$EINTR read:$EAGAIN write:$EINTR write:$EAGAIN pread:$EINTR; do
            MAYBE=1 each_fault same "${fault%:*}" "${fault#*:}" "$command"
        done
        for call in read write pread; do
            MAYBE=1 LAST=1 each_fault same $call short "$command"
        done
    done
}

@test "lines that are followed fail like any others" {
    inputs
    for fault in read:$EIO write:$EIO write:$ENOSPC fstat:$EIO mmap:$ENOMEM malloc:$ENOMEM; do
        FEED='cat probes' MAYBE=1 each_fault any "${fault%:*}" "${fault#*:}" 'qpair-lifetimes -q -F'
    done
    for fault in read:$EINTR read:$EAGAIN write:$EINTR write:$EAGAIN; do
        FEED='cat probes' MAYBE=1 each_fault same "${fault%:*}" "${fault#*:}" 'qpair-lifetimes -q -F'
    done
}

@test "a pipe that is read ahead fails like any other" {
    for _ in $(seq 1 20); do cat "$DATA/sample.jsonl"; done | grep '"us":' >few
    for _ in $(seq 1 10); do cat few; done >many
    for call in read:$EIO read:$EINTR pthread_create:$EAGAIN malloc:$ENOMEM mmap:$ENOMEM; do
        FEED='cat many' MAYBE=1 LAST=40 each_fault any "${call%:*}" "${call#*:}" "trace-join -j"
    done
}

@test "a pipe that is given up takes nothing from the file that is opened next" {
    inputs
    qpair-lifetimes probes >lifetimes
    trace-join -l lifetimes lines >want
    mkfifo pipe next
    { head -c 70000000 /dev/zero | tr '\0' x >pipe || true; } 2>/dev/null &
    # what comes second goes to whoever has waited longer
    { sleep 0.2; echo; sleep 0.2; cat lifetimes; } >next &
    FAULT_CALL=read FAULT_NTH=1 FAULT=late status_is 1 env LD_PRELOAD="$BIN/faults.so" \
        trace-join -l pipe -l next lines
    says 'pipe:1: a line of more than 64 MiB'
    cmp want - <<<"$output"
}

@test "a trace that becomes shorter at any moment is no crash, and is said" {
    inputs
    for file in trace "$SHM"; do
        for call in fstat mmap pread lseek write malloc; do
            FILE=$file MAYBE=1 each_fault any $call shrink "trace-dump -q $file"
        done
    done
}

# What recording does besides, and how it can fail.
RECORDING="bpf:$ENOMEM bpf:$EPERM bpf:$EAGAIN bpf:$EINTR perf_event_open:$EPERM pidfd_open:$EMFILE openat2:$EPERM capset:$EPERM
    prctl:$EPERM poll:$EINTR poll:$ENOMEM epoll_create1:$EMFILE epoll_ctl:$ENOMEM fcntl:$EIO ioctl:$EIO pipe2:$EMFILE fork:$EAGAIN
    waitpid:$EINTR waitpid:$ECHILD readlinkat:$EPERM open:$EMFILE read:$EINTR read:$EIO pread:$EIO pread:$EINTR fstat:$EIO
    write:$EINTR write:$EAGAIN write:$EIO write:$ENOSPC mmap:$ENOMEM malloc:$ENOMEM close:$EIO"
# The part of it that each tool does in its own way.
BEGINNING="bpf:$ENOMEM bpf:$EPERM mmap:$ENOMEM malloc:$ENOMEM fork:$EAGAIN waitpid:$EINTR poll:$EINTR write:$EIO"

# shellcheck disable=SC2086 # they are words
@test "recording prints all that happens, or says what is wrong" {
    command -v usdt-record >/dev/null && command -v usdt-target >/dev/null || lacks 'usdt-record or usdt-target was not built'
    status_is 0 usdt-record -q -o probed -- usdt-target qpairs || lacks "no BPF here: $stderr"
    for fault in $RECORDING; do
        # where the command cannot be run it has the statuses of a shell
        STATUSES='126 127' MAYBE=1 each_fault any ${fault%:*} ${fault#*:} 'usdt-record -q -- usdt-target qpairs'
    done
    for fault in bpf:$EPERM perf_event_open:$EPERM ioctl:$EIO; do
        STATUSES='126 127' MAYBE=1 each_fault any ${fault%:*} ${fault#*:} 'usdt-record -q --perf-events -F -- usdt-target qpairs'
    done
}

# shellcheck disable=SC2086
@test "the probes of a process are all listed, or it is said what is wrong" {
    command -v usdt-gen >/dev/null && command -v usdt-target >/dev/null || lacks 'usdt-gen or usdt-target was not built'
    mkfifo go
    usdt-target wait <go >out &
    started=$!
    # shellcheck disable=SC2034 # it is open: that is all
    exec {go}>go
    until grep -q ready out; do sleep 0.05; done
    for fault in pread:$EIO pread:$EINTR malloc:$ENOMEM readlinkat:$EPERM mmap:$ENOMEM write:$EIO write:$EINTR close:$EIO; do
        MAYBE=1 each_fault any ${fault%:*} ${fault#*:} "usdt-gen -l -p $started"
    done
}

# Whether as many requests are there.
same_lines() {
    [ "$(wc -l <"$1")" = "$(wc -l <"$2")" ]
}

# shellcheck disable=SC2086
@test "biosnoop prints as many requests as it is to, or says what is wrong" {
    command -v biosnoop >/dev/null || lacks 'biosnoop was not built'
    truncate -s 1M image
    loop=$(losetup --find --show --direct-io=on image 2>why) || lacks "no loop devices here: $(cat why)"
    while dd "if=$loop" of=/dev/null bs=4k iflag=direct status=none; do :; done 2>/dev/null &
    started=$!
    status_is 0 timeout 10 biosnoop -q -n 3 -d "$loop" -o probed || lacks "no BPF here: $stderr"
    for fault in $BEGINNING; do
        CMP=same_lines MAYBE=1 each_fault any ${fault%:*} ${fault#*:} "biosnoop -q -n 3 -d $loop"
    done
}

# Whether the same reads and writes are there, and counts; some calls depend on who is first.
same_calls() {
    diff <(awk '$6 ~ /^[0-9]+$/ { print $2, $4, $7 } /@syscalls.(execve|write|read)]/' "$1" | sort) \
        <(awk '$6 ~ /^[0-9]+$/ { print $2, $4, $7 } /@syscalls.(execve|write|read)]/' "$2" | sort) >/dev/null
}

# shellcheck disable=SC2086
@test "ipcsnoop prints as many calls as there are, or says what is wrong" {
    command -v ipcsnoop >/dev/null || lacks 'ipcsnoop was not built'
    status_is 0 ipcsnoop -q -o probed -- true || lacks "no BPF here: $stderr"
    for fault in $BEGINNING; do
        CMP=same_calls STATUSES='126 127' MAYBE=1 each_fault any ${fault%:*} ${fault#*:} "ipcsnoop -q -- sh -c 'echo 1 | cat'"
    done
}
