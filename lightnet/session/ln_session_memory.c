// SPDX-License-Identifier: Apache-2.0
// The memory plan of a session's program.

#include <string.h>

#include "lightnet/ln_memory_plan.h"
#include "lightnet/ln_session.h"
#include "session/ln_model.h"
#include "session/ln_session_program.h"

// Sets the shapes of inputs that have no value, which the model must fix.
static int set_shapes(ln_session *session)
{
    const ln_interface *const interface = session->model->interface;
    for (size_t i = 0; i < interface->n_inputs; i++) {
        const ln_port *const port = interface->inputs[i];
        ln_value *const value = &session->values[i];
        if (value->is_given || port->kind != LN_PORT_INPUT)
            continue;
        if (!ln_port_is_closed(port))
            return ln_error_set_as(&session->error, LN_BAD_ARGUMENT,
                                   "input '%s' has open sizes, which decide the memory plan; run "
                                   "the session first",
                                   port->name);
        if (ln_value_set_shape(value, port, port->info.dtype, port->info.ndim, port->dims,
                               &session->error))
            return -1;
    }
    return 0;
}

// Selects the program for the fixed shapes of the model; the session's values stay unchanged.
static int choose_program(ln_session *session)
{
    const size_t n = session->model->interface->n_inputs;
    ln_value *const before = ln_clone(session->values, (n ? n : 1) * sizeof(*before));
    if (!before)
        return ln_error_set_last(&session->error);
    const int status = -(set_shapes(session) || ln_session_choose_program(session));
    memcpy(session->values, before, n * sizeof(*before));
    ln_free(before);
    return status;
}

ln_status ln_session_memory_plan(ln_session *session, ln_memory_func func, void *data,
                                 ln_memory_total *totals)
{
    if (!session)
        return ln_error_set_as(NULL, LN_BAD_ARGUMENT, "the session is NULL"), LN_BAD_ARGUMENT;
    const unsigned long failures = ln_call_begin();
    ln_error_clear(&session->error);
    session->began = session->timeout ? tl_clock() : 0;
    if (!session->program && choose_program(session))
        return ln_call_status(&session->error, failures, LN_BAD_ARGUMENT);
    if (!ln_context_memory_plan(session->program->ctx, func, data, totals))
        return LN_OK;
    ln_session_take_error(session, session->program->ctx);
    return ln_call_status(&session->error, failures, LN_BAD_ARGUMENT);
}
