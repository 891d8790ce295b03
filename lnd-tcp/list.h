/* SPDX-License-Identifier: BSD-2-Clause */
/* A doubly linked ring with a head. A link that is in no list points at itself. */
#ifndef TCP_LIST_H
#define TCP_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct tcp_link {
	struct tcp_link *prev, *next;
};

#define tcp_entry(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

static inline void tcp_list_init(struct tcp_link *l)
{
	l->prev = l;
	l->next = l;
}

static inline bool tcp_list_empty(const struct tcp_link *l)
{
	return l->next == l;
}

static inline void tcp_list_insert(struct tcp_link *l, struct tcp_link *prev, struct tcp_link *next)
{
	l->prev = prev;
	l->next = next;
	prev->next = l;
	next->prev = l;
}

static inline void tcp_list_add(struct tcp_link *head, struct tcp_link *l)
{
	tcp_list_insert(l, head->prev, head);
}

static inline void tcp_list_add_first(struct tcp_link *head, struct tcp_link *l)
{
	tcp_list_insert(l, head, head->next);
}

static inline void tcp_list_del(struct tcp_link *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	tcp_list_init(l);
}

/* Take the first entry, or NULL. */
static inline struct tcp_link *tcp_list_pop(struct tcp_link *head)
{
	struct tcp_link *l = head->next;

	if (l == head)
		return NULL;
	tcp_list_del(l);
	return l;
}

/* The body may take l itself out, and nothing else. */
#define tcp_list_each(l, tmp, head) \
	for ((l) = (head)->next, (tmp) = (l)->next; (l) != (head); (l) = (tmp), (tmp) = (l)->next)

#endif
