/* SPDX-License-Identifier: BSD-2-Clause */
/* Interfaces: added, removed, changed at run time, up and down; their numbers add up. */
#include "core_fixture.h"

static struct lnet_ni_conf conf_of(const char *nid)
{
	struct lnet_ni_conf c;

	lnet_ni_conf_init(&c, sizeof(c));
	c.nid = fl_nid(nid);
	c.net = lnet_nid_net(&c.nid);
	return c;
}

struct snap {
	unsigned n;
	struct lnet_ni_info ni[16];
	int64_t tun[16][FL_T_COUNT];
	bool set[16][FL_T_COUNT];
	struct lnet_cidr allow[16];
};

static int add_ni(void *arg, const struct lnet_ni_info *i)
{
	struct snap *s = arg;

	s->ni[s->n] = *i;
	if (i->nid.type == LNET_LND_TCP) {
		memcpy(s->tun[s->n], i->tun, sizeof(s->tun[0]));
		memcpy(s->set[s->n], i->tun_set, sizeof(s->set[0]));
	}
	if (i->nallow)
		s->allow[s->n] = i->allow[0];
	s->n++;
	return 0;
}

static struct snap *snap(struct core *c)
{
	static struct snap s;

	memset(&s, 0, sizeof(s));
	assert_int_equal(lnet_ni_each(c->n, add_ni, &s), 0);
	return &s;
}

static int stop_at_once(void *arg, const struct lnet_ni_info *i)
{
	(void)i;
	return ++*(int *)arg;
}

static void add_and_remove(void **state)
{
	struct core *c = *state;
	struct lnet_nid lo = fl_nid("0@lo"), me = fl_nid(ME_NID), got,
	                nobody = fl_nid("9.9.9.9@tcp");
	struct lnet_ni_conf k = conf_of("10.1.0.1@tcp1");
	struct snap *s;
	int calls = 0;

	k.peer_credits = 16;
	k.credits = 64;
	k.peer_timeout = 20;
	k.peer_buffer_credits = 3;
	k.cpts = "[0,1]";
	assert_int_equal(lnet_ni_add(c->n, &k, &got, NULL, 0), 0);
	assert_true(lnet_nid_eq(&got, &k.nid));
	s = snap(c);
	assert_int_equal(s->n, 3);
	assert_true(lnet_nid_is_lo(&s->ni[0].nid)); /* the order of adding */
	assert_true(lnet_nid_eq(&s->ni[1].nid, &me));
	assert_int_equal(s->ni[1].peer_credits, 8);
	assert_int_equal(s->ni[1].credits, 256);
	assert_int_equal(s->ni[1].peer_timeout, 180);
	assert_int_equal(s->ni[1].conf_peer_credits, LNET_UNSET);
	assert_int_equal(s->ni[2].peer_credits, 16);
	assert_int_equal(s->ni[2].credits, 64);
	assert_int_equal(s->ni[2].conf_credits, 64);
	assert_int_equal(s->ni[2].peer_timeout, 20);
	assert_int_equal(s->ni[2].peer_buffer_credits, 3);
	assert_string_equal(s->ni[2].ifname, "fake0");
	assert_true(s->ni[2].up);
	assert_int_equal(s->ni[2].speed_mbps, 100);
	assert_int_equal(lnet_ni_each(c->n, stop_at_once, &calls), 1);
	assert_int_equal(calls, 1);
	assert_int_equal(lnet_ni_del(c->n, &lo), -EINVAL);
	assert_int_equal(lnet_ni_del(c->n, &nobody), -ENOENT);
	c->clk.step = TL_MS;
	assert_int_equal(lnet_ni_del(c->n, &me), 0);
	assert_int_equal(lnet_ni_del(c->n, &me), -ENOENT);
	assert_int_equal(snap(c)->n, 2);
	assert_int_equal(lnet_ni_add(c->n, &k, NULL, NULL, 0), -EEXIST);
	k = conf_of(ME_NID);
	assert_int_equal(lnet_ni_add(c->n, &k, NULL, NULL, 0), 0);
	assert_int_equal(snap(c)->n, 3);
}

/* Refused with a sentence; nothing is left of it. */
static void refusals(void **state)
{
	struct core *c = *state;
	struct lnet_tun_val t = {"depth", 5};
	struct lnet_ni_conf good = conf_of("10.0.0.11@tcp"), k;
	struct lnet_nid nid = fl_nid("10.5.5.5@tcp"), before = nid;
	char why[200];

	good.tun = &t;
	good.ntun = 1;
#define REFUSED(change, rc, word)                                                    \
	do {                                                                         \
		k = good;                                                            \
		t = (struct lnet_tun_val){"depth", 5};                               \
		change;                                                              \
		assert_int_equal(lnet_ni_add(c->n, &k, &nid, why, sizeof(why)), rc); \
		if (!strstr(why, word))                                              \
			fail_msg("'%s' does not say '%s'", why, word);               \
		assert_int_equal(lnet_ni_add(c->n, &k, NULL, NULL, 0), rc);          \
		assert_true(lnet_nid_eq(&nid, &before));                             \
		assert_int_equal(snap(c)->n, 2);                                     \
		assert_int_equal(atomic_load(&c->n->net->nis_live), 2);              \
	} while (0)
	REFUSED(k.size = 4, -EINVAL, "");
	REFUSED(k.nid = lnet_nid_any(), -EINVAL, "NID");
	REFUSED(k.net = LNET_NET(LNET_LND_TCP, 5), -EINVAL, "NID");
	REFUSED((k.nid = fl_nid("0@lo"), k.net = lnet_nid_net(&k.nid)), -EINVAL, "0@lo");
	REFUSED(k.ifname = "a-name-of-sixteen", -EINVAL, "longer than 15");
	REFUSED(k.nid = fl_nid(ME_NID), -EEXIST, ME_NID);
	REFUSED(t.value = 101, -EINVAL, "1..100");
	REFUSED(t.value = 0, -EINVAL, "depth");
	REFUSED(t.name = "width", -EINVAL, "width");
	REFUSED((t.name = "ro", t.value = 1), -EPERM, "ro");
	REFUSED(k.peer_credits = 0, -EINVAL, "peer_credits");
	REFUSED(k.credits = -1, -EINVAL, "credits");
	REFUSED(k.peer_timeout = -2, -EINVAL, "peer_timeout");
	REFUSED(k.peer_buffer_credits = -1, -EINVAL, "peer_buffer_credits");
	REFUSED((t.name = "port", t.value = 999), -EINVAL, "988");
	REFUSED((k.nid = fl_nid("1.2.3.4@gip"), k.net = lnet_nid_net(&k.nid)), -ENOENT, "driver");
	c->f.start_rc = -EADDRNOTAVAIL;
	REFUSED((void)0, -EADDRNOTAVAIL, "10.0.0.11@tcp");
	c->f.start_rc = 0;
#undef REFUSED
	t = (struct lnet_tun_val){"depth", 5};
	assert_int_equal(lnet_ni_add(c->n, &good, &nid, why, sizeof(why)), 0);
	assert_string_equal(why, "");
	assert_int_equal(snap(c)->tun[2][FL_T_DEPTH], 5);
	assert_true(snap(c)->set[2][FL_T_DEPTH]);
	assert_false(snap(c)->set[1][FL_T_DEPTH]);
}

/* By its name alone: the driver finds the address, which may turn out to be ours already; peers
 * that came through it meanwhile are closed. */
static void by_name(void **state)
{
	struct core *c = *state;
	struct lnet_ni_conf k;
	struct lnet_nid nid;

	lnet_ni_conf_init(&k, sizeof(k));
	k.net = LNET_NET(LNET_LND_TCP, 0);
	k.ifname = "eth7";
	assert_int_equal(lnet_ni_add(c->n, &k, &nid, NULL, 0), 0);
	assert_true(lnet_nid_eq(
	        &nid, &(struct lnet_nid){0, LNET_LND_TCP, 0, {0x0a, 0x63, 0x63, 0x63}}));
	assert_string_equal(snap(c)->ni[2].ifname, "eth7");
	c->f.accept_early = 3;
	c->clk.step = TL_MS;
	assert_int_equal(lnet_ni_add(c->n, &k, &nid, NULL, 0), -EEXIST);
	assert_int_equal(snap(c)->n, 3);
	assert_int_equal(atomic_load(&c->n->net->nis_live), 3);
}

static void tunables(void **state)
{
	struct core *c = *state;
	struct lnet_nid me = fl_nid(ME_NID), second = fl_nid("10.0.0.11@tcp"),
	                far = fl_nid("10.1.0.1@tcp1"), nobody = fl_nid("9.9.9.9@tcp");
	unsigned changes;

	fl_ni(c->n, "10.0.0.11@tcp", NULL);
	fl_ni(c->n, "10.1.0.1@tcp1", NULL);
	changes = c->f.changes;
	assert_int_equal(lnet_ni_set_tunable(c->n, &me, "depth", 33), 0);
	assert_int_equal(c->f.changes, changes + 1);
	assert_int_equal(snap(c)->tun[1][FL_T_DEPTH], 33);
	assert_true(snap(c)->set[1][FL_T_DEPTH]);
	assert_int_equal(snap(c)->tun[2][FL_T_DEPTH], 10);
	/* what is the net's changes for all its interfaces, and no others */
	assert_int_equal(lnet_ni_set_tunable(c->n, &second, "port", 1988), 0);
	assert_int_equal(snap(c)->tun[1][FL_T_PORT], 1988);
	assert_int_equal(snap(c)->tun[2][FL_T_PORT], 1988);
	assert_int_equal(snap(c)->tun[3][FL_T_PORT], 988);
	/* back to the default */
	assert_int_equal(lnet_ni_set_tunable(c->n, &me, "depth", LNET_UNSET), 0);
	assert_int_equal(snap(c)->tun[1][FL_T_DEPTH], 10);
	assert_false(snap(c)->set[1][FL_T_DEPTH]);
	changes = c->f.changes;
	assert_int_equal(lnet_ni_set_tunable(c->n, &me, "depth", 101), -EINVAL);
	assert_int_equal(lnet_ni_set_tunable(c->n, &me, "fixed", 3), -EPERM);
	assert_int_equal(lnet_ni_set_tunable(c->n, &me, "ro", 3), -EPERM);
	assert_int_equal(lnet_ni_set_tunable(c->n, &me, "none", 3), -ENOENT);
	assert_int_equal(lnet_ni_set_tunable(c->n, &nobody, "depth", 3), -ENOENT);
	assert_int_equal(c->f.changes, changes);
	(void)far;
}

static void accept_policy(void **state)
{
	struct core *c = *state;
	struct lnet_cidr list[] = {{{10, 0, 0, 0}, 4, 8}, {{192, 168, 0, 0}, 4, 16}};
	lnet_net_t net = LNET_NET(LNET_LND_TCP, 0);

	fl_ni(c->n, "10.0.0.11@tcp", NULL);
	fl_ni(c->n, "10.1.0.1@tcp1", NULL);
	assert_int_equal(lnet_net_set_accept(c->n, net, LNET_ACCEPT_ALL, list, 2), 0);
	memset(list, 0, sizeof(list)); /* copied */
	for (unsigned i = 1; i < 3; i++) {
		assert_int_equal(snap(c)->ni[i].accept, LNET_ACCEPT_ALL);
		assert_int_equal(snap(c)->ni[i].nallow, 2);
		assert_int_equal(snap(c)->allow[i].addr[0], 10);
	}
	assert_int_equal(snap(c)->ni[3].nallow, 0);
	assert_int_equal(lnet_net_set_accept(c->n, net, LNET_ACCEPT_NONE, NULL, 0), 0);
	assert_int_equal(snap(c)->ni[1].nallow, 0);
	assert_int_equal(
	        lnet_net_set_accept(c->n, LNET_NET(LNET_LND_TCP, 9), LNET_ACCEPT_ALL, NULL, 0),
	        -ENOENT);
}

static void ni_event(struct core *c, unsigned i, enum lnet_ni_state st, const char *why)
{
	fl_hold(c->n);
	c->f.ni[i]->node->up->ni_event(c->f.ni[i], st, why);
	fl_drop(c->n);
	fl_turns(c->n);
}

static void link_down(void **state)
{
	struct core *c = *state;
	const struct lnet_ni_info *i;
	char longer[300];

	c->clk.now += TL_S;
	ni_event(c, 0, LNET_NI_DOWN, "no carrier");
	i = &snap(c)->ni[1];
	assert_false(i->up);
	assert_true(i->fatal);
	assert_string_equal(i->why, "no carrier");
	assert_int_equal(i->status_since, c->clk.now);
	assert_int_equal(i->health.value, 1000); /* status and score are two things */
	core_put(c, 10, 0);                      /* the last path is used all the same */
	fl_all_done(c->n, &c->f);
	c->clk.now += TL_S;
	ni_event(c, 0, LNET_NI_UP, "carrier is back");
	i = &snap(c)->ni[1];
	assert_true(i->up);
	assert_false(i->fatal);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	ni_event(c, 0, LNET_NI_DOWN, longer);
	assert_int_equal(strlen(snap(c)->ni[1].why), 95);
	ni_event(c, 0, LNET_NI_UP, NULL);
	assert_string_equal(snap(c)->ni[1].why, "");
}

static void health(void **state)
{
	struct core *c = *state;
	struct lnet_nid me = fl_nid(ME_NID), nobody = fl_nid("9.9.9.9@tcp");

	assert_int_equal(lnet_ni_set_health(c->n, &me, 1001), -EINVAL);
	assert_int_equal(lnet_ni_set_health(c->n, &me, -1), -EINVAL);
	assert_int_equal(lnet_ni_set_health(c->n, &nobody, 1), -ENOENT);
	assert_int_equal(lnet_ni_set_health(c->n, &me, 500), 0);
	assert_int_equal(snap(c)->ni[1].health.value, 500);
	assert_true(snap(c)->ni[1].up);
	assert_string_equal(snap(c)->ni[1].health.reason, "set by hand");
	assert_int_equal(snap(c)->ni[1].health.changed, c->clk.now);
	assert_int_equal(lnet_ni_set_health(c->n, &me, 0), 0);
	assert_false(snap(c)->ni[1].up);
	assert_int_equal(lnet_ni_set_health(c->n, &me, 1000), 0);
	assert_true(snap(c)->ni[1].up);
	/* every local failure costs, none that is somebody else's; success gives back */
	for (enum lnet_hstatus hs = LNET_HS_LOCAL_INTERRUPT; hs < LNET_HS_COUNT; hs++) {
		bool local = hs <= LNET_HS_LOCAL_TIMEOUT;

		core_put(c, 10, 0);
		fl_done(c->n, &c->f, fl_tx(&c->f, 0), -EIO, hs);
		assert_int_equal(snap(c)->ni[1].health.value, local ? 900 : 1000);
		assert_int_equal(snap(c)->ni[1].health.by[hs], 1);
		core_put(c, 10, 0);
		fl_done(c->n, &c->f, fl_tx(&c->f, 0), 0, LNET_HS_OK);
		assert_int_equal(snap(c)->ni[1].health.value, 1000);
	}
	fl_turns(c->n);
	assert_int_equal(fl_stat(c->n, "local_interrupt_count"), 1);
	assert_int_equal(fl_stat(c->n, "local_dropped_count"), 1);
	assert_int_equal(fl_stat(c->n, "local_aborted_count"), 1);
	assert_int_equal(fl_stat(c->n, "local_no_route_count"), 1);
	assert_int_equal(fl_stat(c->n, "local_error_count"), 1);
	assert_int_equal(fl_stat(c->n, "local_timeout_count"), 1);
	assert_int_equal(fl_stat(c->n, "remote_error_count"), 1);
	assert_int_equal(fl_stat(c->n, "remote_dropped_count"), 1);
	assert_int_equal(fl_stat(c->n, "remote_timeout_count"), 1);
	assert_int_equal(fl_stat(c->n, "network_timeout_count"), 1);
	/* what we take away ourselves costs nothing */
	core_put(c, 10, 0);
	c->clk.step = TL_MS;
	{
		struct lnet_nid peer = fl_nid(PEER_NID);

		assert_int_equal(lnet_peer_del(c->n, &peer, NULL, 0, true, NULL), 0);
	}
	assert_int_equal(snap(c)->ni[1].health.value, 1000);
}

/* OB-01: the same numbers in every view. */
struct sums {
	struct lnet_traffic t;
};

static int sum_peers(void *arg, const struct lnet_peer_info *p)
{
	struct sums *s = arg;

	for (unsigned i = 0; i < p->nni; i++) {
		s->t.sent.put += p->ni[i].traffic.sent.put;
		s->t.sent.get += p->ni[i].traffic.sent.get;
		s->t.sent.ack += p->ni[i].traffic.sent.ack;
		s->t.sent.reply += p->ni[i].traffic.sent.reply;
		s->t.received.ack += p->ni[i].traffic.received.ack;
		s->t.received.reply += p->ni[i].traffic.received.reply;
		s->t.send_bytes += p->ni[i].traffic.send_bytes;
		s->t.drop_count += p->ni[i].traffic.drop_count;
	}
	return 0;
}

static void check_ni_numbers(const struct lnet_traffic *x)
{
	assert_int_equal(x->sent.put, 10);
	assert_int_equal(x->sent.get, 5);
	assert_int_equal(x->sent.ack, 1);
	assert_int_equal(x->sent.reply, 1);
	assert_int_equal(x->send_count, 17);
	assert_int_equal(x->send_bytes, 10 * 100 + 70);
	assert_int_equal(x->received.ack, 3);
	assert_int_equal(x->received.reply, 5);
	assert_int_equal(x->received.put, 3);
	assert_int_equal(x->received.get, 1);
	assert_int_equal(x->recv_count, 12);
	assert_int_equal(x->recv_bytes, 5 * 40 + 3 * 9);
	assert_int_equal(x->dropped.put, 2);
	assert_int_equal(x->drop_count, 2);
	assert_int_equal(x->drop_bytes, 18);
	assert_int_equal(x->get_rtt.samples, 5);
	assert_int_equal(x->put_ack.samples, 3);
	assert_int_equal(x->put_egress.samples >= 7, 1);
}

static void numbers_add_up(void **state)
{
	struct core *c = *state;
	struct lnet_nid any = lnet_nid_any(), far = fl_nid("10.1.0.2@tcp1"),
	                from = fl_nid("10.1.0.11@tcp1");
	const char *const nis[] = {"10.0.0.11@tcp", "10.1.0.1@tcp1", "10.1.0.11@tcp1",
	        "10.2.0.1@tcp2", "10.2.0.11@tcp2"};
	struct target t = {.portal = 10, .threshold = LNET_MD_THRESH_INF};
	const struct lnet_traffic *x;
	struct sums peers = {.t = {.send_count = 0}};
	struct lnet_rail *r = NULL;
	struct snap *s;
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 100);
	struct lnet_hdr h;
	struct fl_rx rx;

	for (unsigned i = 0; i < 5; i++)
		fl_ni(c->n, nis[i], NULL);
	t.options = LNET_MD_OP_PUT | LNET_MD_OP_GET | LNET_MD_MANAGE_REMOTE;
	t.buf = c->buf;
	t.len = 1000;
	t.user = &c->s;
	assert_int_equal(core_attach(c->n, &t), 0);
	a.target = far;
	a.source = from;
	for (unsigned i = 0; i < 7; i++)
		assert_int_equal(lnet_put(c->n, &a, NULL), 0);
	r = fl_tx(&c->f, 0)->rail;
	fl_all_done(c->n, &c->f);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(lnet_get(c->n, &a, NULL), 0);
		core_answer(c, fl_tx(&c->f, 0), 40);
		fl_all_done(c->n, &c->f);
	}
	a.flags = LNET_OP_ACK;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(lnet_put(c->n, &a, NULL), 0);
		core_answer(c, fl_tx(&c->f, 0), 100);
		c->clk.now += 1000;
		fl_all_done(c->n, &c->f);
	}
	h = fl_put_hdr(r, 33, 0, 9);
	fl_parse(c->n, r, &h, c->src, &rx);
	fl_parse(c->n, r, &h, c->src, &rx);
	h = fl_put_hdr(r, 10, 0, 9);
	h.msg.put.ack_wmd = (struct lnet_wmd){1, 1};
	fl_parse(c->n, r, &h, c->src, &rx);
	h = fl_get_hdr(r, 10, 0, 70);
	fl_parse(c->n, r, &h, c->src, &rx);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	s = snap(c);
	for (unsigned i = 0; i < s->n; i++) {
		if (lnet_nid_eq(&s->ni[i].nid, &from))
			continue;
		assert_int_equal(s->ni[i].traffic.send_count + s->ni[i].traffic.recv_count, 0);
	}
	x = &s->ni[4].traffic;
	check_ni_numbers(x);
	assert_int_equal(fl_stat(c->n, "send_count"), x->send_count);
	assert_int_equal(fl_stat(c->n, "send_length"), x->send_bytes);
	assert_int_equal(fl_stat(c->n, "recv_count"), x->recv_count);
	assert_int_equal(fl_stat(c->n, "recv_length"), x->recv_bytes);
	assert_int_equal(fl_stat(c->n, "drop_count"), 2);
	assert_int_equal(fl_stat(c->n, "drop_length"), 18);
	assert_int_equal(lnet_peer_each(c->n, &any, sum_peers, &peers), 0);
	assert_int_equal(peers.t.sent.put, 10);
	assert_int_equal(peers.t.sent.get, 5);
	assert_int_equal(peers.t.sent.ack + peers.t.sent.reply, 2);
	assert_int_equal(peers.t.received.ack, 3);
	assert_int_equal(peers.t.received.reply, 5);
	assert_int_equal(peers.t.send_bytes, 1070);
	assert_int_equal(peers.t.drop_count, 2);
	/* and all of them go back to 0 */
	lnet_stats_reset(c->n);
	s = snap(c);
	assert_int_equal(s->ni[4].traffic.send_count + s->ni[4].traffic.recv_count, 0);
	assert_int_equal(s->ni[4].traffic.get_rtt.samples, 0);
	assert_int_equal(fl_stat(c->n, "send_count") + fl_stat(c->n, "drop_no_match"), 0);
	memset(&peers, 0, sizeof(peers));
	assert_int_equal(lnet_peer_each(c->n, &any, sum_peers, &peers), 0);
	assert_int_equal(peers.t.sent.put + peers.t.drop_count, 0);
}

/* With messages waiting, with the driver and on the way in: all end, and it is gone. */
static void removed_in_use(void **state)
{
	struct lnet_ni_conf k;
	struct core *c;
	struct target t = {.portal = 10, .threshold = LNET_MD_THRESH_INF, .len = 100};
	struct lnet_nid me = fl_nid(ME_NID);
	struct lnet_hdr h;
	struct fl_rx rx;

	(void)state;
	lnet_ni_conf_init(&k, sizeof(k));
	k.peer_credits = 2;
	k.credits = 3;
	c = core_with(&k, NULL);
	t.buf = c->buf;
	t.user = &c->s;
	assert_int_equal(core_attach(c->n, &t), 0);
	for (unsigned i = 0; i < 6; i++)
		core_put(c, 10, i % 2 ? LNET_OP_ACK : 0);
	c->f.recv_later = true;
	h = fl_put_hdr(c->r, 10, 0, 10);
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), 0);
	c->clk.step = TL_MS;
	assert_int_equal(lnet_ni_del(c->n, &me), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.finals, 6);
	assert_int_equal(c->s.n, 7);
	for (unsigned i = 0; i < 7; i++)
		assert_int_equal(c->s.ev[i].status, -ESHUTDOWN);
	assert_int_equal(atomic_load(&c->n->net->rails_live), 0);
	core_free(c, 0);
}

static void dump_lines(void *arg, const char *text)
{
	unsigned *n = arg;

	*n += strstr(text, "waits for") != NULL;
	*n += 100 * (strstr(text, "fake rail") != NULL);
}

static void dump(void **state)
{
	struct core *c = *state;
	unsigned lines = 0;

	core_put(c, 10, LNET_OP_ACK);
	core_get(c, 10);
	assert_int_equal(lnet_dump(c->n, dump_lines, &lines), 0);
	assert_int_equal(lines, 102);
	core_free(c, -ETIMEDOUT); /* nobody answers those */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        CORE_TEST(add_and_remove),
	        CORE_TEST(refusals),
	        CORE_TEST(by_name),
	        CORE_TEST(tunables),
	        CORE_TEST(accept_policy),
	        CORE_TEST(link_down),
	        CORE_TEST(health),
	        CORE_TEST(numbers_add_up),
	        cmocka_unit_test(removed_in_use),
	        cmocka_unit_test_setup(dump, core_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
