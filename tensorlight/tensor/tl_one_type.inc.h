// SPDX-License-Identifier: Apache-2.0
// Compiles the template TL_TEMPLATE once, for the type whose tag is TL_TAG (and undefines TL_TAG).
//
// A template is C code that uses
//     T            the type in memory             LOAD(t)   a T as a C
//     C            the type to compute in         STORE(c)  a C as a T
//     NAME(a, b)   the name a_<tag>_b, for example tl_softmax_f32_c
//     TL_SET       the suffix of its kernels' names: c, or the instruction set for which the
//                  build compiles the source with wider vectors
//     TL_IS_FLOAT, TL_IS_BOOL  in #if: whether the type is one of these
//
// A source is its own template, as softmax_c.c:
//
//     #ifndef T // once
//     #include "kernel/softmax/softmax.h"
//     #define TL_TEMPLATE "kernel/softmax/softmax_c.c"
//     #include "tensor/tl_each_float.inc.h"
//     #else // for each type
//     void NAME(tl_softmax, c)(void *arg, size_t begin, size_t end) {..}
//     #endif
//
// Networks compute in TL_FLOAT. All other types are optimized for size, which makes the library a
// third smaller; a file that wants it defines TL_TUNED_<tag> for a type,
// or TL_TUNED_ALL. (Clang has no such switch.) The macro __OPTIMIZE_SIZE__ does not indicate
// whether a file is optimized for size: GCC leaves it defined after the first such type.

#include "tensor/tl_element.h"

#ifndef TL_SET
#ifdef TL_SIMD_SET
#define TL_SET       TL_SIMD_SET
#define TL_TUNED_ALL // these are chosen types
#else
#define TL_SET c
#endif
#endif

#define TL_PASTE_(a, b, c)  a##b##c
#define TL_PASTE(a, b, c)   TL_PASTE_(a, b, c)
#define TL_NAME_(a, tag, b) a##_##tag##_##b
#define TL_NAME(a, tag, b)  TL_NAME_(a, tag, b)

#define T           TL_PASTE(tl_, TL_TAG, _t)
#define C           TL_PASTE(tl_, TL_TAG, _c)
#define LOAD(t)     TL_PASTE(tl_, TL_TAG, _load)(t)
#define STORE(c)    TL_PASTE(tl_, TL_TAG, _store)(c)
#define NAME(a, b)  TL_NAME(a, TL_TAG, b)
#define TL_IS_FLOAT TL_PASTE(TL_IS_FLOAT_, TL_TAG, )
#define TL_IS_BOOL  TL_PASTE(TL_IS_BOOL_, TL_TAG, )

#define TL_IS_FLOAT_f64  1
#define TL_IS_FLOAT_f32  1
#define TL_IS_FLOAT_f16  1
#define TL_IS_FLOAT_bf16 1
#define TL_IS_BOOL_b8    1

#define TL_TUNED_f32 1
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && !defined(TL_TUNED_ALL) && \
    !TL_PASTE(TL_TUNED_, TL_TAG, )
#define TL_IS_SMALL
#pragma GCC push_options
#pragma GCC optimize("Os")
#endif

#include TL_TEMPLATE

#if defined(TL_IS_SMALL)
#pragma GCC pop_options
#undef TL_IS_SMALL
#endif
#undef T
#undef C
#undef LOAD
#undef STORE
#undef NAME
#undef TL_IS_FLOAT
#undef TL_IS_BOOL
#undef TL_PASTE_
#undef TL_PASTE
#undef TL_NAME_
#undef TL_NAME
#undef TL_TAG
