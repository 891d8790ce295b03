/* SPDX-License-Identifier: BSD-2-Clause */
#include "lnet/base/pool.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Under AddressSanitizer an object in the pool is out of bounds, like memory that was freed. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define HIDE(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define SHOW(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define HIDE(p, n) ((void)(p), (void)(n))
#define SHOW(p, n) ((void)(p), (void)(n))
#endif

enum { ALIGN = 16 };

void lni_pool_init(struct lni_pool *p, size_t size, uint32_t per_slab, uint64_t max)
{
	assert(size && per_slab);
	memset(p, 0, sizeof(*p));
	p->size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	p->per_slab = per_slab;
	p->max = max;
}

static void push(struct lni_pool *p, void *obj)
{
	*(void **)obj = p->free;
	p->free = obj;
	HIDE(obj, p->size);
}

static bool grow(struct lni_pool *p)
{
	uint64_t n = p->per_slab;
	char *slab;

	if (p->max && p->max - p->total < n)
		n = p->max - p->total;
	if (!n)
		return false;
	slab = aligned_alloc(ALIGN, ALIGN + n * p->size);
	if (!slab)
		return false;
	*(void **)(void *)slab = p->slabs;
	p->slabs = slab;
	p->total += n;
	while (n-- > 0)
		push(p, slab + ALIGN + n * p->size);
	return true;
}

void *lni_pool_get(struct lni_pool *p)
{
	void *obj;

	if (!p->free && !grow(p))
		return NULL;
	obj = p->free;
	SHOW(obj, p->size);
	p->free = *(void **)obj;
	p->used++;
	return obj;
}

void lni_pool_put(struct lni_pool *p, void *obj)
{
	assert(p->used);
	p->used--;
	push(p, obj);
}

void lni_pool_fini(struct lni_pool *p)
{
	assert(!p->used);
	while (p->slabs) {
		void *slab = p->slabs;

		p->slabs = *(void **)slab;
		free(slab);
	}
	p->free = NULL;
	p->total = 0;
}
