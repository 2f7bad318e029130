// SPDX-License-Identifier: Apache-2.0
// The architectures of this build, entered into the tables before main begins: "none", the abstract
// operators, which have shapes and types and cannot run, and "cpu", operators that compute with
// TensorLight. Each has rewrites.

#include "lightnet/ln_arch.h"
#include "ln_ops_cpu.h"
#include "ln_ops_none.h"
#include "ln_rules_cpu.h"
#include "ln_rules_none.h"

static const char *const precisions[] = {"bf16", NULL};

#define ARCH(name, ...)                                                                         \
    {                                                                                           \
        .reg_ops = ops_##name, .ep_funcs = ln_ep_funcs_##name, .cb_funcs = ln_cb_funcs_##name,  \
        .sg_funcs = ln_sg_funcs_##name, .arch_name = #name, .rule_names = ln_rule_names_##name, \
        .early_stages = ln_early_stages_##name, .later_stages = ln_later_stages_##name,         \
        __VA_ARGS__                                                                             \
    }

__attribute__((constructor)) static void register_archs(void)
{
    static ln_arch archs[] = {ARCH(none, ), ARCH(cpu, .precisions = precisions)};
    for (size_t i = 0; i < sizeof(archs) / sizeof(*archs); i++) {
        if (ln_arch_register(&archs[i]))
            return; // no message yet: a later use of the architecture reports that it is
                    // unknown
    }
}
