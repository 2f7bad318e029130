// SPDX-License-Identifier: Apache-2.0
// Tests of finding the known name that a misspelled one is closest to.

#include <stddef.h>

#include "lightnet/ln_util.h"

#include "ln_check.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

static const char *const known[] = {"run", "bench", "conv2d", "convert", "create", "create_cpu"};

static const char *closest(const char *name)
{
    const char *best = NULL;
    for (size_t i = 0; i < LEN(known); i++)
        best = ln_closer_name(name, best, known[i]);
    return best;
}

START_TEST(closest_name_differs_in_a_third_of_its_letters_at_most)
{
    static const struct {
        const char *name, *closest;
    } rows[] = {
        {"rnu", "run"},        // swapped
        {"rn", "run"},         // inserted
        {"runn", "run"},       // deleted
        {"bemch", "bench"},    // changed
        {"RUN", "run"},        // case does not count
        {"convet", "convert"}, // one letter, conv2d is two
        {"craete", "create"},  //
        {"create_cuda", "create_cpu"},
        {"r", NULL},          // two letters of one
        {"fun2", NULL},       // two of four
        {"frobnicate", NULL}, //
        {"", NULL},
        {"runrunrunrunrunrunrunrunrunrunrunrunrunrunrunrunrunrunrunrunrunrunrun", NULL},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        const char *got = closest(rows[i].name);
        ck_assert_msg(ln_streq(got, rows[i].closest), "%s: got %s, expected %s", rows[i].name,
                      got ? got : "nothing", rows[i].closest ? rows[i].closest : "nothing");
    }
}
END_TEST

START_TEST(first_of_equally_close_names_stays)
{
    ck_assert_str_eq(ln_closer_name("cat1", "cat2", "cat3"), "cat2");
    ck_assert_str_eq(ln_closer_name("cat1", "cat2", "cat11"), "cat2");
    ck_assert_str_eq(ln_closer_name("cat1", "cats2", "cat3"), "cat3");
}
END_TEST

LN_TEST_MAIN("closer", closest_name_differs_in_a_third_of_its_letters_at_most,
             first_of_equally_close_names_stays)
