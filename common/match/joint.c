/* SPDX-License-Identifier: BSD-3-Clause */
#include "joint.h"

#include <stdlib.h>

#include "mem.h"
#include "table.h"

struct joint_command {
	size_t source;
	uint64_t id, address; /* id: its number */
	uint32_t number;      /* in its queue */
};

/* What was read of a queue so far. */
struct joint_queue {
	uint32_t seen;
	struct joint_command *waiting; /* commands that no request has followed so far, from first to n */
	size_t first, n, cap;
	size_t run; /* of requests: the first one that is not over */
};

struct joint_source {
	struct each_traceline *file; /* NULL: it is left out, or has ended */
	size_t number;
	uint32_t via; /* the source whose times its own are turned into next */
	struct slice text;
	struct side_io io;
	uint32_t queue;           /* of io */
	int64_t time, before, ns; /* its own; of the line before; of the timeline */
	struct joint_queue *commands, *requests;
	size_t num_commands, cap_commands, num_requests, cap_requests;
};

/* A time of one source as one of another, by the pairs of these two. */
static int64_t turn(const struct matching *m, size_t from, size_t to, int64_t ns)
{
	const struct offset *o = matching_offset(m, to, from);
	int64_t time = ns;
	double bound;

	if (o->is_known)
		return ns + offset_at(o, ns, &bound);
	/* the other direction: the offset is known by the time that is looked for; its slope is small */
	o = matching_offset(m, from, to);
	for (unsigned i = 0; i < 4; i++)
		time = ns - offset_at(o, time, &bound);
	return time;
}

/* What no clock of this kind shows is cut off, so that many sources do not overflow. */
static int64_t within(int64_t ns)
{
	return ns > 2 * SIDE_LONGEST ? 2 * SIDE_LONGEST : ns < -2 * SIDE_LONGEST ? -2 * SIDE_LONGEST : ns;
}

static int64_t to_first(const struct joint *j, size_t source, int64_t ns)
{
	for (; j->all[source].via != source; source = j->all[source].via)
		ns = within(turn(j->m, source, j->all[source].via, ns));
	return ns;
}

int64_t joint_time(const struct joint *j, size_t source, int64_t ns)
{
	return j->all[source].via == MAP_NONE ? INT64_MIN : to_first(j, source, ns) - j->origin;
}

/* Finds how the times of each source are turned into those of the first one. */
static void find_ways(struct joint *j)
{
	const struct matching *m = j->m;
	bool more = true;

	for (size_t i = 0; i < m->n; i++)
		j->all[i].via = i ? MAP_NONE : 0;
	while (more) {
		more = false;
		for (size_t i = 0; i < m->n; i++)
			for (size_t k = 0; k < m->n && j->all[i].via == MAP_NONE; k++)
				if (i != k && j->all[k].via != MAP_NONE &&
				    (matching_offset(m, i, k)->is_known || matching_offset(m, k, i)->is_known)) {
					j->all[i].via = k;
					more = true;
				}
	}
}

static void read_next(struct joint *j, struct joint_source *s)
{
	struct side *side = &j->m->sides[s->number];
	struct traceline *line = &s->file->line;
	uint64_t time = 0;

	for (;;) {
		const char *error;

		if (!each_traceline_next(s->file, &s->text)) {
			j->failed |= each_traceline_close(s->file) != 0;
			s->file = NULL;
			return;
		}
		error = traceline_time(line, &time);
		if (!error && time <= SIDE_LONGEST)
			break;
		each_traceline_complain(s->file, error ? error : "its time is too long");
	}
	s->before = s->time;
	s->time = time;
	s->ns = joint_time(j, s->number, s->time);
	s->io = side_creation(side, line);
	if (s->io.is_command)
		s->queue = side_queue(&side->commands, side_key(side, &s->io));
	else if (s->io.is_request)
		s->queue = side_queue(&side->requests, s->io.queue);
}

void joint_start(struct joint *j, const struct matching *m, struct each_traceline *files)
{
	*j = (struct joint){.m = m,
			    .all = mem_array(m->n, sizeof(*j->all)),
			    .origin = INT64_MAX,
			    .latest = INT64_MIN,
			    .named.fd = OUT_MEMORY};
	find_ways(j);
	for (size_t i = 0; i < m->n; i++) {
		struct joint_source *s = &j->all[i];
		int64_t first;

		s->number = i;
		s->time = INT64_MIN;
		s->file = s->via == MAP_NONE ? NULL : &files[i];
		if (!s->file) {
			each_traceline_close(&files[i]);
			j->left_out++;
		}
		first = s->file ? to_first(j, i, m->sides[i].first) : INT64_MAX;
		j->origin = first < j->origin ? first : j->origin;
	}
	for (size_t i = 0; i < m->n; i++)
		if (j->all[i].file)
			read_next(j, &j->all[i]);
}

static struct joint_queue *queue_of(struct joint_source *s, bool of_commands, uint32_t queue)
{
	return of_commands ? table_at(s->commands, s->num_commands, s->cap_commands, queue)
			   : table_at(s->requests, s->num_requests, s->cap_requests, queue);
}

/* Where the commands of the request are, that is the next line of a source. NULL: it has none; else sets its number. */
static struct joint_queue *commands_of(struct joint *j, struct joint_source *s, uint32_t *number)
{
	const struct side_queue *q = &j->m->sides[s->number].requests.all[s->queue];
	struct joint_queue *requests = queue_of(s, false, s->queue);
	const struct side_run *run;

	while (requests->run < q->n && requests->seen >= q->runs[requests->run].request + q->runs[requests->run].n)
		requests->run++;
	if (requests->run == q->n || requests->seen < q->runs[requests->run].request)
		return NULL;
	run = &q->runs[requests->run];
	*number = requests->seen - run->request + run->command;
	return queue_of(&j->all[q->source], true, q->commands);
}

/* The source that has the next line: the earliest one; but a command comes before its request, whatever clocks say. */
static struct joint_source *first_of(struct joint *j)
{
	struct joint_source *first = NULL;
	uint32_t number;

	for (struct joint_source *s = j->all; s < j->all + j->m->n; s++)
		if (s->file && (!first || s->ns < first->ns))
			first = s;
	for (size_t i = 0; first && first->io.is_request && i < j->m->n; i++) {
		struct joint_queue *commands = commands_of(j, first, &number);
		struct joint_source *from = &j->all[j->m->sides[first->number].requests.all[first->queue].source];

		if (!commands || number < commands->seen || !from->file)
			break;
		first = from;
	}
	return first;
}

static void see_command(struct joint *j, struct joint_source *s)
{
	const struct side_queue *q = &j->m->sides[s->number].commands.all[s->queue];
	struct joint_queue *c = queue_of(s, true, s->queue);
	uint32_t number = c->seen++;

	if (!q->matched || number < q->first || number >= q->end)
		return;
	if (c->first > c->n / 2) {
		c->n -= c->first;
		memmove(c->waiting, c->waiting + c->first, c->n * sizeof(*c->waiting));
		c->first = 0;
	}
	c->waiting = mem_room(c->waiting, c->n, &c->cap);
	c->waiting[c->n++] = (struct joint_command){s->number, s->io.id, s->io.address, number};
}

/* Names the command of the request that the line creates. */
static void put_command(struct joint *j, const struct joint_command *c)
{
	struct out *out = &j->named;
	size_t n, start;

	out->len = 0;
	out_char(out, 'p');
	out_u64(out, c->id);
	n = out->len;
	out_text(out, "{\"command\":");
	start = out->len;
	out_text(out, "{\"source\":\"");
	out_slice(out, j->m->sides[c->source].name);
	out_text(out, "\",\"id\":\"p");
	out_u64(out, c->id);
	out_text(out, "\",\"ptr\":\"");
	out_hex(out, c->address);
	out_text(out, "\"}}");
	j->related = slice_between(out->buf, out->buf + n);
	j->command = slice_between(out->buf + start, out->buf + out->len - 1);
}

static void see_request(struct joint *j, struct joint_source *s)
{
	uint32_t number;
	struct joint_queue *c = commands_of(j, s, &number);

	/* it has a command, whichever that is */
	if (j->m->sides[s->number].requests.all[s->queue].found)
		j->related = slice_of("n/a");
	queue_of(s, false, s->queue)->seen++;
	while (c && c->first < c->n && c->waiting[c->first].number < number)
		c->first++;
	if (c && c->first < c->n && c->waiting[c->first].number == number)
		put_command(j, &c->waiting[c->first++]);
	/* the line's own stays */
	if (j->line->related.p)
		j->related.n = 0;
}

bool joint_next(struct joint *j)
{
	struct joint_source *s = j->current;

	if (s)
		read_next(j, s);
	s = j->current = first_of(j);
	if (!s)
		return false;
	/* where one segment of an offset ends and another starts, and after commands that come first, time goes on */
	if (s->time >= s->before && s->ns < j->latest)
		s->ns = j->latest;
	j->source = s->number;
	j->line = &s->file->line;
	j->text = s->text;
	j->ns = j->latest = s->ns;
	j->command = j->related = (struct slice){};
	if (s->io.is_command)
		see_command(j, s);
	else if (s->io.is_request)
		see_request(j, s);
	return true;
}

void joint_end(struct joint *j)
{
	for (struct joint_source *s = j->all; s < j->all + j->m->n; s++) {
		if (s->file)
			j->failed |= each_traceline_close(s->file) != 0;
		for (size_t i = 0; i < s->num_commands; i++)
			free(s->commands[i].waiting);
		free(s->commands);
		free(s->requests);
	}
	free(j->all);
	out_close(&j->named);
}
