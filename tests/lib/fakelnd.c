/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/fakelnd.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct fl *of_node(const struct lnet_lnd_node *n)
{
	return (struct fl *)(uintptr_t)n->lnd;
}

static struct fl *of_rail(const struct lnet_rail *r)
{
	return of_node(r->ni->node);
}

static void broken(struct fl *f, const char *why)
{
	if (!f->broken)
		f->broken = why;
}

static void remove_tx(struct fl *f, const struct lnet_tx *tx)
{
	for (unsigned i = 0; i < f->ntx; i++) {
		if (f->tx[i] != tx)
			continue;
		memmove(&f->tx[i], &f->tx[i + 1], (f->ntx - i - 1) * sizeof(f->tx[0]));
		f->ntx--;
		return;
	}
	broken(f, "a message that is not the driver's");
}

/* ---- ends that come later: on the loop, in a work of their own ------------------------------- */

static bool take_tx(struct fl *f, const struct lnet_rail *r, struct lnet_tx **tx)
{
	for (unsigned i = 0; i < f->ntx; i++) {
		if (f->tx[i]->rail == r) {
			*tx = f->tx[i];
			remove_tx(f, *tx);
			return true;
		}
	}
	return false;
}

static void end_rail(struct fl *f, struct lnet_rail *r)
{
	struct lnet_tx *tx;

	while (take_tx(f, r, &tx))
		r->ni->node->up->tx_done(tx, -ESHUTDOWN, LNET_HS_LOCAL_ABORTED, false);
	for (unsigned i = 0; i < f->nrxs;) {
		struct fl_rx *rx = f->rxs[i];

		if (rx->rx.rail != r) {
			i++;
			continue;
		}
		f->rxs[i] = f->rxs[--f->nrxs];
		rx->receiving = false;
		rx->over = true;
		r->ni->node->up->rx_done(&rx->rx, -ESHUTDOWN, LNET_HS_LOCAL_ABORTED);
	}
}

static void run(struct lnet_work *w)
{
	struct fl *f = w->arg;

	f->posted = false;
	while (f->nclosing && !f->quiet_close) {
		struct lnet_rail *r = f->closing[--f->nclosing];

		end_rail(f, r);
		for (unsigned i = 0; i < f->nrails; i++)
			if (f->rail[i] == r)
				f->rail[i] = f->rail[--f->nrails];
		r->ni->node->up->rail_closed(r);
	}
	while (f->nstopping) {
		struct lnet_lnd_ni *ni = f->stopping[--f->nstopping];

		for (unsigned i = 0; i < f->nrails; i++)
			if (f->rail[i]->ni == ni)
				end_rail(f, f->rail[i]);
		for (unsigned i = 0; i < f->nnis; i++)
			if (f->ni[i] == ni)
				f->ni[i] = f->ni[--f->nnis];
		ni->node->up->ni_stopped(ni);
	}
}

static void later(struct fl *f)
{
	if (f->posted)
		return;
	f->posted = true;
	lnet_work_init(&f->work, run, f);
	lnet_loop_post(f->loop, &f->work);
}

/* ---- entries --------------------------------------------------------------------------------- */

static int f_open(struct lnet_lnd_node *n)
{
	struct fl *f = of_node(n);

	f->loop = n->loops[0];
	f->opens += f->open_rc == 0;
	return f->open_rc;
}

static void f_close(struct lnet_lnd_node *n)
{
	struct fl *f = of_node(n);

	f->closes++;
	if (f->nrails || f->nnis || f->ntx)
		broken(f, "closed with rails, interfaces or messages");
}

static int f_ni_start(struct lnet_lnd_ni *ni)
{
	struct fl *f = of_node(ni->node);

	if (f->start_rc)
		return f->start_rc;
	if (!ni->nid.addr[0]) { /* no address: ours to choose */
		memcpy(ni->nid.addr, "\x0a\x63\x63\x63", 4);
	}
	if (!*ni->ifname)
		memcpy(ni->ifname, "fake0", 6);
	ni->speed_mbps = 100;
	ni->mtu = 1500;
	f->ni[f->nnis++] = ni;
	for (unsigned i = 0; i < f->accept_early; i++) {
		struct lnet_nid nid = fl_nid("10.9.9.1@tcp");
		struct lnet_rail *r;

		nid.addr[3] = (uint8_t)(i + 1);
		if (ni->node->up->rail_get(ni, &nid, LNET_PID_LUSTRE, &r) == 0)
			ni->node->up->rail_put(r);
	}
	return 0;
}

static void f_ni_stop(struct lnet_lnd_ni *ni)
{
	struct fl *f = of_node(ni->node);

	f->stopping[f->nstopping++] = ni;
	later(f);
}

static void f_ni_changed(struct lnet_lnd_ni *ni)
{
	of_node(ni->node)->changes++;
}

static int f_rail_open(struct lnet_rail *r)
{
	struct fl *f = of_rail(r);

	if (f->rail_rc)
		return f->rail_rc;
	if (f->nrails == FL_MAX_RAILS)
		return -ENOMEM;
	r->drv = f;
	f->rail[f->nrails++] = r;
	return 0;
}

static void f_rail_close(struct lnet_rail *r)
{
	struct fl *f = of_rail(r);

	f->closing[f->nclosing++] = r;
	later(f);
}

static int f_query(struct lnet_rail *r, struct lnet_rail_info *i)
{
	(void)r;
	*i = (struct lnet_rail_info){.nconns = 1, .conns_wanted = 1, .state = "up"};
	return 0;
}

static int f_send(struct lnet_rail *r, struct lnet_tx *tx)
{
	struct fl *f = of_rail(r);
	int rc = f->at < f->nscript ? f->script[f->at++] : f->send_rc;

	f->sends++;
	if (!lni_loop_held(r->loop))
		broken(f, "send() without the token");
	if (tx->deadline == 0 || tx->len != tx->hdr.payload_length)
		broken(f, "a message without deadline, or of the wrong length");
	if (rc == 0) {
		if (f->ntx == FL_MAX_TX)
			return -ENOMEM;
		f->tx[f->ntx++] = tx;
	}
	return rc;
}

static int f_cancel(struct lnet_rail *r, struct lnet_tx *tx)
{
	struct fl *f = of_rail(r);

	f->cancels++;
	if (f->cancel_rc == 1)
		remove_tx(f, tx);
	return f->cancel_rc;
}

static int f_recv(struct lnet_rx *d, const struct lnet_dst *dst)
{
	struct fl_rx *rx = (struct fl_rx *)(void *)d;
	struct fl *f = of_rail(d->rail);

	f->recvs++;
	if (rx->receiving || rx->over)
		broken(f, "recv() twice");
	if (f->recv_rc < 0)
		return f->recv_rc;
	rx->dst = *dst;
	if (dst->niov)
		memcpy(rx->iov, dst->iov, dst->niov * sizeof(rx->iov[0]));
	rx->dst.iov = rx->iov;
	if (dst->mlen > rx->h.payload_length)
		broken(f, "more is wanted than there is");
	if (f->recv_later) {
		rx->receiving = true;
		f->rxs[f->nrxs++] = rx;
		return 0;
	}
	rx->over = true;
	for (size_t done = 0, off = dst->offset, i = 0; done < dst->mlen; i++) {
		size_t len = rx->iov[i].iov_len;

		if (off >= len) {
			off -= len;
			continue;
		}
		len -= off;
		if (len > dst->mlen - done)
			len = dst->mlen - done;
		memcpy((uint8_t *)rx->iov[i].iov_base + off, rx->payload + done, len);
		done += len;
		off = 0;
	}
	return 1;
}

static int f_discard(struct lnet_rx *d)
{
	struct fl_rx *rx = (struct fl_rx *)(void *)d;
	struct fl *f = of_rail(d->rail);

	f->discards++;
	if (rx->receiving || rx->over)
		broken(f, "discard() of what is being received or over");
	rx->discarded = rx->over = true;
	return 1;
}

static int f_redirect(struct lnet_rx *d)
{
	struct fl_rx *rx = (struct fl_rx *)(void *)d;
	struct fl *f = of_rail(d->rail);

	f->redirects++;
	if (!rx->receiving)
		broken(f, "redirect() of what is not being received");
	rx->redirected = true;
	return f->redirect_rc;
}

static int f_fence(struct lnet_rail *r, struct lnet_fence *fence)
{
	(void)r;
	(void)fence;
	return 1;
}

static void f_dump(struct lnet_rail *r, void (*line)(void *arg, const char *text), void *arg)
{
	(void)r;
	line(arg, "fake rail");
}

void fl_init(struct fl *f)
{
	memset(f, 0, sizeof(*f));
	pthread_mutex_init(&f->lock, NULL);
	f->tun[FL_T_DEPTH] =
	        (struct lnet_tunable){"depth", "adjustable", "", 1, 100, 10, LNET_TUN_RUNTIME};
	f->tun[FL_T_PORT] = (struct lnet_tunable){
	        "port", "of the net", "", 1, 65535, 988, LNET_TUN_NET | LNET_TUN_RUNTIME};
	f->tun[FL_T_FIXED] = (struct lnet_tunable){"fixed", "at the start alone", "", 0, 5, 2, 0};
	f->tun[FL_T_RO] = (struct lnet_tunable){"ro", "shown", "", 0, 5, 1, LNET_TUN_READONLY};
	f->stat = (struct lnet_stat_desc){"beats", "of a heart", ""};
	f->cancel_rc = f->redirect_rc = 1;
	f->lnd = (struct lnet_lnd){.size = sizeof(f->lnd),
	        .abi = LNET_LND_ABI,
	        .name = "tcp",
	        .type = LNET_LND_TCP,
	        .max_payload = LNET_MTU,
	        .max_iov = LNET_MAX_IOV,
	        .def_credits = 256,
	        .def_peer_credits = 8,
	        .tunables = f->tun,
	        .ntunables = FL_T_COUNT,
	        .stats = &f->stat,
	        .nstats = 1,
	        .open = f_open,
	        .close = f_close,
	        .ni_start = f_ni_start,
	        .ni_stop = f_ni_stop,
	        .ni_changed = f_ni_changed,
	        .rail_open = f_rail_open,
	        .rail_close = f_rail_close,
	        .query = f_query,
	        .send = f_send,
	        .cancel = f_cancel,
	        .recv = f_recv,
	        .discard = f_discard,
	        .redirect = f_redirect,
	        .fence = f_fence,
	        .dump = f_dump};
}

void fl_fini(struct fl *f)
{
	if (f->broken)
		fail_msg("the core broke the contract: %s", f->broken);
	assert_int_equal(f->opens, f->closes);
	assert_int_equal(f->ntx, 0);
	pthread_mutex_destroy(&f->lock);
}

/* ---- for the test ---------------------------------------------------------------------------- */

struct lnet_nid fl_nid(const char *text)
{
	struct lnet_nid nid;

	assert_int_equal(lnet_nid_parse(text, strlen(text), &nid, NULL), 0);
	return nid;
}

struct lnet *fl_node(struct fl *f, const struct lnet_opts *opts)
{
	const struct lnet_lnd *lnds[] = {&f->lnd, NULL};
	struct lnet_opts o;
	struct lnet *n;

	if (opts)
		o = *opts;
	else
		lnet_opts_init(&o, sizeof(o));
	o.flags |= LNET_NODE_POLL;
	o.spin_us = 0;
	o.lnds = lnds;
	assert_int_equal(lnet_open(&o, &n), 0);
	/* loaded now: the list is this function's */
	assert_ptr_equal(lnet_lnd_find(n, LNET_LND_TCP), &f->lnd);
	return n;
}

void fl_ni(struct lnet *n, const char *nid, const struct lnet_ni_conf *conf)
{
	struct lnet_ni_conf c;
	char why[200];

	if (conf)
		c = *conf;
	else
		lnet_ni_conf_init(&c, sizeof(c));
	c.nid = fl_nid(nid);
	c.net = lnet_nid_net(&c.nid);
	if (lnet_ni_add(n, &c, NULL, why, sizeof(why)))
		fail_msg("%s: %s", nid, why);
}

unsigned fl_turns(struct lnet *n)
{
	unsigned sum = 0;
	int rc, idle = 0;

	while (idle < 2) {
		rc = lnet_progress(n, 0);
		assert_true(rc >= 0);
		sum += (unsigned)rc;
		idle = rc ? 0 : idle + 1;
	}
	return sum;
}

void fl_hold(struct lnet *n)
{
	for (unsigned i = 0; i < n->nloops; i++)
		assert_true(lni_loop_try(n->loops[i]));
}

void fl_drop(struct lnet *n)
{
	for (unsigned i = n->nloops; i-- > 0;)
		lni_loop_leave(n->loops[i]);
}

struct lnet_rail *fl_rail(struct fl *f, const char *nid, uint32_t pid)
{
	struct lnet_nid id = fl_nid(nid);
	struct lnet_rail *r = NULL;

	assert_true(f->nnis > 0);
	assert_int_equal(f->ni[0]->node->up->rail_get(f->ni[0], &id, pid, &r), 0);
	f->ni[0]->node->up->rail_put(r);
	return r;
}

void fl_event(struct lnet *n, struct lnet_rail *r, enum lnet_rail_event ev, int err)
{
	fl_hold(n);
	r->ni->node->up->rail_event(r, ev, err);
	fl_drop(n);
}

struct lnet_tx *fl_tx(struct fl *f, unsigned i)
{
	if (i >= f->ntx)
		fail_msg("%u messages are with the driver, not %u", f->ntx, i + 1);
	return f->tx[i];
}

void fl_done(struct lnet *n, struct fl *f, struct lnet_tx *tx, int status, enum lnet_hstatus hs)
{
	fl_hold(n);
	remove_tx(f, tx);
	tx->rail->ni->node->up->tx_done(tx, status, hs, status == 0);
	fl_drop(n);
}

void fl_all_done(struct lnet *n, struct fl *f)
{
	while (f->ntx)
		fl_done(n, f, f->tx[0], 0, LNET_HS_OK);
}

void fl_ready(struct lnet *n, struct lnet_rail *r)
{
	fl_hold(n);
	r->ni->node->up->tx_ready(r);
	fl_drop(n);
}

int fl_parse(struct lnet *n, struct lnet_rail *r, const struct lnet_hdr *h, const void *payload,
        struct fl_rx *rx)
{
	memset(rx, 0, sizeof(*rx));
	rx->rx.rail = r;
	rx->h = *h;
	rx->payload = payload;
	fl_hold(n);
	rx->parsed = r->ni->node->up->parse(r, h, &rx->rx);
	fl_drop(n);
	return rx->parsed;
}

void fl_landed(struct lnet *n, struct fl *f, struct fl_rx *rx, int status)
{
	assert_true(rx->receiving);
	for (unsigned i = 0; i < f->nrxs; i++)
		if (f->rxs[i] == rx)
			f->rxs[i] = f->rxs[--f->nrxs];
	rx->receiving = false;
	if (!status && !rx->redirected) {
		size_t left = rx->dst.mlen, at = 0, off = rx->dst.offset;

		for (unsigned i = 0; left; i++) {
			size_t len = rx->iov[i].iov_len;

			if (off >= len) {
				off -= len;
				continue;
			}
			len = len - off < left ? len - off : left;
			memcpy((uint8_t *)rx->iov[i].iov_base + off, rx->payload + at, len);
			at += len;
			left -= len;
			off = 0;
		}
	}
	rx->over = true;
	fl_hold(n);
	rx->rx.rail->ni->node->up->rx_done(
	        &rx->rx, status, status ? LNET_HS_REMOTE_ERROR : LNET_HS_OK);
	fl_drop(n);
}

static struct lnet_hdr hdr(struct lnet_rail *r, uint32_t type, uint32_t len)
{
	return (struct lnet_hdr){.dest_nid = r->ni->nid,
	        .src_nid = r->nid,
	        .dest_pid = LNET_PID_LUSTRE,
	        .src_pid = r->pid,
	        .type = type,
	        .payload_length = len};
}

struct lnet_hdr fl_put_hdr(struct lnet_rail *r, uint32_t portal, uint64_t bits, uint32_t len)
{
	struct lnet_hdr h = hdr(r, LNET_MSG_PUT, len);

	h.msg.put.ack_wmd = (struct lnet_wmd){LNET_COOKIE_NONE, LNET_COOKIE_NONE};
	h.msg.put.ptl_index = portal;
	h.msg.put.match_bits = bits;
	return h;
}

struct lnet_hdr fl_get_hdr(struct lnet_rail *r, uint32_t portal, uint64_t bits, uint32_t len)
{
	struct lnet_hdr h = hdr(r, LNET_MSG_GET, 0);

	h.msg.get.return_wmd = (struct lnet_wmd){1, 2};
	h.msg.get.ptl_index = portal;
	h.msg.get.match_bits = bits;
	h.msg.get.sink_length = len;
	return h;
}

struct lnet_hdr fl_answer_hdr(const struct lnet_tx *tx, uint32_t len)
{
	bool put = tx->hdr.type == LNET_MSG_PUT;
	struct lnet_hdr h = hdr(tx->rail, put ? LNET_MSG_ACK : LNET_MSG_REPLY, put ? 0 : len);

	if (put) {
		h.msg.ack.dst_wmd = tx->hdr.msg.put.ack_wmd;
		h.msg.ack.match_bits = tx->hdr.msg.put.match_bits;
		h.msg.ack.mlength = len;
	} else {
		h.msg.reply.dst_wmd = tx->hdr.msg.get.return_wmd;
	}
	return h;
}

struct want {
	const char *name;
	uint64_t value;
	bool found;
};

static int find_stat(void *arg, const char *name, uint64_t value)
{
	struct want *w = arg;

	if (strcmp(w->name, name))
		return 0;
	w->value = value;
	w->found = true;
	return 1;
}

uint64_t fl_stat(struct lnet *n, const char *name)
{
	struct want w = {.name = name};

	lnet_stats_each(n, find_stat, &w);
	if (!w.found)
		fail_msg("no counter is called %s", name);
	return w.value;
}

bool fl_credits_ok(struct lnet *n)
{
	const struct lni_ni_set *s = atomic_load(&n->net->nis);
	bool ok = true;

	for (unsigned i = 0; i < s->count; i++)
		for (unsigned k = 0; k < n->nloops; k++)
			ok &= lni_credits_ok(&s->ni[i]->share[k].cr);
	for (unsigned b = 0; b < n->net->nbuckets; b++)
		for (const struct lni_pni *p = n->net->table[b]; p; p = p->hnext)
			ok &= lni_credits_ok(&p->cr);
	return ok;
}
