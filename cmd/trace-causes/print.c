/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <inttypes.h>
#include <stdlib.h>

#include "json.h"
#include "means.h"
#include "owed.h"
#include "traits.h"

/* The finding that a last line may call the cause has at least this share of the extra time. */
static const double CAUSE_SHARE = 0.25;

/* Rows of a table in text. */
enum { TRAIT_ROWS = 5, OWED_ROWS = 8 };

/* Of the first column. */
enum { WIDTH = 60, OWED_WIDTH = 40 };

/* What the last line says: a text before and after the name, and what is usually done. */
static const struct saying {
	const char *before, *after, *cure;
} sayings[CAUSES] = {
	[CAUSE_BUFFER] = {"buffers, held by ", "", "iobuf_set_options --small-pool-count or --large-pool-count"},
	[CAUSE_HOST] = {"the data of host ", " comes late", "look at that host and its network"},
	[CAUSE_REPLY] = {"host ", " does not read its replies", "look at that host and its network"},
	[CAUSE_NETWORK] = {"the connection of host ", "", "look at its network"},
	[CAUSE_TARGET] = {"the target", "", "perf top -t REACTOR"},
	[CAUSE_BELOW] = {"what is below the target, which the trace does not show", "",
			 "rpc.py trace_enable_tpoint_group bdev, and record again"},
	[CAUSE_BDEV] = {"bdev ", " takes longer", "look at the device, or at the module, of this bdev"},
	[CAUSE_LEG] = {"leg ", " takes longer than the others", "look at the device of this bdev, or replace it"},
	[CAUSE_DRIVE] = {"the drive of ", " takes longer", "look at its health, its load and the way to it"},
	[CAUSE_DISK] = {"the disk below bdev ", "", "iostat -x; look at its health and its other users"},
	[CAUSE_REACTOR] = {"the lcore was busy with ", "", "more lcores, or fewer connections on this one"},
	[CAUSE_SILENT] = {"", " stood still, and was not off its CPU as far as is known",
			  "offcpusnoop; look for RPCs and modules that block"},
	[CAUSE_OFF_CPU] = {"the reactor was off its CPU: ", "",
			   "keep others off its CPU; calls that block off reactors"},
	[CAUSE_IRQ] = {"interrupts on the reactor's CPU: ", "", "move them to other CPUs"},
	[CAUSE_RATE_LIMIT] = {"a rate limit of bdev ", "", "rpc.py bdev_set_qos_limit"},
	[CAUSE_QUEUE] = {"host ", " fills its queue: more may wait there",
			 "more queues, or nvmf_create_transport --max-queue-depth"},
	[CAUSE_NO_IO] = {"no I/O was started for bdev ", ": no bdev_io, or a pause",
			 "rpc.py bdev_set_options --bdev-io-pool-size"},
	[CAUSE_COPY] = {"first writes to clusters of ", "", "rpc.py bdev_lvol_inflate, or allocate it in advance"},
	[CAUSE_RETRY] = {"the path of bdev ", " failed, and its I/O was retried", "look at the path to it"},
	[CAUSE_UNKNOWN] = {"what was before the first entry", "", "record more"},
};

/* Names are as written in JSON: decoded, and for terminals. */
static void put_name(struct out *out, const struct tally *t, uint32_t name)
{
	struct slice text = json_decode(tally_name(t, name));

	out_visible(out, text);
	free((char *)text.p);
}

void print_lcore(struct out *out, const struct tally *t, uint32_t name)
{
	struct slice text = tally_name(t, name);
	const char *blank = memchr(text.p, ' ', text.n);

	out_slice(out, blank ? slice_between(text.p, blank) : text);
}

static void put_who(struct out *out, const struct tally *t, const struct finding *f)
{
	uint32_t who = f->cause->key.a;

	if (findings_cause(f) == CAUSE_SILENT && who != MAP_NONE) {
		out_text(out, "lcore ");
		print_lcore(out, t, who);
	} else if (who != MAP_NONE) {
		put_name(out, t, who);
	} else if (findings_cause(f) == CAUSE_SILENT) {
		out_text(out, "an lcore");
	} else if (findings_cause(f) != CAUSE_BELOW && findings_cause(f) != CAUSE_TARGET) {
		out_text(out, "somebody");
	}
}

static void put_ns(struct out *out, __int128 ns, int width)
{
	out_printf(out, "%*.3f", width, (double)ns / 1000.0);
}

static void put_group(struct out *out, const struct findings *f, const struct print_options *options)
{
	if (!options->group)
		return;
	out_text(out, "= ");
	out_visible(out, slice_of(options->group));
	out_char(out, '=');
	put_name(out, f->tally, f->group->name);
	out_char(out, '\n');
}

static const char *one_or_many(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

static void put_alike(struct out *out, uint64_t n, uint64_t all, const struct means *m)
{
	if (n < all)
		out_text(out, one_or_many(n, "; one took ", "; those alike took "));
	else
		out_text(out, one_or_many(n, "; it took ", ", all alike; they took "));
	put_ns(out, m->slow, 0);
	out_text(out, one_or_many(n, " us\n", " us each\n"));
}

static void put_summary(struct out *out, const struct findings *f, enum slow slow, const struct means *m,
			const struct print_options *options)
{
	uint64_t n = f->group->sets[slow].slow.n, all = f->group->n;

	out_printf(out, "%" PRIu64 " %s", all, one_or_many(all, "request", "requests"));
	if (f->tally->traces > 1)
		out_printf(out, " of %" PRIu64 " traces", f->tally->traces);
	if (!all) {
		out_text(out, ": nothing to compare\n");
		return;
	}
	if (!n) {
		out_text(out, ": none is slow\n");
		return;
	}
	if (slow == SLOW_ALIKE) {
		put_alike(out, n, all, m);
		return;
	}
	if (options->against)
		out_printf(out, "; %" PRIu64 " took ", n);
	else
		out_printf(out, ", %" PRIu64 " slow %s took ", n, one_or_many(n, "one", "ones"));
	put_ns(out, m->slow, 0);
	out_text(out, one_or_many(n, " us,\n", " us each,\n"));
	if (options->against)
		out_text(out, "those of the earlier trace ");
	else
		out_text(out, one_or_many(n, "the fast ones like it ", "the fast ones like them "));
	put_ns(out, m->fast, 0);
	out_text(out, " us: ");
	put_ns(out, m->more >= 0 ? m->more : -m->more, 0);
	out_text(out, m->more >= 0 ? " us more\n" : " us less\n");
}

static void put_row(struct out *out, const char *indent, const char *name, __int128 ns, __int128 all)
{
	double percent = all ? 100.0 * (double)ns / (double)all : 0;

	if (percent < 0.5 && percent > -0.5)
		return;
	out_printf(out, "  %s%-*s ", indent, (int)(20 - strlen(indent)), name);
	put_ns(out, ns, 14);
	out_printf(out, " %6.0f\n", percent);
}

static void put_layers(struct out *out, const struct means *m, enum slow slow)
{
	static const char *const names[TALLY_OVERLAPS] = {"of it off_cpu", "of it irq", "of it disk"};
	bool used[LAYERS] = {};

	out_printf(out, "\n%-32s %4s %6s\n", slow == SLOW_ALIKE ? "where the time is" : "where the extra time is", "us",
		   "%");
	for (unsigned row = 0; row < LAYERS; row++) {
		unsigned largest = LAYERS;

		for (unsigned i = 0; i < LAYERS; i++)
			if (!used[i] && (largest == LAYERS || m->layers[i] > m->layers[largest]))
				largest = i;
		used[largest] = true;
		put_row(out, "", spdk_layers[largest], m->layers[largest], m->more);
	}
	for (unsigned i = 0; i < TALLY_OVERLAPS; i++)
		put_row(out, "  ", names[i], m->overlaps[i], m->more);
}

static void put_trait(struct out *out, const struct tally *t, const struct tally_key *value)
{
	/* where the name of the trait and a blank do not read well */
	static const char *const before[TRAITS] = {[TRAIT_OFF_CPU] = "off CPU: ",
						   [TRAIT_IRQ] = "irq: ",
						   [TRAIT_SILENT] = "lcore ",
						   [TRAIT_FULL] = "full queue of "};
	uint64_t number = value->c;

	out_text(out, before[value->what] ? before[value->what] : trait_names[value->what]);
	if (!before[value->what])
		out_char(out, ' ');
	switch (value->what) {
	case TRAIT_LCORE:
		print_lcore(out, t, value->a);
		break;
	case TRAIT_SILENT:
		print_lcore(out, t, value->a);
		out_text(out, " stood still");
		break;
	case TRAIT_SIZE:
		out_u64(out, number);
		break;
	case TRAIT_REGION:
		out_printf(out, "from LBA %" PRIu64 " of ", number << REQUESTS_REGION);
		put_name(out, t, value->a);
		break;
	case TRAIT_DEPTH:
		if (number < 2)
			out_u64(out, number);
		else
			out_printf(out, "from %" PRIu64 " to %" PRIu64, (uint64_t)1 << (number - 1),
				   ((uint64_t)1 << (number - 1)) * 2 - 1);
		break;
	default:
		put_name(out, t, value->a);
	}
}

/* Pads text to a column; what is wider has a line of its own. */
static void put_padded(struct out *out, struct slice text, size_t width)
{
	out_slice(out, text);
	if (text.n > width)
		out_char(out, '\n');
	for (size_t n = text.n > width ? 0 : text.n; n < width; n++)
		out_char(out, ' ');
}

/* Values that select the same requests are one row, with equals signs between them. Returns its end. */
static size_t put_equal_traits(struct out *out, const struct traits *t, size_t i)
{
	const struct tally_value *first = t->all[i];
	struct out text = {.fd = OUT_MEMORY}, value = {.fd = OUT_MEMORY};
	size_t end = i;

	for (; end < t->n && t->all[end]->hash == first->hash; end++) {
		value.len = 0;
		put_trait(&value, t->tally, &t->all[end]->key);
		if (end > i && text.len + value.len + strlen("   = ") > WIDTH) {
			out_slice(out, out_contents(&text));
			out_char(out, '\n');
			text.len = 0;
			out_text(&text, "    ");
		}
		out_text(&text, end == i ? "  " : " = ");
		out_slice(&text, out_contents(&value));
	}
	put_padded(out, out_contents(&text), WIDTH);
	out_printf(out, " %5.0f %% %5.0f %%\n", 100.0 * first->slow / t->set->slow.n,
		   100.0 * first->others / t->set->others);
	out_close(&text);
	out_close(&value);
	return end;
}

/* Seconds, with as many decimals as tell the two ends apart, but two at least. */
static void put_window(struct out *out, const struct tally_set *set)
{
	const struct tally_window *w = &set->window;
	struct out text = {.fd = OUT_MEMORY};
	double ns = (double)(w->end - w->begin);
	int decimals = 2;

	for (double unit = 1e8; decimals < 6 && ns < unit; unit /= 10)
		decimals++;
	out_printf(&text, "  between %.*f and %.*f s", decimals, (double)w->begin / 1e9, decimals,
		   (double)w->end / 1e9);
	put_padded(out, out_contents(&text), WIDTH);
	out_printf(out, " %5.0f %% %5.0f %%\n", 100.0 * w->slow / set->slow.n, 100.0 * w->others / set->others);
	out_close(&text);
}

static void put_traits(struct out *out, const struct tally *tally, uint32_t set)
{
	struct traits traits = {};

	traits_find(&traits, tally, set);
	if (traits.n || traits.has_window)
		out_printf(out, "\n%-*s %7s %7s\n", WIDTH, "what the slow ones have in common", "slow", "others");
	for (size_t i = 0, row = 0; i < traits.n && row < TRAIT_ROWS; row++)
		i = put_equal_traits(out, &traits, i);
	if (traits.has_window)
		put_window(out, traits.set);
	traits_free(&traits);
}

static void put_what(struct out *out, const struct tally *t, const struct tally_key *wait)
{
	switch ((enum blame_what)wait->what) {
	case BLAME_BUFFERS:
		out_text(out, "buffers");
		break;
	case BLAME_LCORE:
		out_text(out, wait->b == MAP_NONE ? "its lcore" : "lcore ");
		print_lcore(out, t, wait->b);
		break;
	case BLAME_SOCKET:
		out_text(out, "its socket");
		break;
	case BLAME_DATA:
		out_text(out, "its data");
		break;
	case BLAME_BDEV:
		out_text(out, "bdev ");
		put_name(out, t, wait->b);
		break;
	case BLAME_LEG:
		out_text(out, "leg ");
		put_name(out, t, wait->b);
		break;
	case BLAME_IO:
		out_text(out, "an I/O of ");
		put_name(out, t, wait->b);
		break;
	case BLAME_WHATS:
		break;
	}
}

static const char *const haves[BLAME_WHATS] = {
	[BLAME_BUFFERS] = "held by",
	[BLAME_LCORE] = "busy with",
	[BLAME_SOCKET] = "not read by",
	[BLAME_DATA] = "not sent by",
	[BLAME_BDEV] = "of",
	[BLAME_LEG] = "of",
	[BLAME_IO] = "of",
};

/* A row for what a host waited for, with the one that had most of it. */
static void put_owed_row(struct out *out, const struct tally *t, const struct owed_row *most)
{
	const struct tally_key *key = &most->wait->key;
	struct out text = {.fd = OUT_MEMORY};

	out_text(&text, "  ");
	put_name(&text, t, key->a);
	while (text.len < 14)
		out_char(&text, ' ');
	out_text(&text, " waited for ");
	put_what(&text, t, key);
	put_padded(out, out_contents(&text), OWED_WIDTH);
	out_printf(out, " %10.3f  %3.0f %% ", most->all / 1e6, 100.0 * most->wait->ns / most->all);
	if (key->c == MAP_NONE) {
		out_text(out, "nobody");
	} else {
		out_printf(out, "%s ", haves[key->what]);
		put_name(out, t, key->c);
	}
	out_char(out, '\n');
	out_close(&text);
}

static void put_owed(struct out *out, const struct tally *t, uint32_t set)
{
	unsigned __int128 rest = 0;
	struct owed owed = {};

	owed_find(&owed, t, set);
	if (owed.n)
		out_printf(out, "\n%-*s %10s\n", OWED_WIDTH, "who waited for whom", "ms");
	for (size_t i = 0, row = 0; i < owed.n; i = owed_end(&owed, i), row++)
		if (row < OWED_ROWS)
			put_owed_row(out, t, &owed.all[i]);
		else
			rest += owed.all[i].all;
	if (rest)
		out_printf(out, "%-*s %10.3f\n", OWED_WIDTH, "  all others", rest / 1e6);
	owed_free(&owed);
}

static void put_cause(struct out *out, const struct tally *t, const struct finding *f, const char *word)
{
	enum cause cause = findings_cause(f);

	out_printf(out, "%s: %s", word, sayings[cause].before);
	put_who(out, t, f);
	out_printf(out, "%s (%.0f %%)%s\n", sayings[cause].after, 100 * f->share < 100 ? 100 * f->share : 100,
		   f->cause->bursts == 1 && findings_is_momentary(cause) ? ", once" : "");
}

static void put_cure(struct out *out, const struct tally *t, const struct finding *f)
{
	const struct tally_example *example = &f->cause->example;

	out_text(out, "  see:   trace-spans -s -k us=");
	out_us(out, example->start);
	if (t->traces > 1)
		out_text(out, ", of one of the traces");
	out_printf(out, "\n  often: %s\n", sayings[findings_cause(f)].cure);
}

/* The last lines: the cause if the lines prove one; else where most of the time is. */
static void put_findings(struct out *out, const struct findings *f, enum slow slow, const struct means *m, uint64_t max)
{
	bool has_cause = f->n && f->all[0].share >= CAUSE_SHARE;
	enum layer largest = means_largest(m);

	out_char(out, '\n');
	if (has_cause) {
		put_cause(out, f->tally, &f->all[0], "cause");
		put_cure(out, f->tally, &f->all[0]);
	} else {
		out_printf(out, "no single cause: most of the %stime is in %s (%.0f %%)\n",
			   slow == SLOW_ALIKE ? "" : "extra ", spdk_layers[largest],
			   m->more ? 100.0 * m->layers[largest] / m->more : 0.0);
	}
	for (size_t i = has_cause; i < f->n && (!max || i < max); i++)
		put_cause(out, f->tally, &f->all[i], "also");
}

static void put_old(struct out *out, const struct tally_group *group)
{
	if (!group->old)
		return;
	out_printf(out, "\nin flight, and far older than these: %" PRIu64 ", up to ", group->old);
	out_us(out, group->oldest);
	out_text(out, " us\n  see:   trace-spans --open, trace-causes --open\n");
}

void print_text(struct out *out, const struct findings *f, const struct print_options *options)
{
	enum slow slow = findings_main(f);
	uint32_t set = tally_set_number(f->tally, f->group, slow);
	struct means m = means_of(&f->group->sets[slow]);

	put_group(out, f, options);
	put_summary(out, f, slow, &m, options);
	if (!f->group->sets[slow].slow.n) {
		put_old(out, f->group);
		return;
	}
	put_layers(out, &m, slow);
	put_traits(out, f->tally, set);
	put_owed(out, f->tally, set);
	put_findings(out, f, slow, &m, options->max);
	put_old(out, f->group);
}
