// SPDX-License-Identifier: Apache-2.0
// Numbers as elements of constants, for front ends.

#pragma once

#include "tensorlight/tl_type.h"

/** Writes `value` as an element of the dtype: to a floating-point type as the operator cast does,
 * so that what is too large is infinite, where tl_convert saturates; to others as tl_convert. */
void ln_element_write(void *element, tl_dtype dtype, double value);
