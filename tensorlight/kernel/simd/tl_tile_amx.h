// SPDX-License-Identifier: Apache-2.0
// Matrix units: AMX, by inline assembly, since intrinsics of GCC and Clang differ. See tl_tile.h.
// Source: Intel, "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 2, TILE*
// and TDP*.

#pragma once

#define TL_TILE_COST 4

/** The operand of LDTILECFG. */
typedef struct tl_tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tl_tile_config;

typedef struct tl_tiles {
    int rows, k; // of the configuration, 0: none
} tl_tiles;

static inline void tl_tile_begin(tl_tiles *t, int rows, int k)
{
    enum { TILES = 8, LEFT = 4, RIGHT = 6 };
    tl_tile_config config = {.palette = 1};
    if (t->rows == rows && t->k == k)
        return;
    *t = (tl_tiles){rows, k};
    for (int i = 0; i < TILES; i++) {
        const int is_left = i >= LEFT && i < RIGHT;
        config.row_bytes[i] = (uint16_t)(is_left ? k : TL_TILE_BYTES);
        config.rows[i] = (uint8_t)(i >= RIGHT ? k / 4 : rows);
    }
    __asm__ volatile("ldtilecfg %0" : : "m"(config));
}

static inline void tl_tile_end(void)
{
    __asm__ volatile("tilerelease" : : : "memory");
}

/** A statement that uses the state of the tiles, of which C knows nothing. */
#define TL_TILE_ASM(t, ...)            \
    do {                               \
        (void)(t);                     \
        __asm__ volatile(__VA_ARGS__); \
    } while (0)

#define tl_tile_load(t, i, from, step)                              \
    TL_TILE_ASM(t, "tileloadd (%0,%1,1), %%tmm" #i                  \
                :                                                   \
                : "r"((const void *)(from)), "r"((ptrdiff_t)(step)) \
                : "memory")
#define tl_tile_store(t, i, to, step)                       \
    TL_TILE_ASM(t, "tilestored %%tmm" #i ", (%0,%1,1)"      \
                :                                           \
                : "r"((void *)(to)), "r"((ptrdiff_t)(step)) \
                : "memory")
#define tl_tile_zero(t, i) TL_TILE_ASM(t, "tilezero %%tmm" #i : :)
#define tl_tile_add_us(t, sum, left, right) \
    TL_TILE_ASM(t, "tdpbusd %%tmm" #right ", %%tmm" #left ", %%tmm" #sum : :)
#define tl_tile_add_su(t, sum, left, right) \
    TL_TILE_ASM(t, "tdpbsud %%tmm" #right ", %%tmm" #left ", %%tmm" #sum : :)
#define tl_tile_add_pairs(t, sum, left, right) \
    TL_TILE_ASM(t, "tdpbf16ps %%tmm" #right ", %%tmm" #left ", %%tmm" #sum : :)
