// SPDX-License-Identifier: Apache-2.0
// The order of a segment's operators while it is recorded. On a stream, each would wait for the
// previous one. In the graph, an operator depends only on operators whose memory it reads or
// overwrites, so others may run concurrently.
//
//     ln_cuda_record_begin(recording, stream, op_arg, 0);
//     ... adds its work to the stream ...
//     ln_cuda_record_end(recording, stream);
//
// Functions that return int return -1 with the reason in tl_last_error().

#pragma once

#include <cuda_runtime_api.h>

#include "lightnet/ln_op.h"

typedef struct ln_cuda_recording ln_cuda_recording;

/** Returns new (ln_cuda_recording_free). NULL with a reason: no memory. */
ln_cuda_recording *ln_cuda_recording_create(void);
void ln_cuda_recording_free(ln_cuda_recording *recording); // accepts NULL

/** Attributes subsequent launches on the captured stream to this operator.
 * has_idle_scratch: it does not use its scratch memory. */
int ln_cuda_record_begin(ln_cuda_recording *recording, cudaStream_t stream, const ln_op_arg *op_arg,
                         int has_idle_scratch);
int ln_cuda_record_end(ln_cuda_recording *recording, cudaStream_t stream);
