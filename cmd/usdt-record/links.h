/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attaches the BPF program to sites, by a link for all sites of a file, or for each.
 *
 * The kernel opens no file for that: it finds it by the path of a descriptor. But it reads the pages of the sites and
 * their semaphores if they are not in memory, and NFS may ask its server about the file first. Nothing can interrupt
 * that, so a child process attaches, which has read these pages before. It hands the links over.
 *
 * A file system that takes the pages back in between, and does not answer then, still keeps the child in the kernel,
 * which meanwhile lets no process of the machine fork: it holds dup_mmap_sem. Only a kernel that reads the pages before
 * it takes that could prevent this.
 */
#pragma once

#include <linux/bpf.h>
#include <stdint.h>
#include <sys/types.h>

struct attach;

/* From the kernel's linux/bpf.h of 6.6, which may be newer than the header that is installed. */
static const enum bpf_attach_type uprobe_multi = 48;

struct link_create {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, multi_flags, pid, unused;
};

/* Makes a uprobe_multi link. Returns its descriptor, or -1 with errno. */
int links_create(struct link_create *attr);

/* Attaches the loaded program to all sites, in one process; pid 0: in all. Returns 0, or -1 after a message. */
int links_make(struct attach *a, pid_t pid);
