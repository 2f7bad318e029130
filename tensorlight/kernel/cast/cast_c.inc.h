// SPDX-License-Identifier: Apache-2.0
// Template: the conversion in plain C, from every type to one type.

#define CAST_FROM(dtype, tag, storage, compute, kind, ...)                                 \
    void NAME(tl_cast_##tag, c)(const void *src, void *dst, size_t len, const void *param) \
    {                                                                                      \
        (void)param;                                                                       \
        const tl_##tag##_t *const s = src;                                                 \
        T *const d = dst;                                                                  \
        for (size_t i = 0; i < len; i++)                                                   \
            d[i] = OF_##kind(tl_##tag##_load(s[i]));                                       \
    }
TL_TYPES(CAST_FROM)
#undef CAST_FROM
