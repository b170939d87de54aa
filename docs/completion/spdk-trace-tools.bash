# SPDX-License-Identifier: BSD-3-Clause
# Completion of the tools' options for bash, which each tool's -h lists, and of what follows them; the rest is files.

_spdk_trace_tools() {
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
    case $expected in
    PID*) words=(/proc/[0-9]*) ;;
    DISK) words=(/sys/block/*) ;;
    '') [[ $word != -* ]] || read -ra words <<<"$options" ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "${words[*]##*/}" -- "$word")
}

# the file is installed as each tool's own
complete -o default -F _spdk_trace_tools "${BASH_SOURCE[0]##*/}"
