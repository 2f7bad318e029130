// SPDX-License-Identifier: Apache-2.0
// Template: the logistic function in plain C for one type. Far below 0, exp becomes infinite, and
// the quotient 0.

void NAME(tl_sigmoid, c)(const void *src, void *dst, size_t len, const void *param)
{
    (void)param;
    const T *const s = src;
    T *const d = dst;
    for (size_t i = 0; i < len; i++) {
        const C x = LOAD(s[i]);
        d[i] = STORE(1 / (1 + exp(-x)));
    }
}
