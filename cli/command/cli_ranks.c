// SPDX-License-Identifier: Apache-2.0
// The exit status of run --each as one of several ranks.
//
// A rank creates the file of its end before it reads the folder, and the last one to create its
// file finds those of all. No rank waits for the end of another one, so a rank that dies leaves no
// other rank waiting.

#include "command/cli_ranks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "output/cli_msg.h"
#include "tensorlight/tl_util.h"

#define FOLDER ".lightnet-ranks-"
// Names of files, to write and to read.
#define BEGUN      "%d.begun"
#define ENDED      "%d.ended.%d"
#define READ_BEGUN "%9d.begun%n"
#define READ_ENDED "%9d.ended.%18lld%n"

enum {
    MAX_NAME = 64, // of a file
    WAIT_MS = 20,  // between two looks at the folder
    MAX_WAIT = 30, // seconds until all ranks have begun
};

// The files in the folder.
typedef struct files {
    int n_begun, n_ended;
    int n_failed_ranks;
    long long n_failed; // files of all ranks that have ended
} files;

// Returns new (free): folder/name; NULL: no memory.
static char *join(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *const path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static int fail_at(const cli_ranks *r, const char *problem)
{
    return cli_fail("%s: %s: %s", r->folder, problem, strerror(errno));
}

static int create(const cli_ranks *r, const char *name)
{
    char *const path = join(r->folder, name);
    const int fd = path ? open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666) : -1;
    free(path);
    return fd < 0 || close(fd) ? fail_at(r, "cannot write") : 0;
}

// Calls `see` for each name in the folder. Returns 0; -1: errno says why it cannot be read.
static int read_folder(const cli_ranks *r, void (*see)(const cli_ranks *, const char *, files *),
                       files *f)
{
    DIR *const dir = opendir(r->folder);
    if (!dir)
        return -1;
    errno = 0;
    for (const struct dirent *entry; (entry = readdir(dir)); errno = 0)
        see(r, entry->d_name, f);
    const int reason = errno;
    closedir(dir);
    errno = reason;
    return reason ? -1 : 0;
}

static void remove_name(const cli_ranks *r, const char *name)
{
    char *const path = join(r->folder, name);
    if (path)
        unlink(path); // a folder that keeps files stays
    free(path);
}

// The rank's own file of an end, which a start with the same id left when it was killed.
static void remove_own_end(const cli_ranks *r, const char *name, files *f)
{
    int rank, length;
    long long n_failed;
    (void)f;
    if (sscanf(name, READ_ENDED, &rank, &n_failed, &length) == 2 && rank == r->rank)
        remove_name(r, name);
}

static void remove_any(const cli_ranks *r, const char *name, files *f)
{
    (void)f;
    if (strcmp(name, ".") && strcmp(name, ".."))
        remove_name(r, name);
}

static void count(const cli_ranks *r, const char *name, files *f)
{
    int rank, length = 0;
    long long n_failed;
    (void)r;
    if (sscanf(name, READ_ENDED, &rank, &n_failed, &length) == 2 && !name[length]) {
        f->n_ended++;
        f->n_failed_ranks += n_failed > 0;
        f->n_failed += n_failed;
    } else if (sscanf(name, READ_BEGUN, &rank, &length) == 1 && length && !name[length]) {
        f->n_begun++;
    }
}

// Returns new (free): the path of the folder; NULL: no memory.
static char *name_folder(const char *outdir, const char *id)
{
    char name[sizeof(FOLDER) + CLI_PART_MAX_ID];
    snprintf(name, sizeof(name), FOLDER "%s", id);
    return join(outdir, name);
}

int cli_ranks_begin(cli_ranks *r, const cli_run_options *opt)
{
    char id[CLI_PART_MAX_ID], name[MAX_NAME];
    *r = (cli_ranks){.rank = opt->part.index, .n = opt->part.n};
    if (!opt->outdir || !cli_part_is_shared(&opt->part) || !cli_part_id(&opt->part, id))
        return 0;
    r->folder = name_folder(opt->outdir, id);
    if (!r->folder)
        return cli_fail_memory();
    if (mkdir(r->folder, 0777) && errno != EEXIST)
        return fail_at(r, "cannot create");
    if (read_folder(r, remove_own_end, NULL))
        return fail_at(r, "cannot read");
    snprintf(name, sizeof(name), BEGUN, r->rank);
    r->has_begun = 1;
    return create(r, name);
}

static int end_last(const cli_ranks *r, const char *source, const files *f, int n_files)
{
    read_folder(r, remove_any, NULL);
    rmdir(r->folder);
    return f->n_failed ? cli_fail("%s: %lld of %d files failed, in %d of %d ranks", source,
                                  f->n_failed, n_files, f->n_failed_ranks, r->n)
                       : CLI_OK;
}

static int fail_alone(const cli_ranks *r, const files *f)
{
    return cli_fail("%s: %d of %d ranks use this folder, expected all; give an -O that all hosts "
                    "share",
                    r->folder, f->n_begun, r->n);
}

int cli_ranks_end(cli_ranks *r, const char *source, int n_failed, int n_files)
{
    char name[MAX_NAME];
    if (!r->folder)
        return n_failed ? CLI_FAILED : CLI_OK;
    snprintf(name, sizeof(name), ENDED, r->rank, n_failed);
    if (create(r, name))
        return CLI_FAILED;
    r->has_begun = 0;
    const struct timespec pause = {0, WAIT_MS * 1000000};
    for (const uint64_t start = tl_clock();; nanosleep(&pause, NULL)) {
        files f = {0};
        if (read_folder(r, count, &f))
            return errno == ENOENT ? CLI_OK
                                   : fail_at(r, "cannot read"); // the last rank has removed it
        if (f.n_ended >= r->n)
            return end_last(r, source, &f, n_files);
        if (!n_failed || f.n_begun >= r->n)
            return CLI_OK;
        if (tl_clock() - start > MAX_WAIT * UINT64_C(1000000000))
            return fail_alone(r, &f);
    }
}

void cli_ranks_free(cli_ranks *r)
{
    char name[MAX_NAME];
    if (r->has_begun) {
        snprintf(name, sizeof(name), BEGUN, r->rank);
        remove_name(r, name);
        rmdir(r->folder); // fails while it has files of others
    }
    free(r->folder);
    r->folder = NULL;
}
