/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of the configuration check values against, and short ways to read and write. */
#ifndef TESTS_CONF_TABLE_H
#define TESTS_CONF_TABLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lnet/control/conf.h"

#define UNUSED __attribute__((unused))

static const struct lnet_tunable t_tcp[] = {
        {"port", "", "", 1, 65535, 988, LNET_TUN_NET},
        {"conns_per_peer", "", "", 0, 127, 0, LNET_TUN_RUNTIME},
        {"timeout", "", "s", 0, 10000, 50, LNET_TUN_READONLY},
        {"tos", "", "", -1, 255, -1, LNET_TUN_RUNTIME},
        {"nagle", "", "", 0, 1, 0, LNET_TUN_BOOL},
};

static const struct lnet_tunable t_globals[] = {
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
#define T_NGLOBALS ((unsigned)(sizeof(t_globals) / sizeof(t_globals[0])))

static inline const struct lnet_tunable *t_tunables(void *arg, uint8_t type, unsigned *n)
{
	(void)arg;
	*n = type == LNET_LND_TCP ? (unsigned)(sizeof(t_tcp) / sizeof(t_tcp[0])) : 0;
	return *n ? t_tcp : NULL;
}

static const struct lnc_schema t_schema UNUSED = {
        .tunables = t_tunables, .globals = t_globals, .nglobals = T_NGLOBALS};

static inline void t_fail_errs(const struct lnc_errs *e, const char *text)
{
	char *all = lnc_errs_text(e);

	print_error("%s\n--- of ---\n%s\n", all ? all : "?", text);
	free(all);
}

/* Must be accepted. */
static inline struct lnc_conf *t_read_flags(const char *text, unsigned flags)
{
	struct lnc_conf *c = NULL;
	struct lnc_errs e;

	lnc_errs_init(&e, "test");
	if (lnc_conf_read(text, strlen(text), &t_schema, flags, &c, &e)) {
		t_fail_errs(&e, text);
		fail();
	}
	assert_int_equal(e.errors, 0);
	lnc_errs_free(&e);
	return c;
}

static inline struct lnc_conf *t_read(const char *text)
{
	return t_read_flags(text, 0);
}

/* Must be refused; want is part of the text of all errors. Returns how many there were. */
static inline unsigned t_refused(const char *text, size_t len, const char *want)
{
	struct lnc_conf *c = (struct lnc_conf *)&c;
	struct lnc_errs e;
	unsigned n;
	char *all;

	lnc_errs_init(&e, NULL);
	if (!lnc_conf_read(text, len, &t_schema, 0, &c, &e)) {
		print_error("accepted: %s\n", text);
		fail();
	}
	assert_ptr_equal(c, &c); /* untouched */
	assert_true(e.errors > 0);
	assert_true(lnc_errs_code(&e) < 0);
	all = lnc_errs_text(&e);
	assert_non_null(all);
	if (!strstr(all, want)) {
		print_error("'%s' is missing in:\n%s\n", want, all);
		fail();
	}
	free(all);
	n = e.errors;
	lnc_errs_free(&e);
	return n;
}

static inline char *t_yaml(const struct lnc_conf *c)
{
	struct lnc_doc *d = lnc_doc_new();
	char *text;

	assert_non_null(d);
	assert_int_equal(lnc_conf_export(c, d), 0);
	text = lnc_doc_yaml(d, NULL);
	assert_non_null(text);
	lnc_doc_free(d);
	return text;
}

#endif
