// SPDX-License-Identifier: Apache-2.0
// Tests of output files.

#include "lightnet/ln_outfile.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ln_check.h"

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

START_TEST(file_is_made_and_replaced)
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

LN_TEST_MAIN("outfile", file_is_made_and_replaced, failure_leaves_the_old_file_and_no_other,
             a_replaced_file_keeps_its_permissions, link_is_followed_and_stays,
             device_is_written_in_place, messages_name_the_file_and_the_reason)
