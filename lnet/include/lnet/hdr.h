/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The LNet message header, decoded, and its two wire forms (spec: wire-lnet.md sections 4 and 5).
 * Pure functions, any thread. Used by the core and by the drivers.
 */
#ifndef LNET_HDR_H
#define LNET_HDR_H

#include <lnet/nid.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LNET_MTU          1048576u /* largest payload of one PUT or REPLY, bytes */
#define LNET_MAX_IOV      256u
#define LNET_MAX_PORTALS  64u
#define LNET_HDR4_SIZE    72u /* 4-byte NIDs */
#define LNET_HDR16_SIZE   96u /* large NIDs */
#define LNET_PID_LUSTRE   12345u
#define LNET_PID_ANY      0xffffffffu
#define LNET_PID_USERFLAG 0x80000000u
#define LNET_PID_RESERVED 0xf0000000u
#define LNET_COOKIE_NONE  0xffffffffffffffffull

enum lnet_msg_type {
	LNET_MSG_ACK = 0,
	LNET_MSG_PUT = 1,
	LNET_MSG_GET = 2,
	LNET_MSG_REPLY = 3,
	LNET_MSG_HELLO = 4, /* inside a socklnd V1 HELLO alone */
};

/* A wire handle: echoed bit for bit by the peer. Both words LNET_COOKIE_NONE = none. */
struct lnet_wmd {
	uint64_t iface;  /* random per start of a node */
	uint64_t object; /* one operation */
};

struct lnet_hdr {
	struct lnet_nid dest_nid; /* final destination */
	struct lnet_nid src_nid;  /* originator */
	uint32_t dest_pid;
	uint32_t src_pid;
	uint32_t type; /* enum lnet_msg_type */
	uint32_t payload_length;
	union {
		struct {
			struct lnet_wmd dst_wmd;
			uint64_t match_bits;
			uint32_t mlength;
		} ack;
		struct {
			struct lnet_wmd ack_wmd;
			uint64_t match_bits;
			uint64_t hdr_data; /* sent little-endian */
			uint32_t ptl_index;
			uint32_t offset;
		} put;
		struct {
			struct lnet_wmd return_wmd;
			uint64_t match_bits;
			uint32_t ptl_index;
			uint32_t src_offset;
			uint32_t sink_length;
		} get;
		struct {
			struct lnet_wmd dst_wmd;
		} reply;
	} msg;
};

/*
 * Encode. buf holds LNET_HDR4_SIZE or LNET_HDR16_SIZE bytes; unused bytes of the body are written
 * as zero. encode4 requires that both NIDs have 4-byte addresses: -EAFNOSUPPORT otherwise. -EINVAL
 * for a type outside ACK..REPLY.
 */
int lnet_hdr_encode4(const struct lnet_hdr *h, uint8_t buf[LNET_HDR4_SIZE]);
int lnet_hdr_encode16(const struct lnet_hdr *h, uint8_t buf[LNET_HDR16_SIZE]);

/*
 * Decode and check what can be checked without state: type 0..3, ACK and GET without payload,
 * payload <= LNET_MTU, nid_size 0 or 12, unused address bytes zero, source NID not ANY.
 * 0, or -EPROTO with *why (may be NULL) a constant lower-case phrase that names the first failed
 * check.
 */
int lnet_hdr_decode4(const uint8_t buf[LNET_HDR4_SIZE], struct lnet_hdr *h, const char **why);
int lnet_hdr_decode16(const uint8_t buf[LNET_HDR16_SIZE], struct lnet_hdr *h, const char **why);

/* The large NID on the wire: 20 bytes, big-endian, never swapped (spec 2.4). decode: 0 or -EPROTO;
 * accepts ANY. */
#define LNET_NID16_SIZE 20u
void lnet_nid_encode16(const struct lnet_nid *nid, uint8_t buf[LNET_NID16_SIZE]);
int lnet_nid_decode16(const uint8_t buf[LNET_NID16_SIZE], struct lnet_nid *nid);

#ifdef __cplusplus
}
#endif
#endif
