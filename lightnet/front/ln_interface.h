// SPDX-License-Identifier: Apache-2.0
// The inputs and outputs of a model file, before sizes are bound: names, types, shapes with open
// sizes, metadata.
//
//     ln_interface *interface = ln_interface_create();
//     ln_port *ids = ln_interface_add(interface, LN_PORT_INPUT, "ids", TL_INT64, 2);
//     ln_port_set_dim(ids, 0, LN_PORT_OPEN, "batch");
//     ln_port_set_dim(ids, 1, 128, NULL);

#pragma once

#include <stddef.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_tensor.h"

/** An open size; an unknown number of dimensions. */
enum { LN_PORT_OPEN = -1 };

typedef enum ln_port_kind {
    LN_PORT_INPUT,   // required in each run
    LN_PORT_DEFAULT, // an input with a default value
    LN_PORT_OUTPUT,
} ln_port_kind;

/** One input or output. */
typedef struct ln_port {
    char *name;
    ln_port_kind kind;
    tl_tensor info;      // without data; dims is `dims` below, NULL: ndim is unknown. dtype may be
                         // TL_DTYPE_INVALID: LightNet has no such type, or an output has none
    int dims[LN_MAXDIM]; // LN_PORT_OPEN: open
    int min[LN_MAXDIM];  // of an open size: its bounds
    int max[LN_MAXDIM];
    char *dim_names[LN_MAXDIM]; // of open sizes, or NULL
    int symbols[LN_MAXDIM];     // numbers of these names, from 1; 0: none. Set on demand
} ln_port;

typedef struct ln_metadata {
    char *key, *value;
} ln_metadata;

typedef struct ln_interface {
    ln_port **inputs, **outputs; // in the order of the model
    size_t n_inputs, n_outputs;
    ln_metadata *metadata;
    size_t n_metadata;
} ln_interface;

/** Returns new (ln_interface_free), empty; NULL: no memory. */
ln_interface *ln_interface_create(void);

/** Ignores NULL. */
void ln_interface_free(ln_interface *interface);

/** Adds an input or an output of `ndim` dimensions, all of them open; LN_PORT_OPEN: its shape is
 * unknown. Returns borrowed; NULL: no memory. */
ln_port *ln_interface_add(ln_interface *interface, ln_port_kind kind, const char *name,
                          tl_dtype dtype, int ndim);

/** Adds metadata; value NULL: nothing. -1: no memory. */
int ln_interface_add_metadata(ln_interface *interface, const char *key, const char *value);

/** Sets the size of an axis, which is one of the port's; LN_PORT_OPEN with its name, or NULL. -1:
 *  no memory. */
int ln_port_set_dim(ln_port *port, int axis, int dim, const char *name);

/** Sets the number of dimensions, all of them open. */
void ln_port_set_ndim(ln_port *port, int ndim);

/** Whether all sizes are known. */
int ln_port_is_closed(const ln_port *port);

/** The name of the port's type, for messages, also where LightNet has no such type. */
const char *ln_port_dtype_name(const ln_port *port);

/** The shape in the model, for messages: "[batch, 3, ?, 224]", "of any shape". Returns
 * buf. */
char *ln_port_sprint(const ln_port *port, char *buf, size_t size);

/** The port of that name, or NULL. */
ln_port *ln_interface_input(const ln_interface *interface, const char *name);
ln_port *ln_interface_output(const ln_interface *interface, const char *name);

/** Fills the empty interface: a size of an input is open if a range was bound to it, one of an
 * output if it depends on such a size or on data. Names are those of the model, also of sizes that
 * are fixed by now. -1 with the reason in the context: no memory. */
int ln_interface_fill(ln_interface *interface, const ln_context *ctx);
