/* SPDX-License-Identifier: BSD-2-Clause */
/* Intrusive doubly linked list with a head that is a node itself. Not thread-safe. */
#ifndef LNI_BASE_LIST_H
#define LNI_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct lni_list {
	struct lni_list *next, *prev;
};

#define lni_container(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

static inline void lni_list_init(struct lni_list *h)
{
	h->next = h->prev = h;
}

static inline bool lni_list_empty(const struct lni_list *h)
{
	return h->next == h;
}

/* Is this node, initialised before, a member of some list? */
static inline bool lni_list_linked(const struct lni_list *n)
{
	return n->next != n;
}

static inline void lni_list_insert(struct lni_list *n, struct lni_list *prev, struct lni_list *next)
{
	n->next = next;
	n->prev = prev;
	prev->next = n;
	next->prev = n;
}

static inline void lni_list_add(struct lni_list *h, struct lni_list *n)
{
	lni_list_insert(n, h, h->next);
}

static inline void lni_list_add_tail(struct lni_list *h, struct lni_list *n)
{
	lni_list_insert(n, h->prev, h);
}

/* The node is initialised again: removing twice does no harm. */
static inline void lni_list_del(struct lni_list *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	lni_list_init(n);
}

static inline struct lni_list *lni_list_first(const struct lni_list *h)
{
	return h->next == h ? NULL : h->next;
}

static inline struct lni_list *lni_list_last(const struct lni_list *h)
{
	return h->prev == h ? NULL : h->prev;
}

/* First node, removed; NULL when there is none. */
static inline struct lni_list *lni_list_pop(struct lni_list *h)
{
	struct lni_list *n = lni_list_first(h);

	if (n)
		lni_list_del(n);
	return n;
}

/* Everything of src goes to the end of dst, in order. */
static inline void lni_list_splice(struct lni_list *dst, struct lni_list *src)
{
	if (lni_list_empty(src))
		return;
	src->next->prev = dst->prev;
	dst->prev->next = src->next;
	src->prev->next = dst;
	dst->prev = src->prev;
	lni_list_init(src);
}

#define lni_list_entry(ptr, type, member) lni_container(ptr, type, member)

#define lni_list_each(pos, head) for ((pos) = (head)->next; (pos) != (head); (pos) = (pos)->next)

/* pos may be removed in the body. */
#define lni_list_each_safe(pos, tmp, head)                               \
	for ((pos) = (head)->next, (tmp) = (pos)->next; (pos) != (head); \
	        (pos) = (tmp), (tmp) = (pos)->next)

#endif
