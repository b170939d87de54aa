/* SPDX-License-Identifier: BSD-3-Clause */
#include "probes.h"

#include <stdlib.h>
#include <string.h>

#include "count.h"
#include "mem.h"
#include "minmax.h"
#include "probeline.h"

/* Ticks in which qpair-lifetimes looks for the owner of a connection before it was added. */
#define NEAR ((uint64_t)1 << 30)

enum { PURGE_MIN = 64 << 10 };

static const struct probe {
	const char *name, *key;
	int kind;
	bool starts, ends;
} probes[] = {
	{"nvmf_poll_group_add_qpair", "qpair", PROBES_CONNECTION, true, false},
	{"nvmf_ctrlr_add_qpair", "qpair", PROBES_CONNECTION, false, false},
	{"nvmf_poll_group_remove_qpair", "qpair", PROBES_CONNECTION, false, true},
	{"owner", "id", PROBES_OWNER, false, false},
	{"clock", "", PROBES_CLOCK, true, false},
};

static const struct probe *find(struct slice name)
{
	for (size_t i = 0; i < COUNT(probes); i++)
		if (slice_is(name, probes[i].name))
			return &probes[i];
	return NULL;
}

void probes_clear(struct probes *p)
{
	out_close(&p->text);
	free(p->lines);
	free(p->lives);
	for (size_t i = 0; i < COUNT(p->keys); i++)
		map_free(&p->keys[i]);
	*p = (struct probes){.max_size = p->max_size, .has_dropped = p->has_dropped, .text.fd = OUT_MEMORY};
}

/* Drops the lines of lives that have ended; near: but not those of connections shortly before living ones. */
static void purge(struct probes *p, bool near)
{
	uint32_t *numbers = mem_array(p->num_lives, sizeof(*numbers)), n = 0;
	uint64_t living = UINT64_MAX;
	size_t from = 0, to = 0, num_lines = 0;

	for (size_t i = p->num_lives; i-- > 0;) {
		const struct probes_life *life = &p->lives[i];
		bool is_near = near && life->kind == PROBES_CONNECTION && living >= life->tsc &&
			       living - life->tsc < NEAR;

		if (!life->has_ended && life->kind == PROBES_CONNECTION)
			living = life->tsc;
		numbers[i] = life->has_ended && !is_near ? MAP_NONE : 0;
	}
	for (size_t i = 0; i < COUNT(p->keys); i++)
		map_free(&p->keys[i]);
	for (size_t i = 0; i < p->num_lives; i++) {
		struct probes_life life = p->lives[i];

		if (numbers[i] == MAP_NONE)
			continue;
		numbers[i] = n;
		*map_put(&p->keys[life.kind], life.key) = n;
		p->lives[n++] = life;
	}
	p->num_lives = n;
	for (size_t i = 0; i < p->num_lines; i++) {
		struct probes_line line = p->lines[i];

		if (numbers[line.life] != MAP_NONE) {
			memmove(p->text.buf + to, p->text.buf + from, line.size);
			to += line.size;
			line.life = numbers[line.life];
			p->lines[num_lines++] = line;
		}
		from += line.size;
	}
	p->text.len = to;
	p->num_lines = num_lines;
	free(numbers);
}

struct slice probes_lines(struct probes *p)
{
	purge(p, true);
	return out_contents(&p->text);
}

/* Makes room when the lines have become too many. */
static void bound(struct probes *p)
{
	if (p->text.len < p->purge_at)
		return;
	purge(p, true);
	if (p->text.len > p->max_size / 2)
		purge(p, false);
	if (p->text.len > p->max_size / 2) {
		p->has_dropped = true;
		probes_clear(p);
	}
	p->purge_at = min_u64(max_u64(2 * p->text.len, PURGE_MIN), p->max_size);
}

void probes_add(struct probes *p, struct slice line)
{
	struct slice fields = line, name;
	const struct probe *probe = probeline_name(&fields, &name) ? find(name) : NULL;
	struct probeline_field found[2];
	uint64_t tsc, key = 0;
	uint32_t *at;

	if (!probe)
		return;
	probeline_fields(fields, (const char *const[]){"tsc", probe->key}, COUNT(found), found);
	if (!probeline_number(&found[0], &tsc) || (*probe->key && !probeline_number(&found[1], &key)))
		return;
	bound(p);
	at = map_put(&p->keys[probe->kind], key);
	/* a removal may be missing, and the number of an owner is reused */
	if (*at != MAP_NONE && (probe->starts || (probe->kind == PROBES_OWNER && p->lives[*at].tsc != tsc)))
		p->lives[*at].has_ended = true;
	if (*at == MAP_NONE || p->lives[*at].has_ended) {
		*at = p->num_lives;
		mem_add(p->lives, p->num_lives, p->cap_lives, (struct probes_life){probe->kind, false, tsc, key});
	}
	p->lives[*at].has_ended = probe->ends;
	mem_add(p->lines, p->num_lines, p->cap_lines, (struct probes_line){line.n + 1, *at});
	p->text.fd = OUT_MEMORY;
	out_slice(&p->text, line);
	out_char(&p->text, '\n');
}
