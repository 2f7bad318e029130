// SPDX-License-Identifier: Apache-2.0
// Tests IL as a whole: models become the JSON that they stand for, and errors point at their lines.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ln_alloc_fail.h"
#include "front/il/ln_il_parse.h"
#include "front/il/ln_il_write.h"
#include "front/ln_fronts.h"
#include "ir/ln_ir_json.h"
#include "ln_check.h"

static const char constant[] =
    "create(| dst=c | dtype=TL_FLOAT, dims=[2, 4], data=[1], ran=[0, 0], "
    "from_file=false);\n";

static ln_context *read_model(const char *text)
{
    ln_context *ctx = ln_context_create();
    ck_assert_ptr_nonnull(ctx);
    if (ln_context_init_text(ctx, "m.net", text, strlen(text)))
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

START_TEST(il_is_what_the_json_says)
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

static void check_refused(const char *text, const char *message)
{
    ln_context *ctx = ln_context_create();
    ck_assert_ptr_nonnull(ctx);
    ck_assert_msg(ln_context_init_text(ctx, "m.net", text, strlen(text)) == -1,
                  "no failure, expected %s", message);
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
         "m.net:2: preprocessor: Can't open include file"},
        {"\n\n#if\n#endif\n", "m.net:3: preprocessor: No argument"},
        {"#define TWO(a, b) a\n\n\nTWO(1, 2, 3)\n", "m.net:4: preprocessor: More than necessary"},
        {"\n#error no\n", "m.net:2: preprocessor: #error no"},
        {"relu(\n/* on\n and on", "m.net:3: preprocessor: End of input with unterminated comment"},
        {"\nprint(msg=\"a);\n", "m.net:2: preprocessor: Unterminated string literal"},
        // of tokens
        {"relu(src=a\n  !);", "m.net:2: '!' is unexpected, expected ',', '|' or ')'"},
        {"print(||\n\n n=1x);", "m.net:3: '1x' is not a number"},
        {"print(||n=1e999);", "m.net:1: '1e999' is too large"},
        {"print(||n=- x);", "m.net:1: '-' is unexpected before what is no number"},
        {"print(||n=\"\\q\");", "m.net:1: a string has an unknown escape sequence"},
        {"print(||n=\"\\xg0\");", "m.net:1: an escape sequence without 2 hexadecimal digits"},
        {"print(||n=\"\\x00\");", "m.net:1: '\\u0000' is no character of a string"},
        {"print(||n=\"\xff\");", "m.net:1: a string is not UTF-8"},
        // of expressions
        {"\nprint(||n=${eval 1 / 0});", "m.net:2: ${eval}: division by zero"},
        {"print(||n=${eval\n 1 + 1},\n m=${eval 1 +});",
         "m.net:3: ${eval}: the expression ends, expected a number"},
        {"print(||n=${eval `id`});", "m.net:1: ${eval}: '`' is unexpected"},
        {"print(||n=${eval 1", "m.net:1: '${eval' without '}'"},
        {"print(||n=${HOME});", "m.net:1: '$' is unexpected, expected a value"},
        // of the grammar
        {"relu(src=a | dst=b);\nrelu", "m.net:3: the end is unexpected, expected '(', ':' or '='"},
        {"relu(src=a | dst=b)\n", "m.net:2: the end is unexpected, expected ';'"},
        {"relu(src=a, dst)", "m.net:1: ')' is unexpected, expected '='"},
        {"relu(||||)", "m.net:1: '|' is unexpected, expected ')'"},
        {"relu(src=[a])", "m.net:1: '[' is unexpected, expected the name of a tensor"},
        {"print(||n=[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]);",
         "m.net:1: brackets are nested too deeply"},
        {"inputs = [a]; inputs = [b];", "m.net:1: 'inputs' is given twice"},
        {"ops = [];", "m.net:1: 'ops' is unexpected before '='"},
        {"body a {}\nbody a {}", "m.net:2: body 'a' is given twice"},
        {"mem_sizes = {a: 1, a: 2};", "m.net:1: 'a' is given twice"},
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
        check_refused(cases[i].text, cases[i].message);
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
    check_refused(text, "m.net:7: operator 'slice1' (slice): parameter 'len' is 4");
}
END_TEST

/* A folder, in which another one is: "parts". */
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
    static const char *const names[] = {"parts/b.inc", "parts/c.inc", "a.inc", "parts"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        remove(path_in(s, names[i]));
    rmdir(s->folder);
    ck_assert_int_eq(access(s->folder, F_OK), -1);
}

// A model on the shelf, refused for what `message` says of the file `name` there.
static void check_refused_on(const shelf *s, const char *text, const char *name,
                             const char *message)
{
    char expected[200];
    snprintf(expected, sizeof(expected), "%s%s", path_in(s, name), message);
    ln_context *ctx = ln_context_create();
    ck_assert_int_eq(ln_context_init_text(ctx, path_in(s, "m.net"), text, strlen(text)), -1);
    ck_assert_msg(!strncmp(ln_context_error(ctx), expected, strlen(expected)), "%s, expected %s",
                  ln_context_error(ctx), expected);
    ln_context_free(ctx);
}

START_TEST(included_files_are_named)
{
    const shelf s = make_shelf();
    put_file(&s, "a.inc", "\nrelu(src=none | dst=x);\n");
    check_refused_on(&s, "#include \"a.inc\"\n", "a.inc",
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
        {"#include \"../a.inc\"\n", "", "#include \"parts/b.inc\"\n", "parts/../a.inc", ":1: ')'"},
        {"#include \"c.inc\"\n", "#line 7 \"x.c\"\n;", "#include \"parts/b.inc\"\n!", "m.net",
         ":2: '!'"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const shelf s = make_shelf();
        put_file(&s, "a.inc", ")");
        put_file(&s, "parts/b.inc", cases[i].b);
        put_file(&s, "parts/c.inc", cases[i].c);
        check_refused_on(&s, cases[i].text, cases[i].name, cases[i].message);
        remove_shelf(&s);
    }
}
END_TEST

START_TEST(a_file_that_includes_itself_is_refused)
{
    const shelf s = make_shelf();
    put_file(&s, "a.inc", "#include \"a.inc\"\n");
    check_refused_on(&s, "#include \"a.inc\"\n", "a.inc", ":1: preprocessor: More than");
    remove_shelf(&s);
}
END_TEST

static void *read_in_a_thread(void *text)
{
    for (int i = 0; i < 20; i++)
        ln_context_free(read_model(text));
    return NULL;
}

START_TEST(two_threads_read_at_the_same_time)
{
    pthread_t other;
    ck_assert_int_eq(pthread_create(&other, NULL, read_in_a_thread, (void *)constant), 0);
    read_in_a_thread((void *)constant);
    ck_assert_int_eq(pthread_join(other, NULL), 0);
}
END_TEST

/* Writing */

// What is read from IL is what is read from JSON.
static void check_written(ln_context *ctx)
{
    char file[] = "/tmp/ln_il_XXXXXX";
    const int fd = mkstemp(file);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(ln_il_write(ctx, file), 0);
    ln_context *back = ln_context_create();
    if (ln_context_init(back, file))
        ck_abort_msg("%s", ln_context_error(back));
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

START_TEST(what_is_written_reads_back_the_same)
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
    ck_assert_int_eq(ln_front_il.write(ctx, "/none/m.net"), -1);
    ck_assert_str_eq(ln_context_error(ctx), "/none/m.net: cannot write: No such file or directory");
    ln_context_free(ctx);
}
END_TEST

START_TEST(what_begins_like_json_or_is_no_text_is_no_il)
{
    static const char *const texts[] = {"{\"ops\": []}", " [1]", "", " \n", "\"a\"", "12",
                                        "\xef\xbb\xbf{}"};
    static const char *const models[] = {"relu()", " # define", "/* */", "_x: relu()"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        ck_assert_msg(!ln_front_il.is((const unsigned char *)texts[i], strlen(texts[i])), "%s",
                      texts[i]);
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
        ck_assert_msg(ln_front_il.is((const unsigned char *)models[i], strlen(models[i])), "%s",
                      models[i]);
    ck_assert(!ln_front_il.is((const unsigned char *)"relu\0()", 7));
}
END_TEST

START_TEST(every_truncation_and_changed_byte_is_survived)
{
    static const char text[] = "#line 3 \"x.net\"\n"
                               "in: create(| dst=c@0 | dims=[2, -4], ran=\"\\u00e4\" \"b\",);\n"
                               "body b { inputs = [c]; } mem_sizes = {a: ${eval 2**3}};\n"
                               "print(src=c | | msg=null, n=true | size=1, offset=2);\n";
    char changed[sizeof(text)];
    for (size_t i = 0; i < sizeof(text); i++) {
        for (int bit = 0; bit < 8; bit++) {
            ln_il_model m = {0};
            ln_error err = {0};
            memcpy(changed, text, sizeof(text));
            changed[i] ^= (char)(1 << bit);
            if (ln_il_parse(&m, "m.net", changed, bit ? sizeof(text) - 1 : i, &err))
                ck_assert_str_ne(err.text, "");
            ln_il_model_free(&m);
        }
    }
}
END_TEST

START_TEST(failed_allocations_are_told_or_do_not_matter)
{
    ln_bool failed = LN_TRUE;
    for (int n = 0; failed; n++) {
        ln_context *ctx = ln_context_create();
        ck_assert_ptr_nonnull(ctx);
        ln_alloc_fail_after(n);
        const int rc = ln_context_init_text(ctx, "m.net", constant, strlen(constant));
        failed = ln_alloc_fail_stop();
        ck_assert(!rc || failed); // a hash table that cannot grow is only slower
        ck_assert_int_eq(*ln_context_error(ctx) != '\0', rc != 0);
        ck_assert_int_eq(ctx->ops == NULL, rc != 0);
        ln_context_free(ctx);
    }
}
END_TEST

LN_TEST_MAIN("il", il_is_what_the_json_says, macros_and_expressions_are_replaced,
             errors_point_at_the_lines_that_were_written,
             errors_of_operators_point_at_the_line_of_a_macro_call, included_files_are_named,
             files_are_named_from_the_folder_of_what_includes_them,
             two_threads_read_at_the_same_time, a_file_that_includes_itself_is_refused,
             what_is_written_reads_back_the_same, a_compiled_model_with_bodies_reads_back_the_same,
             a_file_that_cannot_be_written_is_named, what_begins_like_json_or_is_no_text_is_no_il,
             every_truncation_and_changed_byte_is_survived,
             failed_allocations_are_told_or_do_not_matter)
