/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The responder's control side: requests, answers, limits. Its lock is held for the list of
 * sessions alone; handlers of different loops may run at the same time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "selftest/session.h"

struct answer {
	struct lst_responder *r;
	struct iovec iov;
	uint8_t data[LST_REPLY_SIZE];
};

static void post_control(struct lst_control_buf *c);

static void answered(const struct lnet_event *ev)
{
	struct answer *a = ev->user;

	if (!ev->final)
		return;
	atomic_fetch_sub(&a->r->answers, 1);
	atomic_fetch_sub(&a->r->alive, 1);
	free(a);
}

static void count(struct lst_responder *r, uint64_t *what)
{
	pthread_mutex_lock(&r->lock);
	(*what)++;
	pthread_mutex_unlock(&r->lock);
}

static void answer(struct lst_responder *r, const struct lnet_event *to, uint64_t bits,
        const struct lst_reply *reply)
{
	struct answer *a = NULL;
	struct lnet_op_args args;

	if (atomic_fetch_add(&r->answers, 1) < LST_ANSWERS_MAX)
		a = malloc(sizeof(*a));
	if (!a) { /* the generator asks again or gives up */
		atomic_fetch_sub(&r->answers, 1);
		count(r, &r->stats.unanswered);
		return;
	}
	a->r = r;
	lst_reply_encode(reply, a->data);
	a->iov = (struct iovec){a->data, sizeof(a->data)};
	lnet_op_args_init(&args, sizeof(args));
	args.target = to->source;
	args.target_pid = to->initiator_pid;
	args.source = to->target;
	args.portal = LST_PORTAL;
	args.match_bits = bits;
	args.mem = (struct lnet_mem){.iov = &a->iov, .niov = 1};
	args.handler = answered;
	args.user = a;
	args.deadline = lnet_now(r->n) + 10000000000ull;
	atomic_fetch_add(&r->alive, 1);
	if (lnet_put(r->n, &args, NULL)) {
		atomic_fetch_sub(&r->answers, 1);
		atomic_fetch_sub(&r->alive, 1);
		free(a);
		count(r, &r->stats.unanswered);
	}
}

static struct lst_session *find(struct lst_responder *r, const struct lnet_event *ev, uint32_t id)
{
	struct lst_session *s;

	for (s = r->sessions; s; s = s->next)
		if (s->id == id && s->pid == ev->initiator_pid &&
		        lnet_nid_eq(&s->peer, &ev->source))
			return s;
	return NULL;
}

/* Under the lock. */
static void give_back(struct lst_responder *r, uint64_t bytes)
{
	r->nsessions--;
	r->bytes -= bytes;
}

static void unlink_session(struct lst_responder *r, struct lst_session *s)
{
	struct lst_session **p = &r->sessions;

	while (*p != s)
		p = &(*p)->next;
	*p = s->next;
	give_back(r, (uint64_t)s->slots * s->size);
}

/* Out of the list and on its way out. No lock held. */
static void end_session(struct lst_responder *r, struct lst_session *s)
{
	pthread_mutex_lock(&r->lock);
	r->stats.ops += atomic_load(&s->ops);
	r->stats.data_errors += atomic_load(&s->data_errors);
	r->stats.order_errors += atomic_load(&s->order_errors);
	pthread_mutex_unlock(&r->lock);
	lst_session_close(s);
}

void lst_sweep(struct lst_responder *r, const struct lnet_nid *peer, uint32_t pid)
{
	uint64_t now = lnet_now(r->n);
	struct lst_session *s, *next, *out = NULL;

	pthread_mutex_lock(&r->lock);
	for (s = r->sessions; s; s = next) {
		bool gone = peer ? s->pid == pid && lnet_nid_eq(&s->peer, peer)
		                 : now - atomic_load(&s->last) > r->conf.idle_ns;

		next = s->next;
		if (!gone)
			continue;
		unlink_session(r, s);
		r->stats.expired++;
		s->next = out;
		out = s;
	}
	pthread_mutex_unlock(&r->lock);
	for (s = out; s; s = next) {
		next = s->next;
		end_session(r, s);
	}
}

static void on_peer(
        void *user, const struct lnet_nid *nid, uint32_t pid, enum lnet_peer_event ev, int err)
{
	(void)err;
	if (ev != LNET_PEER_UP)
		lst_sweep(user, nid, pid);
}

/* Room is taken before any memory is. */
static int admit(struct lst_responder *r, uint64_t bytes)
{
	int rc = 0;

	pthread_mutex_lock(&r->lock);
	if (bytes > r->conf.max_each) {
		rc = -E2BIG;
	} else if (r->nsessions >= r->conf.max_sessions || bytes > r->conf.max_bytes - r->bytes) {
		rc = -EBUSY;
	} else {
		r->nsessions++;
		r->bytes += bytes;
	}
	r->stats.refused += rc != 0;
	pthread_mutex_unlock(&r->lock);
	return rc;
}

static void refuse(struct lst_responder *r, uint64_t bytes)
{
	pthread_mutex_lock(&r->lock);
	give_back(r, bytes);
	r->stats.refused++;
	pthread_mutex_unlock(&r->lock);
}

/* False: its number is taken (one chance in 2^31; the generator asks again), or we are stopping. */
static bool list_session(struct lst_responder *r, struct lst_session *s)
{
	bool ok;

	pthread_mutex_lock(&r->lock);
	ok = !atomic_load(&r->stopping);
	for (struct lst_session *o = r->sessions; o; o = o->next)
		ok = ok && o->id != s->id;
	if (ok) {
		s->next = r->sessions;
		r->sessions = s;
		r->stats.opened++;
	}
	pthread_mutex_unlock(&r->lock);
	return ok;
}

/* It is listed when all its slots are there: who ends it finds them all. */
static int open_session(struct lst_responder *r, const struct lnet_event *ev,
        const struct lst_request *q, struct lst_reply *reply)
{
	uint64_t bytes = (uint64_t)q->slots * q->size;
	struct lst_session *s = NULL;
	int rc;

	lst_sweep(r, NULL, 0);
	rc = admit(r, bytes);
	if (rc)
		return rc;
	rc = lst_session_new(r, ev, q, &s);
	if (!rc)
		rc = lst_session_offer(s);
	if (!rc)
		reply->session = s->id;
	if (!rc && !list_session(r, s))
		rc = -EBUSY;
	if (rc) {
		if (s)
			lst_session_close(s);
		refuse(r, bytes);
		return rc;
	}
	lst_sweeper_wake(r);
	return 0;
}

static int ask_session(struct lst_responder *r, const struct lnet_event *ev,
        const struct lst_request *q, struct lst_reply *reply)
{
	struct lst_session *s;

	pthread_mutex_lock(&r->lock);
	s = find(r, ev, q->session);
	if (s) {
		lst_session_report(s, reply);
		if (q->kind == LST_CLOSE)
			unlink_session(r, s);
	}
	pthread_mutex_unlock(&r->lock);
	if (!s)
		return -ESRCH;
	if (q->kind == LST_CLOSE)
		end_session(r, s);
	return 0;
}

static void obey(struct lst_control_buf *c, const struct lnet_event *ev)
{
	struct lst_responder *r = c->r;
	struct lst_reply reply = {0};
	struct lst_request q;
	int rc = lst_request_decode(c->data, ev->mlength, &q);

	if (rc) {
		count(r, &r->stats.bad_requests);
		return;
	}
	reply.kind = q.kind;
	reply.session = q.session;
	reply.status = q.kind == LST_OPEN ? open_session(r, ev, &q, &reply)
	                                  : ask_session(r, ev, &q, &reply);
	answer(r, ev, q.reply_bits, &reply);
}

static void on_control(const struct lnet_event *ev)
{
	struct lst_control_buf *c = ev->user;
	struct lst_responder *r = c->r;

	if (ev->type == LNET_EV_PUT && ev->status == 0 && !atomic_load(&r->stopping))
		obey(c, ev);
	if (!ev->unlinked)
		return;
	pthread_mutex_lock(&r->lock);
	c->md = 0;
	c->generation++;
	pthread_mutex_unlock(&r->lock);
	if (!atomic_load(&r->stopping))
		post_control(c);
	atomic_fetch_sub(&r->alive, 1);
}

/* A buffer takes one request: two requests at a time never share one. */
static void post_control(struct lst_control_buf *c)
{
	struct lnet_match m = {
	        .nid = lnet_nid_any(), .pid = LNET_PID_ANY, .bits = LST_CONTROL_BITS};
	struct iovec iov = {c->data, sizeof(c->data)};
	struct lnet_md_desc d = {.mem = {.iov = &iov, .niov = 1},
	        .options = LNET_MD_OP_PUT | LNET_MD_TRUNCATE,
	        .threshold = 1,
	        .handler = on_control,
	        .user = c};
	struct lst_responder *r = c->r;
	lnet_handle_t me, md;
	unsigned generation;
	int rc;

	pthread_mutex_lock(&r->lock);
	generation = c->generation;
	pthread_mutex_unlock(&r->lock);
	atomic_fetch_add(&r->alive, 2); /* the buffer, and this call */
	rc = lnet_me_attach(r->n, LST_PORTAL, &m, LNET_UNLINK, LNET_INS_AFTER, &me);
	if (!rc) {
		rc = lnet_md_attach(r->n, me, &d, &md);
		if (rc)
			lnet_me_unlink(r->n, me);
	}
	if (rc) {
		atomic_fetch_sub(&r->alive, 1);
	} else {
		pthread_mutex_lock(&r->lock);
		if (c->generation == generation)
			c->md = md; /* else it was used already, and posted again */
		pthread_mutex_unlock(&r->lock);
		if (atomic_load(&r->stopping))
			lnet_md_unlink(r->n, md);
	}
	atomic_fetch_sub(&r->alive, 1);
}

int lst_responder_start(
        struct lnet *n, const struct lst_responder_conf *conf, struct lst_responder **out)
{
	struct lst_responder *r = calloc(1, sizeof(*r));
	struct lnet_nid any = lnet_nid_any();
	int rc;

	if (!r)
		return -ENOMEM;
	r->control = calloc(LST_CONTROL_BUFS, sizeof(r->control[0]));
	if (!r->control) {
		free(r);
		return -ENOMEM;
	}
	r->n = n;
	if (conf)
		r->conf = *conf;
	r->conf.max_sessions = r->conf.max_sessions ? r->conf.max_sessions : 64;
	r->conf.max_bytes = r->conf.max_bytes ? r->conf.max_bytes : 256ull << 20;
	r->conf.max_each = r->conf.max_each ? r->conf.max_each : 64ull << 20;
	r->conf.idle_ns = r->conf.idle_ns ? r->conf.idle_ns : 60000000000ull;
	pthread_mutex_init(&r->lock, NULL);
	rc = lst_sweeper_start(r);
	if (rc) {
		pthread_mutex_destroy(&r->lock);
		free(r->control);
		free(r);
		return rc;
	}
	for (unsigned i = 0; i < LST_CONTROL_BUFS; i++) {
		r->control[i].r = r;
		post_control(&r->control[i]);
	}
	if (atomic_load(&r->alive) == 0 || lnet_peer_watch(n, &any, on_peer, r, &r->watch)) {
		lst_responder_stop(r);
		return -ENOMEM;
	}
	*out = r;
	return 0;
}

static bool is_gone(void *arg)
{
	struct lst_responder *r = arg;

	return atomic_load(&r->alive) == 0;
}

void lst_responder_stop(struct lst_responder *r)
{
	struct lst_session *s;
	int rc;

	atomic_store(&r->stopping, true);
	lst_sweeper_stop(r);
	if (r->watch)
		lnet_peer_unwatch(r->n, r->watch);
	for (unsigned i = 0; i < LST_CONTROL_BUFS; i++) {
		lnet_handle_t md;

		pthread_mutex_lock(&r->lock);
		md = r->control[i].md;
		pthread_mutex_unlock(&r->lock);
		if (md)
			lnet_md_unlink(r->n, md);
	}
	for (;;) {
		pthread_mutex_lock(&r->lock);
		s = r->sessions;
		if (s)
			unlink_session(r, s);
		pthread_mutex_unlock(&r->lock);
		if (!s)
			break;
		end_session(r, s);
	}
	do
		rc = lnet_wait(r->n, is_gone, r, 0);
	while (rc == -ETIMEDOUT);
	if (rc) /* the node closes under us, against the contract: its events would find freed
	           memory */
		return;
	free(r->control);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

void lst_responder_stats(struct lst_responder *r, struct lst_responder_stats *out)
{
	pthread_mutex_lock(&r->lock);
	*out = r->stats;
	out->sessions = r->nsessions;
	for (struct lst_session *s = r->sessions; s; s = s->next) {
		out->ops += atomic_load(&s->ops);
		out->data_errors += atomic_load(&s->data_errors);
		out->order_errors += atomic_load(&s->order_errors);
	}
	pthread_mutex_unlock(&r->lock);
}
