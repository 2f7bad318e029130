// SPDX-License-Identifier: Apache-2.0
// Operator descriptions: files read, operators completed by inheritance.

#include "gen/ln_opdesc.h"

#include <stdio.h>
#include <string.h>

#include "gen/ln_cgen.h"
#include "gen/ln_opdesc_fields.h"
#include "gen/ln_rjson.h"
#include "lightnet/ln_util.h"

// The operator of that type, or NULL. Returns borrowed.
static ln_opdesc *find_op(const ln_opdescs *descs, const char *optype)
{
    for (size_t i = 0; i < descs->len; i++) {
        if (strcmp(descs->ops[i]->optype, optype) == 0)
            return descs->ops[i];
    }
    return NULL;
}

// Reading fields

// 1 for a string of blanks.
static int is_blank(const ln_rjson *node)
{
    return node->type == LN_RJSON_STRING && !node->text[strspn(node->text, " \t\r\n")];
}

// Sorts the members of `object` into `fields` by their keys; null, or code without a statement,
// takes an inherited field away.
// `kinds` 0: the specs are of operators.
static int read_fields(const ln_opdesc *op, const ln_rjson *object, const field_spec *specs,
                       size_t nspecs, int kinds, const ln_rjson **fields, ln_error *err)
{
    char types[LN_OPDESC_TYPES_TEXT];
    for (size_t i = 0; i < object->len; i++) {
        const ln_rjson *member = object->items[i];
        size_t f = 0;
        while (f < nspecs &&
               (strcmp(specs[f].key, member->key) != 0 || (kinds && !(specs[f].kinds & kinds))))
            f++;
        if (f == nspecs)
            return ln_opdesc_fail_key(op, member, err, "unknown key \"%s\"", member->key);
        if (member->type == LN_RJSON_NULL || (specs[f].is_body && is_blank(member))) {
            fields[f] = NULL;
            continue;
        }
        if (is_blank(member) && strcmp(member->key, "default") != 0)
            return ln_opdesc_fail(op, member, err, "\"%s\" is empty", member->key);
        if (!(specs[f].types & 1 << member->type))
            return ln_opdesc_fail(op, member, err, "\"%s\" is %s, expected %s", member->key,
                                  ln_rjson_type_name(member->type),
                                  ln_opdesc_types_text(specs[f].types, types));
        fields[f] = member;
    }
    return 0;
}

// Files

static void add_includes(ln_opdesc *op, const ln_rjson *const *headers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < op->nincludes && strcmp(op->includes[k]->text, headers[i]->text) != 0)
            k++;
        if (k < op->nincludes)
            continue;
        op->includes =
            ln_arena_grow(&op->descs->arena, op->includes, op->nincludes, sizeof(*op->includes));
        op->includes[op->nincludes++] = headers[i];
    }
}

// The optype, or why there is none.
static const ln_rjson *read_optype(const ln_rjson *node, ln_error *err)
{
    const ln_rjson *optype = ln_rjson_get(node, "optype");
    if (!optype)
        ln_rjson_fail(node, err, "an operator without \"optype\"");
    else if (optype->type != LN_RJSON_STRING)
        ln_rjson_fail(optype, err, "\"optype\" is %s, expected a string",
                      ln_rjson_type_name(optype->type));
    else if (strlen(optype->text) > LN_OPDESC_MAX_NAME)
        ln_rjson_fail(optype, err, "optype has %zu characters, expected at most %d",
                      strlen(optype->text), LN_OPDESC_MAX_NAME);
    else if (!ln_c_is_identifier(optype->text))
        ln_rjson_fail(optype, err, "optype '%s', expected a C identifier that is not a keyword",
                      optype->text);
    else
        return optype;
    return NULL;
}

// Adds an operator of that type, described at `node`. NULL with a reason.
static ln_opdesc *add_op(ln_opdescs *descs, const char *optype, const ln_rjson *node, int own,
                         ln_error *err)
{
    const ln_opdesc *known = find_op(descs, optype);
    const ln_rjson *place = ln_rjson_get(node, "optype");
    if (known) {
        ln_opdesc_fail(known, place ? place : node, err, "already described at %s:%d",
                       known->node->file, known->node->line);
        return NULL;
    }
    descs->ops = ln_arena_grow(&descs->arena, descs->ops, descs->len, sizeof(*descs->ops));
    ln_opdesc *op = ln_arena_alloc(&descs->arena, sizeof(*op));
    op->descs = descs;
    op->optype = optype;
    op->node = node;
    op->own = own;
    descs->ops[descs->len++] = op;
    return op;
}

// Adds the operator that computes `base` on the target which `row` of "targets" is for.
static int add_target(ln_opdescs *descs, ln_opdesc *base, const ln_rjson *row, ln_error *err)
{
    if (row->type != LN_RJSON_STRING && row->type != LN_RJSON_OBJECT)
        return ln_opdesc_fail(base, row, err, "target '%s' is %s, expected a string or an object",
                              row->key, ln_rjson_type_name(row->type));
    const char *name = ln_arena_printf(&descs->arena, "%s_%s", base->optype, row->key);
    ln_opdesc *op = add_op(descs, name, row, base->own, err);
    if (!op)
        return -1;
    op->base = base;
    return 0;
}

static int read_op(ln_opdescs *descs, const ln_rjson *node, int own, ln_error *err)
{
    const ln_rjson *optype = read_optype(node, err), *targets = ln_rjson_get(node, "targets");
    ln_opdesc *op = optype ? add_op(descs, optype->text, node, own, err) : NULL;
    if (!op)
        return -1;
    if (!targets || targets->type != LN_RJSON_OBJECT)
        return 0; // reading the fields reports a wrong type
    for (size_t i = 0; i < targets->len; i++) {
        if (add_target(descs, op, targets->items[i], err))
            return -1;
    }
    return 0;
}

static int read_ops(ln_opdescs *descs, const ln_rjson *ops, int own, ln_error *err)
{
    for (size_t i = 0; ops && i < ops->len; i++) {
        if (ops->items[i]->type != LN_RJSON_OBJECT)
            return ln_rjson_fail(ops->items[i], err, "item of \"ops\" is %s, expected an object",
                                 ln_rjson_type_name(ops->items[i]->type));
        if (read_op(descs, ops->items[i], own, err))
            return -1;
    }
    return 0;
}

static int check_includes(const ln_rjson *includes, ln_error *err)
{
    for (size_t i = 0; includes && i < includes->len; i++) {
        const ln_rjson *header = includes->items[i];
        if (header->type != LN_RJSON_STRING)
            return ln_rjson_fail(header, err, "item of \"includes\" is %s, expected a string",
                                 ln_rjson_type_name(header->type));
    }
    return 0;
}

// The items of "types", each of which describes an argument.
static int check_types(const ln_rjson *types, ln_error *err)
{
    for (size_t i = 0; types && i < types->len; i++) {
        const ln_rjson *type = types->items[i], *name = ln_rjson_get(type, "arg_name");
        if (!name || name->type != LN_RJSON_STRING)
            return ln_rjson_fail(type, err, "item of \"types\" without \"arg_name\"");
        if (ln_rjson_get(type, "type"))
            return ln_rjson_fail(type, err, "type '%s' has a \"type\" itself", name->text);
    }
    return 0;
}

static int check_root(const ln_rjson *root, ln_error *err)
{
    static const struct {
        const char *key;
        ln_rjson_type type;
    } fields[] = {
        {"ops", LN_RJSON_ARRAY},     {"types", LN_RJSON_ARRAY}, {"includes", LN_RJSON_ARRAY},
        {"author", LN_RJSON_STRING}, {"arch", LN_RJSON_STRING}, {"mtype", LN_RJSON_STRING},
    };
    if (!ln_rjson_get(root, "ops") && !ln_rjson_get(root, "types"))
        return ln_rjson_fail(root, err, "a description file needs an object with \"ops\"");
    for (size_t i = 0; i < root->len; i++) {
        const ln_rjson *member = root->items[i];
        size_t f = 0;
        while (f < LENGTH_OF(fields) && strcmp(fields[f].key, member->key) != 0)
            f++;
        if (f == LENGTH_OF(fields))
            return ln_rjson_fail_key(member, err, "unknown key \"%s\"", member->key);
        if (member->type != fields[f].type)
            return ln_rjson_fail(member, err, "\"%s\" is %s, expected %s", member->key,
                                 ln_rjson_type_name(member->type),
                                 ln_rjson_type_name(fields[f].type));
    }
    return -(check_includes(ln_rjson_get(root, "includes"), err) ||
             check_types(ln_rjson_get(root, "types"), err));
}

static int read_root(ln_opdescs *descs, const ln_rjson *root, int own, ln_error *err)
{
    const ln_rjson *includes = ln_rjson_get(root, "includes");
    const size_t first = descs->len;
    if (check_root(root, err) || read_ops(descs, ln_rjson_get(root, "ops"), own, err))
        return -1;
    for (size_t i = first; i < descs->len; i++) {
        descs->ops[i]->root = root;
        if (includes)
            add_includes(descs->ops[i], (const ln_rjson *const *)includes->items, includes->len);
    }
    return 0;
}

ln_opdescs *ln_opdescs_create(void)
{
    ln_arena arena = {0};
    ln_opdescs *descs = ln_arena_alloc(&arena, sizeof(*descs));
    descs->arena = arena;
    return descs;
}

void ln_opdescs_free(ln_opdescs *descs)
{
    if (!descs)
        return;
    for (size_t i = 0; i < descs->nfiles; i++)
        ln_rjson_free(descs->files[i]);
    ln_arena arena = descs->arena; // descs lies there, too
    ln_arena_free(&arena);
}

// Adds to the reason why a file is no relaxed JSON.
static void explain_notation(const char *file, ln_error *err)
{
    char reason[LN_MAXLINE];
    snprintf(reason, sizeof(reason), "%s", ln_error_text(err));
    char *text = ln_read_text(file);
    if (text && ln_oldnote_is_op(text)) {
        ln_error_clear(err);
        ln_error_set(err,
                     "%s; this is the old notation of operator descriptions, the new one is in "
                     "docs/operator-descriptions.md",
                     reason);
    }
    ln_free(text);
}

int ln_opdescs_read(ln_opdescs *descs, const char *file, int own, ln_error *err)
{
    descs->files = ln_arena_grow(&descs->arena, descs->files, descs->nfiles, sizeof(*descs->files));
    ln_rjson *root = ln_rjson_read(file, err);
    if (!root) {
        explain_notation(file, err);
        return -1;
    }
    descs->files[descs->nfiles++] = root;
    return read_root(descs, root, own, err);
}

// Inheritance

// The argument of that kind and name, a new one after the others of its kind if need be.
static ln_argdesc *get_arg(ln_opdesc *op, ln_argdesc_kind kind, const char *name)
{
    for (size_t i = 0; i < op->nargs; i++) {
        if (op->args[i].kind == kind && strcmp(op->args[i].name, name) == 0)
            return &op->args[i];
    }
    ln_argdesc *args = ln_arena_grow(&op->descs->arena, op->args, op->nargs, sizeof(*args));
    op->args = args;
    size_t at = op->nargs++;
    for (; at > 0 && args[at - 1].kind > kind; at--)
        args[at] = args[at - 1];
    args[at] = (ln_argdesc){.kind = kind, .name = name};
    return &args[at];
}

static void drop_inherited(const ln_rjson **fields, const ln_rjson *node, const field_spec *specs,
                           const field_pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (ln_rjson_get(node, specs[pairs[i].one].key))
            fields[pairs[i].other] = NULL;
        if (ln_rjson_get(node, specs[pairs[i].other].key))
            fields[pairs[i].one] = NULL;
    }
}

// The description of that name among the "types" of all files, or NULL.
static const ln_rjson *find_type(const ln_opdescs *descs, const char *name)
{
    for (size_t i = 0; i < descs->nfiles; i++) {
        const ln_rjson *types = ln_rjson_get(descs->files[i], "types");
        for (size_t k = 0; types && k < types->len; k++) {
            if (strcmp(ln_rjson_get(types->items[k], "arg_name")->text, name) == 0)
                return types->items[k];
        }
    }
    return NULL;
}

// Replaces fields of an argument by those of `node`.
static int read_arg_fields(const ln_opdesc *op, ln_argdesc *arg, const ln_rjson *node,
                           ln_error *err)
{
    drop_inherited(arg->fields, node, ln_opdesc_arg_fields, ln_opdesc_arg_pairs,
                   LN_OPDESC_ARG_PAIRS);
    return read_fields(op, node, ln_opdesc_arg_fields, LN_ARGDESC_FIELDS, 1 << arg->kind,
                       arg->fields, err);
}

// The name of an argument: its own, or that of its type.
static const ln_rjson *name_of_arg(const ln_rjson *node)
{
    const ln_rjson *name = ln_rjson_get(node, "arg_name");
    return name ? name : ln_rjson_get(node, "type");
}

static int read_arg(const ln_opdescs *descs, ln_opdesc *op, ln_argdesc_kind kind,
                    const ln_rjson *node, ln_error *err)
{
    const ln_rjson *name = name_of_arg(node);
    if (!name)
        return ln_opdesc_fail(op, node, err, "item of \"%s\" without \"arg_name\"",
                              ln_opdesc_key(ln_opdesc_kind_fields[kind]));
    if (name->type != LN_RJSON_STRING)
        return ln_opdesc_fail(op, name, err, "\"%s\" is %s, expected a string", name->key,
                              ln_rjson_type_name(name->type));
    ln_argdesc *arg = get_arg(op, kind, name->text);
    arg->node = node;
    // Reading the fields reports a wrong type.
    const ln_rjson *type = ln_rjson_get(node, "type");
    if (type && type->type == LN_RJSON_STRING) {
        const ln_rjson *described = find_type(descs, type->text);
        if (!described)
            return ln_opdesc_fail(op, type, err, "type '%s' has no description", type->text);
        if (read_arg_fields(op, arg, described, err))
            return -1;
    }
    return read_arg_fields(op, arg, node, err);
}

// Merges the operator's own list of one kind into its arguments.
static int read_args(const ln_opdescs *descs, ln_opdesc *op, ln_argdesc_kind kind, ln_error *err)
{
    const ln_rjson *list = ln_rjson_get(op->node, ln_opdesc_key(ln_opdesc_kind_fields[kind]));
    if (ln_opdesc_check_items(op, list, OBJECT, err))
        return -1;
    for (size_t i = 0; list && i < list->len; i++) {
        if (read_arg(descs, op, kind, list->items[i], err))
            return -1;
        const char *name = name_of_arg(list->items[i])->text;
        for (size_t k = 0; k < i; k++) {
            if (strcmp(name_of_arg(list->items[k])->text, name) == 0)
                return ln_opdesc_fail(op, list->items[i], err, "argument '%s' is already described",
                                      name);
        }
    }
    return 0;
}

// Copies fields of the parent that an operator without own fields lacks, and the arguments if it
// has none.
static void copy_inherited(ln_opdesc *op, const ln_opdesc *parent)
{
    const size_t size = parent->nargs * sizeof(*parent->args);
    for (size_t f = 0; f < LN_OPDESC_FIELDS; f++) {
        if (!op->fields[f] && !ln_opdesc_op_fields[f].is_own)
            op->fields[f] = parent->fields[f];
    }
    add_includes(op, parent->includes, parent->nincludes);
    if (op->nargs)
        return;
    op->nargs = parent->nargs;
    op->args = ln_arena_alloc(&op->descs->arena, size + 1);
    if (size)
        memcpy(op->args, parent->args, size);
}

static int resolve(ln_opdescs *descs, ln_opdesc *op, ln_error *err);

// Inherits the end of the pre_run of `parent`'s base: the parent, an operator of a target, calls
// that of the base, but this operator has its own.
static int inherit_base(ln_opdesc *op, const ln_opdesc *parent, ln_error *err)
{
    for (size_t f = 0; parent->base && f < LN_OPDESC_FIELDS; f++) {
        const ln_rjson *field = parent->base->fields[f];
        if (!ln_opdesc_op_fields[f].is_last || !field)
            continue;
        if (!op->fields[f])
            op->fields[f] = field;
        else if (f == LN_OPDESC_CUSTOM && !ln_rjson_get(op->node, "custom"))
            return ln_opdesc_fail(
                op, op->node, err,
                "inherits \"custom\" of '%s' and of '%s', expected one of its own",
                parent->base->optype, parent->optype);
    }
    return 0;
}

static int inherit_from(ln_opdescs *descs, ln_opdesc *op, const ln_rjson *name, ln_error *err)
{
    if (name->type != LN_RJSON_STRING)
        return ln_opdesc_fail(op, name, err, "item of \"inherits\" is %s, expected a string",
                              ln_rjson_type_name(name->type));
    ln_opdesc *parent = find_op(descs, name->text);
    if (!parent)
        return ln_opdesc_fail(op, name, err, "inherits '%s', which is described nowhere",
                              name->text);
    if (parent->state == LN_OPDESC_BEING_COMPLETED)
        return ln_opdesc_fail(op, name, err, "inherits '%s', which inherits from this one",
                              name->text);
    if (resolve(descs, parent, err))
        return -1;
    copy_inherited(op, parent);
    return inherit_base(op, parent, err);
}

static int inherit(ln_opdescs *descs, ln_opdesc *op, ln_error *err)
{
    const ln_rjson *names = ln_rjson_get(op->node, "inherits");
    if (!names || (names->type != LN_RJSON_STRING && names->type != LN_RJSON_ARRAY))
        return 0; // reading the fields reports a wrong type
    const size_t n = names->type == LN_RJSON_ARRAY ? names->len : 1;
    for (size_t i = 0; i < n; i++) {
        if (inherit_from(descs, op, names->type == LN_RJSON_ARRAY ? names->items[i] : names, err))
            return -1;
    }
    drop_inherited(op->fields, op->node, ln_opdesc_op_fields, ln_opdesc_op_pairs,
                   LN_OPDESC_OP_PAIRS);
    if (ln_rjson_get(op->node, "mtype") || ln_rjson_get(op->root, "mtype")) {
        for (size_t i = 0; i < op->nargs; i++)
            op->args[i].fields[LN_ARGDESC_MTYPE] = NULL;
    }
    return 0;
}

// Takes the fields away that a row of "targets" may give, and those whose C the base's pre_run
// has: they are the base's own.
static void drop_target_fields(ln_opdesc *op)
{
    for (size_t f = 0; f < LN_OPDESC_FIELDS; f++) {
        if (ln_opdesc_op_fields[f].of_target || ln_opdesc_op_fields[f].is_last)
            op->fields[f] = NULL;
    }
    for (size_t i = 0; i < op->nargs; i++) {
        const ln_rjson **mtype = &op->args[i].fields[LN_ARGDESC_MTYPE];
        if (*mtype == op->base->fields[LN_OPDESC_MTYPE])
            *mtype = NULL;
    }
}

// The fields of a target's row, each of which a target may have.
static int read_target_fields(ln_opdesc *op, ln_error *err)
{
    const ln_rjson *fields[LN_OPDESC_FIELDS] = {NULL};
    if (read_fields(op, op->node, ln_opdesc_op_fields, LN_OPDESC_FIELDS, 0, fields, err))
        return -1;
    for (size_t f = 0; f < LN_OPDESC_FIELDS; f++) {
        if (!fields[f])
            continue;
        if (!ln_opdesc_op_fields[f].of_target)
            return ln_opdesc_fail_key(op, fields[f], err,
                                      "\"%s\" in a row of \"targets\", expected call, run, "
                                      "static_call, static_run, scratch, macs, algorithm, layout, "
                                      "custom or mtype",
                                      fields[f]->key);
        op->fields[f] = fields[f];
    }
    return 0;
}

// The memory type of a target's kernels, unless its row has one.
static const char *mtype_of_target(const char *target)
{
    static const struct {
        const char *target, *mtype;
    } known[] = {{"cpu", "LN_MEM_CPU"}, {"cuda", "LN_MEM_CUDA"}};
    for (size_t i = 0; i < LENGTH_OF(known); i++) {
        if (strcmp(known[i].target, target) == 0)
            return known[i].mtype;
    }
    return NULL;
}

// A string that no file has, at the place of `node`.
static ln_rjson string_at(const ln_rjson *node, const char *text)
{
    ln_rjson string = *node;
    string.type = LN_RJSON_STRING;
    string.text = (char *)text;
    return string;
}

// Completes an operator of "targets": its base's arguments, its row's calls.
static int resolve_target(ln_opdescs *descs, ln_opdesc *op, ln_error *err)
{
    const char *mtype = mtype_of_target(op->node->key);
    if (op->base->state == LN_OPDESC_BEING_COMPLETED)
        return ln_opdesc_fail(op, op->node, err, "'%s' inherits from its own target operator",
                              op->base->optype);
    if (resolve(descs, op->base, err))
        return -1;
    copy_inherited(op, op->base);
    drop_target_fields(op);
    if (op->node->type == LN_RJSON_STRING)
        op->fields[LN_OPDESC_CALL] = op->node;
    else if (read_target_fields(op, err))
        return -1;
    op->target_type = string_at(op->node, op->optype);
    op->target_arch = string_at(op->node, op->node->key);
    op->target_mtype = string_at(op->node, mtype);
    op->fields[LN_OPDESC_OPTYPE] = &op->target_type;
    op->fields[LN_OPDESC_ARCH] = &op->target_arch;
    if (!op->fields[LN_OPDESC_MTYPE] && mtype)
        op->fields[LN_OPDESC_MTYPE] = &op->target_mtype;
    if (!op->fields[LN_OPDESC_MTYPE])
        return ln_opdesc_fail(op, op->node, err, "target '%s' needs \"mtype\"", op->node->key);
    op->state = LN_OPDESC_COMPLETE;
    if (ln_opdesc_check(op, err))
        return -1;
    op->autogen = op->base->autogen;
    if (op->inplace_writer != op->base->inplace_writer)
        return ln_opdesc_fail(op, op->node, err,
                              "writes in place, expected \"inplace_writer\": true in '%s'",
                              op->base->optype);
    return 0;
}

static int resolve(ln_opdescs *descs, ln_opdesc *op, ln_error *err)
{
    if (op->state == LN_OPDESC_COMPLETE)
        return 0;
    if (op->base)
        return resolve_target(descs, op, err);
    op->state = LN_OPDESC_BEING_COMPLETED;
    if (inherit(descs, op, err))
        return -1;
    for (size_t f = 0; f < LN_OPDESC_FIELDS; f++) { // fields for all operators
        const field_spec *spec = &ln_opdesc_op_fields[f];
        const ln_rjson *member = spec->of_file ? ln_rjson_get(op->root, spec->key) : NULL;
        if (member)
            op->fields[f] = member;
    }
    if (read_fields(op, op->node, ln_opdesc_op_fields, LN_OPDESC_FIELDS, 0, op->fields, err))
        return -1;
    for (int kind = LN_ARGDESC_IN; kind <= LN_ARGDESC_PARAM; kind++) {
        if (read_args(descs, op, (ln_argdesc_kind)kind, err))
            return -1;
    }
    op->state = LN_OPDESC_COMPLETE;
    return ln_opdesc_check(op, err);
}

int ln_opdescs_check(ln_opdescs *descs, ln_error *err)
{
    for (size_t i = 0; i < descs->len; i++) {
        if (resolve(descs, descs->ops[i], err))
            return -1;
    }
    return 0;
}
