// SPDX-License-Identifier: Apache-2.0
// Tests IL as a whole: models become the JSON that they stand for, and errors point at their lines.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ln_alloc_fail.h"
#include "il/ln_il.h"
#include "front/json/ln_ir_json.h"
#include "lightnet/ln_context.h"
#include "ln_check.h"

static const char constant[] =
    "create(| dst=c | dtype=TL_FLOAT, dims=[2, 4], data=[1], ran=[0, 0], "
    "from_file=false);\n";

static int init_il(ln_context *ctx, const char *name, const char *text, const ln_list *allowed)
{
    ln_il_model m = {0};
    size_t len;
    char *folder = ln_il_folder_of(name);
    const ln_il_host host = {.model = folder, .allowed = allowed};
    char *json = folder && !ln_il_read(&m, name, text, strlen(text), &host, ctx->error)
                     ? ln_il_json(&m, &len, ctx->error)
                     : NULL;
    const int rc = json     ? ln_context_init_ir(ctx, name, json, len, ln_il_place_of, &m)
                   : folder ? -1
                            : ln_fail_last(ctx);
    free(json);
    ln_il_model_free(&m);
    ln_free(folder);
    return rc;
}

// IL, or JSON.
static ln_context *read_model(const char *text)
{
    ln_context *ctx = ln_context_create();
    ck_assert_ptr_nonnull(ctx);
    ck_assert_int_eq(ln_context_allow_output(ctx, "-"), 0);
    if (*text == '{' ? ln_context_init_text(ctx, "m.json", text, strlen(text))
                     : init_il(ctx, "m.net", text, NULL))
        ck_abort_msg("%s", ln_context_error(ctx));
    return ctx;
}

// The JSON of a context (free).
static char *json_of(const ln_context *ctx)
{
    char *text = NULL;
    size_t size;
    FILE *fp = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(fp);
    ck_assert_int_eq(ln_ir_write(ctx, fp), 0);
    ck_assert_int_eq(fclose(fp), 0);
    return text;
}

static int write_ir(FILE *stream, const void *ctx, ln_error *err)
{
    (void)err; // the reason is in the context
    return ln_ir_write(ctx, stream);
}

static void check_same(const char *one, const char *other)
{
    ln_context *a = read_model(one), *b = read_model(other);
    char *json_a = json_of(a), *json_b = json_of(b);
    ck_assert_str_eq(json_a, json_b);
    free(json_a);
    free(json_b);
    ln_context_free(a);
    ln_context_free(b);
}

START_TEST(il_equals_the_json)
{
    check_same(
        "create(| dst=a | dtype=TL_FLOAT, dims=[1, 2], data=[1, -2.5e-1], ran=[0, 0], "
        "from_file=false);\n"
        "relu(src=a, | dst=\"b c/d\",);\n"
        "last: softmax(src=\"b c/d\" | dst=e | axis=1);\n"
        "relu(src=e | dst=f);\n"
        "print(src=f | | msg=\"a \\\"b\\\"\\n\\u00e4\\x41\" \"\\$\");\n"
        "outputs = [f, e];",
        "{\"outputs\": [\"f\", \"e\"], \"ops\": ["
        "{\"name\": \"create0\", \"optype\": \"create\", \"tensors_in\": [], \"tensors_out\": "
        "[{\"arg_name\": \"dst\", \"name\": \"a\"}], \"params\": ["
        "{\"arg_name\": \"dtype\", \"value\": \"TL_FLOAT\"},"
        "{\"arg_name\": \"dims\", \"value\": [1, 2]},"
        "{\"arg_name\": \"data\", \"value\": [1, -0.25]},"
        "{\"arg_name\": \"ran\", \"value\": [0, 0]},"
        "{\"arg_name\": \"from_file\", \"value\": false}]},"
        "{\"name\": \"relu0\", \"optype\": \"relu\", \"tensors_in\": "
        "[{\"arg_name\": \"src\", \"name\": \"a\"}], \"tensors_out\": "
        "[{\"arg_name\": \"dst\", \"name\": \"b c/d\"}], \"params\": []},"
        "{\"name\": \"last\", \"optype\": \"softmax\", \"tensors_in\": "
        "[{\"arg_name\": \"src\", \"name\": \"b c/d\"}], \"tensors_out\": "
        "[{\"arg_name\": \"dst\", \"name\": \"e\"}], \"params\": ["
        "{\"arg_name\": \"axis\", \"value\": 1}]},"
        "{\"name\": \"relu1\", \"optype\": \"relu\", \"tensors_in\": "
        "[{\"arg_name\": \"src\", \"name\": \"e\"}], \"tensors_out\": "
        "[{\"arg_name\": \"dst\", \"name\": \"f\"}], \"params\": []},"
        "{\"name\": \"print0\", \"optype\": \"print\", \"tensors_in\": "
        "[{\"arg_name\": \"src\", \"name\": \"f\"}], \"tensors_out\": [], \"params\": ["
        "{\"arg_name\": \"msg\", \"value\": \"a \\\"b\\\"\\n\\u00e4A$\"}]}]}");
}
END_TEST

START_TEST(macros_and_expressions_are_replaced)
{
    check_same(
        "/* two */ // comments\n"
        "#define DIMS(a, b) dims=[a, ${eval a * b}]\n"
        "#define CONST(name, ...) \\\n"
        "    create(| dst=name##_c | dtype=TL_FLOAT, __VA_ARGS__, data=[- 1], ran=[0, 0], \\\n"
        "           from_file=false); \\\n"
        "    relu(src=name##_c | dst=name)\n"
        "#if 1 + 1 == 2\n"
        "CONST(x, DIMS(2, 3));\n"
        "#else\n"
        "nonsense\n"
        "#endif\n"
        "print(src=x | | msg=\"${eval 1 + 1} x${eval (3)} \\${eval 4}\");",
        "create(| dst=x_c | dtype=TL_FLOAT, dims=[2, 6], data=[-1], ran=[0, 0], "
        "from_file=false);\n"
        "relu(src=x_c | dst=x);"
        "print(src=x | | msg=\"2 x3 $\" \"{eval 4}\");");
}
END_TEST

static void check_rejected(const char *text, const char *message)
{
    ln_context *ctx = ln_context_create();
    ck_assert_ptr_nonnull(ctx);
    ck_assert_msg(init_il(ctx, "m.net", text, NULL) == -1, "no failure, expected %s", message);
    ck_assert_msg(!strncmp(ln_context_error(ctx), message, strlen(message)), "%s, expected %s",
                  ln_context_error(ctx), message);
    ln_context_free(ctx);
}

START_TEST(errors_point_at_the_lines_that_were_written)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        // of the preprocessor
        {"relu(src=c);\n#include \"no_such.inc\"\n",
         "m.net:2: #include: no_such.inc: cannot read: No such file or directory"},
        {"\n\n#if\n#endif\n", "m.net:3: #if: the expression ends, expected a number"},
        {"#define TWO(a, b) a\n\n\nTWO(1, 2, 3)\n",
         "m.net:4: macro 'TWO': too many arguments, expected 2"},
        {"#define TWO(a, b) a\nTWO(1)\n", "m.net:2: macro 'TWO': too few arguments, expected 2"},
        {"\n#error no\n", "m.net:2: #error no"},
        {"relu(\n/* on\n and on", "m.net:2: unterminated comment"},
        {"\nprint(msg=\"a);\n", "m.net:2: a string without its closing '\"'"},
        {"\n#ifdef A\n", "m.net:2: #if without #endif"},
        {"\n#endif\n", "m.net:2: #endif without #if"},
        {"#if 1\n#else\n#elif 1\n#endif", "m.net:3: #elif after #else"},
        {"\n#include <stdio.h>\n", "m.net:2: #include: expected a file name in quotes"},
        {"\n#warn\n", "m.net:2: unknown directive '#warn'"},
        {"#define A(x) x\n\nA(1\n#define B\n)",
         "m.net:4: macro 'A': a directive inside its arguments"},
        {"#define A(x) x\n\nA(1", "m.net:3: macro 'A': missing ')' after its arguments"},
        {"#define A 1\n#define A 2\n", "m.net:2: #define A: redefined differently"},
        {"#define A(x) #y\n", "m.net:1: #define: '#' is not followed by a parameter"},
        {"#define A x ##\n", "m.net:1: #define: '##' at the beginning or end of the replacement"},
        {"#define P(a, b) a##b\n\nP(., x)\n",
         "m.net:3: '##' joins '.' and 'x', which is not a token"},
        {"\n#define 1\n", "m.net:2: #define: expected a name"},
        {"\n#undef A B\n", "m.net:2: #undef: expected one name"},
        {"\n#pragma once\n", "m.net:2: unknown directive '#pragma'"},
        {"#line -1\n", "m.net:1: #line: expected a number up to 100000000"},
        {"#if 1 / 0\n", "m.net:1: #if: division by zero"},
        {"\n#if A > 1\n#endif\n", "m.net:2: #if: 'A' is unknown, expected int, ceil"},
        {"# 7 \"x.net\" 2\n\n!", "x.net:8: '!' is unexpected"},
        {"#line 7\n!", "m.net:7: '!' is unexpected"},
        // of tokens
        {"relu(src=a\n  !);", "m.net:2: '!' is unexpected, expected ',', '|' or ')'"},
        {"print(||\n\n n=1x);", "m.net:3: '1x' is not a number"},
        {"print(||n=1e999);", "m.net:1: '1e999' is too large"},
        {"print(||n=- x);", "m.net:1: 'x' is unexpected, expected a number after '-'"},
        {"print(||n=\"\\q\");", "m.net:1: unknown escape sequence in a string"},
        {"print(||n=\"\\xg0\");", "m.net:1: \\x without 2 hexadecimal digits"},
        {"print(||n=\"\\x00\");", "m.net:1: \\x00 in a string"},
        {"print(||n=\"\xff\");", "m.net:1: a string is not UTF-8"},
        // of expressions
        {"\nprint(||n=${eval 1 / 0});", "m.net:2: ${eval}: division by zero"},
        {"print(||n=${eval\n 1 + 1},\n m=${eval 1 +});",
         "m.net:3: ${eval}: the expression ends, expected a number"},
        {"print(||n=${eval `id`});", "m.net:1: ${eval}: '`' is unexpected"},
        {"print(||n=${eval 1", "m.net:1: '${eval' without '}'"},
        {"print(||n=${HOME});", "m.net:1: '$' is unexpected, expected a value"},
        // of the grammar
        {"relu", "m.net:1: the end is unexpected, expected '(', ':' or '='"},
        {"relu(src=a | dst=b)\n", "m.net:1: the end is unexpected, expected ';'"},
        {"relu(src=a, dst)", "m.net:1: ')' is unexpected, expected '='"},
        {"relu(||||)", "m.net:1: '|' is unexpected, expected ')'"},
        {"relu(src=[a])", "m.net:1: '[' is unexpected, expected the name of a tensor"},
        {"print(||n=[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]);",
         "m.net:1: brackets are nested too deeply"},
        {"inputs = [a]; inputs = [b];", "m.net:1: duplicate 'inputs'"},
        {"ops = [];", "m.net:1: 'ops' is unexpected before '='"},
        {"body a {}\nbody a {}", "m.net:2: duplicate body 'a'"},
        {"mem_sizes = {a: 1, a: 2};", "m.net:1: duplicate 'a'"},
        // of the reader that JSON has, too
        {"\nrelu(src=a | dst=b);",
         "m.net:2: operator 'relu0' (relu): tensors_in[0]: tensor 'a' is not defined"},
        {"\n\nrelo();", "m.net:3: operator 'relo0': unknown optype 'relo', did you mean 'relu'?"},
        {"\ninputs =\n [a];", "m.net:2: inputs[0] 'a' is not a tensor of the model"},
        {"eye1: eye(|dst=a|dtype=TL_FLOAT, dims=[1, 1]);\n\neye();",
         "m.net:3: ops[1]: 'name' 'eye1' is taken"},
        {"\nversion =\n 7;", "m.net:2: 'version' is 7, expected 1"},
        {"\nbody b {\n inputs = [];\n}", "m.net:2: body 'b': 'outputs' is missing"},
        {"body b { \n inputs = []; outputs = [];\n relu(src=x | dst=y); }",
         "m.net:3: operator 'relu0' (relu): tensors_in[0]"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_rejected(cases[i].text, cases[i].message);
}
END_TEST

START_TEST(errors_of_operators_point_at_the_line_of_a_macro_call)
{
    char text[1000];
    snprintf(text, sizeof(text),
             "%s#define PART(src_, dst_, n) \\\n"
             "    slice(src=src_ | dst=dst_ | axis=1, \\\n"
             "          start=0, len=n);\n"
             "PART(c, d, 3)\n"
             "\n"
             "PART(d,\n"
             "     e, ${eval 2 * 2})\n",
             constant);
    check_rejected(text, "m.net:7: operator 'slice1' (slice): parameter 'len' is 4");
}
END_TEST

// A folder, in which another one is: "parts".
typedef struct shelf {
    char folder[32];
} shelf;

static const char *path_in(const shelf *s, const char *name)
{
    static char path[100];
    snprintf(path, sizeof(path), "%s/%s", s->folder, name);
    return path;
}

static void put_file(const shelf *s, const char *name, const char *content)
{
    FILE *fp = fopen(path_in(s, name), "w");
    ck_assert_ptr_nonnull(fp);
    fputs(content, fp);
    ck_assert_int_eq(fclose(fp), 0);
}

static shelf make_shelf(void)
{
    shelf s = {.folder = "/tmp/ln_il_XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(s.folder));
    ck_assert_int_eq(mkdir(path_in(&s, "parts"), 0700), 0);
    return s;
}

static void remove_shelf(const shelf *s)
{
    static const char *const names[] = {"parts/a.inc", "parts/b.inc", "parts/c.inc", "a.inc",
                                        "parts"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        remove(path_in(s, names[i]));
    rmdir(s->folder);
    ck_assert_int_eq(access(s->folder, F_OK), -1);
}

// Checks that a model on the shelf is rejected with `message` about its file `name`.
static void check_rejected_in(const shelf *s, const char *text, const char *name,
                              const char *message)
{
    char expected[200];
    snprintf(expected, sizeof(expected), "%s%s", path_in(s, name), message);
    ln_context *ctx = ln_context_create();
    char model[100];
    snprintf(model, sizeof(model), "%s", path_in(s, "m.net"));
    ck_assert_int_eq(init_il(ctx, model, text, NULL), -1);
    ck_assert_msg(!strncmp(ln_context_error(ctx), expected, strlen(expected)), "%s, expected %s",
                  ln_context_error(ctx), expected);
    ln_context_free(ctx);
}

START_TEST(included_files_are_named)
{
    const shelf s = make_shelf();
    put_file(&s, "a.inc", "\nrelu(src=none | dst=x);\n");
    check_rejected_in(&s, "#include \"a.inc\"\n", "a.inc",
                      ":2: operator 'relu0' (relu): tensors_in");
    remove_shelf(&s);
}
END_TEST

START_TEST(files_are_named_from_the_folder_of_what_includes_them)
{
    static const struct {
        const char *b, *c, *text, *name, *message;
    } cases[] = {
        {"#include \"c.inc\"\n", "!", "#include \"parts/b.inc\"\n", "parts/c.inc", ":1: '!'"},
        {"#include \"c.inc\"\n!", "", "#include \"parts/b.inc\"\n", "parts/b.inc", ":2: '!'"},
        {"\n#include \"c.inc\"\n", "", "\n#include \"parts/b.inc\"\n\n!", "m.net", ":4: '!'"},
        {"\n#include \"a.inc\"\n", "", "#include \"parts/b.inc\"\n", "a.inc", ":1: ')'"},
        {"\n#include \"../a.inc\"\n", "", "#include \"parts/b.inc\"\n", "parts/b.inc",
         ":2: #include: ../a.inc: expected a relative path without '..'"},
        {"#include \"c.inc\"\n", "#line 7 \"x.c\"\n;", "#include \"parts/b.inc\"\n!", "m.net",
         ":2: '!'"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const shelf s = make_shelf();
        put_file(&s, "a.inc", ")");
        put_file(&s, "parts/b.inc", cases[i].b);
        put_file(&s, "parts/c.inc", cases[i].c);
        check_rejected_in(&s, cases[i].text, cases[i].name, cases[i].message);
        remove_shelf(&s);
    }
}
END_TEST

START_TEST(rejects_a_file_that_includes_itself)
{
    const shelf s = make_shelf();
    put_file(&s, "a.inc", "#include \"a.inc\"\n");
    check_rejected_in(&s, "#include \"a.inc\"\n", "a.inc",
                      ":1: #include: files include each other more than 64 deep");
    remove_shelf(&s);
}
END_TEST

static void *read_in_a_thread(void *text)
{
    for (int i = 0; i < 20; i++)
        ln_context_free(read_model(text));
    return NULL;
}

START_TEST(a_guarded_file_is_read_once)
{
    const shelf s = make_shelf();
    put_file(&s, "a.inc",
             "#ifndef A\n#define A\n#include \"a.inc\"\n#include \"parts/b.inc\"\n#endif\n");
    put_file(&s, "parts/b.inc", "#include \"c.inc\"\n#include \"a.inc\"\n");
    put_file(&s, "parts/c.inc", "relu(");
    check_rejected_in(&s, "#include \"a.inc\"\n)", "m.net",
                      ":2: the end is unexpected, expected ';'");
    remove_shelf(&s);
}
END_TEST

START_TEST(allowed_folders_come_after_that_of_the_model)
{
    const shelf s = make_shelf();
    char folder[100], name[100];
    ln_context *ctx = ln_context_create();
    ln_list *allowed = ln_list_append(NULL, strcpy(folder, path_in(&s, "parts")));
    strcpy(name, path_in(&s, "m.net"));
    put_file(&s, "a.inc", "#include \"c.inc\"\n");
    put_file(&s, "parts/a.inc", "nothing");
    put_file(&s, "parts/c.inc", "\n!");
    ck_assert_int_eq(init_il(ctx, name, "#include \"a.inc\"\n", allowed), -1);
    strcat(folder, "/c.inc:2: '!' is unexpected, expected an operator");
    ck_assert_str_eq(ln_context_error(ctx), folder);
    ln_list_free(allowed);
    ln_context_free(ctx);
    remove_shelf(&s);
}
END_TEST

// Nesting at the max depth, and beyond.

static char *nested(const char *begin, const char *open, int n, const char *inner,
                    const char *close, const char *end)
{
    char *text = NULL;
    size_t len;
    FILE *fp = open_memstream(&text, &len);
    ck_assert_ptr_nonnull(fp);
    fputs(begin, fp);
    for (int i = 0; i < n; i++)
        fputs(open, fp);
    fputs(inner, fp);
    for (int i = 0; i < n; i++)
        fputs(close, fp);
    fputs(end, fp);
    ck_assert_int_eq(fclose(fp), 0);
    return text;
}

static const struct {
    const char *begin, *open;
    int max, beyond;
    const char *inner, *close, *end, *message;
} nests[] = {
    {"#define F(x) x\nthreads = ", "F(", 64, 10000, "1", ")", ";",
     "m.net:2: macro calls in macro arguments are nested more than 64 deep"},
    {"#if ", "!", 90, 100000, "0", "", "\n#endif\nthreads = 1;",
     "m.net:1: #if: the expression is nested too deeply, expected at most 100 levels"},
    {"#if ", "1 ? ", 90, 100000, "1", " : 0", "\nthreads = 1;\n#endif",
     "m.net:1: #if: the expression is nested too deeply, expected at most 100 levels"},
    {"threads = ${eval ", "(", 40, 100000, "1", ")", "};",
     "m.net:1: ${eval}: the expression is nested too deeply, expected at most 100 levels"},
    {"threads = 1; x = ", "[", 16, 100000, "1", "]", ";",
     "m.net:1: brackets are nested too deeply, expected at most 16"},
    {"", "#if 1\n", 256, 100000, "threads = 1;\n", "#endif\n", "",
     "m.net:257: conditions are nested too deeply, expected at most 256"},
    {"#if 0\n", "#if 1\n", 100000, 0, "#else\n", "#endif\n", "#endif\nthreads = 1;", NULL},
    {"#define f f (\n", "f ", 100000, 0, "", "", "\n#undef f\n", "m.net:2: '(' is unexpected"},
};

static void read_nested(size_t i, int n, ln_error *err)
{
    const ln_il_host host = {.model = NULL};
    ln_il_model m = {0};
    char *text =
        nested(nests[i].begin, nests[i].open, n, nests[i].inner, nests[i].close, nests[i].end);
    ln_il_read(&m, "m.net", text, strlen(text), &host, err);
    ln_il_model_free(&m);
    free(text);
}

// A stack that is smaller than most; sanitizers take several times as much.
enum { STACK = LN_IS_SANITIZED ? 1 << 20 : 128 << 10 };

static void run_on_a_small_stack(void *(*func)(void *), void *arg)
{
    pthread_attr_t attr;
    pthread_t thread;
    enum { GUARD = 64 << 10 }; // which the C library takes from the stack; its least on arm64
    ck_assert_int_eq(pthread_attr_init(&attr), 0);
    ck_assert_int_eq(pthread_attr_setguardsize(&attr, GUARD), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attr, STACK + GUARD), 0);
    ck_assert_int_eq(pthread_create(&thread, &attr, func, arg), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
}

static void *read_all_nested(void *arg)
{
    ln_error *errors = arg;
    for (size_t i = 0; i < sizeof(nests) / sizeof(nests[0]); i++) {
        read_nested(i, nests[i].max, &errors[2 * i]);
        if (nests[i].beyond)
            read_nested(i, nests[i].beyond, &errors[2 * i + 1]);
    }
    return NULL;
}

START_TEST(nesting_is_bounded_and_fits_a_small_stack)
{
    static ln_error errors[2 * sizeof(nests) / sizeof(nests[0])];
    run_on_a_small_stack(read_all_nested, errors);
    for (size_t i = 0; i < sizeof(nests) / sizeof(nests[0]); i++) {
        const char *expected = nests[i].message ? nests[i].message : "";
        if (nests[i].beyond) {
            ck_assert_str_eq(errors[2 * i].text, "");
            ck_assert_str_eq(errors[2 * i + 1].text, expected);
        } else {
            ck_assert_msg(!strncmp(errors[2 * i].text, expected, strlen(expected)) &&
                              !*errors[2 * i].text == !*expected,
                          "%s, expected %s", errors[2 * i].text, expected);
        }
    }
}
END_TEST

static void *read_networks(void *arg)
{
    static const char *const names[] = {"shuffledet", "squeezenet", "yolov3"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        ln_error err = {0};
        ln_il_model m = {0};
        char file[600], folder[500];
        snprintf(folder, sizeof(folder), "%s/", (const char *)arg);
        snprintf(file, sizeof(file), "%s%s.net", folder, names[i]);
        const ln_il_host host = {.model = folder};
        char *text = ln_read_text(file);
        if (!text || ln_il_read(&m, file, text, strlen(text), &host, &err))
            ck_abort_msg("%s", err.text);
        ck_assert_uint_gt(json_array_size(json_object_get(m.tree, "ops")), 50);
        ln_il_model_free(&m);
        ln_free(text);
    }
    return NULL;
}

START_TEST(networks_are_read_on_a_small_stack)
{
    char *folder = getenv("LN_TEST_NETWORKS");
    ck_assert_ptr_nonnull(folder);
    run_on_a_small_stack(read_networks, folder);
}
END_TEST

// 40 macros, each of which calls the next one, down to `last`.
static char *doubling(const char *params, const char *args, const char *last, const char *call)
{
    char *text = NULL;
    size_t len;
    FILE *fp = open_memstream(&text, &len);
    ck_assert_ptr_nonnull(fp);
    for (int i = 1; i <= 40; i++)
        fprintf(fp, "#define A%d%s A%d%s\n", i, params, i - 1, args);
    fprintf(fp, "#define A0%s %s\nA%s;", params, last, call);
    ck_assert_int_eq(fclose(fp), 0);
    return text;
}

START_TEST(macro_expansion_is_bounded)
{
    char call[3000];
    snprintf(call, sizeof(call), "16(\"%02500d\")", 0);
    char *tokens = doubling("(x)", "(x x)", "x", "40(1)");
    char *bytes = doubling("(x)", "(x x)", "#x", call);
    check_rejected(tokens, "m.net:42: macro expansion exceeds 16777216 tokens");
    check_rejected(bytes, "m.net:42: macro expansion exceeds 268435456 bytes");
    free(tokens);
    free(bytes);
}
END_TEST

START_TEST(two_threads_read_at_the_same_time)
{
    pthread_t other;
    ck_assert_int_eq(pthread_create(&other, NULL, read_in_a_thread, (void *)constant), 0);
    read_in_a_thread((void *)constant);
    ck_assert_int_eq(pthread_join(other, NULL), 0);
}
END_TEST

// Writing

// A model read from IL equals the one read from JSON.
static void check_written(ln_context *ctx)
{
    char file[] = "/tmp/ln_il_XXXXXX";
    const int fd = mkstemp(file);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(ln_il_write(write_ir, ctx, file, ctx->error), 0);
    char *text = ln_read_text(file);
    ln_context *back = read_model(text);
    ln_free(text);
    char *same_in_json = json_of(ctx);
    ln_context *from_json = read_model(same_in_json);
    char *expected = json_of(from_json), *json = json_of(back);
    size_t same = 0; // Check bounds messages
    while (json[same] && json[same] == expected[same])
        same++;
    ck_assert_msg(json[same] == expected[same], "...%.80s, expected ...%.80s", json + same,
                  expected + same);
    free(json);
    free(expected);
    free(same_in_json);
    ln_context_free(from_json);
    ln_context_free(back);
    unlink(file);
}

START_TEST(a_written_file_reads_back_the_same)
{
    char text[40000];
    int len = snprintf(text, sizeof(text),
                       "%srelu(src=c | dst=true_);"
                       "\"a b: 1\": relu(src=c | dst=\"true\");"
                       "relu1: relu(src=c | dst=\"\\\"\\\\\\n\\x01\\$ ${eval 3}?\?/ \\u6f22\");"
                       "relu(src=c | dst=\"\\${eval 1} \\${eval\");"
                       "relu7: relu(src=c | dst=_x);"
                       "create(| dst=n | dtype=TL_DOUBLE, dims=[4], data=[nan, -inf, inf, 1e-310], "
                       "ran=[0, 0], from_file=false);"
                       "inputs = []; outputs = [\"true\", _x];"
                       "print(src=n | | msg=\"",
                       constant);
    for (int i = 0; i < 4000; i++)
        len += snprintf(text + len, sizeof(text) - (size_t)len, "%s", i % 3 ? "\\$" : "é");
    snprintf(text + len, sizeof(text) - (size_t)len, "\");");
    ln_context *ctx = read_model(text);
    check_written(ctx);
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_compiled_model_with_bodies_reads_back_the_same)
{
    const char *file = getenv("LN_TEST_MODEL");
    ck_assert_ptr_nonnull(file);
    ln_context *ctx = ln_context_create();
    if (ln_context_init(ctx, file))
        ck_abort_msg("%s", ln_context_error(ctx));
    check_written(ctx);
    if (ln_context_compile(ctx, "cpu"))
        ck_abort_msg("%s", ln_context_error(ctx));
    check_written(ctx);
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_file_that_cannot_be_written_is_named)
{
    ln_context *ctx = read_model(constant);
    ck_assert_int_eq(ln_il_write(write_ir, ctx, "/none/m.net", ctx->error), -1);
    ck_assert_str_eq(ln_context_error(ctx), "/none/m.net: cannot write: No such file or directory");
    ln_context_free(ctx);
}
END_TEST

START_TEST(models_are_recognised_by_how_they_begin)
{
    static const char *const texts[] = {"{\"ops\": []}",
                                        " [1]",
                                        "",
                                        " \n",
                                        "\"a\"",
                                        "12",
                                        "\xef\xbb\xbf{}",
                                        "relu",
                                        "a b c",
                                        "root:x:0:0:root:/root:/bin/sh",
                                        "name: value\nother: value",
                                        "a: 1(",
                                        "1(2)",
                                        "# Title\n(a)",
                                        "# 1 title\na()",
                                        "#include <stdio.h>\nint main(void)"};
    static const char *const models[] = {"relu()",
                                         " # define A",
                                         "/* */",
                                         "_x: relu()",
                                         "_x /* a */ : // b\n relu ()",
                                         "x: \"relu\"()",
                                         "x: ${a}()",
                                         "x: re${a}()",
                                         "#define R relu()\nx: R;",
                                         "\xef\xbb\xbfrelu()",
                                         "x\n=1;",
                                         "body b { }",
                                         "#define A \\\n {\nA(1)",
                                         "# 1 \"m.net\"\nx: RELU;",
                                         "// a\nrelu /* b */ ("};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        ck_assert_msg(!ln_il_is("m", texts[i], strlen(texts[i])), "%s", texts[i]);
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
        ck_assert_msg(ln_il_is("m", models[i], strlen(models[i])), "%s", models[i]);
    ck_assert(!ln_il_is("m", "relu\0()", 7));
    ck_assert(ln_il_is("m.net", "relu", 4) && ln_il_is("m.il", "", 0));
    ck_assert(!ln_il_is(".net", "relu", 4) && !ln_il_is("models/.il", "relu", 4)); // hidden files
    ck_assert(!ln_il_is("m.net", "{}", 2) && !ln_il_is("m.net", "\x08\x01", 2));
}
END_TEST

START_TEST(the_library_says_who_reads_it)
{
    ln_context *ctx = ln_context_create();
    ck_assert_int_eq(ln_context_init_text(ctx, "m.net", constant, strlen(constant)), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "m.net: the model is LightNet IL text, which the library does not "
                     "read; convert it with il2json");
    ck_assert_ptr_null(ctx->ops);
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_byte_order_mark_and_ends_of_lines_of_windows_are_accepted)
{
    check_same(
        "\xef\xbb\xbf#define C(n) \\\r\n eye(| dst=n | dtype=TL_FLOAT, dims=[1, 1])\r\nC(a);\r\n",
        "eye(| dst=a | dtype=TL_FLOAT, dims=[1, 1]);");
}
END_TEST

START_TEST(every_truncation_and_changed_byte_is_survived)
{
    static const char text[] = "#define A(x, y) [x, #y, y##2] // no\n"
                               "#if defined(A) && 1 + 2 < 7\n"
                               "#line 3 \"x.net\"\n"
                               "in: create(| dst=c@0 | dims=[2, -4], ran=\"\\u00e4\" \"b\",);\n"
                               "body b { inputs = [c]; } mem_sizes = {a: ${eval 2**3}};\n"
                               "#endif\nthreads = A(1, a /* b */);\n"
                               "print(src=c | | msg=null, n=true | size=1, offset=2);\n";
    const ln_il_host host = {.model = NULL};
    char changed[sizeof(text)];
    for (size_t i = 0; i < sizeof(text); i += (size_t)ln_check_step()) {
        for (int bit = 0; bit < 8; bit++) {
            ln_il_model m = {0};
            ln_error err = {0};
            memcpy(changed, text, sizeof(text));
            changed[i] ^= (char)(1 << bit);
            if (ln_il_read(&m, "m.net", changed, bit ? sizeof(text) - 1 : i, &host, &err))
                ck_assert_str_ne(err.text, "");
            ln_il_model_free(&m);
        }
    }
}
END_TEST

START_TEST(failed_allocations_are_reported_or_harmless)
{
    static const char macros[] =
        "#define EYE(n, ...) eye(| dst=n##_e | __VA_ARGS__, dims=[1, E(1)])\n"
        "#define E(x) ${eval x + 1}\n"
        "#if defined(EYE) || 1\n"
        "EYE(a, dtype=TL_FLOAT);\n"
        "#endif\n";
    ln_bool failed = LN_TRUE;
    for (int n = 0; failed; n += ln_check_step()) {
        ln_context *ctx = ln_context_create();
        ck_assert_ptr_nonnull(ctx);
        ln_alloc_fail_after(n);
        const int rc = init_il(ctx, "m.net", macros, NULL);
        failed = ln_alloc_fail_stop();
        ck_assert(!rc || failed); // a hash table that cannot grow is only slower
        ck_assert_int_eq(*ln_context_error(ctx) != '\0', rc != 0);
        ck_assert_int_eq(ctx->ops == NULL, rc != 0);
        ln_context_free(ctx);
    }
}
END_TEST

LN_TEST_MAIN("il", il_equals_the_json, macros_and_expressions_are_replaced,
             errors_point_at_the_lines_that_were_written,
             errors_of_operators_point_at_the_line_of_a_macro_call, included_files_are_named,
             files_are_named_from_the_folder_of_what_includes_them, a_guarded_file_is_read_once,
             allowed_folders_come_after_that_of_the_model,
             nesting_is_bounded_and_fits_a_small_stack, networks_are_read_on_a_small_stack,
             macro_expansion_is_bounded, two_threads_read_at_the_same_time,
             rejects_a_file_that_includes_itself, a_written_file_reads_back_the_same,
             a_compiled_model_with_bodies_reads_back_the_same,
             a_file_that_cannot_be_written_is_named, models_are_recognised_by_how_they_begin,
             the_library_says_who_reads_it,
             a_byte_order_mark_and_ends_of_lines_of_windows_are_accepted,
             every_truncation_and_changed_byte_is_survived,
             failed_allocations_are_reported_or_harmless)
