// SPDX-License-Identifier: Apache-2.0
// Reads the JSON intermediate representation.
//
// The text becomes a tree (Jansson: strict, of limited depth, no key twice), and the tree is walked
// once. Every function below reads one kind of element, and fails with a message that says where
// (file, operator) and what; names that are looked up are borrowed from the tree, which outlives
// them.

#include "ir/ln_ir_json.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "ir/ln_json.h"
#include "lightnet/ln_arch.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_tensor.h"

/* The largest integer up to which a double holds every one. */
#define MAX_EXACT 9007199254740992.0

typedef struct reader {
    ln_context *ctx;
    const char *file;   /* its name in messages */
    size_t index;       /* of the operator being read */
    const char *opname; /* its name, NULL: not known yet */
    const char *optype; /* its type, NULL: not known yet */
    int in_op;          /* an operator is being read */
    int compiled;       /* the model has a memory plan */
    ln_hash *opnames;   /* operator names so far */
    ln_hash *scopes;    /* name -> the latest scope, an element of the tree, that has taken it */
    ln_hash *tensors;   /* tensor name -> the type of the operator that defines it */
    ln_hash *unknown;   /* keys that a warning was given for */
} reader;

/* What the reader makes, before it is handed to the context. */
typedef struct model {
    ln_list *ops, *inputs, *outputs;
    char *target;
    size_t mem_sizes[LN_MEM_TYPE_SIZE];
    int declared;
} model;

// "FILE", "FILE: ops[2]", "FILE: operator 'conv1'" or "FILE: operator 'conv1' (conv2d)".
static void print_place(const reader *r, char *buf, size_t size)
{
    if (!r->in_op)
        snprintf(buf, size, "%s", r->file);
    else if (!r->opname)
        snprintf(buf, size, "%s: ops[%zu]", r->file, r->index);
    else if (!r->optype)
        snprintf(buf, size, "%s: operator '%s'", r->file, r->opname);
    else
        snprintf(buf, size, "%s: operator '%s' (%s)", r->file, r->opname, r->optype);
}

static int LN_PRINTF(2, 3) fail(const reader *r, const char *fmt, ...)
{
    char place[LN_MAXLINE], reason[LN_MAXLINE];
    print_place(r, place, sizeof(place));
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    return ln_fail(r->ctx, "%s: %s", place, reason);
}

static int fail_last(const reader *r)
{
    return fail(r, "%s", ln_last_error());
}

/* ---- elements of JSON ---- */

/* What a key may hold, with its name in messages. */
typedef enum kind { A_STRING, A_NUMBER, AN_ARRAY, AN_OBJECT } kind;

static const char *const kind_names[] = {
    [A_STRING] = "a string",
    [A_NUMBER] = "a number",
    [AN_ARRAY] = "an array",
    [AN_OBJECT] = "an object",
};

static int is_kind(const json_t *json, kind wanted)
{
    return !strcmp(ln_json_describe(json), kind_names[wanted]);
}

/* An object of the tree with what it is called in messages: "", or "tensors_in[1]: ". */
typedef struct element {
    const json_t *json;
    char label[64];
} element;

// Element `i` of the array that `key` holds; NULL when it is not an object.
static int get_element(const reader *r, element *e, const json_t *array, const char *key, size_t i)
{
    e->json = json_array_get(array, i);
    if (!is_kind(e->json, AN_OBJECT))
        return fail(r, "%s[%zu] is %s, expected an object", key, i, ln_json_describe(e->json));
    snprintf(e->label, sizeof(e->label), "%s[%zu]: ", key, i);
    return 0;
}

// The value of a key, which must be there and be of that kind; NULL after a failure.
static const json_t *get(const reader *r, const element *e, const char *key, kind wanted)
{
    const json_t *value = json_object_get(e->json, key);
    if (!value) {
        fail(r, "%s'%s' is missing, expected %s", e->label, key, kind_names[wanted]);
        return NULL;
    }
    if (!is_kind(value, wanted)) {
        fail(r, "%s'%s' is %s, expected %s", e->label, key, ln_json_describe(value),
             kind_names[wanted]);
        return NULL;
    }
    return value;
}

// A string that can name something; NULL after a failure.
static const char *get_name(const reader *r, const element *e, const char *key)
{
    const json_t *value = get(r, e, key, A_STRING);
    if (!value)
        return NULL;
    const size_t len = json_string_length(value);
    if (len < 1 || len >= LN_MAX_NAME_LEN) {
        fail(r, "%s'%s' has %zu bytes, expected 1 to %d", e->label, key, len, LN_MAX_NAME_LEN - 1);
        return NULL;
    }
    return json_string_value(value);
}

static int get_size(const reader *r, const element *e, const char *key, size_t *size)
{
    const json_t *value = get(r, e, key, A_NUMBER);
    if (!value)
        return -1;
    const double number = json_number_value(value);
    if (!(number >= 0 && number <= MAX_EXACT && number == floor(number)))
        return fail(r, "%s'%s' is %.17g, expected a number of bytes", e->label, key, number);
    *size = (size_t)number;
    return 0;
}

static int is_listed(const char *str, const char *const *list)
{
    while (*list && strcmp(*list, str) != 0)
        list++;
    return *list != NULL;
}

// Warns of keys that are not in the NULL-terminated list, of each once per model.
static int warn_of_unknown(const reader *r, const element *e, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)e->json, key, value)
    {
        if (is_listed(key, known) || ln_hash_find(r->unknown, key))
            continue;
        if (ln_hash_insert(r->unknown, key, (void *)key) < 0)
            return fail_last(r);
        char place[LN_MAXLINE];
        print_place(r, place, sizeof(place));
        ln_warn(r->ctx, "%s: %sunknown key '%s'", place, e->label, key);
    }
    return 0;
}

// Takes a name for a scope: 1 when it is taken there already, -1 after a failure.
static int take_name(const reader *r, const json_t *scope, const char *name)
{
    if (ln_hash_find(r->scopes, name) == scope)
        return 1;
    return ln_hash_insert(r->scopes, name, (void *)scope) < 0 ? fail_last(r) : 0;
}

/* ---- parameters ---- */

/* How messages call the type of a parameter's value. */
static const char *const ptype_names[LN_PARAM_INVALID] = {
    [LN_PARAM_NULL] = "null",
    [LN_PARAM_STRING] = "a string",
    [LN_PARAM_NUMBER] = "a number",
    [LN_PARAM_BOOL] = "a bool",
    [LN_PARAM_ARRAY_STRING] = "an array of strings",
    [LN_PARAM_ARRAY_NUMBER] = "an array of numbers",
    [LN_PARAM_ARRAY_BOOL] = "an array of bools",
};

// A number, also one of the three that are written as strings. 0: it is none.
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

// The type that the prototype says, LN_PARAM_INVALID when it does not know the parameter.
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

// The type of an array's elements: the first one's, or a number when a later one is a number and
// the first can be read as one.
static ln_param_type element_ptype(const json_t *array)
{
    const ln_param_type first = scalar_ptype(json_array_get(array, 0));
    double number;
    size_t i;
    const json_t *value;
    if (first != LN_PARAM_STRING || !as_number(json_array_get(array, 0), &number))
        return first;
    json_array_foreach(array, i, value) if (json_is_number(value)) return LN_PARAM_NUMBER;
    return first;
}

/* A parameter being read. */
typedef struct param {
    const char *arg_name;
    const json_t *value;
    ln_param_entry *entry;
} param;

static int set_string(const reader *r, param *p)
{
    return ln_param_set_string(p->entry, json_string_value(p->value)) ? fail_last(r) : 0;
}

static int set_number(const reader *r, param *p)
{
    (void)r;
    double number = 0;
    as_number(p->value, &number);
    ln_param_set_satu_number(p->entry, number);
    return 0;
}

static int set_bool(const reader *r, param *p)
{
    (void)r;
    ln_param_set_bool(p->entry, json_is_true(p->value) ? LN_TRUE : LN_FALSE);
    return 0;
}

static int wrong_element(const reader *r, const param *p, size_t i, ln_param_type wanted)
{
    return fail(r, "parameter '%s': element %zu is %s, expected %s", p->arg_name, i,
                ln_json_describe(json_array_get(p->value, i)), ptype_names[wanted]);
}

static int set_array_string(const reader *r, param *p)
{
    const size_t len = json_array_size(p->value);
    const char **strings = ln_alloc_array(len, sizeof(*strings));
    int rc = strings ? 0 : fail_last(r);
    for (size_t i = 0; !rc && i < len; i++) {
        strings[i] = json_string_value(json_array_get(p->value, i));
        if (!strings[i])
            rc = wrong_element(r, p, i, LN_PARAM_STRING);
    }
    if (!rc && ln_param_set_array_string(p->entry, (int)len, strings))
        rc = fail_last(r);
    ln_free(strings);
    return rc;
}

static int set_array_number(const reader *r, param *p)
{
    const size_t len = json_array_size(p->value);
    double *numbers = ln_alloc_array(len, sizeof(*numbers));
    int rc = numbers ? 0 : fail_last(r);
    for (size_t i = 0; !rc && i < len; i++)
        if (!as_number(json_array_get(p->value, i), &numbers[i]))
            rc = wrong_element(r, p, i, LN_PARAM_NUMBER);
    if (!rc && ln_param_set_satu_array_number(p->entry, (int)len, numbers))
        rc = fail_last(r);
    ln_free(numbers);
    return rc;
}

static int set_array_bool(const reader *r, param *p)
{
    const size_t len = json_array_size(p->value);
    ln_bool *bools = ln_alloc_array(len, sizeof(*bools));
    int rc = bools ? 0 : fail_last(r);
    for (size_t i = 0; !rc && i < len; i++) {
        const json_t *value = json_array_get(p->value, i);
        bools[i] = json_is_true(value) ? LN_TRUE : LN_FALSE;
        if (!json_is_boolean(value))
            rc = wrong_element(r, p, i, LN_PARAM_BOOL);
    }
    if (!rc && ln_param_set_array_bool(p->entry, (int)len, bools))
        rc = fail_last(r);
    ln_free(bools);
    return rc;
}

static int (*const setters[LN_PARAM_INVALID])(const reader *r, param *p) = {
    [LN_PARAM_STRING] = set_string,
    [LN_PARAM_NUMBER] = set_number,
    [LN_PARAM_BOOL] = set_bool,
    [LN_PARAM_ARRAY_STRING] = set_array_string,
    [LN_PARAM_ARRAY_NUMBER] = set_array_number,
    [LN_PARAM_ARRAY_BOOL] = set_array_bool,
};

// The type of the value as it stands, LN_PARAM_INVALID after a failure: no type fits.
static ln_param_type value_ptype(const reader *r, const param *p)
{
    static const ln_param_type array_of[LN_PARAM_INVALID + 1] = {
        [LN_PARAM_NULL] = LN_PARAM_INVALID,         [LN_PARAM_STRING] = LN_PARAM_ARRAY_STRING,
        [LN_PARAM_NUMBER] = LN_PARAM_ARRAY_NUMBER,  [LN_PARAM_BOOL] = LN_PARAM_ARRAY_BOOL,
        [LN_PARAM_ARRAY_STRING] = LN_PARAM_INVALID, [LN_PARAM_ARRAY_NUMBER] = LN_PARAM_INVALID,
        [LN_PARAM_ARRAY_BOOL] = LN_PARAM_INVALID,   [LN_PARAM_INVALID] = LN_PARAM_INVALID,
    };
    ln_param_type ptype = LN_PARAM_INVALID;
    if (!json_is_array(p->value)) {
        ptype = scalar_ptype(p->value);
        if (ptype == LN_PARAM_INVALID)
            fail(r, "parameter '%s' is %s, expected a string, number, bool, null or array",
                 p->arg_name, ln_json_describe(p->value));
    } else if (json_array_size(p->value) == 0) {
        fail(r, "parameter '%s' is an empty array, expected at least one element", p->arg_name);
    } else if (json_array_size(p->value) > INT_MAX) {
        fail(r, "parameter '%s' has %zu elements, expected at most %d", p->arg_name,
             json_array_size(p->value), INT_MAX);
    } else {
        ptype = array_of[element_ptype(p->value)];
        if (ptype == LN_PARAM_INVALID)
            fail(r, "parameter '%s': element 0 is %s, expected a string, number or bool",
                 p->arg_name, ln_json_describe(json_array_get(p->value, 0)));
    }
    return ptype;
}

// Strings that may be numbers are numbers where the prototype wants these.
static int is_ptype_as(const param *p, ln_param_type there, ln_param_type wanted)
{
    double number;
    if (there == wanted || there == LN_PARAM_NULL)
        return 1;
    if (wanted == LN_PARAM_NUMBER)
        return as_number(p->value, &number);
    return wanted == LN_PARAM_ARRAY_NUMBER && there == LN_PARAM_ARRAY_STRING &&
           as_number(json_array_get(p->value, 0), &number);
}

// An empty array has the type that the prototype says; whether it may be empty, its checks tell.
static int is_empty_array_of(const param *p, ln_param_type wanted)
{
    return json_is_array(p->value) && json_array_size(p->value) == 0 &&
           (wanted == LN_PARAM_ARRAY_STRING || wanted == LN_PARAM_ARRAY_NUMBER ||
            wanted == LN_PARAM_ARRAY_BOOL);
}

static int set_value(const reader *r, param *p, ln_param_type wanted)
{
    if (is_empty_array_of(p, wanted)) {
        p->entry = ln_param_entry_create(p->arg_name, wanted);
        return p->entry ? 0 : fail_last(r);
    }
    const ln_param_type there = value_ptype(r, p);
    if (there == LN_PARAM_INVALID)
        return -1;
    if (wanted == LN_PARAM_INVALID || there == LN_PARAM_NULL)
        wanted = there;
    if (!is_ptype_as(p, there, wanted))
        return fail(r, "parameter '%s' is %s, expected %s", p->arg_name, ptype_names[there],
                    ptype_names[wanted]);
    p->entry = ln_param_entry_create(p->arg_name, wanted);
    if (!p->entry)
        return fail_last(r);
    return setters[wanted] ? setters[wanted](r, p) : 0;
}

static int check_arg_name(const reader *r, const element *e, const json_t *op, const char *arg_name)
{
    const int taken = take_name(r, op, arg_name);
    if (taken > 0)
        return fail(r, "%s'arg_name' '%s' is taken, expected one that is unique in the operator",
                    e->label, arg_name);
    return taken;
}

static int read_param(const reader *r, const json_t *op, const element *e, const ln_op_arg *proto,
                      ln_param_entry **entry)
{
    static const char *const keys[] = {"arg_name", "value", NULL};
    const char *arg_name = get_name(r, e, "arg_name");
    if (!arg_name || check_arg_name(r, e, op, arg_name) || warn_of_unknown(r, e, keys))
        return -1;
    param p = {.arg_name = arg_name, .value = json_object_get(e->json, "value")};
    if (!p.value)
        return fail(r, "%s'value' is missing, expected the value of '%s'", e->label, arg_name);
    if (set_value(r, &p, declared_ptype(proto, arg_name))) {
        ln_param_entry_free(p.entry);
        return -1;
    }
    *entry = p.entry;
    return 0;
}

/* ---- lists: built from the front, then reversed, so that each element costs the same ---- */

static int push(const reader *r, ln_list **list, void *data)
{
    ln_list *longer = data ? ln_list_prepend(*list, data) : NULL;
    if (!longer)
        return fail_last(r);
    *list = longer;
    return 0;
}

static int read_params(const reader *r, const json_t *op, const json_t *array,
                       const ln_op_arg *proto, ln_list **list)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        element e;
        ln_param_entry *entry = NULL;
        if (get_element(r, &e, array, "params", i) || read_param(r, op, &e, proto, &entry))
            return -1;
        if (push(r, list, entry)) {
            ln_param_entry_free(entry);
            return -1;
        }
    }
    *list = ln_list_reverse(*list);
    return 0;
}

/* ---- tensors ---- */

static int use_tensor(const reader *r, const element *e, const char *name)
{
    if (!ln_hash_find(r->tensors, name))
        return fail(r, "%stensor '%s' is not defined, expected an output of an earlier operator",
                    e->label, name);
    return 0;
}

static int define_tensor(const reader *r, const element *e, const char *name)
{
    if (ln_hash_find(r->tensors, name))
        return fail(r, "%stensor '%s' is defined already, expected a new name", e->label, name);
    return ln_hash_insert(r->tensors, name, (void *)r->optype) < 0 ? fail_last(r) : 0;
}

static int read_tensor(const reader *r, const json_t *op, const element *e, int is_output,
                       ln_tensor_list_entry **entry)
{
    static const char *const keys[] = {"arg_name", "name", "offset", NULL};
    const char *arg_name = get_name(r, e, "arg_name");
    const char *name = arg_name ? get_name(r, e, "name") : NULL;
    size_t offset = 0;
    if (!name || check_arg_name(r, e, op, arg_name) || warn_of_unknown(r, e, keys))
        return -1;
    if (r->compiled && get_size(r, e, "offset", &offset))
        return -1;
    // An operator's own outputs are not there for its inputs: those were read before.
    if (is_output ? define_tensor(r, e, name) : use_tensor(r, e, name))
        return -1;
    *entry = ln_tensor_list_entry_create(arg_name, name);
    if (!*entry)
        return fail_last(r);
    (*entry)->offset = offset;
    return 0;
}

static int read_tensors(const reader *r, const json_t *op, const json_t *array, int is_output,
                        ln_list **list)
{
    const char *key = is_output ? "tensors_out" : "tensors_in";
    for (size_t i = 0; i < json_array_size(array); i++) {
        element e;
        ln_tensor_list_entry *entry = NULL;
        if (get_element(r, &e, array, key, i) || read_tensor(r, op, &e, is_output, &entry))
            return -1;
        if (push(r, list, entry)) {
            ln_tensor_list_entry_free(entry);
            return -1;
        }
    }
    *list = ln_list_reverse(*list);
    return 0;
}

/* ---- operators ---- */

// How many letters have to be changed, added or left out to make one name of the other; at most
// `limit` + 1. Source: Wagner, Fischer: The string-to-string correction problem, 1974.
static size_t edit_distance(const char *a, const char *b, size_t limit)
{
    size_t row[LN_MAX_NAME_LEN];
    const size_t n = strlen(b);
    if (n >= LN_MAX_NAME_LEN)
        return limit + 1;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; *a; a++, i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            const size_t change = diagonal + (*a != b[j - 1]);
            const size_t shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < shift ? change : shift;
        }
    }
    return row[n] <= limit ? row[n] : limit + 1;
}

// The known operator type that is most like the given one; NULL when none is like it.
static const char *closest_optype(const char *optype)
{
    const char *closest = NULL;
    size_t limit = strlen(optype) / 3 + 1;
    const ln_arch *arch;
    LN_LIST_FOREACH(arch, (ln_list *)ln_arch_list())
    {
        for (ln_op **op = arch->reg_ops; op && *op; op++) {
            const size_t distance = edit_distance(optype, (*op)->op_arg->optype, limit);
            if (distance < limit || (distance == limit && !closest)) {
                closest = (*op)->op_arg->optype;
                limit = distance;
            }
        }
    }
    return closest;
}

// NULL after a failure.
static const ln_op *find_proto(reader *r, const char *optype)
{
    // Without any architecture there is no table.
    const ln_op *proto =
        LN_ARCH.op_proto_table ? ln_hash_find(LN_ARCH.op_proto_table, optype) : NULL;
    if (proto)
        return proto;
    const char *closest = closest_optype(optype);
    if (closest)
        fail(r, "unknown optype '%s', did you mean '%s'?", optype, closest);
    else
        fail(r, "unknown optype '%s'", optype);
    return NULL;
}

static int read_opname(reader *r, const element *e)
{
    const char *name = get_name(r, e, "name");
    if (!name)
        return -1;
    if (ln_hash_find(r->opnames, name))
        return fail(r, "'name' '%s' is taken, expected one that is unique in the model", name);
    if (ln_hash_insert(r->opnames, name, (void *)name) < 0)
        return fail_last(r);
    r->opname = name;
    return 0;
}

static int read_scratch(const reader *r, const element *e, ln_op_arg *op_arg)
{
    static const char *const keys[] = {"size", "offset", NULL};
    element scratch = {.json = json_object_get(e->json, "scratch"), .label = "scratch: "};
    if (!r->compiled || !scratch.json)
        return 0;
    if (!get(r, e, "scratch", AN_OBJECT) || warn_of_unknown(r, &scratch, keys))
        return -1;
    return get_size(r, &scratch, "size", &op_arg->scratch_size) ||
                   get_size(r, &scratch, "offset", &op_arg->scratch_offset)
               ? -1
               : 0;
}

static ln_op *create_op(reader *r, const element *e, const ln_op *proto)
{
    ln_list *ins = NULL, *outs = NULL, *params = NULL;
    ln_op *op = NULL;
    const json_t *in_array = get(r, e, "tensors_in", AN_ARRAY);
    const json_t *out_array = in_array ? get(r, e, "tensors_out", AN_ARRAY) : NULL;
    const json_t *param_array = out_array ? get(r, e, "params", AN_ARRAY) : NULL;
    if (!param_array || read_tensors(r, e->json, in_array, 0, &ins) ||
        read_tensors(r, e->json, out_array, 1, &outs) ||
        read_params(r, e->json, param_array, proto->op_arg, &params))
        goto fail;
    op = ln_op_create_from_proto(proto, r->opname, ins, outs, params, r->ctx->tensor_table);
    if (!op) {
        fail_last(r);
        goto fail;
    }
    op->op_arg->ctx = r->ctx;
    return op;
fail:
    ln_tensor_list_free(ins);
    ln_tensor_list_free(outs);
    ln_param_list_free(params);
    return NULL;
}

// NULL after a failure.
static ln_op *read_op(reader *r, const element *e)
{
    static const char *const keys[] = {"name",   "optype",  "tensors_in", "tensors_out",
                                       "params", "scratch", NULL};
    if (read_opname(r, e))
        return NULL;
    const char *optype = get_name(r, e, "optype");
    const ln_op *proto = optype ? find_proto(r, optype) : NULL;
    r->optype = optype;
    if (!proto || warn_of_unknown(r, e, keys))
        return NULL;
    ln_op *op = create_op(r, e, proto);
    if (op && read_scratch(r, e, op->op_arg)) {
        ln_op_free_lists_too(op);
        return NULL;
    }
    return op;
}

static int read_ops(reader *r, const element *top, ln_list **ops)
{
    const json_t *array = get(r, top, "ops", AN_ARRAY);
    if (!array)
        return -1;
    for (r->index = 0; r->index < json_array_size(array); r->index++) {
        element e;
        if (get_element(r, &e, array, "ops", r->index))
            return -1;
        e.label[0] = '\0'; // the place in a message says it
        r->in_op = 1;
        r->opname = r->optype = NULL;
        ln_op *op = read_op(r, &e);
        if (!op)
            return -1;
        if (push(r, ops, op)) {
            ln_op_free_lists_too(op);
            return -1;
        }
        r->in_op = 0;
    }
    *ops = ln_list_reverse(*ops);
    return 0;
}

/* ---- the top ---- */

// The type's name in any target's form: create, create_cpu.
static int is_create(const char *optype)
{
    static const char *const makers[] = {"create", "source"};
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
        const size_t len = strlen(makers[i]);
        if (!strncmp(optype, makers[i], len) && (optype[len] == '\0' || optype[len] == '_'))
            return 1;
    }
    return 0;
}

static int check_interface_name(const reader *r, const json_t *array, size_t i, int is_input)
{
    const char *key = is_input ? "inputs" : "outputs";
    const char *name = json_string_value(json_array_get(array, i));
    if (!name)
        return fail(r, "%s[%zu] is %s, expected the name of a tensor", key, i,
                    ln_json_describe(json_array_get(array, i)));
    const char *optype = ln_hash_find(r->tensors, name);
    if (!optype)
        return fail(r, "%s[%zu] '%s' is not a tensor of the model", key, i, name);
    if (is_input && !is_create(optype))
        return fail(r, "%s[%zu] '%s' is an output of a '%s', expected one of a 'create' or a 'source'", key, i,
                    name, optype);
    const int taken = take_name(r, array, name);
    return taken > 0 ? fail(r, "%s[%zu] '%s' is listed already", key, i, name) : taken;
}

// The names that "inputs" or "outputs" lists, if the key is there.
static int read_interface(const reader *r, const element *top, int is_input, model *m)
{
    const char *key = is_input ? "inputs" : "outputs";
    ln_list **names = is_input ? &m->inputs : &m->outputs;
    if (!json_object_get(top->json, key))
        return 0;
    const json_t *array = get(r, top, key, AN_ARRAY);
    if (!array)
        return -1;
    m->declared |= is_input ? LN_DECLARES_INPUTS : LN_DECLARES_OUTPUTS;
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (check_interface_name(r, array, i, is_input))
            return -1;
        char *copy = ln_strdup(json_string_value(json_array_get(array, i)));
        if (push(r, names, copy)) {
            ln_free(copy);
            return -1;
        }
    }
    *names = ln_list_reverse(*names);
    return 0;
}

static int read_mem_sizes(const reader *r, const json_t *object, size_t *mem_sizes)
{
    const element e = {.json = object, .label = "mem_sizes: "};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        const int mtype = ln_mem_type_from_str(key);
        if (mtype < 0)
            return fail(r, "mem_sizes: unknown memory type '%s'", key);
        if (get_size(r, &e, key, &mem_sizes[mtype]))
            return -1;
    }
    return 0;
}

// What a compiled model has at its top.
static int read_plan(reader *r, const element *top, model *m)
{
    if (!json_object_get(top->json, "arch") && !json_object_get(top->json, "mem_sizes"))
        return 0;
    const char *arch = get_name(r, top, "arch");
    const json_t *mem_sizes = arch ? get(r, top, "mem_sizes", AN_OBJECT) : NULL;
    if (!mem_sizes || read_mem_sizes(r, mem_sizes, m->mem_sizes))
        return -1;
    r->compiled = 1;
    m->target = ln_strdup(arch);
    return m->target ? 0 : fail_last(r);
}

static int read_version(const reader *r, const element *top)
{
    if (!json_object_get(top->json, "version"))
        return 0;
    const json_t *value = get(r, top, "version", A_NUMBER);
    if (value && json_number_value(value) != LN_IR_VERSION)
        return fail(r, "'version' is %.17g, expected %d", json_number_value(value), LN_IR_VERSION);
    return value ? 0 : -1;
}

static int read_top(reader *r, const json_t *json, model *m)
{
    static const char *const keys[] = {"version",   "inputs", "outputs", "arch",
                                       "mem_sizes", "ops",    NULL};
    const element top = {.json = json};
    if (!is_kind(json, AN_OBJECT))
        return fail(r, "the model is %s, expected an object", ln_json_describe(json));
    return read_version(r, &top) || read_plan(r, &top, m) || warn_of_unknown(r, &top, keys) ||
                   read_ops(r, &top, &m->ops) || read_interface(r, &top, 1, m) ||
                   read_interface(r, &top, 0, m)
               ? -1
               : 0;
}

// NULL after a failure. Integers are read as doubles, which all numbers become.
static json_t *parse(const reader *r, const char *text, size_t len)
{
    json_error_t error;
    if (!len) {
        fail(r, "the model is empty, expected JSON text");
        return NULL;
    }
    const char *nul = memchr(text, '\0', len);
    if (nul) {
        fail(r, "NUL byte at offset %td, expected JSON text", nul - text);
        return NULL;
    }
    json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    if (!json)
        ln_fail(r->ctx, "%s:%d:%d: JSON: %s", r->file, error.line, error.column, error.text);
    return json;
}

static int create_tables(reader *r)
{
    ln_hash **const tables[] = {&r->opnames, &r->scopes, &r->tensors, &r->unknown};
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        *tables[i] = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
        if (!*tables[i])
            return fail_last(r);
    }
    return 0;
}

static void free_tables(reader *r)
{
    ln_hash_free(r->opnames);
    ln_hash_free(r->scopes);
    ln_hash_free(r->tensors);
    ln_hash_free(r->unknown);
}

static void free_model(model *m)
{
    ln_op_list_free_lists_too(m->ops);
    ln_list_free_deep(m->inputs, ln_free);
    ln_list_free_deep(m->outputs, ln_free);
    ln_free(m->target);
}

static void hand_over(ln_context *ctx, const model *m, ln_list **ops)
{
    ctx->inputs = m->inputs;
    ctx->outputs = m->outputs;
    ctx->declared = m->declared;
    ctx->target = m->target;
    memcpy(ctx->mem_sizes, m->mem_sizes, sizeof(ctx->mem_sizes));
    *ops = m->ops;
}

int ln_ir_read(ln_context *ctx, const char *name, const char *text, size_t len, ln_list **ops)
{
    reader r = {.ctx = ctx, .file = name};
    model m = {0};
    json_t *json = parse(&r, text, len);
    const int rc = !json || create_tables(&r) || read_top(&r, json, &m) ? -1 : 0;
    if (rc)
        free_model(&m);
    else
        hand_over(ctx, &m, ops);
    free_tables(&r);
    json_decref(json);
    return rc;
}
