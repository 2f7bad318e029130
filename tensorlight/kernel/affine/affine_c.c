// SPDX-License-Identifier: Apache-2.0
// Scale and shift per channel in plain C.

#include "kernel/affine/affine.h"

/** What changes no number when it is added: 0 would turn -0 into 0. */
#define NOTHING (-0.0f)

#define TL_TEMPLATE "kernel/affine/affine_c.inc.h"
#include "tensor/tl_each_float.inc.h"
