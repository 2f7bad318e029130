// SPDX-License-Identifier: Apache-2.0
// Reads the parameters of an operator from the JSON intermediate representation.

#include "front/json/ln_ir_reader.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "ir/ln_param_type.h"
#include "lightnet/ln_util.h"

// Parses a number, also "nan", "inf" or "-inf". 0: another value.
static int as_number(const json_t *json, double *number)
{
    static const struct {
        const char *text;
        double number;
    } specials[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
    if (json_is_number(json)) {
        *number = json_number_value(json);
        return 1;
    }
    for (size_t i = 0; json_is_string(json) && i < sizeof(specials) / sizeof(specials[0]); i++) {
        if (!strcmp(json_string_value(json), specials[i].text)) {
            *number = specials[i].number;
            return 1;
        }
    }
    return 0;
}

// The type in the prototype; LN_PARAM_INVALID if it lacks the parameter.
static ln_param_type declared_ptype(const ln_op_arg *proto, const char *arg_name)
{
    for (size_t i = 0; proto->param_arg_names && proto->param_arg_names[i]; i++)
        if (!strcmp(proto->param_arg_names[i], arg_name))
            return proto->param_ptypes ? proto->param_ptypes[i] : LN_PARAM_INVALID;
    return LN_PARAM_INVALID;
}

static ln_param_type scalar_ptype(const json_t *value)
{
    double number;
    switch (json_typeof(value)) {
    case JSON_NULL:
        return LN_PARAM_NULL;
    case JSON_TRUE:
    case JSON_FALSE:
        return LN_PARAM_BOOL;
    case JSON_STRING:
        return LN_PARAM_STRING;
    default:
        return as_number(value, &number) ? LN_PARAM_NUMBER : LN_PARAM_INVALID;
    }
}

// The type of an array's elements: that of the first; a number if the first is "nan", "inf" or
// "-inf" and a later one is a number.
static ln_param_type element_ptype(const json_t *array)
{
    const ln_param_type first = scalar_ptype(json_array_get(array, 0));
    double number;
    size_t i;
    const json_t *value;
    if (first != LN_PARAM_STRING || !as_number(json_array_get(array, 0), &number))
        return first;
    json_array_foreach (array, i, value)
        if (json_is_number(value))
            return LN_PARAM_NUMBER;
    return first;
}

// A parameter being read.
typedef struct param {
    const char *arg_name;
    const json_t *value;
    ln_param_entry *entry;
} param;

static int set_string(const ln_ir_reader *r, param *p)
{
    return ln_param_set_string(p->entry, json_string_value(p->value)) ? ln_ir_fail_last(r) : 0;
}

static int set_number(const ln_ir_reader *r, param *p)
{
    (void)r;
    double number = 0;
    as_number(p->value, &number);
    ln_param_set_satu_number(p->entry, number);
    return 0;
}

static int set_bool(const ln_ir_reader *r, param *p)
{
    (void)r;
    ln_param_set_bool(p->entry, json_is_true(p->value) ? LN_TRUE : LN_FALSE);
    return 0;
}

// How the elements of an array are read and set.
typedef struct array_kind {
    ln_param_type element;
    size_t size;
    int (*read)(const json_t *json, void *array, size_t i); // 0: another type
    int (*set)(ln_param_entry *entry, int len, const void *array);
} array_kind;

static int read_string(const json_t *json, void *array, size_t i)
{
    ((const char **)array)[i] = json_string_value(json);
    return json_is_string(json);
}

static int read_number(const json_t *json, void *array, size_t i)
{
    return as_number(json, &((double *)array)[i]);
}

static int read_bool(const json_t *json, void *array, size_t i)
{
    ((ln_bool *)array)[i] = json_is_true(json) ? LN_TRUE : LN_FALSE;
    return json_is_boolean(json);
}

static int set_strings(ln_param_entry *entry, int len, const void *array)
{
    return ln_param_set_array_string(entry, len, array);
}

static int set_numbers(ln_param_entry *entry, int len, const void *array)
{
    return ln_param_set_satu_array_number(entry, len, array);
}

static int set_bools(ln_param_entry *entry, int len, const void *array)
{
    return ln_param_set_array_bool(entry, len, array);
}

static const array_kind array_kinds[LN_PARAM_INVALID] = {
    [LN_PARAM_ARRAY_STRING] = {LN_PARAM_STRING, sizeof(char *), read_string, set_strings},
    [LN_PARAM_ARRAY_NUMBER] = {LN_PARAM_NUMBER, sizeof(double), read_number, set_numbers},
    [LN_PARAM_ARRAY_BOOL] = {LN_PARAM_BOOL, sizeof(ln_bool), read_bool, set_bools},
};

static int read_elements(const ln_ir_reader *r, const param *p, const array_kind *kind, void *array)
{
    size_t i;
    const json_t *json;
    json_array_foreach (p->value, i, json)
        if (!kind->read(json, array, i))
            return ln_ir_fail(r, "parameter '%s': element %zu is %s, expected %s", p->arg_name, i,
                              ln_json_describe(json), ln_param_type_text(kind->element));
    return 0;
}

static int set_array(const ln_ir_reader *r, param *p)
{
    const array_kind *kind = &array_kinds[p->entry->type];
    const size_t len = json_array_size(p->value);
    void *array = ln_alloc_array(len, kind->size);
    int rc = array ? read_elements(r, p, kind, array) : ln_ir_fail_last(r);
    if (!rc && kind->set(p->entry, (int)len, array))
        rc = ln_ir_fail_last(r);
    ln_free(array);
    return rc;
}

static int (*const setters[LN_PARAM_INVALID])(const ln_ir_reader *r, param *p) = {
    [LN_PARAM_STRING] = set_string,      [LN_PARAM_NUMBER] = set_number,
    [LN_PARAM_BOOL] = set_bool,          [LN_PARAM_ARRAY_STRING] = set_array,
    [LN_PARAM_ARRAY_NUMBER] = set_array, [LN_PARAM_ARRAY_BOOL] = set_array,
};

static ln_param_type array_ptype(const ln_ir_reader *r, const param *p)
{
    const size_t len = json_array_size(p->value);
    if (len == 0) {
        ln_ir_fail(r, "parameter '%s' is an empty array, expected at least one element",
                   p->arg_name);
        return LN_PARAM_INVALID;
    }
    if (len > INT_MAX) {
        ln_ir_fail(r, "parameter '%s' has %zu elements, expected at most %d", p->arg_name, len,
                   INT_MAX);
        return LN_PARAM_INVALID;
    }
    const ln_param_type element = element_ptype(p->value);
    for (int ptype = 0; ptype < LN_PARAM_INVALID; ptype++)
        if (array_kinds[ptype].read && array_kinds[ptype].element == element)
            return (ln_param_type)ptype;
    ln_ir_fail(r, "parameter '%s': element 0 is %s, expected a string, number or bool", p->arg_name,
               ln_json_describe(json_array_get(p->value, 0)));
    return LN_PARAM_INVALID;
}

// The type of the value itself; LN_PARAM_INVALID after a failure: no type fits.
static ln_param_type value_ptype(const ln_ir_reader *r, const param *p)
{
    if (json_is_array(p->value))
        return array_ptype(r, p);
    const ln_param_type ptype = scalar_ptype(p->value);
    if (ptype == LN_PARAM_INVALID)
        ln_ir_fail(r, "parameter '%s' is %s, expected a string, number, bool, null or array",
                   p->arg_name, ln_json_describe(p->value));
    return ptype;
}

// Whether a value of type `actual` can be read as `wanted`: "nan", "inf" and "-inf" as numbers.
static int can_be_read_as(const param *p, ln_param_type actual, ln_param_type wanted)
{
    double number;
    if (actual == wanted || actual == LN_PARAM_NULL)
        return 1;
    if (wanted == LN_PARAM_NUMBER)
        return as_number(p->value, &number);
    return wanted == LN_PARAM_ARRAY_NUMBER && actual == LN_PARAM_ARRAY_STRING &&
           as_number(json_array_get(p->value, 0), &number);
}

static int set_value(const ln_ir_reader *r, param *p, ln_param_type wanted)
{
    // An empty array has the prototype's type; its checks decide whether it may be empty.
    const int is_empty = json_is_array(p->value) && json_array_size(p->value) == 0;
    if (is_empty && wanted != LN_PARAM_INVALID && array_kinds[wanted].read) {
        p->entry = ln_param_entry_create(p->arg_name, wanted);
        return p->entry ? 0 : ln_ir_fail_last(r);
    }
    const ln_param_type actual = value_ptype(r, p);
    if (actual == LN_PARAM_INVALID)
        return -1;
    if (wanted == LN_PARAM_INVALID || actual == LN_PARAM_NULL)
        wanted = actual;
    if (!can_be_read_as(p, actual, wanted))
        return ln_ir_fail(r, "parameter '%s' is %s, expected %s", p->arg_name,
                          ln_param_type_text(actual), ln_param_type_text(wanted));
    p->entry = ln_param_entry_create(p->arg_name, wanted);
    if (!p->entry)
        return ln_ir_fail_last(r);
    return setters[wanted] ? setters[wanted](r, p) : 0;
}

static int read_param(const ln_ir_reader *r, const json_t *op, const ln_ir_element *e,
                      const ln_op_arg *proto, ln_param_entry **entry)
{
    static const char *const keys[] = {"arg_name", "value", NULL};
    const char *arg_name = ln_ir_get_name(r, e, "arg_name");
    if (!arg_name || ln_ir_take_arg_name(r, e, op, arg_name) || ln_ir_warn_of_unknown(r, e, keys))
        return -1;
    param p = {.arg_name = arg_name, .value = json_object_get(e->json, "value")};
    if (!p.value)
        return ln_ir_fail(r, "%s'value' is missing, expected the value of '%s'", e->label,
                          arg_name);
    if (set_value(r, &p, declared_ptype(proto, arg_name))) {
        ln_param_entry_free(p.entry);
        return -1;
    }
    *entry = p.entry;
    return 0;
}

int ln_ir_read_params(const ln_ir_reader *r, const json_t *op, const json_t *array,
                      const ln_op_arg *proto, ln_list **list)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        ln_ir_element e;
        ln_param_entry *entry = NULL;
        if (ln_ir_get_element(r, &e, array, "params", i) || read_param(r, op, &e, proto, &entry))
            return -1;
        if (ln_ir_push(r, list, entry)) {
            ln_param_entry_free(entry);
            return -1;
        }
    }
    *list = ln_list_reverse(*list);
    return 0;
}
