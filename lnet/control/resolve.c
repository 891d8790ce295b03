/* SPDX-License-Identifier: BSD-2-Clause */
/* Host names in NIDs, within a time limit. */
#include "lnet/rt/clock.h"
#include "lnet/control/resolve.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A look-up, shared by the asker and its thread; the last one frees it. */
struct job {
	pthread_mutex_t lock;
	pthread_cond_t done;
	int (*lookup)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
	void (*release)(struct addrinfo *);
	char host[LNC_HOST_MAX + 1];
	struct addrinfo *res;
	int gai;
	int sys;
	bool ended, alone;
};

void lnc_resolver_init(struct lnc_resolver *r)
{
	memset(r, 0, sizeof(*r));
	r->lookup = getaddrinfo;
	r->release = freeaddrinfo;
	r->timeout_ms = LNC_RESOLVE_MS_DEFAULT;
}

bool lnc_is_hostname(const char *text, size_t len)
{
	bool letter = false;

	if (!len || text[0] == '-' || text[0] == '.')
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		bool alpha = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (!alpha && !(c >= '0' && c <= '9') && c != '-' && c != '.' && c != '_')
			return false;
		letter |= alpha;
	}
	/* 0x0a, 10.0.0.0x0a: a number written in a way that we do not take, not a name */
	return letter && !(text[0] >= '0' && text[0] <= '9' &&
	                         strspn(text, "0123456789abcdefABCDEFxX.") >= len);
}

static void job_free(struct job *j)
{
	if (j->res)
		j->release(j->res);
	pthread_cond_destroy(&j->done);
	pthread_mutex_destroy(&j->lock);
	free(j);
}

static void *job_run(void *arg)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct job *j = arg;
	struct addrinfo *res = NULL;
	int gai = j->lookup(j->host, NULL, &hints, &res), sys = errno;
	bool alone;

	pthread_mutex_lock(&j->lock);
	j->gai = gai;
	j->sys = sys;
	j->res = gai ? NULL : res;
	j->ended = true;
	alone = j->alone;
	pthread_cond_signal(&j->done);
	pthread_mutex_unlock(&j->lock);
	if (alone)
		job_free(j);
	return NULL;
}

static struct job *job_start(const struct lnc_resolver *r, const char *host)
{
	struct job *j = calloc(1, sizeof(*j));
	pthread_condattr_t ca;
	pthread_attr_t ta;
	pthread_t thread;
	int rc;

	if (!j)
		return NULL;
	j->lookup = r->lookup;
	j->release = r->release;
	memcpy(j->host, host, strlen(host) + 1);
	pthread_mutex_init(&j->lock, NULL);
	pthread_condattr_init(&ca);
	pthread_condattr_setclock(&ca, CLOCK_MONOTONIC);
	pthread_cond_init(&j->done, &ca);
	pthread_condattr_destroy(&ca);
	pthread_attr_init(&ta);
	pthread_attr_setdetachstate(&ta, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&thread, &ta, job_run, j);
	pthread_attr_destroy(&ta);
	if (!rc)
		return j;
	job_free(j);
	return NULL;
}

/* True when it ended; false: left behind, j is no longer ours. */
static bool job_wait(struct job *j, uint64_t deadline)
{
	struct timespec t = {(time_t)(deadline / 1000000000u), (long)(deadline % 1000000000u)};
	bool ended;
	int rc = 0;

	pthread_mutex_lock(&j->lock);
	while (!j->ended && !rc)
		rc = pthread_cond_timedwait(&j->done, &j->lock, &t);
	ended = j->ended;
	j->alone = !ended;
	pthread_mutex_unlock(&j->lock);
	return ended;
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* The address bytes and their number; 0 = another family. */
static size_t bytes_of(const struct addrinfo *a, const void **p)
{
	if (a->ai_family == AF_INET && a->ai_addrlen >= sizeof(struct sockaddr_in)) {
		*p = &((const struct sockaddr_in *)(const void *)a->ai_addr)->sin_addr;
		return 4;
	}
	if (a->ai_family == AF_INET6 && a->ai_addrlen >= sizeof(struct sockaddr_in6)) {
		*p = &((const struct sockaddr_in6 *)(const void *)a->ai_addr)->sin6_addr;
		return 16;
	}
	return 0;
}

static bool is_loopback(const uint8_t *p, size_t len)
{
	static const uint8_t one[16] = {[15] = 1};
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	if (len == 4)
		return p[0] == 127;
	return memcmp(p, one, 16) == 0 || (memcmp(p, mapped, 12) == 0 && p[12] == 127);
}

static bool preferred(const struct lnc_resolver *r, const void *p, size_t len)
{
	for (unsigned i = 0; i < r->nprefer; i++) {
		if (lnc_cidr_has(&r->prefer[i], p, len))
			return true;
	}
	return false;
}

/* Higher is better; 0 = not for this net. IPv6 addresses of a link (fe80::/10) name no host. */
static unsigned rank(const struct lnc_resolver *r, lnet_net_t net, const uint8_t *p, size_t len)
{
	bool v6 = LNET_NET_TYPE(net) == LNET_LND_TCP || LNET_NET_TYPE(net) == LNET_LND_EFA ||
	          LNET_NET_TYPE(net) == LNET_LND_O2IB || LNET_NET_TYPE(net) == LNET_LND_OFI;

	if (is_loopback(p, len) || (len == 16 && (!v6 || (p[0] == 0xfe && (p[1] & 0xc0) == 0x80))))
		return 0;
	return (preferred(r, p, len) ? 4 : 0) + (len == 4 ? 2 : 1);
}

static int choose(const struct lnc_resolver *r, const char *host, lnet_net_t net,
        const struct addrinfo *res, struct lnet_nid *out, struct lnc_err *err)
{
	char name[LNET_NIDSTR_MAX];
	unsigned best = 0, seen = 0, loop = 0;

	for (; res; res = res->ai_next) {
		const void *p = NULL;
		size_t len = bytes_of(res, &p);
		unsigned score = len ? rank(r, net, p, len) : 0;

		seen += len != 0;
		loop += len && is_loopback(p, len);
		if (score > best) {
			best = score;
			*out = lnet_nid_from_ip(net, p, len);
		}
	}
	if (best)
		return 0;
	if (loop && loop == seen)
		return lnc_err_set(err, -EADDRNOTAVAIL,
		        "host '%s' gives a loopback address alone, which no other node can reach: "
		        "write the "
		        "address itself, or remove the loopback line of this name from /etc/hosts",
		        host);
	return lnc_err_set(err, -EADDRNOTAVAIL, "host '%s' has no address that net %s can use",
	        host, lnet_net_str(net, name, sizeof(name)));
}

static int failure(const char *host, const struct job *j, struct lnc_err *err)
{
	switch (j->gai) {
	case EAI_NONAME:
	case EAI_NODATA:
		return lnc_err_set(err, -ENOENT, "unknown host '%s'", host);
	case EAI_MEMORY:
		return lnc_err_set(err, -ENOMEM, "out of memory");
	case EAI_SYSTEM:
		return lnc_err_set(
		        err, j->sys > 0 ? -j->sys : -EIO, "host '%s': %s", host, strerror(j->sys));
	default:
		return lnc_err_set(err, -EAGAIN, "host '%s': %s", host, gai_strerror(j->gai));
	}
}

int lnc_resolve(
        void *arg, const char *host, lnet_net_t net, struct lnet_nid *out, struct lnc_err *err)
{
	struct lnc_resolver *r = arg;
	struct job *j;
	int rc;

	if (!lnc_is_hostname(host, strlen(host)) || strlen(host) > LNC_HOST_MAX)
		return lnc_err_set(err, -EINVAL, "'%.60s' is no host name", host);
	if (!lnet_net_is_ip(net))
		return lnc_err_set(err, -EINVAL, "host '%s': the net has no IP addresses", host);
	if (r->stuck >= LNC_RESOLVE_STUCK_MAX)
		return lnc_err_set(
		        err, -EBUSY, "host '%s': %u look-ups hang already", host, r->stuck);
	if (!r->deadline)
		r->deadline = lni_clock_mono(NULL) + r->timeout_ms * UINT64_C(1000000);
	j = job_start(r, host);
	if (!j)
		return lnc_err_set(
		        err, -ENOMEM, "host '%s': no memory or no thread for the look-up", host);
	if (!job_wait(j, r->deadline)) {
		r->stuck++;
		return lnc_err_set(
		        err, -ETIMEDOUT, "host '%s': no answer within %u ms", host, r->timeout_ms);
	}
	rc = j->gai ? failure(host, j, err) : choose(r, host, net, j->res, out, err);
	job_free(j);
	return rc;
}

int lnc_nid_parse(const char *text, size_t len, struct lnc_resolver *r, struct lnet_nid *out,
        struct lnc_err *err)
{
	const char *at = memrchr(text, '@', len);
	size_t n = at ? (size_t)(at - text) : len;
	lnet_net_t net = LNET_NET(LNET_LND_TCP, 0);
	struct lnet_parse_err pe;
	char host[LNC_HOST_MAX + 1];

	if (!lnet_nid_parse(text, len, out, &pe))
		return 0;
	if (!r || !lnc_is_hostname(text, n) || n > LNC_HOST_MAX ||
	        (at && lnet_net_parse(at + 1, len - n - 1, &net, NULL)))
		return lnc_err_set(err, -EINVAL, "Invalid NID '%.*s': %s at character %zu",
		        len > 80 ? 80 : (int)len, text, pe.msg, pe.pos + 1);
	memcpy(host, text, n);
	host[n] = '\0';
	return lnc_resolve(r, host, net, out, err);
}
