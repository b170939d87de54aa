#!/usr/bin/env bats
# What "make install" and "make static" leave behind.
# bats file_tags=plain,long

load helpers
load builds

TRACE=/dev/shm/mktrace_trace.pid$$

teardown() {
    kill_left writer
    rm -f "$TRACE"
}

# From what was built, so that nothing is built below other tests.
install_to() { # TARGET NAME=VALUE...
    make -s -C "$ROOT" B=build WERROR="$(grep -o -m 1 -w -e -Werror "$BIN/flags")" "$@" MAKEFLAGS= >log 2>&1 || { cat log; return 1; }
}

@test "tools, pages and completions go to DESTDIR, work from there, and go away again" {
    # a path that shells divide
    install_to install DESTDIR="$PWD/ro'o t" PREFIX=/usr
    ln -s "ro'o t" root
    for tool in root/usr/bin/*; do
        "$tool" -V
        [ -s "root/usr/share/man/man1/${tool##*/}.1" ]
        [ -s "root/usr/share/bash-completion/completions/${tool##*/}" ]
        [ -s "root/usr/share/fish/vendor_completions.d/${tool##*/}.fish" ]
    done
    # what each shell looks for
    equal "$(sed -n 1p root/usr/share/zsh/site-functions/_spdk-trace-tools)" "#compdef $(tools | paste -sd ' ')"
    equal "$(bash -c '. "$1"; complete -p' - root/usr/share/bash-completion/completions/trace-dump)" \
        'complete -o default -F _spdk_trace_tools trace-dump'
    equal "$(ls root/usr/share/man/man7)" 'spdk-trace-lines.7
spdk-trace-tools.7'
    mktrace "$DATA/common.jsonl" >trace
    root/usr/bin/trace-dump trace >lines
    [ -s lines ]
    # the documents: what these name is there, and the tutorial's samples are where it says
    doc=$PWD/root/usr/share/doc/spdk-trace-tools
    grep -q 'Redistribution and use' "$doc/LICENSE"
    for page in README.md docs/tutorial.md docs/sql.md docs/questions.md docs/comparison.md docs/requirements.md; do
        for name in $(grep -o '](\(docs/\)\?[a-z-]*\.\(md\|svg\|png\|jq\))' "$doc/$page" | tr -d ']()'); do
            [ -s "$doc/$(dirname "$page")/$name" ]
        done
    done
    sed -n 's|^    \(.*\)\.\.\./spdk-trace-tools/\([^ ]*\)|\1"$1/\2"|p' "$doc/docs/tutorial.md" >samples
    equal "$(wc -l <samples)" 2
    bash -e samples "$doc"
    root/usr/bin/trace-dump -q nvmf_trace.pid1234 | root/usr/bin/trace-join -j -l <(root/usr/bin/qpair-lifetimes usdt.txt) >named
    grep -q db-1 named
    install_to uninstall DESTDIR="$PWD/ro'o t" PREFIX=/usr
    equal "$(find root/ -type f)" ''
}

@test "PROGRAM_PREFIX goes before names that other packages use, everywhere" {
    local prefixed tool
    prefixed=$(sed -n 's/^PREFIXED ?= //p' "$ROOT/Makefile")
    for tool in $prefixed; do
        command -v "$tool" >/dev/null || skip "$tool was not built"
    done
    install_to install DESTDIR="$PWD/plain" PREFIX=/usr
    install_to install DESTDIR="$PWD/root" PREFIX=/usr PROGRAM_PREFIX=spdk-
    # the same files, but for these names; and the rest is called what it was
    rename='s/\<\(biosnoop\|offwaketime\|ipcsnoop\)\>/spdk-&/g'
    same_lines "cd plain && find . -type f | sed '$rename' | sort" 'cd root && find . -type f | sort'
    equal "$(find root -name 'spdk-*snoop*' -o -name 'spdk-offwaketime*' | wc -l)" 12
    for tool in biosnoop offwaketime ipcsnoop; do
        equal "$(root/usr/bin/spdk-$tool -V | cut -d ' ' -f 1)" spdk-$tool
        [[ $(root/usr/bin/spdk-$tool -h) == "Usage: spdk-$tool [OPTION]..."* ]]
        status_is 2 root/usr/bin/spdk-$tool --nonsense
        says "Try 'spdk-$tool --help'"
        page=root/usr/share/man/man1/spdk-$tool.1
        grep -q "^\.Nm spdk-$tool$" "$page"
        grep -q "^\.Dt SPDK-${tool^^} 1$" "$page"
    done
    # references, lists of completions
    run -1 grep -rE --exclude-dir=doc '(^|[^-])\<(biosnoop|offwaketime|ipcsnoop)\>' root/usr/share
    run -1 grep -r --exclude-dir=doc 'spdk-spdk-' root/usr/share
    grep -q '^\.Xr spdk-biosnoop 1' root/usr/share/man/man7/spdk-trace-tools.7
    install_to uninstall DESTDIR="$PWD/root" PREFIX=/usr PROGRAM_PREFIX=spdk-
    equal "$(find root -type f)" ''
}

@test "make dist packs the committed sources, without git the folder, and fails when it cannot" {
    command -v git >/dev/null || skip 'git is not here'
    archive=build/spdk-trace-tools-$(sed -n 's/^VERSION := //p' "$ROOT/Makefile").tar.gz
    mkdir -p two/further no
    # the sources in a repository of their own, whatever the state of this one
    copy_sources one
    (cd one && git init -q && git add -A && git -c user.name=x -c user.email=x@localhost commit -q -m x)
    touch one/not-committed
    make -s -C one dist
    tar -tzf one/"$archive" >list
    run -1 grep not-committed list
    equal "$(grep -c "/Makefile$" list)" 1
    # from the archive itself, at another time and place: the same bytes
    tar -xzf one/"$archive" -C two/further --strip-components=1
    wait_for sh "[ \$(date +%s) -gt $(stat -c %Y one/"$archive") ]"
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

@test "-V has the commit of a checkout, unless it is a release" {
    command -v git >/dev/null || skip 'git is not here'
    local version
    version="trace-dump (spdk-trace-tools) $(sed -n 's/^VERSION := //p' "$ROOT/Makefile")"
    # it is about what is built, not how
    export CFLAGS=-O0
    copy_sources one
    commit() { git -C one -c user.name=x -c user.email=x@localhost commit -q --allow-empty -m "$1"; }
    made() { make --no-print-directory -C one MAKEFLAGS= build/trace-dump | awk '{ print $1 }' | sort | uniq -c | xargs; }
    made >log
    equal "$(one/build/trace-dump -V)" "$version"
    git init -q one
    git -C one add -A
    for n in 1 2; do
        commit $n
        # nothing else is compiled
        equal "$(made)" '1 CC 1 LINK'
        equal "$(one/build/trace-dump -V)" "$version (commit $(git -C one rev-parse --short=12 HEAD))"
        equal "$(made | grep -c CC || true)" 0
    done
    git -C one -c user.name=x -c user.email=x@localhost tag -a -m x "v${version##* }"
    made >log
    equal "$(one/build/trace-dump -V)" "$version"
    # nor has a folder in a checkout one, such as that of a package
    mkdir one/build/inside
    git -C one archive HEAD | tar -x -C one/build/inside
    git -C one tag -d "v${version##* }" >log
    make -s -C one/build/inside MAKEFLAGS= build/trace-dump >log
    equal "$(one/build/inside/build/trace-dump -V)" "$version"
}

@test "one static file is all tools, and needs nothing" {
    local file=$PWD/static/spdk-trace
    # what is linked is looked at, not how fast it is
    env MAKEFLAGS= make -s -j2 -C "$ROOT" static WERROR= CFLAGS=-O0 B="$PWD/static" >log 2>&1 || { cat log; return 1; }
    run -1 grep NEEDED <(readelf -d "$file")
    # some libraries are not everywhere as archives
    for tool in $(tools); do
        "$file" -h | grep -qx "  $tool" || grep -q "left out $tool: needs " log
    done
    status_is 2 "$file" no-tool
    says 'spdk-trace: no-tool: no such tool'
    mkdir root
    cp "$file" root
    ln -s spdk-trace root/trace-join
    mktrace "$DATA/common.jsonl" >root/trace
    trace-dump root/trace >want
    "$file" trace-dump root/trace | cmp - want
    # what a tool starts is inside, too
    mktrace -w 60 -o "$TRACE" "$DATA/common.jsonl" &
    writer=$!
    wait_for sh "trace-dump -i $TRACE"
    run env PATH=/ "$PWD/root/spdk-trace" trace-record -q -p $writer -o recording 0.2
    kill "$writer"
    equal "$(jq -r 'select(.part == "trace").status' recording/parts.jsonl)" 'done'
    if chroot root /spdk-trace trace-dump -V; then
        chroot root /spdk-trace trace-dump /trace | cmp - want
        chroot root /spdk-trace trace-dump /trace | chroot root /trace-join >text
        trace-join want | cmp - text
    fi
    pod "$PWD/root"
}

# A target in a pod with processes, users, network and /dev/shm of its own, and beside it this root, which has no shell
# and no capabilities but those of its user namespace: BPF is refused.
pod() { # ROOT
    local began=$SECONDS
    unshare -Urmpnf --mount-proc --propagation private true 2>/dev/null || skip 'no namespaces here'
    gzip -dc "$DATA/slow-host.trace.gz" >slow
    for options in -i -d -O -q; do trace-dump $options slow; done >lines
    mkdir "$1/proc" "$1/tmp"
    cat >inside <<'END'
set -e
mount -t tmpfs none /dev/shm
mktrace -w 600 -n 65536 -p 5000 -o /dev/shm/nvmf_trace.pid1 lines 3>&- & target=$!
until grep -q nvmf_trace "/proc/$target/maps"; do sleep 0.05; done
export target root=$1
unshare -m --propagation private bash -c '
    mount -t proc none "$root/proc"
    umount /dev/shm
    tool() { unshare -R "$root" /spdk-trace "$@"; }
    tool trace-record -p "$target" -o /tmp/rec 2 2>record.err
    tool trace-report /tmp/rec >page
    tool trace-report -p "$target" >live
    lacking() { setpriv --bounding-set -sys_ptrace --inh-caps -sys_ptrace unshare -R "$root" /spdk-trace "$@"; }
    lacking trace-record -o /tmp/none 1 2>>lacking.err || echo $? >>lacking.err
    lacking trace-record -p "$target" -o /tmp/none 1 2>>lacking.err || echo $? >>lacking.err
    lacking trace-dump -p "$target" 2>>lacking.err || echo $? >>lacking.err
'
kill $target
END
    unshare -Urmpnf --mount-proc --propagation private bash inside "$1"
    [ $((SECONDS - began)) -lt 60 ]
    # whether that is the cause depends on where in the trace its copies begin and end
    grep ' waited for buffers .* held by 127.0.0.1:43702$' page
    grep ' waited for buffers .* held by 127.0.0.1:43702$' live
    grep 'offcpu: not recorded: the kernel refuses BPF programs' record.err
    grep -x 'trace-record: no process has mapped an SPDK trace that can be seen: CAP_SYS_PTRACE is missing' lacking.err
    grep 'trace-record: process .*: what it has mapped can be seen by its user, or with CAP_SYS_PTRACE' lacking.err
    grep 'trace-dump: no trace of process .*: it can only be read by its user, or with CAP_SYS_PTRACE' lacking.err
    equal "$(grep -cx 1 lacking.err)" 3
}
