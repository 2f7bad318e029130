// SPDX-License-Identifier: Apache-2.0
// Signal processing: Fourier transforms.
//
//     tl_tensor *spectrum = tl_tensor_dft(signal, NULL, &(tl_dft_param){.axis = 1, .onesided = 1});
//
// Real tensors are [.., 1], complex ones [.., 2]: the real part, then the imaginary part. Results
// are computed in double and rounded to the dtype, one of the four floating ones. tl_tensor.h
// explains `dst` (the D rule), errors, and preconditions of tl_exec_X.

#ifndef TL_SIGNAL_H
#define TL_SIGNAL_H

#include "tensorlight/tl_tensor.h"

TL_BEGIN_DECLS

typedef struct tl_dft_param {
    int axis;     // not the last one, which has the real and imaginary parts
    int len;      // n of the transform: src is cropped, or padded with 0. 0: the
                  // length of src, or for a one-sided inverse 2 * (dims[axis] - 1)
    int inverse;  // from frequency to time
    int onesided; // only the frequencies 0 .. n/2, which determine the others of a real signal
} tl_dft_param;

/** The discrete Fourier transform along `axis`, X[k] = sum of x[j] e^(-2 pi i j k / n) over j, or
 *  the inverse, x[j] = 1/n sum of X[k] e^(2 pi i j k / n) over k. In O(n log n) for every n.
 *
 *  src [.., d, .., 1 or 2] -> dst [.., n, .., 2]. One-sided: src [.., d, .., 1] -> dst
 *  [.., n/2 + 1, .., 2], and the inverse src [.., d, .., 1 or 2] -> dst [.., n, .., 1]. Source:
 *  ONNX DFT, opset 20. D. */
TL_API tl_tensor *tl_tensor_dft(const tl_tensor *src, tl_tensor *dst, const tl_dft_param *param);

/** Writes the shape of the result to `dims` [TL_MAXDIM]; ndim is that of src. -1 with a reason. */
TL_API int tl_dft_dims(const tl_tensor *src, const tl_dft_param *param, int *dims);

/** The bytes of exec->scratch that tl_exec_dft needs. Data is ignored and may be NULL. */
TL_API size_t tl_dft_scratch(const tl_tensor *src, const tl_dft_param *param);

/** -1 with a reason when exec is NULL or its scratch is too small. */
TL_API int tl_exec_dft(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                       const tl_dft_param *param);

typedef struct tl_stft_param {
    int step;     // distance of the starts of frames, >= 1
    int len;      // of a frame, n; >= 1
    int onesided; // as for tl_dft_param
} tl_stft_param;

/** The short-time Fourier transform: src [N, L, 1 or 2] is cut into F = (L -
 *  n) / step + 1 frames that may overlap, each is multiplied by `window` [n]
 *  of src's dtype (NULL: 1) and transformed -> dst [N, F, n, 2], or [N, F, n/2
 *  + 1, 2] for one-sided, with real src. Source: ONNX STFT, opset 17. D. */
TL_API tl_tensor *tl_tensor_stft(const tl_tensor *src, const tl_tensor *window, tl_tensor *dst,
                                 const tl_stft_param *param);

/** As tl_dft_dims, tl_dft_scratch and tl_exec_dft. */
TL_API int tl_stft_dims(const tl_tensor *src, const tl_stft_param *param, int *dims);
TL_API size_t tl_stft_scratch(const tl_stft_param *param);
TL_API int tl_exec_stft(const tl_exec *exec, const tl_tensor *src, const tl_tensor *window,
                        tl_tensor *dst, const tl_stft_param *param);

TL_END_DECLS

#endif
