/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes, NIs and rails of the fake core. */
#include "lib/fc_int.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fc_fail(struct fc_node *n, const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&n->fault_lock);
	if (!n->nfaults++) {
		int at = snprintf(n->fault, sizeof(n->fault), "node %s: ", n->name ? n->name : "?");
		va_start(ap, fmt);
		vsnprintf(n->fault + at, sizeof(n->fault) - (size_t)at, fmt, ap);
		va_end(ap);
	}
	pthread_mutex_unlock(&n->fault_lock);
}

unsigned fc_faults(struct fc_node *n, const char **text)
{
	pthread_mutex_lock(&n->fault_lock);
	unsigned k = n->nfaults;
	pthread_mutex_unlock(&n->fault_lock);
	*text = n->fault;
	return k;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

/* A thread may still be on its way out of another loop that it posted to: all end, then all go. */
static void loops_stop(struct fc_node *n)
{
	for (unsigned i = 0; n->threads && i < n->nloops; i++)
		lni_loop_stop(n->loops[i]);
	n->threads = false;
}

static void loops_end(struct fc_node *n)
{
	loops_stop(n);
	for (unsigned i = 0; i < n->nloops; i++)
		lni_loop_free(n->loops[i]);
	n->nloops = 0;
}

static int loops_begin(struct fc_node *n, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct lni_loop_conf c = {.poll = !n->threads, .index = i, .name = "fake"};
		int rc = lni_loop_new(&c, &n->loops[i]);
		if (rc)
			return rc;
		n->nloops++;
		if (n->threads && (rc = lni_loop_start(n->loops[i])))
			return rc;
	}
	return 0;
}

static void node_free(struct fc_node *n)
{
	loops_end(n);
	pthread_mutex_destroy(&n->lock);
	pthread_mutex_destroy(&n->fault_lock);
	free(n->ni.d.tunables);
	free(n->ni.d.stats);
	free(n->seen);
	free(n);
}

int fc_node_new(const struct fc_conf *c, struct fc_node **out)
{
	struct fc_node *n = calloc(1, sizeof(*n));
	int rc;

	if (!n)
		return -ENOMEM;
	pthread_mutex_init(&n->lock, NULL);
	pthread_mutex_init(&n->fault_lock, NULL);
	n->threads = c->threads;
	n->rnd.s = c->seed ? c->seed : 1;
	n->answer_max = UINT32_MAX;
	rc = loops_begin(n, c->nloops ? c->nloops : 1);
	if (rc) {
		node_free(n);
		return rc;
	}
	n->d = (struct lnet_lnd_node){
	        .lnd = c->lnd,
	        .up = &fc_up,
	        .core = n,
	        .drv = c->drv,
	        .loops = n->loops,
	        .nloops = n->nloops,
	        .pid = c->pid ? c->pid : LNET_PID_LUSTRE,
	        .incarnation = c->incarnation,
	        .client = c->client,
	};
	rc = c->lnd->open(&n->d);
	if (rc) {
		node_free(n);
		return rc;
	}
	n->opened = true;
	*out = n;
	return 0;
}

static void free_objects(struct fc_node *n)
{
	struct fc_tx *tx;
	struct fc_rx *rx;
	struct fc_rail *r;

	while ((tx = n->txs))
		fc_tx_free(tx);
	while ((rx = n->rxs)) {
		n->rxs = rx->next;
		fc_mem_free(rx->mem);
		free(rx);
	}
	fc_mem_unwatch(n, true);
	while ((r = n->rails)) {
		n->rails = r->next;
		free(r);
	}
}

void fc_node_end(struct fc_node *n)
{
	if (n->paused)
		fc_resume(n);
	fc_lnd(n)->close(&n->d);
	n->opened = false;
	free_objects(n);
	loops_stop(n);
}

void fc_node_free(struct fc_node *n)
{
	if (n->opened)
		fc_node_end(n);
	node_free(n);
}

static int set_tuns(struct fc_node *n, const struct fc_tun *tun, unsigned ntun)
{
	const struct lnet_lnd *l = fc_lnd(n);

	for (unsigned i = 0; i < l->ntunables; i++)
		n->ni.d.tunables[i] = l->tunables[i].def;
	for (unsigned k = 0; k < ntun; k++) {
		unsigned i = 0;
		while (i < l->ntunables && strcmp(l->tunables[i].name, tun[k].name))
			i++;
		if (i == l->ntunables)
			return -ENOENT;
		n->ni.d.tunables[i] = tun[k].value;
	}
	return 0;
}

static int call_ni_start(void *arg)
{
	struct fc_node *n = arg;

	fc_enter(n, n->ni.d.loop);
	int rc = fc_lnd(n)->ni_start(&n->ni.d);
	fc_leave(n, n->ni.d.loop);
	return rc;
}

int fc_ni_start(
        struct fc_node *n, const struct lnet_nid *nid, const struct fc_tun *tun, unsigned ntun)
{
	const struct lnet_lnd *l = fc_lnd(n);
	int rc;

	free(n->ni.d.tunables);
	free(n->ni.d.stats);
	memset(&n->ni, 0, sizeof(n->ni));
	n->ni.d = (struct lnet_lnd_ni){
	        .node = &n->d,
	        .core = n,
	        .loop = n->loops[0],
	        .nid = *nid,
	        .peer_credits = l->def_peer_credits,
	        .credits = l->def_credits,
	        .accept = LNET_ACCEPT_ALL,
	        .tunables = calloc(l->ntunables + 1, sizeof(int64_t)),
	        .stats = calloc(l->nstats + 1, sizeof(uint64_t)),
	};
	if (!n->ni.d.tunables || !n->ni.d.stats)
		return -ENOMEM;
	memcpy(n->ni.d.ifname, n->ifname, sizeof(n->ifname));
	rc = set_tuns(n, tun, ntun);
	if (!rc)
		rc = fc_do(n->ni.d.loop, call_ni_start, n);
	n->ni.started = !rc;
	return rc;
}

static int call_ni_stop(void *arg)
{
	struct fc_node *n = arg;

	fc_enter(n, n->ni.d.loop);
	fc_lnd(n)->ni_stop(&n->ni.d);
	fc_leave(n, n->ni.d.loop);
	return 0;
}

void fc_ni_stop(struct fc_node *n)
{
	n->ni.stopping = true;
	fc_do(n->ni.d.loop, call_ni_stop, n);
}

uint64_t *fc_stat(struct fc_node *n, const char *name)
{
	for (unsigned i = 0; i < fc_lnd(n)->nstats; i++)
		if (!strcmp(fc_lnd(n)->stats[i].name, name))
			return &n->ni.d.stats[i];
	return NULL;
}

static int64_t *tunable(const struct fc_node *n, const char *name)
{
	for (unsigned i = 0; i < fc_lnd(n)->ntunables; i++)
		if (!strcmp(fc_lnd(n)->tunables[i].name, name))
			return &n->ni.d.tunables[i];
	return NULL;
}

int64_t fc_tunable(const struct fc_node *n, const char *name)
{
	int64_t *t = tunable(n, name);

	return t ? *t : -1;
}

static int call_changed(void *arg)
{
	struct fc_node *n = arg;

	fc_enter(n, n->ni.d.loop);
	fc_lnd(n)->ni_changed(&n->ni.d);
	fc_leave(n, n->ni.d.loop);
	return 0;
}

int fc_set_tunable(struct fc_node *n, const char *name, int64_t v)
{
	int64_t *t = tunable(n, name);

	if (!t)
		return -ENOENT;
	__atomic_store_n(t, v, __ATOMIC_RELAXED);
	return fc_do(n->ni.d.loop, call_changed, n);
}

int fc_do(struct lnet_loop *l, int (*fn)(void *arg), void *arg)
{
	return lni_loop_call(l, fn, arg);
}

int fc_node_turn(struct fc_node *n)
{
	int events = 0;

	for (unsigned i = 0; i < n->nloops; i++) {
		int rc = lni_loop_turn(n->loops[i], 0);
		if (rc > 0)
			events += rc;
	}
	return events;
}

void fc_pause(struct fc_node *n)
{
	for (unsigned i = 0; i < n->nloops; i++)
		while (!lni_loop_try(n->loops[i]))
			tl_sleep(TL_US);
	n->paused = true;
}

void fc_resume(struct fc_node *n)
{
	n->paused = false;
	for (unsigned i = 0; i < n->nloops; i++)
		lni_loop_leave(n->loops[i]);
}

/* ---- rails ---------------------------------------------------------------------------------- */

struct fc_rail *fc_rail_find(struct fc_node *n, const struct lnet_nid *nid)
{
	struct fc_rail *r;

	pthread_mutex_lock(&n->lock);
	for (r = n->rails; r; r = r->next)
		if (!r->closing && lnet_nid_eq(&r->d.nid, nid))
			break;
	pthread_mutex_unlock(&n->lock);
	return r;
}

/* With the list's lock held. */
struct fc_rail *fc_rail_new(struct fc_node *n, const struct lnet_nid *nid, uint32_t pid, int *rc)
{
	struct fc_rail *r = calloc(1, sizeof(*r));

	if (!r) {
		*rc = -ENOMEM;
		return NULL;
	}
	r->node = n;
	r->pend_tail = &r->pend;
	r->d.ni = &n->ni.d;
	r->d.nid = *nid;
	r->d.pid = pid;
	r->d.loop = n->loops[lnet_nid_hash(nid) % n->nloops];
	r->d.core = r;
	*rc = fc_lnd(n)->rail_open(&r->d);
	if (*rc) {
		free(r);
		return NULL;
	}
	r->opened = true;
	r->next = n->rails;
	n->rails = r;
	return r;
}

struct make_rail {
	struct fc_node *n;
	const struct lnet_nid *nid;
	uint32_t pid;
	struct fc_rail *r;
};

static int call_make_rail(void *arg)
{
	struct make_rail *a = arg;
	int rc = 0;

	pthread_mutex_lock(&a->n->lock);
	for (a->r = a->n->rails; a->r; a->r = a->r->next)
		if (!a->r->closing && lnet_nid_eq(&a->r->d.nid, a->nid) && a->r->d.pid == a->pid)
			break;
	if (!a->r)
		a->r = fc_rail_new(a->n, a->nid, a->pid, &rc);
	pthread_mutex_unlock(&a->n->lock);
	return rc;
}

struct fc_rail *fc_rail(struct fc_node *n, const struct lnet_nid *nid, uint32_t pid, int *rc)
{
	struct make_rail a = {n, nid, pid ? pid : LNET_PID_LUSTRE, NULL};
	int err = fc_do(n->loops[lnet_nid_hash(nid) % n->nloops], call_make_rail, &a);

	if (rc)
		*rc = err;
	return a.r;
}

static int call_rail_close(void *arg)
{
	struct fc_rail *r = arg;
	struct fc_node *n = r->node;

	r->closing = true;
	fc_enter(n, r->d.loop);
	fc_lnd(n)->rail_close(&r->d);
	fc_leave(n, r->d.loop);
	return 0;
}

void fc_rail_close(struct fc_rail *r)
{
	fc_do(r->d.loop, call_rail_close, r);
}

struct query {
	struct fc_rail *r;
	struct lnet_rail_info *info;
};

static int call_query(void *arg)
{
	struct query *q = arg;

	fc_enter(q->r->node, q->r->d.loop);
	int rc = fc_lnd(q->r->node)->query(&q->r->d, q->info);
	fc_leave(q->r->node, q->r->d.loop);
	return rc;
}

void fc_query(struct fc_rail *r, struct lnet_rail_info *info)
{
	struct query q = {r, info};

	memset(info, 0, sizeof(*info));
	if (fc_do(r->d.loop, call_query, &q))
		fc_fail(r->node, "query() failed");
}

struct dump {
	struct fc_rail *r;
	char *text;
	size_t len;
	unsigned lines;
};

static void dump_line(void *arg, const char *text)
{
	struct dump *d = arg;
	size_t n = strlen(text);
	char *more = realloc(d->text, d->len + n + 2);

	if (strchr(text, '\n'))
		fc_fail(d->r->node, "a line of dump() has a newline in it");
	if (!more)
		return;
	d->text = more;
	memcpy(d->text + d->len, text, n);
	memcpy(d->text + d->len + n, "\n", 2);
	d->len += n + 1;
	d->lines++;
}

static int call_dump(void *arg)
{
	struct dump *d = arg;

	fc_enter(d->r->node, d->r->d.loop);
	fc_lnd(d->r->node)->dump(&d->r->d, dump_line, d);
	fc_leave(d->r->node, d->r->d.loop);
	return 0;
}

char *fc_dump(struct fc_rail *r, unsigned *lines)
{
	struct dump d = {.r = r};

	fc_do(r->d.loop, call_dump, &d);
	if (lines)
		*lines = d.lines;
	return d.text ? d.text : strdup("");
}

/* ---- accounting ----------------------------------------------------------------------------- */

static int cmp_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

unsigned fc_seen(struct fc_node *n, uint64_t id)
{
	unsigned k = 0;

	pthread_mutex_lock(&n->lock);
	for (size_t i = 0; i < n->nseen; i++)
		k += n->seen[i] == id;
	pthread_mutex_unlock(&n->lock);
	return k;
}

static void check_twice(struct fc_node *n)
{
	if (n->allow_twice || !n->nseen)
		return;
	qsort(n->seen, n->nseen, sizeof(*n->seen), cmp_u64);
	for (size_t i = 1; i < n->nseen; i++)
		if (n->seen[i] == n->seen[i - 1])
			fc_fail(n, "message %llx was delivered twice",
			        (unsigned long long)n->seen[i]);
}

static void check_objects(struct fc_node *n)
{
	for (struct fc_tx *tx = n->txs; tx; tx = tx->next)
		if (tx->accepted && !tx->done)
			fc_fail(n, "tx %llx (type %u, %u bytes) was accepted and never ended",
			        (unsigned long long)tx->id, tx->d.hdr.type, tx->d.len);
	for (struct fc_rx *rx = n->rxs; rx; rx = rx->next)
		if (rx->state != FC_RX_OVER)
			fc_fail(n, "rx %llx of %u bytes never ended (state %d)",
			        (unsigned long long)rx->id, rx->h.payload_length, (int)rx->state);
	for (struct fc_rail *r = n->rails; r; r = r->next) {
		if (!r->closed)
			fc_fail(n, "rail_closed() never came");
		if (atomic_load(&r->refs))
			fc_fail(n, "%d references of a rail were not given back",
			        atomic_load(&r->refs));
	}
}

static void same(struct fc_node *n, const char *what, unsigned a, unsigned b)
{
	if (a != b)
		fc_fail(n, "%s: %u against %u", what, a, b);
}

void fc_check_over(struct fc_node *n)
{
	check_twice(n);
	pthread_mutex_lock(&n->lock);
	check_objects(n);
	pthread_mutex_unlock(&n->lock);
	same(n, "accepted tx, completed tx", n->tx_accepted, n->tx_done);
	same(n, "messages parsed, decided or refused", n->rx_parsed, n->rx_decided + n->rx_refused);
	same(n, "receives in progress, rx_done()", n->rx_async, n->rx_done);
	same(n, "fences accepted, fence_done()", n->fences, n->fences_done);
	if (n->ni.started && !atomic_load(&n->ni.stopped))
		fc_fail(n, "ni_stopped() never came");
}
