// SPDX-License-Identifier: Apache-2.0
// A kernel of any convolution, for those that no library has a kernel for. It is slow: each thread
// reads all that one element of dst depends on.

#include "arch/cuda/ln_cuda_common.cuh"

namespace
{

// Steps from one index of an axis to the next, in elements.
struct steps {
    int64_t image, channel, row, column;
};

struct direct {
    const void *src, *weight, *bias, *addend; // addend: or NULL
    void *dst;
    int64_t n;                     // elements of dst
    int h, w, group_in, group_out; // channels of src and of dst in a group
    int oc, oh, ow;
    steps in, taps; // taps.image: from one channel of dst to the next
    int is_nhwc;
    int size[2], stride[2], dilation[2], padding[2];
    tl_activation act;
};

enum { DIRECT_THREADS = 128 };

// The indices of element `i` of dst.
struct place {
    int image, channel, y, x;
};

__device__ place place_of(const direct &d, int64_t i)
{
    place p;
    if (d.is_nhwc) {
        p.channel = (int)(i % d.oc);
        i /= d.oc;
    }
    p.x = (int)(i % d.ow);
    i /= d.ow;
    p.y = (int)(i % d.oh);
    i /= d.oh;
    if (!d.is_nhwc) {
        p.channel = (int)(i % d.oc);
        i /= d.oc;
    }
    p.image = (int)i;
    return p;
}

// The sum of src times weight over the window and the group of p's channel; padding adds nothing.
template <class T> __device__ float window_sum(const direct &d, const place &p)
{
    const T *const src = (const T *)d.src + p.image * d.in.image +
                         (int64_t)(p.channel / d.group_out) * d.group_in * d.in.channel;
    const T *const weight = (const T *)d.weight + p.channel * d.taps.image;
    const int y0 = p.y * d.stride[0] - d.padding[0], x0 = p.x * d.stride[1] - d.padding[1];
    float sum = 0;
    for (int ky = 0; ky < d.size[0]; ky++) {
        const int y = y0 + ky * d.dilation[0];
        if (y < 0 || y >= d.h)
            continue;
        for (int kx = 0; kx < d.size[1]; kx++) {
            const int x = x0 + kx * d.dilation[1];
            if (x < 0 || x >= d.w)
                continue;
            const T *const a = src + y * d.in.row + x * d.in.column;
            const T *const b = weight + ky * d.taps.row + kx * d.taps.column;
            for (int c = 0; c < d.group_in; c++)
                sum += ln_load(a[c * d.in.channel]) * ln_load(b[c * d.taps.channel]);
        }
    }
    return sum;
}

template <class T>
__global__ void __launch_bounds__(DIRECT_THREADS) direct_conv(const __grid_constant__ direct d)
{
    const int64_t step = (int64_t)gridDim.x * DIRECT_THREADS;
    for (int64_t i = (int64_t)blockIdx.x * DIRECT_THREADS + threadIdx.x; i < d.n; i += step) {
        const place p = place_of(d, i);
        float x = window_sum<T>(d, p) + ln_load(((const T *)d.bias)[p.channel]);
        if (d.addend)
            x += ln_load(((const T *)d.addend)[i]);
        ((T *)d.dst)[i] = ln_store<T>(ln_act(x, d.act));
    }
}

steps steps_of(const tl_tensor *t, int is_nhwc)
{
    const int64_t b = t->dims[1], c = t->dims[2], e = t->dims[3];
    return is_nhwc ? steps{b * c * e, 1, c * e, e} : steps{b * c * e, c * e, e, 1};
}

} // namespace

int ln_cuda_direct_conv(ln_cuda_stream stream, const tl_tensor *src, const tl_tensor *weight,
                        const tl_tensor *bias, const tl_tensor *addend, tl_tensor *dst,
                        const tl_conv2d_param *param, int is_nhwc)
{
    if (dst->len == 0)
        return 0;
    const int first = is_nhwc ? 1 : 2, channels = is_nhwc ? 3 : 1; // axes
    direct d = {};
    d.src = src->data;
    d.weight = weight->data;
    d.bias = bias->data;
    d.addend = addend ? addend->data : NULL;
    d.dst = dst->data;
    d.n = dst->len;
    d.h = src->dims[first];
    d.w = src->dims[first + 1];
    d.oc = dst->dims[channels];
    d.oh = dst->dims[first];
    d.ow = dst->dims[first + 1];
    d.group_in = src->dims[channels] / param->group;
    d.group_out = d.oc / param->group;
    d.in = steps_of(src, is_nhwc);
    d.taps = steps_of(weight, is_nhwc);
    d.is_nhwc = is_nhwc;
    for (int i = 0; i < 2; i++) {
        d.size[i] = param->size[i];
        d.stride[i] = param->stride[i];
        d.dilation[i] = param->dilation[i];
        d.padding[i] = param->padding[i];
    }
    d.act = param->act;
    return ln_cuda_of_float(src->dtype, "direct", [&](auto zero) {
        direct_conv<decltype(zero)>
            <<<ln_cuda_blocks(d.n, DIRECT_THREADS), DIRECT_THREADS, 0, stream>>>(d);
        return ln_cuda_launched("direct");
    });
}
