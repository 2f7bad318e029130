// SPDX-License-Identifier: Apache-2.0
// The tables of architectures and operator prototypes. They are filled before main, and by plug-ins
// while no context is there; constant otherwise.
//
// Each change, an architecture that is new or one that is extended, can be undone, the newest
// first: after a failure halfway, and at the end of the process. An extended
// architecture keeps its place in memory and gets longer arrays.

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
    const ln_arch *more; // its extension; NULL: the architecture is new
    ln_arch before;      // the architecture without it
    ln_list *made;       // arrays
} change;

static ln_list *archs;   // in the order of registration
static ln_list *changes; // the newest first

// Contexts use the tables, or they change

enum { CHANGING = -1 };

static atomic_int users; // contexts, or CHANGING

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

// New names must differ from existing ones.
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

// Enters a change that is to be filled. NULL with a reason: no memory.
static change *begin_change(ln_arch *arch, const ln_arch *more)
{
    change *c = ln_alloc(sizeof(*c));
    if (ln_list_push(&changes, c, ln_free))
        return NULL;
    *c = (change){.arch = arch, .more = more, .before = *arch};
    return c;
}

static void undo(change *c)
{
    for (ln_op **op = (c->more ? c->more : c->arch)->reg_ops; op && *op; op++)
        if (ln_hash_find(LN_ARCH.op_proto_table, (*op)->op_arg->optype) == *op)
            ln_hash_remove(LN_ARCH.op_proto_table, (*op)->op_arg->optype);
    if (c->more) {
        void *const priv = c->arch->priv; // data of init_func stays
        *c->arch = c->before;
        c->arch->priv = priv;
    } else if (ln_hash_find(LN_ARCH.arch_table, c->arch->arch_name) == c->arch) {
        if (ln_list_find(archs, c->arch) && c->arch->cleanup_func)
            c->arch->cleanup_func(&c->arch->priv);
        ln_hash_remove(LN_ARCH.arch_table, c->arch->arch_name);
        archs = ln_list_remove(archs, c->arch);
    }
    ln_list_free_deep(c->made, ln_free);
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

static int enter_ops(const ln_arch *arch)
{
    for (ln_op **op = arch->reg_ops; op && *op; op++) {
        const int fresh = ln_hash_insert(LN_ARCH.op_proto_table, (*op)->op_arg->optype, *op);
        if (fresh == 0)
            ln_error_set(NULL, "architecture '%s' has two operators of type '%s'", arch->arch_name,
                         (*op)->op_arg->optype);
        if (fresh != 1)
            return -1;
    }
    return 0;
}

// Last the list: for undoing, it marks that init_func was called.
static int enter_arch(ln_arch *arch)
{
    if (enter_ops(arch) || ln_hash_insert(LN_ARCH.arch_table, arch->arch_name, arch) < 0 ||
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
    if (begin_change(arch, NULL) && !enter_arch(arch))
        return 0;
    ln_arch_undo(n);
    return -1;
}

// Extending

// How many items of `size` bytes an array has before one that is all zero; none for NULL.
static size_t count(const void *array, size_t size)
{
    static const char zeros[sizeof(ln_arch_stage)];
    size_t n = 0;
    while (array && memcmp((const char *)array + n * size, zeros, size) != 0)
        n++;
    return n;
}

// Both arrays, one after the other, as a new one of the change. NULL: no memory.
static void *join(change *c, const void *first, const void *second, size_t size)
{
    const size_t n = count(first, size), m = count(second, size);
    char *joined = ln_alloc_array(n + m + 1, size);
    if (ln_list_push(&c->made, joined, ln_free))
        return NULL;
    if (n)
        memcpy(joined, first, n * size);
    if (m)
        memcpy(joined + n * size, second, m * size);
    return joined;
}

// Arrays of pointers, all alike in memory. Additions come first where the order decides which rule
// is tried first, as they are more special: also before the first stage's last rule, which lowers
// all remaining operators.
typedef struct array_field {
    size_t offset; // of the pointer to the array
    int first;
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

// Makes the arrays of `to`, a record that has such fields, longer by those of `more`.
static int extend_arrays(change *c, void *to, const void *more, const array_field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void *old, *added;
        memcpy(&old, (char *)to + fields[i].offset, sizeof(old));
        memcpy(&added, (const char *)more + fields[i].offset, sizeof(added));
        if (!count(added, sizeof(added)))
            continue;
        void *joined =
            fields[i].first ? join(c, added, old, sizeof(old)) : join(c, old, added, sizeof(old));
        if (!joined)
            return -1;
        memcpy((char *)to + fields[i].offset, &joined, sizeof(joined));
    }
    return 0;
}

// Makes an architecture's array of stages, `*to`, longer by the stages of `more` and by their
// rules.
static int extend_stages(change *c, const ln_arch_stage **to, const ln_arch_stage *more)
{
    const size_t size = sizeof(*more), n = count(*to, size), m = count(more, size);
    if (m == 0)
        return 0;
    ln_arch_stage *stages = join(c, *to, m > n ? more + n : NULL, size);
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
    change *c = begin_change(arch, more);
    if (c && !enter_ops(more) &&
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

static int add_target(void *arg, const char *name)
{
    text *t = arg;
    if (t->len < t->size)
        t->len +=
            (size_t)snprintf(t->buf + t->len, t->size - t->len, "%s%s", t->len ? ", " : "", name);
    return t->len < t->size ? 0 : -1;
}

// Ends the search at the target of that name.
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
    return ln_hash_find(LN_ARCH.arch_table, name) ? 0 : add_target(arg, name);
}

// All but the one of operators that do not run.
char *ln_sprint_targets(char *buf, size_t size)
{
    text t = {.buf = buf, .size = size};
    if (size)
        *buf = '\0';
    LN_FOREACH (const ln_arch *, arch, archs)
        if (!ln_streq(arch->arch_name, "none"))
            add_target(&t, arch->arch_name);
    if (list_loadable)
        list_loadable(add_new_target, &t);
    return buf;
}

// After main, so that leak checkers see only real leaks.
__attribute__((destructor)) static void free_tables(void)
{
    ln_arch_undo(0);
    ln_hash_free(LN_ARCH.arch_table);
    ln_hash_free(LN_ARCH.op_proto_table);
    LN_ARCH.arch_table = LN_ARCH.op_proto_table = NULL;
}
