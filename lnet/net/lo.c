/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "lnet/net/lo_int.h"

/* ---- node, NI ------------------------------------------------------------------------------- */

static int lo_open(struct lnet_lnd_node *n)
{
	struct lo_node *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->node = n;
	o->fabric = n->drv;
	o->rdma = (n->lnd->caps & LNET_LND_REG) != 0;
	n->drv = o;
	return 0;
}

static void lo_close(struct lnet_lnd_node *n)
{
	free(n->drv);
	n->drv = NULL;
}

static void ni_unref(struct lo_ni *n)
{
	pthread_mutex_lock(&n->lock);
	bool last = !--n->refs;
	pthread_mutex_unlock(&n->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&n->lock);
	free(n);
}

static bool all_quiet(const struct lo_ni *n)
{
	const struct lo_rail *r;

	TAILQ_FOREACH(r, &n->rails, link)
	if (!r->quiet)
		return false;
	return true;
}

static void ni_run(struct lnet_work *w)
{
	struct lo_ni *n = w->arg;

	atomic_store(&n->kick.posted, false);
	lo_ni_accept(n);
	if (!atomic_load(&n->stopping))
		return;
	pthread_mutex_lock(&n->lock);
	n->stopped = n->stopped || all_quiet(n);
	bool over = n->stopped;
	pthread_mutex_unlock(&n->lock);
	/* posted again before it stopped: that run ends it */
	if (!over || atomic_load(&n->kick.posted))
		return;
	struct lnet_lnd_ni *ni = n->ni;
	const struct lnet_lnd_up *up = n->node->node->up;
	ni->drv = NULL;
	ni_unref(n);
	up->ni_stopped(ni);
}

static int lo_ni_start(struct lnet_lnd_ni *ni)
{
	struct lnet_nid lo = {.type = LNET_LND_LO};
	struct lo_ni *n;
	int rc;

	if (lnet_nid_is_any(&ni->nid))
		ni->nid = lo;
	if (ni->nid.type != LNET_LND_LO)
		return -EADDRNOTAVAIL;
	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	n->ni = ni;
	n->node = ni->node->drv;
	n->nid = ni->nid;
	n->refs = 1;
	TAILQ_INIT(&n->rails);
	TAILQ_INIT(&n->asks);
	lnet_work_init(&n->work, ni_run, n);
	lo_kick_init(&n->kick, &n->work, ni->loop);
	pthread_mutex_init(&n->lock, NULL);
	rc = lo_ni_list(n);
	if (rc) {
		ni_unref(n);
		return rc;
	}
	ni->drv = n;
	snprintf(ni->ifname, sizeof(ni->ifname), "lo");
	ni->speed_mbps = 0;
	ni->mtu = 0;
	return 0;
}

/* With n->lock held. */
static void mark_rails(struct lo_ni *n, struct lo_kick **list)
{
	struct lo_rail *r;

	TAILQ_FOREACH(r, &n->rails, link)
	lo_mark(list, &r->kick);
}

static void lo_ni_stop(struct lnet_lnd_ni *ni)
{
	struct lo_ni *n = ni->drv;
	struct lo_kick *list = NULL;

	lo_ni_unlist(n);
	pthread_mutex_lock(&n->lock);
	atomic_store(&n->stopping, true);
	lo_mark(&list, &n->kick);
	mark_rails(n, &list);
	pthread_mutex_unlock(&n->lock);
	lo_fire(list);
}

static void lo_ni_changed(struct lnet_lnd_ni *ni)
{
	struct lo_ni *n = ni->drv;
	struct lo_kick *list = NULL;

	/* a larger depth may make room */
	pthread_mutex_lock(&n->lock);
	mark_rails(n, &list);
	pthread_mutex_unlock(&n->lock);
	lo_fire(list);
}

/* ---- rails ---------------------------------------------------------------------------------- */

static void abort_txs(struct lo_rail *r, struct lo_txq *q, int err, enum lnet_hstatus hs, bool sent)
{
	struct lo_tx *t;

	while ((t = TAILQ_FIRST(q)))
		lo_tx_finish(r, t, err, hs, sent);
}

void lo_rail_abort(struct lo_rail *r, int err, enum lnet_hstatus hs)
{
	struct lo_rx *x;

	TAILQ_FOREACH(x, &r->held, link)
	x->err = x->err ? x->err : err;
	TAILQ_FOREACH(x, &r->active, link)
	x->err = x->err ? x->err : err;
	abort_txs(r, &r->txq, err, hs, false);
	abort_txs(r, &r->replies, err, hs, false);
	abort_txs(r, &r->reading, err, hs, true);
	abort_txs(r, &r->gets, err, hs, true);
}

static bool is_idle(const struct lo_rail *r)
{
	return TAILQ_EMPTY(&r->txq) && TAILQ_EMPTY(&r->replies) && TAILQ_EMPTY(&r->reading) &&
	       TAILQ_EMPTY(&r->gets) && TAILQ_EMPTY(&r->doneq) && TAILQ_EMPTY(&r->held) &&
	       TAILQ_EMPTY(&r->active) && TAILQ_EMPTY(&r->fences);
}

/* The NI stops: this rail is done. */
static void rail_quiet(struct lo_rail *r)
{
	struct lo_ni *n = r->ni;
	struct lo_kick *list = NULL;

	pthread_mutex_lock(&n->lock);
	if (!r->quiet && !n->stopped)
		lo_mark(&list, &n->kick);
	r->quiet = true;
	pthread_mutex_unlock(&n->lock);
	lo_fire(list);
}

/* Nobody reaches it after this. */
static void rail_unlink(struct lo_rail *r)
{
	struct lo_ni *n = r->ni;
	struct lo_kick *list = NULL;

	pthread_mutex_lock(&n->lock);
	TAILQ_REMOVE(&n->rails, r, link);
	if (atomic_load(&n->stopping) && !n->stopped)
		lo_mark(&list, &n->kick);
	pthread_mutex_unlock(&n->lock);
	lo_conn_detach_rail(r);
	lo_fire(list);
}

static void rail_end(struct lo_rail *r)
{
	struct lnet_rail *rail = r->rail;

	if (!r->detached)
		rail_unlink(r);
	/* kicked before it was unlinked: that run ends it */
	if (atomic_load(&r->kick.posted))
		return;
	const struct lnet_lnd_up *up = lo_up(r);
	lnet_timer_stop(rail->loop, &r->timer);
	lo_conn_forget_rail(r);
	ni_unref(r->ni);
	free(r);
	up->rail_closed(rail);
}

static void rail_arm(struct lo_rail *r, uint64_t now)
{
	uint64_t when = lo_tx_next_deadline(r);

	if (!r->local && !r->conn && !TAILQ_EMPTY(&r->txq) && r->retry_at > now &&
	        r->retry_at < when)
		when = r->retry_at;
	if (!TAILQ_EMPTY(&r->active)) /* a step a turn */
		when = now;
	if (when == UINT64_MAX)
		lnet_timer_stop(r->rail->loop, &r->timer);
	else
		lnet_timer_arm(r->rail->loop, &r->timer, when);
}

static void rail_progress(struct lo_rail *r, uint64_t now)
{
	if (r->local && !r->up && !TAILQ_EMPTY(&r->txq)) {
		r->up = true;
		lo_up(r)->rail_event(r->rail, LNET_RAIL_UP, 0);
	}
	lo_tx_replies(r);
	if (!r->local) {
		lo_conn_want(r, now);
		lo_tx_transmit(r);
	}
	lo_rx_deliver(r);
}

static void rail_run(struct lnet_work *w)
{
	struct lo_rail *r = w->arg;
	uint64_t now = lnet_loop_now(r->rail->loop);

	atomic_store(&r->kick.posted, false);
	if (!r->local)
		lo_conn_events(r, now);
	lo_tx_expire(r, now);
	if (lo_stopping(r)) {
		lo_conn_drop(r, -ESHUTDOWN);
		lo_rail_abort(r, -ESHUTDOWN, LNET_HS_LOCAL_ABORTED);
	}
	lo_rx_move(r);
	if (!lo_stopping(r))
		rail_progress(r, now);
	lo_tx_dones(r);
	lo_tx_fences(r, now);
	if (lo_stopping(r) && is_idle(r)) {
		if (r->closing)
			rail_end(r);
		else
			rail_quiet(r);
		return;
	}
	rail_arm(r, now);
}

static void rail_timer(struct lnet_timer *t)
{
	struct lo_rail *r = t->arg;

	r->step = true;
	lo_rail_kick(r);
}

static int lo_rail_open(struct lnet_rail *rail)
{
	struct lo_ni *n = rail->ni->drv;
	struct lo_kick *list = NULL;
	struct lo_rail *r;

	if (!n || atomic_load(&n->stopping))
		return -ESHUTDOWN;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->rail = rail;
	r->ni = n;
	r->local = !n->node->fabric || lnet_nid_eq(&rail->nid, &n->nid);
	TAILQ_INIT(&r->txq);
	TAILQ_INIT(&r->replies);
	TAILQ_INIT(&r->reading);
	TAILQ_INIT(&r->gets);
	TAILQ_INIT(&r->doneq);
	TAILQ_INIT(&r->held);
	TAILQ_INIT(&r->active);
	TAILQ_INIT(&r->fences);
	TAILQ_INIT(&r->accepts);
	lnet_work_init(&r->work, rail_run, r);
	lo_kick_init(&r->kick, &r->work, rail->loop);
	lnet_timer_init(&r->timer, rail_timer, r);
	pthread_mutex_lock(&n->lock);
	TAILQ_INSERT_TAIL(&n->rails, r, link);
	n->refs++;
	rail->drv = r;
	if (atomic_load(&n->stopping))
		lo_mark(&list, &r->kick);
	pthread_mutex_unlock(&n->lock);
	lo_fire(list);
	return 0;
}

static void lo_rail_close(struct lnet_rail *rail)
{
	struct lo_rail *r = rail->drv;

	r->closing = true;
	lo_rail_kick(r);
}

/* ---- what it can do ------------------------------------------------------------------------- */

static const struct lnet_tunable lo_tunables[] = {
        [LO_T_TX_DEPTH] = {"tx_depth", "messages of one rail that wait", "messages", 1, 65536, 256,
                LNET_TUN_RUNTIME},
        [LO_T_RDMA_MIN] = {"rdma_min", "a GET for more than this is optimised (fake RDMA)", "bytes",
                0, LNET_MTU, 4096, LNET_TUN_RUNTIME},
        [LO_T_RDMA_DEPTH] = {"rdma_depth", "receives of one rail at a time (fake RDMA)", "messages",
                1, 65536, 16, LNET_TUN_RUNTIME},
};

static const struct lnet_stat_desc lo_stats[LO_S_COUNT] = {
        [LO_S_TX_MSGS] = {"tx_msgs", "messages sent", "messages"},
        [LO_S_TX_BYTES] = {"tx_bytes", "payload sent", "bytes"},
        [LO_S_TX_FAILED] = {"tx_failed", "messages that ended with an error", "messages"},
        [LO_S_RX_MSGS] = {"rx_msgs", "messages that arrived", "messages"},
        [LO_S_RX_BYTES] = {"rx_bytes", "payload that was kept", "bytes"},
        [LO_S_RX_DISCARDED] = {"rx_discarded", "messages thrown away by the core", "messages"},
        [LO_S_RX_FAILED] = {"rx_failed", "receives that ended with an error", "messages"},
        [LO_S_RX_REFUSED] = {"rx_refused", "receives refused: too many under way", "messages"},
        [LO_S_CONNECTS] = {"connects", "connections made", "connections"},
        [LO_S_CONNECT_FAILED] = {"connect_failed", "attempts that failed", "connections"},
        [LO_S_ACCEPTS] = {"accepts", "connections accepted", "connections"},
        [LO_S_LATE] = {"late_answers", "answers to a GET that had ended", "messages"},
        [LO_S_PROTO] = {"proto_errors", "messages that the core refused", "messages"},
};

#define LO_COMMON                                                                             \
	.size = sizeof(struct lnet_lnd), .abi = LNET_LND_ABI, .type = LNET_LND_LO,            \
	.max_payload = LNET_MTU, .max_iov = LNET_MAX_IOV, .def_credits = 256,                 \
	.def_peer_credits = 256, .tunables = lo_tunables,                                     \
	.ntunables = sizeof(lo_tunables) / sizeof(*lo_tunables), .stats = lo_stats,           \
	.nstats = LO_S_COUNT, .open = lo_open, .close = lo_close, .ni_start = lo_ni_start,    \
	.ni_stop = lo_ni_stop, .ni_changed = lo_ni_changed, .rail_open = lo_rail_open,        \
	.rail_close = lo_rail_close, .query = lo_query, .send = lo_send, .cancel = lo_cancel, \
	.recv = lo_recv, .discard = lo_discard, .redirect = lo_redirect, .fence = lo_fence,   \
	.dump = lo_dump

const struct lnet_lnd lni_lnd_lo = {
        LO_COMMON,
        .name = "lo",
        .caps = LNET_LND_VIRTUAL,
        .latency_ns = 500,
};

const struct lnet_lnd lni_lnd_lo_rdma = {
        LO_COMMON,
        .name = "lo-rdma",
        .caps = LNET_LND_VIRTUAL | LNET_LND_OPT_GET | LNET_LND_ASYNC_RECV | LNET_LND_REG,
        .latency_ns = 2000,
        .mem_reg = lo_mem_reg,
        .mem_dereg = lo_mem_dereg,
};
