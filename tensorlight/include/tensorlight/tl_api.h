// SPDX-License-Identifier: Apache-2.0
// Macros for all public headers of TensorLight: visibility, C++ linkage, printf checking.

#ifndef TL_API_H
#define TL_API_H

#define TL_API               __attribute__((visibility("default")))
#define TL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

#ifdef __cplusplus
#define TL_BEGIN_DECLS extern "C" {
#define TL_END_DECLS   }
#else
#define TL_BEGIN_DECLS
#define TL_END_DECLS
#endif

#endif
