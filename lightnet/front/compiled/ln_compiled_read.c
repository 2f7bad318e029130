// SPDX-License-Identifier: Apache-2.0
// Reads a compiled model in one file with its weights: the header at once, the weights when it is
// loaded.
//
// The form of the weights depends only on the version of the format, not on the CPU: a model that
// was compiled for features that this CPU lacks runs with other kernels, with a warning.

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "data/ln_compiled_file.h"
#include "data/ln_data_give.h"
#include "data/ln_safetensors.h"
#include "front/compiled/ln_programs.h"
#include "front/ln_front.h"
#include "ir/ln_context_ops.h"
#include "lightnet/ln_arch.h"
#include "tensorlight/tl_exec.h"

// A file whose header would have 2^40 bytes or more is text with a brace at that offset.
static int is_compiled(const unsigned char *data, size_t size)
{
    const ln_infile in = {.data = data, .size = size};
    return ln_safetensors_is(&in) && !data[5] && !data[6] && !data[7];
}

static int check_version(const ln_context *ctx, const ln_safetensors *st, const char *name)
{
    const char *text = ln_safetensors_metadata(st, LN_COMPILED_KEY_VERSION);
    const char *by = ln_safetensors_metadata(st, LN_COMPILED_KEY_BY);
    if (!text)
        return ln_fail(ctx,
                       "%s: safetensors without the metadata '%s': weights, expected a model; give "
                       "them beside their model",
                       name, LN_COMPILED_KEY_VERSION);
    char *end;
    const long version = strtol(text, &end, 10);
    if (end == text || *end || version < 1)
        return ln_fail(ctx, "%s: metadata '%s' is '%.32s', expected the version of the format",
                       name, LN_COMPILED_KEY_VERSION, text);
    if (version < LN_COMPILED_ONE_PROGRAM || version > LN_COMPILED_VERSION)
        return ln_fail(ctx,
                       "%s: compiled by %s LightNet (%.32s) in version %.32s of the format, "
                       "expected %d or %d; compile the model again with this one",
                       name, version < LN_COMPILED_ONE_PROGRAM ? "an older" : "a newer",
                       by ? by : "unknown", text, LN_COMPILED_ONE_PROGRAM, LN_COMPILED_VERSION);
    return 0;
}

static int check_isa(const ln_context *ctx, const ln_safetensors *st, const char *name)
{
    const char *text = ln_safetensors_metadata(st, LN_COMPILED_KEY_ISA);
    const tl_isa isa = text ? tl_isa_from_str(text) : TL_ISA_C;
    if (isa == TL_ISA_INVALID)
        return ln_fail(ctx,
                       "%s: compiled for a CPU with '%.32s', which this LightNet does not support; "
                       "compile the model again",
                       name, text);
    if (!tl_isa_is_usable(isa))
        ln_warn(ctx,
                "%s: compiled for a CPU with %s, runs with the kernels of this one, %s; compile "
                "the model again for the best choices",
                name, text, tl_isa_name(tl_isa_best()));
    return 0;
}

static int read_ir(ln_context *ctx, const ln_safetensors *st, const char *key, const char *name)
{
    const char *ir = ln_safetensors_metadata(st, key);
    if (!ir)
        return ln_fail(ctx, "%s: the metadata has no '%s'", name, key);
    if (ln_context_read_ir(ctx, name, ir, strlen(ir)))
        return -1;
    if (!ctx->target)
        return ln_fail(ctx, "%s: the model in '%s' is not compiled", name, LN_COMPILED_KEY_IR);
    if (!ln_hash_find(LN_ARCH.arch_table, ctx->target))
        return ln_fail(ctx, "%s: compiled for '%s', an unknown target", name, ctx->target);
    return 0;
}

// A parsed file, shared by the contexts that have its tensors.
typedef struct parsed {
    atomic_int refs; // of the model and of contexts
    ln_safetensors *st;
    ln_programs programs;
} parsed;

static void drop(void *data)
{
    parsed *p = data;
    if (!p || atomic_fetch_sub(&p->refs, 1) > 1)
        return;
    ln_programs_clear(&p->programs);
    ln_safetensors_close(p->st);
    ln_free(p);
}

static void *parse(const ln_context *ctx, const char *name, ln_infile *file)
{
    parsed *p = ln_alloc(sizeof(*p));
    if (!p)
        return ln_error_memory_at(ctx->error, name), NULL;
    atomic_init(&p->refs, 1);
    p->st = ln_safetensors_from_file(file, name, ctx->error);
    if (p->st && !check_version(ctx, p->st, name) &&
        !ln_programs_read(&p->programs, p->st, name, ctx->error))
        return p;
    drop(p);
    return NULL;
}

static int build(ln_context *ctx, const char *name, const void *data)
{
    parsed *p = (parsed *)data; // only its references change
    const ln_compiled_program *program = ln_programs_choose(&p->programs, ctx, name);
    if (!program || check_isa(ctx, p->st, name) || read_ir(ctx, p->st, program->ir, name))
        return -1;
    atomic_fetch_add(&p->refs, 1);
    return ln_data_give_own(ctx, program->tensors, p, drop, name);
}

static int read_compiled(ln_context *ctx, const char *name, ln_infile *file)
{
    parsed *p = parse(ctx, name, file);
    const int status = p ? build(ctx, name, p) : -1;
    drop(p);
    return status;
}

static int describe(const ln_context *ctx, const char *name, const void *data,
                    ln_interface *interface)
{
    const parsed *p = data;
    if (!p->programs.of[0].interface)
        return 1;
    return ln_programs_describe(&p->programs, interface) ? ln_error_memory_at(ctx->error, name) : 0;
}

static int check(const ln_context *ctx, const char *name, const void *data,
                 const ln_interface *interface)
{
    const parsed *p = data;
    return ln_programs_check(&p->programs, interface, ctx, name);
}

const ln_front ln_front_compiled = {
    .format = "compiled model",
    .is = is_compiled,
    .reads_parts = 1,
    .is_compiled = 1,
    .read = read_compiled,
    .parse = parse,
    .build = build,
    .describe = describe,
    .check = check,
    .drop = drop,
};
