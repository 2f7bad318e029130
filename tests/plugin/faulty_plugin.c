// SPDX-License-Identifier: Apache-2.0
// A plug-in with operators that cannot run. What is wrong with it, if anything, comes from the
// command line of the compiler: meson.build has the list.

#include "lightnet/lightnet.h"

#ifndef OPTYPE // of its second operator
#define OPTYPE "second"
#endif
#ifndef OP_ARCH
#define OP_ARCH "none"
#endif
#ifndef ARCH_NAME
#define ARCH_NAME "own"
#endif
#ifndef BASE
#define BASE "cpu"
#endif
#ifndef MORE_NAME
#define MORE_NAME "none"
#endif
#ifndef RULE
#define RULE "rule_of_own"
#endif
#ifndef NAME
#define NAME "faulty"
#endif

static ln_op_arg first_arg = {.optype = "first", .arch = ARCH_NAME};
static ln_op first = {.op_arg = &first_arg};
static ln_op *own_ops[] = {&first, NULL};
static const char *own_rules[] = {RULE, NULL};
static ln_arch own = {
    .arch_name = ARCH_NAME, .base = BASE, .reg_ops = own_ops, .rule_names = own_rules};
static ln_arch *const archs[] = {&own, NULL};

#ifdef INCOMPLETE
extern int a_function_that_nobody_has(void);

static void needs_it(ln_op_arg *op_arg)
{
    op_arg->failed = a_function_that_nobody_has();
}
#define RUN needs_it
#else
#define RUN NULL
#endif

static ln_op_arg second_arg = {.optype = OPTYPE, .arch = OP_ARCH};
static ln_op second = {.op_arg = &second_arg, .run = RUN};
static ln_op *more_ops[] = {&second, NULL};
static const ln_arch more = {.arch_name = MORE_NAME, .reg_ops = more_ops};
static const ln_arch *const additions[] = {&more, NULL};

// These stand for headers of another version, or for another library.
#ifdef ABI
#undef LN_PLUGIN_ABI
#define LN_PLUGIN_ABI ABI
#endif
#ifdef MAGIC
#undef LN_PLUGIN_MAGIC
#define LN_PLUGIN_MAGIC MAGIC
#endif
#ifdef OTHER_SIZES
#undef LN_PLUGIN_SIZE
#define LN_PLUGIN_SIZE(type) (uint32_t)sizeof(type) + 8,
#endif
#ifdef OTHER_TABLES
static const ln_arch_info other_tables;
#undef LN_ARCH
#define LN_ARCH other_tables
#endif

LN_PLUGIN(.name = NAME, .archs = archs, .additions = additions);
