/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include <lnet/hdr.h>
#include "lnet/wire/bytes.h"
#include "lnet/wire/ping.h"

#define MAGIC       0x70696e67u
#define SENT_BITS   (LNI_PING_RTE_DISABLED | LNI_PING_MULTI_RAIL | LNI_PING_DISCOVERY)
#define ENTRY4_SIZE 16u
#define NID4_LO     0x0009000000000000ull

/* Size of a large entry on the wire: status, then the NID padded to a multiple of 4. */
static size_t entry16_size(unsigned nid_size)
{
	return 4 + ((nid_size + 8u + 3u) & ~3u);
}

/* ---- encode ------------------------------------------------------------------------------ */

size_t lni_ping_size(const struct lni_ping_info *info)
{
	size_t size = LNI_PING_HDR_SIZE + ENTRY4_SIZE;

	for (uint32_t i = 0; i < info->count; i++)
		size += lnet_nid_is4(&info->entries[i].nid)
		                ? ENTRY4_SIZE
		                : entry16_size(info->entries[i].nid.size);
	return size;
}

static void put_entry4(uint8_t *p, uint64_t nid4, uint32_t status, uint32_t msg_size)
{
	put_le64(p, nid4);
	put_le32(p + 8, status);
	put_le32(p + 12, msg_size);
}

/* Both counts without 0@lo. -EINVAL for a NID that cannot be reported. */
static int count_forms(const struct lni_ping_info *info, uint32_t *n4, uint32_t *n16)
{
	*n4 = 0;
	*n16 = 0;
	for (uint32_t i = 0; i < info->count; i++) {
		const struct lnet_nid *nid = &info->entries[i].nid;

		if (lnet_nid_is_any(nid) || nid->type == LNET_LND_LO)
			return -EINVAL;
		++*(lnet_nid_is4(nid) ? n4 : n16);
	}
	return *n4 >= LNI_PING_MAX_NIDS || *n16 > LNI_PING_MAX_NIDS ? -EINVAL : 0;
}

long lni_ping_encode(const struct lni_ping_info *info, void *buf, size_t size)
{
	uint8_t *p = buf, *small = p + LNI_PING_HDR_SIZE, *large;
	size_t total = lni_ping_size(info);
	uint32_t features = (info->features & SENT_BITS) | LNI_PING_NI_STATUS;
	uint32_t n4, n16;
	int rc = count_forms(info, &n4, &n16);

	if (rc)
		return rc;
	if (size < total)
		return -ENOSPC;
	if (n16)
		features |= LNI_PING_LARGE_ADDR;
	if (n16 && !lnet_nid_is4(&info->entries[0].nid))
		features |= LNI_PING_PRIMARY_LARGE;
	put_le32(p, MAGIC);
	put_le32(p + 4, features);
	put_le32(p + 8, info->pid);
	put_le32(p + 12, n4 + 1);
	put_entry4(small, NID4_LO, info->seq, n16 ? (uint32_t)total : 0);
	small += ENTRY4_SIZE;
	large = small + (size_t)n4 * ENTRY4_SIZE;
	for (uint32_t i = 0; i < info->count; i++) {
		const struct lni_ping_entry *e = &info->entries[i];

		if (lnet_nid_is4(&e->nid)) {
			put_entry4(small, lnet_nid_to4(&e->nid), e->status, 0);
			small += ENTRY4_SIZE;
			continue;
		}
		put_le32(large, e->status);
		lnet_nid_encode16(&e->nid, large + 4);
		large += entry16_size(e->nid.size);
	}
	return (long)total;
}

/* ---- decode ------------------------------------------------------------------------------ */

struct reader {
	const uint8_t *buf;
	size_t total; /* of the info; all of it was received */
	uint32_t nnis;
	bool swapped;
	uint32_t limit;
	uint32_t count; /* entries seen, stored or not */
	struct lni_ping_entry *entries;
	struct lni_ping_result *res;
};

static uint32_t get32(const struct reader *r, size_t off)
{
	uint32_t v = get_le32(r->buf + off);

	return r->swapped ? __builtin_bswap32(v) : v;
}

static uint64_t get64(const struct reader *r, size_t off)
{
	uint64_t v = get_le64(r->buf + off);

	return r->swapped ? __builtin_bswap64(v) : v;
}

static int refuse(struct reader *r, int rc, size_t want, const char *why)
{
	r->res->want = want;
	r->res->why = why;
	return rc;
}

static void add_entry(struct reader *r, const struct lnet_nid *nid, uint32_t status)
{
	if (lnet_nid_is_any(nid) || nid->type == LNET_LND_LO) {
		r->res->skipped++;
		return;
	}
	if (r->count < r->limit)
		r->entries[r->count] = (struct lni_ping_entry){.nid = *nid, .status = status};
	r->count++;
}

static void read_small(struct reader *r)
{
	for (uint32_t i = 1; i < r->nnis; i++) {
		size_t off = LNI_PING_HDR_SIZE + (size_t)i * ENTRY4_SIZE;
		uint64_t nid4 = get64(r, off);
		struct lnet_nid nid = lnet_nid_from4(nid4);

		if (nid4 >> 56)
			r->res->skipped++;
		else
			add_entry(r, &nid, get32(r, off + 8));
	}
}

static void read_large(struct reader *r)
{
	size_t off = LNI_PING_HDR_SIZE + (size_t)r->nnis * ENTRY4_SIZE;

	while (r->total - off >= 12) {
		unsigned nid_size = r->buf[off + 4];
		size_t step = entry16_size(nid_size);
		uint8_t wire[LNET_NID16_SIZE] = {0};
		struct lnet_nid nid;

		if (step > r->total - off) {
			r->res->skipped++;
			return;
		}
		/* a shorter NID leaves the rest zero, as the full form demands */
		if (nid_size <= 12)
			memcpy(wire, r->buf + off + 4, nid_size + 8u);
		if (nid_size > 12 || lnet_nid_decode16(wire, &nid))
			r->res->skipped++;
		else
			add_entry(r, &nid, get32(r, off));
		off += step;
	}
}

/* The fixed part: everything that decides how long the info is. */
static int read_head(struct reader *r, size_t len, uint32_t *features)
{
	size_t small, claimed;

	if (len < 4)
		return refuse(r, -EMSGSIZE, LNI_PING_MIN_BUFFER, "ping info is cut");
	r->swapped = get_le32(r->buf) == __builtin_bswap32(MAGIC);
	r->res->swapped = r->swapped;
	if (get32(r, 0) != MAGIC)
		return refuse(r, -EPROTO, 0, "bad ping info magic");
	if (len < LNI_PING_HDR_SIZE)
		return refuse(r, -EMSGSIZE, LNI_PING_MIN_BUFFER, "ping info is cut");
	*features = get32(r, 4);
	r->nnis = get32(r, 12);
	if (!(*features & LNI_PING_NI_STATUS))
		return refuse(r, -EPROTO, 0, "ping info without ni status");
	if (r->nnis < 1 || r->nnis > LNI_PING_MAX_NIDS)
		return refuse(r, -EPROTO, 0, "ping info with 0 or more than 4096 nids");
	small = LNI_PING_HDR_SIZE + (size_t)r->nnis * ENTRY4_SIZE;
	if (len < LNI_PING_HDR_SIZE + ENTRY4_SIZE)
		return refuse(r, -EMSGSIZE, small, "ping info is cut");
	if (get64(r, LNI_PING_HDR_SIZE) != NID4_LO)
		return refuse(r, -EPROTO, 0, "first nid of ping info is not 0@lo");
	claimed = small;
	if (*features & LNI_PING_LARGE_ADDR)
		claimed = get32(r, LNI_PING_HDR_SIZE + 12) & ~3u;
	if (claimed < small || claimed > LNI_PING_MAX_SIZE)
		return refuse(r, -EPROTO, 0, "impossible size in ping info");
	if (claimed > len)
		return refuse(r, -EMSGSIZE, claimed, "ping info is cut");
	r->total = claimed;
	return 0;
}

int lni_ping_decode(const void *buf, size_t len, struct lni_ping_info *info, uint32_t limit,
        struct lni_ping_result *res)
{
	struct reader r = {.buf = buf, .limit = limit, .entries = info->entries, .res = res};
	uint32_t features = 0;
	int rc;

	*res = (struct lni_ping_result){.want = 0};
	rc = read_head(&r, len, &features);
	if (rc)
		return rc;
	/* The primary NID first, wherever it stands on the wire. */
	if ((features & LNI_PING_LARGE_ADDR) && (features & LNI_PING_PRIMARY_LARGE)) {
		read_large(&r);
		read_small(&r);
	} else {
		read_small(&r);
		if (features & LNI_PING_LARGE_ADDR)
			read_large(&r);
	}
	if (r.count > limit)
		return refuse(
		        &r, -ENOSPC, r.count, "more nids in ping info than there is room for");
	res->want = r.total;
	info->features = features;
	info->pid = get32(&r, 8);
	info->seq = get32(&r, LNI_PING_HDR_SIZE + 8);
	info->count = r.count;
	return 0;
}
