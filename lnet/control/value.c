/* SPDX-License-Identifier: BSD-2-Clause */
/* Single values: numbers, booleans, tables of tunables. */
#include "lnet/control/value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SHOWN 40 /* characters of a refused text that a message repeats */

static const char *sep(const char *unit)
{
	return unit && *unit ? " " : "";
}

static int not_a_number(const char *name, const char *text, struct lnc_err *err)
{
	if (!*text)
		return lnc_err_set(err, -EINVAL, "no value specified for key '%s'", name);
	return lnc_err_set(err, -EINVAL,
	        "invalid value '%.*s' for key '%s': not a whole decimal number", SHOWN, text, name);
}

int lnc_int_check(const char *name, const char *unit, int64_t min, int64_t max, const char *text,
        int64_t *out, struct lnc_err *err)
{
	const char *p = text;
	bool neg = *p == '-';
	int64_t v = 0;
	bool big = false;

	if (neg)
		p++;
	if (!*p || (p[0] == '0' && (p[1] || neg)))
		return not_a_number(name, text, err);
	for (; *p; p++) {
		if (*p < '0' || *p > '9')
			return not_a_number(name, text, err);
		big = big || __builtin_mul_overflow(v, 10, &v) ||
		      __builtin_sub_overflow(v, (int64_t)(*p - '0'), &v);
	}
	if (!neg && !big)
		big = __builtin_sub_overflow((int64_t)0, v, &v);
	if (big || v < min || v > max)
		return lnc_err_set(err, -ERANGE,
		        "invalid value '%.*s' for key '%s': out of range %" PRId64 "..%" PRId64
		        "%s%s",
		        SHOWN, text, name, min, max, sep(unit), unit ? unit : "");
	*out = v;
	return 0;
}

int lnc_bool_check(const char *name, const char *text, bool *out, struct lnc_err *err)
{
	static const char *const words[] = {
	        "no", "yes", "false", "true", "off", "on", "n", "y", "0", "1"};

	if (!*text)
		return lnc_err_set(err, -EINVAL, "no value specified for key '%s'", name);
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(text, words[i]) == 0) {
			*out = i & 1;
			return 0;
		}
	}
	return lnc_err_set(err, -EINVAL,
	        "invalid value '%.*s' for key '%s': expected true or false", SHOWN, text, name);
}

int lnc_value_check(
        const struct lnet_tunable *t, const char *text, int64_t *out, struct lnc_err *err)
{
	bool b;
	int rc;

	if (t->flags & LNET_TUN_READONLY)
		return lnc_err_set(err, -EPERM, "'%s' can be read only", t->name);
	if (!(t->flags & LNET_TUN_BOOL))
		return lnc_int_check(t->name, t->unit, t->min, t->max, text, out, err);
	rc = lnc_bool_check(t->name, text, &b, err);
	if (!rc)
		*out = b;
	return rc;
}

const struct lnet_tunable *lnc_tunable_find(
        const struct lnet_tunable *t, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(t[i].name, name) == 0)
			return &t[i];
	}
	return NULL;
}

int lnc_tunable_lookup(const struct lnet_tunable *t, unsigned n, const char *name,
        const struct lnet_tunable **out, struct lnc_err *err)
{
	const struct lnet_tunable *x = lnc_tunable_find(t, n, name);
	const char *names[64], *near;
	unsigned i;

	if (x) {
		*out = x;
		return 0;
	}
	for (i = 0; i < n && i < 64; i++)
		names[i] = t[i].name;
	near = lnc_nearest(name, names, i);
	if (near)
		return lnc_err_set(
		        err, -ENOENT, "invalid key '%.*s'; did you mean '%s'?", SHOWN, name, near);
	return lnc_err_set(err, -ENOENT, "invalid key '%.*s'", SHOWN, name);
}

const struct lnet_tunable *lnc_ni_tunables(void)
{
	static const struct lnet_tunable t[LNC_NI_TUNABLES] = {
	        {"peer_timeout",
	                "declare a silent peer dead after so long; 0 = never, -1 = the driver's "
	                "default",
	                "s", -1, 1000000, 180, 0},
	        {"peer_credits", "messages in flight to one peer NI", "", 1, 65535, 8, 0},
	        {"peer_buffer_credits", "router buffers for one peer NI; 0 = as peer_credits", "",
	                0, 65535, 0, 0},
	        {"credits", "messages in flight on the NI", "", 1, 1048576, 256, 0},
	};

	return t;
}

const struct lnet_tunable *lnc_buffer_tunables(void)
{
	static const struct lnet_tunable t[LNC_BUFFERS] = {
	        {"tiny", "router buffers without payload", "", 1, 16777216, 2048, LNET_TUN_RUNTIME},
	        {"small", "router buffers of one page", "", 1, 16777216, 16384, LNET_TUN_RUNTIME},
	        {"large", "router buffers of 1 MiB", "", 1, 1048576, 1024, LNET_TUN_RUNTIME},
	};

	return t;
}

const struct lnet_tunable *lnc_hop_tunable(void)
{
	static const struct lnet_tunable t = {"hop", "routers on the way", "", 1, 255, 1, 0};

	return &t;
}

const struct lnet_tunable *lnc_priority_tunable(void)
{
	static const struct lnet_tunable t = {"priority", "0 is best", "", 0, INT32_MAX, 0, 0};

	return &t;
}

const struct lnet_tunable *lnc_health_tunable(void)
{
	static const struct lnet_tunable t = {
	        "health", "0 is worst", "", 0, 1000, 1000, LNET_TUN_RUNTIME};

	return &t;
}

int lnc_accept_parse(const char *text, enum lnet_accept *out, struct lnc_err *err)
{
	for (enum lnet_accept a = LNET_ACCEPT_SECURE; a <= LNET_ACCEPT_NONE; a++) {
		if (strcmp(text, lnc_accept_str(a)) == 0) {
			*out = a;
			return 0;
		}
	}
	return lnc_err_set(err, -EINVAL,
	        "invalid value '%.*s' for key 'policy': expected secure, all or none", SHOWN, text);
}

const char *lnc_accept_str(enum lnet_accept a)
{
	switch (a) {
	case LNET_ACCEPT_SECURE:
		return "secure";
	case LNET_ACCEPT_ALL:
		return "all";
	case LNET_ACCEPT_NONE:
		return "none";
	case LNET_ACCEPT_DEFAULT:
		break;
	}
	return "";
}

int lnc_log_level_parse(const char *text, enum lnet_log_level *out, struct lnc_err *err)
{
	for (enum lnet_log_level lv = LNET_LOG_ERR; lv <= LNET_LOG_TRACE; lv++) {
		if (strcmp(text, lnc_log_level_str(lv)) == 0) {
			*out = lv;
			return 0;
		}
	}
	return lnc_err_set(err, -EINVAL,
	        "invalid value '%.*s' for key 'level': expected err, warn, notice, info, debug or "
	        "trace",
	        SHOWN, text);
}

const char *lnc_log_level_str(enum lnet_log_level lv)
{
	switch (lv) {
	case LNET_LOG_ERR:
		return "err";
	case LNET_LOG_WARN:
		return "warn";
	case LNET_LOG_NOTICE:
		return "notice";
	case LNET_LOG_INFO:
		return "info";
	case LNET_LOG_DEBUG:
		return "debug";
	case LNET_LOG_TRACE:
		return "trace";
	}
	return "";
}

/* Edit distance with swaps of neighbours as one edit; at most 31 bytes of each word. */
static unsigned distance(const char *a, const char *b)
{
	enum { MAX = 31 };
	size_t la = strnlen(a, MAX), lb = strnlen(b, MAX);
	unsigned d[MAX + 1][MAX + 1];

	for (size_t i = 0; i <= la; i++)
		d[i][0] = (unsigned)i;
	for (size_t j = 0; j <= lb; j++)
		d[0][j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		for (size_t j = 1; j <= lb; j++) {
			unsigned same = strncasecmp(&a[i - 1], &b[j - 1], 1) == 0;
			unsigned x = d[i - 1][j - 1] + !same;

			x = d[i - 1][j] + 1 < x ? d[i - 1][j] + 1 : x;
			x = d[i][j - 1] + 1 < x ? d[i][j - 1] + 1 : x;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			        d[i - 2][j - 2] + 1 < x)
				x = d[i - 2][j - 2] + 1;
			d[i][j] = x;
		}
	}
	return d[la][lb];
}

const char *lnc_nearest(const char *word, const char *const *list, unsigned n)
{
	unsigned best = 4, limit = (unsigned)strnlen(word, 32) / 3;
	const char *near = NULL;

	limit += !limit;
	for (unsigned i = 0; i < n; i++) {
		unsigned d = distance(word, list[i]);

		if (d < best && d <= limit) {
			best = d;
			near = list[i];
		}
	}
	return near;
}
