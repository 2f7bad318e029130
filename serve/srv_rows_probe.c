// SPDX-License-Identifier: Apache-2.0
// Rows are requests of one row each. Their elements are pseudo-random: integers 0 and 1, floats
// from 0 to 1. From row to row each rises and falls, or falls and rises, so that no order is
// sorted. A row has a *partner*, of other elements: a row beside others' partners keeps its
// results, with the same kernels as beside the others.

#include "srv_rows_probe.h"

#include <stdlib.h>
#include <string.h>

#include "srv_compare.h"
#include "tensorlight/tl_type.h"

enum { N_ROWS = 3, MAX_SIZES = 8, MAX_VARIED = 3 };

// The open sizes of inputs beyond axis 0 have `least` or twice as much, by their bits in `doubled`:
// a cache, new tokens, and a mask for both need two sizes.
typedef struct sizes {
    const char *names[MAX_SIZES]; // borrowed; NULL: those without a name
    int n, least;
    unsigned doubled;
} sizes;

// Least sizes, the first that the model runs: tokens, small images.
static const int least_sizes[] = {5, 16, 64};
enum { N_LEAST = sizeof(least_sizes) / sizeof(least_sizes[0]) };

typedef struct probe {
    srv_run *run;
    const ln_model *model;
    const srv_port *inputs;
    int n_inputs, n_rows, row_size; // rows that are compared; rows of a request, mostly 1
    sizes sizes;
} probe;

// Kernels differ by the number of rows: elements near 0 may have the rounding of sums of larger
// ones. With as many rows, results differ at most by the order of sums on a GPU.
static const srv_compare_rule alone_rule = {"alone", "beside other rows", "", 1};
static const srv_compare_rule partner_rule = {"beside some rows", "beside others", "", 0};

// Sizes

static int find_size(const sizes *s, const char *name)
{
    int i = 0;
    while (i < s->n && (!s->names[i] != !name || (name && strcmp(s->names[i], name))))
        i++;
    return i;
}

// -1 with a reason: there are too many.
static int find_sizes(probe *p, srv_error *why)
{
    for (int i = 0; i < p->n_inputs; i++)
        for (int k = 1; k < p->inputs[i].ndim; k++) {
            const char *const name = ln_model_input_dim_name(p->model, i, k);
            const int at = find_size(&p->sizes, name);
            if (p->inputs[i].dims[k] >= 0 || at < p->sizes.n)
                continue;
            if (at == MAX_SIZES)
                return srv_fail(why, SRV_UNSUPPORTED, "it has more than %d open sizes", MAX_SIZES);
            p->sizes.names[p->sizes.n++] = name;
        }
    return 0;
}

static int size_of(const probe *p, int i, int k)
{
    const srv_port *const port = &p->inputs[i];
    const int at = find_size(&p->sizes, ln_model_input_dim_name(p->model, i, k));
    const int size = p->sizes.least << (p->sizes.doubled >> at & 1);
    return size < port->min[k] ? port->min[k] : size > port->max[k] ? port->max[k] : size;
}

// Elements

// Pseudo-random bits of an element. Source: the finalizer of MurmurHash3, 32 bits.
static uint32_t bits_of(uint32_t x)
{
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

// 0 or 1: over the rows 0, 1, 0 or 1, 0, 1, and the other for partners. The first two elements of
// an input differ, so that no mask hides all.
static int bit_of(int input, size_t i, int row, int is_partner)
{
    const uint32_t first = i < 2 ? (uint32_t)i : bits_of((uint32_t)i + 1000003u * (uint32_t)input);
    return (int)((first ^ (uint32_t)row ^ (uint32_t)is_partner) & 1);
}

static double float_of(int input, size_t i, int row, int is_partner)
{
    const uint32_t bits =
        bits_of(bits_of((uint32_t)i) + (uint32_t)(input * 2 * N_ROWS + 2 * row + is_partner));
    return ((double)(bits % 128) / 128 + bit_of(input, i, row, is_partner)) / 2 + 1.0 / 256;
}

static void set_elements(srv_tensor *t, int input, int row, int is_partner)
{
    const size_t size = tl_size_of(t->dtype);
    for (size_t i = 0; i < t->len; i++) {
        const double real = float_of(input, i, row, is_partner);
        const long long integer = bit_of(input, i, row, is_partner);
        char *const element = (char *)t->data + i * size;
        if (tl_dtype_is_float(t->dtype))
            tl_convert(element, t->dtype, &real, TL_DOUBLE);
        else
            tl_convert(element, t->dtype, &integer, TL_INT64);
    }
}

static int set_strings(srv_tensor *t, int input, int row, int is_partner, srv_error *err)
{
    static const char *const digits[] = {"0", "1"};
    const char **const strings = calloc(t->len + 1, sizeof(*strings));
    size_t *const lengths = calloc(t->len + 1, sizeof(*lengths));
    for (size_t i = 0; strings && lengths && i < t->len; i++) {
        strings[i] = digits[bit_of(input, i, row, is_partner)];
        lengths[i] = 1;
    }
    const int status = strings && lengths ? srv_tensor_from_strings(t, strings, lengths, err)
                                          : srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
    free((void *)strings);
    free(lengths);
    return status;
}

static int set_input(const probe *p, int i, int row, int is_partner, srv_tensor *t, srv_error *err)
{
    const srv_port *const port = &p->inputs[i];
    long long dims[SRV_MAX_DIMS];
    if (port->ndim < 0 || !port->datatype)
        return srv_fail(err, SRV_UNSUPPORTED, "the shape or type of input '%s' is unknown",
                        port->name);
    for (int k = 0; k < port->ndim; k++)
        dims[k] = port->dims[k] >= 0 ? port->dims[k] : k == 0 ? p->row_size : size_of(p, i, k);
    t->name = strdup(port->name);
    if (!t->name)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
    if (srv_tensor_shape(t, port->dtype, port->ndim, dims, err))
        return -1;
    if (t->dtype == TL_STRING)
        return set_strings(t, i, row, is_partner, err);
    if (srv_tensor_alloc(t, err))
        return -1;
    set_elements(t, i, row, is_partner);
    return 0;
}

// Runs

static int make(const probe *p, int row, int is_partner, srv_request *r)
{
    *r = (srv_request){.rows = p->row_size};
    if (srv_request_inputs(r, (size_t)p->n_inputs))
        return -1;
    for (int i = 0; i < p->n_inputs; i++)
        if (set_input(p, i, row, is_partner, &r->inputs[i], &r->error))
            return -1;
    return 0;
}

static void clear(srv_request *rows)
{
    for (int row = 0; row < N_ROWS; row++)
        srv_request_clear(&rows[row]);
}

static int fail_row(const srv_request *r, srv_error *why)
{
    return r->error.status ? srv_fail(why, r->error.status, "%s", r->error.text) : 0;
}

static int run_alone(const probe *p, srv_request *rows, srv_error *why)
{
    for (int row = 0; row < p->n_rows; row++) {
        srv_batch one = {.first = &rows[row], .n = 1, .rows = p->row_size};
        if (!make(p, row, 0, &rows[row]))
            srv_run_batch(p->run, &one);
        if (fail_row(&rows[row], why))
            return -1;
    }
    return 0;
}

// The rows of which `partners` has no bit, and the partners of the others.
static int run_together(const probe *p, unsigned partners, srv_request *rows, srv_error *why)
{
    const srv_batch batch = {.first = rows, .n = p->n_rows, .rows = p->n_rows * p->row_size};
    for (int row = 0; row < p->n_rows; row++) {
        if (make(p, row, partners >> row & 1, &rows[row]))
            return fail_row(&rows[row], why);
        if (row)
            rows[row - 1].next = &rows[row];
    }
    int status = srv_run_together(p->run, &batch, why);
    srv_run_forget(p->run, rows);
    for (int row = 0; row < p->n_rows && !status; row++)
        status = fail_row(&rows[row], why);
    return status;
}

// Comparisons

// What is no property of the model leaves the result open.
static int status_of(const srv_error *why)
{
    return why->status == SRV_OUT_OF_MEMORY || why->status == SRV_TOO_LARGE ? 1 : -1;
}

static int compare_beside_partners(const probe *p, const srv_request *together, int row,
                                   srv_error *why)
{
    srv_request others[N_ROWS] = {{.inputs = NULL}};
    const int status = run_together(p, ~(1u << row), others, why)
                           ? status_of(why)
                           : srv_compare(&together[row], &others[row], &partner_rule, why);
    clear(others);
    return status;
}

static int compare_together(const probe *p, const srv_request *alone, srv_error *why)
{
    srv_request together[N_ROWS] = {{.inputs = NULL}};
    int status = run_together(p, 0, together, why) ? status_of(why) : 0;
    for (int row = 0; row < p->n_rows && !status; row++)
        status = srv_compare(&alone[row], &together[row], &alone_rule, why);
    for (int row = 0; row < p->n_rows && !status; row++)
        status = compare_beside_partners(p, together, row, why);
    clear(together);
    return status;
}

// The values show nothing about an output that has only NaN.
static int fail_nan(const probe *p, const srv_request *rows, srv_error *why)
{
    for (int i = 0; i < rows->n_outputs; i++) {
        size_t n = 0, len = 0;
        for (int row = 0; row < p->n_rows; row++) {
            n += srv_compare_nans(&rows[row].outputs[i]);
            len += rows[row].outputs[i].len;
        }
        if (n && n == len)
            return srv_fail(why, SRV_INTERNAL, "all elements of output '%s' are NaN",
                            rows->outputs[i].name);
    }
    return 0;
}

static int compare_rows(const probe *p, srv_error *why)
{
    srv_request alone[N_ROWS] = {{.inputs = NULL}};
    const int status =
        run_alone(p, alone, why) || fail_nan(p, alone, why) ? 1 : compare_together(p, alone, why);
    clear(alone);
    return status;
}

// The sizes of attempt `i`; 0: there are no more. First all sizes are equal.
static int set_sizes(sizes *s, int i)
{
    const unsigned n_doubled = 1u << (s->n < MAX_VARIED ? s->n : MAX_VARIED);
    if (!s->n)
        return i == 0;
    s->least = least_sizes[i < N_LEAST ? i : 0];
    s->doubled = i < N_LEAST ? 0 : (unsigned)(i - N_LEAST + 1);
    return s->doubled < n_doubled - 1 || i < N_LEAST;
}

static int row_size_of(const probe *p)
{
    int size = 1;
    for (int i = 0; i < p->n_inputs; i++)
        if (p->inputs[i].ndim > 0 && p->inputs[i].min[0] > size)
            size = p->inputs[i].min[0];
    return size;
}

static int run_one(const probe *p, srv_error *why)
{
    srv_request alone[N_ROWS] = {{.inputs = NULL}};
    const int status = run_alone(p, alone, why) ? 1 : 0;
    clear(alone);
    return status;
}

// The status of the first sizes with which `func` does not return 1; 1 with the reason of the
// first.
static int try_sizes(probe *p, int (*func)(const probe *p, srv_error *why), srv_error *why)
{
    srv_error first = {.status = SRV_OK};
    if (find_sizes(p, why))
        return 1;
    for (int i = 0; set_sizes(&p->sizes, i); i++) {
        srv_error now = {.status = SRV_OK};
        const int status = func(p, &now);
        if (status <= 0)
            return status ? srv_fail(why, now.status, "%s", now.text) : 0;
        srv_fail(&first, now.status, "%s", now.text);
    }
    srv_fail(why, first.status, "%s", first.text);
    return 1;
}

int srv_rows_probe(srv_run *run, const ln_model *model, const srv_port *inputs, int n_inputs,
                   int max_rows, srv_error *why)
{
    probe p = {.run = run, .model = model, .inputs = inputs, .n_inputs = n_inputs};
    p.row_size = row_size_of(&p);
    p.n_rows = max_rows / p.row_size < N_ROWS ? max_rows / p.row_size : N_ROWS;
    return p.n_rows < 2 ? 0 : try_sizes(&p, compare_rows, why);
}

int srv_rows_run(srv_run *run, const ln_model *model, const srv_port *inputs, int n_inputs,
                 srv_error *why)
{
    probe p = {.run = run, .model = model, .inputs = inputs, .n_inputs = n_inputs, .n_rows = 1};
    p.row_size = row_size_of(&p);
    return try_sizes(&p, run_one, why) ? -1 : 0;
}
