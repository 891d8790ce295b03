/* SPDX-License-Identifier: BSD-2-Clause */
#include "selftest/hist.h"
#include <string.h>

/* Below 2 * STEPS each value has its own step; above, the top 7 bits choose it. */
static unsigned step_of(uint64_t v)
{
	unsigned shift, i;

	if (v < 2 * LST_HIST_STEPS)
		return (unsigned)v;
	shift = 63u - (unsigned)__builtin_clzll(v) - 6u;
	i = shift * LST_HIST_STEPS + (unsigned)(v >> shift);
	return i < LST_HIST_SIZE ? i : LST_HIST_SIZE - 1;
}

/* Largest value of a step. */
static uint64_t top_of(unsigned i)
{
	unsigned shift;

	if (i < 2 * LST_HIST_STEPS)
		return i;
	shift = i / LST_HIST_STEPS - 1;
	return (((uint64_t)(i - shift * LST_HIST_STEPS) + 1) << shift) - 1;
}

void lst_hist_init(struct lst_hist *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

void lst_hist_add(struct lst_hist *h, uint64_t v)
{
	h->n++;
	h->sum += v;
	if (v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
	h->count[step_of(v)]++;
}

void lst_hist_merge(struct lst_hist *to, const struct lst_hist *from)
{
	to->n += from->n;
	to->sum += from->sum;
	if (from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	for (unsigned i = 0; i < LST_HIST_SIZE; i++)
		to->count[i] += from->count[i];
}

uint64_t lst_hist_permille(const struct lst_hist *h, unsigned permille)
{
	uint64_t seen = 0, want, v;

	if (h->n == 0)
		return 0;
	if (permille == 0)
		return h->min;
	want = h->n / 1000 * permille + (h->n % 1000 * permille + 999) / 1000;
	for (unsigned i = 0; i < LST_HIST_SIZE; i++) {
		seen += h->count[i];
		if (seen < want)
			continue;
		v = i == LST_HIST_SIZE - 1 ? h->max : top_of(i);
		return v < h->max ? v : h->max;
	}
	return h->max;
}
