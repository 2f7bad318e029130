// SPDX-License-Identifier: Apache-2.0
// Sessions: inputs, outputs, running.

#include "lightnet/ln_session.h"

#include <string.h>

#include "ir/ln_context_ops.h"
#include "ir/ln_random.h"
#include "lightnet/ln_hash.h"
#include "session/ln_link.h"
#include "session/ln_model.h"
#include "session/ln_pool.h"
#include "session/ln_session_program.h"
#include "tensorlight/tl_string.h"
#include "tensorlight/tl_util.h"

// Errors

static ln_status fail_null(ln_session *session, const char *what)
{
    if (session)
        ln_error_clear(&session->error);
    ln_error_set_as(session ? &session->error : NULL, LN_BAD_ARGUMENT, "%s is NULL", what);
    return LN_BAD_ARGUMENT;
}

static ln_status fail_session(void)
{
    return fail_null(NULL, "the session");
}

const char *ln_session_error(const ln_session *session)
{
    return session ? ln_error_text(&session->error) : ln_last_error();
}

// Life

ln_status ln_session_create(ln_model *model, ln_session **session)
{
    if (session)
        *session = NULL;
    if (!model || !session)
        return fail_null(NULL, model ? "the pointer to the session" : "the model");
    ln_session *created = ln_alloc(sizeof(*created));
    if (!created)
        return LN_OUT_OF_MEMORY;
    created->model = ln_model_keep(model);
    ln_session_lock();
    created->number = ++model->n_sessions;
    ln_session_unlock();
    created->random = model->options->seed;
    created->is_seeded = model->options->has_seed;
    created->values = ln_alloc_array(model->interface->n_inputs, sizeof(*created->values));
    created->buffers = ln_alloc_array(model->interface->n_outputs, sizeof(*created->buffers));
    created->symbols = ln_alloc_array((size_t)model->n_symbols + 1, sizeof(*created->symbols));
    if (!created->values || !created->buffers || !created->symbols) {
        ln_session_free(created);
        return LN_OUT_OF_MEMORY;
    }
    *session = created;
    return LN_OK;
}

void ln_session_free(ln_session *session)
{
    if (!session)
        return;
    ln_session_drop_program(session);
    ln_program_cache_drop(session->model, session->number);
    ln_region_clear(&session->region);
    ln_links_free(session);
    for (size_t i = 0; session->values && i < session->model->interface->n_inputs; i++)
        ln_value_free(&session->values[i]);
    ln_free(session->values);
    ln_free(session->buffers);
    ln_free(session->symbols);
    ln_model_free(session->model);
    ln_free(session);
}

ln_status ln_session_set_timeout(ln_session *session, uint64_t ms)
{
    if (!session)
        return fail_session();
    session->timeout = ms;
    return LN_OK;
}

// Inputs

// Begins a call for an input. Returns its index, or -1.
static int find_input(ln_session *session, const char *name)
{
    ln_error_clear(&session->error);
    if (name)
        return ln_model_find_input(session->model, name, &session->error);
    return ln_error_set_as(&session->error, LN_BAD_ARGUMENT, "the name of an input is NULL");
}

// Begins a call that binds data of this shape, which `shaped` gets, to an input. Returns its index,
// or -1.
static int shape_input(ln_session *session, const char *name, tl_dtype dtype, int ndim,
                       const int *dims, const void *data, ln_value *shaped)
{
    const int i = find_input(session, name);
    if (i < 0)
        return -1;
    *shaped = session->values[i];
    if (ln_value_set_shape(shaped, session->model->interface->inputs[i], dtype, ndim, dims,
                           &session->error))
        return -1;
    if (data || !shaped->size)
        return i;
    return ln_error_set_as(&session->error, LN_BAD_ARGUMENT, "the data for input '%s' is NULL",
                           name);
}

ln_status ln_session_set_input(ln_session *session, const char *name, tl_dtype dtype, int ndim,
                               const int *dims, const void *data)
{
    if (!session)
        return fail_session();
    ln_value shaped;
    const int i = shape_input(session, name, dtype, ndim, dims, data, &shaped);
    if (i < 0)
        return session->error.status;
    const ln_port *const port = session->model->interface->inputs[i];
    if (dtype == TL_STRING) {
        if (ln_value_copy_strings(&shaped, port, data, &session->error))
            return session->error.status;
    } else if (ln_value_copy(&shaped, data)) {
        return ln_error_set_last(&session->error), LN_OUT_OF_MEMORY;
    }
    session->values[i] = shaped;
    return LN_OK;
}

// Returns new (tl_free): a block with copies of the strings; NULL with a reason.
static const tl_string **strings_of(const char *const *strings, const size_t *sizes, size_t len)
{
    if (!sizes)
        return tl_strings_from_text(strings, len);
    const tl_string **const block = tl_strings_block(sizes, len);
    for (size_t i = 0; block && i < len; i++)
        if (sizes[i])
            memcpy((char *)tl_string_bytes(block[i]), strings[i], sizes[i]);
    return block;
}

ln_status ln_session_set_strings(ln_session *session, const char *name, int ndim, const int *dims,
                                 const char *const *strings, const size_t *sizes)
{
    if (!session)
        return fail_session();
    ln_value shaped;
    if (shape_input(session, name, TL_STRING, ndim, dims, strings, &shaped) < 0)
        return session->error.status;
    const size_t len = shaped.size / sizeof(tl_string *);
    const tl_string **const block = strings_of(strings, sizes, len);
    if (!block) {
        ln_error_set_as(&session->error, LN_OUT_OF_MEMORY, "input '%s': %s", name, tl_last_error());
        return LN_OUT_OF_MEMORY;
    }
    const ln_status status =
        ln_session_set_input(session, name, TL_STRING, ndim, dims, len ? block : NULL);
    tl_free(block);
    return status;
}

// If the file does not specify the type of an output, the program checks the alignment.
static int check_place(ln_session *session, const char *what, const char *name, tl_dtype dtype,
                       const void *data, size_t needed, size_t size)
{
    const size_t element = tl_dtype_is_valid(dtype) ? tl_size_of(dtype) : 1;
    if (size < needed)
        return ln_error_set_as(&session->error, LN_BAD_ARGUMENT,
                               "%s '%s' needs %zu bytes, the buffer has %zu", what, name, needed,
                               size);
    if ((uintptr_t)data % element)
        return ln_error_set_as(&session->error, LN_BAD_ARGUMENT,
                               "the buffer for %s '%s' is not aligned to its elements of %zu "
                               "bytes",
                               what, name, element);
    return 0;
}

ln_status ln_session_bind_input(ln_session *session, const char *name, tl_dtype dtype, int ndim,
                                const int *dims, const void *data, size_t size)
{
    if (!session)
        return fail_session();
    ln_value shaped;
    const int i = data ? shape_input(session, name, dtype, ndim, dims, data, &shaped)
                       : find_input(session, name);
    if (i >= 0 && !data) {
        ln_value_clear(&session->values[i]);
        return LN_OK;
    }
    if (i < 0 || check_place(session, "input", name, dtype, data, shaped.size, size) ||
        (dtype == TL_STRING && ln_value_check_strings(&shaped, session->model->interface->inputs[i],
                                                      data, &session->error)))
        return session->error.status;
    shaped.data = data;
    session->values[i] = shaped;
    return LN_OK;
}

// Sizes with the same name must be equal in all inputs.
static int check_symbols(ln_session *session, const ln_port *port, const ln_value *value)
{
    for (int i = 0; i < port->info.ndim; i++) {
        ln_session_symbol *s = &session->symbols[port->symbols[i]];
        if (!port->symbols[i])
            continue;
        if (s->port && s->dim != value->dims[i])
            return ln_error_set_as(&session->error, LN_BAD_ARGUMENT,
                                   "input '%s' has %d for '%s', but input '%s' has %d", port->name,
                                   value->dims[i], port->dim_names[i], s->port->name, s->dim);
        *s = (ln_session_symbol){value->dims[i], port};
    }
    return 0;
}

static int check_inputs(ln_session *session)
{
    const ln_interface *interface = session->model->interface;
    char shape[LN_MAXLINE];
    memset(session->symbols, 0,
           sizeof(ln_session_symbol) * ((size_t)session->model->n_symbols + 1));
    for (size_t i = 0; i < interface->n_inputs; i++) {
        const ln_port *port = interface->inputs[i];
        const ln_value *value = &session->values[i];
        if (!value->is_given && port->kind == LN_PORT_INPUT)
            return ln_error_set_as(
                &session->error, LN_BAD_ARGUMENT, "input '%s' is not given, expected %s %s",
                port->name, ln_port_dtype_name(port), ln_port_sprint(port, shape, sizeof(shape)));
        if (value->is_given && check_symbols(session, port, value))
            return -1;
    }
    return 0;
}

// Outputs

ln_status ln_session_bind_output(ln_session *session, const char *name, void *data, size_t size)
{
    if (!session)
        return fail_session();
    if (!name)
        return fail_null(session, "the name of an output");
    ln_error_clear(&session->error);
    const int i = ln_model_find_output(session->model, name, &session->error);
    if (i < 0)
        return session->error.status;
    const ln_link *const link = ln_links_of_output(session, (size_t)i);
    if (link)
        return ln_error_set_as(&session->error, LN_BAD_ARGUMENT,
                               "output '%s' is linked to input '%s', expected one without a link",
                               name, session->model->interface->inputs[link->input]->name),
               LN_BAD_ARGUMENT;
    const tl_dtype dtype = session->model->interface->outputs[i]->info.dtype;
    if (data && check_place(session, "output", name, dtype, data, 0, size))
        return session->error.status;
    if (session->buffers[i].data)
        session->has_outputs = 0; // the last output may be in the old buffer
    session->buffers[i] = (ln_buffer){data, size, 0, 0};
    return LN_OK;
}

ln_status ln_session_offer_output(ln_session *session, const char *name, void *data, size_t size)
{
    const ln_status status = ln_session_bind_output(session, name, data, size);
    if (status == LN_OK && data)
        session->buffers[ln_model_output_index(session->model, name)].is_offer = 1;
    return status;
}

size_t ln_session_output_capacity(const ln_session *session, const char *name)
{
    const int i = session && name ? ln_model_output_index(session->model, name) : -1;
    const ln_program *const program = session ? session->program : NULL;
    return i < 0 || !program || ln_links_of_output(session, (size_t)i)
               ? 0
               : program->loans[program->n_inputs + (size_t)i].size;
}

static int copy_out(ln_session *session, size_t i, const ln_buffer *p)
{
    const tl_tensor *tensor = ln_links_output(session, i);
    const size_t size = tensor ? tl_tensor_size(tensor) : 0;
    if (!tensor)
        return -1;
    if (size > p->size)
        return check_place(session, "output", session->model->interface->outputs[i]->name,
                           tensor->dtype, p->data, size, p->size);
    if (size && p->data != tensor->data)
        memmove(p->data, tensor->data, size);
    return 0;
}

static int deliver(ln_session *session)
{
    for (size_t i = 0; i < session->program->n_outputs; i++)
        if (session->buffers[i].data && !session->buffers[i].is_offer &&
            !ln_links_of_output(session, i) && copy_out(session, i, &session->buffers[i]))
            return -1;
    if (ln_links_commit(session))
        return -1;
    session->has_outputs = 1;
    return 0;
}

// The index of an output of the last run, or -1.
static int find_output(ln_session *session, const char *name)
{
    ln_error_clear(&session->error);
    if (!name)
        return ln_error_set_as(&session->error, LN_BAD_ARGUMENT, "the name of an output is NULL");
    const int i = ln_model_find_output(session->model, name, &session->error);
    if (i >= 0 && !session->has_outputs)
        return ln_error_set_as(
            &session->error, LN_BAD_ARGUMENT,
            "output '%s' is not available: the last run failed, or there was none", name);
    return i;
}

const tl_tensor *ln_session_output(ln_session *session, const char *name)
{
    if (!session)
        return fail_session(), NULL;
    const int i = find_output(session, name);
    return i < 0 ? NULL : ln_links_output(session, (size_t)i);
}

ln_status ln_session_copy_output(ln_session *session, const char *name, void *data, size_t size)
{
    if (!session)
        return fail_session();
    const int i = find_output(session, name);
    if (i < 0)
        return session->error.status;
    const ln_buffer p = {data, size, 0, 0};
    if (!data && tl_tensor_size(session->program->outputs[i])) {
        ln_error_set_as(&session->error, LN_BAD_ARGUMENT, "the buffer for output '%s' is NULL",
                        name);
        return LN_BAD_ARGUMENT;
    }
    return copy_out(session, (size_t)i, &p) ? session->error.status : LN_OK;
}

// Running

// The caller's function for the times of a run.
typedef struct time_callback {
    ln_time_func func;
    void *data;
} time_callback;

static int run_timed(const ln_context *ctx, const time_callback *callback)
{
    uint64_t *ns = ln_alloc_array((size_t)ln_list_length(ctx->ops), sizeof(*ns));
    if (!ns)
        return ln_fail_last(ctx);
    const int status = ln_context_run_timed(ctx, ns);
    const uint64_t *at = ns;
    LN_FOREACH (const ln_op *, op, status ? NULL : ctx->ops) {
        if (op->run && !op->op_arg->at_load)
            callback->func(callback->data, op->op_arg->name, op->op_arg->optype, *at);
        at++;
    }
    ln_free(ns);
    return status;
}

// Without the option, each session has its own random numbers; a session without random
// operators does not ask the system for a seed.
static void seed(ln_session *session)
{
    if (session->is_seeded || !session->program->draws)
        return;
    session->random = ln_random_seed();
    session->is_seeded = 1;
}

// Random numbers continue from the session's last run, even with another program.
static int compute(ln_session *session, const time_callback *callback)
{
    ln_context *ctx = session->program->ctx;
    seed(session);
    ctx->random = session->random;
    if (ln_links_prepare(session))
        return -1;
    if (ln_program_fill(session->program, session->values, session->buffers))
        return ln_session_take_error(session, ctx);
    if (ln_links_check(session))
        return -1;
    if (callback ? run_timed(ctx, callback) : ln_context_run(ctx))
        return ln_session_take_error(session, ctx);
    session->random = ctx->random;
    return 0;
}

// A program for open sizes may fail where one for the current sizes does not.
static int compute_fixed(ln_session *session, const time_callback *callback, unsigned long failures)
{
    const ln_error failure = session->error;
    const ln_status status = ln_call_status(&failure, failures, LN_OK);
    ln_program *open;
    if (!session->program->ranges || status == LN_CANCELLED || status == LN_LIMIT_REACHED ||
        status == LN_OUT_OF_MEMORY || ln_session_is_rejected(session))
        return -1;
    if (ln_session_make_fixed(session, &open) || compute(session, callback)) {
        ln_session_take_back(session, open, &failure, failures);
        return -1;
    }
    ln_session_keep_fixed(session, open);
    return 0;
}

static ln_status run(ln_session *session, const time_callback *callback)
{
    for (size_t i = 0; i < session->model->interface->n_inputs; i++)
        ln_value_begin_run(&session->values[i]);
    const unsigned long failures = ln_call_begin();
    session->began = session->timeout ? tl_clock() : 0;
    session->has_outputs = 0;
    ln_error_clear(&session->error);
    if (!ln_links_begin(session) && !check_inputs(session) && !ln_session_choose_program(session) &&
        (!compute(session, callback) || !compute_fixed(session, callback, failures)) &&
        !deliver(session))
        return LN_OK;
    ln_links_restore(session);
    return ln_call_status(&session->error, failures, LN_BAD_ARGUMENT);
}

ln_status ln_session_run(ln_session *session)
{
    return session ? run(session, NULL) : fail_session();
}

ln_status ln_session_run_timed(ln_session *session, ln_time_func func, void *data)
{
    if (!session)
        return fail_session();
    if (!func)
        return fail_null(session, "the function for times");
    return run(session, &(time_callback){func, data});
}

ln_status ln_session_nodes(ln_session *session, ln_node_func func, void *data)
{
    if (!session)
        return fail_session();
    if (!func)
        return fail_null(session, "the function for nodes");
    if (!session->program) {
        ln_error_set_as(&session->error, LN_BAD_ARGUMENT, "the session has not run");
        return LN_BAD_ARGUMENT;
    }
    LN_FOREACH (const ln_op *, op, session->program->ctx->ops)
        for (int i = 0; i < ln_op_num_nodes(op->op_arg); i++) {
            const ln_model_node *const node = ln_op_node(op->op_arg, i);
            func(data, op->op_arg->name, node->name, node->type);
        }
    return LN_OK;
}
