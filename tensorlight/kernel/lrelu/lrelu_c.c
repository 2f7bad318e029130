// SPDX-License-Identifier: Apache-2.0
// The leaky rectifier in plain C, for every type.

#include "kernel/lrelu/lrelu.h"

#include <inttypes.h>

#include "tensor/tl_convert.h"

#define TL_TEMPLATE "kernel/lrelu/lrelu_c.inc.h"

#define SCALED(x, slope) ((x) * (C)(slope))
#include "tensor/tl_each_float.inc.h"
#undef SCALED

#define SCALED(x, slope) NAME(tl, from_double)((double)(x) * (double)(slope))
#include "tensor/tl_each_int.inc.h"
#define TL_TAG b8
#include "tensor/tl_one_type.inc.h"
#undef SCALED
