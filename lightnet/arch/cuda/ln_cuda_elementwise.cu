// SPDX-License-Identifier: Apache-2.0
// Element-wise kernels: chains of steps, epilogues, conversions, copies, gathers.
//
// A thread works on groups of V adjacent elements of dst, of 16 bytes, or 1 if dst is unaligned. A
// source that is broadcast is read in one of these ways, by its strides along dst's axes:
//
//     dst [2, 3, 8]   [2, 3, 8]  FULL: the group at dst's index
//                     []         SCALAR
//                     [2, 1, 8]  INNER: adjacent elements at another index
//                     [3, 1]     ROW: one element for the group
//                     anything else, or unaligned: EACH element by itself

#include <algorithm>
#include <type_traits>

#include "arch/cuda/ln_cuda_common.cuh"

namespace
{

enum { THREADS = 256 };

// Shapes: axes with strides

// Axes, the last one fastest, and the strides of two tensors along them.
struct axes_of {
    int n;
    int dims[TL_MAXDIM];
    int strides[2][TL_MAXDIM];
};

// Leaves out axes of length 1, and merges adjacent axes that have one stride in both tensors: 6 and
// 8 of the strides 8 and 1 become 48 of stride 1. At least one axis remains.
void collapse(axes_of *a)
{
    int n = 0;
    for (int i = 0; i < a->n; i++) {
        if (a->dims[i] == 1)
            continue;
        int is_joined = n > 0;
        for (int k = 0; k < 2 && is_joined; k++)
            is_joined = a->strides[k][n - 1] == (int64_t)a->strides[k][i] * a->dims[i];
        n -= is_joined;
        a->dims[n] = is_joined ? a->dims[n] * a->dims[i] : a->dims[i];
        for (int k = 0; k < 2; k++)
            a->strides[k][n] = a->strides[k][i];
        n++;
    }
    a->n = n;
    if (n == 0) {
        a->n = a->dims[0] = 1;
        a->strides[0][0] = a->strides[1][0] = 1;
    }
}

int length_of(const axes_of *a)
{
    int64_t len = 1;
    for (int i = 0; i < a->n; i++)
        len *= a->dims[i];
    return (int)len;
}

// The strides of a tensor of these dims.
void fill_strides(int ndim, const int *dims, int *strides)
{
    int64_t step = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = (int)step;
        step *= dims[i];
    }
}

// Axes of one tensor for kernels, and the offset of its element at index i, counted over the axes.
struct walk {
    int n;
    ln_divisor dims[TL_MAXDIM];
    int strides[TL_MAXDIM];

    __device__ __forceinline__ int offset(uint32_t i) const
    {
        int offset = 0;
#pragma unroll 1
        for (int k = n - 1; k > 0; k--) {
            const uint32_t q = dims[k].quotient(i);
            offset += (int)(i - q * dims[k].d) * strides[k];
            i = q;
        }
        return offset + (int)i * strides[0];
    }
};

walk walk_of(const axes_of *a, int k)
{
    walk w;
    w.n = a->n;
    for (int i = 0; i < a->n; i++) {
        w.dims[i] = ln_divisor(a->dims[i]);
        w.strides[i] = a->strides[k][i];
    }
    return w;
}

// Sources that are broadcast

enum source_mode { FULL, SCALAR, INNER, ROW, EACH };

struct source {
    const void *data;
    int mode;
    walk at;
};

// How groups of v elements of dst read `t`, whose axis i is dst's axis first + i.
source source_of(const tl_tensor *t, int first, const tl_tensor *dst, int v)
{
    axes_of a = {};
    a.n = dst->ndim;
    int64_t step = 1;
    for (int i = dst->ndim - 1; i >= 0; i--) {
        const int dim = i >= first && i - first < t->ndim ? t->dims[i - first] : 1;
        a.dims[i] = dst->dims[i];
        a.strides[0][i] = a.strides[1][i] = dim == 1 ? 0 : (int)step;
        step *= dim;
    }
    collapse(&a);
    const int last = a.n - 1, stride = a.strides[0][last];
    const int is_together = a.dims[last] % v == 0;
    const int is_aligned = ln_is_aligned(t->data, v * tl_size_of(t->dtype));
    source s = {};
    s.data = t->data;
    s.at = walk_of(&a, 0);
    if (t->len == 1)
        s.mode = SCALAR;
    else if (a.n == 1 && stride == 1)
        s.mode = is_aligned ? FULL : EACH;
    else if (is_together && stride == 0)
        s.mode = ROW;
    else
        s.mode = is_together && stride == 1 && is_aligned ? INNER : EACH;
    return s;
}

// The source's elements for the group at index i of dst, of which the first n_valid exist. Not yet
// as float, so that the next load need not wait for this one.
template <class T, int V>
__device__ __forceinline__ void read(const source &s, uint32_t i, int n_valid, ln_vec<T, V> &x)
{
    const T *const data = (const T *)s.data;
    // In a group that dst cuts short, only FULL is unsafe: INNER and ROW have whole groups.
    switch (n_valid < V && s.mode == FULL ? EACH : s.mode) {
    case FULL:
        x = *reinterpret_cast<const ln_vec<T, V> *>(data + i);
        break;
    case INNER:
        x = *reinterpret_cast<const ln_vec<T, V> *>(data + s.at.offset(i));
        break;
    case SCALAR:
    case ROW: {
        const T one = data[s.mode == SCALAR ? 0 : s.at.offset(i)];
#pragma unroll
        for (int j = 0; j < V; j++)
            x.at[j] = one;
        break;
    }
    default:
#pragma unroll
        for (int j = 0; j < V; j++)
            if (j < n_valid)
                x.at[j] = data[s.at.offset(i + j)];
            else
                x.at[j] = ln_store<T>(0);
    }
}

template <class T, int V>
__device__ __forceinline__ void convert_group(const ln_vec<T, V> &from, float (&x)[V])
{
#pragma unroll
    for (int j = 0; j < V; j++)
        x[j] = ln_load(from.at[j]);
}

template <class T, int V>
__device__ __forceinline__ void write(T *dst, uint32_t i, int n_valid, const float (&x)[V])
{
    if (n_valid == V) {
        ln_store_vec<V>(dst + i, x);
        return;
    }
#pragma unroll
    for (int j = 0; j < V; j++)
        if (j < n_valid)
            dst[i + j] = ln_store<T>(x[j]);
}

// Chains

// The rest of a case: each of the V elements of a becomes `value`, an expression of a[j].
#define EACH_OF(value)                                              \
    {                                                               \
        _Pragma("unroll") for (int j = 0; j < V; j++) a[j] = value; \
        break;                                                      \
    }

// a = func(a). CASE_types makes the case of a function that has floats; WHOLE ones do not.
template <int V>
__device__ __forceinline__ void apply_unary(int func, float alpha, float beta, float (&a)[V])
{
    switch (func) {
#define CASE_WHOLE(NAME, name)
#define CASE_NUM(NAME, name) CASE_FLT(NAME, name)
#define CASE_ALL(NAME, name) CASE_FLT(NAME, name)
#define CASE_FLT(NAME, name) \
    case TL_UNARY_##NAME:    \
        EACH_OF(ln_##name##_of(a[j], alpha, beta))
#define CASE(arg, NAME, name, types, ...) CASE_##types(NAME, name)
        TL_UNARY_FUNCS(CASE, )
#undef CASE
#undef CASE_FLT
    }
}

// Operations of floats: binary_NAME(a, b), by the code of TL_BINARY_OPS, where OF(mod) is mod_of

// The remainder of a / b with the sign of b, also a zero.
__device__ __forceinline__ float mod_of(float a, float b)
{
    const float r = fmodf(a, b);
    if (r == 0)
        return copysignf(r, b);
    return (r < 0) == (b < 0) || r != r ? r : r + b;
}

#define OF(name) name##_of
#define ROW_INT(NAME, name, code)
#define ROW_WHOLE(NAME, name, code)
#define ROW_NUM(NAME, name, code) ROW_FLT(NAME, name, code)
#define ROW_ALL(NAME, name, code) ROW_FLT(NAME, name, code)
#define ROW(arg, NAME, name, types, cost, sets, ...) \
    ROW_##types(NAME, name, (TL_CODE_OF(__VA_ARGS__)))
#define ROW_FLT(NAME, name, code)                                    \
    __device__ __forceinline__ float binary_##name(float a, float b) \
    {                                                                \
        return code;                                                 \
    }
TL_BINARY_OPS(ROW, )
#undef ROW_FLT

// a = a op b
template <int V>
__device__ __forceinline__ void apply_binary(int op, float (&a)[V], const float (&b)[V])
{
    switch (op) {
#define ROW_FLT(NAME, name, code) \
    case TL_BINARY_##NAME:        \
        EACH_OF(binary_##name(a[j], b[j]))
        TL_BINARY_OPS(ROW, )
#undef ROW
#undef ROW_FLT
    }
}

#undef EACH_OF

// slots[slot] = func(src1), or src1 op src2. An operand below TL_CHAIN_SRCS is a source,
// TL_CHAIN_SRCS + k is the result in slot k.
struct step {
    int16_t code, is_unary; // tl_unary_func if is_unary, or tl_binary_op
    int16_t src1, src2, slot;
    float alpha, beta;
};

struct chain {
    source srcs[TL_CHAIN_SRCS];
    step steps[TL_CHAIN_STEPS];
    int n_steps, n_slots;
    uint32_t len, n_groups;
    void *dst;
};

// x = slots[slot]. Registers have no index, so the loop is unrolled into comparisons.
template <int V, int SLOTS>
__device__ __forceinline__ void get_slot(const float (&slots)[SLOTS][V], int slot, float (&x)[V])
{
#pragma unroll
    for (int k = 0; k < SLOTS; k++)
        if (slot == k) {
#pragma unroll
            for (int j = 0; j < V; j++)
                x[j] = slots[k][j];
        }
}

template <int V, int SLOTS>
__device__ __forceinline__ void set_slot(float (&slots)[SLOTS][V], int slot, const float (&x)[V])
{
#pragma unroll
    for (int k = 0; k < SLOTS; k++)
        if (slot == k) {
#pragma unroll
            for (int j = 0; j < V; j++)
                slots[k][j] = x[j];
        }
}

// One step, whose operands are sources.
template <class T, int V>
__global__ void __launch_bounds__(THREADS) run_step(const __grid_constant__ chain c)
{
    ln_begin_early();
    const step &s = c.steps[0];
    for (uint32_t g = blockIdx.x * THREADS + threadIdx.x; g < c.n_groups;
         g += gridDim.x * THREADS) {
        const uint32_t i = g * V;
        const int n_valid = c.len - i < V ? (int)(c.len - i) : V;
        ln_vec<T, V> read1, read2;
        float a[V], b[V];
        read<T, V>(c.srcs[s.src1], i, n_valid, read1);
        if (s.is_unary) {
            convert_group<T, V>(read1, a);
            apply_unary<V>(s.code, s.alpha, s.beta, a);
        } else {
            read<T, V>(c.srcs[s.src2], i, n_valid, read2);
            convert_group<T, V>(read1, a);
            convert_group<T, V>(read2, b);
            apply_binary<V>(s.code, a, b);
        }
        write<T, V>((T *)c.dst, i, n_valid, a);
    }
}

// All steps, for one group at a time; the last result goes to dst.
template <class T, int V, int SLOTS>
__global__ void __launch_bounds__(THREADS) run_chain(const __grid_constant__ chain c)
{
    ln_begin_early();
    for (uint32_t g = blockIdx.x * THREADS + threadIdx.x; g < c.n_groups;
         g += gridDim.x * THREADS) {
        const uint32_t i = g * V;
        const int n_valid = c.len - i < V ? (int)(c.len - i) : V;
        float slots[SLOTS][V] = {}, a[V] = {}, b[V] = {};
#pragma unroll 1
        for (int k = 0; k < c.n_steps; k++) {
            const step &s = c.steps[k];
            const int is_read1 = s.src1 < TL_CHAIN_SRCS;
            const int is_read2 = !s.is_unary && s.src2 < TL_CHAIN_SRCS;
            ln_vec<T, V> read1, read2;
            if (is_read1)
                read<T, V>(c.srcs[s.src1], i, n_valid, read1);
            if (is_read2)
                read<T, V>(c.srcs[s.src2], i, n_valid, read2);
            if (is_read1)
                convert_group<T, V>(read1, a);
            else
                get_slot<V, SLOTS>(slots, s.src1 - TL_CHAIN_SRCS, a);
            if (is_read2)
                convert_group<T, V>(read2, b);
            else if (!s.is_unary)
                get_slot<V, SLOTS>(slots, s.src2 - TL_CHAIN_SRCS, b);
            if (s.is_unary)
                apply_unary<V>(s.code, s.alpha, s.beta, a);
            else
                apply_binary<V>(s.code, a, b);
            set_slot<V, SLOTS>(slots, s.slot, a);
        }
        write<T, V>((T *)c.dst, i, n_valid, a);
    }
}

// The last step that reads an operand; -1: none does.
int last_reader(const tl_chain_step *steps, int n_steps, int operand)
{
    for (int i = n_steps - 1; i >= 0; i--)
        if (steps[i].src1 == operand ||
            (steps[i].func == TL_UNARY_FUNC_INVALID && steps[i].src2 == operand))
            return i;
    return -1;
}

// Assigns each result a slot, free again when its last reader has run, as tl_chain_check counts.
void fill_steps(chain *c, int n_srcs, const tl_chain_step *steps, int n_steps)
{
    int until[TL_CHAIN_RESULTS] = {0};
    c->n_steps = n_steps;
    c->n_slots = 1;
    for (int i = 0; i < n_steps; i++) {
        const tl_chain_step *const from = &steps[i];
        step *const to = &c->steps[i];
        const auto operand_of = [&](int operand) {
            return (int16_t)(operand < n_srcs ? operand
                                              : TL_CHAIN_SRCS + c->steps[operand - n_srcs].slot);
        };
        to->is_unary = from->func != TL_UNARY_FUNC_INVALID;
        to->code = (int16_t)(to->is_unary ? (int)from->func : (int)from->op);
        to->src1 = operand_of(from->src1);
        to->src2 = to->is_unary ? (int16_t)0 : operand_of(from->src2);
        to->alpha = (float)from->alpha;
        to->beta = (float)from->beta;
        while (to->slot < TL_CHAIN_RESULTS - 1 && until[to->slot] > i)
            to->slot++;
        until[to->slot] = last_reader(steps, n_steps, n_srcs + i);
        c->n_slots = std::max(c->n_slots, to->slot + 1);
    }
}

template <class T, int V> int launch_chain(cudaStream_t stream, const chain *c)
{
    const unsigned blocks = ln_cuda_blocks(c->n_groups, THREADS);
    if (c->n_steps == 1)
        ln_cuda_launch_early(run_step<T, V>, blocks, THREADS, 0, stream, *c);
    else if (c->n_slots == 1)
        ln_cuda_launch_early(run_chain<T, V, 1>, blocks, THREADS, 0, stream, *c);
    else if (c->n_slots == 2)
        ln_cuda_launch_early(run_chain<T, V, 2>, blocks, THREADS, 0, stream, *c);
    else
        ln_cuda_launch_early(run_chain<T, V, TL_CHAIN_RESULTS>, blocks, THREADS, 0, stream, *c);
    return ln_cuda_launched("chain");
}

} // namespace

int ln_cuda_has_chain(int n_srcs, const tl_chain_step *steps, int n_steps)
{
    return tl_chain_check(steps, n_steps, n_srcs) == 0;
}

int ln_cuda_chain(ln_cuda_stream stream, const tl_tensor *const *srcs, int n_srcs, tl_tensor *dst,
                  const tl_chain_step *steps, int n_steps)
{
    if (tl_chain_check(steps, n_steps, n_srcs) < 0)
        return -1;
    if (dst->len == 0)
        return 0;
    return ln_cuda_of_float(dst->dtype, "chain", [&](auto zero) {
        using T = decltype(zero);
        const int v = ln_is_aligned(dst->data, 16) ? ln_width<T> : 1;
        chain c = {};
        for (int i = 0; i < n_srcs; i++)
            c.srcs[i] = source_of(srcs[i], dst->ndim - srcs[i]->ndim, dst, v);
        fill_steps(&c, n_srcs, steps, n_steps);
        c.dst = dst->data;
        c.len = (uint32_t)dst->len;
        c.n_groups = (c.len + v - 1) / v;
        return v == 1 ? launch_chain<T, 1>(stream, &c) : launch_chain<T, ln_width<T>>(stream, &c);
    });
}

// After a convolution or product

namespace
{

struct epilogue {
    source bias, addend;
    int has_bias, has_addend;
    tl_activation act;
    uint32_t len, n_groups;
    void *dst;
};

template <class T, int V>
__global__ void __launch_bounds__(THREADS) run_epilogue(const __grid_constant__ epilogue e)
{
    ln_begin_early();
    T *const dst = (T *)e.dst;
    for (uint32_t g = blockIdx.x * THREADS + threadIdx.x; g < e.n_groups;
         g += gridDim.x * THREADS) {
        const uint32_t i = g * V;
        const int n_valid = e.len - i < V ? (int)(e.len - i) : V;
        ln_vec<T, V> from, bias, addend;
        float x[V], y[V];
        if (n_valid == V) {
            from = *reinterpret_cast<const ln_vec<T, V> *>(dst + i);
        } else {
#pragma unroll
            for (int j = 0; j < V; j++)
                if (j < n_valid)
                    from.at[j] = dst[i + j];
                else
                    from.at[j] = ln_store<T>(0);
        }
        if (e.has_addend)
            read<T, V>(e.addend, i, n_valid, addend);
        if (e.has_bias)
            read<T, V>(e.bias, i, n_valid, bias);
        convert_group<T, V>(from, x);
        if (e.has_bias) {
            convert_group<T, V>(bias, y);
#pragma unroll
            for (int j = 0; j < V; j++)
                x[j] += y[j];
        }
        if (e.has_addend) {
            convert_group<T, V>(addend, y);
#pragma unroll
            for (int j = 0; j < V; j++)
                x[j] += y[j];
        }
        ln_act_all<V>(x, e.act);
        write<T, V>(dst, i, n_valid, x);
    }
}

} // namespace

int ln_cuda_epilogue(ln_cuda_stream stream, const tl_tensor *bias, const tl_tensor *addend,
                     tl_tensor *dst, int axis, tl_activation act)
{
    if (dst->len == 0 || (!bias && !addend && act.act == TL_ACT_NONE))
        return 0;
    return ln_cuda_of_float(dst->dtype, "epilogue", [&](auto zero) {
        using T = decltype(zero);
        const int v = ln_is_aligned(dst->data, 16) ? ln_width<T> : 1;
        epilogue e = {};
        if (bias) {
            int dims[] = {bias->len};
            tl_tensor line = *bias;
            line.ndim = 1;
            line.dims = dims;
            e.bias = source_of(&line, axis, dst, v);
        }
        if (addend)
            e.addend = source_of(addend, 0, dst, v);
        e.has_bias = bias != NULL;
        e.has_addend = addend != NULL;
        e.act = act;
        e.dst = dst->data;
        e.len = (uint32_t)dst->len;
        e.n_groups = (e.len + v - 1) / v;
        const unsigned blocks = ln_cuda_blocks(e.n_groups, THREADS);
        if (v == 1)
            ln_cuda_launch_early(run_epilogue<T, 1>, blocks, THREADS, 0, stream, e);
        else
            ln_cuda_launch_early(run_epilogue<T, ln_width<T>>, blocks, THREADS, 0, stream, e);
        return ln_cuda_launched("epilogue");
    });
}

// Moves of unchanged elements

namespace
{

struct move {
    const void *src;
    void *dst;
    uint32_t len;
    int n;
    ln_divisor dims[TL_MAXDIM];
    int strides[2][TL_MAXDIM]; // of src and dst
};

template <class T>
__global__ void __launch_bounds__(THREADS) run_move(const __grid_constant__ move m)
{
    const T *const src = (const T *)m.src;
    T *const dst = (T *)m.dst;
    for (uint32_t g = blockIdx.x * THREADS + threadIdx.x; g < m.len; g += gridDim.x * THREADS) {
        uint32_t i = g;
        int from = 0, to = 0;
#pragma unroll 1
        for (int k = m.n - 1; k > 0; k--) {
            const uint32_t q = m.dims[k].quotient(i);
            const int at = (int)(i - q * m.dims[k].d);
            from += at * m.strides[0][k];
            to += at * m.strides[1][k];
            i = q;
        }
        dst[to + (int)i * m.strides[1][0]] = src[from + (int)i * m.strides[0][0]];
    }
}

// Makes lines that are contiguous in both tensors ones of larger elements, of up to 16 bytes, if
// lengths, strides and addresses allow that. Returns the size of an element, in bytes.
int widen(axes_of *a, const void *src, const void *dst, int size)
{
    const int last = a->n - 1;
    int width = a->strides[0][last] == 1 && a->strides[1][last] == 1 ? 16 : size;
    for (; width > size; width /= 2) {
        const int factor = width / size;
        int can =
            a->dims[last] % factor == 0 && ln_is_aligned(src, width) && ln_is_aligned(dst, width);
        for (int i = 0; i < last; i++)
            can = can && a->strides[0][i] % factor == 0 && a->strides[1][i] % factor == 0;
        if (can)
            break;
    }
    a->dims[last] /= width / size;
    for (int i = 0; i < last; i++)
        for (int k = 0; k < 2; k++)
            a->strides[k][i] /= width / size;
    return width;
}

// dst[i . strides[1]] = src[i . strides[0]] for all indices i in dims, where "." is the dot
// product, of elements of `size` bytes.
int move_elements(cudaStream_t stream, const void *src, void *dst, int size, axes_of a)
{
    collapse(&a);
    const int width = widen(&a, src, dst, size);
    move m = {};
    m.src = src;
    m.dst = dst;
    m.len = (uint32_t)length_of(&a);
    m.n = a.n;
    for (int i = 0; i < a.n; i++) {
        m.dims[i] = ln_divisor(a.dims[i]);
        m.strides[0][i] = a.strides[0][i];
        m.strides[1][i] = a.strides[1][i];
    }
    const unsigned blocks = ln_cuda_blocks(m.len, THREADS);
    if (width == 16) {
        run_move<uint4><<<blocks, THREADS, 0, stream>>>(m);
        return ln_cuda_launched("move");
    }
    return ln_cuda_of_size((size_t)width, "move", [&](auto zero) {
        run_move<decltype(zero)><<<blocks, THREADS, 0, stream>>>(m);
        return ln_cuda_launched("move");
    });
}

} // namespace

int ln_cuda_copy_region(ln_cuda_stream stream, const tl_tensor *src, const int *from,
                        const int *step, const int *dims, tl_tensor *dst, const int *to)
{
    axes_of a = {};
    int strides[2][TL_MAXDIM];
    int64_t begin[2] = {0, 0};
    fill_strides(src->ndim, src->dims, strides[0]);
    fill_strides(src->ndim, dst->dims, strides[1]);
    a.n = src->ndim;
    for (int i = 0; i < a.n; i++) {
        if (dims[i] == 0)
            return 0;
        a.dims[i] = dims[i];
        a.strides[0][i] = dims[i] > 1 ? strides[0][i] * step[i] : 0;
        a.strides[1][i] = strides[1][i];
        begin[0] += (int64_t)from[i] * strides[0][i];
        begin[1] += (int64_t)to[i] * strides[1][i];
    }
    return move_elements(stream, tl_pointer_add(src->data, (ptrdiff_t)begin[0], src->dtype),
                         tl_pointer_add(dst->data, (ptrdiff_t)begin[1], dst->dtype),
                         (int)tl_size_of(src->dtype), a);
}

// Interleaving

namespace
{

// dst has n pairs, `half` of them in a line; lines of the sources have `len` elements.
template <class T>
__global__ void __launch_bounds__(THREADS)
    interleave(const T *src1, const T *src2, ln_vec<T, 2> *dst, uint32_t n, ln_divisor half,
               int len)
{
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        uint32_t column = i;
        const uint32_t line = half.divide(column);
        const size_t at = (size_t)line * len + column;
        dst[i] = {src1[at], src2[at]};
    }
}

} // namespace

int ln_cuda_interleave(ln_cuda_stream stream, const tl_tensor *src1, const tl_tensor *src2,
                       tl_tensor *dst, int first)
{
    const int len = src1->dims[src1->ndim - 1], half = dst->dims[dst->ndim - 1] / 2;
    const uint32_t n = (uint32_t)dst->len / 2;
    if (n == 0)
        return 0;
    return ln_cuda_of_size(tl_size_of(dst->dtype), "interleave", [&](auto zero) {
        using T = decltype(zero);
        interleave<T><<<ln_cuda_blocks(n, THREADS), THREADS, 0, stream>>>(
            (const T *)src1->data + first, (const T *)src2->data + first, (ln_vec<T, 2> *)dst->data,
            n, ln_divisor(half), len);
        return ln_cuda_launched("interleave");
    });
}

// Conversions

namespace
{

// Conversion to another float; of the same type, unchanged.
template <class S, class D> struct cast {
    static __device__ __forceinline__ D of(S x)
    {
        return ln_store<D>(ln_load(x));
    }
};

template <class T> struct cast<T, T> {
    static __device__ __forceinline__ T of(T x)
    {
        return x;
    }
};

// Converts elements in dst's order, V at a time, which are adjacent and aligned in src, too.
template <class S, class D, int V>
__global__ void __launch_bounds__(THREADS)
    convert_each(const S *src, D *dst, uint32_t n_groups, const __grid_constant__ walk at)
{
    for (uint32_t g = blockIdx.x * THREADS + threadIdx.x; g < n_groups; g += gridDim.x * THREADS) {
        const uint32_t i = g * V;
        const ln_vec<S, V> x = *reinterpret_cast<const ln_vec<S, V> *>(src + at.offset(i));
        ln_vec<D, V> y;
#pragma unroll
        for (int j = 0; j < V; j++)
            y.at[j] = cast<S, D>::of(x.at[j]);
        *reinterpret_cast<ln_vec<D, V> *>(dst + i) = y;
    }
}

// Exchanges the axis that is last in src, of `n_src`, and the one that is last in dst, of `n_dst`.
// A block reads a tile along the former to shared memory, and writes it along the latter.
struct transpose {
    int n_src, n_dst;
    int src_stride; // of the axis last in dst, in src
    int dst_stride; // of the axis last in src, in dst
    ln_divisor tiles_src, tiles_dst;
    int n; // the other axes
    ln_divisor dims[TL_MAXDIM];
    int strides[2][TL_MAXDIM];
};

enum { TILE_ROWS = 8 };

template <class S, class D, int TILE>
__global__ void __launch_bounds__(32 * TILE_ROWS)
    run_transpose(const S *src, D *dst, const __grid_constant__ transpose t)
{
    // The padding keeps the elements of a column in different banks.
    constexpr int PAD = sizeof(S) < 4 ? 4 / sizeof(S) : 1;
    __shared__ S tile[TILE][TILE + PAD];
    uint32_t b = blockIdx.x;
    uint32_t q = t.tiles_src.quotient(b);
    const int src0 = (int)(b - q * t.tiles_src.d) * TILE;
    b = q;
    q = t.tiles_dst.quotient(b);
    const int dst0 = (int)(b - q * t.tiles_dst.d) * TILE;
    for (int k = t.n - 1; k >= 0; k--) {
        const uint32_t rest = t.dims[k].quotient(q);
        const int at = (int)(q - rest * t.dims[k].d);
        src += at * t.strides[0][k];
        dst += at * t.strides[1][k];
        q = rest;
    }
#pragma unroll
    for (int y = 0; y < TILE; y += TILE_ROWS)
#pragma unroll
        for (int x = 0; x < TILE; x += 32) {
            const int row = y + threadIdx.y, column = x + threadIdx.x;
            if (dst0 + row < t.n_dst && src0 + column < t.n_src)
                tile[row][column] = src[(dst0 + row) * t.src_stride + src0 + column];
        }
    __syncthreads();
#pragma unroll
    for (int y = 0; y < TILE; y += TILE_ROWS)
#pragma unroll
        for (int x = 0; x < TILE; x += 32) {
            const int row = y + threadIdx.y, column = x + threadIdx.x;
            if (src0 + row < t.n_src && dst0 + column < t.n_dst)
                dst[(src0 + row) * t.dst_stride + dst0 + column] =
                    cast<S, D>::of(tile[column][row]);
        }
}

// The axis of `a`, other than the last, that is last in src; -1: there is none, or it or the last
// axis is too short for tiles.
int transposed_axis(const axes_of *a)
{
    enum { MIN_LEN = 16 }; // below, most of a tile would be idle
    for (int i = 0; i < a->n - 1; i++)
        if (a->strides[0][i] == 1)
            return a->dims[i] >= MIN_LEN && a->dims[a->n - 1] >= MIN_LEN ? i : -1;
    return -1;
}

template <class S, class D>
int launch_transpose(cudaStream_t stream, const S *src, D *dst, const axes_of *a, int axis)
{
    constexpr int TILE = sizeof(S) <= 2 && sizeof(D) <= 2 ? 64 : 32;
    const int last = a->n - 1;
    transpose t = {};
    t.n_src = a->dims[axis];
    t.n_dst = a->dims[last];
    t.src_stride = a->strides[0][last];
    t.dst_stride = a->strides[1][axis];
    int64_t blocks = 1;
    for (int i = 0; i < last; i++) {
        if (i == axis)
            continue;
        t.dims[t.n] = ln_divisor(a->dims[i]);
        t.strides[0][t.n] = a->strides[0][i];
        t.strides[1][t.n] = a->strides[1][i];
        t.n++;
        blocks *= a->dims[i];
    }
    t.tiles_src = ln_divisor((t.n_src + TILE - 1) / TILE);
    t.tiles_dst = ln_divisor((t.n_dst + TILE - 1) / TILE);
    blocks *= (int64_t)t.tiles_src.d * t.tiles_dst.d;
    run_transpose<S, D, TILE><<<(unsigned)blocks, dim3(32, TILE_ROWS), 0, stream>>>(src, dst, t);
    return ln_cuda_launched("transpose");
}

// Between floats of 16 and 32 bits; `a` is collapsed.
template <class S, class D>
int launch_cast(cudaStream_t stream, const S *src, D *dst, const axes_of *a)
{
    constexpr int V = 4;
    const int last = a->n - 1, axis = transposed_axis(a);
    if (axis >= 0)
        return launch_transpose<S, D>(stream, src, dst, a, axis);
    const uint32_t len = (uint32_t)length_of(a);
    const walk at = walk_of(a, 0);
    // Whole groups that are adjacent in src, too, and begin at multiples of V.
    int is_wide = a->strides[0][last] == 1 && a->dims[last] % V == 0 &&
                  ln_is_aligned(src, V * sizeof(S)) && ln_is_aligned(dst, V * sizeof(D));
    for (int i = 0; i < last; i++)
        is_wide = is_wide && a->strides[0][i] % V == 0;
    const uint32_t n = is_wide ? len / V : len;
    const unsigned blocks = ln_cuda_blocks(n, THREADS);
    if (is_wide)
        convert_each<S, D, V><<<blocks, THREADS, 0, stream>>>(src, dst, n, at);
    else
        convert_each<S, D, 1><<<blocks, THREADS, 0, stream>>>(src, dst, n, at);
    return ln_cuda_launched("convert");
}

// From any type to any: by way of double, int64_t or uint64_t, as in tl_convert.h

// Rounds toward zero, and sets the lowest bit if that is inexact: so a second rounding, to 16 bits,
// never sees a tie where the exact value is none.
__device__ __forceinline__ float float_round_to_odd(double value)
{
    const float nearest = __double2float_rn(value);
    if ((double)nearest == value || value != value)
        return nearest;
    const unsigned is_away = fabs((double)nearest) > fabs(value);
    return __uint_as_float((__float_as_uint(nearest) - is_away) | 1);
}

__device__ __forceinline__ double double_round_to_odd(uint64_t value)
{
    if (value < (uint64_t)1 << 53)
        return (double)value;
    const uint64_t cut = value & 0x7ff; // the 11 of 64 bits that a double may lack
    return (double)((value - cut) | (uint64_t)(cut != 0) << 11);
}

__device__ __forceinline__ float float_of_uint(uint64_t value)
{
    return float_round_to_odd(double_round_to_odd(value));
}

// Truncated and saturated; NaN is 0.
template <class D> __device__ __forceinline__ D integer_of(double value, D lowest, D highest)
{
    if (value != value)
        return 0;
    if (value <= (double)lowest)
        return lowest;
    return value >= (double)highest ? highest : (D)value;
}

__device__ __forceinline__ void store_double(void *dst, tl_dtype dtype, uint32_t i, double x)
{
    switch (dtype) {
    case TL_DOUBLE:
        ((double *)dst)[i] = x;
        break;
    case TL_FLOAT:
        ((float *)dst)[i] = __double2float_rn(x);
        break;
    case TL_FLOAT16:
        ((__half *)dst)[i] = __float2half_rn(float_round_to_odd(x));
        break;
    case TL_BFLOAT16:
        ((__nv_bfloat16 *)dst)[i] = __float2bfloat16_rn(float_round_to_odd(x));
        break;
    case TL_INT8:
        ((int8_t *)dst)[i] = integer_of<int8_t>(x, INT8_MIN, INT8_MAX);
        break;
    case TL_INT16:
        ((int16_t *)dst)[i] = integer_of<int16_t>(x, INT16_MIN, INT16_MAX);
        break;
    case TL_INT32:
        ((int32_t *)dst)[i] = integer_of<int32_t>(x, INT32_MIN, INT32_MAX);
        break;
    case TL_INT64:
        ((int64_t *)dst)[i] = integer_of<int64_t>(x, INT64_MIN, INT64_MAX);
        break;
    case TL_UINT8:
        ((uint8_t *)dst)[i] = integer_of<uint8_t>(x, 0, UINT8_MAX);
        break;
    case TL_UINT16:
        ((uint16_t *)dst)[i] = integer_of<uint16_t>(x, 0, UINT16_MAX);
        break;
    case TL_UINT32:
        ((uint32_t *)dst)[i] = integer_of<uint32_t>(x, 0, UINT32_MAX);
        break;
    case TL_UINT64:
        ((uint64_t *)dst)[i] = integer_of<uint64_t>(x, 0, UINT64_MAX);
        break;
    default:
        ((uint8_t *)dst)[i] = x != 0;
    }
}

// `bits` are those of an int64_t, or of a uint64_t.
__device__ __forceinline__ void store_integer(void *dst, tl_dtype dtype, uint32_t i, uint64_t bits,
                                              int is_signed)
{
    const int is_negative = is_signed && (int64_t)bits < 0;
    const float narrow = is_negative ? -float_of_uint(0 - bits) : float_of_uint(bits);
    switch (dtype) {
    case TL_DOUBLE:
        ((double *)dst)[i] = is_signed ? (double)(int64_t)bits : (double)bits;
        break;
    case TL_FLOAT:
        ((float *)dst)[i] = is_signed ? (float)(int64_t)bits : (float)bits;
        break;
    case TL_FLOAT16:
        ((__half *)dst)[i] = __float2half_rn(narrow);
        break;
    case TL_BFLOAT16:
        ((__nv_bfloat16 *)dst)[i] = __float2bfloat16_rn(narrow);
        break;
    case TL_INT8:
    case TL_UINT8:
        ((uint8_t *)dst)[i] = (uint8_t)bits;
        break;
    case TL_INT16:
    case TL_UINT16:
        ((uint16_t *)dst)[i] = (uint16_t)bits;
        break;
    case TL_INT32:
    case TL_UINT32:
        ((uint32_t *)dst)[i] = (uint32_t)bits;
        break;
    case TL_INT64:
    case TL_UINT64:
        ((uint64_t *)dst)[i] = bits;
        break;
    default:
        ((uint8_t *)dst)[i] = bits != 0;
    }
}

__global__ void __launch_bounds__(THREADS)
    convert_any(const void *src, tl_dtype from, void *dst, tl_dtype to, uint32_t len,
                const __grid_constant__ walk at)
{
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < len; i += gridDim.x * THREADS) {
        const int k = at.offset(i);
        double x = 0;
        uint64_t bits = 0;
        int is_float = 0, is_signed = 1;
        switch (from) {
        case TL_DOUBLE:
            x = ((const double *)src)[k], is_float = 1;
            break;
        case TL_FLOAT:
            x = (double)((const float *)src)[k], is_float = 1;
            break;
        case TL_FLOAT16:
            x = (double)ln_load(((const __half *)src)[k]), is_float = 1;
            break;
        case TL_BFLOAT16:
            x = (double)ln_load(((const __nv_bfloat16 *)src)[k]), is_float = 1;
            break;
        case TL_INT8:
            bits = (uint64_t)(int64_t)((const int8_t *)src)[k];
            break;
        case TL_INT16:
            bits = (uint64_t)(int64_t)((const int16_t *)src)[k];
            break;
        case TL_INT32:
            bits = (uint64_t)(int64_t)((const int32_t *)src)[k];
            break;
        case TL_INT64:
            bits = ((const uint64_t *)src)[k];
            break;
        case TL_UINT16:
            bits = ((const uint16_t *)src)[k], is_signed = 0;
            break;
        case TL_UINT32:
            bits = ((const uint32_t *)src)[k], is_signed = 0;
            break;
        case TL_UINT64:
            bits = ((const uint64_t *)src)[k], is_signed = 0;
            break;
        default: // TL_UINT8, TL_BOOL
            bits = ((const uint8_t *)src)[k], is_signed = 0;
        }
        if (is_float)
            store_double(dst, to, i, x);
        else
            store_integer(dst, to, i, bits, is_signed);
    }
}

int is_narrow_float(tl_dtype dtype)
{
    return dtype == TL_FLOAT || dtype == TL_FLOAT16 || dtype == TL_BFLOAT16;
}

// The same type: elements move unchanged.
int permute(cudaStream_t stream, const tl_tensor *src, tl_tensor *dst, const axes_of *a)
{
    const size_t size = tl_size_of(src->dtype);
    const int axis = transposed_axis(a);
    if (axis < 0)
        return move_elements(stream, src->data, dst->data, (int)size, *a);
    return ln_cuda_of_size(size, "transpose", [&](auto zero) {
        using T = decltype(zero);
        return launch_transpose<T, T>(stream, (const T *)src->data, (T *)dst->data, a, axis);
    });
}

} // namespace

int ln_cuda_convert(ln_cuda_stream stream, const tl_tensor *src, const int *axes, tl_tensor *dst)
{
    if (dst->len == 0)
        return 0;
    axes_of a = {};
    int strides[TL_MAXDIM];
    fill_strides(src->ndim, src->dims, strides);
    a.n = src->ndim;
    for (int i = 0; i < a.n; i++) {
        const int axis = axes ? axes[i] : i;
        a.dims[i] = src->dims[axis];
        a.strides[0][i] = strides[axis];
    }
    fill_strides(a.n, a.dims, a.strides[1]);
    collapse(&a);
    if (src->dtype == dst->dtype)
        return permute(stream, src, dst, &a);
    if (is_narrow_float(src->dtype) && is_narrow_float(dst->dtype))
        return ln_cuda_of_float(src->dtype, "convert", [&](auto from) {
            return ln_cuda_of_float(dst->dtype, "convert", [&](auto to) {
                using S = decltype(from);
                using D = decltype(to);
                if constexpr (std::is_same<S, D>::value)
                    return 0; // done above; makes no kernels
                else
                    return launch_cast<S, D>(stream, (const S *)src->data, (D *)dst->data, &a);
            });
        });
    convert_any<<<ln_cuda_blocks(dst->len, THREADS), THREADS, 0, stream>>>(
        src->data, src->dtype, dst->data, dst->dtype, (uint32_t)dst->len, walk_of(&a, 0));
    return ln_cuda_launched("convert");
}

// Elements picked by index

namespace
{

struct take {
    const void *src, *index;
    void *dst;
    uint32_t len;
    int dim;                    // of the axis
    ln_divisor n_indices, line; // line: elements that an index selects
};

template <class T, class I>
__global__ void __launch_bounds__(THREADS) run_take(const __grid_constant__ take t)
{
    ln_begin_early();
    const T *const src = (const T *)t.src;
    const I *const index = (const I *)t.index;
    for (uint32_t g = blockIdx.x * THREADS + threadIdx.x; g < t.len; g += gridDim.x * THREADS) {
        const uint32_t row = t.line.quotient(g), column = g - row * t.line.d;
        const uint32_t outer = t.n_indices.quotient(row);
        int64_t at = (int64_t)index[row - outer * t.n_indices.d];
        at = at < 0 ? at + t.dim : at;
        at = at < 0 ? 0 : at < t.dim ? at : t.dim - 1;
        ((T *)t.dst)[g] = src[((size_t)outer * t.dim + (size_t)at) * t.line.d + column];
    }
}

template <class T> int launch_take(cudaStream_t stream, const take *t, tl_dtype index)
{
    const unsigned blocks = ln_cuda_blocks(t->len, THREADS);
    if (index == TL_INT64)
        ln_cuda_launch_early(run_take<T, int64_t>, blocks, THREADS, 0, stream, *t);
    else
        ln_cuda_launch_early(run_take<T, int32_t>, blocks, THREADS, 0, stream, *t);
    return ln_cuda_launched("take");
}

} // namespace

int ln_cuda_take(ln_cuda_stream stream, const tl_tensor *src, const tl_tensor *index,
                 tl_tensor *dst, int axis)
{
    if (dst->len == 0)
        return 0;
    if (index->dtype != TL_INT32 && index->dtype != TL_INT64)
        return tl_fail("CUDA kernel take: index has dtype %s, expected TL_INT32 or TL_INT64",
                       tl_dtype_name(index->dtype));
    if (src->dims[axis] == 0)
        return tl_fail("CUDA kernel take: axis %d has length 0, expected 1 or more", axis);
    const int size = (int)tl_size_of(src->dtype);
    int line = 1;
    for (int i = axis + 1; i < src->ndim; i++)
        line *= src->dims[i];
    axes_of a = {};
    a.n = 1;
    a.dims[0] = line;
    a.strides[0][0] = a.strides[1][0] = 1;
    const int width = widen(&a, src->data, dst->data, size);
    take t = {};
    t.src = src->data;
    t.index = index->data;
    t.dst = dst->data;
    t.len = (uint32_t)(dst->len / (width / size));
    t.dim = src->dims[axis];
    t.n_indices = ln_divisor(index->len);
    t.line = ln_divisor(a.dims[0]);
    if (width == 16)
        return launch_take<uint4>(stream, &t, index->dtype);
    return ln_cuda_of_size((size_t)width, "take", [&](auto zero) {
        return launch_take<decltype(zero)>(stream, &t, index->dtype);
    });
}
