/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "parts.h"

enum {
	RECORD = 8192,      /* bytes of a message, at most */
	MESSAGES = 1 << 17, /* of a recording, at most: more than the kernel keeps */
};

int kmsg_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

static void read_messages(int fd, struct out *out, uint64_t *lost)
{
	char record[RECORD + 1];

	for (int i = 0; i < MESSAGES; i++) {
		ssize_t n = read(fd, record, RECORD);
		char *text, *end;
		uint64_t us = 0;

		if (n < 0 && errno == EPIPE) {
			++*lost;
			continue;
		}
		if (n <= 0)
			return;
		/* priority,number,microseconds,flags;text, and lines with more about it */
		record[n] = 0;
		text = strchr(record, ';');
		if (!text || sscanf(record, "%*u,%*u,%" SCNu64, &us) != 1)
			continue;
		end = strchrnul(++text, '\n');
		out_printf(out, "[%5" PRIu64 ".%06" PRIu64 "] ", us / 1000000, us % 1000000);
		out_visible(out, slice_between(text, end));
		out_char(out, '\n');
	}
}

bool kmsg_write(int kmsg, struct part *p, const struct folder *folder)
{
	struct out messages = {.fd = OUT_MEMORY};

	p->lost = 0;
	if (kmsg >= 0)
		read_messages(kmsg, &messages, &p->lost);
	return part_write(p, folder, &messages, kmsg >= 0 ? NULL : "/dev/kmsg: needs root or CAP_SYSLOG");
}
