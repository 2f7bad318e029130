// SPDX-License-Identifier: Apache-2.0
// Rules as C: the half that decides whether a rule applies.

#ifndef LN_OPTMATCH_H
#define LN_OPTMATCH_H

#include "gen/ln_optwrite.h"

/** Whether a rule has conditions that its table cannot say. */
int ln_optmatch_has_conditions(const ln_optrule *rule);

/** Appends `allows_RULE`, which checks them. */
void ln_optmatch_conditions(const ln_optwriter *w);

/** Appends the fields of the rule's table that say what it matches, between `begin` and `end`. */
void ln_optmatch_fields(const ln_optwriter *w, const char *begin, const char *end);

#endif
