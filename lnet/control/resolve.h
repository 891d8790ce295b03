/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Host names in NIDs ("node17@tcp"). Called while configuration or a command line is read, never
 * from the data path.
 */
#ifndef LNC_RESOLVE_H
#define LNC_RESOLVE_H

#include "lnet/control/value.h"
#include <netdb.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LNC_RESOLVE_MS_DEFAULT 5000u
#define LNC_HOST_MAX           253u
#define LNC_RESOLVE_STUCK_MAX \
	4u /* look-ups that passed their time before we refuse to start more */

/*
 * How to look up; one for all names of one input. lookup and release are getaddrinfo and
 * freeaddrinfo unless a test sets them. The look-up runs in a thread of its own: when it does not
 * come back in time it is left behind and frees what it holds when it ends.
 */
struct lnc_resolver {
	int (*lookup)(const char *host, const char *service, const struct addrinfo *hints,
	        struct addrinfo **res);
	void (*release)(struct addrinfo *res);
	unsigned timeout_ms; /* for all names together */
	uint64_t deadline;   /* CLOCK_MONOTONIC ns; set by the first look-up */
	unsigned stuck;
	/* Addresses in these blocks (those of our own NIs on the net) are taken before others. */
	const struct lnet_cidr *prefer;
	unsigned nprefer;
};
void lnc_resolver_init(struct lnc_resolver *r);

/* Is this the shape of a host name (letters, digits, '-', '.', not all digits and dots)? */
bool lnc_is_hostname(const char *text, size_t len);

/*
 * The address of host on net: preferred blocks first, then IPv4, then IPv6. arg is a struct
 * lnc_resolver; the type fits lnc_schema.resolve. -ENOENT unknown name; -ETIMEDOUT; -EADDRNOTAVAIL
 * it gives loopback addresses alone (with advice), or none that the net can use; -EINVAL the net
 * has no IP addresses or the name is malformed; -EAGAIN the resolver failed for now; -EBUSY too
 * many look-ups hang.
 */
int lnc_resolve(
        void *arg, const char *host, lnet_net_t net, struct lnet_nid *out, struct lnc_err *err);

/* "ADDRESS@NET" or, with r, "HOST@NET". As lnet_nid_parse() with the errors of lnc_resolve(). */
int lnc_nid_parse(const char *text, size_t len, struct lnc_resolver *r, struct lnet_nid *out,
        struct lnc_err *err);

#ifdef __cplusplus
}
#endif
#endif
