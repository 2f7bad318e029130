// SPDX-License-Identifier: Apache-2.0
// Samples for quantize: the files of --data.
//
//     DIR/*             of a model with one input: a file for each sample, in the order of names;
//                       with --preset, others may be beside the image (cli_beside.h)
//     DIR/INPUT/*       of a model with several: a folder for each input, with its name; the k-th
//                       files of all folders are a sample
//     FILE              of a model with one input: an npy array, whose first axis is samples

#include "command/cli_samples.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "input/cli_beside.h"
#include "input/cli_given.h"
#include "input/cli_preprocess.h"
#include "input/cli_session.h"
#include "lightnet/ln_util.h"
#include "output/cli_msg.h"
#include "tensorlight/tl_type.h"

// Where samples come from.
typedef struct source {
    const cli_options *opt;
    const ln_model *model;
    ln_quantizer *quantizer;
    int has_warned; // of pixels that are not scaled
} source;

static int fail_quantizer(const source *s, const char *file)
{
    return cli_fail("%s: %s", file, ln_quantizer_error(s->quantizer));
}

// A file for each sample

// The files of one input, in the order of their names.
typedef struct folder {
    char path[LN_MAXLINE];
    struct dirent **entries;
    int n;
    char file[LN_MAXLINE]; // of the current sample
    int is_beside;         // no files: the input is made beside an image
} folder;

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int open_folder(folder *f)
{
    f->n = scandir(f->path, &f->entries, is_visible, alphasort);
    if (f->n >= 0)
        return 0;
    f->n = 0;
    return cli_fail("%s: cannot read: %s", f->path, strerror(errno));
}

// Returns new (tl_tensor_free_data_too); NULL with a reason.
static tl_tensor *read_file(const source *s, int input, const char *file, ln_error *err)
{
    const tl_tensor *const info = ln_model_input_info(s->model, input);
    tl_tensor *t = cli_session_is_open(info)
                       ? cli_session_read_open(s->model, s->opt, input, info, file, err)
                       : cli_given_read(s->opt, file, info, err);
    if (!t)
        ln_error_prefix(err, "input '%s'", ln_model_input_name(s->model, input));
    return t;
}

// Reads the k-th file of a folder. NULL with a reason.
static tl_tensor *read_kth(const source *s, folder *f, int input, int k, ln_error *err)
{
    const char *const name = f->entries[k]->d_name;
    if (snprintf(f->file, LN_MAXLINE, "%s/%s", f->path, name) < LN_MAXLINE)
        return read_file(s, input, f->file, err);
    return ln_error_set(err, "%s/%s: the name is too long", f->path, name), NULL;
}

static void warn_skipped(const source *s, const ln_error *err)
{
    if (!s->opt->quiet)
        cli_warn("%s; the sample is skipped", ln_error_text(err));
}

// Warns once of an image whose pixels are not scaled, and forgets it: the next sample has another.
static void warn_unscaled(source *s)
{
    cli_photo *const photo = s->opt->images.photo;
    s->has_warned = s->has_warned || cli_preprocess_warn(photo);
    *photo = (cli_photo){0};
}

// Reads the k-th file of each folder. -1 with a reason.
static int read_files(const source *s, folder *folders, int n, int k, tl_tensor **inputs,
                      ln_error *err)
{
    for (int i = 0; i < n; i++)
        if (!folders[i].is_beside && !(inputs[i] = read_kth(s, &folders[i], i, k, err)))
            return -1;
    return 0;
}

// Makes the inputs beside the image, which has been read.
static int make_beside(const source *s, const folder *folders, int n, tl_tensor **inputs)
{
    for (int i = 0; i < n; i++)
        if (folders[i].is_beside && !(inputs[i] = cli_beside_make(s->opt, s->model, i)))
            return CLI_FAILED;
    return 0;
}

// The first folder of files; NULL: none.
static const folder *first_folder(const folder *folders, int n)
{
    int i = 0;
    while (i < n && folders[i].is_beside)
        i++;
    return i < n ? &folders[i] : NULL;
}

// Adds the k-th files of the folders as a sample; if one cannot be read, increments *n_skipped.
static int add_files(source *s, folder *folders, int n, int k, int *n_skipped)
{
    ln_error err = {0};
    tl_tensor **const inputs = calloc((size_t)n + 1, sizeof(tl_tensor *));
    int status = inputs ? 0 : cli_fail_memory();
    const int is_skipped = inputs && read_files(s, folders, n, k, inputs, &err);
    if (is_skipped)
        warn_skipped(s, &err);
    else if (!status)
        status = make_beside(s, folders, n, inputs);
    if (!is_skipped && !status &&
        ln_quantizer_add_sample(s->quantizer, n, (const tl_tensor *const *)inputs))
        status = fail_quantizer(s, first_folder(folders, n)->file);
    *n_skipped += is_skipped;
    warn_unscaled(s);
    for (int i = 0; i < n && inputs; i++)
        tl_tensor_free_data_too(inputs[i]);
    free(inputs);
    return status;
}

static int name_folder(const source *s, folder *f, int input, int is_alone)
{
    const char *const name = is_alone ? "" : ln_model_input_name(s->model, input);
    const int len =
        snprintf(f->path, sizeof(f->path), "%s%s%s", s->opt->samples, is_alone ? "" : "/", name);
    return (size_t)len < sizeof(f->path) ? 0
                                         : cli_fail("%s: the name is too long", s->opt->samples);
}

static int check_folders(const folder *folders, int n)
{
    const folder *const first = first_folder(folders, n);
    if (first && !first->n)
        return cli_fail("%s: no files", first->path);
    for (int i = 0; i < n; i++)
        if (!folders[i].is_beside && folders[i].n != first->n)
            return cli_fail("%s has %d files, %s has %d, expected a file of each for a sample",
                            first->path, first->n, folders[i].path, folders[i].n);
    return 0;
}

static int open_folders(const source *s, folder *folders, int n)
{
    int n_given = 0;
    for (int i = 0; i < n; i++) {
        folders[i].is_beside = cli_beside_is_known(s->opt, s->model, i);
        n_given += !folders[i].is_beside;
    }
    for (int i = 0; i < n; i++)
        if (!folders[i].is_beside &&
            (name_folder(s, &folders[i], i, n_given == 1) || open_folder(&folders[i])))
            return CLI_FAILED;
    return check_folders(folders, n);
}

static int add_folders(source *s)
{
    const int n = ln_model_num_inputs(s->model);
    folder *const folders = calloc((size_t)n + 1, sizeof(*folders));
    int status = folders ? open_folders(s, folders, n) : cli_fail_memory(), n_skipped = 0;
    const folder *const first = status ? NULL : first_folder(folders, n);
    for (int k = 0; first && !status && k < first->n; k++)
        status = add_files(s, folders, n, k, &n_skipped);
    if (first && !status && n_skipped == first->n)
        status = cli_fail("%s: none of the %d samples can be read", s->opt->samples, n_skipped);
    else if (first && !status && n_skipped && !s->opt->quiet)
        cli_warn("%s: %d of %d samples can be read", s->opt->samples, first->n - n_skipped,
                 first->n);
    for (int i = 0; i < n && folders; i++) {
        for (int k = 0; k < folders[i].n; k++)
            free(folders[i].entries[k]);
        free(folders[i].entries);
    }
    free(folders);
    return status;
}

// An array of samples

static int fail_shape(const source *s, const tl_tensor *whole)
{
    char given[LN_MAXLINE], shape[LN_MAXLINE];
    ln_sprint_shape(given, sizeof(given), whole->ndim, whole->dims);
    return cli_fail("%s: the array has shape %s, expected samples along its first axis, for input "
                    "'%s' %s",
                    s->opt->samples, given, ln_model_input_name(s->model, 0),
                    cli_session_input_shape(s->model, 0, shape));
}

// The shape of a sample in the array, whose axis of samples precedes the input's axes, or replaces
// the first. Sets dims, returns ndim; 0: neither.
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
        return cli_fail("%s: %s", s->opt->samples, tl_last_error());
    const ln_status status = ln_quantizer_add_sample(s->quantizer, 1, &sample);
    tl_tensor_free_data_too(t);
    return status ? fail_quantizer(s, s->opt->samples) : 0;
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
    const tl_dtype from = whole->dtype, to = info->dtype;
    int status =
        from == to || (tl_dtype_is_float(from) && tl_dtype_is_float(to))
            ? 0
            : cli_fail("%s: the array is of %s, input '%s' of %s", s->opt->samples,
                       tl_dtype_name(from), ln_model_input_name(s->model, 0), tl_dtype_name(to));
    for (int i = 0; i < whole->len / part->len && !status; i++) {
        part->data = (char *)whole->data + (size_t)i * tl_tensor_size(part);
        status = add_part(s, part, to);
    }
    tl_tensor_free(part);
    return status;
}

static int add_array(const source *s)
{
    ln_error err = {0};
    const int n = ln_model_num_inputs(s->model);
    if (n != 1)
        return cli_fail("%s: the model has %d inputs; --data is then a folder with a folder for "
                        "each of them",
                        s->opt->samples, n);
    tl_tensor *const whole = cli_given_read_whole(s->opt, s->opt->samples, &err);
    if (!whole)
        return cli_fail("%s", ln_error_text(&err));
    const int status = add_parts(s, whole);
    tl_tensor_free_data_too(whole);
    return status;
}

int cli_samples_add(ln_quantizer *quantizer, const ln_model *model, const cli_options *opt)
{
    source s = {opt, model, quantizer, 0};
    struct stat st;
    if (stat(opt->samples, &st))
        return cli_fail("%s: cannot read: %s", opt->samples, strerror(errno));
    return S_ISDIR(st.st_mode) ? add_folders(&s) : add_array(&s);
}
