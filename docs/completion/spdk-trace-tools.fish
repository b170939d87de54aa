# SPDX-License-Identifier: BSD-3-Clause
# Completion of a tool's options for fish, which its -h lists, and of what follows them. It is installed as TOOL.fish.

# processes that have mapped a trace
function __spdk_trace_targets
    for maps in (grep -ls 'rw-s.*/dev/shm/.*_trace\.' /proc/*/maps 2>/dev/null | string match -r '^/proc/\d+/')
        printf '%s\t%s\n' (string split / $maps)[3] (string replace -ra '[^[:print:]]' '?' <$maps/comm)[1]
    end
end

set -l keys host queue connection type bdev leg blocks lba qd qpair_qd bytes cid opc status lcore owner poller source id us life \
    open cut admin maybe_admin args.qpair.hostnqn args.qpair.subnqn
# the description of an option is not that of each of its words: theirs is empty
set -l patterns $keys'=\t'
set -l keys $keys'\t'
set -l tool (status basename | string replace -r '\.fish$' '')
set -l help ($tool -h 2>/dev/null)
for line in $help
    # short, long, argument, description
    set -l part (string match -r '^ +(-., |)--([a-z-]+)( [A-Z]\S*|)( .*|)$' -- $line | string trim)
    or continue
    set -l option complete -c $tool -l $part[3] -d "$part[5]"
    test -z "$part[2]"; or set -a option -s (string sub -s 2 -l 1 -- $part[2])
    switch "$tool:$part[4]"
        case '*:'
            $option
        case 'trace-*:PID*'
            $option -x -a '(__spdk_trace_targets)'
        case '*:PID*'
            $option -x -a '(__fish_complete_pids)'
        case '*:KEY=GLOB'
            $option -x -a "$patterns"
        case '*:KEY'
            $option -x -a "$keys"
        case '*:DISK'
            $option -x -a '(string replace /sys/block/ "" /sys/block/*)'
        case '*:DIRECTORY'
            $option -x -a '(__fish_complete_directories)'
        case '*:FILE' '*:OWNERS'
            $option -r -F
        case '*'
            $option -x
    end
end
string match -q '*COMMAND*' $help; and complete -c $tool -x -a '(__fish_complete_subcommand)'
