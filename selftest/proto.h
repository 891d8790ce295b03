/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What generator and responder say to each other, version 1; all on portal LST_PORTAL.
 *
 * A request is a PUT with the match bits LST_CONTROL_BITS; the answer is a PUT to the generator's
 * own portal under the match bits that the request names. OPEN makes a session of `slots` buffers
 * of `size` bytes; data then moves by plain PUT or GET under lst_slot_bits(). Operation numbers of
 * slot s are s, s + slots, s + 2 * slots, ...: each end knows which one comes next, so that a lost,
 * repeated or stale message is seen even when its bytes are in order. A PUT carries its number in
 * hdr_data; the answer to the n-th GET of a slot is the pattern of its n-th operation.
 *
 * Integers are little-endian.
 */
#ifndef LST_PROTO_H
#define LST_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "selftest/pattern.h"

#define LST_PORTAL       60u
#define LST_CONTROL_BITS 0x756c73742f763100ull /* "ulst/v1" */
#define LST_MAGIC        0x54534c55u
#define LST_VERSION      1u

#define LST_SIZE_MAX  (1u << 20)
#define LST_SLOTS_MAX 1024u

enum lst_kind { LST_OPEN = 1, LST_CLOSE = 2, LST_RESULT = 3 };

struct lst_request {
	uint16_t kind;       /* enum lst_kind */
	uint64_t reply_bits; /* top bit set, so that it is no slot and no control */
	uint32_t session;    /* CLOSE, RESULT */
	/* OPEN */
	bool get;
	uint8_t check; /* enum lst_check */
	uint16_t slots;
	uint16_t source;
	uint32_t size;
	uint64_t seed;
};

struct lst_reply {
	uint16_t kind;
	int32_t status; /* 0 or negative errno */
	uint32_t session;
	uint64_t ops, data_errors, order_errors; /* of the session, as the responder saw them */
	/* the first data error: where, whose it should be, whose it is, the bytes themselves */
	uint64_t at;
	uint64_t want_op, found_op, found_offset;
	uint16_t want_source, found_source;
	bool found_known;
	uint32_t found_session;
	uint64_t word;
};

#define LST_REQUEST_SIZE 48u
#define LST_REPLY_SIZE   96u

void lst_request_encode(const struct lst_request *r, uint8_t buf[LST_REQUEST_SIZE]);
/* -EPROTO: length, magic, version or kind; -EINVAL: a number out of range. */
int lst_request_decode(const uint8_t *buf, size_t len, struct lst_request *r);
void lst_reply_encode(const struct lst_reply *r, uint8_t buf[LST_REPLY_SIZE]);
int lst_reply_decode(const uint8_t *buf, size_t len, struct lst_reply *r);

#define LST_SLOT_IGNORE 0x20000ull /* never set in slot bits; matches either way */
static inline uint64_t lst_slot_bits(uint32_t session, uint16_t slot)
{
	return (uint64_t)(session & 0x7fffffffu) << 32 | 0x10000u | slot;
}

#endif
