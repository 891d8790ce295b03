/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnet/net/peer_change.h"

struct lni_peer *lni_peer_make(unsigned cap)
{
	struct lni_peer *p = calloc(1, sizeof(*p) + cap * sizeof(p->nids[0]));

	return p;
}

bool lni_peer_has(const struct lni_peer *p, const struct lnet_nid *nid)
{
	for (unsigned i = 0; i < p->nnids; i++)
		if (lnet_nid_eq(&p->nids[i], nid))
			return true;
	return false;
}

void lni_peer_take_nid(struct lni_peer *p, const struct lnet_nid *nid)
{
	if (!lni_peer_has(p, nid))
		p->nids[p->nnids++] = *nid;
}

/* What was replaced goes when nobody can still look at it. */
static void put_late(void *arg)
{
	struct lni_move *m = arg;

	for (unsigned i = 0; m[i].old; i++)
		lni_peer_put(m[i].old);
	free(m);
}

void lni_change_fini(struct lni_change *c)
{
	for (unsigned i = 0; c->pni && i < c->npni; i++)
		if (c->pni[i])
			lni_pni_put(c->pni[i]);
	for (unsigned i = 0; !c->done && i < c->nmove; i++) {
		struct lni_peer *to = c->move[i].to;

		/* several moves to one record stand together */
		if (to != c->fresh && (i == 0 || c->move[i - 1].to != to))
			free(to);
	}
	if (c->done && c->nmove) {
		lni_grace_start(c->n, c->grace, put_late, c->move);
	} else {
		free(c->grace);
		free(c->move);
	}
	free(c->pni);
	free(c->fresh); /* nobody's, or NULL */
}

int lni_change_init(struct lni_change *c)
{
	c->pni = calloc(c->fresh->nnids, sizeof(c->pni[0]));
	if (!c->pni)
		return -ENOMEM;
	c->npni = c->fresh->nnids;
	for (unsigned i = 0; i < c->npni; i++) {
		int rc = lni_pni_get(c->n, &c->fresh->nids[i], LNET_PID_LUSTRE, true, &c->pni[i]);

		if (rc)
			return rc;
	}
	return 0;
}

int lni_change_plan(struct lni_change *c, struct lni_pni *p, struct lni_peer *to)
{
	if (!c->grace)
		c->grace = lni_grace_new();
	if (!c->grace)
		return -ENOMEM;
	if (c->nmove + 1 >= c->room) { /* one more ends the list */
		unsigned room = c->room ? 2 * c->room : 64;
		struct lni_move *m = realloc(c->move, room * sizeof(*m));

		if (!m)
			return -ENOMEM;
		c->move = m;
		c->room = room;
	}
	c->move[c->nmove++] = (struct lni_move){.p = p, .to = to};
	return 0;
}

/* The rest of a peer that loses NIDs to c->fresh gets a record without them. Lock held. */
static int shrink(struct lni_change *c, const struct lni_peer *old, bool split)
{
	struct lni_peer *rest = NULL;

	for (unsigned i = 0; i < old->nnids; i++) {
		struct lni_pni *p;

		if (lni_peer_has(c->fresh, &old->nids[i]))
			continue;
		p = lni_pni_lookup(c->n->net, &old->nids[i], LNET_PID_LUSTRE);
		if (!p || atomic_load(&p->peer) != old)
			continue;
		if (!rest || split) {
			rest = lni_peer_make(split ? 1 : old->nnids);
			if (!rest)
				return -ENOMEM;
			rest->primary = old->nids[i];
			rest->state = split ? 0 : old->state;
			rest->features = split ? 0 : old->features;
		}
		lni_peer_take_nid(rest, &old->nids[i]);
		if (lni_change_plan(c, p, rest)) {
			if (split || rest->nnids == 1)
				free(rest); /* no move names it */
			return -ENOMEM;
		}
	}
	return 0;
}

/* Lock held. `was`: the record that c->fresh replaces; its other NIDs stand alone from now on. */
static int plan_all(struct lni_change *c, const struct lni_peer *was)
{
	int rc = was ? shrink(c, was, true) : 0;

	for (unsigned i = 0; !rc && i < c->fresh->nnids; i++) {
		const struct lni_peer *old = atomic_load(&c->pni[i]->peer);
		bool seen = old == was || old->nnids == 1;

		for (unsigned k = 0; k < i && !seen; k++)
			seen = atomic_load(&c->pni[k]->peer) == old;
		if (!seen)
			rc = shrink(c, old, false);
	}
	for (unsigned i = 0; !rc && i < c->fresh->nnids; i++)
		rc = lni_change_plan(c, c->pni[i], c->fresh);
	return rc;
}

/* Lock held. */
void lni_change_do(struct lni_change *c)
{
	bool used = false;

	for (unsigned i = 0; i < c->nmove; i++) {
		struct lni_move *m = &c->move[i];

		atomic_fetch_add(&m->to->refs, 1);
		m->old = atomic_exchange(&m->p->peer, m->to);
		free(m->p->claim);
		m->p->claim = NULL;
		used |= m->to == c->fresh;
	}
	/* it belongs to its peer NIs from here on, and goes with them */
	if (used)
		c->fresh = NULL;
	if (c->nmove)
		c->move[c->nmove].old = NULL;
	c->done = true;
}

/* Lock held. All of it, or -ENOMEM and nothing. */
int lni_change_commit(struct lni_change *c, const struct lni_peer *was)
{
	int rc = plan_all(c, was);

	if (!rc)
		lni_change_do(c);
	return rc;
}
