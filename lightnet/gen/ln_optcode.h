// SPDX-License-Identifier: Apache-2.0
// Checked optimizer descriptions as C: the functions of the rules, and their tests.

#ifndef LN_OPTCODE_H
#define LN_OPTCODE_H

#include "gen/ln_cgen.h"
#include "gen/ln_optdesc.h"

/** The functions of all rules, and the arrays that an architecture's ln_arch has: ln_ep_funcs_ARCH,
 * ln_cb_funcs_ARCH, ln_sg_funcs_ARCH, ln_rule_names_ARCH. Includes `header`. */
void ln_optcode_source(const ln_optdesc *desc, const char *header, ln_cgen *out);

/** The declarations of these arrays. */
void ln_optcode_header(const ln_optdesc *desc, ln_cgen *out);

/** The program that tests all rules (tests/support/ln_rule_check.h). -1 with a reason in `err`: a
 * test names what is not there, or lacks what it needs. */
int ln_optcode_tests(const ln_optdesc *desc, ln_cgen *out, ln_error *err);

/** Appends the one line at the top of generated C that names the descriptions. */
void ln_optcode_banner(const ln_optdesc *desc, const char *what, ln_cgen *out);

#endif
