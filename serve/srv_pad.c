// SPDX-License-Identifier: Apache-2.0
// Reads what the metadata specify, and compares it with the inputs and outputs of the model.

#include "srv_pad.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "srv_model.h"
#include "tensorlight/tl_type.h"

// Of a padded axis of a batch, at most one element in so many is padding, and so many elements for
// each row. A row more in a batch saves reading the weights once more, which takes about as long as
// 8 tokens: of longer sequences, a quarter would cost more than the batch saves.
enum { PADDING_SHARE = 4, PADDING_PER_ROW = 8 };

enum { SHOWN = 96 }; // bytes of an item in messages

// "NAME:AXIS=VALUE", in parts, and as it was.
typedef struct item {
    char *name, *axis, *value;
    char shown[SHOWN];
} item;

typedef struct reader {
    const ln_model *model;
    const srv_port *inputs, *outputs;
    srv_pad *pad;
    srv_error *err;
} reader;

static int fail_memory(srv_error *err)
{
    return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
}

// Items

static char *trim(char *text)
{
    static const char blanks[] = " \t\r\n";
    text += strspn(text, blanks);
    size_t len = strlen(text);
    while (len && strchr(blanks, text[len - 1]))
        text[--len] = '\0';
    return text;
}

// Removes the part behind the last `mark` from `text`. NULL: there is no mark.
static char *cut_last(char *text, char mark)
{
    char *const at = strrchr(text, mark);
    if (!at)
        return NULL;
    *at = '\0';
    return trim(at + 1);
}

static int split(char *text, item *it, srv_error *err)
{
    text = trim(text);
    snprintf(it->shown, sizeof(it->shown), "%s", text);
    it->value = cut_last(text, '=');
    it->axis = it->value ? cut_last(text, ':') : NULL;
    it->name = trim(text);
    if (it->axis && *it->name && *it->axis && *it->value)
        return 0;
    return srv_fail(err, SRV_INTERNAL,
                    "metadata '" SRV_PAD_KEY "' has '%s'; expected INPUT:AXIS=VALUE, such as "
                    "'input_ids:1=0', and commas between",
                    it->shown);
}

// The input of the item; -1 with a reason.
static int find_input(const reader *rd, const item *it)
{
    srv_buffer known = {.data = NULL};
    for (int i = 0; i < rd->pad->n_inputs; i++)
        if (!strcmp(rd->inputs[i].name, it->name))
            return i;
    for (int i = 0; i < rd->pad->n_inputs; i++)
        srv_buffer_printf(&known, "%s'%s'", i ? ", " : "", rd->inputs[i].name);
    srv_buffer_add(&known, "", 1);
    srv_fail(rd->err, SRV_INTERNAL,
             "metadata '" SRV_PAD_KEY "' has '%s'; expected an input of the model: %s", it->shown,
             rd->pad->n_inputs && known.data ? known.data : "it has none");
    srv_buffer_clear(&known);
    return -1;
}

// The axis of the item; -1 with a reason.
static int find_axis(const reader *rd, const item *it, int input)
{
    const srv_port *const port = &rd->inputs[input];
    char *end;
    const long axis = strtol(it->axis, &end, 10);
    if (*end == '\0' && axis > 0 && axis < port->ndim && port->dims[axis] < 0 &&
        ln_model_input_dim_name(rd->model, input, (int)axis))
        return (int)axis;
    return srv_fail(rd->err, SRV_INTERNAL,
                    "metadata '" SRV_PAD_KEY
                    "' has '%s'; expected an axis of '%s' beyond 0 with an "
                    "open size that has a name",
                    it->shown, it->name);
}

static int fail_value(const reader *rd, const item *it, const srv_port *port)
{
    return srv_fail(rd->err, SRV_INTERNAL,
                    "metadata '" SRV_PAD_KEY "' has '%s'; expected a number of the type %s",
                    it->shown, port->datatype);
}

static int set_value(const reader *rd, const item *it, const srv_port *port, unsigned char *value)
{
    const tl_dtype dtype = port->dtype;
    char *end;
    if (!port->datatype || dtype == TL_STRING)
        return srv_fail(rd->err, SRV_INTERNAL,
                        "metadata '" SRV_PAD_KEY
                        "' has '%s', an input of the type %s; expected one "
                        "of numbers",
                        it->shown, port->datatype ? port->datatype : tl_dtype_name(dtype));
    errno = 0;
    const long long whole = strtoll(it->value, &end, 10);
    const int is_whole = *end == '\0' && !errno;
    const double real = strtod(it->value, &end);
    if (*end != '\0' || !isfinite(real) || real < tl_dtype_min_double(dtype) ||
        real > tl_dtype_max_double(dtype) || (!is_whole && !tl_dtype_is_float(dtype)))
        return fail_value(rd, it, port);
    if (tl_dtype_is_float(dtype))
        tl_convert(value, dtype, &real, TL_DOUBLE);
    else
        tl_convert(value, dtype, &whole, TL_INT64);
    return 0;
}

// The number of the length with this name; -1: there is none.
static int find_length(const srv_pad *pad, const char *name)
{
    for (int i = 0; name && i < pad->n_lengths; i++)
        if (!strcmp(pad->names[i], name))
            return i;
    return -1;
}

static int add_length(const reader *rd, const item *it, const char *name)
{
    const int found = find_length(rd->pad, name);
    if (found >= 0)
        return found;
    if (rd->pad->n_lengths == SRV_MAX_LENGTHS)
        return srv_fail(rd->err, SRV_INTERNAL,
                        "metadata '" SRV_PAD_KEY "' has '%s', the size '%s'; expected at most %d "
                        "different sizes",
                        it->shown, name, SRV_MAX_LENGTHS);
    rd->pad->names[rd->pad->n_lengths] = name;
    return rd->pad->n_lengths++;
}

static int add_item(const reader *rd, char *text)
{
    item it;
    unsigned char value[sizeof(rd->pad->inputs->value)] = {0};
    if (split(text, &it, rd->err))
        return -1;
    const int input = find_input(rd, &it), axis = input < 0 ? -1 : find_axis(rd, &it, input);
    if (axis < 0 || set_value(rd, &it, &rd->inputs[input], value))
        return -1;
    srv_pad_port *const port = &rd->pad->inputs[input];
    if (port->length_of[axis] >= 0 ||
        (port->has_value && memcmp(port->value, value, sizeof(value))))
        return srv_fail(rd->err, SRV_INTERNAL,
                        "metadata '" SRV_PAD_KEY "' has '%s'; expected each axis once, and one "
                        "value for all axes of '%s'",
                        it.shown, it.name);
    const int length = add_length(rd, &it, ln_model_input_dim_name(rd->model, input, axis));
    if (length < 0)
        return -1;
    port->length_of[axis] = length;
    port->has_value = 1;
    memcpy(port->value, value, sizeof(value));
    return 0;
}

static int add_items(const reader *rd, const char *metadata)
{
    char *const copy = strdup(metadata), *next = copy;
    int status = copy ? 0 : fail_memory(rd->err);
    while (next && !status) {
        char *const text = next, *const comma = strchr(text, ',');
        next = comma ? comma + 1 : NULL;
        if (comma)
            *comma = '\0';
        status = add_item(rd, text);
    }
    free(copy);
    return status;
}

// Axes that the metadata do not mention

static int check_inputs(const reader *rd)
{
    for (int i = 0; i < rd->pad->n_inputs; i++)
        for (int k = 0; k < rd->inputs[i].ndim; k++) {
            const char *const name = ln_model_input_dim_name(rd->model, i, k);
            if (find_length(rd->pad, name) >= 0 && rd->pad->inputs[i].length_of[k] < 0)
                return srv_fail(rd->err, SRV_INTERNAL,
                                "metadata '" SRV_PAD_KEY "' lacks axis %d of '%s', whose size is "
                                "'%s', too; expected it beside the others",
                                k, rd->inputs[i].name, name);
        }
    return 0;
}

static void find_outputs(const reader *rd)
{
    for (int i = 0; i < rd->pad->n_outputs; i++)
        for (int k = 1; k < rd->outputs[i].ndim; k++)
            rd->pad->outputs[i].length_of[k] =
                find_length(rd->pad, ln_model_output_dim_name(rd->model, i, k));
}

// The whole

static srv_pad_port *alloc_ports(int n)
{
    srv_pad_port *const ports = calloc((size_t)n + 1, sizeof(*ports));
    for (int i = 0; ports && i < n; i++)
        memset(ports[i].length_of, -1, sizeof(ports[i].length_of));
    return ports;
}

static srv_pad *alloc_pad(int n_inputs, int n_outputs)
{
    srv_pad *const pad = calloc(1, sizeof(*pad));
    if (!pad)
        return NULL;
    pad->n_inputs = n_inputs;
    pad->n_outputs = n_outputs;
    pad->inputs = alloc_ports(n_inputs);
    pad->outputs = alloc_ports(n_outputs);
    if (pad->inputs && pad->outputs)
        return pad;
    srv_pad_free(pad);
    return NULL;
}

int srv_pad_create(const ln_model *model, const srv_port *inputs, int n_inputs,
                   const srv_port *outputs, int n_outputs, srv_pad **pad, srv_error *err)
{
    const char *const metadata = ln_model_metadata(model, SRV_PAD_KEY);
    *pad = NULL;
    if (!metadata)
        return 0;
    const reader rd = {model, inputs, outputs, alloc_pad(n_inputs, n_outputs), err};
    if (!rd.pad)
        return fail_memory(err);
    if (add_items(&rd, metadata) || check_inputs(&rd)) {
        srv_pad_free(rd.pad);
        return -1;
    }
    find_outputs(&rd);
    *pad = rd.pad;
    return 0;
}

void srv_pad_free(srv_pad *pad)
{
    if (!pad)
        return;
    free(pad->inputs);
    free(pad->outputs);
    free(pad);
}

// Requests

int srv_pad_measure(const srv_pad *pad, srv_request *r)
{
    int is_known[SRV_MAX_LENGTHS] = {0};
    for (int i = 0; i < pad->n_inputs; i++)
        for (int k = 0; k < r->inputs[i].ndim; k++) {
            const int j = pad->inputs[i].length_of[k];
            if (j < 0)
                continue;
            if (is_known[j] && r->lengths[j] != r->inputs[i].dims[k])
                return -1;
            is_known[j] = 1;
            r->lengths[j] = r->inputs[i].dims[k];
        }
    return 0;
}

void srv_pad_longest(const srv_pad *pad, const srv_request *first, int longest[SRV_MAX_LENGTHS])
{
    memset(longest, 0, sizeof(int) * SRV_MAX_LENGTHS);
    for (; first; first = first->next)
        for (int j = 0; j < pad->n_lengths; j++)
            longest[j] = longest[j] > first->lengths[j] ? longest[j] : first->lengths[j];
}

// Rows and lengths are below 2^31, and a batch has few rows: no sum overflows.
static int allows_length(const srv_request *first, const srv_request *r, int j)
{
    int64_t longest = r->lengths[j], rows = r->rows, used = rows * longest;
    for (; first; first = first->next) {
        longest = longest > first->lengths[j] ? longest : first->lengths[j];
        rows += first->rows;
        used += (int64_t)first->rows * first->lengths[j];
    }
    const int64_t all = rows * longest, padding = all - used;
    return padding <= all / PADDING_SHARE && padding <= rows * PADDING_PER_ROW;
}

int srv_pad_allows(const srv_pad *pad, const srv_request *first, const srv_request *r)
{
    for (int j = 0; j < pad->n_lengths; j++)
        if (!allows_length(first, r, j))
            return 0;
    return 1;
}

// Copies the element to all of `to`, doubling what is there.
static void fill(char *to, size_t size, const unsigned char *value, size_t element)
{
    size_t done = element;
    if (!size)
        return;
    memcpy(to, value, element);
    for (size_t n; done < size; done += n) {
        n = done < size - done ? done : size - done;
        memcpy(to + done, to, n);
    }
}

char *srv_pad_input(const srv_pad_port *port, const srv_tensor *input, const int *dims, char *to)
{
    const size_t element = tl_size_of(input->dtype);
    int padded[SRV_MAX_DIMS];
    size_t size = element;
    for (int k = 0; k < input->ndim; k++) {
        padded[k] = k ? dims[k] : input->dims[0];
        size *= (size_t)padded[k];
    }
    if (size != input->size)
        fill(to, size, port->value, element);
    if (input->size)
        srv_tensor_copy_box(to, padded, input->data, input->dims, input->dims, input->ndim,
                            element);
    return to + size;
}
