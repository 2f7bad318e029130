// SPDX-License-Identifier: Apache-2.0
// Lists that own their elements: what tensor lists and parameter lists have in common.

#ifndef LN_ENTRY_LIST_H
#define LN_ENTRY_LIST_H

#include "lightnet/ln_list.h"

/** Appends `entry`, just made (NULL: that failed already). Returns the list; NULL with a reason:
 * the entry is freed, the list is as before. */
ln_list *ln_entry_list_append(ln_list *list, void *entry, ln_free_func free_func);

/** Returns new: the list with copies of its elements. NULL for NULL; NULL with a reason: no memory.
 *  O(n). */
ln_list *ln_entry_list_copy(const ln_list *list, void *(*copy_func)(const void *),
                            ln_free_func free_func);

#endif
