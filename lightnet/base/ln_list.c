// SPDX-License-Identifier: Apache-2.0
// A singly linked list of pointers. Most functions walk with a link: the place that holds the
// pointer to a node.

#include "lightnet/ln_list.h"

#include "base/ln_slab.h"

typedef struct block {
    ln_list node;
    ln_slab *home;
} block;

static ln_list *create_node(void *data, ln_list *next)
{
    ln_slab *home;
    block *made = ln_slab_alloc(LN_SLAB_LIST_NODES, sizeof(*made), &home);
    if (!made)
        return NULL;
    *made = (block){.node = {.data = data, .next = next}, .home = home};
    return &made->node;
}

static void free_node(ln_list *node)
{
    ln_slab_free(node, sizeof(block), ((block *)node)->home);
}

static ln_list **last_link(ln_list **link)
{
    while (*link)
        link = &(*link)->next;
    return link;
}

// Adds behind what `link` follows. Returns `list`, or NULL when memory is out.
static ln_list *insert_at(ln_list **list, ln_list **link, void *data)
{
    ln_list *node = create_node(data, *link);
    if (!node)
        return NULL;
    *link = node;
    return *list;
}

static void free_element(void *data, void (*free_func)(void *))
{
    if (free_func)
        free_func(data);
}

static void remove_at(ln_list **link, void (*free_func)(void *))
{
    ln_list *node = *link;
    *link = node->next;
    free_element(node->data, free_func);
    free_node(node);
}

// The link to the first node that matches, or the last link.
static ln_list **find_link(ln_list **link, const void *data, ln_cmp_func cmp)
{
    while (*link && cmp((*link)->data, data))
        link = &(*link)->next;
    return link;
}

// The link to the nth node, or NULL when the list has none.
static ln_list **nth_link(ln_list **link, int n)
{
    if (n < 0)
        return NULL;
    while (*link && n-- > 0)
        link = &(*link)->next;
    return *link ? link : NULL;
}

ln_list *ln_list_prepend(ln_list *list, void *data)
{
    return create_node(data, list);
}

ln_list *ln_list_append(ln_list *list, void *data)
{
    return insert_at(&list, last_link(&list), data);
}

void ln_list_free(ln_list *list)
{
    ln_list_free_deep(list, NULL);
}

void ln_list_free_deep(ln_list *list, void (*free_func)(void *))
{
    while (list)
        remove_at(&list, free_func);
}

ln_list *ln_list_nth(ln_list *list, int n)
{
    ln_list **link = nth_link(&list, n);
    return link ? *link : NULL;
}

void *ln_list_nth_data(const ln_list *list, int n)
{
    const ln_list *node = ln_list_nth((ln_list *)list, n);
    return node ? node->data : NULL;
}

ln_list *ln_list_remove(ln_list *list, const void *data)
{
    return ln_list_remove_custom_deep(list, data, ln_direct_cmp, NULL);
}

ln_list *ln_list_remove_nth(ln_list *list, int n)
{
    return ln_list_remove_nth_deep(list, n, NULL);
}

ln_list *ln_list_remove_nth_deep(ln_list *list, int n, void (*free_func)(void *))
{
    ln_list **link = nth_link(&list, n);
    if (link)
        remove_at(link, free_func);
    return list;
}

ln_list *ln_list_remove_custom(ln_list *list, const void *data, ln_cmp_func cmp)
{
    return ln_list_remove_custom_deep(list, data, cmp, NULL);
}

ln_list *ln_list_remove_custom_deep(ln_list *list, const void *data, ln_cmp_func cmp,
                                    void (*free_func)(void *))
{
    ln_list **link = find_link(&list, data, cmp);
    if (*link)
        remove_at(link, free_func);
    return list;
}

ln_list *ln_list_remove_all_custom_deep(ln_list *list, const void *data, ln_cmp_func cmp,
                                        void (*free_func)(void *))
{
    ln_list **link = &list;
    while (*(link = find_link(link, data, cmp)))
        remove_at(link, free_func);
    return list;
}

ln_list *ln_list_insert_before(ln_list *list, void *data, ln_list *node)
{
    ln_list **link = &list;
    while (*link && *link != node)
        link = &(*link)->next;
    return insert_at(&list, link, data);
}

ln_list *ln_list_insert_nth(ln_list *list, void *data, int n)
{
    ln_list **link = nth_link(&list, n);
    return insert_at(&list, link ? link : last_link(&list), data);
}

void *ln_list_find(const ln_list *list, const void *data)
{
    return ln_list_find_custom(list, data, ln_direct_cmp);
}

void *ln_list_find_custom(const ln_list *list, const void *data, ln_cmp_func cmp)
{
    ln_list *start = (ln_list *)list;
    const ln_list *node = *find_link(&start, data, cmp);
    return node ? node->data : NULL;
}

ln_list *ln_list_find_all_custom(const ln_list *list, const void *data, ln_cmp_func cmp)
{
    ln_list *all = NULL, **link = &all;
    for (; list; list = list->next) {
        if (cmp(list->data, data))
            continue;
        *link = create_node(list->data, NULL);
        if (!*link) {
            ln_list_free(all);
            return NULL;
        }
        link = &(*link)->next;
    }
    return all;
}

int ln_list_position(const ln_list *list, const ln_list *node)
{
    for (int i = 0; list; i++, list = list->next)
        if (list == node)
            return i;
    return -1;
}

int ln_list_index(const ln_list *list, const void *data)
{
    return ln_list_index_custom(list, data, ln_direct_cmp);
}

int ln_list_index_custom(const ln_list *list, const void *data, ln_cmp_func cmp)
{
    for (int i = 0; list; i++, list = list->next)
        if (!cmp(list->data, data))
            return i;
    return -1;
}

int ln_list_length(const ln_list *list)
{
    int n = 0;
    for (; list; list = list->next)
        n++;
    return n;
}

ln_list *ln_list_reverse(ln_list *list)
{
    ln_list *reversed = NULL;
    while (list) {
        ln_list *next = list->next;
        list->next = reversed;
        reversed = list;
        list = next;
    }
    return reversed;
}

ln_list *ln_list_from_array_size_t(size_t *array, size_t n)
{
    ln_list *list = NULL;
    while (n-- > 0) {
        ln_list *longer = create_node((void *)array[n], list);
        if (!longer) {
            ln_list_free(list);
            return NULL;
        }
        list = longer;
    }
    return list;
}

static int always_equal(const void *a, const void *b)
{
    (void)a;
    (void)b;
    return 0;
}

ln_list *ln_list_copy(const ln_list *list)
{
    return ln_list_find_all_custom(list, NULL, always_equal);
}
