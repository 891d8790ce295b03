/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "lnet/net/lo_int.h"

static const char *state_of(const struct lo_rail *r)
{
	if (r->up)
		return "up";
	return r->conn || r->silent ? "connecting" : "idle";
}

int lo_query(struct lnet_rail *rail, struct lnet_rail_info *info)
{
	const struct lo_rail *r = rail->drv;

	*info = (struct lnet_rail_info){
	        .nconns = r->up ? 1 : 0,
	        .conns_wanted = 1,
	        .tx_queued = r->tx_bytes,
	        .last_alive = r->last_alive,
	        .peer_incarnation = r->peer_inc,
	        .last_errno = r->last_errno,
	        .state = state_of(r),
	};
	return 0;
}

struct printer {
	void (*line)(void *arg, const char *text);
	void *arg;
	uint64_t now;
};

static void say_txs(const struct printer *p, const struct lo_txq *q, const char *waits)
{
	static const char *const types[] = {"ACK", "PUT", "GET", "REPLY"};
	struct lo_tx *t;
	char buf[160];

	TAILQ_FOREACH(t, q, link)
	{
		const struct lnet_tx *tx = lo_tx_pub(t);
		snprintf(buf, sizeof(buf),
		        "tx %s %" PRIu32 " bytes: %s; deadline in %" PRId64 " ms",
		        types[tx->hdr.type & 3], tx->len, waits,
		        (int64_t)(tx->deadline - p->now) / 1000000);
		p->line(p->arg, buf);
	}
}

static void say_rxs(const struct printer *p, const struct lo_rxq *q, const char *waits)
{
	struct lo_rx *x;
	char buf[160];

	TAILQ_FOREACH(x, q, link)
	{
		snprintf(buf, sizeof(buf), "rx %" PRIu32 " of %" PRIu32 " bytes: %s", x->moved,
		        x->len, x->rx.want_reply ? "waits for the core's REPLY" : waits);
		p->line(p->arg, buf);
	}
}

void lo_dump(struct lnet_rail *rail, void (*line)(void *arg, const char *text), void *arg)
{
	const struct lo_rail *r = rail->drv;
	struct printer p = {line, arg, lnet_loop_now(rail->loop)};
	struct lo_fence *f;
	char nid[LNET_NIDSTR_MAX], buf[200];

	snprintf(buf, sizeof(buf),
	        "lo %s: %s, %u messages (%" PRIu64 " bytes) wait, incarnation %" PRIu64
	        ", last error %d",
	        lnet_nid_str(&rail->nid, nid, sizeof(nid)), state_of(r), r->ntx, r->tx_bytes,
	        r->peer_inc, r->last_errno);
	line(arg, buf);
	say_txs(&p, &r->txq, r->up ? "waits for its turn" : "waits for a connection");
	say_txs(&p, &r->replies, "waits to answer a GET");
	say_txs(&p, &r->reading, "being received");
	say_txs(&p, &r->gets, "waits for the data");
	say_txs(&p, &r->doneq, "done, the core is to be told");
	say_rxs(&p, &r->held, "waits for the core's decision");
	say_rxs(&p, &r->active, "being received");
	TAILQ_FOREACH(f, &r->fences, link)
	line(arg, "fence: waits for what is older");
}
