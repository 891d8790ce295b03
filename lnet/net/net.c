/* SPDX-License-Identifier: BSD-2-Clause */
#include "lnet/net/net.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_BUCKETS 64u

int lni_net_open(struct lnet *n)
{
	struct lnet_ni_conf c;
	struct lni_net *net = calloc(1, sizeof(*net));
	int rc;

	if (!net)
		return -ENOMEM;
	net->table = calloc(FIRST_BUCKETS, sizeof(net->table[0]));
	if (!net->table) {
		free(net);
		return -ENOMEM;
	}
	net->nbuckets = FIRST_BUCKETS;
	pthread_mutex_init(&net->lock, NULL);
	pthread_cond_init(&net->idle, NULL);
	n->net = net;
	lnet_ni_conf_init(&c, sizeof(c));
	c.net = LNET_NET(LNET_LND_LO, 0);
	c.nid = lnet_nid_from4((uint64_t)LNET_NET(LNET_LND_LO, 0) << 32);
	rc = lnet_ni_add(n, &c, NULL, NULL, 0);
	if (rc)
		lni_net_close(n);
	return rc;
}

void lni_net_lock(struct lnet *n)
{
	struct lni_net *net = n->net;

	pthread_mutex_lock(&net->lock);
	while (net->busy)
		pthread_cond_wait(&net->idle, &net->lock);
	net->busy = true;
	pthread_mutex_unlock(&net->lock);
}

void lni_net_unlock(struct lnet *n)
{
	struct lni_net *net = n->net;

	pthread_mutex_lock(&net->lock);
	net->busy = false;
	pthread_cond_signal(&net->idle);
	pthread_mutex_unlock(&net->lock);
}

/* Any peer NI still in the table, taken out of it. */
static struct lni_pni *pop_pni(struct lni_net *net)
{
	struct lni_pni *p = NULL;

	pthread_mutex_lock(&net->lock);
	for (unsigned i = 0; i < net->nbuckets && !p; i++)
		p = net->table[i];
	if (p)
		lni_pni_unhash(p);
	pthread_mutex_unlock(&net->lock);
	return p;
}

static bool all_gone(void *arg)
{
	struct lni_net *net = arg;

	return atomic_load(&net->pnis_live) == 0 && atomic_load(&net->rails_live) == 0;
}

void lni_net_stop(struct lnet *n)
{
	const struct lni_ni_set *s;
	struct lni_pni *p;

	if (!n->net)
		return;
	lni_net_lock(n);
	while ((s = atomic_load(&n->net->nis)) && s->count > 0) {
		struct lnet_nid nid = s->ni[s->count - 1]->d.nid;

		if (lni_ni_del_locked(n, &nid))
			break;
	}
	lni_net_unlock(n);
	while ((p = pop_pni(n->net)))
		lni_pni_post_kill(p);
	lni_watch_close(n);
	lni_wait(n, all_gone, n->net, UINT64_MAX);
}

void lni_net_close(struct lnet *n)
{
	struct lni_net *net = n->net;

	if (!net)
		return;
	lni_drivers_close(n);
	free(atomic_load(&net->nis));
	free(net->table);
	pthread_cond_destroy(&net->idle);
	pthread_mutex_destroy(&net->lock);
	free(net);
	n->net = NULL;
}
