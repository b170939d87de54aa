/* SPDX-License-Identifier: BSD-3-Clause */
#include "writer.h"

const char *writer_name(enum annotation annotation)
{
	static const char *const names[ANNOTATION_IO_KEY] = {
		[ANNOTATION_ID] = "id",           [ANNOTATION_VALUE] = "value",   [ANNOTATION_TSC] = "tsc",
		[ANNOTATION_RELATED] = "related", [ANNOTATION_POLLER] = "poller", [ANNOTATION_OWNER] = "owner",
		[ANNOTATION_SIZE] = "size",       [ANNOTATION_LCORE] = "lcore",   [ANNOTATION_OPEN] = "open",
		[ANNOTATION_CUT] = "cut",         [ANNOTATION_TORN] = "torn",     [ANNOTATION_IO] = "io",
		[ANNOTATION_ARGS] = "args",       [ANNOTATION_LOST] = "lost",
	};

	return annotation < ANNOTATION_IO_KEY ? names[annotation] : request_io_keys[annotation - ANNOTATION_IO_KEY];
}
