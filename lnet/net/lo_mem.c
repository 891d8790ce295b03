/* SPDX-License-Identifier: BSD-2-Clause */
#include "lnet/net/lo_int.h"

struct lnet_mr {
	uint32_t access;
	uint32_t niov;
	struct iovec iov[];
};

int lo_mem_reg(struct lnet_lnd_node *n, const struct iovec *iov, uint32_t niov, uint32_t access,
        struct lnet_mr **out)
{
	struct lnet_mr *mr;

	(void)n;
	if (!niov || niov > LNET_MAX_IOV || !access ||
	        (access & ~(uint32_t)(LNET_MD_OP_PUT | LNET_MD_OP_GET)))
		return -EINVAL;
	mr = malloc(sizeof(*mr) + niov * sizeof(*iov));
	if (!mr)
		return -ENOMEM;
	mr->access = access;
	mr->niov = niov;
	memcpy(mr->iov, iov, niov * sizeof(*iov));
	*out = mr;
	return 0;
}

void lo_mem_dereg(struct lnet_lnd_node *n, struct lnet_mr *mr)
{
	(void)n;
	free(mr);
}

static bool mr_holds(const struct lnet_mr *mr, const void *base, size_t len)
{
	uintptr_t a = (uintptr_t)base;

	for (uint32_t i = 0; i < mr->niov; i++) {
		uintptr_t b = (uintptr_t)mr->iov[i].iov_base;
		if (a >= b && len <= mr->iov[i].iov_len && a - b <= mr->iov[i].iov_len - len)
			return true;
	}
	return false;
}

int lo_mem_check(const struct lnet_mr *mr, const struct iovec *iov, uint32_t niov, size_t offset,
        size_t len, uint32_t access)
{
	if (!len)
		return 0;
	if (!mr)
		return -EINVAL;
	if ((mr->access & access) != access)
		return -EACCES;
	for (uint32_t i = 0; i < niov && len; i++) {
		if (offset >= iov[i].iov_len) {
			offset -= iov[i].iov_len;
			continue;
		}
		size_t part = iov[i].iov_len - offset;
		if (part > len)
			part = len;
		if (!mr_holds(mr, (char *)iov[i].iov_base + offset, part))
			return -EINVAL;
		offset = 0;
		len -= part;
	}
	return 0;
}

bool lo_iov_holds(const struct iovec *iov, uint32_t niov, size_t offset, size_t len)
{
	size_t total = 0;

	if (!len)
		return true;
	if (niov > LNET_MAX_IOV)
		return false;
	for (uint32_t i = 0; i < niov; i++)
		if (__builtin_add_overflow(total, iov[i].iov_len, &total))
			return false;
	return offset <= total && len <= total - offset;
}

void lo_iov_read(uint8_t *to, const struct iovec *iov, uint32_t niov, size_t offset, size_t len)
{
	struct iovec one = {to, len};

	lo_iov_copy(&one, 1, 0, iov, niov, offset, len);
}

void lo_iov_write(
        const struct iovec *iov, uint32_t niov, size_t offset, const uint8_t *from, size_t len)
{
	struct iovec one = {(void *)(uintptr_t)from, len};

	lo_iov_copy(iov, niov, offset, &one, 1, 0, len);
}

/* Both sides were checked with lo_iov_holds(). */
void lo_iov_copy(const struct iovec *to, uint32_t nto, size_t to_off, const struct iovec *from,
        uint32_t nfrom, size_t from_off, size_t len)
{
	uint32_t i = 0, j = 0;

	while (len && i < nto && j < nfrom) {
		if (to_off >= to[i].iov_len) {
			to_off -= to[i++].iov_len;
			continue;
		}
		if (from_off >= from[j].iov_len) {
			from_off -= from[j++].iov_len;
			continue;
		}
		size_t n = len;
		if (n > to[i].iov_len - to_off)
			n = to[i].iov_len - to_off;
		if (n > from[j].iov_len - from_off)
			n = from[j].iov_len - from_off;
		memcpy((char *)to[i].iov_base + to_off, (const char *)from[j].iov_base + from_off,
		        n);
		to_off += n;
		from_off += n;
		len -= n;
	}
}
