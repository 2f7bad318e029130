// SPDX-License-Identifier: Apache-2.0
// Reading samples from folders and files.

#include "cli_samples.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli_given.h"
#include "cli_msg.h"
#include "cli_session.h"
#include "lightnet/lightnet.h"
#include "tensorlight/tl_type.h"

/* Where samples come from. */
typedef struct source {
    const cli_options *opt;
    const ln_model *model;
    ln_quantizer *quantizer;
} source;

static int fail_quantizer(const source *s, const char *file)
{
    return cli_fail("%s: %s", file, ln_quantizer_error(s->quantizer));
}

/* ---- a file for each sample ---- */

/* The files of one input, in the order of their names. */
typedef struct folder {
    char path[LN_MAXLINE];
    struct dirent **entries;
    int n;
} folder;

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void close_folder(folder *f)
{
    for (int i = 0; i < f->n; i++)
        free(f->entries[i]);
    free(f->entries);
}

static int open_folder(folder *f)
{
    f->n = scandir(f->path, &f->entries, is_visible, alphasort);
    if (f->n >= 0)
        return 0;
    f->n = 0;
    return cli_fail("%s: cannot read: %s", f->path, strerror(errno));
}

// A shape with open sizes is that of the array in the file. Returns new (tl_tensor_free_data_too),
// NULL with a reason.
static tl_tensor *read_open(const source *s, const char *file, tl_dtype dtype, ln_error *err)
{
    tl_tensor *const whole = ln_input_read_whole(file, err);
    if (!whole)
        return NULL;
    tl_tensor like = *whole;
    like.dtype = dtype;
    tl_tensor *const t = cli_given_read(s->opt, file, &like, err);
    tl_tensor_free_data_too(whole);
    return t;
}

// Returns new (tl_tensor_free_data_too); NULL after a message.
static tl_tensor *read_file(const source *s, int input, const char *file)
{
    ln_error err;
    const tl_tensor *const info = ln_model_input_info(s->model, input);
    ln_error_clear(&err);
    tl_tensor *const t = cli_session_is_open(info) ? read_open(s, file, info->dtype, &err)
                                                   : cli_given_read(s->opt, file, info, &err);
    if (!t)
        cli_fail("input '%s': %s", ln_model_input_name(s->model, input), ln_error_text(&err));
    return t;
}

// The k-th files of the folders are a sample.
static int add_files(const source *s, const folder *folders, int n, int k)
{
    char file[LN_MAXLINE];
    tl_tensor **const inputs = calloc((size_t)n + 1, sizeof(tl_tensor *));
    int status = inputs ? 0 : cli_fail_memory();
    for (int i = 0; i < n && !status; i++) {
        const char *const name = folders[i].entries[k]->d_name;
        if ((size_t)snprintf(file, sizeof(file), "%s/%s", folders[i].path, name) >= sizeof(file))
            status = cli_fail("%s/%s: the name is too long", folders[i].path, name);
        else if (!(inputs[i] = read_file(s, i, file)))
            status = CLI_FAILED;
    }
    if (!status && ln_quantizer_add_sample(s->quantizer, n, (const tl_tensor *const *)inputs))
        status = fail_quantizer(s, file);
    for (int i = 0; i < n && inputs; i++)
        tl_tensor_free_data_too(inputs[i]);
    free(inputs);
    return status;
}

static int name_folder(const source *s, folder *f, int input)
{
    const int is_alone = ln_model_num_inputs(s->model) == 1;
    const char *const name = is_alone ? "" : ln_model_input_name(s->model, input);
    const int len =
        snprintf(f->path, sizeof(f->path), "%s%s%s", s->opt->data, is_alone ? "" : "/", name);
    return (size_t)len < sizeof(f->path) ? 0 : cli_fail("%s: the name is too long", s->opt->data);
}

static int check_folders(const folder *folders, int n)
{
    if (n && !folders[0].n)
        return cli_fail("%s: there are no files", folders[0].path);
    for (int i = 1; i < n; i++)
        if (folders[i].n != folders[0].n)
            return cli_fail("%s has %d files, %s has %d", folders[0].path, folders[0].n,
                            folders[i].path, folders[i].n);
    return 0;
}

static int add_folders(const source *s)
{
    const int n = ln_model_num_inputs(s->model);
    folder *const folders = calloc((size_t)n + 1, sizeof(*folders));
    int status = folders ? 0 : cli_fail_memory();
    for (int i = 0; i < n && !status; i++)
        status = name_folder(s, &folders[i], i) || open_folder(&folders[i]) ? CLI_FAILED : 0;
    if (!status)
        status = check_folders(folders, n);
    for (int k = 0; n && !status && k < folders[0].n; k++)
        status = add_files(s, folders, n, k);
    for (int i = 0; i < n && folders; i++)
        close_folder(&folders[i]);
    free(folders);
    return status;
}

/* ---- an array of samples ---- */

static int fail_shape(const source *s, const tl_tensor *whole)
{
    char given[LN_MAXLINE], shape[LN_MAXLINE];
    ln_sprint_shape(given, sizeof(given), whole->ndim, whole->dims);
    return cli_fail("%s: the array has shape %s, expected samples along its first axis, for input "
                    "'%s' %s",
                    s->opt->data, given, ln_model_input_name(s->model, 0),
                    cli_session_input_shape(s->model, 0, shape));
}

// The shape of a sample in the array: with the axis of samples in front of the input's, or in place
// of its first one. Sets dims, returns ndim; 0: neither.
static int sample_shape(const tl_tensor *whole, const tl_tensor *info, int *dims)
{
    const int is_in_front = whole->ndim == info->ndim + 1;
    if (whole->ndim < 1 || whole->ndim - is_in_front > LN_MAXDIM)
        return 0;
    for (int i = is_in_front; i < whole->ndim; i++)
        dims[i - is_in_front] = whole->dims[i];
    if (!is_in_front && whole->ndim == info->ndim)
        dims[0] = info->dims[0] > 0 ? info->dims[0] : 1;
    else if (!is_in_front)
        return 0;
    return whole->ndim - is_in_front;
}

static int add_part(const source *s, const tl_tensor *part, tl_dtype dtype)
{
    tl_tensor *const t = part->dtype == dtype ? NULL : tl_tensor_convert(part, NULL, dtype);
    const tl_tensor *const sample = part->dtype == dtype ? part : t;
    if (!sample)
        return cli_fail("%s: %s", s->opt->data, tl_last_error());
    const ln_status status = ln_quantizer_add_sample(s->quantizer, 1, &sample);
    tl_tensor_free_data_too(t);
    return status ? fail_quantizer(s, s->opt->data) : 0;
}

static int can_become(tl_dtype from, tl_dtype to)
{
    return from == to || (tl_dtype_is_float(from) && tl_dtype_is_float(to));
}

static int add_parts(const source *s, const tl_tensor *whole)
{
    int dims[LN_MAXDIM + 1];
    const tl_tensor *const info = ln_model_input_info(s->model, 0);
    const int ndim = sample_shape(whole, info, dims);
    tl_tensor *const part = ndim ? tl_tensor_create(NULL, ndim, dims, whole->dtype) : NULL;
    if (!part || !part->len || whole->len % part->len) {
        tl_tensor_free(part);
        return fail_shape(s, whole);
    }
    int status = can_become(whole->dtype, info->dtype)
                     ? 0
                     : cli_fail("%s: the array is of %s, input '%s' of %s", s->opt->data,
                                tl_dtype_name(whole->dtype), ln_model_input_name(s->model, 0),
                                tl_dtype_name(info->dtype));
    for (int i = 0; i < whole->len / part->len && !status; i++) {
        part->data = (char *)whole->data + (size_t)i * tl_tensor_size(part);
        status = add_part(s, part, info->dtype);
    }
    tl_tensor_free(part);
    return status;
}

static int add_array(const source *s)
{
    ln_error err;
    const int n = ln_model_num_inputs(s->model);
    ln_error_clear(&err);
    if (n != 1)
        return cli_fail("%s: the model has %d inputs; --data is then a folder with a folder for "
                        "each of them",
                        s->opt->data, n);
    tl_tensor *const whole = ln_input_read_whole(s->opt->data, &err);
    if (!whole)
        return cli_fail("%s", ln_error_text(&err));
    const int status = add_parts(s, whole);
    tl_tensor_free_data_too(whole);
    return status;
}

int cli_samples_add(ln_quantizer *quantizer, const ln_model *model, const cli_options *opt)
{
    const source s = {opt, model, quantizer};
    struct stat st;
    if (stat(opt->data, &st))
        return cli_fail("%s: cannot read: %s", opt->data, strerror(errno));
    return S_ISDIR(st.st_mode) ? add_folders(&s) : add_array(&s);
}
