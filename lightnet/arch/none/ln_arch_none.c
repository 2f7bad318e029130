// SPDX-License-Identifier: Apache-2.0
// The architecture "none": the abstract operators, which know shapes and types and cannot run.

#include "arch/ln_archs.h"
#include "ln_ops_none.h"

ln_arch ln_archimpl_none = {
    .reg_ops = ops_none,
    .arch_name = "none",
};
