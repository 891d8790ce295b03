/* SPDX-License-Identifier: BSD-2-Clause */
#include "lnet/control/nids.h"
#include "lnet/control/cmd.h"
#include "lnet/control/resolve.h"
#include "lnet/wire/cptlist.h"
#include "lnet/wire/range.h"

#include <errno.h>
#include <string.h>

static int say(struct lnc_err *err, int rc, const struct lnet_parse_err *pe)
{
	return lnc_err_set(err, rc, "%s at character %zu", pe->msg, pe->pos + 1);
}

int lnc_list_split(struct lnc_arena *mem, const char *text, const char **part, unsigned max,
        struct lnc_err *err)
{
	unsigned n = 0, depth = 0;
	const char *from = text;

	for (const char *p = text;; p++) {
		if (*p == '[')
			depth++;
		else if (*p == ']' && depth)
			depth--;
		if (*p && (*p != ',' || depth))
			continue;
		if (p == from)
			return lnc_err_set(err, -EINVAL, "an empty part at character %zu",
			        (size_t)(p - text) + 1);
		if (n == max)
			return lnc_err_set(err, -E2BIG, "more than %u parts", max);
		part[n] = lnc_arena_strndup(mem, from, (size_t)(p - from));
		if (!part[n])
			return lnc_err_set(err, -ENOMEM, "no memory");
		n++;
		if (!*p)
			return (int)n;
		from = p + 1;
	}
}

const char *lnc_pid_prefix(const char *text, uint32_t *pid)
{
	size_t n = strspn(text, "0123456789");
	struct lnet_nid nid;
	uint64_t v = 0;

	if (!n || n > 10 || text[n] != '-')
		return text;
	for (size_t i = 0; i < n; i++)
		v = v * 10 + (uint64_t)(text[i] - '0');
	/* a host name may look so; then what follows is no NID */
	if (v > UINT32_MAX || lnet_nid_parse(text + n + 1, strlen(text + n + 1), &nid, NULL))
		return text;
	*pid = (uint32_t)v;
	return text + n + 1;
}

const char *lnc_host_at(const char *text)
{
	const char *at = strrchr(text, '@');
	struct lnet_nid nid;
	lnet_net_t net;

	if (!at || at == text || !lnet_nid_parse(text, strlen(text), &nid, NULL) ||
	        !lnc_is_hostname(text, (size_t)(at - text)) ||
	        lnet_net_parse(at + 1, strlen(at + 1), &net, NULL) || !lnet_net_is_ip(net))
		return NULL;
	return at;
}

int lnc_nids_expand(const char *text, struct lnet_nid *out, unsigned max, struct lnc_err *err)
{
	struct lnet_parse_err pe;
	struct lni_ranges *r;
	size_t n = 0;
	int rc = lni_range_parse(text, strlen(text), LNI_RANGE_COMMA, &r, &pe);

	if (rc)
		return rc == -ENOMEM ? lnc_err_set(err, rc, "no memory") : say(err, rc, &pe);
	rc = lni_range_expand(r, out, max, &n, &pe);
	lni_range_free(r);
	return rc ? lnc_err_set(err, rc, "%s", pe.msg) : (int)n;
}

/* Every part is a host name, or a range that stands for at least one NID. */
static int check_list(const char *text, struct lnc_err *err)
{
	const char *part[LNC_ARGS_MAX];
	struct lnc_arena mem;
	int n, rc = 0;

	lnc_arena_init(&mem, 1u << 20);
	n = lnc_list_split(&mem, text, part, LNC_ARGS_MAX, err);
	for (int i = 0; !rc && i < n; i++) {
		struct lnet_parse_err pe;
		struct lni_ranges *r;
		uint32_t pid;
		const char *rest = lnc_pid_prefix(part[i], &pid);
		size_t count, skip = (size_t)(rest - part[i]);
		if (lnc_host_at(rest))
			continue;
		rc = lni_range_parse(rest, strlen(rest), 0, &r, &pe);
		if (rc) {
			pe.pos += skip;
			say(err, rc, &pe);
			break;
		}
		rc = lni_range_expand(r, NULL, 65536, &count, &pe);
		lni_range_free(r);
		if (rc)
			lnc_err_set(err, rc, "%s", pe.msg);
	}
	lnc_arena_free(&mem);
	return n < 0 ? n : rc;
}

int lnc_nids_check(unsigned kind, const char *text, struct lnc_err *err)
{
	struct lnet_parse_err pe;
	struct lnet_nid nid;
	bool hit;

	if (kind == LNC_A_NIDS)
		return check_list(text, err);
	if (kind == LNC_A_NIDMATCH)
		return lnc_nidmatch(text, NULL, &hit, NULL, 0, err);
	if (!lnet_nid_parse(text, strlen(text), &nid, &pe))
		return lnet_nid_is_any(&nid) ? lnc_err_set(err, -EINVAL, "one NID is needed") : 0;
	if (lnc_host_at(text))
		return 0;
	return say(err, -EINVAL, &pe);
}

int lnc_nidmatch(const char *text, const struct lnet_nid *nid, bool *hit, char *out, size_t size,
        struct lnc_err *err)
{
	struct lnet_parse_err pe;
	struct lni_ranges *r;
	int rc = lni_range_parse(text, strlen(text),
	        LNI_RANGE_BLANK | LNI_RANGE_COMMA | LNI_RANGE_STAR | LNI_RANGE_NET, &r, &pe);

	if (rc)
		return rc == -ENOMEM ? lnc_err_set(err, rc, "no memory") : say(err, rc, &pe);
	*hit = nid && lni_range_match(r, nid);
	if (out && lni_range_print(r, ' ', out, size) >= size)
		rc = lnc_err_set(err, -E2BIG, "the list is too long to be printed");
	lni_range_free(r);
	return rc;
}

int lnc_ifs_check(const char *text, struct lnc_err *err)
{
	struct lni_ifspec spec[128];
	struct lnet_parse_err pe;
	size_t n;
	int rc =
	        lni_iflist_parse(text, strlen(text), spec, sizeof(spec) / sizeof(spec[0]), &n, &pe);

	return rc ? say(err, rc, &pe) : 0;
}
