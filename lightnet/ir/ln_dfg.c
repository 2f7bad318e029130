// SPDX-License-Identifier: Apache-2.0
// The data flow graph: the graph proper, and an index of it by tensor.
//
// A port is one use of a tensor by an operator: its writing of an output, or its reading of an
// input. Ports are found from both sides: by the tensor (one writer, any readers) and by the node
// (`op_ports`). A reading port is linked when the graph has its edge, which it knows, and then
// counts in its tensor's num_linked. The dangling lists hold the other reading ports, and the
// writing ports without a linked reader. They are spliced in constant time, since a port knows the
// pointer that leads to its node; and so are a tensor's readers, each of which knows its
// neighbours.

#include "lightnet/ln_dfg.h"

#include "ir/ln_name.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"

struct tensor;

struct port {
    ln_graph_edge_node
        edge; /* first: what a dangling list holds. The tensor's name, the op's node */
    struct tensor *tensor;
    ln_list *place; /* its node, for a dangling list */
    ln_list **link; /* what points to its place; NULL: it does not dangle */
    int writes;
    ln_graph_edge_node
        *out_end; /* reading: of the edge from the tensor's writer; NULL: not linked */
    struct port *older, *newer; /* reading: its neighbours among the tensor's readers */
};

struct tensor {
    char *name;
    struct port *writer;          /* or NULL */
    struct port *oldest, *newest; /* readers, or NULL */
    size_t num_readers;
    size_t num_linked; /* readers */
};

static struct port *port_of(const ln_list *node)
{
    return node->data;
}

static const ln_op *op_of(const ln_graph_node *node)
{
    return node->data;
}

/* Dangling ports */

static ln_list **dangling_list(ln_dfg *dfg, const struct port *port)
{
    return port->writes ? &dfg->dangling_outs : &dfg->dangling_ins;
}

static void start_dangling(ln_dfg *dfg, struct port *port)
{
    ln_list **head = dangling_list(dfg, port);
    if (port->link)
        return;
    port->place->next = *head;
    if (*head)
        port_of(*head)->link = &port->place->next;
    port->link = head;
    *head = port->place;
}

static void stop_dangling(struct port *port)
{
    if (!port->link)
        return;
    ln_list *next = port->place->next;
    *port->link = next;
    if (next)
        port_of(next)->link = port->link;
    port->link = NULL;
}

/* Brings the writer's dangling in line with its readers. */
static void update_writer(ln_dfg *dfg, const struct tensor *tensor)
{
    if (tensor->writer && tensor->num_linked == 0)
        start_dangling(dfg, tensor->writer);
    else if (tensor->writer)
        stop_dangling(tensor->writer);
}

/* Edges */

static int link_reader(ln_dfg *dfg, struct port *reader)
{
    struct tensor *tensor = reader->tensor;
    reader->out_end =
        ln_graph_add_edge(dfg->graph, tensor->writer->edge.node, reader->edge.node, tensor->name);
    if (!reader->out_end)
        return -1;
    tensor->num_linked++;
    stop_dangling(reader);
    update_writer(dfg, tensor);
    return 0;
}

static void unlink_reader(ln_dfg *dfg, struct port *reader)
{
    struct tensor *tensor = reader->tensor;
    ln_graph_remove_edge(reader->out_end);
    reader->out_end = NULL;
    tensor->num_linked--;
    start_dangling(dfg, reader);
    update_writer(dfg, tensor);
}

static int link_readers(ln_dfg *dfg, struct tensor *tensor)
{
    for (struct port *reader = tensor->oldest; reader; reader = reader->newer)
        if (!reader->out_end && link_reader(dfg, reader))
            return -1;
    return 0;
}

static void unlink_readers(ln_dfg *dfg, struct tensor *tensor)
{
    for (struct port *reader = tensor->oldest; reader; reader = reader->newer)
        if (reader->out_end)
            unlink_reader(dfg, reader);
}

/* Tensors */

static void free_tensor(void *data)
{
    struct tensor *tensor = data;
    ln_free(tensor->name);
    ln_free(tensor);
}

static struct tensor *create_tensor(ln_dfg *dfg, const char *name)
{
    struct tensor *tensor = ln_alloc(sizeof *tensor);
    if (!tensor)
        return NULL;
    if (ln_name_set(&tensor->name, name) ||
        ln_hash_insert(dfg->tensors, tensor->name, tensor) < 0) {
        free_tensor(tensor);
        return NULL;
    }
    return tensor;
}

static struct tensor *find_or_create_tensor(ln_dfg *dfg, const char *name)
{
    struct tensor *tensor = ln_hash_find(dfg->tensors, name);
    return tensor ? tensor : create_tensor(dfg, name);
}

static void remove_unused_tensor(ln_dfg *dfg, struct tensor *tensor)
{
    if (!tensor->writer && !tensor->oldest)
        ln_hash_remove(dfg->tensors, tensor->name);
}

static void append_reader(struct tensor *tensor, struct port *port)
{
    port->older = tensor->newest;
    *(tensor->newest ? &tensor->newest->newer : &tensor->oldest) = port;
    tensor->newest = port;
    tensor->num_readers++;
}

static void remove_reader(struct tensor *tensor, const struct port *port)
{
    *(port->older ? &port->older->newer : &tensor->oldest) = port->newer;
    *(port->newer ? &port->newer->older : &tensor->newest) = port->older;
    tensor->num_readers--;
}

/* Ports */

static void free_port(void *data)
{
    struct port *port = data;
    ln_list_free(port->place);
    ln_free(port);
}

/* Frees a list of ports with the dangling places of each, which may be linked among themselves. */
static void free_ports(ln_list *ports)
{
    for (ln_list *l = ports; l; l = l->next)
        port_of(l)->place->next = NULL;
    ln_list_free_deep(ports, free_port);
}

static struct port *create_port(struct tensor *tensor, ln_graph_node *node, int writes)
{
    struct port *port = ln_alloc(sizeof *port);
    if (!port)
        return NULL;
    port->edge =
        (ln_graph_edge_node){.edge_data = tensor->name, .node = node, .edge_data_cmp = ln_str_cmp};
    port->tensor = tensor;
    port->writes = writes;
    port->place = ln_list_append(NULL, port);
    if (!port->place) {
        ln_free(port);
        return NULL;
    }
    return port;
}

static int connect_writer(ln_dfg *dfg, struct port *port)
{
    port->tensor->writer = port;
    start_dangling(dfg, port);
    return link_readers(dfg, port->tensor);
}

static int connect_reader(ln_dfg *dfg, struct port *port)
{
    append_reader(port->tensor, port);
    start_dangling(dfg, port);
    return port->tensor->writer ? link_reader(dfg, port) : 0;
}

/* The opposite of both, also when they failed half way. */
static void disconnect(ln_dfg *dfg, struct port *port)
{
    struct tensor *tensor = port->tensor;
    if (port->writes) {
        unlink_readers(dfg, tensor);
        tensor->writer = NULL;
    } else {
        if (port->out_end)
            unlink_reader(dfg, port);
        remove_reader(tensor, port);
    }
    stop_dangling(port);
    remove_unused_tensor(dfg, tensor);
}

/* Adds a port of `node` to the list of its ports, and to the graph. */
static int add_port(ln_dfg *dfg, ln_list **ports, ln_graph_node *node, const char *tname,
                    int writes)
{
    struct tensor *tensor = find_or_create_tensor(dfg, tname);
    if (!tensor)
        return -1;
    if (writes && tensor->writer)
        return ln_error_set(NULL, "tensor '%s' is made by operator '%s', expected by '%s' alone",
                            tname, op_of(tensor->writer->edge.node)->op_arg->name,
                            op_of(node)->op_arg->name);
    struct port *port = create_port(tensor, node, writes);
    ln_list *longer = port ? ln_list_prepend(*ports, port) : NULL;
    if (!longer) {
        if (port)
            free_port(port);
        remove_unused_tensor(dfg, tensor);
        return -1;
    }
    *ports = longer;
    return writes ? connect_writer(dfg, port) : connect_reader(dfg, port);
}

static int add_ports(ln_dfg *dfg, ln_list **ports, ln_graph_node *node, const ln_list *tensors,
                     int writes)
{
    for (; tensors; tensors = tensors->next) {
        const ln_tensor_list_entry *tle = tensors->data;
        if (add_port(dfg, ports, node, tle->name, writes))
            return -1;
    }
    return 0;
}

static void remove_ports(ln_dfg *dfg, ln_list *ports)
{
    for (ln_list *l = ports; l; l = l->next)
        disconnect(dfg, port_of(l));
    free_ports(ports);
}

/* Nodes */

static ln_graph_node *find_node(const ln_dfg *dfg, const ln_op *op)
{
    ln_graph_node *node = ln_hash_find(dfg->node_table, op->op_arg->name);
    return node && op_of(node) == op ? node : NULL;
}

static struct port *find_writer(const ln_dfg *dfg, const ln_op *op, const char *tname)
{
    const struct tensor *tensor = ln_hash_find(dfg->tensors, tname);
    if (!tensor || !tensor->writer || op_of(tensor->writer->edge.node) != op)
        return NULL;
    return tensor->writer;
}

static int is_reader_of(const struct port *port, const ln_op *op)
{
    return op_of(port->edge.node) == op;
}

/* NULL for NULL. */
static struct port *oldest_reader(const struct port *writer)
{
    return writer ? writer->tensor->oldest : NULL;
}

static void forget_node(ln_dfg *dfg, const ln_op *op, ln_graph_node *node)
{
    ln_hash_remove(dfg->node_table, op->op_arg->name);
    ln_hash_remove(dfg->op_ports, node);
    ln_graph_remove_node(dfg->graph, node);
}

/* Adds the operator's ports to its node; on failure none is left. */
static int add_all_ports(ln_dfg *dfg, const ln_op *op, ln_graph_node *node)
{
    ln_list *ports = NULL;
    if (add_ports(dfg, &ports, node, op->op_arg->tensors_out, 1) ||
        add_ports(dfg, &ports, node, op->op_arg->tensors_in, 0) ||
        ln_hash_insert(dfg->op_ports, node, ports) < 0) {
        remove_ports(dfg, ports);
        return -1;
    }
    return 0;
}

/* The graph */

ln_dfg *ln_dfg_create(void)
{
    ln_dfg *dfg = ln_alloc(sizeof *dfg);
    if (!dfg)
        return NULL;
    dfg->graph = ln_graph_create(ln_direct_cmp, ln_str_cmp);
    dfg->node_table = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    dfg->tensors = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, free_tensor);
    dfg->op_ports = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    if (!dfg->graph || !dfg->node_table || !dfg->tensors || !dfg->op_ports) {
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
        free_ports(ln_hash_find(dfg->op_ports, l->data));
    ln_hash_free(dfg->op_ports);
    ln_hash_free(dfg->tensors);
    ln_hash_free(dfg->node_table);
    ln_graph_free(dfg->graph);
    ln_free(dfg);
}

int ln_dfg_link(ln_dfg *dfg, const ln_op *op1, const ln_op *op2, const char *tname)
{
    struct port *writer = find_writer(dfg, op1, tname);
    if (!writer)
        return ln_error_set(NULL, "operator '%s' does not make tensor '%s' in the data flow graph",
                            op1->op_arg->name, tname);
    int found = 0;
    for (struct port *reader = writer->tensor->oldest; reader; reader = reader->newer) {
        if (!is_reader_of(reader, op2))
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
    const struct port *writer = find_writer(dfg, op1, tname);
    for (struct port *reader = oldest_reader(writer); reader; reader = reader->newer)
        if (is_reader_of(reader, op2) && reader->out_end)
            unlink_reader(dfg, reader);
}

int ln_dfg_add(ln_dfg *dfg, ln_op *op)
{
    if (ln_hash_find(dfg->node_table, op->op_arg->name))
        return ln_error_set(NULL, "operator '%s' is in the data flow graph already",
                            op->op_arg->name);
    ln_graph_node *node = ln_graph_add(dfg->graph, op);
    if (!node)
        return -1;
    if (ln_hash_insert(dfg->node_table, op->op_arg->name, node) < 0 ||
        add_all_ports(dfg, op, node)) {
        forget_node(dfg, op, node);
        return -1;
    }
    return 0;
}

void ln_dfg_remove(ln_dfg *dfg, const ln_op *op)
{
    ln_graph_node *node = find_node(dfg, op);
    if (!node)
        return;
    remove_ports(dfg, ln_hash_find(dfg->op_ports, node));
    forget_node(dfg, op, node);
}

ln_op *ln_dfg_next(const ln_dfg *dfg, const ln_op *op, const char *tname)
{
    const struct port *writer = find_writer(dfg, op, tname);
    for (const struct port *reader = oldest_reader(writer); reader; reader = reader->newer)
        if (reader->out_end)
            return reader->edge.node->data;
    return NULL;
}

ln_list *ln_dfg_nexts(const ln_dfg *dfg, const ln_op *op, const char *tname)
{
    const struct port *writer = find_writer(dfg, op, tname);
    ln_list *reversed = NULL;
    for (const struct port *reader = oldest_reader(writer); reader; reader = reader->newer) {
        // An operator's reads of one tensor stand side by side, since they were added together.
        ln_op *op_reading = reader->edge.node->data;
        if (!reader->out_end || (reversed && reversed->data == op_reading))
            continue;
        ln_list *longer = ln_list_prepend(reversed, op_reading);
        if (!longer) {
            ln_list_free(reversed);
            return NULL;
        }
        reversed = longer;
    }
    return ln_list_reverse(reversed);
}

int ln_dfg_num_readers(const ln_dfg *dfg, const char *tname)
{
    const struct tensor *tensor = ln_hash_find(dfg->tensors, tname);
    return tensor ? (int)tensor->num_readers : 0;
}

ln_op *ln_dfg_prev(const ln_dfg *dfg, const ln_op *op, const char *tname)
{
    const struct tensor *tensor = ln_hash_find(dfg->tensors, tname);
    const ln_graph_node *node = tensor ? find_node(dfg, op) : NULL;
    for (const ln_list *l = node ? ln_hash_find(dfg->op_ports, node) : NULL; l; l = l->next)
        if (port_of(l)->tensor == tensor && port_of(l)->out_end)
            return tensor->writer->edge.node->data;
    return NULL;
}

static int check_sources(const ln_dfg *dfg)
{
    if (!dfg->dangling_ins)
        return 0;
    const ln_graph_edge_node *edge = dfg->dangling_ins->data;
    return ln_error_set(NULL, "operator '%s' reads tensor '%s', which no operator makes",
                        op_of(edge->node)->op_arg->name, (const char *)edge->edge_data);
}

/* Names the operator of a cycle of one, which is the likely mistake. */
static int check_loops(const ln_dfg *dfg)
{
    for (const ln_list *l = dfg->graph->nodes; l; l = l->next) {
        const ln_graph_node *node = l->data;
        for (const ln_list *e = node->out_edge_nodes; e; e = e->next) {
            const ln_graph_edge_node *edge = e->data;
            if (edge->node == node)
                return ln_error_set(NULL, "operator '%s' reads tensor '%s', which it makes itself",
                                    op_of(node)->op_arg->name, (const char *)edge->edge_data);
        }
    }
    return 0;
}

int ln_dfg_check(const ln_dfg *dfg)
{
    if (check_sources(dfg) || check_loops(dfg))
        return -1;
    ln_list *layers;
    const int n = ln_graph_topsort(dfg->graph, &layers);
    ln_graph_free_topsortlist(layers);
    return n < 0 ? -1 : 0;
}

/* Whether a reading port stands in its tensor's list. */
static int is_listed(const struct port *port)
{
    const struct tensor *tensor = port->tensor;
    return (port->older ? port->older->newer : tensor->oldest) == port &&
           (port->newer ? port->newer->older : tensor->newest) == port;
}

/* Whether the port of a node agrees with its tensor. */
static int is_port_valid(const ln_dfg *dfg, const struct port *port, const ln_graph_node *node)
{
    const struct tensor *tensor = ln_hash_find(dfg->tensors, port->edge.edge_data);
    if (!tensor || tensor != port->tensor || port->edge.node != node)
        return 0;
    if (port->writes)
        return tensor->writer == port && (port->link != NULL) == (tensor->num_linked == 0);
    return is_listed(port) && (port->link != NULL) == !port->out_end &&
           (!port->out_end || tensor->writer);
}

/* Counts what the node's ports make of degrees and dangling lists. */
static int is_node_valid(const ln_dfg *dfg, const ln_graph_node *node, size_t *dangling)
{
    size_t in = 0, out = 0;
    if (ln_hash_find(dfg->node_table, op_of(node)->op_arg->name) != node)
        return 0;
    for (const ln_list *l = ln_hash_find(dfg->op_ports, node); l; l = l->next) {
        const struct port *port = port_of(l);
        if (!is_port_valid(dfg, port, node))
            return 0;
        in += port->out_end != NULL;
        out += port->writes ? port->tensor->num_linked : 0;
        *dangling += port->link != NULL;
    }
    return in == node->indegree && out == node->outdegree;
}

static int links_are_valid(ln_list *const *head)
{
    for (; *head; head = &(*head)->next)
        if (port_of(*head)->link != head || port_of(*head)->place != *head)
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
           (size_t)ln_hash_size(dfg->op_ports) == dfg->graph->size &&
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
