// SPDX-License-Identifier: Apache-2.0
// Detections and classes of pixels, from arrays that are the outputs of a model.

#include "ln_py.h"

#include <stdint.h>

#include "lightnet/ln_detect.h"

// The arguments of both functions.
typedef struct request {
    ln_py_tensors outputs;
    PyObject *texts;    // bytes: the names of the outputs, then the labels
    const char **names; // [outputs, then labels], borrowed from `texts`
    int n_labels;
    ln_image_axis axes[2];
} request;

static void free_request(request *q)
{
    ln_py_tensors_free(&q->outputs);
    PyMem_Free(q->names);
}

// Fills the names from the list of bytes. -1: an exception is set.
static int get_names(request *q)
{
    const Py_ssize_t n = PyList_Size(q->texts);
    if (n < q->outputs.n) {
        PyErr_SetString(PyExc_ValueError, "fewer names than outputs");
        return -1;
    }
    q->n_labels = (int)(n - q->outputs.n);
    q->names = PyMem_Calloc((size_t)n + 1, sizeof(*q->names));
    if (!q->names)
        return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!(q->names[i] = PyBytes_AsString(PyList_GetItem(q->texts, i))))
            return -1;
    return 0;
}

// `axes`: pixels, pixels after resizing, offset, elements; of the height, then of the width.
static int get_request(request *q, PyObject *outputs, PyObject *axes)
{
    ln_image_axis *const a = q->axes;
    return ln_py_tensors_get(&q->outputs, outputs, 1) < 0 || get_names(q) < 0 ||
                   !PyArg_ParseTuple(axes, "iiiiiiii", &a[0].in, &a[0].size, &a[0].offset,
                                     &a[0].out, &a[1].in, &a[1].size, &a[1].offset, &a[1].out)
               ? -1
               : 0;
}

// Results

// (x0, y0, x1, y1, mask as bytes of 0 and 1, row by row). NULL: an exception is set.
static PyObject *mask_of(const ln_detections *found, int i)
{
    int region[4];
    ln_error err = {0};
    if (ln_detections_mask(found, i, region, NULL, &err))
        return ln_py_fail(ln_error_status(&err), ln_error_text(&err));
    const Py_ssize_t size = (Py_ssize_t)(region[2] - region[0]) * (region[3] - region[1]);
    PyObject *const bytes = PyBytes_FromStringAndSize(NULL, size);
    if (bytes && ln_detections_mask(found, i, region, (uint8_t *)PyBytes_AsString(bytes), &err)) {
        Py_DECREF(bytes);
        return ln_py_fail(ln_error_status(&err), ln_error_text(&err));
    }
    return bytes ? Py_BuildValue("iiiiN", region[0], region[1], region[2], region[3], bytes) : NULL;
}

// (class, label, score, (x0, y0, x1, y1), points as bytes of floats, mask); None for what it lacks.
static PyObject *item_of(const ln_detections *found, int i)
{
    const ln_detection *const d = ln_detections_item(found, i);
    PyObject *const mask = ln_detections_has_masks(found) ? mask_of(found, i) : Py_BuildValue("");
    PyObject *const label = mask ? ln_py_text(d->label) : NULL;
    if (!label) {
        Py_XDECREF(mask);
        return NULL;
    }
    return Py_BuildValue(
        "iNd(dddd)y#N", d->class_index, label, (double)d->score, (double)d->box[0],
        (double)d->box[1], (double)d->box[2], (double)d->box[3], (const char *)d->points,
        (Py_ssize_t)(d->points ? ln_detections_points(found) * sizeof(*d->points) : 0), mask);
}

static PyObject *result_of(const ln_detections *found)
{
    PyObject *items = PyList_New(0);
    for (int i = 0; items && i < ln_detections_count(found); i++)
        items = ln_py_append(items, item_of(found, i));
    return items ? Py_BuildValue("ssiN", ln_detections_family(found), ln_detections_task(found),
                                 ln_detections_points(found), items)
                 : NULL;
}

// Functions

PyObject *ln_py_detect(PyObject *module, PyObject *args)
{
    request q = {0};
    PyObject *outputs, *axes;
    ln_detect_options options = {0};
    ln_error err = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "OO!Ozddii", &outputs, &PyList_Type, &q.texts, &axes, &options.kind,
                          &options.score, &options.overlap, &options.max, &options.n_points))
        return NULL;
    PyObject *result = NULL;
    if (!get_request(&q, outputs, axes)) {
        ln_detections *found;
        const int n = (int)q.outputs.n;
        options.n_labels = q.n_labels;
        options.labels = q.names + n;
        Py_BEGIN_ALLOW_THREADS found =
            ln_detect(n, q.names, q.outputs.list, q.axes, &options, &err);
        Py_END_ALLOW_THREADS result =
            found ? result_of(found) : ln_py_fail(ln_error_status(&err), ln_error_text(&err));
        ln_detections_free(found);
    }
    free_request(&q);
    return result;
}

PyObject *ln_py_class_map(PyObject *module, PyObject *args)
{
    request q = {0};
    PyObject *outputs, *axes;
    int is_nhwc, n_classes = 0;
    double threshold;
    ln_error err = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "OO!Oid", &outputs, &PyList_Type, &q.texts, &axes, &is_nhwc,
                          &threshold))
        return NULL;
    PyObject *result = NULL;
    if (!get_request(&q, outputs, axes)) {
        tl_tensor *map;
        Py_BEGIN_ALLOW_THREADS map = ln_class_map((int)q.outputs.n, q.names, q.outputs.list, q.axes,
                                                  is_nhwc, threshold, &n_classes, &err);
        Py_END_ALLOW_THREADS result =
            map ? PyBytes_FromStringAndSize(map->data,
                                            (Py_ssize_t)map->len * (Py_ssize_t)sizeof(int32_t))
                : ln_py_fail(ln_error_status(&err), ln_error_text(&err));
        tl_tensor_free_data_too(map);
    }
    free_request(&q);
    return result;
}

// resize(fit, share, height, width, input height, input width): the axes, as in get_request
PyObject *ln_py_axes(PyObject *module, PyObject *args)
{
    int fit, height, width, out_height, out_width;
    ln_image_format format = {0};
    ln_image_axis a[2];
    (void)module;
    if (!PyArg_ParseTuple(args, "idiiii", &fit, &format.share, &height, &width, &out_height,
                          &out_width))
        return NULL;
    if (fit < LN_IMAGE_STRETCH || fit > LN_IMAGE_PAD || height < 1 || width < 1 || out_height < 1 ||
        out_width < 1)
        return PyErr_Format(PyExc_ValueError, "a picture of %d x %d for an input of %d x %d",
                            height, width, out_height, out_width);
    format.fit = (ln_image_fit)fit;
    ln_image_axes(&format, height, width, out_height, out_width, a);
    return Py_BuildValue("iiiiiiii", a[0].in, a[0].size, a[0].offset, a[0].out, a[1].in, a[1].size,
                         a[1].offset, a[1].out);
}
