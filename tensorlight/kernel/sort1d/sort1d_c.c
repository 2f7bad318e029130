// SPDX-License-Identifier: Apache-2.0
// Sorting in plain C: a stable merge sort of indices, bottom up from short insertion-sorted runs.

#include "kernel/sort1d/sort1d.h"

#include <string.h>

enum { RUN = 16 };

#define TL_TEMPLATE "kernel/sort1d/sort1d_c.inc.h"

#define IS_NAN(x) ((x) != (x))
#include "tensor/tl_each_float.inc.h"
#undef IS_NAN

#define IS_NAN(x) 0
#include "tensor/tl_each_int.inc.h"
#define TL_TAG b8
#include "tensor/tl_one_type.inc.h"
