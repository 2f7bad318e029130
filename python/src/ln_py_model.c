// SPDX-License-Identifier: Apache-2.0
// lightnet._lightnet.Model: a model, its inputs, outputs and metadata.

#include "ln_py.h"

typedef struct model_object {
    PyObject base;
    ln_model *model;
    PyObject *messages; // a list of (level, text)
} model_object;

PyObject *ln_py_model_type;

int ln_py_is_model(PyObject *object)
{
    return PyObject_TypeCheck(object, (PyTypeObject *)ln_py_model_type);
}

ln_model *ln_py_model_of(PyObject *model)
{
    return ((model_object *)model)->model;
}

// Sets options from a sequence of pairs of strings. -1: an exception is set.
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

// Binds one value, of (name, arrays or None, whether it is a sequence, whether its data counts).
static int bind_value(ln_options *options, PyObject *value)
{
    PyObject *name, *list;
    int is_sequence, with_data;
    ln_py_tensors t = {0};
    if (!PyArg_ParseTuple(value, "O&Opp", ln_py_bytes_arg, &name, &list, &is_sequence, &with_data))
        return -1;
    const int is_absent = list == Py_None;
    int failed = !is_absent && ln_py_tensors_get(&t, list, with_data) < 0;
    if (!failed) {
        const char *const text = PyBytes_AsString(name);
        const ln_status status =
            is_sequence ? ln_options_bind_sequence(options, text, is_absent ? -1 : (int)t.n, t.list)
                        : ln_options_bind_input(options, text, t.n == 1 ? t.list[0] : NULL);
        failed = status != LN_OK;
        if (failed)
            ln_py_fail(status, ln_session_error(NULL));
    }
    ln_py_tensors_free(&t);
    Py_DECREF(name);
    return failed ? -1 : 0;
}

static int bind_values(ln_options *options, PyObject *values)
{
    const Py_ssize_t n = PySequence_Size(values);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *const value = PySequence_GetItem(values, i);
        const int status = value ? bind_value(options, value) : -1;
        Py_XDECREF(value);
        if (status < 0)
            return -1;
    }
    return n < 0 ? -1 : 0;
}

// Appends a message to the list `data`.
static void append_message(void *data, int level, const char *text)
{
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *traceback; // of an exception that is set already
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *const row = Py_BuildValue("iN", level, ln_py_text(text));
    if (!row || PyList_Append(data, row) < 0)
        PyErr_Clear();
    Py_XDECREF(row);
    PyErr_Restore(type, value, traceback);
    PyGILState_Release(state);
}

// Opens the file `name`, or the `size` bytes, without the lock of the interpreter.
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

// Model(name as bytes, bytes or None, [(key, value), ..], [value of bind_value, ..], messages)
static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    const char *name, *bytes;
    Py_ssize_t size;
    PyObject *pairs, *values, *messages;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "yz#OOO!", &name, &bytes, &size, &pairs, &values, &PyList_Type,
                          &messages))
        return NULL;
    ln_options *const options = ln_options_create();
    if (!options)
        return PyErr_NoMemory();
    ln_options_set_messages(options, append_message, messages);
    const int is_set = set_options(options, pairs) == 0 && bind_values(options, values) == 0;
    ln_model *const model = is_set ? open_model(name, bytes, size, options) : NULL;
    ln_options_free(options);
    if (!model)
        return NULL;
    const allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    model_object *const self = (model_object *)alloc(type, 0);
    if (!self) {
        ln_model_free(model);
        return NULL;
    }
    Py_INCREF(messages);
    self->model = model;
    self->messages = messages;
    return (PyObject *)self;
}

static void model_dealloc(PyObject *self)
{
    PyTypeObject *const type = Py_TYPE(self);
    ln_model_free(((model_object *)self)->model);
    Py_XDECREF(((model_object *)self)->messages);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

// The functions of inputs, or of outputs.
typedef struct ports {
    int (*count)(const ln_model *model);
    const char *(*name)(const ln_model *model, int i);
    const tl_tensor *(*info)(const ln_model *model, int i);
    const char *(*dim_name)(const ln_model *model, int i, int axis);
} ports;

// (name, type or None, shape or None). A size is a number, the name of an open one, or None.
static PyObject *describe(const ln_model *model, const ports *of, int i)
{
    const tl_tensor *const info = of->info(model, i);
    PyObject *const shape = info->ndim >= 0 ? PyTuple_New(info->ndim) : Py_BuildValue("");
    for (int k = 0; shape && k < info->ndim; k++) {
        PyObject *const size = info->dims[k] >= 0 ? PyLong_FromLong(info->dims[k])
                                                  : ln_py_text(of->dim_name(model, i, k));
        if (!size || PyTuple_SetItem(shape, k, size) < 0) {
            Py_DECREF(shape);
            return NULL;
        }
    }
    return shape ? Py_BuildValue("NzN", ln_py_text(of->name(model, i)),
                                 ln_py_dtype_name(info->dtype), shape)
                 : NULL;
}

static PyObject *list_ports(const ln_model *model, const ports *of)
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < of->count(model); i++)
        list = ln_py_append(list, describe(model, of, i));
    return list;
}

static PyObject *model_inputs(PyObject *self, void *closure)
{
    static const ports inputs = {ln_model_num_inputs, ln_model_input_name, ln_model_input_info,
                                 ln_model_input_dim_name};
    (void)closure;
    return list_ports(ln_py_model_of(self), &inputs);
}

static PyObject *model_programs(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLong(ln_model_num_programs(ln_py_model_of(self)));
}

static PyObject *model_outputs(PyObject *self, void *closure)
{
    static const ports outputs = {ln_model_num_outputs, ln_model_output_name, ln_model_output_info,
                                  ln_model_output_dim_name};
    (void)closure;
    return list_ports(ln_py_model_of(self), &outputs);
}

typedef ln_status value_func(const ln_model *model, int k, ln_value_info *info);

// [(name, form, number of its first tensor, its tensors or -1), ..]
static PyObject *list_values(const ln_model *model, value_func *value_of)
{
    PyObject *list = PyList_New(0);
    ln_value_info info;
    for (int k = 0; list && value_of(model, k, &info) == LN_OK; k++)
        list = ln_py_append(list, Py_BuildValue("Niii", ln_py_text(info.name), (int)info.form,
                                                info.first, info.len));
    return list;
}

static PyObject *model_input_values(PyObject *self, void *closure)
{
    (void)closure;
    return list_values(ln_py_model_of(self), ln_model_input_value);
}

static PyObject *model_output_values(PyObject *self, void *closure)
{
    (void)closure;
    return list_values(ln_py_model_of(self), ln_model_output_value);
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
    {"num_programs", model_programs, NULL, "the number of programs that were compiled so far",
     NULL},
    {"input_values", model_input_values, NULL,
     "[(name, form, first input, length), ..] of the inputs of the file", NULL},
    {"output_values", model_output_values, NULL,
     "[(name, form, first output, length), ..] of the outputs of the file", NULL},
    {"metadata", model_metadata, NULL, "{key: value}", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot model_slots[] = {
    {Py_tp_new, model_new},
    {Py_tp_dealloc, model_dealloc},
    {Py_tp_getset, model_getset},
    {Py_tp_doc,
     "Model(name as bytes, bytes or None, [(option, value), ..], values, messages): a model that "
     "sessions "
     "share. values: (name, arrays or None, is a sequence, has data) of inputs; messages: a list "
     "that gets (level, text) of each."},
    {0, NULL},
};

PyType_Spec ln_py_model_spec = {
    .name = "lightnet._lightnet.Model",
    .basicsize = sizeof(model_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = model_slots,
};
