/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What arrives on a connection: the first byte chooses acceptor request, HELLO, or messages of a
 * version and byte order; the rest is the stream.
 */
#include <string.h>

#include "fuzz/must.h"
#include "lnd-tcp/proto.h"

/* What a parser says of the whole must be what it says when the bytes come one by one. */
struct feed {
	size_t have; /* bytes when it was decided */
	size_t need;
	enum tcp_parse rc;
};

typedef enum tcp_parse (*parse_fn)(const uint8_t *buf, size_t len, size_t *need);

static enum tcp_parse accept_fn(const uint8_t *buf, size_t len, size_t *need)
{
	struct lnet_nid nid;
	const char *why = NULL;
	enum tcp_parse rc = tcp_accept_parse(buf, len, &nid, need, &why);

	MUST(rc <= TCP_PARSE_MORE || why);
	return rc;
}

static enum tcp_parse hello_fn(const uint8_t *buf, size_t len, size_t *need)
{
	struct tcp_hello h;
	const char *why = NULL;
	enum tcp_parse rc = tcp_hello_parse(buf, len, &h, need, &why);

	MUST(rc <= TCP_PARSE_MORE || why);
	return rc;
}

static struct feed feed(parse_fn fn, const uint8_t *buf, size_t size)
{
	struct feed f = {.rc = TCP_PARSE_MORE};
	size_t asked = 0;

	for (f.have = 0;; f.have++) {
		f.rc = fn(buf, f.have, &f.need);
		if (f.rc != TCP_PARSE_MORE || f.have == size)
			return f;
		/* it asks for more than there is, and never takes back what it asked for */
		MUST(f.need > f.have && f.need >= asked);
		asked = f.need;
	}
}

static void whole_is_parts(parse_fn fn, const uint8_t *buf, size_t size)
{
	struct feed f = feed(fn, buf, size);
	size_t need = 0;

	MUST(fn(buf, size, &need) == f.rc);
	if (f.rc == TCP_PARSE_OK)
		MUST(need == f.need && need == f.have);
}

static void accept_again(const uint8_t *buf, size_t size)
{
	uint8_t a[TCP_ACCEPT_MAX];
	struct lnet_nid nid, back;
	const char *why;
	size_t need, n;

	whole_is_parts(accept_fn, buf, size);
	if (tcp_accept_parse(buf, size, &nid, &need, &why) != TCP_PARSE_OK)
		return;
	n = tcp_accept_encode(&nid, false, a);
	MUST(tcp_accept_parse(a, n, &back, &need, &why) == TCP_PARSE_OK);
	MUST(need == n && lnet_nid_eq(&nid, &back));
}

static void hello_again(const uint8_t *buf, size_t size)
{
	uint8_t a[TCP_HELLO_V4_SIZE], b[TCP_HELLO_V4_SIZE];
	struct tcp_hello h, back;
	const char *why;
	size_t need;
	int n;

	whole_is_parts(hello_fn, buf, size);
	if (tcp_hello_parse(buf, size, &h, &need, &why) != TCP_PARSE_OK)
		return;
	MUST(h.version >= 1 && h.version <= 4 && h.nips <= TCP_HELLO_MAX_IPS);
	MUST(!lnet_nid_is_any(&h.src_nid) && need <= TCP_HELLO_MAX);
	n = tcp_hello_encode(&h, a);
	MUST(n > 0);
	MUST(tcp_hello_parse(a, (size_t)n, &back, &need, &why) == TCP_PARSE_OK);
	MUST(need == (size_t)n && back.be == h.be && back.ctype == h.ctype);
	MUST(tcp_hello_encode(&back, b) == n && memcmp(a, b, (size_t)n) == 0);
}

static void message(const uint8_t *buf, size_t size, uint32_t version, bool be)
{
	uint8_t a[TCP_MSG_HEAD_MAX], b[TCP_MSG_HEAD_MAX];
	struct tcp_frame f, f2;
	struct lnet_hdr h, h2;
	struct tcp_zc_ack ack;
	const char *why = NULL;
	size_t need = 0;
	enum tcp_parse rc = tcp_msg_parse(buf, size, version, be, &f, &h, &need, &why);
	int n;

	if (rc == TCP_PARSE_MORE)
		MUST(need > size && need <= TCP_MSG_HEAD_MAX);
	if (rc == TCP_PARSE_BAD)
		MUST(why);
	if (rc != TCP_PARSE_OK)
		return;
	if (tcp_zc_parse(&f, version, &ack) == TCP_ZC_RANGE)
		MUST(ack.first && ack.first <= ack.last && ack.count);
	if (f.type == TCP_FRAME_NOOP || lnet_nid_is_any(&h.dest_nid))
		return;
	n = tcp_msg_encode(&f, &h, version, be, a);
	MUST(n == (int)need);
	MUST(tcp_msg_parse(a, need, version, be, &f2, &h2, &need, &why) == TCP_PARSE_OK);
	MUST(tcp_msg_encode(&f2, &h2, version, be, b) == n && memcmp(a, b, (size_t)n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	switch (data[0] % 3) {
	case 0:
		accept_again(data + 1, size - 1);
		break;
	case 1:
		hello_again(data + 1, size - 1);
		break;
	default:
		message(data + 1, size - 1, 1 + (data[0] >> 4) % 4, data[0] & 0x80);
		break;
	}
	return 0;
}
