// SPDX-License-Identifier: Apache-2.0
// A plug-in that needs a function that does not exist.

#include "lightnet/lightnet.h"

extern int a_function_that_nobody_has(void);

static void run(ln_op_arg *op_arg)
{
    op_arg->failed = a_function_that_nobody_has();
}

static ln_op_arg arg = {.optype = "incomplete", .arch = "none"};
static ln_op op = {.op_arg = &arg, .run = run};
static ln_op *ops[] = {&op, NULL};
static const ln_arch more = {.arch_name = "none", .reg_ops = ops};
static const ln_arch *const additions[] = {&more, NULL};

LN_PLUGIN(.name = "incomplete", .additions = additions);
