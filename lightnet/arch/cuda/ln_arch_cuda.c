// SPDX-License-Identifier: Apache-2.0
// The architecture "cuda": an NVIDIA GPU for the operators that it has, and the CPU's operators for
// the rest. It is a plug-in, loaded on request, so LightNet does not depend on CUDA.

#include "arch/cuda/ln_cuda.h"
#include "lightnet/ln_plugin.h"
#include "ln_ops_cuda.h"
#include "ln_rules_cuda.h"

static const char *const precisions[] = {"tf32", "fp16", "bf16", NULL};

static ln_arch cuda = {
    .reg_ops = ops_cuda,
    .ep_funcs = ln_ep_funcs_cuda,
    .cb_funcs = ln_cb_funcs_cuda,
    .sg_funcs = ln_sg_funcs_cuda,
    .arch_name = "cuda",
    .rule_names = ln_rule_names_cuda,
    .early_stages = ln_early_stages_cuda,
    .later_stages = ln_later_stages_cuda,
    .base = "cpu",
    .precisions = precisions,
};

static ln_arch *const archs[] = {&cuda, NULL};

LN_PLUGIN(.name = "cuda", .archs = archs, .memory = &ln_cuda_memory);
