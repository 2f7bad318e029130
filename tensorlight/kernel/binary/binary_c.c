// SPDX-License-Identifier: Apache-2.0
// The binary operations in plain C, for every type.

#include "kernel/binary/binary.h"
#include "kernel/binary/binary_operation.h"

#include <inttypes.h>
#include <math.h>
#include <tgmath.h>

#define TL_TEMPLATE "kernel/binary/binary_float_c.inc.h"
#include "tensor/tl_each_float.inc.h"
#undef TL_TEMPLATE

#define TL_TEMPLATE "kernel/binary/binary_int_c.inc.h"
#include "tensor/tl_each_int.inc.h"
#undef TL_TEMPLATE

#define TL_TEMPLATE "kernel/binary/binary_logic_c.inc.h"
#include "tensor/tl_each_int.inc.h"
#define TL_TAG b8
#include "tensor/tl_one_type.inc.h"
