// SPDX-License-Identifier: Apache-2.0
// What the outputs of a run show in its photo: detections, or the class of each pixel.

#pragma once

#include "lightnet/ln_detect.h"
#include "lightnet/ln_image.h"
#include "lightnet/ln_msg.h"
#include "output/cli_json.h"
#include "output/cli_labels.h"
#include "output/cli_run_options.h"

/** The outputs of a run. */
typedef struct cli_drawing {
    const char **names; // of outputs; borrowed
    const tl_tensor **tensors;
    int n;
} cli_drawing;

typedef struct cli_found {
    ln_image image;            // the photo
    ln_detections *detections; // NULL: not wanted
    tl_tensor *map;            // of ln_class_map; NULL: not wanted
    int n_classes;             // of the map; 0: unknown
    int has_background;        // class 0 of the map is not printed
} cli_found;

/** 0, or the exit status after a message: --task is unknown. "help" is known. */
int cli_found_check_task(const char *task);

/** Prints the words of --task. */
void cli_found_print_tasks(void);

/** Whether the task is that of classes of pixels. */
int cli_found_is_map(const cli_run_options *opt);

/** Adds an output to opt->shared.images.photo->drawing, if --task or --draw is set. Borrows both
 * arguments. Returns 0, or CLI_FAILED after a message: no memory. */
int cli_found_add(const cli_run_options *opt, const char *name, const tl_tensor *t);

/** Frees the lists. */
void cli_found_free_drawing(cli_drawing *drawing);

/** After a run: decodes opt->shared.images.photo, and finds by opt->task. -1 with a reason: no
 * photo, or the outputs fit no family; then there is nothing to free. The outputs must outlive
 * *found. */
int cli_found_init(cli_found *found, const cli_run_options *opt, const cli_labels *labels,
                   ln_error *err);

void cli_found_free(cli_found *found);

/** Prints a line for each detection, or class of pixels. */
void cli_found_print(const cli_found *found, const cli_run_options *opt, const cli_labels *labels);

/** The same as members of the object of a run. Returns 0, or CLI_FAILED after a message. */
int cli_found_json(const cli_found *found, cli_json *json, const cli_labels *labels);

/** The label of a class of pixels; NULL: none. */
const char *cli_found_class_label(const cli_found *found, const cli_labels *labels, int class);
