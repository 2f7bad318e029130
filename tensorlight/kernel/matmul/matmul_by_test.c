// SPDX-License-Identifier: Apache-2.0
// Tests of products of rows with matrices chosen by index.

#include "kernel/tl_nn_test.h"

START_TEST(each_row_has_its_matrix)
{
    for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
        nn_room room = {0};
        const tl_dtype dtype = nn_floats[k];
        tl_tensor *const src =
            nn_given(&room, dtype, 2, (int[]){3, 2}, (double[]){1, 2, 3, 4, 5, 6});
        tl_tensor *const index = nn_given(&room, TL_INT64, 1, (int[]){3}, (double[]){1, 0, -1});
        tl_tensor *const weight =
            nn_given(&room, dtype, 3, (int[]){2, 2, 2}, (double[]){1, 0, 0, 1, 1, 1, 1, -1});
        tl_tensor *const bias = nn_given(&room, dtype, 2, (int[]){2, 2}, (double[]){10, 20, 0, 1});
        tl_tensor *const dst = tl_tensor_matmul_by(src, index, weight, bias, NULL);
        nn_check_values(dst, (double[]){3, 0, 13, 24, 11, 0});
        tl_tensor *const plain = tl_tensor_matmul_by(src, index, weight, NULL, NULL);
        nn_check_values(plain, (double[]){3, -1, 3, 4, 11, -1});
        tl_tensor_free_data_too(dst);
        tl_tensor_free_data_too(plain);
        nn_close(&room);
    }
}
END_TEST

typedef struct given {
    tl_tensor *src, *index, *weight, *bias;
} given;

static given random_rows(nn_room *room, tl_dtype dtype, int m, int e, int n, int k)
{
    given g = {nn_random(room, dtype, 2, (int[]){m, k}, -1, 1),
               nn_blank(room, TL_INT32, 1, (int[]){m}),
               nn_random(room, dtype, 3, (int[]){e, n, k}, -1, 1),
               nn_random(room, dtype, 2, (int[]){e, n}, -1, 1)};
    for (int i = 0; i < m; i++)
        ((int *)g.index->data)[i] = i * 7 % 5 % e;
    return g;
}

START_TEST(random_rows_agree_with_double)
{
    static const int sizes[][4] = {{1, 3, 5, 7}, {40, 6, 33, 17}, {9, 2, 1, 65}, {5, 4, 3, 0}};
    for (size_t s = 0; s < NN_LEN(sizes); s++)
        for (size_t d = 0; d < NN_LEN(nn_floats); d++) {
            nn_room room = {.seed = 3};
            const int m = sizes[s][0], e = sizes[s][1], n = sizes[s][2], k = sizes[s][3];
            const given g = random_rows(&room, nn_floats[d], m, e, n, k);
            tl_tensor *const dst = nn_blank(&room, nn_floats[d], 2, (int[]){m, n});
            ck_assert_ptr_eq(tl_tensor_matmul_by(g.src, g.index, g.weight, g.bias, dst), dst);
            for (int i = 0; i < dst->len; i++) {
                const int by = ((int *)g.index->data)[i / n];
                double sum = nn_at(g.bias, (size_t)(by * n + i % n)), magnitude = fabs(sum);
                for (int c = 0; c < k; c++) {
                    const double term = nn_at(g.src, (size_t)(i / n * k + c)) *
                                        nn_at(g.weight, (size_t)((by * n + i % n) * k + c));
                    sum += term;
                    magnitude += fabs(term);
                }
                nn_check_near(dst, (size_t)i, sum,
                              nn_tolerance(nn_floats[d], k + 2, magnitude, sum));
            }
            nn_close(&room);
        }
}
END_TEST

static void run_by(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const given *const g = arg;
    const int threads = 3;
    tl_exec own = exec ? *exec : (tl_exec){.isa = tl_isa_best()};
    own.scratch_size = tl_matmul_by_scratch(g->src, g->weight, dst, threads);
    own.scratch = tl_alloc(own.scratch_size);
    ck_assert_int_eq(tl_exec_matmul_by(&own, g->src, g->index, g->weight, g->bias, dst), 0);
    tl_free(own.scratch);
}

START_TEST(threads_give_the_same_bits)
{
    nn_room room = {.seed = 6};
    given g = random_rows(&room, TL_FLOAT, 200, 4, 70, 90);
    nn_check_threads(run_by, nn_blank(&room, TL_FLOAT, 2, (int[]){200, 70}), &g);
    nn_close(&room);
}
END_TEST

START_TEST(matmul_by_rejects_indices_and_shapes)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 2, (int[]){2, 1}, (double[]){1, 2});
    tl_tensor *const weight = nn_given(&room, TL_FLOAT, 3, (int[]){2, 1, 1}, (double[]){1, 2});
    tl_tensor *const index = nn_given(&room, TL_INT32, 1, (int[]){2}, (double[]){0, 2});
    ck_assert_ptr_null(tl_tensor_matmul_by(src, index, weight, NULL, NULL));
    ck_assert_str_eq(tl_last_error(), "index 2 at position 1, expected -2 to 1");
    ck_assert_ptr_null(tl_tensor_matmul_by(src, src, weight, NULL, NULL));
    ck_assert_str_eq(tl_last_error(), "'index' has dtype TL_FLOAT, expected TL_INT32 or TL_INT64");
    ck_assert_ptr_null(tl_tensor_matmul_by(src, index, weight, src, NULL));
    ck_assert_str_eq(tl_last_error(), "index 2 at position 1, expected -2 to 1");
    tl_tensor *const wide = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 3});
    ck_assert_ptr_null(tl_tensor_matmul_by(wide, index, weight, NULL, NULL));
    ck_assert_str_eq(tl_last_error(),
                     "'src' has rows of 3 elements and 'weight' of 1, expected equal lengths");
    ck_assert_ptr_null(tl_tensor_matmul_by(src, index, weight, wide, NULL));
    ck_assert_str_eq(tl_last_error(), "'bias' has shape [2, 3], expected [2, 1]");
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("matmul_by", each_row_has_its_matrix, random_rows_agree_with_double,
             threads_give_the_same_bits, matmul_by_rejects_indices_and_shapes)
