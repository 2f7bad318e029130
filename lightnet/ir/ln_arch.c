// SPDX-License-Identifier: Apache-2.0
// The tables of architectures and operator prototypes. They are filled before main and constant
// afterwards.

#include "lightnet/ln_arch.h"

#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"

ln_arch_info ln_global_arch_info;

static ln_list *archs; // in the order of registration

static int create_tables(void)
{
    if (!LN_ARCH.arch_table)
        LN_ARCH.arch_table = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!LN_ARCH.op_proto_table)
        LN_ARCH.op_proto_table = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    return LN_ARCH.arch_table && LN_ARCH.op_proto_table
               ? 0
               : ln_error_set(NULL, "out of memory for the architecture tables");
}

static int check_names(const ln_arch *arch)
{
    if (ln_hash_find(LN_ARCH.arch_table, arch->arch_name))
        return ln_error_set(NULL, "architecture '%s' is registered already", arch->arch_name);
    for (ln_op **op = arch->reg_ops; op && *op; op++)
        if (ln_hash_find(LN_ARCH.op_proto_table, (*op)->op_arg->optype))
            return ln_error_set(NULL, "architecture '%s': operator type '%s' is registered already",
                                arch->arch_name, (*op)->op_arg->optype);
    return 0;
}

// An architecture that is in the tables only in part goes again.
static int forget(const ln_arch *arch)
{
    for (ln_op **op = arch->reg_ops; op && *op; op++)
        if (ln_hash_find(LN_ARCH.op_proto_table, (*op)->op_arg->optype) == *op)
            ln_hash_remove(LN_ARCH.op_proto_table, (*op)->op_arg->optype);
    ln_hash_remove(LN_ARCH.arch_table, arch->arch_name);
    archs = ln_list_remove(archs, arch);
    return -1;
}

int ln_arch_register(ln_arch *arch)
{
    if (create_tables() || check_names(arch))
        return -1;
    ln_list *longer = ln_list_append(archs, arch);
    if (!longer)
        return -1;
    archs = longer;
    if (ln_hash_insert(LN_ARCH.arch_table, arch->arch_name, arch) < 0)
        return forget(arch);
    for (ln_op **op = arch->reg_ops; op && *op; op++) {
        const int fresh = ln_hash_insert(LN_ARCH.op_proto_table, (*op)->op_arg->optype, *op);
        if (fresh == 0)
            ln_error_set(NULL, "architecture '%s' has two operators of type '%s'", arch->arch_name,
                         (*op)->op_arg->optype);
        if (fresh != 1)
            return forget(arch);
    }
    if (arch->init_func)
        arch->init_func(&arch->priv);
    return 0;
}

const ln_list *ln_arch_list(void)
{
    return archs;
}

// After main, so that leak checkers see only real leaks.
__attribute__((destructor)) static void free_tables(void)
{
    ln_arch *arch;
    LN_LIST_FOREACH(arch, archs)
    {
        if (arch->cleanup_func)
            arch->cleanup_func(&arch->priv);
    }
    ln_list_free(archs);
    ln_hash_free(LN_ARCH.arch_table);
    ln_hash_free(LN_ARCH.op_proto_table);
    archs = NULL;
    LN_ARCH.arch_table = LN_ARCH.op_proto_table = NULL;
}
