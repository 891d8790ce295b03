/* SPDX-License-Identifier: BSD-2-Clause */
#include "lnet/net/lo_int.h"

enum lo_conn_state { LO_CONN_ASKED, LO_CONN_UP, LO_CONN_DEAD };

struct lo_end {
	struct lo_rail *rail; /* NULL: left, or not there yet */
	struct lo_msgq in;    /* to this end */
	unsigned nin;
	size_t bytes;
	uint64_t incarnation;
	bool gone; /* this end alone broke, without a word */
};

struct lo_conn {
	TAILQ_ENTRY(lo_conn) flink, alink;
	struct lni_lo_fabric *f;
	unsigned refs;
	enum lo_conn_state state;
	int err;
	struct lnet_nid nid[2]; /* who asked, who was asked */
	uint32_t pid;           /* of who asked */
	struct lo_end end[2];
	struct lnet_rail *put; /* a rail to give back on its loop */
	const struct lnet_lnd_up *up;
	struct lnet_work work;
};
TAILQ_HEAD(lo_connq, lo_conn);

struct lni_lo_fabric {
	pthread_mutex_t lock;
	TAILQ_HEAD(, lo_ni) nis;
	struct lo_connq conns;
	struct lnet_nid silent[LNI_LO_SILENT_MAX];
	unsigned nsilent;
};

struct lni_lo_fabric *lni_lo_fabric_new(void)
{
	struct lni_lo_fabric *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	pthread_mutex_init(&f->lock, NULL);
	TAILQ_INIT(&f->nis);
	TAILQ_INIT(&f->conns);
	return f;
}

static void lock(struct lni_lo_fabric *f)
{
	pthread_mutex_lock(&f->lock);
}

static void unlock(struct lni_lo_fabric *f)
{
	pthread_mutex_unlock(&f->lock);
}

static struct lni_lo_fabric *fabric_of(const struct lo_rail *r)
{
	return r->ni->node->fabric;
}

static void drop_msgs(struct lo_end *e)
{
	struct lo_msg *m;

	while ((m = TAILQ_FIRST(&e->in))) {
		TAILQ_REMOVE(&e->in, m, link);
		free(m);
	}
}

/* With the lock held. */
static void conn_unref(struct lo_conn *c)
{
	if (--c->refs)
		return;
	TAILQ_REMOVE(&c->f->conns, c, flink);
	drop_msgs(&c->end[0]);
	drop_msgs(&c->end[1]);
	free(c);
}

static void conn_kill(struct lo_conn *c, int err, struct lo_kick **list)
{
	if (c->state != LO_CONN_DEAD)
		c->err = err;
	c->state = LO_CONN_DEAD;
	for (int i = 0; i < 2; i++)
		if (c->end[i].rail)
			lo_mark(list, &c->end[i].rail->kick);
}

static bool is_silent(const struct lni_lo_fabric *f, const struct lnet_nid *nid)
{
	for (unsigned i = 0; i < f->nsilent; i++)
		if (lnet_nid_eq(&f->silent[i], nid))
			return true;
	return false;
}

void lni_lo_fabric_free(struct lni_lo_fabric *f)
{
	struct lo_conn *c;

	while ((c = TAILQ_FIRST(&f->conns))) {
		c->refs = 1;
		conn_unref(c);
	}
	pthread_mutex_destroy(&f->lock);
	free(f);
}

int lni_lo_fabric_silence(struct lni_lo_fabric *f, const struct lnet_nid *nid, bool on)
{
	int rc = 0;

	lock(f);
	if (on && !is_silent(f, nid)) {
		if (f->nsilent == LNI_LO_SILENT_MAX)
			rc = -ENOSPC;
		else
			f->silent[f->nsilent++] = *nid;
	}
	for (unsigned i = 0; !on && i < f->nsilent; i++)
		if (lnet_nid_eq(&f->silent[i], nid))
			f->silent[i--] = f->silent[--f->nsilent];
	unlock(f);
	return rc;
}

void lni_lo_fabric_cut(struct lni_lo_fabric *f, const struct lnet_nid *nid)
{
	struct lo_kick *list = NULL;
	struct lo_conn *c;

	lock(f);
	TAILQ_FOREACH(c, &f->conns, flink)
	if (lnet_nid_eq(&c->nid[0], nid) || lnet_nid_eq(&c->nid[1], nid))
		conn_kill(c, -ECONNRESET, &list);
	unlock(f);
	lo_fire(list);
}

static void ni_unlist_locked(struct lni_lo_fabric *f, struct lo_ni *n)
{
	if (n->listed)
		TAILQ_REMOVE(&f->nis, n, flink);
	n->listed = false;
}

void lni_lo_fabric_vanish(struct lni_lo_fabric *f, const struct lnet_nid *nid)
{
	struct lo_kick *list = NULL;
	struct lo_conn *c;
	struct lo_ni *n, *next;

	lock(f);
	TAILQ_FOREACH(c, &f->conns, flink)
	{
		for (int i = 0; i < 2; i++) {
			if (!lnet_nid_eq(&c->nid[i], nid))
				continue;
			c->end[i].gone = true;
			if (c->end[i].rail)
				lo_mark(&list, &c->end[i].rail->kick);
		}
	}
	for (n = TAILQ_FIRST(&f->nis); n; n = next) {
		next = TAILQ_NEXT(n, flink);
		if (lnet_nid_eq(&n->nid, nid))
			ni_unlist_locked(f, n);
	}
	unlock(f);
	lo_fire(list);
}

int lo_ni_list(struct lo_ni *n)
{
	struct lni_lo_fabric *f = n->node->fabric;
	struct lo_ni *o;
	int rc = 0;

	if (!f)
		return 0;
	lock(f);
	TAILQ_FOREACH(o, &f->nis, flink)
	if (lnet_nid_eq(&o->nid, &n->nid))
		rc = -EADDRINUSE;
	if (!rc) {
		TAILQ_INSERT_TAIL(&f->nis, n, flink);
		n->listed = true;
	}
	unlock(f);
	return rc;
}

void lo_ni_unlist(struct lo_ni *n)
{
	if (!n->node->fabric)
		return;
	lock(n->node->fabric);
	ni_unlist_locked(n->node->fabric, n);
	unlock(n->node->fabric);
}

/* ---- a connection in use -------------------------------------------------------------------- */

bool lo_conn_room(struct lo_rail *r, uint32_t len)
{
	struct lni_lo_fabric *f = fabric_of(r);
	bool yes = false;

	if (!r->conn || !r->up)
		return false;
	lock(f);
	struct lo_end *o = &r->conn->end[!r->side];
	if (r->conn->state == LO_CONN_UP)
		yes = !o->nin || (o->nin < LO_WIN_MSGS && o->bytes + len <= LO_WIN_BYTES);
	unlock(f);
	return yes;
}

void lo_conn_put(struct lo_rail *r, struct lo_msg *m)
{
	struct lni_lo_fabric *f = fabric_of(r);
	struct lo_kick *list = NULL;

	if (!r->conn) {
		free(m);
		return;
	}
	lock(f);
	struct lo_end *o = &r->conn->end[!r->side];
	TAILQ_INSERT_TAIL(&o->in, m, link);
	o->nin++;
	o->bytes += m->len;
	if (o->rail)
		lo_mark(&list, &o->rail->kick);
	unlock(f);
	lo_fire(list);
}

struct lo_msg *lo_conn_get(struct lo_rail *r)
{
	struct lni_lo_fabric *f = fabric_of(r);
	struct lo_kick *list = NULL;
	struct lo_msg *m;

	if (!r->conn || !r->up)
		return NULL;
	lock(f);
	struct lo_end *me = &r->conn->end[r->side], *o = &r->conn->end[!r->side];
	m = TAILQ_FIRST(&me->in);
	if (m) {
		TAILQ_REMOVE(&me->in, m, link);
		me->nin--;
		me->bytes -= m->len;
		if (o->rail)
			lo_mark(&list, &o->rail->kick);
	}
	unlock(f);
	lo_fire(list);
	return m;
}

/* Let go of the connection; the other end sees a reset, unless we died silently. */
static void leave(struct lo_rail *r)
{
	struct lni_lo_fabric *f = fabric_of(r);
	struct lo_kick *list = NULL;
	struct lo_conn *c = r->conn;

	lock(f);
	struct lo_end *me = &c->end[r->side];
	me->rail = NULL;
	drop_msgs(me);
	TAILQ_INIT(&me->in);
	me->nin = 0;
	me->bytes = 0;
	if (!me->gone)
		conn_kill(c, -ECONNRESET, &list);
	r->conn = NULL;
	r->up = false;
	conn_unref(c);
	unlock(f);
	lo_fire(list);
	if (r->got_ref) {
		r->got_ref = false;
		lo_up(r)->rail_put(r->rail);
	}
}

void lo_conn_drop(struct lo_rail *r, int err)
{
	bool was_up = r->up;

	if (!r->conn)
		return;
	leave(r);
	r->last_errno = err;
	if (!was_up)
		lo_count(r, LO_S_CONNECT_FAILED, 1);
	lo_rail_abort(r, err, was_up ? LNET_HS_REMOTE_ERROR : LNET_HS_REMOTE_DROPPED);
	if (!lo_stopping(r))
		lo_up(r)->rail_event(r->rail, was_up ? LNET_RAIL_DOWN : LNET_RAIL_FAILED, err);
}

/* ---- making connections --------------------------------------------------------------------- */

static struct lo_conn *conn_new(struct lo_rail *r)
{
	struct lo_conn *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->f = fabric_of(r);
	c->nid[0] = r->ni->nid;
	c->nid[1] = r->rail->nid;
	c->pid = r->ni->node->node->pid;
	TAILQ_INIT(&c->end[0].in);
	TAILQ_INIT(&c->end[1].in);
	c->end[0].rail = r;
	c->end[0].incarnation = r->ni->node->node->incarnation;
	return c;
}

static void ask(struct lo_rail *r, uint64_t now)
{
	struct lni_lo_fabric *f = fabric_of(r);
	struct lo_conn *c = conn_new(r);
	struct lo_kick *list = NULL;
	struct lo_ni *n;

	if (!c) {
		lo_rail_abort(r, -ENOMEM, LNET_HS_LOCAL_ERROR);
		return;
	}
	lock(f);
	r->silent = is_silent(f, &r->rail->nid);
	if (r->silent) {
		unlock(f);
		r->retry_at = now + 10 * LO_RETRY_NS;
		free(c);
		return;
	}
	TAILQ_INSERT_TAIL(&f->conns, c, flink);
	c->refs = 1;
	r->conn = c;
	r->side = 0;
	TAILQ_FOREACH(n, &f->nis, flink)
	if (lnet_nid_eq(&n->nid, &r->rail->nid))
		break;
	if (n && !atomic_load(&n->stopping)) {
		c->refs++;
		TAILQ_INSERT_TAIL(&n->asks, c, alink);
		lo_mark(&list, &n->kick);
	} else {
		conn_kill(c, -ECONNREFUSED, &list);
	}
	unlock(f);
	lo_fire(list);
}

void lo_conn_want(struct lo_rail *r, uint64_t now)
{
	if (TAILQ_EMPTY(&r->txq)) {
		r->silent = false;
		return;
	}
	if (!r->conn && r->retry_at <= now)
		ask(r, now);
}

/* On the rail's loop. Takes the reference that the accepts queue had. */
static void refuse(struct lni_lo_fabric *f, struct lo_conn *c, int err)
{
	struct lo_kick *list = NULL;

	lock(f);
	conn_kill(c, err, &list);
	conn_unref(c);
	unlock(f);
	lo_fire(list);
}

static void put_back(struct lnet_work *w)
{
	struct lo_conn *c = w->arg;

	c->up->rail_put(c->put);
	refuse(c->f, c, -ECONNREFUSED);
}

static void accept_one(struct lo_ni *n, struct lo_conn *c)
{
	struct lni_lo_fabric *f = n->node->fabric;
	const struct lnet_lnd_up *up = n->node->node->up;
	struct lo_kick *list = NULL;
	struct lnet_rail *rail;

	if (atomic_load(&n->stopping) || up->rail_get(n->ni, &c->nid[0], c->pid, &rail)) {
		refuse(f, c, -ECONNREFUSED);
		return;
	}
	lock(f);
	struct lo_rail *r = rail->drv;
	if (r && !r->fabric_off) {
		TAILQ_INSERT_TAIL(&r->accepts, c, alink);
		lo_mark(&list, &r->kick);
		c = NULL;
	}
	unlock(f);
	lo_fire(list);
	if (!c)
		return;
	c->put = rail;
	c->up = up;
	lnet_work_init(&c->work, put_back, c);
	lnet_loop_post(rail->loop, &c->work);
}

/* On the NI's loop. */
void lo_ni_accept(struct lo_ni *n)
{
	struct lni_lo_fabric *f = n->node->fabric;
	struct lo_conn *c;

	if (!f)
		return;
	for (;;) {
		lock(f);
		c = TAILQ_FIRST(&n->asks);
		if (c)
			TAILQ_REMOVE(&n->asks, c, alink);
		unlock(f);
		if (!c)
			return;
		accept_one(n, c);
	}
}

static void established(struct lo_rail *r, uint64_t incarnation)
{
	uint64_t old = r->peer_inc;

	r->peer_inc = incarnation;
	r->up = true;
	r->silent = false;
	lo_count(r, r->side ? LO_S_ACCEPTS : LO_S_CONNECTS, 1);
	if (old && old != incarnation)
		lo_up(r)->rail_event(r->rail, LNET_RAIL_RESTARTED, 0);
	lo_up(r)->rail_event(r->rail, LNET_RAIL_UP, 0);
}

/* A peer that asks has no connection: ours is a stale one, or both ask at once; then the one of the
 * higher NID stays. false: refuse. */
static bool make_way(struct lo_rail *r, const struct lo_conn *c)
{
	if (!r->conn)
		return true;
	if (r->up) {
		bool same = r->peer_inc == c->end[0].incarnation;
		lo_conn_drop(r, same ? -ECONNRESET : -ESTALE);
		return true;
	}
	if (lnet_nid_cmp(&c->nid[0], &r->ni->nid) < 0)
		return false;
	leave(r);
	return true;
}

/* The peer may have given up, or taken the connection that we asked for. */
static bool still_asked(struct lo_conn *c)
{
	lock(c->f);
	bool yes = c->state == LO_CONN_ASKED && c->end[0].rail;
	unlock(c->f);
	return yes;
}

static void take_accept(struct lo_rail *r, struct lo_conn *c)
{
	struct lni_lo_fabric *f = fabric_of(r);
	struct lo_kick *list = NULL;
	int err = 0;
	bool ok;

	if (lo_stopping(r))
		err = -ECONNREFUSED;
	else if (still_asked(c) && !make_way(r, c))
		err = -EALREADY;

	lock(f);
	ok = !err && c->state == LO_CONN_ASKED && !c->end[1].gone;
	if (ok) {
		c->state = LO_CONN_UP;
		c->end[1].rail = r;
		c->end[1].incarnation = r->ni->node->node->incarnation;
		r->conn = c;
		r->side = 1;
		r->got_ref = true;
		if (c->end[0].rail)
			lo_mark(&list, &c->end[0].rail->kick);
	}
	unlock(f);
	lo_fire(list);
	if (ok) {
		established(r, c->end[0].incarnation);
		return;
	}
	refuse(f, c, err ? err : -ECONNRESET);
	lo_up(r)->rail_put(r->rail);
}

static struct lo_conn *next_accept(struct lo_rail *r)
{
	struct lni_lo_fabric *f = fabric_of(r);
	struct lo_conn *c;

	lock(f);
	c = TAILQ_FIRST(&r->accepts);
	if (c)
		TAILQ_REMOVE(&r->accepts, c, alink);
	unlock(f);
	return c;
}

void lo_conn_events(struct lo_rail *r, uint64_t now)
{
	struct lni_lo_fabric *f = fabric_of(r);
	struct lo_conn *c;

	if (r->conn) {
		lock(f);
		enum lo_conn_state st = r->conn->state;
		int err = r->conn->end[r->side].gone ? -ECONNRESET : r->conn->err;
		bool dead = st == LO_CONN_DEAD || r->conn->end[r->side].gone;
		uint64_t inc = r->conn->end[!r->side].incarnation;
		unlock(f);
		if (dead && err == -EALREADY && !r->up) {
			leave(r);
			r->retry_at = now + LO_RETRY_NS;
		} else if (dead) {
			lo_conn_drop(r, err);
		} else if (st == LO_CONN_UP && !r->up) {
			established(r, inc);
		}
	}
	while ((c = next_accept(r)))
		take_accept(r, c);
}

void lo_conn_detach_rail(struct lo_rail *r)
{
	struct lni_lo_fabric *f = fabric_of(r);
	struct lo_conn *c;

	r->detached = true;
	if (!f)
		return;
	lock(f);
	r->fabric_off = true;
	unlock(f);
	while ((c = next_accept(r)))
		take_accept(r, c);
}

void lo_conn_forget_rail(struct lo_rail *r)
{
	struct lni_lo_fabric *f = fabric_of(r);

	if (f)
		lock(f);
	r->rail->drv = NULL;
	if (f)
		unlock(f);
}
