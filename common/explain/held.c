/* SPDX-License-Identifier: BSD-3-Clause */
#include "held.h"

#include <stdlib.h>

#include "count.h"
#include "livenames.h"
#include "table.h"
#include "utf8.h"

/* The most names that are stored, as input may have any number of them, and the most bytes of a text. */
enum { NAMES = 4096, TEXT = 95 };

/* The process that has the CPU, else the call, else the reason, such as a quota; of an interrupt, its name. */
static struct slice name_of(const struct traceline *line)
{
	static const char *const args[] = {LIVE_BY, LIVE_SYSCALL, LIVE_WHY, LIVE_NAME, LIVE_KIND};

	if (slice_is(traceline_string(traceline_arg(line, LIVE_WHY)), LIVE_THROTTLED))
		return slice_of("CPU quota");
	for (size_t i = 0; i < COUNT(args); i++) {
		struct slice value = traceline_string(traceline_arg(line, args[i]));

		if (value.n)
			return value;
	}
	return slice_of("unknown");
}

/* Control characters are escaped; a text that is too long is truncated between two characters. */
static struct slice text_of(struct held *h, const struct traceline *line)
{
	struct slice text;

	reactors_write_away(out_start(&h->text), line);
	out_visible(out_start(&h->visible), out_contents(&h->text));
	text = out_contents(&h->visible);
	if (text.n > TEXT)
		for (text.n = TEXT; text.n && utf8_continues(text.p[text.n]);)
			text.n--;
	return text;
}

void held_cause(struct held *h, struct reactors_interval *interval, const struct traceline *line)
{
	interval->cause = intern_add_below(&h->names, name_of(line), NAMES);
	interval->text = intern_add_below(&h->texts, text_of(h, line), NAMES);
}

static void add(void *context, const struct reactor *reactor, struct reactors_interval *interval, uint64_t ns)
{
	struct held *h = context;
	uint32_t name = interval->cause;
	size_t *place = table_at(h->places, h->num_places, h->cap_places, (uint32_t)(name + 1));

	(void)reactor;
	if (interval->kind != h->kind)
		return;
	if (*place >= h->num_sums || h->sums[*place].name != name) {
		*place = h->num_sums;
		h->sums = mem_room(h->sums, h->num_sums, &h->cap_sums);
		h->sums[h->num_sums++] = (struct held_sum){name, 0};
	}
	h->sums[*place].ns += ns;
}

static int longest_first(const void *a, const void *b)
{
	const struct held_sum *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

void held_find(struct held *h, const struct span *s, enum reactors_kind kind)
{
	h->num_sums = 0;
	h->kind = kind;
	life_held(h->spans, s, add, h);
	if (h->num_sums)
		qsort(h->sums, h->num_sums, sizeof(*h->sums), longest_first);
}

struct slice held_name(const struct held *h, uint32_t name)
{
	return name == MAP_NONE ? slice_of("others") : h->names.all[name];
}

struct slice held_text(const struct held *h, const struct reactors_interval *interval)
{
	return interval->text == MAP_NONE ? held_name(h, interval->cause) : h->texts.all[interval->text];
}

void held_free(struct held *h)
{
	free(h->sums);
	free(h->places);
	intern_free(&h->names);
	intern_free(&h->texts);
	out_close(&h->text);
	out_close(&h->visible);
}
