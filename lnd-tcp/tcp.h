/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of the tcp driver.
 *
 *   node  struct tcp_node  one a node
 *   ni    struct tcp_ni    one an NI: listener, handshakes of peers that connect, interface watch
 *   lane  struct tcp_lane  the part of an NI that lives on one loop: its peers and their work
 *   peer  struct tcp_peer  the driver's side of a rail: a set of typed connections
 *   conn  struct tcp_conn  one connection that stands
 *   hs    struct tcp_hs    one connection in its handshake
 *
 * THREADS. A ni's own fields are touched on the NI's home loop, a lane and everything in it on the
 * lane's loop. What crosses is atomic (ni->refs, busy, stopping, down; node->pending, next_port) or
 * is posted (a handshake moves to its rail's loop, a lane is told to stop).
 *
 * UPCALLS. Only parse() and rx_done() are called from the middle of the receive machine. Every
 * other upcall is queued in the lane and made by tcp_lane_deliver() at the end of a watch, timer or
 * deferred function, when no object is half changed. Entries of the contract only queue; they
 * never close a connection, they doom it.
 *
 * CLOSING. A kernel peer closes all its connections to us when one closes; so the loss of one is
 * the loss of all of that peer (tcp_peer_drop). Messages with no byte written yet are queued again,
 * once, and the peer is dialled at once, if the connection ended in order: EOF between two
 * messages. In all other cases, and for messages partly written, tx_done() says what happened;
 * `sent` is true for the latter.
 */
#ifndef TCP_H
#define TCP_H

#include <lnet/lnd.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "list.h"
#include "proto.h"
#include "tunables.h"

#define TCP_US               1000ull
#define TCP_MS               1000000ull
#define TCP_S                1000000000ull
#define TCP_NEVER            UINT64_MAX
#define TCP_PRIV_MAX         1023 /* highest privileged source port */
#define TCP_PRIV_MIN         512
#define TCP_BACKLOG          127
#define TCP_MAX_PENDING      256u  /* handshakes under way in a node */
#define TCP_MAX_PENDING_ADDR 16u   /* and from one address */
#define TCP_MAX_REFUSALS     3     /* in a row, then settle for what there is */
#define TCP_MAX_TXQ          1024u /* messages queued on a connection, or waiting for one */
#define TCP_MAX_TXQ_BYTES    (32u << 20)
#define TCP_MAX_OWED         4096u       /* ranges of ZC-ACKs owed to a peer that does not read */
#define TCP_MAX_COPIES       (16u << 20) /* bytes of cancelled messages, a lane */
#define TCP_RECENT           2

union tcp_addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

struct tcp_node {
	struct lnet_lnd_node *n;
	uint32_t pending;   /* atomic: passive handshakes under way */
	uint32_t next_port; /* atomic: rotates the search for a privileged source port */
};

/* Bits of lane->ctl. */
enum { TCP_CTL_STOP = 1, TCP_CTL_PURGE = 2, TCP_CTL_RESET = 4, TCP_CTL_CHANGED = 8 };

struct tcp_lane {
	struct tcp_ni *ni;
	struct lnet_loop *loop;
	struct tcp_link peers;
	struct tcp_link dirty;  /* connections with something to write, or doomed */
	struct tcp_link ackers; /* peers that are owed ZC-ACKs */
	struct tcp_link notify; /* peers with upcalls due */
	struct tcp_link txdone; /* messages whose tx_done() is due */
	struct tcp_link rxdone; /* dead connections whose rx_done() is due */
	struct tcp_link resume; /* connections whose parked message was taken */
	struct tcp_link fdone;  /* fences that are complete */
	struct lnet_work flush; /* deferred */
	struct lnet_work post;  /* posted with bits in ctl */
	uint32_t ctl;           /* atomic */
	uint32_t nconns;
	size_t copied; /* bytes held for cancelled messages */
	struct lnet_poll_hook hook;
	struct tcp_conn *recent[TCP_RECENT];
	bool hooked, delivering, stopped;
};

struct tcp_ni {
	struct lnet_lnd_ni *lni; /* not to be touched once stopped */
	struct tcp_node *node;
	struct lnet_loop *loop;
	uint32_t refs;     /* atomic: the core's one, each peer, each handshake */
	uint32_t busy;     /* atomic: what ni_stopped() waits for: lanes, handshakes */
	uint32_t stopping; /* atomic bool */
	uint32_t down;     /* atomic bool: link or address is gone */
	bool addr_gone;
	const char *why; /* of down */
	int ifindex;
	bool loopback;
	union tcp_addr addr; /* own address, port of the net */
	/* listener */
	int lfd;
	int spare_fd; /* given up to refuse a connection when descriptors run out */
	struct lnet_watch lwatch;
	struct lnet_timer ltimer; /* listen again, accept again */
	uint64_t lpause, lsaid;   /* length of the pause; when it was last logged */
	struct tcp_link pending;  /* passive handshakes on the home loop */
	/* interface events */
	int nlfd;
	struct lnet_watch nlwatch;
	struct lnet_work check;   /* deferred by ni_start: what state is the link in? */
	struct lnet_work stopped; /* posted when nothing is busy any more */
	unsigned nlanes;
	struct tcp_lane lanes[];
};

/* Upcalls that are due for a peer. */
enum {
	TCP_EV_RESTARTED = 1,
	TCP_EV_DOWN = 2,
	TCP_EV_FAILED = 4,
	TCP_EV_UP = 8,
	TCP_EV_READY = 16,
	TCP_EV_CLOSE = 32,
};

/* What a peer is owed: ranges of cookies, oldest first. */
struct tcp_owed {
	struct tcp_range {
		uint64_t lo, hi;
	} * r;
	uint32_t n, cap;
};

struct tcp_owed_cursor {
	uint32_t i;
	uint64_t next; /* cookie inside the range; 0 = its first */
};

struct tcp_peer {
	struct lnet_rail *rail;
	struct tcp_lane *lane;
	struct tcp_link link, note, ack;
	struct tcp_link conns;
	struct tcp_link txq; /* messages that wait for a connection */
	struct tcp_link fences;
	uint64_t txq_bytes;
	uint32_t txq_n;
	uint32_t events;   /* TCP_EV_* due */
	struct tcp_hs *hs; /* our own attempt */
	struct lnet_timer timer;
	uint64_t next_try;    /* no attempt before; 0 = at once */
	uint64_t backoff;     /* ns, the last pause; 0 = none */
	uint64_t incarnation; /* of the last connection; 0 = never connected */
	uint64_t last_rx, last_noop, last_up;
	struct tcp_owed owed;
	uint32_t count[4]; /* connections by own type, ANY .. BULK_OUT */
	uint32_t nconns;
	uint32_t outstanding; /* tx and rx accepted and not ended */
	uint32_t stamp;       /* of fences */
	uint32_t turn;        /* round robin among equal connections */
	int last_errno, down_err, fail_err;
	uint8_t version;   /* protocol version in use or agreed; 0 = none */
	uint8_t refusals;  /* in a row */
	uint8_t flaps;     /* connections in a row that died young */
	uint8_t fallbacks; /* changes of version in a row */
	bool dialled;      /* we opened the first connection: the rest is ours to open, too */
	bool settled;      /* the peer wants no more connections */
	bool lone;         /* one untyped connection is all that this peer can have */
	bool waiting;      /* for next_try, with messages queued: a lost race, a refusal */
	bool want_ready;
	bool closing;
	bool noop_due;
};

/* tx->drv. conn is NULL in peer->txq and when done. */
struct tcp_txd {
	struct tcp_link link;
	struct tcp_conn *conn;
	uint64_t cookie; /* ZC-ACK that goes with it; set once the first byte is written */
	uint32_t state;  /* enum tcp_tx_state */
	uint32_t csum;
	uint32_t stamp;
	int32_t status;
	uint8_t hs;
	bool sent;
	bool requeued;
};
enum tcp_tx_state { TCP_TX_NONE, TCP_TX_QUEUED, TCP_TX_STARTED, TCP_TX_DONE };

static inline struct tcp_txd *tcp_txd(struct lnet_tx *tx)
{
	return (struct tcp_txd *)(void *)tx->drv;
}

static inline struct lnet_tx *tcp_tx(struct tcp_link *l)
{
	return tcp_entry(tcp_entry(l, struct tcp_txd, link), struct lnet_tx, drv);
}

enum tcp_rx_state {
	TCP_RX_HEADER,  /* between messages, or part of a header is here */
	TCP_RX_DECIDE,  /* parse() was called and nothing has come of it yet */
	TCP_RX_PAYLOAD, /* left > 0 bytes go to the iovec or nowhere */
};

struct tcp_rx {
	struct lnet_rx rx;
	const struct iovec *iov, *iov0; /* cursor; what recv() gave */
	size_t off, off0;               /* bytes into iov, iov0 */
	uint32_t niov;                  /* left from the cursor on */
	uint32_t left;                  /* payload bytes to consume */
	uint32_t want;                  /* of these, for the iovec */
	uint32_t mlen, len;
	uint32_t csum, crc; /* received; of the header */
	uint64_t cookie;    /* ZC-ACK due when the payload is in */
	uint32_t stamp;
	int status;
	uint8_t state;
	bool pending; /* rx_done() is due */
	bool aside;   /* redirected */
	bool parked;  /* the core took its time */
};

struct tcp_conn {
	struct lnet_watch watch;
	struct tcp_peer *peer; /* NULL: closed, kept for its rx */
	struct tcp_lane *lane;
	struct tcp_link link;  /* peer->conns */
	struct tcp_link dirty; /* lane->dirty */
	struct tcp_link rlink; /* lane->resume, lane->rxdone */
	uint64_t since;
	int doom;      /* errno to close with, 0 = none */
	uint32_t used; /* peer->turn when it was last chosen */
	uint8_t doom_hs;
	uint8_t type; /* own side */
	uint8_t version;
	bool swap; /* the peer sends big-endian */
	bool big;  /* the last payload was large: keep first reads short */
	/* sending */
	struct tcp_link txq;
	uint32_t ntx;
	uint64_t tx_bytes; /* in txq, with headers */
	size_t head_off;   /* bytes of the first message that are written */
	uint8_t *rest;     /* raw bytes that go before the queue */
	size_t rest_off, rest_len, rest_cap;
	uint64_t tx_moved; /* time of the last progress */
	uint64_t tx_first; /* oldest write that may be unacknowledged; 0 = none */
	/* receiving */
	const uint8_t *in; /* bytes read and not consumed */
	size_t in_len;
	uint8_t *save; /* holds them while a message is parked */
	uint64_t rx_moved;
	uint32_t have; /* header bytes */
	struct tcp_rx rx;
	uint8_t head[TCP_MSG_HEAD_MAX];
};

/* r->drv once the rail is closed: a handshake that still holds the rail must not open it again. */
extern const char tcp_rail_gone;

static inline struct tcp_peer *tcp_peer_of(const struct lnet_rail *r)
{
	return r->drv == &tcp_rail_gone ? NULL : r->drv;
}

static inline struct lnet_lnd_ni *tcp_lni(const struct tcp_peer *p)
{
	return p->lane->ni->lni;
}

static inline const struct lnet_lnd_up *tcp_up(const struct tcp_lane *l)
{
	return l->ni->node->n->up;
}

#define tcp_log(node, ...) (node)->n->up->log((node)->n, __VA_ARGS__)

/* A struct lnet_fence's drv. */
struct tcp_fenced {
	struct tcp_link link;
	uint32_t stamp; /* what was accepted up to this stamp */
	uint32_t left;
};

/* ---- ni.c, listen.c, accept.c, netlink.c */
int tcp_ni_start(struct lnet_lnd_ni *lni);
void tcp_ni_stop(struct lnet_lnd_ni *lni);
void tcp_ni_changed(struct lnet_lnd_ni *lni);
void tcp_ni_get(struct tcp_ni *ni);
void tcp_ni_put(struct tcp_ni *ni);
void tcp_ni_idle(struct tcp_ni *ni); /* one thing less that ni_stopped() waits for */
static inline bool tcp_ni_stopping(const struct tcp_ni *ni)
{
	return __atomic_load_n(&ni->stopping, __ATOMIC_ACQUIRE);
}
static inline bool tcp_ni_down(const struct tcp_ni *ni)
{
	return __atomic_load_n(&ni->down, __ATOMIC_RELAXED);
}

void tcp_listen_init(struct tcp_ni *ni);
int tcp_listen(struct tcp_ni *ni);
void tcp_unlisten(struct tcp_ni *ni);
bool tcp_listen_wanted(const struct tcp_ni *ni);
enum lnet_accept tcp_accept_mode(const struct lnet_lnd_ni *lni);
void tcp_listen_later(struct tcp_ni *ni, uint64_t pause);
void tcp_passive_start(struct tcp_ni *ni, int fd, const union tcp_addr *from);
void tcp_passive_kill_all(struct tcp_ni *ni);

/* Look at the interface again: up, down, address back. */
void tcp_ni_check(struct tcp_ni *ni);
int tcp_netlink_open(struct tcp_ni *ni);
void tcp_netlink_close(struct tcp_ni *ni);

/* ---- addr.c: interfaces, addresses, sockets */
struct tcp_ifinfo {
	char name[16];
	int index;
	union tcp_addr addr;
	bool loopback;
};
void tcp_addr_from_nid(union tcp_addr *a, const struct lnet_nid *nid, unsigned port);
struct lnet_nid tcp_addr_to_nid(const union tcp_addr *a, lnet_net_t net);
socklen_t tcp_addr_len(const union tcp_addr *a);
unsigned tcp_addr_port(const union tcp_addr *a);
void tcp_addr_set_port(union tcp_addr *a, unsigned port);
bool tcp_addr_same_host(const union tcp_addr *a, const union tcp_addr *b);
bool tcp_addr_allowed(const struct lnet_lnd_ni *lni, const union tcp_addr *a);
/* The interface that owns the address; -EADDRNOTAVAIL. */
int tcp_if_by_addr(const union tcp_addr *a, struct tcp_ifinfo *out);
/* The first address of the family on the interface; -ENODEV, -EADDRNOTAVAIL. */
int tcp_if_by_name(const char *name, int family, struct tcp_ifinfo *out);
/* Does the interface own the address? -ENODEV, -EADDRNOTAVAIL. */
int tcp_if_check(const char *name, const union tcp_addr *a, struct tcp_ifinfo *out);
uint32_t tcp_if_speed(const char *name);
uint32_t tcp_if_mtu(const char *name);
/* NULL when the link can carry, else what is wrong with it. */
const char *tcp_if_state(const char *name);

/* ---- sock.c */
int tcp_sock_new(struct tcp_ni *ni, int family, bool device);
void tcp_sock_tune(struct tcp_ni *ni, int fd, int family);
/* A socket bound to our address, privileged port or not, on which connect() was called. fd, or a
 * negative errno. *privileged: what was got. */
int tcp_sock_dial(struct tcp_ni *ni, const union tcp_addr *to, bool want_priv, bool *privileged);
int tcp_sock_error(int fd);

/* ---- lane.c */
void tcp_lane_init(struct tcp_lane *lane, struct tcp_ni *ni, struct lnet_loop *loop);
void tcp_lane_post(struct tcp_lane *lane, uint32_t bits);
void tcp_lane_kick(struct tcp_lane *lane); /* run the deferred function */
void tcp_lane_deliver(struct tcp_lane *lane);
struct tcp_lane *tcp_lane_of(struct tcp_ni *ni, const struct lnet_loop *loop);
void tcp_lane_recent(struct tcp_lane *lane, struct tcp_conn *c);
void tcp_lane_forget(struct tcp_lane *lane, struct tcp_conn *c);

/* ---- peer.c, pump.c */
int tcp_rail_open(struct lnet_rail *r);
void tcp_rail_close(struct lnet_rail *r);
void tcp_peer_free(struct tcp_peer *p);
void tcp_peer_note(struct tcp_peer *p, uint32_t ev);
/* Open the next connection that is wanted, if any. 0 or the error of an attempt that failed at
 * once. */
int tcp_peer_pump(struct tcp_peer *p);
/* Lose every connection. err < 0. again: unwritten messages are queued again. */
void tcp_peer_drop(struct tcp_peer *p, int err, enum lnet_hstatus hs, bool again);
void tcp_peer_shut(struct tcp_peer *p, int err, enum lnet_hstatus hs);
void tcp_peer_fail_waiting(struct tcp_peer *p, int err, enum lnet_hstatus hs, bool requeued_only);
/* An attempt failed: back off, fail what waits. */
void tcp_peer_attempt_failed(struct tcp_peer *p, int err, enum lnet_hstatus hs);
void tcp_peer_refused(struct tcp_peer *p);
bool tcp_peer_is_client(const struct tcp_peer *p);
unsigned tcp_first_type(const struct tcp_peer *p);  /* of a peer's first connection */
uint32_t tcp_peer_wanted(const struct tcp_peer *p); /* own conns_per_peer, resolved */
void tcp_peer_arm(struct tcp_peer *p, uint64_t when);
void tcp_peer_timer(struct lnet_timer *t);
void tcp_peer_op_begin(struct tcp_peer *p, uint32_t *stamp);
void tcp_peer_op_end(struct tcp_peer *p, uint32_t stamp);
enum lnet_hstatus tcp_hs_of(int err);
/* Is the remembered incarnation another one? Then everything goes, and true. */
bool tcp_peer_restarted(struct tcp_peer *p, uint64_t incarnation);
void tcp_peer_connected(struct tcp_peer *p, struct tcp_conn *c, uint64_t incarnation);

/* ---- conn.c */
struct tcp_conn *tcp_conn_new(
        struct tcp_peer *p, int fd, unsigned type, unsigned version, bool swap);
void tcp_conn_detach(struct tcp_conn *c, int err, enum lnet_hstatus hs, bool again);
void tcp_conn_free(struct tcp_conn *c);
void tcp_conn_fail(struct tcp_conn *c, int err, enum lnet_hstatus hs, const char *why);
void tcp_conn_doom(struct tcp_conn *c, int err, enum lnet_hstatus hs);
void tcp_conn_watch(struct tcp_conn *c);

/* ---- connect.c */
struct tcp_hs;
int tcp_active_start(struct tcp_peer *p, unsigned type);
void tcp_active_kill(struct tcp_peer *p);
uint64_t tcp_active_due(const struct tcp_peer *p);
const char *tcp_active_what(const struct tcp_peer *p);

/* ---- tx.c, cancel.c */
int tcp_send(struct lnet_rail *r, struct lnet_tx *tx);
int tcp_cancel(struct lnet_rail *r, struct lnet_tx *tx);
void tcp_tx_end(
        struct tcp_peer *p, struct lnet_tx *tx, int status, enum lnet_hstatus hs, bool sent);
void tcp_tx_unqueue(struct tcp_peer *p, struct lnet_tx *tx);
void tcp_tx_wait(struct tcp_peer *p, struct lnet_tx *tx);
void tcp_peer_ready(struct tcp_peer *p);           /* room: tx_ready() if the core waits for it */
void tcp_tx_dispatch(struct tcp_peer *p);          /* what waited for a connection */
bool tcp_tx_flush(struct tcp_conn *c, bool noops); /* false: the connection is gone */
uint64_t tcp_tx_expire(struct tcp_peer *p, uint64_t now);
void tcp_tx_end_early(struct tcp_peer *p, struct lnet_tx *tx, int status, enum lnet_hstatus hs);
size_t tcp_tx_size(const struct tcp_conn *c, const struct lnet_tx *tx);
struct tcp_conn *tcp_choose(struct tcp_peer *p, uint32_t payload);
struct tcp_conn *tcp_choose_noop(struct tcp_peer *p);

/* ---- rx.c */
void tcp_rx_ready(struct tcp_conn *c);
unsigned tcp_rx_poll(struct tcp_conn *c);
void tcp_rx_resume(struct tcp_conn *c);
int tcp_recv(struct lnet_rx *rx, const struct lnet_dst *dst);
int tcp_discard(struct lnet_rx *rx);
int tcp_redirect(struct lnet_rx *rx);
uint64_t tcp_rx_due(const struct tcp_conn *c);

/* ---- zc.c */
int tcp_owe(struct tcp_peer *p, uint64_t cookie);
uint64_t tcp_owed_next(const struct tcp_owed *o, struct tcp_owed_cursor *at, bool merge,
        uint64_t *c0, uint64_t *c1);
void tcp_owed_consume(struct tcp_owed *o, uint64_t count);
void tcp_owed_clear(struct tcp_owed *o);

/* ---- fence.c, debug.c */
int tcp_fence(struct lnet_rail *r, struct lnet_fence *f);
uint64_t tcp_fence_expire(struct tcp_peer *p, uint64_t now);
int tcp_query(struct lnet_rail *r, struct lnet_rail_info *info);
void tcp_dump(struct lnet_rail *r, void (*line)(void *arg, const char *text), void *arg);

#endif
