/* SPDX-License-Identifier: BSD-2-Clause */
#include "lnet/base/rand.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/types.h>

int lni_random(void *buf, size_t len)
{
	char *p = buf;

	while (len) {
		ssize_t n = getrandom(p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}
