/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <inttypes.h>
#include <stdlib.h>

#include "json.h"
#include "owed.h"
#include "traits.h"

/* The finding that a last line may call the cause has at least this share of the extra time. */
static const double CAUSE_SHARE = 0.25;

/* Rows of a table in text. */
enum { TRAIT_ROWS = 5, OWED_ROWS = 8 };

/* Of the first column. */
enum { WIDTH = 60, OWED_WIDTH = 40 };

static const char *const sets[SETS] = {[SET_GROUP] = "group", [SET_TAIL] = "tail", [SET_ALIKE] = "alike"};

/* What the last line says: a text before and after who it was, and what is usually done. */
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
static void put_name(struct out *out, const struct requests *r, uint32_t name)
{
	struct slice text = json_decode(requests_name(r, name));

	out_visible(out, text);
	free((char *)text.p);
}

static void put_who(struct out *out, const struct requests *r, const struct finding *f)
{
	if (f->cause != CAUSE_SILENT)
		put_name(out, r, f->who);
	else if (f->who == MAP_NONE)
		out_text(out, "an lcore");
	else
		out_printf(out, "lcore %" PRIu64, r->lcores[f->who].number);
}

/* The set that the tables are about: that of the first finding, else the one that is slowest. */
static enum compare_set main_set(const struct findings *f, const struct compare *c)
{
	if (f->n)
		return f->all[0].set;
	if (c->counts[SET_GROUP] && (!c->tail_is_slow || c->excess[SET_GROUP] > c->excess[SET_TAIL]))
		return SET_GROUP;
	return c->tail_is_slow ? SET_TAIL : SET_ALIKE;
}

/* The mean of a sum, rounded towards 0. */
static int64_t mean(__int128 sum, uint64_t n)
{
	return n ? sum / (__int128)n : 0;
}

/* The mean of the fast ones, in ns, so that it and the mean of what is more add up to that of the slow ones. */
static int64_t fast_mean(const struct findings_extra *extra)
{
	return mean(extra->slow_ns, extra->slow) -
	       mean((__int128)extra->slow_ns - (__int128)extra->fast_ns, extra->slow);
}

/* The means of the layers, in ns. The largest one gets what rounding leaves, so they add up to the mean of all. */
static int64_t layer_means(const struct findings_extra *extra, int64_t means[LAYERS])
{
	int64_t all = mean((__int128)extra->slow_ns - (__int128)extra->fast_ns, extra->slow), left = all;
	unsigned largest = 0;

	for (unsigned i = 0; i < LAYERS; i++) {
		means[i] = mean(extra->layers[i], extra->slow);
		left -= means[i];
		largest = means[i] > means[largest] ? i : largest;
	}
	means[largest] += left;
	return all;
}

static void put_ns(struct out *out, int64_t ns, int width)
{
	out_printf(out, "%*.3f", width, ns / 1000.0);
}

static void put_group(struct out *out, const struct requests *r, const struct print_options *options)
{
	if (!options->group)
		return;
	out_text(out, "= ");
	out_visible(out, slice_of(options->group));
	out_char(out, '=');
	put_name(out, r, options->value);
	out_char(out, '\n');
}

static void put_summary(struct out *out, const struct findings_extra *extra, const struct compare *c,
			enum compare_set set, const struct print_options *options)
{
	uint64_t all = 0;
	int64_t slow = mean(extra->slow_ns, extra->slow), fast = fast_mean(extra);

	for (enum compare_set s = SET_FAST; s < SETS; s++)
		all += options->against && s == SET_FAST ? 0 : c->counts[s];
	out_printf(out, "%" PRIu64 " requests", all);
	if (!all) {
		out_text(out, ": nothing to compare\n");
		return;
	}
	if (set == SET_ALIKE) {
		out_text(out, extra->slow == all ? ", all alike; they took " : "; those alike took ");
		put_ns(out, slow, 0);
		out_text(out, " us each\n");
		return;
	}
	out_printf(out, options->against ? "; %" PRIu64 " took " : ", %" PRIu64 " slow ones took ", extra->slow);
	put_ns(out, slow, 0);
	out_text(out,
		 options->against ? " us each,\nthose of the earlier trace " : " us each,\nthe fast ones like them ");
	put_ns(out, fast, 0);
	out_text(out, " us: ");
	put_ns(out, slow > fast ? slow - fast : fast - slow, 0);
	out_text(out, slow >= fast ? " us more\n" : " us less\n");
}

static void put_row(struct out *out, const char *indent, const char *name, int64_t ns, int64_t all)
{
	double percent = all ? 100.0 * ns / all : 0;

	if (percent < 0.5 && percent > -0.5)
		return;
	out_printf(out, "  %s%-*s ", indent, (int)(20 - strlen(indent)), name);
	put_ns(out, ns, 14);
	out_printf(out, " %6.0f\n", percent);
}

static void put_layers(struct out *out, const struct findings_extra *extra, enum compare_set set)
{
	int64_t means[LAYERS], all = layer_means(extra, means), shown = 0;
	bool used[LAYERS] = {};

	out_printf(out, "\n%-32s %4s %6s\n", set == SET_ALIKE ? "where the time is" : "where the extra time is", "us",
		   "%");
	for (unsigned row = 0; row < LAYERS; row++) {
		unsigned largest = LAYERS;

		for (unsigned i = 0; i < LAYERS; i++)
			if (!used[i] && (largest == LAYERS || means[i] > means[largest]))
				largest = i;
		used[largest] = true;
		put_row(out, "", spdk_layers[largest], means[largest], all);
		(void)shown;
	}
	put_row(out, "  ", "of it off_cpu", mean(extra->off_cpu, extra->slow), all);
	put_row(out, "  ", "of it irq", mean(extra->irq, extra->slow), all);
	put_row(out, "  ", "of it disk", mean(extra->disk, extra->slow), all);
}

static void put_trait(struct out *out, const struct requests *r, const struct trait_value *v)
{
	out_text(out, traits_names[v->trait]);
	out_char(out, ' ');
	switch (v->trait) {
	case TRAIT_LCORE:
		out_u64(out, r->lcores[v->value].number);
		break;
	case TRAIT_SIZE:
		out_u64(out, v->value);
		break;
	case TRAIT_REGION:
		out_printf(out, "from LBA %" PRIu64 " of ", (v->value & UINT32_MAX) << 16);
		put_name(out, r, v->value >> 32);
		break;
	case TRAIT_DEPTH:
		out_printf(out, v->value ? "from %" PRIu64 " to %" PRIu64 : "0", (uint64_t)1 << (v->value - 1),
			   ((uint64_t)1 << v->value) - 1);
		break;
	default:
		put_name(out, r, v->value);
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

/* Values that select the same requests are one row, with equals signs between them. */
static size_t put_equal_traits(struct out *out, const struct requests *r, const struct traits *t, size_t i)
{
	struct out text = {.fd = OUT_MEMORY}, value = {.fd = OUT_MEMORY};
	size_t end = i;

	for (; end < t->n && t->all[end].all == t->all[i].all; end++) {
		value.len = 0;
		put_trait(&value, r, &t->all[end]);
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
	out_printf(out, " %5.0f %% %5.0f %%\n", 100.0 * t->all[i].slow / t->slow, 100.0 * t->all[i].others / t->others);
	out_close(&text);
	out_close(&value);
	return end;
}

static void put_traits(struct out *out, const struct requests *r, const struct traits *t)
{
	if (!t->n)
		return;
	out_printf(out, "\n%-*s %7s %7s\n", WIDTH, "what the slow ones have in common", "slow", "others");
	for (size_t i = 0, row = 0; i < t->n && row < TRAIT_ROWS; row++)
		i = put_equal_traits(out, r, t, i);
}

static void put_what(struct out *out, const struct requests *r, const struct owed_row *row)
{
	switch (row->what) {
	case BLAME_BUFFERS:
		out_text(out, "buffers");
		break;
	case BLAME_LCORE:
		if (row->of == MAP_NONE)
			out_text(out, "its lcore");
		else
			out_printf(out, "lcore %" PRIu64, r->lcores[row->of].number);
		break;
	case BLAME_SOCKET:
		out_text(out, "its socket");
		break;
	case BLAME_DATA:
		out_text(out, "its data");
		break;
	case BLAME_BDEV:
		out_text(out, "bdev ");
		put_name(out, r, row->of);
	}
}

static const char *const haves[] = {
	[BLAME_BUFFERS] = "held by",  [BLAME_LCORE] = "busy with", [BLAME_SOCKET] = "not read by",
	[BLAME_DATA] = "not sent by", [BLAME_BDEV] = "of",
};

/* A row for what a host waited for, with the one that had most of it. all: the time, in ns. */
static void put_owed_row(struct out *out, const struct requests *r, const struct owed_row *most, unsigned __int128 all)
{
	struct out text = {.fd = OUT_MEMORY};

	out_text(&text, "  ");
	put_name(&text, r, most->victim);
	while (text.len < 14)
		out_char(&text, ' ');
	out_text(&text, " waited for ");
	put_what(&text, r, most);
	put_padded(out, out_contents(&text), OWED_WIDTH);
	out_printf(out, " %10.3f  %3.0f %% ", all / 1e6, 100.0 * most->ns / all);
	if (most->who == MAP_NONE) {
		out_text(out, "nobody");
	} else {
		out_printf(out, "%s ", haves[most->what]);
		put_name(out, r, most->who);
	}
	out_char(out, '\n');
	out_close(&text);
}

static void put_owed(struct out *out, const struct requests *r, const struct owed *o)
{
	unsigned __int128 rest = 0;

	if (o->n)
		out_printf(out, "\n%-*s %10s\n", OWED_WIDTH, "who waited for whom", "ms");
	for (size_t i = 0, end, row = 0; i < o->n; i = end, row++) {
		unsigned __int128 all = 0;

		for (end = i; end < o->n && owed_same(&o->all[i], &o->all[end]); end++)
			all += o->all[end].ns;
		if (row < OWED_ROWS)
			put_owed_row(out, r, &o->all[i], all);
		else
			rest += all;
	}
	if (rest)
		out_printf(out, "%-*s %10.3f\n", OWED_WIDTH, "  all others", rest / 1e6);
}

static void put_cause(struct out *out, const struct requests *r, const struct finding *f, const char *word)
{
	const struct saying *s = &sayings[f->cause];

	out_printf(out, "%s: %s", word, s->before);
	if (f->who == MAP_NONE && f->cause != CAUSE_SILENT)
		out_text(out, f->cause == CAUSE_BELOW || f->cause == CAUSE_TARGET ? "" : "somebody");
	else
		put_who(out, r, f);
	out_printf(out, "%s (%.0f %%)%s\n", s->after, 100 * f->share < 100 ? 100 * f->share : 100,
		   f->bursts == 1 && findings_is_momentary(f->cause) ? ", once" : "");
}

static void put_cure(struct out *out, const struct requests *r, const struct finding *f)
{
	out_text(out, "  see:   trace-spans -s -k us=");
	out_us(out, r->all[f->example].start);
	out_printf(out, "\n  often: %s\n", sayings[f->cause].cure);
}

/* The last lines: the cause if the lines prove one; else where most of the time is. */
static void put_findings(struct out *out, const struct requests *r, const struct findings *f, enum compare_set set,
			 uint64_t max)
{
	const struct findings_extra *extra = &f->extra[set];
	int64_t means[LAYERS], all = layer_means(extra, means);
	unsigned largest = 0;

	out_char(out, '\n');
	if (f->n && f->all[0].share >= CAUSE_SHARE) {
		put_cause(out, r, &f->all[0], "cause");
		put_cure(out, r, &f->all[0]);
	} else {
		for (unsigned i = 1; i < LAYERS; i++)
			largest = means[i] > means[largest] ? i : largest;
		out_printf(out, "no single cause: most of the %stime is in %s (%.0f %%)\n",
			   set == SET_ALIKE ? "" : "extra ", spdk_layers[largest],
			   all ? 100.0 * means[largest] / all : 0.0);
	}
	for (size_t i = f->n && f->all[0].share >= CAUSE_SHARE; i < f->n && i < max; i++)
		put_cause(out, r, &f->all[i], "also");
}

void print_text(struct out *out, const struct findings *f, struct blame *b, const struct compare *c,
		const struct print_options *options)
{
	enum compare_set set = main_set(f, c);
	const struct findings_extra *extra = &f->extra[set];
	struct traits traits = {};
	struct owed owed = {};

	put_group(out, b->requests, options);
	put_summary(out, extra, c, set, options);
	if (!extra->slow)
		return;
	put_layers(out, extra, set);
	/* those that are alike are not slow */
	if (set != SET_ALIKE)
		traits_find(&traits, c, set, extra->bursts);
	put_traits(out, b->requests, &traits);
	owed_find(&owed, b, c, set);
	put_owed(out, b->requests, &owed);
	put_findings(out, b->requests, f, set, options->max ? options->max : f->n);
	traits_free(&traits);
	owed_free(&owed);
}

static void put_json_name(struct out *out, const char *key, const struct requests *r, uint32_t name)
{
	struct slice raw = requests_name(r, name);

	if (name == MAP_NONE)
		return;
	out_printf(out, ",\"%s\":\"", key);
	out_utf8(out, raw);
	out_char(out, '"');
}

static void put_json_layers(struct out *out, const struct findings_extra *extra)
{
	int64_t means[LAYERS];

	layer_means(extra, means);
	for (unsigned i = 0; i < LAYERS; i++)
		out_printf(out, "%s\"%s\":%.3f", i ? "," : ",\"layers\":{", spdk_layers[i], means[i] / 1000.0);
	out_char(out, '}');
}

static const char *const whats[] = {
	[BLAME_BUFFERS] = "buffers", [BLAME_LCORE] = "lcore", [BLAME_SOCKET] = "socket",
	[BLAME_DATA] = "data",       [BLAME_BDEV] = "bdev",
};

/* All rows of who waited for whom, which add up to the waits. */
static void put_json_waits(struct out *out, struct blame *b, const struct compare *c, enum compare_set set)
{
	struct owed owed = {};

	owed_find(&owed, b, c, set);
	out_text(out, ",\"waits\":[");
	for (size_t i = 0; i < owed.n; i++) {
		const struct owed_row *row = &owed.all[i];

		out_printf(out, "%s{\"for\":\"%s\"", i ? "," : "", whats[row->what]);
		if (row->what == BLAME_LCORE && row->of != MAP_NONE)
			out_printf(out, ",\"lcore\":%" PRIu64, b->requests->lcores[row->of].number);
		if (row->what == BLAME_BDEV)
			put_json_name(out, "bdev", b->requests, row->of);
		put_json_name(out, "victim", b->requests, row->victim);
		put_json_name(out, "who", b->requests, row->who);
		out_text(out, ",\"us\":");
		out_us(out, row->ns);
		out_char(out, '}');
	}
	out_char(out, ']');
	owed_free(&owed);
}

/* Whether no finding before this one is about its set. */
static bool is_first_of_set(const struct findings *f, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (f->all[k].set == f->all[i].set)
			return false;
	return true;
}

void print_json(struct out *out, const struct findings *f, struct blame *b, const struct compare *c,
		const struct print_options *options)
{
	const struct requests *r = b->requests;

	for (size_t i = 0; i < f->n && (!options->max || i < options->max); i++) {
		const struct finding *finding = &f->all[i];
		const struct findings_extra *extra = &f->extra[finding->set];

		out_char(out, '{');
		if (options->group) {
			out_text(out, "\"group\":{");
			out_json(out, slice_of(options->group));
			out_text(out, ":\"");
			out_slice(out, requests_name(r, options->value));
			out_text(out, "\"},");
		}
		out_printf(out, "\"cause\":\"%s\"", blame_names[finding->cause]);
		if (finding->cause == CAUSE_SILENT) {
			out_text(out, ",\"who\":\"");
			put_who(out, r, finding);
			out_char(out, '"');
		} else {
			put_json_name(out, "who", r, finding->who);
		}
		put_json_name(out, "victim", r, finding->victim);
		out_printf(out, ",\"kind\":\"%s\",\"excess_us\":%.3f,\"share\":%.3f",
			   options->against ? "against" : sets[finding->set], finding->ns / 1000 / extra->slow,
			   finding->share);
		out_printf(out, ",\"slow_us\":%.3f,\"fast_us\":%.3f", mean(extra->slow_ns, extra->slow) / 1000.0,
			   fast_mean(extra) / 1000.0);
		out_printf(out, ",\"slow\":%" PRIu64 ",\"others\":%" PRIu64 ",\"n\":%" PRIu64 ",\"bursts\":%" PRIu64,
			   extra->slow, extra->others, finding->n, finding->bursts);
		out_text(out, ",\"example_us\":");
		out_us(out, r->all[finding->example].start);
		put_json_layers(out, extra);
		if (is_first_of_set(f, i))
			put_json_waits(out, b, c, finding->set);
		out_text(out, "}\n");
	}
}
