/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>

#include "lnet/wire/perr.h"

int lni_perr(struct lnet_parse_err *err, size_t pos, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -EINVAL;
	err->pos = pos;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int lni_perr_found(
        struct lnet_parse_err *err, const char *s, size_t len, size_t pos, const char *what)
{
	if (pos >= len)
		return lni_perr(err, pos, "%s, found the end", what);
	if (s[pos] >= 0x20 && s[pos] < 0x7f)
		return lni_perr(err, pos, "%s, found '%c'", what, s[pos]);
	return lni_perr(err, pos, "%s, found byte 0x%02x", what, (unsigned char)s[pos]);
}

int lni_parse_dec(const char *s, size_t len, size_t *pos, uint32_t max, const char *what,
        uint32_t *out, struct lnet_parse_err *err)
{
	size_t p = *pos;
	uint64_t v = 0;
	char want[96];

	if (p >= len || !is_dec(s[p])) {
		snprintf(want, sizeof(want), "%s must be a decimal number", what);
		return lni_perr_found(err, s, len, p, want);
	}
	if (s[p] == '0' && p + 1 < len && is_dec(s[p + 1]))
		return lni_perr(err, p, "%s has a leading zero", what);
	for (; p < len && is_dec(s[p]); p++) {
		v = v * 10 + (uint64_t)(s[p] - '0');
		if (v > max)
			return lni_perr(err, *pos, "%s is above %u", what, max);
	}
	*out = (uint32_t)v;
	*pos = p;
	return 0;
}
