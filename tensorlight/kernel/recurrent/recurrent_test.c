// SPDX-License-Identifier: Apache-2.0
// Tests of recurrent networks.

#include "kernel/tl_nn_test.h"

static const tl_dtype dtypes[] = {TL_DOUBLE, TL_FLOAT};

static const tl_recurrent_act logistic = {TL_UNARY_SIGMOID, 0, 0}, tangent = {TL_UNARY_TANH, 0, 0};

static tl_recurrent_param usual(tl_cell cell)
{
    tl_recurrent_param p = {.cell = cell, .reverse = {0, 1}};
    for (int d = 0; d < TL_RECURRENT_DIRECTIONS; d++) {
        p.acts[d][0] = cell == TL_CELL_RNN ? tangent : logistic;
        p.acts[d][1] = p.acts[d][2] = tangent;
    }
    return p;
}

// By hand

static const tl_recurrent_act twice = {TL_UNARY_AFFINE, 2, 0}, as_is = {TL_UNARY_AFFINE, 1, 0};

START_TEST(a_plain_cell_by_hand)
{
    // h = 2 (x + [[1, 2], [3, 4]]' h + b + b'), b + b' = 1 and 0
    nn_room room = {0};
    tl_recurrent_param p = {.cell = TL_CELL_RNN, .acts = {{twice}}};
    tl_recurrent_tensors t = {
        .src = nn_given(&room, TL_FLOAT, 4, (int[]){1, 2, 1, 2}, (double[]){1, 2, 0, -1}),
        .recurrence = nn_given(&room, TL_FLOAT, 4, (int[]){1, 1, 2, 2}, (double[]){1, 2, 3, 4}),
        .bias = nn_given(&room, TL_FLOAT, 2, (int[]){1, 4}, (double[]){3, 1, -2, -1}),
        .dst = nn_blank(&room, TL_FLOAT, 4, (int[]){2, 1, 1, 2}),
        .last_h = nn_blank(&room, TL_FLOAT, 3, (int[]){1, 1, 2})};
    ck_assert_int_eq(tl_tensor_recurrent(&t, &p), 0);
    nn_check_values(t.dst, (double[]){4, 4, 34, 46});
    nn_check_values(t.last_h, (double[]){34, 46});
    p.reverse[0] = 1;
    ck_assert_int_eq(tl_tensor_recurrent(&t, &p), 0);
    nn_check_values(t.dst, (double[]){-4, -4, 2, -2});
    p.clip = 1.5;
    ck_assert_int_eq(tl_tensor_recurrent(&t, &p), 0);
    nn_check_values(t.dst, (double[]){-3, -3, 2, -2});
    nn_close(&room);
}
END_TEST

START_TEST(a_gru_by_hand)
{
    // One number: z = 0.5 x0 and r = 2 x1, n = x2 + b + r h R, h = (1 - z) n + z h
    nn_room room = {0};
    tl_recurrent_param p = {.cell = TL_CELL_GRU, .acts = {{as_is, as_is}}};
    tl_recurrent_tensors t = {
        .src = nn_given(&room, TL_DOUBLE, 4, (int[]){1, 1, 1, 3}, (double[]){0.5, 2, 3}),
        .recurrence = nn_given(&room, TL_DOUBLE, 4, (int[]){1, 3, 1, 1}, (double[]){0, 0, 5}),
        .bias = nn_given(&room, TL_DOUBLE, 2, (int[]){1, 6}, (double[]){0, 0, 1, 0, 0, 10}),
        .initial_h = nn_given(&room, TL_DOUBLE, 3, (int[]){1, 1, 1}, (double[]){4}),
        .last_h = nn_blank(&room, TL_DOUBLE, 3, (int[]){1, 1, 1})};
    ck_assert_int_eq(tl_tensor_recurrent(&t, &p), 0);
    nn_check_values(t.last_h, (double[]){0.5 * (3 + 11 + 40) + 2});
    p.reset_after = 1;
    ck_assert_int_eq(tl_tensor_recurrent(&t, &p), 0);
    nn_check_values(t.last_h, (double[]){0.5 * (3 + 1 + 2 * (20 + 10)) + 2});
    nn_close(&room);
}
END_TEST

START_TEST(an_lstm_by_hand)
{
    // i = 2 + 0.5 c, f = 3 - c, n = 5, c = f c + i n, o = 1 + 0.25 c, h = o 2 c
    nn_room room = {0};
    tl_recurrent_param p = {.cell = TL_CELL_LSTM, .acts = {{as_is, as_is, twice}}};
    tl_recurrent_tensors t = {
        .src = nn_given(&room, TL_DOUBLE, 4, (int[]){1, 1, 1, 4}, (double[]){2, 1, 3, 5}),
        .recurrence = nn_given(&room, TL_DOUBLE, 4, (int[]){1, 4, 1, 1}, (double[]){0, 0, 0, 0}),
        .initial_c = nn_given(&room, TL_DOUBLE, 3, (int[]){1, 1, 1}, (double[]){2}),
        .peephole = nn_given(&room, TL_DOUBLE, 2, (int[]){1, 3}, (double[]){0.5, 0.25, -1}),
        .last_h = nn_blank(&room, TL_DOUBLE, 3, (int[]){1, 1, 1}),
        .last_c = nn_blank(&room, TL_DOUBLE, 3, (int[]){1, 1, 1})};
    ck_assert_int_eq(tl_tensor_recurrent(&t, &p), 0);
    nn_check_values(t.last_c, (double[]){1 * 2 + 3 * 5});
    nn_check_values(t.last_h, (double[]){5.25 * 34});
    p.coupled = 1;
    ck_assert_int_eq(tl_tensor_recurrent(&t, &p), 0);
    nn_check_values(t.last_c, (double[]){-2 * 2 + 3 * 5});
    nn_close(&room);
}
END_TEST

// Against the formulas, number by number

enum { STEPS = 5, ROWS = 3, MAX = 7 };

// One of `cases` beside the cell and the type.
typedef struct setting {
    int directions, hidden;
    int has_bias, has_lens, has_state, has_peephole;
    double clip;
    int reset_after, coupled;
} setting;

static const setting settings[] = {
    {1, 1, 0, 0, 0, 0, 0, 0, 0}, {1, 4, 1, 0, 0, 0, 0, 0, 0},   {2, 7, 1, 0, 1, 0, 0, 1, 0},
    {2, 3, 1, 1, 1, 1, 0, 0, 0}, {2, 7, 1, 1, 0, 1, 0.4, 1, 1}, {1, 5, 0, 1, 1, 0, 0.3, 0, 1},
};

static double function(const tl_recurrent_act *act, double x, double clip)
{
    const double cut = clip > 0 ? fmax(-clip, fmin(clip, x)) : x;
    return act->func == TL_UNARY_SIGMOID ? 1 / (1 + exp(-cut)) : tanh(cut);
}

static double or_0(const tl_tensor *t, int i)
{
    return t ? nn_at(t, (size_t)i) : 0;
}

// The input of gate `g` for hidden element `j`, without the peephole. `state` is h, or r h.
static double gate_sum(const tl_recurrent_tensors *t, int n_gates, int d, int row_of_src, int g,
                       int j, const double *state)
{
    const int hidden = t->recurrence->dims[3], width = n_gates * hidden;
    double sum = nn_at(t->src, (size_t)(row_of_src * width + g * hidden + j)) +
                 or_0(t->bias, (d * 2 * n_gates + g) * hidden + j) +
                 or_0(t->bias, (d * 2 * n_gates + n_gates + g) * hidden + j);
    for (int k = 0; k < hidden; k++)
        sum += state[k] *
               nn_at(t->recurrence, (size_t)((((d * n_gates + g) * hidden) + k) * hidden + j));
    return sum;
}

typedef struct state {
    double h[MAX], c[MAX];
} state;

static state step_gru(const tl_recurrent_tensors *t, const tl_recurrent_param *p, int d, int row,
                      const state *old)
{
    const int hidden = t->recurrence->dims[3];
    double z[MAX], r[MAX], reset[MAX];
    state next = *old;
    for (int j = 0; j < hidden; j++) {
        z[j] = function(&p->acts[d][0], gate_sum(t, 3, d, row, 0, j, old->h), p->clip);
        r[j] = function(&p->acts[d][0], gate_sum(t, 3, d, row, 1, j, old->h), p->clip);
        reset[j] = r[j] * old->h[j];
    }
    for (int j = 0; j < hidden; j++) {
        double sum = gate_sum(t, 3, d, row, 2, j, reset);
        if (p->reset_after) {
            const double before = nn_at(t->src, (size_t)(row * 3 * hidden + 2 * hidden + j)) +
                                  or_0(t->bias, (d * 6 + 2) * hidden + j);
            sum = before + r[j] * (gate_sum(t, 3, d, row, 2, j, old->h) - before);
        }
        next.h[j] = (1 - z[j]) * function(&p->acts[d][1], sum, p->clip) + z[j] * old->h[j];
    }
    return next;
}

static state step_lstm(const tl_recurrent_tensors *t, const tl_recurrent_param *p, int d, int row,
                       const state *old)
{
    const int hidden = t->recurrence->dims[3];
    state next = *old;
    for (int j = 0; j < hidden; j++) {
        double sums[4];
        for (int g = 0; g < 4; g++)
            sums[g] = gate_sum(t, 4, d, row, g, j, old->h);
        const int look = d * 3 * hidden + j;
        const double i =
            function(&p->acts[d][0], sums[0] + or_0(t->peephole, look) * old->c[j], p->clip);
        const double f =
            p->coupled
                ? 1 - i
                : function(&p->acts[d][0],
                           sums[2] + or_0(t->peephole, look + 2 * hidden) * old->c[j], p->clip);
        next.c[j] = f * old->c[j] + i * function(&p->acts[d][1], sums[3], p->clip);
        const double o = function(&p->acts[d][0],
                                  sums[1] + or_0(t->peephole, look + hidden) * next.c[j], p->clip);
        next.h[j] = o * function(&p->acts[d][2], next.c[j], 0);
    }
    return next;
}

static state step_of(const tl_recurrent_tensors *t, const tl_recurrent_param *p, int d, int row,
                     const state *old)
{
    if (p->cell != TL_CELL_RNN)
        return (p->cell == TL_CELL_GRU ? step_gru : step_lstm)(t, p, d, row, old);
    state next = {{0}, {0}};
    for (int j = 0; j < t->recurrence->dims[3]; j++)
        next.h[j] = function(&p->acts[d][0], gate_sum(t, 1, d, row, 0, j, old->h), p->clip);
    return next;
}

// All steps of row `b` in direction `d`. An error of a step is at most handed on, so that they add
// up over steps, as the terms of a sum do.
static void check_row(const tl_recurrent_tensors *t, const tl_recurrent_param *p, int d, int b)
{
    const int hidden = t->recurrence->dims[3], directions = t->src->dims[0];
    const int len = t->lens ? (int)nn_at(t->lens, (size_t)b) : STEPS;
    const double tolerance = STEPS * nn_tolerance(t->src->dtype, 4 * hidden + 20, 8, 1);
    state s = {{0}, {0}};
    for (int j = 0; j < hidden; j++) {
        s.h[j] = or_0(t->initial_h, (d * ROWS + b) * hidden + j);
        s.c[j] = or_0(t->initial_c, (d * ROWS + b) * hidden + j);
    }
    for (int k = 0; k < STEPS; k++) {
        const int time = k < len && p->reverse[d] ? len - 1 - k : k;
        if (k < len)
            s = step_of(t, p, d, (d * STEPS + time) * ROWS + b, &s);
        for (int j = 0; j < hidden; j++)
            nn_check_near(t->dst, (size_t)(((time * directions + d) * ROWS + b) * hidden + j),
                          k < len ? s.h[j] : 0, k < len ? tolerance : 0);
    }
    for (int j = 0; j < hidden; j++) {
        const size_t i = (size_t)((d * ROWS + b) * hidden + j);
        nn_check_near(t->last_h, i, s.h[j], tolerance);
        if (t->last_c)
            nn_check_near(t->last_c, i, s.c[j], tolerance);
    }
}

static tl_tensor *maybe(int is_there, nn_room *room, tl_dtype dtype, int ndim, const int *dims)
{
    return is_there ? nn_random(room, dtype, ndim, dims, -1, 1) : NULL;
}

static tl_recurrent_tensors tensors_of(nn_room *room, tl_dtype dtype, tl_cell cell,
                                       const setting *s)
{
    const int n = tl_cell_gates(cell), d = s->directions, h = s->hidden;
    const int is_lstm = cell == TL_CELL_LSTM, states[] = {d, ROWS, h};
    return (tl_recurrent_tensors){
        .src = nn_random(room, dtype, 4, (int[]){d, STEPS, ROWS, n * h}, -1, 1),
        .recurrence = nn_random(room, dtype, 4, (int[]){d, n, h, h}, -1, 1),
        .bias = maybe(s->has_bias, room, dtype, 2, (int[]){d, 2 * n * h}),
        .lens = s->has_lens
                    ? nn_given(room, TL_INT32, 1, (int[]){ROWS}, (double[]){STEPS, 0, STEPS - 2})
                    : NULL,
        .initial_h = maybe(s->has_state, room, dtype, 3, states),
        .initial_c = maybe(s->has_state && is_lstm, room, dtype, 3, states),
        .peephole = maybe(s->has_peephole && is_lstm, room, dtype, 2, (int[]){d, 3 * h}),
        .dst = nn_blank(room, dtype, 4, (int[]){STEPS, d, ROWS, h}),
        .last_h = nn_blank(room, dtype, 3, states),
        .last_c = is_lstm ? nn_blank(room, dtype, 3, states) : NULL};
}

static tl_recurrent_param param_of(tl_cell cell, const setting *s)
{
    tl_recurrent_param p = usual(cell);
    p.clip = s->clip;
    p.reset_after = s->reset_after;
    p.coupled = s->coupled;
    return p;
}

START_TEST(every_cell_agrees_with_its_formulas)
{
    for (size_t k = 0; k < NN_LEN(dtypes); k++)
        for (int cell = 0; cell < TL_CELL_SIZE; cell++)
            for (size_t i = 0; i < NN_LEN(settings); i++) {
                nn_room room = {.seed = 7 + i};
                const tl_recurrent_tensors t =
                    tensors_of(&room, dtypes[k], (tl_cell)cell, &settings[i]);
                const tl_recurrent_param p = param_of((tl_cell)cell, &settings[i]);
                ck_assert_msg(tl_tensor_recurrent(&t, &p) == 0, "%s", tl_last_error());
                for (int d = 0; d < settings[i].directions; d++)
                    for (int b = 0; b < ROWS; b++)
                        check_row(&t, &p, d, b);
                nn_close(&room);
            }
}
END_TEST

// Packed weights

static tl_tensor *packed(nn_room *room, const tl_tensor *recurrence)
{
    const int *const dims = recurrence->dims, hidden = dims[3];
    tl_tensor *const dst =
        nn_blank(room, TL_FLOAT, 5,
                 (int[]){dims[0], tl_cell_blocks(hidden), hidden, dims[1], TL_CELL_BLOCK});
    ck_assert_int_eq(tl_exec_recurrent_pack(NULL, recurrence, dst), 0);
    return dst;
}

static void compute(const tl_recurrent_tensors *t, const tl_recurrent_param *p, tl_exec exec)
{
    ln_guard guard;
    exec.scratch_size = tl_recurrent_scratch(t, p->cell, tl_pool_size(exec.pool));
    exec.scratch = ln_guard_alloc(&guard, exec.scratch_size);
    ck_assert_int_eq(tl_recurrent_check(t, p), 0);
    ck_assert_int_eq(tl_exec_recurrent(&exec, t, p), 0);
    ln_guard_free(&guard);
}

START_TEST(packed_cells_agree_with_their_formulas)
{
    TL_ISA_EACH_USABLE (isa)
        for (int cell = 0; cell < TL_CELL_SIZE; cell++)
            for (size_t i = 0; i < NN_LEN(settings); i++) {
                nn_room room = {.seed = 7 + i};
                const tl_recurrent_tensors t =
                    tensors_of(&room, TL_FLOAT, (tl_cell)cell, &settings[i]);
                const tl_recurrent_param p = param_of((tl_cell)cell, &settings[i]);
                tl_recurrent_tensors with_packed = t;
                with_packed.recurrence = packed(&room, t.recurrence);
                compute(&with_packed, &p, (tl_exec){.isa = isa});
                for (int d = 0; d < settings[i].directions; d++)
                    for (int b = 0; b < ROWS; b++)
                        check_row(&t, &p, d, b);
                nn_close(&room);
            }
}
END_TEST

// Sequences and sizes near multiples of tiles and blocks, with weights that are not packed.
static void compare_packed(tl_isa isa, tl_cell cell, int rows, int hidden, int reset_after)
{
    nn_room room = {.seed = (unsigned)(rows * 100 + hidden)};
    const int n = tl_cell_gates(cell);
    tl_recurrent_param p = usual(cell);
    p.reset_after = reset_after;
    tl_recurrent_tensors t = {
        .src = nn_random(&room, TL_FLOAT, 4, (int[]){1, 3, rows, n * hidden}, -1, 1),
        .recurrence = nn_random(&room, TL_FLOAT, 4, (int[]){1, n, hidden, hidden}, -0.2, 0.2),
        .bias = nn_random(&room, TL_FLOAT, 2, (int[]){1, 2 * n * hidden}, -1, 1),
        .dst = nn_blank(&room, TL_FLOAT, 4, (int[]){3, 1, rows, hidden})};
    tl_tensor *const expected = t.dst;
    compute(&t, &p, (tl_exec){.isa = TL_ISA_C});
    t.recurrence = packed(&room, t.recurrence);
    t.dst = nn_blank(&room, TL_FLOAT, 4, (int[]){3, 1, rows, hidden});
    compute(&t, &p, (tl_exec){.isa = isa});
    for (int i = 0; i < expected->len; i++)
        nn_check_near(t.dst, (size_t)i, nn_at(expected, (size_t)i),
                      3 * nn_tolerance(TL_FLOAT, 4 * hidden + 20, 8, 1));
    nn_close(&room);
}

START_TEST(packed_cells_of_all_sizes_agree_with_plain_ones)
{
    static const int rows[] = {1, 2, 3, 5, 6, 7, 8, 13, 19}, hidden[] = {1, 15, 16, 17, 33, 67};
    TL_ISA_EACH_USABLE (isa)
        for (size_t i = 0; i < NN_LEN(rows) * NN_LEN(hidden); i++)
            for (int k = 0; k <= TL_CELL_SIZE; k++) // the last: a GRU with a reset after
                compare_packed(isa, k < TL_CELL_SIZE ? (tl_cell)k : TL_CELL_GRU,
                               rows[i % NN_LEN(rows)], hidden[i / NN_LEN(rows)], k == TL_CELL_SIZE);
}
END_TEST

typedef struct threads_arg {
    tl_recurrent_tensors t;
    tl_recurrent_param p;
} threads_arg;

static void run_recurrent(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    threads_arg *const a = arg;
    tl_exec own = exec ? *exec : (tl_exec){.isa = tl_isa_best()};
    own.scratch_size = tl_recurrent_scratch(&a->t, a->p.cell, tl_pool_size(own.pool));
    own.scratch = tl_alloc(own.scratch_size);
    a->t.dst = dst;
    ck_assert_int_eq(tl_exec_recurrent(&own, &a->t, &a->p), 0);
    tl_free(own.scratch);
}

// Few sequences share weights that are larger than a cache; many are divided among threads.
START_TEST(threads_do_not_change_the_result_of_packed_cells)
{
    static const int sizes[][2] = {{1, 260}, {3, 260}, {2, 64}, {9, 40}};
    for (size_t i = 0; i < NN_LEN(sizes) * TL_CELL_SIZE; i++) {
        nn_room room = {.seed = 1};
        const int rows = sizes[i / TL_CELL_SIZE][0], hidden = sizes[i / TL_CELL_SIZE][1];
        const tl_cell cell = (tl_cell)(i % TL_CELL_SIZE);
        const int n = tl_cell_gates(cell);
        threads_arg a = {
            .t = {.src = nn_random(&room, TL_FLOAT, 4, (int[]){1, 5, rows, n * hidden}, -1, 1),
                  .last_h = nn_blank(&room, TL_FLOAT, 3, (int[]){1, rows, hidden})},
            .p = usual(cell)};
        a.t.recurrence =
            packed(&room, nn_random(&room, TL_FLOAT, 4, (int[]){1, n, hidden, hidden}, -0.1, 0.1));
        tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 4, (int[]){5, 1, rows, hidden});
        nn_check_threads(run_recurrent, dst, &a);
        const size_t states = (size_t)(rows * hidden);
        ck_assert_mem_eq(a.t.last_h->data, (const float *)dst->data + 4 * states,
                         states * sizeof(float));
        nn_close(&room);
    }
}
END_TEST

START_TEST(packed_weights_need_the_default_activations)
{
    nn_room room = {0};
    tl_recurrent_param p = usual(TL_CELL_LSTM);
    const tl_recurrent_tensors t = {.src = nn_blank(&room, TL_FLOAT, 4, (int[]){1, 2, 3, 20}),
                                    .recurrence =
                                        nn_blank(&room, TL_FLOAT, 5, (int[]){1, 1, 5, 4, 16})};
    ck_assert_int_eq(tl_recurrent_check(&t, &p), 0);
    p.acts[0][2] = logistic;
    ck_assert_int_eq(tl_recurrent_check(&t, &p), -1);
    ck_assert_str_eq(tl_last_error(), "'recurrence' is packed, expected the default activations");
    p.acts[0][2] = tangent;
    p.cell = TL_CELL_GRU;
    ck_assert_int_eq(tl_recurrent_check(&t, &p), -1);
    ck_assert_str_eq(tl_last_error(), "'src' is TL_FLOAT [1, 2, 3, 20], expected TL_FLOAT and a "
                                      "multiple of 3 gates");
    nn_close(&room);
}
END_TEST

START_TEST(each_direction_has_its_activations)
{
    nn_room room = {0};
    const tl_recurrent_param p = {.cell = TL_CELL_RNN, .acts = {{twice}, {{TL_UNARY_RELU, 0, 0}}}};
    const tl_recurrent_tensors t = {
        .src = nn_given(&room, TL_FLOAT, 4, (int[]){2, 1, 1, 1}, (double[]){-3, -3}),
        .recurrence = nn_given(&room, TL_FLOAT, 4, (int[]){2, 1, 1, 1}, (double[]){1, 1}),
        .last_h = nn_blank(&room, TL_FLOAT, 3, (int[]){2, 1, 1})};
    ck_assert_int_eq(tl_tensor_recurrent(&t, &p), 0);
    nn_check_values(t.last_h, (double[]){-6, 0});
    nn_close(&room);
}
END_TEST

START_TEST(without_steps_the_state_stays)
{
    nn_room room = {0};
    const tl_recurrent_param p = usual(TL_CELL_RNN);
    const tl_recurrent_tensors t = {
        .src = nn_blank(&room, TL_FLOAT, 4, (int[]){1, 0, 1, 2}),
        .recurrence = nn_random(&room, TL_FLOAT, 4, (int[]){1, 1, 2, 2}, -1, 1),
        .initial_h = nn_given(&room, TL_FLOAT, 3, (int[]){1, 1, 2}, (double[]){3, 4}),
        .dst = nn_blank(&room, TL_FLOAT, 4, (int[]){0, 1, 1, 2}),
        .last_h = nn_blank(&room, TL_FLOAT, 3, (int[]){1, 1, 2})};
    ck_assert_int_eq(tl_tensor_recurrent(&t, &p), 0);
    nn_check_values(t.last_h, (double[]){3, 4});
    nn_close(&room);
}
END_TEST

START_TEST(without_sequences_or_numbers_there_is_nothing_to_do)
{
    for (int has_rows = 0; has_rows < 2; has_rows++)
        for (int cell = 0; cell < TL_CELL_SIZE; cell++) {
            nn_room room = {0};
            const int n = tl_cell_gates((tl_cell)cell), rows = has_rows ? 2 : 0;
            const int hidden = has_rows ? 0 : 2;
            const tl_recurrent_param p = usual((tl_cell)cell);
            const tl_recurrent_tensors t = {
                .src = nn_blank(&room, TL_FLOAT, 4, (int[]){1, 3, rows, n * hidden}),
                .recurrence = nn_random(&room, TL_FLOAT, 4, (int[]){1, n, hidden, hidden}, 0, 1),
                .dst = nn_blank(&room, TL_FLOAT, 4, (int[]){3, 1, rows, hidden}),
                .last_h = nn_blank(&room, TL_FLOAT, 3, (int[]){1, rows, hidden})};
            ck_assert_msg(tl_tensor_recurrent(&t, &p) == 0, "%s", tl_last_error());
            nn_close(&room);
        }
}
END_TEST

START_TEST(threads_do_not_change_the_result)
{
    for (int cell = 0; cell < TL_CELL_SIZE; cell++) {
        nn_room room = {.seed = 1};
        const int n = tl_cell_gates((tl_cell)cell);
        threads_arg a = {
            .t = {.src = nn_random(&room, TL_FLOAT, 4, (int[]){1, 3, 37, n * 131}, -1, 1),
                  .recurrence = nn_random(&room, TL_FLOAT, 4, (int[]){1, n, 131, 131}, -0.1, 0.1)},
            .p = usual((tl_cell)cell)};
        nn_check_threads(run_recurrent, nn_blank(&room, TL_FLOAT, 4, (int[]){3, 1, 37, 131}), &a);
        a.t.recurrence = packed(&room, a.t.recurrence);
        nn_check_threads(run_recurrent, nn_blank(&room, TL_FLOAT, 4, (int[]){3, 1, 37, 131}), &a);
        nn_close(&room);
    }
}
END_TEST

static void check_rejected(tl_recurrent_tensors t, tl_recurrent_param p, const char *reason)
{
    ck_assert_int_eq(tl_tensor_recurrent(&t, &p), -1);
    ck_assert_str_eq(tl_last_error(), reason);
}

START_TEST(recurrent_rejects_bad_tensors_and_parameters)
{
    nn_room room = {0};
    const tl_recurrent_tensors good = {.src = nn_blank(&room, TL_FLOAT, 4, (int[]){1, 2, 3, 12}),
                                       .recurrence =
                                           nn_blank(&room, TL_FLOAT, 4, (int[]){1, 3, 4, 4}),
                                       .dst = nn_blank(&room, TL_FLOAT, 4, (int[]){2, 1, 3, 4})};
    tl_tensor *const states = nn_blank(&room, TL_FLOAT, 3, (int[]){1, 3, 4});
    tl_tensor *const halves = nn_blank(&room, TL_FLOAT16, 4, (int[]){1, 2, 3, 12});
    const tl_recurrent_param p = usual(TL_CELL_GRU);
    tl_recurrent_tensors t = good;
    t.src = halves;
    check_rejected(t, p, "'src' has dtype TL_FLOAT16, expected TL_FLOAT or TL_DOUBLE");
    t.src = states;
    check_rejected(t, p, "'src' has shape [1, 3, 4], expected [1 or 2, T, B, G * H]");
    check_rejected(good, usual(TL_CELL_LSTM),
                   "'recurrence' is TL_FLOAT [1, 3, 4, 4], expected TL_FLOAT [1, 4, H, H] where "
                   "'src' is [1, 2, 3, 12]");
    t = good;
    t.initial_c = states;
    check_rejected(t, p, "'initial_c' needs cell TL_CELL_LSTM, not TL_CELL_GRU");
    t = good;
    t.initial_h = good.dst;
    check_rejected(t, p, "'initial_h' is TL_FLOAT [2, 1, 3, 4], expected TL_FLOAT [1, 3, 4]");
    t = good;
    t.bias = states;
    check_rejected(t, p, "'bias' is TL_FLOAT [1, 3, 4], expected TL_FLOAT [1, 24]");
    t = good;
    t.dst = states;
    check_rejected(t, p, "'dst' is TL_FLOAT [1, 3, 4], expected TL_FLOAT [2, 1, 3, 4]");
    tl_recurrent_param wrong = p;
    wrong.cell = TL_CELL_SIZE;
    check_rejected(good, wrong, "cell 3, expected 0 to 2");
    wrong = p;
    wrong.acts[0][1].func = TL_UNARY_NOT;
    check_rejected(good, wrong, "activation 1 is TL_UNARY_NOT, which does not support TL_FLOAT");
    wrong = p;
    wrong.clip = NAN;
    check_rejected(good, wrong, "clip nan, expected 0 or more");
    nn_close(&room);
}
END_TEST

START_TEST(lengths_are_checked_when_computing)
{
    nn_room room = {0};
    const tl_recurrent_tensors t = {
        .src = nn_blank(&room, TL_FLOAT, 4, (int[]){1, 2, 3, 4}),
        .recurrence = nn_blank(&room, TL_FLOAT, 4, (int[]){1, 1, 4, 4}),
        .lens = nn_given(&room, TL_INT32, 1, (int[]){3}, (double[]){0, 2, 3})};
    check_rejected(t, usual(TL_CELL_RNN), "'lens' has 3 for sequence 2, expected 0 to 2");
    nn_close(&room);
}
END_TEST

START_TEST(names_and_values_correspond)
{
    for (int i = 0; i < TL_CELL_SIZE; i++)
        ck_assert_int_eq(tl_cell_from_str(tl_cell_name((tl_cell)i)), i);
    ck_assert_str_eq(tl_cell_name(TL_CELL_LSTM), "TL_CELL_LSTM");
    ck_assert_ptr_null(tl_cell_name(TL_CELL_SIZE));
    ck_assert_int_eq(tl_cell_from_str("LSTM"), TL_CELL_INVALID);
}
END_TEST

LN_TEST_MAIN("recurrent", a_plain_cell_by_hand, a_gru_by_hand, an_lstm_by_hand,
             every_cell_agrees_with_its_formulas, packed_cells_agree_with_their_formulas,
             packed_cells_of_all_sizes_agree_with_plain_ones,
             packed_weights_need_the_default_activations,
             threads_do_not_change_the_result_of_packed_cells, each_direction_has_its_activations,
             without_steps_the_state_stays, without_sequences_or_numbers_there_is_nothing_to_do,
             threads_do_not_change_the_result, recurrent_rejects_bad_tensors_and_parameters,
             lengths_are_checked_when_computing, names_and_values_correspond)
