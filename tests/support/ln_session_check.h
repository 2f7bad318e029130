// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of sessions: two models, opening them, checking calls.

#pragma once

#include <string.h>

#include "lightnet/ln_session.h"
#include "ln_check.h"
#include "ln_tiny_onnx.h"

// y = a + b, of any batch.
static inline tiny_bytes sum_model(void)
{
    tiny_model m = {.graph.size = 0};
    tiny_input(&m, "a", TINY_FLOAT, "batch,3");
    tiny_input(&m, "b", TINY_FLOAT, "batch,3");
    tiny_node(&m, "Add", "a", "b", "y");
    tiny_output(&m, "y", TINY_FLOAT, "batch,3");
    tiny_note(&m, "task", "sum");
    return tiny_end(&m);
}

/** y = relu(x). */
static const char ir_model[] =
    "{\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": ["
    "{\"name\": \"make_x\", \"optype\": \"create\", \"tensors_in\": [], \"tensors_out\": "
    "[{\"arg_name\": \"dst\", \"name\": \"x\"}], \"params\": [{\"arg_name\": \"dtype\", "
    "\"value\": \"TL_FLOAT\"}, {\"arg_name\": \"dims\", \"value\": [2]}, {\"arg_name\": "
    "\"ran\", \"value\": [0, 0]}, {\"arg_name\": \"data\", \"value\": [0]}, {\"arg_name\": "
    "\"from_file\", \"value\": false}]}, "
    "{\"name\": \"make_y\", \"optype\": \"relu\", \"tensors_in\": [{\"arg_name\": \"src\", "
    "\"name\": \"x\"}], \"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"y\"}], "
    "\"params\": []}]}";

static inline int has_onnx(void)
{
    return strstr(ln_build_info(), "ONNX") != NULL;
}

#define SKIP_WITHOUT_ONNX                             \
    if (!has_onnx()) {                                \
        ln_check_skip("a build without ONNX models"); \
        return;                                       \
    }

static inline ln_model *open_model(tiny_bytes bytes, const ln_options *options)
{
    ln_model *model;
    const ln_status status =
        ln_model_open_memory("m.onnx", bytes.data, bytes.size, options, &model);
    ck_assert_msg(status == LN_OK, "%s: %s", ln_status_name(status), ln_model_error(model));
    return model;
}

static inline ln_session *open_session(tiny_bytes bytes, const ln_options *options)
{
    ln_session *session;
    ln_model *model = open_model(bytes, options);
    ck_assert_int_eq(ln_session_create(model, &session), LN_OK);
    ln_model_free(model); // the session keeps it
    return session;
}

#define CHECK_OK(session, call)                                            \
    do {                                                                   \
        const ln_status status_ = (call);                                  \
        ck_assert_msg(status_ == LN_OK, "%s: %s", ln_status_name(status_), \
                      ln_session_error(session));                          \
    } while (0)

#define CHECK_FAILS(session, status, call, message)           \
    do {                                                      \
        ck_assert_int_eq(call, status);                       \
        ck_assert_str_eq(ln_session_error(session), message); \
    } while (0)

// Both inputs of sum_model: a is 1, 2, 3 .., b is 10 each.
static inline void set_sum(ln_session *session, int batch)
{
    float a[3 * 64], b[3 * 64];
    const int dims[] = {batch, 3};
    ck_assert_int_le(batch, 64);
    for (int i = 0; i < 3 * batch; i++) {
        a[i] = (float)(i + 1);
        b[i] = 10;
    }
    CHECK_OK(session, ln_session_set_input(session, "a", TL_FLOAT, 2, dims, a));
    CHECK_OK(session, ln_session_set_input(session, "b", TL_FLOAT, 2, dims, b));
}

static inline void check_sum(ln_session *session, int batch)
{
    const tl_tensor *y = ln_session_output(session, "y");
    ck_assert_msg(y != NULL, "%s", ln_session_error(session));
    ck_assert_int_eq(y->ndim, 2);
    ck_assert_int_eq(y->dims[0], batch);
    ck_assert_int_eq(y->dims[1], 3);
    for (int i = 0; i < 3 * batch; i++)
        ck_assert_float_eq(((const float *)y->data)[i], (float)(i + 11));
}

static inline void run_sum(ln_session *session, int batch)
{
    set_sum(session, batch);
    CHECK_OK(session, ln_session_run(session));
    check_sum(session, batch);
}
