// SPDX-License-Identifier: Apache-2.0
// Bodies: subgraphs that an operator runs, such as the two of `branch` (ONNX If).
//
// A body is a named context; the operator has its name as a parameter. Its
// inputs are tensors of the operator, used without copies, and it owns no
// constants. It is compiled before its operator, and its planned
// memory is the operator's scratch memory. All bodies of a model belong to
// the outermost context, ordered so that each can run earlier ones only.
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

/** Creates an empty body, which later operators may run. Returns borrowed (until the outermost
 * context of `ctx` is cleaned up); NULL with the reason in the context: the name exists, no
 * memory. */
LN_API ln_context *ln_body_create(ln_context *ctx, const char *name);

/** The body's name. Returns borrowed. */
LN_API const char *ln_body_name(const ln_context *body);

/** The body of that name. NULL after ln_op_fail: no earlier body has it. Returns borrowed. */
LN_API ln_context *ln_body_find(ln_op_arg *op_arg, const char *name);

/** The number of inputs and outputs. */
LN_API int ln_body_num_inputs(const ln_context *body);
LN_API int ln_body_num_outputs(const ln_context *body);

/** Output `i`, which must exist: its type and shape, and after a run its data. Returns borrowed. */
LN_API const tl_tensor *ln_body_output(const ln_context *body, int i);

/** Output `i` of the named body. NULL after ln_op_fail:
 * no such body or output. Returns borrowed. */
LN_API const tl_tensor *ln_body_find_output(ln_op_arg *op_arg, const char *name, int i);

/** -1 after ln_op_fail unless the body has these numbers of inputs and outputs. */
LN_API int ln_body_check_numbers(ln_op_arg *op_arg, const ln_context *body, int n_inputs,
                                 int n_outputs);

/** -1 after ln_op_fail unless input `i`, which must exist,
 * has this shape and type, and the body does not write it. */
LN_API int ln_body_check_input(ln_op_arg *op_arg, const ln_context *body, int i, int ndim,
                               const int *dims, tl_dtype dtype);

/** As ln_body_check_input, for `n` inputs from number `first`, against these tensors. */
LN_API int ln_body_check_inputs(ln_op_arg *op_arg, const ln_context *body, int first, int n,
                                const tl_tensor *const *tensors);

/** As ln_body_check_input, for output `i`, whose size is known at compile time. */
LN_API int ln_body_check_output(ln_op_arg *op_arg, const ln_context *body, int i, int ndim,
                                const int *dims, tl_dtype dtype);

/** As ln_body_check_output, but each dimension may be smaller, also at run time only. */
LN_API int ln_body_check_bound(ln_op_arg *op_arg, const ln_context *body, int i, int ndim,
                               const int *dims, tl_dtype dtype);

/** The number of the input that output `i` shares memory with; -1: it is computed. */
LN_API int ln_body_output_source(const ln_context *body, int i);

/** Bytes of memory that a run needs; 0 before the body is compiled. */
LN_API size_t ln_body_memory(const ln_context *body);

/** Multiply-accumulates of a run, as far as its operators report them. */
LN_API double ln_body_macs(const ln_context *body);

/** Prepares the body at load. -1 after ln_op_fail: an invalid plan, constants, no memory. */
LN_API int ln_body_prepare(ln_op_arg *op_arg, ln_context *body);

/** Runs a prepared body in `memory` of ln_body_memory() bytes, aligned like scratch memory;
 * `given`: the addresses of its inputs, in order. Allocates nothing. Outputs are valid
 * until the memory is reused. -1 after ln_op_fail: an operator of the body failed. */
LN_API int ln_body_run(ln_op_arg *op_arg, ln_context *body, void *memory, const void *const *given);

LN_END_DECLS

#endif
