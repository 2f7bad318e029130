// SPDX-License-Identifier: Apache-2.0
// Contexts: creation, settings, errors, and reading a model into one.

#include "lightnet/ln_context.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ln_infile.h"
#include "ir/ln_arch_tables.h"
#include "ir/ln_bind.h"
#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_fixed.h"
#include "ir/ln_from_file.h"
#include "ir/ln_front.h"
#include "ir/ln_ir_json.h"
#include "ir/ln_limits.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_arch.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_util.h"

// Of ctx->threads: the environment decides.
enum { NOT_SET = -1 };

int ln_fail(const ln_context *ctx, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    ln_error_vset(ctx ? ctx->error : NULL, fmt, ap);
    va_end(ap);
    return -1;
}

int ln_fail_last(const ln_context *ctx)
{
    return ctx ? ln_error_set(ctx->error, "%s", ln_last_error()) : -1;
}

int ln_fail_tl(const ln_context *ctx)
{
    return ln_error_set(ctx ? ctx->error : NULL, "%s", tl_last_error());
}

int ln_fail_at(const ln_context *ctx, const char *fmt, ...)
{
    char where[LN_MAXLINE];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(where, sizeof(where), fmt, ap);
    va_end(ap);
    return ln_error_prefix(ctx ? ctx->error : NULL, "%s", where);
}

static void send(const ln_context *ctx, ln_msg_level level, const char *fmt, va_list ap)
{
    char text[LN_MAXLINE];
    if (!ctx || !ctx->msg_func)
        return;
    vsnprintf(text, sizeof(text), fmt, ap);
    ln_msg_send(ctx->msg_func, ctx->msg_data, level, "%s", text);
}

void ln_warn(const ln_context *ctx, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    send(ctx, LN_MSG_WARN, fmt, ap);
    va_end(ap);
}

void ln_debug(const ln_context *ctx, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    send(ctx, LN_MSG_DEBUG, fmt, ap);
    va_end(ap);
}

const char *ln_context_error(const ln_context *ctx)
{
    return ctx ? ln_error_text(ctx->error) : ln_last_error();
}

void ln_context_clear_error(const ln_context *ctx)
{
    if (ctx)
        ln_error_clear(ctx->error);
}

static int has_tables(const ln_context *ctx)
{
    return ctx->tensor_table && ctx->op_table && ctx->dfg && ctx->unique && ctx->warned &&
           ctx->mutated && ctx->input_names && ctx->output_names && ctx->fixed;
}

// What one model brings is dropped by ln_context_cleanup; what the caller set stays.
static int create_tables(ln_context *ctx)
{
    ctx->tensor_table = ln_tensor_table_create();
    ctx->op_table = ln_op_table_create();
    ctx->dfg = ln_dfg_create();
    ctx->unique = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
    ctx->warned = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
    ctx->mutated = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
    ctx->input_names = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    ctx->output_names = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    ctx->fixed = ln_fixed_create();
    return has_tables(ctx) ? 0 : ln_fail(ctx, "out of memory for a context");
}

static void free_tables(ln_context *ctx)
{
    ln_dfg_free(ctx->dfg);
    ln_op_table_free(ctx->op_table);
    ln_tensor_table_free(ctx->tensor_table);
    ln_hash_free(ctx->unique);
    ln_hash_free(ctx->warned);
    ln_hash_free(ctx->mutated);
    ln_hash_free(ctx->input_names);
    ln_hash_free(ctx->output_names);
    ln_fixed_free(ctx->fixed);
}

ln_context *ln_context_create(void)
{
    if (ln_arch_begin_use())
        return NULL;
    ln_context *ctx = ln_alloc(sizeof(*ctx));
    if (!ctx) {
        ln_arch_end_use();
        return NULL;
    }
    memset(ctx, 0, sizeof(*ctx));
    ctx->threads = NOT_SET;
    ctx->planned_threads = 1;
    ctx->isa = tl_isa_best();
    ctx->optimize = 1;
    ctx->error = ln_alloc(sizeof(*ctx->error));
    if (!ctx->error)
        goto fail;
    ln_error_clear(ctx->error);
    ctx->limits = ln_limits_create();
    if (!ctx->limits || create_tables(ctx))
        goto fail;
    return ctx;
fail:
    ln_context_free(ctx);
    ln_error_set(NULL, "out of memory for a context");
    return NULL;
}

void ln_context_free(ln_context *ctx)
{
    if (!ctx)
        return;
    if (has_tables(ctx))
        ln_context_cleanup(ctx);
    free_tables(ctx);
    ln_bind_free(ctx);
    if (!ctx->outer) { // a body borrows these
        ln_list_free_deep(ctx->disabled, ln_free);
        ln_hash_free(ctx->tuned);
        tl_pool_free(ctx->pool);
        ln_limits_free(ctx->limits);
        ln_free(ctx->error);
    }
    ln_free(ctx);
    ln_arch_end_use();
}

// Whether the operator makes a tensor of zeros that is neither random nor read from a file: what
// models without an "inputs" key use as the place for their input.
static int is_placeholder(const ln_op *op)
{
    const ln_list *params = op->op_arg->params;
    const ln_param_entry *from_file = ln_param_list_find(params, "from_file");
    const ln_param_entry *ran = ln_param_list_find(params, "ran");
    const ln_param_entry *data = ln_param_list_find(params, "data");
    if (!from_file || !ran || !data || from_file->type != LN_PARAM_BOOL || from_file->value_bool)
        return 0;
    if (ran->type != LN_PARAM_ARRAY_NUMBER || data->type != LN_PARAM_ARRAY_NUMBER)
        return 0;
    return !ln_makes_random(op) && data->array_len == 1 && data->value_array_double[0] == 0;
}

static const char *first_name(const ln_list *tensors)
{
    return tensors ? ((const ln_tensor_list_entry *)tensors->data)->name : NULL;
}

// Adds a copy of the name in front of the list.
static int push_name(const ln_context *ctx, ln_list **names, const char *name)
{
    char *copy = ln_strdup(name);
    ln_list *longer = copy ? ln_list_prepend(*names, copy) : NULL;
    if (!longer) {
        ln_free(copy);
        return ln_fail_memory(ctx);
    }
    *names = longer;
    return 0;
}

// Without an "inputs" key: the zero-filled `create`s that some operator takes as its first
// argument.
static int infer_inputs(ln_context *ctx)
{
    const ln_op *op;
    int status = 0;
    ln_hash *firsts = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!firsts)
        return ln_fail_memory(ctx);
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const char *name = first_name(op->op_arg->tensors_in);
        if (name && ln_hash_insert(firsts, name, NULL) < 0)
            status = ln_fail_memory(ctx);
    }
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const char *name = first_name(op->op_arg->tensors_out);
        if (!status && name && !op->op_arg->tensors_in && is_placeholder(op) &&
            ln_hash_find_extended(firsts, name, NULL, NULL))
            status = push_name(ctx, &ctx->inputs, name);
    }
    ctx->inputs = ln_list_reverse(ctx->inputs);
    ln_hash_free(firsts);
    return status;
}

// Without an "outputs" key: every tensor that no operator reads.
static int infer_outputs(ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const ln_tensor_list_entry *tle;
        LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
        {
            if (!ln_dfg_num_readers(ctx->dfg, tle->name) &&
                push_name(ctx, &ctx->outputs, tle->name))
                return -1;
        }
    }
    ctx->outputs = ln_list_reverse(ctx->outputs);
    return ln_context_index_names(ctx);
}

// Enters the operators that the context and its bodies were read with, and infers the inputs and
// outputs that the model leaves open. -1 with the reason in the context, without the model's name.
static int enter_read(ln_context *ctx)
{
    if (!(ctx->declared & LN_DECLARES_INPUTS) && infer_inputs(ctx))
        return -1;
    if (ln_bodies_init(ctx) || ln_context_init_ops(ctx))
        return -1;
    return ctx->declared & LN_DECLARES_OUTPUTS ? 0 : infer_outputs(ctx);
}

// The place of the operator of the context that refused to be entered; NULL: it was none, or nobody
// knows.
static const char *place_of_refused(const ln_context *ctx, const ln_ir_places *places)
{
    const ln_op *op;
    size_t i = 0;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        if (op->op_arg->failed)
            return ln_ir_place(places, ctx->outer ? ln_body_name(ctx) : NULL, "ops", i);
        i++;
    }
    return NULL;
}

static const char *place_in_all(const ln_context *ctx, const ln_ir_places *places)
{
    const char *place = place_of_refused(ctx, places);
    const ln_context *body;
    LN_LIST_FOREACH(body, ctx->bodies)
    {
        place = place ? place : place_of_refused(body, places);
    }
    return place;
}

static int read_ir(ln_context *ctx, const char *name, const char *text, size_t len,
                   const ln_ir_places *places)
{
    if (ln_ir_read(ctx, name, text, len, places, &ctx->ops))
        return -1;
    if (!enter_read(ctx))
        return 0;
    const char *place = places ? place_in_all(ctx, places) : NULL;
    return ln_fail_at(ctx, "%s", place ? place : name);
}

int ln_context_read_ir(ln_context *ctx, const char *name, const char *text, size_t len)
{
    return read_ir(ctx, name, text, len, NULL);
}

static int read_model(ln_context *ctx, const char *name, ln_infile *file)
{
    const ln_front *front;
    size_t size;
    if (ln_front_of(file, &front, ctx->error))
        return -1;
    ctx->source = ln_strdup(name);
    if (!ctx->source)
        return ln_fail_memory(ctx);
    const unsigned char *head = ln_infile_head(file, &size);
    if (ln_front_check(ctx, name, front, head, size))
        return -1;
    return front ? front->read(ctx, name, file)
                 : ln_context_read_ir(ctx, name, (const char *)file->data, file->size);
}

static int check_size(const ln_context *ctx, const char *name, size_t size)
{
    if (!ln_limits_forbid(ctx, size))
        return 0;
    if (size > ln_limits_memory(ctx))
        return ln_fail(ctx, "%s: the model has %zu bytes, above the limit of %zu bytes of memory",
                       name, size, ln_limits_memory(ctx));
    return ln_fail(ctx,
                   "%s: the model's %zu bytes and the %zu in use exceed the limit of %zu bytes of "
                   "memory",
                   name, size, ln_limits_held(ctx), ln_limits_memory(ctx));
}

static int init_model(ln_context *ctx, const char *name, ln_infile *file)
{
    if (read_model(ctx, name, file)) {
        ln_context_cleanup(ctx);
        return -1;
    }
    ln_bind_warn(ctx);
    return 0;
}

int ln_context_check_environment(const ln_context *ctx)
{
    const char *isa = getenv("LIGHTNET_MAX_ISA");
    int n;
    if (isa && *isa && tl_isa_from_str(isa) == TL_ISA_INVALID)
        return ln_fail(ctx, "LIGHTNET_MAX_ISA is '%s', expected c, avx2, avx512 or neon", isa);
    return ln_context_threads(ctx, &n);
}

// What is wrong with the environment is said before a model could be blamed for it.
static int check_before_reading(const ln_context *ctx)
{
    ln_context_clear_error(ctx);
    if (ctx->ops || ctx->source || ln_context_is_loaded(ctx))
        return ln_fail(ctx, "the context holds a model already; clean it up first");
    return ln_context_check_environment(ctx);
}

// A front end may keep the bytes, so they are copied for it.
static int init_text(ln_context *ctx, const char *name, const char *text, size_t len)
{
    if (check_size(ctx, name, len))
        return -1;
    ln_infile file = {.data = (const unsigned char *)text, .size = len};
    if (!ln_front_for(file.data, len))
        return init_model(ctx, name, &file);
    file.copy = ln_clone(text, len);
    file.name = ln_strdup(name);
    file.data = file.copy;
    const int status = file.copy && file.name ? init_model(ctx, name, &file) : ln_fail_last(ctx);
    ln_infile_close(&file);
    return status;
}

int ln_context_init_text(ln_context *ctx, const char *name, const char *text, size_t len)
{
    if (check_before_reading(ctx))
        return -1;
    ln_budget *const before = ln_limits_enter(ctx);
    return ln_limits_leave(ctx, before, init_text(ctx, name, text, len));
}

int ln_context_init_file(ln_context *ctx, const char *name, ln_infile *file)
{
    if (check_before_reading(ctx))
        return -1;
    ln_budget *const before = ln_limits_enter(ctx);
    return ln_limits_leave(ctx, before, init_model(ctx, name, file));
}

static int init_ir(ln_context *ctx, const char *name, const char *json, size_t len,
                   const ln_ir_places *places)
{
    ctx->source = ln_strdup(name);
    if (!ctx->source)
        return ln_fail_memory(ctx);
    if (check_size(ctx, name, len) || read_ir(ctx, name, json, len, places)) {
        ln_context_cleanup(ctx);
        return -1;
    }
    ln_bind_warn(ctx);
    return 0;
}

int ln_context_init_ir(ln_context *ctx, const char *name, const char *json, size_t len,
                       ln_place_func place, const void *data)
{
    const ln_ir_places places = {.find = place, .data = data};
    if (check_before_reading(ctx))
        return -1;
    ln_budget *const before = ln_limits_enter(ctx);
    return ln_limits_leave(ctx, before, init_ir(ctx, name, json, len, place ? &places : NULL));
}

// Before it is opened, which reads small files.
static int check_file(const ln_context *ctx, const char *source)
{
    struct stat about;
    return !stat(source, &about) && S_ISREG(about.st_mode)
               ? check_size(ctx, source, (size_t)about.st_size)
               : 0;
}

static int init_file(ln_context *ctx, const char *source)
{
    ln_infile file = {0};
    if (check_file(ctx, source) || ln_infile_open(&file, source, ctx->error))
        return -1;
    const int status = init_model(ctx, source, &file);
    ln_infile_close(&file);
    return status;
}

int ln_context_init(ln_context *ctx, const char *source)
{
    if (check_before_reading(ctx))
        return -1;
    ln_budget *const before = ln_limits_enter(ctx);
    return ln_limits_leave(ctx, before, init_file(ctx, source));
}

int ln_context_print(const ln_context *ctx, const char *outfile)
{
    ln_context_clear_error(ctx);
    return ln_ir_write_file(ctx, outfile);
}

void ln_context_cleanup(ln_context *ctx)
{
    ln_context_unload(ctx);
    ln_context_cleanup_ops(ctx);
    ln_bodies_free(ctx);
    ln_hash_clear(ctx->input_names);
    ln_hash_clear(ctx->output_names);
    ln_hash_clear(ctx->unique);
    ln_hash_clear(ctx->warned);
    ln_hash_clear(ctx->mutated);
    ln_fixed_clear(ctx->fixed);
    if (ctx->tuned && !ctx->outer) // the next model may be compiled with other settings
        ln_hash_clear(ctx->tuned);
    ln_list_free_deep(ctx->seen, ln_fixed_value_free);
    ctx->seen = NULL;
    ln_weights_free(ctx->weights);
    ln_weights_free(ctx->given);
    ctx->weights = ctx->given = NULL;
    ln_list_free_deep(ctx->inputs, ln_free);
    ln_list_free_deep(ctx->outputs, ln_free);
    ln_list_free_deep(ctx->rules, ln_free);
    ctx->inputs = ctx->outputs = ctx->rules = NULL;
    ctx->last_input = ctx->last_output = NULL;
    ln_free(ctx->source);
    ln_free(ctx->target);
    ctx->source = ctx->target = NULL;
    ctx->declared = 0;
    memset(ctx->mem_sizes, 0, sizeof(ctx->mem_sizes));
    ln_limits_reset(ctx);
}

int ln_context_set_threads(ln_context *ctx, int n)
{
    ln_context_clear_error(ctx);
    if (n < 0 || n > TL_MOST_THREADS)
        return ln_fail(ctx, "%d threads asked for, expected 1 to %d, or 0 for all cores", n,
                       TL_MOST_THREADS);
    if (ln_context_is_loaded(ctx))
        return ln_fail(ctx, "the context is loaded; unload it to change the number of threads");
    ctx->threads = n;
    return 0;
}

// The number of threads where none was set: -1 with a reason.
static int threads_of_environment(const ln_context *ctx)
{
    const char *env = getenv("LIGHTNET_NUM_THREADS");
    char *end;
    if (!env || !*env)
        return 1;
    const long n = strtol(env, &end, 10);
    if (end == env || *end || n < 0 || n > INT_MAX)
        return ln_fail(ctx, "LIGHTNET_NUM_THREADS is '%s', expected a number of threads", env);
    return (int)n;
}

int ln_context_threads(const ln_context *ctx, int *n)
{
    const int wanted = ctx->threads == NOT_SET ? threads_of_environment(ctx) : ctx->threads;
    if (wanted < 0)
        return -1;
    *n = wanted ? wanted : tl_cpu_count();
    return 0;
}

int ln_context_start_threads(ln_context *ctx)
{
    int n = 1;
    if (ln_context_threads(ctx, &n))
        return -1;
    if (tl_pool_size(ctx->pool) == n)
        return 0;
    tl_pool_free(ctx->pool);
    ctx->pool = n == 1 ? NULL : tl_pool_create(n);
    return ctx->pool || n == 1 ? 0 : ln_fail_tl(ctx);
}

void ln_context_set_seed(ln_context *ctx, uint64_t seed)
{
    ctx->seed = seed;
}

// Returns 1 for a rule that there is; else 0 and in *closest one that it may be meant for, or NULL.
static int is_known_rule(const char *rule, const char **closest)
{
    const ln_arch *arch;
    *closest = NULL;
    LN_LIST_FOREACH(arch, ln_arch_list())
    {
        for (const char **name = arch->rule_names; name && *name; name++) {
            if (ln_streq(*name, rule))
                return 1;
            *closest = ln_closer_name(rule, *closest, *name);
        }
    }
    return 0;
}

// What decides how a model is compiled comes before that.
static int check_uncompiled(ln_context *ctx)
{
    return ctx->target ? ln_fail(ctx, "the model is compiled already, for '%s'", ctx->target) : 0;
}

int ln_context_disable_rule(ln_context *ctx, const char *rule)
{
    ln_context_clear_error(ctx);
    if (check_uncompiled(ctx))
        return -1;
    const char *closest;
    if (!is_known_rule(rule, &closest))
        return closest ? ln_fail(ctx, "there is no rule '%s'; did you mean '%s'?", rule, closest)
                       : ln_fail(ctx, "there is no rule '%s'", rule);
    return push_name(ctx, &ctx->disabled, rule);
}

void ln_context_set_reference(ln_context *ctx)
{
    ctx->optimize = 0;
    ctx->isa = TL_ISA_C;
}

void ln_context_keep_all(ln_context *ctx)
{
    ctx->keep = 1;
}

int ln_context_set_tuning(ln_context *ctx)
{
    ln_context_clear_error(ctx);
    if (check_uncompiled(ctx))
        return -1;
    if (!ctx->tuned)
        ctx->tuned = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
    return ctx->tuned ? 0 : ln_fail_last(ctx);
}

int ln_context_add_output(ln_context *ctx, const char *tname)
{
    ln_context_clear_error(ctx);
    if (!ln_tensor_table_find(ctx->tensor_table, tname))
        return ln_fail(ctx, "the model has no tensor '%s'", tname);
    if (ctx->target)
        return ln_fail(ctx, "the model is compiled already, for '%s': '%s' cannot become an output",
                       ctx->target, tname);
    if (ln_context_is_output(ctx, tname))
        return 0;
    return ln_context_push_output(ctx, tname);
}

int ln_context_is_output(const ln_context *ctx, const char *tname)
{
    return ln_hash_find(ctx->output_names, tname) != NULL;
}

int ln_context_num_uses(const ln_context *ctx, const char *tname)
{
    return ln_dfg_num_readers(ctx->dfg, tname) + ln_context_is_output(ctx, tname);
}

const tl_tensor *ln_context_weight(const ln_context *ctx, const char *tname)
{
    const ln_weight *weight = ln_weights_find(ctx->weights, tname);
    return weight ? ln_weight_tensor(weight, ctx->error) : NULL;
}

ln_op *ln_context_creater(const ln_context *ctx, const char *tname)
{
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tname);
    return te && te->creater ? ln_op_table_find(ctx->op_table, te->creater) : NULL;
}

int ln_context_is_mutated(const ln_context *ctx, const char *tname)
{
    return ln_hash_find_extended(ctx->mutated, tname, NULL, NULL);
}

int ln_context_unique_name(const ln_context *ctx, char *buf, const char *prefix)
{
    size_t number = (size_t)ln_hash_find(ctx->unique, prefix);
    int len;
    do {
        len = snprintf(buf, LN_MAX_NAME_LEN, "%s_%zu", prefix, number++);
        if (len < 0 || len >= LN_MAX_NAME_LEN)
            return ln_fail(ctx, "a name made from '%.64s...' is longer than %d bytes", prefix,
                           LN_MAX_NAME_LEN - 1);
    } while (ln_op_table_find(ctx->op_table, buf) || ln_tensor_table_find(ctx->tensor_table, buf));
    char *key = ln_strdup(prefix);
    if (!key || ln_hash_insert(ctx->unique, key, (void *)number) < 0) {
        ln_free(key);
        return ln_fail_memory(ctx);
    }
    return 0;
}
