// SPDX-License-Identifier: Apache-2.0
// Compiles the template TL_TEMPLATE for every unsigned integer type: for all sizes of elements.

#define TL_TAG u64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u16
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u8
#include "tensor/tl_one_type.inc.h"
