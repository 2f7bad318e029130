// SPDX-License-Identifier: Apache-2.0
// Operator descriptions: the checks of a completed operator. Properties that they derive, such as
// the type of a parameter, are stored in it.

#include "gen/ln_opdesc_fields.h"

#include <stdio.h>
#include <string.h>

#include "gen/ln_cgen.h"

// The words that a field may hold.
typedef struct vocabulary {
    const char *what; // the kind of the words, in messages
    const char *const *words;
    size_t len;
} vocabulary;

static const char *const mtype_words[] = {"LN_MEM_NONE", "LN_MEM_CPU", "LN_MEM_CUDA"};
static const vocabulary mtypes = {"memory type", mtype_words, LENGTH_OF(mtype_words)};

static const char *const dtype_words[] = {
    "TL_DOUBLE", "TL_FLOAT", "TL_INT32", "TL_INT16",  "TL_INT8",    "TL_UINT32",   "TL_UINT16",
    "TL_UINT8",  "TL_BOOL",  "TL_INT64", "TL_UINT64", "TL_FLOAT16", "TL_BFLOAT16", "TL_STRING",
};
static const vocabulary dtypes = {"data type", dtype_words, LENGTH_OF(dtype_words)};

static const char *const writes_words[] = {"stdout", "files"};
static const char *const writes_constants[] = {"LN_WRITES_STDOUT", "LN_WRITES_FILES"};
static const vocabulary writes = {"destination", writes_words, LENGTH_OF(writes_words)};

static const char *const trait_words[] = {"moves", "selects", "elementwise", "alias"};
static const char *const trait_constants[] = {"LN_TRAIT_MOVES", "LN_TRAIT_SELECTS",
                                              "LN_TRAIT_ELEMENTWISE", "LN_TRAIT_ALIAS"};
static const vocabulary traits = {"trait", trait_words, LENGTH_OF(trait_words)};

static const char *const number_types[] = {"int", "float", "double"};

// Variables of the generated functions, which no argument may take.
static const char *const reserved_names[] = {"op_arg", "priv", "exec", "te", "i"};

// An argument `x` brings `x` and `x_SUFFIX`.
static const char *const name_suffixes[] = {"_entry", "_name", "_n", "_ndim", "_dims", "_dtype"};

static int is_one_of(const char *text, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(text, names[i]) == 0)
            return 1;
    }
    return 0;
}

#define IS_ONE_OF(text, names) is_one_of(text, names, LENGTH_OF(names))

// Room for all words of a vocabulary, for messages.
#define LIST_SIZE 256

// Fails for a word that is none of the vocabulary. `arg` NULL: the operator's own.
static int fail_unknown(const ln_opdesc *op, const ln_argdesc *arg, const ln_rjson *node,
                        const vocabulary *words, ln_error *err)
{
    char list[LIST_SIZE] = "";
    for (size_t i = 0; i < words->len; i++) {
        const size_t len = strlen(list);
        snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "", words->words[i]);
    }
    return ln_opdesc_fail(op, node, err, "%s%s%s%s '%s' is unknown, expected one of %s",
                          arg ? "argument '" : "", arg ? arg->name : "", arg ? "': " : "",
                          words->what, node->text, list);
}

// A field (NULL: not given) is a word of the vocabulary.
static int check_word(const ln_opdesc *op, const ln_argdesc *arg, const ln_rjson *node,
                      const vocabulary *words, ln_error *err)
{
    if (node && !is_one_of(node->text, words->words, words->len))
        return fail_unknown(op, arg, node, words, err);
    return 0;
}

static int check_required(const ln_opdesc *op, ln_error *err)
{
    for (size_t f = 0; f < LN_OPDESC_FIELDS; f++) {
        if (ln_opdesc_op_fields[f].is_required && !op->fields[f])
            return ln_opdesc_fail(op, op->node, err, "\"%s\" is missing",
                                  ln_opdesc_op_fields[f].key);
    }
    return ln_opdesc_check_pairs(op, op->fields, ln_opdesc_op_fields, ln_opdesc_op_pairs,
                                 LN_OPDESC_OP_PAIRS, err);
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
    return ln_opdesc_fail_key(op, arg->fields[field], err, "argument '%s': \"%s\" %s", arg->name,
                              ln_argdesc_key(field), why);
}

// The argument's name, and the names of the variables it brings, are free.
static int check_name(const ln_opdesc *op, const ln_argdesc *arg, ln_error *err)
{
    if (strlen(arg->name) > LN_OPDESC_MAX_NAME)
        return ln_opdesc_fail(op, arg->fields[LN_ARGDESC_ARG_NAME], err,
                              "arg_name has %zu characters, expected at most %d", strlen(arg->name),
                              LN_OPDESC_MAX_NAME);
    if (!ln_c_is_identifier(arg->name))
        return ln_opdesc_fail(op, arg->fields[LN_ARGDESC_ARG_NAME], err,
                              "arg_name '%s', expected a C identifier that is not a keyword",
                              arg->name);
    if (IS_ONE_OF(arg->name, reserved_names))
        return ln_opdesc_fail(
            op, arg->fields[LN_ARGDESC_ARG_NAME], err,
            "arg_name '%s' is a variable of the generated code, expected another name", arg->name);
    for (size_t i = 0; i < op->nargs; i++) {
        const ln_argdesc *other = &op->args[i];
        const size_t len = strlen(other->name);
        if (other == arg || strncmp(arg->name, other->name, len) != 0)
            continue;
        if (!arg->name[len])
            return ln_opdesc_fail(op, arg->fields[LN_ARGDESC_ARG_NAME], err,
                                  "another argument has the name '%s'", arg->name);
        if (IS_ONE_OF(arg->name + len, name_suffixes))
            return ln_opdesc_fail(op, arg->fields[LN_ARGDESC_ARG_NAME], err,
                                  "arg_name '%s' is also a variable of argument '%s'", arg->name,
                                  other->name);
    }
    return 0;
}

// The argument of one of these kinds that a field names; NULL: it names none.
static const ln_argdesc *find_other(const ln_opdesc *op, const ln_argdesc *arg,
                                    const ln_rjson *name, int kinds, ln_error *err)
{
    const ln_argdesc *other = ln_opdesc_find_arg(op, name->text);
    if (other && other != arg && (kinds & 1 << other->kind))
        return other;
    ln_opdesc_fail(op, name, err, "argument '%s': there is no other %s '%s'", arg->name,
                   kinds == IN ? "input" : "tensor", name->text);
    return NULL;
}

// A field that refers to an argument must name one of these kinds, with one tensor.
static int check_reference(const ln_opdesc *op, const ln_argdesc *arg, const ln_rjson *name,
                           int kinds, ln_error *err)
{
    if (!name)
        return 0;
    const ln_argdesc *other = find_other(op, arg, name, kinds, err);
    if (!other)
        return -1;
    if (other->variadic)
        return ln_opdesc_fail(op, name, err, "argument '%s': '%s' is variadic", arg->name,
                              name->text);
    return 0;
}

// An input that sets a parameter is optional and has a shape of its own; the parameter is of
// integers.
static int check_sets(const ln_opdesc *op, const ln_argdesc *arg, ln_error *err)
{
    const ln_rjson *name = arg->fields[LN_ARGDESC_SETS];
    if (!name)
        return 0;
    const ln_argdesc *param = ln_opdesc_find_arg(op, name->text);
    const char *realtype = param && param->kind == LN_ARGDESC_PARAM
                               ? ln_argdesc_text(param, LN_ARGDESC_REALTYPE)
                               : NULL;
    if (!realtype || strcmp(realtype, "int") != 0)
        return ln_opdesc_fail(op, name, err, "argument '%s': there is no parameter '%s' of int",
                              arg->name, name->text);
    if (!arg->optional)
        return ln_opdesc_fail(op, name, err, "argument '%s': \"sets\" without \"optional\"",
                              arg->name);
    if (arg->fields[LN_ARGDESC_SAMESHAPE])
        return ln_opdesc_fail(op, name, err, "argument '%s': \"sets\" with \"sameshape\"",
                              arg->name);
    return 0;
}

// The data types of an argument without "dtype": of an input those to compute with, and strings,
// if the operator takes them. The numbers of a parameter are no strings.
static const char *free_dtypes(const ln_opdesc *op, const ln_argdesc *arg)
{
    const ln_rjson *const strings = op->fields[LN_OPDESC_STRINGS];
    if (arg->kind != LN_ARGDESC_IN || arg->fields[LN_ARGDESC_SAMETYPE])
        return NULL;
    return strings && strings->boolean && !arg->fields[LN_ARGDESC_SETS] ? "LN_DTYPES_TEXT"
                                                                        : "LN_DTYPES_COMPUTED";
}

// Each data type of "TL_INT8 or TL_UINT8" exists; sets `dtypes`.
static int check_dtypes(const ln_opdesc *op, ln_argdesc *arg, ln_error *err)
{
    static const char *const sets[][2] = {
        {"FLT", "LN_DTYPES_FLOAT"}, {"NUM", "LN_DTYPES_NUMBER"}, {"ANY", "LN_DTYPES_ANY"}};
    const ln_rjson *dtype = arg->fields[LN_ARGDESC_DTYPE];
    const char *set = "", *at = dtype ? dtype->text : "";
    arg->dtypes = dtype ? NULL : free_dtypes(op, arg);
    for (size_t i = 0; i < LENGTH_OF(sets); i++) {
        if (strcmp(at, sets[i][0]) == 0)
            arg->dtypes = sets[i][1];
    }
    while (strncmp(at, "TL_", 3) == 0) {
        ln_rjson word = *dtype;
        word.text = ln_arena_printf(&op->descs->arena, "%.*s", (int)strcspn(at, " "), at);
        if (!ln_c_is_identifier(word.text))
            return 0;
        if (check_word(op, arg, &word, &dtypes, err))
            return -1;
        ln_arena_extend(&op->descs->arena, &set, "%sLN_DTYPE_BIT(%s)", *set ? " | " : "",
                        word.text);
        at += strlen(word.text);
        at += strncmp(at, " or ", 4) == 0 ? 4 : 0;
    }
    if (*set && !*at)
        arg->dtypes = set;
    return 0;
}

static int check_tensor(const ln_opdesc *op, ln_argdesc *arg, ln_error *err)
{
    const int models = arg->kind == LN_ARGDESC_IN ? IN : TENSOR; // inputs come before outputs
    arg->variadic = ln_argdesc_is(arg, LN_ARGDESC_VARIADIC);
    arg->optional = ln_argdesc_is(arg, LN_ARGDESC_OPTIONAL) && !arg->variadic; // else: none is fine
    if (!arg->fields[LN_ARGDESC_MTYPE])
        arg->fields[LN_ARGDESC_MTYPE] = op->fields[LN_OPDESC_MTYPE];
    if (require(op, arg, LN_ARGDESC_MTYPE, err) ||
        check_word(op, arg, arg->fields[LN_ARGDESC_MTYPE], &mtypes, err))
        return -1;
    if (check_dtypes(op, arg, err) ||
        check_reference(op, arg, arg->fields[LN_ARGDESC_SAMETYPE], models, err) ||
        check_reference(op, arg, arg->fields[LN_ARGDESC_SAMESHAPE], models, err) ||
        check_reference(op, arg, arg->fields[LN_ARGDESC_OWNER], IN, err))
        return -1;
    return check_sets(op, arg, err);
}

static int check_inplace(const ln_opdesc *op, const ln_argdesc *arg, ln_error *err)
{
    const ln_rjson *names = arg->fields[LN_ARGDESC_INPLACE];
    if (ln_opdesc_check_items(op, names, STRING, err))
        return -1;
    for (size_t i = 0; names && i < names->len; i++) {
        if (!find_other(op, arg, names->items[i], IN, err))
            return -1;
    }
    return 0;
}

// `dims` has items that are numbers >= 1 or C code, as many as a literal `ndim`.
static int check_dims(const ln_opdesc *op, const ln_argdesc *arg, ln_error *err)
{
    const ln_rjson *dims = arg->fields[LN_ARGDESC_DIMS], *ndim = arg->fields[LN_ARGDESC_NDIM];
    if (!dims || dims->type != LN_RJSON_ARRAY)
        return 0;
    if (ln_opdesc_check_items(op, dims, CODE, err))
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

// Type and shape of an output are known.
static int check_output(const ln_opdesc *op, ln_argdesc *arg, ln_error *err)
{
    const int has_custom = arg->fields[LN_ARGDESC_CUSTOM] != NULL;
    if (check_dims(op, arg, err) || check_inplace(op, arg, err) ||
        ln_opdesc_check_pairs(op, arg->fields, ln_opdesc_arg_fields, ln_opdesc_arg_pairs,
                              LN_OPDESC_ARG_PAIRS, err))
        return -1;
    if (!arg->fields[LN_ARGDESC_SAMETYPE] && require(op, arg, LN_ARGDESC_DTYPE, err))
        return -1;
    if (arg->fields[LN_ARGDESC_SAMESHAPE] || arg->fields[LN_ARGDESC_SIZES])
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

// The brace that closes the one at `text`, or NULL.
static const char *closing_brace(const char *text)
{
    for (int depth = 0; *text; text++) {
        depth += (*text == '{') - (*text == '}');
        if (depth == 0)
            return text;
    }
    return NULL;
}

// The C of "if" and "say": a condition, and the format and arguments of a message, in which
// "%d{n}" is the value of n.
static char *message_check(ln_arena *arena, const char *condition, const char *say)
{
    const char *format = "", *args = "";
    for (const char *c = say; *c; c++) {
        const char *end = *c == '{' ? closing_brace(c) : NULL;
        if (end) {
            ln_arena_extend(arena, &args, ", %.*s", (int)(end - c) - 1, c + 1);
            c = end;
        } else {
            ln_arena_extend(arena, &format, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
        }
    }
    return ln_arena_printf(arena, "%s, \"%s\"%s", condition, format, args);
}

// A string: the arguments of ln_opck_satisfy or ln_opck_satisfy_msg. NULL with a reason.
static ln_rjson *check_code(const ln_opdesc *op, const ln_rjson *item, ln_error *err)
{
    static const char expected[] = "a check, expected a string, {\"check\": STRING} or "
                                   "{\"if\": CONDITION, \"say\": MESSAGE}";
    const ln_rjson *say = ln_rjson_get(item, "say");
    const ln_rjson *text =
        item->type == LN_RJSON_STRING ? item : ln_rjson_get(item, say ? "if" : "check");
    if (!text || text->type != LN_RJSON_STRING ||
        item->len != (size_t)((text != item) + (say != NULL)) ||
        (say && say->type != LN_RJSON_STRING)) {
        ln_opdesc_fail(op, item, err, expected);
        return NULL;
    }
    ln_rjson *code = ln_arena_alloc(&op->descs->arena, sizeof(*code));
    *code = *text;
    if (say)
        code->text = message_check(&op->descs->arena, text->text, say->text);
    return code;
}

// Makes the checks of an argument C.
static int check_checks(const ln_opdesc *op, ln_argdesc *arg, ln_error *err)
{
    const ln_rjson **check = &arg->fields[LN_ARGDESC_CHECK];
    const ln_rjson *checks = arg->fields[LN_ARGDESC_CHECKS];
    if (ln_opdesc_check_items(op, checks, STRING | OBJECT, err) ||
        (*check && !(*check = check_code(op, *check, err))))
        return -1;
    if (!checks)
        return 0;
    ln_rjson *codes = ln_arena_alloc(&op->descs->arena, sizeof(*codes));
    *codes = *checks;
    codes->items = ln_arena_alloc(&op->descs->arena, checks->len * sizeof(*codes->items));
    for (size_t i = 0; i < checks->len; i++) {
        codes->items[i] = check_code(op, checks->items[i], err);
        if (!codes->items[i])
            return -1;
    }
    arg->fields[LN_ARGDESC_CHECKS] = codes;
    return 0;
}

static int is_number_param(const ln_argdesc *arg)
{
    return arg->ptype == LN_ARGDESC_NUMBER || arg->ptype == LN_ARGDESC_ARRAY_NUMBER;
}

// A number is a double unless described otherwise, what a function makes of a string an int.
static void apply_realtype(const ln_opdesc *op, ln_argdesc *arg)
{
    if (arg->fields[LN_ARGDESC_REALTYPE] ||
        (!is_number_param(arg) && !arg->fields[LN_ARGDESC_FROM_FUNC]))
        return;
    ln_rjson *node = ln_arena_alloc(&op->descs->arena, sizeof(*node));
    *node = *arg->node;
    node->type = LN_RJSON_STRING;
    node->text = is_number_param(arg) ? "double" : "int";
    arg->fields[LN_ARGDESC_REALTYPE] = node;
}

// Which fields make sense for which parameters.
static int check_param_fields(const ln_opdesc *op, const ln_argdesc *arg, ln_error *err)
{
    const int is_number = is_number_param(arg);
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
    if (!arg->fields[LN_ARGDESC_FROM_FUNC] &&
        forbid(op, arg, LN_ARGDESC_NAME_FUNC, "needs \"from_func\"", err))
        return -1;
    const ln_rjson *realtype = arg->fields[LN_ARGDESC_REALTYPE];
    if (is_number && !IS_ONE_OF(realtype->text, number_types))
        return ln_opdesc_fail(op, realtype, err,
                              "argument '%s': realtype '%s', expected int, float or double",
                              arg->name, realtype->text);
    if (!is_number && !arg->fields[LN_ARGDESC_FROM_FUNC])
        return forbid(op, arg, LN_ARGDESC_REALTYPE,
                      "is for numbers, and strings with \"from_func\"", err);
    return 0;
}

// Checks a field with a value of the parameter.
static int check_value(const ln_opdesc *op, const ln_argdesc *arg, ln_argdesc_field field,
                       ln_error *err)
{
    const ln_rjson *value = arg->fields[field];
    if (!value)
        return 0;
    const ln_rjson_type type = ln_ptype_specs[arg->ptype].type;
    const ln_rjson_type expected = ln_argdesc_is_array(arg) ? LN_RJSON_ARRAY : type;
    if (value->type != expected)
        return ln_opdesc_fail(op, value, err, "argument '%s': \"%s\" is %s, expected %s", arg->name,
                              ln_argdesc_key(field), ln_rjson_type_name(value->type),
                              ln_rjson_type_name(expected));
    return expected == LN_RJSON_ARRAY ? ln_opdesc_check_items(op, value, 1 << type, err) : 0;
}

static int check_param(const ln_opdesc *op, ln_argdesc *arg, ln_error *err)
{
    if (require(op, arg, LN_ARGDESC_PTYPE, err))
        return -1;
    const char *names[LN_ARGDESC_PTYPES];
    const vocabulary ptypes = {"ptype", names, LENGTH_OF(names)};
    arg->ptype = LN_ARGDESC_PTYPES;
    for (int i = 0; i < LN_ARGDESC_PTYPES; i++) {
        names[i] = ln_ptype_specs[i].name;
        if (strcmp(names[i], ln_argdesc_text(arg, LN_ARGDESC_PTYPE)) == 0)
            arg->ptype = (ln_argdesc_ptype)i;
    }
    if (arg->ptype == LN_ARGDESC_PTYPES)
        return fail_unknown(op, arg, arg->fields[LN_ARGDESC_PTYPE], &ptypes, err);
    apply_realtype(op, arg);
    return -(check_param_fields(op, arg, err) || check_value(op, arg, LN_ARGDESC_DEFAULT, err) ||
             check_value(op, arg, LN_ARGDESC_EXAMPLE, err));
}

// Where "[...]" ends that begins at `text`; NULL: it does not, or holds no expression.
static const char *skip_length(const char *text)
{
    static const char expression[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                     "0123456789+-*/%<>() ";
    const char *end = text + 1 + strspn(text + 1, expression);
    const int is_blank = text + 1 + strspn(text + 1, " ") == end;
    return *end == ']' && !is_blank ? end + 1 : NULL;
}

// Whether the text declares a member after its type: NAME, NAME[LENGTH], NAME[LENGTH][LENGTH].
static int is_member_declarator(const char *text)
{
    char name[LN_OPDESC_MAX_NAME + 1];
    const size_t len = strcspn(text, "[");
    snprintf(name, sizeof(name), "%.*s", (int)len, text);
    if (len > LN_OPDESC_MAX_NAME || !ln_c_is_identifier(name))
        return 0;
    const char *rest = text + len;
    while (rest && *rest == '[')
        rest = skip_length(rest);
    return rest && !*rest;
}

// A member has {"type": STRING, "name": STRING}.
static int check_extra_priv(const ln_opdesc *op, const ln_rjson *priv, ln_error *err)
{
    const ln_rjson *type = ln_rjson_get(priv, "type"), *name = ln_rjson_get(priv, "name");
    if (!type || !name || priv->len != 2 || type->type != LN_RJSON_STRING ||
        name->type != LN_RJSON_STRING)
        return ln_opdesc_fail(
            op, priv, err,
            "item of \"extra_privs\", expected {\"type\": STRING, \"name\": STRING}");
    if (!is_member_declarator(name->text))
        return ln_opdesc_fail(op, name, err,
                              "\"name\" is '%s', expected a C identifier that is not a keyword, or "
                              "one with lengths: name[LENGTH]",
                              name->text);
    return 0;
}

// The constant of C for a word of a vocabulary; NULL: it has none.
static const char *constant_of(const ln_rjson *word, const vocabulary *words,
                               const char *const *constants)
{
    size_t i = 0;
    while (word && i < words->len && strcmp(word->text, words->words[i]) != 0)
        i++;
    return word && i < words->len ? constants[i] : NULL;
}

// The operator's "inplace" is that of its only output.
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
        return ln_opdesc_fail_key(
            op, inplace, err, "\"inplace\" with %d outputs, expected it at one of them", noutputs);
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

// Determines whether it writes in place: a computing operator with an output in an input's memory
// does, and so does an abstract operator that declares it.
static int apply_inplace_writer(ln_opdesc *op, ln_error *err)
{
    const ln_rjson *writer = op->fields[LN_OPDESC_INPLACE_WRITER];
    if (writer && writer->boolean && !has_owner(op))
        return ln_opdesc_fail_key(op, writer, err,
                                  "\"inplace_writer\" without an output that has an \"owner\"");
    op->inplace_writer =
        writer ? writer->boolean
               : has_owner(op) && (op->fields[LN_OPDESC_RUN] || op->fields[LN_OPDESC_CALL]);
    return 0;
}

// Whether it has no side effects: without any, it can only be there for an effect.
static int apply_pure(ln_opdesc *op, ln_error *err)
{
    const ln_rjson *pure = op->fields[LN_OPDESC_PURE];
    if (pure && pure->boolean && !ln_opdesc_has_output(op))
        return ln_opdesc_fail_key(op, pure, err,
                                  "\"pure\" without an output: it would always be removed");
    op->pure = pure ? pure->boolean : ln_opdesc_has_output(op);
    return 0;
}

// Determines what it writes beside its tensors, which is a side effect.
static int apply_writes(ln_opdesc *op, ln_error *err)
{
    const ln_rjson *node = op->fields[LN_OPDESC_WRITES];
    if (check_word(op, NULL, node, &writes, err))
        return -1;
    if (node && op->pure)
        return ln_opdesc_fail_key(op, node, err,
                                  "\"writes\" of a pure operator, expected \"pure\": false");
    op->writes = constant_of(node, &writes, writes_constants);
    return 0;
}

static int apply_traits(ln_opdesc *op, ln_error *err)
{
    const ln_rjson *const list = op->fields[LN_OPDESC_TRAITS];
    if (ln_opdesc_check_items(op, list, STRING, err))
        return -1;
    for (size_t i = 0; list && i < list->len; i++) {
        if (check_word(op, NULL, list->items[i], &traits, err))
            return -1;
        op->traits =
            ln_arena_printf(&op->descs->arena, "%s%s%s", i ? op->traits : "", i ? " | " : "",
                            constant_of(list->items[i], &traits, trait_constants));
    }
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

int ln_opdesc_check(ln_opdesc *op, ln_error *err)
{
    if (check_required(op, err) ||
        check_word(op, NULL, op->fields[LN_OPDESC_MTYPE], &mtypes, err) ||
        ln_opdesc_check_items(op, op->fields[LN_OPDESC_EXTRA_PRIVS], OBJECT, err))
        return -1;
    const ln_rjson *privs = op->fields[LN_OPDESC_EXTRA_PRIVS];
    for (size_t i = 0; privs && i < privs->len; i++) {
        if (check_extra_priv(op, privs->items[i], err))
            return -1;
    }
    if (apply_inplace(op, err) || apply_inplace_writer(op, err) || apply_pure(op, err) ||
        apply_writes(op, err) || apply_traits(op, err))
        return -1;
    for (size_t i = 0; i < op->nargs; i++) {
        if (check_arg(op, &op->args[i], err))
            return -1;
    }
    op->arch = ln_opdesc_text(op, LN_OPDESC_ARCH);
    op->autogen = !op->fields[LN_OPDESC_AUTOGEN] || op->fields[LN_OPDESC_AUTOGEN]->boolean;
    return 0;
}
