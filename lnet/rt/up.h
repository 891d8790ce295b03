/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The node's upcall table: how a lower layer reaches a higher one. lnet/node.c fills it in at open.
 * Every entry is called on a loop, with the token held and no lock held.
 */
#ifndef LNI_RT_UP_H
#define LNI_RT_UP_H

#include <lnet/lnd.h>

struct lnet;

/* What a filter decides about one message (fault rules, tests). */
struct lni_verdict {
	bool drop;  /* tx: ends with status; rx: dropped as if nothing matched */
	int status; /* tx: the error the sender sees; 0 = the message vanishes silently */
	enum lnet_hstatus hs;
};

struct lni_up {
	/* net -> msg */
	int (*msg_in)(
	        struct lnet *n, struct lnet_rail *r, const struct lnet_hdr *h, struct lnet_rx *rx);
	void (*rx_done)(struct lnet *n, struct lnet_rx *rx, int status, enum lnet_hstatus hs);
	void (*tx_done)(
	        struct lnet *n, struct lnet_tx *tx, int status, enum lnet_hstatus hs, bool sent);
	void (*get_done)(struct lnet *n, struct lnet_tx *tx, int status, uint32_t nob);
	/* What waits for an answer of this peer NI gets none: -ECONNRESET the connection died,
	 * -ESTALE the peer came back with a new incarnation, -ESHUTDOWN the rail is taken away; 0:
	 * it is connected again. */
	void (*rail_lost)(struct lnet *n, struct lnet_rail *r, int status);
	/* net -> node: the set of NIs, or a status, changed; the ping info must follow. Any thread.
	 */
	void (*ni_changed)(struct lnet *n);
};

/* Hooks at the LND boundary; NULL = none. On the loop of the rail. */
struct lni_filter {
	bool (*tx)(void *arg, struct lnet_rail *r, const struct lnet_tx *tx, struct lni_verdict *v);
	bool (*rx)(void *arg, struct lnet_rail *r, const struct lnet_hdr *h, struct lni_verdict *v);
	void *arg;
};

#endif
