// SPDX-License-Identifier: Apache-2.0
// A step of recurrent networks in plain C.

#include "kernel/recurrent/recurrent.h"

#define TL_TEMPLATE "kernel/recurrent/recurrent_c.inc.h"
#define TL_TAG      f64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"
