/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ping info buffer: what a node tells of itself in the REPLY to a ping and in a push
 * (spec: wire-lnet.md section 8). Pure functions, any thread.
 */
#ifndef LNI_WIRE_PING_H
#define LNI_WIRE_PING_H

#include <lnet/nid.h>

#define LNI_PING_PORTAL     0u
#define LNI_PING_MATCHBITS  0x8000000000000000ull
#define LNI_PING_MAX_NIDS   4096u /* 4-byte entries, 0@lo included, that a node may report */
#define LNI_PING_MIN_BUFFER 272u  /* header and 16 entries: what a discovering node asks for */
#define LNI_PING_HDR_SIZE   16u
/* The largest claim that is believed: the header, 4096 4-byte and as many 16-byte NIDs. */
#define LNI_PING_MAX_SIZE (LNI_PING_HDR_SIZE + LNI_PING_MAX_NIDS * (16u + 24u))

enum lni_ping_feature {
	LNI_PING_BASE = 0x01, /* never sent */
	LNI_PING_NI_STATUS = 0x02,
	LNI_PING_RTE_DISABLED = 0x04,
	LNI_PING_MULTI_RAIL = 0x08,
	LNI_PING_DISCOVERY = 0x10,
	LNI_PING_LARGE_ADDR = 0x20,
	LNI_PING_PRIMARY_LARGE = 0x40,
	LNI_PING_METADATA = 0x80,
};

enum lni_ni_status {
	LNI_NI_STATUS_INVALID = 0,
	LNI_NI_STATUS_UP = 0x15aac0de,
	LNI_NI_STATUS_DOWN = 0xdeadface,
};

struct lni_ping_entry {
	struct lnet_nid nid;
	uint32_t status; /* enum lni_ni_status, or whatever the peer sent */
};

/*
 * The primary NID is entries[0]. 0@lo, which the wire form carries, is not among the entries.
 * The caller owns the array.
 */
struct lni_ping_info {
	uint32_t features;
	uint32_t pid;
	uint32_t seq; /* grows with each change of the node's NIs */
	uint32_t count;
	struct lni_ping_entry *entries;
};

/* Bytes that lni_ping_encode() writes. */
size_t lni_ping_size(const struct lni_ping_info *info);

/*
 * Encode in little-endian order. NI_STATUS is always set; LARGE_ADDR and PRIMARY_LARGE follow from
 * the entries; bits that this code does not know are not sent. Returns the size, or
 *   -ENOSPC  size is below lni_ping_size()
 *   -EINVAL  an entry is ANY or on lo, or there are more than LNI_PING_MAX_NIDS NIDs of one form
 */
long lni_ping_encode(const struct lni_ping_info *info, void *buf, size_t size);

/* What a decoder found beside the info itself. */
struct lni_ping_result {
	size_t want;      /* -EMSGSIZE: bytes to ask for; -ENOSPC: entries needed; 0: bytes used */
	uint32_t skipped; /* entries that were no usable NID */
	bool swapped;     /* the sender has the other byte order */
	const char *why;  /* a constant phrase when the result is not 0 */
};

/*
 * Decode len received bytes, either byte order. info->entries has room for limit entries. Bytes
 * behind the info and unknown feature bits are ignored; entries that are no usable NID are skipped.
 *   0          done; *info is filled in
 *   -EPROTO    corrupt (magic, no NI_STATUS, number of NIDs, first one not 0@lo, impossible size)
 *   -EMSGSIZE  sound as far as it goes, but cut: the whole takes res->want bytes
 *   -ENOSPC    more entries than limit: res->want of them
 * On error *info is untouched, the array may have been written. res must not be NULL.
 */
int lni_ping_decode(const void *buf, size_t len, struct lni_ping_info *info, uint32_t limit,
        struct lni_ping_result *res);

#endif
