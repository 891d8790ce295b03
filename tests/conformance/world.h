/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A few nodes of one driver in one process, and what can happen to them. A case gets a fresh world
 * with no node started; what it leaves running is stopped and accounted for at its end.
 */
#ifndef CONFORMANCE_WORLD_H
#define CONFORMANCE_WORLD_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lnet/lnet.h>

#include "lib/fakecore.h"

#define W_NODES 4u
#define W_LONG  (20 * TL_S) /* a deadline that is not meant to pass */

struct world;

/* What a driver has beside its capabilities. */
enum {
	CF_STREAMS = 1u, /* payload comes in pieces, a sender stops when its peer does not read */
	CF_SOCKETS = 2u, /* raw peers are possible */
	CF_LOCAL = 4u,   /* a rail to the node's own NID */
};

/* What the suite must know of a driver beyond its table. */
struct cf_driver {
	const char *name;
	const struct lnet_lnd *lnd;
	uint32_t has; /* CF_* */
	int (*begin)(struct world *w);
	void (*end)(struct world *w);
	void *(*drv)(struct world *w); /* lnet_lnd_node.drv before open() */
	struct lnet_nid (*nid)(struct world *w, unsigned i);
	/* Fills in up to max tunables of node i; their number. */
	unsigned (*tunables)(struct world *w, unsigned i, struct fc_tun *t, unsigned max);
	/* All connections of node i break, noticed at both ends. */
	void (*cut)(struct world *w, unsigned i);
	/* Somebody at the NID of node i, which is not started, neither accepts nor refuses. */
	void (*silent)(struct world *w, unsigned i, bool on);
	/* The connections of node i end without a word to the other side; false: cannot be done on
	 * this machine (w->why). The node is to be stopped next. */
	bool (*vanish)(struct world *w, unsigned i);
};
extern const struct cf_driver cf_drivers[];
extern const unsigned cf_ndrivers;

struct world {
	const struct cf_driver *drv;
	struct fc_node *n[W_NODES];
	struct fc_node *dead[64]; /* with threads: freed when all threads have ended */
	unsigned ndead;
	struct lnet_nid nid[W_NODES];
	struct tl_pump pump;
	struct lni_lo_fabric *fabric;
	int port;
	int silent_fd[W_NODES];
	bool threads;
	unsigned nloops;
	unsigned conns[W_NODES]; /* conns_per_peer */
	struct fc_tun extra[8];
	unsigned nextra;
	uint64_t seed;
	struct prng rnd;
	uint64_t next_incarnation;
	_Atomic uint64_t next_id;
	unsigned fds; /* open before the case */
	const char *why;
};

int w_setup(void **state);
int w_teardown(void **state);

struct fc_node *w_start(struct world *w, unsigned i);
int w_try_start(struct world *w, unsigned i);
/* Stop it, check its accounts, free it. */
void w_stop(struct world *w, unsigned i);
/* The same in two steps. */
void w_begin_stop(struct world *w, unsigned i, bool rails_first);
void w_end_stop(struct world *w, unsigned i);
struct fc_rail *w_rail(struct world *w, unsigned from, unsigned to);
uint64_t w_id(struct world *w);
uint32_t w_caps(const struct world *w);
/* No node has recorded a fault. */
void w_no_faults(struct world *w);

#define W_UNTIL(w, expr)                                        \
	do {                                                    \
		if (!TL_UNTIL(&(w)->pump, (expr), 10 * TL_S)) { \
			w_no_faults(w);                         \
			w_dump(w);                              \
			fail_msg("not within 10 s: %s", #expr); \
		}                                               \
	} while (0)
void w_dump(struct world *w);

/* Send until the driver accepts it: after a failed connect, a driver may refuse for a while. */
int w_send(struct world *w, struct fc_tx *tx);
/* A PUT from a node to another that arrives; and that both ends are idle after it. */
void w_put_ok(struct world *w, unsigned from, unsigned to, uint32_t len, uint32_t pieces);
/* After a connection broke: the first messages may pay for finding out (they end with an error, or
 * are lost in the old connection); soon one arrives. */
void w_put_again(struct world *w, unsigned from, unsigned to, uint32_t len);
void w_get_ok(struct world *w, unsigned from, unsigned to, uint32_t len, uint32_t pieces);
/* Two nodes that are connected. */
void w_pair(struct world *w);
/* Small socket buffers, where there are sockets: a peer that does not read is felt early. */
void w_small_buffers(struct world *w);
/* Turns of one node alone. */
void w_turn_only(struct world *w, unsigned i, unsigned turns);
/* Everything that was accepted has ended, on all nodes. */
bool w_idle(struct world *w);
/* A message that must not be forgotten: sent now, any way it likes to end. */
struct fc_tx *w_put(struct world *w, struct fc_rail *r, uint32_t len, uint64_t deadline_ns);
/* PUTs until send() says -EAGAIN (true), at most max. */
bool w_fill(struct world *w, struct fc_rail *r, uint32_t len, unsigned max, uint64_t deadline_ns,
        unsigned *sent);

struct cf_case {
	const char *name;
	void (*fn)(void **state);
	uint32_t caps;  /* LNET_LND_*: all of these needed */
	uint32_t needs; /* CF_*: the same */
};
#define CF_CASES(table)                      \
	extern const struct cf_case table[]; \
	extern const unsigned table##_count;

CF_CASES(cf_basic)
CF_CASES(cf_receive)
CF_CASES(cf_send)
CF_CASES(cf_connect)
CF_CASES(cf_stop)
CF_CASES(cf_rdma)
CF_CASES(cf_soak)
CF_CASES(cf_local)
CF_CASES(cf_tcp)

#endif
