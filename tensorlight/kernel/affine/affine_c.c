// SPDX-License-Identifier: Apache-2.0
// Scale and shift per channel in plain C.

#include "kernel/affine/affine.h"

#define TL_TEMPLATE "kernel/affine/affine_c.inc.h"
#include "tensor/tl_each_float.inc.h"
