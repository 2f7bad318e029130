// SPDX-License-Identifier: Apache-2.0
// Compiles the template TL_TEMPLATE for every integer type (TL_BOOL is none).

#define TL_TAG i64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i16
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i8
#include "tensor/tl_one_type.inc.h"
#include "tensor/tl_each_uint.inc.h"
