// SPDX-License-Identifier: Apache-2.0
// Reads the nodes of the model that a compiled program was made of, and those of each operator.

#include "front/json/ln_ir_reader.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "lightnet/ln_util.h"

// The number that a JSON value is, from 1; 0: it is none.
static int number_of(const json_t *value)
{
    const double number = json_is_number(value) ? json_number_value(value) : 0;
    return number >= 1 && number <= INT_MAX && number == floor(number) ? (int)number : 0;
}

static int read_node(const ln_ir_reader *r, const json_t *row, ln_ir_nodes *nodes)
{
    const int last = nodes->n ? nodes->items[nodes->n - 1].number : 0;
    const int number = number_of(json_array_get(row, 0));
    const char *const name = json_string_value(json_array_get(row, 1)), *const type =
                                                                            json_string_value(
                                                                                json_array_get(row,
                                                                                               2));
    if (json_array_size(row) != 3 || !number || !name || !type)
        return ln_ir_fail(r, "model_nodes[%zu] is %s, expected [NUMBER, \"NAME\", \"TYPE\"]",
                          nodes->n, json_is_array(row) ? "another array" : ln_json_describe(row));
    if (number <= last || number > nodes->total)
        return ln_ir_fail(r, "model_nodes[%zu] has number %d, expected %d to %d", nodes->n, number,
                          last + 1, nodes->total);
    ln_origin *const origin = ln_origin_of_node(name, type, number);
    if (!origin)
        return ln_ir_fail_last(r);
    nodes->items[nodes->n++] = (ln_ir_node){number, origin};
    return 0;
}

int ln_ir_read_nodes(ln_ir_reader *r, const ln_ir_element *top, ln_ir_nodes *nodes)
{
    if (!r->target || !json_object_get(top->json, "model_nodes"))
        return 0;
    const json_t *const count = ln_ir_get(r, top, "node_count", LN_IR_NUMBER);
    const json_t *const array = count ? ln_ir_get(r, top, "model_nodes", LN_IR_ARRAY) : NULL;
    const size_t n = json_array_size(array);
    if (!array)
        return -1;
    nodes->total = number_of(count);
    if (!nodes->total)
        return ln_ir_fail(r, "'node_count' is %.17g, expected a number of nodes",
                          json_number_value(count));
    nodes->items = ln_alloc_array(n + 1, sizeof(*nodes->items));
    if (!nodes->items)
        return ln_ir_fail_last(r);
    r->at = "model_nodes";
    for (size_t i = 0; i < n; i++)
        if (read_node(r, json_array_get(array, i), nodes))
            return -1;
    r->at = NULL;
    return 0;
}

void ln_ir_free_nodes(const ln_ir_nodes *nodes)
{
    for (size_t i = 0; i < nodes->n; i++)
        ln_origin_free(nodes->items[i].origin);
    ln_free(nodes->items);
}

// Operators

static int by_number(const void *key, const void *item)
{
    const int wanted = *(const int *)key, number = ((const ln_ir_node *)item)->number;
    return (wanted > number) - (wanted < number);
}

// The node with the number that a JSON value is; NULL: none.
static const ln_ir_node *find_node(const ln_ir_nodes *nodes, const json_t *value)
{
    const int number = number_of(value);
    return nodes->n ? bsearch(&number, nodes->items, nodes->n, sizeof(*nodes->items), by_number)
                    : NULL;
}

int ln_ir_give_nodes(const ln_ir_reader *r, const ln_ir_element *e, ln_op *op)
{
    ln_origin *found[LN_MAX_ORIGINS];
    int last = 0;
    if (!r->target || !json_object_get(e->json, "nodes"))
        return 0;
    const json_t *const array = ln_ir_get(r, e, "nodes", LN_IR_ARRAY);
    const size_t n = json_array_size(array);
    if (!array)
        return -1;
    if (n < 1 || n > LN_MAX_ORIGINS)
        return ln_ir_fail(r, "'nodes' has %zu elements, expected 1 to %d", n, LN_MAX_ORIGINS);
    for (size_t i = 0; i < n; i++) {
        const ln_ir_node *const node = find_node(r->nodes, json_array_get(array, i));
        if (!node || node->number <= last)
            return ln_ir_fail(r,
                              "nodes[%zu] is %s, expected increasing numbers of nodes of the "
                              "model",
                              i, node ? "not above the one before it" : "no number of a node");
        last = node->number;
        found[i] = node->origin;
    }
    op->op_arg->origin = ln_origin_of_nodes(found, (int)n);
    return op->op_arg->origin ? 0 : ln_ir_fail_last(r);
}
