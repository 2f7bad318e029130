// SPDX-License-Identifier: Apache-2.0
// The bytes of a run as a file in memory.

#include "fuzz_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

const char *fuzz_file(const uint8_t *data, size_t size)
{
    static char name[64];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size) {
        perror("fuzz: a file in memory");
        exit(EXIT_FAILURE);
    }
    return name;
}
