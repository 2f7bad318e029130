// SPDX-License-Identifier: Apache-2.0
// The module lightnet._lightnet: its types, exceptions and functions.

#include "ln_py.h"

#include <string.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_plugin.h"

ln_py_globals ln_py;

PyObject *ln_py_fail(ln_status status, const char *message)
{
    if (status == LN_OUT_OF_MEMORY)
        return PyErr_NoMemory();
    PyObject *const error = status > LN_OK && status < LN_STATUS_SIZE ? ln_py.errors[status] : NULL;
    const char *const text = message ? message : ln_status_text(status);
    PyObject *const decoded = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject *const plain =
        decoded ? PyObject_CallFunctionObjArgs(ln_py.message_of, decoded, NULL) : NULL;
    if (plain)
        PyErr_SetObject(error ? error : PyExc_RuntimeError, plain);
    Py_XDECREF(plain);
    Py_XDECREF(decoded);
    return NULL;
}

static void replace(PyObject **slot, PyObject *object)
{
    PyObject *const old = *slot;
    Py_XINCREF(object);
    *slot = object;
    Py_XDECREF(old);
}

// Whether this is the interpreter that imported the module first. Its functions are called by
// operations of all, so another one must not replace them. -1: it is another; an exception is set.
static int check_interpreter(void)
{
    static PyObject *first; // the modules of an interpreter are its own
    PyObject *const modules = PyImport_GetModuleDict();
    if (!first) {
        Py_INCREF(modules);
        first = modules;
    }
    if (first == modules)
        return 0;
    PyErr_SetString(PyExc_ImportError, "lightnet is in use in another interpreter of this process, "
                                       "which is the only one that can use it");
    return -1;
}

// configure([exception of each status], as_array, kind_of, new_strings, message_of)
static PyObject *configure(PyObject *module, PyObject *args)
{
    PyObject *errors, *as_array, *kind_of, *new_strings, *message_of;
    (void)module;
    if (check_interpreter() < 0 ||
        !PyArg_ParseTuple(args, "OOOOO", &errors, &as_array, &kind_of, &new_strings, &message_of))
        return NULL;
    for (int i = 0; i < LN_STATUS_SIZE; i++) {
        PyObject *const error = PySequence_GetItem(errors, i);
        if (!error)
            return NULL;
        replace(&ln_py.errors[i], error);
        Py_DECREF(error);
    }
    replace(&ln_py.as_array, as_array);
    replace(&ln_py.kind_of, kind_of);
    replace(&ln_py.new_strings, new_strings);
    replace(&ln_py.message_of, message_of);
    return Py_BuildValue("");
}

static PyObject *statuses(PyObject *module, PyObject *args)
{
    PyObject *list = PyList_New(0);
    (void)module, (void)args;
    for (int i = 0; list && i < LN_STATUS_SIZE; i++)
        list = ln_py_append(list, Py_BuildValue("s", ln_status_name((ln_status)i)));
    return list;
}

static PyObject *version(PyObject *module, PyObject *args)
{
    (void)module, (void)args;
    return Py_BuildValue("ss", ln_version(), ln_build_info());
}

// operators() -> [(type, domain), ..]
static PyObject *operators(PyObject *module, PyObject *args)
{
    PyObject *list = PyList_New(0);
    ln_format_operator op;
    (void)module, (void)args;
    for (size_t i = 0; list && ln_format_operator_at(i, &op); i++)
        list = ln_py_append(list, Py_BuildValue("ss", op.type, op.domain));
    return list;
}

// load_plugin(file as bytes)
static PyObject *load_plugin(PyObject *module, PyObject *args)
{
    const char *file;
    (void)module;
    if (!PyArg_ParseTuple(args, "y", &file))
        return NULL;
    return ln_plugin_load(file) ? ln_py_fail(LN_UNSUPPORTED, ln_last_error()) : Py_BuildValue("");
}

static PyMethodDef functions[] = {
    {"configure", configure, METH_VARARGS,
     "configure(exceptions, as_array, kind_of, new_strings, message_of)"},
    {"statuses", statuses, METH_NOARGS, "The names of all statuses, by their numbers."},
    {"version", version, METH_NOARGS, "(version, build options, one per line)"},
    {"operators", operators, METH_NOARGS,
     "[(type, domain), ..] of the operators that this build reads in ONNX models"},
    {"load_plugin", load_plugin, METH_VARARGS,
     "load_plugin(file as bytes): adds its operators and targets, until the process ends"},
    {"detect", ln_py_detect, METH_VARARGS,
     "detect(outputs, [names, then labels, as bytes], axes, kind, score, overlap, max, points): "
     "(family, task, number of points, [(class, label, score, box, points, mask)])"},
    {"class_map", ln_py_class_map, METH_VARARGS,
     "class_map(outputs, [names], axes, is_nhwc, threshold): bytes of int32"},
    {"axes", ln_py_axes, METH_VARARGS,
     "axes(fit, share, height, width, input height, input width)"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "lightnet._lightnet",
    "Models and sessions of LightNet.",
    -1,
    functions,
    NULL,
    NULL,
    NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__lightnet(void); // called by the import

PyMODINIT_FUNC PyInit__lightnet(void)
{
    PyObject *const module = PyModule_Create(&definition);
    PyObject *const session = PyType_FromSpec(&ln_py_session_spec);
    PyObject *const quantizer = PyType_FromSpec(&ln_py_quantizer_spec);
    ln_py_model_type = PyType_FromSpec(&ln_py_model_spec);
    if (!module || !session || !quantizer || !ln_py_model_type)
        return NULL;
    Py_INCREF(ln_py_model_type);
    if (PyModule_AddObject(module, "Model", ln_py_model_type) < 0 ||
        PyModule_AddObject(module, "Session", session) < 0 ||
        PyModule_AddObject(module, "Quantizer", quantizer) < 0)
        return NULL;
    return module;
}
