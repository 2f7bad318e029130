// SPDX-License-Identifier: Apache-2.0
// Template: an arithmetic progression in plain C for one type; AT says what stands at a place.

void NAME(tl_range, c)(const void *start, const void *delta, size_t first, void *dst, size_t len)
{
    const C from = LOAD(*(const T *)start), by = LOAD(*(const T *)delta);
    T *const d = dst;
    for (size_t i = 0; i < len; i++)
        d[i] = STORE(AT(from, by, first + i));
}
