/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames, acknowledgements of zero-copy sends, choice of connections (spec: wire-socklnd.md 5, 6).
 */
#include <errno.h>
#include <zlib.h>

#include "proto.h"
#include "proto_bytes.h"

/* ---- frames ------------------------------------------------------------------------------ */

void tcp_frame_encode(const struct tcp_frame *f, bool be, uint8_t buf[TCP_FRAME_SIZE])
{
	put32(buf, f->type, be);
	put32(buf + 4, f->csum, be);
	put64(buf + 8, f->cookie[0], be);
	put64(buf + 16, f->cookie[1], be);
}

void tcp_frame_decode(const uint8_t buf[TCP_FRAME_SIZE], bool be, struct tcp_frame *f)
{
	f->type = get32(buf, be);
	f->csum = get32(buf + 4, be);
	f->cookie[0] = get64(buf + 8, be);
	f->cookie[1] = get64(buf + 16, be);
}

static size_t frame_size(uint32_t version)
{
	return version == 1 ? 0 : TCP_FRAME_SIZE;
}

size_t tcp_msg_head_size(uint32_t version)
{
	return frame_size(version) + (version == 4 ? LNET_HDR16_SIZE : LNET_HDR4_SIZE);
}

enum tcp_parse tcp_msg_parse(const uint8_t *buf, size_t len, uint32_t version, bool be,
        struct tcp_frame *f, struct lnet_hdr *hdr, size_t *need, const char **why)
{
	size_t skip = frame_size(version);
	int rc;

	*need = skip;
	if (len < skip)
		return TCP_PARSE_MORE;
	if (skip)
		tcp_frame_decode(buf, be, f);
	else
		*f = (struct tcp_frame){.type = TCP_FRAME_LNET};
	if (f->type == TCP_FRAME_NOOP)
		return TCP_PARSE_OK;
	if (f->type != TCP_FRAME_LNET) {
		*why = "unknown frame type";
		return TCP_PARSE_BAD;
	}
	*need = tcp_msg_head_size(version);
	if (len < *need)
		return TCP_PARSE_MORE;
	rc = version == 4 ? lnet_hdr_decode16(buf + skip, hdr, why)
	                  : lnet_hdr_decode4(buf + skip, hdr, why);
	return rc ? TCP_PARSE_BAD : TCP_PARSE_OK;
}

int tcp_msg_encode(const struct tcp_frame *f, const struct lnet_hdr *hdr, uint32_t version, bool be,
        uint8_t buf[TCP_MSG_HEAD_MAX])
{
	size_t skip = frame_size(version);
	int rc;

	rc = version == 4 ? lnet_hdr_encode16(hdr, buf + skip) : lnet_hdr_encode4(hdr, buf + skip);
	if (rc)
		return rc;
	if (skip)
		tcp_frame_encode(f, be, buf);
	return (int)tcp_msg_head_size(version);
}

uint32_t tcp_csum(uint32_t csum, const void *buf, size_t len)
{
	/* zlib inverts before and after; it would take a null pointer for a request to start over
	 */
	return len ? ~(uint32_t)crc32_z(~csum & 0xffffffffu, buf, len) : csum;
}

/* ---- zero-copy acknowledgements ---------------------------------------------------------- */

enum tcp_zc tcp_zc_parse(const struct tcp_frame *f, uint32_t version, struct tcp_zc_ack *ack)
{
	uint64_t c0 = f->type == TCP_FRAME_NOOP ? f->cookie[0] : 0; /* else a request */
	uint64_t c1 = f->cookie[1];

	*ack = (struct tcp_zc_ack){.count = 0};
	if (c1 == 0)
		return TCP_ZC_NONE;
	if (c1 == TCP_KEEPALIVE && version >= 3)
		return c0 <= 1 ? TCP_ZC_KEEPALIVE : TCP_ZC_BAD;
	if (c0 > c1) {
		*ack = (struct tcp_zc_ack){.first = c0, .last = c1, .count = 2};
		return TCP_ZC_PAIR;
	}
	if (c0 == 0)
		c0 = c1;
	*ack = (struct tcp_zc_ack){.first = c0, .last = c1, .count = c1 - c0 + 1};
	return TCP_ZC_RANGE;
}

static void set_cookies(struct tcp_frame *f, uint64_t c0, uint64_t c1)
{
	f->cookie[0] = c0;
	f->cookie[1] = c1;
}

/* {0, c1} and one more: neighbours become a range, others a pair with the larger one first. */
static bool merge_single(struct tcp_frame *f, uint64_t c1, uint64_t cookie)
{
	if (cookie == c1)
		return false;
	if (cookie == c1 + 1)
		set_cookies(f, c1, cookie);
	else if (cookie + 1 == c1)
		set_cookies(f, cookie, c1);
	else if (cookie > c1)
		set_cookies(f, cookie, c1);
	else
		set_cookies(f, c1, cookie);
	return true;
}

bool tcp_zc_merge(struct tcp_frame *noop, uint32_t version, uint64_t cookie)
{
	uint64_t c0 = noop->cookie[0], c1 = noop->cookie[1];

	if (version < 3 || cookie <= TCP_KEEPALIVE)
		return false;
	if (c1 == 0 || (c1 == TCP_KEEPALIVE && c0 <= 1)) {
		set_cookies(noop, 0, cookie);
		return true;
	}
	if (c0 == 0 || c0 == c1)
		return merge_single(noop, c1, cookie);
	if (c0 < c1 && cookie == c1 + 1) {
		noop->cookie[1] = cookie;
		return true;
	}
	if (c0 < c1 && cookie + 1 == c0) {
		noop->cookie[0] = cookie;
		return true;
	}
	/* a pair with one missing between them becomes a range */
	if (c0 == c1 + 2 && cookie == c1 + 1) {
		set_cookies(noop, c1, c0);
		return true;
	}
	return false;
}

/* ---- choice of connections --------------------------------------------------------------- */

enum tcp_fit tcp_msg_fit(
        uint32_t version, uint32_t ctype, bool noop, bool nonblk, size_t size, size_t min_bulk)
{
	bool large = size >= min_bulk;

	switch (ctype) {
	case TCP_CTYPE_ANY:
		return version <= 2 ? TCP_FIT_YES : TCP_FIT_NO;
	case TCP_CTYPE_BULK_IN:
		if (version <= 2)
			return TCP_FIT_MAYBE;
		if (!noop)
			return TCP_FIT_NO;
		return nonblk ? TCP_FIT_YES : TCP_FIT_MAYBE;
	case TCP_CTYPE_BULK_OUT:
		if (version > 2 && noop)
			return nonblk ? TCP_FIT_NO : TCP_FIT_MAYBE;
		return large ? TCP_FIT_YES : TCP_FIT_MAYBE;
	case TCP_CTYPE_CONTROL:
		if (version > 2 && noop)
			return nonblk ? TCP_FIT_NO : TCP_FIT_YES;
		return large ? TCP_FIT_MAYBE : TCP_FIT_YES;
	default:
		return TCP_FIT_NO;
	}
}

unsigned tcp_conns_for_speed(long mbits)
{
	unsigned long gbits = mbits > 0 ? (unsigned long)mbits / 1000 : 0;
	unsigned log2 = 0;

	while (gbits >>= 1)
		log2++;
	return log2 / 2 + 1;
}

uint32_t tcp_next_ctype(const unsigned count[4], unsigned n)
{
	if (count[TCP_CTYPE_CONTROL] == 0)
		return TCP_CTYPE_CONTROL;
	if (count[TCP_CTYPE_BULK_IN] < n && count[TCP_CTYPE_BULK_IN] <= count[TCP_CTYPE_BULK_OUT])
		return TCP_CTYPE_BULK_IN;
	if (count[TCP_CTYPE_BULK_OUT] < n)
		return TCP_CTYPE_BULK_OUT;
	return count[TCP_CTYPE_BULK_IN] < n ? TCP_CTYPE_BULK_IN : TCP_CTYPE_NONE;
}
