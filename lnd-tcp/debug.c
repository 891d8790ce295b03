/* SPDX-License-Identifier: BSD-2-Clause */
/* What a rail is doing: for selection, and for people. */
#include <stdio.h>
#include <string.h>
#include <linux/tcp.h>

#include "tcp.h"

static const char *state(const struct tcp_peer *p)
{
	if (p->nconns)
		return "up";
	if (p->hs || p->waiting)
		return "connecting";
	if (p->next_try > lnet_loop_now(p->lane->loop))
		return "backoff";
	return "idle";
}

static bool tcp_info(const struct tcp_conn *c, struct tcp_info *ti)
{
	socklen_t len = sizeof(*ti);

	memset(ti, 0, sizeof(*ti));
	return getsockopt(c->watch.fd, IPPROTO_TCP, TCP_INFO, ti, &len) == 0;
}

/* Time since the oldest byte that is not confirmed was written, at most; 0 = all are. */
static uint64_t unacked_for(struct tcp_conn *c, const struct tcp_info *ti, uint64_t now)
{
	uint64_t age, ack = (uint64_t)ti->tcpi_last_ack_recv * TCP_MS;

	if (!ti->tcpi_unacked && !ti->tcpi_notsent_bytes) {
		c->tx_first = 0;
		return 0;
	}
	age = c->tx_first && now > c->tx_first ? now - c->tx_first : 0;
	age = age < ack ? age : ack;
	return age ? age : 1;
}

int tcp_query(struct lnet_rail *r, struct lnet_rail_info *info)
{
	struct tcp_peer *p = tcp_peer_of(r);
	struct tcp_info ti;
	uint64_t now;

	memset(info, 0, sizeof(*info));
	info->state = "idle";
	if (!p)
		return 0;
	now = lnet_loop_now(p->lane->loop);
	info->state = state(p);
	info->nconns = p->nconns;
	info->conns_wanted = p->lone ? 1 : 1 + 2 * tcp_peer_wanted(p);
	if (p->count[TCP_CTYPE_ANY] && !p->lone)
		info->conns_wanted = tcp_peer_wanted(p);
	if (p->settled)
		info->conns_wanted = p->nconns;
	info->tx_queued = p->txq_bytes;
	info->last_alive = p->last_rx;
	info->peer_incarnation = p->incarnation;
	info->last_errno = p->last_errno;
	for (struct tcp_link *l = p->conns.next; l != &p->conns; l = l->next) {
		struct tcp_conn *c = tcp_entry(l, struct tcp_conn, link);
		uint64_t age;

		info->tx_queued += c->tx_bytes - c->head_off + c->rest_len;
		if (!tcp_info(c, &ti))
			continue;
		info->rate += ti.tcpi_delivery_rate;
		age = unacked_for(c, &ti, now);
		info->oldest_unacked = age > info->oldest_unacked ? age : info->oldest_unacked;
	}
	return 0;
}

static const char *rx_state(const struct tcp_conn *c)
{
	switch (c->rx.state) {
	case TCP_RX_HEADER:
		return c->have ? "half a header" : "between messages";
	case TCP_RX_DECIDE:
		return "waits for the core";
	default:
		return c->rx.aside ? "payload, thrown away" : "payload";
	}
}

static void dump_tx(const struct tcp_link *l, uint64_t now, const char *where,
        void (*line)(void *, const char *), void *arg)
{
	const struct tcp_txd *d = tcp_entry(l, struct tcp_txd, link);
	const struct lnet_tx *tx = tcp_entry(d, struct lnet_tx, drv);
	char buf[256];

	snprintf(buf, sizeof(buf), "    tx type %u len %u %s, %s, deadline in %lld ms",
	        tx->hdr.type, tx->len, d->state == TCP_TX_STARTED ? "started" : "queued", where,
	        (long long)((int64_t)(tx->deadline - now) / (int64_t)TCP_MS));
	line(arg, buf);
}

static void dump_conn(
        const struct tcp_conn *c, uint64_t now, void (*line)(void *, const char *), void *arg)
{
	char buf[256];

	snprintf(buf, sizeof(buf),
	        "  conn fd %d %s v%u%s: tx %u messages %llu bytes, first at %zu, raw %zu; rx %s, "
	        "left %u; "
	        "idle %llu ms%s",
	        c->watch.fd, tcp_ctype_name(c->type), c->version, c->swap ? " big-endian" : "",
	        c->ntx, (unsigned long long)c->tx_bytes, c->head_off, c->rest_len, rx_state(c),
	        c->rx.left,
	        (unsigned long long)((now - (c->rx_moved ? c->rx_moved : c->since)) / TCP_MS),
	        c->doom ? ", to be closed" : "");
	line(arg, buf);
	for (const struct tcp_link *l = c->txq.next; l != &c->txq; l = l->next)
		dump_tx(l, now, "waits for room in the socket", line, arg);
}

void tcp_dump(struct lnet_rail *r, void (*line)(void *arg, const char *text), void *arg)
{
	struct tcp_peer *p = tcp_peer_of(r);
	char buf[320], nid[LNET_NIDSTR_MAX];
	const char *hs;
	uint64_t now;

	if (!p)
		return;
	now = lnet_loop_now(p->lane->loop);
	hs = tcp_active_what(p);
	snprintf(buf, sizeof(buf),
	        "rail %s pid %u: %s, %u connections, version %u, incarnation %llx, owed %u ranges, "
	        "refusals %u, last error %d%s%s",
	        lnet_nid_str(&p->rail->nid, nid, sizeof(nid)), p->rail->pid, state(p), p->nconns,
	        p->version, (unsigned long long)p->incarnation, p->owed.n, p->refusals,
	        p->last_errno, hs ? ", " : "", hs ? hs : "");
	line(arg, buf);
	for (const struct tcp_link *l = p->txq.next; l != &p->txq; l = l->next)
		dump_tx(l, now, "waits for a connection", line, arg);
	for (const struct tcp_link *l = p->conns.next; l != &p->conns; l = l->next)
		dump_conn(tcp_entry(l, struct tcp_conn, link), now, line, arg);
	for (const struct tcp_link *l = p->fences.next; l != &p->fences; l = l->next) {
		snprintf(buf, sizeof(buf), "  fence waits for %u operations",
		        tcp_entry(l, struct tcp_fenced, link)->left);
		line(arg, buf);
	}
}
