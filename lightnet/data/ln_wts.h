// SPDX-License-Identifier: Apache-2.0
// wts: the TensorRT weight text format.
//
//     2
//     conv1_weight 0 3 bc11e916 be7297dd 0
//     conv1_bias 0 1 3f800000
//
// The number of arrays; then a line for each: name, type, count, and that many words of hexadecimal
// digits, the bits of an element, without leading zeros if wanted. Spaces and tabs separate.

#pragma once

#include "data/ln_bundle.h"
#include "base/ln_infile.h"
#include "lightnet/ln_msg.h"

/** Whether the bytes begin like a wts file: with a digit. */
int ln_wts_is(const ln_infile *in);

/** Adds the arrays to the empty `bundle`, as 1-D tensors with new data. `file` is the name
 * in messages. -1 with a reason; clear the bundle then, too. */
int ln_wts_parse(ln_bundle *bundle, const ln_infile *in, const char *file, ln_error *err);

/** The length of the C identifier at the start of `text`, of `len` characters; 0: none. Names of
 * arrays are such identifiers of fewer than LN_MAX_NAME_LEN characters. */
size_t ln_wts_identifier(const char *text, size_t len);

/** The format's types of elements. */
typedef struct ln_wts_type {
    tl_dtype dtype;
    int digits; // max digits of a word
} ln_wts_type;

#define LN_WTS_NUM_TYPES 3

/** The index of a row is its number in files. */
extern const ln_wts_type ln_wts_types[LN_WTS_NUM_TYPES];
