// SPDX-License-Identifier: Apache-2.0
// Values: creates and frees them; their entries and readers.

#include "ir/ln_dfg_value.h"

#include <string.h>

#include "base/ln_list_end.h"
#include "lightnet/ln_util.h"

// Life

static void free_value(void *data)
{
    ln_dfg_value *value = data;
    if (value->entry)
        ln_dfg_value_untie(value->entry);
    ln_free(value->sizes);
    ln_slab_free(value, 0, value->home);
}

ln_hash *ln_dfg_values_create(void)
{
    return ln_hash_create(ln_str_hash, ln_str_cmp, NULL, free_value);
}

ln_dfg_value *ln_dfg_value_find(const ln_hash *values, const char *name)
{
    return name ? ln_hash_find(values, name) : NULL;
}

static ln_dfg_value *create(ln_hash *values, const char *name)
{
    const size_t size = strlen(name) + 1;
    ln_slab *home;
    ln_dfg_value *value = ln_slab_alloc(LN_SLAB_VALUES, sizeof(*value) + size, &home);
    if (!value)
        return NULL;
    value->home = home;
    memcpy(value->name, name, size);
    value->values = values;
    if (ln_hash_insert(values, value->name, value) < 0) {
        ln_slab_free(value, 0, home);
        return NULL;
    }
    return value;
}

ln_dfg_value *ln_dfg_value_enter(ln_hash *values, const char *name)
{
    ln_dfg_value *value = ln_dfg_value_find(values, name);
    if (!value)
        value = create(values, name);
    return value ? ln_dfg_value_refer(value) : NULL;
}

ln_dfg_value *ln_dfg_value_refer(ln_dfg_value *value)
{
    value->num_references++;
    return value;
}

void ln_dfg_value_release(ln_dfg_value *value)
{
    if (value && --value->num_references == 0)
        ln_hash_remove(value->values, value->name);
}

// Entries

void ln_dfg_value_tie(ln_dfg_value *value, ln_tensor_entry *entry, const ln_hash *entries,
                      ln_op *producer)
{
    if (value->entry && value->entry != entry)
        ln_dfg_value_untie(value->entry);
    value->entry = entry;
    value->entries = entries;
    value->producer = producer;
    entry->value = value;
}

void ln_dfg_value_untie(ln_tensor_entry *entry)
{
    ln_dfg_value *value = entry->value;
    if (!value)
        return;
    entry->value = NULL;
    value->entry = NULL;
    value->entries = NULL;
    value->producer = NULL;
}

// Readers

static ln_op *op_of(const ln_use *use)
{
    return use->edge.node->data;
}

void ln_dfg_value_add_reader(ln_use *use)
{
    ln_dfg_value *value = use->value;
    use->older = value->newest;
    *(value->newest ? &value->newest->newer : &value->oldest) = use;
    value->newest = use;
    value->num_readers++;
}

void ln_dfg_value_remove_reader(const ln_use *use)
{
    ln_dfg_value *value = use->value;
    *(use->older ? &use->older->newer : &value->oldest) = use->newer;
    *(use->newer ? &use->newer->older : &value->newest) = use->older;
    value->num_readers--;
}

ln_list *ln_dfg_value_readers(const ln_dfg_value *value)
{
    ln_list *reversed = NULL;
    for (const ln_use *reader = value->oldest; reader; reader = reader->newer) {
        // Uses of one tensor by one operator are adjacent, since they were added together.
        if (!reader->out_end || (reversed && reversed->data == op_of(reader)))
            continue;
        if (ln_list_push(&reversed, op_of(reader), NULL)) {
            ln_list_free(reversed);
            return NULL;
        }
    }
    return ln_list_reverse(reversed);
}

int ln_dfg_value_has_reader(const ln_use *use)
{
    const ln_dfg_value *value = use->value;
    return (use->older ? use->older->newer : value->oldest) == use &&
           (use->newer ? use->newer->older : value->newest) == use;
}
