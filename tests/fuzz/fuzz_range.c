/* SPDX-License-Identifier: BSD-2-Clause */
/* The first byte holds the flags, the rest is text: ranges, networks, CPTs, interfaces. */
#include <errno.h>
#include <string.h>

#include "fuzz/must.h"
#include "lnet/wire/cptlist.h"
#include "lnet/wire/range.h"

#define LIMIT 256u

static char *print(const struct lni_ranges *r, char sep)
{
	size_t n = lni_range_print(r, sep, NULL, 0);
	char *text = malloc(n + 1);

	MUST(text);
	MUST(lni_range_print(r, sep, text, n + 1) == n);
	MUST(strlen(text) == n);
	return text;
}

/* The printed list parses to a list that prints the same and has the same members. */
static void check_ranges(const struct lni_ranges *r, unsigned flags)
{
	static struct lnet_nid a[LIMIT], b[LIMIT];
	char sep = flags & LNI_RANGE_BLANK ? ' ' : ',';
	char *text = print(r, sep), *again;
	struct lni_ranges *back;
	size_t n = 0, m = 0;
	int rc;

	MUST(lni_range_parse(text, strlen(text), flags, &back, NULL) == 0);
	again = print(back, sep);
	MUST(strcmp(text, again) == 0);
	MUST(lni_range_items(r) == lni_range_items(back));
	rc = lni_range_expand(r, a, LIMIT, &n, NULL);
	MUST(lni_range_expand(back, b, LIMIT, &m, NULL) == rc);
	MUST(n == m && memcmp(a, b, n * sizeof(a[0])) == 0);
	for (size_t i = 0; i < n; i++)
		MUST(lni_range_match(r, &a[i]) && lni_range_match_addr(r, &a[i]));
	lni_range_free(back);
	free(text);
	free(again);
}

static void check_err(int rc, size_t size, const struct lnet_parse_err *err)
{
	MUST(rc == -EINVAL || rc == -E2BIG);
	MUST(err->pos <= size && err->msg[0]);
}

static void check_lists(const char *s, size_t size)
{
	struct lnet_parse_err err = {.pos = 0};
	struct lni_ifspec ifs[8];
	struct lni_cpts cpts, back;
	lnet_net_t nets[LIMIT];
	char text[2048];
	size_t n;
	int rc = lni_netlist_parse(s, size, nets, LIMIT, &n, &err);

	if (rc)
		check_err(rc, size, &err);
	rc = lni_iflist_parse(s, size, ifs, 8, &n, &err);
	if (rc)
		check_err(rc, size, &err);
	rc = lni_cpts_parse(s, size, &cpts, &err);
	if (rc) {
		check_err(rc, size, &err);
		return;
	}
	MUST(lni_cpts_print(&cpts, text, sizeof(text)) == strlen(text));
	MUST(lni_cpts_parse(text, strlen(text), &back, NULL) == 0);
	MUST(memcmp(&cpts, &back, sizeof(cpts)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lnet_parse_err err = {.pos = 0};
	struct lni_ranges *r;
	const char *s = (const char *)data + 1;
	int rc;

	if (size-- == 0)
		return 0;
	rc = lni_range_parse(s, size, data[0] & 31, &r, &err);
	if (rc) {
		check_err(rc, size, &err);
	} else {
		check_ranges(r, data[0] & 31);
		lni_range_free(r);
	}
	check_lists(s, size);
	return 0;
}
