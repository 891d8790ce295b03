/* SPDX-License-Identifier: BSD-2-Clause */
/* peer add, peer del, peer set. */
#include "lnet/control/cmd_priv.h"
#include "lnet/control/nids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What --prim_nid and --nid name. */
struct named {
	struct lnet_nid primary;
	struct lnet_nid nids[LNET_PEER_NIDS_MAX + 1];
	unsigned n;
};

static int named_get(struct lnc_ctx *x, const struct lnc_req *r, const char *op, struct named *p)
{
	const char *prim = lnc_req_text(r, "prim_nid"), *list = lnc_req_text(r, "nid");
	struct lnc_err err;
	int n = 0;

	p->n = 0;
	if (lnet_nid_parse(prim, strlen(prim), &p->primary, NULL))
		return lnc_misuse(x, op, "peer", -EINVAL, "--prim_nid: '%s' is not a NID", prim);
	if (list)
		n = lnc_nids_expand(list, p->nids, LNET_PEER_NIDS_MAX, &err);
	if (n < 0)
		return lnc_misuse(x, op, "peer", n, "--nid: %s", err.msg);
	p->n = (unsigned)n;
	return 0;
}

static const char *bad_str(const struct lnet_nid *bad, char *buf, size_t size)
{
	return lnet_nid_is_any(bad) ? "" : lnet_nid_str(bad, buf, size);
}

static const char *add_reason(int rc)
{
	switch (rc) {
	case -EEXIST:
		return "belongs to another configured peer";
	case -EINVAL:
		return "is our own, or is no peer's";
	case -E2BIG:
		return "is one too many";
	default:
		return strerror(-rc);
	}
}

static int peer_add(struct lnc_ctx *x, const struct lnc_req *r)
{
	struct lnet_nid bad = lnet_nid_any();
	char text[LNET_NIDSTR_MAX];
	struct named *p = malloc(sizeof(*p));
	int rc = p ? named_get(x, r, "add", p) : -ENOMEM;

	if (rc)
		goto out;
	lnc_lock(x->c);
	rc = lnet_peer_add(x->n, &p->primary, p->nids, p->n, !lnc_req_flag(r, "non_mr"),
	        lnc_req_flag(r, "lock_prim"), &bad);
	lnc_unlock(x->c);
	if (rc)
		lnc_fail(x, "add", "peer", rc, "failed to add peer '%s': %s %s",
		        lnc_req_text(r, "prim_nid"), bad_str(&bad, text, sizeof(text)),
		        add_reason(rc));
out:
	free(p);
	return rc;
}

static int peer_del(struct lnc_ctx *x, const struct lnc_req *r)
{
	struct lnet_nid bad = lnet_nid_any();
	char text[LNET_NIDSTR_MAX];
	struct named *p = malloc(sizeof(*p));
	int rc = p ? named_get(x, r, "del", p) : -ENOMEM;

	if (rc)
		goto out;
	lnc_lock(x->c);
	rc = lnet_peer_del(x->n, &p->primary, p->nids, p->n, lnc_req_flag(r, "force"), &bad);
	lnc_unlock(x->c);
	if (rc == -EBUSY)
		lnc_fail(x, "del", "peer", rc, "peer '%s' is locked; --force removes it",
		        lnc_req_text(r, "prim_nid"));
	else if (rc)
		lnc_fail(x, "del", "peer", rc, "failed to del peer '%s': %s%s%s",
		        lnc_req_text(r, "prim_nid"), bad_str(&bad, text, sizeof(text)),
		        lnet_nid_is_any(&bad) ? "" : ": ", strerror(-rc));
out:
	free(p);
	return rc;
}

/* ---- peer set ------------------------------------------------------------------------------ */

struct all {
	struct lnet_nid *v;
	unsigned n, cap;
};

static int keep_primary(void *arg, const struct lnet_peer_info *i)
{
	struct all *a = arg;

	if (a->n == a->cap) {
		unsigned cap = a->cap ? a->cap * 2 : 64;
		struct lnet_nid *v = realloc(a->v, cap * sizeof(*v));
		if (!v)
			return -ENOMEM;
		a->v = v;
		a->cap = cap;
	}
	a->v[a->n++] = i->primary;
	return 0;
}

static int set_state(struct lnc_ctx *x, const struct lnet_nid *nid, uint32_t state)
{
	struct all a = {0};
	int rc;

	if (!lnet_nid_is_any(nid))
		return lnet_peer_set_state(x->n, nid, state);
	rc = lnet_peer_each(x->n, nid, keep_primary, &a);
	for (unsigned i = 0; !rc && i < a.n; i++) {
		rc = lnet_peer_set_state(x->n, &a.v[i], state);
		if (rc == -ENOENT) /* gone in the meantime */
			rc = 0;
	}
	free(a.v);
	return rc;
}

static int peer_set(struct lnc_ctx *x, const struct lnc_req *r)
{
	const char *text = lnc_req_text(r, "nid");
	const struct lnc_val *health = lnc_req_val(r, "health"), *state = lnc_req_val(r, "state");
	struct lnet_nid nid = lnet_nid_any();
	int rc = 0;

	if (text && lnet_nid_parse(text, strlen(text), &nid, NULL))
		return lnc_misuse(x, "set", "peer", -EINVAL, "--nid: '%s' is not a NID", text);
	if (health)
		rc = lnet_peer_set_health(x->n, &nid, (int)health->num);
	if (!rc && state)
		rc = set_state(x, &nid, (uint32_t)state->num);
	if (rc == -ENOENT)
		return lnc_fail(x, "set", "peer", rc, "cannot find peer '%s'", text ? text : "");
	return rc ? lnc_fail(x, "set", "peer", rc, "%s", strerror(-rc)) : 0;
}

static int set_check(const struct lnc_req *r, struct lnc_err *err)
{
	bool nid = lnc_req_flag(r, "nid"), all = lnc_req_flag(r, "all");

	if (nid == all)
		return lnc_err_set(err, -EINVAL,
		        nid ? "peer set: --nid and --all exclude each other"
		            : "peer set: --nid or --all is missing");
	if (!lnc_req_flag(r, "health") && !lnc_req_flag(r, "state"))
		return lnc_err_set(err, -EINVAL, "peer set: --health or --state is missing");
	return 0;
}

static const struct lnc_opt add_opts[] = {
        {.name = "prim_nid",
                .letter = 'k',
                .kind = LNC_A_NID,
                .flags = LNC_O_REQUIRED,
                .help = "primary NID of the peer"},
        {.name = "nid", .letter = 'n', .kind = LNC_A_NIDS, .help = "its other NIDs"},
        {.name = "non_mr", .letter = 'm', .kind = LNC_A_FLAG, .help = "it is not multi-rail"},
        {.name = "lock_prim",
                .letter = 'l',
                .kind = LNC_A_FLAG,
                .help = "its primary NID stays, whatever it says of itself"},
};
static const struct lnc_opt del_opts[] = {
        {.name = "prim_nid",
                .letter = 'k',
                .kind = LNC_A_NID,
                .flags = LNC_O_REQUIRED,
                .help = "primary NID of the peer"},
        {.name = "nid", .letter = 'n', .kind = LNC_A_NIDS, .help = "these NIDs alone"},
        {.name = "force", .letter = 'f', .kind = LNC_A_FLAG, .help = "also when it is locked"},
};
static const struct lnc_opt set_opts[] = {
        {.name = "nid", .letter = 'n', .kind = LNC_A_NID, .help = "one peer NI"},
        {.name = "all", .letter = 'a', .kind = LNC_A_FLAG, .help = "every peer NI"},
        {.name = "health",
                .letter = 't',
                .kind = LNC_A_INT,
                .min = 0,
                .max = 1000,
                .help = "health value"},
        {.name = "state",
                .letter = 's',
                .kind = LNC_A_INT,
                .min = 0,
                .max = UINT32_MAX,
                .help = "overwrite the state word (for tests)"},
};

const struct lnc_cmd lnc_cmds_peer[] = {
        {.path = "peer add",
                .help = "add a peer, or NIDs to a peer",
                .more = "All NIDs are added or none; a peer has at most 128.",
                .opts = add_opts,
                .nopts = LNC_LEN(add_opts),
                .run = peer_add},
        {.path = "peer del",
                .help = "remove a peer, or NIDs of it",
                .more = "Without --nid, or when the primary NID is among them, the whole peer "
                        "goes.",
                .opts = del_opts,
                .nopts = LNC_LEN(del_opts),
                .run = peer_del},
        {.path = "peer set",
                .help = "change peer interfaces",
                .opts = set_opts,
                .nopts = LNC_LEN(set_opts),
                .check = set_check,
                .run = peer_set},
        {0},
};
