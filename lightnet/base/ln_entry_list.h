// SPDX-License-Identifier: Apache-2.0
// Lists that own their elements: shared by tensor lists and parameter lists.

#ifndef LN_ENTRY_LIST_H
#define LN_ENTRY_LIST_H

#include "lightnet/ln_list.h"

/** Appends the new `entry` (NULL: its creation failed). Returns the list; NULL with a reason: the
 * entry is freed, the list is as before. */
ln_list *ln_entry_list_append(ln_list *list, void *entry, ln_free_func free_func);

/** Returns new: the list with copies of its elements. NULL for NULL; NULL with a reason: no memory.
 *  O(n). */
ln_list *ln_entry_list_copy(const ln_list *list, void *(*copy_func)(const void *),
                            ln_free_func free_func);

#endif
