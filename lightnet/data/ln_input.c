// SPDX-License-Identifier: Apache-2.0
// A model's input from a file of any understood kind.

#include "lightnet/ln_input.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "base/ln_infile.h"
#include "base/ln_name.h"
#include "base/ln_protobuf.h"
#include "data/ln_image_codec.h"
#include "data/ln_raw.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_content.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_elementwise.h"
#include "tensorlight/tl_tensor.h"
#include "tensorlight/tl_type.h"
#include "tensorlight/tl_util.h"

#ifndef LN_HAVE_ONNX

// In a build without ONNX, no file is an ONNX tensor.
int ln_onnx_tensor_is(const ln_infile *in)
{
    (void)in;
    return 0;
}

tl_tensor *ln_onnx_tensor_from_file(const ln_infile *in, const char *file, ln_error *err)
{
    (void)in;
    return ln_error_set(err, "%s: this build of LightNet does not support ONNX", file), NULL;
}

tl_tensor **ln_onnx_sequence_from_file(const ln_infile *in, const char *file, int *n, ln_error *err)
{
    (void)in;
    *n = 0;
    return ln_error_set(err, "%s: this build of LightNet does not support ONNX", file), NULL;
}

#endif

// Whether integer `i` of `src` became the same number in `dst`. Converting back is exact, too, but
// would also cut a float that was rounded up beyond the integer's type.
static int is_exact(const tl_tensor *dst, const tl_tensor *src, int i)
{
    const void *element = tl_pointer_add(dst->data, i, dst->dtype);
    uint64_t back = 0;
    double value = 0;
    tl_convert(&back, src->dtype, element, dst->dtype);
    if (tl_dtype_has_fractions(dst->dtype))
        tl_convert(&value, TL_DOUBLE, element, dst->dtype);
    return value < tl_dtype_max_double(src->dtype) + 1 &&
           !memcmp(&back, tl_pointer_add(src->data, i, src->dtype), tl_size_of(src->dtype));
}

// Returns new: floating types are rounded, also to infinity; integers are exact. NULL with a
// reason.
static tl_tensor *convert(const char *file, const tl_tensor *src, tl_dtype dtype, ln_error *err)
{
    if (src->dtype == TL_STRING || dtype == TL_STRING ||
        (tl_dtype_has_fractions(src->dtype) && !tl_dtype_has_fractions(dtype))) {
        ln_error_set(err, "%s: the array has type %s, expected %s", file, tl_dtype_name(src->dtype),
                     tl_dtype_name(dtype));
        return NULL;
    }
    tl_tensor *dst = tl_dtype_has_fractions(src->dtype) ? tl_tensor_cast(src, NULL, dtype)
                                                        : tl_tensor_convert(src, NULL, dtype);
    if (!dst)
        ln_error_set(err, "%s: %s", file, tl_last_error());
    for (int i = 0; dst && !tl_dtype_has_fractions(src->dtype) && i < src->len; i++) {
        if (is_exact(dst, src, i))
            continue;
        ln_error_set(err, "%s: the array has type %s, and element %d does not fit %s", file,
                     tl_dtype_name(src->dtype), i, tl_dtype_name(dst->dtype));
        tl_tensor_free_data_too(dst);
        return NULL;
    }
    return dst;
}

// Whether the elements are the bits of that type, which NumPy does not have.
static int are_bits_of(const tl_tensor *src, tl_dtype dtype)
{
    ln_error unused = {0};
    if (src->dtype != ln_raw_dtype(dtype) && (src->dtype != TL_UINT8 || !tl_dtype_is_stored(dtype)))
        return 0;
    return !ln_elements_check(dtype, src->data, tl_tensor_size(src), 0, &unused);
}

tl_tensor *ln_input_fit(const char *file, tl_tensor *src, const tl_tensor *like, ln_error *err)
{
    tl_tensor *dst = NULL;
    if (are_bits_of(src, like->dtype))
        src->dtype = like->dtype; // npy stores the bits of types that it lacks
    if (src->dtype == like->dtype && tl_tensor_issameshape(src, like))
        return src;
    if (!ln_raw_check_shape(file, src->ndim, src->dims, like, err))
        dst = convert(file, src, like->dtype, err);
    tl_tensor_free_data_too(src);
    return dst;
}

static void fail_kind(const ln_infile *in, const char *file, const ln_image_format *format,
                      ln_error *err)
{
    size_t size;
    const unsigned char *const head = ln_infile_head(in, &size);
    const char *images = format ? "png, jpg, webp, bmp, pgm, ppm, " : "", *what;
    ln_content_of(head, size, &what);
    ln_error_set(err, "%s: %s%s, expected npy, ONNX tensor, %sor raw with a name ending in .bin",
                 file, what ? "this is " : "unknown data format", what ? what : "", images);
}

static tl_tensor *read_file(const ln_infile *in, const char *file, const tl_tensor *like,
                            const ln_image_format *format, ln_error *err)
{
    if (ln_npy_is(in)) {
        tl_tensor *src = ln_npy_from_file(in, file, err);
        return src ? ln_input_fit(file, src, like, err) : NULL;
    }
    if (format && ln_image_is_image(in->data, in->size))
        return ln_image_from_file(in, file, like, format, err);
    if (ln_has_suffix(file, ".bin"))
        return ln_bin_from_file(in, file, like->dtype, like->ndim, like->dims, err);
    if (ln_onnx_tensor_is(in)) {
        tl_tensor *src = ln_onnx_tensor_from_file(in, file, err);
        return src ? ln_input_fit(file, src, like, err) : NULL;
    }
    return fail_kind(in, file, format, err), NULL;
}

// Images and messages of Protocol Buffers are smaller, arrays of other files state their size.
#define MAX_WITHOUT_SIZE ((size_t)INT_MAX)

// Reads the content, unless the first bytes are of an array of another shape, or of an unknown
// format in a large file. `like` may be NULL.
static int load(ln_infile *in, const char *file, const tl_tensor *like,
                const ln_image_format *format, ln_error *err)
{
    size_t size;
    int status = 0;
    const unsigned char *const head = ln_infile_head(in, &size);
    if (ln_npy_is(&(ln_infile){.data = head, .size = size}))
        status = ln_npy_check(head, size, in->size, file, like, err);
    else if (like && ln_has_suffix(file, ".bin") && !(format && ln_image_is_image(head, size)))
        status = ln_raw_check_size(in->size, like->dtype, like->ndim, like->dims, file, err);
    else if (in->size > MAX_WITHOUT_SIZE) {
        fail_kind(in, file, format, err);
        status = -1;
    }
    return status ? -1 : ln_infile_load(in, err);
}

tl_tensor *ln_input_read(const char *file, const tl_tensor *like, const ln_image_format *format,
                         ln_error *err)
{
    ln_infile in;
    if (ln_infile_open(&in, file, err))
        return NULL;
    tl_tensor *tensor =
        load(&in, file, like, format, err) ? NULL : read_file(&in, file, like, format, err);
    ln_infile_close(&in);
    return tensor;
}

// The kind of the file as far as its content shows.
static const char *kind_of(const ln_infile *in)
{
    size_t size;
    const char *what = NULL;
    const unsigned char *const head = ln_infile_head(in, &size);
    return ln_content_of(head, size, &what) ? what : "the file";
}

tl_tensor *ln_input_read_whole(const char *file, ln_error *err)
{
    ln_infile in;
    if (ln_infile_open(&in, file, err))
        return NULL;
    tl_tensor *tensor = NULL;
    const int status = load(&in, file, NULL, NULL, err);
    if (!status && ln_npy_is(&in))
        tensor = ln_npy_from_file(&in, file, err);
    else if (!status && !ln_has_suffix(file, ".bin") && ln_onnx_tensor_is(&in))
        tensor = ln_onnx_tensor_from_file(&in, file, err);
    else if (!status)
        ln_error_set_as(err, LN_BAD_ARGUMENT,
                        "%s: %s does not contain the shape of an input, expected npy or an ONNX "
                        "tensor",
                        file, kind_of(&in));
    ln_infile_close(&in);
    return tensor;
}

int ln_input_is_sequence(const char *file)
{
    ln_infile in;
    ln_error err = {0};
    if (ln_infile_open(&in, file, &err))
        return 0;
    const int is_sequence = ln_protobuf_is_onnx_sequence(&in);
    ln_infile_close(&in);
    return is_sequence;
}

tl_tensor **ln_input_read_sequence(const char *file, int *n, ln_error *err)
{
    ln_infile in;
    tl_tensor **tensors = NULL;
    *n = 0;
    if (ln_infile_open_whole(&in, file, err))
        return NULL;
    if (ln_protobuf_is_onnx_sequence(&in))
        tensors = ln_onnx_sequence_from_file(&in, file, n, err);
    else
        ln_error_set(err, "%s: this is neither a sequence nor an optional value of ONNX tensors",
                     file);
    ln_infile_close(&in);
    return tensors;
}

void ln_input_free_sequence(tl_tensor **tensors, int n)
{
    for (int i = 0; tensors && i < n; i++)
        tl_tensor_free_data_too(tensors[i]);
    ln_free(tensors);
}
