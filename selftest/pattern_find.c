/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns wrong data back into its owner. Only ever runs after a check failed, so it may be slow. */
#include "selftest/pattern.h"
#include <string.h>

#define NEAR       (1ull << 20) /* operations; a lone word that names one further away is chance */
#define SHORT_NEAR 4096u        /* operations tried for a piece of less than 8 bytes */

static uint64_t load_le(const uint8_t *p, size_t len)
{
	uint64_t v = 0;

	for (size_t i = 0; i < len && i < 8; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	uint64_t d = (a - b) & LST_OP_MASK;

	return d <= LST_OP_MASK / 2 ? d : (LST_OP_MASK + 1) - d;
}

/* Is there a whole word of this seed at buf + pos? */
static bool word_fits(const struct lst_pattern *p, uint64_t seed, const uint8_t *buf, size_t len,
        size_t pos, struct lst_owner *o)
{
	struct lst_owner next;

	*o = lst_word_owner(seed, load_le(buf + pos, 8));
	if (pos + 16 <= len) {
		next = lst_word_owner(seed, load_le(buf + pos + 8, 8));
		if (next.source == o->source && next.op == o->op && next.offset == o->offset + 8)
			return true;
	}
	if (pos >= 8) {
		next = lst_word_owner(seed, load_le(buf + pos - 8, 8));
		if (next.source == o->source && next.op == o->op && next.offset + 8 == o->offset)
			return true;
	}
	return o->source == p->source && distance(o->op, p->op) <= NEAR;
}

/*
 * The word at the place itself, then each word that begins with wrong bytes only (a shift, or
 * damage that begins inside a word). The owner of the byte at `at` follows from the word's.
 */
static bool find_whole(const struct lst_pattern *p, const struct lst_suspect *s, const uint8_t *buf,
        size_t len, uint64_t at, struct lst_found *out)
{
	for (unsigned k = 0; k <= 8; k++) {
		uint64_t pos = k == 0 ? at - at % 8 : at + k - 1;
		struct lst_owner o;

		if (pos + 8 > len || !word_fits(p, s->seed, buf, len, pos, &o))
			continue;
		if (o.offset + at < pos)
			continue;
		o.offset = o.offset + at - pos;
		out->known = true;
		out->session = s->session;
		out->owner = o;
		return true;
	}
	return false;
}

/* The last bytes, fewer than 8, cannot be turned back: compare with the operations before and
 * after. */
static bool find_short(const struct lst_pattern *p, const struct lst_suspect *s, const uint8_t *buf,
        size_t len, uint64_t at, struct lst_found *out)
{
	size_t n = len % 8;
	uint64_t start = len - n;
	uint8_t want[8];

	if (n < 4 || at + 8 < start)
		return false;
	for (uint64_t d = 1; d <= SHORT_NEAR; d++)
		for (int sign = 0; sign < 2; sign++) {
			struct lst_pattern q = {s->seed, sign ? p->op + d : p->op - d, p->source};

			lst_pattern_fill(&q, LST_CHECK_FULL, start, want, n);
			if (memcmp(want, buf + start, n) != 0)
				continue;
			out->known = true;
			out->session = s->session;
			out->owner = (struct lst_owner){q.source, q.op & LST_OP_MASK, at};
			return true;
		}
	return false;
}

void lst_pattern_find(const struct lst_pattern *p, const struct lst_suspect *s, unsigned n,
        const void *buf, size_t len, uint64_t at, struct lst_found *out)
{
	uint64_t start = at - at % 8;

	memset(out, 0, sizeof(*out));
	out->word = load_le((const uint8_t *)buf + start, len - start);
	for (unsigned i = 0; i < n; i++)
		if (find_whole(p, &s[i], buf, len, at, out) ||
		        find_short(p, &s[i], buf, len, at, out))
			return;
}
