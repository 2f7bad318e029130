// SPDX-License-Identifier: Apache-2.0
// Tests of ln_cuda_attention and ln_cuda_nms.

#include "arch/cuda/ln_cuda_test.h"

#include <math.h>
#include <string.h>

// ln_cuda_attention

// Products of TL_FLOAT by TF32 round their factors to 11 bits: scores of magnitude 4 are off by
// some 1e-3, and so are the weights.
static const double TF32 = 1e-2;

// q [B, H, S, D], k [B, G, T, D], v [B, G, T, E].
typedef struct shape {
    int b, h, g, s, t, d, e;
} shape;

typedef enum mask_kind {
    MASK_NONE,
    MASK_ROWS,    // [S, T]
    MASK_BATCHES, // [B, 1, 1, T], some of -inf
    MASK_HEADS,   // [1, H, S, T]
    MASK_CAUSAL,  // [S, T] of 0 and -inf, of which row 0 keeps at least one
    MASK_FULL,    // [B, H, S, T]
    MASK_KEYS,    // [T]
    MASK_QUERIES, // [B, 1, S, 1]
    MASK_STRANGE, // [S, T]: rows of -inf, with +inf, NaN, the lowest number
    MASK_KINDS
} mask_kind;

static const char *const mask_names[] = {
    "no mask",           "mask [S, T]", "mask [B, 1, 1, T]", "mask [1, H, S, T]", "causal mask",
    "mask [B, H, S, T]", "mask [T]",    "mask [B, 1, S, 1]", "strange mask"};

typedef struct attention {
    shape s;
    tl_dtype dtype;
    int allow_tf32;
    int axes; // bits: heads of q, k, v and dst at axis 2, not 1
    int zero_empty, is_aligned;
    mask_kind mask;
} attention;

// Element k of row `row` of a strange mask.
static double strange_at(tl_dtype dtype, int row, int k, int n)
{
    const double lowest = tl_dtype_min_double(dtype);
    const double kinds[] = {
        -INFINITY,                      // all
        k < n * 2 / 3 ? -INFINITY : 0,  // whole blocks at the begin
        k >= 1 + n / 9 ? -INFINITY : 0, // and at the end
        k == n / 2 ? INFINITY : 0,      // infinitely heavy
        k == n - 1 ? NAN : 0,           // unknown
        lowest,                         // equal weights
        k == n / 3 ? 0 : lowest,        // the weight of one key is 1
        k % 2 ? -INFINITY : lowest,     // equal weights of half of the keys
        fmod(k, 64) * 0.25,             // growing
        k == n - 1 ? 0 : -INFINITY,     // the last one
    };
    return kinds[row % CU_LEN(kinds)];
}

static tl_tensor *host_mask(cu_case *c, const attention *a)
{
    const shape *const s = &a->s;
    const int dims[MASK_KINDS][4] = {{0},
                                     {1, 1, s->s, s->t},
                                     {s->b, 1, 1, s->t},
                                     {1, s->h, s->s, s->t},
                                     {1, 1, s->s, s->t},
                                     {s->b, s->h, s->s, s->t},
                                     {1, 1, 1, s->t},
                                     {s->b, 1, s->s, 1},
                                     {1, 1, s->s, s->t}};
    const int is_matrix = a->mask == MASK_ROWS || a->mask == MASK_CAUSAL || a->mask == MASK_STRANGE;
    const int skipped = is_matrix ? 2 : a->mask == MASK_KEYS ? 3 : 0;
    tl_tensor *const m = cu_host_random(c, a->dtype, 4 - skipped, dims[a->mask] + skipped, -2, 2);
    const int late = s->t > s->s ? s->t - s->s : 0;
    for (int i = 0; i < m->len; i++) {
        const int k = s->t ? i % s->t : 0, row = s->t && s->s ? i / s->t % s->s : 0;
        if (a->mask == MASK_CAUSAL)
            cu_set(m, i, k > row + late ? -INFINITY : 0);
        else if (a->mask == MASK_STRANGE)
            cu_set(m, i, strange_at(a->dtype, row, k, s->t));
        else if (a->mask == MASK_BATCHES && k % 5 == 4)
            cu_set(m, i, -INFINITY);
    }
    return m;
}

// [B, heads, rows, len], or with the heads at axis 2.
static tl_tensor *random_heads(cu_case *c, tl_dtype dtype, int axis, int heads, int rows, int len,
                               const shape *s, double max)
{
    int dims[] = {s->b, 0, 0, len};
    dims[axis] = heads;
    dims[3 - axis] = rows;
    return cu_random(c, dtype, 4, dims, -max, max);
}

// Whether ln_cuda_attention must support the case; others may be unsupported.
static int is_usual(const attention *a)
{
    return a->is_aligned && a->s.d <= 128 && a->s.e <= 128 && a->s.d % 8 == 0 && a->s.e % 8 == 0;
}

static void check_attention(const attention *a)
{
    const shape *const s = &a->s;
    const tl_attention_param param = {1 + (a->axes & 1),      1 + (a->axes >> 1 & 1),
                                      1 + (a->axes >> 2 & 1), 1 + (a->axes >> 3 & 1),
                                      1 / sqrt(s->d),         a->zero_empty};
    int dims[4] = {0};
    cu_case c;
    cu_open(&c, "ln_cuda_attention", a->dtype,
            "B %d H %d G %d S %d T %d D %d E %d, heads at axes %d %d %d %d, %s%s%s", s->b, s->h,
            s->g, s->s, s->t, s->d, s->e, param.q_axis, param.k_axis, param.v_axis, param.dst_axis,
            mask_names[a->mask], a->zero_empty ? ", zero_empty" : "",
            a->allow_tf32 ? ", tf32" : "");
    c.is_aligned = a->is_aligned;
    tl_tensor *const q = random_heads(&c, a->dtype, param.q_axis, s->h, s->s, s->d, s, 2);
    tl_tensor *const k = random_heads(&c, a->dtype, param.k_axis, s->g, s->t, s->d, s, 2);
    tl_tensor *const v = random_heads(&c, a->dtype, param.v_axis, s->g, s->t, s->e, s, 1);
    tl_tensor *const mask = a->mask == MASK_NONE ? NULL : cu_given(&c, host_mask(&c, a));
    dims[0] = s->b, dims[param.dst_axis] = s->h, dims[3 - param.dst_axis] = s->s, dims[3] = s->e;
    tl_tensor *const dst = cu_output(&c, a->dtype, 4, dims);
    if (!ln_cuda_has_attention(q, k, v, &param)) {
        if (is_usual(a))
            cu_fail(&c, "ln_cuda_has_attention returns 0");
        else if (a->axes == 0)
            cu_note("not supported: ln_cuda_attention %s %s", tl_dtype_name(a->dtype), c.what);
        cu_start(&c);
        cu_finish(&c, 0);
        cu_close(&c);
        return;
    }
    cu_finish(&c, ln_cuda_attention(cu_start(&c), q, k, v, mask, dst, &param, NULL, a->allow_tf32));
    tl_tensor *const expected = cu_host_blank(&c, TL_DOUBLE, 4, dims);
    if (dst->len && s->t) {
        const tl_tensor *const q2 = cu_double(&c, q), *const k2 = cu_double(&c, k);
        const tl_tensor *const v2 = cu_double(&c, v);
        ck_assert_msg(tl_exec_attention(cu_exec(tl_attention_scratch(q2, k2, v2, &param, 8)), q2,
                                        k2, v2, mask ? cu_double(&c, mask) : NULL, expected,
                                        &param) == 0,
                      "%s", tl_last_error());
    }
    cu_check_near(&c, dst, expected, cu_tolerance(a->dtype, a->allow_tf32 ? TF32 : CU_SUM));
    cu_close(&c);
}

// TL_FLOAT, TL_FLOAT with TF32, and the types of 16 bits.
static const struct {
    tl_dtype dtype;
    int allow_tf32;
} modes[] = {{TL_FLOAT, 0}, {TL_FLOAT, 1}, {TL_FLOAT16, 0}, {TL_BFLOAT16, 0}};

static const shape shapes[] = {
    {1, 3, 3, 197, 197, 64, 64},   // ViT
    {2, 12, 12, 128, 128, 32, 32}, // MiniLM
    {1, 12, 12, 1, 17, 32, 32},    // a query, some keys
    {1, 12, 4, 1, 1025, 64, 64},   // and many
    {1, 4, 2, 65, 33, 80, 80},     // fewer keys than queries
    {1, 2, 2, 5, 7, 40, 24},       // another length of values
    {2, 2, 1, 3, 300, 128, 128},   //
    {1, 1, 1, 2, 3, 7, 9},         // odd lengths
    {1, 1, 1, 1, 1, 64, 64},       //
    {1, 2, 2, 64, 64, 64, 64},     // exact blocks
    {1, 2, 1, 129, 127, 64, 64},   //
    {1, 8, 1, 17, 257, 128, 128},  // all heads share keys
    {3, 6, 3, 16, 49, 32, 32},     // windows
    {1, 4, 4, 50, 50, 96, 96},     //
    {1, 2, 2, 33, 77, 16, 16},     //
    {1, 2, 2, 300, 65, 8, 8},      //
    {1, 1, 1, 70, 1100, 48, 112},  //
    {1, 2, 2, 17, 33, 256, 256},   // long
    {1, 2, 1, 9, 33, 160, 160},    //
    {1, 3, 3, 31, 63, 33, 65},     //
    {1, 4, 4, 0, 5, 64, 64},       // no queries
};

CU_TEST(attention_of_every_shape_and_mask)
{
    for (int i = 0; i < CU_LEN(shapes); i++)
        for (int m = 0; m < CU_LEN(modes); m++)
            for (int mask = 0; mask < MASK_STRANGE; mask++)
                check_attention(&(attention){shapes[i], modes[m].dtype, modes[m].allow_tf32,
                                             (i + m + mask * 7) % 16, 0, 1, (mask_kind)mask});
}

CU_TEST(attention_with_every_order_of_axes)
{
    static const shape rows[] = {{2, 4, 2, 33, 65, 64, 64},
                                 {1, 3, 1, 7, 17, 40, 24},
                                 {2, 2, 2, 1, 130, 32, 32},
                                 {2, 2, 2, 20, 20, 128, 128}};
    for (int i = 0; i < CU_LEN(rows); i++)
        for (int m = 0; m < CU_LEN(modes); m++)
            for (int axes = 0; axes < 16; axes++)
                check_attention(&(attention){rows[i], modes[m].dtype, modes[m].allow_tf32, axes, 0,
                                             1, axes % 3 ? MASK_NONE : MASK_FULL});
}

CU_TEST(attention_of_masked_queries)
{
    static const shape rows[] = {{1, 2, 2, 19, 150, 64, 64}, {2, 4, 2, 11, 17, 32, 32},
                                 {1, 12, 12, 1, 17, 32, 32}, {1, 2, 1, 70, 300, 128, 128},
                                 {1, 2, 1, 12, 1, 64, 64},   {1, 12, 4, 1, 1025, 64, 64},
                                 {1, 1, 1, 70, 70, 80, 80}};
    for (int i = 0; i < CU_LEN(rows); i++)
        for (int m = 0; m < CU_LEN(modes); m++)
            for (int zero_empty = 0; zero_empty < 2; zero_empty++)
                check_attention(&(attention){rows[i], modes[m].dtype, modes[m].allow_tf32,
                                             (i + m) % 16, zero_empty, 1, MASK_STRANGE});
}

CU_TEST(attention_of_unaligned_tensors)
{
    for (int i = 0; i < 9; i++)
        for (int m = 0; m < CU_LEN(modes); m++)
            check_attention(&(attention){shapes[i], modes[m].dtype, modes[m].allow_tf32, i % 2 * 15,
                                         0, 0, i % 3 ? MASK_NONE : MASK_ROWS});
}

CU_TEST(attention_without_keys_gives_0)
{
    for (int m = 0; m < CU_LEN(modes); m++)
        check_attention(&(attention){
            {1, 2, 2, 5, 0, 64, 64}, modes[m].dtype, modes[m].allow_tf32, 0, 0, 1, MASK_NONE});
}

// Queries, keys and values that are heads of one tensor, as one product computes them.
typedef struct packed {
    int b, h, g, s, t, d;
    int axis;       // that of the heads
    int first[3];   // heads of q, k and v
    int n;          // heads of the tensor
    int has_own_q;  // q is another tensor, of S rows and all of its heads
    mask_kind mask; // MASK_NONE, or MASK_ROWS
} packed;

static tl_tensor *heads_in_double(cu_case *c, const tl_tensor *device, int axis, int first, int n)
{
    return cu_keep(c, tl_tensor_slice(cu_double(c, device), NULL, axis, first, n));
}

static void check_packed(const packed *p, tl_dtype dtype, int allow_tf32, int is_aligned)
{
    const tl_attention_param param = {p->axis, p->axis, p->axis, 3 - p->axis, 1 / sqrt(p->d), 0};
    const shape s = {p->b, p->h, p->g, p->s, p->t, p->d, p->d};
    const int heads[6] = {
        p->has_own_q ? 0 : p->first[0], p->h, p->first[1], p->g, p->first[2], p->g};
    int dims[4] = {p->b, 0, 0, p->d};
    cu_case c;
    cu_open(&c, "ln_cuda_attention", dtype,
            "B %d H %d G %d S %d T %d D %d, heads %s at axis %d of %d%s, %s%s", p->b, p->h, p->g,
            p->s, p->t, p->d, cu_list(6, heads), p->axis, p->n, p->has_own_q ? ", other q" : "",
            mask_names[p->mask], allow_tf32 ? ", tf32" : "");
    c.is_aligned = is_aligned;
    tl_tensor *const all = random_heads(&c, dtype, p->axis, p->n, p->t, p->d, &s, 2);
    tl_tensor *const q =
        p->has_own_q ? random_heads(&c, dtype, p->axis, p->h, p->s, p->d, &s, 2) : all;
    const attention a = {.s = s, .dtype = dtype, .mask = p->mask};
    tl_tensor *const mask = p->mask == MASK_NONE ? NULL : cu_given(&c, host_mask(&c, &a));
    dims[param.dst_axis] = p->h, dims[3 - param.dst_axis] = p->s;
    tl_tensor *const dst = cu_output(&c, dtype, 4, dims);
    cu_finish(&c,
              ln_cuda_attention(cu_start(&c), q, all, all, mask, dst, &param, heads, allow_tf32));
    const tl_tensor *const q2 = heads_in_double(&c, q, p->axis, heads[0], p->h),
                           *const k2 = heads_in_double(&c, all, p->axis, heads[2], p->g),
                           *const v2 = heads_in_double(&c, all, p->axis, heads[4], p->g);
    tl_tensor *const expected = cu_host_blank(&c, TL_DOUBLE, 4, dims);
    ck_assert_msg(tl_exec_attention(cu_exec(tl_attention_scratch(q2, k2, v2, &param, 8)), q2, k2,
                                    v2, mask ? cu_double(&c, mask) : NULL, expected, &param) == 0,
                  "%s", tl_last_error());
    cu_check_near(&c, dst, expected, cu_tolerance(dtype, allow_tf32 ? TF32 : CU_SUM));
    cu_close(&c);
}

static const packed packed_rows[] = {
    {2, 12, 12, 128, 128, 32, 2, {0, 12, 24}, 36, 0, MASK_NONE}, // MiniLM
    {1, 3, 3, 197, 197, 64, 2, {0, 3, 6}, 9, 0, MASK_NONE},      // ViT
    {1, 3, 3, 1, 197, 64, 2, {0, 0, 3}, 6, 1, MASK_NONE},        // its last layer, of one token
    {2, 4, 4, 65, 65, 32, 2, {8, 0, 4}, 12, 0, MASK_ROWS},       // keys, values, queries
    {2, 4, 2, 33, 33, 64, 2, {5, 2, 0}, 9, 0, MASK_ROWS},        // shared heads, others between
    {3, 2, 2, 5, 5, 128, 2, {4, 2, 0}, 6, 0, MASK_NONE},         // few queries
    {2, 2, 2, 17, 33, 96, 2, {0, 3, 1}, 5, 1, MASK_ROWS},        // other queries
    {2, 3, 1, 40, 40, 8, 1, {0, 3, 4}, 5, 0, MASK_NONE},         // heads before rows
    {1, 2, 2, 19, 19, 7, 2, {0, 2, 4}, 6, 0, MASK_NONE},         // an odd length
    {1, 2, 2, 12, 12, 160, 2, {2, 0, 4}, 6, 0, MASK_NONE},       // a long one
    {1, 1, 1, 9, 9, 64, 2, {0, 0, 0}, 1, 0, MASK_NONE},          // keys are queries and values
};

CU_TEST(attention_of_heads_of_one_tensor)
{
    for (int i = 0; i < CU_LEN(packed_rows); i++)
        for (int m = 0; m < CU_LEN(modes); m++)
            for (int is_aligned = 0; is_aligned < 2; is_aligned++)
                check_packed(&packed_rows[i], modes[m].dtype, modes[m].allow_tf32, is_aligned);
}

// ln_cuda_nms

typedef struct nms_row {
    int b, c, n; // boxes [B, N, 4], scores [B, C, N]
    tl_nms how;
    int is_coarse; // coordinates and scores are multiples of 1/8: many ties
} nms_row;

// Multiples of 1/8 at most `max`, or any numbers.
static double number(uint64_t *seed, double max, int is_coarse)
{
    const double x = tl_random_uniform(seed) * max;
    return is_coarse ? floor(x * 8) / 8 : x;
}

// In an area that grows with their number, so that each overlaps some others.
static tl_tensor *host_boxes(cu_case *c, const nms_row *r)
{
    tl_tensor *const t = cu_host_blank(c, TL_FLOAT, 3, (int[]){r->b, r->n, 4});
    float *const boxes = t->data;
    const double area = 1 + sqrt(r->n);
    for (int i = 0; i < r->b * r->n; i++) {
        const double y = number(&c->seed, area, r->is_coarse);
        const double x = number(&c->seed, area, r->is_coarse);
        const double h = number(&c->seed, 3, r->is_coarse), w = number(&c->seed, 3, r->is_coarse);
        const double corners[] = {y, x, y + h, x + w}, turned[] = {y + h, x, y, x + w};
        const double centered[] = {x, y, w, h};
        const double *const from = r->how.is_center_and_size ? centered : i % 3 ? corners : turned;
        for (int k = 0; k < 4; k++)
            boxes[4 * i + k] = (float)from[k];
    }
    return t;
}

static void check_nms(const nms_row *r, const tl_tensor *(*scores_of)(cu_case *, const nms_row *))
{
    const int room = r->b * r->c * (r->how.max < r->n ? r->how.max : r->n);
    int n = -1;
    cu_case c;
    cu_open(&c, "ln_cuda_nms", TL_FLOAT, "most %d overlap %g %s%g %s%s", r->how.max, r->how.overlap,
            r->how.has_score ? "score " : "any score ", r->how.score,
            r->how.is_center_and_size ? "centers" : "corners", r->is_coarse ? ", ties" : "");
    tl_tensor *const boxes = cu_given(&c, host_boxes(&c, r));
    tl_tensor *const scores = cu_given(&c, scores_of(&c, r));
    tl_tensor *const dst = cu_output(&c, TL_INT64, 2, (int[]){room, 3});
    tl_tensor *const count = cu_output(&c, TL_INT32, 1, (int[]){1});
    tl_tensor *const work = cu_work(&c, ln_cuda_nms_work(boxes, scores, &r->how));
    cu_finish(&c, ln_cuda_nms(cu_start(&c), boxes, scores, &r->how, dst, count->data, work->data));
    tl_tensor *const expected = cu_keep(&c, tl_tensor_clone(cu_host(dst)));
    ck_assert_int_eq(tl_exec_nms(cu_exec(tl_nms_scratch(boxes)), cu_host(boxes), cu_host(scores),
                                 &r->how, expected, &n),
                     0);
    const int found = *(const int *)cu_found(count);
    if (found != n && !c.has_failed)
        cu_fail(&c, "%d boxes, expected %d", found, n);
    const int64_t *const a = cu_found(dst), *const b = expected->data;
    for (int i = 0; i < 3 * n && !c.has_failed; i++) // what follows is undefined
        if (a[i] != b[i])
            cu_fail(&c, "row %d of %d is [%lld, %lld, %lld], expected [%lld, %lld, %lld]", i / 3, n,
                    (long long)a[i / 3 * 3], (long long)a[i / 3 * 3 + 1],
                    (long long)a[i / 3 * 3 + 2], (long long)b[i / 3 * 3],
                    (long long)b[i / 3 * 3 + 1], (long long)b[i / 3 * 3 + 2]);
    cu_close(&c);
}

static const tl_tensor *usual_scores(cu_case *c, const nms_row *r)
{
    tl_tensor *const t = cu_host_blank(c, TL_FLOAT, 3, (int[]){r->b, r->c, r->n});
    for (int i = 0; i < t->len; i++)
        ((float *)t->data)[i] = (float)(number(&c->seed, 2, r->is_coarse) - 1);
    return t;
}

static const tl_tensor *strange_scores(cu_case *c, const nms_row *r)
{
    static const float kinds[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f};
    const tl_tensor *const t = usual_scores(c, r);
    for (int i = 0; i < t->len; i += 3)
        ((float *)t->data)[i] = kinds[i / 3 % CU_LEN(kinds)];
    return t;
}

// `how` is {max, overlap, score, has_score, is_center_and_size}.
static const nms_row nms_rows[] = {
    {1, 1, 6, {3, 0.5f, 0, 0, 0}, 0},
    {1, 1, 1, {1, 0.5f, 0, 0, 0}, 0},
    {1, 1, 2, {2, 0, 0, 0, 1}, 0},
    {1, 1, 33, {33, 0.5f, 0, 0, 0}, 1},
    {2, 3, 100, {10, 0.5f, 0.25f, 1, 0}, 0},
    {2, 3, 100, {1000, 0.5f, 0.25f, 1, 1}, 1},
    {1, 5, 65, {65, 0.25f, -0.5f, 1, 0}, 1},
    {3, 2, 127, {1, 0.5f, 0, 1, 1}, 0},
    {1, 1, 1000, {1000, 0.5f, 0, 0, 0}, 0},
    {1, 1, 1000, {1000, 0.3f, 0, 0, 1}, 1},
    {1, 80, 300, {20, 0.45f, 0.5f, 1, 0}, 0},
    {1, 2, 5000, {200, 0.5f, 0, 1, 0}, 0},
    {1, 1, 5000, {5000, 0.5f, 0, 0, 1}, 1},
    {1, 1, 5000, {3, 0.7f, 0, 0, 0}, 0},
    {1, 2, 500, {500, 1, 0, 0, 0}, 1},
    {1, 2, 500, {500, 0, 0, 0, 0}, 1},
    {2, 2, 64, {64, 0.5f, 5, 1, 0}, 0}, // none scores enough
    {1, 3, 50, {0, 0.5f, 0, 0, 0}, 0},  // none is wanted
    {1, 3, 0, {5, 0.5f, 0, 0, 0}, 0},   // there is none
    {1, 1, 1025, {1025, 0.6f, 0.9f, 1, 0}, 0},
    {1, 1, 4097, {4097, 0.2f, -2, 1, 0}, 0},
    {4, 1, 256, {256, 0.5f, 0, 1, 1}, 1},
};

CU_TEST(nms_keeps_the_same_boxes)
{
    for (int i = 0; i < CU_LEN(nms_rows); i++)
        check_nms(&nms_rows[i], usual_scores);
}

CU_TEST(nms_of_strange_scores)
{
    for (int i = 0; i < CU_LEN(nms_rows); i++)
        check_nms(&nms_rows[i], strange_scores);
}

CU_TEST_MAIN("cuda attention", attention_of_every_shape_and_mask,
             attention_with_every_order_of_axes, attention_of_masked_queries,
             attention_of_unaligned_tensors, attention_without_keys_gives_0,
             attention_of_heads_of_one_tensor, nms_keeps_the_same_boxes, nms_of_strange_scores)
