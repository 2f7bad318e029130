// SPDX-License-Identifier: Apache-2.0
// Elements as bytes of a file, and files that are nothing but such bytes.

#include "data/ln_raw.h"

#include <string.h>

#include "base/ln_outtext.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_data.h"
#include "tensorlight/tl_type.h"
#include "tensorlight/tl_util.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "raw files are copied as they are");

tl_dtype ln_raw_dtype(tl_dtype dtype)
{
    if (!tl_dtype_is_stored(dtype))
        return dtype == TL_BFLOAT16 ? TL_UINT16 : dtype;
    return tl_dtype_has_fractions(dtype) || tl_dtype_min_double(dtype) == 0 ? TL_UINT8 : TL_INT8;
}

int ln_raw_check_size(size_t size, tl_dtype dtype, int ndim, const int *dims, const char *where,
                      ln_error *err)
{
    char shape[TL_SHAPE_TEXT_SIZE];
    const int len = tl_compute_length(ndim, dims);
    size_t expected;
    if (dtype == TL_STRING)
        return ln_error_set(err, "%s: raw data has no strings, expected numbers", where);
    if (len < 0 || tl_size_mul((size_t)len, tl_size_of(dtype), &expected))
        return ln_error_set(err, "%s: %s", where, tl_last_error());
    if (size != expected)
        return ln_error_set(err, "%s: %zu bytes of data, expected %zu for %s %s", where, size,
                            expected, tl_dtype_name(dtype), tl_shape_text(shape, ndim, dims));
    return 0;
}

int ln_raw_check(const void *data, size_t size, tl_dtype dtype, int ndim, const int *dims,
                 const char *where, ln_error *err)
{
    return ln_raw_check_in(&(ln_infile){.data = data, .size = size}, 0, size, dtype, ndim, dims,
                           where, err);
}

int ln_raw_check_in(const ln_infile *in, size_t offset, size_t size, tl_dtype dtype, int ndim,
                    const int *dims, const char *where, ln_error *err)
{
    if (ln_raw_check_size(size, dtype, ndim, dims, where, err))
        return -1;
    return ln_elements_check_in(dtype, in, offset, size, err) ? ln_error_prefix(err, "%s", where)
                                                              : 0;
}

static void swap_bytes(unsigned char *data, size_t len, size_t size)
{
    for (unsigned char *end = data + len * size; data < end; data += size) {
        for (size_t i = 0; i < size / 2; i++) {
            const unsigned char byte = data[i];
            data[i] = data[size - 1 - i];
            data[size - 1 - i] = byte;
        }
    }
}

tl_tensor *ln_raw_copy(const void *data, tl_dtype dtype, int ndim, const int *dims, int swap,
                       const char *where, ln_error *err)
{
    tl_tensor *tensor = tl_tensor_zeros(ndim, dims, dtype);
    if (!tensor)
        return ln_error_set(err, "%s: %s", where, tl_last_error()), NULL;
    memcpy(tensor->data, data, tl_tensor_size(tensor));
    if (swap)
        swap_bytes(tensor->data, (size_t)tensor->len, tl_size_of(dtype));
    return tensor;
}

tl_tensor *ln_bin_from_file(const ln_infile *in, const char *file, tl_dtype dtype, int ndim,
                            const int *dims, ln_error *err)
{
    if (ln_raw_check(in->data, in->size, dtype, ndim, dims, file, err))
        return NULL;
    return ln_raw_copy(in->data, dtype, ndim, dims, 0, file, err);
}

tl_tensor *ln_bin_read(const char *file, tl_dtype dtype, int ndim, const int *dims, ln_error *err)
{
    ln_infile in;
    if (!tl_dtype_is_valid(dtype))
        return ln_error_set(err, "%s: dtype %d does not exist", file, (int)dtype), NULL;
    if (ln_infile_open_whole(&in, file, err))
        return NULL;
    tl_tensor *tensor = ln_bin_from_file(&in, file, dtype, ndim, dims, err);
    ln_infile_close(&in);
    return tensor;
}

static int write_elements(FILE *stream, const void *arg, ln_error *err)
{
    const tl_tensor *t = arg;
    if (t->dtype == TL_STRING)
        return ln_error_set(err, "raw data has no strings, expected numbers");
    fwrite(t->data, 1, tl_tensor_size(t), stream);
    return 0;
}

int ln_bin_write(const char *file, const tl_tensor *t, ln_error *err)
{
    return ln_outfile_write_result(file, write_elements, t, err);
}

int ln_raw_check_shape(const char *where, int ndim, const int *dims, const tl_tensor *like,
                       ln_error *err)
{
    char got[LN_MAX_SHAPE], expected[LN_MAX_SHAPE];
    if (ndim == like->ndim && !memcmp(dims, like->dims, (size_t)ndim * sizeof(*dims)))
        return 0;
    return ln_error_set(err, "%s: the array has shape %s, expected %s", where,
                        ln_sprint_shape(got, sizeof(got), ndim, dims),
                        ln_sprint_shape(expected, sizeof(expected), like->ndim, like->dims));
}
