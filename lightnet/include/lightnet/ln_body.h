// SPDX-License-Identifier: Apache-2.0
// Bodies: programs that an operator of another program runs, such as the two of `branch`.
//
// A body is a context of its own with a name, which the operator has as a parameter. It is given
// its inputs, tensors of the operator, where they lie, and has no constants: what it needs comes
// from outside. It is compiled before its operator, and its planned memory is the operator's
// scratch memory. All bodies of a model belong to the outermost context, in an order in which each
// may run those before it alone.
//
//     ln_context *body = ln_body_find(op_arg, "then");
//     ln_body_check_input(op_arg, body, 0, src->ndim, src->dims, src->dtype);
//     ...
//     const void *given[] = {src->data};
//     if (ln_body_run(op_arg, body, exec.scratch, given))
//         return;
//     const tl_tensor *result = ln_body_output(body, 0);

#ifndef LN_BODY_H
#define LN_BODY_H

#include <stddef.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_op.h"
#include "tensorlight/tl_tensor.h"

LN_BEGIN_DECLS

/** Returns borrowed (until the outermost context of `ctx` is cleaned up): a new, empty body, which
 * operators that come later may run. NULL with the reason in the context: the name is taken, or
 * there is no memory. */
LN_API ln_context *ln_body_create(ln_context *ctx, const char *name);

/** The body's name. Returns borrowed. */
LN_API const char *ln_body_name(const ln_context *body);

/** The body that the operator names. NULL after ln_op_fail: there is none of that name before the
 * operator's own. Returns borrowed. */
LN_API ln_context *ln_body_find(ln_op_arg *op_arg, const char *name);

/** How many inputs and outputs it has. */
LN_API int ln_body_num_inputs(const ln_context *body);
LN_API int ln_body_num_outputs(const ln_context *body);

/** Input or output `i`, one that is there: its type and shape, and after a run its data. Returns
 * borrowed. */
LN_API const tl_tensor *ln_body_input(const ln_context *body, int i);
LN_API const tl_tensor *ln_body_output(const ln_context *body, int i);

/** Output `i` of the body that the operator names. NULL after ln_op_fail: there is no such one.
 * Returns borrowed. */
LN_API const tl_tensor *ln_body_find_output(ln_op_arg *op_arg, const char *name, int i);

/** -1 after ln_op_fail unless the body has as many inputs and outputs. */
LN_API int ln_body_check_numbers(ln_op_arg *op_arg, const ln_context *body, int n_inputs,
                                 int n_outputs);

/** -1 after ln_op_fail unless input `i`, one that is there, has this shape and type, and the body
 * does not write it. */
LN_API int ln_body_check_input(ln_op_arg *op_arg, const ln_context *body, int i, int ndim,
                               const int *dims, tl_dtype dtype);

/** As ln_body_check_input, for `n` inputs from number `first`: they are as these tensors. */
LN_API int ln_body_check_inputs(ln_op_arg *op_arg, const ln_context *body, int first, int n,
                                const tl_tensor *const *tensors);

/** As ln_body_check_input, for output `i`, whose size is known when compiling. */
LN_API int ln_body_check_output(ln_op_arg *op_arg, const ln_context *body, int i, int ndim,
                                const int *dims, tl_dtype dtype);

/** As ln_body_check_output, where each dimension may be smaller, be it at run time only. */
LN_API int ln_body_check_bound(ln_op_arg *op_arg, const ln_context *body, int i, int ndim,
                               const int *dims, tl_dtype dtype);

/** The number of the input whose memory output `i` lies in; -1: it is computed. */
LN_API int ln_body_output_source(const ln_context *body, int i);

/** Bytes of memory that a run needs; 0 before the body is compiled. */
LN_API size_t ln_body_memory(const ln_context *body);

/** Multiply-accumulates of a run, as far as its operators tell. */
LN_API double ln_body_macs(const ln_context *body);

/** Prepares the body, when its operator is loaded. -1 after ln_op_fail: its plan is not sound, it
 * holds constants, or there is no memory. */
LN_API int ln_body_prepare(ln_op_arg *op_arg, ln_context *body);

/** Runs a prepared body in `memory`, of ln_body_memory() bytes and aligned as scratch memory is;
 * `given`: where its inputs lie, in order. Allocates nothing. Its outputs stay until the memory is
 * used for something else. -1 after ln_op_fail: an operator in it failed. */
LN_API int ln_body_run(ln_op_arg *op_arg, ln_context *body, void *memory, const void *const *given);

LN_END_DECLS

#endif
