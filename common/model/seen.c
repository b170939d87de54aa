/* SPDX-License-Identifier: BSD-3-Clause */
#include "seen.h"

#include <stdlib.h>

const char *seen_why_below(const struct seen *seen)
{
	const char *why = NULL;

	for (size_t i = 0; i < seen->n; i++) {
		const struct seen_source *source = &seen->all[i];

		if (!source->passes_on || source->shows_bdev_io)
			continue;
		if (!source->has_bdev_io)
			return "no bdev I/O in the lines: requests execute in the layer below; "
			       "try: rpc.py trace_enable_tpoint_group bdev";
		why = "no line says which request started a bdev I/O, as before SPDK v21.10: requests execute in the "
		      "layer below";
	}
	return why;
}

void seen_free(struct seen *seen)
{
	intern_free(&seen->names);
	free(seen->all);
}
