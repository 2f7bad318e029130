// SPDX-License-Identifier: Apache-2.0
// Input arguments: -i [NAME=]FILE, by name or in the model's order.

#include "input/cli_given.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli_options.h"
#include "input/cli_npz.h"
#include "input/cli_preprocess.h"
#include "input/cli_source.h"
#include "lightnet/lightnet.h"
#include "lightnet/ln_content.h"
#include "lightnet/ln_input.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"
#include "output/cli_compare.h"
#include "output/cli_guard.h"
#include "output/cli_msg.h"
#include "tensorlight/tl_type.h"

// The '=' of "NAME=FILE": the first one before the name of an existing file, since a NAME may
// contain '=', else the first one; or NULL.
static const char *find_equals(const char *arg)
{
    const char *first = strchr(arg, '='), *equals = first;
    while (equals && !cli_source_is_stdin(equals + 1) && !cli_npz_exists(equals + 1))
        equals = strchr(equals + 1, '=');
    return equals ? equals : first;
}

const char *cli_given_split(const char *arg, char name[LN_MAX_NAME_LEN])
{
    const char *equals = find_equals(arg);
    if (!equals || equals - arg >= LN_MAX_NAME_LEN || !access(arg, F_OK))
        return NULL;
    memcpy(name, arg, (size_t)(equals - arg));
    name[equals - arg] = '\0';
    return equals + 1;
}

int cli_given_is_named(const cli_options *opt, int n, const char *input)
{
    char name[LN_MAX_NAME_LEN];
    const size_t len = strlen(input);
    for (int i = 0; i < n; i++) {
        const char *const arg = opt->inputs.items[i];
        // Compares the text first, as cli_given_split accesses files.
        if (!strncmp(arg, input, len) && arg[len] == '=' && cli_given_split(arg, name) &&
            !strcmp(name, input))
            return 1;
    }
    return 0;
}

const char *cli_given_next(const cli_options *opt, int *i)
{
    char name[LN_MAX_NAME_LEN];
    while (*i < opt->inputs.n) {
        const char *arg = opt->inputs.items[(*i)++];
        if (!cli_given_split(arg, name))
            return arg;
    }
    return NULL;
}

// Longer than the signature of any image format.
enum { HEAD_SIZE = 64 };

// Reads the first bytes of the file. Returns their number; 0: the file cannot be read.
static size_t read_head(const char *file, char head[HEAD_SIZE])
{
    FILE *stream = fopen(file, "rbe");
    const size_t size = stream ? fread(head, 1, HEAD_SIZE, stream) : 0;
    if (stream)
        fclose(stream);
    return size;
}

static int begins_like_image(const char *file)
{
    char head[HEAD_SIZE];
    return ln_image_is_image(head, read_head(file, head));
}

// Whether the file is an array. Unknown formats are not: they may be broken images, which reading
// reports.
static int is_array(const char *file)
{
    char head[HEAD_SIZE];
    const char *const suffix = cli_guard_suffix(file), *name;
    const size_t size = read_head(file, head);
    return !strcmp(suffix, ".bin") || !strcmp(suffix, ".pb") || !strcmp(suffix, ".npz") ||
           (!ln_image_is_image(head, size) && ln_content_of(head, size, &name) == LN_CONTENT_INPUT);
}

static tl_tensor *read_like(const cli_options *opt, const char *file, const tl_tensor *like,
                            ln_error *err)
{
    const ln_image_format format = cli_preprocess_format(opt, like);
    struct stat st;
    if (!*file)
        return ln_error_set(err, "the file name is empty, expected [NAME=]FILE"), NULL;
    char path[LN_MAXLINE];
    const char *array;
    if (cli_npz_split(file, path, &array))
        return cli_npz_read(path, array, like, err);
    tl_tensor *t =
        ln_input_read(cli_source_is_stdin(file) ? "/dev/stdin" : file, like, &format, err);
    const int is_image = t && !stat(file, &st) && S_ISREG(st.st_mode) && begins_like_image(file);
    if (is_image && cli_preprocess_check(opt, file, &format, t, err)) {
        tl_tensor_free_data_too(t);
        return NULL;
    }
    if (is_image && opt->images.photo)
        cli_preprocess_note(opt, file, &format, t);
    return t;
}

// Reading with limits

// The arguments and the result of reading one file.
typedef struct reading {
    const cli_options *opt;
    const char *file;
    const tl_tensor *like;
    tl_tensor *tensor;
    tl_tensor **tensors; // of a sequence
    int n;
} reading;

static int do_read_like(ln_context *ctx, void *data)
{
    reading *r = data;
    r->tensor = read_like(r->opt, r->file, r->like, ctx->error);
    return r->tensor ? 0 : -1;
}

static int do_read_whole(ln_context *ctx, void *data)
{
    reading *r = data;
    r->tensor = cli_npz_read_whole(r->file, ctx->error);
    return r->tensor ? 0 : -1;
}

// An array, converted to the type of the input.
static int do_read_array(ln_context *ctx, reading *r)
{
    if (do_read_whole(ctx, r))
        return -1;
    tl_tensor like = *r->tensor;
    like.dtype = r->like->dtype;
    r->tensor = ln_input_fit(r->file, r->tensor, &like, ctx->error);
    return r->tensor ? 0 : -1;
}

// A file without a shape.
static int do_read_shapeless(ln_context *ctx, reading *r, int ndim, const int *dims)
{
    tl_tensor *const like = tl_tensor_create(NULL, ndim, dims, r->like->dtype);
    ln_context_clear_error(ctx);
    r->tensor = like ? read_like(r->opt, r->file, like, ctx->error) : NULL;
    if (!like)
        ln_error_set(ctx->error, "%s: %s", r->file, tl_last_error());
    tl_tensor_free(like);
    return r->tensor ? 0 : -1;
}

static int do_read_open(ln_context *ctx, void *data)
{
    reading *r = data;
    int dims[LN_MAXDIM];
    // A stream can be read once only, and an array in it has to have the shape of an image.
    const int status =
        cli_source_is_stream(r->file)
            ? ln_error_set_as(ctx->error, LN_BAD_ARGUMENT, "the shape of a stream is unknown")
            : do_read_array(ctx, r);
    const int has_shape = !status || ln_error_status(ctx->error) != LN_BAD_ARGUMENT;
    const int ndim = has_shape ? 0 : cli_preprocess_shape(r->opt, r->like, dims);
    return ndim ? do_read_shapeless(ctx, r, ndim, dims) : status;
}

static int do_read_sequence(ln_context *ctx, void *data)
{
    reading *r = data;
    r->tensors = ln_input_read_sequence(r->file, &r->n, ctx->error);
    return r->tensors ? 0 : -1;
}

// Reads in a context of its own, for --max-memory and --max-seconds: a session does not apply its
// limits to input files. Sets `err` on failure.
static void read_limited(reading *r, int (*read)(ln_context *ctx, void *data), ln_error *err)
{
    ln_context *ctx = ln_context_create();
    if (!ctx) {
        ln_error_set(err, "%s: %s", r->file, ln_last_error());
        return;
    }
    ln_context_set_limit(ctx, LN_LIMIT_MEMORY, r->opt->limits.memory);
    ln_context_set_limit(ctx, LN_LIMIT_TIME, cli_options_time_left(r->opt));
    if (ln_context_do(ctx, read, r))
        ln_error_set_as(err, ln_error_status(ctx->error), "%s", ln_error_text(ctx->error));
    ln_context_free(ctx);
}

tl_tensor *cli_given_read(const cli_options *opt, const char *file, const tl_tensor *like,
                          ln_error *err)
{
    reading r = {.opt = opt, .file = file, .like = like};
    read_limited(&r, do_read_like, err);
    return r.tensor;
}

tl_tensor *cli_given_read_whole(const cli_options *opt, const char *file, ln_error *err)
{
    reading r = {.opt = opt, .file = file};
    read_limited(&r, do_read_whole, err);
    return r.tensor;
}

tl_tensor *cli_given_read_open(const cli_options *opt, const char *file, const tl_tensor *info,
                               ln_error *err)
{
    reading r = {.opt = opt, .file = file, .like = info};
    read_limited(&r, do_read_open, err);
    return r.tensor;
}

tl_tensor **cli_given_read_sequence(const cli_options *opt, const char *file, int *n, ln_error *err)
{
    reading r = {.opt = opt, .file = file};
    read_limited(&r, do_read_sequence, err);
    *n = r.n;
    return r.tensors;
}

int cli_given_fail_unknown(const char *source, const char *arg, const char *name,
                           const char *inputs)
{
    return cli_fail("%s: '-i %s': the model has no input '%s'; its inputs: %s", source, arg, name,
                    inputs);
}

int cli_given_fail_duplicate(const char *source, const char *arg, const char *name)
{
    return cli_fail("%s: '-i %s': duplicate input '%s'", source, arg, name);
}

int cli_given_fail_surplus(const char *source, const char *arg, int n)
{
    return cli_fail("%s: unexpected '-i %s': the model has %d input%s", source, arg, n,
                    n == 1 ? "" : "s");
}

// NaN propagates to outputs, and is rarely intended in an input.
int cli_given_has_nan(char *text, const char *file, const char *name, const tl_tensor *t)
{
    int n = 0;
    for (int i = 0; i < t->len && tl_dtype_is_float(t->dtype); i++)
        n += isnan(cli_element(t, i));
    if (n == t->len)
        snprintf(text, LN_MAXLINE, "%s: all %d elements of input '%s' are NaN", file, n, name);
    else
        snprintf(text, LN_MAXLINE, "%s: %d of %d elements of input '%s' are NaN", file, n, t->len,
                 name);
    return n > 0;
}

// Swapped arguments

int cli_given_is_input(const char *file)
{
    char head[HEAD_SIZE];
    const char *name;
    return ln_content_of(head, read_head(file, head), &name) == LN_CONTENT_INPUT;
}

static int is_model(const char *file)
{
    char head[HEAD_SIZE];
    const char *name;
    return !cli_source_is_stream(file) && !ln_content_of(head, read_head(file, head), &name) &&
           ln_file_kind(file);
}

int cli_given_check_swapped(const cli_options *opt)
{
    const char *const model = opt->n_args ? opt->args[0] : "-";
    const char *const file = opt->inputs.n == 1 ? opt->inputs.items[0] : "-";
    if (cli_source_is_stream(model) || !cli_given_is_input(model) || !is_model(file))
        return 0;
    return cli_usage("%s is %s and %s is %s; did you mean '%s -i %s'?", model, ln_file_kind(model),
                     file, ln_file_kind(file), file, model);
}

// Options for images

void cli_given_warn(const cli_options *opt)
{
    char name[LN_MAX_NAME_LEN], path[LN_MAXLINE];
    struct stat st;
    for (int i = 0; i < opt->inputs.n; i++) {
        const char *const arg = opt->inputs.items[i], *const named = cli_given_split(arg, name);
        const char *const file = cli_npz_file(named ? named : arg, path);
        if (!strcmp(file, "-") || stat(file, &st) || !S_ISREG(st.st_mode) || !is_array(file))
            return;
    }
    if (opt->images.first && !opt->samples && !opt->quiet)
        cli_warn("--%s does nothing: no input is an image", opt->images.first);
}
