/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contract between the core and a driver (LND). A driver includes <lnet/lnd.h>, <lnet/hdr.h>
 * and <lnet/nid.h>, and nothing else of ulnet. tests/conformance/ checks what is written here.
 *
 * OBJECTS
 *   node   struct lnet_lnd_node   one driver instance in one node (open .. close)
 *   NI     struct lnet_lnd_ni     one local interface on one network (ni_start .. ni_stopped)
 *   rail   struct lnet_rail       one NI towards one peer NI (nid, pid); the core makes and frees
 * it tx     struct lnet_tx         one message to send; owned by the driver from send() == 0 to
 * tx_done() rx     struct lnet_rx         one message that arrives; made by the driver, handed over
 * by parse()
 *
 * THREADS
 *   A loop is run by whoever holds its token; "on the loop" means: by that thread, now. Every entry
 *   that takes a rail, a tx or an rx is called on rail->loop. Entries that take an NI are called on
 *   ni->loop (the NI's home loop). open() and close() are called by the thread that opens or closes
 *   the node. Upcalls are made on the same loops. A driver with work for another loop posts it
 * there with lnet_loop_post().
 *
 * RETURN VALUES of send, recv, discard, redirect, cancel, fence
 *    1        finished; no upcall follows
 *    0        accepted; exactly one completion upcall follows
 *   -EAGAIN   untouched; tx_ready(rail) follows once there is room (send alone)
 *   other <0  untouched; failed; no upcall follows
 *   No entry blocks. No entry makes an upcall before it returns; an upcall may call every entry,
 * and entries called inside an upcall obey the same rule (they queue, at most).
 *
 * RECEIVING
 *   parse(rail, hdr, rx) hands over one decoded header whose payload (hdr->payload_length bytes) is
 *   yet to come. Before parse returns, or later on the same loop, the core calls exactly one of
 *   recv(rx, dst) or discard(rx) for each rx that parse did not refuse. Until it does, the driver
 *   must not read on in that stream (other connections go on); it keeps the rx valid. parse returns
 *   0, or -EPROTO: the sender broke the protocol, the connection is to be closed, and the rx is
 * dead. recv() copies dst->mlen bytes to dst and throws the rest of the payload away. It returns 1
 * when everything was there already, else 0 and rx_done() follows when the whole payload was
 * consumed or the connection died. The iovec array and the memory stay valid until then. When
 * recv() fails (< 0), the rx is as before and the core calls discard() for it. redirect(rx) points
 * a receive in progress at nothing: when it returns 1, or rx_done() has come, no byte of this
 * message can reach dst any more, and rx_done() still comes exactly once if recv returned 0. A
 * driver sends what its protocol owes for a payload (a ZC-ACK, say) also when it was discarded.
 *
 * SENDING
 *   send(rail, tx) takes the message over. The payload is tx->len bytes at tx->offset of tx->iov;
 *   the memory and the array stay valid until tx_done(). The driver connects by itself. tx_done()
 *   comes when the payload memory is the caller's again, or with the error that ended it: the
 * driver keeps tx->deadline (monotonic ns) in each of its own queues, connecting included.
 * cancel(rail, tx) ends a message early: 1 = untouched by the wire and released, 0 = tx_done()
 * follows soon, bounded by one turn of the loop, never by the network (a partly written message is
 * finished from a copy, or its connection is closed). Order is kept among messages of one rail that
 * go by the same connection, and by no more. With LNET_LND_OPT_GET a GET tx carries its sink; the
 * driver may complete it with get_done() instead of delivering a REPLY through parse(); tx_done()
 * is then also due (SEND), after it. A REPLY tx has tx->get_rx set to the rx of the GET that it
 * answers; that rx is over when send() accepts the REPLY.
 *
 * FENCE
 *   fence(rail, f): when it returns 1, or fence_done(f) has come, no byte of any message that this
 *   rail had accepted to receive or send before the call can touch core memory any more.
 *
 * FAILURES
 *   Each failed completion names a health status (who is to blame) and `sent`: false = certainly
 * not delivered, may be repeated; true = may have arrived.
 *
 * STOPPING
 *   ni_stop(ni): no new connections in or out; everything outstanding completes (tx_done with
 *   -ESHUTDOWN, rx_done with -ESHUTDOWN), then ni_stopped(ni). rail_close(rail): the same for one
 *   rail, then rail_closed(rail); the core frees the rail. close(node) is called when no NI is
 * left.
 */
#ifndef LNET_LND_H
#define LNET_LND_H

#include <lnet/hdr.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LNET_LND_ABI 1u

struct lnet_loop;

/* ---- what a driver gets from the run time ------------------------------------------------- */

/* Monotonic time in ns, read once per turn of the loop: cheap. On the loop. */
uint64_t lnet_loop_now(const struct lnet_loop *l);
/* The same clock, read afresh. Any thread. */
uint64_t lnet_loop_clock(const struct lnet_loop *l);

/* A file watch. The caller owns the memory; it must not move or go while the watch is set. fn is
 * called on the loop with the events that hold; it may stop or free the watch. */
enum { LNET_WATCH_READ = 1, LNET_WATCH_WRITE = 2 };
struct lnet_watch;
typedef void (*lnet_watch_fn)(struct lnet_watch *w, int events);
struct lnet_watch {
	lnet_watch_fn fn;
	void *arg;
	struct lnet_loop *loop;
	int fd;
	int events;
	uint64_t rsv[10]; /* the run time's */
};
void lnet_watch_init(
        struct lnet_watch *w, struct lnet_loop *l, int fd, lnet_watch_fn fn, void *arg);
/* events = 0 stops. Cheap when nothing changes. On the loop. Must be stopped before fd is closed.
 */
void lnet_watch_set(struct lnet_watch *w, int events);

/* A timer; fires once at or after `when` (ns of the loop's clock). On the loop. Re-arming moves it.
 */
struct lnet_timer;
typedef void (*lnet_timer_fn)(struct lnet_timer *t);
struct lnet_timer {
	lnet_timer_fn fn;
	void *arg;
	uint64_t when;
	uint32_t slot; /* 0 = not armed */
};
void lnet_timer_init(struct lnet_timer *t, lnet_timer_fn fn, void *arg);
void lnet_timer_arm(struct lnet_loop *l, struct lnet_timer *t, uint64_t when);
void lnet_timer_stop(struct lnet_loop *l, struct lnet_timer *t);

/* A piece of work. Memory is the caller's and must live until fn runs. */
struct lnet_work;
typedef void (*lnet_work_fn)(struct lnet_work *w);
struct lnet_work {
	lnet_work_fn fn;
	void *arg;
	struct lnet_work *next;
	uint32_t queued;
};
void lnet_work_init(struct lnet_work *w, lnet_work_fn fn, void *arg);
/* Run once, before the loop sleeps or the token is given back: for flushing. Idempotent while it is
 * queued. On the loop. */
void lnet_loop_defer(struct lnet_loop *l, struct lnet_work *w);
/* Take a deferred work back before it ran. On the loop. */
void lnet_loop_undefer(struct lnet_loop *l, struct lnet_work *w);
/* Run on that loop as soon as may be. Any thread. A work posted twice before it ran is an error of
 * the caller. */
void lnet_loop_post(struct lnet_loop *l, struct lnet_work *w);

/* Called on each turn of a loop that spins or is polled; returns the number of events handled. For
 * drivers that can look for input without the kernel's event queue. On the loop. */
struct lnet_poll_hook {
	unsigned (*fn)(struct lnet_poll_hook *h);
	void *arg;
	struct lnet_poll_hook *next, **pprev; /* the run time's */
};
void lnet_loop_poll_add(struct lnet_loop *l, struct lnet_poll_hook *h);
void lnet_loop_poll_del(struct lnet_poll_hook *h);

/* Scratch memory of the loop for one read, valid until the caller returns: one receive buffer a
 * loop, not one a connection. *size >= 64 KiB. On the loop. */
void *lnet_loop_rxbuf(struct lnet_loop *l, size_t *size);

enum lnet_log_level {
	LNET_LOG_ERR = 0,
	LNET_LOG_WARN,
	LNET_LOG_NOTICE,
	LNET_LOG_INFO,
	LNET_LOG_DEBUG,
	LNET_LOG_TRACE,
};

/* One adjustable number, described once: YAML, show, --help and the manual are made from it. */
enum {
	LNET_TUN_NET = 1u,      /* one value for all NIs of a net */
	LNET_TUN_RUNTIME = 2u,  /* may change while the NI is up */
	LNET_TUN_READONLY = 4u, /* shown, never set */
	LNET_TUN_BOOL = 8u,
};
struct lnet_tunable {
	const char *name;
	const char *help;
	const char *unit; /* "" when it has none */
	int64_t min, max, def;
	uint32_t flags;
};

/* One counter of a driver, kept per NI; the array is the NI's, in the order of this table. */
struct lnet_stat_desc {
	const char *name;
	const char *help;
	const char *unit;
};
static inline void lnet_stat_add(uint64_t *s, uint64_t n)
{
	__atomic_fetch_add(s, n, __ATOMIC_RELAXED);
}

/* ---- objects ------------------------------------------------------------------------------- */

/* Who is to blame (spec: behaviour.md section 5; the numbers are those of fault rules). */
enum lnet_hstatus {
	LNET_HS_OK = 0,
	LNET_HS_LOCAL_INTERRUPT,
	LNET_HS_LOCAL_DROPPED,
	LNET_HS_LOCAL_ABORTED,
	LNET_HS_LOCAL_NO_ROUTE,
	LNET_HS_LOCAL_ERROR,
	LNET_HS_LOCAL_TIMEOUT,
	LNET_HS_REMOTE_ERROR,
	LNET_HS_REMOTE_DROPPED,
	LNET_HS_REMOTE_TIMEOUT,
	LNET_HS_NETWORK_TIMEOUT,
	LNET_HS_COUNT
};

/* DOWN and RESTARTED come after tx_done() of every message that those connections had taken; UP
 * comes before tx_done() of the first message that goes by it. What waits in the driver for a
 * connection stays there. */
enum lnet_rail_event {
	LNET_RAIL_UP,        /* the first connection stands */
	LNET_RAIL_DOWN,      /* the last connection is gone */
	LNET_RAIL_RESTARTED, /* the peer came back with a new incarnation; all before it is lost */
	LNET_RAIL_FAILED,    /* an attempt to connect failed */
};

enum lnet_ni_state {
	LNET_NI_UP,
	LNET_NI_DOWN, /* link down, address gone, device error: `why` says */
};

enum lnet_accept { LNET_ACCEPT_DEFAULT, LNET_ACCEPT_SECURE, LNET_ACCEPT_ALL, LNET_ACCEPT_NONE };

/* An address block that may connect. len 4 or 16, network order; prefix in bits. */
struct lnet_cidr {
	uint8_t addr[16];
	uint8_t len;
	uint8_t prefix;
};

struct lnet_lnd;
struct lnet_lnd_up;

struct lnet_lnd_node {
	const struct lnet_lnd *lnd;
	const struct lnet_lnd_up *up;
	void *core; /* the core's */
	void *drv;  /* the driver's */
	struct lnet_loop *const *loops;
	unsigned nloops;
	uint32_t pid;         /* LNET_PID_LUSTRE, or a client's USERFLAG pid */
	uint64_t incarnation; /* differs between two starts of a node */
	bool client;          /* client mode: no listener */
};

struct lnet_lnd_ni {
	struct lnet_lnd_node *node;
	void *core;
	void *drv;
	struct lnet_loop *loop; /* home loop: start, stop, accept, link events */
	struct lnet_nid nid;    /* the core's choice, or filled in by ni_start from the interface */
	char ifname[16];        /* "" = the interface that owns nid; filled in by ni_start */
	int64_t *tunables;      /* values, in the order of lnd->tunables; the driver may write the
	                         * read-only ones */
	uint64_t *stats;        /* counters, in the order of lnd->stats */
	int32_t peer_credits, credits; /* effective values */
	enum lnet_accept accept;
	const struct lnet_cidr *allow; /* empty list = every address */
	unsigned nallow;
	uint32_t speed_mbps; /* filled in by the driver; 0 = unknown */
	uint32_t mtu;        /* filled in by the driver; 0 = unknown */
};

struct lnet_rail {
	struct lnet_lnd_ni *ni;
	struct lnet_nid nid; /* the peer NI */
	uint32_t pid;
	struct lnet_loop *loop; /* home loop of the peer NI */
	void *core;
	void *drv; /* NULL until rail_open */
};

struct lnet_mr; /* a registered range of memory: the driver's handle */

enum {
	LNET_TX_SMALL = 1u,   /* control traffic: goes by the connection kept for it */
	LNET_TX_FORWARD = 2u, /* we forward it: hdr.src_nid is not ours */
};

struct lnet_tx {
	struct lnet_hdr hdr;
	const struct iovec *iov; /* payload: len bytes, offset bytes into iov */
	uint32_t niov;
	uint32_t flags;
	size_t offset;
	uint32_t len; /* == hdr.payload_length */
	struct lnet_mr *mr;
	/* GET with LNET_LND_OPT_GET: where the answer goes */
	const struct iovec *sink;
	uint32_t nsink;
	uint32_t sink_len;
	size_t sink_offset;
	struct lnet_mr *sink_mr;
	struct lnet_rx
	        *get_rx;   /* REPLY: the GET's rx, when the driver asked for it (rx->want_reply) */
	uint64_t deadline; /* absolute ns of the loop's clock; never 0 */
	struct lnet_rail *rail;
	void *core;
	uint64_t drv[12]; /* the driver's, zeroed before send() */
};

struct lnet_rx {
	struct lnet_rail *rail; /* the immediate sender */
	void *core;             /* the core's, from parse to the end */
	bool want_reply; /* an optimised GET: the core keeps the rx and passes it in the REPLY's
	                  * tx->get_rx; no recv() or discard() follows unless nothing matched */
};

struct lnet_dst {
	const struct iovec *iov;
	uint32_t niov;
	size_t offset; /* bytes into iov */
	uint32_t mlen; /* bytes wanted, <= payload_length; 0 allowed */
	struct lnet_mr *mr;
};

struct lnet_fence {
	struct lnet_rail *rail;
	uint64_t deadline;
	void *core;
	uint64_t drv[4];
};

/* Answer of query(). */
struct lnet_rail_info {
	uint32_t nconns;         /* connections that stand */
	uint32_t conns_wanted;   /* negotiated connections per peer */
	uint64_t tx_queued;      /* bytes accepted and not yet written */
	uint64_t rate;           /* measured, bytes/s; 0 = unknown */
	uint64_t oldest_unacked; /* ns since the oldest byte that the peer has not confirmed; 0 =
	                            none */
	uint64_t last_alive;     /* loop time of the last byte received; 0 = never */
	uint64_t peer_incarnation;
	int last_errno;    /* why the last connection or attempt failed; 0 = never */
	const char *state; /* constant text: "idle", "connecting", "up", "backoff" */
};

/* Upcalls: on the loop of the object. Filled in by the core (or by a test that plays the core). */
struct lnet_lnd_up {
	int (*parse)(struct lnet_rail *r, const struct lnet_hdr *h, struct lnet_rx *rx);
	void (*rx_done)(struct lnet_rx *rx, int status, enum lnet_hstatus hs);
	void (*tx_done)(struct lnet_tx *tx, int status, enum lnet_hstatus hs, bool sent);
	/* Optimised GET: the sink holds nob bytes (status 0), or the GET failed. */
	void (*get_done)(struct lnet_tx *tx, int status, uint32_t nob);
	void (*tx_ready)(struct lnet_rail *r);
	void (*fence_done)(struct lnet_fence *f);
	/*
	 * The rail of a peer that connected to us; made if needed. Any loop: the caller goes on on
	 * (*r)->loop. The reference is given back by rail_put() on that loop.
	 * -EINVAL our own NID; -ENOMEM; -ESHUTDOWN; -ENOSPC too many peers.
	 */
	int (*rail_get)(struct lnet_lnd_ni *ni, const struct lnet_nid *nid, uint32_t pid,
	        struct lnet_rail **r);
	void (*rail_put)(struct lnet_rail *r);
	/* May a connection from addr (as a NID of the NI's net) claim to be nid? Configured and
	 * discovered peers that own both say yes. Any loop. */
	bool (*nid_owns)(
	        struct lnet_lnd_ni *ni, const struct lnet_nid *nid, const struct lnet_nid *addr);
	void (*rail_event)(struct lnet_rail *r, enum lnet_rail_event ev, int err);
	void (*rail_closed)(struct lnet_rail *r);
	void (*ni_event)(struct lnet_lnd_ni *ni, enum lnet_ni_state st, const char *why);
	void (*ni_stopped)(struct lnet_lnd_ni *ni);
	/* Rate-limited by id. id: short constant name of the kind of event. Any thread. */
	void (*log)(struct lnet_lnd_node *n, enum lnet_log_level lv, const char *id,
	        const char *fmt, ...) __attribute__((format(printf, 4, 5)));
};

/* Capabilities. */
enum {
	LNET_LND_OPT_GET = 1u,        /* GET carries its sink, see above */
	LNET_LND_CREDIT_ON_SEND = 2u, /* credits return when send() accepts, not at tx_done */
	LNET_LND_ASYNC_RECV = 4u, /* recv may end later although all bytes are here; it may refuse
	                           * with -ENOMEM, and the core then discards */
	LNET_LND_REG = 8u,        /* memory must be registered */
	LNET_LND_STOP_READ =
	        16u, /* can leave an rx unread without blocking other traffic of the peer */
	LNET_LND_VIRTUAL = 32u, /* no real interface behind it (lo, sim) */
};

struct lnet_lnd {
	uint32_t size;    /* sizeof(struct lnet_lnd) */
	uint32_t abi;     /* LNET_LND_ABI */
	const char *name; /* of the networks it serves: "tcp" */
	uint8_t type;     /* enum lnet_lnd_type */
	uint32_t caps;
	uint32_t max_payload; /* bytes */
	uint32_t max_iov;
	uint32_t latency_ns; /* rough cost of one small message, for selection */
	int32_t def_credits, def_peer_credits;
	const struct lnet_tunable *tunables;
	unsigned ntunables;
	const struct lnet_stat_desc *stats;
	unsigned nstats;

	int (*open)(struct lnet_lnd_node *n);
	void (*close)(struct lnet_lnd_node *n);
	/*
	 * 0 = up; ni->nid, ifname, speed_mbps, mtu are filled in. An interface without carrier is
	 * no error: 0, and ni_event(DOWN) follows. -EADDRNOTAVAIL the host does not own nid;
	 * -ENODEV no such interface; -EADDRINUSE, -EACCES from listening; -EINVAL nid and ifname
	 * disagree.
	 */
	int (*ni_start)(struct lnet_lnd_ni *ni);
	void (*ni_stop)(struct lnet_lnd_ni *ni);
	/* Tunables marked LNET_TUN_RUNTIME, accept policy or allow list changed in place. */
	void (*ni_changed)(struct lnet_lnd_ni *ni);

	int (*rail_open)(struct lnet_rail *r); /* 0, -ENOMEM; makes no connection yet */
	void (*rail_close)(struct lnet_rail *r);
	int (*query)(struct lnet_rail *r, struct lnet_rail_info *info);

	int (*send)(struct lnet_rail *r, struct lnet_tx *tx);
	int (*cancel)(struct lnet_rail *r, struct lnet_tx *tx);
	int (*recv)(struct lnet_rx *rx, const struct lnet_dst *dst);
	int (*discard)(struct lnet_rx *rx);
	int (*redirect)(struct lnet_rx *rx);
	int (*fence)(struct lnet_rail *r, struct lnet_fence *f);

	/* Registration; NULL when !LNET_LND_REG. access: LNET_MD_OP_PUT / LNET_MD_OP_GET bits of
	 * lnet.h. */
	int (*mem_reg)(struct lnet_lnd_node *n, const struct iovec *iov, uint32_t niov,
	        uint32_t access, struct lnet_mr **mr);
	void (*mem_dereg)(struct lnet_lnd_node *n, struct lnet_mr *mr);

	/* Print every queue and operation and what it waits for, a line a call. On rail->loop. */
	void (*dump)(struct lnet_rail *r, void (*line)(void *arg, const char *text), void *arg);
};

/* The symbol that an lnd-*.so exports. */
#define LNET_LND_SYMBOL "lnet_lnd_driver"
typedef const struct lnet_lnd *(*lnet_lnd_entry_fn)(void);

#ifdef __cplusplus
}
#endif
#endif
