/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Configuration of a running node: read back as a value, and changed as one transaction.
 */
#ifndef LNC_RUNTIME_H
#define LNC_RUNTIME_H

#include "lnet/control/conf.h"
#include <lnet/control.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	LNC_COLLECT_EFFECTIVE = 1u, /* values as they hold, not only those that were given */
};
/* The configuration that the node has. Configured peers only. Under the lock. -ENOMEM. */
int lnc_collect(struct lnet_control *c, unsigned flags, struct lnc_conf **out);

/* What values are checked against here: the node's drivers and globals; host names if resolver. */
struct lnc_resolver;
struct lnc_here {
	struct lnc_schema s; /* its arg is this object */
	struct lnet *n;
	struct lnc_resolver *resolver;
};
void lnc_schema_of(struct lnet_control *c, struct lnc_resolver *resolver, struct lnc_here *h);

/*
 * Carry out the steps from one configuration to another, in order. 0, or the error of the step that
 * failed, with an entry in errs; the steps before it were undone. added (st->n elements) gets the
 * NIDs of the NIs that were added. force: locked peers go too. Under the lock.
 */
struct lnc_plan {
	struct lnet_control *c;
	const struct lnc_conf *from, *to;
	const struct lnc_steps *st;
	bool force;
	struct lnet_nid *added;
	struct lnc_errs *errs;
};
int lnc_plan_apply(const struct lnc_plan *p);

enum {                             /* beside LNET_CONFIG_* */
	LNC_CHANGE_NEW = 0x100u,   /* an NI that is there already is -EEXIST */
	LNC_CHANGE_FORCE = 0x200u, /* locked peers go too */
};
typedef void (*lnc_step_fn)(void *arg, const char *line);
/*
 * lnet_control_config() with an error list; takes the lock. step (may be NULL) gets a line for each
 * step. who: "file", "import", "command", constant text.
 */
int lnc_configure(struct lnet_control *c, const char *text, size_t len, unsigned flags,
        const char *who, struct lnc_errs *errs, lnc_step_fn step, void *arg);
/* The same for a configuration, under the caller's lock. */
int lnc_change(struct lnet_control *c, const struct lnc_conf *change, unsigned flags,
        const char *who, struct lnc_errs *errs, lnc_step_fn step, void *arg);
/* Replace what is given (NULL: stays) of a net's accept policy and list. -ENOENT. Takes the lock.
 */
int lnc_set_accept(struct lnet_control *c, lnet_net_t net, const enum lnet_accept *accept,
        const struct lnet_cidr *allow, unsigned nallow);

/* Changes are made one at a time. */
void lnc_lock(struct lnet_control *c);
void lnc_unlock(struct lnet_control *c);

/* `selftest`, `control`, `log` as they are configured; under the lock. */
struct lnc_extras {
	int32_t selftest;
	char *socket, *group, *to; /* malloc()ed or NULL */
	int32_t mode, level;
};

#ifdef __cplusplus
}
#endif
#endif
