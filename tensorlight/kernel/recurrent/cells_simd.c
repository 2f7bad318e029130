// SPDX-License-Identifier: Apache-2.0
// A time step of recurrent networks with packed weights, in vectors: matrix products, gates and
// states of TL_CELL_BLOCK hidden elements of the job's sequences are computed in one pass.
//
// The weights of a block are [H][G][TL_CELL_BLOCK], in the order in which vectors of that length
// are read. A register tile holds the sums of all gates of up to ROWS sequences: each vector of
// weights is multiplied by one element of the hidden state of each of these sequences.

#include "kernel/recurrent/recurrent.h"

#include "kernel/simd/tl_simd_math.h"

// Sequences of a tile, and max gates.
enum { ROWS = TL_SIMD_REGISTERS >= 32 ? 6 : 2, GATES = 4 };

// Products

// sums[r][g] = the product of the hidden state of sequence r, h + r * hidden, and the weights of
// gate g, for r < rows, g < n. Weights of consecutive state elements are `step` floats apart.
TL_INLINE void multiply(const float *h, const float *weights, size_t hidden, size_t step,
                        tl_vf sums[ROWS][GATES], size_t rows, size_t n)
{
    tl_vf s[ROWS][GATES];
    TL_UNROLL
    for (size_t r = 0; r < rows; r++)
        TL_UNROLL
    for (size_t g = 0; g < n; g++)
        s[r][g] = tl_vf_zero();
    for (size_t k = 0; k < hidden; k++) {
        tl_vf w[GATES];
        TL_UNROLL
        for (size_t g = 0; g < n; g++)
            w[g] = tl_vf_opaque(tl_vf_load(weights + k * step + g * TL_CELL_BLOCK));
        TL_UNROLL
        for (size_t r = 0; r < rows; r++) {
            const tl_vf state = tl_vf_set1(h[r * hidden + k]);
            TL_UNROLL
            for (size_t g = 0; g < n; g++)
                s[r][g] = tl_vf_fma(state, w[g], s[r][g]);
        }
    }
    TL_UNROLL
    for (size_t r = 0; r < rows; r++)
        TL_UNROLL
    for (size_t g = 0; g < n; g++)
        sums[r][g] = s[r][g];
}

typedef void multiply_func(const float *h, const float *weights, size_t hidden, size_t step,
                           tl_vf sums[ROWS][GATES]);

#define MULTIPLY(rows, n)                                                                  \
    static void multiply_##rows##_##n(const float *h, const float *weights, size_t hidden, \
                                      size_t step, tl_vf sums[ROWS][GATES])                \
    {                                                                                      \
        multiply(h, weights, hidden, step, sums, rows, n);                                 \
    }
#define MULTIPLY_ROWS(rows) MULTIPLY(rows, 1) MULTIPLY(rows, 2) MULTIPLY(rows, 3) MULTIPLY(rows, 4)
#define NAME_ROWS(rows)                                                                    \
    {                                                                                      \
        multiply_##rows##_1, multiply_##rows##_2, multiply_##rows##_3, multiply_##rows##_4 \
    }

MULTIPLY_ROWS(1)
MULTIPLY_ROWS(2)
#if TL_SIMD_REGISTERS >= 32
MULTIPLY_ROWS(3)
MULTIPLY_ROWS(4)
MULTIPLY_ROWS(5)
MULTIPLY_ROWS(6)
#endif

static multiply_func *const products[ROWS][GATES] = {
    NAME_ROWS(1), NAME_ROWS(2),
#if TL_SIMD_REGISTERS >= 32
    NAME_ROWS(3), NAME_ROWS(4), NAME_ROWS(5), NAME_ROWS(6),
#endif
};

// Cells

// Hidden elements `j` .. `j` + `n` - 1 of one sequence in a step, with pointers to its element 0.
typedef struct cell {
    const tl_recurrent_job *job;
    const float *x, *h;    // input projections of the gates; hidden state before the step
    float *next, *c;       // hidden state after the step; cell state of an LSTM, updated in place
    float *update, *reset; // of a GRU: z, r h
    float *dst;            // the result of the step, or NULL
    size_t j, n;
} cell;

TL_INLINE tl_vf get(const cell *at, const float *p)
{
    return at->n == (size_t)TL_VF_LANES ? tl_vf_load(p + at->j)
                                        : tl_vf_load_partial(p + at->j, at->n);
}

TL_INLINE void put(const cell *at, float *p, tl_vf v)
{
    if (at->n == (size_t)TL_VF_LANES)
        tl_vf_store(p + at->j, v);
    else
        tl_vf_store_partial(p + at->j, v, at->n);
}

// The sum that gate `g` activates: input projection, product and bias.
TL_INLINE tl_vf gate_sum(const cell *at, size_t g, tl_vf product)
{
    const size_t first = g * at->job->hidden;
    const tl_vf sum = tl_vf_add(get(at, at->x + first), product);
    return tl_vf_add(sum, get(at, (const float *)at->job->bias + first));
}

// Clamps x to the clip threshold, if any; propagates NaN.
TL_INLINE tl_vf clipped(const cell *at, tl_vf x)
{
    const float clip = (float)at->job->param->clip;
    if (!(clip > 0))
        return x;
    return tl_vf_max(tl_vf_set1(-clip), tl_vf_min(tl_vf_set1(clip), x));
}

// gate + peephole[k] * c
TL_INLINE tl_vf peep(const cell *at, size_t k, tl_vf gate, tl_vf c)
{
    const float *const peephole = at->job->peephole;
    return peephole ? tl_vf_add(gate, tl_vf_mul(get(at, peephole + k * at->job->hidden), c)) : gate;
}

static void put_state(const cell *at, tl_vf h)
{
    put(at, at->next, h);
    if (at->dst)
        put(at, at->dst, h);
}

// The last step of a stage: sums[i] is the dot product for its gate `first` + i, so that sums[0] of
// finish_gru is that of gate 2.

static void finish_rnn(const cell *at, const tl_vf *sums)
{
    put_state(at, tl_vf_tanh(clipped(at, gate_sum(at, 0, sums[0]))));
}

static void finish_lstm(const cell *at, const tl_vf *sums)
{
    const tl_vf old = get(at, at->c);
    const tl_vf i = tl_vf_sigmoid(clipped(at, peep(at, 0, gate_sum(at, 0, sums[0]), old)));
    const tl_vf f = at->job->param->coupled
                        ? tl_vf_sub(tl_vf_set1(1), i)
                        : tl_vf_sigmoid(clipped(at, peep(at, 2, gate_sum(at, 2, sums[2]), old)));
    const tl_vf n = tl_vf_tanh(clipped(at, gate_sum(at, 3, sums[3])));
    const tl_vf c = tl_vf_add(tl_vf_mul(f, old), tl_vf_mul(i, n));
    const tl_vf o = tl_vf_sigmoid(clipped(at, peep(at, 1, gate_sum(at, 1, sums[1]), c)));
    put(at, at->c, c);
    put_state(at, tl_vf_mul(o, tl_vf_tanh(c)));
}

// h = (1 - z) n + z h
static void mix_gru(const cell *at, tl_vf z, tl_vf n)
{
    const tl_vf fresh = tl_vf_mul(tl_vf_sub(tl_vf_set1(1), z), n);
    put_state(at, tl_vf_add(fresh, tl_vf_mul(z, get(at, at->h))));
}

static void finish_gru_gates(const cell *at, const tl_vf *sums)
{
    const tl_vf r = tl_vf_sigmoid(clipped(at, gate_sum(at, 1, sums[1])));
    put(at, at->update, tl_vf_sigmoid(clipped(at, gate_sum(at, 0, sums[0]))));
    put(at, at->reset, tl_vf_mul(r, get(at, at->h)));
}

static void finish_gru(const cell *at, const tl_vf *sums)
{
    mix_gru(at, get(at, at->update), tl_vf_tanh(clipped(at, gate_sum(at, 2, sums[0]))));
}

// With linear_before_reset of ONNX: r scales the product.
static void finish_gru_after(const cell *at, const tl_vf *sums)
{
    const float *const bias = at->job->bias;
    const size_t hidden = at->job->hidden;
    const tl_vf z = tl_vf_sigmoid(clipped(at, gate_sum(at, 0, sums[0])));
    const tl_vf r = tl_vf_sigmoid(clipped(at, gate_sum(at, 1, sums[1])));
    const tl_vf x = tl_vf_add(get(at, at->x + 2 * hidden), get(at, bias + 2 * hidden));
    const tl_vf y = tl_vf_add(sums[2], get(at, bias + 3 * hidden));
    mix_gru(at, z, tl_vf_tanh(clipped(at, tl_vf_add(x, tl_vf_mul(r, y)))));
}

// Stages

typedef void finish_func(const cell *at, const tl_vf *sums);

// A stage computes gates first .. first+n-1 from the hidden states h, or from r h. The last stage
// of a step sets the state.
typedef struct stage {
    size_t first, n;
    int reads_reset_h, sets_state;
    finish_func *finish;
} stage;

static stage stage_of(const tl_recurrent_job *job)
{
    static const stage stages[TL_RECURRENT_STAGES] = {
        [TL_RECURRENT_RNN] = {0, 1, 0, 1, finish_rnn},
        [TL_RECURRENT_GRU_GATES] = {0, 2, 0, 0, finish_gru_gates},
        [TL_RECURRENT_GRU] = {2, 1, 1, 1, finish_gru},
        [TL_RECURRENT_LSTM] = {0, 4, 0, 1, finish_lstm},
    };
    static const stage after = {0, 3, 0, 1, finish_gru_after};
    const int is_after = job->stage == TL_RECURRENT_GRU && job->param->reset_after;
    return is_after ? after : stages[job->stage];
}

// Finishes one vector of hidden elements, from `j` on, of sequence `b`.
static void finish(const tl_recurrent_job *job, const stage *s, size_t b, size_t j,
                   const tl_vf *sums)
{
    const size_t hidden = job->hidden, steps = job->lens ? (size_t)job->lens[b] : job->steps;
    const int is_over = job->step >= steps;
    const size_t t = job->reverse && !is_over ? steps - 1 - job->step : job->step;
    const cell at = {
        .job = job,
        .x = (const float *)job->src + (t * job->rows + b) * job->n_gates * hidden,
        .h = (const float *)job->h + b * hidden,
        .next = (float *)job->next + b * hidden,
        .c = (float *)job->c + b * hidden,
        .update = (float *)job->gates + b * hidden,
        .reset = (float *)job->reset_h + b * hidden,
        .dst = job->dst ? (float *)job->dst + t * job->dst_step + b * hidden : NULL,
        .j = j,
        .n = tl_min_size(hidden - j, TL_VF_LANES),
    };
    if (!is_over) {
        s->finish(&at, sums);
    } else if (s->sets_state) { // a shorter sequence keeps its state, and its results are 0
        put(&at, at.next, get(&at, at.h));
        if (at.dst)
            put(&at, at.dst, tl_vf_zero());
    }
}

// Computes one vector of hidden elements, from `j` on, of the job's sequences.
static void run_vector(const tl_recurrent_job *job, const stage *s, const float *weights, size_t j)
{
    const float *const states = s->reads_reset_h ? job->reset_h : job->h;
    for (size_t b = job->first_row, n; b < job->end_row; b += n) {
        tl_vf sums[ROWS][GATES];
        // Tiles of about the same size: 8 are 4 and 4.
        const size_t left = job->end_row - b, tiles = (left + ROWS - 1) / ROWS;
        n = (left + tiles - 1) / tiles;
        products[n - 1][s->n - 1](states + b * job->hidden, weights + s->first * TL_CELL_BLOCK,
                                  job->hidden, job->n_gates * TL_CELL_BLOCK, sums);
        for (size_t r = 0; r < n; r++)
            finish(job, s, b + r, j, sums[r]);
    }
}

void SIMD(tl_cells)(void *arg, size_t begin, size_t end)
{
    const tl_recurrent_job *const job = arg;
    const stage s = stage_of(job);
    const size_t size = job->hidden * job->n_gates * TL_CELL_BLOCK;
    for (size_t block = begin; block < end; block++)
        for (size_t lane = 0; lane < TL_CELL_BLOCK; lane += TL_VF_LANES)
            if (block * TL_CELL_BLOCK + lane < job->hidden)
                run_vector(job, &s, (const float *)job->packed + block * size + lane,
                           block * TL_CELL_BLOCK + lane);
}
