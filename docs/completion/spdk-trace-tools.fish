# SPDX-License-Identifier: BSD-3-Clause
# Completion of a tool's options for fish, which its -h lists, and of what follows them. It is installed as TOOL.fish.

set -l tool (status basename | string replace -r '\.fish$' '')
set -l help ($tool -h 2>/dev/null)
for line in $help
    # short, long, argument, description
    set -l part (string match -r '^ +(-., |)--([a-z-]+)( [A-Z]\S*|)( .*|)$' -- $line | string trim)
    or continue
    set -l option complete -c $tool -l $part[3] -d "$part[5]"
    test -z "$part[2]"; or set -a option -s (string sub -s 2 -l 1 -- $part[2])
    switch "$part[4]"
        case ''
            $option
        case 'PID*'
            $option -x -a '(__fish_complete_pids)'
        case DISK
            $option -x -a '(string replace /sys/block/ "" /sys/block/*)'
        case DIRECTORY
            $option -x -a '(__fish_complete_directories)'
        case FILE OWNERS
            $option -r -F
        case '*'
            $option -x
    end
end
string match -q '*COMMAND*' $help; and complete -c $tool -x -a '(__fish_complete_subcommand)'
