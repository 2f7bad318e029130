// SPDX-License-Identifier: Apache-2.0
// Internals of the generator of operators: the operator being generated, the names in its code,
// lines of such code.

#pragma once

#include "gen/ln_cgen.h"
#include "gen/ln_opdesc.h"

/** The C of a description in one group of functions. */
typedef struct codes {
    const ln_rjson **nodes;
    size_t len;
} codes;

/** The variables of an argument `x`. */
typedef enum var {
    VAR_VALUE, // x
    VAR_ENTRY, // x_entry
    VAR_NAME,  // x_name, not of parameters
    VAR_COUNT, // x_n, of variadic ones
    VAR_NDIM,  // x_ndim, x_dims, x_dtype: of outputs in pre_run
    VAR_DIMS,
    VAR_DTYPE,
    VARS
} var;

/** A part of pre_run: an argument's declaration with the checks of its fields (`code` NULL),
 * another check, or custom code. */
typedef struct step {
    const ln_argdesc *arg;
    const ln_rjson *code;
    int done;
} step;

/** Words that the size expressions of an operator compare parameters with. */
typedef struct word_list {
    const char **at;
    size_t n;
} word_list;

/** The operator being generated. */
typedef struct generator {
    ln_cgen *out;
    const ln_opdesc *op;
    codes pre;   // all code in pre_run
    codes later; // all code in the other functions
    step *steps;
    size_t nsteps;
    int has_docs; // the documentation becomes part of the information
} generator;

/** The suffixes of an argument's variables. */
extern const char *const ln_opgen_var_suffixes[VARS];

/** Adds the text of `node` if it is a string; ignores NULL. */
void ln_opgen_add_code(const generator *g, codes *cs, const ln_rjson *node);

/** Collects the C of an argument's declaration. */
void ln_opgen_collect_declaration(const generator *g, codes *cs, const ln_argdesc *arg);

/** Collects the C of `op` at the end of pre_run. */
void ln_opgen_collect_last_codes(const generator *g, codes *cs, const ln_opdesc *op);

/** 1 if the operator has its own pre_run, not that of its base. */
int ln_opgen_has_pre_run(const ln_opdesc *op);

/** Fills `pre` and `later`, for an operator of a target with the code of its base. */
void ln_opgen_collect_codes(generator *g);

/** 1 when some of the code names the word, or a variable of an argument. */
int ln_opgen_codes_name(const codes *cs, const char *word);
int ln_opgen_codes_name_var(const codes *cs, const ln_argdesc *arg, var v);
int ln_opgen_code_names_var(const ln_rjson *code, const ln_argdesc *arg, var v);

/** 1 when code in pre_run names the variable. */
int ln_opgen_names_in_pre(const generator *g, const ln_argdesc *arg, var v);

/** 1 when `priv` must keep the variable for a later function. */
int ln_opgen_is_kept(const generator *g, const ln_argdesc *arg, var v);

/** 1 for a string field with that text. */
int ln_opgen_field_is(const ln_rjson *field, const char *text);

/** 1 when pre_run needs the variable `x` of argument x. */
int ln_opgen_has_value_in_pre(const generator *g, const ln_argdesc *arg);

/** 1 for an output whose lengths are an expression. */
int ln_opgen_is_sized(const ln_argdesc *arg);

/** 1 for a tensor with a memory type of its own, which is not that of the operator. */
int ln_opgen_has_own_mtype(const generator *g, const ln_argdesc *arg);

/** The memory type of a tensor, as C: `op_arg->mtype` if it differs among the users of pre_run. */
const char *ln_opgen_mtype(const generator *g, const ln_argdesc *arg);

/** 1 for a field of an input or parameter that is in a table, and checked by ln_op_begin. */
int ln_opgen_is_listed(const ln_argdesc *arg, ln_argdesc_field field);

/** 1 for an argument whose tensor or value ln_op_begin stores in `priv`, if that has a member. */
int ln_opgen_is_stored(const ln_argdesc *arg);

/** 1 when `priv` has a member for the variable. */
int ln_opgen_is_member(const generator *g, const ln_argdesc *arg, var v);

/** 1 for a string, and an array of strings. */
int ln_opgen_is_string(const ln_argdesc *arg);

/** 1 for an array of strings that from_func converts: `priv` owns the values. */
int ln_opgen_is_converted_array(const ln_argdesc *arg);

/** 1 if the operator has its own post_run: code, or arrays to free. */
int ln_opgen_has_post_run(const ln_opdesc *op);

/** 1 when the operator has a private structure. */
int ln_opgen_has_priv(const generator *g);

/** The C type of an input or a parameter as a variable of pre_run, to be followed by a name. */
void ln_opgen_local_type(const ln_argdesc *arg, char *buf, size_t size);

/** The C type of a variable that `priv` keeps, to be followed by a name. */
void ln_opgen_kept_type(const ln_argdesc *arg, var v, char *buf, size_t size);

/** Declarations under construction, grouped by type. All zero: none. */
typedef struct declarations {
    struct {
        const char *type; // up to its first '*'
        const char *line;
    } * of;
    size_t n;
} declarations;

/** Adds `NAME SUFFIX VALUE` with a type of ln_opgen_kept_type. */
void ln_opgen_declare(const generator *g, declarations *d, const char *type, const char *name,
                      const char *suffix, const char *value);

/** Appends the declarations. */
void ln_opgen_write_declarations(const generator *g, const declarations *d);

/** 1 for C without possible errors: a name of an argument, or a member of a tensor. */
int ln_opgen_is_plain(const generator *g, const ln_rjson *node);

/** A line that holds the expression of `node`; with a #line directive if the expression can have
 * errors. NULL: a line of the generator's own. */
void ln_opgen_write_line(const generator *g, int indent, const ln_rjson *node, const char *fmt, ...)
    LN_PRINTF(4, 5);

/** Declares the variables of a variadic argument that code in pre_run names. */
void ln_opgen_write_variadic_locals(const generator *g, const ln_argdesc *arg);

// pre_run: the function that declares and checks the arguments and infers the outputs.

/** Fills `steps`. */
void ln_opgen_collect_steps(generator *g);

/** Writes the function. -1 with a reason: a cycle of arguments whose declarations depend on each
 * other. */
int ln_opgen_write_pre_run(generator *g, ln_error *err);

/** Writes the end of pre_run: scratch memory, custom code, data for reports. */
void ln_opgen_write_last(const generator *g);

// An argument's declaration, with the checks of its fields.

void ln_opgen_write_input(const generator *g, const ln_argdesc *arg);
void ln_opgen_write_output(const generator *g, const ln_argdesc *arg);
void ln_opgen_write_param(const generator *g, const ln_argdesc *arg);

/** The function that returns the `i`th valid name of a parameter; none without "name_func". */
void ln_opgen_write_name_func(const generator *g, const ln_argdesc *arg);

// The tables of an operator.

/** Writes the type of an argument to `buf`, for people: "4-D FLT", "array_number -> int [2]". */
void ln_opgen_arg_type(const ln_argdesc *arg, char *buf, size_t size);

/** Writes TYPE_docs, the documentation of an operator and its arguments. */
void ln_opgen_write_docs(const generator *g);

/** Writes the tables of the arguments and the information. -1 with a reason: in an expression. */
int ln_opgen_write_tables(const generator *g, ln_error *err);

/** Writes the code of an expression (`is_list`: of a list of axes), up to its end, as a line of a
 * table. Adds the words that it needs. -1 with a reason. */
/** The replacements of the operator's meanings, a line for each operator, as "or" between two;
 * NULL: it has none. */
const char *ln_opgen_meaning(const generator *g);

/** Writes the operator's meanings, and adds their field to the tables. -1 with a reason. */
int ln_opgen_write_means(const generator *g, const char **tables, ln_error *err);
int ln_opgen_write_sizes(const generator *g, const ln_rjson *node, int is_list, word_list *words,
                         ln_error *err);

/** Writes ln_opimpl_OPTYPE, the prototype that names the tables and the functions. */
void ln_opgen_write_prototype(const generator *g);
