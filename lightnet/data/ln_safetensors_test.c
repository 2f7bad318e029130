// SPDX-License-Identifier: Apache-2.0
// Tests of safetensors files.

#include "ln_data_check.h"
#include "data/ln_safetensors.h"
#include "lightnet/ln_data.h"
#include "tensorlight/tl_type.h"

static char folder[32];

// A file of a header, in which ' stands for ", and data.
static void make_safetensors(const char *file, const char *header, const void *data, size_t size)
{
    char bytes[1024] = "";
    const size_t len = strlen(header);
    bytes[0] = (char)(len & 0xff);
    bytes[1] = (char)(len >> 8);
    for (size_t i = 0; i < len; i++)
        bytes[8 + i] = header[i] == '\'' ? '"' : header[i];
    memcpy(bytes + 8 + len, data, size);
    make_file(file, bytes, 8 + len + size);
}

static int try_safetensors(const char *file, ln_error *err)
{
    ln_safetensors *st = ln_safetensors_open(file, err);
    ln_safetensors_close(st);
    return st ? 0 : -1;
}

#define TENSOR(name, dtype, shape, offsets) \
    "'" name "': {'dtype': '" dtype "', 'shape': " shape ", 'data_offsets': " offsets "}"

START_TEST(tensors_and_metadata_are_found_by_name)
{
    enter_new_folder(folder);
    make_safetensors(
        "a",
        "{'__metadata__': {'k': 'v'}, " TENSOR("b", "F32", "[1]", "[2, 6]") ", " TENSOR(
            "a", "I8", "[2, 1]", "[0, 2]") ", " TENSOR("e", "BF16", "[0]", "[2, 2]") "}  ",
        "\1\xff\0\0\x80\x3f", 6);
    ln_error err = {0};
    ln_safetensors *st = ln_safetensors_open("a", &err);
    if (!st)
        ck_abort_msg("%s", ln_error_text(&err));
    ck_assert_int_eq(ln_safetensors_count(st), 3);
    ck_assert_str_eq(ln_safetensors_name(st, 0), "b");
    ck_assert_str_eq(ln_safetensors_name(st, 1), "a");
    const tl_tensor *a = ln_safetensors_find(st, "a");
    ck_assert_int_eq(a->dtype, TL_INT8);
    ck_assert_int_eq(a->ndim, 2);
    ck_assert_int_eq(((const int8_t *)a->data)[1], -1);
    float one;
    memcpy(&one, ln_safetensors_find(st, "b")->data, sizeof(one));
    ck_assert(one == 1);
    ck_assert_ptr_null(ln_safetensors_find(st, "c"));
    ck_assert_str_eq(ln_safetensors_metadata(st, "k"), "v");
    ck_assert_ptr_null(ln_safetensors_metadata(st, "l"));
    ln_safetensors_close(st);
    leave_folder(folder);
}
END_TEST

START_TEST(every_dtype_reads_back_aligned)
{
    enter_new_folder(folder);
    uint64_t data[] = {0, 0x0101010101010101}, none[] = {0, 0};
    tl_tensor *tensors[TL_DTYPE_SIZE];
    const char *names[TL_DTYPE_SIZE];
    const char *const metadata[] = {"ir", "{\n\"ops\": []}", "lightnet", "1", NULL};
    for (int i = 0; i < TL_DTYPE_SIZE; i++) {
        tensors[i] = tl_tensor_create(i == TL_STRING ? none : data, 1, (int[]){2}, (tl_dtype)i);
        names[i] = tl_dtype_name((tl_dtype)i);
    }
    ln_error err = {0};
    ck_assert_int_eq(ln_safetensors_write("a", TL_DTYPE_SIZE, names,
                                          (const tl_tensor *const *)tensors, metadata, &err),
                     0);
    ln_safetensors *st = ln_safetensors_open("a", &err);
    ck_assert_ptr_nonnull(st);
    ck_assert_int_eq(ln_safetensors_count(st), TL_DTYPE_SIZE);
    ck_assert_str_eq(ln_safetensors_metadata(st, "ir"), "{\n\"ops\": []}");
    for (int i = 0; i < TL_DTYPE_SIZE; i++) {
        const tl_tensor *t = ln_safetensors_find(st, names[i]);
        const tl_dtype dtype = i == TL_STRING ? TL_STRING : ln_safetensors_dtype(tensors[i]);
        ck_assert_int_eq(t->dtype, dtype);
        ck_assert_mem_eq(t->data, tensors[i]->data, tl_tensor_size(t));
        ck_assert_uint_eq((size_t)t->data % tl_size_of(t->dtype), 0);
        tl_tensor_free(tensors[i]);
    }
    ln_safetensors_close(st);
    leave_folder(folder);
}
END_TEST

START_TEST(floats_of_4_bits_are_packed_if_their_number_is_even)
{
    enter_new_folder(folder);
    uint8_t data[20001];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i % 13);
    tl_tensor *even = tl_tensor_create(data, 2, (int[]){2, 10000}, TL_FLOAT4E2M1);
    tl_tensor *odd = tl_tensor_create(data, 1, (int[]){20001}, TL_FLOAT4E2M1);
    ln_error err = {0};
    ck_assert_int_eq(ln_safetensors_write("a", 2, (const char *const[]){"even", "odd"},
                                          (const tl_tensor *const[]){even, odd}, NULL, &err),
                     0);
    size_t size;
    char *bytes = file_bytes("a", &size);
    ck_assert_ptr_nonnull(strstr(bytes + 8, "\"dtype\":\"F4\",\"shape\":[2,10000]"));
    free(bytes);
    ln_safetensors *st = ln_safetensors_open("a", &err);
    const tl_tensor *back = ln_safetensors_find(st, "even");
    ck_assert_int_eq(back->dtype, TL_FLOAT4E2M1);
    ck_assert_mem_eq(back->data, data, 20000);
    back = ln_safetensors_find(st, "odd");
    ck_assert_int_eq(back->dtype, TL_UINT8);
    ck_assert_mem_eq(back->data, data, 20001);
    ln_safetensors_close(st);
    tl_tensor_free(even);
    tl_tensor_free(odd);
    leave_folder(folder);
}
END_TEST

START_TEST(written_bytes_are_always_the_same)
{
    enter_new_folder(folder);
    int8_t data[] = {1};
    tl_tensor *t = tl_tensor_create(data, 0, NULL, TL_INT8);
    ln_error err = {0};
    ck_assert_int_eq(ln_safetensors_write("a", 1, (const char *const[]){"x"},
                                          (const tl_tensor *const[]){t}, NULL, &err),
                     0);
    size_t size;
    char *bytes = file_bytes("a", &size);
    ck_assert_uint_eq(size, 65);
    ck_assert_mem_eq(bytes,
                     "\x38\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"I8\",\"shape\":[],"
                     "\"data_offsets\":[0,1]}}    \1",
                     65);
    free(bytes);
    tl_tensor_free(t);
    leave_folder(folder);
}
END_TEST

START_TEST(rejects_names_that_cannot_be_written)
{
    enter_new_folder(folder);
    int8_t data[] = {1};
    tl_tensor *t = tl_tensor_create(data, 0, NULL, TL_INT8);
    const tl_tensor *const tensors[] = {t, t};
    const struct {
        const char *names[2], *metadata[5], *message;
    } cases[] = {
        {{"x", "x"}, {NULL}, "a: two tensors are named 'x'"},
        {{"x", "__metadata__"}, {NULL}, "a: a tensor is named '__metadata__', which is reserved"},
        {{"x", "y"}, {"k", "1", "k", "2", NULL}, "a: two texts of the metadata are named 'k'"},
        {{"x", "\xff"}, {NULL}, "a: '\\xff' cannot be written: it is not UTF-8"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_error err = {0};
        ck_assert_int_eq(
            ln_safetensors_write("a", 2, cases[i].names, tensors, cases[i].metadata, &err), -1);
        ck_assert_str_eq(ln_error_text(&err), cases[i].message);
        ck_assert_int_ne(access("a", F_OK), 0);
    }
    tl_tensor_free(t);
    leave_folder(folder);
}
END_TEST

START_TEST(rejects_bad_headers)
{
    static const struct {
        const char *header, *message;
    } cases[] = {
        {"{", "a:1:1: header: string or '}' expected near end of file"},
        {"{}", "a: 4 bytes of data, the tensors have 0"},
        {"{'a': 1}", "a: tensor 'a': is a number, expected an object"},
        {"{'a': {}}", "a: tensor 'a': 'dtype' is missing or not a string"},
        {"{" TENSOR("a", "C64", "[1]", "[0, 4]") "}",
         "a: tensor 'a': 'dtype' is 'C64', expected one of F64 F32 F16 BF16 I64 I32 I16 I8 U64 U32 "
         "U16 U8 BOOL F8_E4M3 F8_E5M2 F8_E8M0 F8_E4M3FNUZ F8_E5M2FNUZ F4"},
        {"{" TENSOR("a", "F4", "[7]", "[0, 4]") "}",
         "a: tensor 'a': 4 bytes of data, expected half the elements of TL_FLOAT4E2M1 [7]"},
        {"{" TENSOR("a", "F4", "[2, 2147483647]", "[0, 4]") "}",
         "a: tensor 'a': shape [2, 2147483647], expected at most 2147483647 elements"},
        {"{" TENSOR("a", "F32", "1", "[0, 4]") "}",
         "a: tensor 'a': 'shape' is missing or not an array"},
        {"{" TENSOR("a", "F32", "[1,1,1,1,1,1,1,1,1]", "[0, 4]") "}",
         "a: tensor 'a': 'shape' has 9 dimensions, expected at most 8"},
        {"{" TENSOR("a", "F32", "[1.0]", "[0, 4]") "}",
         "a: tensor 'a': dimension 0 is not an integer from 0 to 2147483647"},
        {"{" TENSOR("a", "F32", "[1, 3000000000]", "[0, 4]") "}",
         "a: tensor 'a': dimension 1 is not an integer from 0 to 2147483647"},
        {"{" TENSOR("a", "F32", "[-1]", "[0, 4]") "}",
         "a: tensor 'a': dimension 0 is not an integer from 0 to 2147483647"},
        {"{" TENSOR("a", "F32", "[1]", "[0]") "}",
         "a: tensor 'a': 'data_offsets' is missing or not an array of two integers"},
        {"{" TENSOR("a", "F32", "[1]", "[0, 8]") "}",
         "a: tensor 'a': 'data_offsets' is [0, 8], expected a range in 4 bytes of data"},
        {"{" TENSOR("a", "F32", "[1]", "[4, 0]") "}",
         "a: tensor 'a': 'data_offsets' is [4, 0], expected a range in 4 bytes of data"},
        {"{" TENSOR("a", "F32", "[1]", "[-4, 0]") "}",
         "a: tensor 'a': 'data_offsets' is [-4, 0], expected a range in 4 bytes of data"},
        {"{" TENSOR("a", "F32", "[2]", "[0, 4]") "}",
         "a: tensor 'a': 4 bytes of data, expected 8 for TL_FLOAT [2]"},
        {"{" TENSOR("a", "I8", "[2]", "[0, 2]") "}", "a: 4 bytes of data, the tensors have 2"},
        {"{" TENSOR("a", "I8", "[2]", "[2, 4]") "}",
         "a: tensor 'a' begins at 2, expected 0: there is a hole"},
        {"{" TENSOR("a", "I8", "[3]", "[0, 3]") ", " TENSOR("b", "I8", "[2]", "[2, 4]") "}",
         "a: tensor 'b' begins at 2, expected 3: tensors overlap"},
        {"{" TENSOR("a", "I8", "[2]", "[0, 2]") ", " TENSOR("a", "I8", "[2]", "[2, 4]") "}",
         "a:1:64: header: duplicate object key near '\"a\"'"},
        {"{" TENSOR("a", "BOOL", "[4]", "[0, 4]") "}",
         "a: tensor 'a': element 1 is the byte 2, expected a bool: 0 or 1"},
        {"{'__metadata__': 1}", "a: '__metadata__' is a number, expected an object"},
        {"{'__metadata__': {'k': 1}}", "a: metadata 'k' is a number, expected a string"},
    };
    enter_new_folder(folder);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_error err = {0};
        make_safetensors("a", cases[i].header, "\1\2\3\4", 4);
        ck_assert_ptr_null(ln_safetensors_open("a", &err));
        ck_assert_str_eq(ln_error_text(&err), cases[i].message);
    }
    leave_folder(folder);
}
END_TEST

START_TEST(rejects_bad_files)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *message;
    } cases[] = {
        {"\x02\0\0\0\0\0\0\0", 8, "a: not a safetensors file"},
        {"\x02\0\0\0\0\0\0\0[]", 10, "a: not a safetensors file"},
        {"\x03\0\0\0\0\0\0\0{}", 10, "a: the header has 3 bytes, the file has 2 after its start"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff{}", 10,
         "a: the header has 18446744073709551615 bytes, the file has 2 after its start"},
    };
    enter_new_folder(folder);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_error err = {0};
        make_file("a", cases[i].bytes, cases[i].size);
        ck_assert_ptr_null(ln_safetensors_open("a", &err));
        ck_assert_str_eq(ln_error_text(&err), cases[i].message);
    }
    leave_folder(folder);
}
END_TEST

START_TEST(damaged_files_are_survived)
{
    enter_new_folder(folder);
    make_safetensors(
        "a",
        "{'__metadata__': {'k': 'v'}, " TENSOR("b", "F32", "[1]", "[2, 6]") ", " TENSOR(
            "a", "I8", "[2, 1]", "[0, 2]") "}",
        "\1\2\3\4\5\6", 6);
    size_t size;
    char *bytes = file_bytes("a", &size);
    check_mutations(bytes, size, try_safetensors);
    free(bytes);
    leave_folder(folder);
}
END_TEST

// Two strings, "ab" and one of 3 bytes, as [2, 1], beside a number.
static void write_strings(const char *file)
{
    static const char *const names[] = {"n", "s"};
    const tl_string **const block =
        tl_strings_from_text((const char *const[]){"ab", "\xe4\xb8\xad"}, 2);
    tl_tensor *const n = tl_tensor_zeros(1, (const int[]){1}, TL_FLOAT);
    tl_tensor *const t = tl_tensor_create(block, 2, (const int[]){2, 1}, TL_STRING);
    ln_error err = {0};
    ck_assert_int_eq(ln_safetensors_write(file, 2, names, (const tl_tensor *const[]){n, t},
                                          (const char *const[]){"k", "v", NULL}, &err),
                     0);
    tl_tensor_free_data_too(n);
    tl_tensor_free_data_too(t);
}

START_TEST(strings_read_back)
{
    enter_new_folder(folder);
    write_strings("a");
    ln_error err = {0};
    ln_safetensors *const st = ln_safetensors_open("a", &err);
    ck_assert_msg(st != NULL, "%s", ln_error_text(&err));
    const tl_tensor *const t = ln_safetensors_find(st, "s");
    ck_assert_int_eq(t->dtype, TL_STRING);
    ck_assert_int_eq(t->ndim, 2);
    ck_assert_str_eq(tl_string_bytes(tl_tensor_string(t, 0)), "ab");
    ck_assert_str_eq(tl_string_bytes(tl_tensor_string(t, 1)), "\xe4\xb8\xad");
    ck_assert_str_eq(ln_safetensors_metadata(st, "k"), "v");
    ln_safetensors_close(st);
    leave_folder(folder);
}
END_TEST

#define STRINGS(shape)                                       \
    "{'__metadata__': {'lightnet.strings': '{\\'s\\':" shape \
    "}'}, " TENSOR("s", "U8", "[18]", "[0, 18]") "}"

START_TEST(bad_strings_are_rejected)
{
    static const struct {
        const char *header, *data, *message;
    } wrong[] = {
        {STRINGS("[2]"), "\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0ab",
         "string 1 is outside of the 2 bytes"},
        {STRINGS("[2]"), "\3\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0ab",
         "string 0 is outside of the 2 bytes"},
        {STRINGS("[2]"), "\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0ab", "2 strings do not fill the 2 bytes"},
        {STRINGS("[2]"), "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0a\xff",
         "string 1 is not UTF-8: byte 0 is 255"},
        {STRINGS("[3]"), "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0ab",
         "18 bytes, expected at least 8 for each of 3"},
        {STRINGS("[-1]"), "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0ab", "dimension 0 is not an integer"},
        {STRINGS("7"), "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0ab", "'shape' is missing or not an array"},
        {"{'__metadata__': {'lightnet.strings': '{\\'t\\':[2]}'}, " TENSOR("s", "U8", "[18]",
                                                                           "[0, 18]") "}",
         "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0ab", "is not in the file as U8"},
        {"{'__metadata__': {'lightnet.strings': '{'}, " TENSOR("s", "U8", "[18]", "[0, 18]") "}",
         "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0ab", "lightnet.strings"},
    };
    enter_new_folder(folder);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        ln_error err = {0};
        make_safetensors("a", wrong[i].header, wrong[i].data, 18);
        ck_assert_int_eq(try_safetensors("a", &err), -1);
        ck_assert_msg(strstr(ln_error_text(&err), wrong[i].message) != NULL, "%s: expected %s",
                      ln_error_text(&err), wrong[i].message);
    }
    leave_folder(folder);
}
END_TEST

LN_TEST_MAIN("safetensors", tensors_and_metadata_are_found_by_name, every_dtype_reads_back_aligned,
             floats_of_4_bits_are_packed_if_their_number_is_even, written_bytes_are_always_the_same,
             rejects_names_that_cannot_be_written, rejects_bad_headers, rejects_bad_files,
             damaged_files_are_survived, strings_read_back, bad_strings_are_rejected)
