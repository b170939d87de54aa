/* SPDX-License-Identifier: BSD-3-Clause */
/* Attaches the BPF program to the sites of the wanted probes. Errors are reported on stderr. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "probespec.h"
#include "recorder.h"
#include "target.h"
#include "bpf/usdt-record.h"

struct usdt_record_bpf;

/* A site of a wanted probe. */
struct attach_site {
	const struct target_file *file;
	const struct usdt_site *place;
	const struct probespec *spec;
	struct site fetch; /* an operand for each argument that has a name */
};

/* All zero before attach_find_sites(). */
struct attach {
	bool follow; /* also the processes that the process starts */
	struct recorder *recorder;
	struct usdt_record_bpf *bpf;
	bool multi;                /* by uprobe_multi links */
	struct attach_site *sites; /* by their index in events */
	size_t num_sites, cap_sites;
	int *links; /* descriptors of BPF links */
	size_t num_links;
};

/*
 * Finds the sites of the specs, which probecheck() has accepted, and how to fetch their arguments.
 * Target and specs must outlive it. Returns 0 or -1.
 */
int attach_find_sites(struct attach *a, const struct target *t, const struct probespecs *specs);

/* Opens the program, for the recorder's process or for all. Returns 0 or -1. */
int attach_open(struct attach *a, struct recorder *r, bool follow, struct recorder_program *program);

/* Attaches the loaded program to the sites. Returns 0 or -1. */
int attach_probes(struct attach *a);

/*
 * Detaches the program; events that were sent before can still be read. Returns 0, or -1 after a
 * message if that takes too long: a child process then stays to wait for it.
 *
 * The child is needed because that wait cannot be interrupted, not even by SIGKILL: whoever closes
 * the last descriptor of a link waits until the program runs nowhere, and it may wait for memory
 * from a dead network file system. A tool that is killed needs no child: the kernel closes its
 * descriptors, and no probe remains.
 */
int attach_detach(struct attach *a);

/* All zero before the first process. */
struct attach_walk {
	pid_t pid;
	bool started;
	uint32_t key;
	unsigned seen;
};

/* Moves to the next recorded process that is alive; the one of -p or of the command comes first. */
bool attach_next_process(const struct attach *a, struct attach_walk *walk);

void attach_close(struct attach *a);
