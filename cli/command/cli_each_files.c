// SPDX-License-Identifier: Apache-2.0
// The files that run --each runs, and the names of their outputs.

#include "command/cli_each_files.h"

#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/cli_part.h"
#include "input/cli_source.h"
#include "lightnet/ln_util.h"
#include "output/cli_guard.h"
#include "output/cli_identity.h"
#include "output/cli_msg.h"

// A list

static int is_in_folder(const char *path, const struct stat *folder)
{
    char dir[LN_MAXLINE];
    struct stat st;
    const char *const slash = strrchr(path, '/');
    const int len = slash ? (int)(slash - path) + 1 : 0;
    if (snprintf(dir, sizeof(dir), "%.*s", len, len ? path : ".") >= (int)sizeof(dir))
        return 0;
    return !stat(len ? dir : ".", &st) && st.st_dev == folder->st_dev &&
           st.st_ino == folder->st_ino;
}

// A start that finds outputs of another one among its files has another list.
static int check_folder(const cli_each_files *f)
{
    const cli_run_options *const opt = f->opt;
    struct stat source, out;
    const int is_fixed = !stat(opt->shared.samples, &source) && !S_ISDIR(source.st_mode);
    if (is_fixed || !opt->outdir || stat(opt->outdir, &out) ||
        !(opt->resume || cli_part_is_shared(&opt->part)))
        return 0;
    for (int i = 0; i < f->list.n; i++)
        if (is_in_folder(f->list.paths[i], &out))
            return cli_usage("%s: outputs in the folder of --each would be files of other starts; "
                             "give another -O, or a list of paths",
                             opt->outdir);
    return 0;
}

static void warn_skipped(const cli_each_files *f)
{
    char text[LN_MAXLINE];
    if (!f->opt->shared.quiet && cli_files_skipped(&f->list, text, sizeof(text)))
        cli_warn("%s: %s", f->opt->shared.samples, text);
}

static int find_list(cli_each_files *f)
{
    const int status = cli_files_find(&f->list, f->opt->shared.samples);
    if (status)
        return status;
    warn_skipped(f);
    f->n_all = f->n = f->list.n;
    return check_folder(f);
}

// Whether an earlier start has written all outputs of file `i`.
static int is_done(const cli_each_files *f, int i)
{
    const int n = f->names.n_outputs;
    return f->opt->resume && cli_outnames_are_complete(f->names.names + (size_t)i * (size_t)n, n);
}

// Of the list, the process's part without what is done.
static int select_files(cli_each_files *f)
{
    int begin, end;
    char *keep = calloc((size_t)f->list.n + 1, 1);
    if (!keep)
        return cli_fail_memory();
    cli_part_range(&f->opt->part, f->list.n, &begin, &end);
    for (int i = begin; i < end; i++) {
        keep[i] = !is_done(f, i);
        f->n_done += !keep[i];
    }
    cli_outnames_keep(&f->names, &f->list, keep);
    free(keep);
    f->n = f->list.n;
    return 0;
}

// Standard input

static int open_lines(cli_each_files *f)
{
    f->lines = cli_lines_open(STDIN_FILENO);
    f->n = INT_MAX;
    return f->lines ? 0 : cli_fail_memory();
}

// An output of standard input, in the tree `known`.
static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static int is_known(const cli_each_files *f, char *const *names)
{
    for (int k = 0; k < cli_outnames_count(f->opt, f->model); k++)
        if (tfind(names[k], &f->known, by_text))
            return 1;
    return 0;
}

static int remember(cli_each_files *f, char *const *names, ln_error *err)
{
    for (int k = 0; k < cli_outnames_count(f->opt, f->model); k++) {
        char *const name = strdup(names[k]);
        void *const at = name ? tsearch(name, &f->known, by_text) : NULL;
        const int is_new = at && *(char **)at == name;
        if (!is_new)
            free(name);
        if (!at)
            return ln_error_set_as(err, LN_OUT_OF_MEMORY, "out of memory");
        if (!is_new)
            return ln_error_set(err, "%s: this would be the file of two outputs", names[k]);
    }
    return 0;
}

static void clear_names(const cli_each_files *f, char **names)
{
    for (int k = 0; k < cli_outnames_count(f->opt, f->model); k++) {
        free(names[k]);
        names[k] = NULL;
    }
}

// The file's name without its suffix, or with it if an earlier file has that output.
static int name_outputs(cli_each_files *f, const char *path, char **names, ln_error *err)
{
    for (int with_suffix = 0; with_suffix < 2; with_suffix++) {
        clear_names(f, names);
        if (cli_outnames_make_one(names, f->opt, path, with_suffix, f->model, err))
            return -1;
        if (!is_known(f, names))
            return remember(f, names, err);
    }
    return ln_error_set(err, "%s: '%s' is the output of an earlier file", path, names[0]);
}

static int remember_input(cli_each_files *f, const char *path, ln_error *err)
{
    cli_identity identity;
    if (cli_identity_get(&identity, path))
        return 0; // it has no output
    cli_identity *const input = malloc(sizeof(*input));
    if (input)
        *input = identity;
    cli_identity **const at = input ? tsearch(input, &f->inputs, cli_identity_compare) : NULL;
    if (!at || *at != input)
        free(input);
    return at ? 0 : ln_error_set_as(err, LN_OUT_OF_MEMORY, "out of memory");
}

static int check_output(const cli_each_files *f, const char *name, ln_error *err)
{
    char text[LN_MAXLINE];
    struct stat st;
    cli_identity identity;
    const char *const same = cli_guard_same_input(&f->opt->shared, name, text);
    if (same)
        return ln_error_set(err, "%s: the output would overwrite the input '%s'", name, same);
    if (lstat(name, &st) || S_ISDIR(st.st_mode))
        return 0;
    if (!f->opt->shared.force && !f->opt->resume)
        return ln_error_set(err, "%s: the file exists; --force replaces it", name);
    return !cli_identity_get(&identity, name) && tfind(&identity, &f->inputs, cli_identity_compare)
               ? ln_error_set(err, "%s: the output would overwrite a file of --each", name)
               : 0;
}

static int set_outputs(cli_each_files *f, cli_each_file *file, ln_error *err)
{
    const int n = cli_outnames_count(f->opt, f->model);
    file->outputs = calloc((size_t)n + 1, sizeof(*file->outputs));
    if (!file->outputs)
        return ln_error_set_as(err, LN_OUT_OF_MEMORY, "out of memory");
    int status = name_outputs(f, file->path, file->outputs, err);
    if (!status)
        status = remember_input(f, file->path, err);
    for (int k = 0; k < n && !status; k++)
        status = check_output(f, file->outputs[k], err);
    return status;
}

// The file of a line. Returns whether it has all its outputs already; with a reason it has none.
static int set_file(cli_each_files *f, cli_each_file *file, const char *line, ln_error *err)
{
    file->path = strdup(line);
    f->n_all++;
    if (!file->path)
        return ln_error_set_as(err, LN_OUT_OF_MEMORY, "out of memory"), 0;
    if (!f->opt->outdir || set_outputs(f, file, err))
        return 0;
    return f->opt->resume &&
           cli_outnames_are_complete(file->outputs, cli_outnames_count(f->opt, f->model));
}

cli_lines_found cli_each_files_next(cli_each_files *f, int may_wait, cli_each_file *file,
                                    ln_error *err)
{
    char *line;
    const uint64_t left = cli_options_time_left(&f->opt->shared);
    const uint64_t ms = left ? left + 1 : 0; // rounded up: the time is over when the wait is
    for (;;) {
        *file = (cli_each_file){0};
        const cli_lines_found found = cli_lines_next(f->lines, may_wait, ms, &line);
        if (found != CLI_LINE || !set_file(f, file, line, err))
            return found;
        f->n_done++;
        cli_each_files_free_one(f, file);
    }
}

// All of it

int cli_each_files_find(cli_each_files *f, const cli_run_options *opt)
{
    const char *const source = opt->shared.samples;
    *f = (cli_each_files){.opt = opt};
    if (cli_part_is_shared(&opt->part) && cli_source_is_stream(source))
        return cli_usage("%s: a stream has no parts, as one process reads it; give a file with the "
                         "paths, or --part 1/1",
                         cli_source_name(source));
    return cli_source_is_stdin(source) ? open_lines(f) : find_list(f);
}

int cli_each_files_name(cli_each_files *f, const ln_model *model)
{
    f->model = model;
    if (f->lines)
        return 0;
    int status = f->opt->outdir ? cli_outnames_make(&f->names, f->opt, &f->list, model) : 0;
    if (!status)
        status = select_files(f);
    return status || !f->opt->outdir ? status : cli_outnames_check(&f->names, f->opt, &f->list);
}

const char *cli_each_files_kind(const cli_each_files *f, char *text, size_t size)
{
    char part[64] = "", done[64] = "";
    const cli_part *const p = &f->opt->part;
    if (cli_part_is_shared(p))
        snprintf(part, sizeof(part), "part %d of %d", p->index + 1, p->n);
    if (f->opt->resume)
        snprintf(done, sizeof(done), "%d had their outputs", f->n_done);
    const int has_both = *part && *done;
    snprintf(text, size, *part || *done ? " (%s%s%s)" : "%s%s%s", part, has_both ? "; " : "", done);
    return text;
}

void cli_each_files_free_one(const cli_each_files *f, cli_each_file *file)
{
    if (file->outputs)
        clear_names(f, file->outputs);
    free(file->outputs);
    free(file->path);
    *file = (cli_each_file){0};
}

// tdestroy is an extension of the GNU C library.
static void free_tree(void **root, int (*order)(const void *, const void *))
{
    while (*root) {
        void *const item = **(void ***)root;
        tdelete(item, root, order);
        free(item);
    }
}

void cli_each_files_free(cli_each_files *f)
{
    free_tree(&f->known, by_text);
    free_tree(&f->inputs, cli_identity_compare);
    cli_lines_close(f->lines);
    cli_outnames_free(&f->names, &f->list);
    cli_files_free(&f->list);
}
