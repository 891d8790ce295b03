/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The put/get responder: memory that a generator on another node may write to and read from, and
 * the verification of what it wrote.
 */
#ifndef LST_SELFTEST_H
#define LST_SELFTEST_H

#include <lnet/lnet.h>

struct lst_responder;

struct lst_responder_conf {
	unsigned max_sessions; /* default 64 */
	uint64_t max_bytes;    /* of all sessions; default 256 MiB */
	uint64_t max_each;     /* bytes of one session; default 64 MiB */
	uint64_t idle_ns;      /* a session that was silent so long is dropped; default 60 s */
};

/* Any thread but a handler. c NULL = defaults; so does 0 in a member. -ENOMEM, -ESHUTDOWN, -EAGAIN
 * no thread (the one that looks for silent sessions). */
int lst_responder_start(
        struct lnet *n, const struct lst_responder_conf *c, struct lst_responder **out);
/* Waits until no handler of it can run any more, then frees it. */
void lst_responder_stop(struct lst_responder *r);

struct lst_responder_stats {
	uint64_t sessions;        /* open now */
	uint64_t opened, refused; /* requests: granted, refused by a limit */
	uint64_t bad_requests;    /* not a request at all, or a number out of range */
	uint64_t unanswered;      /* too many answers under way, or no memory */
	uint64_t expired;         /* dropped: silent, or their peer is gone */
	uint64_t ops, data_errors, order_errors; /* of all sessions, the ended ones too */
};
void lst_responder_stats(struct lst_responder *r, struct lst_responder_stats *s);

#endif
