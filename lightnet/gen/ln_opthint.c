// SPDX-License-Identifier: Apache-2.0
// Checks the tests of a rule against its pattern.

#include "gen/ln_optdesc.h"

#include <string.h>

static int is_op_of(const ln_optrule *rule, const char *name)
{
    for (const ln_optop *op = rule->match; op; op = op->next) {
        if (strcmp(op->name, name) == 0)
            return 1;
        for (int i = 0; i < op->noptypes; i++) {
            if (strcmp(op->optypes[i], name) == 0)
                return 1;
        }
    }
    return 0;
}

static int check_args(const ln_optrule *rule, const ln_optarg *args, ln_error *err)
{
    for (const ln_optarg *arg = args; arg; arg = arg->next) {
        if (arg->op || arg->optional || arg->exchange)
            return ln_optrule_fail(
                rule, &arg->place, err,
                "an argument of an operator in a test must have the form ARG=TENSOR");
    }
    return 0;
}

static int check_op(const ln_optrule *rule, const ln_optop *op, ln_error *err)
{
    if (!is_op_of(rule, op->name))
        return ln_optrule_fail(rule, &op->place, err,
                               "a test names '%s', which is not an operator of the pattern",
                               op->name);
    if (op->any_in || op->any_out)
        return ln_optrule_fail(rule, &op->place, err,
                               "'*' is not valid in a test; name the arguments of '%s'", op->name);
    return -(check_args(rule, op->ins, err) || check_args(rule, op->outs, err));
}

// Whether an operator of the test reads the tensor besides those of the pattern.
static int is_read_by_test(const ln_opttest *test, const char *name)
{
    for (const ln_optop *op = test->ops; op; op = op->next) {
        for (const ln_optarg *arg = op->ins; arg; arg = arg->next) {
            if (strcmp(arg->tensor, name) == 0)
                return 1;
        }
    }
    return 0;
}

static int check_tensor(const ln_optrule *rule, const ln_opttest *test, const ln_opthint *hint,
                        ln_error *err)
{
    const ln_opttensor *tensor = ln_opttensor_find(rule, hint->tensor);
    if (tensor ? tensor->fresh : !is_read_by_test(test, hint->tensor))
        return ln_optrule_fail(rule, &hint->place, err,
                               "a test names '%s', which is not a tensor of the pattern",
                               hint->tensor);
    if (tensor && tensor->producer)
        return ln_optrule_fail(rule, &hint->place, err,
                               "a test describes '%s', but operator '%s' produces it", hint->tensor,
                               tensor->producer->name);
    if (hint->ndim > LN_MAXDIM)
        return ln_optrule_fail(rule, &hint->place, err,
                               "'%s' has %d dimensions, expected at most %d", hint->tensor,
                               hint->ndim, LN_MAXDIM);
    if (hint->low > hint->high)
        return ln_optrule_fail(rule, &hint->place, err, "'%s' lies in %g .. %g, which is empty",
                               hint->tensor, hint->low, hint->high);
    return 0;
}

static int fail_twice(const ln_optrule *rule, const ln_rjson *place, const char *name,
                      ln_error *err)
{
    return ln_optrule_fail(rule, place, err, "a test names '%s' twice", name);
}

// A test may name an operator, a tensor or a size only once.
static int check_once(const ln_optrule *rule, const ln_opttest *test, ln_error *err)
{
    for (ln_optop *op = test->ops; op; op = op->next) {
        if (ln_optop_find(op->next, op->name))
            return fail_twice(rule, &ln_optop_find(op->next, op->name)->place, op->name, err);
    }
    for (const ln_opthint *hint = test->tensors; hint; hint = hint->next) {
        for (const ln_opthint *other = hint->next; other; other = other->next) {
            if (strcmp(hint->tensor, other->tensor) == 0)
                return fail_twice(rule, &other->place, hint->tensor, err);
        }
    }
    for (const ln_optsize *size = test->sizes; size; size = size->next) {
        for (const ln_optsize *other = size->next; other; other = other->next) {
            if (strcmp(size->name, other->name) == 0)
                return fail_twice(rule, &other->place, size->name, err);
        }
    }
    return 0;
}

static int check_test(const ln_optrule *rule, const ln_opttest *test, ln_error *err)
{
    for (const ln_optop *op = test->ops; op; op = op->next) {
        if (check_op(rule, op, err))
            return -1;
    }
    for (const ln_opthint *hint = test->tensors; hint; hint = hint->next) {
        if (check_tensor(rule, test, hint, err))
            return -1;
    }
    if (test->precision && strcmp(test->precision, "bf16") != 0)
        return ln_optrule_fail(rule, &test->place, err,
                               "a test has precision '%s', expected 'bf16'", test->precision);
    return check_once(rule, test, err);
}

int ln_opthint_check(const ln_optrule *rule, ln_error *err)
{
    int fires = 0;
    for (const ln_opttest *test = rule->tests; test; test = test->next) {
        if (check_test(rule, test, err))
            return -1;
        fires |= test->fires;
    }
    // A rule that never fires in its own tests is not tested.
    return fires || !rule->tests ? 0
                                 : ln_optrule_fail(rule, &rule->tests->place, err,
                                                   "the rule does not fire in any of its tests");
}
