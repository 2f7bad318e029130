// SPDX-License-Identifier: Apache-2.0
// Tests of output files.

#include "lightnet/ln_outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ln_alloc_fail.h"
#include "base/ln_outtext.h"
#include "ln_check.h"

// In place of libc's: file systems that lack files without names, and disks that fail.

static int no_links, no_sync, n_syncs;

int linkat(int from, const char *path, int to, const char *name, int flags)
{
    if (!no_links)
        return (int)syscall(SYS_linkat, from, path, to, name, flags);
    errno = EPERM;
    return -1;
}

int fsync(int fd)
{
    n_syncs++;
    if (!no_sync)
        return (int)syscall(SYS_fsync, fd);
    errno = no_sync;
    return -1;
}

static char folder[64];

static void enter_new_folder(void)
{
    strcpy(folder, "/tmp/ln_outfile_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static int count_files(void)
{
    int n = 0;
    DIR *dir = opendir(folder);
    ck_assert_ptr_nonnull(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

static void leave_folder(void)
{
    ck_assert_int_eq(chdir("/"), 0);
    char command[128];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void check_content(const char *file, const char *expected)
{
    char text[64] = "";
    FILE *stream = fopen(file, "r");
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_lt(fread(text, 1, sizeof(text) - 1, stream), sizeof(text));
    fclose(stream);
    ck_assert_str_eq(text, expected);
}

static int write_text(FILE *stream, const void *text, ln_error *err)
{
    (void)err;
    fputs(text, stream);
    return 0;
}

static int write_half(FILE *stream, const void *text, ln_error *err)
{
    fputs(text, stream);
    return ln_error_set(err, "the other half is missing");
}

START_TEST(file_is_created_and_replaced)
{
    enter_new_folder();
    ln_error err = {0};
    ck_assert_int_eq(ln_outfile_write("a", write_text, "one", &err), 0);
    check_content("a", "one");
    ck_assert_int_eq(ln_outfile_write("a", write_text, "two", &err), 0);
    check_content("a", "two");
    ck_assert_int_eq(count_files(), 1);
    leave_folder();
}
END_TEST

START_TEST(failure_leaves_the_old_file_and_no_other)
{
    enter_new_folder();
    ln_error err = {0};
    ck_assert_int_eq(ln_outfile_write("a", write_text, "one", &err), 0);
    ck_assert_int_eq(ln_outfile_write("a", write_half, "tw", &err), -1);
    ck_assert_str_eq(ln_error_text(&err), "the other half is missing");
    check_content("a", "one");
    ck_assert_int_eq(count_files(), 1);
    leave_folder();
}
END_TEST

START_TEST(a_replaced_file_keeps_its_permissions)
{
    enter_new_folder();
    ln_error err = {0};
    struct stat st;
    ck_assert_int_eq(ln_outfile_write("a", write_text, "one", &err), 0);
    ck_assert_int_eq(chmod("a", 0600), 0);
    ck_assert_int_eq(ln_outfile_write("a", write_text, "two", &err), 0);
    check_content("a", "two");
    ck_assert_int_eq(stat("a", &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0600);
    leave_folder();
}
END_TEST

START_TEST(link_is_followed_and_stays)
{
    enter_new_folder();
    ln_error err = {0};
    ck_assert_int_eq(ln_outfile_write("a", write_text, "one", &err), 0);
    ck_assert_int_eq(symlink("a", "link"), 0);
    ck_assert_int_eq(ln_outfile_write("link", write_text, "two", &err), 0);
    check_content("a", "two");
    struct stat st;
    ck_assert_int_eq(lstat("link", &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
    leave_folder();
}
END_TEST

START_TEST(device_is_written_in_place)
{
    ln_error err = {0};
    struct stat st;
    ck_assert_int_eq(ln_outfile_write("/dev/null", write_text, "one", &err), 0);
    ck_assert_int_eq(stat("/dev/null", &st), 0);
    ck_assert(S_ISCHR(st.st_mode));
}
END_TEST

START_TEST(messages_name_the_file_and_the_reason)
{
    enter_new_folder();
    ck_assert_int_eq(mkdir("d", 0777), 0);
    const struct {
        const char *file, *message;
    } cases[] = {
        {"d", "d: cannot write: Is a directory"},
        {"none/a", "none/a: cannot write: No such file or directory"},
        {"", ": cannot write: No such file or directory"},
        {"/dev/full", "/dev/full: cannot write: No space left on device"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_error err = {0};
        ck_assert_int_eq(ln_outfile_write(cases[i].file, write_text, "one", &err), -1);
        ck_assert_str_eq(ln_error_text(&err), cases[i].message);
    }
    ck_assert_int_eq(count_files(), 1);
    leave_folder();
}
END_TEST

// The message names the file and the error, in the words of the C library.
static void check_reason(ln_error *err, const char *file, int number)
{
    char expected[NAME_MAX + 100];
    snprintf(expected, sizeof(expected), "%s: cannot write: %s", file, strerror(number));
    ck_assert_str_eq(ln_error_text(err), expected);
}

// Both ways of writing: `no_links` 0 and 1.

START_TEST(every_file_is_on_the_disk_before_it_has_its_name)
{
    for (no_links = 0; no_links < 2; no_links++) {
        enter_new_folder();
        ln_error err = {0};
        n_syncs = no_sync = 0;
        ck_assert_int_eq(ln_outfile_write("a", write_text, "one", &err), 0);
        ck_assert_int_ge(n_syncs, 1);
        no_sync = EIO;
        ck_assert_int_eq(ln_outfile_write("a", write_text, "two", &err), -1);
        check_reason(&err, "a", EIO);
        check_content("a", "one");
        ck_assert_int_eq(count_files(), 1);
        ln_error_clear(&err);
        ck_assert_int_eq(ln_outfile_write("b", write_text, "two", &err), -1);
        ck_assert_int_eq(count_files(), 1);
        no_sync = EINVAL; // nothing that could be lost
        ck_assert_int_eq(ln_outfile_write("a", write_text, "two", &err), 0);
        check_content("a", "two");
        leave_folder();
    }
}
END_TEST

START_TEST(results_wait_for_the_disk_where_they_replace_a_file)
{
    enter_new_folder();
    n_syncs = 0;
    ck_assert_int_eq(ln_outfile_write_result("a", write_text, "one", NULL), 0);
    ck_assert_int_eq(n_syncs, 0);
    ck_assert_int_eq(ln_outfile_write_result("a", write_text, "two", NULL), 0);
    ck_assert_int_eq(n_syncs, 1);
    check_content("a", "two");
    leave_folder();
}
END_TEST

START_TEST(any_legal_name_is_written_and_replaced)
{
    char name[NAME_MAX + 2];
    for (no_links = 0; no_links < 2; no_links++)
        for (size_t len = 230; len <= NAME_MAX; len++) {
            enter_new_folder();
            ln_error err = {0};
            memset(name, 'n', len);
            name[len] = '\0';
            ck_assert_msg(!ln_outfile_write(name, write_text, "one", &err) &&
                              !ln_outfile_write(name, write_text, "two", &err),
                          "%s", ln_error_text(&err));
            check_content(name, "two");
            ck_assert_int_eq(count_files(), 1);
            leave_folder();
        }
    enter_new_folder();
    ln_error err = {0};
    memset(name, 'n', NAME_MAX + 1);
    name[NAME_MAX + 1] = '\0';
    ck_assert_int_eq(ln_outfile_write(name, write_text, "one", &err), -1);
    check_reason(&err, name, ENAMETOOLONG);
    ck_assert_int_eq(count_files(), 0);
    leave_folder();
}
END_TEST

static int write_and_die(FILE *stream, const void *text, ln_error *err)
{
    (void)err;
    fputs(text, stream);
    fflush(stream);
    raise(SIGKILL);
    return 0;
}

// For the second call, with a name.
static int die_once_named(FILE *stream, const void *text, ln_error *err)
{
    static int calls;
    return calls++ ? write_and_die(stream, text, err) : write_text(stream, text, err);
}

static void kill_writer(ln_outfile_func func)
{
    int status;
    const pid_t child = fork();
    if (!child) {
        ln_outfile_write("a", func, "half", NULL);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

START_TEST(a_killed_writer_leaves_nothing_for_long)
{
    enter_new_folder();
    ln_error err = {0};
    kill_writer(write_and_die);
    ck_assert_int_eq(count_files(), 0);
    ck_assert_int_eq(ln_outfile_write("a", write_text, "one", &err), 0);
    kill_writer(write_and_die);
    check_content("a", "one");
    ck_assert_int_eq(count_files(), 1);
    for (no_links = 0; no_links < 2; no_links++) {
        const int way = no_links;
        no_links = 1;
        kill_writer(die_once_named);
        check_content("a", "one");
        ck_assert_int_eq(count_files(), 2);
        no_links = way;
        ck_assert_int_eq(ln_outfile_write("a", write_text, "one", &err), 0);
        check_content("a", "one");
        ck_assert_int_eq(count_files(), 1);
    }
    leave_folder();
}
END_TEST

static int ready[2], go[2];

static int write_slowly(FILE *stream, const void *text, ln_error *err)
{
    char c = 0;
    (void)err;
    fputs(text, stream);
    ck_assert_int_eq(write(ready[1], &c, 1), 1);
    ck_assert_int_eq(read(go[0], &c, 1), 1);
    return 0;
}

START_TEST(writers_of_the_same_file_do_not_disturb_each_other)
{
    for (no_links = 0; no_links < 2; no_links++) {
        char c = 0;
        int status;
        enter_new_folder();
        ck_assert_int_eq(pipe(ready) | pipe(go), 0);
        const pid_t child = fork();
        if (!child)
            _exit(ln_outfile_write("a", write_slowly, "slow", NULL) != 0);
        for (int calls = 0; calls <= no_links; calls++) {
            ck_assert_int_eq(read(ready[0], &c, 1), 1);
            ck_assert_int_eq(ln_outfile_write("a", write_text, "fast", NULL), 0);
            check_content("a", "fast");
            ck_assert_int_eq(write(go[1], &c, 1), 1);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        check_content("a", "slow");
        ck_assert_int_eq(count_files(), 1);
        leave_folder();
    }
}
END_TEST

START_TEST(temporary_names_of_others_are_left_alone)
{
    enter_new_folder();
    // A link in the place of the first name, and a folder in that of the second.
    for (int i = 0; i < 2; i++) {
        no_links = 1;
        kill_writer(die_once_named);
        DIR *dir = opendir(folder);
        ck_assert_ptr_nonnull(dir);
        for (const struct dirent *e; (e = readdir(dir));)
            if (!strncmp(e->d_name, ".lightnet-", 10) && !i) {
                ck_assert_int_eq(unlink(e->d_name), 0);
                ck_assert_int_eq(symlink("precious", e->d_name), 0);
            }
        closedir(dir);
    }
    ck_assert_int_eq(ln_outfile_write("precious", write_text, "one", NULL), 0);
    for (no_links = 0; no_links < 2; no_links++) {
        ck_assert_int_eq(ln_outfile_write("a", write_text, "two", NULL), 0);
        check_content("a", "two");
        check_content("precious", "one");
        ck_assert_int_eq(count_files(), 3);
    }
    leave_folder();
}
END_TEST

static int write_much(FILE *stream, const void *arg, ln_error *err)
{
    (void)arg;
    (void)err;
    for (int i = 0; i < 100000; i++)
        fputs("0123456789", stream);
    return 0;
}

START_TEST(a_write_beyond_the_file_size_limit_keeps_the_old_file)
{
    for (no_links = 0; no_links < 2; no_links++) {
        const struct rlimit little = {10000, RLIM_INFINITY},
                            enough = {RLIM_INFINITY, RLIM_INFINITY};
        ln_error err = {0};
        enter_new_folder();
        signal(SIGXFSZ, SIG_IGN);
        ck_assert_int_eq(ln_outfile_write("a", write_text, "one", &err), 0);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
        const int status = ln_outfile_write("a", write_much, NULL, &err);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &enough), 0);
        ck_assert_int_eq(status, -1);
        ck_assert_str_eq(ln_error_text(&err), "a: cannot write: File too large");
        check_content("a", "one");
        ck_assert_int_eq(count_files(), 1);
        leave_folder();
    }
}
END_TEST

START_TEST(a_folder_that_cannot_be_written_is_an_error)
{
    enter_new_folder();
    ln_error err = {0};
    ck_assert_int_eq(chmod(folder, 0555), 0);
    if (!geteuid())
        ck_assert_int_eq(seteuid(65534), 0);
    ck_assert_int_eq(ln_outfile_write("a", write_text, "one", &err), -1);
    ck_assert_str_eq(ln_error_text(&err), "a: cannot write: Permission denied");
    if (geteuid() != getuid())
        ck_assert_int_eq(seteuid(getuid()), 0);
    ck_assert_int_eq(chmod(folder, 0755), 0);
    leave_folder();
}
END_TEST

START_TEST(standard_output_is_written_where_it_is_open)
{
    enter_new_folder();
    int status;
    const pid_t child = fork();
    if (!child) {
        const int fd = open("out", O_WRONLY | O_CREAT, 0666);
        dup2(fd, STDOUT_FILENO);
        printf("before ");
        status = ln_outfile_write("/dev/stdout", write_text, "one", NULL);
        printf(" behind");
        _exit(fflush(stdout) || status);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    check_content("out", "before one behind");
    ck_assert_int_eq(count_files(), 1);
    leave_folder();
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    enter_new_folder();
    int n, failed = 1;
    for (n = 0; failed; n++) {
        ln_error err = {0};
        ln_alloc_fail_after(n);
        const int status = ln_outfile_write("./a", write_text, "one", &err);
        failed = ln_alloc_fail_stop();
        ck_assert_int_eq(status, failed ? -1 : 0);
        if (failed)
            check_reason(&err, "./a", ENOMEM);
    }
    ck_assert_int_gt(n, 1);
    leave_folder();
}
END_TEST

LN_TEST_MAIN("outfile", file_is_created_and_replaced, failure_leaves_the_old_file_and_no_other,
             a_replaced_file_keeps_its_permissions, link_is_followed_and_stays,
             device_is_written_in_place, messages_name_the_file_and_the_reason,
             every_file_is_on_the_disk_before_it_has_its_name,
             results_wait_for_the_disk_where_they_replace_a_file,
             any_legal_name_is_written_and_replaced, a_killed_writer_leaves_nothing_for_long,
             writers_of_the_same_file_do_not_disturb_each_other,
             temporary_names_of_others_are_left_alone,
             a_write_beyond_the_file_size_limit_keeps_the_old_file,
             a_folder_that_cannot_be_written_is_an_error,
             standard_output_is_written_where_it_is_open, every_allocation_may_fail)
