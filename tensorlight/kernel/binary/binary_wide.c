// SPDX-License-Identifier: Apache-2.0
// The binary operations on other types than float: plain C, compiled for the vectors of one
// instruction set.

#include "kernel/simd/tl_simd.h"

#define TL_SET TL_SIMD_SET
#define TL_TUNED_ALL

#include "kernel/binary/binary.h"
#include "kernel/binary/binary_operation.h"

#define TL_TEMPLATE "kernel/binary/binary_float_short.inc.h"
#define TL_TAG      f64
#include "tensor/tl_one_type.inc.h"
#undef TL_TEMPLATE

#define TL_TEMPLATE "kernel/binary/binary_int_short.inc.h"
#define TL_TAG      i64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i8
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u8
#include "tensor/tl_one_type.inc.h"
#undef TL_TEMPLATE

#define TL_TEMPLATE "kernel/binary/binary_logic_c.inc.h"
#define TL_TAG      b8
#include "tensor/tl_one_type.inc.h"
