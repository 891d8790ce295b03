/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading a configuration: bad input, what is accepted, contradictions, limits. */
#include "unit/conf_table.h"

#include <errno.h>

static void refused(const char *text, unsigned errors, const char *want)
{
	unsigned n = t_refused(text, strlen(text), want);

	if (n != errors) {
		print_error("%u errors, wanted %u, in:\n%s\n", n, errors, text);
		fail();
	}
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

/* ---- bad keys, missing values, wrong types ------------------------------------------------------
 */

static void bad_input(void **state)
{
	(void)state;
	refused("foobar:\n", 1, "1:1: foobar: invalid key 'foobar'");
	refused("global: { discovery: , retry_count: two, transaction_timeout: -5 }\n", 3,
	        "1:37: global.retry_count: invalid value 'two' for key 'retry_count'");
	refused("global: { discovery: , retry_count: two, transaction_timeout: -5 }\n", 3,
	        "global.discovery: no value specified for key 'discovery'");
	refused("peer: [ { primary nid: 192.0.2.9@tcp, Multi-Rail: maybe } ]\n", 1,
	        "1:51: peer[0].Multi-Rail: invalid value 'maybe'");
	refused("net: { net type: tcp }\n", 1, "1:6: net: key 'net' needs a list, found a mapping");
	refused("foobar:\nglobal: {discovery: 2}\npeer: x\nnet: {}\n", 4, "2:21: global.discovery");
	refused("net:\n", 1, "no value specified for key 'net'");
	refused("- a\n", 1, "a mapping of keys is expected, found a list");
	refused("x\n", 1, "found a value");
	refused("net: [x]\n", 1, "net[0]: an item of 'net' needs a mapping, found a value");
	refused("net: [{net type: [tcp]}]\n", 1, "needs a value, found a list");
	refused("nets: []\n", 1, "did you mean 'net'?");
	refused("peer: [{primary nid: 10.0.0.1@tcp, peer_ni: []}]\n", 1, "did you mean 'peer ni'?");
	refused("global: {retry_cuont: 1}\n", 1, "did you mean 'retry_count'?");
	refused("ping: {nids: {0: 1.2.3.4@tcp}}\n", 1, "is a request");
	refused("routing: {enable: 4}\n", 1, "expected true or false");
	refused("routing: [{enable: 1}, {\"cpu[0]\": {}}]\n", 1, "invalid key 'cpu[0]'");
	refused("buffers: {tiny: 0, small: -1, large: x}\n", 3, "tiny");
	refused("selftest: maybe\n", 1, "expected true or false");
	refused("control: {socket: relative}\n", 1, "absolute path");
	refused("control: {mode: 0888}\n", 1, "octal");
	refused("control: {mode: 07777}\n", 1, "octal");
	refused("control: {group: \"a b\"}\n", 1, "group");
	refused("log: {level: loud}\n", 1, "expected err, warn");
	refused("log: {to: file}\n", 1, "absolute path");
	refused("numa: {range: -1}\n", 1, "out of range");
	refused("numa: {range: 1}\nglobal: {numa_range: 2}\n", 1,
	        "given twice, as 1 (at 1:15) and as 2");
	refused("global: {max_intf: 20, max_interfaces: 21}\n", 1, "given twice");
}

static void bad_nets(void **state)
{
	char path[LNC_SOCKET_MAX + 40];

	(void)state;
	refused("net: [{local NI(s): []}]\n", 1, "Expect 'net type' found 'local NI(s)'");
	refused("net: [{net type: tcp65536, local NI(s): [{interfaces: {0: e}}]}]\n", 1,
	        "Invalid network ID 'tcp65536'");
	refused("net: [{net type: tcp-1}]\n", 1, "Invalid network ID");
	refused("net: [{net type: \"\"}]\n", 1, "Invalid network ID");
	refused("net: [{net type: tcp}]\n", 1, "at least one item in 'local NI(s)'");
	refused("net: [{net type: tcp, local NI(s): []}]\n", 1, "at least one item");
	refused("net: [{net type: tcp, local NI(s): [{}]}]\n", 1, "needs 'interfaces' or 'nid'");
	refused("net: [{net type: tcp, local NI(s): [{interfaces: {}}]}]\n", 1,
	        "empty list of interfaces");
	refused("net: [{net type: tcp, local NI(s): [{interfaces: {a: eth0}}]}]\n", 1, "numbered");
	refused("net: [{net type: tcp, local NI(s): [{interfaces: {0: a/b}}]}]\n", 1,
	        "invalid interface");
	refused("net: [{net type: tcp, local NI(s): [{interfaces: {0: abcdefghijklmnop}}]}]\n", 1,
	        "more than 15");
	refused("net: [{net type: tcp, local NI(s): [{interfaces: {0: \"eth0[2-1]\"}}]}]\n", 1,
	        "invalid interface");
	refused("net: [{net type: tcp1, local NI(s): [{nid: 10.0.0.1@tcp}]}]\n", 1,
	        "is not on net tcp1");
	refused("net: [{net type: tcp, local NI(s): [{nid: 10.0.0.1@tcp, interfaces: {0: a, 1: "
	        "b}}]}]\n",
	        1, "one nid for 2 interfaces");
	refused("net: [{net type: tcp, local NI(s): [{nid: '<?>'}]}]\n", 1, "Invalid NID");
	refused("net: [{net type: tcp, local NI(s): [{nid: '10.0.0.[1-2]@tcp'}]}]\n", 1,
	        "Invalid NID");
	refused("net: [{net type: lo, local NI(s): [{interfaces: {0: lo}}]}]\n", 1,
	        "cannot be configured");
	refused("net: [{net type: tcp, accept: {policy: some}, local NI(s): [{interfaces: {0: "
	        "e}}]}]\n",
	        1, "expected secure, all or none");
	refused("net: [{net type: tcp, accept: {allow: [10.0.0.1/8]}, local NI(s): [{interfaces: "
	        "{0: e}}]}]\n",
	        1, "bits are set behind the prefix");
	refused("net: [{net type: tcp, accept: {allow: [10.0.0.0/33, 10.0.0.010, '::1/129', x]}, "
	        "local NI(s): [{interfaces: {0: e}}]}]\n",
	        4, "0..32");
	refused("net: [{net type: tcp, tunables: {credits: 0, peer_credits: 0}, "
	        "local NI(s): [{interfaces: {0: e}}]}]\n",
	        2, "out of range 1..");
	snprintf(path, sizeof(path), "control: {socket: /%0*d}\n", (int)LNC_SOCKET_MAX, 0);
	refused(path, 1, "at most 107");
}

/* ---- what is accepted ---------------------------------------------------------------------------
 */

static void smallest(void **state)
{
	struct lnc_conf *c = t_read("selftest: true\n"
	                            "net:\n"
	                            "  - net type: tcp\n"
	                            "    local NI(s):\n"
	                            "      - nid: 127.0.0.2@tcp\n"
	                            "        lnd tunables: {port: 7988, conns_per_peer: 1}\n");
	const struct lnc_ni *ni = &c->net[0].ni[0];
	struct lnet_tun_val tun[LNC_TUNS_MAX];
	struct lnet_ni_conf api;

	(void)state;
	assert_int_equal(c->selftest, 1);
	assert_int_equal(c->nnet, 1);
	assert_int_equal(c->net[0].nni, 1);
	assert_null(ni->ifname);
	assert_int_equal(ni->nlnd, 2);
	assert_int_equal(ni->tun[LNC_CREDITS], LNET_UNSET);
	assert_int_equal(lnc_ni_to_api(&c->net[0], ni, &api, tun, NULL), 0);
	assert_int_equal(api.ntun, 2);
	assert_string_equal(tun[0].name, "port");
	assert_int_equal(tun[0].value, 7988);
	assert_int_equal(api.accept, LNET_ACCEPT_DEFAULT);
	assert_true(lnet_nid_eq(&api.nid, &ni->nid));
	lnc_conf_free(c);
	c = t_read("");
	assert_true(lnc_conf_is_empty(c));
	lnc_conf_free(c);
	c = t_read("~\n");
	assert_true(lnc_conf_is_empty(c));
	lnc_conf_free(c);
}

static int64_t lnd(const struct lnc_ni *ni, const char *name)
{
	for (unsigned i = 0; i < ni->nlnd; i++) {
		if (strcmp(ni->lnd[i].name, name) == 0)
			return ni->lnd[i].value;
	}
	return -4711;
}

/* Each NI has its own values; the third has none of its neighbours'. */
static void own_values(void **state)
{
	struct lnc_conf *c = t_read("net:\n"
	                            "  - net type: tcp\n"
	                            "    local NI(s):\n"
	                            "      - { interfaces: {0: eth0}, CPT: \"[0]\",   lnd "
	                            "tunables: {conns_per_peer: 4} }\n"
	                            "      - { interfaces: {0: eth1}, CPT: \"[1-2]\", lnd "
	                            "tunables: {conns_per_peer: 1} }\n"
	                            "      - { interfaces: {0: eth2} }\n");
	const struct lnc_ni *ni = c->net[0].ni;

	(void)state;
	assert_int_equal(c->net[0].nni, 3);
	assert_int_equal(lnd(&ni[0], "conns_per_peer"), 4);
	assert_string_equal(ni[0].cpts, "[0]");
	assert_int_equal(lnd(&ni[1], "conns_per_peer"), 1);
	assert_string_equal(ni[1].cpts, "[1,2]");
	assert_int_equal(ni[2].nlnd, 0);
	assert_null(ni[2].cpts);
	lnc_conf_free(c);
	/* from the net where the NI has none */
	c = t_read("net:\n"
	           "  - local NI(s):\n"
	           "      - interfaces: {0: 'eth0[0,1]', 1: eth1}\n"
	           "        CPT: [3, 4-6]\n"
	           "      - interfaces: {0: eth2}\n"
	           "        tunables: {credits: 5}\n"
	           "        lnd tunables: {tos: 3}\n"
	           "    lnd tunables: {tos: 9, conns_per_peer: 2}\n"
	           "    tunables: {credits: 7, peer_timeout: -1}\n"
	           "    net type: tcp3\n");
	ni = c->net[0].ni;
	assert_int_equal(c->net[0].nni, 3);
	assert_string_equal(ni[0].cpts, "[0,1]");
	assert_string_equal(ni[1].cpts, "[3-6]");
	assert_int_equal(ni[0].tun[LNC_CREDITS], 7);
	assert_int_equal(ni[2].tun[LNC_CREDITS], 5);
	assert_int_equal(ni[2].tun[LNC_PEER_TIMEOUT], -1);
	assert_int_equal(lnd(&ni[0], "tos"), 9);
	assert_int_equal(lnd(&ni[2], "tos"), 3);
	assert_int_equal(lnd(&ni[2], "conns_per_peer"), 2);
	lnc_conf_free(c);
}

/* What lnetctl prints, statistics and all. */
static const char kernel_export[] = "net:\n"
                                    "-     net type: lo\n"
                                    "      local NI(s):\n"
                                    "      -     nid: 0@lo\n"
                                    "            status: up\n"
                                    "            statistics:\n"
                                    "                  send_count: 0\n"
                                    "            health stats:\n"
                                    "                  fatal_error: 0\n"
                                    "            tunables:\n"
                                    "                  peer_timeout: 0\n"
                                    "                  peer_credits: 0\n"
                                    "            dev cpt: -1\n"
                                    "            CPT: \"[0]\"\n"
                                    "-     net type: tcp1\n"
                                    "      local NI(s):\n"
                                    "      -     nid: 10.9.1.1@tcp1\n"
                                    "            status: up\n"
                                    "            interfaces:\n"
                                    "                  0: d0\n"
                                    "            udsp info:\n"
                                    "                  net priority: -1\n"
                                    "            sent_stats:\n"
                                    "                  put: 0\n"
                                    "            received_stats:\n"
                                    "                  put: 0\n"
                                    "            dropped_stats:\n"
                                    "                  put: 0\n"
                                    "            tunables:\n"
                                    "                  peer_timeout: 100\n"
                                    "                  peer_credits: 16\n"
                                    "                  peer_buffer_credits: 4\n"
                                    "                  credits: 128\n"
                                    "            lnd tunables:\n"
                                    "                  conns_per_peer: 2\n"
                                    "                  timeout: 50\n"
                                    "                  tos: -1\n"
                                    "            dev cpt: -1\n"
                                    "            CPT: \"[0]\"\n"
                                    "route:\n"
                                    "-     net: tcp5\n"
                                    "      gateway: 10.9.1.61@tcp1\n"
                                    "      hop: -1\n"
                                    "      priority: 1\n"
                                    "      state: down\n"
                                    "      type: multi-hop\n"
                                    "routing:\n"
                                    "    - cpt[0]:\n"
                                    "          tiny:\n"
                                    "              npages: 0\n"
                                    "    - enable: 3\n"
                                    "buffers:\n"
                                    "    tiny: 512\n"
                                    "    small: 512\n"
                                    "    large: 64\n"
                                    "peer:\n"
                                    "-     primary nid: 10.9.0.77@tcp\n"
                                    "      Multi-Rail: false\n"
                                    "      peer state: 8224\n"
                                    "      peer ni:\n"
                                    "      -     nid: 10.9.0.77@tcp\n"
                                    "            state: NA\n"
                                    "            max_ni_tx_credits: 8\n"
                                    "            available_tx_credits: 4294967295\n"
                                    "            min_tx_credits: 7\n"
                                    "            tx_q_num_of_buf: 0\n"
                                    "            available_rtr_credits: 8\n"
                                    "            min_rtr_credits: 8\n"
                                    "            refcount: 1\n"
                                    "            statistics:\n"
                                    "                  send_count: 1\n"
                                    "global:\n"
                                    "    numa_range: 0\n"
                                    "    max_interfaces: 4096\n"
                                    "    discovery: 1\n"
                                    "    lnd_timeout: 49\n"
                                    "udsp:\n"
                                    "    - idx: 0\n"
                                    "      src: 10.9.0.1@tcp\n"
                                    "      dst: 10.9.0.62@tcp\n"
                                    "    - idx: 1\n"
                                    "      src: tcp\n"
                                    "      action:\n"
                                    "          priority: 0\n"
                                    "statistics:\n"
                                    "    errors: 0\n";

static void kernel_export_is_taken(void **state)
{
	struct lnc_conf *c = t_read(kernel_export);
	const struct lnc_ni *ni = &c->net[0].ni[0];

	(void)state;
	assert_int_equal(c->nnet, 1); /* lo is there anyway */
	assert_string_equal(ni->ifname, "d0");
	assert_int_equal(ni->tun[LNC_PEER_BUFFER_CREDITS], 4);
	assert_int_equal(ni->nlnd, 2);
	assert_int_equal(c->route[0].hop, LNET_UNSET);
	assert_int_equal(c->route[0].priority, 1);
	assert_int_equal(c->routing, 1);
	assert_int_equal(c->buffers[LNC_BUF_LARGE], 64);
	assert_false(c->peer[0].multi_rail);
	assert_int_equal(c->peer[0].nnids, 0);
	assert_true(c->peer[0].primary_listed);
	assert_int_equal(c->nglobal, 3);
	assert_int_equal(c->nudsp, 2);
	assert_int_equal(c->udsp[0].priority, LNET_UNSET);
	assert_int_equal(c->udsp[1].priority, 0);
	lnc_conf_free(c);
}

static void other_drivers_are_kept(void **state)
{
	struct lnc_conf *c =
	        t_read("net: [{net type: kfi, local NI(s): [{interfaces: {0: cxi0}, lnd tunables: "
	               "{traffic_class: low_latency, auth_key: 255}}]}]\n");
	struct lnet_tun_val tun[LNC_TUNS_MAX];
	struct lnet_ni_conf api;
	struct lnc_err err;

	(void)state;
	assert_int_equal(c->net[0].ni[0].nlnd, 2);
	assert_string_equal(c->net[0].ni[0].lnd[0].name, "auth_key"); /* by name */
	assert_string_equal(c->net[0].ni[0].lnd[1].text, "low_latency");
	assert_int_equal(lnc_ni_to_api(&c->net[0], &c->net[0].ni[0], &api, tun, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.msg, "kfi(cxi0)"));
	lnc_conf_free(c);
}

/* ---- contradictions -----------------------------------------------------------------------------
 */

static void contradictions(void **state)
{
	(void)state;
	refused("net:\n"
	        "  - net type: tcp\n"
	        "    local NI(s):\n"
	        "      - {nid: 10.0.0.1@tcp, lnd tunables: {port: 988}}\n"
	        "      - {nid: 10.0.0.2@tcp, lnd tunables: {port: 7988}}\n",
	        1,
	        "5:15: net tcp: 'port' is one value for the whole net, but NIs say 988 and 7988");
	refused("net: [{net type: tcp, local NI(s): [{nid: 10.0.0.1@tcp}, {nid: 10.0.0.1@tcp}]}]\n",
	        1, "NID 10.0.0.1@tcp is given twice (first at 1:43)");
	refused("net: [{net type: tcp, local NI(s): [{interfaces: {0: e}}]},\n"
	        "      {net type: tcp0, local NI(s): [{interfaces: {0: e}}]}]\n",
	        1, "interface 'e' is twice on net tcp (first at 1:54)");
	refused("peer: [{primary nid: 10.0.0.1@tcp, peer ni: [{nid: 10.0.0.3@tcp}]},\n"
	        "       {primary nid: 10.0.0.2@tcp, peer ni: [{nid: 10.0.0.3@tcp}]}]\n",
	        1,
	        "2:22: NID 10.0.0.3@tcp belongs to two peers, 10.0.0.1@tcp and this one (first at "
	        "1:22)");
	refused("peer: [{primary nid: 10.0.0.1@tcp, peer ni: [{nid: 10.0.0.2@tcp}]},\n"
	        "       {primary nid: 10.0.0.2@tcp}]\n",
	        1, "belongs to two peers");
	refused("peer: [{primary nid: 10.0.0.1@tcp, Multi-Rail: true},\n"
	        "       {primary nid: 10.0.0.1@tcp, Multi-Rail: false}]\n",
	        1, "Multi-Rail in one place");
	refused("net: [{net type: tcp, local NI(s): [{nid: 10.0.0.1@tcp}]}]\n"
	        "peer: [{primary nid: 10.0.0.9@tcp, peer ni: [{nid: 10.0.0.1@tcp}]}]\n",
	        1, "our own NID 10.0.0.1@tcp cannot be a peer's");
	refused("peer: [{primary nid: 0@lo}]\n", 1, "0@lo cannot be a peer's NID");
	refused("peer: [{peer ni: [{nid: 10.0.0.1@tcp}]}]\n", 1, "a peer needs 'primary nid'");
	refused("peer: [{primary nid: 10.0.0.1@tcp, peer ni: [{state: up}]}]\n", 1, "needs 'nid'");
	refused("peer: [{primary nid: 10.0.0.1@tcp, peer ni: [{nid: '10.0.[0-1].[1-65]@tcp'}]}]\n",
	        1, "128");
	refused("peer: [{primary nid: 10.0.0.1@tcp, peer ni: [{nid: '10.0.1.[1-128]@tcp'}]}]\n", 1,
	        "more than 128 NIDs for one peer");
	refused("route: [{net: tcp1, gateway: 10.0.0.1@tcp}, {net: tcp1, gateway: "
	        "'10.0.0.[1-2]@tcp'}]\n",
	        1, "by 10.0.0.1@tcp is given twice (first at 1:30)");
	refused("route: [{net: tcp, gateway: 10.0.0.1@tcp}]\n", 1,
	        "the gateway is on the net itself");
	refused("route: [{net: lo, gateway: 10.0.0.1@tcp}]\n", 1, "cannot be routed to");
	refused("route: [{net: tcp1, gateway: 0@lo}]\n", 1, "0@lo is no gateway");
	refused("route: [{net: tcp1}]\n", 1, "missing mandatory parameter: gateway");
	refused("route: [{gateway: 10.0.0.1@tcp}]\n", 1, "missing mandatory parameter: network");
	refused("route: [{net: tcp1, gateway: 10.0.0.1@tcp, hop: 0}]\n", 1, "1..255");
	refused("route: [{net: tcp1, gateway: 10.0.0.1@tcp, hop: 256}]\n", 1, "1..255");
	refused("route: [{net: tcp1, gateway: 10.0.0.1@tcp, priority: -1}]\n", 1, "0..");
	refused("net: [{net type: tcp1, local NI(s): [{interfaces: {0: e}}]}]\n"
	        "route: [{net: tcp1, gateway: 10.0.0.1@tcp}]\n",
	        1, "this node is on that net");
	refused("global: {retry_count: 5, transaction_timeout: 5}\n", 1,
	        "must be greater than retry_count");
	refused("global: {retry_count: 1, health_sensitivity: 0}\n", 1, "must be 0 while");
	refused("udsp: [{idx: 0}]\n", 1, "a rule needs");
	refused("udsp: [{src: tcp, rte: tcp1}]\n", 1, "exclude");
	refused("udsp: [{rte: tcp1}]\n", 1, "'rte' needs 'dst'");
	refused("udsp: [{src: tcp, dst: tcp1, priority: 1}]\n", 1, "alone");
	refused("udsp: [{src: nonsense@x}]\n", 1, "Invalid range");
}

static void whole_check_knows_defaults(void **state)
{
	struct lnc_conf *c = t_read("global: {retry_count: 200}\n");
	struct lnc_errs e;

	(void)state;
	lnc_errs_init(&e, NULL);
	assert_int_equal(lnc_conf_check(c, &t_schema, &e), -EINVAL);
	assert_string_equal(
	        e.v[0].msg, "transaction_timeout (150 s) must be greater than retry_count (200)");
	lnc_errs_free(&e);
	lnc_conf_free(c);
	c = t_read("global: {health_sensitivity: 0}\n");
	lnc_errs_init(&e, NULL);
	assert_int_equal(lnc_conf_check(c, &t_schema, &e), -EINVAL);
	lnc_errs_free(&e);
	lnc_conf_free(c);
	c = t_read("global: {health_sensitivity: 0, retry_count: 0}\n");
	assert_int_equal(lnc_conf_check(c, &t_schema, NULL), 0);
	lnc_conf_free(c);
}

static void ranges(void **state)
{
	struct lnc_conf *c = t_read(
	        "peer: [{primary nid: 10.0.0.1@tcp, peer ni: [{nid: '10.0.0.[1-10/4]@tcp'}]}]\n"
	        "route: [{net: tcp1, gateway: '10.0.0.[1-10/4]@tcp', hop: 255}]\n");
	char s[LNET_NIDSTR_MAX];

	(void)state;
	assert_int_equal(c->peer[0].nnids, 2); /* 5 and 9; 1 is the primary */
	assert_string_equal(lnet_nid_str(&c->peer[0].nids[1], s, sizeof(s)), "10.0.0.9@tcp");
	assert_int_equal(c->nroute, 3);
	assert_string_equal(lnet_nid_str(&c->route[1].gateway, s, sizeof(s)), "10.0.0.5@tcp");
	assert_int_equal(c->route[2].hop, 255);
	assert_int_equal(c->route[2].priority, LNET_UNSET);
	lnc_conf_free(c);
}

static void large_tables(void **state)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	struct lnc_conf *c;

	(void)state;
	fprintf(f, "route:\n");
	for (unsigned i = 0; i < 5000; i++)
		fprintf(f, "- {net: tcp%u, gateway: 10.0.%u.%u@tcp, hop: 2}\n", i % 500 + 1,
		        i / 250, i % 250);
	fprintf(f, "peer:\n");
	for (unsigned i = 0; i < 3000; i++)
		fprintf(f, "- {primary nid: 10.1.%u.%u@tcp, peer ni: [{nid: 10.2.%u.%u@tcp1}]}\n",
		        i / 250, i % 250, i / 250, i % 250);
	fclose(f);
	c = t_read(text);
	assert_int_equal(c->nroute, 5000);
	assert_int_equal(c->npeer, 3000);
	assert_int_equal(lnc_conf_check(c, &t_schema, NULL), 0);
	lnc_conf_free(c);
	free(text);
	/* one too many */
	static const char many[] =
	        "route: [{net: tcp1, gateway: '10.[0-1].[0-255].[0-255]@tcp'}]\n";
	t_refused(many, strlen(many), "more than 65536");
}

static void all_errors_are_kept_in_bounds(void **state)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	struct lnc_conf *c = NULL;
	struct lnc_errs e;

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		fprintf(f, "bad%u: 1\n", i);
	fclose(f);
	lnc_errs_init(&e, NULL);
	assert_int_equal(lnc_conf_read(text, len, &t_schema, 0, &c, &e), -EINVAL);
	assert_int_equal(e.errors, 1000);
	assert_int_equal(e.n, LNC_ERRS_MAX);
	lnc_errs_free(&e);
	assert_int_equal(lnc_conf_read(text, len, &t_schema, 0, &c, NULL), -EINVAL);
	assert_null(c);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(bad_input),
	        cmocka_unit_test(bad_nets),
	        cmocka_unit_test(smallest),
	        cmocka_unit_test(own_values),
	        cmocka_unit_test(kernel_export_is_taken),
	        cmocka_unit_test(other_drivers_are_kept),
	        cmocka_unit_test(contradictions),
	        cmocka_unit_test(whole_check_knows_defaults),
	        cmocka_unit_test(ranges),
	        cmocka_unit_test(large_tables),
	        cmocka_unit_test(all_errors_are_kept_in_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
