/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ZC-ACKs that we owe to a peer (spec: wire-socklnd.md section 6.2): ranges of cookies in the
 * order in which their payloads came in. They belong to the peer, not to a connection, and die with
 * its connections. We never ask for one ourselves.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tcp.h"

static int grow(struct tcp_owed *o)
{
	uint32_t cap = o->cap ? o->cap * 2 : 8;
	struct tcp_range *r = realloc(o->r, cap * sizeof(*r));

	if (!r)
		return -ENOMEM;
	o->r = r;
	o->cap = cap;
	return 0;
}

int tcp_owe(struct tcp_peer *p, uint64_t cookie)
{
	struct tcp_owed *o = &p->owed;

	if (tcp_list_empty(&p->ack)) {
		tcp_list_add(&p->lane->ackers, &p->ack);
		tcp_lane_kick(p->lane);
	}
	if (o->n && o->r[o->n - 1].hi + 1 == cookie) {
		o->r[o->n - 1].hi = cookie;
		return 0;
	}
	if (o->n >= TCP_MAX_OWED)
		return -ENOBUFS;
	if (o->n == o->cap && grow(o) < 0)
		return -ENOMEM;
	o->r[o->n].lo = cookie;
	o->r[o->n].hi = cookie;
	o->n++;
	return 0;
}

/*
 * The next cookie behind the cursor: {0, c}, or with merge a whole range {lo, hi}. The number of
 * cookies, 0 at the end. Nothing is taken out before tcp_owed_consume().
 */
uint64_t tcp_owed_next(const struct tcp_owed *o, struct tcp_owed_cursor *at, bool merge,
        uint64_t *c0, uint64_t *c1)
{
	const struct tcp_range *r;
	uint64_t lo;

	if (at->i >= o->n)
		return 0;
	r = &o->r[at->i];
	lo = at->next ? at->next : r->lo;
	if (merge && lo != r->hi) {
		*c0 = lo;
		*c1 = r->hi;
	} else {
		*c0 = 0;
		*c1 = lo;
	}
	at->next = *c1 + 1;
	if (*c1 == r->hi) {
		at->next = 0;
		at->i++;
	}
	return *c1 - lo + 1;
}

void tcp_owed_consume(struct tcp_owed *o, uint64_t count)
{
	uint32_t gone = 0;

	while (count && gone < o->n) {
		struct tcp_range *r = &o->r[gone];
		uint64_t n = r->hi - r->lo + 1;

		if (n > count) {
			r->lo += count;
			break;
		}
		count -= n;
		gone++;
	}
	o->n -= gone;
	memmove(o->r, o->r + gone, o->n * sizeof(*o->r));
}

void tcp_owed_clear(struct tcp_owed *o)
{
	free(o->r);
	memset(o, 0, sizeof(*o));
}
