// SPDX-License-Identifier: Apache-2.0
// The tables of architectures and operator prototypes. They are filled before main, and by plug-ins
// while no context exists; otherwise they are constant.
//
// A change registers an architecture or extends one. Changes are undone, the newest first, after an
// error and at exit. An extended architecture keeps its address, and gets longer arrays.

#include "lightnet/ln_arch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_list_end.h"
#include "ir/ln_arch_tables.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"

ln_arch_info ln_global_arch_info;

typedef struct change {
    ln_arch *arch;
    const ln_arch *extension; // NULL: registers `arch`
    ln_arch before;           // `arch` without the extension
    ln_list *arrays;          // the longer arrays of `arch`; owned
} change;

static ln_list *archs;   // in the order of registration
static ln_list *changes; // the newest first

// A lock: either contexts use the tables, or a plug-in changes them

enum { CHANGING = -1 };

static atomic_int users; // the number of contexts, or CHANGING

int ln_arch_begin_use(void)
{
    int n = atomic_load(&users);
    do {
        if (n == CHANGING)
            return ln_error_set(NULL, "a plug-in is being loaded; create contexts after that");
    } while (!atomic_compare_exchange_weak(&users, &n, n + 1));
    return 0;
}

void ln_arch_end_use(void)
{
    atomic_fetch_sub(&users, 1);
}

int ln_arch_begin_change(void)
{
    int n = 0;
    if (atomic_compare_exchange_strong(&users, &n, CHANGING))
        return 0;
    if (n == CHANGING)
        return ln_error_set(NULL, "another plug-in is being loaded; load one after the other");
    return ln_error_set(NULL, "a context exists already; load plug-ins before the first context");
}

void ln_arch_end_change(void)
{
    atomic_store(&users, 0);
}

// Checks

static int create_tables(void)
{
    if (!LN_ARCH.arch_table)
        LN_ARCH.arch_table = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!LN_ARCH.op_proto_table)
        LN_ARCH.op_proto_table = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    return LN_ARCH.arch_table && LN_ARCH.op_proto_table
               ? 0
               : ln_error_set_as(NULL, LN_OUT_OF_MEMORY,
                                 "out of memory for the architecture tables");
}

static int check_rule(const ln_arch *arch, const char *rule)
{
    LN_FOREACH (const ln_arch *, other, archs)
        for (const char **name = other->rule_names; name && *name; name++)
            if (ln_streq(*name, rule))
                return ln_error_set(NULL,
                                    "architecture '%s': architecture '%s' has a rule '%s' already",
                                    arch->arch_name, other->arch_name, rule);
    return 0;
}

// Operator types and rule names must be unique.
static int check_names(const ln_arch *arch)
{
    for (ln_op **op = arch->reg_ops; op && *op; op++)
        if (ln_hash_find(LN_ARCH.op_proto_table, (*op)->op_arg->optype))
            return ln_error_set(NULL, "architecture '%s': operator type '%s' is registered already",
                                arch->arch_name, (*op)->op_arg->optype);
    for (const char **name = arch->rule_names; name && *name; name++)
        if (check_rule(arch, *name))
            return -1;
    return 0;
}

int ln_arch_check_ops(const ln_arch *arch)
{
    if (!arch->arch_name || !*arch->arch_name)
        return ln_error_set(NULL, "an architecture has no name");
    for (ln_op **op = arch->reg_ops; op && *op; op++) {
        const ln_op_arg *op_arg = (*op)->op_arg;
        if (!op_arg || !op_arg->optype || !op_arg->arch)
            return ln_error_set(NULL, "architecture '%s': an operator lacks its type or its 'arch'",
                                arch->arch_name);
        if (!ln_streq(op_arg->arch, arch->arch_name))
            return ln_error_set(NULL,
                                "architecture '%s': operator '%s' has 'arch' '%s', expected "
                                "'%s'",
                                arch->arch_name, op_arg->optype, op_arg->arch, arch->arch_name);
    }
    return 0;
}

// Changes

// Records a change before it is made. NULL with a reason: out of memory.
static change *record_change(ln_arch *arch, const ln_arch *extension)
{
    change *c = ln_alloc(sizeof(*c));
    if (ln_list_push(&changes, c, ln_free))
        return NULL;
    *c = (change){.arch = arch, .extension = extension, .before = *arch};
    return c;
}

static void undo(change *c)
{
    for (ln_op **op = (c->extension ? c->extension : c->arch)->reg_ops; op && *op; op++)
        if (ln_hash_find(LN_ARCH.op_proto_table, (*op)->op_arg->optype) == *op)
            ln_hash_remove(LN_ARCH.op_proto_table, (*op)->op_arg->optype);
    if (c->extension) {
        void *const priv = c->arch->priv; // keeps the data of init_func
        *c->arch = c->before;
        c->arch->priv = priv;
    } else if (ln_hash_find(LN_ARCH.arch_table, c->arch->arch_name) == c->arch) {
        if (ln_list_find(archs, c->arch) && c->arch->cleanup_func)
            c->arch->cleanup_func(&c->arch->priv);
        ln_hash_remove(LN_ARCH.arch_table, c->arch->arch_name);
        archs = ln_list_remove(archs, c->arch);
    }
    ln_list_free_deep(c->arrays, ln_free);
    ln_free(c);
}

int ln_arch_changes(void)
{
    return ln_list_length(changes);
}

void ln_arch_undo(int n)
{
    for (int newer = ln_arch_changes() - n; newer > 0; newer--) {
        change *const newest = changes->data;
        changes = ln_list_remove_nth(changes, 0);
        undo(newest);
    }
}

static int insert_ops(const ln_arch *arch)
{
    for (ln_op **op = arch->reg_ops; op && *op; op++) {
        const int is_new = ln_hash_insert(LN_ARCH.op_proto_table, (*op)->op_arg->optype, *op);
        if (is_new == 0)
            ln_error_set(NULL, "architecture '%s' has two operators of type '%s'", arch->arch_name,
                         (*op)->op_arg->optype);
        if (is_new != 1)
            return -1;
    }
    return 0;
}

// Appends to `archs` last: undo calls cleanup_func for its elements only.
static int insert_arch(ln_arch *arch)
{
    if (insert_ops(arch) || ln_hash_insert(LN_ARCH.arch_table, arch->arch_name, arch) < 0 ||
        ln_list_add(&archs, arch, NULL))
        return -1;
    if (arch->init_func)
        arch->init_func(&arch->priv);
    return 0;
}

int ln_arch_register(ln_arch *arch)
{
    const int n = ln_arch_changes();
    if (create_tables())
        return -1;
    if (ln_hash_find(LN_ARCH.arch_table, arch->arch_name))
        return ln_error_set(NULL, "architecture '%s' is registered already", arch->arch_name);
    if (arch->base && !ln_hash_find(LN_ARCH.arch_table, arch->base))
        return ln_error_set(NULL, "architecture '%s' builds on '%s', which is not registered",
                            arch->arch_name, arch->base);
    if (check_names(arch))
        return -1;
    if (record_change(arch, NULL) && !insert_arch(arch))
        return 0;
    ln_arch_undo(n);
    return -1;
}

// Extending

// The length of an array of items of `size` bytes, which an all-zero item ends; 0 for NULL.
static size_t count(const void *array, size_t size)
{
    static const char zeros[sizeof(ln_arch_stage)];
    size_t n = 0;
    while (array && memcmp((const char *)array + n * size, zeros, size) != 0)
        n++;
    return n;
}

// Concatenates two arrays; the change owns the result. NULL: out of memory.
static void *concat(change *c, const void *first, const void *second, size_t size)
{
    const size_t n = count(first, size), m = count(second, size);
    char *both = ln_alloc_array(n + m + 1, size);
    if (ln_list_push(&c->arrays, both, ln_free))
        return NULL;
    if (n)
        memcpy(both, first, n * size);
    if (m)
        memcpy(both + n * size, second, m * size);
    return both;
}

// A member that is an array of pointers. Rules of an extension precede the existing ones, since
// they are more specific: the last rule of the first stage lowers all remaining operators.
typedef struct array_field {
    size_t offset;  // of the pointer to the array
    int is_prepend; // whether the array of an extension precedes the existing one
} array_field;

static const array_field arch_arrays[] = {
    {offsetof(ln_arch, reg_ops), 0},  {offsetof(ln_arch, rule_names), 0},
    {offsetof(ln_arch, ep_funcs), 1}, {offsetof(ln_arch, cb_funcs), 1},
    {offsetof(ln_arch, sg_funcs), 1}, {offsetof(ln_arch, sd_funcs), 1},
};

static const array_field stage_arrays[] = {
    {offsetof(ln_arch_stage, ep_funcs), 1},
    {offsetof(ln_arch_stage, cb_funcs), 1},
    {offsetof(ln_arch_stage, sg_funcs), 1},
};

// Adds the arrays of the struct `more` to those of the struct `to`.
static int extend_arrays(change *c, void *to, const void *more, const array_field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void *old, *added;
        memcpy(&old, (char *)to + fields[i].offset, sizeof(old));
        memcpy(&added, (const char *)more + fields[i].offset, sizeof(added));
        if (!count(added, sizeof(added)))
            continue;
        void *both = fields[i].is_prepend ? concat(c, added, old, sizeof(old))
                                          : concat(c, old, added, sizeof(old));
        if (!both)
            return -1;
        memcpy((char *)to + fields[i].offset, &both, sizeof(both));
    }
    return 0;
}

// Adds the rules of `more` to the stages `*to`, and the stages that `*to` lacks.
static int extend_stages(change *c, const ln_arch_stage **to, const ln_arch_stage *more)
{
    const size_t size = sizeof(*more), n = count(*to, size), m = count(more, size);
    if (m == 0)
        return 0;
    ln_arch_stage *stages = concat(c, *to, m > n ? more + n : NULL, size);
    if (!stages)
        return -1;
    *to = stages;
    for (size_t i = 0; i < n && i < m; i++) {
        if (extend_arrays(c, &stages[i], &more[i], stage_arrays,
                          sizeof(stage_arrays) / sizeof(*stage_arrays)))
            return -1;
    }
    return 0;
}

int ln_arch_extend(const ln_arch *more)
{
    const int n = ln_arch_changes();
    if (create_tables() || ln_arch_check_ops(more))
        return -1;
    ln_arch *arch = ln_hash_find(LN_ARCH.arch_table, more->arch_name);
    if (!arch)
        return ln_error_set(NULL, "unknown architecture '%s' to extend", more->arch_name);
    if (check_names(more))
        return -1;
    change *c = record_change(arch, more);
    if (c && !insert_ops(more) &&
        !extend_arrays(c, arch, more, arch_arrays, sizeof(arch_arrays) / sizeof(*arch_arrays)) &&
        !extend_stages(c, &arch->model_stages, more->model_stages) &&
        !extend_stages(c, &arch->early_stages, more->early_stages) &&
        !extend_stages(c, &arch->later_stages, more->later_stages))
        return 0;
    ln_arch_undo(n);
    return -1;
}

const ln_list *ln_arch_list(void)
{
    return archs;
}

// Targets

static ln_targets_func list_loadable;

void ln_arch_set_loadable(ln_targets_func func)
{
    list_loadable = func;
}

typedef struct text {
    char *buf;
    size_t size, len;
} text;

static int add_name(void *arg, const char *name)
{
    text *t = arg;
    if (t->len < t->size)
        t->len +=
            (size_t)snprintf(t->buf + t->len, t->size - t->len, "%s%s", t->len ? ", " : "", name);
    return t->len < t->size ? 0 : -1;
}

// Sets *wanted to NULL and stops at the target of that name.
static int find_name(void *arg, const char *name)
{
    const char **wanted = arg;
    if (!ln_streq(name, *wanted))
        return 0;
    *wanted = NULL;
    return -1;
}

int ln_arch_is_loadable(const char *target)
{
    if (!list_loadable || !target || ln_hash_find(LN_ARCH.arch_table, target))
        return 0;
    list_loadable(find_name, &target);
    return !target;
}

static int add_new_target(void *arg, const char *name)
{
    return ln_hash_find(LN_ARCH.arch_table, name) ? 0 : add_name(arg, name);
}

// All targets but "none", whose operators do not run.
char *ln_sprint_targets(char *buf, size_t size)
{
    text t = {.buf = buf, .size = size};
    if (size)
        *buf = '\0';
    LN_FOREACH (const ln_arch *, arch, archs)
        if (!ln_streq(arch->arch_name, "none"))
            add_name(&t, arch->arch_name);
    if (list_loadable)
        list_loadable(add_new_target, &t);
    return buf;
}

// Precisions

static const char every_target_has[] = "float32";

// NULL: no others.
static const char *const *precisions_of(const ln_arch *arch)
{
    while (!arch->precisions && arch->base)
        arch = ln_hash_find(LN_ARCH.arch_table, arch->base);
    return arch->precisions;
}

int ln_arch_has_precision(const ln_arch *arch, const char *name)
{
    const char *const *known = precisions_of(arch);
    while (known && *known && !ln_streq(*known, name))
        known++;
    return (known && *known) || ln_streq(name, every_target_has);
}

char *ln_sprint_precisions(const ln_arch *arch, char *buf, size_t size)
{
    text t = {.buf = buf, .size = size};
    if (size)
        *buf = '\0';
    add_name(&t, every_target_has);
    for (const char *const *name = precisions_of(arch); name && *name; name++)
        add_name(&t, *name);
    return buf;
}

// Frees the tables after main, so that leak checkers report only real leaks.
__attribute__((destructor)) static void free_tables(void)
{
    ln_arch_undo(0);
    ln_hash_free(LN_ARCH.arch_table);
    ln_hash_free(LN_ARCH.op_proto_table);
    LN_ARCH.arch_table = LN_ARCH.op_proto_table = NULL;
}
