// SPDX-License-Identifier: Apache-2.0
// Operators: what they are, how they live, and what their descriptions say of them.
//
// An operator is a prototype's functions applied to named tensors and parameters:
//
//     init --pre_run--> checked --static_run--> ready --run--> ready --post_run--> end
//
// `pre_run` checks everything and registers the outputs in the tensor table; `static_run` prepares
// what never changes; `run` computes, as often as wanted; `post_run` undoes what `pre_run` left. An
// operator fails by ln_op_fail(), never by leaving the process.

#ifndef LN_OP_H
#define LN_OP_H

#include <stdarg.h>
#include <stddef.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_list.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_tensor.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_exec.h"

LN_BEGIN_DECLS

struct ln_context;

/** What a description says of one argument: an input, an output or a parameter. */
typedef struct ln_arg_info {
    const char *arg_name; /* NULL ends an array of these */
    const char *doc;      /* one line */
    const char *type; /* tensors: "4-D FLT" and the like, parameters: "array_number -> int [2]"; for
                         people */
    const char *deflt;          /* parameters: the default as JSON text; NULL: required */
    int optional;               /* tensors: may be absent */
    int variadic;               /* tensors: every argument whose name is arg_name and a number */
    const char *const *inplace; /* outputs: NULL-terminated names of inputs whose memory it may take
                                   over; or NULL */
    const char *owner;          /* outputs: the input whose memory it shares, or NULL */
} ln_arg_info;

/** What a description says of an operator; constant, shared by all operators of the type. */
typedef struct ln_op_info {
    const char *doc;    /* one line or more */
    const char *author; /* of the description */
    const char *source; /* the description file's name */
    int pure;           /* no effect but its outputs: may be merged, removed, or run once at load */
    int inplace_writer; /* `run` writes the memory of an input through an output that has it as
                           owner */
    const ln_arg_info *tensors_in;
    const ln_arg_info *tensors_out;
    const ln_arg_info *params;
} ln_op_info;

typedef struct ln_op_arg {
    char *name;                /* operator name */
    char *optype;              /* operator type */
    char *arch;                /* backend architecture to run on */
    ln_list *tensors_in;       /* input tensors */
    ln_list *tensors_out;      /* output tensors */
    ln_list *params;           /* parameters */
    ln_hash *tensor_table;     /* tensor table of the context */
    void *priv;                /* for other private data storage */
    const char **in_arg_names; /* NULL terminated array, as belows */
    const char **out_arg_names;
    const char **param_arg_names;
    const ln_param_type *param_ptypes;

    /* Beyond the documented fields. */
    struct ln_context *ctx; /* the context that the operator belongs to; NULL outside of one */
    const ln_op_info *info; /* what its description says; NULL: hand-written, taken as impure */
    ln_list *node;          /* its node in ctx->ops, kept by the context */
    int failed;             /* set by ln_op_fail */
    int at_load;            /* runs when the context is loaded, not per inference */
    size_t scratch_size;    /* bytes of scratch memory that `run` needs; set by `pre_run` */
    size_t scratch_offset;  /* where the planner put it */
    const char *rule;       /* the rewrite that made it (a constant string), or NULL */
} ln_op_arg;

typedef void (*ln_op_func)(ln_op_arg *op_arg);
typedef size_t (*ln_op_offset_func)(ln_op_arg *op_arg, ln_tensor_entry *te);

typedef struct ln_op {
    ln_op_arg *op_arg;
    ln_op_func pre_run;
    ln_op_func static_run;
    ln_op_func run;
    ln_op_func post_run;
    ln_op_offset_func calc_offset; /* the offset of output (or no-copy input) `te` in its memory,
                                      the owner's offset being known */
} ln_op;

LN_END_DECLS

#endif
