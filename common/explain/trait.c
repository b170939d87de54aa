/* SPDX-License-Identifier: BSD-3-Clause */
#include "trait.h"

#include "floor.h"

const char *const trait_names[TRAITS] = {
	[TRAIT_HOST] = "host",   [TRAIT_CONNECTION] = "connection", [TRAIT_BDEV] = "bdev",
	[TRAIT_LEG] = "leg",     [TRAIT_LCORE] = "lcore",           [TRAIT_TYPE] = "type",
	[TRAIT_SIZE] = "blocks", [TRAIT_STATUS] = "status",         [TRAIT_REGION] = "region",
	[TRAIT_DEPTH] = "qd",    [TRAIT_OFF_CPU] = "off_cpu",       [TRAIT_IRQ] = "irq",
	[TRAIT_FULL] = "full",
};

/* The name with most time. */
static uint32_t longest(const struct requests *r, uint32_t first, unsigned n)
{
	const struct request_share *shares = &r->shares[first], *most = NULL;

	for (unsigned i = 0; i < n; i++)
		if (!most || shares[i].ns > most->ns)
			most = &shares[i];
	return most ? most->name : MAP_NONE;
}

/* A long request is more often hit by what is short, so that does not count. */
static bool is_notable(const struct request *q, uint64_t ns)
{
	return ns && ns >= q->life / FLOOR_MINOR;
}

bool trait_of(const struct requests *r, const struct request *q, enum trait trait, struct trait_value *value)
{
	const struct request_facts *facts = requests_facts(r, q);

	*value = (struct trait_value){.name = MAP_NONE};
	switch (trait) {
	case TRAIT_HOST:
		value->name = q->host;
		break;
	case TRAIT_CONNECTION:
		value->name = q->connection;
		break;
	case TRAIT_BDEV:
		value->name = q->bdev;
		break;
	case TRAIT_LEG:
		value->name = requests_has_legs(r, q->bdev) ? q->leg : MAP_NONE;
		break;
	case TRAIT_LCORE:
		value->name = requests_lcore_name(r, q->lcore);
		break;
	case TRAIT_TYPE:
		value->name = q->type;
		break;
	case TRAIT_SIZE:
		value->number = q->blocks;
		return q->has_blocks;
	case TRAIT_STATUS:
		value->name = q->status;
		break;
	case TRAIT_REGION:
		value->name = q->has_region ? q->bdev : MAP_NONE;
		value->number = q->region;
		break;
	case TRAIT_DEPTH:
		value->number = q->qd;
		return q->has_qd;
	case TRAIT_OFF_CPU:
		if (is_notable(q, facts->ns[FACT_OFF_CPU]))
			value->name = longest(r, facts->off_cpu_by, facts->num_off_cpu_by);
		break;
	case TRAIT_IRQ:
		if (is_notable(q, facts->ns[FACT_IRQ]))
			value->name = longest(r, facts->irq_by, facts->num_irq_by);
		break;
	case TRAIT_FULL:
		value->name = facts->queue ? q->host : MAP_NONE;
		break;
	case TRAITS:
		break;
	}
	return value->name != MAP_NONE;
}
