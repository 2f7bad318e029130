// SPDX-License-Identifier: Apache-2.0
// A model with loops and branches that run as operators, when memory cannot be had.

#include <stdlib.h>

#include "base/ln_alloc_fail.h"
#include "base/ln_infile.h"
#include "lightnet/ln_context.h"
#include "ln_check.h"

// Reads, compiles, loads and runs it.
static int work(const char *model)
{
    static const float x[2][3];
    const unsigned char c = 0;
    const int64_t m = 2;
    ln_context *ctx = ln_context_create();
    if (!ctx)
        return -1;
    const int status = ln_context_init(ctx, model) || ln_context_compile(ctx, "cpu") ||
                       ln_context_load(ctx, NULL) || ln_context_set_data(ctx, "m", &m) ||
                       ln_context_set_data(ctx, "x", x) || ln_context_set_data(ctx, "c", &c) ||
                       ln_context_run(ctx);
    if (status)
        ck_assert_str_ne(ln_context_error(ctx), "");
    ln_context_free(ctx);
    return status ? -1 : 0;
}

START_TEST(every_allocation_may_fail)
{
    const char *model = getenv("LN_TEST_MODEL");
    int failed = 1, n = 0;
    ck_assert_ptr_nonnull(model);
    ck_assert_int_eq(work(model), 0);
    for (; failed; n += ln_check_step()) {
        ln_alloc_fail_after(n);
        const int status = work(model);
        failed = ln_alloc_fail_stop();
        // A hash table that cannot grow keeps its size; any other failure is an error.
        ck_assert_msg(failed || status == 0, "allocation %d", n);
    }
    ck_assert_int_gt(n, 1000);
}
END_TEST

LN_TEST_MAIN("onnx body", every_allocation_may_fail)
