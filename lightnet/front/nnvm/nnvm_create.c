// SPDX-License-Identifier: Apache-2.0
// Operators that make constants.

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_rows.h"
#include "front/nnvm/ln_nnvm_steps.h"
#include "tensorlight/tl_util.h"

/** `with`: the value, or NULL: an attribute says it. */
static double value_of(ln_nnvm_node *n, const char *key)
{
    if (n->row->with)
        return *n->row->with - '0';
    ln_nnvm_require(n, key);
    return ln_nnvm_float(n, key, 0);
}

/** The shape that is asked for. MXNet's may have a 0 for the size of the batch, as states of cells
 *  have where a sequence begins; that is the first length of the inputs. Returns the number of
 *  dimensions. */
static int read_shape(ln_nnvm_node *n, int dims[LN_MAXDIM])
{
    int64_t given[LN_NNVM_MAX_TUPLE];
    const int len = ln_nnvm_ints(n, "shape", given);
    if (len > LN_MAXDIM)
        ln_emit_fail(&n->emit, "a shape of %d dimensions, expected at most %d", len, LN_MAXDIM);
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++) {
        const int is_open = ln_nnvm_was_mxnet(n) && i == 0 && given[i] == 0;
        const int64_t dim = is_open ? n->model->batch_size : given[i];
        if (dim < 1 || dim > INT_MAX)
            ln_emit_fail(&n->emit,
                         is_open ? "attribute 'shape' begins with %" PRId64
                                   ": the shape of the inputs, which all begin with that length, "
                                   "is not known; give it by option 'shape'"
                                 : "attribute 'shape' has %" PRId64 ", expected 1 to %d",
                         given[i], INT_MAX);
        dims[i] = (int)dim;
    }
    if (!ln_nnvm_failed(n) && tl_compute_length(len > 0 ? len : 0, dims) < 0)
        ln_emit_fail(&n->emit, "%s", tl_last_error());
    return len > 0 ? len : 0;
}

static void translate_full(ln_nnvm_node *n)
{
    int dims[LN_MAXDIM];
    const int ndim = read_shape(n, dims);
    const tl_dtype dtype = ln_nnvm_dtype(n, "dtype", TL_FLOAT);
    const double value = value_of(n, "fill_value");
    if (!ln_nnvm_failed(n))
        ln_emit_full(&n->emit, dtype, ndim, dims, value, 0);
}

static void translate_full_like(ln_nnvm_node *n)
{
    const tl_tensor *const t = ln_nnvm_tensor_of(n, ln_nnvm_in(n, 0));
    int dims[LN_MAXDIM];
    const int ndim = ln_nnvm_copy_dims(n, ln_nnvm_in(n, 0), dims);
    const double value = value_of(n, "fill_value");
    if (!ln_nnvm_failed(n))
        ln_emit_full(&n->emit, t->dtype, ndim, dims, value, 0);
}

/** From 'start' to before 'stop', or from 0 to before 'start', each number 'repeat' times. */
static void translate_arange(ln_nnvm_node *n)
{
    ln_nnvm_require(n, "start");
    double start = ln_nnvm_float(n, "start", 0), stop = ln_nnvm_float(n, "stop", start);
    const double step = ln_nnvm_float(n, "step", 1);
    const tl_dtype dtype = ln_nnvm_dtype(n, "dtype", TL_FLOAT);
    const int repeats = ln_nnvm_int_in(n, "repeat", 1, 1, INT_MAX);
    if (!ln_nnvm_has(n, "stop"))
        start = 0;
    if (ln_nnvm_bool(n, "infer_range", 0))
        ln_emit_fail(&n->emit, "attribute 'infer_range' is True: its length is not told");
    const double len = ceil((stop - start) / step);
    if (!(len >= 1 && len <= INT_MAX / repeats))
        ln_emit_fail(&n->emit,
                     "from %g to %g in steps of %g, each %d times: expected 1 to %d numbers", start,
                     stop, step, repeats, INT_MAX);
    if (ln_nnvm_failed(n))
        return;
    const char *const first = ln_emit_scalar(&n->emit, dtype, start);
    const char *const delta = ln_emit_scalar(&n->emit, dtype, step);
    const char *dst = LN_EMIT(&n->emit, LN_EMIT_TEMP, "range", LN_ARG("start", first),
                              LN_ARG("delta", delta), LN_INT("len", (int64_t)len));
    if (repeats > 1)
        dst = ln_nnvm_repeat(n, dst, 0, repeats, LN_EMIT_TEMP);
    ln_nnvm_alias(n, 0, dst);
}

/** `with`: shape, the lengths of the axes, or size, the number of elements. */
static void translate_shape_array(ln_nnvm_node *n)
{
    const tl_tensor *const t = ln_nnvm_tensor_of(n, ln_nnvm_in(n, 0));
    int64_t values[LN_MAXDIM] = {t->len};
    const int is_shape = !strcmp(n->row->with, "shape");
    for (int i = 0; i < t->ndim && is_shape; i++)
        values[i] = t->dims[i];
    ln_nnvm_alias(n, 0, ln_emit_int64s(&n->emit, is_shape ? t->ndim : 1, values));
}

const ln_nnvm_row ln_nnvm_rows_create[] = {
    {"full", LN_NNVM_IN_CORE, translate_full, NULL},
    {"zeros", LN_NNVM_IN_CORE, translate_full, "0"},
    {"ones", LN_NNVM_IN_CORE, translate_full, "1"},
    {"_arange", LN_NNVM_IN_MXNET, translate_arange, NULL, .ignored = " ctx "},
    {"shape_array", LN_NNVM_IN_MXNET, translate_shape_array, "shape", 1, 1},
    {"size_array", LN_NNVM_IN_MXNET, translate_shape_array, "size", 1, 1},
    {"full_like", LN_NNVM_IN_CORE, translate_full_like, NULL, 1, 1},
    {"zeros_like", LN_NNVM_IN_CORE, translate_full_like, "0", 1, 1},
    {"ones_like", LN_NNVM_IN_CORE, translate_full_like, "1", 1, 1},
    {NULL},
};
