// SPDX-License-Identifier: Apache-2.0
// Tensor entries, the tensor table, and the tensor lists of operators.

#include "lightnet/ln_tensor.h"

#include <string.h>

#include "base/ln_list_end.h"
#include "base/ln_slab.h"
#include "ir/ln_dfg_value.h"
#include "base/ln_name.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"

// Entries

// An entry shares one block with its name and, unless that is long, with the name of its creater.
struct entry_block {
    ln_tensor_entry entry;
    ln_slab *home;
    char creater[24];
    char name[];
};

static char *room_for_creater(ln_tensor_entry *entry)
{
    return ((struct entry_block *)entry)->creater;
}

ln_tensor_entry *ln_tensor_entry_create(const char *name, tl_tensor *tensor)
{
    ln_slab *home;
    const size_t size = sizeof(struct entry_block) + ln_name_size(name);
    struct entry_block *block = ln_slab_alloc(LN_SLAB_TENSORS, size, &home);
    if (!block)
        return NULL;
    block->home = home;
    block->entry.name = ln_name_put(block->name, name);
    block->entry.tensor = tensor;
    block->entry.mtype = LN_MEM_NONE;
    return &block->entry;
}

static void free_creater(ln_tensor_entry *entry)
{
    if (entry->creater != room_for_creater(entry))
        ln_free(entry->creater);
}

void ln_tensor_entry_free(ln_tensor_entry *entry)
{
    if (!entry)
        return;
    ln_dfg_value_untie(entry);
    ln_dfg_value_release(entry->owner_value);
    ln_free(entry->owner);
    free_creater(entry);
    ln_slab_free(entry, 0, ((struct entry_block *)entry)->home);
}

void ln_tensor_entry_free_tensor_too(ln_tensor_entry *entry)
{
    if (!entry)
        return;
    tl_tensor_free(entry->tensor);
    ln_tensor_entry_free(entry);
}

// Only an entry with views can be an owner of `oe`, so a new view at the end of a long chain needs
// no walk.
static int check_ring(const ln_tensor_entry *entry, const ln_hash *table, const ln_tensor_entry *oe)
{
    if (entry != oe && !entry->has_views)
        return 0;
    if (!ln_tensor_table_root(table, oe))
        return -1;
    for (const ln_tensor_entry *at = oe; at; at = ln_entry_owner(at, table))
        if (ln_streq(at->name, entry->name))
            return ln_error_set(NULL, "tensor '%s' would own itself through '%s'", entry->name,
                                oe->name);
    return 0;
}

// `oe` is the entry of that name, or both are NULL. On failure all is as before.
static int set_owner(ln_tensor_entry *entry, const char *owner, const ln_tensor_entry *oe)
{
    if (ln_name_set(&entry->owner, owner))
        return -1;
    ln_dfg_value_release(entry->owner_value);
    entry->owner_value = oe && oe->value ? ln_dfg_value_refer(oe->value) : NULL;
    return 0;
}

int ln_tensor_entry_set_owner(ln_tensor_entry *entry, ln_hash *tensor_table, const char *owner)
{
    if (!owner)
        return set_owner(entry, NULL, NULL);
    ln_tensor_entry *oe = ln_tensor_table_find(tensor_table, owner);
    if (!oe)
        return ln_error_set(NULL, "the owner '%s' of tensor '%s' is not in the tensor table", owner,
                            entry->name);
    if (check_ring(entry, tensor_table, oe) || set_owner(entry, owner, oe))
        return -1;
    oe->has_views = 1;
    return 0;
}

int ln_tensor_entry_set_creater(ln_tensor_entry *entry, const char *creater)
{
    const size_t size = ln_name_size(creater);
    const int has_room = size && size <= sizeof(((struct entry_block *)NULL)->creater);
    char *copy = has_room ? room_for_creater(entry) : ln_strdup(creater);
    if (creater && !copy)
        return -1;
    if (has_room)
        memmove(copy, creater, size);
    free_creater(entry);
    entry->creater = copy;
    return 0;
}

int ln_tensor_entry_is_valid(const ln_tensor_entry *entry)
{
    const tl_tensor *tensor = entry->tensor;
    return entry->name && tensor && tl_dtype_is_valid(tensor->dtype) &&
           ln_mem_type_is_valid(entry->mtype) && (tensor->dims || tensor->ndim == 0) &&
           tl_compute_length(tensor->ndim, tensor->dims) == tensor->len &&
           !ln_streq(entry->owner, entry->name);
}

size_t ln_tensor_entry_capacity(const ln_tensor_entry *entry)
{
    return entry->isdynamic ? entry->capacity : tl_tensor_size(entry->tensor);
}

// The table

static void free_entry(void *entry)
{
    ln_tensor_entry_free_tensor_too(entry);
}

// As ln_tensor_table_find, with a reason for NULL.
static ln_tensor_entry *need_entry(const ln_hash *table, const char *name)
{
    ln_tensor_entry *entry = ln_tensor_table_find(table, name);
    if (!entry)
        ln_error_set(NULL, "unknown tensor '%s'", name ? name : "");
    return entry;
}

// The function that copies from memory type `src` to `dst`; NULL with a reason: not loaded.
static ln_copy_func need_copy_func(const ln_tensor_entry *entry, ln_mem_type dst, ln_mem_type src)
{
    const ln_copy_func copy = ln_mem_type_copy_func(dst, src);
    if (entry->tensor->data && copy)
        return copy;
    ln_error_set(NULL, "tensor '%s' has no memory yet, expected a loaded model", entry->name);
    return NULL;
}

ln_hash *ln_tensor_table_create(void)
{
    return ln_hash_create(ln_str_hash, ln_str_cmp, NULL, free_entry);
}

int ln_tensor_table_insert(ln_hash *table, ln_tensor_entry *entry)
{
    if (!entry->name)
        return ln_error_set(NULL, "a tensor has no name");
    return ln_hash_insert(table, entry->name, entry);
}

int ln_tensor_table_remove(ln_hash *table, const char *name)
{
    return ln_hash_remove(table, name);
}

ln_tensor_entry *ln_tensor_table_find(const ln_hash *table, const char *name)
{
    return name ? ln_hash_find(table, name) : NULL;
}

void ln_tensor_table_free(ln_hash *table)
{
    ln_hash_free(table);
}

// The entry of the value, if it is in the table; else the one of that name.
static ln_tensor_entry *find_entry(const ln_hash *table, const ln_dfg_value *value,
                                   const char *name)
{
    return value && value->entries == table ? value->entry : ln_tensor_table_find(table, name);
}

ln_tensor_entry *ln_entry_owner(const ln_tensor_entry *entry, const ln_hash *table)
{
    return find_entry(table, entry->owner_value, entry->owner);
}

ln_tensor_entry *ln_tensor_table_root(const ln_hash *table, const ln_tensor_entry *entry)
{
    // `slow` advances at half the speed: they meet if and only if there is a cycle (Floyd).
    const char *const name = entry->name;
    const ln_tensor_entry *slow = entry;
    for (int step = 1; entry->owner; step++) {
        const ln_tensor_entry *owner = ln_entry_owner(entry, table);
        if (!owner) {
            ln_error_set(NULL, "the owner '%s' of tensor '%s' is not in the tensor table",
                         entry->owner, entry->name);
            return NULL;
        }
        entry = owner;
        if (step % 2 == 0)
            slow = ln_entry_owner(slow, table);
        if (entry == slow)
            return ln_error_set(NULL, "the owners of tensor '%s' form a cycle", name), NULL;
    }
    return (ln_tensor_entry *)entry;
}

int ln_tensor_table_set_data(ln_hash *table, const char *name, const void *data)
{
    const ln_tensor_entry *entry = need_entry(table, name);
    if (!entry)
        return -1;
    const ln_copy_func copy = need_copy_func(entry, entry->mtype, LN_MEM_CPU);
    if (!copy)
        return -1;
    const size_t size = tl_tensor_size(entry->tensor);
    if (size)
        copy(entry->tensor->data, data, size);
    return 0;
}

void *ln_tensor_table_get_data(const ln_hash *table, const char *name, void *data)
{
    const ln_tensor_entry *entry = need_entry(table, name);
    if (!entry)
        return NULL;
    const ln_copy_func copy = need_copy_func(entry, LN_MEM_CPU, entry->mtype);
    if (!copy)
        return NULL;
    const size_t size = tl_tensor_size(entry->tensor);
    if (!data)
        data = ln_alloc(size);
    if (data && size)
        copy(data, entry->tensor->data, size);
    return data;
}

size_t ln_tensor_table_data_size(const ln_hash *table, const char *name)
{
    const ln_tensor_entry *entry = need_entry(table, name);
    return entry ? tl_tensor_size(entry->tensor) : 0;
}

// Lists

static void free_list_entry(void *entry)
{
    ln_tensor_list_entry_free(entry);
}

static const char *arg_name_of(const void *entry)
{
    return ((const ln_tensor_list_entry *)entry)->arg_name;
}

// A list entry shares one block with its first name, and then its arg_name.
struct list_entry_block {
    ln_tensor_list_entry entry;
    ln_slab *home;
    char names[];
};

ln_tensor_list_entry *ln_tensor_list_entry_create(const char *arg_name, const char *name)
{
    const size_t name_size = ln_name_size(name);
    const size_t size = sizeof(struct list_entry_block) + name_size + ln_name_size(arg_name);
    ln_slab *home;
    struct list_entry_block *block = ln_slab_alloc(LN_SLAB_TENSOR_LISTS, size, &home);
    if (!block)
        return NULL;
    block->home = home;
    block->entry.name = ln_name_put(block->names, name);
    block->entry.arg_name = ln_name_put(block->names + name_size, arg_name);
    return &block->entry;
}

static void free_name(ln_tensor_list_entry *entry)
{
    if (entry->name != ((struct list_entry_block *)entry)->names)
        ln_free(entry->name);
}

void ln_tensor_list_entry_free(ln_tensor_list_entry *entry)
{
    if (!entry)
        return;
    ln_dfg_value_release(entry->value);
    free_name(entry);
    ln_slab_free(entry, 0, ((struct list_entry_block *)entry)->home);
}

int ln_tensor_list_entry_set_name(ln_tensor_list_entry *entry, const char *name)
{
    char *copy = ln_strdup(name);
    if (name && !copy)
        return -1;
    free_name(entry);
    entry->name = copy;
    ln_dfg_value_release(entry->value);
    entry->value = NULL;
    return 0;
}

ln_list *ln_tensor_list_append(ln_list *list, const char *arg_name, const char *name)
{
    return ln_entry_list_append(list, ln_tensor_list_entry_create(arg_name, name), free_list_entry);
}

void ln_tensor_list_free(ln_list *list)
{
    ln_list_free_deep(list, free_list_entry);
}

static void *copy_list_entry(const void *data)
{
    const ln_tensor_list_entry *entry = data;
    ln_tensor_list_entry *copy = ln_tensor_list_entry_create(entry->arg_name, entry->name);
    if (copy)
        copy->offset = entry->offset;
    return copy;
}

ln_list *ln_tensor_list_copy(const ln_list *list)
{
    return ln_entry_list_copy(list, copy_list_entry, free_list_entry);
}

char *ln_tensor_list_find_name(const ln_list *list, const char *arg_name)
{
    const ln_tensor_list_entry *entry = ln_tensor_list_find_by_arg_name(list, arg_name);
    return entry ? entry->name : NULL;
}

ln_tensor_list_entry *ln_tensor_list_find_by_arg_name(const ln_list *list, const char *arg_name)
{
    for (; list; list = list->next) {
        ln_tensor_list_entry *entry = list->data;
        if (ln_streq(entry->arg_name, arg_name))
            return entry;
    }
    return NULL;
}

ln_tensor_list_entry *ln_tensor_list_find_by_name(const ln_list *list, const char *name)
{
    for (; list; list = list->next) {
        ln_tensor_list_entry *entry = list->data;
        if (ln_streq(entry->name, name))
            return entry;
    }
    return NULL;
}

ln_tensor_entry *ln_tensor_list_find_entry(const ln_list *list, const ln_hash *tensor_table,
                                           const char *arg_name)
{
    const ln_tensor_list_entry *tle = ln_tensor_list_find_by_arg_name(list, arg_name);
    return tle ? ln_entry_of(tle, tensor_table) : NULL;
}

ln_tensor_entry *ln_entry_of(const ln_tensor_list_entry *tle, const ln_hash *table)
{
    return find_entry(table, tle->value, tle->name);
}

int ln_tensor_list_length(const ln_list *list)
{
    return ln_list_length((ln_list *)list);
}

int ln_tensor_list_unique_arg_name(const ln_list *list, char *buf, const char *prefix)
{
    return ln_name_unique(list, arg_name_of, buf, prefix);
}
