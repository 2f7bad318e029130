// SPDX-License-Identifier: Apache-2.0
// Dimensions as symbols: each is evaluated at chosen values of its symbols.

#include "ir/ln_dim.h"

#include <stdio.h>
#include <stdlib.h>

#include "ln_check.h"

enum { S_MAX = 9, T_MAX = 7 };

static ln_symbols *symbols;
static ln_dim s, t; // 1 to S_MAX, 0 to T_MAX

static void set_up(void)
{
    symbols = ln_symbols_create();
    ck_assert_ptr_nonnull(symbols);
    s = ln_symbols_add(symbols, 1, S_MAX);
    t = ln_symbols_add(symbols, 0, T_MAX);
}

static ln_dim number(int64_t n)
{
    return ln_dim_constant(n);
}

#define OP(name, a, b) ln_dim_##name(symbols, &(ln_dim[]){a}[0], &(ln_dim[]){b}[0])

static void assert_same(ln_dim a, ln_dim b)
{
    ck_assert(ln_dim_is_known(&a));
    ck_assert(ln_dim_equals(&a, &b));
}

START_TEST(what_is_computed_alike_is_equal)
{
    set_up();
    const ln_dim st = OP(mul, s, t), sum = OP(add, s, t);
    assert_same(OP(add, s, t), OP(add, t, s));
    assert_same(OP(sub, sum, t), s);
    assert_same(OP(mul, t, s), st);
    assert_same(OP(mul, OP(mul, number(2), s), OP(mul, t, number(3))), OP(mul, st, number(6)));
    assert_same(OP(mul, OP(mul, s, sum), t), OP(mul, OP(mul, t, s), sum));
    assert_same(OP(max, s, t), OP(max, t, s));
    assert_same(OP(div, OP(add, s, number(1)), number(2)),
                OP(div, OP(add, number(1), s), number(2)));
    ck_assert(!ln_dim_equals(&s, &t));
    ck_assert(!ln_dim_equals(&st, &s));
    ln_symbols_free(symbols);
}
END_TEST

START_TEST(quotients_are_exact_where_they_can_be)
{
    set_up();
    const ln_dim len = OP(mul, OP(mul, s, t), number(384));
    assert_same(OP(div, len, OP(mul, s, number(32))), OP(mul, t, number(12)));
    assert_same(OP(div, len, OP(mul, t, s)), number(384));
    assert_same(OP(div, OP(add, OP(mul, s, number(4)), number(6)), number(4)),
                OP(add, s, number(1)));
    assert_same(OP(mod, OP(mul, s, number(4)), number(4)), number(0));
    assert_same(OP(mod, OP(add, OP(mul, s, number(4)), number(3)), number(4)), number(3));
    assert_same(OP(div, number(-7), number(2)), number(-4));
    ln_symbols_free(symbols);
}
END_TEST

START_TEST(bounds_decide_what_they_can)
{
    set_up();
    const ln_dim more = OP(add, s, t);
    assert_same(OP(max, more, s), more);
    assert_same(OP(min, s, number(100)), s);
    assert_same(OP(max, t, number(0)), t);
    assert_same(OP(is_less, t, OP(add, t, s)), number(1));
    assert_same(OP(is_equal, s, number(S_MAX + 1)), number(0));
    const ln_dim open = OP(is_less, t, s);
    ck_assert(!ln_dim_is_known(&open));
    ln_symbols_free(symbols);
}
END_TEST

START_TEST(axes_of_length_one_broadcast)
{
    set_up();
    assert_same(OP(broadcast, s, number(1)), s);
    assert_same(OP(broadcast, number(1), s), s);
    assert_same(OP(broadcast, s, s), s);
    assert_same(OP(broadcast, s, number(5)), number(5));
    assert_same(OP(broadcast, number(0), number(1)), number(0));
    assert_same(OP(broadcast, s, t), OP(broadcast, t, s));
    ln_symbols_free(symbols);
}
END_TEST

START_TEST(numbers_that_do_not_fit_are_unknown)
{
    set_up();
    const ln_dim large = number((int64_t)1 << 59), unknown = ln_dim_unknown();
    const ln_dim results[] = {OP(mul, large, large), OP(mul, OP(mul, s, large), large),
                              OP(div, s, number(0)), OP(add, s, unknown)};
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
        ck_assert_msg(!ln_dim_is_known(&results[i]), "result %zu", i);
    const ln_dim of_numbers =
        ln_dim_mul(NULL, &(ln_dim[]){number(6)}[0], &(ln_dim[]){number(7)}[0]);
    assert_same(of_numbers, number(42));
    ln_symbols_free(symbols);
}
END_TEST

// Random expressions of s, t and numbers, with the values that they have for each s and t.

typedef struct sample {
    ln_dim dim;
    int64_t at[S_MAX + 1][T_MAX + 1];
} sample;

static int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    while (q * b > a)
        q--;
    while ((q + 1) * b <= a)
        q++;
    return q;
}

static int64_t apply(int op, int64_t a, int64_t b)
{
    return op == 0   ? a + b
           : op == 1 ? a - b
           : op == 2 ? a * b
           : op == 3 ? floor_div(a, b)
           : op == 4 ? a - b * floor_div(a, b)
           : op == 5 ? (a < b ? a : b)
                     : (a > b ? a : b);
}

static ln_dim combine(int op, const ln_dim *a, const ln_dim *b)
{
    static ln_dim (*const functions[])(ln_symbols *, const ln_dim *, const ln_dim *) = {
        ln_dim_add, ln_dim_sub, ln_dim_mul, ln_dim_div, ln_dim_mod, ln_dim_min, ln_dim_max};
    return functions[op](symbols, a, b);
}

static void fill(sample *x, ln_dim dim, int64_t n, int of_s, int of_t)
{
    x->dim = dim;
    for (int i = 1; i <= S_MAX; i++)
        for (int k = 0; k <= T_MAX; k++)
            x->at[i][k] = n + of_s * i + of_t * k;
}

// Of a known dimension that is a number: the same for all s and t. Bounds hold, and equal
// dimensions have equal values.
static void check(const sample *x, const sample *others, int n)
{
    if (!ln_dim_is_known(&x->dim))
        return;
    for (int i = 1; i <= S_MAX; i++)
        for (int k = 0; k <= T_MAX; k++) {
            const int64_t value = x->at[i][k];
            ck_assert_int_le(ln_dim_lower(symbols, &x->dim), value);
            ck_assert_int_ge(ln_dim_upper(symbols, &x->dim), value);
            ck_assert(!ln_dim_is_constant(&x->dim) || x->dim.constant == value);
            for (int m = 0; m < n; m++)
                ck_assert(!ln_dim_equals(&x->dim, &others[m].dim) || others[m].at[i][k] == value);
        }
}

static void make_random(sample *xs, int n)
{
    const sample *a = &xs[rand() % n], *b = &xs[rand() % n];
    int op = rand() % 7;
    const int is_division = op == 3 || op == 4;
    if (is_division && rand() % 2)
        b = &xs[2]; // a number
    for (int i = 1; i <= S_MAX; i++)
        for (int k = 0; k <= T_MAX; k++) {
            if (is_division && b->at[i][k] <= 0)
                op = 0;
            if (llabs(a->at[i][k]) > 1000000 || llabs(b->at[i][k]) > 1000000)
                op = 5;
        }
    xs[n].dim = combine(op, &a->dim, &b->dim);
    for (int i = 1; i <= S_MAX; i++)
        for (int k = 0; k <= T_MAX; k++)
            xs[n].at[i][k] = apply(op, a->at[i][k], b->at[i][k]);
    check(&xs[n], xs, n);
}

START_TEST(random_expressions_have_the_values_of_integers)
{
    enum { ROUNDS = 300, LENGTH = 40 };
    static sample xs[LENGTH];
    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        set_up();
        fill(&xs[0], s, 0, 1, 0);
        fill(&xs[1], t, 0, 0, 1);
        const int n = 1 + rand() % 5;
        fill(&xs[2], number(n), n, 0, 0);
        for (int i = 3; i < LENGTH; i++)
            make_random(xs, i);
        ck_assert(!ln_symbols_failed(symbols));
        ln_symbols_free(symbols);
    }
}
END_TEST

LN_TEST_MAIN("dimensions as symbols", what_is_computed_alike_is_equal,
             quotients_are_exact_where_they_can_be, bounds_decide_what_they_can,
             axes_of_length_one_broadcast, numbers_that_do_not_fit_are_unknown,
             random_expressions_have_the_values_of_integers)
