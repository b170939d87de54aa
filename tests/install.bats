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

@test "make dist packs the committed sources, without git the folder, and fails when it cannot" {
    command -v git >/dev/null || skip 'git is not here'
    archive=build/spdk-trace-tools-$(sed -n 's/^VERSION := //p' "$SOURCE/Makefile").tar.gz
    mkdir -p one two/further no
    # the sources in a repository of their own, whatever the state of this one
    tar -c -C "$SOURCE" --exclude=./build --exclude=./.git . | tar -x -C one
    (cd one && git init -q && git add -A && git -c user.name=x -c user.email=x@localhost commit -q -m x)
    touch one/not-committed
    make -s -C one dist
    tar -tzf one/"$archive" >list
    run -1 grep not-committed list
    equal "$(grep -c /Makefile list)" 1
    # from the archive itself, at another time and place: the same bytes
    tar -xzf one/"$archive" -C two/further --strip-components=1
    sleep 1
    (umask 077; make -s -C two/further dist 2>log)
    grep -q 'no git checkout' log
    cmp one/"$archive" two/further/"$archive"
    TZ=Asia/Tokyo SOURCE_DATE_EPOCH=1000000000 make -s -C one dist
    equal "$(TZ=UTC tar -tvzf "one/$archive" | grep -c '2001-09-09 01:46')" "$(wc -l <list)"
    # a repository without a commit
    cp -r two/further/. no
    git init -q no
    rm -f no/"$archive"
    run ! make -s -C no dist
    [ ! -e no/"$archive" ]
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
