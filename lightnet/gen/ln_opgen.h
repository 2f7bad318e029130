// SPDX-License-Identifier: Apache-2.0
// The outputs of ln-opgen: C, lists, tests, a page.

#pragma once

#include "gen/ln_cgen.h"
#include "gen/ln_opdesc.h"

/** Writes the definitions of all own operators (those with "autogen" false left out) as one C file,
 * with their documentation if `has_docs`. -1 with a reason: a cycle of arguments whose declarations
 * depend on each other, no memory. */
int ln_opgen_c(ln_cgen *out, const ln_opdescs *descs, int has_docs, ln_error *err);

/** Writes a header with `op_docs`, the documentation of those operators by `optype`, in order. */
void ln_opgen_doc_table(ln_cgen *out, const ln_opdescs *descs);

/** Writes a header with `ops_ARCH`, the NULL-terminated array of those operators of architecture
 * `arch`, in order. */
void ln_opgen_list(ln_cgen *out, const ln_opdescs *descs, const char *arch);

/** A header with the types of the generated operators as constants: LN_OP_CONV2D is "conv2d". */
void ln_opgen_types(ln_cgen *out, const ln_opdescs *descs);

/** Writes a header with `forms`, the operators in ONNX (field "onnx"; front/ln_form.h), and for
 * each domain a list of rows, LN_FORMS(ROW). -1 with a reason: an error in a form. */
int ln_opgen_forms(ln_cgen *out, const ln_opdescs *descs, ln_error *err);

/** The first own operator's file name and those of the others, once each: "conv.op, pool.op", for
 * the first line of generated files. */
void ln_opgen_print_sources(ln_cgen *out, const ln_opdescs *descs);

/** Writes a C program that runs the examples of all own operators; see tests/support/ln_example.h.
 * -1 with a reason: an error in an example. */
int ln_opgen_tests(ln_cgen *out, const ln_opdescs *descs, ln_error *err);

/** Writes a section with the arguments of each own operator, in order. */
void ln_opgen_docs(ln_cgen *out, const ln_opdescs *descs);
