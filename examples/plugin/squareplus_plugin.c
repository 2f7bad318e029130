// SPDX-License-Identifier: Apache-2.0
// The plug-in: an abstract operator with its rule, and the operator that computes it.

#include <lightnet/lightnet.h>

#include "ops_cpu.h"
#include "ops_none.h"
#include "rules.h"

static const ln_arch none = {
    .arch_name = "none",
    .reg_ops = ops_none,
    .ep_funcs = ln_ep_funcs_none,
    .cb_funcs = ln_cb_funcs_none,
    .sg_funcs = ln_sg_funcs_none,
    .rule_names = ln_rule_names_none,
    .early_stages = ln_early_stages_none,
    .later_stages = ln_later_stages_none,
};

static const ln_arch cpu = {.arch_name = "cpu", .reg_ops = ops_cpu};

static const ln_arch *const additions[] = {&none, &cpu, NULL};

LN_PLUGIN(.name = "squareplus", .additions = additions);
