// SPDX-License-Identifier: Apache-2.0
// Tests of input files: small, large, parked, and such as change while they are open.

#include "base/ln_infile.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ln_alloc_fail.h"
#include "ln_check.h"

enum { LARGE = LN_INFILE_SMALL + 100 };

static char folder[64];
static ln_error err;

static void write_file(const char *name, size_t size)
{
    FILE *stream = fopen(name, "wb");
    ck_assert_ptr_nonnull(stream);
    for (size_t i = 0; i < size; i++)
        putc((int)(i % 251), stream);
    ck_assert_int_eq(fclose(stream), 0);
}

static void enter_new_folder(void)
{
    strcpy(folder, "/tmp/ln_infile_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    write_file("small", 100);
    write_file("large", LARGE);
    ln_error_clear(&err);
}

static void leave_folder(void)
{
    char command[128];
    ck_assert_int_eq(chdir("/"), 0);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void check_bytes(const unsigned char *bytes, size_t offset, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ck_assert_int_eq(bytes[i], (int)((offset + i) % 251));
}

static void check_parts(const ln_infile *file)
{
    static const size_t parts[][2] = {{0, 1}, {0, 100}, {99, 1}, {100, 0}};
    unsigned char bytes[100];
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const size_t offset = parts[i][0] + file->size - 100;
        ck_assert_int_eq(ln_infile_read(file, offset, bytes, parts[i][1], &err), 0);
        check_bytes(bytes, offset, parts[i][1]);
    }
    ck_assert_int_eq(ln_infile_read(file, file->size - 1, bytes, 2, &err), -1);
    ln_error_clear(&err);
    ck_assert_int_eq(ln_infile_read(file, file->size + 1, bytes, 0, &err), -1);
    ln_error_clear(&err);
}

START_TEST(any_part_of_any_file_is_read)
{
    ln_infile file;
    size_t size;
    enter_new_folder();
    ck_assert_int_eq(ln_infile_open(&file, "small", &err), 0);
    ck_assert_ptr_nonnull(file.data);
    check_parts(&file);
    ln_infile_close(&file);
    ck_assert_int_eq(ln_infile_open(&file, "large", &err), 0);
    ck_assert_ptr_null(file.data);
    const unsigned char *head = ln_infile_head(&file, &size);
    ck_assert_uint_ge(size, 4096);
    check_bytes(head, 0, size);
    check_parts(&file);
    ck_assert_int_eq(ln_infile_park(&file, &err), 0);
    check_parts(&file);
    ck_assert_int_eq(ln_infile_load(&file, &err), 0);
    check_bytes(file.data, 0, file.size);
    ln_infile_close(&file);
    ln_infile_close(&file);
    leave_folder();
}
END_TEST

START_TEST(a_view_is_moved_as_it_is_read)
{
    static const size_t places[] = {0, 8000, 8191, 8192, 5000, LARGE - 1, 0};
    ln_infile file;
    enter_new_folder();
    ck_assert_int_eq(ln_infile_open(&file, "large", &err), 0);
    ln_view view = {.file = &file};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const size_t rest = LARGE - places[i], size = rest < LN_VIEW_SIZE ? rest : LN_VIEW_SIZE;
        check_bytes(ln_view_at(&view, places[i], 1, &err), places[i], 1);
        check_bytes(ln_view_at(&view, places[i], size, &err), places[i], size);
    }
    ck_assert_ptr_nonnull(ln_view_at(&view, LARGE, 0, &err));
    ck_assert_int_eq(truncate("large", 1000), 0);
    ck_assert_ptr_null(ln_view_at(&view, 20000, 1, &err));
    ck_assert_str_eq(ln_error_text(&err), "the file ended at byte 1000, expected 1048676; it "
                                          "changed while it was in use");
    ln_infile_close(&file);
    leave_folder();
}
END_TEST

START_TEST(errors_name_files_that_cannot_be_opened)
{
    static const struct {
        const char *name, *reason;
    } rows[] = {
        {"none", "none: cannot read: No such file or directory"},
        {"folder", "folder: cannot read: Is a directory"},
        {"empty", "empty: the file is empty"},
        {"/dev/null", "/dev/null: the file is empty"},
    };
    ln_infile file;
    enter_new_folder();
    write_file("empty", 0);
    ck_assert_int_eq(mkdir("folder", 0777), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ln_error_clear(&err);
        ck_assert_int_eq(ln_infile_open(&file, rows[i].name, &err), -1);
        ck_assert_str_eq(ln_error_text(&err), rows[i].reason);
    }
    leave_folder();
}
END_TEST

START_TEST(a_file_that_is_replaced_while_it_is_parked_is_noticed)
{
    unsigned char byte;
    ln_infile file;
    enter_new_folder();
    ck_assert_int_eq(ln_infile_open(&file, "large", &err), 0);
    ck_assert_int_eq(ln_infile_park(&file, &err), 0);
    write_file("other", LARGE);
    ck_assert_int_eq(rename("other", "large"), 0);
    ck_assert_int_eq(ln_infile_read(&file, 0, &byte, 1, &err), -1);
    ck_assert_str_eq(ln_error_text(&err),
                     "another file has its name; it changed while it was in use");
    ck_assert_int_eq(unlink("large") | mkfifo("large", 0666), 0);
    ln_error_clear(&err);
    ck_assert_int_eq(ln_infile_read(&file, 0, &byte, 1, &err), -1);
    ck_assert_int_eq(unlink("large"), 0);
    ln_error_clear(&err);
    ck_assert_int_eq(ln_infile_read(&file, 0, &byte, 1, &err), -1);
    ck_assert_str_eq(ln_error_text(&err), "cannot read: No such file or directory");
    ln_infile_close(&file);
    leave_folder();
}
END_TEST

static int try_all(void)
{
    unsigned char byte;
    ln_infile file = {0};
    const int status = ln_infile_open(&file, "large", NULL) || ln_infile_park(&file, NULL) ||
                               ln_infile_read(&file, 7, &byte, 1, NULL) ||
                               ln_infile_load(&file, NULL)
                           ? -1
                           : 0;
    ln_infile_close(&file);
    return status;
}

START_TEST(every_allocation_may_fail)
{
    enter_new_folder();
    int n, failed = 1;
    for (n = 0; failed; n++) {
        ln_alloc_fail_after(n);
        const int status = try_all();
        failed = ln_alloc_fail_stop();
        ck_assert_int_eq(status, failed ? -1 : 0);
        if (failed)
            ck_assert_ptr_nonnull(strstr(ln_last_error(), "out of memory"));
    }
    ck_assert_int_gt(n, 3);
    leave_folder();
}
END_TEST

START_TEST(a_shared_file_is_open_until_its_last_copy_is_closed)
{
    ln_infile file, copy, other;
    enter_new_folder();
    ck_assert_int_eq(ln_infile_open(&file, "large", &err), 0);
    ck_assert_int_eq(ln_infile_share(&file, &copy, &err), 0);
    ck_assert_int_eq(ln_infile_share(&copy, &other, &err), 0);
    ln_infile_close(&file);
    ln_infile_close(&other);
    check_parts(&copy);
    const int fd = copy.handle - 1;
    ck_assert_int_ne(fcntl(fd, F_GETFD), -1);
    ln_infile_close(&copy);
    ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
    leave_folder();
}
END_TEST

START_TEST(a_mapped_file_is_in_memory_and_is_not_written)
{
    ln_infile file, again;
    unsigned char byte = 0;
    enter_new_folder();
    ck_assert_msg(!ln_infile_open_mapped(&file, "large", &err), "%s", ln_error_text(&err));
    ck_assert_uint_eq(file.size, LARGE);
    for (size_t i = 0; i < LARGE; i++)
        ck_assert_uint_eq(file.data[i], i % 251);
    ((unsigned char *)file.map)[7] = 200;
    ck_assert_int_eq(ln_infile_read(&file, 7, &byte, 1, &err), 0);
    ck_assert_uint_eq(byte, 200);
    ck_assert_int_eq(ln_infile_open(&again, "large", &err), 0);
    ck_assert_int_eq(ln_infile_read(&again, 7, &byte, 1, &err), 0);
    ck_assert_uint_eq(byte, 7);
    ck_assert_int_eq(ln_infile_read(&file, LARGE, &byte, 1, &err), -1);
    ln_infile_close(&file);
    ln_infile_close(&again);
    ck_assert_ptr_null(file.map);
    leave_folder();
}
END_TEST

START_TEST(only_regular_files_are_mapped)
{
    ln_infile file;
    enter_new_folder();
    write_file("empty", 0);
    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    const struct {
        const char *name, *message;
    } cases[] = {
        {"pipe", "pipe: cannot map: not a regular file"},
        {".", ".: cannot map: not a regular file"},
        {"empty", "empty: the file is empty"},
        {"none", "none: cannot read: No such file or directory"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_error_clear(&err);
        ck_assert_int_eq(ln_infile_open_mapped(&file, cases[i].name, &err), -1);
        ck_assert_str_eq(ln_error_text(&err), cases[i].message);
    }
    for (int n = 0; n < 2; n++) {
        ln_error_clear(&err);
        ln_alloc_fail_after(n);
        ck_assert_int_eq(ln_infile_open_mapped(&file, "large", &err), -1);
        ck_assert_int_eq(ln_alloc_fail_stop(), 1);
        ck_assert_int_eq(ln_error_status(&err), LN_OUT_OF_MEMORY);
    }
    leave_folder();
}
END_TEST

LN_TEST_MAIN("infile", any_part_of_any_file_is_read, a_view_is_moved_as_it_is_read,
             errors_name_files_that_cannot_be_opened,
             a_file_that_is_replaced_while_it_is_parked_is_noticed,
             a_shared_file_is_open_until_its_last_copy_is_closed, every_allocation_may_fail,
             a_mapped_file_is_in_memory_and_is_not_written, only_regular_files_are_mapped)
