// SPDX-License-Identifier: Apache-2.0
// Options of a model: one row for each key, with the parser of its value.

#include "session/ln_options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_list_end.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_msg.h"
#include "session/ln_pool.h"
#include "tensorlight/tl_exec.h"

// Values

typedef struct option option;

// A key: how its value is parsed into the field at `offset`. parse returns 0, or -1 with the
// thread's last error.
struct option {
    const char *key;
    int (*parse)(const option *o, void *field, const char *value);
    size_t offset;
    uint64_t max;         // of a number
    const char *expected; // for messages
};

static int fail_value(const option *o, const char *value)
{
    return ln_error_set_as(NULL, LN_BAD_ARGUMENT, "option '%s' is '%s', expected %s", o->key, value,
                           o->expected);
}

static int parse_uint64(const option *o, const char *value, uint64_t *number)
{
    char *end;
    errno = 0;
    const unsigned long long n = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end || errno || n > o->max)
        return fail_value(o, value);
    *number = n;
    return 0;
}

static int parse_number(const option *o, void *field, const char *value)
{
    return parse_uint64(o, value, field);
}

static int parse_int(const option *o, void *field, const char *value)
{
    uint64_t n = 0;
    if (parse_uint64(o, value, &n))
        return -1;
    *(int *)field = (int)n;
    return 0;
}

static int parse_yes(const option *o, void *field, const char *value)
{
    if (!ln_streq(value, "yes") && !ln_streq(value, "no"))
        return fail_value(o, value);
    *(int *)field = ln_streq(value, "yes");
    return 0;
}

static int parse_text(const option *o, void *field, const char *value)
{
    (void)o;
    char *copy = ln_strdup(value);
    if (!copy)
        return -1;
    ln_free(*(char **)field);
    *(char **)field = copy;
    return 0;
}

static int parse_texts(const option *o, void *field, const char *value)
{
    (void)o;
    return ln_list_add(field, ln_strdup(value), ln_free);
}

// Shapes

static void free_shape(void *data)
{
    ln_shape_option *shape = data;
    if (shape)
        ln_free(shape->name);
    ln_free(shape);
}

// A size at *p, which is moved past it; -1: none.
static int read_size(const char **p, int *size)
{
    char *end;
    if (!isdigit((unsigned char)**p))
        return -1;
    errno = 0;
    const long n = strtol(*p, &end, 10);
    if (errno || n > INT_MAX)
        return -1;
    *p = end;
    *size = (int)n;
    return 0;
}

static int read_range(const char **p, int *min, int *max)
{
    if (read_size(p, min))
        return -1;
    *max = *min;
    if (strncmp(*p, "..", 2))
        return 0;
    *p += 2;
    return -(read_size(p, max) || *max < *min);
}

static int read_ranges(const char *text, ln_shape_option *shape)
{
    do {
        const int i = shape->ndim++;
        if (i == LN_MAXDIM || read_range(&text, &shape->min[i], &shape->max[i]))
            return -1;
    } while (*text++ == 'x');
    return text[-1] ? -1 : 0;
}

static int parse_shape(const option *o, void *field, const char *value)
{
    const char *sizes = strrchr(value, '=');
    if (!sizes || sizes == value)
        return fail_value(o, value);
    ln_shape_option *shape = ln_alloc(sizeof(*shape));
    char *name = ln_strdup(value);
    if (!shape || !name) {
        ln_free(shape);
        ln_free(name);
        return -1;
    }
    name[sizes - value] = '\0';
    shape->name = name;
    if (!read_ranges(sizes + 1, shape))
        return ln_list_add(field, shape, free_shape);
    free_shape(shape);
    return fail_value(o, value);
}

// Records that a seed is set, since 0 is also a seed.
static int parse_seed(const option *o, void *field, const char *value)
{
    ln_options *options = (ln_options *)(void *)((char *)field - o->offset);
    if (parse_number(o, field, value))
        return -1;
    options->has_seed = 1;
    return 0;
}

// Keys

#define FIELD(name) offsetof(struct ln_options, name)
#define YES         "yes or no"
#define BYTES       "a number of bytes"

static const option options_known[] = {
    {"target", parse_text, FIELD(target), 0, NULL},
    {"threads", parse_int, FIELD(threads), TL_MAX_THREADS, "1 to 1024, or 0 for all"},
    {"shape", parse_shape, FIELD(shapes), 0, "NAME=1x3x224x224, with ranges such as 1..512"},
    {"weights", parse_text, FIELD(weights), 0, NULL},
    {"folder", parse_texts, FIELD(folders), 0, NULL},
    {"allow_output", parse_text, FIELD(may_write), 0, NULL},
    {"seed", parse_seed, FIELD(seed), UINT64_MAX, "a number of at least 0"},
    {"reference", parse_yes, FIELD(is_reference), 0, YES},
    {"unoptimized", parse_yes, FIELD(is_unoptimized), 0, YES},
    {"precision", parse_text, FIELD(precision), 0, NULL},
    {"tuning", parse_yes, FIELD(is_tuned), 0, YES},
    {"map", parse_yes, FIELD(is_mapped), 0, YES},
    {"disabled_rule", parse_texts, FIELD(disabled), 0, NULL},
    {"output", parse_texts, FIELD(outputs), 0, NULL},
    {"memory_limit", parse_number, FIELD(memory_limit), UINT64_MAX, BYTES},
    {"operators_limit", parse_number, FIELD(operators_limit), UINT64_MAX, "a number of operators"},
    {"constant_limit", parse_number, FIELD(constant_limit), UINT64_MAX, BYTES},
    {"open_timeout", parse_number, FIELD(open_timeout), UINT64_MAX, "a number of milliseconds"},
    {"programs", parse_int, FIELD(programs), INT_MAX, "a number of programs"},
};

enum { N_OPTIONS = sizeof(options_known) / sizeof(options_known[0]), DEFAULT_PROGRAMS = 16 };

static const option *find_option(const char *key)
{
    char known[LN_MAXLINE] = "";
    size_t len = 0;
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (ln_streq(options_known[i].key, key))
            return &options_known[i];
    for (size_t i = 0; i < N_OPTIONS && len < sizeof(known); i++)
        len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", i ? ", " : "",
                                options_known[i].key);
    ln_error_set_as(NULL, LN_BAD_ARGUMENT, "unknown option '%s'; known options: %s", key, known);
    return NULL;
}

// A call of ln_options_set.
typedef struct setting {
    const option *option;
    char *value;
} setting;

static void free_setting(void *data)
{
    setting *s = data;
    if (s)
        ln_free(s->value);
    ln_free(s);
}

static int set(ln_options *options, const option *o, const char *value)
{
    setting *s = ln_alloc(sizeof(*s));
    if (!s)
        return -1;
    *s = (setting){o, ln_strdup(value)};
    if (!s->value) {
        free_setting(s);
        return -1;
    }
    if (ln_list_add(&options->settings, s, free_setting))
        return -1;
    if (!o->parse(o, (char *)options + o->offset, value))
        return 0;
    options->settings = ln_list_remove(options->settings, s);
    free_setting(s);
    return -1;
}

ln_status ln_options_set(ln_options *options, const char *key, const char *value)
{
    if (!options || !key || !value) {
        ln_error_set_as(NULL, LN_BAD_ARGUMENT, "the %s is NULL",
                        !options ? "options"
                        : !key   ? "option's key"
                                 : "option's value");
        return LN_BAD_ARGUMENT;
    }
    const option *o = find_option(key);
    return !o || set(options, o, value) ? ln_error_status(NULL) : LN_OK;
}

// Bound values

static void free_bound(void *data)
{
    ln_bound_value *b = data;
    for (int i = 0; b && b->tensors && i < b->n; i++)
        tl_tensor_free_data_too(b->tensors[i]);
    if (b) {
        ln_free(b->tensors);
        ln_free(b->name);
    }
    ln_free(b);
}

static tl_tensor *copy_tensor(const tl_tensor *t)
{
    return t->data ? tl_tensor_clone(t) : tl_tensor_create(NULL, t->ndim, t->dims, t->dtype);
}

// -1 with the thread's last error.
static int bind(ln_options *options, const char *name, int is_sequence, int n,
                const tl_tensor *const *tensors)
{
    ln_bound_value *b = ln_alloc(sizeof(*b));
    if (!b)
        return -1;
    *b = (ln_bound_value){.name = ln_strdup(name), .is_sequence = is_sequence};
    b->tensors = n > 0 ? ln_alloc_array((size_t)n, sizeof(*b->tensors)) : NULL;
    while (b->tensors && b->n < n && (b->tensors[b->n] = copy_tensor(tensors[b->n])))
        b->n++;
    if (b->name && (b->n == n || n < 0)) {
        b->n = n;
        return ln_list_add(&options->bound, b, free_bound);
    }
    free_bound(b);
    return -1;
}

static ln_status bind_checked(ln_options *options, const char *name, int is_sequence, int n,
                              const tl_tensor *const *tensors)
{
    const char *const missing = !options ? "options" : !name ? "the name of an input" : NULL;
    int i = 0;
    while (tensors && i < n && tensors[i])
        i++;
    if (missing || i < n) {
        ln_error_set_as(NULL, LN_BAD_ARGUMENT, "%s is NULL", missing ? missing : "a tensor");
        return LN_BAD_ARGUMENT;
    }
    return bind(options, name, is_sequence, n < 0 ? -1 : n, tensors) ? LN_OUT_OF_MEMORY : LN_OK;
}

ln_status ln_options_bind_input(ln_options *options, const char *name, const tl_tensor *value)
{
    return bind_checked(options, name, 0, 1, &value);
}

ln_status ln_options_bind_sequence(ln_options *options, const char *name, int n,
                                   const tl_tensor *const *tensors)
{
    return bind_checked(options, name, 1, n, tensors);
}

// Life

ln_options *ln_options_create(void)
{
    ln_options *options = ln_alloc(sizeof(*options));
    if (options)
        *options = (ln_options){.threads = LN_THREADS_NOT_SET,
                                .programs = DEFAULT_PROGRAMS,
                                .operators_limit = 250000,
                                .constant_limit = 64 << 20};
    return options;
}

void ln_options_free(ln_options *options)
{
    if (!options)
        return;
    ln_list_free_deep(options->settings, free_setting);
    ln_list_free_deep(options->shapes, free_shape);
    ln_list_free_deep(options->bound, free_bound);
    ln_list_free_deep(options->folders, ln_free);
    ln_list_free_deep(options->disabled, ln_free);
    ln_list_free_deep(options->outputs, ln_free);
    ln_free(options->target);
    ln_free(options->weights);
    ln_free(options->precision);
    ln_free(options->may_write);
    ln_pool_free(options->pool);
    ln_free(options);
}

ln_options *ln_options_copy(const ln_options *options)
{
    ln_options *copy = ln_options_create();
    if (!copy || !options)
        return copy;
    LN_FOREACH (const setting *, s, options->settings) {
        if (set(copy, s->option, s->value)) {
            ln_options_free(copy);
            return NULL;
        }
    }
    LN_FOREACH (const ln_bound_value *, b, options->bound) {
        if (bind(copy, b->name, b->is_sequence, b->n, (const tl_tensor *const *)b->tensors)) {
            ln_options_free(copy);
            return NULL;
        }
    }
    copy->pool = ln_pool_keep(options->pool);
    copy->message_func = options->message_func;
    copy->message_data = options->message_data;
    return copy;
}

static ln_status fail_null(void)
{
    return ln_error_set_as(NULL, LN_BAD_ARGUMENT, "options is NULL"), LN_BAD_ARGUMENT;
}

ln_status ln_options_set_pool(ln_options *options, ln_pool *pool)
{
    if (!options)
        return fail_null();
    ln_pool_keep(pool);
    ln_pool_free(options->pool);
    options->pool = pool;
    return LN_OK;
}

ln_status ln_options_set_messages(ln_options *options, ln_message_func func, void *data)
{
    if (!options)
        return fail_null();
    options->message_func = func;
    options->message_data = data;
    return LN_OK;
}
