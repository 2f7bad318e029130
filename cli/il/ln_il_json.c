// SPDX-License-Identifier: Apache-2.0
// Writes a model as the text of the JSON IR, laid out as the library lays out its own.
//
// The caller checks for stream errors at the end.

#include <stdio.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "base/ln_number.h"
#include "base/ln_outtext.h"
#include "il/ln_il.h"

// The format's version, if the model does not specify it.
enum { VERSION = 1 };

// The stream that a model is written to.
typedef struct writer {
    FILE *fp;
    int has_failed; // no memory
} writer;

static void put_string(writer *w, const char *str)
{
    json_t *json = w->has_failed ? NULL : json_string(str);
    w->has_failed = !json || (json_dumpf(json, w->fp, JSON_ENCODE_ANY) && !ferror(w->fp));
    json_decref(json);
}

static void put_value(writer *w, const json_t *value);

static void put_array(writer *w, const json_t *array)
{
    size_t i;
    const json_t *element;
    fputc('[', w->fp);
    json_array_foreach (array, i, element) {
        fputs(i ? ", " : "", w->fp);
        put_value(w, element);
    }
    fputc(']', w->fp);
}

static void put_object(writer *w, const json_t *object)
{
    const char *key, *separator = "";
    json_t *value;
    fputc('{', w->fp);
    json_object_foreach ((json_t *)object, key, value) {
        fputs(separator, w->fp);
        separator = ", ";
        put_string(w, key);
        fputs(": ", w->fp);
        put_value(w, value);
    }
    fputc('}', w->fp);
}

static void put_value(writer *w, const json_t *value)
{
    char text[LN_NUMBER_SIZE];
    if (json_is_array(value))
        put_array(w, value);
    else if (json_is_object(value))
        put_object(w, value);
    else if (json_is_string(value))
        put_string(w, json_string_value(value));
    else if (json_is_real(value))
        fputs(ln_number_print(text, sizeof(text), json_real_value(value)), w->fp);
    else
        fputs(json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null", w->fp);
}

// One element per line, "[]" if empty.
static void put_lines(writer *w, int indent, const json_t *array,
                      void (*put)(writer *w, const json_t *element))
{
    size_t i;
    const json_t *element;
    fputc('[', w->fp);
    json_array_foreach (array, i, element) {
        fprintf(w->fp, "%s\n%*s", i ? "," : "", indent + 4, "");
        put(w, element);
    }
    if (json_array_size(array))
        fprintf(w->fp, "\n%*s", indent, "");
    fputc(']', w->fp);
}

static void put_op(writer *w, const json_t *op)
{
    static const struct {
        const char *key;
        int is_list;
    } members[] = {{"name", 0},   {"optype", 0},  {"tensors_in", 1}, {"tensors_out", 1},
                   {"params", 1}, {"scratch", 0}, {"nodes", 0}};
    fputc('{', w->fp);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const json_t *value = json_object_get(op, members[i].key);
        if (!value)
            continue;
        fprintf(w->fp, "%s\n            \"%s\": ", i ? "," : "", members[i].key);
        if (members[i].is_list)
            put_lines(w, 12, value, put_value);
        else
            put_value(w, value);
    }
    fputs("\n        }", w->fp);
}

static void put_key(writer *w, const char *key, const json_t *value)
{
    fputs("    ", w->fp);
    put_string(w, key);
    fputs(": ", w->fp);
    const json_t *const first = json_array_get(value, 0);
    if (json_is_object(first) || json_is_array(first))
        put_lines(w, 4, value, put_value);
    else
        put_value(w, value);
    fputs(",\n", w->fp);
}

// The keys of a program before its operators, in this order, then unknown ones.
static const char *const known[] = {"arch",        "mem_sizes", "threads", "node_count",
                                    "model_nodes", "fixed",     "inputs",  "outputs"};

static int is_in_order(const char *key)
{
    static const char *const apart[] = {"version", "bodies", "ops"};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (!strcmp(key, known[i]))
            return 1;
    for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++)
        if (!strcmp(key, apart[i]))
            return 1;
    return 0;
}

static void put_keys(writer *w, const json_t *program)
{
    const char *key;
    json_t *value;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if ((value = json_object_get(program, known[i])))
            put_key(w, known[i], value);
    json_object_foreach ((json_t *)program, key, value)
        if (!is_in_order(key))
            put_key(w, key, value);
}

static void put_bodies(writer *w, const json_t *bodies);

static void put_program(writer *w, const json_t *program)
{
    put_keys(w, program);
    put_bodies(w, json_object_get(program, "bodies"));
    fputs("    \"ops\": ", w->fp);
    put_lines(w, 4, json_object_get(program, "ops"), put_op);
}

static void put_bodies(writer *w, const json_t *bodies)
{
    const char *name, *separator = "    \"bodies\": {\n";
    json_t *body;
    json_object_foreach ((json_t *)bodies, name, body) {
        fprintf(w->fp, "%s    ", separator);
        separator = ",\n";
        put_string(w, name);
        fputs(": {\n", w->fp);
        put_program(w, body);
        fputs("\n    }", w->fp);
    }
    fputs(json_object_size(bodies) ? "},\n" : "", w->fp);
}

static int put_model(FILE *fp, const void *arg, ln_error *err)
{
    writer w = {.fp = fp};
    const ln_il_model *m = arg;
    const json_t *version = json_object_get(m->tree, "version");
    fputs("{\n", fp);
    if (version)
        put_key(&w, "version", version);
    else
        fprintf(fp, "    \"version\": %d,\n", VERSION);
    put_program(&w, m->tree);
    fputs("\n}\n", fp);
    return w.has_failed ? ln_error_memory(err) : 0;
}

char *ln_il_json(const ln_il_model *m, size_t *len, ln_error *err)
{
    return ln_outtext(put_model, m, len, err);
}

int ln_il_print(const ln_il_model *m, const char *file, ln_error *err)
{
    return ln_outfile_write_or_print(file, put_model, m, err);
}
