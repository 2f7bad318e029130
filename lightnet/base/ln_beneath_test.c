// SPDX-License-Identifier: Apache-2.0
// Tests of files that a model names: each row is a path in a tree of files, links and a FIFO.

#include "base/ln_beneath.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ln_check.h"
#include "lightnet/ln_util.h"

static char top[64];

static void write_file(const char *file, const char *text)
{
    FILE *stream = fopen(file, "w");
    ck_assert_ptr_nonnull(stream);
    fputs(text, stream);
    ck_assert_int_eq(fclose(stream), 0);
}

// model/ is the model's folder, blobs/ the one that may be allowed, secret/ neither.
static void enter_tree(void)
{
    static const struct {
        const char *target, *link;
    } links[] = {
        {"w", "model/near"},
        {"sub/v", "model/down"},
        {"../w", "model/sub/up"},
        {"../secret/s", "model/far"},
        {"../secret", "model/folder"},
        {"/dev/zero", "model/endless"},
        {"../blobs/b", "model/blob"},
        {"../secret/s", "blobs/chain"},
        {"../blobs/chain", "model/through"},
        {"../model/w", "model/around"},
        {"nothing", "model/broken"},
        {"loop", "model/loop"},
    };
    strcpy(top, "/tmp/ln_beneath_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(top));
    ck_assert_int_eq(chdir(top), 0);
    ck_assert_int_eq(mkdir("model", 0777) | mkdir("model/sub", 0777) | mkdir("blobs", 0777) |
                         mkdir("secret", 0777) | mkdir("models", 0777),
                     0);
    write_file("model/w", "w");
    write_file("model/..w", "dots");
    write_file("model/sub/v", "v");
    write_file("blobs/b", "b");
    write_file("secret/s", "s");
    write_file("models/x", "x");
    ck_assert_int_eq(mkfifo("model/fifo", 0666), 0);
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        ck_assert_int_eq(symlink(links[i].target, links[i].link), 0);
    ck_assert_int_eq(symlink("../models/x", "model/prefix"), 0);
}

static void leave_tree(void)
{
    char command[128];
    ck_assert_int_eq(chdir("/"), 0);
    snprintf(command, sizeof(command), "rm -r %s", top);
    ck_assert_int_eq(system(command), 0);
}

static void check_row(const ln_beneath *folders, const char *path, const char *content,
                      const char *reason)
{
    const char *in;
    char text[16] = "", expected[LN_MAXLINE];
    ln_error err = {0};
    const int fd = ln_beneath_open(folders, path, &in, &err);
    if (content) {
        ck_assert_msg(fd >= 0, "%s: %s", path, ln_error_text(&err));
        ck_assert_int_eq(read(fd, text, sizeof(text) - 1), (int)strlen(content));
        ck_assert_str_eq(text, content);
        close(fd);
        return;
    }
    ck_assert_msg(fd < 0, "%s was opened", path);
    snprintf(expected, sizeof(expected), reason, top);
    ck_assert_str_eq(ln_error_text(&err), expected);
}

#define OUTSIDE(path, place)                                                                      \
    path ": links lead to " place ", outside of the model's folder; if that is meant, allow the " \
         "folder there (--include, option 'folder', ln_context_allow_folder)"
#define NOT_INNER(path) path ": expected a relative path without '..'"

START_TEST(only_regular_files_of_the_folder_are_opened)
{
    char loop[100];
    snprintf(loop, sizeof(loop), "loop: cannot read: %s", strerror(ELOOP));
    const struct {
        const char *path, *content, *reason;
    } rows[] = {
        {"w", "w", NULL},
        {"./w", "w", NULL},
        {"..w", "dots", NULL},
        {"sub/v", "v", NULL},
        {"near", "w", NULL},
        {"down", "v", NULL},
        {"sub/up", "w", NULL},
        {"around", "w", NULL},
        {"", NULL, NOT_INNER("")},
        {"/etc/passwd", NULL, NOT_INNER("/etc/passwd")},
        {"..", NULL, NOT_INNER("..")},
        {"../secret/s", NULL, NOT_INNER("../secret/s")},
        {"sub/../../secret/s", NULL, NOT_INNER("sub/../../secret/s")},
        {"sub/..", NULL, NOT_INNER("sub/..")},
        {"far", NULL, OUTSIDE("far", "%s/secret/s")},
        {"folder/s", NULL, OUTSIDE("folder/s", "%s/secret/s")},
        {"blob", NULL, OUTSIDE("blob", "%s/blobs/b")},
        {"prefix", NULL, OUTSIDE("prefix", "%s/models/x")},
        {"endless", NULL, OUTSIDE("endless", "/dev/zero")},
        {"fifo", NULL, "fifo: not a regular file"},
        {"sub", NULL, "sub: not a regular file"},
        {"none", NULL, "none: cannot read: No such file or directory"},
        {"broken", NULL, "broken: cannot read: No such file or directory"},
        {"w/x", NULL, "w/x: cannot read: Not a directory"},
        {"loop", NULL, loop},
    };
    enter_tree();
    const char *const names[] = {"model", "model/", "./sub/../model"};
    ck_assert_int_eq(mkdir("sub", 0777), 0);
    for (size_t f = 0; f < sizeof(names) / sizeof(names[0]); f++)
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
            check_row(&(ln_beneath){.folder = names[f]}, rows[i].path, rows[i].content,
                      rows[i].reason);
    ck_assert_int_eq(chdir("model"), 0);
    check_row(&(ln_beneath){.folder = ""}, "w", "w", NULL);
    check_row(&(ln_beneath){.folder = ""}, "far", NULL, OUTSIDE("far", "%s/secret/s"));
    check_row(&(ln_beneath){.folder = "/"}, "etc/hostname/x", NULL,
              "etc/hostname/x: cannot read: Not a directory");
    leave_tree();
}
END_TEST

START_TEST(links_may_lead_into_allowed_folders)
{
    enter_tree();
    ln_list *allowed = ln_list_append(NULL, "blobs");
    const ln_beneath folders = {.folder = "model", .allowed = allowed};
    check_row(&folders, "blob", "b", NULL);
    check_row(&folders, "b", "b", NULL); // the model's folder lacks it
    check_row(&folders, "w", "w", NULL);
    check_row(&folders, "far", NULL, OUTSIDE("far", "%s/secret/s"));
    check_row(&folders, "through", NULL, OUTSIDE("through", "%s/secret/s"));
    check_row(&folders, "../blobs/b", NULL, NOT_INNER("../blobs/b"));
    ln_list_free(allowed);
    leave_tree();
}
END_TEST

static void check_content(const char *file, const char *expected)
{
    char text[16] = "";
    FILE *stream = fopen(file, "r");
    ck_assert_ptr_nonnull(stream);
    text[fread(text, 1, sizeof(text) - 1, stream)] = '\0';
    fclose(stream);
    ck_assert_msg(!strcmp(text, expected), "%s is '%s', expected '%s'", file, text, expected);
}

#define ELSEWHERE "outside of the folder '%s/model', in which the model may write"
#define LINK      "a link leads elsewhere; the model may write regular files only"

START_TEST(only_regular_files_of_the_folder_are_written)
{
    static const struct {
        const char *path;   // %s: the folder that the tree is in
        const char *reason; // NULL: it is written
        ln_status status;
    } rows[] = {
        {"w", NULL, LN_OK},
        {"new", NULL, LN_OK},
        {"..w", NULL, LN_OK},
        {"sub/v", NULL, LN_OK},
        {"sub//./new", NULL, LN_OK},
        {"%s/model/sub/v", NULL, LN_OK},
        {"%s/model", ELSEWHERE, LN_OK},
        {"%s/models/x", ELSEWHERE, LN_OK},
        {"%s/secret/s", ELSEWHERE, LN_OK},
        {"%s/model/../secret/s", ELSEWHERE, LN_OK},
        {"../secret/s", ELSEWHERE, LN_OK},
        {"sub/../w", ELSEWHERE, LN_OK},
        {"/dev/null", ELSEWHERE, LN_OK},
        {"", ELSEWHERE, LN_OK},
        {"near", LINK, LN_OK},
        {"far", LINK, LN_OK},
        {"broken", LINK, LN_OK},
        {"loop", LINK, LN_OK},
        {"endless", LINK, LN_OK},
        {"folder/s", LINK, LN_OK},
        {"folder/new", LINK, LN_OK},
        {"twice", "the file has several names (hard links)", LN_OK},
        {"fifo", "not a regular file", LN_OK},
        {"sub", "not a regular file", LN_OK},
        {"none/new", "No such file or directory", LN_NOT_FOUND},
        {"w/new", "Not a directory", LN_IO_ERROR},
        {"sub/", "No such file or directory", LN_NOT_FOUND},
    };
    enter_tree();
    ck_assert_int_eq(link("secret/s", "model/twice"), 0);
    char *real = realpath(top, NULL), folder[128];
    snprintf(folder, sizeof(folder), "%s/model", real);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char path[128], expected[256] = "";
        ln_error err = {0};
        snprintf(path, sizeof(path), rows[i].path, real);
        if (rows[i].reason)
            snprintf(expected, sizeof(expected), rows[i].reason, real);
        const int fd = ln_beneath_create(folder, path, &err);
        ck_assert_msg((fd >= 0) == !rows[i].reason, "%s: %s", path, ln_error_text(&err));
        ck_assert_msg(!strcmp(ln_error_text(&err), expected), "%s: '%s', expected '%s'", path,
                      ln_error_text(&err), expected);
        ck_assert_int_eq(ln_error_status(&err), rows[i].status);
        if (fd >= 0) {
            ck_assert_int_eq(write(fd, "!", 1), 1);
            close(fd);
            check_content(*path == '/' ? path : strcat(strcat(folder, "/"), path), "!");
            folder[strlen(real) + strlen("/model")] = '\0';
        }
    }
    check_content("secret/s", "s");
    check_content("models/x", "x");
    free(real);
    leave_tree();
}
END_TEST

START_TEST(a_model_may_lie_behind_a_link_itself)
{
    enter_tree();
    ck_assert_int_eq(symlink("model", "link"), 0);
    check_row(&(ln_beneath){.folder = "link"}, "w", "w", NULL);
    check_row(&(ln_beneath){.folder = "link"}, "near", "w", NULL);
    leave_tree();
}
END_TEST

START_TEST(the_folder_of_a_file_ends_in_its_slash)
{
    ck_assert_uint_eq(ln_beneath_folder_len("m.onnx"), 0);
    ck_assert_uint_eq(ln_beneath_folder_len("a/m.onnx"), 2);
    ck_assert_uint_eq(ln_beneath_folder_len("/m.onnx"), 1);
}
END_TEST

LN_TEST_MAIN("beneath", only_regular_files_of_the_folder_are_opened,
             links_may_lead_into_allowed_folders, only_regular_files_of_the_folder_are_written,
             a_model_may_lie_behind_a_link_itself, the_folder_of_a_file_ends_in_its_slash)
