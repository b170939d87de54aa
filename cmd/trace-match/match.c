/* SPDX-License-Identifier: BSD-3-Clause */
#include "match.h"

#include <stdlib.h>

#include "mem.h"
#include "minmax.h"

enum {
	GRAM = 3,            /* commands of an anchor */
	SAMPLES = 512,       /* requests of a queue whose anchors are counted before all are looked for */
	ANCHORS_MIN = 4,     /* of two queues that belong together */
	TRIED_MIN = 3,       /* pairs that the clocks must allow, of queues without anchors */
	TRIED_MAX = 1 << 22, /* pairs that are looked at for such a queue; beyond, it is ambiguous */
	DUPLICATE = UINT32_MAX - 1,
};

/* A queue with its process. */
struct end {
	struct side *side;
	struct side_queue *queue;
	size_t source, number; /* number: among all queues of its side */
	bool passes;           /* anchors may be sequential: the clock is known */
};

/* All queues of one side. */
struct ends {
	struct end *all;
	size_t n;
	struct map grams; /* hash of a gram and its queue → its place there */
};

struct anchor {
	uint32_t command, request; /* places in their queues */
};

/* Two queues that may belong together. */
struct pairing {
	struct end commands, requests;
	struct anchor *anchors;
	size_t n;
	bool gone; /* it is ruled out, or done */
};

struct pairings {
	struct pairing *all;
	size_t n, cap;
};

static struct side_io *io_at(const struct end *e, size_t i)
{
	return &e->side->ios[e->queue->all[i]];
}

/*
 * A hash of the ios from i on; false if one of them has none, or each follows the one before on the disk: another pass
 * over the same disk has the same ones, which only a known clock tells apart.
 */
static bool gram_at(const struct end *e, size_t i, uint64_t *gram)
{
	uint64_t next = 0;
	bool jumps = e->passes;

	*gram = 0;
	for (size_t k = 0; k < GRAM; k++) {
		const struct side_io *io = i + k < e->queue->n ? io_at(e, i + k) : NULL;

		if (!io || !io->what)
			return false;
		jumps |= k && io->what != next;
		next = io->next;
		*gram = (*gram ^ io->what) * 0xd6e8feb86659fd93;
		*gram ^= *gram >> 32;
	}
	return jumps;
}

static uint64_t gram_key(uint64_t gram, const struct end *e)
{
	return gram + e->number * 0x9e3779b97f4a7c15;
}

static void add_queue(struct ends *ends, struct side *side, struct side_queue *queue, size_t source, bool passes)
{
	struct end *e = &ends->all[ends->n];

	*e = (struct end){side, queue, source, ends->n++, passes};
	for (uint32_t i = 0; i < queue->n; i++) {
		uint64_t gram;
		uint32_t *known;

		if (!gram_at(e, i, &gram))
			continue;
		known = map_put(&ends->grams, gram_key(gram, e));
		*known = *known == MAP_NONE ? i : DUPLICATE;
	}
}

static void list_ends(struct ends *ends, const struct match *m, bool commands)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		n += commands ? m->sources[i].commands.num_queues : m->sources[i].requests.num_queues;
	ends->all = mem_array(n, sizeof(*ends->all));
	for (size_t i = 0; i < m->n; i++) {
		struct side *side = commands ? &m->sources[i].commands : &m->sources[i].requests;

		for (size_t k = 0; k < side->num_queues; k++)
			add_queue(ends, side, &side->queues[k], i, m->same_clock);
	}
}

static void free_ends(struct ends *ends)
{
	free(ends->all);
	map_free(&ends->grams);
}

/* Whether their numbers allow that two queues are one. */
static bool may_be(const struct end *commands, const struct end *requests)
{
	uint64_t a = commands->queue->number, b = requests->queue->number;

	return a == b || a == UINT64_MAX || b == UINT64_MAX;
}

/* Keeps the longest series of anchors in which both places grow. Those of requests do already. */
static size_t keep_rising(struct anchor *anchors, size_t n)
{
	uint32_t *last = mem_array(n, sizeof(*last)), *before = mem_array(n, sizeof(*before));
	size_t length = 0;

	for (size_t i = 0; i < n; i++) {
		size_t low = 0, high = length;

		while (low < high) {
			size_t middle = (low + high) / 2;

			if (anchors[last[middle]].command < anchors[i].command)
				low = middle + 1;
			else
				high = middle;
		}
		before[i] = low ? last[low - 1] : MAP_NONE;
		last[low] = i;
		length = low == length ? low + 1 : length;
	}
	/* from the last one back; a place is read before it is written, since there are as many before it */
	for (uint32_t i = length ? last[length - 1] : 0, k = length; k; i = before[i])
		last[--k] = i;
	for (size_t k = 0; k < length; k++)
		anchors[k] = anchors[last[k]];
	free(last);
	free(before);
	return length;
}

/* The place of the command that has the gram of a request, if both are unique in their queues. */
static bool find_anchor(const struct ends *commands, const struct end *from, const struct ends *requests,
			const struct end *to, uint32_t request, struct anchor *anchor)
{
	uint64_t gram;

	if (!gram_at(to, request, &gram) || map_get(&requests->grams, gram_key(gram, to)) == DUPLICATE)
		return false;
	*anchor = (struct anchor){map_get(&commands->grams, gram_key(gram, from)), request};
	return anchor->command < DUPLICATE;
}

/* Returns how many of the requests are anchors, of those that are this far apart. They are stored unless p is NULL. */
static size_t find_anchors(const struct ends *commands, const struct end *from, const struct ends *requests,
			   const struct end *to, uint32_t step, struct anchor *anchors)
{
	struct anchor anchor;
	size_t n = 0;

	for (uint32_t i = 0; i < to->queue->n; i += step) {
		if (!find_anchor(commands, from, requests, to, i, &anchor))
			continue;
		if (anchors)
			anchors[n] = anchor;
		n++;
	}
	return n;
}

static void pair(struct pairing *p, size_t command, size_t request)
{
	struct side_io *c = io_at(&p->commands, command), *r = io_at(&p->requests, request);

	if (c->match != MAP_NONE || r->match != MAP_NONE)
		return;
	c->match = p->requests.queue->all[request];
	r->match = p->commands.queue->all[command];
	c->source = p->requests.source;
	r->source = p->commands.source;
}

static bool is_compatible(const struct side_io *command, const struct side_io *request)
{
	return !command->what || !request->what || command->what == request->what;
}

/* What is between two anchors. */
static void pair_between(struct pairing *p, struct anchor a, struct anchor b)
{
	uint32_t n = b.command - a.command;

	if (n != b.request - a.request)
		return;
	for (uint32_t i = 1; i < n; i++)
		if (!is_compatible(io_at(&p->commands, a.command + i), io_at(&p->requests, a.request + i)))
			return;
	for (uint32_t i = 1; i < n; i++)
		pair(p, a.command + i, a.request + i);
}

/* What follows an anchor, or is before it, up to a limit: if some are missing on one side, what differs shows that. */
static void pair_along(struct pairing *p, struct anchor a, int step, size_t max)
{
	const struct side_queue *commands = p->commands.queue, *requests = p->requests.queue;

	for (size_t i = 0; i < max; i++) {
		size_t c = a.command + (size_t)step, r = a.request + (size_t)step;
		uint64_t what, before = io_at(&p->commands, a.command)->what;

		/* step -1 from 0 is beyond, too */
		if (c >= commands->n || r >= requests->n)
			return;
		what = io_at(&p->commands, c)->what;
		if (!what || what != io_at(&p->requests, r)->what || what == before)
			return;
		pair(p, c, r);
		a = (struct anchor){c, r};
	}
}

static void pair_queues(struct pairing *p)
{
	struct anchor last = p->anchors[p->n - 1];

	p->requests.queue->found = true;
	p->commands.queue->found = true;
	for (size_t i = 0; i < p->n; i++) {
		const struct anchor *a = &p->anchors[i];

		pair(p, a->command, a->request);
		if (i + 1 < p->n && a[1].command - a->command == a[1].request - a->request) {
			pair_between(p, *a, a[1]);
		} else if (i + 1 < p->n) {
			size_t gap = min_u64(a[1].command - a->command, a[1].request - a->request);

			pair_along(p, *a, 1, (gap - 1) / 2);
			pair_along(p, a[1], -1, (gap - 1) / 2);
		}
	}
	pair_along(p, p->anchors[0], -1, SIZE_MAX);
	/* an anchor is the first of its commands */
	pair_along(p, last, 1, SIZE_MAX);
}

static void unmatch(struct match *m, struct side_io *request)
{
	struct side_io *command = &m->sources[request->source].commands.ios[request->match];

	command->match = request->match = MAP_NONE;
}

/* Adds what a pair says about the offset to the n pairs so far. Returns their number then. */
static size_t add_pair(struct offset_pair *pairs, size_t n, const struct side_io *c, const struct side_io *r)
{
	if (c->end == SIDE_UNKNOWN || r->end == SIDE_UNKNOWN)
		return n;
	pairs[n] = (struct offset_pair){r->begin, r->end, c->begin - r->begin, c->end - r->end};
	return n + 1;
}

/* The offset of two clocks, from the requests of a target that are matched with commands of an initiator. */
static void find_offset(struct match *m, size_t initiator, size_t target)
{
	const struct side *requests = &m->sources[target].requests;
	const struct side *commands = &m->sources[initiator].commands;
	struct offset_pair *pairs = mem_array(requests->n, sizeof(*pairs));
	size_t n = 0;

	for (size_t i = 0; i < requests->n; i++) {
		const struct side_io *r = &requests->ios[i];

		if (r->match != MAP_NONE && r->source == initiator)
			n = add_pair(pairs, n, &commands->ios[r->match], r);
	}
	offset_find(&m->offsets[initiator * m->n + target], pairs, n);
	free(pairs);
}

/* Whether the offset allows that a command is a request; an unknown one does. */
static bool is_allowed(const struct offset *o, const struct side_io *command, const struct side_io *request)
{
	int64_t answered = request->end == SIDE_UNKNOWN ? request->begin : request->end;
	double bound;

	if (!o->is_known)
		return true;
	if (request->begin + offset_at(o, request->begin, &bound) + (int64_t)bound < command->begin)
		return false;
	return command->end == SIDE_UNKNOWN ||
	       answered + offset_at(o, answered, &bound) - (int64_t)bound <= command->end;
}

static void unmatch_contradicted(struct match *m, size_t initiator, size_t target)
{
	struct offset *o = &m->offsets[initiator * m->n + target];
	const struct side *requests = &m->sources[target].requests;
	bool good = !o->is_known || offset_is_plausible(o);

	for (size_t i = 0; i < requests->n; i++) {
		struct side_io *r = &requests->ios[i];

		if (r->match == MAP_NONE || r->source != initiator)
			continue;
		if (good && is_allowed(o, &m->sources[initiator].commands.ios[r->match], r))
			continue;
		unmatch(m, r);
		m->contradicted++;
	}
	if (!good)
		offset_free(o);
}

/* Whether the clocks allow the anchors: a known offset nearly all of them, another one that there is one. */
static bool is_plausible(const struct match *m, const struct pairing *p)
{
	const struct offset *known = match_offset(m, p->commands.source, p->requests.source);
	struct offset_pair *pairs = mem_array(p->n, sizeof(*pairs));
	struct offset o = {};
	size_t allowed = 0, n = 0;
	bool good;

	for (size_t i = 0; i < p->n; i++) {
		const struct side_io *c = io_at(&p->commands, p->anchors[i].command);
		const struct side_io *r = io_at(&p->requests, p->anchors[i].request);

		allowed += is_allowed(known, c, r);
		n = add_pair(pairs, n, c, r);
	}
	if (!known->is_known)
		offset_find(&o, pairs, n);
	good = known->is_known ? allowed >= p->n - p->n / 16 : offset_is_plausible(&o);
	offset_free(&o);
	free(pairs);
	return good;
}

/* Finds the queues of commands that a queue of requests may be. */
static void add_candidates(const struct match *m, struct pairings *all, const struct ends *commands,
			   const struct ends *requests, const struct end *to)
{
	uint32_t step = to->queue->n / SAMPLES + 1;
	size_t *votes = mem_array(commands->n, sizeof(*votes)), most = 0;

	for (size_t i = 0; i < commands->n; i++) {
		if (may_be(&commands->all[i], to))
			votes[i] = find_anchors(commands, &commands->all[i], requests, to, step, NULL);
		most = votes[i] > most ? votes[i] : most;
	}
	for (size_t i = 0; i < commands->n; i++) {
		struct pairing p = {.commands = commands->all[i], .requests = *to};
		size_t found;

		if (!votes[i] || votes[i] < most / 2)
			continue;
		p.anchors = mem_array(to->queue->n, sizeof(*p.anchors));
		found = find_anchors(commands, &commands->all[i], requests, to, 1, p.anchors);
		p.n = keep_rising(p.anchors, found);
		/* those that cross each other are of a pattern that repeats */
		if (p.n < ANCHORS_MIN || p.n < found - found / 10 || !is_plausible(m, &p)) {
			free(p.anchors);
			continue;
		}
		all->all = mem_room(all->all, all->n, &all->cap);
		all->all[all->n++] = p;
	}
	free(votes);
}

/* Whether both have the same commands: a queue can be another one after a host has connected again. */
static bool compete(const struct pairing *a, const struct pairing *b)
{
	return a->commands.queue == b->commands.queue && a->requests.queue != b->requests.queue &&
	       a->anchors[0].command <= b->anchors[b->n - 1].command &&
	       b->anchors[0].command <= a->anchors[a->n - 1].command;
}

/* Whether a queue of requests can be no other queue of commands. */
static bool is_only(const struct pairings *all, const struct pairing *p)
{
	for (size_t i = 0; i < all->n; i++)
		if (&all->all[i] != p && !all->all[i].gone && all->all[i].requests.queue == p->requests.queue)
			return false;
	return true;
}

static bool can_be_decided(const struct pairings *all, const struct pairing *p)
{
	if (p->gone || !is_only(all, p))
		return false;
	for (size_t i = 0; i < all->n; i++)
		if (!all->all[i].gone && compete(&all->all[i], p) && is_only(all, &all->all[i]))
			return false;
	return true;
}

/* Pairs the queues that belong together. Each that is paired may leave a single way for others. */
static void pair_by_pattern(struct pairings *all)
{
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < all->n; i++) {
			struct pairing *p = &all->all[i];

			if (!can_be_decided(all, p))
				continue;
			pair_queues(p);
			for (size_t k = 0; k < all->n; k++)
				all->all[k].gone |= compete(&all->all[k], p);
			p->gone = more = true;
		}
	}
}

/* How many pairs there are if this command is that request and those around follow in order; 0: that cannot be. */
static size_t try_along(const struct match *m, const struct end *commands, const struct end *requests, struct anchor a,
			size_t *tried)
{
	const struct offset *o = match_offset(m, commands->source, requests->source);
	uint32_t before = min_u64(a.command, a.request), n;

	a = (struct anchor){a.command - before, a.request - before};
	n = min_u64(commands->queue->n - a.command, requests->queue->n - a.request);
	for (uint32_t i = 0; i < n; i++) {
		const struct side_io *c = io_at(commands, a.command + i), *r = io_at(requests, a.request + i);

		if (++*tried > TRIED_MAX || c->match != MAP_NONE || r->match != MAP_NONE || !is_compatible(c, r) ||
		    !is_allowed(o, c, r))
			return 0;
	}
	return n;
}

/* Pairs a queue of requests without anchors, if the clocks allow a single way. */
static void pair_by_time(const struct match *m, const struct ends *commands, const struct end *requests)
{
	struct pairing found = {.requests = *requests};
	struct anchor at = {};
	size_t ways = 0, most = 0, tried = 0;

	for (size_t i = 0; i < commands->n && ways < 2; i++) {
		const struct end *from = &commands->all[i];

		if (!match_offset(m, from->source, requests->source)->is_known || !may_be(from, requests))
			continue;
		/* either the first command, or the first request, has its counterpart */
		for (uint32_t k = 0; k < from->queue->n + requests->queue->n - 1 && ways < 2; k++) {
			uint32_t request = k < requests->queue->n ? k : 0;
			struct anchor a = {k < requests->queue->n ? 0 : k - requests->queue->n + 1, request};
			size_t n = try_along(m, from, requests, a, &tried);

			if (!n)
				continue;
			ways++;
			most = n;
			found.commands = *from;
			at = a;
		}
	}
	if (ways != 1 || most < TRIED_MIN || tried > TRIED_MAX)
		return;
	found.requests.queue->found = found.commands.queue->found = true;
	for (size_t i = 0; i < most; i++)
		pair(&found, at.command + i, at.request + i);
}

/* What became of the commands of a queue. */
static void count_queue(struct match *m, const struct end *e)
{
	uint32_t first = e->queue->n, last = 0;

	m->commands += e->queue->n;
	for (uint32_t i = 0; i < e->queue->n; i++) {
		if (io_at(e, i)->match == MAP_NONE)
			continue;
		first = min_u64(first, i);
		last = i;
		m->matched++;
	}
	for (uint32_t i = 0; i < e->queue->n; i++) {
		if (io_at(e, i)->match != MAP_NONE)
			continue;
		m->foreign += !e->queue->found;
		m->outside += e->queue->found && (i < first || i > last);
		m->ambiguous += e->queue->found && i > first && i < last;
	}
}

/* Where the ticks are the same, or the process is: then the times differ by a constant only. */
static void set_known(struct match *m)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct source *a = &m->sources[i];
		double ns = a->last_tsc > a->first_tsc
				    ? (double)(a->last - a->first) / (double)(a->last_tsc - a->first_tsc)
				    : 0;

		for (size_t k = 0; k < m->n; k++) {
			const struct source *b = &m->sources[k];
			struct offset *o = &m->offsets[i * m->n + k];

			o->is_known = i == k || m->same_clock;
			if (i != k && m->same_clock)
				o->constant = (int64_t)((double)(int64_t)(b->first_tsc - a->first_tsc) * ns) -
					      (b->first - a->first);
		}
	}
}

void match_run(struct match *m)
{
	struct ends commands = {}, requests = {};
	struct pairings all = {};

	m->offsets = mem_array(m->n * m->n, sizeof(*m->offsets));
	set_known(m);
	list_ends(&commands, m, true);
	list_ends(&requests, m, false);
	for (size_t i = 0; i < requests.n; i++)
		add_candidates(m, &all, &commands, &requests, &requests.all[i]);
	pair_by_pattern(&all);
	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < m->n; k++) {
			if (!match_offset(m, i, k)->is_known)
				find_offset(m, i, k);
			unmatch_contradicted(m, i, k);
		}
	for (size_t i = 0; i < requests.n; i++)
		if (!requests.all[i].queue->found)
			pair_by_time(m, &commands, &requests.all[i]);
	for (size_t i = 0; i < commands.n; i++)
		count_queue(m, &commands.all[i]);
	for (size_t i = 0; i < all.n; i++)
		free(all.all[i].anchors);
	free(all.all);
	free_ends(&commands);
	free_ends(&requests);
}

void match_free(struct match *m)
{
	for (size_t i = 0; m->offsets && i < m->n * m->n; i++)
		offset_free(&m->offsets[i]);
	free(m->offsets);
}
