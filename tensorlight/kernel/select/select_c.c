// SPDX-License-Identifier: Apache-2.0
// Selections in plain C, for every type.

#include "kernel/select/select.h"

#define TL_TEMPLATE "kernel/select/select_c.inc.h"

#define IS_NAN(x) ((x) != (x))
#include "tensor/tl_each_float.inc.h"
#undef IS_NAN

#define IS_NAN(x) 0
#include "tensor/tl_each_int.inc.h"
#define TL_TAG b8
#include "tensor/tl_one_type.inc.h"
