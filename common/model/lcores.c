/* SPDX-License-Identifier: BSD-3-Clause */
#include "lcores.h"

#include <stdlib.h>

#include "count.h"
#include "minmax.h"
#include "number.h"
#include "search.h"
#include "table.h"

/* Of a silence in ns: 0 to 64. */
static unsigned bits_of(uint64_t ns)
{
	return ns ? 64 - __builtin_clzll(ns) : 0;
}

/* A silence hides shorter ones that came before it. */
static void add_silence(struct lcore *lcore, uint64_t end, uint64_t ns)
{
	size_t n = lcore->num_silences;

	lcore->lengths[bits_of(ns)].n++;
	lcore->lengths[bits_of(ns)].ns += ns;
	while (n && lcore->silences[n - 1].ns <= ns)
		n--;
	n -= n == LCORES_SILENCES;
	lcore->silences[n] = (struct lcores_silence){end, ns};
	lcore->num_silences = n + 1;
}

__attribute__((noinline)) static struct lcore *find_lcore(struct lcores *l, const struct traceline *line,
							  uint64_t number)
{
	uint64_t key = traceline_in_source(line, number);
	size_t n = l->n;
	struct lcore *lcore;

	if (n == LCORES_MAX && map_get(&l->map, key) == MAP_NONE)
		return NULL;
	lcore = table_put(&l->map, key, l->all, l->n, l->cap);
	if (l->n == n)
		return lcore;
	lcore->number = number;
	lcore->silences = mem_array(LCORES_SILENCES, sizeof(*lcore->silences));
	if (line->source.p)
		lcore->source = mem_slice(line->source);
	return lcore;
}

static struct lcore *lcore_of(struct lcores *l, const struct traceline *line)
{
	uint64_t number = line->lcore.p[0] - '0';
	struct lcore *lcore;
	uint32_t *recent;

	if (line->lcore.n > 1 && !number_decimal(line->lcore, &number))
		number = 0;
	recent = &l->recent[number % COUNT(l->recent)];
	lcore = *recent < l->n ? &l->all[*recent] : NULL;
	if (lcore && lcore->number == number && slice_equal(lcore->source, line->source))
		return lcore;
	lcore = find_lcore(l, line, number);
	if (lcore)
		*recent = lcore - l->all;
	return lcore;
}

uint32_t lcores_add(struct lcores *l, const struct traceline *line, uint64_t ns)
{
	struct lcore *lcore = lcore_of(l, line);

	if (!lcore)
		return MAP_NONE;
	if (line->lost)
		lcore->gaps[lcore->num_gaps++ % LCORES_GAPS] = lcore->entries;
	if (!lcore->entries++)
		lcore->first = lcore->last = ns;
	if (ns > lcore->last && !line->lost)
		add_silence(lcore, ns, ns - lcore->last);
	lcore->last = ns > lcore->last ? ns : lcore->last;
	return lcore - l->all;
}

static struct lcores_sum *find_sum(const struct lcores_sums *sums, uint32_t who)
{
	for (size_t i = 0; i < sums->n; i++)
		if (sums->all[i].who == who)
			return &sums->all[i];
	return NULL;
}

static struct lcores_sum *append_sum(struct lcores_sums *sums, struct lcores_sum sum)
{
	sums->all = mem_room(sums->all, sums->n, &sums->cap);
	sums->all[sums->n] = sum;
	return &sums->all[sums->n++];
}

static void add_to(struct lcores_sums *sums, uint32_t who, uint32_t entries, uint64_t ns)
{
	struct lcores_sum *sum = sums->latest < sums->n ? &sums->all[sums->latest] : NULL;

	if (!sum || sum->who != who)
		sum = find_sum(sums, who);
	if (!sum)
		sum = append_sum(sums, (struct lcores_sum){.who = who});
	sums->latest = sum - sums->all;
	sum->entries += entries;
	sum->ns += ns;
}

enum { BLOCKS = 2 * LCORES_KEPT / LCORES_BLOCK }; /* a power of 2 that is enough */

static struct lcores_block *block_of(const struct lcore *lcore, uint64_t number)
{
	return &lcore->blocks[number % BLOCKS];
}

/* The entry with this number: the first one has 0. */
static struct lcores_entry *entry_of(const struct lcore *lcore, uint64_t number)
{
	return &lcore->kept[number % LCORES_KEPT];
}

/* ns: the time before an entry. */
static void add_pause(struct lcores_pauses *pauses, uint64_t ns, const struct lcores_entry *entry)
{
	if (ns <= LCORES_ACTIVE_NS || entry->is_work)
		pauses->active += ns;
	if (ns <= pauses->longest || entry->is_work)
		return;
	pauses->longest = ns;
	pauses->who = entry->who;
}

/* Whether a gap is before an entry with one of these numbers. */
static bool has_gap(const struct lcore *lcore, uint64_t first, uint64_t last)
{
	for (uint64_t i = 0; i < lcore->num_gaps && i < LCORES_GAPS; i++)
		if (lcore->gaps[i] >= first && lcore->gaps[i] <= last)
			return true;
	return false;
}

/* Adds the entries of these numbers. Those that follow each other are often for the same. */
static void read_entries(const struct lcore *lcore, uint64_t from, uint64_t to, struct lcores_sums *sums,
			 struct lcores_pauses *pauses)
{
	bool gaps = from < to && has_gap(lcore, from, to - 1);
	uint64_t before, start;

	if (from >= to)
		return;
	before = start = entry_of(lcore, from ? from - 1 : 0)->ns;
	for (uint64_t i = from, first = from; i < to; i++) {
		const struct lcores_entry *entry = entry_of(lcore, i);

		if (gaps && has_gap(lcore, i, i))
			before = start = entry->ns;
		add_pause(pauses, entry->ns - before, entry);
		before = entry->ns;
		if (i + 1 < to && entry_of(lcore, i + 1)->who == entry->who && !(gaps && has_gap(lcore, i + 1, i + 1)))
			continue;
		add_to(sums, entry->who, i + 1 - first, entry->ns - start);
		first = i + 1;
		start = entry->ns;
	}
}

/* Starts a block of entries: keeps the sums of all before it, and the silences of the block before. */
static void start_block(struct lcore *lcore, uint64_t number)
{
	struct lcores_sums *sums = &lcore->sums;
	struct lcores_block *block;

	if (lcore->num_blocks < BLOCKS)
		table_at(lcore->blocks, lcore->num_blocks, lcore->cap_blocks, number);
	block = block_of(lcore, number);
	block->pauses = (struct lcores_pauses){};
	block->sums.n = 0;
	if (!number)
		return;
	read_entries(lcore, lcore->num_kept - LCORES_BLOCK, lcore->num_kept, sums, &block->pauses);
	/* if there are too many, some make room for others */
	for (; sums->n > LCORES_WHO; sums->n--) {
		lcore->replaced = (lcore->replaced + 1) % LCORES_WHO;
		sums->all[lcore->replaced] = sums->all[sums->n - 1];
	}
	sums->latest = 0;
	for (size_t i = 0; i < sums->n; i++)
		append_sum(&block->sums, sums->all[i]);
}

void lcores_keep(struct lcores *l, uint32_t index, uint32_t order, uint32_t who, bool is_work)
{
	struct lcore *lcore = &l->all[index];
	uint64_t number = lcore->num_kept;

	if (number % LCORES_BLOCK == 0)
		start_block(lcore, number / LCORES_BLOCK);
	if (number < LCORES_KEPT)
		lcore->kept = mem_room(lcore->kept, number, &lcore->cap_kept);
	*entry_of(lcore, number) = (struct lcores_entry){lcore->last, is_work, order, who};
	lcore->num_kept++;
}

/* The longest silence that ended between two times. The latest ones are usually enough. */
static uint64_t past_silence(const struct lcore *lcore, uint64_t from, uint64_t to)
{
	const struct lcores_silence *end = lcore->silences + lcore->num_silences, *first = end;
	uint64_t begin, longest;

	while (first > lcore->silences && first[-1].end > from)
		first--;
	if (first == end || first->end > to)
		return 0;
	begin = first->end - first->ns;
	longest = first->end - max_u64(begin, from);
	/* all others began after it */
	return begin < from && first + 1 < end ? max_u64(longest, first[1].ns) : longest;
}

void lcores_longer(const struct lcores *l, struct lcores_silent *longest, uint32_t index, uint64_t from, uint64_t to)
{
	const struct lcore *lcore;
	uint64_t since, ns;

	if (index == MAP_NONE || to - from <= longest->ns)
		return;
	lcore = &l->all[index];
	since = max_u64(lcore->last, from);
	ns = max_u64(past_silence(lcore, from, to), to > since ? to - since : 0);
	if (ns > longest->ns)
		*longest = (struct lcores_silent){ns, index};
}

bool lcores_is_rare(const struct lcores *l, uint32_t index, uint64_t ns)
{
	struct lcores_length longer = {};
	const struct lcore *lcore;

	if (index == MAP_NONE)
		return false;
	lcore = &l->all[index];
	for (unsigned bits = bits_of(ns); bits < COUNT(lcore->lengths); bits++) {
		longer.n += lcore->lengths[bits].n;
		longer.ns += lcore->lengths[bits].ns;
	}
	return longer.n <= lcore->entries / 100 && longer.ns <= (lcore->last - lcore->first) / 2;
}

uint64_t lcores_usual_silence(const struct lcores *l, uint32_t index)
{
	struct lcores_length all = {};

	for (unsigned bits = bits_of(LCORES_ACTIVE_NS); bits < COUNT(l->all->lengths); bits++) {
		all.n += l->all[index].lengths[bits].n;
		all.ns += l->all[index].lengths[bits].ns;
	}
	return all.n ? all.ns / all.n : 0;
}

/* Adds the entries of these blocks. */
static void read_blocks(const struct lcore *lcore, uint64_t from, uint64_t to, struct lcores_sums *sums,
			struct lcores_pauses *pauses)
{
	const struct lcores_sums *before = &block_of(lcore, from)->sums, *after = &block_of(lcore, to)->sums;

	for (size_t i = 0; i < after->n; i++) {
		struct lcores_sum sum = after->all[i];
		const struct lcores_sum *start = i < before->n ? &before->all[i] : NULL;

		/* a sum that was replaced in the meantime started again */
		if (start && start->who == sum.who && start->entries <= sum.entries && start->ns <= sum.ns) {
			sum.entries -= start->entries;
			sum.ns -= start->ns;
		}
		if (sum.entries)
			add_to(sums, sum.who, sum.entries, sum.ns);
	}
	for (uint64_t i = from + 1; i <= to; i++) {
		const struct lcores_pauses *of = &block_of(lcore, i)->pauses;

		pauses->active += of->active;
		if (of->longest > pauses->longest) {
			pauses->longest = of->longest;
			pauses->who = of->who;
		}
	}
}

/* Reads the entries of these numbers, of which the one before the first is kept. */
static void read_range(const struct lcore *lcore, uint64_t from, uint64_t to, uint64_t until, struct lcores_work *work)
{
	uint64_t first = (from + LCORES_BLOCK - 1) / LCORES_BLOCK, last = to / LCORES_BLOCK;
	struct lcores_pauses pauses = {};
	uint64_t pause = 0; /* the last one */
	struct lcores_sum *sum;
	bool is_work;

	/* the block of the next entry has not started yet */
	last -= to == lcore->num_kept && to % LCORES_BLOCK == 0;
	if (first < last) {
		read_entries(lcore, from, first * LCORES_BLOCK, &work->sums, &pauses);
		read_blocks(lcore, first, last, &work->sums, &pauses);
		read_entries(lcore, last * LCORES_BLOCK, to, &work->sums, &pauses);
	} else {
		read_entries(lcore, from, to, &work->sums, &pauses);
	}
	if (until > entry_of(lcore, to - 1)->ns && !has_gap(lcore, to, to))
		pause = until - entry_of(lcore, to - 1)->ns;
	is_work = to < lcore->num_kept && entry_of(lcore, to)->is_work && entry_of(lcore, to)->ns == until;
	work->silence = is_work ? 0 : pause;
	work->active = pauses.active + (is_work || pause <= LCORES_ACTIVE_NS ? pause : 0);
	if (pauses.longest <= work->silence)
		return;
	work->silence = pauses.longest;
	sum = find_sum(&work->sums, pauses.who);
	/* of one that was replaced, less is known */
	if (sum)
		sum->ns -= pauses.longest < sum->ns ? pauses.longest : sum->ns;
}

/* The number of the first kept entry from a place in the trace on. */
static uint64_t number_at(const struct lcore *lcore, uint64_t oldest, uint32_t order)
{
	return oldest +
	       search_first(i, lcore->num_kept - oldest, (int32_t)(entry_of(lcore, oldest + i)->order - order) >= 0);
}

static uint64_t number_of(const struct lcore *lcore, const struct lcores_moment *at)
{
	return lcore->num_kept - (uint32_t)(lcore->num_kept - at->entry);
}

void lcores_work(const struct lcores *l, const struct lcores_moment *from, const struct lcores_moment *to,
		 struct lcores_work *work)
{
	const struct lcore *lcore;
	uint64_t oldest, first, end, past;

	work->entries = work->read = work->silence = work->active = work->sums.n = 0;
	work->gap = false;
	if (from->lcore == MAP_NONE)
		return;
	lcore = &l->all[from->lcore];
	oldest = lcore->num_kept > LCORES_KEPT ? lcore->num_kept - LCORES_KEPT : 0;
	first = number_of(lcore, from) + 1;
	end = to->lcore == from->lcore ? number_of(lcore, to) : number_at(lcore, oldest, to->order);
	work->entries = end > first ? end - first : 0;
	work->gap = has_gap(lcore, first, end);
	first = max_u64(first, oldest + 1);
	work->read = end > first ? end - first : 0;
	if (end >= first)
		read_range(lcore, first, end, to->ns, work);
	/* entries that are not kept */
	past = work->read < work->entries ? past_silence(lcore, from->ns, to->ns) : 0;
	work->silence = max_u64(work->silence, past);
}

void lcores_work_free(struct lcores_work *work)
{
	free(work->sums.all);
}

void lcores_free(struct lcores *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct lcore *lcore = &l->all[i];

		for (size_t k = 0; k < lcore->num_blocks; k++)
			free(lcore->blocks[k].sums.all);
		free(lcore->blocks);
		free(lcore->kept);
		free(lcore->silences);
		free(lcore->sums.all);
		free((char *)lcore->source.p);
	}
	free(l->all);
	map_free(&l->map);
	*l = (struct lcores){};
}
