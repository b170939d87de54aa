#!/usr/bin/env bats
# A target of a built SPDK, in the folder that SPDK names, with two of its hosts: over TCP, and over RDMA where there is an
# RDMA device, or soft RoCE.
# bats file_tags=alone,plain

load helpers

setup_file() {
    [ -n "${SPDK:-}" ] || { export LACKING_SPDK='SPDK does not name the folder of a built SPDK'; return; }
    needs_usdt_target
    export LD_LIBRARY_PATH=$SPDK/build/lib:${LD_LIBRARY_PATH:-} PATH=$PATH:/usr/sbin:/sbin
}

setup() {
    enter
    [ -z "${LACKING_SPDK:-}" ] || skip "$LACKING_SPDK"
    grep -q '^CONFIG_USDT?*=y' "$SPDK/mk/config.mk" || skip 'this SPDK was built without --with-usdt'
    [ "$(nproc)" -gt 1 ] || lacks 'a target and a host poll: they need two processors'
}

teardown() {
    kill_left target recorder host1 host2
    [ ! -e rdma ] || ip link delete "$(cat rdma)"
    rm -f /dev/shm/nvmf_trace.pid"${target:-none}"
}

# Two subsystems: the first one's bdev takes no time, the second one's 3 ms.
configuration() { # TRANSPORT ADDRESS
    jq -n --arg type "$1" --arg address "$2" '
        def call($method; $params): {method: $method, params: $params};
        {subsystems: [
            {subsystem: "iobuf", config: [call("iobuf_set_options"; {small_pool_count: 1024, large_pool_count: 64})]},
            {subsystem: "bdev", config: [
                call("bdev_malloc_create"; {name: "Fast", num_blocks: 65536, block_size: 512}),
                call("bdev_malloc_create"; {name: "Base", num_blocks: 65536, block_size: 512}),
                call("bdev_delay_create"; {name: "Slow", base_bdev_name: "Base", avg_read_latency: 3000,
                    p99_read_latency: 3000, avg_write_latency: 3000, p99_write_latency: 3000})]},
            {subsystem: "nvmf", config: ([call("nvmf_create_transport"; {trtype: $type})] +
                ([[1, "Fast"], [2, "Slow"]] | map("nqn.2016-06.io.spdk:cnode\(.[0])" as $nqn |
                    call("nvmf_create_subsystem"; {nqn: $nqn, allow_any_host: true, serial_number: "SPDK\(.[0])"}),
                    call("nvmf_subsystem_add_ns"; {nqn: $nqn, namespace: {bdev_name: .[1]}}),
                    call("nvmf_subsystem_add_listener"; {nqn: $nqn, listen_address: {trtype: $type, adrfam: "IPv4",
                        traddr: $address, trsvcid: "4499"}}))))}]}'
}

host() { # NUMBER TRANSPORT ADDRESS
    "$SPDK/build/bin/spdk_nvme_perf" --no-huge -s 256 -c 2 -q 4 -o 4096 -w randrw -M 50 -t 3 -r "trtype:$2 adrfam:IPv4 \
traddr:$3 trsvcid:4499 subnqn:nqn.2016-06.io.spdk:cnode$1 hostnqn:nqn.2026-11.test:host-$1" >"host-$1.log" 2>&1
}

# Everything that a trace of this transport should show.
session() { # TRANSPORT ADDRESS
    local group=nvmf_${1,,}
    configuration "$1" "$2" >target.json
    # RDMA registers memory
    (ulimit -l unlimited 2>/dev/null || true; exec "$SPDK/build/bin/nvmf_tgt" --no-huge -s 768 -m 1 -u \
        --disable-cpumask-locks -r "$PWD/rpc.sock" -e "$group,bdev" --num-trace-entries 131072 -c target.json) \
        >target.log 2>&1 3>&- &
    target=$!
    wait_for_text 'Target Listening on.*4499' target.log
    usdt-record -p $target >usdt.txt 2>recorder.log 3>&- &
    recorder=$!
    wait_for_text recording recorder.log
    host 1 "$@" 3>&- &
    host1=$!
    host 2 "$@" 3>&- &
    host2=$!
    wait $host1 || { cat host-1.log; return 1; }
    wait $host2 || { cat host-2.log; return 1; }
    # the polls of an idle target write no entries
    cp "/dev/shm/nvmf_trace.pid$target" trace
    kill $recorder
    wait $recorder
    # the same entries as SPDK's own tool
    trace-dump -q trace >lines
    "$SPDK/build/bin/spdk_trace" -j -f trace >spdk.json
    equal "$(wc -l <lines)" "$(jq '.entries | length' spdk.json)"
    same_lines 'jq -r .tsc lines | sort -n' "jq -r '.entries[].tsc' spdk.json | sort -n"
    # each request of an I/O queue has its host, and that of the slow bdev waits for it
    qpair-lifetimes -q usdt.txt >lifetimes
    trace-join -q -j -l lifetimes lines | trace-spans -q -a -j >spans
    jq -s 'map(select((.parent or .open or .cut or .admin) | not))' spans >requests
    equal "$(jq 'map(select(.id | startswith("r"))) | map(select(.args.qpair.hostnqn | not)) | length' requests)" 0
    [ "$(jq 'map(select(.args.qpair.hostnqn == "nqn.2026-11.test:host-1" and .io.bdev == "Fast")) | length' requests)" -gt 100 ]
    [ "$(jq 'map(select(.args.qpair.hostnqn == "nqn.2026-11.test:host-2" and .io.bdev == "Slow" and .layers.bdev > 2900)) | length' requests)" -gt 100 ]
}

@test "over TCP, each request has its host, and the entries are those of spdk_trace" {
    session TCP 127.0.0.1
}

# Sets $address to one of an RDMA device. Without any, an interface of its own gets one by soft RoCE.
rdma_address() {
    local device
    command -v rdma >/dev/null || skip 'rdma (package iproute2) is not here'
    if ! rdma link | grep -q 'state ACTIVE.*netdev'; then
        modprobe -q -a crc32_generic dummy rdma_rxe rdma_ucm ib_uverbs || true
        device=rdma$$
        ip link add "$device" type dummy 2>/dev/null || skip 'no RDMA device, and no dummy interface can be made'
        echo "$device" >rdma
        ip address add 10.77.0.1/24 dev "$device"
        ip link set "$device" up
        rdma link add "rxe$$" type rxe netdev "$device" 2>/dev/null || skip 'no RDMA device, and no soft RoCE: rdma_rxe'
    fi
    device=$(rdma link | sed -n 's/.*state ACTIVE.*netdev \([^ ]*\).*/\1/p' | head -n 1)
    address=$(ip -4 -o address show dev "$device" | sed -n 's/.* inet \([^/]*\).*/\1/p' | head -n 1)
    [ -n "$address" ] || skip "$device, of an RDMA device, has no IPv4 address"
}

@test "over RDMA, each request has its host, and the entries are those of spdk_trace" {
    grep -q '^CONFIG_RDMA?*=y' "$SPDK/mk/config.mk" || skip 'this SPDK was built without --with-rdma'
    rdma_address
    session RDMA "$address"
}
