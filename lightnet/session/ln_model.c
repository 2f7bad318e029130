// SPDX-License-Identifier: Apache-2.0
// Opens models and describes their interface.

#include "session/ln_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ln_error_memory.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_arch.h"
#include "lightnet/ln_plugin.h"
#include "run/ln_store.h"
#include "session/ln_pool.h"
#include "session/ln_program.h"

// Life

ln_model *ln_model_keep(ln_model *model)
{
    atomic_fetch_add(&model->refs, 1);
    return model;
}

void ln_model_free(ln_model *model)
{
    if (!model || atomic_fetch_sub(&model->refs, 1) > 1)
        return;
    while (model->cached) {
        ln_program *const next = model->cached->next;
        ln_program_free(model->cached);
        model->cached = next;
    }
    if (model->parsed)
        model->front->drop(model->parsed);
    ln_store_free(model->store);
    ln_infile_close(&model->file);
    ln_hash_free(model->input_numbers);
    ln_hash_free(model->output_numbers);
    ln_interface_free(model->interface);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < model->n_values[i]; k++)
            ln_free((char *)model->values[i][k].name);
        ln_free(model->values[i]);
    }
    ln_free(model->required);
    ln_free(model->required_numbers);
    ln_free(model->changes);
    ln_free(model->is_shape_input);
    ln_pool_free(model->pool);
    ln_options_free(model->options);
    ln_free(model->name);
    ln_free(model);
}

const char *ln_model_error(const ln_model *model)
{
    (void)model;
    return ln_last_error();
}

// Threads

// From the option, else the environment variable; 0: all. -1 with a reason.
static int count_threads(const ln_options *options)
{
    const char *env = getenv("LIGHTNET_NUM_THREADS");
    char *end;
    if (options->threads != LN_THREADS_NOT_SET || !env || !*env)
        return options->threads == LN_THREADS_NOT_SET ? 0 : options->threads;
    const long n = strtol(env, &end, 10);
    if (end != env && !*end && n >= 0 && n <= TL_MAX_THREADS)
        return (int)n;
    return ln_error_set_as(NULL, LN_BAD_ARGUMENT,
                           "LIGHTNET_NUM_THREADS is '%s', expected 0 to %d threads", env,
                           TL_MAX_THREADS);
}

static int choose_pool(ln_model *model)
{
    if (model->options->pool) {
        model->pool = ln_pool_keep(model->options->pool);
        return 0;
    }
    const int n = count_threads(model->options);
    if (n >= 0)
        model->pool = ln_pool_shared(n ? n : tl_cpu_count());
    return model->pool ? 0 : -1;
}

// Targets in plug-ins are loaded on demand.
static int choose_target(const ln_model *model)
{
    char known[LN_MAXLINE];
    const char *target = model->options->target;
    if (!target || ln_hash_find(LN_ARCH.arch_table, target))
        return 0;
    if (ln_plugin_load_target(target))
        return ln_error_set_as(NULL, LN_BAD_ARGUMENT, "%s", ln_last_error());
    if (ln_hash_find(LN_ARCH.arch_table, target))
        return 0;
    return ln_error_set_as(NULL, LN_BAD_ARGUMENT, "unknown target '%s'; known targets: %s", target,
                           ln_sprint_targets(known, sizeof(known)));
}

// Opening

// Programs read the weights when they are made, which may be in the first run.
static int check_weights(const ln_model *model)
{
    const char *weights = model->options->weights;
    if (!weights || !access(weights, R_OK))
        return 0;
    const int reason = errno;
    return ln_error_set_as(NULL, ln_status_of_errno(reason), "%s: cannot read: %s", weights,
                           strerror(reason));
}

// From now on, programs of all threads may use the file.
static int share_file(ln_model *model, ln_error *err)
{
    ln_infile shared;
    if (ln_infile_share(&model->file, &shared, err))
        return -1;
    ln_infile_close(&model->file);
    model->file = shared;
    return 0;
}

static int narrow(const ln_model *model, const ln_context *ctx)
{
    if (ln_model_add_outputs(model, ctx) || ln_model_narrow(model, ctx))
        return -1;
    return model->front->check && model->options->shapes
               ? model->front->check(ctx, model->name, model->parsed, model->interface)
               : 0;
}

static int parse_and_describe(ln_model *model, const ln_context *ctx)
{
    model->parsed = model->front->parse(ctx, model->name, &model->file);
    const int status =
        model->parsed ? model->front->describe(ctx, model->name, model->parsed, model->interface)
                      : -1;
    model->has_declared_interface = status == 0;
    return -(status < 0 || (model->has_declared_interface && narrow(model, ctx)));
}

// Runs read weights in place from compiled models only.
static int check_map(const ln_model *model, const ln_context *ctx)
{
    if (!model->options->is_mapped || (model->front && model->front->is_compiled))
        return 0;
    return ln_fail_as(ctx, LN_BAD_ARGUMENT,
                      "%s: option 'map' is for compiled models in one file (.safetensors), this is "
                      "%s",
                      model->name, model->front ? model->front->format : "JSON IR");
}

// Detects and checks the format, as ln_context_init does. JSON and other text are parsed for each
// program.
static int parse(ln_model *model, const ln_context *ctx)
{
    size_t size;
    if (ln_front_of(&model->file, &model->front, ctx->error))
        return -1;
    const unsigned char *head = ln_infile_head(&model->file, &size);
    if (ln_front_check(ctx, model->name, model->front, head, size) || check_map(model, ctx))
        return -1;
    model->interface = ln_interface_create();
    if (!model->interface)
        return ln_fail_memory(ctx);
    return model->front && model->front->parse ? parse_and_describe(model, ctx)
                                               : share_file(model, ctx->error);
}

// The source of a model: a file, or bytes in memory.
typedef struct origin {
    const char *name;  // of the file; for bytes, only for messages and folders
    const void *bytes; // NULL: the file
    size_t size;
} origin;

static int open_file(ln_infile *file, const origin *o, int is_mapped, ln_error *err)
{
    if (!o->bytes)
        return is_mapped ? ln_infile_open_mapped(file, o->name, err)
                         : ln_infile_open(file, o->name, err);
    if (is_mapped)
        return ln_error_set_as(err, LN_BAD_ARGUMENT,
                               "%s: option 'map' is for files, the model is given in memory",
                               o->name);
    file->size = o->size;
    file->copy = ln_clone(o->bytes, o->size);
    file->data = file->copy;
    file->name = ln_strdup(o->name);
    return file->copy && file->name ? 0 : ln_error_set_last(err);
}

// The limits of a program also apply to reading the file.
static int read_file(ln_model *model, const ln_context *ctx, const origin *o)
{
    ln_budget *const before = ln_limits_enter(ctx);
    const int status =
        -(open_file(&model->file, o, model->options->is_mapped, ctx->error) || parse(model, ctx));
    model->read_size = ln_limits_held(ctx);
    return ln_limits_leave(ctx, before, status);
}

// Creates the program of a model of fixed shapes, for the first session. Fails if values of inputs
// decide shapes: then the first run creates it.
static int make_fixed(ln_model *model, ln_program *program, int is_read)
{
    const ln_interface *const interface = model->interface;
    ln_value *values = ln_alloc_array(interface->n_inputs, sizeof(*values));
    if (!values)
        return ln_fail_memory(program->ctx);
    for (size_t i = 0; i < interface->n_inputs; i++) {
        const ln_port *port = interface->inputs[i];
        values[i].is_given = port->kind == LN_PORT_INPUT;
        values[i].ndim = values[i].is_given ? port->info.ndim : 0;
        memcpy(values[i].dims, port->dims, sizeof(port->dims));
    }
    int status = is_read ? ln_program_finish(program, model, values)
                         : ln_program_make(program, model, values);
    if (!status)
        ln_model_complete(model, program->ctx);
    ln_free(values);
    return status;
}

// Takes the program like open_with.
static int open_fixed(ln_model *model, ln_program *program, int is_read)
{
    if (!make_fixed(model, program, is_read)) {
        ln_context_set_limit(program->ctx, LN_LIMIT_TIME, 0);
        ln_program_cache_put(model, program, 0);
        return 0;
    }
    if (!model->shapes_depend_on_values)
        return -1;
    ln_program_free(program);
    return 0;
}

static int is_compiled(const ln_model *model)
{
    return ln_model_metadata(model, "target") || ln_model_metadata(model, "program.1");
}

// A compiled model runs unchanged.
static void warn_of_late_options(const ln_model *model, const ln_context *ctx)
{
    const ln_options *const o = model->options;
    const char *const target = ln_model_metadata(model, "target");
    const struct {
        const char *key;
        int is_given;
    } late[] = {{"target", o->target && target && !ln_streq(o->target, target)},
                {"reference", o->is_reference},
                {"unoptimized", o->is_unoptimized},
                {"precision", o->precision != NULL},
                {"tuning", o->is_tuned},
                {"disabled_rule", o->disabled != NULL}};
    for (size_t i = 0; is_compiled(model) && i < sizeof(late) / sizeof(late[0]); i++)
        if (late[i].is_given)
            ln_warn(ctx, "%s: option '%s' has no effect: the model is compiled already",
                    model->name, late[i].key);
}

// Drops a precision that the target lacks, with one warning for all programs of the model.
static void fit_precision(const ln_model *model, ln_context *ctx)
{
    ln_options *const o = model->options;
    const ln_arch *const arch = ln_hash_find(LN_ARCH.arch_table, ln_program_target(model));
    if (is_compiled(model) || !arch || !ln_context_fit_precision(ctx, arch, model->name))
        return;
    ln_free(o->precision);
    o->precision = NULL;
}

// Takes the program; after a failure, the caller still owns it, and its context has the reason.
static int open_with(ln_model *model, ln_program *program, const origin *o)
{
    ln_context *ctx = program->ctx;
    if (read_file(model, ctx, o))
        return -1;
    const int is_read = !model->has_declared_interface;
    if (is_read && (ln_program_read(program, model, NULL) || ln_model_describe(model, ctx)))
        return -1;
    if (ln_model_index(model, ctx))
        return -1;
    warn_of_late_options(model, ctx);
    fit_precision(model, ctx);
    if (!ln_model_is_open(model))
        return open_fixed(model, program, is_read);
    ln_program_free(program);
    return 0;
}

static int open_origin(ln_model *model, const origin *o)
{
    if (choose_target(model) || choose_pool(model) || check_weights(model))
        return -1;
    ln_program *program = ln_program_create(model, NULL);
    if (!program)
        return -1;
    ln_context_set_limit(program->ctx, LN_LIMIT_TIME, model->options->open_timeout);
    if (!open_with(model, program, o))
        return 0;
    ln_error_set_as(NULL, ln_error_status(program->ctx->error), "%s",
                    ln_context_error(program->ctx));
    ln_program_free(program);
    return -1;
}

static ln_model *create(const char *name, const ln_options *options)
{
    ln_model *model = ln_alloc(sizeof(*model));
    if (!model)
        return NULL;
    atomic_init(&model->refs, 1);
    model->name = ln_strdup(name);
    model->options = ln_options_copy(options);
    model->store = ln_store_create();
    if (model->name && model->options && model->store)
        return model;
    ln_model_free(model);
    return NULL;
}

static ln_status open_model(const origin *o, const ln_options *options, ln_model **model)
{
    const unsigned long failures = ln_call_begin();
    *model = create(o->name, options);
    if (*model && !open_origin(*model, o))
        return LN_OK;
    const ln_status status = ln_call_status(NULL, failures, LN_BAD_MODEL);
    ln_model_free(*model);
    *model = NULL;
    return status;
}

static ln_status fail_argument(const char *what)
{
    return ln_error_set_as(NULL, LN_BAD_ARGUMENT, "%s is NULL", what), LN_BAD_ARGUMENT;
}

ln_status ln_model_open(const char *file, const ln_options *options, ln_model **model)
{
    if (!model)
        return fail_argument("the pointer to the model");
    *model = NULL;
    return file ? open_model(&(origin){.name = file}, options, model)
                : fail_argument("the name of the file");
}

ln_status ln_model_open_memory(const char *name, const void *bytes, size_t size,
                               const ln_options *options, ln_model **model)
{
    if (!model)
        return fail_argument("the pointer to the model");
    *model = NULL;
    if (!name || !bytes)
        return fail_argument(name ? "the address of the bytes" : "the name of the model");
    return open_model(&(origin){name, bytes, size}, options, model);
}

// Programs that no session uses

// Removes the program that `*link` points to from the cache.
static ln_program *unlink_program(ln_model *model, ln_program **link)
{
    ln_program *program = *link;
    *link = program->next;
    program->next = NULL;
    model->n_cached--;
    return program;
}

ln_program *ln_program_cache_take(ln_model *model, const ln_value *values, uint64_t session)
{
    ln_session_lock();
    ln_program **link = &model->cached;
    for (; *link; link = &(*link)->next) {
        const uint64_t owner = (*link)->session;
        const int may_use =
            (!owner || owner == session) && !((*link)->ranges && model->uses_fixed_shapes);
        if (may_use && ln_program_fits(*link, values))
            break;
    }
    ln_program *program = *link ? unlink_program(model, link) : NULL;
    ln_session_unlock();
    return program;
}

void ln_program_cache_put(ln_model *model, ln_program *program, uint64_t session)
{
    if (!program)
        return;
    ln_session_lock();
    program->session = program->has_state ? session : 0;
    program->next = model->cached;
    model->cached = program;
    ln_program *oldest = NULL;
    if (++model->n_cached > model->options->programs) {
        ln_program **last = &model->cached;
        while ((*last)->next)
            last = &(*last)->next;
        oldest = unlink_program(model, last);
    }
    ln_session_unlock();
    ln_program_free(oldest);
}

// Removes a program of the session from the cache; NULL: none.
static ln_program *unlink_program_of(ln_model *model, uint64_t session)
{
    ln_session_lock();
    ln_program **link = &model->cached;
    while (*link && (*link)->session != session)
        link = &(*link)->next;
    ln_program *program = *link ? unlink_program(model, link) : NULL;
    ln_session_unlock();
    return program;
}

void ln_program_cache_drop(ln_model *model, uint64_t session)
{
    ln_program *program;
    while ((program = unlink_program_of(model, session)))
        ln_program_free(program);
}
