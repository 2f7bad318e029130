// SPDX-License-Identifier: Apache-2.0
// Front ends: what reads the model formats beside the IR's own.

#include "ir/ln_front.h"

static ln_list *fronts;

int ln_front_register(const ln_front *front)
{
    ln_list *longer = ln_list_append(fronts, (void *)front);
    if (!longer)
        return -1;
    fronts = longer;
    return 0;
}

const ln_list *ln_front_list(void)
{
    return fronts;
}

const ln_front *ln_front_for(const unsigned char *data, size_t size)
{
    const ln_front *front;
    LN_LIST_FOREACH(front, fronts)
    {
        if (front->is(data, size))
            return front;
    }
    return NULL;
}

static const ln_front *find_reader_of_parts(const ln_infile *file)
{
    size_t size;
    const unsigned char *head = ln_infile_head(file, &size);
    const ln_front *front;
    LN_LIST_FOREACH(front, fronts)
    {
        if (front->reads_parts && front->is(head, size))
            return front;
    }
    return NULL;
}

int ln_front_of(ln_infile *file, const ln_front **front, ln_error *err)
{
    *front = file->data ? NULL : find_reader_of_parts(file);
    if (*front)
        return 0;
    if (ln_infile_load(file, err))
        return -1;
    *front = ln_front_for(file->data, file->size);
    return 0;
}

// After main, so that leak checkers see only real leaks.
__attribute__((destructor)) static void free_fronts(void)
{
    ln_list_free(fronts);
    fronts = NULL;
}
