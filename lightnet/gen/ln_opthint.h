// SPDX-License-Identifier: Apache-2.0
// The tests of a rule: what they say of its operators and tensors.

#ifndef LN_OPTHINT_H
#define LN_OPTHINT_H

#include "gen/ln_optdesc.h"

/** Checks the tests of a rule whose pattern is checked. -1 with a reason in `err`: a name that is
 * not in the pattern, what only patterns may say, a tensor that cannot be, no test that fires. */
int ln_opthint_check(const ln_optrule *rule, ln_error *err);

#endif
