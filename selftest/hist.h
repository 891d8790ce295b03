/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latency histogram, log-linear: 64 steps for each power of two, so a figure read from it is at
 * most 1.6 % above the value recorded. Smallest and largest value and the sum are exact. Not
 * thread-safe.
 */
#ifndef LST_HIST_H
#define LST_HIST_H

#include <stdint.h>

#define LST_HIST_STEPS  64u
#define LST_HIST_POWERS 36u /* values of 2^41 ns (37 minutes) and more share the last step */
#define LST_HIST_SIZE   (LST_HIST_STEPS * LST_HIST_POWERS)

struct lst_hist {
	uint64_t n, sum, min, max;
	uint64_t count[LST_HIST_SIZE];
};

void lst_hist_init(struct lst_hist *h);
void lst_hist_add(struct lst_hist *h, uint64_t v);
void lst_hist_merge(struct lst_hist *to, const struct lst_hist *from);
/* Smallest value that at least this many thousandths of the values do not exceed (990 = p99, 999 =
 * p99.9, 0 = min, 1000 = max). 0 when empty. */
uint64_t lst_hist_permille(const struct lst_hist *h, unsigned permille);

#endif
