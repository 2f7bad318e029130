// SPDX-License-Identifier: Apache-2.0
// Files of parameters: each format and version, and files that are not sound.

#include "data/ln_params.h"

#include <stdint.h>

#include "ln_data_check.h"

static unsigned char bytes[1024];
static size_t size;

static void put(uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++)
        bytes[size++] = (unsigned char)(value >> 8 * i);
}

static void put_text(const char *text)
{
    put(strlen(text), 8);
    memcpy(bytes + size, text, strlen(text));
    size += strlen(text);
}

static void put_floats(int n)
{
    for (int i = 0; i < n; i++) {
        const float value = (float)i - 0.5F;
        memcpy(bytes + size, &value, sizeof(value));
        size += sizeof(value);
    }
}

// The list of NNVM with arrays [2] and [1, 2].
static void make_nnvm(void)
{
    size = 0;
    put(0xF7E58D4F05049CB7, 8);
    put(0, 8);
    put(2, 8);
    put_text("a");
    put_text("aux:b");
    put(2, 8);
    for (int ndim = 1; ndim <= 2; ndim++) {
        put(0xDD5E40F096B4A13F, 8);
        put(0, 8);
        put(1, 4);
        put(0, 4);
        put((uint64_t)ndim, 4);
        put(2, 1);
        put(32, 1);
        put(1, 2);
        for (int i = 1; i < ndim; i++)
            put(1, 8);
        put(2, 8);
        put(8, 8);
        put_floats(2);
    }
}

// The list of MXNet with an array in each version.
static void make_mxnet(void)
{
    static const uint32_t versions[] = {0, 0xF993FAC8, 0xF993FAC9, 0xF993FACA};
    size = 0;
    put(0x112, 8);
    put(0, 8);
    put(4, 8);
    for (int i = 0; i < 4; i++) {
        if (i)
            put(versions[i], 4);
        if (i > 1)
            put(0, 4);
        put(1, 4);
        put(3, i ? 8 : 4);
        put(1, 4);
        put(0, 4);
        put(0, 4);
        put_floats(3);
    }
    put(4, 8);
    put_text("arg:v0");
    put_text("v1");
    put_text("aux:v2");
    put_text("arg:arg:v3");
}

static ln_infile in = {.data = bytes};

static ln_bundle parse(ln_error *err, int *status)
{
    in.size = size;
    ln_bundle bundle = {0};
    ck_assert_int_eq(ln_params_is(&in), 1);
    *status = ln_params_parse(&bundle, &in, "f", err);
    return bundle;
}

static void check_floats(const ln_bundle *bundle, const char *name, int ndim, int len)
{
    const tl_tensor *t = ln_bundle_read(bundle, name, NULL);
    ck_assert_ptr_nonnull(t);
    ck_assert_int_eq(t->ndim, ndim);
    ck_assert_int_eq(t->len, len);
    ck_assert_int_eq(t->dtype, TL_FLOAT);
    for (int i = 0; i < len; i++) {
        float value;
        memcpy(&value, (char *)t->data + (size_t)i * sizeof(value), sizeof(value));
        ck_assert_float_eq(value, (float)i - 0.5F);
    }
}

START_TEST(nnvm_has_names_before_arrays)
{
    int status;
    ln_error err = {0};
    make_nnvm();
    ln_bundle bundle = parse(&err, &status);
    ck_assert_int_eq(status, 0);
    check_floats(&bundle, "a", 1, 2);
    check_floats(&bundle, "b", 2, 2);
    ln_bundle_clear(&bundle);
}
END_TEST

START_TEST(mxnet_has_four_versions_of_arrays_and_prefixes_of_names)
{
    static const char *const names[] = {"v0", "v1", "v2", "arg:v3"};
    int status;
    ln_error err = {0};
    make_mxnet();
    ln_bundle bundle = parse(&err, &status);
    ck_assert_int_eq(status, 0);
    for (int i = 0; i < 4; i++)
        check_floats(&bundle, names[i], 1, 3);
    ln_bundle_clear(&bundle);
}
END_TEST

// A byte of the list of NNVM, what it becomes, and the message.
static const struct {
    int at, value;
    const char *message;
} changes[] = {
    {8, 1, "f: offset 8: the reserved number is 1, expected 0"},
    {16, 200, "f: offset 16: the number of names is 200, more than the rest of the file can hold"},
    {46, 3, "f: offset 46: 3 arrays and 2 names, expected as many"},
    {54, 0, "f: offset 54: the magic number of an array is"},
    {70, 2, "f: offset 70: the device type is 2, expected 1"},
    {78, 9, "the array has 9 dimensions, expected 0 to 8"},
    {82, 3, "data type of code 3, 32 bits and 1 lanes"},
    {93, 255, "dimension 0 is -"},
    {94, 7, "the byte size is 7, which does not match type and shape"},
};

START_TEST(errors_name_the_offset)
{
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        int status;
        ln_error err = {0};
        make_nnvm();
        bytes[changes[i].at] = (unsigned char)changes[i].value;
        ln_bundle bundle = parse(&err, &status);
        ck_assert_int_eq(status, -1);
        ck_assert_msg(strstr(ln_error_text(&err), changes[i].message) != NULL, "%s",
                      ln_error_text(&err));
        ln_bundle_clear(&bundle);
    }
}
END_TEST

START_TEST(rejects_sparse_arrays_and_trailing_bytes)
{
    int status;
    ln_error err = {0};
    make_mxnet();
    put(0, 1);
    ln_bundle bundle = parse(&err, &status);
    ck_assert_int_eq(status, -1);
    ck_assert_ptr_nonnull(strstr(ln_error_text(&err), "1 bytes follow the last field"));
    ln_bundle_clear(&bundle);
    size = 0;
    put(0x112, 8);
    put(0, 8);
    put(1, 8);
    put(0xF993FAC9, 4);
    put(1, 4);
    put(1, 4);
    ln_error_clear(&err);
    bundle = parse(&err, &status);
    ck_assert_int_eq(status, -1);
    ck_assert_ptr_nonnull(strstr(ln_error_text(&err), "sparse"));
    ln_bundle_clear(&bundle);
}
END_TEST

static int try(const char *file, ln_error *err)
{
    ln_infile on_disk;
    ln_bundle bundle = {0};
    if (ln_infile_open(&on_disk, file, err))
        return -1;
    const int status = ln_params_parse(&bundle, &on_disk, file, err);
    ln_bundle_clear(&bundle);
    ln_infile_close(&on_disk);
    return status;
}

START_TEST(any_bytes_are_survived)
{
    char folder[32];
    enter_new_folder(folder);
    make_nnvm();
    check_mutations((char *)bytes, size, try);
    make_mxnet();
    check_mutations((char *)bytes, size, try);
    leave_folder(folder);
}
END_TEST

// Writing

static void read_back(const char *file, int n, const char *const *names,
                      const tl_tensor *const *tensors)
{
    ln_infile on_disk;
    ln_bundle bundle = {0};
    ck_assert_int_eq(ln_infile_open(&on_disk, file, NULL), 0);
    ck_assert_int_eq(ln_params_parse(&bundle, &on_disk, file, NULL), 0);
    ck_assert_int_eq(bundle.len, n);
    for (int i = 0; i < n; i++) {
        const tl_tensor *there = ln_bundle_read(&bundle, names[i], NULL);
        ck_assert_ptr_nonnull(there);
        ck_assert_int_eq(there->dtype, tensors[i]->dtype);
        ck_assert(tl_tensor_issameshape(there, tensors[i]));
        ck_assert_int_eq(memcmp(there->data, tensors[i]->data, tl_tensor_size(there)), 0);
    }
    ln_bundle_clear(&bundle);
    ln_infile_close(&on_disk);
}

START_TEST(every_type_is_read_as_it_was_written)
{
    static const char *const names[LN_PARAMS_NUM_TYPES] = {"a", "b", "c", "d",     "e",    "f",
                                                           "g", "h", "i", "arg:x", "aux:x"};
    char folder[32];
    tl_tensor *tensors[LN_PARAMS_NUM_TYPES];
    for (int i = 0; i < LN_PARAMS_NUM_TYPES; i++) {
        tensors[i] = tl_tensor_zeros(i % 4, (int[]){2, 3, i}, ln_params_types[i].dtype);
        ck_assert_ptr_nonnull(tensors[i]);
        memset(tensors[i]->data, i + 1, tl_tensor_size(tensors[i]));
    }
    enter_new_folder(folder);
    const tl_tensor *const *written = (const tl_tensor *const *)tensors;
    ck_assert_int_eq(ln_params_write("p", LN_PARAMS_NUM_TYPES, names, written, NULL), 0);
    read_back("p", LN_PARAMS_NUM_TYPES, names, written);
    leave_folder(folder);
    for (int i = 0; i < LN_PARAMS_NUM_TYPES; i++)
        tl_tensor_free_data_too(tensors[i]);
}
END_TEST

START_TEST(rejects_types_that_the_format_lacks)
{
    static const char *const name = "flag";
    ln_error err = {0};
    tl_tensor *flag = tl_tensor_zeros(0, NULL, TL_BOOL);
    const tl_tensor *const tensors[] = {flag};
    ck_assert_int_eq(ln_params_write("/nowhere", 1, &name, tensors, &err), -1);
    ck_assert_str_eq(ln_error_text(&err),
                     "/nowhere: parameter 'flag' is TL_BOOL, which the format lacks");
    tl_tensor_free_data_too(flag);
}
END_TEST

LN_TEST_MAIN("params", nnvm_has_names_before_arrays,
             mxnet_has_four_versions_of_arrays_and_prefixes_of_names, errors_name_the_offset,
             rejects_sparse_arrays_and_trailing_bytes, any_bytes_are_survived,
             every_type_is_read_as_it_was_written, rejects_types_that_the_format_lacks)
