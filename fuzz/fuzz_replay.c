// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target on saved inputs, as a normal test: fuzz_NAME [--broken] FILE... Speaks TAP.
//
// --broken: not on the file as it is, but cut off at every 97th byte, and with single bits flipped.
// The structure of a large file stands at its begin, and the rest is mostly weights: behind the
// first 500 places it is cut off in 500 more, and one of four flips is there. What it looks for
// ends the program: a crash, what a sanitizer reports, a case that takes too long.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

enum { STEP = 97, CUTS = 500, HEAD = CUTS * STEP, FLIPS = 500, MAX_SECONDS = 60 };

// Knuth's MMIX generator; the high bits are the good ones.
static size_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(*state >> 33);
}

// The bytes are a copy of their own, so that a sanitizer sees what is read behind them.
static void try(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + !size);
    if (!copy)
        return;
    if (size)
        memcpy(copy, data, size);
    alarm(MAX_SECONDS);
    LLVMFuzzerTestOneInput(copy, size);
    alarm(0);
    free(copy);
}

static void try_broken(uint8_t *data, size_t size)
{
    uint64_t state = 5;
    const size_t coarse = size / CUTS > STEP ? size / CUTS : STEP;
    for (size_t cut = 0; cut < size; cut += cut < HEAD ? STEP : coarse)
        try(data, cut);
    const int is_large = size > HEAD, flips = is_large ? FLIPS / 2 : FLIPS;
    for (int i = 0; i < flips && size; i++) {
        const size_t at = next_random(&state) % (is_large && i % 4 ? HEAD : size);
        const uint8_t bit = (uint8_t)(1u << next_random(&state) % 8);
        data[at] ^= bit;
        try(data, size);
        data[at] ^= bit;
    }
}

int main(int argc, char **argv)
{
    const int broken = argc > 1 && !strcmp(argv[1], "--broken"), first = broken ? 2 : 1;
    int failed = argc <= first;
    printf("1..%d\n", argc - first);
    for (int i = first; i < argc; i++) {
        size_t size = 0;
        uint8_t *data = read_file(argv[i], &size);
        if (data && broken)
            try_broken(data, size);
        else if (data)
            try(data, size);
        printf("%s %d - %s\n", data ? "ok" : "not ok", i - first + 1, argv[i]);
        fflush(stdout);
        failed |= !data;
        free(data);
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
