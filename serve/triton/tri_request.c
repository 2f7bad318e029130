// SPDX-License-Identifier: Apache-2.0
// Everything that comes with a request is checked: Triton checks shapes against the configuration
// alone, and sizes of data not at all.

#include "tri_request.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// Inputs

static int check_shape(const tri_port *port, const srv_tensor *t, srv_error *err)
{
    if (port->ndim >= 0 && t->ndim != port->ndim)
        return srv_fail(err, SRV_INVALID, "input '%s' has %d dimensions; the model's has %d",
                        port->name, t->ndim, port->ndim);
    for (int k = 0; k < port->ndim; k++)
        if (t->dims[k] < port->min[k] || t->dims[k] > port->max[k])
            return srv_fail(err, SRV_INVALID,
                            "input '%s' has the size %d in axis %d; the model's is %d to %d",
                            port->name, t->dims[k], k, port->min[k], port->max[k]);
    return 0;
}

static int set_shape(tri_input *in, const tri_port *port, TRITONSERVER_DataType type,
                     const int64_t *shape, uint32_t ndim, srv_error *err)
{
    const char *const datatype = TRITONSERVER_DataTypeString(type);
    long long dims[SRV_MAX_DIMS];
    if (!port->datatype || strcmp(datatype, port->datatype))
        return srv_fail(err, SRV_INVALID, "input '%s' has the type %s; the model's is %s",
                        port->name, datatype, port->datatype ? port->datatype : "unknown");
    if (ndim > SRV_MAX_DIMS)
        return srv_fail(err, SRV_INVALID, "input '%s' has %u dimensions; the max is %d", port->name,
                        ndim, SRV_MAX_DIMS);
    for (uint32_t k = 0; k < ndim; k++)
        dims[k] = shape[k];
    in->tensor.name = strdup(port->name);
    if (!in->tensor.name)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
    return srv_tensor_shape(&in->tensor, srv_datatype_find(datatype), (int)ndim, dims, err) ||
                   check_shape(port, &in->tensor, err)
               ? -1
               : 0;
}

static int read_strings(tri_request *r, int i)
{
    tri_input *const in = &r->inputs[i];
    void *const bytes = in->size < SIZE_MAX ? malloc((size_t)in->size + 1) : NULL;
    if (!bytes)
        return srv_fail(&r->error, SRV_OUT_OF_MEMORY, "no memory for input '%s'", in->tensor.name);
    const int failed = tri_request_copy(r, i, bytes) ||
                       srv_tensor_from_binary(&in->tensor, bytes, (size_t)in->size, &r->error);
    free(bytes);
    return failed ? -1 : 0;
}

static int read_input(tri_request *r, const tri_port *port, int i)
{
    tri_input *const in = &r->inputs[i];
    TRITONSERVER_DataType type;
    const int64_t *shape;
    uint32_t ndim;
    if (tri_take_error(TRITONBACKEND_RequestInput(r->request, port->name, &in->input), &r->error) ||
        tri_take_error(TRITONBACKEND_InputProperties(in->input, NULL, &type, &shape, &ndim,
                                                     &in->size, &in->n_pieces),
                       &r->error) ||
        set_shape(in, port, type, shape, ndim, &r->error))
        return -1;
    if (in->tensor.dtype == TL_STRING)
        return read_strings(r, i);
    if (in->size == in->tensor.size)
        return 0;
    return srv_fail(&r->error, SRV_INVALID,
                    "the data of '%s' has %llu bytes; its shape and type need %zu", port->name,
                    (unsigned long long)in->size, in->tensor.size);
}

// Rows of axis 0, of which all inputs have as many.
static int read_rows(tri_request *r, const tri_model *m)
{
    r->rows = 1;
    if (!m->max_batch)
        return 0;
    for (int i = 0; i < r->n_inputs; i++) {
        const srv_tensor *const t = &r->inputs[i].tensor;
        const int rows = t->ndim ? t->dims[0] : 0;
        if (rows < 1 || rows > m->max_batch)
            return srv_fail(&r->error, SRV_INVALID,
                            "input '%s' has %d rows; expected 1 to %d, max_batch_size", t->name,
                            rows, m->max_batch);
        if (i && rows != r->rows)
            return srv_fail(&r->error, SRV_INVALID, "inputs '%s' and '%s' have %d and %d rows",
                            r->inputs[0].tensor.name, t->name, r->rows, rows);
        r->rows = rows;
    }
    return 0;
}

void tri_request_read(tri_request *r, const tri_model *m, TRITONBACKEND_Request *request)
{
    *r = (tri_request){.request = request, .rows = 1};
    r->inputs = calloc((size_t)m->n_inputs + 1, sizeof(*r->inputs));
    if (tri_take_error(TRITONBACKEND_ResponseNew(&r->response, request), &r->error)) {
        r->response = NULL;
        return;
    }
    if (!r->inputs) {
        srv_fail(&r->error, SRV_OUT_OF_MEMORY, "no memory for the inputs of a request");
        return;
    }
    r->n_inputs = m->n_inputs;
    for (int i = 0; i < m->n_inputs; i++)
        if (read_input(r, &m->inputs[i], i))
            return;
    read_rows(r, m);
}

void tri_request_clear(tri_request *r)
{
    for (int i = 0; i < r->n_inputs; i++)
        srv_tensor_clear(&r->inputs[i].tensor);
    free(r->inputs);
    r->inputs = NULL;
    r->n_inputs = 0;
}

int tri_request_fits(const tri_request *r, const tri_request *other)
{
    for (int i = 0; i < r->n_inputs; i++) {
        const srv_tensor *const a = &r->inputs[i].tensor, *const b = &other->inputs[i].tensor;
        if (a->dtype != b->dtype || a->ndim != b->ndim ||
            memcmp(a->dims + 1, b->dims + 1, sizeof(a->dims) - sizeof(a->dims[0])))
            return 0;
    }
    return 1;
}

static int get_piece(const tri_request *r, int i, uint32_t k, const void **piece, uint64_t *size,
                     srv_error *err)
{
    TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
    int64_t id = 0;
    if (tri_take_error(TRITONBACKEND_InputBuffer(r->inputs[i].input, k, piece, size, &type, &id),
                       err))
        return -1;
    return type == TRITONSERVER_MEMORY_GPU
               ? srv_fail(err, SRV_UNSUPPORTED, "input '%s' is in the memory of a GPU",
                          r->inputs[i].tensor.name)
               : 0;
}

int tri_request_copy(tri_request *r, int i, void *to)
{
    const tri_input *const in = &r->inputs[i];
    uint64_t left = in->size;
    char *next = to;
    for (uint32_t k = 0; k < in->n_pieces; k++) {
        const void *piece = NULL;
        uint64_t size = 0;
        if (get_piece(r, i, k, &piece, &size, &r->error))
            return -1;
        if (size > left)
            break;
        if (size)
            memcpy(next, piece, (size_t)size);
        next += size;
        left -= size;
    }
    return left ? srv_fail(&r->error, SRV_INVALID, "the pieces of '%s' have not %llu bytes",
                           in->tensor.name, (unsigned long long)in->size)
                : 0;
}

const void *tri_request_piece(const tri_request *r, int i, size_t alignment)
{
    srv_error ignored = {.status = SRV_OK}; // the copy explains it
    const void *piece = NULL;
    uint64_t size = 0;
    if (r->inputs[i].n_pieces != 1 || get_piece(r, i, 0, &piece, &size, &ignored) ||
        size != r->inputs[i].size || (uintptr_t)piece % alignment)
        return NULL;
    return piece;
}

// Outputs

// `n` strings in Triton's form, which is that of binary data in requests. Returns new; NULL: no
// memory.
static char *strings_to_bytes(const tl_string *const *strings, size_t n, size_t *size)
{
    *size = 0;
    for (size_t i = 0; i < n; i++)
        *size += sizeof(uint32_t) + tl_string_size(strings[i]);
    char *const bytes = malloc(*size + 1), *next = bytes;
    for (size_t i = 0; i < n && bytes; i++) {
        const uint32_t length = (uint32_t)tl_string_size(strings[i]);
        memcpy(next, &length, sizeof(length));
        memcpy(next + sizeof(length), tl_string_bytes(strings[i]), length);
        next += sizeof(length) + length;
    }
    return bytes;
}

static int send_bytes(tri_request *r, TRITONBACKEND_Output *output, const char *name,
                      const void *bytes, size_t size)
{
    TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
    int64_t id = 0;
    void *to = NULL;
    if (tri_take_error(TRITONBACKEND_OutputBuffer(output, &to, size, &type, &id), &r->error))
        return -1;
    if (type == TRITONSERVER_MEMORY_GPU)
        return srv_fail(&r->error, SRV_UNSUPPORTED, "output '%s' is in the memory of a GPU", name);
    if (size)
        memcpy(to, bytes, size);
    return 0;
}

// Rows `begin` to `begin + r->rows` of `total`; total 0: all of it.
static int add_output(tri_request *r, const char *name, const tl_tensor *t, int begin, int total)
{
    const char *const datatype = srv_datatype_name(t->dtype);
    TRITONBACKEND_Output *output;
    int64_t dims[TL_MAXDIM + 1];
    if (!datatype || TRITONSERVER_StringToDataType(datatype) == TRITONSERVER_TYPE_INVALID)
        return srv_fail(&r->error, SRV_UNSUPPORTED,
                        "output '%s' has the type %s, which this Triton lacks", name,
                        tl_dtype_name(t->dtype));
    if (total && (t->ndim < 1 || t->dims[0] != total))
        return srv_fail(&r->error, SRV_INTERNAL, "output '%s' has no row for each row of the batch",
                        name);
    for (int k = 0; k < t->ndim; k++)
        dims[k] = t->dims[k];
    if (total)
        dims[0] = r->rows;
    if (tri_take_error(TRITONBACKEND_ResponseOutput(r->response, &output, name,
                                                    TRITONSERVER_StringToDataType(datatype), dims,
                                                    (uint32_t)t->ndim),
                       &r->error))
        return -1;
    const size_t len = total ? (size_t)t->len / (size_t)total : (size_t)t->len;
    const size_t first = total ? len * (size_t)begin : 0, n = total ? len * (size_t)r->rows : len;
    if (t->dtype != TL_STRING)
        return send_bytes(r, output, name,
                          t->len ? (const char *)t->data + first * tl_size_of(t->dtype) : "",
                          n * tl_size_of(t->dtype));
    size_t size;
    char *const bytes = strings_to_bytes((const tl_string *const *)t->data + first, n, &size);
    const int failed = !bytes ? srv_fail(&r->error, SRV_OUT_OF_MEMORY, "no memory for strings")
                              : send_bytes(r, output, name, bytes, size);
    free(bytes);
    return failed;
}

static int add_wanted(tri_request *r, const tri_model *m, ln_session *session, uint32_t i,
                      int begin, int total)
{
    const char *name;
    if (tri_take_error(TRITONBACKEND_RequestOutputName(r->request, i, &name), &r->error))
        return -1;
    if (!tri_model_find_output(m, name))
        return srv_fail(&r->error, SRV_INVALID, "the model has no output '%s'", name);
    const tl_tensor *const t = ln_session_output(session, name);
    return t ? add_output(r, name, t, begin, total)
             : srv_fail(&r->error, SRV_INTERNAL, "output '%s': %s", name,
                        ln_session_error(session));
}

int tri_request_add_outputs(tri_request *r, const tri_model *m, ln_session *session, int begin,
                            int total)
{
    uint32_t n;
    if (tri_take_error(TRITONBACKEND_RequestOutputCount(r->request, &n), &r->error))
        return -1;
    for (uint32_t i = 0; i < n; i++)
        if (add_wanted(r, m, session, i, begin, total))
            return -1;
    return 0;
}
