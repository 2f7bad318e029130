// SPDX-License-Identifier: Apache-2.0
// Operator descriptions: the table of fields, inheritance, checks.

#include "gen/ln_opdesc.h"

#include <stdio.h>
#include <string.h>

#include "gen/ln_cgen.h"
#include "lightnet/ln_util.h"

/** The longest optype or arg_name: what the generators make of them then fits their buffers. */
#define MAX_NAME 100

#define LENGTH_OF(array) (sizeof(array) / sizeof(*(array)))

/* ---- the table of fields ---- */

/* What a value may be: a bit for each ln_rjson_type. */
enum {
    BOOL = 1 << LN_RJSON_BOOL,
    NUMBER = 1 << LN_RJSON_NUMBER,
    STRING = 1 << LN_RJSON_STRING,
    ARRAY = 1 << LN_RJSON_ARRAY,
    ANY = BOOL | NUMBER | STRING | ARRAY,
    CODE = NUMBER | STRING, /* a literal, or C that computes the value */
};

/* Which arguments may have a field: a bit for each ln_argdesc_kind. */
enum {
    IN = 1 << LN_ARGDESC_IN,
    OUT = 1 << LN_ARGDESC_OUT,
    PARAM = 1 << LN_ARGDESC_PARAM,
    TENSOR = IN | OUT,
    ALL = IN | OUT | PARAM,
};

typedef struct field_spec {
    const char *key;
    int types;
    int kinds;       /* of arguments; operators: unused */
    int is_required; /* operators: once the inherited fields are there */
    int is_own;      /* operators: never inherited */
} field_spec;

static const field_spec op_fields[LN_OPDESC_FIELDS] = {
    [LN_OPDESC_OPTYPE] = {"optype", STRING, .is_required = 1, .is_own = 1},
    [LN_OPDESC_AUTHOR] = {"author", STRING, .is_required = 1},
    [LN_OPDESC_ARCH] = {"arch", STRING, .is_required = 1},
    [LN_OPDESC_INHERITS] = {"inherits", STRING, .is_own = 1},
    [LN_OPDESC_AUTOGEN] = {"autogen", BOOL, .is_own = 1},
    [LN_OPDESC_DOC] = {"doc", STRING},
    [LN_OPDESC_PURE] = {"pure", BOOL},
    [LN_OPDESC_MTYPE] = {"mtype", STRING},
    [LN_OPDESC_INPLACE] = {"inplace", ARRAY},
    [LN_OPDESC_INPLACE_WRITER] = {"inplace_writer", BOOL},
    [LN_OPDESC_EXTRA_PRIVS] = {"extra_privs", ARRAY},
    [LN_OPDESC_TENSORS_IN] = {"tensors_in", ARRAY, .is_required = 1},
    [LN_OPDESC_TENSORS_OUT] = {"tensors_out", ARRAY, .is_required = 1},
    [LN_OPDESC_PARAMS] = {"params", ARRAY, .is_required = 1},
    [LN_OPDESC_CUSTOM] = {"custom", STRING},
    [LN_OPDESC_SCRATCH] = {"scratch", CODE},
    [LN_OPDESC_STATIC_RUN] = {"static_run", STRING},
    [LN_OPDESC_STATIC_CALL] = {"static_call", STRING},
    [LN_OPDESC_RUN] = {"run", STRING},
    [LN_OPDESC_CALL] = {"call", STRING},
    [LN_OPDESC_POST_RUN] = {"post_run", STRING},
    [LN_OPDESC_CALC_OFFSET] = {"calc_offset", STRING},
    [LN_OPDESC_EXAMPLES] = {"examples", ARRAY, .is_own = 1},
};

static const field_spec arg_fields[LN_ARGDESC_FIELDS] = {
    [LN_ARGDESC_ARG_NAME] = {"arg_name", STRING, ALL},
    [LN_ARGDESC_DOC] = {"doc", STRING, ALL},
    [LN_ARGDESC_OPTIONAL] = {"optional", BOOL, TENSOR},
    [LN_ARGDESC_VARIADIC] = {"variadic", BOOL, TENSOR},
    [LN_ARGDESC_MTYPE] = {"mtype", STRING, TENSOR},
    [LN_ARGDESC_DTYPE] = {"dtype", STRING, TENSOR},
    [LN_ARGDESC_SAMETYPE] = {"sametype", STRING, TENSOR},
    [LN_ARGDESC_NDIM] = {"ndim", CODE, TENSOR},
    [LN_ARGDESC_DIMS] = {"dims", ARRAY | STRING, OUT},
    [LN_ARGDESC_SAMESHAPE] = {"sameshape", STRING, TENSOR},
    [LN_ARGDESC_STATIC] = {"static", BOOL, TENSOR},
    [LN_ARGDESC_OWNER] = {"owner", STRING, OUT},
    [LN_ARGDESC_INPLACE] = {"inplace", ARRAY, OUT},
    [LN_ARGDESC_PTYPE] = {"ptype", STRING, PARAM},
    [LN_ARGDESC_REALTYPE] = {"realtype", STRING, PARAM},
    [LN_ARGDESC_FROM_FUNC] = {"from_func", STRING, PARAM},
    [LN_ARGDESC_DEFAULT] = {"default", ANY, PARAM},
    [LN_ARGDESC_LEN] = {"len", CODE, ALL},
    [LN_ARGDESC_LEN_GT] = {"len_gt", CODE, PARAM},
    [LN_ARGDESC_LEN_GE] = {"len_ge", CODE, PARAM},
    [LN_ARGDESC_LEN_LT] = {"len_lt", CODE, PARAM},
    [LN_ARGDESC_LEN_LE] = {"len_le", CODE, PARAM},
    [LN_ARGDESC_LEN_NE] = {"len_ne", CODE, PARAM},
    [LN_ARGDESC_EQ] = {"eq", CODE, PARAM},
    [LN_ARGDESC_GT] = {"gt", CODE, PARAM},
    [LN_ARGDESC_GE] = {"ge", CODE, PARAM},
    [LN_ARGDESC_LT] = {"lt", CODE, PARAM},
    [LN_ARGDESC_LE] = {"le", CODE, PARAM},
    [LN_ARGDESC_NE] = {"ne", CODE, PARAM},
    [LN_ARGDESC_CHECK] = {"check", STRING, IN | PARAM},
    [LN_ARGDESC_CHECKS] = {"checks", ARRAY, IN | PARAM},
    [LN_ARGDESC_CUSTOM] = {"custom", STRING, ALL},
    [LN_ARGDESC_CLEANUP] = {"cleanup", STRING, OUT},
};

static const char *const ptype_names[LN_ARGDESC_PTYPES] = {
    [LN_ARGDESC_NULL] = "LN_PARAM_NULL",
    [LN_ARGDESC_STRING] = "LN_PARAM_STRING",
    [LN_ARGDESC_NUMBER] = "LN_PARAM_NUMBER",
    [LN_ARGDESC_BOOL] = "LN_PARAM_BOOL",
    [LN_ARGDESC_ARRAY_STRING] = "LN_PARAM_ARRAY_STRING",
    [LN_ARGDESC_ARRAY_NUMBER] = "LN_PARAM_ARRAY_NUMBER",
    [LN_ARGDESC_ARRAY_BOOL] = "LN_PARAM_ARRAY_BOOL",
};

static const char *const mtype_names[] = {"LN_MEM_NONE", "LN_MEM_CPU", "LN_MEM_CUDA", "LN_MEM_DPU"};

static const char *const dtype_names[] = {
    "TL_DOUBLE", "TL_FLOAT", "TL_INT32", "TL_INT16",  "TL_INT8",    "TL_UINT32",   "TL_UINT16",
    "TL_UINT8",  "TL_BOOL",  "TL_INT64", "TL_UINT64", "TL_FLOAT16", "TL_BFLOAT16",
};

static const char *const number_types[] = {"int", "float", "double"};

/** Variables of the generated functions, which no argument may take. */
static const char *const reserved_names[] = {"op_arg", "priv", "exec", "te", "i"};

/** An argument `x` brings `x` and `x_SUFFIX`. */
static const char *const name_suffixes[] = {"_entry", "_name", "_n", "_ndim", "_dims", "_dtype"};

/** The key of a list of arguments, by their kind. */
static const ln_opdesc_field kind_fields[] = {
    [LN_ARGDESC_IN] = LN_OPDESC_TENSORS_IN,
    [LN_ARGDESC_OUT] = LN_OPDESC_TENSORS_OUT,
    [LN_ARGDESC_PARAM] = LN_OPDESC_PARAMS,
};

static int is_one_of(const char *text, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(text, names[i]) == 0)
            return 1;
    }
    return 0;
}

#define IS_ONE_OF(text, names) is_one_of(text, names, LENGTH_OF(names))

/* ---- small public functions ---- */

const char *ln_opdesc_key(ln_opdesc_field field)
{
    return op_fields[field].key;
}

const char *ln_argdesc_key(ln_argdesc_field field)
{
    return arg_fields[field].key;
}

const char *ln_opdesc_text(const ln_opdesc *op, ln_opdesc_field field)
{
    return op->fields[field] ? op->fields[field]->text : NULL;
}

const char *ln_argdesc_text(const ln_argdesc *arg, ln_argdesc_field field)
{
    return arg->fields[field] ? arg->fields[field]->text : NULL;
}

int ln_argdesc_is(const ln_argdesc *arg, ln_argdesc_field field)
{
    return arg->fields[field] && arg->fields[field]->boolean;
}

int ln_argdesc_is_array(const ln_argdesc *arg)
{
    return arg->kind == LN_ARGDESC_PARAM && arg->ptype >= LN_ARGDESC_ARRAY_STRING;
}

ln_opdesc *ln_opdescs_find(const ln_opdescs *descs, const char *optype)
{
    for (size_t i = 0; i < descs->len; i++) {
        if (strcmp(descs->ops[i]->optype, optype) == 0)
            return descs->ops[i];
    }
    return NULL;
}

const ln_argdesc *ln_opdesc_find_arg(const ln_opdesc *op, const char *arg_name)
{
    for (size_t i = 0; i < op->nargs; i++) {
        if (strcmp(op->args[i].name, arg_name) == 0)
            return &op->args[i];
    }
    return NULL;
}

/* ---- mistakes ---- */

static int vfail_at(const char *optype, const ln_rjson *node, int line, int column, ln_error *err,
                    const char *fmt, va_list args)
{
    char reason[LN_MAXLINE];
    vsnprintf(reason, sizeof(reason), fmt, args);
    return ln_error_set(err, "%s:%d:%d: operator '%s': %s", node->file, line, column, optype,
                        reason);
}

int ln_opdesc_fail(const ln_opdesc *op, const ln_rjson *node, ln_error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vfail_at(op->optype, node, node->line, node->column, err, fmt, args);
    va_end(args);
    return -1;
}

/** ln_opdesc_fail at the key of a member. */
static int fail_at_key(const ln_opdesc *op, const ln_rjson *node, ln_error *err, const char *fmt,
                       ...) LN_PRINTF(4, 5);

static int fail_at_key(const ln_opdesc *op, const ln_rjson *node, ln_error *err, const char *fmt,
                       ...)
{
    va_list args;
    va_start(args, fmt);
    vfail_at(op->optype, node, node->key_line, node->key_column, err, fmt, args);
    va_end(args);
    return -1;
}

static int no_memory(ln_error *err)
{
    return err ? ln_error_set(err, "%s", ln_last_error()) : -1;
}

/* ---- reading fields ---- */

/** "a string or an array", for messages. */
static const char *types_text(int types, char buf[64])
{
    const char *or_text = "";
    buf[0] = '\0';
    for (int type = LN_RJSON_NULL; type <= LN_RJSON_OBJECT; type++) {
        if (!(types & 1 << type))
            continue;
        const size_t len = strlen(buf);
        snprintf(buf + len, 64 - len, "%s%s", or_text, ln_rjson_type_name((ln_rjson_type)type));
        or_text = " or ";
    }
    return buf;
}

/** 1 for a string of blanks. */
static int is_blank(const ln_rjson *node)
{
    return node->type == LN_RJSON_STRING && !node->text[strspn(node->text, " \t\r\n")];
}

/** Sorts the members of `object` into `fields` by their keys; null takes an inherited field away.
 * `kinds` 0: the specs are of operators. */
static int read_fields(const ln_opdesc *op, const ln_rjson *object, const field_spec *specs,
                       size_t nspecs, int kinds, const ln_rjson **fields, ln_error *err)
{
    char types[64];
    for (size_t i = 0; i < object->len; i++) {
        const ln_rjson *member = object->items[i];
        size_t f = 0;
        while (f < nspecs &&
               (strcmp(specs[f].key, member->key) != 0 || (kinds && !(specs[f].kinds & kinds))))
            f++;
        if (f == nspecs)
            return fail_at_key(op, member, err, "unknown key \"%s\"", member->key);
        if (member->type == LN_RJSON_NULL) {
            fields[f] = NULL;
            continue;
        }
        if (is_blank(member) && strcmp(member->key, "default") != 0)
            return ln_opdesc_fail(op, member, err, "\"%s\" is empty", member->key);
        if (!(specs[f].types & 1 << member->type))
            return ln_opdesc_fail(op, member, err, "\"%s\" is %s, expected %s", member->key,
                                  ln_rjson_type_name(member->type),
                                  types_text(specs[f].types, types));
        fields[f] = member;
    }
    return 0;
}

/** All members of an array have that type. */
static int check_items(const ln_opdesc *op, const ln_rjson *array, int types, ln_error *err)
{
    char text[64];
    for (size_t i = 0; array && i < array->len; i++) {
        if (!(types & 1 << array->items[i]->type))
            return ln_opdesc_fail(op, array->items[i], err, "item of \"%s\" is %s, expected %s",
                                  array->key, ln_rjson_type_name(array->items[i]->type),
                                  types_text(types, text));
    }
    return 0;
}

/* ---- files ---- */

/** Returns the array `*items` with room for one more; NULL without memory. */
static void *grow(void *items, size_t len, size_t size)
{
    return ln_realloc(items, (len + 1) * size);
}

static int add_include(ln_opdesc *op, const ln_rjson *header, ln_error *err)
{
    for (size_t i = 0; i < op->nincludes; i++) {
        if (strcmp(op->includes[i]->text, header->text) == 0)
            return 0;
    }
    const ln_rjson **includes = grow(op->includes, op->nincludes, sizeof(*includes));
    if (!includes)
        return no_memory(err);
    op->includes = includes;
    op->includes[op->nincludes++] = header;
    return 0;
}

static int add_includes(ln_opdesc *op, const ln_rjson *const *headers, size_t n, ln_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (add_include(op, headers[i], err))
            return -1;
    }
    return 0;
}

static void opdesc_free(ln_opdesc *op)
{
    ln_free(op->args);
    ln_free(op->includes);
    ln_free(op);
}

/** The optype, or why there is none. */
static const ln_rjson *read_optype(const ln_rjson *node, ln_error *err)
{
    const ln_rjson *optype = ln_rjson_get(node, "optype");
    if (!optype)
        ln_rjson_fail(node, err, "an operator without \"optype\"");
    else if (optype->type != LN_RJSON_STRING)
        ln_rjson_fail(optype, err, "\"optype\" is %s, expected a string",
                      ln_rjson_type_name(optype->type));
    else if (strlen(optype->text) > MAX_NAME)
        ln_rjson_fail(optype, err, "optype has %zu characters, expected at most %d",
                      strlen(optype->text), MAX_NAME);
    else if (!ln_c_is_identifier(optype->text))
        ln_rjson_fail(optype, err, "optype '%s' is no identifier of C", optype->text);
    else
        return optype;
    return NULL;
}

static int read_op(ln_opdescs *descs, const ln_rjson *node, int own, ln_error *err)
{
    const ln_rjson *optype = read_optype(node, err);
    if (!optype)
        return -1;
    const ln_opdesc *known = ln_opdescs_find(descs, optype->text);
    if (known)
        return ln_opdesc_fail(known, optype, err, "described already at %s:%d", known->node->file,
                              known->node->line);
    ln_opdesc **ops = grow(descs->ops, descs->len, sizeof(*ops));
    if (!ops)
        return no_memory(err);
    descs->ops = ops;
    ln_opdesc *op = ln_alloc(sizeof(*op));
    if (!op)
        return no_memory(err);
    op->optype = optype->text;
    op->node = node;
    op->own = own;
    descs->ops[descs->len++] = op;
    return 0;
}

static int read_ops(ln_opdescs *descs, const ln_rjson *root, int own, ln_error *err)
{
    const ln_rjson *ops = ln_rjson_get(root, "ops");
    if (!ops)
        return ln_rjson_fail(root, err, "a description file needs an object with \"ops\"");
    if (ops->type != LN_RJSON_ARRAY)
        return ln_rjson_fail(ops, err, "\"ops\" is %s, expected an array",
                             ln_rjson_type_name(ops->type));
    for (size_t i = 0; i < ops->len; i++) {
        if (ops->items[i]->type != LN_RJSON_OBJECT)
            return ln_rjson_fail(ops->items[i], err, "item of \"ops\" is %s, expected an object",
                                 ln_rjson_type_name(ops->items[i]->type));
        if (read_op(descs, ops->items[i], own, err))
            return -1;
    }
    return 0;
}

/** Gives the operators from `first` on the headers that their file includes. */
static int read_includes(ln_opdescs *descs, size_t first, const ln_rjson *includes, ln_error *err)
{
    if (includes->type != LN_RJSON_ARRAY)
        return ln_rjson_fail(includes, err, "\"includes\" is %s, expected an array",
                             ln_rjson_type_name(includes->type));
    for (size_t i = 0; i < includes->len; i++) {
        const ln_rjson *header = includes->items[i];
        if (header->type != LN_RJSON_STRING)
            return ln_rjson_fail(header, err, "item of \"includes\" is %s, expected a string",
                                 ln_rjson_type_name(header->type));
        for (size_t k = first; k < descs->len; k++) {
            if (add_include(descs->ops[k], header, err))
                return -1;
        }
    }
    return 0;
}

static int read_root(ln_opdescs *descs, const ln_rjson *root, int own, ln_error *err)
{
    const size_t first = descs->len;
    if (read_ops(descs, root, own, err))
        return -1;
    for (size_t i = 0; i < root->len; i++) {
        const ln_rjson *member = root->items[i];
        if (strcmp(member->key, "includes") == 0) {
            if (read_includes(descs, first, member, err))
                return -1;
        } else if (strcmp(member->key, "ops") != 0) {
            return ln_rjson_fail_key(member, err, "unknown key \"%s\"", member->key);
        }
    }
    return 0;
}

ln_opdescs *ln_opdescs_create(void)
{
    return ln_alloc(sizeof(ln_opdescs));
}

void ln_opdescs_free(ln_opdescs *descs)
{
    if (!descs)
        return;
    for (size_t i = 0; i < descs->len; i++)
        opdesc_free(descs->ops[i]);
    for (size_t i = 0; i < descs->nfiles; i++)
        ln_rjson_free(descs->files[i]);
    ln_free(descs->ops);
    ln_free(descs->files);
    ln_free(descs);
}

int ln_opdescs_read(ln_opdescs *descs, const char *file, int own, ln_error *err)
{
    ln_rjson **files = grow(descs->files, descs->nfiles, sizeof(*files));
    if (!files)
        return no_memory(err);
    descs->files = files;
    ln_rjson *root = ln_rjson_read(file, err);
    if (!root)
        return -1;
    descs->files[descs->nfiles++] = root;
    return read_root(descs, root, own, err);
}

/* ---- inheritance ---- */

static ln_argdesc *find_own_arg(ln_opdesc *op, ln_argdesc_kind kind, const char *name)
{
    for (size_t i = 0; i < op->nargs; i++) {
        if (op->args[i].kind == kind && strcmp(op->args[i].name, name) == 0)
            return &op->args[i];
    }
    return NULL;
}

/** The argument of that kind and name, a new one behind the others of its kind if need be; NULL: no
 * memory. */
static ln_argdesc *get_arg(ln_opdesc *op, ln_argdesc_kind kind, const char *name)
{
    ln_argdesc *known = find_own_arg(op, kind, name);
    if (known)
        return known;
    ln_argdesc *args = grow(op->args, op->nargs, sizeof(*args));
    if (!args)
        return NULL;
    op->args = args;
    size_t at = op->nargs++;
    for (; at > 0 && args[at - 1].kind > kind; at--)
        args[at] = args[at - 1];
    args[at] = (ln_argdesc){.kind = kind, .name = name};
    return &args[at];
}

/* Fields that stand for each other: giving one takes the inherited other away. */
static const int op_pairs[][2] = {
    {LN_OPDESC_RUN, LN_OPDESC_CALL},
    {LN_OPDESC_STATIC_RUN, LN_OPDESC_STATIC_CALL},
};

static const int arg_pairs[][2] = {
    {LN_ARGDESC_DTYPE, LN_ARGDESC_SAMETYPE},
    {LN_ARGDESC_DIMS, LN_ARGDESC_SAMESHAPE},
    {LN_ARGDESC_NDIM, LN_ARGDESC_SAMESHAPE},
};

static void drop_inherited(const ln_rjson **fields, const ln_rjson *node, const field_spec *specs,
                           const int (*pairs)[2], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < 2; k++) {
            if (ln_rjson_get(node, specs[pairs[i][k]].key))
                fields[pairs[i][1 - k]] = NULL;
        }
    }
}

static int check_pairs(const ln_opdesc *op, const ln_rjson *const *fields, const field_spec *specs,
                       const int (*pairs)[2], size_t n, ln_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const ln_rjson *other = fields[pairs[i][1]];
        if (fields[pairs[i][0]] && other)
            return fail_at_key(op, other, err, "\"%s\" beside \"%s\", expected one of them",
                               specs[pairs[i][1]].key, specs[pairs[i][0]].key);
    }
    return 0;
}

static int read_arg(ln_opdesc *op, ln_argdesc_kind kind, const ln_rjson *node, ln_error *err)
{
    const ln_rjson *name = ln_rjson_get(node, "arg_name");
    if (!name)
        return ln_opdesc_fail(op, node, err, "item of \"%s\" without \"arg_name\"",
                              ln_opdesc_key(kind_fields[kind]));
    if (name->type != LN_RJSON_STRING)
        return ln_opdesc_fail(op, name, err, "\"arg_name\" is %s, expected a string",
                              ln_rjson_type_name(name->type));
    ln_argdesc *arg = get_arg(op, kind, name->text);
    if (!arg)
        return no_memory(err);
    arg->node = node;
    drop_inherited(arg->fields, node, arg_fields, arg_pairs, LENGTH_OF(arg_pairs));
    return read_fields(op, node, arg_fields, LN_ARGDESC_FIELDS, 1 << kind, arg->fields, err);
}

/** Merges the operator's own list of one kind into its arguments. */
static int read_args(ln_opdesc *op, ln_argdesc_kind kind, ln_error *err)
{
    const ln_rjson *list = ln_rjson_get(op->node, ln_opdesc_key(kind_fields[kind]));
    if (check_items(op, list, 1 << LN_RJSON_OBJECT, err))
        return -1;
    for (size_t i = 0; list && i < list->len; i++) {
        if (read_arg(op, kind, list->items[i], err))
            return -1;
        const char *name = ln_rjson_get(list->items[i], "arg_name")->text;
        for (size_t k = 0; k < i; k++) {
            const ln_rjson *other = ln_rjson_get(list->items[k], "arg_name");
            if (strcmp(other->text, name) == 0)
                return ln_opdesc_fail(op, list->items[i], err, "argument '%s' is described already",
                                      name);
        }
    }
    return 0;
}

/** Makes an operator without own fields the same as its parent. */
static int copy_inherited(ln_opdesc *op, const ln_opdesc *parent, ln_error *err)
{
    for (size_t f = 0; f < LN_OPDESC_FIELDS; f++)
        op->fields[f] = op_fields[f].is_own ? NULL : parent->fields[f];
    op->nargs = parent->nargs;
    op->args = ln_clone(parent->args, parent->nargs * sizeof(*parent->args));
    if (!op->args)
        return no_memory(err);
    return add_includes(op, parent->includes, parent->nincludes, err);
}

static int resolve(ln_opdescs *descs, ln_opdesc *op, ln_error *err);

static int inherit(ln_opdescs *descs, ln_opdesc *op, ln_error *err)
{
    const ln_rjson *name = ln_rjson_get(op->node, "inherits");
    if (!name || name->type != LN_RJSON_STRING)
        return 0; // reading the fields tells a wrong type
    ln_opdesc *parent = ln_opdescs_find(descs, name->text);
    if (!parent)
        return ln_opdesc_fail(op, name, err, "inherits '%s', which is described nowhere",
                              name->text);
    if (parent->resolved == 1)
        return ln_opdesc_fail(op, name, err, "inherits '%s', which inherits from this one",
                              name->text);
    if (resolve(descs, parent, err) || copy_inherited(op, parent, err))
        return -1;
    drop_inherited(op->fields, op->node, op_fields, op_pairs, LENGTH_OF(op_pairs));
    if (ln_rjson_get(op->node, "mtype")) {
        for (size_t i = 0; i < op->nargs; i++)
            op->args[i].fields[LN_ARGDESC_MTYPE] = NULL;
    }
    return 0;
}

/* ---- checks ---- */

static int check_required(const ln_opdesc *op, ln_error *err)
{
    for (size_t f = 0; f < LN_OPDESC_FIELDS; f++) {
        if (op_fields[f].is_required && !op->fields[f])
            return ln_opdesc_fail(op, op->node, err, "\"%s\" is missing", op_fields[f].key);
    }
    return check_pairs(op, op->fields, op_fields, op_pairs, LENGTH_OF(op_pairs), err);
}

static int require(const ln_opdesc *op, const ln_argdesc *arg, ln_argdesc_field field,
                   ln_error *err)
{
    if (arg->fields[field])
        return 0;
    return ln_opdesc_fail(op, arg->node, err, "argument '%s': \"%s\" is missing", arg->name,
                          ln_argdesc_key(field));
}

static int forbid(const ln_opdesc *op, const ln_argdesc *arg, ln_argdesc_field field,
                  const char *why, ln_error *err)
{
    if (!arg->fields[field])
        return 0;
    return fail_at_key(op, arg->fields[field], err, "argument '%s': \"%s\" %s", arg->name,
                       ln_argdesc_key(field), why);
}

/** The argument's name, and the names of the variables it brings, are free. */
static int check_name(const ln_opdesc *op, const ln_argdesc *arg, ln_error *err)
{
    if (strlen(arg->name) > MAX_NAME)
        return ln_opdesc_fail(op, arg->fields[LN_ARGDESC_ARG_NAME], err,
                              "arg_name has %zu characters, expected at most %d", strlen(arg->name),
                              MAX_NAME);
    if (!ln_c_is_identifier(arg->name))
        return ln_opdesc_fail(op, arg->fields[LN_ARGDESC_ARG_NAME], err,
                              "arg_name '%s' is no identifier of C", arg->name);
    if (IS_ONE_OF(arg->name, reserved_names))
        return ln_opdesc_fail(op, arg->fields[LN_ARGDESC_ARG_NAME], err,
                              "arg_name '%s' is a variable of the generated code", arg->name);
    for (size_t i = 0; i < op->nargs; i++) {
        const ln_argdesc *other = &op->args[i];
        const size_t len = strlen(other->name);
        if (other == arg || strncmp(arg->name, other->name, len) != 0)
            continue;
        if (!arg->name[len])
            return ln_opdesc_fail(op, arg->fields[LN_ARGDESC_ARG_NAME], err,
                                  "another argument is called '%s' too", arg->name);
        if (IS_ONE_OF(arg->name + len, name_suffixes))
            return ln_opdesc_fail(op, arg->fields[LN_ARGDESC_ARG_NAME], err,
                                  "arg_name '%s' is also a variable of argument '%s'", arg->name,
                                  other->name);
    }
    return 0;
}

/** A field that names another argument names one of these kinds. */
static int check_reference(const ln_opdesc *op, const ln_argdesc *arg, const ln_rjson *name,
                           int kinds, ln_error *err)
{
    if (!name)
        return 0;
    const ln_argdesc *other = ln_opdesc_find_arg(op, name->text);
    if (!other || other == arg || !(kinds & 1 << other->kind))
        return ln_opdesc_fail(op, name, err, "argument '%s': there is no other %s '%s'", arg->name,
                              kinds == IN ? "input" : "tensor", name->text);
    if (other->variadic)
        return ln_opdesc_fail(op, name, err, "argument '%s': '%s' is variadic", arg->name,
                              name->text);
    return 0;
}

static int check_mtype(const ln_opdesc *op, const ln_rjson *mtype, ln_error *err)
{
    if (mtype && !IS_ONE_OF(mtype->text, mtype_names))
        return ln_opdesc_fail(op, mtype, err, "memory type '%s' is unknown", mtype->text);
    return 0;
}

static int check_dtype(const ln_opdesc *op, const ln_argdesc *arg, ln_error *err)
{
    const ln_rjson *dtype = arg->fields[LN_ARGDESC_DTYPE];
    if (!dtype || strncmp(dtype->text, "TL_", 3) != 0 || !ln_c_is_identifier(dtype->text))
        return 0; // a set of types, or an expression
    if (!IS_ONE_OF(dtype->text, dtype_names))
        return ln_opdesc_fail(op, dtype, err, "argument '%s': data type '%s' is unknown", arg->name,
                              dtype->text);
    return 0;
}

static int check_tensor(const ln_opdesc *op, ln_argdesc *arg, ln_error *err)
{
    arg->optional = ln_argdesc_is(arg, LN_ARGDESC_OPTIONAL);
    arg->variadic = ln_argdesc_is(arg, LN_ARGDESC_VARIADIC);
    if (!arg->fields[LN_ARGDESC_MTYPE])
        arg->fields[LN_ARGDESC_MTYPE] = op->fields[LN_OPDESC_MTYPE];
    if (arg->variadic && forbid(op, arg, LN_ARGDESC_OPTIONAL, "on a variadic one", err))
        return -1;
    if (require(op, arg, LN_ARGDESC_MTYPE, err) ||
        check_mtype(op, arg->fields[LN_ARGDESC_MTYPE], err) || check_dtype(op, arg, err))
        return -1;
    if (check_reference(op, arg, arg->fields[LN_ARGDESC_SAMETYPE], TENSOR, err) ||
        check_reference(op, arg, arg->fields[LN_ARGDESC_SAMESHAPE], TENSOR, err) ||
        check_reference(op, arg, arg->fields[LN_ARGDESC_OWNER], IN, err))
        return -1;
    return 0;
}

static int check_inplace(const ln_opdesc *op, const ln_argdesc *arg, ln_error *err)
{
    const ln_rjson *names = arg->fields[LN_ARGDESC_INPLACE];
    if (check_items(op, names, STRING, err))
        return -1;
    for (size_t i = 0; names && i < names->len; i++) {
        if (check_reference(op, arg, names->items[i], IN, err))
            return -1;
    }
    return 0;
}

/** `dims` has items that are numbers >= 1 or C code, as many as a literal `ndim` says. */
static int check_dims(const ln_opdesc *op, const ln_argdesc *arg, ln_error *err)
{
    const ln_rjson *dims = arg->fields[LN_ARGDESC_DIMS], *ndim = arg->fields[LN_ARGDESC_NDIM];
    if (!dims || dims->type != LN_RJSON_ARRAY)
        return 0;
    if (check_items(op, dims, CODE, err))
        return -1;
    if (dims->len > LN_MAXDIM)
        return ln_opdesc_fail(op, dims, err, "argument '%s': %zu dimensions, expected at most %d",
                              arg->name, dims->len, LN_MAXDIM);
    for (size_t i = 0; i < dims->len; i++) {
        const ln_rjson *dim = dims->items[i];
        if (dim->type == LN_RJSON_NUMBER &&
            !(dim->number >= 0 && strspn(dim->text, "0123456789") == strlen(dim->text)))
            return ln_opdesc_fail(op, dim, err, "argument '%s': dimension %s, expected an integer",
                                  arg->name, dim->text);
    }
    if (ndim && (ndim->type != LN_RJSON_NUMBER || ndim->number != (double)dims->len))
        return ln_opdesc_fail(op, ndim, err,
                              "argument '%s': \"ndim\" is %s, but \"dims\" has %zu items",
                              arg->name, ndim->text, dims->len);
    return 0;
}

/** Type and shape of an output are known. */
static int check_output(const ln_opdesc *op, ln_argdesc *arg, ln_error *err)
{
    const int has_custom = arg->fields[LN_ARGDESC_CUSTOM] != NULL;
    if (check_dims(op, arg, err) || check_inplace(op, arg, err) ||
        check_pairs(op, arg->fields, arg_fields, arg_pairs, LENGTH_OF(arg_pairs), err))
        return -1;
    if (!arg->fields[LN_ARGDESC_SAMETYPE] && require(op, arg, LN_ARGDESC_DTYPE, err))
        return -1;
    if (arg->fields[LN_ARGDESC_SAMESHAPE])
        return 0;
    const ln_rjson *dims = arg->fields[LN_ARGDESC_DIMS];
    if (!dims && has_custom) {
        char dims_name[LN_MAX_NAME_LEN];
        snprintf(dims_name, sizeof(dims_name), "%s_dims", arg->name);
        if (!ln_c_names(ln_argdesc_text(arg, LN_ARGDESC_CUSTOM), dims_name))
            return ln_opdesc_fail(op, arg->node, err,
                                  "argument '%s': \"dims\" is missing, and \"custom\" sets no %s",
                                  arg->name, dims_name);
        return require(op, arg, LN_ARGDESC_NDIM, err);
    }
    if (require(op, arg, LN_ARGDESC_DIMS, err))
        return -1;
    return dims->type == LN_RJSON_STRING ? require(op, arg, LN_ARGDESC_NDIM, err) : 0;
}

static int check_checks(const ln_opdesc *op, const ln_argdesc *arg, ln_error *err)
{
    const ln_rjson *checks = arg->fields[LN_ARGDESC_CHECKS];
    if (check_items(op, checks, STRING | 1 << LN_RJSON_OBJECT, err))
        return -1;
    for (size_t i = 0; checks && i < checks->len; i++) {
        const ln_rjson *item = checks->items[i];
        if (item->type != LN_RJSON_OBJECT)
            continue;
        const ln_rjson *check = ln_rjson_get(item, "check");
        if (!check || item->len != 1 || check->type != LN_RJSON_STRING)
            return ln_opdesc_fail(op, item, err,
                                  "item of \"checks\", expected a string or {\"check\": STRING}");
    }
    return 0;
}

/* Which fields make sense for which parameters. */
static int check_param_fields(const ln_opdesc *op, const ln_argdesc *arg, ln_error *err)
{
    const int is_number = arg->ptype == LN_ARGDESC_NUMBER || arg->ptype == LN_ARGDESC_ARRAY_NUMBER;
    const int is_string = arg->ptype == LN_ARGDESC_STRING || arg->ptype == LN_ARGDESC_ARRAY_STRING;
    for (int f = LN_ARGDESC_EQ; f <= LN_ARGDESC_NE && !is_number; f++) {
        if (forbid(op, arg, (ln_argdesc_field)f, "bounds a number", err))
            return -1;
    }
    for (int f = LN_ARGDESC_LEN; f <= LN_ARGDESC_LEN_NE && !ln_argdesc_is_array(arg); f++) {
        if (forbid(op, arg, (ln_argdesc_field)f, "bounds an array", err))
            return -1;
    }
    if (!is_string && forbid(op, arg, LN_ARGDESC_FROM_FUNC, "converts a string", err))
        return -1;
    const ln_rjson *realtype = arg->fields[LN_ARGDESC_REALTYPE];
    if (is_number && require(op, arg, LN_ARGDESC_REALTYPE, err))
        return -1;
    if (is_number && !IS_ONE_OF(realtype->text, number_types))
        return ln_opdesc_fail(op, realtype, err,
                              "argument '%s': realtype '%s', expected int, float or double",
                              arg->name, realtype->text);
    if (!is_number && !arg->fields[LN_ARGDESC_FROM_FUNC])
        return forbid(op, arg, LN_ARGDESC_REALTYPE,
                      "is for numbers, and strings with \"from_func\"", err);
    if (arg->fields[LN_ARGDESC_FROM_FUNC])
        return require(op, arg, LN_ARGDESC_REALTYPE, err);
    return 0;
}

/** The type of one value of a default, by the parameter's. */
static ln_rjson_type default_type(ln_argdesc_ptype ptype)
{
    static const ln_rjson_type types[LN_ARGDESC_PTYPES] = {
        [LN_ARGDESC_STRING] = LN_RJSON_STRING,       [LN_ARGDESC_NUMBER] = LN_RJSON_NUMBER,
        [LN_ARGDESC_BOOL] = LN_RJSON_BOOL,           [LN_ARGDESC_ARRAY_STRING] = LN_RJSON_STRING,
        [LN_ARGDESC_ARRAY_NUMBER] = LN_RJSON_NUMBER, [LN_ARGDESC_ARRAY_BOOL] = LN_RJSON_BOOL,
    };
    return types[ptype];
}

static int check_default(const ln_opdesc *op, const ln_argdesc *arg, ln_error *err)
{
    const ln_rjson *value = arg->fields[LN_ARGDESC_DEFAULT];
    if (!value)
        return 0;
    const ln_rjson_type type = default_type(arg->ptype);
    const ln_rjson_type expected = ln_argdesc_is_array(arg) ? LN_RJSON_ARRAY : type;
    if (value->type != expected)
        return ln_opdesc_fail(op, value, err, "argument '%s': \"default\" is %s, expected %s",
                              arg->name, ln_rjson_type_name(value->type),
                              ln_rjson_type_name(expected));
    if (expected == LN_RJSON_ARRAY && value->len == 0)
        return ln_opdesc_fail(op, value, err, "argument '%s': \"default\" is empty", arg->name);
    return expected == LN_RJSON_ARRAY ? check_items(op, value, 1 << type, err) : 0;
}

static int check_param(const ln_opdesc *op, ln_argdesc *arg, ln_error *err)
{
    if (require(op, arg, LN_ARGDESC_PTYPE, err))
        return -1;
    const ln_rjson *ptype = arg->fields[LN_ARGDESC_PTYPE];
    for (int i = 0; i < LN_ARGDESC_PTYPES; i++) {
        if (strcmp(ptype_names[i], ptype->text) != 0)
            continue;
        arg->ptype = (ln_argdesc_ptype)i;
        return check_param_fields(op, arg, err) || check_default(op, arg, err) ? -1 : 0;
    }
    return ln_opdesc_fail(op, ptype, err, "argument '%s': ptype '%s' is unknown", arg->name,
                          ptype->text);
}

static int check_extra_privs(const ln_opdesc *op, ln_error *err)
{
    const ln_rjson *privs = op->fields[LN_OPDESC_EXTRA_PRIVS];
    if (check_items(op, privs, 1 << LN_RJSON_OBJECT, err))
        return -1;
    for (size_t i = 0; privs && i < privs->len; i++) {
        const ln_rjson *type = ln_rjson_get(privs->items[i], "type");
        const ln_rjson *name = ln_rjson_get(privs->items[i], "name");
        if (!type || !name || privs->items[i]->len != 2 || type->type != LN_RJSON_STRING ||
            name->type != LN_RJSON_STRING)
            return ln_opdesc_fail(
                op, privs->items[i], err,
                "item of \"extra_privs\", expected {\"type\": STRING, \"name\": STRING}");
        if (!ln_c_is_identifier(name->text) && !strchr(name->text, '['))
            return ln_opdesc_fail(op, name, err, "'%s' is no identifier of C", name->text);
    }
    return 0;
}

/** The operator's "inplace" is that of its only output. */
static int apply_inplace(ln_opdesc *op, ln_error *err)
{
    const ln_rjson *inplace = op->fields[LN_OPDESC_INPLACE];
    ln_argdesc *output = NULL;
    int noutputs = 0;
    for (size_t i = 0; i < op->nargs; i++) {
        if (op->args[i].kind == LN_ARGDESC_OUT) {
            output = &op->args[i];
            noutputs++;
        }
    }
    if (!inplace)
        return 0;
    if (noutputs != 1)
        return fail_at_key(op, inplace, err,
                           "\"inplace\" with %d outputs, expected it at one of them", noutputs);
    if (!output->fields[LN_ARGDESC_INPLACE])
        output->fields[LN_ARGDESC_INPLACE] = inplace;
    return 0;
}

static int has_owner(const ln_opdesc *op)
{
    for (size_t i = 0; i < op->nargs; i++) {
        if (op->args[i].fields[LN_ARGDESC_OWNER])
            return 1;
    }
    return 0;
}

/** Whether it writes in place: what computes and has an output in an input's memory does, and so
 * does an abstract operator that says so. */
static int apply_inplace_writer(ln_opdesc *op, ln_error *err)
{
    const ln_rjson *writer = op->fields[LN_OPDESC_INPLACE_WRITER];
    if (writer && writer->boolean && !has_owner(op))
        return fail_at_key(op, writer, err,
                           "\"inplace_writer\" without an output that has an \"owner\"");
    op->inplace_writer =
        writer ? writer->boolean
               : has_owner(op) && (op->fields[LN_OPDESC_RUN] || op->fields[LN_OPDESC_CALL]);
    return 0;
}

static int check_arg(const ln_opdesc *op, ln_argdesc *arg, ln_error *err)
{
    if (check_name(op, arg, err) || check_checks(op, arg, err))
        return -1;
    if (arg->kind == LN_ARGDESC_PARAM)
        return check_param(op, arg, err);
    if (check_tensor(op, arg, err))
        return -1;
    return arg->kind == LN_ARGDESC_OUT ? check_output(op, arg, err) : 0;
}

static int check(ln_opdesc *op, ln_error *err)
{
    if (check_required(op, err) || check_mtype(op, op->fields[LN_OPDESC_MTYPE], err) ||
        check_extra_privs(op, err) || apply_inplace(op, err) || apply_inplace_writer(op, err))
        return -1;
    for (size_t i = 0; i < op->nargs; i++) {
        if (check_arg(op, &op->args[i], err))
            return -1;
    }
    op->arch = ln_opdesc_text(op, LN_OPDESC_ARCH);
    op->autogen = !op->fields[LN_OPDESC_AUTOGEN] || op->fields[LN_OPDESC_AUTOGEN]->boolean;
    op->pure = !op->fields[LN_OPDESC_PURE] || op->fields[LN_OPDESC_PURE]->boolean;
    return 0;
}

static int resolve(ln_opdescs *descs, ln_opdesc *op, ln_error *err)
{
    if (op->resolved == 2)
        return 0;
    op->resolved = 1;
    if (inherit(descs, op, err) ||
        read_fields(op, op->node, op_fields, LN_OPDESC_FIELDS, 0, op->fields, err))
        return -1;
    for (int kind = LN_ARGDESC_IN; kind <= LN_ARGDESC_PARAM; kind++) {
        if (read_args(op, (ln_argdesc_kind)kind, err))
            return -1;
    }
    op->resolved = 2;
    return check(op, err);
}

int ln_opdescs_check(ln_opdescs *descs, ln_error *err)
{
    for (size_t i = 0; i < descs->len; i++) {
        if (resolve(descs, descs->ops[i], err))
            return -1;
    }
    return 0;
}
