// SPDX-License-Identifier: Apache-2.0
// From checked operator descriptions to a page in Markdown.

#ifndef LN_OPGEN_DOC_H
#define LN_OPGEN_DOC_H

#include "gen/ln_cgen.h"
#include "gen/ln_opdesc.h"

/** Writes a section with the arguments of each own operator, in order. */
void ln_opgen_docs(ln_cgen *out, const ln_opdescs *descs);

#endif
