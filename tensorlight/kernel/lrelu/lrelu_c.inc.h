// SPDX-License-Identifier: Apache-2.0
// Template: the leaky rectifier in plain C for one type. SCALED(x, slope) is x * slope as a C.

void NAME(tl_lrelu, c)(const void *src, void *dst, size_t len, const void *param)
{
    const T *const s = src;
    T *const d = dst;
    const float slope = *(const float *)param;
    const C zero = 0;
    for (size_t i = 0; i < len; i++) {
        const C x = LOAD(s[i]);
        d[i] = STORE(x >= zero ? x : SCALED(x, slope));
    }
}
