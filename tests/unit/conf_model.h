/* SPDX-License-Identifier: BSD-2-Clause */
/* A node for tests that obeys configuration steps and complains about impossible ones. */
#ifndef TESTS_CONF_MODEL_H
#define TESTS_CONF_MODEL_H

#include "unit/conf_gen.h"

/* ---- a node that knows lines of text: what is configured ---------------------------------------
 */

struct model {
	char *line[4096];
	unsigned n;
};

static inline void m_free(struct model *m)
{
	while (m->n)
		free(m->line[--m->n]);
}

static inline int m_find(const struct model *m, const char *text)
{
	for (unsigned i = 0; i < m->n; i++) {
		if (strcmp(m->line[i], text) == 0)
			return (int)i;
	}
	return -1;
}

static inline void m_change(struct model *m, bool add, const char *text)
{
	int at = m_find(m, text);

	if ((at >= 0) == add) {
		print_error("%s: '%s'\n", add ? "there already" : "not there", text);
		fail();
	}
	if (add) {
		assert_true(m->n < 4096);
		m->line[m->n++] = strdup(text);
	} else {
		free(m->line[at]);
		m->line[at] = m->line[--m->n];
	}
}

static inline void ni_name(
        const struct lnc_net *net, const struct lnc_ni *ni, char *buf, size_t size)
{
	char a[LNET_NIDSTR_MAX], b[LNET_NIDSTR_MAX];

	snprintf(buf, size, "%s %s %s", lnet_net_str(net->net, a, sizeof(a)),
	        lnet_nid_is_any(&ni->nid) ? "-" : lnet_nid_str(&ni->nid, b, sizeof(b)),
	        ni->ifname ? ni->ifname : "-");
}

static inline void m_accept(struct model *m, bool add, const struct lnc_net *net, const char *name)
{
	char text[512], block[LNC_CIDR_STR_MAX];
	int at = snprintf(text, sizeof(text), "accept %s %d %d", name, net->accept, net->allow_set);

	for (unsigned i = 0; i < net->nallow; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, " %s",
		        lnc_cidr_str(&net->allow[i], block, sizeof(block)));
	m_change(m, add, text);
}

static inline bool runtime(const struct lnc_tun *t)
{
	const struct lnet_tunable *row = t->known ? lnc_tunable_find(t_tcp, 5, t->name) : NULL;

	return row && (row->flags & LNET_TUN_RUNTIME);
}

static inline void m_ni(
        struct model *m, bool add, const struct lnc_net *net, const struct lnc_ni *ni)
{
	char name[200], text[512];
	int at;

	ni_name(net, ni, name, sizeof(name));
	at = snprintf(text, sizeof(text), "ni %s cpt %s", name, ni->cpts ? ni->cpts : "-");
	for (unsigned i = 0; i < LNC_NI_TUNABLES; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, " %d", ni->tun[i]);
	for (unsigned i = 0; i < ni->nlnd; i++) {
		if (!runtime(&ni->lnd[i]))
			at += snprintf(text + at, sizeof(text) - (size_t)at, " %s=%s",
			        ni->lnd[i].name, ni->lnd[i].text);
	}
	m_change(m, add, text);
	m_accept(m, add, net, name);
	for (unsigned i = 0; i < ni->nlnd; i++) {
		if (runtime(&ni->lnd[i])) {
			snprintf(text, sizeof(text), "tun %s %s=%s", name, ni->lnd[i].name,
			        ni->lnd[i].text);
			m_change(m, add, text);
		}
	}
}

static inline void m_peer_nid(
        struct model *m, bool add, const struct lnc_peer *p, const struct lnet_nid *nid)
{
	char text[300], a[LNET_NIDSTR_MAX], b[LNET_NIDSTR_MAX];

	snprintf(text, sizeof(text), "peer %s nid %s", lnet_nid_str(&p->primary, a, sizeof(a)),
	        lnet_nid_str(nid, b, sizeof(b)));
	m_change(m, add, text);
}

/* nids: those in force at this moment */
static inline void m_peer(struct model *m, bool add, const struct lnc_peer *p)
{
	char text[300], prefix[300], a[LNET_NIDSTR_MAX];

	snprintf(prefix, sizeof(prefix), "peer %s nid ", lnet_nid_str(&p->primary, a, sizeof(a)));
	snprintf(text, sizeof(text), "peer %s mr %d lock %d", a, p->multi_rail, p->lock);
	m_change(m, add, text);
	for (unsigned i = 0; add && i < p->nnids; i++)
		m_peer_nid(m, true, p, &p->nids[i]);
	for (unsigned i = m->n; !add && i-- > 0;) {
		if (strncmp(m->line[i], prefix, strlen(prefix)) == 0)
			m_change(m, false, m->line[i]);
	}
}

static inline void m_route(struct model *m, bool add, const struct lnc_route *r)
{
	char text[300], a[LNET_NIDSTR_MAX], b[LNET_NIDSTR_MAX];

	snprintf(text, sizeof(text), "route %s %s %d %d", lnet_net_str(r->net, a, sizeof(a)),
	        lnet_nid_str(&r->gateway, b, sizeof(b)), r->hop, r->priority);
	m_change(m, add, text);
}

static inline void m_udsp(struct model *m, bool add, unsigned at, const struct lnc_udsp *u)
{
	char text[300];

	snprintf(text, sizeof(text), "udsp %u %s %s %s %d", at, u->src ? u->src : "-",
	        u->dst ? u->dst : "-", u->rte ? u->rte : "-", u->priority);
	m_change(m, add, text);
}

static inline void m_value(struct model *m, const char *name, const struct lnc_step_side *from,
        const struct lnc_step_side *to)
{
	char text[300];

	if (from && from->set) {
		snprintf(text, sizeof(text), "set %s %lld", name, (long long)from->value);
		m_change(m, false, text);
	}
	if (to && to->set) {
		snprintf(text, sizeof(text), "set %s %lld", name, (long long)to->value);
		m_change(m, true, text);
	}
}

static inline void m_number(struct model *m, const char *name, int32_t v)
{
	struct lnc_step_side s = {.value = v, .set = v != LNET_UNSET};

	m_value(m, name, NULL, &s);
}

static inline void m_build(struct model *m, const struct lnc_conf *c)
{
	m->n = 0;
	for (unsigned i = 0; i < c->nnet; i++) {
		for (unsigned k = 0; k < c->net[i].nni; k++)
			m_ni(m, true, &c->net[i], &c->net[i].ni[k]);
	}
	for (unsigned i = 0; i < c->npeer; i++)
		m_peer(m, true, &c->peer[i]);
	for (unsigned i = 0; i < c->nroute; i++)
		m_route(m, true, &c->route[i]);
	for (unsigned i = 0; i < c->nudsp; i++)
		m_udsp(m, true, i, &c->udsp[i]);
	for (unsigned i = 0; i < c->nglobal; i++) {
		struct lnc_step_side s = {.value = c->global[i].value, .set = true};

		m_value(m, c->global[i].name, NULL, &s);
	}
	for (unsigned i = 0; i < LNC_BUFFERS; i++)
		m_number(m, lnc_buffer_tunables()[i].name, c->buffers[i]);
	m_number(m, "routing", c->routing);
	m_number(m, "selftest", c->selftest);
}

static inline void m_tun(struct model *m, const struct lnc_step *st)
{
	/* the node goes by the name under which the NI was added */
	char name[200], text[512], old[200];
	const struct lnc_step_side *side[2] = {&st->from, &st->to};

	ni_name(st->from.net, st->from.ni, old, sizeof(old));
	for (int k = 0; k < 2; k++) {
		ni_name(side[k]->net, side[k]->ni, name, sizeof(name));
		assert_string_equal(name, old);
		snprintf(text, sizeof(text), "tun %s %s=%lld", name, st->name,
		        (long long)side[k]->value);
		if (side[k]->set)
			m_change(m, k, text);
	}
}

/* Every NI that the net has at this moment. */
static inline void m_accept_step(struct model *m, const struct lnc_step *st)
{
	char net[LNET_NIDSTR_MAX], prefix[120], *name[64];
	unsigned n = 0;

	lnet_net_str(st->to.net->net, net, sizeof(net));
	snprintf(prefix, sizeof(prefix), "ni %s ", net);
	for (unsigned i = 0; i < m->n; i++) {
		if (strncmp(m->line[i], prefix, strlen(prefix)) != 0)
			continue;
		assert_true(n < 64);
		name[n] = strdup(m->line[i] + 3);
		*strstr(name[n++], " cpt ") = '\0';
	}
	assert_true(n > 0);
	while (n-- > 0) {
		m_accept(m, false, st->from.net, name[n]);
		m_accept(m, true, st->to.net, name[n]);
		free(name[n]);
	}
}

static inline void m_step(struct model *m, const struct lnc_step *st)
{
	char text[300];

	assert_non_null(lnc_step_str(st, text, sizeof(text)));
	assert_true(strlen(text) > 4);
	switch (st->kind) {
	case LNC_STEP_UDSP_DEL:
		m_udsp(m, false, st->n, st->from.udsp);
		break;
	case LNC_STEP_UDSP_ADD:
		m_udsp(m, true, st->n, st->to.udsp);
		break;
	case LNC_STEP_ROUTE_DEL:
		m_route(m, false, st->from.route);
		break;
	case LNC_STEP_ROUTE_ADD:
		m_route(m, true, st->to.route);
		break;
	case LNC_STEP_PEER_DEL:
		m_peer(m, false, st->from.peer);
		break;
	case LNC_STEP_PEER_ADD:
		m_peer(m, true, st->to.peer);
		break;
	case LNC_STEP_PEER_NID_DEL:
		m_peer_nid(m, false, st->from.peer, &st->nid);
		break;
	case LNC_STEP_PEER_NID_ADD:
		m_peer_nid(m, true, st->to.peer, &st->nid);
		break;
	case LNC_STEP_NI_DEL:
		m_ni(m, false, st->from.net, st->from.ni);
		break;
	case LNC_STEP_NI_ADD:
		m_ni(m, true, st->to.net, st->to.ni);
		break;
	case LNC_STEP_NI_TUN:
		m_tun(m, st);
		break;
	case LNC_STEP_ACCEPT:
		m_accept_step(m, st);
		break;
	case LNC_STEP_GLOBAL:
	case LNC_STEP_BUFFERS:
		m_value(m, st->name, &st->from, &st->to);
		break;
	case LNC_STEP_ROUTING:
		m_value(m, "routing", &st->from, &st->to);
		break;
	case LNC_STEP_SELFTEST:
		m_value(m, "selftest", &st->from, &st->to);
		break;
	case LNC_STEP_CONTROL:
	case LNC_STEP_LOG:
		break;
	}
}

static inline void m_same(const struct model *a, const struct model *b, unsigned seed)
{
	for (unsigned i = 0; i < a->n || i < b->n; i++) {
		if (i < a->n && m_find(b, a->line[i]) < 0)
			print_error("seed %u: too much: %s\n", seed, a->line[i]);
		if (i < b->n && m_find(a, b->line[i]) < 0)
			print_error("seed %u: missing: %s\n", seed, b->line[i]);
	}
	for (unsigned i = 0; i < a->n; i++)
		assert_true(m_find(b, a->line[i]) >= 0);
	assert_int_equal(a->n, b->n);
}

#endif
