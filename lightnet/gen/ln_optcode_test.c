// SPDX-License-Identifier: Apache-2.0
// Tests of the generator of rewrites, on the descriptions in test/: its C against the committed
// one, and mistakes against the expected messages. Runs in the folder test/.

#include "gen/ln_optwrite.h"

#include <stdio.h>
#include <string.h>

#include "ln_cases.h"
#include "ln_check.h"

// One description and what is generated from it.
typedef struct generated {
    ln_arena arena;
    ln_optdesc desc;
    ln_rjson *root;
    ln_error err;
} generated;

static int read_description(generated *g, const char *file)
{
    memset(g, 0, sizeof(*g));
    g->desc.arena = &g->arena;
    g->root = ln_rjson_read(file, &g->err);
    if (!g->root || ln_optdesc_read(&g->desc, g->root, &g->err))
        return -1;
    return ln_optdesc_check(&g->desc, &g->err);
}

static void free_description(generated *g)
{
    ln_rjson_free(g->root);
    ln_arena_free(&g->arena);
}

START_TEST(rules_become_readable_c)
{
    generated g;
    ln_cgen out = {.file = "small.c"};
    ck_assert_msg(read_description(&g, "small.opt") == 0, "%s", ln_error_text(&g.err));
    ln_optcode_source(&g.desc, "small.h", &out);
    ln_assert_golden(out.text, "golden/small.c");
    ln_cgen_free(&out);
    free_description(&g);
}
END_TEST

START_TEST(the_header_declares_what_an_architecture_registers)
{
    generated g;
    ln_cgen out = {.file = "small.h"};
    ck_assert_msg(read_description(&g, "small.opt") == 0, "%s", ln_error_text(&g.err));
    ln_optcode_header(&g.desc, &out);
    ln_assert_golden(out.text, "golden/small.h");
    ln_cgen_free(&out);
    free_description(&g);
}
END_TEST

START_TEST(every_rule_has_a_test_model)
{
    generated g;
    ln_cgen out = {.file = "small_test.c"};
    ck_assert_msg(read_description(&g, "small.opt") == 0, "%s", ln_error_text(&g.err));
    ck_assert_int_eq(ln_optcode_tests(&g.desc, &out, &g.err), 0);
    ln_assert_golden(out.text, "golden/small_test.c");
    ln_cgen_free(&out);
    free_description(&g);
}
END_TEST

static void reject(const char *file, char *message, size_t size)
{
    generated g;
    ln_cgen tests = {.file = "-"};
    int failed = read_description(&g, file);
    if (!failed)
        failed = ln_optcode_tests(&g.desc, &tests, &g.err);
    snprintf(message, size, "%s", failed ? ln_error_text(&g.err) : "no mistake was found");
    ln_cgen_free(&tests);
    free_description(&g);
}

START_TEST(errors_name_their_position)
{
    ck_assert_int_gt(ln_cases_check("bad_opt.cases", ".opt", reject), 20);
}
END_TEST

START_TEST(the_same_description_gives_the_same_bytes)
{
    generated a, b;
    ln_cgen out_a = {.file = "small.c"}, out_b = {.file = "small.c"};
    ck_assert_int_eq(read_description(&a, "small.opt"), 0);
    ck_assert_int_eq(read_description(&b, "small.opt"), 0);
    ln_optcode_source(&a.desc, "small.h", &out_a);
    ln_optcode_source(&b.desc, "small.h", &out_b);
    ck_assert_str_eq(out_a.text, out_b.text);
    ln_cgen_free(&out_a);
    ln_cgen_free(&out_b);
    free_description(&a);
    free_description(&b);
}
END_TEST

LN_TEST_MAIN("optimizer descriptions", rules_become_readable_c,
             the_header_declares_what_an_architecture_registers, every_rule_has_a_test_model,
             errors_name_their_position, the_same_description_gives_the_same_bytes)
