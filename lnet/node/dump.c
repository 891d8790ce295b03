/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `debug dump`: every queue and operation, and what it waits for.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lnet/msg/msg.h"

struct dump {
	struct lnet *n;
	void (*line)(void *arg, const char *text);
	void *arg;
};

static const char *waits_for(const struct lni_op *op)
{
	if (!op->rail)
		return "its loop";
	if (op->lost)
		return "the peer to come back";
	if (op->landing.rx)
		return "rest of the reply";
	if (op->tx_out) {
		switch (op->tx.where) {
		case LNI_TX_WAIT_PEER:
			return "a credit of the peer";
		case LNI_TX_WAIT_NI:
			return "a credit of the interface";
		case LNI_TX_WAIT_LND:
			return "room in the driver";
		default:
			return "the driver to send it";
		}
	}
	return op->put ? "the ACK" : "the REPLY";
}

static void dump_op(struct dump *d, const struct lni_op *op, uint64_t now)
{
	char text[256], nid[LNET_NIDSTR_MAX];

	snprintf(text, sizeof(text),
	        "op %016llx %s %s portal %u bits %#llx bytes %u: waits for %s, %.3f s old, %.3f s "
	        "left",
	        (unsigned long long)op->id, op->put ? "PUT" : "GET",
	        lnet_nid_str(&op->target, nid, sizeof(nid)), op->portal,
	        (unsigned long long)op->match_bits, op->length, waits_for(op),
	        op->rail ? (double)(now - op->tx.started) / 1e9 : 0.0,
	        op->deadline > now ? (double)(op->deadline - now) / 1e9 : 0.0);
	d->line(d->arg, text);
}

static void dump_pni(struct dump *d, struct lni_pni *p)
{
	char text[256], nid[LNET_NIDSTR_MAX];
	struct lni_rail *v[16];
	unsigned k = lni_pni_rails(p, NULL, v, 16);

	snprintf(text, sizeof(text), "peer ni %s pid %u: credits %d of %d free, %d wait, lowest %d",
	        lnet_nid_str(&p->nid, nid, sizeof(nid)), p->pid, p->cr.free, p->cr.max,
	        p->cr.waiting, p->cr.low);
	d->line(d->arg, text);
	for (unsigned i = 0; i < k; i++) {
		v[i]->ni->d.node->lnd->dump(&v[i]->d, d->line, d->arg);
		lni_rail_put(v[i]);
	}
}

/* Peer NIs are gathered first: a callback of pni_each gets no argument of ours. */
static int dump_loop(void *arg, struct lnet_loop *l)
{
	struct dump *d = arg;
	struct lni_net *net = d->n->net;
	uint64_t now = lnet_loop_now(l);
	struct lni_op *op = lni_op_gather(d->n, l, NULL), *next;
	struct lni_pni **v;
	unsigned k = 0, max;

	for (; op; op = next) {
		next = op->gather;
		dump_op(d, op, now);
		lni_op_unpin(op);
	}
	pthread_mutex_lock(&net->lock);
	max = net->npnis;
	v = calloc(max + 1, sizeof(*v));
	for (unsigned b = 0; v && b < net->nbuckets; b++) {
		for (struct lni_pni *p = net->table[b]; p && k < max; p = p->hnext) {
			if (p->loop != l)
				continue;
			lni_pni_hold(p);
			v[k++] = p;
		}
	}
	pthread_mutex_unlock(&net->lock);
	for (unsigned i = 0; i < k; i++) {
		dump_pni(d, v[i]);
		lni_pni_put(v[i]);
	}
	free(v);
	return 0;
}

int lnet_dump(struct lnet *n, void (*line)(void *arg, const char *text), void *arg)
{
	struct dump d = {n, line, arg};
	char text[160];

	if (lni_in_handler(n))
		return -EDEADLK;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	snprintf(text, sizeof(text), "node %s: %u loops, %u MEs, %u MDs, %llu bytes parked",
	        n->name, n->nloops, atomic_load(&n->ptl->mes), atomic_load(&n->ptl->mds),
	        (unsigned long long)atomic_load(&n->mem_used));
	line(arg, text);
	lni_each_loop(n, dump_loop, &d);
	lni_exit(n);
	return 0;
}
