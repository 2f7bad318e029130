// SPDX-License-Identifier: Apache-2.0
// A queue: the links lead from the tail, where elements leave, to the head, where they come in, so
// that both are O(1).

#include "lightnet/ln_queue.h"

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
