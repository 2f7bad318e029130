// SPDX-License-Identifier: Apache-2.0
// params: writing.

#include <inttypes.h>
#include <string.h>

#include "data/ln_params.h"
#include "lightnet/ln_outfile.h"
#include "tensorlight/tl_util.h"

/* What goes into a file. */
typedef struct content {
    int n;
    const char *const *names;
    const tl_tensor *const *tensors;
} content;

static void put(FILE *fp, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fputc((int)(value >> 8 * i & 0xff), fp);
}

static const ln_params_type *type_of(tl_dtype dtype)
{
    for (const ln_params_type *t = ln_params_types; t < ln_params_types + LN_PARAMS_NUM_TYPES; t++)
        if (t->dtype == dtype)
            return t;
    return NULL;
}

// Readers take one "arg:" or "aux:" away.
static void put_name(FILE *fp, const char *name)
{
    const char *prefix = strncmp(name, "arg:", 4) && strncmp(name, "aux:", 4) ? "" : "arg:";
    put(fp, strlen(prefix) + strlen(name), 8);
    fputs(prefix, fp);
    fputs(name, fp);
}

static void put_array(FILE *fp, const tl_tensor *t)
{
    const ln_params_type *type = type_of(t->dtype);
    const size_t size = tl_tensor_size(t);
    put(fp, LN_PARAMS_ARRAY, 8);
    put(fp, 0, 8);
    put(fp, 1, 4); // the CPU's
    put(fp, 0, 4);
    put(fp, (uint64_t)t->ndim, 4);
    put(fp, type->code, 1);
    put(fp, type->bits, 1);
    put(fp, 1, 2);
    for (int i = 0; i < t->ndim; i++)
        put(fp, (uint64_t)t->dims[i], 8);
    put(fp, size, 8);
    fwrite(t->data, 1, size, fp);
}

static int put_list(FILE *fp, const void *arg, ln_error *err)
{
    const content *c = arg;
    (void)err;
    put(fp, LN_PARAMS_LIST, 8);
    put(fp, 0, 8);
    put(fp, (uint64_t)c->n, 8);
    for (int i = 0; i < c->n; i++)
        put_name(fp, c->names[i]);
    put(fp, (uint64_t)c->n, 8);
    for (int i = 0; i < c->n; i++)
        put_array(fp, c->tensors[i]);
    return 0;
}

int ln_params_write(const char *file, int n, const char *const *names,
                    const tl_tensor *const *tensors, ln_error *err)
{
    const content c = {.n = n, .names = names, .tensors = tensors};
    for (int i = 0; i < n; i++)
        if (!type_of(tensors[i]->dtype))
            return ln_error_set(err, "%s: parameter '%s' is %s, which the format lacks", file,
                                names[i], tl_dtype_name(tensors[i]->dtype));
    return ln_outfile_write(file, put_list, &c, err);
}
