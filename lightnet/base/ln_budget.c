// SPDX-License-Identifier: Apache-2.0
// The limits of a call: counts the allocations of the calling thread while the budget is in use,
// and stops readers beyond a limit.
//
// Without an allocator that reports sizes, only explicitly counted memory counts.

#include "base/ln_budget.h"

#include <stdlib.h>

#ifdef LN_HAVE_USABLE_SIZE
#include <malloc.h>
#define USABLE_SIZE(ptr) malloc_usable_size(ptr)
enum { REPORTS_SIZES = 1 };
#else
#define USABLE_SIZE(ptr) ((size_t)0)
enum { REPORTS_SIZES = 0 };
#endif

static _Thread_local ln_budget *in_use;

ln_budget *ln_budget_use(ln_budget *budget)
{
    ln_budget *const before = in_use;
    in_use = budget;
    return before;
}

struct ln_slabs *ln_budget_slabs(void)
{
    return in_use ? in_use->slabs : NULL;
}

int ln_budget_is_over(void)
{
    return in_use && in_use->stop && in_use->stop(in_use->stop_data, NULL, 0) != LN_OK;
}

int ln_budget_check(ln_error *err)
{
    char reason[LN_MAXLINE];
    const ln_status status =
        in_use && in_use->stop ? in_use->stop(in_use->stop_data, reason, sizeof(reason)) : LN_OK;
    return status ? ln_error_set_as(err, status, "%s", reason) : 0;
}

static int counts(void)
{
    return in_use && in_use->limit;
}

// Memory of more bytes than `held` may be freed: it was allocated before the budget was in use.
void ln_budget_give(ln_budget *budget, size_t size)
{
    budget->held -= size < budget->held ? size : budget->held;
}

int ln_budget_knows_sizes(void)
{
    return REPORTS_SIZES;
}

int ln_budget_allows(size_t size)
{
    if (!counts() || (in_use->held <= in_use->limit && size <= in_use->limit - in_use->held))
        return 1;
    if (!in_use->rejected)
        in_use->rejected = size;
    return 0;
}

void *ln_budget_count(void *ptr)
{
    if (ptr && counts())
        in_use->held += USABLE_SIZE(ptr);
    return ptr;
}

void ln_budget_uncount(void *ptr)
{
    if (ptr && counts())
        ln_budget_give(in_use, USABLE_SIZE(ptr));
}
