// SPDX-License-Identifier: Apache-2.0
// The files of run --each: those of a folder, of a pattern, or of a list.

#include "input/cli_files.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "input/cli_source.h"
#include "lightnet/lightnet.h"
#include "output/cli_guard.h"
#include "output/cli_msg.h"

// The suffixes of files that a model's input can be read from.
static const char *const suffixes[] = {".npy",  ".pb",  ".png", ".jpg", ".jpeg",
                                       ".webp", ".bmp", ".pgm", ".ppm", ".bin"};

enum { N_SUFFIXES = sizeof(suffixes) / sizeof(suffixes[0]) };

int cli_files_is_input(const char *name)
{
    for (int i = 0; i < N_SUFFIXES; i++)
        if (!strcasecmp(cli_guard_suffix(name), suffixes[i]))
            return 1;
    return 0;
}

// Takes `path`; NULL: no memory.
static int add(cli_files *files, char *path)
{
    // The capacity is `n` rounded up to a power of two.
    const int is_full = !(files->n & (files->n - 1));
    const size_t capacity = files->n ? 2 * (size_t)files->n : 1;
    char **paths = files->paths;
    if (is_full && path)
        paths = files->n > INT_MAX / 2 ? NULL : realloc(paths, capacity * sizeof(*paths));
    if (!path || !paths) {
        free(path);
        return cli_fail_memory();
    }
    files->paths = paths;
    files->paths[files->n++] = path;
    return 0;
}

// A folder

static char *join(const char *folder, const char *name)
{
    const size_t len = strlen(folder), size = len + strlen(name) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s%s%s", folder, len && folder[len - 1] == '/' ? "" : "/", name);
    return path;
}

static int is_regular(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode);
}

// Records the suffix of a skipped file, once.
static void keep_suffix(cli_files *files, const char *suffix)
{
    int at = 0;
    const int n = files->n_suffixes < CLI_FILES_SUFFIXES ? files->n_suffixes : CLI_FILES_SUFFIXES;
    char text[CLI_FILES_SUFFIX_SIZE];
    snprintf(text, sizeof(text), "%s", *suffix ? suffix : "no suffix");
    while (at < n && strcmp(files->suffixes[at], text) < 0)
        at++;
    if (at < n && !strcmp(files->suffixes[at], text))
        return;
    files->n_suffixes = n + 1;
    if (n < CLI_FILES_SUFFIXES) {
        memmove(files->suffixes[at + 1], files->suffixes[at], (size_t)(n - at) * sizeof(text));
        memcpy(files->suffixes[at], text, sizeof(text));
    }
}

static int add_entry(cli_files *files, const char *folder, const char *name)
{
    char *path = join(folder, name);
    const int is_file = path && is_regular(path);
    if (!path || (is_file && cli_files_is_input(name)))
        return add(files, path);
    free(path);
    if (is_file) {
        files->n_skipped++;
        keep_suffix(files, cli_guard_suffix(name));
    }
    return 0;
}

char *cli_files_skipped(const cli_files *files, char *text, size_t size)
{
    const int n = files->n_suffixes < CLI_FILES_SUFFIXES ? files->n_suffixes : CLI_FILES_SUFFIXES;
    size_t len = (size_t)snprintf(text, size, "%d file%s skipped: ", files->n_skipped,
                                  files->n_skipped == 1 ? "" : "s");
    for (int i = 0; i < n && len < size; i++)
        len += (size_t)snprintf(text + len, size - len, "%s%s", i ? ", " : "", files->suffixes[i]);
    if (n < files->n_suffixes && len < size)
        snprintf(text + len, size - len, ", ...");
    return files->n_skipped ? text : NULL;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int fail_empty(const char *folder)
{
    char known[LN_MAXLINE] = "";
    size_t len = 0;
    for (int i = 0; i < N_SUFFIXES && len < sizeof(known); i++)
        len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
                                !i                   ? ""
                                : i < N_SUFFIXES - 1 ? ", "
                                                     : " or ",
                                suffixes[i]);
    return cli_fail("%s: the folder has no file to read, of a name that ends in %s", folder, known);
}

static int find_in_folder(cli_files *files, const char *folder)
{
    DIR *stream = opendir(folder);
    int status = stream ? 0 : cli_fail("%s: cannot read: %s", folder, strerror(errno));
    const struct dirent *entry;
    while (!status && (entry = readdir(stream)))
        if (entry->d_name[0] != '.')
            status = add_entry(files, folder, entry->d_name);
    if (stream)
        closedir(stream);
    if (files->n)
        qsort(files->paths, (size_t)files->n, sizeof(*files->paths), by_path);
    return status || files->n ? status : fail_empty(folder);
}

// A pattern

static int find_pattern(cli_files *files, const char *pattern)
{
    glob_t found = {0};
    const int error = glob(pattern, GLOB_NOSORT, NULL, &found);
    int status = error == GLOB_NOSPACE ? cli_fail_memory() : 0;
    for (size_t i = 0; i < found.gl_pathc && !status; i++)
        if (is_regular(found.gl_pathv[i]))
            status = add(files, strdup(found.gl_pathv[i]));
    globfree(&found);
    if (files->n)
        qsort(files->paths, (size_t)files->n, sizeof(*files->paths), by_path);
    return status || files->n ? status : cli_fail("%s: no file matches the pattern", pattern);
}

// A list

static int add_lines(cli_files *files, const char *name, char *text)
{
    int status = 0;
    char *rest = text;
    while (rest && !status) {
        char *line = strsep(&rest, "\n");
        line[strcspn(line, "\r")] = '\0';
        if (*line)
            status = add(files, strdup(line));
    }
    return status || files->n ? status : cli_fail("%s: the list has no path", name);
}

static int find_in_list(cli_files *files, const char *source)
{
    size_t len = 0;
    const char *const name = cli_source_name(source);
    const char *const kind = cli_source_is_stream(source) ? NULL : ln_file_kind(source);
    if (kind)
        return cli_fail("%s: this is %s, expected a folder, a pattern, or a list with a path in "
                        "each line",
                        source, kind);
    char *text = cli_source_read(source, &len);
    if (!text)
        return cli_fail("%s", ln_last_error());
    const int status = memchr(text, '\0', len)
                           ? cli_fail("%s: the file is not text, expected a folder, a pattern, or "
                                      "a list with a path in each line",
                                      name)
                           : add_lines(files, name, text);
    ln_free(text);
    return status;
}

int cli_files_find(cli_files *files, const char *source)
{
    struct stat st;
    const int exists = cli_source_is_stdin(source) || !stat(source, &st);
    memset(files, 0, sizeof(*files));
    if (!exists && strpbrk(source, "*?["))
        return find_pattern(files, source);
    if (!exists)
        return cli_fail("%s: cannot read: %s", source, strerror(errno));
    return !cli_source_is_stdin(source) && S_ISDIR(st.st_mode) ? find_in_folder(files, source)
                                                               : find_in_list(files, source);
}

void cli_files_free(cli_files *files)
{
    for (int i = 0; i < files->n; i++)
        free(files->paths[i]);
    free(files->paths);
    memset(files, 0, sizeof(*files));
}
