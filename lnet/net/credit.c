/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sending under credits: peer NI first, then the NI's share of this loop, then the driver.
 *
 * A driver that returns credits when it accepts (LNET_LND_CREDIT_ON_SEND) bounds its own queue by
 * -EAGAIN; the messages then wait on the rail.
 */
#include <assert.h>
#include <errno.h>

#include "lnet/net/net.h"

void lni_credits_init(struct lni_credits *c, int32_t max)
{
	*c = (struct lni_credits){.max = max, .free = max, .low = max};
}

void lni_pni_credits(struct lni_pni *p, const struct lni_ni *ni)
{
	/* interfaces of a net may come again with other numbers: what is at rest follows */
	if (p->cr.max != ni->d.peer_credits && p->cr.used == 0 && p->cr.waiting == 0)
		lni_credits_init(&p->cr, ni->d.peer_credits);
}

bool lni_credits_ok(const struct lni_credits *c)
{
	return c->free >= 0 && c->used >= 0 && c->free + c->used == c->max;
}

static void take(struct lni_credits *c)
{
	c->free--;
	c->used++;
	if (c->free - c->waiting < c->low)
		c->low = c->free - c->waiting;
	assert(lni_credits_ok(c));
}

static void give(struct lni_credits *c)
{
	c->used--;
	c->free++;
	assert(lni_credits_ok(c));
}

static void wait_in(
        struct lni_tx *t, enum lni_tx_where where, struct lni_list *q, struct lni_credits *c)
{
	t->where = (uint8_t)where;
	lni_list_add_tail(q, &t->node);
	if (c) {
		c->waiting++;
		if (c->free - c->waiting < c->low)
			c->low = c->free - c->waiting;
	}
	if (!t->timer.slot) {
		lnet_timer_init(&t->timer, lni_tx_timer, t);
		lnet_timer_arm(t->rail->d.loop, &t->timer, t->d.deadline);
	}
}

static void unwait(struct lni_tx *t)
{
	lni_list_del(&t->node);
	if (t->where == LNI_TX_WAIT_PEER)
		t->rail->pni->cr.waiting--;
	else if (t->where == LNI_TX_WAIT_NI)
		lni_share_of(t->rail)->cr.waiting--;
	t->where = LNI_TX_IDLE;
}

static void pump_peer(struct lni_pni *p);
static void pump_ni(struct lni_share *s);

static void give_back(struct lni_tx *t)
{
	struct lni_rail *r = t->rail;
	bool ni = t->has_ni, peer = t->has_peer;

	t->has_ni = t->has_peer = false;
	if (ni)
		give(&lni_share_of(r)->cr);
	if (peer)
		give(&r->pni->cr);
	if (ni && lni_share_of(r)->cr.waiting)
		pump_ni(lni_share_of(r));
	if (peer && r->pni->cr.waiting)
		pump_peer(r->pni);
}

static void count_sent(struct lni_tx *t)
{
	struct lni_share *s = lni_share_of(t->rail);
	struct lnet_traffic *tr[2] = {&s->traffic, &t->rail->pni->traffic};
	struct lni_counters *c = lni_ctr(t->rail->pni->n, t->rail->d.loop);

	for (int i = 0; i < 2; i++) {
		tr[i]->send_count++;
		tr[i]->send_bytes += t->d.len;
		(*lni_msg_count(&tr[i]->sent, t->d.hdr.type))++;
	}
	c->send_count++;
	c->send_length += t->d.len;
}

/* A message that ended without the driver: told like one that the driver ended. */
static void end(struct lni_tx *t, int status, enum lnet_hstatus hs)
{
	struct lni_rail *r = t->rail;

	if (t->timer.slot)
		lnet_timer_stop(r->d.loop, &t->timer);
	t->where = LNI_TX_IDLE;
	give_back(t);
	r->pni->n->up.tx_done(r->pni->n, &t->d, status, hs, false);
	lni_rail_put(r);
}

/* Give it to the driver. 0 accepted or waiting, 1 finished, <0 failed (credits still held). */
static int dispatch(struct lni_tx *t)
{
	struct lni_rail *r = t->rail;
	struct lnet *n = r->pni->n;
	const struct lnet_lnd *lnd = r->ni->d.node->lnd;
	struct lni_verdict v = {0};
	int rc;

	if (n->filter.tx && n->filter.tx(n->filter.arg, &r->d, &t->d, &v) && v.drop) {
		lni_ctr(n, r->d.loop)->drop_filter++;
		return v.status < 0 ? v.status : 1;
	}
	if (r->closing)
		return -ESHUTDOWN;
	t->where = LNI_TX_DRIVER;
	rc = lni_list_empty(&r->blocked) ? lnd->send(&r->d, &t->d) : -EAGAIN;
	if (rc == -EAGAIN) {
		wait_in(t, LNI_TX_WAIT_LND, &r->blocked, NULL);
		return 0;
	}
	if (t->timer.slot)
		lnet_timer_stop(r->d.loop, &t->timer);
	if (rc < 0) {
		t->where = LNI_TX_IDLE;
		return rc;
	}
	t->accepted = true;
	count_sent(t);
	if (lnd->caps & LNET_LND_CREDIT_ON_SEND)
		give_back(t);
	return rc;
}

/* From the NI's credit on. As dispatch(). */
static int want_ni(struct lni_tx *t)
{
	struct lni_share *s = lni_share_of(t->rail);

	if (s->cr.free <= 0 || !lni_list_empty(&s->waiters)) {
		wait_in(t, LNI_TX_WAIT_NI, &s->waiters, &s->cr);
		return 0;
	}
	take(&s->cr);
	t->has_ni = true;
	return dispatch(t);
}

/* A waiter goes on; what fails now is told by the upcall. */
static void go_on(struct lni_tx *t, int (*step)(struct lni_tx *))
{
	int rc = step(t);

	if (rc < 0)
		end(t, rc, LNET_HS_LOCAL_ERROR);
	else if (rc == 1)
		end(t, 0, LNET_HS_OK);
}

static void pump_peer(struct lni_pni *p)
{
	if (p->pumping)
		return;
	p->pumping = true;
	while (p->cr.free > 0 && !lni_list_empty(&p->queue)) {
		struct lni_tx *t = lni_container(lni_list_first(&p->queue), struct lni_tx, node);

		unwait(t);
		take(&p->cr);
		t->has_peer = true;
		go_on(t, want_ni);
	}
	p->pumping = false;
}

static void pump_ni(struct lni_share *s)
{
	if (s->pumping)
		return;
	s->pumping = true;
	while (s->cr.free > 0 && !lni_list_empty(&s->waiters)) {
		struct lni_tx *t = lni_container(lni_list_first(&s->waiters), struct lni_tx, node);

		unwait(t);
		take(&s->cr);
		t->has_ni = true;
		go_on(t, dispatch);
	}
	s->pumping = false;
}

int lni_tx_submit(struct lni_tx *t, struct lni_rail *r)
{
	struct lni_pni *p = r->pni;
	int rc;

	t->rail = r;
	t->d.rail = &r->d;
	t->has_peer = t->has_ni = t->accepted = false;
	lni_pni_credits(p, r->ni);
	lni_rail_hold(r);
	if (r->ni->d.node->lnd->caps & LNET_LND_VIRTUAL) {
		rc = dispatch(t); /* loopback uses no credits */
	} else if (p->cr.free <= 0 || !lni_list_empty(&p->queue)) {
		wait_in(t, LNI_TX_WAIT_PEER, &p->queue, &p->cr);
		return 0;
	} else {
		take(&p->cr);
		t->has_peer = true;
		rc = want_ni(t);
	}
	if (rc == 0)
		return 0;
	t->where = LNI_TX_IDLE;
	give_back(t);
	lni_rail_put(r);
	return rc;
}

int lni_tx_cancel(struct lni_tx *t)
{
	struct lni_rail *r = t->rail;

	switch (t->where) {
	case LNI_TX_WAIT_PEER:
	case LNI_TX_WAIT_NI:
	case LNI_TX_WAIT_LND:
		unwait(t);
		if (t->timer.slot)
			lnet_timer_stop(r->d.loop, &t->timer);
		break;
	case LNI_TX_DRIVER:
		if (r->ni->d.node->lnd->cancel(&r->d, &t->d) != 1)
			return 0;
		t->where = LNI_TX_IDLE;
		break;
	default:
		return 1;
	}
	give_back(t);
	lni_rail_put(r);
	return 1;
}

void lni_tx_timer(struct lnet_timer *timer)
{
	struct lni_tx *t = timer->arg;

	unwait(t);
	end(t, -ETIMEDOUT, LNET_HS_NETWORK_TIMEOUT);
}

/* Driver upcalls that concern credits. */
void lni_up_tx_done(struct lnet_tx *tx, int status, enum lnet_hstatus hs, bool sent)
{
	struct lni_tx *t = lni_container(tx, struct lni_tx, d);
	struct lni_rail *r = t->rail;
	struct lnet *n = r->pni->n;

	t->where = LNI_TX_IDLE;
	give_back(t);
	if (!r->closing) /* what we take away ourselves is nobody's fault */
		lni_health_note(r, hs);
	n->up.tx_done(n, tx, status, hs, sent);
	lni_rail_put(r);
}

void lni_up_tx_ready(struct lnet_rail *d)
{
	struct lni_rail *r = lni_rail_of(d);
	const struct lnet_lnd *lnd = r->ni->d.node->lnd;

	while (!lni_list_empty(&r->blocked)) {
		struct lni_tx *t = lni_container(lni_list_first(&r->blocked), struct lni_tx, node);
		int rc;

		unwait(t);
		t->where = LNI_TX_DRIVER;
		rc = r->closing ? -ESHUTDOWN : lnd->send(d, &t->d);
		if (rc == -EAGAIN) {
			t->where = LNI_TX_WAIT_LND;
			lni_list_add(&r->blocked, &t->node);
			return;
		}
		if (t->timer.slot)
			lnet_timer_stop(r->d.loop, &t->timer);
		if (rc < 0) {
			end(t, rc, LNET_HS_LOCAL_ERROR);
			continue;
		}
		t->accepted = true;
		count_sent(t);
		if (rc == 1)
			end(t, 0, LNET_HS_OK);
		else if (lnd->caps & LNET_LND_CREDIT_ON_SEND)
			give_back(t);
	}
}
