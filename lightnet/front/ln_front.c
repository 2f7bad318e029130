// SPDX-License-Identifier: Apache-2.0
// Front ends: readers of the model formats other than JSON IR.

#include "front/ln_front.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_il_look.h"
#include "base/ln_list_end.h"
#include "base/ln_protobuf.h"
#include "data/ln_compiled_file.h"
#include "data/ln_safetensors.h"
#include "lightnet/ln_content.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_data.h"
#include "lightnet/ln_util.h"

// The IR's format, which has no front end.
static const char ir_format[] = "JSON IR";

static ln_list *fronts;

int ln_front_register(const ln_front *front)
{
    return ln_list_add(&fronts, (void *)front, NULL);
}

const ln_list *ln_front_list(void)
{
    return fronts;
}

const ln_front *ln_front_for(const unsigned char *data, size_t size)
{
    LN_FOREACH (const ln_front *, front, fronts)
        if (front->is(data, size))
            return front;
    return NULL;
}

static const ln_front *find_reader_of_parts(const ln_infile *file)
{
    size_t size;
    const unsigned char *head = ln_infile_head(file, &size);
    LN_FOREACH (const ln_front *, front, fronts)
        if (front->reads_parts && front->is(head, size))
            return front;
    return NULL;
}

// Files that are not models

static const char *const advice[] = {
    [LN_CONTENT_UNKNOWN] = "",
    [LN_CONTENT_INPUT] = ", expected a model",
    [LN_CONTENT_WEIGHTS] = ", expected a model",
    [LN_CONTENT_MODEL] = ", which LightNet does not read; convert it to ONNX first",
    [LN_CONTENT_ARCHIVE] = ", expected a model; unpack it first",
    [LN_CONTENT_OTHER] = ", expected a model",
    [LN_CONTENT_DOWNLOAD] = ", expected a model; download the file again",
};

char *ln_sprint_formats(char *buf, size_t size)
{
    size_t len = (size_t)snprintf(buf, size, "%s", ir_format);
    LN_FOREACH (const ln_front *, front, fronts)
        if (len < size)
            len += (size_t)snprintf(buf + len, size - len, ", %s", front->format);
    return buf;
}

int ln_format_operator_at(size_t i, ln_format_operator *op)
{
    LN_FOREACH (const ln_front *, front, fronts)
        if (front->operator_at && front->operator_at(i, op))
            return 1;
    return 0;
}

// Accepts white space alone: the parser reports that it is empty.
static int begins_like_json(const unsigned char *data, size_t size)
{
    size_t i = 0;
    while (i < size && isspace(data[i]))
        i++;
    return i == size || isdigit(data[i]) || (data[i] && strchr("{[\"-", data[i]));
}

// Formats that a build may be without.
static const struct {
    const char *format, *what;
    int (*is)(const unsigned char *data, size_t size);
} optional[] = {
    {"ONNX", "an ONNX model", ln_protobuf_is_onnx_model},
    {"IL", "a model in LightNet's intermediate language", ln_il_look},
};

static int fail_unrecognised(const ln_context *ctx, const char *name, const unsigned char *data,
                             size_t size)
{
    char formats[LN_MAXLINE];
    for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++) {
        if (optional[i].is(data, size)) // its front end would have accepted the bytes
            return ln_fail_as(ctx, LN_UNSUPPORTED,
                              "%s: this is %s, but this build of LightNet does not support %s",
                              name, optional[i].what, optional[i].format);
    }
    const char *what = ln_protobuf_is_message(data, size)
                           ? "a Protocol Buffers message, but not an ONNX model; "
                           : "";
    return ln_fail(ctx, "%s: %sno model format recognised; tried %s", name, what,
                   ln_sprint_formats(formats, sizeof(formats)));
}

// Fails with a description of the bytes if they are not a model.
static int check_content(const char *name, const unsigned char *data, size_t size, ln_error *err)
{
    const char *what;
    const ln_content content = ln_content_of(data, size, &what);
    return content ? ln_error_set(err, "%s: this is %s%s", name, what, advice[content]) : 0;
}

int ln_front_check(const ln_context *ctx, const char *name, const ln_front *front,
                   const unsigned char *data, size_t size)
{
    if (check_content(name, data, size, ctx->error))
        return -1;
    return front || begins_like_json(data, size) ? 0 : fail_unrecognised(ctx, name, data, size);
}

// Opening

// The max size of a binary file of unknown format that is read to describe it in a message.
static const size_t max_binary = (size_t)64 << 20;

int ln_front_of(ln_infile *file, const ln_front **front, ln_error *err)
{
    *front = file->data ? NULL : find_reader_of_parts(file);
    if (*front)
        return 0;
    size_t size;
    char formats[LN_MAXLINE];
    const unsigned char *head = ln_infile_head(file, &size);
    // Other formats are text, which has no NUL: a larger file with one is not a model.
    if (!file->data && file->size > max_binary && memchr(head, '\0', size))
        return check_content(file->name, head, size, err)
                   ? -1
                   : ln_error_set(err, "%s: no model format recognised; tried %s", file->name,
                                  ln_sprint_formats(formats, sizeof(formats)));
    if (!file->data && file->size > LN_MAX_TEXT)
        return ln_error_set(err, "%s: the text has %zu bytes, expected at most %zu", file->name,
                            file->size, LN_MAX_TEXT);
    if (ln_infile_load(file, err))
        return -1;
    *front = ln_front_for(file->data, file->size);
    return 0;
}

// Kinds of files

static const struct {
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

// Takes the open file. A compiled model is a safetensors file with metadata that marks it.
static const char *kind_of_safetensors(ln_infile *in, const char *file)
{
    ln_error err = {0};
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
    ln_error err = {0};
    if (ln_infile_open(&in, file, &err))
        return NULL;
    const char *kind = kind_of_file(&in, file, &err);
    ln_infile_close(&in);
    return kind;
}

// After main, so that leak checkers see only real leaks.
__attribute__((destructor)) static void free_fronts(void)
{
    ln_list_free(fronts);
    fronts = NULL;
}
