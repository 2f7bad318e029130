// SPDX-License-Identifier: Apache-2.0
// For the tests of this part: files with given bytes, and readers that must survive any of them.

#pragma once

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lightnet/ln_msg.h"
#include "ln_check.h"

/** Makes a new folder the current one, for short names in messages. In memory, if possible: models
 * and weights are synced when they are written. */
static inline void enter_new_folder(char *folder)
{
    strcpy(folder, access("/dev/shm", W_OK) ? "/tmp/ln_data_XXXXXX" : "/dev/shm/ln_data_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static inline void leave_folder(const char *folder)
{
    char command[128];
    ck_assert_int_eq(chdir("/"), 0);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static inline void make_file(const char *file, const void *bytes, size_t size)
{
    FILE *stream = fopen(file, "wb");
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fwrite(bytes, 1, size, stream), size);
    ck_assert_int_eq(fclose(stream), 0);
}

/** Returns new (free), with a NUL after the bytes. */
static inline char *file_bytes(const char *file, size_t *size)
{
    FILE *stream = fopen(file, "rb");
    ck_assert_ptr_nonnull(stream);
    char *bytes = calloc(1, 1 << 20);
    ck_assert_ptr_nonnull(bytes);
    *size = fread(bytes, 1, (1 << 20) - 1, stream);
    fclose(stream);
    return bytes;
}

/** Opens a file and frees the result; -1 with a reason. */
typedef int (*try_func)(const char *file, ln_error *err);

/** Every truncation of the bytes is rejected with a reason, no changed byte causes a crash. */
static inline void check_mutations(const char *bytes, size_t size, try_func try)
{
    static const unsigned char flips[] = {0x01, 0x10, 0x80, 0xff};
    char *copy = malloc(size);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, size);
    for (size_t len = 0; len < size; len++) {
        ln_error err = {0};
        make_file("truncated", copy, len);
        ck_assert_int_eq(try("truncated", &err), -1);
        ck_assert_str_ne(ln_error_text(&err), "");
    }
    for (size_t i = 0; i < size; i++) {
        for (size_t k = 0; k < sizeof(flips); k++) {
            ln_error err = {0};
            copy[i] ^= (char)flips[k];
            make_file("changed", copy, size);
            if (try("changed", &err))
                ck_assert_str_ne(ln_error_text(&err), "");
            copy[i] ^= (char)flips[k];
        }
    }
    free(copy);
}
