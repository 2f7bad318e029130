// SPDX-License-Identifier: Apache-2.0
// Local response normalization in plain C, up to PLACES neighbouring places at a time.

#include "kernel/lrn/lrn.h"

#include <math.h>

enum { PLACES = 256 };

#define pow_of(x, y) _Generic((x), float : powf, double : pow)(x, y)

#define TL_TEMPLATE "kernel/lrn/lrn_c.inc.h"
#include "tensor/tl_each_float.inc.h"
