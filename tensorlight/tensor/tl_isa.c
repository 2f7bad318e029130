// SPDX-License-Identifier: Apache-2.0
// Instruction sets: the CPU features that each requires, and those that this CPU supports.

#include "tensor/tl_isa.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/tl_amx.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

// CPU features that kernels need.
enum {
    AVX2 = 1 << 0, // FMA and F16C, too
    AVX_VNNI = 1 << 1,
    AVX512 = 1 << 2, // F, BW, DQ, VL
    AVX512_VNNI = 1 << 3,
    AVX512_BF16 = 1 << 4,
    NEON = 1 << 5,
    DOTPROD = 1 << 6,
    I8MM = 1 << 7,
    AMX_INT8 = 1 << 8,
    AMX_BF16 = 1 << 9,
    TILES = 1 << 10, // in plain C: every CPU has them, but only sets that name them use them
    AVX512_ALL = AVX2 | AVX512 | AVX512_VNNI | AVX512_BF16,
};

typedef struct isa_row {
    const char *name;
    unsigned features;
} isa_row;

// Each row follows the rows of its subsets.
static const isa_row rows[TL_ISA_SIZE] = {
    [TL_ISA_C] = {"c", 0},
    [TL_ISA_AVX2] = {"avx2", AVX2},
    [TL_ISA_AVXVNNI] = {"avxvnni", AVX2 | AVX_VNNI},
    [TL_ISA_AVX512] = {"avx512", AVX2 | AVX512},
    [TL_ISA_AVX512VNNI] = {"avx512vnni", AVX2 | AVX512 | AVX512_VNNI},
    [TL_ISA_AVX512BF16] = {"avx512bf16", AVX512_ALL},
    [TL_ISA_NEON] = {"neon", NEON},
    [TL_ISA_DOTPROD] = {"dotprod", NEON | DOTPROD},
    [TL_ISA_I8MM] = {"i8mm", NEON | DOTPROD | I8MM},
    [TL_ISA_AMXINT8] = {"amxint8", AVX512_ALL | AMX_INT8},
    [TL_ISA_AMXBF16] = {"amxbf16", AVX512_ALL | AMX_INT8 | AMX_BF16},
    [TL_ISA_TILES] = {"tiles", TILES},
};

static int is_valid(tl_isa isa)
{
    return isa >= 0 && isa < TL_ISA_SIZE;
}

const char *tl_isa_name(tl_isa isa)
{
    return is_valid(isa) ? rows[isa].name : NULL;
}

tl_isa tl_isa_from_str(const char *str)
{
    for (int isa = 0; str && isa < TL_ISA_SIZE; isa++)
        if (strcmp(rows[isa].name, str) == 0)
            return (tl_isa)isa;
    return TL_ISA_INVALID;
}

int tl_isa_contains(tl_isa isa, tl_isa subset)
{
    return is_valid(isa) && is_valid(subset) && !(rows[subset].features & ~rows[isa].features);
}

// The CPU

#if defined(__x86_64__)

// F16C converts float16; Clang's __builtin_cpu_supports does not accept "f16c".
static int has_f16c(void)
{
    unsigned a, b, c = 0, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

// Whether CPUID sets bit `bit` of EAX in leaf 7, subleaf 1.
static int has_cpuid_7_1(int bit)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> bit & 1);
}

static unsigned detect_features(void)
{
    __builtin_cpu_init(); // also detects whether the OS saves vector registers
    const int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
    const unsigned amx = tl_amx_detect();
    const int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return (avx2 ? AVX2 : 0) | (has_cpuid_7_1(4) ? AVX_VNNI : 0) | (avx512 ? AVX512 : 0) |
           (__builtin_cpu_supports("avx512vnni") ? AVX512_VNNI : 0) |
           (has_cpuid_7_1(5) ? AVX512_BF16 : 0) | (amx & TL_AMX_INT8 ? AMX_INT8 : 0) |
           (amx & TL_AMX_BF16 ? AMX_BF16 : 0);
}

#elif defined(__aarch64__) && defined(__linux__)

static unsigned detect_features(void)
{
    const int dotprod = getauxval(AT_HWCAP) >> 20 & 1; // HWCAP_ASIMDDP
    const int i8mm = getauxval(AT_HWCAP2) >> 13 & 1;   // HWCAP2_I8MM
    return NEON | (dotprod ? DOTPROD : 0) | (i8mm ? I8MM : 0);
}

#elif defined(__aarch64__)

static unsigned detect_features(void)
{
    return NEON;
}

#else

static unsigned detect_features(void)
{
    return 0;
}

#endif

// Usable instruction sets

// As bits, bit i for tl_isa i: all usable ones, and those that each contains.
static unsigned all_usable = 1, usable_within[TL_ISA_SIZE];

// The features that kernels may use.
static unsigned find_features(void)
{
    const tl_isa max = tl_isa_from_str(getenv("LIGHTNET_MAX_ISA"));
    const unsigned amx = AMX_INT8 | AMX_BF16;
    const unsigned allowed = is_valid(max) ? rows[max].features : ~(unsigned)TILES;
    const unsigned features = (detect_features() | TILES) & allowed;
    return features & amx && !tl_amx_permit() ? features & ~amx : features;
}

static void find_usable(void)
{
    const unsigned features = find_features();
    for (int isa = 0; isa < TL_ISA_SIZE; isa++)
        if (!(rows[isa].features & ~features))
            all_usable |= 1U << isa;
    for (int isa = 0; isa < TL_ISA_SIZE; isa++)
        for (int part = 0; part < TL_ISA_SIZE; part++)
            if ((all_usable >> part & 1 || part == TL_ISA_TILES) &&
                tl_isa_contains((tl_isa)isa, (tl_isa)part))
                usable_within[isa] |= 1U << part;
}

unsigned tl_isa_usable_within(tl_isa max)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_usable);
    return max >= TL_ISA_SIZE ? all_usable : usable_within[max > TL_ISA_C ? max : TL_ISA_C];
}

int tl_isa_is_usable(tl_isa isa)
{
    return is_valid(isa) && tl_isa_usable_within(TL_ISA_SIZE) >> isa & 1;
}

tl_isa tl_isa_best(void)
{
    int best = TL_ISA_SIZE - 1;
    while (!tl_isa_is_usable((tl_isa)best))
        best--;
    return (tl_isa)best;
}
