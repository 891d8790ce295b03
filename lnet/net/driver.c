/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registry of drivers of one node: linked in (options), or loaded from lnd-NAME.so.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lnet/net/lo.h"
#include "lnet/net/net.h"

static const char *type_name(uint8_t type)
{
	switch (type) {
	case LNET_LND_TCP:
		return "tcp";
	case LNET_LND_O2IB:
		return "o2ib";
	case LNET_LND_OFI:
		return "ofi";
	default:
		return NULL;
	}
}

int lni_lnd_check(const struct lnet_lnd *l, char *why, size_t len)
{
	const struct {
		bool ok;
		const char *what;
	} rule[] = {
	        {l->size >= sizeof(*l), "its table is too short"},
	        {l->abi == LNET_LND_ABI, "it was built for another version of the driver contract"},
	        {l->name && *l->name, "it has no name"},
	        {l->open && l->close && l->ni_start && l->ni_stop && l->ni_changed,
	                "an entry for NIs is missing"},
	        {l->rail_open && l->rail_close && l->query, "an entry for rails is missing"},
	        {l->send && l->cancel && l->recv && l->discard && l->redirect && l->fence,
	                "an entry for messages is missing"},
	        {l->dump, "dump is missing"},
	        {!(l->caps & LNET_LND_REG) == !(l->mem_reg && l->mem_dereg),
	                "registration entries and capability disagree"},
	        {l->max_payload > 0 && l->max_iov > 0, "a limit is 0"},
	        {!l->ntunables == !l->tunables && !l->nstats == !l->stats,
	                "a table and its length disagree"},
	};

	for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
		if (!rule[i].ok) {
			snprintf(why, len, "driver refused: %s", rule[i].what);
			return -EPROTO;
		}
	}
	return 0;
}

static struct lni_driver *add(struct lnet *n, const struct lnet_lnd *lnd, void *so)
{
	struct lni_driver *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->lnd = lnd;
	d->so = so;
	d->node = (struct lnet_lnd_node){.lnd = lnd,
	        .up = &lni_lnd_up,
	        .core = n,
	        .loops = n->loops,
	        .nloops = n->nloops,
	        .pid = n->pid,
	        .incarnation = n->incarnation,
	        .client = n->client};
	d->next = n->net->drivers;
	n->net->drivers = d;
	return d;
}

/* The folder beside libulnet.so: <dir>/ulnet. */
static int own_dir(char *buf, size_t len)
{
	Dl_info info;
	char *slash;

	if (!dladdr((void *)(uintptr_t)lnet_open, &info) || !info.dli_fname)
		return -ENOENT;
	if (snprintf(buf, len, "%s", info.dli_fname) >= (int)len)
		return -ENAMETOOLONG;
	slash = strrchr(buf, '/');
	if (!slash || (size_t)(slash - buf) + sizeof("/ulnet") > len)
		return -ENOENT;
	memcpy(slash, "/ulnet", sizeof("/ulnet"));
	return 0;
}

static int load(struct lnet *n, const char *name, struct lni_driver **out, char *why, size_t len)
{
	char dir[4000], path[4096];
	const struct lnet_lnd *lnd;
	lnet_lnd_entry_fn entry;
	void *so;

	if (n->opts.lnd_path)
		snprintf(dir, sizeof(dir), "%s", n->opts.lnd_path);
	else if (own_dir(dir, sizeof(dir)))
		snprintf(dir, sizeof(dir), "%s", "/usr/lib/ulnet");
	snprintf(path, sizeof(path), "%s/lnd-%s.so", dir, name);
	so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!so) {
		snprintf(why, len, "no driver for '%s': %s", name, dlerror());
		return -ENOENT;
	}
	*(void **)&entry = dlsym(so, LNET_LND_SYMBOL);
	lnd = entry ? entry() : NULL;
	if (!lnd) {
		snprintf(why, len, "%s exports no %s", path, LNET_LND_SYMBOL);
		dlclose(so);
		return -EPROTO;
	}
	*out = add(n, lnd, so);
	return *out ? 0 : -ENOMEM;
}

static int find(struct lnet *n, uint8_t type, struct lni_driver **out, char *why, size_t len)
{
	const char *name = type_name(type);

	for (struct lni_driver *d = n->net->drivers; d; d = d->next) {
		if (d->lnd->type == type) {
			*out = d;
			return 0;
		}
	}
	if (type == LNET_LND_LO) {
		*out = add(n, &lni_lnd_lo, NULL);
		return *out ? 0 : -ENOMEM;
	}
	for (const struct lnet_lnd *const *l = n->opts.lnds; l && *l; l++) {
		if ((*l)->type == type) {
			*out = add(n, *l, NULL);
			return *out ? 0 : -ENOMEM;
		}
	}
	if (!name) {
		snprintf(why, len, "no driver for networks of type %u", type);
		return -ENOENT;
	}
	return load(n, name, out, why, len);
}

int lni_driver_get(struct lnet *n, uint8_t type, struct lni_driver **drv, char *why, size_t len)
{
	struct lni_driver *d;
	int rc = find(n, type, &d, why, len);

	if (rc)
		return rc;
	if (!d->open) {
		rc = lni_lnd_check(d->lnd, why, len);
		if (rc)
			return rc;
		rc = d->lnd->open(&d->node);
		if (rc) {
			snprintf(why, len, "driver '%s' does not start: %s", d->lnd->name,
			        strerror(-rc));
			return rc;
		}
		d->open = true;
	}
	*drv = d;
	return 0;
}

const struct lnet_lnd *lnet_lnd_find(struct lnet *n, uint8_t type)
{
	struct lni_driver *d = NULL;
	char why[256];

	if (!lni_enter(n))
		return NULL;
	lni_net_lock(n);
	if (find(n, type, &d, why, sizeof(why)))
		d = NULL;
	else if (lni_lnd_check(d->lnd, why, sizeof(why)))
		d = NULL;
	lni_net_unlock(n);
	lni_exit(n);
	return d ? d->lnd : NULL;
}

void lni_drivers_close(struct lnet *n)
{
	struct lni_driver *d;

	while ((d = n->net->drivers)) {
		n->net->drivers = d->next;
		if (d->open)
			d->lnd->close(&d->node);
		if (d->so)
			dlclose(d->so);
		free(d);
	}
}
