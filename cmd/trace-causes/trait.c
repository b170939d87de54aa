/* SPDX-License-Identifier: BSD-3-Clause */
#include "trait.h"

const char *const trait_names[TRAITS] = {
	[TRAIT_HOST] = "host",     [TRAIT_QUEUE] = "queue", [TRAIT_BDEV] = "bdev",   [TRAIT_LEG] = "leg",
	[TRAIT_LCORE] = "lcore",   [TRAIT_TYPE] = "type",   [TRAIT_SIZE] = "blocks", [TRAIT_STATUS] = "status",
	[TRAIT_REGION] = "region", [TRAIT_DEPTH] = "qd",
};

bool trait_of(const struct requests *r, const struct request *q, enum trait trait, struct trait_value *value)
{
	*value = (struct trait_value){.name = MAP_NONE};
	switch (trait) {
	case TRAIT_HOST:
		value->name = q->host;
		break;
	case TRAIT_QUEUE:
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
	case TRAITS:
		break;
	}
	return value->name != MAP_NONE;
}
