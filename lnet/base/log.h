/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A node's log: a level, a sink, and a limit for each kind of line (`id`, a short constant name),
 * so that a peer which misbehaves a million times fills no disk.
 */
#ifndef LNI_BASE_LOG_H
#define LNI_BASE_LOG_H

#include <lnet/lnet.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>

enum {
	LNI_LOG_BURST = 10,    /* lines of one id ... */
	LNI_LOG_WINDOW_S = 60, /* ... in so many seconds, then they are counted only */
	LNI_LOG_IDS = 128,     /* ids known at a time; the one used least recently goes */
	LNI_LOG_LINE = 512,    /* bytes of a line; longer ones end in "..." */
};

struct lni_log_id {
	char id[32];
	uint64_t start; /* of the window */
	uint64_t last;
	uint32_t lines;
	uint64_t suppressed;
	enum lnet_log_level level; /* of the last suppressed line */
};

struct lni_log {
	_Atomic int level;
	/* A leaf lock: guards all below. The sink is called with it held, so that lines keep their
	 * order and a replaced sink is never called again. */
	pthread_mutex_t lock;
	lnet_log_fn fn;
	void *arg;
	uint32_t nids;
	struct lni_log_id ids[LNI_LOG_IDS];
};

/* fn may be NULL: nothing is printed. */
void lni_log_init(struct lni_log *g, lnet_log_fn fn, void *arg, enum lnet_log_level level);
/* Prints what is still owed to suppressed lines. */
void lni_log_fini(struct lni_log *g);
/* Replace the sink. When it returns, the old one is no longer running. Not from a sink. */
void lni_log_set_sink(struct lni_log *g, lnet_log_fn fn, void *arg);
void lni_log_set_level(struct lni_log *g, enum lnet_log_level level);

static inline bool lni_log_on(const struct lni_log *g, enum lnet_log_level lv)
{
	return (int)lv <= atomic_load_explicit(&g->level, memory_order_relaxed);
}

/* One line, at time `now` (ns). Any thread. DEBUG and TRACE are not limited: somebody asked for
 * them. */
void lni_log_at(struct lni_log *g, uint64_t now, enum lnet_log_level lv, const char *id,
        const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void lni_log_vat(struct lni_log *g, uint64_t now, enum lnet_log_level lv, const char *id,
        const char *fmt, va_list ap) __attribute__((format(printf, 5, 0)));
/* Print "suppressed N" for every id whose window is over. For a slow periodic call. */
void lni_log_flush(struct lni_log *g, uint64_t now);

#endif
