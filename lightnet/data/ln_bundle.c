// SPDX-License-Identifier: Apache-2.0
// Named tensors in order: the content of a weight file of any format.

#include "data/ln_bundle.h"

#include <limits.h>

#include "base/ln_array.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"

static int make_room(ln_bundle *bundle)
{
    if (!bundle->positions)
        bundle->positions = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!bundle->positions)
        return -1;
    if (bundle->len > INT_MAX / 2)
        return ln_error_set(NULL, "more than %d tensors", bundle->len);
    return ln_array_grow(&bundle->entries, (size_t)bundle->len, sizeof(*bundle->entries));
}

int ln_bundle_add(ln_bundle *bundle, const char *name, tl_tensor *tensor, size_t offset)
{
    if (ln_bundle_find(bundle, name))
        return ln_error_set(NULL, "the name is taken, expected one that is unique in the file");
    if (make_room(bundle))
        return -1;
    char *copy = ln_strdup(name);
    if (!copy || ln_hash_insert(bundle->positions, copy, (void *)((size_t)bundle->len + 1)) < 0) {
        ln_free(copy);
        return -1;
    }
    bundle->entries[bundle->len++] = (ln_bundle_entry){copy, tensor, offset};
    return 0;
}

const ln_bundle_entry *ln_bundle_entry_of(const ln_bundle *bundle, const char *name)
{
    const size_t position = bundle->positions ? (size_t)ln_hash_find(bundle->positions, name) : 0;
    return position ? &bundle->entries[position - 1] : NULL;
}

const tl_tensor *ln_bundle_find(const ln_bundle *bundle, const char *name)
{
    const ln_bundle_entry *entry = ln_bundle_entry_of(bundle, name);
    return entry ? entry->tensor : NULL;
}

const tl_tensor *ln_bundle_read(const ln_bundle *bundle, const char *name, ln_error *err)
{
    const ln_bundle_entry *entry = ln_bundle_entry_of(bundle, name);
    if (!entry || entry->tensor->data)
        return entry ? entry->tensor : NULL;
    const ln_weight weight = {name, entry->tensor, bundle->file, entry->offset};
    return ln_weight_tensor(&weight, err);
}

void ln_bundle_clear(ln_bundle *bundle)
{
    for (int i = 0; i < bundle->len; i++) {
        ln_free(bundle->entries[i].name);
        ln_free(bundle->entries[i].tensor->data);
        tl_tensor_free(bundle->entries[i].tensor);
    }
    ln_free(bundle->entries);
    ln_hash_free(bundle->positions);
    *bundle = (ln_bundle){0};
}
