/* SPDX-License-Identifier: BSD-2-Clause */
/* Address rules on made-up interfaces; who owns an address. */
#include "unit/conf_table.h"

#include <arpa/inet.h>
#include <errno.h>

static struct lnc_iface iface(const char *name, bool up, const char *addr, unsigned prefix)
{
	struct lnc_iface i = {
	        .up = up, .loopback = strcmp(name, "lo") == 0, .prefix = (uint8_t)prefix};

	snprintf(i.name, sizeof(i.name), "%s", name);
	if (addr && inet_pton(AF_INET, addr, i.addr) == 1)
		i.len = 4;
	else if (addr && inet_pton(AF_INET6, addr, i.addr) == 1)
		i.len = 16;
	assert_true(!addr || i.len);
	return i;
}

/* "tcp: eth0 10.0.0.1@tcp, ..." of every net */
static void describe(const struct lnc_conf *c, char *buf, size_t size)
{
	char s[LNET_NIDSTR_MAX];
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < c->nnet; i++) {
		at += (size_t)snprintf(buf + at, size - at, "%s%s:", i ? "; " : "",
		        lnet_net_str(c->net[i].net, s, sizeof(s)));
		for (unsigned k = 0; k < c->net[i].nni; k++) {
			const struct lnc_ni *ni = &c->net[i].ni[k];

			at += (size_t)snprintf(buf + at, size - at, " %s=%s%s", ni->ifname,
			        lnet_nid_str(&ni->nid, s, sizeof(s)), ni->cpts ? ni->cpts : "");
		}
	}
}

#define NIFS 9
static void host(struct lnc_iface *v)
{
	v[0] = iface("lo", true, "127.0.0.1", 8);
	v[1] = iface("eth0", true, "10.0.0.1", 24);
	v[2] = iface("eth1", true, "10.0.1.1", 24);
	v[3] = iface("eth2", false, "10.0.2.1", 24);
	v[4] = iface("eth3", true, NULL, 0);
	v[5] = iface("ib0", true, "192.0.2.10", 24);
	v[6] = iface("lo", true, "::1", 128);
	v[7] = iface("eth0", true, "2001:db8:0:f101::5", 64);
	v[8] = iface("eth1", true, "2001:db8:0:f102::5", 64);
}

static int apply(const char *rules, struct lnc_conf **out, struct lnc_errs *e)
{
	struct lnc_iface ifs[NIFS];
	struct lnc_conf *c = t_read(rules);
	int rc;

	host(ifs);
	lnc_errs_init(e, NULL);
	rc = lnc_ip2nets_apply(c->rule, c->nrule, ifs, NIFS, &t_schema, out, e);
	lnc_conf_free(c);
	return rc;
}

static void gives(const char *rules, unsigned notices, const char *want)
{
	struct lnc_conf *out = NULL;
	struct lnc_errs e;
	char text[1024];

	if (apply(rules, &out, &e)) {
		t_fail_errs(&e, rules);
		fail();
	}
	describe(out, text, sizeof(text));
	assert_string_equal(text, want);
	if (e.notices != notices) {
		t_fail_errs(&e, rules);
		fail();
	}
	assert_int_equal(e.errors, 0);
	lnc_errs_free(&e);
	lnc_conf_free(out);
}

static void refuses(const char *rules, const char *want)
{
	struct lnc_conf *out = (struct lnc_conf *)&out;
	struct lnc_errs e;
	char *all;

	assert_int_equal(apply(rules, &out, &e), -ENOENT);
	assert_ptr_equal(out, &out);
	assert_int_equal(e.errors, 1);
	all = lnc_errs_text(&e);
	if (!strstr(all, want)) {
		print_error("'%s' is missing in\n%s\n", want, all);
		fail();
	}
	free(all);
	lnc_errs_free(&e);
}

static void matching(void **state)
{
	(void)state;
	/* neither: the first IPv4 interface that is up and no loopback */
	gives("ip2nets: [{net-spec: tcp}]\n", 0, "tcp: eth0=10.0.0.1@tcp");
	/* ranges: every interface that matches, those that are down left out */
	gives("ip2nets: [{net-spec: tcp, ip-range: {0: '10.0.*.1'}}]\n", 0,
	        "tcp: eth0=10.0.0.1@tcp eth1=10.0.1.1@tcp");
	gives("ip2nets: [{net-spec: tcp, ip-range: {0: 10.0.1.1, 1: '192.0.2.[2-10/4]'}}]\n", 0,
	        "tcp: eth1=10.0.1.1@tcp ib0=192.0.2.10@tcp");
	gives("ip2nets: [{net-spec: tcp, ip-range: {0: '10.0.0.[5,1,9]'}}]\n", 0,
	        "tcp: eth0=10.0.0.1@tcp");
	gives("ip2nets: [{net-spec: tcp, ip-range: {0: 10.0.0.0/23}}]\n", 0,
	        "tcp: eth0=10.0.0.1@tcp eth1=10.0.1.1@tcp");
	/* everything: not loopback, and one NI an interface */
	gives("ip2nets: [{net-spec: tcp, ip-range: {0: '*.*.*.*'}}]\n", 0,
	        "tcp: eth0=10.0.0.1@tcp eth1=10.0.1.1@tcp ib0=192.0.2.10@tcp");
	/* loopback when it is meant */
	gives("ip2nets: [{net-spec: tcp, ip-range: {0: '127.0.0.*'}}]\n", 0,
	        "tcp: lo=127.0.0.1@tcp");
	gives("ip2nets: [{net-spec: tcp, ip-range: {0: '::1'}}]\n", 0, "tcp: lo=::1@tcp");
	/* interfaces */
	gives("ip2nets: [{net-spec: tcp, interfaces: {0: eth1, 1: 'eth0[1,0]'}, CPT: [3]}]\n", 0,
	        "tcp: eth1=10.0.1.1@tcp[3] eth0=10.0.0.1@tcp[0,1]");
	gives("ip2nets: [{net-spec: tcp, interfaces: {0: eth0}, ip-range: {0: '10.0.0.*'}}]\n", 0,
	        "tcp: eth0=10.0.0.1@tcp");
	/* IPv6 */
	gives("ip2nets: [{net-spec: tcp, ip-range: {0: '2001:db8:0:f101::5'}}]\n", 0,
	        "tcp: eth0=2001:db8:0:f101::5@tcp");
	gives("ip2nets: [{net-spec: tcp, ip-range: {0: '2001:db8:0:f101::5/128'}}]\n", 0,
	        "tcp: eth0=2001:db8:0:f101::5@tcp");
	gives("ip2nets: [{net-spec: tcp, ip-range: {0: '2001:db8::/32'}}]\n", 0,
	        "tcp: eth0=2001:db8:0:f101::5@tcp eth1=2001:db8:0:f102::5@tcp");
	/* a stride that does not land on its end */
	gives("ip2nets: [{net-spec: tcp, ip-range: {0: '192.0.2.[2-13/4]'}}]\n", 0,
	        "tcp: ib0=192.0.2.10@tcp");
}

static void not_this_node(void **state)
{
	(void)state;
	gives("ip2nets:\n  - {net-spec: tcp1, ip-range: {0: '192.0.2.*'}}\n"
	      "  - {net-spec: tcp2, ip-range: {0: '198.51.100.*'}}\n",
	        0, "tcp1: ib0=192.0.2.10@tcp1");
	refuses("ip2nets: [{net-spec: tcp2, ip-range: {0: '198.51.100.*'}}]\n",
	        "no rule matched; local addresses were 10.0.0.1 (eth0), 10.0.1.1 (eth1), "
	        "192.0.2.10 (ib0)");
	refuses("ip2nets: [{net-spec: tcp2, interfaces: {0: eth9}}]\n",
	        "interface 'eth9' does not exist");
	refuses("ip2nets: [{net-spec: tcp2, interfaces: {0: eth2}}]\n", "interface 'eth2' is down");
	refuses("ip2nets: [{net-spec: tcp2, interfaces: {0: eth3}}]\n",
	        "no address of interface 'eth3' matches");
	refuses("ip2nets: [{net-spec: tcp2, interfaces: {0: eth0, 1: eth9}}]\n",
	        "'eth9' does not exist");
	refuses("ip2nets: [{net-spec: tcp2, interfaces: {0: eth0}, ip-range: {0: '10.0.1.*'}}]\n",
	        "no address of interface 'eth0' matches");
	/* one rule applies, the other says why not */
	gives("ip2nets: [{net-spec: tcp, interfaces: {0: eth9}}, {net-spec: tcp, interfaces: {0: "
	      "eth0}}]\n",
	        1, "tcp: eth0=10.0.0.1@tcp");
}

static void same_net_in_two_rules(void **state)
{
	(void)state;
	gives("ip2nets:\n  - {net-spec: tcp0, interfaces: {0: eth0}, ip-range: {0: '10.0.0.*'}}\n"
	      "  - {net-spec: tcp, interfaces: {0: eth1}, ip-range: {0: '10.0.1.*'}}\n",
	        0, "tcp: eth0=10.0.0.1@tcp eth1=10.0.1.1@tcp");
	gives("ip2nets:\n  - {net-spec: tcp0, interfaces: {0: eth0}, ip-range: {0: '10.0.0.*'}}\n"
	      "  - {net-spec: tcp0, interfaces: {0: eth0}, ip-range: {0: '10.*.*.*'}}\n",
	        1, "tcp: eth0=10.0.0.1@tcp");
	/* the first one that matches hides a later one by address; another net is not touched */
	gives("ip2nets:\n  - {net-spec: tcp, ip-range: {0: '10.0.0.*'}}\n"
	      "  - {net-spec: tcp, ip-range: {0: '*.*.*.*'}}\n"
	      "  - {net-spec: tcp7, ip-range: {0: '192.*.*.*'}}\n",
	        1, "tcp: eth0=10.0.0.1@tcp; tcp7: ib0=192.0.2.10@tcp7");
}

static void values_of_a_rule(void **state)
{
	struct lnc_conf *out;
	struct lnc_errs e;

	(void)state;
	assert_int_equal(
	        apply("ip2nets: [{net-spec: tcp, ip-range: {0: '10.0.[0-1].*'}, tunables: "
	              "{peer_credits: 16}, lnd tunables: {conns_per_peer: 2, port: 99}}]\n",
	                &out, &e),
	        0);
	assert_int_equal(out->net[0].nni, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(out->net[0].ni[i].tun[LNC_PEER_CREDITS], 16);
		assert_int_equal(out->net[0].ni[i].nlnd, 2);
		assert_int_equal(out->net[0].ni[i].lnd[0].value, 99);
	}
	lnc_conf_free(out);
	lnc_errs_free(&e);
}

static void bad_rules(void **state)
{
	static const char *const rows[][2] = {
	        {"ip2nets: [{interfaces: {0: eth0}}]\n", "Expect 'net-spec' found 'interfaces'"},
	        {"ip2nets: [{net-spec: lo}]\n", "cannot be configured"},
	        {"ip2nets: [{net-spec: tcp, ip-range: {}}]\n", "empty list of ranges"},
	        {"ip2nets: [{net-spec: tcp, ip-range: {0: '10.0.0.1@tcp'}}]\n", "Invalid range"},
	        {"ip2nets: [{net-spec: gni, ip-range: {0: '10.0.0.1'}}]\n", "has no IP addresses"},
	        {"ip2nets: [{net-spec: tcp, interfaces: {0: 'a b'}}]\n", "invalid interface"},
	        {"ip2nets: [{net-spec: tcp, ip_range: {0: 1.1.1.1}}]\n",
	                "did you mean 'ip-range'?"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		t_refused(rows[i][0], strlen(rows[i][0]), rows[i][1]);
}

static void owner(void **state)
{
	static const struct {
		const char *ifname, *nid;
		int rc;
		const char *want; /* the owner, or part of the message */
	} rows[] = {
	        {NULL, "10.0.0.1@tcp", 0, "eth0"},
	        {"eth0", "10.0.0.1@tcp", 0, "eth0"},
	        {"eth1", "10.0.0.1@tcp", -EADDRNOTAVAIL,
	                "is no address of interface 'eth1' but of 'eth0'"},
	        {"eth3", "10.0.0.2@tcp", -EADDRNOTAVAIL, "is no address of interface 'eth3'"},
	        {"eth9", "10.0.0.1@tcp", -ENODEV, "interface 'eth9' does not exist"},
	        {NULL, "10.0.0.2@tcp", -EADDRNOTAVAIL, "10.0.0.2@tcp is no address of this host"},
	        {NULL, "127.0.0.2@tcp", 0, "lo"},
	        {NULL, "127.255.0.2@tcp7", 0, "lo"},
	        {NULL, "128.0.0.2@tcp7", -EADDRNOTAVAIL, "no address"},
	        {"lo", "127.0.0.9@tcp", 0, "lo"},
	        {"eth0", "127.0.0.9@tcp", -EADDRNOTAVAIL, "but of 'lo'"},
	        {NULL, "2001:db8:0:f102::5@tcp", 0, "eth1"},
	        {NULL, "::1@tcp", 0, "lo"},
	        {NULL, "::2@tcp", -EADDRNOTAVAIL, "no address"},
	        {"cxi0", "7@kfi", 0, "cxi0"},
	};
	struct lnc_iface ifs[NIFS];

	(void)state;
	host(ifs);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lnc_err err = {0};
		struct lnet_nid nid;
		char name[16] = "";

		assert_int_equal(lnet_nid_parse(rows[i].nid, strlen(rows[i].nid), &nid, NULL), 0);
		assert_int_equal(
		        lnc_iface_owns(ifs, NIFS, rows[i].ifname, &nid, name, &err), rows[i].rc);
		if (rows[i].rc)
			assert_non_null(strstr(err.msg, rows[i].want));
		else
			assert_string_equal(name, rows[i].want);
	}
}

static void this_host(void **state)
{
	struct lnc_iface *ifs;
	unsigned n;
	struct lnet_nid nid;
	char name[16];

	(void)state;
	assert_int_equal(lnc_ifaces_read(&ifs, &n), 0);
	assert_true(n > 0);
	assert_int_equal(lnet_nid_parse("127.0.0.2@tcp", 13, &nid, NULL), 0);
	assert_int_equal(lnc_iface_owns(ifs, n, NULL, &nid, name, NULL), 0);
	assert_string_equal(name, "lo");
	free(ifs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(matching),
	        cmocka_unit_test(not_this_node),
	        cmocka_unit_test(same_net_in_two_rules),
	        cmocka_unit_test(values_of_a_rule),
	        cmocka_unit_test(bad_rules),
	        cmocka_unit_test(owner),
	        cmocka_unit_test(this_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
