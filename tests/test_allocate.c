/* test_allocate.c: memory that is aligned and zeroed, or refused. */
#include "common/allocate.h"
#include "support/suite.h"
#include <stdint.h>

START_TEST(memory_is_aligned_and_zeroed) {
    static const size_t counts[] = {0, 1, 3, 7, 64, 1000, 100000};
    for (int round = 0; round < 2; round++) { /* the second round gets used memory back */
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            unsigned char *memory = linattn__allocate(counts[i], 3);
            ck_assert_ptr_nonnull(memory);
            ck_assert_uint_eq((uintptr_t)memory % LINATTN__ALIGNMENT, 0);
            size_t set = 0;
            for (size_t j = 0; j < 3 * counts[i]; j++) set += memory[j] != 0;
            ck_assert_uint_eq(set, 0);
            if (counts[i] > 0) memset(memory, 0xff, 3 * counts[i]);
            linattn__release(memory);
        }
    }
    linattn__release(NULL);
}
END_TEST

START_TEST(two_empty_pieces_can_both_be_released) {
    void *a = linattn__allocate(0, 8), *b = linattn__allocate(8, 0);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    linattn__release(a);
    linattn__release(b);
}
END_TEST

START_TEST(sizes_that_overflow_are_refused) {
    const size_t half = (size_t)1 << (sizeof(size_t) * 4);
    ck_assert_ptr_null(linattn__allocate(half, half));     /* the product is 2^64, which wraps to 0 */
    ck_assert_ptr_null(linattn__allocate(half + 1, half)); /* wraps to 2^32 */
    ck_assert_ptr_null(linattn__allocate(SIZE_MAX, 2));    /* wraps to a large number */
    ck_assert_ptr_null(linattn__allocate(SIZE_MAX, 1));    /* fits, but no object is that large */
    ck_assert_ptr_null(linattn__allocate((size_t)PTRDIFF_MAX + 1, 1));
}
END_TEST

START_TEST(products_of_sizes_are_exact_or_refused) {
    size_t product = 77;
    ck_assert_int_eq(linattn__multiply_sizes(SIZE_MAX, 2, &product), 0);
    ck_assert_int_eq(linattn__multiply_sizes(2, SIZE_MAX, &product), 0);
    ck_assert_int_eq(linattn__multiply_sizes(SIZE_MAX / 3 + 1, 3, &product), 0);
    ck_assert_uint_eq(product, 77);
    ck_assert_int_eq(linattn__multiply_sizes(SIZE_MAX / 3, 3, &product), 1);
    ck_assert_uint_eq(product, SIZE_MAX / 3 * 3);
    ck_assert_int_eq(linattn__multiply_sizes(SIZE_MAX, 1, &product), 1);
    ck_assert_uint_eq(product, SIZE_MAX);
    ck_assert_int_eq(linattn__multiply_sizes(SIZE_MAX, 0, &product), 1);
    ck_assert_uint_eq(product, 0);
    ck_assert_int_eq(linattn__multiply_sizes(0, SIZE_MAX, &product), 1);
    ck_assert_uint_eq(product, 0);
}
END_TEST

START_TEST(the_message_names_what_the_memory_was_for) {
    ck_assert_status(linattn__fail_memory("a batch"), LINATTN_ENOMEM, "no memory for a batch");
}
END_TEST

#ifdef LINATTN_FAIL_ALLOCATION
START_TEST(one_chosen_allocation_fails) {
    for (long successes = 0; successes < 4; successes++) {
        linattn__fail_allocation_after(successes);
        for (long i = 0; i < 8; i++) {
            void *memory = linattn__allocate(1, 8);
            ck_assert_int_eq(memory == NULL, i == successes);
            linattn__release(memory);
        }
    }
    linattn__fail_allocation_after(3);
    linattn__fail_allocation_after(-1);
    for (int i = 0; i < 8; i++) {
        void *memory = linattn__allocate(1, 8);
        ck_assert_ptr_nonnull(memory);
        linattn__release(memory);
    }
}
END_TEST
#endif

static Suite *allocate_suite(void) {
    Suite *suite = suite_create("allocate");
    TCase *tc = tcase_create("allocate");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, memory_is_aligned_and_zeroed);
    tcase_add_test(tc, two_empty_pieces_can_both_be_released);
    tcase_add_test(tc, sizes_that_overflow_are_refused);
    tcase_add_test(tc, products_of_sizes_are_exact_or_refused);
    tcase_add_test(tc, the_message_names_what_the_memory_was_for);
#ifdef LINATTN_FAIL_ALLOCATION
    tcase_add_test(tc, one_chosen_allocation_fails);
#endif
    suite_add_tcase(suite, tc);
    return suite;
}

LINATTN_TEST_MAIN(allocate_suite)
