/* SPDX-License-Identifier: BSD-3-Clause */
#include "aliases.h"

#include <stdlib.h>

#include "facts.h"
#include "table.h"

struct slice aliases_name(struct slice bdev)
{
	struct slice name = json_unquoted(facts_text(bdev, "name")), alias;
	struct json j;

	facts_each(&j, facts_text(bdev, "aliases"));
	if (!name.n || !slice_equal(name, json_unquoted(facts_text(bdev, "uuid"))) || !facts_next(&j, NULL, &alias))
		return name;
	alias = json_unquoted(alias);
	return alias.n ? alias : name;
}

/* The text that describes the owner of this name, see spdk_bdev(). */
static struct slice owner_of(struct out *out, struct slice name)
{
	out->len = 0;
	out_text(out, "bdev_");
	out_slice(out, name);
	return out_contents(out);
}

static void add(struct aliases *a, struct out *out, struct slice bdev)
{
	struct slice name = json_unquoted(facts_text(bdev, "name")), alias = aliases_name(bdev);
	struct slice *to;

	if (slice_equal(name, alias))
		return;
	to = table_at(a->all, a->n, a->cap, intern_add(&a->owners, owner_of(out, name)));
	free((char *)to->p);
	*to = mem_slice(owner_of(out, alias));
}

void aliases_read(struct aliases *a, struct slice rpc)
{
	struct out text = {.fd = OUT_MEMORY};
	struct slice bdevs, bdev;
	struct json j;

	while (facts_answer(&rpc, "bdev_get_bdevs", &bdevs))
		for (facts_each(&j, bdevs); facts_next(&j, NULL, &bdev);)
			add(a, &text, bdev);
	out_close(&text);
}

struct slice aliases_owner(const struct aliases *a, struct slice owner)
{
	uint32_t number = a->n ? intern_get(&a->owners, owner) : MAP_NONE;

	return number == MAP_NONE ? owner : a->all[number];
}

void aliases_free(struct aliases *a)
{
	for (size_t i = 0; i < a->n; i++)
		free((char *)a->all[i].p);
	free(a->all);
	intern_free(&a->owners);
}
