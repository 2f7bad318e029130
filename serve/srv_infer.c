// SPDX-License-Identifier: Apache-2.0
// Reads and writes the protocol's JSON and its binary data.

#include "srv_infer.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tensorlight/tl_util.h"

// Reading

#define NO_ZERO ", which is a string without a byte 0"

// Where the binary data of the next input begins.
typedef struct reader {
    srv_request *r;
    srv_infer_form *form;
    const char *next, *end;
} reader;

static int fail(reader *in, const char *fmt, const char *name)
{
    return srv_fail(&in->r->error, SRV_INVALID, fmt, name);
}

static const char *type_name(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
        [JSON_INTEGER] = "an integer", [JSON_REAL] = "a number",  [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",        [JSON_NULL] = "null"};
    return value ? names[json_typeof(value)] : "nothing";
}

// A string; NULL: it is none, or has a byte 0, with which it would equal its beginning.
static const char *text_of(const json_t *value)
{
    const char *const text = json_string_value(value);
    return text && strlen(text) == json_string_length(value) ? text : NULL;
}

static int is_flat(const json_t *data)
{
    for (size_t i = 0; i < json_array_size(data); i++)
        if (json_is_array(json_array_get(data, i)))
            return 0;
    return 1;
}

// Whether nested arrays have the tensor's sizes from `axis` on.
static int has_shape(const json_t *data, const srv_tensor *t, int axis)
{
    if (axis == t->ndim)
        return !json_is_array(data);
    if (!json_is_array(data) || json_array_size(data) != (size_t)t->dims[axis])
        return 0;
    for (size_t i = 0; i < json_array_size(data); i++)
        if (!has_shape(json_array_get(data, i), t, axis + 1))
            return 0;
    return 1;
}

// The elements in order: func(data, element) until it returns not 0.
static int each_element(const json_t *data, int (*func)(void *to, const json_t *element), void *to)
{
    if (!json_is_array(data))
        return func(to, data);
    for (size_t i = 0; i < json_array_size(data); i++)
        if (each_element(json_array_get(data, i), func, to))
            return -1;
    return 0;
}

// Elements of numbers.
typedef struct numbers {
    reader *in;
    const srv_tensor *t;
    char *next;
} numbers;

static int fail_element(numbers *to, const json_t *element)
{
    return srv_fail(&to->in->r->error, SRV_INVALID, "the data of '%s' has %s, which is no %s",
                    to->t->name, type_name(element), srv_datatype_name(to->t->dtype));
}

static int add_bool(void *data, const json_t *element)
{
    numbers *const to = data;
    const int is_number = json_is_integer(element) && (json_integer_value(element) | 1) == 1;
    if (!json_is_boolean(element) && !is_number)
        return fail_element(to, element);
    *to->next++ = (char)(json_is_true(element) || (is_number && json_integer_value(element)));
    return 0;
}

// The least magnitude that rounds to infinity: half a unit in the last place above the largest
// finite one. Source: IEEE 754-2019, 4.3.1.
static double overflow_of(tl_dtype dtype)
{
    return dtype == TL_FLOAT16    ? 65520
           : dtype == TL_BFLOAT16 ? 0x1.ffp127
           : dtype == TL_FLOAT    ? 0x1.ffffffp127
                                  : INFINITY;
}

static int add_float(void *data, const json_t *element)
{
    numbers *const to = data;
    if (!json_is_number(element))
        return fail_element(to, element);
    const double value = json_number_value(element);
    if (fabs(value) >= overflow_of(to->t->dtype))
        return srv_fail(&to->in->r->error, SRV_INVALID, "the data of '%s' has %g, which is no %s",
                        to->t->name, value, srv_datatype_name(to->t->dtype));
    tl_convert(to->next, to->t->dtype, &value, TL_DOUBLE);
    to->next += tl_size_of(to->t->dtype);
    return 0;
}

static int add_integer(void *data, const json_t *element)
{
    numbers *const to = data;
    const int64_t value = json_is_integer(element) ? json_integer_value(element) : 0;
    const double min = tl_dtype_min_double(to->t->dtype), max = tl_dtype_max_double(to->t->dtype);
    if (!json_is_integer(element))
        return fail_element(to, element);
    if ((double)value < min || (double)value > max)
        return srv_fail(&to->in->r->error, SRV_INVALID, "the data of '%s' has %lld, which is no %s",
                        to->t->name, (long long)value, srv_datatype_name(to->t->dtype));
    tl_convert(to->next, to->t->dtype, &value, TL_INT64);
    to->next += tl_size_of(to->t->dtype);
    return 0;
}

static int read_numbers(reader *in, srv_tensor *t, const json_t *data)
{
    if (srv_tensor_alloc(t, &in->r->error))
        return -1;
    numbers to = {in, t, t->data};
    return each_element(data,
                        t->dtype == TL_BOOL           ? add_bool
                        : tl_dtype_is_float(t->dtype) ? add_float
                                                      : add_integer,
                        &to);
}

// Elements of strings.
typedef struct strings {
    reader *in;
    const srv_tensor *t;
    const char **strings;
    size_t *sizes, n;
} strings;

static int add_string(void *data, const json_t *element)
{
    strings *const to = data;
    if (!json_is_string(element))
        return srv_fail(&to->in->r->error, SRV_INVALID,
                        "the data of '%s' has %s, which is no string", to->t->name,
                        type_name(element));
    to->strings[to->n] = json_string_value(element);
    to->sizes[to->n++] = json_string_length(element);
    return 0;
}

static int read_strings(reader *in, srv_tensor *t, const json_t *data)
{
    strings to = {in, t, calloc(t->len + 1, sizeof(char *)), calloc(t->len + 1, sizeof(size_t)), 0};
    int status = to.strings && to.sizes ? each_element(data, add_string, &to)
                                        : srv_fail(&in->r->error, SRV_OUT_OF_MEMORY,
                                                   "the server has no memory for strings");
    if (!status)
        status = srv_tensor_from_strings(t, to.strings, to.sizes, &in->r->error);
    free(to.strings);
    free(to.sizes);
    return status;
}

static int read_json_data(reader *in, srv_tensor *t, const json_t *data)
{
    if (!json_is_array(data))
        return srv_fail(&in->r->error, SRV_INVALID, "'data' of input '%s' is %s; expected an array",
                        t->name, type_name(data));
    if (is_flat(data) ? json_array_size(data) != t->len : !has_shape(data, t, 0))
        return srv_fail(
            &in->r->error, SRV_INVALID,
            "'data' of input '%s' is neither a flat array of %zu elements, nor nested as its shape",
            t->name, t->len);
    return t->dtype == TL_STRING ? read_strings(in, t, data) : read_numbers(in, t, data);
}

static int read_binary_data(reader *in, srv_tensor *t, const json_t *binary_size)
{
    const long long size = json_is_integer(binary_size) ? json_integer_value(binary_size) : -1;
    if (size < 0 || size > in->end - in->next)
        return srv_fail(
            &in->r->error, SRV_INVALID,
            "'binary_data_size' of input '%s' is not a size up to %td, the bytes that follow",
            t->name, in->end - in->next);
    in->next += size;
    return srv_tensor_from_binary(t, in->next - size, (size_t)size, &in->r->error);
}

static int read_shape(reader *in, srv_tensor *t, const json_t *shape, tl_dtype dtype)
{
    long long dims[SRV_MAX_DIMS];
    if (!json_is_array(shape))
        return srv_fail(&in->r->error, SRV_INVALID,
                        "'shape' of input '%s' is %s; expected an array", t->name,
                        type_name(shape));
    for (size_t i = 0; i < json_array_size(shape) && i < SRV_MAX_DIMS; i++) {
        const json_t *const dim = json_array_get(shape, i);
        if (!json_is_integer(dim))
            return srv_fail(&in->r->error, SRV_INVALID,
                            "'shape' of input '%s' has %s; expected integers", t->name,
                            type_name(dim));
        dims[i] = json_integer_value(dim);
    }
    const size_t ndim = json_array_size(shape);
    return srv_tensor_shape(t, dtype, ndim > SRV_MAX_DIMS ? SRV_MAX_DIMS + 1 : (int)ndim, dims,
                            &in->r->error);
}

static int read_input(reader *in, srv_tensor *t, const json_t *input)
{
    const char *const name = text_of(json_object_get(input, "name"));
    const char *const datatype = text_of(json_object_get(input, "datatype"));
    const json_t *const data = json_object_get(input, "data");
    const json_t *const size =
        json_object_get(json_object_get(input, "parameters"), "binary_data_size");
    if (!name)
        return fail(in, "an input has no 'name'%s", NO_ZERO);
    t->name = strdup(name);
    if (!t->name)
        return srv_fail(&in->r->error, SRV_OUT_OF_MEMORY, "no memory");
    if (!datatype || srv_datatype_find(datatype) == TL_DTYPE_INVALID)
        return srv_datatype_fail(name, datatype, &in->r->error);
    if (read_shape(in, t, json_object_get(input, "shape"), srv_datatype_find(datatype)))
        return -1;
    if (data && size)
        return fail(in, "input '%s' has both 'data' and 'binary_data_size'", name);
    if (!data && !size)
        return fail(in, "input '%s' has neither 'data' nor the parameter 'binary_data_size'", name);
    return size ? read_binary_data(in, t, size) : read_json_data(in, t, data);
}

static int read_inputs(reader *in, const json_t *inputs)
{
    if (!json_is_array(inputs))
        return fail(in, "'inputs' is %s; expected an array", type_name(inputs));
    if (srv_request_inputs(in->r, json_array_size(inputs)))
        return -1;
    for (int i = 0; i < in->r->n_inputs; i++)
        if (read_input(in, &in->r->inputs[i], json_array_get(inputs, (size_t)i)))
            return -1;
    return in->next == in->end
               ? 0
               : srv_fail(&in->r->error, SRV_INVALID, "%td bytes follow the data of the inputs",
                          in->end - in->next);
}

static int read_outputs(reader *in, const json_t *outputs)
{
    if (!outputs)
        return 0;
    if (!json_is_array(outputs))
        return fail(in, "'outputs' is %s; expected an array", type_name(outputs));
    in->form->binaries = calloc(json_array_size(outputs) + 1, 1);
    if (!in->form->binaries)
        return srv_fail(&in->r->error, SRV_OUT_OF_MEMORY, "no memory");
    for (size_t i = 0; i < json_array_size(outputs); i++) {
        const json_t *const output = json_array_get(outputs, i);
        const char *const name = text_of(json_object_get(output, "name"));
        const json_t *const parameters = json_object_get(output, "parameters");
        const json_t *const binary = json_object_get(parameters, "binary_data");
        if (!name)
            return fail(in, "an output has no 'name'%s", NO_ZERO);
        if (json_object_get(parameters, "classification"))
            return srv_fail(&in->r->error, SRV_UNSUPPORTED,
                            "output '%s': the extension 'classification' is missing", name);
        if (srv_request_want(in->r, name))
            return -1;
        in->form->binaries[i] = (signed char)(binary ? json_is_true(binary) : -1);
    }
    return 0;
}

// Microseconds, as in Triton's parameter.
static int read_timeout(reader *in, const json_t *timeout)
{
    const long long us = json_is_integer(timeout) ? json_integer_value(timeout) : -1;
    if (!timeout)
        return 0;
    if (us < 0 || us > INT64_MAX / 2000)
        return fail(in, "the parameter 'timeout' is %s; expected microseconds", type_name(timeout));
    in->r->deadline = us ? in->r->arrival + (uint64_t)us * 1000 : 0;
    return 0;
}

static int read_request(reader *in, const json_t *json)
{
    const json_t *const id = json_object_get(json, "id");
    const json_t *const parameters = json_object_get(json, "parameters");
    if (!json_is_object(json))
        return fail(in, "the request is %s; expected an object", type_name(json));
    if (id && !json_is_string(id))
        return fail(in, "'id' is %s; expected a string", type_name(id));
    if (id && !text_of(id))
        return fail(in, "'id' is a string%s", ", which has a byte 0");
    if (id && !(in->form->id = strdup(json_string_value(id))))
        return srv_fail(&in->r->error, SRV_OUT_OF_MEMORY, "no memory");
    in->form->is_binary = json_is_true(json_object_get(parameters, "binary_data_output"));
    return read_timeout(in, json_object_get(parameters, "timeout")) ||
                   read_outputs(in, json_object_get(json, "outputs")) ||
                   read_inputs(in, json_object_get(json, "inputs"))
               ? -1
               : 0;
}

// The reason why the body is no JSON: tensors may follow it, without the header that says so.
static int fail_json(const char *body, size_t size, const json_error_t *why, srv_error *err)
{
    json_error_t end;
    json_t *const first = json_loadb(
        body, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DISABLE_EOF_CHECK, &end);
    const int has_more = json_is_object(first);
    json_decref(first);
    return has_more ? srv_fail(err, SRV_INVALID,
                               "%zu bytes follow the JSON of the request; expected none without "
                               "the header Inference-Header-Content-Length",
                               size - (size_t)end.position)
                    : srv_fail(err, SRV_INVALID,
                               "the request is no JSON: line %d, column %d: %s; expected the "
                               "tensors of the model's inputs",
                               why->line, why->column, why->text);
}

int srv_infer_read(const char *body, size_t size, size_t json_size, srv_request *r,
                   srv_infer_form *form)
{
    json_error_t why;
    reader in = {r, form, body + json_size, body + size};
    json_t *const json = json_loadb(body, json_size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    if (!json)
        return fail_json(body, json_size, &why, &r->error);
    const int status = read_request(&in, json);
    json_decref(json);
    return status;
}

// Writing

static void write_float(srv_buffer *b, double value, int digits)
{
    if (isfinite(value))
        srv_buffer_printf(b, "%.*g", digits, value);
    else
        srv_buffer_text(b, "null"); // JSON has neither NaN nor infinities
}

static void write_element(srv_buffer *b, const srv_tensor *t, size_t i)
{
    const char *const at = (const char *)t->data + i * tl_size_of(t->dtype);
    double value;
    int64_t integer;
    uint64_t natural;
    if (t->dtype == TL_STRING) {
        srv_buffer_json(b, t->strings[i], t->sizes[i]);
    } else if (t->dtype == TL_BOOL) {
        srv_buffer_text(b, *at ? "true" : "false");
    } else if (tl_dtype_is_float(t->dtype)) {
        tl_convert(&value, TL_DOUBLE, at, t->dtype);
        write_float(b, value, t->dtype == TL_DOUBLE ? 17 : 9);
    } else if (t->dtype == TL_UINT64) {
        memcpy(&natural, at, sizeof(natural));
        srv_buffer_printf(b, "%llu", (unsigned long long)natural);
    } else {
        tl_convert(&integer, TL_INT64, at, t->dtype);
        srv_buffer_printf(b, "%lld", (long long)integer);
    }
}

static int is_binary(const srv_infer_form *form, int i)
{
    return form->binaries && form->binaries[i] >= 0 ? form->binaries[i] : form->is_binary;
}

static void write_output(srv_buffer *b, const srv_tensor *t, int binary)
{
    srv_buffer_text(b, "{\"name\":");
    srv_buffer_json(b, t->name, strlen(t->name));
    srv_buffer_printf(b, ",\"datatype\":\"%s\",\"shape\":[", srv_datatype_name(t->dtype));
    for (int i = 0; i < t->ndim; i++)
        srv_buffer_printf(b, i ? ",%d" : "%d", t->dims[i]);
    if (binary) {
        srv_buffer_printf(b, "],\"parameters\":{\"binary_data_size\":%zu}}",
                          srv_tensor_binary_size(t));
        return;
    }
    srv_buffer_text(b, "],\"data\":[");
    for (size_t i = 0; i < t->len; i++) {
        srv_buffer_add(b, ",", i > 0);
        write_element(b, t, i);
    }
    srv_buffer_text(b, "]}");
}

static void write_name(srv_buffer *b, const char *key, const char *value)
{
    srv_buffer_printf(b, "\"%s\":", key);
    srv_buffer_json(b, value, strlen(value));
    srv_buffer_text(b, ",");
}

int srv_infer_write(const srv_request *r, const srv_infer_form *form, const char *model,
                    const char *version, srv_buffer *body, size_t *json_size, srv_error *err)
{
    srv_buffer_text(body, "{");
    if (form->id)
        write_name(body, "id", form->id);
    write_name(body, "model_name", model);
    write_name(body, "model_version", version);
    srv_buffer_text(body, "\"outputs\":[");
    for (int i = 0; i < r->n_outputs; i++) {
        srv_buffer_add(body, ",", i > 0);
        write_output(body, &r->outputs[i], is_binary(form, i));
    }
    srv_buffer_text(body, "]}");
    *json_size = body->size;
    for (int i = 0; i < r->n_outputs; i++)
        if (is_binary(form, i))
            srv_tensor_to_binary(&r->outputs[i], body);
    return body->has_failed
               ? srv_fail(err, SRV_OUT_OF_MEMORY, "the server has no memory for the response")
               : 0;
}

void srv_infer_form_clear(srv_infer_form *form)
{
    free(form->id);
    free(form->binaries);
    *form = (srv_infer_form){.id = NULL};
}
