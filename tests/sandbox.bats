#!/usr/bin/env bats
# Files of other users: what the tools do when one of them cannot be read, and what the process that reads them may do.
# bats file_tags=alone,waits,plain

load helpers

setup() {
    command -v usdt-gen >/dev/null || lacks 'usdt-gen was not built: libelf is missing'
    command -v usdt-target >/dev/null || lacks 'usdt-target was not built: sys/sdt.h is missing'
    enter
}

teardown() {
    # what waits for its answers ends with it
    kill_left files started recorder reader
    umount -l mounted 2>/dev/null || true
}

mount_hanging() { # FILE [OPENS]
    if [ "$(id -u)" != 0 ] || [ ! -c /dev/fuse ]; then
        skip 'FUSE needs root, and /dev/fuse'
    fi
    unset files
    rm -rf mounted
    mkdir mounted
    hanging-files mounted "$@" >said 2>&1 3>&- &
    files=$!
    wait_for grep -q . said
    grep -q ready said || skip "no file system of FUSE here: $(cat said)"
}

# Starts a process that has mapped a library with probes from a file system, which then stops to answer.
start_hanging() { # SIGNAL [OPENS]
    mount_hanging "$BIN/libusdt-target.so" ${2:+"$2"}
    cp "$BIN/usdt-target-static" "$BIN/libusdt-target.so" .
    # the process itself must not wait for it: it has mapped the file, but does not touch it
    start mapping-target 1 3 mounted/file libusdt-target.so usdt-target-static
    [ -z "$1" ] || kill "-$1" "$files"
}

# Ends both, and what is left of a tool.
end_hanging() {
    local left
    left=$(sed -n 's/.*process \([0-9]*\) waits for it.*/\1/p' log)
    kill -9 "$files" || true
    wait "$files" || true
    [ -z "$left" ] || wait_for sh "! grep '^State:.[^ZX]' /proc/$left/status"
    umount -l mounted
    exec {go}>&-
    wait "$started"
}

# The process that reads files for a tool, and waits for the file system; fails while there is none.
waiting_reader_of() { # TOOL
    local child children
    children=$(cat "/proc/$1/task/"*/children)
    for child in $children; do
        ! grep -qx read-files "/proc/$child/comm" || ! grep -q request_wait_answer "/proc/$child/wchan" || echo "$child"
    done | grep .
}

# Runs a tool until its process that reads files waits for the file system; again where it has seen no process to read:
# some virtual machines hide them from BPF now and then.
start_reading() { # TOOL...
    local try
    for try in 1 2 3 4 5; do
        "$@" >lines 2>log 3>&- &
        recorder=$!
        wait_for reads_or_ended "$recorder"
        ! waiting_reader_of "$recorder" || return 0
        wait "$recorder" || true
    done
    echo "in $try tries nothing was read:"
    cat lines log
    return 1
}

reads_or_ended() { # TOOL
    waiting_reader_of "$1" || ! kill -0 "$1"
}

# Whether the process that reads files was left behind, and the file was named once.
says_hanging() { # TEXT
    cat log
    equal "$(grep -c "mounted/file: $1.*its file system does not answer: process [0-9]* waits for it" log)" 1
}

@test "a file that cannot be opened, or read, does not keep usdt-gen" {
    for signal in USR1 USR2; do
        start_hanging $signal
        status=0
        timeout -k 1 30 usdt-gen -l -p "$started" >lines 2>log || status=$?
        equal "$status" 1
        says_hanging 'probes in this file are not found: '
        # those of the other files are there
        equal "$(grep -c 'sites=.* /.*/libusdt-target.so$' lines) $(grep -c 'sites=.* /.*/usdt-target-static$' lines)" \
            "$(usdt-gen -l -x libusdt-target.so | wc -l) $(usdt-gen -l -x usdt-target-static | wc -l)"
        end_hanging
    done
}

@test "a file that cannot be opened, or read, does not keep usdt-record" {
    (needs_usdt_target; [ -z "${LACKING:-}" ]) || lacks 'usdt-record does not run here'
    for signal in USR1 USR2; do
        start_hanging $signal
        status=0
        timeout -k 1 40 usdt-record -D 0.5 -p "$started" -e 'guarded(n)' >lines 2>log || status=$?
        equal "$status" 1
        says_hanging 'probes in this file are not found: '
        [ "$(grep -c clock: lines)" = 2 ] || grep -q "no clock lines" log
        end_hanging
    done
}

@test "a file that cannot be attached to does not keep usdt-record" {
    (needs_usdt_target; [ -z "${LACKING:-}" ]) || lacks 'usdt-record does not run here'
    # the process opens it, then the one that finds the probes, and then the one that attaches
    for AS_LINUX in '' 6.1; do
        export AS_LINUX
        start_hanging '' 3
        status=0
        timeout -k 1 40 usdt-record -D 0.5 -p "$started" -e 'guarded(n)' >lines 2>log || status=$?
        equal "$status" 1
        says_hanging 'cannot attach to its probes: '
        end_hanging
    done
}

@test "a trace that cannot be opened, or may not answer later, does not keep usdt-record" {
    (needs_usdt_target; [ -z "${LACKING:-}" ]) || lacks 'usdt-record does not run here'
    unshare -m true 2>/dev/null || skip 'no mount namespaces here'
    truncate -s 64K trace
    for signal in USR1 ''; do
        mount_hanging trace
        start unshare -m --propagation private bash -c '
            mount -t tmpfs none /dev/shm
            true >"$1"
            mount --bind mounted/file "$1"
            exec usdt-target trace=$0 wait' $$ "/dev/shm/usdt-target_trace.$$"
        [ -z "$signal" ] || kill "-$signal" "$files"
        status=0
        timeout -k 1 40 usdt-record -D 0.5 -p "$started" >lines 2>log || status=$?
        equal "$status" 1
        why='cannot be opened: its file system does not answer: process [0-9]* waits for it'
        [ -n "$signal" ] || why='is on a file system that may not answer'
        cat log
        equal "$(grep -c "/usdt-target_trace.$$: the trace of process $started $why: its owners are not followed" log)" 1
        [ "$(grep -c clock: lines)" = 2 ] || grep -q "no clock lines" log
        end_hanging
    done
}

@test "a file that cannot be opened, or read, does not keep offwaketime" {
    (needs_to_run offwaketime -q -p $$ -o probed 1; [ -z "${LACKING:-}" ]) || lacks 'offwaketime does not run here'
    for signal in USR1 USR2; do
        start_hanging $signal
        # it is blocked all the time
        status=0
        timeout -k 1 40 offwaketime -f -p "$started" 1 >lines 2>log || status=$?
        says_hanging ''
        [ "$status" = 0 ] || grep -q 'has skipped' log
        # by the names of a library that was mapped before
        grep '^mapping-target;.*read;' lines
        end_hanging
    done
}

@test "a confined process cannot be traced by others of its user" {
    local owner
    [ "$(id -u)" = 0 ] || skip 'not root'
    command -v setpriv >/dev/null || skip 'setpriv is not here'
    cp "$BIN/confined" .
    chmod 755 . confined
    mkfifo go
    # with capabilities of its own, as a tool may have them without root
    setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps +net_admin --ambient-caps +net_admin \
        ./confined stays <go >out &
    started=$!
    exec {go}>go
    wait_for_text dumpable out
    # the kernel shows what cannot be traced as root's
    owner=$(stat -c %U:%a "/proc/$started/environ")
    equal "$(grep -E '^(Uid|CapEff):' "/proc/$started/status" | tr -s '[:space:]' ' ')" 'Uid: 65534 65534 65534 65534 CapEff: 0000000000000000 '
    exec {go}>&-
    wait "$started"
    equal "$owner" root:400
}

@test "offwaketime kills the process that reads files, and takes it along when it is killed" {
    (needs_to_run offwaketime -q -p $$ -o probed 1; [ -z "${LACKING:-}" ]) || lacks 'offwaketime does not run here'
    for killed in '' yes; do
        start_hanging USR2
        start_reading offwaketime -f -p "$started" 1
        reader=$(waiting_reader_of "$recorder")
        # it does not read on when the file system is gone
        kill -STOP "$reader"
        kill -9 "$files"
        wait_for grep -q '^State:.T' "/proc/$reader/status"
        [ -z "$killed" ] || kill -9 "$recorder"
        wait_for test ! -e "/proc/$reader"
        wait "$recorder" || true
        recorder=
        [ -n "$killed" ] || grep -q 'mounted/file: reading it takes too long: functions in it have no names$' log
        end_hanging
    done
}

@test "what a confined process can do" {
    equal "$(confined | sed -n 's/: yes$//p')" "$(printf '%s\n' read memory; ! has_sanitizers || echo much memory; echo file in memory; echo write to a socket)"
    equal "$(confined | sed -n 's/: no$//p')" "$(has_sanitizers || echo much memory; printf '%s\n' 'large file in memory' \
        'another file in memory' code 'change to code' open create \
        'open by handle' socket 'hand over' fork exec kill trace 'other memory' user dumpable)"
}

@test "a process that reads files, and was taken over, does not choose which are read, or named" {
    command -v taken-over >/dev/null || lacks 'taken-over was not built'
    cp "$BIN/libusdt-target.so" stripped
    "${STRIP:-strip}" stripped
    status_is 0 taken-over none stripped
    honest=$output
    [[ $honest == 'known: no
identity: its own
functions: '[1-9]*'
error: none
'* ]]
    status_is 0 taken-over identity stripped
    equal "$output" "$honest"
    # it may keep its own functions back
    status_is 0 taken-over known stripped
    equal "$(grep -v functions: <<<"$output")" "$(grep -v functions: <<<"$honest")"
}

@test "a process that reads files, and was taken over, cannot take more memory than there is, or write to the terminal" {
    command -v taken-over >/dev/null || lacks 'taken-over was not built'
    cp "$BIN/libusdt-target.so" library
    # the text is longer than any
    status_is 0 taken-over 'long error' library
    grep -x 'functions: 0' <<<"$output"
    equal "$(grep -c -e '^error: .*damaged' -e '^probes: library: .*damaged' <<<"$output")" 2
    # more functions than there is room for
    status_is 0 taken-over much library
    [[ $output == *'functions: 0'*'error: the files before it have used up the 256 MiB that are kept'* ]]
    status_is 0 taken-over error library
    equal "$(tail -n +3 <<<"$output")" 'functions: 0
error: \x1b[2J
probes: library: \x1b[2J
probes: 0'
}

@test "a process that reads files, and was taken over, does not choose what is attached to" {
    command -v taken-over >/dev/null || lacks 'taken-over was not built'
    cp "$BIN/libusdt-target.so" library
    cp library other
    status_is 0 taken-over none library mapped
    honest=$output
    [[ $honest == 'its own file, not open: '[1-9]*' probes at '[1-9]* ]]
    # it has read one file, so no other has false probes
    status_is 0 taken-over 'other probes' library mapped
    equal "$output" "$honest"
    status_is 0 taken-over 'another file' library mapped
    grep -qx "probes: taken-over: $PWD/library: probes in this file are not found: it is not the file that is mapped" <<<"$output"
    [[ $output != *' file, '* ]]
}

@test "the process that reads files can do nothing else" {
    start_hanging USR2
    timeout 30 usdt-gen -l -p "$started" >lines 2>log || [ $? = 1 ]
    left=$(sed -n 's/.*process \([0-9]*\) waits for it.*/\1/p' log)
    grep -E '^(Name|Uid|Gid|Groups|Cap...|NoNewPrivs|Seccomp):' "/proc/$left/status" | tr -s '[:space:]' ' '
    equal "$(grep -E '^(Uid|Gid|Groups|CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs|Seccomp):' "/proc/$left/status" | tr -s '[:space:]' ' ')" \
        "Uid: $(stranger "$left") Gid: $(stranger "$left") Groups: CapInh: 0000000000000000 CapPrm: 0000000000000000 CapEff: 0000000000000000 CapAmb: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 "
    # besides the pipe and what it reads, it has the root of the process and its folder, of which it can open nothing
    find "/proc/$left/fd" -type l -printf '%l\n' |
        grep -vx -e 'socket:.*' -e / -e "/proc/$started" -e '.*/mapping-target' -e "$PWD/mounted/file" \
            -e "$PWD/libusdt-target.so" -e "$PWD/usdt-target-static" -e '/.*/lib[^/]*\.so[.0-9]*' -e '/.*/ld-[^/]*' \
            -e '/memfd:scratch (deleted)' >others || [ $? = 1 ]
    cat others
    [ ! -s others ]
    end_hanging
}

@test "files that are slow to open keep those of their device from being read, and no others" {
    command -v slow-files >/dev/null || lacks 'slow-files was not built'
    # the sixth is opened when the time for all of them ends
    equal "$(slow-files 1:2900 1:2900 1:2900 1:2900 1:2900 1:2900 2:0 0:0)" '5: reading it takes too long
0: as the others
1: as the others
2: as the others
3: as the others
4: as the others
6: read
7: read'
}

@test "nothing is read by a process that cannot be confined, but a user's own file" {
    command -v taken-over >/dev/null || lacks 'taken-over was not built'
    local wrong='the process that would read it cannot be confined: close_range(2) failed' user=() tool=taken-over
    cp "$BIN/libusdt-target.so" library
    if [ "$(id -u)" = 0 ]; then
        status_is 0 taken-over 'no close_range' library
        equal "$(grep -c "$wrong$" <<<"$output")" 2
        cp "$BIN/taken-over" .
        chmod 755 .
        tool=./taken-over
        user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
        # it may be anybody's who wants to take over this user's process
        chown 65533 library
        status_is 0 "${user[@]}" "$tool" 'no close_range' library
        equal "$(grep -c "$wrong$" <<<"$output")" 2
        chown 65534 library
    fi
    status_is 0 "${user[@]}" "$tool" 'no close_range' library
    equal "$(grep '^probes' <<<"$output")" 'probes: 2'
    equal "$(grep -c "$wrong$" <<<"$output")" 1
}
