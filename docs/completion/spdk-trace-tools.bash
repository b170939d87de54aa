# SPDX-License-Identifier: BSD-3-Clause
# Completion of the tools' options for bash, which each tool's -h lists; everything else is a file.

_spdk_trace_tools() {
    local word=${COMP_WORDS[COMP_CWORD]} words='' processes=(/proc/[0-9]*)
    case ${COMP_WORDS[COMP_CWORD - 1]} in
    -p | --pid) words=${processes[*]##*/} ;;
    *) [[ $word != -* ]] || words=$("$1" -h 2>/dev/null | sed -n 's/^  *\(-[^-]\), \(--[a-z-]*\).*/\1 \2/p; s/^  *\(--[a-z-]*\).*/\1/p') ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -o default -F _spdk_trace_tools trace-dump qpair-lifetimes trace-join trace-latency trace-chrome usdt-gen usdt-record biosnoop offwaketime ipcsnoop
