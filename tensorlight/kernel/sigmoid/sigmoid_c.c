// SPDX-License-Identifier: Apache-2.0
// The logistic function in plain C, for every floating type.

#include "kernel/sigmoid/sigmoid.h"

#include <tgmath.h>

#define TL_TEMPLATE "kernel/sigmoid/sigmoid_c.inc.h"
#include "tensor/tl_each_float.inc.h"
