// SPDX-License-Identifier: Apache-2.0
// The known name that a misspelled one is closest to, for "did you mean" in messages.

#include <ctype.h>
#include <string.h>

#include "lightnet/ln_util.h"

// Longer names are not compared.
enum { LONGEST = 64 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Whether two letters are the same, up to their case.
static int is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

// How many letters to change, insert, delete or swap with the next to get from `a` to `b`, both at
// most LONGEST long. The three rows are the last ones of the matrix, rows[i % 3] for the first i
// letters of `a`. Source: optimal string alignment, after Wagner, Fischer: The string-to-string
// correction problem, 1974.
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST + 1];
    const size_t len_a = strlen(a), len_b = strlen(b);
    for (size_t j = 0; j <= len_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= len_a; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= len_b; j++) {
            row[j] = smaller(above[j - 1] + !is_same(a[i - 1], b[j - 1]),
                             smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]))
                row[j] = smaller(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[len_a % 3][len_b];
}

// Distances from here on mean another name.
static size_t limit(const char *name)
{
    return (strlen(name) + 1) / 3 + 1;
}

static size_t distance_or_limit(const char *name, const char *known)
{
    if (!known || strlen(known) > LONGEST)
        return limit(name);
    return distance(name, known);
}

const char *ln_closer_name(const char *name, const char *best, const char *known)
{
    if (strlen(name) > LONGEST)
        return NULL;
    const size_t most = smaller(limit(name), distance_or_limit(name, best));
    return distance_or_limit(name, known) < most ? known : best;
}
