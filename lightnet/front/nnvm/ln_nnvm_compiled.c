// SPDX-License-Identifier: Apache-2.0
// Compiled graphs: what they are made of is told, and that is all.

#include <stdio.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_vars.h"

/* Text that ends with how many items found no room. */
typedef struct listing {
    char text[LN_MAXLINE / 3];
    size_t len, n_items, n_left_out;
} listing;

static void list_item(listing *l, const char *item)
{
    const size_t room = sizeof(l->text) - l->len, len = strlen(item);
    if (l->n_items++ && (l->n_left_out || len + sizeof(", ") + 32 > room))
        l->n_left_out++;
    else
        l->len +=
            (size_t)snprintf(l->text + l->len, room, "%s%s", l->n_items > 1 ? ", " : "", item);
}

static const char *end_listing(listing *l)
{
    if (l->n_left_out)
        snprintf(l->text + l->len, sizeof(l->text) - l->len, " and %zu more", l->n_left_out);
    return l->n_items ? l->text : "none";
}

// The type and the shape of output 0 of a node, as far as the graph tells them.
static const char *describe_output(const ln_nnvm_graph *g, size_t i, char *buf, size_t size)
{
    char shape[LN_MAX_SHAPE] = "";
    int dims[LN_MAXDIM];
    const char *const dtype = json_string_value(ln_nnvm_graph_value(g, "dltype", i));
    const int ndim = ln_nnvm_graph_shape(g, i, dims);
    if (ndim >= 0)
        ln_sprint_shape(shape, sizeof(shape), ndim, dims);
    snprintf(buf, size, "%s%.32s%s%s", dtype ? " " : "", dtype ? dtype : "", *shape ? " " : "",
             shape);
    return buf;
}

void ln_nnvm_refuse_compiled(ln_nnvm_model *m)
{
    const ln_nnvm_graph *g = &m->graph;
    listing inputs = {.len = 0}, functions = {.len = 0};
    for (size_t i = 0; i < g->n_nodes; i++) {
        ln_nnvm_vertex *v = &g->nodes[i];
        const char *const func = ln_nnvm_graph_attr(v, "func_name");
        char item[512], output[LN_MAX_SHAPE + 64];
        describe_output(g, i, output, sizeof(output));
        if (v->is_variable)
            snprintf(item, sizeof(item), "\"%.128s\"%s", v->name, output);
        else
            snprintf(item, sizeof(item), "nodes[%zu] \"%.128s\" %.128s%s%s", i, v->name,
                     func ? func : v->op, *output ? " ->" : "", output);
        list_item(v->is_variable ? &inputs : &functions, item);
    }
    ln_translation_fail(&m->base,
                        "compiled graph (tvm_op), whose %zu operators live in a separate library, "
                        "so that it cannot be run. Variables: %s. Operators: %s",
                        functions.n_items, end_listing(&inputs), end_listing(&functions));
}
