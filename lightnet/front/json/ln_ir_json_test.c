// SPDX-License-Identifier: Apache-2.0
// Tests of reading and writing the JSON intermediate representation, with operators of its own.

#include "front/json/ln_ir_json.h"

#include <dirent.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/ln_alloc_fail.h"
#include "lightnet/ln_arch.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_tensor.h"
#include "ln_check.h"

// The operators that the models below are made of

static const char *create_params[] = {"dtype", "dims", "data", "ran", "from_file", NULL};
static const ln_param_type create_ptypes[] = {LN_PARAM_STRING, LN_PARAM_ARRAY_NUMBER,
                                              LN_PARAM_ARRAY_NUMBER, LN_PARAM_ARRAY_NUMBER,
                                              LN_PARAM_BOOL};
static const char *mix_params[] = {"scale", "names", "flags", NULL};
static const ln_param_type mix_ptypes[] = {LN_PARAM_NUMBER, LN_PARAM_ARRAY_STRING,
                                           LN_PARAM_ARRAY_BOOL};

static ln_op_arg create_arg = {.optype = "create",
                               .arch = "none",
                               .param_arg_names = create_params,
                               .param_ptypes = create_ptypes};
static ln_op_arg mix_arg = {
    .optype = "mix", .arch = "none", .param_arg_names = mix_params, .param_ptypes = mix_ptypes};
static ln_op_arg any_arg = {.optype = "anything", .arch = "none"};

static ln_op create_op = {.op_arg = &create_arg};
static ln_op mix_op = {.op_arg = &mix_arg};

static void do_nothing(ln_op_arg *op_arg)
{
    (void)op_arg;
}

static ln_op any_op = {.op_arg = &any_arg, .run = do_nothing};
static ln_op *ops_of_arch[] = {&create_op, &mix_op, &any_op, NULL};
static ln_arch test_arch = {.arch_name = "test", .reg_ops = ops_of_arch};

// A context with a message function that counts

static int num_warnings;
static char last_warning[LN_MAXLINE];

static void note_warning(void *data, ln_msg_level level, const char *text)
{
    (void)data;
    ck_assert_int_eq(level, LN_MSG_WARN);
    snprintf(last_warning, sizeof(last_warning), "%s", text);
    num_warnings++;
}

static ln_context *new_context(void)
{
    if (!LN_ARCH.op_proto_table)
        ck_assert_int_eq(ln_arch_register(&test_arch), 0);
    ln_context *ctx = ln_context_create();
    ck_assert_ptr_nonnull(ctx);
    ctx->msg_func = note_warning;
    num_warnings = 0;
    return ctx;
}

static void free_context(ln_context *ctx)
{
    ln_op_list_free_lists_too(ctx->ops);
    ctx->ops = NULL;
    ln_context_free(ctx);
}

// Models stand below with ' for ", to be readable.
static char *quoted(const char *text)
{
    char *copy = strdup(text);
    ck_assert_ptr_nonnull(copy);
    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

static int read_text(ln_context *ctx, const char *text)
{
    char *json = quoted(text);
    const int rc = ln_ir_read(ctx, "m.json", json, strlen(json), NULL, &ctx->ops);
    free(json);
    return rc;
}

static char *written(const ln_context *ctx)
{
    char *text = NULL;
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(fp);
    ck_assert_int_eq(ln_ir_write(ctx, fp), 0);
    fclose(fp);
    return text;
}

static void check_round_trip(const char *text)
{
    ln_context *ctx = new_context();
    char *expected = quoted(text);
    if (ln_ir_read(ctx, "m.json", expected, strlen(expected), NULL, &ctx->ops))
        ck_abort_msg("%s", ln_context_error(ctx));
    char *back = written(ctx);
    ck_assert_str_eq(back, expected);
    ck_assert_int_eq(num_warnings, 0);
    free(back);
    free(expected);
    free_context(ctx);
}

static void check_rejected(const char *text, const char *message)
{
    ln_context *ctx = new_context();
    ck_assert_int_eq(read_text(ctx, text), -1);
    ck_assert_str_eq(ln_context_error(ctx), message);
    ck_assert_ptr_null(ctx->ops);
    ck_assert_ptr_null(ctx->inputs);
    ck_assert_ptr_null(ctx->outputs);
    ck_assert_ptr_null(ctx->target);
    free_context(ctx);
}

// Round trips

static const char plain_model[] =
    "{\n"
    "    'version': 1,\n"
    "    'inputs': ['a'],\n"
    "    'outputs': ['b', 'c'],\n"
    "    'ops': [\n"
    "        {\n"
    "            'name': 'create1',\n"
    "            'optype': 'create',\n"
    "            'tensors_in': [],\n"
    "            'tensors_out': [\n"
    "                {'arg_name': 'dst', 'name': 'a'}\n"
    "            ],\n"
    "            'params': [\n"
    "                {'arg_name': 'dtype', 'value': 'TL_FLOAT'},\n"
    "                {'arg_name': 'dims', 'value': [2, 4]},\n"
    "                {'arg_name': 'data', 'value': [0.10000000149011612, 0.1, -0, 1e+300, 5e-324, "
    "'nan', 'inf', '-inf', 123456789012345, 0.3333333333333333]},\n"
    "                {'arg_name': 'from_file', 'value': false}\n"
    "            ]\n"
    "        },\n"
    "        {\n"
    "            'name': 'mix \\u0001\\n\\\\ \u00e9',\n"
    "            'optype': 'mix',\n"
    "            'tensors_in': [\n"
    "                {'arg_name': 'src1', 'name': 'a'},\n"
    "                {'arg_name': 'src2', 'name': 'a'}\n"
    "            ],\n"
    "            'tensors_out': [\n"
    "                {'arg_name': 'dst1', 'name': 'b'},\n"
    "                {'arg_name': 'dst2', 'name': 'c'}\n"
    "            ],\n"
    "            'params': [\n"
    "                {'arg_name': 'scale', 'value': 'inf'},\n"
    "                {'arg_name': 'names', 'value': ['nan', 'x', '']},\n"
    "                {'arg_name': 'flags', 'value': [true, false]},\n"
    "                {'arg_name': 'extra', 'value': null}\n"
    "            ]\n"
    "        }\n"
    "    ]\n"
    "}\n";

static const char compiled_model[] =
    "{\n"
    "    'version': 1,\n"
    "    'arch': 'cpu',\n"
    "    'mem_sizes': {'LN_MEM_CPU': 4096},\n"
    "    'node_count': 7,\n"
    "    'model_nodes': [\n"
    "        [2, 'conv', 'Conv'],\n"
    "        [5, '', 'Relu \u00e9']\n"
    "    ],\n"
    "    'fixed': [\n"
    "        {'tensor': 'a', 'rule': 'square', 'hash': '00f0e1d2c3b4a596'},\n"
    "        {'tensor': 'gone \u00e9', 'hash': 'ffffffffffffffff'}\n"
    "    ],\n"
    "    'sizes': [\n"
    "        {'tensor': 'a', 'names': [null, 'sequence \u00e9', '']}\n"
    "    ],\n"
    "    'ops': [\n"
    "        {\n"
    "            'name': 'create1',\n"
    "            'optype': 'create',\n"
    "            'tensors_in': [],\n"
    "            'tensors_out': [\n"
    "                {'arg_name': 'dst', 'name': 'a', 'offset': 64}\n"
    "            ],\n"
    "            'params': [],\n"
    "            'scratch': {'size': 100, 'offset': 128}\n"
    "        },\n"
    "        {\n"
    "            'name': 'any1',\n"
    "            'optype': 'anything',\n"
    "            'tensors_in': [],\n"
    "            'tensors_out': [],\n"
    "            'params': [],\n"
    "            'nodes': [2, 5]\n"
    "        }\n"
    "    ]\n"
    "}\n";

START_TEST(a_written_file_reads_back_the_same)
{
    check_round_trip(plain_model);
    check_round_trip(compiled_model);
    check_round_trip("{\n    'version': 1,\n    'ops': []\n}\n");
    check_round_trip(
        "{\n    'version': 1,\n    'inputs': [],\n    'outputs': [],\n    'ops': []\n}\n");
}
END_TEST

START_TEST(operators_come_in_order_with_their_lists)
{
    ln_context *ctx = new_context();
    ck_assert_int_eq(read_text(ctx, plain_model), 0);
    ck_assert_int_eq(ln_list_length(ctx->ops), 2);
    ck_assert_int_eq(ctx->declared, LN_DECLARES_INPUTS | LN_DECLARES_OUTPUTS);
    ck_assert_str_eq(ctx->inputs->data, "a");
    ck_assert_str_eq(ctx->outputs->next->data, "c");
    const ln_op *op = ctx->ops->data;
    ck_assert_ptr_eq(op->op_arg->ctx, ctx);
    const ln_param_entry *dims = ln_op_param(op, "dims");
    ck_assert_int_eq(dims->array_len, 2);
    ck_assert_int_eq(dims->value_array_int[1], 4);
    const ln_param_entry *data = ln_op_param(op, "data");
    ck_assert_int_eq(data->array_len, 10);
    ck_assert(isnan(data->value_array_double[5]));
    op = ctx->ops->next->data;
    ck_assert(ln_op_param(op, "scale")->value_double == INFINITY);
    ck_assert_int_eq(ln_op_param(op, "extra")->type, LN_PARAM_NULL);
    ck_assert_str_eq(ln_op_output_name(op, "dst2"), "c");
    free_context(ctx);
}
END_TEST

START_TEST(compiled_model_has_its_plan)
{
    ln_context *ctx = new_context();
    ck_assert_int_eq(read_text(ctx, compiled_model), 0);
    ck_assert_int_eq(ctx->declared, 0);
    ck_assert_str_eq(ctx->target, "cpu");
    ck_assert_uint_eq(ctx->mem_sizes[LN_MEM_CPU], 4096);
    const ln_op *op = ctx->ops->data;
    const ln_tensor_list_entry *tle = op->op_arg->tensors_out->data;
    ck_assert_uint_eq(tle->offset, 64);
    ck_assert_uint_eq(op->op_arg->scratch_size, 100);
    ck_assert_uint_eq(op->op_arg->scratch_offset, 128);
    ck_assert_int_eq(ln_op_num_nodes(op->op_arg), 0);
    free_context(ctx);
}
END_TEST

START_TEST(operators_of_a_compiled_model_have_the_nodes_of_the_original)
{
    ln_context *ctx = new_context();
    ck_assert_int_eq(read_text(ctx, compiled_model), 0);
    const ln_op_arg *const op = ((const ln_op *)ctx->ops->next->data)->op_arg;
    ck_assert_int_eq(ctx->n_model_nodes, 7);
    ck_assert_int_eq(ln_op_num_nodes(op), 2);
    ck_assert_int_eq(ln_op_node(op, 0)->number, 2);
    ck_assert_str_eq(ln_op_node(op, 0)->name, "conv");
    ck_assert_str_eq(ln_op_node(op, 0)->type, "Conv");
    ck_assert_int_eq(ln_op_node(op, 1)->number, 5);
    ck_assert_str_eq(ln_op_node(op, 1)->name, "");
    ck_assert_str_eq(ln_op_node(op, 1)->type, "Relu \u00e9");
    free_context(ctx);
}
END_TEST

// German has a comma, Pashto a character of two bytes.
START_TEST(numbers_are_read_back_in_locales_without_points)
{
    static const char *const names[] = {"de_DE.UTF-8", "ps_AF.UTF-8", "ps_AF"};
    int n = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!setlocale(LC_ALL, names[i]))
            continue;
        check_round_trip(plain_model);
        n++;
    }
    setlocale(LC_ALL, "C");
    if (!n)
        ln_check_skip("no locale de_DE.UTF-8 or ps_AF.UTF-8");
}
END_TEST

// The last warning about a model that is not compiled.
static void check_idle(const char *text, const char *warning)
{
    ln_context *ctx = new_context();
    ck_assert_int_eq(read_text(ctx, text), 0);
    ck_assert_int_eq(num_warnings, 1);
    ck_assert_str_eq(last_warning, warning);
    free_context(ctx);
}

#define OP_START      "{'ops': [{'name': 'c', 'optype': 'create', 'tensors_in': [], "
#define WITH_PARAM(p) OP_START "'tensors_out': [], 'params': [" p "]}]}"
#define WITH_OUT(o)   OP_START "'tensors_out': [" o "], 'params': []}]}"
#define A_TENSOR      "{'arg_name': 'dst', 'name': 'a'}"
#define WITH_TOP(top) OP_START "'tensors_out': [" A_TENSOR "], 'params': []}], " top "}"

#define WITH_NODES(top, of_op)                                                            \
    "{'arch': 'cpu', 'mem_sizes': {}, " top ", 'ops': [{'name': 'c', 'optype': 'create'," \
    " 'tensors_in': [], 'tensors_out': [], 'params': []" of_op "}]}"

START_TEST(keys_of_a_plan_warn_in_models_without_one)
{
#define NO_EFFECT "has no effect: the model is not compiled, as it has no 'arch'"
    check_idle("{'ops': [], 'threads': 2}", "m.json: key 'threads' " NO_EFFECT);
    check_idle("{'ops': [], 'model_nodes': 'unread'}", "m.json: key 'model_nodes' " NO_EFFECT);
    check_idle(OP_START "'tensors_out': [" A_TENSOR "], 'params': [], 'nodes': [1]}]}",
               "m.json: operator 'c' (create): key 'nodes' " NO_EFFECT);
    check_idle(WITH_OUT("{'arg_name': 'dst', 'name': 'a', 'offset': 64}"),
               "m.json: operator 'c' (create): tensors_out[0]: key 'offset' " NO_EFFECT);
    check_idle(OP_START "'tensors_out': [" A_TENSOR "], 'params': [], 'scratch': {'size': 1}}]}",
               "m.json: operator 'c' (create): key 'scratch' " NO_EFFECT);
}
END_TEST

START_TEST(unknown_keys_give_one_warning_each)
{
    ln_context *ctx = new_context();
    ck_assert_int_eq(read_text(ctx, "{'ops': [], 'colour': 1}"), 0);
    ck_assert_int_eq(num_warnings, 1);
    ck_assert_str_eq(last_warning, "m.json: unknown key 'colour'");
    ck_assert_int_eq(read_text(ctx, WITH_PARAM("{'arg_name': 'x', 'value': 1, 'doc': ''},"
                                               "{'arg_name': 'y', 'value': 1, 'doc': ''}")),
                     0);
    ck_assert_int_eq(num_warnings, 2);
    ck_assert_str_eq(last_warning, "m.json: operator 'c' (create): params[0]: unknown key 'doc'");
    free_context(ctx);
}
END_TEST

// What must be rejected

START_TEST(rejects_bad_models_with_position_and_reason)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[]", "m.json: the model is an array, expected an object"},
        {"{}", "m.json: 'ops' is missing, expected an array"},
        {"{'ops': {}}", "m.json: 'ops' is an object, expected an array"},
        {"{'ops': [], 'version': 2}", "m.json: 'version' is 2, expected 1"},
        {"{'ops': [], 'version': '1'}", "m.json: 'version' is a string, expected a number"},
        {"{'ops': [3]}", "m.json: ops[0] is a number, expected an object"},
        {"{'ops': [{}]}", "m.json: ops[0]: 'name' is missing, expected a string"},
        {"{'ops': [{'name': ''}]}", "m.json: ops[0]: 'name' has 0 bytes, expected 1 to 511"},
        {"{'ops': [{'name': null}]}", "m.json: ops[0]: 'name' is null, expected a string"},
        {"{'ops': [{'name': 'c'}]}",
         "m.json: operator 'c': 'optype' is missing, expected a string"},
        {"{'ops': [{'name': 'c', 'optype': 'craete'}]}",
         "m.json: operator 'c': unknown optype 'craete', did you mean 'create'?"},
        {"{'ops': [{'name': 'c', 'optype': 'qwertyuiop'}]}",
         "m.json: operator 'c': unknown optype 'qwertyuiop'"},
        {"{'ops': [{'name': 'c', 'optype': 'create'}]}",
         "m.json: operator 'c' (create): 'tensors_in' is missing, expected an array"},
        {"{'ops': [{'name': 'c', 'optype': 'create', 'tensors_in': 1}]}",
         "m.json: operator 'c' (create): 'tensors_in' is a number, expected an array"},
        {OP_START "'tensors_out': true}]}",
         "m.json: operator 'c' (create): 'tensors_out' is a bool, expected an array"},
        {OP_START "'tensors_out': []}]}",
         "m.json: operator 'c' (create): 'params' is missing, expected an array"},
        {"{'ops': [{'name': 'c', 'optype': 'create', 'tensors_in': [], 'tensors_out': [], "
         "'params': []}, {'name': 'c'}]}",
         "m.json: ops[1]: 'name' 'c' is taken, expected one that is unique in the model"},

        {WITH_OUT("1"),
         "m.json: operator 'c' (create): tensors_out[0] is a number, expected an object"},
        {WITH_OUT("{'name': 'a'}"), "m.json: operator 'c' (create): tensors_out[0]: 'arg_name' is "
                                    "missing, expected a string"},
        {WITH_OUT("{'arg_name': 'dst'}"),
         "m.json: operator 'c' (create): tensors_out[0]: 'name' is missing, expected a string"},
        {WITH_OUT("{'arg_name': 'dst', 'name': 7}"),
         "m.json: operator 'c' (create): tensors_out[0]: 'name' is a number, expected a string"},
        {WITH_OUT(A_TENSOR ", {'arg_name': 'dst', 'name': 'b'}"),
         "m.json: operator 'c' (create): tensors_out[1]: 'arg_name' 'dst' is taken, expected one "
         "that is unique in the operator"},
        {WITH_OUT(A_TENSOR ", {'arg_name': 'dst2', 'name': 'a'}"),
         "m.json: operator 'c' (create): tensors_out[1]: tensor 'a' is already defined, expected a "
         "new name"},
        {"{'ops': [{'name': 'm', 'optype': 'mix', 'tensors_in': [{'arg_name': 'src', 'name': "
         "'a'}], 'tensors_out': [{'arg_name': 'dst', 'name': 'a'}], 'params': []}]}",
         "m.json: operator 'm' (mix): tensors_in[0]: tensor 'a' is not defined, expected an output "
         "of an earlier operator"},
        {OP_START "'tensors_out': [" A_TENSOR "], 'params': [{'arg_name': 'dst', 'value': 1}]}]}",
         "m.json: operator 'c' (create): params[0]: 'arg_name' 'dst' is taken, expected one that "
         "is unique in the operator"},

        {WITH_PARAM("{'arg_name': 'dims'}"), "m.json: operator 'c' (create): params[0]: 'value' is "
                                             "missing, expected the value of 'dims'"},
        {WITH_PARAM("{'arg_name': 'dims', 'value': 2}"),
         "m.json: operator 'c' (create): parameter 'dims' is a number, expected an array of "
         "numbers"},
        {WITH_PARAM("{'arg_name': 'dims', 'value': ['x']}"),
         "m.json: operator 'c' (create): parameter 'dims' is an array of strings, expected an "
         "array of numbers"},
        {WITH_PARAM("{'arg_name': 'more', 'value': []}"),
         "m.json: operator 'c' (create): parameter 'more' is an empty array, expected at least one "
         "element"},
        {WITH_PARAM("{'arg_name': 'dims', 'value': [1, 'x']}"),
         "m.json: operator 'c' (create): parameter 'dims': element 1 is a string, expected a "
         "number"},
        {WITH_PARAM("{'arg_name': 'dims', 'value': [1, null]}"),
         "m.json: operator 'c' (create): parameter 'dims': element 1 is null, expected a number"},
        {WITH_PARAM("{'arg_name': 'dims', 'value': [[1], [2]]}"),
         "m.json: operator 'c' (create): parameter 'dims': element 0 is an array, expected a "
         "string, number or bool"},
        {WITH_PARAM("{'arg_name': 'from_file', 'value': 1}"),
         "m.json: operator 'c' (create): parameter 'from_file' is a number, expected a bool"},
        {WITH_PARAM("{'arg_name': 'dtype', 'value': {}}"),
         "m.json: operator 'c' (create): parameter 'dtype' is an object, expected a string, "
         "number, bool, null or array"},
        {WITH_PARAM("{'arg_name': 'other', 'value': [true, 1]}"),
         "m.json: operator 'c' (create): parameter 'other': element 1 is a number, expected a "
         "bool"},
        {WITH_PARAM("{'arg_name': 'other', 'value': ['nan', 1, 'x']}"),
         "m.json: operator 'c' (create): parameter 'other': element 2 is a string, expected a "
         "number"},

        {WITH_TOP("'inputs': 'a'"), "m.json: 'inputs' is a string, expected an array"},
        {WITH_TOP("'inputs': [1]"), "m.json: inputs[0] is a number, expected the name of a tensor"},
        {WITH_TOP("'inputs': ['b']"), "m.json: inputs[0] 'b' is not a tensor of the model"},
        {WITH_TOP("'inputs': ['a', 'a']"), "m.json: inputs[1] 'a' is listed twice"},
        {"{'inputs': ['a'], 'ops': [{'name': 'm', 'optype': 'mix', 'tensors_in': [], "
         "'tensors_out': [" A_TENSOR "], 'params': []}]}",
         "m.json: inputs[0] 'a' is an output of a 'mix', expected one of a 'create' or a 'source'"},

        {WITH_TOP("'arch': 'cpu'"), "m.json: 'mem_sizes' is missing, expected an object"},
        {WITH_TOP("'mem_sizes': {}"), "m.json: 'arch' is missing, expected a string"},
        {WITH_TOP("'arch': 'cpu', 'mem_sizes': {'LN_MEM_CPU': -1}"),
         "m.json: mem_sizes: 'LN_MEM_CPU' is -1, expected a number of bytes"},
        {WITH_TOP("'arch': 'cpu', 'mem_sizes': {'LN_MEM_CPU': 1e30}"),
         "m.json: mem_sizes: 'LN_MEM_CPU' is 1e+30, expected a number of bytes"},
        {WITH_TOP("'arch': 'cpu', 'mem_sizes': {}, 'threads': 0"),
         "m.json: 'threads' is 0, expected a number of threads"},
        {WITH_TOP("'arch': 'cpu', 'mem_sizes': {}, 'threads': 1.5"),
         "m.json: 'threads' is 1.5, expected a number of threads"},
        {WITH_NODES("'model_nodes': []", ""), "m.json: 'node_count' is missing, expected a number"},
        {WITH_NODES("'node_count': 1e10, 'model_nodes': []", ""),
         "m.json: 'node_count' is 10000000000, expected a number of nodes"},
        {WITH_NODES("'node_count': 1, 'model_nodes': 1", ""),
         "m.json: 'model_nodes' is a number, expected an array"},
        {WITH_NODES("'node_count': 1, 'model_nodes': [1]", ""),
         "m.json: model_nodes[0] is a number, expected [NUMBER, \"NAME\", \"TYPE\"]"},
        {WITH_NODES("'node_count': 1, 'model_nodes': [[1, 'a']]", ""),
         "m.json: model_nodes[0] is another array, expected [NUMBER, \"NAME\", \"TYPE\"]"},
        {WITH_NODES("'node_count': 1, 'model_nodes': [[1.5, 'a', 'b']]", ""),
         "m.json: model_nodes[0] is another array, expected [NUMBER, \"NAME\", \"TYPE\"]"},
        {WITH_NODES("'node_count': 3, 'model_nodes': [[2, 'a', 'b'], [2, 'a', 'b']]", ""),
         "m.json: model_nodes[1] has number 2, expected 3 to 3"},
        {WITH_NODES("'node_count': 3, 'model_nodes': [[4, 'a', 'b']]", ""),
         "m.json: model_nodes[0] has number 4, expected 1 to 3"},
        {WITH_NODES("'node_count': 3, 'model_nodes': [[3, 'a', 'b']]", ", 'nodes': 3"),
         "m.json: operator 'c' (create): 'nodes' is a number, expected an array"},
        {WITH_NODES("'node_count': 3, 'model_nodes': [[3, 'a', 'b']]", ", 'nodes': []"),
         "m.json: operator 'c' (create): 'nodes' has 0 elements, expected 1 to 256"},
        {WITH_NODES("'node_count': 3, 'model_nodes': [[3, 'a', 'b']]", ", 'nodes': [2]"),
         "m.json: operator 'c' (create): nodes[0] is no number of a node, expected increasing "
         "numbers of nodes of the model"},
        {WITH_NODES("'node_count': 3, 'model_nodes': [[3, 'a', 'b']]", ", 'nodes': [3, 3]"),
         "m.json: operator 'c' (create): nodes[1] is not above the one before it, expected "
         "increasing numbers of nodes of the model"},
        {WITH_NODES("'threads': 1", ", 'nodes': [1]"),
         "m.json: operator 'c' (create): nodes[0] is no number of a node, expected increasing "
         "numbers of nodes of the model"},
        {"{'ops': [], 'fixed': {}}", "m.json: 'fixed' is an object, expected an array"},
        {"{'ops': [], 'sizes': {}}", "m.json: 'sizes' is an object, expected an array"},
        {"{'ops': [], 'sizes': [{}]}", "m.json: sizes[0]: 'tensor' is missing, expected a string"},
        {"{'ops': [], 'sizes': [{'tensor': 'a'}]}",
         "m.json: sizes[0]: 'names' is missing, expected an array"},
        {"{'ops': [], 'sizes': [{'tensor': 'a', 'names': [2]}]}",
         "m.json: sizes[0]: 'names' has a number, expected strings and null"},
        {"{'ops': [], 'sizes': [{'tensor': 'a', 'names': ['', '', '', '', '', '', '', '', '']}]}",
         "m.json: sizes[0]: 'names' has 9 elements, expected at most 8"},
        {"{'ops': [], 'fixed': [1]}", "m.json: fixed[0] is a number, expected an object"},
        {"{'ops': [], 'fixed': [{}]}", "m.json: fixed[0]: 'tensor' is missing, expected a string"},
        {"{'ops': [], 'fixed': [{'tensor': 'a', 'rule': 3, 'hash': '0'}]}",
         "m.json: fixed[0]: 'rule' is a number, expected a string"},
        {"{'ops': [], 'fixed': [{'tensor': 'a', 'rule': 'r'}]}",
         "m.json: fixed[0]: 'hash' is missing, expected a string"},
        {"{'ops': [], 'fixed': [{'tensor': 'a', 'hash': '123456789abcdef'}]}",
         "m.json: fixed[0]: 'hash' is '123456789abcdef', expected 16 digits of 0 to 9 and a to f"},
        {"{'ops': [], 'fixed': [{'tensor': 'a', 'hash': '-123456789abcdef'}]}",
         "m.json: fixed[0]: 'hash' is '-123456789abcdef', expected 16 digits of 0 to 9 and a to f"},
        {"{'ops': [], 'fixed': [{'tensor': 'a', 'hash': '0123456789abcdef'},"
         " {'tensor': 'a', 'hash': '0123456789abcdef'}]}",
         "m.json: fixed[1]: 'a' is listed twice"},
        {WITH_TOP("'arch': 'cpu', 'mem_sizes': {'LN_MEM_TAPE': 1}"),
         "m.json: mem_sizes: unknown memory type 'LN_MEM_TAPE'"},
        {WITH_TOP("'arch': 'cpu', 'mem_sizes': {}"),
         "m.json: operator 'c' (create): tensors_out[0]: 'offset' is missing, expected a number"},
        {"{'arch': 'cpu', 'mem_sizes': {}, 'ops': [{'name': 'c', 'optype': 'create', 'tensors_in': "
         "[], 'tensors_out': [], 'params': [], 'scratch': {'size': 1.5}}]}",
         "m.json: operator 'c' (create): scratch: 'size' is 1.5, expected a number of bytes"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_rejected(cases[i].text, cases[i].message);
}
END_TEST

START_TEST(rejects_invalid_json_with_line_and_column)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "m.json: the model is empty"},
        {"{'ops':\n  [", "m.json:2:3: JSON: ']' expected near end of file"},
        {"{'ops': [],}", "m.json:1:12: JSON: string or '}' expected near '}'"},
        {"{'ops': [], 'ops': []}", "m.json:1:17: JSON: duplicate object key near '\"ops\"'"},
        {"{'ops': [1e999]}", "m.json:1:14: JSON: real number overflow near '1e999'"},
        {"{'ops': []} x", "m.json:1:13: JSON: end of file expected near 'x'"},
        {"{'ops': ['\\u0000']}",
         "m.json:1:17: JSON: \\u0000 is not allowed without JSON_ALLOW_NUL near '\"\\u0000\"'"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_rejected(cases[i].text, cases[i].message);
}
END_TEST

START_TEST(rejects_every_truncated_model)
{
    char *json = quoted(plain_model);
    for (size_t len = 0; len < strlen(json) - 2; len++) {
        ln_context *ctx = new_context();
        ck_assert_int_eq(ln_ir_read(ctx, "m.json", json, len, NULL, &ctx->ops), -1);
        ck_assert_ptr_null(ctx->ops);
        free_context(ctx);
    }
    free(json);
}
END_TEST

START_TEST(every_changed_byte_of_a_model_is_survived)
{
    static const char replacements[] = "\"0[{]},-\\\xff";
    char *json = quoted(compiled_model);
    const size_t len = strlen(json);
    for (size_t i = 0; i < len; i++) {
        const char old = json[i];
        for (size_t k = 0; k < sizeof(replacements); k++) {
            json[i] = replacements[k];
            ln_context *ctx = new_context();
            if (ln_ir_read(ctx, "m.json", json, len, NULL, &ctx->ops))
                ck_assert_str_ne(ln_context_error(ctx), "");
            free_context(ctx);
        }
        json[i] = old;
    }
    free(json);
}
END_TEST

START_TEST(rejects_nul_bytes_and_deep_nesting)
{
    ln_context *ctx = new_context();
    ck_assert_int_eq(ln_ir_read(ctx, "m.json", "{\"ops\"\0: []}", 13, NULL, &ctx->ops), -1);
    ck_assert_str_eq(ln_context_error(ctx), "m.json: NUL byte at offset 6, expected JSON text");
    free_context(ctx);

    static char nest[10000];
    memset(nest, '[', sizeof(nest));
    ctx = new_context();
    ck_assert_int_eq(ln_ir_read(ctx, "m.json", nest, sizeof(nest), NULL, &ctx->ops), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "m.json:1:2049: JSON: maximum parsing depth reached near '['");
    free_context(ctx);
}
END_TEST

START_TEST(rejects_long_names)
{
    char text[2000], name[600];
    memset(name, 'n', sizeof(name));
    snprintf(text, sizeof(text), "{'ops': [{'name': '%.511s', 'optype': '%.512s'}]}", name, name);
    char message[2000];
    snprintf(message, sizeof(message),
             "m.json: operator '%.511s': 'optype' has 512 bytes, expected 1 to 511", name);
    check_rejected(text, message);
}
END_TEST

START_TEST(many_elements_take_time_in_proportion)
{
    // Quadratic work would take hours here, and the test would time out.
    const int n = 200000;
    char *text = NULL;
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(fp);
    fputs("{\"ops\": [{\"name\": \"c\", \"optype\": \"anything\", \"tensors_in\": [], "
          "\"tensors_out\": [",
          fp);
    for (int i = 0; i < n; i++)
        fprintf(fp, "%s{\"arg_name\": \"%d\", \"name\": \"%d\"}", i ? "," : "", i, i);
    fputs("], \"params\": []}], \"outputs\": [", fp);
    for (int i = 0; i < n; i++)
        fprintf(fp, "%s\"%d\"", i ? "," : "", i);
    fputs("]}", fp);
    fclose(fp);
    ln_context *ctx = new_context();
    ck_assert_int_eq(ln_ir_read(ctx, "m.json", text, size, NULL, &ctx->ops), 0);
    ck_assert_int_eq(ln_list_length(ctx->outputs), n);
    free_context(ctx);
    free(text);
}
END_TEST

static void check_failed_allocations(const char *model)
{
    char *json = quoted(model);
    ln_bool failed = LN_TRUE;
    for (int n = 0; failed; n++) {
        ln_context *ctx = new_context();
        ln_alloc_fail_after(n);
        const int rc = ln_ir_read(ctx, "m.json", json, strlen(json), NULL, &ctx->ops);
        failed = ln_alloc_fail_stop();
        ck_assert(!rc || failed); // a hash table that cannot grow is only slower
        ck_assert_int_eq(*ln_context_error(ctx) != '\0', rc != 0);
        ck_assert_int_eq(ctx->ops == NULL, rc != 0);
        free_context(ctx);
    }
    free(json);
}

START_TEST(failed_allocations_are_reported_or_harmless)
{
    check_failed_allocations(plain_model);
    check_failed_allocations(compiled_model);
}
END_TEST

// Files

START_TEST(a_string_that_was_never_set_is_not_written)
{
    const char *const strings[] = {"set", NULL};
    ln_context *ctx = new_context();
    ck_assert_int_eq(read_text(ctx, plain_model), 0);
    ln_op_arg *op_arg = ((ln_op *)ctx->ops->data)->op_arg;
    op_arg->params = ln_param_list_append_array_string(op_arg->params, "texts", 2, strings);
    FILE *fp = tmpfile();
    ck_assert_int_eq(ln_ir_write(ctx, fp), -1);
    ck_assert_str_eq(ln_context_error(ctx), "a string that was never set cannot be written");
    fclose(fp);
    free_context(ctx);
}
END_TEST

START_TEST(files_are_written_whole_or_not_at_all)
{
    char folder[] = "/tmp/ln_ir_json_XXXXXX", file[64], message[128];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ln_context *ctx = new_context();
    ck_assert_int_eq(read_text(ctx, plain_model), 0);
    snprintf(file, sizeof(file), "%s/m.json", folder);
    ck_assert_int_eq(ln_ir_write_file(ctx, file), 0);
    ck_assert_int_eq(access(file, R_OK), 0);
    ck_assert_int_eq(unlink(file), 0);

    ((ln_op *)ctx->ops->data)->op_arg->name[0] = '\xff';
    ck_assert_int_eq(ln_ir_write_file(ctx, file), -1);
    ck_assert_str_eq(ln_context_error(ctx), "'\\xffreate1' cannot be written: it is not UTF-8");
    ck_assert_int_eq(rmdir(folder), 0);

    ln_context_clear_error(ctx);
    ck_assert_int_eq(ln_ir_write_file(ctx, file), -1);
    snprintf(message, sizeof(message), "%s: cannot write: No such file or directory", file);
    ck_assert_str_eq(ln_context_error(ctx), message);
    ln_context_clear_error(ctx);
    ck_assert_int_eq(ln_ir_write_file(ctx, "/tmp"), -1);
    ck_assert_str_eq(ln_context_error(ctx), "/tmp: cannot write: Is a directory");
    free_context(ctx);
}
END_TEST

LN_TEST_MAIN("json ir", a_written_file_reads_back_the_same,
             operators_come_in_order_with_their_lists, compiled_model_has_its_plan,
             operators_of_a_compiled_model_have_the_nodes_of_the_original,
             numbers_are_read_back_in_locales_without_points,
             keys_of_a_plan_warn_in_models_without_one, unknown_keys_give_one_warning_each,
             rejects_bad_models_with_position_and_reason, rejects_invalid_json_with_line_and_column,
             rejects_every_truncated_model, every_changed_byte_of_a_model_is_survived,
             rejects_nul_bytes_and_deep_nesting, rejects_long_names,
             many_elements_take_time_in_proportion, failed_allocations_are_reported_or_harmless,
             a_string_that_was_never_set_is_not_written, files_are_written_whole_or_not_at_all)
