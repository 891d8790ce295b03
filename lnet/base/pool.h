/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects of one size, cut from slabs and reused last in first out. Not thread-safe: one a loop. */
#ifndef LNI_BASE_POOL_H
#define LNI_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

struct lni_pool {
	size_t size; /* of an object, rounded up */
	uint32_t per_slab;
	uint64_t max;  /* objects at most; 0 = no limit */
	uint64_t used; /* objects handed out */
	uint64_t total;
	void *free;  /* linked through the objects */
	void *slabs; /* linked through their heads */
};

/* Nothing is allocated yet. max 0 = no limit. Objects are aligned to 16 bytes. */
void lni_pool_init(struct lni_pool *p, size_t size, uint32_t per_slab, uint64_t max);
/* Every object must have been given back. */
void lni_pool_fini(struct lni_pool *p);
/* Not cleared. NULL: no memory, or max reached. */
void *lni_pool_get(struct lni_pool *p);
void lni_pool_put(struct lni_pool *p, void *obj);

#endif
