// SPDX-License-Identifier: Apache-2.0
// The rectifier in plain C, for every type.

#include "kernel/relu/relu.h"

#define TL_TEMPLATE "kernel/relu/relu_c.inc.h"
#include "tensor/tl_each_type.inc.h"
