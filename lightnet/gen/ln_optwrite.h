// SPDX-License-Identifier: Apache-2.0
// Rules as C: shared writers of patterns and replacements, and the output: functions of the rules,
// and tests.

#pragma once

#include "gen/ln_cgen.h"
#include "gen/ln_optdesc.h"

/** The rule being written. */
typedef struct ln_optwriter {
    const ln_optdesc *desc;
    const ln_optrule *rule;
    ln_cgen *out;
} ln_optwriter;

/** The kinds of functions that rules become. */
typedef enum ln_optkind { LN_OPT_EXPANDER, LN_OPT_COMBINER, LN_OPT_SUBGRAPH } ln_optkind;

ln_optkind ln_optkind_of(const ln_optrule *rule);

/** Appends a comment of as many lines as it needs. */
void ln_optwrite_comment(const ln_optwriter *w, const char *text);

/** Appends texts (up to NULL) as one C string, each on its own line, the first after `begin`, and
 * then `end`. */
void ln_optwrite_strings(const ln_optwriter *w, const char *begin, const char *const *texts,
                         const char *end);

/** Declares the operators and tensors of `m` that C code of the description names, and `ctx`.
 * Returns their number. */
int ln_optwrite_locals(const ln_optwriter *w, const char *code);

/** Whether the text of a rule can contain the parameter's value, for ln_rule_read_value. */
int ln_optwrite_is_plain(const ln_optparam *param);

/** Such a parameter in a text: `PARAM=VALUE`, or `OPERATOR.*`. Returns borrowed (until the arena is
 * freed), as below. */
const char *ln_optwrite_param(const ln_optwriter *w, const ln_optparam *param);

/** The C arguments for a parameter's literal value, each after ", ". */
const char *ln_optwrite_value(const ln_optwriter *w, const ln_optparam *param);

/** Appends the `i`th item of a literal value as JSON. */
void ln_optwrite_json_item(ln_cgen *json, const ln_optparam *literal, int i);

/** The functions of ln_rule.h for a kind of value; NULL: none. */
typedef struct ln_optvalue_function {
    const char *test; // in patterns
    const char *set;  // in replacements
} ln_optvalue_function;

/** One for each ln_optvalue. */
extern const ln_optvalue_function ln_optvalue_functions[];

// Patterns.

/** Whether a rule has conditions that are not in its table. */
int ln_optmatch_has_conditions(const ln_optrule *rule);

/** Appends `allows_RULE`, which checks them. */
void ln_optmatch_conditions(const ln_optwriter *w);

/** Appends the fields of the rule's table for its pattern, between `begin` and `end`. */
void ln_optmatch_fields(const ln_optwriter *w, const char *begin, const char *end);

// Checked optimizer descriptions as C (ln_optcode.c, ln_opttest.c).

/** The functions of all rules, and the arrays of an architecture's ln_arch: ln_ep_funcs_ARCH,
 * ln_cb_funcs_ARCH, ln_sg_funcs_ARCH, ln_rule_names_ARCH. Includes `header`. */
void ln_optcode_source(const ln_optdesc *desc, const char *header, ln_cgen *out);

/** The functions and the table of one rule. */
void ln_optcode_rule(const ln_optwriter *w);

/** The declarations of these arrays. */
void ln_optcode_header(const ln_optdesc *desc, ln_cgen *out);

/** The program that tests all rules (tests/support/ln_rule_check.h). -1 with a reason in `err`: a
 * test with an unknown name, or without a required part. */
int ln_optcode_tests(const ln_optdesc *desc, ln_cgen *out, ln_error *err);

/** Appends the first line of generated C, which names the descriptions. */
void ln_optcode_banner(const ln_optdesc *desc, const char *what, ln_cgen *out);
