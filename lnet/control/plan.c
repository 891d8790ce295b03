/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps of a change, carried out on a running node, and undone when one of them fails. */
#include "lnet/control/control_priv.h"
#include "lnet/control/runtime.h"
#include "lnet/rt/node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One step on its way. In an undo the sides of the step are swapped, and so are the configurations.
 */
struct todo {
	const struct lnc_plan *p;
	const struct lnc_step *st;
	const struct lnc_conf *to;
	struct lnet_nid *added; /* of the step that is done or undone */
	bool undo;
	char why[400];
};

static int ni_add(struct todo *t)
{
	const struct lnc_ni *ni = t->st->to.ni;
	struct lnet_tun_val *tun = calloc(ni->nlnd + 1, sizeof(*tun));
	struct lnet_ni_conf c;
	struct lnc_err err;
	int rc;

	if (!tun)
		return -ENOMEM;
	lnet_ni_conf_init(&c, sizeof(c));
	rc = lnc_ni_to_api(t->st->to.net, ni, &c, tun, &err);
	if (rc)
		snprintf(t->why, sizeof(t->why), "%s", err.msg);
	else
		rc = lnet_ni_add(t->p->c->n, &c, t->added, t->why, sizeof(t->why));
	free(tun);
	return rc;
}

static int ni_del(struct todo *t)
{
	const struct lnc_ni *ni = t->st->from.ni;
	/* what this plan added is known by what came out, not by what was asked for */
	const struct lnet_nid *nid = t->undo || lnet_nid_is_any(&ni->nid) ? t->added : &ni->nid;

	return lnet_ni_del(t->p->c->n, nid);
}

static int ni_tun(struct todo *t)
{
	const struct lnc_ni *a = t->st->from.ni, *b = t->st->to.ni;
	const struct lnet_nid *nid = a && !lnet_nid_is_any(&a->nid) ? &a->nid : &b->nid;

	return lnet_ni_set_tunable(
	        t->p->c->n, nid, t->st->name, t->st->to.set ? t->st->to.value : LNET_UNSET);
}

static int global(struct todo *t)
{
	struct lnet *n = t->p->c->n;
	int rc = lnet_global_set(n, t->st->name, t->st->to.value, t->why, sizeof(t->why));
	int id = lni_global_find(t->st->name);

	if (!rc && !t->st->to.set && id >= 0)
		atomic_store(&n->globals.set[id], false);
	return rc;
}

static int accept_list(struct todo *t)
{
	const struct lnc_net *net = t->st->to.net;

	return lnet_net_set_accept(t->p->c->n, net->net, net->accept, net->allow, net->nallow);
}

static int peer_add(struct todo *t, const struct lnet_nid *nids, unsigned n)
{
	const struct lnc_peer *p = t->st->to.peer;
	struct lnet_nid bad = lnet_nid_any();
	char text[LNET_NIDSTR_MAX];
	int rc = lnet_peer_add(t->p->c->n, &p->primary, nids, n, p->multi_rail, p->lock, &bad);

	if (rc && !lnet_nid_is_any(&bad))
		snprintf(t->why, sizeof(t->why), "%s: %s", lnet_nid_str(&bad, text, sizeof(text)),
		        rc == -EEXIST ? "it belongs to another peer" : strerror(-rc));
	return rc;
}

static int peer_del(struct todo *t, const struct lnet_nid *nids, unsigned n)
{
	struct lnet_nid bad = lnet_nid_any();
	int rc = lnet_peer_del(
	        t->p->c->n, &t->st->from.peer->primary, nids, n, t->p->force || t->undo, &bad);

	if (rc == -EBUSY)
		snprintf(t->why, sizeof(t->why), "the peer is locked");
	return rc;
}

static int selftest(struct todo *t)
{
	struct lnet_control *c = t->p->c;
	int32_t want = t->st->to.set ? (int32_t)t->st->to.value : LNET_UNSET;
	const struct lnet_control_hooks *h = &c->o.hooks;
	int rc = h->selftest ? h->selftest(h->arg, want == 1, t->why, sizeof(t->why)) : 0;

	if (!rc)
		c->extras.selftest = want;
	return rc;
}

/* Replace a kept text. */
static int keep(char **slot, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return -ENOMEM;
	free(*slot);
	*slot = copy;
	return 0;
}

static int logging(struct todo *t)
{
	struct lnet_control *c = t->p->c;
	const struct lnet_control_hooks *h = &c->o.hooks;
	int32_t level = t->to->log.level;
	enum lnet_log_level lv = level == LNET_UNSET ? c->def_level : (enum lnet_log_level)level;
	int rc = h->log ? h->log(h->arg, lv, t->to->log.to, t->why, sizeof(t->why)) : 0;

	if (!rc)
		rc = keep(&c->extras.to, t->to->log.to);
	if (rc)
		return rc;
	c->extras.level = level;
	lnet_log_set(c->n, lv);
	return 0;
}

static int control(struct todo *t)
{
	struct lnet_control *c = t->p->c;
	const char *path = t->to->control.socket ? t->to->control.socket : c->def_path;
	const char *group = t->to->control.group ? t->to->control.group : c->def_group;
	unsigned mode =
	        t->to->control.mode == LNET_UNSET ? c->def_mode : (unsigned)t->to->control.mode;
	int rc = 0;

	if (c->server && path)
		rc = lnc_server_move(c, path, mode, group, t->why, sizeof(t->why));
	if (!rc)
		rc = keep(&c->extras.socket, t->to->control.socket);
	if (!rc)
		rc = keep(&c->extras.group, t->to->control.group);
	if (!rc)
		c->extras.mode = t->to->control.mode;
	return rc;
}

static int do_step(struct todo *t)
{
	const struct lnc_step *st = t->st;

	t->why[0] = 0;
	switch (st->kind) {
	case LNC_STEP_PEER_DEL:
		return peer_del(t, NULL, 0);
	case LNC_STEP_PEER_NID_DEL:
		return peer_del(t, &st->nid, 1);
	case LNC_STEP_NI_DEL:
		return ni_del(t);
	case LNC_STEP_GLOBAL:
		return global(t);
	case LNC_STEP_ACCEPT:
		return accept_list(t);
	case LNC_STEP_NI_ADD:
		return ni_add(t);
	case LNC_STEP_NI_TUN:
		return ni_tun(t);
	case LNC_STEP_PEER_ADD:
		return peer_add(t, st->to.peer->nids, st->to.peer->nnids);
	case LNC_STEP_PEER_NID_ADD:
		return peer_add(t, &st->nid, 1);
	case LNC_STEP_SELFTEST:
		return selftest(t);
	case LNC_STEP_CONTROL:
		return control(t);
	case LNC_STEP_LOG:
		return logging(t);
	case LNC_STEP_BUFFERS: /* nothing to size while this node does not route */
		return 0;
	case LNC_STEP_ROUTING:
		return st->to.value ? -EOPNOTSUPP : 0;
	case LNC_STEP_UDSP_DEL:
	case LNC_STEP_ROUTE_DEL:
	case LNC_STEP_ROUTE_ADD:
	case LNC_STEP_UDSP_ADD:
		break;
	}
	return -EOPNOTSUPP;
}

static void undo_from(const struct lnc_plan *p, unsigned done)
{
	char line[256];

	while (done--) {
		struct lnc_step back = lnc_step_undo(&p->st->v[done]);
		struct todo t = {
		        .p = p, .st = &back, .to = p->from, .added = &p->added[done], .undo = true};
		int rc = do_step(&t);
		if (!rc)
			continue;
		lnc_step_str(&back, line, sizeof(line));
		lnc_errs_add(p->errs, NULL, rc, "undoing failed: %s: %s", line,
		        t.why[0] ? t.why : strerror(-rc));
		lni_logf(p->c->n, LNET_LOG_ERR, "CONF-UNDO", "%s: %s", line,
		        t.why[0] ? t.why : strerror(-rc));
	}
}

static struct lnc_pos position(const struct lnc_step *st)
{
	const struct lnc_step_side *s = &st->to;

	if (s->ni)
		return s->ni->pos;
	if (s->peer)
		return s->peer->pos;
	if (s->route)
		return s->route->pos;
	if (s->udsp)
		return s->udsp->pos;
	return (struct lnc_pos){0};
}

int lnc_plan_apply(const struct lnc_plan *p)
{
	char line[256];

	for (unsigned i = 0; i < p->st->n; i++) {
		struct todo t = {.p = p, .st = &p->st->v[i], .to = p->to, .added = &p->added[i]};
		int rc = do_step(&t);
		if (!rc)
			continue;
		struct lnc_pos pos = position(t.st);
		lnc_step_str(t.st, line, sizeof(line));
		lnc_errs_at(p->errs, pos.line, pos.column, rc, "%s: %s", line,
		        t.why[0] ? t.why : strerror(-rc));
		undo_from(p, i);
		return rc;
	}
	return 0;
}
