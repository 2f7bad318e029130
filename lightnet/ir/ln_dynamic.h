// SPDX-License-Identifier: Apache-2.0
// Tensors whose sizes are known only at run time: see "Sizes known at run time" in
// docs/dev/design.md.

#pragma once

#include "lightnet/ln_op.h"

/** Determines whether the operator has dynamic inputs or outputs. Before its pre_run. -1 after
 * ln_op_fail: no memory. */
int ln_dynamic_begin(ln_op *op);

/** Checks the inputs that set parameters. After its pre_run. -1 after ln_op_fail: a parameter that
 * is missing or not a number, a type that is not TL_INT64 or TL_INT32, another number of
 * elements. */
int ln_dynamic_check(ln_op *op);

/** The opposite of ln_dynamic_begin. */
void ln_dynamic_end(ln_op *op);

// For running them (run/ln_load.h)

/** Numbers that hold the shape of one input in op_arg->shapes: ndim, then the dimensions. */
enum { LN_SHAPE_LEN = 1 + LN_MAXDIM, LN_NO_SHAPE = -1 };

/** Records the shape of an input there. */
void ln_dynamic_note_shape(int *shape, const tl_tensor *tensor);

/** Infers the outputs' shapes from the current shapes of the inputs. Scratch memory keeps its
 * planned size, for the max shapes: kernels work with less, or fail. -1 after ln_op_fail. */
int ln_dynamic_infer(ln_op *op);

/** The next run infers the operator's shapes again. */
void ln_dynamic_forget_shapes(ln_op_arg *op_arg);

/** The name of the parameter that input `tle` sets; NULL: none. Returns borrowed. */
const char *ln_dynamic_param(const ln_op_arg *op_arg, const ln_tensor_list_entry *tle);

/** Whether input `arg_name`, which is tensor `te`, can set `param` (NULL: missing): as
 * ln_dynamic_check. */
int ln_dynamic_check_setter(ln_op_arg *op_arg, const char *arg_name, const ln_tensor_entry *te,
                            const ln_param_entry *param);
