/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

static int compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->address != y->address ? (x->address > y->address) - (x->address < y->address)
					: strcmp(x->name, y->name);
}

int symbols_read(struct symbols *s)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char *line = NULL, name[256], type;
	uint64_t address;
	size_t cap = 0;
	bool whole;

	*s = (struct symbols){};
	if (!file)
		return -1;
	/* data, too: it ends the last function before it */
	while (getline(&line, &cap, file) > 0) {
		if (sscanf(line, "%" SCNx64 " %c %255s", &address, &type, name) != 3 || !address)
			continue;
		s->all = mem_room(s->all, s->n, &s->cap);
		s->all[s->n++] = (struct symbol){address, mem_copy(slice_of(name))};
	}
	whole = feof(file);
	free(line);
	fclose(file);
	if (s->n)
		qsort(s->all, s->n, sizeof(*s->all), compare);
	if (whole && s->n)
		return 0;
	errno = whole ? EPERM : EIO;
	return -1;
}

/*
 * A function ends where the next symbol starts; the end of the last one is unknown. Of several
 * names for one address the last is taken: that without underscores.
 */
const char *symbols_find(const struct symbols *s, uint64_t address)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->all[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && low < s->n ? s->all[low - 1].name : NULL;
}

void symbols_free(struct symbols *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->all[i].name);
	free(s->all);
	*s = (struct symbols){};
}
