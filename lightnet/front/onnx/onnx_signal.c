// SPDX-License-Identifier: Apache-2.0
// ONNX operators on signals: Fourier transforms, and the constants that go with them.

#include <math.h>

#include "front/onnx/ln_onnx_model.h"
#include "front/onnx/ln_onnx.h"

// Fourier transforms

// Required input `i`, a length of at least 1.
static int length_in(ln_onnx_node *n, int i, const char *name)
{
    const int64_t len = ln_onnx_required_int(n, i);
    if (len < 1 || len > INT32_MAX)
        ln_emit_fail(&n->emit, "'%s' is %lld, expected 1 to %d", name, (long long)len, INT32_MAX);
    return (int)len;
}

// The axis is an attribute, since opset 20 an input.
static void translate_dft(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const int64_t axis =
        n->opset < 20 ? ln_attr_int(&n->emit, "axis", 1) : ln_onnx_int_in(n, 2, -2);
    LN_EMIT(&n->emit, 0, LN_OP_DFT, LN_ARG("src", src),
            LN_INT("axis", ln_attr_to_axis(&n->emit, axis, ln_onnx_tensor_of(n, src)->ndim)),
            LN_ONLY_IF(ln_onnx_has_input(n, 1), LN_INT("len", length_in(n, 1, "dft_length"))),
            LN_BOOL("inverse", ln_attr_bool(&n->emit, "inverse", 0)),
            LN_BOOL("onesided", ln_attr_bool(&n->emit, "onesided", 0)));
}

// The length of a frame: by default that of the window.
static int frame_length(ln_onnx_node *n, const char *window)
{
    if (ln_onnx_has_input(n, 3))
        return length_in(n, 3, "frame_length");
    if (!window)
        ln_emit_fail(&n->emit,
                     "neither 'window' nor 'frame_length' is given, expected one of them");
    return ln_onnx_tensor_of(n, window)->len;
}

static void translate_stft(ln_onnx_node *n)
{
    const char *const window = ln_onnx_optional(n, 2);
    LN_ONNX_FORM(n, 0, LN_INT("step", length_in(n, 1, "frame_step")),
                 LN_INT("len", frame_length(n, window)));
}

// Constants

// The node's output is a constant of these numbers, in the type of the node.
static void put_constant(ln_onnx_node *n, int ndim, const int *dims, const double *values)
{
    const tl_dtype dtype = ln_attr_dtype(&n->emit, "output_datatype", TL_FLOAT);
    const int len = tl_compute_length(ndim, dims);
    void *const data =
        ln_onnx_failed(n)
            ? NULL
            : ln_translation_alloc(&n->model->base, (size_t)len * tl_size_of(dtype) + 1);
    if (!data)
        return;
    tl_convert_array(data, dtype, values, TL_DOUBLE, (size_t)len);
    ln_onnx_alias(n, 0, ln_emit_constant(&n->emit, dtype, ndim, dims, data));
}

// The zeros of a tensor; NULL after a failure.
static double *zeros(ln_onnx_node *n, int ndim, const int *dims)
{
    const int len = tl_compute_length(ndim, dims);
    if (len < 0)
        ln_emit_fail(&n->emit, "%s", tl_last_error());
    return ln_onnx_failed(n)
               ? NULL
               : ln_translation_alloc(&n->model->base, ((size_t)len + 1) * sizeof(double));
}

// The max elements of a constant that is computed when compiling.
enum { MAX_NUMBERS = 1 << 24 };

static const double pi = 3.14159265358979323846;

// a0 - a1 cos(w i) + a2 cos(2 w i), over a period, or from one end of it to the other.
static void put_window(ln_onnx_node *n, double a0, double a1, double a2)
{
    const int64_t size = ln_onnx_required_int(n, 0);
    if (size < 0 || size > MAX_NUMBERS)
        ln_emit_fail(&n->emit, "'size' is %lld, expected 0 to %d", (long long)size, MAX_NUMBERS);
    const int len = ln_onnx_failed(n) ? 0 : (int)size;
    const int period = ln_attr_bool(&n->emit, "periodic", 1) ? len : len - 1;
    double *const values = zeros(n, 1, &len);
    for (int i = 0; values && i < len; i++) {
        const double angle = period ? 2 * pi * i / period : pi; // a single element is the peak
        values[i] = a0 - a1 * cos(angle) + a2 * cos(2 * angle);
    }
    if (values)
        put_constant(n, 1, &len, values);
}

static void translate_window(ln_onnx_node *n)
{
    if (ln_streq(n->row->op_type, "HannWindow"))
        put_window(n, 0.5, 0.5, 0);
    else if (ln_streq(n->row->op_type, "HammingWindow"))
        put_window(n, 25.0 / 46, 21.0 / 46, 0);
    else
        put_window(n, 0.42, 0.5, 0.08);
}

// The mel scale, Source: ONNX MelWeightMatrix, opset 17.

static double mel_of(double hertz)
{
    return 2595 * log10(1 + hertz / 700);
}

static double hertz_of(double mel)
{
    return 700 * (pow(10, mel / 2595) - 1);
}

// Writes a triangle from `low` over `center` to `high` into column `bin` of weights [rows, bins].
static void put_triangle(double *weights, int rows, int bins, int bin, const double *corners)
{
    const double low = corners[0], center = corners[1], high = corners[2];
    for (int j = 0; j < rows; j++) {
        double *const weight = &weights[(size_t)j * (size_t)bins + (size_t)bin];
        if (j == center)
            *weight = 1;
        else if (j >= low && j < center)
            *weight = (j - low) / (center - low);
        else if (j > center && j < high)
            *weight = (high - j) / (high - center);
    }
}

static void translate_mel_weights(ln_onnx_node *n)
{
    const int bins = length_in(n, 0, "num_mel_bins"), len = length_in(n, 1, "dft_length");
    const int rate = length_in(n, 2, "sample_rate");
    const double low = ln_onnx_required_number(n, 3), high = ln_onnx_required_number(n, 4);
    if (!(low >= 0 && low <= high && isfinite(high)))
        ln_emit_fail(&n->emit, "frequencies from %g to %g, expected a range above 0", low, high);
    const int dims[] = {len / 2 + 1, bins};
    if ((int64_t)dims[0] * bins > MAX_NUMBERS)
        ln_emit_fail(&n->emit, "a matrix of %d x %d, expected at most %d weights", dims[0], bins,
                     MAX_NUMBERS);
    double *const weights = zeros(n, 2, dims);
    const double step = (mel_of(high) - mel_of(low)) / (bins + 2.0);
    for (int i = 0; weights && i < bins; i++) {
        double corners[3];
        for (int k = 0; k < 3; k++)
            corners[k] = floor((len + 1.0) * hertz_of(mel_of(low) + (i + k) * step) / rate);
        put_triangle(weights, dims[0], bins, i, corners);
    }
    if (weights)
        put_constant(n, 2, dims, weights);
}

const ln_onnx_row ln_onnx_rows_signal[] = {
    {"BlackmanWindow", 17, translate_window},
    {"DFT", 17, translate_dft},
    {"DFT", 20, translate_dft},
    {"HammingWindow", 17, translate_window},
    {"HannWindow", 17, translate_window},
    {"MelWeightMatrix", 17, translate_mel_weights},
    {"STFT", 17, translate_stft},
    {NULL},
};
