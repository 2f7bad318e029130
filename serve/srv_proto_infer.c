// SPDX-License-Identifier: Apache-2.0
// A table has the field of each type; reading and writing follow it.

#include "srv_proto_infer.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tensorlight/tl_util.h"

typedef Inference__ModelInferRequest__InferInputTensor input_message;
typedef Inference__ModelInferResponse__InferOutputTensor output_message;
typedef Inference__InferTensorContents contents_message;

// Fields of typed contents: where their number and their elements are. A bool is an int.
#define FIELD(name) offsetof(contents_message, n_##name), offsetof(contents_message, name)

static const struct column {
    tl_dtype dtype;     // of tensors
    tl_dtype element;   // of the field
    size_t n, elements; // offsets
} columns[] = {
    {TL_BOOL, TL_INT32, FIELD(bool_contents)},      {TL_INT8, TL_INT32, FIELD(int_contents)},
    {TL_INT16, TL_INT32, FIELD(int_contents)},      {TL_INT32, TL_INT32, FIELD(int_contents)},
    {TL_INT64, TL_INT64, FIELD(int64_contents)},    {TL_UINT8, TL_UINT32, FIELD(uint_contents)},
    {TL_UINT16, TL_UINT32, FIELD(uint_contents)},   {TL_UINT32, TL_UINT32, FIELD(uint_contents)},
    {TL_UINT64, TL_UINT64, FIELD(uint64_contents)}, {TL_FLOAT, TL_FLOAT, FIELD(fp32_contents)},
    {TL_DOUBLE, TL_DOUBLE, FIELD(fp64_contents)},   {TL_STRING, TL_STRING, FIELD(bytes_contents)},
};
enum { N_COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static const struct column *column_of(tl_dtype dtype)
{
    for (int i = 0; i < N_COLUMNS; i++)
        if (columns[i].dtype == dtype)
            return &columns[i];
    return NULL;
}

static size_t *count_at(contents_message *contents, const struct column *column)
{
    return (size_t *)((char *)contents + column->n);
}

static void **elements_at(contents_message *contents, const struct column *column)
{
    return (void **)((char *)contents + column->elements);
}

// Reading

// Whether contents have another field than the tensor's.
static int has_other(contents_message *contents, const struct column *column)
{
    for (int i = 0; i < N_COLUMNS; i++)
        if (columns[i].n != column->n && *count_at(contents, &columns[i]))
            return 1;
    return 0;
}

static int read_strings(srv_tensor *t, const ProtobufCBinaryData *elements, srv_error *err)
{
    const char **const strings = calloc(t->len + 1, sizeof(*strings));
    size_t *const sizes = calloc(t->len + 1, sizeof(*sizes));
    int status = -1;
    if (!strings || !sizes)
        srv_fail(err, SRV_OUT_OF_MEMORY, "the server has no memory for strings");
    for (size_t i = 0; i < t->len && strings && sizes; i++) {
        strings[i] = elements[i].len ? (const char *)elements[i].data : "";
        sizes[i] = elements[i].len;
    }
    if (strings && sizes)
        status = srv_tensor_from_strings(t, strings, sizes, err);
    free(strings);
    free(sizes);
    return status;
}

// Elements of 32 bits for a type of fewer.
static int read_narrow(srv_tensor *t, const char *elements, tl_dtype element, srv_error *err)
{
    const double min = tl_dtype_min_double(t->dtype), max = tl_dtype_max_double(t->dtype);
    char *to = t->data;
    for (size_t i = 0; i < t->len; i++, to += tl_size_of(t->dtype)) {
        int64_t value;
        tl_convert(&value, TL_INT64, elements + i * tl_size_of(element), element);
        if (t->dtype != TL_BOOL && ((double)value < min || (double)value > max))
            return srv_fail(err, SRV_INVALID, "the contents of '%s' have %lld, which is no %s",
                            t->name, (long long)value, srv_datatype_name(t->dtype));
        tl_convert(to, t->dtype, &value, TL_INT64);
    }
    return 0;
}

static int read_numbers(srv_tensor *t, const void *elements, tl_dtype element, srv_error *err)
{
    if (srv_tensor_alloc(t, err))
        return -1;
    if (t->dtype != element)
        return read_narrow(t, elements, element, err);
    if (t->size)
        memcpy(t->data, elements, t->size);
    return 0;
}

static int read_contents(srv_tensor *t, contents_message *contents, srv_error *err)
{
    const struct column *const column = column_of(t->dtype);
    contents_message none = INFERENCE__INFER_TENSOR_CONTENTS__INIT;
    contents = contents ? contents : &none;
    if (!column)
        return srv_fail(err, SRV_INVALID,
                        "input '%s' has the type %s, which only raw_input_contents can have",
                        t->name, srv_datatype_name(t->dtype));
    if (has_other(contents, column))
        return srv_fail(err, SRV_INVALID,
                        "the contents of '%s' have a field of another type than %s", t->name,
                        srv_datatype_name(t->dtype));
    if (*count_at(contents, column) != t->len)
        return srv_fail(err, SRV_INVALID,
                        "the contents of '%s' have %zu elements; its shape needs %zu", t->name,
                        *count_at(contents, column), t->len);
    const void *const elements = *elements_at(contents, column);
    return t->dtype == TL_STRING ? read_strings(t, elements, err)
                                 : read_numbers(t, elements, column->element, err);
}

static const Inference__InferParameter *find_parameter(Inference__Parameter *const *parameters,
                                                       size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(parameters[i]->key, key))
            return parameters[i]->value;
    return NULL;
}

static int read_shape(srv_tensor *t, const input_message *input, srv_error *err)
{
    const tl_dtype dtype = srv_datatype_find(input->datatype);
    long long dims[SRV_MAX_DIMS];
    const int ndim = input->n_shape > SRV_MAX_DIMS ? SRV_MAX_DIMS + 1 : (int)input->n_shape;
    if (dtype == TL_DTYPE_INVALID)
        return srv_datatype_fail(input->name, *input->datatype ? input->datatype : NULL, err);
    for (int i = 0; i < ndim && i < SRV_MAX_DIMS; i++)
        dims[i] = input->shape[i];
    return srv_tensor_shape(t, dtype, ndim, dims, err);
}

static int read_input(srv_tensor *t, const input_message *input, const ProtobufCBinaryData *raw,
                      srv_error *err)
{
    if (!*input->name)
        return srv_fail(err, SRV_INVALID, "an input has no name");
    if (find_parameter(input->parameters, input->n_parameters, "shared_memory_region"))
        return srv_fail(err, SRV_UNSUPPORTED,
                        "input '%s': the extension 'shared_memory' is missing", input->name);
    if (!(t->name = strdup(input->name)))
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
    if (read_shape(t, input, err))
        return -1;
    if (!raw)
        return read_contents(t, input->contents, err);
    if (input->contents)
        return srv_fail(err, SRV_INVALID,
                        "input '%s' has contents, though the request has raw_input_contents",
                        input->name);
    return srv_tensor_from_binary(t, raw->len ? raw->data : (const void *)"", raw->len, err);
}

static int read_inputs(const Inference__ModelInferRequest *message, srv_request *r)
{
    const size_t n_raw = message->n_raw_input_contents;
    if (n_raw && n_raw != message->n_inputs)
        return srv_fail(&r->error, SRV_INVALID,
                        "the request has %zu raw_input_contents for %zu inputs", n_raw,
                        message->n_inputs);
    if (srv_request_inputs(r, message->n_inputs))
        return -1;
    for (int i = 0; i < r->n_inputs; i++)
        if (read_input(&r->inputs[i], message->inputs[i],
                       n_raw ? &message->raw_input_contents[i] : NULL, &r->error))
            return -1;
    return 0;
}

static int read_outputs(const Inference__ModelInferRequest *message, srv_request *r)
{
    static const char *const missing[] = {"classification", "shared_memory_region"};
    for (size_t i = 0; i < message->n_outputs; i++) {
        const Inference__ModelInferRequest__InferRequestedOutputTensor *const output =
            message->outputs[i];
        if (!*output->name)
            return srv_fail(&r->error, SRV_INVALID, "an output has no name");
        for (int k = 0; k < 2; k++)
            if (find_parameter(output->parameters, output->n_parameters, missing[k]))
                return srv_fail(&r->error, SRV_UNSUPPORTED,
                                "output '%s': the extension '%s' is missing", output->name,
                                missing[k]);
        if (srv_request_want(r, output->name))
            return -1;
    }
    return 0;
}

// Microseconds, beside grpc-timeout: the earlier deadline wins.
static int read_timeout(const Inference__ModelInferRequest *message, srv_request *r)
{
    const Inference__InferParameter *const timeout =
        find_parameter(message->parameters, message->n_parameters, "timeout");
    if (!timeout)
        return 0;
    uint64_t us = timeout->uint64_param;
    if (timeout->parameter_choice_case == INFERENCE__INFER_PARAMETER__PARAMETER_CHOICE_INT64_PARAM)
        us = (uint64_t)timeout->int64_param;
    else if (timeout->parameter_choice_case !=
             INFERENCE__INFER_PARAMETER__PARAMETER_CHOICE_UINT64_PARAM)
        us = UINT64_MAX;
    if (us > INT64_MAX / 2000)
        return srv_fail(&r->error, SRV_INVALID,
                        "the parameter 'timeout' is no number of microseconds");
    const uint64_t deadline = us ? r->arrival + us * 1000 : 0;
    if (deadline && (!r->deadline || deadline < r->deadline))
        r->deadline = deadline;
    return 0;
}

// Fields of the type string are UTF-8; others would make the response no message.
static int read_id(const char *id, srv_request *r, srv_proto_form *form)
{
    if (!*id)
        return 0;
    if (!srv_is_utf8(id, strlen(id)))
        return srv_fail(&r->error, SRV_INVALID, "the id is no UTF-8");
    form->id = strdup(id);
    return form->id ? 0 : srv_fail(&r->error, SRV_OUT_OF_MEMORY, "no memory");
}

int srv_proto_read_infer(const Inference__ModelInferRequest *message, srv_request *r,
                         srv_proto_form *form)
{
    form->is_typed = !message->n_raw_input_contents && message->n_inputs;
    return read_id(message->id, r, form) || read_timeout(message, r) || read_outputs(message, r) ||
                   read_inputs(message, r)
               ? -1
               : 0;
}

// Writing

// A response in the making, and what it needs until it is packed.
typedef struct writer {
    srv_arena arena;
    Inference__ModelInferResponse response;
    srv_error *err;
} writer;

static void *room(writer *w, size_t n, size_t size)
{
    void *const at = srv_arena_alloc(&w->arena, (n + 1) * size); // all elements are in memory
    if (!at)
        srv_fail(w->err, SRV_OUT_OF_MEMORY, "the server has no memory for the response");
    return at;
}

static void write_strings(const srv_tensor *t, ProtobufCBinaryData *to)
{
    for (size_t i = 0; i < t->len; i++)
        to[i] = (ProtobufCBinaryData){t->sizes[i], (uint8_t *)t->strings[i]};
}

static void write_numbers(const srv_tensor *t, char *to, tl_dtype element)
{
    for (size_t i = 0; i < t->len; i++)
        tl_convert(to + i * tl_size_of(element), element,
                   (const char *)t->data + i * tl_size_of(t->dtype), t->dtype);
}

static int write_contents(writer *w, const srv_tensor *t, output_message *output)
{
    const struct column *const column = column_of(t->dtype);
    contents_message *const contents = room(w, 1, sizeof(*contents));
    if (!contents)
        return -1;
    inference__infer_tensor_contents__init(contents);
    output->contents = contents;
    *count_at(contents, column) = t->len;
    void **const elements = elements_at(contents, column);
    if (column->element == t->dtype && t->dtype != TL_STRING) {
        *elements = t->data;
        return 0;
    }
    *elements =
        room(w, t->len,
             t->dtype == TL_STRING ? sizeof(ProtobufCBinaryData) : tl_size_of(column->element));
    if (!*elements)
        return -1;
    if (t->dtype == TL_STRING)
        write_strings(t, *elements);
    else
        write_numbers(t, *elements, column->element);
    return 0;
}

static int write_raw(writer *w, const srv_tensor *t, ProtobufCBinaryData *raw)
{
    *raw = (ProtobufCBinaryData){t->size, t->data};
    if (t->dtype != TL_STRING)
        return 0;
    srv_buffer strings = {.data = NULL};
    srv_tensor_to_binary(t, &strings);
    raw->len = strings.size;
    raw->data = room(w, strings.size, 1);
    if (raw->data && strings.size)
        memcpy(raw->data, strings.data, strings.size);
    if (strings.has_failed)
        srv_fail(w->err, SRV_OUT_OF_MEMORY, "the server has no memory for the response");
    srv_buffer_clear(&strings);
    return raw->data && !w->err->status ? 0 : -1;
}

static int write_output(writer *w, const srv_tensor *t, int is_typed)
{
    Inference__ModelInferResponse *const response = &w->response;
    output_message *const output = room(w, 1, sizeof(*output));
    int64_t *const shape = room(w, (size_t)t->ndim, sizeof(*shape));
    if (!output || !shape)
        return -1;
    inference__model_infer_response__infer_output_tensor__init(output);
    for (int i = 0; i < t->ndim; i++)
        shape[i] = t->dims[i];
    output->name = t->name;
    output->datatype = (char *)srv_datatype_name(t->dtype);
    output->n_shape = (size_t)t->ndim;
    output->shape = shape;
    response->outputs[response->n_outputs++] = output;
    return is_typed
               ? write_contents(w, t, output)
               : write_raw(w, t, &response->raw_output_contents[response->n_raw_output_contents++]);
}

// All outputs have typed contents, or all are raw.
static int can_be_typed(const srv_request *r)
{
    for (int i = 0; i < r->n_outputs; i++)
        if (!column_of(r->outputs[i].dtype))
            return 0;
    return 1;
}

static int write_outputs(writer *w, const srv_request *r, int is_typed)
{
    w->response.outputs = room(w, (size_t)r->n_outputs, sizeof(*w->response.outputs));
    w->response.raw_output_contents =
        room(w, (size_t)r->n_outputs, sizeof(*w->response.raw_output_contents));
    if (!w->response.outputs || !w->response.raw_output_contents)
        return -1;
    for (int i = 0; i < r->n_outputs; i++)
        if (write_output(w, &r->outputs[i], is_typed))
            return -1;
    return 0;
}

int srv_proto_write_infer(const srv_request *r, const srv_proto_form *form, const char *model,
                          const char *version, srv_buffer *b, srv_error *err)
{
    writer w = {
        .arena = {.left = SIZE_MAX}, .response = INFERENCE__MODEL_INFER_RESPONSE__INIT, .err = err};
    w.response.model_name = (char *)model;
    w.response.model_version = (char *)version;
    if (form->id)
        w.response.id = form->id;
    const int status = write_outputs(&w, r, form->is_typed && can_be_typed(r)) ||
                               srv_proto_pack(&w.response.base, b, err)
                           ? -1
                           : 0;
    srv_arena_clear(&w.arena);
    return status;
}

void srv_proto_form_clear(srv_proto_form *form)
{
    free(form->id);
    *form = (srv_proto_form){.id = NULL};
}
