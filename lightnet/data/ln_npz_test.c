// SPDX-License-Identifier: Apache-2.0
// Tests of npz files. What NumPy writes and reads is compared by tests/npz.py.

#include "ln_data_check.h"
#include "data/ln_zip.h"
#include "lightnet/ln_data.h"
#include "lightnet/ln_util.h"

static char folder[32];

// The file of make_two: uint8 arrays of two elements, x and y, and where its parts begin.
enum {
    NPY_SIZE = 130,
    MEMBER = LN_ZIP_LOCAL_SIZE + 5, // of the second header: with "x.npy" and its bytes
    SECOND = MEMBER + NPY_SIZE,
    DIRECTORY = 2 * SECOND,
    ENTRY = LN_ZIP_CENTRAL_SIZE + 5,
    END = DIRECTORY + 2 * ENTRY,
    SIZE = END + LN_ZIP_END_SIZE,
};

static void write_two(const char *file)
{
    uint8_t x[] = {1, 2}, y[] = {3, 4};
    tl_tensor *tensors[] = {tl_tensor_create(x, 1, (int[]){2}, TL_UINT8),
                            tl_tensor_create(y, 1, (int[]){2}, TL_UINT8)};
    ln_error err = {0};
    ck_assert_int_eq(ln_npz_write(file, 2, (const char *const[]){"x", "y"},
                                  (const tl_tensor *const *)tensors, &err),
                     0);
    tl_tensor_free(tensors[0]);
    tl_tensor_free(tensors[1]);
}

// Reads all arrays.
static int try_npz(const char *file, ln_error *err)
{
    ln_npz *npz = ln_npz_open(file, err);
    int status = npz ? 0 : -1;
    for (int i = 0; npz && i < ln_npz_count(npz) && !status; i++) {
        tl_tensor *t = ln_npz_read(npz, ln_npz_name(npz, i), NULL, err);
        status = t ? 0 : -1;
        tl_tensor_free_data_too(t);
    }
    ln_npz_close(npz);
    return status;
}

static void check_element(const ln_npz *npz, const char *name, int i, int expected)
{
    ln_error err = {0};
    tl_tensor *t = ln_npz_read(npz, name, NULL, &err);
    if (!t)
        ck_abort_msg("%s", ln_error_text(&err));
    ck_assert_int_eq(((const uint8_t *)t->data)[i], expected);
    tl_tensor_free_data_too(t);
}

START_TEST(arrays_are_found_by_name)
{
    enter_new_folder(folder);
    ln_error err = {0};
    write_two("a");
    ln_npz *npz = ln_npz_open("a", &err);
    ck_assert_ptr_nonnull(npz);
    ck_assert_int_eq(ln_npz_count(npz), 2);
    ck_assert_str_eq(ln_npz_name(npz, 0), "x");
    ck_assert_str_eq(ln_npz_name(npz, 1), "y");
    check_element(npz, "x", 1, 2);
    check_element(npz, "y", 0, 3);
    ck_assert_ptr_null(ln_npz_read(npz, "z", NULL, &err));
    ck_assert_str_eq(ln_error_text(&err), "a: no array 'z'");
    ln_npz_close(npz);
    leave_folder(folder);
}
END_TEST

START_TEST(every_dtype_reads_back_bfloat16_as_its_bits)
{
    enter_new_folder(folder);
    uint64_t data[] = {0, 0x0101010101010101};
    for (int dtype = 0; dtype < TL_DTYPE_SIZE; dtype++) {
        ln_error err = {0};
        if (dtype == TL_STRING)
            continue;
        const tl_tensor *t = tl_tensor_create(data, 1, (int[]){2}, (tl_dtype)dtype);
        ck_assert_int_eq(ln_npz_write("a", 1, (const char *const[]){"x"}, &t, &err), 0);
        ln_npz *npz = ln_npz_open("a", &err);
        tl_tensor *back = ln_npz_read(npz, "x", t, &err);
        ck_assert_ptr_nonnull(back);
        ck_assert_int_eq(back->dtype, dtype);
        ck_assert_mem_eq(back->data, data, tl_tensor_size(t));
        tl_tensor_free_data_too(back);
        tl_tensor_free((tl_tensor *)t);
        ln_npz_close(npz);
    }
    leave_folder(folder);
}
END_TEST

START_TEST(an_archive_without_arrays_is_read)
{
    enter_new_folder(folder);
    ln_error err = {0};
    ck_assert_int_eq(ln_npz_write("a", 0, NULL, NULL, &err), 0);
    ln_npz *npz = ln_npz_open("a", &err);
    ck_assert_int_eq(ln_npz_count(npz), 0);
    ln_npz_close(npz);
    leave_folder(folder);
}
END_TEST

START_TEST(equal_input_gives_equal_bytes)
{
    enter_new_folder(folder);
    size_t size, other_size;
    write_two("a");
    write_two("b");
    char *bytes = file_bytes("a", &size), *other = file_bytes("b", &other_size);
    ck_assert_uint_eq(size, SIZE);
    ck_assert_uint_eq(other_size, size);
    ck_assert_mem_eq(bytes, other, size);
    free(bytes);
    free(other);
    leave_folder(folder);
}
END_TEST

START_TEST(names_that_cannot_be_read_back_are_not_written)
{
    static char longest[LN_MAX_NAME_LEN - 4];
    memset(longest, 'n', sizeof(longest) - 1);
    const struct {
        const char *names[2], *message;
    } cases[] = {
        {{"x", "x"}, "a: two arrays have the name 'x'"},
        {{"x", "y\x01"},
         "a: the name of member 1 has no valid character at byte 1, expected UTF-8"},
        {{"\xff", "x"}, "a: the name of member 0 has no valid character at byte 0, expected UTF-8"},
        {{"x", ""}, "a: array 1 has a name of 0 bytes, expected 1 to 507"},
        {{"x", longest}, NULL},
    };
    enter_new_folder(folder);
    uint8_t data = 1;
    tl_tensor *t = tl_tensor_create(&data, 0, NULL, TL_UINT8);
    const tl_tensor *const tensors[] = {t, t};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_error err = {0};
        const int status = ln_npz_write("a", 2, cases[i].names, tensors, &err);
        ck_assert_int_eq(status, cases[i].message ? -1 : 0);
        ck_assert_str_eq(ln_error_text(&err), cases[i].message ? cases[i].message : "");
        ck_assert_int_eq(access("a", F_OK), cases[i].message ? -1 : 0);
    }
    ck_assert_int_eq(try_npz("a", NULL), 0);
    tl_tensor_free(t);
    leave_folder(folder);
}
END_TEST

// Bytes at an offset of the file of write_two that are replaced.
typedef struct patch {
    size_t offset;
    const char *bytes;
    size_t size;
} patch;

#define PATCH(offset, bytes)             \
    {                                    \
        offset, bytes, sizeof(bytes) - 1 \
    }

START_TEST(rejects_hostile_archives)
{
    static const struct {
        patch patches[3];
        const char *message;
    } cases[] = {
        {{PATCH(0, "PX")}, "a: not an npz file"},
        {{PATCH(END, "XX")}, "a: the archive has no end, so it is truncated"},
        {{PATCH(END + 4, "\1")}, "a: a part of an archive in several files"},
        {{PATCH(END + 8, "\1\0\1\0")}, "a: the directory has 51 bytes after its 1 entries"},
        {{PATCH(END + 8, "\3\0\3\0")}, "a: the directory has 102 bytes, too few for 3 entries"},
        {{PATCH(END + 8, "\xff\xff\xff\xff")},
         "a: a zip64 archive, expected less than 4 GiB and 65535 arrays"},
        {{PATCH(END + 16, "\xff\xff\xff\xff")},
         "a: a zip64 archive, expected less than 4 GiB and 65535 arrays"},
        {{PATCH(END + 16, "\xf0\xff\xff\xff")},
         "a: the directory has 102 bytes at 4294967280, expected its end at 432"},
        {{PATCH(END + 12, "\x65")},
         "a: the directory has 101 bytes at 330, expected its end at 432"},
        {{PATCH(DIRECTORY, "X")}, "a: the directory has no entry 0 of 2"},
        {{PATCH(DIRECTORY + 8, "\1")}, "a: member 'x.npy' is encrypted"},
        {{PATCH(DIRECTORY + 10, "\x0c")},
         "a: member 'x.npy' has compression method 12, expected stored or deflated"},
        {{PATCH(DIRECTORY + 20, "\xff\xff\xff\xff")},
         "a: member 'x.npy' is a zip64 member, expected less than 4 GiB"},
        {{PATCH(DIRECTORY + 24, "\xff\xff\xff\x7f")},
         "a: member 'x.npy' has 2147483647 bytes, which its 130 stored bytes cannot hold"},
        // The entry and the header agree on a size that 130 bytes cannot expand to.
        {{PATCH(8, "\x08"), PATCH(DIRECTORY + 10, "\x08"), PATCH(DIRECTORY + 24, "\0\0\0\x10")},
         "a: member 'x.npy' has 268435456 bytes, which its 130 deflated bytes cannot hold"},
        {{PATCH(DIRECTORY + 28, "\0")}, "a: member 0 has a name of 0 bytes, expected 1 to 511"},
        {{PATCH(DIRECTORY + 28, "\xff\xff")},
         "a: entry 0 of the directory has 65581 bytes, 102 remain"},
        {{PATCH(DIRECTORY + 46, "\n")},
         "a: the name of member 0 has no valid character at byte 0, expected UTF-8"},
        {{PATCH(DIRECTORY + 46, "x\0")},
         "a: the name of member 0 has no valid character at byte 1, expected UTF-8"},
        {{PATCH(DIRECTORY + 46, "\xc0\xaf")}, // '/' in two bytes
         "a: the name of member 0 has no valid character at byte 0, expected UTF-8"},
        {{PATCH(30, "\xed\xa0\x80"), PATCH(DIRECTORY + 46, "\xed\xa0\x80")}, // a surrogate
         "a: the name of member 0 has no valid character at byte 0, expected UTF-8"},
        {{PATCH(30, "x.txt"), PATCH(DIRECTORY + 46, "x.txt")},
         "a: member 'x.txt', expected arrays with names that end in .npy"},
        {{PATCH(SECOND + 30, "x"), PATCH(DIRECTORY + ENTRY + 46, "x")},
         "a: two members have the name 'x.npy'"},
        {{PATCH(DIRECTORY + 46, "z")}, "a: member 'z.npy' differs from its entry in the directory"},
        {{PATCH(14, "\1\2\3\4")}, "a: member 'x.npy' differs from its entry in the directory"},
        {{PATCH(DIRECTORY + 42, "\x49\1")},
         "a: member 'x.npy' begins at 329, the directory at 330"},
        {{PATCH(DIRECTORY + 42, "\xf0\xff\xff\xff")},
         "a: member 'x.npy' begins at 4294967280, the directory at 330"},
        {{PATCH(28, "\xff\xff")},
         "a: member 'x.npy' has 130 bytes at 65570, the directory begins at 330"},
        // The first member has the bytes of the second one, too.
        {{PATCH(18, "\x83\0\0\0\x83"), PATCH(DIRECTORY + 20, "\x83\0\0\0\x83")},
         "a: members 'x.npy' and 'y.npy' overlap"},
        {{PATCH(MEMBER + 128, "\7")}, "a: array 'x': wrong CRC, so it is damaged"},
    };
    enter_new_folder(folder);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_error err = {0};
        size_t size;
        write_two("b");
        char *bytes = file_bytes("b", &size);
        for (const patch *p = cases[i].patches; p < cases[i].patches + 3 && p->bytes; p++)
            memcpy(bytes + p->offset, p->bytes, p->size);
        make_file("a", bytes, size);
        free(bytes);
        ck_assert_int_eq(try_npz("a", &err), -1);
        ck_assert_str_eq(ln_error_text(&err), cases[i].message);
    }
    leave_folder(folder);
}
END_TEST

START_TEST(damaged_files_are_survived)
{
    enter_new_folder(folder);
    size_t size;
    write_two("a");
    char *bytes = file_bytes("a", &size);
    check_mutations(bytes, size, try_npz);
    free(bytes);
    leave_folder(folder);
}
END_TEST

#ifdef LN_HAVE_ZLIB

// The first array deflated, as a block that is stored as it is: no compressor is needed.
static char *make_deflated(size_t *size, const char *block, size_t block_size)
{
    char *bytes = file_bytes("b", size);
    char *deflated = calloc(1, *size + 5);
    memcpy(deflated, bytes, MEMBER);
    memcpy(deflated + MEMBER, block, block_size);
    memcpy(deflated + MEMBER + 5, bytes + MEMBER, *size - MEMBER);
    *size += 5;
    deflated[8] = deflated[DIRECTORY + 5 + 10] = 8;
    deflated[18] = deflated[DIRECTORY + 5 + 20] = (char)(NPY_SIZE + 5);
    deflated[DIRECTORY + 5 + ENTRY + 42] = (char)(SECOND + 5);
    const unsigned directory = DIRECTORY + 5;
    memcpy(deflated + END + 5 + 16, &directory, 4);
    free(bytes);
    return deflated;
}

START_TEST(deflated_arrays_are_read)
{
    enter_new_folder(folder);
    ln_error err = {0};
    size_t size;
    write_two("b");
    char *bytes = make_deflated(&size, "\1\x82\0\x7d\xff", 5);
    make_file("a", bytes, size);
    ln_npz *npz = ln_npz_open("a", &err);
    if (!npz)
        ck_abort_msg("%s", ln_error_text(&err));
    check_element(npz, "x", 0, 1);
    check_element(npz, "y", 1, 4);
    ln_npz_close(npz);
    check_mutations(bytes, size, try_npz);
    free(bytes);
    leave_folder(folder);
}
END_TEST

// One byte less or more than the directory has, no last block, and no deflated data.
START_TEST(deflated_data_has_the_size_of_the_directory)
{
    static const char *const blocks[] = {"\1\x81\0\x7e\xff", "\1\x83\0\x7c\xff", "\0\x82\0\x7d\xff",
                                         "\7\x82\0\x7d\xff"};
    enter_new_folder(folder);
    write_two("b");
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        ln_error err = {0};
        size_t size;
        char *bytes = make_deflated(&size, blocks[i], 5);
        make_file("a", bytes, size);
        free(bytes);
        ck_assert_int_eq(try_npz("a", &err), -1);
        ck_assert_str_eq(ln_error_text(&err), "a: array 'x': not 130 deflated bytes");
    }
    leave_folder(folder);
}
END_TEST

LN_TEST_MAIN("npz", arrays_are_found_by_name, every_dtype_reads_back_bfloat16_as_its_bits,
             an_archive_without_arrays_is_read, equal_input_gives_equal_bytes,
             names_that_cannot_be_read_back_are_not_written, rejects_hostile_archives,
             damaged_files_are_survived, deflated_arrays_are_read,
             deflated_data_has_the_size_of_the_directory)

#else

LN_TEST_MAIN("npz", arrays_are_found_by_name, every_dtype_reads_back_bfloat16_as_its_bits,
             an_archive_without_arrays_is_read, equal_input_gives_equal_bytes,
             names_that_cannot_be_read_back_are_not_written, rejects_hostile_archives,
             damaged_files_are_survived)

#endif
