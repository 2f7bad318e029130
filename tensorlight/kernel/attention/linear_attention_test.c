// SPDX-License-Identifier: Apache-2.0
// Tests of linear attention: against a straight computation in double with every choice of inputs,
// on shapes with parts of columns, shared heads and nothing; threads; rejected shapes.

#include "kernel/tl_nn_test.h"
#include "tensorlight/tl_attention.h"

typedef struct shape {
    int b, t, h, g, d, e;
} shape;

static const shape shapes[] = {
    {1, 1, 1, 1, 1, 1},  {2, 3, 4, 2, 5, 7},   {1, 9, 2, 2, 16, 64},
    {1, 5, 6, 1, 3, 65}, {3, 2, 3, 3, 8, 130}, {1, 40, 1, 1, 33, 20},
    {1, 0, 2, 1, 3, 4},  {0, 2, 2, 1, 3, 4},   {1, 2, 2, 1, 0, 4},
};

// Bits of a case.
enum {
    PAST = 1,
    DECAY = 2,
    DECAY_BY_ELEMENT = 4,
    BETA = 8,
    SHARED_BETA = 16,
    DELTA = 32,
    CASES = 64
};

typedef struct problem {
    nn_room room;
    tl_linear_attention a;
    tl_tensor *dst, *state;
} problem;

static void open_problem(problem *p, const shape *s, int way)
{
    const int key[] = {s->b, s->t, s->g, s->d}, state[] = {s->b, s->g, s->d, s->e};
    p->room.seed = 7;
    p->a.q = nn_random(&p->room, TL_FLOAT, 4, (int[]){s->b, s->t, s->h, s->d}, -1, 1);
    p->a.k = nn_random(&p->room, TL_FLOAT, 4, key, -0.3, 0.3);
    p->a.v = nn_random(&p->room, TL_FLOAT, 4, (int[]){s->b, s->t, s->g, s->e}, -1, 1);
    if (way & PAST)
        p->a.past = nn_random(&p->room, TL_FLOAT, 4, state, -1, 1);
    if (way & DECAY)
        p->a.decay = nn_random(&p->room, TL_FLOAT, way & DECAY_BY_ELEMENT ? 4 : 3, key, -1, 0);
    if (way & BETA)
        p->a.beta = nn_random(&p->room, TL_FLOAT, 3,
                              (int[]){s->b, s->t, way & SHARED_BETA ? 1 : s->g}, 0, 1);
    p->a.scale = 0.7;
    p->a.is_delta = (way & DELTA) != 0;
    p->dst = nn_blank(&p->room, TL_FLOAT, 4, (int[]){s->b, s->t, s->h, s->e});
    p->state = nn_blank(&p->room, TL_FLOAT, 4, state);
}

// The state of one head, [D, E], after position `t` of batch `b`.
static void step_in_double(const problem *p, const shape *s, int b, int t, int g, double *state)
{
    const size_t at = ((size_t)b * s->t + t) * s->g + g;
    for (int e = 0; e < s->e; e++) {
        double found = 0, beta = 1;
        for (int d = 0; d < s->d; d++) {
            double *const x = &state[d * s->e + e];
            if (p->a.decay)
                *x *= exp(nn_at(p->a.decay, p->a.decay->ndim == 4 ? at * s->d + d : at));
            found += *x * nn_at(p->a.k, at * s->d + d);
        }
        if (p->a.beta)
            beta = nn_at(p->a.beta, p->a.beta->dims[2] == s->g ? at : (size_t)b * s->t + t);
        const double v = nn_at(p->a.v, at * s->e + e) - (p->a.is_delta ? found : 0);
        for (int d = 0; d < s->d; d++)
            state[d * s->e + e] += nn_at(p->a.k, at * s->d + d) * beta * v;
    }
}

static void check_results(const problem *p, const shape *s, int b, int t, int g,
                          const double *state)
{
    for (int h = g * (s->h / s->g); h < (g + 1) * (s->h / s->g); h++)
        for (int e = 0; e < s->e; e++) {
            const size_t at = ((size_t)b * s->t + t) * s->h + h;
            double sum = 0;
            for (int d = 0; d < s->d; d++)
                sum += state[d * s->e + e] * nn_at(p->a.q, at * s->d + d);
            nn_check_near(p->dst, at * s->e + e, 0.7 * sum,
                          nn_tolerance(TL_FLOAT, 8 * (s->d + s->t), 4, sum));
        }
}

static void check_problem(const problem *p, const shape *s)
{
    const size_t len = (size_t)s->d * s->e;
    double *const state = tl_alloc((len + 1) * sizeof(*state));
    for (int b = 0; b < s->b; b++)
        for (int g = 0; g < s->g; g++) {
            const size_t first = ((size_t)b * s->g + g) * len;
            for (size_t i = 0; i < len; i++)
                state[i] = p->a.past ? nn_at(p->a.past, first + i) : 0;
            for (int t = 0; t < s->t; t++) {
                step_in_double(p, s, b, t, g, state);
                check_results(p, s, b, t, g, state);
            }
            for (size_t i = 0; i < len; i++)
                nn_check_near(p->state, first + i, state[i],
                              nn_tolerance(TL_FLOAT, 8 * (s->d + s->t), 4, state[i]));
        }
    tl_free(state);
}

START_TEST(every_choice_agrees_with_double)
{
    for (size_t i = 0; i < NN_LEN(shapes); i++)
        for (int way = 0; way < CASES; way++) {
            problem p = {0};
            open_problem(&p, &shapes[i], way);
            ck_assert_msg(tl_linear_attention_check(&p.a) == 0, "%s", tl_last_error());
            ck_assert_int_eq(tl_exec_linear_attention(NULL, &p.a, p.dst, p.state), 0);
            check_problem(&p, &shapes[i]);
            nn_close(&p.room);
        }
}
END_TEST

static void run_problem(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    problem *const p = arg;
    ck_assert_int_eq(tl_exec_linear_attention(exec, &p->a, dst, p->state), 0);
}

START_TEST(threads_do_not_change_the_result)
{
    static const shape s = {3, 50, 4, 2, 64, 200};
    problem p = {0};
    open_problem(&p, &s, PAST | DECAY | BETA | DELTA);
    nn_check_threads(run_problem, p.dst, &p);
    nn_close(&p.room);
}
END_TEST

START_TEST(a_sequence_in_two_parts_gives_the_same_bits)
{
    static const shape s = {1, 6, 2, 2, 5, 70};
    problem p = {0};
    open_problem(&p, &s, PAST | DECAY | BETA | DELTA);
    ck_assert_int_eq(tl_exec_linear_attention(NULL, &p.a, p.dst, p.state), 0);
    tl_tensor parts[5];
    const tl_tensor *past = p.a.past;
    tl_tensor *const state = nn_blank(&p.room, TL_FLOAT, 4, p.state->dims);
    tl_tensor *const before = nn_blank(&p.room, TL_FLOAT, 4, p.state->dims);
    tl_tensor *const dst = nn_blank(&p.room, TL_FLOAT, 4, (int[]){1, 3, 2, 70});
    const tl_tensor *const whole[] = {p.a.q, p.a.k, p.a.v, p.a.decay, p.a.beta};
    int dims[5][4];
    for (int half = 0; half < 2; half++) {
        for (int i = 0; i < 5; i++) {
            parts[i] = *whole[i];
            memcpy(dims[i], whole[i]->dims, (size_t)whole[i]->ndim * sizeof(int));
            dims[i][1] = 3;
            parts[i].dims = dims[i];
            parts[i].len /= 2;
            parts[i].data = (float *)whole[i]->data + (half ? parts[i].len : 0);
        }
        const tl_linear_attention a = {&parts[0], &parts[1], &parts[2], past,
                                       &parts[3], &parts[4], p.a.scale, p.a.is_delta};
        ck_assert_msg(tl_linear_attention_check(&a) == 0, "%s", tl_last_error());
        ck_assert_int_eq(tl_exec_linear_attention(NULL, &a, dst, state), 0);
        ck_assert_mem_eq(dst->data, (float *)p.dst->data + (half ? dst->len : 0),
                         tl_tensor_size(dst));
        memcpy(before->data, state->data, tl_tensor_size(state));
        past = before;
    }
    ck_assert_mem_eq(state->data, p.state->data, tl_tensor_size(state));
    nn_close(&p.room);
}
END_TEST

START_TEST(bad_shapes_and_types_are_rejected)
{
    static const struct row {
        int q[4], k[4], v[4], past[4], decay[3];
        tl_dtype dtype;
        const char *reason;
    } rows[] = {
        {{1, 2, 3, 4},
         {1, 2, 2, 4},
         {1, 2, 2, 5},
         {1, 2, 4, 5},
         {1, 2, 2},
         TL_FLOAT,
         "'q' has 3 heads, expected a multiple of 2, the heads of 'k'"},
        {{1, 2, 2, 4},
         {1, 2, 2, 3},
         {1, 2, 2, 5},
         {1, 2, 4, 5},
         {1, 2, 2},
         TL_FLOAT,
         "'k' has shape [1, 2, 2, 3], expected [B, T, G, D] with B, T and D of 'q'"},
        {{1, 2, 2, 4},
         {1, 2, 2, 4},
         {1, 3, 2, 5},
         {1, 2, 4, 5},
         {1, 2, 2},
         TL_FLOAT,
         "'v' has shape [1, 3, 2, 5], expected [B, T, G, E] with B, T and G of 'k'"},
        {{1, 2, 2, 4},
         {1, 2, 2, 4},
         {1, 2, 2, 5},
         {1, 2, 5, 4},
         {1, 2, 2},
         TL_FLOAT,
         "'past' has shape [1, 2, 5, 4], expected [B, G, D, E]"},
        {{1, 2, 2, 4},
         {1, 2, 2, 4},
         {1, 2, 2, 5},
         {1, 2, 4, 5},
         {1, 2, 3},
         TL_FLOAT,
         "'decay' has shape [1, 2, 3], expected [B, T, G] or [B, T, G, D]"},
        {{1, 2, 2, 4},
         {1, 2, 2, 4},
         {1, 2, 2, 5},
         {1, 2, 4, 5},
         {1, 2, 2},
         TL_DOUBLE,
         "'q' is of TL_DOUBLE, expected TL_FLOAT"},
    };
    for (size_t i = 0; i < NN_LEN(rows); i++) {
        nn_room room = {.seed = 1};
        const tl_linear_attention a = {
            .q = nn_blank(&room, rows[i].dtype, 4, rows[i].q),
            .k = nn_blank(&room, TL_FLOAT, 4, rows[i].k),
            .v = nn_blank(&room, TL_FLOAT, 4, rows[i].v),
            .past = nn_blank(&room, TL_FLOAT, 4, rows[i].past),
            .decay = nn_blank(&room, TL_FLOAT, 3, rows[i].decay),
        };
        ck_assert_int_eq(tl_linear_attention_check(&a), -1);
        ck_assert_str_eq(tl_last_error(), rows[i].reason);
        nn_close(&room);
    }
}
END_TEST

LN_TEST_MAIN("linear attention", every_choice_agrees_with_double, threads_do_not_change_the_result,
             a_sequence_in_two_parts_gives_the_same_bits, bad_shapes_and_types_are_rejected)
