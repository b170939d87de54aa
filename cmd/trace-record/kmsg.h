/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's messages from the time of a recording. */
#pragma once

#include <stdbool.h>

struct folder;
struct part;

/* Starts after the latest message. Returns a descriptor, or -1 with errno. */
int kmsg_open(void);

/*
 * Writes the messages since kmsg_open() into their part, as dmesg(1) prints them; its `lost` is how often some were
 * overwritten before. kmsg: -1 if it could not be opened. Returns false after a message if the file cannot be written.
 */
bool kmsg_write(int kmsg, struct part *p, const struct folder *folder);
