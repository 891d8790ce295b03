/* SPDX-License-Identifier: BSD-2-Clause */
/* The command `check`. */
#include "lnet/control/check.h"
#include "lnet/control/cmd_priv.h"
#include "lnet/control/resolve.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void number_or_text(struct lnc_node *m, const char *key, const char *text)
{
	if (*text && !text[strspn(text, "0123456789")])
		lnc_map_add_u64(m, key, strtoull(text, NULL, 10));
	else
		lnc_map_add_str(m, key, text);
}

static void add(struct lnc_check *k, const char *name, const char *have, const char *need, bool ok,
        const char *how)
{
	struct lnc_node *m = lnc_seq_add_map(k->list);

	lnc_map_add_str(m, "name", name);
	number_or_text(m, "have", have);
	number_or_text(m, "need", need);
	lnc_map_add_bool(m, "ok", ok);
	if (ok)
		return;
	lnc_map_add_str(m, "how", how);
	k->shortage = true;
}

void lnc_check_add(struct lnc_check *k, const char *name, const char *have, const char *need,
        bool ok, const char *fmt, ...)
{
	char how[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(how, sizeof(how), fmt, ap);
	va_end(ap);
	add(k, name, have, need, ok, how);
}

void lnc_check_atleast(
        struct lnc_check *k, const char *name, uint64_t have, uint64_t need, const char *fmt, ...)
{
	char h[32], n[32], how[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(how, sizeof(how), fmt, ap);
	va_end(ap);
	if (have == UINT64_MAX)
		snprintf(h, sizeof(h), "unlimited");
	else
		snprintf(h, sizeof(h), "%" PRIu64, have);
	if (need == UINT64_MAX)
		snprintf(n, sizeof(n), "unlimited");
	else
		snprintf(n, sizeof(n), "%" PRIu64, need);
	add(k, name, h, n, have >= need, how);
}

bool lnc_check_read(const struct lnc_check *k, uint64_t *out, const char *fmt, ...)
{
	char rest[256], path[512];
	unsigned long long v;
	va_list ap;
	FILE *f;
	int n;

	va_start(ap, fmt);
	vsnprintf(rest, sizeof(rest), fmt, ap);
	va_end(ap);
	snprintf(path, sizeof(path), "%s%s", k->root, rest);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fscanf(f, "%llu", &v);
	fclose(f);
	if (n == 1)
		*out = v;
	return n == 1;
}

int64_t lnc_check_tun(const struct lnc_ni *ni, const char *name, int64_t def)
{
	for (unsigned i = 0; i < ni->nlnd; i++)
		if (!strcmp(ni->lnd[i].name, name))
			return ni->lnd[i].known ? ni->lnd[i].value : atoll(ni->lnd[i].text);
	return def;
}

const struct lnc_iface *lnc_check_iface(const struct lnc_check *k, const struct lnc_ni *ni)
{
	for (unsigned i = 0; i < k->nifs; i++) {
		const struct lnc_iface *f = &k->ifs[i];
		if (ni->ifname ? !strcmp(f->name, ni->ifname)
		               : (f->len && !lnc_iface_owns(
		                                    f, 1, NULL, &ni->nid, (char[16]){0}, NULL)))
			return f;
	}
	return NULL;
}

/* A peer has one control connection and two bulk ones for each of conns_per_peer, on each rail. */
uint64_t lnc_check_conns(const struct lnc_check *k)
{
	uint64_t a_peer = 0;

	for (unsigned n = 0; k->conf && n < k->conf->nnet; n++)
		for (unsigned i = 0; i < k->conf->net[n].nni; i++) {
			int64_t cpp = lnc_check_tun(&k->conf->net[n].ni[i], "conns_per_peer", 1);
			a_peer += 1 + 2 * (uint64_t)(cpp > 0 ? cpp : 1);
		}
	return (a_peer ? a_peer : 3) * k->peers;
}

static int read_conf(struct lnc_ctx *x, const struct lnc_req *r, struct lnc_conf **out)
{
	struct lnc_resolver res;
	struct lnc_schema s = {.arg = &res, .resolve = lnc_resolve};
	struct lnc_errs errs;
	int rc;

	lnc_resolver_init(&res);
	s.globals = lnet_globals(&s.nglobals);
	lnc_errs_init(&errs, r->nargs ? r->arg[0] : NULL);
	rc = lnc_conf_read(r->input, r->input_len, &s, 0, out, &errs);
	if (rc)
		lnc_fail_errs(x, "check", "configuration", &errs);
	lnc_errs_free(&errs);
	return rc;
}

static int check(struct lnc_ctx *x, const struct lnc_req *r)
{
	const struct lnc_val *peers = lnc_req_val(r, "peers");
	const char *root = lnc_req_text(r, "root");
	struct lnc_check k = {.root = root ? root : "", .peers = 64};
	struct lnc_iface *ifs = NULL;
	struct lnc_conf *conf = NULL;
	int rc = 0;

	if (r->input)
		rc = read_conf(x, r, &conf);
	if (!rc) {
		rc = lnc_ifaces_read(&ifs, &k.nifs);
		if (rc)
			lnc_fail(x, "check", "interfaces", rc, "%s", strerror(-rc));
	}
	if (!rc) {
		k.conf = conf;
		k.ifs = ifs;
		if (conf && conf->npeer)
			k.peers = conf->npeer;
		if (peers)
			k.peers = (unsigned)peers->num;
		k.list = lnc_out_seq(x, "check", LNC_STYLE_CYAML);
		lnc_check_limits(&k);
		lnc_check_nets(&k);
		if (k.shortage)
			x->exit = LNC_EXIT_FAILED;
	}
	free(ifs);
	lnc_conf_free(conf);
	return rc;
}

static const struct lnc_opt check_opts[] = {
        {.name = "peers",
                .letter = 'p',
                .kind = LNC_A_INT,
                .min = 1,
                .max = 1000000,
                .help = "nodes that will be talked to; without it those of the file, or 64"},
        {.name = "root",
                .kind = LNC_A_TEXT,
                .min = 1,
                .max = 200,
                .meta = "FOLDER",
                .help = "where /proc and /sys are looked for"},
};

const struct lnc_cmd lnc_cmds_check[] = {
        {.path = "check",
                .help = "look for limits and settings of this host that bite later",
                .more = "Needs no daemon. Each item says what there is, what is needed and how it "
                        "is "
                        "changed; nothing is changed. The exit status is 1 when something is "
                        "short.",
                .flags = LNC_C_READ | LNC_C_LOCAL | LNC_C_INPUT | LNC_C_NAMED,
                .opts = check_opts,
                .nopts = LNC_LEN(check_opts),
                .arg = "[FILE]",
                .arg_kind = LNC_A_FILE,
                .arg_max = 1,
                .run = check},
        {0},
};
