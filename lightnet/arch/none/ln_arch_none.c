// SPDX-License-Identifier: Apache-2.0
// The architecture "none": the abstract operators, which know shapes and types and cannot run.

#include "arch/ln_archs.h"
#include "ln_ops_none.h"
#include "ln_rules_none.h"

ln_arch ln_archimpl_none = {
    .reg_ops = ops_none,
    .ep_funcs = ln_ep_funcs_none,
    .cb_funcs = ln_cb_funcs_none,
    .sg_funcs = ln_sg_funcs_none,
    .arch_name = "none",
    .rule_names = ln_rule_names_none,
    .early_stages = ln_early_stages_none,
    .later_stages = ln_later_stages_none,
};
