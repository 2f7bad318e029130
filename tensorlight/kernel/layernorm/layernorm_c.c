// SPDX-License-Identifier: Apache-2.0
// Normalization of lines in plain C: sums in double, divided among lanes that compilers keep in
// vectors. The variance is summed from differences to the mean, so that large means do no harm.

#include "kernel/layernorm/layernorm.h"

#include <math.h>

enum { LANES = 8 };

#define TL_TEMPLATE "kernel/layernorm/layernorm_c.inc.h"
#include "tensor/tl_each_float.inc.h"
