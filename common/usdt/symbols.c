/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"
#include "mem.h"
#include "minmax.h"
#include "search.h"

static int compare(const void *a, const void *b, void *names)
{
	const struct symbol *x = a, *y = b;

	return ORDER(x->address, y->address) ?: strcmp((char *)names + x->name, (char *)names + y->name);
}

int symbols_read(struct symbols *s)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char *line = NULL, name[256], type, buffer[65536];
	uint64_t address;
	size_t cap = 0;
	int error;

	*s = (struct symbols){.names.fd = OUT_MEMORY};
	if (!file)
		return -1;
	/* without memory for a buffer, stdio reads byte by byte, and processes may exit meanwhile */
	setvbuf(file, buffer, _IOFBF, sizeof(buffer));
	/* data, too: it ends the function before it */
	while (getline(&line, &cap, file) > 0) {
		if (sscanf(line, "%" SCNx64 " %c %255s", &address, &type, name) != 3 || !address)
			continue;
		mem_add(s->all, s->n, s->cap, (struct symbol){address, s->names.len});
		out_bytes(&s->names, name, strlen(name) + 1);
	}
	error = !feof(file) ? errno : s->n ? 0 : EPERM;
	free(line);
	fclose(file);
	if (s->n)
		qsort_r(s->all, s->n, sizeof(*s->all), compare, s->names.buf);
	errno = error;
	return error ? -1 : 0;
}

/*
 * A function ends where the next symbol starts; the end of the last one is unknown. Of several
 * names for one address, the last one is used: the one without underscores.
 */
const char *symbols_find(const struct symbols *s, uint64_t address)
{
	size_t next = search_first(i, s->n, s->all[i].address > address);

	return next && next < s->n ? s->names.buf + s->all[next - 1].name : NULL;
}

bool symbols_is_own(const char *name)
{
	static const char *const own[] = {"bpf_prog_", "bpf_trace_run", "__bpf_trace_", "__traceiter_",
					  "bpf_get_stack"};

	for (size_t i = 0; i < COUNT(own); i++)
		if (strncmp(name, own[i], strlen(own[i])) == 0)
			return true;
	return false;
}

void symbols_free(struct symbols *s)
{
	free(s->all);
	free(s->names.buf);
	*s = (struct symbols){};
}
