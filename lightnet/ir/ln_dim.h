// SPDX-License-Identifier: Apache-2.0
// Dimensions as symbols: lengths that are known only at run time, and what is computed from them.
//
// A dimension is a sum of symbols with coefficients and a constant, or unknown. A symbol is an open
// size of the model, a size that data decide, or the result of another operation: a product, a
// quotient, a maximum of two dimensions. Equal operations on equal dimensions are the same symbol,
// so dimensions that are computed alike are equal. One without symbols is a constant.
//
//     ln_dim s = ln_symbols_add(symbols, 1, 512), twelve = ln_dim_constant(12);
//     ln_dim d = ln_dim_mul(symbols, &s, &twelve);    12 s, between 12 and 6144

#pragma once

#include <stddef.h>
#include <stdint.h>

enum { LN_DIM_TERMS = 4 };

typedef struct ln_dim {
    int64_t constant;
    int n; // terms, in the order of their symbols, none of them 0; -1: unknown
    struct ln_dim_term {
        int symbol;
        int64_t coefficient;
    } terms[LN_DIM_TERMS];
} ln_dim;

/** The symbols of a model. NULL: constants only; operations that need a symbol return unknown. */
typedef struct ln_symbols ln_symbols;

/** Returns new (ln_symbols_free); NULL: no memory. */
ln_symbols *ln_symbols_create(void);

/** Ignores NULL. */
void ln_symbols_free(ln_symbols *symbols);

/** A new symbol between `min` and `max`. Unknown without memory. */
ln_dim ln_symbols_add(ln_symbols *symbols, int64_t min, int64_t max);

/** The same for the length of axis `axis` of a tensor, whose name it copies. */
ln_dim ln_symbols_add_axis(ln_symbols *symbols, int64_t min, int64_t max, const char *tensor,
                           int axis);

/** The open size of that name, of `len` characters: any length, until ln_symbols_bound. Unknown
 * without memory, or if the name has LN_MAX_NAME_LEN or more. */
ln_dim ln_symbols_named(ln_symbols *symbols, const char *name, size_t len);

/** Narrows the bounds of a symbol, which is the length of axis `axis` of a tensor; of several such
 * axes, the first one becomes its origin. */
void ln_symbols_bound(ln_symbols *symbols, const ln_dim *symbol, int64_t min, int64_t max,
                      const char *tensor, int axis);

/** Returns (borrowed) the tensor whose axis `*axis` the symbol is; NULL: another open size, or the
 * result of an operation. */
const char *ln_symbols_origin(const ln_symbols *symbols, int symbol, int *axis);

/** Whether an allocation has failed: dimensions that need a new symbol are unknown then. */
int ln_symbols_failed(const ln_symbols *symbols);

/** What a symbol is: an open size, or what an operation computes of `a` and `b`. */
typedef enum ln_dim_operation {
    LN_DIM_OPEN,
    LN_DIM_SUM,
    LN_DIM_PRODUCT,
    LN_DIM_QUOTIENT,
    LN_DIM_MIN,
    LN_DIM_MAX,
    LN_DIM_BROADCAST,
} ln_dim_operation;
ln_dim_operation ln_symbols_operation(const ln_symbols *symbols, int symbol, ln_dim *a, ln_dim *b);

ln_dim ln_dim_constant(int64_t value);
ln_dim ln_dim_unknown(void);

/** Whether the dimension is known; a constant; this constant; known to equal another one. */
int ln_dim_is_known(const ln_dim *dim);
int ln_dim_is_constant(const ln_dim *dim);
int ln_dim_is(const ln_dim *dim, int64_t value);
int ln_dim_equals(const ln_dim *a, const ln_dim *b);

/** Bounds of a known dimension in all runs. */
int64_t ln_dim_lower(const ln_symbols *symbols, const ln_dim *dim);
int64_t ln_dim_upper(const ln_symbols *symbols, const ln_dim *dim);

// The lengths of a run

/** Forgets the values of all symbols. */
void ln_symbols_forget_values(ln_symbols *symbols);

/** Sets the value of the dimension, if it is one symbol without a value, else compares. Returns the
 * value that the dimension has in this run; -1: a symbol of a sum has none, or it is negative. */
int64_t ln_symbols_assign(ln_symbols *symbols, const ln_dim *dim, int64_t value);

// Operations. Unknown if an operand is, or where a constant exceeds 2^60.

ln_dim ln_dim_add(ln_symbols *symbols, const ln_dim *a, const ln_dim *b);
ln_dim ln_dim_sub(ln_symbols *symbols, const ln_dim *a, const ln_dim *b);
ln_dim ln_dim_mul(ln_symbols *symbols, const ln_dim *a, const ln_dim *b);

/** Rounded down, and the remainder, which has the sign of `b`. Unknown for b = 0. */
ln_dim ln_dim_div(ln_symbols *symbols, const ln_dim *a, const ln_dim *b);
ln_dim ln_dim_mod(ln_symbols *symbols, const ln_dim *a, const ln_dim *b);

ln_dim ln_dim_min(ln_symbols *symbols, const ln_dim *a, const ln_dim *b);
ln_dim ln_dim_max(ln_symbols *symbols, const ln_dim *a, const ln_dim *b);

/** The common length of two axes, each of which has it or is 1. */
ln_dim ln_dim_broadcast(ln_symbols *symbols, const ln_dim *a, const ln_dim *b);

/** Comparisons, 1 or 0; unknown where it differs from run to run. */
ln_dim ln_dim_is_equal(ln_symbols *symbols, const ln_dim *a, const ln_dim *b);
ln_dim ln_dim_is_less(ln_symbols *symbols, const ln_dim *a, const ln_dim *b);
