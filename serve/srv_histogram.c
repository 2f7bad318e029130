// SPDX-License-Identifier: Apache-2.0
// Counts values between bounds.

#include "srv_histogram.h"

static const double seconds[] = {.001, .002, .003, .005, .0075, .01, .015, .025, .05, .075,
                                 .1,   .15,  .25,  .5,   .75,   1,   2.5,  5,    10};
static const double rows[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 512, 1024};

const srv_histogram srv_histogram_seconds = {seconds, sizeof(seconds) / sizeof(seconds[0]), {0}, 0};
const srv_histogram srv_histogram_rows = {rows, sizeof(rows) / sizeof(rows[0]), {0}, 0};

void srv_histogram_add(srv_histogram *h, double value)
{
    int i = 0;
    while (i < h->n && value > h->bounds[i])
        i++;
    h->counts[i]++;
    h->sum += value;
}

uint64_t srv_histogram_count(const srv_histogram *h)
{
    uint64_t count = 0;
    for (int i = 0; i <= h->n; i++)
        count += h->counts[i];
    return count;
}
