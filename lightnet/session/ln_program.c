// SPDX-License-Identifier: Apache-2.0
// Programs: a model, rewritten, planned and loaded for one set of input shapes.

#include "session/ln_program.h"

#include <string.h>

#include "front/ln_front.h"
#include "ir/ln_bind.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_fixed.h"
#include "ir/ln_from_file.h"
#include "ir/ln_limits.h"
#include "ir/ln_random.h"
#include "lightnet/ln_mem.h"
#include "lightnet/ln_optypes.h"
#include "lightnet/ln_tensor.h"
#include "pass/ln_row_readers.h"
#include "run/ln_load.h"
#include "run/ln_sharing.h"
#include "run/ln_store.h"
#include "session/ln_pool.h"
#include "tensorlight/tl_util.h"

static const char default_target[] = "cpu";

// Settings

// The values of ln_msg_level are the levels of ln_message_func.
static void pass_message(void *data, ln_msg_level level, const char *text)
{
    const ln_options *options = data;
    options->message_func(options->message_data, (int)level, text);
}

static int set_lists(ln_context *ctx, const ln_options *options)
{
    LN_FOREACH (const char *, name, options->folders)
        if (ln_context_allow_folder(ctx, name))
            return -1;
    LN_FOREACH (const char *, name, options->disabled)
        if (ln_context_disable_rule(ctx, name))
            return -1;
    if (options->may_write && ln_context_allow_output(ctx, options->may_write))
        return -1;
    return options->weights ? ln_context_bind_file(ctx, options->weights) : 0;
}

static int set_options(ln_context *ctx, const ln_options *options)
{
    if (options->message_func) {
        ctx->msg_func = pass_message;
        ctx->msg_data = (void *)options;
    }
    ln_context_set_seed(ctx, options->seed);
    if (options->is_unoptimized)
        ctx->optimize = LN_OPTIMIZE_TARGET;
    if (options->is_reference)
        ln_context_set_reference(ctx);
    return -(ln_context_set_limit(ctx, LN_LIMIT_MEMORY, options->memory_limit) ||
             ln_context_set_limit(ctx, LN_LIMIT_OPS, options->operators_limit) ||
             ln_context_set_limit(ctx, LN_LIMIT_FOLD_MEMORY, options->constant_limit) ||
             set_lists(ctx, options) ||
             (options->precision && ln_context_set_precision(ctx, options->precision)) ||
             (options->is_tuned && ln_context_set_tuning(ctx)));
}

// The memory limit includes memory that a program shares with others.
static void count_shared(const ln_context *ctx, const ln_model *model)
{
    const size_t shared = model->read_size + ln_store_size(model->store);
    const size_t held = ln_limits_held(ctx);
    if (held < shared)
        ln_limits_take(ctx, shared - held);
}

ln_program *ln_program_create(const ln_model *model, ln_error *err)
{
    ln_program *program = ln_alloc(sizeof(*program));
    if (program)
        program->ctx = ln_context_create();
    if (!program || !program->ctx) {
        ln_error_set_last(err);
        ln_program_free(program);
        return NULL;
    }
    program->ctx->store = model->store;
    program->ctx->many_shapes = model->interface && ln_model_is_open(model);
    // Without a pool, the context would create one.
    program->ctx->pool = ln_pool_threads(model->pool);
    if (!set_options(program->ctx, model->options) &&
        !ln_context_set_threads(program->ctx, ln_pool_size(model->pool))) {
        count_shared(program->ctx, model);
        return program;
    }
    const ln_status status = ln_error_status(program->ctx->error);
    ln_error_set_as(err, status == LN_OK ? LN_BAD_ARGUMENT : status, "%s",
                    ln_context_error(program->ctx));
    ln_program_free(program);
    return NULL;
}

void ln_program_free(ln_program *program)
{
    if (!program)
        return;
    if (program->ctx)
        program->ctx->pool = NULL; // the model owns it
    ln_context_free(program->ctx);
    ln_free(program->inputs);
    ln_free(program->ranges);
    ln_free(program->names);
    ln_loans_free(program->loans, program->n_inputs + program->n_outputs);
    ln_free(program->fixed);
    ln_free(program->is_fixed);
    ln_free(program->outputs);
    ln_free(program->updated);
    ln_free(program);
}

// Reading

// The max bytes of an input whose elements may decide shapes.
enum { MAX_SHAPE_INPUT = 64 << 10 };

static int bind_value(ln_context *ctx, const ln_port *port, const ln_value *value)
{
    if (!value->data || value->size > MAX_SHAPE_INPUT || port->info.dtype == TL_STRING)
        return ln_context_bind_shape(ctx, port->name, value->ndim, value->dims);
    tl_tensor *record =
        tl_tensor_create((void *)value->data, value->ndim, value->dims, port->info.dtype);
    const int status = record ? ln_context_bind_input(ctx, port->name, record) : ln_fail_tl(ctx);
    tl_tensor_free(record);
    return status;
}

static int bind_inputs(ln_context *ctx, const ln_model *model, const ln_value *values,
                       int with_data)
{
    for (size_t i = 0; i < model->interface->n_inputs; i++) {
        const ln_port *port = model->interface->inputs[i];
        if (!values[i].is_given)
            continue;
        if (with_data ? bind_value(ctx, port, &values[i])
                      : ln_context_bind_shape(ctx, port->name, values[i].ndim, values[i].dims))
            return -1;
    }
    return 0;
}

static int read_parsed_or_file(ln_context *ctx, const ln_model *model)
{
    if (model->parsed)
        return ln_context_init_parsed(ctx, model->name, model->front, model->parsed);
    ln_infile file = model->file, copy;
    if (ln_infile_share(&file, &copy, ctx->error))
        return -1;
    const int status = ln_context_init_file(ctx, model->name, &copy);
    ln_infile_close(&copy);
    return status;
}

static int read_model(ln_context *ctx, const ln_model *model)
{
    if (read_parsed_or_file(ctx, model))
        return -1;
    LN_FOREACH (const char *, name, model->options->outputs)
        if (ln_context_add_output(ctx, name))
            return ln_error_prefix(ctx->error, "%s", model->name);
    return 0;
}

static int shapes_depend_on_values(ln_model *model)
{
    ln_session_lock();
    const int depend = model->shapes_depend_on_values;
    ln_session_unlock();
    return depend;
}

static int has_data(const ln_model *model, const ln_value *values)
{
    for (size_t i = 0; i < model->interface->n_inputs; i++)
        if (values[i].is_given && values[i].data)
            return 1;
    return 0;
}

// Binds values only if the model cannot be read without them: a program that does not depend on
// values supports other ones, too.
static int read_with_inputs(ln_context *ctx, ln_model *model, const ln_value *values)
{
    if (!shapes_depend_on_values(model)) {
        if (bind_inputs(ctx, model, values, 0) ||
            (has_data(model, values) && ln_bind_set_offers(ctx, LN_OFFERS_VALUES)))
            return -1;
        if (!read_model(ctx, model))
            return 0;
        if (!ln_bind_wants_values(ctx))
            return -1;
        ln_session_lock();
        model->shapes_depend_on_values = 1;
        ln_session_unlock();
        count_shared(ctx, model); // the failure has emptied the context
    }
    return -(ln_bind_set_offers(ctx, 0) || bind_inputs(ctx, model, values, 1) ||
             read_model(ctx, model));
}

int ln_program_read_shapes(ln_program *program, const ln_model *model, const ln_value *values)
{
    return -(bind_inputs(program->ctx, model, values, 0) ||
             ln_bind_set_offers(program->ctx, LN_OFFERS_VALUES) || read_model(program->ctx, model));
}

// Inputs are set before each run, but weights when the program is loaded.
static int check_weights(const ln_context *ctx)
{
    LN_FOREACH (const char *, name, ctx->missing)
        if (!ln_hash_find(ctx->input_names, name))
            return ln_fail_as(ctx, LN_BAD_ARGUMENT,
                              "%s: tensor '%s' reads its data from a file; set option 'weights'",
                              ctx->source, name);
    return 0;
}

const char *ln_program_target(const ln_model *model)
{
    return model->options->target ? model->options->target : default_target;
}

static int compile(ln_context *ctx, const ln_model *model)
{
    return ctx->target ? 0 : ln_context_compile(ctx, ln_program_target(model));
}

// Inputs and outputs

static const ln_tensor_entry *find_tensor(const ln_context *ctx, const char *name)
{
    return ln_tensor_table_find(ctx->tensor_table, name);
}

static void note_input(ln_program *program, size_t i, const char *name)
{
    const ln_tensor_entry *te = find_tensor(program->ctx, name);
    const ln_fixed_value *fixed = ln_fixed_find(program->ctx->fixed, name);
    program->names[i] = te && te->tensor->data ? name : NULL;
    program->is_fixed[i] = fixed && !fixed->rule && !fixed->frozen;
    program->fixed[i] = fixed ? fixed->hash : 0;
}

static int fail_interface(const ln_context *ctx, const char *what)
{
    return ln_fail_as(ctx, LN_INTERNAL_ERROR, "the program lacks the model's %s", what);
}

static int note_inputs(ln_program *program, const ln_model *model, const ln_value *values)
{
    const ln_list *node = program->ctx->inputs;
    for (size_t i = 0; i < program->n_inputs; i++) {
        // The program has no input for a default value that the caller has not replaced.
        if (model->interface->inputs[i]->kind != LN_PORT_INPUT && !values[i].is_given)
            continue;
        if (!node)
            return fail_interface(program->ctx, "inputs");
        note_input(program, i, node->data);
        node = node->next;
    }
    return node ? fail_interface(program->ctx, "inputs") : 0;
}

static int note_outputs(ln_program *program)
{
    const ln_list *node = program->ctx->outputs;
    for (size_t i = 0; i < program->n_outputs; i++, node = node->next) {
        const ln_tensor_entry *te = node ? find_tensor(program->ctx, node->data) : NULL;
        if (!te)
            return fail_interface(program->ctx, "outputs");
        program->outputs[i] = te->tensor;
        program->names[program->n_inputs + i] = node->data;
    }
    return node ? fail_interface(program->ctx, "outputs") : 0;
}

// Inputs that are read in place are not missing; the session checks that they are set.
static int note_loans(ln_program *program)
{
    ln_context *ctx = program->ctx;
    if (ln_loans_find(ctx, program->names, program->n_inputs + program->n_outputs, &program->loans))
        return -1;
    for (size_t i = 0; i < program->n_inputs; i++)
        if (program->loans[i].root)
            ctx->missing =
                ln_list_remove_custom_deep(ctx->missing, program->names[i], ln_str_cmp, ln_free);
    return 0;
}

// The number of the input that an output updates by put_range, + 1; 0: none; -1: no memory.
static int find_updated(const ln_program *program, size_t output)
{
    const ln_tensor_entry *const te =
        find_tensor(program->ctx, program->names[program->n_inputs + output]);
    const ln_op *const op = ln_entry_creater(te);
    const ln_tensor_entry *src = NULL;
    if (!op || !ln_op_is(op, LN_OP_PUT_RANGE_CPU) || !ln_op_reads(op, "src", &src))
        return 0;
    for (size_t i = 0; i < program->n_inputs; i++)
        if (program->loans[i].root == src && program->loans[i].n_members == 1) {
            const int is_only = ln_only_reads(program->ctx, src, op);
            return is_only > 0 ? (int)i + 1 : is_only;
        }
    return 0;
}

static int note_updated(ln_program *program)
{
    for (size_t i = 0; i < program->n_outputs; i++)
        if ((program->updated[i] = find_updated(program, i)) < 0)
            return -1;
    return 0;
}

static int note_ports(ln_program *program, const ln_model *model, const ln_value *values)
{
    const ln_interface *interface = model->interface;
    program->n_inputs = interface->n_inputs;
    program->n_outputs = interface->n_outputs;
    program->inputs = ln_alloc_array(program->n_inputs, sizeof(*program->inputs));
    program->names =
        ln_alloc_array(program->n_inputs + program->n_outputs, sizeof(*program->names));
    program->fixed = ln_alloc_array(program->n_inputs, sizeof(*program->fixed));
    program->is_fixed = ln_alloc_array(program->n_inputs, sizeof(*program->is_fixed));
    program->outputs = ln_alloc_array(program->n_outputs, sizeof(*program->outputs));
    program->updated = ln_alloc_array(program->n_outputs, sizeof(*program->updated));
    if (!program->inputs || !program->names || !program->fixed || !program->is_fixed ||
        !program->outputs || !program->updated)
        return ln_fail_memory(program->ctx);
    for (size_t i = 0; i < program->n_inputs; i++) {
        program->inputs[i] = values[i];
        program->inputs[i].data = program->inputs[i].own = NULL;
    }
    return -(note_inputs(program, model, values) || note_outputs(program) || note_loans(program) ||
             note_updated(program));
}

// State

// Whether the operator keeps state between runs: random numbers from its own seed (others are the
// session's, which sets ctx->random), or a static tensor that is written in place.
static int op_has_state(const ln_context *ctx, const ln_op *op)
{
    const ln_tensor_entry *te;
    LN_OUTPUTS_FOREACH (te, op->op_arg)
        if (te->isstatic && !ln_hash_find(ctx->input_names, te->name) && ln_entry_is_mutated(te))
            return 1;
    return op->run && op->op_arg->tensors_out && !ln_is_placeholder(op) && ln_op_has_effect(op) &&
           !ln_op_draws(op);
}

static int has_state(const ln_context *ctx)
{
    LN_FOREACH (const ln_op *, op, ctx->ops)
        if (op_has_state(ctx, op))
            return 1;
    LN_FOREACH (const ln_context *, body, ctx->bodies)
        if (has_state(body))
            return 1;
    return 0;
}

// Memory

// The run memory of a program that no session uses; never read or written.
static _Alignas(64) char no_memory[64];

size_t ln_program_run_size(const ln_program *program)
{
    return ln_sharing_is_movable(program->ctx) ? ln_sharing_run_size(program->ctx) : 0;
}

void ln_program_lend(ln_program *program, void *memory)
{
    if (program->memory == memory)
        return;
    ln_memory_move(program->ctx, memory);
    ln_loans_forget(program->loans, program->n_inputs + program->n_outputs);
    program->memory = memory;
}

// Reading and compiling

static int bind_option(ln_context *ctx, const ln_bound_value *b)
{
    const tl_tensor *const value = b->is_sequence ? NULL : b->tensors[0];
    return b->is_sequence
               ? ln_context_bind_sequence(ctx, b->name, b->n, (const tl_tensor *const *)b->tensors)
           : value->data ? ln_context_bind_input(ctx, b->name, value)
                         : ln_context_bind_shape(ctx, b->name, value->ndim, value->dims);
}

// Binds the inputs of the options, for a model whose interface depends on them.
static int bind_options(ln_context *ctx, const ln_options *options)
{
    LN_FOREACH (const ln_shape_option *, s, options->shapes)
        if (ln_context_bind_range(ctx, s->name, s->ndim, s->min, s->max))
            return -1;
    LN_FOREACH (const ln_bound_value *, b, options->bound)
        if (bind_option(ctx, b))
            return -1;
    return 0;
}

int ln_program_read(ln_program *program, ln_model *model, const ln_value *values)
{
    if (model->has_declared_interface)
        return read_with_inputs(program->ctx, model, values);
    if (ln_model_asks_shapes(model) && bind_options(program->ctx, model->options))
        return -1;
    return read_model(program->ctx, model);
}

// Sets the range of input `i`: that of the port if the program lacks it. Returns whether it has
// one.
static int find_range(const ln_program *program, const ln_port *port, size_t i, ln_range *range)
{
    const char *name = program->names[i];
    const ln_tensor_entry *te = name ? find_tensor(program->ctx, name) : NULL;
    const ln_op *producer = te ? ln_entry_creater(te) : NULL;
    const int *min = producer ? ln_placeholder_min(producer) : NULL;
    for (int k = 0; k < (te ? te->tensor->ndim : port->info.ndim); k++) {
        const int is_open = !te && port->dims[k] < 0,
                  dim = te ? te->tensor->dims[k] : port->dims[k];
        range->min[k] = min ? min[k] : is_open ? port->min[k] : dim;
        range->max[k] = min ? ln_placeholder_max(producer)[k] : is_open ? port->max[k] : dim;
    }
    return min != NULL;
}

// A model that is read with ranges, such as a compiled one, has one program for all their shapes.
static int note_ranges(ln_program *program, const ln_model *model)
{
    int is_open = 0;
    ln_range *ranges = ln_alloc_array(program->n_inputs + 1, sizeof(*ranges));
    if (!ranges)
        return ln_fail_memory(program->ctx);
    for (size_t i = 0; i < program->n_inputs; i++)
        is_open |= find_range(program, model->interface->inputs[i], i, &ranges[i]);
    if (is_open)
        program->ranges = ranges;
    else
        ln_free(ranges);
    return 0;
}

int ln_program_finish(ln_program *program, ln_model *model, const ln_value *values)
{
    if (compile(program->ctx, model) || ln_context_load(program->ctx, model->options->weights) ||
        check_weights(program->ctx) || note_ports(program, model, values) ||
        (!program->ranges && note_ranges(program, model)))
        return -1;
    for (size_t i = 0; i < program->n_inputs; i++)
        if (program->is_fixed[i])
            atomic_store(&model->is_shape_input[i], 1);
    program->has_state = has_state(program->ctx);
    program->draws = ln_context_draws(program->ctx);
    if (ln_sharing_is_movable(program->ctx))
        ln_program_lend(program, no_memory);
    ln_session_lock();
    model->n_programs++;
    ln_session_unlock();
    return 0;
}

int ln_program_make(ln_program *program, ln_model *model, const ln_value *values)
{
    return -(ln_program_read(program, model, values) || ln_program_finish(program, model, values));
}

int ln_program_compile_open(ln_program *program, const ln_model *model, const ln_value *values,
                            ln_range *ranges)
{
    program->ranges = ranges;
    for (size_t i = 0; i < model->interface->n_inputs; i++) {
        const char *const name = model->interface->inputs[i]->name;
        char text[LN_MAXDIM][LN_SUM_LEN];
        const char *names[LN_MAXDIM];
        if (!values[i].is_given)
            continue;
        ln_ranges_name(ranges, (int)i, values[i].ndim, text, names);
        if (ln_context_bind_range(program->ctx, name, values[i].ndim, ranges[i].min,
                                  ranges[i].max) ||
            ln_bind_name_sizes(program->ctx, name, names))
            return -1;
    }
    return -(ln_bind_set_offers(program->ctx, LN_OFFERS_SIZES) || read_model(program->ctx, model) ||
             compile(program->ctx, model));
}

// The sizes of `value` that the port leaves open become ranges, from 1 on.
static int bind_open(ln_context *ctx, const ln_port *port, const ln_value *value)
{
    int min[LN_MAXDIM], max[LN_MAXDIM];
    for (int k = 0; k < value->ndim; k++) {
        const int is_open = !port->info.dims || port->dims[k] < 0;
        min[k] = is_open ? 1 : value->dims[k];
        max[k] = is_open && value->dims[k] < 2 ? 2 : value->dims[k];
    }
    return ln_context_bind_range(ctx, port->name, value->ndim, min, max);
}

int ln_program_read_open(ln_program *program, const ln_model *model, const ln_value *values)
{
    for (size_t i = 0; i < model->interface->n_inputs; i++)
        if (values[i].is_given && bind_open(program->ctx, model->interface->inputs[i], &values[i]))
            return -1;
    return read_model(program->ctx, model);
}

int ln_program_compile_fixed(ln_program *program, ln_model *model, const ln_value *values)
{
    return -(ln_program_read(program, model, values) || compile(program->ctx, model));
}

// Use

int ln_program_fits(const ln_program *program, const ln_value *values)
{
    if (program->ranges &&
        !ln_ranges_have(program->ranges, program->inputs, values, program->n_inputs))
        return 0;
    for (size_t i = 0; i < program->n_inputs; i++) {
        const ln_value *made_for = &program->inputs[i], *value = &values[i];
        const int has_sizes = program->ranges || ln_value_is_like(made_for, value);
        const int has_fixed =
            !program->is_fixed[i] || (value->data && value->hash == program->fixed[i]);
        if (!has_sizes || !has_fixed)
            return 0;
    }
    return 1;
}

static int overlaps(const ln_buffer *buffer, const void *data, size_t size)
{
    const uintptr_t a = (uintptr_t)buffer->data, b = (uintptr_t)data;
    return data && a < b + size && b < a + buffer->size;
}

// Whether the output's buffer overlaps that of an input or of another output.
static int is_shared(const ln_program *program, const ln_value *values, const ln_buffer *buffers,
                     size_t output)
{
    const ln_buffer *buffer = &buffers[output];
    for (size_t i = 0; i < program->n_inputs; i++) {
        const int is_updated = program->updated[output] == (int)i + 1 &&
                               buffer->data == values[i].data && buffer->size >= values[i].size;
        if (buffer->input != (int)i + 1 && !is_updated &&
            overlaps(buffer, values[i].data, values[i].size))
            return 1;
    }
    for (size_t i = 0; i < program->n_outputs; i++)
        if (i != output && overlaps(buffer, buffers[i].data, buffers[i].size))
            return 1;
    return 0;
}

static void place_output(const ln_program *program, const ln_value *values,
                         const ln_buffer *buffers, size_t i)
{
    ln_loan *loan = &program->loans[program->n_inputs + i];
    const int fits = buffers[i].data && buffers[i].size >= loan->size &&
                     // The session checked the alignment for the type in the file, if any.
                     (uintptr_t)buffers[i].data % tl_size_of(program->outputs[i]->dtype) == 0 &&
                     !is_shared(program, values, buffers, i);
    if (loan->root)
        ln_loan_move(program->ctx, loan, fits ? buffers[i].data : NULL);
}

int ln_program_fill(const ln_program *program, const ln_value *values, const ln_buffer *buffers)
{
    ln_context *const ctx = program->ctx;
    for (size_t i = 0; i < program->n_inputs; i++) {
        const ln_value *value = &values[i];
        const char *name = program->names[i];
        if (!value->is_given || !name)
            continue;
        if (program->ranges && ln_range_is_open(&program->ranges[i], value->ndim) &&
            ln_context_set_shape(ctx, name, value->ndim, value->dims))
            return -1;
        if (value->size && program->loans[i].root)
            ln_loan_move(ctx, &program->loans[i], (void *)value->data);
        else if (value->size && ln_context_set_data(ctx, name, value->data))
            return -1;
    }
    for (size_t i = 0; i < program->n_outputs; i++)
        place_output(program, values, buffers, i);
    return 0;
}
