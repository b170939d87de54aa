#!/usr/bin/env bats
# trace-dump reads rings that are being written.
# bats file_tags=slow,sanitizers

load helpers

TRACE=/dev/shm/mktrace_trace.pid$$

teardown() {
    kill_left writer follower
    rm -f "$TRACE"
}

# Makes the file lines: 50 entries of 4 slots on each of two lcores. The entry number i of a round has ticks 1000 + 10 * i,
# a round takes 1490 ticks, and all its arguments say i.
make_lines() {
    {
        echo '{"tpoint":"ENTRY","id":100,"args":[{"name":"i","type":"int","size":8},{"name":"s","type":"str","size":40},{"name":"j","type":"int","size":8}]}'
        for i in $(seq 0 49); do
            for lcore in 0 1; do
                echo "{\"tsc\":$((1000 + 10 * i)),\"lcore\":$lcore,\"tpoint\":\"ENTRY\",\"args\":{\"i\":$i,\"s\":\"this is the text of $i\",\"j\":$i}}"
            done
        done
    } >lines
}

# Starts to write these entries over and over, until the writer is ended; its id is $writer.
write_live() { # LAYOUT SLOTS
    make_lines
    # not to take an earlier one for it
    rm -f "$TRACE"
    mktrace -w 600 -l "$1" -n "$2" -o "$TRACE" lines &
    writer=$!
    wait_for sh "trace-dump -i $TRACE >info"
}

# Ends the writer, after the entries of a round.
end_writer() {
    kill "$writer"
    wait "$writer"
    writer=
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

# bats test_tags=plain
@test "every entry of a ring that is written at full speed is whole, in order and without a gap" {
    # READS=200 reads 1200 times
    for layout in $LAYOUTS; do
        write_live "$layout" 16384
        for _ in $(seq 1 "${READS:-20}"); do
            sh "trace-dump -q -a $TRACE >out"
            check_lines <out
        done
        end_writer
    done
}

@test "a snapshot of a ring that stands still is the file" {
    write_live G6 1024
    wait_for sh "trace-dump -q -a $TRACE | grep -q '\"tsc\":1[0-9][0-9][0-9][0-9]'"
    end_writer
    cp "$TRACE" copy
    trace-dump -a "$TRACE" >live
    trace-dump -a copy | cmp - live
    check_lines <live
}

# The same, with a pause between two rounds, by default 2 ms; the ring starts with one round, or more. The name of the file
# tells the process that writes it.
write_slowly() { # LAYOUT SLOTS [MICROSECONDS [ROUNDS]]
    make_lines
    rm -f "$TRACE"
    bash -c 'exec mktrace -w 600 -l "$1" -n "$2" -p "$3" -R "$4" -o "/dev/shm/mktrace_trace.pid$$" lines' - \
        "$1" "$2" "${3:-2000}" "${4:-1}" &
    writer=$!
    TRACE=/dev/shm/mktrace_trace.pid$writer
    wait_for trace-dump -q -i "$TRACE" >info
    eval "$(mktrace --places -l "$1" -n "$2" lines)"
}

# Follows a trace into the file followed, with messages in the file err; the id of trace-dump is $follower.
follow() { # OPTION... FILE
    # not to take an earlier one for it
    rm -f followed
    trace-dump -F "$@" >followed 2>err &
    follower=$!
}

# Whether so many lines were followed.
has_followed() { # LINES
    [ "$(wc -l <followed)" -gt "$1" ]
}

# Waits for the end of the following, and checks its exit status.
end_following() { # STATUS
    local status=0
    wait "$follower" || status=$?
    follower=
    equal "$status" "$1"
}

# How many slots lcore 0 has written, as the application publishes it.
written() {
    od -A n -t u8 -j $((history_0 + next_entry)) -N 8 "$TRACE" | tr -d ' '
}

# bats test_tags=plain
@test "no entry that is in the ring from the begin of a read to its end is missing" {
    local slots=65536 before after n
    for layout in $LAYOUTS; do
        # it has wrapped
        write_slowly "$layout" $slots 2000 400
        n=0
        for _ in $(seq 1 $((${READS:-20} / 2))); do
            before=$(written)
            trace-dump -q -a "$TRACE" >out
            after=$(written)
            # entry k takes slots 4k to 4k + 3; the oldest may be being overwritten
            n=$((n + $(awk -F '[:,"]+' -v before="$before" -v after="$after" -v slots=$slots '
                $7 == 0 && !/"torn"/ { t = $3 - 1000; seen[int(t / 1490) * 50 + t % 1490 / 10] = 1 }
                END {
                    first = int((after - slots) / 4) + 3
                    for (k = first; 4 * k + 4 <= before; k++) { n++; if (!(k in seen)) missing++ }
                    print missing ? -1000000 : n + 0
                }' out)))
        done
        end_writer
        rm "$TRACE"
        # negative: some were missing
        [ "$n" -gt 100 ] || { echo "$layout: $n"; return 1; }
    done
}

@test "-F prints every entry of a live ring once, as they are in the file at the end, and ends with the process" {
    for layout in $LAYOUTS; do
        # it does not wrap while the machine is busy with something else for less than 13 seconds
        write_slowly "$layout" 131072 20000
        follow -p "$writer"
        wait_for has_followed 1000
        end_writer
        end_following 0
        equal "$(cat err)" ''
        trace-dump "$TRACE" | cmp - followed
        rm "$TRACE"
    done
}

@test "-p finds the trace that a process has mapped, under any name, and no other" {
    local shared=/dev/shm/mktrace_trace.$$ other
    make_lines
    mktrace -w 600 -l G5 -n 131072 -p 20000 -o "$shared" lines &
    writer=$!
    wait_for trace-dump -q -i "$shared" >info
    other=/dev/shm/other_trace.pid$writer
    mktrace "$DATA/common.jsonl" >"$other"
    follow -p "$writer"
    wait_for has_followed 100
    end_writer
    end_following 0
    rm "$shared" "$other"
    check_lines <followed
}

@test "-F loses nothing of a ring that wraps while it can keep up" {
    # as the ring takes 3.3 seconds, that long may the machine be busy with something else
    write_slowly G5 65536 10000 400
    follow "$TRACE"
    # it has wrapped, and does so again
    wait_for has_followed 66000
    end_writer
    end_following 0
    cat err
    check_lines <followed
    equal "$(grep -v -e 'left out' err)" ''
    sed 's/"us":[^,]*,//' followed | sort >without
    trace-dump -q -a "$TRACE" | sed 's/"us":[^,]*,//' | sort >ring
    equal "$(comm -23 ring without)" ''
}

@test "-F says what was overwritten before it could be read, and has the rest" {
    write_live G6 1024
    follow -q "$TRACE"
    wait_for has_followed 5000
    end_writer
    # up to the last entry
    wait_for grep -q "^$(trace-dump -q -a "$TRACE" | sed -n '$s/"us":[^,]*\(.*\),"tpoint".*/"us":[0-9.]*\1,/p')" followed
    kill "$follower"
    end_following 1
    grep 'trace-dump: .*: lost [0-9]* of [0-9]* slots of the rings, which were overwritten before they could be read' err
    # what is there is whole, and each gap is marked
    awk -F '[:,"]+' '
        /"torn":true/ { seen[$7] = ""; next }
        { lcore = $7; i = $13; text = $15; sub(/.* /, "", text); j = $17; sub(/}.*/, "", j) }
        i != text || i != j || ($3 - 1000) % 1490 != 10 * i { print; exit 1 }
        seen[lcore] != "" && i != (seen[lcore] + 1) % 50 && !/"lost":true/ { print "not marked: " $0; exit 1 }
        { seen[lcore] = i }' followed
    grep '"lost":true' followed >/dev/null
    sed 's/"us":[^,]*,//; s/,"lost":true//' followed | tail -n 5000 >without
    trace-dump -q -a "$TRACE" | sed 's/"us":[^,]*,//' >ring
    equal "$(wc -l <ring)" 512
    run -1 grep -vxFf without ring
}

# bats test_tags=plain
@test "-F ends with the process also when there is no descriptor to watch it by" {
    ! has_sanitizers || not_for_this_build 'a tool with sanitizers takes no preloaded library'
    write_slowly G6 131072
    EMFILE=24
    # root's tool can create no file by then
    LD_PRELOAD=$FAULTS FAULT_IN=trace-dump FAULT_CALL=pidfd_open FAULT_NTH=1 FAULT=$EMFILE FAULT_MARK=- \
        follow -q "$TRACE"
    wait_for_text happened err
    end_writer
    end_following 0
    equal "$(cat err)" happened
}

@test "-F prints an overrun ring in order, also while its writer does not run" {
    entries() { # LCORE FIRST LAST
        seq "$2" "$3" | sed "s/.*/{\"tsc\":&,\"lcore\":$1,\"tpoint\":\"ENTRY\"}/"
    }
    publish() { # FROM SIZE
        dd if=later of=live bs="$2" count=1 iflag=skip_bytes oflag=seek_bytes skip="$1" seek="$1" conv=notrunc status=none
    }
    echo '{"tpoint":"ENTRY","id":100}' >defined
    { cat defined; entries 0 1 10; entries 1 1 10; } | mktrace -l G6 -n 64 -o live
    { cat defined; entries 0 1 200; entries 1 1 10; entries 1 500 500; } >lines
    mktrace -l G6 -n 64 -o later lines
    eval "$(mktrace --places -l G6 -n 64 lines)"
    follow -q live
    wait_for grep -q '"tsc":10,"us":[0-9.]*,"lcore":1' followed
    publish $((history_0 + history_size)) 2048
    publish $((history_1 + history_size)) 2048
    publish $((history_0 + next_entry)) 8
    publish $((history_1 + next_entry)) 8
    wait_for grep -q '"tsc":200,' followed
    wait_for grep -q '"tsc":500,' followed
    rm live
    end_following 1
    equal "$(jq .tsc followed | uniq | tr '\n' ' ')" "$(seq -s ' ' 1 10) $(seq -s ' ' 137 200) 500 "
    equal "$(jq -c 'select(.lost) | [.lcore, .tsc]' followed)" '[0,137]'
    equal "$(cat err)" 'trace-dump: live: lost 126 of 191 slots of the rings, which were overwritten before they could be read'
}

@test "a snapshot has no entry that its writer stands still in the middle of" {
    entries() { # LAST
        echo '{"tpoint":"ENTRY","id":100}'
        seq "$1" | sed 's/.*/{"tsc":&,"lcore":0,"tpoint":"ENTRY"}/'
    }
    for last in 20 200; do
        entries $last | mktrace -l G6 -n 64 -o "$TRACE"
        entries $((last + 1)) >lines
        mktrace -l G6 -n 64 -o later lines
        eval "$(mktrace --places -l G6 -n 64 lines)"
        # its ticks are in the ring, in place of those of the oldest entry, and it is not published
        dd if=later of="$TRACE" bs=8 count=1 iflag=skip_bytes oflag=seek_bytes conv=notrunc status=none \
            skip=$((history_0 + history_size + last % 64 * 32)) seek=$((history_0 + history_size + last % 64 * 32))
        equal "$(trace-dump "$TRACE" | jq .tsc | tr '\n' ' ')" "$(seq -s ' ' $((last < 64 ? 1 : last - 62)) $last) "
        rm "$TRACE"
    done
}

@test "-F marks a gap before the entries after it are printed, also while a writer stands still in the middle of an entry" {
    echo '{"tpoint":"ENTRY","id":100}' >defined
    entries() { # LAST
        cat defined
        seq "$1" | sed 's/.*/{"tsc":&,"lcore":0,"tpoint":"ENTRY"}/'
    }
    publish() { # FILE FROM SIZE
        dd if="$1" of=live bs="$3" count=1 iflag=skip_bytes oflag=seek_bytes skip="$2" seek="$2" conv=notrunc status=none
    }
    entries 10 | mktrace -l G6 -n 64 -o live
    entries 200 | mktrace -l G6 -n 64 -o before
    entries 201 >lines
    mktrace -l G6 -n 64 -o later lines
    eval "$(mktrace --places -l G6 -n 64 lines)"
    follow -q live
    wait_for grep -q '"tsc":10,' followed
    # entry 201 is in the ring, in place of 137, and not published
    publish later $((history_0 + history_size)) 2048
    publish before $((history_0 + next_entry)) 8
    wait_for grep -q '"tsc":200,' followed
    publish later $((history_0 + next_entry)) 8
    wait_for grep -q '"tsc":201,' followed
    rm live
    end_following 1
    equal "$(jq .tsc followed | uniq | tr '\n' ' ')" "$(seq -s ' ' 1 10) $(seq -s ' ' 138 201) "
    equal "$(jq -c 'select(.lost) | .tsc' followed)" 138
    equal "$(cat err)" 'trace-dump: live: lost 127 of 191 slots of the rings, which were overwritten before they could be read'
}

@test "-F passes lines on as they come, and ends by a signal with status 0" {
    # nothing is lost on a busy machine, either
    write_slowly G6 131072
    echo 'i: begin=0, ptr=0x7, name=seven' >lifetimes.txt
    { trace-dump -F "$TRACE" & echo $! >id; ended=0; wait $! || ended=$?; echo $ended >status; } | trace-join -l lifetimes.txt | grep --line-buffered 'name=seven' >out &
    wait_for test -s out
    before=$(wc -l <out)
    wait_for sh "[ \$(wc -l <out) -gt $before ]"
    # a job in the background of a script ignores it, and so does what it runs
    kill -INT "$(cat id)"
    # nothing happens
    sleep 0.5
    [ ! -s status ]
    kill "$(cat id)"
    wait_for test -s status
    equal "$(cat status)" 0
}

@test "-F ends when nobody reads its lines any more, also while there are none" {
    write_slowly G6 1024
    mv "$TRACE" still
    end_writer
    # no process writes this one
    status_is 0 sh "timeout 30 trace-dump -q -F still | head -n 1 >/dev/null; [ \${PIPESTATUS[0]} != 124 ]"
    equal "$stderr" ''
    follow still
    wait_for test -s followed
    rm still
    end_following 0
}

@test "-F knows owners that are registered meanwhile" {
    {
        echo '{"tpoint":"REQ","id":320,"owner_type":"t"}'
        echo '{"id":300,"poller":"t300","tsc":500,"description":"10.0.0.1:1"}'
        echo '{"tsc":1000,"lcore":0,"tpoint":"REQ","poller":"t300"}'
    } >lines
    mktrace -w 600 -l G6 -n 65536 -p 2000 -o still lines &
    writer=$!
    wait_for trace-dump -q -i still >info
    follow still
    wait_for grep -q '"owner":"10.0.0.1:1"' followed
    eval "$(mktrace --places -l G6 -n 65536 lines)"
    printf '10.0.0.1:1 sub\0' | dd of=still bs=1 seek=$((owners + owner_size * 300 + description)) conv=notrunc status=none
    wait_for grep -q '"owner":"10.0.0.1:1 sub"' followed
}

@test "-O -F prints owners as they are registered or change, and ends as -F does" {
    for layout in G4 G5 G6; do
        write_slowly "$layout" 1024
        register 300 16 '10.0.0.1:1'
        follow -O "$TRACE"
        wait_for grep -q '"10.0.0.1:1"' followed
        register 300 16 '10.0.0.1:1 sub'
        wait_for grep -q '"10.0.0.1:1 sub"' followed
        register 300 32 '10.0.0.1:2'
        wait_for grep -q '"10.0.0.1:2"' followed
        # the last one is not missed
        register 301 48 last
        end_writer
        end_following 0
        diff - followed <<'L'
{"id":300,"tsc":16,"description":"10.0.0.1:1"}
{"id":300,"tsc":16,"description":"10.0.0.1:1 sub"}
{"id":300,"tsc":32,"description":"10.0.0.1:2"}
{"id":301,"tsc":48,"description":"last"}
L
        equal "$(cat err)" ''
        rm "$TRACE"
    done
    # a signal, a reader that goes away, and a file that becomes shorter
    write_slowly G6 1024
    register 300 16 '10.0.0.1:1'
    follow -O "$TRACE"
    wait_for test -s followed
    kill "$follower"
    end_following 0
    status_is 0 sh "timeout 30 trace-dump -O -F $TRACE | true; [ \${PIPESTATUS[0]} != 124 ]"
    cp "$TRACE" copy
    follow -O copy
    wait_for test -s followed
    truncate -s 1000 copy
    end_following 1
    equal "$(cat err)" 'trace-dump: copy: owners are not followed any more: it was truncated'
}

@test "-F and the options that choose lines: nothing is shifted, and --until is the end" {
    write_slowly G6 131072 20000
    status_is 0 trace-dump -F --since 0.5 --until 10.25 "$TRACE"
    equal "$stderr" ''
    # while it goes on
    kill -0 "$writer"
    trace-dump -q --since 0.5 --until 10.25 "$TRACE" >want
    [ "$(wc -l <want)" -gt 500 ]
    cmp want - <<<"$output"
}

@test "-F needs a trace file, and prints entries" {
    status_is 1 sh 'cat /dev/null | trace-dump -F'
    says 'trace-dump: <stdin>: empty, not an SPDK trace file'
    status_is 1 trace-dump -F "$DATA/spdk-trace.json"
    for option in -i -d '-i -O'; do
        # shellcheck disable=SC2086 # they are words
        status_is 2 trace-dump -F $option "$TRACE"
        says 'trace-dump: -F prints entries or owners: it cannot be combined with -i or -d'
    done
    echo '{"tpoint":"REQ","id":320}' | mktrace -l G3 -L 0 -o old
    status_is 1 trace-dump -O -F old
    says 'trace-dump: old: layout G3 (v22.09 to v24.01) has no owners'
}

# The same as follow, into the file recorded.
record() { # OPTION... FILE
    rm -f recorded
    trace-dump -F --record recorded "$@" >result 2>err &
    follower=$!
    wait_for test -s recorded
}

@test "--record records what -F prints, and the same lines come of it" {
    local recorder
    for layout in $LAYOUTS; do
        for rounds in 1 400; do
            # a ring that has wrapped, and one that has not
            write_slowly "$layout" 65536 20000 "$rounds"
            # both write to err
            record -q -p "$writer"
            recorder=$follower
            follow -p "$writer"
            wait_for has_followed $((rounds == 1 ? 1000 : 33000))
            end_writer
            end_following 0
            equal "$(grep -v 'left out' err)" ''
            follower=$recorder
            end_following 0
            equal "$(jq -c '[.layout, .lost, .full]' result)" "[\"$layout\",0,false]"
            # what was written between the start of one and that of the other shifts times
            trace-dump -q recorded | sed 's/"us":[^,]*,//' >from_file
            sed 's/"us":[^,]*,//' followed >from_rings
            n=$(($(wc -l <from_file) < $(wc -l <from_rings) ? $(wc -l <from_file) : $(wc -l <from_rings)))
            [ "$n" -gt 1000 ]
            cmp <(tail -n "$n" from_file) <(tail -n "$n" from_rings)
            # times, too, once the rings hold all
            if [ "$rounds" = 1 ]; then
                trace-dump "$TRACE" | cmp - <(trace-dump recorded)
            fi
            rm "$TRACE"
        done
    done
}

@test "--record counts what is overwritten before it is copied, and marks where" {
    for layout in G1 G6; do
        write_live "$layout" 1024
        record -q "$TRACE"
        sleep 0.5
        kill "$follower"
        end_following 1
        end_writer
        grep -q "^trace-dump: .*: lost $(jq .lost result) of [0-9]* slots of the rings" err
        trace-dump -a recorded >out 2>notes
        grep -q "^trace-dump: recorded: $(jq .lost result) slots were lost while it was recorded" notes
        grep -q 'lcore 0: entries are missing between .* us: the application wrote faster than the file was recorded' notes
        # each gap is marked, and what is there is whole
        awk -F '[:,"]+' '
            /"torn":true/ { next }
            { lcore = $7; i = $13; text = $15; sub(/.* /, "", text); j = $17; sub(/}.*/, "", j) }
            i != text || i != j || ($3 - 1000) % 1490 != 10 * i { print; exit 1 }
            lcore in seen && i != (seen[lcore] + 1) % 50 && !/"lost":true/ { print "not marked: " $0; exit 1 }
            { seen[lcore] = i }' out
        rm "$TRACE"
    done
}

@test "--record ends at --max-size" {
    write_live G6 16384
    status_is 1 trace-dump -F --record recorded --max-size 10M "$TRACE"
    says 'trace-dump: recorded: has reached --max-size: what came later is not in it'
    equal "$(jq .full <<<"$output")" true
    [ "$(stat -c %s recorded)" -le $((10 << 20)) ]
    [ "$(stat -c %s recorded)" -gt $((3 << 20)) ]
    run -0 trace-dump -q recorded
}

# it counts what half a second has, of which a machine that is too busy loses some
# bats test_tags=timed
@test "--record --keep drops all but the last seconds, of all lcores at once" {
    for layout in $LAYOUTS; do
        write_slowly "$layout" 16384 2000
        record -q --keep 0.5 -p "$writer"
        sleep 1.5
        # what was dropped takes no space: the definitions and the rings of the start do
        [ $(($(stat -c '%b * %B' recorded))) -lt $((14 << 20)) ]
        kill "$follower"
        end_following 0
        equal "$(jq -c '[.layout, .lost, .full]' result)" "[\"$layout\",0,false]"
        end_writer
        # of 50000 entries a second at most; a mark is set in a sixteenth of the time
        trace-dump recorded >out 2>err
        check_lines <out
        [ "$(wc -l <out)" -lt 28000 ]
        run ! grep -v -e 'left out' err
        rm "$TRACE"
    done
}

# a machine that is too busy for 10 MB of entries in half a second loses some, which is said
# bats test_tags=timed
@test "--record --keep with --max-size drops what is more than that" {
    local status
    for _ in {1..5}; do
        write_slowly G6 16384 100
        record -q --keep 100 --max-size 10M -p "$writer"
        sleep 1
        [ $(($(stat -c '%b * %B' recorded))) -lt $((11 << 20)) ]
        kill "$follower"
        status=0
        wait "$follower" || status=$?
        follower=
        end_writer
        [ "$status" != 0 ] || break
        grep -q ': lost [0-9]* of [0-9]* slots' err
        rm "$TRACE"
    done
    equal "$status" 0
    [ "$(stat -c %s recorded)" -le $((10 << 20)) ]
    [ "$(stat -c %s recorded)" -gt $((4 << 20)) ]
    trace-dump -q recorded | check_lines
    rm "$TRACE"
    write_live G6 131072
    status_is 1 trace-dump -F --record small --keep 1 --max-size 10M "$TRACE"
    says "trace-dump: --max-size: with --keep it has to be at least twice the rings' size: 19"
}

@test "reading a recording that is not complete fills no hole" {
    write_slowly G6 16384 2000
    record -q "$TRACE"
    sleep 0.5
    kill -KILL "$follower"
    end_following 137
    [ "$(stat -c %s recorded)" -gt $((1 << 30)) ]
    # there a page that is read takes memory
    mkdir layers
    unshare -m sh -c 'mount -t tmpfs -o size=64M tmpfs layers && cd layers && mkdir low up work all &&
        mount -t overlay -o lowerdir=low,upperdir=up,workdir=work overlay all && touch ../mounted &&
        cp --sparse=always ../recorded all && trace-dump -q all/recorded >../inside &&
        df -k --output=used . | tail -n 1 >../used' || [ ! -e mounted ]
    [ -e mounted ] || skip 'no overlay can be mounted here'
    trace-dump -q recorded | cmp - inside
    [ "$(cat used)" -lt 32768 ]
}

@test "a recording with --keep that is killed can be read" {
    write_slowly G6 16384 2000
    record -q --keep 0.5 -p "$writer"
    sleep 1.5
    wait_for sh 'trace-dump -q recorded | grep -c . | grep ....'
    kill -KILL "$follower"
    end_following 137
    trace-dump -q recorded >out
    [ "$(wc -l <out)" -gt 999 ]
}

@test "a recording of trace-dump that is killed, or whose disk is full, can be read" {
    unshare -m --propagation private true 2>/dev/null || skip 'no namespaces here'
    write_slowly G5 65536
    record -q -p "$writer"
    wait_for sh 'trace-dump -q recorded | wc -l | grep -q ....'
    kill -KILL "$follower"
    end_following 137
    trace-dump recorded >first
    [ "$(wc -l <first)" -gt 999 ]
    end_writer
    # of each lcore, what was written when it was killed may be missing or be torn
    entries() { jq -r '"\(.tsc) \(.lcore) \(.tpoint)"'; }
    trace-dump -q "$TRACE" | entries >whole
    # the ring may have gone on until the oldest are gone
    entries <first | awk -v from="$(head -n 1 whole)" 'BEGIN { split(from, f) } $1 > f[1]' | sort >found
    [ "$(wc -l <found)" -gt 100 ]
    [ "$(sort whole | comm -13 - found | wc -l)" -le 8 ]
    rm "$TRACE"
    TRACE=/dev/shm/mktrace_trace.$$
    write_live G6 16384
    unshare -m --propagation private bash -c 'mount -t tmpfs -o size=4M none . 2>/dev/null || exit 77
        trace-dump -q -F --record "$PWD/recorded" "$1" 2>err && exit
        cat err; trace-dump -q recorded | wc -l' - "$TRACE" >out || [ $? != 77 ] || skip 'no tmpfs can be mounted'
    grep -q 'recorded: No space left on device: not everything was recorded' out
    [ "$(tail -n 1 out)" -gt 1000 ]
}

@test "--wall tells when the entries of a live trace were written" {
    printf '%s\n' '{"tpoint":"A","id":1,"args":[]}' '{"tsc":0,"lcore":0,"tpoint":"A"}' >lines
    mktrace -r 1000000 -o "$TRACE" lines
    run --separate-stderr trace-dump --wall "$TRACE"
    case $stderr in
    *"clock source is not"*) lacks "the kernel's clock source is not the processor's counter" ;;
    esac
    equal "$status" 1
    says 'it is from another machine'
    # the message has the rate
    rate=${stderr#*that of this machine } rate=${rate%%:*}
    before=$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)
    mktrace -N -r "$rate" -o "$TRACE" lines
    after=$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)
    # a moment of the wall clock is read within some microseconds
    for options in '' -F; do
        time=$({ timeout 20 trace-dump --wall $options "$TRACE" || true; } | head -n 1 | jq -r .time)
        equal "$(printf '%s\n' "$before" "$time" "$after" | sort)" "$(printf '%s\n' "$before" "$time" "$after")"
    done
    echo "{\"tsc\":$((rate * 60)),\"lcore\":0,\"tpoint\":\"A\"}" >>lines
    mktrace -N -r "$rate" -o "$TRACE" lines
    status_is 1 trace-dump --wall "$TRACE"
    says 'some entries are later than now: it is from another machine, or from before a restart, and the times are wrong'
}
