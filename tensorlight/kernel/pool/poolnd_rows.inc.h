// SPDX-License-Identifier: Apache-2.0
// A template of poolnd_simd.c: the max or sums of a block of rows, with the words of
//
//     PASS(name)                   the name of a function: max_name, sum_name
//     A, V, LANES                  a column, a vector of them, and its number of these
//     EMPTY, FIRST                 what joins nothing: a column, a vector
//     JOIN(new, old)               of vectors
//     LOAD, STORE, EVENS, ODDS     of columns; those at even and odd positions in two vectors
//     FROM(p), FROM_SOME(p, n)     LANES floats as columns; n < LANES
//     RESULT(v, columns, row)      of columns, with the factors at `columns` and of the row
//     WRITE(p, v)                  LANES results, as floats

// Computes `count` vectors of columns from element `at` of the rows on: they are adjacent, but the
// last one is at `last`.
TL_INLINE void PASS(vectors)(const pool_rows *rows, ptrdiff_t at, ptrdiff_t last, V *v,
                             const int count)
{
    const int n = rows->n;
    TL_UNROLL
    for (int k = 0; k < count; k++)
        v[k] = FIRST;
    for (int r = 0; r < n; r++) {
        const float *const from = rows->src[r] + at;
        TL_UNROLL
        for (int k = 0; k < count; k++)
            v[k] = JOIN(FROM(from + (k == count - 1 ? last : k * LANES)), v[k]);
    }
}

// The same where only `n` columns, fewer than the vectors have, are inside src.
static POOL_APART void PASS(some)(const pool_rows *rows, ptrdiff_t at, int n, V *v, int count)
{
    for (int k = 0; k < count; k++) {
        const int left = tl_min(n - k * LANES, LANES);
        v[k] = FIRST;
        for (int r = 0; r < rows->n && left > 0; r++) {
            const float *const from = rows->src[r] + at + k * LANES;
            v[k] = JOIN(left == LANES ? FROM(from) : FROM_SOME(from, (size_t)left), v[k]);
        }
    }
}

// Stores `count` vectors, the last one at `last`.
TL_INLINE void PASS(adjacent)(const pool_rows *rows, ptrdiff_t at, int last, A *columns,
                              const int count)
{
    V v[4];
    PASS(vectors)(rows, at, last, v, count);
    TL_UNROLL
    for (int k = 0; k < count; k++)
        STORE(columns + (k == count - 1 ? last : k * LANES), v[k]);
}

// Computes `len` adjacent columns. The last vector overlaps the one before.
static POOL_APART void PASS(row_of_1)(const pool_rows *rows, ptrdiff_t at, A *columns, int len)
{
    for (int x = 0; x < len; x += 4 * LANES) {
        const int left = tl_min(len - x, 4 * LANES), last = left - LANES;
        if (left > 3 * LANES)
            PASS(adjacent)(rows, at + x, last, columns + x, 4);
        else if (left > 2 * LANES)
            PASS(adjacent)(rows, at + x, last, columns + x, 3);
        else if (left > LANES)
            PASS(adjacent)(rows, at + x, last, columns + x, 2);
        else
            PASS(adjacent)(rows, at + x, last, columns + x, 1);
    }
}

// Stores vectors of each of `phases` phases: 2 or 4 adjacent vectors from column `x` on.
TL_INLINE void PASS(deal)(const pool_part *part, const V *v, A *columns, int x, const int phases)
{
    const V even = EVENS(v[0], v[1]), odd = ODDS(v[0], v[1]);
    if (phases == 2) {
        STORE(columns + phase_of(part, x), even);
        STORE(columns + phase_of(part, x + 1), odd);
        return;
    }
    const V more_even = EVENS(v[2], v[3]), more_odd = ODDS(v[2], v[3]);
    STORE(columns + phase_of(part, x), EVENS(even, more_even));
    STORE(columns + phase_of(part, x + 1), EVENS(odd, more_odd));
    STORE(columns + phase_of(part, x + 2), ODDS(even, more_even));
    STORE(columns + phase_of(part, x + 3), ODDS(odd, more_odd));
}

// Computes the columns begin .. end-1 in phases.
TL_INLINE void PASS(row_of)(const pool_part *part, const pool_rows *rows, ptrdiff_t at, A *columns,
                            const int phases)
{
    const int len = part->end - part->begin, step = phases * LANES;
    V v[4];
    for (int k = 0; k < len && len >= step; k += step) {
        const int x = tl_min(k, len - step);
        PASS(vectors)(rows, at + x, step - LANES, v, phases);
        PASS(deal)(part, v, columns, part->begin + x, phases);
    }
    if (len < step) {
        PASS(some)(rows, at, len, v, phases);
        PASS(deal)(part, v, columns, part->begin, phases);
    }
}

// Sets the columns of phases that are outside of src.
static POOL_APART void PASS(pad)(const pool_part *part, A *columns)
{
    for (int x = 0; x < part->columns; x++) {
        if (x == part->begin)
            x = part->end;
        if (x < part->columns)
            columns[phase_of(part, x)] = EMPTY;
    }
}

// Computes adjacent columns, and those outside of src, in vectors that are overwritten from
// part->begin on and have room behind part->columns.
TL_INLINE void PASS(padded_row)(const pool_part *part, const pool_rows *rows, ptrdiff_t at,
                                A *columns)
{
    const int n = part->end - part->begin;
    for (int x = 0; x < part->begin; x += LANES)
        STORE(columns + x, FIRST);
    if (n >= LANES)
        PASS(row_of_1)(rows, at, columns + part->begin, n);
    else {
        V v;
        PASS(some)(rows, at, n, &v, 1);
        STORE(columns + part->begin, v);
    }
    for (int x = part->end; x < part->columns; x += LANES)
        STORE(columns + x, FIRST);
}

// Computes the columns for each row of results.
static void PASS(down)(const pool_part *part, const pool_rows *rows, A *columns)
{
    const int is_padded = part->end - part->begin < part->columns;
    for (int y = 0; y < rows->count; y++, columns += part->pitch) {
        const ptrdiff_t at = y * rows->step;
        if (part->phases == 1)
            PASS(padded_row)(part, rows, at, columns);
        else if (part->phases == 2)
            PASS(row_of)(part, rows, at, columns, 2);
        else
            PASS(row_of)(part, rows, at, columns, 4);
        if (part->phases > 1 && is_padded)
            PASS(pad)(part, columns);
    }
}

// A vector of the first `n` of the columns which are `step` apart.
TL_INLINE V PASS(load)(const A *columns, const int step, int n)
{
    if (step == 1)
        return LOAD(columns);
    A lanes[LANES] = {0};
    for (int k = 0; k < n; k++)
        lanes[k] = columns[(ptrdiff_t)k * step];
    return LOAD(lanes);
}

// Computes `count` vectors of results from `x` on, of which the last one is at `last`. `row` is
// their factor.
TL_INLINE void PASS(results)(const pool_part *part, const A *columns, const pool_factors *factors,
                             double row, int x, int last, float *dst, const int count,
                             const int step)
{
    const int size = part->size, n = tl_min(part->width, LANES);
    V v[4];
    columns += (ptrdiff_t)x * step;
    TL_UNROLL
    for (int k = 0; k < count; k++)
        v[k] = PASS(load)(columns + (ptrdiff_t)(k == count - 1 ? last : k * LANES) * step, step, n);
    for (int j = 1; j < size; j++) {
        const A *const from = columns + part->taps[j];
        TL_UNROLL
        for (int k = 0; k < count; k++)
            v[k] = JOIN(
                PASS(load)(from + (ptrdiff_t)(k == count - 1 ? last : k * LANES) * step, step, n),
                v[k]);
    }
    TL_UNROLL
    for (int k = 0; k < count; k++) {
        const int at = x + (k == count - 1 ? last : k * LANES);
        WRITE(dst + at, RESULT(v[k], factors->columns + at, row));
    }
    (void)factors;
    (void)row;
}

// Computes a row of results: at least a vector. The last vector overlaps the one before.
static POOL_APART void PASS(across)(const pool_part *part, const A *columns,
                                    const pool_factors *factors, double row, float *dst)
{
    const int width = part->width, n = tl_min(width, LANES);
    for (int x = 0; x < width; x += 4 * LANES) {
        const int left = tl_min(width - x, 4 * LANES), last = left - n;
        if (left > 3 * LANES)
            PASS(results)(part, columns, factors, row, x, last, dst, 4, 1);
        else if (left > 2 * LANES)
            PASS(results)(part, columns, factors, row, x, last, dst, 3, 1);
        else if (left > LANES)
            PASS(results)(part, columns, factors, row, x, last, dst, 2, 1);
        else
            PASS(results)(part, columns, factors, row, x, last, dst, 1, 1);
    }
}

// The same with columns that are not adjacent.
static POOL_APART void PASS(across_steps)(const pool_part *part, const A *columns,
                                          const pool_factors *factors, double row, float *dst)
{
    const int n = tl_min(part->width, LANES);
    for (int x = 0; x < part->width; x += LANES) {
        const int at = tl_min(x, part->width - n);
        PASS(results)(part, columns, factors, row, at, 0, dst, 1, part->step);
    }
}

// Computes the part's results in `count` rows from `y` on, up to part->height. dst has room for
// `room` elements.
static void PASS(block)(const tl_poolnd_job *job, const pool_part *part, const pool_planes *planes,
                        int y, int count, const pool_factors *factors, float *dst, size_t room)
{
    _Alignas(64) A columns[ROOM];
    const int width = part->width, step = job->axes.out[job->axes.windows.n - 1];
    pool_rows rows;
    for (int k = 0; k < count; k += rows.count) {
        find_rows(job, part, planes, y + k, count - k, &rows);
        PASS(down)(part, &rows, columns + (ptrdiff_t)k * part->pitch);
    }
    for (int k = 0; k < count; k++, dst += step, room -= (size_t)step) {
        const A *const from = columns + (ptrdiff_t)k * part->pitch;
        float some[LANES];
        // What a vector writes behind a narrow row is overwritten by the rows below.
        const int has_room = width >= LANES || (part->is_whole && room >= LANES);
        const double row = factors ? factors->rows[k] : 0;
        (part->step == 1 ? PASS(across) : PASS(across_steps))(part, from, factors, row,
                                                              has_room ? dst : some);
        if (!has_room)
            memcpy(dst, some, (size_t)width * sizeof(*dst));
    }
}

#undef PASS
#undef A
#undef V
#undef LANES
#undef EMPTY
#undef FIRST
#undef JOIN
#undef LOAD
#undef STORE
#undef EVENS
#undef ODDS
#undef FROM
#undef FROM_SOME
#undef RESULT
#undef WRITE
