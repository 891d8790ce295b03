/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of one message.
 *
 *   op   an operation of ours: PUT or GET, its memory, its answer (op.c, op_end.c, lost.c)
 *   in   a PUT that arrives for one of our MDs (in.c)
 *   out  a REPLY or an ACK that we owe (out.c)
 *
 * All state of an op belongs to its loop, but for what the table lock guards: the hash chain,
 * `pins`, `closed`, `answered` and the making of `landing`, since a REPLY may come in on another
 * loop. An op ends by op_end(), once; its final event goes out when neither its message nor a
 * landing can touch its memory any more (fences F1 to F6).
 */
#ifndef LNI_MSG_MSG_H
#define LNI_MSG_MSG_H

#include "lnet/ptl/ptl.h"

enum { LNI_TX_OP = 1, LNI_TX_REPLY, LNI_TX_ACK };

/* What rx->core points to. */
enum lni_land_kind { LNI_LAND_OP = 1, LNI_LAND_IN, LNI_LAND_KEEP };
struct lni_land {
	enum lni_land_kind kind;
	struct lnet_rx *rx;
	struct lni_rail *rail; /* of an op: with a reference */
};

struct lni_op {
	struct lni_tx tx;
	struct lnet *n;
	uint64_t id; /* handle and wire cookie */
	struct lnet_loop *loop;
	struct lni_op *hnext, *gather;
	unsigned pins; /* one until the final event was delivered, one for each finder; under the
	                  table lock */
	bool put, want_ack, ev_send;
	bool probe;         /* lost.c's */
	_Atomic bool open;  /* started: an answer may find it */
	struct lni_use use; /* use.md NULL: memory of its own */
	struct iovec *iov, one;
	uint32_t niov;
	uint64_t offset;
	uint32_t length;
	lnet_handler_fn handler;
	void *user;
	struct lnet_nid target, source;
	uint32_t target_pid, portal;
	uint64_t match_bits, roffset, hdr_data, deadline;
	struct lni_rail *rail; /* reference; NULL before start */
	struct lnet_timer timer;
	struct lni_land landing; /* rx != NULL: a payload is on its way to our memory */
	bool answered, closed;   /* under the table lock */
	bool cancelling;         /* the same; cancel is posted */
	bool tx_out, ended, told;
	bool sent;      /* the message left whole */
	bool lost;      /* held by lost.c */
	bool land_over; /* of the landing's loop */
	int land_status;
	enum lnet_hstatus land_hs;
	uint32_t land_len;
	struct lnet_work land_work, cancel_work;
	int status;
	enum lnet_hstatus hs;
	uint32_t mlength, rlength;
	struct lnet_event ev;
	struct lnet_work ev_work, work;
	uint32_t ev_state; /* 0 idle, 1 SEND queued, 2 SEND queued and the final event is due after
	                      it */
};

struct lni_in {
	struct lni_land land;
	struct lni_use use;
	struct lni_hit hit;
	struct lni_rail *rail; /* reference */
	struct lnet_hdr hdr;
	bool recalled; /* its MD was unlinked under it */
	struct lnet_event ev;
	struct lnet_work ev_work;
	struct lni_keep *keep; /* parked, or about to be */
	struct iovec keep_iov;
};

struct lni_out {
	struct lni_tx tx;
	struct lni_use use; /* REPLY */
	struct lni_hit hit;
	struct lni_rail *rail; /* reference */
	struct lnet_hdr hdr;   /* what it answers */
	bool recalled, done;
	struct lnet_event ev;
	struct lnet_work ev_work;
};

#define LNI_OP_BUCKETS 1024u

struct lni_msgs_loop {
	pthread_mutex_t lock;
	struct lni_op *bucket[LNI_OP_BUCKETS];
	_Atomic unsigned nops;
};

struct lni_msgs {
	_Atomic unsigned ins, outs; /* alive */
	struct lni_msgs_loop pl[];
};

int lni_msgs_open(struct lnet *n);
void lni_msgs_stop(struct lnet *n); /* end every op */
bool lni_msgs_idle(void *n);        /* nothing under way */
void lni_msgs_close(struct lnet *n);

/* op.c */
int lni_op_make(struct lnet *n, bool put, const struct lnet_op_args *a, struct lni_op **op);
/* Start it, here or on its loop. <0: it is gone and no event follows. */
int lni_op_go(struct lni_op *op);

/* op_end.c; on op->loop. */
void lni_op_end(struct lni_op *op, int status, enum lnet_hstatus hs);
void lni_op_free(struct lni_op *op);
void lni_op_release_use(struct lni_use *u);
void lni_op_timer(struct lnet_timer *t);
void lni_op_tx_done(struct lni_op *op, int status, enum lnet_hstatus hs);
void lni_op_got(struct lni_op *op, int status, uint32_t nob);
void lni_op_landed(struct lni_op *op, int status, enum lnet_hstatus hs);
void lni_op_cancel_use(struct lni_use *u);

/*
 * lost.c: what waits for an answer of a peer whose connection died (struct lni_up, rail_lost). A
 * rail that goes down may be a peer that restarts: its operations are held for a short while, in
 * which the peer is called again; then they end with -ESTALE, or with -ECONNRESET.
 */
void lni_rail_lost(struct lnet *n, struct lnet_rail *r, int status);
/* The message of this op went down with its connection. false: it is not to be held. */
bool lni_lost_hold(struct lni_op *op);

/* op_table.c */
void lni_op_hash(struct lni_op *op);
void lni_op_unhash(struct lni_op *op);
/* Found by cookie and pinned; answer: only if it was started. Any thread. */
struct lni_op *lni_op_find(struct lnet *n, uint64_t id, bool answer);
/* Once true. Any thread. */
bool lni_op_cancel_first(struct lni_op *op);
void lni_op_pin(struct lni_op *op);
void lni_op_unpin(struct lni_op *op);
/* The one answer of this op comes in, a payload as rx by rail (then with a reference). -EALREADY
 * there was one, -ENOENT the op has ended. Any loop. */
int lni_op_land(struct lni_op *op, struct lnet_rx *rx, struct lni_rail *rail);
/* All ops of a loop that match (rail NULL = all), pinned, linked by ->gather. On that loop. */
struct lni_op *lni_op_gather(struct lnet *n, struct lnet_loop *l, const struct lni_rail *r);

/* answer.c: ACK and REPLY for our ops. */
void lni_ack_in(struct lnet *n, struct lni_rail *r, const struct lnet_hdr *h, struct lnet_rx *rx);
void lni_reply_in(struct lnet *n, struct lni_rail *r, const struct lnet_hdr *h, struct lnet_rx *rx);

/* in.c */
void lni_put_in(struct lnet *n, struct lni_rail *r, const struct lnet_hdr *h, struct lnet_rx *rx);
void lni_in_landed(struct lni_in *in, int status, enum lnet_hstatus hs);
void lni_keep_landed(struct lni_in *in, int status);
/* Is the source of this message the peer whose connection it came by? On the loop. */
bool lni_src_own(const struct lnet *n, const struct lni_rail *r, const struct lnet_hdr *h);
void lni_fill_query(
        struct lnet *n, struct lni_rail *r, const struct lnet_hdr *h, struct lni_query *q);
void lni_fill_target_event(struct lnet_event *ev, enum lnet_event_type t, const struct lni_rail *r,
        const struct lnet_hdr *h, const struct lni_hit *hit);
void lni_msg_drop(
        struct lni_rail *r, const struct lnet_hdr *h, struct lnet_rx *rx, uint64_t *counter);

/* out.c */
void lni_get_in(struct lnet *n, struct lni_rail *r, const struct lnet_hdr *h, struct lnet_rx *rx);
void lni_ack_out(struct lni_rail *r, const struct lnet_hdr *h, uint32_t mlength);
void lni_out_done(struct lni_out *o, int status, enum lnet_hstatus hs);

/* upcalls */
int lni_msg_in(struct lnet *n, struct lnet_rail *d, const struct lnet_hdr *h, struct lnet_rx *rx);
void lni_msg_rx_done(struct lnet *n, struct lnet_rx *rx, int status, enum lnet_hstatus hs);
void lni_msg_tx_done(
        struct lnet *n, struct lnet_tx *tx, int status, enum lnet_hstatus hs, bool sent);
void lni_msg_get_done(struct lnet *n, struct lnet_tx *tx, int status, uint32_t nob);

static inline void lni_lat_add(struct lnet_lat *l, uint64_t ns)
{
	if (l->samples == 0 || ns < l->min)
		l->min = ns;
	if (ns > l->max)
		l->max = ns;
	l->sum += ns;
	l->samples++;
}

#endif
