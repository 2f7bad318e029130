// SPDX-License-Identifier: Apache-2.0
// Template: numbers of one quantized integer type, see quantize_c.c.

void NAME(tl_dequantize, c)(const void *src, void *dst, const float *scale, const void *zero,
                            size_t n, int step)
{
    const T *const from = src;
    const T *const zeros = zero;
    float *const to = dst;
    if (step == 0) {
        const float s = *scale;
        const WIDE z = zeros ? *zeros : 0;
        for (size_t i = 0; i < n; i++)
            to[i] = (float)(from[i] - z) * s;
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = (float)(from[i] - (WIDE)(zeros ? zeros[i] : 0)) * scale[i];
    }
}
