/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Path selection: a pure comparison over candidates, and the gathering of candidates for one
 * message.
 */
#ifndef LNI_ROUTE_SELECT_H
#define LNI_ROUTE_SELECT_H

#include "lnet/net/net.h"

/* One way to go. Compared in this order; the first difference decides. */
struct lni_cand {
	bool up;           /* status: comes before score, and never removes the last path */
	int health;        /* higher: the worse of the local NI and the peer NI */
	uint32_t priority; /* lower: policy; 0 is best */
	uint32_t distance; /* lower: NUMA */
	uint64_t finish;   /* lower: expected finish, ns; 0 = unknown */
	int32_t credits;   /* higher */
	uint64_t seq;      /* lower: used least recently */
};

/* The loop on which a message to nid is to be picked a rail: the home of the NID that it will go
 * to. */
struct lnet_loop *lni_route_home(struct lnet *n, const struct lnet_nid *nid);

/* <0: a is better, >0: b is better, 0: equal. */
int lni_cand_cmp(const struct lni_cand *a, const struct lni_cand *b);
/* Index of the best, the first among equals; count > 0. */
unsigned lni_cand_best(const struct lni_cand *c, unsigned count);

/*
 * The rail for a message to (nid, pid), with a reference. source ANY = choose. On the home loop of
 * nid. -EHOSTUNREACH no local net reaches it, or the source is not ours or on another net.
 */
int lni_route_pick(struct lnet *n, const struct lnet_nid *nid, uint32_t pid,
        const struct lnet_nid *source, struct lni_rail **rail);

#endif
