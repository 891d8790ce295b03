/* SPDX-License-Identifier: BSD-2-Clause */
/* Handles to objects. */
#include <errno.h>
#include <stdlib.h>

#include "lnet/ptl/ptl.h"

struct entry {
	struct entry *next;
	uint64_t id;
	void *obj;
};

struct lni_idtab {
	struct entry **b;
	unsigned n, used;
};

#define FIRST 256u

struct lni_idtab *lni_idtab_new(void)
{
	struct lni_idtab *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->n = FIRST;
	t->b = calloc(t->n, sizeof(t->b[0]));
	if (!t->b) {
		free(t);
		return NULL;
	}
	return t;
}

void lni_idtab_free(struct lni_idtab *t)
{
	if (!t)
		return;
	free(t->b);
	free(t);
}

/* Ids come out of a permutation: their low bits are as good as any hash. */
static void grow(struct lni_idtab *t)
{
	struct entry **b = calloc((size_t)t->n * 2, sizeof(b[0]));

	if (!b)
		return;
	for (unsigned i = 0; i < t->n; i++) {
		struct entry *e;

		while ((e = t->b[i])) {
			unsigned k = (unsigned)e->id & (t->n * 2 - 1);

			t->b[i] = e->next;
			e->next = b[k];
			b[k] = e;
		}
	}
	free(t->b);
	t->b = b;
	t->n *= 2;
}

int lni_id_add(struct lni_ptl *p, uint64_t id, void *obj)
{
	struct entry *e = malloc(sizeof(*e));
	struct lni_idtab *t = p->ids;

	if (!e)
		return -ENOMEM;
	pthread_mutex_lock(&p->id_lock);
	if (p->stopped) {
		pthread_mutex_unlock(&p->id_lock);
		free(e);
		return -ESHUTDOWN;
	}
	if (t->used >= t->n && t->n < (1u << 24))
		grow(t);
	struct entry **b = &t->b[(unsigned)id & (t->n - 1)];
	*e = (struct entry){*b, id, obj};
	*b = e;
	t->used++;
	pthread_mutex_unlock(&p->id_lock);
	return 0;
}

void lni_id_del(struct lni_ptl *p, uint64_t id)
{
	struct lni_idtab *t = p->ids;
	struct entry *gone = NULL;

	pthread_mutex_lock(&p->id_lock);
	for (struct entry **b = &t->b[(unsigned)id & (t->n - 1)]; *b; b = &(*b)->next) {
		if ((*b)->id == id) {
			gone = *b;
			*b = gone->next;
			t->used--;
			break;
		}
	}
	pthread_mutex_unlock(&p->id_lock);
	free(gone);
}

void *lni_id_find(struct lni_ptl *p, uint64_t id, void (*ref)(void *obj))
{
	struct lni_idtab *t = p->ids;
	void *obj = NULL;

	pthread_mutex_lock(&p->id_lock);
	for (struct entry *e = t->b[(unsigned)id & (t->n - 1)]; e; e = e->next) {
		if (e->id == id) {
			obj = e->obj;
			ref(obj);
			break;
		}
	}
	pthread_mutex_unlock(&p->id_lock);
	return obj;
}

void lni_id_stop(struct lni_ptl *p)
{
	pthread_mutex_lock(&p->id_lock);
	p->stopped = true;
	pthread_mutex_unlock(&p->id_lock);
}

void *lni_id_any(struct lnet *n, int kind, unsigned *from, void (*ref)(void *obj))
{
	struct lni_ptl *p = n->ptl;
	void *obj = NULL;
	unsigned loop;

	pthread_mutex_lock(&p->id_lock);
	for (; *from < p->ids->n; ++*from) {
		for (struct entry *e = p->ids->b[*from]; e && !obj; e = e->next) {
			if (lni_id_is(n, e->id, (enum lni_id_kind)kind, &loop)) {
				obj = e->obj;
				ref(obj);
			}
		}
		if (obj)
			break;
	}
	pthread_mutex_unlock(&p->id_lock);
	return obj;
}
