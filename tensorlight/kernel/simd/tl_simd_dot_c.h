// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes in plain C: see tl_simd_dot.h.

#pragma once

#include "kernel/simd/tl_simd_c.h"

#define TL_VS_REGISTERS 1
#define TL_VX_OFFSET    0
#define TL_VX_PARTS     1
#define TL_VX_BYTES     1

typedef uint32_t tl_vs __attribute__((vector_size(16)));

/** Value k of each lane is next to those of the other lanes. */
typedef struct tl_vw {
    int16_t v[4][TL_VF_LANES];
} tl_vw;

typedef struct tl_vx {
    int16_t v[4];
} tl_vx;

static inline tl_vx tl_vx_load(const uint8_t *p, const int part)
{
    (void)part;
    return (tl_vx){{p[0], p[1], p[2], p[3]}};
}

static inline tl_vx tl_vx_opaque(tl_vx x)
{
    __asm__("" : "+m"(x));
    return x;
}

static inline tl_vw tl_vw_load(const int8_t *p, const int part)
{
    (void)part;
    tl_vw w;
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < TL_VF_LANES; i++)
            w.v[k][i] = p[4 * i + k];
    return w;
}

static inline tl_vs tl_vs_begin(const uint32_t *start)
{
    tl_vs s;
    memcpy(&s, start, sizeof(s));
    return s;
}

static inline tl_vs tl_vs_add(tl_vs s, tl_vx x, tl_vw w)
{
    for (int i = 0; i < TL_VF_LANES; i++) {
        int sum = 0;
        for (int k = 0; k < 4; k++)
            sum += x.v[k] * w.v[k][i];
        s[i] += (uint32_t)sum;
    }
    return s;
}

static inline void tl_vs_store(uint32_t *p, tl_vs s, const uint32_t *start)
{
    (void)start;
    memcpy(p, &s, sizeof(s));
}

static inline tl_vf tl_vf_of_sums(tl_vs s, const uint32_t *start)
{
    (void)start;
    tl_vf v;
    for (int i = 0; i < TL_VF_LANES; i++)
        v[i] = (float)(int32_t)s[i];
    return v;
}

enum { TL_VB_VECTORS = 4 };

typedef struct tl_vb {
    uint8_t v[TL_VB_VECTORS * TL_VF_LANES];
} tl_vb;

static inline tl_vb tl_vb_of(const tl_vf v[TL_VB_VECTORS], int zero)
{
    tl_vb b;
    for (int i = 0; i < TL_VB_VECTORS * TL_VF_LANES; i++) {
        const float x = rintf(v[i / TL_VF_LANES][i % TL_VF_LANES]) + (float)zero;
        b.v[i] = (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x);
    }
    return b;
}

TL_SIMD_FUNC(void, tl_vb_store, (uint8_t p[], tl_vb b), (void)memcpy(p, b.v, sizeof(b.v)))

static inline void tl_vb_store_block(uint8_t *p, tl_vb b, const int k)
{
    (void)k;
    memcpy(p, b.v, sizeof(b.v));
}
