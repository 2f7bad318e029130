// SPDX-License-Identifier: Apache-2.0
// Matrix multiplications by cuBLASLt, or by ln_cuda_gemm, whose epilogue is complete.
//
// cuBLASLt's matrices are column-major, so that memory which is [m, n] for us is [n, m] for it.
// Instead of
//
//     dst [m, n] = src1 [m, k] x src2 [k, n]       it computes
//     dst' [n, m] = src2' [n, k] x src1' [k, m]
//
// where ' is the other view of the same memory: its A is src2, its B is src1. Its bias has an
// element for each row of dst', which is a column of dst. Source: cuBLAS 13, "Using the cuBLASLt
// API".

#include "arch/cuda/ln_cuda_plan.h"

#include <string.h>

#include "arch/cuda/ln_cuda_acts.h"

enum {
    MAX_ALGORITHMS = 12, // to measure
    MAX_WORK = 32 << 20, // bytes
    FEW_ROWS = 16,       // ln_cuda_gemm, with tiles of at least 64 rows, needs as many
    BUSY = 128,          // operations per byte of memory traffic that keep tensor cores busy
};

// The part of the epilogue that cuBLASLt computes itself, in the order in which they are tried.
typedef enum fusion { FUSE_ALL, FUSE_ADDEND, FUSE_NOTHING, FUSIONS } fusion;

// What determines the plan of a product, in a normal form: dst = act(alpha * src1 x src2 + bias +
// addend), of a batch of [m, k] x [k, n].
typedef struct problem {
    int m, n, k, batch;
    int k_more;    // the columns of src1_more, the last of the k; 0: none
    int is_shared; // src2 is the same for the whole batch
    int trans1, trans2;
    tl_dtype dtype;
    int has_bias, has_addend, allow_tf32;
    float alpha;
    tl_activation act;
} problem;

typedef struct product_plan {
    ln_cuda_plan base;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, d; // of src2, src1 and dst; the addend is like dst
    cublasLtMatmulAlgo_t algo;
    float alpha, beta;
    int has_bias; // in the epilogue
} product_plan;

// A plan in the making.
typedef struct making {
    product_plan *plan;
    cublasStatus_t status; // the first failure; later calls then do nothing
} making;

// Problems

static int count(const int *dims, int n)
{
    int len = 1;
    for (int i = 0; i < n; i++)
        len *= dims[i];
    return len;
}

static int batch_of(const tl_tensor *t)
{
    return count(t->dims, t->ndim - 2);
}

// Whether both have the same axes before the last two.
static int is_same_batch(const tl_tensor *t, const tl_tensor *dst)
{
    const size_t size = (size_t)(dst->ndim - 2) * sizeof(*dst->dims);
    return t->ndim == dst->ndim && (size == 0 || !memcmp(t->dims, dst->dims, size));
}

int ln_cuda_has_product(const tl_tensor *src1, const tl_tensor *src2, const tl_tensor *bias,
                        const tl_tensor *dst)
{
    const tl_dtype dtype = dst->dtype;
    if (!ln_cuda_is_float(dtype) || src1->dtype != dtype || src2->dtype != dtype ||
        (bias && bias->dtype != dtype))
        return 0;
    if (src1->ndim < 2 || src2->ndim < 2 || dst->ndim < 2)
        return 0;
    if (dst->len > 0 && (src1->len == 0 || src2->len == 0)) // k is 0
        return 0;
    if (!is_same_batch(src1, dst) || (!is_same_batch(src2, dst) && batch_of(src2) != 1))
        return 0;
    const int n = dst->dims[dst->ndim - 1];
    return !bias || (bias->len == n && bias->ndim > 0 && bias->dims[bias->ndim - 1] == n);
}

// The normal form: vectors are transposed in one way, and a batch with one src2 is one matrix.
static problem problem_of(const ln_cuda_product *product)
{
    const tl_tensor *const dst = product->dst, *const src1 = product->src1;
    const tl_tensor *const more = product->src1_more;
    problem p = {.m = dst->dims[dst->ndim - 2],
                 .n = dst->dims[dst->ndim - 1],
                 .k = src1->dims[src1->ndim - (product->trans1 ? 2 : 1)],
                 .k_more = more ? more->dims[more->ndim - 1] : 0,
                 .batch = batch_of(dst),
                 .is_shared = batch_of(product->src2) == 1,
                 .trans1 = !!product->trans1,
                 .trans2 = !!product->trans2,
                 .dtype = dst->dtype,
                 .has_bias = product->bias != NULL,
                 .has_addend = !!product->has_addend,
                 .allow_tf32 = dst->dtype == TL_FLOAT && product->allow_tf32,
                 .alpha = (float)product->alpha,
                 .act = product->act};
    p.k += p.k_more;
    // A vector has the same memory transposed: src1 as a row [1, k], src2 as [1, k] with trans2.
    if (p.m == 1)
        p.trans1 = 0;
    if (p.n == 1)
        p.trans2 = 1;
    if (p.is_shared && !p.trans1) { // the rows of all matrices
        p.m *= p.batch;
        p.batch = 1;
    }
    return p;
}

static ln_cuda_key key_of(const problem *p)
{
    const int values[] = {2, // no convolution
                          p->m,     p->n,         p->k,          p->k_more,
                          p->batch, p->is_shared, p->trans1,     p->trans2,
                          p->dtype, p->has_bias,  p->has_addend, p->allow_tf32};
    ln_cuda_key key = {0};
    ln_cuda_key_add(&key, sizeof(values) / sizeof(*values), values);
    ln_cuda_key_add_float(&key, p->alpha);
    ln_cuda_key_add_act(&key, p->act);
    return key;
}

// Descriptors

static cudaDataType_t dtype_of(tl_dtype dtype)
{
    return dtype == TL_FLOAT ? CUDA_R_32F : dtype == TL_FLOAT16 ? CUDA_R_16F : CUDA_R_16BF;
}

static void set(making *m, cublasLtMatmulDescAttributes_t name, const void *value, size_t size)
{
    if (!m->status)
        m->status = cublasLtMatmulDescSetAttribute(m->plan->desc, name, value, size);
}

static void set_int(making *m, cublasLtMatmulDescAttributes_t name, int32_t value)
{
    set(m, name, &value, sizeof(value));
}

// A column-major layout. `stride`: elements from a matrix of the batch to the next one.
static void make_layout(making *m, cublasLtMatrixLayout_t *layout, const problem *p, int rows,
                        int columns, int64_t stride)
{
    const int32_t batch = p->batch;
    if (!m->status)
        m->status = cublasLtMatrixLayoutCreate(layout, dtype_of(p->dtype), (uint64_t)rows,
                                               (uint64_t)columns, rows);
    if (!m->status)
        m->status = cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                     &batch, sizeof(batch));
    if (!m->status)
        m->status = cublasLtMatrixLayoutSetAttribute(
            *layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride));
}

static void make_layouts(making *m, const problem *p)
{
    product_plan *const plan = m->plan;
    const int64_t rows = p->m, columns = p->n, k = p->k;
    make_layout(m, &plan->a, p, p->trans2 ? p->k : p->n, p->trans2 ? p->n : p->k,
                p->is_shared ? 0 : k * columns);
    make_layout(m, &plan->b, p, p->trans1 ? p->m : p->k, p->trans1 ? p->k : p->m, rows * k);
    make_layout(m, &plan->d, p, p->n, p->m, rows * columns);
}

#define EPILOGUE(arg, NAME, mode, epilogue, fast) [TL_ACT_##NAME] = epilogue,
static const cublasLtEpilogue_t epilogues[TL_ACT_SIZE] = {LN_CUDA_ACTS(EPILOGUE, )};

// Whether cuBLASLt can compute the activation. Its GELU differs from the exact one by less than
// 5e-4, the rounding error of float16 above 1, so it is used for 16-bit types only.
static int can_fuse(const problem *p)
{
    const tl_act act = p->act.act;
    return act == TL_ACT_NONE || (epilogues[act] && (act != TL_ACT_GELU || p->dtype != TL_FLOAT));
}

// The epilogue of a fused activation, or TL_ACT_NONE, and bias.
static cublasLtEpilogue_t epilogue_of(int has_bias, tl_act act)
{
    if (!epilogues[act])
        return has_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    return has_bias ? epilogues[act] | CUBLASLT_EPILOGUE_BIAS : epilogues[act];
}

// CUBLAS_COMPUTE_32F does not use TF32: it multiplies float32 as float32, and sums 16-bit types in
// float32.
static cublasComputeType_t compute_of(const problem *p)
{
    return p->allow_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

static void make_desc(making *m, const problem *p, tl_act act)
{
    product_plan *const plan = m->plan;
    if (!m->status)
        m->status = cublasLtMatmulDescCreate(&plan->desc, compute_of(p), CUDA_R_32F);
    set_int(m, CUBLASLT_MATMUL_DESC_TRANSA, p->trans2 ? CUBLAS_OP_T : CUBLAS_OP_N);
    set_int(m, CUBLASLT_MATMUL_DESC_TRANSB, p->trans1 ? CUBLAS_OP_T : CUBLAS_OP_N);
    set_int(m, CUBLASLT_MATMUL_DESC_EPILOGUE, (int32_t)epilogue_of(plan->has_bias, act));
}

// Plans

static void clear_product(ln_cuda_plan *base)
{
    product_plan *const plan = (product_plan *)base;
    if (plan->d)
        cublasLtMatrixLayoutDestroy(plan->d);
    if (plan->b)
        cublasLtMatrixLayoutDestroy(plan->b);
    if (plan->a)
        cublasLtMatrixLayoutDestroy(plan->a);
    if (plan->desc)
        cublasLtMatmulDescDestroy(plan->desc);
}

static cublasStatus_t set_bias(const product_plan *plan, const void *bias)
{
    if (!plan->has_bias)
        return CUBLAS_STATUS_SUCCESS;
    return cublasLtMatmulDescSetAttribute(plan->desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias,
                                          sizeof(bias));
}

static int run_product(const ln_cuda_plan *base, ln_cuda_libs *libs, const ln_cuda_run *run)
{
    const product_plan *const plan = (const product_plan *)base;
    void *const *const data = run->data, *const dst = data[LN_CUDA_DST];
    const void *const addend = plan->beta != 0 ? data[LN_CUDA_ADDEND] : dst;
    cublasStatus_t status = set_bias(plan, data[LN_CUDA_BIAS]);
    if (!status)
        status = cublasLtMatmul(libs->blas, plan->desc, &plan->alpha, data[LN_CUDA_WEIGHT], plan->a,
                                data[LN_CUDA_SRC], plan->b, &plan->beta, addend, plan->d, dst,
                                plan->d, &plan->algo, run->work, base->work, run->stream);
    return status ? tl_fail("cuBLASLt fails: %s", cublasLtGetStatusString(status)) : 0;
}

static void fill_base(ln_cuda_plan *plan, const problem *p)
{
    const ln_cuda_shape dst = {2, {p->batch * p->m, p->n}};
    plan->dtype = p->dtype;
    plan->axis = 1;
    plan->args[LN_CUDA_SRC] = (ln_cuda_shape){2, {p->batch * p->m, p->k - p->k_more}};
    if (p->k_more)
        plan->args[LN_CUDA_MORE] = (ln_cuda_shape){2, {p->batch * p->m, p->k_more}};
    plan->args[LN_CUDA_WEIGHT] = (ln_cuda_shape){2, {(p->is_shared ? 1 : p->batch) * p->k, p->n}};
    plan->args[LN_CUDA_DST] = dst;
    if (p->has_bias)
        plan->args[LN_CUDA_BIAS] = (ln_cuda_shape){1, {p->n}};
    if (p->has_addend)
        plan->args[LN_CUDA_ADDEND] = dst;
}

// Divides the epilogue between cuBLASLt and, as plan->base.rest, ln_cuda_epilogue. Returns the
// activation for cuBLASLt. Its beta adds the addend, even before a bias that follows.
static tl_act divide_rest(product_plan *plan, const problem *p, fusion how)
{
    const int fuses_act = how == FUSE_ALL && can_fuse(p);
    plan->has_bias = how == FUSE_ALL && p->has_bias;
    plan->beta = how <= FUSE_ADDEND && p->has_addend ? 1 : 0;
    plan->base.rest.has_bias = p->has_bias && !plan->has_bias;
    plan->base.rest.has_addend = p->has_addend && plan->beta == 0;
    if (!fuses_act)
        plan->base.rest.act = p->act;
    return fuses_act ? p->act.act : TL_ACT_NONE;
}

// Returns new: a plan without algorithm, or NULL.
static product_plan *new_plan(const problem *p, fusion how)
{
    making m = {.plan = ln_cuda_new_plan(sizeof(*m.plan))};
    if (!m.plan)
        return NULL;
    fill_base(&m.plan->base, p);
    m.plan->base.run = run_product;
    m.plan->base.clear = clear_product;
    m.plan->alpha = p->alpha;
    make_desc(&m, p, divide_rest(m.plan, p, how));
    make_layouts(&m, p);
    strcpy(m.plan->base.name, ln_cuda_is_whole(&m.plan->base) ? "cublaslt" : "cublaslt unfused");
    if (!m.status)
        return m.plan;
    ln_cuda_free_plan(&m.plan->base);
    return NULL;
}

// Algorithms

static cublasStatus_t prefer(cublasLtMatmulPreference_t preference,
                             cublasLtMatmulPreferenceAttributes_t name, const void *value,
                             size_t size)
{
    return cublasLtMatmulPreferenceSetAttribute(preference, name, value, size);
}

static cublasStatus_t set_preference(cublasLtMatmulPreference_t preference, tl_dtype dtype)
{
    static const cublasLtMatmulPreferenceAttributes_t alignments[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    const uint64_t work = MAX_WORK;
    const uint32_t alignment = LN_CUDA_ALIGNMENT;
    // Partial sums are not rounded to 16 bits.
    const uint32_t sums = dtype == TL_FLOAT ? CUBLASLT_REDUCTION_SCHEME_MASK
                                            : CUBLASLT_REDUCTION_SCHEME_INPLACE |
                                                  CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    cublasStatus_t status =
        prefer(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &work, sizeof(work));
    if (!status)
        status =
            prefer(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &sums, sizeof(sums));
    for (int i = 0; i < 4 && !status; i++)
        status = prefer(preference, alignments[i], &alignment, sizeof(alignment));
    return status;
}

// Fills `found` with the algorithms that cuBLASLt's heuristic proposes; returns their number.
static int query(ln_cuda_libs *libs, const product_plan *plan,
                 cublasLtMatmulHeuristicResult_t found[MAX_ALGORITHMS])
{
    cublasLtMatmulPreference_t preference = NULL;
    int n = 0;
    // The heuristic looks at the alignment of the bias.
    cublasStatus_t status = set_bias(plan, libs->data[LN_CUDA_BIAS]);
    if (!status)
        status = cublasLtMatmulPreferenceCreate(&preference);
    if (!status)
        status = set_preference(preference, plan->base.dtype);
    if (!status)
        status = cublasLtMatmulAlgoGetHeuristic(libs->blas, plan->desc, plan->a, plan->b, plan->d,
                                                plan->d, preference, MAX_ALGORITHMS, found, &n);
    if (preference)
        cublasLtMatmulPreferenceDestroy(preference);
    return status ? 0 : n;
}

// Whether the algorithm rounds float32 inputs. COMPUTE_32F should exclude these; this makes sure.
static int is_rounding(const cublasLtMatmulAlgo_t *algo)
{
    const cublasLtNumericalImplFlags_t rounding = CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32 |
                                                  CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F |
                                                  CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF;
    cublasLtNumericalImplFlags_t flags = 0;
    size_t size;
    return !cublasLtMatmulAlgoCapGetAttribute(algo, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags,
                                              sizeof(flags), &size) &&
           flags & rounding;
}

// Measures the algorithms and leaves the fastest in the plan. Returns whether there is one.
static int choose_algorithm(ln_cuda_libs *libs, product_plan *plan, const problem *p)
{
    cublasLtMatmulHeuristicResult_t found[MAX_ALGORITHMS];
    const int n = query(libs, plan, found);
    int best = -1;
    for (int i = 0; i < n; i++) {
        if (found[i].state || found[i].workspaceSize > MAX_WORK ||
            (p->dtype == TL_FLOAT && !p->allow_tf32 && is_rounding(&found[i].algo)))
            continue;
        plan->algo = found[i].algo;
        plan->base.work = found[i].workspaceSize;
        const double seconds = ln_cuda_measure(libs, &plan->base, plan->base.seconds);
        if (seconds >= 0 && (best < 0 || seconds < plan->base.seconds)) {
            plan->base.seconds = seconds;
            best = i;
        }
    }
    if (best < 0)
        return 0;
    plan->algo = found[best].algo;
    plan->base.work = found[best].workspaceSize;
    return 1;
}

// Returns new: the plan that fuses the most, with its fastest algorithm. NULL: there is none.
static ln_cuda_plan *best_of_cublaslt(ln_cuda_libs *libs, const problem *p)
{
    for (fusion how = FUSE_ALL; how < FUSIONS; how++) {
        product_plan *const plan = new_plan(p, how);
        if (plan && choose_algorithm(libs, plan, p))
            return &plan->base;
        if (plan)
            ln_cuda_free_plan(&plan->base);
    }
    return NULL;
}

// Our own kernel

typedef struct gemm_plan {
    ln_cuda_plan base;
    ln_cuda_gemm_job job; // without its data
} gemm_plan;

static int run_gemm(const ln_cuda_plan *base, ln_cuda_libs *libs, const ln_cuda_run *run)
{
    ln_cuda_gemm_job job = ((const gemm_plan *)base)->job;
    (void)libs;
    job.src1 = run->data[LN_CUDA_SRC];
    job.src1_more = job.k_more ? run->data[LN_CUDA_MORE] : NULL;
    job.src2 = run->data[LN_CUDA_WEIGHT];
    job.bias = base->args[LN_CUDA_BIAS].ndim ? run->data[LN_CUDA_BIAS] : NULL;
    job.addend = base->args[LN_CUDA_ADDEND].ndim ? run->data[LN_CUDA_ADDEND] : NULL;
    job.dst = run->data[LN_CUDA_DST];
    return ln_cuda_gemm(run->stream, &job);
}

static ln_cuda_gemm_job job_of(const problem *p)
{
    return (ln_cuda_gemm_job){.dtype = p->dtype,
                              .m = p->m,
                              .n = p->n,
                              .k = p->k,
                              .k_more = p->k_more,
                              .batch = p->batch,
                              .is_shared = p->is_shared,
                              .trans2 = p->trans2,
                              .alpha = p->alpha,
                              .act = p->act};
}

// Whether ln_cuda_gemm may be faster than `best`: it saves a second pass over dst, or the product
// is memory-bound. If it is compute-bound, cuBLASLt is faster. Only ln_cuda_gemm supports k_more.
static int is_for_gemm(const problem *p, const ln_cuda_plan *best)
{
    const double m = (double)p->m * p->batch, n = p->n, k = p->k;
    const double bytes = // of elements of 16 bits: src1, src2, dst, addend
        2 * (m * k + k * n * (p->is_shared ? 1 : p->batch) + m * n * (p->has_addend ? 2 : 1));
    if (p->trans1 || (m < FEW_ROWS && !p->k_more))
        return 0;
    return !best || !ln_cuda_is_whole(best) || 2 * m * n * k < BUSY * bytes;
}

static void try_gemm(ln_cuda_libs *libs, ln_cuda_plan **best, const problem *p)
{
    const ln_cuda_gemm_job job = job_of(p);
    int choices[LN_CUDA_GEMM_CHOICES];
    const int n = ln_cuda_gemm_choices(&job, choices);
    for (int i = 0; i < n; i++) {
        gemm_plan *const plan = ln_cuda_new_plan(sizeof(*plan));
        if (!plan)
            return;
        fill_base(&plan->base, p);
        strcpy(plan->base.name, ln_cuda_gemm_name(choices[i]));
        plan->base.run = run_gemm;
        plan->job = job;
        plan->job.tile = choices[i];
        ln_cuda_compete(libs, best, &plan->base);
    }
}

// Requests

// Returns new: the best plan, or NULL with a reason.
static ln_cuda_plan *make_plan(ln_cuda_libs *libs, const problem *p)
{
    ln_cuda_plan shapes = {0};
    if (p->m == 0 || p->n == 0 || p->batch == 0)
        return ln_cuda_plan_nothing();
    fill_base(&shapes, p);
    if (ln_cuda_use_shapes(libs, &shapes))
        return NULL;
    ln_cuda_plan *best = p->k_more ? NULL : best_of_cublaslt(libs, p);
    if (is_for_gemm(p, best))
        try_gemm(libs, &best, p);
    if (!best)
        tl_fail("no kernel for %d products of matrices [%d, %d] x [%d, %d] of %s", p->batch, p->m,
                p->k, p->k, p->n, tl_dtype_name(p->dtype));
    return best;
}

int ln_cuda_plan_product(ln_cuda_libs *libs, ln_cuda_plan **plan, const ln_cuda_product *product)
{
    if (!ln_cuda_has_product(product->src1, product->src2, product->bias, product->dst))
        return tl_fail("cuBLASLt does not support a product of matrices of these shapes and types");
    const problem p = problem_of(product);
    const ln_cuda_key key = key_of(&p);
    if (ln_cuda_find_plan(libs, &key, plan))
        return 0;
    ln_cuda_plan *const made = make_plan(libs, &p);
    return made ? ln_cuda_keep_plan(libs, &key, made, plan) : -1;
}
