// SPDX-License-Identifier: Apache-2.0
// Finds the form that outputs fit.
//
// Each form is tried with the names of its roles, then without them: outputs are assigned to roles
// one after the other, and the sizes of letters remain as in the first role that has them. `fit`
// grades a complete assignment. Of all forms the best grade wins, then the one with most roles,
// then the first one.

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tensorlight/tl_type.h"
#include "vision/ln_detect_form.h"

// Assignments to try for a form: hostile outputs could have very many.
enum { MAX_TRIES = 100000 };

typedef struct search {
    ln_detect_reading *r;
    int n;
    const char *const *names;
    const tl_tensor *const *tensors;
    const ln_detect_form *form;
    int is_named; // names must fit
    uint64_t used;
    int tries;
} search;

// Names

// Whether `name` contains the `len` bytes of `part`, in any case.
static int contains(const char *name, const char *part, size_t len)
{
    for (; *name; name++) {
        size_t i = 0;
        while (i < len && tolower((unsigned char)name[i]) == part[i])
            i++;
        if (i == len)
            return 1;
    }
    return 0;
}

static int has_part(const char *name, const char *parts)
{
    while (*parts) {
        const size_t len = strcspn(parts, "|");
        if (contains(name, parts, len))
            return 1;
        parts += len + (parts[len] == '|');
    }
    return 0;
}

// Shapes

static int count_axes(const char *shape)
{
    int n = *shape != '\0';
    for (; *shape; shape++)
        n += *shape == ',';
    return n;
}

enum { UNSET = -1, NO_SIZE = -2 }; // of a letter

// Whether the size fits a number, or a letter that has it or has none yet.
static int fit_size(ln_detect_reading *r, const char *token, int size)
{
    if (*token < 'A' || *token > 'Z') {
        int number = 0;
        for (; *token >= '0' && *token <= '9'; token++)
            number = 10 * number + (*token - '0');
        return number == size;
    }
    int *const letter = &r->sizes[*token - 'A'];
    if (*letter == UNSET)
        *letter = size;
    return *letter == size;
}

// Whether the shape fits. Sets letters, also if it does not.
static int fit_shape(ln_detect_reading *r, const char *shape, const tl_tensor *t)
{
    const int skipped = t->ndim - count_axes(shape);
    if (skipped < 0)
        return 0;
    for (int i = 0; i < skipped; i++)
        if (t->dims[i] != 1)
            return 0;
    for (int i = skipped; i < t->ndim; i++) {
        if (!fit_size(r, shape, t->dims[i]))
            return 0;
        shape += strcspn(shape, ",");
        shape += *shape == ',';
    }
    return 1;
}

static int fit_type(ln_detect_type wanted, tl_dtype dtype)
{
    return dtype != TL_STRING &&
           (wanted == LN_DETECT_ANY || tl_dtype_is_float(dtype) == (wanted == LN_DETECT_FLOAT));
}

static int fit_role(const search *s, const ln_detect_role *role, int k)
{
    return !(s->used >> k & 1) && fit_type(role->type, s->tensors[k]->dtype) &&
           (!s->is_named || !role->names || has_part(s->names[k], role->names)) &&
           fit_shape(s->r, role->shape, s->tensors[k]);
}

// The grade of the first assignment of outputs to roles from `i` on that fits; 0: none.
static int assign(search *s, int i)
{
    int sizes[LN_DETECT_N_LETTERS], grade = 0;
    const ln_detect_role *const role = &s->form->roles[i];
    if (!role->shape)
        return s->form->fit(s->r);
    memcpy(sizes, s->r->sizes, sizeof(sizes));
    for (int k = 0; k < s->n && !grade && s->tries < MAX_TRIES; k++) {
        s->tries++;
        if (fit_role(s, role, k)) {
            s->r->of[i] = s->tensors[k];
            s->used |= (uint64_t)1 << k;
            grade = assign(s, i + 1);
            s->used &= ~((uint64_t)1 << k);
        }
        if (!grade)
            memcpy(s->r->sizes, sizes, sizeof(sizes));
    }
    return grade;
}

static int count_roles(const ln_detect_form *form)
{
    int n = 0;
    while (form->roles[n].shape)
        n++;
    return n;
}

// Clears what the form before has set. No output has more than INT_MAX rows.
static void reset(ln_detect_reading *r, const ln_detect_form *form)
{
    *r = (ln_detect_reading){.form = form,
                             .options = r->options,
                             .height = r->height,
                             .width = r->width,
                             .first_stride = 8};
    for (int i = 0; i < LN_DETECT_N_LETTERS; i++)
        r->sizes[i] = UNSET;
    for (int i = 0; i < 3; i++) {
        const int64_t cells = (int64_t)(r->height / (8 << i)) * (r->width / (8 << i));
        r->sizes['U' - 'A' + i] = cells <= INT32_MAX ? (int)cells : NO_SIZE;
        r->sizes['X' - 'A' + i] = cells <= INT32_MAX / 2 ? (int)cells * 2 : NO_SIZE;
    }
}

static int try_form(search *s, const ln_detect_form *form)
{
    int grade = 0;
    for (int is_named = 1; is_named >= (form->traits & LN_DETECT_NAMED ? 1 : 0) && !grade;
         is_named--) {
        reset(s->r, form);
        s->form = form;
        s->is_named = is_named;
        s->used = 0;
        s->tries = 0;
        grade = assign(s, 0);
    }
    return grade ? grade * (LN_DETECT_MAX_ROLES + 1) + count_roles(form) : 0;
}

// Kinds

// A form with masks or key points also detects, unless these are columns that might be classes.
static int is_of_kind(const ln_detect_form *form, const char *kind)
{
    return !kind || !strcmp(kind, form->family.name) || !strcmp(kind, form->family.task) ||
           (!strcmp(kind, "detect") && form->roles[1].shape);
}

static int fail_kind(const char *kind, ln_error *err)
{
    char known[512] = "";
    size_t len = 0;
    const ln_detect_form *form;
    for (int i = 0; (form = ln_detect_form_row(i)) && len < sizeof(known); i++) {
        const ln_detect_form *const last = i ? ln_detect_form_row(i - 1) : NULL;
        if (!last || strcmp(last->family.name, form->family.name) != 0)
            len += (size_t)snprintf(known + len, sizeof(known) - len, ", %s", form->family.name);
    }
    return ln_error_set_as(err, LN_BAD_ARGUMENT,
                           "'%s' is no task or family of detections; expected detect, segment, "
                           "pose, obb%s",
                           kind, known);
}

// The nearest form

// The roles of the form that no output fits, by shape and type; 1 if all fit, but not together.
static int count_missing(search *s, const ln_detect_form *form)
{
    int missing = 0;
    reset(s->r, form);
    s->is_named = (form->traits & LN_DETECT_NAMED) != 0;
    s->used = 0;
    for (const ln_detect_role *role = form->roles; role->shape; role++) {
        int k = 0, sizes[LN_DETECT_N_LETTERS];
        memcpy(sizes, s->r->sizes, sizeof(sizes));
        while (k < s->n && !fit_role(s, role, k)) {
            memcpy(s->r->sizes, sizes, sizeof(sizes));
            k++;
        }
        if (k < s->n)
            s->used |= (uint64_t)1 << k;
        missing += k == s->n;
    }
    return missing ? missing : 1;
}

static const ln_detect_form *find_nearest(search *s, const char *kind)
{
    const ln_detect_form *form, *nearest = NULL;
    int least = 0;
    for (int i = 0; (form = ln_detect_form_row(i)); i++) {
        if (!is_of_kind(form, kind))
            continue;
        const int n_roles = count_roles(form), missing = count_missing(s, form);
        const int others = n_roles > s->n ? n_roles - s->n : s->n - n_roles;
        const int distance = (missing * LN_DETECT_MAX_OUTPUTS + others) * 2 +
                             (strcmp(form->family.task, "detect") != 0);
        if (nearest && distance >= least)
            continue;
        nearest = form;
        least = distance;
    }
    return nearest;
}

static int fail_outputs(search *s, const char *kind, ln_error *err)
{
    char text[1024] = "none", shape[LN_MAX_SHAPE];
    size_t len = 0;
    const ln_detect_form *const nearest = find_nearest(s, kind);
    for (int i = 0; i < s->n && len < sizeof(text); i++)
        len += (size_t)snprintf(
            text + len, sizeof(text) - len, "%s'%.64s' %s", i ? ", " : "", s->names[i],
            ln_sprint_shape(shape, sizeof(shape), s->tensors[i]->ndim, s->tensors[i]->dims));
    return ln_error_set_as(err, LN_BAD_ARGUMENT,
                           "the outputs fit no family of detections%s%s: they are %s; the nearest "
                           "family is %s (%s), which has %s",
                           kind ? " of " : "", kind ? kind : "", text, nearest->family.name,
                           nearest->family.task, nearest->family.outputs);
}

int ln_detect_find(ln_detect_reading *r, int n, const char *const *names,
                   const tl_tensor *const *tensors, ln_error *err)
{
    search s = {.r = r,
                .n = n < LN_DETECT_MAX_OUTPUTS ? n : LN_DETECT_MAX_OUTPUTS,
                .names = names,
                .tensors = tensors};
    const char *const kind = r->options->kind;
    const ln_detect_form *form;
    ln_detect_reading best = {0};
    int max = 0, n_forms = 0;
    for (int i = 0; (form = ln_detect_form_row(i)); i++) {
        if (!is_of_kind(form, kind))
            continue;
        const int grade = try_form(&s, form);
        n_forms++;
        if (grade > max) {
            max = grade;
            best = *r;
        }
    }
    if (!n_forms)
        return fail_kind(kind, err);
    if (!max)
        return fail_outputs(&s, kind, err);
    *r = best;
    return 0;
}
