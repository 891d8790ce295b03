/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside the loopback driver: lo.c objects and the table, lo_tx.c sending, lo_rx.c receiving,
 * lo_conn.c the fabric and its connections, lo_mem.c memory.
 *
 * Everything of a rail belongs to its loop and is moved on by lo_rail_run() alone: entries queue
 * and kick. What two ends share (connections, the list of NIs) is under the fabric's lock.
 */
#ifndef LNI_NET_LO_INT_H
#define LNI_NET_LO_INT_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <lnet/lnet.h>

#include "lnet/net/lo.h"

#define LO_STEP      65536u   /* bytes that fake RDMA moves in one turn */
#define LO_BATCH     64u      /* messages that one run handles */
#define LO_WIN_MSGS  16u      /* a connection holds this much in each direction, */
#define LO_WIN_BYTES 1048576u /* or one message */
#define LO_RETRY_NS  1000000u /* after a lost race */

enum lo_tunable { LO_T_TX_DEPTH, LO_T_RDMA_MIN, LO_T_RDMA_DEPTH };
enum lo_stat {
	LO_S_TX_MSGS,
	LO_S_TX_BYTES,
	LO_S_TX_FAILED,
	LO_S_RX_MSGS,
	LO_S_RX_BYTES,
	LO_S_RX_DISCARDED,
	LO_S_RX_FAILED,
	LO_S_RX_REFUSED,
	LO_S_CONNECTS,
	LO_S_CONNECT_FAILED,
	LO_S_ACCEPTS,
	LO_S_LATE,
	LO_S_PROTO,
	LO_S_COUNT
};

struct lo_rail;
struct lo_conn;

enum lo_tx_state {
	LO_TX_NONE,
	LO_TX_WAIT,  /* txq: nobody has seen it */
	LO_TX_REPLY, /* replies: answers an optimised GET */
	LO_TX_RX,    /* reading: an rx on this rail reads its memory */
	LO_TX_GET,   /* gets: optimised, its answer is due */
	LO_TX_DONE,  /* doneq */
};

/* Lives in lnet_tx.drv. */
struct lo_tx {
	TAILQ_ENTRY(lo_tx) link;
	uint64_t seq;
	struct lo_rx *rx; /* RX, GET on the same rail: the other side of it */
	uint64_t get_id;
	int32_t status, get_status;
	uint32_t get_nob;
	uint8_t state, hs;
	bool sent, get_due;
};
TAILQ_HEAD(lo_txq, lo_tx);
_Static_assert(sizeof(struct lo_tx) <= sizeof(((struct lnet_tx *)0)->drv), "lo_tx is too large");

enum lo_rx_state {
	LO_RX_HELD,   /* the core has not decided, or keeps it for the REPLY */
	LO_RX_ACTIVE, /* recv() returned 0 */
};

struct lo_rx {
	struct lnet_rx rx;
	TAILQ_ENTRY(lo_rx) link;
	struct lo_rail *r;
	struct lo_tx *tx;   /* the payload is still in the sender's memory */
	struct lo_msg *msg; /* or here */
	struct lnet_dst dst;
	uint32_t type, len, moved;
	uint64_t seq, get_id;
	uint8_t state;
	bool redirected;
	bool finished; /* HELD, inside parse(): recv() or discard() has been called */
	int err;       /* how it must end */
};
TAILQ_HEAD(lo_rxq, lo_rx);

enum lo_msg_kind { LO_MSG_LNET, LO_MSG_GET, LO_MSG_GET_DONE };

/* A message inside a connection. */
struct lo_msg {
	TAILQ_ENTRY(lo_msg) link;
	struct lnet_hdr hdr;
	uint64_t get_id;
	int32_t status;
	uint8_t kind;
	uint32_t len;
	uint8_t data[];
};
TAILQ_HEAD(lo_msgq, lo_msg);

struct lo_fence {
	TAILQ_ENTRY(lo_fence) link;
	uint64_t seq;
	struct lnet_fence *f;
};
TAILQ_HEAD(lo_fenceq, lo_fence);
_Static_assert(sizeof(struct lo_fence) <= sizeof(((struct lnet_fence *)0)->drv), "lo_fence");

struct lo_node {
	struct lnet_lnd_node *node;
	struct lni_lo_fabric *fabric;
	bool rdma;
};

/* Works to post once no lock is held: posting to a loop that nobody holds runs it at once. A rail
 * or NI that is marked cannot end before its work has run. */
struct lo_kick {
	struct lo_kick *next;
	struct lnet_work *work;
	struct lnet_loop *loop;
	_Atomic bool posted;
};

struct lo_ni {
	struct lnet_lnd_ni *ni;
	struct lo_node *node;
	pthread_mutex_t lock; /* rails, stopped, refs */
	TAILQ_HEAD(, lo_rail) rails;
	unsigned refs; /* the NI and its rails */
	_Atomic bool stopping;
	struct lo_kick kick;
	bool stopped;
	struct lnet_work work;
	/* under the fabric's lock */
	TAILQ_ENTRY(lo_ni) flink;
	bool listed;
	struct lnet_nid nid;
	TAILQ_HEAD(, lo_conn) asks; /* connections to be accepted */
};

struct lo_rail {
	struct lnet_rail *rail;
	struct lo_ni *ni;
	TAILQ_ENTRY(lo_rail) link;
	struct lnet_work work;
	struct lnet_timer timer;
	struct lo_kick kick;
	bool local, closing, want_ready, was_up;
	bool quiet; /* under ni->lock: nothing left, NI stopping */
	uint64_t seq, next_get;
	unsigned ntx, ngets, nactive;
	uint64_t tx_bytes;
	struct lo_txq txq, replies, reading, gets, doneq;
	struct lo_rxq held, active;
	struct lo_rx *cur; /* stops the stream */
	struct lo_fenceq fences;
	/* connection */
	struct lo_conn *conn; /* the one in use or being made */
	int side;             /* ours of conn */
	bool up, silent, got_ref;
	uint64_t retry_at;
	uint64_t peer_inc, last_alive;
	int last_errno;
	bool detached;
	bool step;                     /* fake RDMA moves on */
	TAILQ_HEAD(, lo_conn) accepts; /* under the fabric's lock, with the next */
	bool fabric_off;
};

static inline struct lo_tx *lo_tx_of(struct lnet_tx *tx)
{
	return (struct lo_tx *)(void *)tx->drv;
}

static inline struct lnet_tx *lo_tx_pub(struct lo_tx *t)
{
	return (struct lnet_tx *)(void *)((char *)t - offsetof(struct lnet_tx, drv));
}

static inline const struct lnet_lnd_up *lo_up(const struct lo_rail *r)
{
	return r->ni->node->node->up;
}

static inline void lo_count(struct lo_rail *r, enum lo_stat s, uint64_t n)
{
	lnet_stat_add(&r->rail->ni->stats[s], n);
}

static inline bool lo_stopping(const struct lo_rail *r)
{
	return r->closing || atomic_load(&r->ni->stopping);
}

static inline int64_t lo_tun(const struct lo_rail *r, enum lo_tunable t)
{
	return __atomic_load_n(&r->rail->ni->tunables[t], __ATOMIC_RELAXED);
}

static inline void lo_kick_init(struct lo_kick *k, struct lnet_work *w, struct lnet_loop *l)
{
	k->work = w;
	k->loop = l;
	atomic_init(&k->posted, false);
}

static inline void lo_mark(struct lo_kick **list, struct lo_kick *k)
{
	if (atomic_exchange(&k->posted, true))
		return;
	k->next = *list;
	*list = k;
}

static inline void lo_fire(struct lo_kick *k)
{
	while (k) {
		struct lo_kick *next = k->next;

		lnet_loop_post(k->loop, k->work);
		k = next;
	}
}

/* On its own loop. */
static inline void lo_rail_kick(struct lo_rail *r)
{
	if (!atomic_exchange(&r->kick.posted, true))
		lnet_loop_post(r->kick.loop, &r->work);
}

/* lo.c */
/* Everything outstanding on the rail ends with err; receives in progress too. */
void lo_rail_abort(struct lo_rail *r, int err, enum lnet_hstatus hs);
int lo_query(struct lnet_rail *rail, struct lnet_rail_info *info);
void lo_dump(struct lnet_rail *rail, void (*line)(void *arg, const char *text), void *arg);

/* lo_tx.c */
int lo_send(struct lnet_rail *rail, struct lnet_tx *tx);
int lo_cancel(struct lnet_rail *rail, struct lnet_tx *tx);
int lo_fence(struct lnet_rail *rail, struct lnet_fence *f);
void lo_tx_finish(struct lo_rail *r, struct lo_tx *t, int status, enum lnet_hstatus hs, bool sent);
struct lo_tx *lo_tx_take(struct lo_rail *r); /* the next one to leave; NULL none */
void lo_tx_transmit(struct lo_rail *r);      /* to the connection */
void lo_tx_replies(struct lo_rail *r);
void lo_tx_expire(struct lo_rail *r, uint64_t now);
void lo_tx_dones(struct lo_rail *r);
void lo_tx_fences(struct lo_rail *r, uint64_t now);
uint64_t lo_tx_next_deadline(const struct lo_rail *r);
/* The answer of an optimised GET. data may be NULL with status < 0. */
void lo_get_answer(struct lo_rail *r, uint64_t id, int status, const struct lo_msg *m);

/* lo_rx.c */
int lo_recv(struct lnet_rx *rx, const struct lnet_dst *dst);
int lo_discard(struct lnet_rx *rx);
int lo_redirect(struct lnet_rx *rx);
void lo_rx_deliver(struct lo_rail *r); /* parse() what has come */
void lo_rx_move(struct lo_rail *r);    /* a step of each receive in progress */
/* The sender wants its memory back: go on from a copy, or fail. */
void lo_rx_detach(struct lo_rx *rx);
void lo_rx_free(struct lo_rx *rx);
/* An optimised GET will get no data. */
void lo_rx_refuse_get(struct lo_rx *rx, int status);

/* lo_conn.c */
void lo_conn_events(struct lo_rail *r, uint64_t now);
void lo_conn_want(struct lo_rail *r, uint64_t now); /* connect, if nothing stands */
void lo_conn_drop(struct lo_rail *r, int err);
bool lo_conn_room(struct lo_rail *r, uint32_t len);
void lo_conn_put(struct lo_rail *r, struct lo_msg *m);
struct lo_msg *lo_conn_get(struct lo_rail *r);
void lo_conn_detach_rail(struct lo_rail *r); /* no kick by the fabric after it */
void lo_conn_forget_rail(struct lo_rail *r);
void lo_ni_accept(struct lo_ni *n);
int lo_ni_list(struct lo_ni *n);
void lo_ni_unlist(struct lo_ni *n);

/* lo_mem.c */
int lo_mem_reg(struct lnet_lnd_node *n, const struct iovec *iov, uint32_t niov, uint32_t access,
        struct lnet_mr **mr);
void lo_mem_dereg(struct lnet_lnd_node *n, struct lnet_mr *mr);
/* 0; -EINVAL no handle, or a part is outside of it; -EACCES. access 0: any. */
int lo_mem_check(const struct lnet_mr *mr, const struct iovec *iov, uint32_t niov, size_t offset,
        size_t len, uint32_t access);
bool lo_iov_holds(const struct iovec *iov, uint32_t niov, size_t offset, size_t len);
void lo_iov_read(uint8_t *to, const struct iovec *iov, uint32_t niov, size_t offset, size_t len);
void lo_iov_write(
        const struct iovec *iov, uint32_t niov, size_t offset, const uint8_t *from, size_t len);
void lo_iov_copy(const struct iovec *to, uint32_t nto, size_t to_off, const struct iovec *from,
        uint32_t nfrom, size_t from_off, size_t len);

#endif
