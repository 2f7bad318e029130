// SPDX-License-Identifier: Apache-2.0
// Failures of CUDA's functions.

#include "arch/cuda/ln_cuda.h"

int ln_cuda_expect(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return 0;
    cudaGetLastError(); // or the next launch would report it
    return tl_fail("CUDA cannot %s: %s", what, cudaGetErrorString(status));
}
