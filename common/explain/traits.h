/* SPDX-License-Identifier: BSD-3-Clause */
/* What slow requests have in common, and others have not, as far as chance does not explain it. */
#ifndef TRAITS_H
#define TRAITS_H

#include "tally.h"

struct traits {
	const struct tally *tally;
	const struct tally_set *set;
	/* the largest difference of shares first; values that select the same requests follow each other */
	const struct tally_value **all;
	size_t n, cap;
	bool has_window; /* that of the set is more than chance */
};

/* t is all zero. The set is one of a group. The tally must outlive t, and stay as it is. */
void traits_find(struct traits *t, const struct tally *tally, uint32_t set);

void traits_free(struct traits *t);

#endif
