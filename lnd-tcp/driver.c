/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of the tcp driver, and its part of a node. */
#include <errno.h>
#include <stdlib.h>

#include "driver.h"
#include "tcp.h"

static int tcp_open(struct lnet_lnd_node *n)
{
	struct tcp_node *t = calloc(1, sizeof(*t));

	_Static_assert(sizeof(struct tcp_txd) <= sizeof(((struct lnet_tx *)0)->drv),
	        "tx state does not fit");
	if (!t)
		return -ENOMEM;
	t->n = n;
	n->drv = t;
	return 0;
}

static void tcp_close(struct lnet_lnd_node *n)
{
	free(n->drv);
	n->drv = NULL;
}

const struct lnet_lnd lnet_lnd_tcp = {
        .size = sizeof(struct lnet_lnd),
        .abi = LNET_LND_ABI,
        .name = "tcp",
        .type = LNET_LND_TCP,
        /* Credits come back when a message is in the batch; only the socket's room slows a sender.
         */
        .caps = LNET_LND_CREDIT_ON_SEND,
        .max_payload = LNET_MTU,
        .max_iov = LNET_MAX_IOV,
        .latency_ns = 20000,
        .def_credits = 256,
        .def_peer_credits = 8,
        .tunables = tcp_tunables,
        .ntunables = TCP_T_COUNT,
        .stats = tcp_stats,
        .nstats = TCP_S_COUNT,
        .open = tcp_open,
        .close = tcp_close,
        .ni_start = tcp_ni_start,
        .ni_stop = tcp_ni_stop,
        .ni_changed = tcp_ni_changed,
        .rail_open = tcp_rail_open,
        .rail_close = tcp_rail_close,
        .query = tcp_query,
        .send = tcp_send,
        .cancel = tcp_cancel,
        .recv = tcp_recv,
        .discard = tcp_discard,
        .redirect = tcp_redirect,
        .fence = tcp_fence,
        .dump = tcp_dump,
};

const struct lnet_lnd *lnet_lnd_driver(void)
{
	return &lnet_lnd_tcp;
}
