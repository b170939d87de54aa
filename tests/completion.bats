#!/usr/bin/env bats
# What shells offer for the last word of a command line: the options that -h has, and what follows them.
# shellcheck disable=SC2086 # options are words
# bats file_tags=plain

load helpers

TRACE=/dev/shm/mktrace_trace.pid$$

teardown() {
    kill_left zsh
    rm -f "$TRACE"
}

COMPLETION=$ROOT/docs/completion

# As each of these prints, a line each: what a shell offers for the last of the words.
bash_offers() { # WORD...
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _spdk_trace_tools "$1"; printf "%s\n" "${COMPREPLY[@]}"' \
        bash "$COMPLETION/spdk-trace-tools.bash" "$@"
}

# Whether no files are offered for a word after these.
bash_forbids_files() { # WORD...
    bash -c '. "$1"; compopt() { echo "$*"; }; COMP_WORDS=("${@:2}" x); COMP_CWORD=$(($# - 1)); _spdk_trace_tools "$2"' \
        bash "$COMPLETION/spdk-trace-tools.bash" "$@" | grep -qx -e '+o default'
}

fish_offers() {
    mkdir -p data/fish/vendor_completions.d
    cp "$COMPLETION/spdk-trace-tools.fish" "data/fish/vendor_completions.d/$1.fish"
    HOME=$PWD XDG_DATA_DIRS=$PWD/data fish -c 'complete -C "$argv"' "$@" | cut -f 1
}

# Starts a zsh at a terminal, as it has no other way: it notes what is added to the matches, for each line of words.
start_zsh() {
    mkdir functions
    mkfifo words matches
    # as make install does
    sed "s/^#compdef$/& $(tools | paste -sd ' ')/" "$COMPLETION/_spdk-trace-tools" >functions/_spdk-trace-tools
    cat >session <<'Z'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "fpath=(${(q)PWD}/functions \$fpath) PS1=; setopt extendedglob; autoload -Uz compinit; compinit -u -D"
zpty -w shell 'compadd() {
    local -a matches
    if [[ " $* " != *" -"[a-zA-Z]#[AOD]" "* ]]; then
        builtin compadd -O matches "$@"
        print -l -- $matches >>offered
    fi
    builtin compadd "$@"
}'
zpty -w shell 'offered() { print END >>offered }; zle -N offered; bindkey "^_" offered; print READY >>offered'
# what it prints is read, so that it never waits for that
wait_for() {
    until grep -qs $1 offered; do
        while zpty -r -t shell printed; do :; done
        sleep 0.02
    done
}
wait_for READY
while IFS= read -r line; do
    : >offered
    # with a key that no longer sequence begins with, for the rest of which zsh would wait
    zpty -w -n shell "$line"$'\t\x1f'
    wait_for END
    cat offered >matches
    # for the next line it is empty
    zpty -w -n shell $'\x15'
done
zpty -d shell
Z
    zsh -f session <words 3>&- &
    # shellcheck disable=SC2034 # kill_left uses it
    zsh=$!
    exec {zsh_words}>words
}

zsh_offers() { # WORD...
    echo "$*" >&"$zsh_words"
    timeout 60 grep -v -x -e END -e '' matches | sort -u
}

has_shell() {
    command -v "$1" >/dev/null || lacks "$1 is not here"
    [ "$1" != zsh ] || needs_terminal
}

# Checks one shell.
completes() { # SHELL
    local offers=$1_offers
    has_shell "$1" || return
    for tool in $(tools); do
        "$tool" -h | sed -n 's/^  *\(-[^-]\), \(--[a-z-]*\).*/\1\n\2/p; s/^  *\(--[a-z-]*\).*/\1/p' | LC_ALL=C sort >want
        [ -s want ]
        $offers "$tool" - | LC_ALL=C sort >got
        diff want got
    done
    equal "$($offers trace-dump --re | sort)" '--record
--requests'
    sleep 60 3>&- &
    $offers usdt-gen -p $! | grep -x $!
    # no trace, and one that it has mapped
    $offers trace-dump -p $! >offered-pids || true
    equal "$(grep -x $! offered-pids)" ''
    kill $!
    mktrace -w 60 -l G6 -n 4096 -o "$TRACE" "$DATA/sample.jsonl" 3>&- &
    until grep -qs "$TRACE" /proc/$!/maps; do sleep 0.02; done
    for words in 'trace-dump -p' 'trace-dump --pid' 'trace-record -p'; do
        $offers $words $! | grep -x $!
    done
    kill $!
    rm "$TRACE"
    equal "$($offers trace-spans -k ty)" 'type='
    equal "$($offers trace-causes --key ty)" 'type='
    equal "$($offers trace-causes -g b | sort | paste -sd ' ')" 'bdev blocks bytes'
    $offers trace-spans -k '' >spans
    sed -n 's,=,,p' spans >span-keys
    $offers trace-latency -g '' >keys
    equal "$(sort keys span-keys | grep -cx type)" 2
    # what is offered is in the pages
    while read -r key; do
        grep -qE "^\.(It Cm (.* , )?|Cm (.* , )?|Ql )${key##*.}( |,|=|$)" "$ROOT"/docs/{spdk-trace-lines.7,trace-latency.1,qpair-lifetimes.1} || { echo "$key"; return 1; }
    done < <(sort -u keys span-keys)
    touch lines.txt
    # bash itself completes files where there is nothing else
    for words in 'trace-join -l' 'trace-join --lifetimes' trace-dump; do
        equal "$words: $($offers $words lin)" "$words: $([ "$1" = bash ] || echo lines.txt)"
    done
    # neither files nor options follow what is a number
    [ "$1" = bash ] || equal "$($offers trace-dump --since lin)" ''
    if command -v biosnoop >/dev/null; then
        for disk in /sys/block/*; do
            [ ! -e "$disk" ] || $offers biosnoop -d "${disk##*/}" | grep -x "${disk##*/}"
            break
        done
    fi
}

@test "bash completes" {
    completes bash
    # bash makes three words of it
    bash_offers usdt-gen --pid = "$$" | grep -x "$$"
    bash_offers usdt-gen --pid = | grep -x "$$"
    # files follow only where one is expected
    for words in 'trace-dump -p' 'trace-dump --since'; do
        bash_forbids_files $words
    done
    for words in trace-dump 'trace-dump --clock' 'trace-join -l' 'trace-record -o'; do
        ! bash_forbids_files $words || return 1
    done
    # in a list, with names that cannot drive the terminal
    bash -c 'printf "a\e[2Jb" >/proc/$$/comm; exec 3>&-; sleep 60 & echo $! >child; wait' &
    until [ -s child ]; do sleep 0.02; done
    COMP_TYPE=63 bash_offers usdt-gen -p '' >listed
    kill "$(<child)"
    grep -x "$! (a?\[2Jb)" listed
}

@test "zsh completes" {
    has_shell zsh
    start_zsh
    completes zsh
    if command -v ipcsnoop >/dev/null; then
        zsh_offers ipcsnoop -e timeo | grep -x timeout
    fi
}

@test "fish completes" {
    completes fish
    # an option is described once, not with each of its words
    equal "$(HOME=$PWD XDG_DATA_DIRS=$PWD/data fish -c 'complete -C "trace-spans -k ty"')" type=
    if command -v ipcsnoop >/dev/null; then
        fish_offers ipcsnoop -e timeo | grep -x timeout
        # with what -h says of an option, colons and all
        HOME=$PWD XDG_DATA_DIRS=$PWD/data fish -c 'complete -C "ipcsnoop --buf"' |
            grep -x -e $'--buffer\t.*: bytes, or with K, M or G; .*'
    fi
}
