/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests and answers of the self-test: what is accepted is within its limits and reads back. */
#include <errno.h>
#include <string.h>

#include "fuzz/must.h"
#include "selftest/proto.h"

static void request(const uint8_t *data, size_t size)
{
	uint8_t a[LST_REQUEST_SIZE], b[LST_REQUEST_SIZE];
	struct lst_request r, back;
	int rc = lst_request_decode(data, size, &r);

	MUST(rc == 0 || rc == -EPROTO || rc == -EINVAL);
	MUST(size == LST_REQUEST_SIZE || rc == -EPROTO);
	if (rc)
		return;
	MUST(r.kind >= LST_OPEN && r.kind <= LST_RESULT && r.reply_bits >> 63);
	if (r.kind == LST_OPEN) {
		MUST(r.size >= 1 && r.size <= LST_SIZE_MAX);
		MUST(r.slots >= 1 && r.slots <= LST_SLOTS_MAX);
		MUST(r.check <= LST_CHECK_FULL && r.source <= LST_SOURCE_MAX);
	}
	lst_request_encode(&r, a);
	MUST(lst_request_decode(a, sizeof(a), &back) == 0);
	lst_request_encode(&back, b);
	MUST(memcmp(a, b, sizeof(a)) == 0);
}

static void reply(const uint8_t *data, size_t size)
{
	uint8_t a[LST_REPLY_SIZE], b[LST_REPLY_SIZE];
	struct lst_reply r, back;
	int rc = lst_reply_decode(data, size, &r);

	MUST(rc == 0 || rc == -EPROTO);
	if (rc)
		return;
	MUST(size == LST_REPLY_SIZE && r.status <= 0);
	lst_reply_encode(&r, a);
	MUST(lst_reply_decode(a, sizeof(a), &back) == 0);
	lst_reply_encode(&back, b);
	MUST(memcmp(a, b, sizeof(a)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	request(data, size);
	reply(data, size);
	return 0;
}
