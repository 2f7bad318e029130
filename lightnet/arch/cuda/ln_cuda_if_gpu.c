// SPDX-License-Identifier: Apache-2.0
// usage: ln_cuda_if_gpu PROGRAM [ARGUMENT...]: runs the test program where there is a GPU, and else
// reports in TAP that it is skipped, and why.

#include <stdio.h>
#include <unistd.h>

#include "arch/cuda/ln_cuda.h"

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    if (ln_cuda_check()) {
        printf("1..0 # SKIP %s\n", tl_last_error());
        return 0;
    }
    execv(argv[1], argv + 1);
    perror(argv[1]);
    return 1;
}
