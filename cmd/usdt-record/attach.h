/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usdt-record's side of the BPF program: loads it and attaches it to the sites of the wanted probes. The
 * functions say on stderr what is wrong.
 */
#ifndef USDT_RECORD_ATTACH_H
#define USDT_RECORD_ATTACH_H

#include <stdint.h>
#include <sys/types.h>

#include "probespec.h"
#include "target.h"
#include "bpf/usdt-record.h"

struct bpf_link;
struct usdt_record_bpf;
struct ring_buffer;

struct attach_options {
	pid_t pid;   /* record this process only; 0: every one */
	bool follow; /* and the processes that it begins */
	bool one_by_one; /* attach each site by a perf event, also where the kernel has uprobe_multi links */
	uint32_t buffer; /* size of the ring in bytes; rounded up to what the kernel can do */
	bool verbose;    /* show each site, and what libbpf says */
};

/* A site of a wanted probe. */
struct recorder_site {
	const struct target_file *file;
	const struct usdt_site *place;
	const struct probespec *spec;
	struct site fetch; /* an operand for each argument that has a name */
};

struct recorder {
	pid_t pid;   /* that is recorded; 0: every one */
	bool follow; /* and those that it begins */
	struct usdt_record_bpf *bpf;
	/* what a session needs */
	struct ring_buffer *ring;
	uint32_t *wakeup;

	struct recorder_site *sites; /* by their index in events */
	size_t num_sites;
	int *links; /* a descriptor each, of uprobe_multi */
	size_t num_links;
	struct bpf_link **perf_links; /* of the slower way */
	size_t num_perf_links;
};

/* Called with each event. When it returns less than 0 no more of them are taken out. */
typedef int recorder_event(void *context, void *event, size_t size);

/*
 * Begins to record the probes of the specs, which target_check() has found good. Target and specs must
 * outlive the recorder. Returns 0, or -1; recorder_close() is due in both cases.
 */
int recorder_open(struct recorder *r, const struct target *t, const struct probespecs *specs,
		  const struct attach_options *options, recorder_event *on_event, void *context);

/*
 * Probes do nothing any more; what they have sent before can still be taken out. Returns 0; or -1 having said so, when
 * that takes long: a process of its own is left to wait for it.
 */
int recorder_detach(struct recorder *r);

/* Events for which there was no room. */
uint64_t recorder_lost(const struct recorder *r);

/* With `follow`: how many processes are being recorded, and how many were too many. */
unsigned recorder_followed(const struct recorder *r);
unsigned recorder_not_followed(const struct recorder *r);

/* All zero before the first process. */
struct recorder_walk {
	pid_t pid;
	uint32_t key;
	unsigned seen;
};

/* Moves to the next recorded process; the one of -p or of the command comes first. False after the last one. */
bool recorder_next_process(const struct recorder *r, struct recorder_walk *walk);

void recorder_close(struct recorder *r);

#endif
