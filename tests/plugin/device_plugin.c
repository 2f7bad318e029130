// SPDX-License-Identifier: Apache-2.0
// The plug-in of the target "device": operators whose tensors are LN_MEM_CUDA.

#include "device.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <lightnet/lightnet.h>

#include "ops_device.h"

enum { MAX_BLOCKS = 64 };

device_state device = {.limit = SIZE_MAX};

static struct block {
    void *start; // NULL: free
    size_t size;
} blocks[MAX_BLOCKS];

static void protect(int how)
{
    for (int i = 0; i < MAX_BLOCKS; i++) {
        if (blocks[i].start)
            mprotect(blocks[i].start, blocks[i].size, how);
    }
}

void device_open(void)
{
    protect(PROT_READ | PROT_WRITE);
}

int device_close(int status)
{
    protect(PROT_NONE);
    return status;
}

int device_copy_by(void *scratch, const tl_tensor *src, tl_tensor *dst)
{
    memcpy(scratch, src->data, tl_tensor_size(src));
    memset(dst->data, 0x55, tl_tensor_size(dst));
    memcpy(dst->data, scratch, tl_tensor_size(src));
    return 0;
}

int device_fill(tl_tensor *dst, const double *data, int n)
{
    for (int i = 0; i < dst->len; i++)
        tl_convert((char *)dst->data + (size_t)i * tl_size_of(dst->dtype), dst->dtype,
                   &data[n == 1 ? 0 : i], TL_DOUBLE);
    return 0;
}

// Memory

static struct block *find_block(const void *start)
{
    for (int i = 0; i < MAX_BLOCKS; i++) {
        if (blocks[i].start == start)
            return &blocks[i];
    }
    return NULL;
}

static void *alloc_block(size_t size)
{
    struct block *block = find_block(NULL);
    void *start = MAP_FAILED;
    if (block && size <= device.limit - device.used)
        start = mmap(NULL, size ? size : 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        ln_error_set(NULL, "the device has no %zu bytes left", size);
        return NULL;
    }
    *block = (struct block){start, size ? size : 1};
    device.used += block->size;
    return start;
}

static void free_block(void *start)
{
    struct block *block = start ? find_block(start) : NULL;
    if (!block)
        return;
    munmap(block->start, block->size);
    device.used -= block->size;
    *block = (struct block){NULL, 0};
}

static void *set(void *dst, int value, size_t size)
{
    device_open();
    memset(dst, value, size);
    device_close(0);
    return dst;
}

static void *copy(void *dst, const void *src, size_t size)
{
    device_open();
    memcpy(dst, src, size);
    device_close(0);
    return dst;
}

static const ln_mem_provider memory = {.mtype = LN_MEM_CUDA,
                                       .alloc_func = alloc_block,
                                       .free_func = free_block,
                                       .memset_func = set,
                                       .copy_in = copy,
                                       .copy_out = copy,
                                       .copy_within = copy};

static ln_arch arch = {.reg_ops = ops_device, .arch_name = "device", .base = "cpu"};
static ln_arch *const archs[] = {&arch, NULL};

LN_PLUGIN(.name = "device", .archs = archs, .memory = &memory);
