// SPDX-License-Identifier: Apache-2.0
// The extension module lightnet._lightnet: models and sessions for Python, over the API of
// ln_session.h.
//
// It is compiled for the stable ABI of CPython 3.8, so that one file serves all later versions.
// That ABI has the buffer protocol since 3.11, but all versions export it with the same layout:
// older headers hide it only.

#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "lightnet/ln_session.h"

#if defined(Py_LIMITED_API) && Py_LIMITED_API < 0x030b0000
typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
} Py_buffer;
#define PyBUF_WRITABLE     0x0001
#define PyBUF_FORMAT       0x0004
#define PyBUF_ND           0x0008
#define PyBUF_STRIDES      (0x0010 | PyBUF_ND)
#define PyBUF_C_CONTIGUOUS (0x0020 | PyBUF_STRIDES)
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject *object, Py_buffer *view, int flags);
PyAPI_FUNC(void) PyBuffer_Release(Py_buffer *view);
#endif

/** A C-contiguous array of an object, as LightNet sees it. Zero: it holds nothing. */
typedef struct ln_py_array {
    Py_buffer view;            // keeps the memory of an object; obj NULL: none
    const tl_string **strings; // or strings, a block (tl_free)
    tl_dtype dtype;
    int ndim, dims[TL_MAXDIM];
    int len;     // elements
    size_t size; // bytes
    void *data;  // of the view, or the strings
} ln_py_array;

/** The state that functions of the module share. */
typedef struct ln_py_globals {
    PyObject *errors[LN_STATUS_SIZE]; // the exception of each status
    PyObject *as_array;               // Python: of any object, one that ln_py_array_get supports
    PyObject *kind_of;                // Python: of the name of a type, (numpy.empty, its dtype)
    PyObject *new_strings;            // Python: of a shape and a list of str, an array
    PyObject *message_of;             // Python: a message with NumPy's names of types
} ln_py_globals;

extern ln_py_globals ln_py;

/** Raises the exception of `status` with `message`. Returns NULL. */
PyObject *ln_py_fail(ln_status status, const char *message);

/** Fills `array` with the memory of `object`: anything with the buffer protocol, or what
 * ln_py.as_array makes of it. -1: an exception is set, and nothing is held. */
int ln_py_array_get(ln_py_array *array, PyObject *object, int is_writable);

/** Releases the memory; ignores an array that holds nothing. */
void ln_py_array_release(ln_py_array *array);

/** Whether it holds memory, or strings. */
int ln_py_array_is_set(const ln_py_array *array);

/** The tensors of a sequence of arrays. Zero: none. */
typedef struct ln_py_tensors {
    Py_ssize_t n;
    ln_py_array *arrays;
    tl_tensor *items;
    const tl_tensor **list;
} ln_py_tensors;

/** Gets the arrays; without `with_data`, tensors have no data. -1: an exception is set. Free in
 * any case. */
int ln_py_tensors_get(ln_py_tensors *tensors, PyObject *sequence, int with_data);

void ln_py_tensors_free(ln_py_tensors *tensors);

/** Returns new: a tuple of sizes. NULL: an exception is set. */
PyObject *ln_py_shape(int ndim, const int *dims);

/** Returns new: an array of str from a tensor of TL_STRING. NULL: an exception is set. */
PyObject *ln_py_strings_new(const tl_tensor *t);

/** Returns new: the first `len` elements of an array of one dimension, in that shape, as a view.
 * NULL: an exception is set. */
PyObject *ln_py_array_front(PyObject *array, int len, int ndim, const int *dims);

/** Holds the memory of an array of that type, to be written (ln_py_array_release). -1: an exception
 * is set. */
int ln_py_array_hold(ln_py_array *array, PyObject *object, tl_dtype dtype);

/** Returns new: an empty array of that type and shape, held by `array`. NULL: an exception is set.
 */
PyObject *ln_py_array_new(ln_py_array *array, tl_dtype dtype, int ndim, const int *dims);

/** The name of a type in NumPy, such as "float32", or "bfloat16"; NULL: none. */
const char *ln_py_dtype_name(tl_dtype dtype);

// Names: UTF-8; bytes that are not are lone surrogates (PEP 383)

/** Returns new: the string of a name; None for NULL. NULL: an exception is set. */
PyObject *ln_py_text(const char *name);

/** Returns new: the bytes of a name. NULL: no string, or it has a NUL; an exception is set. */
PyObject *ln_py_bytes(PyObject *name);

/** The same as a converter of PyArg_ParseTuple ("O&"), into a PyObject *. */
int ln_py_bytes_arg(PyObject *name, void *bytes);

/** Appends `item` (takes it) to `list` (takes it after a failure). Returns the list; NULL: one of
 *  them is NULL, or an exception is set. */
PyObject *ln_py_append(PyObject *list, PyObject *item);

// Functions of the module, ln_py_detect.c
PyObject *ln_py_detect(PyObject *module, PyObject *args);
PyObject *ln_py_class_map(PyObject *module, PyObject *args);
PyObject *ln_py_axes(PyObject *module, PyObject *args);

extern PyType_Spec ln_py_model_spec, ln_py_session_spec, ln_py_quantizer_spec;

/** From now on, SIGINT cancels runs of `session`, if this is the main thread and Python handles it.
 *  Returns whether it does; then ln_py_interrupt_end ends it, and returns whether a SIGINT came. */
int ln_py_interrupt_begin(ln_session *session);
int ln_py_interrupt_end(void);

/** The model of a lightnet._lightnet.Model. */
ln_model *ln_py_model_of(PyObject *model);

/** Whether `object` is a Model. */
int ln_py_is_model(PyObject *object);

extern PyObject *ln_py_model_type;
