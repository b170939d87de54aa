#!/usr/bin/env bats
# The kernel loads every BPF program with each option that changes it. Whether it does also depends on the compiler: $ALSO
# is a build with another one, of which the same is tried.
# shellcheck disable=SC2086 # options are words
# bats file_tags=waits

load helpers

setup_file() {
    [ -z "${ALSO:-}" ] || ALSO=$(realpath "$ALSO")
    # whether BPF is permitted here
    needs_usdt_target
}

teardown() {
    kill_left started
    remove_cgroup
}

# Runs a tool, which must say that it has started. Events that it misses then say nothing of loading.
loads() { # TOOL [ARGUMENT]...
    local build status
    for build in "$BIN" ${ALSO:+"$ALSO"}; do
        [ -x "$build/$1" ] || lacks "$1 was not built"
        status=0
        timeout 100 "$build/$1" "${@:2}" >/dev/null 2>err || status=$?
        if [ "$status" -gt 1 ] || ! grep -qE "^$1: (adding up|recording|started|tracing) " err; then
            echo "$build: $*: exit $status"
            cat err
            return 1
        fi
    done
}

# Starts a process that any tool may record.
start_any() {
    sleep 1000 3>&- &
    started=$!
}

@test "biosnoop" {
    start_any
    AS_LINUX=6.1 loads biosnoop 0.1
    for options in '' -P "-p $started" '-Q --min-ms 1'; do
        loads biosnoop $options 0.1
    done
}

@test "ipcsnoop" {
    start_any
    loads ipcsnoop -- true
    for options in '' -s -e -w -j; do
        loads ipcsnoop $options -D 0.1 -p "$started"
        loads ipcsnoop $options -D 0.1 --name sleep
    done
}

@test "offcpusnoop" {
    start_any
    for options in '' -k '-m 10'; do
        loads offcpusnoop $options -p "$started" 0.1
    done
    loads offcpusnoop -- true
}

@test "offwaketime" {
    start_any
    for options in '' -U --no-open "-p $started"; do
        loads offwaketime $options 0.1
    done
}

# The verifier removes what it takes for dead code.
@test "offwaketime has all of its code with -c" {
    [ -x "$BIN/offwaketime" ] || lacks 'offwaketime was not built'
    make_cgroup
    # the root has all threads
    for build in "$BIN" ${ALSO:+"$ALSO"}; do
        timeout 100 "$build/offwaketime" -j -c "${cgroup%/*}" 3 >lines 2>err &
        started=$!
        while kill -0 "$started" 2>/dev/null; do
            blocked-target sleeps=5 </dev/null >/dev/null
        done
        take_lost
        # one that waits at the start is found by other code
        [ "$(jq -s 'map(select(.target.comm == "sleeper").count) | add' lines)" -ge 5 ] || { echo "$build"; cat err; return 1; }
    done
}

@test "usdt-record" {
    for AS_LINUX in '' 6.1; do
        export AS_LINUX
        loads usdt-record -e 'inlined(where)' -- usdt-target sites
        loads usdt-record -e 'inlined(where)' -D 0.1 "$BIN/usdt-target"
    done
}
