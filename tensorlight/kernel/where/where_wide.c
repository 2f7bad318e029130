// SPDX-License-Identifier: Apache-2.0
// The choice between two tensors: plain C, compiled for the vectors of one instruction set.

#include "kernel/simd/tl_simd.h"

#define TL_SET TL_SIMD_SET
#define TL_TUNED_ALL

#include "kernel/where/where.h"

#define TL_TEMPLATE "kernel/where/where_c.inc.h"
#define TL_TAG      u8
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u16
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u64
#include "tensor/tl_one_type.inc.h"
