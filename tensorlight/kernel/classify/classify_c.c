// SPDX-License-Identifier: Apache-2.0
// Classes of numbers in plain C, for every floating type.

#include "kernel/classify/classify.h"

#include <math.h>

#include "tensorlight/tl_elementwise.h"

#define TL_TEMPLATE "kernel/classify/classify_c.inc.h"
#include "tensor/tl_each_float.inc.h"
