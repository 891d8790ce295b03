/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes that socket networks speak: acceptor request, HELLO, and the frame around each message
 * (spec: wire-socklnd.md). Pure functions, any thread; nothing here touches a socket.
 *
 * Byte order: each direction is in the order of its sender, which the magics tell. be = big-endian;
 * we send little-endian. LNet headers are little-endian always, large NIDs are never swapped.
 */
#ifndef TCP_PROTO_H
#define TCP_PROTO_H

#include <lnet/hdr.h>

#define TCP_MAGIC_ACCEPTOR 0xacce7100u
#define TCP_MAGIC_LNET     0x45726963u /* HELLO v2 to v4; at the acceptor: a version query */
#define TCP_MAGIC_V1       0xeebc0dedu

/* Every incremental parser: the bytes received so far are buf[0..len). */
enum tcp_parse {
	TCP_PARSE_OK = 0,  /* *need = bytes used */
	TCP_PARSE_MORE,    /* read until there are *need bytes, never beyond */
	TCP_PARSE_VERSION, /* sound magic, unknown version */
	TCP_PARSE_QUERY,   /* acceptor: a version query */
	TCP_PARSE_ANCIENT, /* acceptor: a v1 HELLO without acceptor request */
	TCP_PARSE_BAD,     /* not this protocol, or a field out of range */
};

/* ---- acceptor request (spec section 2) --------------------------------------------------- */

#define TCP_ACCEPT_V1_SIZE  16u
#define TCP_ACCEPT_V2_SIZE  28u
#define TCP_ACCEPT_MAX      TCP_ACCEPT_V2_SIZE
#define TCP_ACCEPT_ANS_SIZE 16u

/*
 * Outcomes: OK: *nid is the wanted NI, nothing is sent; VERSION and QUERY: send the answer, close;
 * ANCIENT and BAD: close. *why (not NULL) is a constant phrase unless OK or MORE.
 */
enum tcp_parse tcp_accept_parse(
        const uint8_t *buf, size_t len, struct lnet_nid *nid, size_t *need, const char **why);
/* v1 for a 4-byte address, v2 otherwise. Returns the size. */
size_t tcp_accept_encode(const struct lnet_nid *nid, bool be, uint8_t buf[TCP_ACCEPT_MAX]);
/* The answer to a version query: magic, version 1, no NID. */
void tcp_accept_encode_answer(uint8_t buf[TCP_ACCEPT_ANS_SIZE]);

/* ---- HELLO (spec section 4) -------------------------------------------------------------- */

#define TCP_HELLO_V1_SIZE 72u
#define TCP_HELLO_V2_SIZE 56u /* v3 too */
#define TCP_HELLO_V4_SIZE 80u
#define TCP_HELLO_MAX_IPS 16u
#define TCP_HELLO_MAX     (TCP_HELLO_V1_SIZE + 4 * TCP_HELLO_MAX_IPS) /* longest to receive */

enum tcp_ctype {
	TCP_CTYPE_ANY = 0,
	TCP_CTYPE_CONTROL = 1,
	TCP_CTYPE_BULK_IN = 2,
	TCP_CTYPE_BULK_OUT = 3,
};
#define TCP_CTYPE_NONE 0xffffffffu /* a refusal */

struct tcp_hello {
	uint32_t version; /* 1 to 4 */
	bool be;          /* byte order of the sender */
	struct lnet_nid src_nid;
	struct lnet_nid dst_nid; /* ANY in v1, which does not carry it */
	uint32_t src_pid;
	uint32_t dst_pid;
	uint64_t src_incarnation;
	uint64_t dst_incarnation; /* 0 in v1 */
	uint32_t ctype;           /* as the sender sees it; any value is passed on */
	uint32_t nips;            /* addresses that were listed, and ignored */
};

/*
 * OK, MORE, VERSION (h->be is set), BAD. Checked: magic, version, message type (v1), source NID not
 * ANY and well-formed, at most 16 addresses and none of them 0 (none at all in v4).
 */
enum tcp_parse tcp_hello_parse(
        const uint8_t *buf, size_t len, struct tcp_hello *h, size_t *need, const char **why);
/*
 * Returns the size, or -EINVAL (version) or -EAFNOSUPPORT (a NID that v1 to v3 cannot carry;
 * dst_nid does not matter in v1). No addresses are listed.
 */
int tcp_hello_encode(const struct tcp_hello *h, uint8_t buf[TCP_HELLO_V4_SIZE]);

/* 0 and the type that the other side holds; -EPROTO for NONE and unknown values. */
int tcp_ctype_mirror(uint32_t ctype, uint32_t *mirror);
const char *tcp_ctype_name(uint32_t ctype);

/* What the active side makes of the answer to its HELLO (spec 4.4, errors.md section 2). */
enum tcp_answer {
	TCP_ANSWER_OK,      /* connected; the version in the answer is used */
	TCP_ANSWER_RETRY,   /* refused: race lost, surplus connection or incarnation forgotten */
	TCP_ANSWER_VERSION, /* refused: try again with the version in the answer */
	TCP_ANSWER_BAD,
};
/* sent: our HELLO; pid: the peer's expected PID (its NID is sent->dst_nid). */
enum tcp_answer tcp_hello_answer(
        const struct tcp_hello *sent, const struct tcp_hello *got, uint32_t pid, const char **why);

/* The version of a first attempt: 3, or 4 for a peer with a large NID. */
uint32_t tcp_hello_version(const struct lnet_nid *peer);

/* ---- messages (spec section 6) ----------------------------------------------------------- */

#define TCP_FRAME_SIZE 24u
#define TCP_FRAME_NOOP 0xc0u
#define TCP_FRAME_LNET 0xc1u
#define TCP_KEEPALIVE  1u /* cookie[1] of a keepalive NOOP */
/* frame and header of one message, the longest form */
#define TCP_MSG_HEAD_MAX (TCP_FRAME_SIZE + LNET_HDR16_SIZE)

struct tcp_frame {
	uint32_t type;
	uint32_t csum;
	uint64_t cookie[2];
};

void tcp_frame_encode(const struct tcp_frame *f, bool be, uint8_t buf[TCP_FRAME_SIZE]);
void tcp_frame_decode(const uint8_t buf[TCP_FRAME_SIZE], bool be, struct tcp_frame *f);

/* Bytes before the payload of an LNET message: 72, 96 or 120. */
size_t tcp_msg_head_size(uint32_t version);

/*
 * The frame (absent in v1: *f is then an LNET frame with zeros) and, unless it is a NOOP, the LNet
 * header. OK, MORE or BAD. The payload, hdr->payload_length bytes, follows behind *need bytes.
 */
enum tcp_parse tcp_msg_parse(const uint8_t *buf, size_t len, uint32_t version, bool be,
        struct tcp_frame *f, struct lnet_hdr *hdr, size_t *need, const char **why);
/* An LNET message's head. Returns its size, or the error of lnet_hdr_encode4() or 16(). */
int tcp_msg_encode(const struct tcp_frame *f, const struct lnet_hdr *hdr, uint32_t version, bool be,
        uint8_t buf[TCP_MSG_HEAD_MAX]);

/* CRC-32 with seed ~0 and no final inversion, continued from csum; start with TCP_CSUM_INIT. */
#define TCP_CSUM_INIT 0xffffffffu
uint32_t tcp_csum(uint32_t csum, const void *buf, size_t len);

/* What cookie[1] of a received frame says (spec 6.2, 6.3). */
enum tcp_zc {
	TCP_ZC_NONE,
	TCP_ZC_KEEPALIVE,
	TCP_ZC_RANGE, /* first .. last, all of them; one cookie: first == last */
	TCP_ZC_PAIR,  /* first and last alone */
	TCP_ZC_BAD,   /* a keepalive that also names something else: protocol error */
};
struct tcp_zc_ack {
	uint64_t first, last;
	uint64_t count; /* acknowledgements meant; compare before walking a range */
};
enum tcp_zc tcp_zc_parse(const struct tcp_frame *f, uint32_t version, struct tcp_zc_ack *ack);
/*
 * Add one acknowledgement to a NOOP that is not sent yet. true if it is in it now, false if it
 * needs a frame of its own: v2, a cookie of 0 or 1, or a form that cannot hold it.
 */
bool tcp_zc_merge(struct tcp_frame *noop, uint32_t version, uint64_t cookie);

/* ---- choice of connections (spec section 5) ---------------------------------------------- */

enum tcp_fit {
	TCP_FIT_NO,
	TCP_FIT_MAYBE,
	TCP_FIT_YES,
};
/*
 * May a message go on a connection of this type? size: whole size on the wire; large: from min_bulk
 * on. nonblk: a NOOP that must not wait behind bulk (ZC-ACK, keepalive).
 */
enum tcp_fit tcp_msg_fit(
        uint32_t version, uint32_t ctype, bool noop, bool nonblk, size_t size, size_t min_bulk);

/* conns_per_peer = 0: from the speed of the link in Mbit/s; 0 or less is "unknown". */
unsigned tcp_conns_for_speed(long mbits);
/*
 * The type to open next when count[] connections of each type exist and conns_per_peer is n;
 * TCP_CTYPE_NONE when the set is complete.
 */
uint32_t tcp_next_ctype(const unsigned count[4], unsigned n);

#endif
