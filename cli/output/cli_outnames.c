// SPDX-License-Identifier: Apache-2.0
// Names of the files that run --each writes.

#include "output/cli_outnames.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "draw/cli_draw.h"
#include "lightnet/ln_data.h"
#include "lightnet/ln_util.h"
#include "output/cli_guard.h"
#include "output/cli_identity.h"
#include "output/cli_msg.h"

// FILE: without its suffix, unless names would then be the same

// The name of a file without its folder.
typedef struct stem {
    const char *base;
    int len;   // without the suffix, or with it (add_suffix)
    int index; // of the file
} stem;

static int by_text(const void *a, const void *b)
{
    const stem *x = a, *y = b;
    const int order = memcmp(x->base, y->base, (size_t)(x->len < y->len ? x->len : y->len));
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

static int by_index(const void *a, const void *b)
{
    const stem *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

static void add_suffix(stem *s)
{
    s->len += (int)strlen(s->base + s->len);
}

static stem stem_of(const char *file, int index)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    const size_t len = strlen(base) - strlen(cli_guard_suffix(base));
    return (stem){.base = base, .len = len < PATH_MAX ? (int)len : PATH_MAX, .index = index};
}

// Returns new (free): a name for each file, in their order. NULL: no memory.
static stem *find_stems(const cli_files *files)
{
    stem *stems = calloc((size_t)files->n, sizeof(*stems));
    for (int i = 0; stems && i < files->n; i++)
        stems[i] = stem_of(files->paths[i], i);
    if (!stems)
        return NULL;
    qsort(stems, (size_t)files->n, sizeof(*stems), by_text);
    for (int i = 0, next; i < files->n; i = next) {
        for (next = i + 1; next < files->n && !by_text(&stems[i], &stems[next]); next++)
            ;
        for (int k = i; next > i + 1 && k < next; k++)
            add_suffix(&stems[k]);
    }
    qsort(stems, (size_t)files->n, sizeof(*stems), by_index);
    return stems;
}

// The names

// Replaces the characters of an output's name that a file name should not have.
static void make_plain(char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name <= ' ' || strchr("/\\:*?\"<>|", *name))
            *name = '_';
}

// Returns new (free); NULL with a reason.
static char *make_name(const char *dir, const stem *s, const char *output, const char *suffix,
                       ln_error *err)
{
    char plain[LN_MAX_NAME_LEN];
    snprintf(plain, sizeof(plain), "%s", output);
    make_plain(plain);
    const int size = snprintf(NULL, 0, "%s/%.*s_%s%s", dir, s->len, s->base, plain, suffix) + 1;
    char *name = size <= LN_MAXLINE ? malloc((size_t)size) : NULL;
    if (name)
        snprintf(name, (size_t)size, "%s/%.*s_%s%s", dir, s->len, s->base, plain, suffix);
    else if (size > LN_MAXLINE)
        ln_error_set(err, "%.64s...: the name of the output is too long", dir);
    else
        ln_error_set_as(err, LN_OUT_OF_MEMORY, "out of memory");
    return name;
}

int cli_outnames_count(const cli_run_options *opt, const ln_model *model)
{
    return opt->draw ? 1 : ln_model_num_outputs(model);
}

// names[cli_outnames_count]: the outputs of the file, or its image.
static int make_names_of(char **names, const cli_run_options *opt, const char *file, const stem *s,
                         const ln_model *model, ln_error *err)
{
    const int n = cli_outnames_count(opt, model);
    for (int k = 0; k < n; k++) {
        names[k] = opt->draw
                       ? make_name(opt->outdir, s, opt->draw, cli_draw_suffix(file), err)
                       : make_name(opt->outdir, s, ln_model_output_name(model, k), ".npy", err);
        if (!names[k])
            return -1;
    }
    return 0;
}

static int make_all(cli_outnames *names, const cli_run_options *opt, const cli_files *files,
                    const ln_model *model)
{
    ln_error err = {0};
    stem *stems = find_stems(files);
    int status = stems ? 0 : cli_fail_memory();
    for (int i = 0; i < files->n && !status; i++) {
        char **const at = names->names + (size_t)i * (size_t)names->n_outputs;
        if (make_names_of(at, opt, files->paths[i], &stems[i], model, &err))
            status = cli_fail("%s", ln_error_text(&err));
    }
    free(stems);
    return status;
}

int cli_outnames_make_one(char **names, const cli_run_options *opt, const char *file,
                          int with_suffix, const ln_model *model, ln_error *err)
{
    stem s = stem_of(file, 0);
    if (with_suffix)
        add_suffix(&s);
    return make_names_of(names, opt, file, &s, model, err);
}

// Unique names

// A name and its index in cli_outnames.names.
typedef struct entry {
    const char *name;
    size_t index;
} entry;

static int by_name(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int check_unique(const cli_outnames *names, const cli_files *files)
{
    const size_t n_outputs = (size_t)names->n_outputs, n = (size_t)files->n * n_outputs;
    entry *entries = calloc(n + 1, sizeof(*entries));
    int status = entries ? 0 : cli_fail_memory();
    for (size_t i = 0; entries && i < n; i++)
        entries[i] = (entry){names->names[i], i};
    if (entries)
        qsort(entries, n, sizeof(*entries), by_name);
    for (size_t i = 1; i < n && !status; i++)
        if (!strcmp(entries[i - 1].name, entries[i].name))
            status = cli_fail("%s: this would be an output of both '%s' and '%s'; rename one, or "
                              "run them with different -O",
                              entries[i].name, files->paths[entries[i - 1].index / n_outputs],
                              files->paths[entries[i].index / n_outputs]);
    free(entries);
    return status;
}

// Existing files

// With --resume, what is left of an interrupted start.
static int may_replace(const cli_run_options *opt)
{
    return opt->shared.force || opt->resume;
}

// Whether a file that would be replaced is an input.
static int check_inputs(const cli_outnames *names, const cli_files *files)
{
    const size_t n = (size_t)files->n * (size_t)names->n_outputs;
    cli_identity *inputs = calloc((size_t)files->n + 1, sizeof(*inputs));
    int status = inputs ? 0 : cli_fail_memory();
    size_t n_inputs = 0;
    for (int i = 0; inputs && i < files->n; i++)
        n_inputs += !cli_identity_get(&inputs[n_inputs], files->paths[i]);
    if (inputs)
        qsort(inputs, n_inputs, sizeof(*inputs), cli_identity_compare);
    for (size_t i = 0; i < n && !status; i++) {
        cli_identity key;
        if (!cli_identity_get(&key, names->names[i]) &&
            bsearch(&key, inputs, n_inputs, sizeof(*inputs), cli_identity_compare))
            status = cli_usage("%s: the output would overwrite a file of --each", names->names[i]);
    }
    free(inputs);
    return status;
}

int cli_outnames_check(const cli_outnames *names, const cli_run_options *opt,
                       const cli_files *files)
{
    const size_t n = (size_t)files->n * (size_t)names->n_outputs;
    cli_options shared = opt->shared;
    int status = 0;
    shared.force = may_replace(opt);
    for (size_t i = 0; i < n && !status; i++)
        status = cli_guard_beside(&shared, names->names[i]);
    return status;
}

// Complete files

// Files are renamed once they are whole, but are not synced: a power failure may cut them off.
static int is_complete(const char *file)
{
    ln_error err = {0};
    struct stat st;
    if (stat(file, &st) || !S_ISREG(st.st_mode) || !st.st_size)
        return 0;
    if (strcmp(cli_guard_suffix(file), ".npy"))
        return 1;
    tl_tensor *t = ln_npy_read(file, &err);
    tl_tensor_free_data_too(t);
    return t != NULL;
}

int cli_outnames_are_complete(char *const *names, int n)
{
    int k = 0;
    while (k < n && is_complete(names[k]))
        k++;
    return k == n;
}

// All of it

int cli_outnames_make(cli_outnames *names, const cli_run_options *opt, const cli_files *files,
                      const ln_model *model)
{
    size_t n;
    *names = (cli_outnames){.n_outputs = cli_outnames_count(opt, model)};
    names->names = ln_size_mul((size_t)files->n, (size_t)names->n_outputs, &n)
                       ? NULL
                       : calloc(n + 1, sizeof(*names->names));
    if (!names->names)
        return cli_fail_memory();
    int status = make_all(names, opt, files, model);
    if (!status)
        status = check_unique(names, files);
    return !status && may_replace(opt) ? check_inputs(names, files) : status;
}

void cli_outnames_keep(cli_outnames *names, cli_files *files, const char *keep)
{
    const size_t n_outputs = (size_t)names->n_outputs;
    char **to = names->names, **from = to;
    int n = 0;
    for (int i = 0; i < files->n; i++) {
        for (size_t k = 0; k < n_outputs; k++, from++) {
            if (keep[i])
                *to++ = *from;
            else
                free(*from);
        }
        if (keep[i])
            files->paths[n++] = files->paths[i];
        else
            free(files->paths[i]);
    }
    files->n = n;
}

const char *cli_outnames_of(const cli_outnames *names, int i, int k)
{
    return names->names[(size_t)i * (size_t)names->n_outputs + (size_t)k];
}

void cli_outnames_free(cli_outnames *names, const cli_files *files)
{
    const size_t n = (size_t)files->n * (size_t)names->n_outputs;
    for (size_t i = 0; names->names && i < n; i++)
        free(names->names[i]);
    free(names->names);
    memset(names, 0, sizeof(*names));
}
