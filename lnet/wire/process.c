/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lnet/wire/perr.h"
#include "lnet/wire/process.h"

#define ANY_TEXT "LNET_PID_ANY"

static int parse_pid(const char *s, size_t len, uint32_t *pid, struct lnet_parse_err *err)
{
	bool user = len && s[0] == 'U';
	size_t pos = user;
	int rc;

	if (len == strlen(ANY_TEXT) && memcmp(s, ANY_TEXT, len) == 0) {
		*pid = LNET_PID_ANY;
		return 0;
	}
	rc = lni_parse_dec(s, len, &pos, ~LNET_PID_USERFLAG, "PID", pid, err);
	if (rc)
		return rc;
	if (pos != len)
		return lni_perr_found(err, s, len, pos, "'-' and a NID expected");
	if (user)
		*pid |= LNET_PID_USERFLAG;
	if (*pid == LNET_PID_ANY)
		return lni_perr(err, 0, "this PID is written " ANY_TEXT);
	return 0;
}

int lni_process_parse(
        const char *s, size_t len, uint32_t *pid, struct lnet_nid *nid, struct lnet_parse_err *err)
{
	const char *dash = memchr(s, '-', len);
	size_t skip = dash ? (size_t)(dash - s) + 1 : 0;
	uint32_t p = LNET_PID_LUSTRE;
	int rc;

	if (dash) {
		rc = parse_pid(s, skip - 1, &p, err);
		if (rc)
			return rc;
	}
	rc = lnet_nid_parse(s + skip, len - skip, nid, err);
	if (rc) {
		if (err)
			err->pos += skip;
		return rc;
	}
	*pid = p;
	return 0;
}

char *lni_process_str(uint32_t pid, const struct lnet_nid *nid, char *buf, size_t size)
{
	char text[LNET_NIDSTR_MAX];

	lnet_nid_str(nid, text, sizeof(text));
	if (pid == LNET_PID_ANY)
		snprintf(buf, size, ANY_TEXT "-%s", text);
	else
		snprintf(buf, size, "%s%u-%s", pid & LNET_PID_USERFLAG ? "U" : "",
		        pid & ~LNET_PID_USERFLAG, text);
	return buf;
}
