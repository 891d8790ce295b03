/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection that stands: made, watched, given up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tcp.h"

static void conn_event(struct lnet_watch *w, int events)
{
	struct tcp_conn *c = w->arg;
	struct tcp_lane *lane = c->lane;
	struct tcp_ni *ni = lane->ni;

	tcp_ni_get(ni);
	if ((!(events & LNET_WATCH_WRITE) || tcp_tx_flush(c, false)) && events & LNET_WATCH_READ)
		tcp_rx_ready(c);
	tcp_lane_deliver(lane);
	tcp_ni_put(ni);
}

void tcp_conn_watch(struct tcp_conn *c)
{
	int ev = c->rx.state == TCP_RX_DECIDE || c->save ? 0 : LNET_WATCH_READ;

	if (c->rest_len || c->ntx)
		ev |= LNET_WATCH_WRITE;
	lnet_watch_set(&c->watch, ev);
}

struct tcp_conn *tcp_conn_new(
        struct tcp_peer *p, int fd, unsigned type, unsigned version, bool swap)
{
	struct tcp_lane *lane = p->lane;
	struct tcp_conn *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->peer = p;
	c->lane = lane;
	c->since = lnet_loop_now(lane->loop);
	c->type = (uint8_t)type;
	c->version = (uint8_t)version;
	c->swap = swap;
	tcp_list_init(&c->dirty);
	tcp_list_init(&c->rlink);
	tcp_list_init(&c->txq);
	tcp_list_add(&p->conns, &c->link);
	p->nconns++;
	p->count[type]++;
	if (!lane->nconns++ && !lane->hooked) {
		lnet_loop_poll_add(lane->loop, &lane->hook);
		lane->hooked = true;
	}
	lnet_watch_init(&c->watch, lane->loop, fd, conn_event, c);
	tcp_conn_watch(c);
	return c;
}

void tcp_conn_free(struct tcp_conn *c)
{
	struct tcp_ni *ni = c->lane->ni;

	free(c->save);
	free(c);
	tcp_ni_put(ni);
}

/* A message that parse() was told of and that nobody has taken yet stays until somebody does. */
static void end_reading(struct tcp_conn *c, int err)
{
	struct tcp_peer *p = c->peer;

	c->peer = NULL;
	c->in = NULL;
	c->in_len = 0;
	c->rx.status = err;
	tcp_ni_get(c->lane->ni); /* for tcp_conn_free() */
	if (c->rx.state == TCP_RX_PAYLOAD && c->rx.pending) {
		tcp_peer_op_end(p, c->rx.stamp);
		tcp_list_add(&c->lane->rxdone, &c->rlink);
		tcp_lane_kick(c->lane);
	} else if (c->rx.state != TCP_RX_DECIDE) {
		tcp_conn_free(c);
	}
}

void tcp_conn_detach(struct tcp_conn *c, int err, enum lnet_hstatus hs, bool again)
{
	struct tcp_lane *lane = c->lane;
	struct tcp_peer *p = c->peer;
	struct tcp_link *l, *t;

	tcp_stat(tcp_lni(p), TCP_S_CLOSES);
	lnet_watch_set(&c->watch, 0);
	close(c->watch.fd);
	c->watch.fd = -1;
	tcp_lane_forget(lane, c);
	tcp_list_del(&c->link);
	tcp_list_del(&c->dirty);
	tcp_list_del(&c->rlink);
	p->nconns--;
	p->count[c->type]--;
	if (!--lane->nconns && lane->hooked) {
		lnet_loop_poll_del(&lane->hook);
		lane->hooked = false;
	}
	tcp_list_each(l, t, &c->txq)
	{
		struct lnet_tx *tx = tcp_tx(l);
		struct tcp_txd *d = tcp_txd(tx);
		bool started = d->state == TCP_TX_STARTED;

		tcp_tx_unqueue(p, tx);
		if (again && !started && !d->requeued) {
			d->requeued = true;
			tcp_stat(tcp_lni(p), TCP_S_TX_REQUEUED);
			tcp_tx_wait(p, tx);
		} else {
			tcp_tx_end(p, tx, err, hs, started);
		}
	}
	lane->copied -= c->rest_cap;
	free(c->rest);
	c->rest = NULL;
	c->rest_len = 0;
	c->rest_cap = 0;
	end_reading(c, err);
}

void tcp_conn_fail(struct tcp_conn *c, int err, enum lnet_hstatus hs, const char *why)
{
	struct tcp_peer *p = c->peer;
	char nid[LNET_NIDSTR_MAX];
	bool orderly = !err;

	tcp_log(p->lane->ni->node, orderly ? LNET_LOG_INFO : LNET_LOG_WARN, "tcp-close",
	        "%s: connection closed: %s", lnet_nid_str(&p->rail->nid, nid, sizeof(nid)), why);
	tcp_peer_drop(p, orderly ? -ECONNRESET : err, hs, orderly);
}

void tcp_conn_doom(struct tcp_conn *c, int err, enum lnet_hstatus hs)
{
	if (c->doom)
		return;
	c->doom = err;
	c->doom_hs = (uint8_t)hs;
	if (tcp_list_empty(&c->dirty))
		tcp_list_add(&c->lane->dirty, &c->dirty);
	tcp_lane_kick(c->lane);
}
