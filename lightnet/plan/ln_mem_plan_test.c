// SPDX-License-Identifier: Apache-2.0
// Tests of the memory planner: offsets that can be verified by hand, and how close to the lower
// bound it comes on networks of several kinds.

#include "ln_check.h"
#include "ln_test_ops.h"
#include "plan/ln_plan.h"

enum { UNIT = 64 };

static ln_test_model m;

static void begin_model(const char *len)
{
    char params[32];
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    snprintf(params, sizeof(params), "len %s value 1", len);
    ln_test_op(&m, "ox", "create_test", "", "x", params);
}

static ln_context *end_model(void)
{
    ln_context *ctx = ln_test_end(&m);
    ck_assert_str_eq(ln_context_error(ctx), "");
    return ctx;
}

static void plan(ln_context *ctx)
{
    ck_assert_msg(ln_plan_memory(ctx) == 0, "%s", ln_context_error(ctx));
}

static size_t offset_of(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tname);
    ck_assert_ptr_nonnull(te);
    return te->offset;
}

START_TEST(static_tensors_are_at_the_bottom_others_share_memory)
{
    begin_model("16");
    ln_test_op(&m, "oa", "double", "x", "a", "");
    ln_test_op(&m, "ob", "double", "a", "b", "");
    ln_test_op(&m, "oc", "double", "b", "c", "");
    ln_context *ctx = end_model();
    plan(ctx);
    ck_assert_uint_eq(offset_of(ctx, "x"), UNIT);
    ck_assert_uint_eq(offset_of(ctx, "b"), 3 * UNIT); // c lives longest and lies lowest, or b
    ck_assert_uint_eq(offset_of(ctx, "a"), 2 * UNIT);
    ck_assert_uint_eq(offset_of(ctx, "c"), 2 * UNIT);
    ck_assert_uint_eq(ctx->mem_sizes[LN_MEM_CPU], 4 * UNIT);
    ln_context_free(ctx);
}
END_TEST

START_TEST(an_inplace_chain_needs_one_block)
{
    begin_model("16");
    ln_test_op(&m, "oa", "add1", "x", "a", "");
    ln_test_op(&m, "ob", "add1", "a", "b", "");
    ln_test_op(&m, "oc", "add1", "b", "c", "");
    ln_context *ctx = end_model();
    plan(ctx);
    ck_assert_uint_eq(offset_of(ctx, "a"), 2 * UNIT);
    ck_assert_uint_eq(offset_of(ctx, "b"), 2 * UNIT);
    ck_assert_uint_eq(offset_of(ctx, "c"), 2 * UNIT);
    ck_assert_uint_eq(ctx->mem_sizes[LN_MEM_CPU], 3 * UNIT);
    ln_context_free(ctx);
}
END_TEST

START_TEST(views_are_within_their_owners)
{
    begin_model("16");
    ln_test_op(&m, "oa", "double", "x", "a", "");
    ln_test_op(&m, "ov", "part", "a", "v", "from 4 len 8");
    ln_test_op(&m, "ow", "part", "v", "w", "from 2 len 2");
    ln_test_op(&m, "oy", "double", "w", "y", "");
    ln_context *ctx = end_model();
    plan(ctx);
    ck_assert_uint_eq(offset_of(ctx, "v"), offset_of(ctx, "a") + 4 * sizeof(float));
    ck_assert_uint_eq(offset_of(ctx, "w"), offset_of(ctx, "a") + 6 * sizeof(float));
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_view_outside_its_owner_is_an_error)
{
    static const struct {
        const char *part, *at;
    } outside[] = {{"from -16 len 8", "offset 64"}, {"from -4 len 4", "offset 112"}};
    for (size_t i = 0; i < sizeof(outside) / sizeof(*outside); i++) {
        begin_model("16");
        ln_test_op(&m, "oa", "double", "x", "a", "");
        ln_test_op(&m, "ov", "part", "a", "v", outside[i].part);
        ln_test_op(&m, "oy", "double", "v", "y", "");
        ln_context *ctx = end_model();
        plan(ctx);
        ck_assert_int_eq(ln_context_check_plan(ctx), -1);
        const char *const reason = ln_context_error(ctx);
        ck_assert_msg(strstr(reason, outside[i].at) != NULL, "%s", reason);
        ck_assert_msg(strstr(reason, "outside its owner 'a' of 64 bytes at offset 128") != NULL,
                      "%s", reason);
        ln_context_free(ctx);
    }
}
END_TEST

START_TEST(joined_tensors_are_adjacent_in_the_result)
{
    begin_model("4");
    ln_test_op(&m, "oa", "double", "x", "a", "");
    ln_test_op(&m, "ob", "double", "x", "b", "");
    ln_test_op(&m, "oc", "double", "x", "c", "");
    ln_test_op(&m, "oi", "join", "b c", "i", "");
    ln_test_op(&m, "oq", "double", "i", "q", "");
    ln_test_op(&m, "oy", "join", "a q", "y", "");
    ln_context *ctx = end_model();
    plan(ctx);
    ck_assert_uint_eq(offset_of(ctx, "c"), offset_of(ctx, "b") + 16);
    ck_assert_uint_eq(offset_of(ctx, "i"), offset_of(ctx, "b"));
    ck_assert_uint_eq(offset_of(ctx, "a"), offset_of(ctx, "y"));
    ck_assert_uint_eq(offset_of(ctx, "q"), offset_of(ctx, "y") + 16);
    ln_context_free(ctx);
}
END_TEST

START_TEST(scratch_memory_does_not_overlap_live_tensors)
{
    begin_model("16");
    ln_test_op(&m, "oa", "work", "x", "a", "scratch 64");
    ln_test_op(&m, "ob", "work", "a", "b", "scratch 64");
    ln_context *ctx = end_model();
    plan(ctx);
    ck_assert_uint_eq(ctx->mem_sizes[LN_MEM_CPU], 5 * UNIT); // x, a, b, and scratch beside them
    const ln_op *op = ln_op_table_find(ctx->op_table, "ob");
    ck_assert_uint_ge(op->op_arg->scratch_offset, 2 * UNIT);
    ck_assert_uint_ne(op->op_arg->scratch_offset, offset_of(ctx, "a"));
    ck_assert_uint_ne(op->op_arg->scratch_offset, offset_of(ctx, "b"));
    ln_context_free(ctx);
}
END_TEST

START_TEST(kept_tensors_do_not_share_memory)
{
    begin_model("16");
    ln_test_op(&m, "oa", "add1", "x", "a", "");
    ln_test_op(&m, "ob", "add1", "a", "b", "");
    ln_context *ctx = end_model();
    ln_context_keep_all(ctx);
    plan(ctx);
    ck_assert_uint_eq(ctx->mem_sizes[LN_MEM_CPU], 4 * UNIT);
    ln_context_free(ctx);
}
END_TEST

START_TEST(lists_and_table_have_the_same_offsets)
{
    begin_model("16");
    ln_test_op(&m, "oa", "double", "x", "a", "");
    ln_context *ctx = end_model();
    plan(ctx);
    const ln_op *op = ctx->last->data;
    ck_assert_uint_eq(((ln_tensor_list_entry *)op->op_arg->tensors_in->data)->offset, UNIT);
    ck_assert_uint_eq(((ln_tensor_list_entry *)op->op_arg->tensors_out->data)->offset, 2 * UNIT);
    ck_assert_int_eq(ln_context_rebind(ctx), 0);
    ck_assert_uint_eq(offset_of(ctx, "a"), 2 * UNIT);
    ln_context_free(ctx);
}
END_TEST

// How close to the bound: networks as the planner sees them, tensors with sizes and times.

typedef struct network {
    ln_block blocks[4096];
    size_t n;
    int end;
} network;

// A tensor produced at `first` and last read at `last`.
static void tensor(network *net, int first, int last, size_t units)
{
    net->blocks[net->n] =
        (ln_block){.mtype = LN_MEM_CPU, .size = units * UNIT, .first = first, .last = last};
    net->n++;
    if (last > net->end)
        net->end = last;
}

static size_t random_units(unsigned *seed)
{
    static const size_t channels[] = {16, 24, 32, 48, 64, 96, 128, 192, 256};
    return channels[ln_test_random(seed, 9)] * (1 + ln_test_random(seed, 49));
}

static void make_chain(network *net, unsigned *seed)
{
    for (int t = 1; t < 200; t++)
        tensor(net, t, t + 1, random_units(seed));
}

// Blocks of four branches, each of one to three convolutions, joined into a new tensor.
static void make_inception(network *net, unsigned *seed)
{
    int t = 1;
    for (int block = 0; block < 20; block++) {
        const int begin = t;
        int ends[4], end = t + 1;
        for (int b = 0; b < 4; b++) {
            const int depth = 1 + (int)ln_test_random(seed, 3);
            for (int k = 0; k < depth - 1; k++)
                tensor(net, end + k, end + k + 1, random_units(seed));
            end += depth;
            ends[b] = end - 1;
        }
        for (int b = 0; b < 4; b++)
            tensor(net, ends[b], end, random_units(seed));
        tensor(net, begin, end - 1, random_units(seed)); // what the branches read
        t = end;
    }
}

// Two convolutions beside a shortcut.
static void make_resnet(network *net, unsigned *seed)
{
    int t = 1;
    for (int block = 0; block < 50; block++, t += 3) {
        tensor(net, t, t + 3, random_units(seed));
        tensor(net, t + 1, t + 2, random_units(seed));
        tensor(net, t + 2, t + 3, random_units(seed));
    }
}

// Every layer of a block is read by all that follow in it.
static void make_densenet(network *net, unsigned *seed)
{
    int t = 1;
    for (int block = 0; block < 6; block++) {
        const int layers = 6 + (int)ln_test_random(seed, 20), end = t + 2 * layers;
        for (int k = 0; k < layers; k++, t += 2) {
            tensor(net, t, end, random_units(seed));
            tensor(net, t + 1, t + 2, random_units(seed));
        }
    }
}

// Any tensor may live on for a while, as in networks with long skips.
static void make_random(network *net, unsigned *seed)
{
    for (int t = 1; t < 300; t++) {
        const int far = ln_test_random(seed, 8) == 0;
        tensor(net, t, t + 1 + (int)ln_test_random(seed, far ? 60 : 4), random_units(seed));
    }
}

static const struct {
    const char *name;
    void (*make)(network *net, unsigned *seed);
} kinds[] = {{"chain", make_chain},
             {"inception", make_inception},
             {"resnet", make_resnet},
             {"densenet", make_densenet},
             {"random", make_random}};

static double ratio_of(network *net)
{
    ln_context *ctx = ln_context_create();
    ln_lifetime life = {.blocks = net->blocks, .n = net->n, .end = net->end + 1};
    size_t bound;
    for (size_t i = 0; i < net->n; i++)
        net->blocks[i].part_of = (int)i;
    ck_assert_int_eq(ln_lifetime_bound(ctx, &life, LN_MEM_CPU, &bound), 0);
    ck_assert_int_eq(ln_mem_blocks_place(ctx, &life), 0);
    ck_assert_msg(ln_lifetime_check(ctx, &life) == 0, "%s", ln_context_error(ctx));
    const double ratio = (double)(ctx->mem_sizes[LN_MEM_CPU] - UNIT) / (double)bound;
    ln_context_free(ctx);
    return ratio;
}

START_TEST(plans_are_close_to_the_lower_bound)
{
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        double sum = 0, worst = 0;
        for (unsigned i = 1; i <= 20; i++) {
            static network net;
            unsigned seed = i * 7919;
            net = (network){.n = 0};
            kinds[k].make(&net, &seed);
            const double ratio = ratio_of(&net);
            sum += ratio;
            worst = ratio > worst ? ratio : worst;
        }
        fprintf(stderr, "%s: %.4f times the bound on average, %.4f at worst\n", kinds[k].name,
                sum / 20, worst);
        ck_assert_double_ge(worst, 1);
        ck_assert_double_le(worst, 1.05);
    }
}
END_TEST

START_TEST(a_pool_places_very_many_neighbours)
{
    static network net;
    for (int t = 1; t < 4000; t++)
        tensor(&net, t, t + 2000, 1);
    ck_assert_double_lt(ratio_of(&net), 1.001);
}
END_TEST

LN_TEST_MAIN("memory planner", static_tensors_are_at_the_bottom_others_share_memory,
             an_inplace_chain_needs_one_block, views_are_within_their_owners,
             a_view_outside_its_owner_is_an_error, joined_tensors_are_adjacent_in_the_result,
             scratch_memory_does_not_overlap_live_tensors, kept_tensors_do_not_share_memory,
             lists_and_table_have_the_same_offsets, plans_are_close_to_the_lower_bound,
             a_pool_places_very_many_neighbours)
