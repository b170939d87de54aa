#!/usr/bin/env bats
# trace-dump reads rings that are being written.

load helpers

TRACE=/dev/shm/mktrace_trace.pid$$

teardown() {
    rm -f "$TRACE"
    wait
}

# Starts to write 50 entries of 4 slots on each of two lcores, over and over, for these seconds: the entry number i
# of a round has ticks 1000 + 10 * i, a round takes 1490 ticks, and all its arguments say i.
write_live() { # SECONDS LAYOUT SLOTS
    {
        echo '{"tpoint":"ENTRY","id":100,"args":[{"name":"i","type":"int","size":8},{"name":"s","type":"str","size":40},{"name":"j","type":"int","size":8}]}'
        for i in $(seq 0 49); do
            for lcore in 0 1; do
                echo "{\"tsc\":$((1000 + 10 * i)),\"lcore\":$lcore,\"tpoint\":\"ENTRY\",\"args\":{\"i\":$i,\"s\":\"this is the text of $i\",\"j\":$i}}"
            done
        done
    } >lines
    mktrace -w "$1" -l "$2" -n "$3" -o "$TRACE" lines &
    for _ in $(seq 1 100); do
        trace-dump -i "$TRACE" >info 2>&1 && break
        sleep 0.05
    done
}

# Checks that lines on standard input are in order, whole and without a gap.
check_lines() {
    awk -F '[:,"]+' '
        /"torn":true/ { torn++; next }
        {
            tsc = $3; lcore = $7; i = $13; text = $15; sub(/.* /, "", text); j = $17; sub(/}.*/, "", j)
            if (i != text || i != j) { print "mixed: " $0; exit 1 }
            if ((tsc - 1000) % 1490 != 10 * i) { print "wrong ticks: " $0; exit 1 }
            if (tsc < last) { print "order: " $0; exit 1 }
            last = tsc
            if (lcore in seen && i != (seen[lcore] + 1) % 50) { print "gap behind " seen[lcore] ": " $0; exit 1 }
            seen[lcore] = i
            n++
        }
        END { if (n < 100 || torn > 2) { print n " lines, " torn " torn"; exit 1 } }'
}

@test "every entry of a ring that is written at full speed is whole, in order and without a gap" {
    for layout in G1 G3 G4 G5 G6; do
        write_live 4 "$layout" 16384
        for _ in $(seq 1 20); do
            sh "trace-dump -q -a $TRACE >out"
            check_lines <out
        done
        kill %% 2>/dev/null
        wait
    done
}

@test "a snapshot of a ring that stands still is the file" {
    write_live 1 G6 1024
    wait
    cp "$TRACE" copy
    trace-dump -a "$TRACE" >live
    trace-dump -a copy | cmp - live
    check_lines <live
}
