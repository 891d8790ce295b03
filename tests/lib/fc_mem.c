/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of the fake core: scattered, guarded, and watched after its end. */
#include "lib/fc_int.h"

#include <stdlib.h>
#include <string.h>

#define GAP   0xa5u /* between pieces */
#define SPARE 0x5au /* in a piece, outside of the part in use */
#define WATCH (8u << 20)

static uint32_t share(struct fc_node *n, size_t left, uint32_t pieces)
{
	size_t mean = left / pieces;

	if (pieces == 1)
		return (uint32_t)left;
	if (!mean)
		return left ? prng_below(&n->rnd, 2) : 0;
	size_t v = mean / 2 + prng_below(&n->rnd, (uint32_t)mean + 1);
	return (uint32_t)(v > left ? left : v);
}

static void lay_out(struct fc_mem *m, size_t total)
{
	size_t at = 16 + prng_below(&m->node->rnd, 16), left = total;

	memset(m->arena, GAP, m->size);
	for (uint32_t i = 0; i < m->niov; i++) {
		size_t n = share(m->node, left, m->niov - i);
		m->iov[i] = (struct iovec){m->arena + at, n};
		memset(m->arena + at, SPARE, n);
		at += n + 1 + prng_below(&m->node->rnd, 15);
		left -= n;
	}
}

struct fc_mem *fc_mem_new(struct fc_node *n, size_t len, uint32_t npieces, uint32_t access)
{
	struct fc_mem *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->node = n;
	m->len = len;
	m->niov = npieces;
	m->skip = prng_below(&n->rnd, 3) ? prng_below(&n->rnd, 97) : 0;
	size_t total = m->skip + len + prng_below(&n->rnd, 67);
	m->size = total + 64 + (size_t)npieces * 16;
	m->arena = malloc(m->size);
	m->iov = calloc(npieces, sizeof(*m->iov));
	if (!m->arena || !m->iov)
		goto fail;
	lay_out(m, total);
	if ((fc_lnd(n)->caps & LNET_LND_REG) && access &&
	        fc_lnd(n)->mem_reg(&n->d, m->iov, m->niov, access, &m->mr))
		goto fail;
	return m;
fail:
	free(m->arena);
	free(m->iov);
	free(m);
	return NULL;
}

void fc_mem_free(struct fc_mem *m)
{
	if (!m)
		return;
	if (m->mr)
		fc_lnd(m->node)->mem_dereg(&m->node->d, m->mr);
	free(m->iov);
	free(m->arena);
	free(m);
}

/* Pieces lie in order: walk the arena once. */
bool fc_mem_clean(const struct fc_mem *m, size_t used)
{
	const uint8_t *p = m->arena;
	size_t off = 0;

	for (uint32_t i = 0; i < m->niov; i++) {
		uint8_t *b = m->iov[i].iov_base;
		size_t n = m->iov[i].iov_len, from = 0, to = 0;
		if (tl_not_byte(GAP, p, (size_t)(b - p)) >= 0)
			return false;
		/* bytes from..to of this piece are in use */
		if (off + n > m->skip && off < m->skip + used) {
			from = off < m->skip ? m->skip - off : 0;
			to = off + n > m->skip + used ? m->skip + used - off : n;
		}
		if (tl_not_byte(SPARE, b, from) >= 0 || tl_not_byte(SPARE, b + to, n - to) >= 0)
			return false;
		off += n;
		p = b + n;
	}
	return tl_not_byte(GAP, p, (size_t)(m->arena + m->size - p)) < 0;
}

uint64_t fc_mem_sum(const struct fc_mem *m)
{
	uint64_t s = 0xcbf29ce484222325ull;
	size_t i = 0;

	for (; i + 8 <= m->size; i += 8) {
		uint64_t w;
		memcpy(&w, m->arena + i, 8);
		s = (s ^ w) * 0x100000001b3ull;
		s ^= s >> 29;
	}
	for (; i < m->size; i++)
		s = (s ^ m->arena[i]) * 0x100000001b3ull;
	return s;
}

static void release_oldest(struct fc_node *n)
{
	struct fc_mem **p = &n->old;

	while ((*p)->next)
		p = &(*p)->next;
	struct fc_mem *m = *p;
	*p = NULL;
	n->old_bytes -= m->size;
	if (fc_mem_sum(m) != m->sum)
		fc_fail(n, "memory of %zu bytes was written after its operation had ended", m->len);
	fc_mem_free(m);
}

void fc_mem_watch(struct fc_node *n, struct fc_mem *m)
{
	pthread_mutex_lock(&n->lock);
	m->sum = fc_mem_sum(m);
	m->next = n->old;
	n->old = m;
	n->old_bytes += m->size;
	pthread_mutex_unlock(&n->lock);
	fc_mem_unwatch(n, false);
}

void fc_mem_unwatch(struct fc_node *n, bool all)
{
	pthread_mutex_lock(&n->lock);
	while (n->old && (all || n->old_bytes > WATCH))
		release_oldest(n);
	pthread_mutex_unlock(&n->lock);
}
