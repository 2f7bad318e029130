// SPDX-License-Identifier: Apache-2.0
// States of a session: outputs of a run that are inputs of the next one.

#include "session/ln_link.h"

#include <stdint.h>
#include <string.h>

#include "ir/ln_rows.h"
#include "lightnet/ln_mem.h"
#include "session/ln_model.h"
#include "tensorlight/tl_util.h"

// Memory

static void free_block(ln_state_block *block)
{
    ln_mem_type_info(LN_MEM_CPU).free_func(block->data);
    *block = (ln_state_block){0};
}

// Provides at least `size` bytes, with undefined content. -1: no memory, the block is as before.
static int fit_block(ln_state_block *block, size_t size)
{
    if (block->data && block->size >= size)
        return 0;
    void *const data = ln_mem_type_info(LN_MEM_CPU).alloc_func(size ? size : 1);
    if (!data)
        return -1;
    free_block(block);
    *block = (ln_state_block){data, size};
    return 0;
}

static void leave_program(ln_link *link)
{
    ln_state_rows_set(&link->in_place, 0);
    link->in_place = (ln_state_rows){0};
    link->program = NULL;
}

static void free_link(ln_link *link)
{
    leave_program(link);
    free_block(&link->now);
    free_block(&link->next);
    tl_tensor_free_data_too(link->view);
}

void ln_links_leave_program(ln_session *session)
{
    for (size_t i = 0; i < session->n_links; i++)
        leave_program(&session->links[i]);
}

void ln_links_free(ln_session *session)
{
    for (size_t i = 0; i < session->n_links; i++)
        free_link(&session->links[i]);
    ln_free(session->links);
    session->links = NULL;
    session->n_links = 0;
}

// Links

ln_link *ln_links_of_output(const ln_session *session, size_t output)
{
    for (size_t i = 0; i < session->n_links; i++)
        if (session->links[i].output == output)
            return &session->links[i];
    return NULL;
}

static ln_link *link_of_input(const ln_session *session, size_t input)
{
    for (size_t i = 0; i < session->n_links; i++)
        if (session->links[i].input == input)
            return &session->links[i];
    return NULL;
}

// Removes the link; the input has no value then.
static void remove_link(ln_session *session, ln_link *link)
{
    ln_value_clear(&session->values[link->input]);
    session->buffers[link->output] = (ln_buffer){0};
    session->has_outputs = 0; // the last output may be in the freed memory
    free_link(link);
    *link = session->links[--session->n_links];
}

// Whether an output may have the type and the shapes of an input.
static int are_alike(const ln_port *output, const ln_port *input)
{
    const tl_tensor *const a = &output->info, *const b = &input->info;
    const int has_shapes = a->dims && b->dims;
    int fits = (!tl_dtype_is_valid(a->dtype) || a->dtype == b->dtype) &&
               (!has_shapes || a->ndim == b->ndim);
    for (int i = 0; fits && has_shapes && i < a->ndim; i++)
        fits = a->dims[i] < 0 || b->dims[i] < 0 || a->dims[i] == b->dims[i];
    return fits && b->dtype != TL_STRING;
}

static int add_link(ln_session *session, size_t output, size_t input)
{
    ln_link *const grown =
        ln_realloc(session->links, (session->n_links + 1) * sizeof(*session->links));
    if (!grown)
        return ln_error_set_last(&session->error);
    session->links = grown;
    grown[session->n_links++] = (ln_link){.output = output, .input = input};
    session->buffers[output] = (ln_buffer){0};
    return 0;
}

static int link(ln_session *session, size_t output, size_t input)
{
    const ln_port *const from = session->model->interface->outputs[output];
    const ln_port *const to = session->model->interface->inputs[input];
    char shape[LN_MAXLINE], wanted[LN_MAXLINE];
    if (!are_alike(from, to))
        return ln_error_set_as(
            &session->error, LN_BAD_ARGUMENT, "output '%s' is %s %s, expected %s %s, as input '%s'",
            from->name, ln_port_dtype_name(from), ln_port_sprint(from, shape, sizeof(shape)),
            ln_port_dtype_name(to), ln_port_sprint(to, wanted, sizeof(wanted)), to->name);
    if (ln_links_of_output(session, output))
        remove_link(session, ln_links_of_output(session, output));
    if (link_of_input(session, input))
        remove_link(session, link_of_input(session, input));
    session->has_outputs = 0;
    return add_link(session, output, input);
}

static ln_status fail_argument(ln_session *session, const char *what)
{
    if (session)
        ln_error_clear(&session->error);
    ln_error_set_as(session ? &session->error : NULL, LN_BAD_ARGUMENT, "%s is NULL", what);
    return LN_BAD_ARGUMENT;
}

ln_status ln_session_link(ln_session *session, const char *output, const char *input)
{
    if (!session)
        return fail_argument(NULL, "the session");
    ln_error_clear(&session->error);
    if (!input)
        return fail_argument(session, "the name of an input");
    const int to = ln_model_find_input(session->model, input, &session->error);
    if (to < 0)
        return session->error.status;
    if (!output) {
        if (link_of_input(session, (size_t)to))
            remove_link(session, link_of_input(session, (size_t)to));
        return LN_OK;
    }
    const int from = ln_model_find_output(session->model, output, &session->error);
    return from < 0 || link(session, (size_t)from, (size_t)to) ? session->error.status : LN_OK;
}

// Names of states, as exporters write them

// `word` of an output's name is `becomes` in the input's; at its end only, or anywhere.
typedef struct naming {
    const char *word, *becomes;
    int at_end;
} naming;

// From onnxruntime-genai, optimum and torch.onnx (present.0.key), and recurrent models (hn, stateN,
// h_out).
static const naming namings[] = {
    {"present", "past_key_values", 0},
    {"present", "past", 0},
    {"_out", "_in", 1},
    {"_out", "", 1},
    {"N", "", 1},
    {"n", "", 1},
    {"_new", "", 1},
};

// Writes the name of the input that belongs to output `name`. Returns whether it can be one.
static int input_name(const naming *rule, const char *name, char *text, size_t size)
{
    const size_t len = strlen(name), word = strlen(rule->word);
    const char *const at = !rule->at_end ? strstr(name, rule->word)
                           : len > word  ? strstr(name + len - word, rule->word)
                                         : NULL;
    const int n =
        at ? snprintf(text, size, "%.*s%s%s", (int)(at - name), name, rule->becomes, at + word)
           : -1;
    return n > 0 && (size_t)n < size;
}

// The number of the input that an output is linked to by its name; -1: none.
static int find_partner(const ln_session *session, const ln_port *output)
{
    char text[LN_MAXLINE];
    for (size_t i = 0; i < sizeof(namings) / sizeof(namings[0]); i++) {
        const int input = input_name(&namings[i], output->name, text, sizeof(text))
                              ? ln_model_input_index(session->model, text)
                              : -1;
        if (input >= 0 && are_alike(output, session->model->interface->inputs[input]))
            return input;
    }
    return -1;
}

int ln_session_link_states(ln_session *session)
{
    if (!session)
        return fail_argument(NULL, "the session"), -1;
    ln_error_clear(&session->error);
    for (size_t i = 0; i < session->model->interface->n_outputs; i++) {
        const int input = find_partner(session, session->model->interface->outputs[i]);
        const int is_free =
            input >= 0 && !ln_links_of_output(session, i) && !link_of_input(session, (size_t)input);
        if (is_free && link(session, i, (size_t)input))
            return -1;
    }
    return (int)session->n_links;
}

const char *ln_session_linked_input(const ln_session *session, const char *name)
{
    const int output = session && name ? ln_model_output_index(session->model, name) : -1;
    const ln_link *const found = output < 0 ? NULL : ln_links_of_output(session, (size_t)output);
    return found ? session->model->interface->inputs[found->input]->name : NULL;
}

// States

// Whether the input has a value that is not the zeros of a first run that failed.
static int has_value(const ln_session *session, const ln_link *link)
{
    const ln_value *const value = &session->values[link->input];
    return value->is_given && !(link->is_initial && value->data == link->now.data);
}

void ln_session_reset_states(ln_session *session)
{
    for (size_t i = 0; session && i < session->n_links; i++)
        ln_value_clear(&session->values[session->links[i].input]);
}

// The state becomes the value of the input: `shape` is that of the data in `now`.
static void set_value(ln_session *session, const ln_link *link, const ln_value *shape)
{
    ln_value *const value = &session->values[link->input];
    value->is_given = 1;
    value->ndim = shape->ndim;
    memcpy(value->dims, shape->dims, sizeof(value->dims));
    value->size = shape->size;
    value->data = link->now.data;
}

// The rows of the memory of the input's value, which may be the caller's.
static int rows_of(const ln_session *session, const ln_link *link)
{
    return session->values[link->input].data == link->now.data ? link->rows : 0;
}

// Copies the state of `from` in another session.
static int copy_value(ln_session *session, ln_link *to, const ln_session *other,
                      const ln_link *from)
{
    const ln_value *const value = &other->values[from->input];
    if (fit_block(&to->now, value->size))
        return ln_error_set_last(&session->error);
    ln_rows_copy(to->now.data, 0, value->data, rows_of(other, from), value->dims, from->axis,
                 value->size);
    to->rows = 0;
    set_value(session, to, value);
    to->is_initial = 0;
    return 0;
}

ln_status ln_session_copy_states(ln_session *session, const ln_session *from)
{
    if (!session || !from)
        return fail_argument(session, session ? "the session to copy from" : "the session");
    ln_error_clear(&session->error);
    if (session == from)
        return LN_OK;
    if (session->model != from->model)
        return ln_error_set_as(&session->error, LN_BAD_ARGUMENT,
                               "the sessions are of different models"),
               LN_BAD_ARGUMENT;
    session->has_outputs = 0; // those that are states lose their memory
    for (size_t i = 0; i < from->n_links; i++) {
        const ln_link *const other = &from->links[i];
        ln_link *own = link_of_input(session, other->input);
        int failed = 0;
        if (!own || own->output != other->output) {
            failed = link(session, other->output, other->input);
            own = link_of_input(session, other->input);
        }
        if (!failed && !has_value(from, other))
            ln_value_clear(&session->values[own->input]);
        else if (failed || copy_value(session, own, from, other))
            return ln_session_reset_states(session), ln_error_status(&session->error);
    }
    return LN_OK;
}

// The length of a named size in the inputs that have a value; -1: none.
static int given_size(const ln_session *session, int symbol)
{
    const ln_interface *const interface = session->model->interface;
    for (size_t i = 0; symbol && i < interface->n_inputs; i++)
        for (int k = 0; k < session->values[i].ndim; k++)
            if (session->values[i].is_given && interface->inputs[i]->symbols[k] == symbol)
                return session->values[i].dims[k];
    return -1;
}

// The initial length of an axis: that of another input with a size of its name, or 0 for a name of
// states only, as the length of a cache; -1: unknown.
static int first_len(const ln_session *session, const ln_link *link, int axis)
{
    const ln_port *const input = session->model->interface->inputs[link->input];
    const int given = given_size(session, input->symbols[axis]);
    if (input->dims[axis] >= 0)
        return input->dims[axis];
    return given < 0 && input->symbols[axis] ? 0 : given;
}

// Sets the input to zeros, of its initial shape.
static int begin(ln_session *session, ln_link *link)
{
    const ln_port *const input = session->model->interface->inputs[link->input];
    int dims[LN_MAXDIM];
    ln_value first = {0};
    char shape[LN_MAXLINE];
    for (int i = 0; i < input->info.ndim; i++)
        if ((dims[i] = first_len(session, link, i)) < 0)
            return ln_error_set_as(&session->error, LN_BAD_ARGUMENT,
                                   "input '%s' has no initial state, expected a value %s %s",
                                   input->name, ln_port_dtype_name(input),
                                   ln_port_sprint(input, shape, sizeof(shape)));
    if (ln_value_set_shape(&first, input, input->info.dtype, input->info.ndim, dims,
                           &session->error))
        return -1;
    if (fit_block(&link->now, first.size))
        return ln_error_set_last(&session->error);
    memset(link->now.data, 0, first.size);
    link->rows = 0;
    set_value(session, link, &first);
    link->is_initial = 1;
    return 0;
}

int ln_links_begin(ln_session *session)
{
    for (size_t i = 0; i < session->n_links; i++) {
        ln_link *const link = &session->links[i];
        tl_tensor_free_data_too(link->view);
        link->view = NULL;
        if (!has_value(session, link))
            ln_value_clear(&session->values[link->input]);
    }
    for (size_t i = 0; i < session->n_links; i++) {
        ln_link *const link = &session->links[i];
        const ln_port *const input = session->model->interface->inputs[link->input];
        if (!session->values[link->input].is_given && input->kind == LN_PORT_INPUT &&
            begin(session, link))
            return -1;
    }
    return 0;
}

// Runs

// Moves the state to `next`, with `rows` rows of memory, of `size` bytes, and exchanges the blocks.
static int move_value(ln_session *session, ln_link *link, int rows, size_t size)
{
    const ln_value *const value = &session->values[link->input];
    if (size == SIZE_MAX || fit_block(&link->next, size))
        return ln_error_set_last(&session->error);
    const int axis = rows ? link->in_place.axis : link->axis;
    if (value->data != link->now.data)
        link->lent = value->data;
    ln_rows_copy(link->next.data, rows, value->data, rows_of(session, link), value->dims, axis,
                 value->size);
    const ln_state_block before = link->now;
    link->now = link->next;
    link->next = before;
    link->axis = axis;
    link->rows = rows;
    session->values[link->input].data = link->now.data;
    return 0;
}

// Provides the memory in which the state grows.
static int prepare_rows(ln_session *session, ln_link *link)
{
    const ln_value *const value = &session->values[link->input];
    const ln_state_rows *const state = &link->in_place;
    // The loan is for the largest shape, also of other open axes.
    const size_t needed =
        ln_state_rows_size(value, state->past->tensor->dtype, state->axis, state->rows);
    const size_t lent = session->program->loans[session->program->n_inputs + link->output].size;
    const size_t size = needed > lent ? needed : lent;
    if (value->dims[state->axis] > state->rows)
        return ln_error_set_as(&session->error, LN_BAD_ARGUMENT,
                               "input '%s' has %d rows, expected at most %d",
                               session->model->interface->inputs[link->input]->name,
                               value->dims[state->axis], state->rows);
    const int is_there = value->data == link->now.data && link->rows == state->rows &&
                         link->axis == state->axis && link->now.size >= size;
    if (!is_there && move_value(session, link, state->rows, size))
        return -1;
    free_block(&link->next);
    session->buffers[link->output] =
        (ln_buffer){link->now.data, link->now.size, (int)link->input + 1, 0};
    return 0;
}

static int prepare(ln_session *session, ln_link *link)
{
    const ln_program *const program = session->program;
    const ln_loan *const loan = &program->loans[program->n_inputs + link->output];
    const ln_value *const value = &session->values[link->input];
    if (link->program != program) {
        if (ln_state_rows_find(program, link->input, link->output, &link->in_place))
            return ln_error_set_as(&session->error, LN_OUT_OF_MEMORY, "%s",
                                   ln_context_error(program->ctx));
        ln_state_rows_set(&link->in_place, 1);
        link->program = program;
    }
    if (link->in_place.rows && value->is_given)
        return prepare_rows(session, link);
    if (value->is_given && rows_of(session, link) && move_value(session, link, 0, value->size))
        return -1;
    if (loan->root && fit_block(&link->next, loan->size))
        return ln_error_set_last(&session->error);
    session->buffers[link->output] = (ln_buffer){link->next.data, link->next.size, 0, 0};
    return 0;
}

int ln_links_check(ln_session *session)
{
    for (size_t i = 0; i < session->n_links; i++) {
        const ln_link *const link = &session->links[i];
        const ln_state_rows *const state = &link->in_place;
        const int has_past = session->values[link->input].size != 0;
        if (state->rows && (state->present->tensor->data != link->now.data ||
                            (has_past && state->past->tensor->data != link->now.data)))
            return ln_error_set_as(&session->error, LN_INTERNAL_ERROR,
                                   "the state '%s' does not grow in its memory",
                                   session->model->interface->inputs[link->input]->name);
    }
    return 0;
}

void ln_links_restore(ln_session *session)
{
    for (size_t i = 0; i < session->n_links; i++) {
        ln_link *const link = &session->links[i];
        if (link->lent)
            session->values[link->input].data = link->lent;
        link->lent = NULL;
    }
}

int ln_links_prepare(ln_session *session)
{
    for (size_t i = 0; i < session->n_links; i++)
        if (prepare(session, &session->links[i]))
            return -1;
    return 0;
}

// Copies the next state if it is not in its block, and determines its shape.
static int keep(ln_session *session, ln_link *link)
{
    const ln_interface *const interface = session->model->interface;
    const tl_tensor *const t = session->program->outputs[link->output];
    ln_value *const shape = &link->shape;
    *shape = (ln_value){0};
    if (ln_value_set_shape(shape, interface->inputs[link->input], t->dtype, t->ndim, t->dims,
                           &session->error))
        return -1;
    if (link->in_place.rows || t->data == link->next.data || !shape->size)
        return 0;
    if (fit_block(&link->next, shape->size))
        return ln_error_set_last(&session->error);
    memcpy(link->next.data, t->data, shape->size);
    return 0;
}

int ln_links_commit(ln_session *session)
{
    for (size_t i = 0; i < session->n_links; i++)
        if (keep(session, &session->links[i]))
            return -1;
    for (size_t i = 0; i < session->n_links; i++) {
        ln_link *const link = &session->links[i];
        if (!link->in_place.rows) {
            const ln_state_block before = link->now;
            link->now = link->next;
            link->next = before;
            link->rows = 0;
        }
        set_value(session, link, &link->shape);
        link->is_initial = 0;
        link->lent = NULL;
    }
    return 0;
}

const tl_tensor *ln_links_output(ln_session *session, size_t output)
{
    const tl_tensor *const t = session->program->outputs[output];
    ln_link *const link = ln_links_of_output(session, output);
    if (!link || !link->in_place.rows)
        return t;
    if (link->view)
        return link->view;
    link->view = tl_tensor_zeros(t->ndim, t->dims, t->dtype);
    if (!link->view)
        return ln_error_set_as(&session->error, LN_OUT_OF_MEMORY, "%s", tl_last_error()), NULL;
    ln_rows_copy(link->view->data, 0, t->data, link->rows, link->shape.dims, link->axis,
                 link->shape.size);
    return link->view;
}
