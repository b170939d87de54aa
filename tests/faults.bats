#!/usr/bin/env bats
# Any fault: what a filter prints is complete, or its exit status says that it is not.
# bats file_tags=slow,plain,long

load helpers
load faults

teardown() {
    rm -f "${SHM:-}"
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
    awk -v n=6 -f "$ROOT/tests/crossing.awk" >matching
    trace-join -j -l lifetimes lines >joined
    trace-spans -q -j lines >spans
}

# The functions that a command never calls, or not with this input, and the command.
COMMANDS=(
    'read pread|trace-dump -q trace'
    'read|trace-dump -q $SHM'
    'read pread open close|trace-dump -q -i -d -O - <trace'
    'read pread|trace-dump -q "$DATA/spdk-trace.json"'
    'pread lseek mmap|qpair-lifetimes -q -O owners probes'
    'pread lseek mmap|qpair-lifetimes -q owned'
    'pread lseek mmap|trace-join -l lifetimes lines'
    'pread lseek mmap|trace-join -j -l lifetimes lines'
    'pread lseek mmap|trace-join -s -l lifetimes lines'
    'pread lseek mmap|trace-join -F -l lifetimes lines'
    'pread lseek mmap|trace-latency -q -r -g args.qpair lines'
    'pread lseek mmap|trace-latency -q --layers -g type lines'
    'pread lseek mmap|trace-latency -q --merge --against encoded encoded'
    'pread lseek mmap|trace-perfetto -q -e lines'
    'lseek mmap|trace-merge -q lines joined'
    'pread lseek mmap|trace-match -q matching'
    'pread lseek mmap|trace-spans -q -s -n 3 lines'
    'pread lseek mmap|trace-spans -q -j -a -k id=* lines'
    'pread lseek mmap|trace-causes -q spans'
    'pread lseek mmap|trace-causes -q -m 1 -g lcore -k id=* spans'
)
if command -v usdt-gen >/dev/null && [ -e "$BIN/libusdt-target.so" ]; then
    COMMANDS+=('pread lseek mmap fstat|usdt-gen -l -x "$BIN/libusdt-target.so"')
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
    FAULTS='' run each_fault any write:"$EIO" 'trace-dump -q trace'
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
    FAULT_CALL=read FAULT_NTH=1 FAULT=late status_is 1 env LD_PRELOAD="$FAULTS" \
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

@test "an error that only closing the output reports is one" {
    for tool in $(filters); do
        input_of "$tool"
        # one of the first descriptors that are closed is a copy of standard output
        for nth in {1..16}; do
            FAULT_CALL=close FAULT_NTH=$nth FAULT=122 LD_PRELOAD=$FAULTS "$tool" input 2>log >lines || true
            ! grep -q "^$tool: <stdout>: Disk quota exceeded$" log || break
        done
        grep -q "^$tool: <stdout>: Disk quota exceeded$" log
    done
}

@test "a page of trace-report is complete, or what is wrong is said" {
    slow_host
    local call nth file failed=0
    trace-report trace probes >page
    for call in mmap fstat read pread; do
        for nth in 1 2 3 4 5 6; do
            ! LD_PRELOAD="$FAULTS" FAULT_IN=trace-report FAULT_CALL=$call FAULT_NTH=$nth FAULT=5 trace-report trace probes 2>said |
                cmp -s page - || continue
            grep -q '^trace-report: .*: Input/output error$' said
            failed=$((failed + 1))
        done
    done
    [ "$failed" -ge 4 ]
    mkdir folder
    mv trace folder/trace.bin
    mv probes folder/usdt.txt
    echo '{"part":"trace","file":"trace.bin","status":"done"}' >folder/parts.jsonl
    cp folder/parts.jsonl folder/rpc.jsonl
    trace-dump -q folder/trace.bin >folder/offcpu.jsonl
    # the first one looks at what the trace is
    nth=2
    for file in usdt.txt parts.jsonl rpc.jsonl offcpu.jsonl; do
        LD_PRELOAD="$FAULTS" FAULT_IN=trace-report FAULT_CALL=pread FAULT_NTH=$nth FAULT=5 status_is 1 trace-report folder
        equal "$stderr" "trace-report: folder/$file: Input/output error"
        grep -qx "unreadable: $file: Input/output error" <<<"$output"
        grep -q '^the slowest requests' <<<"$output"
        # the next one, after its end
        nth=$((nth + 2))
    done
    LD_PRELOAD="$FAULTS" FAULT_IN=trace-report FAULT_CALL=read FAULT_NTH=2 FAULT=5 status_is 1 trace-report folder
    says 'trace-report: folder/usdt.txt: Input/output error'
    grep -qx '  names      none, but addresses: what has those of hosts could not be read' <<<"$output"
}
