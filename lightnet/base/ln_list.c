// SPDX-License-Identifier: Apache-2.0
// A singly linked list of pointers. Most functions walk with a link: the place that holds the
// pointer to a node.

#include "lightnet/ln_list.h"

#include "base/ln_list_end.h"
#include "base/ln_slab.h"
#include "lightnet/ln_queue.h"
#include "lightnet/ln_stack.h"

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

static ln_list **last_link(ln_list **link)
{
    while (*link)
        link = &(*link)->next;
    return link;
}

// Inserts at `*link`. Returns `list`; NULL: out of memory.
static ln_list *insert_at(ln_list **list, ln_list **link, void *data)
{
    ln_list *node = create_node(data, *link);
    if (!node)
        return NULL;
    *link = node;
    return *list;
}

static void remove_at(ln_list **link, void (*free_func)(void *))
{
    ln_list *node = *link;
    *link = node->next;
    if (free_func)
        free_func(node->data);
    ln_slab_free(node, sizeof(block), ((block *)node)->home);
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

// Queues

// The links lead from the tail, where elements leave, to the head, where they come in, so that both
// are O(1).

ln_queue *ln_queue_create(void)
{
    return ln_alloc(sizeof(ln_queue));
}

void ln_queue_free(ln_queue *queue)
{
    if (!queue)
        return;
    ln_list_free(queue->tail);
    ln_free(queue);
}

ln_queue *ln_queue_enqueue(ln_queue *queue, void *data)
{
    ln_list *node = ln_list_prepend(NULL, data);
    if (!node)
        return NULL;
    if (!queue && !(queue = ln_queue_create())) {
        ln_list_free(node);
        return NULL;
    }
    if (queue->head)
        queue->head->next = node;
    else
        queue->tail = node;
    queue->head = node;
    queue->size++;
    return queue;
}

void *ln_queue_dequeue(ln_queue *queue)
{
    if (!queue || !queue->tail)
        return NULL;
    void *data = queue->tail->data;
    queue->tail = ln_list_remove_nth(queue->tail, 0);
    if (!queue->tail)
        queue->head = NULL;
    queue->size--;
    return data;
}

ln_bool ln_queue_is_valid(const ln_queue *queue)
{
    if (!queue)
        return LN_FALSE;
    const ln_list *last = NULL;
    size_t n = 0;
    for (const ln_list *node = queue->tail; node; node = node->next, n++)
        last = node;
    return n == queue->size && last == queue->head ? LN_TRUE : LN_FALSE;
}

// Stacks: lists whose first node is the top

ln_stack *ln_stack_create(void)
{
    return ln_alloc(sizeof(ln_stack));
}

void ln_stack_free(ln_stack *stack)
{
    if (!stack)
        return;
    ln_list_free(stack->top);
    ln_free(stack);
}

ln_stack *ln_stack_push(ln_stack *stack, void *data)
{
    ln_list *top = ln_list_prepend(stack ? stack->top : NULL, data);
    if (!top)
        return NULL;
    if (!stack && !(stack = ln_stack_create())) {
        ln_list_free(top);
        return NULL;
    }
    stack->top = top;
    stack->size++;
    return stack;
}

void *ln_stack_pop(ln_stack *stack)
{
    if (!stack || !stack->top)
        return NULL;
    void *data = stack->top->data;
    stack->top = ln_list_remove_nth(stack->top, 0);
    stack->size--;
    return data;
}

ln_bool ln_stack_is_valid(const ln_stack *stack)
{
    return stack && (size_t)ln_list_length(stack->top) == stack->size ? LN_TRUE : LN_FALSE;
}

// `longer`: the list with `data`, NULL after a failure.
static int keep_longer(ln_list **list, ln_list *longer, void *data, ln_free_func free_data)
{
    if (longer)
        *list = longer;
    else if (data && free_data)
        free_data(data);
    return longer ? 0 : -1;
}

int ln_list_push(ln_list **list, void *data, ln_free_func free_data)
{
    return keep_longer(list, data ? ln_list_prepend(*list, data) : NULL, data, free_data);
}

int ln_list_add(ln_list **list, void *data, ln_free_func free_data)
{
    return keep_longer(list, data ? ln_list_append(*list, data) : NULL, data, free_data);
}

// Lists that own their elements

ln_list *ln_entry_list_append(ln_list *list, void *entry, ln_free_func free_func)
{
    return ln_list_add(&list, entry, free_func) ? NULL : list;
}

ln_list *ln_entry_list_copy(const ln_list *list, void *(*copy_func)(const void *),
                            ln_free_func free_func)
{
    ln_list *reversed = NULL;
    for (; list; list = list->next) {
        if (ln_list_push(&reversed, copy_func(list->data), free_func)) {
            ln_list_free_deep(reversed, free_func);
            return NULL;
        }
    }
    return ln_list_reverse(reversed);
}
