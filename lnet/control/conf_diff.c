/* SPDX-License-Identifier: BSD-2-Clause */
/* From one configuration to another: the steps, in a legal order. */
#include "lnet/control/conf_priv.h"

#include <errno.h>
#include <string.h>

struct diff {
	const struct lnc_conf *from, *to;
	const struct lnc_schema *s;
	struct lnc_steps *out;
	unsigned cap;
	struct lnc_arena mem; /* of what lives during the comparison alone */
};

static struct lnc_step *push(struct diff *d, enum lnc_step_kind kind)
{
	struct lnc_step *st = LNC_PUSH(&d->out->mem, d->out->v, d->out->n, d->cap);

	if (st) {
		st->kind = kind;
		st->nid = lnet_nid_any();
	}
	return st;
}

/* ---- NIs --------------------------------------------------------------------------------------
 */

/* What became of one old NI. */
struct pair {
	const struct lnc_net *net;
	const struct lnc_ni *ni; /* NULL: it goes */
	bool replace;
};

static bool needs_replace(
        const struct diff *d, lnet_net_t net, const struct lnc_ni *a, const struct lnc_ni *b)
{
	unsigned nt;
	const struct lnet_tunable *t = lnc_schema_lnd(d->s, net, &nt);

	if (a->ifname && b->ifname && !lnc_str_equal(a->ifname, b->ifname))
		return true;
	if (!lnc_str_equal(a->cpts, b->cpts) || memcmp(a->tun, b->tun, sizeof(a->tun)) != 0)
		return true;
	for (unsigned side = 0; side < 2; side++) {
		const struct lnc_ni *x = side ? b : a, *y = side ? a : b;

		for (unsigned i = 0; i < x->nlnd; i++) {
			const struct lnet_tunable *row = lnc_tunable_find(t, nt, x->lnd[i].name);
			const struct lnc_tun *other = lnc_tun_find(y->lnd, y->nlnd, x->lnd[i].name);

			if ((!other || strcmp(other->text, x->lnd[i].text) != 0) &&
			        !(row && (row->flags & LNET_TUN_RUNTIME)))
				return true;
		}
	}
	return false;
}

static struct lnc_net *net_in(const struct lnc_conf *c, lnet_net_t net)
{
	return lnc_net_find((struct lnc_conf *)c, net);
}

/* Which new NI of the net is this old one? taken marks the new ones that are paired. */
static struct pair find_pair(
        const struct diff *d, const struct lnc_net *old, unsigned i, bool *taken)
{
	struct pair p = {net_in(d->to, old->net), NULL, false};

	for (unsigned j = 0; p.net && j < p.net->nni; j++) {
		if (taken[j] || !lnc_ni_same(&old->ni[i], &p.net->ni[j]))
			continue;
		taken[j] = true;
		p.ni = &p.net->ni[j];
		p.replace = needs_replace(d, old->net, &old->ni[i], p.ni);
		break;
	}
	return p;
}

static void tun_step(struct diff *d, const struct lnc_net *net, const struct lnc_ni *a,
        const struct lnc_ni *b, const struct lnet_tunable *row)
{
	const struct lnc_tun *x = lnc_tun_find(a->lnd, a->nlnd, row->name);
	const struct lnc_tun *y = lnc_tun_find(b->lnd, b->nlnd, row->name);
	struct lnc_step *st;

	if ((!x && !y) || (x && y && x->value == y->value))
		return;
	st = push(d, LNC_STEP_NI_TUN);
	if (!st)
		return;
	st->name = row->name;
	st->nid = lnet_nid_is_any(&a->nid) ? b->nid : a->nid;
	st->from = (struct lnc_step_side){
	        .net = net, .ni = a, .value = x ? x->value : row->def, .set = x};
	st->to = (struct lnc_step_side){
	        .net = net, .ni = b, .value = y ? y->value : row->def, .set = y};
}

static void ni_tunables(
        struct diff *d, const struct lnc_net *net, const struct lnc_ni *a, const struct lnc_ni *b)
{
	unsigned nt;
	const struct lnet_tunable *t = lnc_schema_lnd(d->s, net->net, &nt);

	for (unsigned i = 0; i < nt; i++)
		tun_step(d, net, a, b, &t[i]);
}

static void ni_step(struct diff *d, bool add, const struct lnc_net *net, const struct lnc_ni *ni)
{
	struct lnc_step *st = push(d, add ? LNC_STEP_NI_ADD : LNC_STEP_NI_DEL);
	struct lnc_step_side side = {.net = net, .ni = ni};

	if (!st)
		return;
	st->nid = ni->nid;
	if (add)
		st->to = side;
	else
		st->from = side;
}

/* The pairs of all old NIs, and which new ones have no old one. */
struct nis {
	struct pair *pair; /* in the order of from->net[].ni[] */
	bool **taken;      /* [net of to][ni] */
};

static bool pair_nis(struct diff *d, struct nis *n)
{
	unsigned total = 0, at = 0;

	for (unsigned i = 0; i < d->from->nnet; i++)
		total += d->from->net[i].nni;
	n->pair = lnc_arena_alloc(&d->mem, total * sizeof(*n->pair));
	n->taken = lnc_arena_alloc(&d->mem, d->to->nnet * sizeof(*n->taken));
	for (unsigned i = 0; n->taken && i < d->to->nnet; i++)
		n->taken[i] = lnc_arena_alloc(&d->mem, d->to->net[i].nni * sizeof(**n->taken));
	if (d->mem.failed)
		return false;
	for (unsigned i = 0; i < d->from->nnet; i++) {
		const struct lnc_net *net = net_in(d->to, d->from->net[i].net);
		bool *taken = net ? n->taken[net - d->to->net] : NULL;

		for (unsigned j = 0; j < d->from->net[i].nni; j++)
			n->pair[at++] = find_pair(d, &d->from->net[i], j, taken);
	}
	return true;
}

static void nis_del(struct diff *d, const struct nis *n)
{
	const struct pair *p = n->pair;

	for (unsigned i = 0; i < d->from->nnet; i++) {
		for (unsigned j = 0; j < d->from->net[i].nni; j++, p++) {
			if (!p->ni || p->replace)
				ni_step(d, false, &d->from->net[i], &d->from->net[i].ni[j]);
		}
	}
}

static void nets_accept(struct diff *d, const struct nis *n)
{
	const struct pair *p = n->pair;

	for (unsigned i = 0; i < d->from->nnet; i++) {
		const struct lnc_net *a = &d->from->net[i], *b = net_in(d->to, a->net);
		bool stays = false;
		struct lnc_step *st;

		for (unsigned j = 0; j < a->nni; j++, p++)
			stays |= p->ni && !p->replace;
		if (!stays || (a->accept == b->accept && a->allow_set == b->allow_set &&
		                      lnc_cidrs_equal(a->allow, a->nallow, b->allow, b->nallow)))
			continue;
		st = push(d, LNC_STEP_ACCEPT);
		if (st) {
			st->from.net = a;
			st->to.net = b;
		}
	}
}

static void nis_add(struct diff *d, const struct nis *n)
{
	const struct pair *p = n->pair;

	for (unsigned i = 0; i < d->from->nnet; i++) {
		for (unsigned j = 0; j < d->from->net[i].nni; j++, p++) {
			if (p->replace)
				ni_step(d, true, p->net, p->ni);
		}
	}
	for (unsigned i = 0; i < d->to->nnet; i++) {
		for (unsigned j = 0; j < d->to->net[i].nni; j++) {
			if (!n->taken[i][j])
				ni_step(d, true, &d->to->net[i], &d->to->net[i].ni[j]);
		}
	}
}

static void nis_change(struct diff *d, const struct nis *n)
{
	const struct pair *p = n->pair;

	for (unsigned i = 0; i < d->from->nnet; i++) {
		for (unsigned j = 0; j < d->from->net[i].nni; j++, p++) {
			if (p->ni && !p->replace)
				ni_tunables(d, p->net, &d->from->net[i].ni[j], p->ni);
		}
	}
}

/* ---- globals ----------------------------------------------------------------------------------
 */

static int64_t in_force(const struct lnc_conf *c, const struct lnet_tunable *t, bool *set)
{
	const struct lnc_tun *x = lnc_tun_find(c->global, c->nglobal, t->name);

	*set = x;
	return x ? x->value : t->def;
}

static void global_step(struct diff *d, const struct lnet_tunable *t)
{
	struct lnc_step_side a = {0}, b = {0};
	struct lnc_step *st;

	a.value = in_force(d->from, t, &a.set);
	b.value = in_force(d->to, t, &b.set);
	if (a.value == b.value && a.set == b.set)
		return;
	st = push(d, LNC_STEP_GLOBAL);
	if (st) {
		st->name = t->name;
		st->from = a;
		st->to = b;
	}
}

/* retry_count stands below transaction_timeout and needs health_sensitivity: it goes down first and
 * up last, so that no step is refused. */
static void globals(struct diff *d)
{
	const struct lnet_tunable *t = d->s->globals;
	const struct lnet_tunable *retry = lnc_tunable_find(t, d->s->nglobals, "retry_count");
	bool set, down = retry && in_force(d->to, retry, &set) < in_force(d->from, retry, &set);

	if (down)
		global_step(d, retry);
	for (unsigned i = 0; i < d->s->nglobals; i++) {
		if (&t[i] != retry)
			global_step(d, &t[i]);
	}
	if (retry && !down)
		global_step(d, retry);
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static void numbers(struct diff *d)
{
	const struct lnet_tunable *t = lnc_buffer_tunables();
	struct lnc_step *st;

	for (unsigned i = 0; i < LNC_BUFFERS; i++) {
		int32_t a = d->from->buffers[i], b = d->to->buffers[i];

		if (a == b || !(st = push(d, LNC_STEP_BUFFERS)))
			continue;
		st->n = i;
		st->name = t[i].name;
		st->from.set = a != LNET_UNSET;
		st->to.set = b != LNET_UNSET;
		st->from.value = st->from.set ? a : t[i].def;
		st->to.value = st->to.set ? b : t[i].def;
	}
}

static void flag(struct diff *d, enum lnc_step_kind kind, int32_t a, int32_t b)
{
	struct lnc_step *st = a == b ? NULL : push(d, kind);

	if (!st)
		return;
	st->from.set = a != LNET_UNSET;
	st->to.set = b != LNET_UNSET;
	st->from.value = st->from.set ? a : 0;
	st->to.value = st->to.set ? b : 0;
}

static void ours(struct diff *d)
{
	const struct lnc_conf *a = d->from, *b = d->to;

	flag(d, LNC_STEP_SELFTEST, a->selftest, b->selftest);
	if (a->control.mode != b->control.mode ||
	        !lnc_str_equal(a->control.socket, b->control.socket) ||
	        !lnc_str_equal(a->control.group, b->control.group))
		push(d, LNC_STEP_CONTROL);
	if (a->log.level != b->log.level || !lnc_str_equal(a->log.to, b->log.to))
		push(d, LNC_STEP_LOG);
}

static void walk(struct diff *d)
{
	struct lnc_diff_lists lists = {d->from, d->to, d->out, &d->cap, &d->mem};
	struct nis nis;

	if (!pair_nis(d, &nis))
		return;
	lnc_diff_lists(&lists, false);
	nis_del(d, &nis);
	globals(d);
	nets_accept(d, &nis);
	nis_add(d, &nis);
	nis_change(d, &nis);
	lnc_diff_lists(&lists, true);
	numbers(d);
	flag(d, LNC_STEP_ROUTING, d->from->routing, d->to->routing);
	lnc_diff_udsp_add(&lists);
	ours(d);
}

int lnc_conf_diff(const struct lnc_conf *from, const struct lnc_conf *to,
        const struct lnc_schema *s, struct lnc_steps *out)
{
	struct lnc_conf *empty = lnc_conf_new();
	struct diff d = {.from = from ? from : empty, .to = to ? to : empty, .s = s, .out = out};
	bool failed = !empty;

	memset(out, 0, sizeof(*out));
	lnc_arena_init(&out->mem, 0);
	lnc_arena_init(&d.mem, 0);
	if (!failed) {
		walk(&d);
		failed = d.mem.failed || out->mem.failed;
	}
	lnc_arena_free(&d.mem);
	lnc_conf_free(empty);
	if (!failed)
		return 0;
	lnc_steps_free(out);
	return -ENOMEM;
}

void lnc_steps_free(struct lnc_steps *s)
{
	lnc_arena_free(&s->mem);
	s->v = NULL;
	s->n = 0;
}
