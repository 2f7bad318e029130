// Generated from good.op; edit that, not this.

#include <math.h>
#include <string.h>

#include "lightnet/ln_genop.h"
#include "tensorlight/tensorlight.h"
#include "lightnet/ln_context.h"

// blur: Weighs each line's neighbours "softly".

struct blur_priv {
    const tl_tensor *src;
    const tl_tensor *bias;
    int width;
    float sigma;
    const tl_dtype *dtypes;
};

static const char *name_of_blur_dtype(int i)
{
#line 69 "good.op"
    return tl_dtype_name((tl_dtype)i);
#line 25 "good.c"
}

static void blur_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_begin(op_arg, sizeof(struct blur_priv)))
        return;
    struct blur_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    ln_tensor_entry *bias_entry = ln_op_find_input(op_arg, "bias");
    const tl_tensor *bias = priv->bias;

    // checks
    if (bias_entry) {
#line 34 "good.op"
        ln_opck_satisfy_msg(bias->len == src->dims[0], "'bias' has %d elements, expected %d",
                            bias->len, src->dims[0]);
#line 42 "good.c"
    }
    if (bias_entry) {
#line 35 "good.op"
        ln_opck_satisfy(bias->len > 0);
#line 47 "good.c"
    }
    ln_param_entry *width_entry = ln_param_list_find(op_arg->params, "width");
    ln_opck_param_int_le(width_entry, src->dims[1]);
    const int width = priv->width;
    const float sigma = priv->sigma;
    ln_param_entry *weights_entry = ln_param_list_find(op_arg->params, "weights");
    ln_opck_param_array_len_eq(weights_entry, width);
    ln_param_entry *dtype_entry = ln_param_list_find(op_arg->params, "dtype");
#line 68 "good.op"
    const tl_dtype dtype = tl_dtype_from_str(dtype_entry->value_string);
#line 58 "good.c"
    if ((int)dtype == -1) {
        ln_op_fail_name(op_arg, "dtype", dtype_entry->value_string, name_of_blur_dtype);
        return;
    }
#line 71 "good.op"
    ln_opck_satisfy(dtype != TL_BOOL);
#line 65 "good.c"
    ln_param_entry *dtypes_entry = ln_param_list_find(op_arg->params, "dtypes");
#line 76 "good.op"
    tl_dtype *dtypes = ln_alloc_array((size_t)dtypes_entry->array_len, sizeof(tl_dtype));
#line 69 "good.c"
    if (!dtypes) {
        ln_op_fail_last(op_arg);
        return;
    }
    priv->dtypes = dtypes;
    for (int i = 0; i < dtypes_entry->array_len; i++) {
#line 77 "good.op"
        dtypes[i] = tl_dtype_from_str(dtypes_entry->value_array_string[i]);
#line 78 "good.c"
        if ((int)dtypes[i] == -1) {
            ln_op_fail_name(op_arg, "dtypes", dtypes_entry->value_array_string[i], NULL);
            return;
        }
    }
#line 79 "good.op"
    ln_opck_satisfy(dtypes[0] == dtype);
#line 26 "good.op"
    ln_opck_satisfy(width <= src->dims[1]);
#line 88 "good.c"

    // outputs
    if (!ln_op_define_output(op_arg, "dst", src->ndim, src->dims, src->dtype, LN_MEM_NONE))
        return;

#line 84 "good.op"
    if (sigma > 1e6F)
        ln_op_fail(op_arg, "sigma is %g", sigma);
#line 97 "good.c"
}

static void blur_post_run(ln_op_arg *op_arg)
{
    struct blur_priv *priv = op_arg->priv;
    if (!priv)
        return;
    ln_free((void *)priv->dtypes);
    ln_op_end(op_arg);
}

static const ln_arg_info blur_tensors_in[] = {
    {.arg_name = "src", .doc = "any floats", .type = "2-D FLT", .dtypes = LN_DTYPES_FLOAT,
     .ndim = 2, .at = LN_MEMBER(struct blur_priv, src)},
    {.arg_name = "bias", .doc = "one per line", .type = "1-D TL_FLOAT", .optional = 1,
     .dtypes = LN_DTYPE_BIT(TL_FLOAT), .ndim = 1, .at = LN_MEMBER(struct blur_priv, bias)},
    {.arg_name = NULL},
};
static const char *blur_in_arg_names[] = {"src", "bias", NULL};
static const ln_arg_info blur_tensors_out[] = {
    {.arg_name = "dst", .doc = "the result", .type = "shape of src, dtype of src"},
    {.arg_name = NULL},
};
static const char *blur_out_arg_names[] = {"dst", NULL};
static const ln_arg_info blur_params[] = {
    {.arg_name = "width", .doc = "", .type = "number -> int", .deflt = "3",
     .bounds = (const ln_bound[]){LN_VALUE(GE, 1), LN_VALUE(NE, 2), {0}},
     .numbers = (const double[]){3}, .n_default = 1, .at = LN_MEMBER(struct blur_priv, width)},
    {.arg_name = "shift", .doc = "", .type = "number -> int", .deflt = "0",
     .numbers = (const double[]){0}, .n_default = 1},
    {.arg_name = "sigma", .doc = "", .type = "number -> float", .deflt = "0.5",
     .view = LN_OPCK_FLOAT, .bounds = (const ln_bound[]){LN_VALUE(GT, 0), {0}},
     .numbers = (const double[]){0.5}, .n_default = 1, .at = LN_MEMBER(struct blur_priv, sigma)},
    {.arg_name = "edge", .doc = "", .type = "string", .deflt = "\"mirror\"",
     .strings = (const char *const[]){"mirror"}, .n_default = 1},
    {.arg_name = "wrap", .doc = "", .type = "bool", .deflt = "true",
     .numbers = (const double[]){1}, .n_default = 1},
    {.arg_name = "weights", .doc = "", .type = "array_number -> double [width]",
     .deflt = "[0.25, 0.5, 0.25]", .view = LN_OPCK_DOUBLE,
     .bounds = (const ln_bound[]){LN_VALUE(GE, 0), LN_VALUE(LT, 1), {0}},
     .numbers = (const double[]){0.25, 0.5, 0.25}, .n_default = 3},
    {.arg_name = "flags", .doc = "", .type = "array_bool", .deflt = "[true, false]",
     .bounds = (const ln_bound[]){LN_LENGTH(LT, 4), {0}}, .numbers = (const double[]){1, 0},
     .n_default = 2},
    {.arg_name = "labels", .doc = "", .type = "array_string", .deflt = "[\"a\", \"b\"]",
     .bounds = (const ln_bound[]){LN_LENGTH(NE, 1), {0}}, .strings = (const char *const[]){"a",
     "b"}, .n_default = 2},
    {.arg_name = "dtype", .doc = "", .type = "string -> tl_dtype", .deflt = "\"TL_FLOAT\"",
     .strings = (const char *const[]){"TL_FLOAT"}, .n_default = 1},
    {.arg_name = "dtypes", .doc = "", .type = "array_string -> tl_dtype",
     .deflt = "[\"TL_FLOAT\"]", .strings = (const char *const[]){"TL_FLOAT"}, .n_default = 1},
    {.arg_name = NULL},
};
static const char *blur_param_arg_names[] = {"width", "shift", "sigma", "edge", "wrap", "weights",
                                             "flags", "labels", "dtype", "dtypes", NULL};
static const ln_param_type blur_param_ptypes[] = {LN_PARAM_NUMBER, LN_PARAM_NUMBER,
                                                  LN_PARAM_NUMBER, LN_PARAM_STRING, LN_PARAM_BOOL,
                                                  LN_PARAM_ARRAY_NUMBER, LN_PARAM_ARRAY_BOOL,
                                                  LN_PARAM_ARRAY_STRING, LN_PARAM_STRING,
                                                  LN_PARAM_ARRAY_STRING, LN_PARAM_INVALID};

static const ln_op_info blur_info =
    {.doc = "Weighs each line's neighbours \"softly\".", .author = "The LightNet authors",
     .source = "good.op", .pure = 1, .inplace_writer = 0, .tensors_in = blur_tensors_in,
     .tensors_out = blur_tensors_out, .params = blur_params};

LN_GENOP(blur, blur, "none", LN_MEM_NONE, .pre_run = blur_pre_run, .post_run = blur_post_run);

// split_cpu: The upper rows and, if wanted, the others.
#define priv_s split_cpu_priv

struct split_cpu_priv {
    const tl_tensor *src;
    ln_tensor_entry *src_entry;
    tl_tensor *upper;
    ln_tensor_entry *upper_entry;
    tl_tensor *lower;
    int rows;
#line 96 "good.op"
    int runs;
    double *table;
#line 179 "good.c"
};

static void split_cpu_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_begin(op_arg, sizeof(struct split_cpu_priv)))
        return;
    struct split_cpu_priv *priv = op_arg->priv;
    const char *src_name = ln_tensor_list_find_name(op_arg->tensors_in, "src");
    ln_tensor_entry *src_entry = ln_op_find_input(op_arg, "src");
    const tl_tensor *src = priv->src;

    // checks
#line 100 "good.op"
    ln_opck_satisfy(src->ndim > 0 && src->dims[0] > 1);
#line 194 "good.c"
    ln_param_entry *rows_entry = ln_param_list_find(op_arg->params, "rows");
    ln_opck_param_int_lt(rows_entry, src->dims[0]);
    const int rows = priv->rows;

    // outputs
    int *upper_dims = NULL;
#line 111 "good.op"
    upper_dims = ln_clone(src->dims, sizeof(int) * (size_t)src->ndim);
    if (!upper_dims) {
        ln_op_fail_last(op_arg);
        return;
    }

    upper_dims[0] = rows;
#line 209 "good.c"
    ln_tensor_entry *upper_entry = ln_op_define_output(op_arg, "upper", src->ndim, upper_dims,
        src->dtype, LN_MEM_CPU);
#line 119 "good.op"
    ln_free(upper_dims);
#line 214 "good.c"
    if (!upper_entry)
        return;
    if (ln_tensor_entry_set_owner(upper_entry, op_arg->tensor_table, src_name)) {
        ln_op_fail_last(op_arg);
        return;
    }
    tl_tensor *upper = upper_entry->tensor;
    ln_tensor_entry *lower_entry = NULL;
    if (ln_tensor_list_find_by_arg_name(op_arg->tensors_out, "lower")) {
        int lower_dims[LN_MAXDIM];
        memcpy(lower_dims, src->dims, sizeof(int) * (size_t)src->ndim);
#line 129 "good.op"
        lower_dims[0] = src->dims[0] - upper->dims[0];
#line 228 "good.c"
        lower_entry = ln_op_define_output(op_arg, "lower", src->ndim, lower_dims, upper->dtype,
                                          LN_MEM_CPU);
        if (!lower_entry)
            return;
        lower_entry->isstatic = 1;
    }

    // for the other functions
    priv->src_entry = src_entry;
    priv->upper = upper;
    priv->upper_entry = upper_entry;
    priv->lower = lower_entry ? lower_entry->tensor : NULL;

    // scratch memory
#line 136 "good.op"
    op_arg->scratch_size = tl_tensor_size(src);
#line 245 "good.c"

#line 137 "good.op"
    priv->table = NULL;
#line 249 "good.c"

    // for reports
#line 138 "good.op"
    op_arg->macs = 3.0 * rows;
    op_arg->algorithm = rows > 1 ? "many" : "one";
    op_arg->layout = "plain";
#line 256 "good.c"
}

static void split_cpu_post_run(ln_op_arg *op_arg)
{
    struct split_cpu_priv *priv = op_arg->priv;
    if (!priv)
        return;
#line 149 "good.op"
    ln_free(priv->table);
#line 266 "good.c"
    ln_op_end(op_arg);
}

static size_t split_cpu_calc_offset(ln_op_arg *op_arg, ln_tensor_entry *te)
{
    struct split_cpu_priv *priv = op_arg->priv;
    ln_tensor_entry *src_entry = priv->src_entry;
    ln_tensor_entry *upper_entry = priv->upper_entry;

#line 150 "good.op"
    return te == upper_entry ? src_entry->offset : te->offset;
#line 278 "good.c"
}

static const ln_arg_info split_cpu_tensors_in[] = {
    {.arg_name = "src", .doc = "[n, ..]", .type = "any", .isstatic = 1,
     .at = LN_MEMBER(struct split_cpu_priv, src)},
    {.arg_name = NULL},
};
static const char *split_cpu_in_arg_names[] = {"src", NULL};
static const ln_arg_info split_cpu_tensors_out[] = {
    {.arg_name = "upper", .doc = "[rows, ..]", .type = "src->dtype", .owner = "src"},
    {.arg_name = "lower", .doc = "[n - rows, ..]", .type = "dtype of upper", .optional = 1},
    {.arg_name = NULL},
};
static const char *split_cpu_out_arg_names[] = {"upper", "lower", NULL};
static const ln_arg_info split_cpu_params[] = {
    {.arg_name = "rows", .doc = "", .type = "number -> int",
     .bounds = (const ln_bound[]){LN_VALUE(GE, 1), {0}}, .at = LN_MEMBER(struct split_cpu_priv,
     rows)},
    {.arg_name = NULL},
};
static const char *split_cpu_param_arg_names[] = {"rows", NULL};
static const ln_param_type split_cpu_param_ptypes[] = {LN_PARAM_NUMBER, LN_PARAM_INVALID};

static const ln_op_info split_cpu_info =
    {.doc = "The upper rows and, if wanted, the others.", .author = "The LightNet authors",
     .source = "good.op", .pure = 0, .inplace_writer = 1, .tensors_in = split_cpu_tensors_in,
     .tensors_out = split_cpu_tensors_out, .params = split_cpu_params};

static void split_cpu_static_run(ln_op_arg *op_arg)
{
    struct split_cpu_priv *priv = op_arg->priv;

#line 141 "good.op"
    ((struct priv_s *)priv)->runs = 0;
#line 313 "good.c"
}

static void split_cpu_run(ln_op_arg *op_arg)
{
    struct split_cpu_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    tl_tensor *upper = priv->upper;
    tl_tensor *lower = priv->lower;

#line 144 "good.op"
    priv->runs++;
    if (lower)
        memcpy(lower->data, (const char *)src->data + tl_tensor_size(upper),
               tl_tensor_size(lower));
#line 328 "good.c"
}

LN_GENOP(split_cpu, split_cpu, "cpu", LN_MEM_CPU, .pre_run = split_cpu_pre_run,
         .static_run = split_cpu_static_run, .run = split_cpu_run, .post_run = split_cpu_post_run,
         .calc_offset = split_cpu_calc_offset);

#undef priv_s

// stack_cpu: One tensor of many tensors that have the same type and shape: the first axis counts
// them, the others are theirs.

struct stack_cpu_priv {
    const tl_tensor **src;
    ln_tensor_entry **src_entry;
    int src_n;
    tl_tensor *dst;
};

static void stack_cpu_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_begin(op_arg, sizeof(struct stack_cpu_priv)))
        return;
    struct stack_cpu_priv *priv = op_arg->priv;
    priv->src_n = ln_op_find_variadic(op_arg, "src", &priv->src_entry, &priv->src);
    if (priv->src_n < 0)
        return;
    const tl_tensor **src = priv->src;
    const int src_n = priv->src_n;
    for (int i = 0; i < priv->src_n; i++) {
        ln_opck_tensor_on_target(priv->src_entry[i]);
    }

    // checks
    for (int i = 0; i < priv->src_n; i++) {
#line 165 "good.op"
        ln_opck_satisfy(src[i]->dtype == src[0]->dtype && tl_tensor_issameshape(src[i], src[0]));
#line 365 "good.c"
    }
#line 166 "good.op"
    ln_opck_satisfy(src_n < 100);
#line 369 "good.c"

    // outputs
    tl_dtype dst_dtype = TL_FLOAT;
    int dst_ndim = 1;
    int *dst_dims = NULL;
#line 178 "good.op"
    int stacked[LN_MAXDIM];
    dst_dtype = src[0]->dtype;
    dst_ndim = src[0]->ndim + 1;
    ln_opck_satisfy(dst_ndim <= LN_MAXDIM);
    memcpy(stacked + 1, src[0]->dims, sizeof(int) * (size_t)src[0]->ndim);
    stacked[0] = src_n;
    dst_dims = stacked;
#line 383 "good.c"
    ln_tensor_entry *dst_entry = ln_op_define_output(op_arg, "dst", dst_ndim, dst_dims, dst_dtype,
        LN_MEM_CPU);
    if (!dst_entry)
        return;

    // for the other functions
    priv->dst = dst_entry->tensor;
}

static void stack_cpu_post_run(ln_op_arg *op_arg)
{
    struct stack_cpu_priv *priv = op_arg->priv;
    if (!priv)
        return;
    ln_free(priv->src_entry);
    ln_free((void *)priv->src);
    ln_op_end(op_arg);
}

static const ln_arg_info stack_cpu_tensors_in[] = {
    {.arg_name = "src", .doc = "[..]", .type = "any", .variadic = 1},
    {.arg_name = NULL},
};
static const char *stack_cpu_in_arg_names[] = {"src", NULL};
static const ln_arg_info stack_cpu_tensors_out[] = {
    {.arg_name = "dst", .doc = "[n, ..]", .type = "any"},
    {.arg_name = NULL},
};
static const char *stack_cpu_out_arg_names[] = {"dst", NULL};
static const ln_arg_info stack_cpu_params[] = {
    {.arg_name = NULL},
};
static const char *stack_cpu_param_arg_names[] = {NULL};
static const ln_param_type stack_cpu_param_ptypes[] = {LN_PARAM_INVALID};

static const ln_op_info stack_cpu_info =
    {.doc = "One tensor of many tensors that have the same type and shape: the first axis counts "
     "them, the others are theirs.", .author = "The LightNet authors", .source = "good.op",
     .pure = 1, .inplace_writer = 0, .tensors_in = stack_cpu_tensors_in,
     .tensors_out = stack_cpu_tensors_out, .params = stack_cpu_params};

static void stack_cpu_run(ln_op_arg *op_arg)
{
    struct stack_cpu_priv *priv = op_arg->priv;
    const tl_tensor **src = priv->src;
    const int src_n = priv->src_n;
    tl_tensor *dst = priv->dst;
    const tl_exec exec = ln_op_exec(op_arg);

#line 189 "good.op"
    if (tl_exec_gather(&exec, src, src_n, dst))
#line 435 "good.c"
        ln_op_fail_tl(op_arg);
}

LN_GENOP(stack_cpu, stack_cpu, "cpu", LN_MEM_CPU, .pre_run = stack_cpu_pre_run,
         .run = stack_cpu_run, .post_run = stack_cpu_post_run);

// rows_cpu: The rows of a matrix.

struct rows_cpu_priv {
    const tl_tensor *src;
    tl_tensor **dst;
    ln_tensor_entry **dst_entry;
    int dst_n;
    tl_tensor *total;
};

static void rows_cpu_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_begin(op_arg, sizeof(struct rows_cpu_priv)))
        return;
    struct rows_cpu_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;

    // outputs
    priv->dst_n = ln_op_alloc_variadic(op_arg, "dst", &priv->dst_entry, &priv->dst);
    if (priv->dst_n < 0)
        return;
    const int dst_n = priv->dst_n;
    const ln_list *dst_at = op_arg->tensors_out;
    for (int i = 0; i < priv->dst_n; i++) {
        const int dst_dims[] = {src->dims[1]};
        priv->dst_entry[i] = ln_op_define_variadic(op_arg, &dst_at, "dst", 1, dst_dims, src->dtype,
            LN_MEM_CPU);
        if (!priv->dst_entry[i])
            return;
        priv->dst[i] = priv->dst_entry[i]->tensor;
    }
    const int total_dims[] = {1, src->dims[0]};
    ln_tensor_entry *total_entry = ln_op_define_output(op_arg, "total", 2, total_dims, TL_DOUBLE,
        LN_MEM_CPU);
    if (!total_entry)
        return;
#line 210 "good.op"
    ln_opck_tensor_len(total_entry, dst_n);
#line 480 "good.c"

    // for the other functions
    priv->total = total_entry->tensor;
}

static void rows_cpu_post_run(ln_op_arg *op_arg)
{
    struct rows_cpu_priv *priv = op_arg->priv;
    if (!priv)
        return;
    ln_free(priv->dst_entry);
    ln_free((void *)priv->dst);
    ln_op_end(op_arg);
}

static const char *const rows_cpu_total_inplace[] = {"like", NULL};
static const ln_arg_info rows_cpu_tensors_in[] = {
    {.arg_name = "src", .doc = "[n, m]", .type = "2-D NUM", .dtypes = LN_DTYPES_NUMBER, .ndim = 2,
     .at = LN_MEMBER(struct rows_cpu_priv, src)},
    {.arg_name = "like", .doc = "[n, m]", .type = "shape of src, dtype of src", .same_type = "src",
     .same_shape = "src"},
    {.arg_name = NULL},
};
static const char *rows_cpu_in_arg_names[] = {"src", "like", NULL};
static const ln_arg_info rows_cpu_tensors_out[] = {
    {.arg_name = "dst", .doc = "[m]", .type = "1-D dtype of src", .variadic = 1, .dynamic = 1},
    {.arg_name = "total", .doc = "[1, n]", .type = "2-D TL_DOUBLE",
     .inplace = rows_cpu_total_inplace},
    {.arg_name = NULL},
};
static const char *rows_cpu_out_arg_names[] = {"dst", "total", NULL};
static const ln_arg_info rows_cpu_params[] = {
    {.arg_name = NULL},
};
static const char *rows_cpu_param_arg_names[] = {NULL};
static const ln_param_type rows_cpu_param_ptypes[] = {LN_PARAM_INVALID};

static const ln_op_info rows_cpu_info =
    {.doc = "The rows of a matrix.", .author = "The LightNet authors", .source = "good.op",
     .pure = 1, .inplace_writer = 0, .tensors_in = rows_cpu_tensors_in,
     .tensors_out = rows_cpu_tensors_out, .params = rows_cpu_params};

static void rows_cpu_static_run(ln_op_arg *op_arg)
{
    struct rows_cpu_priv *priv = op_arg->priv;
    tl_tensor *total = priv->total;
    const tl_exec exec = ln_op_exec(op_arg);

#line 215 "good.op"
    if (tl_exec_zeros(&exec, total))
#line 531 "good.c"
        ln_op_fail_tl(op_arg);
}

static void rows_cpu_run(ln_op_arg *op_arg)
{
    struct rows_cpu_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    tl_tensor **dst = priv->dst;
    const int dst_n = priv->dst_n;
    const tl_exec exec = ln_op_exec(op_arg);

#line 216 "good.op"
    if (tl_exec_scatter(&exec, src, dst, dst_n))
#line 545 "good.c"
        ln_op_fail_tl(op_arg);
}

LN_GENOP(rows_cpu, rows_cpu, "cpu", LN_MEM_CPU, .pre_run = rows_cpu_pre_run,
         .static_run = rows_cpu_static_run, .run = rows_cpu_run, .post_run = rows_cpu_post_run);

// rows_alone_cpu: The rows of a matrix.

struct rows_alone_cpu_priv {
    const tl_tensor *src;
    tl_tensor **dst;
    ln_tensor_entry **dst_entry;
    int dst_n;
};

static void rows_alone_cpu_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_begin(op_arg, sizeof(struct rows_alone_cpu_priv)))
        return;
    struct rows_alone_cpu_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;

    // outputs
    priv->dst_n = ln_op_alloc_variadic(op_arg, "dst", &priv->dst_entry, &priv->dst);
    if (priv->dst_n < 0)
        return;
    const int dst_n = priv->dst_n;
    const ln_list *dst_at = op_arg->tensors_out;
    for (int i = 0; i < priv->dst_n; i++) {
        const int dst_dims[] = {src->dims[1]};
        priv->dst_entry[i] = ln_op_define_variadic(op_arg, &dst_at, "dst", 1, dst_dims, src->dtype,
            LN_MEM_CPU);
        if (!priv->dst_entry[i])
            return;
        priv->dst[i] = priv->dst_entry[i]->tensor;
    }
    const int total_dims[] = {1, src->dims[0]};
    ln_tensor_entry *total_entry = ln_op_define_output(op_arg, "total", 2, total_dims, TL_DOUBLE,
        LN_MEM_CPU);
    if (!total_entry)
        return;
#line 210 "good.op"
    ln_opck_tensor_len(total_entry, dst_n);
#line 589 "good.c"
}

static void rows_alone_cpu_post_run(ln_op_arg *op_arg)
{
    struct rows_alone_cpu_priv *priv = op_arg->priv;
    if (!priv)
        return;
    ln_free(priv->dst_entry);
    ln_free((void *)priv->dst);
    ln_op_end(op_arg);
}

static const char *const rows_alone_cpu_total_inplace[] = {"like", NULL};
static const ln_arg_info rows_alone_cpu_tensors_in[] = {
    {.arg_name = "src", .doc = "[n, m]", .type = "2-D NUM", .dtypes = LN_DTYPES_NUMBER, .ndim = 2,
     .at = LN_MEMBER(struct rows_alone_cpu_priv, src)},
    {.arg_name = "like", .doc = "[n, m]", .type = "any"},
    {.arg_name = NULL},
};
static const char *rows_alone_cpu_in_arg_names[] = {"src", "like", NULL};
static const ln_arg_info rows_alone_cpu_tensors_out[] = {
    {.arg_name = "dst", .doc = "[m]", .type = "1-D dtype of src", .variadic = 1, .dynamic = 1},
    {.arg_name = "total", .doc = "[1, n]", .type = "2-D TL_DOUBLE",
     .inplace = rows_alone_cpu_total_inplace},
    {.arg_name = NULL},
};
static const char *rows_alone_cpu_out_arg_names[] = {"dst", "total", NULL};
static const ln_arg_info rows_alone_cpu_params[] = {
    {.arg_name = NULL},
};
static const char *rows_alone_cpu_param_arg_names[] = {NULL};
static const ln_param_type rows_alone_cpu_param_ptypes[] = {LN_PARAM_INVALID};

static const ln_op_info rows_alone_cpu_info =
    {.doc = "The rows of a matrix.", .author = "The LightNet authors", .source = "good.op",
     .pure = 1, .inplace_writer = 0, .tensors_in = rows_alone_cpu_tensors_in,
     .tensors_out = rows_alone_cpu_tensors_out, .params = rows_alone_cpu_params};

static void rows_alone_cpu_run(ln_op_arg *op_arg)
{
    struct rows_alone_cpu_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    tl_tensor **dst = priv->dst;
    const int dst_n = priv->dst_n;

#line 226 "good.op"
    tl_exec_scatter(NULL, src, dst, dst_n);
#line 637 "good.c"
}

LN_GENOP(rows_alone_cpu, rows_alone_cpu, "cpu", LN_MEM_CPU, .pre_run = rows_alone_cpu_pre_run,
         .run = rows_alone_cpu_run, .post_run = rows_alone_cpu_post_run);

// count: Counts lines, and keeps what is positive.
#define priv_s count_priv

struct count_priv {
    const tl_tensor *src;
    tl_tensor *dst;
    int axis;
#line 233 "good.op"
    int lines;
#line 652 "good.c"
};

static void count_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_begin(op_arg, sizeof(struct count_priv)))
        return;
    struct count_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    ln_tensor_entry *host_entry = ln_op_find_input(op_arg, "host");
    if (host_entry) {
        ln_opck_tensor_mtype_eq(host_entry, LN_MEM_CPU);
    }

    // outputs
    ln_tensor_entry *dst_entry = ln_op_define_output(op_arg, "dst", src->ndim, src->dims,
        src->dtype, op_arg->mtype);
    if (!dst_entry)
        return;

    // for the other functions
    priv->dst = dst_entry->tensor;

#line 236 "good.op"
    priv->lines = src->dims[0];
#line 677 "good.c"
}

static const ln_arg_info count_tensors_in[] = {
    {.arg_name = "src", .doc = "any floats", .type = "FLT", .dtypes = LN_DTYPES_FLOAT,
     .at = LN_MEMBER(struct count_priv, src)},
    {.arg_name = "host", .doc = "", .type = "dtype of src", .optional = 1, .anywhere = 1,
     .same_type = "src"},
    {.arg_name = NULL},
};
static const char *count_in_arg_names[] = {"src", "host", NULL};
static const ln_arg_info count_tensors_out[] = {
    {.arg_name = "dst", .doc = "the result", .type = "shape of src, dtype of src"},
    {.arg_name = NULL},
};
static const char *count_out_arg_names[] = {"dst", NULL};
static const ln_arg_info count_params[] = {
    {.arg_name = "axis", .doc = "", .type = "number -> int",
     .bounds = (const ln_bound[]){LN_VALUE(GE, 0), {0}}, .at = LN_MEMBER(struct count_priv, axis)},
    {.arg_name = NULL},
};
static const char *count_param_arg_names[] = {"axis", NULL};
static const ln_param_type count_param_ptypes[] = {LN_PARAM_NUMBER, LN_PARAM_INVALID};

static const ln_op_info count_info =
    {.doc = "Counts lines, and keeps what is positive.", .author = "The LightNet authors",
     .source = "good.op", .pure = 1, .inplace_writer = 0, .tensors_in = count_tensors_in,
     .tensors_out = count_tensors_out, .params = count_params};

LN_GENOP(count, count, "none", LN_MEM_NONE, .pre_run = count_pre_run, .post_run = ln_op_end);

#undef priv_s

// count on cpu.
#define priv_s count_priv

static void count_cpu_run(ln_op_arg *op_arg)
{
    struct count_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    tl_tensor *dst = priv->dst;
    const tl_exec exec = ln_op_exec(op_arg);

#line 238 "good.op"
    if (tl_exec_relu(&exec, src, dst))
#line 722 "good.c"
        ln_op_fail_tl(op_arg);
}

LN_GENOP(count, count_cpu, "cpu", LN_MEM_CPU, .pre_run = count_pre_run, .run = count_cpu_run,
         .post_run = ln_op_end);

#undef priv_s

// count on far.
#define priv_s count_priv

static void count_far_pre_run(ln_op_arg *op_arg)
{
    count_pre_run(op_arg);
    if (op_arg->failed)
        return;
    struct count_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    const int axis = priv->axis;

    // scratch memory
#line 241 "good.op"
    op_arg->scratch_size = (size_t)axis * tl_tensor_size(src);
#line 746 "good.c"

    // for reports
#line 242 "good.op"
    op_arg->macs = priv->lines;
#line 751 "good.c"
}

static void count_far_static_run(ln_op_arg *op_arg)
{
    struct count_priv *priv = op_arg->priv;
    tl_tensor *dst = priv->dst;
    const tl_exec exec = ln_op_exec(op_arg);

#line 243 "good.op"
    if (tl_exec_zeros(&exec, dst))
#line 762 "good.c"
        ln_op_fail_tl(op_arg);
}

static void count_far_run(ln_op_arg *op_arg)
{
    struct count_priv *priv = op_arg->priv;
    const int axis = priv->axis;

#line 244 "good.op"
    ((struct priv_s *)priv)->lines += axis;
#line 773 "good.c"
}

LN_GENOP(count, count_far, "far", LN_MEM_CPU, .pre_run = count_far_pre_run,
         .static_run = count_far_static_run, .run = count_far_run, .post_run = ln_op_end);

#undef priv_s

// count_slowly_cpu: Counts lines, and keeps what is positive.

struct count_slowly_cpu_priv {
    const tl_tensor *src;
    tl_tensor *dst;
#line 233 "good.op"
    int lines;
#line 788 "good.c"
};

static void count_slowly_cpu_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_begin(op_arg, sizeof(struct count_slowly_cpu_priv)))
        return;
    struct count_slowly_cpu_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    ln_tensor_entry *host_entry = ln_op_find_input(op_arg, "host");
    if (host_entry) {
        ln_opck_tensor_mtype_eq(host_entry, LN_MEM_CPU);
    }

    // outputs
    ln_tensor_entry *dst_entry = ln_op_define_output(op_arg, "dst", src->ndim, src->dims,
        src->dtype, LN_MEM_CPU);
    if (!dst_entry)
        return;

    // for the other functions
    priv->dst = dst_entry->tensor;

#line 236 "good.op"
    priv->lines = src->dims[0];
#line 813 "good.c"
}

static const ln_arg_info count_slowly_cpu_tensors_in[] = {
    {.arg_name = "src", .doc = "any floats", .type = "FLT", .dtypes = LN_DTYPES_FLOAT,
     .at = LN_MEMBER(struct count_slowly_cpu_priv, src)},
    {.arg_name = "host", .doc = "", .type = "dtype of src", .optional = 1, .anywhere = 1,
     .same_type = "src"},
    {.arg_name = NULL},
};
static const char *count_slowly_cpu_in_arg_names[] = {"src", "host", NULL};
static const ln_arg_info count_slowly_cpu_tensors_out[] = {
    {.arg_name = "dst", .doc = "the result", .type = "shape of src, dtype of src"},
    {.arg_name = NULL},
};
static const char *count_slowly_cpu_out_arg_names[] = {"dst", NULL};
static const ln_arg_info count_slowly_cpu_params[] = {
    {.arg_name = "axis", .doc = "", .type = "number -> int",
     .bounds = (const ln_bound[]){LN_VALUE(GE, 0), {0}}},
    {.arg_name = NULL},
};
static const char *count_slowly_cpu_param_arg_names[] = {"axis", NULL};
static const ln_param_type count_slowly_cpu_param_ptypes[] = {LN_PARAM_NUMBER, LN_PARAM_INVALID};

static const ln_op_info count_slowly_cpu_info =
    {.doc = "Counts lines, and keeps what is positive.", .author = "The LightNet authors",
     .source = "good.op", .pure = 1, .inplace_writer = 0,
     .tensors_in = count_slowly_cpu_tensors_in, .tensors_out = count_slowly_cpu_tensors_out,
     .params = count_slowly_cpu_params};

static void count_slowly_cpu_run(ln_op_arg *op_arg)
{
    struct count_slowly_cpu_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    tl_tensor *dst = priv->dst;

#line 252 "good.op"
    if (tl_exec_relu(NULL, src, dst))
#line 851 "good.c"
        ln_op_fail_tl(op_arg);
}

LN_GENOP(count_slowly_cpu, count_slowly_cpu, "cpu", LN_MEM_CPU,
         .pre_run = count_slowly_cpu_pre_run, .run = count_slowly_cpu_run, .post_run = ln_op_end);

// watch: Somebody looks at it.

static void watch_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_begin(op_arg, 0))
        return;
}

static const ln_arg_info watch_tensors_in[] = {
    {.arg_name = "src", .doc = "[..]", .type = "any"},
    {.arg_name = NULL},
};
static const char *watch_in_arg_names[] = {"src", NULL};
static const ln_arg_info watch_tensors_out[] = {
    {.arg_name = NULL},
};
static const char *watch_out_arg_names[] = {NULL};
static const ln_arg_info watch_params[] = {
    {.arg_name = NULL},
};
static const char *watch_param_arg_names[] = {NULL};
static const ln_param_type watch_param_ptypes[] = {LN_PARAM_INVALID};

static const ln_op_info watch_info =
    {.doc = "Somebody looks at it.", .author = "The LightNet authors", .source = "good.op",
     .pure = 0, .inplace_writer = 0, .tensors_in = watch_tensors_in,
     .tensors_out = watch_tensors_out, .params = watch_params};

LN_GENOP(watch, watch, "none", LN_MEM_NONE, .pre_run = watch_pre_run, .post_run = ln_op_end);
