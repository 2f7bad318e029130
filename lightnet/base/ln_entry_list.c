// SPDX-License-Identifier: Apache-2.0
// Lists that own their elements: shared by tensor lists and parameter lists.

#include "base/ln_entry_list.h"

ln_list *ln_entry_list_append(ln_list *list, void *entry, ln_free_func free_func)
{
    if (!entry)
        return NULL;
    ln_list *longer = ln_list_append(list, entry);
    if (!longer)
        free_func(entry);
    return longer;
}

ln_list *ln_entry_list_copy(const ln_list *list, void *(*copy_func)(const void *),
                            ln_free_func free_func)
{
    ln_list *reversed = NULL;
    for (; list; list = list->next) {
        void *copy = copy_func(list->data);
        ln_list *longer = copy ? ln_list_prepend(reversed, copy) : NULL;
        if (!longer) {
            if (copy)
                free_func(copy);
            ln_list_free_deep(reversed, free_func);
            return NULL;
        }
        reversed = longer;
    }
    return ln_list_reverse(reversed);
}
