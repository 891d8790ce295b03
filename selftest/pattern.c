/* SPDX-License-Identifier: BSD-2-Clause */
#include "selftest/pattern.h"
#include <string.h>

#define INDEX_BITS 17
#define OP_BITS    35

/* Odd multipliers, and their inverses modulo 2^64. */
#define MUL1 0xbf58476d1ce4e5b9ull
#define INV1 0x96de1b173f119089ull
#define MUL2 0x94d049bb133111ebull
#define INV2 0x319642b2d24d8ec3ull

_Static_assert(MUL1 *INV1 == 1 && MUL2 * INV2 == 1, "inverse multipliers");
_Static_assert(LST_PATTERN_SPAN == 8u << INDEX_BITS, "a word index for each 8 bytes");
_Static_assert((uint64_t)LST_SOURCE_MAX + 1 == 1ull << (64 - INDEX_BITS - OP_BITS), "source bits");

static inline uint64_t turn(uint64_t key)
{
	return key << 29 | key >> 35;
}

/*
 * Xor with a shift of 32 bits undoes itself, so encoding and decoding cost the same. The key goes
 * in twice: once alone would cancel out between two seeds, and a foreign message would look like
 * ours.
 */
static inline uint64_t permute(uint64_t key, uint64_t x)
{
	x = (x ^ key) * MUL1;
	x = (x ^ x >> 32 ^ turn(key)) * MUL2;
	return x ^ x >> 32;
}

static inline uint64_t unpermute(uint64_t key, uint64_t w)
{
	w = (w ^ w >> 32) * INV2 ^ turn(key);
	w = (w ^ w >> 32) * INV1;
	return w ^ key;
}

static inline uint64_t base_of(const struct lst_pattern *p)
{
	return (uint64_t)p->source << (OP_BITS + INDEX_BITS) | (p->op & LST_OP_MASK) << INDEX_BITS;
}

static inline uint64_t to_le(uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

uint64_t lst_word(const struct lst_pattern *p, uint64_t index)
{
	return permute(p->seed, base_of(p) | index);
}

struct lst_owner lst_word_owner(uint64_t seed, uint64_t word)
{
	uint64_t x = unpermute(seed, word);

	return (struct lst_owner){
	        .source = (uint16_t)(x >> (OP_BITS + INDEX_BITS)),
	        .op = x >> INDEX_BITS & LST_OP_MASK,
	        .offset = (x & ((1u << INDEX_BITS) - 1)) * 8,
	};
}

/* ---- a range of bytes --------------------------------------------------------------------------
 */

/* Bytes off .. off + len - 1 of one word, in memory order. */
static void part_of(const struct lst_pattern *p, uint64_t off, uint8_t out[8], size_t len)
{
	uint64_t w = to_le(lst_word(p, off / 8));

	memcpy(out, (const uint8_t *)&w + off % 8, len);
}

static size_t head_of(uint64_t off, size_t len)
{
	size_t head = (8 - off % 8) % 8;

	return head < len ? head : len;
}

static void fill_range(const struct lst_pattern *p, uint64_t off, uint8_t *buf, size_t len)
{
	size_t head = head_of(off, len);
	uint64_t base = base_of(p), key = p->seed, i;

	part_of(p, off, buf, head);
	off += head;
	buf += head;
	len -= head;
	for (i = base | off / 8; len >= 8; i++, buf += 8, off += 8, len -= 8) {
		uint64_t w = to_le(permute(key, i));

		memcpy(buf, &w, 8);
	}
	if (len > 0)
		part_of(p, off, buf, len);
}

static uint64_t note(
        uint64_t bad, uint64_t off, const uint8_t *want, const uint8_t *got, uint64_t *at)
{
	if (bad == 0) {
		while (*want == *got) {
			want++;
			got++;
			off++;
		}
		*at = off;
	}
	return bad + 1;
}

static uint64_t verify_part(const struct lst_pattern *p, uint64_t off, const uint8_t *buf,
        size_t len, uint64_t bad, uint64_t *at)
{
	uint8_t want[8];

	part_of(p, off, want, len);
	return memcmp(want, buf, len) == 0 ? bad : note(bad, off, want, buf, at);
}

/* bad: wrong places so far. */
static uint64_t verify_range(const struct lst_pattern *p, uint64_t off, const uint8_t *buf,
        size_t len, uint64_t bad, uint64_t *at)
{
	size_t head = head_of(off, len);
	uint64_t base = base_of(p), key = p->seed, i;

	if (head > 0)
		bad = verify_part(p, off, buf, head, bad, at);
	off += head;
	buf += head;
	len -= head;
	for (i = base | off / 8; len >= 8; i++, buf += 8, off += 8, len -= 8) {
		uint64_t want = to_le(permute(key, i)), got;

		memcpy(&got, buf, 8);
		if (__builtin_expect(got != want, 0))
			bad = note(bad, off, (const uint8_t *)&want, buf, at);
	}
	return len > 0 ? verify_part(p, off, buf, len, bad, at) : bad;
}

/*
 * check=simple: the two ends of the page that starts at `page`, cut to off .. end. Returns how many
 * ranges (0..2; they meet in a page of less than 16 bytes).
 */
static int page_ends(uint64_t page, uint64_t off, uint64_t end, uint64_t from[2], size_t len[2])
{
	uint64_t lo = page > off ? page : off;
	uint64_t hi = page + LST_PAGE < end ? page + LST_PAGE : end;

	from[0] = lo;
	if (hi - lo <= 16) {
		len[0] = (size_t)(hi - lo);
		return len[0] > 0;
	}
	len[0] = len[1] = 8;
	from[1] = hi - 8;
	return 2;
}

void lst_pattern_fill(
        const struct lst_pattern *p, enum lst_check check, uint64_t off, void *buf, size_t len)
{
	uint64_t end = off + len, from[2];
	size_t n[2];

	if (check == LST_CHECK_FULL)
		fill_range(p, off, buf, len);
	if (check != LST_CHECK_SIMPLE)
		return;
	for (uint64_t page = off - off % LST_PAGE; page < end; page += LST_PAGE)
		for (int i = 0, k = page_ends(page, off, end, from, n); i < k; i++)
			fill_range(p, from[i], (uint8_t *)buf + (from[i] - off), n[i]);
}

uint64_t lst_pattern_verify(const struct lst_pattern *p, enum lst_check check, uint64_t off,
        const void *buf, size_t len, uint64_t *at)
{
	uint64_t end = off + len, from[2], bad = 0;
	size_t n[2];

	if (check == LST_CHECK_FULL)
		return verify_range(p, off, buf, len, 0, at);
	if (check != LST_CHECK_SIMPLE)
		return 0;
	for (uint64_t page = off - off % LST_PAGE; page < end; page += LST_PAGE)
		for (int i = 0, k = page_ends(page, off, end, from, n); i < k; i++)
			bad = verify_range(
			        p, from[i], (const uint8_t *)buf + (from[i] - off), n[i], bad, at);
	return bad;
}
