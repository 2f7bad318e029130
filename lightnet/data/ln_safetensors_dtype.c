// SPDX-License-Identifier: Apache-2.0
// The names of dtypes in safetensors.

#include "data/ln_safetensors_dtype.h"

#include <string.h>

static const char *const names_of_dtypes[TL_DTYPE_SIZE] = {
    [TL_DOUBLE] = "F64",    [TL_FLOAT] = "F32",  [TL_INT32] = "I32",  [TL_INT16] = "I16",
    [TL_INT8] = "I8",       [TL_UINT32] = "U32", [TL_UINT16] = "U16", [TL_UINT8] = "U8",
    [TL_BOOL] = "BOOL",     [TL_INT64] = "I64",  [TL_UINT64] = "U64", [TL_FLOAT16] = "F16",
    [TL_BFLOAT16] = "BF16",
};

const char *ln_safetensors_dtype_name(tl_dtype dtype)
{
    return names_of_dtypes[dtype];
}

tl_dtype ln_safetensors_dtype_from_str(const char *str)
{
    for (int dtype = 0; dtype < TL_DTYPE_SIZE; dtype++)
        if (!strcmp(names_of_dtypes[dtype], str))
            return (tl_dtype)dtype;
    return TL_DTYPE_INVALID;
}
