// SPDX-License-Identifier: Apache-2.0
// params: parameter files of NNVM and TVM, which are also written, and lists of arrays of MXNet.
//
// All numbers are little-endian, and nothing is aligned. NNVM's list begins with a magic number,
// the names, then the arrays; MXNet's has the arrays first, in one of four versions.

#pragma once

#include <stdint.h>

#include "base/ln_infile.h"
#include "data/ln_bundle.h"
#include "lightnet/ln_msg.h"

/** The magic numbers of an NNVM list, and of an array in it. */
#define LN_PARAMS_LIST  UINT64_C(0xF7E58D4F05049CB7)
#define LN_PARAMS_ARRAY UINT64_C(0xDD5E40F096B4A13F)

/** NNVM's element types, from DLPack. */
typedef struct ln_params_type {
    uint8_t code, bits;
    tl_dtype dtype;
} ln_params_type;

enum { LN_PARAMS_NUM_TYPES = 11 };

extern const ln_params_type ln_params_types[LN_PARAMS_NUM_TYPES];

/** The types of MXNet's codes in lists and in attributes of graphs; core's graphs from before 2019
 * have other types from LN_PARAMS_SURE_CODES on. */
enum { LN_PARAMS_SURE_CODES = 7, LN_PARAMS_NUM_CODES = 13 };

extern const tl_dtype ln_params_codes[LN_PARAMS_NUM_CODES];

/** Whether the file is such a list, by its first bytes. */
int ln_params_is(const ln_infile *in);

/** Reads the list into the bundle, which the caller clears, also after a failure. The data of the
 * tensors is in `in`, which outlives them. A name loses one leading "arg:" or "aux:". -1 with a
 * reason that names the file, the offset and the field. */
int ln_params_parse(ln_bundle *bundle, const ln_infile *in, const char *file, ln_error *err);

/** Writes `n` tensors with data as NNVM's list to `file`, which a failure leaves as it was. -1 with
 *  a reason: a type that the format lacks, or the file cannot be written. */
int ln_params_write(const char *file, int n, const char *const *names,
                    const tl_tensor *const *tensors, ln_error *err);
