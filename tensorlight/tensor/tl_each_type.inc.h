// SPDX-License-Identifier: Apache-2.0
// Compiles the template TL_TEMPLATE for every type.

#include "tensor/tl_each_float.inc.h"
#include "tensor/tl_each_int.inc.h"
#define TL_TAG b8
#include "tensor/tl_one_type.inc.h"
