// SPDX-License-Identifier: Apache-2.0
// The intermediate language: text that becomes the JSON IR, and JSON IR that becomes text.
//
//     ln_il_model m = {0};
//     const ln_il_host host = {.model = "nets/"};
//     if (!ln_il_read(&m, "nets/tiny.net", bytes, size, &host, &err))
//         ln_il_print(&m, "tiny.json", &err);
//     ln_il_model_free(&m);
//
// Nothing here knows an operator: what is read is translated, not checked.

#ifndef LN_IL_H
#define LN_IL_H

#include "il/ln_il_parse.h"
#include "il/ln_il_pre.h"

/** Whether the name is that of IL: it ends in .net or .il. */
int ln_il_is_named(const char *name);

/** Whether the tools read the bytes as IL: they look like it (base/ln_il_look.h), or the name is
 * that of IL and they do not begin as JSON does. */
int ln_il_is(const char *name, const void *data, size_t size);

/** The folder of a file, new (ln_free): "nets/" of "nets/tiny.net"; NULL: no memory. */
char *ln_il_folder_of(const char *name);

/** Translates `size` bytes of IL, which messages call `name`. -1 with a reason that names file and
 * line; the model is to be freed (ln_il_model_free) in any case. */
int ln_il_read(ln_il_model *m, const char *name, const void *data, size_t size,
               const ln_il_host *host, ln_error *err);

/** Returns new (ln_free): the model as the text of the JSON IR, as ln_context_print would write it;
 * NULL with a reason. */
char *ln_il_json(const ln_il_model *m, size_t *len, ln_error *err);

/** Writes that text to a file, which is replaced when all is written, or "-", standard output. -1
 * with a reason. */
int ln_il_print(const ln_il_model *m, const char *file, ln_error *err);

/** Where something of that text was written, as "FILE:LINE"; NULL: unknown. `model` is an
 * ln_il_model; the rest as for an ln_place_func (lightnet/ln_context.h). */
const char *ln_il_place_of(const void *model, const char *body, const char *key, size_t i);

#endif
