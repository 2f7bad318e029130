// SPDX-License-Identifier: Apache-2.0
// The arrays of -i FILE.npz.

#include "input/cli_npz_inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/cli_given.h"
#include "input/cli_source.h"
#include "lightnet/ln_data.h"
#include "output/cli_guard.h"
#include "output/cli_msg.h"

// An existing file named *.npz.
static int is_npz(const char *file)
{
    return !strcmp(cli_guard_suffix(file), ".npz") && !cli_source_is_stream(file) &&
           !access(file, F_OK);
}

// The texts of -i while they are replaced.
typedef struct expansion {
    cli_strings inputs; // all
    cli_strings owned;  // of these, allocated ones
} expansion;

static int add_array(expansion *e, const char *name, const char *file, const char *array)
{
    char *text = NULL;
    if (asprintf(&text, "%s=%s:%s", name, file, array) < 0)
        return cli_fail_memory();
    if (cli_strings_add(&e->owned, text)) {
        free(text);
        return CLI_FAILED;
    }
    return cli_strings_add(&e->inputs, text);
}

static int add_all(expansion *e, const ln_npz *npz, const char *file)
{
    int status = ln_npz_count(npz) ? 0 : cli_fail("%s: the file has no arrays", file);
    for (int i = 0; i < ln_npz_count(npz) && !status; i++)
        status = add_array(e, ln_npz_name(npz, i), file, ln_npz_name(npz, i));
    return status;
}

static int add_named(expansion *e, const ln_npz *npz, const char *file, const char *name)
{
    const int n = ln_npz_count(npz);
    for (int i = 0; i < n; i++)
        if (n == 1 || !strcmp(ln_npz_name(npz, i), name))
            return add_array(e, name, file, ln_npz_name(npz, i));
    return n ? cli_fail("%s: no array '%s' among %d, the first is '%s'; use -i %s=%s:ARRAY", file,
                        name, n, ln_npz_name(npz, 0), name, file)
             : cli_fail("%s: the file has no arrays", file);
}

// Replaces one -i.
static int expand(expansion *e, const char *arg)
{
    char name[LN_MAX_NAME_LEN];
    ln_error err = {0};
    const char *const named = cli_given_split(arg, name), *const file = named ? named : arg;
    if (!is_npz(file))
        return cli_strings_add(&e->inputs, arg);
    ln_npz *npz = ln_npz_open(file, &err);
    const int status = !npz    ? cli_fail("%s", ln_error_text(&err))
                       : named ? add_named(e, npz, file, name)
                               : add_all(e, npz, file);
    ln_npz_close(npz);
    return status;
}

int cli_npz_expand(cli_options *opt)
{
    expansion e = {{0}};
    int status = 0;
    for (int i = 0; i < opt->inputs.n && !status; i++)
        status = expand(&e, opt->inputs.items[i]);
    free(opt->inputs.items);
    opt->inputs = e.inputs;
    opt->npz_inputs = e.owned;
    return status;
}

void cli_npz_free(cli_options *opt)
{
    for (int i = 0; i < opt->npz_inputs.n; i++)
        free((char *)opt->npz_inputs.items[i]);
    free(opt->npz_inputs.items);
    opt->npz_inputs = (cli_strings){0};
}
