// SPDX-License-Identifier: Apache-2.0
// Whether a text is IL. Tools read it; the library only recognizes it.

#pragma once

#include <stddef.h>

/** Whether the bytes begin like a model in IL: after comments and preprocessor directives with a
 * name that '(', '=' or '$' follows, or ':' and an operator, or that follows `body`. Looks at the
 * first 64 KiB only; if these are only comments and directives, it is. */
int ln_il_look(const unsigned char *data, size_t size);
