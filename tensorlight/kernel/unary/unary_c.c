// SPDX-License-Identifier: Apache-2.0
// The functions of one number in plain C, for every floating type.

#include "kernel/unary/unary.h"

#include <tgmath.h>

#define TL_TEMPLATE "kernel/unary/unary_c.inc.h"
#include "tensor/tl_each_float.inc.h"
