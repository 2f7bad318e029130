// SPDX-License-Identifier: Apache-2.0
// Operators: their structs, life cycle, and the facts of their descriptions.
//
// An operator is a prototype's functions applied to named tensors and parameters:
//
//     init --pre_run--> checked --static_run--> ready --run--> ready --post_run--> end
//
// `pre_run` checks everything and registers the outputs in the tensor table;
// `static_run` prepares constant data; `run` computes, any number of times;
// `post_run` undoes `pre_run`. An operator fails by ln_op_fail(), and never exits.

#ifndef LN_OP_H
#define LN_OP_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_list.h"
#include "lightnet/ln_mem.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_tensor.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_type.h"

LN_BEGIN_DECLS

struct ln_context;

typedef enum ln_opck_cmp {
    LN_OPCK_EQ,
    LN_OPCK_GT,
    LN_OPCK_GE,
    LN_OPCK_LT,
    LN_OPCK_LE,
    LN_OPCK_NE
} ln_opck_cmp;

/** The compared view of a number; the int view also fails for values that no int holds. */
typedef enum ln_opck_view { LN_OPCK_INT, LN_OPCK_FLOAT, LN_OPCK_DOUBLE } ln_opck_view;

/** A comparison of a number, each number of an array, or an array's length with `value`. */
typedef struct ln_bound {
    enum { LN_BOUND_NONE, LN_BOUND_VALUE, LN_BOUND_LENGTH } what; // LN_BOUND_NONE ends an array
    ln_opck_cmp cmp;
    double value;
} ln_bound;

#define LN_LENGTH(how, value)                 \
    {                                         \
        LN_BOUND_LENGTH, LN_OPCK_##how, value \
    }
#define LN_VALUE(how, value)                 \
    {                                        \
        LN_BOUND_VALUE, LN_OPCK_##how, value \
    }

/** Sets of data types: a bit for each tl_dtype. */
#define LN_DTYPE_BIT(dtype) (1u << (dtype))
#define LN_DTYPES_FLOAT                                                            \
    (LN_DTYPE_BIT(TL_DOUBLE) | LN_DTYPE_BIT(TL_FLOAT) | LN_DTYPE_BIT(TL_FLOAT16) | \
     LN_DTYPE_BIT(TL_BFLOAT16))
#define LN_DTYPES_COMPUTED (LN_DTYPE_BIT(TL_DTYPE_COMPUTED_SIZE) - 1)
#define LN_DTYPES_NUMBER   (LN_DTYPES_COMPUTED & ~LN_DTYPE_BIT(TL_BOOL))
#define LN_DTYPES_TEXT     (LN_DTYPES_COMPUTED | LN_DTYPE_BIT(TL_STRING))
#define LN_DTYPES_ANY      (LN_DTYPE_BIT(TL_DTYPE_SIZE) - 1)

/** The description of one argument: an input, an output or a parameter. */
typedef struct ln_arg_info {
    const char *arg_name;

    // Narrow, since there are some 1,300 of these. Fields of inputs, of outputs
    // and of parameters share memory: read only those of the argument's kind.
    union {
        const char *same_type;  // inputs: the input whose data type it must have, or NULL
        const char *owner;      // outputs: the input that it is a view of, or NULL
        const ln_bound *bounds; // parameters: until LN_BOUND_NONE; or NULL
    };
    union {
        const char *same_shape;     // inputs: the input whose shape it must have, or NULL
        const char *sets;           // inputs with `is_setter`: the parameter that it sets in
                                    // each run; the model's value is the max
        const char *const *inplace; // outputs: NULL-terminated names of inputs whose memory it
                                    // may reuse, element by element; or NULL
        const double *numbers;      // parameters: the default of numbers and bools; NULL: none, or
                                    // empty
        const char *const *strings; // parameters: the default of strings; NULL: none, or empty
    };
    union {
        uint32_t dtypes;   // inputs: the allowed data types; 0: any
        int32_t n_default; // parameters: how many elements `numbers` or `strings` has
    };
    uint16_t at; // LN_MEMBER of the private structure for its tensor or value; 0: none
    union {
        uint8_t ndim;   // inputs: the number of dimensions; 0: any
        int8_t dynamic; // outputs: 1: `run` sets its shape; -1: its shape depends
                        // on no input; 0: on the inputs' shapes
        uint8_t view;   // parameters: the ln_opck_view of a number
    };
    uint8_t isstatic : 1;    // inputs: its memory must never be reused
    uint8_t anywhere : 1;    // inputs: any memory type, not only that of the operator's target
    uint8_t is_setter : 1;   // inputs: it has `sets`, not `same_shape`
    uint8_t optional : 1;    // tensors: may be absent
    uint8_t variadic : 1;    // tensors: every argument whose name is arg_name and a number
    uint8_t has_default : 1; // parameters: may be absent, and then is the default
    uint8_t islast : 1;      // the last of its table
} ln_arg_info;

/** The row after `info` in its table, or NULL. */
static inline const ln_arg_info *ln_arg_info_next(const ln_arg_info *info)
{
    return info->islast ? NULL : info + 1;
}

/** The offset of a member in a private structure plus 1, so the first is not 0. */
#define LN_MEMBER(type, member) (offsetof(type, member) + 1)

/** The documentation of one argument. */
typedef struct ln_arg_docs {
    const char *doc;   // one line
    const char *type;  // tensors: "4-D FLT" and the like, parameters: "array_number -> int [2]"
    const char *deflt; // parameters: the default as JSON text; NULL: required
} ln_arg_docs;

/** The documentation of an operator, for people. */
typedef struct ln_op_docs {
    const char *doc;         // one line or more
    const char *author;      // of the description
    const char *source;      // the description file's name
    const ln_arg_docs *args; // of its inputs, outputs and parameters, in the order of ln_op_info;
                             // NULL: it has none
    const char *means;       // the operator in terms of others, a line for each; NULL: none
} ln_op_docs;

/** The description of an operator; constant, shared by all operators of the type. */
typedef struct ln_op_info {
    const ln_op_docs *docs; // NULL for LightNet's own operators: `lightnet ops` has theirs

    // Tables, each up to a row with `islast`; NULL: none.
    const ln_arg_info *tensors_in;
    const ln_arg_info *tensors_out;
    const ln_arg_info *params;

    // Code of each output in order, each up to LN_SIZE_END; `arg` 1: no expression for this output.
    // NULL: none.
    const struct ln_size_code *sizes;  // the lengths of their axes
    const struct ln_size_code *values; // elements that are computed from lengths
    const char *const *words;          // that the code compares parameters with; or NULL

    // Of generated operators, for their prototypes.
    const char **arg_names; // space for the names in the three tables, with NULL after each
    const ln_param_type *param_ptypes;

    uint8_t pure;           // no side effect: may be merged, removed, or run once at load
    uint8_t inplace_writer; // `run` writes an input's memory through
                            // an output that has it as owner
    uint8_t strings;        // inputs and outputs may be TL_STRING; others must not
    uint8_t writes;         // what it writes beside its tensors, LN_WRITES_*; a model with such
                            // an operator is rejected unless ln_context_allow_output allows it
    uint8_t traits;         // bits: LN_TRAIT_*
    uint8_t kind;           // ln_kind

    const struct ln_rule *const *means; // rules that replace it by simpler operators, up to NULL;
                                        // NULL: none
} ln_op_info;

/** Bits of ln_op_info.traits: how elements of the outputs depend on those of the inputs. */
enum {
    LN_TRAIT_MOVES = 1,       // they are elements of inputs, by position: no value is read
    LN_TRAIT_SELECTS = 2,     // they are elements of an input, by value
    LN_TRAIT_ELEMENTWISE = 4, // each is a function of one element of each input, after broadcasting
    LN_TRAIT_ALIAS = 8, // it is another operator; compiling begins by replacing it by its meaning
    LN_TRAIT_UNPACKS = 16, // bytes of the first input hold elements of parameter `bits` bits
};

/** What an operator computes, roughly: the colors of diagrams and reports. */
typedef enum ln_kind {
    LN_KIND_OTHER,
    LN_KIND_CONVOLUTION,
    LN_KIND_PRODUCT,       // of matrices or vectors
    LN_KIND_ATTENTION,     // also recurrence
    LN_KIND_NORMALIZATION, // also softmax
    LN_KIND_REDUCTION,     // also pooling, sorting and resampling
    LN_KIND_ELEMENTWISE,
    LN_KIND_MOVEMENT, // of data
    LN_KIND_QUANTIZATION,
    LN_N_KINDS
} ln_kind;

/** The word of descriptions, such as "convolution"; "other" for values that are no ln_kind. Returns
 * a constant string. */
LN_API const char *ln_kind_name(ln_kind kind);

/** Values of ln_op_info.writes; 0: nothing. */
enum {
    LN_WRITES_STDOUT = 1, // standard output
    LN_WRITES_FILES = 2,  // files, which `run` opens with ln_op_open_output
};

/** Bits of op_arg->isdynamic. */
enum {
    LN_DYNAMIC_IN = 1,  // an input is dynamic or sets a parameter:
                        // each run infers the shapes again
    LN_DYNAMIC_OUT = 2, // `run` sets the shape of an output
};

typedef struct ln_origin ln_origin; // the nodes of the model that an operator computes

typedef struct ln_op_arg {
    char *name;                // operator name
    char *optype;              // operator type
    char *arch;                // backend architecture to run on
    ln_list *tensors_in;       // input tensors
    ln_list *tensors_out;      // output tensors
    ln_list *params;           // parameters
    ln_hash *tensor_table;     // tensor table of the context
    void *priv;                // for other private data storage
    const char **in_arg_names; // NULL terminated array, as belows
    const char **out_arg_names;
    const char **param_arg_names;
    const ln_param_type *param_ptypes;

    // Beyond the documented fields, last those that each walk over
    // the operators reads: they are adjacent to the ln_op.
    struct ln_graph_node *graph_node; // its node in the graph of that context, or NULL
    size_t scratch_offset;            // the planned offset of the scratch memory
    double macs;            // multiply-accumulates of a run, for statistics; set by `pre_run`
    const char *algorithm;  // algorithm of `run` (a constant string), or NULL; set by `pre_run`
    const char *layout;     // the layout of its tensors (a constant
                            // string), or NULL: plain; set by `pre_run`
    const char *rule;       // the rewrite that made it (a constant string), or NULL
    ln_origin *origin;      // the nodes of the model that it computes (ln_op_node); or NULL
    ln_list *planned;       // the model's parameters, if `params` are those of a run; or NULL
    int *shapes;            // of the inputs in the last inference of shapes; or NULL
    struct ln_context *ctx; // the context that the operator belongs to; NULL outside of one
    ln_list *node;          // its node in ctx->ops, kept by the context
    ln_list *before;        // the node before it; NULL: it is the first
    size_t scratch_size;    // bytes of scratch memory that `run` needs; set by `pre_run`
    size_t number;          // its number among all that ln_context_check has visited
    ln_mem_type mtype;      // the memory type of the operator's target;
                            // LN_MEM_NONE: it is abstract, or has its own checks
    int infers;             // pre_run and post_run are called to infer shapes again
    int entered;            // it is in the tables of that context
    int failed;             // set by ln_op_fail
    int isneeded;           // within a clean-up: its results are read
    int checked;            // pre_run was called, and post_run not yet; kept by the context
    int takes_inputs;       // an output owns an input's memory (a no-copy join)
    int isdynamic;          // LN_DYNAMIC_*; kept by the context
    int at_load;            // not 0: runs when the context is loaded, not per inference; values
                            // of ir/ln_context_ops.h
    int can_fail;           // elements of its inputs decide whether `run` fails; set by `pre_run`
    const ln_op_info *info; // its description; NULL: hand-written, counts as impure
} ln_op_arg;

typedef void (*ln_op_func)(ln_op_arg *op_arg);
typedef size_t (*ln_op_offset_func)(ln_op_arg *op_arg, ln_tensor_entry *te);

typedef struct ln_op {
    ln_op_arg *op_arg;
    ln_op_func pre_run;
    ln_op_func static_run;
    ln_op_func run;
    ln_op_func post_run;
    ln_op_offset_func calc_offset; // the absolute offset in its memory of output (or no-copy
                                   // input) `te`: its owner's offset plus a position in it
} ln_op;

/** Whether elements of its inputs, or the sizes that they set, decide if a run of the operator
 * fails. */
static inline int ln_op_can_fail(const ln_op *op)
{
    return op->op_arg->can_fail || (op->op_arg->isdynamic & LN_DYNAMIC_IN);
}

/** Whether the operator's description has one of these traits. */
static inline int ln_op_has_trait(const ln_op *op, int traits)
{
    return op && op->op_arg->info && (op->op_arg->info->traits & traits);
}

/** The kind of the operator, LN_KIND_OTHER without a description. */
static inline ln_kind ln_op_kind(const ln_op *op)
{
    return op && op->op_arg->info ? (ln_kind)op->op_arg->info->kind : LN_KIND_OTHER;
}

// Creation and freeing. Functions return 0, or -1 with
// the thread's last error; a pointer is NULL then.

/** Returns new (ln_op_free_lists_too): an operator with the functions and the argument names of
 * `op_proto`. Takes the three lists (on failure they are still the caller's), keeps `tensor_table`,
 * copies `name`. */
LN_API ln_op *ln_op_create_from_proto(const ln_op *op_proto, const char *name, ln_list *tensors_in,
                                      ln_list *tensors_out, ln_list *params, ln_hash *tensor_table);

/** Frees the operator, not its lists and not its `priv`, which is post_run's. Ignores NULL. */
LN_API void ln_op_free(ln_op *op);

/** Frees the operator with its lists. Ignores NULL. */
LN_API void ln_op_free_lists_too(ln_op *op);

/** Returns new (ln_op_free_lists_too): an operator with the prototype's argument names.
 * Its name is the optype and a number, unique in `ops`; outputs are named NAME_ARG (with a
 * number appended if `ops` or the table have that tensor); inputs are named "", and
 * parameters have the empty value of their type. A variadic argument has its first tensor,
 * ARG0; an optional one is absent: append others with ln_tensor_list_append. O(ops). */
LN_API ln_op *ln_op_create_with_names(const ln_op *op_proto, const ln_list *ops,
                                      ln_hash *tensor_table);

/** Returns new (ln_op_free): an operator without lists. Its name is the optype and the first number
 * for which the table has no tensor of the operator's name, nor of the names of outputs in
 * ln_op_create_with_names: define its outputs before you create the next. */
LN_API ln_op *ln_op_create_with_opname(const ln_op *op_proto, ln_hash *tensor_table);

/** Returns new (ln_op_free_lists_too): name, lists and context of `op`, in the init state. */
LN_API ln_op *ln_op_copy(const ln_op *op);

/** As ln_op_copy, with the functions of prototype `new_optype` in the table. NULL: no such type. */
LN_API ln_op *ln_op_copy_to_optype(const ln_hash *op_proto_table, const ln_op *op,
                                   const char *new_optype);

/** The tensor entry of an input or, failing that, an output, or NULL. Returns borrowed. */
LN_API ln_tensor_entry *ln_op_find_tensor_entry(const ln_op *op, const char *arg_name);

/** The tensor entry of an input, or NULL. Returns borrowed. */
LN_API ln_tensor_entry *ln_op_find_input(const ln_op_arg *op_arg, const char *arg_name);

/** The list entry of an input or, failing that, an output, or NULL. Returns borrowed. */
LN_API ln_tensor_list_entry *ln_op_find_tensor_list_entry(const ln_op *op, const char *arg_name);

/** 1 when the operator has its names, well-formed lists without double arg_names, and a tensor
 * table. */
LN_API int ln_op_is_valid(const ln_op *op);

// Reading an operator. All return 0 for `op` NULL; what they return is borrowed. The parameters of
// a checked operator include its defaults.
//
//     if (ln_op_is(op, LN_OP_UNARY) && ln_op_has_string(op, "func", "TL_UNARY_SIGN"))
//         x = ln_op_input(op, "src");

/** Whether the operator has this optype: a constant of ln_optypes.h, or of a plug-in's own header
 * (ln-opgen --types). */
LN_API int ln_op_is(const ln_op *op, const char *optype);

/** The same, also for a target's variant of this optype: "conv2d_cpu" for "conv2d". */
LN_API int ln_op_is_form_of(const ln_op *op, const char *optype);

/** Whether some of the operator's shapes are known only at run time. */
static inline int ln_op_is_dynamic(const ln_op *op)
{
    return op && op->op_arg->isdynamic != 0;
}

/** The same, beyond the first axis of each tensor, which is the batch. */
LN_API int ln_op_is_dynamic_beyond_batch(const ln_op *op);

/** Walks the tensors that an operator reads, or writes, as LN_LIST_FOREACH does: `te` is the entry
 * of each. Evaluates `op_arg` several times. */
#define LN_INPUTS_FOREACH(te, op_arg)                                    \
    LN_ENTRIES_FOREACH(te, (op_arg)->tensors_in, (op_arg)->tensor_table, \
                       LN_LIST_PASTE(ln_inputs_at_, __LINE__))
#define LN_OUTPUTS_FOREACH(te, op_arg)                                    \
    LN_ENTRIES_FOREACH(te, (op_arg)->tensors_out, (op_arg)->tensor_table, \
                       LN_LIST_PASTE(ln_outputs_at_, __LINE__))
#define LN_ENTRIES_FOREACH(te, list, table, it) \
    for (const ln_list *it = (list);            \
         it && ((te) = ln_entry_of((ln_tensor_list_entry *)it->data, table), 1); it = it->next)

/** The tensor of an input, or of an output; NULL: none. */
LN_API const ln_tensor_entry *ln_op_input(const ln_op *op, const char *arg_name);
static inline const ln_tensor_entry *ln_op_output(const ln_op *op, const char *arg_name)
{
    return op ? ln_tensor_list_find_entry(op->op_arg->tensors_out, op->op_arg->tensor_table,
                                          arg_name)
              : NULL;
}

/** The name of that tensor, which may not be defined yet; NULL: none. */
static inline const char *ln_op_input_name(const ln_op *op, const char *arg_name)
{
    return op ? ln_tensor_list_find_name(op->op_arg->tensors_in, arg_name) : NULL;
}
static inline const char *ln_op_output_name(const ln_op *op, const char *arg_name)
{
    return op ? ln_tensor_list_find_name(op->op_arg->tensors_out, arg_name) : NULL;
}

/** Whether input `arg_name` exists and is tensor `*te`; if `*te` is NULL, it becomes `*te`. */
LN_API int ln_op_reads(const ln_op *op, const char *arg_name, const ln_tensor_entry **te);

/** As ln_op_reads, and true without such an input: `*te` is then unchanged. */
static inline int ln_op_may_read(const ln_op *op, const char *arg_name, const ln_tensor_entry **te)
{
    return op && (!ln_op_input_name(op, arg_name) || ln_op_reads(op, arg_name, te));
}

/** As ln_op_reads, for an output. */
LN_API int ln_op_makes(const ln_op *op, const char *arg_name, const ln_tensor_entry **te);

/** The numbers of inputs and outputs. */
static inline int ln_op_num_in(const ln_op *op)
{
    return op ? ln_tensor_list_length(op->op_arg->tensors_in) : 0;
}
static inline int ln_op_num_out(const ln_op *op)
{
    return op ? ln_tensor_list_length(op->op_arg->tensors_out) : 0;
}

/** A parameter; NULL: none. */
LN_API const ln_param_entry *ln_op_param(const ln_op *op, const char *arg_name);

/** Its value. Without the parameter, or of another type: 0, NULL with `*len` 0 (`len` may be NULL),
 * or "". An int is the int view of a number. */
LN_API double ln_op_number(const ln_op *op, const char *arg_name);
LN_API int ln_op_int(const ln_op *op, const char *arg_name);
LN_API const int *ln_op_ints(const ln_op *op, const char *arg_name, int *len);
LN_API const char *ln_op_string(const ln_op *op, const char *arg_name);

/** The parameter 'axis' for a tensor of `ndim` dimensions, from 0 on. */
static inline int ln_op_axis(const ln_op *op, int ndim)
{
    const int axis = ln_op_int(op, "axis");
    return axis < 0 ? axis + ndim : axis;
}

/** Whether the parameter exists with this type and value. */
static inline int ln_op_has_null(const ln_op *op, const char *arg_name)
{
    const ln_param_entry *pe = ln_op_param(op, arg_name);
    return pe && pe->type == LN_PARAM_NULL;
}
LN_API int ln_op_has_bool(const ln_op *op, const char *arg_name, ln_bool value);
LN_API int ln_op_has_number(const ln_op *op, const char *arg_name, double value);
LN_API int ln_op_has_string(const ln_op *op, const char *arg_name, const char *value);
LN_API int ln_op_has_bools(const ln_op *op, const char *arg_name, int len, const ln_bool *values);
LN_API int ln_op_has_numbers(const ln_op *op, const char *arg_name, int len, const double *values);
LN_API int ln_op_has_strings(const ln_op *op, const char *arg_name, int len,
                             const char *const *values);

/** A parameter that is a bool; without it, false. */
static inline ln_bool ln_op_bool(const ln_op *op, const char *arg_name)
{
    return ln_op_has_bool(op, arg_name, LN_TRUE) ? LN_TRUE : LN_FALSE;
}

/** Whether both operators have their parameter, and both are equal. */
LN_API int ln_op_same_param(const ln_op *op, const char *arg_name, const ln_op *op2,
                            const char *arg_name2);

// Functions for operators

/** Records "operator 'NAME' (OPTYPE): REASON" in the operator's context, or without one in the
 * thread's record, and marks the operator as failed. Returns -1. */
LN_API int ln_op_fail(ln_op_arg *op_arg, const char *fmt, ...) LN_PRINTF(2, 3);

/** As ln_op_fail, with the thread's last error as the reason. Returns -1. */
LN_API int ln_op_fail_last(ln_op_arg *op_arg);

/** As ln_op_fail, with TensorLight's last error as the reason. Returns -1. */
LN_API int ln_op_fail_tl(ln_op_arg *op_arg);

/** From LN_MSG_ERROR up as ln_op_fail; below, sends the message to the context's message function
 * and returns 0. */
LN_API int ln_op_report(ln_op_arg *op_arg, ln_msg_level level, const char *fmt, ...)
    LN_PRINTF(3, 4);

/** The resources of the operator's `run`: the context's threads,
 * instruction set and, if the operator requested it, scratch memory.
 * Without a context: one thread, the best kernels, no scratch. */
LN_API tl_exec ln_op_exec(const ln_op_arg *op_arg);

/** For `pre_run`: the max number of threads of a run, for which scratch memory is planned. */
LN_API int ln_op_threads(const ln_op_arg *op_arg);

/** A node of the model's file, or an operator of a model in IR. `number`: in their order, from 1.
 */
typedef struct ln_model_node {
    const char *name, *type;
    int number;
} ln_model_node;

/** The max number of nodes of an operator: one with as many may have computed more, which are left
 *  out. */
enum { LN_MAX_ORIGINS = 256 };

/** The number of nodes that the operator computes, all or parts of them: those that rewriting has
 *  joined in it, at most LN_MAX_ORIGINS; 0: unknown. */
LN_API int ln_op_num_nodes(const ln_op_arg *op_arg);

/** Node `i` of these, in the order of the file; NULL: there is none. Returns borrowed: with the
 *  operator. */
LN_API const ln_model_node *ln_op_node(const ln_op_arg *op_arg, int i);

/** Whether the operator's run may round factors of products to TL_BFLOAT16: the context's precision
 *  allows it, and the program is optimized, not the reference. */
LN_API int ln_op_allows_bfloat16(const ln_op_arg *op_arg);

/** A seed for random constants of the operator, from the context's seed and
 * the name of its first output, and thus independent of other operators. */
LN_API uint64_t ln_op_seed(const ln_op_arg *op_arg);

/** The state of the random numbers that operators without a seed draw in each run: that of the
 *  outermost context, also for operators of bodies. NULL without a context. Returns borrowed. */
LN_API uint64_t *ln_op_random(const ln_op_arg *op_arg);

/** For `run`: opens `file` for writing, and empties it. If the context allows a folder
 * (ln_context_allow_output), `file` is relative to it, or an absolute path in it, and is opened
 * only as a regular file, not through links. Otherwise the operator is not of a model that was
 * read, and `file` is any. Returns new (fclose); NULL with a reason, without `file`, whose status
 * is LN_IO_ERROR or LN_NOT_FOUND if the system rejects it. */
LN_API FILE *ln_op_open_output(const ln_op_arg *op_arg, const char *file, ln_error *err);

/** For `run`: prints `text` and a newline to standard output, escaped for a terminal (ln_escape),
 * except for newlines and tabs. -1 without a reason: it cannot be written. */
LN_API int ln_op_print_line(const char *text);

/** Fails unless the operator has exactly the inputs, outputs and parameters
 * that its description (or its argument name arrays) declares, each once.
 * Optional ones and parameters with a default may be absent. A variadic one
 * matches one or more ARG followed by a number, in list order. */
LN_API int ln_op_check_args(ln_op_arg *op_arg);

/** Defines the tensor of output `arg_name`: a new entry in the tensor table with this
 * shape, no data, and the operator as its creater. NULL after ln_op_fail: no such output,
 * the tensor is defined already, ndim > LN_MAXDIM, a dim < 0, more than INT_MAX elements,
 * or too many bytes for `mtype`. The output is dynamic if its description marks it or an
 * input is. When shapes are inferred again at run time (op_arg->infers), the existing
 * entry gets this shape, which must fit its planned memory. Returns borrowed. */
LN_API ln_tensor_entry *ln_op_define_output(ln_op_arg *op_arg, const char *arg_name, int ndim,
                                            const int *dims, tl_dtype dtype, ln_mem_type mtype);

/** For `run`: sets the shape of the dynamic output `entry`, initially the
 * maximum. -1 after ln_op_fail, with the shape unchanged: another
 * shape of an output that is not dynamic, another number of dimensions, another length of an axis
 * that is not open, a dim < 0, or more bytes than planned. */
LN_API int ln_op_set_dims(ln_op_arg *op_arg, ln_tensor_entry *entry, int ndim, const int *dims);

/** The operator's parameters in the model, without values that inputs set. Returns borrowed. */
LN_API ln_list *ln_op_params(const ln_op_arg *op_arg);

/** Removes the outputs of this operator from the tensor
 * table; not while shapes are inferred again. */
LN_API void ln_op_undefine_outputs(ln_op_arg *op_arg);

/** Calls one of the operator's functions (NULL: nothing to do). -1 when it failed; the reason is
 * where ln_op_fail puts it. */
LN_API int ln_op_call(ln_op *op, ln_op_func func);

// Operator lists: in order of execution. Lists borrow their operators by default.

/** Returns new (ln_list_free) of a NULL-terminated array. NULL for an empty array, and NULL with a
 * reason: no memory. */
LN_API ln_list *ln_op_list_create_from_array(ln_op **op_array);

/** Frees the list, not its operators. Ignores NULL. */
LN_API void ln_op_list_free(ln_list *ops);

/** Frees the list, its operators and their lists. Ignores NULL. */
LN_API void ln_op_list_free_lists_too(ln_list *ops);

/** The first operator of that type or name, or NULL. Returns borrowed. */
LN_API ln_op *ln_op_list_find_by_optype(const ln_list *ops, const char *optype);
LN_API ln_op *ln_op_array_find_by_optype(ln_op *const ops[], const char *optype);
LN_API ln_op *ln_op_list_find_by_name(const ln_list *ops, const char *name);

/** Calls the function of each operator (NULL: nothing to do) in order, up to the first that fails:
 * then -1, the reason is where ln_op_fail puts it. */
LN_API int ln_op_list_do_pre_run(ln_list *ops);
LN_API int ln_op_list_do_static_run(ln_list *ops);
LN_API int ln_op_list_do_run(ln_list *ops);

/** The same for post_run, but calls all, since each has work to undo; -1 if any failed.
 */
LN_API int ln_op_list_do_post_run(ln_list *ops);

/** As ln_tensor_list_unique_arg_name, for the names of the operators. O(ops); for rewrites there is
 * ln_context_unique_name. */
LN_API int ln_op_list_unique_name(const ln_list *ops, char *buf, const char *prefix);

/** The operator table: name -> operator. */

LN_API ln_hash *ln_op_table_create(void);

/** Takes the operator. As ln_hash_insert: 1 for a new name, 0 when it replaces an operator, which
 * is freed with its lists; -1: no memory. */
LN_API int ln_op_table_insert(ln_hash *table, ln_op *op);

/** Frees the operator and its lists. 1, or 0: none of that name. */
LN_API int ln_op_table_remove(ln_hash *table, const char *name);

/** The operator, or NULL. Returns borrowed (until it is replaced or removed). */
LN_API ln_op *ln_op_table_find(const ln_hash *table, const char *name);

/** Frees the table, its operators and their lists. Ignores NULL. */
LN_API void ln_op_table_free(ln_hash *table);

/** Sets parameter `pname` of operator `opname` as ln_param_vset does. -1: no such operator or
 * parameter. */
LN_API int ln_op_table_vset_param(ln_hash *table, const char *opname, const char *pname,
                                  va_list ap);
LN_API int ln_op_table_set_param(ln_hash *table, const char *opname, const char *pname, ...);

LN_END_DECLS

#include "lightnet/ln_opck.h"

#endif
