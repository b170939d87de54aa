/* SPDX-License-Identifier: BSD-3-Clause */
#include "matching.h"

#include <inttypes.h>
#include <stdlib.h>

#include "count.h"
#include "mem.h"
#include "minmax.h"

enum {
	SAMPLES = 512,       /* requests of a queue whose anchors are counted before all are looked for */
	ANCHORS_MIN = 4,     /* of two queues that belong together */
	TRIED_MIN = 3,       /* pairs that the clocks must allow, of queues without anchors */
	TRIED_MAX = 1 << 22, /* pairs that are looked at for such a queue; beyond, it is ambiguous */
	DUPLICATE = UINT32_MAX - 1,
};

/* A queue of one of the processes. */
struct end {
	size_t source, queue;
	size_t number; /* among all queues of this kind */
};

/* All queues of commands, or of requests. */
struct ends {
	struct end *all;
	size_t n;
	struct map grams; /* hash of a gram and its queue → place of what is kept of that */
};

/* Two ios that belong together, as what is kept of their queues. */
struct anchor {
	uint32_t command, request;
};

/* Two queues that may belong together. */
struct pairing {
	struct end commands, requests;
	const struct order *c, *r; /* theirs */
	struct anchor *anchors;
	size_t n;
	bool gone; /* it is ruled out, or done */
};

struct pairings {
	struct pairing *all;
	size_t n, cap;
};

static struct side_queue *commands_of(const struct matching *m, const struct end *e)
{
	return &m->sides[e->source].commands.all[e->queue];
}

static struct side_queue *requests_of(const struct matching *m, const struct end *e)
{
	return &m->sides[e->source].requests.all[e->queue];
}

static uint64_t gram_key(uint64_t gram, const struct end *e)
{
	return gram + e->number * 0x9e3779b97f4a7c15;
}

static void list_ends(struct ends *ends, const struct matching *m, bool commands)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		n += commands ? m->sides[i].commands.n : m->sides[i].requests.n;
	ends->all = mem_array(n, sizeof(*ends->all));
	for (size_t i = 0; i < m->n; i++) {
		const struct side_queues *queues = commands ? &m->sides[i].commands : &m->sides[i].requests;

		for (size_t k = 0; k < queues->n; k++) {
			struct end *e = &ends->all[ends->n];
			const struct order *o = &queues->all[k].order;

			*e = (struct end){i, k, ends->n++};
			for (size_t place = 0; place < o->n; place++) {
				uint32_t *known;

				if (!o->kept[place].gram)
					continue;
				known = map_put(&ends->grams, gram_key(o->kept[place].gram, e));
				*known = *known == MAP_NONE ? place : DUPLICATE;
			}
		}
	}
}

/* Whether their numbers allow that two queues are one. */
static bool may_be(const struct side_queue *a, const struct side_queue *b)
{
	return a->number == b->number || a->number == UINT64_MAX || b->number == UINT64_MAX;
}

/*
 * Returns how many of the requests, of those that are this far apart, have a gram that both queues have once. They are
 * stored unless anchors is NULL.
 */
static size_t find_anchors(const struct ends *commands, const struct ends *requests, const struct pairing *p,
			   size_t step, struct anchor *anchors)
{
	size_t n = 0;

	for (size_t i = 0; i < p->r->n; i += step) {
		uint64_t gram = p->r->kept[i].gram;
		uint32_t place;

		if (!gram || map_get(&requests->grams, gram_key(gram, &p->requests)) == DUPLICATE)
			continue;
		place = map_get(&commands->grams, gram_key(gram, &p->commands));
		if (place >= DUPLICATE)
			continue;
		if (anchors)
			anchors[n] = (struct anchor){place, i};
		n++;
	}
	return n;
}

/* The n commands from this one on are as many requests. */
static void add_run(struct side_queue *q, uint32_t command, uint32_t request, uint32_t n)
{
	struct side_run *last = q->n ? &q->runs[q->n - 1] : NULL;

	if (last && last->command + last->n == command && last->request + last->n == request) {
		last->n += n;
	} else if (n) {
		q->runs = mem_room(q->runs, q->n, &q->cap);
		q->runs[q->n++] = (struct side_run){request, command, n};
	}
}

static struct side_queue *join_queues(const struct matching *m, const struct end *commands, const struct end *requests)
{
	struct side_queue *q = requests_of(m, requests);

	commands_of(m, commands)->found = q->found = true;
	q->source = commands->source;
	q->commands = commands->queue;
	return q;
}

/* Whether an anchor and the one after it are in the same order without a gap. */
static bool goes_on(const struct pairing *p, size_t i)
{
	const struct anchor *a = &p->anchors[i];

	return i + 1 < p->n && a->command < a[1].command &&
	       order_is_same(&p->c->kept[a->command], &p->c->kept[a[1].command], &p->r->kept[a->request],
			     &p->r->kept[a[1].request]);
}

/* Keeps anchors that confirm each other: a pattern that repeats has others. */
static size_t keep_confirmed(struct pairing *p)
{
	size_t n = 0;
	bool is_confirmed = false;

	for (size_t i = 0; i < p->n; i++) {
		bool was = is_confirmed;

		is_confirmed = goes_on(p, i);
		if ((was || is_confirmed) && (!n || p->anchors[n - 1].command < p->anchors[i].command))
			p->anchors[n++] = p->anchors[i];
	}
	return n;
}

/* How many that follow an anchor, or are before it, are the same: if some are missing, what differs shows that. */
static uint32_t count_along(const struct pairing *p, struct anchor a, int step)
{
	for (uint32_t n = 0;; n++) {
		/* step -1 from 0 is beyond, too */
		uint32_t command = a.command + (uint32_t)step, request = a.request + (uint32_t)step;
		const struct order_io *c = &p->c->kept[command], *r = &p->r->kept[request];

		if (command >= p->c->n || request >= p->r->n || !c->what || c->what != r->what ||
		    c->what == c[-step].what || c->number != c[-step].number + (uint32_t)step ||
		    r->number != r[-step].number + (uint32_t)step)
			return n;
		a = (struct anchor){command, request};
	}
}

static void pair_queues(const struct matching *m, const struct pairing *p)
{
	struct side_queue *q = join_queues(m, &p->commands, &p->requests);
	const uint32_t before = count_along(p, p->anchors[0], -1), later = count_along(p, p->anchors[p->n - 1], 1);
	uint32_t after_c = 0, after_r = 0;

	for (size_t i = 0; i < p->n; i++) {
		uint32_t c = p->c->kept[p->anchors[i].command].number + 1;
		uint32_t r = p->r->kept[p->anchors[i].request].number + 1;
		/* a gram is of three */
		uint32_t n = i && goes_on(p, i - 1) ? c - after_c : min_u64(3, min_u64(c - after_c, r - after_r));

		n += i || before < 2 ? 0 : before - 2;
		add_run(q, c - n, r - n, n);
		after_c = c;
		after_r = r;
	}
	add_run(q, after_c, after_r, later);
}

/* Adds what a pair says about the offset to the n pairs so far. Returns their number then. */
static size_t add_pair(struct offset_pair *pairs, size_t n, const struct order_io *c, const struct order_io *r)
{
	if (c->end == ORDER_UNKNOWN || r->end == ORDER_UNKNOWN)
		return n;
	pairs[n] = (struct offset_pair){r->begin, r->end, c->begin - r->begin, c->end - r->end};
	return n + 1;
}

/* The command of a kept request, if it is kept as well: run is where to start, and where it was found. */
static const struct order_io *command_of(const struct matching *m, const struct side_queue *q,
					 const struct order_io *request, size_t *run)
{
	while (*run < q->n && request->number >= q->runs[*run].request + q->runs[*run].n)
		++*run;
	if (*run == q->n || request->number < q->runs[*run].request)
		return NULL;
	return order_find(&m->sides[q->source].commands.all[q->commands].order,
			  request->number - q->runs[*run].request + q->runs[*run].command);
}

static int by_begin(const void *a, const void *b)
{
	const struct offset_pair *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* The offset of two clocks, from the requests of a target that are matched with commands of an initiator. */
static void find_offset(struct matching *m, size_t initiator, size_t target)
{
	const struct side_queues *requests = &m->sides[target].requests;
	struct offset_pair *pairs;
	size_t n = 0;

	for (size_t i = 0; i < requests->n; i++)
		n += requests->all[i].order.n;
	pairs = mem_array(n, sizeof(*pairs));
	n = 0;
	for (size_t i = 0; i < requests->n; i++) {
		const struct side_queue *q = &requests->all[i];
		size_t run = 0;

		for (size_t k = 0; q->source == initiator && k < q->order.n && run < q->n; k++) {
			const struct order_io *c = command_of(m, q, &q->order.kept[k], &run);

			n = c ? add_pair(pairs, n, c, &q->order.kept[k]) : n;
		}
	}
	qsort(pairs, n, sizeof(*pairs), by_begin);
	offset_find(&m->offsets[initiator * m->n + target], pairs, n);
	free(pairs);
}

/* Whether the offset allows that a command is a request; an unknown one does. */
static bool is_allowed(const struct offset *o, const struct order_io *command, const struct order_io *request)
{
	int64_t answered = request->end == ORDER_UNKNOWN ? request->begin : request->end;
	double bound;

	if (!o->is_known)
		return true;
	if (request->begin + offset_at(o, request->begin, &bound) + (int64_t)bound < command->begin)
		return false;
	return command->end == ORDER_UNKNOWN ||
	       answered + offset_at(o, answered, &bound) - (int64_t)bound <= command->end;
}

/* Drops the runs that the clocks contradict: all of them if the offset is none that clocks have. */
static void drop_contradicted(struct matching *m, size_t initiator, size_t target)
{
	struct offset *o = &m->offsets[initiator * m->n + target];
	const struct side_queues *requests = &m->sides[target].requests;
	bool good = !o->is_known || offset_is_plausible(o);

	for (size_t i = 0; i < requests->n; i++) {
		struct side_queue *q = &requests->all[i];
		size_t run = 0;

		for (size_t k = 0; q->source == initiator && k < q->order.n && run < q->n; k++) {
			const struct order_io *c = command_of(m, q, &q->order.kept[k], &run);

			if (!c || (good && is_allowed(o, c, &q->order.kept[k])))
				continue;
			m->contradicted += q->runs[run].n;
			q->runs[run].n = 0;
		}
	}
	if (!good)
		offset_free(o);
}

/* Whether the clocks allow the anchors: a known offset nearly all of them, another one that there is one. */
static bool is_plausible(const struct matching *m, const struct pairing *p)
{
	const struct offset *known = matching_offset(m, p->commands.source, p->requests.source);
	struct offset_pair *pairs = mem_array(p->n, sizeof(*pairs));
	struct offset o = {};
	size_t allowed = 0, n = 0;
	bool good;

	for (size_t i = 0; i < p->n; i++) {
		const struct order_io *c = &p->c->kept[p->anchors[i].command];
		const struct order_io *r = &p->r->kept[p->anchors[i].request];

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
static void add_candidates(const struct matching *m, struct pairings *all, const struct ends *commands,
			   const struct ends *requests, const struct end *to)
{
	struct pairing p = {.requests = *to, .r = &requests_of(m, to)->order};
	size_t *votes = mem_array(commands->n, sizeof(*votes)), most = 0;

	for (size_t i = 0; i < commands->n; i++) {
		p.commands = commands->all[i];
		if (may_be(commands_of(m, &p.commands), requests_of(m, to)))
			votes[i] = find_anchors(commands, requests, &p, p.r->n / SAMPLES + 1, NULL);
		most = votes[i] > most ? votes[i] : most;
	}
	for (size_t i = 0; i < commands->n; i++) {
		size_t found;

		if (!votes[i] || votes[i] < most / 2)
			continue;
		p.commands = commands->all[i];
		p.c = &commands_of(m, &p.commands)->order;
		p.anchors = mem_array(p.r->n, sizeof(*p.anchors));
		found = find_anchors(commands, requests, &p, 1, p.anchors);
		p.n = found;
		p.n = keep_confirmed(&p);
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
	return a->c == b->c && a->r != b->r && a->anchors[0].command <= b->anchors[b->n - 1].command &&
	       b->anchors[0].command <= a->anchors[a->n - 1].command;
}

/* Whether a queue of requests can be no other queue of commands. */
static bool is_only(const struct pairings *all, const struct pairing *p)
{
	for (size_t i = 0; i < all->n; i++)
		if (&all->all[i] != p && !all->all[i].gone && all->all[i].r == p->r)
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
static void pair_by_pattern(const struct matching *m, struct pairings *all)
{
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < all->n; i++) {
			struct pairing *p = &all->all[i];

			if (!can_be_decided(all, p))
				continue;
			pair_queues(m, p);
			for (size_t k = 0; k < all->n; k++)
				all->all[k].gone |= compete(&all->all[k], p);
			p->gone = more = true;
		}
	}
}

static bool is_compatible(const struct order_io *command, const struct order_io *request)
{
	return !command->what || !request->what || command->what == request->what;
}

/*
 * How many pairs there are if this command is that request and those around follow in order; 0: that cannot be. Numbers
 * are places, since all are kept.
 */
static size_t try_along(const struct matching *m, const struct end *commands, const struct end *requests,
			struct anchor a, size_t *tried)
{
	const struct offset *o = matching_offset(m, commands->source, requests->source);
	const struct order *c = &commands_of(m, commands)->order, *r = &requests_of(m, requests)->order;
	size_t n = min_u64(c->n - a.command, r->n - a.request);

	for (size_t i = 0; i < n; i++)
		if (++*tried > TRIED_MAX || !is_compatible(&c->kept[a.command + i], &r->kept[a.request + i]) ||
		    !is_allowed(o, &c->kept[a.command + i], &r->kept[a.request + i]))
			return 0;
	return n;
}

/* Pairs a queue of requests without anchors, if the clocks allow a single way. */
static void pair_by_time(const struct matching *m, const struct ends *commands, const struct end *requests)
{
	const struct side_queue *r = requests_of(m, requests);
	const struct end *found = NULL;
	struct anchor at = {};
	size_t ways = 0, most = 0, tried = 0;

	for (size_t i = 0; i < commands->n && ways < 2; i++) {
		const struct end *from = &commands->all[i];
		const struct side_queue *c = commands_of(m, from);

		if (!matching_offset(m, from->source, requests->source)->is_known || !may_be(c, r) || c->found ||
		    c->order.mask || r->order.mask)
			continue;
		/* either the first command, or the first request, has its counterpart */
		for (uint32_t k = 0; k + 1 < c->order.n + r->order.n && ways < 2; k++) {
			bool is_first = k < r->order.n;
			struct anchor a = {is_first ? 0 : k - r->order.n + 1, is_first ? k : 0};
			size_t n = try_along(m, from, requests, a, &tried);

			if (!n)
				continue;
			ways++;
			most = n;
			found = from;
			at = a;
		}
	}
	if (ways == 1 && most >= TRIED_MIN && tried <= TRIED_MAX)
		add_run(join_queues(m, found, requests), at.command, at.request, most);
}

/* Adds what is matched of a queue of requests to what is known of its commands. */
static void count_runs(struct matching *m, const struct side_queue *q)
{
	for (size_t i = 0; i < q->n; i++) {
		const struct side_run *run = &q->runs[i];
		struct side_queue *c = &m->sides[q->source].commands.all[q->commands];

		if (!run->n)
			continue;
		c->first = c->matched ? min_u64(c->first, run->command) : run->command;
		c->end = run->command + run->n > c->end ? run->command + run->n : c->end;
		c->matched += run->n;
	}
}

/* What became of commands. */
static void count(struct matching *m)
{
	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < m->sides[i].requests.n; k++)
			count_runs(m, &m->sides[i].requests.all[k]);
	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < m->sides[i].commands.n; k++) {
			const struct side_queue *c = &m->sides[i].commands.all[k];
			uint32_t inside = c->end - c->first;

			m->commands += c->order.count;
			m->matched += c->matched;
			m->foreign += c->found ? 0 : c->order.count;
			m->outside += c->found ? c->order.count - inside : 0;
			m->ambiguous += c->found ? inside - c->matched : 0;
		}
}

/* Where the ticks are the same, or the process is: then the times differ by a constant only. */
static void set_known(struct matching *m)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct side *a = &m->sides[i];
		double ns = a->last_tsc > a->first_tsc
				    ? (double)(a->last - a->first) / (double)(a->last_tsc - a->first_tsc)
				    : 0;

		for (size_t k = 0; k < m->n; k++) {
			const struct side *b = &m->sides[k];
			struct offset *o = &m->offsets[i * m->n + k];

			o->is_known = i == k || m->same_clock;
			if (i != k && m->same_clock)
				o->constant = (int64_t)((double)(int64_t)(b->first_tsc - a->first_tsc) * ns) -
					      (b->first - a->first);
		}
	}
}

void matching_run(struct matching *m)
{
	struct ends commands = {}, requests = {};
	struct pairings all = {};

	m->offsets = mem_array(m->n * m->n, sizeof(*m->offsets));
	set_known(m);
	list_ends(&commands, m, true);
	list_ends(&requests, m, false);
	for (size_t i = 0; i < requests.n; i++)
		add_candidates(m, &all, &commands, &requests, &requests.all[i]);
	pair_by_pattern(m, &all);
	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < m->n; k++) {
			if (!matching_offset(m, i, k)->is_known)
				find_offset(m, i, k);
			drop_contradicted(m, i, k);
		}
	for (size_t i = 0; i < requests.n; i++)
		if (!requests_of(m, &requests.all[i])->found)
			pair_by_time(m, &commands, &requests.all[i]);
	count(m);
	for (size_t i = 0; i < all.n; i++)
		free(all.all[i].anchors);
	free(all.all);
	free(commands.all);
	map_free(&commands.grams);
	free(requests.all);
	map_free(&requests.grams);
}

void matching_write(struct out *out, const struct matching *m, const char *words)
{
	const struct {
		uint64_t n;
		const char *what;
	} others[] = {
		{m->foreign, "of queues that are found in no target"},
		{m->outside, "before or after what the target's trace has"},
		{m->ambiguous, "between matched ones, but ambiguous, as entries are missing"},
		{m->contradicted, "of all fitted, but contradicted the clocks"},
	};

	out_printf(out, "%" PRIu64 " of %" PRIu64 " NVMe/TCP commands %s", m->matched, m->commands, words);
	for (size_t i = 0; i < COUNT(others); i++)
		if (others[i].n)
			out_printf(out, "; %" PRIu64 " %s", others[i].n, others[i].what);
}

void matching_free(struct matching *m)
{
	for (size_t i = 0; m->offsets && i < m->n * m->n; i++)
		offset_free(&m->offsets[i]);
	free(m->offsets);
}
