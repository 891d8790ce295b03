/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of the NID grammar that the range and configuration grammars build upon. */
#ifndef LNI_WIRE_NID_STR_H
#define LNI_WIRE_NID_STR_H

#include <lnet/nid.h>

/* What an address of a network type looks like in text. */
enum lni_addr_kind {
	LNI_ADDR_IP46, /* IPv4 or IPv6 */
	LNI_ADDR_IP4,
	LNI_ADDR_NUM,  /* unsigned 32-bit number, decimal or 0x hexadecimal */
	LNI_ADDR_ZERO, /* lo: 0 alone */
	LNI_ADDR_HEX,  /* unknown type: bare hexadecimal digits */
};

enum lni_addr_kind lni_net_addr_kind(uint32_t type);

/*
 * Each of these reads one element at s[*pos] and moves *pos behind it; what follows is the caller's
 * business. 0, or -EINVAL with *err filled in (may be NULL) and the outputs untouched or undefined.
 */
int lni_net_parse_at(
        const char *s, size_t len, size_t *pos, lnet_net_t *out, struct lnet_parse_err *err);
int lni_ip4_parse_at(
        const char *s, size_t len, size_t *pos, uint8_t addr[4], struct lnet_parse_err *err);
int lni_ip6_parse_at(
        const char *s, size_t len, size_t *pos, uint8_t addr[16], struct lnet_parse_err *err);
int lni_num_parse_at(
        const char *s, size_t len, size_t *pos, uint32_t *out, struct lnet_parse_err *err);

/* The whole of s is the address of a NID whose type is set already. Sets size and addr. */
int lni_addr_parse(const char *s, size_t len, struct lnet_nid *nid, struct lnet_parse_err *err);

#endif
