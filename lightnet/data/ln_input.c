// SPDX-License-Identifier: Apache-2.0
// A model's input from a file of any understood kind.

#include "lightnet/ln_input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lightnet/ln_data.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_tensor.h"
#include "tensorlight/tl_util.h"

enum { MAGIC_LEN = 16 };

static int read_magic(const char *file, char magic[MAGIC_LEN], size_t *len, ln_error *err)
{
    FILE *fp = fopen(file, "rb");
    if (!fp)
        return ln_error_set(err, "%s: cannot read: %s", file, strerror(errno));
    errno = 0;
    *len = fread(magic, 1, MAGIC_LEN, fp);
    const int failed = ferror(fp);
    const int reason = errno;
    fclose(fp);
    if (failed)
        return ln_error_set(err, "%s: cannot read: %s", file, strerror(reason));
    return *len ? 0 : ln_error_set(err, "%s: the file is empty", file);
}

static int is_floating(tl_dtype dtype)
{
    return dtype == TL_DOUBLE || dtype == TL_FLOAT || dtype == TL_FLOAT16 || dtype == TL_BFLOAT16;
}

// Converts and checks that the way back gives the same integers.
static tl_tensor *convert_exactly(const tl_tensor *src, tl_dtype dtype)
{
    tl_tensor *dst = tl_tensor_convert(src, NULL, dtype);
    tl_tensor *back = dst ? tl_tensor_convert(dst, NULL, src->dtype) : NULL;
    const int same = back && !memcmp(back->data, src->data, tl_tensor_size(src));
    tl_tensor_free_data_too(back);
    if (same)
        return dst;
    tl_tensor_free_data_too(dst);
    return NULL;
}

static tl_tensor *fit(const char *file, tl_tensor *src, const tl_tensor *like, ln_error *err)
{
    tl_tensor *dst = NULL;
    if (!tl_tensor_issameshape(src, like)) {
        char got[LN_MAX_SHAPE], expected[LN_MAX_SHAPE];
        ln_error_set(err, "%s: the array has shape %s, expected %s", file,
                     ln_sprint_shape(got, sizeof(got), src->ndim, src->dims),
                     ln_sprint_shape(expected, sizeof(expected), like->ndim, like->dims));
    } else if (src->dtype == like->dtype) {
        return src;
    } else if (is_floating(src->dtype) && is_floating(like->dtype)) {
        dst = tl_tensor_convert(src, NULL, like->dtype);
        if (!dst)
            ln_error_set(err, "%s: %s", file, tl_last_error());
    } else if (is_floating(src->dtype) || !(dst = convert_exactly(src, like->dtype))) {
        ln_error_set(err, "%s: the array has type %s, which does not fit %s", file,
                     tl_dtype_name(src->dtype), tl_dtype_name(like->dtype));
    }
    tl_tensor_free_data_too(src);
    return dst;
}

static int ends_in_bin(const char *file)
{
    const size_t len = strlen(file);
    return len >= 4 && !strcmp(file + len - 4, ".bin");
}

tl_tensor *ln_input_read(const char *file, const tl_tensor *like, const ln_image_format *format,
                         ln_error *err)
{
    char magic[MAGIC_LEN];
    size_t len = 0;
    if (read_magic(file, magic, &len, err))
        return NULL;
    if (len >= 6 && !memcmp(magic, "\x93NUMPY", 6)) {
        tl_tensor *src = ln_npy_read(file, err);
        return src ? fit(file, src, like, err) : NULL;
    }
    if (format && ln_image_is_image(magic, len))
        return ln_image_read(file, like, format, err);
    if (ends_in_bin(file))
        return ln_bin_read(file, like->dtype, like->ndim, like->dims, err);
    ln_error_set(err,
                 "%s: not a data file that is understood: npy, png, jpg, pgm, ppm, or raw with a "
                 "name ending in .bin",
                 file);
    return NULL;
}
