/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data that says whose it is. Byte p of a message is byte p % 8 (little-endian) of word p / 8, and
 *
 *     word = permutation(seed; source, operation, index)
 *
 * with a 64-bit permutation keyed by the seed: 12 bits source, 35 bits operation, 17 bits word
 * index. So every word of a run is different, and a word that is found in the wrong place can be
 * turned back into (source, operation, offset): that is how stale, repeated and misplaced data is
 * named. Operation numbers count modulo 2^35; two that are that far apart are never in flight
 * together.
 *
 * Pure functions, any thread, no allocation.
 */
#ifndef LST_PATTERN_H
#define LST_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LST_SOURCE_MAX   4095u
#define LST_OP_MASK      ((1ull << 35) - 1)
#define LST_PATTERN_SPAN (1u << 20) /* bytes that one operation can name */
#define LST_PAGE         4096u      /* what check=simple looks at the ends of */

enum lst_check {
	LST_CHECK_NONE,   /* nothing is written, nothing is looked at */
	LST_CHECK_SIMPLE, /* the first and the last 8 bytes of each 4 KiB of the message */
	LST_CHECK_FULL,   /* each byte */
};

struct lst_owner {
	uint16_t source; /* 0..LST_SOURCE_MAX */
	uint64_t op;     /* only the low 35 bits count */
	uint64_t offset; /* bytes into the message */
};

/* One message: the pattern of (seed, source, op). */
struct lst_pattern {
	uint64_t seed;
	uint64_t op;
	uint16_t source;
};

uint64_t lst_word(const struct lst_pattern *p, uint64_t index);
struct lst_owner lst_word_owner(uint64_t seed, uint64_t word);

/* Write bytes off .. off + len - 1 of the message to buf; off + len <= LST_PATTERN_SPAN. Off is
 * where buf begins in the message, so pages of check=simple count from the message's start. */
void lst_pattern_fill(
        const struct lst_pattern *p, enum lst_check check, uint64_t off, void *buf, size_t len);

/*
 * Compare. The number of wrong places (words, at the granularity of the check), 0 = all is right;
 * *at is then untouched, else the message offset of the first wrong byte.
 */
uint64_t lst_pattern_verify(const struct lst_pattern *p, enum lst_check check, uint64_t off,
        const void *buf, size_t len, uint64_t *at);

/* ---- whose data is it? (pattern_find.c) --------------------------------------------------------
 */

struct lst_suspect {
	uint64_t seed;
	uint32_t session; /* any mark of the caller's, handed back */
};

/* What is at a wrong place. */
struct lst_found {
	bool known;       /* owner and session are valid: this is a piece of that message */
	uint32_t session; /* of the suspect that it fits */
	struct lst_owner owner;
	uint64_t word; /* the bytes themselves, little-endian, short at the end of the buffer */
};

/*
 * buf is a message (len bytes from its start), at the first wrong byte in it. Tries each suspect's
 * seed, at each byte shift; two whole words in a row must agree, or one if it names the source
 * expected and an operation at most 2^20 away. For a last piece of 4 to 7 bytes the operations near
 * p->op are tried.
 */
void lst_pattern_find(const struct lst_pattern *p, const struct lst_suspect *s, unsigned n,
        const void *buf, size_t len, uint64_t at, struct lst_found *out);

#endif
