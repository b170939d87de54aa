/* SPDX-License-Identifier: BSD-3-Clause */
#include "encode.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>

#include "big.h"
#include "compare.h"
#include "count.h"
#include "interactive.h"
#include "json.h"
#include "lines.h"
#include "mem.h"
#include "minmax.h"

/* Limits of a count and of a sum of ns: what is computed from them does not overflow. */
static const uint64_t COUNT_MAX = 1ULL << 48;
static const unsigned __int128 SUM_MAX = (unsigned __int128)1 << 96;

/* A row's texts as in JSON. p is NULL: absent. */
struct row {
	struct slice row, group, kind, what, who, victim, of;
	bool has_number;
	uint64_t number;
};

static void put_member(struct out *out, const char *key, struct slice raw)
{
	if (!raw.p)
		return;
	out_printf(out, ",\"%s\":\"", key);
	out_utf8(out, raw);
	out_char(out, '"');
}

static void put_key(struct out *out, const struct row *row)
{
	out_text(out, "{\"row\":\"");
	out_slice(out, row->row);
	out_char(out, '"');
	put_member(out, "group", row->group);
	put_member(out, "kind", row->kind);
	put_member(out, "what", row->what);
	put_member(out, "who", row->who);
	put_member(out, "victim", row->victim);
	put_member(out, "of", row->of);
	if (row->has_number)
		out_printf(out, ",\"number\":%" PRIu64, row->number);
	out_text(out, "}\t{");
}

static void put_sum(struct out *out, const char *key, unsigned __int128 value)
{
	if (!value)
		return;
	/* after an opening brace there is no comma */
	if (out->buf[out->len - 1] != '{')
		out_char(out, ',');
	out_printf(out, "\"%s\":", key);
	big_write(out, value);
}

static void put_times(struct out *out, const char *key, const struct tally_times *times)
{
	out_printf(out, "%s\"%s\":{", out->buf[out->len - 1] == '{' ? "" : ",", key);
	put_sum(out, "n", times->n);
	put_sum(out, "life", times->life);
	for (unsigned i = 0; i < LAYERS; i++)
		put_sum(out, spdk_layers[i], times->layers[i]);
	for (unsigned i = 0; i < OVERLAPS; i++)
		put_sum(out, overlaps_name(i), times->overlaps[i]);
	out_text(out, out->buf[out->len - 1] == '{' ? "\"causes\":{" : ",\"causes\":{");
	for (unsigned i = 0; i < FACTS; i++)
		put_sum(out, fact_table[i].name, times->causes[i]);
	out_text(out, "}}");
}

/* Rows in memory, one after another, with where each starts. */
struct encoder {
	const struct tally *tally;
	struct out text;
	size_t *starts, n, cap;
};

/* Starts a row: its text up to the numbers. */
static struct out *start(struct encoder *e, const struct row *row)
{
	e->starts = mem_room(e->starts, e->n, &e->cap);
	e->starts[e->n++] = e->text.len;
	put_key(&e->text, row);
	return &e->text;
}

static void end(struct encoder *e)
{
	out_text(&e->text, "}\n");
}

static struct slice name_of(const struct tally *t, uint32_t name)
{
	return name == MAP_NONE ? (struct slice){} : tally_name(t, name);
}

/* The row of a set, but for what it is about. */
static struct row row_of(const struct tally *t, const char *row, uint32_t set)
{
	return (struct row){.row = slice_of(row),
			    .group = name_of(t, t->groups[set / SLOWS].name),
			    .kind = slice_of(tally_slows[set % SLOWS])};
}

static void encode_groups(struct encoder *e)
{
	const struct tally *t = e->tally;

	for (size_t i = 0; i < t->num_groups; i++) {
		const struct tally_group *group = &t->groups[i];
		struct row row = {.row = slice_of("requests"), .group = name_of(t, group->name)};
		struct out *out = start(e, &row);

		put_sum(out, "n", group->n);
		put_sum(out, "ns", group->total);
		put_sum(out, "longest", group->longest);
		put_sum(out, "old", group->old);
		put_sum(out, "oldest", group->oldest);
		end(e);
		for (enum slow slow = 0; slow < SLOWS; slow++) {
			const struct tally_set *set = &group->sets[slow];

			if (!set->slow.n)
				continue;
			row = row_of(t, "slow", tally_set_number(t, group, slow));
			out = start(e, &row);
			put_sum(out, "others", set->others);
			put_sum(out, "bursts", set->bursts);
			put_sum(out, "excess", set->excess);
			put_times(out, "slow", &set->slow);
			put_times(out, "fast", &set->fast);
			end(e);
		}
	}
}

static void encode_example(struct out *out, const struct tally *t, const struct tally_example *example)
{
	out_text(out, ",\"example\":{");
	put_sum(out, "proven", example->proven);
	put_sum(out, "ns", example->ns);
	put_sum(out, "start", example->start);
	put_sum(out, "covered", example->covered);
	if (example->source != MAP_NONE) {
		out_printf(out, "%s\"source\":\"", out->buf[out->len - 1] == '{' ? "" : ",");
		out_utf8(out, tally_name(t, example->source));
		out_char(out, '"');
	}
	out_char(out, '}');
}

static void encode_causes(struct encoder *e)
{
	const struct tally *t = e->tally;

	for (size_t i = 0; i < t->num_causes; i++) {
		const struct tally_cause *cause = &t->causes[i];
		struct row row = row_of(t, "cause", cause->key.set);
		struct out *out;

		row.what = slice_of(fact_table[cause->key.what].name);
		row.who = name_of(t, cause->key.a);
		out = start(e, &row);
		put_sum(out, "ns", cause->ns);
		put_sum(out, "proven", cause->proven);
		put_sum(out, "n", cause->n);
		put_sum(out, "bursts", cause->bursts);
		encode_example(out, t, &cause->example);
		end(e);
	}
	for (size_t i = 0; i < t->num_victims; i++) {
		const struct tally_victim *victim = &t->victims[i];
		struct row row = row_of(t, "victim", victim->key.set);

		row.what = slice_of(fact_table[victim->key.what].name);
		row.who = name_of(t, victim->key.a);
		row.victim = name_of(t, victim->key.b);
		put_sum(start(e, &row), "ns", victim->ns);
		end(e);
	}
}

static void encode_values(struct encoder *e)
{
	const struct tally *t = e->tally;

	for (size_t i = 0; i < t->num_values; i++) {
		const struct tally_value *value = &t->values[i];
		struct row row = row_of(t, "value", value->key.set);
		struct out *out;

		row.what = slice_of(trait_names[value->key.what]);
		row.of = name_of(t, value->key.a);
		row.has_number = !row.of.p || value->key.c;
		row.number = value->key.c;
		out = start(e, &row);
		put_sum(out, "slow", value->slow);
		put_sum(out, "others", value->others);
		put_sum(out, "hash", value->hash);
		end(e);
	}
}

static void encode_waits(struct encoder *e)
{
	const struct tally *t = e->tally;

	for (size_t i = 0; i < t->num_waits; i++) {
		const struct tally_wait *wait = &t->waits[i];
		struct row row = row_of(t, "wait", wait->key.set);

		row.what = slice_of(blame_whats[wait->key.what]);
		row.who = name_of(t, wait->key.c);
		row.victim = name_of(t, wait->key.a);
		row.of = name_of(t, wait->key.b);
		put_sum(start(e, &row), "ns", wait->ns);
		end(e);
	}
}

static int by_bytes(const void *a, const void *b, void *context)
{
	const char *text = context, *x = text + *(const size_t *)a, *y = text + *(const size_t *)b;

	while (*x == *y && *x != '\n') {
		x++;
		y++;
	}
	return (unsigned char)*x - (unsigned char)*y;
}

void encode_write(struct out *out, const struct tally *t, const struct encode_options *options)
{
	struct encoder e = {.tally = t, .text.fd = OUT_MEMORY};

	out_text(out, "{\"row\":\"all\",\"version\":1");
	out_slice(out, out_contents(&options->text));
	out_printf(out, "}\t{\"traces\":%" PRIu64, t->traces);
	put_sum(out, "groups_left_out", t->groups_dropped);
	put_sum(out, "left_out", t->dropped);
	out_text(out, "}\n");
	encode_groups(&e);
	encode_causes(&e);
	encode_values(&e);
	encode_waits(&e);
	if (e.n)
		qsort_r(e.starts, e.n, sizeof(*e.starts), by_bytes, e.text.buf);
	for (size_t i = 0; i < e.n; i++) {
		const char *line = e.text.buf + e.starts[i];

		out_slice(out, slice_between(line, strchr(line, '\n') + 1));
	}
	free(e.starts);
	out_close(&e.text);
}

struct decoder {
	struct tally *tally;
	struct encode_options *options;
	struct lines lines;
	struct out utf8;  /* in memory */
	bool has_options; /* this file's first row was read */
	bool refused;     /* it has other options */
};

/* Adds up to a limit. */
static bool add_sum(unsigned __int128 *to, unsigned __int128 value, unsigned __int128 max)
{
	*to += value;
	return *to <= max;
}

static bool add_count(uint64_t *to, unsigned __int128 value)
{
	*to += value;
	return *to <= COUNT_MAX;
}

/* The numbers of an object, by name. */
struct number {
	const char *name;
	unsigned __int128 value, max;
};

/* Reads a member into the number of its name. False if no number has this name. */
static bool read_number(struct json *j, struct slice key, struct number *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (json_is(key, numbers[i].name)) {
			big_read(j, numbers[i].max, &numbers[i].value);
			return true;
		}
	return false;
}

static void read_numbers(struct json *j, struct number *numbers, size_t n)
{
	struct slice key;

	for (json_object(j); json_key(j, &key);)
		if (!read_number(j, key, numbers, n))
			json_fail(j, "an unknown key after the tab");
}

static void read_causes(struct json *j, struct tally_times *times)
{
	struct number numbers[FACTS];

	for (unsigned i = 0; i < FACTS; i++)
		numbers[i] = (struct number){fact_table[i].name, 0, SUM_MAX};
	read_numbers(j, numbers, FACTS);
	for (unsigned i = 0; i < FACTS; i++)
		times->causes[i] = numbers[i].value;
}

static void read_times(struct json *j, struct tally_times *times)
{
	enum { NUMBERS = 2 + LAYERS + OVERLAPS };
	struct number numbers[NUMBERS] = {{"n", 0, COUNT_MAX}, {"life", 0, SUM_MAX}};
	unsigned __int128 layers = 0;
	struct slice key;

	for (unsigned i = 0; i < LAYERS; i++)
		numbers[2 + i] = (struct number){spdk_layers[i], 0, SUM_MAX};
	for (unsigned i = 0; i < OVERLAPS; i++)
		numbers[2 + LAYERS + i] = (struct number){overlaps_name(i), 0, SUM_MAX};
	for (json_object(j); json_key(j, &key);)
		if (json_is(key, "causes"))
			read_causes(j, times);
		else if (!read_number(j, key, numbers, NUMBERS))
			json_fail(j, "an unknown key after the tab");
	times->n = numbers[0].value;
	times->life = numbers[1].value;
	for (unsigned i = 0; i < LAYERS; i++)
		layers += times->layers[i] = numbers[2 + i].value;
	for (unsigned i = 0; i < OVERLAPS; i++)
		times->overlaps[i] = numbers[2 + LAYERS + i].value;
	if (layers != times->life)
		json_fail(j, "layers do not add up to the life");
}

static bool add_times(struct tally_times *to, const struct tally_times *times)
{
	bool good = add_count(&to->n, times->n) && add_sum(&to->life, times->life, SUM_MAX);

	for (unsigned i = 0; i < LAYERS; i++)
		good &= add_sum(&to->layers[i], times->layers[i], SUM_MAX);
	for (unsigned i = 0; i < OVERLAPS; i++)
		good &= add_sum(&to->overlaps[i], times->overlaps[i], SUM_MAX);
	for (unsigned i = 0; i < FACTS; i++)
		good &= add_sum(&to->causes[i], times->causes[i], SUM_MAX);
	return good;
}

static const char TOO_LARGE[] = "a sum is too large";

/* Where a row belongs. Its group and set are added after the row was read: a malformed row adds nothing. */
struct place {
	struct tally *tally;
	uint32_t group; /* its name */
	enum slow slow;
};

/* The group of a row, NULL if there are too many. */
static struct tally_group *find_group(const struct place *place)
{
	return tally_group(place->tally, place->group);
}

/* Sets the key's set. Returns false if there are too many groups. */
static bool find_set(const struct place *place, struct tally_key *key)
{
	const struct tally_group *group = find_group(place);

	if (group)
		key->set = tally_set_number(place->tally, group, place->slow);
	return group != NULL;
}

static const char *decode_set(struct json *j, const struct place *place)
{
	struct number numbers[] = {{"others", 0, COUNT_MAX}, {"bursts", 0, COUNT_MAX}, {"excess", 0, SUM_MAX}};
	struct tally_set set = {}, sum;
	struct tally_group *group;
	struct slice key;

	for (json_object(j); json_key(j, &key);)
		if (json_is(key, "slow"))
			read_times(j, &set.slow);
		else if (json_is(key, "fast"))
			read_times(j, &set.fast);
		else if (!read_number(j, key, numbers, COUNT(numbers)))
			json_fail(j, "an unknown key after the tab");
	if (!json_end(j))
		return j->error;
	if (!set.slow.n)
		return "no request is slow";
	group = find_group(place);
	if (!group)
		return NULL;
	sum = group->sets[place->slow];
	if (!(add_times(&sum.slow, &set.slow) && add_times(&sum.fast, &set.fast) &&
	      add_count(&sum.others, numbers[0].value) && add_count(&sum.bursts, numbers[1].value) &&
	      add_sum(&sum.excess, numbers[2].value, SUM_MAX)))
		return TOO_LARGE;
	group->sets[place->slow] = sum;
	return NULL;
}

static const char *decode_group(struct json *j, const struct place *place)
{
	struct number numbers[] = {{"n", 0, COUNT_MAX},
				   {"ns", 0, SUM_MAX},
				   {"longest", 0, UINT64_MAX},
				   {"old", 0, COUNT_MAX},
				   {"oldest", 0, UINT64_MAX}};
	struct tally_group *to, sum;

	read_numbers(j, numbers, COUNT(numbers));
	if (!json_end(j))
		return j->error;
	to = find_group(place);
	if (!to) {
		place->tally->groups_dropped++;
		return NULL;
	}
	sum = *to;
	if (!(add_count(&sum.n, numbers[0].value) && add_sum(&sum.total, numbers[1].value, SUM_MAX) &&
	      add_count(&sum.old, numbers[3].value)))
		return TOO_LARGE;
	sum.longest = max_u64(sum.longest, numbers[2].value);
	sum.oldest = max_u64(sum.oldest, numbers[4].value);
	*to = sum;
	return NULL;
}

/* The number of a name; false if there are too many. */
static bool add_name(struct tally *t, struct slice raw, uint32_t *name)
{
	*name = raw.p ? intern_add_below(t->names, raw, REQUESTS_NAMES) : MAP_NONE;
	return !raw.p || *name != MAP_NONE;
}

static void read_example(struct json *j, struct tally *t, struct tally_example *example)
{
	struct number numbers[] = {
		{"proven", 0, UINT64_MAX}, {"ns", 0, UINT64_MAX}, {"start", 0, UINT64_MAX}, {"covered", 0, 1}};
	struct slice key, source = {};

	for (json_object(j); json_key(j, &key);)
		if (json_is(key, "source"))
			json_string(j, &source);
		else if (!read_number(j, key, numbers, COUNT(numbers)))
			json_fail(j, "an unknown key after the tab");
	*example = (struct tally_example){.proven = numbers[0].value,
					  .ns = numbers[1].value,
					  .start = numbers[2].value,
					  .covered = numbers[3].value};
	if (!j->error)
		add_name(t, source, &example->source);
}

static const char *decode_cause(struct json *j, const struct place *place, struct tally_key key)
{
	struct number numbers[] = {
		{"ns", 0, SUM_MAX}, {"proven", 0, SUM_MAX}, {"n", 0, COUNT_MAX}, {"bursts", 0, COUNT_MAX}};
	struct tally_example example = {.source = MAP_NONE};
	struct tally *t = place->tally;
	struct tally_cause *to, sum;
	struct slice name;

	for (json_object(j); json_key(j, &name);)
		if (json_is(name, "example"))
			read_example(j, t, &example);
		else if (!read_number(j, name, numbers, COUNT(numbers)))
			json_fail(j, "an unknown key after the tab");
	if (!json_end(j))
		return j->error;
	to = find_set(place, &key) ? tally_cause(t, key) : NULL;
	if (!to)
		return NULL;
	sum = *to;
	if (!(add_sum(&sum.ns, numbers[0].value, SUM_MAX) && add_sum(&sum.proven, numbers[1].value, SUM_MAX) &&
	      add_count(&sum.n, numbers[2].value) && add_count(&sum.bursts, numbers[3].value)))
		return TOO_LARGE;
	tally_keep_example(t, &sum.example, &example);
	*to = sum;
	return NULL;
}

/* Reads the only number of a row. */
static const char *read_ns(struct json *j, unsigned __int128 *ns)
{
	struct number number = {"ns", 0, SUM_MAX};

	read_numbers(j, &number, 1);
	*ns = number.value;
	return json_end(j) ? NULL : j->error;
}

/* Adds the number to a row's; NULL if there are too many rows. */
static const char *add_ns(unsigned __int128 *to, unsigned __int128 ns)
{
	if (to && *to + ns > SUM_MAX)
		return TOO_LARGE;
	if (to)
		*to += ns;
	return NULL;
}

static const char *decode_victim(struct json *j, const struct place *place, struct tally_key key)
{
	struct tally_victim *to;
	unsigned __int128 ns;
	const char *error = read_ns(j, &ns);

	if (error)
		return error;
	to = find_set(place, &key) ? tally_victim(place->tally, key) : NULL;
	return add_ns(to ? &to->ns : NULL, ns);
}

static const char *decode_wait(struct json *j, const struct place *place, struct tally_key key)
{
	struct tally_wait *to;
	unsigned __int128 ns;
	const char *error = read_ns(j, &ns);

	if (error)
		return error;
	to = find_set(place, &key) ? tally_wait(place->tally, key) : NULL;
	return add_ns(to ? &to->ns : NULL, ns);
}

static const char *decode_value(struct json *j, const struct place *place, struct tally_key key)
{
	struct number numbers[] = {{"slow", 0, COUNT_MAX}, {"others", 0, COUNT_MAX}, {"hash", 0, UINT64_MAX}};
	struct tally_value *to, sum;

	read_numbers(j, numbers, COUNT(numbers));
	if (!json_end(j))
		return j->error;
	to = find_set(place, &key) ? tally_value(place->tally, key) : NULL;
	if (!to)
		return NULL;
	sum = *to;
	sum.hash += numbers[2].value;
	if (!(add_count(&sum.slow, numbers[0].value) && add_count(&sum.others, numbers[1].value)))
		return TOO_LARGE;
	*to = sum;
	return NULL;
}

/* The index of a text, or n. */
static uint32_t index_of(struct slice text, const char *const *texts, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && !(text.p && json_is(text, texts[i])))
		i++;
	return i;
}

/* An lcore's name is a number, and after a blank its source. */
static bool is_lcore(struct slice name)
{
	size_t n = 0;

	while (n < name.n && name.p[n] >= '0' && name.p[n] <= '9')
		n++;
	return n && n <= 20 && (n == 1 || name.p[0] != '0') && (n == name.n || name.p[n] == ' ');
}

static const char *read_key(struct json *j, struct row *row)
{
	struct slice key;

	for (json_object(j); json_key(j, &key);)
		if (json_is(key, "row"))
			json_string(j, &row->row);
		else if (json_is(key, "group"))
			json_string(j, &row->group);
		else if (json_is(key, "kind"))
			json_string(j, &row->kind);
		else if (json_is(key, "what"))
			json_string(j, &row->what);
		else if (json_is(key, "who"))
			json_string(j, &row->who);
		else if (json_is(key, "victim"))
			json_string(j, &row->victim);
		else if (json_is(key, "of"))
			json_string(j, &row->of);
		else if (json_is(key, "number"))
			row->has_number = json_u64(j, &row->number);
		else
			json_fail(j, "an unknown key before the tab");
	return json_end(j) ? NULL : j->error;
}

/* Adds a row of a set. */
static const char *decode_row(struct json *j, const struct place *place, const struct row *row)
{
	struct tally *t = place->tally;
	struct tally_key key = {.c = row->number};
	bool is_wait = json_is(row->row, "wait"), is_value = json_is(row->row, "value"), good;
	uint32_t who, victim, of;

	good = add_name(t, row->who, &who) && add_name(t, row->victim, &victim) && add_name(t, row->of, &of);
	if (!good) {
		t->dropped++;
		return NULL;
	}
	if (is_wait) {
		key = (struct tally_key){0, index_of(row->what, blame_whats, BLAME_WHATS), victim, of, who};
		if (key.what == BLAME_WHATS || (key.what == BLAME_LCORE && row->of.p && !is_lcore(row->of)))
			return "what was waited for is unknown";
		return decode_wait(j, place, key);
	}
	if (is_value) {
		key.what = index_of(row->what, trait_names, TRAITS);
		key.a = of;
		if (key.what == TRAITS ||
		    ((key.what == TRAIT_LCORE || key.what == TRAIT_SILENT) && !is_lcore(row->of)) ||
		    (key.what == TRAIT_DEPTH && row->number > 64) || (!row->of.p && !row->has_number))
			return "a value is unknown";
		return decode_value(j, place, key);
	}
	key.what = row->what.p ? fact_find(row->what) : FACTS;
	key.a = who;
	if (key.what == FACTS || (key.what == FACT_SILENT && row->who.p && !is_lcore(row->who)))
		return "a cause is unknown";
	if (json_is(row->row, "cause"))
		return decode_cause(j, place, key);
	if (json_is(row->row, "victim")) {
		key.b = victim;
		return decode_victim(j, place, key);
	}
	return "an unknown row";
}

static const char *decode(struct decoder *d, const struct row *row, struct slice value)
{
	struct place place = {.tally = d->tally};
	struct json j;

	if (!row->row.p || !row->group.p != !d->options->group)
		return "row is missing, or group does not fit the first row";
	if (!add_name(d->tally, row->group, &place.group)) {
		d->tally->groups_dropped += json_is(row->row, "requests");
		return NULL;
	}
	json_init(&j, value.p, value.n);
	if (json_is(row->row, "requests"))
		return decode_group(&j, &place);
	place.slow = index_of(row->kind, tally_slows, SLOWS);
	if (place.slow == SLOWS)
		return "a kind is unknown";
	if (json_is(row->row, "slow"))
		return decode_set(&j, &place);
	return decode_row(&j, &place, row);
}

/* Sets *members: those of the first row after its version, with the comma before them. Returns NULL or an error. */
static const char *read_options(struct slice text, struct slice *members, struct encode_options *options)
{
	struct slice key, group = {};
	uint64_t version = 0;
	struct json j;

	json_init(&j, text.p, text.n);
	for (json_object(&j); json_key(&j, &key);)
		if (json_is(key, "version")) {
			json_u64(&j, &version);
			*members = slice_between(j.p, text.p + text.n - 1);
		} else if (json_is(key, "group")) {
			json_string(&j, &group);
		} else if (json_is(key, "budget_ns")) {
			json_u64(&j, &options->budget_ns);
		} else if (json_is(key, "against")) {
			json_bool(&j, &options->against);
		} else {
			json_skip(&j);
		}
	if (!json_end(&j))
		return j.error;
	if (text.p[text.n - 1] != '}')
		return "blanks after the object";
	if (version != 1)
		return "made by a release whose lines are others";
	if (group.p)
		options->group = (char *)json_decode(group).p;
	return NULL;
}

static const char *read_first(struct decoder *d, struct slice text, struct slice value)
{
	struct number numbers[] = {
		{"traces", 0, COUNT_MAX}, {"groups_left_out", 0, COUNT_MAX}, {"left_out", 0, COUNT_MAX}};
	struct encode_options options = {.budget_ns = COMPARE_BUDGET_NS};
	struct tally *t = d->tally;
	struct slice members = {"", 0};
	const char *error;
	struct json j;

	json_init(&j, value.p, value.n);
	read_numbers(&j, numbers, COUNT(numbers));
	error = json_end(&j) ? read_options(text, &members, &options) : j.error;
	if (!error && t->traces && !slice_equal(members, out_contents(&d->options->text)))
		error = "options were others: --against, --budget, -g, -k, -m, --open and --percent have to be those "
			"of the "
			"first file";
	d->refused = error;
	if (error || !numbers[0].value) {
		free(options.group);
		return error;
	}
	if (!t->traces) {
		out_slice(&d->options->text, members);
		d->options->group = options.group;
		d->options->against = options.against;
		d->options->budget_ns = options.budget_ns;
	} else {
		free(options.group);
	}
	d->has_options = true;
	if (!(add_count(&t->traces, numbers[0].value) && add_count(&t->groups_dropped, numbers[1].value) &&
	      add_count(&t->dropped, numbers[2].value)))
		return TOO_LARGE;
	return NULL;
}

/* A lines_callback: a malformed row changes nothing. */
static const char *add_line(void *context, struct slice line)
{
	struct decoder *d = context;
	bool repaired = lines_repair(&d->lines, &line, &d->utf8);
	const char *tab = memchr(line.p, '\t', line.n), *error;
	struct slice key, value;
	struct row row = {};
	struct json j;

	if (!tab)
		return "not a line of trace-causes -e: it has no tab";
	key = slice_between(line.p, tab);
	value = slice_between(tab + 1, line.p + line.n);
	if (slice_starts(key, "{\"row\":\"all\",")) {
		error = read_first(d, key, value);
	} else {
		/* said once, of the first row */
		if (d->refused)
			return NULL;
		json_init(&j, key.p, key.n);
		error = read_key(&j, &row);
		if (!error && !d->has_options)
			error = "the row \"all\" has to be before the others";
		if (!error)
			error = decode(d, &row, value);
	}
	return !error && repaired ? LINES_REPAIRED : error;
}

int encode_read(struct tally *t, struct encode_options *options, const char *path, uint64_t *lines)
{
	struct decoder d = {.tally = t, .options = options, .utf8.fd = OUT_MEMORY};
	struct interactive interactive;
	int status;

	options->text.fd = OUT_MEMORY;
	if (lines_open(&d.lines, path) != 0)
		err(EXIT_FAILURE, "%s", d.lines.name);
	lines_expect(&d.lines, KIND_SUMS, "trace-causes --merge");
	interactive_start(&interactive, &d.lines, NULL);
	status = lines_each(&d.lines, add_line, &d);
	*lines = d.lines.number;
	out_close(&d.utf8);
	if (d.lines.is)
		exit(EXIT_FAILURE);
	return status;
}
