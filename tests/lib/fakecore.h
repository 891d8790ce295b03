/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A core for tests of drivers: nodes with one NI each, on real loops, that record every upcall and
 * check the contract of <lnet/lnd.h>: no upcall inside an entry, each on its loop, exactly one
 * completion for every accepted operation, no byte outside of the memory that was offered.
 *
 * What breaks the contract is recorded (fc_fail) and read with fc_faults(). Functions marked [loop]
 * are called with the token of the rail's loop held (fc_do()); all others by the test's thread,
 * which may hold it (fc_pause()).
 *
 * A message carries its identity: PUT in match_bits, GET in match_bits, REPLY in dst_wmd.object,
 * ACK in match_bits. The payload is the pattern of that number (tl_fill).
 */
#ifndef TEST_FAKECORE_H
#define TEST_FAKECORE_H

#include <pthread.h>
#include <stdatomic.h>

#include <lnet/lnd.h>

#include "lib/prng.h"
#include "lib/tlib.h"
#include "lnet/rt/loop.h"

#define FC_MAX_LOOPS 4u

struct fc_node;
struct fc_rail;
struct fc_tx;
struct fc_rx;

/* Scattered memory with guards around each piece. */
struct fc_mem {
	uint8_t *arena;
	size_t size;
	struct iovec *iov;
	uint32_t niov;
	size_t skip, len; /* the part in use: len bytes at skip bytes into iov */
	struct lnet_mr *mr;
	struct fc_node *node;
	struct fc_mem *next; /* old ones, watched for late writes */
	uint64_t sum;
};
/* access: LNET_MD_OP_* for drivers with LNET_LND_REG. npieces >= 1. NULL: no memory. */
struct fc_mem *fc_mem_new(struct fc_node *n, size_t len, uint32_t npieces, uint32_t access);
void fc_mem_free(struct fc_mem *m);
/* Every byte outside of the first `used` bytes of the part is untouched. */
bool fc_mem_clean(const struct fc_mem *m, size_t used);

struct fc_conf {
	const struct lnet_lnd *lnd;
	void *drv;       /* lnet_lnd_node.drv before open() */
	unsigned nloops; /* 1..FC_MAX_LOOPS */
	bool threads;    /* loops have their own threads */
	uint32_t pid;    /* 0: LNET_PID_LUSTRE */
	bool client;
	uint64_t incarnation;
	uint64_t seed;
};

struct fc_tun {
	const char *name;
	int64_t value;
};

struct fc_rail {
	struct lnet_rail d;
	struct fc_node *node;
	struct fc_rail *next;
	_Atomic int refs; /* the driver's */
	bool opened;
	_Atomic bool closing, closed;
	bool ready_due;                  /* send() said -EAGAIN */
	struct fc_tx *pend, **pend_tail; /* answers that wait for room */
	_Atomic unsigned ups, downs, restarts, fails, readies, conn_errs;
	_Atomic int last_err;
	_Atomic unsigned rx_msgs;
	_Atomic int open; /* accepted and not completed: tx, receives in progress, fences */
	uint64_t last_id; /* of the last message that arrived here, for order */
	_Atomic unsigned disorder;
};

struct fc_tx {
	struct lnet_tx d;
	struct fc_rail *rail;
	struct fc_tx *next, **pprev;
	struct fc_tx *pnext;
	struct fc_rx *for_rx; /* an optimised GET that it answers */
	uint64_t id;
	struct fc_mem *mem; /* payload, or sink of a GET */
	bool accepted, done, freed_when_over;
	_Atomic bool over; /* done; a GET: and answered */
	int status;
	enum lnet_hstatus hs;
	bool sent;
	bool got; /* get_done() came */
	int get_status;
	uint32_t get_nob;
	bool answered; /* a REPLY or ACK message arrived */
	uint64_t done_at;
};

enum fc_rx_state { FC_RX_NEW, FC_RX_HELD, FC_RX_ACTIVE, FC_RX_OVER };
struct fc_rx {
	struct lnet_rx *d; /* NULL once it is over */
	struct fc_rail *rail;
	struct fc_rx *next;
	struct lnet_hdr h;
	uint64_t id;
	struct fc_mem *mem;
	struct fc_tx *op; /* REPLY: the GET */
	uint32_t mlen;
	uint32_t pieces;
	enum fc_rx_state state;
	bool redirected, discarded;
	int status; /* of rx_done(), 0 for an immediate end */
};

enum fc_act {
	FC_RECV, /* rx->mlen bytes into rx->pieces pieces (preset: all, a random number) */
	FC_DISCARD,
	FC_HOLD,    /* decide later */
	FC_REFUSE,  /* -EPROTO */
	FC_ANSWER,  /* GET: send the REPLY (preset for GET) */
	FC_DECIDED, /* on_parse() has called fc_recv_here() or fc_discard_here() */
};

struct fc_ni {
	struct lnet_lnd_ni d;
	bool started, stopping;
	_Atomic bool stopped;
	_Atomic int state; /* enum lnet_ni_state */
	char why[96];
};

struct fc_node {
	struct lnet_lnd_node d;
	struct fc_ni ni;
	char ifname[16]; /* of the NI to start; "": the one that owns its NID */
	struct lnet_loop *loops[FC_MAX_LOOPS];
	int in_entry[FC_MAX_LOOPS]; /* each its loop's */
	unsigned nloops;
	bool threads, opened, paused;
	struct prng rnd;
	const char *name;

	/* what the test wants; set while nothing runs, called [loop] */
	enum fc_act (*on_parse)(struct fc_node *n, struct fc_rx *rx);
	void (*on_rx_done)(struct fc_node *n, struct fc_rx *rx);
	void (*on_tx_done)(struct fc_node *n, struct fc_tx *tx);
	void (*on_ready)(struct fc_node *n, struct fc_rail *r);
	void (*on_event)(struct fc_node *n, struct fc_rail *r, enum lnet_rail_event ev, int err);
	bool (*owns)(struct fc_node *n, const struct lnet_nid *nid, const struct lnet_nid *addr);
	int refuse_peers; /* what rail_get() returns, 0 = a rail */
	void *user;
	uint32_t answer_max; /* bytes of a REPLY at most; default all that was asked for */

	pthread_mutex_t lock; /* lists */
	pthread_mutex_t fault_lock;
	struct fc_rail *rails;
	struct fc_tx *txs;
	struct fc_rx *rxs;
	struct fc_mem *old; /* watched */
	size_t old_bytes;
	uint64_t *seen; /* ids that were delivered here, unsorted */
	size_t nseen, seen_room;
	bool allow_twice; /* the case repeats messages */
	unsigned nfaults;
	char fault[512];

	/* accounting */
	_Atomic unsigned tx_accepted, tx_done, tx_ok, tx_failed, tx_again, tx_refused;
	_Atomic unsigned rx_parsed, rx_decided, rx_refused, rx_async, rx_done, rx_ok, rx_failed;
	_Atomic unsigned rx_nomem, rx_late;
	_Atomic uint64_t rx_bytes;
	_Atomic unsigned gets_done, answers, fences, fences_done, rails_closed;
	_Atomic unsigned logs[LNET_LOG_TRACE + 1];
	char last_log[256];
};

/* ---- nodes ---------------------------------------------------------------------------------- */

/* 0 or the driver's error. */
int fc_node_new(const struct fc_conf *c, struct fc_node **out);
/* Rails and the NI are closed. The driver is closed, and the loops' threads end; their memory
 * stays, for threads of other nodes that may be on their way out of lnet_loop_post(). */
void fc_node_end(struct fc_node *n);
/* The rest; and fc_node_end() where it was not called. */
void fc_node_free(struct fc_node *n);
/* Tunables not named have their default. 0 or the driver's error. */
int fc_ni_start(
        struct fc_node *n, const struct lnet_nid *nid, const struct fc_tun *tun, unsigned ntun);
void fc_ni_stop(struct fc_node *n); /* n->ni.stopped says when */
uint64_t *fc_stat(struct fc_node *n, const char *name);
int64_t fc_tunable(const struct fc_node *n, const char *name);
int fc_set_tunable(struct fc_node *n, const char *name, int64_t v); /* with ni_changed() */
/* Run fn on the loop and wait. */
int fc_do(struct lnet_loop *l, int (*fn)(void *arg), void *arg);
/* Poll mode: one turn of each loop; events. */
int fc_node_turn(struct fc_node *n);
/* Poll mode: this thread keeps the tokens, so that nothing moves. */
void fc_pause(struct fc_node *n);
void fc_resume(struct fc_node *n);

void fc_fail(struct fc_node *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Number of faults; *text is the first one. */
unsigned fc_faults(struct fc_node *n, const char **text);
/* The laws of accounting: what must hold when all is closed. */
void fc_check_over(struct fc_node *n);

/* ---- rails ---------------------------------------------------------------------------------- */

/* Makes and opens it if it is not there. NULL: rail_open() failed (*rc). */
struct fc_rail *fc_rail(struct fc_node *n, const struct lnet_nid *nid, uint32_t pid, int *rc);
struct fc_rail *fc_rail_find(struct fc_node *n, const struct lnet_nid *nid);
void fc_rail_close(struct fc_rail *r); /* r->closed says when; freed with the node */
void fc_query(struct fc_rail *r, struct lnet_rail_info *info);
/* Lines joined by '\n'; free() it. */
char *fc_dump(struct fc_rail *r, unsigned *lines);

/* ---- messages ------------------------------------------------------------------------------- */

/* Made, not sent. deadline_ns from now. NULL: no memory. The node frees it. */
struct fc_tx *fc_put(
        struct fc_rail *r, uint64_t id, uint32_t len, uint32_t pieces, uint64_t deadline_ns);
struct fc_tx *fc_get(
        struct fc_rail *r, uint64_t id, uint32_t len, uint32_t pieces, uint64_t deadline_ns);
struct fc_tx *fc_ack(struct fc_rail *r, uint64_t id, uint64_t deadline_ns);
/* Ask for an ACK, which the other fake core sends when it has the payload. */
void fc_want_ack(struct fc_tx *tx);
/* The driver's return value. */
int fc_send(struct fc_tx *tx);      /* on its loop, from anywhere */
int fc_send_here(struct fc_tx *tx); /* [loop] */
int fc_cancel(struct fc_tx *tx);
int fc_cancel_here(struct fc_tx *tx);                 /* [loop] */
int fc_send_cancel(struct fc_tx *tx, int *cancelled); /* both in one hold of the token */
/* After it is over, or was never accepted. */
void fc_tx_free(struct fc_tx *tx);

/* Decide about a held rx. The driver's return value. */
int fc_recv(struct fc_rx *rx);
int fc_recv_here(struct fc_rx *rx); /* [loop] */
int fc_discard(struct fc_rx *rx);
int fc_discard_here(struct fc_rx *rx); /* [loop] */
int fc_redirect(struct fc_rx *rx);     /* 1: and the memory must not change any more */
int fc_redirect_here(struct fc_rx *rx);
/* [loop] GET: send the REPLY (for one with want_reply, it ends the rx); PUT: send the ACK. */
void fc_answer(struct fc_rx *rx);
/* Discard everything that is held. */
void fc_discard_held(struct fc_node *n);
struct fc_rx *fc_rx_find(struct fc_node *n, uint64_t id);
/* Free the records of receives that are over. Poll mode. */
void fc_forget_over(struct fc_node *n);
unsigned fc_rx_in_state(struct fc_node *n, enum fc_rx_state s);

struct fc_fence {
	struct lnet_fence d;
	struct fc_node *node;
	_Atomic bool done;
};
int fc_fence(struct fc_rail *r, struct fc_fence *f, uint64_t deadline_ns);

/* Times that id was delivered here. */
unsigned fc_seen(struct fc_node *n, uint64_t id);

extern const struct lnet_lnd_up fc_up;

#endif
