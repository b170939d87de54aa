/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add(struct symbols *s, uint64_t address, const char *name)
{
	/* room for powers of two */
	if ((s->n & (s->n - 1)) == 0) {
		struct symbol *all = reallocarray(s->all, s->n ? 2 * s->n : 1, sizeof(*all));

		if (!all)
			return -1;
		s->all = all;
	}
	s->all[s->n] = (struct symbol){address, strdup(name)};
	return s->all[s->n].name ? (s->n++, 0) : -1;
}

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
	int result = 0;
	size_t cap = 0;

	*s = (struct symbols){};
	if (!file)
		return -1;
	/* data, too: it ends the last function before it */
	while (result == 0 && getline(&line, &cap, file) > 0)
		if (sscanf(line, "%" SCNx64 " %c %255s", &address, &type, name) == 3 && address)
			result = add(s, address, name);
	free(line);
	fclose(file);
	if (result != 0)
		return -1;
	if (!s->n) {
		errno = EPERM;
		return -1;
	}
	qsort(s->all, s->n, sizeof(*s->all), compare);
	return 0;
}

/*
 * A function ends where the next symbol begins; the last one has no end that is known. Of several names for one it
 * is the last: that without underscores.
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
