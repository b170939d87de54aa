/* SPDX-License-Identifier: BSD-3-Clause */
#include "requests.h"

#include <stdlib.h>

#include "floor.h"
#include "minmax.h"
#include "out.h"
#include "table.h"

static uint32_t add_name(struct requests *r, struct slice name)
{
	return name.n ? intern_add_below(&r->names, name, REQUESTS_NAMES) : MAP_NONE;
}

static struct requests_name *name_at(struct requests *r, uint32_t name)
{
	return table_at(r->of_names, r->num_names, r->cap_names, name);
}

uint32_t requests_host(struct requests *r, uint32_t connection)
{
	uint32_t host;

	if (connection == MAP_NONE)
		return MAP_NONE;
	if (name_at(r, connection)->known)
		return name_at(r, connection)->host;
	host = add_name(r, spanline_host(r->names.all[connection]));
	name_at(r, connection)->known = true;
	name_at(r, connection)->host = host;
	return host;
}

static uint32_t lcore_name(struct requests *r, uint32_t source, uint64_t number)
{
	struct out text = {.fd = OUT_MEMORY};
	uint32_t name;

	out_u64(&text, number);
	if (source != MAP_NONE) {
		out_text(&text, " of ");
		out_slice(&text, requests_name(r, source));
	}
	name = add_name(r, out_contents(&text));
	out_close(&text);
	return name;
}

static uint32_t add_lcore(struct requests *r, uint32_t source, bool base, uint64_t number)
{
	/* names have smaller numbers */
	uint64_t key = number ^ (uint64_t)source << 32 ^ (base ? 1ULL << 62 : 0);
	size_t n = r->num_lcores;
	uint32_t *lcore;

	if (n >= REQUESTS_NAMES)
		return 0;
	lcore = table_put(&r->lcore_map, key, r->lcores, r->num_lcores, r->cap_lcores);
	if (r->num_lcores > n)
		*lcore = lcore_name(r, source, number);
	return lcore - r->lcores;
}

static uint32_t at_most(uint64_t n)
{
	return n < UINT32_MAX ? n : UINT32_MAX;
}

static uint32_t add_shares(struct requests *r, const struct spanline_name *names, unsigned n)
{
	uint32_t first = r->num_shares;

	for (unsigned i = 0; i < n; i++) {
		r->shares = mem_room(r->shares, r->num_shares, &r->cap_shares);
		r->shares[r->num_shares++] = (struct request_share){names[i].ns, add_name(r, names[i].name),
								    at_most(names[i].n)};
	}
	return first;
}

/* A name that is a host's, and no connection of one. */
static void learn_host(struct requests *r, uint32_t name)
{
	struct requests_name *of;

	if (name == MAP_NONE)
		return;
	of = name_at(r, name);
	of->is_connection = of->known = true;
	of->host = name;
}

/* Whether the first n shares of a wait, which are those of hosts, have the host of this connection. */
static bool is_among_hosts(struct requests *r, const struct request_wait *wait, unsigned n, struct slice connection)
{
	struct slice host = spanline_host(connection);

	for (unsigned i = 0; i < n; i++)
		if (slice_equal(requests_name(r, r->shares[wait->first + i].name), host))
			return true;
	return false;
}

static void add_wait(struct requests *r, const struct spanline *line, const struct spanline_wait *w, uint32_t source,
		     bool base)
{
	const struct spanline_name *of = spanline_first(line, &w->of), *hosts = spanline_first(line, &w->hosts);
	unsigned num_hosts = min_u64(w->hosts.n, SPANLINE_NAMES);
	struct request_wait wait = {.ns = w->ns,
				    .begin = line->start + w->at,
				    .silent = w->silent,
				    .active = w->active,
				    .buffers = at_most(w->buffers),
				    .held = at_most(w->held),
				    .lcore = w->has_lcore ? add_lcore(r, source, base, w->lcore) : MAP_NONE,
				    .holder = add_name(r, w->holder),
				    .layer = w->layer,
				    .is_rare = w->is_rare,
				    .is_queued = w->is_queued};

	wait.first = add_shares(r, hosts, num_hosts);
	for (unsigned i = 0; i < num_hosts; i++)
		learn_host(r, r->shares[wait.first + i].name);
	for (unsigned i = 0; i < w->of.n; i++)
		if (!is_among_hosts(r, &wait, num_hosts, of[i].name))
			add_shares(r, &of[i], 1);
	wait.n = r->num_shares - wait.first;
	r->waits = mem_room(r->waits, r->num_waits, &r->cap_waits);
	r->waits[r->num_waits++] = wait;
}

/* Requests of hosts have these letters; see spdk-trace-lines(7). */
static bool is_front(const struct spanline *line)
{
	return line->connection.n && line->id.n && (line->id.p[0] == 'r' || line->id.p[0] == 'p');
}

/* The first word of its first tracepoint. */
static struct slice family_of(const struct spanline *line)
{
	const char *end = memchr(line->state.p ? line->state.p : "", '_', line->state.n);

	return end ? slice_between(line->state.p, end) : line->state;
}

void requests_limit(struct requests *r, uint32_t bdev)
{
	name_at(r, bdev)->is_limited = true;
}

void requests_set_leg(struct requests *r, uint32_t bdev, struct slice leg)
{
	uint32_t name = add_name(r, leg);

	name_at(r, bdev)->has_legs = true;
	for (size_t i = 0; i < r->n; i++)
		if (r->all[i].bdev == bdev && r->all[i].leg == MAP_NONE)
			r->all[i].leg = name;
}

static void add_leg(struct requests *r, uint32_t bdev, uint32_t leg)
{
	struct requests_name *of;

	if (bdev == MAP_NONE || leg == MAP_NONE)
		return;
	of = name_at(r, bdev);
	/* one of another process, which has @ in its name, is a part of its own */
	if (!of->has_leg)
		of->leg = leg;
	of->has_leg = true;
	of->others += of->leg != leg;
	of->has_legs |= of->others >= FLOOR_EVENTS || memchr(r->names.all[leg].p, '@', r->names.all[leg].n);
}

static void learn(struct requests *r, const struct spanline *line)
{
	uint32_t connection = add_name(r, line->connection), host = requests_host(r, connection);

	if (!is_front(line) || connection == MAP_NONE || host == MAP_NONE)
		return;
	name_at(r, connection)->is_connection = true;
	/* trace-spans may call several connections of a host by its name */
	name_at(r, host)->is_connection = true;
}

/* Returns the number of its facts. While a request was unread, its reactor was off its CPU unless it worked. */
static uint32_t add_facts(struct requests *r, const struct spanline *line)
{
	const bool works = line->unread_for.n;
	const struct spanline_name unread = {line->unread_by, works ? 0 : line->unread, 0, 0};
	struct request_facts facts = {.queue = line->full_queue, .unread = works ? line->unread : 0};
	uint64_t any = line->full_queue | line->unread;

	for (enum fact fact = 0; fact < FACTS; fact++)
		any |= facts.ns[fact] = line->facts[fact];
	if (!any)
		return 0;
	facts.unread_for = add_name(r, line->unread_for);
	facts.ns[FACT_OFF_CPU] += unread.ns;
	facts.num_off_cpu_by = line->off_cpu_by.n + (unread.ns > 0);
	facts.num_irq_by = line->irq_by.n;
	facts.off_cpu_by = add_shares(r, &unread, unread.ns > 0);
	add_shares(r, spanline_first(line, &line->off_cpu_by), line->off_cpu_by.n);
	facts.irq_by = add_shares(r, spanline_first(line, &line->irq_by), line->irq_by.n);
	r->facts = mem_room(r->facts, r->num_facts, &r->cap_facts);
	r->facts[r->num_facts] = facts;
	return r->num_facts++;
}

bool requests_see(struct requests *r, const struct spanline *line)
{
	if (line->has_parent)
		return false;
	if (line->admin) {
		r->admin++;
		learn(r, line);
	} else if (line->lost) {
		r->lost++;
	} else {
		r->open += line->open;
		return true;
	}
	return false;
}

void requests_add(struct requests *r, const struct spanline *line, struct requests_role role)
{
	struct request *q;
	uint32_t source = add_name(r, line->source);

	if (r->n == REQUESTS_MAX) {
		r->dropped++;
		return;
	}
	if (!r->num_facts)
		*table_at(r->facts, r->num_facts, r->cap_facts, 0) = (struct request_facts){};
	r->all = mem_room(r->all, r->n, &r->cap);
	q = &r->all[r->n++];
	*q = (struct request){.start = line->start - min_u64(line->start, line->unread),
			      .life = line->life + line->unread,
			      .us = line->start,
			      .blocks = line->io.numbers[REQUEST_IO_BLOCKS],
			      .family = add_name(r, family_of(line)),
			      .type = add_name(r, line->io.texts[REQUEST_IO_TYPE]),
			      .connection = add_name(r, line->connection),
			      .bdev = add_name(r, line->io.texts[REQUEST_IO_BDEV]),
			      .leg = add_name(r, line->io.texts[REQUEST_IO_LEG]),
			      .status = add_name(r, line->io.texts[REQUEST_IO_STATUS]),
			      .source = source,
			      .group = role.group,
			      .behind = add_name(r, line->behind),
			      .lcore = add_lcore(r, source, role.base, line->lcore),
			      .facts = add_facts(r, line),
			      .waits = r->num_waits,
			      .region = line->io.numbers[REQUEST_IO_LBA] >> REQUESTS_REGION,
			      .num_waits = line->num_waits,
			      .qd = requests_bits(line->io.numbers[REQUEST_IO_QD]),
			      .wanted = role.wanted,
			      .base = role.base,
			      .front = is_front(line),
			      .maybe_admin = line->maybe_admin,
			      .open = line->open,
			      .cut = line->cut,
			      .covered = line->covered[OVERLAP_OFF_CPU],
			      .has_blocks = spanline_has(line, REQUEST_IO_BLOCKS),
			      .has_region = spanline_has(line, REQUEST_IO_LBA),
			      .has_qd = spanline_has(line, REQUEST_IO_QD)};
	memcpy(q->layers, line->layers, sizeof(q->layers));
	q->layers[LAYER_NETWORK] += line->unread;
	add_leg(r, q->bdev, q->leg);
	q->host = requests_host(r, q->connection);
	for (unsigned i = 0; i < line->num_waits; i++)
		add_wait(r, line, &line->waits[i], source, role.base);
	learn(r, line);
}

size_t requests_window(const struct requests *r, uint32_t *order, size_t n)
{
	uint64_t first = UINT64_MAX;
	size_t left = 0;

	for (size_t i = 0; i < n; i++)
		if (r->all[order[i]].covered)
			first = min_u64(first, r->all[order[i]].start);
	for (size_t i = 0; i < n; i++)
		left += r->all[order[i]].start >= first;
	if (left <= n / 2)
		return n;
	left = 0;
	for (size_t i = 0; i < n; i++)
		if (r->all[order[i]].start >= first)
			order[left++] = order[i];
	return left;
}

void requests_free(struct requests *r)
{
	free(r->all);
	free(r->waits);
	free(r->shares);
	free(r->facts);
	free(r->of_names);
	free(r->lcores);
	intern_free(&r->names);
	map_free(&r->lcore_map);
	*r = (struct requests){};
}
