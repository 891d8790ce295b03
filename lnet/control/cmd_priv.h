/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the commands share. */
#ifndef LNC_CMD_PRIV_H
#define LNC_CMD_PRIV_H

#include "lnet/control/cmd.h"
#include "lnet/control/conf.h"
#include "lnet/control/runtime.h"

#define LNC_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* -v [LEVEL]: levels above 4 are accepted and equal 4 */
#define LNC_OPT_VERBOSE                                                                    \
	{                                                                                  \
		.name = "verbose", .letter = 'v', .kind = LNC_A_LEVEL, .min = 0, .max = 9, \
		.help = "more details; alone 1, up to 4"                                   \
	}

/* Tables of the files; each ends with a row whose path is NULL. */
extern const struct lnc_cmd lnc_cmds_lnet[], lnc_cmds_net[], lnc_cmds_net_show[], lnc_cmds_peer[],
        lnc_cmds_peer_show[], lnc_cmds_ping[], lnc_cmds_stats[], lnc_cmds_global[],
        lnc_cmds_debug[], lnc_cmds_import[], lnc_cmds_export[], lnc_cmds_check[], lnc_cmds_misc[];

const struct lnc_opt *lnc_common_opts(unsigned *n);
int lnc_req_alloc(struct lnc_req *r, const struct lnc_cmd *c);
int lnc_req_add_arg(struct lnc_req *r, const char *text, struct lnc_err *err);

/* A document as a change by command: parsed (exit 2 when it is wrong), checked, applied. */
int lnc_apply_doc(struct lnc_ctx *x, const struct lnc_doc *d, const char *op, const char *object);

/* What an NI without a CPT list uses: a loop is a CPU partition here. Returns buf. */
char *lnc_all_cpts(const struct lnet *n, char *buf, size_t size);

/* ---- pieces of show and export ------------------------------------------------------------- */

void lnc_show_statistics(struct lnc_node *map, const struct lnet_traffic *t);
void lnc_show_messages(struct lnc_node *map, const struct lnet_traffic *t);
/* Seconds since a time of the node's clock; nothing is added when it is 0. */
void lnc_show_age(struct lnc_node *map, const char *key, uint64_t now, uint64_t then);
/* "net:" list of what net fits (LNET_NET_ANY = all); false: nothing does. */
bool lnc_show_nets(
        struct lnc_ctx *x, lnet_net_t net, const struct lnet_nid *nid, unsigned level, bool given);
/* "peer:" list; 0, or -ENOENT: no peer has nid */
int lnc_show_peers(struct lnc_ctx *x, const struct lnet_nid *nid, unsigned level);
void lnc_show_global(struct lnc_ctx *x, bool origins);
int lnc_show_statistics_all(struct lnc_ctx *x);

/* ---- ping ---------------------------------------------------------------------------------- */

struct lnc_ping_target {
	struct lnet_nid nid;
	uint32_t pid;
	bool pid_given;
	const char *text; /* as the user wrote it */
};
/* Ping all at the same time; adds to the answer's "ping" and "manage" lists. timeout in ns. */
int lnc_ping_run(struct lnc_ctx *x, const struct lnc_ping_target *t, unsigned n,
        const struct lnet_nid *source, uint64_t timeout, unsigned level);

#endif
