// SPDX-License-Identifier: Apache-2.0
// Helpers of the string operations: characters, broadcasting of single elements, the arena.

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tensor/tl_char.h"
#include "tensorlight/tl_string.h"
#include "tensorlight/tl_text.h"

/** Writes code point `c` to `to`. Returns its bytes, 1 to 4. */
size_t tl_char_put(char to[4], uint32_t c);

/** The letter in lower (upper) case; other characters unchanged. */
uint32_t tl_char_lower(uint32_t c);
uint32_t tl_char_upper(uint32_t c);

/** Whether Python's str.split treats the character as white space. */
int tl_char_is_space(uint32_t c);

/** The index of the element of `src`, broadcast to dst, that belongs to dst's element `i`. */
int tl_broadcast_index(const tl_tensor *src, const tl_tensor *dst, int i);

/** -1 with a reason: `exec` has no arena. */
int tl_check_arena(const tl_exec *exec);
