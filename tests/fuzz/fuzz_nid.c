/* SPDX-License-Identifier: BSD-2-Clause */
/* NIDs, networks and process ids from text; large NIDs from bytes. */
#include <errno.h>
#include <string.h>

#include <lnet/hdr.h>
#include "fuzz/must.h"
#include "lnet/wire/process.h"

/* The text of a NID leads back to it, and to no other text. */
static void check_nid(const struct lnet_nid *nid)
{
	char a[LNET_NIDSTR_MAX], b[LNET_NIDSTR_MAX];
	struct lnet_nid back;
	lnet_net_t net = lnet_nid_net(nid), net_back;

	lnet_nid_str(nid, a, sizeof(a));
	MUST(strlen(a) < LNET_NIDSTR_MAX - 1);
	MUST(lnet_nid_parse(a, strlen(a), &back, NULL) == 0);
	MUST(lnet_nid_eq(nid, &back));
	MUST(lnet_nid_hash(nid) == lnet_nid_hash(&back));
	MUST(strcmp(a, lnet_nid_str(&back, b, sizeof(b))) == 0);
	lnet_net_str(net, a, sizeof(a));
	MUST(lnet_net_parse(a, strlen(a), &net_back, NULL) == 0);
	MUST(net == net_back);
}

static void check_wire(const uint8_t *data)
{
	uint8_t wire[LNET_NID16_SIZE];
	struct lnet_nid nid, back;

	if (lnet_nid_decode16(data, &nid))
		return;
	check_nid(&nid);
	lnet_nid_encode16(&nid, wire);
	MUST(lnet_nid_decode16(wire, &back) == 0);
	MUST(lnet_nid_eq(&nid, &back));
	MUST(lnet_nid_is_any(&nid) || memcmp(wire, data, sizeof(wire)) == 0);
}

static void check_process(const char *s, size_t size)
{
	struct lnet_parse_err err = {.pos = 0};
	char text[LNI_PROCSTR_MAX];
	struct lnet_nid nid, nid_back;
	uint32_t pid, pid_back;

	if (lni_process_parse(s, size, &pid, &nid, &err)) {
		MUST(err.pos <= size && err.msg[0]);
		return;
	}
	lni_process_str(pid, &nid, text, sizeof(text));
	MUST(lni_process_parse(text, strlen(text), &pid_back, &nid_back, NULL) == 0);
	MUST(pid == pid_back && lnet_nid_eq(&nid, &nid_back));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *s = (const char *)data;
	struct lnet_parse_err err = {.pos = 0};
	struct lnet_nid nid;
	lnet_net_t net;

	if (lnet_nid_parse(s, size, &nid, &err) == 0)
		check_nid(&nid);
	else
		MUST(err.pos <= size && err.msg[0]);
	memset(&err, 0, sizeof(err));
	if (lnet_net_parse(s, size, &net, &err))
		MUST(err.pos <= size && err.msg[0]);
	else
		MUST(net == LNET_NET_ANY || net >> 24 == 0);
	check_process(s, size);
	if (size >= LNET_NID16_SIZE)
		check_wire(data);
	return 0;
}
