/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Networks and NIDs: the address of one interface, "address@network".
 *
 * Every function here is pure: no allocation, no global state, callable from any thread.
 * Spec: wire-lnet.md section 2 (type numbers, 4-byte and large form, text forms).
 */
#ifndef LNET_NID_H
#define LNET_NID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* LND type numbers, as on the wire. */
enum lnet_lnd_type {
	LNET_LND_TCP = 2,
	LNET_LND_O2IB = 5,
	LNET_LND_LO = 9,
	LNET_LND_GNI = 13,
	LNET_LND_GIP = 14,
	LNET_LND_PTLF = 15,
	LNET_LND_KFI = 16,
	LNET_LND_TOFU = 17,
	LNET_LND_EFA = 18,
	LNET_LND_BXI3F = 19,
	LNET_LND_OFI = 64, /* ours alone; kernel nodes treat it as an unknown type */
};

/* A network: (type << 16) | number, number 0..65535. */
typedef uint32_t lnet_net_t;
#define LNET_NET(type, num) ((lnet_net_t)(((uint32_t)(type) << 16) | ((uint32_t)(num)&0xffffu)))
#define LNET_NET_TYPE(net)  (((net) >> 16) & 0xffu)
#define LNET_NET_NUM(net)   ((net)&0xffffu)
#define LNET_NET_ANY        ((lnet_net_t)0xffffffffu)

#define LNET_NIDSTR_MAX 80 /* bytes that hold the text of any NID or net, NUL included */

/*
 * A NID, by value. Same layout as the large wire form, but num is in host order.
 * size is 0 for a 4-byte address, 12 for a 16-byte one; unused bytes of addr are zero, so that
 * two equal NIDs are equal byte by byte. addr is in network order.
 */
struct lnet_nid {
	uint8_t size;
	uint8_t type; /* enum lnet_lnd_type; 0xff = ANY */
	uint16_t num;
	uint8_t addr[16];
};

#define LNET_NID_ANY_INIT                                                                       \
	{                                                                                       \
		0xff, 0xff, 0xffff,                                                             \
		{                                                                               \
			0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, \
			        0xff, 0xff, 0xff, 0xff                                          \
		}                                                                               \
	}

#define LNET_NID4_ANY ((uint64_t)0xffffffffffffffffull)

/* Where and why a text was refused. pos is the byte offset in the text, from 0. */
struct lnet_parse_err {
	size_t pos;
	char msg[160]; /* what is wrong, with the limit where there is one */
};

struct lnet_nid lnet_nid_any(void);
bool lnet_nid_is_any(const struct lnet_nid *nid); /* only the type byte counts (spec 2.4) */
bool lnet_nid_is_lo(const struct lnet_nid *nid);  /* 0@lo */
bool lnet_nid_eq(const struct lnet_nid *a, const struct lnet_nid *b);
/* Byte-wise order of the big-endian wire form (wire-socklnd.md section 8). <0, 0, >0. */
int lnet_nid_cmp(const struct lnet_nid *a, const struct lnet_nid *b);
uint64_t lnet_nid_hash(const struct lnet_nid *nid);
lnet_net_t lnet_nid_net(const struct lnet_nid *nid); /* LNET_NET_ANY for ANY */

/* 4-byte form: bits 63..32 network, bits 31..0 address in host order. */
struct lnet_nid lnet_nid_from4(uint64_t nid4); /* LNET_NID4_ANY gives ANY */
bool lnet_nid_is4(const struct lnet_nid *nid);
uint64_t lnet_nid_to4(const struct lnet_nid *nid); /* requires lnet_nid_is4() or ANY */

/* Address helpers for IP networks. addr: 4 or 16 bytes, network order; len 4 or 16. */
struct lnet_nid lnet_nid_from_ip(lnet_net_t net, const void *addr, size_t len);
bool lnet_net_is_ip(lnet_net_t net); /* tcp, o2ib, gip, efa, ofi: the address is an IP address */

/*
 * Text to value. The whole string of len bytes must be used: no blanks, no sign, no leading zero,
 * no hexadecimal in IP addresses, net number 0..65535 decimal. No host names (those are resolved by
 * lnet_nid_resolve() alone). "192.0.2.5" without '@' is on tcp.
 * "<?>" is ANY, which a caller that wants one peer must refuse. A value without a text of its own,
 * as a NID of an unknown type, is HEX@<TYPE:NUMBER>. Return 0, or -EINVAL with *err filled in (err
 * may be NULL); *out is then untouched.
 */
int lnet_nid_parse(const char *s, size_t len, struct lnet_nid *out, struct lnet_parse_err *err);
int lnet_net_parse(const char *s, size_t len, lnet_net_t *out, struct lnet_parse_err *err);

/* Value to canonical text ("tcp", not "tcp0"). Return buf. size >= LNET_NIDSTR_MAX. */
char *lnet_nid_str(const struct lnet_nid *nid, char *buf, size_t size);
char *lnet_net_str(lnet_net_t net, char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif
