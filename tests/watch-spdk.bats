#!/usr/bin/env bats
# What tests/watch-spdk says of source trees of SPDK.
# bats file_tags=sanitizers

load helpers

watch_spdk() {
    BIN=${BIN:-$ROOT/build} "$ROOT/tests/watch-spdk" "$@"
}

# A tree with some sources, in which the tools know everything but the layout.
small_tree() { # FOLDER
    mkdir -p "$1"/{include/spdk,lib/nvmf,module}
    echo 'struct spdk_trace_entry { int none; };' >"$1/include/spdk/trace.h"
    cat >"$1/lib/nvmf/tcp.c" <<'END'
static struct spdk_trace_tpoint_opts opts[] = {
	{ "TCP_REQ_NEW", TRACE_NEW, OWNER_TYPE_NVMF_TCP, OBJECT_NVMF_TCP_IO, 1, {{ "qd", SPDK_TRACE_ARG_TYPE_INT, 4 }} },
	{ "TCP_REQ_COMPLETED", TRACE_DONE, /* the last */ OWNER_TYPE_NVMF_TCP, OBJECT_NVMF_TCP_IO, 0, {} } };
SPDK_TRACE_REGISTER_FN(nvmf_tcp_trace, "nvmf_tcp", TRACE_GROUP_NVMF_TCP) {
	spdk_trace_register_object(OBJECT_NVMF_TCP_IO, 'r');
	SPDK_DTRACE_PROBE2_TICKS(nvmf_poll_group_add_qpair, qpair, thread);
	SPDK_DTRACE_PROBE2_TICKS(nvmf_poll_group_remove_qpair, qpair,
		thread);
	SPDK_DTRACE_PROBE4_TICKS(nvmf_ctrlr_add_qpair, qpair, qid, subnqn, hostnqn);
}
enum spdk_bdev_io_type { SPDK_BDEV_IO_TYPE_INVALID = 0, SPDK_BDEV_IO_TYPE_READ, SPDK_BDEV_NUM_IO_TYPES };
END
}

@test "a line names each difference of a source tree, and what is gone since an earlier one" {
    small_tree old
    status_is 1 watch_spdk old
    equal "$(wc -l <<<"$output")" 1
    [[ $output == 'layout: include/spdk/trace.h has none that the tools know'* ]]
    cp -r old new
    sed -i 's/TCP_REQ_COMPLETED/TCP_REQ_RESTS/; s/"qd"/"depth"/; s/'"'r'"'/'"'q'"'/; s/"nvmf_tcp"/"nvmf2"/
        s/PROBE4_TICKS/PROBE3_TICKS/; s/, hostnqn//; s/nvmf_poll_group_add_qpair/added/; s/TYPE_READ/TYPE_FETCH/' \
        new/lib/nvmf/tcp.c
    status_is 1 watch_spdk new old
    equal "$(grep -v ^layout <<<"$output" | sort)" "$(sort <<'END'
TCP_REQ_NEW: objects have the letter q, spdk_letter() says r
TCP_REQ_NEW: of the group nvmf2, spdk_group() says nvmf_tcp
TCP_REQ_NEW: no row uses the argument depth
TCP_REQ_RESTS: no row: the time after it counts as the target's
TCP_REQ_RESTS: objects have the letter q, spdk_letter() says r
TCP_REQ_RESTS: of the group nvmf2, spdk_group() says nvmf_tcp
bdev I/O of type 1: fetch, spdk_bdev_type() says read
nvmf_poll_group_add_qpair: no such probe
nvmf_ctrlr_add_qpair: the probe has 3 arguments, our spec 4
TCP_REQ_NEW: the argument qd is gone
END
)"
    status_is 2 watch_spdk nosuch
}

@test "an SPDK of today has no difference, and its headers' layout is compared number by number" {
    [ -n "${SPDK:-}" ] || skip 'SPDK does not name the folder of an SPDK'
    watch_spdk "$SPDK"
    mkdir new
    cp -r "$SPDK/include" new
    ln -s "$SPDK"/{lib,module} new
    sed -i 's/tname\[SPDK_TRACE_THREAD_NAME_LEN\];/& uint64_t more;/' new/include/spdk/trace.h
    status_is 1 watch_spdk new
    grep -x 'layout: history_size is 10296, in G6 10288' <<<"$output"
    grep -x 'layout: slots is 32, in G6 24' <<<"$output"
}
