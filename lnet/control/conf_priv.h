/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the configuration share. Not for others.
 */
#ifndef LNC_CONF_PRIV_H
#define LNC_CONF_PRIV_H

#include "lnet/control/conf.h"

/* Append to an array of the arena: a pointer to the new zeroed element, or NULL (mem->failed). */
#define LNC_PUSH(mem, v, n, cap) \
	((v) = lnc_push((mem), (v), &(n), &(cap), sizeof(*(v))), (mem)->failed ? NULL : &(v)[(n)-1])
void *lnc_push(struct lnc_arena *mem, void *v, unsigned *n, unsigned *cap, size_t elem);

/* (net, NID) -> number. Grows; entries are not removed. Zero-filled is empty. */
struct lnc_nidkey {
	lnet_net_t net; /* 0 when the NID alone is the key */
	struct lnet_nid nid;
	unsigned value;
	bool used;
};
struct lnc_nidmap {
	struct lnc_nidkey *slot;
	unsigned cap, n;
};
/* Insert; when the key is there already, nothing is changed and *old is its value: returns false.
 * True also when memory ran out (mem->failed). */
bool lnc_nidmap_add(struct lnc_arena *mem, struct lnc_nidmap *m, lnet_net_t net,
        const struct lnet_nid *nid, unsigned value, unsigned *old);
bool lnc_nidmap_get(
        const struct lnc_nidmap *m, lnet_net_t net, const struct lnet_nid *nid, unsigned *value);

/* ---- reading -------------------------------------------------------------------------------- */

struct lnc_rd {
	const struct lnc_schema *s;
	unsigned flags;
	struct lnc_conf *c;
	struct lnc_errs *errs;
	int rc; /* of the first error */
	unsigned nnis;
	unsigned net_cap, rule_cap, peer_cap, route_cap, udsp_cap, global_cap;
	struct lnc_nidmap peers, routes;
};

enum {
	LNC_K_SCALAR = 1u << LNC_SCALAR,
	LNC_K_MAP = 1u << LNC_MAP,
	LNC_K_SEQ = 1u << LNC_SEQ,
	LNC_K_NULL = 8u,      /* may have no value */
	LNC_K_NULL_DEL = 16u, /* may have no value in what is to be deleted */
};
typedef void (*lnc_key_fn)(struct lnc_rd *r, const struct lnc_node *v, void *obj);
struct lnc_key {
	const char *name;
	lnc_key_fn fn; /* NULL: known, and ignored on input */
	unsigned kinds;
};
#define LNC_IGNORED(name)     \
	{                     \
		name, NULL, 0 \
	}

/* Each entry of a mapping to its function; unknown keys, wrong kinds and missing values are errors.
 */
void lnc_rd_map(struct lnc_rd *r, const struct lnc_node *map, const struct lnc_key *keys,
        unsigned nkeys, void *obj);
/* Each item of a list, which must be a mapping, to fn. */
void lnc_rd_items(struct lnc_rd *r, const struct lnc_node *seq,
        void (*fn)(struct lnc_rd *r, const struct lnc_node *item));
int lnc_rd_err(struct lnc_rd *r, const struct lnc_node *at, int code, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));
/* An error that a value function made. */
int lnc_rd_errof(struct lnc_rd *r, const struct lnc_node *at, const struct lnc_err *err);
void lnc_rd_unknown(
        struct lnc_rd *r, const struct lnc_node *at, const char *const *names, unsigned n);
struct lnc_pos lnc_rd_pos(const struct lnc_node *n);
bool lnc_rd_del(const struct lnc_rd *r);

/* Scalars. 0, or the error that was added. */
int lnc_rd_int(
        struct lnc_rd *r, const struct lnc_node *v, const struct lnet_tunable *t, int32_t *out);
int lnc_rd_bool(struct lnc_rd *r, const struct lnc_node *v, int32_t *out);
int lnc_rd_net(struct lnc_rd *r, const struct lnc_node *v, lnet_net_t *out);
/* One NID, or a host name on a net. */
int lnc_rd_nid(struct lnc_rd *r, const struct lnc_node *v, struct lnet_nid *out);
/* A NID, a host name, or a range of at most max NIDs, in the arena. */
int lnc_rd_nids(struct lnc_rd *r, const struct lnc_node *v, unsigned max, struct lnet_nid **out,
        unsigned *n);

/* `tunables:` and `lnd tunables:` of a net, an NI or a rule. */
void lnc_rd_tun(struct lnc_rd *r, const struct lnc_node *map, int32_t tun[LNC_NI_TUNABLES]);
void lnc_rd_lnd(struct lnc_rd *r, const struct lnc_node *map, lnet_net_t net, struct lnc_tun **out,
        unsigned *n);
void lnc_rd_cpts(struct lnc_rd *r, const struct lnc_node *v, const char **out);
/* A net, a NID or a range of NIDs, in canonical text. */
void lnc_rd_udsp_match(struct lnc_rd *r, const struct lnc_node *v, const char **out);
/* An entry of `ip-range`: canonical text, or NULL after a complaint. */
const char *lnc_rd_addr_range(struct lnc_rd *r, const struct lnc_node *v);
void lnc_rd_range_err(
        struct lnc_rd *r, const struct lnc_node *v, int rc, const struct lnet_parse_err *pe);
/* How an `ip-range` is read: an octet may be '*'; no net. */
#define LNC_ADDR_RANGE (LNI_RANGE_STAR | LNI_RANGE_NO_NET)
/* `interfaces:` as written, in order. */
void lnc_rd_list(struct lnc_rd *r, const struct lnc_node *map, unsigned max, const char ***out,
        const struct lnc_node ***at, unsigned *n);

/* Top-level keys. */
void lnc_rd_nets(struct lnc_rd *r, const struct lnc_node *v, void *obj);
void lnc_rd_rules(struct lnc_rd *r, const struct lnc_node *v, void *obj);
void lnc_rd_peers(struct lnc_rd *r, const struct lnc_node *v, void *obj);
void lnc_rd_routes(struct lnc_rd *r, const struct lnc_node *v, void *obj);
void lnc_rd_udsps(struct lnc_rd *r, const struct lnc_node *v, void *obj);
void lnc_rd_routing(struct lnc_rd *r, const struct lnc_node *v, void *obj);
void lnc_rd_buffers(struct lnc_rd *r, const struct lnc_node *v, void *obj);
void lnc_rd_global(struct lnc_rd *r, const struct lnc_node *v, void *obj);
void lnc_rd_numa(struct lnc_rd *r, const struct lnc_node *v, void *obj);

/* ---- normal form, shared by reading and merging ---------------------------------------------- */

void lnc_tun_unset(int32_t tun[LNC_NI_TUNABLES]);
void lnc_tun_inherit(int32_t tun[LNC_NI_TUNABLES], const int32_t from[LNC_NI_TUNABLES]);
const struct lnet_tunable *lnc_schema_lnd(const struct lnc_schema *s, lnet_net_t net, unsigned *n);
struct lnc_tun *lnc_tun_find(struct lnc_tun *v, unsigned n, const char *name);
/* v with what it lacks of `add`, in the table's order; the arrays are not changed. */
struct lnc_tun *lnc_tun_merge(struct lnc_arena *mem, const struct lnet_tunable *t, unsigned nt,
        const struct lnc_tun *v, unsigned n, const struct lnc_tun *add, unsigned nadd,
        unsigned *nout);
/* Give every NI of the net the LNET_TUN_NET tunables that one has. Differences are left to the
 * check. */
void lnc_net_level(struct lnc_arena *mem, const struct lnc_schema *s, struct lnc_net *net);
struct lnc_net *lnc_net_find(struct lnc_conf *c, lnet_net_t net);

/* The checks of lnc_conf_check(). given: only contradictions between what was given, without
 * defaults. */
int lnc_check(
        const struct lnc_conf *c, const struct lnc_schema *s, bool given, struct lnc_errs *errs);

/* ---- merging --------------------------------------------------------------------------------- */

struct lnc_mg {
	struct lnc_conf *c;
	const struct lnc_schema *s;
	struct lnc_errs *errs;
	int rc;
};
#define LNC_NI_NAME_MAX (LNET_NIDSTR_MAX + 20)
int lnc_mg_err(struct lnc_mg *m, const struct lnc_pos *pos, int code, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));
int lnc_mg_end(struct lnc_mg *m, struct lnc_conf **out);
bool lnc_ni_same(const struct lnc_ni *a, const struct lnc_ni *b);
const char *lnc_ni_name(
        const struct lnc_net *net, const struct lnc_ni *ni, char buf[LNC_NI_NAME_MAX]);
void lnc_udsp_number(struct lnc_conf *c);
void lnc_forget_pos(struct lnc_conf *c);

/* ---- comparing ------------------------------------------------------------------------------- */

struct lnc_diff_lists {
	const struct lnc_conf *from, *to;
	struct lnc_steps *out;
	unsigned *cap;
	struct lnc_arena *mem; /* for the time of the comparison */
};
/* Rules, routes and peers that go; or peers and routes that come. */
void lnc_diff_lists(struct lnc_diff_lists *d, bool add);
void lnc_diff_udsp_add(struct lnc_diff_lists *d);

/* Deep copies into mem. */
void lnc_copy_ni(struct lnc_arena *mem, struct lnc_ni *to, const struct lnc_ni *from);
void lnc_copy_net(struct lnc_arena *mem, struct lnc_net *to, const struct lnc_net *from);
void lnc_copy_rule(struct lnc_arena *mem, struct lnc_rule *to, const struct lnc_rule *from);
void lnc_copy_peer(struct lnc_arena *mem, struct lnc_peer *to, const struct lnc_peer *from);
void lnc_copy_udsp(struct lnc_arena *mem, struct lnc_udsp *to, const struct lnc_udsp *from);
void lnc_copy_tun(struct lnc_arena *mem, struct lnc_tun *to, const struct lnc_tun *from);
/* Everything. NULL: no memory. */
struct lnc_conf *lnc_conf_dup(const struct lnc_conf *c);

bool lnc_tuns_equal(const struct lnc_tun *a, unsigned na, const struct lnc_tun *b, unsigned nb);
bool lnc_cidrs_equal(
        const struct lnet_cidr *a, unsigned na, const struct lnet_cidr *b, unsigned nb);
bool lnc_str_equal(const char *a, const char *b);                       /* NULL equals NULL */
bool lnc_udsp_same(const struct lnc_udsp *a, const struct lnc_udsp *b); /* same criteria */

#endif
