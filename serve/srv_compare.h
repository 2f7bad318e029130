// SPDX-License-Identifier: Apache-2.0
// Results of the same rows in two runs, while a model is loaded: equal but for rounding, or not.
#pragma once

#include "srv_request.h"

/** How two runs are compared, with the words of messages for both, such as "without padding". */
typedef struct srv_compare_rule {
    const char *first, *second;
    const char *size_hint;  // appended where sizes differ; "": none
    double least_magnitude; // that rounding refers to
} srv_compare_rule;

/** The number of elements that are NaN. */
size_t srv_compare_nans(const srv_tensor *t);

/** Compares the outputs of two requests, which have as many. Floats may differ by rounding: 1e-5
 *  (FP16 1e-2, BF16 8e-2) of the largest magnitude of the output in the first, or of the rule's
 *  least if that is larger; NaN equals NaN; others are equal. -1 with a reason: one differs. */
int srv_compare(const srv_request *first, const srv_request *second, const srv_compare_rule *rule,
                srv_error *why);
