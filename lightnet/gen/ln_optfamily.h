// SPDX-License-Identifier: Apache-2.0
// Families of rules: one description for rules that differ in words.

#pragma once

#include "gen/ln_arena.h"
#include "gen/ln_rjson.h"

/** The rule that `row` of the member "for" makes of a family, from `arena`. NULL with a reason: a
 * row that is no object, a word that it lacks. */
ln_rjson *ln_optfamily_rule(ln_arena *arena, const ln_rjson *family, const ln_rjson *row,
                            ln_error *err);
