// SPDX-License-Identifier: Apache-2.0
// The interface for translators of ONNX operators.
//
// A translator reads its node (inputs, attributes) and emits LightNet operators with the node's
// emitter (ln_emit.h), as if nothing could fail.
//
//     static void translate_leaky_relu(ln_onnx_node *n)
//     {
//         // The output "dst" is the node's output 0.
//         LN_EMIT(&n->emit, 0, LN_OP_UNARY, LN_ARG("src", ln_onnx_in(n, 0)),
//                 LN_TEXT("func", "TL_UNARY_LRELU"),
//                 LN_NUMBER("alpha", ln_attr_number(&n->emit, "alpha", 0.01)));
//     }
//
//     const ln_onnx_row ln_onnx_rows_example[] = {
//         {"LeakyRelu", 1, translate_leaky_relu},
//         {NULL},
//     };

#pragma once

#include <stdint.h>

#include "front/ln_form.h"
#include "ir/ln_sizes.h"
#include "ln_onnx.pb-c.h"

typedef struct ln_onnx_model ln_onnx_model; // the model that is being translated
typedef struct ln_onnx_scope ln_onnx_scope; // the names that are visible to a graph's nodes

struct ln_onnx_row;

/** The node that is being translated. */
typedef struct ln_onnx_node {
    ln_emit emit; // emits its operators; failures name the node
    ln_onnx_model *model;
    ln_onnx_scope *scope;
    const LnOnnx__Node *proto;
    const struct ln_onnx_row *row; // how it is translated
    int opset;                     // the version of the operator set that it is written in
} ln_onnx_node;

typedef void (*ln_onnx_translate)(ln_onnx_node *n);

/** The translator of an operator since an opset. A table ends with the op_type NULL. A node uses
 * the row with the highest `since` up to its opset. */
typedef struct ln_onnx_row {
    const char *op_type;
    int since;
    ln_onnx_translate translate; // NULL: not supported
    const char *with;            // distinguishes rows of one function; or why it is not supported
} ln_onnx_row;

/** The forms of operators in ONNX. */
extern const ln_form *const ln_onnx_forms;

/** The words of Pad's `mode`. */
extern const ln_attr_word ln_onnx_pad_modes[];

/** Translates the node by the form of its operator. */
void ln_onnx_translate_form(ln_onnx_node *n);

/** The same for the form of `type`, with `parts` that override or extend its own; its first output
 * is the node's output `i`, or LN_EMIT_TEMP. Returns the tensor's name. */
const char *ln_onnx_emit_form(ln_onnx_node *n, const char *type, int i, const ln_part *parts);

#define LN_ONNX_FORM_OF(n, type, i, ...) \
    ln_onnx_emit_form(n, type, i, (const ln_part[]){__VA_ARGS__, {.kind = LN_PART_END}})
#define LN_ONNX_FORM(n, i, ...) LN_ONNX_FORM_OF(n, (n)->row->op_type, i, __VA_ARGS__)

// The tables of translators, one for each kind of operators, ln_onnx_rows_KIND, by domains.

// clang-format off
#define LN_ONNX_TABLES(T) \
    T(attention) T(branch) T(control) T(conv) T(dropped) T(einsum) T(elementwise) \
    T(image) T(index) T(matmul) T(norm) T(optional) T(pool) T(quantize) T(random) T(recurrent) \
    T(reduce) T(resize) T(sample) T(sequence) T(shape) T(signal) T(state) T(strings) T(unary) \
    T(form)
#define LN_ONNX_PREVIEW_TABLES(T) \
    T(preview)
#define LN_ONNX_ML_TABLES(T) \
    T(labels) T(ml_features) T(ml_linear) T(ml_map) T(ml_svm) T(ml_trees)
#define LN_ONNX_CONTRIB_TABLES(T) \
    T(contrib_absent) T(contrib_algebra) T(contrib_attention) T(contrib_experts) \
    T(contrib_fused) T(contrib_grouped) T(contrib_nbits) T(contrib_norm) T(contrib_quantize) \
    T(contrib_recurrent) T(contrib_form)
// clang-format on

#define LN_ONNX_DECLARE(kind) extern const ln_onnx_row ln_onnx_rows_##kind[];
LN_ONNX_TABLES(LN_ONNX_DECLARE)
LN_ONNX_PREVIEW_TABLES(LN_ONNX_DECLARE)
LN_ONNX_ML_TABLES(LN_ONNX_DECLARE)
LN_ONNX_CONTRIB_TABLES(LN_ONNX_DECLARE)

// Failing

/** Whether something failed. */
int ln_onnx_failed(const ln_onnx_node *n);

/** Whether the tensor depends only on inputs of the model with one element, and on constants. */
int ln_onnx_depends_on_scalars_only(ln_onnx_node *n, const char *tensor);

// Inputs and outputs of the node

/** The number of inputs and outputs, without trailing absent ones. */
int ln_onnx_num_inputs(const ln_onnx_node *n);
int ln_onnx_num_outputs(const ln_onnx_node *n);

/** Whether the node has input `i`, and whether it names output `i`. */
int ln_onnx_has_input(const ln_onnx_node *n, int i);
int ln_onnx_wants(const ln_onnx_node *n, int i);

/** Whether a node or an output of the graph reads output `i`. Only then must it be computed. */
int ln_onnx_is_read(const ln_onnx_node *n, int i);

/** Input `i`, a tensor: required, or optional, NULL if absent. For other values, see
 * ln_onnx_compound.h. */
const char *ln_onnx_in(ln_onnx_node *n, int i);
const char *ln_onnx_optional(ln_onnx_node *n, int i);

/** Input `i`, the zero point of the integers `of`: NULL if it is absent, or a constant 0, so that
 * rules need not match a zero point without effect. One of a wrong type or length is returned, for
 * the operator to reject. */
const char *ln_onnx_zero_point(ln_onnx_node *n, int i, const char *of, int axis);

/** Required input `i`, a tensor of `ndim` dimensions. */
const char *ln_onnx_in_of(ln_onnx_node *n, int i, int ndim);

/** Makes output `i` an alias of an existing value. */
void ln_onnx_alias(ln_onnx_node *n, int i, const char *value);

// Tensors

/** Its dtype, ndim, dims and len; after a failure, or for NULL, a scalar of TL_FLOAT. Returns
 * borrowed. */
const tl_tensor *ln_onnx_tensor_of(const ln_onnx_node *n, const char *tensor);

/** Integers of fewer than 8 bits as the bytes that they have in memory, TL_INT8 or TL_UINT8, which
 * operators compute with; NULL and tensors of other types unchanged. */
const char *ln_onnx_bytes_of(ln_onnx_node *n, const char *tensor);

/** Whether its shape is known only at run time: its record then has the max of each dimension. */
int ln_onnx_is_dynamic(const ln_onnx_node *n, const char *tensor);

/** The node fails if its first input, `src`, or one axis of it, has a size that is known only at
 * run time. For code that uses the max size. */
void ln_onnx_want_fixed(ln_onnx_node *n, const char *src);
void ln_onnx_want_fixed_axis(ln_onnx_node *n, const char *src, int axis);

/** Its value, computed by running its producers; NULL if it depends on run-time data (no failure).
 * Returns borrowed (until the translation ends). */
const tl_tensor *ln_onnx_value(ln_onnx_node *n, const char *tensor);

/** As ln_onnx_value, also of a tensor that depends on inputs with values set before compiling:
 * these are fixed from then on. */
const tl_tensor *ln_onnx_bound_value(ln_onnx_node *n, const char *tensor);

/** Element `k` of a tensor of integers, and the length of an axis: as far as they are known before
 * a run, or follow from sizes that are known only then. Unknown: also where the node has failed. */
ln_dim ln_onnx_element_size(ln_onnx_node *n, const char *tensor, int k);
ln_dim ln_onnx_axis_size(const ln_onnx_node *n, const char *tensor, int axis);

/** The min and max of a known size. */
int64_t ln_onnx_min(const ln_onnx_node *n, const ln_dim *size);
int64_t ln_onnx_max(const ln_onnx_node *n, const ln_dim *size);

/** The value of input `i`, which determines a shape: it must be known, otherwise the node fails and
 * explains how to bind it. Returns borrowed; NULL after a failure, or without the input. */
const tl_tensor *ln_onnx_decisive_in(ln_onnx_node *n, int i);

/** The elements of input `i`, TL_INT32 or TL_INT64, which determine a shape: their value must be
 * known, otherwise the node fails and explains how to bind it. NULL and `*len` 0 for an absent
 * input. Returns borrowed. */
const int64_t *ln_onnx_ints_in(ln_onnx_node *n, int i, int *len);

/** Whether the value of input `i` is known only at run time. */
int ln_onnx_varies(ln_onnx_node *n, int i);

/** Input `i`, which sets a parameter, if its value is known only at run time; otherwise NULL. */
const char *ln_onnx_runtime_input(ln_onnx_node *n, int i);

/** As ln_onnx_ints_in, also of an input that varies with sizes that are known only at run time: the
 * value for the largest sizes. */
const int64_t *ln_onnx_largest_ints_in(ln_onnx_node *n, int i, int *len);

/** As ln_onnx_ints_in, also of elements that follow from sizes that are known only at run time.
 * Returns their number, of which `dims` gets at most `max`; -1 after a failure. */
int ln_onnx_dims_in(ln_onnx_node *n, int i, int max, ln_dim *dims);

/** As ln_onnx_ints_in for a single number; `deflt` when the input is left out. */
int64_t ln_onnx_int_in(ln_onnx_node *n, int i, int64_t deflt);

/** As ln_onnx_int_in, of a required input; 1 after a failure. */
int64_t ln_onnx_required_int(ln_onnx_node *n, int i);

/** As ln_onnx_ints_in, of any numeric type. */
const double *ln_onnx_numbers_in(ln_onnx_node *n, int i, int *len);
double ln_onnx_number_in(ln_onnx_node *n, int i, double deflt);

/** As ln_onnx_number_in, of a required input; 0 after a failure. */
double ln_onnx_required_number(ln_onnx_node *n, int i);

/** As ln_attr_to_axis, `len` of them to `axes` [LN_MAXDIM]. Duplicates are a failure. */
void ln_onnx_axes(ln_onnx_node *n, const int64_t *given, int len, int ndim, int *axes);

// Attributes, beside those of ln_attr.h. Another type is a failure. Returned pointers are borrowed.

extern const ln_attr_reader ln_onnx_attrs;

/** NULL and `*len` 0 by default. */
const float *ln_onnx_floats(ln_onnx_node *n, const char *name, int *len);
const char *ln_onnx_string_at(ln_onnx_node *n, const char *name, int i); // NULL: no such element

/** The tensor as a constant of the program; NULL without the attribute. */
const char *ln_onnx_attr_tensor(ln_onnx_node *n, const char *name);

/** The string, a scalar, or the list of strings, [N], as a constant of the program; NULL without
 *  the attribute. */
const char *ln_onnx_text_constant(ln_onnx_node *n, const char *name);

/** NULL without the attribute. */
const LnOnnx__Type *ln_onnx_attr_type(ln_onnx_node *n, const char *name);

/** NULL without the attribute. */
const LnOnnx__Graph *ln_onnx_graph(ln_onnx_node *n, const char *name);

// Graphs within nodes, and functions

/** Translates the graph's nodes in place, with `ins` for its inputs; `outs` receives its outputs.
 * These are values of any kind. The lengths must be those of the graph. */
void ln_onnx_inline(ln_onnx_node *n, const LnOnnx__Graph *graph, int n_ins, const char *const *ins,
                    int n_outs, const char **outs);

// For the tables

/** The row for an operator of a domain in this opset; NULL: not known. */
const ln_onnx_row *ln_onnx_find_row(const char *domain, const char *op_type, int opset);

/** Calls `func` with each row of each domain ("": ONNX's own), those of unsupported operators, too.
 */
void ln_onnx_each_row(void (*func)(void *data, const char *domain, const ln_onnx_row *row),
                      void *data);
