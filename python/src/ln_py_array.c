// SPDX-License-Identifier: Apache-2.0
// Arrays of Python objects: their types, shapes and memory, without copies.

#include "ln_py.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "tensorlight/tl_util.h"

// The types by their name in NumPy, or in the package ml_dtypes, and the letters of the buffer
// protocol.
static const struct {
    const char *name, *letters;
} types[TL_DTYPE_SIZE] = {
    [TL_DOUBLE] = {"float64", "d"},
    [TL_FLOAT] = {"float32", "f"},
    [TL_INT32] = {"int32", "i"},
    [TL_INT16] = {"int16", "h"},
    [TL_INT8] = {"int8", "b"},
    [TL_UINT32] = {"uint32", "I"},
    [TL_UINT16] = {"uint16", "H"},
    [TL_UINT8] = {"uint8", "B"},
    [TL_BOOL] = {"bool", "?"},
    [TL_INT64] = {"int64", "lq"},
    [TL_UINT64] = {"uint64", "LQ"},
    [TL_FLOAT16] = {"float16", "e"},
    [TL_BFLOAT16] = {"bfloat16", ""},
    [TL_FLOAT8E4M3FN] = {"float8_e4m3fn", ""},
    [TL_FLOAT8E4M3FNUZ] = {"float8_e4m3fnuz", ""},
    [TL_FLOAT8E5M2] = {"float8_e5m2", ""},
    [TL_FLOAT8E5M2FNUZ] = {"float8_e5m2fnuz", ""},
    [TL_FLOAT8E8M0] = {"float8_e8m0fnu", ""},
    [TL_FLOAT4E2M1] = {"float4_e2m1fn", ""},
    [TL_INT4] = {"int4", ""},
    [TL_UINT4] = {"uint4", ""},
    [TL_INT2] = {"int2", ""},
    [TL_UINT2] = {"uint2", ""},
    [TL_STRING] = {"str", ""},
};

const char *ln_py_dtype_name(tl_dtype dtype)
{
    return dtype >= 0 && dtype < TL_DTYPE_SIZE ? types[dtype].name : NULL;
}

static tl_dtype dtype_of_name(const char *name)
{
    for (int i = 0; i < TL_DTYPE_SIZE; i++)
        if (i != TL_STRING && !strcmp(name, types[i].name)) // strings have no buffer
            return (tl_dtype)i;
    return TL_DTYPE_INVALID;
}

// The type of elements of a format of the buffer protocol in the machine's order of bytes.
static tl_dtype dtype_of_format(const char *format, Py_ssize_t size)
{
    if (!format)
        format = "B";
    format += *format == '@' || *format == '=' || *format == '<';
    if (!*format || format[1])
        return TL_DTYPE_INVALID;
    for (int i = 0; i < TL_DTYPE_SIZE; i++)
        if (strchr(types[i].letters, *format) && (Py_ssize_t)tl_size_of((tl_dtype)i) == size)
            return (tl_dtype)i;
    return TL_DTYPE_INVALID;
}

// Borrows the memory of `object`, if it has the buffer protocol and a supported shape. 0:
// it does not.
static int get_buffer(ln_py_array *array, PyObject *object, int is_writable)
{
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (is_writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, &array->view, flags) < 0) {
        PyErr_Clear();
        array->view.obj = NULL;
        return 0;
    }
    const Py_buffer *const view = &array->view;
    array->dtype = dtype_of_format(view->format, view->itemsize);
    int is_known = array->dtype != TL_DTYPE_INVALID && view->ndim <= TL_MAXDIM &&
                   (uintptr_t)view->buf % (size_t)view->itemsize == 0 &&
                   view->len / view->itemsize <= INT_MAX;
    for (int i = 0; is_known && i < view->ndim; i++) {
        array->dims[i] = (int)view->shape[i];
        is_known = array->dims[i] == view->shape[i];
    }
    if (!is_known) {
        ln_py_array_release(array);
        return 0;
    }
    array->ndim = view->ndim;
    array->len = (int)(view->len / view->itemsize);
    array->size = (size_t)view->len;
    array->data = view->buf;
    return 1;
}

// The block of a list of bytes; NULL: an exception is set.
static const tl_string **block_of(PyObject *texts)
{
    const Py_ssize_t len = PyList_Size(texts);
    size_t *const sizes = len < 0 ? NULL : PyMem_Calloc((size_t)len + 1, sizeof(*sizes));
    const tl_string **block = NULL;
    char *bytes;
    Py_ssize_t size = 0, i = 0;
    if (len >= 0 && !sizes)
        PyErr_NoMemory();
    for (; sizes && i < len; i++) {
        if (PyBytes_AsStringAndSize(PyList_GetItem(texts, i), &bytes, &size) < 0)
            break;
        sizes[i] = (size_t)size;
    }
    if (sizes && i == len) {
        block = tl_strings_block(sizes, (size_t)len);
        if (!block)
            PyErr_NoMemory();
    }
    for (i = 0; block && i < len; i++)
        if (sizes[i] && !PyBytes_AsStringAndSize(PyList_GetItem(texts, i), &bytes, &size))
            memcpy((char *)tl_string_bytes(block[i]), bytes, sizes[i]);
    PyMem_Free(sizes);
    return block;
}

// `pair`: the shape as a tuple, and the strings as a list of bytes.
static int get_strings(ln_py_array *array, PyObject *pair)
{
    PyObject *shape, *texts;
    if (!PyArg_ParseTuple(pair, "OO", &shape, &texts))
        return -1;
    const Py_ssize_t ndim = PyTuple_Size(shape), len = PyList_Size(texts);
    if (ndim < 0 || len < 0)
        return -1;
    if (ndim > TL_MAXDIM || len > INT_MAX) {
        PyErr_Format(PyExc_TypeError,
                     "an array of %zd dimensions and %zd strings, expected at most %d and %d", ndim,
                     len, TL_MAXDIM, INT_MAX);
        return -1;
    }
    for (int i = 0; i < ndim; i++)
        array->dims[i] = (int)PyLong_AsLong(PyTuple_GetItem(shape, i));
    array->strings = PyErr_Occurred() ? NULL : block_of(texts);
    if (!array->strings)
        return -1;
    array->dtype = TL_STRING;
    array->ndim = (int)ndim;
    array->len = (int)len;
    array->size = (size_t)len * sizeof(*array->strings);
    array->data = (void *)array->strings;
    return 0;
}

// `pair`, the result of ln_py.as_array: an array, and the name of its type, or None.
static int get_pair(ln_py_array *array, PyObject *pair, int is_writable)
{
    PyObject *object, *name;
    if (!PyArg_ParseTuple(pair, "OO", &object, &name))
        return -1;
    if (PyTuple_Check(object))
        return get_strings(array, object);
    if (!get_buffer(array, object, is_writable)) {
        PyErr_Format(PyExc_TypeError, "%R has a type or shape that LightNet does not support",
                     object);
        return -1;
    }
    if (name == Py_None)
        return 0;
    PyObject *const utf8 = PyUnicode_AsUTF8String(name);
    array->dtype = utf8 ? dtype_of_name(PyBytes_AsString(utf8)) : TL_DTYPE_INVALID;
    Py_XDECREF(utf8);
    if (array->dtype != TL_DTYPE_INVALID)
        return 0;
    ln_py_array_release(array);
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "unknown type %R", name);
    return -1;
}

int ln_py_array_get(ln_py_array *array, PyObject *object, int is_writable)
{
    if (get_buffer(array, object, is_writable))
        return 0;
    PyObject *const pair = PyObject_CallFunctionObjArgs(ln_py.as_array, object,
                                                        is_writable ? Py_True : Py_False, NULL);
    if (!pair)
        return -1;
    const int status = get_pair(array, pair, is_writable);
    Py_DECREF(pair);
    return status;
}

void ln_py_array_release(ln_py_array *array)
{
    if (array->view.obj)
        PyBuffer_Release(&array->view);
    tl_free((void *)array->strings);
    *array = (ln_py_array){.dtype = array->dtype};
}

int ln_py_array_is_set(const ln_py_array *array)
{
    return array->view.obj || array->strings;
}

void ln_py_tensors_free(ln_py_tensors *t)
{
    for (Py_ssize_t i = 0; t->arrays && i < t->n; i++)
        ln_py_array_release(&t->arrays[i]);
    PyMem_Free(t->arrays);
    PyMem_Free(t->items);
    PyMem_Free(t->list);
}

int ln_py_tensors_get(ln_py_tensors *t, PyObject *sequence, int with_data)
{
    t->n = PySequence_Size(sequence);
    const size_t room = t->n > 0 ? (size_t)t->n : 1;
    t->arrays = PyMem_Calloc(room, sizeof(*t->arrays));
    t->items = PyMem_Calloc(room, sizeof(*t->items));
    t->list = PyMem_Calloc(room, sizeof(*t->list));
    if (t->n < 0 || !t->arrays || !t->items || !t->list)
        return t->n < 0 ? -1 : (PyErr_NoMemory(), -1);
    for (Py_ssize_t i = 0; i < t->n; i++) {
        ln_py_array *const a = &t->arrays[i];
        PyObject *const item = PySequence_GetItem(sequence, i);
        const int status = item ? ln_py_array_get(a, item, 0) : -1;
        Py_XDECREF(item);
        if (status < 0)
            return -1;
        t->items[i] = (tl_tensor){.dtype = a->dtype,
                                  .ndim = a->ndim,
                                  .dims = a->dims,
                                  .len = a->len,
                                  .data = with_data ? a->data : NULL};
        t->list[i] = &t->items[i];
    }
    return 0;
}

PyObject *ln_py_shape(int ndim, const int *dims)
{
    PyObject *const shape = PyTuple_New(ndim);
    for (int i = 0; shape && i < ndim; i++)
        PyTuple_SetItem(shape, i, PyLong_FromLong(dims[i]));
    return shape;
}

PyObject *ln_py_strings_new(const tl_tensor *t)
{
    PyObject *const shape = ln_py_shape(t->ndim, t->dims), *const texts = PyList_New(t->len);
    int status = shape && texts ? 0 : -1;
    for (int i = 0; !status && i < t->len; i++) {
        const tl_string *const s = tl_tensor_string(t, i);
        PyObject *const text = PyUnicode_DecodeUTF8(
            tl_string_bytes(s), (Py_ssize_t)tl_string_size(s), "surrogateescape");
        status = text ? PyList_SetItem(texts, i, text) : -1;
    }
    PyObject *const array =
        status ? NULL : PyObject_CallFunctionObjArgs(ln_py.new_strings, shape, texts, NULL);
    Py_XDECREF(shape);
    Py_XDECREF(texts);
    return array;
}

// numpy.empty and the dtypes of NumPy, fetched when first needed.
static PyObject *empty, *kinds[TL_DTYPE_SIZE];

// Fetches numpy.empty and the dtype of `dtype`. -1: an exception is set.
static int fetch_kind(tl_dtype dtype)
{
    PyObject *const pair = PyObject_CallFunction(ln_py.kind_of, "s", ln_py_dtype_name(dtype));
    PyObject *func = NULL, *kind = NULL;
    if (pair && PyArg_ParseTuple(pair, "OO", &func, &kind)) {
        Py_INCREF(func);
        Py_XDECREF(empty);
        empty = func;
        Py_INCREF(kind);
        kinds[dtype] = kind;
    }
    Py_XDECREF(pair);
    return kinds[dtype] ? 0 : -1;
}

PyObject *ln_py_array_front(PyObject *array, int len, int ndim, const int *dims)
{
    PyObject *const shape = ln_py_shape(ndim, dims);
    PyObject *const end = PyLong_FromLong(len);
    PyObject *const range = end ? PySlice_New(NULL, end, NULL) : NULL;
    PyObject *const front = range ? PyObject_GetItem(array, range) : NULL;
    PyObject *const result =
        shape && front ? PyObject_CallMethod(front, "reshape", "O", shape) : NULL;
    Py_XDECREF(front);
    Py_XDECREF(range);
    Py_XDECREF(end);
    Py_XDECREF(shape);
    return result;
}

int ln_py_array_hold(ln_py_array *array, PyObject *object, tl_dtype dtype)
{
    // A view of bytes: NumPy would describe type and shape by text.
    if (PyObject_GetBuffer(object, &array->view, PyBUF_WRITABLE) < 0) {
        array->view.obj = NULL;
        return -1;
    }
    array->dtype = dtype;
    array->size = (size_t)array->view.len;
    array->data = array->view.buf;
    return 0;
}

PyObject *ln_py_array_new(ln_py_array *array, tl_dtype dtype, int ndim, const int *dims)
{
    if (!kinds[dtype] && fetch_kind(dtype) < 0)
        return NULL;
    PyObject *const shape = ln_py_shape(ndim, dims);
    PyObject *const object =
        shape ? PyObject_CallFunctionObjArgs(empty, shape, kinds[dtype], NULL) : NULL;
    Py_XDECREF(shape);
    if (object && ln_py_array_hold(array, object, dtype) == 0)
        return object;
    Py_XDECREF(object);
    return NULL;
}
