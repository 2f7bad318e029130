// SPDX-License-Identifier: Apache-2.0
// The matrix product in plain C.

#include "kernel/matmul/matmul.h"

#include <stdint.h>
#include <string.h>

/* ---- the products of packed blocks ---- */

// All types are brought to one of these.
#define TL_TUNED_ALL
#define TL_TEMPLATE "kernel/matmul/matmul_c.inc.h"
#define TL_TAG      f64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u32
#include "tensor/tl_one_type.inc.h"
#undef TL_TEMPLATE
#undef TL_TUNED_ALL

/* ---- from and to tensors ---- */

enum { LANES = 8 };

#define TL_TEMPLATE "kernel/matmul/matmul_io_c.inc.h"

#define SUM      C
#define SCALE(d) ((C)(d))
#include "tensor/tl_each_float.inc.h"
#undef SUM
#undef SCALE

#define SCALE(d) ((SUM)(int64_t)(d))
#define SUM      uint64_t
#define TL_TAG   i64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u64
#include "tensor/tl_one_type.inc.h"
#undef SUM

#define SUM    uint32_t
#define TL_TAG i32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i16
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i8
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u16
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u8
#include "tensor/tl_one_type.inc.h"
