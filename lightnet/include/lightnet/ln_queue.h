// SPDX-License-Identifier: Apache-2.0
// A first-in first-out queue of pointers: in at the head, out at the tail, both O(1).
//
// The links run against the head, from the oldest element
// to the newest, so that the tail can be removed:
//
//     tail (oldest, next out) -> ... -> head (newest) -> NULL

#ifndef LN_QUEUE_H
#define LN_QUEUE_H

#include <stddef.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_list.h"

LN_BEGIN_DECLS

typedef struct ln_queue {
    ln_list *head;
    ln_list *tail;
    size_t size; // elements
} ln_queue;

/** Returns new empty queue (ln_queue_free); NULL with a reason. */
LN_API ln_queue *ln_queue_create(void);
/** Frees the queue, not its elements. Ignores NULL. */
LN_API void ln_queue_free(ln_queue *queue);
/** Adds an element at the head; returns the queue. queue NULL: returns new. NULL with a
 * reason: no memory, the queue is then unchanged and still the caller's. */
LN_API ln_queue *ln_queue_enqueue(ln_queue *queue, void *data);
/** Removes and returns the element at the tail; NULL when the queue is empty or NULL. */
LN_API void *ln_queue_dequeue(ln_queue *queue);
/** Whether the links lead from the tail over `size` nodes to the head. */
LN_API ln_bool ln_queue_is_valid(const ln_queue *queue);

LN_END_DECLS

#endif
