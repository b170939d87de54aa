#!/usr/bin/env bats
# What "make install" and "make static" leave behind.

load helpers

SOURCE=$BATS_TEST_DIRNAME/..

setup() {
    cd "$BATS_TEST_TMPDIR" || exit
    # the build may be one with other options
    [ "$BIN" = "$(realpath "$SOURCE")/build" ] || skip 'only of a build without options'
}

install_to() {
    make -s -C "$SOURCE" "$@" MAKEFLAGS= >log 2>&1 || { cat log; return 1; }
}

@test "tools, pages and completions go to DESTDIR, work from there, and go away again" {
    install_to install DESTDIR="$PWD/root" PREFIX=/usr
    for tool in root/usr/bin/*; do
        "$tool" -V
        [ -s "root/usr/share/man/man1/${tool##*/}.1" ]
        [ -s "root/usr/share/bash-completion/completions/${tool##*/}" ]
    done
    equal "$(ls root/usr/share/man/man7)" 'spdk-trace-lines.7
spdk-trace-session.7
spdk-trace-tools.7'
    mktrace "$DATA/common.jsonl" >trace
    root/usr/bin/trace-dump trace >lines
    [ -s lines ]
    install_to uninstall DESTDIR="$PWD/root" PREFIX=/usr
    equal "$(find root -type f)" ''
}

@test "static binaries need nothing" {
    install_to static
    mkdir root
    cp "$SOURCE/build/static/trace-dump" "$SOURCE/build/static/trace-join" root
    mktrace "$DATA/common.jsonl" >root/trace
    trace-dump root/trace >want
    "$SOURCE/build/static/trace-dump" root/trace | cmp - want
    if chroot root /trace-dump -V; then
        chroot root /trace-dump /trace | cmp - want
        chroot root /trace-dump /trace | chroot root /trace-join >text
        trace-join want | cmp - text
    fi
}

@test "bash completes options and processes" {
    complete_words() {
        # shellcheck disable=SC2016 # the other shell expands it
        bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _spdk_trace_tools "$1"; printf "%s\n" "${COMPREPLY[@]}"' \
            bash "$SOURCE/docs/completion/spdk-trace-tools.bash" "$@"
    }
    equal "$(complete_words trace-dump --l)" '--lcore
--lag'
    equal "$(complete_words trace-join -j)" '-j'
    complete_words trace-dump -p "$$" | grep -x "$$"
    equal "$(complete_words trace-dump tr)" ''
    # it knows all tools
    equal "$(grep -o 'trace-dump .*' "$SOURCE/docs/completion/spdk-trace-tools.bash")" \
        "$(sed -n 's/#compdef //p' "$SOURCE/docs/completion/_spdk-trace-tools")"
}
