// SPDX-License-Identifier: Apache-2.0
// Tests of requests and responses as messages: what a client's library cannot send or tell.

#include "srv_proto_infer.h"

#include <string.h>

#include "ln_check.h"

typedef Inference__ModelInferRequest__InferInputTensor input_message;

// A request of one input x with this contents, or raw bytes.
static int read(const char *datatype, int64_t len, Inference__InferTensorContents *contents,
                const char *raw, srv_request *r, srv_proto_form *form)
{
    Inference__ModelInferRequest message = INFERENCE__MODEL_INFER_REQUEST__INIT;
    input_message input = INFERENCE__MODEL_INFER_REQUEST__INFER_INPUT_TENSOR__INIT;
    input_message *inputs[] = {&input};
    ProtobufCBinaryData bytes = {raw ? strlen(raw) : 0, (uint8_t *)raw};
    input.name = "x";
    input.datatype = (char *)datatype;
    input.n_shape = 1;
    input.shape = &len;
    input.contents = contents;
    message.n_inputs = 1;
    message.inputs = inputs;
    message.n_raw_input_contents = raw != NULL;
    message.raw_input_contents = &bytes;
    *r = (srv_request){.arrival = 1};
    *form = (srv_proto_form){.id = NULL};
    return srv_proto_read_infer(&message, r, form);
}

START_TEST(narrow_integers_are_checked)
{
    static const struct {
        const char *datatype;
        int32_t value;
        int fits;
    } rows[] = {{"INT8", 127, 1},     {"INT8", 128, 0},    {"INT8", -128, 1},
                {"INT8", -129, 0},    {"INT16", 32767, 1}, {"INT16", 32768, 0},
                {"INT16", -32769, 0}, {"INT32", -1, 1},    {"BOOL", 1, 1}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        Inference__InferTensorContents contents = INFERENCE__INFER_TENSOR_CONTENTS__INIT;
        int32_t values[] = {rows[i].value};
        protobuf_c_boolean flags[] = {rows[i].value};
        srv_request r;
        srv_proto_form form;
        const int is_bool = !strcmp(rows[i].datatype, "BOOL");
        contents.n_int_contents = !is_bool;
        contents.int_contents = values;
        contents.n_bool_contents = (size_t)is_bool;
        contents.bool_contents = flags;
        ck_assert_int_eq(!read(rows[i].datatype, 1, &contents, NULL, &r, &form), rows[i].fits);
        ck_assert_int_eq((int)r.error.status, rows[i].fits ? SRV_OK : SRV_INVALID);
        ck_assert_int_eq(form.is_typed, 1);
        srv_request_clear(&r);
        srv_proto_form_clear(&form);
    }
}
END_TEST

START_TEST(raw_bytes_are_copied)
{
    srv_request r;
    srv_proto_form form;
    ck_assert_int_eq(read("UINT8", 3, NULL, "abc", &r, &form), 0);
    ck_assert_int_eq(form.is_typed, 0);
    ck_assert_uint_eq(r.inputs[0].size, 3);
    ck_assert_mem_eq(r.inputs[0].data, "abc", 3);
    srv_request_clear(&r);
    ck_assert_int_eq(read("UINT8", 4, NULL, "abc", &r, &form), -1);
    srv_request_clear(&r);
}
END_TEST

// The response of an output y with these elements, in the arena.
static const Inference__ModelInferResponse *write(srv_arena *arena, tl_dtype dtype, void *data,
                                                  size_t size, int is_typed)
{
    srv_tensor y = {
        .name = "y", .dtype = dtype, .ndim = 1, .dims = {1}, .len = 1, .size = size, .data = data};
    const srv_request r = {.outputs = &y, .n_outputs = 1};
    const srv_proto_form form = {.is_typed = is_typed};
    srv_buffer b = {.data = NULL};
    srv_error err = {.status = SRV_OK};
    ck_assert_int_eq(srv_proto_write_infer(&r, &form, "m", "2", &b, &err), 0);
    const void *const got =
        srv_proto_unpack(arena, &inference__model_infer_response__descriptor,
                         b.data + SRV_PROTO_PREFIX, b.size - SRV_PROTO_PREFIX, &err);
    srv_buffer_clear(&b);
    ck_assert_ptr_nonnull(got);
    return got;
}

START_TEST(response_is_typed_if_all_types_can_be)
{
    int8_t small = -3;
    uint16_t half = 0x3c00;
    srv_arena arena = {.left = 1 << 16};
    const Inference__ModelInferResponse *got = write(&arena, TL_INT8, &small, 1, 1);
    ck_assert_str_eq(got->model_name, "m");
    ck_assert_str_eq(got->model_version, "2");
    ck_assert_str_eq(got->outputs[0]->datatype, "INT8");
    ck_assert_uint_eq(got->n_raw_output_contents, 0);
    ck_assert_int_eq(got->outputs[0]->contents->int_contents[0], -3);
    got = write(&arena, TL_FLOAT16, &half, 2, 1); // which has no field
    ck_assert_uint_eq(got->n_raw_output_contents, 1);
    ck_assert_mem_eq(got->raw_output_contents[0].data, &half, 2);
    got = write(&arena, TL_INT8, &small, 1, 0);
    ck_assert_uint_eq(got->n_raw_output_contents, 1);
    ck_assert_ptr_null(got->outputs[0]->contents);
    srv_arena_clear(&arena);
}
END_TEST

LN_TEST_MAIN("messages of requests", narrow_integers_are_checked, raw_bytes_are_copied,
             response_is_typed_if_all_types_can_be)
