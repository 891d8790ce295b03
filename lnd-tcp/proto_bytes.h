/* SPDX-License-Identifier: BSD-2-Clause */
/* Unaligned loads and stores in the byte order that a flag names. */
#ifndef TCP_PROTO_BYTES_H
#define TCP_PROTO_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t bswap32(uint32_t v)
{
	return __builtin_bswap32(v);
}

static inline uint16_t get16(const void *p, bool be)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be ? be16toh(v) : le16toh(v);
}

static inline uint32_t get32(const void *p, bool be)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be ? be32toh(v) : le32toh(v);
}

static inline uint64_t get64(const void *p, bool be)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be ? be64toh(v) : le64toh(v);
}

static inline void put16(void *p, uint16_t v, bool be)
{
	v = be ? htobe16(v) : htole16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put32(void *p, uint32_t v, bool be)
{
	v = be ? htobe32(v) : htole32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put64(void *p, uint64_t v, bool be)
{
	v = be ? htobe64(v) : htole64(v);
	memcpy(p, &v, sizeof(v));
}

#endif
