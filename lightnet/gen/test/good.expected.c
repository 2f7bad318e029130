// Generated from good.op; edit that, not this.

#include <limits.h>
#include <math.h>
#include <string.h>

#include "lightnet/ln_genop.h"
#include "lightnet/ln_op.h"
#include "tensorlight/tensorlight.h"
#include "lightnet/ln_context.h"

// blur: Weighs each line's neighbours "softly".

struct blur_priv {
    const tl_dtype *dtypes;
};

static const char *name_of_blur_dtype(int i)
{
#line 69 "good.op"
    return tl_dtype_name((tl_dtype)i);
#line 23 "good.c"
}

static void blur_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_check_args(op_arg))
        return;

    struct blur_priv *priv = ln_alloc(sizeof(*priv));
    if (!priv) {
        ln_op_fail_last(op_arg);
        return;
    }
    op_arg->priv = priv;

    // inputs
    const char *src_name = ln_tensor_list_find_name(op_arg->tensors_in, "src");
    ln_tensor_entry *src_entry = ln_op_find_input(op_arg, "src");
    ln_opck_tensor_defined(src_entry, src_name);
    tl_tensor *src = src_entry->tensor;
    ln_opck_satisfy_msg(tl_dtype_is_float(src->dtype),
                        "'src' has data type %s, expected a floating-point type",
                        tl_dtype_name(src->dtype));
    ln_opck_tensor_ndim(src_entry, 2);

    const char *bias_name = ln_tensor_list_find_name(op_arg->tensors_in, "bias");
    ln_tensor_entry *bias_entry = NULL;
    tl_tensor *bias = NULL;
    if (bias_name) {
        bias_entry = ln_op_find_input(op_arg, "bias");
        ln_opck_tensor_defined(bias_entry, bias_name);
        bias = bias_entry->tensor;
        ln_opck_tensor_dtype_eq(bias_entry, TL_FLOAT);
        ln_opck_tensor_ndim(bias_entry, 1);
    }
    if (bias_entry) {
#line 34 "good.op"
        ln_opck_satisfy_msg(bias->len == src->dims[0], "'bias' has %d elements, expected %d",
                            bias->len, src->dims[0]);
#line 62 "good.c"
    }
    if (bias_entry) {
#line 35 "good.op"
        ln_opck_satisfy(bias->len > 0);
#line 67 "good.c"
    }

    // parameters
    if (ln_op_default_number(op_arg, "width", 3))
        return;
    ln_param_entry *width_entry = ln_param_list_find(op_arg->params, "width");
    ln_opck_param_type(width_entry, LN_PARAM_NUMBER);
    ln_opck_param_int_ge(width_entry, 1);
    ln_opck_param_int_le(width_entry, src->dims[1]);
    ln_opck_param_int_ne(width_entry, 2);
    const int width = width_entry->value_int;

    if (ln_op_default_number(op_arg, "shift", 0))
        return;
    ln_param_entry *shift_entry = ln_param_list_find(op_arg->params, "shift");
    ln_opck_param_type(shift_entry, LN_PARAM_NUMBER);
    ln_opck_param_int_ge(shift_entry, INT_MIN); // any int

    if (ln_op_default_number(op_arg, "sigma", 0.5))
        return;
    ln_param_entry *sigma_entry = ln_param_list_find(op_arg->params, "sigma");
    ln_opck_param_type(sigma_entry, LN_PARAM_NUMBER);
    ln_opck_param_float_gt(sigma_entry, 0);
    const float sigma = sigma_entry->value_float;

    if (ln_op_default_string(op_arg, "edge", "mirror"))
        return;
    ln_param_entry *edge_entry = ln_param_list_find(op_arg->params, "edge");
    ln_opck_param_type(edge_entry, LN_PARAM_STRING);

    if (ln_op_default_bool(op_arg, "wrap", LN_TRUE))
        return;
    ln_param_entry *wrap_entry = ln_param_list_find(op_arg->params, "wrap");
    ln_opck_param_type(wrap_entry, LN_PARAM_BOOL);

    if (ln_op_default_array_number(op_arg, "weights", 3, (const double[]){0.25, 0.5, 0.25}))
        return;
    ln_param_entry *weights_entry = ln_param_list_find(op_arg->params, "weights");
    ln_opck_param_type(weights_entry, LN_PARAM_ARRAY_NUMBER);
    ln_opck_param_array_len_eq(weights_entry, width);
    ln_opck_param_array_double_ge(weights_entry, 0);
    ln_opck_param_array_double_lt(weights_entry, 1);

    if (ln_op_default_array_bool(op_arg, "flags", 2, (const ln_bool[]){LN_TRUE, LN_FALSE}))
        return;
    ln_param_entry *flags_entry = ln_param_list_find(op_arg->params, "flags");
    ln_opck_param_type(flags_entry, LN_PARAM_ARRAY_BOOL);
    ln_opck_param_array_len_lt(flags_entry, 4);

    if (ln_op_default_array_string(op_arg, "labels", 2, (const char *const[]){"a", "b"}))
        return;
    ln_param_entry *labels_entry = ln_param_list_find(op_arg->params, "labels");
    ln_opck_param_type(labels_entry, LN_PARAM_ARRAY_STRING);
    ln_opck_param_array_len_ne(labels_entry, 1);

    if (ln_op_default_string(op_arg, "dtype", "TL_FLOAT"))
        return;
    ln_param_entry *dtype_entry = ln_param_list_find(op_arg->params, "dtype");
    ln_opck_param_type(dtype_entry, LN_PARAM_STRING);
#line 68 "good.op"
    const tl_dtype dtype = tl_dtype_from_str(dtype_entry->value_string);
#line 129 "good.c"
    if ((int)dtype == -1) {
        ln_op_fail_name(op_arg, "dtype", dtype_entry->value_string, name_of_blur_dtype);
        return;
    }
#line 71 "good.op"
    ln_opck_satisfy(dtype != TL_BOOL);
#line 136 "good.c"

    if (ln_op_default_array_string(op_arg, "dtypes", 1, (const char *const[]){"TL_FLOAT"}))
        return;
    ln_param_entry *dtypes_entry = ln_param_list_find(op_arg->params, "dtypes");
    ln_opck_param_type(dtypes_entry, LN_PARAM_ARRAY_STRING);
#line 76 "good.op"
    tl_dtype *dtypes = ln_alloc_array((size_t)dtypes_entry->array_len, sizeof(tl_dtype));
#line 144 "good.c"
    if (!dtypes) {
        ln_op_fail_last(op_arg);
        return;
    }
    priv->dtypes = dtypes;
    for (int i = 0; i < dtypes_entry->array_len; i++) {
#line 77 "good.op"
        dtypes[i] = tl_dtype_from_str(dtypes_entry->value_array_string[i]);
#line 153 "good.c"
        if ((int)dtypes[i] == -1) {
            ln_op_fail_name(op_arg, "dtypes", dtypes_entry->value_array_string[i], NULL);
            return;
        }
    }
#line 79 "good.op"
    ln_opck_satisfy(dtypes[0] == dtype);
#line 161 "good.c"

    // across arguments
#line 26 "good.op"
    ln_opck_satisfy(width <= src->dims[1]);
#line 166 "good.c"

    // outputs
    if (!ln_op_define_output(op_arg, "dst", src->ndim, src->dims, src->dtype, LN_MEM_NONE))
        return;

#line 84 "good.op"
    if (sigma > 1e6F)
        ln_op_fail(op_arg, "sigma is %g", sigma);
#line 175 "good.c"
}

static void blur_post_run(ln_op_arg *op_arg)
{
    struct blur_priv *priv = op_arg->priv;
    if (!priv)
        return;
    ln_op_undefine_outputs(op_arg);
    ln_free((void *)priv->dtypes);
    ln_free(priv);
    op_arg->priv = NULL;
}

static const ln_arg_info blur_tensors_in[] = {
    {.arg_name = "src", .doc = "any floats", .type = "2-D FLT"},
    {.arg_name = "bias", .doc = "one per line", .type = "1-D TL_FLOAT", .optional = 1},
    {.arg_name = NULL},
};
static const char *blur_in_arg_names[] = {"src", "bias", NULL};
static const ln_arg_info blur_tensors_out[] = {
    {.arg_name = "dst", .doc = "the result", .type = "shape of src, dtype of src"},
    {.arg_name = NULL},
};
static const char *blur_out_arg_names[] = {"dst", NULL};
static const ln_arg_info blur_params[] = {
    {.arg_name = "width", .doc = "", .type = "number -> int", .deflt = "3"},
    {.arg_name = "shift", .doc = "", .type = "number -> int", .deflt = "0"},
    {.arg_name = "sigma", .doc = "", .type = "number -> float", .deflt = "0.5"},
    {.arg_name = "edge", .doc = "", .type = "string", .deflt = "\"mirror\""},
    {.arg_name = "wrap", .doc = "", .type = "bool", .deflt = "true"},
    {.arg_name = "weights", .doc = "", .type = "array_number -> double [width]",
     .deflt = "[0.25, 0.5, 0.25]"},
    {.arg_name = "flags", .doc = "", .type = "array_bool", .deflt = "[true, false]"},
    {.arg_name = "labels", .doc = "", .type = "array_string", .deflt = "[\"a\", \"b\"]"},
    {.arg_name = "dtype", .doc = "", .type = "string -> tl_dtype", .deflt = "\"TL_FLOAT\""},
    {.arg_name = "dtypes", .doc = "", .type = "array_string -> tl_dtype",
     .deflt = "[\"TL_FLOAT\"]"},
    {.arg_name = NULL},
};
static const char *blur_param_arg_names[] = {"width", "shift", "sigma", "edge", "wrap", "weights",
                                             "flags", "labels", "dtype", "dtypes", NULL};
static const ln_param_type blur_param_ptypes[] = {LN_PARAM_NUMBER, LN_PARAM_NUMBER,
                                                  LN_PARAM_NUMBER, LN_PARAM_STRING, LN_PARAM_BOOL,
                                                  LN_PARAM_ARRAY_NUMBER, LN_PARAM_ARRAY_BOOL,
                                                  LN_PARAM_ARRAY_STRING, LN_PARAM_STRING,
                                                  LN_PARAM_ARRAY_STRING, LN_PARAM_INVALID};

static const ln_op_info blur_info = {
    .doc = "Weighs each line's neighbours \"softly\".",
    .author = "The LightNet authors",
    .source = "good.op",
    .pure = 1,
    .inplace_writer = 0,
    .tensors_in = blur_tensors_in,
    .tensors_out = blur_tensors_out,
    .params = blur_params,
};

static ln_op_arg blur_op_arg = {
    .optype = "blur",
    .arch = "none",
    .in_arg_names = blur_in_arg_names,
    .out_arg_names = blur_out_arg_names,
    .param_arg_names = blur_param_arg_names,
    .param_ptypes = blur_param_ptypes,
    .info = &blur_info,
    .mtype = LN_MEM_NONE,
};

ln_op ln_opimpl_blur = {
    .op_arg = &blur_op_arg,
    .pre_run = blur_pre_run,
    .post_run = blur_post_run,
};

// split_cpu: The upper rows and, if wanted, the others.
#define priv_s split_cpu_priv

struct split_cpu_priv {
    const tl_tensor *src;
    ln_tensor_entry *src_entry;
    tl_tensor *upper;
    ln_tensor_entry *upper_entry;
    tl_tensor *lower;
#line 96 "good.op"
    int runs;
#line 97 "good.op"
    double *table;
#line 264 "good.c"
};

static void split_cpu_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_check_args(op_arg))
        return;

    struct split_cpu_priv *priv = ln_alloc(sizeof(*priv));
    if (!priv) {
        ln_op_fail_last(op_arg);
        return;
    }
    op_arg->priv = priv;

    // inputs
    const char *src_name = ln_tensor_list_find_name(op_arg->tensors_in, "src");
    ln_tensor_entry *src_entry = ln_op_find_input(op_arg, "src");
    ln_opck_tensor_defined(src_entry, src_name);
    tl_tensor *src = src_entry->tensor;
    ln_opck_tensor_mtype_eq(src_entry, LN_MEM_CPU);
    ln_opck_tensor_isstatic(src_entry);
#line 100 "good.op"
    ln_opck_satisfy(src->ndim > 0 && src->dims[0] > 1);
#line 288 "good.c"

    // parameters
    ln_param_entry *rows_entry = ln_param_list_find(op_arg->params, "rows");
    ln_opck_param_type(rows_entry, LN_PARAM_NUMBER);
    ln_opck_param_int_ge(rows_entry, 1);
    ln_opck_param_int_lt(rows_entry, src->dims[0]);
    const int rows = rows_entry->value_int;

    // outputs
    int *upper_dims = NULL;
#line 111 "good.op"
    upper_dims = ln_clone(src->dims, sizeof(int) * (size_t)src->ndim);
    if (!upper_dims) {
        ln_op_fail_last(op_arg);
        return;
    }

    upper_dims[0] = rows;
#line 307 "good.c"
    ln_tensor_entry *upper_entry = ln_op_define_output(op_arg, "upper", src->ndim, upper_dims,
        src->dtype, LN_MEM_CPU);
#line 119 "good.op"
    ln_free(upper_dims);
#line 312 "good.c"
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
#line 327 "good.c"
        lower_entry = ln_op_define_output(op_arg, "lower", src->ndim, lower_dims, upper->dtype,
                                          LN_MEM_CPU);
        if (!lower_entry)
            return;
        lower_entry->isstatic = 1;
    }

    // for the other functions
    priv->src = src;
    priv->src_entry = src_entry;
    priv->upper = upper;
    priv->upper_entry = upper_entry;
    priv->lower = lower_entry ? lower_entry->tensor : NULL;

    // scratch memory
#line 136 "good.op"
    op_arg->scratch_size = tl_tensor_size(src);
#line 345 "good.c"

#line 137 "good.op"
    priv->table = NULL;
#line 349 "good.c"

    // for reports
#line 138 "good.op"
    op_arg->macs = 3.0 * rows;
#line 139 "good.op"
    op_arg->algorithm = rows > 1 ? "many" : "one";
#line 140 "good.op"
    op_arg->layout = "plain";
#line 358 "good.c"
}

static void split_cpu_post_run(ln_op_arg *op_arg)
{
    struct split_cpu_priv *priv = op_arg->priv;
    if (!priv)
        return;
#line 149 "good.op"
    ln_free(priv->table);
#line 368 "good.c"
    ln_op_undefine_outputs(op_arg);
    ln_free(priv);
    op_arg->priv = NULL;
}

static size_t split_cpu_calc_offset(ln_op_arg *op_arg, ln_tensor_entry *te)
{
    struct split_cpu_priv *priv = op_arg->priv;
    ln_tensor_entry *src_entry = priv->src_entry;
    ln_tensor_entry *upper_entry = priv->upper_entry;

#line 150 "good.op"
    return te == upper_entry ? src_entry->offset : te->offset;
#line 382 "good.c"
}

static const ln_arg_info split_cpu_tensors_in[] = {
    {.arg_name = "src", .doc = "[n, ..]", .type = "any"},
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
    {.arg_name = "rows", .doc = "", .type = "number -> int"},
    {.arg_name = NULL},
};
static const char *split_cpu_param_arg_names[] = {"rows", NULL};
static const ln_param_type split_cpu_param_ptypes[] = {LN_PARAM_NUMBER, LN_PARAM_INVALID};

static const ln_op_info split_cpu_info = {
    .doc = "The upper rows and, if wanted, the others.",
    .author = "The LightNet authors",
    .source = "good.op",
    .pure = 0,
    .inplace_writer = 1,
    .tensors_in = split_cpu_tensors_in,
    .tensors_out = split_cpu_tensors_out,
    .params = split_cpu_params,
};

static void split_cpu_static_run(ln_op_arg *op_arg)
{
    struct split_cpu_priv *priv = op_arg->priv;

#line 141 "good.op"
    ((struct priv_s *)priv)->runs = 0;
#line 420 "good.c"
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
#line 435 "good.c"
}

static ln_op_arg split_cpu_op_arg = {
    .optype = "split_cpu",
    .arch = "cpu",
    .in_arg_names = split_cpu_in_arg_names,
    .out_arg_names = split_cpu_out_arg_names,
    .param_arg_names = split_cpu_param_arg_names,
    .param_ptypes = split_cpu_param_ptypes,
    .info = &split_cpu_info,
    .mtype = LN_MEM_CPU,
};

ln_op ln_opimpl_split_cpu = {
    .op_arg = &split_cpu_op_arg,
    .pre_run = split_cpu_pre_run,
    .static_run = split_cpu_static_run,
    .run = split_cpu_run,
    .post_run = split_cpu_post_run,
    .calc_offset = split_cpu_calc_offset,
};

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
    if (ln_op_check_args(op_arg))
        return;

    struct stack_cpu_priv *priv = ln_alloc(sizeof(*priv));
    if (!priv) {
        ln_op_fail_last(op_arg);
        return;
    }
    op_arg->priv = priv;

    // inputs
    priv->src_n = ln_op_find_variadic(op_arg, "src", &priv->src_entry, &priv->src);
    if (priv->src_n < 0)
        return;
    const tl_tensor **src = priv->src;
    const int src_n = priv->src_n;
    for (int i = 0; i < priv->src_n; i++) {
        ln_opck_tensor_mtype_eq(priv->src_entry[i], LN_MEM_CPU);
    }
    for (int i = 0; i < priv->src_n; i++) {
#line 165 "good.op"
        ln_opck_satisfy(src[i]->dtype == src[0]->dtype && tl_tensor_issameshape(src[i], src[0]));
#line 494 "good.c"
    }
#line 166 "good.op"
    ln_opck_satisfy(src_n < 100);
#line 498 "good.c"

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
#line 512 "good.c"
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
    ln_op_undefine_outputs(op_arg);
    ln_free(priv->src_entry);
    ln_free((void *)priv->src);
    ln_free(priv);
    op_arg->priv = NULL;
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

static const ln_op_info stack_cpu_info = {
    .doc = "One tensor of many tensors that have the same type and shape: the first axis counts "
        "them, the others are theirs.",
    .author = "The LightNet authors",
    .source = "good.op",
    .pure = 1,
    .inplace_writer = 0,
    .tensors_in = stack_cpu_tensors_in,
    .tensors_out = stack_cpu_tensors_out,
    .params = stack_cpu_params,
};

static void stack_cpu_run(ln_op_arg *op_arg)
{
    struct stack_cpu_priv *priv = op_arg->priv;
    const tl_tensor **src = priv->src;
    const int src_n = priv->src_n;
    tl_tensor *dst = priv->dst;
    const tl_exec exec = ln_op_exec(op_arg);

#line 189 "good.op"
    if (tl_exec_gather(&exec, src, src_n, dst))
#line 572 "good.c"
        ln_op_fail_tl(op_arg);
}

static ln_op_arg stack_cpu_op_arg = {
    .optype = "stack_cpu",
    .arch = "cpu",
    .in_arg_names = stack_cpu_in_arg_names,
    .out_arg_names = stack_cpu_out_arg_names,
    .param_arg_names = stack_cpu_param_arg_names,
    .param_ptypes = stack_cpu_param_ptypes,
    .info = &stack_cpu_info,
    .mtype = LN_MEM_CPU,
};

ln_op ln_opimpl_stack_cpu = {
    .op_arg = &stack_cpu_op_arg,
    .pre_run = stack_cpu_pre_run,
    .run = stack_cpu_run,
    .post_run = stack_cpu_post_run,
};

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
    if (ln_op_check_args(op_arg))
        return;

    struct rows_cpu_priv *priv = ln_alloc(sizeof(*priv));
    if (!priv) {
        ln_op_fail_last(op_arg);
        return;
    }
    op_arg->priv = priv;

    // inputs
    const char *src_name = ln_tensor_list_find_name(op_arg->tensors_in, "src");
    ln_tensor_entry *src_entry = ln_op_find_input(op_arg, "src");
    ln_opck_tensor_defined(src_entry, src_name);
    tl_tensor *src = src_entry->tensor;
    ln_opck_tensor_mtype_eq(src_entry, LN_MEM_CPU);
    ln_opck_satisfy_msg(src->dtype != TL_BOOL, "'src' has data type %s, expected a number type",
                        tl_dtype_name(src->dtype));
    ln_opck_tensor_ndim(src_entry, 2);

    const char *like_name = ln_tensor_list_find_name(op_arg->tensors_in, "like");
    ln_tensor_entry *like_entry = ln_op_find_input(op_arg, "like");
    ln_opck_tensor_defined(like_entry, like_name);
    ln_opck_tensor_mtype_eq(like_entry, LN_MEM_CPU);
    ln_opck_tensor_issametype(like_entry, src_entry);
    ln_opck_tensor_issameshape(like_entry, src_entry);

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
#line 655 "good.c"

    // for the other functions
    priv->src = src;
    priv->total = total_entry->tensor;
}

static void rows_cpu_post_run(ln_op_arg *op_arg)
{
    struct rows_cpu_priv *priv = op_arg->priv;
    if (!priv)
        return;
    ln_op_undefine_outputs(op_arg);
    ln_free(priv->dst_entry);
    ln_free((void *)priv->dst);
    ln_free(priv);
    op_arg->priv = NULL;
}

static const char *const rows_cpu_total_inplace[] = {"like", NULL};
static const ln_arg_info rows_cpu_tensors_in[] = {
    {.arg_name = "src", .doc = "[n, m]", .type = "2-D NUM"},
    {.arg_name = "like", .doc = "[n, m]", .type = "shape of src, dtype of src"},
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

static const ln_op_info rows_cpu_info = {
    .doc = "The rows of a matrix.",
    .author = "The LightNet authors",
    .source = "good.op",
    .pure = 1,
    .inplace_writer = 0,
    .tensors_in = rows_cpu_tensors_in,
    .tensors_out = rows_cpu_tensors_out,
    .params = rows_cpu_params,
};

static void rows_cpu_static_run(ln_op_arg *op_arg)
{
    struct rows_cpu_priv *priv = op_arg->priv;
    tl_tensor *total = priv->total;
    const tl_exec exec = ln_op_exec(op_arg);

#line 215 "good.op"
    if (tl_exec_zeros(&exec, total))
#line 713 "good.c"
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
#line 727 "good.c"
        ln_op_fail_tl(op_arg);
}

static ln_op_arg rows_cpu_op_arg = {
    .optype = "rows_cpu",
    .arch = "cpu",
    .in_arg_names = rows_cpu_in_arg_names,
    .out_arg_names = rows_cpu_out_arg_names,
    .param_arg_names = rows_cpu_param_arg_names,
    .param_ptypes = rows_cpu_param_ptypes,
    .info = &rows_cpu_info,
    .mtype = LN_MEM_CPU,
};

ln_op ln_opimpl_rows_cpu = {
    .op_arg = &rows_cpu_op_arg,
    .pre_run = rows_cpu_pre_run,
    .static_run = rows_cpu_static_run,
    .run = rows_cpu_run,
    .post_run = rows_cpu_post_run,
};

// rows_alone_cpu: The rows of a matrix.

struct rows_alone_cpu_priv {
    const tl_tensor *src;
    tl_tensor **dst;
    ln_tensor_entry **dst_entry;
    int dst_n;
};

static void rows_alone_cpu_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_check_args(op_arg))
        return;

    struct rows_alone_cpu_priv *priv = ln_alloc(sizeof(*priv));
    if (!priv) {
        ln_op_fail_last(op_arg);
        return;
    }
    op_arg->priv = priv;

    // inputs
    const char *src_name = ln_tensor_list_find_name(op_arg->tensors_in, "src");
    ln_tensor_entry *src_entry = ln_op_find_input(op_arg, "src");
    ln_opck_tensor_defined(src_entry, src_name);
    tl_tensor *src = src_entry->tensor;
    ln_opck_tensor_mtype_eq(src_entry, LN_MEM_CPU);
    ln_opck_satisfy_msg(src->dtype != TL_BOOL, "'src' has data type %s, expected a number type",
                        tl_dtype_name(src->dtype));
    ln_opck_tensor_ndim(src_entry, 2);

    const char *like_name = ln_tensor_list_find_name(op_arg->tensors_in, "like");
    ln_tensor_entry *like_entry = ln_op_find_input(op_arg, "like");
    ln_opck_tensor_defined(like_entry, like_name);
    ln_opck_tensor_mtype_eq(like_entry, LN_MEM_CPU);

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
#line 808 "good.c"

    // for the other functions
    priv->src = src;
}

static void rows_alone_cpu_post_run(ln_op_arg *op_arg)
{
    struct rows_alone_cpu_priv *priv = op_arg->priv;
    if (!priv)
        return;
    ln_op_undefine_outputs(op_arg);
    ln_free(priv->dst_entry);
    ln_free((void *)priv->dst);
    ln_free(priv);
    op_arg->priv = NULL;
}

static const char *const rows_alone_cpu_total_inplace[] = {"like", NULL};
static const ln_arg_info rows_alone_cpu_tensors_in[] = {
    {.arg_name = "src", .doc = "[n, m]", .type = "2-D NUM"},
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

static const ln_op_info rows_alone_cpu_info = {
    .doc = "The rows of a matrix.",
    .author = "The LightNet authors",
    .source = "good.op",
    .pure = 1,
    .inplace_writer = 0,
    .tensors_in = rows_alone_cpu_tensors_in,
    .tensors_out = rows_alone_cpu_tensors_out,
    .params = rows_alone_cpu_params,
};

static void rows_alone_cpu_run(ln_op_arg *op_arg)
{
    struct rows_alone_cpu_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    tl_tensor **dst = priv->dst;
    const int dst_n = priv->dst_n;

#line 226 "good.op"
    tl_exec_scatter(NULL, src, dst, dst_n);
#line 866 "good.c"
}

static ln_op_arg rows_alone_cpu_op_arg = {
    .optype = "rows_alone_cpu",
    .arch = "cpu",
    .in_arg_names = rows_alone_cpu_in_arg_names,
    .out_arg_names = rows_alone_cpu_out_arg_names,
    .param_arg_names = rows_alone_cpu_param_arg_names,
    .param_ptypes = rows_alone_cpu_param_ptypes,
    .info = &rows_alone_cpu_info,
    .mtype = LN_MEM_CPU,
};

ln_op ln_opimpl_rows_alone_cpu = {
    .op_arg = &rows_alone_cpu_op_arg,
    .pre_run = rows_alone_cpu_pre_run,
    .run = rows_alone_cpu_run,
    .post_run = rows_alone_cpu_post_run,
};

// count: Counts lines, and keeps what is positive.
#define priv_s count_priv

struct count_priv {
    const tl_tensor *src;
    tl_tensor *dst;
    int axis;
#line 233 "good.op"
    int lines;
#line 896 "good.c"
};

static void count_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_check_args(op_arg))
        return;

    struct count_priv *priv = ln_alloc(sizeof(*priv));
    if (!priv) {
        ln_op_fail_last(op_arg);
        return;
    }
    op_arg->priv = priv;

    // inputs
    const char *src_name = ln_tensor_list_find_name(op_arg->tensors_in, "src");
    ln_tensor_entry *src_entry = ln_op_find_input(op_arg, "src");
    ln_opck_tensor_defined(src_entry, src_name);
    tl_tensor *src = src_entry->tensor;
    ln_opck_tensor_on_target(src_entry);
    ln_opck_satisfy_msg(tl_dtype_is_float(src->dtype),
                        "'src' has data type %s, expected a floating-point type",
                        tl_dtype_name(src->dtype));

    // parameters
    ln_param_entry *axis_entry = ln_param_list_find(op_arg->params, "axis");
    ln_opck_param_type(axis_entry, LN_PARAM_NUMBER);
    ln_opck_param_int_ge(axis_entry, 0);

    // outputs
    ln_tensor_entry *dst_entry = ln_op_define_output(op_arg, "dst", src->ndim, src->dims,
        src->dtype, op_arg->mtype);
    if (!dst_entry)
        return;

    // for the other functions
    priv->src = src;
    priv->dst = dst_entry->tensor;
    priv->axis = axis_entry->value_int;

#line 235 "good.op"
    priv->lines = src->dims[0];
#line 939 "good.c"
}

static void count_post_run(ln_op_arg *op_arg)
{
    struct count_priv *priv = op_arg->priv;
    if (!priv)
        return;
    ln_op_undefine_outputs(op_arg);
    ln_free(priv);
    op_arg->priv = NULL;
}

static const ln_arg_info count_tensors_in[] = {
    {.arg_name = "src", .doc = "any floats", .type = "FLT"},
    {.arg_name = NULL},
};
static const char *count_in_arg_names[] = {"src", NULL};
static const ln_arg_info count_tensors_out[] = {
    {.arg_name = "dst", .doc = "the result", .type = "shape of src, dtype of src"},
    {.arg_name = NULL},
};
static const char *count_out_arg_names[] = {"dst", NULL};
static const ln_arg_info count_params[] = {
    {.arg_name = "axis", .doc = "", .type = "number -> int"},
    {.arg_name = NULL},
};
static const char *count_param_arg_names[] = {"axis", NULL};
static const ln_param_type count_param_ptypes[] = {LN_PARAM_NUMBER, LN_PARAM_INVALID};

static const ln_op_info count_info = {
    .doc = "Counts lines, and keeps what is positive.",
    .author = "The LightNet authors",
    .source = "good.op",
    .pure = 1,
    .inplace_writer = 0,
    .tensors_in = count_tensors_in,
    .tensors_out = count_tensors_out,
    .params = count_params,
};

static ln_op_arg count_op_arg = {
    .optype = "count",
    .arch = "none",
    .in_arg_names = count_in_arg_names,
    .out_arg_names = count_out_arg_names,
    .param_arg_names = count_param_arg_names,
    .param_ptypes = count_param_ptypes,
    .info = &count_info,
    .mtype = LN_MEM_NONE,
};

ln_op ln_opimpl_count = {
    .op_arg = &count_op_arg,
    .pre_run = count_pre_run,
    .post_run = count_post_run,
};

#undef priv_s

// count on cpu.
#define priv_s count_priv

static void count_cpu_run(ln_op_arg *op_arg)
{
    struct count_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    tl_tensor *dst = priv->dst;
    const tl_exec exec = ln_op_exec(op_arg);

#line 237 "good.op"
    if (tl_exec_relu(&exec, src, dst))
#line 1011 "good.c"
        ln_op_fail_tl(op_arg);
}

static ln_op_arg count_cpu_op_arg = {
    .optype = "count_cpu",
    .arch = "cpu",
    .in_arg_names = count_in_arg_names,
    .out_arg_names = count_out_arg_names,
    .param_arg_names = count_param_arg_names,
    .param_ptypes = count_param_ptypes,
    .info = &count_info,
    .mtype = LN_MEM_CPU,
};

ln_op ln_opimpl_count_cpu = {
    .op_arg = &count_cpu_op_arg,
    .pre_run = count_pre_run,
    .run = count_cpu_run,
    .post_run = count_post_run,
};

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
#line 240 "good.op"
    op_arg->scratch_size = (size_t)axis * tl_tensor_size(src);
#line 1050 "good.c"

    // for reports
#line 241 "good.op"
    op_arg->macs = priv->lines;
#line 1055 "good.c"
}

static void count_far_static_run(ln_op_arg *op_arg)
{
    struct count_priv *priv = op_arg->priv;
    tl_tensor *dst = priv->dst;
    const tl_exec exec = ln_op_exec(op_arg);

#line 242 "good.op"
    if (tl_exec_zeros(&exec, dst))
#line 1066 "good.c"
        ln_op_fail_tl(op_arg);
}

static void count_far_run(ln_op_arg *op_arg)
{
    struct count_priv *priv = op_arg->priv;
    const int axis = priv->axis;

#line 243 "good.op"
    ((struct priv_s *)priv)->lines += axis;
#line 1077 "good.c"
}

static ln_op_arg count_far_op_arg = {
    .optype = "count_far",
    .arch = "far",
    .in_arg_names = count_in_arg_names,
    .out_arg_names = count_out_arg_names,
    .param_arg_names = count_param_arg_names,
    .param_ptypes = count_param_ptypes,
    .info = &count_info,
    .mtype = LN_MEM_CPU,
};

ln_op ln_opimpl_count_far = {
    .op_arg = &count_far_op_arg,
    .pre_run = count_far_pre_run,
    .static_run = count_far_static_run,
    .run = count_far_run,
    .post_run = count_post_run,
};

#undef priv_s

// count_slowly_cpu: Counts lines, and keeps what is positive.

struct count_slowly_cpu_priv {
    const tl_tensor *src;
    tl_tensor *dst;
#line 233 "good.op"
    int lines;
#line 1108 "good.c"
};

static void count_slowly_cpu_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_check_args(op_arg))
        return;

    struct count_slowly_cpu_priv *priv = ln_alloc(sizeof(*priv));
    if (!priv) {
        ln_op_fail_last(op_arg);
        return;
    }
    op_arg->priv = priv;

    // inputs
    const char *src_name = ln_tensor_list_find_name(op_arg->tensors_in, "src");
    ln_tensor_entry *src_entry = ln_op_find_input(op_arg, "src");
    ln_opck_tensor_defined(src_entry, src_name);
    tl_tensor *src = src_entry->tensor;
    ln_opck_tensor_mtype_eq(src_entry, LN_MEM_CPU);
    ln_opck_satisfy_msg(tl_dtype_is_float(src->dtype),
                        "'src' has data type %s, expected a floating-point type",
                        tl_dtype_name(src->dtype));

    // parameters
    ln_param_entry *axis_entry = ln_param_list_find(op_arg->params, "axis");
    ln_opck_param_type(axis_entry, LN_PARAM_NUMBER);
    ln_opck_param_int_ge(axis_entry, 0);

    // outputs
    ln_tensor_entry *dst_entry = ln_op_define_output(op_arg, "dst", src->ndim, src->dims,
        src->dtype, LN_MEM_CPU);
    if (!dst_entry)
        return;

    // for the other functions
    priv->src = src;
    priv->dst = dst_entry->tensor;
}

static void count_slowly_cpu_post_run(ln_op_arg *op_arg)
{
    struct count_slowly_cpu_priv *priv = op_arg->priv;
    if (!priv)
        return;
    ln_op_undefine_outputs(op_arg);
    ln_free(priv);
    op_arg->priv = NULL;
}

static const ln_arg_info count_slowly_cpu_tensors_in[] = {
    {.arg_name = "src", .doc = "any floats", .type = "FLT"},
    {.arg_name = NULL},
};
static const char *count_slowly_cpu_in_arg_names[] = {"src", NULL};
static const ln_arg_info count_slowly_cpu_tensors_out[] = {
    {.arg_name = "dst", .doc = "the result", .type = "shape of src, dtype of src"},
    {.arg_name = NULL},
};
static const char *count_slowly_cpu_out_arg_names[] = {"dst", NULL};
static const ln_arg_info count_slowly_cpu_params[] = {
    {.arg_name = "axis", .doc = "", .type = "number -> int"},
    {.arg_name = NULL},
};
static const char *count_slowly_cpu_param_arg_names[] = {"axis", NULL};
static const ln_param_type count_slowly_cpu_param_ptypes[] = {LN_PARAM_NUMBER, LN_PARAM_INVALID};

static const ln_op_info count_slowly_cpu_info = {
    .doc = "Counts lines, and keeps what is positive.",
    .author = "The LightNet authors",
    .source = "good.op",
    .pure = 1,
    .inplace_writer = 0,
    .tensors_in = count_slowly_cpu_tensors_in,
    .tensors_out = count_slowly_cpu_tensors_out,
    .params = count_slowly_cpu_params,
};

static void count_slowly_cpu_run(ln_op_arg *op_arg)
{
    struct count_slowly_cpu_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    tl_tensor *dst = priv->dst;

#line 251 "good.op"
    if (tl_exec_relu(NULL, src, dst))
#line 1195 "good.c"
        ln_op_fail_tl(op_arg);
}

static ln_op_arg count_slowly_cpu_op_arg = {
    .optype = "count_slowly_cpu",
    .arch = "cpu",
    .in_arg_names = count_slowly_cpu_in_arg_names,
    .out_arg_names = count_slowly_cpu_out_arg_names,
    .param_arg_names = count_slowly_cpu_param_arg_names,
    .param_ptypes = count_slowly_cpu_param_ptypes,
    .info = &count_slowly_cpu_info,
    .mtype = LN_MEM_CPU,
};

ln_op ln_opimpl_count_slowly_cpu = {
    .op_arg = &count_slowly_cpu_op_arg,
    .pre_run = count_slowly_cpu_pre_run,
    .run = count_slowly_cpu_run,
    .post_run = count_slowly_cpu_post_run,
};

// watch: Somebody looks at it.

static void watch_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_check_args(op_arg))
        return;

    // inputs
    const char *src_name = ln_tensor_list_find_name(op_arg->tensors_in, "src");
    ln_tensor_entry *src_entry = ln_op_find_input(op_arg, "src");
    ln_opck_tensor_defined(src_entry, src_name);
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

static const ln_op_info watch_info = {
    .doc = "Somebody looks at it.",
    .author = "The LightNet authors",
    .source = "good.op",
    .pure = 0,
    .inplace_writer = 0,
    .tensors_in = watch_tensors_in,
    .tensors_out = watch_tensors_out,
    .params = watch_params,
};

static ln_op_arg watch_op_arg = {
    .optype = "watch",
    .arch = "none",
    .in_arg_names = watch_in_arg_names,
    .out_arg_names = watch_out_arg_names,
    .param_arg_names = watch_param_arg_names,
    .param_ptypes = watch_param_ptypes,
    .info = &watch_info,
    .mtype = LN_MEM_NONE,
};

ln_op ln_opimpl_watch = {
    .op_arg = &watch_op_arg,
    .pre_run = watch_pre_run,
};
