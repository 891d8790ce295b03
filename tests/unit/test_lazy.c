/* SPDX-License-Identifier: BSD-2-Clause */
/* Lazy portals: PUTs that come before their MD. */
#include "core_fixture.h"

static int arrive(
        struct core *c, struct lnet_rail *r, uint64_t bits, const void *data, uint32_t len)
{
	struct lnet_hdr h = fl_put_hdr(r, 10, bits, len);
	static struct fl_rx rx; /* over when this returns */

	h.msg.put.hdr_data = bits;
	assert_int_equal(fl_parse(c->n, r, &h, data, &rx), 0);
	assert_true(rx.over);
	return rx.discarded ? -1 : 0;
}

static struct target here(struct core *c, int32_t threshold)
{
	return (struct target){.portal = 10,
	        .ignore = UINT64_MAX,
	        .buf = c->buf,
	        .len = sizeof(c->buf),
	        .threshold = threshold,
	        .user = &c->s};
}

static void parked_in_order(void **state)
{
	struct core *c = *state;
	struct target t = here(c, LNET_MD_THRESH_INF);

	assert_int_equal(arrive(c, c->r, 1, c->src, 10), -1); /* not lazy yet */
	assert_int_equal(lnet_portal_lazy(c->n, 10, true), 0);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(arrive(c, c->r, i, c->src + 10 * i, 10), 0);
	assert_int_equal(fl_stat(c->n, "parked"), 5);
	assert_int_equal(atomic_load(&c->n->mem_used), 50);
	c->s.inside = true;
	fl_hold(c->n);
	assert_int_equal(core_attach(c->n, &t), 0);
	/* what comes now may not overtake those */
	fl_drop(c->n);
	assert_int_equal(arrive(c, c->r, 5, c->src + 50, 10), 0);
	c->s.inside = false;
	fl_turns(c->n);
	assert_int_equal(c->s.n, 6);
	assert_memory_equal(c->buf, c->src, 60);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(c->s.ev[i].match_bits, i);
		assert_int_equal(c->s.ev[i].offset, 10 * i);
		assert_int_equal(c->s.ev[i].hdr_data, i);
	}
	assert_int_equal(atomic_load(&c->n->mem_used), 0);
	assert_int_equal(atomic_load(&c->n->ptl->nparked), 0);
}

/* An ACK that was wanted goes out when the PUT is taken, not when it is parked. */
static void acknowledged_late(void **state)
{
	struct core *c = *state;
	struct target t = here(c, 1);
	struct lnet_hdr h = fl_put_hdr(c->r, 10, 1, 10);
	struct fl_rx rx;

	assert_int_equal(lnet_portal_lazy(c->n, 10, true), 0);
	h.msg.put.ack_wmd = (struct lnet_wmd){5, 6};
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), 0);
	assert_int_equal(c->f.ntx, 0);
	assert_int_equal(core_attach(c->n, &t), 0);
	fl_turns(c->n);
	assert_int_equal(c->f.ntx, 1);
	assert_int_equal(fl_tx(&c->f, 0)->hdr.type, LNET_MSG_ACK);
	assert_true(c->s.ev[0].unlinked);
	fl_all_done(c->n, &c->f);
}

/* Those that fit are taken, one a use-once MD; the others stay. */
static void taken_one_by_one(void **state)
{
	struct core *c = *state;
	struct target t = here(c, 1), small = here(c, 1);

	assert_int_equal(lnet_portal_lazy(c->n, 10, true), 0);
	for (unsigned i = 0; i < 4; i++)
		arrive(c, c->r, i, c->src + 10 * i, 10);
	t.ignore = 0;
	t.bits = 2;
	assert_int_equal(core_attach(c->n, &t), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
	assert_int_equal(c->s.ev[0].match_bits, 2);
	t = here(c, 1);
	assert_int_equal(core_attach(c->n, &t), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 2);
	assert_int_equal(c->s.ev[1].match_bits, 0);
	/* without room: dropped, as if it came now, and so is the next */
	small.len = 9;
	small.threshold = LNET_MD_THRESH_INF;
	assert_int_equal(core_attach(c->n, &small), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 2);
	assert_int_equal(fl_stat(c->n, "drop_too_long"), 2);
	assert_int_equal(atomic_load(&c->n->ptl->nparked), 0);
	assert_int_equal(atomic_load(&c->n->mem_used), 0);
}

static void bound_for_each_peer(void **state)
{
	struct core *c = *state;
	struct lnet_rail *other = fl_rail(&c->f, "10.0.0.3@tcp", LNET_PID_LUSTRE);

	assert_int_equal(lnet_portal_lazy(c->n, 10, true), 0);
	for (unsigned i = 0; i < 12; i++)
		arrive(c, c->r, i, c->src, 10);
	assert_int_equal(fl_stat(c->n, "parked"), 8); /* peer_credits */
	assert_int_equal(fl_stat(c->n, "drop_park_full"), 4);
	for (unsigned i = 0; i < 8; i++)
		arrive(c, other, i, c->src, 10);
	assert_int_equal(fl_stat(c->n, "parked"), 16);
	assert_int_equal(lnet_portal_lazy(c->n, 10, false), 0);
	fl_turns(c->n);
	assert_int_equal(fl_stat(c->n, "drop_no_match"), 16);
	assert_int_equal(atomic_load(&c->n->mem_used), 0);
	assert_int_equal(lnet_portal_lazy(c->n, LNET_MAX_PORTALS, true), -EINVAL);
}

static void memory_cap(void **state)
{
	struct lnet_opts o;
	struct core *c;

	(void)state;
	lnet_opts_init(&o, sizeof(o));
	o.mem_max = 1000;
	c = core_with(NULL, &o);
	assert_int_equal(lnet_portal_lazy(c->n, 10, true), 0);
	assert_int_equal(arrive(c, c->r, 1, c->src, 1001), -1);
	assert_int_equal(arrive(c, c->r, 1, c->src, 600), 0);
	assert_int_equal(arrive(c, c->r, 1, c->src, 401), -1);
	assert_int_equal(arrive(c, c->r, 1, c->src, 400), 0);
	assert_int_equal(arrive(c, c->r, 1, c->src, 1), -1);
	assert_int_equal(arrive(c, c->r, 1, c->src, 0), 0);
	assert_int_equal(fl_stat(c->n, "drop_park_full"), 3);
	assert_int_equal(atomic_load(&c->n->mem_used), 1000);
	core_free(c, 0); /* what is parked holds nobody up */
}

/* The MD comes while the payload is still being read. */
static void attached_in_between(void **state)
{
	struct core *c = *state;
	struct target t = here(c, 1);
	struct lnet_hdr h = fl_put_hdr(c->r, 10, 1, 10);
	struct fl_rx rx, broken;

	assert_int_equal(lnet_portal_lazy(c->n, 10, true), 0);
	c->f.recv_later = true;
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), 0);
	assert_int_equal(core_attach(c->n, &t), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 0);
	fl_landed(c->n, &c->f, &rx, 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
	assert_memory_equal(c->buf, c->src, 10);
	/* and one that never comes whole */
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &broken), 0);
	fl_landed(c->n, &c->f, &broken, -ECONNRESET);
	fl_turns(c->n);
	assert_int_equal(atomic_load(&c->n->mem_used), 0);
	assert_int_equal(c->s.n, 1);
	c->f.recv_later = false;
	c->f.recv_rc = -ENOMEM;
	assert_int_equal(arrive(c, c->r, 1, c->src, 10), -1);
	assert_int_equal(atomic_load(&c->n->mem_used), 0);
}

static void get_is_dropped(void **state)
{
	struct core *c = *state;
	struct lnet_hdr h = fl_get_hdr(c->r, 10, 1, 10);
	struct fl_rx rx;

	assert_int_equal(lnet_portal_lazy(c->n, 10, true), 0);
	assert_int_equal(fl_parse(c->n, c->r, &h, NULL, &rx), 0);
	assert_true(rx.discarded);
	assert_int_equal(fl_stat(c->n, "drop_no_match"), 1);
}

/* Nothing that is parked keeps an interface or a peer. */
static void taken_away(void **state)
{
	struct core *c = *state;
	struct lnet_nid me = fl_nid(ME_NID), peer = fl_nid(PEER_NID);
	struct lnet_rail *r;

	assert_int_equal(lnet_portal_lazy(c->n, 10, true), 0);
	arrive(c, c->r, 1, c->src, 10);
	assert_int_equal(lnet_peer_del(c->n, &peer, NULL, 0, false, NULL), 0);
	assert_int_equal(atomic_load(&c->n->ptl->nparked), 0);
	r = fl_rail(&c->f, PEER_NID, LNET_PID_LUSTRE);
	arrive(c, r, 1, c->src, 10);
	assert_int_equal(atomic_load(&c->n->ptl->nparked), 1);
	c->clk.step = TL_MS;
	assert_int_equal(lnet_ni_del(c->n, &me), 0);
	assert_int_equal(atomic_load(&c->n->ptl->nparked), 0);
	assert_int_equal(atomic_load(&c->n->mem_used), 0);
	assert_int_equal(fl_stat(c->n, "drop_no_match"), 2);
}

/* A parked PUT knows its sender's other NIDs when it is matched at last. */
static void matched_by_peer(void **state)
{
	struct core *c = *state;
	struct lnet_nid nids[] = {fl_nid(PEER_NID), fl_nid("10.0.0.3@tcp")};
	struct target t = here(c, 1);

	assert_int_equal(lnet_peer_add(c->n, nids, nids, 2, true, false, NULL), 0);
	assert_int_equal(lnet_portal_lazy(c->n, 10, true), 0);
	arrive(c, c->r, 1, c->src, 10);
	/* the record that it was parked with goes */
	assert_int_equal(lnet_peer_del(c->n, &nids[0], &nids[1], 1, false, NULL), 0);
	fl_turns(c->n);
	t.nid = "10.0.0.3@tcp";
	assert_int_equal(core_attach(c->n, &t), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        CORE_TEST(parked_in_order),
	        CORE_TEST(acknowledged_late),
	        CORE_TEST(taken_one_by_one),
	        CORE_TEST(bound_for_each_peer),
	        cmocka_unit_test(memory_cap),
	        CORE_TEST(attached_in_between),
	        CORE_TEST(get_is_dropped),
	        CORE_TEST(taken_away),
	        CORE_TEST(matched_by_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
