// SPDX-License-Identifier: Apache-2.0
// Emulator of AMX: decoder, tile state, and arithmetic. See ln_tile_emulator.h.
//
//     [64] c4 RXBmmmmm WvvvvLpp opcode ModRM [SIB] [displacement]
//
// 64 is the prefix of FS, the segment of thread-local data. R, X, B and vvvv are inverted. R, X and
// B extend the registers of ModRM.reg, of the index, and of ModRM.rm or the base.
//
// Invariant: the bytes of a tile beyond its rows and columns are 0. LDTILECFG clears all tiles, and
// the other instructions write within the configured shape.
//
// The arithmetic must stay independent of kernel/simd/tl_tile_c.h, since tests compare the two.
//
// Source: Intel, "Intel 64 and IA-32 Architectures Software Developer's Manual" (SDM), volume 2:
// LDTILECFG, STTILECFG, TILE*, TDP* and the AMX exception classes; volume 1, 4.9.1.5: underflow.

#include "ln_tile_emulator.h"

#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILES = 8, MAX_ROWS = 16, MAX_ROW_BYTES = 64, COLUMNS = MAX_ROW_BYTES / 4 };

// The operand of LDTILECFG and STTILECFG. Without a configuration, all bytes are 0.
typedef struct config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[TILES], reserved_row_bytes[8];
    uint8_t rows[TILES], reserved_rows[8];
} config;

static _Thread_local struct {
    config config;
    uint8_t bytes[TILES][MAX_ROWS][MAX_ROW_BYTES];
} tiles;

static atomic_ulong count; // of emulated instructions

#if defined(__x86_64__) && defined(__linux__)

#include <signal.h>
#include <ucontext.h>

static struct sigaction previous; // what SIGILL did before

// A decoded instruction: `dst` is ModRM.reg, `left` ModRM.rm, and `right` VEX.vvvv.
typedef struct instruction {
    const struct form *form;
    int dst, left, right;
    uintptr_t address, step; // of the memory operand: base + displacement, and index << scale
    uintptr_t next;          // address of the next instruction
} instruction;

// A row of the table of instructions. It matches if ModRM & `fixed` is `modrm`, and both or neither
// have a memory operand (ModRM below 0xc0). `row` adds a row of a product to `sums`.
typedef struct form {
    const char *name;
    uint8_t opcode, prefix, fixed, modrm;
    int ntiles; // number of tile operands
    void (*run)(const instruction *in);
    void (*row)(const instruction *in, int m, uint32_t *sums);
    int is_left_signed, is_right_signed;
} form;

__attribute__((format(printf, 3, 4))) static void require(const instruction *in, int is_met,
                                                          const char *reason, ...)
{
    if (is_met)
        return;
    va_list args;
    va_start(args, reason);
    fprintf(stderr, "ln_tile_emulator: %s: ", in->form->name);
    vfprintf(stderr, reason, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}

static void require_valid_config(const instruction *in, const config *c)
{
    require(in, c->palette == 1, "palette %d; expected 0 or 1", c->palette);
    require(in, c->start_row == 0, "start_row %d; the emulator supports only 0", c->start_row);
    config used = {.palette = 1};
    memcpy(used.row_bytes, c->row_bytes, sizeof(used.row_bytes));
    memcpy(used.rows, c->rows, sizeof(used.rows));
    require(in, memcmp(c, &used, sizeof(used)) == 0, "a reserved byte is not 0");
    for (int i = 0; i < TILES; i++) {
        const int rows = c->rows[i], size = c->row_bytes[i];
        require(in, rows <= MAX_ROWS && size <= MAX_ROW_BYTES && (rows == 0) == (size == 0),
                "tmm%d has %d rows of %d bytes; expected 1 to 16 of 1 to 64, or 0 of 0", i, rows,
                size);
    }
}

static void release(const instruction *in)
{
    (void)in;
    memset(&tiles, 0, sizeof(tiles));
}

static void load_config(const instruction *in)
{
    config new;
    memcpy(&new, (const void *)(in->address + in->step), sizeof(new));
    if (new.palette != 0)
        require_valid_config(in, &new);
    release(in);
    if (new.palette != 0)
        tiles.config = new;
}

static void store_config(const instruction *in)
{
    memcpy((void *)(in->address + in->step), &tiles.config, sizeof(tiles.config));
}

static void zero(const instruction *in)
{
    memset(tiles.bytes[in->dst], 0, sizeof(tiles.bytes[0]));
}

static void load(const instruction *in)
{
    for (unsigned r = 0; r < tiles.config.rows[in->dst]; r++)
        memcpy(tiles.bytes[in->dst][r], (const void *)(in->address + r * in->step),
               tiles.config.row_bytes[in->dst]);
}

static void store(const instruction *in)
{
    for (unsigned r = 0; r < tiles.config.rows[in->dst]; r++)
        memcpy((void *)(in->address + r * in->step), tiles.bytes[in->dst][r],
               tiles.config.row_bytes[in->dst]);
}

static void require_product_shapes(const instruction *in)
{
    const uint8_t *const rows = tiles.config.rows;
    const uint16_t *const size = tiles.config.row_bytes;
    const int d = in->dst, a = in->left, b = in->right;
    require(in, d != a && d != b && a != b, "tmm%d, tmm%d and tmm%d; expected three tiles", d, a,
            b);
    require(in, rows[d] == rows[a] && size[d] == size[b] && size[a] == 4 * rows[b],
            "tmm%d [%d][%d bytes], tmm%d [%d][%d], tmm%d [%d][%d]; expected [m][n], [m][4 k], "
            "[k][n]",
            d, rows[d], size[d], a, rows[a], size[a], b, rows[b], size[b]);
}

static void multiply(const instruction *in)
{
    require_product_shapes(in);
    for (int m = 0; m < tiles.config.rows[in->dst]; m++) {
        uint32_t sums[COLUMNS];
        memcpy(sums, tiles.bytes[in->dst][m], sizeof(sums));
        in->form->row(in, m, sums);
        memcpy(tiles.bytes[in->dst][m], sums, tiles.config.row_bytes[in->dst]);
    }
}

// The loops over columns have all of a tile, also those that are not configured, which are 0: a
// constant number becomes vectors.

static int int_of_byte(uint8_t byte, int sign_bit)
{
    return byte - 2 * (byte & sign_bit);
}

static void add_bytes(const instruction *in, int m, uint32_t *sums)
{
    const int left_sign = in->form->is_left_signed ? 0x80 : 0;
    const int right_sign = in->form->is_right_signed ? 0x80 : 0;
    for (int k = 0; k < tiles.config.row_bytes[in->left]; k++) {
        const int a = int_of_byte(tiles.bytes[in->left][m][k], left_sign);
        const uint8_t *const b = tiles.bytes[in->right][k / 4] + k % 4;
        for (int n = 0; n < COLUMNS; n++)
            sums[n] += (uint32_t)(a * int_of_byte(b[4 * n], right_sign));
    }
}

// The float of these bits; a subnormal number is 0.
static float float_of_bits(uint32_t bits)
{
    const int has_exponent = (bits & 0x7f800000) != 0;
    const uint32_t input = has_exponent ? bits : bits & 0x80000000;
    float value;
    memcpy(&value, &input, sizeof(value));
    return value;
}

static float bfloat(int tile, int row, int i)
{
    const uint8_t *const p = tiles.bytes[tile][row] + 2 * i;
    return float_of_bits((uint32_t)p[1] << 24 | (uint32_t)p[0] << 16);
}

// x + y rounded once to float; a subnormal result is 0. x and y have at most 24 bits.
static float rounded_sum(double x, double y)
{
    // The second rounding does no harm, since double has 53 >= 2 * 24 + 2 bits (Figueroa, "When is
    // double rounding innocuous?", 1995). "Subnormal" is below 2^-126 after rounding to 24 bits
    // with an unbounded exponent. There, numbers are 2^-150 apart, and half of that below 2^-126
    // rounds up to it.
    const double min_normal = 0x1p-126 - 0x1p-151;
    const double sum = x + y;
    const float rounded = (float)sum, zero = copysignf(0, rounded);
    return fabs(sum) < min_normal ? zero : rounded;
}

static void add_pairs(const instruction *in, int m, uint32_t *sums)
{
    float of[2][COLUMNS] = {{0}}; // of even and odd elements
    for (int k = 0; k < tiles.config.row_bytes[in->left] / 2; k++) {
        const double a = bfloat(in->left, m, k);
        for (int n = 0; n < COLUMNS; n++) {
            const double b = bfloat(in->right, k / 2, 2 * n + k % 2);
            of[k % 2][n] = rounded_sum(a * b, of[k % 2][n]);
        }
    }
    for (int n = 0; n < COLUMNS; n++) {
        const float sum = rounded_sum(float_of_bits(sums[n]), rounded_sum(of[0][n], of[1][n]));
        memcpy(&sums[n], &sum, sizeof(sum));
    }
}

enum { PREFIX_NONE, PREFIX_66, PREFIX_F3, PREFIX_F2 }; // VEX.pp

static const form forms[] = {
    {"ldtilecfg", 0x49, PREFIX_NONE, 0x38, 0x00, 0, load_config},
    {"sttilecfg", 0x49, PREFIX_66, 0x38, 0x00, 0, store_config},
    {"tilerelease", 0x49, PREFIX_NONE, 0xff, 0xc0, 0, release},
    {"tilezero", 0x49, PREFIX_F2, 0xc7, 0xc0, 1, zero},
    {"tileloadd", 0x4b, PREFIX_F2, 0x07, 0x04, 1, load},
    {"tileloaddt1", 0x4b, PREFIX_66, 0x07, 0x04, 1, load},
    {"tilestored", 0x4b, PREFIX_F3, 0x07, 0x04, 1, store},
    {"tdpbuud", 0x5e, PREFIX_NONE, 0xc0, 0xc0, 3, multiply, add_bytes, 0, 0},
    {"tdpbusd", 0x5e, PREFIX_66, 0xc0, 0xc0, 3, multiply, add_bytes, 0, 1},
    {"tdpbsud", 0x5e, PREFIX_F3, 0xc0, 0xc0, 3, multiply, add_bytes, 1, 0},
    {"tdpbssd", 0x5e, PREFIX_F2, 0xc0, 0xc0, 3, multiply, add_bytes, 1, 1},
    {"tdpbf16ps", 0x5c, PREFIX_F3, 0xc0, 0xc0, 3, multiply, add_pairs},
};

// The register of each number.
static const int gregs[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                              REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                              REG_R12, REG_R13, REG_R14, REG_R15};

static const form *find_form(uint8_t opcode, uint8_t wlpp, uint8_t modrm)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        const form *const f = &forms[i];
        if (f->opcode == opcode && f->prefix == wlpp && (modrm & f->fixed) == f->modrm &&
            (modrm >= 0xc0) == (f->modrm >= 0xc0))
            return f;
    }
    return NULL;
}

static uintptr_t displacement(const uint8_t *p, int size)
{
    int32_t value = 0;
    memcpy(&value, p, (size_t)size);
    return (uintptr_t)(intptr_t)(size == 1 ? (int8_t)value : value);
}

// Decodes the memory operand from ModRM at `at`; `x` and `b` are 8 or 0. Returns its end.
static const uint8_t *decode_memory(instruction *in, const uint8_t *at, int x, int b,
                                    const greg_t *regs)
{
    enum { SIB = 4, NO_INDEX = 4, NO_BASE = 5 };
    const int mod = *at >> 6, rm = *at++ & 7;
    int base = rm;
    if (rm == SIB) {
        const int sib = *at++, index = (sib >> 3 & 7) + x;
        base = sib & 7;
        in->step = index == NO_INDEX ? 0 : (uintptr_t)regs[gregs[index]] << (sib >> 6);
    }
    const int has_base = mod != 0 || base != NO_BASE;
    const int size = mod == 1 ? 1 : mod == 2 || !has_base ? 4 : 0;
    in->address = displacement(at, size);
    at += size;
    if (has_base)
        in->address += (uintptr_t)regs[gregs[base + b]];
    else if (rm != SIB)
        in->address += (uintptr_t)at; // relative to the next instruction
    return at;
}

// The base of FS, which the ABI stores there.
static uintptr_t thread_pointer(void)
{
    uintptr_t value;
    __asm__("mov %%fs:0, %0" : "=r"(value));
    return value;
}

// Returns 0, or -1 if the instruction is another one. Reads no byte beyond its end.
static int decode(instruction *in, const greg_t *regs)
{
    const uint8_t *at = (const uint8_t *)regs[REG_RIP];
    const int has_fs = *at == 0x64;
    at += has_fs;
    if (at[0] != 0xc4 || (at[1] & 0x1f) != 2)
        return -1;
    const int r = at[1] & 0x80 ? 0 : 8, x = at[1] & 0x40 ? 0 : 8, b = at[1] & 0x20 ? 0 : 8;
    const uint8_t modrm = at[4];
    const int is_memory = modrm < 0xc0;
    *in = (instruction){.form = find_form(at[3], at[2] & 0x87, modrm),
                        .dst = (modrm >> 3 & 7) + r,
                        .left = (modrm & 7) + (is_memory ? 0 : b),
                        .right = ~at[2] >> 3 & 15};
    if (!in->form || in->dst >= TILES || in->left >= TILES ||
        in->right >= (in->form->ntiles == 3 ? TILES : 1))
        return -1;
    at = is_memory ? decode_memory(in, at + 4, x, b, regs) : at + 5;
    in->next = (uintptr_t)at;
    if (has_fs)
        in->address += thread_pointer();
    return 0;
}

static void require_valid_tiles(const instruction *in)
{
    const int operands[] = {in->dst, in->left, in->right};
    require(in, in->form->ntiles == 0 || tiles.config.palette != 0, "no tiles are configured");
    for (int i = 0; i < in->form->ntiles; i++) {
        const int tile = operands[i];
        require(in, tiles.config.rows[tile] != 0, "tmm%d is not configured", tile);
        require(in, in->form->run == zero || tiles.config.row_bytes[tile] % 4 == 0,
                "tmm%d has rows of %d bytes; expected a multiple of 4", tile,
                tiles.config.row_bytes[tile]);
    }
}

// The handler of SIGILL. Linux resets MXCSR for handlers, so arithmetic rounds to nearest even.
static void emulate(int number, siginfo_t *info, void *context)
{
    (void)info;
    greg_t *const regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    instruction in;
    if (decode(&in, regs) != 0) {
        sigaction(number, &previous, NULL); // it faults again, without the emulator
        return;
    }
    require_valid_tiles(&in);
    in.form->run(&in);
    regs[REG_RIP] = (greg_t)in.next;
    atomic_fetch_add(&count, 1);
}

int ln_tile_emulator_start(void)
{
    struct sigaction current;
    if (sigaction(SIGILL, NULL, &current) != 0)
        return -1;
    if ((current.sa_flags & SA_SIGINFO) && current.sa_sigaction == emulate)
        return 0;
    previous = current;
    struct sigaction action = {.sa_sigaction = emulate,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    return sigaction(SIGILL, &action, NULL);
}

#else

int ln_tile_emulator_start(void)
{
    return -1;
}

#endif

unsigned long ln_tile_emulator_count(void)
{
    return atomic_load(&count);
}

int ln_tile_emulator_is_configured(void)
{
    return tiles.config.palette != 0;
}
