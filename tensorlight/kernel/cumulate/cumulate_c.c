// SPDX-License-Identifier: Apache-2.0
// The sums and products up to each element in plain C: floats in double, integers modulo 2^64,
// which keeps their own lower bits. Neighbouring lines are computed together, up to LINES at a
// time, so that memory is read in order whatever the axis.

#include "kernel/cumulate/cumulate.h"

#include <stdint.h>

enum { LINES = 64 };

#define TL_TEMPLATE "kernel/cumulate/cumulate_c.inc.h"

#define SUM double
#include "tensor/tl_each_float.inc.h"
#undef SUM

#define SUM uint64_t
#include "tensor/tl_each_int.inc.h"
