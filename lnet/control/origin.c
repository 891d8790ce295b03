/* SPDX-License-Identifier: BSD-2-Clause */
#include "lnet/control/origin.h"
#include "lnet/control/control_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lnc_origin {
	struct lnc_origin *next;
	const char *who;
	char key[]; /* "global/NAME", "NID/NAME"; "NID/" = what the NI was added with */
};

/* No memory: the origin is then told as "program", which is all that is lost. */
static void note(struct lnet_control *c, const char *group, const char *name, const char *who)
{
	struct lnc_origin *o;
	char key[256];
	int len = snprintf(key, sizeof(key), "%s/%s", group, name);

	if (len < 0 || (size_t)len >= sizeof(key))
		return;
	for (o = c->origins; o; o = o->next)
		if (!strcmp(o->key, key)) {
			o->who = who;
			return;
		}
	o = malloc(sizeof(*o) + (size_t)len + 1);
	if (!o)
		return;
	strcpy(o->key, key);
	o->who = who;
	o->next = c->origins;
	c->origins = o;
}

/* Forget what begins with "group/". */
static void forget(struct lnet_control *c, const char *group)
{
	size_t len = strlen(group);
	struct lnc_origin **p = &c->origins, *o;

	while ((o = *p)) {
		if (!strncmp(o->key, group, len) && o->key[len] == '/') {
			*p = o->next;
			free(o);
		} else {
			p = &o->next;
		}
	}
}

static const char *find(struct lnet_control *c, const char *group, const char *name)
{
	char key[256];

	snprintf(key, sizeof(key), "%s/%s", group, name);
	for (struct lnc_origin *o = c->origins; o; o = o->next)
		if (!strcmp(o->key, key))
			return o->who;
	return NULL;
}

void lnc_origin_note(struct lnet_control *c, const struct lnc_steps *s,
        const struct lnet_nid *added, const char *who)
{
	char nid[LNET_NIDSTR_MAX];

	pthread_mutex_lock(&c->origin_lock);
	for (unsigned i = 0; i < s->n; i++) {
		const struct lnc_step *st = &s->v[i];
		if (st->kind == LNC_STEP_GLOBAL) {
			note(c, "global", st->name, who);
		} else if (st->kind == LNC_STEP_NI_ADD) {
			lnet_nid_str(&added[i], nid, sizeof(nid));
			forget(c, nid);
			note(c, nid, "", who);
		} else if (st->kind == LNC_STEP_NI_DEL && st->from.ni) {
			forget(c, lnet_nid_str(&st->from.ni->nid, nid, sizeof(nid)));
		} else if (st->kind == LNC_STEP_NI_TUN) {
			const struct lnc_ni *ni = st->from.ni ? st->from.ni : st->to.ni;
			note(c, lnet_nid_str(&ni->nid, nid, sizeof(nid)), st->name, who);
		}
	}
	pthread_mutex_unlock(&c->origin_lock);
}

const char *lnc_origin_ni(
        struct lnet_control *c, const struct lnet_nid *nid, const char *name, bool set)
{
	char text[LNET_NIDSTR_MAX];
	const char *who;

	if (!set)
		return "default";
	lnet_nid_str(nid, text, sizeof(text));
	pthread_mutex_lock(&c->origin_lock);
	who = find(c, text, name);
	if (!who)
		who = find(c, text, "");
	pthread_mutex_unlock(&c->origin_lock);
	return who ? who : "program";
}

const char *lnc_origin_global(struct lnet_control *c, const char *name, bool set)
{
	const char *who;

	if (!set)
		return "default";
	pthread_mutex_lock(&c->origin_lock);
	who = find(c, "global", name);
	pthread_mutex_unlock(&c->origin_lock);
	return who ? who : "program";
}

void lnc_origin_free(struct lnc_origin *o)
{
	while (o) {
		struct lnc_origin *next = o->next;
		free(o);
		o = next;
	}
}
