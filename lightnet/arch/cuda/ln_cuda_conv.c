// SPDX-License-Identifier: Apache-2.0
// Convolutions: by graphs of cuDNN, by our own kernels, or as matrix multiplications.
//
// A graph of cuDNN is a chain; only its ends are in memory, "virtual" tensors between are not:
//
//     x, w -> convolution -> (+ addend) -> (+ bias) -> (activation) -> y
//
// The addend comes before the bias, as in the fused kernels that cuDNN has compiled; other graphs
// are compiled when a plan is made, about 0.3 s for each engine. So that a network loads soon, a
// request measures in this order, and compiles at most one:
//
// 1. Our own kernels, and products: they compute the complete epilogue.
// 2. The convolution alone, by engines that are compiled already. Its time is about the minimum of
//    fused kernels. The fastest competes once more, together with ln_cuda_epilogue for the rest.
// 3. The fused graph, by engines that are compiled already.
// 4. The fused graph, by an engine that is compiled now, unless it cannot save much time:
//    - A kernel with the complete epilogue was measured in 1.
//    - The best is close to 2, the minimum of all fused kernels.
//    - 2 is short: then the pass for the rest takes about as long as its launch.
// 5. Without any plan so far: the convolution alone, by an engine that is compiled now.
//
// No graph with the bias only: the separate pass for addend or activation would cost as much.
//
// A depthwise convolution on [N, H, W, C] has two copies of its weights: [C, KH, KW, 1] for cuDNN,
// and the taps [KH, KW, C] for our kernels. Source: cuDNN 9, "Backend API".

#include "arch/cuda/ln_cuda_plan.h"

#include <float.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "arch/cuda/ln_cuda_acts.h"

// No engine is compiled now if the best takes at most close_to_alone times as long as the
// convolution alone, or this takes less than short_seconds.
static const double close_to_alone = 1.25, short_seconds = 12e-6;

enum {
    MAX_CONFIGS = 64,     // engine configurations that one query of a heuristic returns
    HEURISTICS = 3,       // that are queried
    ENOUGH_CONFIGS = 4,   // with so many, the next heuristic is not queried
    MAX_MEASURED = 8,     // configurations to measure of those that need no compiling
    MAX_COMPILED = 1,     // configurations to compile and measure
    MAX_DESCRIPTORS = 32, // of a graph
    MAX_OPERATIONS = 4,
    FIRST_VIRTUAL = 100, // the first id of a virtual tensor; others have that of their argument
    N = 0,               // the axes of cuDNN's tensors, whose strides express the layout
    C = 1,
    H = 2,
    W = 3,
};

// What a graph computes after the convolution.
typedef struct epilogue {
    int has_bias, has_addend;
    tl_activation act;
} epilogue;

// A convolution that is being planned.
typedef struct request {
    ln_cuda_libs *libs;
    const ln_cuda_conv *conv;
    int is_bare;        // no bias, addend and activation; cuDNN only
    int has_whole;      // a kernel of ours, or a product, with the complete epilogue was measured
    ln_cuda_plan *best; // so far, or NULL
    char reason[256];   // cuDNN's last error for a graph
} request;

// A graph of cuDNN in the making.
typedef struct making {
    const ln_cuda_conv *conv;
    cudnnStatus_t status;                          // the first failure; later calls do nothing
    cudnnBackendDescriptor_t all[MAX_DESCRIPTORS]; // to be destroyed
    int n_all;
    cudnnBackendDescriptor_t ops[MAX_OPERATIONS];
    int n_ops;
    int n_left; // operations that still follow
    cudnnBackendDescriptor_t graph;
} making;

// The engines that the heuristics propose for a graph, likely fast ones first.
typedef struct proposals {
    epilogue epilogue;
    int n;
    struct {
        cudnnBackendDescriptor_t config; // NULL: a plan owns it
        int64_t engine;                  // its number
        int needs_compiling;             // when a plan is made
    } all[HEURISTICS * MAX_CONFIGS];
} proposals;

// A plan by cuDNN.
typedef struct cudnn_plan {
    ln_cuda_plan base;
    cudnnBackendDescriptor_t config, execution;
    int64_t ids[LN_CUDA_ARGS]; // of the graph's tensors in memory
    int args[LN_CUDA_ARGS];    // the argument that each of them is
    int n_ids;
} cudnn_plan;

// Descriptors

static cudnnBackendDescriptor_t create(making *m, cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t desc = NULL;
    if (!m->status && m->n_all == MAX_DESCRIPTORS)
        m->status = CUDNN_STATUS_NOT_SUPPORTED;
    if (!m->status)
        m->status = cudnnBackendCreateDescriptor(type, &desc);
    if (!m->status)
        m->all[m->n_all++] = desc;
    return desc;
}

static void set(making *m, cudnnBackendDescriptor_t desc, cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type, int64_t n, const void *values)
{
    if (!m->status)
        m->status = cudnnBackendSetAttribute(desc, name, type, n, values);
}

static void set_ints(making *m, cudnnBackendDescriptor_t desc, cudnnBackendAttributeName_t name,
                     int n, const int64_t *values)
{
    set(m, desc, name, CUDNN_TYPE_INT64, n, values);
}

static void set_dtype(making *m, cudnnBackendDescriptor_t desc, cudnnBackendAttributeName_t name,
                      cudnnDataType_t dtype)
{
    set(m, desc, name, CUDNN_TYPE_DATA_TYPE, 1, &dtype);
}

static void set_double(making *m, cudnnBackendDescriptor_t desc, cudnnBackendAttributeName_t name,
                       double value)
{
    set(m, desc, name, CUDNN_TYPE_DOUBLE, 1, &value);
}

static void set_float(making *m, cudnnBackendDescriptor_t desc, cudnnBackendAttributeName_t name,
                      float value)
{
    set(m, desc, name, CUDNN_TYPE_FLOAT, 1, &value);
}

static void set_desc(making *m, cudnnBackendDescriptor_t desc, cudnnBackendAttributeName_t name,
                     cudnnBackendDescriptor_t value)
{
    set(m, desc, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

static void finalize(making *m, cudnnBackendDescriptor_t desc)
{
    if (!m->status)
        m->status = cudnnBackendFinalize(desc);
}

static void destroy(cudnnBackendDescriptor_t desc)
{
    if (desc)
        cudnnBackendDestroyDescriptor(desc);
}

static void destroy_all(making *m)
{
    while (m->n_all)
        destroy(m->all[--m->n_all]);
}

// Tensors

static cudnnDataType_t dtype_of(tl_dtype dtype)
{
    return dtype == TL_FLOAT     ? CUDNN_DATA_FLOAT
           : dtype == TL_FLOAT16 ? CUDNN_DATA_HALF
                                 : CUDNN_DATA_BFLOAT16;
}

// The dims of images or weights, in cuDNN's order.
static void dims_of(const tl_tensor *t, int is_nhwc, int64_t dims[4])
{
    const int *const d = t->dims;
    dims[N] = d[0];
    dims[C] = d[is_nhwc ? 3 : 1];
    dims[H] = d[is_nhwc ? 1 : 2];
    dims[W] = d[is_nhwc ? 2 : 3];
}

static void strides_of(const int64_t dims[4], int is_nhwc, int64_t strides[4])
{
    strides[N] = dims[C] * dims[H] * dims[W];
    strides[C] = is_nhwc ? 1 : dims[H] * dims[W];
    strides[H] = is_nhwc ? dims[W] * dims[C] : dims[W];
    strides[W] = is_nhwc ? dims[C] : 1;
}

static cudnnBackendDescriptor_t new_tensor(making *m, int64_t id, const int64_t dims[4],
                                           int is_virtual)
{
    const int64_t alignment = LN_CUDA_ALIGNMENT;
    const bool yes = true;
    int64_t strides[4];
    const cudnnBackendDescriptor_t t = create(m, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    strides_of(dims, m->conv->is_nhwc, strides);
    set_dtype(m, t, CUDNN_ATTR_TENSOR_DATA_TYPE,
              is_virtual ? CUDNN_DATA_FLOAT : dtype_of(m->conv->src->dtype));
    set_ints(m, t, CUDNN_ATTR_TENSOR_DIMENSIONS, 4, dims);
    set_ints(m, t, CUDNN_ATTR_TENSOR_STRIDES, 4, strides);
    set_ints(m, t, CUDNN_ATTR_TENSOR_UNIQUE_ID, 1, &id);
    set_ints(m, t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1, &alignment);
    if (is_virtual)
        set(m, t, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &yes);
    finalize(m, t);
    return t;
}

static int64_t id_of(int arg)
{
    return arg + 1;
}

// The tensor of argument `arg`, in the shape of `t`.
static cudnnBackendDescriptor_t tensor_of(making *m, int arg, const tl_tensor *t)
{
    int64_t dims[4];
    dims_of(t, m->conv->is_nhwc, dims);
    return new_tensor(m, id_of(arg), dims, 0);
}

static cudnnBackendDescriptor_t bias_of(making *m)
{
    int64_t y[4];
    dims_of(m->conv->dst, m->conv->is_nhwc, y);
    const int64_t dims[4] = {1, y[C], 1, 1};
    return new_tensor(m, id_of(LN_CUDA_BIAS), dims, 0);
}

// The tensor for the result of the next operation: y for the last one, virtual for others.
static cudnnBackendDescriptor_t next_result(making *m)
{
    int64_t dims[4];
    if (--m->n_left == 0)
        return tensor_of(m, LN_CUDA_DST, m->conv->dst);
    dims_of(m->conv->dst, m->conv->is_nhwc, dims);
    return new_tensor(m, FIRST_VIRTUAL + m->n_left, dims, 1);
}

// Operations: each returns its result

static cudnnBackendDescriptor_t new_window(making *m)
{
    const tl_conv2d_param *const p = &m->conv->param;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const int64_t axes = 2, strides[2] = {p->stride[0], p->stride[1]},
                  dilations[2] = {p->dilation[0], p->dilation[1]},
                  before[2] = {p->padding[0], p->padding[1]},
                  behind[2] = {p->padding[2], p->padding[3]};
    const cudnnBackendDescriptor_t window = create(m, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    set_dtype(m, window, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
    set(m, window, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    set_ints(m, window, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 1, &axes);
    set_ints(m, window, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 2, before);
    set_ints(m, window, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 2, behind);
    set_ints(m, window, CUDNN_ATTR_CONVOLUTION_DILATIONS, 2, dilations);
    set_ints(m, window, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 2, strides);
    finalize(m, window);
    return window;
}

static void add_op(making *m, cudnnBackendDescriptor_t op)
{
    finalize(m, op);
    if (!m->status)
        m->ops[m->n_ops++] = op;
}

static cudnnBackendDescriptor_t convolve(making *m)
{
    const cudnnBackendDescriptor_t window = new_window(m),
                                   x = tensor_of(m, LN_CUDA_SRC, m->conv->src),
                                   w = tensor_of(m, LN_CUDA_WEIGHT, m->conv->weight),
                                   y = next_result(m);
    const cudnnBackendDescriptor_t op =
        create(m, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    set_desc(m, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, window);
    set_desc(m, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
    set_desc(m, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w);
    set_desc(m, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y);
    set_float(m, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1);
    set_float(m, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0);
    add_op(m, op);
    return y;
}

static cudnnBackendDescriptor_t new_pointwise(making *m, cudnnPointwiseMode_t mode)
{
    const cudnnBackendDescriptor_t pointwise = create(m, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    set(m, pointwise, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    set_dtype(m, pointwise, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
    return pointwise;
}

// Applies a pointwise operation to x, or to x and b.
static cudnnBackendDescriptor_t apply(making *m, cudnnBackendDescriptor_t pointwise,
                                      cudnnBackendDescriptor_t x, cudnnBackendDescriptor_t b)
{
    finalize(m, pointwise);
    const cudnnBackendDescriptor_t y = next_result(m),
                                   op = create(m, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    set_desc(m, op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise);
    set_desc(m, op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    if (b)
        set_desc(m, op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
    set_desc(m, op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    add_op(m, op);
    return y;
}

#define MODE(arg, NAME, mode, epilogue, fast) [TL_ACT_##NAME] = mode,
static const cudnnPointwiseMode_t modes[TL_ACT_SIZE] = {LN_CUDA_ACTS(MODE, )}; // 0: it lacks it

// cuDNN has Clip as a ReLU with an upper bound.
static int can_fuse(tl_activation act)
{
    return modes[act.act] && (act.act != TL_ACT_CLIP || (act.alpha == 0 && act.beta > 0));
}

static cudnnBackendDescriptor_t activate(making *m, cudnnBackendDescriptor_t x, tl_activation act)
{
    const cudnnBackendDescriptor_t pointwise = new_pointwise(m, modes[act.act]);
    if (act.act == TL_ACT_LRELU)
        set_double(m, pointwise, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, act.alpha);
    if (act.act == TL_ACT_CLIP)
        set_double(m, pointwise, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP,
                   act.beta < FLT_MAX ? act.beta : FLT_MAX);
    if (act.act == TL_ACT_SILU)
        set_double(m, pointwise, CUDNN_ATTR_POINTWISE_SWISH_BETA, 1);
    return apply(m, pointwise, x, NULL);
}

// Graphs

static void make_graph(making *m, cudnnHandle_t handle)
{
    m->graph = create(m, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(m, m->graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    set(m, m->graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, m->n_ops,
        m->ops);
    finalize(m, m->graph);
}

// Describes the convolution and its epilogue. destroy_all frees.
static void describe(making *m, const ln_cuda_conv *conv, const epilogue *e, cudnnHandle_t handle)
{
    const int acts = e->act.act != TL_ACT_NONE;
    *m = (making){.conv = conv, .n_left = 1 + e->has_addend + e->has_bias + acts};
    cudnnBackendDescriptor_t result = convolve(m);
    if (e->has_addend)
        result = apply(m, new_pointwise(m, CUDNN_POINTWISE_ADD), result,
                       tensor_of(m, LN_CUDA_ADDEND, conv->dst));
    if (e->has_bias)
        result = apply(m, new_pointwise(m, CUDNN_POINTWISE_ADD), result, bias_of(m));
    if (acts)
        activate(m, result, e->act);
    make_graph(m, handle);
}

// Engines

// Fills `configs` with the proposals of the heuristic for the graph; returns their number.
static int query(cudnnBackendDescriptor_t graph, cudnnBackendHeurMode_t mode,
                 cudnnBackendDescriptor_t configs[MAX_CONFIGS])
{
    int64_t n = 0;
    making m = {0};
    const cudnnBackendDescriptor_t heuristic = create(&m, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    set_desc(&m, heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    set(&m, heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    finalize(&m, heuristic);
    int n_made = 0;
    while (!m.status && n_made < MAX_CONFIGS) {
        m.status =
            cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &configs[n_made]);
        n_made += !m.status;
    }
    if (!m.status)
        m.status =
            cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, MAX_CONFIGS, &n, configs);
    n = m.status ? 0 : n < n_made ? n : n_made;
    while (n_made > n)
        destroy(configs[--n_made]);
    destroy_all(&m);
    return (int)n;
}

// A bit for each numerical note of an engine; all bits if they are unknown.
static unsigned notes_of(cudnnBackendDescriptor_t engine)
{
    cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    int64_t n = 0;
    unsigned bits = 0;
    if (cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                 CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &n,
                                 notes))
        return ~0u;
    for (int64_t i = 0; i < n && i < CUDNN_NUMERICAL_NOTE_TYPE_COUNT; i++)
        bits |= 1u << notes[i];
    return bits;
}

// Whether the engine is as precise as demanded. TF32 has the note TENSOR_CORE.
static int is_allowed(const making *m, cudnnBackendDescriptor_t engine)
{
    const unsigned notes = notes_of(engine);
    unsigned banned = 1u << CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION |
                      1u << CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS;
    if (m->conv->src->dtype == TL_FLOAT && !m->conv->allow_tf32)
        banned |= 1u << CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    return !(notes & banned);
}

// Whether the engine's code is compiled when a plan is made.
static int compiles_late(cudnnBackendDescriptor_t engine)
{
    cudnnBackendBehaviorNote_t notes[CUDNN_BEHAVIOR_NOTE_TYPE_COUNT];
    int64_t n = 0;
    if (cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE,
                                 CUDNN_BEHAVIOR_NOTE_TYPE_COUNT, &n, notes))
        return 0;
    for (int64_t i = 0; i < n && i < CUDNN_BEHAVIOR_NOTE_TYPE_COUNT; i++)
        if (notes[i] == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION)
            return 1;
    return 0;
}

// The number of the configuration's engine; -1: it is unknown, or the engine is not allowed.
static int64_t engine_of(const making *m, cudnnBackendDescriptor_t config, int *needs_compiling)
{
    cudnnBackendDescriptor_t engine = NULL;
    int64_t n = 0, number = -1;
    if (cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine))
        return -1;
    if (cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                 1, &n, &engine) ||
        !is_allowed(m, engine) ||
        cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &n,
                                 &number))
        number = -1;
    *needs_compiling = compiles_late(engine);
    destroy(engine);
    return number;
}

// Plans of cuDNN

static void clear_cudnn(ln_cuda_plan *base)
{
    cudnn_plan *const plan = (cudnn_plan *)base;
    destroy(plan->execution);
    destroy(plan->config);
}

// Fills cuDNN's descriptor of the data of a run.
static cudnnStatus_t fill_pack(cudnnBackendDescriptor_t pack, const cudnn_plan *plan,
                               const ln_cuda_run *run)
{
    making m = {0};
    void *pointers[LN_CUDA_ARGS], *work = run->work;
    for (int i = 0; i < plan->n_ids; i++)
        pointers[i] = run->data[plan->args[i]];
    set(&m, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, plan->n_ids,
        pointers);
    set_ints(&m, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, plan->n_ids, plan->ids);
    set(&m, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &work);
    finalize(&m, pack);
    return m.status;
}

static int run_cudnn(const ln_cuda_plan *base, ln_cuda_libs *libs, const ln_cuda_run *run)
{
    const cudnn_plan *const plan = (const cudnn_plan *)base;
    cudnnBackendDescriptor_t pack = NULL;
    cudnnStatus_t status = cudnnSetStream(libs->cudnn, run->stream);
    if (!status)
        status = cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack);
    if (!status)
        status = fill_pack(pack, plan, run);
    if (!status)
        status = cudnnBackendExecute(libs->cudnn, plan->execution, pack);
    destroy(pack);
    return status ? tl_fail("cuDNN fails: %s", cudnnGetErrorString(status)) : 0;
}

static void add_id(cudnn_plan *plan, int arg)
{
    plan->ids[plan->n_ids] = id_of(arg);
    plan->args[plan->n_ids++] = arg;
}

static void add_ids(cudnn_plan *plan, const epilogue *e)
{
    add_id(plan, LN_CUDA_SRC);
    add_id(plan, LN_CUDA_WEIGHT);
    if (e->has_bias)
        add_id(plan, LN_CUDA_BIAS);
    if (e->has_addend)
        add_id(plan, LN_CUDA_ADDEND);
    add_id(plan, LN_CUDA_DST);
}

// Sets the type and the arguments' shapes, which are the same for all plans of the request.
static void fill_base(const request *r, ln_cuda_plan *plan)
{
    const ln_cuda_conv *const conv = r->conv;
    plan->dtype = conv->src->dtype;
    plan->axis = conv->is_nhwc ? 3 : 1;
    plan->args[LN_CUDA_SRC] = ln_cuda_shape_of(conv->src);
    plan->args[LN_CUDA_WEIGHT] = ln_cuda_shape_of(conv->weight);
    plan->args[LN_CUDA_DST] = ln_cuda_shape_of(conv->dst);
    if (!r->is_bare)
        plan->args[LN_CUDA_BIAS] = (ln_cuda_shape){1, {conv->dst->dims[plan->axis]}};
    if (!r->is_bare && conv->has_addend)
        plan->args[LN_CUDA_ADDEND] = ln_cuda_shape_of(conv->dst);
}

// The epilogue that the graph lacks.
static ln_cuda_rest rest_of(const request *r, const epilogue *e)
{
    ln_cuda_rest rest = {0};
    if (r->is_bare)
        return rest;
    rest.has_bias = !e->has_bias;
    rest.has_addend = r->conv->has_addend && !e->has_addend;
    if (e->act.act == TL_ACT_NONE)
        rest.act = r->conv->param.act;
    return rest;
}

static cudnnStatus_t make_execution(cudnn_plan *plan, cudnnHandle_t handle)
{
    int64_t n = 0, work = 0;
    cudnnStatus_t status =
        cudnnBackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &plan->execution);
    // Early versions of cuDNN 9 require the handle, later ones may do without: no status is needed.
    if (!status)
        cudnnBackendSetAttribute(plan->execution, CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
                                 CUDNN_TYPE_HANDLE, 1, &handle);
    if (!status)
        status = cudnnBackendSetAttribute(plan->execution, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                          CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &plan->config);
    if (!status)
        status = cudnnBackendFinalize(plan->execution);
    if (!status)
        status = cudnnBackendGetAttribute(plan->execution, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                          CUDNN_TYPE_INT64, 1, &n, &work);
    plan->base.work = (size_t)work;
    return status;
}

// Takes `config`. NULL: the engine does not support the graph, or needs too much memory.
static cudnn_plan *new_cudnn_plan(const request *r, const epilogue *e,
                                  cudnnBackendDescriptor_t config, int64_t engine)
{
    cudnn_plan *const plan = ln_cuda_new_plan(sizeof(*plan));
    if (!plan) {
        destroy(config);
        return NULL;
    }
    plan->config = config;
    plan->base.run = run_cudnn;
    plan->base.clear = clear_cudnn;
    plan->base.rest = rest_of(r, e);
    fill_base(r, &plan->base);
    add_ids(plan, e);
    snprintf(plan->base.name, sizeof(plan->base.name), "cudnn %d%s", (int)engine,
             ln_cuda_is_whole(&plan->base) && !r->is_bare ? " fused" : "");
    if (!make_execution(plan, r->libs->cudnn) && plan->base.work <= LN_CUDA_WORK)
        return plan;
    ln_cuda_free_plan(&plan->base);
    return NULL;
}

// Proposals

static void note_reason(request *r, cudnnStatus_t status)
{
    char text[200] = "";
    cudnnGetLastErrorString(text, sizeof(text));
    snprintf(r->reason, sizeof(r->reason), "%s: %.180s", cudnnGetErrorString(status), text);
}

// Whether one of the first `n` proposals is of this engine.
static int has_engine(const proposals *p, int n, int64_t engine)
{
    for (int i = 0; i < n; i++)
        if (p->all[i].engine == engine)
            return 1;
    return 0;
}

// Adds the allowed configurations that a heuristic proposes. Heuristics propose much of the same,
// so this skips engines that an earlier one proposed, except for is_bare, which measures all.
static void add_proposals(proposals *p, const making *m, cudnnBackendHeurMode_t mode, int is_bare)
{
    cudnnBackendDescriptor_t configs[MAX_CONFIGS];
    const int n = query(m->graph, mode, configs), known = is_bare ? 0 : p->n;
    for (int i = 0; i < n; i++) {
        int needs_compiling = 0;
        const int64_t engine = engine_of(m, configs[i], &needs_compiling);
        if (engine < 0 || has_engine(p, known, engine)) {
            destroy(configs[i]);
            continue;
        }
        p->all[p->n].config = configs[i];
        p->all[p->n].engine = engine;
        p->all[p->n++].needs_compiling = needs_compiling;
    }
}

// Fills `p` for the graph with this epilogue. free_proposals frees.
static void find_proposals(request *r, const epilogue *e, proposals *p)
{
    static const cudnnBackendHeurMode_t heuristics[HEURISTICS] = {
        CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK};
    making m;
    p->epilogue = *e;
    p->n = 0;
    describe(&m, r->conv, e, r->libs->cudnn);
    for (int i = 0; i < HEURISTICS && !m.status; i++)
        if (r->is_bare || p->n < ENOUGH_CONFIGS)
            add_proposals(p, &m, heuristics[i], r->is_bare);
    if (m.status || !p->n)
        note_reason(r, m.status ? m.status : CUDNN_STATUS_NOT_SUPPORTED);
    destroy_all(&m);
}

static void free_proposals(proposals *p)
{
    while (p->n)
        destroy(p->all[--p->n].config);
}

// Measures the first `max` proposals that work, of those that need compiling or those that do not.
// For another best than the request's, the graph is measured without the rest of the epilogue.
static void try_proposals(request *r, proposals *p, int needs_compiling, int max,
                          ln_cuda_plan **best)
{
    for (int i = 0, n = 0; i < p->n && n < max; i++) {
        if (!p->all[i].config || p->all[i].needs_compiling != needs_compiling)
            continue;
        cudnn_plan *const plan =
            new_cudnn_plan(r, &p->epilogue, p->all[i].config, p->all[i].engine);
        p->all[i].config = NULL;
        if (!plan)
            continue;
        if (best != &r->best)
            plan->base.rest = (ln_cuda_rest){0};
        ln_cuda_compete(r->libs, best, &plan->base);
        n++;
    }
}

// Graphs of cuDNN

// Returns new: the fastest convolution alone, without the rest. NULL: there is none.
static ln_cuda_plan *find_alone(request *r, proposals *p, int needs_compiling, int max)
{
    const epilogue alone = {0};
    ln_cuda_plan *best = NULL;
    find_proposals(r, &alone, p);
    try_proposals(r, p, needs_compiling, max, &best);
    free_proposals(p);
    return best;
}

// Takes `alone` (NULL: none), which competes together with the rest of the epilogue.
static void try_unfused(request *r, ln_cuda_plan *alone)
{
    const epilogue nothing = {0};
    if (!alone || (r->best && r->best->seconds <= alone->seconds)) {
        ln_cuda_free_plan(alone);
        return;
    }
    alone->rest = rest_of(r, &nothing);
    ln_cuda_compete(r->libs, &r->best, alone);
}

// Whether to compile a fused kernel; `alone`: seconds of the convolution alone (see the top).
static int is_worth_compiling(const request *r, double alone)
{
    if (!r->best)
        return 1;
    return !r->has_whole && alone >= short_seconds && r->best->seconds > alone * close_to_alone;
}

static void try_fused(request *r, proposals *p, double alone)
{
    const ln_cuda_conv *const conv = r->conv;
    epilogue all = {.has_bias = 1, .has_addend = !!conv->has_addend};
    if (can_fuse(conv->param.act))
        all.act = conv->param.act;
    find_proposals(r, &all, p);
    try_proposals(r, p, 0, MAX_MEASURED, &r->best);
    if (is_worth_compiling(r, alone))
        try_proposals(r, p, 1, MAX_COMPILED, &r->best);
    free_proposals(p);
}

// Measures all proposals for the convolution alone, of both kinds.
static void try_bare(request *r, proposals *p)
{
    const epilogue alone = {0};
    find_proposals(r, &alone, p);
    for (int needs_compiling = 0; needs_compiling < 2; needs_compiling++)
        try_proposals(r, p, needs_compiling, HEURISTICS * MAX_CONFIGS, &r->best);
    free_proposals(p);
}

// Whether the plan's kernel adds bias and addend before it rounds.
static int rounds_once(const ln_cuda_plan *plan)
{
    return plan && !plan->rest.has_bias && !plan->rest.has_addend;
}

// In 16 bits, a convolution that is rounded before its bias is added is a last resort: where both
// are large and their sum is not, the error grows. In mobilenet_v2 it doubles.
static void try_cudnn(request *r)
{
    proposals p;
    if (r->is_bare) {
        try_bare(r, &p);
        return;
    }
    ln_cuda_plan *alone = find_alone(r, &p, 0, MAX_MEASURED);
    const double seconds = alone ? alone->seconds : 0;
    if (r->conv->src->dtype == TL_FLOAT) {
        try_unfused(r, alone);
        alone = NULL;
    }
    try_fused(r, &p, seconds);
    if (rounds_once(r->best)) {
        ln_cuda_free_plan(alone);
        return;
    }
    try_unfused(r, alone);
    if (!r->best)
        try_unfused(r, find_alone(r, &p, 1, MAX_COMPILED));
}

// Kernels of our own

// Kernels; numbers from 0 on: ln_cuda_depthwise_tiles with this `way`.
enum { OWN_DEPTHWISE = -1, OWN_FIRST = -2, OWN_DIRECT = -3 };

typedef struct own_plan {
    ln_cuda_plan base;
    tl_conv2d_param param;
    int is_nhwc;
    int kernel;
} own_plan;

static int run_own(const ln_cuda_plan *base, ln_cuda_libs *libs, const ln_cuda_run *run)
{
    const own_plan *const plan = (const own_plan *)base;
    const tl_conv2d_param *const param = &plan->param;
    const tl_tensor src = ln_cuda_tensor(base, LN_CUDA_SRC, run->data),
                    weight = ln_cuda_tensor(base, LN_CUDA_WEIGHT, run->data),
                    bias = ln_cuda_tensor(base, LN_CUDA_BIAS, run->data),
                    addend = ln_cuda_tensor(base, LN_CUDA_ADDEND, run->data);
    tl_tensor dst = ln_cuda_tensor(base, LN_CUDA_DST, run->data);
    const tl_tensor *const more = addend.ndim ? &addend : NULL;
    const ln_cuda_stream stream = run->stream;
    (void)libs;
    switch (plan->kernel) {
    case OWN_DEPTHWISE:
        return ln_cuda_depthwise(stream, &src, &weight, &bias, more, &dst, param, plan->is_nhwc);
    case OWN_FIRST:
        return ln_cuda_first_conv(stream, &src, &weight, &bias, &dst, param, NULL);
    case OWN_DIRECT:
        return ln_cuda_direct_conv(stream, &src, &weight, &bias, more, &dst, param, plan->is_nhwc);
    default:
        return ln_cuda_depthwise_tiles(stream, &src, &weight, &bias, more, &dst, param,
                                       plan->kernel, base->sums ? run->work : NULL);
    }
}

// Makes ln_cuda_depthwise_tiles write partial sums to the work memory, if they fit.
static void add_sums(const ln_cuda_conv *conv, own_plan *plan)
{
    const int sums = ln_cuda_depthwise_sums(conv->src, conv->dst, &conv->param, plan->kernel);
    const int *const dims = conv->dst->dims;
    const double size = (double)dims[0] * sums * dims[3] * sizeof(float);
    if (size > LN_CUDA_WORK)
        return;
    plan->base.sums = sums;
    plan->base.work = (size_t)size;
    snprintf(plan->base.name, sizeof(plan->base.name), "depthwise %d with sums", plan->kernel);
}

static void try_own(request *r, const char *name, int kernel)
{
    const ln_cuda_conv *const conv = r->conv;
    own_plan *const plan = ln_cuda_new_plan(sizeof(*plan));
    if (!plan)
        return;
    strcpy(plan->base.name, name);
    if (kernel >= 0)
        snprintf(plan->base.name, sizeof(plan->base.name), "%s %d", name, kernel);
    plan->base.run = run_own;
    plan->param = conv->param;
    plan->is_nhwc = conv->is_nhwc;
    plan->kernel = kernel;
    fill_base(r, &plan->base);
    if (conv->wants_sums && kernel >= 0)
        add_sums(conv, plan);
    if (conv->taps && kernel >= OWN_DEPTHWISE) { // a depthwise kernel
        plan->base.reads_taps = 1;
        plan->base.args[LN_CUDA_WEIGHT] = ln_cuda_shape_of(conv->taps);
    }
    ln_cuda_compete(r->libs, &r->best, &plan->base);
    r->has_whole = 1;
}

// A plan with sums has no other competitors, since they would need a pass over dst for the sums.
static int has_sums(const request *r)
{
    return r->best && r->best->sums;
}

static void try_depthwise(request *r)
{
    const ln_cuda_conv *const conv = r->conv;
    if (conv->is_nhwc && ln_cuda_has_depthwise_tiles(conv->src, &conv->param))
        for (int way = 0; way < LN_CUDA_TILE_WAYS; way++)
            try_own(r, "depthwise", way);
    if (!has_sums(r))
        try_own(r, "depthwise", OWN_DEPTHWISE);
}

static int is_depthwise(const ln_cuda_conv *conv)
{
    const int axis = conv->is_nhwc ? 3 : 1, group = conv->param.group;
    return conv->src->dims[axis] == group && conv->dst->dims[axis] == group;
}

// Whether ln_cuda_first_conv supports the convolution, of images with few channels.
static int is_first(const ln_cuda_conv *conv)
{
    return conv->is_nhwc && !conv->has_addend &&
           ln_cuda_has_first_conv(conv->src, conv->weight, &conv->param);
}

// Products of matrices

// Whether this is a matrix multiplication: each pixel of dst is the weights times one of src.
static int is_product(const ln_cuda_conv *conv)
{
    const tl_conv2d_param *const p = &conv->param;
    const int *const w = conv->weight->dims;
    return conv->is_nhwc && p->group == 1 && w[1] == 1 && w[2] == 1 && p->stride[0] == 1 &&
           p->stride[1] == 1 && !p->padding[0] && !p->padding[1] && !p->padding[2] &&
           !p->padding[3];
}

// `t` as a matrix of so many columns, whose shape is written to `dims`.
static tl_tensor matrix(const tl_tensor *t, int *dims, int columns)
{
    tl_tensor m = *t;
    dims[0] = t->len / columns;
    dims[1] = columns;
    m.ndim = 2;
    m.dims = dims;
    return m;
}

// Whether ln_cuda_gemm supports the product.
static int has_gemm(const ln_cuda_conv *conv)
{
    const ln_cuda_gemm_job job = {
        .dtype = conv->src->dtype, .n = conv->dst->dims[3], .k = conv->src->dims[3], .batch = 1};
    return ln_cuda_has_gemm(&job);
}

static void try_product(request *r)
{
    const ln_cuda_conv *const conv = r->conv;
    const int channels = conv->src->dims[3], out = conv->dst->dims[3];
    int dims[3][2], bias_dims[1] = {out};
    const tl_tensor src = matrix(conv->src, dims[0], channels),
                    weight = matrix(conv->weight, dims[1], channels),
                    dst = matrix(conv->dst, dims[2], out),
                    bias = {.dtype = src.dtype, .len = out, .ndim = 1, .dims = bias_dims};
    const ln_cuda_product product = {.src1 = &src,
                                     .src2 = &weight,
                                     .dst = &dst,
                                     .bias = &bias,
                                     .trans2 = 1,
                                     .alpha = 1,
                                     .has_addend = conv->has_addend,
                                     .act = conv->param.act,
                                     .allow_tf32 = conv->allow_tf32};
    // The product has its arguments in the same order, so its plan is also one of the convolution,
    // and its measured time is what others compete with.
    ln_cuda_plan_product(r->libs, &r->best, &product);
    r->has_whole = has_gemm(conv) || (r->best && ln_cuda_is_whole(r->best));
}

// Requests

static ln_cuda_key key_of(const ln_cuda_conv *conv, int is_bare)
{
    const tl_conv2d_param *const p = &conv->param;
    const int values[] = {!!is_bare,          conv->src->dtype,   p->group,
                          !!conv->is_nhwc,    !!conv->has_addend, !!conv->taps,
                          !!conv->allow_tf32, !!conv->wants_sums};
    ln_cuda_key key = {0};
    ln_cuda_key_add(&key, sizeof(values) / sizeof(*values), values);
    ln_cuda_key_add(&key, 4, p->padding);
    ln_cuda_key_add(&key, 2, p->stride);
    ln_cuda_key_add(&key, 2, p->dilation);
    ln_cuda_key_add_dims(&key, conv->src);
    ln_cuda_key_add_dims(&key, conv->weight);
    ln_cuda_key_add_dims(&key, conv->dst);
    ln_cuda_key_add_act(&key, p->act);
    return key;
}

static int has_taps_of(const tl_tensor *taps, const tl_tensor *weight)
{
    return taps->dtype == weight->dtype && taps->ndim == 3 && taps->dims[2] == weight->dims[0] &&
           taps->len == weight->len;
}

static int check(const ln_cuda_conv *conv)
{
    const int dtype = conv->src->dtype;
    if (!ln_cuda_is_float(dtype) || conv->weight->dtype != dtype || conv->dst->dtype != dtype)
        return tl_fail("convolution of %s, %s and %s; expected one type of float, 16 or 32 bits",
                       tl_dtype_name(dtype), tl_dtype_name(conv->weight->dtype),
                       tl_dtype_name(conv->dst->dtype));
    if (conv->src->ndim != 4 || conv->weight->ndim != 4 || conv->dst->ndim != 4)
        return tl_fail("convolution of %d, %d and %d dimensions, expected 4", conv->src->ndim,
                       conv->weight->ndim, conv->dst->ndim);
    if (conv->taps &&
        !(conv->is_nhwc && is_depthwise(conv) && has_taps_of(conv->taps, conv->weight)))
        return tl_fail("convolution with %d taps, expected %d of a depthwise one in NHWC, or none",
                       conv->taps->len, conv->weight->len);
    return 0;
}

static int fail_shapes(const request *r)
{
    const tl_tensor *const src = r->conv->src, *const w = r->conv->weight,
                           *const dst = r->conv->dst;
    char texts[3][TL_SHAPE_TEXT_SIZE];
    return tl_fail("no kernel for the convolution %s * %s -> %s of %s, group %d, %s (%s)",
                   tl_shape_text(texts[0], src->ndim, src->dims),
                   tl_shape_text(texts[1], w->ndim, w->dims),
                   tl_shape_text(texts[2], dst->ndim, dst->dims), tl_dtype_name(src->dtype),
                   r->conv->param.group, r->conv->is_nhwc ? "NHWC" : "NCHW", r->reason);
}

// Finds the best plan of the request.
static int make_plan(request *r)
{
    ln_cuda_plan shapes = {0};
    if (r->conv->dst->len == 0) {
        r->best = ln_cuda_plan_nothing();
        return r->best ? 0 : -1;
    }
    fill_base(r, &shapes);
    if (!r->is_bare && is_product(r->conv))
        try_product(r);
    if (ln_cuda_use_shapes(r->libs, &shapes)) {
        ln_cuda_free_plan(r->best);
        return -1;
    }
    if (!r->is_bare && is_depthwise(r->conv) && (!r->conv->is_nhwc || r->conv->taps))
        try_depthwise(r);
    if (!r->is_bare && is_first(r->conv))
        try_own(r, "first", OWN_FIRST);
    if (!has_sums(r))
        try_cudnn(r);
    if (!r->best && !r->is_bare)
        try_own(r, "direct", OWN_DIRECT);
    return r->best ? 0 : fail_shapes(r);
}

static int plan_conv2d(ln_cuda_libs *libs, ln_cuda_plan **plan, const ln_cuda_conv *conv,
                       int is_bare)
{
    if (check(conv))
        return -1;
    const ln_cuda_key key = key_of(conv, is_bare);
    request r = {.libs = libs, .conv = conv, .is_bare = is_bare};
    if (ln_cuda_find_plan(libs, &key, plan))
        return 0;
    return make_plan(&r) ? -1 : ln_cuda_keep_plan(libs, &key, r.best, plan);
}

int ln_cuda_plan_conv2d(ln_cuda_libs *libs, ln_cuda_plan **plan, const ln_cuda_conv *conv)
{
    return plan_conv2d(libs, plan, conv, 0);
}

int ln_cuda_plan_bare_conv2d(ln_cuda_libs *libs, ln_cuda_plan **plan, const ln_cuda_conv *conv)
{
    return plan_conv2d(libs, plan, conv, 1);
}
