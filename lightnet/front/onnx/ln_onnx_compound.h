// SPDX-License-Identifier: Apache-2.0
// Values that are not tensors: sequences and optional values.
//
// They exist only while a model is translated: a program has tensors. A sequence is a list of
// tensors, so its length is known. An optional value has an element, a tensor or a sequence, or is
// absent. In scopes, and in functions of ln_onnx.h that mention it, a value is a name (const char
// *): of a tensor, or one that only ln_onnx_compound_of understands.
//
//     const ln_onnx_compound *seq = ln_onnx_sequence_in(n, 0);
//     for (int i = 0; seq && i < seq->len; i++)
//         ... seq->items[i] ...

#pragma once

#include "front/onnx/ln_onnx.h"

typedef struct ln_onnx_compound {
    int is_optional;
    tl_dtype dtype;     // of the tensors
    int is_of_sequence; // of an optional value: its element, if any, is a sequence
    int len;            // of a sequence: its tensors; of an optional value: 1, or 0 for none
    const char **items; // the tensors, or the element
    struct ln_onnx_buffer *buffer; // of a sequence: that of its items
} ln_onnx_compound;

/** The sequence or optional value of that name; NULL: it is a tensor. */
const ln_onnx_compound *ln_onnx_compound_of(const ln_onnx_model *m, const char *value);

/** A new sequence of `len` tensors (copies the list). Returns its name; NULL after a failure, such
 * as a tensor of a type other than `dtype`. */
const char *ln_onnx_sequence(ln_onnx_node *n, tl_dtype dtype, int len, const char *const *items);

/** A new sequence: `seq` without the `n_removed` tensors from `position` on, and with `tensor`
 * (NULL: none) there. Appending takes constant time. Returns its name; NULL after a failure. */
const char *ln_onnx_sequence_with(ln_onnx_node *n, const ln_onnx_compound *seq, int position,
                                  int n_removed, const char *tensor);

/** A new optional value that has this element. Returns its name; NULL after a failure. */
const char *ln_onnx_optional_of(ln_onnx_node *n, const char *element);

/** The same without an element: of tensors of that type, or of sequences of them. */
const char *ln_onnx_optional_absent(ln_onnx_node *n, tl_dtype dtype, int is_of_sequence);

/** For messages: "a sequence of 3 tensors", "a tensor". */
const char *ln_onnx_value_text(ln_onnx_model *m, const char *value);

// Inputs of nodes

/** As ln_onnx_in and ln_onnx_optional, also for values that are not tensors. */
const char *ln_onnx_any_in(ln_onnx_node *n, int i);
const char *ln_onnx_any_optional(ln_onnx_node *n, int i);

/** Input `i`, a sequence; NULL after a failure. */
const ln_onnx_compound *ln_onnx_sequence_in(ln_onnx_node *n, int i);

/** The node fails unless the value, called `what` in the message, is a tensor. */
void ln_onnx_want_tensor(ln_onnx_node *n, const char *what, const char *value);

// The tensors of values: in order, those of sequences one after the other

/** Whether one of the values is not a tensor. */
int ln_onnx_has_compound(const ln_onnx_model *m, int len, const char *const *values);

/** How many tensors the values have. */
int ln_onnx_count_tensors(const ln_onnx_model *m, int len, const char *const *values);

/** Returns the tensors of the values, `*n_tensors` of them; NULL after a failure. */
const char **ln_onnx_flatten(ln_onnx_node *n, int len, const char *const *values, int *n_tensors);

/** A value like `value` whose tensors are the next ones of `*tensors`, which is moved past them.
 * NULL after a failure. */
const char *ln_onnx_rebuild(ln_onnx_node *n, const char *value, const char *const **tensors);

/** Whether both have as many tensors, arranged in the same way. */
int ln_onnx_is_alike(const ln_onnx_model *m, const char *one, const char *other);
