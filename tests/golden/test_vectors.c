/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages captured between kernel nodes. Each line of vectors/index.tsv names a file and the
 * fields that another decoder found in it; ours must print the same line, and our encoder must give
 * the same bytes: all of an acceptor request, HELLO, NOOP or ping info, the head of any other
 * message.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <lnet/hdr.h>
#include "lnd-tcp/proto.h"
#include "lnet/wire/ping.h"

#define FOLDER      "tests/golden/vectors"
#define MAX_VECTORS 512
#define MAX_ENTRIES 64

enum kind {
	KIND_ACCEPTOR,
	KIND_HELLO,
	KIND_NOOP,
	KIND_ACK,
	KIND_PUT,
	KIND_GET,
	KIND_REPLY,
	KIND_PINGINFO, /* PUT or REPLY that carries one; counted here and there */
	N_KINDS,
};

struct vector {
	char *name;
	char *text;
	size_t wire_len; /* on the wire; a very long message is kept without its tail */
	size_t len;
	uint8_t *bytes;
	enum kind kind;
};

static struct set {
	size_t n;
	struct vector v[MAX_VECTORS];
	unsigned count[N_KINDS];
} set;

/* ---- describing what our decoders found -------------------------------------------------- */

struct text {
	size_t len;
	char s[4096];
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	t->len += (size_t)vsnprintf(t->s + t->len, sizeof(t->s) - t->len, fmt, ap);
	va_end(ap);
	assert_true(t->len < sizeof(t->s));
}

static const char *nid_str(const struct lnet_nid *nid, char buf[LNET_NIDSTR_MAX])
{
	return lnet_nid_str(nid, buf, LNET_NIDSTR_MAX);
}

static void describe_hello(struct text *t, const struct tcp_hello *h)
{
	static const char *const types[] = {"ANY", "CONTROL", "BULK_IN", "BULK_OUT"};
	char a[LNET_NIDSTR_MAX], b[LNET_NIDSTR_MAX];

	add(t, "HELLO v%u src=%s dst=%s spid=%u dpid=%u sinc=0x%llx dinc=0x%llx", h->version,
	        nid_str(&h->src_nid, a), nid_str(&h->dst_nid, b), h->src_pid, h->dst_pid,
	        (unsigned long long)h->src_incarnation, (unsigned long long)h->dst_incarnation);
	if (h->ctype < 4)
		add(t, " ctype=%s nips=%u", types[h->ctype], h->nips);
	else
		add(t, " ctype=%u nips=%u", h->ctype, h->nips);
}

static void describe_features(struct text *t, uint32_t features)
{
	static const char *const names[] = {"BASE", "NI_STATUS", "RTE_DISABLED", "MULTI_RAIL",
	        "DISCOVERY", "LARGE_ADDR", "PRIMARY_LARGE", "METADATA"};
	const char *sep = "";

	add(t, " PINGINFO feat=0x%x(", features);
	for (unsigned i = 0; i < 8; i++) {
		if (!(features & 1u << i))
			continue;
		add(t, "%s%s", sep, names[i]);
		sep = "|";
	}
	add(t, ")");
}

static void describe_ping(struct text *t, const struct lni_ping_info *info, size_t size)
{
	char a[LNET_NIDSTR_MAX];
	unsigned n4 = 0;

	for (uint32_t i = 0; i < info->count; i++)
		n4 += lnet_nid_is4(&info->entries[i].nid);
	describe_features(t, info->features);
	add(t, " pid=%u nnis=%u [0@lo seqno=0x%x msz=%zu]", info->pid, n4 + 1, info->seq,
	        n4 < info->count ? size : 0);
	for (uint32_t i = 0; i < info->count; i++)
		if (lnet_nid_is4(&info->entries[i].nid))
			add(t, " [%s st=0x%x msz=0]", nid_str(&info->entries[i].nid, a),
			        info->entries[i].status);
	for (uint32_t i = 0; i < info->count; i++)
		if (!lnet_nid_is4(&info->entries[i].nid))
			add(t, " {large %s st=0x%x}", nid_str(&info->entries[i].nid, a),
			        info->entries[i].status);
}

static void describe_wmd(struct text *t, const char *name, const struct lnet_wmd *w)
{
	add(t, " %s=%llx.%llx", name, (unsigned long long)w->iface, (unsigned long long)w->object);
}

static void describe_hdr(struct text *t, const struct lnet_hdr *h)
{
	static const char *const types[] = {"ACK  ", "PUT  ", "GET  ", "REPLY"};
	char a[LNET_NIDSTR_MAX], b[LNET_NIDSTR_MAX];

	add(t, " %s %s/%u->%s/%u len=%u", types[h->type], nid_str(&h->src_nid, a), h->src_pid,
	        nid_str(&h->dest_nid, b), h->dest_pid, h->payload_length);
	switch (h->type) {
	case LNET_MSG_ACK:
		describe_wmd(t, "dst_wmd", &h->msg.ack.dst_wmd);
		add(t, " mb=0x%llx mlength=%u", (unsigned long long)h->msg.ack.match_bits,
		        h->msg.ack.mlength);
		break;
	case LNET_MSG_PUT:
		describe_wmd(t, "ack_wmd", &h->msg.put.ack_wmd);
		add(t, " mb=0x%llx hdr_data=0x%llx ptl=%u off=%u",
		        (unsigned long long)h->msg.put.match_bits,
		        (unsigned long long)h->msg.put.hdr_data, h->msg.put.ptl_index,
		        h->msg.put.offset);
		break;
	case LNET_MSG_GET:
		describe_wmd(t, "ret_wmd", &h->msg.get.return_wmd);
		add(t, " mb=0x%llx ptl=%u src_off=%u sink_len=%u",
		        (unsigned long long)h->msg.get.match_bits, h->msg.get.ptl_index,
		        h->msg.get.src_offset, h->msg.get.sink_length);
		break;
	default:
		describe_wmd(t, "dst_wmd", &h->msg.reply.dst_wmd);
		break;
	}
}

/* ---- one vector: decode, describe, encode ------------------------------------------------ */

/* The version of a connection follows from the NIDs at its ends: " NID/PID->NID/PID ". */
static uint32_t version_of(const char *text)
{
	const char *arrow = strstr(text, "->"), *v6 = strstr(text, "::");

	return arrow && v6 && v6 < arrow ? 4 : 3;
}

/* What our code makes of the bytes: their description, and what it would send itself. */
struct outcome {
	struct text text;
	size_t len;
	uint8_t bytes[4096];
};

static bool run_acceptor(const struct vector *v, const uint8_t *bytes, struct outcome *o)
{
	char a[LNET_NIDSTR_MAX];
	struct lnet_nid nid;
	const char *why;
	size_t need;

	if (tcp_accept_parse(bytes, v->len, &nid, &need, &why) != TCP_PARSE_OK || need != v->len)
		return false;
	add(&o->text, "acceptor connreq v%d target=%s", lnet_nid_is4(&nid) ? 1 : 2,
	        nid_str(&nid, a));
	o->len = tcp_accept_encode(&nid, false, o->bytes);
	return true;
}

static bool run_hello(const struct vector *v, const uint8_t *bytes, struct outcome *o)
{
	struct tcp_hello h;
	const char *why;
	size_t need;

	if (tcp_hello_parse(bytes, v->len, &h, &need, &why) != TCP_PARSE_OK || need != v->len)
		return false;
	describe_hello(&o->text, &h);
	o->len = (size_t)tcp_hello_encode(&h, o->bytes);
	return true;
}

static bool run_ping(const uint8_t *bytes, size_t len, struct outcome *o)
{
	struct lni_ping_entry entries[MAX_ENTRIES];
	struct lni_ping_info info = {.entries = entries};
	struct lni_ping_result res;
	long n;

	if (lni_ping_decode(bytes, len, &info, MAX_ENTRIES, &res) || res.skipped)
		return false;
	describe_ping(&o->text, &info, res.want);
	n = lni_ping_encode(&info, o->bytes + o->len, sizeof(o->bytes) - o->len);
	if (n < 0)
		return false;
	o->len += (size_t)n;
	return true;
}

static bool run_msg(const struct vector *v, const uint8_t *bytes, struct outcome *o)
{
	uint32_t version = version_of(v->text);
	struct tcp_frame f;
	struct tcp_zc_ack ack;
	struct lnet_hdr h;
	const char *why;
	size_t need;

	if (tcp_msg_parse(bytes, v->len, version, false, &f, &h, &need, &why) != TCP_PARSE_OK)
		return false;
	add(&o->text, "csum=0x%x zc=0x%llx,0x%llx", f.csum, (unsigned long long)f.cookie[0],
	        (unsigned long long)f.cookie[1]);
	if (f.type == TCP_FRAME_NOOP) {
		enum tcp_zc zc = tcp_zc_parse(&f, version, &ack);

		if (zc == TCP_ZC_KEEPALIVE)
			add(&o->text, " keepalive NOOP (cookie1=1 = KEEPALIVE_PING)");
		else if (zc == TCP_ZC_RANGE && ack.count == 1)
			add(&o->text, " ZC-ACK (NOOP)");
		tcp_frame_encode(&f, false, o->bytes);
		o->len = TCP_FRAME_SIZE;
		return need == v->len;
	}
	if (need + h.payload_length != v->wire_len)
		return false;
	describe_hdr(&o->text, &h);
	o->len = (size_t)tcp_msg_encode(&f, &h, version, false, o->bytes);
	if (o->len != need)
		return false;
	return !strstr(v->text, "PINGINFO") || run_ping(bytes + need, v->len - need, o);
}

/* The description without the part that belongs to the payload of the self-test. */
static size_t text_len(const char *text)
{
	const char *end = strstr(text, " SRPC ");

	return end ? (size_t)(end - text) : strlen(text);
}

static bool agrees(const struct vector *v, const uint8_t *bytes, struct outcome *o)
{
	bool ok;

	memset(o, 0, sizeof(*o));
	if (v->kind == KIND_ACCEPTOR)
		ok = run_acceptor(v, bytes, o);
	else if (v->kind == KIND_HELLO)
		ok = run_hello(v, bytes, o);
	else
		ok = run_msg(v, bytes, o);
	return ok && o->text.len == text_len(v->text) &&
	       memcmp(o->text.s, v->text, o->text.len) == 0 && o->len <= v->len &&
	       memcmp(o->bytes, bytes, o->len) == 0;
}

/* ---- loading ----------------------------------------------------------------------------- */

static void load_hex(struct vector *v)
{
	char path[512];
	unsigned byte;
	FILE *f;

	snprintf(path, sizeof(path), FOLDER "/%s", v->name);
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s: %s", path, strerror(errno));
	v->bytes = malloc(v->wire_len);
	assert_non_null(v->bytes);
	while (fscanf(f, "%2x", &byte) == 1) {
		assert_true(v->len < v->wire_len);
		v->bytes[v->len++] = (uint8_t)byte;
	}
	fclose(f);
	/* no spare room behind the bytes: a sanitizer sees each read beyond them */
	v->bytes = realloc(v->bytes, v->len);
	assert_non_null(v->bytes);
}

static enum kind kind_of(const char *text)
{
	static const struct {
		const char *word;
		enum kind kind;
	} words[] = {{" ACK ", KIND_ACK}, {" PUT ", KIND_PUT}, {" GET ", KIND_GET},
	        {" REPLY ", KIND_REPLY}, {"NOOP", KIND_NOOP}};

	if (strncmp(text, "acceptor ", 9) == 0)
		return KIND_ACCEPTOR;
	if (strncmp(text, "HELLO ", 6) == 0)
		return KIND_HELLO;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(text, words[i].word))
			return words[i].kind;
	fail_msg("\"%s\": no known kind", text);
	return N_KINDS;
}

static void load_line(char *line)
{
	struct vector *v = &set.v[set.n];
	char *name = strtok(line, "\t"), *ends = strtok(NULL, "\t"), *len = strtok(NULL, "\t");
	char *text = strtok(NULL, "\n");

	assert_true(set.n < MAX_VECTORS);
	assert_true(name && ends && len && text);
	v->name = strdup(name);
	v->text = strdup(text);
	v->wire_len = strtoul(len, NULL, 10);
	v->kind = kind_of(text);
	load_hex(v);
	set.count[v->kind]++;
	set.count[KIND_PINGINFO] += strstr(text, "PINGINFO") != NULL;
	set.n++;
}

static int load(void **state)
{
	char line[8192];
	FILE *f = fopen(FOLDER "/index.tsv", "r");

	(void)state;
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (line[0] != '#')
			load_line(line);
	fclose(f);
	return 0;
}

static int unload(void **state)
{
	(void)state;
	for (size_t i = 0; i < set.n; i++) {
		free(set.v[i].name);
		free(set.v[i].text);
		free(set.v[i].bytes);
	}
	return 0;
}

/* ---- tests ------------------------------------------------------------------------------- */

static void nothing_is_left_out(void **state)
{
	static const unsigned want[N_KINDS] = {
	        [KIND_ACCEPTOR] = 12,
	        [KIND_HELLO] = 24,
	        [KIND_NOOP] = 18,
	        [KIND_ACK] = 23,
	        [KIND_PUT] = 253,
	        [KIND_GET] = 51,
	        [KIND_REPLY] = 45,
	        [KIND_PINGINFO] = 49,
	};
	DIR *d = opendir(FOLDER);
	struct dirent *e;
	size_t files = 0;

	(void)state;
	assert_non_null(d);
	while ((e = readdir(d)))
		files += strstr(e->d_name, ".hex") != NULL;
	closedir(d);
	assert_int_equal(files, 426);
	assert_int_equal(set.n, files);
	for (int k = 0; k < N_KINDS; k++)
		assert_int_equal(set.count[k], want[k]);
}

static void each_decodes_and_encodes(void **state)
{
	struct outcome o;

	(void)state;
	for (size_t i = 0; i < set.n; i++)
		if (!agrees(&set.v[i], set.v[i].bytes, &o))
			fail_msg("%s\n wanted %s\n got    %s\n %zu bytes encoded", set.v[i].name,
			        set.v[i].text, o.text.s, o.len);
}

/* Every byte that is claimed to be covered is: a changed one must not pass. */
static void each_flipped_byte_is_seen(void **state)
{
	struct outcome o;

	(void)state;
	for (size_t i = 0; i < set.n; i++) {
		struct vector *v = &set.v[i];
		size_t covered;

		assert_true(agrees(v, v->bytes, &o));
		covered = o.len;
		for (size_t j = 0; j < covered; j++) {
			v->bytes[j] ^= 1u << j % 8;
			if (agrees(v, v->bytes, &o))
				fail_msg("%s: byte %zu changed, not noticed", v->name, j);
			v->bytes[j] ^= 1u << j % 8;
		}
	}
}

/* Read as a stream would deliver it: never beyond the message, one more step each time. */
static void prefixes_ask_for_more(void **state)
{
	(void)state;
	for (size_t i = 0; i < set.n; i++) {
		const struct vector *v = &set.v[i];
		uint32_t version = version_of(v->text);
		size_t whole = v->kind <= KIND_NOOP ? v->len : tcp_msg_head_size(version);

		for (size_t n = 0; n < whole; n++) {
			uint8_t *copy = malloc(n + 1);
			struct tcp_hello h;
			struct tcp_frame f;
			struct lnet_hdr hdr;
			struct lnet_nid nid;
			const char *why = "";
			size_t need = 0;
			enum tcp_parse rc;

			assert_non_null(copy);
			memcpy(copy, v->bytes, n);
			if (v->kind == KIND_ACCEPTOR)
				rc = tcp_accept_parse(copy, n, &nid, &need, &why);
			else if (v->kind == KIND_HELLO)
				rc = tcp_hello_parse(copy, n, &h, &need, &why);
			else
				rc = tcp_msg_parse(copy, n, version, false, &f, &hdr, &need, &why);
			free(copy);
			assert_int_equal(rc, TCP_PARSE_MORE);
			assert_in_range(need, n + 1, whole);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(nothing_is_left_out),
	        cmocka_unit_test(each_decodes_and_encodes),
	        cmocka_unit_test(each_flipped_byte_is_seen),
	        cmocka_unit_test(prefixes_ask_for_more),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
