// SPDX-License-Identifier: Apache-2.0
// Functions for the pre_run of generated operators: checks and defaults
// of their tables, enumerations of parameters, variadic tensors.
//
//     if (ln_op_begin(op_arg, sizeof(struct conv2d_priv)))
//         return;

#ifndef LN_GENOP_H
#define LN_GENOP_H

#include "lightnet/ln_api.h"
#include "lightnet/ln_list.h"
#include "lightnet/ln_op.h"
#include "lightnet/ln_size.h"
#include "lightnet/ln_tensor.h"
#include "lightnet/ln_util.h"

LN_BEGIN_DECLS

/** Begins a pre_run with the tables of the description: checks that the arguments are
 * the declared ones (ln_op_check_args), allocates `priv` of `size` zero bytes (none
 * for 0), adds defaults, checks each parameter and each input but variadic ones, and
 * stores the tensors and values in `priv`. When shapes are inferred again (op_arg->infers), it
 * checks only what may have changed: inputs, and parameters if inputs set some. Returns 0, or -1
 * after ln_op_fail. */
LN_API int ln_op_begin(ln_op_arg *op_arg, size_t size);

/** Ends a post_run: removes the operator's outputs, frees `priv`. */
LN_API void ln_op_end(ln_op_arg *op_arg);

/** LN_MEMBER of the private structure of operators TYPE. */
#define LN_PRIV(TYPE, member) LN_MEMBER(struct TYPE##_priv, member)

/** The bounds of a parameter. */
#define LN_BOUNDS(...)                   \
    (const ln_bound[])                   \
    {                                    \
        __VA_ARGS__,                     \
        {                                \
            LN_BOUND_NONE, LN_OPCK_EQ, 0 \
        }                                \
    }

/** The default of a parameter: numbers or bools, or strings. */
#define LN_NUMBERS(...)                       \
    .numbers = (const double[]){__VA_ARGS__}, \
    .n_default = sizeof((const double[]){__VA_ARGS__}) / sizeof(double)
#define LN_STRINGS(...)                            \
    .strings = (const char *const[]){__VA_ARGS__}, \
    .n_default = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

/** Defines TYPE_info, the facts of a description about operators TYPE, with `n_names` names of
 * arguments and ends of their lists; then come the other fields. */
#define LN_OP_INFO(TYPE, n_names, ...)            \
    static const char *TYPE##_arg_names[n_names]; \
    static const ln_op_info TYPE##_info = {       \
        .arg_names = TYPE##_arg_names, .param_ptypes = TYPE##_param_ptypes, __VA_ARGS__}

/** The parts in which prototypes differ. Prototypes are built from it before main: most of their
 * fields are zero, and need no space in a file then. */
typedef struct ln_genop {
    ln_op_arg *op_arg;
    const ln_op_info *info;
    char *optype, *arch;
    ln_mem_type mtype;
} ln_genop;

static inline const char **ln_genop_fill_names(const char **names, const ln_arg_info *infos)
{
    for (const ln_arg_info *info = infos; info; info = ln_arg_info_next(info))
        *names++ = info->arg_name;
    return names + 1; // NULL is there
}

/** Fills `row->op_arg`. Inline: a plug-in that was built for another ABI fills its own structs. */
static inline void ln_genop_fill(const ln_genop *row)
{
    ln_op_arg *const op_arg = row->op_arg;
    const ln_op_info *const info = row->info;
    op_arg->optype = row->optype;
    op_arg->arch = row->arch;
    op_arg->in_arg_names = info->arg_names;
    op_arg->out_arg_names = ln_genop_fill_names(op_arg->in_arg_names, info->tensors_in);
    op_arg->param_arg_names = ln_genop_fill_names(op_arg->out_arg_names, info->tensors_out);
    ln_genop_fill_names(op_arg->param_arg_names, info->params);
    op_arg->param_ptypes = info->param_ptypes;
    op_arg->info = info;
    op_arg->mtype = row->mtype;
}

/** ln_genop_fill once for all of LightNet's own operators; not in a plug-in. */
#ifdef LN_GENOP_OWN
void ln_genop_fill_own(const ln_genop *row);
#define LN_GENOP_FILL ln_genop_fill_own
#else
#define LN_GENOP_FILL ln_genop_fill
#endif

/** Defines ln_opimpl_TYPE, the prototype of an operator of an architecture with the tables of BASE;
 * then come its functions, pre_run first. Other constructors run later, and can use it. */
#define LN_GENOP(BASE, TYPE, architecture, memory, checks, ...)                                  \
    static ln_op_arg TYPE##_op_arg;                                                              \
    __attribute__((__constructor__(101))) static void TYPE##_fill(void)                          \
    {                                                                                            \
        static const ln_genop row = {&TYPE##_op_arg, &BASE##_info, #TYPE, architecture, memory}; \
        LN_GENOP_FILL(&row);                                                                     \
    }                                                                                            \
    ln_op ln_opimpl_##TYPE = {.op_arg = &TYPE##_op_arg, .pre_run = checks, __VA_ARGS__}

/** ln_op_fail for a string parameter with a `value` (NULL: none) that is not a name of its
 * enumeration: lists it, and the names that `name_at` returns for 0, 1, ... until NULL. `name_at`
 * NULL: unknown. Returns -1. */
LN_API int ln_op_fail_name(ln_op_arg *op_arg, const char *arg_name, const char *value,
                           const char *(*name_at)(int i));

// A variadic tensor `src` comprises all tensors whose arg_name is "src" and a number, in list
// order.

/** Finds the variadic inputs `arg_name`: `*entries` and `*tensors` are new
 * arrays (ln_free); returns their length. -1 after ln_op_fail: an input is
 * not defined, no memory; the arrays are then NULL or must be freed. */
LN_API int ln_op_find_variadic(ln_op_arg *op_arg, const char *arg_name, ln_tensor_entry ***entries,
                               const tl_tensor ***tensors);

/** Allocates arrays for the variadic outputs `arg_name`, whose entries
 * and tensors the caller defines; otherwise as ln_op_find_variadic. */
LN_API int ln_op_alloc_variadic(ln_op_arg *op_arg, const char *arg_name, ln_tensor_entry ***entries,
                                tl_tensor ***tensors);

/** Defines the next of the variadic outputs `arg_name` as ln_op_define_output does: the first one
 * from the list node `*at` on, which is op_arg->tensors_out to begin with and then the node after
 * it. */
LN_API ln_tensor_entry *ln_op_define_variadic(ln_op_arg *op_arg, const ln_list **at,
                                              const char *arg_name, int ndim, const int *dims,
                                              tl_dtype dtype, ln_mem_type mtype);

/** As ln_op_define_output and ln_op_define_variadic, with the lengths of the description;
 * `index`: of the variadic one. `kernel_dims`: those that the kernel expects, to compare with; or
 * NULL. */
LN_API ln_tensor_entry *ln_op_define_sized(ln_op_arg *op_arg, const char *arg_name, tl_dtype dtype,
                                           ln_mem_type mtype, const int *kernel_dims);
LN_API ln_tensor_entry *ln_op_define_variadic_sized(ln_op_arg *op_arg, const ln_list **at,
                                                    const char *arg_name, int index, tl_dtype dtype,
                                                    ln_mem_type mtype, const int *kernel_dims);

// An operator that joins its inputs need not copy them
// if their producers write straight into its output:

/** Makes the inputs entries[0 .. n-1] parts of output `dst_name`.
 * Returns their number: fewer than n after ln_op_fail, if one
 * occurs twice, is static, or shares another tensor's memory. */
LN_API int ln_op_take_inputs(ln_op_arg *op_arg, ln_tensor_entry *const *entries, int n,
                             const char *dst_name);

/** Separates the first n of the variadic inputs `arg_name`
 * from an output again, if they are still parts of one. */
LN_API void ln_op_give_inputs_back(const ln_op_arg *op_arg, const char *arg_name, int n);

/** The offset of `te`, which ln_op_take_inputs has made
 * part of an output, if the output begins at `offset`. */
LN_API size_t ln_op_taken_offset(const ln_tensor_entry *te, size_t offset);

LN_END_DECLS

#endif
