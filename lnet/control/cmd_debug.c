/* SPDX-License-Identifier: BSD-2-Clause */
/* debug peer, debug nidlist, debug recovery, debug dump. */
#include "lnet/control/cmd_priv.h"
#include "lnet/control/nids.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- dump ---------------------------------------------------------------------------------- */

struct lines {
	struct lnc_node *list;
	const char *only; /* lines with this word alone */
};

/* Is word in text, and not as a part of a longer address? */
static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p += len) {
		char before = p == text ? ' ' : p[-1], after = p[len];
		if (!strchr("0123456789abcdefABCDEF.:", before) && !(after >= '0' && after <= '9'))
			return true;
	}
	return false;
}

static void one_line(void *arg, const char *text)
{
	struct lines *l = arg;

	if (!l->only || has_word(text, l->only))
		lnc_seq_add_str(l->list, text);
}

static int debug_dump(struct lnc_ctx *x, const struct lnc_req *r)
{
	struct lines l = {.list = lnc_out_seq(x, "dump", LNC_STYLE_PING)};
	int rc = lnet_dump(x->n, one_line, &l);

	(void)r;
	return rc ? lnc_fail(x, "debug", "dump", rc, "%s", strerror(-rc)) : 0;
}

static int debug_peer(struct lnc_ctx *x, const struct lnc_req *r)
{
	const char *text = lnc_req_text(r, "nid");
	char canon[LNET_NIDSTR_MAX];
	struct lnet_nid nid;
	int rc;

	if (!text)
		text = lnc_req_text(r, "prim_nid");
	if (lnet_nid_parse(text, strlen(text), &nid, NULL))
		return lnc_misuse(x, "debug", "peer", -EINVAL, "'%s' is not a NID", text);
	rc = lnc_show_peers(x, &nid, 4);
	if (rc)
		return lnc_fail(x, "debug", "peer", rc, "cannot find peer '%s'", text);
	struct lines l = {.list = lnc_out_seq(x, "dump", LNC_STYLE_PING),
	        .only = lnet_nid_str(&nid, canon, sizeof(canon))};
	rc = lnet_dump(x->n, one_line, &l);
	return rc ? lnc_fail(x, "debug", "peer", rc, "%s", strerror(-rc)) : 0;
}

static int peer_check(const struct lnc_req *r, struct lnc_err *err)
{
	bool nid = lnc_req_flag(r, "nid"), prim = lnc_req_flag(r, "prim_nid");

	if (nid == prim)
		return lnc_err_set(err, -EINVAL,
		        nid ? "debug peer: --nid and --prim_nid exclude each other"
		            : "debug peer: --nid is missing");
	return 0;
}

/* ---- recovery ------------------------------------------------------------------------------ */

struct queue {
	struct lnc_ctx *x;
	const char *key;
	unsigned n;
};

static void queued(struct queue *q, const struct lnet_nid *nid)
{
	char name[32], text[LNET_NIDSTR_MAX];

	snprintf(name, sizeof(name), "nid-%u", q->n++);
	lnc_map_add_str(lnc_out_map(q->x, q->key, LNC_STYLE_CYAML), name,
	        lnet_nid_str(nid, text, sizeof(text)));
}

/* A recovery ping is due. */
static int local_one(void *arg, const struct lnet_ni_info *i)
{
	if (i->health.next_ping)
		queued(arg, &i->nid);
	return 0;
}

static int peer_one(void *arg, const struct lnet_peer_info *i)
{
	for (unsigned k = 0; k < i->nni; k++)
		if (i->ni[k].health.next_ping)
			queued(arg, &i->ni[k].nid);
	return 0;
}

static int debug_recovery(struct lnc_ctx *x, const struct lnc_req *r)
{
	struct queue q = {.x = x};
	struct lnet_nid any = lnet_nid_any();

	if (lnc_req_flag(r, "local")) {
		q.key = "Local NI recovery";
		lnet_ni_each(x->n, local_one, &q);
	} else {
		q.key = "Peer NI recovery";
		lnet_peer_each(x->n, &any, peer_one, &q);
	}
	return 0;
}

static int recovery_check(const struct lnc_req *r, struct lnc_err *err)
{
	if (lnc_req_flag(r, "local") == lnc_req_flag(r, "peer"))
		return lnc_err_set(err, -EINVAL, "debug recovery: one of --local and --peer");
	return 0;
}

/* ---- nidlist ------------------------------------------------------------------------------- */

static int debug_nidlist(struct lnc_ctx *x, const struct lnc_req *r)
{
	char canon[LNC_NIDMATCH_STR_MAX], out[2 * LNC_NIDMATCH_STR_MAX + LNET_NIDSTR_MAX + 64],
	        nid[80];
	struct lnc_err err;
	struct lnet_nid n;
	bool hit = false;
	int rc;

	if (r->nargs == 2 && lnet_nid_parse(r->arg[1], strlen(r->arg[1]), &n, NULL))
		return lnc_misuse(x, "debug", "nidlist", -EINVAL, "'%s' is not a NID", r->arg[1]);
	rc = lnc_nidmatch(r->arg[0], r->nargs == 2 ? &n : NULL, &hit, canon, sizeof(canon), &err);
	if (rc)
		return lnc_misuse(x, "debug", "nidlist", rc, "%s", err.msg);
	if (r->nargs == 2)
		snprintf(out, sizeof(out), "nidlist parsed to: %s\n%s %s nidlist %s\n", canon,
		        lnet_nid_str(&n, nid, sizeof(nid)), hit ? "matches" : "does not match",
		        r->arg[0]);
	else
		snprintf(out, sizeof(out), "nidlist parsed to: %s\n", canon);
	x->text = lnc_arena_strdup(&x->doc->mem, out);
	return x->text ? 0 : -ENOMEM;
}

static const struct lnc_opt peer_opts[] = {
        {.name = "nid", .letter = 'n', .kind = LNC_A_NID, .help = "a NID of the peer"},
        {.name = "prim_nid", .letter = 'k', .kind = LNC_A_NID, .help = "its primary NID"},
};
static const struct lnc_opt recovery_opts[] = {
        {.name = "local", .letter = 'l', .kind = LNC_A_FLAG, .help = "our own interfaces"},
        {.name = "peer", .letter = 'p', .kind = LNC_A_FLAG, .help = "those of peers"},
};

const struct lnc_cmd lnc_cmds_debug[] = {
        {.path = "debug peer",
                .help = "everything about one peer, and what waits for it",
                .flags = LNC_C_READ,
                .opts = peer_opts,
                .nopts = LNC_LEN(peer_opts),
                .check = peer_check,
                .run = debug_peer},
        {.path = "debug nidlist",
                .help = "show how a NID list is read, and whether a NID is in it",
                .flags = LNC_C_READ | LNC_C_LOCAL,
                .arg = "LIST [NID]",
                .arg_kind = LNC_A_NIDMATCH,
                .arg_min = 1,
                .arg_max = 2,
                .run = debug_nidlist},
        {.path = "debug recovery",
                .help = "list interfaces that wait for a recovery ping",
                .flags = LNC_C_READ,
                .opts = recovery_opts,
                .nopts = LNC_LEN(recovery_opts),
                .check = recovery_check,
                .run = debug_recovery},
        {.path = "debug dump",
                .help = "every queue and operation, and what it waits for",
                .flags = LNC_C_READ,
                .run = debug_dump},
        {0},
};
