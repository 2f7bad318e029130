// SPDX-License-Identifier: Apache-2.0
// The C preprocessor, in a process of its own.

#include "front/il/ln_il_pre.h"

#include <errno.h>
#include <fcntl.h>
#include <mcpp_lib.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lightnet/ln_util.h"

/* What the process may use: seconds of a CPU and of the clock, and bytes of output. */
enum { CPU_SECONDS = 10, SECONDS = 60, MAX_OUTPUT = 256 << 20 };

/* -j, -W1: errors and the gravest warnings, a line for each; -N: nothing is predefined that is no
 * standard; -I-: files are looked for in no folder of the system; -k: blanks stay. */
static const char *const options[] = {"mcpp", "-N",        "-I-", "-W1",  "-j",
                                      "-k",   "-V199901L", "-e",  "utf8", NULL};

enum { N_OPTIONS = sizeof(options) / sizeof(options[0]) - 1 };

/* How the process speaks to the one that began it. */
typedef struct job {
    const char *folder;
    int in, out, messages; /* files in memory */
    volatile int *ended;   /* shared: it has come to its end, with this status + 1 */
} job;

// Of "nets/tiny.net", with the slash: 5.
static size_t folder_length(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? (size_t)(slash - name) + 1 : 0;
}

void ln_il_file_name(const char *model, const char *mark, size_t len, char *buf, size_t size)
{
    static const char itself[] = "<stdin>";
    const int folder = mark[0] == '/' ? 0 : (int)folder_length(model);
    if (len == 0 || (len == strlen(itself) && !memcmp(mark, itself, len)))
        snprintf(buf, size, "%s", model);
    else
        snprintf(buf, size, "%.*s%.*s", folder, model, (int)(len < size ? len : size), mark);
}

/* ---- in the new process ---- */

static void limit(int resource, rlim_t most)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now))
        _exit(1);
    if (now.rlim_max > most)
        now.rlim_max = most;
    now.rlim_cur = now.rlim_max;
    if (setrlimit((__rlimit_resource_t)resource, &now))
        _exit(1);
}

// Signals that the program handles are those of its own process.
static void restore_signals(void)
{
    static const int fatal[] = {SIGALRM, SIGXCPU, SIGXFSZ, SIGSEGV,
                                SIGBUS,  SIGABRT, SIGFPE,  SIGILL};
    sigset_t none;
    for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
        signal(fatal[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void use_files(const job *j)
{
    if (dup2(j->in, STDIN_FILENO) < 0 || dup2(j->out, STDOUT_FILENO) < 0 ||
        dup2(j->messages, STDERR_FILENO) < 0 || lseek(STDIN_FILENO, 0, SEEK_SET) < 0 ||
        chdir(j->folder))
        _exit(1);
    // What the program has not written yet is written by the program.
    __fpurge(stdin);
    __fpurge(stdout);
    clearerr(stdin);
    clearerr(stdout);
}

static void run_mcpp(const job *j)
{
    char *argv[N_OPTIONS + 1];
    restore_signals();
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, CPU_SECONDS);
    limit(RLIMIT_FSIZE, MAX_OUTPUT);
    alarm(SECONDS);
    use_files(j);
    clearenv(); // some variables name folders to look in
    for (int i = 0; i <= N_OPTIONS; i++)
        argv[i] = (char *)options[i];
    const int status = mcpp_lib_main(N_OPTIONS, argv);
    if (!fflush(stdout) && !fflush(stderr))
        *j->ended = status + 1;
    _exit(0);
}

/* ---- in the program ---- */

static int fail_system(ln_error *err, const char *name, const char *what)
{
    return ln_error_set(err, "%s: preprocessor: %s: %s", name, what, strerror(errno));
}

static int write_all(int file, const char *text, size_t size)
{
    while (size) {
        const ssize_t n = write(file, text, size);
        if (n < 0 && errno != EINTR)
            return -1;
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

// All that is in a file in memory, with a NUL behind it. NULL with a reason.
static char *read_all(int file, size_t *size)
{
    const off_t end = lseek(file, 0, SEEK_END);
    char *text = end < 0 ? NULL : ln_alloc((size_t)end + 1);
    *size = 0;
    while (text && *size < (size_t)end) {
        const ssize_t n = pread(file, text + *size, (size_t)end - *size, (off_t)*size);
        if (n == 0 || (n < 0 && errno != EINTR))
            break;
        *size += n > 0 ? (size_t)n : 0;
    }
    return text;
}

// The program may have a handler that waits for processes, too: then ours is gone, which is fine.
static void wait_for(pid_t process)
{
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
        ;
}

static int run_process(const job *j, const char *name, ln_error *err)
{
    const pid_t process = fork();
    if (process < 0)
        return fail_system(err, name, "cannot begin a process");
    if (process == 0)
        run_mcpp(j);
    wait_for(process);
    return 0;
}

/* What makes a message an error: mcpp calls a comment without end a warning. */
static const char *const errors[] = {"error: ", "warning: End of input with unterminated comment"};

// The first error among the messages; NULL: there is none.
static const char *find_error(const char *messages)
{
    const char *first = NULL;
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        const char *found = strstr(messages, errors[i]);
        if (found && (!first || found < first))
            first = found;
    }
    return first;
}

// ":3:" of a message that begins there; its end when there is none.
static const char *find_number(const char *line, const char *end, int *len)
{
    for (const char *p = line; p < end; p++) {
        *len = *p == ':' ? 1 + (int)strspn(p + 1, "0123456789") : 0;
        if (*len > 1 && p[*len] == ':')
            return p;
    }
    *len = 0;
    return end;
}

// Messages are lines such as "<stdin>:3: error: TEXT" or "FILE:3: fatal error: TEXT".
static int take_messages(const char *messages, const char *name, ln_error *err)
{
    char file[LN_MAXLINE];
    int number_len;
    const char *error = find_error(messages), *line = error;
    if (!error)
        return 0;
    while (line > messages && line[-1] != '\n')
        line--;
    const char *number = find_number(line, error, &number_len);
    const char *text = strchr(error, ' ') + 1;
    ln_il_file_name(name, line, (size_t)(number - line), file, sizeof(file));
    return ln_error_set(err, "%s%.*s: preprocessor: %.*s", file, number_len, number,
                        (int)strcspn(text, "\n"), text);
}

static int take_output(const job *j, const char *name, char **out, size_t *out_size, ln_error *err)
{
    size_t size;
    char *messages = read_all(j->messages, &size);
    if (!messages)
        return fail_system(err, name, "its messages cannot be read");
    int rc = take_messages(messages, name, err);
    ln_free(messages);
    if (!rc && *j->ended != 1)
        rc = ln_error_set(err,
                          "%s: preprocessor: it failed, took longer than %d s or gave more than %d "
                          "bytes",
                          name, CPU_SECONDS, MAX_OUTPUT);
    if (rc)
        return rc;
    *out = read_all(j->out, out_size);
    return *out ? 0 : fail_system(err, name, "its output cannot be read");
}

static char *folder_of(const char *name)
{
    const size_t len = folder_length(name);
    char *folder = len ? ln_alloc(len + 1) : ln_strdup(".");
    return folder && len ? memcpy(folder, name, len) : folder;
}

static int open_files(job *j, const void *text, size_t size)
{
    j->in = memfd_create("il", MFD_CLOEXEC);
    j->out = memfd_create("preprocessed", MFD_CLOEXEC);
    j->messages = memfd_create("messages", MFD_CLOEXEC);
    return j->in < 0 || j->out < 0 || j->messages < 0 ? -1 : write_all(j->in, text, size);
}

static void close_files(const job *j)
{
    const int files[] = {j->in, j->out, j->messages};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (files[i] >= 0)
            close(files[i]);
}

int ln_il_preprocess(const char *name, const void *text, size_t size, char **out, size_t *out_size,
                     ln_error *err)
{
    char *folder = folder_of(name);
    int *ended =
        mmap(NULL, sizeof(*ended), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    job j = {.folder = folder, .in = -1, .out = -1, .messages = -1, .ended = ended};
    int rc = -1;
    if (!folder || ended == MAP_FAILED)
        ln_error_set(err, "%s: out of memory", name);
    else if (open_files(&j, text, size))
        fail_system(err, name, "its input cannot be written");
    else if (!run_process(&j, name, err))
        rc = take_output(&j, name, out, out_size, err);
    close_files(&j);
    if (ended != MAP_FAILED)
        munmap(ended, sizeof(*ended));
    ln_free(folder);
    return rc;
}
