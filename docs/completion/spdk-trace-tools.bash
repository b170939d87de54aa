# SPDX-License-Identifier: BSD-3-Clause
# Completion of the tools' options for bash, which each tool's -h lists, and of what follows them; the rest is files.

# Offers the processes whose ids start with this, with their names where they are listed.
_spdk_trace_processes() { # ID TOOL
    local processes=(/proc/[0-9]*) process name
    # what reads traces wants one that has mapped a trace
    [[ ${2##*/} != trace-* ]] ||
        mapfile -t processes < <(grep -ls 'rw-s.*/dev/shm/.*_trace\.' /proc/[0-9]*/maps 2>/dev/null)
    for process in "${processes[@]}"; do
        process=${process#/proc/} process=${process%%/*}
        [[ $process == "$1"* ]] || continue
        # it may have ended
        { read -r name <"/proc/$process/comm"; } 2>/dev/null || continue
        COMPREPLY+=("$process (${name//[^[:print:]]/?})")
    done
    # the only one is inserted, and so is each in a menu
    [[ ${#COMPREPLY[@]} -gt 1 && ${COMP_TYPE:-37} =~ ^(9|33|63|64)$ ]] || COMPREPLY=("${COMPREPLY[@]%% *}")
}

_spdk_trace_tools() {
    local keys=(
        host queue connection type bdev leg blocks lba qd qpair_qd bytes cid opc status lcore owner poller source id us life
        open cut admin maybe_admin args.qpair.hostnqn args.qpair.subnqn)
    local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]}
    local short long argument expected='' options='' words=()
    # bash makes three words of --option=word
    if [[ $word = = ]]; then
        word=''
    elif [[ $last = = ]]; then
        last=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    while IFS=, read -r short long argument; do
        options+=" $short $long"
        [[ $last != "$long" && $last != "${short:-none}" ]] || expected=$argument
    done < <("$1" -h 2>/dev/null | sed -n 's/^  *\(\(-[^-]\), \)\{0,1\}\(--[a-z-]*\)\( \([A-Z][^ ]*\)\)\{0,1\}.*/\2,\3,\5/p')
    COMPREPLY=()
    case $expected in
    '' | FILE | OWNERS | DIRECTORY) ;;
    *) compopt +o default 2>/dev/null ;; # no files
    esac
    case ${1##*/}:$expected in
    *:PID*)
        _spdk_trace_processes "$word" "$1"
        return
        ;;
    *:DISK) words=(/sys/block/*) ;;
    *:KEY=GLOB)
        words=("${keys[@]/%/=}")
        compopt -o nospace 2>/dev/null
        ;;
    *:KEY) words=("${keys[@]}") ;;
    *:) [[ $word != -* ]] || read -ra words <<<"$options" ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "${words[*]##*/}" -- "$word")
}

# the file is installed as each tool's own
complete -o default -F _spdk_trace_tools "${BASH_SOURCE[0]##*/}"
