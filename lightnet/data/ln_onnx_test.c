// SPDX-License-Identifier: Apache-2.0
// Tests of ONNX messages: lean ones, and tensors.

#include "base/ln_protobuf.h"
#include "ln_data_check.h"
#include "base/ln_budget.h"
#include "data/ln_onnx_lean.h"
#include "data/ln_onnx_tensor.h"
#include "tensorlight/tl_type.h"

enum { LARGEST = 4096 };

// A message as bytes.
typedef struct packed {
    unsigned char data[LARGEST];
    size_t size;
} packed;

static void pack_tensor(const LnOnnx__Tensor *t, packed *p)
{
    p->size = ln_onnx__tensor__get_packed_size(t);
    ck_assert_uint_le(p->size, LARGEST);
    ln_onnx__tensor__pack(t, p->data);
}

static void init_tensor(LnOnnx__Tensor *t, int type, size_t n_dims, int64_t *dims)
{
    ln_onnx__tensor__init(t);
    t->name = "t";
    t->has_data_type = 1;
    t->data_type = type;
    t->n_dims = n_dims;
    t->dims = dims;
}

static tl_tensor *read_tensor(const LnOnnx__Tensor *t, ln_error *err)
{
    packed p;
    pack_tensor(t, &p);
    const ln_infile in = {.data = p.data, .size = p.size};
    ln_error_clear(err);
    ck_assert_int_eq(ln_onnx_tensor_is(&in), 1);
    return ln_onnx_tensor_from_file(&in, "t.pb", err);
}

static void check_rejected(const LnOnnx__Tensor *t, const char *expected)
{
    ln_error err;
    ck_assert_ptr_null(read_tensor(t, &err));
    ck_assert_str_eq(ln_error_text(&err), expected);
}

START_TEST(raw_data_of_every_type_is_read)
{
    static const struct {
        int type;
        tl_dtype dtype;
    } rows[] = {{1, TL_FLOAT},    {2, TL_UINT8},   {3, TL_INT8},    {4, TL_UINT16},
                {5, TL_INT16},    {6, TL_INT32},   {7, TL_INT64},   {9, TL_BOOL},
                {10, TL_FLOAT16}, {11, TL_DOUBLE}, {12, TL_UINT32}, {13, TL_UINT64},
                {16, TL_BFLOAT16}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        LnOnnx__Tensor t;
        ln_error err;
        // Also long enough to be taken out of the lean message.
        int64_t dims[] = {2, 25};
        unsigned char bytes[400] = {1, 0, 1, 1};
        init_tensor(&t, rows[i].type, 2, dims);
        t.has_raw_data = 1;
        t.raw_data = (ProtobufCBinaryData){50 * tl_size_of(rows[i].dtype), bytes};
        tl_tensor *read = read_tensor(&t, &err);
        if (!read)
            ck_abort_msg("%s", ln_error_text(&err));
        ck_assert_int_eq(read->dtype, rows[i].dtype);
        ck_assert_int_eq(read->dims[1], 25);
        ck_assert_mem_eq(read->data, bytes, tl_tensor_size(read));
        tl_tensor_free_data_too(read);
    }
}
END_TEST

START_TEST(small_integers_stand_in_int32_data)
{
    LnOnnx__Tensor t;
    ln_error err;
    int64_t dims[] = {3};
    int32_t data[] = {-1, 127, -128};
    init_tensor(&t, 3, 1, dims);
    t.n_int32_data = 3;
    t.int32_data = data;
    tl_tensor *read = read_tensor(&t, &err);
    ck_assert_ptr_nonnull(read);
    ck_assert_mem_eq(read->data, ((int8_t[]){-1, 127, -128}), 3);
    tl_tensor_free_data_too(read);
}
END_TEST

START_TEST(scalars_and_empty_tensors_are_read)
{
    LnOnnx__Tensor t;
    ln_error err;
    int64_t dims[] = {2, 0};
    float number = 1.5F;
    init_tensor(&t, 1, 0, NULL);
    t.n_float_data = 1;
    t.float_data = &number;
    tl_tensor *read = read_tensor(&t, &err);
    ck_assert_ptr_nonnull(read);
    ck_assert_int_eq(read->ndim, 0);
    ck_assert(*(float *)read->data == 1.5F);
    tl_tensor_free_data_too(read);
    init_tensor(&t, 1, 2, dims);
    read = read_tensor(&t, &err);
    ck_assert_ptr_nonnull(read);
    ck_assert_int_eq(read->len, 0);
    tl_tensor_free_data_too(read);
}
END_TEST

START_TEST(rejects_tensor_protos_with_wrong_data)
{
    LnOnnx__Tensor t;
    int64_t dims[] = {2, 3}, negative[] = {-1}, nine[9] = {0}, huge[] = {65536, 65536};
    float numbers[] = {1, 2};
    unsigned char bools[] = {0, 2};
    init_tensor(&t, 1, 2, dims);
    t.n_float_data = 2;
    t.float_data = numbers;
    check_rejected(&t, "t.pb: tensor 't': FLOAT [2, 3] has 2 elements of data, expected 6");
    t.n_float_data = 0;
    t.has_raw_data = 1;
    t.raw_data = (ProtobufCBinaryData){2, bools};
    check_rejected(&t, "t.pb: tensor 't': FLOAT [2, 3] has 2 bytes of data, expected 24");
    init_tensor(&t, 9, 1, (int64_t[]){2});
    t.has_raw_data = 1;
    t.raw_data = (ProtobufCBinaryData){2, bools};
    check_rejected(&t, "t.pb: tensor 't': element 1 is the byte 2, expected a bool: 0 or 1");
    init_tensor(&t, 14, 1, dims);
    check_rejected(&t, "t.pb: tensor 't': its type is COMPLEX64, which LightNet does not support");
    init_tensor(&t, 1, 1, negative);
    check_rejected(&t, "t.pb: tensor 't': dimension 0 is -1, expected 0 to 2147483647");
    init_tensor(&t, 1, 9, nine);
    check_rejected(&t, "t.pb: tensor 't': it has 9 dimensions, expected at most 8");
    init_tensor(&t, 1, 2, huge);
    ln_error err;
    ck_assert_ptr_null(read_tensor(&t, &err));
    ck_assert_ptr_nonnull(strstr(ln_error_text(&err), "elements"));
}
END_TEST

START_TEST(rejects_external_data_outside_of_the_folder)
{
    LnOnnx__Tensor t;
    int64_t dims[] = {1};
    LnOnnx__Entry location = LN_ONNX__ENTRY__INIT;
    LnOnnx__Entry *entries[] = {&location};
    init_tensor(&t, 1, 1, dims);
    t.has_data_location = 1;
    t.data_location = 1;
    t.n_external_data = 1;
    t.external_data = entries;
    location.key = "location";
    location.value = "../secret";
    check_rejected(&t,
                   "t.pb: tensor 't': the location of its external data is '../secret', expected "
                   "a file in the folder of the model");
}
END_TEST

START_TEST(every_truncation_and_every_changed_byte_is_survived)
{
    LnOnnx__Tensor t;
    packed p;
    int64_t dims[] = {20};
    unsigned char bytes[80] = {0};
    init_tensor(&t, 1, 1, dims);
    t.has_raw_data = 1;
    t.raw_data = (ProtobufCBinaryData){80, bytes};
    pack_tensor(&t, &p);
    for (size_t size = 1; size < p.size; size++) {
        const ln_infile in = {.data = p.data, .size = size};
        ln_error err = {0};
        tl_tensor_free_data_too(ln_onnx_tensor_from_file(&in, "t.pb", &err));
    }
    for (size_t i = 0; i < p.size; i++)
        for (int bit = 0; bit < 8; bit++) {
            ln_error err = {0};
            const ln_infile in = {.data = p.data, .size = p.size};
            p.data[i] ^= (unsigned char)(1 << bit);
            tl_tensor_free_data_too(ln_onnx_tensor_from_file(&in, "t.pb", &err));
            p.data[i] ^= (unsigned char)(1 << bit);
        }
}
END_TEST

START_TEST(rejects_endlessly_nested_graphs)
{
    // Model.graph, then Graph.node.attribute.g again and again, from the inside out.
    enum { LEVELS = 500 };
    unsigned char bytes[LARGEST * 4];
    size_t at = sizeof(bytes);
    static const unsigned char tags[] = {(1 << 3) | 2, (5 << 3) | 2, (6 << 3) | 2};
    for (int level = 0; level < LEVELS; level++) {
        const size_t size = sizeof(bytes) - at;
        bytes[--at] = (unsigned char)(size >> 7);
        bytes[--at] = (unsigned char)(size | 0x80);
        bytes[--at] = level == LEVELS - 1 ? (7 << 3) | 2 : tags[(LEVELS - 2 - level) % 3];
    }
    size_t lean_size;
    ln_error err = {0};
    ck_assert_ptr_null(ln_onnx_lean(&ln_onnx__model__descriptor,
                                    &(ln_infile){.data = bytes + at, .size = sizeof(bytes) - at},
                                    &lean_size, &err));
    ck_assert_str_eq(ln_error_text(&err), "graphs are nested more than 66 deep");
}
END_TEST

START_TEST(a_lean_message_has_the_positions_of_data)
{
    LnOnnx__Tensor t;
    packed p;
    size_t size;
    ln_error err = {0};
    int64_t dims[] = {1000};
    unsigned char bytes[1000] = {7};
    init_tensor(&t, 2, 1, dims);
    t.has_raw_data = 1;
    t.raw_data = (ProtobufCBinaryData){1000, bytes};
    pack_tensor(&t, &p);
    unsigned char *lean = ln_onnx_lean(&ln_onnx__tensor__descriptor,
                                       &(ln_infile){.data = p.data, .size = p.size}, &size, &err);
    ck_assert_ptr_nonnull(lean);
    ck_assert_uint_lt(size, 50);
    LnOnnx__Tensor *read = ln_onnx__tensor__unpack(NULL, size, lean);
    ck_assert_ptr_nonnull(read);
    ck_assert_int_eq(read->has_raw_data, 0);
    ck_assert_uint_eq(read->lean_size, 1000);
    ck_assert_int_eq(p.data[read->lean_offset], 7);
    ln_onnx__tensor__free_unpacked(read, NULL);
    free(lean);
}
END_TEST

// A message that occurs twice where it may occur once, and the reason.
START_TEST(rejects_messages_that_would_be_merged)
{
    static const struct {
        unsigned char bytes[16];
        size_t size;
        const char *reason;
    } rows[] = {
        {{0x3a, 0, 0x3a, 0}, 4, "field 'graph' of a message 'Model' occurs twice, expected once"},
        {{0x3a, 6, 0x5a, 4, 0x12, 0, 0x12, 0},
         8,
         "field 'type' of a message 'ValueInfo' occurs twice, expected once"},
        {{0x3a, 8, 0x5a, 6, 0x12, 4, 0x0a, 0, 0x0a, 0},
         10,
         "field 'tensor_type' of a message 'Type' occurs twice, expected once"},
        {{0x3a, 6, 0x7a, 4, 0x0a, 0, 0x0a, 0},
         8,
         "field 'values' of a message 'SparseTensor' occurs twice, expected once"},
        {{0x42, 0, 0x42, 0, 0x3a, 4, 0x5a, 0, 0x5a, 0}, 10, NULL}, // these may be repeated
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t size;
        ln_error err = {0};
        unsigned char *lean =
            ln_onnx_lean(&ln_onnx__model__descriptor,
                         &(ln_infile){.data = rows[i].bytes, .size = rows[i].size}, &size, &err);
        ck_assert_int_eq(!lean, rows[i].reason != NULL);
        ck_assert_str_eq(ln_error_text(&err), rows[i].reason ? rows[i].reason : "");
        ck_assert_int_eq(!lean || size == rows[i].size, 1);
        ln_free(lean);
    }
}
END_TEST

// From its n-th call on, the reason to stop.
static ln_status stop_at(void *left, char *reason, size_t size)
{
    if (--*(int *)left > 0)
        return LN_OK;
    if (reason)
        snprintf(reason, size, "time is over");
    return LN_LIMIT_REACHED;
}

START_TEST(a_request_to_stop_ends_a_message)
{
    enum { FIELDS = 5000 };
    unsigned char bytes[2 * FIELDS];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = i % 2 ? 0 : 0x42; // empty operator sets
    for (int left = 1; left < 2000; left += left) {
        int calls = left;
        ln_error err = {0};
        ln_budget budget = {.stop = stop_at, .stop_data = &calls};
        ln_budget *const before = ln_budget_use(&budget);
        const void *const message =
            ln_onnx_unpack(&ln_onnx__model__descriptor,
                           &(ln_infile){.data = bytes, .size = sizeof(bytes)}, "damaged", &err);
        ln_budget_use(before);
        ck_assert_ptr_null(message);
        ck_assert_str_eq(ln_error_text(&err), "time is over");
    }
}
END_TEST

START_TEST(text_is_no_onnx)
{
    static const char *const texts[] = {"{\"ops\": []}", " {",      "\n", "\t",
                                        "# net",         "name: x", ":a", "B = conv2d()"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        ck_assert_msg(!ln_protobuf_is_onnx_model((const unsigned char *)texts[i], strlen(texts[i])),
                      "%s", texts[i]);
}
END_TEST

LN_TEST_MAIN("onnx", raw_data_of_every_type_is_read, small_integers_stand_in_int32_data,
             scalars_and_empty_tensors_are_read, rejects_tensor_protos_with_wrong_data,
             rejects_external_data_outside_of_the_folder,
             every_truncation_and_every_changed_byte_is_survived, rejects_endlessly_nested_graphs,
             a_lean_message_has_the_positions_of_data, rejects_messages_that_would_be_merged,
             a_request_to_stop_ends_a_message, text_is_no_onnx)
