/* SPDX-License-Identifier: BSD-2-Clause */
/* The parsed form of a list of ranges, for range.c and range_out.c alone. */
#ifndef LNI_WIRE_RANGE_INT_H
#define LNI_WIRE_RANGE_INT_H

#include "lnet/wire/numset.h"
#include "lnet/wire/range.h"

enum lni_range_kind {
	LNI_RANGE_EVERY, /* every NID of every network */
	LNI_RANGE_ALL,   /* every NID of the networks named */
	LNI_RANGE_ONE,   /* one address: addr, and prefix is the size byte of the NID */
	LNI_RANGE_IP4,   /* part[0..3] */
	LNI_RANGE_CIDR4, /* addr, prefix */
	LNI_RANGE_IP6,   /* addr, whose last 16 bits are those of part[0] */
	LNI_RANGE_CIDR6, /* addr, prefix */
	LNI_RANGE_NUM,   /* part[0] */
};

struct lni_range {
	enum lni_range_kind kind;
	bool bare;   /* ALL, written as the name of the network */
	bool no_net; /* an address alone */
	uint8_t type;
	uint8_t prefix;
	uint8_t addr[16];
	struct lni_numset nets; /* net numbers */
	struct lni_numset part[4];
};

struct lni_ranges {
	size_t n, cap;
	bool no_net;
	struct lni_range *v;
};

/*
 * name [number | set], or <TYPE:NUMBER>, at s[*pos]; *pos moves behind it. 0, -EINVAL with *err
 * filled in, or -ENOMEM. On success the caller ends *nums.
 */
int lni_netset_parse_at(const char *s, size_t len, size_t *pos, uint8_t *type,
        struct lni_numset *nums, struct lnet_parse_err *err);

#endif
