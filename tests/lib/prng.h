/* SPDX-License-Identifier: BSD-2-Clause */
/* A seeded generator (xorshift64*), so that a property test that fails fails again. */
#ifndef TEST_PRNG_H
#define TEST_PRNG_H

#include <stddef.h>
#include <stdint.h>

struct prng {
	uint64_t s;
};

static inline uint64_t prng_next(struct prng *p)
{
	p->s ^= p->s >> 12;
	p->s ^= p->s << 25;
	p->s ^= p->s >> 27;
	return p->s * 0x2545f4914f6cdd1dull;
}

/* 0 .. n - 1 */
static inline uint32_t prng_below(struct prng *p, uint32_t n)
{
	return (uint32_t)((prng_next(p) >> 32) % n);
}

static inline void prng_fill(struct prng *p, void *buf, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = (uint8_t)(prng_next(p) >> 56);
}

#endif
