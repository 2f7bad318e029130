// SPDX-License-Identifier: Apache-2.0
// Detects kinds of files: those that LightNet reads, and others.

#include <stddef.h>

#include "base/ln_infile.h"
#include "data/ln_compiled_file.h"
#include "data/ln_safetensors.h"
#include "front/ln_front.h"
#include "lightnet/ln_content.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_data.h"
#include "lightnet/ln_util.h"

/* Formats of front ends. */
static const struct kind {
    const char *format, *name;
} kinds[] = {
    {"ONNX", "an ONNX model"},
    {"NNVM", "an NNVM graph"},
    {"IL", "an IL model"},
};

static const char *kind_of_front(const ln_front *front)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (ln_streq(kinds[i].format, front->format))
            return kinds[i].name;
    return "a model";
}

// Takes the open file. A compiled model is a safetensors file that says so.
static const char *kind_of_safetensors(ln_infile *in, const char *file)
{
    ln_error err;
    ln_error_clear(&err);
    ln_safetensors *st = ln_safetensors_from_file(in, file, &err);
    const char *kind = "weights";
    *in = (ln_infile){0};
    if (!st)
        return NULL;
    if (ln_safetensors_metadata(st, LN_COMPILED_KEY_VERSION))
        kind = "a compiled model";
    ln_safetensors_close(st);
    return kind;
}

static const char *kind_of_file(ln_infile *in, const char *file, ln_error *err)
{
    const char *name;
    const ln_front *front;
    size_t size;
    const unsigned char *head = ln_infile_head(in, &size);
    if (ln_content_of(head, size, &name))
        return name;
    if (ln_front_of(in, &front, err) || !front)
        return NULL;
    return ln_streq(front->format, "compiled model") ? kind_of_safetensors(in, file)
                                                     : kind_of_front(front);
}

const char *ln_file_kind(const char *file)
{
    ln_infile in = {0};
    ln_error err;
    ln_error_clear(&err);
    if (ln_infile_open(&in, file, &err))
        return NULL;
    const char *kind = kind_of_file(&in, file, &err);
    ln_infile_close(&in);
    return kind;
}
