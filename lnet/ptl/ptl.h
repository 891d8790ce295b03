/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Portals, match entries, memory descriptors: what a message from outside may touch, and who is
 * told.
 *
 * Locks: one leaf lock a portal guards its MEs, their MDs and its parked messages; free-standing
 * MDs share one more; the id table has its own. Never two at once; never held over payload or a
 * handler.
 *
 * An MD is BORN (nobody can reach it yet), ACTIVE, then CLOSING (no new use, id dead), then freed.
 * A use is one message that may touch the memory: an operation, a payload coming in, a REPLY going
 * out. It counts until the handler of its last event has returned, so that `unlinked` is said last
 * indeed: by the event of the last use of a CLOSING MD, or by an UNLINK event when there is none to
 * come. Unlinked by the caller, uses under way are cancelled, each on its loop; used up, they
 * finish.
 */
#ifndef LNI_PTL_PTL_H
#define LNI_PTL_PTL_H

#include "lnet/base/list.h"
#include "lnet/net/net.h"

#define LNI_ME_BUCKETS 64u

struct lni_md;
struct lni_me;

/* One message that may touch an MD. Embedded in what describes the message. */
struct lni_use {
	struct lni_list node;   /* of md->uses, under the MD's lock */
	struct lni_md *md;      /* holds a reference */
	struct lnet_loop *loop; /* where the message lives */
	/* On that loop: end it soon; nothing to do when its end is on its way. */
	void (*cancel)(struct lni_use *u);
	struct lnet_work work; /* carries cancel there */
	struct lni_use *next;  /* while cancels are gathered */
	/* under the MD's lock */
	bool cancelling;                    /* work is posted */
	bool gone;                          /* its last event is being told, or was */
	bool let_go;                        /* released while work was posted: work frees it */
	void (*release)(struct lni_use *u); /* the memory may go */
};

enum lni_md_state { LNI_MD_BORN, LNI_MD_ACTIVE, LNI_MD_CLOSING };

struct lni_md {
	lnet_handle_t id;
	struct lnet *n;
	pthread_mutex_t *lock;
	_Atomic int refs;
	struct lni_me *me; /* NULL: free-standing */
	struct iovec *iov;
	struct iovec one; /* iov points here when there is one */
	uint32_t niov;
	uint64_t length;
	uint32_t options;
	int32_t threshold;
	int unlink;
	uint64_t max_size;
	uint64_t offset; /* running */
	lnet_handler_fn handler;
	void *user;
	/* under the lock */
	enum lni_md_state state;
	bool told; /* the unlinked event is on its way */
	struct lni_list uses;
	unsigned nuses;
	struct lnet_event ev; /* the UNLINK event of an idle MD */
	struct lnet_work work;
};

struct lni_me {
	lnet_handle_t id;
	_Atomic int refs;
	uint32_t portal;
	struct lnet_match m;
	int unlink;
	struct lni_list node;
	bool linked;
	struct lni_md *md; /* holds a reference */
};

/* What a match gave. */
struct lni_hit {
	struct lni_md *md; /* reference; the use is registered */
	uint64_t offset;
	uint32_t mlength;
};

struct lni_query {
	bool put; /* else GET */
	uint32_t portal;
	uint64_t bits;
	uint32_t rlength;
	uint64_t offset; /* from the wire */
	const struct lnet_nid *src;
	uint32_t src_pid;
	const struct lni_peer *peer; /* of src; may be NULL */
};

enum lni_match_result {
	LNI_MATCH_HIT,
	LNI_MATCH_NONE,     /* no entry */
	LNI_MATCH_LAZY,     /* no entry, PUT, lazy portal: may be parked */
	LNI_MATCH_TOO_LONG, /* an entry, without the room */
	LNI_MATCH_BAD_PORTAL,
};

/*
 * A PUT that came before its MD, whole, in memory of ours. It stays in its portal until it is
 * matched, in the order of arrival, in the very section that attaches the MD: what comes later
 * cannot overtake it.
 */
struct lni_parked {
	struct lni_list node;
	struct lni_rail *rail; /* the maker's reference */
	struct lni_query q;    /* what it points to is the maker's */
	struct lni_use *use;
	struct lni_hit *hit;
	enum lni_match_result res; /* HIT, or why it is to be dropped */
	bool closes;               /* the hit used its MD up */
	struct lni_me *me;
	void (*deliver)(struct lni_parked *p); /* on rail->loop, no lock held; frees p */
	struct lnet_work work;
};

struct lni_portal {
	pthread_mutex_t lock;
	uint8_t kind; /* 0 none yet, 1 unique, 2 wildcard */
	bool lazy;
	struct lni_list wild;    /* MEs with ignore bits */
	struct lni_list *bucket; /* [LNI_ME_BUCKETS] the others */
	struct lni_list parked;
};

struct lni_ptl {
	struct lni_portal portal[LNET_MAX_PORTALS];
	pthread_mutex_t free_lock; /* of free-standing MDs */
	pthread_mutex_t id_lock;
	struct lni_idtab *ids;
	bool stopped;              /* no new id; under id_lock */
	_Atomic unsigned mds, mes; /* alive */
	_Atomic unsigned nparked;
};

int lni_ptl_open(struct lnet *n);
void lni_ptl_stop(struct lnet *n); /* unlink everything, without waiting */
void lni_ptl_close(struct lnet *n);

/* match.c. On a hit the use is registered with the MD (u->md set) and the threshold is spent. Any
 * thread that owns u->loop. */
enum lni_match_result lni_match(
        struct lnet *n, const struct lni_query *q, struct lni_use *u, struct lni_hit *hit);

/*
 * park.c. On rail->loop: match it after all (HIT: the maker goes on), or keep it (LAZY: it is the
 * portal's until ->deliver()), or why it is to be dropped (NONE: not lazy any more, or *full: this
 * peer has its share parked already).
 */
enum lni_match_result lni_park(
        struct lnet *n, struct lni_parked *p, unsigned max_per_peer, bool *full);
/* Lock held: take what fits now, or never will, out of the portal. Then, no lock held: send it on.
 */
void lni_park_scan(struct lni_portal *t, struct lni_list *out);
void lni_park_send(struct lnet *n, struct lni_list *out);
/* Drop what that rail brought. On its loop. */
void lni_park_drop(struct lnet *n, const struct lni_rail *r);
/* No portal is lazy any more. Any thread. */
void lni_park_stop(struct lnet *n);

/* md.c */
int lni_md_get(struct lnet *n, lnet_handle_t id, struct lni_md **md); /* reference; -ENOENT */
void lni_md_put(struct lni_md *md);
/* Register a use with a bound MD and spend one of its threshold. -ENOENT closing, -EINVAL used up.
 */
int lni_md_use(struct lni_md *md, struct lni_use *u);
/* Its last event is about to be told, on u->loop: true when it is the MD's last, too. */
bool lni_use_tell(struct lni_use *u);
/* The use is over and was told, or needs no telling. u may be gone afterwards. */
void lni_use_release(struct lni_use *u);
/* Close without cancelling what is under way; `unlinked` is told as ever. */
void lni_md_retire(struct lnet *n, lnet_handle_t md);

/* Between md.c, me.c, match.c and park.c. */
/* lni_match() with the portal's lock held; *closes: lni_md_auto_done(n, hit->md, *me) is due
 * without it. */
enum lni_match_result lni_match_in(struct lni_portal *p, const struct lni_query *q,
        struct lni_use *u, struct lni_hit *hit, bool *closes, struct lni_me **me);
int lni_md_make(struct lnet *n, const struct lnet_md_desc *d, struct lni_md **out);
void lni_md_hold(void *md);
int lni_md_unlink_live(struct lnet *n, struct lni_md *md, bool cancel);
bool lni_me_out(struct lni_me *me); /* lock held */
void lni_me_put(struct lnet *n, struct lni_me *me);
/* Where an ME of that shape is kept; NULL: no memory. Lock held. */
struct lni_list *lni_portal_list(struct lni_portal *p, const struct lnet_match *m);
/* Lock held: register the use and spend; then close it if that used it up (*closes). */
void lni_md_spend(struct lni_md *md, struct lni_use *u);
bool lni_md_used_up(const struct lni_md *md);
struct lni_me *lni_md_auto(struct lni_md *md, bool *closes);
void lni_md_auto_done(struct lnet *n, struct lni_md *md, struct lni_me *me); /* no lock held */

/* ids.c: id -> object, chained hash. With id_lock held by these. */
struct lni_idtab *lni_idtab_new(void);
void lni_idtab_free(struct lni_idtab *t);
/* -ENOMEM; -ESHUTDOWN: lni_id_stop() was called. */
int lni_id_add(struct lni_ptl *p, uint64_t id, void *obj);
void lni_id_stop(struct lni_ptl *p);
void lni_id_del(struct lni_ptl *p, uint64_t id);
/* fn takes a reference under the lock. */
void *lni_id_find(struct lni_ptl *p, uint64_t id, void (*ref)(void *obj));
/* Any object of the table whose id is of that kind, from bucket *from on; after lni_id_stop(). */
void *lni_id_any(struct lnet *n, int kind, unsigned *from, void (*ref)(void *obj));

#endif
