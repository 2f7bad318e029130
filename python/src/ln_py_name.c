// SPDX-License-Identifier: Apache-2.0
// Names: UTF-8, as in the model. Bytes that are not UTF-8 are the lone surrogates of PEP 383, in
// both directions, so that every name of a model works.

#include "ln_py.h"

#include <string.h>

PyObject *ln_py_text(const char *name)
{
    if (!name)
        return Py_BuildValue("");
    return PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "surrogateescape");
}

PyObject *ln_py_bytes(PyObject *name)
{
    char *text;
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "a name is %R, expected str", (PyObject *)Py_TYPE(name));
        return NULL;
    }
    PyObject *bytes = PyUnicode_AsUTF8String(name);
    if (!bytes && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
        PyErr_Clear();
        bytes = PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape");
    }
    if (bytes && PyBytes_AsStringAndSize(bytes, &text, NULL) == 0) // no NUL in it
        return bytes;
    Py_XDECREF(bytes);
    return NULL;
}

int ln_py_bytes_arg(PyObject *name, void *bytes)
{
    if (!name) {
        Py_CLEAR(*(PyObject **)bytes);
        return 1;
    }
    *(PyObject **)bytes = ln_py_bytes(name);
    return *(PyObject **)bytes ? Py_CLEANUP_SUPPORTED : 0;
}

PyObject *ln_py_append(PyObject *list, PyObject *item)
{
    if (!list || !item || PyList_Append(list, item) < 0)
        Py_CLEAR(list);
    Py_XDECREF(item);
    return list;
}
