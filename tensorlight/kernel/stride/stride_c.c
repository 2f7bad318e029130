// SPDX-License-Identifier: Apache-2.0
// Copies with strides in plain C, for every size of element.

#include "kernel/stride/stride.h"

#include <stdint.h>

// Each of these types stands for TL_FLOAT or another.
#define TL_TUNED_ALL
#define TL_TEMPLATE "kernel/stride/stride_c.inc.h"
#define TL_TAG      u8
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u16
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u64
#include "tensor/tl_one_type.inc.h"
