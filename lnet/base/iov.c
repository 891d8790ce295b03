/* SPDX-License-Identifier: BSD-2-Clause */
#include "lnet/base/iov.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

int lni_iov_len(const struct iovec *iov, uint32_t n, size_t *total)
{
	size_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (iov[i].iov_len > (size_t)SSIZE_MAX - sum)
			return -EOVERFLOW;
		sum += iov[i].iov_len;
	}
	*total = sum;
	return 0;
}

/* A place in an array. */
struct at {
	const struct iovec *iov;
	uint32_t n;
	size_t off; /* in iov[0] */
};

static struct at seek(const struct iovec *iov, uint32_t n, size_t off)
{
	while (n && off >= iov->iov_len) {
		off -= iov->iov_len;
		iov++;
		n--;
	}
	return (struct at){iov, n, off};
}

static size_t left(const struct at *a)
{
	return a->n ? a->iov->iov_len - a->off : 0;
}

static char *ptr(const struct at *a)
{
	return (char *)a->iov->iov_base + a->off;
}

static void advance(struct at *a, size_t n)
{
	*a = seek(a->iov, a->n, a->off + n);
}

size_t lni_iov_copy(const struct iovec *dst, uint32_t ndst, size_t doff, const struct iovec *src,
        uint32_t nsrc, size_t soff, size_t len)
{
	struct at d = seek(dst, ndst, doff), s = seek(src, nsrc, soff);
	size_t done = 0;

	while (done < len && d.n && s.n) {
		size_t k = left(&d) < left(&s) ? left(&d) : left(&s);

		if (k > len - done)
			k = len - done;
		memcpy(ptr(&d), ptr(&s), k);
		advance(&d, k);
		advance(&s, k);
		done += k;
	}
	return done;
}

size_t lni_iov_put(const struct iovec *iov, uint32_t n, size_t off, const void *src, size_t len)
{
	struct iovec one = {(void *)(uintptr_t)src, len};

	return lni_iov_copy(iov, n, off, &one, 1, 0, len);
}

size_t lni_iov_get(const struct iovec *iov, uint32_t n, size_t off, void *dst, size_t len)
{
	struct iovec one = {dst, len};

	return lni_iov_copy(&one, 1, 0, iov, n, off, len);
}

int lni_iov_slice(const struct iovec *iov, uint32_t n, size_t off, size_t len, struct iovec *out,
        uint32_t max)
{
	struct at a = seek(iov, n, off);
	uint32_t k = 0;

	while (len) {
		size_t part = left(&a);

		if (!a.n)
			return -EINVAL;
		if (k == max)
			return -E2BIG;
		if (part > len)
			part = len;
		out[k++] = (struct iovec){ptr(&a), part};
		len -= part;
		advance(&a, part);
	}
	return k > INT_MAX ? -E2BIG : (int)k;
}
