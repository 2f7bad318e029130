// SPDX-License-Identifier: Apache-2.0
// Names of the classes of well-known data sets.

#pragma once

/** The names, one a line: of "coco80" (80 classes), "coco91" (with COCO's own numbers, from 0 to
 * 90), "imagenet" (1000), "voc20", "voc21" (with background) or "face". NULL: no such list, or
 * NULL. */
const char *cli_class_names(const char *list);
