#!/usr/bin/env bats
# Trace files that are cut off, or have other bytes in them than were written.
# bats file_tags=slow

load helpers

@test "whatever is damaged, trace-dump ends within 2 seconds, with status 0 or 1" {
    # cut off at every length; of the bits, one in so many is flipped: 1 takes minutes
    for layout in $LAYOUTS; do
        mktrace -l "$layout" -n 16 -s 5 "$DATA/common.jsonl" >trace
        status_is 0 timeout 600 "$BIN/fuzz-trace-file" -d "${DAMAGE:-31}" trace
    done
    mktrace -k short "$DATA/modern.jsonl" >trace
    status_is 0 timeout 600 "$BIN/fuzz-trace-file" -d "${DAMAGE:-31}" trace
}

# Prints the trace lines of lcores 0 and 2, without times, which begin with the first entry of all.
others() {
    { timeout 2 trace-dump -q -a "$1" 2>err || [ $? = 1 ]; } | grep -a '"lcore":[02],' | sed 's/"us":[^,]*,//'
}

# Makes trace what whole is, but with any bytes in the history of lcore 1.
damage_lcore() {
    local bytes= byte
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
        for _ in $(seq 1 30); do
            damage_lcore
            others trace | diff want - || { echo "$layout: $size bytes at $at of lcore 1"; cat err; return 1; }
        done
    done
}
