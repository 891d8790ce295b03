/* SPDX-License-Identifier: BSD-2-Clause */
/* Two nodes of the tcp driver in one process: connections, messages of all sizes, what is said of
 * them. */
#include "tcp_fixture.h"

static void test_put_sizes(void **state)
{
	static const uint32_t sizes[] = {0, 1, 7, 8, 100, 1023, 1024, 4000, 4096, 4097, 16384,
	        65536, 65537, 262144, 1000003, 1048576};
	struct pair *p = *state;
	struct fc_rail *r;
	uint64_t id = 1;

	r = rail_to(p->a, "127.0.0.3");
	for (unsigned pieces = 1; pieces <= 200; pieces += 33)
		for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++, id++) {
			struct fc_tx *tx = fc_put(r, id, sizes[i], pieces, 10 * TL_S);

			assert_int_equal(fc_send(tx), 0);
			assert_true(TL_UNTIL(&p->pump, tx->done && p->b->rx_ok >= id, 5 * TL_S));
			assert_int_equal(tx->status, 0);
			assert_true(tx->sent);
			fc_tx_free(tx);
		}
	assert_int_equal(stat_of(p->a, "connects"), 3);
	assert_int_equal(stat_of(p->b, "accepts"), 3);
}

static void test_get(void **state)
{
	struct pair *p = *state;
	struct fc_rail *r;

	r = rail_to(p->a, "127.0.0.3");
	for (uint64_t id = 1; id < 300; id++) {
		struct fc_tx *tx = fc_get(r, id, (uint32_t)(id * id * 11), 3, 10 * TL_S);

		assert_int_equal(fc_send(tx), 0);
		assert_true(TL_UNTIL(&p->pump, tx->over, 5 * TL_S));
		assert_int_equal(tx->status, 0);
		fc_tx_free(tx);
	}
}

static void test_many(void **state)
{
	struct pair *p = *state;
	struct fc_rail *ra, *rb;
	struct fc_tx *tx[600];

	ra = rail_to(p->a, "127.0.0.3");
	rb = rail_to(p->b, "127.0.0.2");
	for (unsigned i = 0; i < 600; i++) {
		tx[i] = fc_put(i & 1 ? ra : rb, i + 1, (i * 977) % 60000, 1 + i % 9, 20 * TL_S);
		assert_int_equal(fc_send(tx[i]), 0);
	}
	for (unsigned i = 0; i < 600; i++) {
		assert_true(TL_UNTIL(&p->pump, tx[i]->done, 10 * TL_S));
		assert_int_equal(tx[i]->status, 0);
		fc_tx_free(tx[i]);
	}
	assert_true(TL_UNTIL(&p->pump, p->a->rx_ok == 300 && p->b->rx_ok == 300, 5 * TL_S));
	/* both dialled at once: exactly one set of connections is left */
	assert_true(TL_UNTIL(
	        &p->pump, stat_of(p->a, "connects") + stat_of(p->a, "accepts") == 3, 5 * TL_S));
	assert_int_equal(stat_of(p->b, "connects") + stat_of(p->b, "accepts"), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_put_sizes, pair_setup, pair_teardown),
	        cmocka_unit_test_setup_teardown(test_get, pair_setup, pair_teardown),
	        cmocka_unit_test_setup_teardown(test_many, pair_setup, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
