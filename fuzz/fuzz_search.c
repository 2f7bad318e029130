// SPDX-License-Identifier: Apache-2.0
// Searches with libFuzzer: fuzz NAME [libFuzzer's arguments].

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static fuzz_target *target;

// Takes the target's name from the arguments.
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    target = fuzz_find((*argv)[1]);
    if (!target)
        exit(EXIT_FAILURE);
    memmove(*argv + 1, *argv + 2, sizeof(**argv) * (size_t)(*argc - 1));
    --*argc;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    target(data, size);
    return 0;
}
