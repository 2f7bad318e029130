// SPDX-License-Identifier: Apache-2.0
// Numbers as elements of constants, for front ends.

#include "front/ln_element.h"

#include "tensorlight/tl_elementwise.h"

void ln_element_write(void *element, tl_dtype dtype, double value)
{
    const tl_tensor src = {.dtype = TL_DOUBLE, .len = 1, .data = &value};
    tl_tensor dst = {.dtype = dtype, .len = 1, .data = element};
    if (!tl_dtype_is_float(dtype) || !tl_tensor_cast(&src, &dst, dtype))
        tl_convert(element, dtype, &value, TL_DOUBLE);
}
