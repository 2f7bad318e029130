// SPDX-License-Identifier: Apache-2.0
// lightnet._lightnet.Model: a model, its inputs, outputs and metadata.

#include "ln_py.h"

typedef struct model_object {
    PyObject base;
    ln_model *model;
} model_object;

PyObject *ln_py_model_type;

int ln_py_is_model(PyObject *object)
{
    return PyObject_IsInstance(object, ln_py_model_type) == 1;
}

ln_model *ln_py_model_of(PyObject *model)
{
    return ((model_object *)model)->model;
}

/** Sets options from a sequence of pairs of strings. -1: an exception is set. */
static int set_options(ln_options *options, PyObject *pairs)
{
    const Py_ssize_t n = PySequence_Size(pairs);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *key = NULL, *value = NULL;
        PyObject *const pair = PySequence_GetItem(pairs, i);
        const int is_pair =
            pair && PyArg_ParseTuple(pair, "O&O&", ln_py_bytes_arg, &key, ln_py_bytes_arg, &value);
        const ln_status status =
            is_pair ? ln_options_set(options, PyBytes_AsString(key), PyBytes_AsString(value))
                    : LN_OK;
        if (is_pair) {
            Py_DECREF(key);
            Py_DECREF(value);
        }
        Py_XDECREF(pair);
        if (!is_pair)
            return -1;
        if (status != LN_OK) {
            ln_py_fail(status, ln_session_error(NULL));
            return -1;
        }
    }
    return n < 0 ? -1 : 0;
}

/** Opens the file `name`, or the `size` bytes, without the lock of the interpreter. */
static ln_model *open_model(const char *name, const char *bytes, Py_ssize_t size,
                            const ln_options *options)
{
    ln_model *model = NULL;
    PyThreadState *const state = PyEval_SaveThread();
    const ln_status status = bytes
                                 ? ln_model_open_memory(name, bytes, (size_t)size, options, &model)
                                 : ln_model_open(name, options, &model);
    PyEval_RestoreThread(state);
    if (status != LN_OK)
        ln_py_fail(status, ln_model_error(NULL));
    return model;
}

/** Model(name as bytes, bytes or None, [(key, value), ..]) */
static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    const char *name, *bytes;
    Py_ssize_t size;
    PyObject *pairs;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "yz#O", &name, &bytes, &size, &pairs))
        return NULL;
    ln_options *const options = ln_options_create();
    if (!options)
        return PyErr_NoMemory();
    ln_model *const model =
        set_options(options, pairs) == 0 ? open_model(name, bytes, size, options) : NULL;
    ln_options_free(options);
    if (!model)
        return NULL;
    const allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    model_object *const self = (model_object *)alloc(type, 0);
    if (self)
        self->model = model;
    else
        ln_model_free(model);
    return (PyObject *)self;
}

static void model_dealloc(PyObject *self)
{
    PyTypeObject *const type = Py_TYPE(self);
    ln_model_free(((model_object *)self)->model);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

typedef const char *dim_name_func(const ln_model *model, int i, int axis);

/** A size: a number, the name of an open one, or None for one without a name. */
static PyObject *size_of(const ln_model *model, const tl_tensor *info, int i, int axis,
                         dim_name_func *dim_name)
{
    if (info->dims[axis] >= 0)
        return PyLong_FromLong(info->dims[axis]);
    return ln_py_text(dim_name(model, i, axis));
}

/** (name, type or None, shape or None) of an input or output. */
static PyObject *describe(const ln_model *model, int i, const char *name, const tl_tensor *info,
                          dim_name_func *dim_name)
{
    PyObject *const shape = info->ndim >= 0 ? PyTuple_New(info->ndim) : Py_BuildValue("");
    for (int k = 0; shape && k < info->ndim; k++) {
        PyObject *const size = size_of(model, info, i, k, dim_name);
        if (!size || PyTuple_SetItem(shape, k, size) < 0) {
            Py_DECREF(shape);
            return NULL;
        }
    }
    return shape ? Py_BuildValue("NzN", ln_py_text(name), ln_py_dtype_name(info->dtype), shape)
                 : NULL;
}

static PyObject *model_inputs(PyObject *self, void *closure)
{
    const ln_model *const model = ln_py_model_of(self);
    PyObject *list = PyList_New(0);
    (void)closure;
    for (int i = 0; list && i < ln_model_num_inputs(model); i++)
        list = ln_py_append(list, describe(model, i, ln_model_input_name(model, i),
                                           ln_model_input_info(model, i), ln_model_input_dim_name));
    return list;
}

static PyObject *model_outputs(PyObject *self, void *closure)
{
    const ln_model *const model = ln_py_model_of(self);
    PyObject *list = PyList_New(0);
    (void)closure;
    for (int i = 0; list && i < ln_model_num_outputs(model); i++)
        list =
            ln_py_append(list, describe(model, i, ln_model_output_name(model, i),
                                        ln_model_output_info(model, i), ln_model_output_dim_name));
    return list;
}

static PyObject *model_metadata(PyObject *self, void *closure)
{
    const ln_model *const model = ln_py_model_of(self);
    PyObject *const dict = PyDict_New();
    (void)closure;
    const char *key;
    for (int i = 0; dict && (key = ln_model_metadata_key(model, i)); i++) {
        PyObject *const name = ln_py_text(key), *const value =
                                                    ln_py_text(ln_model_metadata(model, key));
        const int status = name && value ? PyDict_SetItem(dict, name, value) : -1;
        Py_XDECREF(name);
        Py_XDECREF(value);
        if (status < 0) {
            Py_DECREF(dict);
            return NULL;
        }
    }
    return dict;
}

static PyGetSetDef model_getset[] = {
    {"inputs", model_inputs, NULL, "[(name, type, shape), ..] of the required inputs", NULL},
    {"outputs", model_outputs, NULL, "[(name, type, shape), ..] of the outputs", NULL},
    {"metadata", model_metadata, NULL, "{key: value}", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot model_slots[] = {
    {Py_tp_new, model_new},
    {Py_tp_dealloc, model_dealloc},
    {Py_tp_getset, model_getset},
    {Py_tp_doc,
     "Model(name as bytes, bytes or None, [(option, value), ..]): a model that sessions share."},
    {0, NULL},
};

PyType_Spec ln_py_model_spec = {
    .name = "lightnet._lightnet.Model",
    .basicsize = sizeof(model_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = model_slots,
};
