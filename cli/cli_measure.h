// SPDX-License-Identifier: Apache-2.0
// What benchmarks share: the times of runs, peak memory, and silence of the model.

#ifndef CLI_MEASURE_H
#define CLI_MEASURE_H

/** Times of runs, in ms. Begins zeroed. */
typedef struct cli_times {
    double *ms;
    int n;
    int capacity;
} cli_times;

/** Adds a time. Returns 0, or CLI_FAILED after a message. */
int cli_times_add(cli_times *times, double ms);

/** Sorts the times, for cli_times_quantile. */
void cli_times_sort(cli_times *times);

/** The time that a share `q` of the sorted times, of which there is one at least, does not exceed.
 */
double cli_times_quantile(const cli_times *times, double q);

void cli_times_free(cli_times *times);

/** The most memory of the process that was resident at once, in KiB. */
double cli_peak_memory_kb(void);

/** Discards standard output, since what a model prints is part of a run, but not of a report.
 * Returns what cli_restore_output restores it from, or -1 after a message. */
int cli_silence_output(void);

void cli_restore_output(int saved);

#endif
