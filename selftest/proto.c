/* SPDX-License-Identifier: BSD-2-Clause */
#include "selftest/proto.h"

#include <errno.h>
#include <string.h>

static void put(uint8_t **p, uint64_t v, unsigned bytes)
{
	while (bytes--) {
		*(*p)++ = (uint8_t)v;
		v >>= 8;
	}
}

static uint64_t get(const uint8_t **p, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t) * (*p)++ << (8 * i);
	return v;
}

static void head(uint8_t **p, uint16_t kind)
{
	put(p, LST_MAGIC, 4);
	put(p, LST_VERSION, 2);
	put(p, kind, 2);
}

static int check_head(const uint8_t **p, size_t len, size_t want, uint16_t *kind)
{
	if (len != want || get(p, 4) != LST_MAGIC || get(p, 2) != LST_VERSION)
		return -EPROTO;
	*kind = (uint16_t)get(p, 2);
	return *kind < LST_OPEN || *kind > LST_RESULT ? -EPROTO : 0;
}

void lst_request_encode(const struct lst_request *r, uint8_t buf[LST_REQUEST_SIZE])
{
	uint8_t *p = buf;

	memset(buf, 0, LST_REQUEST_SIZE);
	head(&p, r->kind);
	put(&p, r->reply_bits, 8);
	put(&p, r->session, 4);
	put(&p, r->get, 1);
	put(&p, r->check, 1);
	put(&p, r->slots, 2);
	put(&p, r->source, 2);
	put(&p, 0, 2);
	put(&p, r->size, 4);
	put(&p, r->seed, 8);
}

int lst_request_decode(const uint8_t *buf, size_t len, struct lst_request *out)
{
	const uint8_t *p = buf;
	struct lst_request r;
	uint64_t is_get;
	int rc = check_head(&p, len, LST_REQUEST_SIZE, &r.kind);

	if (rc)
		return rc;
	r.reply_bits = get(&p, 8);
	r.session = (uint32_t)get(&p, 4);
	is_get = get(&p, 1);
	r.check = (uint8_t)get(&p, 1);
	r.slots = (uint16_t)get(&p, 2);
	r.source = (uint16_t)get(&p, 2);
	get(&p, 2);
	r.size = (uint32_t)get(&p, 4);
	r.seed = get(&p, 8);
	r.get = is_get;
	if (!(r.reply_bits >> 63) || is_get > 1)
		return -EINVAL;
	if (r.kind == LST_OPEN &&
	        (r.check > LST_CHECK_FULL || r.slots == 0 || r.slots > LST_SLOTS_MAX ||
	                r.source > LST_SOURCE_MAX || r.size == 0 || r.size > LST_SIZE_MAX))
		return -EINVAL;
	*out = r;
	return 0;
}

void lst_reply_encode(const struct lst_reply *r, uint8_t buf[LST_REPLY_SIZE])
{
	uint8_t *p = buf;

	memset(buf, 0, LST_REPLY_SIZE);
	head(&p, r->kind);
	put(&p, (uint32_t)r->status, 4);
	put(&p, r->session, 4);
	put(&p, r->ops, 8);
	put(&p, r->data_errors, 8);
	put(&p, r->order_errors, 8);
	put(&p, r->at, 8);
	put(&p, r->want_op, 8);
	put(&p, r->found_op, 8);
	put(&p, r->found_offset, 8);
	put(&p, r->want_source, 2);
	put(&p, r->found_source, 2);
	put(&p, r->found_known, 1);
	put(&p, 0, 3);
	put(&p, r->found_session, 4);
	put(&p, 0, 4);
	put(&p, r->word, 8);
}

int lst_reply_decode(const uint8_t *buf, size_t len, struct lst_reply *out)
{
	const uint8_t *p = buf;
	struct lst_reply r;
	int rc = check_head(&p, len, LST_REPLY_SIZE, &r.kind);

	if (rc)
		return rc;
	r.status = (int32_t)(uint32_t)get(&p, 4);
	r.session = (uint32_t)get(&p, 4);
	r.ops = get(&p, 8);
	r.data_errors = get(&p, 8);
	r.order_errors = get(&p, 8);
	r.at = get(&p, 8);
	r.want_op = get(&p, 8);
	r.found_op = get(&p, 8);
	r.found_offset = get(&p, 8);
	r.want_source = (uint16_t)get(&p, 2);
	r.found_source = (uint16_t)get(&p, 2);
	r.found_known = get(&p, 1);
	get(&p, 3);
	r.found_session = (uint32_t)get(&p, 4);
	get(&p, 4);
	r.word = get(&p, 8);
	if (r.status > 0)
		return -EPROTO;
	*out = r;
	return 0;
}
