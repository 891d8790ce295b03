/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers: configured, learnt, merged, taken apart, evicted, watched. */
#include "core_fixture.h"

#define N(x) fl_nid("10.0.0." x "@tcp")

struct snap {
	unsigned peers, nids;
	struct lnet_nid primary[64];
	uint32_t state[64];
	unsigned nni[64];
	struct lnet_peer_ni_info ni[64][16];
};

static int add_peer(void *arg, const struct lnet_peer_info *i)
{
	struct snap *s = arg;

	if (s->peers < 64) {
		s->primary[s->peers] = i->primary;
		s->state[s->peers] = i->state;
		s->nni[s->peers] = i->nni;
		for (unsigned k = 0; k < i->nni && k < 16; k++)
			s->ni[s->peers][k] = i->ni[k];
	}
	assert_int_equal(i->multi_rail, !!(i->state & LNET_PEER_MULTI_RAIL));
	s->peers++;
	s->nids += i->nni;
	return 0;
}

static struct snap *snap(struct core *c)
{
	static struct snap s;
	struct lnet_nid any = lnet_nid_any();

	memset(&s, 0, sizeof(s));
	assert_int_equal(lnet_peer_each(c->n, &any, add_peer, &s), 0);
	return &s;
}

static struct snap *of(struct core *c, struct lnet_nid nid)
{
	static struct snap s;

	memset(&s, 0, sizeof(s));
	assert_int_equal(lnet_peer_each(c->n, &nid, add_peer, &s), 0);
	assert_int_equal(s.peers, 1);
	return &s;
}

static bool has(const struct snap *s, struct lnet_nid nid)
{
	for (unsigned i = 0; i < s->nni[0]; i++)
		if (lnet_nid_eq(&s->ni[0][i].nid, &nid))
			return true;
	return false;
}

static int add(struct core *c, struct lnet_nid prim, const struct lnet_nid *nids, unsigned count)
{
	return lnet_peer_add(c->n, &prim, nids, count, true, false, NULL);
}

static void configure(void **state)
{
	struct core *c = *state;
	struct lnet_nid n[] = {N("20"), N("21"), N("22"), N("23")};

	assert_int_equal(add(c, n[0], n, 3), 0); /* the primary repeated */
	assert_int_equal(of(c, n[2])->nids, 3);
	assert_true(lnet_nid_eq(&of(c, n[2])->primary[0], &n[0]));
	assert_int_equal(of(c, n[0])->state[0], LNET_PEER_CONFIGURED | LNET_PEER_MULTI_RAIL);
	/* added to */
	assert_int_equal(add(c, n[0], &n[3], 1), 0);
	assert_int_equal(of(c, n[3])->nids, 4);
	/* alone */
	assert_int_equal(add(c, N("30"), NULL, 0), 0);
	assert_int_equal(of(c, N("30"))->nids, 1);
	assert_int_equal(snap(c)->peers, 3); /* with the fixture's */
	assert_int_equal(
	        lnet_peer_each(c->n, &(struct lnet_nid){.type = LNET_LND_TCP}, add_peer, snap(c)),
	        -ENOENT);
}

/* IN-22: refused with its own reason, and no half-made peer is left. */
static void refusals(void **state)
{
	struct core *c = *state;
	struct lnet_nid n[] = {N("20"), N("21"), N("22")}, bad, many[LNET_PEER_NIDS_MAX + 1];
	struct lnet_nid any = lnet_nid_any(), lo = fl_nid("0@lo"), mine = fl_nid(ME_NID);
	struct lnet_nid two[] = {N("40"), N("21")}, self[] = {N("41"), fl_nid(ME_NID)};
	unsigned before;

	assert_int_equal(add(c, n[0], n, 3), 0);
	before = snap(c)->peers;
#define REFUSED(prim, list, count, rc, who)                                                       \
	do {                                                                                      \
		memset(&bad, 0, sizeof(bad));                                                     \
		assert_int_equal(lnet_peer_add(c->n, &prim, list, count, true, false, &bad), rc); \
		assert_true(lnet_nid_eq(&bad, &who));                                             \
		assert_int_equal(snap(c)->peers, before);                                         \
	} while (0)
	REFUSED(any, NULL, 0, -EINVAL, any);
	REFUSED(lo, NULL, 0, -EINVAL, lo);
	REFUSED(mine, NULL, 0, -EINVAL, mine);
	REFUSED(self[0], self, 2, -EINVAL, mine);
	REFUSED(two[0], &any, 1, -EINVAL, any);
	REFUSED(two[0], two, 2, -EEXIST, n[1]); /* a secondary of another */
	REFUSED(n[1], NULL, 0, -EEXIST, n[1]);
	REFUSED(two[0], &n[0], 1, -EEXIST, n[0]); /* another's primary */
#undef REFUSED
	for (unsigned i = 0; i <= LNET_PEER_NIDS_MAX; i++) {
		many[i] = N("0");
		many[i].addr[2] = 7;
		many[i].addr[3] = (uint8_t)i;
	}
	assert_int_equal(add(c, many[0], many, LNET_PEER_NIDS_MAX + 1), -E2BIG);
	assert_int_equal(add(c, n[0], many, LNET_PEER_NIDS_MAX), -E2BIG);
	assert_int_equal(snap(c)->peers, before);
	assert_int_equal(add(c, many[0], many, LNET_PEER_NIDS_MAX), 0);
	assert_int_equal(of(c, many[5])->nids, LNET_PEER_NIDS_MAX);
	assert_int_equal(add(c, many[0], &many[LNET_PEER_NIDS_MAX], 1), -E2BIG);
	assert_int_equal(
	        lnet_peer_del(c->n, &many[0], many, LNET_PEER_NIDS_MAX + 1, false, NULL), -E2BIG);
	assert_int_equal(
	        lnet_peer_del(c->n, &many[0], &many[1], LNET_PEER_NIDS_MAX - 1, false, NULL), 0);
	assert_int_equal(of(c, many[0])->nids, 1);
}

static void delete (void **state)
{
	struct core *c = *state;
	struct lnet_nid n[] = {N("20"), N("21"), N("22")}, bad, not [] = {N("21"), N("77")};
	struct lnet_nid mine = fl_nid(ME_NID);

	assert_int_equal(lnet_peer_del(c->n, &n[0], NULL, 0, false, &bad), -ENOENT);
	assert_true(lnet_nid_eq(&bad, &n[0]));
	assert_int_equal(lnet_peer_del(c->n, &mine, NULL, 0, false, &bad), -ENOENT);
	assert_int_equal(add(c, n[0], n, 3), 0);
	assert_int_equal(
	        lnet_peer_del(c->n, &n[1], NULL, 0, false, NULL), -ENOENT); /* no primary */
	assert_int_equal(lnet_peer_del(c->n, &n[0], not, 2, false, &bad), -ENOENT);
	assert_true(lnet_nid_eq(&bad, &not [1]));
	assert_int_equal(of(c, n[0])->nids, 3); /* nothing of it was done */
	assert_int_equal(lnet_peer_del(c->n, &n[0], &n[1], 1, false, NULL), 0);
	assert_int_equal(of(c, n[0])->nids, 2);
	assert_false(has(of(c, n[0]), n[1]));
	/* the primary takes the rest with it */
	assert_int_equal(lnet_peer_del(c->n, &n[0], &n[0], 1, false, NULL), 0);
	assert_int_equal(snap(c)->peers, 1);
	/* locked */
	assert_int_equal(lnet_peer_add(c->n, &n[0], n, 3, true, true, NULL), 0);
	assert_int_equal(lnet_peer_del(c->n, &n[0], &n[1], 1, false, NULL), -EBUSY);
	assert_int_equal(lnet_peer_del(c->n, &n[0], NULL, 0, false, NULL), -EBUSY);
	assert_int_equal(of(c, n[0])->nids, 3);
	assert_int_equal(lnet_peer_del(c->n, &n[0], NULL, 0, true, NULL), 0);
	assert_int_equal(snap(c)->peers, 1);
}

/* Deleting waits: every message has ended when it returns, and the peer may come again. */
static void delete_in_use(void **state)
{
	struct core *c = *state;
	struct lnet_nid peer = fl_nid(PEER_NID);

	for (unsigned i = 0; i < 12; i++)
		core_put(c, 10, LNET_OP_ACK);
	fl_done(c->n, &c->f, fl_tx(&c->f, 0), 0, LNET_HS_OK);
	fl_event(c->n, c->r, LNET_RAIL_UP, 0);
	c->clk.step = TL_MS;
	assert_int_equal(lnet_peer_del(c->n, &peer, NULL, 0, false, NULL), 0);
	assert_int_equal(c->f.nrails, 0);
	fl_turns(c->n);
	assert_int_equal(c->s.finals, 12);
	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(c->s.ev[i].status, -ESHUTDOWN);
	core_put(c, 10, 0);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	assert_int_equal(c->s.ev[12].status, 0);
}

static int learn(struct core *c, struct lnet_nid from, const struct lnet_nid *nids, unsigned count)
{
	struct lnet_nid bad;

	return lni_peer_learn(c->n, &from, nids, count, 0x1e, true, &bad);
}

static void learnt(void **state)
{
	struct core *c = *state;
	struct lnet_nid n[] = {N("2"), N("20"), N("21"), fl_nid("0@lo")},
	                fewer[] = {N("2"), N("21")};

	assert_int_equal(learn(c, N("99"), n, 3), 0); /* nobody we know: not made by what it says */
	assert_int_equal(snap(c)->peers, 1);
	assert_int_equal(learn(c, n[0], n, 4), 0);
	assert_int_equal(of(c, n[1])->nids, 3);
	assert_int_equal(of(c, n[1])->state[0],
	        LNET_PEER_DISCOVERED | LNET_PEER_NIDS_UPTODATE | LNET_PEER_MULTI_RAIL);
	assert_int_equal(learn(c, n[0], n, 4), 0);
	/* one goes: it stands alone from now on */
	assert_int_equal(learn(c, n[0], fewer, 2), 0);
	assert_int_equal(of(c, n[0])->nids, 2);
	assert_int_equal(of(c, n[1])->nids, 1);
	assert_int_equal(of(c, n[1])->state[0], 0);
	assert_int_equal(learn(c, n[0], n, LNET_PEER_NIDS_MAX + 1), -E2BIG);
	assert_int_equal(learn(c, n[0], n, 0), -E2BIG);
}

/* What the administrator said stays, in whichever order the two come. */
static void both_orders(void **state)
{
	struct core *c = *state;
	struct lnet_nid n[] = {N("2"), N("20"), N("21")}, conf[] = {N("20"), N("22")};

	assert_int_equal(learn(c, n[0], n, 3), 0);
	assert_int_equal(add(c, conf[0], conf, 2), 0); /* takes one from the learnt peer */
	assert_int_equal(of(c, n[0])->nids, 2);
	assert_int_equal(of(c, n[1])->nids, 2);
	assert_true(lnet_nid_eq(&of(c, n[1])->primary[0], &conf[0]));
	/* and it says the same again: in vain */
	assert_int_equal(learn(c, n[0], n, 3), -EEXIST);
	assert_int_equal(of(c, n[0])->nids, 2);
	assert_int_equal(of(c, n[1])->nids, 2);
	assert_int_equal(learn(c, conf[0], n, 3), 0); /* a configured one says what it likes */
	assert_int_equal(of(c, conf[0])->nids, 2);
}

/* NIDs that are connected as somebody else, or ours, are not given away for a word. */
static void claims(void **state)
{
	struct core *c = *state;
	struct lnet_rail *other = fl_rail(&c->f, "10.0.0.20@tcp", LNET_PID_LUSTRE);
	struct lnet_nid n[] = {N("2"), N("20")}, self[] = {N("2"), fl_nid(ME_NID)}, bad;
	unsigned before;

	fl_event(c->n, other, LNET_RAIL_UP, 0);
	assert_int_equal(learn(c, n[0], n, 2), -EEXIST);
	assert_int_equal(of(c, n[1])->nids, 1);
	assert_int_equal(lni_peer_learn(c->n, &n[0], self, 2, 0x1e, true, &bad), -EINVAL);
	assert_true(lnet_nid_eq(&bad, &self[1]));
	/* a refused claim makes no peer of the rest of it */
	before = snap(c)->peers;
	{
		struct lnet_nid lots[] = {N("2"), N("50"), N("51"), N("52"), N("20")};

		assert_int_equal(learn(c, n[0], lots, 5), -EEXIST);
		assert_int_equal(snap(c)->peers, before);
	}
	/* the other one says so, too: one node */
	assert_int_equal(learn(c, n[0], n, 2), -EEXIST);
	assert_int_equal(learn(c, n[1], n, 2), 0);
	assert_int_equal(of(c, n[0])->nids, 2);
	fl_event(c->n, other, LNET_RAIL_DOWN, 0);
}

static void user_pids(void **state)
{
	struct core *c = *state;
	struct lnet_rail *a = fl_rail(&c->f, PEER_NID, LNET_PID_USERFLAG | 1);
	struct lnet_rail *b = fl_rail(&c->f, PEER_NID, LNET_PID_USERFLAG | 2);
	struct lnet_nid peer = fl_nid(PEER_NID), me = fl_nid(ME_NID);
	struct target t = {.portal = 10, .threshold = LNET_MD_THRESH_INF, .len = 100};
	struct lnet_hdr h = fl_put_hdr(a, 10, 0, 10);
	struct lnet_rail *r = NULL;
	struct fl_rx rx;

	assert_ptr_not_equal(a, b);
	assert_ptr_not_equal(a, c->r);
	assert_ptr_equal(a, fl_rail(&c->f, PEER_NID, LNET_PID_USERFLAG | 1));
	assert_ptr_equal(c->r, fl_rail(&c->f, PEER_NID, 777)); /* plain pids are one node */
	assert_int_equal(snap(c)->peers, 3);
	/* it cannot speak as another, whatever its header says */
	t.buf = c->buf;
	t.user = &c->s;
	assert_int_equal(core_attach(c->n, &t), 0);
	h.src_nid = N("66");
	h.src_pid = LNET_PID_LUSTRE;
	assert_int_equal(fl_parse(c->n, a, &h, c->src, &rx), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
	assert_true(lnet_nid_eq(&c->s.ev[0].source, &peer));
	assert_int_equal(c->s.ev[0].initiator_pid, LNET_PID_USERFLAG | 1);
	/* who claims to be us */
	assert_int_equal(
	        c->f.ni[0]->node->up->rail_get(c->f.ni[0], &me, LNET_PID_LUSTRE, &r), -EINVAL);
	fl_ni(c->n, "10.0.0.11@tcp", NULL);
	me = N("11");
	assert_int_equal(
	        c->f.ni[0]->node->up->rail_get(c->f.ni[0], &me, LNET_PID_LUSTRE, &r), -EINVAL);
	assert_int_equal(
	        c->f.ni[0]->node->up->rail_get(c->f.ni[0], &me, LNET_PID_USERFLAG | 1, &r), 0);
	c->f.ni[0]->node->up->rail_put(r);
}

static void full_table(void **state)
{
	struct lnet_opts o;
	struct core *c;
	struct lnet_nid conf = N("100"), nid = N("0"), prim[] = {N("2"), N("3")};
	struct lnet_rail *r = NULL;
	char text[32];

	(void)state;
	lnet_opts_init(&o, sizeof(o));
	o.max_peers = 8;
	c = core_with(NULL, &o);
	assert_int_equal(add(c, conf, NULL, 0), 0);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "10.0.2.%u@tcp", i);
		c->clk.now += TL_S;
		fl_rail(&c->f, text, LNET_PID_LUSTRE);
		assert_true(c->n->net->npnis <= 8);
		fl_turns(c->n);
	}
	/* the longest idle went; the configured one stayed, and the newest are there */
	assert_int_equal(fl_stat(c->n, "peers_evicted"), 102 - 8);
	assert_int_equal(of(c, conf)->nids, 1);
	for (unsigned i = 93; i < 100; i++) {
		snprintf(text, sizeof(text), "10.0.2.%u@tcp", i);
		of(c, fl_nid(text));
	}
	/* all connected: nobody goes, and who comes is refused */
	for (unsigned i = 0; i < c->f.nrails; i++)
		fl_event(c->n, c->f.rail[i], LNET_RAIL_UP, 0);
	assert_int_equal(
	        c->f.ni[0]->node->up->rail_get(c->f.ni[0], &nid, LNET_PID_LUSTRE, &r), -ENOSPC);
	assert_int_equal(fl_stat(c->n, "peers_refused"), 1);
	assert_int_equal(add(c, prim[0], prim, 2), -ENOSPC);
	assert_int_equal(snap(c)->peers, 8);
	core_free(c, 0);
}

/* A peer of several NIDs is shown also when the peer NI of its primary was evicted. */
static void evicted_primary(void **state)
{
	struct lnet_opts o;
	struct core *c;
	struct lnet_nid n[] = {N("2"), N("20"), N("21")};
	char text[32];

	(void)state;
	lnet_opts_init(&o, sizeof(o));
	o.max_peers = 4;
	c = core_with(NULL, &o);
	assert_int_equal(learn(c, n[0], n, 3), 0);
	c->clk.now += TL_S;
	fl_rail(&c->f, "10.0.0.20@tcp", LNET_PID_LUSTRE);
	fl_rail(&c->f, "10.0.0.21@tcp", LNET_PID_LUSTRE);
	for (unsigned i = 0; i < 2; i++) {
		c->clk.now += TL_S;
		snprintf(text, sizeof(text), "10.0.2.%u@tcp", i);
		fl_rail(&c->f, text, LNET_PID_LUSTRE);
		fl_turns(c->n);
	}
	assert_int_equal(of(c, n[1])->nids, 2);
	assert_true(lnet_nid_eq(&of(c, n[1])->primary[0], &n[0]));
	core_free(c, 0);
}

static void health_and_state(void **state)
{
	struct core *c = *state;
	struct lnet_nid n[] = {N("2"), N("20")}, any = lnet_nid_any();

	assert_int_equal(lnet_peer_set_health(c->n, &n[0], 1001), -EINVAL);
	assert_int_equal(lnet_peer_set_health(c->n, &n[0], -1), -EINVAL);
	assert_int_equal(lnet_peer_set_health(c->n, &n[1], 500), -ENOENT);
	assert_int_equal(lnet_peer_set_health(c->n, &n[0], 500), 0);
	assert_int_equal(of(c, n[0])->ni[0][0].health.value, 500);
	assert_string_equal(of(c, n[0])->ni[0][0].health.reason, "set by hand");
	assert_int_equal(add(c, n[0], n, 2), 0);
	assert_int_equal(lnet_peer_set_health(c->n, &any, 0), 0);
	assert_int_equal(of(c, n[0])->ni[0][1].health.value, 0);
	assert_int_equal(lnet_peer_set_state(c->n, &n[1], LNET_PEER_LOCK_PRIMARY), 0);
	assert_int_equal(of(c, n[0])->state[0], LNET_PEER_LOCK_PRIMARY);
	assert_int_equal(of(c, n[0])->nids, 2);
	assert_int_equal(lnet_peer_set_state(c->n, &any, 0), -ENOENT);
}

/* Failures cost a peer with a choice its score, and any message gives some back. */
static void health_of_failures(void **state)
{
	struct core *c = *state;
	struct lnet_nid n[] = {N("2"), N("20")};
	struct lnet_hdr h = fl_put_hdr(c->r, 10, 0, 0);
	struct fl_rx rx;

	for (unsigned k = 0; k < 2; k++) {
		core_put(c, 10, 0);
		fl_done(c->n, &c->f, fl_tx(&c->f, 0), -EIO, LNET_HS_REMOTE_TIMEOUT);
		assert_int_equal(of(c, n[0])->ni[0][0].health.value, k ? 900 : 1000);
		assert_int_equal(of(c, n[0])->ni[0][0].health.by[LNET_HS_REMOTE_TIMEOUT], k + 1);
		if (!k)
			assert_int_equal(add(c, n[0], n, 2), 0);
	}
	assert_string_equal(of(c, n[0])->ni[0][0].health.reason, "remote_timeout");
	/* no answer */
	core_put(c, 10, LNET_OP_ACK);
	fl_all_done(c->n, &c->f);
	core_pass(c, 151 * TL_S);
	assert_int_equal(of(c, n[0])->ni[0][0].health.value, 800);
	assert_int_equal(fl_parse(c->n, c->r, &h, NULL, &rx), 0);
	assert_int_equal(of(c, n[0])->ni[0][0].health.value, 900);
	for (unsigned k = 0; k < 20; k++) {
		core_put(c, 10, 0);
		fl_done(c->n, &c->f, fl_tx(&c->f, 0), -EIO, LNET_HS_REMOTE_ERROR);
	}
	assert_int_equal(of(c, n[0])->ni[0][0].health.value, 0);
	fl_turns(c->n);
	core_put(c, 10, 0); /* it is still used: there is nothing better */
	fl_all_done(c->n, &c->f);
}

/* ---- watches --------------------------------------------------------------------------------- */

struct watched {
	struct core *c;
	unsigned up, down, restarted;
	int err;
	lnet_handle_t drop; /* to be unwatched inside */
	struct lnet_nid nid;
	uint32_t pid;
};

static void on_watch(
        void *user, const struct lnet_nid *nid, uint32_t pid, enum lnet_peer_event ev, int err)
{
	struct watched *w = user;

	w->up += ev == LNET_PEER_UP;
	w->down += ev == LNET_PEER_DOWN;
	w->restarted += ev == LNET_PEER_RESTARTED;
	w->err = err;
	w->nid = *nid;
	w->pid = pid;
	if (w->drop)
		assert_int_equal(lnet_peer_unwatch(w->c->n, w->drop), 0);
	w->drop = 0;
}

static void watches(void **state)
{
	struct core *c = *state;
	struct watched all = {.c = c}, one = {.c = c}, once = {.c = c}, other = {.c = c};
	struct lnet_nid any = lnet_nid_any(), peer = fl_nid(PEER_NID), nobody = N("77");
	lnet_handle_t h[4];

	assert_int_equal(lnet_peer_watch(c->n, &any, on_watch, &all, &h[0]), 0);
	assert_int_equal(lnet_peer_watch(c->n, &peer, on_watch, &one, &h[1]), 0);
	assert_int_equal(lnet_peer_watch(c->n, &peer, on_watch, &once, &h[2]), 0);
	assert_int_equal(lnet_peer_watch(c->n, &nobody, on_watch, &other, &h[3]), 0);
	once.drop = h[2];
	fl_event(c->n, c->r, LNET_RAIL_UP, 0);
	fl_event(c->n, c->r, LNET_RAIL_UP, 0); /* told once */
	fl_event(c->n, c->r, LNET_RAIL_FAILED, -ECONNREFUSED);
	assert_int_equal(all.up, 0); /* handlers run in a turn */
	fl_turns(c->n);
	assert_int_equal(all.up, 1);
	assert_int_equal(one.up, 1);
	assert_true(lnet_nid_eq(&one.nid, &peer));
	assert_int_equal(one.pid, LNET_PID_LUSTRE);
	fl_event(c->n, c->r, LNET_RAIL_DOWN, -ECONNRESET);
	fl_event(c->n, c->r, LNET_RAIL_DOWN, -ECONNRESET);
	fl_turns(c->n);
	assert_int_equal(one.down, 1);
	assert_int_equal(one.err, -ECONNRESET);
	fl_event(c->n, c->r, LNET_RAIL_RESTARTED, -ESTALE);
	fl_event(c->n, c->r, LNET_RAIL_UP, 0);
	fl_turns(c->n);
	assert_int_equal(one.restarted, 1);
	assert_int_equal(all.up, 2);
	assert_int_equal(once.up + once.down + once.restarted, 1);
	assert_int_equal(other.up, 0);
	/* queued, then unwatched: not called any more */
	fl_event(c->n, c->r, LNET_RAIL_DOWN, -EIO);
	assert_int_equal(lnet_peer_unwatch(c->n, h[1]), 0);
	fl_turns(c->n);
	assert_int_equal(one.down, 1);
	assert_int_equal(all.down, 2);
	/* a peer that is taken away goes down */
	fl_event(c->n, c->r, LNET_RAIL_UP, 0);
	assert_int_equal(lnet_peer_del(c->n, &peer, NULL, 0, true, NULL), 0);
	fl_turns(c->n);
	assert_int_equal(all.down, 3);
	assert_int_equal(lnet_peer_unwatch(c->n, h[1]), -ENOENT);
	assert_int_equal(lnet_peer_unwatch(c->n, 5), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        CORE_TEST(configure),
	        CORE_TEST(refusals),
	        CORE_TEST(delete),
	        CORE_TEST(delete_in_use),
	        CORE_TEST(learnt),
	        CORE_TEST(both_orders),
	        CORE_TEST(claims),
	        CORE_TEST(user_pids),
	        cmocka_unit_test(full_table),
	        cmocka_unit_test(evicted_primary),
	        CORE_TEST(health_and_state),
	        CORE_TEST(health_of_failures),
	        CORE_TEST(watches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
