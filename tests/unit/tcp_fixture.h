/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of the tcp driver share: fake cores on loopback addresses. */
#ifndef TEST_TCP_FIXTURE_H
#define TEST_TCP_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/fakecore.h"
#include "lnd-tcp/driver.h"

/* Up to two nodes in poll mode, turned together. */
struct pair {
	struct fc_node *a, *b;
	int port;
	struct tl_pump pump;
};

static inline int pair_turn(void *arg)
{
	struct pair *p = arg;
	int n = 0;

	if (p->a)
		n += fc_node_turn(p->a);
	if (p->b)
		n += fc_node_turn(p->b);
	return n;
}

static inline struct lnet_nid nid_of(const char *ip)
{
	struct lnet_nid nid;
	char text[80];

	snprintf(text, sizeof(text), "%s@tcp", ip);
	assert_int_equal(lnet_nid_parse(text, strlen(text), &nid, NULL), 0);
	return nid;
}

static inline struct fc_node *tcp_node_conf(
        const struct fc_conf *conf, const char *ip, const struct fc_tun *tun, unsigned ntun)
{
	struct fc_conf c = *conf;
	struct lnet_nid nid = nid_of(ip);
	struct fc_node *n;

	c.lnd = &lnet_lnd_tcp;
	c.nloops = c.nloops ? c.nloops : 1;
	c.seed = c.seed ? c.seed : c.incarnation;
	assert_int_equal(fc_node_new(&c, &n), 0);
	assert_int_equal(fc_ni_start(n, &nid, tun, ntun), 0);
	return n;
}

static inline struct fc_node *tcp_node(const char *ip, int port, uint64_t inc, int64_t cpp)
{
	struct fc_conf c = {.incarnation = inc};
	struct fc_tun t[] = {{"port", port}, {"conns_per_peer", cpp}};

	return tcp_node_conf(&c, ip, t, 2);
}

static inline bool all_closed(struct fc_node *n)
{
	for (struct fc_rail *r = n->rails; r; r = r->next)
		if (r->opened && !r->closed)
			return false;
	return true;
}

static inline void tcp_node_end(struct pair *p, struct fc_node **np)
{
	struct fc_node *n = *np;
	const char *text = NULL;

	fc_discard_held(n);
	for (struct fc_rail *r = n->rails; r; r = r->next)
		if (r->opened && !r->closing)
			fc_rail_close(r);
	assert_true(TL_UNTIL(&p->pump, all_closed(n), 5 * TL_S));
	if (n->ni.started) {
		fc_ni_stop(n);
		assert_true(TL_UNTIL(&p->pump, n->ni.stopped, 5 * TL_S));
	}
	fc_check_over(n);
	if (fc_faults(n, &text))
		fail_msg("%s", text);
	*np = NULL;
	fc_node_free(n);
}

static inline struct pair *pair_new(int64_t cpp_a, int64_t cpp_b)
{
	const char *ips[] = {"127.0.0.2", "127.0.0.3"};
	struct pair *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->pump = (struct tl_pump){pair_turn, p};
	p->port = tl_free_port(ips, 2);
	assert_true(p->port > 1024);
	if (cpp_a)
		p->a = tcp_node(ips[0], p->port, 1001, cpp_a);
	if (cpp_b)
		p->b = tcp_node(ips[1], p->port, 1002, cpp_b);
	return p;
}

static inline int pair_setup(void **state)
{
	*state = pair_new(1, 1);
	return 0;
}

static inline int pair_teardown(void **state)
{
	struct pair *p = *state;

	if (p->a)
		tcp_node_end(p, &p->a);
	if (p->b)
		tcp_node_end(p, &p->b);
	free(p);
	return 0;
}

static inline struct fc_rail *rail_to(struct fc_node *n, const char *ip)
{
	struct lnet_nid nid = nid_of(ip);
	int rc = 0;
	struct fc_rail *r = fc_rail(n, &nid, LNET_PID_LUSTRE, &rc);

	assert_non_null(r);
	return r;
}

static inline uint64_t stat_of(struct fc_node *n, const char *name)
{
	uint64_t *s = fc_stat(n, name);

	assert_non_null(s);
	return __atomic_load_n(s, __ATOMIC_RELAXED);
}

#endif
