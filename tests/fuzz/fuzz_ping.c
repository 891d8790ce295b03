/* SPDX-License-Identifier: BSD-2-Clause */
/* Ping info: nothing is read beyond the bytes, and what is accepted can be sent on. */
#include <errno.h>
#include <string.h>

#include <lnet/hdr.h>
#include "fuzz/must.h"
#include "lnet/wire/ping.h"

#define LIMIT 128u

static void check_again(const struct lni_ping_info *info)
{
	struct lni_ping_entry entries[LIMIT];
	struct lni_ping_info back = {.entries = entries};
	struct lni_ping_result res;
	uint8_t a[8192], b[8192];
	long n = lni_ping_encode(info, a, sizeof(a));

	MUST(n == (long)lni_ping_size(info));
	MUST(lni_ping_decode(a, (size_t)n, &back, LIMIT, &res) == 0);
	MUST(res.skipped == 0 && res.want == (size_t)n && !res.swapped);
	MUST(back.count == info->count && back.seq == info->seq && back.pid == info->pid);
	MUST(info->count == 0 || lnet_nid_eq(&back.entries[0].nid, &info->entries[0].nid));
	MUST(lni_ping_encode(&back, b, sizeof(b)) == n);
	MUST(memcmp(a, b, (size_t)n) == 0);
	/* one byte less is noticed */
	MUST(lni_ping_decode(a, (size_t)n - 1, &back, LIMIT, &res) == -EMSGSIZE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lni_ping_entry entries[LIMIT];
	struct lni_ping_info info = {.entries = entries};
	struct lni_ping_result res;
	int rc = lni_ping_decode(data, size, &info, LIMIT, &res);

	switch (rc) {
	case 0:
		MUST(!res.why && info.count <= LIMIT && res.want <= size);
		check_again(&info);
		break;
	case -EPROTO:
		MUST(res.why);
		break;
	case -EMSGSIZE:
		MUST(res.why && res.want > size && res.want <= LNI_PING_MAX_SIZE);
		break;
	default:
		MUST(rc == -ENOSPC && res.want > LIMIT);
		break;
	}
	return 0;
}
