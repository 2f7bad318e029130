// SPDX-License-Identifier: Apache-2.0
// A small target outside of LightNet: its rules use every means of the description format, and are
// tested as LightNet's own.

#include "lightnet/ln_arch.h"
#include "ln_ops_toy.h"
#include "ln_rules_toy.h"

static char toy[] = "toy";

static ln_arch ln_archimpl_toy = {
    .reg_ops = ops_toy,
    .ep_funcs = ln_ep_funcs_toy,
    .cb_funcs = ln_cb_funcs_toy,
    .sg_funcs = ln_sg_funcs_toy,
    .arch_name = toy,
    .rule_names = ln_rule_names_toy,
    .early_stages = ln_early_stages_toy,
    .later_stages = ln_later_stages_toy,
};

__attribute__((constructor)) static void register_toy(void)
{
    if (ln_arch_register(&ln_archimpl_toy))
        return; // the test then finds no such target
}
