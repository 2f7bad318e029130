// SPDX-License-Identifier: Apache-2.0
// Tests of quantizers: a small network against a plain simulation in double precision, budgets,
// files, and wrong calls.

#include "lightnet/ln_quantize.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lightnet/ln_util.h"
#include "ln_check.h"

// x [1, IC, SIZE, SIZE] -> conv 3x3 -> batchnorm -> relu -> [1, N_FLAT] -> matmul -> y [1, N_OUT]
enum { IC = 2, OC = 3, SIZE = 5, N_X = IC * SIZE * SIZE, N_FLAT = OC * SIZE * SIZE, N_OUT = 4 };
enum { N_SAMPLES = 6 };

static const double epsilon = 1e-3;

typedef struct network {
    float weight[OC * IC * 3 * 3], bias[OC];
    float scale[OC], offset[OC], mean[OC], var[OC];
    float matrix[N_FLAT * N_OUT], addend[N_OUT];
} network;

static double random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) / (double)(1 << 24);
}

static void fill(float *data, int n, double min, double max, uint64_t *state)
{
    for (int i = 0; i < n; i++)
        data[i] = (float)(min + (max - min) * random_number(state));
}

static void make_network(network *net)
{
    uint64_t state = 1;
    fill(net->weight, OC * IC * 3 * 3, -1, 1, &state);
    fill(net->bias, OC, -1, 1, &state);
    fill(net->scale, OC, 0.5, 2, &state);
    fill(net->offset, OC, -1, 1, &state);
    fill(net->mean, OC, -1, 1, &state);
    fill(net->var, OC, 0.2, 2, &state);
    fill(net->matrix, N_FLAT * N_OUT, -1, 1, &state);
    fill(net->addend, N_OUT, -1, 1, &state);
    net->scale[1] = -net->scale[1]; // a factor may be negative
}

static void make_samples(float samples[N_SAMPLES][N_X])
{
    uint64_t state = 2;
    fill(samples[0], N_SAMPLES * N_X, -1, 3, &state);
}

// The model as JSON

static void put_source(FILE *fp, const char *name, const char *dims, const float *data, int n)
{
    fprintf(fp,
            "{\"name\": \"make_%s\", \"optype\": \"source\", \"tensors_in\": [], \"tensors_out\": "
            "[{\"arg_name\": \"dst\", \"name\": \"%s\"}], \"params\": [{\"arg_name\": \"dtype\", "
            "\"value\": \"TL_FLOAT\"}, {\"arg_name\": \"dims\", \"value\": %s}, {\"arg_name\": "
            "\"data\", \"value\": [",
            name, name, dims);
    for (int i = 0; i < n; i++)
        fprintf(fp, "%s%.9g", i ? ", " : "", (double)data[i]);
    fprintf(fp, "]}]},\n");
}

// Inputs are pairs of names, up to NULL.
static void put_op(FILE *fp, const char *optype, const char *dst, const char *params, ...)
{
    va_list args;
    const char *arg;
    int n = 0;
    fprintf(fp, "{\"name\": \"%s_op\", \"optype\": \"%s\", \"tensors_in\": [", dst, optype);
    va_start(args, params);
    while ((arg = va_arg(args, const char *)))
        fprintf(fp, "%s{\"arg_name\": \"%s\", \"name\": \"%s\"}", n++ ? ", " : "", arg,
                va_arg(args, const char *));
    va_end(args);
    fprintf(fp,
            "], \"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"%s\"}], \"params\": [%s]}%s",
            dst, params, strcmp(dst, "y") ? ",\n" : "]}");
}

#define PARAM(name, value) "{\"arg_name\": \"" name "\", \"value\": " value "}"

static void put_model(FILE *fp, const network *net)
{
    fprintf(fp, "{\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": [\n");
    put_source(fp, "x", "[1, 2, 5, 5]", NULL, 0);
    put_source(fp, "w", "[3, 2, 3, 3]", net->weight, OC * IC * 9);
    put_source(fp, "b", "[3]", net->bias, OC);
    put_source(fp, "s", "[3]", net->scale, OC);
    put_source(fp, "o", "[3]", net->offset, OC);
    put_source(fp, "e", "[3]", net->mean, OC);
    put_source(fp, "v", "[3]", net->var, OC);
    put_source(fp, "m", "[75, 4]", net->matrix, N_FLAT * N_OUT);
    put_source(fp, "a", "[4]", net->addend, N_OUT);
    put_op(
        fp, "conv2d", "c",
        PARAM("group", "1") ", " PARAM("size", "[3, 3]") ", " PARAM("stride", "[1, 1]") ", " PARAM(
            "padding", "[1, 1, 1, 1]") ", " PARAM("dilation", "[1, 1]") ", " PARAM("autopad",
                                                                                   "\"NOTSET\""),
        "src", "x", "weight", "w", "bias", "b", NULL);
    put_op(fp, "batchnorm", "n", PARAM("epsilon", "0.001"), "src", "c", "scale", "s", "offset", "o",
           "mean", "e", "var", "v", NULL);
    put_op(fp, "relu", "r", "", "src", "n", NULL);
    put_op(fp, "reshape", "f", PARAM("dims", "[1, 75]"), "src", "r", NULL);
    put_op(fp, "matmul", "y", "", "src1", "f", "src2", "m", "bias", "a", NULL);
}

static ln_model *open_text(const char *text, size_t size)
{
    ln_model *model;
    ln_options *options = ln_options_create();
    ck_assert(options && !ln_options_set(options, "threads", "1"));
    ck_assert_msg(!ln_model_open_memory("net.json", text, size, options, &model), "%s",
                  ln_model_error(NULL));
    ln_options_free(options);
    return model;
}

static ln_model *open_network(const network *net)
{
    char *text;
    size_t size;
    FILE *fp = open_memstream(&text, &size);
    put_model(fp, net);
    fclose(fp);
    ln_model *model = open_text(text, size);
    free(text);
    return model;
}

// The simulation

// Quantization to 8 bits by the definition: the range is from min to max, and includes 0.
typedef struct step {
    float scale;
    int zero;
} step;

static step step_for(const double *data, int n)
{
    double min = 0, max = 0;
    for (int i = 0; i < n; i++) {
        min = fmin(min, data[i]);
        max = fmax(max, data[i]);
    }
    const float scale = (float)((max - min) / 255);
    return (step){scale, (int)nearbyint(-min / scale)};
}

static double in_8_bits(double x, step s)
{
    const double q = nearbyint((double)((float)x / s.scale)) + s.zero;
    return (fmin(fmax(q, 0), 255) - s.zero) * s.scale;
}

// A weight whose channel c has `n` elements, from first on in steps of `by`.
static void weigh(double *weight, int first, int by, int n)
{
    double max = 0;
    for (int i = 0; i < n; i++)
        max = fmax(max, fabs(weight[first + i * by]));
    for (int i = 0; i < n; i++)
        weight[first + i * by] =
            nearbyint((double)((float)weight[first + i * by] / ((float)max / 127))) *
            ((float)max / 127);
}

// The network with its normalization folded, layers in 8 bits where asked for.
typedef struct simulation {
    double weight[OC * IC * 9], bias[OC], matrix[N_FLAT * N_OUT];
    const network *net;
    int is_on[2];
    step x, flat;
} simulation;

static void simulate_conv(const simulation *sim, const double *x, double *flat)
{
    for (int o = 0; o < OC; o++)
        for (int h = 0; h < SIZE; h++)
            for (int w = 0; w < SIZE; w++) {
                double sum = sim->bias[o];
                for (int k = 0; k < IC * 9; k++) {
                    const int c = k / 9, at_h = h + k % 9 / 3 - 1, at_w = w + k % 3 - 1;
                    if (at_h >= 0 && at_h < SIZE && at_w >= 0 && at_w < SIZE)
                        sum += sim->weight[o * IC * 9 + k] * x[(c * SIZE + at_h) * SIZE + at_w];
                }
                flat[(o * SIZE + h) * SIZE + w] = fmax(sum, 0);
            }
}

static void flat_of(const simulation *sim, const float *sample, double *flat)
{
    double x[N_X];
    for (int i = 0; i < N_X; i++)
        x[i] = sim->is_on[0] ? in_8_bits(sample[i], sim->x) : sample[i];
    simulate_conv(sim, x, flat);
}

static void simulate(const simulation *sim, const float *sample, double *y)
{
    double flat[N_FLAT];
    flat_of(sim, sample, flat);
    for (int i = 0; i < N_FLAT && sim->is_on[1]; i++)
        flat[i] = in_8_bits(flat[i], sim->flat);
    for (int o = 0; o < N_OUT; o++) {
        y[o] = sim->net->addend[o];
        for (int i = 0; i < N_FLAT; i++)
            y[o] += flat[i] * sim->matrix[i * N_OUT + o];
    }
}

static void find_steps(simulation *sim, float samples[N_SAMPLES][N_X])
{
    static double x[N_SAMPLES * N_X], flat[N_SAMPLES * N_FLAT];
    for (int i = 0; i < N_SAMPLES; i++) {
        for (int k = 0; k < N_X; k++)
            x[i * N_X + k] = samples[i][k];
        flat_of(sim, samples[i], flat + i * N_FLAT);
    }
    sim->x = step_for(x, N_SAMPLES * N_X);
    sim->flat = step_for(flat, N_SAMPLES * N_FLAT);
}

static simulation begin_simulation(const network *net, float samples[N_SAMPLES][N_X], int first,
                                   int second)
{
    simulation sim = {.net = net};
    for (int o = 0; o < OC; o++) {
        const double factor = net->scale[o] / sqrt(net->var[o] + epsilon);
        for (int k = 0; k < IC * 9; k++)
            sim.weight[o * IC * 9 + k] = net->weight[o * IC * 9 + k] * factor;
        sim.bias[o] = (net->bias[o] - (double)net->mean[o]) * factor + net->offset[o];
    }
    for (int i = 0; i < N_FLAT * N_OUT; i++)
        sim.matrix[i] = net->matrix[i];
    find_steps(&sim, samples);
    sim.is_on[0] = first;
    sim.is_on[1] = second;
    for (int o = 0; o < OC && first; o++)
        weigh(sim.weight, o * IC * 9, 1, IC * 9);
    for (int o = 0; o < N_OUT && second; o++)
        weigh(sim.matrix, o, N_OUT, N_FLAT);
    return sim;
}

// Quantizers

#define CHECK_OK(q, call) ck_assert_msg((call) == LN_OK, "%s", ln_quantizer_error(q))

#define CHECK_FAILS(q, status, call, message)             \
    do {                                                  \
        ck_assert_int_eq(call, status);                   \
        ck_assert_str_eq(ln_quantizer_error(q), message); \
    } while (0)

static const int x_dims[] = {1, IC, SIZE, SIZE};

static ln_quantizer *quantizer_of(ln_model *model)
{
    ln_quantizer *q;
    CHECK_OK(NULL, ln_quantizer_create(model, &q));
    CHECK_OK(q, ln_quantizer_set(q, "seconds", "0"));
    return q;
}

static void add_sample(ln_quantizer *q, const float *data)
{
    tl_tensor *t = tl_tensor_create((void *)data, 4, x_dims, TL_FLOAT);
    CHECK_OK(q, ln_quantizer_add_sample(q, 1, (const tl_tensor *const *)&t));
    tl_tensor_free(t);
}

// With its samples, and layers in 8 bits whatever their speed.
static ln_quantizer *quantizer_for(const network *net, float samples[N_SAMPLES][N_X])
{
    ln_model *model = open_network(net);
    ln_quantizer *q = quantizer_of(model);
    ln_model_free(model); // the quantizer keeps it
    CHECK_OK(q, ln_quantizer_set(q, "any_speed", "yes"));
    for (int i = 0; i < N_SAMPLES; i++)
        add_sample(q, samples[i]);
    return q;
}

static char saved_file[] = "/tmp/lightnet-quantize-XXXXXX/net.safetensors";

static const char *begin_file(void)
{
    char *slash = strrchr(saved_file, '/');
    *slash = '\0';
    memcpy(slash - 6, "XXXXXX", 6);
    ck_assert_ptr_nonnull(mkdtemp(saved_file));
    *slash = '/';
    return saved_file;
}

static void end_file(void)
{
    char *slash = strrchr(saved_file, '/');
    unlink(saved_file);
    *slash = '\0';
    rmdir(saved_file);
    *slash = '/';
}

static double difference_of(ln_session *session, const simulation *sim, const float *sample)
{
    double y[N_OUT], difference = 0;
    simulate(sim, sample, y);
    ck_assert_int_eq(ln_session_set_input(session, "x", TL_FLOAT, 4, x_dims, sample), LN_OK);
    ck_assert_msg(!ln_session_run(session), "%s", ln_session_error(session));
    const float *got = ln_session_output(session, "y")->data;
    for (int i = 0; i < N_OUT; i++) {
        const double one = fabs(got[i] - y[i]);
        difference = one > difference ? one : difference;
    }
    return difference;
}

// The largest difference between the saved model and the simulation. Outputs are some 10.
static double difference(ln_quantizer *q, const simulation *sim, float samples[N_SAMPLES][N_X])
{
    ln_model *model;
    ln_session *session;
    double max = 0;
    CHECK_OK(q, ln_quantizer_save(q, begin_file()));
    ck_assert_msg(!ln_model_open(saved_file, NULL, &model), "%s", ln_model_error(NULL));
    ck_assert_int_eq(ln_session_create(model, &session), LN_OK);
    for (int i = 0; i < N_SAMPLES; i++) {
        const double one = difference_of(session, sim, samples[i]);
        max = one > max ? one : max;
    }
    ln_session_free(session);
    ln_model_free(model);
    end_file();
    return max;
}

// Tests

static network net;
static float samples[N_SAMPLES][N_X];

// Whether products in bfloat16 are faster is a matter of the machine and of the moment: none here.
static void begin(void)
{
    setenv("LIGHTNET_MAX_ISA", "avx512vnni", 1);
    make_network(&net);
    make_samples(samples);
}

// Rounding a value that is almost halfway may go either way in float: then a step of one number
// differs, some 0.02, of which the tolerance leaves room for none.
START_TEST(a_quantized_network_computes_what_its_definition_says)
{
    begin();
    ln_quantizer *q = quantizer_for(&net, samples);
    CHECK_OK(q, ln_quantizer_set(q, "max_error", "1"));
    CHECK_OK(q, ln_quantizer_run(q));
    ck_assert_int_eq(ln_quantizer_result(q)->n_quantized, 2);
    const simulation both = begin_simulation(&net, samples, 1, 1);
    const simulation none = begin_simulation(&net, samples, 0, 0);
    ck_assert_double_lt(difference(q, &both, samples), 1e-4);
    ck_assert_double_gt(difference(q, &none, samples), 1e-3);
    ln_quantizer_free(q);
}
END_TEST

// The relative error, by the definition.
static double error_of(const simulation *sim, const simulation *expected)
{
    double differences = 0, norm = 0;
    for (int i = 0; i < N_SAMPLES; i++) {
        double y[N_OUT], e[N_OUT];
        simulate(sim, samples[i], y);
        simulate(expected, samples[i], e);
        for (int k = 0; k < N_OUT; k++) {
            differences += (y[k] - e[k]) * (y[k] - e[k]);
            norm += e[k] * e[k];
        }
    }
    return sqrt(differences / norm);
}

START_TEST(errors_are_those_of_each_layer_and_of_the_mix)
{
    begin();
    ln_quantizer *q = quantizer_for(&net, samples);
    CHECK_OK(q, ln_quantizer_set(q, "max_error", "1"));
    CHECK_OK(q, ln_quantizer_run(q));
    const simulation none = begin_simulation(&net, samples, 0, 0);
    for (int i = 0; i < 3; i++) {
        const simulation sim = begin_simulation(&net, samples, i != 1, i != 0);
        const double expected = error_of(&sim, &none);
        const double got = i < 2 ? ln_quantizer_layer(q, i)->error : ln_quantizer_result(q)->error;
        ck_assert_double_gt(expected, 1e-4);
        ck_assert_double_eq_tol(got, expected, 0.01 * expected);
    }
    ck_assert_str_eq(ln_quantizer_layer(q, 0)->name, "c_op");
    ck_assert_str_eq(ln_quantizer_layer(q, 1)->type, "matmul");
    ck_assert_str_eq(ln_quantizer_layer_precision(q, 0), "int8");
    ck_assert_ptr_null(ln_quantizer_layer_precision(q, 2));
    ck_assert_ptr_null(ln_quantizer_layer(q, 2));
    ck_assert_ptr_null(ln_quantizer_layer(q, -1));
    ck_assert_double_gt(ln_quantizer_layer(q, 0)->ns_before, 0);
    ln_quantizer_free(q);
}
END_TEST

// A budget between the errors of the layers leaves the better one in 8 bits.
START_TEST(the_mix_keeps_the_budget)
{
    begin();
    ln_quantizer *q = quantizer_for(&net, samples);
    const simulation none = begin_simulation(&net, samples, 0, 0);
    const simulation first = begin_simulation(&net, samples, 1, 0);
    const simulation second = begin_simulation(&net, samples, 0, 1);
    const double a = error_of(&first, &none), b = error_of(&second, &none);
    char text[32];
    snprintf(text, sizeof(text), "%.9f", (a + b) / 2);
    CHECK_OK(q, ln_quantizer_set(q, "max_error", text));
    CHECK_OK(q, ln_quantizer_run(q));
    ck_assert_int_eq(ln_quantizer_result(q)->n_quantized, 1);
    ck_assert_int_eq(ln_quantizer_layer(q, a < b ? 0 : 1)->is_quantized, 1);
    ck_assert_double_le(ln_quantizer_result(q)->error, (a + b) / 2);
    ck_assert_double_lt(difference(q, a < b ? &first : &second, samples), 1e-4);
    ln_quantizer_free(q);
}
END_TEST

START_TEST(an_impossible_budget_leaves_the_model_in_float32)
{
    begin();
    ln_quantizer *q = quantizer_for(&net, samples);
    CHECK_OK(q, ln_quantizer_set(q, "max_error", "0"));
    CHECK_OK(q, ln_quantizer_run(q));
    const ln_quantized_model *result = ln_quantizer_result(q);
    ck_assert_int_eq(result->n_quantized, 0);
    ck_assert_int_eq(result->n_within, 0);
    ck_assert_int_eq(result->n_layers, 2);
    ck_assert_double_eq(result->error, 0);
    ck_assert_double_eq(result->ns_before, result->ns_after);
    const simulation none = begin_simulation(&net, samples, 0, 0);
    ck_assert_double_lt(difference(q, &none, samples), 1e-4);
    ln_quantizer_free(q);
}
END_TEST

// Float32 is at hand: without any_speed, what was chosen takes no longer, with bfloat16 or without.
START_TEST(a_mix_is_never_slower_than_float32)
{
    begin();
    unsetenv("LIGHTNET_MAX_ISA");
    ln_quantizer *q = quantizer_for(&net, samples);
    CHECK_OK(q, ln_quantizer_set(q, "any_speed", "no"));
    CHECK_OK(q, ln_quantizer_set(q, "max_error", "1"));
    CHECK_OK(q, ln_quantizer_run(q));
    const ln_quantized_model *result = ln_quantizer_result(q);
    ck_assert_double_le(result->ns_after, result->ns_before);
    ck_assert_int_eq(result->n_quantized || result->is_bf16, result->ns_after < result->ns_before);
    ln_quantizer_free(q);
}
END_TEST

START_TEST(methods_of_calibration_give_other_ranges)
{
    static const char *const methods[] = {"minmax", "percentile", "entropy"};
    double errors[3];
    begin();
    samples[0][7] = 60; // an outlier
    for (int i = 0; i < 3; i++) {
        ln_quantizer *q = quantizer_for(&net, samples);
        CHECK_OK(q, ln_quantizer_set(q, "calibration", methods[i]));
        CHECK_OK(q, ln_quantizer_set(q, "percentile", "99"));
        CHECK_OK(q, ln_quantizer_set(q, "max_error", "100"));
        CHECK_OK(q, ln_quantizer_run(q));
        ck_assert_int_eq(ln_quantizer_result(q)->n_quantized, 2);
        errors[i] = ln_quantizer_layer(q, 0)->error;
        ln_quantizer_free(q);
    }
    ck_assert_double_lt(errors[0], 0.1);           // the outlier is right, all others coarse
    ck_assert_double_gt(errors[1], 2 * errors[0]); // it is cut off
    ck_assert_double_eq(errors[2], errors[0]);     // too few values for entropy
}
END_TEST

START_TEST(the_largest_elements_are_counted)
{
    begin();
    ln_quantizer *q = quantizer_for(&net, samples);
    CHECK_OK(q, ln_quantizer_set(q, "top1", "1"));
    CHECK_OK(q, ln_quantizer_run(q));
    ck_assert_double_eq(ln_quantizer_result(q)->top1, 1);
    ck_assert_int_gt(ln_quantizer_result(q)->n_quantized, 0);
    ln_quantizer_free(q);
}
END_TEST

START_TEST(layers_with_values_that_are_not_finite_stay)
{
    begin();
    net.var[0] = -1; // JSON has no NaN: it comes from the square root
    ln_quantizer *q = quantizer_for(&net, samples);
    CHECK_OK(q, ln_quantizer_set(q, "max_error", "1"));
    CHECK_OK(q, ln_quantizer_run(q));
    ck_assert_int_eq(ln_quantizer_layer(q, 0)->is_quantized, 0);
    ck_assert(isinf(ln_quantizer_layer(q, 0)->error));
    ln_quantizer_free(q);
}
END_TEST

START_TEST(options_are_checked)
{
    begin();
    ln_quantizer *q = quantizer_for(&net, samples);
    CHECK_FAILS(q, LN_BAD_ARGUMENT, ln_quantizer_set(q, "speed", "1"),
                "unknown option 'speed'; options: calibration, percentile, max_error, top1, "
                "any_speed, bf16, seconds");
    CHECK_FAILS(q, LN_BAD_ARGUMENT, ln_quantizer_set(q, "top1", "1.5"),
                "option 'top1' is '1.5', expected a number from 0 to 1");
    CHECK_FAILS(q, LN_BAD_ARGUMENT, ln_quantizer_set(q, "max_error", "nan"),
                "option 'max_error' is 'nan', expected a number, 0 or more");
    CHECK_FAILS(q, LN_BAD_ARGUMENT, ln_quantizer_set(q, "calibration", "mean"),
                "option 'calibration' is 'mean', expected minmax, percentile or entropy");
    CHECK_FAILS(q, LN_BAD_ARGUMENT, ln_quantizer_set(q, "any_speed", "perhaps"),
                "option 'any_speed' is 'perhaps', expected yes or no");
    CHECK_FAILS(q, LN_BAD_ARGUMENT, ln_quantizer_set(q, NULL, "1"), "the key is NULL");
    CHECK_FAILS(q, LN_BAD_ARGUMENT, ln_quantizer_set(q, "top1", NULL), "the value is NULL");
    ln_quantizer_free(q);
}
END_TEST

START_TEST(samples_are_checked)
{
    static const int others[] = {1, IC, SIZE, SIZE + 1};
    begin();
    ln_quantizer *q = quantizer_for(&net, samples);
    tl_tensor *t = tl_tensor_zeros(4, others, TL_FLOAT);
    const tl_tensor *const inputs[] = {t, t}, *const nothing = NULL;
    CHECK_FAILS(q, LN_BAD_ARGUMENT, ln_quantizer_add_sample(q, 2, inputs),
                "a sample has 2 inputs, the model has 1");
    CHECK_FAILS(q, LN_BAD_ARGUMENT, ln_quantizer_add_sample(q, 1, inputs),
                "input 'x' is given as TL_FLOAT [1, 2, 5, 6], expected TL_FLOAT [1, 2, 5, 5]");
    CHECK_FAILS(q, LN_BAD_ARGUMENT, ln_quantizer_add_sample(q, 1, &nothing),
                "the data for input 'x' is NULL");
    CHECK_FAILS(q, LN_BAD_ARGUMENT, ln_quantizer_add_sample(q, 1, NULL), "the sample is NULL");
    tl_tensor_free_data_too(t);
    ln_quantizer_free(q);
}
END_TEST

START_TEST(options_have_a_decimal_point_in_a_locale_with_a_comma)
{
    if (!ln_check_comma_locale())
        return;
    begin();
    ln_model *model = open_network(&net);
    ln_quantizer *q = quantizer_of(model);
    CHECK_OK(q, ln_quantizer_set(q, "max_error", "0.01"));
    ln_quantizer_free(q);
    ln_model_free(model);
    setlocale(LC_ALL, "C");
}
END_TEST

START_TEST(nothing_is_saved_before_it_is_chosen)
{
    begin();
    ln_model *model = open_network(&net);
    ln_quantizer *q = quantizer_of(model);
    CHECK_FAILS(q, LN_BAD_ARGUMENT, ln_quantizer_run(q), "no samples, expected at least 1");
    CHECK_FAILS(q, LN_BAD_ARGUMENT, ln_quantizer_save(q, "net.safetensors"),
                "no mix is selected; run the quantizer first");
    CHECK_FAILS(q, LN_BAD_ARGUMENT, ln_quantizer_save(q, NULL), "the name of the file is NULL");
    ck_assert_ptr_null(ln_quantizer_result(q));
    ck_assert_ptr_null(ln_quantizer_layer(q, 0));
    ln_quantizer_free(q);
    ln_model_free(model);
}
END_TEST

START_TEST(rejects_null)
{
    ln_quantizer *q;
    CHECK_FAILS(NULL, LN_BAD_ARGUMENT, ln_quantizer_create(NULL, &q), "the model is NULL");
    CHECK_FAILS(NULL, LN_BAD_ARGUMENT, ln_quantizer_run(NULL), "the quantizer is NULL");
    CHECK_FAILS(NULL, LN_BAD_ARGUMENT, ln_quantizer_set(NULL, "top1", "1"),
                "the quantizer is NULL");
    CHECK_FAILS(NULL, LN_BAD_ARGUMENT, ln_quantizer_add_sample(NULL, 0, NULL),
                "the quantizer is NULL");
    CHECK_FAILS(NULL, LN_BAD_ARGUMENT, ln_quantizer_save(NULL, "x"), "the quantizer is NULL");
    ck_assert_ptr_null(ln_quantizer_result(NULL));
    ln_quantizer_free(NULL);
}
END_TEST

START_TEST(rejects_a_compiled_model)
{
    begin();
    ln_model *model;
    ln_quantizer *q = quantizer_for(&net, samples), *none;
    CHECK_OK(q, ln_quantizer_run(q));
    CHECK_OK(q, ln_quantizer_save(q, begin_file()));
    ln_quantizer_free(q);
    ck_assert_int_eq(ln_model_open(saved_file, NULL, &model), LN_OK);
    ck_assert_int_eq(ln_quantizer_create(model, &none), LN_BAD_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(ln_quantizer_error(NULL), "the model is compiled"));
    ck_assert_ptr_null(none);
    ln_model_free(model);
    end_file();
}
END_TEST

// The parts of steps that were reported.
typedef struct progress {
    int n, n_layers, total_layers, n_steps;
    int end_at; // the report that ends the run; 0: none
    char step[16];
} progress;

static int note_progress(void *data, const char *name, int done, int total)
{
    progress *const p = data;
    if (strcmp(p->step, name)) {
        p->n_steps++;
        snprintf(p->step, sizeof(p->step), "%s", name);
    }
    p->n_layers += !strcmp(name, "layers");
    if (!strcmp(name, "layers"))
        p->total_layers = total;
    ck_assert_int_ge(done, 0);
    ck_assert(total == 0 || done < total);
    return ++p->n == p->end_at;
}

START_TEST(progress_is_reported_and_ends_a_run)
{
    begin();
    progress p = {.n = 0};
    ln_quantizer *q = quantizer_for(&net, samples);
    CHECK_OK(q, ln_quantizer_set_progress(q, note_progress, &p));
    CHECK_OK(q, ln_quantizer_run(q));
    ck_assert_int_ge(p.n_steps, 4); // calibrate, time, layers, select
    ck_assert_int_eq(p.n_layers, ln_quantizer_result(q)->n_layers);
    ck_assert_int_eq(p.n_layers, p.total_layers);
    const int n = p.n;
    for (int at = 1; at <= n; at += n > 5 ? n / 5 : 1) {
        p = (progress){.end_at = at};
        ck_assert_int_eq(ln_quantizer_run(q), LN_CANCELLED);
        ck_assert_ptr_nonnull(strstr(ln_quantizer_error(q), "the caller ended the quantization"));
        ck_assert_int_eq(p.n, at);
        ck_assert_ptr_null(ln_quantizer_result(q));
    }
    CHECK_OK(q, ln_quantizer_set_progress(q, NULL, NULL));
    CHECK_OK(q, ln_quantizer_run(q));
    ck_assert_int_eq(ln_quantizer_set_progress(NULL, NULL, NULL), LN_BAD_ARGUMENT);
    ln_quantizer_free(q);
}
END_TEST

LN_TEST_MAIN("quantize", progress_is_reported_and_ends_a_run,
             a_quantized_network_computes_what_its_definition_says,
             errors_are_those_of_each_layer_and_of_the_mix, the_mix_keeps_the_budget,
             an_impossible_budget_leaves_the_model_in_float32, a_mix_is_never_slower_than_float32,
             methods_of_calibration_give_other_ranges, the_largest_elements_are_counted,
             layers_with_values_that_are_not_finite_stay, options_are_checked,
             options_have_a_decimal_point_in_a_locale_with_a_comma, samples_are_checked,
             nothing_is_saved_before_it_is_chosen, rejects_null, rejects_a_compiled_model)
