// SPDX-License-Identifier: Apache-2.0
// The data flow graph: the documented view of values and their uses (ir/ln_dfg_value.h).
//
// A node has its uses in one array. A reading use is linked if it has an edge in the graph; its
// value counts it in num_linked. The dangling lists contain the other reading uses, and the writing
// uses without a linked reader. Removal takes constant time, since a use points to the link that
// leads to it.

#include "lightnet/ln_dfg.h"

#include "ir/ln_dfg_value.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"

// The `ports` of a node of the graph.
struct ln_ports {
    size_t len;
    ln_slab *home;
    ln_use at[];
};

static ln_use *use_of(const ln_list *place)
{
    return place->data;
}

static ln_op *op_of(const ln_graph_node *node)
{
    return node->data;
}

static ln_op *op_at(const ln_use *use)
{
    return op_of(use->edge.node);
}

// Dangling uses

static void start_dangling(ln_dfg *dfg, ln_use *use)
{
    ln_list **head = use->writes ? &dfg->dangling_outs : &dfg->dangling_ins;
    if (use->link)
        return;
    use->place.next = *head;
    if (*head)
        use_of(*head)->link = &use->place.next;
    use->link = head;
    *head = &use->place;
}

static void stop_dangling(ln_use *use)
{
    if (!use->link)
        return;
    ln_list *next = use->place.next;
    *use->link = next;
    if (next)
        use_of(next)->link = use->link;
    use->link = NULL;
}

// Updates whether the writer dangles, after its readers changed.
static void update_writer(ln_dfg *dfg, const ln_dfg_value *value)
{
    if (value->writer && value->num_linked == 0)
        start_dangling(dfg, value->writer);
    else if (value->writer)
        stop_dangling(value->writer);
}

// Edges

static int link_reader(ln_dfg *dfg, ln_use *reader)
{
    ln_dfg_value *value = reader->value;
    reader->out_end =
        ln_graph_add_edge(dfg->graph, value->writer->edge.node, reader->edge.node, value->name);
    if (!reader->out_end)
        return -1;
    value->num_linked++;
    stop_dangling(reader);
    update_writer(dfg, value);
    return 0;
}

static void unlink_reader(ln_dfg *dfg, ln_use *reader)
{
    ln_dfg_value *value = reader->value;
    ln_graph_remove_edge(reader->out_end);
    reader->out_end = NULL;
    value->num_linked--;
    start_dangling(dfg, reader);
    update_writer(dfg, value);
}

// Uses

// Adds the use to its value, and links a new writer to existing readers.
static int connect(ln_dfg *dfg, ln_use *use)
{
    ln_dfg_value *value = use->value;
    if (use->writes)
        value->writer = use;
    else
        ln_dfg_value_add_reader(use);
    start_dangling(dfg, use);
    if (!use->writes)
        return value->writer ? link_reader(dfg, use) : 0;
    for (ln_use *reader = value->oldest; reader; reader = reader->newer)
        if (!reader->out_end && link_reader(dfg, reader))
            return -1;
    return 0;
}

// The opposite, also after `connect` failed.
static void disconnect(ln_dfg *dfg, ln_use *use)
{
    ln_dfg_value *value = use->value;
    if (use->writes) {
        for (ln_use *reader = value->oldest; reader; reader = reader->newer)
            if (reader->out_end)
                unlink_reader(dfg, reader);
        value->writer = NULL;
    } else {
        if (use->out_end)
            unlink_reader(dfg, use);
        ln_dfg_value_remove_reader(use);
    }
    stop_dangling(use);
    ln_dfg_value_release(value);
}

// Adds a use to the node's.
static int add_use(ln_dfg *dfg, ln_graph_node *node, const ln_tensor_list_entry *tle, int writes)
{
    // The value that the list entry points to, or in a graph of no context that of its name.
    ln_dfg_value *value = tle->value && tle->value->values == dfg->values
                              ? ln_dfg_value_refer(tle->value)
                              : ln_dfg_value_enter(dfg->values, tle->name);
    if (!value)
        return -1;
    if (writes && value->writer) {
        ln_dfg_value_release(value);
        return ln_error_set(NULL, "tensor '%s' is produced by operator '%s', expected '%s' only",
                            tle->name, op_at(value->writer)->op_arg->name,
                            op_of(node)->op_arg->name);
    }
    ln_use *use = &node->ports->at[node->ports->len++];
    use->edge =
        (ln_graph_edge_node){.edge_data = value->name, .node = node, .edge_data_cmp = ln_str_cmp};
    use->value = value;
    use->writes = writes;
    use->place.data = use;
    return connect(dfg, use);
}

static int add_uses(ln_dfg *dfg, ln_graph_node *node, const ln_list *tensors, int writes)
{
    for (; tensors; tensors = tensors->next)
        if (add_use(dfg, node, tensors->data, writes))
            return -1;
    return 0;
}

static void free_uses(ln_graph_node *node)
{
    if (node->ports)
        ln_slab_free(node->ports, 0, node->ports->home);
    node->ports = NULL;
}

// Adds the operator's uses to its node; after a failure, remove_node removes those added.
static int add_all_uses(ln_dfg *dfg, const ln_op_arg *op_arg, ln_graph_node *node)
{
    ln_slab *home;
    const size_t n_uses = (size_t)ln_tensor_list_length(op_arg->tensors_in) +
                          (size_t)ln_tensor_list_length(op_arg->tensors_out);
    node->ports =
        ln_slab_alloc(LN_SLAB_USES, sizeof(*node->ports) + n_uses * sizeof(ln_use), &home);
    if (!node->ports)
        return -1;
    node->ports->home = home;
    return -(add_uses(dfg, node, op_arg->tensors_out, 1) ||
             add_uses(dfg, node, op_arg->tensors_in, 0));
}

// Nodes

// Whether this is the graph of the operator's context: the operator then points to its node.
static int is_of_context(const ln_dfg *dfg, const ln_op *op)
{
    return op->op_arg->ctx && op->op_arg->ctx->dfg == dfg;
}

static ln_graph_node *find_node(const ln_dfg *dfg, const ln_op *op)
{
    if (is_of_context(dfg, op))
        return op->op_arg->graph_node;
    ln_graph_node *node = ln_hash_find(dfg->node_table, op->op_arg->name);
    return node && op_of(node) == op ? node : NULL;
}

static ln_use *find_writer(const ln_dfg *dfg, const ln_op *op, const char *tname)
{
    const ln_dfg_value *value = ln_dfg_value_find(dfg->values, tname);
    return value && value->writer && op_at(value->writer) == op ? value->writer : NULL;
}

static ln_use *oldest_reader(const ln_use *writer)
{
    return writer ? writer->value->oldest : NULL;
}

static void remove_node(ln_dfg *dfg, const ln_op *op, ln_graph_node *node)
{
    for (size_t i = node->ports ? node->ports->len : 0; i-- > 0;) // the newest first
        disconnect(dfg, &node->ports->at[i]);
    free_uses(node);
    ln_hash_remove(dfg->node_table, op->op_arg->name);
    ln_graph_remove_node(dfg->graph, node);
    if (is_of_context(dfg, op))
        op->op_arg->graph_node = NULL;
}

// The graph

ln_dfg *ln_dfg_create(void)
{
    ln_dfg *dfg = ln_alloc(sizeof *dfg);
    if (!dfg)
        return NULL;
    dfg->graph = ln_graph_create(ln_direct_cmp, ln_str_cmp);
    dfg->node_table = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    dfg->values = ln_dfg_values_create();
    if (!dfg->graph || !dfg->node_table || !dfg->values) {
        ln_dfg_free(dfg);
        return NULL;
    }
    return dfg;
}

void ln_dfg_free(ln_dfg *dfg)
{
    if (!dfg)
        return;
    for (const ln_list *l = dfg->graph ? dfg->graph->nodes : NULL; l; l = l->next)
        free_uses(l->data);
    ln_hash_free(dfg->values);
    ln_hash_free(dfg->node_table);
    ln_graph_free(dfg->graph);
    ln_free(dfg);
}

int ln_dfg_link(ln_dfg *dfg, const ln_op *op1, const ln_op *op2, const char *tname)
{
    const ln_use *writer = find_writer(dfg, op1, tname);
    if (!writer)
        return ln_error_set(NULL,
                            "operator '%s' does not produce tensor '%s' in the data flow graph",
                            op1->op_arg->name, tname);
    int found = 0;
    for (ln_use *reader = oldest_reader(writer); reader; reader = reader->newer) {
        if (op_at(reader) != op2)
            continue;
        if (!reader->out_end && link_reader(dfg, reader))
            return -1;
        found = 1;
    }
    if (!found)
        return ln_error_set(NULL, "operator '%s' does not read tensor '%s' in the data flow graph",
                            op2->op_arg->name, tname);
    return 0;
}

void ln_dfg_unlink(ln_dfg *dfg, const ln_op *op1, const ln_op *op2, const char *tname)
{
    const ln_use *writer = find_writer(dfg, op1, tname);
    for (ln_use *reader = oldest_reader(writer); reader; reader = reader->newer)
        if (op_at(reader) == op2 && reader->out_end)
            unlink_reader(dfg, reader);
}

int ln_dfg_add(ln_dfg *dfg, ln_op *op)
{
    ln_graph_node *node = ln_graph_add(dfg->graph, op);
    if (!node)
        return -1;
    const int added = ln_hash_add(dfg->node_table, op->op_arg->name, node);
    if (added <= 0) {
        ln_graph_remove_node(dfg->graph, node);
        return added ? -1
                     : ln_error_set(NULL, "operator '%s' is in the data flow graph already",
                                    op->op_arg->name);
    }
    if (add_all_uses(dfg, op->op_arg, node)) {
        remove_node(dfg, op, node);
        return -1;
    }
    if (is_of_context(dfg, op))
        op->op_arg->graph_node = node;
    return 0;
}

void ln_dfg_remove(ln_dfg *dfg, const ln_op *op)
{
    ln_graph_node *node = find_node(dfg, op);
    if (node)
        remove_node(dfg, op, node);
}

ln_op *ln_dfg_next(const ln_dfg *dfg, const ln_op *op, const char *tname)
{
    const ln_use *writer = find_writer(dfg, op, tname);
    for (const ln_use *reader = oldest_reader(writer); reader; reader = reader->newer)
        if (reader->out_end)
            return op_at(reader);
    return NULL;
}

ln_list *ln_dfg_nexts(const ln_dfg *dfg, const ln_op *op, const char *tname)
{
    const ln_use *writer = find_writer(dfg, op, tname);
    return writer ? ln_dfg_value_readers(writer->value) : NULL;
}

int ln_dfg_num_readers(const ln_dfg *dfg, const char *tname)
{
    const ln_dfg_value *value = ln_dfg_value_find(dfg->values, tname);
    return value ? (int)value->num_readers : 0;
}

ln_op *ln_dfg_prev(const ln_dfg *dfg, const ln_op *op, const char *tname)
{
    const ln_dfg_value *value = ln_dfg_value_find(dfg->values, tname);
    const ln_graph_node *node = value ? find_node(dfg, op) : NULL;
    for (size_t i = 0; node && i < node->ports->len; i++)
        if (node->ports->at[i].value == value && node->ports->at[i].out_end)
            return op_at(value->writer);
    return NULL;
}

// Checks for cycles of one operator, the most likely error, to name it.
static int check_loops(const ln_dfg *dfg)
{
    for (const ln_list *l = dfg->graph->nodes; l; l = l->next) {
        const ln_graph_node *node = l->data;
        for (const ln_list *e = node->out_edge_nodes; e; e = e->next) {
            const ln_graph_edge_node *edge = e->data;
            if (edge->node == node)
                return ln_error_set(NULL,
                                    "operator '%s' reads tensor '%s', which it produces itself",
                                    op_of(node)->op_arg->name, (const char *)edge->edge_data);
        }
    }
    return 0;
}

int ln_dfg_check(const ln_dfg *dfg)
{
    if (dfg->dangling_ins) {
        const ln_graph_edge_node *edge = dfg->dangling_ins->data;
        return ln_error_set(NULL, "operator '%s' reads tensor '%s', which no operator produces",
                            op_of(edge->node)->op_arg->name, (const char *)edge->edge_data);
    }
    if (check_loops(dfg))
        return -1;
    ln_list *layers;
    const int n = ln_graph_topsort(dfg->graph, &layers);
    ln_graph_free_topsortlist(layers);
    return n < 0 ? -1 : 0;
}

// Whether the use of a node agrees with its value.
static int is_use_valid(const ln_dfg *dfg, const ln_use *use, const ln_graph_node *node)
{
    const ln_dfg_value *value = use->value;
    if (ln_dfg_value_find(dfg->values, use->edge.edge_data) != value || use->edge.node != node)
        return 0;
    if (use->writes)
        return value->writer == use && (use->link != NULL) == (value->num_linked == 0);
    return ln_dfg_value_has_reader(use) && (use->link != NULL) == !use->out_end &&
           (!use->out_end || value->writer);
}

// Counts the node's uses for degrees and dangling lists.
static int is_node_valid(const ln_dfg *dfg, const ln_graph_node *node, size_t *dangling)
{
    size_t in = 0, out = 0;
    if (ln_hash_find(dfg->node_table, op_of(node)->op_arg->name) != node ||
        find_node(dfg, op_of(node)) != node)
        return 0;
    for (size_t i = 0; i < node->ports->len; i++) {
        const ln_use *use = &node->ports->at[i];
        if (!is_use_valid(dfg, use, node))
            return 0;
        in += use->out_end != NULL;
        out += use->writes ? use->value->num_linked : 0;
        *dangling += use->link != NULL;
    }
    return in == node->indegree && out == node->outdegree;
}

static int links_are_valid(ln_list *const *head)
{
    for (; *head; head = &(*head)->next)
        if (use_of(*head)->link != head || &use_of(*head)->place != *head)
            return 0;
    return 1;
}

int ln_dfg_is_valid(const ln_dfg *dfg)
{
    size_t dangling = 0;
    for (const ln_list *l = dfg->graph->nodes; l; l = l->next)
        if (!is_node_valid(dfg, l->data, &dangling))
            return 0;
    return ln_graph_is_valid(dfg->graph) &&
           (size_t)ln_hash_size(dfg->node_table) == dfg->graph->size &&
           links_are_valid(&dfg->dangling_ins) && links_are_valid(&dfg->dangling_outs) &&
           (size_t)ln_list_length(dfg->dangling_ins) + (size_t)ln_list_length(dfg->dangling_outs) ==
               dangling;
}

static void print_op(FILE *fp, const void *op)
{
    fputs(((const ln_op *)op)->op_arg->name, fp);
}

static void print_tensor_name(FILE *fp, const void *tname)
{
    fputs(tname, fp);
}

static void print_dangling(FILE *fp, const char *title, const ln_list *dangling)
{
    for (; dangling; dangling = dangling->next) {
        const ln_graph_edge_node *edge = dangling->data;
        fprintf(fp, "%s: %s (%s)\n", title, op_of(edge->node)->op_arg->name,
                (const char *)edge->edge_data);
    }
}

int ln_dfg_fprint(FILE *fp, const ln_dfg *dfg)
{
    if (ln_graph_fprint(fp, dfg->graph, print_op, print_tensor_name))
        return -1;
    print_dangling(fp, "dangling in", dfg->dangling_ins);
    print_dangling(fp, "dangling out", dfg->dangling_outs);
    return ferror(fp) ? ln_error_set(NULL, "cannot write the data flow graph") : 0;
}

int ln_dfg_print(const ln_dfg *dfg)
{
    return ln_dfg_fprint(stdout, dfg);
}
