// SPDX-License-Identifier: Apache-2.0
// Sorting: a stable merge sort of indices, bottom up from short insertion-sorted runs, then moving
// the elements into their order.
//
// Scratch memory for n elements: order [n] and other [n] (int32_t), then elements [n], as wide as
// the wider of key and val.

#ifndef T // once

#include "kernel/sort1d/sort1d.h"

#include <assert.h>
#include <string.h>

#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

enum { RUN = 16 };

#define TL_TEMPLATE "kernel/sort1d/sort1d.c"

#define IS_NAN(x) ((x) != (x))
#include "tensor/tl_each_float.inc.h"
#undef IS_NAN

#define IS_NAN(x) 0
#include "tensor/tl_each_int.inc.h"
#define TL_TAG b8
#include "tensor/tl_one_type.inc.h"

TL_KERNEL_TABLE(pick, tl_sort1d_func, TL_SORT1D_KERNELS)

size_t tl_sort1d_scratch(const tl_tensor *key, const tl_tensor *val)
{
    const size_t key_size = tl_size_of(key->dtype);
    const size_t val_size = val ? tl_size_of(val->dtype) : 0;
    const size_t widest = key_size > val_size ? key_size : val_size;
    return (size_t)key->len * (2 * sizeof(int32_t) + widest);
}

static void reorder(tl_tensor *t, const int32_t *order, char *elements)
{
    const size_t size = tl_size_of(t->dtype);
    for (int i = 0; i < t->len; i++)
        memcpy(elements + (size_t)i * size, (char *)t->data + (size_t)order[i] * size, size);
    memcpy(t->data, elements, (size_t)t->len * size);
}

int tl_exec_sort1d_by_key(const tl_exec *exec, tl_tensor *key, tl_tensor *val, tl_sort_dir dir)
{
    assert(!val || val->len == key->len);
    const size_t needed = tl_sort1d_scratch(key, val);
    if (needed == 0)
        return 0;
    if (tl_check_scratch(exec, needed, "to sort") < 0)
        return -1;
    const size_t len = (size_t)key->len;
    int32_t *const order = exec->scratch;
    int32_t *const other = order + len;
    char *const elements = (char *)(other + len);
    pick(exec, key->dtype)(key->data, len, dir, order, other, exec->stop);
    reorder(key, order, elements);
    if (val)
        reorder(val, order, elements);
    return 0;
}

int tl_exec_sort1d(const tl_exec *exec, tl_tensor *key, tl_sort_dir dir)
{
    return tl_exec_sort1d_by_key(exec, key, NULL, dir);
}

// Sorts with separate scratch memory; val may be NULL.
static int sort(tl_tensor *key, tl_tensor *val, tl_sort_dir dir)
{
    if (!tl_sort_dir_name(dir))
        return tl_fail("sort direction %d, expected 0 to %d", dir, TL_SORT_DIR_SIZE - 1);
    const tl_exec exec = tl_result_exec(tl_sort1d_scratch(key, val));
    if (!exec.scratch)
        return -1;
    const int status = tl_exec_sort1d_by_key(&exec, key, val, dir);
    tl_free(exec.scratch);
    return status;
}

int tl_tensor_sort1d(tl_tensor *key, tl_sort_dir dir)
{
    return tl_check_input(key, "key", 1) < 0 ? -1 : sort(key, NULL, dir);
}

int tl_tensor_sort1d_by_key(tl_tensor *key, tl_tensor *val, tl_sort_dir dir)
{
    if (tl_check_input(key, "key", 1) < 0 || tl_check_input(val, "val", 1) < 0)
        return -1;
    if (val->len != key->len)
        return tl_fail("'val' has %d elements, expected those of 'key', %d", val->len, key->len);
    if (tl_check_apart(key, val) < 0)
        return tl_fail("'val' overlaps 'key', expected separate data");
    return sort(key, val, dir);
}

#else // for each type

// Does `a` have to come before `b`? Not when they are equal.
static int NAME(is_before, c)(T a, T b, tl_sort_dir dir)
{
    const C x = LOAD(a), y = LOAD(b);
    if (IS_NAN(x) || IS_NAN(y))
        return !IS_NAN(x);
    return dir == TL_SORT_DIR_DESCENDING ? x > y : x < y;
}

static void NAME(sort_run, c)(const T *key, tl_sort_dir dir, int32_t *order, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const int32_t index = order[i];
        size_t k = i;
        for (; k > 0 && NAME(is_before, c)(key[index], key[order[k - 1]], dir); k--)
            order[k] = order[k - 1];
        order[k] = index;
    }
}

// Merges the sorted from[0 .. middle-1] and from[middle .. n-1] to `to`.
static void NAME(merge, c)(const T *key, tl_sort_dir dir, const int32_t *from, size_t middle,
                           size_t n, int32_t *to)
{
    size_t left = 0, right = middle;
    for (size_t k = 0; k < n; k++) {
        const int takes_right =
            left == middle ||
            (right < n && NAME(is_before, c)(key[from[right]], key[from[left]], dir));
        to[k] = from[takes_right ? right++ : left++];
    }
}

// Merges neighbours of `width` sorted indices each; -1: stopped.
static int NAME(merge_all, c)(const T *key, size_t len, tl_sort_dir dir, const int32_t *from,
                              size_t width, int32_t *to, const tl_stop *stop)
{
    for (size_t i = 0; i < len; i += 2 * width) {
        if (tl_stop_is_requested(stop))
            return -1;
        NAME(merge, c)
        (key, dir, from + i, tl_min_size(width, len - i), tl_min_size(2 * width, len - i), to + i);
    }
    return 0;
}

void NAME(tl_sort1d, c)(const void *arg, size_t len, tl_sort_dir dir, int32_t *order,
                        int32_t *other, const tl_stop *stop)
{
    const T *const key = arg;
    for (size_t i = 0; i < len; i++)
        order[i] = (int32_t)i;
    for (size_t i = 0; i < len; i += RUN)
        NAME(sort_run, c)(key, dir, order + i, tl_min_size(RUN, len - i));
    int32_t *from = order, *to = other;
    for (size_t width = RUN; width < len; width *= 2) {
        if (NAME(merge_all, c)(key, len, dir, from, width, to, stop) < 0)
            break; // `from` has all indices
        int32_t *const merged = to;
        to = from;
        from = merged;
    }
    if (from != order)
        memcpy(order, from, len * sizeof(*order));
}

#endif
