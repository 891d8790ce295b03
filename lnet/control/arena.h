/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An arena: memory of one document or one configuration, freed as a whole. A failed allocation is
 * remembered (`failed`), so that builders may go on and the caller asks once at the end.
 *
 * Thread: one at a time.
 */
#ifndef LNC_ARENA_H
#define LNC_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lnc_chunk;
struct lnc_arena {
	struct lnc_chunk *chunks;
	size_t used;  /* bytes handed out */
	size_t limit; /* of them; 0 = none */
	bool failed;  /* an allocation failed */
	bool limited; /* because of the limit */
};

void lnc_arena_init(struct lnc_arena *a, size_t limit);
void lnc_arena_free(struct lnc_arena *a);
/* Zeroed, aligned for every type; NULL when memory or the limit is exhausted. size 0 gives a
 * pointer. */
void *lnc_arena_alloc(struct lnc_arena *a, size_t size);
/* n bytes of s and a NUL. */
char *lnc_arena_strndup(struct lnc_arena *a, const char *s, size_t n);
char *lnc_arena_strdup(struct lnc_arena *a, const char *s); /* NULL gives NULL */
/*
 * Room for one more element: the array itself when it has some, else a copy twice as long. Used by
 * lnc_arena_push. Returns NULL (and v is still good) when there is no memory.
 */
void *lnc_arena_grow(struct lnc_arena *a, void *v, unsigned n, unsigned *cap, size_t elem);

#ifdef __cplusplus
}
#endif
#endif
