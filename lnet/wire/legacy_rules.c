/* SPDX-License-Identifier: BSD-2-Clause */
/* ip2nets=. See legacy.h for the grammar. */
#include <errno.h>
#include <stdlib.h>

#include "lnet/wire/legacy_int.h"
#include "lnet/wire/perr.h"

static void rule_fini(struct lni_legacy_rule *rule)
{
	lni_legacy_nets_free(&rule->nets);
	lni_range_free(rule->patterns);
}

void lni_legacy_rules_free(struct lni_legacy_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++)
		rule_fini(&rules->v[i]);
	free(rules->v);
	lni_notices_free(&rules->notices);
	*rules = (struct lni_legacy_rules){.n = 0};
}

/* s[0..end) up to the end of the rule, which begins at start: positions count from s */
static int parse_rule(const char *s, size_t start, size_t end, struct lni_legacy_rule *rule,
        struct lni_notices *notices, struct lnet_parse_err *err)
{
	size_t pos = start, patterns;
	int rc = lni_legacy_netlist_at(s, end, &pos, &rule->nets, notices, err);

	if (rc)
		return rc;
	patterns = pos;
	lni_skip_blanks(s, end, &patterns);
	if (patterns == end)
		return lni_perr_found(err, s, end, end, "address pattern expected");
	if (patterns == pos)
		return lni_perr_found(err, s, end, pos, "a blank and an address pattern expected");
	rc = lni_range_parse(s + patterns, end - patterns,
	        LNI_RANGE_BLANK | LNI_RANGE_STAR | LNI_RANGE_NO_NET, &rule->patterns, err);
	if (rc == -EINVAL && err)
		err->pos += patterns;
	return rc;
}

static int add_rule(const char *s, size_t start, size_t end, struct lni_legacy_rules *rules,
        struct lnet_parse_err *err)
{
	struct lni_legacy_rule rule = {.pos = start}, *v;
	int rc = parse_rule(s, start, end, &rule, &rules->notices, err);

	if (rc == 0) {
		v = realloc(rules->v, (rules->n + 1) * sizeof(*v));
		if (v) {
			rules->v = v;
			v[rules->n++] = rule;
			return 0;
		}
		rc = -ENOMEM;
	}
	rule_fini(&rule);
	return rc;
}

int lni_legacy_rules_parse(
        const char *s, size_t len, struct lni_legacy_rules *out, struct lnet_parse_err *err)
{
	struct lni_legacy_rules rules = {.n = 0};
	size_t pos = 0, start, end;
	int rc;

	while ((rc = lni_statement_next(s, len, &pos, &start, &end, &rules.notices)) > 0) {
		rc = add_rule(s, start, end, &rules, err);
		if (rc)
			break;
	}
	if (rc) {
		lni_legacy_rules_free(&rules);
		return rc;
	}
	*out = rules;
	return 0;
}
