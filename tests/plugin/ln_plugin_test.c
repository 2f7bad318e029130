// SPDX-License-Identifier: Apache-2.0
// Tests of loading plug-ins: the one of examples/plugin, and one for each thing that can be wrong.
//
// LN_TEST_PLUGINS is the folder where they are built.

#include "lightnet/ln_plugin.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_pass.h"
#include "ln_check.h"

// The path of a plug-in, in a buffer that lasts until the next call.
static const char *path_of(const char *name)
{
    static char path[PATH_MAX];
    const char *folder = getenv("LN_TEST_PLUGINS");
    ck_assert_ptr_nonnull(folder);
    snprintf(path, sizeof(path), "%s/%s.so", folder, name);
    return path;
}

static const ln_arch *arch_of(const char *name)
{
    return ln_hash_find(LN_ARCH.arch_table, name);
}

static const ln_op *proto_of(const char *optype)
{
    return ln_hash_find(LN_ARCH.op_proto_table, optype);
}

// The content of the tables.
typedef struct state {
    int archs, ops, plugins;
    ln_arch none, cpu;
} state;

static state state_now(void)
{
    return (state){.archs = ln_list_length(ln_arch_list()),
                   .ops = ln_hash_size(LN_ARCH.op_proto_table),
                   .plugins = ln_list_length(ln_plugin_list()),
                   .none = *arch_of("none"),
                   .cpu = *arch_of("cpu")};
}

static void assert_unchanged(const state *before)
{
    const state now = state_now();
    ck_assert_int_eq(now.archs, before->archs);
    ck_assert_int_eq(now.ops, before->ops);
    ck_assert_int_eq(now.plugins, before->plugins);
    ck_assert_mem_eq(&now.none, &before->none, sizeof(now.none));
    ck_assert_mem_eq(&now.cpu, &before->cpu, sizeof(now.cpu));
}

// In the words of the C library's loader.
#ifdef __GLIBC__
#define NO_SUCH_SYMBOL "cannot be loaded: undefined symbol: a_function_that_nobody_has"
#else
#define NO_SUCH_SYMBOL "a_function_that_nobody_has: symbol not found"
#endif

START_TEST(errors_name_the_file_and_leave_nothing)
{
    static const struct {
        const char *name, *message;
    } cases[] = {
        {"other_abi", "is built for binary interface 99 of plug-ins, expected "},
        {"other_magic",
         "is not a plug-in: its 'ln_plugin_descriptor' begins with 0x63, expected 0x49504e4c"},
        {"other_sizes", "bytes of 'ln_arch', expected"},
        {"other_tables", "uses another copy of LightNet than this program does"},
        {"nameless", "is a plug-in without a name"},
        {"known_arch", "architecture 'cpu' is registered already"},
        {"known_op", "architecture 'none': operator type 'relu' is registered already"},
        {"known_rule", "architecture 'own': architecture 'cpu' has a rule 'lower_cpu' already"},
        {"same_op", "architecture 'none': operator type 'first' is registered already"},
        {"foreign_op", "architecture 'none': operator 'second' has 'arch' 'cpu', expected 'none'"},
        {"unknown_arch", "unknown architecture 'nowhere' to extend"},
        {"unknown_base", "architecture 'own' builds on 'nowhere', which is not registered"},
        {"no_descriptor", "is not a plug-in: it has no symbol 'ln_plugin_descriptor'"},
        {"self_registering", "registers architectures by itself, expected them in its"},
        {"incomplete", NO_SUCH_SYMBOL},
        {"missing", "No such file or directory"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const state before = state_now();
        const char *path = path_of(cases[i].name);
        ck_assert_msg(ln_plugin_load(path) == -1, "%s: was loaded", path);
        ck_assert_msg(strncmp(ln_last_error(), path, strlen(path)) == 0 &&
                          strstr(ln_last_error(), cases[i].message),
                      "%s: says '%s', expected '%s'", path, ln_last_error(), cases[i].message);
        assert_unchanged(&before);
    }
    // Nothing that failed is in the way of what does not.
    ck_assert_msg(!ln_plugin_load(path_of("right")), "%s", ln_last_error());
}
END_TEST

// The first `size` bytes of plug-in `name` as a new file, whose name is put into `file`.
static void write_beginning(const char *name, size_t size, char file[PATH_MAX])
{
    char *bytes = malloc(size);
    FILE *in = fopen(path_of(name), "rb");
    ck_assert_ptr_nonnull(in);
    ck_assert_uint_eq(fread(bytes, 1, size, in), size);
    fclose(in);
    strcpy(file, "/tmp/ln_plugin_XXXXXX");
    const int fd = mkstemp(file);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    close(fd);
    free(bytes);
}

START_TEST(rejects_every_truncated_plugin)
{
    struct stat whole;
    ck_assert_int_eq(stat(path_of("right"), &whole), 0);
    const state before = state_now();
    for (off_t size = 1; size < whole.st_size; size += 1 + size / 3) {
        char file[PATH_MAX];
        write_beginning("right", (size_t)size, file);
        const int status = ln_plugin_load(file);
        unlink(file);
        // Beyond its segments there are only names for debuggers: such a file may be loaded.
        if (status == 0)
            break;
        ck_assert_msg(strstr(ln_last_error(), "is not a shared object") ||
                          strstr(ln_last_error(), "is cut off"),
                      "%s", ln_last_error());
        assert_unchanged(&before);
    }
}
END_TEST

START_TEST(a_folder_and_other_files_are_no_plugins)
{
    ck_assert_int_eq(ln_plugin_load("/"), -1);
    ck_assert_int_eq(ln_plugin_load("/dev/null"), -1);
    ck_assert_int_eq(ln_plugin_load(""), -1);
    ck_assert_int_eq(ln_plugin_load("/proc/self/exe"), -1);
    ck_assert_ptr_null(ln_plugin_list());
}
END_TEST

START_TEST(a_pipe_is_not_waited_for)
{
    char folder[] = "/tmp/ln_plugin_XXXXXX", pipe[64], expected[100];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(pipe, sizeof(pipe), "%s/pipe.so", folder);
    snprintf(expected, sizeof(expected), "%s: is not a regular file", pipe);
    ck_assert_int_eq(mkfifo(pipe, 0600), 0);
    ck_assert_int_eq(ln_plugin_load_path(folder), -1);
    ck_assert_str_eq(ln_last_error(), expected);
    unlink(pipe);
    rmdir(folder);
}
END_TEST

static const char model[] =
    "{\"ops\": [{\"name\": \"x\", \"optype\": \"create\", \"tensors_in\": [],"
    "\"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"x\"}],"
    "\"params\": [{\"arg_name\": \"dtype\", \"value\": \"TL_FLOAT\"},"
    "{\"arg_name\": \"dims\", \"value\": [3]}, {\"arg_name\": \"data\", \"value\": [-1.5, 0, 1.5]},"
    "{\"arg_name\": \"ran\", \"value\": [0, 0]}, {\"arg_name\": \"from_file\", \"value\": false}]},"
    "{\"name\": \"a\", \"optype\": \"%s\", \"tensors_in\": [{\"arg_name\": \"src\", \"name\": "
    "\"x\"}],"
    "\"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"a\"}], \"params\": []},"
    "{\"name\": \"y\", \"optype\": \"relu\", \"tensors_in\": [{\"arg_name\": \"src\", \"name\": "
    "\"a\"}],"
    "\"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"y\"}], \"params\": []}],"
    "\"inputs\": [], \"outputs\": [\"y\"]}";

// Returns new (ln_context_free): x -> `optype` -> relu -> y, having run on `target`.
static ln_context *run_model(const char *optype, const char *target)
{
    char text[sizeof(model) + 64];
    snprintf(text, sizeof(text), model, optype);
    ln_context *ctx = ln_context_create();
    ck_assert_ptr_nonnull(ctx);
    ck_assert_msg(!ln_context_init_text(ctx, "model", text, strlen(text)) &&
                      !ln_context_compile(ctx, target) && !ln_context_load(ctx, NULL) &&
                      !ln_context_run(ctx),
                  "%s", ln_context_error(ctx));
    return ctx;
}

static int count_fired(const ln_context *ctx, const char *name)
{
    const ln_rule_count *rule;
    LN_LIST_FOREACH (rule, ctx->rules)
        if (ln_streq(rule->name, name))
            return rule->count;
    return 0;
}

START_TEST(operators_and_rules_of_a_plugin_are_like_those_of_lightnet)
{
    float y[3];
    ck_assert_msg(!ln_plugin_load(path_of("squareplus")), "%s", ln_last_error());
    ln_context *ctx = run_model("squareplus", "cpu");
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "y", y));
    ck_assert_float_eq_tol(y[0], 0.5f, 1e-7f);
    ck_assert_float_eq_tol(y[1], 1, 1e-7f);
    ck_assert_float_eq_tol(y[2], 2, 1e-7f);
    ck_assert_int_eq(count_fired(ctx, "relu_of_squareplus"), 1);
    ln_context_free(ctx);

    ctx = ln_context_create();
    ck_assert_int_eq(ln_context_disable_rule(ctx, "relu_of_squareplus"), 0);
    ln_context_free(ctx);
}
END_TEST

START_TEST(an_architecture_of_a_plugin_is_a_target)
{
    float y[3];
    ck_assert_msg(!ln_plugin_load(path_of("right")), "%s", ln_last_error());
    ln_context *ctx = run_model("relu", "own");
    ck_assert_ptr_nonnull(ln_context_get_data(ctx, "y", y));
    ck_assert_float_eq(y[0], 0);
    ck_assert_float_eq(y[2], 1.5f);
    ln_context_free(ctx);
}
END_TEST

START_TEST(additions_name_their_plugin)
{
    ck_assert_int_eq(ln_plugin_load(path_of("right")), 0);
    ck_assert_int_eq(ln_plugin_load(path_of("squareplus")), 0);
    const ln_plugin_loaded *right = ln_list_nth_data(ln_plugin_list(), 0);
    const ln_plugin_loaded *squareplus = ln_list_nth_data(ln_plugin_list(), 1);
    ck_assert_str_eq(right->plugin->name, "faulty");
    ck_assert_str_eq(squareplus->plugin->name, "squareplus");
    ck_assert_ptr_eq(ln_plugin_of_op(proto_of("first")), right);
    ck_assert_ptr_eq(ln_plugin_of_op(proto_of("second")), right);
    ck_assert_ptr_eq(ln_plugin_of_op(proto_of("squareplus_cpu")), squareplus);
    ck_assert_ptr_eq(ln_plugin_of_arch(arch_of("own")), right);
    ck_assert_ptr_null(ln_plugin_of_op(proto_of("relu")));
    ck_assert_ptr_null(ln_plugin_of_arch(arch_of("cpu")));
}
END_TEST

START_TEST(operators_have_the_kind_of_their_description_or_none)
{
    ck_assert_int_eq(ln_plugin_load(path_of("right")), 0);
    ck_assert_int_eq(ln_plugin_load(path_of("squareplus")), 0);
    ck_assert_int_eq(ln_op_kind(proto_of("squareplus")), LN_KIND_ELEMENTWISE);
    ck_assert_int_eq(ln_op_kind(proto_of("squareplus_cpu")), LN_KIND_ELEMENTWISE);
    ck_assert_int_eq(ln_op_kind(proto_of("first")), LN_KIND_OTHER);
    ck_assert_int_eq(ln_op_kind(proto_of("conv2d")), LN_KIND_CONVOLUTION);
    ck_assert_int_eq(ln_op_kind(proto_of("transpose_cpu")), LN_KIND_MOVEMENT);
}
END_TEST

START_TEST(a_plugin_is_loaded_once)
{
    ck_assert_int_eq(ln_plugin_load(path_of("right")), 0);
    const state before = state_now();
    ck_assert_int_eq(ln_plugin_load(path_of("right")), 0);
    assert_unchanged(&before);
}
END_TEST

START_TEST(loading_fails_while_a_context_exists)
{
    ln_context *ctx = ln_context_create();
    ck_assert_int_eq(ln_plugin_load(path_of("right")), -1);
    ck_assert_ptr_nonnull(strstr(ln_last_error(), "right.so: a context exists already"));
    ln_context_free(ctx);
    ck_assert_int_eq(ln_plugin_load(path_of("right")), 0);
}
END_TEST

// A folder with links to two plug-ins, and what is none.
static void make_folder(char folder[PATH_MAX])
{
    static const char *const links[][2] = {
        {"b.so", "right"}, {"a.so", "squareplus"}, {"notes.txt", "missing"}, {".so", "missing"}};
    char link[PATH_MAX + 16];
    strcpy(folder, "/tmp/ln_plugins_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
        snprintf(link, sizeof(link), "%s/%s", folder, links[i][0]);
        ck_assert_int_eq(symlink(path_of(links[i][1]), link), 0);
    }
}

static void remove_folder(const char *folder)
{
    char command[PATH_MAX + 16];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(folders_are_loaded_in_the_order_of_names)
{
    char folder[PATH_MAX], path[2 * PATH_MAX];
    make_folder(folder);
    snprintf(path, sizeof(path), ":%s::", folder);
    setenv("LIGHTNET_PLUGIN_PATH", path, 1);
    const int status = ln_plugin_load_path(NULL);
    remove_folder(folder);
    ck_assert_msg(!status, "%s", ln_last_error());
    ck_assert_int_eq(ln_list_length(ln_plugin_list()), 2);
    const ln_plugin_loaded *first = ln_plugin_list()->data;
    ck_assert_str_eq(first->plugin->name, "squareplus");
    ck_assert_int_eq(first->file[0], '/');
}
END_TEST

START_TEST(reports_a_missing_folder)
{
    ck_assert_int_eq(ln_plugin_load_path("/nowhere/at/all"), -1);
    ck_assert_str_eq(ln_last_error(), "/nowhere/at/all: cannot read the folder of plug-ins: No "
                                      "such file or directory");
    unsetenv("LIGHTNET_PLUGIN_PATH");
    ck_assert_int_eq(ln_plugin_load_path(NULL), 0);
    ck_assert_ptr_null(ln_plugin_list());
}
END_TEST

LN_TEST_MAIN("plugin", errors_name_the_file_and_leave_nothing, rejects_every_truncated_plugin,
             a_folder_and_other_files_are_no_plugins, a_pipe_is_not_waited_for,
             operators_and_rules_of_a_plugin_are_like_those_of_lightnet,
             an_architecture_of_a_plugin_is_a_target, additions_name_their_plugin,
             operators_have_the_kind_of_their_description_or_none, a_plugin_is_loaded_once,
             loading_fails_while_a_context_exists, folders_are_loaded_in_the_order_of_names,
             reports_a_missing_folder)
