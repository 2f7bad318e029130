// SPDX-License-Identifier: Apache-2.0
// Recurrent networks: checks, memory, the steps.

#include "kernel/recurrent/recurrent.h"

#include <assert.h>

#include "kernel/tl_axis.h"
#include "tensor/tl_name.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_linalg.h"

TL_KERNEL_TABLE(pick, tl_recurrent_func, TL_RECURRENT_KERNELS)
TL_KERNEL_TABLE(pick_cells, tl_cells_func, TL_CELLS_KERNELS)

// Cells

static const char *const names[TL_CELL_SIZE] = {
    [TL_CELL_RNN] = "TL_CELL_RNN", [TL_CELL_GRU] = "TL_CELL_GRU", [TL_CELL_LSTM] = "TL_CELL_LSTM"};
TL_NAME_AND_FROM_STR(tl_cell, names, TL_CELL_SIZE)

static const struct {
    int n_gates, n_acts;
} cells[TL_CELL_SIZE] = {[TL_CELL_RNN] = {1, 1}, [TL_CELL_GRU] = {3, 2}, [TL_CELL_LSTM] = {4, 3}};

int tl_cell_gates(tl_cell cell)
{
    return cells[cell].n_gates;
}

int tl_cell_acts(tl_cell cell)
{
    return cells[cell].n_acts;
}

// Checks

// The extents that the tensors share.
typedef struct extents {
    int directions, steps, rows, hidden, n_gates;
} extents;

static extents extents_of(const tl_recurrent_tensors *t, tl_cell cell)
{
    const int n_gates = tl_cell_gates(cell);
    return (extents){t->src->dims[0], t->src->dims[1], t->src->dims[2], t->src->dims[3] / n_gates,
                     n_gates};
}

static int is_packed(const tl_tensor *recurrence)
{
    return recurrence->ndim == 5;
}

int tl_cell_blocks(int hidden)
{
    return hidden / TL_CELL_BLOCK + (hidden % TL_CELL_BLOCK != 0);
}

int tl_recurrent_takes_packed(const tl_recurrent_param *param, int directions)
{
    const int n_acts = tl_cell_acts(param->cell);
    for (int d = 0; d < directions; d++)
        for (int a = 0; a < n_acts; a++) {
            const int is_gate = a == 0 && param->cell != TL_CELL_RNN;
            if (param->acts[d][a].func != (is_gate ? TL_UNARY_SIGMOID : TL_UNARY_TANH))
                return 0;
        }
    return 1;
}

static int check_packed(const tl_recurrent_tensors *t, const tl_recurrent_param *param)
{
    const tl_tensor *const src = t->src;
    const extents e = extents_of(t, param->cell);
    const int dims[] = {e.directions, tl_cell_blocks(e.hidden), e.hidden, e.n_gates, TL_CELL_BLOCK};
    char text[TL_SHAPE_TEXT_SIZE];
    if (src->dtype != TL_FLOAT || src->dims[3] % e.n_gates)
        return tl_fail("'src' is %s %s, expected TL_FLOAT and a multiple of %d gates",
                       tl_dtype_name(src->dtype), tl_shape_text(text, src->ndim, src->dims),
                       e.n_gates);
    if (!tl_recurrent_takes_packed(param, e.directions))
        return tl_fail("'recurrence' is packed, expected the default activations");
    return tl_check_record(t->recurrence, "recurrence", 5, dims, TL_FLOAT);
}

static int check_source(const tl_recurrent_tensors *t, const tl_recurrent_param *param)
{
    const tl_tensor *const src = t->src, *const recurrence = t->recurrence;
    char text[TL_SHAPE_TEXT_SIZE], text2[TL_SHAPE_TEXT_SIZE];
    if (src->dtype != TL_FLOAT && src->dtype != TL_DOUBLE)
        return tl_fail("'src' has dtype %s, expected TL_FLOAT or TL_DOUBLE",
                       tl_dtype_name(src->dtype));
    if (src->ndim != 4 || src->dims[0] < 1 || src->dims[0] > TL_RECURRENT_DIRECTIONS)
        return tl_fail("'src' has shape %s, expected [1 or 2, T, B, G * H]",
                       tl_shape_text(text, src->ndim, src->dims));
    const int n_gates = tl_cell_gates(param->cell);
    if (is_packed(recurrence))
        return check_packed(t, param);
    if (recurrence->dtype != src->dtype || recurrence->ndim != 4 ||
        recurrence->dims[0] != src->dims[0] || recurrence->dims[1] != n_gates ||
        recurrence->dims[2] != recurrence->dims[3] ||
        (long long)recurrence->dims[3] * n_gates != src->dims[3])
        return tl_fail("'recurrence' is %s %s, expected %s [%d, %d, H, H] where 'src' is %s",
                       tl_dtype_name(recurrence->dtype),
                       tl_shape_text(text, recurrence->ndim, recurrence->dims),
                       tl_dtype_name(src->dtype), src->dims[0], n_gates,
                       tl_shape_text(text2, src->ndim, src->dims));
    return 0;
}

static int check_cell(const tl_recurrent_tensors *t, const tl_recurrent_param *param)
{
    const char *const extra = t->initial_c  ? "initial_c"
                              : t->peephole ? "peephole"
                              : t->last_c   ? "last_c"
                                            : NULL;
    if (extra && param->cell != TL_CELL_LSTM)
        return tl_fail("'%s' needs cell TL_CELL_LSTM, not %s", extra, tl_cell_name(param->cell));
    if (param->clip < 0 || param->clip != param->clip)
        return tl_fail("clip %g, expected 0 or more", param->clip);
    for (int d = 0; d < t->src->dims[0]; d++)
        for (int a = 0; a < tl_cell_acts(param->cell); a++) {
            const tl_unary_func func = param->acts[d][a].func;
            if (!tl_unary_func_name(func) || !tl_unary_func_takes(func, t->src->dtype))
                return tl_fail("activation %d is %s, which does not support %s", a,
                               tl_unary_func_name(func) ? tl_unary_func_name(func) : "none",
                               tl_dtype_name(t->src->dtype));
        }
    return 0;
}

// Accepts NULL: an absent tensor.
static int check_shape(const tl_tensor *t, const char *name, int ndim, const int *dims,
                       tl_dtype dtype)
{
    return t ? tl_check_record(t, name, ndim, dims, dtype) : 0;
}

int tl_recurrent_check(const tl_recurrent_tensors *t, const tl_recurrent_param *param)
{
    if (!tl_cell_name(param->cell))
        return tl_fail("cell %d, expected 0 to %d", param->cell, TL_CELL_SIZE - 1);
    if (check_source(t, param) < 0 || check_cell(t, param) < 0)
        return -1;
    const extents e = extents_of(t, param->cell);
    const tl_dtype dtype = t->src->dtype;
    const int states[] = {e.directions, e.rows, e.hidden};
    // e.hidden times the gates is a dimension, but twice that need not be an int.
    const long long n_biases = 2LL * e.n_gates * e.hidden;
    if (n_biases > INT32_MAX)
        return tl_fail("'bias' needs %lld elements, expected at most %d", n_biases, INT32_MAX);
    if (check_shape(t->bias, "bias", 2, (int[]){e.directions, (int)n_biases}, dtype) < 0 ||
        check_shape(t->lens, "lens", 1, &e.rows, TL_INT32) < 0 ||
        check_shape(t->initial_h, "initial_h", 3, states, dtype) < 0 ||
        check_shape(t->initial_c, "initial_c", 3, states, dtype) < 0)
        return -1;
    return check_shape(t->peephole, "peephole", 2, (int[]){e.directions, 3 * e.hidden}, dtype);
}

// Memory of a direction

// Lengths in elements; the scratch memory of matrix multiplications precedes them.
typedef struct memory {
    size_t matmul_scratch; // bytes, whole cache lines
    size_t products, gates, state, bias;
} memory;

static tl_tensor view_3d(void *data, int *dims, tl_dtype dtype)
{
    return (tl_tensor){
        .dtype = dtype, .len = dims[0] * dims[1] * dims[2], .ndim = 3, .dims = dims, .data = data};
}

static const tl_matmul_param plain_product = {.alpha = 1};

// The most scratch bytes that a matrix multiplication of the cell uses.
static size_t product_scratch(const extents *e, tl_dtype dtype, int threads)
{
    if (e->steps == 0)
        return 0;
    const tl_tensor src1 = view_3d(NULL, (int[]){1, e->rows, e->hidden}, dtype);
    size_t max = 0;
    for (int n = 1; n <= e->n_gates; n++) {
        const tl_tensor src2 = view_3d(NULL, (int[]){n, e->hidden, e->hidden}, dtype);
        const tl_tensor dst = view_3d(NULL, (int[]){n, e->rows, e->hidden}, dtype);
        const size_t size = tl_matmul_scratch(&src1, &src2, NULL, &dst, &plain_product, threads);
        max = size > max ? size : max;
    }
    return max;
}

// With packed weights, the memory of products stores the next state.
static memory memory_of(const extents *e, const tl_tensor *recurrence, int threads)
{
    const size_t states = (size_t)e->rows * (size_t)e->hidden, n = (size_t)e->n_gates;
    const size_t size = is_packed(recurrence) ? 0 : product_scratch(e, recurrence->dtype, threads);
    return (memory){tl_ceil_div(size, 64) * 64, n * states, n * states, states,
                    (n + 1) * (size_t)e->hidden};
}

size_t tl_recurrent_scratch(const tl_recurrent_tensors *t, tl_cell cell, int threads)
{
    const extents e = extents_of(t, cell);
    const tl_dtype dtype = t->src->dtype;
    const memory m = memory_of(&e, t->recurrence, threads);
    return m.matmul_scratch + (m.products + m.gates + 3 * m.state + m.bias) * tl_size_of(dtype);
}

// A direction

// Element `i` of the data of `t`; NULL for NULL.
static void *at(const tl_tensor *t, size_t i)
{
    return t ? tl_pointer_add(t->data, (ptrdiff_t)i, t->dtype) : NULL;
}

// products[first .. first+n-1] = states x the recurrence weights of these gates.
static void multiply(const tl_exec *exec, const tl_recurrent_job *job, const tl_tensor *recurrence,
                     int d, int first, int n, void *states)
{
    const int hidden = (int)job->hidden, rows = (int)job->rows;
    const size_t weights = ((size_t)d * job->n_gates + (size_t)first) * job->hidden * job->hidden;
    const tl_dtype dtype = recurrence->dtype;
    const tl_tensor src1 = view_3d(states, (int[]){1, rows, hidden}, dtype);
    const tl_tensor src2 = view_3d(at(recurrence, weights), (int[]){n, hidden, hidden}, dtype);
    const size_t begin = (size_t)first * job->rows * job->hidden * tl_size_of(dtype);
    tl_tensor dst = view_3d((char *)job->products + begin, (int[]){n, rows, hidden}, dtype);
    const tl_exec own = {exec->pool, exec->scratch, job->matmul_scratch, exec->isa, exec->stop};
    tl_exec_matmul(&own, &src1, &src2, NULL, &dst, &plain_product);
}

static void run_stage(const tl_exec *exec, tl_recurrent_job *job, tl_recurrent_func *func,
                      tl_recurrent_stage stage)
{
    job->stage = stage;
    tl_parallel(exec, job->rows, tl_axis_grain(job->n_gates * job->hidden * 16), func, job);
}

static void run_step(const tl_exec *exec, tl_recurrent_job *job, tl_recurrent_func *func,
                     const tl_tensor *recurrence, int d)
{
    const tl_recurrent_param *const param = job->param;
    if (param->cell != TL_CELL_GRU) {
        multiply(exec, job, recurrence, d, 0, (int)job->n_gates, job->h);
        run_stage(exec, job, func,
                  param->cell == TL_CELL_LSTM ? TL_RECURRENT_LSTM : TL_RECURRENT_RNN);
        return;
    }
    multiply(exec, job, recurrence, d, 0, param->reset_after ? 3 : 2, job->h);
    run_stage(exec, job, func, TL_RECURRENT_GRU_GATES);
    if (!param->reset_after)
        multiply(exec, job, recurrence, d, 2, 1, job->reset_h);
    run_stage(exec, job, func, TL_RECURRENT_GRU);
}

// Steps with packed weights

// Weights of up to SHARED_WEIGHTS bytes: each thread reads all, for some of the sequences, without
// waiting for others after each step. Larger ones are divided among threads, for all sequences.
enum { SHARED_WEIGHTS = 512 * 1024 };

static size_t blocks_of(const tl_recurrent_job *job)
{
    return (size_t)tl_cell_blocks((int)job->hidden);
}

// The cost of a block in one step: vector products whose weights come from the L2 cache.
static size_t block_cost(const tl_recurrent_job *job)
{
    return job->rows * job->hidden * job->n_gates * (TL_CELL_BLOCK / 2);
}

// Tasks are as large as possible, so that a thread mostly reads the same weights.
static void run_cells(const tl_exec *exec, tl_recurrent_job *job, tl_recurrent_stage stage)
{
    const size_t n = blocks_of(job), grain = tl_axis_grain(block_cost(job));
    const size_t share = n / (size_t)tl_pool_size(exec->pool);
    job->stage = stage;
    tl_parallel(exec, n, share > grain ? share : grain, job->cells, job);
}

static void run_packed_step(const tl_exec *exec, tl_recurrent_job *job)
{
    static const tl_recurrent_stage last[TL_CELL_SIZE] = {[TL_CELL_RNN] = TL_RECURRENT_RNN,
                                                          [TL_CELL_GRU] = TL_RECURRENT_GRU,
                                                          [TL_CELL_LSTM] = TL_RECURRENT_LSTM};
    if (job->param->cell == TL_CELL_GRU && !job->param->reset_after)
        run_cells(exec, job, TL_RECURRENT_GRU_GATES);
    run_cells(exec, job, last[job->param->cell]);
    void *const old = job->h;
    job->h = job->next;
    job->next = old;
}

static void run_packed_steps(const tl_exec *exec, tl_recurrent_job *job)
{
    for (; job->step < job->steps && !tl_stop_is_requested(exec->stop); job->step++)
        run_packed_step(exec, job);
}

// All steps of the sequences begin .. end-1.
static void run_sequences(void *arg, size_t begin, size_t end)
{
    tl_recurrent_job own = *(const tl_recurrent_job *)arg;
    own.first_row = begin;
    own.end_row = end;
    run_packed_steps(&(tl_exec){.isa = own.isa, .stop = own.stop}, &own);
}

static int splits_sequences(const tl_exec *exec, const tl_recurrent_job *job)
{
    const size_t size = blocks_of(job) * job->hidden * job->n_gates * TL_CELL_BLOCK * sizeof(float);
    const int threads = tl_pool_size(exec->pool);
    return threads > 1 && job->rows >= (size_t)threads && size <= SHARED_WEIGHTS;
}

static void run_packed(const tl_exec *exec, tl_recurrent_job *job)
{
    if (!splits_sequences(exec, job)) {
        run_packed_steps(exec, job);
        return;
    }
    const size_t grain = tl_axis_grain(job->steps * block_cost(job) / job->rows * blocks_of(job));
    const size_t share = job->rows / (size_t)tl_pool_size(exec->pool);
    tl_parallel(exec, job->rows, share > grain ? share : grain, run_sequences, job);
    if (job->steps % 2)
        job->h = job->next;
}

static void run_steps(const tl_exec *exec, tl_recurrent_job *job, const tl_tensor *recurrence,
                      int d)
{
    tl_recurrent_func *const func = pick(exec, recurrence->dtype);
    for (; job->step < job->steps && !tl_stop_is_requested(exec->stop); job->step++)
        run_step(exec, job, func, recurrence, d);
}

// Both halves of the bias in one; that of a candidate which is added after the reset, apart.
static void sum_biases(const tl_exec *exec, tl_recurrent_job *job, const tl_tensor *bias, int d,
                       tl_dtype dtype)
{
    const int hidden = (int)job->hidden, width = (int)job->n_gates * hidden;
    int dims[] = {1, 1, width};
    char *const sums = job->bias;
    const size_t size = tl_size_of(dtype);
    memset(sums, 0, (size_t)(width + hidden) * size);
    if (!bias)
        return;
    const size_t first = (size_t)d * 2 * (size_t)width, second = first + (size_t)width;
    if (job->param->cell == TL_CELL_GRU && job->param->reset_after) {
        memcpy(sums, at(bias, first), (size_t)width * size);
        memcpy(sums + (size_t)width * size, at(bias, second + 2 * job->hidden), job->hidden * size);
        dims[2] = 2 * hidden;
    }
    tl_tensor sum = view_3d(sums, dims, dtype);
    const tl_tensor src1 = view_3d(at(bias, first), dims, dtype);
    const tl_tensor src2 = view_3d(at(bias, second), dims, dtype);
    tl_exec_elew(exec, &src1, &src2, &sum, TL_SUM);
}

static void set_acts(const tl_exec *exec, tl_recurrent_job *job, int d, tl_dtype dtype)
{
    for (int a = 0; a < tl_cell_acts(job->param->cell); a++) {
        const tl_recurrent_act *const act = &job->param->acts[d][a];
        job->acts[a] = tl_unary_kernel(exec, act->func, dtype);
        job->act_params[a] = (tl_unary_param){act->alpha, act->beta};
    }
}

// state = the `d`-th of `initial`, or 0.
static void set_state(void *state, const tl_tensor *initial, int d, size_t len, tl_dtype dtype)
{
    if (initial)
        memcpy(state, at(initial, (size_t)d * len), len * tl_size_of(dtype));
    else
        memset(state, 0, len * tl_size_of(dtype));
}

static void get_state(const void *state, tl_tensor *last, int d, size_t len)
{
    if (last)
        memcpy(at(last, (size_t)d * len), state, len * tl_size_of(last->dtype));
}

// Lays the memory of a direction out in the scratch memory.
static void lay_out(const tl_exec *exec, tl_recurrent_job *job, const extents *e,
                    const tl_tensor *recurrence)
{
    const memory m = memory_of(e, recurrence, tl_pool_size(exec->pool));
    const size_t size = tl_size_of(recurrence->dtype);
    char *scratch = exec->scratch;
    job->matmul_scratch = m.matmul_scratch;
    job->products = job->next = scratch += m.matmul_scratch;
    job->gates = scratch += m.products * size;
    job->h = scratch += m.gates * size;
    job->c = scratch += m.state * size;
    job->reset_h = scratch += m.state * size;
    job->bias = scratch + m.state * size;
}

static void run_direction(const tl_exec *exec, const tl_recurrent_tensors *t,
                          const tl_recurrent_param *param, int d)
{
    const extents e = extents_of(t, param->cell);
    const tl_dtype dtype = t->src->dtype;
    const size_t hidden = (size_t)e.hidden, rows = (size_t)e.rows, states = rows * hidden;
    tl_recurrent_job job = {
        .param = param,
        .hidden = hidden,
        .rows = rows,
        .n_gates = (size_t)e.n_gates,
        .steps = (size_t)e.steps,
        .reverse = param->reverse[d],
        .lens = t->lens ? t->lens->data : NULL,
        .src = at(t->src, (size_t)d * (size_t)e.steps * states * (size_t)e.n_gates),
        .peephole = at(t->peephole, (size_t)d * 3 * hidden),
        .dst = at(t->dst, (size_t)d * states),
        .dst_step = (size_t)e.directions * states};
    lay_out(exec, &job, &e, t->recurrence);
    sum_biases(exec, &job, t->bias, d, dtype);
    set_acts(exec, &job, d, dtype);
    set_state(job.h, t->initial_h, d, states, dtype);
    set_state(job.c, t->initial_c, d, states, dtype);
    if (is_packed(t->recurrence)) {
        job.packed = at(t->recurrence, (size_t)d * t->recurrence->len / (size_t)e.directions);
        job.cells = pick_cells(exec, TL_FLOAT);
        job.end_row = rows;
        job.isa = exec->isa;
        job.stop = exec->stop;
        run_packed(exec, &job);
    } else {
        run_steps(exec, &job, t->recurrence, d);
    }
    get_state(job.h, t->last_h, d, states);
    get_state(job.c, t->last_c, d, states);
}

// The functions

int tl_exec_recurrent(const tl_exec *exec, const tl_recurrent_tensors *t,
                      const tl_recurrent_param *param)
{
    const int threads = tl_pool_size(exec ? exec->pool : NULL);
    const size_t needed = tl_recurrent_scratch(t, param->cell, threads);
    const int steps = t->src->dims[1];
    const int32_t *const lens = t->lens ? t->lens->data : NULL;
    for (int b = 0; lens && b < t->lens->len; b++)
        if (lens[b] < 0 || lens[b] > steps)
            return tl_fail("'lens' has %d for sequence %d, expected 0 to %d", lens[b], b, steps);
    if (tl_check_scratch(exec, needed, "for a recurrent network") < 0)
        return -1;
    for (int d = 0; d < t->src->dims[0]; d++)
        run_direction(exec, t, param, d);
    return 0;
}

// Each tensor that is there has data.
static int check_all_data(const tl_recurrent_tensors *t)
{
    const struct {
        const tl_tensor *tensor;
        const char *name;
    } all[] = {{t->bias, "bias"},           {t->lens, "lens"},         {t->initial_h, "initial_h"},
               {t->initial_c, "initial_c"}, {t->peephole, "peephole"}, {t->dst, "dst"},
               {t->last_h, "last_h"},       {t->last_c, "last_c"}};
    if (tl_check_data(t->src, "src") < 0 || tl_check_data(t->recurrence, "recurrence") < 0)
        return -1;
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (all[i].tensor && tl_check_data(all[i].tensor, all[i].name) < 0)
            return -1;
    return 0;
}

static int check_outputs(const tl_recurrent_tensors *t, const tl_recurrent_param *param)
{
    const extents e = extents_of(t, param->cell);
    const int dims[] = {e.steps, e.directions, e.rows, e.hidden};
    if (check_shape(t->dst, "dst", 4, dims, t->src->dtype) < 0 ||
        check_shape(t->last_h, "last_h", 3, dims + 1, t->src->dtype) < 0)
        return -1;
    return check_shape(t->last_c, "last_c", 3, dims + 1, t->src->dtype);
}

int tl_tensor_recurrent(const tl_recurrent_tensors *t, const tl_recurrent_param *param)
{
    if (check_all_data(t) < 0 || tl_recurrent_check(t, param) < 0 || check_outputs(t, param) < 0)
        return -1;
    const tl_exec exec = tl_result_exec(tl_recurrent_scratch(t, param->cell, 1));
    const int status = exec.scratch ? tl_exec_recurrent(&exec, t, param) : -1;
    tl_free(exec.scratch);
    return status;
}

static void pack_block(const float *src, float *dst, size_t hidden, size_t n_gates, size_t first)
{
    const size_t n = tl_min_size(hidden - first, TL_CELL_BLOCK);
    memset(dst, 0, hidden * n_gates * TL_CELL_BLOCK * sizeof(*dst));
    for (size_t k = 0; k < hidden; k++)
        for (size_t g = 0; g < n_gates; g++)
            memcpy(dst + (k * n_gates + g) * TL_CELL_BLOCK, src + (g * hidden + k) * hidden + first,
                   n * sizeof(*dst));
}

int tl_exec_recurrent_pack(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    (void)exec;
    assert(src->dtype == TL_FLOAT && src->ndim == 4 && dst->dtype == TL_FLOAT && dst->ndim == 5);
    const size_t n_gates = (size_t)src->dims[1], hidden = (size_t)src->dims[3];
    const size_t size = hidden * n_gates * TL_CELL_BLOCK;
    float *to = dst->data;
    for (int d = 0; d < src->dims[0]; d++)
        for (size_t first = 0; first < hidden; first += TL_CELL_BLOCK, to += size)
            pack_block((const float *)src->data + (size_t)d * n_gates * hidden * hidden, to, hidden,
                       n_gates, first);
    return 0;
}
