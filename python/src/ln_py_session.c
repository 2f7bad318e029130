// SPDX-License-Identifier: Apache-2.0
// lightnet._lightnet.Session: runs a model. Inputs are read where they lie; large outputs of fixed
// shapes are written where they stay.

#include "ln_py.h"

#include <stdint.h>
#include <string.h>

enum { DIRECT_BYTES = 64 * 1024 }; // outputs of so many bytes are worth being bound

typedef struct session_object {
    PyObject base;
    ln_session *session;
    PyObject *model; /* a Model */
    PyObject *bound; /* {name: capsule}: what bind_input and bind_output hold */
    int is_busy; /* a call is in progress: others may have the lock of the interpreter meanwhile */
} session_object;

/* ---- Running ---- */

/** The times of one run: a list of (name, type, ns). */
static void add_time(void *data, const char *name, const char *type, uint64_t ns)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *const row = Py_BuildValue("zzK", name, type, (unsigned long long)ns);
    if (!row || PyList_Append(data, row) < 0)
        PyErr_Clear();
    Py_XDECREF(row);
    PyGILState_Release(state);
}

/** Runs without the lock of the interpreter; times: a list, or NULL. -1: an exception is set. */
static int run_session(session_object *self, PyObject *times)
{
    const int is_interruptible = ln_py_interrupt_begin(self->session);
    PyThreadState *const state = PyEval_SaveThread();
    const ln_status status = times ? ln_session_run_timed(self->session, add_time, times)
                                   : ln_session_run(self->session);
    PyEval_RestoreThread(state);
    const int was_interrupted = is_interruptible && ln_py_interrupt_end();
    // KeyboardInterrupt, or what the program's handler raises, goes first.
    if (status != LN_OK && (!was_interrupted || PyErr_CheckSignals() == 0))
        ln_py_fail(status, ln_session_error(self->session));
    if (was_interrupted)
        ln_session_resume(self->session);
    return status == LN_OK ? 0 : -1;
}

/** Begins a call of the session, which must not be in another: 0; -1: an exception is set. */
static int begin_call(session_object *self)
{
    if (self->is_busy) {
        PyErr_SetString(PyExc_RuntimeError, "the session is in use in another thread");
        return -1;
    }
    self->is_busy = 1;
    return 0;
}

/** Ends the call. Returns `result`. */
static PyObject *end_call(session_object *self, PyObject *result)
{
    self->is_busy = 0;
    return result;
}

static int fail_session(session_object *self, ln_status status)
{
    if (status != LN_OK) // a name that does not exist is an argument, not a file
        ln_py_fail(status == LN_NOT_FOUND ? LN_BAD_ARGUMENT : status,
                   ln_session_error(self->session));
    return status == LN_OK ? 0 : -1;
}

/* ---- One call: inputs, run, outputs ---- */

/** The inputs or outputs of one call: arrays, and the names they are bound to. */
typedef struct feed {
    Py_ssize_t n, capacity;
    struct feed_entry {
        PyObject *name; /* bytes, owned */
        ln_py_array array;
    } * entries;
} feed;

static feed feed_new(Py_ssize_t n)
{
    feed f = {0, n, PyMem_Calloc(n > 0 ? (size_t)n : 1, sizeof(*f.entries))};
    if (!f.entries)
        PyErr_NoMemory();
    return f;
}

/** The bytes of a name, owned; NULL: no string, or it has a NUL. */
static PyObject *take_name(PyObject *name)
{
    char *text;
    PyObject *const bytes = PyUnicode_AsUTF8String(name);
    if (bytes && PyBytes_AsStringAndSize(bytes, &text, NULL) == 0)
        return bytes;
    Py_XDECREF(bytes);
    return NULL;
}

static const char *name_of(const struct feed_entry *entry)
{
    return PyBytes_AsString(entry->name);
}

/** Binds the array of `entry` to the input. */
static int bind_entry(session_object *self, const struct feed_entry *entry)
{
    const ln_py_array *const a = &entry->array;
    return fail_session(self,
                        ln_session_bind_input(self->session, name_of(entry), a->dtype, a->view.ndim,
                                              a->dims, a->view.buf, (size_t)a->view.len));
}

/** Takes the arrays of a dict of inputs, and binds them. */
static int bind_feed(session_object *self, feed *inputs, PyObject *dict)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (inputs->n < inputs->capacity && PyDict_Next(dict, &at, &key, &value)) {
        struct feed_entry *const entry = &inputs->entries[inputs->n];
        if (!PyUnicode_Check(key)) {
            PyErr_SetString(PyExc_TypeError, "names of inputs are strings");
            return -1;
        }
        entry->name = take_name(key);
        inputs->n++;
        Py_INCREF(value);
        const int got = entry->name ? ln_py_array_get(&entry->array, value, 0) : -1;
        Py_DECREF(value);
        if (got < 0 || bind_entry(self, entry) < 0)
            return -1;
    }
    return 0;
}

/** Unbinds and releases all. `is_output`: which of the two they are. */
static void feed_free(session_object *self, feed *f, int is_output)
{
    for (Py_ssize_t i = 0; f->entries && i < f->n; i++) {
        struct feed_entry *const entry = &f->entries[i];
        if (entry->array.view.obj && is_output)
            ln_session_bind_output(self->session, name_of(entry), NULL, 0);
        else if (entry->array.view.obj)
            ln_session_bind_input(self->session, name_of(entry), entry->array.dtype, 0, NULL, NULL,
                                  0);
        ln_py_array_release(&entry->array);
        Py_XDECREF(entry->name);
    }
    PyMem_Free(f->entries);
}

/** Whether output `name` always has the same shape, and is so large that a copy counts. */
static const tl_tensor *fixed_output(session_object *self, const char *name)
{
    const ln_model *const model = ln_py_model_of(self->model);
    const tl_tensor *const info = ln_model_output_info(model, ln_model_output_index(model, name));
    if (!info || info->ndim < 0 || info->dtype == TL_DTYPE_INVALID)
        return NULL;
    size_t size = tl_size_of(info->dtype);
    for (int i = 0; i < info->ndim; i++)
        if (info->dims[i] < 0)
            return NULL;
        else
            size *= (size_t)info->dims[i];
    return size >= DIRECT_BYTES ? info : NULL;
}

/** Whether an earlier entry has the name of the last one. */
static int is_repeated(const feed *f)
{
    for (Py_ssize_t i = 0; i < f->n - 1; i++)
        if (!strcmp(name_of(&f->entries[i]), name_of(&f->entries[f->n - 1])))
            return 1;
    return 0;
}

/** Makes arrays for the outputs that can be written directly, and binds them; others stay None in
 * `results`. */
static int bind_results(session_object *self, feed *outputs, PyObject *names, PyObject *results)
{
    for (Py_ssize_t i = 0; i < outputs->capacity; i++) {
        struct feed_entry *const entry = &outputs->entries[outputs->n];
        entry->name = take_name(PyTuple_GetItem(names, i));
        outputs->n++;
        const tl_tensor *const info = entry->name ? fixed_output(self, name_of(entry)) : NULL;
        if (!entry->name)
            return -1;
        if (!info || is_repeated(outputs))
            continue;
        PyObject *const result =
            ln_py_array_new(&entry->array, info->dtype, info->ndim, info->dims);
        if (!result || PyList_SetItem(results, i, result) < 0 ||
            fail_session(self, ln_session_bind_output(self->session, name_of(entry),
                                                      entry->array.view.buf,
                                                      (size_t)entry->array.view.len)) < 0)
            return -1;
    }
    return 0;
}

/** Returns new: an array with a copy of output `name`. */
static PyObject *copy_output(session_object *self, const char *name)
{
    const tl_tensor *const t = ln_session_output(self->session, name);
    ln_py_array array = {{0}};
    if (!t) {
        ln_py_fail(LN_BAD_ARGUMENT, ln_session_error(self->session));
        return NULL;
    }
    PyObject *const result = ln_py_array_new(&array, t->dtype, t->ndim, t->dims);
    if (!result)
        return NULL;
    if (array.view.len)
        memcpy(array.view.buf, t->data, (size_t)array.view.len);
    ln_py_array_release(&array);
    return result;
}

/** Copies the outputs that were not written directly. */
static int copy_results(session_object *self, const feed *outputs, PyObject *results)
{
    for (Py_ssize_t i = 0; i < outputs->n; i++) {
        if (outputs->entries[i].array.view.obj)
            continue;
        PyObject *const result = copy_output(self, name_of(&outputs->entries[i]));
        if (!result || PyList_SetItem(results, i, result) < 0)
            return -1;
    }
    return 0;
}

static PyObject *run_feed(session_object *self, PyObject *dict, PyObject *names)
{
    feed inputs = feed_new(PyDict_Size(dict)), outputs = feed_new(PyTuple_Size(names));
    PyObject *results = inputs.entries && outputs.entries ? PyList_New(outputs.capacity) : NULL;
    for (Py_ssize_t i = 0; results && i < outputs.capacity; i++)
        PyList_SetItem(results, i, Py_BuildValue(""));
    if (results &&
        (bind_feed(self, &inputs, dict) < 0 || bind_results(self, &outputs, names, results) < 0 ||
         run_session(self, NULL) < 0 || copy_results(self, &outputs, results) < 0))
        Py_CLEAR(results);
    feed_free(self, &outputs, 1);
    feed_free(self, &inputs, 0);
    return results;
}

/** run({name: array}, (name, ..)) -> [array, ..] */
static PyObject *session_run(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    PyObject *dict, *names;
    if (!PyArg_ParseTuple(args, "OO", &dict, &names))
        return NULL;
    if (!PyDict_Check(dict) || !PyTuple_Check(names)) {
        PyErr_SetString(PyExc_TypeError, "run expects a dict of arrays and a tuple of names");
        return NULL;
    }
    return begin_call(self) < 0 ? NULL : end_call(self, run_feed(self, dict, names));
}

/* ---- Bindings that stay ---- */

static void free_bound(PyObject *capsule)
{
    ln_py_array *const array = PyCapsule_GetPointer(capsule, NULL);
    ln_py_array_release(array);
    PyMem_Free(array);
}

/** Keeps `array` (takes it) under `key` until it is replaced. */
static int keep_bound(session_object *self, PyObject *key, ln_py_array *array)
{
    PyObject *const capsule = PyCapsule_New(array, NULL, free_bound);
    if (!capsule) {
        ln_py_array_release(array);
        PyMem_Free(array);
        return -1;
    }
    const int status = PyDict_SetItem(self->bound, key, capsule);
    Py_DECREF(capsule);
    return status;
}

/** bind_input(name, array) or bind_output(name, array); None: unbinds. */
static PyObject *bind(session_object *self, PyObject *args, int is_output)
{
    const char *name;
    PyObject *object;
    if (!PyArg_ParseTuple(args, "sO", &name, &object))
        return NULL;
    PyObject *const key = PyUnicode_FromFormat("%s %s", is_output ? "output" : "input", name);
    ln_py_array *const array = key ? PyMem_Calloc(1, sizeof(*array)) : NULL;
    if (!array && key)
        PyErr_NoMemory();
    if (!array || (object != Py_None && ln_py_array_get(array, object, is_output) < 0)) {
        PyMem_Free(array);
        Py_XDECREF(key);
        return NULL;
    }
    const ln_status status =
        is_output
            ? ln_session_bind_output(self->session, name, array->view.buf, (size_t)array->view.len)
            : ln_session_bind_input(self->session, name, array->dtype, array->view.ndim,
                                    array->dims, array->view.buf, (size_t)array->view.len);
    if (fail_session(self, status) < 0) {
        ln_py_array_release(array);
        PyMem_Free(array);
        Py_DECREF(key);
        return NULL;
    }
    const int kept = keep_bound(self, key, array);
    Py_DECREF(key);
    return kept < 0 ? NULL : Py_BuildValue("");
}

static PyObject *session_bind_input(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    return begin_call(self) < 0 ? NULL : end_call(self, bind(self, args, 0));
}

static PyObject *session_bind_output(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    return begin_call(self) < 0 ? NULL : end_call(self, bind(self, args, 1));
}

/** run_bound() or run_bound(times) */
static PyObject *session_run_bound(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    PyObject *times = NULL;
    if (!PyArg_ParseTuple(args, "|O", &times) || begin_call(self) < 0)
        return NULL;
    return end_call(self, run_session(self, times) < 0 ? NULL : Py_BuildValue(""));
}

static PyObject *session_output(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name) || begin_call(self) < 0)
        return NULL;
    return end_call(self, copy_output(self, name));
}

/* ---- Limits ---- */

/** The type and shape of output `name`. */
static PyObject *describe_output(session_object *self, const char *name)
{
    const tl_tensor *const t = ln_session_output(self->session, name);
    if (!t)
        return ln_py_fail(LN_BAD_ARGUMENT, ln_session_error(self->session));
    PyObject *const shape = PyTuple_New(t->ndim);
    for (int i = 0; shape && i < t->ndim; i++)
        PyTuple_SetItem(shape, i, PyLong_FromLong(t->dims[i]));
    return shape ? Py_BuildValue("sN", ln_py_dtype_name(t->dtype), shape) : NULL;
}

static PyObject *session_output_info(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name) || begin_call(self) < 0)
        return NULL;
    return end_call(self, describe_output(self, name));
}

static PyObject *session_set_timeout(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    unsigned long long ms;
    if (!PyArg_ParseTuple(args, "K", &ms) || begin_call(self) < 0)
        return NULL;
    const int status = fail_session(self, ln_session_set_timeout(self->session, ms));
    return end_call(self, status < 0 ? NULL : Py_BuildValue(""));
}

static PyObject *session_cancel(PyObject *self, PyObject *args)
{
    (void)args;
    ln_session_cancel(((session_object *)self)->session);
    return Py_BuildValue("");
}

static PyObject *session_resume(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    (void)args;
    if (begin_call(self) < 0)
        return NULL;
    ln_session_resume(self->session);
    return end_call(self, Py_BuildValue(""));
}

/* ---- The type ---- */

/** Session(model) */
static PyObject *session_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *model;
    ln_session *session;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O", &model))
        return NULL;
    if (!ln_py_is_model(model)) {
        PyErr_SetString(PyExc_TypeError, "Session expects a Model");
        return NULL;
    }
    const ln_status status = ln_session_create(ln_py_model_of(model), &session);
    if (status != LN_OK)
        return ln_py_fail(status, ln_session_error(NULL));
    session_object *const self =
        (session_object *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) {
        ln_session_free(session);
        return NULL;
    }
    Py_INCREF(model);
    self->model = model;
    self->session = session;
    self->bound = PyDict_New();
    if (self->bound)
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static void session_dealloc(PyObject *object)
{
    PyTypeObject *const type = Py_TYPE(object);
    session_object *const self = (session_object *)object;
    ln_session_free(self->session);
    Py_XDECREF(self->bound);
    Py_XDECREF(self->model);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyMethodDef session_methods[] = {
    {"run", session_run, METH_VARARGS, "run({name: array}, (name, ..)) -> [array, ..]"},
    {"run_bound", session_run_bound, METH_VARARGS,
     "run_bound(times=None): runs with bound inputs; appends (name, type, ns) of each operator to "
     "the list `times`"},
    {"bind_input", session_bind_input, METH_VARARGS, "bind_input(name, array or None)"},
    {"bind_output", session_bind_output, METH_VARARGS, "bind_output(name, array or None)"},
    {"output", session_output, METH_VARARGS, "output(name) -> array, a copy"},
    {"output_info", session_output_info, METH_VARARGS, "output_info(name) -> (type, shape)"},
    {"set_timeout", session_set_timeout, METH_VARARGS, "set_timeout(ms); 0: none"},
    {"cancel", session_cancel, METH_NOARGS,
     "cancel(): ends the current and later runs, until resume"},
    {"resume", session_resume, METH_NOARGS, "resume(): reverts cancel"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot session_slots[] = {
    {Py_tp_new, session_new},
    {Py_tp_dealloc, session_dealloc},
    {Py_tp_methods, session_methods},
    {Py_tp_doc, "Session(model): the inputs, memory and outputs of one run. One thread at a time."},
    {0, NULL},
};

PyType_Spec ln_py_session_spec = {
    .name = "lightnet._lightnet.Session",
    .basicsize = sizeof(session_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = session_slots,
};
