# shellcheck disable=SC2034 # run and target.bash use what is set here
# For run: the kinds of plants. There are three hosts: db, whose requests are to suffer, web beside it on a bdev of its
# own, and bulk, which some plants add. KIND is
#
#   draw_KIND     changes what was drawn, so that the plant can matter (SIZE, READS, RATE, DEPTH, BLOCKS, DEVICE)
#   early_KIND    prints calls for before the target initializes
#   prepare_KIND  runs before the bdevs are made
#   layout_KIND   prints the calls that make bdev Db, instead of a plain one
#   plant_KIND    plants: makes calls, starts acts, or changes the loads of hosts. Of a kind hang_* it runs once the hosts
#                 have their connections, and stops all I/O of db for good
#
# of which only the last one is needed, and a row here: the victims, the causes that are right and the culprits, then
# causes that are true but not all of it, or "-". All are regular expressions for the words of trace-report -j; the
# culprit of a hang is in its text.
expectations='
nothing         -       -                -                      -
slow_bdev       db      bdev|drive       Db                     below
slow_tail       db      bdev|drive       Db                     below
slow_leg        db      leg              Leg1                   bdev|below
chained         db      drive|bdev       Far                    below|network
limit_iops      db      rate_limit       Db                     -
limit_bytes     db      rate_limit       Db                     -
limit_reads     db      rate_limit       Db                     -
small_pool      db|bulk buffer           bulk                   host
busy_size       .*      reactor|lcore    bulk                   silent|lcore
busy_count      .*      reactor|lcore    bulk                   silent|lcore
blocked_rpc     .*      silent|off_cpu|reactor lcore.0|page.fault|app_thread lcore
fsync           .*      off_cpu          fsync|fdatasync        silent|lcore
log_pipe        .*      off_cpu          write                  silent|lcore
preempt_cfs     .*      off_cpu          watchdog               silent|lcore
preempt_fifo    .*      off_cpu          watchdog               silent|lcore
quota           .*      off_cpu          quota|throttl|cgroup   silent|lcore
stopped         .*      off_cpu          stop                   silent|lcore
late_data       db      host             db                     network
slow_reader     db      reply|network    db                     -
long_wire       db      host|network     db                     reply
thin_wire       db      reply|network    db                     host
write_zeroes    .*      reactor|lcore    bulk                   silent|lcore
unmap           .*      reactor|lcore    bulk                   silent|lcore
rebuild         db      leg|bdev|no_io   New|Db                 below
copy_on_write   db      copy             lvs|[0-9a-f-]{36}      bdev|below|silent|lcore
paused          db      no_io            Db|cnode1              -
same_disk       db      disk             Db                     bdev|below
full_queue      db      queue            db                     bdev
two             .*      off_cpu          quota|throttl|cgroup   bdev|lcore
far_disk        db      bdev             Disk.of.LEG,.leg.LEGn1  -
far_stopped     db      reactor          of.LEG:.*stop,.leg.LEGn1 -
far_wire        db      network          engine.and.LEG,.leg.LEGn1 -
far_pool        db      buffer           of.LEG,.leg.LEGn1     -
hang_stop       -       hang             stopped.by.a.signal    hang
hang_gdb        -       hang             stopped.by.gdb         hang
hang_fifo       -       hang             open.*fifo             hang
hang_bdev       -       hang             bdev.Db                hang
hang_error      -       hang             bdev.EE_Base           hang
hang_paused     -       hang             subsystem.*cnode1      hang
hang_pool       -       hang             deadlock.*buffer       hang
hang_holders    -       hang             buffer.of.bulk         hang
hang_bdev_io    -       hang             bdev_io                hang
hang_limit      db      hang|rate_limit  Db                     hang
hang_reader     db      hang|reply       host.db|^db$           hang
hang_leg        -       hang             Leg1                   hang
hang_remote     -       hang             Far                    hang
hang_loop       -       hang             polled.nothing         hang
hang_snapshot   -       hang             EE_Base                hang
hang_range      -       hang             New                    hang
'

plant_nothing() { :; }

draw_slow_bdev() { need_device; between 300 5000; US=$REPLY; room "$US"; }
plant_slow_bdev() { slow_down Db "$US" | rpc; }

draw_slow_tail() { need_device; between 2000 20000; US=$REPLY; room "$US"; }
plant_slow_tail() { slow_down Db "$US" p99 | rpc; }

draw_slow_leg() {
    need_device
    pick raid0 raid1 concat; LEVEL=$REPLY
    between 500 4000; US=$REPLY
    room "$US"
    READS=$((READS / 2))
}
layout_slow_leg() { raid "$LEVEL" "$DEVICE"; }
plant_slow_leg() { slow_down Leg1 "$US" | rpc; }

raid() { # LEVEL US
    bdev Leg0 "$2"
    bdev Leg1 "$2"
    if [ "$1" = raid1 ]; then
        call bdev_raid_create name=Db raid_level=raid1 superblock=true base_bdevs='["Leg0","Leg1"]'
    else
        call bdev_raid_create name=Db raid_level="$1" strip_size_kb=64 base_bdevs='["Leg0","Leg1"]'
    fi
}

# The other target has the CPU of the hosts.
draw_chained() { between 500 4000; US=$REPLY; slow_rate 2000; room "$US"; }
prepare_chained() {
    start_target "$(printf '0x%x' $((1 << HOST_CPU)))" far.sock || return
    {
        call framework_start_init
        call nvmf_create_transport trtype=TCP
        bdev Remote 20
        subsystem 9 Remote $((PORT + 1))
    } | rpc far.sock
}
layout_chained() {
    attach Far $((PORT + 1))
}
attach() { # NAME PORT [NAME=VALUE]...
    call bdev_nvme_attach_controller name="$1" trtype=TCP adrfam=IPv4 traddr=127.0.0.1 trsvcid="\"$2\"" subnqn="${NQN}9" "${@:3}"
}
plant_chained() { slow_down Remote "$US" | rpc far.sock; }

# Either just below the limit, so that bursts wait, or above it.
draw_limit_iops() { between 1 4; LIMIT=$((REPLY * 1000)); pick 90 95 130; RATE=$((LIMIT * REPLY / 100)); DEPTH=16; }
plant_limit_iops() { call bdev_set_qos_limit name=Db rw_ios_per_sec="$LIMIT" | rpc; }

draw_limit_bytes() { between 4 40; LIMIT=$REPLY; pick 4096 16384 65536; SIZE=$REPLY; limit_rate; }
plant_limit_bytes() { call bdev_set_qos_limit name=Db rw_mbytes_per_sec="$LIMIT" | rpc; }

draw_limit_reads() { draw_limit_bytes; READS=70; RATE=$((RATE * 10 / 7)); }
plant_limit_reads() { call bdev_set_qos_limit name=Db r_mbytes_per_sec="$LIMIT" | rpc; }

limit_rate() { pick 90 95 130; RATE=$((LIMIT * 1048576 * REPLY / SIZE / 100)); DEPTH=16; }

draw_small_pool() {
    pick 16384 65536 131072; SIZE=$REPLY
    between 100 800; RATE=$REPLY
    between 3 20; US=$((REPLY * 1000))
}
early_small_pool() {
    call iobuf_set_options small_pool_count=512 large_pool_count=16
    call bdev_set_options iobuf_small_cache_size=0 iobuf_large_cache_size=0
    call accel_set_options small_cache_size=0 large_cache_size=0
    TRANSPORT='buf_cache_size=0'
}
plant_small_pool() { loads[bulk]="-d 24 -b 131072 --data-delay $US"; }

draw_busy_size() { pick '-d 8' '-d 32' '-d 8 -r 6000'; BULK=$REPLY; }
plant_busy_size() { loads[bulk]="$BULK -b 131072 --reads 50"; }

draw_busy_count() {
    pick '-d 64' '-d 256 --queue 512'
    BULK=$REPLY
    TRANSPORT='max_queue_depth=512'
}
plant_busy_count() { loads[bulk]="$BULK -b 512 --reads 50"; }

draw_blocked_rpc() { between 16 192; MIB=$REPLY; }
plant_blocked_rpc() {
    repeat 0.3 allocate &
    acts+=($!)
}
allocate() {
    {
        call bdev_malloc_create name=Big num_blocks=$((MIB * 2048)) block_size=512
        call bdev_malloc_delete name=Big
    } | rpc
}

file_bdev() { # NAME
    head -c 64M /dev/zero >"$1"
    call bdev_aio_create name="$1" filename="$PWD/$1" block_size=512
}

prepare_fsync() { file_bdev Log | rpc; }
plant_fsync() {
    subsystem 4 Log | rpc
    subsystems[bulk]=4
    loads[bulk]="-r 100 -b 4096 --flushes 50"
}

# Each request beyond the end is one line of the log. The pipe is full after half a second without a reader.
plant_log_pipe() {
    loads[bulk]="-r 2000 --reads 100 --blocks 100000000"
    repeat 0.05 stop_reader &
    acts+=($!)
}
stop_reader() {
    kill -STOP "$reader"
    sleep 0.7
    kill -CONT "$reader"
}

draw_preempt_cfs() { between 3 20; MS=$REPLY; pick 0.05 0.15 0.4; PAUSE=$REPLY; }
plant_preempt_cfs() {
    watchdog in_group nice -n -20 &
    acts+=($!)
}

draw_preempt_fifo() { draw_preempt_cfs; }
plant_preempt_fifo() {
    watchdog exec chrt -f 50 &
    acts+=($!)
}

# Computes for some milliseconds, again and again, on the first reactor's CPU.
watchdog() { # COMMAND...
    "$@" taskset -c 0 bash -c 'printf watchdog >/proc/$$/comm
        while :; do
            end=$((${EPOCHREALTIME/[.,]/} + $1 * 1000))
            while ((${EPOCHREALTIME/[.,]/} < end)); do :; done
            sleep "$2"
        done' - "$MS" "$PAUSE"
}

draw_quota() { pick 60 70 80 90; QUOTA=$REPLY; }
plant_quota() { set_quota $((QUOTA * REACTORS)); }

draw_stopped() { pick 0.01 0.03 0.1; PAUSE=$REPLY; STOPPED=0; }
plant_stopped() {
    repeat 0.4 stop_for_a_moment &
    acts+=($!)
}
stop_for_a_moment() {
    kill -STOP "${targets[STOPPED]}"
    sleep "$PAUSE"
    kill -CONT "${targets[STOPPED]}"
}

draw_late_data() {
    pick 8192 16384 65536; SIZE=$REPLY
    between 500 20000; US=$REPLY
    slow_rate 500
    DEPTH=32 READS=$((READS / 2))
}
plant_late_data() { loads[db]+=" --data-delay $US"; }

# It can read 28 MB a second.
draw_slow_reader() { pick 65536 131072; SIZE=$REPLY; slow_rate $((22000000 / SIZE)); READS=100 DEPTH=16; }
plant_slow_reader() { loads[db]+=' --read-delay 400 --chunk 16384 --buffer 32768'; }

draw_long_wire() {
    pick 8192 16384 65536; SIZE=$REPLY
    between 200 10000; US=$REPLY
    slow_rate 1000
    DEPTH=64
}
plant_long_wire() { wire -d "$US"; }

draw_thin_wire() {
    pick 65536 131072; SIZE=$REPLY
    between 15 60; MB=$REPLY
    RATE=$((MB * 700000 / SIZE)) DEPTH=32 READS=100
}
plant_thin_wire() { wire -r "$((MB * 1000000))"; }

wire() { # OPTION...
    start_wire $((PORT + 2)) "$PORT" "$@"
    acts+=($!)
    loads[db]+=" -p $((PORT + 2))"
}

start_wire() { # PORT TO OPTION...
    in_group taskset -c "$HOST_CPU" plants-wire -p "$1" -t "$2" "${@:3}" 2>>wire.log &
    sleep 0.2
}

draw_write_zeroes() { pick 16M 32M; LARGE=$REPLY; between 500 2000; BULK=$REPLY; }
plant_write_zeroes() { loads[bulk]="-r $BULK -d 4 -B $LARGE --zeroes 100"; }

draw_unmap() { draw_write_zeroes; }
plant_unmap() { loads[bulk]="-r $BULK -d 4 -B $LARGE --unmaps 100"; }

draw_rebuild() { need_device; READS=$((READS / 2)); between 500 3000; US=$REPLY; room "$US"; }
layout_rebuild() { raid raid1 "$DEVICE"; }
plant_rebuild() {
    {
        call bdev_raid_remove_base_bdev name=Leg1
        bdev New "$US"
        call bdev_raid_set_options process_max_bandwidth_mb_sec=16
        call bdev_raid_add_base_bdev raid_bdev=Db base_bdev=New
    } | rpc
}

# A snapshot makes the volume a clone again, whose clusters are copied when they are first written.
draw_copy_on_write() { READS=$((READS / 2)) BLOCKS=98304; slow_rate 400; }
layout_copy_on_write() {
    bdev Store 0 400
    call bdev_lvol_create_lvstore bdev_name=Store lvs_name=lvs cluster_sz=1048576 clear_method=none
    call bdev_lvol_create lvs_name=lvs lvol_name=db size_in_mib=48 thin_provision=false clear_method=none
}
plant_copy_on_write() {
    repeat 1 snapshot &
    acts+=($!)
}
snapshot() {
    call bdev_lvol_snapshot lvol_name=lvs/db snapshot_name="at-$EPOCHREALTIME" | rpc
}

# A pause waits for the I/O of the namespace, and others wait meanwhile.
draw_paused() { DEVICE=8000; between 300 2000; RATE=$REPLY; room 16000; }
plant_paused() {
    exec plants-rpc target.sock < <(pauses) >>calls.log 2>&1 &
    acts+=($!)
}
pauses() {
    local group
    while :; do
        for group in 2 1; do call nvmf_subsystem_set_ns_ana_group nqn="${NQN}1" nsid=1 anagrpid=$group; done
    done
}

draw_same_disk() { slow_rate 400; pick 4096 16384; SIZE=$REPLY; }
layout_same_disk() { file_bdev Db; }
plant_same_disk() {
    repeat 0 dd if=/dev/zero of=neighbour bs=1M count=512 oflag=direct status=none &
    acts+=($!)
}

# More than a queue of few entries can hold, of which one is always free.
draw_full_queue() {
    DEVICE=8000 DEPTH=128
    pick 8 16 32; QUEUE=$REPLY
    between 105 150; RATE=$((QUEUE * REPLY * 10000 / DEVICE))
}
plant_full_queue() { loads[db]+=" --queue $QUEUE -d $((QUEUE - 1))"; }

draw_two() { slow_rate 1000; draw_slow_bdev; draw_quota; }
plant_two() {
    plant_slow_bdev
    plant_quota
}

# A volume of two replicas, each a target of its own, of which LEG has the plant. They share the CPU of the hosts, so they
# sleep while nothing is to do: their disks are files in memory, since most other bdevs poll. Where one polls, it is in LEG.
draw_far() { # WHERE
    FAR=$1 REACTORS=1 DEVICE=0 READS=$((READS / 2)) DEPTH=16 names=(engine a b)
    pick a b; LEG=$REPLY
    pick 16384 65536; SIZE=$REPLY
    slow_rate 400
    pick '' sock; GROUPS_TOO="bdev_raid bdev_nvme nvme_tcp $REPLY"
}
prepare_far() {
    local name
    for name in a b; do
        start_target "$(printf '0x%x' $((1 << HOST_CPU)))" $name.sock --interrupt-mode || return
        head -c 64M /dev/zero >/dev/shm/plants.$$
        replica $name | rpc $name.sock || return
        rm /dev/shm/plants.$$
    done
    [ "$FAR" != wire ] || far_wire
}
replica() { # NAME
    local disk=Disk group
    [ "$FAR" != pool ] || early_small_pool
    call framework_start_init
    # shellcheck disable=SC2086 # pairs
    call nvmf_create_transport trtype=TCP $TRANSPORT
    for group in nvmf_tcp bdev ${GROUPS_TOO##* }; do call trace_enable_tpoint_group name="$group"; done
    [ "$FAR$1" != "disk$LEG" ] || disk=File
    call bdev_aio_create name=$disk filename=/dev/shm/plants.$$ block_size=512
    [ $disk = Disk ] || delay Disk File 20
    subsystem 9 Disk "$(far_port "$1")"
}
far_port() { # NAME
    [ "$1" = a ] && echo $((PORT + 3)) || echo $((PORT + 4))
}
far_wire() { # OPTION...
    start_wire $((PORT + 5)) "$(far_port "$LEG")" "$@"
    targets[3]=$!
}
layout_far() {
    local name at
    for name in a b; do
        at=$(far_port $name)
        [ "$FAR$name" != "wire$LEG" ] || at=$((PORT + 5))
        attach $name "$at" ctrlr_loss_timeout_sec=-1 reconnect_delay_sec=1
    done
    call bdev_raid_create name=Db raid_level=raid1 base_bdevs='["an1","bn1"]'
}

draw_far_disk() { draw_far disk; between 3000 20000; US=$REPLY; room "$US"; }
prepare_far_disk() { prepare_far; }
layout_far_disk() { layout_far; }
plant_far_disk() { slow_down Disk "$US" | rpc "$LEG.sock"; }

draw_far_stopped() { draw_far reactor; draw_stopped; [ "$LEG" = a ] && STOPPED=1 || STOPPED=2; }
prepare_far_stopped() { prepare_far; }
layout_far_stopped() { layout_far; }
plant_far_stopped() { plant_stopped; }

# The engine connects again.
draw_far_wire() { draw_far wire; between 3000 20000; US=$REPLY; room "$US"; }
prepare_far_wire() { prepare_far; }
layout_far_wire() { layout_far; }
plant_far_wire() {
    kill "${targets[3]}"
    wait "${targets[3]}"
    far_wire -d "$US"
    sleep 3
}

draw_far_pool() { draw_far pool; between 3 20; US=$((REPLY * 1000)); }
prepare_far_pool() { prepare_far; }
layout_far_pool() { layout_far; }
plant_far_pool() { plant_small_pool; loads[bulk]+=" -p $(far_port "$LEG")"; subsystems[bulk]=9; }

plant_hang_stop() { kill -STOP "${targets[0]}"; }

plant_hang_gdb() {
    gdb -nx -q -batch -iex 'set auto-solib-add off' -p "${targets[0]}" -ex 'shell sleep 60' >gdb.log 2>&1 &
    acts+=($!)
    sleep 1
}

# A target without a reply is not waited for.
call_for_long() { # METHOD NAME=VALUE...
    exec plants-rpc target.sock < <(call "$@") >>calls.log 2>&1 &
    acts+=($!)
}

# Opening one for reading waits for a writer.
plant_hang_fifo() {
    mkfifo fifo
    call_for_long bdev_aio_create name=Fifo filename="$PWD/fifo" block_size=512 readonly=true
}

draw_hang_bdev() { need_device; }
plant_hang_bdev() { slow_down Db 60000000 | rpc; }

layout_hang_error() {
    bdev Base "$DEVICE"
    call bdev_error_create base_name=Base
}
plant_hang_error() {
    pick 1 1000000
    call bdev_error_inject_error name=EE_Base io_type=all error_type=pending num="$REPLY" queue_depth=0 | rpc
}

# The pause waits for one request, and all others for the pause.
layout_hang_paused() { layout_hang_error; }
plant_hang_paused() {
    call bdev_error_inject_error name=EE_Base io_type=all error_type=pending num=1 | rpc
    sleep 0.2
    call_for_long nvmf_subsystem_set_ns_ana_group nqn="${NQN}1" nsid=1 anagrpid=2
}

# Requests of a volume hold all buffers, and those that they became in its replica wait for one.
draw_hang_pool() { SIZE=65536 DEPTH=4; slow_rate 200; }
early_hang_pool() { early_small_pool; }
layout_hang_pool() {
    bdev Replica
    subsystem 9 Replica "$PORT" 11111111-2222-4333-8444-555555555555
    attach Far "$PORT"
}
plant_hang_pool() { bulk_host 1 -d 32 -b 131072; }

# A host that has all buffers for its writes, and sends no data.
draw_hang_holders() { pick 16384 65536 131072; SIZE=$REPLY; slow_rate 800; }
early_hang_holders() { early_small_pool; }
plant_hang_holders() { bulk_host 3 -d 24 -b 131072 --data-delay 600000000; }

bulk_host() { # SUBSYSTEM OPTION...
    taskset -c "$HOST_CPU" plants-host -p "$PORT" -s "$NQN$1" -n nqn.2026-11.test:bulk "${@:2}" >bulk.json 2>&1 &
    acts+=($!)
}

# Another bdev has all bdev_io of the target.
draw_hang_bdev_io() { GROUPS_TOO=; }
early_hang_bdev_io() { call bdev_set_options bdev_io_pool_size=100 bdev_io_cache_size=8; }
layout_hang_bdev_io() {
    bdev Db "$DEVICE"
    bdev Slow 1
    subsystem 9 Slow
}
plant_hang_bdev_io() {
    slow_down Slow 600000000 | rpc
    bulk_host 9 -d 120 --queue 128 -b 4096 --reads 100
}

draw_hang_limit() { SIZE=131072 DEPTH=64; between 400 800; RATE=$REPLY; }
plant_hang_limit() { call bdev_set_qos_limit name=Db rw_mbytes_per_sec=1 | rpc; }

# More replies than its socket has room for are under way.
draw_hang_reader() { SIZE=131072 READS=100 DEVICE=60000 DEPTH=120 RATE=2500; }
plant_hang_reader() { kill -STOP "${pids[db]}"; }

draw_hang_leg() { need_device; READS=$((READS / 2)); }
layout_hang_leg() { raid raid1 "$DEVICE"; }
plant_hang_leg() { slow_down Leg1 600000000 | rpc; }

draw_hang_remote() { slow_rate 2000; }
prepare_hang_remote() { prepare_chained; }
layout_hang_remote() { layout_chained; }
plant_hang_remote() { kill -STOP "${targets[1]}"; }

# Its reactor jumps to where it is.
plant_hang_loop() {
    gdb -nx -q -batch -iex 'set auto-solib-add off' -p "${targets[0]}" -ex "set {short}\$pc = 0xfeeb" >gdb.log 2>&1
}

# It waits for a write of metadata, and all I/O of the volume for it.
draw_hang_snapshot() { READS=$((READS / 2)) BLOCKS=98304; slow_rate 400; }
layout_hang_snapshot() {
    call bdev_malloc_create name=Base num_blocks=$((400 * 2048)) block_size=512
    call bdev_error_create base_name=Base
    call bdev_lvol_create_lvstore bdev_name=EE_Base lvs_name=lvs cluster_sz=1048576 clear_method=none
    call bdev_lvol_create lvs_name=lvs lvol_name=db size_in_mib=48 thin_provision=false clear_method=none
}
plant_hang_snapshot() {
    call_for_long bdev_lvol_snapshot lvol_name=lvs/db snapshot_name=copy
    call bdev_error_inject_error name=EE_Base io_type=write error_type=pending num=1 | rpc
}

# A range of the volume is locked while it is copied to a new leg.
draw_hang_range() { need_device; READS=$((READS / 2)); }
layout_hang_range() { raid raid1 "$DEVICE"; }
plant_hang_range() {
    {
        call bdev_raid_remove_base_bdev name=Leg1
        bdev New 1
        call bdev_raid_set_options process_max_bandwidth_mb_sec=1
        call bdev_raid_add_base_bdev raid_bdev=Db base_bdev=New
    } | rpc && slow_down New 600000000 | rpc
}
