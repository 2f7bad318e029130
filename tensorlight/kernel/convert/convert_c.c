// SPDX-License-Identifier: Apache-2.0
// Conversion in plain C: from every type to every type.

#include "kernel/convert/convert.h"

#include <inttypes.h>

#include "tensor/tl_convert.h"

#define TL_TEMPLATE "kernel/convert/convert_c.inc.h"
#include "tensor/tl_each_type.inc.h"
