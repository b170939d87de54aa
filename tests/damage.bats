#!/usr/bin/env bats
# Trace files that are cut off, or have other bytes in them than were written.
# bats file_tags=slow,sanitizers,long

load helpers

@test "whatever is damaged, trace-dump ends within 2 seconds, with status 0 or 1" {
    # within each 16 bytes one bit is flipped, and the file cut off once; DAMAGE=1 tries all, which takes minutes
    for layout in $LAYOUTS; do
        mktrace -l "$layout" -n 16 -s 5 "$DATA/common.jsonl" >trace
        status_is 0 "$BIN/fuzz-trace-file" -d "${DAMAGE:-127}" trace
    done
    mktrace -k short "$DATA/modern.jsonl" >trace
    status_is 0 "$BIN/fuzz-trace-file" -d "${DAMAGE:-127}" trace
}

# Prints the trace lines of lcores 0 and 2, without times, which begin with the first entry of all. trace-dump may take 2
# seconds of the processor: how long that is depends on what else the machine does.
others() {
    { (ulimit -t 2; exec timeout 60 trace-dump -q -a "$1" 2>err) || [ $? = 1 ]; } | grep -a '"lcore":[02],' | sed 's/"us":[^,]*,//'
}

# Makes trace what whole is, but with any bytes in the history of lcore 1.
damage_lcore() {
    local bytes='' byte
    size=$((1 + RANDOM % 100))
    # half of them in the history's head
    at=$((RANDOM % 2 ? RANDOM % 48 : RANDOM % (history_size + 32 * SLOTS - size)))
    for _ in $(seq 1 $size); do
        printf -v byte '\\x%x' $((RANDOM % 256))
        bytes+=$byte
    done
    cp whole trace
    # shellcheck disable=SC2059 # they are the bytes
    printf "$bytes" | dd of=trace bs=1 seek=$((history_1 + at)) conv=notrunc status=none
}

@test "damage within one lcore leaves the entries of the others" {
    local SLOTS=32
    {
        echo '{"tpoint":"ENTRY","id":100,"args":[{"name":"i","type":"int","size":8},{"name":"s","type":"str","size":20}]}'
        for i in $(seq 1 20); do
            for lcore in 0 1 2; do
                echo "{\"tsc\":$((1000 * i + lcore)),\"lcore\":$lcore,\"tpoint\":\"ENTRY\",\"args\":{\"i\":$i,\"s\":\"text $lcore\"}}"
            done
        done
    } >lines
    RANDOM=1
    for layout in $LAYOUTS; do
        mktrace -l "$layout" -n $SLOTS -s 11 lines >whole
        eval "$(mktrace --places -l "$layout" -n $SLOTS -s 11 lines)"
        others whole >want
        [ "$(wc -l <want)" -ge 20 ]
        for _ in $(seq 1 15); do
            damage_lcore
            others trace | diff want - || { echo "$layout: $size bytes at $at of lcore 1"; cat err; return 1; }
        done
    done
}

# Skips a test where pages cannot be made unreadable, which takes FUSE and a mount namespace.
needs_unreadable() {
    local status=0
    : >probed
    unreadable probed 0 true 2>why || status=$?
    [ $status != 77 ] || lacks "nothing can be mounted here: $(cat why)"
}

# Writes a trace of three lcores with entries of two slots, as trace, and its lines without times, as want.
three_lcores() { # LAYOUT SLOTS ENTRIES
    {
        echo '{"tpoint":"ENTRY","id":100,"args":[{"name":"i","type":"int","size":8},{"name":"s","type":"str","size":20}]}'
        echo '{"tpoint":"OTHER","id":900}'
        for i in $(seq 1 "$3"); do
            for lcore in 0 1 2; do
                echo "{\"tsc\":$((1000 * i + lcore)),\"lcore\":$lcore,\"tpoint\":\"ENTRY\",\"args\":{\"i\":$i,\"s\":\"text $lcore\"}}"
            done
        done
    } >lines
    mktrace -l "$1" -n "$2" lines >trace
    eval "$(mktrace --places -l "$1" -n "$2" lines)"
    trace-dump -q -a trace | sed 's/"us":[^,]*,//' >want
}

# Runs trace-dump without this page of the trace: its lines without times are in the file got, messages in err. $needed
# is empty when it needs nothing of the page, such as counters, and has printed all.
dump_without() { # PAGE
    local status=0
    unreadable trace "$1" trace-dump -a trace >printed 2>err || status=$?
    sed 's/"us":[^,]*,//' printed >got
    needed=
    if [ $status = 0 ]; then
        equal "$(cat err)" ''
        cmp want got
        return
    fi
    needed=true
    equal "$status" 1
    equal "$(grep -c 'could not be read' err)" 1
    grep -q "^trace-dump: trace: [0-9]* bytes from offset $(($1 * 4096)) on could not be read: Input/output error; " err
}

# The lines of an lcore in a file that are not torn.
whole_lines() { # LCORE FILE
    grep "\"lcore\":$1," "$2" | grep -cv '"torn":true'
}

# How many of the 300 slots of an lcore's ring are on a page.
slots_on() { # PAGE LCORE
    local history=history_$2 from to
    from=$((4096 * $1 - ${!history} - history_size)) to=$((from + 4096))
    ((from > 0)) || from=0
    ((to > 0)) || to=0
    ((to < 9600)) || to=9600
    echo $((from < to ? (to + 31) / 32 - from / 32 : 0))
}

@test "a page of a ring that cannot be read costs what is on it" {
    needs_unreadable
    for layout in $LAYOUTS; do
        # 400 slots in rings of 300: they have wrapped
        three_lcores "$layout" 300 200
        for page in $(seq $((history_0 / 4096 + 1)) $(((history_2 + history_size + 9599) / 4096))); do
            dump_without "$page"
            [ $needed ] || continue
            run ! grep -v -e 'could not be read' -e torn -e 'lcore . is damaged' -e 'the last history' err
            # no line is another one, and each lcore misses only the entries of its slots on the page
            grep -v '"torn":true' got | run ! grep -vxFf want
            for lcore in 0 1 2; do
                slots=$(slots_on "$page" $lcore)
                missing=$(($(whole_lines $lcore want) - $(whole_lines $lcore got)))
                [ $missing = $((slots / 2)) ] || [ $missing = $(((slots + 1) / 2)) ] || [ $missing = $((slots / 2 + 1)) ] ||
                    { echo "$layout: page $page: $missing entries of lcore $lcore are missing"; cat err; return 1; }
            done
        done
    done
}

@test "all bytes that cannot be read are counted in one message" {
    needs_unreadable
    three_lcores G5 3000 200
    local page=$((history_1 / 4096 + 3)) message
    message="12288 bytes from offset $((page * 4096)) on could not be read"
    status_is 1 unreadable trace "$page,$((page + 2))-$((page + 3))" trace-dump trace
    equal "$stderr" "trace-dump: trace: $message: Input/output error; the rest was read"
    status_is 1 unreadable trace "$page,$((page + 2))-$((page + 3))" trace-dump -i trace
    equal "$(jq -c .damage <<<"$output")" "[\"$message: Input/output error\"]"
    # a copy, which -F makes, is read again; until its last line is there
    status_is 1 unreadable trace "$page,$((page + 2))-$((page + 3))" timeout 60 bash -c '
        trace-dump -F trace >got 2>log &
        until grep -q "^{\"tsc\":200002,.*}$" got; do sleep 0.05; done
        kill $!
        wait $!'
    grep -q "^trace-dump: trace: $message: " log
}

@test "a page of a trace's header that cannot be read is reported, and the rings are found" {
    needs_unreadable
    for layout in $LAYOUTS; do
        three_lcores "$layout" 300 200
        # some 10 of them
        for page in $(seq 0 $((history_0 / 4096 / 10 + 1)) $((history_0 / 4096))); do
            dump_without "$page"
            [ $needed ] || continue
            # what it is a trace by
            ! grep -q 'no trace is recognised' err || { equal "$(cat got)" ''; continue; }
            # without definitions there are no names
            equal "$(sed 's/"tpoint":.*//' got)" "$(sed 's/"tpoint":.*//' want)"
        done
    done
}
