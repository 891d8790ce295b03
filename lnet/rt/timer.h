/* SPDX-License-Identifier: BSD-2-Clause */
/* The timers of a loop: a 4-ary heap by (when, order of arming). Pure; the loop gives the time. */
#ifndef LNI_RT_TIMER_H
#define LNI_RT_TIMER_H

#include <lnet/lnd.h>

struct lni_timer_slot {
	uint64_t when;
	uint64_t seq;
	struct lnet_timer *t;
};

struct lni_timers {
	struct lni_timer_slot *v;
	uint32_t n, cap;
	uint64_t seq;
	uint64_t floor; /* while timers fire: the time that they fire for */
};

/* -ENOMEM. */
int lni_timers_init(struct lni_timers *h);
void lni_timers_fini(struct lni_timers *h);
/* Insert, or move when it is in the heap already. */
void lni_timers_arm(struct lni_timers *h, struct lnet_timer *t, uint64_t when);
void lni_timers_stop(struct lni_timers *h, struct lnet_timer *t);
/* Call every timer that is due at `now` and was there at the call; their number. */
unsigned lni_timers_fire(struct lni_timers *h, uint64_t now);

/* When the next one is due; UINT64_MAX = none. */
static inline uint64_t lni_timers_top(const struct lni_timers *h)
{
	return h->n ? h->v[0].when : UINT64_MAX;
}

#endif
