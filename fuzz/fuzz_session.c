// SPDX-License-Identifier: Apache-2.0
// The fuzz target of the API for applications: the input is a model, which two sessions run with
// random values. Its bytes decide what is drawn, so that an input always does the same.

#include "fuzz_session.h"

#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_session.h"
#include "tensorlight/tensorlight.h"

enum { RUNS = 4, LONGEST = 5, MAX_ELEMENTS = 4096, MAX_TEXT = 40 };

// What is drawn.
typedef struct drawing {
    uint64_t state;
} drawing;

// Knuth's MMIX generator; the high bits are the good ones.
static unsigned draw(drawing *d, unsigned n)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(d->state >> 33) % n;
}

// FNV-1a of the input.
static drawing begin(const uint8_t *data, size_t size)
{
    drawing d = {14695981039346656037u};
    for (size_t i = 0; i < size; i++)
        d.state = (d.state ^ data[i]) * 1099511628211u;
    return d;
}

// Values

// Returns the number of elements, or -1 for too many.
static int draw_dims(drawing *d, const tl_tensor *info, int *ndim, int dims[TL_MAXDIM])
{
    int len = 1;
    *ndim = info->ndim < 0 ? (int)draw(d, 4) : info->ndim;
    for (int k = 0; k < *ndim; k++) {
        const int is_open = info->ndim < 0 || info->dims[k] < 0;
        // Now and then a shape that the model does not allow.
        dims[k] = is_open || !draw(d, 50) ? (int)draw(d, LONGEST) : info->dims[k];
        if (dims[k] > MAX_ELEMENTS || (len *= dims[k]) > MAX_ELEMENTS)
            return -1;
    }
    return len;
}

static void draw_bytes(drawing *d, tl_dtype dtype, int len, unsigned char *bytes)
{
    const size_t size = tl_size_of(dtype);
    for (int i = 0; i < len; i++) {
        const double number = draw(d, 2) ? (int)draw(d, 8) - 3 : (int)draw(d, 2000) / 10.0;
        const int is_any = !draw(d, 20) && dtype != TL_BOOL;
        for (size_t b = 0; b < size; b++)
            bytes[(size_t)i * size + b] = (unsigned char)draw(d, 256);
        if (!is_any)
            tl_convert(bytes + (size_t)i * size, dtype, &number, TL_DOUBLE);
    }
}

// Texts of the alphabet below, which has characters of several bytes, in `texts`.
static void draw_texts(drawing *d, int len, char (*texts)[MAX_TEXT], const char **at)
{
    static const char *const letters[] = {
        "a", "B", "1", " ", "-", "\n", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "e\xcc\x81"};
    for (int i = 0; i < len; i++) {
        texts[i][0] = '\0';
        for (unsigned n = draw(d, 9); n; n--)
            strcat(texts[i], letters[draw(d, sizeof(letters) / sizeof(letters[0]))]);
        at[i] = texts[i];
    }
}

static ln_status set_strings(drawing *d, ln_session *session, const char *name, int ndim,
                             const int *dims, int len)
{
    char(*texts)[MAX_TEXT] = malloc((size_t)len * sizeof(*texts) + 1);
    const char **at = malloc((size_t)len * sizeof(*at) + 1);
    ln_status status = LN_OUT_OF_MEMORY;
    if (texts && at) {
        draw_texts(d, len, texts, at);
        status = ln_session_set_strings(session, name, ndim, dims, at, NULL);
    }
    free(texts);
    free(at);
    return status;
}

static ln_status set_numbers(drawing *d, ln_session *session, const char *name, tl_dtype dtype,
                             int ndim, const int *dims, int len)
{
    unsigned char *bytes = malloc((size_t)len * tl_size_of(dtype) + 1);
    if (!bytes)
        return LN_OUT_OF_MEMORY;
    draw_bytes(d, dtype, len, bytes);
    const ln_status status = ln_session_set_input(session, name, dtype, ndim, dims, bytes);
    free(bytes);
    return status;
}

static void set_input(drawing *d, const ln_model *model, ln_session *session, int i)
{
    int ndim, dims[TL_MAXDIM];
    const tl_tensor *info = ln_model_input_info(model, i);
    const char *name = ln_model_input_name(model, i);
    const int len = info ? draw_dims(d, info, &ndim, dims) : -1;
    if (len < 0 || (!len && draw(d, 4)))
        return;
    // A type that the model leaves open, and now and then another one.
    const int is_any = !tl_dtype_is_valid(info->dtype) || !draw(d, 50);
    const tl_dtype dtype = is_any ? (tl_dtype)draw(d, TL_DTYPE_SIZE) : info->dtype;
    if (dtype == TL_STRING)
        (void)set_strings(d, session, name, ndim, dims, len);
    else
        (void)set_numbers(d, session, name, dtype, ndim, dims, len);
}

// Sessions

static void read_outputs(const ln_model *model, ln_session *session)
{
    for (int i = 0; i < ln_model_num_outputs(model); i++) {
        const tl_tensor *output = ln_session_output(session, ln_model_output_name(model, i));
        volatile unsigned char sum = 0;
        const unsigned char *bytes = output ? output->data : NULL;
        const size_t size = bytes ? tl_tensor_size(output) : 0;
        for (size_t b = 0; b < size; b++)
            sum = (unsigned char)(sum + bytes[b]);
    }
}

static void run(drawing *d, const ln_model *model, ln_session *session)
{
    const int is_cancelled = !draw(d, 8);
    for (int i = 0; i < ln_model_num_inputs(model); i++)
        if (draw(d, 6))
            set_input(d, model, session, i);
    (void)ln_session_set_timeout(session, draw(d, 8) ? 200 : 1);
    if (is_cancelled)
        ln_session_cancel(session);
    if (ln_session_run(session) == LN_OK)
        read_outputs(model, session);
    if (is_cancelled)
        ln_session_resume(session);
}

static void run_sessions(drawing *d, ln_model *model)
{
    ln_session *sessions[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++)
        (void)ln_session_create(model, &sessions[i]);
    for (int i = 0; i < RUNS && sessions[0] && sessions[1]; i++)
        run(d, model, sessions[draw(d, 2)]);
    ln_session_free(sessions[0]);
    ln_model_free(model);
    ln_session_free(sessions[1]); // lives longer than the model
}

// Lengths of sequences and optional values of a model, for opening it again; -1 is an absent one.
static void bind_lengths(drawing *d, const ln_model *model, ln_options *options)
{
    static const char *const lengths[] = {"0", "1", "2", "3"};
    ln_value_info info;
    for (int k = 0; ln_model_input_value(model, k, &info) == LN_OK; k++) {
        char shape[512];
        const int is_long = strlen(info.name) > sizeof(shape) - 8;
        if (info.form == LN_FORM_TENSOR || is_long || !draw(d, 4))
            continue;
        strcat(strcat(strcpy(shape, info.name), "="), lengths[draw(d, 4)]);
        (void)ln_options_set(options, "shape", shape);
    }
}

static ln_options *create_options(void)
{
    ln_options *options = ln_options_create();
    if (options && ln_options_set(options, "memory_limit", "100000000") == LN_OK &&
        ln_options_set(options, "open_timeout", "1000") == LN_OK &&
        ln_options_set(options, "threads", "1") == LN_OK)
        return options;
    ln_options_free(options);
    return NULL;
}

void fuzz_session(const uint8_t *data, size_t size)
{
    drawing d = begin(data, size);
    ln_options *options = create_options();
    ln_model *model = NULL;
    if (options && ln_model_open_memory("fuzz", data, size, options, &model) == LN_OK) {
        bind_lengths(&d, model, options);
        ln_model *again = NULL;
        if (ln_model_open_memory("fuzz", data, size, options, &again) == LN_OK) {
            ln_model_free(model);
            model = again;
        }
        run_sessions(&d, model);
    }
    ln_options_free(options);
}
