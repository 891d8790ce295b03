/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "lnet/wire/cptlist.h"
#include "lnet/wire/numset.h"
#include "lnet/wire/perr.h"
#include "lnet/wire/text.h"

static const struct lni_num_rule cpt_rule = {.max = LNI_CPT_MAX - 1, .what = "CPT number"};

bool lni_cpts_empty(const struct lni_cpts *c)
{
	for (unsigned i = 0; i < LNI_CPT_MAX / 64; i++)
		if (c->bits[i])
			return false;
	return true;
}

static bool add_cpt(void *arg, uint32_t cpt)
{
	struct lni_cpts *c = arg;

	c->bits[cpt / 64] |= 1ull << cpt % 64;
	return true;
}

int lni_cpts_parse_at(
        const char *s, size_t len, size_t *pos, struct lni_cpts *out, struct lnet_parse_err *err)
{
	struct lni_numset set;
	struct lni_cpts c = {.bits = {0}};
	int rc;

	if (*pos >= len || s[*pos] != '[')
		return lni_perr_found(err, s, len, *pos, "a CPT list must begin with '['");
	rc = lni_numset_parse_at(s, len, pos, &cpt_rule, &set, err);
	if (rc)
		return rc;
	lni_numset_each(&set, add_cpt, &c);
	lni_numset_fini(&set);
	*out = c;
	return 0;
}

int lni_cpts_parse(const char *s, size_t len, struct lni_cpts *out, struct lnet_parse_err *err)
{
	struct lni_cpts c;
	size_t pos = 0;
	int rc = lni_cpts_parse_at(s, len, &pos, &c, err);

	if (rc)
		return rc;
	if (pos != len)
		return lni_perr_found(err, s, len, pos, "the CPT list must end here");
	*out = c;
	return 0;
}

int lni_cpts_parse_item(const char *s, size_t len, struct lni_cpts *out, struct lnet_parse_err *err)
{
	struct lni_span sp;
	size_t pos = 0;
	int rc = lni_span_parse_at(s, len, &pos, &cpt_rule, &sp, err);

	if (rc)
		return rc;
	if (pos != len)
		return lni_perr_found(err, s, len, pos, "CPT numbers expected");
	for (uint64_t v = sp.lo; v <= sp.hi; v += sp.step)
		add_cpt(out, (uint32_t)v);
	return 0;
}

size_t lni_cpts_print(const struct lni_cpts *c, char *buf, size_t size)
{
	struct lni_out o = {.buf = buf, .size = size};
	const char *sep = "[";

	if (size)
		buf[0] = '\0';
	for (unsigned i = 0, j; i < LNI_CPT_MAX; i = j + 1) {
		j = i;
		if (!lni_cpts_has(c, i))
			continue;
		while (lni_cpts_has(c, j + 1))
			j++;
		lni_out_add(&o, "%s%u", sep, i);
		if (j > i)
			lni_out_add(&o, "%c%u", j == i + 1 ? ',' : '-', j);
		sep = ",";
	}
	if (o.len)
		lni_out_add(&o, "]");
	return o.len;
}

/* What may stand in the name of a Linux interface here: all but blanks, '/' and our own marks. */
static bool is_name_byte(char c)
{
	return c > 0x20 && c < 0x7f && !strchr("/,[]()#;@\"'", c);
}

int lni_ifspec_parse_at(
        const char *s, size_t len, size_t *pos, struct lni_ifspec *out, struct lnet_parse_err *err)
{
	struct lni_ifspec spec = {.pos = *pos};
	size_t p = *pos;
	int rc;

	while (p < len && is_name_byte(s[p]))
		p++;
	if (p == *pos)
		return lni_perr_found(err, s, len, p, "name of an interface expected");
	if (p - *pos >= LNI_IFNAME_SIZE)
		return lni_perr(err, *pos, "name of an interface has more than %u bytes",
		        LNI_IFNAME_SIZE - 1);
	memcpy(spec.name, s + *pos, p - *pos);
	if (p < len && s[p] == '[') {
		rc = lni_cpts_parse_at(s, len, &p, &spec.cpts, err);
		if (rc)
			return rc;
	}
	*out = spec;
	*pos = p;
	return 0;
}

int lni_iflist_parse(const char *s, size_t len, struct lni_ifspec *out, size_t limit, size_t *count,
        struct lnet_parse_err *err)
{
	struct lni_ifspec spec;
	size_t pos = 0, n = 0;
	int rc;

	for (;; pos++) {
		rc = lni_ifspec_parse_at(s, len, &pos, &spec, err);
		if (rc)
			return rc;
		for (size_t i = 0; i < n; i++)
			if (strcmp(out[i].name, spec.name) == 0)
				return lni_perr(
				        err, spec.pos, "interface %s comes twice", spec.name);
		if (n == limit) {
			lni_perr(err, spec.pos, "more than %zu interfaces", limit);
			return -E2BIG;
		}
		out[n++] = spec;
		if (pos == len)
			break;
		if (s[pos] != ',')
			return lni_perr_found(err, s, len, pos, "',' or the end expected");
	}
	*count = n;
	return 0;
}
