/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a configuration. What is accepted must export to a text that reads back to an equal
 * configuration; it can be added to nothing, compared and deleted again; its rules can be applied.
 */
#include "lnet/control/conf.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct lnet_tunable tcp[] = {
        {"port", "", "", 1, 65535, 988, LNET_TUN_NET},
        {"conns_per_peer", "", "", 0, 127, 0, LNET_TUN_RUNTIME},
        {"timeout", "", "s", 0, 10000, 50, LNET_TUN_READONLY},
        {"tos", "", "", -1, 255, -1, LNET_TUN_RUNTIME},
};
static const struct lnet_tunable globals[] = {
        {"numa_range", "", "", 0, INT32_MAX, 0, 0},
        {"max_interfaces", "", "", 16, 65536, 4096, 0},
        {"discovery", "", "", 0, 1, 1, 0},
        {"drop_asym_route", "", "", 0, 1, 0, 0},
        {"retry_count", "", "", 0, 1000, 2, 0},
        {"transaction_timeout", "", "s", 1, 100000, 150, 0},
        {"health_sensitivity", "", "", 0, 1000, 100, 0},
        {"recovery_interval", "", "s", 1, 100000, 1, 0},
        {"router_sensitivity", "", "", 0, 100, 100, 0},
        {"lnd_timeout", "", "s", 0, 100000, 49, LNET_TUN_READONLY},
        {"response_tracking", "", "", 0, 3, 3, 0},
        {"recovery_limit", "", "s", 0, 100000, 0, 0},
        {"max_recovery_ping_interval", "", "s", 1, 100000, 900, 0},
};

static const struct lnet_tunable *tunables(void *arg, uint8_t type, unsigned *n)
{
	(void)arg;
	*n = type == LNET_LND_TCP ? 4 : 0;
	return *n ? tcp : NULL;
}

static const struct lnc_schema schema = {.tunables = tunables,
        .globals = globals,
        .nglobals = sizeof(globals) / sizeof(globals[0]),
        .ncpts = 64};

static struct lnc_conf *again(const struct lnc_conf *c, unsigned flags)
{
	struct lnc_doc *d = lnc_doc_new();
	struct lnc_conf *back = NULL;
	size_t len;
	char *text;

	if (!d || lnc_conf_export(c, d))
		abort();
	text = lnc_doc_yaml(d, &len);
	if (!text || lnc_conf_read(text, len, &schema, flags, &back, NULL))
		abort();
	free(text);
	lnc_doc_free(d);
	return back;
}

static void steps(const struct lnc_conf *a, const struct lnc_conf *b)
{
	struct lnc_steps st;
	char text[256];

	if (lnc_conf_diff(a, b, &schema, &st))
		abort();
	for (unsigned i = 0; i < st.n; i++) {
		struct lnc_step u = lnc_step_undo(&st.v[i]);

		lnc_step_str(&st.v[i], text, sizeof(text));
		lnc_step_str(&u, text, sizeof(text));
	}
	lnc_steps_free(&st);
}

static void merge(const struct lnc_conf *c)
{
	struct lnc_conf *none = lnc_conf_new(), *full = NULL, *rest = NULL,
	                *del = again(c, LNC_PARSE_DEL);

	if (!none)
		abort();
	steps(NULL, c);
	steps(c, NULL);
	if (!lnc_conf_add(none, c, &schema, &full, NULL)) {
		struct lnc_steps st;

		if (lnc_conf_diff(c, c, &schema, &st) || st.n)
			abort();
		lnc_steps_free(&st);
		if (!lnc_conf_del(full, del, &schema, &rest, NULL))
			lnc_conf_free(rest);
		lnc_conf_free(full);
	}
	lnc_conf_free(del);
	lnc_conf_free(none);
}

static void rules(const struct lnc_conf *c)
{
	static const struct lnc_iface ifs[] = {
	        {"lo", true, true, 4, 8, {127, 0, 0, 1}},
	        {"eth0", true, false, 4, 24, {192, 168, 1, 9}},
	        {"eth1", false, false, 4, 24, {10, 1, 2, 4}},
	        {"eth0", true, false, 16, 64, {0x20, 1, 0xd, 0xb8}},
	};
	struct lnc_conf *out;

	if (c->nrule && !lnc_ip2nets_apply(c->rule, c->nrule, ifs, 4, &schema, &out, NULL))
		lnc_conf_free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lnc_conf *c = NULL, *back;
	struct lnc_errs e;
	int rc;

	lnc_errs_init(&e, "fuzz");
	rc = lnc_conf_read((const char *)data, size, &schema, 0, &c, &e);
	if ((rc != 0) != (e.errors != 0) || (rc != 0) != (c == NULL))
		abort();
	if (!rc) {
		back = again(c, 0);
		if (!lnc_conf_equal(c, back))
			abort();
		lnc_conf_free(back);
		merge(c);
		rules(c);
		lnc_conf_free(c);
		c = NULL;
	}
	free(lnc_errs_text(&e));
	lnc_errs_free(&e);
	if (!lnc_conf_read((const char *)data, size, &schema, LNC_PARSE_DEL, &c, NULL))
		lnc_conf_free(c);
	return 0;
}
