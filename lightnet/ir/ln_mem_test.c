// SPDX-License-Identifier: Apache-2.0
// Tests of the memory types.

#include "lightnet/ln_mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_alloc_fail.h"
#include "lightnet/ln_msg.h"
#include "ln_check.h"

START_TEST(types_have_their_enum_names)
{
    ck_assert_str_eq(ln_mem_type_name(LN_MEM_NONE), "LN_MEM_NONE");
    ck_assert_str_eq(ln_mem_type_name(LN_MEM_CPU), "LN_MEM_CPU");
    ck_assert_ptr_null(ln_mem_type_name(LN_MEM_TYPE_SIZE));
    ck_assert_int_eq(ln_mem_type_from_str("LN_MEM_CPU"), LN_MEM_CPU);
    ck_assert_int_eq(ln_mem_type_from_str("LN_MEM_TAPE"), -1);
    ck_assert_int_eq(ln_mem_type_from_str(NULL), -1);
}
END_TEST

START_TEST(cpu_memory_is_aligned_and_can_be_set_and_freed)
{
    const ln_mem_info cpu = ln_mem_type_info(LN_MEM_CPU);
    ck_assert_uint_eq(cpu.align_size, 64);
    const size_t sizes[] = {0, 1, 63, 64, 65, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *p = cpu.alloc_func(sizes[i]);
        ck_assert_ptr_nonnull(p);
        ck_assert_uint_eq((uintptr_t)p % 64, 0);
        ck_assert_ptr_eq(cpu.memset_func(p, 7, sizes[i]), p);
        if (sizes[i])
            ck_assert_uint_eq(p[sizes[i] - 1], 7);
        cpu.free_func(p);
    }
    cpu.free_func(NULL);
}
END_TEST

START_TEST(memory_that_cannot_be_had_is_an_error)
{
    ck_assert_ptr_null(ln_mem_type_info(LN_MEM_CPU).alloc_func(SIZE_MAX));
    ck_assert_ptr_nonnull(strstr(ln_last_error(), "cannot allocate 18446744073709551615 bytes"));
    ln_alloc_fail_after(0);
    ck_assert_ptr_null(ln_mem_type_info(LN_MEM_CPU).alloc_func(1));
    ck_assert(ln_alloc_fail_stop());
}
END_TEST

START_TEST(no_memory_and_invalid_types_have_no_functions)
{
    const int types[] = {LN_MEM_NONE, LN_MEM_TYPE_SIZE, -1, 1000};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const ln_mem_info info = ln_mem_type_info((ln_mem_type)types[i]);
        ck_assert(!info.alloc_func && !info.free_func && !info.memset_func);
        ck_assert_uint_eq(info.max_size, 0);
        ck_assert(!ln_mem_type_copy_func((ln_mem_type)types[i], LN_MEM_CPU));
        ck_assert(!ln_mem_type_copy_func(LN_MEM_CPU, (ln_mem_type)types[i]));
    }
}
END_TEST

START_TEST(cpu_memory_is_copied_as_by_memcpy)
{
    char dst[4] = "abc";
    ck_assert_ptr_eq(ln_mem_type_copy_func(LN_MEM_CPU, LN_MEM_CPU)(dst, "xy", 2), dst);
    ck_assert_str_eq(dst, "xyc");
}
END_TEST

static void *fake_alloc(size_t n)
{
    return calloc(1, n);
}

static void *copy_backward(void *dst, const void *src, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((char *)dst)[i] = ((const char *)src)[n - 1 - i];
    return dst;
}

START_TEST(a_plugin_provides_the_memory_of_a_device_once)
{
    const ln_mem_provider gpu = {LN_MEM_CUDA,   fake_alloc, free,   memset,
                                 copy_backward, memcpy,     memmove};
    ln_mem_provider other = gpu;
    ck_assert_str_eq(ln_mem_type_name(LN_MEM_CUDA), "LN_MEM_CUDA");
    ck_assert_ptr_null(ln_mem_type_info(LN_MEM_CUDA).alloc_func);
    ck_assert_ptr_null(ln_mem_type_copy_func(LN_MEM_CUDA, LN_MEM_CPU));
    ck_assert_int_eq(ln_mem_type_provide(&gpu), 0);
    const ln_mem_info info = ln_mem_type_info(LN_MEM_CUDA);
    ck_assert(info.alloc_func == fake_alloc && info.free_func == free && info.align_size == 256);
    ck_assert(ln_mem_type_copy_func(LN_MEM_CUDA, LN_MEM_CPU) == copy_backward);
    ck_assert(ln_mem_type_copy_func(LN_MEM_CPU, LN_MEM_CUDA) == memcpy);
    ck_assert(ln_mem_type_copy_func(LN_MEM_CUDA, LN_MEM_CUDA) == memmove);
    ck_assert_int_eq(ln_mem_type_provide(&gpu), -1);
    ck_assert_str_eq(ln_last_error(), "memory type LN_MEM_CUDA has functions already");
    other.mtype = LN_MEM_CPU;
    ck_assert_int_eq(ln_mem_type_provide(&other), -1);
    other.mtype = LN_MEM_NONE;
    ck_assert_int_eq(ln_mem_type_provide(&other), -1);
    other.mtype = LN_MEM_TYPE_SIZE;
    ck_assert_int_eq(ln_mem_type_provide(&other), -1);
}
END_TEST

LN_TEST_MAIN("memory types", types_have_their_enum_names,
             cpu_memory_is_aligned_and_can_be_set_and_freed, memory_that_cannot_be_had_is_an_error,
             no_memory_and_invalid_types_have_no_functions, cpu_memory_is_copied_as_by_memcpy,
             a_plugin_provides_the_memory_of_a_device_once)
