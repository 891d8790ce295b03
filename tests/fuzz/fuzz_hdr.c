/* SPDX-License-Identifier: BSD-2-Clause */
/* Message headers, both forms: what is accepted keeps its meaning when it is encoded again. */
#include <string.h>

#include <lnet/hdr.h>
#include "fuzz/must.h"

static void check(const struct lnet_hdr *h)
{
	MUST(h->type <= LNET_MSG_REPLY && h->payload_length <= LNET_MTU);
	MUST(h->payload_length == 0 || h->type == LNET_MSG_PUT || h->type == LNET_MSG_REPLY);
	MUST(!lnet_nid_is_any(&h->src_nid));
	MUST(h->src_nid.size == 0 || h->src_nid.size == 12);
}

static void small(const uint8_t *data)
{
	uint8_t a[LNET_HDR4_SIZE], b[LNET_HDR4_SIZE];
	struct lnet_hdr h, back;
	const char *why = NULL;

	if (lnet_hdr_decode4(data, &h, &why)) {
		MUST(why && why[0]);
		return;
	}
	check(&h);
	if (lnet_nid_is_any(&h.dest_nid))
		return;
	MUST(lnet_hdr_encode4(&h, a) == 0);
	MUST(memcmp(a, data, 32 + 16) == 0);
	MUST(lnet_hdr_decode4(a, &back, NULL) == 0);
	MUST(lnet_hdr_encode4(&back, b) == 0);
	MUST(memcmp(a, b, sizeof(a)) == 0);
}

static void large(const uint8_t *data)
{
	uint8_t a[LNET_HDR16_SIZE], b[LNET_HDR16_SIZE];
	struct lnet_hdr h, back;
	const char *why = NULL;

	if (lnet_hdr_decode16(data, &h, &why)) {
		MUST(why && why[0]);
		return;
	}
	check(&h);
	MUST(lnet_hdr_encode16(&h, a) == 0);
	MUST(lnet_nid_is_any(&h.dest_nid) || memcmp(a, data, 56 + 16) == 0);
	MUST(lnet_hdr_decode16(a, &back, NULL) == 0);
	MUST(lnet_hdr_encode16(&back, b) == 0);
	MUST(memcmp(a, b, sizeof(a)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= LNET_HDR4_SIZE)
		small(data);
	if (size >= LNET_HDR16_SIZE)
		large(data);
	return 0;
}
