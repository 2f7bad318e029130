// SPDX-License-Identifier: Apache-2.0
// The architecture "dnnl": uses oneDNN for the operators that it supports, and the CPU's operators
// for the rest. It is a plug-in, loaded on request, so LightNet does not depend on oneDNN.

#include "lightnet/ln_plugin.h"
#include "ln_ops_dnnl.h"
#include "ln_rules_dnnl.h"

static ln_arch dnnl = {
    .reg_ops = ops_dnnl,
    .ep_funcs = ln_ep_funcs_dnnl,
    .cb_funcs = ln_cb_funcs_dnnl,
    .sg_funcs = ln_sg_funcs_dnnl,
    .arch_name = "dnnl",
    .rule_names = ln_rule_names_dnnl,
    .early_stages = ln_early_stages_dnnl,
    .later_stages = ln_later_stages_dnnl,
    .base = "cpu",
};

static ln_arch *const archs[] = {&dnnl, NULL};

LN_PLUGIN(.name = "dnnl", .archs = archs);
