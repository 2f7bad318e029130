// SPDX-License-Identifier: Apache-2.0
// The interface with which front ends emit operators.
//
// A translation fills a context from a model of some format; an emitter translates one node.
// Callers need not check for failures: the first one is recorded, with the position of the node;
// from then on, every function here does nothing and returns a harmless value.
//
//     // The output "dst" is the node's output 0.
//     const char *dst =
//         LN_EMIT(e, 0, LN_OP_SOFTMAX, LN_ARG("src", src), LN_INT("axis", 1));
//
// Tensors are LightNet's, by name (const char *, which lives as long as the translation). Emitting
// adds operators to the context immediately, so types and shapes of all tensors are known.

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/ln_infile.h"
#include "ir/ln_sizes.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_optypes.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_tensor.h"

/** A model that is being translated. */
typedef struct ln_translation {
    ln_context *ctx;
    const char *file; // for messages
    int failed;
    ln_list *memory;       // freed when the translation ends
    ln_hash *reserved;     // names of the model's tensors, which steps must avoid, or NULL
    ln_missing_op culprit; // the node that failed, to be reported when the translation ends
} ln_translation;

/** Records "FILE: REASON"; the translation has failed. */
#define ln_translation_fail(t, ...) ln_translation_fail_as(t, LN_OK, __VA_ARGS__)

/** The same for a reason of a known status. */
void ln_translation_fail_as(ln_translation *t, ln_status status, const char *fmt, ...)
    LN_PRINTF(3, 4);

/** The same for missing memory. */
void ln_translation_fail_memory(ln_translation *t);

/** Fails if a stop was requested, or a limit is reached. */
void ln_translation_check(ln_translation *t);

/** Clears a failure, to translate in another way. */
void ln_translation_try_again(ln_translation *t);

/** Reports the node that failed, if any, and frees the translation's memory. */
void ln_translation_clear(ln_translation *t);

/** Memory that lives until the translation ends; NULL after a failure. */
void *ln_translation_alloc(ln_translation *t, size_t size);

/** `array` of `len` elements of `size` bytes, with room for one more: its capacity is the next
 * power of two. NULL after a failure. */
void *ln_translation_grow(ln_translation *t, void *array, size_t len, size_t size);

/** Adds an element (a value) to the array, an lvalue, and 1 to its length. */
#define LN_TRANSLATION_ADD(t, array, len, ...)                                     \
    do {                                                                           \
        void *const grown_ = ln_translation_grow(t, array, len, sizeof(*(array))); \
        if (grown_) {                                                              \
            (array) = grown_;                                                      \
            (array)[(len)++] = __VA_ARGS__;                                        \
        }                                                                          \
    } while (0)

char *ln_translation_print(ln_translation *t, const char *fmt, ...) LN_PRINTF(2, 3);

/** The max bytes of a name to which something is appended. */
enum { LN_NAME_STEM = 400 };

/** How many bytes of a name, at most LN_NAME_STEM, are whole characters of UTF-8: for "%.*s". */
int ln_name_stem(const char *name);

/** A name for a tensor of the program: `wanted` if it can be one and is free, else one made from
 * it. */
const char *ln_translation_name(ln_translation *t, const char *wanted);

/** Enters a new operator `source`. Returns the tensor's name; NULL after a failure. */
const char *ln_translation_source(ln_translation *t, const char *name, const tl_tensor *like,
                                  int from_file);

/** Adds input `name`, of like's type, whose shape is from `min` to like's and is known in each
 * run, with the names of its sizes (ln_placeholder_create; or NULL). As ln_translation_source. */
const char *ln_translation_placeholder(ln_translation *t, const char *name, const tl_tensor *like,
                                       const int *min, const char *const *sizes);

/** A new constant, named after `wanted`. Takes the tensor with its data, also on failure; without
 *  data, that is in `file` at `offset`. Returns its name; NULL after a failure. */
const char *ln_translation_weight(ln_translation *t, tl_tensor *tensor, const ln_infile *file,
                                  size_t offset, const char *wanted);

/** The elements that a source or a create fills without a file; NULL after a failure. */
void *ln_translation_fill(ln_translation *t, const ln_op *op, const tl_tensor *like);

/** Enters the name (copied) at the end of the model's inputs, or outputs. */
void ln_translation_input(ln_translation *t, const char *name);
void ln_translation_output(ln_translation *t, const char *name);

/** Whether `tensor` can be an output of the model by that name: as it has the name, and memory of
 *  its own, being neither an input nor a constant. */
int ln_translation_can_output(const ln_translation *t, const char *tensor, const char *name);

/** The tensor's dtype, ndim, dims and len; after a failure, or for NULL, a scalar of TL_FLOAT.
 *  Returns borrowed. */
const tl_tensor *ln_translation_tensor(const ln_translation *t, const char *tensor);

/** Types of parts of an operator. */
typedef enum ln_part_kind {
    LN_PART_END, // after the last one
    LN_PART_ARG,
    LN_PART_INT,
    LN_PART_NUMBER,
    LN_PART_BOOL,
    LN_PART_TEXT,
    LN_PART_DTYPE,
    LN_PART_INTS,
    LN_PART_NUMBERS,
    LN_PART_BOOLS,
    LN_PART_TEXTS,
    LN_PART_PAIRS, // of integers; in front/nnvm
    LN_PART_ARGS,  // all inputs of a variadic one
    LN_PART_NONE,  // nothing
} ln_part_kind;

/** An input of an operator, or a parameter with its value, which is borrowed. */
typedef struct ln_part {
    ln_part_kind kind;
    const char *name, *text;
    int64_t integer;
    double number;
    int len; // of the array; of an input of a variadic argument, 1 + its index; else 0
    const int *ints, *seconds;
    const double *numbers;
    const char *const *texts;
} ln_part;

/** clang-format off */
#define LN_ARG(arg, tensor)       ((ln_part){LN_PART_ARG, arg, .text = tensor}) // NULL: none
#define LN_ARG_AT(arg, i, tensor) ((ln_part){LN_PART_ARG, arg, .text = tensor, .len = (i) + 1})
#define LN_ARGS(arg, n, tensors)  ((ln_part){LN_PART_ARGS, arg, .len = n, .texts = tensors})
#define LN_INT(param, value)      ((ln_part){LN_PART_INT, param, .integer = value})
#define LN_NUMBER(param, value)   ((ln_part){LN_PART_NUMBER, param, .number = value})
#define LN_BOOL(param, value)     ((ln_part){LN_PART_BOOL, param, .integer = value})
#define LN_TEXT(param, value)     ((ln_part){LN_PART_TEXT, param, .text = value})
#define LN_DTYPE(param, value)    ((ln_part){LN_PART_DTYPE, param, .integer = value})
#define LN_INTS(param, n, ...)    ((ln_part){LN_PART_INTS, param, .len = n, .ints = __VA_ARGS__})
#define LN_BOOLS(param, n, ...)   ((ln_part){LN_PART_BOOLS, param, .len = n, .ints = __VA_ARGS__})
#define LN_NUMBERS(param, n, values) \
    ((ln_part){LN_PART_NUMBERS, param, .len = n, .numbers = values})
#define LN_TEXTS(param, n, values) ((ln_part){LN_PART_TEXTS, param, .len = n, .texts = values})
// clang-format on

/** A part that only some of the operators of a translator have. */
#define LN_ONLY_IF(condition, part) ((condition) ? (part) : (ln_part){.kind = LN_PART_NONE})

typedef struct ln_emit ln_emit;

/** How a front end reads attributes of a node (ln_attr.h): returns `deflt` without the attribute,
 * fails for an invalid value. */
typedef struct ln_attr_reader {
    int (*has)(const ln_emit *e, const char *key);
    int64_t (*integer)(ln_emit *e, const char *key, int64_t deflt);
    double (*number)(ln_emit *e, const char *key, double deflt);
    int (*flag)(ln_emit *e, const char *key, int deflt);
    const char *(*text)(ln_emit *e, const char *key, const char *deflt);
    tl_dtype (*dtype)(ln_emit *e, const char *key, tl_dtype deflt);

    const int64_t *(*integers)(ln_emit *e, const char *key, int *len);

    /** The name of the attribute in the file; may be NULL. */
    const char *(*name)(ln_emit *e, const char *key);
} ln_attr_reader;

/** A front end's functions for a node in translation. */
typedef struct ln_emit_front {
    const ln_attr_reader *attrs;

    /** Prints the location of the node, for messages: node 'NAME' (OP). */
    void (*place)(const ln_emit *e, char *buf, size_t size);

    /** The base of its operators' names: its name ("": none) and its type. */
    const char *(*name)(const ln_emit *e);
    const char *(*type)(const ln_emit *e);

    /** The wanted name of its output `i`; NULL: unused. */
    const char *(*output)(const ln_emit *e, int i);

    /** Records that its output `i` is `tensor`. */
    void (*made)(ln_emit *e, int i, const char *tensor);

    /** Records that the operator has been added to the context; may be NULL. */
    void (*added)(ln_emit *e, const ln_op *op);

    /** Fills in the domain and the version of the node's operator; may be NULL. */
    void (*describe)(const ln_emit *e, ln_missing_op *op);
} ln_emit_front;

/** A node in translation: the first member of the front end's struct for it. */
struct ln_emit {
    ln_translation *translation;
    const ln_emit_front *front;
    int version; // of the format's operators, in which the node is written

    struct ln_origin *origin; // of its operators; freed by ln_emit_begin(e, NULL)

    // The operator that is being emitted, between ln_emit_begin and ln_emit_end.
    const char *optype;
    ln_list *ins, *outs, *params;
    ln_list *last_in, *last_out; // their last nodes
};

/** The result of an operator that is only a step of the node's translation. */
enum { LN_EMIT_TEMP = -1 };

/** Records "FILE: PLACE: REASON", unless something failed before. */
#define ln_emit_fail(e, ...) ln_emit_fail_as(e, LN_OK, __VA_ARGS__)

/** The same for a reason of a known status. */
void ln_emit_fail_as(ln_emit *e, ln_status status, const char *fmt, ...) LN_PRINTF(3, 4);

/** The same for missing memory. */
void ln_emit_fail_memory(ln_emit *e);

/** Warns of "FILE: PLACE: TEXT". */
void ln_emit_warn(ln_emit *e, const char *fmt, ...) LN_PRINTF(2, 3);

/** Begins an operator, and drops the parts of an unfinished one; `optype` NULL: only drops these.
 */
void ln_emit_begin(ln_emit *e, const char *optype);

/** Begins an operator with these parts: LN_EMIT_BEGIN(e, optype, part, part, ..). */
void ln_emit_begin_parts(ln_emit *e, const char *optype, const ln_part *parts);

#define LN_EMIT_BEGIN(e, optype, ...) \
    ln_emit_begin_parts(e, optype, (const ln_part[]){__VA_ARGS__, {.kind = LN_PART_END}})

/** Adds input `arg`; ignores NULL. */
void ln_emit_arg(ln_emit *e, const char *arg, const char *tensor);

/** Adds input `i` of the variadic `arg`. */
void ln_emit_arg_at(ln_emit *e, const char *arg, int i, const char *tensor);

/** Adds a parameter or an input. */
void ln_emit_set(ln_emit *e, ln_part part);

/** Adds an output: the node's output `i`, or LN_EMIT_TEMP. Returns the tensor's name. */
const char *ln_emit_out(ln_emit *e, const char *arg, int i);

/** Adds the last output, and the operator to the context. Returns the tensor's name. */
const char *ln_emit_end(ln_emit *e, const char *arg, int i);

/** An operator with these parts, of one output, "dst": the node's output `i`, or LN_EMIT_TEMP.
 * Returns the tensor's name. LN_EMIT(e, i, optype, part, part, ..). */
const char *ln_emit_parts(ln_emit *e, int i, const char *optype, const ln_part *parts);

#define LN_EMIT(e, i, optype, ...) \
    ln_emit_parts(e, i, optype, (const ln_part[]){__VA_ARGS__, {.kind = LN_PART_END}})

/** Whether a translation may generate a constant of `len` elements of `size` bytes, at most
 * LN_LIMIT_FOLD_MEMORY; fails otherwise. */
int ln_emit_allows(ln_emit *e, size_t len, size_t size);

/** A constant scalar of TL_STRING (copied). */
const char *ln_emit_text(ln_emit *e, const char *text);

/** A constant with these elements (copied), as many as ln_emit_allows; no strings. */
const char *ln_emit_constant(ln_emit *e, tl_dtype dtype, int ndim, const int *dims,
                             const void *data);

/** A constant scalar of any dtype, see ln_element_write. */
const char *ln_emit_scalar(ln_emit *e, tl_dtype dtype, double value);

/** A constant [len] of TL_INT64. */
const char *ln_emit_int64s(ln_emit *e, int len, const int64_t *values);

/** A constant of equal elements. */
const char *ln_emit_filled(ln_emit *e, tl_dtype dtype, int ndim, const int *dims, double value);

/** The same as the node's output `i`, or LN_EMIT_TEMP. */
const char *ln_emit_full(ln_emit *e, tl_dtype dtype, int ndim, const int *dims, double value,
                         int i);

// Common steps of translators. `i`: the node's output, or LN_EMIT_TEMP.

/** An operator of one input `src` and one output `dst` without parameters. */
const char *ln_emit_simple(ln_emit *e, const char *optype, const char *src, int i);

/** The same elements in another shape: a view. */
const char *ln_emit_reshape(ln_emit *e, const char *src, int ndim, const int *dims, int i);

/** The same, also for sizes of `src` that are known only at run time: -1 in `dims` is inferred, -2
 *  copies the length of the same axis of src. */
const char *ln_emit_view(ln_emit *e, const char *src, int ndim, const int *dims, int i);

/** Casts to a type; returns the tensor itself if it has that type. */
const char *ln_emit_cast(ln_emit *e, const char *src, tl_dtype dtype, int i);

/** Element-wise function `func`, a name of tl_unary_func; with its two parameters. */
const char *ln_emit_unary(ln_emit *e, const char *func, const char *src, int i);
const char *ln_emit_unary_with(ln_emit *e, const char *func, const char *src, double alpha,
                               double beta, int i);

/** src1 op src2, broadcast, with a name of tl_binary_op. */
const char *ln_emit_binary(ln_emit *e, const char *op, const char *src1, const char *src2, int i);

/** src1 op src2, broadcast, with a name of tl_compare_op: TL_BOOL, a step. */
const char *ln_emit_compare(ln_emit *e, const char *op, const char *src1, const char *src2);

/** cond ? src1 : src2, broadcast. */
const char *ln_emit_where(ln_emit *e, const char *cond, const char *src1, const char *src2, int i);

/** Reduces along axes, which remain with length 1 if `keeps`; `op` is a name of tl_reduce_op. */
const char *ln_emit_reduce(ln_emit *e, const char *op, const char *src, int n_axes, const int *axes,
                           int keeps, int i);

/** Broadcasts to this shape. */
const char *ln_emit_expand(ln_emit *e, const char *src, int ndim, const int *dims, int i);

/** The permuted dimensions: dims'[k] = dims[axes[k]]. */
const char *ln_emit_transpose(ln_emit *e, const char *src, const int *axes, int i);

/** Batch normalization along an axis; `vectors`: scale, offset, mean, variance. [A.., C, B..] as
 * [A, C, 1, B]; images unchanged, so that a convolution before them can fold the scale into
 * its weights. */
const char *ln_emit_batchnorm(ln_emit *e, const char *src, int axis, const char *const vectors[4],
                              double epsilon, int i);

/** How blocks of b x b pixels move between channels and space. In a channel index the position in
 * the block comes first, in CRD mode last. */
typedef enum ln_blocks { LN_SPACE_TO_DEPTH, LN_DEPTH_TO_SPACE, LN_DEPTH_TO_SPACE_CRD } ln_blocks;

/** Images [N, C, H, W] as [N, C b^2, H / b, W / b], or [N, C / b^2, H b, W b]; b is at least 1. */
const char *ln_emit_blocks(ln_emit *e, const char *src, int b, ln_blocks way, int i);

/** An element-wise formula (ir/ln_formula.h) of tensors `x`, `a` and `b`, if it has these, which
 * broadcast; numbers have the type of `x`. Calls are unary and binary functions:
 *
 *     ln_emit_formula(e, "sign(x) * floor(abs(x))", x, NULL, NULL, 0); */
const char *ln_emit_formula(ln_emit *e, const char *text, const char *x, const char *a,
                            const char *b, int i);

// Shapes with lengths that are known only at run time (ln_emit_dims.c)

/** The lengths of a tensor's axes. */
void ln_emit_dims(const ln_emit *e, const char *tensor, ln_dim *dims);

/** Their symbols; NULL: constants only. Returns borrowed. */
ln_symbols *ln_emit_symbols(const ln_emit *e);

/** The product of `n` lengths. */
ln_dim ln_emit_product(const ln_emit *e, const ln_dim *dims, int n);

/** A length, and a shape, as TL_INT64 [1] and [ndim]. */
const char *ln_emit_length(ln_emit *e, const ln_dim *dim);
const char *ln_emit_shape(ln_emit *e, int ndim, const ln_dim *dims);

/** Sets `max` to the max lengths. Returns the number of lengths that are known only at run time.
 * -1: fails if one has no bound. */
int ln_emit_max_dims(ln_emit *e, int ndim, const ln_dim *dims, int *max);

/** As ln_emit_reshape and ln_emit_expand. */
const char *ln_emit_reshape_dims(ln_emit *e, const char *src, int ndim, const ln_dim *dims, int i);
const char *ln_emit_expand_dims(ln_emit *e, const char *src, int ndim, const ln_dim *dims, int i);

/** As ln_emit_filled. */
const char *ln_emit_filled_dims(ln_emit *e, tl_dtype dtype, int ndim, const ln_dim *dims,
                                double value);

/** Operator pad, with `before[k]` and `after[k]` elements around axis k; `value` NULL: zeros. */
const char *ln_emit_pad(ln_emit *e, const char *src, const ln_dim *before, const ln_dim *after,
                        const char *mode, const char *value, int i);

/** Whether the shape of a tensor is known only at run time. */
int ln_emit_is_dynamic(const ln_emit *e, const char *tensor);
