// SPDX-License-Identifier: Apache-2.0
// The program that a session runs: choosing, making, cancelling.

#include "session/ln_session_program.h"

#include <stdint.h>

#include "ir/ln_context_ops.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_mem.h"
#include "session/ln_link.h"
#include "session/ln_model.h"
#include "session/ln_pool.h"

// Every CHECK_INTERVAL uses: if at most 1 / SHRINK_RATIO of the touched memory was needed, returns
// the rest to the system, unless MIN_TOUCHED bytes or less are touched.
enum { CHECK_INTERVAL = 32, SHRINK_RATIO = 4, MIN_TOUCHED = 1 << 20 };

// A region that grows reserves GROWTH times its size: untouched pages cost nothing, and another
// region would need new pages.
enum { GROWTH = 16 };

void ln_region_clear(ln_region *region)
{
    ln_mem_type_info(LN_MEM_CPU).free_func(region->memory);
    *region = (ln_region){0};
}

static int replace(ln_region *region, size_t size)
{
    ln_region_clear(region);
    region->memory = ln_mem_type_info(LN_MEM_CPU).alloc_func(size);
    if (!region->memory)
        return -1;
    region->size = size;
    return 0;
}

static int grow(ln_region *region, size_t size)
{
    const size_t room = region->size <= SIZE_MAX / GROWTH ? region->size * GROWTH : SIZE_MAX;
    return room > size && !replace(region, room) ? 0 : replace(region, size);
}

static void discard_above_peak(ln_region *region)
{
    if (region->touched <= MIN_TOUCHED || region->peak > region->touched / SHRINK_RATIO)
        return;
    ln_mem_discard((char *)region->memory + region->peak, region->touched - region->peak);
    region->touched = region->peak;
}

int ln_region_fit(ln_region *region, size_t size)
{
    if ((!region->memory || size > region->size) && grow(region, size))
        return -1;
    region->touched = size > region->touched ? size : region->touched;
    region->peak = size > region->peak ? size : region->peak;
    if (++region->uses < CHECK_INTERVAL)
        return 0;
    discard_above_peak(region);
    region->peak = size;
    region->uses = 0;
    return 0;
}

int ln_session_take_error(ln_session *session, const ln_context *ctx)
{
    ln_error_clear(&session->error);
    return ln_error_set_as(&session->error, ln_error_status(ctx->error), "%s",
                           ln_context_error(ctx));
}

// Cancelling

// From now on ln_session_cancel reaches the context.
static void attach(ln_session *session, ln_context *ctx)
{
    ln_session_lock();
    session->running = ctx;
    if (session->is_cancelled)
        ln_context_cancel(ctx);
    ln_session_unlock();
}

static void detach(ln_session *session)
{
    ln_session_lock();
    ln_context *ctx = session->running;
    session->running = NULL;
    ln_session_unlock();
    if (!ctx)
        return;
    ln_context_resume(ctx);
    ln_context_set_limit(ctx, LN_LIMIT_TIME, 0);
}

void ln_session_cancel(ln_session *session)
{
    if (!session)
        return;
    ln_session_lock();
    session->is_cancelled = 1;
    if (session->running)
        ln_context_cancel(session->running);
    ln_session_unlock();
}

void ln_session_resume(ln_session *session)
{
    if (!session)
        return;
    ln_session_lock();
    session->is_cancelled = 0;
    if (session->running)
        ln_context_resume(session->running);
    ln_session_unlock();
}

// The timeout of a run includes the programs that it creates and tries.
static void limit_time(const ln_session *session, const ln_context *ctx)
{
    ln_limits_set_time(ctx, session->timeout, session->began);
}

// Programs

void ln_session_drop_program(ln_session *session)
{
    session->has_outputs = 0;
    ln_links_leave_program(session);
    detach(session);
    ln_program_cache_put(session->model, session->program, session->number);
    session->program = NULL;
}

// The ranges for a program with open sizes: new (ln_free); NULL: shapes are to be fixed, or there
// is no memory.
static ln_range *choose_ranges(ln_session *session)
{
    ln_model *model = session->model;
    const ln_interface *interface = model->interface;
    ln_range *ranges = NULL;
    ln_session_lock();
    ln_changes_note(model->changes, session->values, interface->n_inputs,
                    session->has_chosen ? 2 : 1);
    session->has_chosen = 1;
    if (model->has_declared_interface && !model->front->is_compiled && model->kernels_known &&
        !model->uses_fixed_shapes && !model->shapes_depend_on_values)
        ranges = ln_alloc_array(interface->n_inputs + 1, sizeof(*ranges));
    const uint64_t sizes = ln_rejection_of_sizes(session->values, interface->n_inputs);
    if (ranges && (ln_rejections_have(&model->rejections, sizes) ||
                   !ln_ranges_choose(ranges, model->changes, interface->inputs, session->values,
                                     interface->n_inputs, model->max_capacity))) {
        ln_free(ranges);
        ranges = NULL;
    }
    ln_session_unlock();
    return ranges;
}

static void use_fixed_shapes(ln_model *model)
{
    ln_session_lock();
    model->uses_fixed_shapes = 1;
    ln_session_unlock();
}

static int uses_fixed_shapes(ln_model *model)
{
    ln_session_lock();
    const int is_fixed = model->uses_fixed_shapes;
    ln_session_unlock();
    return is_fixed;
}

// Compiles a program for the session's fixed sizes into session->compared, in which its kernels can
// be seen. -1: it cannot be made.
static int compile_fixed(ln_session *session)
{
    ln_context *const open = session->running;
    ln_error reason = {0};
    ln_program *const fixed = ln_program_create(session->model, &reason);
    if (!fixed)
        return -1;
    attach(session, fixed->ctx);
    limit_time(session, fixed->ctx);
    session->compared = fixed;
    const int status = ln_program_compile_fixed(fixed, session->model, session->values);
    attach(session, open);
    return status;
}

static int suffices(ln_session *session, const ln_kernels *open)
{
    ln_session_lock();
    const int result = ln_kernels_suffice(open, &session->model->kernels);
    ln_session_unlock();
    return result;
}

static void free_compared(ln_session *session)
{
    ln_program_free(session->compared);
    session->compared = NULL;
}

// Whether an open program has the kernels of a fixed one: of the last one, which was for other
// sizes, or of one for these sizes, unless that fails. -1 with a reason in `ctx`: it was cancelled,
// or reached a limit.
static int has_good_kernels(ln_session *session, const ln_context *ctx)
{
    const unsigned long failures = ln_call_begin();
    const ln_kernels open = ln_kernels_of(ctx);
    if (suffices(session, &open))
        return 1;
    if (!compile_fixed(session)) {
        const ln_kernels fixed = ln_kernels_of(session->compared->ctx);
        const int is_good = ln_kernels_suffice(&open, &fixed);
        if (is_good)
            free_compared(session);
        return is_good;
    }
    const ln_error *const reason = session->compared ? session->compared->ctx->error : NULL;
    const ln_status status = ln_call_status(reason ? reason : &session->error, failures, LN_OK);
    const int is_ended =
        status == LN_CANCELLED || status == LN_LIMIT_REACHED || status == LN_OUT_OF_MEMORY;
    if (is_ended)
        ln_fail_as(ctx, status, "%s", reason ? ln_error_text(reason) : LN_MEMORY_REASON);
    free_compared(session);
    return is_ended ? -1 : 1;
}

// -1 with the reason in the context: a smaller capacity may do, unless the model is to stay fixed.
static int make_for_ranges(ln_session *session, ln_program *program, ln_range *ranges)
{
    if (ln_program_compile_open(program, session->model, session->values, ranges))
        return -1;
    const int is_good = has_good_kernels(session, program->ctx);
    if (is_good > 0)
        return ln_program_finish(program, session->model, session->values);
    if (is_good < 0)
        return -1;
    use_fixed_shapes(session->model);
    ln_debug(program->ctx, "open sizes would use slower kernels: each shape has its own program");
    return ln_fail(program->ctx, "a program for open sizes would use slower kernels");
}

// NULL with the session's error.
static ln_program *try_open(ln_session *session, const ln_range *ranges, size_t n)
{
    ln_range *copy = ln_clone(ranges, n * sizeof(*ranges));
    ln_program *program = copy ? ln_program_create(session->model, &session->error) : NULL;
    if (!program) {
        ln_free(copy);
        return NULL;
    }
    attach(session, program->ctx);
    limit_time(session, program->ctx);
    if (!make_for_ranges(session, program, copy))
        return program;
    ln_session_take_error(session, program->ctx);
    detach(session);
    ln_program_free(program);
    return NULL;
}

// Whether a retry would fail again: no cancellation, limit or failed allocation since `failures`.
static int is_about_model(const ln_session *session, unsigned long failures)
{
    const ln_status status = ln_call_status(&session->error, failures, LN_OK);
    return status != LN_CANCELLED && status != LN_LIMIT_REACHED && status != LN_OUT_OF_MEMORY;
}

// Tries programs for open sizes, halving the capacities while the model rejects them; returns
// whether one succeeded. *was_rejected: the model rejects open sizes, or the values of its inputs.
static int make_open(ln_session *session, ln_range *ranges, int *was_rejected)
{
    ln_model *model = session->model;
    const size_t n = model->interface->n_inputs;
    const unsigned long failures = ln_call_begin();
    int max = 0;
    session->program = try_open(session, ranges, n);
    while (!session->program && !uses_fixed_shapes(model) && is_about_model(session, failures) &&
           (max = ln_ranges_halve(ranges, session->values, n)) > 0)
        session->program = try_open(session, ranges, n);
    ln_session_lock();
    if (session->program && max)
        model->max_capacity = max;
    ln_session_unlock();
    *was_rejected = !session->program && is_about_model(session, failures);
    ln_error_clear(&session->error);
    return session->program != NULL;
}

// The program for fixed sizes that was compared with an open one, or a new one.
static int finish_or_make(ln_session *session, ln_program *program)
{
    if (program != session->compared)
        return ln_program_make(program, session->model, session->values);
    session->compared = NULL;
    return ln_program_finish(program, session->model, session->values);
}

static int make_program(ln_session *session)
{
    ln_program *program =
        session->compared ? session->compared : ln_program_create(session->model, &session->error);
    if (!program)
        return -1;
    attach(session, program->ctx);
    limit_time(session, program->ctx);
    if (!finish_or_make(session, program)) {
        const ln_kernels kernels = ln_kernels_of(program->ctx);
        ln_session_lock();
        session->model->kernels = kernels;
        session->model->kernels_known = 1;
        ln_session_unlock();
        session->program = program;
        return 0;
    }
    ln_session_take_error(session, program->ctx);
    detach(session);
    ln_program_free(program);
    return -1;
}

// Notes that the session's sizes fail in every program.
static void note_rejection(const ln_session *session, uint64_t key)
{
    ln_session_lock();
    ln_rejections_note(&session->model->rejections, key);
    ln_session_unlock();
}

static uint64_t key_of_sizes(const ln_session *session)
{
    return ln_rejection_of_sizes(session->values, session->model->interface->n_inputs);
}

// Tries an open program, then a fixed one. The model uses fixed shapes if only that succeeds.
static int make_any(ln_session *session)
{
    const unsigned long failures = ln_call_begin();
    int was_rejected = 0;
    ln_range *ranges = choose_ranges(session);
    const int is_made = ranges && make_open(session, ranges, &was_rejected);
    ln_free(ranges);
    if (is_made) {
        free_compared(session);
        return 0;
    }
    if (!make_program(session)) {
        if (was_rejected)
            use_fixed_shapes(session->model);
        return 0;
    }
    if (was_rejected && is_about_model(session, failures))
        note_rejection(session, key_of_sizes(session));
    return -1;
}

// Moves the program to the session's region. -1: no memory, the session drops the program.
static int lend(ln_session *session)
{
    const size_t size = ln_program_run_size(session->program);
    if (!size)
        return 0;
    if (ln_region_fit(&session->region, size)) {
        ln_session_drop_program(session);
        return ln_error_set_last(&session->error);
    }
    ln_program_lend(session->program, session->region.memory);
    return 0;
}

int ln_session_choose_program(ln_session *session)
{
    // Hashes values here, since ln_program_cache_take compares them under the lock.
    const ln_model *model = session->model;
    for (size_t i = 0; i < model->interface->n_inputs; i++)
        if (session->values[i].data && atomic_load(&model->is_shape_input[i]))
            session->values[i].hash = ln_value_hash(&session->values[i]);
    if (session->program && ln_program_fits(session->program, session->values)) {
        limit_time(session, session->program->ctx);
        return 0;
    }
    ln_session_drop_program(session);
    session->program = ln_program_cache_take(session->model, session->values, session->number);
    if (session->program) {
        attach(session, session->program->ctx);
        limit_time(session, session->program->ctx);
    } else if (make_any(session)) {
        return -1;
    }
    return lend(session) ? -1 : 0;
}

// Open programs that have failed

int ln_session_is_rejected(const ln_session *session)
{
    const uint64_t sizes = key_of_sizes(session), check = ln_rejection_of_check(&session->error);
    const ln_rejections *rejections = &session->model->rejections;
    ln_session_lock();
    const int is_rejected =
        ln_rejections_have(rejections, sizes) || ln_rejections_have(rejections, check);
    ln_session_unlock();
    return is_rejected;
}

int ln_session_make_fixed(ln_session *session, ln_program **open)
{
    ln_links_leave_program(session);
    detach(session);
    *open = session->program;
    session->program = NULL;
    ln_error_clear(&session->error);
    return -(make_program(session) || lend(session));
}

void ln_session_keep_fixed(ln_session *session, ln_program *open)
{
    ln_program_free(open);
    use_fixed_shapes(session->model);
}

void ln_session_take_back(ln_session *session, ln_program *open, const ln_error *failure,
                          unsigned long failures)
{
    if (is_about_model(session, failures)) {
        // A fixed program that cannot be made rejects the sizes. One that runs rejects the data if
        // it fails in the check in which the open one did; another check proves nothing.
        if (!session->program)
            note_rejection(session, key_of_sizes(session));
        else if (ln_rejection_is_same_check(failure, &session->error))
            note_rejection(session, ln_rejection_of_check(failure));
        session->error = *failure;
    }
    ln_links_leave_program(session);
    detach(session);
    ln_program_free(session->program);
    session->program = open;
    attach(session, open->ctx);
    lend(session); // without memory, drops the program and sets the error
}
