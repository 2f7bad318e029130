// SPDX-License-Identifier: Apache-2.0
// Searches for failing inputs with libFuzzer: fuzz NAME [libFuzzer's arguments], or as a program
// that is named fuzz_NAME.

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static fuzz_target *target;

// The target that the program is named after, or NULL.
static const char *name_of(const char *program)
{
    static const char prefix[] = "fuzz_";
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    return strncmp(name, prefix, strlen(prefix)) ? NULL : name + strlen(prefix);
}

// Reads the target's name from the program's name or the arguments; stores it in the environment
// for the processes that libFuzzer starts with the other arguments (-jobs, -fork, -merge).
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *inherited = getenv("FUZZ_TARGET");
    const char *name = inherited ? inherited : name_of((*argv)[0]);
    target = fuzz_find(name ? name : (*argv)[1]);
    if (!target)
        exit(EXIT_FAILURE);
    if (name)
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
