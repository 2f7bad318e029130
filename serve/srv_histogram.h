// SPDX-License-Identifier: Apache-2.0
// A histogram with fixed bounds, as Prometheus reads it.
#pragma once

#include <stdint.h>

enum { SRV_HISTOGRAM_MAX = 20 };

typedef struct srv_histogram {
    const double *bounds; // [n], upper, ascending
    int n;
    uint64_t counts[SRV_HISTOGRAM_MAX + 1]; // of values up to each bound, and above all
    double sum;
} srv_histogram;

/** Bounds of seconds, from 1 ms to 10 s, and of rows, from 1 to 1024. */
extern const srv_histogram srv_histogram_seconds, srv_histogram_rows;

void srv_histogram_add(srv_histogram *h, double value);

/** The number of values. */
uint64_t srv_histogram_count(const srv_histogram *h);
