// SPDX-License-Identifier: Apache-2.0
// Declaration attributes of all public headers (visibility,
// C linkage, printf checks), and the status of a call.

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

/** The result of a call. A failure also has a message with details. */
typedef enum ln_status {
    LN_OK = 0,
    LN_BAD_ARGUMENT,   // the call itself is wrong: a name, a type, a shape, a size, NULL
    LN_NOT_FOUND,      // the file, or a name in the model, does not exist
    LN_BAD_MODEL,      // the file is not a model, is damaged, or contradicts itself
    LN_UNSUPPORTED,    // the model is valid, but needs a feature that this build lacks
    LN_OUT_OF_MEMORY,  // the system is out of memory
    LN_LIMIT_REACHED,  // a limit of the caller: memory, time, operators
    LN_CANCELLED,      // another thread has cancelled the call
    LN_IO_ERROR,       // a file cannot be read or written
    LN_INTERNAL_ERROR, // no input should cause it: a bug of the library
    LN_STATUS_SIZE
} ln_status;

#endif
