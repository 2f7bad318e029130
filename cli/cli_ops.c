// SPDX-License-Identifier: Apache-2.0
// lightnet ops: the operators and their documentation, from the descriptions, and the rules.

#include <stdio.h>

#include "cli.h"
#include "lightnet/lightnet.h"

static const char *doc_of(const ln_op *op)
{
    return op->op_arg->info && op->op_arg->info->doc ? op->op_arg->info->doc : "";
}

// Says where an operator or an architecture comes from, if not from LightNet.
static void print_origin(const char *before, const ln_plugin_loaded *from, const char *behind)
{
    if (from)
        printf("%splug-in %s, %s%s", before, from->plugin->name, from->file, behind);
}

static void list_ops(const ln_arch *arch)
{
    printf("operators of arch %s", arch->arch_name);
    print_origin(" (", ln_plugin_of_arch(arch), ")");
    printf(":\n");
    for (ln_op **op = arch->reg_ops; op && *op; op++) {
        printf("  %-24s %s", (*op)->op_arg->optype, doc_of(*op));
        print_origin(" (", ln_plugin_of_op(*op), ")");
        printf("\n");
    }
}

static void list_rules(const ln_arch *arch)
{
    printf("rules of arch %s:\n", arch->arch_name);
    for (const char **name = arch->rule_names; name && *name; name++)
        printf("  %s\n", *name);
}

static void list(void (*list_arch)(const ln_arch *))
{
    const ln_arch *arch;
    LN_LIST_FOREACH(arch, ln_arch_list())
    {
        list_arch(arch);
    }
}

static void print_args(const char *title, const ln_arg_info *args)
{
    for (; args && args->arg_name; args++) {
        printf("  %-8s %s%s: %s", title, args->arg_name, args->variadic ? "..." : "",
               args->type ? args->type : "");
        if (args->optional)
            printf(" (may be absent)");
        if (args->deflt)
            printf(" (default %s)", args->deflt);
        printf("\n");
        if (args->doc)
            printf("           %s\n", args->doc);
    }
}

static void print_one(const ln_op *op)
{
    const ln_op_info *info = op->op_arg->info;
    printf("%s (%s)\n", op->op_arg->optype, op->op_arg->arch);
    if (!info)
        return;
    printf("  %s\n", doc_of(op));
    print_args("input", info->tensors_in);
    print_args("output", info->tensors_out);
    print_args("param", info->params);
    if (info->source)
        printf("  from     %s\n", info->source);
    print_origin("  of       ", ln_plugin_of_op(op), "\n");
}

int cli_ops(const cli_options *opt)
{
    if (opt->rules && opt->n_args)
        return cli_usage("--rules lists all rules; leave out '%s'", opt->args[0]);
    if (!opt->n_args) {
        list(opt->rules ? list_rules : list_ops);
        return CLI_OK;
    }
    const ln_op *op = ln_hash_find(LN_ARCH.op_proto_table, opt->args[0]);
    if (!op)
        return cli_fail("there is no operator '%s'; 'lightnet ops' lists them", opt->args[0]);
    print_one(op);
    return CLI_OK;
}
