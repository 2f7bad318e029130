// SPDX-License-Identifier: Apache-2.0
// Checks nodes against the schemas of their operators.

#include "front/onnx/ln_onnx_schema.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "front/onnx/ln_onnx_model.h"

// Lists

// The number after `sign`, which *list is moved behind; `deflt` without the sign.
static int read_bound(const char **list, const char *sign, int deflt)
{
    const size_t len = strlen(sign);
    int bound = 0;
    if (strncmp(*list, sign, len) != 0)
        return deflt;
    for (*list += len; **list >= '0' && **list <= '9'; ++*list)
        bound = 10 * bound + (**list - '0');
    return bound;
}

// The type behind a colon, which *list is moved behind; 0 without one.
static int read_type(const char **list)
{
    if (**list != ':')
        return 0;
    const char *const letter = strchr(LN_ONNX_TYPES, (*list)[1]);
    *list += 2;
    return (int)(letter - LN_ONNX_TYPES);
}

int ln_onnx_next_word(const char **list, ln_onnx_word *word)
{
    *list += strspn(*list, " ");
    word->text = *list;
    word->len = (int)strcspn(*list, " :<>");
    *list += word->len;
    word->type = read_type(list);
    word->since = read_bound(list, ">=", 0);
    word->before = read_bound(list, "<", INT_MAX);
    return word->len > 0;
}

int ln_onnx_word_is_in(const ln_onnx_word *word, int opset)
{
    return opset >= word->since && opset < word->before;
}

static int is_word(const ln_onnx_word *word, const char *name)
{
    return strncmp(word->text, name, (size_t)word->len) == 0 && name[word->len] == '\0';
}

int ln_onnx_schema_len(const char *lens, int opset)
{
    ln_onnx_word word;
    int len = 0;
    while (ln_onnx_next_word(&lens, &word)) {
        const char *const text = word.text;
        if (ln_onnx_word_is_in(&word, opset))
            len = *text == '*' ? INT_MAX : read_bound(&(const char *){text}, "", 0);
    }
    return len;
}

// Leftovers

// `value`: the only one without effect, or ANY.
enum { ANY = -1 };
static const struct {
    const char *name;
    int64_t value;
    const char *reason;
} leftovers[LN_ONNX_LEFTOVERS] = {
    {"consumed_inputs", ANY, "it was a hint for memory"},
    {"broadcast", ANY, "the operator always broadcasts"},
    {"is_test", 1, "the operator always infers"},
    {"spatial", 1, "the operator always normalizes channels"},
    {"__", ANY, "names that begin with __ are internal to the exporter"},
};

static int is_leftover(size_t i, const LnOnnx__Attribute *a, const ln_onnx_word *known)
{
    if (strcmp(leftovers[i].name, "__") == 0)
        return strncmp(a->name, "__", 2) == 0;
    return known->len && strcmp(a->name, leftovers[i].name) == 0 &&
           (leftovers[i].value == ANY || a->i == leftovers[i].value);
}

// Counts an attribute that its operator has only in other sets (`known`, or a word of length 0).
// 0: it is no leftover.
static int note_leftover(ln_onnx_leftovers *l, const ln_onnx_node *n, const LnOnnx__Attribute *a,
                         const ln_onnx_word *known)
{
    for (size_t i = 0; i < LN_ONNX_LEFTOVERS; i++) {
        if (!is_leftover(i, a, known))
            continue;
        if (l->n[i]++ == 0)
            n->emit.front->place(&n->emit, l->first[i], sizeof(l->first[i]));
        return 1;
    }
    return 0;
}

void ln_onnx_warn_of_leftovers(const ln_onnx_model *m, const ln_onnx_leftovers *l)
{
    for (size_t i = 0; i < LN_ONNX_LEFTOVERS; i++)
        if (l->n[i])
            ln_warn(m->base.ctx, "%s: %s: ignoring attribute '%s%s' (in %zu nodes): %s",
                    m->base.file, l->first[i], leftovers[i].name,
                    leftovers[i].name[0] == '_' ? "*" : "", l->n[i], leftovers[i].reason);
}

// Attributes

enum { HINT_SIZE = 256, NAME_SIZE = 64 };

// Finds the word `name` in the operator set. 0: not there; *found is one of another set, if any.
static int find_word(const char *list, const char *name, int opset, ln_onnx_word *found)
{
    ln_onnx_word word;
    *found = (ln_onnx_word){.text = ""};
    while (ln_onnx_next_word(&list, &word)) {
        if (!is_word(&word, name))
            continue;
        *found = word;
        if (ln_onnx_word_is_in(&word, opset))
            return 1;
    }
    return 0;
}

// The names that the operator set has, and the closest one, or "".
static void list_names(const char *list, int opset, const char *name, char *all, char *closest)
{
    char known[NAME_SIZE];
    ln_onnx_word word;
    size_t len = 0;
    *all = *closest = '\0';
    while (ln_onnx_next_word(&list, &word)) {
        if (!ln_onnx_word_is_in(&word, opset))
            continue;
        snprintf(known, sizeof(known), "%.*s", word.len, word.text);
        if (len < HINT_SIZE)
            len += (size_t)snprintf(all + len, HINT_SIZE - len, "%s%s", len ? ", " : "", known);
        if (ln_closer_name(name, *closest ? closest : NULL, known) == known)
            memcpy(closest, known, sizeof(known));
    }
}

// How to correct attribute `name`, which other operator sets have as `other` (length 0: none have).
static void write_hint(char *hint, const char *list, int opset, const char *name,
                       const ln_onnx_word *other)
{
    char all[HINT_SIZE], closest[NAME_SIZE];
    list_names(list, opset, name, all, closest);
    if (other->len && opset < other->since)
        snprintf(hint, HINT_SIZE, "operator set %d is the first with it", other->since);
    else if (other->len)
        snprintf(hint, HINT_SIZE, "operator set %d is the last with it", other->before - 1);
    else if (*closest)
        snprintf(hint, HINT_SIZE, "did you mean '%s'?", closest);
    else if (*all)
        snprintf(hint, HINT_SIZE, "expected one of %.230s", all);
    else
        snprintf(hint, HINT_SIZE, "it has none");
}

// Of several attributes with one name, all but one would be ignored.
static void check_duplicate(ln_onnx_node *n, const LnOnnx__Attribute *a)
{
    if (ln_onnx_find_attr(n->scope, n->proto, a->name) != a)
        ln_emit_fail(&n->emit, "duplicate attribute '%.200s', expected each once", a->name);
}

static void check_attr(ln_onnx_node *n, const LnOnnx__Attribute *a, const char *list,
                       ln_onnx_leftovers *l)
{
    char hint[HINT_SIZE];
    ln_onnx_word known;
    if (find_word(list, a->name, n->opset, &known)) {
        ln_onnx_want_type(n, a, known.type);
    } else if (!note_leftover(l, n, a, &known)) {
        write_hint(hint, list, n->opset, a->name, &known);
        ln_emit_fail(&n->emit, "unrecognized attribute '%.200s' for operator %.200s; %s", a->name,
                     ln_onnx_text(n->proto->op_type), hint);
    }
}

static void check_call(ln_onnx_node *n, const LnOnnx__Function *f, const LnOnnx__Attribute *a)
{
    if (!ln_onnx_function_declares(n->model, f, a->name))
        ln_emit_fail(&n->emit,
                     "unrecognized attribute '%.200s' for operator %.200s; expected one that the "
                     "function declares",
                     a->name, ln_onnx_text(f->name));
}

// Nodes

static void check_len(ln_onnx_node *n, const char *what, int len, int max)
{
    if (len > max)
        ln_emit_fail(&n->emit, "%d %s, expected at most %d", len, what, max);
}

static void check_names(ln_onnx_node *n)
{
    for (size_t i = 0; i < n->proto->n_attribute && !ln_onnx_failed(n); i++)
        if (!n->proto->attribute[i]->name)
            ln_emit_fail(&n->emit, "attribute %zu has no name", i);
}

void ln_onnx_check_node(ln_onnx_node *n, const LnOnnx__Function *function, ln_onnx_leftovers *l)
{
    const ln_onnx_schema *const schema =
        function ? NULL : ln_onnx_find_schema(n->proto->domain, n->proto->op_type);
    check_names(n);
    for (size_t i = 0; i < n->proto->n_attribute && !ln_onnx_failed(n); i++) {
        const LnOnnx__Attribute *const a = n->proto->attribute[i];
        check_duplicate(n, a);
        if (function)
            check_call(n, function, a);
        else if (schema)
            check_attr(n, a, schema->attrs, l);
    }
    if (!schema)
        return;
    check_len(n, "inputs", ln_onnx_num_inputs(n), ln_onnx_schema_len(schema->inputs, n->opset));
    check_len(n, "outputs", ln_onnx_num_outputs(n), ln_onnx_schema_len(schema->outputs, n->opset));
}
