// SPDX-License-Identifier: Apache-2.0
// Rules as C: the half that decides whether a rule applies.

#ifndef LN_OPTMATCH_H
#define LN_OPTMATCH_H

#include "gen/ln_optwrite.h"

/** Appends `struct RULE`, what the rule matches, and `match_RULE`, which fills one and says whether
 * the rule applies. */
void ln_optmatch_write(const ln_optwriter *w);

#endif
