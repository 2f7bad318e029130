// SPDX-License-Identifier: Apache-2.0
// Tests of tensors, constants and scratch memory in the memory of a device, by the plug-in
// `device`, whose memory the processor cannot reach: whatever takes it for its own ends the test.

#include "lightnet/ln_plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "lightnet/ln_pass.h"
#include "lightnet/ln_session.h"
#include "ln_check.h"

static device_state *state; // of the plug-in

static void begin_test(void)
{
    char path[PATH_MAX];
    const char *folder = getenv("LN_TEST_PLUGINS");
    ck_assert_ptr_nonnull(folder);
    snprintf(path, sizeof(path), "%s/device.so", folder);
    ck_assert_msg(!ln_plugin_load(path), "%s", ln_last_error());
    const ln_plugin_loaded *loaded = ln_list_nth_data(ln_plugin_list(), 0);
    state = dlsym(loaded->handle, "device");
    ck_assert_ptr_nonnull(state);
    ck_assert_uint_eq(state->used, 0);
}

static void end_test(void)
{
    ck_assert_uint_eq(state->used, 0);
}

// Models

typedef struct model {
    FILE *stream;
    char *text;
    size_t size;
    int n;
} model;

static void begin_graph(model *m)
{
    m->n = 0;
    fputs("{\"ops\": [", m->stream);
}

static void begin(model *m)
{
    m->stream = open_memstream(&m->text, &m->size);
    ck_assert_ptr_nonnull(m->stream);
    begin_graph(m);
}

// The tensors "src=x src2=y" as JSON.
static void put_tensors(FILE *stream, const char *tensors)
{
    char copy[100], *rest;
    snprintf(copy, sizeof(copy), "%s", tensors);
    char *word = strtok_r(copy, " ", &rest);
    for (const char *comma = ""; word; word = strtok_r(NULL, " ", &rest), comma = ", ") {
        char *name = strchr(word, '=');
        ck_assert_ptr_nonnull(name);
        *name++ = '\0';
        fprintf(stream, "%s{\"arg_name\": \"%s\", \"name\": \"%s\"}", comma, word, name);
    }
}

#define PARAM(name, value) "{\"arg_name\": \"" name "\", \"value\": " value "}"

// Adds an operator with one output, "dst=y", whose name is "op_y".
static void add(model *m, const char *optype, const char *inputs, const char *output,
                const char *params)
{
    fprintf(m->stream, "%s{\"name\": \"op_%s\", \"optype\": \"%s\", \"tensors_in\": [",
            m->n++ ? ", " : "", strchr(output, '=') + 1, optype);
    put_tensors(m->stream, inputs);
    fputs("], \"tensors_out\": [", m->stream);
    put_tensors(m->stream, output);
    fprintf(m->stream, "], \"params\": [%s]}", params);
}

// A constant or an input of five floats: `data` is "[1]" or so.
static void add_create(model *m, const char *optype, const char *output, const char *data,
                       int from_file)
{
    char params[400];
    snprintf(params, sizeof(params),
             PARAM("dtype", "\"TL_FLOAT\"") ", " PARAM("dims", "[5]") ", " PARAM(
                 "data", "%s") ", " PARAM("ran", "[0, 0]") ", " PARAM("from_file", "%s"),
             data, from_file ? "true" : "false");
    add(m, optype, "", output, params);
}

#define NEG PARAM("func", "\"TL_UNARY_NEG\"")
#define ADD PARAM("op", "\"TL_BINARY_ADD\"")
#define MUL PARAM("op", "\"TL_BINARY_MUL\"")

static void end_graph(model *m, const char *inputs, const char *outputs)
{
    fprintf(m->stream, "], \"inputs\": [%s], \"outputs\": [%s]}", inputs, outputs);
}

// Returns new (ln_context_free).
static ln_context *read_model(model *m)
{
    ln_context *ctx = ln_context_create();
    ck_assert_msg(ctx != NULL, "%s", ln_last_error());
    fclose(m->stream);
    ck_assert_msg(!ln_context_init_text(ctx, "model", m->text, m->size), "%s",
                  ln_context_error(ctx));
    free(m->text);
    return ctx;
}

// Returns new (ln_context_free): the model, compiled for the device.
static ln_context *end(model *m, const char *inputs, const char *outputs)
{
    end_graph(m, inputs, outputs);
    ln_context *ctx = read_model(m);
    ck_assert_msg(!ln_context_compile(ctx, "device"), "%s", ln_context_error(ctx));
    return ctx;
}

// y = w x - w, of which the product and the difference lie on the device, and w, too.
static void add_scaled(model *m, int is_file)
{
    add_create(m, "create", "dst=x", "[0]", 0);
    add_create(m, "create_device", "dst=w", "[1, 2, 3, 4, 5]", is_file);
    add(m, "unary_device", "src=w", "dst=v", NEG);
    add(m, "to_device", "src=x", "dst=x1", "");
    add(m, "binary_device", "src1=w src2=x1", "dst=p", MUL);
    add(m, "by_scratch_device", "src=p", "dst=q", "");
    add(m, "reshape_device", "src=q", "dst=r", PARAM("dims", "[5]"));
    add(m, "binary_device", "src1=r src2=v", "dst=s", ADD);
    add(m, "from_device", "src=s", "dst=y", "");
}

static ln_context *scaled(int is_file)
{
    model m;
    begin(&m);
    add_scaled(&m, is_file);
    return end(&m, "\"x\"", "\"y\"");
}

static void load(ln_context *ctx)
{
    ck_assert_msg(!ln_context_load(ctx, NULL), "%s", ln_context_error(ctx));
}

static void set(ln_context *ctx, const char *name, const float values[5])
{
    ck_assert_msg(!ln_context_set_data(ctx, name, values), "%s", ln_context_error(ctx));
}

// Runs, then compares a tensor.
static void assert_run(ln_context *ctx, const char *name, const float expected[5])
{
    float values[5];
    ck_assert_msg(!ln_context_run(ctx), "%s", ln_context_error(ctx));
    ck_assert_msg(ln_context_get_data(ctx, name, values) != NULL, "%s", ln_context_error(ctx));
    for (int i = 0; i < 5; i++)
        ck_assert_msg(values[i] == expected[i], "%s[%d] is %g, expected %g", name, i,
                      (double)values[i], (double)expected[i]);
}

// Tests

static const float first_x[] = {2, 3, 4, 5, 6}, first_y[] = {1, 4, 9, 16, 25};
static const float second_x[] = {1, 0, -1, 2, 1}, second_y[] = {0, -2, -6, 4, 0};

START_TEST(operators_run_in_the_memory_of_the_device)
{
    begin_test();
    ln_context *ctx = scaled(0);
    load(ctx);
    ck_assert_uint_gt(state->used, 0);
    set(ctx, "x", first_x);
    assert_run(ctx, "y", first_y);
    set(ctx, "x", second_x);
    assert_run(ctx, "y", second_y);
    ln_context_unload(ctx);
    ck_assert_uint_eq(state->used, 0);
    load(ctx); // again
    set(ctx, "x", first_x);
    assert_run(ctx, "y", first_y);
    ln_context_free(ctx);
    end_test();
}
END_TEST

START_TEST(a_constant_of_the_device_can_be_set)
{
    begin_test();
    static const float w[] = {10, 10, 10, 10, 1}, y[] = {10, 20, 30, 40, 5};
    ln_context *ctx = scaled(0);
    load(ctx);
    set(ctx, "x", first_x);
    set(ctx, "w", w); // -w is computed again, too
    assert_run(ctx, "y", y);
    assert_run(ctx, "w", w);
    ck_assert_msg(!ln_context_set_param(ctx, "op_w", "data", 5, (double[]){1, 2, 3, 4, 5}), "%s",
                  ln_context_error(ctx));
    assert_run(ctx, "y", first_y);
    set(ctx, "w", w);
    for (int i = 0; i < 3; i++)
        assert_run(ctx, "y", y);
    ln_context_free(ctx);
    end_test();
}
END_TEST

// Writes w as a safetensors file.
static void write_weights(const char *file, const float w[5])
{
    static const char header[] =
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[5],\"data_offsets\":[0,20]}}";
    const uint64_t size = sizeof(header) - 1;
    FILE *stream = fopen(file, "wb");
    ck_assert_ptr_nonnull(stream);
    fwrite(&size, sizeof(size), 1, stream);
    fwrite(header, 1, size, stream);
    fwrite(w, sizeof(*w), 5, stream);
    ck_assert_int_eq(fclose(stream), 0);
}

START_TEST(weights_of_a_file_are_read_into_the_device)
{
    char file[] = "/tmp/ln_device_XXXXXX.safetensors";
    static const float w[] = {1, 2, 3, 4, 5};
    begin_test();
    close(mkstemps(file, 12));
    write_weights(file, w);
    ln_context *ctx = scaled(1);
    const int status = ln_context_load(ctx, file);
    unlink(file);
    ck_assert_msg(!status, "%s", ln_context_error(ctx));
    set(ctx, "x", first_x);
    assert_run(ctx, "y", first_y);
    ln_context_free(ctx);
    end_test();
}
END_TEST

START_TEST(a_compiled_model_keeps_what_lies_on_the_device)
{
    char file[] = "/tmp/ln_device_XXXXXX.lightnet";
    begin_test();
    close(mkstemps(file, 9));
    ln_context *ctx = scaled(0);
    ck_assert_msg(!ln_context_save(ctx, NULL, file), "%s", ln_context_error(ctx));
    ln_context_free(ctx);
    ctx = ln_context_create();
    const int status = ln_context_init(ctx, file);
    unlink(file);
    ck_assert_msg(!status, "%s", ln_context_error(ctx));
    load(ctx);
    set(ctx, "x", first_x);
    assert_run(ctx, "y", first_y);
    ln_context_free(ctx);
    end_test();
}
END_TEST

START_TEST(an_input_can_lie_on_the_device)
{
    begin_test();
    model m;
    begin(&m);
    add_create(&m, "create_device", "dst=x", "[0]", 1);
    add(&m, "unary_device", "src=x", "dst=p", NEG);
    add(&m, "from_device", "src=p", "dst=y", "");
    ln_context *ctx = end(&m, "\"x\"", "\"y\"");
    static const float y[] = {-2, -3, -4, -5, -6};
    load(ctx);
    ck_assert_int_eq(ln_context_run(ctx), -1);
    ck_assert_msg(strstr(ln_context_error(ctx), "input 'x' has no data"), "%s",
                  ln_context_error(ctx));
    set(ctx, "x", first_x);
    assert_run(ctx, "y", y);
    assert_run(ctx, "x", first_x);
    ln_context_free(ctx);
    end_test();
}
END_TEST

START_TEST(an_output_on_the_device_is_an_error)
{
    begin_test();
    model m;
    begin(&m);
    add_create(&m, "create_device", "dst=x", "[0]", 1);
    add(&m, "unary_device", "src=x", "dst=y", NEG);
    ln_context *ctx = end(&m, "\"x\"", "\"y\"");
    ck_assert_int_eq(ln_context_load(ctx, NULL), -1);
    ck_assert_msg(
        strstr(ln_context_error(ctx), "output 'y' is in LN_MEM_CUDA, expected LN_MEM_CPU"), "%s",
        ln_context_error(ctx));
    ln_context_free(ctx);
    end_test();
}
END_TEST

START_TEST(a_device_without_memory_left_is_an_error)
{
    begin_test();
    ln_context *ctx = scaled(0);
    for (state->limit = 0; ln_context_load(ctx, NULL); state->limit += 64) {
        ck_assert_msg(strstr(ln_context_error(ctx), "the device has no "), "%s",
                      ln_context_error(ctx));
        ck_assert_uint_eq(state->used, 0);
    }
    ck_assert_uint_gt(state->limit, 0);
    set(ctx, "x", first_x);
    assert_run(ctx, "y", first_y);
    ln_context_free(ctx);
    state->limit = SIZE_MAX;
    end_test();
}
END_TEST

START_TEST(an_operator_of_the_cpu_rejects_tensors_of_the_device)
{
    begin_test();
    model m;
    begin(&m);
    add_create(&m, "create", "dst=x", "[0]", 0);
    add(&m, "to_device", "src=x", "dst=d", "");
    add(&m, "reshape", "src=d", "dst=y", PARAM("dims", "[1, 5]"));
    end_graph(&m, "\"x\"", "\"y\"");
    ln_context *ctx = read_model(&m);
    ck_assert_int_eq(ln_context_compile(ctx, "device"), -1);
    ck_assert_msg(
        strstr(ln_context_error(ctx), "'src' has memory type LN_MEM_CUDA, expected LN_MEM_CPU"),
        "%s", ln_context_error(ctx));
    ln_context_free(ctx);
    end_test();
}
END_TEST

// Sets x and runs y = w x - w.
static void assert_session_run(ln_session *session, const float x[5], const float expected[5])
{
    static const int dims[] = {5};
    float y[5];
    ck_assert_msg(!ln_session_set_input(session, "x", TL_FLOAT, 1, dims, x) &&
                      !ln_session_run(session) &&
                      !ln_session_copy_output(session, "y", y, sizeof(y)),
                  "%s", ln_session_error(session));
    for (int i = 0; i < 5; i++)
        ck_assert_float_eq(y[i], expected[i]);
}

START_TEST(sessions_of_one_model_compute_on_the_device)
{
    begin_test();
    model m;
    ln_options *options = ln_options_create();
    ln_model *opened = NULL;
    ln_session *one = NULL, *other = NULL;
    begin(&m);
    add_scaled(&m, 0);
    end_graph(&m, "\"x\"", "\"y\"");
    fclose(m.stream);
    ck_assert_int_eq(ln_options_set(options, "target", "device"), 0);
    ck_assert_msg(!ln_model_open_memory("model", m.text, m.size, options, &opened), "%s",
                  ln_model_error(NULL));
    ln_options_free(options);
    free(m.text);
    ck_assert_int_eq(ln_session_create(opened, &one), 0);
    ck_assert_int_eq(ln_session_create(opened, &other), 0);
    ln_model_free(opened);
    assert_session_run(one, first_x, first_y);
    const size_t used = state->used;
    assert_session_run(other, second_x, second_y);
    ck_assert_uint_gt(state->used, used); // memory of its own
    assert_session_run(one, second_x, second_y);
    assert_session_run(other, first_x, first_y);
    ln_session_free(one);
    assert_session_run(other, second_x, second_y);
    ln_session_free(other);
    end_test();
}
END_TEST

START_TEST(sizes_that_only_a_run_knows_reach_the_device)
{
    begin_test();
    model m;
    begin(&m);
    add(&m, "placeholder", "", "dst=x",
        PARAM("dtype", "\"TL_FLOAT\"") ", " PARAM("dims", "[5]") ", " PARAM("least", "[1]"));
    add(&m, "to_device", "src=x", "dst=d", "");
    add(&m, "unary_device", "src=d", "dst=e", NEG);
    add(&m, "by_scratch_device", "src=e", "dst=f", "");
    add(&m, "from_device", "src=f", "dst=y", "");
    ln_context *ctx = end(&m, "\"x\"", "\"y\"");
    load(ctx);
    for (int n = 1; n <= 5; n++) {
        float y[5] = {0};
        ck_assert_msg(!ln_context_set_shape(ctx, "x", 1, &n), "%s", ln_context_error(ctx));
        set(ctx, "x", first_x);
        ck_assert_msg(!ln_context_run(ctx) && ln_context_get_data(ctx, "y", y), "%s",
                      ln_context_error(ctx));
        ck_assert_uint_eq(ln_context_data_size(ctx, "y"), sizeof(float) * (size_t)n);
        for (int i = 0; i < 5; i++)
            ck_assert_float_eq(y[i], i < n ? -first_x[i] : 0);
    }
    ln_context_free(ctx);
    end_test();
}
END_TEST

#define FLOATS PARAM("dtype", "\"TL_FLOAT\"") ", " PARAM("dims", "[5]")

// A body has memory of the CPU alone.
START_TEST(a_body_on_the_device_is_an_error)
{
    begin_test();
    model m;
    begin(&m);
    add(&m, "source", "", "dst=c", PARAM("dtype", "\"TL_BOOL\"") ", " PARAM("dims", "[]"));
    add(&m, "source", "", "dst=x", FLOATS);
    add(&m, "branch", "cond=c src0=x", "dst0=y",
        PARAM("then_body", "\"on_device\"") ", " PARAM("else_body", "\"on_device\""));
    fputs("], \"inputs\": [\"c\", \"x\"], \"outputs\": [\"y\"], \"bodies\": {\"on_device\": ",
          m.stream);
    begin_graph(&m);
    add(&m, "source", "", "dst=a", FLOATS);
    add(&m, "to_device", "src=a", "dst=d", "");
    add(&m, "from_device", "src=d", "dst=r", "");
    end_graph(&m, "\"a\"", "\"r\"");
    fputs("}}", m.stream);
    ln_context *ctx = read_model(&m);
    ck_assert_int_eq(ln_context_compile(ctx, "device"), -1);
    ck_assert_msg(strstr(ln_context_error(ctx), "operator 'op_d' (to_device) of body 'on_device' "
                                                "computes in LN_MEM_CUDA, expected LN_MEM_CPU"),
                  "%s", ln_context_error(ctx));
    ln_context_free(ctx);
    end_test();
}
END_TEST

LN_TEST_MAIN("device", operators_run_in_the_memory_of_the_device,
             a_constant_of_the_device_can_be_set, weights_of_a_file_are_read_into_the_device,
             a_compiled_model_keeps_what_lies_on_the_device, an_input_can_lie_on_the_device,
             an_output_on_the_device_is_an_error, a_device_without_memory_left_is_an_error,
             an_operator_of_the_cpu_rejects_tensors_of_the_device,
             sessions_of_one_model_compute_on_the_device,
             sizes_that_only_a_run_knows_reach_the_device, a_body_on_the_device_is_an_error)
