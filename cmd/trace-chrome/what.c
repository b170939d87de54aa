/* SPDX-License-Identifier: BSD-3-Clause */
#include "what.h"

struct what what_of(const struct traceline *line, struct intern *bdevs)
{
	enum facts_source source = facts_source(line->tpoint);
	struct what what = {.bdev = MAP_NONE};
	struct facts *facts = &what.facts;
	struct slice bdev = {};

	if (source != FACTS_BDEV_IO && source != FACTS_NVME_SUBMIT)
		return what;
	facts_read(facts, source, line);
	if (source == FACTS_NVME_SUBMIT) {
		what.is_command = true;
		what.type = facts_add_command(facts, line->poller);
	} else {
		what.type = facts_has(facts, FACT_TYPE) ? facts_type(facts->values[FACT_TYPE]) : NULL;
		bdev = facts_bdev(line->owner, traceline_string(traceline_arg(line, "name")));
	}
	if (bdev.n)
		what.bdev = intern_add(bdevs, bdev);
	what.known = what.type || facts_has(facts, FACT_BLOCKS) || facts_has(facts, FACT_LBA) || bdev.n;
	return what;
}

static struct slice bdev_of(const struct what *what, const struct intern *bdevs)
{
	return what->bdev == MAP_NONE ? (struct slice){} : bdevs->all[what->bdev];
}

void what_write_name(struct out *out, const struct what *what, const struct intern *bdevs)
{
	facts_write_name(out, &what->facts, what->type, bdev_of(what, bdevs));
}

/* The first member has no comma before it. */
static void put_key(struct out *out, const char *key)
{
	out_text(out, out->buf[out->len - 1] == '{' ? "\"" : ",\"");
	out_text(out, key);
	out_text(out, "\":");
}

static void put_fact(struct out *out, const char *key, const struct facts *facts, enum fact fact)
{
	if (!facts_has(facts, fact))
		return;
	put_key(out, key);
	out_u64(out, facts->values[fact]);
}

static void put_text(struct out *out, const char *key, struct slice text)
{
	if (!text.n)
		return;
	put_key(out, key);
	out_char(out, '"');
	out_slice(out, text);
	out_char(out, '"');
}

void what_write_args(struct out *out, const struct what *what, const struct intern *bdevs)
{
	out_char(out, '{');
	put_text(out, "type", slice_of(what->type ? what->type : ""));
	put_fact(out, "blocks", &what->facts, FACT_BLOCKS);
	put_fact(out, "lba", &what->facts, FACT_LBA);
	put_text(out, "bdev", bdev_of(what, bdevs));
	out_char(out, '}');
}
