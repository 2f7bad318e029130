// SPDX-License-Identifier: Apache-2.0
// Template: the sum of products for one number type, summed in SUM.

void NAME(tl_dot_product, c)(const void *src1, const void *src2, void *dst, size_t len)
{
    const T *const a = src1, *const b = src2;
    SUM sum = 0;
    for (size_t i = 0; i < len; i++)
        sum += (SUM)LOAD(a[i]) * (SUM)LOAD(b[i]);
    *(T *)dst = STORE((C)sum);
}
