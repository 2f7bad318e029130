// SPDX-License-Identifier: Apache-2.0
// The main memory of a run.

#include "draw/cli_memory.h"

#include <stdlib.h>

#include "output/cli_msg.h"

// Times

static int count_operators(cli_memory *m, const ln_context *ctx)
{
    m->n_ops = ln_list_length(ctx->ops);
    m->before = calloc((size_t)m->n_ops + 2, sizeof(*m->before));
    if (!m->before)
        return -1;
    int time = 0;
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        m->before[++time] = m->n_run;
        m->n_run += op->run && !op->op_arg->at_load;
    }
    m->before[m->n_ops + 1] = m->n_run;
    return 0;
}

// Operators of a run before a time of the plan.
static int operators_before(const cli_memory *m, int time)
{
    return time <= 0 ? 0 : m->before[time <= m->n_ops ? time : m->n_ops + 1];
}

// Blocks

static int reserve(cli_memory *m)
{
    if (m->n < m->capacity)
        return 0;
    const int capacity = m->capacity ? 2 * m->capacity : 64;
    cli_block *const longer = realloc(m->blocks, (size_t)capacity * sizeof(*longer));
    if (!longer)
        return -1;
    m->blocks = longer;
    m->capacity = capacity;
    return 0;
}

static int is_of_run(const ln_memory_block *block)
{
    return block->mtype == LN_MEM_CPU && block->last >= 0 && !block->reuses && block->size;
}

static int add_block(void *data, const ln_memory_block *block)
{
    cli_memory *const m = data;
    if (!is_of_run(block))
        return 0;
    if (block->is_constant) {
        m->constants += block->size;
        return 0;
    }
    m->failed = reserve(m);
    if (m->failed)
        return -1;
    const int first = operators_before(m, block->first), end = operators_before(m, block->last + 1);
    m->blocks[m->n++] = (cli_block){*block, 0, first, end > first ? end - 1 : first};
    return 0;
}

static int by_offset(const void *a, const void *b)
{
    const size_t x = ((const cli_block *)a)->plan.offset, y = ((const cli_block *)b)->plan.offset;
    return x < y ? -1 : x > y;
}

// Moves blocks down over gaps between all of them.
static void pack(cli_memory *m)
{
    size_t end = 0, gaps = 0;
    if (m->n)
        qsort(m->blocks, (size_t)m->n, sizeof(*m->blocks), by_offset);
    for (cli_block *b = m->blocks; b < m->blocks + m->n; b++) {
        const size_t offset = b->plan.offset, after = offset + b->plan.size;
        gaps += offset > end ? offset - end : 0;
        end = after > end ? after : end;
        b->offset = offset - gaps;
    }
    m->size = end - gaps;
}

int cli_memory_list(cli_memory *m, const ln_context *ctx)
{
    ln_memory_total totals[LN_MEM_TYPE_SIZE];
    *m = (cli_memory){.n = 0};
    m->failed = count_operators(m, ctx);
    const int failed = m->failed || ln_context_memory_plan(ctx, add_block, m, totals);
    if (m->failed)
        return cli_fail_memory();
    if (failed)
        return cli_fail("%s: %s", ctx->source, ln_context_error(ctx));
    m->planned = totals[LN_MEM_CPU];
    pack(m);
    return 0;
}

void cli_memory_free(cli_memory *m)
{
    free(m->blocks);
    free(m->before);
}
