// SPDX-License-Identifier: Apache-2.0
// Resources of a computation other than its tensors:
// threads, scratch memory, instruction set.
//
//     tl_pool *pool = tl_pool_create(2);
//     tl_exec exec = {.pool = pool, .isa = tl_isa_best()};
//     tl_exec_relu(&exec, src, dst);
//     tl_pool_free(pool);
//
// Every `const tl_exec *exec` argument may be NULL: one thread, the best kernels of this
// CPU, no scratch memory. A function tl_exec_X that needs some (tl_X_scratch) then fails.

#ifndef TL_EXEC_H
#define TL_EXEC_H

#include <stddef.h>
#include <stdint.h>

#include "tensorlight/tl_api.h"
#include "tensorlight/tl_string.h"

TL_BEGIN_DECLS

/** Instruction sets, as sets of features that a kernel needs and a CPU
 * has; each follows those it contains. A kernel table has rows for some
 * of them. A computation uses the last usable one within its own set. */
typedef enum tl_isa {
    TL_ISA_INVALID = -1,
    TL_ISA_C = 0,      // plain C: needs nothing
    TL_ISA_AVX2,       // with FMA and F16C
    TL_ISA_AVXVNNI,    // AVX2 with dot products of bytes
    TL_ISA_AVX512,     // F, BW, DQ, VL; contains AVX2
    TL_ISA_AVX512VNNI, // and dot products of bytes
    TL_ISA_AVX512BF16, // and those, and dot products of bfloat16
    TL_ISA_NEON,       // of AArch64
    TL_ISA_DOTPROD,    // and dot products of bytes
    TL_ISA_I8MM,       // and those, and of unsigned with signed bytes
    TL_ISA_AMXINT8,    // AVX512BF16 with matrix units for bytes
    TL_ISA_AMXBF16,    // and for bfloat16
    TL_ISA_TILES,      // plain C, with matrix units in plain C: needs nothing, for tests
    TL_ISA_SIZE
} tl_isa;

/** The names of all sets, for messages. */
#define TL_ISA_NAMES                                                    \
    "c, avx2, avxvnni, avx512, avx512vnni, avx512bf16, neon, dotprod, " \
    "i8mm, amxint8, amxbf16 or tiles"

/** The last set that this CPU supports. */
TL_API tl_isa tl_isa_best(void);

/** Whether this CPU, and LIGHTNET_MAX_ISA if it is set, have
 *  all features of `isa`. The environment is read once. */
TL_API int tl_isa_is_usable(tl_isa isa);

/** Whether `isa` has all features of `part`: TL_ISA_C is part of every set. */
TL_API int tl_isa_contains(tl_isa isa, tl_isa part);

/** "c", "avx2", ..; NULL for no set. */
TL_API const char *tl_isa_name(tl_isa isa);

/** The set of that name, or TL_ISA_INVALID. */
TL_API tl_isa tl_isa_from_str(const char *str);

/** Cores that this process may use: the affinity mask and the cgroup quota, at least 1. */
TL_API int tl_cpu_count(void);

/** Threads that share work: the caller and the pool's workers. Workers spin for 2 ms
 *  after work, since more may follow, then they sleep. They block all signals except those of
 *  faults, so handlers run in the host's own threads.
 *
 *  Any number of threads may use a pool concurrently, and share its workers. Nested work runs on
 *  its own thread alone. Nothing waits for a worker that has not started.
 *
 *  fork() copies no workers. A child may use and free every pool of its parent, also one that was
 *  in use: its first work there starts new workers. */
typedef struct tl_pool tl_pool;

/** The max threads of a pool. */
enum { TL_MAX_THREADS = 1024 };

/** Returns new (tl_pool_free); `n` threads including the caller, 0 = tl_cpu_count(). Work is
 *  divided among all of them. Threads beyond tl_cpu_count(), and those that the system refuses,
 *  are not started: the others do their work. NULL with a reason: `n` out of range, no memory. */
TL_API tl_pool *tl_pool_create(int n);

/** Ignores NULL. Nothing may use `pool` any more. */
TL_API void tl_pool_free(tl_pool *pool);

/** Number of threads, 1 for NULL. */
TL_API int tl_pool_size(const tl_pool *pool);

/** A request to stop computations, which any thread may make at any time.
 *
 *  tl_parallel and tl_parallel_slots poll it between pieces of the work, and skip the rest, whose
 *  results are then undefined. So a function whose `exec` has a stop may return 0 with garbage
 *  outputs: the caller checks the stop afterwards, and ignores outputs if it is requested. Memory
 *  accesses stay valid:
 *
 *  - A kernel that uses results of an earlier call of tl_parallel as an index, a count, a size or
 *    a loop condition checks the stop in between, and returns if it is requested. One that only
 *    computes with such numbers need not.
 *  - A loop of many calls, or one without calls that can need longer than some ten milliseconds,
 *    checks the stop in each iteration. */
typedef struct tl_stop tl_stop;

/** Returns new (tl_stop_free): not requested. NULL with a reason: no memory. */
TL_API tl_stop *tl_stop_create(void);

/** Ignores NULL. No computation may still use it. */
TL_API void tl_stop_free(tl_stop *stop);

/** Requests the stop; holds until tl_stop_clear. Safe in a signal handler. */
TL_API void tl_stop_request(tl_stop *stop);

/** Requests the stop once tl_clock() reaches `ns`; 0: no deadline. Replaces the deadline before. */
TL_API void tl_stop_set_deadline(tl_stop *stop, uint64_t ns);

/** Reverts the request and the deadline. Not while a computation uses the stop: nothing would
 *  mark its outputs as garbage. A deadline must not move to a later time then, either. */
TL_API void tl_stop_clear(tl_stop *stop);

/** Whether the stop was requested or its deadline has passed; 0 for NULL. Takes some
 *  nanoseconds, or some tens with a deadline. */
TL_API int tl_stop_is_requested(const tl_stop *stop);

typedef struct tl_exec {
    tl_pool *pool;       // NULL: the calling thread alone
    void *scratch;       // memory for the kernel's own use, aligned to 64 bytes, or NULL
    size_t scratch_size; // its bytes
    tl_isa isa;          // the max instruction set
    const tl_stop *stop; // NULL: nothing stops the computation
    tl_strings *strings; // the arena for strings that it creates; NULL: it cannot create any
} tl_exec;

/** Work on the units begin .. end-1 of a computation described by `arg`. */
typedef void (*tl_range_func)(void *arg, size_t begin, size_t end);

/** Runs `func` over the units 0 .. n-1, split into ranges of at least `grain` units among the
 *  threads of `exec`; returns when all are done, or after exec->stop those that have started.
 *  The split must not influence the result. `grain` units need some microseconds. */
TL_API void tl_parallel(const tl_exec *exec, size_t n, size_t grain, tl_range_func func, void *arg);

/** The max slots of tl_parallel_slots, for any number of threads. */
enum { TL_MAX_SLOTS = 64 };

/** The same, on behalf of slot 0 .. n_slots-1: no two calls for one slot at a time, so
 *  each slot may have separate memory. */
typedef void (*tl_slot_func)(void *arg, size_t slot, size_t begin, size_t end);

/** Runs `func` over the units 0 .. n-1, on at most `n_slots` (>= 1) and TL_MAX_SLOTS threads
 *  of `exec`, unit by unit: slot i of k begins with the i-th of k equal parts, so equally
 *  divided computations find their operands in their core's cache, and then helps the others.
 *  Returns like tl_parallel. The slot of a unit must not influence the result. */
TL_API void tl_parallel_slots(const tl_exec *exec, size_t n, size_t n_slots, tl_slot_func func,
                              void *arg);

TL_END_DECLS

#endif
