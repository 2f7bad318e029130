// SPDX-License-Identifier: Apache-2.0
// A stack: a list whose first node is the top.

#include "lightnet/ln_stack.h"

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
