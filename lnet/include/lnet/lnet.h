/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ulnet: LNet in user space. The message layer: nodes, networks, peers, portals, PUT and GET.
 *
 * CONVENTIONS
 *   Errors are negative errno. Times are ns of the node's monotonic clock (lnet_now()); a deadline
 * is absolute, 0 stands for "now + the transaction timeout". Handles are 64-bit cookies that are
 * never reused; 0 is no handle. Structures that a caller passes in begin with their size where they
 * may grow; set them with the matching *_init().
 *
 * THREADS
 *   Every function may be called by any thread unless it says otherwise. A node has loops; a loop
 * is run by one thread at a time, the one that holds its token: normally the node's own thread, or
 * a caller inside lnet_wait(), lnet_progress() or another waiting call. HANDLERS run on the token
 * holder only, never inside lnet_put, lnet_get or an unlink; no lock of the library is held. A
 * handler may call every function but the waiting ones (those say "waits"), which return -EDEADLK
 * there.
 *
 * OPERATIONS AND EVENTS
 *   Every accepted operation ends in exactly one event with `final` set: success, an errno, or
 *   -ECANCELED. After it no byte of the operation's memory is read or written. Orders of events:
 *
 *     operation                      events
 *     PUT, no ACK                    SEND(final)
 *     PUT, ACK                       [SEND] ACK(final)       SEND only with LNET_OP_EV_SEND;
 *     GET                            [SEND] REPLY(final)     it may come first or not at all
 *     any of them failed             the last event above with status < 0
 *     target of PUT                  PUT, one a message, when the payload is in place
 *     target of GET                  GET, one a message, when the payload has left
 *     MD unlinked                    `unlinked` is set in exactly one event, the last one of this
 * MD: the event of the message that used it up, or an UNLINK event
 *
 *   Status of an operation: -EHOSTUNREACH no way to the peer, or in back-off; -ECONNREFUSED;
 *   -ETIMEDOUT the deadline passed (a PUT may have arrived); -ECANCELED unlinked or cancelled;
 *   -ECONNRESET the connection died (a PUT may have arrived); -ESTALE the peer restarted;
 *   -ESHUTDOWN the node closes; -ENOTCONN a client-mode peer has no connection; -EIO corrupt.
 */
#ifndef LNET_LNET_H
#define LNET_LNET_H

#include <lnet/hdr.h>
#include <lnet/lnd.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lnet;
typedef uint64_t lnet_handle_t; /* 0 = none */

/* ---- node ---------------------------------------------------------------------------------- */

struct lnet_clock {
	uint64_t (*now)(void *arg); /* monotonic ns; any thread */
	void *arg;
};

/* Prints one line, without a newline. Any thread; must not call back into the node. */
typedef void (*lnet_log_fn)(void *arg, enum lnet_log_level lv, const char *id, const char *text);

enum {
	LNET_NODE_POLL = 1u,   /* no threads: the caller runs lnet_progress() */
	LNET_NODE_CLIENT = 2u, /* client mode: no listener, a USERFLAG pid */
};

struct lnet_opts {
	size_t size;
	uint32_t flags;
	const char *name;        /* shown in logs, names the incarnation file; default "ulnet" */
	unsigned loops;          /* 1..64, default 1 */
	unsigned spin_us;        /* spin before sleeping; default 20, 0 = never, max 1000000 */
	struct lnet_clock clock; /* default CLOCK_MONOTONIC */
	lnet_log_fn log;         /* default: nothing is printed */
	void *log_arg;
	enum lnet_log_level log_level;
	const char *rundir; /* keeps NAME.inc; NULL = nothing is kept */
	uint64_t mem_max;   /* bytes for parked and copied payload; default 64 MiB */
	unsigned max_peers; /* default 65536 */
	const struct lnet_lnd *const
	        *lnds;        /* drivers linked in, NULL-terminated; NULL = load lnd-NAME.so */
	const char *lnd_path; /* where lnd-*.so are; NULL = built-in search */
};
/* Fill in defaults. size = sizeof(*o). */
void lnet_opts_init(struct lnet_opts *o, size_t size);

/* What o points to is copied, but for the drivers themselves. -EINVAL an option out of range
 * (logged); -ENOMEM; -EMFILE. The node has 0@lo alone. */
int lnet_open(const struct lnet_opts *o, struct lnet **out);
/*
 * Waits. Stops new work, lets outstanding operations end until the deadline, aborts the rest with
 * -ESHUTDOWN, frees everything. No other call on the node may start after it; calls under way in
 * other threads return -ESHUTDOWN. Returns 0, or -ETIMEDOUT when work had to be aborted; the node
 * is gone in both cases. -EDEADLK inside a handler.
 */
int lnet_close(struct lnet *n, uint64_t deadline);

uint64_t lnet_now(const struct lnet *n);
uint32_t lnet_pid(const struct lnet *n);
const char *lnet_node_name(const struct lnet *n);
void lnet_log_set(struct lnet *n, enum lnet_log_level lv);
const char *lnet_version(void);

/* ---- running the loop ---------------------------------------------------------------------- */

/*
 * Waits: runs the node's first loop (or sleeps beside the thread that runs it) until done(arg) is
 * true, checked after each turn and at entry. A deadline of 0 is none. 0, -ETIMEDOUT, -EDEADLK in
 * a handler, -ESHUTDOWN the node closes.
 */
int lnet_wait(struct lnet *n, bool (*done)(void *arg), void *arg, uint64_t deadline);
/* Poll mode: one turn of every loop, sleeping at most timeout_ns (0 = not at all). Number of events
 * handled. -EBUSY another thread is inside; -EDEADLK in a handler. */
int lnet_progress(struct lnet *n, uint64_t timeout_ns);
/*
 * Poll mode inside the caller's own epoll: a descriptor that is readable when lnet_progress() has
 * work. lnet_arm() says for how long the caller may sleep on it: 0 and *sleep_ns (UINT64_MAX = no
 * timer), or -EBUSY: do not sleep, call lnet_progress(). The descriptor is the node's; do not close
 * it.
 */
int lnet_pollfd(struct lnet *n);
int lnet_arm(struct lnet *n, uint64_t *sleep_ns);

/* ---- memory, events ------------------------------------------------------------------------ */

struct lnet_mem {
	const struct iovec *iov; /* copied at the call; the bytes stay the caller's */
	uint32_t niov;           /* 0..LNET_MAX_IOV */
	lnet_handle_t reg;       /* registration, 0 = none */
};

enum lnet_event_type {
	LNET_EV_GET = 1, /* target: a GET read our MD */
	LNET_EV_PUT,     /* target: a PUT wrote our MD */
	LNET_EV_REPLY,   /* initiator: the GET's data is here */
	LNET_EV_ACK,     /* initiator: the PUT was accepted */
	LNET_EV_SEND,    /* initiator: the message left, its memory is free */
	LNET_EV_UNLINK,  /* the MD is gone */
};

struct lnet_event {
	size_t size;
	enum lnet_event_type type;
	int status;    /* 0 or negative errno */
	bool unlinked; /* last event of this MD */
	bool final;    /* last event of this operation (initiator) */
	lnet_handle_t md;
	lnet_handle_t op;          /* initiator: the operation; target: 0 */
	void *user;                /* of the MD */
	struct lnet_nid initiator; /* primary NID of the sender of PUT or GET */
	struct lnet_nid source;    /* the NID in the header */
	struct lnet_nid target;    /* the NID it was addressed to */
	uint32_t initiator_pid;
	uint32_t portal;
	uint64_t match_bits;
	uint64_t hdr_data;
	uint32_t rlength; /* bytes offered or asked for */
	uint32_t mlength; /* bytes moved */
	uint64_t offset;  /* in the MD */
	enum lnet_hstatus hstatus;
};

typedef void (*lnet_handler_fn)(const struct lnet_event *ev);

/* ---- match entries and memory descriptors -------------------------------------------------- */

enum { LNET_UNLINK = 0, LNET_RETAIN = 1 };
enum lnet_ins_pos {
	LNET_INS_BEFORE, /* head of the portal's list */
	LNET_INS_AFTER,  /* tail */
	LNET_INS_LOCAL,  /* tail of this loop's part: searched like AFTER */
};

enum {
	LNET_MD_OP_PUT = 0x0001,
	LNET_MD_OP_GET = 0x0002,
	LNET_MD_MANAGE_REMOTE = 0x0004, /* the offset in the message counts */
	LNET_MD_TRUNCATE = 0x0010,
	LNET_MD_ACK_DISABLE = 0x0020,
	LNET_MD_MAX_SIZE = 0x0080,
	LNET_MD_TRACK_RESPONSE = 0x0400,
	LNET_MD_NO_TRACK_RESPONSE = 0x0800,
	LNET_MD_EV_QUIET =
	        0x10000, /* no PUT/GET events for this target MD (counted all the same) */
};
#define LNET_MD_THRESH_INF (-1)

struct lnet_match {
	struct lnet_nid nid; /* ANY, or a NID: matches every NID of that peer */
	uint32_t pid;        /* LNET_PID_ANY or a pid */
	uint64_t bits;
	uint64_t ignore; /* bits that do not matter */
};

struct lnet_md_desc {
	struct lnet_mem mem;
	uint32_t options;
	int32_t threshold; /* operations before it is used up; LNET_MD_THRESH_INF; 1.. */
	uint64_t max_size; /* with LNET_MD_MAX_SIZE: largest message, and the room that must be left
	                    */
	int unlink; /* LNET_UNLINK: unlinks itself when used up; LNET_RETAIN: stays, matches nothing
	             */
	lnet_handler_fn handler; /* may be NULL */
	void *user;
};

/*
 * Attach a match entry to a portal. `unlink`: LNET_UNLINK = the ME goes with its MD. -EINVAL
 * portal, pos, or the portal is of the other kind (unique: no ignore bits, NID and pid given;
 * wildcard), -ENOMEM, -ESHUTDOWN.
 */
int lnet_me_attach(struct lnet *n, uint32_t portal, const struct lnet_match *m, int unlink,
        enum lnet_ins_pos pos, lnet_handle_t *me);
/* Insert before or after an existing ME of the same portal. -ENOENT: that ME is gone. */
int lnet_me_insert(struct lnet *n, lnet_handle_t where, const struct lnet_match *m, int unlink,
        enum lnet_ins_pos pos, lnet_handle_t *me);
/* Unlinks its MD too (see lnet_md_unlink). -ENOENT. */
int lnet_me_unlink(struct lnet *n, lnet_handle_t me);
/* Give an ME its MD. -ENOENT, -EBUSY it has one, -EINVAL, -ENOMEM. Parked PUTs that match are
 * delivered. */
int lnet_md_attach(
        struct lnet *n, lnet_handle_t me, const struct lnet_md_desc *d, lnet_handle_t *md);
/* A free-standing MD for lnet_put() and lnet_get(). -EINVAL, -ENOMEM, -ESHUTDOWN. */
int lnet_md_bind(struct lnet *n, const struct lnet_md_desc *d, lnet_handle_t *md);
/*
 * No new match, no new byte accepted. Always succeeds for a live MD, busy or not; operations under
 * way end with -ECANCELED; exactly one event says `unlinked`, with the last reference. -ENOENT:
 * gone, or unlink already under way.
 */
int lnet_md_unlink(struct lnet *n, lnet_handle_t md);

/* A lazy portal parks PUTs without a match (at most peer_credits a peer, in bounded memory) until
 * an MD is attached; clearing drops them. -EINVAL. */
int lnet_portal_lazy(struct lnet *n, uint32_t portal, bool lazy);

/* ---- PUT and GET --------------------------------------------------------------------------- */

enum {
	LNET_OP_ACK = 1u,     /* PUT: ask for an ACK */
	LNET_OP_EV_SEND = 2u, /* deliver SEND although it is not the final event */
	LNET_OP_BULK = 4u,    /* hint: throughput, not latency */
};

struct lnet_op_args {
	size_t size;
	struct lnet_nid target;
	uint32_t target_pid;    /* default LNET_PID_LUSTRE */
	struct lnet_nid source; /* ANY = choose; else the local NI to use and nothing else */
	uint32_t portal;
	uint32_t flags;
	uint64_t match_bits;
	uint64_t offset;   /* at the target; used when its MD is MANAGE_REMOTE; < 2^32 */
	uint64_t hdr_data; /* PUT */
	lnet_handle_t md; /* a bound MD; or 0 and the next three: one MD for this operation alone */
	struct lnet_mem mem;
	lnet_handler_fn handler;
	void *user;
	uint64_t md_offset; /* part of the MD: offset and length; length 0 with md_whole = all of it
	                     */
	uint32_t length;    /* 0..LNET_MTU */
	bool md_whole;      /* default true */
	uint64_t deadline;
};
void lnet_op_args_init(struct lnet_op_args *a, size_t size);

/*
 * Start. *op (may be NULL) names the operation for lnet_op_cancel(). The handler is called exactly
 * once with `final` when 0 was returned, never otherwise. -EINVAL arguments; -ENOENT md; -E2BIG
 * more than LNET_MTU; -EHOSTUNREACH no local net reaches the target, or the source cannot; -ENOMEM;
 * -ESHUTDOWN.
 */
int lnet_put(struct lnet *n, const struct lnet_op_args *a, lnet_handle_t *op);
int lnet_get(struct lnet *n, const struct lnet_op_args *a, lnet_handle_t *op);
/* The final event comes soon, with -ECANCELED unless it ended otherwise. -ENOENT: over already. */
int lnet_op_cancel(struct lnet *n, lnet_handle_t op);
/* Wait: start, drive the loop, return the final event's status; *ev (may be NULL) is that event.
 * a->handler is not used. */
int lnet_put_wait(struct lnet *n, const struct lnet_op_args *a, struct lnet_event *ev);
int lnet_get_wait(struct lnet *n, const struct lnet_op_args *a, struct lnet_event *ev);

/* ---- networks ------------------------------------------------------------------------------ */

#define LNET_UNSET INT32_MIN /* "not given": the driver's default holds */

struct lnet_tun_val {
	const char *name;
	int64_t value;
};

struct lnet_ni_conf {
	size_t size;
	lnet_net_t net;
	struct lnet_nid nid; /* ANY: the first address of ifname */
	const char *ifname;  /* NULL: the interface that owns nid */
	const char *cpts;    /* "[0,1]" or NULL */
	int32_t peer_timeout, peer_credits, peer_buffer_credits, credits;
	const struct lnet_tun_val *tun; /* driver tunables */
	unsigned ntun;
	enum lnet_accept accept;
	const struct lnet_cidr *allow; /* copied */
	unsigned nallow;
};
void lnet_ni_conf_init(struct lnet_ni_conf *c, size_t size);

/*
 * Waits. Add an interface. *nid (may be NULL) gets its NID. -EEXIST that NID is configured; -EINVAL
 * a tunable unknown or out of range, LNET_TUN_NET values that differ from the net's, nid not on
 * ifname; -ENODEV; -EADDRNOTAVAIL; -EADDRINUSE; -EACCES; -ENOENT no driver for the net; errors of
 * the driver. why (may be NULL) gets one sentence of at most whylen bytes.
 */
int lnet_ni_add(struct lnet *n, const struct lnet_ni_conf *c, struct lnet_nid *nid, char *why,
        size_t whylen);
/* Waits: what is outstanding on it ends. -ENOENT, -EINVAL for 0@lo. */
int lnet_ni_del(struct lnet *n, const struct lnet_nid *nid);
/* Wait. Set one driver tunable (LNET_TUN_RUNTIME) of an NI, with LNET_UNSET back to its default
 * (one of LNET_TUN_NET: of all NIs of its net); or health (0..1000). -ENOENT, -EINVAL, -EPERM not
 * changeable while up. */
int lnet_ni_set_tunable(
        struct lnet *n, const struct lnet_nid *nid, const char *name, int64_t value);
int lnet_ni_set_health(struct lnet *n, const struct lnet_nid *nid, int health);
/* Replace accept policy and allow list of all NIs of a net. -ENOENT. */
int lnet_net_set_accept(struct lnet *n, lnet_net_t net, enum lnet_accept accept,
        const struct lnet_cidr *allow, unsigned nallow);

/* The described tunables of a driver (loads it). NULL: no such driver. Valid while n is open. */
const struct lnet_lnd *lnet_lnd_find(struct lnet *n, uint8_t type);

/* Counters of messages by type. */
struct lnet_msg_counts {
	uint64_t put, get, reply, ack, hello;
};
struct lnet_lat { /* ns */
	uint64_t samples, min, max, sum;
};
struct lnet_traffic {
	struct lnet_msg_counts sent, received, dropped;
	uint64_t send_count, recv_count, drop_count;
	uint64_t send_bytes, recv_bytes, drop_bytes; /* payload */
	struct lnet_lat put_egress, get_rtt, put_ack;
};
struct lnet_health {
	int value;                  /* 0..1000 */
	const char *reason;         /* constant text; "" = never lowered */
	uint64_t changed;           /* time of the last change, 0 = never */
	uint64_t by[LNET_HS_COUNT]; /* failures by status */
	uint64_t ping_count, next_ping;
};

struct lnet_ni_info {
	size_t size;
	struct lnet_nid nid;
	char ifname[16];
	bool up;      /* status */
	bool fatal;   /* link or device gone */
	char why[96]; /* reason of the status, "" when up since the start */
	uint64_t status_since;
	struct lnet_health health;
	struct lnet_traffic traffic;
	int32_t peer_timeout, peer_credits, peer_buffer_credits, credits; /* effective */
	int32_t conf_peer_timeout, conf_peer_credits, conf_peer_buffer_credits,
	        conf_credits;              /* or UNSET */
	int32_t credits_free, credits_min; /* negative: messages wait */
	const struct lnet_lnd *lnd;
	const int64_t *tun;    /* lnd->ntunables effective values */
	const bool *tun_set;   /* which of them were given */
	const uint64_t *stats; /* lnd->nstats */
	const char *cpts;      /* "" = all */
	enum lnet_accept accept;
	const struct lnet_cidr *allow;
	unsigned nallow;
	uint32_t speed_mbps, mtu;
};
/* Calls fn for each NI in order of adding (0@lo first) until it returns non-zero; returns that. The
 * pointers are valid during the call. fn must not call back into the node but for lnet_now(). */
int lnet_ni_each(struct lnet *n, int (*fn)(void *arg, const struct lnet_ni_info *i), void *arg);

/* ---- peers --------------------------------------------------------------------------------- */

struct lnet_peer_ni_info {
	struct lnet_nid nid;
	uint32_t pid;
	const char *state; /* "up", "down", "NA" */
	const char *conn;  /* driver's word: "idle", "connecting", "up", "backoff" */
	int last_errno;
	uint32_t nconns, conns_wanted;
	int32_t max_credits, credits_free, credits_min;
	int32_t rtr_credits, rtr_credits_min;
	uint64_t tx_queued; /* bytes */
	uint32_t refs;
	uint64_t last_alive;
	uint64_t incarnation;
	struct lnet_health health;
	struct lnet_traffic traffic;
};
enum { /* peer state bits, LNet's numbers */
	LNET_PEER_MULTI_RAIL = 1u << 0,
	LNET_PEER_CONFIGURED = 1u << 3,
	LNET_PEER_DISCOVERED = 1u << 4,
	LNET_PEER_NIDS_UPTODATE = 1u << 8,
	LNET_PEER_LOCK_PRIMARY = 1u << 20,
};
struct lnet_peer_info {
	size_t size;
	struct lnet_nid primary;
	bool multi_rail;
	uint32_t state;
	const struct lnet_peer_ni_info *ni;
	unsigned nni;
};
#define LNET_PEER_NIDS_MAX 128u

/*
 * Configure a peer. nids may be empty or repeat the primary. -EEXIST a NID belongs to another
 * configured peer; -EINVAL our own NID, ANY, lo; -E2BIG more than LNET_PEER_NIDS_MAX, the primary
 * counted; -ENOSPC max_peers are in use; -ENOMEM. Nothing is applied on error; bad (may be NULL)
 * gets the offending NID.
 */
int lnet_peer_add(struct lnet *n, const struct lnet_nid *primary, const struct lnet_nid *nids,
        unsigned nnids, bool multi_rail, bool lock, struct lnet_nid *bad);
/* nnids 0, or the primary among them: the whole peer. Waits: what is outstanding with it ends, with
 * -ESHUTDOWN. -ENOENT, -EBUSY locked and not forced, -ENOMEM, -EDEADLK in a handler. */
int lnet_peer_del(struct lnet *n, const struct lnet_nid *primary, const struct lnet_nid *nids,
        unsigned nnids, bool force, struct lnet_nid *bad);
int lnet_peer_set_health(struct lnet *n, const struct lnet_nid *nid, int health); /* ANY = all */
int lnet_peer_set_state(struct lnet *n, const struct lnet_nid *nid, uint32_t state);
/* As lnet_ni_each(). nid ANY = all, else the peer that owns nid (-ENOENT). */
int lnet_peer_each(struct lnet *n, const struct lnet_nid *nid,
        int (*fn)(void *arg, const struct lnet_peer_info *i), void *arg);

enum lnet_peer_event { LNET_PEER_UP, LNET_PEER_DOWN, LNET_PEER_RESTARTED };
/* Called as a handler. */
typedef void (*lnet_peer_watch_fn)(
        void *user, const struct lnet_nid *nid, uint32_t pid, enum lnet_peer_event ev, int err);
/* nid ANY = every peer. UP is not repeated for peers that are up at the call. -ENOMEM. */
int lnet_peer_watch(struct lnet *n, const struct lnet_nid *nid, lnet_peer_watch_fn fn, void *user,
        lnet_handle_t *watch);
/* Waits until fn cannot run any more; inside a handler it returns at once and fn is not called
 * again. */
int lnet_peer_unwatch(struct lnet *n, lnet_handle_t watch);

/* ---- ping ---------------------------------------------------------------------------------- */

struct lnet_ping_result {
	size_t size;
	struct lnet_nid primary;
	uint32_t pid;
	uint32_t features;
	uint32_t seq;
	bool multi_rail;
	uint64_t rtt; /* ns */
	unsigned nnids;
	struct lnet_nid *nids; /* without lo; allocated, lnet_ping_free() */
	bool *up;
};
/* Waits. source ANY = choose. -EPROTO the answer is not ping info; -EHOSTUNREACH, -ETIMEDOUT ... */
int lnet_ping(struct lnet *n, const struct lnet_nid *nid, uint32_t pid,
        const struct lnet_nid *source, uint64_t deadline, struct lnet_ping_result *r);
/* The same, asynchronous: fn is a handler; r is valid during the call only. -EINVAL, -ENOMEM ... */
int lnet_ping_start(struct lnet *n, const struct lnet_nid *nid, uint32_t pid,
        const struct lnet_nid *source, uint64_t deadline,
        void (*fn)(void *user, int status, const struct lnet_ping_result *r), void *user);
void lnet_ping_free(struct lnet_ping_result *r);

/* ---- global numbers ------------------------------------------------------------------------ */

/* Names and ranges as lnetctl's `set`: numa_range, max_interfaces, discovery, drop_asym_route,
 * retry_count, transaction_timeout, health_sensitivity, recovery_interval, router_sensitivity,
 * response_tracking, recovery_limit, max_recovery_ping_interval; lnd_timeout is derived. */
const struct lnet_tunable *lnet_globals(unsigned *count);
/* -ENOENT no such name; -EINVAL out of range, or it contradicts another (why); -EPERM read-only. */
int lnet_global_set(struct lnet *n, const char *name, int64_t value, char *why, size_t whylen);
int lnet_global_get(struct lnet *n, const char *name, int64_t *value);
bool lnet_global_is_set(struct lnet *n, const char *name);

/* Node-wide counters: name and value, a call each, in lnetctl's order, then ours. */
int lnet_stats_each(
        struct lnet *n, int (*fn)(void *arg, const char *name, uint64_t value), void *arg);
/* Clears them, and those of NIs and peer NIs. */
void lnet_stats_reset(struct lnet *n);
/* Every queue and operation and what it waits for, a line a call. Waits. */
int lnet_dump(struct lnet *n, void (*line)(void *arg, const char *text), void *arg);

#ifdef __cplusplus
}
#endif
#endif
