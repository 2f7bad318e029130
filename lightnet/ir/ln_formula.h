// SPDX-License-Identifier: Apache-2.0
// Formulas of functions (tensorlight/tl_functions.h) as graphs, for writers, rules and tests.
//
//     ln_formula_read(&f, "x * tanh(softplus(x))");  // x, softplus of 0, tanh of 1, mul of 0 and 2
//
// A formula is a C expression of x, a, b, numbers, + - * / < > ?: and functions. Equal
// subexpressions are one node, and operations on numbers are numbers.

#pragma once

#include "tensorlight/tl_elementwise.h"

enum { LN_FORMULA_SRCS = 3, LN_FORMULA_NODES = 40, LN_FORMULA_NAME = 16 };

/** A node: "x", "a", "b"; "": a number; else a function of earlier nodes: "add", "sub", "mul",
 *  "div", "neg", "less", "choice" (cond, a, b), or the name of a call. */
typedef struct ln_formula_node {
    char name[LN_FORMULA_NAME];
    double number;
    int n_srcs, srcs[LN_FORMULA_SRCS];
} ln_formula_node;

/** The last node is the result. */
typedef struct ln_formula {
    int len;
    ln_formula_node nodes[LN_FORMULA_NODES];
} ln_formula;

/** Reads a formula. It must be correct, since formulas are constants of the program. */
void ln_formula_read(ln_formula *f, const char *text);

/** Whether the node is a number, or this function. */
int ln_formula_is_number(const ln_formula *f, int node);
int ln_formula_is(const ln_formula *f, int node, const char *name);

/** A function or an operation of the element: its row in tl_functions.h. */
typedef struct ln_function {
    const char *name;    // "hardswish", as formulas call it; fabs and rint are "abs" and "round"
    const char *func;    // "TL_UNARY_HARDSWISH"
    const char *formula; // of tl_functions.h
} ln_function;

/** Rows in the order of tl_unary_func, and those of a name or func; NULL: none. Borrowed. */
extern const ln_function ln_functions[TL_UNARY_FUNC_SIZE];
const ln_function *ln_function_named(const char *name);
const ln_function *ln_function_of(const char *func);
