// SPDX-License-Identifier: Apache-2.0
// Attention in plain C: row by row, first all scores, then the sum of values.

#include <math.h>

#include "kernel/attention/attention.h"

enum { LANES = 8 };

#define exp_of(x) _Generic((x), float : expf, double : exp)(x)

#define TL_TEMPLATE "kernel/attention/attention_c.inc.h"
#include "tensor/tl_each_float.inc.h"
