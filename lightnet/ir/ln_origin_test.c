// SPDX-License-Identifier: Apache-2.0
// Tests of where operators come from.

#include "ir/ln_origin.h"

#include "ln_check.h"

START_TEST(operators_that_replace_others_have_their_nodes_in_order)
{
    ln_context ctx = {0};
    ln_op ops[3];
    ln_op_arg args[3] = {{0}};
    ln_list *list = NULL;
    static const char *const names[] = {"conv", "norm", "relu"};
    for (int i = 0; i < 3; i++) {
        ops[i] = (ln_op){.op_arg = &args[i]};
        args[i].origin = ln_origin_create(&ctx, names[i], "Type");
    }
    for (int i = 2; i >= 0; i--) // any order of the operators
        list = ln_list_append(list, &ops[i]);
    ln_origin *const joined = ln_origin_join(list);
    ln_op_arg made_arg = {0};
    ln_op made = {.op_arg = &made_arg};
    ln_origin_give(&made, joined);
    ln_origin_give(&made, args[0].origin); // it has nodes already
    ck_assert_int_eq(ln_op_num_nodes(&made_arg), 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(ln_op_node(&made_arg, i)->name, names[i]);
        ck_assert_int_eq(ln_op_node(&made_arg, i)->number, i + 1);
    }
    ck_assert(!ln_op_node(&made_arg, 3) && !ln_op_node(&made_arg, -1));
    // A node of both is one node.
    ln_list *const pair = ln_list_append(ln_list_append(NULL, &made), &ops[1]);
    ln_origin *const again = ln_origin_join(pair);
    ln_origin_free(made_arg.origin);
    made_arg.origin = again;
    ck_assert_int_eq(ln_op_num_nodes(&made_arg), 3);
    for (int i = 0; i < 3; i++)
        ln_origin_free(args[i].origin);
    ck_assert_str_eq(ln_op_node(&made_arg, 2)->type, "Type"); // nodes are shared
    ln_origin_free(joined);
    ln_origin_free(again);
    ln_list_free(list);
    ln_list_free(pair);
}
END_TEST

START_TEST(there_are_at_most_so_many_nodes)
{
    ln_context ctx = {0};
    ln_op_arg all = {0}, one = {0};
    ln_op a = {.op_arg = &all}, b = {.op_arg = &one};
    ln_list *const list = ln_list_append(ln_list_append(NULL, &a), &b);
    for (int i = 0; i < LN_MAX_ORIGINS + 10; i++) {
        one.origin = ln_origin_create(&ctx, "n", "T");
        ln_origin *const joined = ln_origin_join(list);
        ln_origin_free(all.origin);
        ln_origin_free(one.origin);
        all.origin = joined;
        one.origin = NULL;
    }
    ck_assert_int_eq(ln_op_num_nodes(&all), LN_MAX_ORIGINS);
    ck_assert_int_eq(ln_op_node(&all, 0)->number, 1);
    ln_origin_free(all.origin);
    ln_list_free(list);
}
END_TEST

LN_TEST_MAIN("where operators come from", operators_that_replace_others_have_their_nodes_in_order,
             there_are_at_most_so_many_nodes)
