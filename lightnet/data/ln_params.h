// SPDX-License-Identifier: Apache-2.0
// params: files of parameters as NNVM and TVM write them, and lists of arrays as MXNet does.
//
// All numbers are little-endian, and nothing is aligned. NNVM's list begins with a magic number,
// the names, then the arrays; MXNet's has the arrays first, in one of four versions.

#ifndef LN_PARAMS_H
#define LN_PARAMS_H

#include "base/ln_filemap.h"
#include "data/ln_bundle.h"
#include "lightnet/ln_msg.h"

/** Whether the file is such a list, by its first bytes. */
int ln_params_is(const ln_filemap *map);

/** Reads the list into the bundle, which is cleared by the caller also after a failure. The tensors
 *  point into the map, which outlives them, and may be at odd addresses. A name loses one leading
 *  "arg:" or "aux:". -1 with a reason that names the file, the offset and the field. */
int ln_params_parse(ln_bundle *bundle, const ln_filemap *map, const char *file, ln_error *err);

#endif
