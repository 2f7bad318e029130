// SPDX-License-Identifier: Apache-2.0
// Writing a compiled model as one file: its IR is text in the metadata of its weights.

#include <stdio.h>
#include <stdlib.h>

#include "base/ln_outtext.h"
#include "data/ln_compiled_file.h"
#include "data/ln_data_give.h"
#include "data/ln_json.h"
#include "data/ln_safetensors.h"
#include "front/compiled/ln_merge.h"
#include "front/json/ln_ir_json.h"
#include "front/ln_interface.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_from_file.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_util.h"
#include "lightnet/ln_version.h"
#include "pass/ln_rewriting.h"

// The metadata

static int write_ir(FILE *stream, const void *ctx, ln_error *err)
{
    (void)err; // the reason is in the context
    return ln_ir_write(ctx, stream);
}

// Returns new (free); NULL with the reason in the context.
static char *ir_of(const ln_context *ctx)
{
    size_t len;
    return ln_outtext(write_ir, ctx, &len, ctx->error);
}

// Numbers of metadata texts, keys and values: of all files, of each program, of several programs.
enum { N_COMMON = 6, N_PER_PROGRAM = 2, N_OF_PROGRAMS = 2 };

static void put_common(const char **metadata, const ln_context *ctx, const char *version)
{
    const char *const common[N_COMMON] = {
        LN_COMPILED_KEY_VERSION, version,    LN_COMPILED_KEY_ISA, tl_isa_name(ctx->isa),
        LN_COMPILED_KEY_BY,      LN_VERSION,
    };
    for (int i = 0; i < N_COMMON; i++)
        metadata[i] = common[i];
}

// One program

static int write_file(const ln_context *ctx, const char *file)
{
    char version[16];
    const char *metadata[N_COMMON + N_PER_PROGRAM + 1] = {NULL};
    char *ir = ir_of(ctx);
    snprintf(version, sizeof(version), "%d", LN_COMPILED_ONE_PROGRAM);
    put_common(metadata, ctx, version);
    metadata[N_COMMON] = LN_COMPILED_KEY_IR;
    metadata[N_COMMON + 1] = ir;
    const int status = ir ? ln_data_save_with(ctx, metadata, file) : -1;
    free(ir);
    return status;
}

static int check(const ln_context *ctx)
{
    if (!ctx->target)
        return ln_fail(ctx, "the model is not compiled");
    return ln_context_is_loaded(ctx)
               ? ln_fail(ctx, "the context is loaded; unload it to save the model")
               : 0;
}

int ln_context_save(ln_context *ctx, const char *datafile, const char *file)
{
    ln_context_clear_error(ctx);
    if (check(ctx))
        return -1;
    ln_budget *const before = ln_limits_enter(ctx);
    const int status = -(ln_freeze(ctx, datafile) || write_file(ctx, file));
    return ln_limits_leave(ctx, before, status);
}

// Several programs

typedef struct program {
    ln_context *ctx;
    char key[32]; // the metadata key of the IR
    char *ir;
    ln_interface *interface;
    ln_hash *stored; // its tensors -> where they are in the merge, from 1
} program;

typedef struct saving {
    program *programs;
    int n;
    ln_merge merge;
} saving;

static int print_size(FILE *fp, const ln_port *port, int axis, ln_error *err)
{
    const int is_open = port->dims[axis] < 0;
    fprintf(fp, "%s[%d,%d,", axis ? "," : "", is_open ? port->min[axis] : port->dims[axis],
            is_open ? port->max[axis] : port->dims[axis]);
    if (!port->dim_names[axis])
        fputs("null", fp);
    else if (ln_json_write_string(fp, port->dim_names[axis], err))
        return -1;
    fputc(']', fp);
    return 0;
}

static int print_port(FILE *fp, const ln_port *port, ln_error *err)
{
    fputs("{\"name\":", fp);
    if (ln_json_write_string(fp, port->name, err))
        return -1;
    fprintf(fp, ",\"dtype\":\"%s\",\"sizes\":[", tl_dtype_name(port->info.dtype));
    for (int i = 0; i < port->info.ndim; i++)
        if (print_size(fp, port, i, err))
            return -1;
    fputs("]}", fp);
    return 0;
}

static int print_ports(FILE *fp, const char *key, ln_port *const *ports, size_t n, ln_error *err)
{
    fprintf(fp, ",\"%s\":[", key);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? "," : "", fp);
        if (print_port(fp, ports[i], err))
            return -1;
    }
    fputc(']', fp);
    return 0;
}

// Writes the tensors in the order of the operators, so that equal models have equal bytes.
static int print_tensors(FILE *fp, const saving *s, const program *p, ln_error *err)
{
    int n = 0;
    fputs(",\"tensors\":{", fp);
    LN_FOREACH (const ln_op *, op, p->ctx->ops) {
        const char *name = ln_from_file_name(op);
        const size_t position = name ? (size_t)ln_hash_find(p->stored, name) : 0;
        if (!position)
            continue;
        fputs(n++ ? "," : "", fp);
        if (ln_json_write_string(fp, name, err))
            return -1;
        fputc(':', fp);
        if (ln_json_write_string(fp, s->merge.names[position - 1], err))
            return -1;
    }
    fputc('}', fp);
    return 0;
}

static int print_programs(FILE *fp, const void *arg, ln_error *err)
{
    const saving *s = arg;
    fputc('[', fp);
    for (int i = 0; i < s->n; i++) {
        const program *const p = &s->programs[i];
        fprintf(fp, "%s{\"ir\":\"%s\"", i ? ",\n" : "", p->key);
        if (print_ports(fp, "inputs", p->interface->inputs, p->interface->n_inputs, err) ||
            print_ports(fp, "outputs", p->interface->outputs, p->interface->n_outputs, err) ||
            print_tensors(fp, s, p, err))
            return -1;
        fputc('}', fp);
    }
    fputc(']', fp);
    return 0;
}

static int write_with(const saving *s, const char **metadata, const char *programs,
                      const char *file)
{
    char version[16];
    const ln_context *first = s->programs[0].ctx;
    snprintf(version, sizeof(version), "%d", LN_COMPILED_VERSION);
    put_common(metadata, first, version);
    metadata += N_COMMON;
    *metadata++ = LN_COMPILED_KEY_PROGRAMS;
    *metadata++ = programs;
    for (int i = 0; i < s->n; i++) {
        *metadata++ = s->programs[i].key;
        *metadata++ = s->programs[i].ir;
    }
    metadata -= N_COMMON + N_OF_PROGRAMS + (size_t)s->n * N_PER_PROGRAM;
    return ln_safetensors_write_weights(file, s->merge.n, s->merge.names,
                                        (const tl_tensor *const *)s->merge.tensors,
                                        s->merge.weights, metadata, first->error);
}

static int write_all(const saving *s, const char *file)
{
    const ln_context *first = s->programs[0].ctx;
    size_t len;
    char *programs = ln_outtext(print_programs, s, &len, first->error);
    const char **metadata = ln_alloc_array(
        N_COMMON + N_OF_PROGRAMS + (size_t)s->n * N_PER_PROGRAM + 1, sizeof(const char *));
    const int status = !metadata   ? ln_fail_memory(first)
                       : !programs ? -1
                                   : write_with(s, metadata, programs, file);
    ln_free(metadata);
    free(programs);
    return status;
}

static int prepare(saving *s, program *p, const char *datafile)
{
    p->interface = ln_interface_create();
    if (!p->interface)
        return ln_fail_memory(p->ctx);
    if (ln_freeze(p->ctx, datafile) || ln_interface_fill(p->interface, p->ctx) ||
        ln_merge_add(&s->merge, p->ctx, &p->stored))
        return -1;
    p->ir = ir_of(p->ctx);
    return p->ir ? 0 : -1;
}

static int prepare_limited(saving *s, program *p, const char *datafile)
{
    ln_context_clear_error(p->ctx);
    if (check(p->ctx))
        return -1;
    ln_budget *const before = ln_limits_enter(p->ctx);
    return ln_limits_leave(p->ctx, before, prepare(s, p, datafile));
}

static int save_all(saving *s, ln_context *const *programs, const char *datafile, const char *file)
{
    for (int i = 0; i < s->n; i++) {
        program *p = &s->programs[i];
        p->ctx = programs[i];
        snprintf(p->key, sizeof(p->key), i ? LN_COMPILED_KEY_IR ".%d" : LN_COMPILED_KEY_IR, i + 1);
        if (!prepare_limited(s, p, datafile))
            continue;
        // Errors go to the first context, which the caller checks.
        return i ? ln_fail_as(programs[0], ln_error_status(p->ctx->error), "%s",
                              ln_context_error(p->ctx))
                 : -1;
    }
    return write_all(s, file);
}

int ln_context_save_all(ln_context *const *programs, int n, const char *datafile, const char *file)
{
    if (n == 1)
        return ln_context_save(programs[0], datafile, file);
    saving s = {.programs = ln_alloc_array((size_t)n, sizeof(program)), .n = n};
    const int status =
        s.programs ? save_all(&s, programs, datafile, file) : ln_fail_memory(programs[0]);
    for (int i = 0; i < n && s.programs; i++) {
        free(s.programs[i].ir);
        ln_interface_free(s.programs[i].interface);
        ln_hash_free(s.programs[i].stored);
    }
    ln_free(s.programs);
    ln_merge_clear(&s.merge);
    return status;
}
