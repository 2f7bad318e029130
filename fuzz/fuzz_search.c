// SPDX-License-Identifier: Apache-2.0
// Searches for failing inputs with libFuzzer: fuzz NAME [libFuzzer's arguments].

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static fuzz_target *target;

// Takes the target's name from the arguments, and leaves it in the environment for the processes
// that libFuzzer starts with the other arguments (-jobs, -fork, -merge).
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *inherited = getenv("FUZZ_TARGET");
    target = fuzz_find(inherited ? inherited : (*argv)[1]);
    if (!target)
        exit(EXIT_FAILURE);
    if (inherited)
        return 0;
    setenv("FUZZ_TARGET", (*argv)[1], 1);
    memmove(*argv + 1, *argv + 2, sizeof(**argv) * (size_t)(*argc - 1));
    --*argc;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    target(data, size);
    return 0;
}
