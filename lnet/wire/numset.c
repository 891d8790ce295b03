/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lnet/wire/numset.h"
#include "lnet/wire/perr.h"
#include "lnet/wire/text.h"

static int parse_number(const char *s, size_t len, size_t *pos, const struct lni_num_rule *rule,
        uint32_t *out, struct lnet_parse_err *err)
{
	size_t p = *pos;
	uint32_t v = 0;

	if (!rule->hex)
		return lni_parse_dec(s, len, pos, rule->max, rule->what, out, err);
	for (; p < len && lni_hex_value(s[p]) >= 0; p++) {
		v = v << 4 | (uint32_t)lni_hex_value(s[p]);
		if (v > rule->max || p - *pos >= 4)
			return lni_perr(err, *pos, "%s is above %x", rule->what, rule->max);
	}
	if (p == *pos)
		return lni_perr_found(err, s, len, p, "hexadecimal digits expected");
	*out = v;
	*pos = p;
	return 0;
}

/* "/STEP" if there is one */
static int parse_step(
        const char *s, size_t len, size_t *pos, uint32_t *step, struct lnet_parse_err *err)
{
	size_t start = *pos + 1;
	int rc;

	*step = 1;
	if (*pos >= len || s[*pos] != '/')
		return 0;
	++*pos;
	rc = lni_parse_dec(s, len, pos, UINT32_MAX, "step", step, err);
	if (rc == 0 && *step == 0)
		return lni_perr(err, start, "step must be 1 or more");
	return rc;
}

int lni_span_parse_at(const char *s, size_t len, size_t *pos, const struct lni_num_rule *rule,
        struct lni_span *out, struct lnet_parse_err *err)
{
	size_t start = *pos;
	struct lni_span sp;
	int rc = parse_number(s, len, pos, rule, &sp.lo, err);

	if (rc)
		return rc;
	sp.hi = sp.lo;
	sp.step = 1;
	if (*pos < len && s[*pos] == '-') {
		++*pos;
		rc = parse_number(s, len, pos, rule, &sp.hi, err);
		if (rc == 0 && sp.hi < sp.lo)
			rc = lni_perr(err, start, "range ends before it begins");
		if (rc == 0)
			rc = parse_step(s, len, pos, &sp.step, err);
		if (rc)
			return rc;
		sp.hi = sp.lo + (sp.hi - sp.lo) / sp.step * sp.step;
		if (sp.hi == sp.lo)
			sp.step = 1;
	}
	*out = sp;
	return 0;
}

static int add_span(struct lni_numset *set, const struct lni_span *sp)
{
	struct lni_span *rest;

	if (set->n == 0) {
		set->first = *sp;
		set->n = 1;
		return 0;
	}
	rest = realloc(set->rest, set->n * sizeof(*rest));
	if (!rest)
		return -ENOMEM;
	rest[set->n - 1] = *sp;
	set->rest = rest;
	set->n++;
	return 0;
}

/* "[item,item...]", *pos at the bracket */
static int parse_list(const char *s, size_t len, size_t *pos, const struct lni_num_rule *rule,
        struct lni_numset *set, struct lnet_parse_err *err)
{
	struct lni_span sp;
	int rc;

	do {
		++*pos;
		if (set->n == LNI_NUMSET_MAX_ITEMS)
			return lni_perr(
			        err, *pos, "more than %u items in one list", LNI_NUMSET_MAX_ITEMS);
		rc = lni_span_parse_at(s, len, pos, rule, &sp, err);
		if (rc == 0)
			rc = add_span(set, &sp);
		if (rc)
			return rc;
	} while (*pos < len && s[*pos] == ',');
	if (*pos >= len || s[*pos] != ']')
		return lni_perr_found(err, s, len, *pos, "',' or ']' expected");
	++*pos;
	return 0;
}

int lni_numset_parse_at(const char *s, size_t len, size_t *pos, const struct lni_num_rule *rule,
        struct lni_numset *out, struct lnet_parse_err *err)
{
	struct lni_numset set = {.n = 0};
	size_t p = *pos;
	uint32_t v;
	int rc;

	if (p < len && s[p] == '*') {
		if (!rule->star)
			return lni_perr(err, p, "'*' is not allowed here");
		set.star = true;
		set.n = 1;
		set.first = (struct lni_span){.lo = 0, .hi = rule->max, .step = 1};
		p++;
	} else if (p < len && s[p] == '[') {
		rc = parse_list(s, len, &p, rule, &set, err);
		if (rc) {
			lni_numset_fini(&set);
			return rc;
		}
	} else {
		rc = parse_number(s, len, &p, rule, &v, err);
		if (rc)
			return rc;
		lni_numset_init_one(&set, v);
	}
	*out = set;
	*pos = p;
	return 0;
}

void lni_numset_init_one(struct lni_numset *set, uint32_t value)
{
	*set = (struct lni_numset){.n = 1, .first = {.lo = value, .hi = value, .step = 1}};
}

void lni_numset_fini(struct lni_numset *set)
{
	free(set->rest);
	*set = (struct lni_numset){.n = 0};
}

const struct lni_span *lni_numset_span(const struct lni_numset *set, uint32_t i)
{
	return i ? &set->rest[i - 1] : &set->first;
}

static bool span_has(const struct lni_span *sp, uint32_t v)
{
	return v >= sp->lo && v <= sp->hi && (v - sp->lo) % sp->step == 0;
}

static bool first_spans_have(const struct lni_numset *set, uint32_t n, uint32_t value)
{
	for (uint32_t i = 0; i < n; i++)
		if (span_has(lni_numset_span(set, i), value))
			return true;
	return false;
}

bool lni_numset_has(const struct lni_numset *set, uint32_t value)
{
	return first_spans_have(set, set->n, value);
}

bool lni_numset_each(const struct lni_numset *set, bool (*f)(void *arg, uint32_t value), void *arg)
{
	for (uint32_t i = 0; i < set->n; i++) {
		const struct lni_span *sp = lni_numset_span(set, i);

		for (uint64_t v = sp->lo; v <= sp->hi; v += sp->step)
			if (!first_spans_have(set, i, (uint32_t)v) && !f(arg, (uint32_t)v))
				return false;
	}
	return true;
}

static void print_span(struct lni_out *o, const struct lni_span *sp, bool hex)
{
	lni_out_add(o, hex ? "%x" : "%u", sp->lo);
	if (sp->hi == sp->lo)
		return;
	lni_out_add(o, hex ? "-%x" : "-%u", sp->hi);
	if (sp->step != 1)
		lni_out_add(o, "/%u", sp->step);
}

size_t lni_numset_print(const struct lni_numset *set, bool hex, char *buf, size_t size)
{
	struct lni_out o = {.buf = buf, .size = size};
	bool list = set->n > 1 || set->first.lo != set->first.hi;

	if (set->star) {
		lni_out_add(&o, "*");
		return o.len;
	}
	if (list)
		lni_out_add(&o, "[");
	for (uint32_t i = 0; i < set->n; i++) {
		if (i)
			lni_out_add(&o, ",");
		print_span(&o, lni_numset_span(set, i), hex);
	}
	if (list)
		lni_out_add(&o, "]");
	return o.len;
}
