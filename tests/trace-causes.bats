#!/usr/bin/env bats
# bats file_tags=sanitizers

# Why slow requests are slow, as trace-causes says it of span lines and of trace lines.

load helpers

# Span lines of N requests of a host, from FIRST us on, each LIFE us long, one after another; their layers, and MORE members.
requests() { # N FIRST LIFE HOST BDEV LAYERS [MORE]
    awk -v n="$1" -v first="$2" -v life="$3" -v host="$4" -v bdev="$5" -v layers="$6" -v more="${7:-}" 'BEGIN {
        for (i = 0; i < n; i++) {
            at = first + i * life
            printf "{\"tsc\":1,\"us\":%.3f,\"life\":%.3f,\"to_reply\":%.3f,\"lcore\":0,\"id\":\"r%d\",\"value\":\"0x1\",", at, life, life, i
            printf "\"connection\":\"%s/1\",\"io\":{\"type\":\"read\",\"blocks\":8,\"bdev\":\"%s\"},\"states\":[[\"TCP_REQ_NEW\",1.000]],", host, bdev
            printf "\"layers\":{%s}%s,\"args\":{\"qpair\":{\"hostnqn\":\"nqn:%s\"}}}\n", layers, more, host
        }
    }'
}

# A wait of US us in a layer, from its start on, and MORE members.
wait_of() { # US LAYER [MORE]
    printf '{"us":%.3f,"at":0.000,"state":"S","layer":"%s","lcore":0,"entries":9,"silent":%s%s}' "$1" "$2" "${3:-0.000}" "${4:-}"
}

fast() {
    requests 1000 0 10 ok Fast '"bdev":10.000'
}

# The causes that are found in the file in, with who it was.
causes() {
    trace-causes -j "$@" in | jq -r 'select(.cause != "none") | [.cause, .who // "-", .victim] | join(" ")'
}

@test "requests that are alike have no cause" {
    fast >in
    equal "$(causes)" ''
    status_is 0 trace-causes in
    equal "${lines[0]}" '1000 requests, mean 10.0 us'
    [[ $output == *'nothing stands out: most of the time is in bdev (100 %)' ]]
    # nor have requests that are no slower than any host would notice
    requests 1000 0 19 ok Fast '"bdev":1.000,"reply":18.000' ',"off_cpu":18.000,"off_cpu_by":{"burner":18.000}' >in
    equal "$(causes)" ''
    requests 1000 0 40 ok Fast '"bdev":1.000,"reply":39.000' ',"off_cpu":39.000,"off_cpu_by":{"burner":39.000}' >in
    equal "$(causes)" 'off_cpu burner ok/1'
    # interrupts come with any request
    sed -i 's/off_cpu/irq/g' in
    equal "$(causes)" ''
    fast >in
    # with a limit that none has reached
    equal "$(trace-causes -m 11 in)" '1000 requests: none is slow'
}

@test "requests without their creation count if they are slow beside all others" {
    part() { # LIFE
        requests 6 20000 "$1" deaf - '"host":'"$1" ',"cut":true' | jq -c 'del(.io)'
    }
    { fast; part 3000.000; } >in
    equal "$(trace-causes in | head -n 1)" '1006 requests, 6 slow ones took 3.00 ms each,'
    # a shorter one may have been fast
    { fast; part 30.000; } >in
    equal "$(trace-causes in | head -n 1)" '1000 requests, mean 10.0 us'
}

@test "what may be normal for a bdev hides nothing else" {
    { fast; requests 100 20000 9500 vol Slow '"bdev":8000.000,"target":1500.000' ',"no_io":1500.000'; } >in
    equal "$(causes | tr '\n' ' ')" 'no_io Slow vol/1 bdev Slow vol/1 '
    trace-causes in | grep -qx 'also: bdev Slow takes longer (84 %); that may be normal for it'
    # unless it is what the host does to itself
    { fast; requests 100 20000 9500 vol Slow '"bdev":8000.000,"host":1500.000'; } >in
    equal "$(causes)" 'bdev Slow vol/1'
}

@test "one request is no plural" {
    requests 1 0 10 ok Fast '"bdev":10.000' >in
    equal "$(trace-causes in | head -n 1)" '1 request, which took 10.0 us'
    { fast; requests 1 20000 5010 ok Fast '"bdev":5010.000'; } >in
    equal "$(trace-causes in | head -n 2)" $'1001 requests, 1 slow one took 5.01 ms,\nthe fast ones like it 10.0 us: 5.00 ms more'
}

@test "a cause whose name is not known" {
    { fast; requests 50 0 2000 slowhost Slow '"bdev":1995.000,"network":5.000'; } | sed 's/,"bdev":"[^"]*"//' >in
    equal "$(causes)" 'bdev - slowhost/1'
    trace-causes in | grep -x 'cause: bdev (unknown) takes longer (100 % of the extra time)'
}

@test "a group whose bdev takes longer" {
    { fast; requests 50 0 2000 slowhost Slow '"bdev":1995.000,"network":5.000'; } >in
    equal "$(causes)" 'bdev Slow slowhost/1'
    trace-causes in >text
    cat text
    grep -qx '1050 requests, 50 slow ones took 2.00 ms each,' text
    grep -qx 'the fast ones like them 10.0 us: 1.99 ms more' text
    grep -q '^  bdev  *1.99 ms  *100 %$' text
    grep -q '^  host slowhost = connection slowhost/1 = bdev Slow  *100 %  *0 %$' text
    grep -q '^cause: bdev Slow takes longer (100 % of the extra time)$' text
    [ "$(awk '{ print length }' text | sort -n | tail -n 1)" -le 80 ]
}

@test "a bdev is slow if it takes more than a budget, or more than those of the same type by that" {
    # it always takes longer than another one, as devices do
    { fast; requests 1000 0 400 other Flash '"bdev":400.000'; } >in
    equal "$(causes)" ''
    equal "$(causes --budget 390)" 'bdev Flash other/1'
    equal "$(causes --budget 391)" ''
    # slow ones are slower than others of their bdev, not than those of a faster one
    { fast; requests 1000 0 80 other Flash '"bdev":80.000'; requests 50 90000 5080 other Flash '"bdev":5080.000'; } >in
    trace-causes in | grep -qx '2050 requests, 50 slow ones took 5.08 ms each,'
    # without others to compare with, while the lcore was idle
    alone() { requests 1000 0 "$1" other Flash "\"bdev\":$2,\"network\":$(($1 - $2))" ",\"waits\":[$(wait_of "$2" bdev 1.000 ',"active":2.000')]${3:-}"; }
    alone 400 400 >in
    equal "$(causes)" ''
    equal "$(causes --budget 390)" 'bdev Flash other/1'
    alone 3000 3000 >in
    equal "$(causes)" 'bdev Flash other/1'
    equal "$(causes --budget 4000)" ''
    # what is proven explains more than what may be so by design
    alone 4000 2900 ',"no_io":1100.000' | sed 's/"network"/"target"/' >in
    equal "$(causes)" $'no_io Flash other/1\nbdev Flash other/1'
    status_is 2 trace-causes --budget 1 --against in in
    status_is 2 trace-causes --budget 1 --ledger in
}

@test "what a host does to others explains more than what it does to itself" {
    { fast
      requests 100 0 9000 db Fast '"buffer":9000.000' ",\"waits\":[$(wait_of 9000 buffer 0.000 ',"buffers":7,"holders":{"bulk/1":7}')]"
      requests 100 0 20000 bulk Fast '"host":20000.000' ",\"waits\":[$(wait_of 20000 host 0.000 ',"active":2.000')]"; } >in
    equal "$(causes)" $'buffer bulk db/1\nhost bulk bulk/1'
}

# The causes of N requests that are MORE us slower than 1000 fast ones, which take 10 ms in all.
tail_causes() { # N MORE
    { fast; requests "$1" 9000 $(($2 + 10)) ok Fast "\"bdev\":10.000,\"network\":$2.000" ",\"off_cpu\":$2.000,\"off_cpu_by\":{\"x\":$2.000}"; } >in
    causes
}

@test "a tail matters if it takes a part of the time, a large one if it has few requests, or several stalls" {
    equal "$(tail_causes 5 100)" ''
    equal "$(tail_causes 6 100)" 'off_cpu x ok/1'
    equal "$(tail_causes 1 2400)" ''
    equal "$(tail_causes 1 2600)" 'off_cpu x ok/1'
    for i in {0..19}; do requests 1000 $((i * 10000)) 10 ok Fast '"bdev":10.000'; done >many
    for more in 900 1100; do
        { cat many; requests 5 300000 $((more + 10)) ok Fast "\"bdev\":10.000,\"network\":$more.000" \
            ",\"off_cpu\":$more.000,\"off_cpu_by\":{\"x\":$more.000}"; } >in
        equal "$(causes)" "$([ $more = 900 ] || echo off_cpu x ok/1)"
    done
}

@test "what started before off-CPU times were recorded is left out, unless it is most" {
    off='"bdev":10.000,"network":2000.000'
    by=',"off_cpu":2000.000,"off_cpu_by":{"x":2000.000}'
    { requests 20 0 2010 ok Fast "$off" "$by"; requests 1000 50000 10 ok Fast '"bdev":10.000' ',"covered":["off_cpu"]'; } >in
    equal "$(causes 2>err)" ''
    equal "$(cat err)" 'trace-causes: in: 20 requests left out: they started before off-CPU times were recorded'
    # what is slow is there
    equal "$(causes -q -m 1000)" 'off_cpu x ok/1'
    # one that is not covered may be the last one
    { fast | sed 's/"layers"/"covered":["off_cpu"],&/'; requests 20 10000 2010 ok Fast "$off" "$by"; } >in
    equal "$(causes)" 'off_cpu x ok/1'
    { requests 20 0 2010 ok Fast "$off" "$by"; requests 20 90000 10 ok Fast '"bdev":10.000'
        requests 39 99000 10 ok Fast '"bdev":10.000' ',"covered":["off_cpu"]'; } >in
    equal "$(causes)" 'off_cpu x ok/1'
}

@test "an lcore that is idle sees that a device is done" {
    wait=$(wait_of 900 bdev 400.000 ',"of":{"hog/1":[90,400.000]},"active":400.000')
    { requests 1000 0 905 ok Slow '"bdev":900.000,"target":5.000' ",\"covered\":[\"off_cpu\"],\"waits\":[$wait]"
        requests 1 0 10 hog Fast '"bdev":10.000' ',"covered":["off_cpu"]'; } >in
    equal "$(causes)" 'bdev Slow ok/1'
    sed -i 's/"active":400/"active":600/' in
    equal "$(causes)" 'reactor hog ok/1'
    # it wrote nothing at all
    { requests 1000 0 905 ok Slow '"bdev":900.000,"target":5.000' ",\"covered\":[\"off_cpu\"],\"waits\":[$(wait_of 900 bdev 900.000)]"; } >in
    equal "$(causes)" ''
    sed -i 's/"silent":900.000/&,"active":0.000/' in
    equal "$(causes)" 'bdev Slow ok/1'
}

@test "few requests of many bdevs are compared with each other" {
    for i in {1..100}; do requests 1 $((i * 20)) 10 h "B$i" '"bdev":10.000'; done >in
    requests 3 5000 9000 h Odd '"bdev":9000.000' >>in
    equal "$(trace-causes in | head -n 1)" '103 requests, 3 slow ones took 9.00 ms each,'
}

@test "a page fits the terminal, and names are shortened unless they are to be in full" {
    export LC_ALL=C.UTF-8
    local name='a-name-of-a-höst-that-is-longer-than-any-column-is-wide-and-even-than-most-terminals'
    { fast
      requests 50 0 2000 "$name" "$name" '"bdev":1985.000,"buffer":15.000' ",\"waits\":[$(wait_of 500 buffer 0.000 ",\"buffers\":7,\"holders\":{\"$name/1\":7}")]"
      requests 9 0 900000 ok Fast '"bdev":900000.000' ',"open":true'; } >in
    for columns in '' 1 60 70 80 100 200; do
        width=$((columns < 60 ? columns ? 60 : 100 : columns))
        for color in '' 1; do
            COLUMNS=$columns CLICOLOR_FORCE=$color trace-causes -q -g args.qpair.hostnqn in | sed 's/\x1b\[[0-9;]*m//g' >text
            # commands are not cut
            [ "$(grep -v '^  see: \|^  cure: ' text | wc -L)" -le "$width" ] ||
                { echo "$columns columns"; cat text; return 1; }
        done
    done
    trace-causes -q in >text
    grep -q '^cause: bdev a-name.*….*terminals takes longer (99 % of the extra time)$' text
    grep -q '^  host a-name.*…' text
    grep -q '^  a-n…t-terminals waited for' text
    COLUMNS=1000 trace-causes -q in >text
    equal "$(grep -c … text)" 0
    grep -q "^cause: bdev $name takes longer (99 % of the extra time)$" text
    grep -q "^  host $name" text
}

@test "the cause and layers have colours" {
    { fast; requests 50 0 2000 x Slow '"bdev":2000.000'; } >in
    trace-causes -q in >plain
    equal "$(grep -c $'\e' plain)" 0
    CLICOLOR_FORCE=1 trace-causes -q in >coloured
    sed 's/\x1b\[[0-9;]*m//g' coloured | diff plain -
    grep -qx $'\e\\[1mcause: bdev Slow takes longer (100 % of the extra time)\e\\[0m' coloured
    grep -q $'^  \e\\[38;5;131mbdev\e\\[0m ' coloured
    # names of columns are underlined
    grep -q $'^\e\\[4mwhere the extra time is\e\\[0m .*\e\\[4mshare\e\\[0m$' coloured
}

@test "only those that -k matches are explained" {
    { fast; requests 50 0 2000 slowhost Slow '"bdev":2000.000'; } >in
    equal "$(causes -k 'args.qpair.hostnqn=*ok')" ''
    equal "$(causes -k bdev=Fast)" ''
    equal "$(causes -k 'bdev=*')" 'bdev Slow slowhost/1'
    fails 'none of 1050 requests matches -k' trace-causes -k bdev=x in
}

@test "waits for buffers belong to their holders" {
    wait=$(wait_of 900 buffer 0.000 ',"buffers":10,"holders":{"hog/1":9}')
    { fast; requests 50 20000 1000 ok Fast '"buffer":900.000,"bdev":100.000' ",\"waits\":[$wait]"; } >in
    equal "$(causes)" 'buffer hog ok/1'
    trace-causes in >text
    grep -q '^  ok  *waited for buffers  *45.0 ms  90 % held by hog$' text
    grep -q '^cause: buffers, held by hog (82 % of the extra time)$' text
}

@test "a share says of what, a larger one why it is no cause, and no cause is said twice" {
    wait=$(wait_of 900 buffer 0.000 ',"buffers":10,"holders":{"hog/1":9}')
    { fast; requests 50 20000 1000 ok Fast '"buffer":900.000,"bdev":100.000' ",\"waits\":[$wait]"
      requests 50 100000 2000 slowhost Slow '"bdev":2000.000'; } >in
    trace-causes in >text
    grep -qx 'cause: buffers, held by hog (82 % of the extra time)' text
    grep -qx 'also: bdev Slow takes longer (100 % of the extra time of 50 others); that may be normal for it' text
    # for those of a host that waits each time, and for a few of another one
    { fast; requests 50 20000 1000 ok Fast '"buffer":900.000,"bdev":100.000' ",\"waits\":[$wait]"
      requests 50 100000 1000 third Fast '"buffer":900.000,"bdev":100.000' ",\"waits\":[$wait]"; } >in
    equal "$(trace-causes -j in | jq -r '"\(.cause) \(.who)"' | sort | uniq -c | sed 's/^ *//')" '2 buffer hog'
    equal "$(trace-causes in | grep -c 'held by hog (')" 1
}

@test "an lcore that writes for others is busy with them" {
    wait=$(wait_of 500 network 10.000 ',"of":{"hog/1":[90,300.000],"hog/2":[90,100.000],"ok/1":[1,1.000]},"queued":0')
    { fast; requests 100 20000 510 ok Fast '"network":505.000,"bdev":5.000' ",\"waits\":[$wait]"
      requests 1 0 10 hog Fast '"bdev":10.000'; requests 1 0 10 hog Fast '"bdev":10.000' | sed 's,hog/1,hog/2,'; } >in
    equal "$(causes)" 'reactor hog ok/1'
}

@test "a wait for the socket while the lcore finishes other requests is the host's fault" {
    wait=$(wait_of 500 network 10.000 ',"of":{"ok/1":[900,400.000]},"queued":5')
    # others are finished meanwhile, or none is
    { fast; requests 10 2000 510 deaf Fast '"network":505.000,"bdev":5.000' ",\"waits\":[$wait]"; } >in
    equal "$(causes)" 'reply deaf deaf/1'
    { fast; requests 10 20000 510 deaf Fast '"network":505.000,"bdev":5.000' ",\"waits\":[$wait]"; } >in
    [ "$(causes | grep -c reply)" = 0 ]
}

@test "an lcore that wrote nothing stood still only if requests needed nothing else" {
    wait=$(wait_of 5000 target 4990.000)
    { fast; requests 5 20000 5010 ok Fast '"target":5005.000,"bdev":5.000' ",\"waits\":[$wait]"; } >in
    equal "$(causes)" 'silent lcore 0 ok/1'
    # in few requests of many, another process may have had the CPU
    { for i in $(seq 60); do fast; done; requests 5 20000 5010 ok Fast '"target":5005.000,"bdev":5.000' ",\"waits\":[$wait]"; } >in
    equal "$(causes)" ''
    sed -i 's/"waits"/"covered":["off_cpu"],&/' in
    equal "$(causes)" 'silent lcore 0 ok/1'
    # where it is often silent, a short silence may be work, such as copies of data for others
    short() { { fast; requests 200 20000 400 ok Fast '"target":400.000' ",\"waits\":[$(wait_of 400 target 350.000 "${1:-}")]"; } >in; }
    short
    equal "$(causes)" ''
    short ',"rare":true'
    equal "$(causes)" 'silent lcore 0 ok/1'
    # a device may take long, and the lcore has nothing to do then
    wait=$(wait_of 5000 bdev 4990.000)
    { fast; requests 5 20000 5010 ok Fast '"bdev":5010.000' ",\"waits\":[$wait]"; } >in
    equal "$(causes)" ''
    trace-causes in | grep -q '^cause not found: most of the extra time is in bdev (100 %)$'
}

@test "the process that had the CPU" {
    { fast; requests 20 20000 5010 ok Fast '"network":5000.000,"bdev":10.000' ',"off_cpu":4000.000,"off_cpu_by":{"burner":3900.000,"x":50.000}'; } >in
    equal "$(causes)" 'off_cpu burner ok/1'
}

@test "what waited before it was read waited for its reactor" {
    { fast; for i in $(seq 20); do requests 4 $((i * 250000)) 10 ok Fast '"bdev":10.000' ',"unread":9000.000,"unread_by":"burner"'; done; } >in
    equal "$(causes)" 'off_cpu burner ok/1'
    equal "$(trace-causes -j in | plain | jq -c '[.slow, .slow_us, .fast_us]')" '[80,9010,10]'
    # the command that is printed finds the line
    grep -c "\"us\":$(trace-causes in | sed -n 's/^  see: .*us=//p')," in
    # or its lcore worked for a connection or a thread
    sed -i 's/"unread_by":"burner"/"unread_for":"cleaner\/1"/' in
    equal "$(causes)" 'reactor cleaner/1 ok/1'
    sed -i 's/cleaner\/1/app_thread/' in
    equal "$(causes)" 'reactor app_thread ok/1'
}

@test "a silence while a reply is in its socket is the host's, if the lcore was on its CPU" {
    {
        fast
        requests 100 20000 510 ok Fast '"network":505.000,"bdev":5.000' ",\"waits\":[$(wait_of 500 network 400.000 \
            ",\"active\":20.000,\"of\":{\"cleaner/1\":[18,20.000]},\"queued\":0")]"
        requests 1 0 10 cleaner Fast '"bdev":10.000'
    } >in
    equal "$(causes)" ''
    sed -i 's/"waits"/"covered":["off_cpu"],&/' in
    equal "$(causes)" 'reply ok ok/1'
}

@test "what all have may take more than the few of a tail" {
    wait=$(wait_of 90 network 1.000 ',"of":{"hog/1":[90,90.000]},"active":90.000,"queued":0')
    { requests 1000 0 100 ok Fast '"network":95.000,"bdev":5.000' ",\"waits\":[$wait]"; requests 1 0 10 hog Other '"bdev":10.000'
      requests 5 200000 4000 ok Fast '"network":3995.000,"bdev":5.000' ',"off_cpu":3900.000,"off_cpu_by":{"burner":3900.000}'; } >in
    equal "$(causes | tr '\n' ' ')" 'reactor hog ok/1 off_cpu burner ok/1 '
}

@test "what many processes do to a reactor together is one cause" {
    { fast; for i in $(seq 20); do requests 5 $((i * 20000)) 3010 ok Fast '"network":3000.000,"bdev":10.000' ",\"off_cpu\":3000.000,\"off_cpu_by\":{\"cc$((i % 10))\":3000.000}"; done; } >in
    equal "$(trace-causes -j in | plain | jq -c '[.cause, .who, .of_several, .share]')" '["off_cpu","cc0",true,1]'
    trace-causes in | grep -qx 'cause: the reactor was off its CPU: cc0 and others (100 % of the extra time)'
    # if one of them has half, it is that one's
    sed -i 's/cc[1-5]/cc0/' in
    equal "$(trace-causes -j in | plain | jq -c '[.cause, .who, .of_several, .share]')" '["off_cpu","cc0",null,0.6]'
}

@test "what happened once counts half" {
    wait=$(wait_of 5000 target 4990.000)
    { fast
      requests 1 20000 5010 ok Fast '"network":5000.000,"bdev":10.000' ',"off_cpu":5000.000,"off_cpu_by":{"sed":5000.000}'
      requests 1 30000 2010 ok Fast '"target":2000.000,"bdev":10.000' ",\"waits\":[$(wait_of 2000 target 1990.000)]"
      requests 1 40000 2010 ok Fast '"target":2000.000,"bdev":10.000' ",\"waits\":[$(wait_of 2000 target 1980.000)]"; } >in
    equal "$(causes | head -n 1)" 'silent lcore 0 ok/1'
}

@test "proven waits need nothing to compare with" {
    requests 100 0 2000 ok Lim '"bdev":2000.000' ',"rate_limit":1990.000' >in
    equal "$(causes)" 'rate_limit Lim ok/1'
    requests 100 0 2000 ok Thin '"bdev":2000.000' ',"copy":1990.000' >in
    equal "$(causes)" 'copy Thin ok/1'
    requests 100 0 2000 ok B '"target":2000.000' ',"no_io":1990.000' >in
    equal "$(causes)" 'no_io B ok/1'
    # a bdev holds it
    { fast; requests 5 20000 2000 ok E '"bdev":2000.000' ',"no_io":1990.000'; } >in
    equal "$(causes)" 'bdev E ok/1'
    requests 100 0 2000 ok Nvme0n1 '"bdev":2000.000' ',"retry":1990.000' >in
    equal "$(causes)" 'retry Nvme0n1 ok/1'
    requests 100 0 2000 ok B '"bdev":2000.000' ',"full_queue":16' >in
    equal "$(causes)" 'queue ok ok/1'
}

@test "one leg of several" {
    # a bdev that few requests were longest in is no leg
    { requests 1000 0 400 ok Raid '"bdev":400.000' | sed 's/"bdev":"Raid"/&,"leg":"A"/'
      requests 4 900000 400 ok Raid '"bdev":400.000' | sed 's/"bdev":"Raid"/&,"leg":"B"/'; } >in
    trace-causes in | grep -q 'waited for bdev Raid  *402 ms'
    { requests 100 0 10 ok Raid '"bdev":10.000' | sed 's/"bdev":"Raid"/&,"leg":"A"/'
      requests 100 0 2000 ok Raid '"bdev":2000.000' | sed 's/"bdev":"Raid"/&,"leg":"B"/'; } >in
    equal "$(causes)" 'leg B ok/1'
    # a bdev has one below it: which of the two has most of the time is no choice of the request
    sed 's/"leg":"A"/"x":1/' in >in2 && mv in2 in
    [ "$(causes | grep -c leg)" = 0 ]
}

@test "who had what was waited for: rows add up to the lives" {
    # of a wait for a device only the part in which the lcore was busy belongs to others
    wait=$(wait_of 500 bdev 10.000 ',"of":{"hog/1":[90,30.000],"ok/1":[1,1.000]}')
    { fast; requests 100 20000 510 ok Disk '"bdev":505.000,"target":5.000' ",\"waits\":[$wait]"
      requests 300 900000 10 ok Disk '"bdev":10.000'; requests 1 0 10 hog Fast '"bdev":10.000'; } >in
    trace-causes -m 500 in >text
    grep -q '^  ok  *waited for bdev Disk  *47.5 ms 100 % at work$' text
    grep -q '^  ok  *waited for lcore 0  *3.50 ms  86 % busy with hog$' text
    equal "$(trace-causes -j -m 500 in | jq -s 'map(.rows // [] | map(.us)) | add | add | round')" 51000
    # the legs of a bdev
    wait=$(wait_of 1900 bdev)
    { requests 100 0 10 ok Raid '"bdev":10.000' | sed 's/"bdev":"Raid"/&,"leg":"A"/'
      requests 100 0 2000 ok Raid '"bdev":2000.000' ",\"waits\":[$wait]" | sed 's/"bdev":"Raid"/&,"leg":"B"/'; } >in
    trace-causes in | grep -q '^  ok  *waited for leg B  *200 ms 100 % at work$'
    equal "$(trace-causes -j in | plain | jq -c '.rows // empty | .[0]')" '{"resource":"leg","cause":"leg","of":"B","host":"ok","us":200000}'
    # no bdev I/O was started
    requests 100 0 2000 ok B '"target":2000.000' ",\"no_io\":1990.000,\"waits\":[$(wait_of 1990 target)]" >in
    trace-causes in | grep -q '^  ok  *waited for bdev B  *199 ms 100 % no I/O started$'
    equal "$(trace-causes -j in | plain | jq -c '.rows')" \
        '[{"resource":"bdev","cause":"no_io","of":"B","host":"ok","us":199000},{"resource":"lcore","cause":"target","of":"0","host":"ok","us":1000}]'
}

# The rows of what the slow ones have in common.
common() {
    trace-causes -q "$@" in | sed -n '/^what the slow ones have in common/,/^$/p' | sed 's/  */ /g; 1d; /^$/d; s/^ //'
}

@test "what held the reactor, and a full queue, are common" {
    requests 20 20000 500 ok Fast '"bdev":500.000' ',"off_cpu":100.000,"off_cpu_by":{"tar":30.000,"burner":70.000}' >long
    { fast; cat long; } >in
    equal "$(common)" 'off CPU: burner 100 % 0 %'
    # a short time is no reason
    { fast; sed 's/"off_cpu":100/"off_cpu":49/' long; } >in
    equal "$(common)" ''
    { fast; sed 's/off_cpu/irq/g; s/burner/net_rx/' long; } >in
    equal "$(common)" 'irq: net_rx 100 % 0 %'
    { fast; requests 20 20000 500 ok Fast '"bdev":500.000' ',"full_queue":16'; } >in
    equal "$(common)" 'full queue of ok 100 % 0 %'
}

@test "a window of time that has most of the slow ones" {
    { for i in $(seq 0 9); do requests 100 "$((100000 * i))" 100 ok Fast '"bdev":100.000'; done
      for i in $(seq 0 9); do requests 1 "$((310000 + 2000 * i))" 1500 ok Fast '"bdev":1500.000'; done
      requests 1 700000 1500 ok Fast '"bdev":1500.000'; } >in
    equal "$(common)" 'between 0.310 and 0.328 s 91 % 0 %'
    # one moment, or a group, is none
    { for i in $(seq 0 9); do requests 100 "$((100000 * i))" 100 ok Fast '"bdev":100.000'; done
      for i in $(seq 0 9); do requests 1 "$((310000 + 10 * i))" 1500 ok Fast '"bdev":1500.000'; done; } >in
    equal "$(common)" ''
    { for i in $(seq 0 9); do requests 100 "$((100000 * i))" 10 ok Fast '"bdev":10.000'; done
      requests 50 310000 2000 x Slow '"bdev":2000.000'; } >in
    [[ $(common) != *between* ]]
}

@test "a random choice of slow requests has nothing in common" {
    awk 'BEGIN {
        srand(7)
        for (i = 0; i < 3000; i++) {
            life = rand() < 0.1 ? 1000 : 10
            printf "{\"tsc\":1,\"us\":%d.000,\"life\":%d.000,\"lcore\":%d,\"id\":\"r%d\",\"connection\":\"h%d/%d\",", i * 50, life, i % 3, i, i % 5, i % 4
            printf "\"io\":{\"type\":\"%s\",\"blocks\":8,\"bdev\":\"B%d\",\"lba\":%d,\"qd\":%d},", i % 2 ? "read" : "write", i % 7, 65536 * (i % 11), i % 16
            printf "\"states\":[[\"TCP_REQ_NEW\",1.000]],\"layers\":{\"bdev\":%d.000}}\n", life
        }
    }' >in
    trace-causes -m 500 in | grep -q '^3000 requests, [0-9]* slow ones'
    equal "$(common -m 500)" ''
}

# N requests in flight at 7 s, one a microsecond from FIRST us on, that are in this layer, behind others.
flying() { # N FIRST HOST BDEV LAYER BEHIND
    local i
    for ((i = 0; i < $1; i++)); do
        requests 1 $(($2 + i)) $((7000000 - $2 - i)) "$3" "$4" "\"$5\":$((7000000 - $2 - i)).000" \
            ",\"open\":true,\"behind\":\"$6\",\"waits\":[$(wait_of $((7000000 - $2 - i)) "$5")]"
    done
}

@test "what hangs is said first, with the head of the queue or the deadlock that most of the time is behind" {
    {
        fast
        flying 8 2000000 pod Volume drive 'requests of engine > buffer > deadlock'
        flying 24 2000008 pod - buffer 'buffer > deadlock'
        flying 8 2000100 engine - buffer 'buffer > deadlock'
    } >in
    trace-causes -q --open in >text
    equal "$(head -n 6 text)" 'deadlock: 8 requests of pod to Volume hold all buffers, for 5.00 s
  they wait for requests of engine, which wait for a buffer
in flight at the end: 40, the oldest for 5.00 s
  5.00 s: 8 of pod, read, Volume: in drive, behind requests of engine > buffer > deadlock
  5.00 s: 24 of pod, read, -: in buffer, behind buffer > deadlock
  5.00 s: 8 of engine, read, -: in buffer, behind buffer > deadlock'
    equal "$(trace-causes -q -j --open in | plain | head -n 1)" \
        '{"cause":"deadlock","who":"pod","bdev":"Volume","n":8,"in_flight":40,"oldest_us":5000000}'
    equal "$(trace-causes -q -j in | head -n 1)" "$(trace-causes -q -j --open in | head -n 1)"
    {
        fast
        flying 1 2000000 pod Slow bdev 'bdev Slow'
        flying 2 2000001 pod - buffer 'buffer of pod > bdev Slow'
        flying 1 2000004 web Web bdev 'bdev Web'
        flying 1 2000005 web Slow bdev 'bdev Slow'
    } >in
    equal "$(trace-causes -q --open in | head -n 1)" \
        'hang: 4 of 5 requests wait for bdev Slow, 2 for buffer of pod, for 5.00 s'
    equal "$(trace-causes -q -j --open in | plain | head -n 1)" '{"cause":"hang","who":"bdev Slow","n":4,"in_flight":5,"oldest_us":5000000}'
    # one that is as old has ended
    requests 1 0 4000000 slow Slow '"bdev":4000000.000' >>in
    trace-causes -q --open in >text
    if grep hang text; then false; fi
}

@test "requests in flight that are far older than all others are said" {
    { fast; requests 2 0 19 ok Fast '"bdev":19.000' ',"open":true'; } >in
    if trace-causes in | grep 'in flight'; then false; fi
    { fast; requests 2 0 90000 ok Fast '"bdev":90000.000' ',"open":true'; requests 1 0 90001 other Fast '"bdev":90001.000' ',"open":true'; } >in
    trace-causes in >text
    equal "$(head -n 3 text)" 'in flight at the end: 3, the oldest for 90.0 ms
  90.0 ms: 1 of other, read, Fast: in bdev
  90.0 ms: 2 of ok, read, Fast: in bdev'
    equal "$(trace-causes -k 'args.qpair.hostnqn=*other' in | head -n 1)" 'in flight at the end: 1, the oldest for 90.0 ms'
    # few of them, and not for long: others end
    equal "$(trace-causes -j in | jq -r .cause)" none
}

@test "the layers add up to what is more" {
    { fast
      requests 7 20000 1001.003 ok Fast '"bdev":333.334,"network":333.334,"reply":334.335'
      requests 6 40000 1003.001 ok Fast '"bdev":333.335,"network":333.333,"reply":336.333'; } >in
    trace-causes -j -m 500 in >out || true
    trace-causes -m 500 in >text
    equal "$(head -n 1 out | jq '[(.layers | add), .slow_us - .fast_us] | map(. * 1000 | round) | unique | length')" 1
    head -n 1 out | jq '.layers[] * 1000 | round | select(. > 0)' | text | tr -d '[]' | sort >want
    [ -s want ]
    awk '/^where/ { on = 1; next } !NF { on = 0 } on { printf "%7s\n", $2 " " $3 }' text | sort | diff want -
}

@test "layers and rows of findings, and the ledger, add up to the nanosecond" {
    { fast | sed 's/10.000/10.001/g'
      requests 7 2000 1001.003 deaf Fast '"bdev":300.334,"network":700.334,"reply":0.335' ",\"waits\":[$(wait_of 700.333 network 11.111 ',"queued":1'),$(wait_of 300.001 bdev 300.001)]"
      requests 6 40000 1003.001 ok Fast '"buffer":333.335,"network":333.333,"host":336.333' ",\"waits\":[$(wait_of 333.331 buffer 0.000 ',"buffers":7,"holders":{"h/1":3}')]"; } >in
    trace-causes -j -m 500 in >out
    [ -s out ]
    equal "$(jq '((.slow_us - .fast_us) * 1000 | round) - (.layers | add * 1000 | round)' out | sort -u)" 0
    equal "$(jq -s 'map(.rows // [] | map(.us)) | add | add * 1000 | round' out)" $((7 * 1001003 + 6 * 1003001))
    # also what has not ended, or not begun
    { requests 1 50000 7000.001 ok Fast '"unknown":7000.001' ',"cut":true'; requests 1 60000 9000.007 x Y '"buffer":9000.007' ',"open":true'; } >>in
    trace-causes -q --ledger in >text
    equal "$(head -n 1 text)" $'US\tREQUESTS\tLONGEST\tCONNECTION\tTYPE\tBLOCKS\tLCORE\tRESOURCE\tOF\tCAUSE\tWHO'
    equal "$(awk -F '\t' 'NR > 1 { sum += $1 } END { printf "%.3f", sum }' text)" "$(jq .life in | awk '{ sum += $1 } END { printf "%.3f", sum }')"
    grep -qx $'7000.001\t1\t7000.001\tok/1\tread\t8\t0\tunknown\t-\tunknown\t-' text
    equal "$(trace-causes -q --ledger -j in | jq -s 'map(.us * 1000) | add | round')" "$(jq -s 'map(.life * 1000) | add | round' in)"
    equal "$(trace-causes -q --ledger -j -k connection=ok/1 in | jq -r .connection | sort -u)" ok/1
}

@test "-m sets the limit by hand" {
    { fast; requests 50 0 30 ok Fast '"bdev":30.000' ; requests 10 0 35 x Fast '"bdev":35.000'; } >in
    equal "$(causes)" ''
    trace-causes -m 30 in | grep -q '^1060 requests, 60 slow ones'
}

@test "what is in flight, incomplete, admin or a child is left out" {
    { fast; requests 3 0 90000 ok Fast '"bdev":90000.000' ',"open":true'
      requests 3 0 90000 ok Fast '"target":90000.000' ',"admin":true'
      requests 3 0 90000 ok Fast '"target":90000.000' ',"lost":true'
      requests 3 0 90000 ok Fast '"target":90000.000' ',"parent":"r1"'; } >in
    status_is 0 trace-causes in
    [[ $output == *$'\n1000 requests, mean 10.0 us'* ]]
    says '3 requests in flight left out; see --open'
    says '3 admin requests left out'
    says '3 requests left out: entries are missing in them'
    trace-causes -q --open in | grep -q '^1003 requests, 3 slow ones'
}

@test "-g explains the requests of each value" {
    { fast; requests 50 0 2000 other Lim '"bdev":2000.000' ',"rate_limit":1990.000'; } >in
    equal "$(trace-causes -j -g connection in | jq -c '[.group, .cause, .who]')" \
        $'[{"connection":"other/1"},"rate_limit","Lim"]\n[{"connection":"ok/1"},"none",null]'
    equal "$(trace-causes -g bdev in | grep ^=)" $'= bdev=Lim\n= bdev=Fast'
    # the group with most time first; no more than 64
    for i in $(seq 70); do requests 1 0 "1$i" "h$i" Fast "\"bdev\":1$i.000"; done >in
    status_is 0 trace-causes -g connection in
    equal "$(grep -c '^= ' <<<"$output")" 64
    equal "${output%%$'\n'*}" '= connection=h70/1'
    says '6 groups left out, with less time than the others'
}

@test "-j prints an object if nothing stands out" {
    { fast; requests 5 20000 5010 ok Fast '"bdev":5010.000' ",\"waits\":[$(wait_of 5000 bdev 4990.000)]"; } >in
    equal "$(trace-causes -j in)" "$(printf '%s' '{"cause":"none","kind":"tail","slow_us":5010.000,"fast_us":10.000,"slow":5,"others":1000,' \
        '"layers":{"network":0.000,"buffer":0.000,"host":0.000,"target":0.000,"below":0.000,"bdev":5000.000,"drive":0.000,"reply":0.000,' \
        '"unknown":0.000},"rows":[{"resource":"bdev","cause":"bdev","of":"Fast","host":"ok","us":25050.000}]}')"
    fast >in
    equal "$(trace-causes -j -g bdev in | plain | jq -c '[.group, .cause, .kind, .slow, .slow_us]')" '[{"bdev":"Fast"},"none","alike",1000,10]'
}

@test "requests that failed are counted by status" {
    { requests 90 0 10 ok Fast '"bdev":10.000' | sed 's/"blocks":8/&,"status":"success"/'
      requests 5 900 10 ok Fast '"bdev":10.000' | sed 's/"blocks":8/&,"status":"aborted - by request"/'
      for i in 1 2 3 4 5 6 7 8; do requests 1 $((1000 + 20 * i)) 10 ok Fast '"bdev":10.000' | sed "s/\"blocks\":8/&,\"status\":\"s$i\"/"; done; } >in
    trace-causes in | grep -qx '13 failed: 5 with aborted - by request, 1 with s1, 1 with s2, 1 with s3, 5 with others'
    equal "$(trace-causes -j in | jq -c '[.failed, (.statuses | length), .statuses["aborted - by request"]]')" '[13,4,5]'
    fast >in
    equal "$(trace-causes -j in | jq -c .failed)" null
}

@test "--against compares with an earlier trace" {
    fast >base
    requests 1000 0 15 ok Fast '"bdev":15.000' >in
    equal "$(causes)" ''
    equal "$(causes --against base)" 'bdev Fast ok/1'
    trace-causes --against base in >text
    grep -qx '1000 requests; 1000 took 15.0 us each,' text
    grep -qx 'those of the earlier trace 10.0 us: 5.00 us more' text
    # all have the lcore in common
    if grep '^what the slow ones have in common' text; then false; fi
    # requests that got faster have no cause
    mv base slow && mv in base && mv slow in
    equal "$(causes --against base)" ''
    equal "$(trace-causes --against base in)" '1000 requests: none is slow'
    mv base slow && mv in base && mv slow in
    # of another size there is nothing to compare with
    sed 's/"blocks":8/"blocks":800/' base >other
    equal "$(causes --against other)" ''
}

@test "random halves of a trace do not differ" {
    { fast; requests 40 3 900 ok Fast '"bdev":900.000'; requests 200 5 300 other Fast '"bdev":300.000'; } |
        # in the order of time, as span lines are not
        sort -t: -k3,3n >all
    for seed in {1..20}; do
        awk -v seed="$seed" 'BEGIN { srand(seed) } { print >(rand() < 0.5 ? "base" : "in") }' all
        equal "$(causes --against base)" ''
    done
}

@test "an lcore that is busy with many connections of a host" {
    wait=$(wait_of 500 network 10.000 ',"of":{"hog/1":[9,30.000],"hog/2":[9,30.000]},"hosts":{"hog":[90,400.000,20]},"active":500.000,"queued":0')
    { fast; requests 100 20000 510 ok Fast '"network":505.000,"bdev":5.000' ",\"waits\":[$wait]"
      requests 1 0 10 hog Fast '"bdev":10.000' ',"admin":true'; } >in
    equal "$(causes)" 'reactor hog ok/1'
    trace-causes -q in | grep -q 'waited for lcore 0 .* 100 % busy with hog$'
}

@test "damaged lines are reported and skipped" {
    { fast; echo '{"tsc":1,"us":1.000,"life":5.000,"states":[],"layers":{"bdev":4.000}}'; echo '{"tsc":1'; echo '{"tsc":1,"us":1.000,"states":[]}'
      for layer in '' ',"layer":"moon"'; do
          echo '{"tsc":1,"us":1.000,"open":true,"life":5.000,"states":[],"layers":{"bdev":5.000},"waits":[{"us":5.000'"$layer"'}]}'
      done; } >in
    fails 'in:1001: its layers are not its life' trace-causes in
    says 'in:1002: '
    says 'in:1003: life is missing'
    says 'in:1004: a wait is in no layer, or in one that is not known'
    says 'in:1005: a wait is in no layer, or in one that is not known'
    [[ $output == '1000 requests'* ]]
}

@test "the sample: a host waits for the buffers of another one" {
    command -v gzip >/dev/null || skip 'gzip is not here'
    gzip -dc "$DATA/slow-host.trace.gz" >trace
    qpair-lifetimes -q "$DATA/slow-host-probes.txt" >lifetimes
    trace-dump -q trace | trace-join -q -j -l lifetimes | trace-spans -q -j >in
    equal "$(trace-causes -q -j -k 'args.qpair.hostnqn=*db-1' in | jq -r '[.cause, .who] | join(" ")' | head -n 1)" 'buffer backup-1'
}

@test "trace lines say the same as the span lines of trace-spans" {
    command -v gzip >/dev/null || skip 'gzip is not here'
    gzip -dc "$DATA/slow-host.trace.gz" >trace
    qpair-lifetimes -q "$DATA/slow-host-probes.txt" >lifetimes
    trace-dump -q trace | trace-join -q -j -l lifetimes >lines
    head -n 2000 lines >earlier
    trace-spans -q -j lines >spans
    trace-spans -q -j earlier >earlier.spans
    local options
    while read -r options; do
        # shellcheck disable=SC2086 # several words
        trace-causes -q $options spans >want
        # shellcheck disable=SC2086
        trace-causes -q ${options/.spans/} lines | diff want -
    done <<'O'

-j --open
--ledger
-g args.qpair.hostnqn
-g io.type -j
-k args.qpair.hostnqn=*db-1
-k type=write -k waits=*buffer*
-k states=*BDEV*
-m 1000
--against earlier.spans
O
    # what could not be assembled is said
    { cat lines; sed -n '2500,$ { /BDEV_IO_START/ { p; q } }' lines; } >late
    status_is 0 trace-causes late
    says 'late: 1 object is created before the last entry at its address'
    echo '{"tsc":1,"tpoint":"X","lcore":0}' >>lines
    status_is 1 trace-causes lines
    says "lines:$(wc -l <lines): not a trace line, left out: tsc, us, lcore or tpoint is missing"
}
