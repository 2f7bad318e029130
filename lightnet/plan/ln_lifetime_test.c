// SPDX-License-Identifier: Apache-2.0
// Tests of lifetimes: memory blocks, their lifetimes, and sharing.

#include "plan/ln_lifetime.h"

#include <string.h>

#include "ln_check.h"
#include "ln_test_ops.h"

static ln_lifetime life;

static ln_context *end_model(ln_test_model *m)
{
    ln_context *ctx = ln_test_end(m);
    ck_assert_str_eq(ln_context_error(ctx), "");
    ck_assert_int_eq(ln_lifetime_find(ctx, &life), 0);
    return ctx;
}

static void end_test(ln_context *ctx)
{
    ln_lifetime_free(&life);
    ln_context_free(ctx);
}

static ln_block *block_of(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tname);
    ln_block *block = ln_lifetime_block(ctx, &life, te);
    ck_assert_ptr_nonnull(block);
    return block;
}

static void check_life(const ln_context *ctx, const char *tname, int first, int last)
{
    const ln_block *block = block_of(ctx, tname);
    ck_assert_msg(block->first == first && block->last == last,
                  "'%s' lives from %d to %d, expected %d to %d", tname, block->first, block->last,
                  first, last);
}

START_TEST(a_tensor_lives_from_its_producer_to_its_last_reader)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "o1", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "o2", "double", "x", "a", "");
    ln_test_op(&m, "o3", "double", "a", "b", "");
    ln_test_op(&m, "o4", "double", "b", "c", "");
    ln_test_op(&m, "o5", "watch", "a", "", "");
    ln_context *ctx = end_model(&m);
    check_life(ctx, "x", 0, 6);
    check_life(ctx, "a", 2, 5);
    check_life(ctx, "b", 3, 4);
    check_life(ctx, "c", 4, 6); // an output
    size_t bound;
    ck_assert_int_eq(ln_lifetime_bound(ctx, &life, LN_MEM_CPU, &bound), 0);
    ck_assert_uint_eq(bound, 4 * 16); // at 4: x, a, b, c
    end_test(ctx);
}
END_TEST

START_TEST(an_output_reuses_an_input_at_its_last_use)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "o1", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "o2", "add1", "x", "a", "");  // not over an input of the model
    ln_test_op(&m, "o3", "add1", "a", "b", "");  // not: a is read later
    ln_test_op(&m, "o4", "add", "a b", "c", ""); // over a, the first that may
    ln_test_op(&m, "o5", "add1", "c", "d", "");
    ln_test_op(&m, "o6", "add", "d d", "e", ""); // not: reads it twice
    ln_context *ctx = end_model(&m);
    ck_assert_ptr_ne(block_of(ctx, "a"), block_of(ctx, "x"));
    ck_assert_ptr_ne(block_of(ctx, "b"), block_of(ctx, "a"));
    ck_assert_ptr_eq(block_of(ctx, "c"), block_of(ctx, "a"));
    ck_assert_ptr_eq(block_of(ctx, "d"), block_of(ctx, "a"));
    ck_assert_ptr_ne(block_of(ctx, "e"), block_of(ctx, "d"));
    check_life(ctx, "d", 2, 6);
    check_life(ctx, "b", 3, 4);
    end_test(ctx);
}
END_TEST

// A byte for each element of an input that is read once for each row: both take 20 bytes, but the
// first four results would overwrite an element that is still read.
START_TEST(an_output_reuses_no_input_whose_elements_have_another_size)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\", \"z\"],");
    ln_test_op(&m, "o1", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "o2", "create_test", "", "z", "len 5 value 1");
    ln_test_op(&m, "o3", "double", "z", "a", "");
    ln_test_op(&m, "o4", "above", "x a", "y", "");
    ln_test_op(&m, "o5", "double", "z", "b", "");
    ln_test_op(&m, "o6", "above", "b x", "w", "");
    ln_context *ctx = end_model(&m);
    ck_assert_uint_eq(block_of(ctx, "y")->size, block_of(ctx, "a")->size);
    ck_assert_ptr_ne(block_of(ctx, "y"), block_of(ctx, "a"));
    ck_assert_ptr_ne(block_of(ctx, "w"), block_of(ctx, "b"));
    end_test(ctx);
}
END_TEST

START_TEST(an_output_reuses_one_variadic_input)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "o1", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "o2", "create_test", "", "none", "len 0 value 1");
    ln_test_op(&m, "o3", "double", "x", "a", "");
    ln_test_op(&m, "o4", "stack", "none a", "y", "");
    ln_context *ctx = end_model(&m);
    ck_assert_ptr_eq(block_of(ctx, "y"), block_of(ctx, "a"));
    end_test(ctx);
}
END_TEST

START_TEST(a_view_keeps_its_root_alive)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "o1", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "o2", "double", "x", "a", "");
    ln_test_op(&m, "o3", "view", "a", "v", "");
    ln_test_op(&m, "o4", "part", "v", "p", "from 2 len 2");
    ln_test_op(&m, "o5", "watch", "x", "", "");
    ln_test_op(&m, "o6", "add1", "p", "y", ""); // p is only a part of a
    ln_context *ctx = end_model(&m);
    ck_assert_ptr_eq(block_of(ctx, "p"), block_of(ctx, "a"));
    ck_assert_ptr_eq(block_of(ctx, "v"), block_of(ctx, "a"));
    check_life(ctx, "a", 2, 6);
    ck_assert_uint_eq(block_of(ctx, "p")->size, 16);
    ck_assert_ptr_ne(block_of(ctx, "y"), block_of(ctx, "a"));
    end_test(ctx);
}
END_TEST

START_TEST(a_view_of_a_whole_tensor_may_be_reused)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "o1", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "o2", "double", "x", "a", "");
    ln_test_op(&m, "o3", "view", "a", "v", "");
    ln_test_op(&m, "o4", "add1", "v", "y", "");
    ln_context *ctx = end_model(&m);
    ck_assert_ptr_eq(block_of(ctx, "y"), block_of(ctx, "a"));
    check_life(ctx, "y", 2, 5);
    end_test(ctx);
}
END_TEST

START_TEST(a_joined_result_is_alive_from_its_first_part_on)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "o1", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "o2", "double", "x", "a", "");
    ln_test_op(&m, "o3", "double", "x", "b", "");
    ln_test_op(&m, "o4", "join", "a b", "y", "");
    ln_test_op(&m, "o5", "double", "y", "z", "");
    ln_context *ctx = end_model(&m);
    ck_assert_ptr_eq(block_of(ctx, "a"), block_of(ctx, "y"));
    ck_assert_ptr_eq(block_of(ctx, "b"), block_of(ctx, "y"));
    ck_assert_uint_eq(block_of(ctx, "a")->size, 32);
    check_life(ctx, "y", 2, 5);
    end_test(ctx);
}
END_TEST

START_TEST(operators_at_load_share_scratch_memory_others_do_not)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "o1", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "o2", "create_test", "", "w", "len 4 value 1");
    ln_test_op(&m, "o3", "work", "w", "w2", "scratch 100");
    ln_test_op(&m, "o4", "work", "w2", "w3", "scratch 300");
    ln_test_op(&m, "o5", "work", "x", "y", "scratch 50");
    ln_context *ctx = end_model(&m);
    const ln_block *shared = &life.blocks[life.load_scratch[LN_MEM_CPU] - 1];
    ck_assert_uint_eq(shared->size, 300);
    ck_assert_int_eq(shared->first, life.begin);
    ck_assert_int_eq(shared->last, 0);
    int n = 0;
    for (size_t i = 0; i < life.n; i++)
        n += life.blocks[i].scratch != NULL;
    ck_assert_int_eq(n, 2);
    check_life(ctx, "w3", life.begin, 6);
    size_t bound;
    ck_assert_int_eq(ln_lifetime_bound(ctx, &life, LN_MEM_CPU, &bound), 0);
    ck_assert_uint_eq(bound, 4 * 16 + 300); // at load: x, w, w2, w3 and the scratch memory
    end_test(ctx);
}
END_TEST

START_TEST(runs_reuse_the_memory_of_tensors_read_only_at_load)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "o1", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "o2", "create_test", "", "w", "len 4 value 1");
    ln_test_op(&m, "o3", "double", "w", "w2", "");
    ln_test_op(&m, "o4", "double", "x", "x2", "");
    ln_test_op(&m, "o5", "double", "w2", "w3", "");
    ln_test_op(&m, "o6", "add", "x2 w3", "y", "");
    ln_context *ctx = end_model(&m);
    check_life(ctx, "w", life.begin, 7); // may be set at any time
    check_life(ctx, "w2", -4, -2);
    check_life(ctx, "w3", life.begin, 7); // read in runs
    ck_assert_int_eq(ln_tensor_table_find(ctx->tensor_table, "w2")->isload, 1);
    ck_assert_int_eq(ln_tensor_table_find(ctx->tensor_table, "w3")->isload, 0);
    end_test(ctx);
}
END_TEST

START_TEST(kept_tensors_are_always_alive)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "o1", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "o2", "add1", "x", "a", "");
    ln_test_op(&m, "o3", "add1", "a", "b", "");
    ln_context *ctx = ln_test_end(&m);
    ln_context_keep_all(ctx);
    ck_assert_int_eq(ln_lifetime_find(ctx, &life), 0);
    check_life(ctx, "a", 0, 4);
    ck_assert_ptr_ne(block_of(ctx, "a"), block_of(ctx, "b"));
    end_test(ctx);
}
END_TEST

static ln_block box(const char *name, int first, int last, size_t offset, size_t size, int part_of)
{
    return (ln_block){.name = name,
                      .mtype = LN_MEM_CPU,
                      .size = size,
                      .offset = offset,
                      .first = first,
                      .last = last,
                      .part_of = part_of};
}

static void check_boxes(ln_block *blocks, size_t n, const char *reason)
{
    ln_context *ctx = ln_context_create();
    const ln_lifetime boxes = {.blocks = blocks, .n = n, .end = 10};
    const int status = ln_lifetime_check(ctx, &boxes);
    ck_assert_str_eq(ln_context_error(ctx), reason);
    ck_assert_int_eq(status, *reason ? -1 : 0);
    ln_context_free(ctx);
}

START_TEST(the_check_finds_blocks_that_overlap)
{
    ln_block apart[] = {box("a", 1, 3, 64, 64, 0), box("b", 2, 4, 128, 64, 1),
                        box("c", 4, 6, 64, 64, 2), box("d", 5, 6, 128, 1000, 3)};
    check_boxes(apart, 4, "");
    ln_block above[] = {box("a", 1, 3, 64, 65, 0), box("b", 2, 4, 128, 64, 1)};
    check_boxes(above, 2, "the memory plan lets 'a' and 'b' share memory while both are in use");
    ln_block below[] = {box("a", 1, 3, 128, 64, 0), box("b", 2, 4, 64, 65, 1)};
    check_boxes(below, 2, "the memory plan lets 'a' and 'b' share memory while both are in use");
    ln_block late[] = {box("a", 1, 3, 64, 64, 0), box("b", 3, 4, 64, 64, 1)};
    check_boxes(late, 2, "the memory plan lets 'a' and 'b' share memory while both are in use");
    ln_block inside[] = {box("a", 1, 9, 64, 640, 0), box("x", 1, 2, 1000, 8, 1),
                         box("b", 4, 5, 128, 8, 2)};
    check_boxes(inside, 3, "the memory plan lets 'a' and 'b' share memory while both are in use");
    ln_block taken[] = {box("a", 1, 9, 64, 64, 0), box("b", 4, 5, 128, 64, 0)};
    check_boxes(taken, 2, "the memory plan has 'b' at offset 128, expected that of 'a', 64");
}
END_TEST

LN_TEST_MAIN("lifetime", a_tensor_lives_from_its_producer_to_its_last_reader,
             an_output_reuses_an_input_at_its_last_use,
             an_output_reuses_no_input_whose_elements_have_another_size,
             an_output_reuses_one_variadic_input, a_view_keeps_its_root_alive,
             a_view_of_a_whole_tensor_may_be_reused,
             a_joined_result_is_alive_from_its_first_part_on,
             operators_at_load_share_scratch_memory_others_do_not,
             runs_reuse_the_memory_of_tensors_read_only_at_load, kept_tensors_are_always_alive,
             the_check_finds_blocks_that_overlap)
