/* SPDX-License-Identifier: BSD-3-Clause */
#include "story.h"

#include <inttypes.h>
#include <stdlib.h>

#include "connection.h"
#include "label.h"
#include "mem.h"
#include "number.h"
#include "text.h"

enum {
	MARKED = 3,     /* of the longest gaps, those of at least this part of the life: */
	NOTABLE = 10,   /* a tenth */
	GAP = 12,       /* columns */
	HAS_BUFFER = 1, /* in span.notes[0] */
	LOOKS = 64,     /* at connections, on average, for each buffer that is returned */
};

/* A state in which objects wait along with others. */
static bool waits_for_buffer(const struct story *story, uint32_t state)
{
	return state != MAP_NONE && story->spans->info[state].layer == LAYER_BUFFER;
}

static bool is_queued(const struct story *story, uint32_t state)
{
	return state != MAP_NONE && story->spans->info[state].source == FACTS_SOCKET;
}

static struct story_lcore *lcore_of(struct story *story, const struct traceline *line)
{
	uint64_t number = 0;
	uint32_t *index;

	number_decimal(line->lcore, &number);
	index = map_put(&story->lcores, traceline_in_source(line, number));
	if (*index == MAP_NONE) {
		*index = story->num_lcores;
		story->last = mem_room(story->last, story->num_lcores, &story->cap_lcores);
		story->last[story->num_lcores++] = (struct story_lcore){};
	}
	return &story->last[*index];
}

/* The owner of a connection from v24.05 on, the address of its qpair before that. */
static bool connection_key(const struct traceline *line, uint64_t *key)
{
	struct slice poller = line->poller;

	if (line->owner.n && poller.n && number_decimal(slice_from(poller, 1), key)) {
		*key |= (uint64_t)(unsigned char)poller.p[0] << 56;
		return true;
	}
	for (size_t i = 0; i < line->num_args; i++)
		if (slice_is(line->args[i].key, "qpair"))
			return traceline_number(line->args[i].value, key);
	*key = line->object_value;
	return !line->object_id.p && line->object_value;
}

static uint32_t connection_of(struct story *story, const struct traceline *line)
{
	uint32_t *index;
	uint64_t key;

	if (!connection_key(line, &key))
		return MAP_NONE;
	key = traceline_in_source(line, key);
	index = map_put(&story->connections, key);
	if (*index == MAP_NONE) {
		*index = story->num_connections;
		story->all = mem_room(story->all, story->num_connections, &story->cap_connections);
		story->all[story->num_connections++] = (struct story_connection){};
	}
	return *index;
}

/* The state after the header of a PDU is 2 in all releases: include/spdk_internal/nvme_tcp.h. */
static bool receives_pdu(const struct traceline *line)
{
	uint64_t state;

	return slice_is(line->tpoint, "TCP_QP_RCV_STATE_CHANGE") && line->num_args &&
	       slice_is(line->args[0].key, "state") && traceline_number(line->args[0].value, &state) && state == 2;
}

void story_see(struct story *story, const struct traceline *line, uint64_t ns)
{
	struct story_lcore *lcore;
	uint32_t connection;

	/* a line of another tool, which no lcore has written */
	if (!line->object_id.p && (reactors_is(line->tpoint) || disks_is(line->tpoint)))
		return;
	lcore = lcore_of(story, line);
	lcore->silence = lcore->last && ns > lcore->last ? ns - lcore->last : 0;
	lcore->last = ns > lcore->last ? ns : lcore->last;
	if (receives_pdu(line) && (connection = connection_of(story, line)) != MAP_NONE)
		story->all[connection].pdus++;
}

static void leave(struct story *story, const struct span *s, uint32_t state)
{
	story->waiting -= waits_for_buffer(story, state) && story->waiting;
	if (is_queued(story, state) && s->connection != MAP_NONE)
		story->all[s->connection].queued -= story->all[s->connection].queued > 0;
}

static void name_connection(struct story *story, const struct span *s)
{
	struct story_connection *connection = s->connection == MAP_NONE ? NULL : &story->all[s->connection];

	if (connection && !s->has_parent && !connection->label.p)
		connection->label = mem_slice(label_of(&story->text, s));
}

/* Counts those that were there before it. */
static void enter(struct story *story, const struct span *s, uint32_t state, struct span_line *line)
{
	if (waits_for_buffer(story, state))
		line->others = story->waiting++;
	if (is_queued(story, state) && s->connection != MAP_NONE)
		line->others = story->all[s->connection].queued++;
}

/* When there are many connections, the one with most buffers is found a little late. */
static void find_most(struct story *story)
{
	story->owed_looks += LOOKS;
	if (story->owed_looks < story->num_connections)
		return;
	story->owed_looks = 0;
	for (size_t i = 0; i < story->num_connections; i++)
		if (story->all[i].holders > story->all[story->most].holders)
			story->most = i;
}

static void get_buffer(struct story *story, struct span *s, struct span_line *line)
{
	if (s->connection == MAP_NONE || s->notes[0] & HAS_BUFFER)
		return;
	line->holders = story->holders;
	line->holder = story->most;
	line->held = story->all[story->most].holders;
	s->notes[0] |= HAS_BUFFER;
	story->holders++;
	story->all[s->connection].holders++;
	if (story->all[s->connection].holders > story->all[story->most].holders)
		story->most = s->connection;
}

static void return_buffer(struct story *story, const struct span *s)
{
	if (!(s->notes[0] & HAS_BUFFER))
		return;
	story->holders--;
	story->all[s->connection].holders--;
	if (s->connection == story->most)
		find_most(story);
}

void story_keep(struct story *story, struct span *s, uint32_t before, const struct traceline *line, struct slice text)
{
	struct span_line kept = {
		.sequence = story->spans->lines, .lcore = s->last_lcore, .silence = lcore_of(story, line)->silence};

	if (before == MAP_NONE) {
		s->connection = connection_of(story, line);
		/* a write to a socket does not say whose it is */
		if (s->connection == MAP_NONE && s->parent)
			s->connection = s->parent->connection;
		name_connection(story, s);
	}
	leave(story, s, before);
	if (waits_for_buffer(story, before))
		get_buffer(story, s, &kept);
	enter(story, s, s->states[s->n - 1].state, &kept);
	/* a request has its buffer until it ends */
	if (!spans_is_open(story->spans, s)) {
		return_buffer(story, s);
		s->notes[0] &= ~HAS_BUFFER;
	}
	if (s->connection != MAP_NONE)
		kept.pdus = story->all[s->connection].pdus;
	s->lines = mem_room(s->lines, s->n - 1, &s->cap_lines);
	kept.at = s->kept.len;
	s->lines[s->n - 1] = kept;
	out_slice(&s->kept, text);
}

/* With control characters escaped, and cut off between two characters if it is too long. */
static void keep_cause(struct story *story, struct story_held *held, const struct traceline *line)
{
	size_t n;

	story->text.fd = story->cause.fd = OUT_MEMORY;
	story->text.len = story->cause.len = 0;
	reactors_write(&story->text, line);
	out_visible(&story->cause, out_kept(&story->text));
	n = story->cause.len;
	if (n >= STORY_CAUSE)
		for (n = STORY_CAUSE - 1; n && (story->cause.buf[n] & 0xc0) == 0x80;)
			n--;
	*(char *)mempcpy(held->cause, story->cause.buf, n) = 0;
}

void story_hold(struct story *story, const struct reactor *reactor, const struct reactors_interval *interval,
		const struct traceline *line)
{
	size_t index = reactor - story->spans->reactors.all;
	struct story_ring *ring;
	struct story_held *held;

	while (story->num_reactors <= index) {
		story->reactors = mem_room(story->reactors, story->num_reactors, &story->cap_reactors);
		memset(story->reactors[story->num_reactors++], 0, sizeof(*story->reactors));
	}
	ring = &story->reactors[index][interval->kind];
	if (ring->n < STORY_KEPT)
		ring->all = mem_room(ring->all, ring->n, &ring->cap);
	held = &ring->all[ring->n % STORY_KEPT];
	if (ring->n >= STORY_KEPT)
		ring->dropped = held->sequence;
	ring->n++;
	*held = (struct story_held){};
	held->sequence = story->spans->lines;
	held->begin = interval->begin;
	held->end = interval->end;
	keep_cause(story, held, line);
}

void story_end(struct story *story, const struct span *s)
{
	leave(story, s, s->states[s->n - 1].state);
	return_buffer(story, s);
}

static size_t count(const struct span *s)
{
	size_t n = s->n;

	for (const struct span *child = s->child; child; child = child->next)
		n += count(child);
	return n;
}

static struct story_entry *gather(struct story_entry *to, const struct span *s)
{
	for (size_t i = 0; i < s->n; i++)
		*to++ = (struct story_entry){s, i};
	for (const struct span *child = s->child; child; child = child->next)
		to = gather(to, child);
	return to;
}

static uint64_t sequence_of(const struct story_entry *e)
{
	return e->span->lines[e->state].sequence;
}

static uint64_t ns_of(const struct story_entry *e)
{
	return e->span->states[e->state].ns;
}

static int by_sequence(const void *a, const void *b)
{
	uint64_t x = sequence_of(a), y = sequence_of(b);

	return (x > y) - (x < y);
}

/* Entries of other lcores may be out of order. */
static uint64_t gap_before(const struct story_entry *entries, size_t i)
{
	uint64_t here = ns_of(&entries[i]), before = i ? ns_of(&entries[i - 1]) : here;

	return here > before ? here - before : 0;
}

/* The shortest gap that is marked. */
static uint64_t marked_from(const struct story_entry *entries, size_t n, uint64_t life)
{
	uint64_t longest[MARKED] = {};

	for (size_t i = 1; i < n; i++) {
		uint64_t gap = gap_before(entries, i);

		for (unsigned m = 0; m < MARKED; m++)
			if (gap > longest[m]) {
				uint64_t shorter = longest[m];

				longest[m] = gap;
				gap = shorter;
			}
	}
	life = life / NOTABLE + 1;
	return longest[MARKED - 1] > life ? longest[MARKED - 1] : life;
}

/* A line of its own: the number of things between two texts. */
static void put_cause(struct out *out, const char *before, uint64_t n, const char *one, const char *many,
		      const char *after)
{
	out_printf(out, "%*s   %s %" PRIu64 " %s %s\n", GAP, "", before, n, n == 1 ? one : many, after);
}

static void put_holder(const struct story *story, struct out *out, const struct span_line *line)
{
	out_printf(out, "%*s   %" PRIu64 " %s a buffer, %" PRIu64 " of them of ", GAP, "", line->holders,
		   line->holders == 1 ? "request had" : "requests had", line->held);
	out_visible(out, story->all[line->holder].label);
	out_char(out, '\n');
}

/* What is known of the wait that an entry ends. */
static void put_causes(struct story *story, struct out *out, const struct story_entry *e, uint64_t gap)
{
	const struct span *s = e->span;
	const struct span_line *line = &s->lines[e->state], *before = line - 1;
	enum layer layer;
	uint32_t state;

	if (line->silence && line->silence >= gap / 2) {
		/* the line that put_entry() has parsed */
		out_printf(out, "%*s   lcore %.*s wrote nothing for ", GAP, "", (int)story->line.lcore.n,
			   story->line.lcore.p);
		out_us(out, line->silence < gap ? line->silence : gap);
		out_text(out, " us\n");
	}
	if (!e->state)
		return;
	state = s->states[e->state - 1].state;
	layer = story->spans->info[state].layer;
	if (layer == LAYER_BUFFER)
		put_cause(out, "waited for a buffer while", before->others, "other", "others", "did");
	if (layer == LAYER_BUFFER && line->held && story->all[line->holder].label.n)
		put_holder(story, out, line);
	if (is_queued(story, state) && before->others)
		put_cause(out, "queued behind", before->others, "other", "others", "on the socket");
	if (layer == LAYER_HOST && line->pdus > before->pdus + 1)
		put_cause(out, "the connection received", line->pdus - before->pdus - 1, "other PDU", "other PDUs",
			  "meanwhile");
}

/* An entry of the connection has the name that the span's line has, in place of all that trace-join -j says about it. */
static void shorten(struct traceline *line, const struct span *root, struct slice label)
{
	bool same = line->owner.n && slice_equal(line->owner, span_owner(root));
	size_t n = 0;

	for (size_t i = 0; i < line->num_args; i++) {
		line->args[i].note = NULL;
		if (line->args[i].value.p[0] == '{' && connection_member(line->args[i].value, "hostnqn").n)
			same = true;
		else
			line->args[n++] = line->args[i];
	}
	line->num_args = n;
	if (same)
		line->owner = label;
}

static void put_entry(struct story *story, struct out *out, const struct story_entry *e, uint64_t gap, bool marked,
		      const struct span *root, struct slice label)
{
	const struct span *s = e->span;
	size_t at = s->lines[e->state].at, end = e->state + 1 < s->n ? s->lines[e->state + 1].at : s->kept.len;
	struct slice text = {s->kept.buf + at, end - at};

	out_printf(out, "%*.3f %c ", GAP, gap / 1000.0, marked ? '*' : ' ');
	/* which succeeds, as it did before */
	if (traceline_parse(&story->line, text))
		return;
	shorten(&story->line, root, label);
	text_write_short(out, &story->line, text.n, &story->columns);
}

static void add_aside(struct story *story, struct story_aside aside)
{
	story->asides = mem_room(story->asides, story->num_asides, &story->cap_asides);
	story->asides[story->num_asides++] = aside;
}

/* Gathers the times for which a reactor was held between two lines, each once for a story. */
static void gather_held(struct story *story, const struct story_ring *ring, uint64_t lcore, uint64_t from, uint64_t to)
{
	uint64_t first = ring->n < STORY_KEPT ? 0 : ring->n - STORY_KEPT, end = ring->n;

	story->is_lost |= ring->dropped >= from;
	/* the first one after the line */
	while (first < end) {
		uint64_t middle = first + (end - first) / 2;

		if (ring->all[middle % STORY_KEPT].sequence < from)
			first = middle + 1;
		else
			end = middle;
	}
	for (; first < ring->n; first++) {
		struct story_held *held = &ring->all[first % STORY_KEPT];

		if (held->sequence > to)
			return;
		if (held->told == story->told)
			continue;
		held->told = story->told;
		add_aside(story, (struct story_aside){held->sequence, lcore, held->end, held, NULL});
	}
}

/* What held the reactors that the span was on, and its disk. */
static void gather_asides(struct story *story, const struct span *s)
{
	const struct spans *spans = story->spans;

	for (size_t i = 0; i < s->n; i++) {
		const struct span_line *line = &s->lines[i];
		const struct reactor *reactor = spans_reactor(spans, s, line->lcore);
		uint64_t to = UINT64_MAX;

		if (!reactor)
			continue;
		if (i + 1 < s->n)
			to = s->lines[i + 1].sequence;
		else if (!spans_is_open(spans, s))
			break;
		/* nothing was lost of a reactor that was never held */
		for (unsigned kind = 0; kind < REACTORS_KINDS; kind++)
			if (to == UINT64_MAX || s->held[kind])
				gather_held(story, &story->reactors[reactor - spans->reactors.all][kind], line->lcore,
					    line->sequence, to);
	}
	if (s->disk.found == DISKS_ONE)
		add_aside(story, (struct story_aside){s->disk.order, s->last_lcore, s->disk.end, NULL, s});
	for (const struct span *child = s->child; child; child = child->next)
		gather_asides(story, child);
}

static uint64_t length_of(const struct story_aside *aside)
{
	return aside->held ? aside->held->end - aside->held->begin : UINT64_MAX;
}

static int longest_first(const void *a, const void *b)
{
	uint64_t x = length_of(a), y = length_of(b);

	return (x < y) - (x > y);
}

static int by_line(const void *a, const void *b)
{
	const struct story_aside *x = a, *y = b;

	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* Gathers the lines that are printed among the entries, and prints how many are left out. */
static void find_asides(struct story *story, struct out *out, const struct span *s)
{
	story->told++;
	story->num_asides = 0;
	story->is_lost = false;
	gather_asides(story, s);
	if (story->is_lost)
		out_printf(out, "%*s   of what held its reactor only the latest %d times are kept\n", GAP, "",
			   STORY_KEPT);
	if (story->num_asides > STORY_HELD) {
		qsort(story->asides, story->num_asides, sizeof(*story->asides), longest_first);
		out_printf(out, "%*s   its reactor was held %zu times: these are the longest %d\n", GAP, "",
			   story->num_asides, STORY_HELD);
		story->num_asides = STORY_HELD;
	}
	if (story->num_asides)
		qsort(story->asides, story->num_asides, sizeof(*story->asides), by_line);
}

/* Where the gap, its mark, the lcore and the time of an entry are; the time is that of the end. */
static void put_aside(const struct story *story, struct out *out, const struct story_aside *aside)
{
	out_printf(out, "%*s   %*" PRIu64 " %*.3f ", GAP, "", story->columns.widths[TEXT_LCORE], aside->lcore,
		   story->columns.widths[TEXT_US], aside->ns / 1000.0);
	if (aside->held) {
		out_text(out, aside->held->cause);
		out_text(out, " for ");
		out_us(out, aside->held->end - aside->held->begin);
	} else {
		out_text(out, "disk");
		out_text(out, story->spans->disks.names.all[aside->span->disk.name].n ? " " : "");
		out_visible(out, story->spans->disks.names.all[aside->span->disk.name]);
		out_text(out, " for ");
		out_us(out, aside->span->disk.end - aside->span->disk.begin);
	}
	out_text(out, " us\n");
}

void story_write(struct story *story, struct out *out, const struct span *s)
{
	struct slice label = label_of(&story->label, s);
	size_t n = count(s), aside = 0;
	uint64_t marked;

	if (n > story->cap_entries) {
		story->entries = mem_resize(story->entries, 2 * n, sizeof(*story->entries));
		story->cap_entries = 2 * n;
	}
	gather(story->entries, s);
	qsort(story->entries, n, sizeof(*story->entries), by_sequence);
	marked = marked_from(story->entries, n, s->last - s->first);
	find_asides(story, out, s);
	for (size_t i = 0; i < n; i++) {
		uint64_t gap = gap_before(story->entries, i);

		for (; aside < story->num_asides && story->asides[aside].sequence < sequence_of(&story->entries[i]);
		     aside++)
			put_aside(story, out, &story->asides[aside]);
		put_entry(story, out, &story->entries[i], gap, gap >= marked, s, label);
		if (gap >= marked)
			put_causes(story, out, &story->entries[i], gap);
	}
	for (; aside < story->num_asides; aside++)
		put_aside(story, out, &story->asides[aside]);
}

void story_free(struct story *story)
{
	map_free(&story->lcores);
	map_free(&story->connections);
	free(story->last);
	for (size_t i = 0; i < story->num_connections; i++)
		free((char *)story->all[i].label.p);
	free(story->all);
	for (size_t i = 0; i < story->num_reactors; i++)
		for (unsigned kind = 0; kind < REACTORS_KINDS; kind++)
			free(story->reactors[i][kind].all);
	free(story->reactors);
	free(story->entries);
	free(story->asides);
	out_close(&story->text);
	out_close(&story->label);
	out_close(&story->cause);
	who_free(&story->columns.who);
	traceline_free(&story->line);
}
