// SPDX-License-Identifier: Apache-2.0
// Lists beyond ln_list.h: appending in constant time, by a pointer to the last node, and lists that
// own their elements.

#pragma once

#include "lightnet/ln_list.h"

/** The last node, found by walking; NULL for the empty list. */
static inline ln_list *ln_list_end(ln_list *list)
{
    while (list && list->next)
        list = list->next;
    return list;
}

/** Appends a list of one node, or of more, after `*end`, the last node of `*list` (NULL: the list
 * is empty). Afterwards `*end` is the new last node. Takes `more`. */
static inline void ln_list_extend(ln_list **list, ln_list **end, ln_list *more)
{
    *(*end ? &(*end)->next : list) = more;
    *end = ln_list_end(more ? more : *end);
}

/** Adds `data` in front of the first element, or after the last one. -1 with a reason: `data` is
 * NULL, or no memory; the list is as before, and `data` is freed (free_data NULL: it is not). */
int ln_list_push(ln_list **list, void *data, ln_free_func free_data);
int ln_list_add(ln_list **list, void *data, ln_free_func free_data);

// Lists that own their elements

/** Appends the new `entry` (NULL: its creation failed). Returns the list; NULL with a reason: the
 * entry is freed, the list is as before. */
ln_list *ln_entry_list_append(ln_list *list, void *entry, ln_free_func free_func);

/** Returns new: the list with copies of its elements. NULL for NULL; NULL with a reason: no memory.
 *  O(n). */
ln_list *ln_entry_list_copy(const ln_list *list, void *(*copy_func)(const void *),
                            ln_free_func free_func);
