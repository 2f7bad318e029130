// SPDX-License-Identifier: Apache-2.0
// In a build without ONNX: no file is an ONNX tensor.

#include "data/ln_onnx_file.h"

int ln_onnx_tensor_is(const ln_infile *map)
{
    (void)map;
    return 0;
}

tl_tensor *ln_onnx_tensor_from_map(const ln_infile *map, const char *file, ln_error *err)
{
    (void)map;
    ln_error_set(err, "%s: this build of LightNet reads no ONNX", file);
    return NULL;
}
