// SPDX-License-Identifier: Apache-2.0
// Tests of files of models: names, versions, choices, changes.

#include "srv_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ln_check.h"
#include "srv_foreign.h"

static char folder[] = "/tmp/srv_files_XXXXXX";
static srv_files files;
static srv_error err;

static const char *in_folder(const char *path)
{
    static char whole[256];
    snprintf(whole, sizeof(whole), "%s/%s", folder, path);
    return whole;
}

// Writes a file, and makes its folders.
static void put(const char *path, const char *text)
{
    char part[256];
    snprintf(part, sizeof(part), "%s", in_folder(path));
    for (char *slash = strchr(part + sizeof(folder), '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(part, 0777);
        *slash = '/';
    }
    FILE *const file = fopen(part, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void begin(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    err = (srv_error){.status = SRV_OK};
}

static void end(void)
{
    char command[64];
    srv_files_clear(&files);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void find(const char *path)
{
    srv_files_clear(&files);
    ck_assert_msg(!srv_files_find(&files, in_folder(path), &err) && !srv_files_sort(&files, &err),
                  "%s", err.text);
}

static void expect(int i, const char *name, long version, const char *path)
{
    ck_assert_int_lt(i, files.n);
    ck_assert_str_eq(files.at[i].name, name);
    ck_assert_int_eq(files.at[i].version, version);
    ck_assert_str_eq(files.at[i].path + sizeof(folder), path);
}

START_TEST(folder_has_files_and_versions)
{
    begin();
    put("b.onnx", "");
    put("a.net.json", "");
    put("notes.txt", "");
    put(".hidden.onnx", "");
    put("m/2/model.onnx", "");
    put("m/10/model.onnx", "");
    put("m/10/other.bin", "");
    put("m/x/model.onnx", "");
    put("m/3/notes.txt", "");
    find(".");
    ck_assert_int_eq(files.n, 4);
    expect(0, "a.net", 1, "./a.net.json");
    expect(1, "b", 1, "./b.onnx");
    expect(2, "m", 10, "./m/10/model.onnx");
    expect(3, "m", 2, "./m/2/model.onnx");
    end();
}
END_TEST

START_TEST(version_has_one_model)
{
    begin();
    put("named/1/model.onnx", "");
    put("named/1/model.safetensors", ""); // compiled: preferred
    put("named/1/extra.onnx", "");
    put("only/1/net.onnx", "");
    put("two/1/a.onnx", ""); // neither is meant
    put("two/1/b.onnx", "");
    find(".");
    ck_assert_int_eq(files.n, 2);
    expect(0, "named", 1, "./named/1/model.safetensors");
    expect(1, "only", 1, "./only/1/net.onnx");
    end();
}
END_TEST

// Lines begin with the folder.
static void expect_ignored(int i, const char *line)
{
    ck_assert_int_lt(i, files.n_ignored);
    ck_assert_str_eq(files.ignored[i] + sizeof(folder) + 2, line);
}

static void put_tensors(const char *path, const char *header)
{
    char text[256];
    memcpy(text, "\1\1\1\1\1\1\1\1", 8);
    snprintf(text + 8, sizeof(text) - 8, "%s", header);
    put(path, text);
}

START_TEST(files_of_other_programs_are_ignored)
{
    begin();
    put("config.json", "{\"model\": {\"ops\": []}, \"text\": \"\\\"nodes\\\": [\"}");
    put("labels.json", " [\"ops\"]");
    put("m.json", "{\"inputs\": [], \"ops\": []}");
    put("broken.json", "{\"inputs\": [");
    put("nnvm.json", "{\"nodes\" : []}");
    put_tensors("compiled.safetensors", "{\"__metadata__\":{\"lightnet\":\"5\"}}");
    put_tensors("weights.safetensors", "{\"a\":{}}");
    put_tensors("n/1/model.safetensors", "{\"a\":{}}"); // beside a model: no line
    put("n/1/model.onnx", "");
    find(".");
    ck_assert_int_eq(files.n, 5);
    expect(0, "broken", 1, "./broken.json");
    expect(1, "compiled", 1, "./compiled.safetensors");
    expect(2, "m", 1, "./m.json");
    expect(3, "n", 1, "./n/1/model.onnx");
    expect(4, "nnvm", 1, "./nnvm.json");
    ck_assert_int_eq(files.n_ignored, 3);
    expect_ignored(0, "config.json: this is no model of LightNet");
    expect_ignored(1, "labels.json: this is no model of LightNet");
    expect_ignored(2, "weights.safetensors: this is no model of LightNet");
    end();
}
END_TEST

// A vocabulary has no end within what is read; a file that is shorter is being written.
START_TEST(long_file_without_keys_of_models_is_foreign)
{
    enum { LONG = 100000 };
    char *const text = calloc(1, LONG + 1);
    ck_assert_ptr_nonnull(text);
    begin();
    memset(text, ' ', LONG);
    text[0] = '{';
    put("a.json", text);
    text[LONG / 2] = '\0';
    put("b.json", text);
    ck_assert_int_eq(srv_foreign_is(in_folder("a.json")), 1);
    ck_assert_int_eq(srv_foreign_is(in_folder("b.json")), 0);
    ck_assert_int_eq(srv_foreign_is(in_folder("missing.json")), 0);
    ck_assert_int_eq(mkfifo(in_folder("pipe.json"), 0600), 0);
    ck_assert_int_eq(srv_foreign_is(in_folder("pipe.json")), 0); // it does not wait for a writer
    end();
    free(text);
}
END_TEST

START_TEST(files_of_one_name_have_an_order)
{
    begin();
    put("m.json", "{\"ops\": []}");
    put("m.onnx", "");
    put("m.net", "");
    find(".");
    ck_assert_int_eq(files.n, 1);
    expect(0, "m", 1, "./m.onnx");
    ck_assert_int_eq(files.n_ignored, 2);
    ck_assert_ptr_nonnull(strstr(files.ignored[0], "/m.json: "));
    ck_assert_ptr_nonnull(strstr(files.ignored[0], "/m.onnx comes before it"));
    ck_assert_int_eq(srv_files_has_ignored(&files, files.ignored[1]), 1);
    ck_assert_int_eq(srv_files_has_ignored(&files, "m.net"), 0);
    end();
}
END_TEST

START_TEST(models_without_versions_are_named)
{
    begin();
    put("a.onnx", "");
    put("m/model.onnx", "");
    put("m/labels.json", "{}");
    put("m/latest/model.onnx", "");
    put("m/docs/notes.txt", "");
    put("two/1/a.onnx", "");
    put("two/1/b.onnx", "");
    find(".");
    ck_assert_int_eq(files.n, 1);
    ck_assert_int_eq(files.n_ignored, 3);
    expect_ignored(0, "m/latest: has no version; expected NAME/VERSION/model.onnx, as in m/1");
    expect_ignored(1, "m/model.onnx: has no version; expected NAME/VERSION/model.onnx, as in m/1");
    expect_ignored(2, "two/1: none of 2 models has the name 'model'");
    end();
}
END_TEST

START_TEST(path_may_be_a_file_or_one_model)
{
    begin();
    put("m/4/model.onnx", "");
    find("m");
    ck_assert_int_eq(files.n, 1);
    expect(0, "m", 4, "m/4/model.onnx");
    find("m/4/model.onnx");
    expect(0, "model", 1, "m/4/model.onnx");
    end();
}
END_TEST

START_TEST(stamp_changes_with_the_content)
{
    begin();
    put("m/1/model.onnx", "a");
    put("m/1/weights.bin", "a");
    find(".");
    const uint64_t first = files.at[0].stamp;
    find(".");
    ck_assert_uint_eq(files.at[0].stamp, first);
    put("m/1/weights.bin", "ab");
    find(".");
    ck_assert_uint_ne(files.at[0].stamp, first);
    end();
}
END_TEST

START_TEST(nothing_and_twice_the_same_are_errors)
{
    begin();
    ck_assert_int_eq(srv_files_find(&files, in_folder("missing"), &err), -1);
    ck_assert_msg(strstr(err.text, "cannot read") != NULL, "%s", err.text);
    err = (srv_error){.status = SRV_OK};
    ck_assert_int_eq(srv_files_find(&files, folder, &err), -1);
    ck_assert_msg(strstr(err.text, "no model") != NULL, "%s", err.text);
    put("m.onnx", "");
    put("m/1/model.onnx", "");
    err = (srv_error){.status = SRV_OK};
    ck_assert_int_eq(srv_files_find(&files, folder, &err), 0);
    ck_assert_int_eq(srv_files_sort(&files, &err), -1);
    ck_assert_msg(strstr(err.text, "are both version 1 of model 'm'") != NULL, "%s", err.text);
    end();
}
END_TEST

START_TEST(small_files_are_read_whole)
{
    begin();
    put("token", "one line\nand more");
    char *const text = srv_files_read(in_folder("token"), 17, &err);
    ck_assert_msg(text != NULL, "%s", err.text);
    ck_assert_str_eq(text, "one line\nand more");
    free(text);
    end();
}
END_TEST

static void expect_unreadable(const char *path, const char *reason)
{
    err = (srv_error){.status = SRV_OK};
    ck_assert_ptr_null(srv_files_read(path, 16, &err));
    ck_assert_msg(strstr(err.text, reason) != NULL, "%s", err.text);
}

START_TEST(files_that_are_no_text_are_errors)
{
    begin();
    put("long", "0123456789abcdefg");
    put("empty", "");
    put("zero", "a");
    ck_assert_int_eq(truncate(in_folder("zero"), 3), 0);
    expect_unreadable(in_folder("long"), "has 17 bytes, expected up to 16");
    expect_unreadable(in_folder("empty"), "is empty");
    expect_unreadable(in_folder("zero"), "is no text");
    expect_unreadable(in_folder("missing"), "cannot read");
    expect_unreadable(folder, "is no regular file");
    end();
}
END_TEST

static void find_named(const char *name, const char *path)
{
    char text[512];
    srv_files_clear(&files);
    err = (srv_error){.status = SRV_OK};
    snprintf(text, sizeof(text), "%s=%s", name, in_folder(path));
    if (!srv_files_find(&files, text, &err))
        ck_assert_int_eq(srv_files_sort(&files, &err), 0);
}

START_TEST(name_may_be_given_to_a_path)
{
    begin();
    put("file.onnx", "");
    put("plain/model.onnx", "");
    put("plain/weights.bin", "");
    put("any/net.onnx", "");
    put("versions/2/model.onnx", "");
    put("versions/3/model.onnx", "");
    put("versions/model.onnx", "");
    put("two/a.onnx", "");
    put("two/b.onnx", "");
    put("nested/m/1/model.onnx", "");
    put("a=b.onnx", "");
    find_named("x", "file.onnx");
    expect(0, "x", 1, "file.onnx");
    find_named("x", "plain");
    expect(0, "x", 1, "plain/model.onnx");
    find_named("x", "any");
    expect(0, "x", 1, "any/net.onnx");
    find_named("x", "versions");
    ck_assert_int_eq(files.n, 2);
    expect(0, "x", 3, "versions/3/model.onnx");
    expect(1, "x", 2, "versions/2/model.onnx");
    find("a=b.onnx"); // a file of this name comes first
    expect(0, "a=b", 1, "a=b.onnx");
    end();
}
END_TEST

START_TEST(name_that_is_given_to_no_model_is_rejected)
{
    static const struct {
        const char *name, *path, *reason;
    } cases[] = {
        {"x", "two", "/two: no model; expected VERSION/model.onnx, model.onnx, or one file"},
        {"x", "nested", "/nested: no model; expected VERSION/model.onnx"},
        {"x", "none", "/none: cannot read: No such file or directory"},
        {"", "two", "expected NAME=PATH with a name of 1 to 255 bytes"},
    };
    begin();
    put("two/a.onnx", "");
    put("two/b.onnx", "");
    put("nested/m/1/model.onnx", "");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        find_named(cases[i].name, cases[i].path);
        ck_assert_int_eq(files.n, 0);
        ck_assert_msg(strstr(err.text, cases[i].reason) != NULL, "%s", err.text);
    }
    end();
}
END_TEST

LN_TEST_MAIN("files of models", folder_has_files_and_versions, version_has_one_model,
             files_of_other_programs_are_ignored, long_file_without_keys_of_models_is_foreign,
             files_of_one_name_have_an_order, models_without_versions_are_named,
             path_may_be_a_file_or_one_model, name_may_be_given_to_a_path,
             name_that_is_given_to_no_model_is_rejected, stamp_changes_with_the_content,
             nothing_and_twice_the_same_are_errors, small_files_are_read_whole,
             files_that_are_no_text_are_errors)
