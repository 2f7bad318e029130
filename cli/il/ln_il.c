// SPDX-License-Identifier: Apache-2.0
// The intermediate language: reading it as a whole.

#include "il/ln_il.h"

#include <ctype.h>
#include <string.h>

#include "base/ln_beneath.h"
#include "base/ln_il_look.h"
#include "base/ln_name.h"
#include "lightnet/ln_util.h"

// Whether the data begins like text, but not like JSON.
static int may_be_il(const unsigned char *data, size_t size)
{
    size_t i = size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (i < size && isspace(data[i]))
        i++;
    return i == size || (isprint(data[i]) && !strchr("{[", data[i]));
}

int ln_il_is_named(const char *name)
{
    return ln_has_suffix(name, ".net") || ln_has_suffix(name, ".il");
}

int ln_il_is(const char *name, const void *data, size_t size)
{
    return ln_il_look(data, size) || (ln_il_is_named(name) && may_be_il(data, size));
}

char *ln_il_folder_of(const char *name)
{
    const size_t len = ln_beneath_folder_len(name);
    char *folder = ln_alloc(len + 1);
    return folder ? memcpy(folder, name, len) : NULL;
}

int ln_il_read(ln_il_model *m, const char *name, const void *data, size_t size,
               const ln_il_host *host, ln_error *err)
{
    ln_il_text text = {0}, values = {0};
    ln_list *names = NULL;
    const int rc =
        -(ln_il_preprocess(name, data, size, host, &text, &names, err) ||
          ln_il_eval_text(&text, &values, err) || ln_il_parse(m, name, &values, host, err));
    ln_il_text_free(&text);
    ln_il_text_free(&values);
    ln_il_names_free(names);
    return rc;
}

const char *ln_il_place_of(const void *model, const char *body, const char *key, size_t i)
{
    const ln_il_model *m = model;
    const json_t *program =
        body ? json_object_get(json_object_get(m->tree, "bodies"), body) : m->tree;
    const json_t *value = key ? json_object_get(program, key) : program;
    if (key && !strcmp(key, "ops"))
        value = json_array_get(value, i);
    return ln_hash_find(m->places, value);
}
