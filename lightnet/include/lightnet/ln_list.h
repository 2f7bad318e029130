// SPDX-License-Identifier: Apache-2.0
// A singly linked list of pointers. NULL is the empty list, without a header node.
//
//     ln_list *ops = NULL;
//     ops = ln_list_append(ops, op);
//     LN_LIST_FOREACH(op, ops)
//         use(op);
//     ln_list_free(ops);
//
// Always use the returned list: the first node may have changed.
//
// A list borrows its elements: only the _deep functions free them, with a free_func that
// may be NULL (frees nothing). Functions that add return NULL with the thread's last error
// if an allocation fails; the list is then unchanged and still the caller's, so keep the old
// pointer until the new one is checked. A `cmp` is called as cmp(element, data) and returns
// 0 for a match. Positions count from 0; a removal without a match changes nothing.

#ifndef LN_LIST_H
#define LN_LIST_H

#include <stddef.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_util.h"

LN_BEGIN_DECLS

typedef struct ln_list {
    void *data;
    struct ln_list *next;
} ln_list;

/** Walks a list in order: the statement after it runs with `elem`, a pointer variable, set to each
 * element. The list must not change meanwhile. Loops nest, and break and continue work as in `for`.
 */
#define LN_LIST_FOREACH(elem, list) LN_LIST_FOREACH_AT_LINE(elem, list, __LINE__)

/** The rest of LN_LIST_FOREACH: names the hidden iterator
 * after the line, so that nested loops do not collide. */
#define LN_LIST_FOREACH_AT_LINE(elem, list, line) \
    LN_LIST_FOREACH_NAMED(elem, list, LN_LIST_PASTE(ln_list_at_, line))
#define LN_LIST_PASTE(a, b)          LN_LIST_PASTE_EXPANDED(a, b)
#define LN_LIST_PASTE_EXPANDED(a, b) a##b
#define LN_LIST_FOREACH_NAMED(elem, list, it)                                             \
    for (ln_list *it = (ln_list *)(list); it && ((elem) = (__typeof__(elem))it->data, 1); \
         it = it->next)

/** The same with `elem` declared by the loop, of this type of pointers:
 * LN_FOREACH (const ln_op *, op, ctx->ops). */
#define LN_FOREACH(type, elem, list)                                         \
    LN_FOREACH_NAMED(type, elem, list, LN_LIST_PASTE(ln_list_at_, __LINE__), \
                     LN_LIST_PASTE(ln_list_stay_, __LINE__))
#define LN_FOREACH_NAMED(type, elem, list, it, stay)                                \
    for (const ln_list *it = (list), *stay = NULL; it; it = stay ? NULL : it->next) \
        for (type elem = ((stay) = it, (type)it->data); stay; stay = NULL)

/** Adds an element in front of the first. O(1). */
LN_API ln_list *ln_list_prepend(ln_list *list, void *data);
/** Adds an element after the last. O(n). */
LN_API ln_list *ln_list_append(ln_list *list, void *data);
/** Frees all nodes. */
LN_API void ln_list_free(ln_list *list);
/** Frees all nodes and their elements. */
LN_API void ln_list_free_deep(ln_list *list, void (*free_func)(void *));

/** The nth node, or NULL when the list has none. Returns borrowed, until it is removed. */
LN_API ln_list *ln_list_nth(ln_list *list, int n);
/** The nth element, or NULL when the list has none. */
LN_API void *ln_list_nth_data(const ln_list *list, int n);

/** Removes the first node whose element is the pointer `data`. */
LN_API ln_list *ln_list_remove(ln_list *list, const void *data);
/** Removes the nth node. */
LN_API ln_list *ln_list_remove_nth(ln_list *list, int n);
/** Removes the nth node and frees its element. */
LN_API ln_list *ln_list_remove_nth_deep(ln_list *list, int n, void (*free_func)(void *));
/** Removes the first node whose element matches. */
LN_API ln_list *ln_list_remove_custom(ln_list *list, const void *data, ln_cmp_func cmp);
/** Removes the first node whose element matches and frees the element. */
LN_API ln_list *ln_list_remove_custom_deep(ln_list *list, const void *data, ln_cmp_func cmp,
                                           void (*free_func)(void *));
/** Removes all nodes whose elements match and frees the elements. `data` must not be one of them.
 */
LN_API ln_list *ln_list_remove_all_custom_deep(ln_list *list, const void *data, ln_cmp_func cmp,
                                               void (*free_func)(void *));

/** Adds an element in front of `node`, or after the last when node is NULL or not of the list. */
LN_API ln_list *ln_list_insert_before(ln_list *list, void *data, ln_list *node);
/** Adds an element so that it is the nth, or after the last when n is negative or beyond the
 * length. */
LN_API ln_list *ln_list_insert_nth(ln_list *list, void *data, int n);

/** `data` when it is an element of the list, else NULL. */
LN_API void *ln_list_find(const ln_list *list, const void *data);
/** The first element that matches, or NULL. */
LN_API void *ln_list_find_custom(const ln_list *list, const void *data, ln_cmp_func cmp);
/** Returns new list of all elements that match, in order (ln_list_free).
 * NULL when none does, and NULL with a reason: no memory;
 * clear the thread's last error first to distinguish them. */
LN_API ln_list *ln_list_find_all_custom(const ln_list *list, const void *data, ln_cmp_func cmp);

/** The position of a node, or -1. */
LN_API int ln_list_position(const ln_list *list, const ln_list *node);
/** The position of the first node whose element is the pointer `data`, or -1. */
LN_API int ln_list_index(const ln_list *list, const void *data);
/** The position of the first node whose element matches, or -1. */
LN_API int ln_list_index_custom(const ln_list *list, const void *data, ln_cmp_func cmp);
/** The number of nodes. */
LN_API int ln_list_length(const ln_list *list);

/** Reverses the list in place. */
LN_API ln_list *ln_list_reverse(ln_list *list);
/** Returns new list of `n` elements, the numbers of the array as pointers
 * (ln_list_free). NULL when n is 0, and NULL with a reason: no memory. */
LN_API ln_list *ln_list_from_array_size_t(size_t *array, size_t n);
/** Returns new list of the same elements (ln_list_free). NULL
 * for NULL, and NULL with a reason: no memory. */
LN_API ln_list *ln_list_copy(const ln_list *list);

LN_END_DECLS

#endif
