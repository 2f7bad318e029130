// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target on saved inputs, as a normal test: fuzz_NAME FILE... Speaks TAP.

#include <stdio.h>
#include <stdlib.h>

#include "fuzz_file.h"

static uint8_t *read_file(const char *file, size_t *size)
{
    FILE *stream = fopen(file, "rb");
    uint8_t *data = NULL;
    if (!stream)
        return NULL;
    if (!fseek(stream, 0, SEEK_END) && (data = malloc((size_t)ftell(stream) + 1))) {
        *size = (size_t)ftell(stream);
        rewind(stream);
        if (fread(data, 1, *size, stream) != *size) {
            free(data);
            data = NULL;
        }
    }
    fclose(stream);
    return data;
}

int main(int argc, char **argv)
{
    int failed = argc < 2;
    printf("1..%d\n", argc - 1);
    for (int i = 1; i < argc; i++) {
        size_t size = 0;
        uint8_t *data = read_file(argv[i], &size);
        if (data)
            LLVMFuzzerTestOneInput(data, size);
        printf("%s %d - %s\n", data ? "ok" : "not ok", i, argv[i]);
        fflush(stdout);
        failed |= !data;
        free(data);
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
