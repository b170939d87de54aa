#!/usr/bin/env bats
# The filters print the same on another processor, and with another C library; the live tools compile for it.
# bats file_tags=plain,long

load helpers
load builds

# Builds the filters with these settings into other/, as binaries that need no library. What tells processors and C libraries
# apart is the same in code that is not optimized.
build() { # NAME=VALUE...
    make -s -j2 -C "$ROOT" MAKEFLAGS= STATIC=1 WERROR= CFLAGS=-O0 B="$PWD/other" "$@"
}

# Runs a filter. 1: there is nothing of what it was asked for, as owners in the oldest layouts.
filter() { # RUNNER COMMAND...
    # shellcheck disable=SC2086 # none, or one
    $1 "${@:2}" || [ $? = 1 ]
}

# All that the filters in a directory print of traces of all layouts, each of them run by RUNNER.
print_all() { # DIRECTORY [RUNNER]
    for trace in *.trace; do
        filter "${2:-}" "$1/trace-dump" -i -d -O "$trace"
        filter "${2:-}" "$1/trace-dump" "$trace" >lines
        filter "${2:-}" "$1/qpair-lifetimes" -q <(cat "$DATA"/sample{,-g3}-probes.txt) >lifetimes
        filter "${2:-}" "$1/trace-join" -l lifetimes lines
        filter "${2:-}" "$1/trace-join" -s -l lifetimes lines
        filter "${2:-}" "$1/trace-join" -j -l lifetimes lines >joined
        filter "${2:-}" "$1/trace-latency" -q -r -g args.qpair.hostnqn joined
        filter "${2:-}" "$1/trace-latency" -q -e lines
        filter "${2:-}" "$1/trace-perfetto" -q lines
        cat lines lifetimes joined
    done
}

# Whether the other build prints what this one does.
prints_the_same() { # [RUNNER]
    mktrace "$DATA/sample.jsonl" >sample.trace
    mktrace -l G3 "$DATA/sample-g3.jsonl" >sample-g3.trace
    mktrace "$DATA/modern.jsonl" >modern.trace
    for layout in $LAYOUTS; do
        mktrace -l "$layout" "$DATA/common.jsonl" >"$layout.trace"
    done
    print_all "$BIN" >want
    print_all other "$@" >got
    [ -s want ]
    cmp want got
}

@test "arm64" {
    command -v aarch64-linux-gnu-gcc >/dev/null || skip 'aarch64-linux-gnu-gcc is not here'
    command -v qemu-aarch64 >/dev/null || skip 'qemu-aarch64 is not here'
    build CC=aarch64-linux-gnu-gcc
    prints_the_same qemu-aarch64
}

# They are run by tests/kernels. What they are linked with is not here, but its headers are this machine's own.
@test "the live tools compile for arm64" {
    command -v aarch64-linux-gnu-gcc >/dev/null || skip 'aarch64-linux-gnu-gcc is not here'
    command -v usdt-record >/dev/null || skip 'the live tools are not even built for this machine'
    local tool program source
    local arm64=(make -s -j2 -C "$ROOT" MAKEFLAGS= WERROR=1 CFLAGS=-O0 "B=$PWD/other" CC=aarch64-linux-gnu-gcc) objects=() programs=()
    for program in "$ROOT"/bpf/*.bpf.c; do
        tool=$(basename "$program" .bpf.c)
        programs+=("$PWD/other/bpf/$tool.skel.h")
        for source in "$ROOT/cmd/$tool/"*.c; do
            objects+=("$PWD/other/cmd/$tool/$(basename "$source" .c).o")
        done
    done
    "${arm64[@]}" "${programs[@]}" "$PWD/other/bpf/syscalls.h"
    "${arm64[@]}" "${objects[@]}"
    # numbers of arm64, by their own name and by another one
    grep -qxF '[63] = "read",' other/bpf/syscalls.h
    grep -qxF '[71] = "sendfile",' other/bpf/syscalls.h
    [ "$(grep -c '^\[[0-9]*\] = "[a-z0-9_]*",$' other/bpf/syscalls.h)" -gt 300 ]
}

@test "musl" {
    command -v musl-gcc >/dev/null || skip 'musl-gcc is not here'
    build CC=musl-gcc
    prints_the_same
}
