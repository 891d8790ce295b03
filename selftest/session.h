/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One session of the responder: slots of memory for one generator.
 */
#ifndef LST_SESSION_H
#define LST_SESSION_H

#include <pthread.h>
#include <stdatomic.h>

#include "selftest/proto.h"
#include "selftest/selftest.h"

#define LST_CONTROL_BUFS 16u
#define LST_ANSWERS_MAX  256u /* under way at a time; a request above that is dropped */

struct lst_control_buf {
	struct lst_responder *r;
	lnet_handle_t md;    /* attached now; under the responder's lock */
	unsigned generation; /* of md */
	uint8_t data[LST_REQUEST_SIZE];
};

struct lst_responder {
	struct lnet *n;
	struct lst_responder_conf conf;
	pthread_mutex_t lock; /* of what follows */
	struct lst_session *sessions;
	unsigned nsessions;
	uint64_t bytes;
	struct lst_responder_stats stats;
	struct lst_control_buf *control; /* [LST_CONTROL_BUFS] */
	lnet_handle_t watch;
	_Atomic bool stopping;
	_Atomic unsigned answers;
	pthread_t sweeper;
	int wake;               /* eventfd of the sweeper */
	_Atomic unsigned alive; /* buffers, answers and sessions that a handler may still touch */
};

struct lst_slot {
	struct lst_session *s;
	uint8_t *mem;
	lnet_handle_t md;
	uint64_t next; /* the operation that comes next; the handler's */
};

struct lst_session {
	struct lst_session *next; /* under the responder's lock */
	struct lst_responder *r;
	uint32_t id;
	struct lnet_nid peer;
	uint32_t pid;
	bool get;
	enum lst_check check;
	uint16_t slots;
	uint32_t size;
	struct lst_pattern pattern; /* seed and source */
	_Atomic uint64_t last;      /* time of the last message */
	_Atomic uint64_t ops, data_errors, order_errors;
	_Atomic bool told; /* `first` is taken */
	_Atomic bool first_ready;
	struct lst_reply first; /* the first data error, in the shape it is reported */
	_Atomic unsigned live;  /* slots attached, plus one for the session itself */
	uint8_t *mem;
	struct lst_slot slot[];
};

/* -ENOMEM, -EIO no random number. Counts in r->alive until it is freed. */
int lst_session_new(struct lst_responder *r, const struct lnet_event *ev,
        const struct lst_request *q, struct lst_session **out);
/* Drop the sessions nobody uses, or those of a peer that is gone (peer != NULL). */
void lst_sweep(struct lst_responder *r, const struct lnet_nid *peer, uint32_t pid);
/* A thread that sweeps while there are sessions. lst_sweeper_wake() after the first one was made.
 */
int lst_sweeper_start(struct lst_responder *r);
void lst_sweeper_wake(struct lst_responder *r);
void lst_sweeper_stop(struct lst_responder *r);
/* Attach every slot. -ENOMEM and the errors of attaching: close it then. */
int lst_session_offer(struct lst_session *s);
void lst_session_report(struct lst_session *s, struct lst_reply *reply);
/* Unlink the slots; the last handler frees it. */
void lst_session_close(struct lst_session *s);
void lst_session_free(struct lst_session *s);

#endif
