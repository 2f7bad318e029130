// SPDX-License-Identifier: Apache-2.0
// Tests of requests and responses in JSON with binary data. tests/serve has all messages.

#include "srv_infer.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "ln_check.h"

static srv_request r;
static srv_infer_form form;

static int read_parts(const char *json, const void *data, size_t size)
{
    char body[2048];
    const size_t json_size = strlen(json);
    srv_request_clear(&r);
    srv_infer_form_clear(&form);
    memcpy(body, json, json_size);
    if (size)
        memcpy(body + json_size, data, size);
    return srv_infer_read(body, json_size + size, json_size, &r, &form);
}

static int read_json(const char *json)
{
    return read_parts(json, NULL, 0);
}

static void forget(void)
{
    srv_request_clear(&r);
    srv_infer_form_clear(&form);
}

START_TEST(request_has_inputs_outputs_and_parameters)
{
    r.arrival = 0;
    ck_assert_msg(
        !read_json("{\"id\":\"a\",\"parameters\":{\"timeout\":1500,\"binary_data_output\":true},"
                   "\"inputs\":[{\"name\":\"x\",\"shape\":[2,2],\"datatype\":\"FP32\",\"data\":[[1,"
                   "2.5],[-3,4]]}],"
                   "\"outputs\":[{\"name\":\"y\"},{\"name\":\"z\",\"parameters\":{\"binary_data\":"
                   "false}}]}"),
        "%s", r.error.text);
    ck_assert_str_eq(form.id, "a");
    ck_assert_uint_eq(r.deadline, 1500000);
    ck_assert_int_eq(r.n_inputs, 1);
    ck_assert_mem_eq(r.inputs[0].data, ((const float[]){1, 2.5f, -3, 4}), 16);
    ck_assert_int_eq(r.n_wanted, 2);
    ck_assert_str_eq(r.wanted[1], "z");
    ck_assert_int_eq(form.is_binary, 1);
    ck_assert_int_eq(form.binaries[0], -1);
    ck_assert_int_eq(form.binaries[1], 0);
    forget();
}
END_TEST

START_TEST(binary_data_follow_in_the_order_of_the_inputs)
{
    static const char json[] = "{\"inputs\":[{\"name\":\"a\",\"shape\":[2],\"datatype\":\"INT16\","
                               "\"parameters\":{\"binary_data_size\":4}},"
                               "{\"name\":\"b\",\"shape\":[],\"datatype\":\"UINT8\",\"data\":[9]},"
                               "{\"name\":\"c\",\"shape\":[1],\"datatype\":\"INT8\",\"parameters\":"
                               "{\"binary_data_size\":1}}]}";
    ck_assert_msg(!read_parts(json, "\1\0\2\0\3", 5), "%s", r.error.text);
    ck_assert_mem_eq(r.inputs[0].data, "\1\0\2\0", 4);
    ck_assert_mem_eq(r.inputs[1].data, "\11", 1);
    ck_assert_mem_eq(r.inputs[2].data, "\3", 1);
    ck_assert_int_eq(read_parts(json, "\1\0\2\0\3\4", 6), -1);
    ck_assert_str_eq(r.error.text, "1 bytes follow the data of the inputs");
    ck_assert_int_eq(read_parts(json, "\1\0\2", 3), -1);
    forget();
}
END_TEST

START_TEST(wrong_requests_have_reasons)
{
    static const char *const rows[][2] = {
        {"", "no JSON"},
        {"{\"inputs\":[]}\377\1\2\3",
         "4 bytes follow the JSON of the request; expected none without "},
        {"--f\r\n", "the request is no JSON: line 1, column 1"},
        {"[]", "the request is an array; expected an object"},
        {"{\"inputs\":7}", "'inputs' is an integer; expected an array"},
        {"{\"inputs\":[{}]}", "an input has no 'name'"},
        {"{\"inputs\":[{\"name\":\"x\"}]}", "input 'x' has no 'datatype'"},
        {"{\"inputs\":[{\"name\":\"x\",\"datatype\":\"F\"}]}", "the unknown datatype 'F'"},
        {"{\"inputs\":[{\"name\":\"x\",\"datatype\":\"INT8\",\"shape\":[1],\"data\":[128]}]}",
         "the data of 'x' has 128, which is no INT8"},
        {"{\"inputs\":[{\"name\":\"x\",\"datatype\":\"INT8\",\"shape\":[2],\"data\":[[1],[2]]}]}",
         "neither a flat array of 2 elements"},
        {"{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[1],\"data\":[\"1\"]}]}",
         "the data of 'x' has a string, which is no FP32"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ck_assert_int_eq(read_json(rows[i][0]), -1);
        ck_assert_msg(strstr(r.error.text, rows[i][1]) != NULL, "%s", r.error.text);
        ck_assert_int_eq((int)r.error.status, SRV_INVALID);
    }
    forget();
}
END_TEST

static srv_tensor output(const char *name, const float *values, long long n)
{
    srv_tensor t = {.name = strdup(name)};
    ck_assert_int_eq(srv_tensor_shape(&t, TL_FLOAT, 1, &n, &r.error), 0);
    ck_assert_int_eq(srv_tensor_from_binary(&t, values, 4 * (size_t)n, &r.error), 0);
    return t;
}

START_TEST(response_has_json_then_binary_data)
{
    static const float values[] = {0.1f, INFINITY, -2};
    signed char binaries[] = {-1, 1};
    srv_tensor outputs[] = {output("y\"", values, 3), output("z", values, 2)};
    const srv_request answer = {.outputs = outputs, .n_outputs = 2};
    srv_infer_form given = {(char *)"7", 0, binaries};
    srv_buffer b = {.data = NULL};
    size_t json_size;
    ck_assert_int_eq(srv_infer_write(&answer, &given, "m", "1", &b, &json_size, &r.error), 0);
    ck_assert_uint_eq(b.size, json_size + 8);
    ck_assert_mem_eq(b.data + json_size, values, 8);
    srv_buffer_add(&b, "", 1);
    b.data[json_size] = '\0';
    ck_assert_str_eq(
        b.data,
        "{\"id\":\"7\",\"model_name\":\"m\",\"model_version\":\"1\",\"outputs\":["
        "{\"name\":\"y\\\"\",\"datatype\":\"FP32\",\"shape\":[3],\"data\":[0.100000001,null,-2]},"
        "{\"name\":\"z\",\"datatype\":\"FP32\",\"shape\":[2],\"parameters\":{\"binary_data_size\":"
        "8}}]}");
    srv_buffer_clear(&b);
    srv_tensor_clear(&outputs[0]);
    srv_tensor_clear(&outputs[1]);
}
END_TEST

LN_TEST_MAIN("requests to infer", request_has_inputs_outputs_and_parameters,
             binary_data_follow_in_the_order_of_the_inputs, wrong_requests_have_reasons,
             response_has_json_then_binary_data)
