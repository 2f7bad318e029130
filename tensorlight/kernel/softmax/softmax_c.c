// SPDX-License-Identifier: Apache-2.0
// Softmax, and its logarithm, in plain C.
//
// Lines that lie next to each other are computed together, up to LINES at a time, so that memory is
// read in order whatever the axis. The exponentials wait in dst for their sum, which is kept in
// double; where dst would round them, to 16 bits, they are computed again.

#include "kernel/softmax/softmax.h"

#include <math.h>

enum { LINES = 64 };

#define exp_of(x) _Generic((x), float : expf, double : exp)(x)

#define TL_TEMPLATE "kernel/softmax/softmax_c.inc.h"
#include "tensor/tl_each_float.inc.h"
#undef TL_TEMPLATE

#define TL_TEMPLATE "kernel/softmax/logsoftmax_c.inc.h"
#include "tensor/tl_each_float.inc.h"
