/* SPDX-License-Identifier: BSD-2-Clause */
/* Interfaces, links and addresses that come and go, in a network namespace of the test's own. */
#include "tcp_fixture.h"

#include <sched.h>
#include <unistd.h>

#define PORT 7988

static bool ip(const char *args)
{
	char cmd[256];

	snprintf(cmd, sizeof(cmd), "ip %s 2>/dev/null", args);
	return system(cmd) == 0;
}

static int group_setup(void **state)
{
	(void)state;
	if (unshare(CLONE_NEWNET) < 0 || !ip("link set lo up")) {
		print_message("no network namespaces here: skipped\n");
		exit(77);
	}
	return 0;
}

static int setup(void **state)
{
	struct pair *p = calloc(1, sizeof(*p));

	p->pump = (struct tl_pump){pair_turn, p};
	p->port = PORT;
	assert_true(ip("link add v0 type veth peer name v1"));
	assert_true(ip("address add 10.77.0.1/24 dev v0"));
	assert_true(ip("address add 10.77.0.2/24 dev v1"));
	assert_true(ip("link set v0 up") && ip("link set v1 up"));
	assert_true(TL_UNTIL(NULL, ip("link show v0 | grep -q 'state UP'"), 5 * TL_S));
	assert_true(TL_UNTIL(NULL, ip("link show v1 | grep -q 'state UP'"), 5 * TL_S));
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	int rc = pair_teardown(state);

	ip("link del v0");
	return rc;
}

static int start_if(const char *ifname, const char *nid, struct fc_node **out)
{
	struct fc_conf c = {.lnd = &lnet_lnd_tcp, .nloops = 1, .incarnation = 9, .seed = 9};
	struct fc_tun t[] = {{"port", PORT}};
	struct lnet_nid id = lnet_nid_from4((uint64_t)LNET_NET(LNET_LND_TCP, 3) << 32);
	int rc;

	if (nid)
		id = nid_of(nid);
	assert_int_equal(fc_node_new(&c, out), 0);
	snprintf((*out)->ifname, sizeof((*out)->ifname), "%s", ifname);
	rc = fc_ni_start(*out, &id, t, 1);
	if (rc) {
		fc_node_free(*out);
		*out = NULL;
	}
	return rc;
}

static void finds_its_interface(void **state)
{
	struct pair *p = *state;
	char text[LNET_NIDSTR_MAX];
	struct lnet_lnd_ni *ni;

	p->a = tcp_node("10.77.0.1", PORT, 1, 0);
	ni = &p->a->ni.d;
	assert_string_equal(ni->ifname, "v0");
	assert_int_equal(ni->mtu, 1500);
	assert_int_equal(ni->speed_mbps, 10000);
	tcp_node_end(p, &p->a);
	p->a = tcp_node("127.8.9.10", PORT, 1, 0);
	assert_string_equal(p->a->ni.d.ifname, "lo");
	tcp_node_end(p, &p->a);
	assert_int_equal(start_if("v1", NULL, &p->a), 0);
	assert_string_equal(lnet_nid_str(&p->a->ni.d.nid, text, sizeof(text)), "10.77.0.2@tcp3");
	tcp_node_end(p, &p->a);
	assert_int_equal(start_if("v1", "10.77.0.1", &p->a), -EINVAL);
	assert_int_equal(start_if("v9", NULL, &p->a), -ENODEV);
	assert_int_equal(start_if("", "10.99.0.1", &p->a), -EADDRNOTAVAIL);
	assert_int_equal(start_if("v0", "10.77.0.1", &p->a), 0);
	assert_int_equal(start_if("v0", "10.77.0.1", &p->b), -EADDRINUSE);
	p->b = NULL;
}

static void expect(struct pair *p, int st, const char *why)
{
	if (!TL_UNTIL(&p->pump, p->a->ni.state == st && (!why || !strcmp(p->a->ni.why, why)),
	            5 * TL_S))
		fail_msg("state %d (%s), wanted %d (%s)", p->a->ni.state, p->a->ni.why, st,
		        why ? why : "");
}

/* A message gets through. The first one may be lost in a connection whose other end is gone. */
static void works(struct pair *p, uint64_t id)
{
	struct fc_rail *r = rail_to(p->b, "10.77.0.1");
	unsigned before = p->a->rx_ok;

	for (unsigned i = 0; i < 20 && p->a->rx_ok == before; i++) {
		struct fc_tx *tx = fc_put(r, id * 100 + i, 5000, 1, 2 * TL_S);
		uint64_t end = tl_now() + 200 * TL_MS;

		if (fc_send(tx) < 0) /* the pause after a failed attempt is short */
			tl_run_for(&p->pump, 50 * TL_MS);
		while (tl_now() < end && p->a->rx_ok == before)
			tl_turn(&p->pump);
	}
	assert_true(p->a->rx_ok > before);
}

static void link_events(void **state)
{
	struct pair *p = *state;
	struct fc_rail *r;

	p->a = tcp_node("10.77.0.1", PORT, 1, 1);
	p->b = tcp_node("10.77.0.2", PORT, 2, 1);
	works(p, 1);
	assert_true(ip("link set v1 down"));
	expect(p, LNET_NI_DOWN, "no carrier");
	r = rail_to(p->a, "10.77.0.2");
	assert_int_equal(fc_send(fc_put(r, 2, 10, 1, TL_S)), -ENETDOWN);
	assert_true(ip("link set v1 up"));
	expect(p, LNET_NI_UP, NULL);
	works(p, 3);
	assert_true(ip("link set v0 down"));
	expect(p, LNET_NI_DOWN, "link down");
	assert_true(ip("link set v0 up"));
	expect(p, LNET_NI_UP, NULL);
	assert_true(ip("address del 10.77.0.1/24 dev v0"));
	expect(p, LNET_NI_DOWN, "address gone");
	tl_run_for(&p->pump, 50 * TL_MS);
	assert_true(ip("address add 10.77.0.1/24 dev v0"));
	expect(p, LNET_NI_UP, NULL);
	works(p, 4);
	assert_true(ip("link del v0"));
	expect(p, LNET_NI_DOWN, "interface gone");
	tl_run_for(&p->pump, 20 * TL_MS);
	assert_true(ip("link add v0 type veth peer name v1"));
	assert_true(ip("address add 10.77.0.1/24 dev v0") && ip("address add 10.77.0.2/24 dev v1"));
	assert_true(ip("link set v0 up") && ip("link set v1 up"));
	expect(p, LNET_NI_UP, NULL);
	works(p, 5);
}

/* Port 988: source ports are privileged, and the policy asks for that. */
static void privileged(void **state)
{
	struct pair *p = *state;
	struct fc_conf c = {.incarnation = 1};
	struct fc_tun t[] = {{"port", 988}, {"conns_per_peer", 3}};
	struct fc_rail *r;
	struct fc_tx *tx;

	p->a = tcp_node_conf(&c, "10.77.0.1", t, 2);
	c.incarnation = 2;
	p->b = tcp_node_conf(&c, "10.77.0.2", t, 2);
	r = rail_to(p->b, "10.77.0.1");
	tx = fc_put(r, 1, 5000, 1, 5 * TL_S);
	assert_int_equal(fc_send(tx), 0);
	assert_true(TL_UNTIL(&p->pump, tx->done && p->a->rx_ok == 1, 5 * TL_S));
	assert_true(TL_UNTIL(&p->pump, stat_of(p->a, "accepts") == 7, 5 * TL_S));
	assert_int_equal(stat_of(p->a, "refused_policy"), 0);
}

/* Without the right to bind a privileged port: one untyped connection, which the other side must
 * allow. */
static void unprivileged(void **state)
{
	struct pair *p = *state;
	struct fc_conf c = {.incarnation = 1};
	struct fc_tun t[] = {{"port", 988}, {"conns_per_peer", 3}};
	struct lnet_rail_info info;
	struct fc_rail *r;
	struct fc_tx *tx;

	p->a = tcp_node_conf(&c, "10.77.0.1", t, 2);
	p->a->ni.d.accept = LNET_ACCEPT_ALL;
	c.incarnation = 2;
	p->b = tcp_node_conf(&c, "10.77.0.2", t, 2);
	assert_int_equal(seteuid(65534), 0);
	r = rail_to(p->b, "10.77.0.1");
	tx = fc_put(r, 1, 50000, 1, 5 * TL_S);
	assert_int_equal(fc_send(tx), 0);
	assert_true(TL_UNTIL(&p->pump, tx->done && p->a->rx_ok == 1, 5 * TL_S));
	tl_run_for(&p->pump, 50 * TL_MS);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(stat_of(p->a, "accepts"), 1);
	fc_query(r, &info);
	assert_int_equal(info.nconns, 1);
	assert_int_equal(info.conns_wanted, 1);
}

static void ipv6(void **state)
{
	struct pair *p = *state;
	struct fc_rail *r;
	struct fc_tx *tx;

	assert_true(ip("address add fd00:7::1/64 dev v0 nodad") &&
	            ip("address add fd00:7::2/64 dev v1 nodad"));
	p->a = tcp_node("fd00:7::1", PORT, 1, 1);
	p->b = tcp_node("fd00:7::2", PORT, 2, 1);
	r = rail_to(p->b, "fd00:7::1");
	tx = fc_put(r, 1, 50000, 1, 5 * TL_S);
	assert_int_equal(fc_send(tx), 0);
	assert_true(TL_UNTIL(&p->pump, tx->done && p->a->rx_ok == 1, 5 * TL_S));
	assert_int_equal(tx->status, 0);
	assert_true(TL_UNTIL(&p->pump, stat_of(p->a, "accepts") == 3, 5 * TL_S));
}

/* An address that the system still checks for duplicates: the NI starts, down, and comes up by
 * itself. */
static void address_tentative(void **state)
{
	struct pair *p = *state;

	assert_true(ip("address add fd00:8::1/64 dev v0"));
	p->a = tcp_node("fd00:8::1", PORT, 1, 1);
	expect(p, LNET_NI_DOWN, "address not usable yet");
	expect(p, LNET_NI_UP, NULL);
}

/* What is queued for a link that goes comes back at once, to take another way. */
static void link_down_with_queue(void **state)
{
	struct pair *p = *state;
	struct fc_rail *r;
	struct fc_tx *tx[20];
	unsigned back = 0;

	p->a = tcp_node("10.77.0.1", PORT, 1, 1);
	p->b = tcp_node("10.77.0.2", PORT, 2, 1);
	works(p, 1);
	r = rail_to(p->a, "10.77.0.2");
	tl_run_for(&p->pump, 50 * TL_MS);
	for (unsigned i = 0; i < 20; i++) {
		tx[i] = fc_put(r, 50 + i, LNET_MTU, 1, 10 * TL_S);
		assert_int_equal(fc_send(tx[i]), 0);
	}
	for (int i = 0; i < 20; i++)
		fc_node_turn(p->a);
	assert_true(ip("link set v0 down"));
	for (uint64_t end = tl_now() + TL_S; tl_now() < end && p->a->ni.state != LNET_NI_DOWN;)
		fc_node_turn(p->a);
	for (int i = 0; i < 20; i++)
		fc_node_turn(p->a);
	for (unsigned i = 0; i < 20; i++)
		if (tx[i]->done && tx[i]->status) {
			assert_int_equal(tx[i]->status, -ENETDOWN);
			assert_int_equal(tx[i]->hs, LNET_HS_LOCAL_ERROR);
			assert_false(tx[i]->sent);
			back++;
		}
	assert_true(back > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(finds_its_interface, setup, teardown),
	        cmocka_unit_test_setup_teardown(link_events, setup, teardown),
	        cmocka_unit_test_setup_teardown(address_tentative, setup, teardown),
	        cmocka_unit_test_setup_teardown(link_down_with_queue, setup, teardown),
	        cmocka_unit_test_setup_teardown(privileged, setup, teardown),
	        cmocka_unit_test_setup_teardown(unprivileged, setup, teardown),
	        cmocka_unit_test_setup_teardown(ipv6, setup, teardown),
	};

	return cmocka_run_group_tests(tests, group_setup, NULL);
}
