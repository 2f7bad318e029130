// SPDX-License-Identifier: Apache-2.0
// oneDNN primitives on row-major tensors of TL_FLOAT.

#include "arch/dnnl/ln_dnnl.h"

#include <assert.h>
#include <dlfcn.h>
#include <dnnl.h>
#include <pthread.h>
#include <string.h>

enum { MAX_ARGS = 6, ADDEND = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1 };

struct ln_dnnl {
    dnnl_stream_t stream;
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t args[MAX_ARGS];
    int n_args;
    int threads; // for which it was created
};

// A primitive under construction.
typedef struct builder {
    ln_dnnl *prim;
    dnnl_primitive_attr_t attr;
    dnnl_post_ops_t post_ops;
    dnnl_status_t status; // the first failure; later calls then do nothing
} builder;

// The engine, shared by all primitives

static dnnl_engine_t engine;
static dnnl_status_t engine_status;

// Functions of OpenMP, which oneDNN uses for threads; NULL: not loaded.
static void (*set_threads)(int);
static int (*get_threads)(void);

static void create_engine(void)
{
    engine_status = dnnl_engine_create(&engine, dnnl_cpu, 0);
    *(void **)&set_threads = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    *(void **)&get_threads = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
}

static dnnl_status_t find_engine(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    return pthread_once(&once, create_engine) ? dnnl_runtime_error : engine_status;
}

__attribute__((destructor)) static void destroy_engine(void)
{
    dnnl_engine_destroy(engine);
}

// Sets the number of OpenMP threads, if n > 0; returns the previous number (0: unknown).
static int swap_threads(int n)
{
    const int before = get_threads ? get_threads() : 0;
    if (set_threads && n > 0)
        set_threads(n);
    return before;
}

// Construction

static void begin(builder *m, const tl_exec *exec)
{
    *m = (builder){.prim = tl_alloc(sizeof(*m->prim))};
    if (!m->prim) {
        m->status = dnnl_out_of_memory;
        return;
    }
    memset(m->prim, 0, sizeof(*m->prim));
    m->prim->threads = tl_pool_size(exec->pool);
    m->status = find_engine();
    if (!m->status)
        m->status = dnnl_stream_create(&m->prim->stream, engine, dnnl_stream_default_flags);
    if (!m->status)
        m->status = dnnl_primitive_attr_create(&m->attr);
    if (!m->status)
        m->status = dnnl_post_ops_create(&m->post_ops);
}

// Describes a row-major tensor, or one whose last two axes are swapped in memory.
static dnnl_memory_desc_t strided_desc(builder *m, int ndim, const dnnl_dims_t dims, int swapped)
{
    dnnl_memory_desc_t desc = {0};
    dnnl_dims_t strides;
    dnnl_dim_t stride = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= dims[i];
    }
    if (swapped) {
        strides[ndim - 2] = 1;
        strides[ndim - 1] = dims[ndim - 2];
    }
    if (!m->status)
        m->status = dnnl_memory_desc_init_by_strides(&desc, ndim, dims, dnnl_f32, strides);
    return desc;
}

static dnnl_memory_desc_t desc_of(builder *m, const tl_tensor *t)
{
    dnnl_dims_t dims = {0};
    for (int i = 0; i < t->ndim; i++)
        dims[i] = t->dims[i];
    return strided_desc(m, t->ndim, dims, 0);
}

// Adds the next argument of the primitive.
static void add_arg(builder *m, int index, const dnnl_memory_desc_t *desc)
{
    dnnl_exec_arg_t *arg = m->prim ? &m->prim->args[m->prim->n_args] : NULL;
    if (m->status)
        return;
    assert(m->prim->n_args < MAX_ARGS);
    m->status = dnnl_memory_create(&arg->memory, desc, engine, DNNL_MEMORY_NONE);
    arg->arg = index;
    m->prim->n_args += !m->status;
}

static const dnnl_alg_kind_t eltwise_kinds[TL_ACT_SIZE] = {
    // 0: not supported by oneDNN, or with fixed parameters only.
    [TL_ACT_RELU] = dnnl_eltwise_relu,        [TL_ACT_LRELU] = dnnl_eltwise_relu,
    [TL_ACT_SIGMOID] = dnnl_eltwise_logistic, [TL_ACT_CLIP] = dnnl_eltwise_clip,
    [TL_ACT_TANH] = dnnl_eltwise_tanh,        [TL_ACT_SILU] = dnnl_eltwise_swish,
    [TL_ACT_GELU] = dnnl_eltwise_gelu_erf,    [TL_ACT_GELU_TANH] = dnnl_eltwise_gelu_tanh,
};

int ln_dnnl_has_act(tl_act act)
{
    return act >= 0 && act < TL_ACT_SIZE && eltwise_kinds[act];
}

static const dnnl_alg_kind_t binary_kinds[TL_BINARY_OP_SIZE] = {
    [TL_BINARY_MUL] = dnnl_binary_mul,      [TL_BINARY_DIV] = dnnl_binary_div,
    [TL_BINARY_ADD] = dnnl_binary_add,      [TL_BINARY_SUB] = dnnl_binary_sub,
    [TL_BINARY_PICK_MAX] = dnnl_binary_max, [TL_BINARY_PICK_MIN] = dnnl_binary_min,
};

int ln_dnnl_has_binary(tl_binary_op op)
{
    return op >= 0 && op < TL_BINARY_OP_SIZE && binary_kinds[op];
}

// Parameter alpha of oneDNN's eltwise primitive.
static float alpha_of(tl_activation act)
{
    return act.act == TL_ACT_RELU ? 0 : act.act == TL_ACT_SILU ? 1 : act.alpha;
}

static void append_act(builder *m, tl_activation act)
{
    if (!m->status && act.act != TL_ACT_NONE)
        m->status = dnnl_post_ops_append_eltwise(m->post_ops, 1, eltwise_kinds[act.act],
                                                 alpha_of(act), act.beta);
}

static void append_addend(builder *m, const dnnl_memory_desc_t *addend)
{
    if (!m->status)
        m->status = dnnl_post_ops_append_binary(m->post_ops, dnnl_binary_add, addend);
}

static void create_primitive(builder *m, const void *op_desc)
{
    dnnl_primitive_desc_t desc;
    if (!m->status)
        m->status = dnnl_primitive_attr_set_post_ops(m->attr, m->post_ops);
    if (!m->status)
        m->status = dnnl_primitive_desc_create(&desc, op_desc, m->attr, engine, NULL);
    if (m->status)
        return;
    m->status = dnnl_primitive_create(&m->prim->primitive, desc);
    dnnl_primitive_desc_destroy(desc);
}

// Creates the primitive of `op_desc`, and replaces `*prim` by it. `what` names it in messages.
static int end(builder *m, const void *op_desc, ln_dnnl **prim, const char *what)
{
    const int threads = m->prim ? swap_threads(m->prim->threads) : 0;
    create_primitive(m, op_desc);
    swap_threads(threads);
    dnnl_post_ops_destroy(m->post_ops);
    dnnl_primitive_attr_destroy(m->attr);
    ln_dnnl_free(*prim);
    *prim = m->status ? NULL : m->prim;
    if (!m->status)
        return 0;
    ln_dnnl_free(m->prim);
    return tl_fail("oneDNN cannot create the %s primitive: status %d", what, (int)m->status);
}

// The primitives

// Weights [OC, IC / group, KH, KW]; grouped: [group, OC / group, IC / group, KH, KW].
static dnnl_memory_desc_t weight_desc(builder *m, const tl_tensor *weight, int group)
{
    const int *const w = weight->dims;
    const dnnl_dims_t grouped = {group, w[0] / group, w[1], w[2], w[3]};
    return group == 1 ? desc_of(m, weight) : strided_desc(m, 5, grouped, 0);
}

int ln_dnnl_conv2d(const tl_exec *exec, ln_dnnl **prim, const tl_tensor *src,
                   const tl_tensor *weight, const tl_tensor *bias, const tl_tensor *addend,
                   const tl_tensor *dst, const tl_conv2d_param *p)
{
    builder m;
    begin(&m, exec);
    const dnnl_memory_desc_t x = desc_of(&m, src), w = weight_desc(&m, weight, p->group),
                             b = desc_of(&m, bias), y = desc_of(&m, dst);
    const dnnl_dims_t strides = {p->stride[0], p->stride[1]},
                      dilates = {p->dilation[0] - 1, p->dilation[1] - 1},
                      before = {p->padding[0], p->padding[1]},
                      behind = {p->padding[2], p->padding[3]};
    dnnl_convolution_desc_t desc;
    add_arg(&m, DNNL_ARG_SRC, &x);
    add_arg(&m, DNNL_ARG_WEIGHTS, &w);
    add_arg(&m, DNNL_ARG_BIAS, &b);
    add_arg(&m, DNNL_ARG_DST, &y);
    if (addend) {
        append_addend(&m, &y);
        add_arg(&m, ADDEND, &y);
    }
    append_act(&m, p->act);
    if (!m.status)
        m.status = dnnl_dilated_convolution_forward_desc_init(&desc, dnnl_forward_inference,
                                                              dnnl_convolution_direct, &x, &w, &b,
                                                              &y, strides, dilates, before, behind);
    return end(&m, &desc, prim, "convolution");
}

// Describes a matrix operand of the multiplication; `swapped`: stored transposed.
static dnnl_memory_desc_t matrix_desc(builder *m, const tl_tensor *t, int swapped)
{
    const dnnl_dims_t dims = {t->dims[swapped ? 1 : 0], t->dims[swapped ? 0 : 1]};
    return strided_desc(m, 2, dims, swapped);
}

int ln_dnnl_matmul(const tl_exec *exec, ln_dnnl **prim, const tl_tensor *src1,
                   const tl_tensor *src2, const tl_tensor *bias, const tl_tensor *dst, int trans1,
                   int trans2)
{
    builder m;
    begin(&m, exec);
    const dnnl_dims_t row = {1, dst->dims[1]};
    const dnnl_memory_desc_t a = matrix_desc(&m, src1, trans1), b = matrix_desc(&m, src2, trans2),
                             c = strided_desc(&m, 2, row, 0), y = desc_of(&m, dst);
    dnnl_matmul_desc_t desc;
    add_arg(&m, DNNL_ARG_SRC, &a);
    add_arg(&m, DNNL_ARG_WEIGHTS, &b);
    add_arg(&m, DNNL_ARG_DST, &y);
    if (bias)
        add_arg(&m, DNNL_ARG_BIAS, &c);
    if (!m.status)
        m.status = dnnl_matmul_desc_init(&desc, &a, &b, bias ? &c : NULL, &y);
    return end(&m, &desc, prim, "matrix multiplication");
}

int ln_dnnl_pool2d(const tl_exec *exec, ln_dnnl **prim, const tl_tensor *src, const tl_tensor *dst,
                   const tl_pool2d_param *p, int is_max)
{
    builder m;
    begin(&m, exec);
    const dnnl_memory_desc_t x = desc_of(&m, src), y = desc_of(&m, dst);
    const dnnl_dims_t strides = {p->stride[0], p->stride[1]}, size = {p->size[0], p->size[1]},
                      before = {p->padding[0], p->padding[1]},
                      behind = {p->padding[2], p->padding[3]};
    dnnl_pooling_desc_t desc;
    add_arg(&m, DNNL_ARG_SRC, &x);
    add_arg(&m, DNNL_ARG_DST, &y);
    if (!m.status)
        m.status = dnnl_pooling_forward_desc_init(&desc, dnnl_forward_inference,
                                                  is_max ? dnnl_pooling_max
                                                         : dnnl_pooling_avg_exclude_padding,
                                                  &x, &y, strides, size, before, behind);
    return end(&m, &desc, prim, "pooling");
}

int ln_dnnl_batchnorm(const tl_exec *exec, ln_dnnl **prim, const tl_tensor *src,
                      const tl_tensor *dst, float epsilon)
{
    builder m;
    begin(&m, exec);
    const dnnl_dims_t channels = {src->dims[1]};
    const dnnl_memory_desc_t x = desc_of(&m, src), c = strided_desc(&m, 1, channels, 0),
                             y = desc_of(&m, dst);
    dnnl_batch_normalization_desc_t desc;
    add_arg(&m, DNNL_ARG_SRC, &x);
    add_arg(&m, DNNL_ARG_SCALE, &c);
    add_arg(&m, DNNL_ARG_SHIFT, &c);
    add_arg(&m, DNNL_ARG_MEAN, &c);
    add_arg(&m, DNNL_ARG_VARIANCE, &c);
    add_arg(&m, DNNL_ARG_DST, &y);
    if (!m.status)
        m.status = dnnl_batch_normalization_forward_desc_init(
            &desc, dnnl_forward_inference, &x, epsilon,
            dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift);
    return end(&m, &desc, prim, "batch normalization");
}

int ln_dnnl_softmax(const tl_exec *exec, ln_dnnl **prim, const tl_tensor *src, const tl_tensor *dst,
                    int axis)
{
    builder m;
    begin(&m, exec);
    const dnnl_memory_desc_t x = desc_of(&m, src), y = desc_of(&m, dst);
    dnnl_softmax_desc_t desc;
    add_arg(&m, DNNL_ARG_SRC, &x);
    add_arg(&m, DNNL_ARG_DST, &y);
    if (!m.status)
        m.status = dnnl_softmax_forward_desc_init(&desc, dnnl_forward_inference, &x, axis);
    return end(&m, &desc, prim, "softmax");
}

int ln_dnnl_act(const tl_exec *exec, ln_dnnl **prim, const tl_tensor *src, const tl_tensor *dst,
                tl_activation act)
{
    builder m;
    begin(&m, exec);
    const dnnl_memory_desc_t x = desc_of(&m, src), y = desc_of(&m, dst);
    dnnl_eltwise_desc_t desc;
    add_arg(&m, DNNL_ARG_SRC, &x);
    add_arg(&m, DNNL_ARG_DST, &y);
    if (!m.status)
        m.status = dnnl_eltwise_forward_desc_init(
            &desc, dnnl_forward_inference, eltwise_kinds[act.act], &x, alpha_of(act), act.beta);
    return end(&m, &desc, prim, "activation");
}

int ln_dnnl_binary(const tl_exec *exec, ln_dnnl **prim, const tl_tensor *src1,
                   const tl_tensor *src2, const tl_tensor *dst, tl_binary_op op, tl_activation act)
{
    builder m;
    begin(&m, exec);
    const dnnl_memory_desc_t a = desc_of(&m, src1), b = desc_of(&m, src2), y = desc_of(&m, dst);
    dnnl_binary_desc_t desc;
    add_arg(&m, DNNL_ARG_SRC_0, &a);
    add_arg(&m, DNNL_ARG_SRC_1, &b);
    add_arg(&m, DNNL_ARG_DST, &y);
    append_act(&m, act);
    if (!m.status)
        m.status = dnnl_binary_desc_init(&desc, binary_kinds[op], &a, &b, &y);
    return end(&m, &desc, prim, "binary operation");
}

// Running

int ln_dnnl_run(ln_dnnl *prim, void *const *data)
{
    dnnl_status_t status = dnnl_success;
    const int threads = swap_threads(prim->threads);
    for (int i = 0; i < prim->n_args && !status; i++)
        status = dnnl_memory_set_data_handle(prim->args[i].memory, data[i]);
    if (!status)
        status = dnnl_primitive_execute(prim->primitive, prim->stream, prim->n_args, prim->args);
    if (!status)
        status = dnnl_stream_wait(prim->stream);
    swap_threads(threads);
    return status ? tl_fail("oneDNN cannot run a primitive: status %d", (int)status) : 0;
}

void ln_dnnl_free(ln_dnnl *prim)
{
    if (!prim)
        return;
    for (int i = 0; i < prim->n_args; i++)
        dnnl_memory_destroy(prim->args[i].memory);
    dnnl_primitive_destroy(prim->primitive);
    dnnl_stream_destroy(prim->stream);
    tl_free(prim);
}
