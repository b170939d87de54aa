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
#include "compare.h"
#include "count.h"
#include "io.h"
#include "joint.h"
#include "livenames.h"
#include "measured.h"
#include "mem.h"
#include "number.h"
#include "page.h"
#include "process.h"
#include "reactors.h"
#include "recording.h"
#include "search.h"
#include "tally.h"

enum {
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
	struct measured measured;
	const struct hops *hops;
	struct intern places;
	struct requests requests;
	struct life {
		size_t first, n; /* its parts */
	} * all;                 /* by request */
	size_t n, cap;
	struct part {
		uint32_t place;
		uint64_t ns;
	} * parts;
	size_t num_parts, cap_parts;
	int64_t covered; /* from then on, absences of all processes are known that have any */
	struct out text; /* in memory */
	struct absences {
		struct absence *all;
		size_t n, cap;
	} * away; /* of each process */
	const struct joint *joint;
	size_t reading; /* the process whose absences are read */
};

/* The time of slow requests at a place, less that of as many fast ones like them. */
struct place {
	double ns;
	uint64_t n; /* slow ones that spent a quarter of their life there; of those that are alike, any time */
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
	struct life *r = &l->all[l->n - 1];
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
		if (slice_equal(l->hops->m.sides[i].name, l->measured.spans.seen.names.all[source]))
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
			put_legs(&l->text, &l->measured.spans, legs);
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
	put_place(&l->text, &l->measured.spans, s, layer);
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
	const struct spans *spans = &l->measured.spans;

	if (s->parent || s->admin.queue == ADMIN_QUEUE || life_is_longer(spans, s) || s->cut || !crosses(s))
		return;
	measured_span(&l->measured, s);
	requests_add(&l->requests, measured_line(&l->measured, 0), (struct requests_role){.wanted = true});
	if (l->requests.dropped)
		return;
	l->requests.all[l->n].covered = (int64_t)s->first >= l->covered;
	l->all = mem_room(l->all, l->n, &l->cap);
	l->all[l->n++] = (struct life){.first = l->num_parts};
	self_time_each(spans, s, see_part, l);
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
		if (!a->n)
			continue;
		qsort(a->all, a->n, sizeof(*a->all), by_end);
		l->covered = a->all->end > l->covered ? a->all->end : l->covered;
	}
	return good;
}

static bool read_lives(struct lives *l, struct hops *h)
{
	bool good = true;
	struct joint j;

	l->measured = (struct measured){.context = l, .emit = see_span};
	measured_start(&l->measured);
	joint_start(&j, &h->m, h->again);
	l->joint = &j;
	l->away = mem_array(h->n, sizeof(*l->away));
	good &= read_absences(l, h);
	while (joint_next(&j)) {
		const char *error;

		complete_line(l, &j);
		error = spans_line(&l->measured.spans, j.line);
		if (error) {
			warnx("%s: entry left out: %s", h->m.sides[j.source].file, error);
			good = false;
		}
	}
	joint_end(&j);
	measured_end(&l->measured);
	return good && !j.failed;
}

static int by_time(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

/* The slow requests of a set, and where their time is, most first. */
struct extra {
	enum compare_set set;
	uint64_t n;
	double life, fast; /* fast: of as many fast ones like them; both in all */
	struct place *places;
	bool proves;
};

/* Adds the time of a request to the places where it was, `times` times. */
static void add_places(const struct lives *l, struct extra *slow, uint32_t request, double times)
{
	const struct life *life = &l->all[request];
	const uint64_t ns = l->requests.all[request].life;

	*(times > 0 ? &slow->life : &slow->fast) += (double)ns * (times > 0 ? 1 : -times);
	for (size_t i = life->first; i < life->first + life->n; i++) {
		struct place *place = &slow->places[l->parts[i].place == MAP_NONE ? l->places.n : l->parts[i].place];

		place->ns += (double)l->parts[i].ns * times;
		place->n += times > 0 && (slow->set == SET_ALIKE || l->parts[i].ns >= ns / FLOOR_TIMES);
	}
}

/* As findings.c judges what only a comparison shows. */
static bool is_cause(const struct extra *slow, const struct compare *c)
{
	const struct place *most = slow->places;

	return floor_matters(most->ns, slow->n, (double)c->total) &&
	       most->ns >= (double)FLOOR_DEVICE_NS * (most->n ? most->n : 1) &&
	       most->ns >= (slow->life - slow->fast) / FLOOR_SHARE;
}

static enum compare_set set_of(const struct compare *c, size_t i)
{
	if (c->set_of[i] == SET_TAIL && !c->tail_is_slow)
		return SET_REST;
	return c->set_of[i] < SET_GROUP && c->classes[c->class_of[i]].is_alike ? SET_ALIKE : c->set_of[i];
}

static struct extra sum_up(const struct lives *l, const struct compare *c, enum compare_set set)
{
	struct extra slow = {.set = set, .places = mem_array(l->places.n + 1, sizeof(*slow.places))};
	/* by class: its fast requests, and the slow ones that are compared with them */
	uint64_t *fast = mem_array(c->num_classes, sizeof(*fast)), *of = mem_array(c->num_classes, sizeof(*of));

	for (size_t i = 0; i < c->n; i++) {
		fast[c->class_of[i]] += set != SET_ALIKE && c->set_of[i] == SET_FAST;
		of[c->classes[c->class_of[i]].other] += set_of(c, i) == set;
	}
	for (size_t i = 0; i < c->n; i++) {
		uint32_t class = c->class_of[i];

		if (set_of(c, i) == set)
			add_places(l, &slow, c->order[i], 1);
		else if (set != SET_ALIKE && c->set_of[i] == SET_FAST)
			add_places(l, &slow, c->order[i], -(double)of[class] / (double)fast[class]);
		slow.n += set_of(c, i) == set;
	}
	for (uint32_t i = 0; i < l->places.n; i++)
		slow.places[i].name = i;
	qsort(slow.places, l->places.n, sizeof(*slow.places), by_time);
	slow.proves = slow.n && is_cause(&slow, c);
	free(fast);
	free(of);
	return slow;
}

/* The set with the cause that takes most time; else the one with most extra time; else those that are alike. */
static struct extra find_slow(const struct lives *l, const struct compare *c)
{
	struct extra best = {};

	for (enum compare_set set = SET_GROUP; set < SETS; set++) {
		struct extra slow = sum_up(l, c, set);
		bool is_better = slow.proves != best.proves ? slow.proves
				 : slow.proves              ? slow.places->ns > best.places->ns
				 : set == SET_ALIKE         ? !best.n
							    : slow.life - slow.fast > best.life - best.fast;

		if (is_better || !best.places) {
			free(best.places);
			best = slow;
		} else {
			free(slow.places);
		}
	}
	return best;
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

static void put_duration(struct out *out, double ns)
{
	out_duration_text(out, facts_ns(ns / 1e3));
}

/* more: what the slow ones take longer, or all where nothing is slow; all: the requests. */
static void put_lives(struct out *page, const struct lives *l, const struct extra *slow, double more, size_t all)
{
	const bool is_alike = slow->set == SET_ALIKE;
	struct columns c = {.out = page, .terminal.width = TERMINAL_WIDE};

	out_text(page, slow->proves ? "cause: " : "nothing stands out: most is in ");
	out_slice(page, l->places.all[slow->places->name]);
	out_printf(page, ", %.0f %% of ", 100 * slow->places->ns / more);
	out_text(page, is_alike ? "the time of all requests\n" : "what the slow requests take longer\n");
	out_printf(page, "%zu request%s cross processes", all, all == 1 ? "" : "s");
	if (is_alike)
		out_text(page, ", mean ");
	else
		out_printf(page, "; %" PRIu64 " are slow, and take ", slow->n);
	put_duration(page, slow->life / slow->n);
	if (!is_alike) {
		out_text(page, ", the fast ones like them ");
		put_duration(page, slow->fast / slow->n);
	}
	out_printf(page, "\n\nwhere %s time is\n", is_alike ? "the" : "the extra");
	for (uint32_t i = 0; i < l->places.n && i < SHOWN; i++)
		put_row(&c, slow->places[i].ns / slow->n, more / slow->n, l->places.all[slow->places[i].name]);
	columns_end(&c);
	page_put_counted(page, l->n - all, TALLY_OLDER);
	page_put_counted(page, l->requests.dropped, REQUESTS_DROPPED);
}

/* Returns whether a place is a cause. */
static bool explain(struct out *page, struct lives *l)
{
	uint32_t *order = mem_array(l->n, sizeof(*order));
	struct compare compare = {};
	struct extra slow;
	size_t n;

	for (size_t i = 0; i < l->n; i++)
		order[i] = i;
	n = requests_window(&l->requests, order, l->n);
	compare_run(&compare, &l->requests, order, n, &(struct compare_options){.budget_ns = FLOOR_DEVICE_NS});
	slow = find_slow(l, &compare);
	put_lives(page, l, &slow, slow.life - slow.fast, n);
	free(slow.places);
	compare_free(&compare);
	free(order);
	return slow.proves;
}

static void lives_free(struct lives *l, size_t n)
{
	measured_free(&l->measured);
	requests_free(&l->requests);
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
	*found = l.num_parts && explain(page, &l);
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
