// SPDX-License-Identifier: Apache-2.0
// Tests of decision trees.

#include <stdlib.h>

#include "kernel/tl_nn_test.h"
#include "kernel/tree/tree.h"

// A forest under construction: at most this many nodes, votes and trees.
enum { MAX_NODES = 4096, MAX_TREES = 64 };

typedef struct forest {
    nn_room room;
    int n, n_votes, n_leaves, n_trees;
    double split[MAX_NODES], weight[MAX_NODES];
    int32_t feature[MAX_NODES], child[2 * MAX_NODES], target[MAX_NODES], start[MAX_NODES + 1];
    int32_t root[MAX_TREES];
    tl_trees trees;
} forest;

static unsigned draw(uint64_t *seed, unsigned below)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(*seed >> 33) % below;
}

static int add_leaf(forest *f, int n_votes, const int *targets, const double *weights)
{
    f->feature[f->n] = -1;
    f->child[2 * f->n] = f->n_leaves;
    for (int k = 0; k < n_votes; k++, f->n_votes++) {
        f->target[f->n_votes] = targets[k];
        f->weight[f->n_votes] = weights[k];
    }
    f->start[++f->n_leaves] = f->n_votes;
    return f->n++;
}

static int add_branch(forest *f, int feature, double split)
{
    f->feature[f->n] = feature;
    f->split[f->n] = split;
    return f->n++;
}

static void join_nodes(forest *f, int branch, int yes, int no)
{
    f->child[2 * branch] = yes;
    f->child[2 * branch + 1] = no;
}

static tl_tensor *ints(forest *f, int len, const int32_t *values)
{
    tl_tensor *const t = nn_blank(&f->room, TL_INT32, 1, &len);
    memcpy(t->data, values, (size_t)len * sizeof(*values));
    return t;
}

// The tensors of the forest; simple: each leaf has one vote, for target 0.
static void finish(forest *f, tl_dtype dtype, int is_simple)
{
    tl_tensor *const child = ints(f, 2 * f->n, f->child);
    f->trees = (tl_trees){
        .split = nn_given(&f->room, dtype, 1, &f->n, f->split),
        .feature = ints(f, f->n, f->feature),
        .child = child,
        .root = ints(f, f->n_trees, f->root),
        .votes = {.weight = nn_given(&f->room, dtype, 1, &f->n_votes, f->weight),
                  .target = is_simple ? NULL : ints(f, f->n_votes, f->target),
                  .start = is_simple ? NULL : ints(f, f->n_leaves + 1, f->start)},
    };
}

// The packed trees, in the room of the forest.
static tl_tensor *pack(forest *f, int features)
{
    const int size = (int)tl_trees_packed(&f->trees, features);
    const size_t scratch = tl_trees_pack_scratch(&f->trees, features);
    const tl_exec exec = {.scratch = malloc(scratch), .scratch_size = scratch};
    tl_tensor *const packed = nn_blank(&f->room, TL_UINT8, 1, &size);
    ck_assert_msg(tl_exec_trees_pack(&exec, &f->trees, features, packed) == 0, "%s",
                  tl_last_error());
    free(exec.scratch);
    ck_assert_msg(tl_trees_check(packed, f->trees.split->dtype, features, &f->trees.votes, 9) == 0,
                  "%s", tl_last_error());
    return packed;
}

// Both computations, in fresh scratch memory.
static void run_packed(tl_exec exec, const forest *f, const tl_tensor *src, const tl_tensor *packed,
                       const tl_tensor *base, tl_tensor *dst, tl_tree_aggregate aggregate)
{
    ln_guard guard = {0};
    exec.scratch_size = tl_trees_scratch(src, packed, tl_pool_size(exec.pool));
    exec.scratch = ln_guard_alloc(&guard, (exec.scratch_size + 63) / 64 * 64);
    ck_assert_msg(tl_exec_trees_packed(&exec, src, packed, &f->trees.votes, base, dst, aggregate) ==
                      0,
                  "%s", tl_last_error());
    ck_assert(ln_guard_is_intact(&guard));
    ln_guard_free(&guard);
}

static void close_forest(forest *f)
{
    nn_close(&f->room);
    free(f);
}

START_TEST(a_branch_takes_nan_to_its_second_child)
{
    // x0 <= 2 ? 10 : (-x1 <= -3 ? 20 : 30), the votes of two targets
    for (tl_dtype dtype = TL_DOUBLE; dtype <= TL_FLOAT; dtype++) {
        forest *const f = calloc(1, sizeof(*f));
        const int a = add_branch(f, 0, 2), b = add_branch(f, 3, -3);
        join_nodes(f, a, add_leaf(f, 1, (int[]){0}, (double[]){10}), b);
        join_nodes(f, b, add_leaf(f, 1, (int[]){1}, (double[]){20}),
                   add_leaf(f, 2, (int[]){1, 0}, (double[]){30, 5}));
        f->n_trees = 1;
        finish(f, dtype, 0);
        tl_tensor *const src =
            nn_given(&f->room, dtype, 2, (int[]){5, 2},
                     (double[]){2, 0, 2.5, 3, 2.5, 2.75, (double)NAN, 4, INFINITY, (double)NAN});
        tl_tensor *const base = nn_given(&f->room, dtype, 1, (int[]){2}, (double[]){0.5, 0.25});
        tl_tensor *const dst = nn_blank(&f->room, dtype, 2, (int[]){5, 2});
        const double expected[] = {10.5, 0.25, 0.5, 20.25, 5.5, 30.25, 0.5, 20.25, 5.5, 30.25};
        ck_assert_int_eq(tl_exec_trees(NULL, src, &f->trees, base, dst, TL_TREE_SUM), 0);
        nn_check_values(dst, expected);
        tl_tensor *const packed = pack(f, 2);
        NN_EACH_ISA(exec)
        {
            memset(dst->data, 0xa5, tl_tensor_size(dst));
            run_packed(exec, f, src, packed, base, dst, TL_TREE_SUM);
            nn_check_values(dst, expected);
        }
        close_forest(f);
    }
}
END_TEST

START_TEST(votes_are_aggregated_before_the_base_is_added)
{
    // Three trees of one leaf: 4, 1, 7 for target 0; 1, -2 for target 1; none for target 2.
    static const double expected[TL_TREE_SIZE][3] = {
        [TL_TREE_SUM] = {12.5, -1, 3},
        [TL_TREE_AVERAGE] = {4.5, -1.0 / 3, 3},
        [TL_TREE_MIN] = {1.5, -2, 3},
        [TL_TREE_MAX] = {7.5, 1, 3},
    };
    for (tl_tree_aggregate how = TL_TREE_SUM; how < TL_TREE_SIZE; how++) {
        forest *const f = calloc(1, sizeof(*f));
        f->root[0] = add_leaf(f, 1, (int[]){0}, (double[]){4});
        f->root[1] = add_leaf(f, 2, (int[]){0, 1}, (double[]){1, 1});
        f->root[2] = add_leaf(f, 2, (int[]){1, 0}, (double[]){-2, 7});
        f->n_trees = 3;
        finish(f, TL_DOUBLE, 0);
        tl_tensor *const src = nn_blank(&f->room, TL_DOUBLE, 2, (int[]){1, 0});
        tl_tensor *const base = nn_given(&f->room, TL_DOUBLE, 1, (int[]){3}, (double[]){0.5, 0, 3});
        tl_tensor *const dst = nn_blank(&f->room, TL_DOUBLE, 2, (int[]){1, 3});
        ck_assert_int_eq(tl_exec_trees(NULL, src, &f->trees, base, dst, how), 0);
        nn_check_values(dst, expected[how]);
        memset(dst->data, 0xa5, tl_tensor_size(dst));
        run_packed((tl_exec){.isa = tl_isa_best()}, f, src, pack(f, 0), base, dst, how);
        nn_check_values(dst, expected[how]);
        ck_assert_int_eq(tl_tree_aggregate_from_str(tl_tree_aggregate_name(how)), (int)how);
        close_forest(f);
    }
}
END_TEST

// Random trees

// A random tree of this depth, one-sided if `is_chain`; its branches may share children.
static int grow(forest *f, int depth, int features, int targets, int is_chain, int is_simple)
{
    uint64_t *const seed = &f->room.seed;
    if (depth == 0 || (!is_chain && draw(seed, 8) == 0)) {
        const int n = is_simple ? 1 : (int)draw(seed, 4);
        const int to[] = {(int)draw(seed, (unsigned)targets), (int)draw(seed, (unsigned)targets),
                          (int)draw(seed, (unsigned)targets)};
        const double weights[] = {draw(seed, 2001) / 64.0 - 16, draw(seed, 9), draw(seed, 999)};
        return add_leaf(f, n, is_simple ? (int[]){0} : to, weights);
    }
    const int branch =
        add_branch(f, (int)draw(seed, 2 * (unsigned)features), draw(seed, 17) / 4.0 - 2);
    const int yes = grow(f, depth - 1, features, targets, is_chain, is_simple);
    const int no = is_chain        ? grow(f, 0, features, targets, 0, is_simple)
                   : draw(seed, 9) ? grow(f, depth - 1, features, targets, 0, is_simple)
                                   : yes;
    join_nodes(f, branch, draw(seed, 2) ? yes : no, yes);
    f->child[2 * branch + 1] = f->child[2 * branch] == yes ? no : yes;
    return branch;
}

// The result by the definition, from the arrays of the forest.
static double naive(const forest *f, const tl_tensor *src, int row, int target,
                    tl_tree_aggregate how, const tl_tensor *base)
{
    const int features = src->dims[1];
    double sum = 0, best = NAN;
    for (int t = 0; t < f->n_trees; t++) {
        int node = f->root[t];
        while (f->feature[node] >= 0) {
            const int k = f->feature[node] % features;
            const double x = nn_at(src, (size_t)row * (size_t)features + (size_t)k);
            const int yes = (f->feature[node] < features ? x : -x) <= f->split[node];
            node = f->child[2 * node + !yes];
        }
        const int leaf = f->child[2 * node];
        for (int k = f->start[leaf]; k < f->start[leaf + 1]; k++)
            if (f->target[k] == target) {
                sum += f->weight[k];
                best = how == TL_TREE_MAX ? fmax(best, f->weight[k]) : fmin(best, f->weight[k]);
            }
    }
    const double result = how == TL_TREE_SUM       ? sum
                          : how == TL_TREE_AVERAGE ? sum / f->n_trees
                          : isnan(best)            ? 0
                                                   : best;
    return result + (base ? nn_at(base, (size_t)target) : 0);
}

// Numbers between and on the splits, infinities, NaN, zeros of both signs.
static tl_tensor *random_rows(forest *f, tl_dtype dtype, int rows, int features)
{
    static const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 0, 0x1p-149, -0x1p-149};
    tl_tensor *const src = nn_random(&f->room, dtype, 2, (int[]){rows, features}, -3, 3);
    for (int i = 0; i < src->len; i++) {
        const unsigned k = draw(&f->room.seed, 40);
        const double x = k < NN_LEN(special) ? special[k] : (double)k / 4 - 5;
        if (k < 30)
            tl_convert(tl_pointer_add(src->data, i, dtype), dtype, &x, TL_DOUBLE);
    }
    return src;
}

typedef struct kind {
    int n_trees, depth, features, targets, is_chain, is_simple;
} kind;

static void check_forest(const kind *k, tl_dtype dtype, int rows, tl_pool *pool)
{
    forest *const f = calloc(1, sizeof(*f));
    f->room.seed = (uint64_t)(rows * 31 + k->depth);
    for (; f->n_trees < k->n_trees; f->n_trees++)
        f->root[f->n_trees] = grow(f, k->depth, k->features, k->targets, k->is_chain, k->is_simple);
    ck_assert_int_lt(f->n, MAX_NODES);
    finish(f, dtype, k->is_simple);
    const int dims[] = {rows, k->targets};
    const tl_tree_aggregate how = (tl_tree_aggregate)(rows % TL_TREE_SIZE);
    tl_tensor *const src = random_rows(f, dtype, rows, k->features);
    tl_tensor *const base = rows % 3 ? nn_random(&f->room, dtype, 1, &k->targets, -1, 1) : NULL;
    tl_tensor *const direct = nn_blank(&f->room, dtype, 2, dims);
    tl_tensor *const dst = nn_blank(&f->room, dtype, 2, dims);
    ck_assert_msg(tl_exec_trees(NULL, src, &f->trees, base, direct, how) == 0, "%s",
                  tl_last_error());
    for (int i = 0; i < direct->len; i++)
        // At most three votes of up to 999 for each tree, and the base.
        nn_check_near(direct, (size_t)i, naive(f, src, i / k->targets, i % k->targets, how, base),
                      nn_tolerance(dtype, 3 * k->n_trees + 2, 1e3 * k->n_trees, 0));
    const tl_tensor *const packed = pack(f, k->features);
    NN_EACH_ISA(exec)
    {
        for (int threads = 0; threads < 2; threads++) {
            exec.pool = threads ? pool : NULL;
            memset(dst->data, 0xa5, tl_tensor_size(dst));
            run_packed(exec, f, src, packed, base, dst, how);
            ck_assert_msg(memcmp(dst->data, direct->data, tl_tensor_size(dst)) == 0,
                          "%s, %s, %d rows, %d trees of depth %d: other bits than the direct walk",
                          tl_isa_name(exec.isa), tl_dtype_name(dtype), rows, k->n_trees, k->depth);
        }
    }
    close_forest(f);
}

START_TEST(packed_trees_give_the_bits_of_the_direct_walk)
{
    static const kind kinds[] = {
        {1, 0, 1, 1, 0, 1},   {3, 1, 2, 1, 0, 1},  {20, 4, 5, 1, 0, 1},
        {30, 5, 3, 3, 0, 0},  {9, 8, 70, 4, 0, 0}, {5, 300, 4, 1, 1, 1},
        {17, 7, 20, 1, 0, 1}, {8, 3, 1, 2, 0, 0},  {40, 6, 9, 2, 0, 0},
    };
    static const int rows[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 131, 601};
    tl_pool *const pool = tl_pool_create(3);
    for (size_t k = 0; k < NN_LEN(kinds); k++)
        for (size_t r = 0; r < NN_LEN(rows); r++)
            for (tl_dtype dtype = TL_DOUBLE; dtype <= TL_FLOAT; dtype++)
                check_forest(&kinds[k], dtype, rows[r], pool);
    tl_pool_free(pool);
}
END_TEST

START_TEST(columns_are_the_features_that_branches_compare)
{
    forest *const f = calloc(1, sizeof(*f));
    const int a = add_branch(f, 5000, 0), b = add_branch(f, 7, 0);
    const int leaf = add_leaf(f, 1, (int[]){0}, (double[]){1});
    join_nodes(f, a, b, leaf);
    join_nodes(f, b, leaf, leaf);
    f->n_trees = 1;
    finish(f, TL_FLOAT, 1);
    const tl_tree_header *const header = pack(f, 4096)->data;
    ck_assert_int_eq((int)header->columns, 2);
    ck_assert_int_eq((int)header->is_simple, 1);
    close_forest(f);
}
END_TEST

// Bad trees

// A branch over two leaves.
static forest *stump(int is_simple)
{
    forest *const f = calloc(1, sizeof(*f));
    const int branch = add_branch(f, 0, 0);
    const int yes = add_leaf(f, 1, (int[]){0}, (double[]){1});
    join_nodes(f, branch, yes, add_leaf(f, 1, (int[]){0}, (double[]){2}));
    f->n_trees = 1;
    finish(f, TL_FLOAT, is_simple);
    return f;
}

START_TEST(bad_trees_are_rejected)
{
    enum { FEATURE, CHILD, ROOT, TARGET, START };
    static const struct {
        int tensor, i, value;
        const char *message;
    } rows[] = {
        {FEATURE, 0, 4, "node 0 has feature 4, expected less than twice the features, 2"},
        {CHILD, 0, -1, "node 0 has child -1, expected 0 to 2"},
        {CHILD, 1, 3, "node 0 has child 3, expected 0 to 2"},
        {CHILD, 2, 2, "node 1 is leaf 2, expected 0 to 1"},
        {CHILD, 4, -1, "node 2 is leaf -1, expected 0 to 1"},
        {ROOT, 0, 3, "the root of tree 0 is 3, expected 0 to 2"},
        {ROOT, 0, -1, "the root of tree 0 is -1, expected 0 to 2"},
        {TARGET, 1, -1, "the target of vote 1 is -1, expected 0 to 0"},
        {START, 1, 3, "leaf 1 has votes from 3 on, expected 0 to 2"},
        {START, 2, 0, "leaf 2 has votes from 0 on, expected 1 to 2"},
        {START, 0, -1, "leaf 0 has votes from -1 on, expected 0 to 2"},
        {CHILD, 0, 0, "the nodes have a cycle, expected trees"},
    };
    for (size_t i = 0; i < NN_LEN(rows); i++) {
        forest *const f = stump(0);
        const tl_tensor *const tensors[] = {f->trees.feature, f->trees.child, f->trees.root,
                                            f->trees.votes.target, f->trees.votes.start};
        ((int32_t *)tensors[rows[i].tensor]->data)[rows[i].i] = rows[i].value;
        tl_tensor *const src = nn_given(&f->room, TL_FLOAT, 2, (int[]){1, 2}, (double[]){-1, -1});
        tl_tensor *const dst = nn_blank(&f->room, TL_FLOAT, 2, (int[]){1, 1});
        const int size = (int)tl_trees_packed(&f->trees, 2);
        char scratch[256];
        const tl_exec exec = {.scratch = scratch, .scratch_size = sizeof(scratch)};
        tl_tensor *const packed = nn_blank(&f->room, TL_UINT8, 1, &size);
        ck_assert_int_eq(tl_exec_trees(NULL, src, &f->trees, NULL, dst, TL_TREE_SUM), -1);
        ck_assert_str_eq(tl_last_error(), rows[i].message);
        ck_assert_int_eq(tl_exec_trees_pack(&exec, &f->trees, 2, packed), -1);
        if (rows[i].tensor != TARGET) // packing does not know the number of targets
            ck_assert_str_eq(tl_last_error(), rows[i].message);
        close_forest(f);
    }
}
END_TEST

START_TEST(changed_bytes_of_packed_trees_stay_within_memory)
{
    tl_pool *const pool = tl_pool_create(2);
    int n_accepted = 0, n_rejected = 0;
    for (int round = 0; round < 600; round++) {
        forest *const f = calloc(1, sizeof(*f));
        f->room.seed = (uint64_t)round;
        const int is_simple = round % 2;
        for (; f->n_trees < 3; f->n_trees++)
            f->root[f->n_trees] = grow(f, 5, 3, 2, 0, is_simple);
        finish(f, TL_FLOAT, is_simple);
        tl_tensor *const packed = pack(f, 3);
        const int i = round < 100 ? round % 24 : (int)draw(&f->room.seed, (unsigned)packed->len);
        ((uint8_t *)packed->data)[i] ^= (uint8_t)(1U << draw(&f->room.seed, 8));
        tl_tensor *const src = random_rows(f, TL_FLOAT, round % 3 ? 70 : 3, 3);
        tl_tensor *const dst = nn_blank(&f->room, TL_FLOAT, 2, (int[]){src->dims[0], 2});
        if (tl_trees_check(packed, TL_FLOAT, 3, &f->trees.votes, 2) == 0) {
            run_packed((tl_exec){.isa = tl_isa_best(), .pool = pool}, f, src, packed, NULL, dst,
                       TL_TREE_SUM);
            n_accepted++;
        } else
            n_rejected++;
        close_forest(f);
    }
    ck_assert(n_accepted > 50 && n_rejected > 50);
    tl_pool_free(pool);
}
END_TEST

START_TEST(packed_trees_of_another_kind_are_rejected)
{
    forest *const f = stump(1);
    const tl_tensor *const packed = pack(f, 1);
    ck_assert_int_eq(tl_trees_check(packed, TL_DOUBLE, 1, &f->trees.votes, 1), -1);
    ck_assert_str_eq(tl_last_error(), "'packed' has an invalid header, expected packed trees");
    ck_assert_int_eq(tl_trees_check(packed, TL_FLOAT, 1, &f->trees.votes, 0), -1);
    ck_assert_str_eq(tl_last_error(), "0 targets, expected at least 1");
    const int less = packed->len - 16;
    tl_tensor *const cut = nn_blank(&f->room, TL_UINT8, 1, &less);
    memcpy(cut->data, packed->data, (size_t)less);
    ck_assert_int_eq(tl_trees_check(cut, TL_FLOAT, 1, &f->trees.votes, 1), -1);
    tl_tensor *const src = nn_given(&f->room, TL_FLOAT, 2, (int[]){1, 1}, (double[]){-1});
    tl_tensor *const dst = nn_blank(&f->room, TL_FLOAT, 2, (int[]){1, 1});
    ck_assert_int_eq(
        tl_exec_trees_packed(NULL, src, packed, &f->trees.votes, NULL, dst, TL_TREE_SUM), -1);
    ck_assert_ptr_nonnull(strstr(tl_last_error(), "to search trees"));
    close_forest(f);
}
END_TEST

LN_TEST_MAIN("tree", a_branch_takes_nan_to_its_second_child,
             votes_are_aggregated_before_the_base_is_added,
             packed_trees_give_the_bits_of_the_direct_walk,
             columns_are_the_features_that_branches_compare, bad_trees_are_rejected,
             changed_bytes_of_packed_trees_stay_within_memory,
             packed_trees_of_another_kind_are_rejected)
