// SPDX-License-Identifier: Apache-2.0
// Tests of kernels that are stopped: at each of their checks, they return soon and stay inside
// their memory. What they had to write is filled with large numbers before, and each tensor has
// separate memory, so that sanitizers detect a wrong step.

#include "ln_check.h"
#include "tensor/tl_stop.h"
#include "tensorlight/tensorlight.h"

enum { TENSORS = 12, THREADS = 3, GARBAGE = 0xa5 };

// The memory of one run.
typedef struct room {
    tl_exec exec;
    tl_tensor *tensors[TENSORS];
    int n;
    uint64_t seed;
} room;

static tl_tensor *wanted(room *r, tl_dtype dtype, int ndim, const int *dims)
{
    tl_tensor *const t = tl_tensor_zeros(ndim, dims, dtype);
    ck_assert(t && r->n < TENSORS);
    memset(t->data, GARBAGE, (size_t)t->len * tl_size_of(dtype));
    return r->tensors[r->n++] = t;
}

static tl_tensor *floats(room *r, int ndim, const int *dims)
{
    tl_tensor *const t = wanted(r, TL_FLOAT, ndim, dims);
    tl_tensor_fill_uniform(t, -1, 1, &r->seed);
    return t;
}

static tl_tensor *indices(room *r, tl_dtype dtype, int ndim, const int *dims, int below)
{
    tl_tensor *const t = wanted(r, dtype, ndim, dims);
    for (int i = 0; i < t->len; i++)
        if (dtype == TL_INT64)
            ((int64_t *)t->data)[i] = (i * 7 + 3) % below;
        else
            ((int32_t *)t->data)[i] = (i * 7 + 3) % below;
    return t;
}

static const tl_exec *with_scratch(room *r, size_t size)
{
    r->exec.scratch_size = size;
    r->exec.scratch = aligned_alloc(64, (size + 63) / 64 * 64);
    ck_assert_ptr_nonnull(r->exec.scratch);
    memset(r->exec.scratch, GARBAGE, size);
    return &r->exec;
}

#define DIMS(...)                                              \
    (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[]) \
    {                                                          \
        __VA_ARGS__                                            \
    }

// Kernels

static int put_along(room *r)
{
    return tl_exec_put_along(
        &r->exec, floats(r, DIMS(400, 30, 20)), indices(r, TL_INT64, DIMS(400, 5, 20), 30),
        floats(r, DIMS(400, 5, 20)), wanted(r, TL_FLOAT, DIMS(400, 30, 20)), 1, TL_PUT_SUM);
}

static int put_nd(room *r)
{
    return tl_exec_put_nd(&r->exec, floats(r, DIMS(30, 40, 200)),
                          indices(r, TL_INT64, DIMS(500, 2), 30), floats(r, DIMS(500, 200)),
                          wanted(r, TL_FLOAT, DIMS(30, 40, 200)), TL_PUT_MAX);
}

static int onehot(room *r)
{
    return tl_exec_onehot(&r->exec, indices(r, TL_INT64, DIMS(300000), 9), floats(r, DIMS(2)),
                          wanted(r, TL_FLOAT, DIMS(300000, 9)), 1);
}

static int concat(room *r)
{
    const tl_tensor *const srcs[] = {floats(r, DIMS(900, 30, 20)), floats(r, DIMS(900, 10, 20)),
                                     floats(r, DIMS(900, 40, 20))};
    return tl_exec_concat(&r->exec, srcs, 3, wanted(r, TL_FLOAT, DIMS(900, 80, 20)), 1);
}

static int resample_as(room *r, tl_resample_mode mode, tl_dtype dtype)
{
    tl_resample_param param = {.mode = mode, .cubic_a = -0.75};
    const int from[] = {2, 24, 24, 24}, to[] = {2, 50, 60, 60};
    for (int i = 0; i < 4; i++)
        param.axes[i] = (tl_resample_axis){0.5, from[i], to[i], -0.5, 1};
    tl_tensor *const src = wanted(r, dtype, 4, from), *const dst = wanted(r, dtype, 4, to);
    tl_tensor_fill_uniform(src, 0, 100, &r->seed);
    const tl_exec *const exec = with_scratch(r, tl_resample_scratch(src, to, &param) + 1);
    return tl_exec_resample(exec, src, dst, &param);
}

static int resample_cubic(room *r)
{
    return resample_as(r, TL_RESAMPLE_CUBIC, TL_FLOAT);
}

static int resample_bytes(room *r)
{
    return resample_as(r, TL_RESAMPLE_LINEAR, TL_UINT8);
}

static int recurrent_as(room *r, tl_cell cell, int gates)
{
    tl_recurrent_param param = {.cell = cell};
    for (int a = 0; a < TL_RECURRENT_ACTS; a++)
        param.acts[0][a] = param.acts[1][a] = (tl_recurrent_act){TL_UNARY_TANH, 0, 0};
    const int hidden = 40, rows = 3, steps = 20;
    const tl_recurrent_tensors t = {
        .src = floats(r, DIMS(2, steps, rows, gates * hidden)),
        .recurrence = floats(r, DIMS(2, gates, hidden, hidden)),
        .bias = floats(r, DIMS(2, 2 * gates * hidden)),
        .lens = indices(r, TL_INT32, DIMS(rows), steps),
        .dst = wanted(r, TL_FLOAT, DIMS(steps, 2, rows, hidden)),
        .last_h = wanted(r, TL_FLOAT, DIMS(2, rows, hidden)),
    };
    return tl_exec_recurrent(with_scratch(r, tl_recurrent_scratch(&t, cell, THREADS)), &t, &param);
}

static int lstm(room *r)
{
    return recurrent_as(r, TL_CELL_LSTM, 4);
}

static int gru(room *r)
{
    return recurrent_as(r, TL_CELL_GRU, 3);
}

static int packed_cells(room *r)
{
    const tl_recurrent_act gate = {TL_UNARY_SIGMOID, 0, 0}, candidate = {TL_UNARY_TANH, 0, 0};
    const tl_recurrent_param param = {.cell = TL_CELL_GRU, .acts = {{gate, candidate}}};
    const int hidden = 300, blocks = tl_cell_blocks(hidden), rows = 3, steps = 20;
    const tl_recurrent_tensors t = {
        .src = floats(r, DIMS(1, steps, rows, 3 * hidden)),
        .recurrence = floats(r, DIMS(1, blocks, hidden, 3, TL_CELL_BLOCK)),
        .lens = indices(r, TL_INT32, DIMS(rows), steps),
        .dst = wanted(r, TL_FLOAT, DIMS(steps, 1, rows, hidden)),
        .last_h = wanted(r, TL_FLOAT, DIMS(1, rows, hidden)),
    };
    return tl_exec_recurrent(with_scratch(r, tl_recurrent_scratch(&t, TL_CELL_GRU, THREADS)), &t,
                             &param);
}

static int matmul(room *r)
{
    static const tl_matmul_param param = {.alpha = 1};
    tl_tensor *const src1 = floats(r, DIMS(2, 130, 1500)), *const src2 = floats(r, DIMS(1500, 90));
    tl_tensor *const dst = wanted(r, TL_FLOAT, DIMS(2, 130, 90));
    const size_t size = tl_matmul_scratch(src1, src2, NULL, dst, &param, THREADS);
    return tl_exec_matmul(with_scratch(r, size), src1, src2, NULL, dst, &param);
}

static int lowbit_matmul(room *r)
{
    static const tl_lowbit_param param = {.bits = 4, .block = 32, .has_zeros = 1};
    tl_tensor *const src = floats(r, DIMS(300, 200)), *const dst =
                                                          wanted(r, TL_FLOAT, DIMS(300, 70));
    tl_tensor *const packed = wanted(r, TL_UINT8, DIMS((int)tl_lowbit_packed(200, 70, &param)));
    const size_t size = tl_lowbit_matmul_scratch(src, 70, &param, THREADS);
    return tl_exec_lowbit_matmul(with_scratch(r, size), src, packed, NULL, dst, &param);
}

static int attention(room *r)
{
    static const tl_attention_param param = {1, 1, 1, 1, 0.2, 0};
    tl_tensor *const q = floats(r, DIMS(2, 4, 100, 16)), *const k = floats(r, DIMS(2, 4, 90, 16));
    tl_tensor *const v = floats(r, DIMS(2, 4, 90, 16));
    const size_t size = tl_attention_scratch(q, k, v, &param, THREADS);
    return tl_exec_attention(with_scratch(r, size), q, k, v, NULL,
                             wanted(r, TL_FLOAT, DIMS(2, 4, 100, 16)), &param);
}

static int dft(room *r)
{
    static const tl_dft_param param = {.axis = 1, .len = 211};
    tl_tensor *const src = floats(r, DIMS(40, 211, 2));
    return tl_exec_dft(with_scratch(r, tl_dft_scratch(src, &param)), src,
                       wanted(r, TL_FLOAT, DIMS(40, 211, 2)), &param);
}

static const tl_conv2d_param same_3x3 = {
    .group = 1, .size = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .padding = {1, 1, 1, 1}};

static int winograd(room *r)
{
    enum { CHANNELS = 48, M = 4 };
    tl_tensor *const weight = floats(r, DIMS(CHANNELS, CHANNELS, 3, 3));
    tl_tensor *const packed = wanted(
        r, TL_FLOAT, DIMS(tl_blocks(CHANNELS), (int)tl_blocked_winograd_packed(CHANNELS, M)));
    tl_tensor *const src = floats(r, DIMS(1, tl_blocks(CHANNELS), 40, 40, TL_BLOCK));
    tl_tensor *const dst = wanted(r, TL_FLOAT, DIMS(1, tl_blocks(CHANNELS), 40, 40, TL_BLOCK));
    const tl_exec *const exec =
        with_scratch(r, tl_blocked_winograd_scratch(src, dst, CHANNELS, M, THREADS));
    const int status = tl_exec_blocked_winograd_pack(exec, weight, NULL, packed, M);
    return status ? status
                  : tl_exec_blocked_winograd(exec, src, packed, NULL, dst, &same_3x3, CHANNELS, M);
}

static int quantized_winograd(room *r)
{
    enum { CHANNELS = 48 };
    const tl_quantized_param q = {.scale = 1, .dst_factor = 1};
    tl_tensor *const weight = wanted(r, TL_INT8, DIMS(CHANNELS, CHANNELS, 3, 3));
    tl_tensor *const packed =
        wanted(r, TL_INT8, DIMS(tl_blocks(CHANNELS), (int)tl_quantized_winograd_packed(CHANNELS)));
    tl_tensor *const src = wanted(r, TL_UINT8, DIMS(1, tl_blocks(CHANNELS), 40, 40, TL_BLOCK));
    tl_tensor *const dst = wanted(r, TL_UINT8, DIMS(1, tl_blocks(CHANNELS), 40, 40, TL_BLOCK));
    const tl_exec *const exec =
        with_scratch(r, tl_quantized_winograd_scratch(src, dst, CHANNELS, THREADS));
    const int status = tl_exec_quantized_winograd_pack(exec, weight, NULL, NULL, NULL, packed);
    return status ? status
                  : tl_exec_quantized_winograd(exec, src, packed, dst, &same_3x3, CHANNELS, &q);
}

static int blocked_conv2d(room *r)
{
    const int channels[] = {32, 48};
    tl_tensor *const weight = floats(r, DIMS(48, 32, 3, 3));
    tl_tensor *const packed = wanted(
        r, TL_FLOAT, DIMS(3, (int)tl_blocked_conv2d_packed(channels, 1, same_3x3.size, TL_BLOCK)));
    tl_tensor *const src = floats(r, DIMS(2, 2, 30, 30, TL_BLOCK));
    tl_tensor *const dst = wanted(r, TL_FLOAT, DIMS(2, 3, 30, 30, TL_BLOCK));
    const tl_exec *const exec =
        with_scratch(r, tl_blocked_conv2d_scratch(src, dst, &same_3x3, channels, THREADS));
    const int status = tl_exec_blocked_conv2d_pack(exec, weight, NULL, packed, 1, TL_BLOCK);
    return status ? status
                  : tl_exec_blocked_conv2d(exec, src, packed, NULL, dst, &same_3x3, channels);
}

static int conv2d(room *r)
{
    return tl_exec_conv2d(&r->exec, floats(r, DIMS(1, 32, 60, 60)), floats(r, DIMS(8, 32, 3, 3)),
                          NULL, wanted(r, TL_FLOAT, DIMS(1, 8, 60, 60)), &same_3x3);
}

static int maxpool2d(room *r)
{
    static const tl_pool2d_param param = {.size = {60, 60}, .stride = {1, 1}};
    return tl_exec_maxpool2d(&r->exec, floats(r, DIMS(1, 5, 100, 100)),
                             wanted(r, TL_FLOAT, DIMS(1, 5, 41, 41)), &param);
}

static int poolnd(room *r)
{
    tl_poolnd_param param = {.kind = TL_POOL_MAX};
    param.windows = tl_windows_of(1, (int[]){3000}, (int[]){1}, (int[]){1}, (int[]){0, 0});
    return tl_exec_poolnd(&r->exec, floats(r, DIMS(1, 2, 3999)),
                          wanted(r, TL_FLOAT, DIMS(1, 2, 1000)),
                          wanted(r, TL_INT64, DIMS(1, 2, 1000)), &param);
}

static int convnd(room *r)
{
    const tl_windows windows =
        tl_windows_of(1, (int[]){4000}, (int[]){1}, (int[]){1}, (int[]){0, 0});
    return tl_exec_convnd(&r->exec, floats(r, DIMS(1, 1, 4999)), floats(r, DIMS(1, 1, 4000)), NULL,
                          wanted(r, TL_FLOAT, DIMS(1, 1, 1000)), &windows, 1);
}

static int roi_align(room *r)
{
    static const tl_roi_param param = {.size = {2, 2}, .scale = 1, .samples = 1000};
    tl_tensor *const rois = floats(r, DIMS(2, 4));
    for (int i = 0; i < 8; i++)
        ((float *)rois->data)[i] = (float)(i % 4 * 3);
    return tl_exec_roi_align(&r->exec, floats(r, DIMS(1, 2, 12, 12)), rois,
                             indices(r, TL_INT64, DIMS(2), 1),
                             wanted(r, TL_FLOAT, DIMS(2, 2, 2, 2)), &param);
}

static int topk(room *r)
{
    tl_tensor *const src = floats(r, DIMS(3000, 50));
    return tl_exec_topk(with_scratch(r, tl_topk_scratch(src, 1, 7, 3)), src,
                        wanted(r, TL_FLOAT, DIMS(3000, 7)), wanted(r, TL_INT64, DIMS(3000, 7)), 1,
                        0);
}

static int topk_of_few(room *r)
{
    tl_tensor *const src = floats(r, DIMS(200000));
    return tl_exec_topk(with_scratch(r, tl_topk_scratch(src, 0, 5000, 1)), src,
                        wanted(r, TL_FLOAT, DIMS(5000)), wanted(r, TL_INT64, DIMS(5000)), 0, 0);
}

static int topk_of_a_line(room *r)
{
    tl_tensor *const src = floats(r, DIMS(100000));
    return tl_exec_topk(with_scratch(r, tl_topk_scratch(src, 0, 50000, 1)), src,
                        wanted(r, TL_FLOAT, DIMS(50000)), wanted(r, TL_INT64, DIMS(50000)), 0, 0);
}

static int sort(room *r)
{
    tl_tensor *const key = floats(r, DIMS(2000)), *const val = floats(r, DIMS(2000));
    return tl_exec_sort1d_by_key(with_scratch(r, tl_sort1d_scratch(key, val)), key, val,
                                 TL_SORT_DIR_ASCENDING);
}

static int unique_as(room *r, int sorted)
{
    tl_tensor *const src = indices(r, TL_INT32, DIMS(1000, 3), 37);
    const tl_unique to = {wanted(r, TL_INT32, DIMS(1000, 3)), wanted(r, TL_INT64, DIMS(1000)),
                          wanted(r, TL_INT64, DIMS(1000)), wanted(r, TL_INT64, DIMS(1000))};
    int n;
    return tl_exec_unique(with_scratch(r, tl_unique_scratch(src, 0)), src, &to, 0, sorted, &n);
}

static int unique(room *r)
{
    return unique_as(r, 0);
}

static int unique_sorted(room *r)
{
    return unique_as(r, 1);
}

static int nms(room *r)
{
    static const tl_nms how = {.max = 50, .overlap = 0.3f, .score = 0.1f, .has_score = 1};
    tl_tensor *const boxes = floats(r, DIMS(2, 300, 4)), *const scores = floats(r, DIMS(2, 3, 300));
    int n;
    return tl_exec_nms(with_scratch(r, tl_nms_scratch(boxes)), boxes, scores, &how,
                       wanted(r, TL_INT64, DIMS(2 * 3 * 50, 3)), &n);
}

static int nms_rows(room *r)
{
    static const tl_nms_rows how = {.box = 2, .score = 1, .label = -1, .overlap = 0.3f, .packs = 1};
    tl_tensor *const src = floats(r, DIMS(2, 300, 6));
    return tl_exec_nms_rows(with_scratch(r, tl_nms_rows_scratch(src)), src, NULL, &how,
                            wanted(r, TL_FLOAT, DIMS(2, 300, 6)),
                            wanted(r, TL_INT32, DIMS(2, 300)));
}

// Trees of three levels.
static int trees_of(room *r, int rows)
{
    enum { TREES = 900, NODES = 7, LEAVES = 4 };
    tl_trees trees = {.split = floats(r, DIMS(TREES * NODES)),
                      .feature = indices(r, TL_INT32, DIMS(TREES * NODES), 6),
                      .child = wanted(r, TL_INT32, DIMS(TREES * NODES, 2)),
                      .root = wanted(r, TL_INT32, DIMS(TREES)),
                      .votes = {.weight = floats(r, DIMS(TREES * LEAVES))}};
    for (int i = 0; i < TREES * NODES; i++) {
        const int tree = i / NODES, k = i % NODES, is_leaf = k >= NODES - LEAVES;
        int32_t *const child = (int32_t *)trees.child->data + 2 * (size_t)i;
        ((int32_t *)trees.root->data)[tree] = tree * NODES;
        child[0] = is_leaf ? tree * LEAVES + k - (NODES - LEAVES) : tree * NODES + 2 * k + 1;
        child[1] = child[0] + 1;
        if (is_leaf)
            ((int32_t *)trees.feature->data)[i] = -1;
    }
    char scratch[(3 * TREES * NODES + 7) * sizeof(uint32_t)];
    const tl_exec packing = {.scratch = scratch, .scratch_size = sizeof(scratch)};
    tl_tensor *const packed = wanted(r, TL_UINT8, DIMS((int)tl_trees_packed(&trees, 3)));
    ck_assert_int_eq(tl_exec_trees_pack(&packing, &trees, 3, packed), 0);
    tl_tensor *const src = floats(r, DIMS(rows, 3));
    return tl_exec_trees_packed(with_scratch(r, tl_trees_scratch(src, packed, THREADS)), src,
                                packed, &trees.votes, NULL, wanted(r, TL_FLOAT, DIMS(rows, 1)),
                                TL_TREE_SUM);
}

static int trees(room *r)
{
    return trees_of(r, 5000);
}

static int trees_of_few_rows(room *r)
{
    return trees_of(r, 7);
}

static int det(room *r)
{
    tl_tensor *const src = floats(r, DIMS(3, 30, 30));
    return tl_exec_det(with_scratch(r, tl_det_scratch(src)), src, wanted(r, TL_FLOAT, DIMS(3)));
}

static int inverse(room *r)
{
    tl_tensor *const src = floats(r, DIMS(3, 30, 30));
    return tl_exec_inverse(with_scratch(r, tl_inverse_scratch(src)), src,
                           wanted(r, TL_FLOAT, DIMS(3, 30, 30)));
}

static int matmul_by(room *r)
{
    tl_tensor *const src = floats(r, DIMS(60, 40)), *const weight = floats(r, DIMS(3, 50, 40));
    tl_tensor *const dst = wanted(r, TL_FLOAT, DIMS(60, 50));
    return tl_exec_matmul_by(with_scratch(r, tl_matmul_by_scratch(src, weight, dst, THREADS)), src,
                             indices(r, TL_INT32, DIMS(60), 3), weight, NULL, dst);
}

static int couple(room *r)
{
    tl_tensor *const src = floats(r, DIMS(30, 45)), *const dst = wanted(r, TL_FLOAT, DIMS(30, 10));
    return tl_exec_couple(with_scratch(r, tl_couple_scratch(dst)), src, dst);
}

// All of them

#define ROW(name)   \
    {               \
        name, #name \
    }
static const struct {
    int (*run)(room *r);
    const char *name;
} kernels[] = {ROW(put_along),      ROW(put_nd),
               ROW(onehot),         ROW(concat),
               ROW(resample_cubic), ROW(resample_bytes),
               ROW(lstm),           ROW(gru),
               ROW(matmul),         ROW(lowbit_matmul),
               ROW(attention),      ROW(dft),
               ROW(winograd),       ROW(quantized_winograd),
               ROW(blocked_conv2d), ROW(conv2d),
               ROW(maxpool2d),      ROW(poolnd),
               ROW(convnd),         ROW(roi_align),
               ROW(trees),          ROW(trees_of_few_rows),
               ROW(topk),           ROW(topk_of_few),
               ROW(topk_of_a_line), ROW(sort),
               ROW(unique),         ROW(unique_sorted),
               ROW(packed_cells),   ROW(nms),
               ROW(nms_rows),       ROW(det),
               ROW(inverse),        ROW(matmul_by),
               ROW(couple)};

// Runs a kernel that is stopped at check `at`, 0: never; returns the number of checks.
static size_t checks_of(size_t kernel, tl_pool *pool, size_t at)
{
    tl_stop *const stop = tl_stop_create();
    tl_stop_request_at(stop, at);
    room r = {.exec = {.pool = pool, .isa = tl_isa_best(), .stop = stop}, .seed = 5};
    ck_assert_msg(kernels[kernel].run(&r) == 0, "%s: %s", kernels[kernel].name, tl_last_error());
    const size_t checks = tl_stop_checks(stop);
    for (int i = 0; i < r.n; i++)
        tl_tensor_free_data_too(r.tensors[i]);
    free(r.exec.scratch);
    tl_stop_free(stop);
    return checks;
}

// At all checks, or many of them; then a few follow, not all that there would be.
static void stop_everywhere(tl_pool *pool)
{
    for (size_t k = 0; k < sizeof(kernels) / sizeof(*kernels); k++) {
        const size_t all = checks_of(k, pool, 0), step = all / 12 + 1;
        ck_assert_msg(all >= 2, "%s: %zu checks", kernels[k].name, all);
        for (size_t at = 1; at <= all; at += at < 5 ? 1 : step) {
            const size_t checks = checks_of(k, pool, at);
            ck_assert_msg(checks <= at + 64, "%s: %zu checks of %zu, stopped at %zu",
                          kernels[k].name, checks, all, at);
        }
    }
}

START_TEST(kernels_stop_at_each_check)
{
    stop_everywhere(NULL);
}
END_TEST

START_TEST(kernels_stop_at_each_check_on_several_threads)
{
    tl_pool *const pool = tl_pool_create(THREADS);
    stop_everywhere(pool);
    tl_pool_free(pool);
}
END_TEST

LN_TEST_MAIN("tl_stop_kernels", kernels_stop_at_each_check,
             kernels_stop_at_each_check_on_several_threads)
