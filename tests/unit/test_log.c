/* SPDX-License-Identifier: BSD-2-Clause */
/* The log: level, sink, limit for each kind of line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "lib/tlib.h"
#include "lnet/base/log.h"

#define WINDOW (LNI_LOG_WINDOW_S * TL_S)

struct sink {
	unsigned lines, summaries;
	unsigned long suppressed;
	char id[40], text[1024];
	enum lnet_log_level level;
};

static void on_line(void *arg, enum lnet_log_level lv, const char *id, const char *text)
{
	struct sink *s = arg;
	unsigned long n;

	s->lines++;
	s->level = lv;
	snprintf(s->id, sizeof(s->id), "%s", id);
	snprintf(s->text, sizeof(s->text), "%s", text);
	if (sscanf(text, "suppressed %lu more", &n) == 1) {
		s->summaries++;
		s->suppressed += n;
	}
}

struct fixture {
	struct lni_log g;
	struct sink s;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	lni_log_init(&f->g, on_line, &f->s, LNET_LOG_NOTICE);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	lni_log_fini(&f->g);
	free(f);
	return 0;
}

static void test_level(void **state)
{
	struct fixture *f = *state;

	lni_log_at(&f->g, 1, LNET_LOG_INFO, "A", "no");
	assert_int_equal(f->s.lines, 0);
	assert_false(lni_log_on(&f->g, LNET_LOG_INFO));
	lni_log_at(&f->g, 1, LNET_LOG_NOTICE, "A", "%s %d", "yes", 5);
	assert_int_equal(f->s.lines, 1);
	assert_string_equal(f->s.text, "yes 5");
	assert_string_equal(f->s.id, "A");
	assert_int_equal(f->s.level, LNET_LOG_NOTICE);
	lni_log_set_level(&f->g, LNET_LOG_TRACE);
	assert_true(lni_log_on(&f->g, LNET_LOG_TRACE));
	lni_log_at(&f->g, 1, LNET_LOG_TRACE, "A", "yes");
	assert_int_equal(f->s.lines, 2);
	lni_log_set_level(&f->g, LNET_LOG_ERR);
	lni_log_at(&f->g, 1, LNET_LOG_WARN, "A", "no");
	lni_log_at(&f->g, 1, LNET_LOG_ERR, "A", "yes");
	assert_int_equal(f->s.lines, 3);
}

static void test_sink(void **state)
{
	struct fixture *f = *state;
	struct sink other = {0};

	lni_log_set_sink(&f->g, on_line, &other);
	lni_log_at(&f->g, 1, LNET_LOG_ERR, "A", "x");
	lni_log_set_sink(&f->g, NULL, NULL);
	lni_log_at(&f->g, 1, LNET_LOG_ERR, "A", "x");
	assert_int_equal(f->s.lines, 0);
	assert_int_equal(other.lines, 1);
}

static void test_long_line(void **state)
{
	struct fixture *f = *state;
	char text[LNI_LOG_LINE + 100];

	memset(text, 'a', sizeof(text));
	text[LNI_LOG_LINE - 1] = '\0';
	lni_log_at(&f->g, 1, LNET_LOG_ERR, "A", "%s", text);
	assert_string_equal(f->s.text, text);
	text[LNI_LOG_LINE - 1] = 'a';
	text[LNI_LOG_LINE] = '\0';
	lni_log_at(&f->g, 1, LNET_LOG_ERR, "A", "%s", text);
	assert_int_equal(strlen(f->s.text), LNI_LOG_LINE - 1);
	assert_string_equal(f->s.text + LNI_LOG_LINE - 4, "...");
}

static void burst(struct fixture *f, uint64_t now, const char *id, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		lni_log_at(&f->g, now, LNET_LOG_WARN, id, "line %u", i);
}

static void test_limit(void **state)
{
	struct fixture *f = *state;
	uint64_t t = 5 * TL_S;

	burst(f, t, "A", 1000);
	assert_int_equal(f->s.lines, LNI_LOG_BURST);
	/* Another kind is not affected. */
	burst(f, t, "B", 3);
	assert_int_equal(f->s.lines, LNI_LOG_BURST + 3);
	burst(f, t + WINDOW - 1, "A", 5);
	assert_int_equal(f->s.lines, LNI_LOG_BURST + 3);
	assert_int_equal(f->s.summaries, 0);
	/* The next window first says what was kept back. */
	burst(f, t + WINDOW, "A", 1);
	assert_int_equal(f->s.summaries, 1);
	assert_int_equal(f->s.suppressed, 995);
	assert_int_equal(f->s.lines, LNI_LOG_BURST + 5);
	assert_string_equal(f->s.text, "line 0");
	burst(f, t + WINDOW, "A", 100);
	assert_int_equal(f->s.lines, 2 * LNI_LOG_BURST + 4);
}

static void test_debug_is_not_limited(void **state)
{
	struct fixture *f = *state;

	lni_log_set_level(&f->g, LNET_LOG_DEBUG);
	for (unsigned i = 0; i < 100; i++)
		lni_log_at(&f->g, 1, LNET_LOG_DEBUG, "A", "x");
	assert_int_equal(f->s.lines, 100);
}

static void test_flush(void **state)
{
	struct fixture *f = *state;

	burst(f, 1, "A", 15);
	lni_log_flush(&f->g, WINDOW);
	assert_int_equal(f->s.summaries, 0);
	lni_log_flush(&f->g, WINDOW + 1);
	assert_int_equal(f->s.suppressed, 5);
	assert_string_equal(f->s.id, "A");
	assert_int_equal(f->s.level, LNET_LOG_WARN);
	lni_log_flush(&f->g, 10 * WINDOW);
	assert_int_equal(f->s.summaries, 1);
}

static void test_end_says_what_is_owed(void **state)
{
	struct sink s = {0};
	struct lni_log g;

	(void)state;
	lni_log_init(&g, on_line, &s, LNET_LOG_WARN);
	for (unsigned i = 0; i < 30; i++)
		lni_log_at(&g, 1, LNET_LOG_WARN, "A", "x");
	lni_log_fini(&g);
	assert_int_equal(s.suppressed, 20);
}

/* More kinds than there is room for: the one used least recently goes, and its debt is said. */
static void test_many_ids(void **state)
{
	struct fixture *f = *state;
	char id[16];

	burst(f, 1, "first", 12);
	for (unsigned i = 0; i < LNI_LOG_IDS - 1; i++) {
		snprintf(id, sizeof(id), "id%u", i);
		burst(f, 2, id, 1);
	}
	assert_int_equal(f->s.summaries, 0);
	burst(f, 3, "one more", 1);
	assert_int_equal(f->s.summaries, 1);
	assert_int_equal(f->s.suppressed, 2);
	assert_int_equal(f->s.lines, LNI_LOG_BURST + LNI_LOG_IDS - 1 + 2);
	/* Long names are told apart by their first 31 bytes. */
	f->s.lines = 0;
	burst(f, 4, "0123456789012345678901234567890-a", 6);
	burst(f, 4, "0123456789012345678901234567890-b", 6);
	assert_int_equal(f->s.lines, LNI_LOG_BURST);
}

static void *log_main(void *arg)
{
	struct fixture *f = arg;

	for (unsigned i = 0; i < 1000; i++) {
		lni_log_at(&f->g, i, LNET_LOG_ERR, i % 2 ? "A" : "B", "line %u", i);
		lni_log_set_level(&f->g, i % 2 ? LNET_LOG_ERR : LNET_LOG_WARN);
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct fixture *f = *state;
	pthread_t th[3];

	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&th[i], NULL, log_main, f), 0);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(th[i], NULL);
	lni_log_flush(&f->g, 2 * WINDOW);
	assert_int_equal(f->s.lines, 2 * LNI_LOG_BURST + 2);
	assert_int_equal(f->s.suppressed, 3000 - 2 * LNI_LOG_BURST);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        CASE(test_level),
	        CASE(test_sink),
	        CASE(test_long_line),
	        CASE(test_limit),
	        CASE(test_debug_is_not_limited),
	        CASE(test_flush),
	        cmocka_unit_test(test_end_says_what_is_owed),
	        CASE(test_many_ids),
	        CASE(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
