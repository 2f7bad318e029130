// SPDX-License-Identifier: Apache-2.0
// Tensors of strings as bytes, for files of types that have no strings:
//
//     the end of each string among the bytes after this table (8 bytes each, little-endian), bytes
//
// A safetensors file has such a tensor as U8, and its name and shape in its metadata.

#pragma once

#include <stdio.h>

#include "lightnet/ln_msg.h"
#include "tensorlight/tl_string.h"
#include "tensorlight/tl_tensor.h"

/** The bytes of a TL_STRING tensor with data. */
size_t ln_packed_strings_size(const tl_tensor *t);

/** Writes them. */
void ln_packed_strings_write(FILE *stream, const tl_tensor *t);

/** Returns new (tl_free): the block of `len` strings in `size` bytes; NULL with a reason: the table
 * does not match the bytes, a string is not UTF-8, no memory. */
const tl_string **ln_packed_strings_read(const unsigned char *bytes, size_t size, size_t len,
                                         ln_error *err);

/** 0 if the `size` bytes are UTF-8; -1 with a reason that names the string by its number. */
int ln_string_check(const char *bytes, size_t size, size_t number, ln_error *err);

/** Returns new (tl_free): a block with copies of `len` strings, bytes[i] of sizes[i] bytes, each
 * UTF-8; NULL with a reason. */
const tl_string **ln_strings_create(const char *const *bytes, const size_t *sizes, size_t len,
                                    ln_error *err);
