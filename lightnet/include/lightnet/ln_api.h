// SPDX-License-Identifier: Apache-2.0
// Marks that public declarations carry: visibility, C linkage, printf checking.

#ifndef LN_API_H
#define LN_API_H

#ifdef __cplusplus
#define LN_BEGIN_DECLS extern "C" {
#define LN_END_DECLS   }
#else
#define LN_BEGIN_DECLS
#define LN_END_DECLS
#endif

#ifdef __GNUC__
/** A symbol that the library exports; all others are hidden. */
#define LN_API __attribute__((visibility("default")))
/** The `fmt`-th parameter is a printf format, its arguments begin at the `args`-th (0: a va_list).
 */
#define LN_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define LN_API
#define LN_PRINTF(fmt, args)
#endif

#endif
