// SPDX-License-Identifier: Apache-2.0
// The test of rewrite rules: a model is compiled without a rule and with it, and gives the same.
//
// ln-optgen writes the table of models from the descriptions. Building the project runs it, so a
// rule that does not fire in its own test, or changes what a model computes, fails the build.

#ifndef LN_RULE_CHECK_H
#define LN_RULE_CHECK_H

#include "lightnet/ln_util.h"

/** A tensor that comes from outside: a `create` with random data in low .. high. */
typedef struct ln_rule_tensor {
    const char *name; // NULL ends an array of these
    const char *dtype;
    int ndim;
    int dims[LN_MAXDIM];
    double low, high;
    int is_const; // a constant; otherwise an input of the model
} ln_rule_tensor;

/** A model that a rule is to rewrite. */
typedef struct ln_rule_case {
    const char *rule; // NULL ends an array of these
    const char *place;
    const ln_rule_tensor *tensors;
    const char *ops; // the operators besides the `create`s, as the JSON IR has them
    const char *const *outputs;
    const char *const *removed; // tensors that the rule removes: as an output, each forbids it
    const char *const *kept;    // tensors of kept operators: as an output, each is as before
    int fires;                  // 1: the rule must fire; 0: it must not
    int warns;                  // it warns instead of rewriting
    double tolerance;           // |a - b| <= tolerance * (1 + |b|); 0: equal
    const char *precision;      // of ln_context_set_precision in both models; NULL: the default
} ln_rule_case;

/** Tests all cases as TAP on standard output, those that fire also with each tensor inside
 * the pattern as a further output. With an argument: only failures are printed, and when
 * there is none, an empty file of that name is made. `create` is the optype of creates. Operators
 * of cuda read copies of what creates make. Plug-ins of LIGHTNET_PLUGIN_PATH are loaded before.
 * Returns the exit status. */
int ln_rule_check(int argc, char **argv, const char *target, const char *create,
                  const ln_rule_case *cases);

#endif
