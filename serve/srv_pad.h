// SPDX-License-Identifier: Apache-2.0
// Requests of different lengths in one batch, where the metadata of a model specify the padding:
//
//     lightnet.pad = input_ids:1=0, attention_mask:1=0
//
// Axis 1 of both inputs is padded with 0 at its end. A *length* is an open size of such an axis, as
// "sequence"; all axes with its name have the same length in a request. Outputs with such an axis
// are cut back.
#pragma once

#include "lightnet/ln_session.h"
#include "srv_request.h"

#define SRV_PAD_KEY "lightnet.pad"

struct srv_port;

/** Axis k of an input or output has length number `length_of[k]`; -1: it is not padded. */
typedef struct srv_pad_port {
    int length_of[SRV_MAX_DIMS];
    unsigned char value[8]; // of an input's padding, in its type
    int has_value;
} srv_pad_port;

typedef struct srv_pad {
    int n_lengths;
    const char *names[SRV_MAX_LENGTHS]; // borrowed from the model
    srv_pad_port *inputs, *outputs;     // [n_inputs], [n_outputs], owned
    int n_inputs, n_outputs;
} srv_pad;

/** Reads the metadata of a model with these inputs and outputs. *pad is new (srv_pad_free), or
 *  NULL: the model has no such key. -1 with a reason that names the key, what it has, and what was
 *  expected. */
int srv_pad_create(const ln_model *model, const struct srv_port *inputs, int n_inputs,
                   const struct srv_port *outputs, int n_outputs, srv_pad **pad, srv_error *err);

/** Ignores NULL. */
void srv_pad_free(srv_pad *pad);

/** Sets the lengths of a request, whose inputs have the model's order and dimensions. -1: two axes
 *  of one name have different lengths. */
int srv_pad_measure(const srv_pad *pad, srv_request *r);

/** The max of each length of the requests from `first` on. */
void srv_pad_longest(const srv_pad *pad, const srv_request *first, int longest[SRV_MAX_LENGTHS]);

/** Whether `r` may run with the requests from `first` on: of each padded axis of the batch, at most
 *  a quarter is padding, and at most 8 elements for each row. */
int srv_pad_allows(const srv_pad *pad, const srv_request *first, const srv_request *r);

/** Copies an input to `to`, whose sizes beyond axis 0 are those of `dims`, at least its own; the
 *  rest is padding. Returns the address behind. */
char *srv_pad_input(const srv_pad_port *port, const srv_tensor *input, const int *dims, char *to);
