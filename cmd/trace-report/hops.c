/* SPDX-License-Identifier: BSD-3-Clause */
#include "hops.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "columns.h"
#include "count.h"
#include "floor.h"
#include "io.h"
#include "joint.h"
#include "livenames.h"
#include "mem.h"
#include "number.h"
#include "process.h"
#include "reactors.h"
#include "recording.h"
#include "search.h"
#include "spans.h"

enum {
	REQUESTS = 1 << 18, /* that are explained */
	SLOW = 20,          /* the slowest twentieth is compared */
	FAST = 4,           /* with the fastest quarter */
	SHOWN = 8,
	PLACES = 65536,   /* names of them */
	SOON_NS = 100000, /* after its reactor runs again, what waited for that goes on */
};

/* A time in which a reactor did not run, by the clock of all. */
struct absence {
	int64_t begin, end;
	uint32_t why; /* in lives.places */
	uint64_t lcore;
};

/* The requests of a page, with the parts of their lives. */
struct lives {
	struct spans spans;
	struct intern types, states;
	const struct hops *hops;
	struct intern places;
	struct request {
		uint64_t ns;
		size_t first, n; /* its parts */
	} * all;
	size_t n, cap;
	struct part {
		uint32_t place;
		uint64_t ns;
	} * parts;
	size_t num_parts, cap_parts;
	uint64_t dropped;
	struct out text; /* in memory */
	struct absences {
		struct absence *all;
		size_t n, cap;
	} * away; /* of each process */
	const struct joint *joint;
	size_t reading; /* the process whose absences are read */
};

/* Mean times of the slow and of the fast requests at a place, and of all. */
struct place {
	double slow, fast, all;
	uint32_t name;
};

static char *trace_of(const char *folder)
{
	return mem_printf("%s/%s", folder, RECORDING_TRACE);
}

static bool has_trace(const char *folder)
{
	char *path = trace_of(folder);
	struct stat st;
	bool found = stat(path, &st) == 0 && S_ISREG(st.st_mode);

	free(path);
	return found;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The folders in a folder. */
static void find_inside(struct hops *h, const char *folder)
{
	DIR *files = opendir(folder);
	struct dirent *entry;
	size_t cap = 0;

	while (files && (entry = readdir(files))) {
		char *path = mem_printf("%s/%s", folder, entry->d_name);

		if (*entry->d_name == '.' || !has_trace(path)) {
			free(path);
			continue;
		}
		h->folders = mem_room(h->folders, h->n, &cap);
		h->folders[h->n++] = path;
	}
	if (files)
		closedir(files);
	if (h->n)
		qsort(h->folders, h->n, sizeof(*h->folders), by_name);
}

static void name_process(struct hops *h, size_t i)
{
	if (h->are_owned)
		side_name(&h->m.sides[i], basename(h->folders[i]));
	else
		h->folders[i] = (char *)side_name(&h->m.sides[i], h->folders[i]);
	for (size_t k = 0; k < i; k++)
		if (slice_equal(h->m.sides[i].name, h->m.sides[k].name))
			cli_usage("two processes are called '%s': NAME=FOLDER gives another name",
				  h->m.sides[i].name.p);
}

/* Sets the path to that of a copy, as the trace is now: it is read twice. Returns what the process is called. */
static char *copy_trace(pid_t pid, char **path)
{
	char *error, *trace, *name, *end;
	int fd;

	trace = process_open_trace(pid, &fd, &error);
	if (!trace)
		errx(EXIT_FAILURE, "%s", error);
	*path = io_copy(fd);
	if (!*path)
		err(EXIT_FAILURE, "%s: a copy of it", io_name(trace));
	close(fd);
	name = basename(trace);
	end = strstr(name, "_trace.");
	name = mem_printf("%.*s.%d", end ? (int)(end - name) : (int)strlen(name), name, pid);
	free(trace);
	return name;
}

/* Opens the trace of a process, and when its threads did not run. */
static void open_process(struct hops *h, size_t i, struct out *out)
{
	char **paths = &h->paths[2 * i];

	if (!h->pids)
		paths[0] = trace_of(h->folders[i]);
	h->m.sides[i].file = io_name(h->pids ? h->folders[i] : paths[0]);
	if (each_traceline_open(&h->files[i], paths[0], "trace-report", out) != 0 ||
	    each_traceline_open(&h->again[i], paths[0], "trace-report", out) != 0)
		err(EXIT_FAILURE, "%s", h->m.sides[i].file);
	h->files[i].lines.name = h->again[i].lines.name = h->m.sides[i].file;
	h->again[i].quiet = h->again[i].lines.again = true;
	if (h->pids)
		return;
	paths[1] = mem_printf("%s/%s", h->folders[i], RECORDING_OFFCPU);
	h->has_away[i] = each_traceline_open(&h->away[i], paths[1], "offcpusnoop -j", out) == 0;
	if (!h->has_away[i] && errno != ENOENT)
		warn("%s", io_name(paths[1]));
}

bool hops_find(struct hops *h, int n, char **operands, const pid_t *pids, struct out *out)
{
	*h = (struct hops){};
	for (int i = 0; n > 1 && i < n; i++) {
		const char *equals = strchr(operands[i], '=');

		if (!has_trace(operands[i]) && !(equals && has_trace(equals + 1)))
			return false;
	}
	if (pids[0]) {
		h->pids = pids;
		while (h->n < CLI_IDS && pids[h->n])
			h->n++;
	} else if (n > 1) {
		h->folders = operands;
		h->n = n;
	} else if (n == 1 && !has_trace(operands[0])) {
		find_inside(h, operands[0]);
		h->are_owned = true;
	}
	if (h->n < 2) {
		hops_free(h);
		return false;
	}
	if (h->pids) {
		h->folders = mem_array(h->n, sizeof(*h->folders));
		h->are_owned = true;
	}
	h->m.n = h->n;
	h->m.sides = mem_array(h->n, sizeof(*h->m.sides));
	h->files = mem_array(h->n, sizeof(*h->files));
	h->again = mem_array(h->n, sizeof(*h->again));
	h->away = mem_array(h->n, sizeof(*h->away));
	h->has_away = mem_array(h->n, sizeof(*h->has_away));
	h->paths = mem_array(2 * h->n, sizeof(*h->paths));
	for (size_t i = 0; i < h->n; i++) {
		if (h->pids)
			h->folders[i] = copy_trace(pids[i], &h->paths[2 * i]);
		name_process(h, i);
		open_process(h, i, out);
	}
	return true;
}

static const char *see_line(void *side, struct traceline *line, struct slice text)
{
	(void)text;
	return side_line(side, line);
}

static void put_source(struct out *out, const struct spans *spans, uint32_t source)
{
	out_visible_json(out, source == MAP_NONE ? (struct slice){"", 0} : spans->seen.names.all[source]);
}

/* The bdev I/O that an object of the same process is below; NULL: none. */
static const struct span *bdev_above(const struct spans *spans, const struct span *s)
{
	const uint32_t source = s->source;

	while (s && s->source == source && !spans_is_bdev_io(spans, s))
		s = s->parent;
	return s && s->source == source ? s : NULL;
}

/* The request of another process that a command has become; NULL: that is not known. */
static const struct span *request_below(const struct span *s)
{
	const struct span *child = s->child;

	while (child && child->source == s->source)
		child = child->next;
	return child;
}

/* The name of a bdev without its process. */
static void put_bdev(struct out *out, const struct span *io)
{
	struct slice name = spans_bdev(io);
	const char *at = io->is_far ? memrchr(name.p, '@', name.n) : NULL;

	out_visible_json(out, at ? slice_between(name.p, at) : name);
}

/* The legs by which a process was reached, the innermost one first. */
static void put_legs(struct out *out, const struct spans *spans, const struct span *s)
{
	for (; s; s = s->parent) {
		const struct span *io = s->is_remote ? bdev_above(spans, s) : NULL;

		if (!io || !spans_bdev(io).n)
			continue;
		out_text(out, ", leg ");
		put_bdev(out, io);
		out_text(out, " of ");
		put_source(out, spans, io->source);
	}
}

/* Names the place of a part. */
static void put_place(struct out *out, const struct spans *spans, const struct span *s, enum layer layer)
{
	const struct span *below = s->is_remote && layer == LAYER_NETWORK ? request_below(s) : NULL;
	const struct span *io = layer == LAYER_BDEV ? bdev_above(spans, s) : NULL;

	if (below) {
		out_text(out, "network between ");
		put_source(out, spans, s->source);
		out_text(out, " and ");
		put_source(out, spans, below->source);
	} else {
		out_text(out, layer == LAYER_DRIVE ? "drive or remote target" : spdk_layers[layer]);
		if (io && spans_bdev(io).n) {
			out_char(out, ' ');
			put_bdev(out, io);
		}
		out_text(out, " of ");
		put_source(out, spans, s->source);
	}
	put_legs(out, spans, s);
}

/* Adds time at the place in l->text. */
static void add_part(struct lives *l, uint64_t ns)
{
	uint32_t place = intern_add_below(&l->places, out_contents(&l->text), PLACES);
	struct request *r = &l->all[l->n - 1];
	struct part *last = r->n ? &l->parts[l->num_parts - 1] : NULL;

	if (last && last->place == place) {
		last->ns += ns;
		return;
	}
	l->parts = mem_room(l->parts, l->num_parts, &l->cap_parts);
	l->parts[l->num_parts++] = (struct part){place, ns};
	r->n++;
}

/* The process with this number in the spans; its absences. NULL: it is none of them. */
static const struct absences *absences_of(const struct lives *l, uint32_t source)
{
	for (size_t i = 0; source != MAP_NONE && i < l->hops->n; i++)
		if (slice_equal(l->hops->m.sides[i].name, l->spans.seen.names.all[source]))
			return &l->away[i];
	return NULL;
}

/*
 * How long a reactor was away in a part that waited for it: then it went on soon after, or was away again. Adds that to
 * the request, at the legs above a span, if it is wanted.
 */
static uint64_t absent(struct lives *l, const struct span *of, int64_t from, int64_t to, bool adds,
		       const struct span *legs)
{
	const struct absences *a = of ? absences_of(l, of->source) : NULL;
	uint64_t sum = 0;

	for (size_t i = a ? search_first(k, a->n, a->all[k].end > to) : 0; i-- > 0 && a->all[i].end > from;) {
		const struct absence *x = &a->all[i];
		int64_t begin = x->begin > from ? x->begin : from, end = x->end < to ? x->end : to;

		if (x->lcore != of->lcore || begin >= end)
			continue;
		if (to - end > SOON_NS + (x->end - x->begin) / 4)
			break;
		if (adds && x->why != MAP_NONE) {
			l->text.len = 0;
			out_slice(&l->text, l->places.all[x->why]);
			put_legs(&l->text, &l->spans, legs);
			add_part(l, end - begin);
		}
		sum += end - begin;
		to = begin;
	}
	return sum;
}

static void see_part(void *context, const struct span *s, enum layer layer, uint64_t from, uint64_t to)
{
	struct lives *l = context;
	const struct span *below;
	uint64_t away, away_below;

	/* the wire to a request is its command's */
	if (layer == LAYER_NETWORK && s->parent && s->parent->is_remote)
		s = s->parent;
	below = s->is_remote && layer == LAYER_NETWORK ? request_below(s) : NULL;
	away = absent(l, s, from, to, false, NULL);
	away_below = absent(l, below, from, to, false, NULL);
	/* a command leads to another process */
	if (away_below > away)
		away = absent(l, below, from, to, true, s);
	else
		absent(l, s, from, to, true, s->is_remote ? s->parent : s);
	if (to - from == away)
		return;
	l->text.len = 0;
	put_place(&l->text, &l->spans, s, layer);
	add_part(l, to - from - away);
}

static bool crosses(const struct span *s)
{
	bool found = s->is_remote;

	for (const struct span *child = s->child; child && !found; child = child->next)
		found = crosses(child);
	return found;
}

static void see_span(void *context, const struct span *s)
{
	struct lives *l = context;

	if (s->parent || s->admin.queue == ADMIN_QUEUE || life_is_longer(&l->spans, s) || s->cut || !crosses(s))
		return;
	if (l->n == REQUESTS) {
		l->dropped++;
		return;
	}
	l->all = mem_room(l->all, l->n, &l->cap);
	l->all[l->n++] = (struct request){.ns = life_ns(&l->spans, s), .first = l->num_parts};
	self_time_each(&l->spans, s, see_part, l);
}

/* The line as trace-match would have written it. */
static void complete_line(struct lives *l, const struct joint *j)
{
	struct traceline *line = j->line;

	line->ns = j->ns < 0 ? 0 : j->ns;
	line->has_ns = true;
	if (!line->source.p)
		line->source = l->hops->m.sides[j->source].name;
	if (j->related.n)
		line->related = j->related;
	if (!j->command.n)
		return;
	/* it is in an object of its own */
	traceline_add_arg(line, (struct slice){j->command.p - strlen("command\":"), strlen("command")}, NULL);
	line->args[line->num_args - 1].value = j->command;
	if (line->num_args == 1)
		line->args_end = j->command.p + j->command.n;
}

/* A line of offcpusnoop. */
static const char *see_absence(void *context, struct traceline *line, struct slice text)
{
	struct lives *l = context;
	const struct side *side = &l->hops->m.sides[l->reading];
	struct absences *a = &l->away[l->reading];
	double ns = (double)(side->last - side->first) / (double)(side->last_tsc - side->first_tsc);
	struct slice comm = traceline_string(traceline_arg(line, LIVE_COMM));
	uint64_t ticks, kernel_ns, lcore;

	(void)text;
	if (!slice_is(line->tpoint, LIVE_OFF_CPU) || !slice_starts(comm, "reactor_") ||
	    !number_decimal(slice_from(comm, strlen("reactor_")), &lcore) || !reactors_away(line, &ticks, &kernel_ns) ||
	    !ticks || side->last_tsc == side->first_tsc)
		return NULL;
	l->text.len = 0;
	out_text(&l->text, "reactor of ");
	out_visible_json(&l->text, side->name);
	out_text(&l->text, ": ");
	reactors_write_away(&l->text, line);
	a->all = mem_room(a->all, a->n, &a->cap);
	a->all[a->n++] = (struct absence){
		joint_time(l->joint, l->reading,
			   side->first + (int64_t)((double)(int64_t)(line->tsc - ticks - side->first_tsc) * ns)),
		joint_time(l->joint, l->reading,
			   side->first + (int64_t)((double)(int64_t)(line->tsc - side->first_tsc) * ns)),
		intern_add_below(&l->places, out_contents(&l->text), PLACES), lcore};
	return NULL;
}

static int by_end(const void *a, const void *b)
{
	const struct absence *x = a, *y = b;

	return x->end < y->end ? -1 : x->end > y->end;
}

/* Reads when reactors did not run. Returns whether all was good, else after messages. */
static bool read_absences(struct lives *l, struct hops *h)
{
	bool good = true;

	for (l->reading = 0; l->reading < h->n; l->reading++) {
		struct absences *a = &l->away[l->reading];

		if (!h->has_away[l->reading])
			continue;
		good &= each_traceline_run(&h->away[l->reading], see_absence, l) == 0;
		if (a->n)
			qsort(a->all, a->n, sizeof(*a->all), by_end);
	}
	return good;
}

static bool read_lives(struct lives *l, struct hops *h)
{
	bool good = true;
	struct joint j;

	l->spans = (struct spans){.types = &l->types, .states = &l->states, .context = l, .emit = see_span};
	spans_start(&l->spans);
	joint_start(&j, &h->m, h->again);
	l->joint = &j;
	l->away = mem_array(h->n, sizeof(*l->away));
	good &= read_absences(l, h);
	while (joint_next(&j)) {
		const char *error;

		complete_line(l, &j);
		error = spans_line(&l->spans, j.line);
		if (error) {
			warnx("%s: entry left out: %s", h->m.sides[j.source].file, error);
			good = false;
		}
	}
	joint_end(&j);
	spans_end(&l->spans);
	return good && !j.failed;
}

static int by_life(const void *a, const void *b)
{
	const struct request *x = a, *y = b;

	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

static int by_extra(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	double left = x->slow - x->fast, right = y->slow - y->fast;

	return left > right ? -1 : left < right;
}

static int by_all(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->all > y->all ? -1 : x->all < y->all;
}

/* Mean times of all places, by their numbers, then of requests as a whole. */
static struct place *sum_up(struct lives *l)
{
	struct place *places = mem_array(l->places.n + 1, sizeof(*places));
	size_t slow = l->n / SLOW + 1, fast = l->n / FAST + 1;

	qsort(l->all, l->n, sizeof(*l->all), by_life);
	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k <= l->all[i].n; k++) {
			const struct request *r = &l->all[i];
			const struct part *part = k < r->n ? &l->parts[r->first + k] : NULL;
			struct place *p = &places[part && part->place != MAP_NONE ? part->place : l->places.n];
			double ns = part ? part->ns : r->ns;

			if (part && p == &places[l->places.n])
				continue;
			p->all += ns / l->n;
			p->slow += i < slow ? ns / slow : 0;
			p->fast += i >= l->n - fast ? ns / fast : 0;
		}
	for (uint32_t i = 0; i < l->places.n; i++)
		places[i].name = i;
	return places;
}

static void put_row(struct columns *c, double part, double whole, struct slice name)
{
	const struct column columns[] = {
		{"", NULL, -7, columns_difference(part)},
		{"", NULL, -6, columns_percent(100 * part / whole)},
		{"", NULL, 0, columns_painted(name)},
	};

	if (part >= 0.005 * whole)
		columns_row(c, columns, COUNT(columns));
}

/* Returns whether a place is a cause. */
static bool put_lives(struct out *page, struct lives *l)
{
	struct place *places = sum_up(l), whole = places[l->places.n];
	/* where all take long, the slowest ones do not differ */
	bool differ = whole.slow >= FLOOR_TIMES * whole.fast, found;
	double total = differ ? whole.slow - whole.fast : whole.all, most;
	struct columns c = {.out = page, .terminal.width = TERMINAL_WIDE};

	qsort(places, l->places.n, sizeof(*places), differ ? by_extra : by_all);
	most = differ ? places[0].slow - places[0].fast : places[0].all;
	found = most >= FLOOR_DEVICE_NS && most >= total / FLOOR_SHARE;
	out_text(page, found ? "cause: " : "nothing stands out: most is in ");
	out_slice(page, l->places.all[places[0].name]);
	out_printf(page, ", %.0f %% of ", 100 * most / total);
	out_text(page, differ ? "what the slowest requests take longer\n" : "the time of all requests\n");
	out_printf(page, "%zu request%s cross processes; the mean is ", l->n, l->n == 1 ? "" : "s");
	out_duration_text(page, whole.all);
	out_printf(page, ", of the slowest %d %% ", 100 / SLOW);
	out_duration_text(page, whole.slow);
	out_printf(page, ", of the fastest %d %% ", 100 / FAST);
	out_duration_text(page, whole.fast);
	out_printf(page, "\n\nwhere %s time is\n", differ ? "the extra" : "the");
	for (uint32_t i = 0; i < l->places.n && i < SHOWN; i++)
		put_row(&c, differ ? places[i].slow - places[i].fast : places[i].all, total,
			l->places.all[places[i].name]);
	columns_end(&c);
	if (l->dropped)
		out_printf(page, "not counted: %" PRIu64 " requests, which there are too many of\n", l->dropped);
	free(places);
	return found;
}

static void lives_free(struct lives *l, size_t n)
{
	spans_free(&l->spans);
	intern_free(&l->types);
	intern_free(&l->states);
	intern_free(&l->places);
	for (size_t i = 0; l->away && i < n; i++)
		free(l->away[i].all);
	free(l->away);
	free(l->all);
	free(l->parts);
	out_close(&l->text);
}

bool hops_write(struct hops *h, struct out *page, bool *found)
{
	static struct lives l;
	bool good = true;

	l.hops = h;
	l.text.fd = OUT_MEMORY;
	for (size_t i = 0; i < h->n; i++) {
		good &= each_traceline_run(&h->files[i], see_line, &h->m.sides[i]) == 0;
		side_end(&h->m.sides[i]);
	}
	matching_run(&h->m);
	good &= read_lives(&l, h);
	/* without a part, no time has a place */
	*found = l.num_parts && put_lives(page, &l);
	if (!l.num_parts)
		out_text(page,
			 "no request crosses processes: are these traces of the same time, with the groups nvme_tcp, "
			 "nvmf_tcp and bdev?\n");
	out_char(page, '\n');
	matching_write(page, &h->m, "of these processes are known as requests");
	out_char(page, '\n');
	for (size_t i = 0; i < h->n; i++) {
		out_text(page, "see: trace-report ");
		if (h->pids)
			out_printf(page, "-p %d", h->pids[i]);
		else
			out_word(page, slice_of(h->folders[i]));
		out_char(page, '\n');
	}
	good &= l.num_parts > 0;
	lives_free(&l, h->n);
	return good;
}

void hops_free(struct hops *h)
{
	for (size_t i = 0; i < h->n && h->m.sides; i++) {
		side_free(&h->m.sides[i]);
		free(h->paths[2 * i]);
		free(h->paths[2 * i + 1]);
	}
	for (size_t i = 0; i < h->n && h->are_owned; i++)
		free(h->folders[i]);
	if (h->are_owned)
		free(h->folders);
	free(h->m.sides);
	free(h->paths);
	free(h->files);
	free(h->again);
	free(h->away);
	free(h->has_away);
	matching_free(&h->m);
	*h = (struct hops){};
}
