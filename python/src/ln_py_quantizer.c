// SPDX-License-Identifier: Apache-2.0
// lightnet._lightnet.Quantizer: samples and options, a run with progress, and its result.

#include "ln_py.h"

#include "lightnet/ln_quantize.h"

typedef struct quantizer_object {
    PyObject base;
    ln_quantizer *quantizer;
    int is_busy; // a call is in progress, without the lock of the interpreter
} quantizer_object;

static PyObject *finish(quantizer_object *self, ln_status status)
{
    return status == LN_OK ? Py_BuildValue("")
                           : ln_py_fail(status, ln_quantizer_error(self->quantizer));
}

static int check_idle(const quantizer_object *self)
{
    if (!self->is_busy)
        return 0;
    PyErr_SetString(PyExc_RuntimeError, "the quantizer is in use by a call that has not returned");
    return -1;
}

static PyObject *quantizer_set(PyObject *object, PyObject *args)
{
    quantizer_object *const self = (quantizer_object *)object;
    const char *key, *value;
    if (!PyArg_ParseTuple(args, "ss", &key, &value) || check_idle(self) < 0)
        return NULL;
    return finish(self, ln_quantizer_set(self->quantizer, key, value));
}

// Samples

static PyObject *add_sample(quantizer_object *self, PyObject *arrays)
{
    ln_py_tensors t = {0};
    self->is_busy = 1; // taking an array may run code of Python
    PyObject *const result =
        ln_py_tensors_get(&t, arrays, 1) < 0
            ? NULL
            : finish(self, ln_quantizer_add_sample(self->quantizer, (int)t.n, t.list));
    ln_py_tensors_free(&t);
    self->is_busy = 0;
    return result;
}

// add_sample((array, ..)), in the order of the inputs
static PyObject *quantizer_add_sample(PyObject *object, PyObject *args)
{
    PyObject *arrays;
    if (!PyArg_ParseTuple(args, "O!", &PyTuple_Type, &arrays) ||
        check_idle((quantizer_object *)object) < 0)
        return NULL;
    return add_sample((quantizer_object *)object, arrays);
}

// Running

// Calls the function with the progress. Returns 1, with its exception set, if it raises, or if a
// signal's handler does.
static int pass_progress(void *data, const char *step, int done, int total)
{
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject *result = NULL;
    if (PyErr_CheckSignals() == 0)
        result = data == Py_None ? Py_BuildValue("")
                                 : PyObject_CallFunction(data, "sii", step, done, total);
    const int is_failed = !result;
    Py_XDECREF(result);
    PyGILState_Release(state);
    return is_failed;
}

// run(progress or None)
static PyObject *quantizer_run(PyObject *object, PyObject *args)
{
    quantizer_object *const self = (quantizer_object *)object;
    PyObject *progress;
    if (!PyArg_ParseTuple(args, "O", &progress) || check_idle(self) < 0)
        return NULL;
    self->is_busy = 1;
    Py_INCREF(self);
    ln_quantizer_set_progress(self->quantizer, pass_progress, progress);
    PyThreadState *const state = PyEval_SaveThread();
    const ln_status status = ln_quantizer_run(self->quantizer);
    PyEval_RestoreThread(state);
    ln_quantizer_set_progress(self->quantizer, NULL, NULL);
    self->is_busy = 0;
    PyObject *const result = PyErr_Occurred() ? NULL : finish(self, status);
    Py_DECREF(self);
    return result;
}

// save(file as bytes)
static PyObject *quantizer_save(PyObject *object, PyObject *args)
{
    quantizer_object *const self = (quantizer_object *)object;
    const char *file;
    if (!PyArg_ParseTuple(args, "y", &file) || check_idle(self) < 0)
        return NULL;
    self->is_busy = 1;
    PyThreadState *const state = PyEval_SaveThread();
    const ln_status status = ln_quantizer_save(self->quantizer, file);
    PyEval_RestoreThread(state);
    self->is_busy = 0;
    return finish(self, status);
}

// The result

static PyObject *describe_layer(const ln_quantizer *quantizer, int i)
{
    const ln_quantized_layer *const layer = ln_quantizer_layer(quantizer, i);
    return Py_BuildValue("NNsddd", ln_py_text(layer->name), ln_py_text(layer->type),
                         ln_quantizer_layer_precision(quantizer, i), layer->ns_before,
                         layer->ns_after, layer->error);
}

// result() -> ([layer, ..], has_joints, is_bf16, n_within, error, top1, ns_before, ns_after)
static PyObject *quantizer_result(PyObject *object, PyObject *args)
{
    quantizer_object *const self = (quantizer_object *)object;
    (void)args;
    if (check_idle(self) < 0) // a run frees the layers
        return NULL;
    const ln_quantized_model *const model = ln_quantizer_result(self->quantizer);
    if (!model) {
        PyErr_SetString(PyExc_RuntimeError, "the quantizer has no result");
        return NULL;
    }
    PyObject *layers = PyList_New(0);
    for (int i = 0; layers && i < model->n_layers; i++)
        layers = ln_py_append(layers, describe_layer(self->quantizer, i));
    return layers ? Py_BuildValue("Niiidddd", layers, model->has_joints, model->is_bf16,
                                  model->n_within, model->error, model->top1, model->ns_before,
                                  model->ns_after)
                  : NULL;
}

// The type

// Quantizer(model)
static PyObject *quantizer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *model;
    ln_quantizer *quantizer;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O", &model))
        return NULL;
    if (!ln_py_is_model(model)) {
        PyErr_SetString(PyExc_TypeError, "Quantizer expects a Model");
        return NULL;
    }
    const ln_status status = ln_quantizer_create(ln_py_model_of(model), &quantizer);
    if (status != LN_OK)
        return ln_py_fail(status, ln_quantizer_error(NULL));
    quantizer_object *const self =
        (quantizer_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (self)
        self->quantizer = quantizer; // which keeps the model
    else
        ln_quantizer_free(quantizer);
    return (PyObject *)self;
}

static void quantizer_dealloc(PyObject *object)
{
    PyTypeObject *const type = Py_TYPE(object);
    if (!((quantizer_object *)object)->is_busy) // as a session, after fork()
        ln_quantizer_free(((quantizer_object *)object)->quantizer);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyMethodDef quantizer_methods[] = {
    {"set", quantizer_set, METH_VARARGS, "set(key, value)"},
    {"add_sample", quantizer_add_sample, METH_VARARGS,
     "add_sample((array, ..)): arrays in the order of the model's inputs, which are copied"},
    {"run", quantizer_run, METH_VARARGS,
     "run(progress): progress(step, done, total) or None; what it raises ends the run"},
    {"save", quantizer_save, METH_VARARGS, "save(file as bytes)"},
    {"result", quantizer_result, METH_NOARGS,
     "result() -> ([(name, type, precision, ns before, ns after, error), ..], has_joints, is_bf16, "
     "n_within, error, top1, ns before, ns after)"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot quantizer_slots[] = {
    {Py_tp_new, quantizer_new},
    {Py_tp_dealloc, quantizer_dealloc},
    {Py_tp_methods, quantizer_methods},
    {Py_tp_doc, "Quantizer(model): selects layers for 8 bits. One thread at a time."},
    {0, NULL},
};

PyType_Spec ln_py_quantizer_spec = {
    .name = "lightnet._lightnet.Quantizer",
    .basicsize = sizeof(quantizer_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = quantizer_slots,
};
