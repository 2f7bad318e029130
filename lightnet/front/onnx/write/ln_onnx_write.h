// SPDX-License-Identifier: Apache-2.0
// Functions to write a LightNet operator as ONNX nodes.
//
// The inverse of ln_onnx.h: a writer reads its operator (inputs, parameters) and puts nodes into
// the graph, as if nothing could fail.
//
//     static void write_softmax(ln_onnx_op *n)
//     {
//         // The node's output is the operator's output "dst".
//         LN_ONNX_PUT_AS(n, "dst", "Softmax", LN_ONNX_IN(n, "src"),
//                        LN_INT("axis", ln_op_int(n->op, "axis")));
//     }
//
// An operator whose description has an ONNX form ("onnx") needs no writer; one that is defined by
// others ("means") is replaced by them first.
//
// A value is the name of a node's output, an input or an initializer. Attributes are parts of
// ln_emit.h: LN_INT and LN_BOOL are INT, LN_NUMBER is FLOAT, LN_TEXT is STRING, LN_DTYPE is a
// TensorProto.DataType, and LN_INTS, LN_NUMBERS, LN_TEXTS are lists of these.
//
// A domain other than ONNX's precedes the name of the operator: "ai.onnx.ml:LabelEncoder".
//
// The operator set is the oldest, from 17 on, in which all nodes can be written. A writer asks
// ln_onnx_op_since(n, 18) for a node that needs a newer one. The graph is then written again, so
// that a node whose form changed has that of ln_onnx_op_opset.

#pragma once

#include "front/ln_form.h"
#include "front/ln_missing.h"
#include "ir/ln_weights.h"
#include "ln_onnx.pb-c.h"
#include "lightnet/ln_op.h"

enum {
    LN_ONNX_OLDEST_WRITTEN = 17, // operator sets that are written
    LN_ONNX_NEWEST_WRITTEN = 27,
};

/** Domains other than ONNX's own. */
typedef enum ln_onnx_domain { LN_ONNX_ML, LN_ONNX_CONTRIB, LN_ONNX_DOMAINS } ln_onnx_domain;

/** A list of messages under construction: `items` has room for one more. */
typedef struct ln_onnx_list {
    void **items;
    size_t len;
} ln_onnx_list;

/** A graph under construction: the model's, or a subgraph of a node. */
typedef struct ln_onnx_level {
    struct ln_onnx_level *outer; // NULL: the model's
    const ln_context *ctx;       // its operators
    ln_hash *values;             // tensor of ctx -> value
    ln_onnx_list nodes, outputs;
} ln_onnx_level;

/** The data of an initializer: of a weight, random numbers of an operator, or `bytes`. */
typedef struct ln_onnx_data {
    const ln_weight *weight;
    const ln_op *random;
    const void *bytes;
    size_t size;       // in the file
    size_t n_unpacked; // elements below 8 bits, a byte each here and packed in the file; or 0
    tl_dtype dtype;    // their type
    uint8_t xor_mask;  // applied to each byte before writing
} ln_onnx_data;

typedef struct ln_onnx_writer {
    ln_translation base;          // `file`: of the model, "-" for standard output
    int opset, needed;            // the operator set, and the oldest that its nodes need
    int domains[LN_ONNX_DOMAINS]; // the operator set of each domain; 0: not used
    ln_hash *names;               // of all values
    ln_hash *types;               // value -> tl_dtype, if known
    ln_hash *constants;           // text of type, shape and elements -> value: small constants
    size_t n_names;               // makes names unique
    ln_onnx_list inputs, initializers, data; // messages, and for each initializer ln_onnx_data
    ln_missing missing;
    int n_missing; // operators that ONNX cannot express
    int depth;     // of graphs within nodes
    size_t n_ops;  // operators that were written, those of a body for each of its uses
} ln_onnx_writer;

/** The operator that is being written. */
typedef struct ln_onnx_op {
    ln_onnx_writer *writer;
    ln_onnx_level *level;
    const ln_op *op;
    const char *label;  // its first output, from which the names of its values derive
    int is_rejected;    // ONNX cannot express it
    LnOnnx__Node *node; // between ln_onnx_put_begin and ln_onnx_put_end
} ln_onnx_op;

typedef void (*ln_onnx_write_func)(ln_onnx_op *n);

/** How an operator without a form (ln_form.h) is written. A table ends with an optype of
 *  NULL. */
typedef struct ln_onnx_op_row {
    const char *optype;
    ln_onnx_write_func write;
    int (*has)(const ln_op *op); // whether ONNX has the operator; NULL: always
} ln_onnx_op_row;

// clang-format off
#define LN_ONNX_WRITE_TABLES(T) \
    T(control) T(conv) T(elementwise) T(image) T(ml) T(product) T(quantize) \
    T(recurrent) T(select) T(shape) T(statistics) T(strings) T(trees)
// clang-format on

#define LN_ONNX_DECLARE_WRITE(kind) extern const ln_onnx_op_row ln_onnx_write_rows_##kind[];
LN_ONNX_WRITE_TABLES(LN_ONNX_DECLARE_WRITE)

/** Whether the operator has a form. */
int ln_onnx_has_form(const ln_op *op);

/** Writes the node of the operator's form. `parts` (NULL: none) replace inputs, by the operator's
 *  names for them, and attributes, or add attributes. */
void ln_onnx_write_form(ln_onnx_op *n, const ln_part *parts);
#define LN_ONNX_WRITE_FORM(n, ...) \
    ln_onnx_write_form(n, (const ln_part[]){__VA_ARGS__, {.kind = LN_PART_END}})

// Failing

/** Records that ONNX cannot express this operator, with the reason. The others are still written,
 * and one message then lists all of them. */
void ln_onnx_op_reject(ln_onnx_op *n, const char *fmt, ...) LN_PRINTF(2, 3);

/** Whether writing has failed. */
int ln_onnx_op_failed(const ln_onnx_op *n);

// The operator set

int ln_onnx_op_opset(const ln_onnx_op *n);
void ln_onnx_op_since(ln_onnx_op *n, int opset);

/** Requires an operator set of another domain. */
void ln_onnx_op_domain_since(ln_onnx_op *n, ln_onnx_domain domain, int opset);

/** The name of a domain. */
const char *ln_onnx_domain_name(ln_onnx_domain domain);

// The operator's tensors, by their roles; "src0", "src1", .. are those of a variadic one, in order

/** The value of an input; of one that may be absent: NULL. */
const char *ln_onnx_op_in(ln_onnx_op *n, const char *arg);
const char *ln_onnx_op_optional(ln_onnx_op *n, const char *arg);
const char *ln_onnx_op_in_at(ln_onnx_op *n, const char *arg, int i);

/** Whether the input is a constant; sets `data` to its data. */
int ln_onnx_op_constant(ln_onnx_op *n, const char *arg, ln_onnx_data *data);

/** The elements of a constant input; NULL: rejects another input, or after a failure. */
const void *ln_onnx_op_elements(ln_onnx_op *n, const char *arg);

/** The value of an input of integers as TL_INT64. */
const char *ln_onnx_op_indices(ln_onnx_op *n, const char *arg);

/** The parameter 'axis' of the input 'src', from 0 on. */
int ln_onnx_op_axis(const ln_onnx_op *n);

/** The number of inputs, or outputs, of a variadic argument. */
int ln_onnx_op_num_in(const ln_onnx_op *n, const char *arg);
int ln_onnx_op_num_out(const ln_onnx_op *n, const char *arg);

/** The value of an output, which a node must produce; "": absent. */
const char *ln_onnx_op_out(ln_onnx_op *n, const char *arg);
const char *ln_onnx_op_out_at(ln_onnx_op *n, const char *arg, int i);

/** The role of element `i` of a variadic argument; "": past the end. */
const char *ln_onnx_op_arg_at(const ln_list *tensors, const char *arg, int i);

/** The record of an input or output; of a scalar of TL_FLOAT if it is absent. Sizes that are known
 *  only at run time have their max. */
const tl_tensor *ln_onnx_op_tensor(const ln_onnx_op *n, const char *arg);
int ln_onnx_op_is_dynamic(const ln_onnx_op *n, const char *arg);

/** For an operator that overwrites input `arg` with its output `dst`, after its nodes: later
 * operators read `dst` instead. Rejects the operator if they read an older alias of the input. */
void ln_onnx_op_overwrites(ln_onnx_op *n, const char *arg, const char *dst);

/** The value of a tensor of the level's context, by its name. */
const char *ln_onnx_op_value(ln_onnx_op *n, const char *tensor);

// Nodes. Each adds one, and returns its first output.

/** clang-format off */
#define LN_ONNX_SRC(value)      ((ln_part){LN_PART_ARG, NULL, .text = value}) // NULL: left out
#define LN_ONNX_IN(n, role)     LN_ONNX_SRC(ln_onnx_op_in(n, role))
#define LN_ONNX_SRCS(n, values) LN_ARGS(NULL, (int)(n), values)
// clang-format on

const char *ln_onnx_put_parts(ln_onnx_op *n, const char *op_type, const ln_part *parts);
#define LN_ONNX_PUT(n, op_type, ...) \
    ln_onnx_put_parts(n, op_type, (const ln_part[]){__VA_ARGS__, {.kind = LN_PART_END}})

/** The same with the operator's output `arg` as its output. */
void ln_onnx_put_parts_as(ln_onnx_op *n, const char *arg, const char *op_type,
                          const ln_part *parts);
#define LN_ONNX_PUT_AS(n, arg, op_type, ...) \
    ln_onnx_put_parts_as(n, arg, op_type, (const ln_part[]){__VA_ARGS__, {.kind = LN_PART_END}})

/** The same with these outputs, names of values. */
void ln_onnx_put_parts_outs(ln_onnx_op *n, int n_outs, const char *const *outs, const char *op_type,
                            const ln_part *parts);
#define LN_ONNX_PUT_OUTS(n, n_outs, outs, op_type, ...) \
    ln_onnx_put_parts_outs(n, n_outs, outs, op_type,    \
                           (const ln_part[]){__VA_ARGS__, {.kind = LN_PART_END}})

/** Begins a node, adds parts to it, and ends it: `outs` are names of values, "" of those that are
 * not used. Strings are borrowed until the model is written; NULL for integers: none. */
void ln_onnx_put_begin(ln_onnx_op *n, const char *op_type);
void ln_onnx_put_set(ln_onnx_op *n, ln_part part);
void ln_onnx_put_int64s(ln_onnx_op *n, const char *attr, int len, const int64_t *values);
void ln_onnx_put_texts(ln_onnx_op *n, const char *attr, int len, const tl_string *const *strings);
void ln_onnx_put_graph(ln_onnx_op *n, const char *attr, LnOnnx__Graph *graph);
void ln_onnx_put_text(ln_onnx_op *n, const char *attr, const tl_string *string);
void ln_onnx_put_words(ln_onnx_op *n, const char *attr, int len, const char *const *words);
void ln_onnx_put_tensor(ln_onnx_op *n, const char *attr, LnOnnx__Tensor *tensor);

/** A tensor [len] for an attribute; the elements are borrowed until the model is written. */
LnOnnx__Tensor *ln_onnx_put_elements(ln_onnx_op *n, tl_dtype dtype, int len, const void *elements);
void ln_onnx_put_end(ln_onnx_op *n, int n_outs, const char *const *outs);

/** A unique name for a value, from the operator's label and `what`. */
const char *ln_onnx_put_name(ln_onnx_op *n, const char *what);

/** Makes `value` the operator's output `arg`: renames it if the last node produces it, else adds
 * Identity. */
void ln_onnx_op_ends_with(ln_onnx_op *n, const char *arg, const char *value);

/** Copies `value` to the operator's output `arg`: a node Identity. */
void ln_onnx_put_as(ln_onnx_op *n, const char *arg, const char *value);

// Constants

const char *ln_onnx_put_constant(ln_onnx_op *n, tl_dtype dtype, int ndim, const int *dims,
                                 const void *data);
const char *ln_onnx_put_ints(ln_onnx_op *n, int len, const int *values); // [len] of TL_INT64
const char *ln_onnx_put_int(ln_onnx_op *n, int value);                   // [1] of TL_INT64
const char *ln_onnx_put_scalar(ln_onnx_op *n, tl_dtype dtype, double value);

/** ConstantOfShape of `value`: named `out`, or with a new name. */
const char *ln_onnx_put_filled_as(ln_onnx_op *n, const char *out, tl_dtype dtype, int ndim,
                                  const int *dims, double value);
const char *ln_onnx_put_filled(ln_onnx_op *n, tl_dtype dtype, int ndim, const int *dims,
                               double value);

/** Describes `len` elements, of a byte each if they have fewer than 8 bits, without the data. */
ln_onnx_data ln_onnx_data_for(tl_dtype dtype, int len);

/** Adds an initializer of this unique name; `type`: TensorProto.DataType. Returns the name. */
const char *ln_onnx_put_weight(ln_onnx_writer *w, const char *name, int type, int ndim,
                               const int *dims, const ln_onnx_data *data);

/** The same for strings, which are borrowed until the model is written. */
const char *ln_onnx_put_strings(ln_onnx_writer *w, const char *name, int ndim, const int *dims,
                                const tl_string *const *strings);

// Common steps

const char *ln_onnx_put(ln_onnx_op *n, const char *op_type, const char *src);
const char *ln_onnx_put_pair(ln_onnx_op *n, const char *op_type, const char *a, const char *b);
const char *ln_onnx_put_cast(ln_onnx_op *n, const char *src, tl_dtype dtype);
const char *ln_onnx_put_reshape(ln_onnx_op *n, const char *src, int ndim, const int *dims);

/** The same, where 0 copies the length of an axis, and -1 infers one. */
const char *ln_onnx_put_view(ln_onnx_op *n, const char *src, int ndim, const int *dims);
const char *ln_onnx_put_transpose(ln_onnx_op *n, const char *src, int ndim, const int *axes);

/** Reshapes `value` to the shape of `src`. */
const char *ln_onnx_put_like(ln_onnx_op *n, const char *value, const char *src);

/** Elements begin .. end - 1 of an axis. */
const char *ln_onnx_put_slice(ln_onnx_op *n, const char *src, int axis, int begin, int end);

/** ReduceSum, ReduceMax, ..; with axes, at least one. */
const char *ln_onnx_put_reduce(ln_onnx_op *n, const char *op_type, const char *src, int n_axes,
                               const int *axes, int keeps);

/** The TensorProto.DataType of a dtype; 0: none. */
int ln_onnx_put_dtype(tl_dtype dtype);

// The model

/** Records the type of a value, and requires an operator set that has it. */
void ln_onnx_note_type(ln_onnx_writer *w, const char *value, tl_dtype dtype);

/** The type of a value; TL_DTYPE_INVALID: not known. */
tl_dtype ln_onnx_type_of(const ln_onnx_writer *w, const char *value);

/** The type in which ONNX's operator moves elements of `dtype`: itself if supported, else a wider
 *  one with all its values, as few operators support types of 8 bits and less. */
tl_dtype ln_onnx_carrier_type(const char *op_type, tl_dtype dtype);

/** Records the output type of a node that moves elements of 8 bits or less. */
void ln_onnx_note_output_type(ln_onnx_writer *w, const LnOnnx__Node *node);

/** Whether an operator supports an element type, in the operator set that is being written. */
int ln_onnx_supports(const ln_onnx_op *n, const char *op_type, tl_dtype dtype);

/** Rejects a node whose operator does not support the type of its first input. */
void ln_onnx_check_type(ln_onnx_op *n, const LnOnnx__Node *node);

/** Removes unread nodes and initializers of the model's graph. */
void ln_onnx_prune(ln_onnx_writer *w, ln_onnx_level *level);

/** Writes all operators of the level's context. */
void ln_onnx_write_level(ln_onnx_writer *w, ln_onnx_level *level);

/** Initializes a level for a body, and frees it, also after a failure. */
void ln_onnx_level_init(ln_onnx_writer *w, ln_onnx_level *level, ln_onnx_level *outer,
                        const ln_context *ctx);
void ln_onnx_level_clear(ln_onnx_level *level);

/** The value_info of outputs of other domains' nodes, which not all readers infer. */
ln_onnx_list ln_onnx_level_infos(ln_onnx_writer *w, const ln_onnx_level *level);

/** Binds a tensor to a value. */
void ln_onnx_level_set(ln_onnx_writer *w, ln_onnx_level *level, const char *tensor,
                       const char *value);

/** Adds to a list. */
void ln_onnx_list_add(ln_onnx_writer *w, ln_onnx_list *list, void *item);

/** An input or output of a graph. `names`: of open sizes (dim_param), "" for one without, NULL for
 * a fixed size; NULL: all are fixed. */
LnOnnx__ValueInfo *ln_onnx_put_info(ln_onnx_writer *w, const char *name, const tl_tensor *like,
                                    const char *const *names);

/** Writes the model, of abstract operators, to a file; `external`: with external data in FILE.data.
 *  -1 with the reason in the context, which lists all operators that ONNX cannot express. */
int ln_onnx_write(ln_context *ctx, const char *file);
int ln_onnx_write_external(ln_context *ctx, const char *file);

/** Packs the model, with the data of its initializers, to the file. -1 with a reason. */
int ln_onnx_pack(ln_onnx_writer *w, LnOnnx__Model *model, int is_external);
