// SPDX-License-Identifier: Apache-2.0
// Recognizes file types, for messages about a file of the wrong type.
//
//     const char *name;
//     if (ln_content_of(data, size, &name) == LN_CONTENT_INPUT)
//         printf("%s can be an input\n", name); // "a JPEG image can be an input"

#ifndef LN_CONTENT_H
#define LN_CONTENT_H

#include <stddef.h>

#include "lightnet/ln_api.h"

LN_BEGIN_DECLS

/** The use of a file. */
typedef enum ln_content {
    LN_CONTENT_UNKNOWN, // not recognized, which includes models that LightNet reads
    LN_CONTENT_INPUT,   // an array or image that an input of a model can be read from
    LN_CONTENT_WEIGHTS, // weights without a model
    LN_CONTENT_MODEL,   // a model in a format that LightNet does not read
    LN_CONTENT_ARCHIVE, // compressed, or several files in one
    LN_CONTENT_OTHER,   // any other known format
    LN_CONTENT_DOWNLOAD // an HTML page or a Git LFS pointer, downloaded in place of a file
} ln_content;

/** Recognizes a file by its first `size` bytes, or all of it, which some formats need.
 * *name: its name with an article, such as "a JPEG image" (a constant), or NULL. */
LN_API ln_content ln_content_of(const void *data, size_t size, const char **name);

LN_END_DECLS

#endif
