/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keyed 64-bit mixing for hash tables, and a keyed 64-bit permutation for cookies: the block cipher
 * Speck64/128, so that who has seen any number of cookies can neither guess the next nor tell one
 * from a random number. Both keys come from lni_random().
 */
#ifndef LNI_BASE_HASH64_H
#define LNI_BASE_HASH64_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Every bit of the result depends on every bit of x and key. */
static inline uint64_t lni_mix64(uint64_t x, uint64_t key)
{
	x ^= key;
	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
	x += key;
	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
	return x ^ (x >> 32);
}

/* A hash of len bytes; the same on machines of either byte order is not promised. */
static inline uint64_t lni_hash_bytes(const void *p, size_t len, uint64_t key)
{
	const unsigned char *b = p;
	uint64_t h = lni_mix64(len, key), v;

	for (; len >= sizeof(v); b += sizeof(v), len -= sizeof(v)) {
		memcpy(&v, b, sizeof(v));
		h = lni_mix64(h ^ v, key);
	}
	if (len) {
		v = 0;
		memcpy(&v, b, len);
		h = lni_mix64(h ^ v, key);
	}
	return h;
}

enum { LNI_PERM_ROUNDS = 27 };

struct lni_perm {
	uint32_t k[LNI_PERM_ROUNDS];
};

static inline uint32_t lni_rol32(uint32_t x, unsigned n)
{
	return x << n | x >> (32 - n);
}

static inline uint32_t lni_ror32(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

/* key[0] is the word of the first round. */
static inline void lni_perm_init(struct lni_perm *p, const uint32_t key[4])
{
	uint32_t l[LNI_PERM_ROUNDS + 3] = {key[1], key[2], key[3]};

	p->k[0] = key[0];
	for (uint32_t i = 0; i + 1 < LNI_PERM_ROUNDS; i++) {
		l[i + 3] = (p->k[i] + lni_ror32(l[i], 8)) ^ i;
		p->k[i + 1] = lni_rol32(p->k[i], 3) ^ l[i + 3];
	}
}

static inline uint64_t lni_perm_apply(const struct lni_perm *p, uint64_t v)
{
	uint32_t x = (uint32_t)(v >> 32), y = (uint32_t)v;

	for (unsigned i = 0; i < LNI_PERM_ROUNDS; i++) {
		x = (lni_ror32(x, 8) + y) ^ p->k[i];
		y = lni_rol32(y, 3) ^ x;
	}
	return (uint64_t)x << 32 | y;
}

static inline uint64_t lni_perm_undo(const struct lni_perm *p, uint64_t v)
{
	uint32_t x = (uint32_t)(v >> 32), y = (uint32_t)v;

	for (unsigned i = LNI_PERM_ROUNDS; i-- > 0;) {
		y = lni_ror32(y ^ x, 3);
		x = lni_rol32((x ^ p->k[i]) - y, 8);
	}
	return (uint64_t)x << 32 | y;
}

#endif
