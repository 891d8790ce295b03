/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations by cookie, one table a loop. A cookie leaves the table when its operation ends: what
 * comes later finds nothing. */
#include <errno.h>

#include "lnet/msg/msg.h"

static struct lni_msgs_loop *table(struct lnet *n, unsigned loop)
{
	return &n->msgs->pl[loop];
}

static struct lni_op **bucket(struct lni_msgs_loop *t, uint64_t id)
{
	return &t->bucket[id % LNI_OP_BUCKETS];
}

void lni_op_hash(struct lni_op *op)
{
	struct lni_msgs_loop *t = table(op->n, lni_loop_index(op->loop));

	pthread_mutex_lock(&t->lock);
	op->hnext = *bucket(t, op->id);
	*bucket(t, op->id) = op;
	pthread_mutex_unlock(&t->lock);
}

void lni_op_unhash(struct lni_op *op)
{
	struct lni_msgs_loop *t = table(op->n, lni_loop_index(op->loop));

	pthread_mutex_lock(&t->lock);
	for (struct lni_op **o = bucket(t, op->id); *o; o = &(*o)->hnext) {
		if (*o == op) {
			*o = op->hnext;
			break;
		}
	}
	op->closed = true; /* and no answer lands any more */
	pthread_mutex_unlock(&t->lock);
}

struct lni_op *lni_op_find(struct lnet *n, uint64_t id, bool answer)
{
	struct lni_msgs_loop *t;
	struct lni_op *op;
	unsigned loop;

	if (!lni_id_is(n, id, LNI_ID_OP, &loop))
		return NULL;
	t = table(n, loop);
	pthread_mutex_lock(&t->lock);
	for (op = *bucket(t, id); op && op->id != id; op = op->hnext)
		;
	if (op && answer && !atomic_load_explicit(&op->open, memory_order_acquire))
		op = NULL;
	if (op)
		op->pins++;
	pthread_mutex_unlock(&t->lock);
	return op;
}

bool lni_op_cancel_first(struct lni_op *op)
{
	struct lni_msgs_loop *t = table(op->n, lni_loop_index(op->loop));
	bool first;

	pthread_mutex_lock(&t->lock);
	first = !op->cancelling;
	op->cancelling = true;
	pthread_mutex_unlock(&t->lock);
	return first;
}

void lni_op_pin(struct lni_op *op)
{
	struct lni_msgs_loop *t = table(op->n, lni_loop_index(op->loop));

	pthread_mutex_lock(&t->lock);
	op->pins++;
	pthread_mutex_unlock(&t->lock);
}

void lni_op_unpin(struct lni_op *op)
{
	struct lni_msgs_loop *t = table(op->n, lni_loop_index(op->loop));
	bool last;

	pthread_mutex_lock(&t->lock);
	last = --op->pins == 0;
	pthread_mutex_unlock(&t->lock);
	if (last)
		lni_op_free(op);
}

struct lni_op *lni_op_gather(struct lnet *n, struct lnet_loop *l, const struct lni_rail *r)
{
	struct lni_msgs_loop *t = table(n, lni_loop_index(l));
	struct lni_op *list = NULL;

	if (atomic_load(&t->nops) == 0)
		return NULL;
	pthread_mutex_lock(&t->lock);
	for (unsigned i = 0; i < LNI_OP_BUCKETS; i++) {
		for (struct lni_op *op = t->bucket[i]; op; op = op->hnext) {
			if (r && op->rail != r)
				continue;
			op->pins++;
			op->gather = list;
			list = op;
		}
	}
	pthread_mutex_unlock(&t->lock);
	return list;
}

int lni_op_land(struct lni_op *op, struct lnet_rx *rx, struct lni_rail *rail)
{
	struct lni_msgs_loop *t = table(op->n, lni_loop_index(op->loop));
	int rc;

	pthread_mutex_lock(&t->lock);
	rc = op->closed ? -ENOENT : op->answered ? -EALREADY : 0;
	if (!rc) {
		op->answered = true;
		op->landing.rx = rx;
		op->landing.rail = rail;
		if (rail)
			lni_rail_hold(rail);
	}
	pthread_mutex_unlock(&t->lock);
	return rc;
}
