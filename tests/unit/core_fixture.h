/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of the core share: a node over the fake driver, and a log of events. */
#ifndef TEST_CORE_FIXTURE_H
#define TEST_CORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/fakelnd.h"
#include "lnet/msg/msg.h"

#define ME_NID   "10.0.0.1@tcp"
#define PEER_NID "10.0.0.2@tcp"

struct seen {
	struct lnet_event ev[256];
	unsigned n, finals, unlinks;
	bool inside;        /* set while the test is inside a call that must run no handler */
	unsigned intruders; /* handlers that ran all the same */
};

static inline void see(const struct lnet_event *ev)
{
	struct seen *s = ev->user;

	s->intruders += s->inside;
	s->finals += ev->final;
	s->unlinks += ev->unlinked;
	if (s->n < 256)
		s->ev[s->n] = *ev;
	s->n++;
}

/* A clock of the test's: moves when told. */
struct handclock {
	_Atomic uint64_t now;
	_Atomic uint64_t step; /* each look moves it so far: for closing */
};

static inline uint64_t hand_now(void *arg)
{
	struct handclock *c = arg;

	return c->now += c->step;
}

struct core {
	struct fl f;
	struct lnet *n;
	struct lnet_rail *r; /* of PEER_NID */
	struct handclock clk;
	struct seen s;
	uint8_t buf[4096], src[4096];
};

static inline struct core *core_with(const struct lnet_ni_conf *conf, struct lnet_opts *o)
{
	struct core *c = calloc(1, sizeof(*c));
	struct lnet_opts def;

	assert_non_null(c);
	fl_init(&c->f);
	if (!o) {
		lnet_opts_init(&def, sizeof(def));
		o = &def;
	}
	c->clk.now = 1000 * TL_S;
	o->clock = (struct lnet_clock){hand_now, &c->clk};
	c->n = fl_node(&c->f, o);
	fl_ni(c->n, ME_NID, conf);
	c->r = fl_rail(&c->f, PEER_NID, LNET_PID_LUSTRE);
	tl_fill(7, 0, c->src, sizeof(c->src));
	fl_turns(c->n);
	return c;
}

static inline void core_free(struct core *c, int want)
{
	c->f.quiet_close = false;
	c->clk.step = TL_MS;
	assert_int_equal(lnet_close(c->n, lnet_now(c->n) + TL_S), want);
	assert_int_equal(c->s.intruders, 0);
	fl_fini(&c->f);
	free(c);
}

static inline int core_setup(void **state)
{
	*state = core_with(NULL, NULL);
	return 0;
}

static inline int core_teardown(void **state)
{
	core_free(*state, 0);
	return 0;
}

#define CORE_TEST(fn) cmocka_unit_test_setup_teardown(fn, core_setup, core_teardown)

/* The hand moves, and the loop looks. */
static inline void core_pass(struct core *c, uint64_t ns)
{
	c->clk.now += ns;
	fl_turns(c->n);
}

static inline struct lnet_op_args core_args(struct core *c, struct iovec *iov, size_t len)
{
	struct lnet_op_args a;

	lnet_op_args_init(&a, sizeof(a));
	*iov = (struct iovec){c->src, len};
	a.target = fl_nid(PEER_NID);
	a.portal = 20;
	a.match_bits = 77;
	a.mem = (struct lnet_mem){.iov = iov, .niov = len ? 1 : 0};
	a.handler = see;
	a.user = &c->s;
	return a;
}

/* Starts, and sees that no handler ran inside. */
static inline lnet_handle_t core_put(struct core *c, size_t len, uint32_t flags)
{
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, len);
	lnet_handle_t op = 0;

	a.flags = flags;
	c->s.inside = true;
	assert_int_equal(lnet_put(c->n, &a, &op), 0);
	c->s.inside = false;
	assert_int_not_equal(op, 0);
	return op;
}

static inline lnet_handle_t core_get(struct core *c, size_t len)
{
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, len);
	lnet_handle_t op = 0;

	iov.iov_base = c->buf;
	c->s.inside = true;
	assert_int_equal(lnet_get(c->n, &a, &op), 0);
	c->s.inside = false;
	return op;
}

/* The peer answers message i, which the driver has; whole or in part. */
static inline void core_answer(struct core *c, const struct lnet_tx *tx, uint32_t len)
{
	struct fl_rx rx;
	struct lnet_hdr h = fl_answer_hdr(tx, len);

	assert_int_equal(fl_parse(c->n, tx->rail, &h, c->src, &rx), 0);
	assert_true(rx.over);
}

struct target {
	uint32_t portal, options;
	uint64_t bits, ignore, max_size;
	const char *nid; /* NULL = ANY */
	uint32_t pid;    /* 0 = ANY */
	int32_t threshold;
	int unlink, me_unlink;
	enum lnet_ins_pos pos;
	void *buf;
	size_t len;
	void *user;
	lnet_handle_t me, md;
};

static inline int core_attach(struct lnet *n, struct target *t)
{
	struct lnet_match m = {.nid = t->nid ? fl_nid(t->nid) : lnet_nid_any(),
	        .pid = t->pid ? t->pid : LNET_PID_ANY,
	        .bits = t->bits,
	        .ignore = t->ignore};
	struct iovec iov = {t->buf, t->len};
	struct lnet_md_desc d = {.mem = {.iov = &iov, .niov = 1},
	        .options = t->options ? t->options : LNET_MD_OP_PUT,
	        .threshold = t->threshold ? t->threshold : 1,
	        .max_size = t->max_size,
	        .unlink = t->unlink,
	        .handler = see,
	        .user = t->user};
	int rc = lnet_me_attach(n, t->portal, &m, t->me_unlink, t->pos, &t->me);

	return rc ? rc : lnet_md_attach(n, t->me, &d, &t->md);
}

#endif
