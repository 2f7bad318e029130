// SPDX-License-Identifier: Apache-2.0
// --preset: what to do with the image and the outputs of a known family of models.

#pragma once

#include "cli_options.h"

/** The names, for shells. */
#define CLI_PRESET_WORDS                                                                           \
    "resnet50 keras yolov2 yolov2-coco yolov3 yolov4 pytorch-yolov4 yolov5 yolov6 yolov8 yolov10 " \
    "yolonas yolox detr rtdetr rfdetr ssd torchvision tensorflow ultraface retinaface scrfd "      \
    "yunet blazeface paddle "                                                                      \
    "deeplab help"

/** A family of models. */
typedef struct cli_preset {
    const char *name;
    const char *preprocess; // a name of --preprocess
    int height, width;      // of an input whose sizes are open
    const char *task;       // a word of --task; NULL: none
    int top;                // 0: none
    const char *labels;     // a list of cli_class_names; NULL: none
    const char *models;
} cli_preset;

/** Sets how images become inputs by images->preset, where options have not. Returns the preset;
 * NULL: none is set. */
const cli_preset *cli_preset_apply(cli_image_options *images);

/** 0 for a known name, or "help"; else CLI_WRONG_USAGE after a message. */
int cli_preset_check(const char *name);

/** Prints the table. */
void cli_preset_print(void);
