// SPDX-License-Identifier: Apache-2.0
// Optimizer descriptions: reading the fields of a file.

#include "gen/ln_optdesc.h"

#include <stddef.h>
#include <string.h>

#include "gen/ln_optfamily.h"
#include "gen/ln_rjson.h"

enum { MAX_STAGE = 9, NO_STAGE = -1 /* of the rules of a file that is being read */ };

// Arguments of reading functions: the destination, the rule of the field, the error.
typedef struct reading {
    ln_optdesc *desc;
    ln_optrule *rule;
    ln_error *err;
} reading;

// A field: its key, the type it must have, and the function that reads it; NULL: its value goes
// into the rule as it is.
typedef struct field {
    const char *key;
    ln_rjson_type type;
    int required;
    int (*read)(const reading *to, const ln_rjson *node);
    size_t at; // without a function: the member of the rule
} field;

ln_optop *ln_optop_find(ln_optop *ops, const char *name)
{
    while (ops && (!ops->name || strcmp(ops->name, name) != 0))
        ops = ops->next;
    return ops;
}

ln_opttensor *ln_opttensor_find(const ln_optrule *rule, const char *name)
{
    ln_opttensor *tensor = rule->tensors;
    while (tensor && strcmp(tensor->name, name) != 0)
        tensor = tensor->next;
    return tensor;
}

// Objects by their tables of fields

static const field *find_field(const field *fields, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(fields[i].key, key) == 0)
            return &fields[i];
    }
    return NULL;
}

static int read_field(const reading *to, const field *fields, size_t n, const ln_rjson *node)
{
    const field *f = find_field(fields, n, node->key);
    if (!f) {
        ln_rjson at = *node;
        at.line = node->key_line;
        at.column = node->key_column;
        return ln_optrule_fail(to->rule, &at, to->err, "unknown key \"%s\"", node->key);
    }
    if (node->type != f->type)
        return ln_optrule_fail(to->rule, node, to->err, "\"%s\" is %s, expected %s", node->key,
                               ln_rjson_type_name(node->type), ln_rjson_type_name(f->type));
    if (f->read)
        return f->read(to, node);
    void *member = (char *)to->rule + f->at;
    if (node->type == LN_RJSON_STRING)
        *(const char **)member = node->text;
    else if (node->type == LN_RJSON_BOOL)
        *(int *)member = node->boolean;
    else
        *(double *)member = node->number;
    return 0;
}

static int read_object(const reading *to, const field *fields, size_t n, const ln_rjson *object,
                       const char *what)
{
    if (object->type != LN_RJSON_OBJECT)
        return ln_optrule_fail(to->rule, object, to->err, "%s is %s, expected an object", what,
                               ln_rjson_type_name(object->type));
    for (size_t i = 0; i < n; i++) {
        if (fields[i].required && !ln_rjson_get(object, fields[i].key))
            return ln_optrule_fail(to->rule, object, to->err, "%s has no \"%s\"", what,
                                   fields[i].key);
    }
    for (size_t i = 0; i < object->len; i++) {
        if (read_field(to, fields, n, object->items[i]))
            return -1;
    }
    return 0;
}

#define N_FIELDS(fields) (sizeof(fields) / sizeof((fields)[0]))

// Rules

static int read_match(const reading *to, const ln_rjson *node)
{
    return ln_optpat_parse(to->desc->arena, to->rule, node, &to->rule->match, to->err);
}

static int read_replace(const reading *to, const ln_rjson *node)
{
    return ln_optpat_parse(to->desc->arena, to->rule, node, &to->rule->replace, to->err);
}

static int read_tests(const reading *to, const ln_rjson *node)
{
    return ln_optpat_parse_tests(to->desc->arena, to->rule, node, &to->rule->tests, to->err);
}

static int read_when(const reading *to, const ln_rjson *node)
{
    to->rule->when = (const ln_rjson **)node->items;
    to->rule->nwhen = (int)node->len;
    for (size_t i = 0; i < node->len; i++) {
        const ln_rjson_type type = node->items[i]->type;
        if (type != LN_RJSON_STRING)
            return ln_optrule_fail(to->rule, node->items[i], to->err,
                                   "an item of \"%s\" is %s, expected %s", node->key,
                                   ln_rjson_type_name(type), ln_rjson_type_name(LN_RJSON_STRING));
    }
    return 0;
}

static int read_let(const reading *to, const ln_rjson *node)
{
    to->rule->let = node;
    return 0;
}

// Of a rule, or of all rules of the file that do not have it themselves.
static int read_stage(const reading *to, const ln_rjson *node)
{
    const double stage = node->number;
    if (stage != (int)stage || stage < 0 || stage > MAX_STAGE)
        return ln_optrule_fail(to->rule, node, to->err, "\"stage\" is %g, expected 0 to %d", stage,
                               MAX_STAGE);
    if (to->rule)
        to->rule->stage = (int)stage;
    else
        to->desc->stage = (int)stage;
    return 0;
}

#define IN_RULE(member) NULL, offsetof(ln_optrule, member)

static const field rule_fields[] = {
    {"name", LN_RJSON_STRING, 1, IN_RULE(name)},
    {"doc", LN_RJSON_STRING, 1, IN_RULE(doc)},
    {"function", LN_RJSON_STRING, 0, IN_RULE(function)},
    {"match", LN_RJSON_STRING, 0, read_match, 0},
    {"when", LN_RJSON_ARRAY, 0, read_when, 0},
    {"let", LN_RJSON_STRING, 0, read_let, 0},
    {"replace", LN_RJSON_STRING, 0, read_replace, 0},
    {"warn", LN_RJSON_STRING, 0, IN_RULE(warn)},
    {"adjacent", LN_RJSON_BOOL, 0, IN_RULE(adjacent)},
    {"dynamic", LN_RJSON_BOOL, 0, IN_RULE(dynamic)},
    {"wide", LN_RJSON_BOOL, 0, IN_RULE(wide)},
    {"within", LN_RJSON_NUMBER, 0, IN_RULE(within)},
    {"batch", LN_RJSON_BOOL, 0, IN_RULE(batch)},
    {"order", LN_RJSON_NUMBER, 0, IN_RULE(rank)},
    {"stage", LN_RJSON_NUMBER, 0, read_stage, 0},
    {"tests", LN_RJSON_STRING, 0, read_tests, 0},
};

// A rule is either hand-written, with few other fields, or has a pattern and fields for it.
static int check_form(const reading *to, const ln_rjson *node)
{
    const ln_optrule *const rule = to->rule;
    const size_t said = ln_rjson_get(node, "dynamic") || ln_rjson_get(node, "batch") ? 4 : 3;
    if (rule->function && node->len > said + (ln_rjson_get(node, "stage") ? 1 : 0))
        return ln_optrule_fail(rule, node, to->err,
                               "a rule with \"function\" may only have \"name\", \"doc\", "
                               "\"dynamic\" or \"batch\", and \"stage\" besides");
    if (!rule->function && !ln_rjson_get(node, "match"))
        return ln_optrule_fail(rule, node, to->err, "a rule has no \"match\"");
    const int nactions = (ln_rjson_get(node, "replace") != NULL) + (rule->warn != NULL);
    if (!rule->function && nactions != 1)
        return ln_optrule_fail(rule, node, to->err,
                               "a rule has either \"replace\" or \"warn\", this one has %s",
                               nactions ? "both" : "none");
    if (rule->warn && rule->let)
        return ln_optrule_fail(rule, rule->let, to->err,
                               "\"let\" is not valid with \"warn\": the rule has no replacement");
    return 0;
}

static int read_rule(const reading *to, const ln_rjson *node)
{
    reading inner = *to;
    inner.rule = ln_arena_alloc(to->desc->arena, sizeof(*inner.rule));
    inner.rule->place = *node;
    inner.rule->stage = NO_STAGE;
    const ln_rjson *name = ln_rjson_get(node, "name");
    if (name && name->type == LN_RJSON_STRING)
        inner.rule->name = name->text; // for messages about the keys before it
    if (read_object(&inner, rule_fields, N_FIELDS(rule_fields), node, "a rule") ||
        check_form(&inner, node))
        return -1;
    ln_optrule **at = &to->desc->rules; // after all rules whose "order" is not larger
    while (*at && (*at)->rank <= inner.rule->rank)
        at = &(*at)->next;
    inner.rule->next = *at;
    *at = inner.rule;
    return 0;
}

// Files

// A rule for each row of "for".
static int read_family(const reading *to, const ln_rjson *node, const ln_rjson *rows)
{
    if (rows->type != LN_RJSON_ARRAY || rows->len == 0)
        return ln_rjson_fail(rows, to->err, "\"for\" is %s, expected an array of rows",
                             rows->len ? ln_rjson_type_name(rows->type) : "empty");
    for (size_t i = 0; i < rows->len; i++) {
        const ln_rjson *const rule =
            ln_optfamily_rule(to->desc->arena, node, rows->items[i], to->err);
        if (!rule || read_rule(to, rule))
            return -1;
    }
    return 0;
}

static int read_rules(const reading *to, const ln_rjson *node)
{
    for (size_t i = 0; i < node->len; i++) {
        const ln_rjson *const rows = ln_rjson_get(node->items[i], "for");
        if (rows ? read_family(to, node->items[i], rows) : read_rule(to, node->items[i]))
            return -1;
    }
    return 0;
}

static int read_arch(const reading *to, const ln_rjson *node)
{
    if (to->desc->arch && strcmp(to->desc->arch, node->text) != 0)
        return ln_rjson_fail(node, to->err, "\"arch\" is '%s', but the previous files are for '%s'",
                             node->text, to->desc->arch);
    to->desc->arch = node->text;
    return 0;
}

static int read_code(const reading *to, const ln_rjson *node)
{
    ln_optdesc *desc = to->desc;
    desc->code = ln_arena_grow(desc->arena, desc->code, (size_t)desc->ncode, sizeof(*desc->code));
    desc->code[desc->ncode++] = node;
    return 0;
}

static int read_lower(const reading *to, const ln_rjson *node)
{
    if (to->desc->lower)
        return ln_rjson_fail(node, to->err, "\"lower\" is already defined at %s:%d",
                             to->desc->lower->file, to->desc->lower->line);
    to->desc->lower = node;
    return 0;
}

static void end_stage(ln_optdesc *desc)
{
    for (ln_optrule *rule = desc->rules; rule; rule = rule->next) {
        if (rule->stage == NO_STAGE)
            rule->stage = desc->stage;
        if (desc->nstages < rule->stage)
            desc->nstages = rule->stage;
    }
    if (desc->nstages < desc->stage)
        desc->nstages = desc->stage;
}

static const field file_fields[] = {
    {"arch", LN_RJSON_STRING, 1, read_arch, 0},   {"stage", LN_RJSON_NUMBER, 0, read_stage, 0},
    {"code", LN_RJSON_STRING, 0, read_code, 0},   {"rules", LN_RJSON_ARRAY, 0, read_rules, 0},
    {"lower", LN_RJSON_STRING, 0, read_lower, 0},
};

int ln_optdesc_read(ln_optdesc *desc, const ln_rjson *root, ln_error *err)
{
    const reading to = {.desc = desc, .err = err};
    desc->files =
        ln_arena_grow(desc->arena, desc->files, (size_t)desc->nfiles, sizeof(*desc->files));
    desc->files[desc->nfiles++] = root->file;
    desc->stage = 1;
    if (ln_oldnote_is_opt(root))
        return ln_rjson_fail(root, err,
                             "this is the old notation of optimizer descriptions, the new one is "
                             "in docs/optimizer-descriptions.md");
    if (read_object(&to, file_fields, N_FIELDS(file_fields), root, "the description"))
        return -1;
    end_stage(desc);
    return 0;
}
