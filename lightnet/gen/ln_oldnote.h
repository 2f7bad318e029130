// SPDX-License-Identifier: Apache-2.0
// The notations that descriptions had in the first LightNet, recognized to name the new ones.

#ifndef LN_OLDNOTE_H
#define LN_OLDNOTE_H

#include "gen/ln_rjson.h"

/** Whether the text is an operator description in the old notation: `relu_cpu : relu {` or
 * `relu {`, keys without quotes, values in backquotes. For texts that are no relaxed JSON. */
int ln_oldnote_is_op(const char *text);

/** Whether the file is an old optimizer description, which names its author. */
int ln_oldnote_is_opt(const ln_rjson *root);

#endif
