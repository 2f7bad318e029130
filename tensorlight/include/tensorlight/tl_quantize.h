// SPDX-License-Identifier: Apache-2.0
// Quantization: quantized = value / scale +
// zero, value = (quantized - zero) * scale.
//
// Scale and zero are one element each, [1] or a scalar; or [d], one for each index along `axis`
// of src [.., d, ..]; or, with `block` > 0, of src's shape with ceil(d / block) at `axis`, one
// for each `block` indices. zero has the scale's number of elements, or is NULL: 0.
//
// tl_tensor.h explains `dst` (the D rule), errors, and preconditions of tl_exec_X.

#ifndef TL_QUANTIZE_H
#define TL_QUANTIZE_H

#include "tensorlight/tl_tensor.h"

TL_BEGIN_DECLS

/** src: TL_FLOAT, TL_FLOAT16, TL_BFLOAT16 or TL_INT32; scale: one of the floats
 * among them; `dtype`: that of dst and zero, an integer of 8 or 16 bits. Computes
 * in float, rounds half to even, saturates; NaN becomes the smallest value. With
 * TL_FLOAT, src / scale + zero: a cast makes it a float of 8 bits. 0, or -1 with a
 * reason; data is ignored. Source: ONNX QuantizeLinear-25. */
TL_API int tl_quantize_check(const tl_tensor *src, const tl_tensor *scale, const tl_tensor *zero,
                             tl_dtype dtype, int axis, int block);
TL_API tl_tensor *tl_tensor_quantize(const tl_tensor *src, const tl_tensor *scale,
                                     const tl_tensor *zero, tl_tensor *dst, tl_dtype dtype,
                                     int axis, int block);
TL_API int tl_exec_quantize(const tl_exec *exec, const tl_tensor *src, const tl_tensor *scale,
                            const tl_tensor *zero, tl_tensor *dst, int axis, int block);

/** src and zero: an integer of 8 or 16 bits, TL_INT32 or TL_FLOAT; scale: TL_FLOAT, TL_FLOAT16 or
 *  TL_BFLOAT16, which is also the dtype of dst. Computes in float. Source: ONNX
 *  DequantizeLinear-25. */
TL_API int tl_dequantize_check(const tl_tensor *src, const tl_tensor *scale, const tl_tensor *zero,
                               int axis, int block);
TL_API tl_tensor *tl_tensor_dequantize(const tl_tensor *src, const tl_tensor *scale,
                                       const tl_tensor *zero, tl_tensor *dst, int axis, int block);
TL_API int tl_exec_dequantize(const tl_exec *exec, const tl_tensor *src, const tl_tensor *scale,
                              const tl_tensor *zero, tl_tensor *dst, int axis, int block);

/** The scale and the zero (both of one element, TL_FLOAT and TL_UINT8) that map src,
 *  TL_FLOAT, to 0 .. 255, with 0 exactly at zero: scale = (max - min) / 255 of the elements
 *  and 0; if all are 0, 1. NaN is ignored. Source: ONNX DynamicQuantizeLinear-11. */
TL_API int tl_tensor_quantize_range(const tl_tensor *src, tl_tensor *scale, tl_tensor *zero);
TL_API int tl_exec_quantize_range(const tl_exec *exec, const tl_tensor *src, tl_tensor *scale,
                                  tl_tensor *zero);

/** The same for images in blocked layout
 *  (tl_blocked.h): padding lanes are ignored. */
TL_API int tl_exec_blocked_quantize_range(const tl_exec *exec, const tl_tensor *src, int channels,
                                          tl_tensor *scale, tl_tensor *zero);

/** src, TL_INT8 or TL_UINT8, with the highest bit of each element flipped, as dst of the other type
 *  and the same shape: numbers that are 128 higher, or lower. dst may have the data of src. */
TL_API int tl_exec_flip_bytes(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst);

TL_END_DECLS

#endif
