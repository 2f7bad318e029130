// SPDX-License-Identifier: Apache-2.0
// The same computations by oneDNN (API of version 2).
//
// A primitive is asked for with layouts that it chooses ("any") for images and weights, as within
// a network: its data is brought into them once, and the result back into the plain one.

#include "bench_dnnl.h"

#ifdef BENCH_HAVE_DNNL

#include <dlfcn.h>
#include <dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 5 };

// A tensor of a primitive, as LightNet and oneDNN describe it.
typedef struct argument {
    int index; // DNNL_ARG_*
    dnnl_query_t query;
    const tl_tensor *tensor; // NULL: the result
    dnnl_memory_desc_t plain, wish;
    dnnl_memory_t memory;
} argument;

struct bench_dnnl {
    int way; // of those that the kind has
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    argument args[MAX_ARGS];
    int n_args;
    dnnl_exec_arg_t exec_args[MAX_ARGS];
};

void bench_dnnl_set_threads(int threads)
{
    // Of the thread library that Debian's oneDNN comes with; it reads OMP_NUM_THREADS too early.
    void (*set_threads)(int) = NULL;
    *(void **)&set_threads = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    if (set_threads)
        set_threads(threads);
}

const char *bench_dnnl_version(void)
{
    static char text[32];
    const dnnl_version_t *v = dnnl_version();
    snprintf(text, sizeof(text), "%d.%d.%d", v->major, v->minor, v->patch);
    return text;
}

// Arguments

// The plain, row-major memory of a shape.
static dnnl_memory_desc_t plain_of_type(int ndim, const dnnl_dims_t dims, dnnl_data_type_t type)
{
    dnnl_memory_desc_t desc;
    dnnl_dims_t strides;
    dnnl_dim_t stride = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= dims[i];
    }
    dnnl_memory_desc_init_by_strides(&desc, ndim, dims, type, strides);
    return desc;
}

static argument *add_argument(bench_dnnl *d, int index, dnnl_query_t query, const tl_tensor *t,
                              dnnl_memory_desc_t plain)
{
    argument *const a = &d->args[d->n_args++];
    *a = (argument){.index = index, .query = query, .tensor = t, .plain = plain, .wish = plain};
    return a;
}

static dnnl_memory_desc_t plain_like(const tl_tensor *t)
{
    dnnl_dims_t dims;
    for (int i = 0; i < t->ndim; i++)
        dims[i] = t->dims[i];
    return plain_of_type(t->ndim, dims,
                         t->dtype == TL_UINT8  ? dnnl_u8
                         : t->dtype == TL_INT8 ? dnnl_s8
                                               : dnnl_f32);
}

static argument *add_tensor(bench_dnnl *d, int index, dnnl_query_t query, const tl_tensor *t)
{
    return add_argument(d, index, query, t, plain_like(t));
}

static argument *add_result(bench_dnnl *d, const tl_tensor *dst)
{
    return add_argument(d, DNNL_ARG_DST, dnnl_query_dst_md, NULL, plain_like(dst));
}

static void let_choose_type(argument *a, dnnl_data_type_t type)
{
    dnnl_memory_desc_init_by_tag(&a->wish, a->plain.ndims, a->plain.dims, type,
                                 dnnl_format_tag_any);
}

static void let_choose(argument *a)
{
    let_choose_type(a, a->plain.data_type);
}

// Descriptions

// Of any operation.
typedef union description {
    dnnl_matmul_desc_t matmul;
    dnnl_convolution_desc_t conv;
    dnnl_deconvolution_desc_t deconv;
    dnnl_pooling_desc_t pool;
    dnnl_softmax_desc_t softmax;
    dnnl_layer_normalization_desc_t layernorm;
    dnnl_eltwise_desc_t eltwise;
    dnnl_binary_desc_t binary;
} description;

// Results of 8 bits, with the factor in the job's `bias`.
static int is_scaled(const bench_job *job)
{
    return job->plain_src->dtype == TL_UINT8;
}

// Adds the arguments of the job, and fills the description, or d->desc. Returns oneDNN's status.
typedef dnnl_status_t describer(bench_dnnl *d, const bench_job *job, description *to);

static dnnl_status_t describe_matmul(bench_dnnl *d, const bench_job *job, description *to)
{
    argument *const src = add_tensor(d, DNNL_ARG_SRC, dnnl_query_src_md, job->plain_src);
    argument *const weight = add_tensor(d, DNNL_ARG_WEIGHTS, dnnl_query_weights_md, job->weight);
    argument *const dst = add_result(d, job->plain_dst);
    let_choose(weight);
    if (is_scaled(job))
        dst->wish = plain_of_type(dst->plain.ndims, dst->plain.dims, dnnl_u8);
    return dnnl_matmul_desc_init(&to->matmul, &src->wish, &weight->wish, NULL, &dst->wish);
}

// Weights [OC, IC / group, KH, KW] with an axis for the groups in front.
static dnnl_memory_desc_t weights_of(const bench_job *job)
{
    const int *const w = job->weight->dims, group = job->conv.group;
    const dnnl_dims_t grouped = {group, w[0] / group, w[1], w[2], w[3]};
    return group == 1 ? plain_like(job->weight) : plain_of_type(5, grouped, dnnl_f32);
}

// A convolution, also a transposed one: its tensors, and the positions of its windows.
typedef struct convolution {
    argument *src, *weight, *bias, *dst;
    dnnl_dims_t strides, begin, end;
} convolution;

static convolution add_convolution(bench_dnnl *d, const bench_job *job, dnnl_memory_desc_t weights)
{
    const tl_conv2d_param *const p = &job->conv;
    convolution c = {.strides = {p->stride[0], p->stride[1]},
                     .begin = {p->padding[0], p->padding[1]},
                     .end = {p->padding[2], p->padding[3]}};
    c.src = add_tensor(d, DNNL_ARG_SRC, dnnl_query_src_md, job->plain_src);
    c.weight = add_argument(d, DNNL_ARG_WEIGHTS, dnnl_query_weights_md, job->weight, weights);
    c.bias = is_scaled(job) ? NULL : add_tensor(d, DNNL_ARG_BIAS, dnnl_query_weights_md, job->bias);
    c.dst = add_result(d, job->plain_dst);
    let_choose(c.src);
    let_choose(c.weight);
    let_choose_type(c.dst, is_scaled(job) ? dnnl_u8 : dnnl_f32);
    return c;
}

enum { CONV_WAYS = 2 };

static dnnl_status_t describe_conv(bench_dnnl *d, const bench_job *job, description *to)
{
    static const dnnl_alg_kind_t algorithms[CONV_WAYS] = {dnnl_convolution_direct,
                                                          dnnl_convolution_winograd};
    const dnnl_dims_t dilates = {0, 0};
    const convolution c = add_convolution(d, job, weights_of(job));
    return dnnl_dilated_convolution_forward_desc_init(
        &to->conv, dnnl_forward_inference, algorithms[d->way], &c.src->wish, &c.weight->wish,
        c.bias ? &c.bias->wish : NULL, &c.dst->wish, c.strides, dilates, c.begin, c.end);
}

// Weights [IC, OC, KH, KW]; oneDNN swaps the first two axes.
static dnnl_memory_desc_t transposed_weights_of(const bench_job *job)
{
    const int *const w = job->weight->dims;
    const dnnl_dims_t dims = {w[1], w[0], w[2], w[3]};
    const dnnl_dims_t strides = {(dnnl_dim_t)w[2] * w[3], (dnnl_dim_t)w[1] * w[2] * w[3], w[3], 1};
    dnnl_memory_desc_t desc;
    dnnl_memory_desc_init_by_strides(&desc, 4, dims, dnnl_f32, strides);
    return desc;
}

static dnnl_status_t describe_deconv(bench_dnnl *d, const bench_job *job, description *to)
{
    const convolution c = add_convolution(d, job, transposed_weights_of(job));
    return dnnl_deconvolution_forward_desc_init(
        &to->deconv, dnnl_forward_inference, dnnl_deconvolution_direct, &c.src->wish,
        &c.weight->wish, &c.bias->wish, &c.dst->wish, c.strides, c.begin, c.end);
}

static dnnl_status_t describe_pool(bench_dnnl *d, const bench_job *job, dnnl_alg_kind_t algorithm,
                                   description *to)
{
    const tl_pool2d_param *const p = &job->pool;
    const dnnl_dims_t strides = {p->stride[0], p->stride[1]}, size = {p->size[0], p->size[1]},
                      begin = {p->padding[0], p->padding[1]}, end = {p->padding[2], p->padding[3]};
    argument *const src = add_tensor(d, DNNL_ARG_SRC, dnnl_query_src_md, job->plain_src);
    argument *const dst = add_result(d, job->plain_dst);
    // Pools read their source in the layout that convolutions leave: in blocks.
    dnnl_memory_desc_init_by_tag(&src->wish, 4, src->plain.dims, dnnl_f32, dnnl_nChw16c);
    let_choose(dst);
    return dnnl_pooling_forward_desc_init(&to->pool, dnnl_forward_inference, algorithm, &src->wish,
                                          &dst->wish, strides, size, begin, end);
}

static dnnl_status_t describe_maxpool(bench_dnnl *d, const bench_job *job, description *to)
{
    return describe_pool(d, job, dnnl_pooling_max, to);
}

static dnnl_status_t describe_avgpool(bench_dnnl *d, const bench_job *job, description *to)
{
    return describe_pool(d, job, dnnl_pooling_avg_exclude_padding, to);
}

static dnnl_status_t describe_softmax(bench_dnnl *d, const bench_job *job, description *to)
{
    const argument *const src = add_tensor(d, DNNL_ARG_SRC, dnnl_query_src_md, job->plain_src);
    add_result(d, job->plain_dst);
    return dnnl_softmax_forward_desc_init(&to->softmax, dnnl_forward_inference, &src->wish, 1);
}

static dnnl_status_t describe_layernorm(bench_dnnl *d, const bench_job *job, description *to)
{
    const argument *const src = add_tensor(d, DNNL_ARG_SRC, dnnl_query_src_md, job->plain_src);
    add_tensor(d, DNNL_ARG_SCALE, dnnl_query_undef, job->weight);
    add_tensor(d, DNNL_ARG_SHIFT, dnnl_query_undef, job->bias);
    add_result(d, job->plain_dst);
    return dnnl_layer_normalization_forward_desc_init(&to->layernorm, dnnl_forward_inference,
                                                      &src->wish, NULL, 1e-5f,
                                                      dnnl_use_scale | dnnl_use_shift);
}

static dnnl_status_t describe_unary(bench_dnnl *d, const bench_job *job, description *to)
{
    // 0: oneDNN has no such function.
    static const dnnl_alg_kind_t algorithms[TL_UNARY_FUNC_SIZE] = {
        [TL_UNARY_RELU] = dnnl_eltwise_relu,        [TL_UNARY_CLIP] = dnnl_eltwise_clip,
        [TL_UNARY_EXP] = dnnl_eltwise_exp,          [TL_UNARY_TANH] = dnnl_eltwise_tanh,
        [TL_UNARY_SIGMOID] = dnnl_eltwise_logistic, [TL_UNARY_SWISH] = dnnl_eltwise_swish,
        [TL_UNARY_GELU] = dnnl_eltwise_gelu_erf,    [TL_UNARY_GELU_TANH] = dnnl_eltwise_gelu_tanh,
        [TL_UNARY_SQRT] = dnnl_eltwise_sqrt,
    };
    const dnnl_alg_kind_t algorithm = algorithms[job->shape.func];
    if (!algorithm)
        return dnnl_unimplemented;
    const argument *const src = add_tensor(d, DNNL_ARG_SRC, dnnl_query_src_md, job->plain_src);
    add_result(d, job->plain_dst);
    return dnnl_eltwise_forward_desc_init(&to->eltwise, dnnl_forward_inference, algorithm,
                                          &src->wish, (float)job->shape.alpha,
                                          (float)job->shape.beta);
}

static dnnl_status_t describe_add(bench_dnnl *d, const bench_job *job, description *to)
{
    const argument *const a = add_tensor(d, DNNL_ARG_SRC_0, dnnl_query_undef, job->plain_src);
    const argument *const b = add_tensor(d, DNNL_ARG_SRC_1, dnnl_query_undef, job->weight);
    const argument *const dst = add_result(d, job->plain_dst);
    return dnnl_binary_desc_init(&to->binary, dnnl_binary_add, &a->wish, &b->wish, &dst->wish);
}

// A copy to memory whose strides are those of the turned axes: not an operation.
static dnnl_status_t describe_transpose(bench_dnnl *d, const bench_job *job, description *to)
{
    argument *const src = add_tensor(d, DNNL_ARG_FROM, dnnl_query_undef, job->plain_src);
    argument *const dst = add_result(d, job->plain_dst);
    const int *const axes = job->shape.axes;
    dnnl_dims_t strides;
    (void)to;
    dst->index = DNNL_ARG_TO;
    dst->query = dnnl_query_undef;
    for (int i = 0; i < src->plain.ndims; i++)
        strides[axes[i]] = dst->plain.format_desc.blocking.strides[i];
    dnnl_memory_desc_init_by_strides(&dst->wish, src->plain.ndims, src->plain.dims, dnnl_f32,
                                     strides);
    dst->plain = dst->wish;
    return dnnl_reorder_primitive_desc_create(&d->desc, &src->plain, d->engine, &dst->plain,
                                              d->engine, NULL);
}

static const struct {
    describer *describe;
    int ways;
} kinds[] = {
    [BENCH_DNNL_NONE] = {NULL, 0},
    [BENCH_DNNL_MATMUL] = {describe_matmul, 1},
    [BENCH_DNNL_CONV] = {describe_conv, CONV_WAYS},
    [BENCH_DNNL_DECONV] = {describe_deconv, 1},
    [BENCH_DNNL_MAXPOOL] = {describe_maxpool, 1},
    [BENCH_DNNL_AVGPOOL] = {describe_avgpool, 1},
    [BENCH_DNNL_SOFTMAX] = {describe_softmax, 1},
    [BENCH_DNNL_LAYERNORM] = {describe_layernorm, 1},
    [BENCH_DNNL_UNARY] = {describe_unary, 1},
    [BENCH_DNNL_ADD] = {describe_add, 1},
    [BENCH_DNNL_TRANSPOSE] = {describe_transpose, 1},
    [BENCH_DNNL_QUANTIZED_MATMUL] = {describe_matmul, 1},
    [BENCH_DNNL_QUANTIZED_CONV] = {describe_conv, 1},
};

int bench_dnnl_ways(bench_dnnl_kind kind)
{
    return kinds[kind].ways;
}

static dnnl_status_t create_desc(bench_dnnl *d, bench_dnnl_kind kind, const bench_job *job)
{
    description desc;
    dnnl_primitive_attr_t attr;
    dnnl_status_t status = kinds[kind].describe(d, job, &desc);
    if (status || d->desc)
        return status;
    status = dnnl_primitive_attr_create(&attr);
    if (status)
        return status;
    if (is_scaled(job))
        status = dnnl_primitive_attr_set_output_scales(attr, 1, 0, job->bias->data);
    if (!status)
        status = dnnl_primitive_desc_create(&d->desc, &desc, attr, d->engine, NULL);
    dnnl_primitive_attr_destroy(attr);
    return status;
}

// Memory

static dnnl_status_t copy_memory(bench_dnnl *d, const dnnl_memory_desc_t *from_desc,
                                 dnnl_memory_t from, const dnnl_memory_desc_t *to_desc,
                                 dnnl_memory_t to)
{
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    dnnl_status_t status =
        dnnl_reorder_primitive_desc_create(&desc, from_desc, d->engine, to_desc, d->engine, NULL);
    if (status)
        return status;
    status = dnnl_primitive_create(&primitive, desc);
    dnnl_primitive_desc_destroy(desc);
    if (status)
        return status;
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    status = dnnl_primitive_execute(primitive, d->stream, 2, args);
    dnnl_stream_wait(d->stream);
    dnnl_primitive_destroy(primitive);
    return status;
}

// Between the plain data at `data` and the argument's memory.
static dnnl_status_t copy_plain(bench_dnnl *d, const argument *a, void *data, int to_memory)
{
    dnnl_memory_t plain;
    dnnl_status_t status = dnnl_memory_create(&plain, &a->plain, d->engine, data);
    if (status)
        return status;
    status = to_memory ? copy_memory(d, &a->plain, plain, &a->wish, a->memory)
                       : copy_memory(d, &a->wish, a->memory, &a->plain, plain);
    dnnl_memory_destroy(plain);
    return status;
}

static dnnl_status_t make_memory(bench_dnnl *d, argument *a)
{
    // oneDNN numbers its weights: the bias is number 1.
    const int k = a->index == DNNL_ARG_BIAS;
    const dnnl_memory_desc_t *chosen =
        a->query == dnnl_query_undef ? NULL : dnnl_primitive_desc_query_md(d->desc, a->query, k);
    if (chosen)
        a->wish = *chosen;
    void *data = NULL;
    dnnl_status_t status =
        dnnl_memory_create(&a->memory, &a->wish, d->engine, DNNL_MEMORY_ALLOCATE);
    if (!status)
        status = dnnl_memory_get_data_handle(a->memory, &data);
    if (data)
        tl_use_large_pages(data, dnnl_memory_desc_get_size(&a->wish));
    return status || !a->tensor ? status : copy_plain(d, a, a->tensor->data, 1);
}

static dnnl_status_t make(bench_dnnl *d, bench_dnnl_kind kind, const bench_job *job)
{
    dnnl_status_t status = dnnl_engine_create(&d->engine, dnnl_cpu, 0);
    if (!status)
        status = dnnl_stream_create(&d->stream, d->engine, dnnl_stream_default_flags);
    if (!status)
        status = create_desc(d, kind, job);
    if (!status)
        status = dnnl_primitive_create(&d->primitive, d->desc);
    for (int i = 0; i < d->n_args && !status; i++) {
        status = make_memory(d, &d->args[i]);
        d->exec_args[i] = (dnnl_exec_arg_t){d->args[i].index, d->args[i].memory};
    }
    return status;
}

bench_dnnl *bench_dnnl_create(bench_dnnl_kind kind, int way, const bench_job *job)
{
    bench_dnnl *const d = calloc(1, sizeof(*d));
    if (!d)
        return NULL;
    d->way = way;
    if (!make(d, kind, job))
        return d;
    bench_dnnl_free(d);
    return NULL;
}

int bench_dnnl_run(bench_dnnl *d)
{
    const dnnl_status_t status =
        dnnl_primitive_execute(d->primitive, d->stream, d->n_args, d->exec_args);
    return status || dnnl_stream_wait(d->stream) ? -1 : 0;
}

int bench_dnnl_result(bench_dnnl *d, tl_tensor *dst)
{
    for (int i = 0; i < d->n_args; i++)
        if (!d->args[i].tensor)
            return copy_plain(d, &d->args[i], dst->data, 0) ? -1 : 0;
    return -1;
}

void bench_dnnl_free(bench_dnnl *d)
{
    if (!d)
        return;
    for (int i = 0; i < d->n_args; i++)
        if (d->args[i].memory)
            dnnl_memory_destroy(d->args[i].memory);
    if (d->primitive)
        dnnl_primitive_destroy(d->primitive);
    if (d->desc)
        dnnl_primitive_desc_destroy(d->desc);
    if (d->stream)
        dnnl_stream_destroy(d->stream);
    if (d->engine)
        dnnl_engine_destroy(d->engine);
    free(d);
}

#else

void bench_dnnl_set_threads(int threads)
{
    (void)threads;
}

const char *bench_dnnl_version(void)
{
    return NULL;
}

int bench_dnnl_ways(bench_dnnl_kind kind)
{
    (void)kind;
    return 0;
}

bench_dnnl *bench_dnnl_create(bench_dnnl_kind kind, int way, const bench_job *job)
{
    (void)kind, (void)way, (void)job;
    return NULL;
}

int bench_dnnl_run(bench_dnnl *d)
{
    (void)d;
    return -1;
}

int bench_dnnl_result(bench_dnnl *d, tl_tensor *dst)
{
    (void)d, (void)dst;
    return -1;
}

void bench_dnnl_free(bench_dnnl *d)
{
    (void)d;
}

#endif
