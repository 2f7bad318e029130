// SPDX-License-Identifier: Apache-2.0
// Writing pools. As where they are read, padding at the end reaches just as far as the last window.

#include <limits.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_put.h"

/* Windows over images; over lines they have one row. */
typedef struct pool {
    int is_max, counts_padding;
    int size[2], stride[2], before[2], end[2];
    ln_nnvm_value src; /* an image */
    int dims[4];       /* of the result */
} pool;

static int param_at(const ln_nnvm_op *n, const char *param, int i, int deflt)
{
    int len;
    const int *values = ln_nnvm_op_ints(n, param, &len);
    return i < len ? values[i] : deflt;
}

// What `autopad` puts before an axis, of `total` at both ends.
static int64_t padding_before(const ln_nnvm_op *n, int given, int64_t total)
{
    const char *const autopad = ln_nnvm_op_text(n, "autopad", "NOTSET");
    if (!strcmp(autopad, "NOTSET"))
        return given;
    if (!strcmp(autopad, "VALID") || total < 0)
        return 0;
    return (total + (strcmp(autopad, "SAME_UPPER") != 0)) / 2;
}

// The windows of axis i of the image, the axis `at` of the operator's.
static void read_axis(ln_nnvm_op *n, pool *p, int i, int at)
{
    const int len = p->dims[2 + i], extent = p->src.dims[2 + i];
    p->size[i] = at < 0 ? 1 : param_at(n, "size", at, 1);
    p->stride[i] = at < 0 ? 1 : param_at(n, "stride", at, 1);
    const int64_t reach = (int64_t)(len - 1) * p->stride[i] + p->size[i];
    const int64_t before =
        at < 0 ? 0 : padding_before(n, param_at(n, "padding", at, 0), reach - extent);
    const int64_t end = reach - before - extent;
    if (before > INT_MAX || end > INT_MAX)
        ln_nnvm_op_fail(n, "windows that reach further than %d elements behind an axis", INT_MAX);
    p->before[i] = (int)before;
    p->end[i] = end > 0 ? (int)end : 0;
    if (at >= 0 && param_at(n, "dilation", at, 1) != 1)
        ln_nnvm_op_fail(n, "parameter 'dilation' has %d, expected 1: NNVM's windows have no gaps",
                        param_at(n, "dilation", at, 1));
}

// How far the windows that count padding may reach, which the operator's padding says.
static void check_overhang(ln_nnvm_op *n, const pool *p, int axes)
{
    for (int i = 2 - axes; i < 2; i++)
        if (p->counts_padding && p->end[i] > param_at(n, "padding", axes + i - (2 - axes), 0))
            ln_nnvm_op_fail(n, "windows beyond the padding, whose elements NNVM counts and "
                               "parameter 'count_padding' does not");
}

static pool read_pool(ln_nnvm_op *n, int is_max, int counts_padding)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const int axes = dst->ndim - 2;
    pool p = {is_max, counts_padding, .src = ln_nnvm_op_in(n, "src")};
    if (axes < 1 || axes > 2)
        ln_nnvm_op_fail(n, "it has %d axes, expected 1 or 2: NNVM's core pools images", axes);
    if (ln_nnvm_op_failed(n))
        return p;
    const int image[] = {p.src.dims[0], p.src.dims[1], 1, p.src.dims[2]};
    const int lines[] = {dst->dims[0], dst->dims[1], 1, dst->dims[2]};
    p.src = axes == 1 ? ln_put_reshape(n, p.src, 4, image) : p.src;
    memcpy(p.dims, axes == 1 ? lines : dst->dims, sizeof(p.dims));
    for (int i = 0; i < 2; i++)
        read_axis(n, &p, i, i - (2 - axes));
    check_overhang(n, &p, axes);
    return p;
}

static int is_global(const pool *p)
{
    int is = !p->counts_padding;
    for (int i = 0; i < 2; i++)
        is &=
            p->dims[2 + i] == 1 && p->size[i] == p->src.dims[2 + i] && !p->before[i] && !p->end[i];
    return is;
}

static ln_nnvm_value put_pool(ln_nnvm_op *n, const pool *p, ln_nnvm_value src)
{
    ln_nnvm_draft *const d = &n->writer->draft;
    const int padding[] = {p->before[0], p->before[1], p->end[0], p->end[1]};
    if (is_global(p)) {
        return LN_PUT(n, p->is_max ? "global_max_pool2d" : "global_avg_pool2d", src.dtype, 4,
                      p->dims, LN_SRC(src));
    }
    ln_put_begin(n, p->is_max ? "max_pool2d" : "avg_pool2d");
    ln_put_arg(n, src);
    ln_nnvm_draft_set(d, LN_INTS("pool_size", 2, p->size));
    ln_nnvm_draft_set(d, LN_INTS("strides", 2, p->stride));
    ln_nnvm_draft_set(d, LN_INTS("padding", 4, padding));
    if (!p->is_max)
        ln_nnvm_draft_set(d, LN_BOOL("count_include_pad", p->counts_padding));
    return ln_put_end(n, src.dtype, 4, p->dims, 1);
}

static ln_nnvm_value from_image(ln_nnvm_op *n, ln_nnvm_value v)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    return ln_nnvm_op_failed(n) ? v : ln_put_reshape(n, v, dst->ndim, dst->dims);
}

static ln_nnvm_value write_pool(ln_nnvm_op *n, int is_max, int counts_padding)
{
    const pool p = read_pool(n, is_max, counts_padding);
    return from_image(n, put_pool(n, &p, p.src));
}

static ln_nnvm_value write_maxpool(ln_nnvm_op *n)
{
    return write_pool(n, 1, 0);
}

static ln_nnvm_value write_avgpool(ln_nnvm_op *n)
{
    return write_pool(n, 0, 0);
}

/** (sum of |x|^p)^(1/p), the sum being the mean times the size of the windows. */
static ln_nnvm_value write_norm_pool(ln_nnvm_op *n)
{
    const double power = ln_nnvm_op_number(n, "p", 2);
    pool p = read_pool(n, 0, 0);
    p.counts_padding = 1; // zeros add nothing
    ln_nnvm_value v = ln_put_scalar(n, "pow", ln_put(n, "abs", p.src), power);
    v = ln_put_scalar(n, "mul", put_pool(n, &p, v), (double)p.size[0] * p.size[1]);
    return from_image(n, ln_put_scalar(n, "pow", v, 1 / power));
}

static ln_nnvm_value write_poolnd(ln_nnvm_op *n)
{
    const char *const kind = ln_nnvm_op_text(n, "kind", "TL_POOL_MAX");
    if (!strcmp(kind, "TL_POOL_NORM"))
        return write_norm_pool(n);
    return write_pool(n, !strcmp(kind, "TL_POOL_MAX"),
                      strcmp(kind, "TL_POOL_MAX") && ln_nnvm_op_bool(n, "count_padding", 0));
}

const ln_nnvm_op_row ln_nnvm_write_rows_pool[] = {
    {"maxpool2d", write_maxpool},
    {"avgpool2d", write_avgpool},
    {"poolnd", write_poolnd},
    {NULL},
};
