#!/usr/bin/env bats
# What biosnoop prints of a loop device, where the kernel lets it; and of disks of other drivers, where these are modules
# that nobody uses, as under "make kernels".
# bats file_tags=sanitizers

load helpers

setup_file() {
    # of all processes it may lose something
    needs_to_run biosnoop -q -p $$ -o probed 1
}

setup() {
    enter
    command -v losetup >/dev/null || lacks 'losetup is not here'
    truncate -s 8M image
    loop=$(losetup --find --show --direct-io=on image 2>why) || lacks "no loop devices here: $(cat why)"
    disk=${loop#/dev/}
}

teardown() {
    kill_left recorder
    if [ -n "${inner:-}" ]; then
        fsfreeze -u "$mounted" 2>/dev/null || true
        losetup -d "$inner" || true
    fi
    [ -z "${mounted:-}" ] || umount "$mounted" || true
    remove_cgroup
    [ -z "${mapped:-}" ] || DM_DISABLE_UDEV=1 dmsetup remove "$mapped" || true
    [ -z "${mirror:-}" ] || mdadm --stop --quiet "$mirror" || true
    [ -z "${module:-}" ] || modprobe -r "$module" || true
    [ -z "${second:-}" ] || losetup -d "$second"
    # the next one that is set up in its place keeps what is not set back
    [ -z "${largest:-}" ] || echo "$largest" >"/sys/block/$disk/queue/max_sectors_kb"
    [ -z "${scheduler:-}" ] || echo "$scheduler" >"/sys/block/$disk/queue/scheduler"
    [ -z "${loop:-}" ] || losetup -d "$loop"
}

# Starts to trace $disk, or all.
trace() { # OPTION...
    begin tracing biosnoop -j ${disk:+-d "$disk"} "$@"
}

# The number of requests that were lost.
lost() {
    sed -n 's/^biosnoop: lost \([0-9]*\) requests.*/\1/p' log | jq -s 'add // 0'
}

# As in helpers.bash. On some virtual machines the kernel does not always run BPF programs: when biosnoop says so, and only
# then, the test is run again.
end() { # [STATUS]
    ends "${1:-0}" "$recorder" && recorder= && return
    ! grep -q 'did not run the BPF program' log || try_again 5
    return 1
}

# The same of one that ends by itself.
end_itself() {
    wait_for test ! -e "/proc/$recorder"
    end
}

# Reads N blocks of 4096 bytes, one after the other; the reader's id is $reader.
read_blocks() { # N [SKIP]
    dd "if=$loop" of=/dev/null bs=4k "count=$1" "skip=${2:-0}" iflag=direct status=none &
    reader=$!
    wait $reader
}

# The arguments of the lines: KEY...
column() {
    local keys
    keys=$(printf '.args.%s,' "$@")
    jq -r "[${keys%,}] | map(tostring) | join(\" \")" lines
}

# Makes a file system on the disk, and mounts it; its path is $mounted.
mount_disk() { # [SIZE]
    mkfs.ext4 -q "$loop" "$@" 2>/dev/null || lacks 'mkfs.ext4 is not here'
    mkdir mounted
    mount "$loop" mounted 2>/dev/null || skip 'nothing can be mounted here'
    mounted=$PWD/mounted
}

# Loads a module for a test.
load_module() { # MODULE [PARAMETER...]
    [ ! -e "/sys/module/$1" ] || skip "$1 is in use"
    modprobe -q "$@" || skip "there is no module $1 here"
    module=$1
}

# The requests and sectors that a disk has read, and those that it has written, as the kernel counts them.
kernel_counts() { # DISK
    awk '{ print $1, $3, $5, $7 }' "/sys/block/$1/stat"
}

# Reads and writes disks, traces what is done, and compares that with the kernel's own counts of these disks.
counts_agree() { # WRITTEN-DISK TRACED-DISK...
    local target=/dev/$1 traced
    shift
    for traced; do kernel_counts "$traced"; done >before
    disk=${disks_traced-$1} trace
    # from two processors at the same time
    dd "if=$target" of=/dev/null bs=4k count=101 iflag=direct status=none &
    dd "if=$target" of=/dev/null bs=4k count=103 skip=1000 iflag=direct status=none
    wait $!
    dd if=/dev/zero "of=$target" bs=64k count=17 oflag=direct status=none
    dd if=/dev/zero "of=$target" bs=4k count=509 seek=300 conv=fsync status=none
    end
    for traced; do kernel_counts "$traced"; done >after
    for traced; do
        jq -r --arg disk "$traced" 'select(.args.disk == $disk).args | "\(.type) \(.bytes / 512)"' lines | awk '
            /^R/ { reads++; read += $2 }
            /^(F?W|FF)/ { writes++; written += $2 }
            END { printf "%d %d %d %d\n", reads, read, writes, written }'
    done >printed
    equal "$(cat printed)" "$(paste before after | awk '{ print $5 - $1, $6 - $2, $7 - $3, $8 - $4 }')"
    # who, and for how long: all but what the kernel writes for others
    for traced; do
        equal "$(jq -s --arg disk "$traced" 'map(.args | select(.disk == $disk and (.latency == null or .comm == null))) | length' lines)" 0
    done
}

# Sets the scheduler of $disk that merges requests.
use_deadline() {
    grep -q mq-deadline "/sys/block/$disk/queue/scheduler" || skip 'the scheduler mq-deadline is not here'
    scheduler=$(sed 's/.*\[\(.*\)\].*/\1/' "/sys/block/$disk/queue/scheduler")
    echo mq-deadline >"/sys/block/$disk/queue/scheduler"
}

@test "every direct read, by whom, where and how large" {
    for AS_LINUX in '' 6.1; do
        export AS_LINUX
        trace
        begin=$(uptime_ms)
        read_blocks 97 11
        took=$(($(uptime_ms) - begin + 10))
        end
        equal "$(column comm pid disk type sector bytes)" "$(for i in $(seq 11 107); do echo "dd $reader $disk RS $((8 * i)) 4096"; done)"
        # every one of them has times, which fit into the time that it all took: they came one after the other
        equal "$(jq -s 'map(select(.args.queued >= 0 and .args.latency > 0)) | length' lines)" 97
        equal "$(jq -s --argjson took $took 'map(.args.queued + .args.latency) | add < 1000 * $took' lines)" true
        equal "$(jq -s '.[0].us == 0 and ([.[].us] | . == sort) and ([.[].tsc] | . == sort)' lines)" true
    done
}

@test "where /sys is not mounted, that is said" {
    unshare -m true 2>/dev/null || skip 'no namespaces here'
    run -1 --separate-stderr unshare -m --propagation private sh -c 'umount -l /sys; biosnoop 0.1'
    equal "$stderr" 'biosnoop: /sys is not mounted here, in which the kernel describes its types to a BPF program; mount -t sysfs sysfs /sys'
    run -1 --separate-stderr unshare -m --propagation private sh -c 'umount -l /sys; offwaketime 0.1'
    equal "$stderr" 'offwaketime: /sys is not mounted here, in which the kernel describes its types to a BPF program; mount -t sysfs sysfs /sys'
}

@test "what the kernel's own statistics count" {
    local before after
    read -r -a before <"/sys/block/$disk/stat"
    trace
    read_blocks 13
    dd if=/dev/zero "of=$loop" bs=64k count=31 oflag=direct status=none
    dd if=/dev/zero "of=$loop" bs=4k count=1021 conv=fsync status=none
    sync
    read_blocks 2 200
    end
    read -r -a after <"/sys/block/$disk/stat"
    # requests, and sectors, that were read and written: what was merged is one request
    equal "$(jq -s 'map(select(.args.type | test("^R"))) | "\(length) \(map(.args.bytes) | add / 512)"' lines)" \
        "\"$((after[0] - before[0])) $((after[2] - before[2]))\""
    # a flush is one of the disk's own, and one that writes nothing
    equal "$(jq -s 'map(select(.args.type == "FF")) | length' lines)" $((after[15] - before[15]))
    equal "$(jq -s 'map(select(.args.type | test("^W|^FF"))) | "\(length) \(map(.args.bytes) | add / 512)"' lines)" \
        "\"$((after[4] - before[4])) $((after[6] - before[6]))\""
    [ $((after[6] - before[6])) = $((31 * 128 + 1021 * 8)) ]
}

@test "requests that are merged by a scheduler" {
    use_deadline
    # steps in interrupts may be missed, as is said then
    for _ in 1 2 3 4 5; do
        trace
        dd if=/dev/zero "of=$loop" bs=4k count=2048 conv=fsync status=none
        kill "$recorder"
        status=0
        wait "$recorder" || status=$?
        take_lost
        recorder=
        grep -q 'missed .* in interrupts\|did not run the BPF program' log || break
    done
    equal $status 0
    equal "$(jq -s 'map(select(.args.type | test("^W")) | .args.bytes) | add' lines)" $((2048 * 4096))
    equal "$(jq -s 'map(select((.args.type | test("^W")) and .args.comm == "dd" and .args.queued > 0 and .args.latency > 0)) | length > 0' lines)" true
    # no sector twice
    equal "$(jq -s 'map(select(.args.type | test("^W")) | .args) | sort_by(.sector) | . as $a |
        [range(1; length) | select($a[.].sector != $a[. - 1].sector + $a[. - 1].bytes / 512)] | length' lines)" 0
}

@test "an I/O that the kernel splits is a line for each request" {
    largest=$(cat "/sys/block/$disk/queue/max_sectors_kb")
    echo 16 >"/sys/block/$disk/queue/max_sectors_kb"
    trace
    dd "if=$loop" of=/dev/null bs=64k count=7 iflag=direct status=none &
    reader=$!
    wait $reader
    end
    equal "$(column pid sector bytes | sort -n -k 2)" "$(for i in $(seq 0 27); do echo "$reader $((32 * i)) 16384"; done)"
    equal "$(jq -s 'map(select(.args.latency > 0)) | length' lines)" 28
}

@test "flushes, discards and metadata" {
    command -v blkdiscard >/dev/null || skip 'blkdiscard is not here'
    grep -q back "/sys/block/$disk/queue/write_cache" || skip 'the loop device has no cache'
    for AS_LINUX in '' 6.1; do
        export AS_LINUX
        trace
        dd if=/dev/zero "of=$loop" bs=4k count=3 conv=fsync oflag=direct status=none &
        writer=$!
        wait $writer
        blkdiscard -f -o 1M -l 2M "$loop" &
        discarder=$!
        wait $discarder
        end
        equal "$(column comm pid type sector bytes | grep -v ' R')" "dd $writer WS 0 4096
dd $writer WS 8 4096
dd $writer WS 16 4096
dd $writer FF 0 0
blkdiscard $discarder DS 2048 2097152"
    done
    mount_disk 4M
    trace
    ls mounted/lost+found
    end
    column type | grep '^R.*M' >/dev/null
}

@test "one that is done in parts, requeued, and fails" {
    # the device keeps its size: half of the request can be read, and is; the rest is tried again
    truncate -s $((4096 * 1024 + 65536)) image
    trace
    run -1 dd "if=$loop" of=/dev/null bs=128k skip=32 count=1 iflag=direct status=none
    read_blocks 1
    end
    equal "$(column type sector bytes error)" 'RS 8192 131072 EIO
RS 0 4096 null'
}

@test "one that fails, as text" {
    truncate -s $((4096 * 1024)) image
    begin tracing biosnoop -Q -d "$loop"
    run -1 dd "if=$loop" of=/dev/null bs=4k skip=1024 count=1 iflag=direct status=none
    read_blocks 1
    end
    # for awk and sort: tabs, microseconds, and the names in JSON
    equal "$(head -n 1 lines)" "$(tr ' ' '\t' <<<'us comm pid disk type sector bytes queued latency error')"
    tr '\t' ' ' <lines >blanks
    [[ $(sed -n 2p blanks) =~ ^0\.000\ dd\ [0-9]+\ $disk\ RS\ 8192\ 4096\ [0-9]+\.[0-9]{3}\ [0-9]+\.[0-9]{3}\ EIO$ ]]
    [[ $(sed -n 3p blanks) =~ ^[0-9]+\.[0-9]{3}\ dd\ $reader\ $disk\ RS\ 0\ 4096\ [0-9]+\.[0-9]{3}\ [0-9]+\.[0-9]{3}\ -$ ]]
    equal "$(wc -l <lines)" 3
}

@test "the time of day of a completion" {
    local before
    before=$(date +%s%N)
    trace --wall
    read_blocks 7
    end
    jq -r .time lines | date -u -f - +%s%N >moments
    equal "$({ echo "$before"; cat moments; date +%s%N; } | sort -c 2>&1)" ''
    equal "$(wc -l <moments)" 7
    begin tracing biosnoop --wall -d "$loop"
    read_blocks 7
    end
    equal "$(head -n 1 lines | cut -f 1-3)" "$(printf 'time\tus\tcomm')"
    equal "$(tr '\t' ' ' <lines | grep -c "^[0-9:]\{8\}[.][0-9]\{6\} [0-9]*[.][0-9]\{3\} dd $reader ")" 7
}

# Makes a loop device in a file system on the other, and freezes that: the driver then holds back writes. Its path is
# $inner.
freeze_inner() { # [SIZE]
    command -v fsfreeze >/dev/null || skip 'fsfreeze is not here'
    mount_disk
    truncate -s "${1:-1M}" mounted/inner
    inner=$(losetup --find --show mounted/inner)
    fsfreeze -f mounted
}

# Writes block N of it, and waits until N + 1 writes are in the driver; the writer's id is $writer.
write_inner() { # N
    dd if=/dev/zero "of=$inner" bs=4k "seek=$1" count=1 oflag=direct status=none &
    writer=$!
    wait_for grep -q "^ *0 *$(($1 + 1))\$" "/sys/block/${inner#/dev/}/inflight"
}

@test "a request that is merged with an earlier one stays the same" {
    freeze_inner 4M
    disk=${inner#/dev/}
    use_deadline
    largest=$(cat "/sys/block/$disk/queue/max_sectors_kb")
    echo 16 >"/sys/block/$disk/queue/max_sectors_kb"
    tags=$(cat "/sys/block/$disk/mq/0/nr_tags")
    trace
    # requests of 16 KB fill the driver's queue, and one has left the scheduler: what comes now stays there
    dd if=/dev/zero "of=$inner" bs=$((16 * (tags + 1)))k seek=16k count=1 oflag=direct,seek_bytes status=none 3>&- &
    writers=$!
    wait_for grep -q "^ *0 *$tags\$" "/sys/block/$disk/inflight"
    for block in 2 0 1; do
        dd if=/dev/zero "of=$inner" bs=4k seek=$block count=1 oflag=direct status=none 3>&- &
        writers+=" $!"
        # by its write to descriptor 1
        wait_for waits_in_call_on 0x1 $!
        [ $block != 0 ] || first=$!
    done
    fsfreeze -u mounted
    # shellcheck disable=SC2086 # they are words
    wait $writers
    end
    equal "$(jq -r '.args | select(.sector < 32) | "\(.comm) \(.pid) \(.sector) \(.bytes) \(.queued > 0) \(.latency > 0)"' lines)" \
        "dd $first 0 12288 true true"
    # as the writer's pages lie, the kernel may have split one of its requests
    equal "$(column bytes | awk '{ sum += $1 } END { print sum }')" "$((12288 + 16384 * (tags + 1)))"
}

@test "latencies, and requests that had begun before" {
    freeze_inner
    write_inner 0
    early=$writer
    disk=${inner#/dev/} trace
    began=$(uptime_ms)
    write_inner 1
    late=$writer
    issued=$(uptime_ms)
    # that is what is measured
    sleep 0.5
    thawed=$(uptime_ms)
    fsfreeze -u mounted
    wait $early $late
    ended=$(uptime_ms)
    end
    equal "$(jq -r '.args | select(.type == "WS") | "\(.comm) \(.pid) \(.sector) \(.bytes) \(.queued) \(.latency != null)"' lines | sort -k 3n)" \
        "null null 0 4096 null false
dd $late 8 4096 $(jq -r '.args | select(.type == "WS" and .pid) | .queued' lines) true"
    # the clock of the test has steps of 10 ms
    equal "$(jq -r --argjson least $((thawed - issued - 10)) --argjson most $((ended - began + 10)) \
        '.args | select(.latency) | .latency > 1000 * $least and .latency < 1000 * $most' lines)" true
}

@test "only a disk, a process, what is slow, a number and a time" {
    trace -n 7
    read_blocks 11
    end_itself
    equal "$(wc -l <lines)" 7

    # every read has another id
    trace -p $$
    read_blocks 3
    end
    equal "$(cat lines)" ''
    trace
    read_blocks 3
    end
    equal "$(wc -l <lines)" 3

    trace --min-ms 60000
    read_blocks 3
    end
    equal "$(cat lines)" ''
    trace --min-ms 0.000001
    read_blocks 3
    end
    equal "$(wc -l <lines)" 3

    # another disk
    truncate -s 1M other
    other=$(losetup --find --show other)
    disk=${other#/dev/} trace
    read_blocks 3
    end
    losetup -d "$other"
    equal "$(cat lines)" ''

    lasts_a_second trace 1
    equal "$(cat lines)" ''
    status_is 0 timeout 60 biosnoop -q -d "$disk" 0.5
    equal "$output" "$(tr ' ' '\t' <<<'us comm pid disk type sector bytes latency error')"
}

@test "nothing is lost, or it is counted exactly" {
    local status=0
    for size in 4M 4K; do
        trace --buffer $size
        # nothing is taken out meanwhile
        kill -STOP "$recorder"
        read_blocks 499
        kill -CONT "$recorder"
        if [ $size = 4M ]; then end; else end 1; fi
        equal $(($(lost) + $(wc -l <lines))) 499
    done
    grep '^biosnoop: lost [0-9]* requests: the buffer was full' log
}

@test "lines and losses are all requests that the disk has done" {
    local before after status
    for _ in $(seq 20); do
        read -r -a before <"/sys/block/$disk/stat"
        trace
        read_blocks 499
        status=0
        kill "$recorder"
        wait "$recorder" || status=$?
        take_lost
        read -r -a after <"/sys/block/$disk/stat"
        equal $(($(lost) + $(wc -l <lines))) $((after[0] - before[0]))
        equal "$(jq -c '.args | [.tool, .lost]' lost)" "[\"biosnoop\",$(lost)]"
        equal $status "$(grep -cm 1 '^biosnoop: \(lost\|missed\) ' log)"
    done
    recorder=
}

@test "nothing is lost of processes that preempt each other" {
    local writers=()
    trace
    for i in 0 1 2 3; do
        taskset -c 0 dd if=/dev/zero "of=$loop" bs=4k count=250 seek=$((250 * i)) oflag=direct status=none 3>&- &
        writers+=($!)
    done
    wait "${writers[@]}"
    end
    equal "$(jq -s 'map(.args | select(.comm == "dd" and .bytes == 4096 and .queued >= 0 and .latency > 0) | .sector) | unique | length' lines)" 1000
    equal "$(wc -l <lines)" 1000
}

@test "sequential or random, as the disk did them, whoever asked" {
    trace -P
    read_blocks 3
    read_blocks 2 20
    read_blocks 4 22
    read_blocks 1 22
    dd if=/dev/zero "of=$loop" bs=4k count=2 seek=23 oflag=direct status=none
    end
    # the first follows nothing that was seen
    equal "$(column type sector pattern)" "$(printf '%s\n' 'RS 0 null' 'RS '{8,16}' sequential' 'RS 160 random' 'RS '{168..200..8}' sequential' \
        'RS 176 random' 'WS '{184,192}' sequential')"
    trace
    read_blocks 2
    end
    equal "$(column pattern)" 'null
null'

    # those of others count, without a line
    begin tracing biosnoop -P -Q -d "$loop" -p $$
    read_blocks 3
    end
    equal "$(tr '\t' ' ' <lines)" 'us comm pid disk type sector bytes pattern queued latency error'
    begin tracing biosnoop -P -d "$loop"
    read_blocks 2 5
    read_blocks 1 99
    end
    equal "$(cut -f 6,8 lines | tr '\t' ' ')" 'sector pattern
40 -
48 sequential
792 random'
}

@test "the summary: how many, how much and for how long" {
    truncate -s $((4096 * 1024)) image
    trace -s
    begin=$(uptime_ms)
    read_blocks 97
    first=$reader
    read_blocks 13
    # larger ones may be split, as the writer's pages lie
    dd if=/dev/zero "of=$loop" bs=4k count=31 oflag=direct status=none &
    writer=$!
    wait $writer
    # beyond the end of the file
    dd "if=$loop" of=/dev/null bs=4k skip=1024 count=1 iflag=direct status=none 2>/dev/null &
    failing=$!
    status=0
    wait $failing || status=$?
    equal $status 1
    took=$(($(uptime_ms) - begin + 10))
    end
    equal "$(jq -r '"\(.disk) \(.comm) \(.pid) \(.type) \(.count) \(.bytes) \(.errors)"' lines | sort)" "$(
        printf "$disk dd %s\n" "$first RS 97 $((97 * 4096)) 0" "$reader RS 13 $((13 * 4096)) 0" \
            "$writer WS 31 $((31 * 4096)) 0" "$failing RS 1 4096 1" | sort)"
    equal "$(jq -s --argjson took $took 'all(.mean <= .max and .p50 <= .p99 and .p99 <= .max and .p50 > 0) and
        (map(.mean * .count) | add < 1000 * $took and . == (sort | reverse))' lines)" true
    equal "$(jq -r 'select(.count == 1) | .mean == .max and .p50 == .max and .p99 == .max' lines)" true

    # the same as columns, and after as many requests as wanted
    begin tracing biosnoop -s -n 7 -d "$loop"
    read_blocks 11
    end_itself
    tr '\t' ' ' <lines >blanks
    equal "$(head -n 1 blanks)" 'disk comm pid type count bytes mean p50 p99 max errors'
    [[ $(sed -n 2p blanks) =~ ^$disk\ dd\ $reader\ RS\ 7\ 28672(\ [0-9]+\.[0-9]{3}){4}\ 0$ ]]
    equal "$(wc -l <lines)" 2
}

@test "requests that began before tracing have no latency in the summary" {
    freeze_inner
    write_inner 0
    disk=${inner#/dev/} trace -s
    fsfreeze -u mounted
    wait "$writer"
    end
    equal "$(jq -c 'select(.type == "WS")' lines)" "{\"disk\":\"${inner#/dev/}\",\"type\":\"WS\",\"count\":1,\"bytes\":4096,\"errors\":0}"
    grep '^biosnoop: 1 request has no latency: it started before tracing' log
}

# Reads as read_blocks, in a cgroup.
read_in() { # CGROUP N SKIP
    bash -c 'echo $$ >"$0/cgroup.procs"; exec dd "if=$1" of=/dev/null bs=4k "count=$2" "skip=$3" iflag=direct status=none' "$1" "$loop" "$2" "$3" &
    reader=$!
    wait $reader
}

@test "only a cgroup and those below it" {
    make_cgroup
    for AS_LINUX in '' 6.1; do
        export AS_LINUX
        trace -c "$cgroup"
        read_blocks 3
        read_in "$cgroup" 2 10
        first=$reader
        mkdir "$cgroup/below"
        read_in "$cgroup/below" 2 20
        second=$reader
        read_blocks 1 12
        end
        wait_for rmdir "$cgroup/below"
        equal "$(column comm pid sector)" "dd $first 80
dd $first 88
dd $second 160
dd $second 168"
    done
    # the flush is the disk's own request
    grep -q back "/sys/block/$disk/queue/write_cache" || return 0
    trace -c "$cgroup"
    bash -c 'echo $$ >"$0/cgroup.procs"; exec dd if=/dev/zero "of=$1" bs=4k count=1 conv=fsync oflag=direct status=none' "$cgroup" "$loop"
    end
    equal "$(column type | grep -v R)" 'WS
FF'
}

# Changes the map of the requests that biosnoop tracks.
change_map() { # BPFTOOL-COMMAND [ARGUMENT]...
    local map
    map=$(grep -lw 'max_entries:.65536' "/proc/$recorder/fdinfo/"*)
    bpftool -j map "$1" id "$(sed -n 's/^map_id:\t//p' "$map")" "${@:2}"
}

@test "requests in flight at the end, and one whose completion was not seen" {
    freeze_inner
    disk=${inner#/dev/} trace
    write_inner 0
    end
    equal "$(cat lines)" ''
    grep -x 'biosnoop: 1 request was in flight at the end: it has no line' log
    PATH+=:/usr/sbin
    command -v bpftool >/dev/null || skip 'bpftool is not here'
    fsfreeze -u mounted
    wait "$writer"

    fsfreeze -f mounted
    disk=${inner#/dev/} trace
    write_inner 0
    read -r -a key < <(change_map dump | jq -r '.[0].key | join(" ")')
    read -r -a value < <(change_map dump | jq -r '.[0].value | join(" ")')
    fsfreeze -u mounted
    wait "$writer"
    # as if the program had not run then: until a read reuses the struct
    change_map update key "${key[@]}" value "${value[@]}"
    for reads in $(seq 256 256 25600); do
        dd "if=$inner" of=/dev/null bs=4k iflag=direct status=none
        [ "$(change_map dump)" != '[]' ] || break
    done
    # when the struct is free
    change_map update key "${key[@]}" value "${value[@]}"
    end 1
    equal "$(wc -l <lines)" $((1 + reads))
    equal "$(lost)" 2
}

@test "null_blk: several queues" {
    load_module null_blk nr_devices=1 gb=1 queue_mode=2 submit_queues=2 irqmode=2
    [ "$(echo /sys/block/nullb0/mq/*/ | wc -w)" -gt 1 ] || skip 'null_blk has one queue here'
    counts_agree nullb0 nullb0
    [ "$(jq -s 'map(select(.args.type | test("^R"))) | length' lines)" = 204 ]
}

# Makes a disk of scsi_debug; its name is $scsi.
make_scsi() {
    modprobe -q sd_mod || skip 'there is no module sd_mod here'
    load_module scsi_debug dev_size_mb=64 delay=0
    wait_for sh '[ -e /dev/$(basename /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/*) ]'
    scsi=$(basename /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/*)
}

@test "scsi_debug: requests, errors and requeues" {
    make_scsi
    counts_agree "$scsi" "$scsi"

    # sectors from 0x1234 on cannot be read: what lies before them is, and is a part of the same request
    echo 2 >/sys/bus/pseudo/drivers/scsi_debug/opts
    disk=$scsi trace
    run -1 dd "if=/dev/$scsi" of=/dev/null bs=64k skip=36 count=1 iflag=direct status=none
    dd "if=/dev/$scsi" of=/dev/null bs=64k skip=1 count=1 iflag=direct status=none
    end
    equal "$(column type sector bytes error | grep ^RS)" 'RS 4608 65536 ENODATA
RS 128 65536 null'

    # the first command after a change of the size is tried again, with nothing done, and every third one does half of it
    echo 0x100 >/sys/bus/pseudo/drivers/scsi_debug/opts
    echo 3 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
    disk=$scsi trace
    for i in $(seq 10); do
        echo "$i" >/sys/bus/pseudo/drivers/scsi_debug/virtual_gb
        dd "if=/dev/$scsi" of=/dev/null bs=64k "skip=$i" count=1 iflag=direct status=none
    done
    end
    equal "$(column type sector bytes error)" "$(for i in $(seq 10); do echo "RS $((128 * i)) 65536 null"; done)"

    # every third command finds the host busy, goes back to the queue and comes again
    echo 0x8000 >/sys/bus/pseudo/drivers/scsi_debug/opts
    echo 3 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
    requeues=/sys/kernel/tracing/events/block/block_rq_requeue/enable
    [ ! -e $requeues ] || echo 1 >$requeues
    counts_agree "$scsi" "$scsi"
    [ ! -e $requeues ] || { echo 0 >$requeues; grep -q block_rq_requeue: /sys/kernel/tracing/trace; }
    equal "$(jq -s 'map(select(.args.error)) | length' lines)" 0
}

@test "nvme" {
    modprobe -q nvme || true
    # the one that is there for this test, no other
    controller=$(grep -ls spdk-trace-tools /sys/class/nvme/*/serial) || skip 'there is no NVMe disk for this test'
    nvme=$(basename "${controller%/serial}")n1
    counts_agree "$nvme" "$nvme"
}

@test "device mapper: the disks below" {
    command -v dmsetup >/dev/null || skip 'dmsetup is not here'
    modprobe -q dm_mod || true
    truncate -s 8M image2
    second=$(losetup --find --show --direct-io=on image2)
    mapped=biosnoop-test
    DM_DISABLE_UDEV=1 dmsetup create $mapped --table "0 8000 linear $loop 0
8000 8000 linear $second 0" 2>why || { mapped=; skip "no device mapper here: $(head -n 1 why)"; }
    disks_traced='' counts_agree mapper/$mapped "$disk" "${second#/dev/}"
    # what crosses from one disk to the other is a request of each
    equal "$(column disk | grep loop | sort -u)" "$(printf '%s\n' "$disk" "${second#/dev/}" | sort)"
}

@test "md: both disks of a mirror" {
    command -v mdadm >/dev/null || skip 'mdadm is not here'
    modprobe -q raid1 || skip 'there is no module raid1 here'
    truncate -s 8M image2
    second=$(losetup --find --show --direct-io=on image2)
    mirror=/dev/md127
    [ ! -e /sys/block/md127 ] || { mirror=; skip 'md127 is in use'; }
    MDADM_NO_UDEV=1 mdadm --build --quiet $mirror --level=1 --raid-devices=2 --assume-clean "$loop" "$second" 2>why ||
        { mirror=; skip "no md here: $(head -n 1 why)"; }
    disks_traced='' counts_agree md127 "$disk" "${second#/dev/}"
    # what is written is a request of each, what is read of one
    equal "$(jq -s --arg disk "$disk" 'map(select(.args.disk == $disk and (.args.type | test("^W"))).args.bytes) | add' lines)" \
        "$(jq -s --arg disk "${second#/dev/}" 'map(select(.args.disk == $disk and (.args.type | test("^W"))).args.bytes) | add' lines)"
}

@test "its lines are trace lines" {
    trace
    read_blocks 5
    end
    equal "$(trace-join lines | awk '{ print $3 }' | sort -u)" BLOCK_IO
    equal "$(trace-join lines | grep -c "comm: dd, pid: $reader, disk: $disk, type: RS, sector: [0-9]*, bytes: 4096")" 5
}

@test "trace-spans finds in its lines the disk I/O of a bdev I/O" {
    trace
    read_blocks 6 3
    end
    # a bdev I/O around each but the first one, which was issued before the first time
    sed 1d lines >later
    jq -r '.args.latency as $latency | [.us - $latency, .us, $latency, .args.sector / 8] | @tsv' later |
        awk '{ printf "%.3f %.3f %.3f %d\n", $1, $2, $3, $4 }' >moments
    while read -r start end latency lba; do
        entry "$start" BDEV_IO_START "i$lba" - "0x$lba" '"args":{"type":1,"offset":'"$lba"',"len":1}'
        IFS= read -r line <&3
        echo "$line"
        entry "$end" BDEV_IO_DONE "i$lba" "$latency" "0x$lba"
    done <moments 3<later >in
    status_is 0 trace-spans -j in
    equal "$stderr" ''
    equal "$(jq .disk <<<"$output" | grep -vc null)" 5
    equal "$(jq .disk <<<"$output")" "$(jq .args.latency later)"
    trace-spans -s in >story
    equal "$(grep -cE " disk $disk for [0-9.]+ [mu]s$" story)" 5
}

@test "from inside a PID namespace" {
    unshare -pf --mount-proc true 2>/dev/null || skip 'no PID namespaces here'
    export -f wait_for wait_for_text
    unshare -pf --mount-proc bash -c 'biosnoop -j -d "$0" -o lines 2>log & snoop=$!
        wait_for_text tracing log
        dd "if=$0" of=/dev/null bs=4k count=1 iflag=direct status=none & echo $! >reader; wait $!
        kill $snoop; wait $snoop' "$loop"
    take_lost
    equal "$(column comm pid)" "dd $(cat reader)"
    [ "$(cat reader)" -lt 100 ]
}

@test "it ends with its process" {
    # it does not end before it is traced
    sleep 1000 3>&- &
    local process=$!
    disown
    disk='' trace -p $process 600
    kill $process
    wait_for test ! -e "/proc/$recorder"
    ends_itself 0 "$recorder"
    recorder=
    grep "biosnoop: process $process has ended" log
}

@test "a disk without requests is refused" {
    local bio=
    for path in /sys/block/*; do [ -e "$path/mq" ] || bio=${path##*/}; done
    [ -n "$bio" ] || skip 'all disks here have requests'
    status_is 1 biosnoop -d "$bio"
    says "biosnoop: $bio: a disk without requests; name the disks below it"
}

# bats test_tags=any-kernel
@test "a reader that goes away ends it" {
    trace -n 1
    # one of them may be lost
    read_blocks 5
    end_itself
    status_is 0 sh "timeout 60 biosnoop -q -d $disk | head -n 1; [ \${PIPESTATUS[0]} = 1 ]"
    equal "$stderr" ''
}

@test "capabilities are given up, and two are enough" {
    command -v setpriv >/dev/null || skip 'setpriv is not here'
    trace
    has_given_up "$recorder"
    end
    status_is 1 setpriv --bounding-set -all biosnoop
    equal "$stderr" 'biosnoop: CAP_BPF and CAP_PERFMON are missing: run it as root, or with these capabilities'
    status_is 0 setpriv --bounding-set -all,+bpf,+perfmon biosnoop -q -d "$disk" 1
}

@test "a summary fits the terminal" {
    export LC_ALL=C.UTF-8
    needs_terminal
    local widest
    timeout 60 sh -c "until [ -e enough ]; do dd if=$loop of=/dev/null bs=4k count=3 iflag=direct status=none; done" 3>&- &
    reader=$!
    COLUMNS=80 script -qec "biosnoop -q -s -d $disk -n 3" /dev/null </dev/null | tr -d '\r' | sed 's/…/./g' >shown
    biosnoop -q -s -d "$disk" -n 3 >lines
    touch enough
    wait $reader
    widest=$(awk 'length > n { n = length } END { print n + 0 }' shown)
    [ "$widest" -le 80 ] || { cat shown; return 1; }
    grep -q 'COUNT.*MEAN.*P99.*MAX.*ERRORS' shown
    grep -q "^$disk  *dd " shown
    head -n 1 lines | grep -q 'bytes.*p50'
}
