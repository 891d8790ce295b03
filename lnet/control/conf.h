/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration of a node as a value: read from a document, checked whole, merged, compared,
 * written. Nothing here touches a running node or the system; host names and local interfaces come
 * in from outside (lnc_schema, lnc_iface).
 *
 * NORMAL FORM. Every value that these functions return is in normal form, so that two equal
 * configurations are equal whatever way they were written:
 *   - one entry a net, nets in the order of their first mention; NIs in order of mention;
 *   - net-wide `tunables` and `lnd tunables` are pushed down to each NI that has no own value; a
 * tunable with LNET_TUN_NET that one NI has, all NIs of the net have;
 *   - several `interfaces` in one item are several NIs; a bracket after the name is that NI's CPT
 * list;
 *   - NID ranges are expanded; a peer's list does not repeat its primary;
 *   - driver tunables and globals stand in the order of their table, unknown drivers' by name;
 *   - numa.range is global.numa_range; read-only keys are gone.
 * "Unset" is a state of its own everywhere: LNET_UNSET, NULL, or a flag.
 *
 * MEMORY. A configuration is an arena: everything it points to lives until lnc_conf_free(). It is
 * never changed after it was made; merge makes a new one. Thread: a finished one may be read by
 * many.
 */
#ifndef LNC_CONF_H
#define LNC_CONF_H

#include "lnet/control/doc.h"
#include "lnet/control/value.h"
#include <lnet/lnet.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LNC_NETS_MAX      1024u
#define LNC_NIS_MAX       4096u /* over all nets */
#define LNC_PEERS_MAX     65536u
#define LNC_ROUTES_MAX    65536u
#define LNC_UDSPS_MAX     1024u
#define LNC_RULES_MAX     1024u /* ip2nets */
#define LNC_RULE_LIST_MAX 128u  /* interfaces or ranges of one rule */
#define LNC_IFS_MAX       128u  /* interfaces of one NI item */
#define LNC_ALLOW_MAX     1024u /* entries of one allow list */
#define LNC_TUNS_MAX      64u   /* driver tunables of one NI */
#define LNC_SOCKET_MAX    107u  /* bytes of the control socket's path */

/* ---- what the values are checked against --------------------------------------------------- */

struct lnc_schema {
	void *arg;
	/* The driver's tunables. NULL: no such driver here; its tunables are then kept as text,
	 * unchecked. The function itself may be NULL: no driver is known. */
	const struct lnet_tunable *(*tunables)(void *arg, uint8_t type, unsigned *n);
	const struct lnet_tunable *globals; /* lnet_globals() */
	unsigned nglobals;
	/* Host name to NID on net. 0, or a negative errno with *err. NULL: host names are refused.
	 */
	int (*resolve)(void *arg, const char *host, lnet_net_t net, struct lnet_nid *out,
	        struct lnc_err *err);
	unsigned ncpts; /* CPTs of this host: higher numbers are refused; 0 = not known */
};

/* ---- the value ----------------------------------------------------------------------------- */

struct lnc_pos {
	uint32_t line, column; /* 0 = not read from a text */
};

/* A driver tunable or a global number. */
struct lnc_tun {
	const char *name;
	const char *text; /* canonical */
	int64_t value;    /* when known */
	bool known;       /* described by the table; else text alone counts */
	struct lnc_pos pos;
};

struct lnc_ni {
	struct lnet_nid nid;          /* ANY: not given */
	const char *ifname;           /* NULL: not given */
	const char *cpts;             /* canonical; NULL: not given */
	int32_t tun[LNC_NI_TUNABLES]; /* LNET_UNSET: not given */
	struct lnc_tun *lnd;
	unsigned nlnd;
	struct lnc_pos pos;
};

struct lnc_net {
	lnet_net_t net;
	enum lnet_accept accept; /* LNET_ACCEPT_DEFAULT: not given */
	struct lnet_cidr *allow;
	unsigned nallow;
	bool allow_set; /* `allow:` was given, perhaps empty */
	struct lnc_ni *ni;
	unsigned nni; /* 0: the whole net (import --del) */
	struct lnc_pos pos;
};

struct lnc_rule { /* ip2nets */
	lnet_net_t net;
	const char **ifs; /* as written: "eth0[0]" */
	unsigned nifs;
	const char **ranges;
	unsigned nranges;
	const char *cpts;
	int32_t tun[LNC_NI_TUNABLES];
	struct lnc_tun *lnd;
	unsigned nlnd;
	struct lnc_pos pos;
};

struct lnc_peer {
	struct lnet_nid primary;
	struct lnet_nid *nids; /* without the primary */
	unsigned nnids;
	bool multi_rail; /* true when not given */
	bool mr_set;
	bool lock;           /* `lock primary` (ours) */
	bool primary_listed; /* the primary stood in `peer ni` too (import --del: the whole peer) */
	struct lnc_pos pos;
};

struct lnc_route {
	lnet_net_t net;
	struct lnet_nid gateway;
	int32_t hop;      /* 1..255 or LNET_UNSET */
	int32_t priority; /* LNET_UNSET: 0 */
	struct lnc_pos pos;
};

struct lnc_udsp {
	int32_t idx;                 /* LNET_UNSET: append */
	const char *src, *dst, *rte; /* canonical; NULL: not given */
	int32_t priority;            /* LNET_UNSET: not given */
	struct lnc_pos pos;
};

struct lnc_conf {
	struct lnc_arena mem;
	struct lnc_net *net;
	unsigned nnet;
	struct lnc_rule *rule;
	unsigned nrule;
	struct lnc_peer *peer;
	unsigned npeer;
	struct lnc_route *route;
	unsigned nroute;
	struct lnc_udsp *udsp;
	unsigned nudsp;
	struct lnc_tun *global; /* those that were given, in the table's order */
	unsigned nglobal;
	int32_t routing;              /* 0, 1, LNET_UNSET */
	int32_t buffers[LNC_BUFFERS]; /* or LNET_UNSET */
	/* ours */
	int32_t selftest; /* 0, 1, LNET_UNSET */
	struct {
		const char *socket; /* absolute path; NULL: default */
		int32_t mode;       /* permission bits; LNET_UNSET: default */
		const char *group;
	} control;
	struct {
		int32_t level;  /* enum lnet_log_level or LNET_UNSET */
		const char *to; /* "stderr", "syslog" or an absolute path; NULL: default */
	} log;
};

/* ---- life, reading, writing ---------------------------------------------------------------- */

struct lnc_conf *lnc_conf_new(void); /* empty; NULL: no memory */
void lnc_conf_free(struct lnc_conf *c);
/* Equal in everything but positions, mr_set and primary_listed. */
bool lnc_conf_equal(const struct lnc_conf *a, const struct lnc_conf *b);
bool lnc_conf_is_empty(const struct lnc_conf *c);
bool lnc_ni_equal(const struct lnc_ni *a, const struct lnc_ni *b);

enum {
	LNC_PARSE_DEL = 1u, /* the document names what is to go: values may be missing, nets without
	                     * NIs mean the whole net */
};
/*
 * The whole document is looked at and every error found is added to errs (may be NULL); 0 and *out,
 * or -EINVAL, -E2BIG (a limit), -ENOMEM and *out untouched. Contradictions between what the
 * document itself says (same NID twice, a secondary in two peers, two ports in one net, retry_count
 * against transaction_timeout) are errors here; those that need defaults, or what runs already, are
 * lnc_conf_check()'s.
 */
int lnc_conf_parse(const struct lnc_doc *d, const struct lnc_schema *s, unsigned flags,
        struct lnc_conf **out, struct lnc_errs *errs);
/* Text to configuration in one step. */
int lnc_conf_read(const char *text, size_t len, const struct lnc_schema *s, unsigned flags,
        struct lnc_conf **out, struct lnc_errs *errs);

/*
 * Is this a configuration that a node can have? Contradictions, limits, and globals with defaults
 * filled in. Host facts (interfaces, addresses, drivers) are not looked at. 0, -EINVAL, -EEXIST,
 * -E2BIG.
 */
int lnc_conf_check(const struct lnc_conf *c, const struct lnc_schema *s, struct lnc_errs *errs);

/*
 * The document that reads back to an equal configuration, in lnetctl's order and shapes: net,
 * ip2nets, route, routing, buffers, peer, global, udsp, then ours. Only what is set; nothing
 * read-only: this is the form of `export --backup`. Added to d's root mapping. -ENOMEM.
 */
int lnc_conf_export(const struct lnc_conf *c, struct lnc_doc *d);

/* Pieces of the same, for `show` and the full export. map is the NI's mapping. */
void lnc_export_tun(struct lnc_node *map, const int32_t tun[LNC_NI_TUNABLES]);
void lnc_export_accept(struct lnc_node *map, enum lnet_accept accept, const struct lnet_cidr *allow,
        unsigned nallow, bool allow_set);

/* ---- changing ------------------------------------------------------------------------------ */

/*
 * What a node that has `base` shall have after `import --add` (or --del) of `change`. *out is new;
 * base and change may be freed afterwards.
 *
 * add: nets, NIs, peers, peer NIDs, routes and UDSP rules are added, single values replaced. An NI,
 * route or peer that is there already with the same values is no error (a notice); with other
 * values: an NI's LNET_TUN_RUNTIME tunables and a peer's Multi-Rail are changed, everything else is
 * -EEXIST. What the change leaves unset stays as it is.
 *
 * del: `net` with NIs: these NIs; without: the whole net. `peer`: the NIDs listed; the whole peer
 * when there are none or the primary is among them; -EBUSY for a gateway whose routes stay.
 * `route`: net and gateway. `udsp`: by its criteria, else by idx. `routing`, `buffers`, `global`,
 * `numa`, `selftest`, `control`, `log`: each key given becomes unset. `ip2nets`: nothing. What is
 * not there: -ENOENT, but a single value that is unset already is no error. Deleting what
 * lnc_conf_export() wrote of a configuration without ip2nets gives the empty one.
 *
 * The result has passed lnc_conf_check(). On error nothing is made.
 */
int lnc_conf_add(const struct lnc_conf *base, const struct lnc_conf *change,
        const struct lnc_schema *s, struct lnc_conf **out, struct lnc_errs *errs);
int lnc_conf_del(const struct lnc_conf *base, const struct lnc_conf *change,
        const struct lnc_schema *s, struct lnc_conf **out, struct lnc_errs *errs);

/*
 * The steps from one configuration to another, in an order in which each intermediate state is
 * legal: deletions (UDSP, routes, peer NIDs, NIs), globals, accept lists, new NIs, tunables, peers,
 * routes, routing, UDSP, ours. An NI whose change needs a restart is a DEL and an ADD. NIs are
 * paired by NID where both have one, else by net and interface. from and to point into the two
 * configurations, which must outlive the steps; either may be NULL.
 */
enum lnc_step_kind {
	LNC_STEP_UDSP_DEL,     /* from.udsp; n = index in the list as it is at that moment */
	LNC_STEP_ROUTE_DEL,    /* from.route */
	LNC_STEP_PEER_DEL,     /* from.peer: the whole peer */
	LNC_STEP_PEER_NID_DEL, /* from.peer, nid */
	LNC_STEP_NI_DEL,       /* from.net, from.ni */
	LNC_STEP_GLOBAL,       /* name; value (the default when unset), set = is it given */
	LNC_STEP_ACCEPT,       /* to.net */
	LNC_STEP_NI_ADD,       /* to.net, to.ni */
	LNC_STEP_NI_TUN,       /* to.net, to.ni, from.ni; name; value, set */
	LNC_STEP_PEER_ADD,     /* to.peer with all its NIDs */
	LNC_STEP_PEER_NID_ADD, /* to.peer, nid */
	LNC_STEP_ROUTE_ADD,    /* to.route */
	LNC_STEP_BUFFERS,      /* n = LNC_BUF_*; value (default when unset), set */
	LNC_STEP_ROUTING,      /* value, set */
	LNC_STEP_UDSP_ADD,     /* to.udsp; n = index */
	LNC_STEP_SELFTEST,     /* value, set */
	LNC_STEP_CONTROL,      /* compare from/to conf's control */
	LNC_STEP_LOG,
};
struct lnc_step_side {
	const struct lnc_net *net;
	const struct lnc_ni *ni;
	const struct lnc_peer *peer;
	const struct lnc_route *route;
	const struct lnc_udsp *udsp;
	int64_t value;
	bool set;
};
struct lnc_step {
	enum lnc_step_kind kind;
	const char *name;
	struct lnet_nid nid;
	unsigned n;
	struct lnc_step_side from,
	        to; /* from is filled in wherever there was something: it undoes */
};
struct lnc_steps {
	struct lnc_arena mem;
	struct lnc_step *v;
	unsigned n;
};
/* -ENOMEM. Free with lnc_steps_free(). */
int lnc_conf_diff(const struct lnc_conf *from, const struct lnc_conf *to,
        const struct lnc_schema *s, struct lnc_steps *out);
void lnc_steps_free(struct lnc_steps *s);
/* The step that undoes st. Undo a list from its last applied step backwards. */
struct lnc_step lnc_step_undo(const struct lnc_step *st);
/* "add 10.0.0.1@tcp", for logs and --dry-run. Returns buf. */
char *lnc_step_str(const struct lnc_step *st, char *buf, size_t size);

/* For lnet_ni_add(): pointers into c. tun has room for ni->nlnd. -EOPNOTSUPP: a tunable of a driver
 * that is not described. */
int lnc_ni_to_api(const struct lnc_net *net, const struct lnc_ni *ni, struct lnet_ni_conf *out,
        struct lnet_tun_val *tun, struct lnc_err *err);

/* ---- local interfaces ---------------------------------------------------------------------- */

/* One row an address; an interface without one has one row with len 0. */
struct lnc_iface {
	char name[16];
	bool up, loopback;
	uint8_t len; /* 4, 16 or 0 */
	uint8_t prefix;
	uint8_t addr[16];
};
/* Of this host, malloc()ed. -errno. */
int lnc_ifaces_read(struct lnc_iface **out, unsigned *n);
/*
 * Is nid an address of this host, and of ifname if that is not NULL? All of a loopback interface's
 * network is (127.0.0.0/8). 0 and the owner's name in owner; -ENODEV no such interface;
 * -EADDRNOTAVAIL not an address of it (both named) or of any. NIDs of nets that are not IP are
 * always fine.
 */
int lnc_iface_owns(const struct lnc_iface *ifs, unsigned n, const char *ifname,
        const struct lnet_nid *nid, char owner[16], struct lnc_err *err);

/*
 * Apply ip2nets rules: *out has the nets that this host gets, nothing else. A rule without
 * interfaces and ranges takes the first IPv4 interface that is up and no loopback; with ranges
 * alone every interface that is up and has a matching address; with interfaces all of them must be
 * up and, with ranges, match, else the rule does not apply (a notice says why). The first matching
 * rule of a net wins; a later one adds the interfaces that it names and the net does not have yet,
 * and anything else of it is a notice. -ENOENT: no rule matched (the local addresses and each
 * rule's reason are named).
 */
int lnc_ip2nets_apply(const struct lnc_rule *rule, unsigned nrule, const struct lnc_iface *ifs,
        unsigned nifs, const struct lnc_schema *s, struct lnc_conf **out, struct lnc_errs *errs);

#ifdef __cplusplus
}
#endif
#endif
