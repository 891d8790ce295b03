/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Matching (spec: wire-lnet.md section 7.1): entries with ignore bits first, then those hashed by
 * match bits, in list order. The first entry that fits decides, also when its room is too small.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnet/ptl/ptl.h"

struct lni_list *lni_portal_list(struct lni_portal *p, const struct lnet_match *m)
{
	if (m->ignore)
		return &p->wild;
	if (!p->bucket) {
		p->bucket = malloc(LNI_ME_BUCKETS * sizeof(p->bucket[0]));
		if (!p->bucket)
			return NULL;
		for (unsigned i = 0; i < LNI_ME_BUCKETS; i++)
			lni_list_init(&p->bucket[i]);
	}
	return &p->bucket[(m->bits ^ m->bits >> 17 ^ m->bits >> 40) % LNI_ME_BUCKETS];
}

static bool nid_fits(const struct lnet_nid *want, const struct lni_query *q)
{
	if (lnet_nid_is_any(want) || lnet_nid_eq(want, q->src))
		return true;
	for (unsigned i = 0; q->peer && i < q->peer->nnids; i++)
		if (lnet_nid_eq(want, &q->peer->nids[i]))
			return true;
	return false;
}

static bool fits(const struct lni_me *me, const struct lni_query *q)
{
	const struct lni_md *md = me->md;

	if (!md || lni_md_used_up(md))
		return false;
	if (!(md->options & (q->put ? LNET_MD_OP_PUT : LNET_MD_OP_GET)))
		return false;
	if ((me->m.bits ^ q->bits) & ~me->m.ignore)
		return false;
	if (me->m.pid != LNET_PID_ANY && me->m.pid != q->src_pid)
		return false;
	return nid_fits(&me->m.nid, q);
}

/* Room and commitment. Lock held. */
static enum lni_match_result take(
        struct lni_md *md, const struct lni_query *q, struct lni_use *u, struct lni_hit *hit)
{
	uint64_t offset = (md->options & LNET_MD_MANAGE_REMOTE) ? q->offset : md->offset;
	uint64_t room;

	if (offset > md->length)
		return LNI_MATCH_TOO_LONG;
	room = md->length - offset;
	if (room > LNET_MTU)
		room = LNET_MTU; /* a GET may ask for more than a REPLY can carry */
	if ((md->options & LNET_MD_MAX_SIZE) && md->max_size < room)
		room = md->max_size;
	hit->mlength = q->rlength;
	if (q->rlength > room) {
		if (!(md->options & LNET_MD_TRUNCATE))
			return LNI_MATCH_TOO_LONG;
		hit->mlength = (uint32_t)room;
	}
	hit->offset = offset;
	md->offset = offset + hit->mlength;
	hit->md = md;
	lni_md_spend(md, u);
	return LNI_MATCH_HIT;
}

static struct lni_md *search(struct lni_list *list, const struct lni_query *q)
{
	struct lni_list *i;

	lni_list_each(i, list)
	{
		struct lni_me *me = lni_container(i, struct lni_me, node);

		if (fits(me, q))
			return me->md;
	}
	return NULL;
}

enum lni_match_result lni_match_in(struct lni_portal *p, const struct lni_query *q,
        struct lni_use *u, struct lni_hit *hit, bool *closes, struct lni_me **me)
{
	struct lnet_match key = {.bits = q->bits};
	struct lni_md *md = search(&p->wild, q);
	enum lni_match_result res;

	*closes = false;
	*me = NULL;
	if (!md && p->bucket)
		md = search(lni_portal_list(p, &key), q);
	if (!md)
		return p->lazy && q->put ? LNI_MATCH_LAZY : LNI_MATCH_NONE;
	res = take(md, q, u, hit);
	if (res == LNI_MATCH_HIT)
		*me = lni_md_auto(md, closes);
	return res;
}

enum lni_match_result lni_match(
        struct lnet *n, const struct lni_query *q, struct lni_use *u, struct lni_hit *hit)
{
	enum lni_match_result res;
	struct lni_portal *p;
	struct lni_me *me;
	bool closes;

	if (q->portal >= LNET_MAX_PORTALS)
		return LNI_MATCH_BAD_PORTAL;
	p = &n->ptl->portal[q->portal];
	pthread_mutex_lock(&p->lock);
	res = lni_match_in(p, q, u, hit, &closes, &me);
	pthread_mutex_unlock(&p->lock);
	if (closes)
		lni_md_auto_done(n, hit->md, me);
	return res;
}

int lni_ptl_open(struct lnet *n)
{
	struct lni_ptl *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->ids = lni_idtab_new();
	if (!t->ids) {
		free(t);
		return -ENOMEM;
	}
	pthread_mutex_init(&t->free_lock, NULL);
	pthread_mutex_init(&t->id_lock, NULL);
	for (unsigned i = 0; i < LNET_MAX_PORTALS; i++) {
		pthread_mutex_init(&t->portal[i].lock, NULL);
		lni_list_init(&t->portal[i].wild);
		lni_list_init(&t->portal[i].parked);
	}
	n->ptl = t;
	return 0;
}

void lni_ptl_close(struct lnet *n)
{
	struct lni_ptl *t = n->ptl;

	if (!t)
		return;
	for (unsigned i = 0; i < LNET_MAX_PORTALS; i++) {
		free(t->portal[i].bucket);
		pthread_mutex_destroy(&t->portal[i].lock);
	}
	pthread_mutex_destroy(&t->free_lock);
	pthread_mutex_destroy(&t->id_lock);
	lni_idtab_free(t->ids);
	free(t);
	n->ptl = NULL;
}
