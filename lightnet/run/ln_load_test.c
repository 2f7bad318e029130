// SPDX-License-Identifier: Apache-2.0
// Tests of the number of threads, and of variables of the environment.

#include "run/ln_load.h"

#include <stdlib.h>

#include "ln_check.h"

START_TEST(threads_that_are_set_beat_those_of_the_environment)
{
    ln_context *ctx = ln_context_create();
    int n = 0;
    ck_assert(!ln_context_threads(ctx, &n) && n == 1);
    setenv("LIGHTNET_NUM_THREADS", "3", 1);
    ck_assert(!ln_context_threads(ctx, &n) && n == 3);
    ck_assert_int_eq(ln_context_set_threads(ctx, 2), 0);
    ck_assert(!ln_context_threads(ctx, &n) && n == 2);
    setenv("LIGHTNET_NUM_THREADS", "many", 1);
    ck_assert(!ln_context_threads(ctx, &n) && n == 2);
    ln_context_free(ctx);
    ctx = ln_context_create();
    ck_assert_int_eq(ln_context_threads(ctx, &n), -1);
    unsetenv("LIGHTNET_NUM_THREADS");
    ln_context_free(ctx);
}
END_TEST

// Before a model is read, so that no operator of it is blamed.
START_TEST(variables_that_cannot_be_understood_are_named_alone)
{
    static const struct {
        const char *name, *value, *message;
    } rows[] = {
        {"LIGHTNET_MAX_ISA", "foo", "LIGHTNET_MAX_ISA is 'foo', expected " TL_ISA_NAMES},
        {"LIGHTNET_NUM_THREADS", "2x",
         "LIGHTNET_NUM_THREADS is '2x', expected a number of threads"},
        {"LIGHTNET_NUM_THREADS", "-1",
         "LIGHTNET_NUM_THREADS is '-1', expected a number of threads"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ln_context *ctx = ln_context_create();
        setenv(rows[i].name, rows[i].value, 1);
        ck_assert_int_eq(ln_context_init_text(ctx, "m", "{}", 2), -1);
        ck_assert_str_eq(ln_context_error(ctx), rows[i].message);
        unsetenv(rows[i].name);
        ln_context_free(ctx);
    }
}
END_TEST

LN_TEST_MAIN("threads", threads_that_are_set_beat_those_of_the_environment,
             variables_that_cannot_be_understood_are_named_alone)
