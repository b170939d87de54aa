# Loaded by the test files that make calls of the tools fail.

# shellcheck disable=SC2034 # the tests use them
EPERM=1 EINTR=4 EIO=5 ECHILD=10 EAGAIN=11 ENOMEM=12 EMFILE=24 ENOSPC=28

setup() {
    enter
    # they have an allocator of their own, and want to be the first library
    ! has_sanitizers || not_for_this_build 'a tool with sanitizers takes no preloaded library'
    # root's tools become another user, who has to create a file here
    chmod 777 .
}

# Runs a tool with the fault at its first call of a function, at its second, and so on, until it does not happen any
# more. Checks each time that the tool has either printed all or says what is wrong; with `same`, that it has printed all.
# The fault must happen at least once, but in the functions that are named in $NEVER.
each_fault() { # same|any CALL:FAULT COMMAND
    local mode=$1 call=${2%:*} fault=${2#*:} command=$3 n status skipped=0
    [ -z "${FILE:-}" ] || cp "$FILE" pristine
    # some virtual machines skip events, and a busy machine leaves a buffer full: the tool says so
    until feed "$command" >want 2>err; do
        if [ $((++skipped)) = 5 ] || ! grep -qE 'the kernel (has skipped|did not run)|the buffer was full' err; then
            cat err
            return 1
        fi
    done
    rm -f happened.*
    export FAULT_IN=${command%% *} FAULT_CALL=$call FAULT=$fault FAULT_FILE=${FILE:-}
    for n in $(seq 1 "${LAST:-2000}"); do
        status=0
        export FAULT_NTH=$n FAULT_MARK=happened.$n
        # shellcheck disable=SC2153 # helpers.bash sets it
        PRELOAD=$FAULTS feed "$command" >got 2>err || status=$?
        [ -z "${FILE:-}" ] || cp pristine "$FILE"
        [ -e "happened.$n" ] || break
        if [ $status = 0 ]; then
            ${CMP:-cmp} want got || { echo "$command: $call $n, $fault: exit 0, but output is missing"; cat err; return 1; }
        elif [[ " 1 ${STATUSES:-} " != *" $status "* ]] || [ "$mode" = same ] || [[ $'\n'$(<err) != *$'\n'"$FAULT_IN: "* ]]; then
            echo "$command: $call $n, $fault: exit $status"
            cat err
            return 1
        fi
    done
    [ "$n" -lt "${LAST:-2000}" ] || [ -n "${LAST:-}" ]
    [ -e happened.1 ] || [[ " ${NEVER:-} " = *" $call "* ]] || { echo "$command: never calls $call"; return 1; }
}

# Runs a command, whose standard input is what the command $FEED prints, or nothing.
feed() { # COMMAND
    ${BEFORE:-:}
    if [ -n "${FEED:-}" ]; then
        $FEED | LD_PRELOAD=${PRELOAD:-} eval "$1"
    else
        LD_PRELOAD=${PRELOAD:-} eval "$1" </dev/null
    fi
}

# The part of recording that each live tool does in its own way. What libbpf does is the same in all of them: biosnoop's
# tests make that fail at each place.
BEGINNING="bpf@@:$ENOMEM bpf@@:$EPERM mmap:$ENOMEM malloc@@:$ENOMEM fork:$EAGAIN waitpid:$EINTR poll:$EINTR fcntl:$EIO write:$EIO"

# Whether as many lines are there.
same_number() {
    [ "$(wc -l <"$1")" = "$(wc -l <"$2")" ]
}

# Starts a thread that is blocked again and again, instead of an earlier one.
block() {
    [ -z "${started:-}" ] || kill "$started"
    blocked-target sleeps=100000 </dev/null >/dev/null 2>&1 3>&- &
    started=$!
    disown
}
