# Loaded by every test file.

bats_require_minimum_version 1.5.0
# a tool that fails in a pipeline of a test fails the test
# grep in a pipe reads all of it, without -q: else its writer may be killed by SIGPIPE
set -o pipefail

ROOT=$(realpath "$BATS_TEST_DIRNAME/..")
BIN=$(realpath "${BIN:-$ROOT/build}")
export DATA=$BATS_TEST_DIRNAME/data
PATH=$BIN:$PATH
# whatever the user's language is; grep is much slower with characters of several bytes
export LC_ALL=C
# whatever the user's terminal is
unset COLUMNS NO_COLOR
export LAYOUTS='G1 G2 G3 G4 G5 G6'
# what makes calls fail, by a path without blanks, at which LD_PRELOAD ends
FAULTS=$BATS_RUN_TMPDIR/faults.so
[ -e "$FAULTS" ] || ln -sf "$BIN/faults.so" "$FAULTS"
# a sanitizer's report is neither of the exit statuses that tools have
export ASAN_OPTIONS=exitcode=99:detect_leaks=1 UBSAN_OPTIONS=exitcode=99:print_stacktrace=1

# Goes to the folder of a test, which is skipped if something is lacking. bats notes each command, to print the line of one
# that fails, which takes longer than most commands: the lines of the test are enough, without those of the functions that
# it calls.
enter() {
    cd "$BATS_TEST_TMPDIR" || exit
    ! declare -ft "$BATS_TEST_NAME" || set +T
    [ -z "${LACKING:-}" ] || lacks "$LACKING"
}

setup() {
    enter
}

# The tools: those in the sources that were built.
tools() {
    local tool
    for tool in "$ROOT"/cmd/*; do
        [ ! -x "$BIN/${tool##*/}" ] || echo "${tool##*/}"
    done
}

# Those that read a file or standard input.
filters() {
    local tool
    for tool in $(tools); do
        ! grep -q '^Usage: .*\[FILE\]\(\.\.\.\)\?$' <<<"$("$tool" --help)" || echo "$tool"
    done
}

# Writes an input of which the tool prints many lines to the file input, by tests/inputs.c.
input_of() {
    case $1 in
    trace-dump) mktrace -R 20 "$DATA/sample.jsonl" ;;
    qpair-lifetimes) inputs adds 20000 ;;
    trace-latency) inputs states 4000 ;;
    trace-causes) inputs spans_here 4000 ;;
    # these read trace lines
    *) inputs objects 20000 ;;
    esac >input
}

# Copies the sources, as they are, without git.
copy_sources() { # FOLDER
    mkdir -p "$1"
    tar -c -C "$ROOT" --exclude=./build --exclude=./.git . | tar -x -C "$1"
}

# Writes the sample in README: three hosts, of which backup-1 has most of the buffers.
slow_host() { # [TRACE [PROBES]]
    gzip -dc "$DATA/slow-host.trace.gz" >"${1:-trace}"
    cp "$DATA/slow-host-probes.txt" "${2:-probes}"
}

# The ids of root's process that has become a user whom nobody else is.
stranger() { # PID
    local id=$((0x7f800000 + $1))
    echo "$id $id $id $id"
}

# Checks that root's tool is such a user, as it is once it records, so that no other user can stop it.
is_stranger() { # PID
    [ "$(id -u)" = 0 ] || return 0
    equal "$(grep -E '^(Uid|Gid|Groups):' "/proc/$1/status" | tr -s '[:space:]' ' ')" \
        "Uid: $(stranger "$1") Gid: $(stranger "$1") Groups: "
    ! setpriv --reuid 65534 --regid 65534 --clear-groups bash -c "kill -0 $1" 2>/dev/null
}

# Checks that a recorder has given up all capabilities, and is such a user.
has_given_up() { # PID
    equal "$(sed -n 's/^Cap\(Inh\|Prm\|Eff\|Amb\):[[:space:]]*0*$/\1/p' "/proc/$1/status" | tr '\n' ' ')" 'Inh Prm Eff Amb '
    is_stranger "$1"
}

has_sanitizers() {
    grep -q -e -fsanitize=address "$BIN/flags"
}

# Skips a test. .ci/run fails when it does so in all of its builds.
not_for_this_build() { # WHY
    skip "not for this build: $1"
}

# A pipeline fails where any part of it does.
sh() {
    bash -o pipefail -c "$1"
}

# Compares what two commands print, and fails where one of them does.
same_lines() { # COMMAND COMMAND
    sh "$1" >same_lines.1
    sh "$2" >same_lines.2
    diff same_lines.1 same_lines.2
}

# Skips a test, or fails it with STRICT=1: for what a machine must have that tests all of this.
lacks() {
    [ -n "${STRICT:-}" ] || skip "$1"
    echo "$1"
    return 1
}

# Skips a test where no terminal can be had, as in a chroot without /dev/pts.
needs_terminal() {
    script -qec true /dev/null >/dev/null 2>&1 || lacks 'script(1) is not here, or finds no terminal'
}

# Whether a live tool can record; else why not is in the file err. On some virtual machines the kernel now and then does
# not run a BPF program, which the tool notices; on a busy one a buffer may become full.
runs_here() { # COMMAND...
    "$@" >/dev/null 2>err || grep -qE 'the kernel (has skipped|did not run)|the buffer was full' err
}

# For setup_file: tries a command once; where it fails, no test of the file can run.
needs_to_run() { # COMMAND...
    cd "$BATS_FILE_TMPDIR" || exit
    command -v "$1" >/dev/null || { export LACKING="$1 was not built"; return; }
    runs_here "$@" && return
    LACKING="no BPF here: $(cat err)"
    export LACKING
}

# The same for what records tests/usdt-target.c.
needs_usdt_target() {
    [ -x "$BIN/usdt-target" ] || export LACKING='usdt-target was not built: sys/sdt.h is missing'
    needs_to_run usdt-record -o probed -e 'inlined(where)' -- usdt-target sites
}

# Whether the kernel makes its clock from the processor's counter, as live tools need it for the tsc of lines.
has_ticks() {
    grep -qx -e tsc -e arch_sys_counter /sys/devices/system/clocksource/clocksource0/current_clocksource
}

# Prints the lines of a whole recording of usdt-record without what the clocks put there: the clock lines around them, and
# the stamps of all probes but SPDK's; and without its last line. Where something of it is missing, or the counter is not
# known, that is printed.
events() { # [FILE]
    awk -v has_ticks="$(has_ticks && echo 1)" '
        /^losses: lost=0x[0-9a-f]+, missed=0x[0-9a-f]+, skipped=0x0, partial=0x[0-9a-f]+$/ && ++losses == 1 { last = NR; next }
        !has_ticks { print; next }
        /^clock: tsc=0x[0-9a-f]+, ns=0x[0-9a-f]+, time=.[0-9-]+T[0-9:]+[.][0-9]+Z.$/ && ++clocks != 2 { next }
        ended { print "after the end: " $0 }
        /^clock: / && clocks == 2 { ended = 1; next }
        !/^[a-z_]+: tsc=0x[0-9a-f]+(,|$)/ { print "no stamp: " $0; next }
        !/^(nvmf_|owner)/ { sub(/tsc=0x[0-9a-f]+(, )?/, "") }
        { print }
        END {
            if (has_ticks && clocks != 2) print "clock lines: " clocks + 0
            if (last != NR) print "the last line is not about losses"
        }' "$@"
}

# Prints the messages of usdt-record without its note that the counter is not known, where that is so.
notes() { # [FILE]
    awk -v has_ticks="$(has_ticks && echo 1)" 'has_ticks || !/^usdt-record: no clock lines, /' "$@"
}

# Says what a value is and should be when they differ.
equal() {
    [ "$1" = "$2" ] || { printf 'is:        %s\nshould be: %s\n' "$1" "$2"; return 1; }
}

# Runs a command and checks its exit status.
status_is() {
    local want=$1
    shift
    # shellcheck disable=SC2154 # run sets it
    run "-$want" --separate-stderr "$@" || { printf 'exit %s, not %s\n%s\n%s\n' "$status" "$want" "$output" "$stderr"; return 1; }
}

# Checks that what the last status_is printed on stderr has this text.
says() {
    case $stderr in
    *"$1"*) ;;
    *) printf 'not said: %s\nbut: %s\n' "$1" "$stderr"; return 1 ;;
    esac
}

# Runs a command that must end with 0, and say nothing.
succeeds() { # COMMAND...
    status_is 0 "$@" && equal "$stderr" ''
}

# Runs one that must end with 1, and with this message.
fails() { # MESSAGE COMMAND...
    status_is 1 "${@:2}" && says "$1"
}

# The same of one that says nothing else.
fails_only() { # MESSAGE COMMAND...
    status_is 1 "${@:2}" && equal "$stderr" "$1"
}

# Prints JSON with its numbers in their shortest form: jq from 1.7 on keeps 1.000 as it is written.
plain() { # [FILE]
    jq -c 'walk(if type == "number" then . + 0 else . end)' "$@"
}
# also for what sh runs
export -f plain

# Milliseconds since the machine has started, in steps of 10: what takes time is compared with these, not with a constant.
uptime_ms() {
    local seconds
    read -r seconds _ </proc/uptime
    echo $((10#${seconds/./} * 10))
}

# Whether a process waits in a system call whose first argument is this one, as that of read is a descriptor.
waits_in_call_on() { # ARGUMENT PID
    grep -q "^[0-9]* $1 " "/proc/$2/syscall"
}

# Waits until a command succeeds, for 30 seconds at most.
wait_for() { # COMMAND...
    for _ in $(seq 600); do
        ! "$@" 2>/dev/null || return 0
        sleep 0.05
    done
    echo "after 30 seconds not yet: $*"
    return 1
}

# Waits until a file, which may not be there yet, has this text.
wait_for_text() { # TEXT FILE
    wait_for grep -qs "$1" "$2" || { cat "$2"; return 1; }
}

# Whether a process sleeps in this program.
sleeps_in() { # PROGRAM PID
    grep -q "^$2 (${1:0:15}) S" "/proc/$2/stat"
}

# Starts a command that says "ready", each time that it waits for a line to the descriptor $go; its id is $started.
# shellcheck disable=SC2034 # the tests use them
start() { # COMMAND...
    # not to take what an earlier one has said for it
    rm -f go out
    mkfifo go
    "$@" <go >out &
    started=$!
    exec {go}>go
    wait_for_text ready out
}

# Ends the processes whose ids are in these variables, for teardown. An id that was waited for may be anybody's by now: only
# a child of this shell is ended.
kill_left() { # VARIABLE...
    local name process
    for name; do
        for process in ${!name:-}; do
            ! grep -qs "^[0-9]* (.*) . $BASHPID " "/proc/$process/stat" || kill -9 "$process" 2>/dev/null || true
            wait "$process" 2>/dev/null || true
        done
    done
}

# Makes bats run the test again when it fails now, in a new folder: N times at most. bats prints nothing of the failure, so
# this prints the file log.
try_again() { # N
    # shellcheck disable=SC2034 # bats reads it
    BATS_TEST_RETRIES=$1
    [ "$BATS_TEST_TRY_NUMBER" -gt "$1" ] || { echo "tried again: $BATS_TEST_DESCRIPTION"; cat log; } | sed 's/^/# /' >&3
}

# Starts a recorder that writes to the file lines, and waits until its messages, in the file log, have this text; its id
# is $recorder.
begin() { # TEXT TOOL [ARGUMENT]...
    # not to take an earlier one for it
    rm -f log lines
    "$2" -o lines "${@:3}" 2>log &
    recorder=$!
    wait_for_text "$1" log
}

# Moves the last line of JSON in the file lines, by which a live tool says what it has lost, into the file lost.
take_lost() {
    [ -f lines ] || return 0
    tail -n 1 lines >lost
    grep -q '^{"tsc":[0-9]*,"us":[0-9.]*,.*"lcore":0,"tpoint":"LOSSES","args":{"tool":"[^"]*","lost":[0-9]*,"missed":[0-9]*,"skipped":[0-9]*,"partial":[0-9]*}}$' lost || return 0
    sed -i '$d' lines
}

# Ends it, and checks its exit status.
end() { # [STATUS]
    ends "${1:-0}" "$recorder"
    recorder=
}

# Starts a recorder for a second, and checks that it takes no less.
lasts_a_second() { # COMMAND...
    local begin
    begin=$(uptime_ms)
    "$@"
    wait_for test ! -e "/proc/$recorder"
    end 0
    [ $(($(uptime_ms) - begin)) -ge 1000 ]
}

# Whether this kernel is of that version or newer.
is_since() { # VERSION
    [ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]
}

# Ends a recorder in the background, and checks its exit status. What it has said is in the file log.
ends() { # STATUS PID
    kill "$2" 2>/dev/null || true
    ends_itself "$@"
}

# The same of one that ends by itself.
ends_itself() { # STATUS PID
    local status=0
    wait "$2" || status=$?
    take_lost
    [ "$status" = "$1" ] || { echo "exit $status, not $1"; cat log; return 1; }
}

# Makes a cgroup, whose path is $cgroup.
make_cgroup() {
    mkdir cgroups
    mount -t cgroup2 none cgroups 2>why || skip "no cgroups of version 2 here: $(cat why)"
    cgroup=$PWD/cgroups/spdk-trace-tools-test.$$
    mkdir "$cgroup"
}

# Becomes a command in a cgroup.
in_cgroup() { # CGROUP COMMAND...
    exec bash -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$@"
}

# Removes it, and what is below it, for teardown.
remove_cgroup() {
    [ -n "${cgroup:-}" ] || return 0
    rmdir "$cgroup/below" 2>/dev/null || true
    rmdir "$cgroup" || true
    umount "${cgroup%/*}" || true
}

# Prints a trace line about the object ID at VALUE, AGE microseconds behind its creation, which it is when AGE is -.
entry() { # US TPOINT ID AGE VALUE [MEMBER...]
    local us=$1 tpoint=$2 id=$3 age=$4 value=$5
    shift 5
    [ "$age" = - ] && age='' || age="\"us\":$age,"
    printf '{"tsc":1,"us":%s,"lcore":0,"tpoint":"%s","object":{"id":"%s",%s"value":"%s"}' "$us" "$tpoint" "$id" "$age" "$value"
    [ $# = 0 ] || printf ',%s' "$@"
    printf '}\n'
}

# Trace lines about one object ID at VALUE: its states, each with the time at which it starts.
object() { # ID VALUE MEMBER US TPOINT [US TPOINT]...
    local id=$1 value=$2 member=$3 first=$4 us
    shift 3
    while [ $# != 0 ]; do
        us=-
        [ "$1" = "$first" ] || us=$(awk -v a="$1" -v b="$first" 'BEGIN { printf "%.3f", a - b }')
        entry "$1" "$2" "$id" "$us" "$value" ${member:+"$member"}
        shift 2
    done
}

# Writes an owner's record into the trace $TRACE as SPDK does, at its place, as mktrace --places says it.
register() { # ID TSC DESCRIPTION
    # shellcheck disable=SC2059 # it is made of the number
    { printf "\\x$(printf %x "$2")\0\0\0\0\0\0\0\1"; printf '%s\0' "$3"; } |
        dd of="$TRACE" bs=4096 iflag=fullblock oflag=seek_bytes seek=$((owners + owner_size * $1)) conv=notrunc status=none
}

# Lines of several objects in the order of time; those of one time in the order of the objects.
merged() {
    awk '{ match($0, /"us":[0-9.]+/); print substr($0, RSTART + 5, RLENGTH - 5) "\t" $0 }' | sort -s -n -k 1,1 | cut -f 2-
}
