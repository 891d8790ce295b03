/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes in an array of pieces. Offsets count from the first byte of the first piece. */
#ifndef LNI_BASE_IOV_H
#define LNI_BASE_IOV_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* *total = sum of the lengths. -EOVERFLOW it exceeds SSIZE_MAX. */
int lni_iov_len(const struct iovec *iov, uint32_t n, size_t *total);

/* Copy len bytes; returns how many there was room for. */
size_t lni_iov_put(const struct iovec *iov, uint32_t n, size_t off, const void *src, size_t len);
size_t lni_iov_get(const struct iovec *iov, uint32_t n, size_t off, void *dst, size_t len);
/* From one array to another; the memory must not overlap. Returns how many bytes both had. */
size_t lni_iov_copy(const struct iovec *dst, uint32_t ndst, size_t doff, const struct iovec *src,
        uint32_t nsrc, size_t soff, size_t len);

/*
 * The pieces that make up len bytes at off, empty ones left out: their number (0 for len 0).
 * -EINVAL the array ends before; -E2BIG they are more than max. out is written only as far as it
 * got.
 */
int lni_iov_slice(const struct iovec *iov, uint32_t n, size_t off, size_t len, struct iovec *out,
        uint32_t max);

#endif
