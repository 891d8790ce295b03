/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that is freed as a whole. */
#include "lnet/control/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_MIN 4096u
#define CHUNK_MAX (256u << 10)
#define ALIGN     16u

struct lnc_chunk {
	struct lnc_chunk *next;
	size_t size, used;
	_Alignas(16) unsigned char data[];
};

/* Under AddressSanitizer each allocation is a chunk of its own, so that overruns are seen. */
#if defined(__SANITIZE_ADDRESS__)
#define ONE_EACH 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ONE_EACH 1
#endif
#endif
#ifndef ONE_EACH
#define ONE_EACH 0
#endif

void lnc_arena_init(struct lnc_arena *a, size_t limit)
{
	memset(a, 0, sizeof(*a));
	a->limit = limit;
}

void lnc_arena_free(struct lnc_arena *a)
{
	struct lnc_chunk *c = a->chunks;

	while (c) {
		struct lnc_chunk *next = c->next;

		free(c);
		c = next;
	}
	lnc_arena_init(a, a->limit);
}

static struct lnc_chunk *chunk_new(struct lnc_arena *a, size_t need)
{
	size_t size = need;
	struct lnc_chunk *c;

	if (!ONE_EACH) {
		size = a->used < CHUNK_MIN ? CHUNK_MIN : a->used < CHUNK_MAX ? a->used : CHUNK_MAX;
		if (size < need)
			size = need;
	}
	c = calloc(1, sizeof(*c) + size);
	if (!c)
		return NULL;
	c->size = size;
	c->next = a->chunks;
	a->chunks = c;
	return c;
}

void *lnc_arena_alloc(struct lnc_arena *a, size_t size)
{
	struct lnc_chunk *c = a->chunks;
	size_t need;
	void *p;

	if (a->failed || size > SIZE_MAX / 4)
		goto fail;
	need = ONE_EACH ? size + !size : (size + !size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (a->limit && need > a->limit - a->used) {
		a->limited = true;
		goto fail;
	}
	if (ONE_EACH || !c || c->size - c->used < need) {
		c = chunk_new(a, need);
		if (!c)
			goto fail;
	}
	p = c->data + c->used;
	c->used += need;
	a->used += need;
	return p;
fail:
	a->failed = true;
	return NULL;
}

char *lnc_arena_strndup(struct lnc_arena *a, const char *s, size_t n)
{
	char *p = n < SIZE_MAX ? lnc_arena_alloc(a, n + 1) : NULL;

	if (p && n)
		memcpy(p, s, n);
	return p;
}

char *lnc_arena_strdup(struct lnc_arena *a, const char *s)
{
	return s ? lnc_arena_strndup(a, s, strlen(s)) : NULL;
}

void *lnc_arena_grow(struct lnc_arena *a, void *v, unsigned n, unsigned *cap, size_t elem)
{
	unsigned want;
	void *p;

	if (n < *cap)
		return v;
	want = n ? n * 2 : 4;
	if (want <= n || elem > SIZE_MAX / want)
		return NULL;
	p = lnc_arena_alloc(a, want * elem);
	if (!p)
		return NULL;
	if (n)
		memcpy(p, v, n * elem);
	*cap = want;
	return p;
}
