#!/usr/bin/env bats
# What usdt-gen writes, and what it finds in binaries, processes and sources.
# bats file_tags=sanitizers

load helpers

setup() {
    command -v usdt-gen >/dev/null || lacks 'usdt-gen was not built: libelf is missing'
    enter
}

needs_target() {
    command -v usdt-target >/dev/null || lacks 'usdt-target was not built: sys/sdt.h is missing'
}

@test "without options: the program that SPDK's trace.py -g prints" {
    cat >want <<'B'
usdt:__EXE__:nvmf_poll_group_add_qpair {printf("nvmf_poll_group_add_qpair: tsc=0x%lx, qpair=0x%lx, thread=0x%lx\n", arg0, arg1, arg2);}
usdt:__EXE__:nvmf_poll_group_remove_qpair {printf("nvmf_poll_group_remove_qpair: tsc=0x%lx, qpair=0x%lx, thread=0x%lx\n", arg0, arg1, arg2);}
usdt:__EXE__:nvmf_ctrlr_add_qpair {printf("nvmf_ctrlr_add_qpair: tsc=0x%lx, qpair=0x%lx, qid=0x%lx, subnqn='%s', hostnqn='%s'\n", arg0, arg1, arg2, str(arg3), str(arg4));}
B
    usdt-gen | cmp - want
}

@test "specs: types, skipped arguments, a provider, no arguments" {
    status_is 0 usdt-gen -e 'a(x, _, y:str , z:int)' -e 'p:b ( )' -e 'c(_,_)'
    equal "$output" 'usdt:__EXE__:a {printf("a: x=0x%lx, y='"'%s'"', z=0x%lx\n", arg0, str(arg2), arg3);}
usdt:__EXE__:p:b {printf("b: \n");}
usdt:__EXE__:c {printf("c: \n");}'
}

@test "a malformed spec is a usage error" {
    while IFS='|' read -r spec what; do
        status_is 2 usdt-gen -e "$spec"
        says "usdt-gen: -e '$spec': $what"
    done <<'E'
|the name of a probe is expected
1a(x)|the name of a probe is expected
a|a list of arguments is expected
a(|the name of an argument is expected
a(x|a comma or ) is expected
a(x,)|the name of an argument is expected
a(x y)|a comma or ) is expected
a(x:float)|the type of an argument is int or str
a(x,x)|two arguments have the same name
a(x) b|something follows the )
p:(x)|the name of a probe is expected after its provider
a(b,c,d,e,f,g,h,i,j,k,l,m,n)|a probe has at most 12 arguments
E
}

@test "the probes of a binary" {
    needs_target
    usdt-gen -l -x "$BIN/usdt-target-static" >list
    # the C library of some distributions has probes as well
    equal "$(grep -c '^spdk:' list)" 16
    for line in 'spdk:inlined(u64) sites=3 semaphore=no' 'spdk:guarded(s32,u64) sites=2 semaphore=yes' \
        'spdk:sizes(s8,u8,s16,u16,s32,u32,s64,u64,s32,s32,s64,u64) sites=1 semaphore=no' \
        'spdk:with_float(u32,f64) sites=1 semaphore=no'; do
        grep -qxF "$line $BIN/usdt-target-static" list
    done
}

@test "a binary without probes, and files that are none" {
    status_is 1 usdt-gen -x "$BIN/usdt-gen"
    equal "$stderr" "usdt-gen: $BIN/usdt-gen: there are no probes; SPDK has them when configured with --with-usdt"
    status_is 1 usdt-gen -l -x "$BIN/usdt-gen"
    equal "$output" ''
    equal "$stderr" "usdt-gen: $BIN/usdt-gen: there are no probes"
    status_is 1 usdt-gen -l -x "$BIN/usdt-gen" -x "$BIN/usdt-gen"
    equal "$stderr" "usdt-gen: $BIN/usdt-gen: there are no probes, nor in the other files"
    fails_only "usdt-gen: $DATA/common.jsonl: not an ELF file" usdt-gen -x "$DATA/common.jsonl"
    fails_only 'usdt-gen: missing: No such file or directory' usdt-gen -l -x missing
    mkfifo pipe
    status_is 1 usdt-gen -l -x pipe
}

@test "specs are checked against a binary" {
    needs_target
    # bpftrace cannot be given just any path
    target=usdt-target-static
    cp "$BIN/$target" .
    cp "$target" 'a copy'
    status_is 0 usdt-gen -x 'a copy'
    equal "$(head -n 1 <<<"$output")" "usdt:\"a copy\":nvmf_poll_group_add_qpair {printf(\"nvmf_poll_group_add_qpair: tsc=0x%lx, qpair=0x%lx, thread=0x%lx\n\", arg0, arg1, arg2);}"
    while IFS='|' read -r spec what; do
        status_is 1 usdt-gen -x "$target" -e 'inlined(ok)' -e "$spec"
        equal "$output" ''
        says "usdt-gen: $target: $what"
    done <<'E'
missing(x)|there is no probe missing; usdt-gen -l lists those that are there
other:cold(x)|there is no probe other:cold
cold(x,y,z)|probe cold has 2 arguments; 'z' would be number 2, counted from 0
with_float(n,load)|probe with_float has a floating-point number (
sizes(_,_,_,name:str)|probe sizes has u16 as argument 3, 'name': that is not a string's address
E
    status_is 0 usdt-gen -x "$target" -e 'with_float(n,_)' -e 'cold(x,y:str,_)'
}

@test "the path of the file that holds a probe, in a library too" {
    needs_target
    # bpftrace cannot be given just any path
    mkdir programs
    cp "$BIN"/{usdt-target,libusdt-target.so} programs
    status_is 0 usdt-gen -x programs/usdt-target -x programs/libusdt-target.so -e 'guarded(n)' -e 'cold(n)'
    equal "$output" 'usdt:programs/libusdt-target.so:guarded {printf("guarded: n=0x%lx\n", arg0);}
usdt:programs/usdt-target:cold {printf("cold: n=0x%lx\n", arg0);}'
    start programs/usdt-target wait
    status_is 0 usdt-gen -p "$started" -e 'guarded(n)' -e 'cold(n)'
    equal "$output" "usdt:$PWD/programs/libusdt-target.so:guarded {printf(\"guarded: n=0x%lx\n\", arg0);}
usdt:$PWD/programs/usdt-target:cold {printf(\"cold: n=0x%lx\n\", arg0);}"
    cp "$BIN/usdt-target-static" 'a"quote'
    status_is 1 usdt-gen -x 'a"quote'
    says 'a"quote: bpftrace cannot be given a path with such characters'
    status_is 0 usdt-gen -l -p "$started"
    equal "$(grep -c '^spdk:' <<<"$output")" 16
    exec {go}>&-
    wait
    fails "usdt-gen: process $started: does not exist" usdt-gen -p "$started"
}

@test "a process that has mapped many bad files" {
    mkdir bad
    # more than there can be libraries, each an ELF file that ends in its header
    head -c 32 "$BIN/usdt-gen" >heads
    for _ in $(seq 13); do
        cat heads heads >twice
        mv twice heads
    done
    head -c $((5000 * 32)) heads | split -b 32 -a 4 -d - bad/
    start mapping-target 1 5000 bad/*
    status_is 1 usdt-gen -l -p "$started"
    kill "$started"
    equal "$(grep -c 'bad/[0-9]*: probes in this file are not found: ' <<<"$stderr")" 8
    equal "$(grep -v bad/ <<<"$stderr")" \
        'usdt-gen: mapping-target: more than 4096 files are mapped as code: probes in the others are not found
usdt-gen: mapping-target: nor those in 4087 more files'
    exec {go}>&-
    start mapping-target 1 9 bad/000[1-9]
    status_is 1 usdt-gen -l -p "$started"
    equal "$(tail -n 1 <<<"$stderr")" 'usdt-gen: mapping-target: nor those in 1 more file'
    kill "$started"
}

@test "a mapped file that cannot be opened is an error" {
    needs_target
    local unprivileged=()
    [ "$(id -u)" != 0 ] || unprivileged=(setpriv --bounding-set -all)
    cp "$BIN/usdt-target-static" gone
    mkfifo go
    "${unprivileged[@]}" ./gone wait <go >out &
    exec {go}>go
    wait_for_text ready out
    status_is 0 "${unprivileged[@]}" usdt-gen -l -p $!
    [ -n "$output" ]
    rm gone
    # the mapping itself takes a privilege
    fails 'gone (deleted): probes in this file are not found: ' "${unprivileged[@]}" usdt-gen -l -p $!
    exec {go}>&-
    wait
}

@test "a path that bpftrace reads only in quotes" {
    needs_target
    ln -s "$BIN/usdt-target-static" 'a b'
    status_is 0 usdt-gen -x 'a b' -e 'cold()'
    equal "$output" 'usdt:"a b":cold {printf("cold: \n");}'
}

@test "a path that would become a part of the program, or that a terminal would obey" {
    needs_target
    for name in 'a" {exit()} usdt:"b' 'a\b' $'a\e[31mb'; do
        cp "$BIN/libusdt-target.so" "$name"
        status_is 1 usdt-gen -x "$name" -e 'guarded(_)'
        equal "$output" ''
        says 'bpftrace cannot be given a path with such characters'
        [[ $stderr != *$'\e'* ]]
        rm "$name"
    done
    echo x >$'no\eELF'
    status_is 1 usdt-gen -l -x $'no\eELF'
    [[ $stderr != *$'\e'* ]]
}
