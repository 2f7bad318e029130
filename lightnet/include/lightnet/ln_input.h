// SPDX-License-Identifier: Apache-2.0
// Reads a model's input from a file of any supported format.

#ifndef LN_INPUT_H
#define LN_INPUT_H

#include "lightnet/ln_api.h"
#include "lightnet/ln_image.h"
#include "lightnet/ln_msg.h"
#include "tensorlight/tl_tensor.h"

LN_BEGIN_DECLS

/** Reads `file` into a tensor of like's dtype and shape. npy and ONNX
 * tensors: the shape must be equal; floating types are converted, integers if
 * every value fits; npy stores bfloat16 as the bits in uint16. png, jpg, webp,
 * bmp, pgm, ppm: see ln_image_read; `format` NULL: rejects images. A name that ends in
 * .bin: raw little-endian elements of exactly like's size. Returns new
 * (tl_tensor_free_data_too), or NULL with a reason that names the file. */
LN_API tl_tensor *ln_input_read(const char *file, const tl_tensor *like,
                                const ln_image_format *format, ln_error *err);

/** Reads a file that contains its dtype and shape: npy, or an ONNX tensor. Returns
 * new (tl_tensor_free_data_too), or NULL with a reason that names the file:
 * LN_BAD_ARGUMENT if it is another kind of file. */
LN_API tl_tensor *ln_input_read_whole(const char *file, ln_error *err);

/** Takes `src`. Returns it, or a new tensor (tl_tensor_free_data_too), with like's dtype and shape
 * by the rules of ln_input_read for npy; NULL with a reason that begins with "WHERE: ". */
LN_API tl_tensor *ln_input_fit(const char *where, tl_tensor *src, const tl_tensor *like,
                               ln_error *err);

/** Whether `file` has a sequence or an optional value of ONNX (SequenceProto, OptionalProto). An
 * unreadable file has none. */
LN_API int ln_input_is_sequence(const char *file);

/** Reads such a file. Returns new (ln_input_free_sequence): its *n tensors, of the element of an
 * optional value; *n is -1 if it has none. NULL with a reason that names the file. */
LN_API tl_tensor **ln_input_read_sequence(const char *file, int *n, ln_error *err);

/** Frees the tensors, too. Ignores NULL. */
LN_API void ln_input_free_sequence(tl_tensor **tensors, int n);

LN_END_DECLS

#endif
