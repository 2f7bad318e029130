// SPDX-License-Identifier: Apache-2.0
// The comparisons of some types: plain C, compiled for the vectors of one instruction set.

#include "kernel/simd/tl_simd.h"

#define TL_SET TL_SIMD_SET
#define TL_TUNED_ALL

#include "kernel/comparison/comparison.h"

#define TL_TEMPLATE "kernel/comparison/comparison_c.inc.h"
#define TL_TAG      f32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG f64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i8
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u8
#include "tensor/tl_one_type.inc.h"
#define TL_TAG b8
#include "tensor/tl_one_type.inc.h"
