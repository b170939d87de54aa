/* SPDX-License-Identifier: BSD-3-Clause */
#include "what.h"

#include "facts.h"

struct what what_of(const struct traceline *line, struct intern *bdevs)
{
	enum facts_source source = facts_source(line->tpoint);
	struct what what = {};
	struct facts facts = {};
	struct slice bdev = {};

	if (source != FACTS_BDEV_IO && source != FACTS_NVME_SUBMIT)
		return what;
	facts_read(&facts, source, line);
	if (source == FACTS_NVME_SUBMIT) {
		what.is_command = true;
		what.type = facts_add_command(&facts, line->poller);
	} else {
		what.type = facts_has(&facts, FACT_TYPE) ? facts_type(facts.values[FACT_TYPE]) : NULL;
		bdev = facts_bdev(line->owner, traceline_string(traceline_arg(line, "name")));
	}
	what.has_blocks = facts_has(&facts, FACT_BLOCKS);
	what.blocks = facts.values[FACT_BLOCKS];
	what.has_lba = facts_has(&facts, FACT_LBA);
	what.lba = facts.values[FACT_LBA];
	what.has_bdev = bdev.n;
	if (bdev.n)
		what.bdev = intern_add(bdevs, bdev);
	what.known = what.type || what.has_blocks || what.has_lba || what.has_bdev;
	return what;
}

void what_write_name(struct out *out, const struct what *what, const struct intern *bdevs)
{
	out_text(out, what->type ? what->type : "I/O");
	if (what->has_blocks) {
		out_char(out, ' ');
		out_u64(out, what->blocks);
	}
	if (what->has_lba) {
		out_text(out, " @");
		out_u64(out, what->lba);
	}
	if (what->has_bdev) {
		out_char(out, ' ');
		out_slice(out, bdevs->all[what->bdev]);
	}
}

/* The first member has no comma before it. */
static void put_key(struct out *out, const char *key)
{
	out_text(out, out->buf[out->len - 1] == '{' ? "\"" : ",\"");
	out_text(out, key);
	out_text(out, "\":");
}

void what_write_args(struct out *out, const struct what *what, const struct intern *bdevs)
{
	out_char(out, '{');
	if (what->type) {
		put_key(out, "type");
		out_char(out, '"');
		out_text(out, what->type);
		out_char(out, '"');
	}
	if (what->has_blocks) {
		put_key(out, "blocks");
		out_u64(out, what->blocks);
	}
	if (what->has_lba) {
		put_key(out, "lba");
		out_u64(out, what->lba);
	}
	if (what->has_bdev) {
		put_key(out, "bdev");
		out_char(out, '"');
		out_slice(out, bdevs->all[what->bdev]);
		out_char(out, '"');
	}
	out_char(out, '}');
}
