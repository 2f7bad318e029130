// SPDX-License-Identifier: Apache-2.0
// The architecture "cpu": operators that compute with TensorLight, and the rewrites to them.

#include "arch/ln_archs.h"
#include "ln_ops_cpu.h"
#include "ln_rules_cpu.h"

ln_arch ln_archimpl_cpu = {
    .reg_ops = ops_cpu,
    .ep_funcs = ln_ep_funcs_cpu,
    .cb_funcs = ln_cb_funcs_cpu,
    .sg_funcs = ln_sg_funcs_cpu,
    .arch_name = "cpu",
    .rule_names = ln_rule_names_cpu,
    .early_stages = ln_early_stages_cpu,
    .later_stages = ln_later_stages_cpu,
};
