// SPDX-License-Identifier: Apache-2.0
// Dimensions as symbols: sums, and the operations on them.

#include "ir/ln_dim.h"

#include <limits.h>
#include <string.h>

#include "lightnet/ln_hash.h"
#include "lightnet/ln_util.h"

typedef struct symbol {
    ln_dim_operation kind;
    int next;         // in its chain of the hash table; -1: none
    int64_t min, max; // in all runs
    ln_dim a, b;      // operands
    char *name;       // of an open size, or NULL
    char *tensor;     // whose axis it is, or NULL
    int axis;
    int64_t value; // in this run; -1: unknown
} symbol;

enum { CHAINS = 64, FIRST_CAPACITY = 16 };

struct ln_symbols {
    symbol *at;
    ln_hash *names; // name -> index + 1; or NULL
    int n, capacity, has_failed;
    int chains[CHAINS]; // the first operation with each hash value; -1: none
};

// Bounds saturate at +-2^60: above all lengths, and the sum of two fits an int64_t. Products may
// overflow (saturate_product).
static const int64_t LIMIT = (int64_t)1 << 60;

// Constants

static int64_t saturate(int64_t number)
{
    return number < -LIMIT ? -LIMIT : number > LIMIT ? LIMIT : number;
}

static int64_t saturate_product(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? ((a < 0) == (b < 0) ? LIMIT : -LIMIT)
                                                  : saturate(product);
}

// Rounds down.
static int64_t quotient(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t gcd(int64_t a, int64_t b)
{
    for (a = a < 0 ? -a : a, b = b < 0 ? -b : b; b;) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

ln_dim ln_dim_constant(int64_t value)
{
    return value < -LIMIT || value > LIMIT ? ln_dim_unknown() : (ln_dim){.constant = value};
}

ln_dim ln_dim_unknown(void)
{
    return (ln_dim){.n = -1};
}

int ln_dim_is_known(const ln_dim *dim)
{
    return dim->n >= 0;
}

int ln_dim_is_constant(const ln_dim *dim)
{
    return dim->n == 0;
}

int ln_dim_is(const ln_dim *dim, int64_t value)
{
    return dim->n == 0 && dim->constant == value;
}

int ln_dim_equals(const ln_dim *a, const ln_dim *b)
{
    if (a->n < 0 || a->n != b->n || a->constant != b->constant)
        return 0;
    for (int i = 0; i < a->n; i++)
        if (a->terms[i].symbol != b->terms[i].symbol ||
            a->terms[i].coefficient != b->terms[i].coefficient)
            return 0;
    return 1;
}

static int are_known(const ln_dim *a, const ln_dim *b)
{
    return a->n >= 0 && b->n >= 0;
}

// Symbols

ln_symbols *ln_symbols_create(void)
{
    ln_symbols *symbols = ln_alloc(sizeof(*symbols));
    if (!symbols)
        return NULL;
    *symbols = (ln_symbols){0};
    for (int i = 0; i < CHAINS; i++)
        symbols->chains[i] = -1;
    return symbols;
}

void ln_symbols_free(ln_symbols *symbols)
{
    if (!symbols)
        return;
    ln_hash_free(symbols->names);
    for (int i = 0; i < symbols->n; i++) {
        ln_free(symbols->at[i].name);
        ln_free(symbols->at[i].tensor);
    }
    ln_free(symbols->at);
    ln_free(symbols);
}

int ln_symbols_failed(const ln_symbols *symbols)
{
    return symbols->has_failed;
}

static int reserve(ln_symbols *symbols)
{
    if (symbols->n < symbols->capacity)
        return 0;
    const int more = symbols->capacity ? 2 * symbols->capacity : FIRST_CAPACITY;
    symbol *grown = ln_realloc(symbols->at, (size_t)more * sizeof(*grown));
    if (!grown)
        return -1;
    symbols->at = grown;
    symbols->capacity = more;
    return 0;
}

static ln_dim add_symbol(ln_symbols *symbols, const symbol *s)
{
    if (reserve(symbols)) {
        symbols->has_failed = 1;
        return ln_dim_unknown();
    }
    symbols->at[symbols->n] = *s;
    return (ln_dim){.n = 1, .terms = {{symbols->n++, 1}}};
}

ln_dim ln_symbols_add(ln_symbols *symbols, int64_t min, int64_t max)
{
    const symbol s = {.kind = LN_DIM_OPEN, .next = -1, .min = saturate(min), .max = saturate(max)};
    return add_symbol(symbols, &s);
}

static void set_origin(ln_symbols *symbols, symbol *s, const char *tensor, int axis)
{
    s->tensor = ln_strdup(tensor);
    s->axis = axis;
    symbols->has_failed |= !s->tensor;
}

ln_dim ln_symbols_add_axis(ln_symbols *symbols, int64_t min, int64_t max, const char *tensor,
                           int axis)
{
    const ln_dim dim = ln_symbols_add(symbols, min, max);
    if (ln_dim_is_known(&dim))
        set_origin(symbols, &symbols->at[dim.terms[0].symbol], tensor, axis);
    return dim;
}

ln_dim ln_symbols_named(ln_symbols *symbols, const char *name, size_t len)
{
    char text[LN_MAX_NAME_LEN];
    if (len >= sizeof(text))
        return ln_dim_unknown();
    memcpy(text, name, len);
    text[len] = '\0';
    if (!symbols->names)
        symbols->names = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    const size_t found = symbols->names ? (size_t)ln_hash_find(symbols->names, text) : 0;
    if (found)
        return (ln_dim){.n = 1, .terms = {{(int)found - 1, 1}}};
    const ln_dim dim = ln_symbols_add(symbols, 0, INT_MAX);
    char *const copy = ln_strdup(text);
    if (!copy || !symbols->names || !ln_dim_is_known(&dim) ||
        ln_hash_insert(symbols->names, copy, (void *)(size_t)symbols->n) < 0) {
        symbols->has_failed = 1;
        ln_free(copy);
        return ln_dim_unknown();
    }
    symbols->at[dim.terms[0].symbol].name = copy;
    return dim;
}

void ln_symbols_bound(ln_symbols *symbols, const ln_dim *dim, int64_t min, int64_t max,
                      const char *tensor, int axis)
{
    symbol *const s = &symbols->at[dim->terms[0].symbol];
    s->min = min > s->min ? min : s->min;
    s->max = max < s->max ? max : s->max;
    if (!s->tensor)
        set_origin(symbols, s, tensor, axis);
}

const char *ln_symbols_origin(const ln_symbols *symbols, int which, int *axis)
{
    *axis = symbols->at[which].axis;
    return symbols->at[which].tensor;
}

ln_dim_operation ln_symbols_operation(const ln_symbols *symbols, int which, ln_dim *a, ln_dim *b)
{
    *a = symbols->at[which].a;
    *b = symbols->at[which].b;
    return symbols->at[which].kind;
}

// Bounds

static int64_t bound(const ln_symbols *symbols, const ln_dim *dim, int is_max)
{
    int64_t sum = dim->constant;
    for (int i = 0; i < dim->n; i++) {
        const symbol *s = &symbols->at[dim->terms[i].symbol];
        const int64_t factor = dim->terms[i].coefficient;
        sum = saturate(sum + saturate_product(factor, (factor > 0) == is_max ? s->max : s->min));
    }
    return sum;
}

int64_t ln_dim_lower(const ln_symbols *symbols, const ln_dim *dim)
{
    return bound(symbols, dim, 0);
}

int64_t ln_dim_upper(const ln_symbols *symbols, const ln_dim *dim)
{
    return bound(symbols, dim, 1);
}

// The result for one value of each operand.
static int64_t at_corner(ln_dim_operation kind, int64_t a, int64_t b)
{
    switch (kind) {
    case LN_DIM_SUM:
        return saturate(a + b);
    case LN_DIM_PRODUCT:
        return saturate_product(a, b);
    case LN_DIM_QUOTIENT:
        return b ? quotient(a, b) : 0;
    case LN_DIM_MIN:
        return a < b ? a : b;
    default:
        return a > b ? a : b;
    }
}

// Operations are monotonic in each operand, so their results for the bounds of a and b bound all
// results. Divisors are lengths, and not 0. A length 0 and a length 1 broadcast to 0, not to 1.
static void bound_symbol(const ln_symbols *symbols, symbol *s)
{
    const int64_t a[] = {ln_dim_lower(symbols, &s->a), ln_dim_upper(symbols, &s->a)};
    int64_t b[] = {ln_dim_lower(symbols, &s->b), ln_dim_upper(symbols, &s->b)};
    if (s->kind == LN_DIM_QUOTIENT && b[0] <= 0 && b[1] > 0)
        b[0] = 1;
    s->min = s->kind == LN_DIM_BROADCAST ? at_corner(LN_DIM_MIN, a[0], b[0])
                                         : at_corner(s->kind, a[0], b[0]);
    s->max = s->min;
    for (int i = 0; i < 4; i++) {
        const int64_t corner = at_corner(s->kind, a[i & 1], b[i >> 1]);
        s->min = corner < s->min ? corner : s->min;
        s->max = corner > s->max ? corner : s->max;
    }
}

// The lengths of a run

void ln_symbols_forget_values(ln_symbols *symbols)
{
    for (int i = 0; i < symbols->n; i++)
        symbols->at[i].value = -1;
}

int64_t ln_symbols_assign(ln_symbols *symbols, const ln_dim *dim, int64_t value)
{
    const int is_symbol = dim->n == 1 && dim->constant == 0 && dim->terms[0].coefficient == 1;
    int64_t sum = dim->constant;
    if (is_symbol && symbols->at[dim->terms[0].symbol].value < 0)
        symbols->at[dim->terms[0].symbol].value = value;
    for (int i = 0; i < dim->n; i++) {
        const int64_t of_symbol = symbols->at[dim->terms[i].symbol].value;
        if (of_symbol < 0)
            return -1;
        sum = saturate(sum + saturate_product(dim->terms[i].coefficient, of_symbol));
    }
    return sum;
}

// Operations other than sums

static unsigned hash_dim(unsigned hash, const ln_dim *a)
{
    hash = hash * 31 + (unsigned)a->constant;
    for (int i = 0; i < a->n; i++)
        hash = (hash * 31 + (unsigned)a->terms[i].symbol) * 31 + (unsigned)a->terms[i].coefficient;
    return hash;
}

// The symbol of the operation, which is added if missing, so that equal results are one symbol.
static ln_dim find_operation(ln_symbols *symbols, ln_dim_operation kind, const ln_dim *a,
                             const ln_dim *b)
{
    if (!symbols || !are_known(a, b))
        return ln_dim_unknown();
    int *chain = &symbols->chains[hash_dim(hash_dim((unsigned)kind, a), b) % CHAINS];
    for (int i = *chain; i >= 0; i = symbols->at[i].next) {
        const symbol *s = &symbols->at[i];
        if (s->kind == kind && ln_dim_equals(&s->a, a) && ln_dim_equals(&s->b, b))
            return (ln_dim){.n = 1, .terms = {{i, 1}}};
    }
    symbol s = {.kind = kind, .next = *chain, .a = *a, .b = *b};
    bound_symbol(symbols, &s);
    const ln_dim found = add_symbol(symbols, &s);
    if (found.n > 0)
        *chain = found.terms[0].symbol;
    return found;
}

// Orders known dimensions in any fixed way.
static int compare_dims(const ln_dim *a, const ln_dim *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (int i = 0; i < a->n; i++) {
        const struct ln_dim_term *x = &a->terms[i], *y = &b->terms[i];
        if (x->symbol != y->symbol)
            return x->symbol < y->symbol ? -1 : 1;
        if (x->coefficient != y->coefficient)
            return x->coefficient < y->coefficient ? -1 : 1;
    }
    return (a->constant > b->constant) - (a->constant < b->constant);
}

// Finds the same symbol for both orders of the operands.
static ln_dim find_commutative(ln_symbols *symbols, ln_dim_operation kind, const ln_dim *a,
                               const ln_dim *b)
{
    return compare_dims(a, b) <= 0 ? find_operation(symbols, kind, a, b)
                                   : find_operation(symbols, kind, b, a);
}

// Sums

// Adds coefficient * symbol. -1: more than LN_DIM_TERMS terms, or a coefficient beyond LIMIT.
static int add_term(ln_dim *sum, int which, int64_t coefficient)
{
    int i = 0;
    while (i < sum->n && sum->terms[i].symbol < which)
        i++;
    struct ln_dim_term *at = &sum->terms[i];
    if (i < sum->n && at->symbol == which) {
        at->coefficient += coefficient;
        if (at->coefficient != 0)
            return -(at->coefficient < -LIMIT || at->coefficient > LIMIT);
        memmove(at, at + 1, (size_t)(--sum->n - i) * sizeof(*at));
        return 0;
    }
    if (sum->n == LN_DIM_TERMS)
        return -1;
    memmove(at + 1, at, (size_t)(sum->n - i) * sizeof(*at));
    *at = (struct ln_dim_term){which, coefficient};
    sum->n++;
    return 0;
}

// a + factor * b; -1 as add_term.
static int add_scaled(const ln_dim *a, const ln_dim *b, int64_t factor, ln_dim *sum)
{
    int64_t part;
    *sum = *a;
    if (__builtin_mul_overflow(factor, b->constant, &part) || part < -LIMIT || part > LIMIT)
        return -1;
    sum->constant += part;
    if (sum->constant < -LIMIT || sum->constant > LIMIT)
        return -1;
    for (int i = 0; i < b->n; i++) {
        if (__builtin_mul_overflow(factor, b->terms[i].coefficient, &part) || part < -LIMIT ||
            part > LIMIT || (part && add_term(sum, b->terms[i].symbol, part)))
            return -1;
    }
    return 0;
}

ln_dim ln_dim_add(ln_symbols *symbols, const ln_dim *a, const ln_dim *b)
{
    ln_dim sum;
    if (!are_known(a, b))
        return ln_dim_unknown();
    return add_scaled(a, b, 1, &sum) ? find_commutative(symbols, LN_DIM_SUM, a, b) : sum;
}

// factor * a; unknown if it exceeds LIMIT.
static ln_dim scaled(const ln_dim *a, int64_t factor)
{
    ln_dim sum;
    const ln_dim zero = ln_dim_constant(0);
    return a->n < 0 || add_scaled(&zero, a, factor, &sum) ? ln_dim_unknown() : sum;
}

ln_dim ln_dim_sub(ln_symbols *symbols, const ln_dim *a, const ln_dim *b)
{
    const ln_dim negative = scaled(b, -1);
    return ln_dim_add(symbols, a, &negative);
}

// Products: a coefficient times factors, in the order of compare_dims

enum { MAX_FACTORS = 8 };

typedef struct factors {
    int64_t coefficient;
    int n; // -1: too many
    ln_dim at[MAX_FACTORS];
} factors;

static void insert_factor(factors *f, const ln_dim *factor)
{
    if (f->n < 0 || f->n == MAX_FACTORS) {
        f->n = -1;
        return;
    }
    int i = f->n++;
    for (; i > 0 && compare_dims(&f->at[i - 1], factor) > 0; i--)
        f->at[i] = f->at[i - 1];
    f->at[i] = *factor;
}

// The symbol, if the dimension is just a product of two others; else NULL.
static const symbol *product_of(const ln_symbols *symbols, const ln_dim *dim)
{
    const int is_one = symbols && dim->n == 1 && !dim->constant && dim->terms[0].coefficient == 1;
    const symbol *s = is_one ? &symbols->at[dim->terms[0].symbol] : NULL;
    return s && s->kind == LN_DIM_PRODUCT ? s : NULL;
}

// Multiplies by a dimension. Its content (the gcd of its numbers) joins the coefficient, the rest
// the factors: 6 s + 4 is 2 times (3 s + 2). A symbol that is a product is split into its factors.
static void add_factors(const ln_symbols *symbols, factors *f, const ln_dim *dim)
{
    int64_t content = dim->constant;
    for (int i = 0; i < dim->n; i++)
        content = gcd(content, dim->terms[i].coefficient);
    if (__builtin_mul_overflow(f->coefficient, content, &f->coefficient))
        f->n = -1;
    if (f->n < 0 || dim->n == 0)
        return;
    ln_dim rest = *dim;
    rest.constant /= content;
    for (int i = 0; i < rest.n; i++)
        rest.terms[i].coefficient /= content;
    const symbol *product = product_of(symbols, &rest);
    for (; product; product = product_of(symbols, &rest)) {
        insert_factor(f, &product->b);
        rest = product->a;
    }
    insert_factor(f, &rest);
}

static ln_dim multiply(ln_symbols *symbols, const factors *f)
{
    if (f->n < 0)
        return ln_dim_unknown();
    if (f->n == 0)
        return ln_dim_constant(f->coefficient);
    ln_dim product = f->at[0];
    for (int i = 1; i < f->n; i++)
        product = find_operation(symbols, LN_DIM_PRODUCT, &product, &f->at[i]);
    return scaled(&product, f->coefficient);
}

ln_dim ln_dim_mul(ln_symbols *symbols, const ln_dim *a, const ln_dim *b)
{
    factors f = {.coefficient = 1};
    if (!are_known(a, b))
        return ln_dim_unknown();
    if (a->n == 0 || b->n == 0)
        return a->n == 0 ? scaled(b, a->constant) : scaled(a, b->constant);
    add_factors(symbols, &f, a);
    add_factors(symbols, &f, b);
    return multiply(symbols, &f);
}

// Quotients

// By a positive constant, whose multiples are moved out: (4 s + t) / 2 = 2 s + t / 2.
static ln_dim divide_by_constant(ln_symbols *symbols, const ln_dim *a, int64_t by)
{
    ln_dim whole = ln_dim_constant(quotient(a->constant, by));
    ln_dim rest = ln_dim_constant(a->constant - whole.constant * by);
    for (int i = 0; i < a->n; i++) {
        const struct ln_dim_term *t = &a->terms[i];
        const int64_t times = quotient(t->coefficient, by), left = t->coefficient - times * by;
        if ((times && add_term(&whole, t->symbol, times)) ||
            (left && add_term(&rest, t->symbol, left)))
            return ln_dim_unknown();
    }
    const ln_dim divisor = ln_dim_constant(by);
    int64_t low = quotient(rest.constant, by), high = low;
    if (rest.n && symbols) {
        low = quotient(ln_dim_lower(symbols, &rest), by);
        high = quotient(ln_dim_upper(symbols, &rest), by);
    }
    const ln_dim quotient_of_rest = // t / 2 is 0 if t is 0 .. 1
        low == high ? ln_dim_constant(low)
                    : find_operation(symbols, LN_DIM_QUOTIENT, &rest, &divisor);
    return ln_dim_add(symbols, &whole, &quotient_of_rest);
}

// Removes the factors of `b` from those of `a`. Returns whether `a` had all of them.
static int cancel(factors *a, const factors *b)
{
    for (int i = 0; i < b->n; i++) {
        int k = 0;
        while (k < a->n && !ln_dim_equals(&a->at[k], &b->at[i]))
            k++;
        if (k == a->n)
            return 0;
        memmove(&a->at[k], &a->at[k + 1], (size_t)(--a->n - k) * sizeof(a->at[0]));
    }
    return 1;
}

ln_dim ln_dim_div(ln_symbols *symbols, const ln_dim *a, const ln_dim *b)
{
    if (!are_known(a, b) || ln_dim_is(b, 0))
        return ln_dim_unknown();
    if (a->n == 0 && b->n == 0)
        return ln_dim_constant(quotient(a->constant, b->constant));
    if (b->n == 0 && b->constant > 0)
        return divide_by_constant(symbols, a, b->constant);
    // Common factors cancel: 6 s t / (4 s) = 6 t / 4.
    factors of_a = {.coefficient = 1}, of_b = {.coefficient = 1};
    add_factors(symbols, &of_a, a);
    add_factors(symbols, &of_b, b);
    if (of_a.n < 0 || of_b.n < 0 || of_b.coefficient <= 0 || !cancel(&of_a, &of_b))
        return find_operation(symbols, LN_DIM_QUOTIENT, a, b);
    const ln_dim rest = multiply(symbols, &of_a);
    return rest.n < 0 ? rest : divide_by_constant(symbols, &rest, of_b.coefficient);
}

ln_dim ln_dim_mod(ln_symbols *symbols, const ln_dim *a, const ln_dim *b)
{
    const ln_dim whole = ln_dim_div(symbols, a, b), part = ln_dim_mul(symbols, &whole, b);
    return ln_dim_sub(symbols, a, &part);
}

// Comparisons

// The result of comparing a with b; VARIES: it differs from run to run, or is unknown.
enum { LESS, EQUAL, GREATER, VARIES };

static int compare(const ln_symbols *symbols, const ln_dim *a, const ln_dim *b)
{
    ln_dim difference;
    if (!are_known(a, b) || add_scaled(a, b, -1, &difference))
        return VARIES;
    const int64_t min = symbols ? ln_dim_lower(symbols, &difference) : difference.constant;
    const int64_t max = symbols ? ln_dim_upper(symbols, &difference) : difference.constant;
    return min > 0 ? GREATER : max < 0 ? LESS : difference.n == 0 ? EQUAL : VARIES;
}

// Whether a <= b in all runs.
static int is_at_most(const ln_symbols *symbols, const ln_dim *a, const ln_dim *b)
{
    ln_dim difference;
    if (!are_known(a, b) || add_scaled(b, a, -1, &difference))
        return 0;
    return (symbols ? ln_dim_lower(symbols, &difference) : difference.constant) >= 0;
}

ln_dim ln_dim_min(ln_symbols *symbols, const ln_dim *a, const ln_dim *b)
{
    if (is_at_most(symbols, a, b))
        return *a;
    return is_at_most(symbols, b, a) ? *b : find_commutative(symbols, LN_DIM_MIN, a, b);
}

ln_dim ln_dim_max(ln_symbols *symbols, const ln_dim *a, const ln_dim *b)
{
    if (is_at_most(symbols, a, b))
        return *b;
    return is_at_most(symbols, b, a) ? *a : find_commutative(symbols, LN_DIM_MAX, a, b);
}

ln_dim ln_dim_broadcast(ln_symbols *symbols, const ln_dim *a, const ln_dim *b)
{
    if (!are_known(a, b))
        return ln_dim_unknown();
    if (ln_dim_equals(a, b) || ln_dim_is(b, 1) || (a->n == 0 && a->constant != 1))
        return *a;
    if (ln_dim_is(a, 1) || b->n == 0)
        return *b;
    return find_commutative(symbols, LN_DIM_BROADCAST, a, b);
}

ln_dim ln_dim_is_equal(ln_symbols *symbols, const ln_dim *a, const ln_dim *b)
{
    const int result = compare(symbols, a, b);
    return result == VARIES ? ln_dim_unknown() : ln_dim_constant(result == EQUAL);
}

ln_dim ln_dim_is_less(ln_symbols *symbols, const ln_dim *a, const ln_dim *b)
{
    if (compare(symbols, a, b) == LESS)
        return ln_dim_constant(1);
    return is_at_most(symbols, b, a) ? ln_dim_constant(0) : ln_dim_unknown();
}
