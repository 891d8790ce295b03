/* SPDX-License-Identifier: BSD-2-Clause */
/* The LNet message header on the wire (spec: wire-lnet.md sections 4 and 5). */
#include <errno.h>

#include <lnet/hdr.h>
#include "lnet/wire/bytes.h"

#define BODY_SIZE 40u
#define OFF4      16u /* where the fields behind the two NIDs start, nid4 form */
#define OFF16     40u /* the same, nid16 form */

static void put_wmd(uint8_t *p, const struct lnet_wmd *w)
{
	put_le64(p, w->iface);
	put_le64(p + 8, w->object);
}

static struct lnet_wmd get_wmd(const uint8_t *p)
{
	return (struct lnet_wmd){.iface = get_le64(p), .object = get_le64(p + 8)};
}

/* p: BODY_SIZE zeroed bytes */
static void put_body(const struct lnet_hdr *h, uint8_t *p)
{
	switch (h->type) {
	case LNET_MSG_ACK:
		put_wmd(p, &h->msg.ack.dst_wmd);
		put_le64(p + 16, h->msg.ack.match_bits);
		put_le32(p + 24, h->msg.ack.mlength);
		break;
	case LNET_MSG_PUT:
		put_wmd(p, &h->msg.put.ack_wmd);
		put_le64(p + 16, h->msg.put.match_bits);
		put_le64(p + 24, h->msg.put.hdr_data);
		put_le32(p + 32, h->msg.put.ptl_index);
		put_le32(p + 36, h->msg.put.offset);
		break;
	case LNET_MSG_GET:
		put_wmd(p, &h->msg.get.return_wmd);
		put_le64(p + 16, h->msg.get.match_bits);
		put_le32(p + 24, h->msg.get.ptl_index);
		put_le32(p + 28, h->msg.get.src_offset);
		put_le32(p + 32, h->msg.get.sink_length);
		break;
	default:
		put_wmd(p, &h->msg.reply.dst_wmd);
		break;
	}
}

static void get_body(struct lnet_hdr *h, const uint8_t *p)
{
	switch (h->type) {
	case LNET_MSG_ACK:
		h->msg.ack.dst_wmd = get_wmd(p);
		h->msg.ack.match_bits = get_le64(p + 16);
		h->msg.ack.mlength = get_le32(p + 24);
		break;
	case LNET_MSG_PUT:
		h->msg.put.ack_wmd = get_wmd(p);
		h->msg.put.match_bits = get_le64(p + 16);
		h->msg.put.hdr_data = get_le64(p + 24);
		h->msg.put.ptl_index = get_le32(p + 32);
		h->msg.put.offset = get_le32(p + 36);
		break;
	case LNET_MSG_GET:
		h->msg.get.return_wmd = get_wmd(p);
		h->msg.get.match_bits = get_le64(p + 16);
		h->msg.get.ptl_index = get_le32(p + 24);
		h->msg.get.src_offset = get_le32(p + 28);
		h->msg.get.sink_length = get_le32(p + 32);
		break;
	default:
		h->msg.reply.dst_wmd = get_wmd(p);
		break;
	}
}

/* Everything behind the NIDs; p points at dest_pid. */
static void put_rest(const struct lnet_hdr *h, uint8_t *p)
{
	put_le32(p, h->dest_pid);
	put_le32(p + 4, h->src_pid);
	put_le32(p + 8, h->type);
	put_le32(p + 12, h->payload_length);
	memset(p + 16, 0, BODY_SIZE);
	put_body(h, p + 16);
}

static int refuse(const char **why, const char *text)
{
	if (why)
		*why = text;
	return -EPROTO;
}

/* What can be told from type and length; p points at dest_pid. */
static int check_type(const uint8_t *p, const char **why)
{
	uint32_t len = get_le32(p + 12);

	switch (get_le32(p + 8)) {
	case LNET_MSG_ACK:
		return len ? refuse(why, "ack with a payload") : 0;
	case LNET_MSG_GET:
		return len ? refuse(why, "get with a payload") : 0;
	case LNET_MSG_PUT:
		return len > LNET_MTU ? refuse(why, "put payload above 1048576 bytes") : 0;
	case LNET_MSG_REPLY:
		return len > LNET_MTU ? refuse(why, "reply payload above 1048576 bytes") : 0;
	default:
		return refuse(why, "unknown message type");
	}
}

/* Everything behind the NIDs, checked before. */
static void get_rest(struct lnet_hdr *h, const uint8_t *p)
{
	h->dest_pid = get_le32(p);
	h->src_pid = get_le32(p + 4);
	h->type = get_le32(p + 8);
	h->payload_length = get_le32(p + 12);
	/* no stale bytes where this type has no fields */
	memset(&h->msg, 0, sizeof(h->msg));
	get_body(h, p + 16);
}

int lnet_hdr_encode4(const struct lnet_hdr *h, uint8_t buf[LNET_HDR4_SIZE])
{
	if (h->type > LNET_MSG_REPLY)
		return -EINVAL;
	if (!lnet_nid_is4(&h->dest_nid) || !lnet_nid_is4(&h->src_nid))
		return -EAFNOSUPPORT;
	put_le64(buf, lnet_nid_to4(&h->dest_nid));
	put_le64(buf + 8, lnet_nid_to4(&h->src_nid));
	put_rest(h, buf + OFF4);
	return 0;
}

int lnet_hdr_encode16(const struct lnet_hdr *h, uint8_t buf[LNET_HDR16_SIZE])
{
	if (h->type > LNET_MSG_REPLY)
		return -EINVAL;
	lnet_nid_encode16(&h->dest_nid, buf);
	lnet_nid_encode16(&h->src_nid, buf + LNET_NID16_SIZE);
	put_rest(h, buf + OFF16);
	return 0;
}

/* The top byte of a 4-byte NID is the size byte of the large form, so it must be 0. */
static bool nid4_is_sound(uint64_t nid4)
{
	return nid4 >> 56 == 0 || nid4 == LNET_NID4_ANY;
}

static bool nid4_is_any(uint64_t nid4)
{
	return (nid4 >> 48 & 0xff) == 0xff;
}

/* As lnet_nid_from4(), in place: a copy right after narrow stores would stall. */
static void set_nid4(struct lnet_nid *nid, uint64_t nid4)
{
	nid->size = 0;
	nid->type = (uint8_t)(nid4 >> 48);
	nid->num = (uint16_t)(nid4 >> 32);
	put_be32(nid->addr, (uint32_t)nid4);
	memset(nid->addr + 4, 0, sizeof(nid->addr) - 4);
}

int lnet_hdr_decode4(const uint8_t buf[LNET_HDR4_SIZE], struct lnet_hdr *h, const char **why)
{
	uint64_t dest = get_le64(buf), src = get_le64(buf + 8);
	int rc = check_type(buf + OFF4, why);

	if (rc)
		return rc;
	if (!nid4_is_sound(dest))
		return refuse(why, "bad destination nid");
	if (!nid4_is_sound(src))
		return refuse(why, "bad source nid");
	if (nid4_is_any(src))
		return refuse(why, "source nid is any");
	if (nid4_is_any(dest))
		h->dest_nid = lnet_nid_any();
	else
		set_nid4(&h->dest_nid, dest);
	set_nid4(&h->src_nid, src);
	get_rest(h, buf + OFF4);
	return 0;
}

int lnet_hdr_decode16(const uint8_t buf[LNET_HDR16_SIZE], struct lnet_hdr *h, const char **why)
{
	struct lnet_nid dest, src;
	int rc = check_type(buf + OFF16, why);

	if (rc)
		return rc;
	if (lnet_nid_decode16(buf, &dest))
		return refuse(why, "bad destination nid");
	if (lnet_nid_decode16(buf + LNET_NID16_SIZE, &src))
		return refuse(why, "bad source nid");
	if (lnet_nid_is_any(&src))
		return refuse(why, "source nid is any");
	h->dest_nid = dest;
	h->src_nid = src;
	get_rest(h, buf + OFF16);
	return 0;
}
