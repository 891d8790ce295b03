/* SPDX-License-Identifier: BSD-2-Clause */
/* Configurations by chance, replayable from a seed. */
#ifndef TESTS_CONF_GEN_H
#define TESTS_CONF_GEN_H

#include "unit/conf_table.h"

struct gen {
	uint64_t x;
	unsigned nips; /* handed out, so that no address comes twice */
	bool one_name; /* NIs have a NID or an interface, never both */
};

static inline unsigned g_below(struct gen *g, unsigned n)
{
	g->x ^= g->x << 13;
	g->x ^= g->x >> 7;
	g->x ^= g->x << 17;
	return (unsigned)((g->x * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % n;
}

static inline bool g_one_in(struct gen *g, unsigned n)
{
	return g_below(g, n) == 0;
}

/* A new address of a net; of two generators with the same `base` the addresses may meet. */
static inline const char *g_nid(struct gen *g, const char *net, char *buf, size_t size)
{
	unsigned n = ++g->nips;

	if (g_one_in(g, 3))
		snprintf(buf, size, "2001:db8::%x:%x@%s", n >> 8, n & 255, net);
	else
		snprintf(buf, size, "10.%u.%u.%u@%s", n >> 16, (n >> 8) & 255, n & 255, net);
	return buf;
}

static inline void g_tun(struct gen *g, struct lnc_node *m)
{
	const struct lnet_tunable *t = lnc_ni_tunables();
	struct lnc_node *x;

	if (g_one_in(g, 2))
		return;
	x = lnc_map_add_map(m, "tunables");
	for (unsigned i = 0; i < LNC_NI_TUNABLES; i++) {
		if (g_one_in(g, 2))
			lnc_map_add_i64(x, t[i].name, t[i].min + g_below(g, 60));
	}
}

static inline void g_lnd(struct gen *g, struct lnc_node *m, unsigned port, bool tcp)
{
	struct lnc_node *x;

	if (!port && g_one_in(g, 2))
		return;
	x = lnc_map_add_map(m, "lnd tunables");
	if (!tcp) {
		lnc_map_add_str(x, "traffic_class", g_one_in(g, 2) ? "best effort: #1" : "12");
		return;
	}
	if (port)
		lnc_map_add_u64(x, "port", port);
	if (g_one_in(g, 2))
		lnc_map_add_u64(x, "conns_per_peer", g_below(g, 128));
	if (g_one_in(g, 3))
		lnc_map_add_i64(x, "tos", (int)g_below(g, 257) - 1);
	if (g_one_in(g, 4))
		lnc_map_add_str(x, "nagle", g_one_in(g, 2) ? "yes" : "Off");
}

static inline void g_accept(struct gen *g, struct lnc_node *net)
{
	static const char *const policy[] = {"secure", "all", "none"};
	static const char *const block[] = {
	        "10.0.0.0/8", "fd00::/8", "192.168.7.9", "0.0.0.0/0", "::1"};
	struct lnc_node *x, *s;

	if (!g_one_in(g, 3))
		return;
	x = lnc_map_add_map(net, "accept");
	if (g_one_in(g, 2))
		lnc_map_add_str(x, "policy", policy[g_below(g, 3)]);
	s = lnc_map_add_seq(x, "allow");
	for (unsigned i = g_below(g, 5); i > 0; i--)
		lnc_seq_add_str(s, block[i]);
}

static inline void g_ni(
        struct gen *g, struct lnc_node *seq, const char *net, unsigned n, unsigned port, bool tcp)
{
	static const char *const odd[] = {"eth", "true", "-", "?", "&a", "*b", "%", "0x", "=", "<<",
	        "a:", "{", "!", "null", "~", "1.", "a.b:", "|"};
	struct lnc_node *ni = lnc_seq_add_map(seq);
	char text[LNET_NIDSTR_MAX];
	bool nid = tcp && !g_one_in(g, 3);

	if (nid)
		lnc_map_add_str(ni, "nid", g_nid(g, net, text, sizeof(text)));
	if (!nid || (!g->one_name && g_one_in(g, 2))) {
		snprintf(text, sizeof(text), "%s%u", odd[g_below(g, 18)], n);
		lnc_map_add_str(lnc_map_add_map(ni, "interfaces"), "0", text);
	}
	g_tun(g, ni);
	g_lnd(g, ni, g_one_in(g, 2) ? port : 0, tcp);
	if (g_one_in(g, 3))
		lnc_map_add_quoted(ni, "CPT", g_one_in(g, 2) ? "[0-6/2]" : "[7,1-3]");
}

static inline void g_nets(struct gen *g, struct lnc_node *root)
{
	struct lnc_node *seq = lnc_map_add_seq(root, "net"), *m, *nis;
	unsigned n = g_below(g, 4);
	char net[16];

	for (unsigned i = 0; i < n; i++) {
		bool tcp = !g_one_in(g, 4);
		unsigned port = tcp && g_one_in(g, 2) ? 1 + g_below(g, 65535) : 0;

		snprintf(net, sizeof(net), "%s%u", tcp ? "tcp" : "kfi", i + g_below(g, 2) * 65000);
		m = lnc_seq_add_map(seq);
		lnc_map_add_str(m, "net type", net);
		g_accept(g, m);
		g_tun(g, m);
		g_lnd(g, m, g_one_in(g, 2) ? port : 0, tcp);
		nis = lnc_map_add_seq(m, "local NI(s)");
		for (unsigned k = 0, nni = 1 + g_below(g, 3); k < nni; k++)
			g_ni(g, nis, net, i * 10 + k, port, tcp);
	}
}

static inline void g_peers(struct gen *g, struct lnc_node *root)
{
	struct lnc_node *seq = lnc_map_add_seq(root, "peer"), *m, *nis;
	char text[LNET_NIDSTR_MAX];

	for (unsigned i = g_below(g, 6); i > 0; i--) {
		m = lnc_seq_add_map(seq);
		lnc_map_add_str(m, "primary nid", g_nid(g, "tcp", text, sizeof(text)));
		if (g_one_in(g, 2))
			lnc_map_add_bool(m, "Multi-Rail", g_one_in(g, 2));
		if (g_one_in(g, 4))
			lnc_map_add_bool(m, "lock primary", true);
		nis = lnc_map_add_seq(m, "peer ni");
		for (unsigned k = g_one_in(g, 10) ? 120 : g_below(g, 4); k > 0; k--)
			lnc_map_add_str(lnc_seq_add_map(nis), "nid",
			        g_nid(g, g_one_in(g, 2) ? "tcp" : "o2ib7", text, sizeof(text)));
	}
}

static inline void g_routes(struct gen *g, struct lnc_node *root)
{
	struct lnc_node *seq = lnc_map_add_seq(root, "route"), *m;
	char text[LNET_NIDSTR_MAX];

	for (unsigned i = g_below(g, 6); i > 0; i--) {
		m = lnc_seq_add_map(seq);
		snprintf(text, sizeof(text), "o2ib%u", g_below(g, 3));
		lnc_map_add_str(m, "net", text);
		snprintf(text, sizeof(text), "10.200.%u.[1-%u]@tcp", i, 1 + g_below(g, 4));
		lnc_map_add_str(m, "gateway", text);
		if (g_one_in(g, 2))
			lnc_map_add_u64(m, "hop", 1 + g_below(g, 255));
		if (g_one_in(g, 2))
			lnc_map_add_u64(m, "priority", g_below(g, 9));
	}
}

static inline void g_udsps(struct gen *g, struct lnc_node *root)
{
	static const char *const match[] = {
	        "tcp", "10.1.1.[2-9]@tcp", "*@o2ib", "2001:db8::7@tcp3", "kfi9"};
	struct lnc_node *seq = lnc_map_add_seq(root, "udsp"), *m;

	for (unsigned i = 0, n = g_below(g, 5); i < n; i++) {
		m = lnc_seq_add_map(seq);
		lnc_map_add_u64(m, "idx", i);
		switch (g_below(g, 4)) {
		case 0:
			lnc_map_add_str(m, "src", match[i]);
			lnc_map_add_u64(lnc_map_add_map(m, "action"), "priority", g_below(g, 3));
			break;
		case 1:
			lnc_map_add_str(m, "dst", match[i]);
			break;
		case 2:
			lnc_map_add_str(m, "src", match[i]);
			lnc_map_add_str(m, "dst", match[4 - i]);
			break;
		default:
			lnc_map_add_str(m, "dst", match[i]);
			lnc_map_add_str(m, "rte", match[g_below(g, 5)]);
		}
	}
}

static inline void g_rules(struct gen *g, struct lnc_node *root)
{
	static const char *const range[] = {"192.168.[1-3].*", "*.*.*.*", "10.1.2.[2-8/2,11]",
	        "2001:db8:0:f101::/64", "10.0.0.0/9", "::1"};
	struct lnc_node *seq = lnc_map_add_seq(root, "ip2nets"), *m, *x;
	char key[8];

	for (unsigned i = g_below(g, 3); i > 0; i--) {
		m = lnc_seq_add_map(seq);
		lnc_map_add_str(m, "net-spec", g_one_in(g, 2) ? "tcp" : "tcp9");
		if (g_one_in(g, 2)) {
			x = lnc_map_add_map(m, "interfaces");
			lnc_map_add_str(x, "0", "eth0[0,1]");
			lnc_map_add_str(x, "1", "true");
		}
		if (g_one_in(g, 2)) {
			x = lnc_map_add_map(m, "ip-range");
			for (unsigned k = 0, n = 1 + g_below(g, 6); k < n; k++) {
				snprintf(key, sizeof(key), "%u", k);
				lnc_map_add_str(x, key, range[k]);
			}
		}
		g_tun(g, m);
		g_lnd(g, m, 0, true);
		if (g_one_in(g, 2))
			lnc_map_add_quoted(m, "CPT", "[3]");
	}
}

static inline void g_global(struct gen *g, struct lnc_node *root)
{
	struct lnc_node *m = lnc_map_add_map(root, "global");
	bool health = g_one_in(g, 6);

	for (unsigned i = 0; i < T_NGLOBALS; i++) {
		const struct lnet_tunable *t = &t_globals[i];
		unsigned span = (unsigned)(t->max - t->min < 9 ? t->max - t->min : 9);

		if (!g_one_in(g, 3) || (t->flags & LNET_TUN_READONLY))
			continue;
		if (strcmp(t->name, "transaction_timeout") == 0)
			lnc_map_add_u64(m, t->name, 300 + g_below(g, 9));
		else if (strcmp(t->name, "retry_count") == 0 && !health)
			lnc_map_add_u64(m, t->name, g_below(g, 100));
		else if (strcmp(t->name, "health_sensitivity") == 0)
			lnc_map_add_u64(m, t->name, 1 + g_below(g, 1000));
		else if (strcmp(t->name, "retry_count") != 0)
			lnc_map_add_u64(m, t->name, (uint64_t)t->min + g_below(g, span + 1));
	}
}

static inline void g_ours(struct gen *g, struct lnc_node *root)
{
	static const char *const path[] = {"/tmp/a b: #'\"\\x", "/run/\xc3\xa9/\xf0\x9f\x98\x80",
	        "/\n\t\x01", "/ends: ", "/#"};
	struct lnc_node *m;

	if (g_one_in(g, 3))
		lnc_map_add_bool(root, "selftest", g_one_in(g, 2));
	if (g_one_in(g, 3))
		lnc_map_add_u64(lnc_map_add_map(root, "routing"), "enable", g_below(g, 2));
	if (g_one_in(g, 3)) {
		m = lnc_map_add_map(root, "buffers");
		if (g_one_in(g, 2))
			lnc_map_add_u64(m, "tiny", 1 + g_below(g, 9));
		lnc_map_add_u64(m, "large", 1 + g_below(g, 9));
	}
	if (g_one_in(g, 3)) {
		m = lnc_map_add_map(root, "control");
		lnc_map_add_str(m, "socket", path[g_below(g, 5)]);
		if (g_one_in(g, 2))
			lnc_map_add_str(m, "mode", g_one_in(g, 2) ? "0660" : "600");
		if (g_one_in(g, 2))
			lnc_map_add_str(m, "group", g_one_in(g, 2) ? "1000" : "null");
	}
	if (g_one_in(g, 3)) {
		m = lnc_map_add_map(root, "log");
		if (g_one_in(g, 2))
			lnc_map_add_str(m, "level", "debug");
		lnc_map_add_str(m, "to", g_one_in(g, 2) ? "syslog" : path[g_below(g, 5)]);
	}
}

/* The text of one configuration. */
static inline char *g_text(uint64_t seed, bool rules)
{
	struct gen g = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1, 0, !rules};
	struct lnc_doc *d = lnc_doc_new();
	struct lnc_node *root = lnc_doc_map(d, (enum lnc_style)(1 + seed % 3));
	char *text;

	for (int i = 0; i < 8; i++)
		g_below(&g, 2);
	g_nets(&g, root);
	if (rules)
		g_rules(&g, root);
	g_routes(&g, root);
	g_peers(&g, root);
	g_udsps(&g, root);
	g_global(&g, root);
	g_ours(&g, root);
	assert_true(lnc_doc_ok(d));
	text = lnc_doc_yaml(d, NULL);
	lnc_doc_free(d);
	assert_non_null(text);
	return text;
}

static inline struct lnc_conf *g_conf(uint64_t seed, bool rules)
{
	char *text = g_text(seed, rules);
	struct lnc_conf *c = t_read(text);

	free(text);
	return c;
}

#endif
