// SPDX-License-Identifier: Apache-2.0
// Template: conversion in plain C, from every type to one type.

#define CONVERT_FROM(tag, carrier)                                                            \
    void NAME(tl_convert_##tag, c)(const void *src, void *dst, size_t len, const void *param) \
    {                                                                                         \
        (void)param;                                                                          \
        const tl_##tag##_t *const s = src;                                                    \
        T *const d = dst;                                                                     \
        for (size_t i = 0; i < len; i++)                                                      \
            d[i] = NAME(tl, from_##carrier)(tl_##tag##_load(s[i]));                           \
    }
#define FROM_FLT(tag)  CONVERT_FROM(tag, double)
#define FROM_INT(tag)  CONVERT_FROM(tag, int)
#define FROM_UINT(tag) CONVERT_FROM(tag, uint)
#define FROM_BOOL(tag) CONVERT_FROM(tag, uint)

#define TL_TYPE(dtype, tag, storage, compute, kind, load, store, min, max, format) FROM_##kind(tag)
#include "tensor/tl_types.def"
#undef TL_TYPE

#undef CONVERT_FROM
#undef FROM_FLT
#undef FROM_INT
#undef FROM_UINT
#undef FROM_BOOL
