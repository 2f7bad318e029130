// Generated from good.op; edit that, not this.

#include <math.h>
#include <string.h>

#include "lightnet/ln_genop.h"
#include "tensorlight/tensorlight.h"
#include "lightnet/ln_rule.h"
#include "lightnet/ln_context.h"

// blur: Weighs each line's neighbours "softly".

struct blur_priv {
    const tl_tensor *src, *bias;
    int width;
    float sigma;
    const tl_dtype *dtypes;
};

static const char *name_of_blur_dtype(int i)
{
#line 8 "good.op"
    return tl_dtype_name((tl_dtype)i);
#line 25 "good.c"
}

static void blur_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_begin(op_arg, sizeof(struct blur_priv)))
        return;
    struct blur_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src, *bias = priv->bias;
    const int width = priv->width;
    const float sigma = priv->sigma;
    ln_tensor_entry *bias_entry = ln_op_find_input(op_arg, "bias");
    // checks
    if (bias_entry) {
#line 53 "good.op"
        ln_opck_satisfy_msg(bias->len == src->dims[0], "'bias' has %d elements, expected %d",
                            bias->len, src->dims[0]);
#line 42 "good.c"
    }
    if (bias_entry) {
#line 56 "good.op"
        ln_opck_satisfy(bias->len > 0);
#line 47 "good.c"
    }
    ln_param_entry *width_entry = ln_param_list_find(op_arg->params, "width");
    ln_opck_param_int_le(width_entry, src->dims[1]);
    ln_param_entry *weights_entry = ln_param_list_find(op_arg->params, "weights");
    ln_opck_param_array_len_eq(weights_entry, width);
    ln_param_entry *dtype_entry = ln_param_list_find(op_arg->params, "dtype");
#line 7 "good.op"
    const tl_dtype dtype = tl_dtype_from_str(dtype_entry->value_string);
#line 56 "good.c"
    LN_OPCK_RETURN((int)dtype == -1 && ln_op_fail_name(op_arg, "dtype", dtype_entry->value_string,
                   name_of_blur_dtype));
#line 85 "good.op"
    ln_opck_satisfy(dtype != TL_BOOL);
#line 61 "good.c"
    ln_param_entry *dtypes_entry = ln_param_list_find(op_arg->params, "dtypes");
#line 89 "good.op"
    tl_dtype *dtypes = ln_alloc_array((size_t)dtypes_entry->array_len, sizeof(tl_dtype));
#line 65 "good.c"
    if (!dtypes) {
        ln_op_fail_last(op_arg);
        return;
    }
    priv->dtypes = dtypes;
    for (int i = 0; i < dtypes_entry->array_len; i++) {
#line 90 "good.op"
        dtypes[i] = tl_dtype_from_str(dtypes_entry->value_array_string[i]);
#line 74 "good.c"
        LN_OPCK_RETURN((int)dtypes[i] == -1 && ln_op_fail_name(op_arg, "dtypes",
                       dtypes_entry->value_array_string[i], NULL));
    }
#line 92 "good.op"
    ln_opck_satisfy(dtypes[0] == dtype);
#line 45 "good.op"
    ln_opck_satisfy(width <= src->dims[1]);
    // outputs
#line 83 "good.c"
    if (!ln_op_define_sized(op_arg, "dst", src->dtype, LN_MEM_NONE, NULL))
        return;
#line 101 "good.op"
    if (sigma > 1e6F)
        ln_op_fail(op_arg, "sigma is %g", sigma);
#line 89 "good.c"
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
    {"src", .dtypes = LN_DTYPES_FLOAT, .ndim = 2, .at = LN_PRIV(blur, src)},
    {"bias", .optional = 1, .dtypes = LN_DTYPE_BIT(TL_FLOAT), .ndim = 1, .at = LN_PRIV(blur, bias),
     .islast = 1}};
static const ln_arg_info blur_tensors_out[] = {
    {"dst", .islast = 1}};
static const ln_arg_info blur_params[] = {
    {"width", .has_default = 1, .bounds = LN_BOUNDS(LN_VALUE(GE, 1), LN_VALUE(NE, 2)),
     LN_NUMBERS(3), .at = LN_PRIV(blur, width)},
    {"shift", .has_default = 1, LN_NUMBERS(0)},
    {"sigma", .has_default = 1, .view = LN_OPCK_FLOAT, .bounds = LN_BOUNDS(LN_VALUE(GT, 0)),
     LN_NUMBERS(0.5), .at = LN_PRIV(blur, sigma)},
    {"edge", .has_default = 1, LN_STRINGS("mirror")},
    {"wrap", .has_default = 1, LN_NUMBERS(1)},
    {"weights", .has_default = 1, .view = LN_OPCK_DOUBLE, .bounds = LN_BOUNDS(LN_VALUE(GE, 0),
     LN_VALUE(LT, 1)), LN_NUMBERS(0.25, 0.5, 0.25)},
    {"flags", .has_default = 1, .bounds = LN_BOUNDS(LN_LENGTH(LT, 4)), LN_NUMBERS(1, 0)},
    {"labels", .has_default = 1, .bounds = LN_BOUNDS(LN_LENGTH(NE, 1)), LN_STRINGS("a", "b")},
    {"dtype", .has_default = 1, LN_STRINGS("TL_FLOAT")},
    {"dtypes", .has_default = 1, LN_STRINGS("TL_FLOAT"), .islast = 1}};
static const ln_param_type blur_param_ptypes[] = {LN_PARAM_NUMBER, LN_PARAM_NUMBER,
                                                  LN_PARAM_NUMBER, LN_PARAM_STRING, LN_PARAM_BOOL,
                                                  LN_PARAM_ARRAY_NUMBER, LN_PARAM_ARRAY_BOOL,
                                                  LN_PARAM_ARRAY_STRING, LN_PARAM_STRING,
                                                  LN_PARAM_ARRAY_STRING, LN_PARAM_INVALID};
static const ln_size_code blur_sizes[] = {
    // dst
    {LN_SIZE_NUMBER, 0, 0}, {LN_SIZE_NUMBER, 0, 32767}, {LN_SIZE_SHAPE, 0, 0}, {LN_SIZE_END, 0, 0},
};

/* blur_means_1 (good.op:30): the operator in terms of others */
LN_MEANING(blur_means_1, .sizes = LN_RULE_OPEN,
    .match = "blur(src=src, bias?=bias |dst=dst);",
    .replace = "halve(src=src | dst=dst | times=2);")

/* blur_means_2 (good.op:31): the operator in terms of others */
static int refuses_blur_means_2(const ln_rule_match *m)
{
    const ln_tensor_entry *const src = m->tensors[0];
#line 32 "good.op"
    if (!(src->tensor->ndim > 1))
#line 142 "good.c"
        return 1;
    return 0;
}

static void make_blur_means_2(ln_rule_match *m)
{
    const ln_op *const blur = m->ops[0];
#line 33 "good.op"
    const int blur_n = ln_op_int(blur, "width");
#line 152 "good.c"
    ln_rule_make(m, "binary(src1=src | dst=half);");
#line 37 "good.op"
    ln_rule_constant(&m->made, "src2", 0.5);
#line 156 "good.c"
    ln_rule_make_params(m, "op=TL_BINARY_MUL");
    ln_rule_make(m, "binary(src1=half, src2?=bias | dst=sum | op=TL_BINARY_ADD);"
                    "binary(src1=sum | dst=dst);");
#line 39 "good.op"
    ln_rule_constant(&m->made, "src2", blur_n);
#line 162 "good.c"
    ln_rule_make_params(m, "op=TL_BINARY_MUL");
}

LN_MEANING(blur_means_2, .sizes = LN_RULE_OPEN, .wide = true, .refuses = refuses_blur_means_2,
    .match = "blur(src=src, bias?=bias |dst=dst);",
    .make = make_blur_means_2)

static const ln_rule *const blur_means[] = {&rule_blur_means_1, &rule_blur_means_2, NULL};
static const ln_arg_docs blur_docs_args[] = {
    {"any floats", "2-D FLT", NULL},
    {"one per line", "1-D TL_FLOAT", NULL},
    {"the result", "shape of src, dtype of src", NULL},
    {"", "number -> int", "3"},
    {"", "number -> int", "0"},
    {"", "number -> float", "0.5"},
    {"", "string", "\"mirror\""},
    {"", "bool", "true"},
    {"", "array_number -> double [width]", "[0.25, 0.5, 0.25]"},
    {"", "array_bool", "[true, false]"},
    {"", "array_string", "[\"a\", \"b\"]"},
    {"", "string -> tl_dtype", "\"TL_FLOAT\""},
    {"", "array_string -> tl_dtype", "[\"TL_FLOAT\"]"}};
static const ln_op_docs blur_docs = {"Weighs each line's neighbours \"softly\".",
                                     "The LightNet authors", "good.op", blur_docs_args,
                                     "halve(src=src | dst=dst | times=2);\nor\nbinary(src1=src, "
                                     "src2=0.5 | dst=half | op=TL_BINARY_MUL);\nbinary(src1=half, "
                                     "src2?=bias | dst=sum | op=TL_BINARY_ADD);\nbinary(src1=sum, "
                                     "src2=number(blur_n) | dst=dst | op=TL_BINARY_MUL);"};
LN_OP_INFO(blur, 16, .tensors_in = blur_tensors_in, .tensors_out = blur_tensors_out,
           .params = blur_params, .sizes = blur_sizes, .means = blur_means, .docs = &blur_docs,
           .pure = 1, .traits = LN_TRAIT_ALIAS | LN_TRAIT_MOVES | LN_TRAIT_SELECTS,
           .kind = LN_KIND_MOVEMENT);

LN_GENOP(blur, blur, "none", LN_MEM_NONE, blur_pre_run, .post_run = blur_post_run);

// split_cpu: The upper rows and, if wanted, the others.
#define priv_s split_cpu_priv

struct split_cpu_priv {
    const tl_tensor *src;
    ln_tensor_entry *src_entry, *upper_entry;
    tl_tensor *upper, *lower;
    int rows;
#line 113 "good.op"
    int runs;
    double *table;
#line 209 "good.c"
};

static void split_cpu_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_begin(op_arg, sizeof(struct split_cpu_priv)))
        return;
    struct split_cpu_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    const int rows = priv->rows;
    const char *src_name = ln_tensor_list_find_name(op_arg->tensors_in, "src");
    ln_tensor_entry *src_entry = ln_op_find_input(op_arg, "src");
    // checks
#line 117 "good.op"
    ln_opck_satisfy(src->ndim > 0 && src->dims[0] > 1);
#line 224 "good.c"
    ln_param_entry *rows_entry = ln_param_list_find(op_arg->params, "rows");
    ln_opck_param_int_lt(rows_entry, src->dims[0]);
    // outputs
    int *upper_dims = NULL;
#line 127 "good.op"
    upper_dims = ln_clone(src->dims, sizeof(int) * (size_t)src->ndim);
    if (!upper_dims) {
        ln_op_fail_last(op_arg);
        return;
    }

    upper_dims[0] = rows;
#line 237 "good.c"
    ln_tensor_entry *upper_entry = ln_op_define_output(op_arg, "upper", src->ndim, upper_dims,
        src->dtype, LN_MEM_CPU);
#line 135 "good.op"
    ln_free(upper_dims);
#line 242 "good.c"
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
#line 145 "good.op"
        lower_dims[0] = src->dims[0] - upper->dims[0];
#line 256 "good.c"
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
#line 152 "good.op"
    op_arg->scratch_size = tl_tensor_size(src);
    priv->table = NULL;
    // about a run
#line 154 "good.op"
    op_arg->macs = 3.0 * rows;
    op_arg->algorithm = rows > 1 ? "many" : "one";
#line 276 "good.c"
    op_arg->layout = "plain";
}

static void split_cpu_post_run(ln_op_arg *op_arg)
{
    struct split_cpu_priv *priv = op_arg->priv;
    if (!priv)
        return;
#line 164 "good.op"
    ln_free(priv->table);
#line 287 "good.c"
    ln_op_end(op_arg);
}

static size_t split_cpu_calc_offset(ln_op_arg *op_arg, ln_tensor_entry *te)
{
    struct split_cpu_priv *priv = op_arg->priv;
    ln_tensor_entry *src_entry = priv->src_entry, *upper_entry = priv->upper_entry;

#line 165 "good.op"
    return te == upper_entry ? src_entry->offset : te->offset;
#line 298 "good.c"
}

static const ln_arg_info split_cpu_tensors_in[] = {
    {"src", .dtypes = LN_DTYPE_BIT(TL_FLOAT) | LN_DTYPE_BIT(TL_INT8), .isstatic = 1,
     .at = LN_PRIV(split_cpu, src), .islast = 1}};
static const ln_arg_info split_cpu_tensors_out[] = {
    {"upper", .owner = "src"},
    {"lower", .optional = 1, .islast = 1}};
static const ln_arg_info split_cpu_params[] = {
    {"rows", .bounds = LN_BOUNDS(LN_VALUE(GE, 1)), .at = LN_PRIV(split_cpu, rows), .islast = 1}};
static const ln_param_type split_cpu_param_ptypes[] = {LN_PARAM_NUMBER, LN_PARAM_INVALID};
static const ln_arg_docs split_cpu_docs_args[] = {
    {"[n, ..]", "TL_FLOAT or TL_INT8", NULL},
    {"[rows, ..]", "src->dtype", NULL},
    {"[n - rows, ..]", "dtype of upper", NULL},
    {"", "number -> int", NULL}};
static const ln_op_docs split_cpu_docs = {"The upper rows and, if wanted, the others.",
                                          "The LightNet authors", "good.op", split_cpu_docs_args,
                                          NULL};
LN_OP_INFO(split_cpu, 7, .tensors_in = split_cpu_tensors_in, .tensors_out = split_cpu_tensors_out,
           .params = split_cpu_params, .docs = &split_cpu_docs, .pure = 0, .inplace_writer = 1,
           .kind = LN_KIND_MOVEMENT);

static void split_cpu_static_run(ln_op_arg *op_arg)
{
    struct split_cpu_priv *priv = op_arg->priv;

#line 157 "good.op"
    ((struct priv_s *)priv)->runs = 0;
#line 328 "good.c"
}

static void split_cpu_run(ln_op_arg *op_arg)
{
    struct split_cpu_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    tl_tensor *upper = priv->upper, *lower = priv->lower;

#line 159 "good.op"
    priv->runs++;
    if (lower)
        memcpy(lower->data, (const char *)src->data + tl_tensor_size(upper),
               tl_tensor_size(lower));
#line 342 "good.c"
}

LN_GENOP(split_cpu, split_cpu, "cpu", LN_MEM_CPU, split_cpu_pre_run,
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
        LN_OPCK_RETURN(ln_opck_dtypes(op_arg, priv->src_entry[i], LN_DTYPES_COMPUTED));
    }
    // checks
    for (int i = 0; i < priv->src_n; i++) {
#line 179 "good.op"
        ln_opck_satisfy(src[i]->dtype == src[0]->dtype && tl_tensor_issameshape(src[i], src[0]));
#line 379 "good.c"
    }
#line 180 "good.op"
    ln_opck_satisfy(src_n < 100);
    // outputs
#line 384 "good.c"
    tl_dtype dst_dtype = TL_FLOAT;
    int dst_ndim = 1;
    int *dst_dims = NULL;
#line 191 "good.op"
    int stacked[LN_MAXDIM];
    dst_dtype = src[0]->dtype;
    dst_ndim = src[0]->ndim + 1;
    ln_opck_satisfy(dst_ndim <= LN_MAXDIM);
    memcpy(stacked + 1, src[0]->dims, sizeof(int) * (size_t)src[0]->ndim);
    stacked[0] = src_n;
    dst_dims = stacked;
#line 396 "good.c"
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
    {"src", .variadic = 1, .islast = 1}};
static const ln_arg_info stack_cpu_tensors_out[] = {
    {"dst", .islast = 1}};
static const ln_param_type stack_cpu_param_ptypes[] = {LN_PARAM_INVALID};
static const ln_arg_docs stack_cpu_docs_args[] = {
    {"[..]", "any", NULL},
    {"[n, ..]", "any", NULL}};
static const ln_op_docs stack_cpu_docs = {"One tensor of many tensors that have the same type and "
                                          "shape: the first axis counts them, the others are "
                                          "theirs.", "The LightNet authors", "good.op",
                                          stack_cpu_docs_args, NULL};
LN_OP_INFO(stack_cpu, 5, .tensors_in = stack_cpu_tensors_in, .tensors_out = stack_cpu_tensors_out,
           .docs = &stack_cpu_docs, .pure = 1);

static void stack_cpu_run(ln_op_arg *op_arg)
{
    struct stack_cpu_priv *priv = op_arg->priv;
    const tl_tensor **src = priv->src;
    const int src_n = priv->src_n;
    tl_tensor *dst = priv->dst;
    const tl_exec exec = ln_op_exec(op_arg);

#line 202 "good.op"
    if (tl_exec_gather(&exec, src, src_n, dst))
#line 440 "good.c"
        ln_op_fail_tl(op_arg);
}

LN_GENOP(stack_cpu, stack_cpu, "cpu", LN_MEM_CPU, stack_cpu_pre_run, .run = stack_cpu_run,
         .post_run = stack_cpu_post_run);

// rows_cpu: The rows of a matrix.

struct rows_cpu_priv {
    const tl_tensor *src;
    tl_tensor **dst, *total;
    ln_tensor_entry **dst_entry;
    int dst_n;
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
#line 222 "good.op"
    ln_opck_tensor_len(total_entry, dst_n);
    // for the other functions
#line 484 "good.c"
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
    {"src", .dtypes = LN_DTYPES_NUMBER, .ndim = 2, .at = LN_PRIV(rows_cpu, src)},
    {"like", .same_type = "src", .same_shape = "src", .islast = 1}};
static const ln_arg_info rows_cpu_tensors_out[] = {
    {"dst", .variadic = 1, .dynamic = 1},
    {"total", .inplace = rows_cpu_total_inplace, .islast = 1}};
static const ln_param_type rows_cpu_param_ptypes[] = {LN_PARAM_INVALID};
static const ln_arg_docs rows_cpu_docs_args[] = {
    {"[n, m]", "2-D NUM", NULL},
    {"[n, m]", "shape of src, dtype of src", NULL},
    {"[m]", "1-D dtype of src", NULL},
    {"[1, n]", "2-D TL_DOUBLE", NULL}};
static const ln_op_docs rows_cpu_docs = {"The rows of a matrix.", "The LightNet authors",
                                         "good.op", rows_cpu_docs_args, NULL};
LN_OP_INFO(rows_cpu, 7, .tensors_in = rows_cpu_tensors_in, .tensors_out = rows_cpu_tensors_out,
           .docs = &rows_cpu_docs, .pure = 1);

static void rows_cpu_static_run(ln_op_arg *op_arg)
{
    struct rows_cpu_priv *priv = op_arg->priv;
    tl_tensor *total = priv->total;
    const tl_exec exec = ln_op_exec(op_arg);

#line 227 "good.op"
    if (tl_exec_zeros(&exec, total))
#line 524 "good.c"
        ln_op_fail_tl(op_arg);
}

static void rows_cpu_run(ln_op_arg *op_arg)
{
    struct rows_cpu_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    tl_tensor **dst = priv->dst;
    const int dst_n = priv->dst_n;
    const tl_exec exec = ln_op_exec(op_arg);

#line 228 "good.op"
    if (tl_exec_scatter(&exec, src, dst, dst_n))
#line 538 "good.c"
        ln_op_fail_tl(op_arg);
}

LN_GENOP(rows_cpu, rows_cpu, "cpu", LN_MEM_CPU, rows_cpu_pre_run,
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
#line 222 "good.op"
    ln_opck_tensor_len(total_entry, dst_n);
#line 581 "good.c"
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
    {"src", .dtypes = LN_DTYPES_NUMBER, .ndim = 2, .at = LN_PRIV(rows_alone_cpu, src)},
    {"like", .dtypes = LN_DTYPES_COMPUTED, .islast = 1}};
static const ln_arg_info rows_alone_cpu_tensors_out[] = {
    {"dst", .variadic = 1, .dynamic = 1},
    {"total", .inplace = rows_alone_cpu_total_inplace, .islast = 1}};
static const ln_param_type rows_alone_cpu_param_ptypes[] = {LN_PARAM_INVALID};
static const ln_arg_docs rows_alone_cpu_docs_args[] = {
    {"[n, m]", "2-D NUM", NULL},
    {"[n, m]", "any", NULL},
    {"[m]", "1-D dtype of src", NULL},
    {"[1, n]", "2-D TL_DOUBLE", NULL}};
static const ln_op_docs rows_alone_cpu_docs = {"The rows of a matrix.", "The LightNet authors",
                                               "good.op", rows_alone_cpu_docs_args, NULL};
LN_OP_INFO(rows_alone_cpu, 7, .tensors_in = rows_alone_cpu_tensors_in,
           .tensors_out = rows_alone_cpu_tensors_out, .docs = &rows_alone_cpu_docs, .pure = 1);

static void rows_alone_cpu_run(ln_op_arg *op_arg)
{
    struct rows_alone_cpu_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    tl_tensor **dst = priv->dst;
    const int dst_n = priv->dst_n;

#line 238 "good.op"
    tl_exec_scatter(NULL, src, dst, dst_n);
#line 621 "good.c"
}

LN_GENOP(rows_alone_cpu, rows_alone_cpu, "cpu", LN_MEM_CPU, rows_alone_cpu_pre_run,
         .run = rows_alone_cpu_run, .post_run = rows_alone_cpu_post_run);

// count: Counts lines, and keeps positive numbers.
#define priv_s count_priv

struct count_priv {
    const tl_tensor *src;
    tl_tensor *dst;
    int axis;
#line 245 "good.op"
    int lines;
#line 636 "good.c"
};

static void count_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_begin(op_arg, sizeof(struct count_priv)))
        return;
    struct count_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    const int axis = priv->axis;
    ln_tensor_entry *host_entry = ln_op_find_input(op_arg, "host");
    if (host_entry) {
        ln_opck_tensor_mtype_eq(host_entry, LN_MEM_CPU);
    }
    // outputs
    ln_tensor_entry *dst_entry = ln_op_define_sized(op_arg, "dst", src->dtype, op_arg->mtype, NULL);
    if (!dst_entry)
        return;
    // for the other functions
    priv->dst = dst_entry->tensor;
#line 248 "good.op"
    priv->lines = src->dims[0];
    // about a run
#line 249 "good.op"
    op_arg->can_fail = axis > 1;
#line 661 "good.c"
}

static const ln_arg_info count_tensors_in[] = {
    {"src", .dtypes = LN_DTYPES_FLOAT, .at = LN_PRIV(count, src)},
    {"host", .optional = 1, .anywhere = 1, .same_type = "src", .islast = 1}};
static const ln_arg_info count_tensors_out[] = {
    {"dst", .islast = 1}};
static const ln_arg_info count_params[] = {
    {"axis", .bounds = LN_BOUNDS(LN_VALUE(GE, 0)), .at = LN_PRIV(count, axis), .islast = 1}};
static const ln_param_type count_param_ptypes[] = {LN_PARAM_NUMBER, LN_PARAM_INVALID};
static const ln_size_code count_sizes[] = {
    // dst
    {LN_SIZE_NUMBER, 0, 0}, {LN_SIZE_NUMBER, 0, 32767}, {LN_SIZE_SHAPE, 0, 0}, {LN_SIZE_END, 0, 0},
};
static const ln_arg_docs count_docs_args[] = {
    {"any floats", "FLT", NULL},
    {"", "dtype of src", NULL},
    {"the result", "shape of src, dtype of src", NULL},
    {"", "number -> int", NULL}};
static const ln_op_docs count_docs = {"Counts lines, and keeps positive numbers.",
                                      "The LightNet authors", "good.op", count_docs_args, NULL};
LN_OP_INFO(count, 7, .tensors_in = count_tensors_in, .tensors_out = count_tensors_out,
           .params = count_params, .sizes = count_sizes, .docs = &count_docs, .pure = 1);

LN_GENOP(count, count, "none", LN_MEM_NONE, count_pre_run, .post_run = ln_op_end);

#undef priv_s

#define priv_s count_priv

static void count_cpu_run(ln_op_arg *op_arg)
{
    struct count_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    tl_tensor *dst = priv->dst;
    const tl_exec exec = ln_op_exec(op_arg);

#line 251 "good.op"
    if (tl_exec_relu(&exec, src, dst))
#line 701 "good.c"
        ln_op_fail_tl(op_arg);
}

LN_GENOP(count, count_cpu, "cpu", LN_MEM_CPU, count_pre_run, .run = count_cpu_run,
         .post_run = ln_op_end);

#undef priv_s

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
#line 254 "good.op"
    op_arg->scratch_size = (size_t)axis * tl_tensor_size(src);
    // about a run
#line 255 "good.op"
    op_arg->macs = priv->lines;
#line 726 "good.c"
}

static void count_far_static_run(ln_op_arg *op_arg)
{
    struct count_priv *priv = op_arg->priv;
    tl_tensor *dst = priv->dst;
    const tl_exec exec = ln_op_exec(op_arg);

#line 256 "good.op"
    if (tl_exec_zeros(&exec, dst))
#line 737 "good.c"
        ln_op_fail_tl(op_arg);
}

static void count_far_run(ln_op_arg *op_arg)
{
    struct count_priv *priv = op_arg->priv;
    const int axis = priv->axis;

#line 257 "good.op"
    ((struct priv_s *)priv)->lines += axis;
#line 748 "good.c"
}

LN_GENOP(count, count_far, "far", LN_MEM_CPU, count_far_pre_run,
         .static_run = count_far_static_run, .run = count_far_run, .post_run = ln_op_end);

#undef priv_s

// count_slowly_cpu: Counts lines, and keeps positive numbers.

struct count_slowly_cpu_priv {
    const tl_tensor *src;
    tl_tensor *dst;
    int axis;
#line 245 "good.op"
    int lines;
#line 764 "good.c"
};

static void count_slowly_cpu_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_begin(op_arg, sizeof(struct count_slowly_cpu_priv)))
        return;
    struct count_slowly_cpu_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    const int axis = priv->axis;
    ln_tensor_entry *host_entry = ln_op_find_input(op_arg, "host");
    if (host_entry) {
        ln_opck_tensor_mtype_eq(host_entry, LN_MEM_CPU);
    }
    // outputs
    ln_tensor_entry *dst_entry = ln_op_define_sized(op_arg, "dst", src->dtype, LN_MEM_CPU, NULL);
    if (!dst_entry)
        return;
    // for the other functions
    priv->dst = dst_entry->tensor;
#line 248 "good.op"
    priv->lines = src->dims[0];
    // about a run
#line 249 "good.op"
    op_arg->can_fail = axis > 1;
#line 789 "good.c"
}

static const ln_arg_info count_slowly_cpu_tensors_in[] = {
    {"src", .dtypes = LN_DTYPES_FLOAT, .at = LN_PRIV(count_slowly_cpu, src)},
    {"host", .optional = 1, .anywhere = 1, .same_type = "src", .islast = 1}};
static const ln_arg_info count_slowly_cpu_tensors_out[] = {
    {"dst", .islast = 1}};
static const ln_arg_info count_slowly_cpu_params[] = {
    {"axis", .bounds = LN_BOUNDS(LN_VALUE(GE, 0)), .at = LN_PRIV(count_slowly_cpu, axis),
     .islast = 1}};
static const ln_param_type count_slowly_cpu_param_ptypes[] = {LN_PARAM_NUMBER, LN_PARAM_INVALID};
static const ln_size_code count_slowly_cpu_sizes[] = {
    // dst
    {LN_SIZE_NUMBER, 0, 0}, {LN_SIZE_NUMBER, 0, 32767}, {LN_SIZE_SHAPE, 0, 0}, {LN_SIZE_END, 0, 0},
};
static const ln_arg_docs count_slowly_cpu_docs_args[] = {
    {"any floats", "FLT", NULL},
    {"", "dtype of src", NULL},
    {"the result", "shape of src, dtype of src", NULL},
    {"", "number -> int", NULL}};
static const ln_op_docs count_slowly_cpu_docs = {"Counts lines, and keeps positive numbers.",
                                                 "The LightNet authors", "good.op",
                                                 count_slowly_cpu_docs_args, NULL};
LN_OP_INFO(count_slowly_cpu, 7, .tensors_in = count_slowly_cpu_tensors_in,
           .tensors_out = count_slowly_cpu_tensors_out, .params = count_slowly_cpu_params,
           .sizes = count_slowly_cpu_sizes, .docs = &count_slowly_cpu_docs, .pure = 1);

static void count_slowly_cpu_run(ln_op_arg *op_arg)
{
    struct count_slowly_cpu_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    tl_tensor *dst = priv->dst;

#line 265 "good.op"
    if (tl_exec_relu(NULL, src, dst))
#line 825 "good.c"
        ln_op_fail_tl(op_arg);
}

LN_GENOP(count_slowly_cpu, count_slowly_cpu, "cpu", LN_MEM_CPU, count_slowly_cpu_pre_run,
         .run = count_slowly_cpu_run, .post_run = ln_op_end);

// cut: Cuts tensors.

struct cut_priv {
    const tl_tensor *src, **more;
    ln_tensor_entry **more_entry, **piece_entry;
    int more_n, piece_n;
    tl_tensor **piece;
};

static void cut_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_begin(op_arg, sizeof(struct cut_priv)))
        return;
    struct cut_priv *priv = op_arg->priv;
    const tl_tensor *src = priv->src;
    priv->more_n = ln_op_find_variadic(op_arg, "more", &priv->more_entry, &priv->more);
    if (priv->more_n < 0)
        return;
    for (int i = 0; i < priv->more_n; i++) {
        ln_opck_tensor_on_target(priv->more_entry[i]);
        LN_OPCK_RETURN(ln_opck_dtypes(op_arg, priv->more_entry[i], LN_DTYPES_COMPUTED));
    }
    // outputs
    if (!ln_op_define_sized(op_arg, "first", src->dtype, LN_MEM_NONE, NULL))
        return;
    if (!ln_op_define_sized(op_arg, "second", src->dtype, LN_MEM_NONE, NULL))
        return;
    if (ln_tensor_list_find_by_arg_name(op_arg->tensors_out, "third")) {
        if (!ln_op_define_sized(op_arg, "third", src->dtype, LN_MEM_NONE, NULL))
            return;
    }
    if (ln_tensor_list_find_by_arg_name(op_arg->tensors_out, "fourth")) {
        if (!ln_op_define_sized(op_arg, "fourth", src->dtype, LN_MEM_NONE, NULL))
            return;
    }
    priv->piece_n = ln_op_alloc_variadic(op_arg, "piece", &priv->piece_entry, &priv->piece);
    if (priv->piece_n < 0)
        return;
    const ln_list *piece_at = op_arg->tensors_out;
    for (int i = 0; i < priv->piece_n; i++) {
        priv->piece_entry[i] = ln_op_define_variadic_sized(op_arg, &piece_at, "piece", i,
            src->dtype, LN_MEM_NONE, NULL);
        if (!priv->piece_entry[i])
            return;
        priv->piece[i] = priv->piece_entry[i]->tensor;
    }
}

static void cut_post_run(ln_op_arg *op_arg)
{
    struct cut_priv *priv = op_arg->priv;
    if (!priv)
        return;
    ln_free(priv->more_entry);
    ln_free((void *)priv->more);
    ln_free(priv->piece_entry);
    ln_free((void *)priv->piece);
    ln_op_end(op_arg);
}

static const ln_arg_info cut_tensors_in[] = {
    {"src", .dtypes = LN_DTYPES_COMPUTED, .at = LN_PRIV(cut, src)},
    {"more", .optional = 1, .variadic = 1},
    {"limit", .optional = 1, .dtypes = LN_DTYPE_BIT(TL_INT64), .islast = 1}};
static const ln_arg_info cut_tensors_out[] = {
    {"first"},
    {"second"},
    {"third", .optional = 1},
    {"fourth", .optional = 1},
    {"piece", .optional = 1, .variadic = 1, .islast = 1}};
static const ln_arg_info cut_params[] = {
    {"axis"},
    {"is_odd"},
    {"lens"},
    {"dims"},
    {"scales", .view = LN_OPCK_DOUBLE},
    {"mode", .has_default = 1, LN_STRINGS("SAME"), .islast = 1}};
static const ln_param_type cut_param_ptypes[] = {LN_PARAM_NUMBER, LN_PARAM_BOOL,
                                                 LN_PARAM_ARRAY_NUMBER, LN_PARAM_ARRAY_NUMBER,
                                                 LN_PARAM_ARRAY_NUMBER, LN_PARAM_STRING,
                                                 LN_PARAM_INVALID};
static const ln_size_code cut_sizes[] = {
    // first
    {LN_SIZE_NUMBER, 0, 0}, {LN_SIZE_PARAM, 0, 0}, {LN_SIZE_SHAPE, 0, 0}, {LN_SIZE_IS, 5, 0},
     {LN_SIZE_PARAM, 0, 0}, {LN_SIZE_AXIS, 0, 0}, {LN_SIZE_IS, 5, 1}, {LN_SIZE_NOT, 0, 0},
     {LN_SIZE_NUMBER, 0, -1}, {LN_SIZE_ITEM, 2, 0}, {LN_SIZE_NUMBER, 0, 0}, {LN_SIZE_ITEM, 2, 0},
     {LN_SIZE_NEG, 0, 0}, {LN_SIZE_SELECT, 0, 0}, {LN_SIZE_SELECT, 0, 0}, {LN_SIZE_EMIT, 0, 0},
     {LN_SIZE_ITEMS, 2, 0}, {LN_SIZE_FOR, 0, 17}, {LN_SIZE_LOOP, 0, 0}, {LN_SIZE_IN, 3, 0},
     {LN_SIZE_LOOP, 0, 0}, {LN_SIZE_PARAM, 0, 0}, {LN_SIZE_EQ, 0, 0}, {LN_SIZE_LOOP, 0, 0},
     {LN_SIZE_COUNT, 1, 0}, {LN_SIZE_LT, 0, 0}, {LN_SIZE_NOT, 0, 0}, {LN_SIZE_OR, 0, 0},
     {LN_SIZE_NOT, 0, 0}, {LN_SIZE_AND, 0, 0}, {LN_SIZE_IF, 0, 3}, {LN_SIZE_NUMBER, 0, 0},
     {LN_SIZE_TOTAL, 1, 0}, {LN_SIZE_EMIT, 0, 0}, {LN_SIZE_NEXT, 0, 16}, {LN_SIZE_LEN, 0, 0},
     {LN_SIZE_NUMBER, 0, 0}, {LN_SIZE_VALUE, 2, 0}, {LN_SIZE_DATA, 0, 0}, {LN_SIZE_EMIT, 0, 0},
     {LN_SIZE_NUMBER, 0, 2}, {LN_SIZE_DATA, 0, 1}, {LN_SIZE_EMIT, 0, 0}, {LN_SIZE_NUMBER, 0,
     TL_BLOCK}, {LN_SIZE_EMIT, 0, 0}, {LN_SIZE_END, 0, 0},
    // second
    {LN_SIZE_NUMBER, 0, 0}, {LN_SIZE_NUMBER, 0, 32767}, {LN_SIZE_SHAPE, 0, 0}, {LN_SIZE_NUMBER, 0,
     1}, {LN_SIZE_NUMBER, 0, 32767}, {LN_SIZE_PRODUCT, 2, 1}, {LN_SIZE_EMIT, 0, 0}, {LN_SIZE_ITEMS,
     4, 0}, {LN_SIZE_FOR, 0, 7}, {LN_SIZE_LOOP, 0, 0}, {LN_SIZE_AXIS, 0, 0}, {LN_SIZE_LOOP, 0, 0},
     {LN_SIZE_AT, 2, 0}, {LN_SIZE_SCALE, 4, 0}, {LN_SIZE_EMIT, 0, 0}, {LN_SIZE_NEXT, 0, 6},
     {LN_SIZE_NUMBER, 0, 3}, {LN_SIZE_BELOW, 2, 0}, {LN_SIZE_NDIM, 0, 0}, {LN_SIZE_SQRT, 0, 0},
     {LN_SIZE_MIN, 0, 0}, {LN_SIZE_NUMBER, 0, 7}, {LN_SIZE_NUMBER, 0, 4}, {LN_SIZE_MOD, 0, 0},
     {LN_SIZE_NUMBER, 0, 8}, {LN_SIZE_PARAM, 0, 0}, {LN_SIZE_DIV, 0, 0}, {LN_SIZE_MAX, 0, 0},
     {LN_SIZE_ADD, 0, 0}, {LN_SIZE_EMIT, 0, 0}, {LN_SIZE_NUMBER, 0, 2}, {LN_SIZE_FOR, 0, 11},
     {LN_SIZE_NUMBER, 0, 0}, {LN_SIZE_AXIS, 0, 0}, {LN_SIZE_NUMBER, 0, 1}, {LN_SIZE_NUMBER, 0, -1},
     {LN_SIZE_HAS, 2, 0}, {LN_SIZE_NUMBER, 0, 2}, {LN_SIZE_PARAM, 1, 0}, {LN_SIZE_SELECT, 0, 0},
     {LN_SIZE_SLICE, 0, 0}, {LN_SIZE_EMIT, 0, 0}, {LN_SIZE_NEXT, 0, 10}, {LN_SIZE_END, 0, 0},
    // third
    {LN_SIZE_NUMBER, 0, 1}, {LN_SIZE_NUMBER, 0, 32767}, {LN_SIZE_BROADCAST, 0, 0}, {LN_SIZE_NUMBER,
     0, 0}, {LN_SIZE_NUMBER, 0, 32767}, {LN_SIZE_BROADCAST, 3, 1}, {LN_SIZE_NUMBER, 0, 0},
     {LN_SIZE_NUMBER, 0, 32767}, {LN_SIZE_BROADCAST, 1, 0}, {LN_SIZE_END, 0, 0},
    // fourth
    {LN_SIZE_END, 0, 0},
    // piece
    {LN_SIZE_RESHAPE, 0, 3}, {LN_SIZE_PART, 0, 0}, {LN_SIZE_ITEM, 2, 0}, {LN_SIZE_EMIT, 0, 0},
     {LN_SIZE_NUMBER, 0, 0}, {LN_SIZE_NUMBER, 0, 32767}, {LN_SIZE_SUM, 2, 1}, {LN_SIZE_EMIT, 0, 0},
     {LN_SIZE_NUMBER, 0, 0}, {LN_SIZE_NUMBER, 0, 32767}, {LN_SIZE_PRODUCT, 2, 2}, {LN_SIZE_EMIT, 0,
     0}, {LN_SIZE_END, 0, 0},
};
static const ln_size_code cut_values[] = {
    {LN_SIZE_END, 1, 0},
    {LN_SIZE_END, 1, 0},
    {LN_SIZE_INDEX, 0, 0}, {LN_SIZE_VALUE, 0, 0}, {LN_SIZE_INDEX, 0, 0}, {LN_SIZE_NUMBER, 0, 1},
     {LN_SIZE_ADD, 0, 0}, {LN_SIZE_MUL, 0, 0}, {LN_SIZE_NUMBER, 0, 0}, {LN_SIZE_VALUE, 2, 0},
     {LN_SIZE_SUB, 0, 0}, {LN_SIZE_END, 0, 0},
    {LN_SIZE_END, 1, 0},
    {LN_SIZE_END, 1, 0},
};
static const char *const cut_words[] = {"SAME", "VALID"};
static const ln_arg_docs cut_docs_args[] = {
    {"[..]", "any", NULL},
    {"[..]", "any", NULL},
    {"[1]", "TL_INT64", NULL},
    {"lists, conditions, words", "dtype of src", NULL},
    {"functions", "dtype of src", NULL},
    {"shapes", "dtype of src", NULL},
    {"no axes", "dtype of src", NULL},
    {"many", "dtype of src", NULL},
    {"", "number -> int", NULL},
    {"", "bool", NULL},
    {"", "array_number -> int", NULL},
    {"", "array_number -> int", NULL},
    {"", "array_number -> double", NULL},
    {"", "string", "\"SAME\""}};
static const ln_op_docs cut_docs = {"Cuts tensors.", "The LightNet authors", "good.op",
                                    cut_docs_args, NULL};
LN_OP_INFO(cut, 17, .tensors_in = cut_tensors_in, .tensors_out = cut_tensors_out,
           .params = cut_params, .sizes = cut_sizes, .values = cut_values, .words = cut_words,
           .docs = &cut_docs, .pure = 1);

LN_GENOP(cut, cut, "none", LN_MEM_NONE, cut_pre_run, .post_run = cut_post_run);

// watch: Somebody looks at it.

static void watch_pre_run(ln_op_arg *op_arg)
{
    if (ln_op_begin(op_arg, 0))
        return;
}

static const ln_arg_info watch_tensors_in[] = {
    {"src", .dtypes = LN_DTYPES_COMPUTED, .islast = 1}};
static const ln_param_type watch_param_ptypes[] = {LN_PARAM_INVALID};
static const ln_arg_docs watch_docs_args[] = {
    {"[..]", "any", NULL}};
static const ln_op_docs watch_docs = {"Somebody looks at it.", "The LightNet authors", "good.op",
                                      watch_docs_args, NULL};
LN_OP_INFO(watch, 4, .tensors_in = watch_tensors_in, .docs = &watch_docs, .pure = 0,
           .writes = LN_WRITES_STDOUT);

LN_GENOP(watch, watch, "none", LN_MEM_NONE, watch_pre_run, .post_run = ln_op_end);
