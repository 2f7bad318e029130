// SPDX-License-Identifier: Apache-2.0
// npz files as inputs and outputs.

#include "input/cli_npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/cli_given.h"
#include "output/cli_guard.h"
#include "input/cli_model.h"
#include "output/cli_msg.h"
#include "lightnet/ln_data.h"
#include "lightnet/ln_input.h"

#define SUFFIX ".npz"

// FILE.npz:ARRAY

int cli_npz_split(const char *source, char path[LN_MAXLINE], const char **array)
{
    struct stat st;
    const char *colon = strstr(source, SUFFIX ":");
    if (!colon || !stat(source, &st))
        return 0;
    colon += sizeof(SUFFIX) - 1;
    const int len = snprintf(path, LN_MAXLINE, "%.*s", (int)(colon - source), source);
    *array = colon + 1;
    return len < LN_MAXLINE && !stat(path, &st) && S_ISREG(st.st_mode);
}

const char *cli_npz_file(const char *source, char path[LN_MAXLINE])
{
    const char *array;
    return cli_npz_split(source, path, &array) ? path : source;
}

int cli_npz_exists(const char *source)
{
    char path[LN_MAXLINE];
    return !access(cli_npz_file(source, path), F_OK);
}

tl_tensor *cli_npz_read(const char *path, const char *array, const tl_tensor *like, ln_error *err)
{
    ln_npz *npz = ln_npz_open(path, err);
    tl_tensor *t = npz ? ln_npz_read(npz, array, like, err) : NULL;
    ln_npz_close(npz);
    return t;
}

tl_tensor *cli_npz_read_whole(const char *source, ln_error *err)
{
    char path[LN_MAXLINE];
    const char *array;
    return cli_npz_split(source, path, &array) ? cli_npz_read(path, array, NULL, err)
                                               : ln_input_read_whole(source, err);
}

// The arrays of -i FILE.npz

// An archive by its name; other suffixes keep their meaning.
static int is_npz(const char *file)
{
    return !strcmp(cli_guard_suffix(file), SUFFIX) && !cli_source_is_stream(file) &&
           !access(file, F_OK);
}

// The texts of -i while they are replaced.
typedef struct expansion {
    cli_strings inputs; // all
    cli_strings owned;  // those that were made
} expansion;

static int add_array(expansion *e, const char *name, const char *file, const char *array)
{
    char *text = NULL;
    if (asprintf(&text, "%s=%s:%s", name, file, array) < 0)
        return cli_fail_memory();
    if (cli_strings_add(&e->owned, text)) {
        free(text);
        return CLI_FAILED;
    }
    return cli_strings_add(&e->inputs, text);
}

static int add_all(expansion *e, const ln_npz *npz, const char *file)
{
    int status = ln_npz_count(npz) ? 0 : cli_fail("%s: the file has no arrays", file);
    for (int i = 0; i < ln_npz_count(npz) && !status; i++)
        status = add_array(e, ln_npz_name(npz, i), file, ln_npz_name(npz, i));
    return status;
}

static int add_named(expansion *e, const ln_npz *npz, const char *file, const char *name)
{
    const int n = ln_npz_count(npz);
    for (int i = 0; i < n; i++)
        if (n == 1 || !strcmp(ln_npz_name(npz, i), name))
            return add_array(e, name, file, ln_npz_name(npz, i));
    return n ? cli_fail("%s: no array '%s' among %d, the first is '%s'; use -i %s=%s:ARRAY", file,
                        name, n, ln_npz_name(npz, 0), name, file)
             : cli_fail("%s: the file has no arrays", file);
}

// Replaces one -i.
static int expand(expansion *e, const char *arg)
{
    char name[LN_MAX_NAME_LEN];
    ln_error err;
    const char *const named = cli_given_split(arg, name), *const file = named ? named : arg;
    if (!is_npz(file))
        return cli_strings_add(&e->inputs, arg);
    ln_error_clear(&err);
    ln_npz *npz = ln_npz_open(file, &err);
    const int status = !npz    ? cli_fail("%s", ln_error_text(&err))
                       : named ? add_named(e, npz, file, name)
                               : add_all(e, npz, file);
    ln_npz_close(npz);
    return status;
}

int cli_npz_expand(cli_options *opt)
{
    expansion e = {{0}};
    int status = 0;
    for (int i = 0; i < opt->inputs.n && !status; i++)
        status = expand(&e, opt->inputs.items[i]);
    free(opt->inputs.items);
    opt->inputs = e.inputs;
    opt->npz_inputs = e.owned;
    return status;
}

void cli_npz_free(cli_options *opt)
{
    for (int i = 0; i < opt->npz_inputs.n; i++)
        free((char *)opt->npz_inputs.items[i]);
    free(opt->npz_inputs.items);
    opt->npz_inputs = (cli_strings){0};
}

// Outputs

int cli_npz_is_output(const cli_options *opt)
{
    return opt->outdir && !strcmp(cli_guard_suffix(opt->outdir), SUFFIX);
}

int cli_npz_check(const cli_options *opt)
{
    return cli_guard_output(opt, opt->outdir, "an npz archive");
}

// Outputs by name.
typedef struct arrays {
    const char **names;
    const tl_tensor **tensors;
} arrays;

// For `n` outputs. Free with free_arrays. Returns 0, or CLI_FAILED after a message.
static int create_arrays(arrays *a, int n)
{
    a->names = calloc((size_t)n + 1, sizeof(*a->names));
    a->tensors = calloc((size_t)n + 1, sizeof(*a->tensors));
    return a->names && a->tensors ? 0 : cli_fail_memory();
}

static void free_arrays(arrays *a)
{
    free(a->names);
    free(a->tensors);
}

static int write_arrays(const arrays *a, int n, const char *file)
{
    ln_error err;
    ln_error_clear(&err);
    return ln_npz_write(file, n, a->names, a->tensors, &err) ? cli_fail("%s", ln_error_text(&err))
                                                             : 0;
}

int cli_npz_write_session(const cli_options *opt, const ln_model *model, ln_session *session)
{
    arrays a;
    const int n = ln_model_num_outputs(model);
    int status = create_arrays(&a, n);
    for (int k = 0; k < n && !status; k++) {
        a.names[k] = ln_model_output_name(model, k);
        a.tensors[k] = ln_session_output(session, a.names[k]);
        if (!a.tensors[k])
            status =
                cli_model_fail_for(cli_source_name(opt->args[0]), opt, ln_session_error(session));
    }
    if (!status)
        status = write_arrays(&a, n, opt->outdir);
    free_arrays(&a);
    return status;
}

int cli_npz_write_context(const cli_options *opt, ln_context *ctx)
{
    arrays a;
    const char *name;
    int k = 0, status = create_arrays(&a, ln_list_length(ctx->outputs));
    LN_LIST_FOREACH(name, status ? NULL : ctx->outputs)
    {
        a.names[k] = name;
        a.tensors[k] = status ? NULL : cli_model_tensor(ctx, opt, name);
        if (!a.tensors[k++])
            status = CLI_FAILED;
    }
    if (!status)
        status = write_arrays(&a, k, opt->outdir);
    free_arrays(&a);
    return status;
}
