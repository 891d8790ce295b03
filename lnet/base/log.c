/* SPDX-License-Identifier: BSD-2-Clause */
#include "lnet/base/log.h"

#include <stdio.h>
#include <string.h>

#define WINDOW_NS ((uint64_t)LNI_LOG_WINDOW_S * 1000000000u)

void lni_log_init(struct lni_log *g, lnet_log_fn fn, void *arg, enum lnet_log_level level)
{
	memset(g, 0, sizeof(*g));
	atomic_init(&g->level, (int)level);
	pthread_mutex_init(&g->lock, NULL);
	g->fn = fn;
	g->arg = arg;
}

void lni_log_set_sink(struct lni_log *g, lnet_log_fn fn, void *arg)
{
	pthread_mutex_lock(&g->lock);
	g->fn = fn;
	g->arg = arg;
	pthread_mutex_unlock(&g->lock);
}

void lni_log_set_level(struct lni_log *g, enum lnet_log_level level)
{
	atomic_store_explicit(&g->level, (int)level, memory_order_relaxed);
}

static void owed(struct lni_log *g, struct lni_log_id *e)
{
	char text[96];

	if (!e->suppressed)
		return;
	snprintf(text, sizeof(text), "suppressed %llu more lines of this kind",
	        (unsigned long long)e->suppressed);
	e->suppressed = 0;
	if (g->fn)
		g->fn(g->arg, e->level, e->id, text);
}

static struct lni_log_id *find(struct lni_log *g, uint64_t now, const char *id)
{
	struct lni_log_id *old = &g->ids[0];

	for (uint32_t i = 0; i < g->nids; i++) {
		struct lni_log_id *e = &g->ids[i];

		if (!strncmp(e->id, id, sizeof(e->id) - 1))
			return e;
		if (e->last < old->last)
			old = e;
	}
	if (g->nids < LNI_LOG_IDS)
		old = &g->ids[g->nids++];
	else
		owed(g, old);
	memset(old, 0, sizeof(*old));
	strncpy(old->id, id, sizeof(old->id) - 1);
	old->start = now;
	return old;
}

/* May this line be printed? */
static bool admit(struct lni_log *g, uint64_t now, enum lnet_log_level lv, const char *id)
{
	struct lni_log_id *e;

	if (lv >= LNET_LOG_DEBUG)
		return true;
	e = find(g, now, id);
	e->last = now;
	if (now - e->start >= WINDOW_NS) {
		owed(g, e);
		e->start = now;
		e->lines = 0;
	}
	if (e->lines < LNI_LOG_BURST) {
		e->lines++;
		return true;
	}
	e->suppressed++;
	e->level = lv;
	return false;
}

void lni_log_vat(struct lni_log *g, uint64_t now, enum lnet_log_level lv, const char *id,
        const char *fmt, va_list ap)
{
	char text[LNI_LOG_LINE];
	int n;

	if (!lni_log_on(g, lv))
		return;
	pthread_mutex_lock(&g->lock);
	if (g->fn && admit(g, now, lv, id)) {
		n = vsnprintf(text, sizeof(text), fmt, ap);
		if (n < 0)
			snprintf(text, sizeof(text), "%s", fmt);
		else if ((size_t)n >= sizeof(text))
			memcpy(text + sizeof(text) - 4, "...", 4);
		g->fn(g->arg, lv, id, text);
	}
	pthread_mutex_unlock(&g->lock);
}

void lni_log_at(struct lni_log *g, uint64_t now, enum lnet_log_level lv, const char *id,
        const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	lni_log_vat(g, now, lv, id, fmt, ap);
	va_end(ap);
}

void lni_log_flush(struct lni_log *g, uint64_t now)
{
	pthread_mutex_lock(&g->lock);
	for (uint32_t i = 0; i < g->nids; i++) {
		if (now - g->ids[i].start >= WINDOW_NS)
			owed(g, &g->ids[i]);
	}
	pthread_mutex_unlock(&g->lock);
}

void lni_log_fini(struct lni_log *g)
{
	pthread_mutex_lock(&g->lock);
	for (uint32_t i = 0; i < g->nids; i++)
		owed(g, &g->ids[i]);
	pthread_mutex_unlock(&g->lock);
	pthread_mutex_destroy(&g->lock);
}
