/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/tlib.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

uint64_t tl_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * TL_S + (uint64_t)ts.tv_nsec;
}

void tl_sleep(uint64_t ns)
{
	struct timespec ts = {(time_t)(ns / TL_S), (long)(ns % TL_S)};

	while (nanosleep(&ts, &ts) < 0 && errno == EINTR)
		;
}

double tl_scale(void)
{
	const char *s = getenv("ULNET_SCALE");
	double v = s && *s ? strtod(s, NULL) : 1.0;

	if (!(v >= 0.01))
		return 0.01;
	return v > 100 ? 100 : v;
}

unsigned tl_scaled(unsigned n, unsigned least)
{
	double v = n * tl_scale();

	return v < least ? least : (unsigned)v;
}

bool tl_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return true;
#else
	return false;
#endif
}

uint64_t tl_patience(uint64_t ns)
{
	return tl_sanitized() ? ns * 5 : ns;
}

uint64_t tl_seed(void)
{
	const char *s = getenv("ULNET_SEED");
	uint64_t v = s && *s ? strtoull(s, NULL, 0) : tl_now() ^ ((uint64_t)getpid() << 40);

	return v ? v : 1;
}

void tl_turn(const struct tl_pump *p)
{
	if (!p || p->turn(p->arg) <= 0)
		tl_sleep(50 * TL_US);
}

bool tl_wait(const struct tl_pump *p, bool (*cond)(void *arg), void *arg, uint64_t ns)
{
	return TL_UNTIL(p, cond(arg), ns);
}

void tl_run_for(const struct tl_pump *p, uint64_t ns)
{
	for (uint64_t end = tl_now() + ns; tl_now() < end;)
		tl_turn(p);
}

/* ---- patterns ------------------------------------------------------------------------------- */

static uint64_t word(uint64_t seed, uint64_t i)
{
	uint64_t z = seed * 0x9e3779b97f4a7c15ull + i * 0xbf58476d1ce4e5b9ull + 1;

	z = (z ^ (z >> 31)) * 0x94d049bb133111ebull;
	return z ^ (z >> 29);
}

static uint8_t byte_at(uint64_t seed, uint64_t off)
{
	return (uint8_t)(word(seed, off / 8) >> (off % 8 * 8));
}

void tl_fill(uint64_t seed, uint64_t off, void *buf, size_t len)
{
	uint8_t *p = buf;

	for (; len && off % 8; off++, len--)
		*p++ = byte_at(seed, off);
	for (; len >= 8; off += 8, len -= 8, p += 8) {
		uint64_t w = htole64(word(seed, off / 8));
		memcpy(p, &w, 8);
	}
	for (; len; off++, len--)
		*p++ = byte_at(seed, off);
}

ssize_t tl_check(uint64_t seed, uint64_t off, const void *buf, size_t len)
{
	const uint8_t *p = buf;
	size_t i = 0;

	while (i < len) {
		if ((off + i) % 8 == 0 && len - i >= 8) {
			uint64_t w = htole64(word(seed, (off + i) / 8));
			if (!memcmp(p + i, &w, 8)) {
				i += 8;
				continue;
			}
		}
		if (p[i] != byte_at(seed, off + i))
			return (ssize_t)i;
		i++;
	}
	return -1;
}

void tl_fill_iov(uint64_t seed, const struct iovec *iov, unsigned niov, size_t skip, size_t len)
{
	size_t off = 0;

	for (unsigned i = 0; i < niov && off < len; i++) {
		if (skip >= iov[i].iov_len) {
			skip -= iov[i].iov_len;
			continue;
		}
		size_t n = iov[i].iov_len - skip;
		if (n > len - off)
			n = len - off;
		tl_fill(seed, off, (char *)iov[i].iov_base + skip, n);
		off += n;
		skip = 0;
	}
}

ssize_t tl_check_iov(uint64_t seed, const struct iovec *iov, unsigned niov, size_t skip, size_t len)
{
	size_t off = 0;

	for (unsigned i = 0; i < niov && off < len; i++) {
		if (skip >= iov[i].iov_len) {
			skip -= iov[i].iov_len;
			continue;
		}
		size_t n = iov[i].iov_len - skip;
		if (n > len - off)
			n = len - off;
		ssize_t bad = tl_check(seed, off, (const char *)iov[i].iov_base + skip, n);
		if (bad >= 0)
			return (ssize_t)off + bad;
		off += n;
		skip = 0;
	}
	return off < len ? (ssize_t)off : -1;
}

ssize_t tl_not_byte(uint8_t b, const void *buf, size_t len)
{
	const uint8_t *p = buf;

	for (size_t i = 0; i < len; i++)
		if (p[i] != b)
			return (ssize_t)i;
	return -1;
}

/* ---- addresses, folders --------------------------------------------------------------------- */

static bool port_free(const char *ip, int port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	bool ok;

	if (fd < 0 || inet_pton(AF_INET, ip, &sa.sin_addr) != 1) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	ok = !bind(fd, (struct sockaddr *)&sa, sizeof(sa)) && !listen(fd, 1);
	close(fd);
	return ok;
}

int tl_free_port(const char *const *ips, unsigned n)
{
	unsigned first = (unsigned)(tl_now() / TL_US + (uint64_t)getpid() * 97);

	for (unsigned k = 0; k < 2000; k++) {
		int port = 20000 + (int)((first + k * 7) % 12000);
		unsigned i = 0;
		while (i < n && port_free(ips[i], port))
			i++;
		if (i == n)
			return port;
	}
	return -1;
}

char *tl_tmpdir(void)
{
	const char *top = getenv("TMPDIR");
	char *path;

	if (asprintf(&path, "%s/ulnet-XXXXXX", top && *top ? top : "/tmp") < 0)
		return NULL;
	if (!mkdtemp(path)) {
		free(path);
		return NULL;
	}
	return path;
}

static int rm_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int tl_rmtree(const char *path)
{
	return nftw(path, rm_one, 16, FTW_DEPTH | FTW_PHYS) < 0 ? -errno : 0;
}

char *tl_read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rbe");
	char *text = NULL;
	size_t n = 0, room = 0, got;

	if (!f)
		return NULL;
	do {
		room = room ? room * 2 : 4096;
		char *more = realloc(text, room);
		if (!more)
			break;
		text = more;
		got = fread(text + n, 1, room - n - 1, f);
		n += got;
	} while (n == room - 1);
	fclose(f);
	if (text)
		text[n] = '\0';
	if (len)
		*len = n;
	return text;
}

int tl_write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "wbe");
	int rc = 0;

	if (!f)
		return -errno;
	if (fputs(text, f) < 0)
		rc = -EIO;
	return fclose(f) ? -errno : rc;
}

unsigned tl_count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n > 3 ? n - 3 : 0; /* ".", ".." and the folder itself */
}
