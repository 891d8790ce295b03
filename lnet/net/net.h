/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Local interfaces, peers, rails and credits. The drivers are below; messages are above.
 *
 * OWNERSHIP
 *   lni_net.lock is a leaf lock; it guards the peer table, the peer snapshots' publication, the
 * list of NIs and the watchers. Nothing is called with it held. A peer NI's credits, queue, rails'
 * queues and counters belong to its home loop. NI sets and peers are immutable once published;
 * readers are on a loop (or hold the lock), and what was replaced is freed after lni_grace().
 *
 * CREDITS (spec: behaviour.md section 2)
 *   free + in use = max, for each peer NI and for each (NI, loop) share; `waiting` counts messages
 * in the queue, and is shown as negative credits. Giving a credit back starts the oldest waiter.
 */
#ifndef LNI_NET_NET_H
#define LNI_NET_NET_H

#include "lnet/base/list.h"
#include "lnet/rt/node.h"

#define LNI_MAX_NIS    256u
#define LNI_HEALTH_MAX 1000

struct lni_ni;
struct lni_pni;
struct lni_tx;
struct lni_lost;

struct lni_credits {
	int32_t max, free, used, waiting, low; /* low: smallest value of free - waiting */
};

/* One (NI, loop): touched by that loop alone. */
struct lni_share {
	struct lni_ni *ni;
	struct lni_credits cr;
	struct lni_list waiters; /* lni_tx.node */
	struct lnet_traffic traffic;
	uint64_t hs[LNET_HS_COUNT];
	uint64_t seq; /* round robin */
	bool pumping;
};

enum lni_ni_life { LNI_NI_STARTING, LNI_NI_ACTIVE, LNI_NI_STOPPING, LNI_NI_STOPPED };

struct lni_ni {
	struct lnet_lnd_ni d;
	struct lnet *n;
	unsigned serial;  /* order of adding */
	_Atomic int life; /* enum lni_ni_life */
	_Atomic unsigned nrails;
	struct lni_share *share; /* [nloops] */
	int32_t conf[4], eff[4]; /* peer_timeout, peer_credits, peer_buffer_credits, credits */
	bool *tun_set;
	char cpts[64];
	struct lnet_cidr *allow;
	_Atomic int health;
	_Atomic(const char *) health_reason;
	_Atomic uint64_t health_changed;
	_Atomic bool up, fatal;
	pthread_mutex_t why_lock; /* guards why, status_since */
	char why[96];
	uint64_t status_since;
};

struct lni_ni_set {
	unsigned count;
	struct lni_ni *ni[]; /* 0@lo first */
};

/* A remote node, immutable. */
struct lni_peer {
	_Atomic int refs; /* one for each peer NI that points here */
	struct lnet_nid primary;
	uint32_t state; /* LNET_PEER_* */
	uint32_t features;
	unsigned nnids;
	struct lnet_nid nids[]; /* primary first */
};

struct lni_rail {
	struct lnet_rail d;
	struct lni_pni *pni;
	struct lni_ni *ni;
	struct lni_rail *next; /* of the pni; under net->lock */
	struct lnet_work work;
	bool published;
	struct lni_list blocked; /* lni_tx.node: the driver said -EAGAIN */
	_Atomic int refs;        /* driver's, plus messages under way */
	bool up;
	_Atomic bool closing; /* set on the loop */
	bool closed;
	int last_err;
	struct lni_lost *lost; /* msg/'s: operations held since the connection died; the loop's */
};

/* A peer NI. */
struct lni_pni {
	struct lnet *n;
	struct lnet_nid nid;
	uint32_t pid;
	struct lnet_loop *loop;
	struct lni_pni *hnext;           /* under net->lock */
	_Atomic(struct lni_peer *) peer; /* never NULL */
	struct lni_peer *claim; /* what it said of itself and was not believed; under net->lock */
	_Atomic int refs;       /* table, rails, users */
	_Atomic bool dead;
	struct lni_rail *rails;    /* under net->lock */
	_Atomic uint32_t last_use; /* seconds, for eviction */
	/* the home loop's */
	struct lni_credits cr;
	struct lni_list queue; /* lni_tx.node */
	bool pumping;
	int nup; /* rails that are up */
	struct lnet_traffic traffic;
	struct lnet_health health;
	uint64_t last_alive;
	struct lnet_work reap;
};

enum lni_tx_where { LNI_TX_IDLE, LNI_TX_WAIT_PEER, LNI_TX_WAIT_NI, LNI_TX_WAIT_LND, LNI_TX_DRIVER };

/* One message on its way out. Whoever makes it owns it again when it is done. */
struct lni_tx {
	struct lnet_tx d;
	struct lni_list node;
	struct lni_rail *rail;
	struct lnet_timer timer; /* while it waits in one of our queues */
	uint64_t started;        /* ns, for latency */
	uint8_t where;           /* enum lni_tx_where */
	bool has_peer, has_ni;   /* credits */
	bool accepted;           /* the driver took it */
	uint8_t kind;            /* the owner's */
};

struct lni_watcher;

struct lni_driver {
	const struct lnet_lnd *lnd;
	void *so; /* dlopen handle, NULL when linked in */
	struct lnet_lnd_node node;
	bool open;
	struct lni_driver *next;
};

struct lni_net {
	pthread_mutex_t lock;
	pthread_cond_t idle;
	bool busy; /* one configuration call at a time */
	_Atomic(struct lni_ni_set *) nis;
	struct lni_ni *lo;
	unsigned next_serial;
	struct lni_driver *drivers;
	struct lni_pni **table;
	unsigned nbuckets, npnis;
	struct lni_watcher *watchers;
	_Atomic unsigned nis_live, pnis_live, rails_live; /* objects not yet freed */
	uint64_t evicted, refused_peers;
};

/* net.c */
int lni_net_open(struct lnet *n);   /* with 0@lo */
void lni_net_stop(struct lnet *n);  /* waits: NIs and peers go, outstanding messages end */
void lni_net_close(struct lnet *n); /* frees; loops are stopped */
void lni_net_lock(struct lnet *n);  /* configuration: one caller at a time; waits */
void lni_net_unlock(struct lnet *n);

/* driver.c: the registry. 0, -ENOENT no such driver, -EPROTO its table is wrong (why). */
int lni_driver_get(struct lnet *n, uint8_t type, struct lni_driver **drv, char *why, size_t whylen);
int lni_lnd_check(const struct lnet_lnd *l, char *why, size_t whylen);
void lni_drivers_close(struct lnet *n);

/* ni.c. On a loop, or with the lock held. */
struct lni_ni *lni_ni_by_nid(struct lnet *n, const struct lnet_nid *nid);
bool lni_ni_reaches(const struct lni_ni *ni, const struct lnet_nid *nid);
bool lni_nid_is_near(struct lnet *n, const struct lnet_nid *nid);  /* some NI of ours reaches it */
int lni_ni_del_locked(struct lnet *n, const struct lnet_nid *nid); /* with lni_net_lock() */
void lni_ni_event(struct lnet_lnd_ni *d, enum lnet_ni_state st, const char *why);
void lni_ni_free(struct lni_ni *ni);
int lni_tun_index(const struct lnet_lnd *l, const char *name); /* -1: none */
/* 0; -EPERM, -EINVAL with a sentence. */
int lni_tun_check(const struct lnet_tunable *t, int64_t v, char *why, size_t len);
int lni_allow_copy(const struct lnet_cidr *from, unsigned count, struct lnet_cidr **out);
const char *lni_hs_name(enum lnet_hstatus hs);
/* Count a failure or success against the local NI, the peer NI, or nobody (behaviour.md section 5).
 */
void lni_health_note(struct lni_rail *r, enum lnet_hstatus hs);
void lni_health_alive(struct lni_pni *p);
/* No answer came in time: the next hop is to blame, which says little of a peer with one NID. */
void lni_health_silent(struct lni_rail *r);

/* pni.c: peer NIs and rails. */
/* Reference; *out is made when create. -ENOENT, -ENOMEM, -ENOSPC table full, -ESHUTDOWN. Any
 * thread. */
int lni_pni_get(struct lnet *n, const struct lnet_nid *nid, uint32_t pid, bool create,
        struct lni_pni **out);
void lni_pni_put(struct lni_pni *p);
void lni_pni_hold(struct lni_pni *p);
/* The rail from ni to p, made and opened if needed; with a reference. -ENOMEM, -ESHUTDOWN. Any
 * thread. */
int lni_rail_get(struct lni_pni *p, struct lni_ni *ni, struct lni_rail **out);
void lni_rail_hold(struct lni_rail *r);
void lni_rail_put(struct lni_rail *r);
void lni_pni_set_health(struct lni_pni *p, int value, const char *reason, uint64_t now);
/* Close its rails (those of ni; NULL = all). On its home loop. */
void lni_pni_shut(struct lni_pni *p, const struct lni_ni *ni);
void lni_pni_kill(struct lni_pni *p);
/* Up to max of its rails (those to ni; NULL = all), each with a reference. Any thread. */
unsigned lni_pni_rails(
        struct lni_pni *p, const struct lni_ni *ni, struct lni_rail **v, unsigned max);
void lni_pni_clear(struct lni_pni *p, const struct lni_ni *ni); /* its counters; on its loop */
void lni_rail_shut(struct lni_rail *r);
/* Out of the table (lock held), then kill and drop the table's reference on its loop. */
void lni_pni_unhash(struct lni_pni *p);
void lni_pni_post_kill(struct lni_pni *p);
void lni_up_rail_closed(struct lnet_rail *d);
/* fn for each peer NI of the loop. On that loop. */
void lni_pni_each_on(struct lnet *n, struct lnet_loop *l,
        void (*fn)(struct lni_pni *p, const struct lni_ni *ni), const struct lni_ni *ni);

/* peer.c: snapshots. Any thread. */
bool lni_same_peer(struct lnet *n, const struct lnet_nid *a, const struct lnet_nid *b);
struct lnet_nid lni_primary(const struct lni_pni *p); /* on p's loop */
/* A ping reply or a push told us the NIDs of the peer that owns `from`. 0; -EEXIST a NID belongs to
 * a configured or connected peer (*bad); -EINVAL it claims one of ours. */
int lni_peer_learn(struct lnet *n, const struct lnet_nid *from, const struct lnet_nid *nids,
        unsigned nnids, uint32_t features, bool prim_first, struct lnet_nid *bad);
struct lni_peer *lni_peer_single(const struct lnet_nid *nid);
void lni_peer_hold(struct lni_peer *peer);
void lni_peer_put(struct lni_peer *peer);
struct lni_pni *lni_pni_lookup(struct lni_net *net, const struct lnet_nid *nid, uint32_t pid);

/* credit.c: on the rail's loop. */
/* Send: 0 accepted, lnet->up.tx_done follows; 1 finished, it does not; <0 failed, it does not. */
int lni_tx_submit(struct lni_tx *t, struct lni_rail *r);
/* 1 released, tx_done does not follow; 0 it follows within a turn of the loop. */
int lni_tx_cancel(struct lni_tx *t);
/* As many as an NI gives its peers; on the loop. */
void lni_pni_credits(struct lni_pni *p, const struct lni_ni *ni);
void lni_credits_init(struct lni_credits *c, int32_t max);
bool lni_credits_ok(const struct lni_credits *c); /* the conservation law */
void lni_tx_timer(struct lnet_timer *t);

/* The driver's upcalls that concern credits. */
void lni_up_tx_done(struct lnet_tx *tx, int status, enum lnet_hstatus hs, bool sent);
void lni_up_tx_ready(struct lnet_rail *d);

/* upcall.c */
extern const struct lnet_lnd_up lni_lnd_up;
/* Count a message that is thrown away. */
void lni_drop(struct lni_rail *r, const struct lnet_hdr *h);

/* watch.c */
void lni_watch_fire(struct lni_rail *r, enum lnet_peer_event ev, int err);
void lni_watch_close(struct lnet *n);

static inline uint64_t *lni_msg_count(struct lnet_msg_counts *c, uint32_t type)
{
	switch (type) {
	case LNET_MSG_ACK:
		return &c->ack;
	case LNET_MSG_PUT:
		return &c->put;
	case LNET_MSG_GET:
		return &c->get;
	default:
		return &c->reply;
	}
}

static inline struct lni_ni *lni_ni_of(struct lnet_lnd_ni *d)
{
	return (struct lni_ni *)d->core;
}

static inline struct lni_rail *lni_rail_of(struct lnet_rail *r)
{
	return (struct lni_rail *)r->core;
}

static inline struct lni_share *lni_share_of(struct lni_rail *r)
{
	return &r->ni->share[lni_loop_index(r->d.loop)];
}

#endif
