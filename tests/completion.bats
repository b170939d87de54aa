#!/usr/bin/env bats
# What shells offer for the last word of a command line: the options that -h has, and what follows them.
# bats file_tags=plain

load helpers

COMPLETION=$ROOT/docs/completion

# As each of these prints, a line each: what a shell offers for the last of the words.
bash_offers() { # WORD...
    # shellcheck disable=SC2016 # the other shell expands it
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _spdk_trace_tools "$1"; printf "%s\n" "${COMPREPLY[@]}"' \
        bash "$COMPLETION/spdk-trace-tools.bash" "$@"
}

fish_offers() {
    mkdir -p data/fish/vendor_completions.d
    cp "$COMPLETION/spdk-trace-tools.fish" "data/fish/vendor_completions.d/$1.fish"
    # shellcheck disable=SC2016
    HOME=$PWD XDG_DATA_DIRS=$PWD/data fish -c 'complete -C "$argv"' "$@" | cut -f 1
}

# A zsh at a terminal, as it has no other way: it notes what is added to the matches.
zsh_offers() {
    mkdir -p functions
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
zpty -w shell 'offered() { print END >>offered }; zle -N offered; bindkey "^X" offered; print READY >>offered'
until grep -qs READY offered; do sleep 0.02; done
: >offered
zpty -w -n shell "$*"$'\t\x18'
until grep -q END offered; do sleep 0.02; done
zpty -d shell
Z
    rm -f offered
    timeout 20 zsh -f session "$@" || return
    grep -v -x -e END -e '' offered | sort -u
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
    equal "$($offers trace-dump --l | sort)" '--lag
--lcore'
    sleep 60 3>&- &
    for option in -p --pid; do
        $offers trace-dump "$option" $! | grep -x $!
    done
    kill $!
    touch lines.txt
    # bash itself completes files where there is nothing else
    for words in 'trace-join -l' 'trace-join --lifetimes' trace-dump; do
        # shellcheck disable=SC2086 # they are words
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
    bash_offers trace-dump --pid = "$$" | grep -x "$$"
    bash_offers trace-dump --pid = | grep -x "$$"
}

@test "zsh completes" {
    completes zsh
    if command -v ipcsnoop >/dev/null; then
        zsh_offers ipcsnoop -e timeo | grep -x timeout
    fi
}

@test "fish completes" {
    completes fish
    if command -v ipcsnoop >/dev/null; then
        fish_offers ipcsnoop -e timeo | grep -x timeout
        # with what -h says of an option, colons and all
        # shellcheck disable=SC2016
        HOME=$PWD XDG_DATA_DIRS=$PWD/data fish -c 'complete -C "ipcsnoop --buf"' |
            grep -x -e $'--buffer\t.*: bytes, or with K, M or G; .*'
    fi
}
