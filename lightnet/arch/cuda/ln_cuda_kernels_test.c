// SPDX-License-Identifier: Apache-2.0
// Tests of the CUDA kernels that move and convert elements: ln_cuda_convert, ln_cuda_copy_region
// and ln_cuda_take. Those of other kernels are in ln_cuda_chain_test.c, ln_cuda_layers_test.c,
// ln_cuda_image_test.c, ln_cuda_excite_test.c and ln_cuda_attention_test.c.

#include "arch/cuda/ln_cuda_test.h"

#include <math.h>
#include <string.h>

static const tl_dtype all_types[] = {TL_DOUBLE, TL_FLOAT,   TL_INT32,   TL_INT16, TL_INT8,
                                     TL_UINT32, TL_UINT16,  TL_UINT8,   TL_BOOL,  TL_INT64,
                                     TL_UINT64, TL_FLOAT16, TL_BFLOAT16};
// One for each size.
static const tl_dtype sizes[] = {TL_INT8, TL_FLOAT16, TL_FLOAT, TL_INT64};

// Fills with random bits; bools are 0 or 1.
static void fill_bits(tl_tensor *t, uint64_t *seed)
{
    unsigned char *const bytes = t->data;
    const size_t size = tl_tensor_size(t);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)cu_pick(seed, t->dtype == TL_BOOL ? 2 : 256);
}

static tl_tensor *host_bits(cu_case *c, tl_dtype dtype, int ndim, const int *dims)
{
    tl_tensor *const t = cu_host_blank(c, dtype, ndim, dims);
    fill_bits(t, &c->seed);
    return t;
}

// ln_cuda_convert

// Borders of types, ties of roundings, and what is not finite.
// clang-format off
static const double extremes[] = {
    0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.1, 1 / 3.0, 0.999, -0.999, 126.5, 127,
    127.5, 128, -127, -128, -128.9, -129, 254.5, 255, 255.9, 256, -256, 32767, 32767.5, 32768,
    -32768, -32769, 65503, 65504, 65519, 65519.996, 65520, 65535, 65535.5, 65536, -65504, -65520,
    2147483583, 2147483647, 2147483648, -2147483648.0, -2147483649.0, 4294967295, 4294967296,
    16777217, 16777219, 9007199254740993, 9.2233720368547748e18, 9.2233720368547758e18,
    -9.2233720368547758e18, -9.3e18, 1.8446744073709550e19, 1.8446744073709552e19, 1e20, -1e20,
    3.4028234e38, 3.4028235677e38, 3.4e38, 3.39e38, 3.3961775e38, 3.4028236e38, -3.5e38, 1e39,
    1e300, 6.1e-5, 6.0975552e-5, 5.9604645e-8, 2.98023224e-8, 2.9802326e-8, 1e-8, 8.9406967e-8,
    1.17549435e-38, 1e-40, 1.4e-45, 7e-46, 1e-50, 1 + 0x1p-11, 1 + 3 * 0x1p-11,
    1 + 0x1p-11 + 0x1p-30, 1 + 0x1p-8, 1 + 3 * 0x1p-8, 1 + 0x1p-8 + 0x1p-30, 1 + 0x1p-24,
    1 + 3 * 0x1p-24, 1 + 0x1p-24 + 0x1p-50, 2049, 2051, 4098, 257, 259, 513, 1e4, INFINITY,
    -INFINITY, NAN
};
// clang-format on

// Extreme values, then random bits and random numbers near 0.
static tl_tensor *host_extremes(cu_case *c, tl_dtype dtype, int len)
{
    tl_tensor *const t = host_bits(c, dtype, 1, &len);
    int i = 0;
    for (; i < len && i < CU_LEN(extremes); i++)
        cu_set(t, i, extremes[i]);
    if (i + 2 <= len) {
        tl_dtype_max(dtype, tl_pointer_add(t->data, i++, dtype));
        tl_dtype_min(dtype, tl_pointer_add(t->data, i++, dtype));
    }
    for (i += (len - i) / 2; i < len; i++) {
        const double number = tl_random_uniform(&c->seed) * 400 - 200;
        tl_convert(tl_pointer_add(t->data, i, dtype), dtype, &number, TL_DOUBLE);
    }
    return t;
}

static void check_convert(cu_case *c, const tl_tensor *host, tl_dtype dst_dtype, const int *axes)
{
    const tl_tensor *const moved = axes ? cu_host_permuted(c, host, axes) : host;
    tl_tensor *const src = cu_given(c, host);
    tl_tensor *const dst = cu_output(c, dst_dtype, moved->ndim, moved->dims);
    cu_finish(c, ln_cuda_convert(cu_start(c), src, axes, dst));
    tl_tensor *const expected = cu_host_blank(c, dst_dtype, moved->ndim, moved->dims);
    if (moved->len)
        ck_assert_int_eq(tl_exec_cast(cu_exec(0), moved, expected), 0);
    cu_check_same(c, dst, expected);
    cu_close(c);
}

CU_TEST(convert_between_all_types)
{
    cu_case c;
    for (int i = 0; i < CU_LEN(all_types); i++)
        for (int k = 0; k < CU_LEN(all_types); k++) {
            cu_open(&c, "ln_cuda_convert", all_types[i], "to %s", tl_dtype_name(all_types[k]));
            check_convert(&c, host_extremes(&c, all_types[i], 1001), all_types[k], NULL);
        }
}

CU_TEST(convert_of_many_lengths)
{
    static const int lens[] = {1,  0,  2,  3,   4,   5,   7,    8,    15,   16,     17,
                               31, 33, 63, 127, 129, 255, 1000, 1024, 1025, 100003, 1 << 20};
    static const tl_dtype pairs[][2] = {{TL_FLOAT, TL_FLOAT16},  {TL_FLOAT16, TL_FLOAT},
                                        {TL_UINT8, TL_FLOAT},    {TL_FLOAT, TL_FLOAT},
                                        {TL_BFLOAT16, TL_FLOAT}, {TL_INT64, TL_INT32},
                                        {TL_BOOL, TL_BFLOAT16},  {TL_INT8, TL_INT8}};
    cu_case c;
    for (int i = 0; i < CU_LEN(pairs); i++)
        for (int k = 0; k < CU_LEN(lens); k++) {
            cu_open(&c, "ln_cuda_convert", pairs[i][0], "to %s", tl_dtype_name(pairs[i][1]));
            check_convert(&c, host_extremes(&c, pairs[i][0], lens[k]), pairs[i][1], NULL);
        }
    cu_open(&c, "ln_cuda_convert", TL_FLOAT, "scalar to TL_FLOAT16");
    check_convert(&c, cu_host_random(&c, TL_FLOAT, 0, NULL, 1, 2), TL_FLOAT16, NULL);
}

// The next permutation in order; 0 after the last one.
static int next_permutation(int n, int *axes)
{
    int i = n - 2, k = n - 1;
    while (i >= 0 && axes[i] > axes[i + 1])
        i--;
    if (i < 0)
        return 0;
    while (axes[k] < axes[i])
        k--;
    for (int swap = axes[i], a = (axes[i] = axes[k], axes[k] = swap, i + 1), b = n - 1; a < b;
         a++, b--) {
        const int other = axes[a];
        axes[a] = axes[b];
        axes[b] = other;
    }
    return 1;
}

CU_TEST(convert_permutes_axes)
{
    static const struct {
        int ndim, dims[TL_MAXDIM];
    } shapes[] = {
        {2, {33, 65}},       {2, {129, 1000}},     {2, {1, 1001}},         {3, {7, 17, 33}},
        {3, {64, 32, 96}},   {3, {1, 127, 3}},     {4, {3, 5, 7, 9}},      {4, {2, 58, 17, 17}},
        {4, {1, 3, 31, 33}}, {5, {2, 3, 4, 5, 3}}, {5, {1, 16, 1, 33, 2}}, {4, {2, 0, 3, 1}},
        {2, {1001, 1023}},
    };
    static const tl_dtype pairs[][2] = {{TL_FLOAT, TL_FLOAT},     {TL_FLOAT, TL_FLOAT16},
                                        {TL_FLOAT16, TL_FLOAT16}, {TL_UINT8, TL_FLOAT},
                                        {TL_DOUBLE, TL_DOUBLE},   {TL_BFLOAT16, TL_FLOAT}};
    cu_case c;
    for (int i = 0; i < CU_LEN(shapes); i++) {
        int axes[TL_MAXDIM] = {0, 1, 2, 3, 4, 5, 6, 7}, n = 0;
        do {
            const int first = shapes[i].ndim < 4 ? 0 : n % CU_LEN(pairs);
            const int end = shapes[i].ndim < 4 ? CU_LEN(pairs) : first + 1;
            for (int k = first; k < end; k++) {
                cu_open(&c, "ln_cuda_convert", pairs[k][0], "to %s, axes [%s]",
                        tl_dtype_name(pairs[k][1]), cu_list(shapes[i].ndim, axes));
                check_convert(
                    &c, cu_host_random(&c, pairs[k][0], shapes[i].ndim, shapes[i].dims, -100, 100),
                    pairs[k][1], axes);
            }
            n++;
        } while (next_permutation(shapes[i].ndim, axes));
    }
}

CU_TEST(convert_permutes_images_and_eight_axes)
{
    static const struct {
        int ndim, dims[TL_MAXDIM], axes[TL_MAXDIM];
    } rows[] = {
        {4, {2, 58, 28, 28}, {0, 2, 3, 1}},
        {4, {2, 28, 28, 58}, {0, 3, 1, 2}},
        {4, {1, 3, 224, 224}, {0, 2, 3, 1}},
        {4, {1, 224, 224, 3}, {0, 3, 1, 2}},
        {4, {1, 197, 12, 64}, {0, 2, 1, 3}},
        {4, {2, 12, 128, 32}, {0, 2, 3, 1}},
        {8, {2, 1, 3, 2, 2, 1, 2, 3}, {7, 6, 5, 4, 3, 2, 1, 0}},
        {8, {2, 3, 2, 3, 2, 3, 2, 3}, {1, 0, 3, 2, 5, 4, 7, 6}},
        {6, {2, 3, 4, 5, 6, 7}, {0, 3, 1, 4, 2, 5}},
        {6, {1, 8, 8, 3, 2, 2}, {0, 3, 1, 4, 2, 5}},
        {5, {3, 7, 2, 33, 1}, {2, 0, 3, 1, 4}},
        {1, {1001}, {0}},
    };
    cu_case c;
    CU_EACH_FLOAT(dtype)
    for (int i = 0; i < CU_LEN(rows); i++) {
        cu_open(&c, "ln_cuda_convert", dtype, "axes [%s]", cu_list(rows[i].ndim, rows[i].axes));
        check_convert(&c, cu_host_random(&c, dtype, rows[i].ndim, rows[i].dims, -9, 9), dtype,
                      rows[i].axes);
    }
}

// ln_cuda_copy_region

typedef struct region {
    int ndim, src[TL_MAXDIM], from[TL_MAXDIM], step[TL_MAXDIM], dims[TL_MAXDIM], dst[TL_MAXDIM],
        to[TL_MAXDIM];
} region;

// Copies element by element to `dst`.
static void copy_plainly(const region *r, const tl_tensor *src, tl_tensor *dst)
{
    int len = 1;
    for (int k = 0; k < r->ndim; k++)
        len *= r->dims[k];
    for (int i = 0; i < len; i++) {
        int from[TL_MAXDIM] = {0}, to[TL_MAXDIM] = {0};
        for (int k = r->ndim - 1, rest = i; k >= 0; rest /= r->dims[k--]) {
            from[k] = r->from[k] + rest % r->dims[k] * r->step[k];
            to[k] = r->to[k] + rest % r->dims[k];
        }
        tl_pointer_assign(dst->data, tl_tensor_index(dst, to), src->data,
                          tl_tensor_index(src, from), src->dtype);
    }
}

static void check_region(const region *r, tl_dtype dtype)
{
    cu_case c;
    cu_open(&c, "ln_cuda_copy_region", dtype, "from [%s] step [%s] dims [%s] to [%s]",
            cu_list(r->ndim, r->from), cu_list(r->ndim, r->step), cu_list(r->ndim, r->dims),
            cu_list(r->ndim, r->to));
    tl_tensor *const src = cu_given(&c, host_bits(&c, dtype, r->ndim, r->src));
    tl_tensor *const dst = cu_output(&c, dtype, r->ndim, r->dst);
    cu_finish(&c, ln_cuda_copy_region(cu_start(&c), src, r->from, r->step, r->dims, dst, r->to));
    tl_tensor *const expected = cu_keep(&c, tl_tensor_clone(cu_host(dst)));
    copy_plainly(r, cu_host(src), expected);
    cu_check_same(&c, dst, expected);
    cu_close(&c);
}

// Along each axis a step, a length that fits, and some room around the copy.
static void pick_region(region *r, int ndim, int max, uint64_t *seed)
{
    static const int steps[] = {1, 1, 1, -1, 2, -2, 3, -3};
    memset(r, 0, sizeof(*r));
    r->ndim = ndim;
    for (int k = 0; k < ndim; k++) {
        r->src[k] = 1 + cu_pick(seed, max);
        r->step[k] = steps[cu_pick(seed, CU_LEN(steps))];
        const int size = abs(r->step[k]), room = (r->src[k] - 1) / size + 1;
        r->dims[k] = 1 + cu_pick(seed, room);
        const int span = (r->dims[k] - 1) * size;
        r->from[k] = cu_pick(seed, r->src[k] - span) + (r->step[k] < 0 ? span : 0);
        r->to[k] = cu_pick(seed, 3);
        r->dst[k] = r->to[k] + r->dims[k] + cu_pick(seed, 3);
    }
}

CU_TEST(copy_region_of_random_regions)
{
    static const int max[] = {0, 3000, 90, 30, 12, 8, 6, 4, 3};
    uint64_t seed = 7;
    for (int i = 0; i < 120; i++) {
        region r;
        pick_region(&r, 1 + i % 8, max[1 + i % 8], &seed);
        if (i % 20 == 19)
            r.dims[0] = 0;
        check_region(&r, sizes[i / 8 % CU_LEN(sizes)]);
    }
}

CU_TEST(copy_region_of_usual_regions)
{
    static const region rows[] = {
        {1, {5}, {4}, {-1}, {5}, {5}, {0}},                                           // reversed
        {0, {0}, {0}, {0}, {0}, {0}, {0}},                                            // a scalar
        {3, {2, 100, 7}, {0, 0, 0}, {1, 1, 1}, {2, 100, 7}, {2, 301, 7}, {0, 57, 0}}, // concat
        {4, {1, 58, 14, 14}, {0, 29, 0, 0}, {1, 1, 1, 1}, {1, 29, 14, 14}, {1, 29, 14, 14}, {0}},
        {4, {2, 3, 30, 31}, {0}, {1, 1, 1, 1}, {2, 3, 30, 31}, {2, 3, 34, 35}, {0, 0, 1, 3}}, // pad
        {4, {1, 3, 33, 33}, {0, 2, 0, 32}, {1, -1, 2, -1}, {1, 3, 17, 33}, {1, 3, 17, 33}, {0}},
        {2, {1000, 768}, {0, 0}, {1, 1}, {1000, 768}, {1000, 768}, {0, 0}}, // all
        {2, {197, 768}, {0, 256}, {1, 1}, {197, 256}, {197, 256}, {0, 0}},  // split
        {8,
         {2, 2, 2, 2, 2, 2, 2, 3},
         {1, 1, 1, 1, 1, 1, 1, 2},
         {-1, -1, -1, -1, -1, -1, -1, -1},
         {2, 2, 2, 2, 2, 2, 2, 3},
         {2, 2, 2, 2, 2, 2, 2, 3},
         {0}},
    };
    for (int i = 0; i < CU_LEN(rows); i++)
        for (int k = 0; k < CU_LEN(sizes); k++)
            check_region(&rows[i], sizes[k]);
}

// ln_cuda_interleave

static void interleave_plainly(const tl_tensor *a, const tl_tensor *b, int first, tl_tensor *dst)
{
    const int len = a->dims[a->ndim - 1], half = dst->dims[dst->ndim - 1] / 2;
    for (int i = 0; i < dst->len; i++)
        tl_pointer_assign(dst->data, i, (i % 2 ? b : a)->data,
                          i / 2 / half * len + first + i / 2 % half, dst->dtype);
}

CU_TEST(interleave_of_all_sizes)
{
    static const struct {
        int dims[4], first, half;
    } rows[] = {{{2, 5, 7, 58}, 0, 58},
                {{2, 5, 7, 58}, 29, 29},
                {{1, 1, 1, 1}, 0, 1},
                {{3, 1, 129, 7}, 2, 3},
                {{1, 40, 40, 116}, 1, 115}};
    for (int i = 0; i < CU_LEN(rows); i++)
        for (int k = 0; k < CU_LEN(sizes); k++) {
            const int *const d = rows[i].dims, dims[] = {d[0], d[1], d[2], 2 * rows[i].half};
            cu_case c;
            cu_open(&c, "ln_cuda_interleave", sizes[k], "lines of %d, %d from %d on", d[3],
                    rows[i].half, rows[i].first);
            c.is_aligned = 1;
            tl_tensor *const a = cu_given(&c, host_bits(&c, sizes[k], 4, d));
            tl_tensor *const b = cu_given(&c, host_bits(&c, sizes[k], 4, d));
            tl_tensor *const dst = cu_output(&c, sizes[k], 4, dims);
            cu_finish(&c, ln_cuda_interleave(cu_start(&c), a, b, dst, rows[i].first));
            tl_tensor *const expected = cu_host_blank(&c, sizes[k], 4, dims);
            interleave_plainly(cu_host(a), cu_host(b), rows[i].first, expected);
            cu_check_same(&c, dst, expected);
            cu_close(&c);
        }
}

// ln_cuda_take

typedef struct take {
    int ndim, src[TL_MAXDIM], axis, index_ndim, index[TL_MAXDIM];
} take;

static int64_t index_at(const tl_tensor *index, int i)
{
    return index->dtype == TL_INT32 ? ((const int32_t *)index->data)[i]
                                    : ((const int64_t *)index->data)[i];
}

// Writes the expected slices.
static void take_plainly(const tl_tensor *src, const tl_tensor *index, tl_tensor *dst, int axis)
{
    const int dim = src->dims[axis];
    int inner = 1;
    for (int k = axis + 1; k < src->ndim; k++)
        inner *= src->dims[k];
    for (int i = 0; i < dst->len; i++) {
        const int outer = i / inner / index->len;
        int64_t at = index_at(index, i / inner % index->len);
        at = at < 0 ? at + dim : at;
        at = at < 0 ? 0 : at >= dim ? dim - 1 : at;
        tl_pointer_assign(dst->data, i, src->data,
                          (ptrdiff_t)((outer * dim + at) * inner + i % inner), src->dtype);
    }
}

// Indices of -dim .. dim - 1; out of range the fourth one, when `is_wild`.
static tl_tensor *host_indices(cu_case *c, tl_dtype dtype, const take *t, int is_wild)
{
    static const double wild[] = {1000, -1000, 2147483647, -2147483648.0, 5e9, -5e9};
    const int dim = t->src[t->axis];
    tl_tensor *const index = cu_host_blank(c, dtype, t->index_ndim, t->index);
    for (int i = 0; i < index->len; i++) {
        double value = cu_pick(&c->seed, 2 * dim) - dim;
        if (is_wild && i % 4 == 3)
            value = i % 8 == 3 ? (i % 16 == 3 ? dim : -dim - 1) : wild[i / 8 % CU_LEN(wild)];
        tl_convert(tl_pointer_add(index->data, i, dtype), dtype, &value, TL_DOUBLE);
    }
    return index;
}

static void check_take(const take *t, tl_dtype dtype, tl_dtype index_dtype, int is_wild)
{
    int dims[TL_MAXDIM], n = 0;
    cu_case c;
    cu_open(&c, "ln_cuda_take", dtype, "axis %d%s", t->axis, is_wild ? ", out of range" : "");
    for (int k = 0; k < t->axis; k++)
        dims[n++] = t->src[k];
    for (int k = 0; k < t->index_ndim; k++)
        dims[n++] = t->index[k];
    for (int k = t->axis + 1; k < t->ndim; k++)
        dims[n++] = t->src[k];
    tl_tensor *const src = cu_given(&c, host_bits(&c, dtype, t->ndim, t->src));
    tl_tensor *const index = cu_given(&c, host_indices(&c, index_dtype, t, is_wild));
    tl_tensor *const dst = cu_output(&c, dtype, n, dims);
    cu_finish(&c, ln_cuda_take(cu_start(&c), src, index, dst, t->axis));
    tl_tensor *const expected = cu_host_blank(&c, dtype, n, dims);
    take_plainly(cu_host(src), cu_host(index), expected, t->axis);
    cu_check_same(&c, dst, expected);
    cu_close(&c);
}

CU_TEST(take_of_all_sizes_and_indices)
{
    static const take rows[] = {
        {1, {5}, 0, 1, {3}},           {1, {1}, 0, 0, {0}},
        {1, {1001}, 0, 2, {7, 33}},    {2, {1000, 64}, 0, 2, {7, 33}},
        {2, {1000, 63}, 0, 1, {129}},  {2, {300, 768}, 0, 2, {1, 197}},
        {2, {64, 1000}, 1, 1, {65}},   {3, {4, 5, 6}, 0, 2, {2, 3}},
        {3, {4, 5, 6}, 1, 2, {2, 3}},  {3, {4, 5, 6}, 2, 2, {2, 3}},
        {3, {2, 197, 768}, 1, 0, {0}}, {3, {3, 7, 17}, 2, 0, {0}},
        {4, {2, 3, 5, 7}, 1, 1, {17}}, {2, {5, 3}, 0, 1, {0}},
        {2, {5, 0}, 0, 1, {3}},        {5, {2, 3, 2, 3, 2}, 2, 4, {2, 1, 2, 3}},
        {2, {7, 100003}, 0, 1, {3}},
    };
    for (int i = 0; i < CU_LEN(rows); i++)
        for (int k = 0; k < CU_LEN(sizes); k++)
            for (int way = 0; way < 4; way++)
                check_take(&rows[i], sizes[k], way % 2 ? TL_INT64 : TL_INT32, way / 2);
}

CU_TEST_MAIN("cuda kernels", convert_between_all_types, convert_of_many_lengths,
             convert_permutes_axes, convert_permutes_images_and_eight_axes,
             copy_region_of_random_regions, copy_region_of_usual_regions, interleave_of_all_sizes,
             take_of_all_sizes_and_indices)
