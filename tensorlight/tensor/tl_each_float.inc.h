// SPDX-License-Identifier: Apache-2.0
// Compiles the template TL_TEMPLATE for every floating type.

#define TL_TAG f64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG f16
#include "tensor/tl_one_type.inc.h"
#define TL_TAG bf16
#include "tensor/tl_one_type.inc.h"
