/* SPDX-License-Identifier: BSD-3-Clause */
/* BPF programs that the kernel calls with each thread that there is, when they are told to. */
#ifndef ITERATOR_H
#define ITERATOR_H

struct bpf_program;

/* Returns a descriptor, or -1 with errno. This needs privileges, running it does not. */
int iterator_open(struct bpf_program *program);

/* Calls the program with each thread, and closes the descriptor, which may be -1. Returns 0, or -1 with errno. */
int iterator_run(int fd);

#endif
