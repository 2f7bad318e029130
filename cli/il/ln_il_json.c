// SPDX-License-Identifier: Apache-2.0
// Writes a model as the text of the JSON IR, laid out as the library lays out its own.
//
// Stream errors are looked at once, at the end.

#include <stdio.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "base/ln_number.h"
#include "base/ln_outtext.h"
#include "il/ln_il.h"

// The format's version, if the model does not specify it.
enum { VERSION = 1 };

// Every function returns 0, or -1: no memory.

static int put_string(FILE *fp, const char *str)
{
    json_t *json = json_string(str);
    const int rc = json && (!json_dumpf(json, fp, JSON_ENCODE_ANY) || ferror(fp)) ? 0 : -1;
    json_decref(json);
    return rc;
}

static int put_value(FILE *fp, const json_t *value);

static int put_array(FILE *fp, const json_t *array)
{
    size_t i;
    const json_t *element;
    fputc('[', fp);
    json_array_foreach (array, i, element) {
        fputs(i ? ", " : "", fp);
        if (put_value(fp, element))
            return -1;
    }
    fputc(']', fp);
    return 0;
}

static int put_object(FILE *fp, const json_t *object)
{
    const char *key, *separator = "";
    json_t *value;
    fputc('{', fp);
    json_object_foreach ((json_t *)object, key, value) {
        fputs(separator, fp);
        separator = ", ";
        if (put_string(fp, key) || fputs(": ", fp) == EOF || put_value(fp, value))
            return -1;
    }
    fputc('}', fp);
    return 0;
}

static int put_value(FILE *fp, const json_t *value)
{
    char text[LN_NUMBER_SIZE];
    switch (json_typeof(value)) {
    case JSON_ARRAY:
        return put_array(fp, value);
    case JSON_OBJECT:
        return put_object(fp, value);
    case JSON_STRING:
        return put_string(fp, json_string_value(value));
    case JSON_REAL:
        fputs(ln_number_print(text, sizeof(text), json_real_value(value)), fp);
        return 0;
    default:
        fputs(json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null", fp);
        return 0;
    }
}

// An element a line, "[]" when there is none.
static int put_lines(FILE *fp, int indent, const json_t *array,
                     int (*put)(FILE *fp, const json_t *element))
{
    size_t i;
    const json_t *element;
    fputc('[', fp);
    json_array_foreach (array, i, element) {
        fprintf(fp, "%s\n%*s", i ? "," : "", indent + 4, "");
        if (put(fp, element))
            return -1;
    }
    if (json_array_size(array))
        fprintf(fp, "\n%*s", indent, "");
    fputc(']', fp);
    return 0;
}

static int put_op(FILE *fp, const json_t *op)
{
    static const struct {
        const char *key;
        int is_list;
    } members[] = {{"name", 0},        {"optype", 0}, {"tensors_in", 1},
                   {"tensors_out", 1}, {"params", 1}, {"scratch", 0}};
    fputc('{', fp);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const json_t *value = json_object_get(op, members[i].key);
        if (!value)
            continue;
        fprintf(fp, "%s\n            \"%s\": ", i ? "," : "", members[i].key);
        if (members[i].is_list ? put_lines(fp, 12, value, put_value) : put_value(fp, value))
            return -1;
    }
    fputs("\n        }", fp);
    return 0;
}

static int put_key(FILE *fp, const char *key, const json_t *value)
{
    fputs("    ", fp);
    if (put_string(fp, key))
        return -1;
    fputs(": ", fp);
    const int is_list = json_is_array(value) && json_is_object(json_array_get(value, 0));
    const int rc = is_list ? put_lines(fp, 4, value, put_value) : put_value(fp, value);
    fputs(",\n", fp);
    return rc;
}

// The keys of a program before its operators, in this order, then unknown ones.
static const char *const known[] = {"arch", "mem_sizes", "threads", "fixed", "inputs", "outputs"};

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

static int put_keys(FILE *fp, const json_t *program)
{
    const char *key;
    json_t *value;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const json_t *there = json_object_get(program, known[i]);
        if (there && put_key(fp, known[i], there))
            return -1;
    }
    json_object_foreach ((json_t *)program, key, value)
        if (!is_in_order(key) && put_key(fp, key, value))
            return -1;
    return 0;
}

static int put_bodies(FILE *fp, const json_t *bodies);

static int put_program(FILE *fp, const json_t *program)
{
    if (put_keys(fp, program) || put_bodies(fp, json_object_get(program, "bodies")))
        return -1;
    fputs("    \"ops\": ", fp);
    return put_lines(fp, 4, json_object_get(program, "ops"), put_op);
}

static int put_bodies(FILE *fp, const json_t *bodies)
{
    const char *name, *separator = "    \"bodies\": {\n";
    json_t *body;
    json_object_foreach ((json_t *)bodies, name, body) {
        fprintf(fp, "%s    ", separator);
        separator = ",\n";
        if (put_string(fp, name))
            return -1;
        fputs(": {\n", fp);
        if (put_program(fp, body))
            return -1;
        fputs("\n    }", fp);
    }
    fputs(json_object_size(bodies) ? "},\n" : "", fp);
    return 0;
}

static int put_model(FILE *fp, const void *arg, ln_error *err)
{
    const ln_il_model *m = arg;
    const json_t *version = json_object_get(m->tree, "version");
    fputs("{\n", fp);
    if (!version)
        fprintf(fp, "    \"version\": %d,\n", VERSION);
    if ((version && put_key(fp, "version", version)) || put_program(fp, m->tree))
        return ln_error_memory(err);
    fputs("\n}\n", fp);
    return 0;
}

char *ln_il_json(const ln_il_model *m, size_t *len, ln_error *err)
{
    return ln_outtext(put_model, m, len, err);
}

int ln_il_print(const ln_il_model *m, const char *file, ln_error *err)
{
    return ln_outfile_write_or_print(file, put_model, m, err);
}
