// SPDX-License-Identifier: Apache-2.0
// Tests of the data flow graph.

#include "lightnet/ln_dfg.h"

#include <string.h>

#include "base/ln_alloc_fail.h"
#include "lightnet/ln_msg.h"
#include "ln_check.h"

static char optype[] = "op", arch[] = "none";
static ln_op_arg proto_arg = {.optype = optype, .arch = arch};
static ln_op proto = {.op_arg = &proto_arg};

// A list of the tensors that single characters name.
static ln_list *tensors(const char *names)
{
    ln_list *list = NULL;
    for (; *names; names++)
        list = ln_tensor_list_append(list, "arg", (char[]){*names, '\0'});
    return list;
}

// Returns new: an operator that reads and writes the named tensors.
static ln_op *new_op(const char *name, const char *ins, const char *outs)
{
    return ln_op_create_from_proto(&proto, name, tensors(ins), tensors(outs), NULL, NULL);
}

static void add(ln_dfg *dfg, ln_op *op)
{
    ck_assert_int_eq(ln_dfg_add(dfg, op), 0);
    ck_assert(ln_dfg_is_valid(dfg));
}

static char *print(const ln_dfg *dfg)
{
    char *text = NULL;
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);
    ck_assert_int_eq(ln_dfg_fprint(fp, dfg), 0);
    fclose(fp);
    return text;
}

static void assert_print(const ln_dfg *dfg, const char *expect)
{
    char *text = print(dfg);
    ck_assert_str_eq(text, expect);
    free(text);
}

// create -x-> a -y-> b -z->, and a -y-> c
static ln_op *create, *a, *b, *c;

static ln_dfg *new_diamond(void)
{
    ln_dfg *dfg = ln_dfg_create();
    create = new_op("create", "", "x");
    a = new_op("a", "x", "y");
    b = new_op("b", "y", "z");
    c = new_op("c", "yx", "");
    add(dfg, create);
    add(dfg, a);
    add(dfg, b);
    add(dfg, c);
    return dfg;
}

static void free_diamond(ln_dfg *dfg)
{
    ln_op_free_lists_too(create);
    ln_op_free_lists_too(a);
    ln_op_free_lists_too(b);
    ln_op_free_lists_too(c);
    ln_dfg_free(dfg);
}

START_TEST(operators_are_linked_as_they_are_added)
{
    ln_dfg *dfg = new_diamond();
    assert_print(dfg, "create -> a (x), c (x)\n"
                      "a -> b (y), c (y)\n"
                      "b\n"
                      "c\n"
                      "dangling out: b (z)\n");
    ck_assert_ptr_eq(ln_dfg_next(dfg, a, "y"), b);
    ck_assert_ptr_eq(ln_dfg_prev(dfg, c, "y"), a);
    ck_assert_ptr_eq(ln_dfg_prev(dfg, c, "x"), create);
    ck_assert_ptr_null(ln_dfg_next(dfg, b, "z"));
    ck_assert_ptr_null(ln_dfg_next(dfg, b, "y"));
    ck_assert_ptr_null(ln_dfg_prev(dfg, a, "y"));
    ck_assert_ptr_null(ln_dfg_prev(dfg, a, "unknown"));
    ck_assert_int_eq(ln_dfg_check(dfg), 0);
    free_diamond(dfg);
    ln_dfg_free(NULL);
}
END_TEST

START_TEST(order_of_adding_makes_no_difference_to_edges)
{
    ln_dfg *dfg = ln_dfg_create();
    ln_op *ops[] = {new_op("c", "y", "z"), new_op("b", "x", "y"), new_op("a", "", "x")};
    add(dfg, ops[0]);
    assert_print(dfg, "c\ndangling in: c (y)\ndangling out: c (z)\n");
    ck_assert_int_eq(ln_dfg_check(dfg), -1);
    ck_assert_str_eq(ln_last_error(), "operator 'c' reads tensor 'y', which no operator produces");
    add(dfg, ops[1]);
    add(dfg, ops[2]);
    assert_print(dfg, "c\nb -> c (y)\na -> b (x)\ndangling out: c (z)\n");
    ck_assert_int_eq(ln_dfg_check(dfg), 0);
    ln_dfg_free(dfg);
    for (int i = 0; i < 3; i++)
        ln_op_free_lists_too(ops[i]);
}
END_TEST

START_TEST(nexts_are_all_readers_each_once)
{
    ln_dfg *dfg = ln_dfg_create();
    ln_op *writer = new_op("w", "", "x"), *square = new_op("s", "xx", "y"),
          *r = new_op("r", "x", "");
    add(dfg, writer);
    add(dfg, square);
    add(dfg, r);
    assert_print(dfg, "w -> s (x), s (x), r (x)\ns\nr\ndangling out: s (y)\n");
    ln_list *nexts = ln_dfg_nexts(dfg, writer, "x");
    ck_assert_int_eq(ln_list_length(nexts), 2);
    ck_assert_ptr_eq(nexts->data, square);
    ck_assert_ptr_eq(nexts->next->data, r);
    ln_list_free(nexts);
    ck_assert_ptr_null(ln_dfg_nexts(dfg, square, "y"));
    ck_assert_ptr_null(ln_dfg_nexts(dfg, square, "x"));
    ln_dfg_free(dfg);
    ln_op_free_lists_too(writer);
    ln_op_free_lists_too(square);
    ln_op_free_lists_too(r);
}
END_TEST

START_TEST(removed_operator_leaves_its_readers_dangling)
{
    ln_dfg *dfg = new_diamond();
    ln_dfg_remove(dfg, a);
    ck_assert(ln_dfg_is_valid(dfg));
    assert_print(dfg, "create -> c (x)\nb\nc\ndangling in: c (y)\ndangling in: b (y)\n"
                      "dangling out: b (z)\n");
    ln_dfg_remove(dfg, a);
    ln_dfg_remove(dfg, c);
    ck_assert(ln_dfg_is_valid(dfg));
    assert_print(dfg, "create\nb\ndangling in: b (y)\ndangling out: create (x)\n"
                      "dangling out: b (z)\n");
    add(dfg, c);
    add(dfg, a);
    ck_assert_int_eq(ln_dfg_check(dfg), 0);
    ck_assert_ptr_eq(ln_dfg_prev(dfg, c, "y"), a);
    ln_dfg_remove(dfg, create);
    ln_dfg_remove(dfg, a);
    ln_dfg_remove(dfg, b);
    ln_dfg_remove(dfg, c);
    ck_assert(ln_dfg_is_valid(dfg));
    assert_print(dfg, "");
    free_diamond(dfg);
}
END_TEST

START_TEST(lists_that_change_after_adding_do_not_confuse_removal)
{
    ln_dfg *dfg = new_diamond();
    ln_tensor_list_entry_set_name(a->op_arg->tensors_in->data, "other");
    ln_dfg_remove(dfg, a);
    ck_assert(ln_dfg_is_valid(dfg));
    ck_assert_ptr_eq(ln_dfg_next(dfg, create, "x"), c);
    free_diamond(dfg);
}
END_TEST

START_TEST(edges_are_unlinked_and_linked_by_hand)
{
    ln_dfg *dfg = new_diamond();
    ln_dfg_unlink(dfg, a, b, "y");
    ck_assert(ln_dfg_is_valid(dfg));
    ck_assert_ptr_eq(ln_dfg_next(dfg, a, "y"), c);
    ck_assert_ptr_null(ln_dfg_prev(dfg, b, "y"));
    ck_assert_int_eq(ln_list_length(dfg->dangling_ins), 1);
    ln_dfg_unlink(dfg, a, b, "y");
    ln_dfg_unlink(dfg, a, c, "x");
    ln_dfg_unlink(dfg, b, a, "y");
    ck_assert_ptr_eq(ln_dfg_prev(dfg, c, "x"), create);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(ln_dfg_link(dfg, a, b, "y"), 0);
    ck_assert(ln_dfg_is_valid(dfg));
    ck_assert_int_eq(ln_dfg_check(dfg), 0);
    ck_assert_int_eq(ln_dfg_link(dfg, a, b, "x"), -1);
    ck_assert_str_eq(ln_last_error(),
                     "operator 'a' does not produce tensor 'x' in the data flow graph");
    ck_assert_int_eq(ln_dfg_link(dfg, a, create, "y"), -1);
    ck_assert_str_eq(ln_last_error(),
                     "operator 'create' does not read tensor 'y' in the data flow graph");
    free_diamond(dfg);
}
END_TEST

START_TEST(second_writer_or_name_is_an_error_and_changes_nothing)
{
    ln_dfg *dfg = new_diamond();
    char *before = print(dfg);
    ln_op *writer = new_op("w", "z", "vwy"), *same = new_op("a", "z", "v");
    ck_assert_int_eq(ln_dfg_add(dfg, writer), -1);
    ck_assert_str_eq(ln_last_error(), "tensor 'y' is produced by operator 'a', expected 'w' only");
    ck_assert_int_eq(ln_dfg_add(dfg, same), -1);
    ck_assert_str_eq(ln_last_error(), "operator 'a' is in the data flow graph already");
    ck_assert(ln_dfg_is_valid(dfg));
    assert_print(dfg, before);
    ln_dfg_remove(dfg, same);
    assert_print(dfg, before);
    free(before);
    free_diamond(dfg);
    ln_op_free_lists_too(writer);
    ln_op_free_lists_too(same);
}
END_TEST

START_TEST(cycles_are_errors)
{
    ln_dfg *dfg = ln_dfg_create();
    ln_op *self = new_op("self", "x", "x"), *p = new_op("p", "u", "v"), *q = new_op("q", "v", "u");
    add(dfg, self);
    ck_assert_int_eq(ln_dfg_check(dfg), -1);
    ck_assert_str_eq(ln_last_error(), "operator 'self' reads tensor 'x', which it produces itself");
    ln_dfg_remove(dfg, self);
    ck_assert_int_eq(ln_dfg_check(dfg), 0);
    add(dfg, p);
    add(dfg, q);
    ck_assert_int_eq(ln_dfg_check(dfg), -1);
    ck_assert_ptr_nonnull(strstr(ln_last_error(), "cycle"));
    ln_dfg_free(dfg);
    ln_op_free_lists_too(self);
    ln_op_free_lists_too(p);
    ln_op_free_lists_too(q);
}
END_TEST

// The ith operator of a chain.
static ln_op *new_link(int i)
{
    char name[32], in[32], out[32];
    snprintf(name, sizeof name, "op%d", i);
    snprintf(in, sizeof in, "t%d", i);
    snprintf(out, sizeof out, "t%d", i + 1);
    return ln_op_create_from_proto(&proto, name, ln_tensor_list_append(NULL, "src", in),
                                   ln_tensor_list_append(NULL, "dst", out), NULL, NULL);
}

START_TEST(long_chain_builds_in_time_that_grows_with_its_length)
{
    // Every second operator first: all tensors dangle, then none does. A quadratic step anywhere
    // would exceed the test's time limit.
    enum { LEN = 50000 };
    ln_op **ops = ln_alloc_array(LEN, sizeof *ops);
    ln_dfg *dfg = ln_dfg_create();
    for (int i = 0; i < LEN; i++)
        ops[i] = new_link(i);
    for (int i = 0; i < LEN; i += 2)
        ck_assert_int_eq(ln_dfg_add(dfg, ops[i]), 0);
    for (int i = 1; i < LEN; i += 2)
        ck_assert_int_eq(ln_dfg_add(dfg, ops[i]), 0);
    ck_assert_int_eq(ln_list_length(dfg->dangling_ins), 1);
    ck_assert_int_eq(ln_list_length(dfg->dangling_outs), 1);
    ck_assert(ln_dfg_is_valid(dfg));
    for (int i = 0; i < LEN; i++)
        ln_dfg_remove(dfg, ops[i]);
    ck_assert_uint_eq(dfg->graph->size, 0);
    for (int i = 0; i < LEN; i++)
        ln_op_free_lists_too(ops[i]);
    ln_free(ops);
    ln_dfg_free(dfg);
}
END_TEST

START_TEST(thousands_of_readers_leave_a_tensor_in_any_order)
{
    // Newest first, which is the longest way through a list; as above, the time limit tells.
    enum { LEN = 50000 };
    ln_op **ops = ln_alloc_array(LEN, sizeof *ops);
    ln_dfg *dfg = ln_dfg_create();
    ln_op *producer = new_op("producer", "", "x");
    ln_dfg_add(dfg, producer);
    for (int i = 0; i < LEN; i++) {
        char name[32];
        snprintf(name, sizeof name, "op%d", i);
        ops[i] = new_op(name, "x", "");
        ck_assert_int_eq(ln_dfg_add(dfg, ops[i]), 0);
    }
    for (int i = LEN; i-- > 0;) {
        ck_assert_int_eq(ln_dfg_num_readers(dfg, "x"), i + 1);
        ck_assert_ptr_eq(ln_dfg_prev(dfg, ops[i], "x"), producer);
        ln_dfg_remove(dfg, ops[i]);
    }
    ck_assert_uint_eq(dfg->graph->size, 1);
    ck_assert(ln_dfg_is_valid(dfg));
    for (int i = 0; i < LEN; i++)
        ln_op_free_lists_too(ops[i]);
    ln_op_free_lists_too(producer);
    ln_free(ops);
    ln_dfg_free(dfg);
}
END_TEST

START_TEST(every_failing_allocation_is_survived)
{
    ln_dfg *dfg = new_diamond();
    char *before = print(dfg);
    ln_op *op = new_op("new", "zzq", "vw"), *reader = new_op("reader", "v", "");
    ln_bool failed = LN_TRUE;
    for (int n = 0; failed; n++) {
        ln_dfg_add(dfg, reader);
        ln_alloc_fail_after(n);
        const int rc = ln_dfg_add(dfg, op);
        failed = ln_alloc_fail_stop();
        ck_assert_int_eq(rc, failed ? -1 : 0);
        ck_assert(ln_dfg_is_valid(dfg));
        ln_dfg_remove(dfg, op);
        ln_dfg_remove(dfg, reader);
        assert_print(dfg, before);
    }
    failed = LN_TRUE;
    for (int n = 0; failed; n++) {
        ln_alloc_fail_after(n);
        ln_dfg *empty = ln_dfg_create();
        failed = ln_alloc_fail_stop();
        ck_assert_int_eq(!empty, failed);
        ln_dfg_free(empty);
    }
    free(before);
    free_diamond(dfg);
    ln_op_free_lists_too(op);
    ln_op_free_lists_too(reader);
}
END_TEST

LN_TEST_MAIN("data flow graph", operators_are_linked_as_they_are_added,
             order_of_adding_makes_no_difference_to_edges, nexts_are_all_readers_each_once,
             removed_operator_leaves_its_readers_dangling,
             lists_that_change_after_adding_do_not_confuse_removal,
             edges_are_unlinked_and_linked_by_hand,
             second_writer_or_name_is_an_error_and_changes_nothing, cycles_are_errors,
             long_chain_builds_in_time_that_grows_with_its_length,
             thousands_of_readers_leave_a_tensor_in_any_order, every_failing_allocation_is_survived)
