// SPDX-License-Identifier: Apache-2.0
// The programs that a model keeps while no session uses them.

#include "session/ln_kept.h"

#include "session/ln_pool.h"

static int may_use(const ln_program *program, const ln_model *model, uint64_t session)
{
    return (!program->session || program->session == session) &&
           !(program->ranges && model->stays_fixed);
}

// Takes the program at the place out of the list.
static ln_program *take_at(ln_model *model, ln_program **place)
{
    ln_program *program = *place;
    *place = program->next;
    program->next = NULL;
    model->n_kept--;
    return program;
}

ln_program *ln_kept_take(ln_model *model, const ln_value *values, uint64_t session)
{
    ln_session_lock();
    ln_program **place = &model->kept;
    while (*place && !(may_use(*place, model, session) && ln_program_fits(*place, values)))
        place = &(*place)->next;
    ln_program *program = *place ? take_at(model, place) : NULL;
    ln_session_unlock();
    return program;
}

// The last of the list, which is not empty.
static ln_program *take_oldest(ln_model *model)
{
    ln_program **place = &model->kept;
    while ((*place)->next)
        place = &(*place)->next;
    return take_at(model, place);
}

void ln_kept_give(ln_model *model, ln_program *program, uint64_t session)
{
    if (!program)
        return;
    ln_session_lock();
    program->session = program->has_state ? session : 0;
    program->next = model->kept;
    model->kept = program;
    model->n_kept++;
    ln_program *oldest = model->n_kept > model->options->programs ? take_oldest(model) : NULL;
    ln_session_unlock();
    ln_program_free(oldest);
}

// NULL: there are no more.
static ln_program *take_for(ln_model *model, uint64_t session)
{
    ln_session_lock();
    ln_program **place = &model->kept;
    while (*place && (*place)->session != session)
        place = &(*place)->next;
    ln_program *program = *place ? take_at(model, place) : NULL;
    ln_session_unlock();
    return program;
}

void ln_kept_leave(ln_model *model, uint64_t session)
{
    ln_program *program;
    while ((program = take_for(model, session)))
        ln_program_free(program);
}
