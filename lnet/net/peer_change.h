/* SPDX-License-Identifier: BSD-2-Clause */
/* How the records of peers are changed: peer_change.c; used by peer.c (what peers say) and
 * peer_conf.c (what the administrator says). */
#ifndef LNI_NET_PEER_CHANGE_H
#define LNI_NET_PEER_CHANGE_H

#include "lnet/net/net.h"

/* One peer NI gets another record. */
struct lni_move {
	struct lni_pni *p;
	struct lni_peer *to, *old;
};

/* A change in preparation: the new peer, the peer NIs that it takes, and what else has to move. It
 * is planned whole before anything is done, so that nothing is half done when memory runs out. */
struct lni_change {
	struct lnet *n;
	struct lni_peer *fresh;
	struct lni_pni **pni; /* of fresh->nids, each with a reference */
	unsigned npni;
	struct lni_move *move;
	unsigned nmove, room;
	struct lni_grace_mem *grace; /* for the old records */
	bool done;
};

struct lni_peer *lni_peer_make(unsigned cap); /* no reference yet */
bool lni_peer_has(const struct lni_peer *p, const struct lnet_nid *nid);
void lni_peer_take_nid(struct lni_peer *p, const struct lnet_nid *nid); /* unless it has it */

/* c->n and c->fresh, with its NIDs, are set: get or make a peer NI for each of them. */
int lni_change_init(struct lni_change *c);
void lni_change_fini(struct lni_change *c); /* no lock held */
/* The rest with the lock of net held. p is to point to `to`. -ENOMEM. */
int lni_change_plan(struct lni_change *c, struct lni_pni *p, struct lni_peer *to);
void lni_change_do(struct lni_change *c);
/* The fresh record takes its peer NIs, and what loses NIDs to it goes on with the rest. `was`: the
 * record that it replaces (NULL: none), whose other NIDs stand alone from now on. All of it, or
 * -ENOMEM. */
int lni_change_commit(struct lni_change *c, const struct lni_peer *was);

#endif
