// SPDX-License-Identifier: Apache-2.0
// Transposition in plain C, for every size of element.

#include "kernel/transpose/transpose.h"

#include <stdint.h>

/** Columns at a time: the lines of src that they touch stay in the cache from row to row. */
enum { TILE = 32 };

// Each of these types stands for TL_FLOAT or another.
#define TL_TUNED_ALL
#define TL_TEMPLATE "kernel/transpose/transpose_c.inc.h"
#define TL_TAG      u8
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u16
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u64
#include "tensor/tl_one_type.inc.h"
