// SPDX-License-Identifier: Apache-2.0
// params: files of parameters as NNVM and TVM write them, and lists of arrays as MXNet does; the
// former are written too.
//
// All numbers are little-endian, and nothing is aligned. NNVM's list begins with a magic number,
// the names, then the arrays; MXNet's has the arrays first, in one of four versions.

#ifndef LN_PARAMS_H
#define LN_PARAMS_H

#include <stdint.h>

#include "base/ln_infile.h"
#include "data/ln_bundle.h"
#include "lightnet/ln_msg.h"

/* How a list of NNVM, and an array in it, begin. */
#define LN_PARAMS_LIST  UINT64_C(0xF7E58D4F05049CB7)
#define LN_PARAMS_ARRAY UINT64_C(0xDD5E40F096B4A13F)

/* NNVM's types of elements, as DLPack tells them. */
typedef struct ln_params_type {
    uint8_t code, bits;
    tl_dtype dtype;
} ln_params_type;

enum { LN_PARAMS_NUM_TYPES = 11 };

extern const ln_params_type ln_params_types[LN_PARAMS_NUM_TYPES];

/* Types by the codes that MXNet has for them in its lists, and graphs in attributes; core's graphs
 * of before 2019 have other types from LN_PARAMS_SURE_CODES on. */
enum { LN_PARAMS_SURE_CODES = 7, LN_PARAMS_NUM_CODES = 13 };

extern const tl_dtype ln_params_codes[LN_PARAMS_NUM_CODES];

/** Whether the file is such a list, by its first bytes. */
int ln_params_is(const ln_infile *in);

/** Reads the list into the bundle, which is cleared by the caller also after a failure. The tensors
 *  have their data in `in`, which outlives them. A name loses one leading "arg:" or "aux:". -1
 * with a reason that names the file, the offset and the field. */
int ln_params_parse(ln_bundle *bundle, const ln_infile *in, const char *file, ln_error *err);

/** Writes `n` tensors with data as NNVM's list to `file`, which a failure leaves as it was. -1 with
 *  a reason: a type that the format lacks, or the file cannot be written. */
int ln_params_write(const char *file, int n, const char *const *names,
                    const tl_tensor *const *tensors, ln_error *err);

#endif
