/* SPDX-License-Identifier: BSD-2-Clause */
/* NID values: comparison, hashing, and the two wire forms (spec: wire-lnet.md section 2). */
#include <assert.h>
#include <errno.h>

#include <lnet/nid.h>
#include <lnet/hdr.h>
#include "lnet/wire/bytes.h"

_Static_assert(sizeof(struct lnet_nid) == 20, "NIDs are compared byte by byte: no padding");

#define TYPE_ANY 0xffu
#define NID4_LO  0x0009000000000000ull

struct lnet_nid lnet_nid_any(void)
{
	return (struct lnet_nid)LNET_NID_ANY_INIT;
}

bool lnet_nid_is_any(const struct lnet_nid *nid)
{
	return nid->type == TYPE_ANY;
}

bool lnet_nid_is_lo(const struct lnet_nid *nid)
{
	return lnet_nid_is4(nid) && lnet_nid_to4(nid) == NID4_LO;
}

bool lnet_nid_eq(const struct lnet_nid *a, const struct lnet_nid *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* size, type and number as the first word of the wire form */
static uint32_t head_of(const struct lnet_nid *nid)
{
	return (uint32_t)nid->size << 24 | (uint32_t)nid->type << 16 | nid->num;
}

int lnet_nid_cmp(const struct lnet_nid *a, const struct lnet_nid *b)
{
	uint32_t ha = head_of(a), hb = head_of(b);

	if (ha != hb)
		return ha < hb ? -1 : 1;
	return memcmp(a->addr, b->addr, sizeof(a->addr));
}

/* One round of multiply and fold: every input bit reaches every output bit. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

uint64_t lnet_nid_hash(const struct lnet_nid *nid)
{
	uint64_t h = mix(head_of(nid) ^ 0x9e3779b97f4a7c15ull, 0xd6e8feb86659fd93ull);

	h = mix(h ^ get_le64(nid->addr) ^ 0xa0761d6478bd642full, 0xe7037ed1a0b428dbull);
	return mix(h ^ get_le64(nid->addr + 8) ^ 0x8ebc6af09c88c6e3ull, 0x589965cc75374cc3ull);
}

lnet_net_t lnet_nid_net(const struct lnet_nid *nid)
{
	if (lnet_nid_is_any(nid))
		return LNET_NET_ANY;
	return LNET_NET(nid->type, nid->num);
}

struct lnet_nid lnet_nid_from4(uint64_t nid4)
{
	struct lnet_nid nid = {
	        .type = (uint8_t)(nid4 >> 48),
	        .num = (uint16_t)(nid4 >> 32),
	};

	if (nid.type == TYPE_ANY)
		return lnet_nid_any();
	put_be32(nid.addr, (uint32_t)nid4);
	return nid;
}

bool lnet_nid_is4(const struct lnet_nid *nid)
{
	return nid->size == 0 && nid->type != TYPE_ANY;
}

uint64_t lnet_nid_to4(const struct lnet_nid *nid)
{
	if (lnet_nid_is_any(nid))
		return LNET_NID4_ANY;
	assert(nid->size == 0);
	return (uint64_t)nid->type << 48 | (uint64_t)nid->num << 32 | get_be32(nid->addr);
}

struct lnet_nid lnet_nid_from_ip(lnet_net_t net, const void *addr, size_t len)
{
	struct lnet_nid nid = {
	        .type = (uint8_t)LNET_NET_TYPE(net),
	        .num = (uint16_t)LNET_NET_NUM(net),
	};

	assert(len == 4 || len == 16);
	nid.size = (uint8_t)(len - 4);
	memcpy(nid.addr, addr, len);
	return nid;
}

bool lnet_net_is_ip(lnet_net_t net)
{
	if (net >> 24)
		return false;
	switch (LNET_NET_TYPE(net)) {
	case LNET_LND_TCP:
	case LNET_LND_O2IB:
	case LNET_LND_GIP:
	case LNET_LND_EFA:
	case LNET_LND_OFI:
		return true;
	default:
		return false;
	}
}

void lnet_nid_encode16(const struct lnet_nid *nid, uint8_t buf[LNET_NID16_SIZE])
{
	put_be32(buf, head_of(nid));
	memcpy(buf + 4, nid->addr, sizeof(nid->addr));
}

int lnet_nid_decode16(const uint8_t buf[LNET_NID16_SIZE], struct lnet_nid *nid)
{
	struct lnet_nid n = {.size = buf[0], .type = buf[1], .num = get_be16(buf + 2)};

	if (n.type == TYPE_ANY) {
		*nid = lnet_nid_any();
		return 0;
	}
	if (n.size != 0 && n.size != 12)
		return -EPROTO;
	memcpy(n.addr, buf + 4, sizeof(n.addr));
	if (n.size == 0 && (get_le32(n.addr + 4) | get_le64(n.addr + 8)) != 0)
		return -EPROTO;
	*nid = n;
	return 0;
}
