/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "input.h"

const struct trace_tpoint *trace_tpoint(const struct trace *t, uint16_t id)
{
	static const struct trace_tpoint undefined;

	return id < t->num_tpoints ? &t->tpoints[id] : &undefined;
}

unsigned trace_entry_slots(const struct trace *t)
{
	unsigned most = 0;

	for (unsigned i = 0; i < t->num_tpoints; i++)
		if (t->tpoints[i].args_size > most)
			most = t->tpoints[i].args_size;
	return 1 + (most + TRACE_MORE_ARGS - 1) / TRACE_MORE_ARGS;
}

void trace_owner_read(struct trace_owner *owner, const uint8_t *record, unsigned size)
{
	const char *description = (const char *)record + TRACE_OWNER_HEAD;

	memcpy(&owner->tsc, record, sizeof(owner->tsc));
	owner->type = record[8];
	owner->description = slice_of_array(description, size - TRACE_OWNER_HEAD);
}

bool trace_owner(const struct trace *t, unsigned id, struct trace_owner *owner)
{
	const uint8_t *record;

	if (id >= t->num_owners)
		return false;
	record = t->owners + (size_t)id * t->owner_size;
	*owner = (struct trace_owner){};
	if (!input_is_lost(t->in, record, t->owner_size))
		trace_owner_read(owner, record, t->owner_size);
	return true;
}

void trace_prefixes_read(char prefix[TRACE_TYPES], const uint8_t *table)
{
	for (unsigned i = 0; i < TRACE_TYPES; i++)
		prefix[i] = table[TRACE_TYPE_SIZE * i + 1];
}

void trace_fault(struct trace *t, const char *format, ...)
{
	va_list args;

	if (t->faults < TRACE_DAMAGE) {
		va_start(args, format);
		vsnprintf(t->damage[t->faults], sizeof(t->damage[0]), format, args);
		va_end(args);
	}
	t->faults++;
}

unsigned trace_num_damage(const struct trace *t)
{
	return t->faults < TRACE_DAMAGE ? t->faults : TRACE_DAMAGE;
}

void trace_close(struct trace *t)
{
	free(t->tpoints);
	free(t->lcores);
	*t = (struct trace){};
}
