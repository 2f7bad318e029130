// SPDX-License-Identifier: Apache-2.0
// Template: quantization to one integer type, see quantize_c.c.

static T NAME(quantized, of)(float x, float zero)
{
    const float shifted = rintf(x) + zero;
    const float low = (float)LOWEST, high = (float)HIGHEST;
    const float cut = shifted < high ? shifted : high;
    return (T)(shifted > low ? cut : low); // NaN becomes the lowest
}

void NAME(tl_quantize, c)(const void *src, void *dst, const float *scale, const void *zero,
                          size_t n, int step)
{
    const float *const from = src;
    const T *const zeros = zero;
    T *const to = dst;
    if (step == 0) {
        const float s = *scale, z = zeros ? (float)*zeros : 0;
        for (size_t i = 0; i < n; i++)
            to[i] = NAME(quantized, of)(from[i] / s, z);
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = NAME(quantized, of)(from[i] / scale[i], zeros ? (float)zeros[i] : 0);
    }
}
