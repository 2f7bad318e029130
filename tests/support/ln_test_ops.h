// SPDX-License-Identifier: Apache-2.0
// A small architecture of hand-written operators on 1-D float tensors, for tests of contexts and
// passes, and a builder for models made of them.
//
//     ln_test_model m;
//     ln_test_begin(&m, "\"outputs\": [\"y\"],");
//     ln_test_op(&m, "input", "create_test", "", "x", "len 4 value 1");
//     ln_test_op(&m, "first", "add1", "x", "y", "");
//     ln_context *ctx = ln_test_end(&m); // initialized, or with a reason
//
// | optype      | inputs -> outputs | what it does                                                |
// |-------------|-------------------|-------------------------------------------------------------|
// | create_test | -> dst            | static, filled with `value` when loaded; `len` elements     |
// | add1        | src -> dst        | dst = src + 1, may take over src                            |
// | add         | src1 src2 -> dst  | dst = src1 + src2, may take over either                     |
// | double      | src -> dst        | dst = 2 src, never in place                                 |
// | work        | src -> dst        | dst = src + 1 by way of `scratch` bytes of scratch memory   |
// | view        | src -> dst        | dst is src                                                  |
// | part        | src -> dst        | dst is `len` elements of src from `from`                    |
// | bump        | src -> dst        | dst is src, whose elements grow by 1 (an in-place writer)   |
// | join        | src0 .. -> dst    | dst is all inputs, which lie in it (a no-copy gather)       |
// | stack       | src0 .. -> dst    | dst is a copy of all inputs, one after the other           |
// | watch       | src ->            | adds src's first element to ln_test_seen (an effect)        |
// | positive    | src -> dst        | dst is what is above 0, and `extra` more elements: dynamic  |
// | half        | src -> dst        | dst is the second half of src                               |
// | chain       | src1 src2 -> dst  | dst is a copy of src1, then one of src2                     |
// | count       | src -> dst        | dst is the number of elements of src, not dynamic           |
// | number      | src -> dst        | the same as TL_INT32                                        |
// | above       | src1 src2 -> dst  | dst (TL_BOOL) is src1[i] > src2[j] for all i, then j; may   |
// |             |                   | take over either, if the planner knows which                |
// | first       | src1 src2 -> dst  | dst is the first `len` elements of src1; src2 sets `len`    |
// | twice       | src -> dst        | abstract: has no memory, and cannot run                     |

#pragma once

#include <stdio.h>

#include "lightnet/ln_arch.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_pass.h"

/** The architecture, "test"; its functions are the test's to set. Registered by ln_test_register.
 */
extern ln_arch ln_test_arch;

/** Registers ln_test_arch, once; more calls do nothing. */
void ln_test_register(void);

/** Of the calling thread: what `watch` saw, and how often operators ran (`run`) and were checked
 * but not undone. */
extern _Thread_local double ln_test_seen;
extern _Thread_local int ln_test_runs;
extern _Thread_local int ln_test_alive;

typedef struct ln_test_model {
    FILE *fp;
    char *text;
    size_t size;
    int n;
} ln_test_model;

/** Begins a model; `interface` is JSON text such as "\"outputs\": [\"y\"],", or "". */
void ln_test_begin(ln_test_model *m, const char *interface);

/** Adds an operator. `ins` and `outs`: names of tensors, spaces between; `params`: names and
 * numbers by turns. */
void ln_test_op(ln_test_model *m, const char *name, const char *optype, const char *ins,
                const char *outs, const char *params);

/** Ends the model. Returns its text, which the caller frees with free. */
char *ln_test_text(ln_test_model *m);

/** Ends the model and reads it. Returns new (ln_context_free), also after a failure: look at
 * ln_context_error. */
ln_context *ln_test_end(ln_test_model *m);

/** As ln_context_load without a file. */
int ln_test_load(ln_context *ctx);

/** Loads, runs once and returns the first element of a tensor. */
double ln_test_result(ln_context *ctx, const char *tname);

/** As ln_context_run, with the memory of each tensor destroyed as soon as nothing reads it any
 * more.
 */
int ln_test_run_poisoned(ln_context *ctx);

/** The first element of a tensor; NaN with a reason in the context. */
double ln_test_get(ln_context *ctx, const char *tname);

/** A new operator for a rewrite, with the same names as in ln_test_op. NULL: no memory. */
ln_op *ln_test_new_op(const char *name, const char *optype, const char *ins, const char *outs,
                      const char *params);

/** The types of the operators in order, spaces between; in a static buffer. */
const char *ln_test_types(const ln_context *ctx);

/** The next number of a sequence that `seed` begins (xorshift), below `limit`. */
unsigned ln_test_random(unsigned *seed, unsigned limit);
