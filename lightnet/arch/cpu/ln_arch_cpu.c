// SPDX-License-Identifier: Apache-2.0
// The architecture "cpu": operators that compute with TensorLight, and the rewrites to them.

#include "arch/ln_archs.h"
#include "ln_ops_cpu.h"

ln_arch ln_archimpl_cpu = {
    .reg_ops = ops_cpu,
    .arch_name = "cpu",
};
