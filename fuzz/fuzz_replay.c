// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target on saved inputs, as a normal test: fuzz NAME [--broken] FILE|FOLDER... Speaks
// TAP. A folder is one test: it holds what searches found.
//
// --broken: variants of the file: truncated at every 97th byte, and changed in one place: a bit
// flipped, bytes removed, repeated, or overwritten with unusual numbers. A large file has its
// structure at the start, then mostly weights: after the first 500 places it is truncated at only
// 500 more, each with one of the four changes, since each takes long. A crash, a sanitizer's
// report, or a case that takes too long ends the program.

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

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

enum { STEP = 97, CUTS = 500, HEAD = CUTS * STEP, CHANGES = 500, LARGE_CHANGES = 100 };
enum { MAX_BYTES = 24, MAX_SECONDS = 60 };

// Knuth's MMIX generator; the high bits are the good ones.
static size_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(*state >> 33);
}

static fuzz_target *target;

// A copy of the bytes, so that a sanitizer detects reads past their end.
static void try(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + !size);
    if (!copy)
        return;
    if (size)
        memcpy(copy, data, size);
    alarm(MAX_SECONDS);
    target(copy, size);
    alarm(0);
    free(copy);
}

// Changes at a place of `size` bytes, after which there is room for MAX_BYTES more; the new size

static size_t at_most(size_t n, size_t max)
{
    return n < max ? n : max;
}

static size_t flip_bit(uint8_t *data, size_t size, size_t at, uint64_t *state)
{
    data[at] ^= (uint8_t)(1u << next_random(state) % 8);
    return size;
}

static size_t remove_bytes(uint8_t *data, size_t size, size_t at, uint64_t *state)
{
    const size_t n = at_most(1 + next_random(state) % MAX_BYTES, size - at);
    memmove(data + at, data + at + n, size - at - n);
    return size - n;
}

static size_t repeat_bytes(uint8_t *data, size_t size, size_t at, uint64_t *state)
{
    const size_t n = at_most(1 + next_random(state) % MAX_BYTES, size - at);
    memmove(data + at + n, data + at, size - at);
    return size + n;
}

// Replaces the next digit, or the bytes at `at`.
static size_t put_number(uint8_t *data, size_t size, size_t at, uint64_t *state)
{
    static const char *const numbers[] = {
        "0",     "-1", "99999999999",      "2147483648",
        "1e999", "\"", "\x7f\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xff\xff",
    };
    const char *number = numbers[next_random(state) % (sizeof(numbers) / sizeof(numbers[0]))];
    const size_t len = strlen(number), end = at + at_most(100, size - at);
    for (size_t i = at; i < end; i++) {
        if (data[i] < '0' || data[i] > '9')
            continue;
        memmove(data + i + len, data + i + 1, size - i - 1);
        memcpy(data + i, number, len);
        return size + len - 1;
    }
    memcpy(data + at, number, at_most(len, size - at));
    return size;
}

static size_t (*const changes[])(uint8_t *data, size_t size, size_t at, uint64_t *state) = {
    flip_bit, flip_bit, flip_bit, remove_bytes, repeat_bytes, put_number};
enum { N_WAYS = sizeof(changes) / sizeof(changes[0]) };

static void try_cut(const uint8_t *data, size_t size)
{
    const size_t coarse = size / CUTS > STEP ? size / CUTS : STEP;
    for (size_t cut = 0; cut < size; cut += cut < HEAD ? STEP : coarse)
        try(data, cut);
}

static int try_changed(const uint8_t *data, size_t size)
{
    uint64_t state = 5;
    const int is_large = size > HEAD, n = is_large ? LARGE_CHANGES : CHANGES;
    uint8_t *changed = malloc(size + MAX_BYTES);
    for (int i = 0; i < n && size && changed; i++) {
        const size_t at = next_random(&state) % (is_large && i % 4 ? HEAD : size);
        memcpy(changed, data, size);
        try(changed, changes[i % N_WAYS](changed, size, at, &state));
    }
    free(changed);
    return changed ? 0 : -1;
}

static int replay(const uint8_t *data, size_t size, int broken)
{
    if (!broken) {
        try(data, size);
        return 0;
    }
    try_cut(data, size);
    return try_changed(data, size);
}

static int replay_file(const char *file, int broken)
{
    size_t size = 0;
    uint8_t *data = read_file(file, &size);
    const int status = data ? replay(data, size, broken) : -1;
    if (status)
        printf("# %s: cannot be read\n", file);
    free(data);
    return status;
}

static int is_visible(const struct dirent *entry)
{
    return *entry->d_name != '.';
}

static int replay_entry(const char *folder, const struct dirent *entry)
{
    char file[4096];
    snprintf(file, sizeof(file), "%s/%s", folder, entry->d_name);
    return replay_file(file, 0);
}

// In order of names. Returns -1 if a file cannot be read, or if there is none.
static int replay_folder(struct dirent **entries, int n, const char *name)
{
    int status = n ? 0 : -1;
    for (int i = 0; i < n; i++) {
        if (!status)
            status = replay_entry(name, entries[i]);
        free(entries[i]);
    }
    free(entries);
    printf("# %s: %d files\n", name, n);
    return status;
}

static int replay_path(const char *path, int broken)
{
    struct dirent **entries;
    const int n = scandir(path, &entries, is_visible, alphasort);
    return n < 0 ? replay_file(path, broken) : replay_folder(entries, n, path);
}

int main(int argc, char **argv)
{
    const int broken = argc > 2 && !strcmp(argv[2], "--broken"), first = broken ? 3 : 2;
    int failed = argc <= first;
    target = fuzz_find(argv[1]);
    if (!target)
        return EXIT_FAILURE;
    printf("1..%d\n", argc - first);
    for (int i = first; i < argc; i++) {
        const int status = replay_path(argv[i], broken);
        printf("%s %d - %s\n", status ? "not ok" : "ok", i - first + 1, argv[i]);
        fflush(stdout);
        failed |= status != 0;
    }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
