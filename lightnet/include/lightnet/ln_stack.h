// SPDX-License-Identifier: Apache-2.0
// A first-in last-out stack of pointers; push and pop are O(1).

#ifndef LN_STACK_H
#define LN_STACK_H

#include <stddef.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_list.h"

LN_BEGIN_DECLS

typedef struct ln_stack {
    ln_list *top;
    size_t size; // elements
} ln_stack;

/** Returns new empty stack (ln_stack_free); NULL with a reason. */
LN_API ln_stack *ln_stack_create(void);
/** Frees the stack, not its elements. Ignores NULL. */
LN_API void ln_stack_free(ln_stack *stack);
/** Puts an element on the top; returns the stack. stack NULL: returns new. NULL with a
 * reason: no memory, the stack is then unchanged and still the caller's. */
LN_API ln_stack *ln_stack_push(ln_stack *stack, void *data);
/** Removes and returns the element on the top; NULL when the stack is empty or NULL. */
LN_API void *ln_stack_pop(ln_stack *stack);
/** Whether the links lead from the top over `size` nodes to the end. */
LN_API ln_bool ln_stack_is_valid(const ln_stack *stack);

LN_END_DECLS

#endif
