/* SPDX-License-Identifier: BSD-2-Clause */
/* Acceptor request and HELLO (spec: wire-socklnd.md sections 2 to 4). */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "proto.h"
#include "proto_bytes.h"

#define HELLO_TYPE 4u /* LNET_MSG_HELLO in the header form of v1 */

static enum tcp_parse more(size_t *need, size_t n)
{
	*need = n;
	return TCP_PARSE_MORE;
}

static enum tcp_parse end(const char **why, enum tcp_parse rc, const char *text)
{
	*why = text;
	return rc;
}

/* A 4-byte NID; its top byte is the size byte of the large form and must be 0. */
static bool nid_from4(uint64_t nid4, struct lnet_nid *nid)
{
	*nid = lnet_nid_from4(nid4);
	return nid4 >> 56 == 0 || nid4 == LNET_NID4_ANY;
}

/* ---- acceptor ---------------------------------------------------------------------------- */

enum tcp_parse tcp_accept_parse(
        const uint8_t *buf, size_t len, struct lnet_nid *nid, size_t *need, const char **why)
{
	uint32_t magic, version;
	bool be, sound;

	if (len < 4)
		return more(need, 8);
	magic = get32(buf, false);
	if (magic == TCP_MAGIC_LNET || magic == bswap32(TCP_MAGIC_LNET))
		return end(why, TCP_PARSE_QUERY, "version query");
	if (magic == TCP_MAGIC_V1 || magic == bswap32(TCP_MAGIC_V1))
		return end(why, TCP_PARSE_ANCIENT, "protocol without acceptor request");
	be = magic == bswap32(TCP_MAGIC_ACCEPTOR);
	if (magic != TCP_MAGIC_ACCEPTOR && !be)
		return end(why, TCP_PARSE_BAD, "bad acceptor magic");
	if (len < 8)
		return more(need, 8);
	version = get32(buf + 4, be);
	if (version != 1 && version != 2)
		return end(why, TCP_PARSE_VERSION, "unknown acceptor version");
	*need = version == 1 ? TCP_ACCEPT_V1_SIZE : TCP_ACCEPT_V2_SIZE;
	if (len < *need)
		return TCP_PARSE_MORE;
	if (version == 1)
		sound = nid_from4(get64(buf + 8, be), nid);
	else
		sound = lnet_nid_decode16(buf + 8, nid) == 0;
	if (!sound || lnet_nid_is_any(nid))
		return end(why, TCP_PARSE_BAD, "bad nid in acceptor request");
	return TCP_PARSE_OK;
}

size_t tcp_accept_encode(const struct lnet_nid *nid, bool be, uint8_t buf[TCP_ACCEPT_MAX])
{
	bool v1 = lnet_nid_is4(nid);

	put32(buf, TCP_MAGIC_ACCEPTOR, be);
	put32(buf + 4, v1 ? 1 : 2, be);
	if (v1)
		put64(buf + 8, lnet_nid_to4(nid), be);
	else
		lnet_nid_encode16(nid, buf + 8);
	return v1 ? TCP_ACCEPT_V1_SIZE : TCP_ACCEPT_V2_SIZE;
}

void tcp_accept_encode_answer(uint8_t buf[TCP_ACCEPT_ANS_SIZE])
{
	put32(buf, TCP_MAGIC_ACCEPTOR, false);
	put32(buf + 4, 1, false);
	put64(buf + 8, 0, false);
}

/* ---- HELLO ------------------------------------------------------------------------------- */

/* The address list behind the fixed part: read, checked, ignored. */
static enum tcp_parse parse_ips(const uint8_t *buf, size_t len, size_t fixed, struct tcp_hello *h,
        size_t *need, const char **why)
{
	if (h->nips > TCP_HELLO_MAX_IPS)
		return end(why, TCP_PARSE_BAD, "more than 16 addresses in hello");
	*need = fixed + 4 * (size_t)h->nips;
	if (len < *need)
		return TCP_PARSE_MORE;
	for (uint32_t i = 0; i < h->nips; i++)
		if (get32(buf + fixed + 4 * (size_t)i, h->be) == 0)
			return end(why, TCP_PARSE_BAD, "address 0 in hello");
	return TCP_PARSE_OK;
}

static enum tcp_parse parse_v1(
        const uint8_t *buf, size_t len, struct tcp_hello *h, size_t *need, const char **why)
{
	uint32_t bytes;

	if (len < TCP_HELLO_V1_SIZE)
		return more(need, TCP_HELLO_V1_SIZE);
	if (get32(buf + 24, h->be) != HELLO_TYPE)
		return end(why, TCP_PARSE_BAD, "first message is no hello");
	if (!nid_from4(get64(buf + 8, h->be), &h->src_nid))
		return end(why, TCP_PARSE_BAD, "bad source nid in hello");
	h->dst_nid = lnet_nid_any();
	h->dst_pid = get32(buf + 16, h->be);
	h->src_pid = get32(buf + 20, h->be);
	h->src_incarnation = get64(buf + 32, h->be);
	h->dst_incarnation = 0;
	h->ctype = get32(buf + 40, h->be);
	bytes = get32(buf + 28, h->be);
	if (bytes % 4)
		return end(why, TCP_PARSE_BAD, "odd address list in hello");
	h->nips = bytes / 4;
	return parse_ips(buf, len, TCP_HELLO_V1_SIZE, h, need, why);
}

/* The fields behind the NIDs are the same in v2, v3 and v4. */
static void get_tail(const uint8_t *p, struct tcp_hello *h)
{
	h->src_pid = get32(p, h->be);
	h->dst_pid = get32(p + 4, h->be);
	h->src_incarnation = get64(p + 8, h->be);
	h->dst_incarnation = get64(p + 16, h->be);
	h->ctype = get32(p + 24, h->be);
	h->nips = get32(p + 28, h->be);
}

static enum tcp_parse parse_v2(
        const uint8_t *buf, size_t len, struct tcp_hello *h, size_t *need, const char **why)
{
	if (len < TCP_HELLO_V2_SIZE)
		return more(need, TCP_HELLO_V2_SIZE);
	if (!nid_from4(get64(buf + 8, h->be), &h->src_nid))
		return end(why, TCP_PARSE_BAD, "bad source nid in hello");
	if (!nid_from4(get64(buf + 16, h->be), &h->dst_nid))
		return end(why, TCP_PARSE_BAD, "bad destination nid in hello");
	get_tail(buf + 24, h);
	return parse_ips(buf, len, TCP_HELLO_V2_SIZE, h, need, why);
}

static enum tcp_parse parse_v4(
        const uint8_t *buf, size_t len, struct tcp_hello *h, size_t *need, const char **why)
{
	*need = TCP_HELLO_V4_SIZE;
	if (len < TCP_HELLO_V4_SIZE)
		return TCP_PARSE_MORE;
	if (lnet_nid_decode16(buf + 8, &h->src_nid))
		return end(why, TCP_PARSE_BAD, "bad source nid in hello");
	if (lnet_nid_decode16(buf + 28, &h->dst_nid))
		return end(why, TCP_PARSE_BAD, "bad destination nid in hello");
	get_tail(buf + 48, h);
	/* No list follows in v4, whatever the count says. */
	if (h->nips)
		return end(why, TCP_PARSE_BAD, "address list in hello v4");
	return TCP_PARSE_OK;
}

/* Magic and version: sets h->version and h->be. */
static enum tcp_parse parse_version(const uint8_t *buf, struct tcp_hello *h, const char **why)
{
	uint32_t magic = get32(buf, false);

	if (magic == TCP_MAGIC_V1 || magic == bswap32(TCP_MAGIC_V1)) {
		h->be = magic != TCP_MAGIC_V1;
		h->version = 1;
		if (get16(buf + 4, h->be) != 1 || get16(buf + 6, h->be) != 0)
			return end(why, TCP_PARSE_VERSION, "unknown hello version");
		return TCP_PARSE_OK;
	}
	h->be = magic != TCP_MAGIC_LNET;
	h->version = get32(buf + 4, h->be);
	if (h->version < 2 || h->version > 4)
		return end(why, TCP_PARSE_VERSION, "unknown hello version");
	return TCP_PARSE_OK;
}

static bool is_hello_magic(uint32_t magic)
{
	return magic == TCP_MAGIC_LNET || magic == bswap32(TCP_MAGIC_LNET) ||
	       magic == TCP_MAGIC_V1 || magic == bswap32(TCP_MAGIC_V1);
}

enum tcp_parse tcp_hello_parse(
        const uint8_t *buf, size_t len, struct tcp_hello *h, size_t *need, const char **why)
{
	enum tcp_parse rc;

	if (len < 4)
		return more(need, 8);
	if (!is_hello_magic(get32(buf, false)))
		return end(why, TCP_PARSE_BAD, "bad hello magic");
	if (len < 8)
		return more(need, 8);
	rc = parse_version(buf, h, why);
	if (rc != TCP_PARSE_OK)
		return rc;
	if (h->version == 1)
		rc = parse_v1(buf, len, h, need, why);
	else if (h->version == 4)
		rc = parse_v4(buf, len, h, need, why);
	else
		rc = parse_v2(buf, len, h, need, why);
	if (rc == TCP_PARSE_OK && lnet_nid_is_any(&h->src_nid))
		return end(why, TCP_PARSE_BAD, "source nid in hello is any");
	return rc;
}

static void put_tail(uint8_t *p, const struct tcp_hello *h)
{
	put32(p, h->src_pid, h->be);
	put32(p + 4, h->dst_pid, h->be);
	put64(p + 8, h->src_incarnation, h->be);
	put64(p + 16, h->dst_incarnation, h->be);
	put32(p + 24, h->ctype, h->be);
	put32(p + 28, 0, h->be);
}

static int encode_v1(const struct tcp_hello *h, uint8_t *buf)
{
	memset(buf, 0, TCP_HELLO_V1_SIZE);
	put32(buf, TCP_MAGIC_V1, h->be);
	put16(buf + 4, 1, h->be);
	put64(buf + 8, lnet_nid_to4(&h->src_nid), h->be);
	put32(buf + 16, h->dst_pid, h->be);
	put32(buf + 20, h->src_pid, h->be);
	put32(buf + 24, HELLO_TYPE, h->be);
	put64(buf + 32, h->src_incarnation, h->be);
	put32(buf + 40, h->ctype, h->be);
	return (int)TCP_HELLO_V1_SIZE;
}

int tcp_hello_encode(const struct tcp_hello *h, uint8_t buf[TCP_HELLO_V4_SIZE])
{
	bool dst4 = lnet_nid_is4(&h->dst_nid) || lnet_nid_is_any(&h->dst_nid);

	if (h->version < 1 || h->version > 4)
		return -EINVAL;
	if (h->version < 4 && !lnet_nid_is4(&h->src_nid))
		return -EAFNOSUPPORT;
	if (h->version == 1)
		return encode_v1(h, buf);
	if (h->version < 4 && !dst4)
		return -EAFNOSUPPORT;
	put32(buf, TCP_MAGIC_LNET, h->be);
	put32(buf + 4, h->version, h->be);
	if (h->version == 4) {
		lnet_nid_encode16(&h->src_nid, buf + 8);
		lnet_nid_encode16(&h->dst_nid, buf + 28);
		put_tail(buf + 48, h);
		return (int)TCP_HELLO_V4_SIZE;
	}
	put64(buf + 8, lnet_nid_to4(&h->src_nid), h->be);
	put64(buf + 16, lnet_nid_to4(&h->dst_nid), h->be);
	put_tail(buf + 24, h);
	return (int)TCP_HELLO_V2_SIZE;
}

/* ---- rules ------------------------------------------------------------------------------- */

int tcp_ctype_mirror(uint32_t ctype, uint32_t *mirror)
{
	switch (ctype) {
	case TCP_CTYPE_ANY:
	case TCP_CTYPE_CONTROL:
		*mirror = ctype;
		return 0;
	case TCP_CTYPE_BULK_IN:
		*mirror = TCP_CTYPE_BULK_OUT;
		return 0;
	case TCP_CTYPE_BULK_OUT:
		*mirror = TCP_CTYPE_BULK_IN;
		return 0;
	default:
		return -EPROTO;
	}
}

const char *tcp_ctype_name(uint32_t ctype)
{
	static const char names[4][9] = {"any", "control", "bulk in", "bulk out"};

	if (ctype == TCP_CTYPE_NONE)
		return "none";
	return ctype < 4 ? names[ctype] : "unknown";
}

static enum tcp_answer judge(const char **why, enum tcp_answer a, const char *text)
{
	*why = text;
	return a;
}

enum tcp_answer tcp_hello_answer(
        const struct tcp_hello *sent, const struct tcp_hello *got, uint32_t pid, const char **why)
{
	uint32_t mirror;

	if (!lnet_nid_eq(&got->src_nid, &sent->dst_nid))
		return judge(why, TCP_ANSWER_BAD, "answered by another nid");
	if (got->src_pid != pid)
		return judge(why, TCP_ANSWER_BAD, "answered by another pid");
	if (got->ctype == TCP_CTYPE_NONE && got->version == sent->version)
		return judge(why, TCP_ANSWER_RETRY, "refused by the peer");
	if (got->ctype == TCP_CTYPE_NONE)
		return judge(why, TCP_ANSWER_VERSION, "peer speaks another version");
	if (tcp_ctype_mirror(sent->ctype, &mirror) || got->ctype != mirror)
		return judge(why, TCP_ANSWER_BAD, "connection types do not fit");
	return judge(why, TCP_ANSWER_OK, "connected");
}

uint32_t tcp_hello_version(const struct lnet_nid *peer)
{
	return lnet_nid_is4(peer) ? 3 : 4;
}
