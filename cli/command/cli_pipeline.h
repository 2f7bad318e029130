// SPDX-License-Identifier: Apache-2.0
// A pipeline over numbered items: threads decode items ahead, runners (the caller and other
// threads) run them, and a thread writes their results in order.
//
//     cli_pipeline_steps steps = {.data = &work, .n = 1000, .capacity = 16, .n_decoders = 2,
//                                 .decode = decode, .write = write};
//     cli_pipeline *p = cli_pipeline_start(&steps);
//     cli_pipeline_run(p, 2, run_all);
//     int n_written = cli_pipeline_finish(p);
//
//     void run_all(void *data, int runner)
//     {
//         for (int i; (i = next(data)) < 1000 && !cli_pipeline_wait(p, i);)
//             run(data, runner, i), cli_pipeline_done(p, i);
//     }
//
// At most `capacity` items are between the start of decoding and the end of writing, so item i can
// use the slot i % capacity of an array. If the system has no thread for a step, the runners do it
// in cli_pipeline_wait and cli_pipeline_done.
//
// The items may come from a source that tells of one at a time, such as lines of a pipe (`next`).

#pragma once

typedef struct cli_pipeline cli_pipeline;

typedef struct cli_pipeline_steps {
    void *data;                           // of the functions
    int n;                                // items; with `next` the most
    int capacity;                         // items at a time, at least 1
    int n_decoders;                       // threads
    void (*decode)(void *data, int item); // in any thread, several items at a time
    int (*write)(void *data, int item);   // one item at a time, in order; not 0: stops
    // Whether the source has the item, in any thread, one item at a time, in order, before
    // `decode`: 1; 0: it has ended; -1, unless it may wait: not yet. NULL: there are `n` items.
    int (*next)(void *data, int item, int may_wait);
    void (*stop)(void *data); // ends a `next` that waits, in any thread; NULL without `next`
} cli_pipeline_steps;

/** Starts the threads (copies `steps`). They block all signals but SIGPIPE. Returns new
 * (cli_pipeline_finish); NULL: no memory. */
cli_pipeline *cli_pipeline_start(const cli_pipeline_steps *steps);

/** Calls run(data, i), i below `n`, at the same time: i = 0 in the calling thread, others in
 * threads as far as the system has them. Returns when all have returned. */
void cli_pipeline_run(cli_pipeline *p, int n, void (*run)(void *data, int runner));

/** Waits until `item` is decoded; items are decoded in order. Returns 0, or -1: stopped, or the
 * source has ended before the item. */
int cli_pipeline_wait(cli_pipeline *p, int item);

/** Whether `item` is decoded, or will be without waiting for the source. 0: the source does not
 * have it yet, or has ended, or the pipeline is stopped. */
int cli_pipeline_has(cli_pipeline *p, int item);

/** Marks a decoded item as ready to be written, in order. Returns 0, or -1: stopped. */
int cli_pipeline_done(cli_pipeline *p, int item);

/** Stops all steps after their current items; from any thread. */
void cli_pipeline_stop(cli_pipeline *p);

/** Writes the items that are done, up to the first that is not, joins the threads, and frees the
 * pipeline. Returns the number of items written. Ignores NULL. */
int cli_pipeline_finish(cli_pipeline *p);
