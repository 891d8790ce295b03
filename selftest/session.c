/* SPDX-License-Identifier: BSD-2-Clause */
#include "selftest/session.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#define SUSPECTS 64u

int lst_session_new(struct lst_responder *r, const struct lnet_event *ev,
        const struct lst_request *q, struct lst_session **out)
{
	struct lst_session *s = calloc(1, sizeof(*s) + q->slots * sizeof(s->slot[0]));

	if (!s)
		return -ENOMEM;
	/* 31 bits that cannot be guessed, so that nobody writes into another one's session */
	if (getrandom(&s->id, sizeof(s->id), 0) != sizeof(s->id)) {
		free(s);
		return -EIO;
	}
	s->id &= 0x7fffffffu;
	s->mem = malloc((size_t)q->slots * q->size);
	if (!s->mem) {
		free(s);
		return -ENOMEM;
	}
	s->r = r;
	s->peer = ev->source;
	s->pid = ev->initiator_pid;
	s->get = q->get;
	s->check = q->check;
	s->slots = q->slots;
	s->size = q->size;
	s->pattern = (struct lst_pattern){.seed = q->seed, .source = q->source};
	atomic_init(&s->last, lnet_now(r->n));
	atomic_init(&s->live, 1);
	atomic_fetch_add(&r->alive, 1);
	*out = s;
	return 0;
}

void lst_session_free(struct lst_session *s)
{
	struct lst_responder *r = s->r;

	free(s->mem);
	free(s);
	atomic_fetch_sub(&r->alive, 1);
}

static void put_live(struct lst_session *s)
{
	if (atomic_fetch_sub(&s->live, 1) == 1)
		lst_session_free(s);
}

static struct lst_pattern pattern_of(const struct lst_slot *t, uint64_t op)
{
	struct lst_pattern p = t->s->pattern;

	p.op = op;
	return p;
}

/* Whose data may have come here? Anybody's who has a session, ours first. */
static unsigned suspects(const struct lst_session *self, struct lst_suspect v[SUSPECTS])
{
	struct lst_responder *r = self->r;
	unsigned n = 0;

	v[n++] = (struct lst_suspect){.seed = self->pattern.seed, .session = self->id};
	pthread_mutex_lock(&r->lock);
	for (struct lst_session *s = r->sessions; s && n < SUSPECTS; s = s->next)
		if (s != self)
			v[n++] = (struct lst_suspect){.seed = s->pattern.seed, .session = s->id};
	pthread_mutex_unlock(&r->lock);
	return n;
}

static void note_data_error(
        struct lst_slot *t, const struct lst_pattern *want, uint32_t len, uint64_t at)
{
	struct lst_session *s = t->s;
	struct lst_suspect v[SUSPECTS];
	struct lst_found found;

	atomic_fetch_add(&s->data_errors, 1);
	if (atomic_exchange(&s->told, true))
		return;
	lst_pattern_find(want, v, suspects(s, v), t->mem, len, at, &found);
	s->first.at = at;
	s->first.want_op = want->op;
	s->first.want_source = want->source;
	s->first.found_known = found.known;
	s->first.found_op = found.owner.op;
	s->first.found_source = found.owner.source;
	s->first.found_offset = found.owner.offset;
	s->first.found_session = found.session;
	s->first.word = found.word;
	atomic_store(&s->first_ready, true);
}

static void on_put(struct lst_slot *t, const struct lnet_event *ev)
{
	struct lst_session *s = t->s;
	struct lst_pattern p = pattern_of(t, ev->hdr_data);
	uint64_t at = 0;

	/* after a failed PUT the generator goes on with the next number: a gap is no error of ours,
	 * a number that was there already is */
	if (ev->hdr_data < t->next || ev->hdr_data % s->slots != (uint64_t)(t - s->slot))
		atomic_fetch_add(&s->order_errors, 1);
	else
		t->next = ev->hdr_data + s->slots;
	if (ev->mlength != s->size || ev->rlength != s->size)
		note_data_error(t, &p, ev->mlength, ev->mlength);
	else if (lst_pattern_verify(&p, s->check, 0, t->mem, ev->mlength, &at))
		note_data_error(t, &p, ev->mlength, at);
}

/* The next GET of this slot reads the pattern of its next operation. */
static void on_get(struct lst_slot *t)
{
	struct lst_pattern p;

	t->next += t->s->slots;
	p = pattern_of(t, t->next);
	lst_pattern_fill(&p, t->s->check, 0, t->mem, t->s->size);
}

static void on_slot(const struct lnet_event *ev)
{
	struct lst_slot *t = ev->user;
	struct lst_session *s = t->s;

	if (ev->status == 0 && (ev->type == LNET_EV_PUT || ev->type == LNET_EV_GET)) {
		atomic_store_explicit(&s->last, lnet_now(s->r->n), memory_order_relaxed);
		atomic_fetch_add_explicit(&s->ops, 1, memory_order_relaxed);
		if (ev->type == LNET_EV_PUT)
			on_put(t, ev);
		else
			on_get(t);
	}
	if (ev->unlinked)
		put_live(s);
}

static int offer(struct lst_slot *t, uint16_t index)
{
	struct lst_session *s = t->s;
	/* any pid: a portal with wildcards (control) takes no entry without one */
	struct lnet_match m = {
	        .nid = s->peer, .pid = LNET_PID_ANY, .bits = lst_slot_bits(s->id, index)};
	struct iovec iov = {t->mem, s->size};
	struct lnet_md_desc d = {.mem = {.iov = &iov, .niov = 1},
	        .options = (s->get ? LNET_MD_OP_GET : LNET_MD_OP_PUT) | LNET_MD_MANAGE_REMOTE,
	        .threshold = LNET_MD_THRESH_INF,
	        .handler = on_slot,
	        .user = t};
	lnet_handle_t me;
	int rc = lnet_me_attach(s->r->n, LST_PORTAL, &m, LNET_UNLINK, LNET_INS_AFTER, &me);

	if (rc)
		return rc;
	atomic_fetch_add(&s->live, 1);
	rc = lnet_md_attach(s->r->n, me, &d, &t->md);
	if (rc) {
		atomic_fetch_sub(&s->live, 1);
		t->md = 0;
		lnet_me_unlink(s->r->n, me);
	}
	return rc;
}

int lst_session_offer(struct lst_session *s)
{
	for (uint16_t i = 0; i < s->slots; i++) {
		struct lst_slot *t = &s->slot[i];
		int rc;

		t->s = s;
		t->mem = s->mem + (size_t)i * s->size;
		t->next = i;
		if (s->get) {
			struct lst_pattern p = pattern_of(t, i);

			lst_pattern_fill(&p, s->check, 0, t->mem, s->size);
		}
		rc = offer(t, i);
		if (rc)
			return rc;
	}
	return 0;
}

void lst_session_report(struct lst_session *s, struct lst_reply *reply)
{
	if (atomic_load(&s->first_ready)) {
		uint16_t kind = reply->kind;
		uint32_t id = reply->session;

		*reply = s->first;
		reply->kind = kind;
		reply->session = id;
	}
	reply->ops = atomic_load(&s->ops);
	reply->data_errors = atomic_load(&s->data_errors);
	reply->order_errors = atomic_load(&s->order_errors);
}

void lst_session_close(struct lst_session *s)
{
	for (uint16_t i = 0; i < s->slots; i++)
		if (s->slot[i].md)
			lnet_md_unlink(s->r->n, s->slot[i].md);
	put_live(s);
}
