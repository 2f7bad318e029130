// SPDX-License-Identifier: Apache-2.0
// Matrix multiplications of 16 bits on tensor cores, with bias, addend and activation, so that the
// result is written once: dst [m, n] = act(alpha * src1 [m, k] x src2 [k, n] + bias [n] + addend).
//
//     gemm_tiles   a block for each tile of dst; src1 and src2 pass through shared memory, 32 or
//                  64 of k at a time, some stages ahead
//     gemm_rows    for small k and n, bound by memory: a block keeps the whole src2, and its warps
//                  walk over groups of rows of src1, some groups ahead
//
// Rows are multiples of 16 bytes, and are copied and stored as such vectors. Columns and k beyond
// the end are 0 in shared memory. ln_mma leaves a thread sums of 2 adjacent columns; to store 8 at
// once, gemm_tiles moves sums by shared memory, and gemm_rows permutes src2 (see permuted_row).

#include "arch/cuda/ln_cuda_act.cuh"
#include "arch/cuda/ln_cuda_mma.cuh"

enum {
    TILE_STAGES = 4, // of gemm_tiles
    ROW_STAGES = 3,  // of gemm_rows
    GROUP = 32       // columns of gemm_rows at a time
};

template <class T> struct gemm_args {
    const T *src1, *src1_more, *src2, *bias, *addend; // bias and addend may be NULL
    T *dst;
    int m, n, k;
    int k1;               // columns of src1; those after it are of src1_more
    int tiles_m, tiles_n; // tiles along m and n; of gemm_rows only groups of rows
    int src2_step;        // elements of src2 from a product of the batch to the next, or 0
    float alpha;
    tl_activation act;
};

// Results

// The bias of the 8 columns from `col` on.
template <class T>
static __device__ __forceinline__ void load_bias(const gemm_args<T> &g, int col, float (&bias)[8])
{
    if (g.bias && col < g.n) {
        ln_load_vec<8>(g.bias + col, bias);
        return;
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        bias[i] = 0;
}

// V vectors of 8 columns from `col` on: vector v is in row `row` + v * STEP of a product.
struct place {
    size_t first; // element of dst where the product of the batch begins
    int row, col;
};

// Loads the addends of V vectors, as far as these are in dst.
template <int STEP, int V, class T>
static __device__ __forceinline__ void load_addends(const gemm_args<T> &g, const place &at,
                                                    ln_vec<T, 8> (&addends)[V])
{
    if (!g.addend || at.col >= g.n)
        return;
#pragma unroll
    for (int v = 0; v < V; v++)
        if (at.row + v * STEP < g.m)
            addends[v] = *(const ln_vec<T, 8> *)(g.addend + at.first +
                                                 (size_t)(at.row + v * STEP) * g.n + at.col);
}

// Stores act(alpha * x + bias + addend) of V vectors of sums x.
template <int STEP, int V, class T>
static __device__ __forceinline__ void finish(const gemm_args<T> &g, const place &at,
                                              float (&x)[8 * V], const float (&bias)[8],
                                              const ln_vec<T, 8> (&addends)[V])
{
    if (at.col >= g.n)
        return;
#pragma unroll
    for (int i = 0; i < 8 * V; i++)
        x[i] = x[i] * g.alpha + bias[i % 8];
    if (g.addend) {
#pragma unroll
        for (int i = 0; i < 8 * V; i++)
            x[i] += ln_load(addends[i / 8].at[i % 8]);
    }
    ln_fast_act_all(x, g.act);
#pragma unroll
    for (int v = 0; v < V; v++)
        if (at.row + v * STEP < g.m) {
            ln_vec<uint32_t, 4> y;
#pragma unroll
            for (int i = 0; i < 4; i++)
                y.at[i] = ln_pair_of(x[v * 8 + i * 2], x[v * 8 + i * 2 + 1], T());
            *(ln_vec<uint32_t, 4> *)(g.dst + at.first + (size_t)(at.row + v * STEP) * g.n +
                                     at.col) = y;
        }
}

// Tiles

// A tile of M x N, K products of each sum at a time, by WARPS_M x WARPS_N warps of warp_m x warp_n.
// Shared memory is a ring of stages, [M, K] of src1 and [K, N] of src2, or [N, K] if transposed. In
// the end, it holds the sums [warp_m, warp_n] of each warp.
template <int M, int N, int K, int WARPS_M, int WARPS_N> struct tile_layout {
    static constexpr int m = M, n = N, k = K, warps_m = WARPS_M, warps_n = WARPS_N;
    static constexpr int warp_m = M / WARPS_M, warp_n = N / WARPS_N;
    static constexpr int threads = 32 * WARPS_M * WARPS_N;
    static constexpr int stage = (M + N) * K; // elements
    static constexpr int size = TILE_STAGES * stage * 2;
    static_assert(M * N * 4 <= size, "the sums have room where the stages were");
};

// The index of element [row][chunk * 8] in shared memory, for rows of CHUNKS chunks of 16 bytes.
// The same chunk of 8 adjacent rows, as ln_load_matrices reads them, is in different banks: its
// position is XORed with the row, or with row / 2 where 2 rows fill all banks.
template <int CHUNKS> static __device__ __forceinline__ int swizzled(int row, int chunk)
{
    constexpr int SHIFT = CHUNKS == 4 ? 1 : 0, MASK = CHUNKS == 4 ? 3 : 7;
    return (row * CHUNKS + (chunk ^ (row >> SHIFT & MASK))) * 8;
}

// Begins to copy ROWS x COLUMNS elements from [row][column] on of a matrix of `rows` x `columns`,
// those outside of it as 0, to a swizzled matrix.
template <int ROWS, int COLUMNS, int THREADS, class T>
static __device__ __forceinline__ void load_tile(T *dst, const T *src, int row, int column,
                                                 int rows, int columns)
{
    constexpr int CHUNKS = COLUMNS / 8;
    static_assert(ROWS * CHUNKS % THREADS == 0, "each thread copies as much");
#pragma unroll
    for (int i = 0; i < ROWS * CHUNKS / THREADS; i++) {
        const int at = i * THREADS + threadIdx.x, r = at / CHUNKS, c = at % CHUNKS;
        const bool ok = row + r < rows && column + c * 8 < columns;
        ln_copy_async<16>(dst + swizzled<CHUNKS>(r, c),
                          ok ? src + (size_t)(row + r) * columns + column + c * 8 : src, ok);
    }
}

// The index of the 4 sums [row][4 * quad ..] among those of a warp, [warp_m, WARP_N]. Even quads of
// a row come before odd ones, and positions are XORed with bits of the row, so that threads that
// store pairs or load quads at once use different banks.
template <int WARP_N> static __device__ __forceinline__ int sum_at(int row, int quad)
{
    constexpr int HALF = WARP_N / 8;
    const int odd = quad & 1, at = odd * HALF + (quad / 2 ^ (HALF == 8 ? odd * 4 : 0));
    return row * WARP_N + (at ^ ((row & 3) | (row & 1) << 2)) * 4;
}

// Block (batch * tiles_m + i) * tiles_n + j computes tile (i, j) of dst. A stage is read while
// later ones are copied. Fragments rows, columns and sums are a, b and c of ln_mma.
template <class T, class L, int TRANS2>
static __global__ void __launch_bounds__(L::threads) gemm_tiles(const gemm_args<T> g)
{
    ln_begin_early();
    constexpr int WM = L::warp_m, WN = L::warp_n, A = L::m * L::k; // A: size of src1
    extern __shared__ __align__(16) unsigned char memory[];
    T *const stages = (T *)memory;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / L::warps_n * WM, warp_col = warp % L::warps_n * WN;
    const int batch = blockIdx.x / (g.tiles_m * g.tiles_n);
    const int tile = blockIdx.x - batch * (g.tiles_m * g.tiles_n);
    const int row = tile / g.tiles_n * L::m, col = tile % g.tiles_n * L::n;
    const T *const src1 = g.src1 + (size_t)batch * g.m * g.k1;
    const T *const more = g.src1_more + (size_t)batch * g.m * (g.k - g.k1);
    const T *const src2 = g.src2 + (size_t)batch * g.src2_step;
    const int steps = (g.k + L::k - 1) / L::k;

    auto load = [&](int step) {
        T *const a = stages + step % TILE_STAGES * L::stage;
        if (step < steps) {
            const int k = step * L::k;
            if (k < g.k1)
                load_tile<L::m, L::k, L::threads>(a, src1, row, k, g.m, g.k1);
            else
                load_tile<L::m, L::k, L::threads>(a, more, row, k - g.k1, g.m, g.k - g.k1);
            if (TRANS2)
                load_tile<L::n, L::k, L::threads>(a + A, src2, col, step * L::k, g.n, g.k);
            else
                load_tile<L::k, L::n, L::threads>(a + A, src2, step * L::k, col, g.k, g.n);
        }
        ln_commit_copies();
    };
    float sums[WM / 16][WN / 8][4] = {};
#pragma unroll
    for (int i = 0; i < TILE_STAGES - 1; i++)
        load(i);
    for (int step = 0; step < steps; step++) {
        const T *const a = stages + step % TILE_STAGES * L::stage, *const b = a + A;
        ln_wait_for_copies<TILE_STAGES - 2>();
        __syncthreads(); // this stage is loaded, and all threads are done with the previous one
        load(step + TILE_STAGES - 1);
#pragma unroll
        for (int k = 0; k < L::k; k += 16) {
            uint32_t rows[WM / 16][4], columns[WN / 16][4];
#pragma unroll
            for (int i = 0; i < WM / 16; i++)
                ln_load_matrices(rows[i], a + swizzled<L::k / 8>(warp_row + i * 16 + lane % 16,
                                                                 k / 8 + lane / 16));
#pragma unroll
            for (int i = 0; i < WN / 16; i++)
                if (TRANS2)
                    ln_load_matrices(
                        columns[i],
                        b + swizzled<L::k / 8>(warp_col + i * 16 + lane / 16 * 8 + lane % 8,
                                               k / 8 + lane / 8 % 2));
                else
                    ln_load_transposed(
                        columns[i],
                        b + swizzled<L::n / 8>(k + lane % 16, warp_col / 8 + i * 2 + lane / 16));
#pragma unroll
            for (int i = 0; i < WM / 16; i++)
#pragma unroll
                for (int j = 0; j < WN / 8; j++)
                    ln_mma(sums[i][j], rows[i], columns[j / 2][j % 2 * 2],
                           columns[j / 2][j % 2 * 2 + 1], T());
        }
    }

    // A thread finishes 4 vectors at a time, while the addends of its next 4 are loaded.
    constexpr int VECS = WN / 8, STEP = 32 / VECS; // vectors of a row, rows at a time
    float *const own = (float *)memory + warp * WM * WN;
    const int vec = lane % VECS;
    place at = {(size_t)batch * g.m * g.n, row + warp_row + lane / VECS, col + warp_col + vec * 8};
    ln_vec<T, 8> addends[4], next[4];
    float bias[8];
    load_bias(g, at.col, bias);
    load_addends<STEP>(g, at, next);
    __syncthreads(); // all threads are done with the stages
#pragma unroll
    for (int i = 0; i < WM / 16; i++)
#pragma unroll
        for (int j = 0; j < WN / 8; j++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const float pair[2] = {sums[i][j][2 * half], sums[i][j][2 * half + 1]};
                const int quad = j * 2 + lane % 4 / 2;
                ln_store_vec<2>(own + sum_at<WN>(i * 16 + half * 8 + lane / 4, quad) + lane % 2 * 2,
                                pair);
            }
    __syncwarp();
#pragma unroll 1
    for (int r = lane / VECS; r < WM; r += 4 * STEP) {
        const place now = at;
        float x[32];
        at.row += 4 * STEP;
#pragma unroll
        for (int v = 0; v < 4; v++)
            addends[v] = next[v];
        if (r + 4 * STEP < WM)
            load_addends<STEP>(g, at, next);
#pragma unroll
        for (int v = 0; v < 4; v++)
#pragma unroll
            for (int odd = 0; odd < 2; odd++) {
                float four[4];
                ln_load_vec<4>(own + sum_at<WN>(r + v * STEP, vec * 2 + odd), four);
#pragma unroll
                for (int i = 0; i < 4; i++)
                    x[v * 8 + odd * 4 + i] = four[i];
            }
        finish<STEP>(g, now, x, bias, addends);
    }
}

// Rows

// Shared memory: src2 | ROW_STAGES stages of `rows` rows of src1 for each warp; sizes in elements.
// Rows are an odd number of 16 bytes apart, so that 8 of them are in different banks.
struct rows_layout {
    int k, n;            // rounded up to multiples of 16 and of GROUP
    int stride, stride2; // from row to row of src1, and of src2
    int stage;           // the rows of a warp
    int src2;            // all of src2

    __host__ __device__ rows_layout(int real_n, int real_k, int trans2, int rows)
    {
        k = (real_k + 15) / 16 * 16;
        n = (real_n + GROUP - 1) / GROUP * GROUP;
        stride = k + 8;
        stride2 = trans2 ? stride : n + 8;
        stage = rows * stride;
        src2 = (trans2 ? n : k) * stride2;
    }
    // Bytes of a block of so many warps.
    __host__ int64_t size(int warps) const
    {
        return ((int64_t)src2 + (int64_t)warps * ROW_STAGES * stage) * 2;
    }
};

// The row in shared memory of column n of a transposed src2: in each GROUP, that of 8 q + 2 j + i
// is 8 j + 2 q + i, for i < 2. Of the j-th 8 rows, ln_mma leaves thread t % 4 = q the sums of 2 q
// and 2 q + 1: so of all 4 times 8 it has the columns 8 q .. 8 q + 7.
static __device__ __forceinline__ int permuted_row(int n)
{
    return n / GROUP * GROUP + n % 8 / 2 * 8 + n % GROUP / 8 * 2 + n % 2;
}

// Begins to copy src2 by all threads of the block, with 0 where k or n end.
template <int TRANS2, class T>
static __device__ __forceinline__ void load_src2(const gemm_args<T> &g, const rows_layout &layout,
                                                 T *dst)
{
    const int rows = TRANS2 ? g.n : g.k, columns = TRANS2 ? g.k : g.n;
    const int chunks = (TRANS2 ? layout.k : layout.n) / 8;
    const int total = (TRANS2 ? layout.n : layout.k) * chunks;
    for (int i = threadIdx.x; i < total; i += blockDim.x) {
        const int r = i / chunks, c = i % chunks;
        const bool ok = r < rows && c * 8 < columns;
        ln_copy_async<16>(dst + (TRANS2 ? permuted_row(r) : r) * layout.stride2 + c * 8,
                          ok ? g.src2 + r * columns + c * 8 : g.src2, ok);
    }
    ln_commit_copies();
}

// How a warp copies rows: lane i copies the chunks of 16 bytes i, i + 32, .., counted over all
// rows, and advances by 32 chunks without a division.
struct row_walk {
    int chunks, row, chunk;   // of a row; the first one of the thread
    int row_step, chunk_step; // 32 chunks in rows and chunks

    __device__ row_walk(int k)
    {
        chunks = k / 8;
        row = threadIdx.x % 32 / chunks;
        chunk = threadIdx.x % 32 % chunks;
        row_step = 32 / chunks;
        chunk_step = 32 % chunks;
    }
    template <class T>
    __device__ __forceinline__ void load(T *dst, int stride, const T *src, int rows) const
    {
        int r = row, c = chunk;
        for (int i = threadIdx.x % 32; i < rows * chunks; i += 32) {
            ln_copy_async<16>(dst + r * stride + c * 8, src + i * 8, true);
            r += row_step;
            c += chunk_step;
            if (c >= chunks) {
                c -= chunks;
                r++;
            }
        }
    }
};

// Exchanges sums among 4 threads. Thread q has the columns 2 q and 2 q + 1 of each of 4 blocks, and
// x becomes all 8 columns of block q.
static __device__ __forceinline__ void gather_block(const float (&block)[4][2], float *x)
{
    const int q = threadIdx.x % 4;
#pragma unroll
    for (int step = 0; step < 4; step++) {
        // Thread q sends its part of block q ^ step to that thread, and gets that one's of block q.
        const int other = q ^ step;
        float send[2], got[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            send[i] = other == 0   ? block[0][i]
                      : other == 1 ? block[1][i]
                      : other == 2 ? block[2][i]
                                   : block[3][i];
            got[i] = __shfl_xor_sync(0xffffffffu, send[i], step);
        }
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (j == other) {
                x[j * 2] = got[0];
                x[j * 2 + 1] = got[1];
            }
    }
}

// A warp computes each step-th group of ROWS rows of dst, GROUP columns at a time; it waits only
// for its own copies. Fragments as in gemm_tiles.
template <class T, int ROWS, int TRANS2>
static __global__ void __launch_bounds__(256, ROWS == 16 ? 3 : 2) gemm_rows(const gemm_args<T> g)
{
    ln_begin_early();
    extern __shared__ __align__(16) unsigned char memory[];
    const rows_layout layout(g.n, g.k, TRANS2, ROWS);
    const int warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int k_more = g.k - g.k1;
    const row_walk walk(g.k1), walk_more(k_more ? k_more : g.k1);
    T *const src2 = (T *)memory;
    T *const stages = src2 + layout.src2 + warp * ROW_STAGES * layout.stage;
    // Neighbouring warps have neighbouring groups of rows, of which tiles_m exist.
    const int first = blockIdx.x * warps + warp, step = gridDim.x * warps;

    auto load = [&](int group, int stage) {
        T *const to = stages + stage * layout.stage;
        const size_t row = (size_t)group * ROWS;
        const int rows = min(ROWS, g.m - group * ROWS);
        if (group < g.tiles_m)
            walk.load(to, layout.stride, g.src1 + row * g.k1, rows);
        if (group < g.tiles_m && k_more)
            walk_more.load(to + g.k1, layout.stride, g.src1_more + row * k_more, rows);
        ln_commit_copies();
    };
    load_src2<TRANS2>(g, layout, src2);
    if (layout.k != g.k) // the 8 columns after the last, which no copy writes
        for (int i = lane; i < ROW_STAGES * ROWS; i += 32)
            *(ln_vec<uint32_t, 4> *)(stages + i * layout.stride + g.k) = {};
#pragma unroll
    for (int i = 0; i < ROW_STAGES - 1; i++)
        load(first + i * step, i);
    ln_wait_for_copies<ROW_STAGES - 1>();
    __syncthreads(); // src2 is loaded
    int stage = 0;
    for (int group = first; group < g.tiles_m; group += step) {
        const T *const a = stages + stage * layout.stage;
        ln_wait_for_copies<ROW_STAGES - 2>();
        __syncwarp(); // this stage is loaded, and no thread needs the one before
        load(group + (ROW_STAGES - 1) * step, stage == 0 ? ROW_STAGES - 1 : stage - 1);
        stage = stage == ROW_STAGES - 1 ? 0 : stage + 1;
        for (int n = 0; n < g.n; n += GROUP) {
            const place at = {0, group * ROWS + lane / 4, n + lane % 4 * 8};
            float sums[ROWS / 16][GROUP / 8][4] = {}, x[ROWS], bias[8];
            ln_vec<T, 8> addends[ROWS / 8];
            load_bias(g, at.col, bias);
            load_addends<8>(g, at, addends);
#pragma unroll 2
            for (int k = 0; k < layout.k; k += 16) {
                uint32_t rows[ROWS / 16][4], columns[GROUP / 16][4];
#pragma unroll
                for (int i = 0; i < ROWS / 16; i++)
                    ln_load_matrices(rows[i],
                                     a + (i * 16 + lane % 16) * layout.stride + k + lane / 16 * 8);
#pragma unroll
                for (int i = 0; i < GROUP / 16; i++)
                    if (TRANS2)
                        ln_load_matrices(columns[i], src2 +
                                                         (n + i * 16 + lane / 16 * 8 + lane % 8) *
                                                             layout.stride2 +
                                                         k + lane / 8 % 2 * 8);
                    else
                        ln_load_transposed(columns[i], src2 + (k + lane % 16) * layout.stride2 + n +
                                                           i * 16 + lane / 16 * 8);
#pragma unroll
                for (int i = 0; i < ROWS / 16; i++)
#pragma unroll
                    for (int j = 0; j < GROUP / 8; j++)
                        ln_mma(sums[i][j], rows[i], columns[j / 2][j % 2 * 2],
                               columns[j / 2][j % 2 * 2 + 1], T());
            }
#pragma unroll
            for (int v = 0; v < ROWS / 8; v++) {
                float block[4][2];
#pragma unroll
                for (int i = 0; i < 8; i++)
                    block[i / 2][i % 2] = sums[v / 2][i / 2][v % 2 * 2 + i % 2];
                if (TRANS2) {
#pragma unroll
                    for (int i = 0; i < 8; i++)
                        x[v * 8 + i] = block[i / 2][i % 2];
                } else {
                    gather_block(block, x + v * 8);
                }
            }
            finish<8>(g, at, x, bias, addends);
        }
    }
}

// Launches

// The most bytes of shared memory of a block, asked once. A multiprocessor has 1 KB more.
static int max_shared()
{
    static int size = 0;
    int device = 0, found = 0;
    if (!size && cudaGetDevice(&device) == cudaSuccess &&
        cudaDeviceGetAttribute(&found, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) ==
            cudaSuccess)
        size = found;
    return size > 0 ? size : 48 * 1024;
}

template <class L, int TRANS2, class T>
static int launch_tiles(ln_cuda_stream stream, gemm_args<T> g, int batch)
{
    static uint64_t done;
    g.tiles_m = ln_ceil_div(g.m, L::m);
    g.tiles_n = ln_ceil_div(g.n, L::n);
    const unsigned blocks = (unsigned)batch * (unsigned)g.tiles_m * (unsigned)g.tiles_n;
    if (ln_cuda_allow_shared(gemm_tiles<T, L, TRANS2>, L::size, &done, "gemm"))
        return -1;
    ln_cuda_launch_early(gemm_tiles<T, L, TRANS2>, blocks, L::threads, L::size, stream, g);
    return ln_cuda_launched("gemm");
}

// The warps of a block of gemm_rows: 8 if two such blocks share a multiprocessor, else 4.
static int warps_of(const rows_layout &layout)
{
    return layout.size(8) <= max_shared() / 2 - 1024 ? 8 : 4;
}

template <int ROWS, int TRANS2, class T>
static int launch_rows(ln_cuda_stream stream, gemm_args<T> g)
{
    static uint64_t done;
    const rows_layout layout(g.n, g.k, TRANS2, ROWS);
    const int warps = warps_of(layout), size = (int)layout.size(warps);
    g.tiles_m = ln_ceil_div(g.m, ROWS);
    // As many blocks as run at once: see the launch bounds. The device adds 1 KB to each.
    const int fitting = (max_shared() + 1024) / (size + 1024), max = (ROWS == 16 ? 24 : 16) / warps;
    const int resident = ln_cuda_n_sms() * (fitting < 1 ? 1 : fitting < max ? fitting : max);
    const int needed = ln_ceil_div(g.tiles_m, warps);
    const int blocks = needed < resident ? needed : resident;
    if (ln_cuda_allow_shared(gemm_rows<T, ROWS, TRANS2>, max_shared(), &done, "gemm"))
        return -1;
    ln_cuda_launch_early(gemm_rows<T, ROWS, TRANS2>, blocks, warps * 32, size, stream, g);
    return ln_cuda_launched("gemm");
}

// The functions

// In the order of a job's `tile`; m is 0 for gemm_rows, and n then its rows.
static const struct {
    const char *name;
    int m, n;
    int k; // columns of src1 at a time, which are of one matrix
} tiles[LN_CUDA_GEMM_TILES] = {
    {"gemm 128x128", 128, 128, 32}, {"gemm 256x64", 256, 64, 32}, {"gemm 128x64", 128, 64, 32},
    {"gemm 64x64", 64, 64, 64},     {"gemm rows 32", 0, 32},      {"gemm rows 16", 0, 16},
};

template <int TRANS2, class T>
static int launch_gemm(ln_cuda_stream stream, const gemm_args<T> &g, int batch, int tile)
{
    switch (tile) {
    case 0:
        return launch_tiles<tile_layout<128, 128, 32, 2, 2>, TRANS2>(stream, g, batch);
    case 1:
        return launch_tiles<tile_layout<256, 64, 32, 4, 1>, TRANS2>(stream, g, batch);
    case 2:
        return launch_tiles<tile_layout<128, 64, 32, 2, 2>, TRANS2>(stream, g, batch);
    case 3:
        return launch_tiles<tile_layout<64, 64, 64, 2, 2>, TRANS2>(stream, g, batch);
    case 4:
        return launch_rows<32, TRANS2>(stream, g);
    default:
        return launch_rows<16, TRANS2>(stream, g);
    }
}

// The number of products: with a shared src2, all rows of src1 are one matrix.
static int batch_of(const ln_cuda_gemm_job *job)
{
    return job->is_shared ? 1 : job->batch;
}

int ln_cuda_gemm(ln_cuda_stream stream, const ln_cuda_gemm_job *job)
{
    const int batch = batch_of(job);
    if (job->m == 0 || job->n == 0 || job->batch == 0)
        return 0;
    if (!ln_cuda_has_gemm(job))
        return tl_fail("CUDA kernel gemm: %d products of [%d, %d] x [%d, %d] of %s by tile %d, "
                       "expected a job for which ln_cuda_has_gemm returns 1",
                       job->batch, job->m, job->k, job->k, job->n, tl_dtype_name(job->dtype),
                       job->tile);
    auto launch = [&](auto zero) {
        using T = decltype(zero);
        gemm_args<T> g = {};
        g.src1 = (const T *)job->src1;
        g.src1_more = (const T *)job->src1_more;
        g.k1 = job->k - job->k_more;
        g.src2 = (const T *)job->src2;
        g.bias = (const T *)job->bias;
        g.addend = (const T *)job->addend;
        g.dst = (T *)job->dst;
        g.m = job->is_shared ? job->m * job->batch : job->m;
        g.n = job->n;
        g.k = job->k;
        g.src2_step = job->is_shared ? 0 : job->n * job->k;
        g.alpha = job->alpha;
        g.act = job->act;
        return job->trans2 ? launch_gemm<1>(stream, g, batch, job->tile)
                           : launch_gemm<0>(stream, g, batch, job->tile);
    };
    return job->dtype == TL_FLOAT16 ? launch(__half()) : launch(__nv_bfloat16());
}

int ln_cuda_has_gemm(const ln_cuda_gemm_job *job)
{
    const void *const data[] = {job->src1, job->src1_more, job->src2,
                                job->bias, job->addend,    job->dst};
    const int k1 = job->k - job->k_more;
    if ((job->dtype != TL_FLOAT16 && job->dtype != TL_BFLOAT16) || job->tile < 0 ||
        job->tile >= LN_CUDA_GEMM_TILES || job->k <= 0 || job->k % 8 || job->n % 8 ||
        job->k_more < 0 || k1 <= 0)
        return 0;
    for (const void *p : data)
        if (!ln_is_aligned(p, 16))
            return 0;
    if (job->k_more && (k1 % 8 || (tiles[job->tile].m && k1 % tiles[job->tile].k)))
        return 0;
    if (tiles[job->tile].m)
        return 1;
    if (batch_of(job) != 1 || job->k > 512 || job->n > 2048)
        return 0;
    const rows_layout layout(job->n, job->k, job->trans2, tiles[job->tile].n);
    return layout.size(warps_of(layout)) <= max_shared();
}

// An estimate of the time, in multiplications for each k: the tiles of the busiest multiprocessor
// times m n for the sums of a tile and 64 for each of the m + n elements that it loads.
static int64_t cost_of(const ln_cuda_gemm_job *job, int tile)
{
    const int m = tiles[tile].m, n = tiles[tile].n, batch = batch_of(job), sms = ln_cuda_n_sms();
    const int64_t rows = job->is_shared ? (int64_t)job->m * job->batch : job->m;
    const int64_t blocks = batch * ((rows + m - 1) / m) * ((job->n + n - 1) / n);
    return (blocks + sms - 1) / sms * (m * n + 64 * (m + n));
}

int ln_cuda_gemm_choices(const ln_cuda_gemm_job *job, int choices[LN_CUDA_GEMM_CHOICES])
{
    ln_cuda_gemm_job tried = *job;
    int n = 0, first;
    for (tried.tile = 0; tried.tile < LN_CUDA_GEMM_TILES; tried.tile++)
        if (!tiles[tried.tile].m && job->k <= 256 && ln_cuda_has_gemm(&tried))
            choices[n++] = tried.tile;
    first = n;
    for (tried.tile = 0; tried.tile < LN_CUDA_GEMM_TILES; tried.tile++) { // sorted by cost
        int at = n;
        if (!tiles[tried.tile].m || !ln_cuda_has_gemm(&tried))
            continue;
        while (at > first && cost_of(job, tried.tile) < cost_of(job, choices[at - 1]))
            at--;
        if (at == LN_CUDA_GEMM_CHOICES)
            continue;
        n += n < LN_CUDA_GEMM_CHOICES;
        for (int i = n - 1; i > at; i--)
            choices[i] = choices[i - 1];
        choices[at] = tried.tile;
    }
    return n;
}

const char *ln_cuda_gemm_name(int tile)
{
    return tiles[tile].name;
}
