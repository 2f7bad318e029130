// SPDX-License-Identifier: Apache-2.0
// In a build without ONNX: no file is an ONNX tensor.

#include "data/ln_onnx_file.h"

int ln_onnx_tensor_is(const ln_infile *in)
{
    (void)in;
    return 0;
}

tl_tensor *ln_onnx_tensor_from_file(const ln_infile *in, const char *file, ln_error *err)
{
    (void)in;
    ln_error_set(err, "%s: this build of LightNet does not support ONNX", file);
    return NULL;
}
