// SPDX-License-Identifier: Apache-2.0
// Classes: their names, and the best ones of an output.

#include "output/cli_labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"
#include "output/cli_compare.h"
#include "output/cli_msg.h"

int cli_labels_split(cli_labels *names, char *text)
{
    *names = (cli_labels){.text = text};
    char *rest = text;
    while (rest && *rest) {
        char *line = strsep(&rest, "\n");
        char **lines = realloc(names->lines, (size_t)(names->n + 1) * sizeof(*lines));
        if (!lines)
            return cli_fail_memory();
        line[strcspn(line, "\r")] = '\0';
        names->lines = lines;
        names->lines[names->n++] = line;
    }
    return 0;
}

int cli_labels_read(const char *file, cli_labels *names)
{
    memset(names, 0, sizeof(*names));
    if (!file)
        return 0;
    char *const text = ln_read_text(file);
    return text ? cli_labels_split(names, text) : cli_fail("%s", ln_last_error());
}

const char *cli_labels_name(const cli_labels *names, int n_classes, int i)
{
    if (names->must_fit && names->n == n_classes - 1)
        i--;
    else if (names->must_fit && names->n != n_classes)
        return NULL;
    return i >= 0 && i < names->n ? names->lines[i] : NULL;
}

void cli_labels_free(cli_labels *names)
{
    ln_free(names->text);
    free(names->lines);
}

int cli_output_classes(const tl_tensor *t)
{
    int axis = t->ndim - 1;
    while (axis > 1 && t->dims[axis] == 1)
        axis--;
    return t->ndim ? t->dims[axis] : 1;
}

// The largest first, of equal ones the one with the lowest index; NaN last.
static int by_rank(const void *a, const void *b)
{
    const cli_ranked *x = a, *y = b;
    if (isnan(x->value) != isnan(y->value))
        return isnan(x->value) ? 1 : -1;
    if (x->value > y->value || x->value < y->value)
        return x->value > y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void cli_output_rank(cli_ranked *ranks, const tl_tensor *t, int row, int len)
{
    for (int i = 0; i < len; i++)
        ranks[i] = (cli_ranked){.value = cli_element(t, row * len + i), .index = i};
    qsort(ranks, (size_t)len, sizeof(*ranks), by_rank);
}
