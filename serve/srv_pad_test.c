// SPDX-License-Identifier: Apache-2.0
// Tests of padding: lengths of requests, which of them run together, padded inputs.
// tests/serve/serve_lengths.py has the metadata and whole models.

#include "srv_pad.h"

#include <stdint.h>
#include <string.h>

#include "ln_check.h"

// Inputs `ids` [n, a, b] and `mask` [n, a], whose lengths are a and b.
static srv_pad_port inputs[2] = {
    {.length_of = {-1, 0, 1}, .value = {7, 0}, .has_value = 1},
    {.length_of = {-1, 0}, .has_value = 1},
};
static const srv_pad pad = {.n_lengths = 2, .inputs = inputs, .n_inputs = 2};

typedef struct item {
    srv_request r;
    srv_tensor inputs[2];
} item;

static void make(item *it, int rows, int a, int b)
{
    *it = (item){.r = {.rows = rows, .n_inputs = 2}};
    it->inputs[0] = (srv_tensor){.dtype = TL_INT16, .ndim = 3, .dims = {rows, a, b}};
    it->inputs[1] = (srv_tensor){.dtype = TL_INT16, .ndim = 2, .dims = {rows, a}};
    it->r.inputs = it->inputs;
    ck_assert_int_eq(srv_pad_measure(&pad, &it->r), 0);
}

START_TEST(lengths_are_those_of_all_inputs)
{
    item it;
    make(&it, 2, 5, 6);
    ck_assert_int_eq(it.r.lengths[0], 5);
    ck_assert_int_eq(it.r.lengths[1], 6);
    it.inputs[1].dims[1] = 4; // the mask is shorter than the sequence
    ck_assert_int_eq(srv_pad_measure(&pad, &it.r), -1);
}
END_TEST

START_TEST(batch_has_the_longest_of_each_length)
{
    item it[3];
    int longest[SRV_MAX_LENGTHS];
    make(&it[0], 1, 3, 9);
    make(&it[1], 1, 8, 2);
    make(&it[2], 1, 5, 5);
    it[0].r.next = &it[1].r;
    it[1].r.next = &it[2].r;
    srv_pad_longest(&pad, &it[0].r, longest);
    ck_assert_int_eq(longest[0], 8);
    ck_assert_int_eq(longest[1], 9);
}
END_TEST

START_TEST(at_most_a_quarter_and_8_elements_a_row_are_padding)
{
    static const struct {
        int rows[2], a[2], b[2], wanted;
    } cases[] = {
        {{1, 1}, {8, 8}, {4, 4}, 1},         // none
        {{1, 1}, {8, 4}, {4, 4}, 1},         // 4 of 16
        {{1, 1}, {4, 8}, {4, 4}, 1},         // in the other order
        {{1, 1}, {8, 3}, {4, 4}, 0},         // 5 of 16
        {{3, 1}, {8, 1}, {4, 4}, 1},         // 7 of 32
        {{1, 3}, {8, 1}, {4, 4}, 0},         // 21 of 32
        {{3, 1}, {8, 8}, {4, 0}, 1},         // 4 of 16, an empty one
        {{1, 1}, {8, 8}, {4, 1}, 0},         // of the other length 3 of 8
        {{1, 1}, {0, 0}, {0, 0}, 1},         // nothing at all
        {{1, 1}, {64, 48}, {4, 4}, 1},       // 16 for 2 rows
        {{1, 1}, {64, 47}, {4, 4}, 0},       // 17 for 2 rows
        {{3, 1}, {64, 32}, {4, 4}, 1},       // 32 for 4 rows
        {{3, 1}, {64, 31}, {4, 4}, 0},       // 33 for 4 rows
        {{1, 1}, {INT32_MAX, 1}, {4, 4}, 0}, // large sizes
        {{INT32_MAX / 2, 1}, {INT32_MAX, 1}, {4, 4}, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        item it[2];
        for (int k = 0; k < 2; k++)
            make(&it[k], cases[i].rows[k], cases[i].a[k], cases[i].b[k]);
        ck_assert_msg(srv_pad_allows(&pad, &it[0].r, &it[1].r) == cases[i].wanted, "case %zu", i);
    }
}
END_TEST

START_TEST(inputs_are_padded_at_their_ends)
{
    int16_t data[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, to[2 * 3 * 4 + 1];
    static const int16_t wanted[] = {1, 2, 3, 7,  4,  5,  6, 7, 7, 7, 7, 7, 7,
                                     8, 9, 7, 10, 11, 12, 7, 7, 7, 7, 7, -1};
    item it;
    make(&it, 2, 2, 3);
    it.inputs[0].data = data;
    it.inputs[0].size = sizeof(data);
    to[24] = -1;
    char *const end = srv_pad_input(&inputs[0], &it.inputs[0], (const int[]){9, 3, 4}, (char *)to);
    ck_assert_ptr_eq(end, &to[24]);
    ck_assert_mem_eq(to, wanted, sizeof(wanted));
}
END_TEST

START_TEST(inputs_of_full_length_are_copied)
{
    int16_t data[] = {1, 2, 3, 4}, to[5] = {0};
    item it;
    make(&it, 1, 2, 2);
    it.inputs[0].data = data;
    it.inputs[0].size = sizeof(data);
    char *const end = srv_pad_input(&inputs[0], &it.inputs[0], (const int[]){1, 2, 2}, (char *)to);
    ck_assert_ptr_eq(end, &to[4]);
    ck_assert_mem_eq(to, data, sizeof(data));
}
END_TEST

START_TEST(empty_inputs_become_padding)
{
    int16_t to[4] = {0};
    static const int16_t wanted[] = {7, 7, 7, 0};
    item it;
    make(&it, 1, 0, 3);
    char *const end = srv_pad_input(&inputs[0], &it.inputs[0], (const int[]){1, 1, 3}, (char *)to);
    ck_assert_ptr_eq(end, &to[3]);
    ck_assert_mem_eq(to, wanted, sizeof(wanted));
}
END_TEST

LN_TEST_MAIN("pad", lengths_are_those_of_all_inputs, batch_has_the_longest_of_each_length,
             at_most_a_quarter_and_8_elements_a_row_are_padding, inputs_are_padded_at_their_ends,
             inputs_of_full_length_are_copied, empty_inputs_become_padding)
