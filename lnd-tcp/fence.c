/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fences. Everything accepted before a fence may end by itself until the fence's deadline; what is
 * left then is cut off: receives are redirected to nothing, messages cancelled or finished from a
 * copy.
 */
#include <errno.h>

#include "tcp.h"

int tcp_fence(struct lnet_rail *r, struct lnet_fence *f)
{
	struct tcp_fenced *d = (void *)f->drv;
	struct tcp_peer *p = tcp_peer_of(r);

	_Static_assert(sizeof(*d) <= sizeof(f->drv), "fence state does not fit");
	if (!p || !p->outstanding)
		return 1;
	d->stamp = p->stamp++;
	d->left = p->outstanding;
	tcp_list_add(&p->fences, &d->link);
	tcp_peer_arm(p, f->deadline);
	return 0;
}

static bool covered(uint32_t stamp, uint32_t fence)
{
	return (int32_t)(stamp - fence) <= 0;
}

static void cut_txs(struct tcp_peer *p, struct tcp_link *list, uint32_t stamp)
{
	struct tcp_link *l, *t;

	tcp_list_each(l, t, list)
	{
		struct lnet_tx *tx = tcp_tx(l);

		if (covered(tcp_txd(tx)->stamp, stamp))
			tcp_tx_end_early(p, tx, -ETIMEDOUT, LNET_HS_NETWORK_TIMEOUT);
	}
}

/* No byte of an older message can reach or leave the core's memory after this. */
static void cut(struct tcp_peer *p, uint32_t stamp)
{
	cut_txs(p, &p->txq, stamp);
	for (struct tcp_link *l = p->conns.next; l != &p->conns; l = l->next) {
		struct tcp_conn *c = tcp_entry(l, struct tcp_conn, link);

		cut_txs(p, &c->txq, stamp);
		if (c->rx.pending && covered(c->rx.stamp, stamp))
			tcp_redirect(&c->rx.rx);
	}
}

uint64_t tcp_fence_expire(struct tcp_peer *p, uint64_t now)
{
	uint64_t due = TCP_NEVER;
	struct tcp_link *l;
	bool again;

	do {
		again = false;
		for (l = p->fences.next; l != &p->fences; l = l->next) {
			struct tcp_fenced *d = tcp_entry(l, struct tcp_fenced, link);
			struct lnet_fence *f = tcp_entry(d, struct lnet_fence, drv);

			if (f->deadline > now) {
				due = f->deadline < due ? f->deadline : due;
				continue;
			}
			/* Out of the list first: ending messages completes fences. */
			tcp_list_del(l);
			tcp_list_add(&p->lane->fdone, l);
			cut(p, d->stamp);
			again = true;
			break;
		}
	} while (again);
	return due;
}
