// SPDX-License-Identifier: Apache-2.0
// Several sets of shapes on the command line.

#include "cli_shape_sets.h"

#include <stdlib.h>
#include <string.h>

#include "cli_msg.h"
#include "cli_shape.h"

static int has_same_name(const char *a, const char *b)
{
    cli_shape x, y;
    return !cli_shape_read(&x, a) && !cli_shape_read(&y, b) && !strcmp(x.name, y.name);
}

// Which value of the set has the name; -1: none.
static int find(const cli_strings *set, const char *value)
{
    for (int i = 0; i < set->n; i++)
        if (has_same_name(set->items[i], value))
            return i;
    return -1;
}

// A copy of the set before, with room for `room` values. NULL: no memory.
static cli_strings *begin_set(cli_shape_sets *sets, int room)
{
    cli_strings *grown = realloc(sets->of, ((size_t)sets->n + 1) * sizeof(*grown));
    if (!grown)
        return NULL;
    sets->of = grown;
    cli_strings *set = &grown[sets->n];
    *set = (cli_strings){calloc((size_t)room + 1, sizeof(*set->items)), 0};
    if (!set->items)
        return NULL;
    for (; sets->n && set->n < set[-1].n; set->n++)
        set->items[set->n] = set[-1].items[set->n];
    sets->n++;
    return set;
}

static int divide(cli_shape_sets *sets, const cli_strings *shapes, char *is_given)
{
    cli_strings *set = begin_set(sets, shapes->n);
    for (int k = 0; k < shapes->n && set; k++) {
        int i = find(set, shapes->items[k]);
        if (i >= 0 && is_given[i]) {
            memset(is_given, 0, (size_t)shapes->n);
            set = begin_set(sets, shapes->n);
        }
        if (!set)
            break;
        i = i < 0 ? set->n++ : i;
        set->items[i] = shapes->items[k];
        is_given[i] = 1;
    }
    return set ? 0 : cli_fail_memory();
}

// Whether `b` begins with the values of `a`.
static int begins_with(const cli_strings *b, const cli_strings *a)
{
    int n = 0;
    while (n < a->n && n < b->n && !strcmp(a->items[n], b->items[n]))
        n++;
    return n == a->n;
}

static int check_same(const cli_shape_sets *sets)
{
    for (int k = 1; k < sets->n; k++)
        for (int i = 0; i < k; i++)
            if (begins_with(&sets->of[k], &sets->of[i]))
                return cli_usage("--shape gives programs %d and %d the same shapes: a NAME given "
                                 "again begins another program",
                                 i + 1, k + 1);
    return 0;
}

// Each set has the names of the one before, so the last has all of them.
static int check_missing(const cli_shape_sets *sets)
{
    cli_shape shape;
    const cli_strings *first = &sets->of[0], *last = &sets->of[sets->n - 1];
    if (first->n == last->n || cli_shape_read(&shape, last->items[first->n]))
        return 0;
    return cli_usage("--shape gives no '%s' to program 1, which begins before it; give what all "
                     "programs share first",
                     shape.name);
}

int cli_shape_sets_find(cli_shape_sets *sets, const cli_strings *shapes)
{
    char *is_given = calloc((size_t)shapes->n + 1, 1);
    *sets = (cli_shape_sets){0};
    const int status = is_given ? divide(sets, shapes, is_given) : cli_fail_memory();
    free(is_given);
    if (status)
        return status;
    return check_same(sets) || check_missing(sets) ? CLI_WRONG_USAGE : 0;
}

void cli_shape_sets_free(cli_shape_sets *sets)
{
    for (int i = 0; i < sets->n; i++)
        free(sets->of[i].items);
    free(sets->of);
}
