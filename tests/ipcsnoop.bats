#!/usr/bin/env bats
# What ipcsnoop prints of tests/pipe-target.c and of shells, where the kernel lets it.
# bats file_tags=sanitizers

load helpers

setup_file() {
    needs_to_run ipcsnoop -q -o probed -- true
}

teardown() {
    kill_left recorder started
}

# Runs ipcsnoop with the file lines as its output. What the command prints goes to the file out, since a pipe would
# be seen, and notes to the file log. For how many microseconds at most it ran is $took.
snoop() { # STATUS [OPTION]... COMMAND...
    local want=$1 status=0 begin
    shift
    begin=$(uptime_ms)
    timeout 60 ipcsnoop -o lines "$@" >out 2>log || status=$?
    take_lost
    took=$((1000 * ($(uptime_ms) - begin + 10)))
    [ "$status" = "$want" ] || { echo "exit $status, not $want"; cat log; return 1; }
}

# The reads and writes of a command, as JSON.
events_of() { # COMMAND...
    snoop 0 -e -j -- "$@"
}

# The arguments of the lines: KEY...; what is absent or false is "-".
column() {
    jq -r --args '[$ARGS.positional[] as $key | .args[$key] // "-" | tostring] | join(" ")' "$@" <lines
}

# How often a call was made: NAME
calls() {
    sed -n "s/^@syscalls\[$1\]: //p" lines
}

# Watches the target into the file lines, lets it go on and waits for both.
watch() {
    begin tracing ipcsnoop -p "$started"
    echo >&"$go"
    wait "$recorder"
    wait "$started"
    recorder='' started=''
}

@test "every write and read, how many bytes, and how full the pipe was" {
    events_of pipe-target plain=97
    pipe=$(cat out)
    equal "$(column call pipe asked moved queued used slots)" "$(
        # 90 of them, 4095 bytes, fit into the first page
        for i in $(seq 97); do echo "write $pipe $i $i $((i * (i - 1) / 2)) $(((i > 1) + (i > 91))) 16"; done
        for i in $(seq 97); do echo "read $pipe $i $i $((97 * 98 / 2 - i * (i - 1) / 2)) $((1 + (i <= 90))) 16"; done)"
    pid=$(sed -n 's/^ipcsnoop: started pipe-target, pid //p' log)
    equal "$(column comm pid blocked | sort -u)" "pipe-target $pid -"
    equal "$(jq -s --argjson took "$took" 'all(.args.latency > 0 and .args.blocked == false) and (map(.args.latency) | add) < $took' lines)" true
    equal "$(jq -s '.[0].us == 0 and ([.[].us] | . == sort) and ([.[].tsc] | . == sort)' lines)" true
    equal "$(jq -r .tpoint lines | uniq -c | tr -s ' ')" ' 97 PIPE_WRITE
 97 PIPE_READ'
}

@test "tsc is the processor's counter when the call ended" {
    has_ticks || skip "the clock source is not the processor's counter"
    # for a second, in which the clock is compared with the counter ten times
    snoop 0 -e -j -- pipe-target stamp=200
    equal "$(wc -l <lines)" 200
    # a call takes longer than the two are read apart
    jq -r .tsc lines | paste - <(sed 1d out) | awk '$1 < $2 || $1 > $3 { print; bad = 1 } END { exit bad }'
}

@test "where the clock is not made from the counter, tsc is in nanoseconds" {
    has_ticks && [ "$(id -u)" = 0 ] || skip 'needs another clock source, or root'
    echo hpet >source
    unshare --mount bash -c 'mount --bind source /sys/devices/system/clocksource/clocksource0/current_clocksource
        ipcsnoop -e -j -o lines -- pipe-target stamp=1 2>log >out
        ipcsnoop -e --wall -o columns -- pipe-target stamp=1 2>quiet >out'
    take_lost
    grep 'ipcsnoop: tsc is in nanoseconds of CLOCK_MONOTONIC, not as in traces of SPDK: ' log
    # within a minute of the machine's uptime
    jq .tsc lines | awk '{ getline uptime <"/proc/uptime"; d = $1 / 1e9 - uptime; exit !(d > -60 && d < 60) }'
    # the time of day does not depend on it
    equal "$(tr '\t' ' ' <columns | grep -c '^[0-9:]\{8\}[.][0-9]\{6\} 0[.]')" 1
    equal "$(grep 'ipcsnoop: tsc' quiet || true)" ''
}

# Runs ipcsnoop in a time zone where it is about noon, so that times of day are in order; $before and $after enclose it.
snoop_at_noon() { # FORMAT-OF-date ARGUMENT...
    local TZ
    TZ=X$(($(date -u +%-H) - 12)):30
    export TZ
    before=$(date "+$1")
    snoop 0 "${@:2}"
    after=$(date "+$1")
}

# bats test_tags=any-kernel
@test "the time of day" {
    # for a second, in which the clocks are compared ten times
    snoop_at_noon %s%N -e -j --wall -- pipe-target stamp=200
    equal "$(grep -c '^{"tsc":[0-9]*,"us":[0-9.]*,"time":"[0-9-]*T[0-9:]*[.][0-9]\{9\}Z","lcore":' lines)" 200
    jq -r .time lines | date -u -f - +%s%N >moments
    [ "$before" -le "$(head -n 1 moments)" ] && [ "$(tail -n 1 moments)" -le "$after" ]
    # as far apart as microseconds say
    equal "$(awk 'NR == 1 { first = substr($0, 6) } { printf "%.0f\n", substr($0, 6) - first }' moments)" "$(jq '.us * 1000 | round' lines)"
    # in columns it is the local one
    snoop_at_noon %T.%6N -e --wall -- pipe-target plain=3
    equal "$(head -n 1 lines | tr '\t' ' ')" 'time us comm pid call d channel asked moved slots queued b latency error unfinished'
    equal "$(tr '\t' ' ' <lines | grep -c '^[0-9:]\{8\}[.][0-9]\{6\} [0-9]*[.][0-9]\{3\} pipe-target ')" 6
    equal "$({ echo "$before"; sed 1d lines | cut -f 1; echo "$after"; } | sort -c 2>&1)" ''
}

@test "vectors" {
    events_of pipe-target vectors=10
    equal "$(column call asked moved queued)" 'writev 60 60 0
readv 30 30 60
pwritev2 10 10 30
preadv2 60 40 40'
}

@test "splice, tee, vmsplice and sendfile: a line for each end that is a pipe" {
    events_of pipe-target splices=1000
    { read -r a; read -r b; } <out
    equal "$(jq -r '"\(.tpoint) \(.args | "\(.call) \(.pipe) \(.asked) \(.moved) \(.queued)")"' lines)" "PIPE_WRITE write $a 1000 1000 0
PIPE_READ tee $a 2000 1000 1000
PIPE_WRITE tee $b 2000 1000 0
PIPE_READ splice $a 999 999 1000
PIPE_WRITE splice $b 999 999 1000
PIPE_READ splice $b 1000 1000 1999
PIPE_WRITE vmsplice $a 1005 1005 1
PIPE_READ vmsplice $b 1000 999 999
PIPE_WRITE sendfile $b 1000 1000 0"
}

@test "a pipe that becomes full" {
    events_of pipe-target fill=4096
    equal "$(column call moved used slots queued error)" "$(for i in $(seq 0 15); do echo "write 4096 $i 16 $((4096 * i)) -"; done)
write - 16 16 65536 EAGAIN"
}

@test "a pipe that was made larger, and whose buffers begin again" {
    events_of pipe-target resize=65536
    equal "$(column moved used slots queued)" '196608 0 64 0
196608 48 64 196608
131072 0 64 0
1 32 64 131072'
}

@test "calls that fail" {
    events_of pipe-target fail=5
    equal "$(column call moved queued error)" 'write 5 0 -
read - 5 EFAULT
write - 5 EPIPE'
    events_of pipe-target interrupt=50
    equal "$(column call moved blocked error)" 'read - true ERESTARTSYS'
}

@test "who waits for whom: an empty pipe and a full one" {
    # half a second from when the other end, which is the second child of the shell, waits
    events_of sh -c '{ until read -r _ other <"/proc/$$/task/$$/children"; grep -q "^[0-9]* 0x0 " "/proc/$other/syscall"; do sleep 0.01; done
        sleep 0.5; echo a; } 2>/dev/null | cat'
    # the end of the pipe comes at once, or soon
    equal "$(jq -r --argjson took "$took" 'select(.args.comm == "cat") | .args |
        "\(.moved) \(.queued) \(.blocked) \(.latency >= 500000 and .latency < $took)"' lines | head -n 1)" '2 0 true true'
    equal "$(jq -r 'select(.tpoint == "PIPE_WRITE") | .args.blocked' lines)" false
    # one end is the other's
    equal "$(column pipe | sort -u | wc -l)" 1

    events_of sh -c 'dd if=/dev/zero bs=4k count=17 status=none | {
        until read -r other _ <"/proc/$$/task/$$/children"; grep -q "^[0-9]* 0x1 " "/proc/$other/syscall"; do sleep 0.01; done 2>/dev/null
        sleep 0.5; cat; }'
    equal "$(jq -r --argjson took "$took" 'select(.args.comm == "dd") | .args |
        "\(.used) \(.queued) \(.blocked) \(.latency >= 500000 and .latency < $took)"' lines | tail -n 1)" '16 65536 true true'
    equal "$(jq -s 'map(select(.tpoint == "PIPE_READ") | .args.moved) | add' lines)" $((17 * 4096))
}

@test "calls that have not ended when tracing does" {
    # the pipe is written to when the lines are there
    snoop 0 -D 2 -- sh -c '{ until grep -q "^[0-9]" lines; do sleep 0.1; done; } | cat'
    pipe=$(awk '$4 == "read" { print $6 }' lines)
    [[ $(sed -n 2p lines | tr '\t' ' ') =~ ^0\.000\ cat\ [0-9]+\ read\ R\ $pipe\ [0-9]+\ -\ 0/16\ 0\ B\ [0-9.]+\ -\ unfinished$ ]]
    equal "$(sed -n 3p lines)" ''
    # the same when a signal ends it
    mkfifo fifo
    # shellcheck disable=SC2034 # it only keeps the pipe open
    exec {open}<>fifo
    ipcsnoop -e -j -o lines -- sh -c 'cat fifo & echo $! >child; echo hello >fifo' >out 2>log &
    recorder=$!
    wait_for_text hello out
    wait_for_text 'ended with status 0' log
    # it reads again, from whatever descriptor
    wait_for waits_in_call_on '0x[0-9a-f]' "$(cat child)"
    kill "$recorder"
    wait "$recorder"
    take_lost
    kill "$(cat child)"
    equal "$(jq -c '.args | [.comm, .call, .moved, .unfinished]' lines | sort)" '["cat","read",6,null]
["cat","read",null,true]
["sh","write",6,null]'
}

@test "named pipes" {
    mkfifo fifo
    events_of sh -c 'echo hello >fifo & cat fifo'
    # the reader may be back before the writer is: the lines are in the order of returns
    equal "$(column comm call pipe moved | grep sh)" "sh write $(stat -c %i fifo) 6"
    equal "$(column comm call pipe moved | grep -v sh)" "cat read $(stat -c %i fifo) 6
cat read $(stat -c %i fifo) 0"
}

@test "socket pairs: every message, and who is at the other end" {
    events_of pipe-target pair=100
    { read -r a; read -r b; } <out
    sent=$(for i in $(seq 100); do echo "UNIX_WRITE pipe-target sendto $a $b $i $i"; done)
    equal "$(jq -r 'select(.args.comm == "pipe-target") | "\(.tpoint) \(.args | "\(.comm) \(.call) \(.unix) \(.peer) \(.asked) \(.moved)")"' lines)" \
        "$sent
UNIX_READ pipe-target recvfrom $a $b 1 1"
    equal "$(jq -r 'select(.args.comm == "receiver") | "\(.tpoint) \(.args | "\(.call) \(.unix) \(.peer) \(.asked) \(.moved)")"' lines)" "$(
        for i in $(seq 100); do echo "UNIX_READ recvfrom $b $a 1048576 $i"; done
        echo "UNIX_WRITE sendto $b $a 1 1")"
    pid=$(sed -n 's/^ipcsnoop: started pipe-target, pid //p' log)
    equal "$(jq -r 'select(.args.comm == "receiver") | .args | "\(.peer_pid) \(.peer_comm)"' lines | uniq -c | tr -s ' ')" " 101 $pid pipe-target"
    equal "$(jq -r 'select(.tpoint == "UNIX_READ" and .args.comm == "pipe-target") | .args.peer_comm' lines)" receiver
}

@test "messages, vectors of them, and datagrams" {
    events_of pipe-target messages=10
    { read -r a; read -r b; } <out
    equal "$(column call unix peer asked moved error)" "sendmsg $a $b 30 30 -
recvmsg $b $a 30 30 -
sendmmsg $a $b - 70 -
recvmmsg $b $a - 70 -
write $b $a 10 10 -
read $a $b 20 10 -
recvfrom $a $b 10 - EAGAIN"
    snoop 0 -e -- pipe-target messages=10
    [[ $(sed -n 2p lines | tr '\t' ' ') =~ ^0\.000\ pipe-target\ [0-9]+\ sendmsg\ W\ unix:$(head -n 1 out)-$(tail -n 1 out)\ 30\ 30\ -\ -\ -\ [0-9.]+\ -\ -$ ]]
}

@test "a server that is not traced is named by what the kernel notes" {
    start pipe-target serve=7
    snoop 0 -e -j -- pipe-target dial=7
    equal "$(column call asked moved peer_pid peer_comm)" "write 7 7 $started pipe-target"
    wait "$started"
    started=
}

@test "TCP over loopback, by both versions of IP" {
    local acts=(tcp=1009) want='' server client
    [ ! -s /proc/net/if_inet6 ] || acts+=(tcp6=1009 tcp4in6=1009)
    events_of pipe-target "${acts[@]}"
    while read -r server && read -r client; do
        want+="TCP_WRITE write $client $server 1009 1009 null
TCP_READ recvfrom $server $client 1009 1009 pipe-target
TCP_WRITE sendto $server $client 2018 2018 pipe-target
TCP_READ recvfrom $client $server 2018 2018 pipe-target
"
    done <out
    equal "$(jq -r '"\(.tpoint) \(.args | "\(.call) \(.port) \(.peer_port) \(.asked) \(.moved) \(.peer_comm)")"' lines)" "${want%?}"
    # a socket for each end of each
    equal "$(column tcp | sort | uniq -c | awk '{ print $1 }')" "$(for _ in "${acts[@]}"; do printf '2\n2\n'; done)"
}

# bats test_tags=any-kernel
@test "TCP and UDP over loopback, as text" {
    snoop 0 -e -- pipe-target tcp=3 udp=5
    { read -r server; read -r client; } <out
    equal "$(awk 'NR > 1 { print $4, $5, $6, $7, $8, $9, $10 }' lines)" "write W tcp:$client-$server 3 3 - -
recvfrom R tcp:$server-$client 3 3 - -
sendto W tcp:$server-$client 6 6 - -
recvfrom R tcp:$client-$server 6 6 - -"
}

@test "message queues of POSIX and System V, and eventfd" {
    run pipe-target queue=1
    [ "$status" = 0 ] || skip "no message queues of POSIX here: $output"
    events_of pipe-target queue=100 sysv=50 event=3
    { read -r mq; read -r msg; read -r eventfd; } <out
    equal "$(jq -r '"\(.tpoint) \(.args | "\(.mq // .msg // .eventfd) \(.asked) \(.moved) \(.used) \(.slots) \(.queued) \(.error)")"' lines)" \
        "MQ_WRITE $mq 100 100 0 10 0 null
MQ_WRITE $mq 200 200 1 10 100 null
MQ_READ $mq 8192 100 2 10 300 null
MQ_READ $mq 8192 200 1 10 200 null
MQ_READ $mq 8192 null 0 10 0 EAGAIN
MSG_WRITE $msg 50 50 null null null null
MSG_READ $msg 100 50 null null null null
MSG_READ $msg 100 null null null null ENOMSG
EVENTFD_WRITE $eventfd 8 8 null null null null
EVENTFD_READ $eventfd 8 8 null null null null
EVENTFD_READ $eventfd 8 null null null null EAGAIN"
    equal "$(jq -r 'select(.tpoint | test("READ")) | .args.peer_comm' lines | tr '\n' ' ')" \
        'pipe-target pipe-target pipe-target pipe-target pipe-target null null '
}

# A pipeline whose writer waits until its reader, which is the second child of the shell, waits for it.
slow_pipeline() {
    echo '{ until read -r _ other <"/proc/$$/task/$$/children"; grep -q "^[0-9]* 0x0 " "/proc/$other/syscall"; do sleep 0.01; done
        echo a; } 2>/dev/null | cat'
}

@test "requests of io_uring" {
    # a kernel may have none, or not let them
    pipe-target uring=1 >/dev/null 2>err || { cat err; grep -qE 'not implemented|not permitted' err; skip 'no io_uring'; }
    events_of pipe-target uring=100
    { read -r pipe; read -r one; read -r other; } <out
    equal "$(column call pipe unix peer asked moved queued used error blocked)" "io_uring:write $pipe - - 100 100 0 0 - -
io_uring:writev $pipe - - - 200 100 1 - -
io_uring:read $pipe - - 200 200 - - - -
io_uring:read $pipe - - 1048576 100 100 1 - -
io_uring:read $pipe - - 100 - 0 0 EBADF -
io_uring:sendmsg - $one $other - 200 - - - -
io_uring:recv - $other $one 400 200 - - - true
io_uring:recv - $other $one 100 - - - ECANCELED true"
    # it was sent while the other end waited
    equal "$(jq -s '.[6].args.latency > 20000 and .[5].args.latency < .[6].args.latency' lines)" true
    equal "$(column comm peer_comm | sort | uniq -c | tr -s ' ')" ' 2 pipe-target -
 6 pipe-target pipe-target'
    snoop 0 -- pipe-target uring=100
    tr '\t' ' ' <lines | grep -Eq ' io_uring:recv R unix:[0-9-]+ 400 200 - - B [0-9.]+ - -$'
    # two that go on, one of them for a registered file
    snoop 0 -e -j -D 2 -- sh -c 'pipe-target uringwait=7 & until grep -q unfinished lines; do sleep 0.1; done; kill $!'
    equal "$(column call pipe asked moved unfinished | sort)" "io_uring:read $(cat out) 14 - true
io_uring:read $(cat out) 7 - true"
}

@test "requests of io_uring whose completion is not seen are counted" {
    pipe-target uring=1 >/dev/null 2>&1 || skip 'no io_uring'
    snoop 1 -e -j -- pipe-target uringsilent=5
    grep -qx 'ipcsnoop: 5 requests of io_uring asked for no completion: lines may be missing' log
    equal "$(column call)" ''
    equal "$(jq -c .args lost)" '{"tool":"ipcsnoop","lost":0,"missed":0,"skipped":0,"partial":5}'
    # the queue has room for 16 completions; Linux 6.1 shows the others as well
    status=0
    timeout 60 ipcsnoop -o lines -e -j -- pipe-target uringoverflow=20 >out 2>log || status=$?
    take_lost
    unseen=$(sed -n 's/^ipcsnoop: \([0-9]*\) requests\? of io_uring ended unseen: .*/\1/p' log)
    equal "$status" "$((${unseen:-0} > 0))"
    moved=$(jq -s 'map(select(.args.moved == 1)) | length' lines)
    [ "$moved" -ge 16 ]
    equal "$((moved + ${unseen:-0} + $(jq -s 'map(select(.args.unfinished)) | length' lines)))" 20
}

@test "peers, and who woke whom" {
    local pipeline
    pipeline=$(slow_pipeline)
    snoop 0 -e -j -w -- sh -c "$pipeline"
    writer=$(jq '.args | select(.comm == "sh") | .pid' lines)
    equal "$(jq -r '.args | select(.comm == "cat" and .moved > 0) | "\(.blocked) \(.waker_pid) \(.waker_comm) \(.peer_pid) \(.peer_comm)"' lines)" \
        "true $writer sh $writer sh"
    equal "$(jq -r '.args | select(.comm == "sh") | "\(.blocked) \(.waker_comm) \(.peer_comm)"' lines)" 'false null cat'
}

# bats test_tags=any-kernel
@test "peers, and who woke whom, as text" {
    local pipeline
    pipeline=$(slow_pipeline)
    snoop 0 -e -P -w -- sh -c "$pipeline"
    equal "$(head -n 1 lines | tr '\t' ' ')" 'us comm pid call d channel asked moved slots queued b peer_pid peer_comm waker_pid waker_comm latency error unfinished'
    writer=$(awk '$2 == "sh" { print $3 }' lines)
    equal "$(awk '$2 == "cat" && $8 > 0 { print $11, $12, $13, $14, $15 }' lines)" "B $writer sh $writer sh"
    # without -w nobody is asked
    events_of sh -c "$pipeline"
    equal "$(column waker_comm | sort -u)" -
}

@test "processes of a name, also those that start later" {
    # no other test has processes of this name
    cp "$BIN/pipe-target" snooped
    start ./snooped wait plain=3
    pid=$started
    pipe-target plain=1
    begin 'tracing processes named snooped: 1, and those that start later' ipcsnoop -e -j --name snooped
    pipe-target plain=5
    ./snooped plain=7 pair=2 >later &
    later=$!
    wait $later
    echo >&"$go"
    wait "$started"
    started=
    end
    equal "$(jq -r --argjson pid "$pid" --argjson later $later '.args | select(.pid == $pid or .pid == $later) |
        "\(.pid == $pid) \(.call)"' lines | sort | uniq -c | tr -s ' ')" ' 7 false read
 1 false recvfrom
 2 false sendto
 7 false write
 4 true read
 3 true write'
    # the children of one are traced as well, nobody else is
    equal "$(column comm | sort | uniq -c | tr -s ' ')" ' 3 receiver
 24 snooped'
}

@test "calls of each kind are counted: of threads, children and children of these" {
    snoop 0 -s -q -- pipe-target call=1009
    equal "$(calls getppid)" 1009
    equal "$(calls execve)" 1
    equal "$(calls exit_group)" 1
    snoop 0 -s -q -- pipe-target everywhere=1009
    equal "$(calls getppid)" $((4 * 1009))
    equal "$(calls exit_group)" 3
    snoop 0 -s -q -- sh -c 'pipe-target call=11; (pipe-target call=17 & pipe-target call=19 | cat; wait)'
    equal "$(calls getppid)" $((11 + 17 + 19 + 1))
}

@test "the same counts as strace" {
    command -v strace >/dev/null || skip 'strace is not here'
    command -v pipe-target
    strace -f -c -U calls,errors,name -o traced pipe-target call=1009 plain=7 vectors=3 splices=100 fail=3 fill=100 || skip 'strace does not work here'
    snoop 0 -s -j -q -- pipe-target call=1009 plain=7 vectors=3 splices=100 fail=3 fill=100
    # it does not count calls that do not return; and how much is unmapped when libraries are loaded depends on addresses
    jq -r 'select(.syscall | IN("exit_group", "munmap") | not) | "\(.syscall) \(.calls) \(.errors)"' lines | sort >counted
    awk '$1 ~ /^[0-9]+$/ && $NF != "total" && $NF != "munmap" { print $NF, $1, (NF > 2 ? $2 : 0) }' traced | sort | diff - counted
    grep -x 'getppid 1009 0' counted
}

@test "calls of 32 bits are counted apart, and their pipes are seen" {
    run pipe-target call32=1
    [ "$status" = 0 ] || skip "no system calls of 32 bits: $output"
    snoop 0 -s -q -- pipe-target call32=101 call=103
    equal "$(calls i386:getpid)" 101
    equal "$(calls getpid)" 101
    # 20 is writev in 64 bits
    equal "$(calls writev)" ''
    equal "$(calls getppid)" 103
    events_of pipe-target pipe32=20
    equal "$(column call pipe asked moved queued)" "i386:write $(cat out) 20 20 0
i386:read $(cat out) 3 3 20
i386:readv $(cat out) 27 17 17"
}

@test "the longest name of a process shifts no column" {
    cp "$(command -v cat)" fifteen_letters
    needs_terminal
    COLUMNS=200 script -qec "ipcsnoop -q -e -P -w -- sh -c 'echo x | ./fifteen_letters >/dev/null'" /dev/null </dev/null | tr -d '\r' >lines
    local heading
    heading=$(head -n 1 lines)
    heading=${heading%%LAT*}
    grep ' fifteen_letters [0-9]' lines | cut -c $((${#heading} + 1))- >last
    [ -s last ]
    run ! grep -vx '[0-9.]*' last
}

@test "reads and writes of 32-bit programs by socketcall are noted" {
    run pipe-target call32=1
    [ "$status" = 0 ] || skip "no system calls of 32 bits: $output"
    for options in '' -e; do
        # shellcheck disable=SC2086 # none, or one
        snoop 0 $options -- pipe-target socketcall32=20
        equal "$(grep socketcall log)" 'ipcsnoop: 2 reads and writes by socketcall have no line: a 32-bit program made them'
    done
    snoop 0 -s -- pipe-target socketcall32=20
    equal "$(grep socketcall log)" ''
    equal "$(calls i386:socketcall)" 3
}

@test "numbers that have no name" {
    snoop 0 -s -q -- pipe-target strange=13
    equal "$(grep syscall_ lines | grep -v usecs)" '@syscalls[syscall_900]: 13
@syscalls[syscall_other]: 26
@errors[syscall_900]: 13
@errors[syscall_other]: 26'
}

@test "the time that calls take" {
    snoop 0 -s -j -q -- sleep 0.5
    equal "$(jq -r --argjson took "$took" 'select(.syscall == "clock_nanosleep") | "\(.calls) \(.us > 500000 and .us < $took)"' lines)" '1 true'
    equal "$(jq -r 'select(.syscall == "exit_group") | "\(.calls) \(.us == 0)"' lines)" '1 true'
}

@test "a process that runs, and the children that it begins from then on" {
    start pipe-target wait plain=3 everywhere=1009
    pid=$started
    watch
    # it was reading when it was found
    [[ $(sed -n 2p lines | tr '\t' ' ') =~ ^0\.000\ pipe-target\ $pid\ read\ R\ $(stat -c %i go)\ 100\ 1\ -\ -\ \?\ -\ -\ -$ ]]
    equal "$(awk '{ print $4, $6, $8 }' lines | sed -n 3,8p)" "$(
        for call in write read; do for i in 1 2 3; do echo "$call $(sed -n 2p out) $i"; done; done)"
    equal "$(awk -v pid="$pid" '$2 == "pipe-target" && $3 == pid' lines | wc -l)" 7
    equal "$(grep -c pipe-target lines)" 7
    equal "$(calls getppid)" $((4 * 1009))
    # calls are counted when they begin
    equal "$(calls read)" 3
    equal "$(grep -c tracing log)" 1
    equal "$(tail -n 1 log)" "ipcsnoop: process $pid has ended"

    start pipe-target wait plain=3
    begin tracing ipcsnoop -e -j -p "$started"
    echo >&"$go"
    wait "$recorder"
    take_lost
    equal "$(head -n 1 lines | jq -c '.args | del(.pipe)')" "{\"comm\":\"pipe-target\",\"pid\":$started,\"call\":\"read\",\"asked\":100,\"moved\":1}"
    equal "$(wc -l <lines)" 7
}

@test "a process that has ended and was not waited for" {
    # its parent has become another program before, which does not wait
    bash -c '{ until grep -q "(sleep)" "/proc/$$/stat"; do :; done; } & echo $! >pid; exec sleep 60' &
    started=$!
    wait_for test -s pid
    wait_for grep -q 'State:.*Z' "/proc/$(cat pid)/status"
    status_is 0 timeout 60 ipcsnoop -o lines -p "$(cat pid)"
    says "ipcsnoop: process $(cat pid) has ended"
    equal "$(grep -c @ lines)" 0
}

@test "nobody else is seen" {
    start pipe-target wait plain=3
    begin tracing ipcsnoop -p "$started"
    pipe-target plain=5 call=7
    echo hello | cat
    echo >&"$go"
    wait "$recorder"
    equal "$(grep -c $'\tpipe-target\t' lines)" 7
    equal "$(wc -l <lines)" $((1 + 7 + $(grep -c -e @ -e '^$' lines)))
    equal "$(calls getppid)" ''
}

# bats test_tags=any-kernel
@test "text: the columns and the counts" {
    snoop 0 -- pipe-target fill=65536
    tr '\t' ' ' <lines >blanks
    equal "$(head -n 1 blanks)" 'us comm pid call d channel asked moved slots queued b latency error unfinished'
    [[ $(sed -n 2p blanks) =~ ^0\.000\ pipe-target\ [0-9]+\ write\ W\ $(cat out)\ 65536\ 65536\ 0/16\ 0\ -\ [0-9]+\.[0-9]{3}\ -\ -$ ]]
    [[ $(sed -n 3p blanks) =~ ^[0-9]+\.[0-9]{3}\ pipe-target\ [0-9]+\ write\ W\ $(cat out)\ 65536\ -\ 16/16\ 65536\ -\ [0-9]+\.[0-9]{3}\ EAGAIN\ -$ ]]
    equal "$(sed -n 4p lines)" ''
    # the largest is the last
    for map in syscalls usecs; do
        sed -n "s/^@$map\[[a-z0-9_]*\]: //p" lines >values
        sort -n values | cmp - values
        [ "$(wc -l <values)" -gt 10 ]
    done
    equal "$(grep -c '^@errors\[write\]: 1$' lines)" 1
    equal "$(grep -vc -e '^@[a-z]*\[[a-z0-9_]*\]: [0-9.]*$' -e '^[0-9u]' -e '^$' lines)" 0
}

# bats test_tags=any-kernel
@test "counts only, events only, and both as JSON" {
    snoop 0 -s -- pipe-target plain=1
    equal "$(grep -vc -e '^@' -e '^$' lines)" 0
    equal "$(calls write)" 2
    snoop 0 -e -- pipe-target plain=1
    equal "$(wc -l <lines)" 3
    equal "$(grep -c @ lines)" 0
    snoop 0 -j -- pipe-target plain=1
    equal "$(jq -c 'select(.tpoint) | keys' lines | sort | uniq -c | tr -s ' ')" ' 2 ["args","lcore","tpoint","tsc","us"]'
    equal "$(jq -c 'select(.syscall) | keys' lines | sort -u)" '["calls","errors","syscall","us"]'
    equal "$(jq -c 'select(.syscall == "write") | [.calls, .errors]' lines)" '[2,0]'
    equal "$(jq -s '[.[] | select(.syscall) | .calls] | . == sort' lines)" true
    # those of events are trace lines
    status_is 0 sh 'grep tpoint lines | trace-join'
    [[ ${lines[0]} =~ PIPE_WRITE\ +comm:\ pipe-target,\ pid:\ [0-9]+,\ call:\ write,\ pipe:\ [0-9]+,\ asked:\ 1,\ moved:\ 1,\ used:\ 0,\ slots:\ 16,\ queued:\ 0,\ blocked:\ false,\ latency:\ [0-9.]+$ ]]
}

# bats test_tags=any-kernel
@test "names with control characters" {
    snoop 0 -e -- pipe-target disguise=1
    # shellcheck disable=SC1003 # it is a backslash
    equal "$(tr '\t' ' ' <lines | grep -c ' \\x1b\[31m\\x0a"x\\\\xff ')" 2
    equal "$(wc -l <lines)" 3
    events_of pipe-target disguise=1
    equal "$(jq -sc 'map(.args.comm)' lines)" '["\u001b[31m\n\"x\\�","\u001b[31m\n\"x\\�"]'
}

@test "the state of a pipe when a call starts" {
    states() { # TPOINT
        jq -r --arg tpoint "$1" 'select(.tpoint == $tpoint and .args.comm == "dd").args |
            "\([.eof, .peer_waiting, .nonblock, .packet] | map(. // "-") | join(" "))"' lines
    }
    snoop 0 -e -j -- sh -c 'echo 12345 | { sleep 0.2; dd bs=3; } >out 2>errors'
    equal "$(states PIPE_READ)" 'true - - -
true - - -
true - - -'
    snoop 0 -e -j -- sh -c '{ sleep 0.2; echo; } | dd >out 2>errors'
    equal "$(jq -r 'select(.tpoint == "PIPE_WRITE") | .args.peer_waiting' lines)" true
    # the first read waits
    equal "$(states PIPE_READ | head -n 1)" '- - - -'
    snoop 0 -e -j -- sh -c 'dd if=/dev/zero bs=1 count=1 oflag=nonblock 2>errors | sleep 0.2'
    equal "$(states PIPE_WRITE)" '- - true -'
    snoop 0 -e -j -- sh -c 'dd if=/dev/zero bs=1 count=1 oflag=direct 2>errors | sleep 0.2'
    equal "$(states PIPE_WRITE)" '- - - true'
}

# bats test_tags=any-kernel
@test "what was started, how it ended, and its exit status" {
    snoop 0 -- true
    equal "$(sed 's/[0-9]*$/N/' log)" 'ipcsnoop: started true, pid N
ipcsnoop: true ended with status N'
    equal "$(tail -n 1 log)" 'ipcsnoop: true ended with status 0'
    snoop 7 -- pipe-target exit=7
    equal "$(tail -n 1 log)" 'ipcsnoop: pipe-target ended with status 7'
    snoop 143 -- pipe-target kill=15
    equal "$(tail -n 1 log)" 'ipcsnoop: pipe-target was killed by SIGTERM'
    snoop 162 -- pipe-target kill=34
    equal "$(tail -n 1 log)" 'ipcsnoop: pipe-target was killed by signal 34'
    snoop 143 -- sh -c 'exit 143'
    equal "$(tail -n 1 log)" 'ipcsnoop: sh ended with status 143'
    for status in 63 64 69 78 79 125 126 127 128; do
        snoop "$status" -- pipe-target "exit=$status"
        sed -n '$s/.*status //p' log
    done >statuses
    equal "$(cat statuses)" '63
64 (wrong usage)
69 (service unavailable)
78 (wrong configuration)
79
125
126 (cannot be run)
127 (command not found)
128'
    snoop 3 -q -- sh -c 'exit 3'
    equal "$(cat log)" ''
}

# bats test_tags=any-kernel
@test "commands that cannot be run" {
    for missing in missing ./missing; do
        status_is 127 ipcsnoop -- $missing
        equal "$stderr" "ipcsnoop: $missing: No such file or directory"
        equal "$output" ''
    done
    echo >file
    status_is 126 ipcsnoop -- ./file
    equal "$stderr" 'ipcsnoop: ./file: Permission denied'
    mkdir -p first second
    cp file first/only-here
    PATH=$PWD/first:$PWD/second:$PATH status_is 126 ipcsnoop -- only-here
    equal "$stderr" 'ipcsnoop: only-here: Permission denied'
    cp "$(type -P true)" second/only-here
    PATH=$PWD/first:$PWD/second:$PATH status_is 0 ipcsnoop -q -e -- only-here
    chmod +x file
    snoop 126 -- ./file
    equal "$(cat log)" 'ipcsnoop: ./file: Exec format error'
    status_is 1 ipcsnoop -p 2147483647
    equal "$stderr" 'ipcsnoop: process 2147483647: does not exist'
}

# bats test_tags=any-kernel
@test "a signal while the command is held back ends everything" {
    for _ in $(seq 10); do
        env --default-signal=INT ipcsnoop -o lines -- touch ran 2>log &
        recorder=$!
        timeout 10 bash -c 'until grep -qs . "$0"; do :; done' "/proc/$recorder/task/$recorder/children"
        kill -INT "$recorder" 2>/dev/null || true
        status=0
        wait "$recorder" || status=$?
        recorder=
        # else it was too late
        [ -e ran ] || break
        rm ran
    done
    equal "$status" 130
    equal "$(cat log)" ''
    # a command that was started leaves no other sign
    sleep 0.2
    [ ! -e ran ]
}

# bats test_tags=any-kernel
@test "signals are passed on to the command" {
    for signal in TERM HUP; do
        begin started ipcsnoop -- sleep 60
        wait_for sleeps_in sleep "$(sed -n 's/.*started sleep, pid //p' log)"
        kill -s $signal "$recorder"
        status=0
        wait "$recorder" || status=$?
        equal "$status" $((128 + $(kill -l $signal)))
        grep -x "ipcsnoop: sleep was killed by SIG$signal" log
        equal "$(calls clock_nanosleep)" 1
    done
    # what the command leaves behind is traced until the next signal
    begin 'ended with status 0' ipcsnoop -- sh -c 'sleep 60 & echo $! >child'
    wait_for sleeps_in sleep "$(cat child)"
    # nothing happens
    sleep 0.2
    kill -0 "$recorder"
    kill "$recorder"
    wait "$recorder"
    take_lost
    kill "$(cat child)"
    equal "$(calls clock_nanosleep)" 1
}

@test "it ends with what outlives the command" {
    snoop 0 -q -- sh -c '(while kill -0 $$ 2>/dev/null; do sleep 0.01; done; pipe-target call=1009) & :'
    # the shell makes one
    equal "$(calls getppid)" 1010
}

# bats test_tags=any-kernel
@test "it ends after a time, and by a signal" {
    # the first calls are made in this time, the others when the counts are there
    snoop 5 -D 2 -- sh -c 'pipe-target call=13; until grep -q @syscalls lines; do sleep 0.1; done; pipe-target call=17; exit 5'
    equal "$(calls getppid)" 14
    # signals are passed on then, too
    begin started ipcsnoop -D 0.2 -- sleep 60
    wait_for_text @syscalls lines
    kill "$recorder"
    ends_itself 143 "$recorder"
    start pipe-target wait plain=1
    for signal in INT TERM HUP; do
        # not to take an earlier one for it
        rm -f log
        env --default-signal=INT ipcsnoop -o lines -p "$started" 2>log &
        recorder=$!
        wait_for_text tracing log
        kill -s $signal $recorder
        wait $recorder
    done
}

@test "nothing is lost, or it is counted exactly" {
    # nothing is taken out while it is stopped
    local traffic='kill -STOP $PPID; pipe-target plain=313; kill -CONT $PPID; exit '
    snoop 0 -- sh -c "$traffic 0"
    equal "$(grep -c $'\tpipe-target\t' lines)" 626
    for end in 0 7; do
        # a loss does not hide how the command ended
        snoop $((end ? end : 1)) --buffer 4K -- sh -c "$traffic $end"
        lost=$(sed -n 's/^ipcsnoop: lost \([0-9]*\) reads and writes.*/\1/p' log)
        equal $((lost + $(grep -c $'\tpipe-target\t' lines))) 626
        [ "$lost" -gt 0 ]
        # counts are not
        [ "$(calls read)" -gt 313 ]
    done
}

@test "nothing is lost of processes that preempt each other" {
    for _ in 1 2 3; do
        snoop 0 -- taskset -c 0 xargs -P 4 -n 2 pipe-target < <(for _ in 1 2 3 4; do echo call=5000 plain=97; done)
        equal "$(calls getppid) $(grep -c $'\tpipe-target\t' lines)" '20000 776'
        equal "$(grep -v ': started taskset\|: taskset ended' log)" ''
    done
}

@test "inside a PID namespace, and one from outside" {
    unshare -pf --mount-proc true 2>/dev/null || skip 'no PID namespaces here'
    status_is 0 unshare -pf --mount-proc ipcsnoop -j -q -o lines -- pipe-target plain=2 everywhere=7
    take_lost
    equal "$(jq -r 'select(.syscall == "getppid") | .calls' lines)" 28
    equal "$(jq -s 'map(select(.tpoint) | .args.pid) | unique | length == 1 and .[0] < 100' lines)" true
    events_of unshare -pf --mount-proc pipe-target plain=2
    pid=$(sed -n 's/^ipcsnoop: started unshare, pid //p' log)
    equal "$(jq -s --argjson pid "$pid" 'map(.args.pid) | unique | length == 1 and .[0] > $pid' lines)" true
}

# bats test_tags=any-kernel
@test "a command is waited for where a reader goes away" {
    status_is 0 sh "{ ipcsnoop -q -- sh -c 'sleep 0.5; echo >done'; echo \$? >status; } | true; cat status done"
    equal "$output" 1
    equal "$stderr" ''
}

@test "capabilities are given up, three are enough, and a command has the caller's own" {
    command -v setpriv >/dev/null || skip 'setpriv is not here'
    start pipe-target wait
    begin tracing ipcsnoop -p "$started"
    has_given_up "$recorder"
    echo >&"$go"
    wait "$recorder"
    snoop 0 -q -- grep -e Cap -e NoNewPrivs -e Uid -e Groups /proc/self/status
    equal "$(cat out)" "$(grep -e Cap -e NoNewPrivs -e Uid -e Groups /proc/self/status)"
    # it is root's, and CAP_KILL passes signals on
    begin started ipcsnoop -- sleep 60
    is_stranger "$recorder"
    equal "$(sed -n 's/^CapPrm:[[:space:]]*//p' "/proc/$recorder/status")" 0000000000000020
    kill "$recorder"
    ends 143 "$recorder"
    # a container may lack that
    without_kill() { exec setpriv --bounding-set -kill ipcsnoop "$@"; }
    begin started without_kill -- sleep 60
    kill "$recorder"
    ends 143 "$recorder"
    status_is 1 setpriv --bounding-set -all ipcsnoop -- true
    equal "$stderr" 'ipcsnoop: CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE are missing: run it as root, or with these capabilities'
    status_is 0 setpriv --bounding-set -all,+bpf,+perfmon,+sys_ptrace ipcsnoop -s -q -o lines -- pipe-target call=11
    equal "$(calls getppid)" 11
}

@test "it ends with the process that started it, if that wants so" {
    command -v setpriv >/dev/null || skip 'setpriv is not here'
    start pipe-target wait
    bash -c 'setpriv --pdeathsig TERM ipcsnoop -s -o lines -p "$0" 2>log & echo $! >id; wait' "$started" &
    parent=$!
    wait_for grep -qs tracing log
    recorder=$(<id)
    is_stranger "$recorder"
    kill -KILL "$parent"
    wait_for sh "! kill -0 $recorder"
    echo >&"$go"
}

@test "CAP_BPF and CAP_PERFMON alone show no process, not even one's own" {
    command -v setpriv >/dev/null || skip 'setpriv is not here'
    local as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups "--inh-caps=+bpf,+perfmon" "--ambient-caps=+bpf,+perfmon")
    cp "$BIN/ipcsnoop" "$BIN/pipe-target" .
    chmod 755 . ./*
    start pipe-target wait
    for what in "-p $started" '--name pipe-target' '-- ./pipe-target call=11'; do
        # shellcheck disable=SC2086
        status_is 1 "${as_user[@]}" ./ipcsnoop -s $what
        equal "$output" ''
        equal "$stderr" 'ipcsnoop: CAP_SYS_PTRACE is missing: run it as root, or with these capabilities'
    done
    echo >&"$go"
}

# bats test_tags=any-kernel
@test "notes do not go into the output when standard error is closed" {
    status_is 0 sh 'ipcsnoop -s -o lines -- true 2>&-'
    grep -q syscalls lines
    run -1 grep ipcsnoop: lines
}

# bats test_tags=any-kernel
@test "-o PIPE waits for a reader, and a signal ends that" {
    mkfifo pipe
    ipcsnoop -q -o pipe -- true &
    recorder=$!
    timeout 60 cat pipe >got
    wait "$recorder"
    recorder=
    [ -s got ]
    for signal in TERM HUP INT; do
        # jobs in the background ignore Ctrl-C
        env --default-signal=INT ipcsnoop -o pipe -- touch ran 2>log &
        recorder=$!
        wait_for_text 'ipcsnoop: pipe: a pipe: waits for a process that reads from it' log
        kill -$signal "$recorder"
        ends_itself 1 "$recorder"
        recorder=
        grep -q 'ipcsnoop: pipe: no process has opened this pipe to read from it' log
        [ ! -e ran ]
        rm log
    done
}

@test "lines fit the terminal, and a file has all columns" {
    export LC_ALL=C.UTF-8
    needs_terminal
    local columns widest
    snoop 0 -e -P -w -- sh -c 'echo hi | cat'
    [[ $(head -1 lines) == *slots*peer_pid*waker_pid*latency* ]]
    for columns in 80 100 160; do
        COLUMNS=$columns script -qec "ipcsnoop -e -q -P -w -- sh -c 'echo hi | cat >/dev/null'" /dev/null </dev/null |
            tr -d '\r' | sed 's/…/./g' >shown
        widest=$(awk 'length > n { n = length } END { print n }' shown)
        [ "$widest" -le "$columns" ] || { echo "$widest of $columns"; cat shown; return 1; }
        [ "$(grep -c '^[T0-9]' shown)" -ge 3 ]
    done
    grep -q WAKEPID shown
}
