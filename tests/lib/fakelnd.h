/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A driver that does what the test says: the other half of fakecore.h. Messages that the core sends
 * stop here and are looked at, ended or failed by the test; messages "arrive" when the test says
 * so.
 *
 * The node is in poll mode. What is marked [loop] needs the token of the rail's loop (fl_hold());
 * handlers then run in the next turn. fl_turns() runs until nothing happens any more.
 */
#ifndef TEST_FAKELND_H
#define TEST_FAKELND_H

#include <lnet/lnet.h>

#include "lib/tlib.h"
#include "lnet/net/net.h"

#define FL_MAX_TX    4096u
#define FL_MAX_RAILS 1024u
#define FL_AGAIN     (-11)

enum fl_tun { FL_T_DEPTH, FL_T_PORT, FL_T_FIXED, FL_T_RO, FL_T_COUNT };

struct fl_rx {
	struct lnet_rx rx;
	struct lnet_hdr h;
	const uint8_t *payload;
	struct lnet_dst dst;
	struct iovec iov[LNET_MAX_IOV]; /* a copy: the core may not rely on its own lasting */
	bool receiving, over, discarded, redirected;
	int parsed; /* what parse() said */
};

struct fl {
	struct lnet_lnd lnd; /* first: entries get from it to us */
	struct lnet_tunable tun[FL_T_COUNT];
	struct lnet_stat_desc stat;
	/* what to answer; changed by the test at will */
	int open_rc, start_rc, rail_rc, cancel_rc, recv_rc, redirect_rc;
	int send_rc;           /* when the script is over */
	const int *script;     /* of send() */
	unsigned nscript, at;  /* at: entries used */
	bool recv_later;       /* recv() returns 0: fl_landed() ends it */
	bool quiet_close;      /* rails close when fl_close_rails() says so */
	unsigned accept_early; /* ni_start() makes that many rails at once */
	/* what was seen */
	struct lnet_tx *tx[FL_MAX_TX]; /* accepted and not ended, in order */
	unsigned ntx;
	unsigned sends, cancels, discards, recvs, redirects, changes, opens, closes;
	struct lnet_rail *rail[FL_MAX_RAILS];
	unsigned nrails;
	struct lnet_lnd_ni *ni[LNI_MAX_NIS];
	unsigned nnis;
	struct lnet_rail *closing[FL_MAX_RAILS];
	unsigned nclosing;
	struct lnet_lnd_ni *stopping[LNI_MAX_NIS];
	unsigned nstopping;
	struct fl_rx *rxs[64]; /* receiving */
	unsigned nrxs;
	struct lnet_work work;
	struct lnet_loop *loop;
	bool posted;
	pthread_mutex_t lock;
	const char *broken; /* the core did what it must not */
};

void fl_init(struct fl *f);
void fl_fini(struct fl *f);

/* A node with this driver for tcp networks. loops 1 unless o says otherwise. */
struct lnet *fl_node(struct fl *f, const struct lnet_opts *o);
struct lnet_nid fl_nid(const char *text);
/* Adds an NI; the options may be NULL. */
void fl_ni(struct lnet *n, const char *nid, const struct lnet_ni_conf *c);
unsigned fl_turns(struct lnet *n);
void fl_hold(struct lnet *n); /* all loops */
void fl_drop(struct lnet *n);

/* The rail of a peer that connects, or that exists; with the driver's reference once. [any] */
struct lnet_rail *fl_rail(struct fl *f, const char *nid, uint32_t pid);
void fl_event(struct lnet *n, struct lnet_rail *r, enum lnet_rail_event ev, int err);

/* The i-th message that is with the driver; fails the test when there is none. */
struct lnet_tx *fl_tx(struct fl *f, unsigned i);
/* It ends. Takes the token. */
void fl_done(struct lnet *n, struct fl *f, struct lnet_tx *tx, int status, enum lnet_hstatus hs);
void fl_all_done(struct lnet *n, struct fl *f);
void fl_ready(struct lnet *n, struct lnet_rail *r);

/* A message arrives on r. payload must last until rx->over. Takes the token. */
int fl_parse(struct lnet *n, struct lnet_rail *r, const struct lnet_hdr *h, const void *payload,
        struct fl_rx *rx);
/* The payload of an rx that is being received is complete, or broke off. */
void fl_landed(struct lnet *n, struct fl *f, struct fl_rx *rx, int status);
/* Headers as the peer of r would send them. */
struct lnet_hdr fl_put_hdr(struct lnet_rail *r, uint32_t portal, uint64_t bits, uint32_t len);
struct lnet_hdr fl_get_hdr(struct lnet_rail *r, uint32_t portal, uint64_t bits, uint32_t len);
/* The answer to what we sent. */
struct lnet_hdr fl_answer_hdr(const struct lnet_tx *tx, uint32_t len);

/* Counter of lnet_stats_each(). */
uint64_t fl_stat(struct lnet *n, const char *name);
/* The conservation law, of every peer NI and share of the node. */
bool fl_credits_ok(struct lnet *n);

#endif
