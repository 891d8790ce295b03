/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LNI_BASE_RAND_H
#define LNI_BASE_RAND_H

#include <stddef.h>
#include <stdint.h>

/* Fill with unpredictable bytes from the kernel. 0, or the negative errno of getrandom(2)
 * (-ENOSYS). */
int lni_random(void *buf, size_t len);

/* A small fast generator for choices that need no secrecy (jitter, tests). The state must not be 0.
 */
static inline uint64_t lni_rand_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return x * 0x2545f4914f6cdd1du;
}

#endif
