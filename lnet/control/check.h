/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What of the system bites later: limits and settings, each with what there is, what is needed and
 * how it is changed. Nothing is changed here.
 */
#ifndef LNC_CHECK_H
#define LNC_CHECK_H

#include "lnet/control/conf.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lnc_check {
	const char *root;            /* before /proc and /sys: "" but for tests */
	const struct lnc_conf *conf; /* NULL: nothing is known of it */
	unsigned peers;
	const struct lnc_iface *ifs;
	unsigned nifs;
	struct lnc_node *list; /* an item for each fact is added here */
	bool shortage;
};

/* Number of connections that the configuration and its peers lead to. */
uint64_t lnc_check_conns(const struct lnc_check *k);
/* Add an item. how is shown when something is short. */
void lnc_check_add(struct lnc_check *k, const char *name, const char *have, const char *need,
        bool ok, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* have must be at least need */
void lnc_check_atleast(struct lnc_check *k, const char *name, uint64_t have, uint64_t need,
        const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The number in a file below root; false: it cannot be read. */
bool lnc_check_read(const struct lnc_check *k, uint64_t *out, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

void lnc_check_limits(struct lnc_check *k); /* nofile, memlock, map count, neighbours, ports */
void lnc_check_nets(struct lnc_check *k);   /* rp_filter, arp_*, MTU, listening */

/* A tunable of an NI as a number; def when it is not given. */
int64_t lnc_check_tun(const struct lnc_ni *ni, const char *name, int64_t def);
/* The interface of an NI; NULL: none. */
const struct lnc_iface *lnc_check_iface(const struct lnc_check *k, const struct lnc_ni *ni);

#ifdef __cplusplus
}
#endif
#endif
