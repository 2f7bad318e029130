// SPDX-License-Identifier: Apache-2.0
// lightnet._lightnet.Session: runs a model. Inputs, and large outputs of fixed shape, are bound to
// the memory of arrays without a copy.

#include "ln_py.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "lightnet/ln_memory_plan.h"
#include "tensorlight/tl_util.h"

enum {
    MIN_BOUND_SIZE = 64 << 10, // run() binds outputs of at least this size
    MAX_UNUSED = 1 << 20,      // bytes behind a result that its array may keep, however small it is
};

typedef struct session_object {
    PyObject base;
    ln_session *session;
    PyObject *model;       // a Model
    struct binding *bound; // by bind_input and bind_output
    Py_ssize_t n_bound;
    struct offer *offers; // arrays that were offered for outputs
    Py_ssize_t n_offers;
    unsigned long long timeout; // ms; 0: none
    int is_busy;                // a call is in progress, maybe without the GIL
    int is_running;             // that call is a run
    int is_armed;               // cancel() applies to the next run, too
    int is_cancelled;           // by cancel(), until the run ends, or disarm()
    unsigned long long number;  // of the current run
} session_object;

// An input or output, and its bound array, for one call or until it is replaced.
typedef struct binding {
    PyObject *name; // bytes, owned
    int is_output;
    int output;        // the number of the output in the model; -1: unknown. Of run() alone
    PyObject *offered; // the array, for an output of unknown size; or NULL
    ln_py_array array;
} binding;

// An array for an output of unknown size. It is offered again when only the session refers to it,
// so that steps of a decoder use the same memory in turn: memory from the system is slow at first.
typedef struct offer {
    PyObject *array; // of one dimension
    tl_dtype dtype;
    int len;
} offer;

// Running

// Appends (name, type, ns) of an operator to `data`, a list.
static void add_time(void *data, const char *name, const char *type, uint64_t ns)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *const row = Py_BuildValue("zzK", name, type, (unsigned long long)ns);
    if (!row || PyList_Append(data, row) < 0)
        PyErr_Clear();
    Py_XDECREF(row);
    PyGILState_Release(state);
}

// Appends (operator, node, type) to `data`, a list.
static void add_node(void *data, const char *op, const char *node, const char *type)
{
    PyObject *const row =
        PyErr_Occurred() ? NULL
                         : Py_BuildValue("NNN", ln_py_text(op), ln_py_text(node), ln_py_text(type));
    if (row)
        PyList_Append(data, row); // or sets an exception
    Py_XDECREF(row);
}

// Runs without the GIL; times: a list, or NULL. *was_interrupted: a SIGINT cancelled the run.
static ln_status run_once(session_object *self, PyObject *times, int *was_interrupted)
{
    const int is_interruptible = ln_py_interrupt_begin(self->session);
    PyThreadState *const state = PyEval_SaveThread();
    const ln_status status = times ? ln_session_run_timed(self->session, add_time, times)
                                   : ln_session_run(self->session);
    PyEval_RestoreThread(state);
    *was_interrupted = is_interruptible && ln_py_interrupt_end();
    return status;
}

// Reverts the cancellation by SIGINT, but not by cancel().
static void revert_interrupt(session_object *self)
{
    ln_session_resume(self->session);
    if (self->is_cancelled)
        ln_session_cancel(self->session);
}

// Sets the session's timeout to the remaining time of a run that began at `start`.
static void set_remaining_timeout(session_object *self, uint64_t start)
{
    const uint64_t spent = (tl_clock() - start) / 1000000; // ms
    if (self->timeout)
        ln_session_set_timeout(self->session, spent < self->timeout ? self->timeout - spent : 1);
}

// Runs; reruns after a SIGINT whose handler does not raise, as PEP 475 retries system calls. times:
// a list, or NULL. -1: an exception is set.
static int run_session(session_object *self, PyObject *times)
{
    const uint64_t start = self->timeout ? tl_clock() : 0;
    int was_interrupted = 0, is_again = 0, is_raised;
    ln_status status;
    do {
        if (is_again)
            set_remaining_timeout(self, start);
        status = run_once(self, times, &was_interrupted);
        // An exception of the signal handler, such as KeyboardInterrupt, replaces ours.
        is_raised = status != LN_OK && was_interrupted && PyErr_CheckSignals() < 0;
        if (was_interrupted)
            revert_interrupt(self);
        is_again = status == LN_CANCELLED && was_interrupted && !is_raised && !self->is_cancelled;
    } while (is_again);
    if (self->timeout)
        ln_session_set_timeout(self->session, self->timeout);
    if (status != LN_OK && !is_raised)
        ln_py_fail(status, ln_session_error(self->session));
    return status == LN_OK ? 0 : -1;
}

// Begins a call. -1 with an exception: another call is in progress.
static int begin_call(session_object *self)
{
    if (self->is_busy) {
        PyErr_SetString(PyExc_RuntimeError, "the session is in use in another thread");
        return -1;
    }
    self->is_busy = 1;
    return 0;
}

// Ends the call. Returns `result`.
static PyObject *end_call(session_object *self, PyObject *result)
{
    self->is_busy = 0;
    return result;
}

// Begins a call that cancel() can end. The GIL protects these fields.
static int begin_run(session_object *self)
{
    if (begin_call(self) < 0)
        return -1;
    self->number += !self->is_armed;
    self->is_running = 1;
    return 0;
}

static void revert_cancel(session_object *self)
{
    if (self->is_cancelled)
        ln_session_resume(self->session);
    self->is_cancelled = 0;
}

static PyObject *end_run(session_object *self, PyObject *result)
{
    self->is_running = 0;
    if (!self->is_armed)
        revert_cancel(self);
    return end_call(self, result);
}

static int fail_session(session_object *self, ln_status status)
{
    if (status != LN_OK) // a name that does not exist is an argument, not a file
        ln_py_fail(status == LN_NOT_FOUND ? LN_BAD_ARGUMENT : status,
                   ln_session_error(self->session));
    return status == LN_OK ? 0 : -1;
}

// run(): binds inputs, runs, copies outputs

// The bindings of the inputs or outputs of one call.
typedef struct feed {
    Py_ssize_t n, capacity;
    binding *entries;
} feed;

static feed feed_new(Py_ssize_t n)
{
    feed f = {0, n, PyMem_Calloc(n > 0 ? (size_t)n : 1, sizeof(*f.entries))};
    if (!f.entries)
        PyErr_NoMemory();
    return f;
}

static const char *name_of(const binding *b)
{
    return PyBytes_AsString(b->name);
}

// Binds the memory of `array`, or copies its strings; an unset array unbinds. -1: an exception is
// set.
static int bind_array(session_object *self, const char *name, const ln_py_array *array,
                      int is_output)
{
    ln_session *const s = self->session;
    return fail_session(
        self, is_output ? ln_session_bind_output(s, name, array->data, array->size)
              : array->strings
                  ? ln_session_set_input(s, name, TL_STRING, array->ndim, array->dims, array->data)
                  : ln_session_bind_input(s, name, array->dtype, array->ndim, array->dims,
                                          array->data, array->size));
}

// Unbinds and releases the array, and releases the name.
static void clear_binding(session_object *self, binding *b)
{
    if (ln_py_array_is_set(&b->array) && b->is_output)
        ln_session_bind_output(self->session, name_of(b), NULL, 0);
    else if (ln_py_array_is_set(&b->array))
        ln_session_bind_input(self->session, name_of(b), b->array.dtype, 0, NULL, NULL, 0);
    ln_py_array_release(&b->array);
    Py_CLEAR(b->offered);
    Py_CLEAR(b->name);
}

// Reads the arrays of a dict of inputs, and binds them.
static int bind_feed(session_object *self, feed *inputs, PyObject *dict)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (inputs->n < inputs->capacity && PyDict_Next(dict, &at, &key, &value)) {
        binding *const entry = &inputs->entries[inputs->n];
        entry->name = ln_py_bytes(key);
        inputs->n++;
        Py_INCREF(value);
        const int got = entry->name ? ln_py_array_get(&entry->array, value, 0) : -1;
        Py_DECREF(value);
        if (got < 0 || bind_array(self, name_of(entry), &entry->array, 0) < 0)
            return -1;
    }
    return 0;
}

static void feed_free(session_object *self, feed *f)
{
    for (Py_ssize_t i = 0; f->entries && i < f->n; i++)
        clear_binding(self, &f->entries[i]);
    PyMem_Free(f->entries);
}

// The type and shape in the model of an output of known type that is no string; else NULL.
static const tl_tensor *output_info(session_object *self, const binding *entry)
{
    const tl_tensor *const info =
        entry->output < 0 ? NULL : ln_model_output_info(ln_py_model_of(self->model), entry->output);
    return info && info->dtype != TL_DTYPE_INVALID && info->dtype != TL_STRING ? info : NULL;
}

// The type and shape of an output if run() binds it: a fixed shape, MIN_BOUND_SIZE; else NULL.
static const tl_tensor *bindable_output(session_object *self, const binding *entry)
{
    const tl_tensor *const info = output_info(self, entry);
    if (!info || info->ndim < 0)
        return NULL;
    size_t size = tl_size_of(info->dtype);
    for (int i = 0; i < info->ndim; i++)
        if (info->dims[i] < 0)
            return NULL;
        else
            size *= (size_t)info->dims[i];
    // The session has the memory of a linked output.
    return size >= MIN_BOUND_SIZE && !ln_session_linked_input(self->session, name_of(entry)) ? info
                                                                                             : NULL;
}

// The length of an array to offer for an output, of *dtype, which had at least MIN_BOUND_SIZE bytes
// in the last program; 0: none.
static int offered_length(session_object *self, const binding *entry, tl_dtype *dtype)
{
    const tl_tensor *const info = output_info(self, entry);
    const size_t size = info ? ln_session_output_capacity(self->session, name_of(entry)) : 0;
    if (size < MIN_BOUND_SIZE || size / tl_size_of(info->dtype) > INT_MAX)
        return 0;
    *dtype = info->dtype;
    return (int)(size / tl_size_of(info->dtype));
}

// Removes the arrays that nothing else refers to.
static void drop_offers(session_object *self)
{
    Py_ssize_t n = 0;
    for (Py_ssize_t i = 0; i < self->n_offers; i++) {
        if (Py_REFCNT(self->offers[i].array) > 1)
            self->offers[n++] = self->offers[i];
        else
            Py_DECREF(self->offers[i].array);
    }
    self->n_offers = n;
}

// The number of arrays that are kept for an output: one that the next run reads, one that it
// writes.
enum { MAX_OFFERS = 2 };

// Keeps the array, unless too many are in use. -1: an exception is set.
static int keep_offer(session_object *self, PyObject *array, tl_dtype dtype, int len)
{
    const Py_ssize_t max = MAX_OFFERS * ln_model_num_outputs(ln_py_model_of(self->model));
    if (self->n_offers >= max)
        drop_offers(self);
    if (self->n_offers >= max)
        return 0;
    offer *const grown = PyMem_Realloc(self->offers, (size_t)(self->n_offers + 1) * sizeof(*grown));
    if (!grown) {
        PyErr_NoMemory();
        return -1;
    }
    self->offers = grown;
    Py_INCREF(array);
    grown[self->n_offers++] = (offer){array, dtype, len};
    return 0;
}

// An array of one dimension that nothing else refers to, held by `array`. Returns new; NULL: an
// exception is set.
static PyObject *take_offer(session_object *self, ln_py_array *array, tl_dtype dtype, int len)
{
    for (Py_ssize_t i = 0; i < self->n_offers; i++) {
        PyObject *const known = self->offers[i].array;
        if (self->offers[i].dtype == dtype && self->offers[i].len == len && Py_REFCNT(known) == 1)
            return ln_py_array_hold(array, known, dtype) < 0 ? NULL : (Py_INCREF(known), known);
    }
    PyObject *const object = ln_py_array_new(array, dtype, 1, &len);
    if (object && keep_offer(self, object, dtype, len) < 0)
        Py_DECREF(object); // held by `array`
    return PyErr_Occurred() ? NULL : object;
}

// Offers an array for an output of unknown size; its results are the front of it. -1: an exception
// is set.
static int offer_result(session_object *self, binding *entry)
{
    tl_dtype dtype;
    const int len = offered_length(self, entry, &dtype);
    if (!len)
        return 0;
    entry->offered = take_offer(self, &entry->array, dtype, len);
    if (!entry->offered)
        return -1;
    return fail_session(self, ln_session_offer_output(self->session, name_of(entry),
                                                      entry->array.data, entry->array.size));
}

// Whether an earlier entry is the same output as the last one.
static int is_repeated(const feed *f)
{
    for (Py_ssize_t i = 0; i < f->n - 1; i++)
        if (f->entries[i].output == f->entries[f->n - 1].output)
            return 1;
    return 0;
}

// Creates and binds arrays for bindable outputs; others remain None in `results`.
static int bind_results(session_object *self, feed *outputs, PyObject *names, PyObject *results)
{
    for (Py_ssize_t i = 0; i < outputs->capacity; i++) {
        binding *const entry = &outputs->entries[outputs->n];
        entry->is_output = 1;
        entry->name = ln_py_bytes(PyTuple_GetItem(names, i));
        outputs->n++;
        if (!entry->name)
            return -1;
        entry->output = ln_model_output_index(ln_py_model_of(self->model), name_of(entry));
        if (is_repeated(outputs))
            continue;
        const tl_tensor *const info = bindable_output(self, entry);
        if (!info && offer_result(self, entry) < 0)
            return -1;
        if (!info)
            continue;
        PyObject *const result =
            ln_py_array_new(&entry->array, info->dtype, info->ndim, info->dims);
        if (!result || PyList_SetItem(results, i, result) < 0 ||
            bind_array(self, name_of(entry), &entry->array, 1) < 0)
            return -1;
    }
    return 0;
}

// Returns new: an array with a copy of output `name`.
static PyObject *copy_output(session_object *self, const char *name)
{
    const tl_tensor *const t = ln_session_output(self->session, name);
    ln_py_array array = {.view = {.buf = NULL}};
    if (!t) {
        ln_py_fail(LN_BAD_ARGUMENT, ln_session_error(self->session));
        return NULL;
    }
    if (t->dtype == TL_STRING)
        return ln_py_strings_new(t);
    PyObject *const result = ln_py_array_new(&array, t->dtype, t->ndim, t->dims);
    if (!result)
        return NULL;
    if (array.size)
        memcpy(array.data, t->data, array.size);
    ln_py_array_release(&array);
    return result;
}

// Whether a program has used the array that was offered, and a view of its front, the output `t`,
// keeps less than twice its memory, or little. Caches begin at a part of their capacity.
static int is_front(const binding *entry, const tl_tensor *t)
{
    if (!t || t->data != entry->array.data || t->dtype != entry->array.dtype)
        return 0;
    const size_t used = tl_tensor_size(t), unused = entry->array.size - used;
    return unused <= used || unused <= MAX_UNUSED;
}

// The result of an entry that is not bound: the front of the array that was offered, or a copy.
static PyObject *result_of(session_object *self, const binding *entry)
{
    const tl_tensor *const t =
        entry->offered ? ln_session_output(self->session, name_of(entry)) : NULL;
    return is_front(entry, t) ? ln_py_array_front(entry->offered, t->len, t->ndim, t->dims)
                              : copy_output(self, name_of(entry));
}

// Sets the results that are not bound.
static int set_results(session_object *self, const feed *outputs, PyObject *results)
{
    for (Py_ssize_t i = 0; i < outputs->n; i++) {
        if (outputs->entries[i].array.view.obj && !outputs->entries[i].offered)
            continue;
        PyObject *const result = result_of(self, &outputs->entries[i]);
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
         run_session(self, NULL) < 0 || set_results(self, &outputs, results) < 0))
        Py_CLEAR(results);
    feed_free(self, &outputs);
    feed_free(self, &inputs);
    return results;
}

// run({name: array}, (name, ..)) -> [array, ..]
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
    return begin_run(self) < 0 ? NULL : end_run(self, run_feed(self, dict, names));
}

// Persistent bindings: bind_input() and bind_output()

static binding *find_bound(const session_object *self, const char *name, int is_output)
{
    for (binding *it = self->bound; it && it < self->bound + self->n_bound; it++)
        if (it->is_output == is_output && !strcmp(name_of(it), name))
            return it;
    return NULL;
}

// Finds the binding, or adds one without an array. NULL: an exception is set.
static binding *add_bound(session_object *self, PyObject *name, int is_output)
{
    binding *const found = find_bound(self, PyBytes_AsString(name), is_output);
    if (found)
        return found;
    binding *const longer =
        PyMem_Realloc(self->bound, (size_t)(self->n_bound + 1) * sizeof(*longer));
    if (!longer) {
        PyErr_NoMemory();
        return NULL;
    }
    self->bound = longer;
    Py_INCREF(name);
    longer[self->n_bound] = (binding){.name = name, .is_output = is_output};
    return &longer[self->n_bound++];
}

static void remove_bound(session_object *self, const char *name, int is_output)
{
    binding *const it = find_bound(self, name, is_output);
    if (!it)
        return;
    binding old = *it;
    *it = self->bound[--self->n_bound];
    ln_py_array_release(&old.array);
    Py_DECREF(old.name);
}

// Binds `object` until it is replaced; None: unbinds. -1: an exception is set.
static int bind_object(session_object *self, PyObject *name, PyObject *object, int is_output)
{
    ln_py_array array = {.view = {.buf = NULL}};
    const char *const text = PyBytes_AsString(name);
    if (object != Py_None && ln_py_array_get(&array, object, is_output) < 0)
        return -1;
    const int is_set = ln_py_array_is_set(&array);
    binding *const it = is_set ? add_bound(self, name, is_output) : NULL;
    if ((is_set && !it) || bind_array(self, text, &array, is_output) < 0) {
        ln_py_array_release(&array);
        if (it && !ln_py_array_is_set(&it->array))
            remove_bound(self, text, is_output);
        return -1;
    }
    if (!it) {
        remove_bound(self, text, is_output);
        return 0;
    }
    ln_py_array old = it->array;
    it->array = array;
    ln_py_array_release(&old);
    return 0;
}

// bind_input(name, array) or bind_output(name, array); None: unbinds.
static PyObject *bind(session_object *self, PyObject *args, int is_output)
{
    PyObject *name = NULL, *object;
    if (!PyArg_ParseTuple(args, "O&O", ln_py_bytes_arg, &name, &object))
        return NULL;
    const int status = bind_object(self, name, object, is_output);
    Py_DECREF(name);
    return status < 0 ? NULL : Py_BuildValue("");
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

// States

// link(output, input)
static PyObject *session_link(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    PyObject *output = NULL, *input = NULL, *result = NULL;
    if (!PyArg_ParseTuple(args, "O&O&", ln_py_bytes_arg, &output, ln_py_bytes_arg, &input))
        return NULL;
    if (!begin_call(self)) {
        const ln_status status =
            ln_session_link(self->session, PyBytes_AsString(output), PyBytes_AsString(input));
        result = end_call(self, fail_session(self, status) < 0 ? NULL : Py_BuildValue(""));
    }
    Py_DECREF(output);
    Py_DECREF(input);
    return result;
}

// {output: input} of all links, as a new dict; NULL: an exception is set.
static PyObject *links_of(const session_object *self)
{
    const ln_model *const model = ln_py_model_of(self->model);
    PyObject *const links = PyDict_New();
    for (int i = 0; links && i < ln_model_num_outputs(model); i++) {
        const char *const output = ln_model_output_name(model, i);
        const char *const input = ln_session_linked_input(self->session, output);
        PyObject *const name = input ? ln_py_text(input) : NULL;
        PyObject *const key = name ? ln_py_text(output) : NULL;
        const int status = input ? (key ? PyDict_SetItem(links, key, name) : -1) : 0;
        Py_XDECREF(name);
        Py_XDECREF(key);
        if (status < 0) {
            Py_DECREF(links);
            return NULL;
        }
    }
    return links;
}

// set_input(name, array): copies it; a linked input then has it as its state.
static PyObject *session_set_input(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    PyObject *name = NULL, *value, *result = NULL;
    ln_py_array array = {.view = {.buf = NULL}};
    if (!PyArg_ParseTuple(args, "O&O", ln_py_bytes_arg, &name, &value))
        return NULL;
    if (!begin_call(self)) {
        if (!ln_py_array_get(&array, value, 0) &&
            !fail_session(self,
                          ln_session_set_input(self->session, PyBytes_AsString(name), array.dtype,
                                               array.ndim, array.dims, array.data)))
            result = Py_BuildValue("");
        ln_py_array_release(&array);
        end_call(self, NULL);
    }
    Py_DECREF(name);
    return result;
}

static PyObject *session_link_states(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    (void)args;
    if (begin_call(self) < 0)
        return NULL;
    const int n = ln_session_link_states(self->session);
    return end_call(self, n < 0 ? PyErr_NoMemory() : links_of(self));
}

static PyObject *session_reset_states(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    (void)args;
    if (begin_call(self) < 0)
        return NULL;
    ln_session_reset_states(self->session);
    return end_call(self, Py_BuildValue(""));
}

static PyObject *session_copy_states(PyObject *object, PyObject *other)
{
    session_object *const self = (session_object *)object, *const from = (session_object *)other;
    if (Py_TYPE(object) != Py_TYPE(other)) {
        PyErr_SetString(PyExc_TypeError, "copy_states expects a Session");
        return NULL;
    }
    if (begin_call(self) < 0)
        return NULL;
    if (self != from && begin_call(from) < 0)
        return end_call(self, NULL);
    const ln_status status = ln_session_copy_states(self->session, from->session);
    if (self != from)
        end_call(from, NULL);
    return end_call(self, fail_session(self, status) < 0 ? NULL : Py_BuildValue(""));
}

// run_bound() or run_bound(times)
static PyObject *session_run_bound(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    PyObject *times = NULL;
    if (!PyArg_ParseTuple(args, "|O", &times) || begin_run(self) < 0)
        return NULL;
    return end_run(self, run_session(self, times) < 0 ? NULL : Py_BuildValue(""));
}

// Returns func(self, name) for args (name,).
static PyObject *call_with_name(session_object *self, PyObject *args,
                                PyObject *func(session_object *self, const char *name))
{
    PyObject *name = NULL;
    if (!PyArg_ParseTuple(args, "O&", ln_py_bytes_arg, &name))
        return NULL;
    PyObject *const result =
        begin_call(self) < 0 ? NULL : end_call(self, func(self, PyBytes_AsString(name)));
    Py_DECREF(name);
    return result;
}

static PyObject *session_output(PyObject *object, PyObject *args)
{
    return call_with_name((session_object *)object, args, copy_output);
}

// The type and shape of output `name`.
static PyObject *describe_output(session_object *self, const char *name)
{
    const tl_tensor *const t = ln_session_output(self->session, name);
    if (!t)
        return ln_py_fail(LN_BAD_ARGUMENT, ln_session_error(self->session));
    PyObject *const shape = ln_py_shape(t->ndim, t->dims);
    return shape ? Py_BuildValue("sN", ln_py_dtype_name(t->dtype), shape) : NULL;
}

static PyObject *session_output_info(PyObject *object, PyObject *args)
{
    return call_with_name((session_object *)object, args, describe_output);
}

// nodes() -> the nodes of the operators of the last run
static PyObject *list_nodes(session_object *self)
{
    PyObject *const rows = PyList_New(0);
    const ln_status status = rows ? ln_session_nodes(self->session, add_node, rows) : LN_OK;
    if (status == LN_OK && !PyErr_Occurred())
        return rows;
    Py_XDECREF(rows);
    return status == LN_OK ? NULL : ln_py_fail(status, ln_session_error(self->session));
}

static PyObject *session_nodes(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    (void)args;
    return begin_call(self) < 0 ? NULL : end_call(self, list_nodes(self));
}

// Limits

static PyObject *session_set_timeout(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    unsigned long long ms;
    if (!PyArg_ParseTuple(args, "K", &ms) || begin_call(self) < 0)
        return NULL;
    ln_session_set_timeout(self->session, ms); // fails only without a session
    self->timeout = ms;
    return end_call(self, Py_BuildValue(""));
}

// arm() -> the number of the next run, which cancel() ends even before it begins
static PyObject *session_arm(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    (void)args;
    if (begin_call(self) < 0)
        return NULL;
    self->is_armed = 1;
    return end_call(self, PyLong_FromUnsignedLongLong(++self->number));
}

// cancel(number=None): ends the current run, if it has that number
static PyObject *session_cancel(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    unsigned long long number = self->number;
    if (!PyArg_ParseTuple(args, "|K", &number))
        return NULL;
    if (number == self->number && (self->is_running || self->is_armed)) {
        self->is_cancelled = 1;
        ln_session_cancel(self->session);
    }
    return Py_BuildValue("");
}

// disarm(): reverts arm(), and a cancel() since then
static PyObject *session_disarm(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    (void)args;
    if (begin_call(self) < 0)
        return NULL;
    self->is_armed = 0;
    revert_cancel(self);
    return end_call(self, Py_BuildValue(""));
}

// The memory plan

static int add_block(void *data, const ln_memory_block *block)
{
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject *const row = Py_BuildValue(
        "NsKKiiNNNii", ln_py_text(block->name), ln_mem_type_name(block->mtype),
        (unsigned long long)block->size, (unsigned long long)block->offset, block->first,
        block->last, ln_py_text(block->first_op), ln_py_text(block->last_op),
        ln_py_text(block->reuses), block->is_scratch, block->is_constant);
    const int status = row ? PyList_Append(data, row) : -1;
    Py_XDECREF(row);
    PyGILState_Release(state);
    return status;
}

// [(memory type, size, bound), ..] of the used types
static PyObject *describe_totals(const ln_memory_total *totals)
{
    PyObject *list = PyList_New(0);
    for (int m = LN_MEM_CPU; list && m < LN_MEM_TYPE_SIZE; m++)
        if (totals[m].size)
            list = ln_py_append(list, Py_BuildValue("sKK", ln_mem_type_name((ln_mem_type)m),
                                                    (unsigned long long)totals[m].size,
                                                    (unsigned long long)totals[m].bound));
    return list;
}

static PyObject *memory_plan(session_object *self)
{
    ln_memory_total totals[LN_MEM_TYPE_SIZE];
    PyObject *const blocks = PyList_New(0);
    if (!blocks)
        return NULL;
    PyThreadState *const state = PyEval_SaveThread();
    const ln_status status = ln_session_memory_plan(self->session, add_block, blocks, totals);
    PyEval_RestoreThread(state);
    if (status == LN_OK)
        return Py_BuildValue("NN", blocks, describe_totals(totals));
    Py_DECREF(blocks);
    return PyErr_Occurred() ? NULL : ln_py_fail(status, ln_session_error(self->session));
}

static PyObject *session_memory_plan(PyObject *object, PyObject *args)
{
    session_object *const self = (session_object *)object;
    (void)args;
    return begin_call(self) < 0 ? NULL : end_call(self, memory_plan(self));
}

// The type

// Session(model)
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
    return (PyObject *)self;
}

// Does not visit the type, which lives as long as the module.
static int session_traverse(PyObject *object, visitproc visit, void *arg)
{
    const session_object *const self = (session_object *)object;
    Py_VISIT(self->model);
    for (Py_ssize_t i = 0; i < self->n_bound; i++)
        Py_VISIT(self->bound[i].array.view.obj);
    for (Py_ssize_t i = 0; i < self->n_offers; i++)
        Py_VISIT(self->offers[i].array);
    return 0;
}

static int session_clear(PyObject *object)
{
    session_object *const self = (session_object *)object;
    while (self->n_bound) {
        binding last = self->bound[--self->n_bound];
        clear_binding(self, &last);
    }
    PyMem_Free(self->bound);
    self->bound = NULL;
    while (self->n_offers)
        Py_DECREF(self->offers[--self->n_offers].array);
    PyMem_Free(self->offers);
    self->offers = NULL;
    return 0;
}

static void session_dealloc(PyObject *object)
{
    PyTypeObject *const type = Py_TYPE(object);
    session_object *const self = (session_object *)object;
    PyObject_GC_UnTrack(object);
    // After fork(), a session that another thread of the parent was using cannot be freed safely.
    if (!self->is_busy) {
        session_clear(object);
        ln_session_free(self->session);
    }
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
    {"link", session_link, METH_VARARGS, "link(output, input)"},
    {"set_input", session_set_input, METH_VARARGS, "set_input(name, array): copies the array"},
    {"link_states", session_link_states, METH_NOARGS,
     "link_states() -> {output: input}: links states by the names of exporters"},
    {"reset_states", session_reset_states, METH_NOARGS, "reset_states()"},
    {"copy_states", session_copy_states, METH_O,
     "copy_states(session): copies its links and states"},
    {"nodes", session_nodes, METH_NOARGS,
     "nodes() -> [(operator, node, type), ..] of the last run"},
    {"memory_plan", session_memory_plan, METH_NOARGS,
     "memory_plan() -> ([(name, memory type, size, offset, first, last, first operator, last "
     "operator, name of the block that it reuses, is_scratch, is_constant), ..], [(memory type, "
     "size, bound), ..])"},
    {"set_timeout", session_set_timeout, METH_VARARGS, "set_timeout(ms); 0: none"},
    {"arm", session_arm, METH_NOARGS,
     "arm() -> number: from now on, cancel(number) ends the next run, until disarm()"},
    {"cancel", session_cancel, METH_VARARGS,
     "cancel(number=None): ends the current run, of that number; has no effect without one"},
    {"disarm", session_disarm, METH_NOARGS, "disarm(): reverts arm and cancel"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot session_slots[] = {
    {Py_tp_new, session_new},
    {Py_tp_dealloc, session_dealloc},
    {Py_tp_traverse, session_traverse},
    {Py_tp_clear, session_clear},
    {Py_tp_methods, session_methods},
    {Py_tp_doc, "Session(model): the inputs, memory and outputs of one run. One thread at a time."},
    {0, NULL},
};

PyType_Spec ln_py_session_spec = {
    .name = "lightnet._lightnet.Session",
    .basicsize = sizeof(session_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = session_slots,
};
