// SPDX-License-Identifier: Apache-2.0
// The frame of every unit test program: a main that runs Check test cases and speaks TAP.
//
//     START_TEST(pool_gives_the_smallest_hole) { ... ck_assert_uint_eq(offset, 11); } END_TEST
//
//     LN_TEST_MAIN("mem pool", pool_gives_the_smallest_hole, pool_never_gives_offset_0)
//
// Asserts stay on in tests; a test that lacks something calls ln_check_skip and returns.

#pragma once

#include <check.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/** Whether a sanitizer watches memory, which needs memory of its own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LN_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LN_IS_SANITIZED 1
#endif
#endif
#ifndef LN_IS_SANITIZED
#define LN_IS_SANITIZED 0
#endif

/** An assertion that holds records its location in Check, for the report of a crash. Each record is
 * a write to a file that is read again in the end, so repeated locations are recorded once: loops
 * over elements would write millions of times otherwise. */
static inline void ln_check_mark(const char *file, int line)
{
    static _Thread_local const char *last_file;
    static _Thread_local int last_line;
    if (file == last_file && line == last_line)
        return;
    last_file = file;
    last_line = line;
    _mark_point(file, line);
}
#define _mark_point(file, line) ln_check_mark(file, line)

/** Runs the NULL-terminated `tests` as one suite; returns the exit status: 0 when all passed. */
static inline int ln_check_run(const char *name, const TTest *const *tests)
{
    Suite *suite = suite_create(name);
    for (; *tests; tests++) {
        TCase *tcase = tcase_create((*tests)->name);
        tcase_set_timeout(tcase, 120);
        tcase_add_test(tcase, *tests);
        suite_add_tcase(suite, tcase);
    }
    SRunner *runner = srunner_create(suite);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/** From one of very many like cases to the next: emulators try only some, as they are slow. */
static inline int ln_check_step(void)
{
    return getenv("LN_TEST_EMULATED") ? 17 : 1;
}

/** Prints on standard error why a test did not run; the test then returns. */
static inline void ln_check_skip(const char *reason)
{
    fprintf(stderr, "skipped: %s\n", reason);
}

/** Sets a locale whose decimal point is a comma; the test restores "C". Returns 0, after
 *  ln_check_skip, if none is installed. */
static inline int ln_check_comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (setlocale(LC_ALL, names[i]))
            return 1;
    ln_check_skip("no locale with a decimal comma");
    return 0;
}

#define LN_TEST_MAIN(name, ...)                           \
    int main(void)                                        \
    {                                                     \
        const TTest *const tests[] = {__VA_ARGS__, NULL}; \
        return ln_check_run(name, tests);                 \
    }
